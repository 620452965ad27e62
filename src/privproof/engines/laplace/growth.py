"""Losses that grow with the number of answers: one long word, of the size at which it exceeds the claim.

At small sizes the words that change their letter at most once are ranked by their least cost (`worst`).  A cost that grows from one size to
another says that a loss may, and on which word and data: both are stretched to any size.  The loss at two moderate sizes tells how fast it
grows, and so at which size the claim is exceeded; there the probabilities are computed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, groupby, islice, takewhile
from math import ceil
from typing import Any

from flint import arb

from privproof.compiling.program_follower import ProgramDiffers
from privproof.compiling.relational import Program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.engines.laplace.events import measure, measure_ball
from privproof.engines.laplace.long_words import word_leaves
from privproof.engines.laplace.losses import Loss, events, slots
from privproof.engines.laplace.worst import WorstPath, atoms, private_names, region, regions, worst
from privproof.engines.search_monitor import Monitor
from privproof.errors import LanguageError
from privproof.exact import Epsilon, fraction
from privproof.exact.balls import precision, rational_bounds
from privproof.language.branching import BranchLeaf
from privproof.language.inputs import NORMS, Input
from privproof.language.linear import Linear
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import key

_FEW, _MORE = 4, 8
"""The sizes whose costs tell how they grow."""
_SHOWING = 16
"""The size at which it is seen how far along the corner data are best."""
_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32)
"""The sizes that are tried first; the losses of the last two tell how they grow."""
_LONGEST = 2_000
"""The largest size that is tried; the checker reads runs with so many noises."""
_FAMILIES = 3
"""So many words are stretched, those whose cost grows most."""
_LETTERS = 4
"""So many letters are combined with each other."""
_STEPS = (0, 1, 2, 4, 8, -1, -2)
"""How far along a corner data are tried."""
_TRIES = 6
"""How often a size is guessed; the losses of larger sizes are nearly linear in them."""
_REPEATED = 3
"""A part of a word that repeats itself so often is stretched; others stay as long as they are."""


@dataclass(frozen=True)
class GrowingFamily:
    """A word and the move of the data at a small size, to be stretched; and how much its cost grows with every answer."""

    word: tuple[Any, ...]
    corner: tuple[Fraction, ...]
    rate: float

    def stretched(self, size: int) -> tuple[list[Any], list[Fraction]]:
        """The word and the move at a larger size."""
        runs = [list(run) for _, run in groupby(range(len(self.word)), lambda i: (key(self.word[i]), self.corner[i]))]
        lengths = [len(run) for run in runs]
        longer = [i for i, length in enumerate(lengths) if length >= _REPEATED] or [lengths.index(max(lengths))]
        spare = size - sum(length for i, length in enumerate(lengths) if i not in longer)
        whole = sum(lengths[i] for i in longer)
        for i in longer[:-1]:
            lengths[i] = spare * len(runs[i]) // whole
        lengths[longer[-1]] = spare - sum(lengths[i] for i in longer[:-1])
        places = [run[0] for run, length in zip(runs, lengths, strict=True) for _ in range(length)]
        return [self.word[i] for i in places], [self.corner[i] for i in places]


@dataclass
class Growing:
    """The search for a loss above a claim among long words.

    Attributes:
        mechanism: the mechanism.
        relation: its neighbours.
        public: values of its public inputs.
        allowed: the claim at a size.
        monitor: may stop the search.
    """

    mechanism: Mechanism
    relation: str
    public: Mapping[str, Any]
    allowed: Callable[[int], Epsilon]
    monitor: Monitor

    @cached_property
    def found(self) -> list[GrowingFamily]:
        """The words whose cost grows most with their length; none where nothing can be said."""
        if _private_list(self.mechanism) is None or self.relation in NORMS:
            return []
        try:
            listed = list(self.families(program_for_alignment(self.mechanism, convert=False)))
        except (Unsupported, ProgramDiffers, LanguageError):  # it does not run on open data, or has no such program
            return []
        return sorted(listed, key=lambda family: -family.rate)[:_FAMILIES]

    def loss(self) -> Loss | None:
        """A loss above the claim; None where none is found."""
        name = _private_list(self.mechanism)
        if name is None or not self.found:
            return None
        program = program_for_alignment(self.mechanism, convert=False)
        for family in self.found:
            try:
                loss = _Stretching(self, program, name, family).loss()
            except (Unsupported, ProgramDiffers):
                continue
            if loss is not None:
                return loss
        return None

    def families(self, program: Program) -> Iterator[GrowingFamily]:
        """Words whose cost grows with their length."""
        letters = self.letters()
        few = dict(self.ranked(program, letters, _FEW))
        for shape, one in self.ranked(program, letters, _MORE):
            before = few.get(shape)
            if before is None or one.cost == float("inf") or one.cost <= before.cost + 1e-9:
                continue
            corner = tuple(one.corner[name] for name in private_names(self.mechanism, _MORE))
            yield GrowingFamily(tuple(one.region.word), corner, (one.cost - before.cost) / (_MORE - _FEW))

    def letters(self) -> list[Any]:
        """The letters of short words, where there is one for every answer."""
        found: dict[str, Any] = {}
        for size in (1, 2):
            for one in regions(self.mechanism, size, self.public, self.monitor.pause):
                if isinstance(one.word, list) and len(one.word) == size:
                    found.update((key(letter), letter) for letter in one.word)
        return list(found.values())[:_LETTERS]

    def ranked(self, program: Program, letters: Sequence[Any], size: int) -> Iterator[tuple[object, WorstPath]]:
        """The words at a size that change their letter at most once, by their shape, each with its worst corner."""
        names = private_names(self.mechanism, size)
        arguments = atoms(self.mechanism, size, self.public)
        for first in letters:
            for second in letters:
                for place in ("middle", "end") if first is not second else ("middle",):
                    count = size // 2 if place == "middle" else size - 1
                    word = [first] * count + [second] * (size - count)
                    ways = [region(leaf) for leaf in word_leaves(program, arguments, word, self.monitor.pause)]
                    for one in worst(self.mechanism, self.relation, ways, names, self.monitor.pause)[:1]:
                        yield (key(first), key(second), place), one


def _private_list(mechanism: Mechanism) -> str | None:
    """The one private input, a list of numbers of any length."""
    private = [(name, declared) for name, declared in mechanism.inputs.items() if not declared.public]
    if len(private) != 1:
        return None
    [(name, declared)] = private
    numbers = declared.within is not None and not declared.fields
    return name if declared.shape == "list" and declared.size is None and numbers else None


@dataclass
class _Stretching:
    """One family, at larger and larger sizes."""

    search: Growing
    program: Program
    name: str
    family: GrowingFamily

    def loss(self) -> Loss | None:
        """A loss above the claim."""
        best: tuple[float, int, int] | None = None
        for t in _STEPS:
            for shape in range(len(self.shapes(_SHOWING, t))):
                value = self.excess(_SHOWING, t, shape)
                if value is not None and (best is None or value > best[0] + 1e-9):
                    best = value, t, shape
        if best is None:
            return None
        _, t, shape = best
        known: list[tuple[int, float]] = []
        for size in (*_SIZES, *[None] * _TRIES):
            wanted = _guessed(known) if size is None else size
            value = None if wanted is None else self.excess(wanted, t, shape)
            if wanted is None or (value is None and size is None):
                return None
            if value is not None and value > 0:
                nearer = () if size is None else takewhile(lambda each: each != t, _STEPS)
                for near in (*nearer, t):
                    found = self.exactly(wanted, near, shape)
                    if found is not None:
                        return found
            if value is not None:
                known.append((wanted, value))
        return None

    def data(self, size: int, t: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Neighbouring data, so far along the corner, or as far as their bounds allow."""
        declared = self.search.mechanism.inputs[self.name]
        _, corner = self.family.stretched(size)
        left = [_placed(t * move, move, declared) for move in corner]
        right = [None if one is None else one + move for one, move in zip(left, corner, strict=True)]
        if None in left:
            return None
        sides = ({**self._public(size), self.name: [_plain(v) for v in side]} for side in (left, right))
        return next(sides), next(sides)

    def _public(self, size: int) -> dict[str, Any]:
        inputs = self.search.mechanism.inputs
        found = dict(self.search.public.items())
        for name, declared in inputs.items():
            if declared.public and declared.shape == "list":
                found[name] = [_within(Fraction(0), declared) or 0] * (declared.size or size)
        return found

    def shapes(self, size: int, t: int) -> list[Any]:
        """The events of the word."""
        word, _ = self.family.stretched(size)
        if not slots(word):
            return [word]
        sides = self.data(size, t)
        if sides is None:
            return []
        silent = next(iter(self.leaves(sides[0], word)), None)
        return list(islice(events(word, None if silent is None else silent.output), 9))

    def leaves(self, arguments: Mapping[str, Any], event: Any) -> tuple[BranchLeaf, ...]:
        """The runs in the event.

        Raises:
            Unsupported: there are too many, or one is no single integral.
        """
        found = word_leaves(self.program, arguments, event, self.search.monitor.pause)
        if not all(
            _is_star(chain((test.halfspace for test in leaf.tests), leaf.within(event) or ())) for leaf in found
        ):
            raise Unsupported("noises are compared in chains, not each with one threshold")
        return found

    def excess(self, size: int, t: int, shape: int) -> float | None:
        """By how much the loss exceeds the claim, as a float; None where it is not known."""
        sides = self.data(size, t)
        if sides is None:
            return None
        event = self.shapes(size, t)[shape]
        left, right = (measure_ball(self.leaves(side, event), event) for side in sides)
        if not (left > 0 and right > 0):
            return None
        with precision(128):
            loss: arb = (left / right).log()
        return float(loss.mid()) - float(rational_bounds(self.search.allowed(size).ball())[1])

    def exactly(self, size: int, t: int, shape: int) -> Loss | None:
        """The loss with its exact probabilities, where it is above the claim."""
        value = self.excess(size, t, shape)
        sides = self.data(size, t)
        if sides is None or value is None or value < -1e-9:
            return None
        event = self.shapes(size, t)[shape]
        runs = self.leaves(sides[0], event), self.leaves(sides[1], event)
        p, q = (measure(leaves, event) for leaves in runs)
        found = Loss(*sides, event, p, q, runs, partial=True)
        return found if found.exceeds(self.search.allowed(size)) else None


def _is_star(forms: Iterable[Linear]) -> bool:
    """Whether every noise but the thresholds is compared with numbers and with one threshold alone."""
    beside: dict[int, set[int]] = {}
    for form in forms:
        noises = [atom for atom in form.terms if isinstance(atom, int)]
        if len(noises) > 2:
            return False
        for one in noises:
            beside.setdefault(one, set()).update(other for other in noises if other != one)
    return all(len(others) < 2 or all(len(beside[other]) == 1 for other in others) for others in beside.values())


def _guessed(known: Sequence[tuple[int, float]]) -> int | None:
    """The size at which the claim is exceeded, if losses grow as they did last; None if they do not."""
    if len(known) < 2:
        return None
    (size, before), (larger, value) = known[-2:]
    slope = (value - before) / (larger - size)
    if slope <= 1e-9:
        return None
    found = larger + max(1, ceil(-value / slope))
    return found if found <= _LONGEST else None


def _placed(value: Fraction, move: Fraction, declared: Input) -> Fraction | None:
    """The number nearest to a value from which an input may move; None if there is none."""
    low = None if declared.low is None else fraction(declared.low) + max(Fraction(0), -move)
    high = None if declared.high is None else fraction(declared.high) - max(Fraction(0), move)
    if low is not None and high is not None and low > high:
        return None
    if low is not None:
        value = max(value, low)
    if high is not None:
        value = min(value, high)
    if declared.values is not None and not {value, value + move} <= set(declared.values):
        return None
    return value if declared.real or value.denominator == 1 else None


def _within(value: Fraction, declared: Input) -> Fraction | None:
    return _placed(value, Fraction(0), declared)


def _plain(value: Fraction | None) -> Any:
    assert value is not None
    return int(value) if value.denominator == 1 else value
