"""Which logic a formula belongs to: PCTL, PCTL*, dpCTL or dpCTL* (dpCTL* paper, Section 4.1).

In dpCTL every path formula is one temporal operator over state formulas; PCTL and PCTL* are dpCTL and dpCTL* without D.
"""

from __future__ import annotations

from collections.abc import Iterator

from privproof.logic.formulas.formula_syntax import (
    Accumulated,
    Expected,
    Formula,
    FormulaFamily,
    LongRun,
    Momentary,
    NextState,
    OfPaths,
    Private,
    Probable,
    Steady,
    Unary,
    Until,
    direct_subformulas,
)

_TEMPORAL = (NextState, Unary, Until, Accumulated, Momentary, LongRun)


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and everything below it, outer ones first."""
    waiting = [formula]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(direct_subformulas(current)))


def outermost_privates(formula: Formula) -> Iterator[Private]:
    """The formulas of D that stand inside of no other, those of families at every value."""
    waiting = [formula]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Private):
            yield current
        else:
            below = tuple(current.instances()) if isinstance(current, FormulaFamily) else direct_subformulas(current)
            waiting.extend(reversed(below))


def only_private(formula: Formula) -> Private | None:
    """The formula of D that is the only operator on paths in a formula, if there is such a one."""
    found = [
        part
        for part in subformulas(formula)
        if isinstance(part, Probable | Expected | Steady | Private | OfPaths | FormulaFamily)
    ]
    return found[0] if len(found) == 1 and isinstance(found[0], Private) else None


def is_state_formula(formula: Formula) -> bool:
    """Whether every temporal operator stands inside P, R, D, E or A."""
    waiting = [formula]
    while waiting:
        current = waiting.pop()
        if isinstance(current, _TEMPORAL):
            return False
        if not isinstance(current, Probable | Private | Expected | OfPaths):
            waiting.extend(direct_subformulas(current))
    return True


def sublogic(formula: Formula) -> str:
    """The smallest of PCTL, PCTL*, dpCTL and dpCTL* that the formula belongs to.

    >>> from privproof.logic.formulas.formula_parser import parse_formula
    >>> [sublogic(parse_formula(text)) for text in ("P>=1/2 [ F done ]", "P>=1/2 [ G F done ]",
    ...     "D[ln(3), 0](X out1)", "D[ln(9), 0](X (out1 & X out1))")]
    ['PCTL', 'PCTL*', 'dpCTL', 'dpCTL*']
    """
    private, star = False, False
    for part in subformulas(formula):
        if isinstance(part, Private | Probable | Expected | OfPaths):
            private = private or isinstance(part, Private)
            path = part.path
            plain = isinstance(path, _TEMPORAL) and all(map(is_state_formula, direct_subformulas(path)))
            star = star or not plain
    return ("dpCTL" if private else "PCTL") + ("*" if star else "")
