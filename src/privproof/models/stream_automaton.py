"""Stream automata: mechanisms that compare noisy answers with stored noisy thresholds, forever.

In every step an automaton reads one number of the data (or none), draws *samples*, that is, noisy copies of it or noise by
itself, compares them with stored *thresholds*, takes the transition whose guard holds, writes a symbol or a sample, and may store
samples as new thresholds.  With one threshold this is the program model of Farzan, Li, Nikolov and Nittoor, and the DiPA
of Chadha, Sistla and Viswanathan (LICS 2021); with several it is that of both follow-ups, noise shared between the comparisons of a
step or separate for each.

All comparisons have one form, `Order`: ``high - low >= offset`` between two samples, thresholds or constants.  Laplace noise is
continuous, so ``<`` and ``<=`` agree.  If no guard holds the run halts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TypeAlias

from privproof.drawing.showing import ShownCard
from privproof.errors import ModelError
from privproof.exact import ZERO, Rational
from privproof.models.finite_distributions import distinct_names, known_name

_MOST_COMPARISONS = 8
"""All truth values of so many comparisons are tried to see that some guard always holds; with more that counts as not shown."""

Term: TypeAlias = "int | str | None"
"""What is compared: a sample of the step by its number, a threshold by its name, or the constant 0."""


@dataclass(frozen=True)
class StreamSample:
    """A noisy number: ``reads * input + mean + Laplace noise of scale 1/rate``.

    Attributes:
        rate: one over the scale; None for no noise at all.
        reads: 1 or -1 for the input with that sign, 0 for a number that has no part in the data.
        mean: a constant.
    """

    rate: Rational | None
    reads: int = 1
    mean: Rational = ZERO


@dataclass(frozen=True)
class Order:
    """The comparison ``high - low >= offset``."""

    low: Term
    high: Term
    offset: Rational = ZERO


@dataclass(frozen=True)
class StreamValue:
    """A noisy number that is written: ``plus - minus + constant``."""

    plus: Term
    minus: Term = None
    constant: Rational = ZERO


@dataclass(frozen=True)
class Transition:
    """One step.

    Attributes:
        source: the state it leaves.
        target: the state it goes to.
        samples: what is drawn, in this order.
        guard: the comparisons that must hold; none for always.
        some: whether one of the comparisons is enough (a disjunction).
        stores: thresholds that are replaced, each by a sample.
        symbol: what is written; empty for nothing.  A dot ``·`` stands where a noisy number is written.
        values: the noisy numbers that are written.
    """

    source: str
    target: str
    samples: tuple[StreamSample, ...] = ()
    guard: tuple[Order, ...] = ()
    some: bool = False
    stores: tuple[tuple[str, int], ...] = ()
    symbol: str = ""
    values: tuple[StreamValue, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """Everything that is compared or written."""
        compared = [term for order in self.guard for term in (order.low, order.high)]
        return (*compared, *(term for value in self.values for term in (value.plus, value.minus)))

    @property
    def thresholds(self) -> frozenset[str]:
        """The thresholds that are looked at."""
        return frozenset(term for term in self.terms if isinstance(term, str))

    @property
    def stored(self) -> frozenset[str]:
        """The thresholds that are replaced."""
        return frozenset(name for name, _ in self.stores)

    @property
    def silent(self) -> bool:
        """Whether it writes nothing."""
        return not self.symbol and not self.values

    @property
    def reads(self) -> bool:
        """Whether the data have a part in it."""
        return any(sample.reads for sample in self.samples)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


@dataclass(frozen=True, kw_only=True)
class StreamAutomaton(ShownCard):
    """A finite graph of transitions.

    Attributes:
        states: the names of the states.
        initial: where a run begins.
        transitions: the steps; those that leave one state have guards of which at most one holds.

    Raises:
        ModelError: a name is unknown, a threshold is compared before it is stored, or two guards of a state overlap.

    >>> from privproof.exact import rational
    >>> half, quarter = rational("1/2"), rational("1/4")
    >>> above = StreamAutomaton(states=("start", "wait", "done"), initial="start", transitions=(
    ...     Transition("start", "wait", (StreamSample(half, 0),), stores=(("x", 0),)),
    ...     Transition("wait", "wait", (StreamSample(quarter),), (Order(0, "x"),), symbol="below"),
    ...     Transition("wait", "done", (StreamSample(quarter),), (Order("x", 0),), symbol="above")))
    >>> above.thresholds, above.distinct
    (('x',), True)
    """

    states: tuple[str, ...]
    initial: str
    transitions: tuple[Transition, ...] = field(repr=False)

    def __post_init__(self) -> None:
        known = dict.fromkeys(distinct_names(self.states, what="state", place="states"))
        known_name(self.initial, among=known, what="state", place="initial")
        for number, step in enumerate(self.transitions):
            place = f"transitions[{number}]"
            known_name(step.source, among=known, what="state", place=f"{place}.from")
            known_name(step.target, among=known, what="state", place=f"{place}.to")
            _check(step, place)
        self._initialised()
        for state, numbers in self.leaving.items():
            for i, one in enumerate(numbers):
                for other in numbers[i + 1 :]:
                    if _overlap(self.transitions[one], self.transitions[other]):
                        raise ModelError(
                            "overlap",
                            f"two transitions of state {state!r} may be taken at once: "
                            f"transitions[{one}] and transitions[{other}]",
                            place=f"transitions[{other}].when",
                            hint="sample < x for one, sample >= x for the other",
                        )

    @cached_property
    def leaving(self) -> dict[str, list[int]]:
        """The numbers of the transitions that leave each state."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, step in enumerate(self.transitions):
            found[step.source].append(number)
        return dict(found)

    @cached_property
    def reached(self) -> tuple[Transition, ...]:
        """The transitions that a run may take: those that leave a state it can come to, with a guard that can hold."""
        known, waiting, found = {self.initial}, [self.initial], []
        while waiting:
            for number in self.leaving.get(waiting.pop(), ()):
                step = self.transitions[number]
                if step.some or possible(step.guard):
                    found.append(step)
                    if step.target not in known:
                        known.add(step.target)
                        waiting.append(step.target)
        return tuple(found)

    @property
    def reading(self) -> bool:
        """Whether some run reads a number of the stream."""
        return any(step.reads for step in self.reached)

    @property
    def telling(self) -> bool:
        """Whether some run writes something."""
        return not all(step.silent for step in self.reached)

    @cached_property
    def thresholds(self) -> tuple[str, ...]:
        """The names of the thresholds."""
        return tuple(dict.fromkeys(name for step in self.transitions for name, _ in step.stores))

    @property
    def distinct(self) -> bool:
        """Whether what is written tells which transitions were taken (output distinction)."""
        return self.tells(range(len(self.transitions)))

    def tells(self, numbers: Iterable[int]) -> bool:
        """Whether what is written tells of these transitions that they were taken, and no others."""
        return self.ambiguous(numbers) is None

    def ambiguous(self, numbers: Iterable[int]) -> str | None:
        """A state in which what is written does not tell that one of these transitions was taken; None if there is none."""
        for number in dict.fromkeys(numbers):
            step = self.transitions[number]
            others = [self.transitions[n] for n in self.leaving[step.source] if n != number]
            if any(
                (other.symbol, len(other.values)) == (step.symbol, len(step.values))
                or (other.silent and not self.final(other))
                for other in others
            ):
                return step.source
            if step.silent and step.guard and not self.final(step):
                return step.source
        return None

    @cached_property
    def observable(self) -> bool:
        """Whether what each step writes can be seen, so that all executions that write the same make one event.

        This is so if only steps before the first comparison and last steps write nothing.
        """
        state, beginning = self.initial, set[str]()
        while state not in beginning:
            leaving = self.leaving.get(state, [])
            if len(leaving) != 1 or self.transitions[leaving[0]].guard:
                break
            beginning.add(state)
            state = self.transitions[leaving[0]].target
        silent = (step for step in self.transitions if step.silent)
        return all((step.source in beginning and not step.guard) or self.final(step) for step in silent)

    @cached_property
    def stuck(self) -> str | None:
        """A state that has transitions, of which none may be possible; None if there is none."""
        known: dict[tuple[tuple[bool, tuple[Order, ...]], ...], bool] = {}
        for state, numbers in self.leaving.items():
            steps = [self.transitions[number] for number in numbers]
            guards = tuple((step.some, step.guard) for step in steps)
            if any(not step.guard for step in steps):
                continue
            if guards not in known:
                known[guards] = exhaustive(steps)
            if not known[guards]:
                return state
        return None

    def final(self, step: Transition) -> bool:
        """Whether a step ends the run, in a state that no run gets stuck in: that nothing more is written tells of it."""
        if step.target in self.leaving:
            return False
        return exhaustive([self.transitions[number] for number in self.leaving[step.source]])

    def _initialised(self) -> None:
        """Every threshold is stored before it is looked at, on every path."""
        everything = frozenset(self.thresholds)
        sure: dict[str, frozenset[str]] = {self.initial: frozenset()}
        waiting = [self.initial]
        while waiting:
            state = waiting.pop()
            for number in self.leaving.get(state, ()):
                step = self.transitions[number]
                after = sure[state] | step.stored
                before = sure.get(step.target)
                now = after if before is None else before & after
                if now != before:
                    sure[step.target] = now
                    waiting.append(step.target)
        for number, step in enumerate(self.transitions):
            missing = sorted(step.thresholds - sure.get(step.source, everything | step.thresholds))
            if missing:
                raise ModelError(
                    "uninitialised",
                    f"the threshold {missing[0]!r} may be compared in state {step.source!r} before it is stored",
                    place=f"transitions[{number}].when",
                    hint=f"store: {missing[0]}, in a transition before it",
                )


def _check(step: Transition, place: str) -> None:
    for sample in step.samples:
        if sample.rate is not None and sample.rate <= 0:
            raise ModelError(
                "rate", f"rate={sample.rate} is not above 0", place=place, hint="scale: 4, or noise: none for no noise"
            )
        if sample.reads not in (-1, 0, 1):
            raise ModelError("reads", f"reads={sample.reads} is none of -1, 0, 1", place=place, hint="reads: 1")
    for term in (*step.terms, *(term for _, term in step.stores)):
        if isinstance(term, int) and not 0 <= term < len(step.samples):
            raise ModelError("sample", f"there is no sample {term}", place=place, hint="samples count from 0")
    names = [name for name, _ in step.stores]
    if len(set(names)) < len(names):
        raise ModelError("store", "a threshold is stored twice in one step", place=f"{place}.store", hint="once")


def alternatives(step: Transition) -> tuple[tuple[Order, ...], ...]:
    """A guard as a list of conjunctions of which exactly one holds when it does.

    >>> a, b = Order(0, "x"), Order("y", 0)
    >>> len(alternatives(Transition("s", "t", (StreamSample(None),), (a, b), some=True)))
    2
    """
    if not step.some:
        return (step.guard,)
    found = []
    for number, order in enumerate(step.guard):
        earlier = tuple(negate_comparison(other) for other in step.guard[:number])
        found.append((*earlier, order))
    return tuple(found)


def negate_comparison(order: Order) -> Order:
    """The comparison that holds when this one does not; ties have probability zero."""
    return Order(order.high, order.low, -order.offset)


def _overlap(one: Transition, other: Transition) -> bool:
    """Whether two guards may hold at once, with positive probability; the samples are the same numbers."""
    if not one.guard or not other.guard:
        return True
    return any(possible((*first, *second)) for first, second in product(alternatives(one), alternatives(other)))


def exhaustive(steps: Sequence[Transition]) -> bool:
    """Whether one of the guards always holds; no for guards with many comparisons.

    >>> below, above = (Transition("s", "t", (StreamSample(None),), (order,)) for order in (Order(0, "x"), Order("x", 0)))
    >>> exhaustive([below, above]), exhaustive([below])
    (True, False)
    """
    atoms: list[Order] = []
    for step in steps:
        for order in step.guard:
            if order not in atoms and negate_comparison(order) not in atoms:
                atoms.append(order)
    if len(atoms) > _MOST_COMPARISONS:
        return False
    for signs in product((True, False), repeat=len(atoms)):
        held = {order if sign else negate_comparison(order) for order, sign in zip(atoms, signs, strict=True)}
        if possible(held) and not any(
            (any if step.some else all)(order in held for order in step.guard) or not step.guard for step in steps
        ):
            return False
    return True


def possible(orders: Iterable[Order]) -> bool:
    """Whether comparisons hold together on a set with an inside: no cycle of them has offsets of 0 or more in all.

    >>> possible([Order(0, "x"), Order("x", 0)]), possible([Order("x", 0), Order(0, "y")])
    (False, True)
    """
    edges: Sequence[Order] = tuple(orders)
    nodes = dict.fromkeys(term for order in edges for term in (order.low, order.high))
    highest: dict[tuple[Term, Term], Rational] = {}
    for order in edges:
        pair = (order.low, order.high)
        highest[pair] = max(highest.get(pair, order.offset), order.offset)
    for middle in nodes:
        for low, high in product(nodes, nodes):
            first, second = highest.get((low, middle)), highest.get((middle, high))
            if first is not None and second is not None:
                total = first + second
                if (low, high) not in highest or highest[low, high] < total:
                    highest[low, high] = total
    return all(highest.get((node, node), -1) < 0 for node in nodes)


def guard_words(step: Transition) -> str:
    """A guard as it is written in a file.

    >>> guard_words(Transition("s", "t", (StreamSample(None),), (Order("low", 0), Order(0, "high"))))
    'sample >= low and sample < high'
    """
    if not step.guard:
        return "always"
    return (" or " if step.some else " and ").join(order_words(order, step) for order in step.guard)


def order_words(order: Order, step: Transition) -> str:
    """A comparison as it is written in a file."""
    several = len({t for o in step.guard for t in (o.low, o.high) if isinstance(t, int)}) > 1

    def name(term: Term) -> str:
        if term is None:
            return ""
        return (f"sample{term + 1}" if several else "sample") if isinstance(term, int) else term

    low, high = name(order.low), name(order.high)
    if isinstance(order.low, int) or order.low is None:
        left, sign, right, offset = low, "<", high, -order.offset
        if order.low is None:
            left, sign, right, offset = high, ">=", "", order.offset
        elif order.high is None:
            right = ""
    else:
        left, sign, right, offset = high, ">=", low, order.offset
        if order.high is None:
            left, sign, right, offset = low, "<", "", -order.offset
    if offset == 0:
        return f"{left} {sign} {right or 0}"
    if not right:
        return f"{left} {sign} {offset}"
    return f"{left} {sign} {right} {'+' if offset > 0 else '-'} {abs(offset)}"
