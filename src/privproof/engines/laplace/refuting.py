"""Refutations: two neighbouring data sets and an event whose exact probabilities are too far apart.

Candidates come from the linear programs of `worst` (the worst corner v of the neighbours, and data ``t v`` against ``(t+1) v``), from
the run at which the last alignment failed, and from what the mechanism would write without noise.  Each candidate is decided by the exact
probabilities of its event; floating point only orders them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice, product
from math import ceil, isinf, isqrt
from typing import Any, TypeVar

from privproof.compiling.cells import few_cells
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.changes import changed_lists, summed_alone
from privproof.engines.laplace.growth import Growing
from privproof.engines.laplace.losses import (
    LARGEST,
    Loss,
    Trees,
    away,
    events,
    output_event,
    outputs_by_word,
    slots,
    words,
)
from privproof.engines.laplace.solver import Substitution, z3
from privproof.engines.laplace.synthesis import Counterexample
from privproof.engines.laplace.values import known_value
from privproof.engines.laplace.worst import (
    Region,
    WorstPath,
    corners,
    long_regions,
    open_names,
    private_names,
    regions,
    worst,
)
from privproof.engines.search_monitor import Monitor
from privproof.errors import LanguageError
from privproof.exact import ZERO, Budget, Epsilon, Rational, epsilon, fraction
from privproof.exact.affine import Affine
from privproof.exact.balls import rational_bounds
from privproof.language.inputs import Input, is_near
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import key, word
from privproof.scenarios.program_questions import is_geometric

T = TypeVar("T")
STAGES = 2
"""How many stages the search at small sizes has."""
_STEPS = (0, 1, 2, 4, 8, 16, 32, 64, -1, -2, 2**10, 2**16)
"""How far along a corner data are tried: losses come near to their limit as data move away, and simple data come first."""
_TOO_MANY = ("draws", "paths", "integral", "linear")
_TIED = (2, 3, 4)
"""Sizes at which ties of geometric noise are looked at: with four values there may be two ties at once."""
_FARTHEST = 2**10
"""How far along a corner data are tried beside geometric noise: alpha is raised to such powers exactly, and the checker has a limit."""
_PARTS = (Fraction(1), Fraction(1, 2))
"""How far reals are moved along a corner beside geometric noise: a part of a step shows what whole steps hide."""
_LONGER = (8, 12, 20, 32, 48)
"""Sizes that are tried beyond the small ones, as long as the least cost grows with them."""
_CORNERS = 16
"""So many corners are tried where noise is tied: all of four values that go up and down."""
_GROWING = (4, 8)
"""The sizes whose costs tell how they grow: small, and different enough for a rate."""
LARGE = 5
"""A claim from here on is looked at from afar first: no small size can refute it where a loss grows with the size."""
_LONGEST = 350
"""The largest size that a claim far from the truth is refuted at; a run may leave 400 noises open."""
_AFAR = 24
"""The size at which it is seen whether costs still grow, where the claim is exceeded at none that is tried."""
_WORDS = 24
"""So many words above the budget are tried at a size, the costliest first."""
_BLIND = 8
"""So many corners are tried where costs tell nothing."""
_VALUES = 8
"""Of a public input with more values the first ones and the last two are tried."""
_COMBINATIONS = 16
"""So many combinations of public inputs are tried. What is not tried is not refuted, and never proved by it."""


@contextmanager
def few_ways(told: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """What is inside needs all ways through a mechanism, exactly; where there are too many, or none, it is left, and that is told.

    There is no exact one where a quotient or a product of noisy numbers is shown.
    """
    try:
        yield
    except LanguageError as problem:
        if problem.code not in _TOO_MANY:
            raise
        told(problem.message)


def _float(value: Epsilon) -> float:
    """An epsilon as a float, for ordering candidates."""
    return float(rational_bounds(value.ball())[1])


def arguments(
    mechanism: Mechanism, public: Mapping[str, Any], corner: Mapping[str, Fraction], times: Fraction, size: int | None
) -> dict[str, Any] | None:
    """The data ``times * corner``; None where these are no values of the inputs."""
    result: dict[str, Any] = {}
    for name, declared in mechanism.inputs.items():
        length = declared.size or size or 0
        if declared.public:
            result[name] = public[name] if declared.shape == "value" else [_nearest(declared)] * length
            continue
        low = None if declared.low is None else fraction(declared.low)
        high = None if declared.high is None else fraction(declared.high)
        base = Fraction(0)
        if low is not None and high is not None and not low <= 0 <= high:
            base = low
        values = []
        for n in open_names(name, declared, size):
            value = base + times * corner.get(n, Fraction(0))
            if (low is not None and value < low) or (high is not None and value > high):
                return None
            if not declared.real and value.denominator != 1:
                return None
            values.append(int(value) if value.denominator == 1 else value)
        result[name] = values[0] if declared.shape == "value" else values
    return result


def _nearest(declared: Input) -> Any:
    """The value of an input that is nearest to zero."""
    if declared.values is not None:
        return declared.values[0]
    for bound in (declared.low, declared.high):
        if bound is not None and (bound > 0) == (bound is declared.low):
            return fraction(bound)
    return 0


def publics(mechanism: Mechanism, *, numbers: Sequence[int] = (1, 2)) -> Iterator[dict[str, Any]]:
    """Values for the public inputs: whole numbers from a few, reals at zero or the nearest they may have."""
    names, choices = [], []
    for name, declared in mechanism.inputs.items():
        if not declared.public or declared.shape != "value":
            continue
        low = None if declared.low is None else fraction(declared.low)
        high = None if declared.high is None else fraction(declared.high)

        def fits(value: Fraction, low: Fraction | None = low, high: Fraction | None = high) -> bool:
            return (low is None or value >= low) and (high is None or value <= high)

        if declared.values is not None:
            found: list[Any] = list(declared.values)
            found = found if len(found) <= _VALUES else [*found[: _VALUES - 2], *found[-2:]]
        elif declared.real:
            found = [v for v in (Fraction(0), low, high) if v is not None and fits(v)][:1]
        else:
            found = [v for v in numbers if fits(Fraction(v))] or [int(v) for v in (low, high) if v is not None][:1]
        names.append(name)
        choices.append([int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for v in found])
    for combination in islice(product(*choices), _COMBINATIONS):
        yield dict(zip(names, combination, strict=True))


@dataclass
class Refuter:
    """The search for a loss above a budget."""

    mechanism: Mechanism
    relation: str
    monitor: Monitor
    budget: Affine | None = None
    exact: Budget | None = None
    summed: bool = False
    """Whether it sums up a list of which one element changes."""
    least: int = 0
    """On shorter lists the function may fail, whatever the data: nothing is looked for there."""

    def __post_init__(self) -> None:
        self.trees = Trees(self.mechanism, self.monitor)
        self.best: Loss | None = None
        self.best_value = 0.0
        self.steady = 0.0
        """The least cost of the worst word, where it was seen not to grow with the size: a guess at what can be proved."""

    @property
    def delta(self) -> Rational:
        """The budget's delta."""
        return ZERO if self.exact is None else self.exact.delta

    def allowed(self, public: Mapping[str, Any], size: int | None) -> Epsilon:
        """The budget at values of the public inputs."""
        assert self.budget is not None
        if self.exact is not None:
            return self.exact.epsilon
        return epsilon(self.budget.value_at({**public, "size": size or 0}))

    def sizes(self, size: int | None) -> list[int | None]:
        """The sizes that are looked at, the open ones up to five."""
        if all(d.shape == "value" or d.size is not None for d in self.mechanism.inputs.values()):
            return [None]
        return [size] if size is not None else [n + max(0, self.least - 1) for n in (1, 2, 3, 4, 5)]

    def stage(
        self, number: int, size: int | None, last: Counterexample | None = None, blocks: Blocks | None = None
    ) -> Loss | None:
        """A part of the search: the data at which the last alignment failed, then small sizes, then sizes that are not so small."""
        if number == 0 and (found := self.tied(size)) is not None:
            return found
        if last is not None and blocks is not None:
            found = self.from_run(last, blocks, size)
            if found is not None:
                return found
        sizes = self.sizes(size)
        chosen = sizes[:3] if number == 0 else sizes[3:] if number == 1 else []
        for one in chosen:
            for public in publics(self.mechanism, numbers=(1, 2, 3) if number == 0 else (1, 2)):
                found = self.at_size(one, public)
                if found is not None:
                    return found
        return None

    def pumped(self, size: int | None) -> Loss | None:
        """A loss above the budget at larger sizes, from words that change their letter once, as long as the least cost grows."""
        if len(self.sizes(size)) == 1 or self.by_records:
            return None
        with few_ways():
            return self._pumped()
        return None

    def _pumped(self) -> Loss | None:
        for public in publics(self.mechanism, numbers=(1, 2)):
            before = 0.0
            for longer in _LONGER:
                ranked = self.ranked_long(longer, public)
                if not ranked or ranked[0].cost <= before + 1e-9:
                    break
                before = ranked[0].cost
                allowed = self.allowed(public, longer)
                for one in [w for w in ranked if w.cost > _float(allowed) + 1e-9][:4]:
                    found = self.along(one, public, longer, allowed)
                    if found is not None:
                        return found
        return None

    def tied(self, size: int | None) -> Loss | None:
        """A loss above the budget where geometric noise is tied, of which costs know nothing: single outputs, at the corners around 0."""
        if self.by_records or not is_geometric(self.mechanism):
            return None
        sizes = self.sizes(size)
        for one in sizes if len(sizes) == 1 else _TIED:
            with few_ways():
                for public in publics(self.mechanism, numbers=(1,)):
                    found = self._tied(one, public)
                    if found is not None:
                        return found
        return None

    def _tied(self, size: int | None, public: Mapping[str, Any]) -> Loss | None:
        allowed = self.allowed(public, size)
        listed = corners(self.mechanism, self.relation, private_names(self.mechanism, size))
        for corner in islice(listed, _CORNERS):
            for part in _PARTS:
                left, right = (arguments(self.mechanism, public, corner, k * part, size) for k in (0, 1))
                if left is None or right is None:
                    continue
                for pattern, silent in words(self.trees.at(left)):
                    self.monitor.pause()
                    event = output_event(pattern, silent)
                    found = self.decided(left, right, event, allowed) or self.decided(right, left, event, allowed)
                    if found is not None:
                        return found
        return None

    def grown(self, size: int | None) -> Loss | None:
        """A loss above the budget where losses grow with the length of a word: on few answers, if they will do, or on one long word."""
        if size is not None or self.by_records or self.summed or self.delta != 0:
            return None
        with few_ways():
            for public in publics(self.mechanism, numbers=(1,)):

                def allowed(longer: int, public: Mapping[str, Any] = public) -> Epsilon:
                    return self.allowed(public, longer)

                search = Growing(self.mechanism, self.relation, public, allowed, self.monitor)
                if not search.found:
                    continue
                for few in self.sizes(None)[:3] if _float(allowed(1)) < LARGE else ():
                    found = self.at_size(few, public)
                    if found is not None:
                        return found
                found = search.loss()
                if found is not None:
                    return found
        return None

    def far(self, size: int | None) -> Loss | None:
        """A loss above the budget at the size at which costs exceed it, if they grow with the size as they do from four to eight values."""
        if size is not None or len(self.sizes(size)) == 1 or self.by_records:
            return None
        few, more = _GROWING
        for public in publics(self.mechanism, numbers=(1,)):
            least, costs = self.ranked_long(few, public), self.ranked_long(more, public)
            if not least or not costs or isinf(costs[0].cost):
                continue
            if costs[0].cost <= least[0].cost + 1e-9:
                self.steady = max(self.steady, costs[0].cost)
                continue
            allowed = self.allowed(public, more)
            rate = (costs[0].cost - least[0].cost) / (more - few)
            needed = more + ceil((_float(allowed) - costs[0].cost) / rate) + 1
            if self.relation == "l2":  # then costs grow with the root of the size
                needed = (isqrt(ceil(more * (_float(allowed) / costs[0].cost) ** 2)) + 1) ** 2
            at = needed if needed <= _LONGEST else _AFAR
            reached = max((one.cost for one in self.ranked_long(at, public)[:1]), default=0)
            if reached < costs[0].cost + rate * (at - more) / 2 and self.relation != "l2":
                self.steady = max(self.steady, reached)
                continue
            if not more < needed <= _LONGEST:
                continue
            with few_ways():
                for one in self.ranked_long(needed, public)[:1]:
                    found = self.along(one, public, needed, self.allowed(public, needed))
                    if found is not None:
                        return found
        return None

    def ranked_long(self, size: int, public: Mapping[str, Any]) -> list[WorstPath]:
        """The ways through the mechanism at a larger size that change their letter once, the costliest first."""
        try:
            found = long_regions(self.mechanism, size, public, self.monitor)
        except LanguageError:
            return []
        return self.worst(found, size)

    def worst(self, found: Sequence[Region], size: int | None) -> list[WorstPath]:
        """Ways through the mechanism with their worst corners, the costliest first."""
        names = private_names(self.mechanism, size)
        return worst(self.mechanism, self.relation, found, names, self.monitor.pause)

    def from_run(self, last: Counterexample, blocks: Blocks, asked: int | None) -> Loss | None:
        """The data at which the last alignment failed, if they are of the size that is asked about."""
        sides = data(last, blocks)
        if sides is None:
            return None
        left, right = sides
        if blocks.norm == "l2" and not self._near(left, right):  # squares are symbols of their own in the search
            return None
        size = max((len(v) for v in left.values() if isinstance(v, list)), default=0)
        if size > LARGEST or size < self.least or (asked is not None and size != asked):
            return None
        public = {n: v for n, v in left.items() if self.mechanism.inputs[n].public}
        with few_ways():
            for one, other in self._with_first_values(left, right):
                found = self.compare(one, other, public, size) or self.compare(other, one, public, size)
                if found is not None:
                    return found
        return None

    def _with_first_values(
        self, left: Mapping[str, Any], right: Mapping[str, Any]
    ) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """The data with other records, those that are declared first, and then as they are.

        Where a mechanism treats records alike, what it does with the first takes the fewest ways: nothing came before.
        """
        renamed: list[dict[str, Any]] = [dict(left), dict(right)]
        for name, declared in self.mechanism.inputs.items():
            if declared.shape == "list" and not declared.public and declared.values and not declared.fields:
                met = dict.fromkeys(chain(*(side[name] for side in renamed)))
                first = dict(zip(met, declared.values, strict=False))
                for side in renamed:
                    side[name] = [first[record] for record in side[name]]
        if renamed != [left, right] and self.by_records | self.summed:
            yield renamed[0], renamed[1]
        yield left, right

    def _near(self, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
        """Whether data are within the norm of their one private list."""
        [(name, declared)] = [(n, d) for n, d in self.mechanism.inputs.items() if not d.public]
        assert declared.within is not None
        changes = (Fraction(b) - Fraction(a) for a, b in zip(left[name], right[name], strict=True))
        return is_near(self.relation, changes, declared.within)

    def at_size(self, size: int | None, public: Mapping[str, Any]) -> Loss | None:
        """A loss above the budget at a size; None also where there are too many ways through the mechanism."""
        with few_ways():
            return self._at_size(size, public)
        return None

    def _at_size(self, size: int | None, public: Mapping[str, Any]) -> Loss | None:
        if self.by_records or self.summed:
            found = self.between_records(size, public)
            if found is not None or self.by_records:
                return found
        allowed = self.allowed(public, size)
        ranked = self.ranked(size, public)
        if ranked is None:
            return self.blindly(size, public)
        for one in [w for w in ranked if w.cost > _float(allowed) + 1e-9][:_WORDS]:
            found = self.along(one, public, size, allowed)
            if found is not None:
                return found
        # discrete noise may depend on the data, of which costs know nothing
        if any(one.region.draws for one in ranked):
            return self.blindly(size, public)
        return None

    def ranked(self, size: int | None, public: Mapping[str, Any]) -> list[WorstPath] | None:
        """The ways through the mechanism at a size, the costliest first; None where it does not run on open data."""
        try:
            found = regions(self.mechanism, size, public, self.monitor.pause)
        except LanguageError:
            return None
        return self.worst(found, size)

    @cached_property
    def by_records(self) -> bool:
        """Whether data are lists of records, of which no linear program speaks."""
        return summed_alone(self.mechanism)

    @cached_property
    def few(self) -> Mapping[str, Input]:
        """Lists of which some records stand for all, because the cells that they are of are alike."""
        try:
            return few_cells(program_for_alignment(self.mechanism)).few
        except (Unsupported, LanguageError):
            return {}

    def between_records(self, size: int | None, public: Mapping[str, Any], most: Epsilon | None = None) -> Loss | None:
        """A loss above the budget between lists of which one record changes; without a budget, the largest one is remembered.

        Where it is known that no loss is larger than `most`, one as large ends the search.
        """
        for left, right in changed_lists(self.mechanism, size, public, self.few):
            self.monitor.pause()
            if most is not None and self.best is not None and self.best.lower().compare(most) >= 0:
                return None
            found = self.compare(left, right, public, size or 0)
            if found is not None:
                return found
        return None

    def blindly(self, size: int | None, public: Mapping[str, Any]) -> Loss | None:
        """A loss above the budget between data at zero and the corners of its neighbours."""
        reals = [n for n, d in self.mechanism.inputs.items() if d.public and d.real and d.shape == "value"]
        for value in (None, 2) if reals else (None,):
            given = dict(public) if value is None else {**public, **dict.fromkeys(reals, value)}
            found = self._between_corners(size, given)
            if found is not None:
                return found
        return None

    def _between_corners(self, size: int | None, public: Mapping[str, Any]) -> Loss | None:
        listed = corners(self.mechanism, self.relation, private_names(self.mechanism, size))
        for corner in islice(listed, _BLIND):
            for left, right in self.pairs(corner, public, size, _STEPS[:3]):
                found = self.compare(left, right, public, size or 0)
                if found is not None:
                    return found
        return None

    def pairs(
        self, corner: Mapping[str, Fraction], public: Mapping[str, Any], size: int | None, steps: Sequence[int]
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Neighbouring data ``t v`` and ``(t+1) v`` along a corner v, where these are values of the inputs."""
        for t in steps:
            self.monitor.pause()
            if abs(t) > _FARTHEST and is_geometric(self.mechanism):
                continue
            left, right = (arguments(self.mechanism, public, corner, Fraction(t + k), size) for k in (0, 1))
            if left is not None and right is not None:
                yield left, right

    def along(self, one: WorstPath, public: Mapping[str, Any], size: int | None, allowed: Epsilon) -> Loss | None:
        """Data along the worst corner of a region, further and further away."""
        for left, right in self.pairs(one.corner, public, size, _STEPS):
            for event in self.shapes(one.region.word, left):
                found = self.decided(left, right, event, allowed)
                if found is not None:
                    return found
        return None

    def shapes(self, pattern: Any, left: Mapping[str, Any]) -> list[Any]:
        """The events looked at for a word."""
        if not slots(pattern):
            return [pattern]
        silent = next(
            (leaf.output for leaf in self.trees.at(left, pattern) if key(word(leaf.output)) == key(pattern)), None
        )
        return events(pattern, silent)

    def decided(
        self, left: Mapping[str, Any], right: Mapping[str, Any], event: Any, allowed: Epsilon | None = None
    ) -> Loss | None:
        """The loss of an event where it is above the budget; the largest one seen is remembered."""
        value = self.trees.ratio(left, right, event)
        if value <= self.best_value and (allowed is None or value < _float(allowed) - 1e-6):
            return None
        if value == float("-inf"):
            return None
        found = self.trees.loss(left, right, event)
        if value > self.best_value:
            self.best, self.best_value = found, value
        if allowed is not None and found.exceeds(allowed, self.delta):
            return found
        return None

    def compare(
        self, left: Mapping[str, Any], right: Mapping[str, Any], public: Mapping[str, Any], size: int
    ) -> Loss | None:
        """The worst word on given data."""
        allowed = None if self.budget is None else self.allowed(public, size)
        for event in self._looked_at(left, right):
            found = self.decided(left, right, event, allowed)
            if found is not None:
                return found
        return None

    def _looked_at(self, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Any]:
        """The events of given data: those first whose words have numbers with other centres on the other side, which take turns.

        Some events take long, and what breaks a claim seldom does.
        """
        sums = self.by_records or self.summed
        here, there = (outputs_by_word(self.trees.at(side)) if sums else {} for side in (left, right))
        apart: list[Iterator[Any]] = []
        alike: list[Any] = []
        for pattern, silent in words(self.trees.at(left)):
            near, far = here.get(key(pattern), ()), there.get(key(pattern), ())
            aside = {key(event): event for one in near for other in far for event in away(pattern, one, other)}
            if aside:
                apart.append(iter((*aside.values(), *events(pattern, silent))))
            else:
                alike += events(pattern, silent)
        yield from chain(_in_turns(apart), alike)


def _in_turns(several: Sequence[Iterator[T]]) -> Iterator[T]:
    """The elements of several iterators: the first of each, then the second of each."""
    waiting = list(several)
    while waiting:
        left = []
        for one in waiting:
            for element in one:
                yield element
                left.append(one)
                break
        waiting = left


def _with_others(one: list[Any], other: list[Any], length: int, at: int) -> tuple[list[Any], list[Any]]:
    """Lists of a length with a record in one place, or the nearest that there is, and with records that are the same in both."""
    left, right = one * length, one * length
    right[min(max(at, 0), length - 1)] = other[0]
    return left, right


def data(last: Counterexample, blocks: Blocks) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The data of both runs of a counterexample."""
    program = blocks.program
    size = last.instance.values.get("size", program.size or 0)
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}

    known = [(t, last.values[n]) for n, t in blocks.fixed.items() if n in last.values]
    for name, declared in program.inputs.items():
        if declared.shape == "value":
            left[name] = known_value(last.values[name])
            apart = 0 if declared.public else known_value(z3.substitute(blocks.apart(name, None), *known))
            right[name] = left[name] + apart if apart else left[name]
        elif declared.shape == "list":
            length = declared.size or size
            left[name], right[name] = [0] * length, [0] * length
            if name in blocks.summed:
                left[name], right[name] = blocks.records.sides(name, known)
                if program.relation == "one" and length > 0:
                    at = known_value(last.values["changed"]) if "changed" in blocks.fixed else 0
                    left[name], right[name] = _with_others(left[name], right[name], length, at)
                continue
            if "changed" in blocks.fixed and not declared.public:
                by = known_value(z3.substitute(blocks.apart(name, blocks.fixed["changed"]), *known))
                changed = known_value(last.values["changed"])
                if 0 <= changed < length:
                    right[name][changed] = by
        else:
            return None
    state = blocks.initial()
    for step in last.steps:
        place = [*known, *((t, state[n]) for n, t in blocks.state(step.path.source).items())]
        place += [(old, last.values[new.decl().name()]) for old, new in step.fresh]
        put = Substitution(place)
        for read in step.path.reads:
            at = known_value(put.plain(read.index))
            if isinstance(left.get(read.source), list) and 0 <= at < len(left[read.source]):
                one = known_value(put.plain(read.value))
                left[read.source][at] = one
                right[read.source][at] = one + known_value(put.plain(read.distance))
        state = {n: put(t) for n, t in step.path.after.items()}
    return left, right
