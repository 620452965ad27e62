"""The data of a question about registers: finitely many letters, or real numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from privproof.compiling.rewriting import Unsupported
from privproof.engines.registers.data_corners import Reals
from privproof.engines.registers.worst_neighbours import Alphabet
from privproof.exact import Rational, rational
from privproof.language.inputs import Input
from privproof.scenarios import ProgramQuestion


@dataclass(frozen=True)
class Finite:
    """Letters, and which data sets are neighbours.

    Attributes:
        letters: all values.
        alphabet: the neighbours, in numbers of letters.
        ends: whether the letters are the ends of ranges of real numbers, any two of which neighbours may have.
    """

    letters: tuple[Rational, ...]
    alphabet: Alphabet
    ends: bool = False


def data_of(question: ProgramQuestion) -> Finite | Reals:
    """Which data are compared.

    Raises:
        Unsupported: data without bounds that are no real numbers, or another relation.
    """
    if question.relation not in ("each", "one", "monotone"):
        raise Unsupported(f"neighbours={question.relation!r}: lists of one length are compared")
    private = [(name, each) for name, each in question.mechanism.inputs.items() if not each.public]
    entries = [each for name, each in private for _ in range(_length(name, each, question.size))]
    if all(each.real and each.values is None for _, each in private):
        reals = Reals(
            question.relation,
            tuple(each.within for each in entries if each.within is not None),
            tuple(each.low for each in entries),
            tuple(each.high for each in entries),
        )
        return _ends(reals) if reals.narrow else reals
    for name, declared in private:
        if declared.values is None or any(
            not isinstance(v, int | Fraction) or isinstance(v, bool) for v in declared.values
        ):
            raise Unsupported(f"{name}: {declared} has no finite list of numbers to compare; queries(0, 1) has")
    values = [tuple(sorted(rational(v) for v in each.values or ())) for each in entries]
    return _finite(question.relation, values, [each.within for each in entries])


def _length(name: str, declared: Input, size: int | None) -> int:
    if declared.shape == "value":
        return 1
    length = declared.size if declared.size is not None else size
    if length is None:
        raise Unsupported(f"the length of {name} is open; ask at a size (--size 10)")
    return length


def _finite(relation: str, values: list[tuple[Rational, ...]], within: list[Rational | None]) -> Finite:
    letters = tuple(sorted({v for each in values for v in each}))
    number = {v: k for k, v in enumerate(letters)}
    apart = tuple(
        tuple((number[a], number[b]) for a, b in product(each, each) if limit is None or abs(a - b) <= limit)
        for each, limit in zip(values, within, strict=True)
    )
    return Finite(letters, Alphabet(relation, tuple(tuple(number[v] for v in each) for each in values), apart))


def _ends(reals: Reals) -> Finite:
    """The ends of ranges: where every entry pulls to one outcome, nothing between them is worse."""
    values = [
        tuple(sorted({end for end in ends if end is not None})) for ends in zip(reals.lows, reals.highs, strict=True)
    ]
    found = _finite(reals.relation, values, list(reals.within))
    return Finite(found.letters, found.alphabet, ends=True)
