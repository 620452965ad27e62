"""The shape of the code: who may import whom, and what the façade shows."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tests.structure import files_in, foreign, knowing, loading_the_unknown, loadings, printing, silent

import privproof
import privproof_checker

ROOT = Path(privproof.__file__).parent
CHECKER = Path(privproof_checker.__file__).parent

LAYERS = (
    {"errors", "drawing", "capabilities", "version"},
    {"exact", "memory"},
    {"execution"},
    {"models", "language"},
    {"scenarios"},
    {"formats"},
    {"compiling"},
    {"checker"},
    {"evidence"},
    {"engines"},
    {"store"},
    {"profiles"},
    {"loading"},
    {"asking"},
    {"projects"},
    {"reporting"},
    {"façade"},
    {"web"},
    {"cli"},
    {"release"},
    {"audits"},
    {"logic"},
    {"library"},
    {"testing"},
    {"pytest_plugin"},
    {"__main__"},
)
"""The parts of the package, and the checker, from the ground up: each imports only what lies below it, whenever and for whatever."""

FURTHER = {
    "exact": {"errors"},
    "memory": {"errors"},
    "execution": {"errors", "memory"},
    "models": {"errors", "exact", "drawing"},
    "language": {"errors", "exact", "drawing"},
    "web": {"drawing"},
    "engines": {"checker"},
}
"""What some parts may import of that, and for the last what it may not."""


def part_of(names):
    """The part of the package that a dotted name belongs to."""
    return names[0] if names else "façade"


@cache
def imports(root=ROOT):
    """Everything that the package loads of itself: the part that loads, the part that is loaded, and the file."""
    found = []
    for each in loadings(root):
        inside = Path(each.file)
        here = part_of((*inside.parts[:-1], inside.stem)) if inside.parts[0] != "__init__.py" else "façade"
        assert not each.module.startswith("."), f"{inside}: relative import"
        names = [f"privproof.{name}" for name in each.names] if each.module == "privproof" else [each.module]
        names = [name for name in names if name != "privproof.__version__"]
        for name in names if each.how != "text" else []:
            head, *rest = name.rstrip("*.").split(".")
            there = "checker" if head == "privproof_checker" else part_of(tuple(rest))
            if head in ("privproof", "privproof_checker") and there != here:
                found.append((here, there, each.file))
    return found


PARTS = [part for layer in LAYERS for part in sorted(layer)]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_imports_only_what_lies_below_it(part):
    found = {(there, where) for here, there, where in imports() if here == part and where != "capabilities.py"}
    level = next(i for i, layer in enumerate(LAYERS) if part in layer)
    below = {name for layer in LAYERS[:level] for name in layer}
    if part == "engines":
        below -= FURTHER[part]
    elif part in FURTHER:
        below &= FURTHER[part]
    assert not {(there, where) for there, where in found if there not in below}


CAPABILITIES = {"logic", "release", "audits"}
"""The capabilities: one folder each, with everything of its own."""


@pytest.mark.parametrize("capability", sorted(CAPABILITIES))
def test_nobody_imports_a_capability_but_the_front(capability):
    """The library shows examples of it, the façade names of it; all others know it by what its ``capability.py`` says."""
    assert (ROOT / capability / "capability.py").exists()
    assert {here for here, there, _ in imports() if there == capability} <= {"library", "façade"}


def test_the_layers_are_all_there_is():
    """A rule about a part that does not exist would hold for ever, and a part without a layer has no rule."""
    there = {part_of(Path(f).with_suffix("").parts) for f in files_in(ROOT)} - {"__init__"}
    assert there | {"façade", "checker"} == set(PARTS)


def test_the_top_level_is_small():
    assert {path.stem for path in ROOT.glob("*.py")} == {
        *("__init__", "__main__", "errors", "asking", "capabilities", "version"),
        *("testing", "pytest_plugin"),  # the names by which tests and pytest load them
        "memory",  # commands limit it before they load numbers
    }


QUESTIONS = re.compile(r"(isinstance\([^()]*|case )\w*Question\b")


def test_nobody_asks_what_kind_a_question_is():
    """But its own module, the formats that write it, and the parts that are registered for one kind alone."""
    own = ("scenarios/", "formats/", "engines/", "logic/", "release/", "audits/")
    found = {
        f"{file}: {line.strip()}"
        for file in files_in(ROOT)
        if not file.startswith(own)
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines()
        if QUESTIONS.search(line) and "AnyQuestion" not in line
    }
    assert not found


WITNESSES = re.compile(r"(isinstance\([^()]*|case )(\w*Witness|Observed\w+)\b|isinstance\([\w.]*(witness|observed)\b")


def test_nobody_asks_what_kind_a_witness_is():
    """There is one witness, and what is observed answers for itself."""
    assert WITNESSES.search("if isinstance(verdict.witness, Something):")
    assert WITNESSES.search("case ObservedWord(letters):")
    found = {
        f"{file}: {line.strip()}"
        for file in files_in(ROOT)
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines()
        if WITNESSES.search(line)
    }
    assert not found


DOORS = {
    "z3": {
        "engines/words/word_solver.py",
        "engines/laplace/solver.py",
        "engines/parametric/second_solvers.py",  # asks whether it is installed
        "evidence/certified_multipliers.py",
    },
    "cvc5": {"engines/parametric/second_solvers.py"},
}
"""The files that load a solver, in whatever way."""


@pytest.mark.parametrize("solver", DOORS)
def test_only_its_doors_know_a_solver(solver):
    found = knowing(ROOT, solver)
    assert {file for file, how in found.items() if how != {"name"}} == DOORS[solver]
    through = {file for file, how in found.items() if "name" in how}
    assert all(file.startswith("engines/laplace/") for file in through), "terms of Z3 stay where alignments are sought"


@pytest.mark.parametrize("part", ["exact", "models", "scenarios", "engines", "evidence", "release"])
def test_what_is_loaded_can_be_read(part):
    assert loading_the_unknown(ROOT / part) == set()


def test_what_the_checker_loads_can_be_read():
    assert loading_the_unknown(CHECKER) == set()


def test_engines_never_print():
    for part in (
        "exact",
        "models",
        "language",
        "profiles",
        "scenarios",
        "compiling",
        "engines",
        "evidence",
        "formats",
        "release",
    ):
        assert printing(ROOT / part) == set()
    assert printing(CHECKER) == {"__main__.py"}


def test_numbers_cross_between_the_two_kinds_in_one_module():
    """`exact.rationals` has one function for each direction; the checker has its own."""
    by_hand = re.compile(
        r"fmpq\(\w[\w.]*\.numerator|Fraction\(int\(\w[\w.]*\.p\)|float\(fraction\(|fraction\(rational\("
    )
    found = {
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if by_hand.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"exact/rationals.py"}


def test_every_module_says_its_idea():
    assert silent(ROOT) == silent(CHECKER) == set()


# ---------------------------------------------------------------------------------------- the tests above can fail


@pytest.fixture
def tree(tmp_path):
    """A small package that keeps every rule, and a way to add a file that breaks one."""

    def add(file, text):
        path = tmp_path / "package" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return tmp_path / "package"

    add("__init__.py", '"""A package.\n\nfrom the evidence, import nothing\n"""\n')
    add("engines/words/word_solver.py", '"""The door."""\nimport z3\n')
    add("exact/numbers.py", '"""Numbers.\n\n>>> import z3\n"""\nimport math\nfrom flint import fmpq\n')
    add("__main__.py", "import runpy\n")
    return add


WAYS = {
    "import": "import z3\n",
    "a part of it": "import z3.z3core\n",
    "another name": "import z3 as solver\n",
    "from": "from z3 import Solver\n",
    "inside a function": "def f():\n    if True:\n        import z3\n",
    "for types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import z3\n",
    "import_module": "import importlib\nimportlib.import_module('z3')\n",
    "import_module by name": "from importlib import import_module\nimport_module('z3.z3core')\n",
    "__import__": "__import__('z3')\n",
    "find_spec": "import importlib.util\nimportlib.util.find_spec('z3')\n",
    "text": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import sys\\nimport z3'])\n",
    "through the door": "from engines.words.solver import z3\n",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("file", ["engines/solver.py", "engines/words/deep/deeper/solver.py", "cli/x.py"])
def test_knowing_a_solver_is_found_wherever_it_is(tree, file, text):
    root = tree(file, text)
    assert set(knowing(root, "z3")) == {"engines/words/word_solver.py", file}


HIDDEN = {
    "a computed name": "import importlib\nimportlib.import_module('z' + '3')\n",
    "a name in a variable": "from importlib import import_module\nfor name in ('z3',):\n    import_module(name)\n",
    "the whole of an f-string": "from importlib import import_module\nimport_module(f'{1}')\n",
    "another name for the loader": "from importlib import import_module as load\nload('z3')\n",
    "the loader in a variable": "import importlib\nload = importlib.import_module\nload('z3')\n",
    "the loader by its name": "import importlib\ngetattr(importlib, 'import_module')('z3')\n",
    "__import__ in a variable": "load = __import__\nload('z3')\n",
    "exec": "exec('im' + 'port z3')\n",
    "eval": "eval('__impo' + 'rt__(1)')\n",
    "exec in a variable": "run = exec\nrun('')\n",
    "builtins": "import builtins\n",
    "__builtins__": "__builtins__['x']\n",
    "sys.modules": "import sys\nsys.modules['z3']\n",
    "runpy": "import runpy\n",
    "no argument": "from importlib import import_module\nimport_module(name='z3')\n",
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_what_hides_its_name_is_found(tree, text):
    root = tree("engines/deep/x.py", text)
    assert loading_the_unknown(root) == {"__main__.py", "engines/deep/x.py"}


@pytest.mark.parametrize("text", [*WAYS.values(), *HIDDEN.values()], ids=[*WAYS, *HIDDEN])
@pytest.mark.parametrize("file", ["x.py", "logic/x.py", "programs/deep/x.py"])
def test_a_foreign_import_of_the_checker_is_found(tree, file, text):
    root = tree("checker/" + file, text) / "checker"
    found = foreign(
        root, own="privproof_checker", allowed={"math", "sys", "importlib", "subprocess", "typing"}, doors={}
    )
    assert {each.file for each in found} == {file}


@pytest.mark.parametrize(
    "text",
    [
        "import privproof.engines\n",
        "from privproof.engines.words import solver\n",
        "from privproof import engines\n",
        "from privproof.evidence import verdicts\n",
        "from privproof.exactly import other\n",
        "from . import x\n",
        "from importlib import import_module\nimport_module(f'privproof.engines.{1}')\n",
        "import privproof\n",
    ],
)
def test_an_engine_behind_the_checker_is_found(tree, text):
    root = tree("checker/logic/x.py", text) / "checker"
    assert foreign(root, own="privproof_checker", allowed={"importlib"}, doors={})


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("from privproof.cli import main\n", "cli"),
        ("from privproof import asking\n", "asking"),
        ("import privproof.reporting.console_texts\n", "reporting"),
        ("def f():\n    from privproof_checker import recheck\n", "checker"),
        ("from importlib import import_module\nimport_module('privproof.cli')\n", "cli"),
        ("from importlib import import_module\nimport_module(f'privproof_checker.{1}')\n", "checker"),
    ],
)
def test_an_import_against_the_drawing_is_found(tree, text, there):
    assert ("engines", there, "engines/deep/x.py") in imports(tree("engines/deep/x.py", text))


@pytest.mark.parametrize(
    "text", ["print(1)\n", "def f(say=print):\n    say(1)\n", "import sys\nsys.stdout.write('1')\n"]
)
def test_printing_is_found(tree, text):
    assert printing(tree("engines/deep/x.py", text)) == {"engines/deep/x.py"}


def test_silence_is_found(tree):
    tree("engines/empty.py", "\n")
    assert silent(tree("engines/deep/x.py", "x = 1\n")) == {"engines/deep/x.py"}


def test_the_facade_is_complete_and_sorted():
    shown = privproof.__all__
    assert shown == sorted(shown)
    assert len(set(shown)) == len(shown)
    for name in shown:
        assert getattr(privproof, name) is not None
    tree = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    listed = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert imported == set(shown) == set(listed)


@pytest.mark.parametrize(
    "name", ["exact", "models", "scenarios", "compiling", "engines", "library", "formats", "evidence", "reporting"]
)
def test_every_part_lists_what_it_shows(name):
    module = __import__(f"privproof.{name}", fromlist=["__all__"])
    assert all(hasattr(module, shown) for shown in module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)


def test_every_error_of_the_package_is_one_of_its_own():
    errors = [
        value
        for value in vars(privproof.errors).values()
        if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
    ]
    assert all(issubclass(error, privproof.PrivproofError) for error in errors)
    assert {error.__name__ for error in errors} <= set(privproof.__all__)
