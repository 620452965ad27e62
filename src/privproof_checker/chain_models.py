"""Hidden Markov models and Markov chains, from the document to a system.

    alpha_1(s)      = initial(s) emission(s, w1)
    alpha_{t+1}(s') = (sum over s of alpha_t(s) transition(s, s')) emission(s', w_{t+1}),       P(w) = alpha_k f.

A state without a transition row is *halted*: it contributes to no longer word. Of a Markov chain an observer sees of
a state its labels, sorted and joined by commas (``-`` where there are none), with certainty.

A location is (whether no letter has been read yet, the derivative of the restriction).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import lcm

from privproof_checker.model_expressions import NOTHING, Languages, read_expression
from privproof_checker.numbers import ONE, Rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.pair_scenarios import Scenario
from privproof_checker.plain_documents import a_distribution, a_list, a_text, an_object, names, require_name
from privproof_checker.systems import (
    Edge,
    Final,
    Letter,
    Location,
    Masses,
    Rows,
    ScaledRows,
    Start,
    Vector,
    masses,
)


class ChainSystem:
    """A hidden Markov model with a scenario, as a system."""

    def __init__(
        self,
        states: Mapping[str, int],
        transitions: Mapping[str, Mapping[str, Rational]],
        emissions: Mapping[str, Mapping[str, Rational]],
        observations: Sequence[str],
        scenario: Scenario,
        limits: Limits,
    ) -> None:
        self.states = states
        self.without = frozenset(scenario.without)
        self.observations = [o for o in observations if o not in self.without]
        self.languages = Languages(limits)
        self.ending = scenario.ending
        self.moves = {states[s]: [(states[t], p) for t, p in row.items()] for s, row in transitions.items()}
        self.shows = {o: {states[s]: emissions[s][o] for s in states if o in emissions[s]} for o in observations}
        self.halted = frozenset(i for i in states.values() if i not in self.moves)
        self.edges: dict[tuple[bool, str], tuple[Rows, int]] = {}
        self.starts = self._starts(scenario, observations, limits)

    def _starts(self, scenario: Scenario, observations: Sequence[str], limits: Limits) -> tuple[Start, ...]:
        beginnings: dict[str | None, int] = {}
        both: dict[tuple[Masses, Masses, str | None], Start] = {}
        for pair in scenario.pairs:
            only = scenario.only if pair.only is None else pair.only
            if only not in beginnings:
                place = "question.scenario.words.only" if pair.only is None else f"{pair.place}.only"
                expression = read_expression(only, observations, self.without, place, limits)
                if expression == NOTHING:
                    refuse("the restriction leaves no word", place)
                beginnings[only] = self.languages.number(expression)
            left, right = masses(pair.left, self.states), masses(pair.right, self.states)
            for one, other in ((left, right), (right, left)):
                both.setdefault((one, other, pair.only), Start(one, other, pair.only, only, (True, beginnings[only])))
        return tuple(both.values())

    def size(self, location: Location) -> int:
        return len(self.states)

    def letters(self, location: Location) -> list[Letter]:
        _, language = _parts(location)
        return [Letter(o) for o in self.observations if self.shows[o] and self.languages.after(language, o) is not None]

    def edge(self, location: Location, letter: Letter) -> Edge | None:
        first, language = _parts(location)
        if letter.output not in self.shows or letter.left is not None or letter.right is not None:
            return None
        target = self.languages.after(language, letter.output)
        if target is None:
            return None
        if (first, letter.output) not in self.edges:
            self.edges[first, letter.output] = self._matrix(letter.output, first=first)
        rows, scale = self.edges[first, letter.output]
        return Edge((False, target), rows, rows, scale)

    def finals(self, location: Location) -> list[Final]:
        first, language = _parts(location)
        if first or not self.languages.accepts[language]:
            return []
        everything: frozenset[int] = frozenset(range(len(self.states)))
        ends = {"any": Final("any", everything), "complete": Final("complete", self.halted)}
        return list(ends.values()) if self.ending == "visible" else [ends[self.ending]]

    def _matrix(self, observation: str, *, first: bool) -> tuple[Rows, int]:
        """The matrix of an observation as integers, and what it is to be divided by."""
        shown = self.shows[observation]
        scale = lcm(1, *(int(e.q) for e in shown.values()))
        weights = {j: int(e.p) * (scale // int(e.q)) for j, e in shown.items()}
        if first:
            return {i: [(i, e)] for i, e in weights.items()}, scale
        factors, moves, below = self._integer_moves
        return ScaledRows(factors, moves, weights), scale * below

    @cached_property
    def _integer_moves(self) -> tuple[Vector, Rows, int]:
        """The transitions as integers, those of every state times a factor, and what they are to be divided by."""
        scales = {i: lcm(1, *{int(p.q) for _, p in row}) for i, row in self.moves.items()}
        rows = {i: [(j, int(p.p) * (scales[i] // int(p.q))) for j, p in row] for i, row in self.moves.items()}
        scale = lcm(1, *scales.values())
        return {i: scale // own for i, own in scales.items()}, rows, scale


def _parts(location: Location) -> tuple[bool, int]:
    assert isinstance(location, tuple)
    first, language = location
    return first, language


def read_states(question: dict[str, object], limits: Limits) -> dict[str, int]:
    """The states and their indices."""
    return {name: i for i, name in enumerate(names(question.get("states"), "question.states", limits.states))}


def read_transitions(
    question: dict[str, object], states: Mapping[str, int], limits: Limits
) -> dict[str, dict[str, Rational]]:
    """The transition rows."""
    place = "question.transitions"
    rows = an_object(question.get("transitions") or {}, place)
    return {
        require_name(state, states, "state", place): a_distribution(row, states, "state", f"{place}.{state}", limits)
        for state, row in rows.items()
    }


def read_observations(question: dict[str, object], states: Mapping[str, int], limits: Limits) -> tuple[str, ...]:
    """The observations of a hidden Markov model, or the symbols of a Markov chain."""
    if question.get("kind") == "hmm":
        return names(question.get("observations"), "question.observations", limits.symbols)
    return tuple(dict.fromkeys(next(iter(row)) for row in read_labels(question, states, limits).values()))


def read_emissions(
    question: dict[str, object], states: Mapping[str, int], observations: Sequence[str], limits: Limits
) -> dict[str, dict[str, Rational]]:
    """What every state shows."""
    if question.get("kind") == "markov-chain":
        return read_labels(question, states, limits)
    place = "question.emissions"
    rows = an_object(question.get("emissions"), place)
    for state in rows:
        require_name(state, states, "state", place)
    among = {name: i for i, name in enumerate(observations)}
    return {s: a_distribution(rows.get(s, {}), among, "observation", f"{place}.{s}", limits) for s in states}


def read_labels(
    question: dict[str, object], states: Mapping[str, int], limits: Limits
) -> dict[str, dict[str, Rational]]:
    """What every state of a Markov chain shows, with certainty."""
    place = "question.labels"
    given = an_object(question.get("labels") or {}, place)
    for state in given:
        require_name(state, states, "state", place)
    result = {}
    for state in states:
        value = given.get(state, [])
        marks = [a_text(value, place)] if isinstance(value, str) else a_list(value, f"{place}.{state}")
        listed = names(marks, f"{place}.{state}", limits.symbols) if marks else ()
        result[state] = {",".join(sorted(listed)) or "-": ONE}
    return result
