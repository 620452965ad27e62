"""A number that somebody chose has its reason beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.structure import parsed

import privproof

ROOT = Path(privproof.__file__).parent
EXPLAINED = [
    "compiling",
    *(f"engines/{name}" for name in ("laplace", "logic", "parametric", "releases", "sampling", "streams", "words")),
]
"""Folders in which every numeric constant of a module says what it bounds, and what happens beyond."""


def unexplained(text: str) -> list[str]:
    """The numeric constants of a module that no docstring and no comment explains."""
    lines, body = text.splitlines(), parsed(text).body
    found = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        else:
            continue
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        if not names or not all(name.strip("_").isupper() for name in names) or not _numeric(node.value):
            continue
        said = (
            isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        )
        remarked = "#" in lines[node.lineno - 1] or lines[node.lineno - 2].lstrip().startswith("#")
        if not said and not remarked:
            found += names
    return found


def _numeric(value: ast.expr | None) -> bool:
    """Whether a value is a number, or numbers, and arithmetic on them."""
    if isinstance(value, ast.Tuple):
        return bool(value.elts) and all(_numeric(each) for each in value.elts)
    if isinstance(value, ast.BinOp):
        return _numeric(value.left) and _numeric(value.right)
    if isinstance(value, ast.UnaryOp):
        return _numeric(value.operand)
    if isinstance(value, ast.Call):
        return bool(value.args) and all(_numeric(each) for each in value.args) and ast.unparse(value.func) in CALLED
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


CALLED = {"Fraction", "Rational", "fmpq", "rational", "int", "float"}


@pytest.mark.parametrize("folder", EXPLAINED)
def test_numbers_have_reasons(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {path.name: names for path in files if (names := unexplained(path.read_text(encoding="utf-8")))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("_KEPT = 24\n", ["_KEPT"]),
        ('_KEPT = 24\n"""So many are kept."""\n', []),
        ("_KEPT = 24  # so many are kept\n", []),
        ("# so many are kept\n_KEPT = 24\n", []),
        ("_KEPT = 24\n_MOST = 3\n'''Of all.'''\n", ["_KEPT"]),
        ("A, _B = 4, 2**10\n", ["A", "_B"]),
        ("_NEAR: tuple[int, ...] = (1, -2)\n", ["_NEAR"]),
        ("_HALF = Rational(1, 2)\n", ["_HALF"]),
        ("_NAME = 'x'\n_ALL = ()\nplain = 3\n_FLAG = True\n", []),
        ("def f():\n    _KEPT = 24\n", []),
    ],
)
def test_a_number_without_a_reason_is_found(text: str, names: list[str]) -> None:
    assert unexplained(text) == names
