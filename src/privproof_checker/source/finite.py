"""Finite mechanisms: the program of a source as a transducer, and whether the model in the certificate is the same.

What an input of the model stands for depends on the inputs of the mechanism:

* *list*: one private list, under ``each``, ``one`` or ``monotone``.  Its answers are read one a step, in order; the output is shown
  at the end, or, if the mechanism is a generator whose outputs tell which step wrote them, step by step.
* *data*: one private value, or several private inputs, or lists of two lengths (``add-remove``), or a relation that is a function.
  One step reads the whole data set.
* *stream*: a private stream, all else public.  A step reads one element and shows what is written before the next is asked for.
* *requests*: a public stream beside private inputs: every pair of neighbouring data sets is a pair of initial distributions.

Every value of the public inputs is a situation of its own, with equal initial distributions on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from privproof_checker.machines import TransducerSystem as Model
from privproof_checker.neighbour_lists import Relation
from privproof_checker.numbers import ONE, ZERO, Rational, rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_distribution, a_list, an_object, only_members
from privproof_checker.source.agreeing import Branch, Mass, State, Transducer, agree
from privproof_checker.source.exploring import Explorer, Law, Rest, rest
from privproof_checker.source.machine import Machine
from privproof_checker.source.outputs import Outputs
from privproof_checker.source.running import Run, Work
from privproof_checker.source.source_member import (
    PLACE,
    Findings,
    Input,
    Source,
    combinations,
    data_key,
    neighbours,
)
from privproof_checker.source.values import END, UNREAD, Beyond, Cells, Shown, Stream, Value, key, read_value
from privproof_checker.systems import Horizon, Question

_MOST_GROUPS = 3_000
"""Sets of states that the outputs so far leave possible; beyond, nothing is established about the source."""
_HALTED = "halted"


def establish_finite(
    source: Source, read: Question, question: Mapping[str, object], limits: Limits, work: Work
) -> Findings:
    """Refuse if the model is not that of the source; what was taken on trust, and what else must be said."""
    finite = _Finite(source, read, question, limits, work)
    return Findings(tuple(finite.establish()), tuple(finite.notes))


class _Finite:
    def __init__(
        self,
        source: Source,
        read: Question,
        question: Mapping[str, object],
        limits: Limits,
        work: Work,
    ) -> None:
        model = read.system
        assert isinstance(model, Model)
        self.source, self.model, self.horizon, self.limits, self.work = source, model, read.horizon, limits, work
        self.events = read.claim.events
        self.machine = Machine(source.functions, work)
        self.explorer = Explorer(self.machine)
        if model.open_ended:
            raise Beyond("a list of every length, whose loop only the compiler follows", PLACE)
        self.outputs = Outputs(source.member.get("outputs"))
        self.named = an_object(source.member.get("inputs"), f"{PLACE}.inputs")
        self.pairs = self._pairs(question)
        self.generator = source.mechanism.generator
        self.notes: list[str] = []
        if model.ending == "complete":
            refuse("a mechanism is not asked about complete runs alone", "question.scenario.words")
        if set(self.named) != set(model.inputs):
            refuse("the inputs are not those of the model", f"{PLACE}.inputs")

    def establish(self) -> list[str]:
        stream, private = self.source.stream, self.source.private
        if stream is not None and stream.public:
            return self._requests(stream)
        if stream is not None:
            if len(private) > 1 or self.source.relation == "function" or self.source.lengths_differ:
                raise Beyond("a private input beside a stream, or another relation than between its elements", PLACE)
            self._related(self.model.relation, stream)
            self._stream(stream, [self._begun(public) for public in self._situations()])
            return []
        if len(private) == 1 and self.source.relation != "function" and not self.source.lengths_differ:
            self._related(self.model.relation, private[0])
            if private[0].shape == "list":
                self._list(private[0])
                return []
        return self._data()

    def _pairs(self, question: Mapping[str, object]) -> list[tuple[Mass, Mass]]:
        """The pairs of initial distributions in the order of the document."""
        scenario = an_object(question.get("scenario"), "question.scenario")
        states = self.model.states
        found: list[tuple[Mass, Mass]] = []
        for i, item in enumerate(a_list(scenario.get("pairs") or [], "question.scenario.pairs")):
            pair = an_object(item, f"question.scenario.pairs[{i}]")
            sides = [
                a_distribution(pair.get(s), states, "state", f"question.scenario.pairs[{i}].{s}", self.limits)
                for s in ("left", "right")
            ]
            left, right = ({states[name]: mass for name, mass in side.items()} for side in sides)
            found.append((left, right))
        return found

    def _situations(self) -> list[dict[str, Value]]:
        """The values of the public inputs, in the order of the pairs of the scenario."""
        expected = self.source.public_values()
        if not self.pairs:
            if len(expected) != 1 or expected[0] or any(self._arguments(0)):
                refuse("the public inputs have values that the model leaves out", "question.scenario.pairs")
            return expected
        given = [self._arguments(i, ("left",))[0] for i in range(len(self.pairs))]
        self._some({data_key(each) for each in given}, {data_key(each) for each in expected})
        for i, (left, right) in enumerate(self.pairs):
            if left != right:
                refuse("public inputs are the same on both sides", f"question.scenario.pairs[{i}]")
        return given

    def _some(self, given: set[object], expected: set[object]) -> None:
        """Refuse situations that the mechanism has not; a question may ask about some of them."""
        if not given <= expected:
            refuse("a pair is none of the mechanism's", f"{PLACE}.pairs")
        if len(given) < len(expected):
            self.notes.append(f"of {len(expected)} pairs of initial distributions the question compares {len(given)}")

    def _arguments(self, number: int, sides: Sequence[str] = ("left", "right")) -> list[dict[str, Value]]:
        """The arguments that a pair of the scenario stands for."""
        listed = a_list(self.source.member.get("pairs"), f"{PLACE}.pairs")
        if len(listed) != max(1, len(self.pairs)):
            refuse("there is not one entry for every pair of the scenario", f"{PLACE}.pairs")
        place = f"{PLACE}.pairs[{number}]"
        given = an_object(listed[number], place)
        only_members(given, ("left", "right"), place)
        return [
            {
                name: read_value(value, f"{place}.{side}.{name}")
                for name, value in an_object(given.get(side), place).items()
            }
            for side in sides
        ]

    def _starts(self) -> list[Mass]:
        """How the model begins in every situation."""
        if self.pairs:
            return [left for left, _ in self.pairs]
        [start] = self.model.starts
        return [dict(start.left)]

    def _values(self, declared: Input) -> dict[str, Value]:
        """What the inputs of the model stand for: the values of one input, each once."""
        found = {}
        for name, value in self.named.items():
            place = f"{PLACE}.inputs.{name}"
            given = value if declared.shape != "value" else an_object(value, place).get(declared.name)
            found[name] = read_value(given, place)
        if declared.values is None or sorted(repr(key(v)) for v in found.values()) != sorted(
            repr(key(v)) for v in declared.values
        ):
            refuse("the inputs of the model are not the values of the input", f"{PLACE}.inputs")
        return found

    def _related(self, relation: Relation, declared: Input) -> None:
        """Refuse a relation of the model that is not that of the mechanism."""
        if relation.kind != self.source.relation or relation.distance != declared.within:
            refuse("the model has another neighbour relation than the mechanism", "question.scenario.neighbours")
        if declared.within is None and relation.kind == "monotone":
            refuse("records have no direction", "question.scenario.neighbours")
        if declared.within is not None:
            for name, value in self._values(declared).items():
                if isinstance(value, bool) or not isinstance(value, int) or relation.values[name] != rational(value):
                    refuse(f"the input {name[:40]!r} is read as another number", f"{PLACE}.inputs.{name}")

    def _run(self, arguments: Mapping[str, Value]) -> Run:
        """A run on arguments that are all given; a stream is read on the way."""
        stream = self.source.stream
        streams = {} if stream is None else {stream.name: Stream(stream.name)}
        return self.machine.begin({**self.source.parameters, **streams, **arguments})

    def _begun(self, arguments: Mapping[str, Value]) -> Law:
        return self.explorer.settle(self._run(arguments))

    def _branches(
        self, law: Law, target: Callable[[Rest], State], written: Callable[[Rest], tuple[Value, ...]]
    ) -> list[Branch]:
        """The branches of a law: what is shown, by its name, and where it leads."""
        found: list[Branch] = []
        for one, probability in law.items():
            shown = written(one)
            names = self.outputs.named(shown) if shown else [(None, ONE)]
            found += [(probability * p, name, target(one)) for name, p in names]
        return found

    def _data(self) -> list[str]:
        """One step reads a whole data set: compare the law of the output on each of them."""
        private = self.source.private
        if self.source.stream is not None or self.model.finish is None or len(self.model.steps) != 1:
            refuse("the model does not read a whole data set in one step", "question.steps")
        names = self._data_names(private)
        taken = []
        if len(private) > 1 or self.source.relation == "function" or self.source.lengths_differ:
            taken = self._listed(names)
        situations = self._situations()
        starts = self._starts()
        for public, start in zip(situations, starts, strict=True):
            for name, data in names.items():
                expected: dict[str, Rational] = {}
                for one, probability in self._begun({**public, **data}).items():
                    value = Shown(one.written) if self.generator else one.value
                    for output, p in self.outputs.named((value,)):
                        expected[output] = expected.get(output, ZERO) + probability * p
                if expected != self._model_law(start, name):
                    refuse(f"the program does not do what the model does on the input {name[:60]}", PLACE)
        return taken

    def _data_names(self, private: list[Input]) -> dict[str, dict[str, Value]]:
        found: dict[str, dict[str, Value]] = {}
        for name, value in self.named.items():
            place = f"{PLACE}.inputs.{name}"
            found[name] = {each: read_value(inner, place) for each, inner in an_object(value, place).items()}
        expected = combinations(private, shorter=self.source.lengths_differ)
        if sorted(data_key(data) for data in found.values()) != sorted(data_key(d) for d in expected):
            refuse("the inputs of the model are not the data sets of the mechanism", f"{PLACE}.inputs")
        return found

    def _listed(self, names: Mapping[str, Mapping[str, Value]]) -> list[str]:
        """Refuse listed pairs that are not all pairs of neighbours."""
        if self.model.relation.kind != "pairs":
            refuse("the model lists no pairs of data sets", "question.scenario.neighbours")
        if self.source.relation == "function":
            return ["which data sets are neighbours, which a function of the user says"]
        listed = set(self.model.relation.listed)
        self.work.spend(len(names) ** 2)
        expected = {
            ((one,), (other,))
            for one, left in names.items()
            for other, right in names.items()
            if neighbours(self.source, left, right)
        }
        if listed != expected:
            refuse("the listed pairs are not the neighbouring data sets", "question.scenario.neighbours")
        return []

    def _model_law(self, start: Mass, symbol: str) -> dict[str, Rational]:
        result: dict[str, Rational] = {}
        assert self.model.finish is not None
        for state, mass in start.items():
            assert isinstance(state, int)
            for output, branches in self.model.steps[0][state][symbol].items():
                if output is not None:
                    refuse("the model writes before the end", "question.steps[0]")
                for target, probability in branches:
                    for name, p in self.model.finish[target].items():
                        result[name] = result.get(name, ZERO) + mass * probability * p
        return {name: p for name, p in result.items() if p != 0}

    def _list(self, declared: Input) -> None:
        """Answers are read one a step."""
        size = declared.size
        if size is None or len(self.model.steps) != size or self.model.repeats:
            refuse("the model reads another number of answers than the list has", "question.steps")
        if self.model.finish is None and self.horizon != Horizon(size, size):
            refuse("the outputs of the whole list are compared", "question.horizon")
        collected = self.model.finish is not None
        if not collected and not self.generator:
            refuse("the output is shown at the end", "question.finish")
        if not collected and self.events:
            refuse("a list is given in advance: over events its outputs are shown at the end", "question.finish")
        values = self._values(declared)
        begins = []
        for public in self._situations():
            answers = Cells([UNREAD] * size, fixed=True, name=declared.name)
            begins.append(self._begun({**public, declared.name: answers}))
        if collected:
            begins = [_gathered((), law, generator=self.generator) for law in begins]
        steps: list[Mapping[State, Mapping[str, Sequence[Branch]]]] = []
        level = list(dict.fromkeys(one for begin in begins for one in begin))
        for number in range(size):
            table: dict[State, Mapping[str, Sequence[Branch]]] = {}
            following: dict[Rest, None] = {}
            for node in level:
                rows: dict[str, Sequence[Branch]] = {}
                for name, value in values.items():
                    law = self._answered(node, declared.name, number, value)
                    if collected:
                        law = _gathered(node.written, law, generator=self.generator) if node.run is not None else law
                        rows[name] = [(p, None, one) for one, p in law.items()]
                        following.update(dict.fromkeys(law))
                    else:
                        rows[name] = self._branches(law, _without_outputs, _after(node.written))
                        following.update(dict.fromkeys(map(_without_outputs, law)))
                table[node] = rows
            steps.append(table)
            level = list(following)
            self.work.spend(len(level))
        if any(node.run is not None for node in level):
            raise Beyond("the program waits after the last answer", PLACE)
        finish = None
        if collected:
            finish = {node: dict(self.outputs.named((node.value,))) for node in level}
        program = Transducer([_masses(begin) for begin in begins], steps, repeats=False, finish=finish)
        if not collected:
            self._aligned(program)
        agree(program, self._as_transducer(), self.work)

    def _answered(self, node: Rest, name: str, number: int, value: Value) -> Law:
        """Where a run rests after an answer; one that has ended stays where it is."""
        if node.run is None:
            return {rest(None, None, node.value, node.written if self.model.finish is not None else ()): ONE}
        return self.explorer.settle(self.machine.fed(node.run, name, number, value))

    def _aligned(self, program: Transducer) -> None:
        """Refuse unless the outputs so far tell how many outputs every step writes.

        Only then does showing outputs step by step tell no more than showing all of them at the end.
        """
        groups = {frozenset(state for start in program.starts for state in start)}
        for step in program.steps:
            following: set[frozenset[State]] = set()
            for group in groups:
                counts = set()
                onward: dict[str | None, set[State]] = {}
                for state in group:
                    for branches in step[state].values():
                        self.work.spend(len(branches))
                        for _, output, target in branches:
                            counts.add(self.outputs.lengths[output])
                            onward.setdefault(output, set()).add(target)
                if len(counts) > 1:
                    refuse("the outputs do not tell which step wrote them", "question.finish")
                following.update(map(frozenset, onward.values()))
            groups = following
            if len(groups) > _MOST_GROUPS:
                raise Beyond("too many cases of what the outputs tell about the steps", PLACE)

    def _requests(self, stream: Input) -> list[str]:
        """Every pair of neighbouring data sets, for every value of the public inputs, is a pair of beginnings."""
        if self.model.relation.kind != "same":
            refuse("what is asked for is the same on both sides", "question.scenario.neighbours")
        private = self.source.private
        given = [self._arguments(i) for i in range(len(self.pairs))]
        beginnings: dict[str, Law] = {}
        starts: list[Mass] = []
        laws: list[Law] = []
        for (left, right), arguments in zip(self.pairs, given, strict=True):
            for row, side in ((left, arguments[0]), (right, arguments[1])):
                name = data_key(side)
                if name not in beginnings:
                    if set(side) != {each.name for each in self.source.inputs.values() if each is not stream}:
                        refuse("a data set has a value for every input", f"{PLACE}.pairs")
                    beginnings[name] = self._begun(side)
                starts.append(row)
                laws.append(beginnings[name])
        taken = []
        if self.source.relation == "function":
            taken = ["which data sets are neighbours, which a function of the user says"]
            names = {each.name for each in private}
            for one, other in given:
                sides = ({n: v for n, v in side.items() if n not in names} for side in (one, other))
                if len(set(map(data_key, sides))) > 1:
                    refuse("public inputs are the same on both sides", f"{PLACE}.pairs")
            self._belonging(beginnings)
        else:
            self._all_pairs(private, given)
        self._stream(stream, laws, starts)
        return taken

    def _belonging(self, beginnings: Mapping[str, Law]) -> None:
        """Refuse values that no input may have."""
        known = {
            data_key({**public, **data})
            for public in self.source.public_values()
            for data in combinations(self.source.private, shorter=self.source.lengths_differ)
        }
        if not set(beginnings) <= known:
            refuse("a value is none of its input", f"{PLACE}.pairs")

    def _all_pairs(self, private: list[Input], given: list[list[dict[str, Value]]]) -> None:
        data = combinations(private, shorter=self.source.lengths_differ)
        publics = self.source.public_values()
        self.work.spend(len(data) ** 2 * len(publics))
        expected = {
            frozenset((data_key({**public, **left}), data_key({**public, **right})))
            for left in data
            for right in data
            if neighbours(self.source, left, right)
            for public in publics
        }
        self._some({frozenset((data_key(left), data_key(right))) for left, right in given}, set(expected))

    def _stream(self, stream: Input, begins: list[Law], starts: list[Mass] | None = None) -> None:
        """A step reads one element, and shows what is written until the next is asked for."""
        values = self._values(stream)
        repeats = self.model.repeats
        if self.model.finish is not None:
            refuse("a mechanism on a stream shows its outputs on the way", "question.finish")
        known: dict[Rest, dict[str, Sequence[Branch]]] = {}
        steps: list[Mapping[State, Mapping[str, Sequence[Branch]]]] = []
        level = list(dict.fromkeys(one for begin in begins for one in begin))
        count = None if repeats else len(self.model.steps)
        while level and (count is None or len(steps) < count):
            step: dict[State, Mapping[str, Sequence[Branch]]] = {}
            following: dict[Rest, None] = {}
            for node in level:
                if node not in known:
                    known[node] = {name: self._element(node, stream.name, value) for name, value in values.items()}
                step[node] = known[node]
                for branches in known[node].values():
                    for _, _, target in branches:
                        if isinstance(target, Rest) and not (repeats and target in known):
                            following[target] = None
            steps.append(step)
            level = list(following)
        if repeats:
            steps = [known]
        elif level and (self.horizon.high is None or self.horizon.high > len(steps)):
            refuse("the model stops before the longest stream that is compared", "question.steps")
        steps += [{}] * (len(self.model.steps) - len(steps))
        self._ends_told(known)
        program = Transducer([_masses(begin) for begin in begins], steps, repeats=repeats, finish=None)
        agree(program, self._as_transducer(starts), self.work)

    def _element(self, node: Rest, name: str, value: Value) -> list[Branch]:
        law: Law = {node: ONE}
        if node.run is not None:
            law = self.explorer.settle(self.machine.fed(node.run, name, None, value))

        def written(one: Rest) -> tuple[Value, ...]:
            shown = one.written if one is node else (*node.written, *one.written)
            if one.run is None:
                shown = shown if self.generator else (*shown, one.value)
                shown = (*shown, END) if self.outputs.ends else shown
            return shown

        return self._branches(law, lambda one: _HALTED if one.run is None else _without_outputs(one), written)

    def _ends_told(self, known: Mapping[Rest, Mapping[str, Sequence[Branch]]]) -> None:
        """Refuse if the outputs do not tell whether the run has ended."""
        ending: set[str | None] = set()
        going_on: set[str | None] = set()
        for rows in known.values():
            for branches in rows.values():
                for _, output, target in branches:
                    (ending if target == _HALTED else going_on).add(output)
        if None in ending or ending & going_on:
            refuse(
                "an observer sees that a run has ended, and the outputs of the model do not tell", f"{PLACE}.outputs"
            )

    def _as_transducer(self, starts: list[Mass] | None = None) -> Transducer:
        """The model of the certificate, in the shape in which it is compared."""
        steps = [
            {
                state: {
                    symbol: [(p, output, target) for output, branches in table.items() for target, p in branches]
                    for symbol, table in row.items()
                }
                for state, row in step.items()
            }
            for step in self.model.steps
        ]
        finish: Mapping[State, Mapping[str, Rational]] | None = None
        if self.model.finish is not None:
            finish = dict(self.model.finish)
        return Transducer(self._starts() if starts is None else starts, steps, self.model.repeats, finish)


def _after(before: tuple[Value, ...]) -> Callable[[Rest], tuple[Value, ...]]:
    """What is shown in a step: what was written before it, and in it."""
    return lambda one: (*before, *one.written)


def _masses(law: Law) -> Mass:
    result: dict[State, Rational] = {}
    for one, probability in law.items():
        result[one] = result.get(one, ZERO) + probability
    return result


def _without_outputs(one: Rest) -> Rest:
    """Where a run rests, what it has written being shown already."""
    return rest(one.run, one.key[0], one.value, ())


def _gathered(before: tuple[Value, ...], law: Law, *, generator: bool) -> Law:
    """Rests that keep what was written so far; at the end of a generator this is its output."""
    if not before and not generator:
        return law
    result: Law = {}
    for one, probability in law.items():
        written = (*before, *one.written)
        if one.run is None and generator:
            found = rest(None, None, Shown(written), ())
        else:
            found = rest(one.run, one.key[0], one.value, written)
        result[found] = result.get(found, ZERO) + probability
    return result
