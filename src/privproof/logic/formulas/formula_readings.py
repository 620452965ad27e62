"""Texts of formulas that mean something else where temporal operators bind tighter than ``&`` and ``|``.

Two conventions are in use.  PRISM and Storm let ``F``, ``G``, ``X`` and ``U`` reach over ``&``, ``|``, ``=>`` and ``<=>``: ``F a & b`` is
``F (a & b)``; so does `privproof.logic.formulas.formula_parser`.  Textbooks often have it the other way round, ``(F a) & b``, and so
had earlier versions of privproof.  Who writes such a text without parentheses may mean either, so the reader of a verdict is told
which was taken.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Literal, cast

from privproof.errors import FormulaError
from privproof.exact.parsing import climb
from privproof.logic.formulas.formula_parser import OPERATORS, FormulaReader, WrittenFormula, read_formula
from privproof.logic.formulas.formula_syntax import Formula, FormulaFamily, Until, direct_subformulas, show_formula

_LONGEST = 400
"""Characters of a reading in a note: two of them fill half a screen."""


def note_on_reading(text: str | WrittenFormula) -> str | None:
    """What to tell a reader about a text that textbooks read as another formula; None where both read the same.

    >>> print(note_on_reading("P>=1/2 [ F a & b ]"))
    read as F (a & b), by PRISM's precedence; (F a) & b is another formula: parentheses make it plain
    >>> note_on_reading("P>=1/2 [ F (a & b) ]") is None
    True
    """
    written = read_formula(text) if isinstance(text, str) else text
    taken = written.formula
    try:
        other = _TextbookReader(written.text).whole()
    except FormulaError as problem:  # the same texts are formulas in both, but one may nest deeper
        return f"read by PRISM's precedence; where temporal operators bind tighter than & and |, {problem.message}"
    if taken == other:
        return None
    here, there = map(_shorten_text, _difference(taken, other))
    return f"read as {here}, by PRISM's precedence; {there} is another formula: parentheses make it plain"


_ALIKE = {sign: operator._replace(level=max(2, operator.level)) for sign, operator in OPERATORS.items()}
"""The operators, where ``->`` binds as tightly as ``<->``."""


class _TextbookReader(FormulaReader):
    """From loose to tight: ``<->`` and ``->`` alike, to the right; ``|``, ``&``, ``U W R`` to the right, then ``! X F G``."""

    def formula(self) -> Formula:
        with self.deeper():
            return climb(self, _ALIKE, self.operand)

    def operand(self) -> Formula:
        left = self.prefixed()
        operator = self.accept("U", "W", "R")
        if operator is None:
            return left
        with self.deeper():
            bound = self.bound()
            return Until(cast(Literal["U", "W", "R"], operator.text), left, self.operand(), bound)

    def scope_of_temporal(self) -> Formula:
        return self.prefixed()


def _difference(first: Formula, second: Formula) -> tuple[str, str]:
    """The smallest parts, at the same place of two formulas, outside which the formulas are the same."""
    variables: frozenset[str] = frozenset()
    while type(first) is type(second) and _own(first) == _own(second):
        below = direct_subformulas(first), direct_subformulas(second)
        differing = [pair for pair in zip(*below, strict=False) if pair[0] != pair[1]]
        if len(differing) != 1 or len(below[0]) != len(below[1]):
            break
        if isinstance(first, FormulaFamily):
            variables |= {first.variable}
        ((first, second),) = differing
    return show_formula(first, variables), show_formula(second, variables)


def _shorten_text(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _own(formula: Formula) -> list[object]:
    """What a formula is made of beside the formulas below it."""
    below = ("inner", "parts", "left", "right", "path", "body")
    return [getattr(formula, part.name) for part in fields(formula) if part.name not in below]
