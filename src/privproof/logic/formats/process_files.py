"""Labelled Markov chains and decision processes from files: our own YAML or JSON, the PRISM language, and Storm's DRN.

In our own files a chain has ``kind: markov-chain`` and a decision process ``kind: mdp``; neighbours are the `pairs` of the scenario
(each side one state) or a relation on the coordinates of states, as for every other model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privproof.errors import FormatError, ModelError, PrivproofError, ScenarioError
from privproof.exact import ZERO
from privproof.formats import document_fields as fields
from privproof.formats.document_nodes import (
    AS_PRISM,
    JANI,
    OURS,
    PRISM,
    DocumentTable,
    Exact,
    Node,
    Scalar,
    Series,
    file_text,
    read_document,
    with_file_place,
)
from privproof.formats.whole_files import write_whole
from privproof.logic.decision_process import DecisionProcess, Enclosure, ProbabilityLike
from privproof.logic.reward_structures import Rewards
from privproof.models.finite_distributions import known_name

if TYPE_CHECKING:
    from privproof.logic.prism.prism_model import PrismModel
    from privproof.scenarios import Neighbours


KEYS = {
    "markov-chain": ("transitions", "labels", "initial", "rewards"),
    "mdp": ("actions", "transitions", "labels", "initial", "rewards"),
}
_COMMON = ("kind", "title", "states", "scenario", "horizon", "epsilon", "delta", "pointwise")


def read_process(
    path: str | Path,
    *,
    neighbours: str | None = None,
    constants: Mapping[str, str] | None = None,
    self_loops: bool = False,
    rounded: bool = False,
) -> DecisionProcess:
    """The labelled Markov chain or decision process in a file.

    Args:
        path: a model file of our own, a PRISM model (``.pm``, ``.nm``, ``.prism``), a JANI model or a DRN file.
        neighbours: pairs of sets of states, ``A ~ B; C ~ D``, which replace those of the file.
        constants: the values of a PRISM model's undefined constants.
        self_loops: give every deadlock state a loop.
        rounded: of a DRN file, divide rows whose sum misses one by at most 1e-9 by their sum.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if rounded and suffix != ".drn":
        raise FormatError("suffix", f"{path} has exact numbers: only DRN files may be rounded", place="--rounded")
    if suffix in AS_PRISM:
        return read_prism_model(path, neighbours=neighbours, constants=constants, self_loops=self_loops).process
    if constants:
        name = next(iter(constants))
        raise FormatError("constant", f"only a PRISM model has constants, and {path} is none", place=f"--set {name}")
    if suffix == ".drn":
        from privproof.logic.formats.drn_files import read_drn  # here and below: each reader for its own files

        process = read_drn(path, self_loops=self_loops, rounded=rounded)
    else:
        document = read_document(path)
        with with_file_place(document, path):
            process = _process(document, path.stem, self_loops=self_loops)
    return process if neighbours is None else relate_states(process, neighbours)


def read_prism_model(
    path: str | Path,
    *,
    neighbours: str | None = None,
    constants: Mapping[str, str] | None = None,
    self_loops: bool = False,
) -> PrismModel:
    """The model in a PRISM or JANI file, of which properties may ask in its own words; the arguments are those of `read_process`."""
    text, name = file_text(path), str(path)
    from privproof.logic.prism.prism_model import explore, neighbours_from

    if Path(path).suffix.lower() == JANI:
        from privproof.logic.formats.jani_files import jani_as_prism

        text, name = jani_as_prism(text, name=name)[0], f"{name} (as PRISM)"
    model = explore(text, constants=constants or {}, self_loops=self_loops, name=name)
    if neighbours is None:
        return model
    return replace(model, process=model.process.having(neighbours=neighbours_from(model, neighbours)))


def relate_states(process: DecisionProcess, text: str) -> DecisionProcess:
    """The process under the relation that a text names: ``plus ~ minus; "a b" ~ c``, each side a state or a label.

    >>> from privproof.logic.library.logic_models import survey
    >>> relate_states(survey(), "plus ~ no; out1 ~ dead").neighbours
    ((0, 3), (2, 4))
    """
    pairs: list[tuple[int, int]] = []
    for part in filter(str.strip, text.split(";")):
        sides = [side.strip() for side in part.split("~")]
        if len(sides) != 2 or not all(sides):
            raise ScenarioError(
                "neighbours", f"{part.strip()!r} is no pair", place="neighbours", hint='"plus ~ minus; a ~ b"'
            )
        left, right = (_states(process, side) for side in sides)
        pairs += [(s, t) for s in left for t in right]
    if not pairs:
        raise ScenarioError("empty-relation", "no pair of neighbours is named", place="neighbours", hint="plus ~ minus")
    return process.having(neighbours=pairs)


def _states(process: DecisionProcess, text: str) -> list[int]:
    name = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if name not in process.labels:
        known = {**process.labels, **dict.fromkeys(process.names)}
        known_name(name, among=known, what="label or state", place="neighbours", error=ScenarioError)
        return [process.state(name)]
    found = [int(s) for s in process.labels[name].nonzero()[0]]
    if not found:
        raise ScenarioError("empty-relation", f"no state carries the label {name!r}", place="neighbours")
    return found


def has_enclosures(root: DocumentTable) -> bool:
    """Whether the rows of a Markov chain in a document have enclosures, which only formulas can be asked of."""
    rows = root.get(Scalar("transitions"))
    listed = rows.values() if isinstance(rows, DocumentTable) else ()
    return any(isinstance(entry, Series) for row in listed if isinstance(row, DocumentTable) for entry in row.values())


def _process(root: DocumentTable, name: str, *, self_loops: bool) -> DecisionProcess:
    kind = fields.required_field(root, "kind", fields.name, hint="kind: markov-chain | mdp")
    if kind not in KEYS:
        raise FormatError(
            "kind",
            f"formulas are asked of Markov chains and decision processes, not of kind: {kind}",
            place="kind",
            hint="kind: markov-chain | mdp; for the others: privproof check, privproof epsilon",
        )
    fields.known_keys(root, (*_COMMON, *KEYS[kind]), "", elsewhere={"actions": "it belongs to kind: mdp"})
    states = fields.required_field(root, "states", fields.names, hint="states: [first, second]")
    actions: tuple[str, ...] = ()
    if kind == "mdp":
        actions = fields.required_field(root, "actions", fields.names, hint="actions: [low, high]")
    title = fields.optional(root, "title", fields.text)
    given = fields.optional(root, "transitions", _rows_by_action if actions else _rows) or {}
    try:
        process = DecisionProcess.of(
            states=states,
            actions=actions,
            transitions=given,
            labels=fields.optional(root, "labels", fields.labels),
            initial=fields.optional(root, "initial", _initial) or (),
            neighbours=_neighbours(root, states),
            self_loops=self_loops,
            name=title if title is not None else name,
        )
    except PrivproofError as problem:
        if problem.place == "neighbours":
            problem.place = "scenario.pairs"
        raise
    rewards = fields.optional(root, "rewards", lambda node, place: _rewards(node, place, process))
    return replace(process, rewards=rewards) if rewards else process


def _rewards(node: Node, place: str, process: DecisionProcess) -> dict[str, Rewards | ModelError]:
    """Rewards by name: of states, and of choices (a state and, in a decision process, an action); 0 where none is given."""
    result: dict[str, Rewards | ModelError] = {}
    hint = "rewards: {cost: {states: {here: 1}, choices: {here: {go: 1/2}}}}"
    begins = process.choices.tolist()
    for name, entry in fields.table(node, place, hint=hint).items():
        here = f"{place}.{name}"
        given = fields.table(entry, here, hint=hint)
        fields.known_keys(given, ("states", "choices"), here)
        of_states, of_choices = [ZERO] * len(process), [ZERO] * begins[-1]
        for state, value in (fields.optional(given, "states", fields.table, here) or DocumentTable()).items():
            of_states[process.state(str(state), place=f"{here}.states")] = fields.number(
                value, f"{here}.states.{state}"
            )
        for state, value in (fields.optional(given, "choices", fields.table, here) or DocumentTable()).items():
            at = f"{here}.choices.{state}"
            number = process.state(str(state), place=f"{here}.choices")
            if process.is_chain:
                of_choices[begins[number]] = fields.number(value, at)
                continue
            own = {process.action(c): c for c in range(begins[number], begins[number + 1])}
            for action, gain in fields.table(value, at, hint=hint).items():
                known_name(str(action), among=own, what="action", place=at)
                of_choices[own[str(action)]] = fields.number(gain, f"{at}.{action}")
        try:
            result[str(name)] = Rewards.of(of_states, of_choices, place=here)
        except ModelError as problem:  # of no concern to those who do not ask about them
            result[str(name)] = problem
    return result


def _initial(node: Node, place: str) -> tuple[str, ...]:
    return (fields.name(node, place),) if isinstance(node, Scalar) else fields.names(node, place)


def _row(node: Node, place: str) -> dict[str, ProbabilityLike]:
    result: dict[str, ProbabilityLike] = {}
    for target, entry in fields.table(node, place, hint="write {next: 1/2, other: 1/2}").items():
        here = f"{place}.{target}"
        if isinstance(entry, Series):
            if len(entry) != 2:
                fields.wrong(entry, "two ends", here, hint='an enclosure is ["0.12", "0.13"]')
            result[str(target)] = (fields.number(entry[0], f"{here}[0]"), fields.number(entry[1], f"{here}[1]"))
        else:
            result[str(target)] = fields.number(entry, here)
    return result


def _rows(node: Node, place: str) -> dict[str, Any]:
    return {str(state): _row(entry, f"{place}.{state}") for state, entry in fields.table(node, place).items()}


def _rows_by_action(node: Node, place: str) -> dict[str, Any]:
    hint = "write {state: {action: {next: 1}}}"
    return {
        str(state): {
            str(action): _row(row, f"{place}.{state}.{action}")
            for action, row in fields.table(entry, f"{place}.{state}", hint=hint).items()
        }
        for state, entry in fields.table(node, place, hint=hint).items()
    }


def _neighbours(root: DocumentTable, states: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    node = root.get(Scalar("scenario"))
    if node is None:
        return ()
    scenario = fields.table(node, "scenario", hint="scenario: {pairs: [{left: {a: 1}, right: {b: 1}}]}")
    fields.known_keys(scenario, ("pairs", "neighbours", "words"), "scenario")
    result: list[tuple[str, str]] = []
    listed = fields.optional(scenario, "pairs", fields.series, "scenario") or ()
    for number, entry in enumerate(listed):
        here = f"scenario.pairs[{number}]"
        given = fields.table(entry, here)
        fields.known_keys(given, ("name", "left", "right", "only"), here)
        left, right = (
            fields.required_field(given, side, _point, here, hint="left: {state: 1}") for side in ("left", "right")
        )
        for side, state in (("left", left), ("right", right)):
            known_name(state, among=states, what="state", place=f"{here}.{side}", error=ScenarioError)
        result.append((left, right))
    relation = fields.optional(scenario, "neighbours", partial(_read_relation, states=states), "scenario")
    if relation is not None:
        if relation.coordinates is None:
            raise ScenarioError(
                "neighbours",
                "the relation does not say which data set a state stands for",
                place="scenario.neighbours",
                hint="coordinates: {state1: [0, 1], state2: [1, 1]}",
            )
        sets = list(relation.coordinates.items())
        result += [
            (one, other)
            for i, (one, values) in enumerate(sets)
            for other, others in sets[i + 1 :]
            if relation.related(values, others)
        ]
    if not result:
        raise ScenarioError(
            "empty-relation", "the scenario makes no two states neighbours", place="scenario", hint="name pairs"
        )
    return result


def _read_relation(node: Node, place: str, states: tuple[str, ...]) -> Neighbours:
    from privproof.formats.neighbour_documents import read_neighbours  # here, because most models list their pairs

    return read_neighbours(node, place, states)


def _point(node: Node, place: str) -> str:
    """One state: by name, or as the distribution that is surely there."""
    if isinstance(node, Scalar):
        return fields.name(node, place)
    entries = {name: number for name, number in fields.row(node, place).items() if number != 0}
    if len(entries) != 1 or next(iter(entries.values())) != 1:
        raise ScenarioError(
            "neighbours",
            "in a formula neighbours are single states, and this is a distribution",
            place=place,
            hint="left: {state: 1}",
        )
    return next(iter(entries))


def process_document(process: DecisionProcess) -> dict[str, Any]:
    """The process as the plain data of a model file."""

    def row(choice: int) -> dict[str, Any]:
        return {
            process.names[target]: [Exact(p.low), Exact(p.high)] if isinstance(p, Enclosure) else Exact(p)
            for target, p in process.entries(choice)
        }

    result: dict[str, Any] = {"kind": "markov-chain" if process.is_chain else "mdp"}
    if process.name:
        result["title"] = process.name
    result["states"] = list(process.names)
    begins = process.choices.tolist()
    if process.is_chain:
        result["transitions"] = {process.names[s]: row(begins[s]) for s in range(len(process))}
    else:
        result["actions"] = list(process.actions)
        result["transitions"] = {
            process.names[s]: {process.action(c): row(c) for c in range(begins[s], begins[s + 1])}
            for s in range(len(process))
        }
    labels: dict[str, list[str]] = {}
    for label, carried in process.labels.items():
        for state in carried.nonzero()[0].tolist():
            labels.setdefault(process.names[state], []).append(label)
    if labels:
        result["labels"] = labels
    if process.initial:
        result["initial"] = [process.names[s] for s in process.initial]
    if process.rewards:
        result["rewards"] = {name: _rewards_document(process, process.reward(name)) for name in process.rewards}
    if process.neighbours:
        sides = [(process.names[s], process.names[t]) for s, t in process.related]
        result["scenario"] = {
            "pairs": [{"name": f"{s} ~ {t}", "left": {s: Exact(1)}, "right": {t: Exact(1)}} for s, t in sides]
        }
    return result


def _rewards_document(process: DecisionProcess, rewards: Rewards) -> dict[str, Any]:
    """The rewards that are not 0."""
    begins = process.choices.tolist()
    states = {name: Exact(rewards.of_state(s)) for s, name in enumerate(process.names) if rewards.of_state(s) != 0}
    choices: dict[str, Any] = {}
    for s, name in enumerate(process.names):
        for c in range(begins[s], begins[s + 1]):
            if rewards.of_choice(c) != 0 and process.is_chain:
                choices[name] = Exact(rewards.of_choice(c))
            elif rewards.of_choice(c) != 0:
                choices.setdefault(name, {})[process.action(c)] = Exact(rewards.of_choice(c))
    return {key: part for key, part in (("states", states), ("choices", choices)) if part}


def write_process(process: DecisionProcess, path: str | Path) -> None:
    """Write a process in the form that the file's suffix names: YAML, JSON, PRISM or DRN."""
    write_whole(path, process_text(process, path))


def process_text(process: DecisionProcess, path: str | Path) -> str:
    """The text of a process in the form that the file's suffix names."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in PRISM:
        from privproof.logic.prism.prism_writing import write_prism

        return write_prism(process)
    if suffix == ".drn":
        from privproof.logic.formats.drn_files import write_drn

        return write_drn(process)
    if suffix == ".json":
        return json.dumps(process_document(process), ensure_ascii=False, indent=1) + "\n"
    if suffix in (".yaml", ".yml"):
        from privproof.formats.document_writing import to_yaml

        return to_yaml(process_document(process))
    known = ", ".join((*OURS, *PRISM, ".drn"))
    if suffix in (".dot", ".svg", ".smt2"):
        raise FormatError("suffix", f"a decision process is not written as {suffix}", place=str(path), hint=known)
    raise FormatError("suffix", f"unknown suffix {suffix!r}", place=str(path), hint=known)
