"""Transducers, from the document to a system.

In step t the left copy reads an input v and the right copy an input w, which the neighbour relation allows after the
inputs so far. A letter is (v, w, output or null); it multiplies the left vector by the matrix of the branches of step
t under v that write the output, the right vector by that under w. With ``finish`` the last letter has no inputs: it
writes the output of the mechanism by the finish distribution of the state, and only the words that end with it are
compared. Without it words are prefixes, and a state is *halted* where the next step has no entry for it, or there is
no next step.

With a ``rate`` r the matrices of the right side are multiplied by r in every step: then ``P(w) <= c Q(w)`` says that the
ratio is at most ``c r^n``.

With ``repeats`` and ``finish`` the finish letter may follow after any number of steps. Inputs may then have *marked*
forms, which both copies read together; a word that ends in output o is compared if ``foretold[o]`` of its letters are
marked.

A location is (the number of the next step, the memory of the relation, the number of marked letters), or the end after
the finish letter. Beyond the largest number of marks that an output needs, no marked letter is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import lcm
from typing import TypeAlias

from privproof_checker.neighbour_lists import Memory
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, Refusal, refuse, within
from privproof_checker.pair_scenarios import Scenario
from privproof_checker.plain_documents import (
    a_distribution,
    a_flag,
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_object,
    names,
    only_members,
    require_name,
    text,
)
from privproof_checker.systems import (
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

Branches: TypeAlias = dict[str | None, list[tuple[int, Rational]]]
"""From an output (or nothing) to the next states with their probabilities."""

Step: TypeAlias = dict[int, dict[str, Branches]]
"""From a state that goes on to an input to the branches."""

END: Location = "end"
_BRANCH = frozenset(("probability", "to", "output"))
"""The members of a branch."""
_MOST_MARKS = 8
"""Marks in one word: each multiplies the locations."""


class TransducerSystem:
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
        marks: Mapping[str, str] | None = None,
        foretold: Mapping[str, int] | None = None,
    ) -> None:
        self.states = states
        self.inputs = inputs
        self.outputs = outputs
        self.steps = steps
        self.finish = finish
        self.repeats = repeats
        self.marks = dict(marks or {})
        self.marked = {name: marked for marked, name in self.marks.items()}
        self.foretold = foretold
        self.most_marks = max((foretold or {}).values(), default=0)
        self.open_ended = repeats and finish is not None
        self.rate = ONE
        self.relation = scenario.relation
        self.ending = scenario.ending
        self.scales = [_scale(step) for step in steps]
        self.rows: dict[tuple[int, str], dict[str | None, Rows]] = {}
        self.finish_matrices = self._finish_matrices()
        self.pairs_of_inputs: dict[Memory, list[tuple[str | None, str | None, Memory]]] = {}
        both: dict[tuple[Masses, Masses], Start] = {}
        for pair in scenario.pairs:
            left, right = masses(pair.left, states), masses(pair.right, states)
            for one, other in ((left, right), (right, left)):
                both.setdefault((one, other), Start(one, other, None, None, (0, self.relation.start(), 0)))
        self.starts = tuple(both.values())

    def grow(self, rate: Rational) -> None:
        """Let the claim grow: the right side counts `rate` times more with every letter that has inputs."""
        if rate != 1 and (not self.open_ended or self.relation.kind == "add-remove"):
            refuse("a claim grows with lists of every length alone, the same on both sides", "question.rate")
        self.rate = rate

    @property
    def compared_outputs(self) -> Collection[str]:
        """The outputs in which compared words end; none where words need not end."""
        if self.finish is None:
            return ()
        if self.foretold is not None:
            return self.foretold
        return {output for row in self.finish.values() for output in row}

    def size(self, location: Location) -> int:
        return 1 if location == END else len(self.states)

    def letters(self, location: Location) -> list[Letter]:
        if location == END:
            return []
        number, memory, seen = _parts(location)
        found = []
        if number < len(self.steps):
            pairs = [(left, right) for left, right, _ in self.choices(memory)]
            if seen < self.most_marks:
                pairs += [(self.marked[x], self.marked[y]) for x, y in pairs if x is not None and y is not None]
            found = [Letter(output, left, right) for left, right in pairs for output in self.matrices(number, left)]
        return found + [Letter(o) for o in self.finish_matrices[0] if self._may_end(number, memory, seen, o)]

    def _may_end(self, number: int, memory: Memory, seen: int, output: str | None) -> bool:
        """Whether the finish letter of an output may follow."""
        if self.finish is None or output is None or not (self.open_ended or number == len(self.steps)):
            return False
        if not self.relation.may_end(memory):
            return False
        return self.foretold is None or self.foretold.get(output) == seen

    def edge(self, location: Location, letter: Letter) -> Edge | None:
        if location == END:
            return None
        number, memory, seen = _parts(location)
        if letter.left is None and letter.right is None:
            rows, scale = self.finish_matrices
            if letter.output not in rows or not self._may_end(number, memory, seen, letter.output):
                return None
            return Edge(END, rows[letter.output], rows[letter.output], scale)
        if number == len(self.steps) or any(
            x is not None and x not in self.inputs for x in (letter.left, letter.right)
        ):
            return None
        marked = letter.left in self.marks
        if marked != (letter.right in self.marks) or (marked and seen == self.most_marks):
            return None
        data = [None if x is None else self.marks.get(x, x) for x in (letter.left, letter.right)]
        allowed = self.relation.after(memory, data[0], data[1])
        if allowed is None:
            return None
        left, right = self.matrices(number, letter.left), self.matrices(number, letter.right)
        last = len(self.steps) - 1 if self.repeats else len(self.steps)
        target = (min(number + 1, last), allowed[0], seen + marked)
        one, other = left.get(letter.output, {}), right.get(letter.output, {})
        if self.rate == 1:
            return Edge(target, one, other, self.scales[number])
        over, times = int(self.rate.q), int(self.rate.p)
        return Edge(target, _multiple(one, over), _multiple(other, times), self.scales[number] * over)

    def finals(self, location: Location) -> list[Final]:
        if location == END:
            return [Final("any", frozenset((0,))), Final("complete", frozenset((0,)))]
        if self.finish is not None:
            return []
        number, _, _ = _parts(location)
        everything = frozenset(self.states.values())
        going_on = self.steps[number] if number < len(self.steps) else {}
        ends = {"any": Final("any", everything), "complete": Final("complete", everything.difference(going_on))}
        return list(ends.values()) if self.ending == "visible" else [ends[self.ending]]

    def choices(self, memory: Memory) -> list[tuple[str | None, str | None, Memory]]:
        """The pairs of inputs that may come next, None on a side that reads nothing, each with the memory afterwards."""
        if memory not in self.pairs_of_inputs:
            found: list[tuple[str | None, str | None, Memory]] = []
            data: list[str | None] = [name for name in self.inputs if name not in self.marks]
            if self.relation.kind == "pairs":
                listed = self.relation.listed_next(memory)
                found += [(left, right, after) for (left, right), after in listed.items()]
                data = []
            if self.relation.kind == "add-remove":
                data.append(None)
            for left in data:
                for right in data:
                    allowed = self.relation.after(memory, left, right)
                    if allowed is not None:
                        found.append((left, right, allowed[0]))
            self.pairs_of_inputs[memory] = found
        return self.pairs_of_inputs[memory]

    def matrices(self, number: int, symbol: str | None) -> dict[str | None, Rows]:
        """For every output that a step may write under an input: the matrix, times the denominator of the step.

        A side that reads nothing writes nothing, and stays where it is.
        """
        if symbol is None:
            return {None: {i: [(i, self.scales[number])] for i in self.states.values()}}
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

    def __init__(self, machine: TransducerSystem, output: str) -> None:
        self.machine = machine
        self.output = output
        self.starts = machine.starts

    def size(self, location: Location) -> int:
        return self.machine.size(location)

    def letters(self, location: Location) -> list[Letter]:
        return [letter for letter in self.machine.letters(location) if self._fits(location, letter)]

    def edge(self, location: Location, letter: Letter) -> Edge | None:
        return self.machine.edge(location, letter) if self._fits(location, letter) else None

    def finals(self, location: Location) -> list[Final]:
        return self.machine.finals(location)

    def _fits(self, location: Location, letter: Letter) -> bool:
        """Only the last letter has no inputs; with more marks than the output needs no compared word ends in it."""
        if letter.left is None and letter.right is None:
            return letter.output == self.output
        if letter.left not in self.machine.marks or location == END:
            return True
        return _parts(location)[2] < (self.machine.foretold or {}).get(self.output, 0)


def _multiple(rows: Rows, factor: int) -> Rows:
    return {i: [(j, entry * factor) for j, entry in row] for i, row in rows.items()}


def _parts(location: Location) -> tuple[int, Memory, int]:
    assert isinstance(location, tuple)
    number, memory, seen = location
    return number, memory, seen


def _scale(step: Step) -> int:
    entries = (p for row in step.values() for table in row.values() for listed in table.values() for _, p in listed)
    return lcm(1, *(int(p.q) for p in entries))


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
            index = states[require_name(state, states, "state", place)]
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
    branches = a_list(value, place)
    read = 0
    try:  # places are put together where something is refused alone
        for item in branches:
            branch = an_object(item, "")
            if not branch.keys() <= _BRANCH:
                only_members(branch, _BRANCH, "")
            probability = a_number(branch.get("probability"), ".probability", limits)
            if probability < 0:
                refuse("the probability is below 0", ".probability")
            target = a_text(branch.get("to"), ".to")
            if target not in states:
                require_name(target, states, "state", ".to")
            output = a_text_or_null(branch.get("output"), ".output")
            if output is not None and output not in outputs:
                require_name(output, outputs, "output", ".output")
            key = (output, states[target])
            so_far = merged.get(key)
            merged[key] = probability if so_far is None else so_far + probability
            total += probability
            read += 1
    except Refusal as problem:
        problem.place = f"{place}[{read}]{problem.place}"
        raise
    if total != 1:
        refuse(f"the probabilities sum to {text(total)} instead of 1", place)
    result: Branches = {}
    for (output, index), probability in merged.items():
        if probability != 0:
            result.setdefault(output, []).append((index, probability))
    return result


def read_machine(
    question: dict[str, object], states: Mapping[str, int], scenario: Scenario, limits: Limits
) -> TransducerSystem:
    """The transducer of a question."""
    inputs = names(question.get("inputs"), "question.inputs", limits.symbols)
    within(len(inputs) ** 2, 10 * limits.pairs, "pairs of inputs", "question.inputs")
    outputs = {o: i for i, o in enumerate(names(question.get("outputs"), "question.outputs", limits.symbols))}
    steps = read_steps(question, states, inputs, outputs, limits)
    repeats = a_flag(question.get("repeats", False), "question.repeats")
    finish: dict[int, dict[str, Rational]] | None = None
    if question.get("finish") is not None:
        finish = {}
        for state, row in an_object(question["finish"], "question.finish").items():
            place = f"question.finish.{state}"
            finish[states[require_name(state, states, "state", place)]] = a_distribution(
                row, outputs, "output", place, limits
            )
    marks, foretold = _read_marks(question, inputs, outputs, limits, open_ended=repeats and finish is not None)
    machine = TransducerSystem(
        states, inputs, outputs, steps, finish, scenario, repeats=repeats, marks=marks, foretold=foretold
    )
    if not any(left != right for left, right, _ in machine.choices(machine.relation.start())):
        _differs_somewhere(machine)
    if finish is not None:
        _finishes(machine, finish)
    if machine.relation.kind == "add-remove":
        _lists_of_two_lengths(machine)
    return machine


def _lists_of_two_lengths(machine: TransducerSystem) -> None:
    """Refuse a transducer for which a list with one element more means nothing: its only step repeats, and it writes at the end."""
    if not machine.open_ended or len(machine.steps) != 1 or machine.marks:
        refuse("one element more is for lists of every length, without marks", "question.scenario.neighbours")
    for row in machine.steps[0].values():
        if any(output is not None for table in row.values() for output in table):
            refuse("where one element more is read, nothing is written before the end", "question.steps[0]")


def _differs_somewhere(machine: TransducerSystem) -> None:
    """With equal inputs throughout, something else must differ, or nothing is compared."""
    listed = machine.relation.listed
    if any(left != right for left, right in listed) or any(start.left != start.right for start in machine.starts):
        return
    refuse("both sides are the same, so nothing is compared", "question.scenario")


def _read_marks(
    question: dict[str, object],
    inputs: tuple[str, ...],
    outputs: Mapping[str, int],
    limits: Limits,
    *,
    open_ended: bool,
) -> tuple[dict[str, str], dict[str, int] | None]:
    """The marked forms of inputs, and how many marks the words of each compared output have."""
    if question.get("marks") is None and question.get("foretold") is None:
        return {}, None
    if not open_ended:
        refuse("only lists of every length have marks", "question.marks")
    marks = {}
    for marked, value in an_object(question.get("marks"), "question.marks").items():
        place = f"question.marks.{marked}"
        marks[require_name(marked, inputs, "input", place)] = require_name(a_text(value, place), inputs, "input", place)
    if sorted(marks.values()) != sorted(name for name in inputs if name not in marks):
        refuse("not every input has exactly one marked form", "question.marks")
    foretold = {}
    for output, count in an_object(question.get("foretold"), "question.foretold").items():
        place = f"question.foretold.{output}"
        number = a_number(count, place, limits)
        if number.q != 1 or not 0 <= number <= _MOST_MARKS:
            refuse(f"expected a whole number from 0 to {_MOST_MARKS}", place)
        foretold[require_name(output, outputs, "output", place)] = int(number.p)
    return marks, foretold


def _finishes(machine: TransducerSystem, finish: dict[int, dict[str, Rational]]) -> None:
    """Refuse a transducer with ``finish`` that may stop before its end: its outputs would not be a distribution."""
    reached = {i for start in machine.starts for i, _ in (*start.left, *start.right)}
    number, ending = 0, set[int]()
    while number < len(machine.steps):
        step = machine.steps[number]
        if not reached <= step.keys():
            refuse("a state can be reached and has no entry", f"question.steps[{number}]")
        after = {j for i in reached for table in step[i].values() for branches in table.values() for j, _ in branches}
        if machine.repeats:
            ending |= reached
            if number == len(machine.steps) - 1 and after <= reached:
                break
        if machine.repeats and number == len(machine.steps) - 1:
            reached |= after
        else:
            reached, number = after, number + 1
    if not ending | reached <= finish.keys():
        refuse("a state can be reached at the end and has no output", "question.finish")
