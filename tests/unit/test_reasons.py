"""A number that somebody chose has its reason beside it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.structure import parsed

import privproof

ROOT = Path(privproof.__file__).parent
PARTS = sorted(path.name for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
"""The whole package: every numeric constant of a module says what it bounds or tunes, and what happens beyond."""


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
        above = lines[node.lineno - 2] if node.lineno > 1 else ""
        remarked = REMARK.match(lines[(node.end_lineno or node.lineno) - 1]) or REMARK.match(above)
        if not said and not remarked:
            found += names
    return found


REMARK = re.compile(r"(?:^|.*  )# (?!fmt:|type:|noqa|pragma|-+)")
"""A comment that says something: no line that parts a page, and no word to a tool."""


def _numeric(value: ast.expr | None) -> bool:
    """Whether a value is a number, or numbers, and arithmetic on them and on other constants."""
    if isinstance(value, ast.Tuple):
        return bool(value.elts) and all(_numeric(each) for each in value.elts)
    if isinstance(value, ast.BinOp):
        sides = (value.left, value.right)
        return any(map(_numeric, sides)) and all(_numeric(side) or isinstance(side, ast.Name) for side in sides)
    if isinstance(value, ast.UnaryOp):
        return _numeric(value.operand)
    if isinstance(value, ast.Call):
        return bool(value.args) and ast.unparse(value.func) in CALLED and all(map(_said, value.args))
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def _said(value: ast.expr) -> bool:
    """Whether an argument is a number, or a text such as ``1/3``."""
    return _numeric(value) or (isinstance(value, ast.Constant) and isinstance(value.value, str))


CALLED = {"Decimal", "Fraction", "Rational", "epsilon", "float", "fmpq", "int", "rational"}


@pytest.mark.parametrize("part", PARTS)
def test_numbers_have_reasons(part: str) -> None:
    files = [ROOT / part] if part.endswith(".py") else sorted((ROOT / part).rglob("*.py"))
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    assert {name: names for name, text in texts.items() if (names := unexplained(text))} == {}


def test_all_parts_are_read() -> None:
    assert {"evidence", "engines", "formats", "release", "reporting", "asking.py", "errors.py"} <= set(PARTS)
    read = {path for part in PARTS for path in (ROOT / part).rglob("*.py")} | set(ROOT.glob("*.py"))
    assert read == set(ROOT.rglob("*.py"))


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
        ('_CLOSE = rational("1e-9")\n', ["_CLOSE"]),
        ("_MORE = MOST + 50\n", ["_MORE"]),
        ("_BOTH = LEFT | RIGHT\n", []),
        ("_KEPT = 24  # noqa: X1\n", ["_KEPT"]),
        ("# -------------- limits\n_KEPT = 24\n", ["_KEPT"]),
        ("_KEPT = (  # fmt: skip\n    24\n)  # so many are kept\n", []),
        ("_NAME = 'x'\n_ALL = ()\nplain = 3\n_FLAG = True\n", []),
        ("def f():\n    _KEPT = 24\n", []),
    ],
)
def test_a_number_without_a_reason_is_found(text: str, names: list[str]) -> None:
    assert unexplained(text) == names
