"""Stream automata in model files: ``kind: stream-automaton``.

A state says which noise its step draws; a transition says where it leads, when it is taken, what it writes and which threshold takes the
sample.  The comparisons of ``when`` are written as in Python::

    states:
      start: {scale: 2, reads: nothing}
      wait: {scale: 4}
      done: {}
    transitions:
      - {from: start, to: wait, store: x}
      - {from: wait, to: wait, when: sample < x, output: below}
      - {from: wait, to: done, when: sample >= x, output: above}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privproof.errors import FormatError, ModelError, PrivproofError, ScenarioError
from privproof.exact import ONE, ZERO, Rational, rational
from privproof.exact.parsing import UNREADABLE, Lexicon
from privproof.formats import document_fields as fields
from privproof.formats.document_nodes import DocumentTable, Exact, Node, Scalar, Series, from_plain
from privproof.models.finite_distributions import known_name
from privproof.models.stream_automaton import (
    Order,
    StreamAutomaton,
    StreamSample,
    StreamValue,
    Term,
    Transition,
    guard_words,
)
from privproof.scenarios import StreamQuestion

KEYS = ("initial", "transitions")
_STATE = ("scale", "rate", "fresh", "mean", "reads", "noise")
_TRANSITION = ("from", "to", "when", "output", "store")
_RELATIONS = ("each", "one", "monotone")
_WORDS = ("sample", "fresh", "and", "or", "of")
_NAME = r"[A-Za-z_][A-Za-z_0-9']*(?:\[[0-9]+\])*"
_LEXICON = Lexicon(sign="<=|>=|[-<>+]", number=r"[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?", name=_NAME)
_SCENARIO = "scenario: {neighbours: {relation: each, within: 1}}"


@dataclass(frozen=True)
class _State:
    """The noise of a state's step.

    Attributes:
        rates: the rate of the sample of each threshold; under None the one of all others.
        fresh: the rate of the second sample, if there is one.
        reads: whether a number of the stream is read.
        mean: the constant that is added to it.
        separate: whether every threshold is compared with a sample of its own.
        noisy: whether anything is drawn.
    """

    rates: Mapping[str | None, Rational | None]
    fresh: tuple[Rational | None] | None
    reads: bool
    mean: Rational
    separate: bool
    noisy: bool


def read_automaton(root: DocumentTable) -> StreamAutomaton:
    """The stream automaton in a document."""
    states = {
        str(name): _state(entry, f"states.{name}")
        for name, entry in fields.required_field(
            root, "states", fields.table, hint="states: {start: {scale: 2, reads: nothing}, wait: {scale: 4}, done: {}}"
        ).items()
    }
    if not states:
        raise ModelError("names", "there is no state", place="states", hint="name at least one state")
    initial = fields.optional(root, "initial", fields.name)
    listed = fields.required_field(
        root,
        "transitions",
        fields.series,
        hint="transitions: [{from: wait, to: done, when: sample >= x, output: above}]",
    )
    thresholds = _thresholds(listed)
    transitions = tuple(
        _transition(entry, f"transitions[{number}]", states, thresholds) for number, entry in enumerate(listed)
    )
    return StreamAutomaton(
        states=tuple(states), initial=next(iter(states)) if initial is None else initial, transitions=transitions
    )


def read_scenario(root: DocumentTable) -> tuple[str, Rational]:
    """The neighbour relation of a document, and by how much a number may change."""
    node = root.get(Scalar("scenario"))
    if node is None:
        raise ScenarioError("no-scenario", "the file does not say which streams must look alike", hint=_SCENARIO)
    scenario = fields.table(node, "scenario", hint=_SCENARIO)
    fields.known_keys(scenario, ("neighbours",), "scenario")
    given = fields.required_field(scenario, "neighbours", fields.table, "scenario", hint=_SCENARIO)
    place = "scenario.neighbours"
    fields.known_keys(given, ("relation", "within"), place)
    relation = fields.required_field(
        given, "relation", lambda entry, at: fields.one_of(entry, _RELATIONS, at), place, hint="relation: each"
    )
    within = fields.optional(given, "within", fields.number, place)
    if within is not None and within <= 0:
        raise ScenarioError("neighbours", f"within={within} is not above 0", place=f"{place}.within", hint="within: 1")
    return relation, ONE if within is None else within


def _state(node: Node, place: str) -> _State:
    given = fields.table(node, place, hint="{scale: 4}, or {} for a state without transitions")
    fields.known_keys(given, _STATE, place)
    noise = fields.optional(given, "noise", lambda n, at: fields.one_of(n, ("shared", "separate"), at), place)
    reads = fields.optional(given, "reads", lambda n, at: fields.one_of(n, ("number", "nothing"), at), place)
    mean = fields.optional(given, "mean", fields.number, place)
    both = [key for key in ("scale", "rate") if Scalar(key) in given]
    if len(both) > 1:
        raise FormatError("shape", "both a scale and a rate are given", place=f"{place}.rate", hint="rate is 1/scale")
    rates: dict[str | None, Rational | None] = {}
    for key in both:
        entry, here = given[Scalar(key)], f"{place}.{key}"
        if isinstance(entry, DocumentTable):
            if noise != "separate":
                raise FormatError("shape", f"a {key} for each threshold", place=here, hint="noise: separate")
            rates = {str(name): _rate(n, f"{here}.{name}", key) for name, n in entry.items()}
        else:
            rates = {None: _rate(entry, here, key)}
    fresh = fields.optional(given, "fresh", _fresh, place)
    return _State(rates, fresh, reads != "nothing", ZERO if mean is None else mean, noise == "separate", bool(both))


def _fresh(node: Node, place: str) -> tuple[Rational | None]:
    if isinstance(node, DocumentTable):
        fields.known_keys(node, ("scale", "rate"), place)
        if len(node) != 1:
            raise FormatError("shape", "one of scale and rate is needed", place=place, hint="fresh: {scale: 2}")
        key, entry = next(iter(node.items()))
        return (_rate(entry, f"{place}.{key}", str(key)),)
    return (_rate(node, place, "scale"),)


def _rate(node: Node, place: str, key: str) -> Rational | None:
    number = fields.number(node, place)
    if number < 0 or (key == "rate" and number == 0):
        raise ModelError("rate", f"{key}={number} is not above 0", place=place, hint="scale: 4; scale: 0 for no noise")
    if key == "rate":
        return number
    return None if number == 0 else 1 / number


def _thresholds(listed: Series) -> tuple[str, ...]:
    """The names that some transition stores, in order."""
    found: dict[str, None] = {}
    for number, entry in enumerate(listed):
        given = fields.table(entry, f"transitions[{number}]", hint="{from: wait, to: done, when: sample >= x}")
        for name in fields.optional(given, "store", _several, f"transitions[{number}]") or ():
            if not re.fullmatch(_NAME, name) or name in _WORDS:
                raise ModelError(
                    "names",
                    f"{name!r} is no name of a threshold",
                    place=f"transitions[{number}].store",
                    hint=f"letters and digits, and none of {', '.join(_WORDS)}",
                )
            found.setdefault(name)
    return tuple(found)


def _several(node: Node, place: str) -> tuple[str, ...]:
    return (fields.name(node, place),) if isinstance(node, Scalar) else fields.names(node, place)


def _transition(node: Node, place: str, states: Mapping[str, _State], thresholds: tuple[str, ...]) -> Transition:
    given = fields.table(node, place)
    fields.known_keys(given, _TRANSITION, place)
    source = fields.required_field(given, "from", fields.name, place, hint="from: wait")
    target = fields.required_field(given, "to", fields.name, place, hint="to: done")
    known_name(source, among=states, what="state", place=f"{place}.from")
    known_name(target, among=states, what="state", place=f"{place}.to")
    step = _Samples(states[source], source, place)
    when = fields.optional(given, "when", fields.text, place)
    guard, some = ((), False) if when is None else _guard(when, step, thresholds, f"{place}.when")
    stores = tuple(
        (name, step.of(name, f"{place}.store")) for name in fields.optional(given, "store", _several, place) or ()
    )
    symbol, values = "", list[StreamValue]()
    for number, part in enumerate(fields.optional(given, "output", _several, place) or ()):
        value = _value(part, step, thresholds, f"{place}.output")
        if value is not None:
            values.append(value)
        elif number == 0:
            symbol = part
        else:
            raise FormatError(
                "output", f"{part!r} is no noisy number", place=f"{place}.output", hint="output: [above, fresh]"
            )
    dots = ", ".join("·" for _ in values)
    shown = f"({symbol}, {dots})" if symbol and values else symbol or dots
    return Transition(source, target, tuple(step.drawn), guard, some, stores, shown, tuple(values))


class _Samples:
    """The samples that a transition uses, as they come to be used."""

    def __init__(self, state: _State, name: str, place: str) -> None:
        self.state, self.name, self.place = state, name, place
        self.drawn: list[StreamSample] = []
        self.numbers: dict[object, int] = {}
        if not state.separate and state.noisy:
            self._add("", state.rates[None])

    def _add(self, key: object, rate: Rational | None) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.drawn)
            self.drawn.append(StreamSample(rate, 1 if self.state.reads else 0, self.state.mean))
        return self.numbers[key]

    def of(self, threshold: str | None, place: str) -> int:
        """The sample that belongs to a threshold."""
        if not self.state.noisy:
            raise ModelError(
                "noise", f"the state {self.name!r} draws no sample", place=place, hint=f"{self.name}: {{scale: 4}}"
            )
        if not self.state.separate:
            return 0
        if threshold is None:
            raise ModelError(
                "noise", f"which sample of state {self.name!r} is meant?", place=place, hint="output: sample of x"
            )
        rates = self.state.rates
        if threshold not in rates and None not in rates:
            raise ModelError("noise", f"there is no scale for {threshold!r}", place=place, hint=f"{threshold}: 4")
        return self._add(threshold, rates.get(threshold, rates.get(None)))

    def fresh(self, place: str) -> int:
        """The second sample."""
        if self.state.fresh is None:
            raise ModelError(
                "noise", f"the state {self.name!r} draws no fresh sample", place=place, hint="fresh: {scale: 2}"
            )
        return self._add("fresh ", self.state.fresh[0])


def _value(text: str, step: _Samples, thresholds: Sequence[str], place: str) -> StreamValue | None:
    """A noisy number that is written: ``sample``, ``fresh``, ``sample of x``, or ``sample - x``; None for a symbol."""
    match text.split():
        case ["sample"]:
            return StreamValue(step.of(None, place))
        case ["fresh"]:
            return StreamValue(step.fresh(place))
        case ["sample", "of", name]:
            known_name(name, among=thresholds, what="threshold", place=place)
            return StreamValue(step.of(name, place))
        case ["sample", "-", name]:
            known_name(name, among=thresholds, what="threshold", place=place)
            return StreamValue(step.of(name, place), name)
    return None


def _guard(text: str, step: _Samples, thresholds: Sequence[str], place: str) -> tuple[tuple[Order, ...], bool]:
    """The comparisons of ``when``, and whether one of them is enough."""
    tokens: list[str] = []
    for kind, written, start, _ in _LEXICON.tokens(text):
        if kind == UNREADABLE:
            shown = text[start:].strip()[:20]
            raise FormatError("guard", f"{shown!r} cannot be read", place=place, hint="sample >= x and sample < y")
        tokens.append(written)
    if tokens in ([], ["true"]):
        return (), False
    joints = {token for token in tokens if token in ("and", "or")}
    if len(joints) > 1:
        raise FormatError(
            "guard", "both `and` and `or` in one guard", place=place, hint="split it into several transitions"
        )
    orders: list[Order] = []
    part: list[str] = []
    for token in [*tokens, "and"]:
        if token in ("and", "or"):
            orders += _chain(part, step, thresholds, place)
            part = []
        else:
            part.append(token)
    some = "or" in joints
    if some and len(orders) > tokens.count("or") + 1:
        raise FormatError("guard", "a chain of comparisons beside `or`", place=place, hint="two transitions")
    return tuple(orders), some


def _chain(tokens: Sequence[str], step: _Samples, thresholds: Sequence[str], place: str) -> list[Order]:
    """``low <= sample < high``."""
    sides: list[list[str]] = [[]]
    signs: list[str] = []
    for token in tokens:
        if token[0] in "<>":
            signs.append(token)
            sides.append([])
        else:
            sides[-1].append(token)
    if not signs or any(not side for side in sides):
        raise FormatError(
            "guard", f"{' '.join(tokens)!r} is no comparison", place=place, hint="sample >= x, or low <= sample < high"
        )
    found = []
    for sign, left, right in zip(signs, sides[:-1], sides[1:], strict=True):
        low, high = (left, right) if sign[0] == "<" else (right, left)
        found.append(_order(low, high, step, thresholds, place))
    return found


def _order(low: Sequence[str], high: Sequence[str], step: _Samples, thresholds: Sequence[str], place: str) -> Order:
    names: list[tuple[str | None, Rational]] = [_side(side, thresholds, place) for side in (low, high)]
    others = [name for name, _ in names if name not in ("sample", None)]
    terms: list[Term] = []
    for name, _ in names:
        terms.append(step.of(others[0] if others else None, place) if name == "sample" else name)
    if terms[0] == terms[1]:
        raise FormatError("guard", "a comparison of a number with itself", place=place, hint="sample >= x")
    return Order(terms[0], terms[1], names[0][1] - names[1][1])


def _side(tokens: Sequence[str], thresholds: Sequence[str], place: str) -> tuple[str | None, Rational]:
    """One side of a comparison: a name or none, plus constants."""
    name, constant, sign = None, ZERO, 1
    expected = True
    for token in tokens:
        if token in "+-":
            sign = -1 if token == "-" else 1
            expected = True
            continue
        if not expected:
            raise FormatError("guard", f"{' '.join(tokens)!r} cannot be read", place=place, hint="x + 3")
        expected = False
        if token[0].isdigit():
            try:
                constant += sign * rational(token)
            except PrivproofError as problem:
                raise problem.at(place) from None
        elif name is not None or sign < 0:
            raise FormatError(
                "guard", f"{' '.join(tokens)!r} is more than a number and a constant", place=place, hint="x + 3"
            )
        else:
            if token != "sample":
                known_name(token, among=("sample", *thresholds), what="threshold", place=place)
            name = token
        sign = 1
    if expected:
        raise FormatError("guard", f"{' '.join(tokens)!r} cannot be read", place=place, hint="x + 3")
    return name, constant


def stream_document(question: StreamQuestion) -> dict[str, Any]:
    """The question as plain data, as far as the file format can say it.

    Raises:
        FormatError: a transition draws noise that the format has no words for.
    """
    result = _stream_document(question)
    root = from_plain(result)
    assert isinstance(root, DocumentTable)
    try:
        again = read_automaton(root)
    except PrivproofError:
        again = None
    if again is None or not _same(question.automaton, again):
        raise FormatError(
            "noise",
            "the automaton draws or writes what a file cannot say",
            place="transitions",
            hint="a drawing: .svg or .dot",
        )
    return result


def _same(one: StreamAutomaton, other: StreamAutomaton) -> bool:
    """Whether two automata are the same but for how they call what is written."""
    if (one.states, one.initial, len(one.transitions)) != (other.states, other.initial, len(other.transitions)):
        return False
    pairs = zip(one.transitions, other.transitions, strict=True)
    symbols: dict[tuple[str, int], tuple[str, int]] = {}
    for step, again in pairs:
        if replace(step, symbol="", guard=()) != replace(again, symbol="", guard=()) or {*step.guard} != {*again.guard}:
            return False
        said = (step.symbol, len(step.values))
        if symbols.setdefault(said, (again.symbol, len(again.values))) != (again.symbol, len(again.values)):
            return False
    return len(set(symbols.values())) == len(symbols)


def _stream_document(question: StreamQuestion) -> dict[str, Any]:
    automaton = question.automaton
    states: dict[str, Any] = {name: {} for name in automaton.states}
    transitions = []
    for number, step in enumerate(automaton.transitions):
        said = _said_state(step, number)
        if states[step.source] and said and states[step.source] != said:
            states[step.source] |= said if not _differ(states[step.source], said) else _refuse(number)
        elif said:
            states[step.source] = said
        transitions.append(_said_transition(step))
    result: dict[str, Any] = {"kind": "stream-automaton"}
    if question.name:
        result["title"] = question.name
    result |= {"initial": automaton.initial, "states": states, "transitions": transitions}
    result["scenario"] = {"neighbours": {"relation": question.relation, "within": Exact(question.within)}}
    if question.budget is not None:
        result["epsilon"] = Exact(question.budget.epsilon)
        if question.budget.delta != 0:
            result["delta"] = Exact(question.budget.delta)
    return result


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return any(key in other and other[key] != value for key, value in one.items())


def _refuse(number: int) -> dict[str, Any]:
    raise FormatError(
        "noise",
        "the transitions of a state draw different noise, which a file cannot say",
        place=f"transitions[{number}]",
        hint="a drawing: .svg or .dot",
    )


def _said_state(step: Transition, number: int) -> dict[str, Any]:
    """The noise of a step as a state says it."""
    if not step.samples:
        return {}
    main, fresh = _roles(step, number)
    sample = step.samples[main]
    said: dict[str, Any] = {"scale": _scale(sample.rate)}
    if fresh is not None:
        rate = step.samples[fresh].rate
        said["fresh"] = {"scale": _scale(rate)}
    if not sample.reads:
        said["reads"] = "nothing"
    if sample.mean != 0:
        said["mean"] = Exact(sample.mean)
    return said


def _scale(rate: Rational | None) -> str:
    return Exact(0 if rate is None else 1 / rate)


def _roles(step: Transition, number: int) -> tuple[int, int | None]:
    """Which of the samples is `sample`, and which is `fresh`."""
    compared = {term for order in step.guard for term in (order.low, order.high) if isinstance(term, int)}
    kept = {sample for _, sample in step.stores}
    if len(step.samples) > 2 or len(compared | kept) > 1 or any(s.reads < 0 for s in step.samples):
        _refuse(number)
    main = next(iter(compared | kept), 0)
    fresh = None if len(step.samples) == 1 else 1 - main
    if fresh is not None and (step.samples[fresh].reads, step.samples[fresh].mean) != (
        step.samples[main].reads,
        step.samples[main].mean,
    ):
        _refuse(number)
    return main, fresh


def _said_transition(step: Transition) -> dict[str, Any]:
    said: dict[str, Any] = {"from": step.source, "to": step.target}
    if step.guard:
        said["when"] = guard_words(step)
    if step.stores:
        names = [name for name, _ in step.stores]
        said["store"] = names[0] if len(names) == 1 else names
    outputs = [step.symbol] if step.symbol and not step.values else []
    if step.values:
        head = step.symbol.strip("()").partition(",")[0].strip()
        outputs = [head] if head and head != "·" else []
        main = _roles(step, 0)[0] if step.samples else None
        for value in step.values:
            name = "sample" if value.plus == main else "fresh" if isinstance(value.plus, int) else str(value.plus)
            outputs.append(name if value.minus is None else f"{name} - {value.minus}")
    if outputs:
        said["output"] = outputs[0] if len(outputs) == 1 else outputs
    return said
