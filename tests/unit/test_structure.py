"""The shape of the code: who may import whom, and what the façade shows."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import privproof

ROOT = Path(privproof.__file__).parent

CORE = {"errors", "exact"}
DATA = CORE | {"models", "language", "scenarios"}
ALLOWED = {
    "exact": {"errors"},
    "models": CORE,
    "language": CORE,
    "scenarios": CORE | {"models", "language"},
    "formats": DATA,
    "library": DATA | {"compiling"},
    "compiling": DATA,
    "profiles": DATA | {"compiling"},
    "checker": {"exact"},
}
FORBIDDEN = {
    "compiling": {"engines", "evidence", "checker", "reporting", "cli", "asking"},
    "engines": {"evidence", "checker", "release", "reporting", "cli", "asking"},
    "evidence": {"reporting", "cli", "asking"},
    "release": {"checker", "reporting", "cli"},
    "reporting": {"cli", "asking", "engines"},
}


def part_of(names):
    """The part of the package that a dotted name belongs to; the checker is a part of its own."""
    if names[:2] == ("evidence", "checker"):
        return "checker"
    return names[0] if names else "façade"


@cache
def imports():
    """Every import inside the package: the part that imports, the part imported, and the file."""
    return list(_imports())


def _imports():
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        here = part_of((*inside.parts[:-1], inside.stem)) if inside.parts[0] != "__init__.py" else "façade"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{inside}: relative import"
                names = [node.module or ""]
                if node.module == "privproof":
                    names = [f"privproof.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                head, *rest = name.split(".")
                if head == "privproof" and part_of(tuple(rest)) != here:
                    yield here, part_of(tuple(rest)), str(inside)


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_imports_only_what_is_above_it(part):
    found = {(there, where) for here, there, where in imports() if here == part}
    assert {there for there, _ in found} <= ALLOWED[part], found


@pytest.mark.parametrize("part", FORBIDDEN)
def test_a_part_imports_nothing_below_it(part):
    found = {(there, where) for here, there, where in imports() if here == part}
    assert not {there for there, _ in found} & FORBIDDEN[part], found


def test_nobody_imports_the_command_line():
    assert {here for here, there, _ in imports() if there == "cli"} <= {"__main__"}


def test_only_one_module_knows_the_solver():
    knowing = [
        path.name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "z3" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "z3")
    ]
    assert set(knowing) == {"solver.py"}


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
        for path in (ROOT / part).rglob("*.py"):
            called = [
                node.func
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call)
            ]
            assert not [f for f in called if isinstance(f, ast.Name) and f.id == "print"], path


def test_every_module_says_its_idea():
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if text.strip() and path.name != "__main__.py":
            assert ast.get_docstring(ast.parse(text)), path


def test_the_facade_is_complete_and_sorted():
    shown = privproof.__all__
    assert shown == sorted(shown)
    assert len(set(shown)) == len(shown)
    for name in shown:
        assert getattr(privproof, name) is not None
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported == set(shown)


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
