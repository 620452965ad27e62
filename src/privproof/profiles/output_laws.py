"""The laws of what is seen in the two situations of a witness: everything that may be seen, with its probability in both.

A witness names one output, or one event; these are the two whole distributions around it, from which pictures are drawn.  Every
probability is exact or enclosed.  Where the whole distributions cannot be told, or would be too long, there are still the event of
the witness and its complement.  Nothing is decided here: who computes the laws again finds the numbers of the witness among them, and
if they are not there, the laws are not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from privproof.compiling.distributions import distribution_key, output_classes, output_probabilities, tail
from privproof.compiling.pufferfish import secrets_table, words_from
from privproof.compiling.runs import trees_on
from privproof.engines.laplace.events import measure_ball, tree
from privproof.engines.laplace.losses import slots, words
from privproof.engines.runs.runs_measures import share
from privproof.errors import LanguageError, QuestionError
from privproof.evidence.witnesses import AnyWitness, SecretWitness
from privproof.exact import ZERO, Epsilon, Rational, fraction, rational
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.probabilities import Ball, Probability, ball_of_probability
from privproof.language.patterns import Between, Unseen, pattern_text
from privproof.language.values import Tail, tails, text
from privproof.models import HiddenMarkovModel
from privproof.scenarios import UnderPriors

if TYPE_CHECKING:
    from privproof.language import Mechanism

_BITS = 192
"""Bits of the balls that probabilities are compared in: far more than a picture shows."""
_MOST_SEEN = 4_096
"""Outputs whose probabilities are computed; of more, the event of the witness and its complement are told."""
_LONGEST = 5
"""Elements of a list: a function that shows something for each of more has too many outputs for a picture (five with five values: 3125)."""
_MOST_WAYS = 400
"""Ways through a program whose noisy number is looked at cell by cell."""
_CELLS = 60
"""Cells that the range of a noisy number is divided into, about."""
_BEYOND = 3
"""Whole numbers that are told one by one beyond those that differ in kind; unbounded noise goes on from there as one."""
_RARE = Fraction(1, 100)
"""A noisy number is followed until no more than this is left on either side."""


@dataclass(frozen=True)
class SeenOutput:
    """An output, or a cell of a noisy number, with its probability in both situations.

    Attributes:
        text: what is seen.
        left: its probability on the left.
        right: its probability on the right.
        ends: of a cell, between which numbers it lies; None for no end.
    """

    text: str
    left: Probability
    right: Probability
    ends: tuple[Fraction | None, Fraction | None] | None = None

    def beyond(self, bound: Epsilon) -> bool:
        """Whether one probability is more than e^epsilon times the other, for certain."""
        if bound.infinite:
            return False
        with precision(_BITS):
            left, right, factor = (
                ball_of_probability(self.left, _BITS),
                ball_of_probability(self.right, _BITS),
                bound.ball(_BITS).exp(),
            )
            return bool(left > factor * right) or bool(right > factor * left)


@dataclass(frozen=True)
class OutputLaws:
    """Both distributions of what is seen.

    Attributes:
        left: the situation on the left, in words.
        right: the situation on the right.
        rows: what may be seen: a partition of all outputs.
        event: what the witness shows, in words.
        whole: whether the rows are the outputs themselves, and not an event with its complement.
    """

    left: str
    right: str
    rows: tuple[SeenOutput, ...]
    event: str
    whole: bool = True

    @property
    def numbers(self) -> bool:
        """Whether what is seen is one noisy number, told by cells."""
        return self.whole and all(row.ends is not None for row in self.rows)


def event_rows(witness: AnyWitness) -> tuple[SeenOutput, ...]:
    """The event of a witness, and its complement."""
    rest = tuple(_complement(p) for p in (witness.left_probability, witness.right_probability))
    return (
        SeenOutput(witness.seen, witness.left_probability, witness.right_probability),
        SeenOutput("anything else", rest[0], rest[1]),
    )


def laws_of(witness: AnyWitness, rows: Sequence[SeenOutput] | None, left: str, right: str) -> OutputLaws:
    """The laws from their rows; where there are none, or not those of the witness, from its event alone."""
    whole = rows is not None and _is_law(rows) and _agrees(witness, rows)
    told = tuple(rows) if whole and rows is not None else event_rows(witness)
    return OutputLaws(left, right, told, witness.seen, whole)


def mechanism_rows(
    mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any]
) -> tuple[SeenOutput, ...] | None:
    """Everything that a finite mechanism may show on two data sets; None where that is too much.

    >>> from privproof.language import geometric, integer, mechanism
    >>> @mechanism
    ... def noisy(count: integer(0, 2)):
    ...     return min(max(geometric(count, alpha="1/2"), 0), 2)
    >>> [(row.text, str(row.left), str(row.right)) for row in mechanism_rows(noisy, {"count": 0}, {"count": 1})]
    [('0', '2/3', '1/3'), ('1', '1/6', '1/3'), ('2', '1/6', '1/3')]
    """
    if _long(left) or _long(right):
        return None
    try:
        classes = [output_classes(mechanism, side) for side in (left, right)]
        if sum(map(len, classes)) > _MOST_SEEN:
            return None
        shown = [output for found in classes for output, _ in found]
        if any(True for output in shown for _ in tails(output)):
            wanted = _numbers(shown)
            if wanted is None:
                return None
            both = [output_probabilities(mechanism, list(wanted.values()), side) for side in (left, right)]
            return tuple(SeenOutput(name, p, q) for name, p, q in zip(wanted, *both, strict=True))
        laws = [{_name(output): fraction(p) for output, p in found} for found in classes]
    except LanguageError:  # a picture is not worth an error: the verdict stands without it
        return None
    return _merge_laws(laws, Fraction(0))


def program_rows(
    mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any]
) -> tuple[SeenOutput, ...] | None:
    """What a program with continuous noise may show: its outputs, or the cells of the one noisy number that it shows."""
    if _long(left) or _long(right):
        return None
    try:
        trees = [tree(mechanism, side, most=_MOST_WAYS) for side in (left, right)]
        patterns = {pattern_text(pattern): pattern for found in trees for pattern, _ in words(found)}
        if not any(slots(pattern) for pattern in patterns.values()):
            return tuple(SeenOutput(name, *_measure_pattern(trees, pattern)) for name, pattern in patterns.items())
        if len(patterns) == 1 and all(slots(pattern) == [()] for pattern in patterns.values()):
            cells = [(cell, _measure_pattern(trees, cell)) for cell in _cells(trees)]
            return tuple(SeenOutput(pattern_text(cell), p, q, (cell.low, cell.high)) for cell, (p, q) in cells)
    except (LanguageError, Unseen):  # likewise
        return None
    return None


def run_rows(mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any]) -> tuple[SeenOutput, ...] | None:
    """What a function may show that is run; None where a noisy number is shown, or noise has no exact probabilities."""
    if _long(left) or _long(right):
        return None
    try:
        trees = trees_on(mechanism, (left, right), most=_MOST_SEEN)
        if any(leaf.outcome.parts or leaf.guesses for found in trees for leaf in found):
            return None
        laws: list[dict[str, ExponentialSum]] = []
        for found in trees:
            law: dict[str, ExponentialSum] = {}
            for leaf in found:
                before = law.get(leaf.outcome.text, ExponentialSum.constant(0))
                law[leaf.outcome.text] = before + share(leaf)
            laws.append(law)
    except LanguageError:  # likewise
        return None
    return _merge_laws(laws, ExponentialSum.constant(0))


def hidden_rows(
    model: HiddenMarkovModel, left: Mapping[str, Any], right: Mapping[str, Any], length: int
) -> tuple[SeenOutput, ...] | None:
    """All words of a length that a hidden Markov model may show from two initial distributions."""
    if len(model.observations) ** length > _MOST_SEEN:
        return None
    try:
        laws = []
        for side in (left, right):
            law: dict[str, Rational] = {}
            for state, weight in side.items():
                for word, p in words_from(model, state, length).items():
                    law[word] = law.get(word, ZERO) + rational(weight) * p
            laws.append({word: fraction(p) for word, p in law.items()})
    except QuestionError:  # likewise
        return None
    return _merge_laws(laws, Fraction(0))


def secret_rows(question: UnderPriors, witness: SecretWitness) -> tuple[SeenOutput, ...] | None:
    """What is seen given each of two secrets, at the values of the prior's parameters that the witness names."""
    if witness.observed.limit:
        return None
    try:
        rows = secrets_table(question).rows
    except (LanguageError, QuestionError):  # likewise
        return None
    laws = []
    for secret in (witness.left, witness.right):
        held = [(fraction(row.weight.at(witness.observed.values)), row) for row in rows if secret in row.secrets]
        total = sum((weight for weight, _ in held), Fraction(0))
        law: dict[str, Fraction] = {}
        for weight, row in held:
            for name, p in row.outputs.items():
                law[name] = law.get(name, Fraction(0)) + weight * fraction(p) / total if total else Fraction(0)
        laws.append(law)
    return _merge_laws(laws, Fraction(0))


def _long(data: Mapping[str, Any]) -> bool:
    return any(isinstance(value, list | tuple) and len(value) > _LONGEST for value in data.values())


def _measure_pattern(trees: Sequence[Sequence[Any]], pattern: Any) -> tuple[Ball, Ball]:
    left, right = (Ball.of(measure_ball(found, pattern, _BITS)) for found in trees)
    return left, right


def _complement(value: Probability) -> Probability:
    if isinstance(value, ExponentialSum):
        return ExponentialSum.constant(1) - value
    if isinstance(value, Ball):
        with precision(_BITS):
            return Ball.of(arb(1) - value.ball(_BITS))
    return 1 - value


def _is_law(rows: Sequence[SeenOutput]) -> bool:
    """Whether the probabilities of each side may add up to one."""
    with precision(_BITS):
        sums = [
            sum((ball_of_probability(getattr(row, side), _BITS) for row in rows), arb(0)) for side in ("left", "right")
        ]
        return all(bool(abs(total - 1) < arb("1e-9")) for total in sums)


def _agrees(witness: AnyWitness, rows: Sequence[SeenOutput]) -> bool:
    """Whether the output of the witness, if it is one of the rows, has the probabilities of the witness there."""
    same = [row for row in rows if row.text == witness.seen]
    with precision(_BITS):
        return all(
            ball_of_probability(mine, _BITS).overlaps(ball_of_probability(told, _BITS))
            for row in same
            for mine, told in ((row.left, witness.left_probability), (row.right, witness.right_probability))
        )


def _merge_laws(laws: Sequence[Mapping[str, Any]], zero: Any) -> tuple[SeenOutput, ...]:
    """Two laws as one table."""
    names = sorted({name for law in laws for name in law}, key=_order)
    return tuple(SeenOutput(name, laws[0].get(name, zero), laws[1].get(name, zero)) for name in names)


def _numbers(classes: Sequence[Any]) -> dict[str, Any] | None:
    """Whole numbers that both sides can be asked for, with unbounded noise told from some number on as one; None for other outputs."""
    if not all(isinstance(shown, Tail) or type(shown) is int for shown in classes):
        return None
    known = [shown.offset if isinstance(shown, Tail) else shown for shown in classes]
    low, high = min(known) - _BEYOND, max(known) + _BEYOND
    downward = any(isinstance(shown, Tail) and shown.sign < 0 for shown in classes)
    upward = any(isinstance(shown, Tail) and shown.sign > 0 for shown in classes)
    first, last = low if downward else min(known), high if upward else max(known)
    found: dict[str, Any] = {f"≤{first - 1}": tail(first - 1, upward=False)} if downward else {}
    found |= {str(number): number for number in range(first, last + 1)}
    return found | ({f"≥{last + 1}": tail(last + 1, upward=True)} if upward else {})


def _name(shown: Any) -> str:
    """An output as a witness tells it: what is written one after the other, or the value."""
    key = distribution_key(shown)
    return (
        " ".join(map(text, shown)) or "nothing" if isinstance(shown, tuple) and isinstance(key, tuple) else text(shown)
    )


def _order(name: str) -> tuple[int, Fraction, str]:
    """Numbers by their size, everything else by its text."""
    try:
        return (0, Fraction(name), "")
    except ValueError:
        return (1, Fraction(0), name)


def _cells(trees: Sequence[Sequence[Any]]) -> Iterator[Between]:
    """Cells of one noisy number: of a round width, from where it is rare on both sides to where it is rare again."""

    def beyond(end: Fraction, *, above: bool) -> bool:
        event = Between(end, None) if above else Between(None, end)
        return any(not measure_ball(found, event, 64) < arb(rational(_RARE)) for found in trees)

    reach = Fraction(1)
    while (beyond(reach, above=True) or beyond(-reach, above=False)) and reach < Fraction(10) ** 12:
        reach *= 2
    low, high = -reach, reach
    for _ in range(12):  # halve what is rare, from both ends
        step = (high - low) / 8
        if not beyond(low + step, above=False):
            low += step
        if not beyond(high - step, above=True):
            high -= step
    unit = Fraction(1)
    while unit * 10 < (high - low) / _CELLS:
        unit *= 10
    while unit > (high - low) / _CELLS:
        unit /= 10
    width = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor * _CELLS >= high - low)
    first, last = low // width, -(-high // width)
    yield Between(None, first * width)
    yield from (Between(width * i, width * (i + 1)) for i in range(first, last))
    yield Between(last * width, None)
