"""Model files: a question (model, scenario, horizon, claim) read from YAML or JSON.

The format is described in ``docs/reference/model-files.md`` and by the schema in `privproof.formats.model_file_schema`.
A complaint of a model's own constructor gets the line and the column of what it complains about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from privproof.errors import BudgetError, FormatError, PrivproofError, QuestionError, ScenarioError
from privproof.exact import ONE, Budget, Rational
from privproof.exact.regions import ParameterRegion
from privproof.formats import document_fields as fields
from privproof.formats import stream_files
from privproof.formats.document_nodes import DocumentTable, Node, Scalar, from_plain, read_document, with_file_place
from privproof.formats.neighbour_documents import read_neighbours
from privproof.models import HiddenMarkovModel, Horizon, MarkovChain, Transducer
from privproof.scenarios import (
    Model,
    Pair,
    ParametricQuestion,
    Question,
    Scenario,
    StreamQuestion,
    Words,
    automaton,
    ordered_pairs,
    parametric_pair,
)

COMMON = ("kind", "title", "states", "scenario", "horizon", "epsilon", "delta", "pointwise")
KINDS: Mapping[str, tuple[str, ...]] = {
    "hmm": ("observations", "transitions", "emissions"),
    "markov-chain": ("transitions", "labels"),
    "transducer": ("inputs", "outputs", "initial", "steps", "repeats", "finish", "marks", "foretold", "rate"),
    "stream-automaton": stream_files.KEYS,
}
ENDINGS = ("any", "complete", "visible")
_DEEPEST_PARENTHESES = 100
"""A restriction of words with more opening parentheses is refused here, where its line is known, before it is read recursively."""


def read_question(path: str | Path) -> Question | ParametricQuestion | StreamQuestion:
    """The question that a model file asks.

    Raises:
        PrivproofError: the file does not say a question; the place is ``file:line:column: path.in.the.document``.
    """
    document = read_document(path)
    with with_file_place(document, path):
        return _question(document, Path(path).stem)


def question_from_document(
    document: Mapping[str, Any], *, name: str = ""
) -> Question | ParametricQuestion | StreamQuestion:
    """The question that a document asks: what `read_document` gives, or plain Python data.

    Args:
        document: the document.
        name: the name of the question where the document has no title.

    >>> question = question_from_document({
    ...     "kind": "markov-chain", "states": ["a", "b"], "labels": {"b": ["done"]},
    ...     "scenario": {"pairs": [{"name": "secret", "left": {"a": 1}, "right": {"b": 1}}]}, "horizon": 1})
    >>> question.scenario.pairs[0].name, str(question.horizon)
    ('secret', '1')
    """
    table = DocumentTable()
    with with_file_place(table):
        root = from_plain(document)
        if not isinstance(root, DocumentTable):
            fields.wrong(root, "a mapping", "")
        table = root
    with with_file_place(table):
        return _question(table, name)


def _question(root: DocumentTable, name: str) -> Question | ParametricQuestion | StreamQuestion:
    if root.get(Scalar("kind")) == "stream-automaton":
        return _stream(root, name)
    model = _model(root)
    title = fields.optional(root, "title", fields.text)
    horizon = fields.optional(root, "horizon", _horizon)
    budget = _budget(root)
    node = root.get(Scalar("scenario"))
    if node is None:
        raise ScenarioError(
            "no-scenario", "the file does not say which situations must look alike", hint=_scenario_to_paste(model)
        )
    given = fields.table(node, "scenario", hint=_scenario_to_paste(model))
    if Scalar("parameters") in given:
        return _parametric(given, model, horizon, budget, title if title is not None else name)
    scenario = _scenario(given, model)
    rate = fields.optional(root, "rate", fields.number) if isinstance(model, Transducer) else None
    question = Question(
        model=model,
        scenario=scenario,
        horizon=horizon,
        budget=budget,
        name=title if title is not None else name,
        rate=ONE if rate is None else rate,
    )
    _compares_something(question)
    return question


def _stream(root: DocumentTable, name: str) -> StreamQuestion:
    """A question about a stream automaton."""
    fields.known_keys(
        root,
        (*COMMON, *stream_files.KEYS),
        "",
        elsewhere={key: f"it belongs to kind: {k}" for k, keys in KINDS.items() for key in keys},
    )
    horizon = fields.optional(root, "horizon", _horizon)
    if horizon is not None and horizon.high is not None:
        raise QuestionError(
            "horizon", "a stream automaton is decided for streams of every length", place="horizon", hint="unbounded"
        )
    automaton = stream_files.read_automaton(root)
    relation, within = stream_files.read_scenario(root)
    title = fields.optional(root, "title", fields.text)
    return StreamQuestion(
        automaton=automaton,
        relation=relation,  # type: ignore[arg-type]
        within=within,
        budget=_budget(root),
        name=name if title is None else title,
    )


def _model(root: DocumentTable) -> Model:
    kind = fields.required_field(root, "kind", fields.name, hint=f"kind: {' | '.join(KINDS)}")
    if kind == "mdp":
        raise FormatError(
            "kind",
            "a decision process is asked about by formulas",
            place="kind",
            hint="privproof logic FILE 'D[ln(2), 0](F done)'",
        )
    fields.one_of(Scalar(kind), tuple(KINDS), "kind", code="kind")
    if kind == "stream-automaton":
        raise FormatError("kind", "a stream automaton is read with its scenario", place="kind", hint="read_question")
    others = {
        key: f"it belongs to kind: {' or '.join(k for k, keys in KINDS.items() if key in keys)}"
        for keys in KINDS.values()
        for key in keys
    }
    if kind != "transducer":
        others["initial"] = "initial distributions are the left and right of scenario.pairs"
    starts = root.get(Scalar("initial"))
    named = kind == "markov-chain" and starts is not None and not isinstance(starts, DocumentTable)
    known = (*COMMON, *KINDS[kind], "initial") if named else (*COMMON, *KINDS[kind])  # where formulas are asked
    fields.known_keys(root, known, "", elsewhere=others)
    states = fields.required_field(root, "states", fields.names, hint="states: [first, second]")
    if kind == "transducer":
        return _transducer(root, states)
    transitions = fields.optional(root, "transitions", fields.rows)
    if kind == "hmm":
        return HiddenMarkovModel(
            states=states,
            observations=fields.required_field(root, "observations", fields.names, hint='observations: ["0", "1"]'),
            transitions=transitions,
            emissions=fields.required_field(
                root,
                "emissions",
                fields.rows,
                hint=f'emissions: {{{states[0] if states else "state"}: {{"0": 1/2, "1": 1/2}}}}',
            ),
        )
    return MarkovChain(states=states, transitions=transitions, labels=fields.optional(root, "labels", fields.labels))


def _transducer(root: DocumentTable, states: tuple[str, ...]) -> Transducer:
    return Transducer(
        states=states,
        inputs=fields.required_field(root, "inputs", fields.names, hint='inputs: ["0", "1"]'),
        outputs=fields.required_field(root, "outputs", fields.names, hint="outputs: [below, above]"),
        initial=fields.required_field(
            root, "initial", fields.row, hint=f"initial: {{{states[0] if states else 'state'}: 1}}"
        ),
        steps=fields.required_field(
            root, "steps", _steps, hint="steps: [{state: {input: [{probability: 1, to: state}]}}]"
        ),
        repeats=bool(fields.optional(root, "repeats", fields.boolean)),
        finish=fields.optional(root, "finish", fields.rows),
        marks=fields.optional(root, "marks", _marks),
        foretold=fields.optional(root, "foretold", _read_foretold),
    )


def _marks(node: Node, place: str) -> dict[str, str]:
    listed = fields.table(node, place, hint='marks: {"0*": "0", "1*": "1"}')
    return {str(marked): fields.name(entry, f"{place}.{marked}") for marked, entry in listed.items()}


def _read_foretold(node: Node, place: str) -> dict[str, int]:
    listed = fields.table(node, place, hint='foretold: {"*": 1}')
    result = {}
    for output, entry in listed.items():
        number = fields.number(entry, f"{place}.{output}")
        if number.q != 1 or number < 0:
            fields.wrong(entry, "a whole number", f"{place}.{output}", hint='foretold: {"*": 1}')
        result[str(output)] = int(number.p)
    return result


def _steps(node: Node, place: str) -> list[dict[str, dict[str, list[tuple[Rational, str, str | None]]]]]:
    result = []
    for number, step in enumerate(fields.series(node, place, hint="one entry a step: [{state: {input: [...]}}]")):
        here = f"{place}[{number}]"
        result.append(
            {
                str(state): {
                    str(symbol): [
                        _branch(branch, f"{here}.{state}.{symbol}[{i}]")
                        for i, branch in enumerate(
                            fields.series(branches, f"{here}.{state}.{symbol}", hint="[{probability: 1, to: state}]")
                        )
                    ]
                    for symbol, branches in fields.table(row, f"{here}.{state}").items()
                }
                for state, row in fields.table(step, here).items()
            }
        )
    return result


def _branch(node: Node, place: str) -> tuple[Rational, str, str | None]:
    entry = fields.table(node, place, hint="{probability: 1/2, to: state, output: name}")
    fields.known_keys(entry, ("probability", "to", "output"), place)
    return (
        fields.required_field(entry, "probability", fields.number, place, hint="probability: 1/2"),
        fields.required_field(entry, "to", fields.name, place, hint="to: state"),
        fields.optional(entry, "output", fields.name, place),
    )


def _scenario_to_paste(model: Model) -> str:
    if isinstance(model, Transducer):
        return "scenario: {neighbours: {relation: each, within: 1}}"
    left, right = model.states[0], model.states[1 if len(model.states) > 1 else 0]
    return f"scenario: {{pairs: [{{name: secret, left: {{{left}: 1}}, right: {{{right}: 1}}}}]}}"


def _scenario(node: DocumentTable, model: Model) -> Scenario:
    fields.known_keys(node, ("pairs", "neighbours", "words"), "scenario")
    words = fields.optional(node, "words", lambda entry, place: _words(entry, place, model), "scenario")
    return Scenario(
        pairs=fields.optional(node, "pairs", lambda entry, place: _pairs(entry, place, model), "scenario") or (),
        neighbours=fields.optional(
            node,
            "neighbours",
            lambda entry, place: read_neighbours(entry, place, model.states, _inputs(model)),
            "scenario",
        ),
        words=words or Words(),
    )


def _parametric(
    node: DocumentTable, model: Model, horizon: Horizon | None, budget: Budget | None, name: str
) -> ParametricQuestion:
    """A scenario with unknown parameters: the entries of its pairs are expressions, each side up to its sum."""
    fields.known_keys(node, ("parameters", "constraints", "pairs"), "scenario")
    if isinstance(model, Transducer):
        raise ScenarioError(
            "parameters",
            "unknown parameters are for initial distributions",
            place="scenario.parameters",
            hint="kind: hmm",
        )
    ranges = fields.required_field(node, "parameters", _texts, "scenario", hint='parameters: {p: "0 < p < 1"}')
    listed = fields.optional(node, "constraints", fields.names, "scenario") or ()
    try:
        region = ParameterRegion.of(ranges, listed)
    except ScenarioError as problem:
        raise problem.at("scenario") from None
    pairs = []
    for number, entry in enumerate(
        fields.required_field(node, "pairs", fields.series, "scenario", hint=_scenario_to_paste(model))
    ):
        here = f"scenario.pairs[{number}]"
        given = fields.table(entry, here)
        fields.known_keys(given, ("name", "left", "right"), here)
        title = fields.optional(given, "name", fields.text, here)
        left = fields.required_field(given, "left", _texts, here, hint=f"left: {{{model.states[0]}: 1 - p}}")
        right = fields.required_field(given, "right", _texts, here, hint=f"right: {{{model.states[-1]}: p}}")
        pairs.append(parametric_pair(model, region, f"pair {number + 1}" if title is None else title, left, right))
    if not pairs:
        raise ScenarioError(
            "empty-relation", "the list of pairs is empty", place="scenario.pairs", hint=_scenario_to_paste(model)
        )
    if horizon is None or horizon.high is None:
        raise QuestionError(
            "horizon", "unknown parameters need a bounded horizon", place="horizon", hint="horizon: 1, or up to 3"
        )
    if budget is not None and budget.delta != 0 and not budget.pointwise:
        raise QuestionError(
            "delta", "with unknown parameters delta is for each output", place="delta", hint="pointwise: true"
        )
    return ParametricQuestion(model=model, region=region, pairs=tuple(pairs), horizon=horizon, budget=budget, name=name)


def _texts(node: Node, place: str) -> dict[str, str]:
    """Names to expressions, as written; a decimal is quoted."""
    result = {}
    for key, entry in fields.table(node, place, hint="write {name: expression}").items():
        exact = isinstance(entry, Scalar) and entry.kind == "text"
        result[str(key)] = str(entry) if exact else str(fields.number(entry, f"{place}.{key}"))
    return result


def _pairs(node: Node, place: str, model: Model) -> tuple[Pair, ...]:
    pairs = []
    for number, entry in enumerate(
        fields.series(node, place, hint="pairs: [{name: secret, left: {...}, right: {...}}]")
    ):
        here = f"{place}[{number}]"
        given = fields.table(entry, here)
        fields.known_keys(given, ("name", "left", "right", "only"), here)
        name = fields.optional(given, "name", fields.text, here)
        only = fields.optional(given, "only", fields.text, here)
        if only is not None:
            _check_expression(Words(only=only), model, f"{here}.only")
        pairs.append(
            Pair.of(
                model,
                f"pair {number + 1}" if name is None else name,
                fields.required_field(given, "left", fields.row, here, hint=f"left: {{{model.states[0]}: 1}}"),
                fields.required_field(given, "right", fields.row, here, hint=f"right: {{{model.states[-1]}: 1}}"),
                only=only,
            )
        )
    if not pairs:
        raise ScenarioError("empty-relation", "the list of pairs is empty", place=place, hint=_scenario_to_paste(model))
    return tuple(pairs)


def _inputs(model: Model) -> tuple[str, ...] | None:
    return model.inputs if isinstance(model, Transducer) else None


def _words(node: Node, place: str, model: Model) -> Words:
    given = fields.table(node, place, hint="words: {only: start (below)* above}")
    fields.known_keys(given, ("only", "without", "ending"), place)
    words = Words(
        only=fields.optional(given, "only", fields.text, place),
        without=fields.optional(given, "without", fields.names, place) or (),
    )
    ending = fields.optional(given, "ending", lambda entry, at: fields.one_of(entry, ENDINGS, at), place)
    if words.only is not None or words.without:
        _check_expression(words, model, "")
    return words if ending is None else replace(words, ending=ending)  # type: ignore[arg-type]


def _check_expression(words: Words, model: Model, place: str) -> None:
    """Complain now, where the line is known, about a restriction that cannot be read or that leaves no word."""
    only = words.only or ""
    if only.count("(") > _DEEPEST_PARENTHESES:
        raise ScenarioError(
            "words", "the expression has too many parentheses", place=place or "words.only", hint="shorten it"
        )
    if isinstance(model, Transducer):
        return
    try:
        automaton(words, (model.hidden() if isinstance(model, MarkovChain) else model).observations)
    except PrivproofError as error:
        error.place = place or error.place
        raise


def _compares_something(question: Question) -> None:
    """Complain about a scenario that compares nothing, without listing all that it compares."""
    model, relation = question.model, question.scenario.neighbours
    if isinstance(model, Transducer) or relation is None or relation.coordinates is None:
        ordered_pairs(question)
        return
    sets = list(relation.coordinates.values())
    if not any(relation.related(one, other) for i, one in enumerate(sets) for other in sets[i + 1 :]):
        ordered_pairs(question)


def _horizon(node: Node, place: str) -> Horizon:
    if not isinstance(node, Scalar) or node.kind not in ("text", "integer"):
        fields.wrong(node, "a horizon", place, hint="write horizon: 3, horizon: up to 11, or horizon: unbounded")
    try:
        return Horizon.of(node)
    except PrivproofError as error:
        raise error.at(place) from None


def _budget(root: DocumentTable) -> Budget | None:
    epsilon = fields.optional(root, "epsilon", fields.expression)
    delta = fields.optional(root, "delta", fields.number)
    pointwise = fields.optional(root, "pointwise", fields.boolean)
    if epsilon is None:
        for key, value in (("delta", delta), ("pointwise", pointwise)):
            if value is not None:
                raise BudgetError("budget", f"{key} is given without an epsilon", place=key, hint="epsilon: ln(2)")
        return None
    try:
        budget = Budget.of(epsilon)
    except PrivproofError as error:
        raise error.at("epsilon") from None
    try:
        return Budget.of(budget.epsilon, 0 if delta is None else delta, pointwise=bool(pointwise))
    except PrivproofError as error:
        raise error.at("delta") from None
