"""Priors in files: a chain, a band, several chains or a network, as YAML or JSON.

    kind: prior
    transitions:                     # a row for every state
      rest: {rest: 9/10, walk: 1/10}
      walk: {rest: 2/5, walk: 3/5}
    start: stationary                # or any, or a distribution: {rest: 1}

A Bayesian network has nodes instead, each with a table, and with parents where it depends on others:

    kind: prior
    nodes:
      rain: {table: {yes: 1/5, no: 4/5}}
      Ann: {parents: [rain], table: {yes: {bus: 3/4, bike: 1/4}, no: {bus: 1/4, bike: 3/4}}}

Hidden chains show less than their states say.  A mixture of chains has a weight for each of them; a hidden Markov model has emissions
beside its transitions; a schedule has a chain for every phase, and its start is the distribution of the first entry, in the first phase:

    kind: prior
    mixture:
      - {weight: 3/4, transitions: {rest: {rest: 9/10, walk: 1/10}, walk: {rest: 2/5, walk: 3/5}}}
      - {weight: 1/4, transitions: {rest: {rest: 1/5, walk: 4/5}, walk: {rest: 1/5, walk: 4/5}}}

    kind: prior
    transitions: {well: {well: 9/10, ill: 1/10}, ill: {well: 3/10, ill: 7/10}}
    emissions: {well: {normal: 4/5, fever: 1/5}, ill: {normal: 1/5, fever: 4/5}}

    kind: prior
    schedule:
      - {transitions: {home: {home: 1/5, away: 4/5}, away: {home: 1/5, away: 4/5}}}
      - {transitions: {home: {home: 1}, away: {home: 1/2, away: 1/2}}}

Where an entry is a list ``[1/3, 2/3]``, the prior is a band: all chains within these bounds, with any start.  Several chains stand under
``chains``, each with its own transitions and start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privproof.errors import FormatError, ScenarioError
from privproof.exact import Rational
from privproof.formats import fields
from privproof.formats.documents import Node, Scalar, Series, Table, located, read_document
from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.hidden import Hidden
from privproof.scenarios.networks import Network
from privproof.scenarios.networks import Node as NetworkNode
from privproof.scenarios.releases import Prior

_KEYS = ("kind", "name", "transitions", "start")
_HIDDEN: dict[str, tuple[str, ...]] = {"mixture": (), "schedule": ("start",)}
_NODES = "nodes: {rain: {table: {yes: 1/5, no: 4/5}}}"
_HINT = "transitions: {rest: {rest: 9/10, walk: 1/10}, walk: {rest: 2/5, walk: 3/5}}"


def read_prior(path: str | Path) -> tuple[Prior, ...]:
    """The prior in a file: chains, one band, or a network.

    Raises:
        FormatError: the file is no prior.
        ScenarioError: its rows do not sum to one, or name unknown states.
    """
    root = read_document(Path(path))
    with located(root, path):
        several, network = Scalar("chains") in root, Scalar("nodes") in root
        beside = dict.fromkeys(("transitions", "start", "name"), "it stands inside each of the chains")
        known: tuple[str, ...] = (
            ("kind", "chains") if several else ("kind", "name", "nodes") if network else (*_KEYS, "emissions")
        )
        for kept, more in _HIDDEN.items():
            known = ("kind", "name", kept, *more) if Scalar(kept) in root else known
        fields.known_keys(root, known, "", elsewhere=beside)
        kind = fields.required(root, "kind", fields.name, hint="kind: prior")
        if kind != "prior":
            raise FormatError("kind", f"a file of kind {kind!r} is no prior", place="kind", hint="kind: prior")
        if network:
            return (_network(root),)
        hidden = _hidden(root)
        if hidden is not None:
            return (hidden,)
        listed = root.get(Scalar("chains"))
        if listed is None:
            return (_prior(root, ""),)
        chains = []
        for number, entry in enumerate(fields.series(listed, "chains")):
            given = fields.table(entry, f"chains[{number}]", hint=_HINT)
            fields.known_keys(given, ("name", "transitions", "start"), f"chains[{number}]")
            chain = _prior(given, f"chains[{number}]")
            if isinstance(chain, Band):
                raise FormatError("shape", "a band among chains", place=f"chains[{number}]", hint="single numbers")
            chains.append(chain)
        if not chains:
            raise FormatError("shape", "there is no chain", place="chains", hint=_HINT)
        return tuple(chains)


def _hidden(root: Table) -> Hidden | None:
    """The hidden chain in a file, if it holds one."""
    name = fields.optional(root, "name", fields.text) or ""
    if Scalar("emissions") in root:
        shown, start = fields.table(root[Scalar("emissions")], "emissions"), root.get(Scalar("start"))
        rows = fields.required(root, "transitions", fields.table, hint=_HINT)
        return Hidden.markov(
            {
                str(state): _row(fields.table(row, f"transitions.{state}"), f"transitions.{state}")
                for state, row in rows.items()
            },
            {
                str(state): _row(fields.table(row, f"emissions.{state}"), f"emissions.{state}")
                for state, row in shown.items()
            },
            initial=_start(start, ("stationary", "any")),  # type: ignore[arg-type]
            name=name,
        )
    for kind in _HIDDEN:
        if Scalar(kind) not in root:
            continue
        chains, weights = [], []
        for number, entry in enumerate(fields.series(root[Scalar(kind)], kind)):
            place = f"{kind}[{number}]"
            given = fields.table(entry, place, hint=_HINT)
            fields.known_keys(
                given, ("weight", "transitions", "start") if kind == "mixture" else ("transitions",), place
            )
            chain = _prior(given, place) if kind == "mixture" else _phase(given, place)
            if isinstance(chain, Band):
                raise FormatError("shape", "a band among chains", place=place, hint="single numbers")
            chains.append(chain)
            if kind == "mixture":
                weights.append(fields.required(given, "weight", fields.number, place, hint="weight: 1/2"))
        if not chains:
            raise FormatError("shape", "there is no chain", place=kind, hint=_HINT)
        if kind == "mixture":
            return Hidden.mixture(chains, weights, name=name)
        first = _start(root.get(Scalar("start")), ("stationary",))
        return Hidden.schedule(chains, initial=first, name=name)  # type: ignore[arg-type]
    return None


def _phase(given: Table, place: str) -> Chain:
    """A phase of a schedule; its own start does not matter."""
    rows = fields.required(given, "transitions", fields.table, place, hint=_HINT)
    numbers = {
        str(state): _row(fields.table(row, f"{place}.transitions.{state}"), f"{place}.transitions.{state}")
        for state, row in rows.items()
    }
    with _renamed(place):
        return Chain.of(numbers, initial="any")


def _start(start: Node | None, words: tuple[str, ...]) -> str | dict[str, Rational]:
    if start is None or isinstance(start, Scalar):
        return "stationary" if start is None else fields.one_of(start, words, "start")
    return _row(fields.table(start, "start", hint="start: {rest: 1}"), "start")


def _network(root: Table) -> Network:
    """The network in a file; its numbers stay texts, which are read exactly."""
    listed: dict[str, dict[str, Any]] = {}
    for name, node in fields.required(root, "nodes", fields.table, hint=_NODES).items():
        place = f"nodes.{name}"
        given = fields.table(node, place, hint=_NODES)
        fields.known_keys(given, ("values", "parents", "table"), place)
        read: dict[str, Any] = {}
        for member in ("values", "parents"):
            if Scalar(member) in given:
                read[member] = list(fields.names(given[Scalar(member)], f"{place}.{member}"))
        rows = fields.required(given, "table", fields.table, place, hint=_NODES)
        if read.get("parents"):
            read["table"] = {
                str(values): _row(fields.table(row, f"{place}.table.{values}"), f"{place}.table.{values}")
                for values, row in rows.items()
            }
        else:
            read["table"] = _row(rows, f"{place}.table")
        listed[str(name)] = read
    try:
        return Network.of(listed, name=fields.optional(root, "name", fields.text) or "")
    except ScenarioError as problem:
        problem.place = "nodes" + problem.place.removeprefix("network")
        raise


def _row(row: Table, place: str) -> dict[str, Rational]:
    return {str(value): fields.number(entry, f"{place}.{value}") for value, entry in row.items()}


def chain_from(given: Table, place: str) -> Chain:
    """The chain in a table of another document."""
    fields.known_keys(given, _KEYS, place)
    found = _prior(given, place)
    if isinstance(found, Band):
        raise FormatError("shape", "a band where a chain is wanted", place=place, hint="single numbers")
    return found


def _prior(given: Table, place: str) -> Chain | Band:
    rows = fields.required(given, "transitions", fields.table, place, hint=_HINT)
    name = fields.optional(given, "name", fields.text, place) or ""
    inside = f"{place}.transitions" if place else "transitions"
    entries: dict[str, dict[str, Rational | tuple[Rational, Rational]]] = {}
    for state, row in rows.items():
        at = f"{inside}.{state}"
        entries[str(state)] = {
            str(target): _entry(entry, f"{at}.{target}") for target, entry in fields.table(row, at).items()
        }
    start = given.get(Scalar("start"))
    if any(isinstance(entry, tuple) for row in entries.values() for entry in row.values()):
        if start is not None and not (isinstance(start, Scalar) and start == "any"):
            raise FormatError("shape", "a band starts anywhere", place=f"{place}.start".lstrip("."), hint="start: any")
        return Band.of(entries, name=name)
    with _renamed(place):
        return _chain(entries, start, place, name)


@contextmanager
def _renamed(place: str) -> Iterator[None]:
    """Complaints about a chain, at the place where the file says it: under its own number, and under ``start``."""
    try:
        yield
    except ScenarioError as problem:
        head, dot, rest = problem.place.partition(".")
        here = ("start" if head == "initial" else head) + dot + rest
        problem.place = f"{place}.{here}" if place else here
        raise


def _chain(
    entries: Mapping[str, Mapping[str, Rational | tuple[Rational, Rational]]], start: Node | None, place: str, name: str
) -> Chain:
    numbers = {state: dict(row) for state, row in entries.items()}
    if start is None or isinstance(start, Scalar):
        word = (
            "stationary" if start is None else fields.one_of(start, ("stationary", "any"), f"{place}.start".lstrip("."))
        )
        return Chain.of(numbers, initial=word, name=name)  # type: ignore[arg-type]
    at = f"{place}.start".lstrip(".")
    first = fields.table(start, at, hint="start: {rest: 1}")
    initial = {str(state): fields.number(entry, f"{at}.{state}") for state, entry in first.items()}
    return Chain.of(numbers, initial=initial, name=name)  # type: ignore[arg-type]


def _entry(node: Node, place: str) -> Rational | tuple[Rational, Rational]:
    if isinstance(node, Series):
        if len(node) != 2:
            raise FormatError(
                "shape", f"{len(node)} numbers", place=place, hint="[1/3, 2/3]: the least and the greatest"
            )
        return fields.number(node[0], place), fields.number(node[1], place)
    return fields.number(node, place)


def prior_document(prior: Prior) -> dict[str, Any]:
    """A prior as a document that `read_prior` reads."""
    result: dict[str, Any] = {"kind": "prior"}
    if prior.name:
        result["name"] = prior.name
    if isinstance(prior, Network):
        return {**result, "nodes": {node.name: _node_document(node) for node in prior.nodes}}
    if isinstance(prior, Hidden):
        raise FormatError(
            "prior",
            "a hidden chain is not written as a file of kind prior",
            place="prior",
            hint="keep the file it came from",
        )
    if isinstance(prior, Band):
        result["transitions"] = {
            state: {target: [str(low), str(high)] for target, low, high in zip(prior.states, lows, highs, strict=True)}
            for state, lows, highs in zip(prior.states, prior.low, prior.high, strict=True)
        }
        return {**result, "start": "any"}
    result["transitions"] = {
        state: {target: str(p) for target, p in zip(prior.states, row, strict=True) if p != 0}
        for state, row in zip(prior.states, prior.rows, strict=True)
    }
    start: Any = prior.start
    if not isinstance(start, str):
        start = {state: str(p) for state, p in zip(prior.states, start, strict=True) if p != 0}
    return {**result, "start": start}


def _node_document(node: NetworkNode) -> dict[str, Any]:
    rows = {
        ", ".join(key): {value: str(p) for value, p in zip(node.values, row, strict=True)}
        for key, row in node.table.items()
    }
    above = {"parents": list(node.parents), "table": rows} if node.parents else {"table": rows[""]}
    return {"values": list(node.values), **above}


def prior_text(priors: Sequence[Prior]) -> str:
    """A class of priors as the text of a JSON file."""
    documents = [prior_document(prior) for prior in priors]
    whole = documents[0] if len(documents) == 1 else {"kind": "prior", "chains": [_without_kind(d) for d in documents]}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _without_kind(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "kind"}
