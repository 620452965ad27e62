"""Questions about stream automata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from privproof.exact import ONE, Budget, Rational
from privproof.language import Mechanism
from privproof.models.stream_automaton import StreamAutomaton

Relation: TypeAlias = Literal["each", "one", "monotone"]


@dataclass(frozen=True, kw_only=True)
class StreamQuestion:
    """A stream automaton, the neighbours of its data, and a budget or none.

    Attributes:
        automaton: the automaton.
        relation: whether every number of the stream may change, all in one direction, or one of them.
        within: by how much a number may change.
        budget: the claim, if one is made.
        name: how reports call the mechanism.
        mechanism: the function that the automaton was made from, if it was made from one.
        outputs: for every transition what the function writes in it, with `ANY` in the place of noisy numbers.
        lines: for every transition the lines of the function that it runs through.
        free: whether the numbers of the stream may be any numbers; bounds make proofs no less true, and losses smaller.
        trials: what running the function beside the automaton has shown, in a sentence; empty without a function.
    """

    automaton: StreamAutomaton
    relation: Relation = "each"
    within: Rational = ONE
    budget: Budget | None = None
    name: str = ""
    mechanism: Mechanism | None = None
    outputs: tuple[tuple[Any, ...], ...] = ()
    lines: tuple[tuple[int, ...], ...] = ()
    free: bool = True
    trials: str = ""

    def under(self, budget: Budget | None) -> StreamQuestion:
        """The same question with another budget."""
        return replace(self, budget=budget)
