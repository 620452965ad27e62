"""Terms of SMT-LIB: written from exact numbers and from parts whose sorts are known.

A symbol of the state has two names: the one that a certificate uses, such as ``t: distance``, and one of our own, such as
``s3``.  Only our own ever reach a solver, so nothing in a certificate can be taken for a command.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from privproof.exact import Rational

INT, REAL, BOOL = "Int", "Real", "Bool"
KINDS = {"int": INT, "tag": INT, "real": REAL, "bool": BOOL}
"""The SMT-LIB sort of each sort of a mechanism."""


@dataclass(frozen=True)
class Symbol:
    """A symbol of the state: the name in certificates, our own, and its SMT-LIB sort."""

    name: str
    own: str
    sort: str


def number(value: Rational | int, sort: str) -> str:
    """A number as a term.

    >>> number(Rational(-1, 2), REAL), number(3, INT), number(3, REAL)
    ('(- (/ 1.0 2.0))', '3', '3.0')
    """
    exact = Rational(value)
    if sort == INT:
        assert exact.q == 1
        size = str(abs(exact.p))
    elif exact.q == 1:
        size = f"{abs(exact.p)}.0"
    else:
        size = f"(/ {abs(exact.p)}.0 {exact.q}.0)"
    return f"(- {size})" if exact < 0 else size


def zero(sort: str) -> str:
    """Zero of a sort."""
    return "0" if sort == INT else "0.0"


def real(term: str, sort: str) -> str:
    """A number as a real.

    >>> real("x", INT), real("0", INT), real("x", REAL)
    ('(to_real x)', '0.0', 'x')
    """
    if sort == REAL:
        return term
    return f"{term}.0" if term.isdigit() else f"(to_real {term})"


def both(terms: Iterable[str]) -> str:
    """The conjunction."""
    listed = [term for term in terms if term != "true"]
    if not listed:
        return "true"
    return listed[0] if len(listed) == 1 else f"(and {' '.join(listed)})"


def either(terms: Iterable[str]) -> str:
    """The disjunction."""
    listed = list(terms)
    if "true" in listed:
        return "true"
    if not listed:
        return "false"
    return listed[0] if len(listed) == 1 else f"(or {' '.join(listed)})"


def implies(premise: str, conclusion: str) -> str:
    """The implication."""
    return conclusion if premise == "true" else f"(=> {premise} {conclusion})"


def plus(*terms: str) -> str:
    """The sum, without zeros.

    >>> plus("x", "0.0"), plus("0", "0"), plus("x", "y")
    ('x', '0', '(+ x y)')
    """
    listed = [term for term in terms if term not in ("0", "0.0")]
    if not listed:
        return terms[0]
    return listed[0] if len(listed) == 1 else f"(+ {' '.join(listed)})"


def times(factor: Rational, term: str, sort: str) -> str:
    """A multiple."""
    if term in ("0", "0.0") or factor == 1:
        return term
    if factor == 0:
        return zero(sort)
    return f"(* {number(factor, sort)} {term})"
