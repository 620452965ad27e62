"""Terms of SMT-LIB: written from exact numbers and from parts whose sorts are known.

A symbol of the state has two names: the one that a certificate uses, such as ``t: distance``, and one of our own, such as
``s3``.  Only our own stand in conditions, so nothing in a certificate can be taken for a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from privproof_checker.numbers import Rational

INT, REAL, BOOL = "Int", "Real", "Bool"
KINDS = {"int": INT, "tag": INT, "real": REAL, "bool": BOOL}
"""The SMT-LIB sort of each sort of a mechanism."""


@dataclass(frozen=True)
class StateSymbol:
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


def affine_key(term: str) -> str:
    """A text that is the same for terms of integers that are equal as sums of multiples of the same parts.

    >>> affine_key("(- (+ s1 1) 1)") == affine_key("s1"), affine_key("(* 2 s1)") == affine_key("(+ s1 s1)")
    (True, True)
    >>> affine_key("(+ s1 1)") == affine_key("s1")
    False
    """
    stack: list[list[str | dict[str, int]]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", term):
        if token == "(":
            stack.append([])
        elif token == ")":
            head, *operands = stack.pop()
            assert isinstance(head, str)
            stack[-1].append(_combine_sums(head, operands))
        else:
            stack[-1].append(token)
    whole = _sum_of(stack[0][0])
    return " ".join(f"{factor}*{part}" for part, factor in sorted(whole.items()) if factor)


def _sum_of(operand: str | dict[str, int]) -> dict[str, int]:
    """The multiples of parts that make up an operand; the part 1 is the constant."""
    if isinstance(operand, dict):
        return operand
    return {"1": int(operand)} if operand.isdigit() else {operand: 1}


def _combine_sums(head: str, operands: list[str | dict[str, int]]) -> dict[str, int]:
    sums = [_sum_of(each) for each in operands]
    constants = [each.get("1", 0) for each in sums if set(each) <= {"1"}]
    if head == "*" and len(sums) == 2 and constants:
        other = next((each for each in sums if not set(each) <= {"1"}), sums[1])
        return {part: factor * constants[0] for part, factor in other.items()}
    if head not in ("+", "-"):
        shown = " ".join(str(sorted((part, f) for part, f in each.items() if f)) for each in sums)
        return {f"({head} {shown})": 1}
    total: dict[str, int] = {}
    for i, each in enumerate(sums):
        sign = -1 if head == "-" and (i > 0 or len(sums) == 1) else 1
        for part, factor in each.items():
            total[part] = total.get(part, 0) + sign * factor
    return total
