"""Transducers, from the document to a system.

In step t the left copy reads an input v and the right copy an input w, which the neighbour relation allows after the
inputs so far. A letter is (v, w, output or null); it multiplies the left vector by the matrix of the branches of step
t under v that write the output, the right vector by that under w. With ``finish`` the last letter has no inputs: it
writes the output of the mechanism by the finish distribution of the state, and only the words that end with it are
compared. Without it words are prefixes, and a state is *halted* where the next step has no entry for it, or there is
no next step.

A location is (the number of the next step, the memory of the relation), or the end after the finish letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from typing import TypeAlias

from privproof.evidence.checker.documents import (
    a_distribution,
    a_flag,
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_object,
    known,
    names,
    only_members,
    text,
)
from privproof.evidence.checker.neighbours import Memory
from privproof.evidence.checker.outcomes import Limits, refuse, within
from privproof.evidence.checker.scenarios import Scenario
from privproof.evidence.checker.systems import (
    Edge,
    Final,
    Letter,
    Location,
    Masses,
    Rows,
    Start,
    integer_rows,
    masses,
)
from privproof.exact import ZERO, Rational

Branches: TypeAlias = dict[str | None, list[tuple[int, Rational]]]
"""From an output (or nothing) to the next states with their probabilities."""

Step: TypeAlias = dict[int, dict[str, Branches]]
"""From a state that goes on to an input to the branches."""

END: Location = "end"


class Machine:
    """A transducer with a scenario, as a system."""

    def __init__(
        self,
        states: Mapping[str, int],
        inputs: tuple[str, ...],
        outputs: Mapping[str, int],
        steps: Sequence[Step],
        finish: dict[int, dict[str, Rational]] | None,
        scenario: Scenario,
        *,
        repeats: bool,
    ) -> None:
        self.states = states
        self.inputs = inputs
        self.outputs = outputs
        self.steps = steps
        self.finish = finish
        self.repeats = repeats
        self.relation = scenario.relation
        self.ending = scenario.ending
        self.scales = [_scale(step) for step in steps]
        self.rows: dict[tuple[int, str], dict[str | None, Rows]] = {}
        self.finish_matrices = self._finish_matrices()
        self.pairs_of_inputs: dict[Memory, list[tuple[str, str, Memory]]] = {}
        both: dict[tuple[Masses, Masses], Start] = {}
        for pair in scenario.pairs:
            left, right = masses(pair.left, states), masses(pair.right, states)
            for one, other in ((left, right), (right, left)):
                both.setdefault((one, other), Start(one, other, None, None, (0, self.relation.start())))
        self.starts = tuple(both.values())

    def size(self, location: Location) -> int:
        return 1 if location == END else len(self.states)

    def letters(self, location: Location) -> list[Letter]:
        if location == END:
            return []
        number, memory = _parts(location)
        if number < len(self.steps):
            return [
                Letter(output, left, right)
                for left, right, _ in self.choices(memory)
                for output in self.matrices(number, left)
            ]
        return [Letter(o) for o in self.finish_matrices[0]]

    def edge(self, location: Location, letter: Letter) -> Edge | None:
        if location == END:
            return None
        number, memory = _parts(location)
        if number == len(self.steps):
            rows, scale = self.finish_matrices
            if letter.left is not None or letter.right is not None or letter.output not in rows:
                return None
            return Edge(END, rows[letter.output], rows[letter.output], scale)
        if letter.left not in self.inputs or letter.right not in self.inputs:
            return None
        allowed = self.relation.after(memory, letter.left, letter.right)
        if allowed is None:
            return None
        left, right = self.matrices(number, letter.left), self.matrices(number, letter.right)
        last = len(self.steps) - 1 if self.repeats else len(self.steps)
        target = (min(number + 1, last), allowed[0])
        return Edge(target, left.get(letter.output, {}), right.get(letter.output, {}), self.scales[number])

    def finals(self, location: Location) -> list[Final]:
        if location == END:
            return [Final("any", frozenset((0,))), Final("complete", frozenset((0,)))]
        if self.finish is not None:
            return []
        number, _ = _parts(location)
        everything = frozenset(self.states.values())
        going_on = self.steps[number] if number < len(self.steps) else {}
        ends = {"any": Final("any", everything), "complete": Final("complete", everything.difference(going_on))}
        return list(ends.values()) if self.ending == "visible" else [ends[self.ending]]

    def choices(self, memory: Memory) -> list[tuple[str, str, Memory]]:
        """The pairs of inputs that may come next, each with the memory afterwards."""
        if memory not in self.pairs_of_inputs:
            found = []
            for left in self.inputs:
                for right in self.inputs:
                    allowed = self.relation.after(memory, left, right)
                    if allowed is not None:
                        found.append((left, right, allowed[0]))
            self.pairs_of_inputs[memory] = found
        return self.pairs_of_inputs[memory]

    def matrices(self, number: int, symbol: str) -> dict[str | None, Rows]:
        """For every output that a step may write under an input: the matrix, times the denominator of the step."""
        if (number, symbol) not in self.rows:
            found: dict[str | None, dict[int, list[tuple[int, Rational]]]] = {}
            for state, row in self.steps[number].items():
                for output, branches in row[symbol].items():
                    found.setdefault(output, {})[state] = branches
            scale = self.scales[number]
            self.rows[number, symbol] = {output: integer_rows(rows, scale) for output, rows in found.items()}
        return self.rows[number, symbol]

    def _finish_matrices(self) -> tuple[dict[str | None, Rows], int]:
        """For every output of the end the column of its probabilities, times a common denominator."""
        if self.finish is None:
            return {}, 1
        scale = lcm(1, *(int(p.q) for row in self.finish.values() for p in row.values()))
        found: dict[str, dict[int, list[tuple[int, Rational]]]] = {}
        for state, row in self.finish.items():
            for output, probability in row.items():
                found.setdefault(output, {})[state] = [(0, probability)]
        return {output: integer_rows(rows, scale) for output, rows in found.items()}, scale


class OneOutput:
    """A transducer with ``finish``, and of its words those that end in one output."""

    def __init__(self, machine: Machine, output: str) -> None:
        self.machine = machine
        self.output = output
        self.starts = machine.starts

    def size(self, location: Location) -> int:
        return self.machine.size(location)

    def letters(self, location: Location) -> list[Letter]:
        return [letter for letter in self.machine.letters(location) if self._fits(letter)]

    def edge(self, location: Location, letter: Letter) -> Edge | None:
        return self.machine.edge(location, letter) if self._fits(letter) else None

    def finals(self, location: Location) -> list[Final]:
        return self.machine.finals(location)

    def _fits(self, letter: Letter) -> bool:
        """Only the last letter has no inputs."""
        return letter.left is not None or letter.right is not None or letter.output == self.output


def _parts(location: Location) -> tuple[int, Memory]:
    assert isinstance(location, tuple)
    number, memory = location
    return number, memory


def _scale(step: Step) -> int:
    entries = (p for row in step.values() for table in row.values() for listed in table.values() for _, p in listed)
    return lcm(1, *(int(p.q) for p in entries))


# ------------------------------------------------------------------------------------------------ reading the document


def read_steps(
    question: dict[str, object],
    states: Mapping[str, int],
    inputs: tuple[str, ...],
    outputs: Mapping[str, int],
    limits: Limits,
) -> list[Step]:
    """The steps of a transducer."""
    listed = a_list(question.get("steps"), "question.steps")
    within(len(listed), limits.steps, "steps", "question.steps")
    if not listed:
        refuse("there is no step", "question.steps")
    result = []
    for i, item in enumerate(listed):
        step: Step = {}
        for state, value in an_object(item, f"question.steps[{i}]").items():
            place = f"question.steps[{i}].{state}"
            row = an_object(value, place)
            index = states[known(state, states, "state", place)]
            only_members(row, inputs, place)
            if len(row) < len(inputs):
                refuse("an input is not covered", place)
            step[index] = {v: _branches(row[v], f"{place}.{v}", states, outputs, limits) for v in inputs}
        result.append(step)
    return result


def _branches(
    value: object, place: str, states: Mapping[str, int], outputs: Mapping[str, int], limits: Limits
) -> Branches:
    merged: dict[tuple[str | None, int], Rational] = {}
    total = ZERO
    for i, item in enumerate(a_list(value, place)):
        here = f"{place}[{i}]"
        branch = an_object(item, here)
        only_members(branch, ("probability", "to", "output"), here)
        probability = a_number(branch.get("probability"), f"{here}.probability", limits)
        if probability < 0:
            refuse("the probability is below 0", f"{here}.probability")
        target = known(a_text(branch.get("to"), f"{here}.to"), states, "state", f"{here}.to")
        output = a_text_or_null(branch.get("output"), f"{here}.output")
        if output is not None:
            known(output, outputs, "output", f"{here}.output")
        key = (output, states[target])
        merged[key] = merged.get(key, ZERO) + probability
        total += probability
    if total != 1:
        refuse(f"the probabilities sum to {text(total)} instead of 1", place)
    result: Branches = {}
    for (output, index), probability in merged.items():
        if probability != 0:
            result.setdefault(output, []).append((index, probability))
    return result


def read_machine(question: dict[str, object], states: Mapping[str, int], scenario: Scenario, limits: Limits) -> Machine:
    """The transducer of a question."""
    inputs = names(question.get("inputs"), "question.inputs", limits.symbols)
    within(len(inputs) ** 2, 10 * limits.pairs, "pairs of inputs", "question.inputs")
    outputs = {o: i for i, o in enumerate(names(question.get("outputs"), "question.outputs", limits.symbols))}
    steps = read_steps(question, states, inputs, outputs, limits)
    repeats = a_flag(question.get("repeats", False), "question.repeats")
    finish: dict[int, dict[str, Rational]] | None = None
    if question.get("finish") is not None:
        if repeats:
            refuse("a transducer that repeats its last step never finishes", "question.finish")
        finish = {}
        for state, row in an_object(question["finish"], "question.finish").items():
            place = f"question.finish.{state}"
            finish[states[known(state, states, "state", place)]] = a_distribution(row, outputs, "output", place, limits)
    machine = Machine(states, inputs, outputs, steps, finish, scenario, repeats=repeats)
    if not any(left != right for left, right, _ in machine.choices(machine.relation.start())):
        _differs_somewhere(machine)
    if finish is not None:
        _finishes(machine, finish)
    return machine


def _differs_somewhere(machine: Machine) -> None:
    """With equal inputs throughout, something else must differ, or nothing is compared."""
    listed = machine.relation.listed
    if any(left != right for left, right in listed) or any(start.left != start.right for start in machine.starts):
        return
    refuse("both sides are the same, so nothing is compared", "question.scenario")


def _finishes(machine: Machine, finish: dict[int, dict[str, Rational]]) -> None:
    """Refuse a transducer with ``finish`` that may stop before its end: its outputs would not be a distribution."""
    reached = {i for start in machine.starts for i, _ in (*start.left, *start.right)}
    for number, step in enumerate(machine.steps):
        if not reached <= step.keys():
            refuse("a state can be reached and has no entry", f"question.steps[{number}]")
        reached = {j for i in reached for table in step[i].values() for branches in table.values() for j, _ in branches}
    if not reached <= finish.keys():
        refuse("a state can be reached at the end and has no output", "question.finish")
