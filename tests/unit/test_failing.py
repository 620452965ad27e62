"""Which expressions may fail."""

from __future__ import annotations

import pytest

from privproof import integer, one_of, rows
from privproof.compiling.failing import may_fail
from privproof.language.syntax import Constant, Element, Operation, Variable

FIELD = Operation("field", (Operation("record", (Variable("data", None),), None), Constant("city", None)), None)
INPUTS = {"data": rows(x=integer(0, 3), city=one_of("a", "b"))}


def operation(name, *operands):
    return Operation(name, tuple(operands), None)


X, ZERO, TWO = Variable("x", None), Constant(0, None), Constant(2, None)


def table(*keys):
    return operation("table of", *(part for key in keys for part in (Constant(key, None), TWO)))


@pytest.mark.parametrize(
    ("expression", "fails"),
    [
        (operation("+", X, TWO), False),
        (operation("//", X, TWO), False),
        (operation("//", X, ZERO), True),
        (operation("//", TWO, X), True),
        (operation("%", TWO, X), True),
        (operation("/", TWO, X), True),
        (operation("/", X, Constant(False, None)), True),
        (operation("<<", X, TWO), False),
        (operation("<<", TWO, X), True),
        (operation("**", X, TWO), False),
        (operation("**", X, Constant(-1, None)), True),
        (operation("min", X, TWO), False),
        (operation("min", X), True),
        (operation("holds", X), True),
        (operation("+", X, operation("//", TWO, X)), True),
        (Element(table("a", "b"), FIELD, None), False),
        (Element(table("a"), FIELD, None), True),
        (Element(table("a", "b"), X, None), True),
        (Element(X, TWO, None), True),
    ],
)
def test_what_may_fail(expression, fails):
    assert may_fail(expression, INPUTS) == fails
