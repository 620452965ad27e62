"""Numbers that may only fall: how much code there is, and how much of it is a kind of code that is on its way out.

``python -m tests.ratchets`` prints them beside their bounds, what is nearest above its goal first, with the places that count most;
``python -m tests.ratchets --lower`` writes the numbers of today into the table of `tests.unit.test_ratchets` where they are lower.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
PACKAGES = ("privproof", "privproof_checker")


@dataclass(frozen=True)
class Count:
    """A number, and where it comes from.

    Attributes:
        number: what is counted, in all.
        places: how much of it is where.
    """

    number: int
    places: Mapping[str, int]


def _count(places: Mapping[str, int]) -> Count:
    return Count(sum(places.values()), {place: number for place, number in places.items() if number})


@cache
def modules(folder: Path = SRC) -> dict[str, ast.Module]:
    """The trees of all modules below a folder, by their paths inside it."""
    return {
        path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
    }


def lines(folder: Path = SRC) -> Count:
    """Lines of code, text and comments, by package."""
    found = Counter[str]()
    for path in folder.rglob("*.py"):
        inside = path.relative_to(folder).parts
        found["/".join(inside[:2]) if len(inside) > 2 else inside[0]] += len(path.read_text("utf-8").splitlines())
    return _count(found)


PROGRAMS = {"Block", "Program", "Statement", "Expression", "Loop", "While", "Assign", "If"}
"""The types of programs, of their parts, and of lists of them."""


def _type_names(node: ast.expr | None) -> set[str]:
    if node is None:
        return set()
    named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return named | {name for text in texts for name in re.findall(r"\w+", text)}


def rewriting_functions(folder: Path = SRC) -> Count:
    """Functions that take a program or a part of one, and return one: whatever their type is called."""
    found = Counter[str]()
    for file, tree in modules(folder).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                taken = set[str]().union(*(_type_names(each.annotation) for each in given))
                found[file] += bool(taken & PROGRAMS) and bool(_type_names(node.returns) & PROGRAMS)
    return _count(found)


INSERTERS: tuple[str, ...] = ()
"""The modules that insert calls into the syntax tree, which may look at it."""


def syntax_patterns(folder: Path = SRC) -> Count:
    """Modules that match patterns of Python's syntax tree, and how often they do."""
    found = Counter[str]()
    for file, tree in modules(folder).items():
        if file in INSERTERS:
            continue
        taken = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "ast"
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.MatchClass):
                found[file] += _of_ast(node.cls, taken)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                found[file] += any(_of_ast(part, taken) for part in ast.walk(node.args[-1]))
    return Count(sum(map(bool, found.values())), {file: number for file, number in found.items() if number})


def _of_ast(node: ast.AST, taken: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "ast"
    return isinstance(node, ast.Name) and node.id in taken


_OPERATORS = {"+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "<<", ">>"}
_AST_OPERATORS = {
    "Add",
    "Sub",
    "Mult",
    "Div",
    "FloorDiv",
    "Mod",
    "Lt",
    "LtE",
    "Gt",
    "GtE",
    "Eq",
    "NotEq",
    "USub",
    "And",
    "Or",
}


def operator_tables(folder: Path = SRC) -> Count:
    """Tables with an entry for each of several operators: every one of them says again what an operator means."""
    found = Counter[str]()
    for file, tree in modules(folder).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [_operator(key) for key in node.keys if key is not None]
                found[file] += len({key for key in keys if key}) >= 3
    return _count(found)


def _operator(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if node.value in _OPERATORS | _AST_OPERATORS else ""
    return node.attr if isinstance(node, ast.Attribute) and node.attr in _AST_OPERATORS else ""


def shared_class_names(folder: Path = SRC) -> Count:
    """Classes whose name another class of their package has."""
    named = Counter[tuple[str, str]]()
    for file, tree in modules(folder).items():
        named.update((file.split("/")[0], node.name) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return _count({f"{package}: {name}": number for (package, name), number in named.items() if number > 1})


REPEATED_FILES = ("__init__.py", "__main__.py", "capability.py")
"""Names of files that may stand in several folders."""


def shared_file_names(folder: Path = SRC) -> Count:
    """Files whose name another file of their package has."""
    named = Counter((file.split("/")[0], Path(file).name) for file in modules(folder))
    named = Counter({key: number for key, number in named.items() if key[1] not in REPEATED_FILES})
    return _count({f"{package}: {name}": number for (package, name), number in named.items() if number > 1})


_WORDS = """
    begun bent bet bled born borne bound bought bred brought built burnt cast caught clung come cost cut dealt done
    drawn dreamt driven fed felt foretold found fought fled flown forgone gone got ground grown held heard hidden
    hit hung hurt kept known laid lain learnt led left lent let lit lost made meant met mown outdone overrun paid
    put read redone rerun remade reset rid rung run said seen sent set shed shone shot shown shrunk shut slid sold
    sought sown spelt spent spilt spun split spread stood stuck strung struck sunk swept sworn swung taken taught
    thought thrown thrust told torn understood undone unsaid upheld won worn wound written unbound undrawn unheld
    unkept unknown unmade unpaid unread unrun unseen unsent unspent unsplit untold unwound given chosen broken
    """
_IRREGULAR = frozenset(_WORDS.split())


def is_participle(name: str) -> bool:
    """Whether a name is a participle and nothing else."""
    return "_" not in name.strip("_") and (
        name in _IRREGULAR
        or (len(name) > 4 and name.endswith(("ed", "ing")) and name not in ("string", "need", "seed"))
    )


def participles(folder: Path = SRC) -> Count:
    """Public functions of modules that are named by a participle alone."""
    found = Counter[str]()
    for file, tree in modules(folder).items():
        found[file] += sum(
            isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and is_participle(node.name)
            for node in tree.body
        )
    return _count(found)


PHRASES = (
    *(
        "look alike",
        "looks alike",
        "looking alike",
        "told apart",
        "tell apart",
        "what it pays",
        "gives away",
        "data sets?",
    ),
    *(
        "lists? of every length",
        "lists? of any length",
        "of every length",
        "left open",
        "open noise",
        "run as it is",
        "run as they are",
    ),
    *(
        "running the function itself",
        "the function itself, run",
        "against the claim",
        "by lot",
        "lottery",
        "lotteries",
        "contests?",
    ),
    *("known from before", "taken from the compiler", "settled shifts?", "measured lists?", "kept lists?", "low bits"),
    *(
        "is another matter",
        "the way out is",
        "it is run because",
        "what a bound comes to",
        "comes to at most",
        "every size",
    ),
)
"""Phrases and invented words that the glossary replaces."""
_PHRASES = re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b", re.IGNORECASE)


def invented_phrases(folder: Path = SRC) -> Count:
    """Phrases of ours that users read, in strings of the program (docstrings of modules apart) and in the documentation."""
    found = Counter[str]()
    for file, tree in modules(folder).items():
        if file.startswith("privproof/"):
            silent = {id(tree.body[0].value)} if tree.body and isinstance(tree.body[0], ast.Expr) else set[int]()
            found[file] = sum(
                len(_PHRASES.findall(node.value))
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
            )
    for path in _pages():
        found[path.relative_to(ROOT).as_posix()] = len(_PHRASES.findall(path.read_text(encoding="utf-8")))
    return _count(found)


def _pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def _words(wanted: Callable[[Path], bool]) -> Count:
    found = {path: len(path.read_text(encoding="utf-8").split()) for path in _pages() if wanted(path)}
    return _count({path.relative_to(ROOT).as_posix(): number for path, number in found.items()})


def words_for_users() -> Count:
    """Words of the documentation that is for users."""
    return _words(lambda path: "appendix" not in path.parts)


def words_of_appendix() -> Count:
    """Words of what stands behind the documentation and nobody needs for use."""
    return _words(lambda path: "appendix" in path.parts)


EXECUTORS = (
    "privproof.audits.sampling.program_lanes",
    "privproof.compiling.exploring",
    "privproof.compiling.program_follower",
    "privproof.compiling.selections.evaluating",
    "privproof.compiling.stream_steps",
    "privproof.engines.laplace.paths",
    "privproof.language.evaluating",
    "privproof.language.running",
    "privproof.language.scripts",
    "privproof_checker.programs.evaluating",
    "privproof_checker.programs.executing",
    "privproof_checker.source.exploring",
    "privproof_checker.source.following",
    "privproof_checker.source.machine",
    "privproof_checker.source.ways",
)
"""The modules that execute programs or functions, each in its own way."""


def executors() -> Count:
    """How many ways there are to execute a program."""
    there = {name for name in EXECUTORS if (SRC / f"{name.replace('.', '/')}.py").exists()}
    return _count(dict.fromkeys(sorted(there), 1))


REQUESTS = {
    "noisy max of 3 finite queries": """
        from privproof import check
        from privproof.library.mechanisms import naive_noisy_max
        assert check(naive_noisy_max, "ln(2)", size=3).status == "refuted"
    """,
    "a numpy histogram": """
        import numpy as np
        from privproof import check, records
        def histogram(data):
            counts = np.zeros(3)
            for value in data:
                counts[value] += 1
            return [count + np.random.laplace(0, 2) for count in counts]
        assert check(histogram, 1, inputs={"data": records(0, 1, 2)}, neighbours="one").status != "refuted"
    """,
    "sparse vector for every size": """
        from privproof import check
        from privproof.library.laplace.sparse_vector import sparse_vector
        assert check(sparse_vector, 1).status == "proved"
    """,
    "a class of the user's with np.random.normal": """
        import numpy as np
        from privproof import check, records
        class Release:
            def __init__(self, scale):
                self.scale = scale
            def count(self, data):
                return sum(data) + np.random.normal(0, self.scale)
        check(Release(4).count, 1, "1/1000", inputs={"data": records(0, 1)}, neighbours="one")
    """,
}
"""What four users ask."""

_COUNTING = """
import sys, threading
found = set()
def listen(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_name != "<module>" and "/privproof" in code.co_filename:
        found.add(code.co_filename)
import textwrap
sys.path.insert(0, sys.argv[2])
program = compile(open(sys.argv[1]).read(), sys.argv[1], "exec")
sys.setprofile(listen)
exec(program, {"__name__": "asked"})
sys.setprofile(None)
print(*sorted(found), sep="\\n")
"""


def executed_modules(request: str, folder: Path) -> Count:
    """The modules of ours in which something is called while a request is answered; imports alone do not count."""
    lines_ = REQUESTS[request].strip("\n").splitlines()
    indent = len(lines_[0]) - len(lines_[0].lstrip())
    file = folder / "asked.py"
    file.write_text("\n".join(line[indent:] for line in lines_) + "\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", _COUNTING, str(file), str(folder)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return _count(dict.fromkeys(run.stdout.split(), 1))


COUNTS: dict[str, Callable[[], Count]] = {
    "lines of src": lines,
    "functions that rewrite programs": rewriting_functions,
    "modules that match patterns of the syntax tree": syntax_patterns,
    "tables of operators": operator_tables,
    "executors": executors,
    "classes that share a name": shared_class_names,
    "files that share a name": shared_file_names,
    "public functions named by a participle": participles,
    "invented phrases": invented_phrases,
    "words for users": words_for_users,
    "words of the appendix": words_of_appendix,
}


def main() -> None:
    """Print all numbers, or lower their bounds."""
    from tests.unit import test_ratchets

    found = {name: count() for name, count in COUNTS.items()}
    if "--lower" in sys.argv[1:]:
        path = Path(test_ratchets.__file__)
        text = path.read_text(encoding="utf-8")
        for name, count in found.items():
            bound, goal = test_ratchets.BOUNDS[name]
            old, new = f'"{name}": ({bound:_}, {goal:_})', f'"{name}": ({min(bound, count.number):_}, {goal:_})'
            assert old in text, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        return
    above = {name: count.number / max(test_ratchets.BOUNDS[name][1], 1) for name, count in found.items()}
    for name in sorted(found, key=lambda name: -above[name]):
        bound, goal = test_ratchets.BOUNDS[name]
        print(f"{name}: {found[name].number:,} (bound {bound:,}, goal {goal:,})")
        for place, number in Counter(found[name].places).most_common(5):
            print(f"    {number:>7,}  {place}")


if __name__ == "__main__":
    main()
