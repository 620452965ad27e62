"""Hidden Markov models and Markov chains (FAIER paper, Section 2), as frozen, checked data.

A run starts in a state drawn from an initial distribution, shows an observation drawn from the state's
emission distribution, moves by the state's transition distribution, shows the next observation, and so on.  The
probability of the word w0 w1 ... wk is the sum of alpha_k, where

    alpha_0(s)      = initial(s) * emission(s, w0)
    alpha_{t+1}(s') = (sum over s of alpha_t(s) * transition(s, s')) * emission(s', w_{t+1}).

A state without a transition row makes no further step: the run has *halted* there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from privproof.drawing.showing import ShownCard
from privproof.errors import ModelError
from privproof.exact import ONE, Number
from privproof.models.finite_distributions import Distribution, distinct_names, distribution, known_name


@dataclass(frozen=True, kw_only=True)
class HiddenMarkovModel(ShownCard):
    """A Markov chain whose states are seen through observations.

    >>> coin = HiddenMarkovModel(
    ...     states=["fair", "bent"], observations=["head", "tail"],
    ...     transitions={"fair": {"fair": 1}, "bent": {"bent": 1}},
    ...     emissions={"fair": {"head": "1/2", "tail": "1/2"}, "bent": {"head": "2/3", "tail": "1/3"}})
    >>> coin.emissions["bent"]["tail"]
    1/3
    """

    states: tuple[str, ...]
    observations: tuple[str, ...]
    transitions: Mapping[str, Distribution] = field(default_factory=dict)
    emissions: Mapping[str, Distribution]

    def __init__(
        self,
        *,
        states: Collection[str],
        observations: Collection[str],
        emissions: Mapping[str, Mapping[str, Number]],
        transitions: Mapping[str, Mapping[str, Number]] | None = None,
    ) -> None:
        names = distinct_names(states, what="state", place="states")
        seen = distinct_names(observations, what="observation", place="observations")
        known, symbols = dict.fromkeys(names), dict.fromkeys(seen)
        for state in transitions or {}:
            known_name(state, among=known, what="state", place="transitions")
        for state in emissions:
            known_name(state, among=known, what="state", place="emissions")
        moves = {
            state: distribution(row, among=known, what="state", place=f"transitions.{state}")
            for state, row in (transitions or {}).items()
        }
        shows = {
            state: distribution(emissions.get(state, {}), among=symbols, what="observation", place=f"emissions.{state}")
            for state in names
        }
        object.__setattr__(self, "states", names)
        object.__setattr__(self, "observations", seen)
        object.__setattr__(self, "transitions", MappingProxyType(moves))
        object.__setattr__(self, "emissions", MappingProxyType(shows))

    def halts(self, state: str) -> bool:
        """Whether a run makes no further step from the state."""
        return state not in self.transitions


@dataclass(frozen=True, kw_only=True)
class MarkovChain(ShownCard):
    """A Markov chain whose states carry labels; what an observer sees of a state is its set of labels.

    >>> chain = MarkovChain(states=["a", "b"], transitions={"a": {"b": 1}}, labels={"b": ["done"]})
    >>> chain.symbol("a"), chain.symbol("b")
    ('-', 'done')
    """

    states: tuple[str, ...]
    transitions: Mapping[str, Distribution] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __init__(
        self,
        *,
        states: Collection[str],
        transitions: Mapping[str, Mapping[str, Number]] | None = None,
        labels: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        names = distinct_names(states, what="state", place="states")
        known = dict.fromkeys(names)
        for state in transitions or {}:
            known_name(state, among=known, what="state", place="transitions")
        moves = {
            state: distribution(row, among=known, what="state", place=f"transitions.{state}")
            for state, row in (transitions or {}).items()
        }
        marks: dict[str, tuple[str, ...]] = {}
        for state, given in (labels or {}).items():
            known_name(state, among=known, what="state", place="labels")
            listed = (given,) if isinstance(given, str) else given
            marks[state] = (
                tuple(sorted(distinct_names(listed, what="label", place=f"labels.{state}"))) if listed else ()
            )
            for label in marks[state]:
                if "," in label or label == "-":
                    raise ModelError(
                        "names",
                        f"the label {label!r} cannot be told from other labels when it is shown",
                        place=f"labels.{state}",
                        hint="a label has no comma and is not '-'",
                    )
        object.__setattr__(self, "states", names)
        object.__setattr__(self, "transitions", MappingProxyType(moves))
        object.__setattr__(self, "labels", MappingProxyType(marks))

    def symbol(self, state: str) -> str:
        """What an observer sees of the state: its labels joined by commas, ``-`` where it has none."""
        return ",".join(self.labels.get(state, ())) or "-"

    def hidden(self) -> HiddenMarkovModel:
        """The hidden Markov model in which every state shows its labels with certainty."""
        symbols = tuple(dict.fromkeys(self.symbol(state) for state in self.states))
        return HiddenMarkovModel(
            states=self.states,
            observations=symbols,
            transitions=self.transitions,
            emissions={state: {self.symbol(state): ONE} for state in self.states},
        )
