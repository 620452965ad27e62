"""Transducers: mechanisms that read inputs, one a step, and write outputs.

A transducer is a controlled hidden Markov model: in every step the adversary chooses an input, the transducer moves to a
next state and may write an output, both at random.  It models what a hidden Markov model can only imitate by choosing
inputs uniformly at random (FAIER paper, Fig. 3): the inputs are quantified over, not drawn.

Three shapes matter.  A *stream* mechanism repeats one step and writes as it goes (above threshold).  A *finite* mechanism reads
n inputs and writes one output at the end, by its ``finish`` table (noisy max).  A mechanism on *lists of every length* repeats its
step, and wherever the list may end, ``finish`` says what is written then.

What it writes may be the index of an element, of which there is no end.  Then the element is *foretold*: one of the inputs of a word is
marked, the same on both sides, and the output says that the index is that of the marked one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from privproof.drawing.showing import ShownCard
from privproof.errors import ModelError, PrivproofError
from privproof.exact import ZERO, Number, Rational, rational, show
from privproof.models.finite_distributions import Distribution, distinct_names, distribution, known_name


@dataclass(frozen=True)
class Branch:
    """One random outcome of a step: its probability, the next state, and what is written (nothing: None)."""

    probability: Rational
    target: str
    output: str | None = None


Step: TypeAlias = Mapping[str, Mapping[str, tuple[Branch, ...]]]
BranchLike: TypeAlias = "Branch | tuple[Number, str] | tuple[Number, str, str | None]"


@dataclass(frozen=True, kw_only=True)
class Transducer(ShownCard):
    """A finite-state mechanism with inputs and outputs.

    Args:
        states: the names of the states.
        inputs: the names of the inputs, one read in every step.
        outputs: the names of the outputs.
        initial: the initial distribution.
        steps: what happens in the first, second, ... step: state to input to branches ``(probability, next[, output])``.
            A state without an entry halts.
        repeats: whether the last step repeats forever (a stream), or the run ends after it.
        finish: for a run that ends: the distribution of the output written last, for every state that can be reached.
            With `repeats` a run may end after any number of steps, none included.
        marks: with both: the marked forms of inputs, each with the input that it marks.
        foretold: with marks: how many inputs are marked in the words that end in an output; an output without an entry is not compared.

    >>> survey = Transducer(
    ...     states=["s", "yes", "no"], inputs=["yes", "no"], outputs=["Y", "N"], initial={"s": 1},
    ...     steps=[{"s": {"yes": [("3/4", "yes"), ("1/4", "no")], "no": [("1/4", "yes"), ("3/4", "no")]}}],
    ...     finish={"yes": {"Y": 1}, "no": {"N": 1}})
    >>> survey.steps[0]["s"]["yes"][0]
    Branch(probability=3/4, target='yes', output=None)
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    initial: Distribution
    steps: tuple[Step, ...]
    repeats: bool = False
    finish: Mapping[str, Distribution] | None = field(default=None)
    marks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    foretold: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def __init__(
        self,
        *,
        states: Collection[str],
        inputs: Collection[str],
        outputs: Collection[str],
        initial: Mapping[str, Number],
        steps: Sequence[Mapping[str, Mapping[str, Iterable[BranchLike]]]],
        repeats: bool = False,
        finish: Mapping[str, Mapping[str, Number]] | None = None,
        marks: Mapping[str, str] | None = None,
        foretold: Mapping[str, int] | None = None,
    ) -> None:
        names = distinct_names(states, what="state", place="states")
        known = dict.fromkeys(names)
        read = distinct_names(inputs, what="input", place="inputs")
        written = distinct_names(outputs, what="output", place="outputs")
        if not steps:
            raise ModelError("steps", "there is no step", place="steps", hint="a transducer reads at least one input")
        _refuse_idle_marks(
            dict(marks or {}), dict(foretold or {}), read, written, open_ended=repeats and finish is not None
        )
        ends = None
        if finish is not None:
            for state in finish:
                known_name(state, among=known, what="state", place="finish")
            ends = MappingProxyType(
                {s: distribution(row, among=written, what="output", place=f"finish.{s}") for s, row in finish.items()}
            )
        object.__setattr__(self, "states", names)
        object.__setattr__(self, "inputs", read)
        object.__setattr__(self, "outputs", written)
        object.__setattr__(self, "initial", distribution(initial, among=known, what="state", place="initial"))
        object.__setattr__(
            self,
            "steps",
            tuple(_step(step, known, read, dict.fromkeys(written), f"steps[{i}]") for i, step in enumerate(steps)),
        )
        object.__setattr__(self, "repeats", repeats)
        object.__setattr__(self, "finish", ends)
        object.__setattr__(self, "marks", MappingProxyType(dict(marks or {})))
        object.__setattr__(self, "foretold", MappingProxyType(dict(foretold or {})))
        if ends is not None:
            self._finishes_everywhere(ends)

    def _finishes_everywhere(self, ends: Mapping[str, Distribution]) -> None:
        reached = set(self.initial)
        ending: set[str] = set()
        number, seen = 0, set[tuple[int, frozenset[str]]]()
        while number < len(self.steps) and (number, frozenset(reached)) not in seen:
            seen.add((number, frozenset(reached)))
            step = self.steps[number]
            if self.repeats:
                ending |= reached
            for state in sorted(reached):
                if state not in step:
                    raise ModelError(
                        "steps",
                        f"the state {state!r} can be reached and has no entry, so the run would end without an output",
                        place=f"steps[{number}]",
                        hint="a transducer with `finish` takes every step from every state it can be in",
                    )
            reached = {b.target for state in reached for branches in step[state].values() for b in branches}
            number = min(number + 1, len(self.steps) - 1) if self.repeats else number + 1
        for state in sorted(ending | reached):
            if state not in ends:
                raise ModelError(
                    "finish",
                    f"the state {state!r} can be reached at the end and has no output",
                    place="finish",
                    hint=f"add {state}",
                )

    @property
    def data(self) -> tuple[str, ...]:
        """The inputs as the data has them: those that are no marked forms of others."""
        return tuple(name for name in self.inputs if name not in self.marks)

    @property
    def of_every_length(self) -> bool:
        """Whether it reads lists of every length, and writes at their end."""
        return self.repeats and self.finish is not None

    def step(self, number: int) -> Step | None:
        """What happens in step `number`, counted from 0; None after the end."""
        if number < len(self.steps):
            return self.steps[number]
        return self.steps[-1] if self.repeats else None


def _refuse_idle_marks(
    marks: Mapping[str, str],
    foretold: Mapping[str, int],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    *,
    open_ended: bool,
) -> None:
    """Refuse marks that mean nothing."""
    if (marks or foretold) and not open_ended:
        raise ModelError(
            "marks", "only lists of every length have marks", place="marks", hint="with both `repeats` and `finish`"
        )
    for marked, name in marks.items():
        known_name(marked, among=inputs, what="input", place="marks")
        known_name(name, among=inputs, what="input", place=f"marks.{marked}")
        if name in marks:
            raise ModelError("marks", f"{name!r} is a marked form itself", place=f"marks.{marked}")
    if marks and sorted(marks.values()) != sorted(name for name in inputs if name not in marks):
        raise ModelError("marks", "every input has one marked form, or none has", place="marks")
    for output, count in foretold.items():
        known_name(output, among=outputs, what="output", place="foretold")
        if count < 0 or (count and not marks):
            raise ModelError("marks", f"{count} marks", place=f"foretold.{output}")


def _step(
    given: Mapping[str, Mapping[str, Iterable[BranchLike]]],
    states: Collection[str],
    inputs: tuple[str, ...],
    outputs: Collection[str],
    place: str,
) -> Step:
    result: dict[str, Mapping[str, tuple[Branch, ...]]] = {}
    for state, row in given.items():
        known_name(state, among=states, what="state", place=place)
        for symbol in row:
            known_name(symbol, among=inputs, what="input", place=f"{place}.{state}")
        table: dict[str, tuple[Branch, ...]] = {}
        for symbol in inputs:
            here = f"{place}.{state}.{symbol}"
            if symbol not in row:
                raise ModelError(
                    "steps", f"the input {symbol!r} is not covered", place=f"{place}.{state}", hint=f"add {here}"
                )
            table[symbol] = _branches(row[symbol], states, outputs, here)
        result[state] = MappingProxyType(table)
    return MappingProxyType(result)


def _branches(
    given: Iterable[BranchLike], states: Collection[str], outputs: Collection[str], place: str
) -> tuple[Branch, ...]:
    merged: dict[tuple[str, str | None], Rational] = {}
    for item in given:
        number, target, output = _parts(item)
        known_name(target, among=states, what="state", place=place)
        if output is not None:
            known_name(output, among=outputs, what="output", place=place)
        try:
            probability = rational(number)
        except PrivproofError as problem:
            raise problem.at(place) from None
        if not 0 <= probability <= 1:
            raise ModelError("probability", f"the probability {show(probability)} is outside [0, 1]", place=place)
        merged[target, output] = merged.get((target, output), ZERO) + probability
    total = sum(merged.values(), ZERO)
    if total != 1:
        raise ModelError(
            "row-sum", f"the probabilities sum to {show(total)} instead of 1: off by {show(1 - total)}", place=place
        )
    return tuple(Branch(p, target, output) for (target, output), p in merged.items() if p != 0)


def _parts(item: BranchLike) -> tuple[Number, str, str | None]:
    if isinstance(item, Branch):
        return item.probability, item.target, item.output
    return item[0], item[1], item[2] if len(item) > 2 else None
