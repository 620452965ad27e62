"""A mechanism of finite kind becomes a question about a transducer.

Three shapes:

* *list*: one private list.  The mechanism runs until it needs an answer that is not read yet; answers are fed to it one a step, in order,
  whatever order it asks for them in.  It ends after the last one, with one output.
* *whole*: one private value, or several inputs, or a relation of the user's own, or lists of different length (one has one element
  more, so that their length is private): one step reads the whole data set.
* *stream*: answers without end.  A step reads one answer and writes what the mechanism yields before it asks for the next.

Public inputs are the same on both sides: each of their values is a pair of equal initial distributions.  A generator on a list
writes one output a step where the outputs themselves tell which step wrote them; otherwise its outputs are collected
and shown at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product
from types import MappingProxyType
from typing import Any, NoReturn

from privproof.compiling.aggregates import walked
from privproof.compiling.exploring import Explorer, Rest, State
from privproof.compiling.largest import largest_kept
from privproof.compiling.lengths import open_model
from privproof.compiling.rewriting import Unsupported, counted, hoisted
from privproof.compiling.steps import Outcome, Steps, aligned, input_values, transducer, with_ends
from privproof.errors import BudgetError, LanguageError, QuestionError, ScenarioError
from privproof.exact import ONE, ZERO, Budget, Rational, log, rational
from privproof.language.flow import Flow, flow
from privproof.language.indices import OpenList
from privproof.language.inputs import Input
from privproof.language.mechanism import ADD_REMOVE, Mechanism, related_by
from privproof.language.syntax import Block, Element, Expression, Operation, Variable
from privproof.language.values import UNREAD, Answers, Cells, held, plain, shown_name, text
from privproof.language.walking import parts, reads, statements, writes
from privproof.models import Horizon, Transducer
from privproof.scenarios import Neighbours, Origin, Pair, Question, Scenario

_MOST_STATES = 5_000
"""States after as many answers: the word problem has matrices of this size for every letter. More are refused."""
_MOST_DATA_SETS = 5_000
"""Data sets, or values of public inputs, where they are listed one by one; more are refused."""
_MOST_VALUES = 1_000
"""Values of one entry: letters are pairs of them, so a million at the most. More are refused."""
_MOST_PAIRS = 50_000
"""Pairs of neighbours by a relation of the user's own, which are listed and compared one by one; more are refused."""


_ENDED = Rest.of(None, None, ())
"""Where a run on a stream is after it has ended and all it wrote is shown."""


def mechanism_question(
    mechanism: Mechanism,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    name: str | None = None,
    every_length: bool = False,
) -> Question:
    """The question that a mechanism poses.

    Args:
        mechanism: the mechanism.
        size: the length of its lists, where their declaration leaves it open; for a stream the largest number of answers.
        horizon: for a stream, the numbers of answers compared.
        name: how reports call it; by default its name with the size.
        every_length: whether the question is about lists of every length where no size is given, and the loop over the list allows it.

    Raises:
        LanguageError: the mechanism is outside the language, or has no finite model.
        QuestionError: the size is missing, or there is none to give.
    """
    try:
        return _Compiler(mechanism, size, horizon, every_length=every_length).question(name)
    except LanguageError as problem:
        raise (problem if problem.place else problem.at(mechanism.place)) from None


def given_in_advance(question: Question) -> Question:
    """The same question with all outputs of a generator on a list shown at the end, as one.

    A claim over events is about every adversary, who chooses the next inputs by the outputs so far.  On a stream it may; a list is
    given in advance, so nothing may be shown before all of it is read.  Without delta both are the same: one word decides.
    """
    origin, model = question.origin, question.model
    if origin is None or origin.fed is None or origin.collected or origin.mechanism.stream is not None:
        return question
    assert isinstance(model, Transducer)
    left_open = any(i.shape == "list" and i.size is None for i in origin.mechanism.inputs.values())
    compiler = _Compiler(origin.mechanism, len(model.steps) if left_open else None, None, collected=True)
    made = compiler.question(question.name)
    names = {pair.name for pair in question.scenario.pairs}
    pairs = tuple(pair for pair in made.scenario.pairs if pair.name in names)
    return replace(made, scenario=replace(made.scenario, pairs=pairs), budget=question.budget)


def summing_flow(mechanism: Mechanism) -> Flow:
    """The instructions of a mechanism, with ``sum`` and ``count`` of an input as loops: the sum so far is the state, and not the list."""
    summed = _summed_body(mechanism)
    if summed == mechanism.translated.body:
        return mechanism.flow
    lists = [name for name, declared in mechanism.inputs.items() if declared.shape == "list"]
    return flow(summed, lists, given=(*mechanism.inputs, *mechanism.parameters))


def _summed_body(mechanism: Mechanism) -> Block:
    """The statements of a mechanism, with ``sum`` and ``count`` of an input as loops where the input is only read."""
    body = mechanism.translated.body
    lists = {name: declared for name, declared in mechanism.inputs.items() if declared.shape == "list"}
    numbers = all(
        isinstance(value, int | Fraction) for declared in lists.values() for value in declared.values or ("",)
    )
    if not all(_only_read(body, name) for name in lists):
        return body
    body = counted(body, lists)
    if not numbers:
        return body
    try:
        return hoisted(body, mechanism)
    except Unsupported:
        return body


def _one_open_list(mechanism: Mechanism) -> bool:
    """Whether the length of one list is open, and this list is all that is private."""
    open_lists = [name for name, declared in mechanism.inputs.items() if declared.shape == "list" and not declared.size]
    private = [name for name, declared in mechanism.inputs.items() if not declared.public]
    relation = mechanism.neighbours
    return len(open_lists) == 1 and open_lists == private and not callable(relation)


def _open_claim(mechanism: Mechanism) -> tuple[Budget | None, Rational]:
    """The claim about lists of every length: a budget, and the rate at which e^epsilon grows with every element.

    Raises:
        QuestionError: the claim grows in another way.
    """
    try:
        return mechanism.budget(None), ONE
    except (LanguageError, BudgetError):
        try:
            found = [mechanism.budget(size) for size in _CLAIMED]
        except (LanguageError, BudgetError):
            return mechanism.budget(None), ONE
    bounds = [None if budget is None else budget.epsilon.bound for budget in found]
    numbers = [rational(bound) for bound in bounds if bound is not None]
    claim = mechanism.claim
    few = claim is not None and len(re.findall(r"\bsize\b", str(claim.epsilon))) <= _MOST_MENTIONS
    few = few and mechanism.neighbours != ADD_REMOVE
    if few and len(numbers) == len(found) and found[0] is not None and found[0].delta == 0:
        rate = numbers[1] / numbers[0]
        if all(later == rate * earlier for earlier, later in pairwise(numbers)):
            start = numbers[0] / rate ** _CLAIMED[0]
            if start >= 1:
                return Budget(log(start)), rate
    raise _how_long(
        next(name for name, declared in mechanism.inputs.items() if not declared.public),
        mechanism.name,
        LanguageError("budget", "the claim does not grow like ln(c) + size*ln(r) with rational c and r"),
    )


_CLAIMED = (1, 2, 3, 4, 5, 6, 7)
"""Sizes at which a claim is read to see how it grows: an expression that mentions the size twice is linear if it is at so many."""
_MOST_MENTIONS = 2
"""How often a claim may mention the size, so that it is known from its values at these sizes."""


def _how_long(name: str, place: str, problem: LanguageError | None = None) -> QuestionError:
    """That a size must be given, and why the question is not about every length."""
    why = ""
    if problem is not None:
        why = f" It is not asked about every length: {problem.message}{f', {problem.place}' if problem.place else ''}"
    hint = "--size 3, or size=3, or queries(0, 2, size=3)"
    return QuestionError("size", f"how long is {name}?{why}", place=place, hint=hint)


def _refuse_more(model: Transducer) -> None:
    """Refuse a mechanism whose output shows where an element stands, or how many there are."""
    if model.marks:
        raise LanguageError("length", "it returns an index, which one element more would move", hint="--size 3")
    rows = (row for table in model.steps[0].values() for row in table.values())
    if any(branch.output is not None for row in rows for branch in row):
        raise LanguageError("length", "it returns a list that is as long as that of the data", hint="--size 3")


_FAULTS = ("changed",)
"""Problems of a function that no size mends."""


def _only_read(body: Block, name: str) -> bool:
    """Whether a list is only read: element by element, its length or its sum; so that no other name stands for it, and none changes it."""

    def fine(expression: Expression) -> bool:
        match expression:
            case Variable(found):
                return found != name
            case Element(Variable(), index):
                return fine(index)
            case Operation("sum" | "len" | "turns", (Variable(),)):
                return True
            case Operation("count", (Variable(), wanted)):
                return fine(wanted)
            case _:
                return all(map(fine, parts(expression)))

    return all(writes(statement) != name and all(map(fine, reads(statement))) for statement in statements(body))


@dataclass(frozen=True)
class _Start:
    """One value of the public inputs."""

    name: str
    public: Mapping[str, Any]
    store: dict[str, Any] = field(compare=False)


class _Compiler:
    def __init__(
        self,
        mechanism: Mechanism,
        size: int | None,
        horizon: Horizon | None,
        *,
        collected: bool = False,
        every_length: bool = False,
    ) -> None:
        self.collected = collected
        self.mechanism = mechanism.pinned()
        self.horizon = horizon
        if horizon is not None and horizon.high is not None:  # a run may end before the last answer
            self.horizon = Horizon.up_to(horizon.high)
        self.explorer = Explorer(summing_flow(self.mechanism))
        self.generator = mechanism.generator
        self.private = {n: i for n, i in mechanism.inputs.items() if not i.public}
        self.public = {n: i for n, i in mechanism.inputs.items() if i.public and i.shape != "stream"}
        self.stream = mechanism.stream
        self.place = mechanism.name
        self.every_length = every_length and size is None and _one_open_list(mechanism)
        self.sizes = self._sizes(size)
        self.rate = ONE
        if self.every_length:
            self.budget, self.rate = _open_claim(mechanism)
        else:
            self.budget = mechanism.budget(max(self.sizes.values(), default=size))
        if self.stream is not None and size is not None:
            if horizon is not None:
                raise QuestionError(
                    "size", "a size and a horizon for one stream", place="size", hint="give one of the two"
                )
            self.horizon = Horizon.up_to(size)
        for name, declared in mechanism.inputs.items():
            if declared.values is None:
                self.refuse(
                    "input",
                    f"{name}: {declared} has no finite set of values",
                    "give both bounds, such as queries(0, 10)",
                )
            if len(declared.values) > _MOST_VALUES:
                self.refuse(
                    "size",
                    f"{name}: {declared} has {len(declared.values)} values, more than {_MOST_VALUES}",
                    "a smaller range; what is proved for it is not proved for a larger one",
                )

    def refuse(self, code: str, message: str, hint: str) -> NoReturn:
        """The mechanism does not become a question, for a reason that its author can do something about."""
        raise LanguageError(code, message, place=self.place, hint=hint)

    def _sizes(self, size: int | None) -> dict[str, int]:
        lists = {n: i for n, i in self.mechanism.inputs.items() if i.shape == "list"}
        open_ended = [n for n, i in lists.items() if i.size is None]
        if open_ended and size is None and not self.every_length:
            raise _how_long(open_ended[0], self.place)
        if size is not None and not open_ended and self.stream is None:
            raise QuestionError("size", "no list of open length takes it", place="size", hint="drop the size")
        if size is not None and size < 1:
            raise QuestionError("size", f"size={size}: a list has at least one element", place="size", hint="size=3")
        return {n: i.size or size or 0 for n, i in lists.items()}

    # ----------------------------------------------------------------------------------------------------------- stores

    def _lengths(self, name: str, declared: Input) -> tuple[int, ...]:
        """The lengths of a list: with one element added or removed, two."""
        longest = self.sizes[name]
        open_ended = declared.size is None and not declared.public
        return (longest - 1, longest) if open_ended and self.mechanism.neighbours == ADD_REMOVE else (longest,)

    def _all_values(self, name: str, declared: Input) -> Iterator[Any]:
        assert declared.values is not None
        if declared.shape == "list":
            if len(declared.values) ** self.sizes[name] > _MOST_DATA_SETS:
                self.refuse(
                    "size",
                    f"{name} has {len(declared.values)}^{self.sizes[name]} values, more than {_MOST_DATA_SETS}",
                    "a smaller size or range",
                )
            for length in self._lengths(name, declared):
                yield from (Answers(values) for values in product(declared.values, repeat=length))
        else:
            yield from declared.values

    def _starts(self) -> list[_Start]:
        """Every value of the public inputs, with the parameters in place."""
        parameters = {name: held(value) for name, value in self.mechanism.parameters.items()}
        starts = []
        for values in product(*(self._all_values(n, i) for n, i in self.public.items())):
            chosen = dict(zip(self.public, values, strict=True))
            name = ", ".join(f"{n}={text(v) if not isinstance(v, Answers) else list(v)}" for n, v in chosen.items())
            starts.append(
                _Start(name or "neighbours", {n: plain(v) for n, v in chosen.items()}, {**parameters, **chosen})
            )
            if len(starts) > _MOST_DATA_SETS:
                self.refuse("size", f"the public inputs have more than {_MOST_DATA_SETS} values", "fewer values")
        return starts

    # -------------------------------------------------------------------------------------------------------- questions

    def question(self, name: str | None) -> Question:
        only = next(iter(self.private.values()))
        relation = self.mechanism.neighbours
        if self.stream is not None and self.mechanism.inputs[self.stream].public:
            return self._requested(relation, name)
        if self.stream is not None:
            if len(self.private) > 1:
                self.refuse("input", "a private input beside a stream", "make it public(...), or drop the stream")
            if callable(relation) or relation == ADD_REMOVE:
                said = "a relation of your own on a stream" if callable(relation) else "one element more on a stream"
                self.refuse("neighbours", said, "each, one or monotone")
            return self._streaming(str(relation), name)
        if self.horizon is not None and self.horizon.high is not None:
            raise QuestionError(
                "horizon", "the mechanism reads no stream, so its size counts", place="--horizon", hint="--size 3"
            )
        if self.every_length:
            return self._every_length(str(relation), name)
        if len(self.private) == 1 and not callable(relation) and relation != ADD_REMOVE:
            if only.shape == "list":
                return self._listed(str(relation), name)
            return self._whole(str(relation), name)
        return self._data_sets(relation, name)

    def _listed(self, relation: str, name: str | None) -> Question:
        ((fed, declared),) = self.private.items()
        size = self.sizes[fed]
        starts = self._starts()
        begins = []
        for start in starts:
            store = {**start.store, fed: Answers((UNREAD,) * size)}
            begins.append(self.explorer.settle(self.explorer.state(0, store)))
        steps = self._levels(begins, declared, size, lambda state, k, v: self._fed(state, fed, k, v), collected=False)
        horizon = Horizon.exactly(size)
        finished = not self.generator
        if not finished and (self.collected or not aligned(begins, steps)):
            steps = self._levels(
                begins, declared, size, lambda state, k, v: self._fed(state, fed, k, v), collected=True
            )
            begins = [_summed((self._collected((), rest), p) for rest, p in begin.items()) for begin in begins]
            finished = True
        model, initial, outputs = transducer(
            begins, steps, declared, self._state_name, finished=finished, repeats=False
        )
        return Question(
            model=model,
            scenario=Scenario(pairs=_pairs(model, starts, initial), neighbours=_neighbours(relation, declared)),
            horizon=None if finished else horizon,
            budget=self.budget,
            name=name or f"{self.mechanism.name} ({size} {_counted(declared, size)})",
            origin=self._origin(fed, input_values(declared), outputs, starts, collected=finished),
        )

    def _every_length(self, relation: str, name: str | None) -> Question:
        ((fed, declared),) = self.private.items()
        starts = self._starts()
        mechanism = self.mechanism
        lists = [n for n, i in mechanism.inputs.items() if i.shape == "list"]
        body, least = largest_kept(walked(_summed_body(mechanism), fed))
        try:
            if least and relation == ADD_REMOVE:
                raise LanguageError("length", "it fails on the empty list", hint="if not q: return ...")
            made = open_model(
                body,
                lists,
                (*mechanism.inputs, *mechanism.parameters),
                fed,
                declared,
                [start.store for start in starts],
                self._state_name_in,
                constants=mechanism.parameters,
                generator=self.generator,
            )
            if relation == ADD_REMOVE:
                _refuse_more(made.model)
        except LanguageError as problem:
            if problem.code in _FAULTS:
                raise
            raise _how_long(fed, self.place, problem) from None
        neighbours = _neighbours(relation, declared)
        origin = self._origin(fed, made.inputs, made.outputs, starts, collected=True)
        origin = replace(origin, least=least)
        return Question(
            model=made.model,
            scenario=Scenario(pairs=_pairs(made.model, starts, made.begins), neighbours=neighbours),
            budget=self.budget,
            name=name or f"{mechanism.name} (lists of every length)",
            origin=origin,
            rate=self.rate,
        )

    def _fed(self, state: State, fed: str, number: int, value: Any) -> State:
        store = state.store(self.explorer.flow)
        answers = store[fed]
        if answers[number] is UNREAD:
            store[fed] = Answers((*answers[:number], value, *answers[number + 1 :]))
        return self.explorer.state(state.at, store)

    def _whole(self, relation: str, name: str | None) -> Question:
        ((fed, declared),) = self.private.items()
        assert declared.values is not None
        data = {v: {fed: v} for v in declared.values}
        named = {n: {fed: v} for n, v in input_values(declared).items()}
        return self._at_once(declared, data, named, _neighbours(relation, declared), name or self.mechanism.name)

    def _at_once(
        self,
        declared: Input,
        data: Mapping[Any, Mapping[str, Any]],
        named: Mapping[str, Any],
        neighbours: Neighbours,
        name: str,
    ) -> Question:
        """The question about a mechanism that reads all its data in one step: by symbol, and as plain values by name."""
        starts = self._starts()
        steps = self._one_step(starts, data)
        model, initial, outputs = transducer(
            [{r: ONE} for r in steps[0]], steps, declared, self._state_name, finished=True, repeats=False
        )
        return Question(
            model=model,
            scenario=Scenario(pairs=_pairs(model, starts, initial), neighbours=neighbours),
            budget=self.budget,
            name=name,
            origin=self._origin(None, named, outputs, starts, collected=True),
        )

    def _neighbouring(self, relation: Any) -> tuple[list[tuple[Any, ...]], list[tuple[int, int]]]:
        """All data sets, and which of them (by number) are neighbours."""
        count = 1
        for name, declared in self.private.items():
            assert declared.values is not None
            lengths = self._lengths(name, declared) if declared.shape == "list" else (1,)
            count *= sum(len(declared.values) ** length for length in lengths)
        if count > _MOST_DATA_SETS:
            self.refuse("size", f"{count} data sets are more than {_MOST_DATA_SETS}", "smaller ranges")
        data = list(product(*(list(self._all_values(n, i)) for n, i in self.private.items())))
        if relation == ADD_REMOVE:
            found = self._one_more(data)
        else:
            found = [
                (i, j)
                for i, x in enumerate(data)
                for j in range(i + 1, len(data))
                if self._related(relation, x, data[j])
            ]
        if not found:
            raise ScenarioError(
                "empty-relation",
                "no two data sets are neighbours",
                place=self.place,
                hint="widen the relation or the ranges",
            )
        if len(found) > _MOST_PAIRS:
            self.refuse("size", f"{len(found)} pairs of neighbours are more than {_MOST_PAIRS}", "smaller ranges")
        return data, found

    def _one_more(self, data: Sequence[tuple[Any, ...]]) -> list[tuple[int, int]]:
        """The pairs of data sets of which one has one element more in its list, and is otherwise the same; the shorter one first.

        Raises:
            LanguageError: there is not exactly one private list of open length.
        """
        opened = [i for i, each in enumerate(self.private.values()) if each.shape == "list" and each.size is None]
        if len(opened) != 1:
            self.refuse(
                "neighbours",
                f"elements are added to one list of open length, and here are {len(opened)}",
                "one private list without a size, such as records('yes', 'no')",
            )
        (place,) = opened

        def key(values: tuple[Any, ...]) -> tuple[str, ...]:
            return tuple(text(plain(value)) for value in values)

        numbers = {key(values): number for number, values in enumerate(data)}
        found: dict[tuple[int, int], None] = {}
        for number, values in enumerate(data):
            listed = tuple(values[place])
            for gone in range(len(listed)):
                shorter = Answers(listed[:gone] + listed[gone + 1 :])
                other = numbers.get(key((*values[:place], shorter, *values[place + 1 :])))
                if other is not None:
                    found[other, number] = None
        return list(found)

    def _data_sets(self, relation: Any, name: str | None) -> Question:
        names = list(self.private)
        data, found = self._neighbouring(relation)
        symbols = {d: text(tuple(map(plain, d)) if len(d) > 1 else plain(d[0])) for d in data}
        listed = [((symbols[data[i]],), (symbols[data[j]],)) for i, j in found]
        by_symbol = {symbols[d]: dict(zip(names, d, strict=True)) for d in data}
        named = {symbol: {n: plain(v) for n, v in values.items()} for symbol, values in by_symbol.items()}
        declared = Input("value", tuple(symbols.values()), None, "")
        return self._at_once(declared, by_symbol, named, Neighbours.pairs(listed), name or self._sized_name(relation))

    def _sized_name(self, relation: Any) -> str:
        """How reports call the mechanism; with lists of two lengths both are named."""
        if relation != ADD_REMOVE:
            return self.mechanism.name
        (size,) = {self.sizes[n] for n, i in self.private.items() if i.shape == "list" and i.size is None}
        return f"{self.mechanism.name} (sizes {size - 1} and {size})"

    def _related(self, relation: Any, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
        if callable(relation):
            return related_by(relation, list(map(plain, left)), list(map(plain, right)), self.place)
        changes = []
        for declared, x, y in zip(self.private.values(), left, right, strict=True):
            for v, w in zip(x, y, strict=True) if declared.shape == "list" else ((x, y),):
                if v != w:
                    if declared.within is None and relation == "monotone":
                        raise _without_order(declared)
                    if declared.within is not None and abs(v - w) > declared.within:
                        return False
                    changes.append(0 if declared.within is None else 1 if v < w else -1)
        if relation == "one":
            return len(changes) == 1
        return bool(changes) and (relation == "each" or abs(sum(changes)) == len(changes))

    def _one_step(self, starts: list[_Start], data: Mapping[Any, Mapping[str, Any]]) -> Steps:
        """One step that reads everything."""
        table: dict[Rest, dict[Any, list[Outcome]]] = {}
        for number, start in enumerate(starts):
            rows: dict[Any, list[Outcome]] = {}
            for symbol, values in data.items():
                settled = self.explorer.settle(self.explorer.state(0, {**start.store, **values}))
                rows[symbol] = [(p, self._collected((), rest), None) for rest, p in settled.items()]
            table[Rest(None, None, (), ("start", number, start.name))] = rows
        return [table]

    def _collected(self, before: tuple[Any, ...], rest: Rest) -> Rest:
        """A rest that keeps what was written so far; at the end of a generator this is its output."""
        written = (*before, *rest.written)
        if rest.state is None and self.generator:
            return Rest.of(None, Cells(written), ())
        return Rest.of(rest.state, rest.value, written)

    def _levels(
        self,
        begins: list[dict[Rest, Rational]],
        declared: Input,
        size: int,
        feed: Callable[[State, int, Any], State],
        *,
        collected: bool,
    ) -> Steps:
        """Step by step: what each answer leads to from each state."""
        assert declared.values is not None
        level = {rest: None for begin in begins for rest in begin}
        if collected:
            level = {self._collected((), rest): None for rest in level}
        steps: Steps = []
        generator = self.generator
        for number in range(size):
            table: dict[Rest, dict[Any, list[Outcome]]] = {}
            following: dict[Rest, None] = {}
            for node in level:
                rows: dict[Any, list[Outcome]] = {}
                ended = Rest.of(None, node.value, ()) if generator and not collected else node
                for value in declared.values:
                    shown: tuple[Any, ...] | None
                    if node.state is None:
                        shown = node.written if generator and not collected and node.written else None
                        rows[value] = [(ONE, ended, shown)]
                        following[ended] = None
                        continue
                    rows[value] = []
                    for rest, p in self.explorer.settle(feed(node.state, number, value)).items():
                        if collected or not generator:
                            target, shown = self._collected(node.written, rest), None
                        else:
                            target = Rest.of(rest.state, rest.value, ())
                            shown = (*node.written, *rest.written) or None
                        rows[value].append((p, target, shown))
                        following[target] = None
                table[node] = rows
            steps.append(table)
            level = following
            if len(level) > _MOST_STATES:
                self.refuse(
                    "states",
                    f"more than {_MOST_STATES} states after {number + 1} answers; one of them: {self._state_name(next(reversed(level)))}",
                    "a smaller size, or forget what is not needed",
                )
        return steps

    def _streaming(self, relation: str, name: str | None) -> Question:
        assert self.stream is not None
        starts = self._starts()
        begins = [self.explorer.settle(self.explorer.state(0, start.store)) for start in starts]
        model, initial, outputs = self._stream_model(begins)
        declared = self.private[self.stream]
        scenario = Scenario(
            pairs=_pairs(model, starts, initial),
            neighbours=_neighbours(relation, declared),
        )
        origin = self._origin(self.stream, input_values(declared), outputs, starts, collected=False)
        return self._stream_question(model, scenario, origin, name)

    def _stream_question(self, model: Transducer, scenario: Scenario, origin: Origin, name: str | None) -> Question:
        return Question(
            model=model,
            scenario=scenario,
            horizon=self.horizon,
            budget=self.budget,
            name=name or self.mechanism.name,
            origin=origin,
        )

    def _requested(self, relation: Any, name: str | None) -> Question:
        """A public stream: the observer asks, a private data set is asked about; pairs of data sets are compared."""
        assert self.stream is not None
        names = list(self.private)
        data, found = self._neighbouring(relation)
        starts = self._starts()
        begins = []
        for start in starts:
            for number, values in enumerate(data):
                store = {**start.store, **dict(zip(names, values, strict=True))}
                settled = self.explorer.settle(self.explorer.state(0, store))
                begins.append({replace(r, key=(*r.key, ("data set", number))): p for r, p in settled.items()})
        model, initial, outputs = self._stream_model(begins)
        pairs, situations = [], {}
        for number, start in enumerate(starts):
            for i, j in found:
                sides = [{**start.public, **{n: plain(v) for n, v in zip(names, data[k], strict=True)}} for k in (i, j)]
                label = " ~ ".join(", ".join(f"{n}={v!r}" for n, v in side.items()) for side in sides)
                rows = [initial[number * len(data) + k] for k in (i, j)]
                pairs.append(Pair.of(model, label, rows[0], rows[1]))
                situations[label] = (MappingProxyType(sides[0]), MappingProxyType(sides[1]))
        declared = self.mechanism.inputs[self.stream]
        origin = Origin(
            self.mechanism, self.stream, input_values(declared), outputs, MappingProxyType(situations), collected=False
        )
        return self._stream_question(model, Scenario(pairs=tuple(pairs)), origin, name)

    def _stream_model(
        self, begins: list[dict[Rest, Rational]]
    ) -> tuple[Transducer, list[dict[str, Rational]], Mapping[str, Any]]:
        """The states that a stream leads through from its beginnings: finitely many, or as many as the horizon needs."""
        assert self.stream is not None
        declared = self.mechanism.inputs[self.stream]
        generator = self.generator
        longest = None if self.horizon is None else self.horizon.high
        known: dict[Rest, dict[Any, list[Outcome]]] = {}
        first = list(dict.fromkeys(rest for begin in begins for rest in begin))
        steps: Steps = []
        level, closed, read = first, False, 0
        while not closed and (longest is None or read < longest):
            new = [node for node in level if node != _ENDED and node not in known]
            for node in new:
                known[node] = self._stream_step(node, declared, generator=generator)
                if len(known) > _MOST_STATES:
                    self.refuse(
                        "states",
                        f"more than {_MOST_STATES} states after {read} answers; one of them: {self._state_name(node)}",
                        "--horizon 10 for streams of up to 10 answers, or forget what is not needed",
                    )
            reading = [node for node in (new if longest is None else level) if node != _ENDED]
            if longest is not None:
                steps.append({node: known[node] for node in reading})
            read += 1
            level = list(dict.fromkeys(t for node in reading for row in known[node].values() for _, t, _ in row))
            closed = all(node in known or node == _ENDED for node in level)
        if closed:
            steps = [known]
        return transducer(begins, with_ends(steps), declared, self._state_name, finished=False, repeats=closed)

    def _stream_step(self, node: Rest, declared: Input, *, generator: bool) -> dict[Any, list[Outcome]]:
        assert declared.values is not None
        rows: dict[Any, list[Outcome]] = {}
        for value in declared.values:
            if node.state is None:  # ended before the first element: what it wrote shows at the first
                shown = node.written if generator else (*node.written, node.value)
                rows[value] = [(ONE, _ENDED, shown or None)]
                continue
            rows[value] = []
            for rest, p in self.explorer.settle(self.explorer.given(node.state, value)).items():
                written = (*node.written, *rest.written)
                if rest.state is None and not generator:
                    written = (*written, rest.value)
                target = Rest.of(rest.state, None, ())
                rows[value].append((p, target, written or None))
        return rows

    # ------------------------------------------------------------------------------------------------------- the model

    def _state_name(self, rest: Rest) -> str:
        return self._state_name_in(self.explorer, rest)

    def _state_name_in(self, explorer: Explorer, rest: Rest) -> str:
        if rest.key[0] == "start":
            return "start" if rest.key[2] == "neighbours" else f"start, {rest.key[2]}"
        written = f" after {' '.join(map(text, rest.written))}" if rest.written else ""
        if rest.state is None:
            return f"ended: {text(rest.value)}{written}" if rest.value is not None else f"ended{written}"
        flow = explorer.flow
        shown = [
            f"{shown_name(n)}={text(v)}"
            for n, v in rest.state.store(flow).items()
            if (not n.startswith("#") or "." in n)
            and not isinstance(v, Answers | OpenList)
            and n not in self.mechanism.parameters
        ]
        return f"line {flow.code[rest.state.at].place.line}{': ' if shown else ''}{', '.join(shown)}{written}"

    def _origin(
        self,
        fed: str | None,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        starts: list[_Start],
        *,
        collected: bool,
    ) -> Origin:
        public = {start.name: (start.public, start.public) for start in starts}
        return Origin(self.mechanism, fed, inputs, outputs, MappingProxyType(public), collected=collected)


def _counted(declared: Input, size: int) -> str:
    what = "record" if declared.within is None else "query"
    return what if size == 1 else {"record": "records", "query": "queries"}[what]


def _summed(parts: Iterable[tuple[Rest, Rational]]) -> dict[Rest, Rational]:
    result: dict[Rest, Rational] = {}
    for rest, p in parts:
        result[rest] = result.get(rest, ZERO) + p
    return result


def _pairs(model: Transducer, starts: list[_Start], initial: Sequence[Mapping[str, Rational]]) -> tuple[Pair, ...]:
    if len(starts) == 1 and not starts[0].public:
        return ()
    return tuple(Pair.of(model, s.name, row, row) for s, row in zip(starts, initial, strict=True))


def _neighbours(relation: str, declared: Input) -> Neighbours:
    if relation == ADD_REMOVE:
        return Neighbours.add_remove()
    make = {"each": Neighbours.each, "one": Neighbours.one, "monotone": Neighbours.monotone}[relation]
    if relation == "monotone" and declared.within is None:
        raise _without_order(declared)
    return make(within=declared.within)


def _without_order(declared: Input) -> LanguageError:
    return LanguageError(
        "neighbours", f"{declared} has no order, so nothing moves in one direction", hint='neighbours="one"'
    )
