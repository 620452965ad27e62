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

Any other hidden chain has, beside its transitions, the value that each of its states shows:

    kind: prior
    transitions: {sun: {sun: 1/2, fog: 1/2}, fog: {sun: 1/2, rain: 1/2}, rain: {sun: 1}}
    values: {sun: dry, fog: dry, rain: wet}

A Gaussian chain, of real numbers, has the correlation of neighbours, or bounds on it, and the range of its values (`gaussian_priors`):

    kind: prior
    correlation: [4/5, 9/10]
    values: [0, 100]

Where an entry is a list ``[1/3, 2/3]``, the prior is a band: all chains within these bounds, with any start.  Several chains stand under
``chains``, each with its own transitions and start, or hidden as above.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privproof.errors import FormatError, ScenarioError
from privproof.exact import Rational
from privproof.formats import document_fields as fields
from privproof.formats.document_nodes import DocumentTable, Node, Scalar, Series, read_document, with_file_place
from privproof.release.bayes_networks import Network
from privproof.release.bayes_networks import Node as NetworkNode
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.gaussian_prior_files import KEYS, gaussian_chain, gaussian_document, is_gaussian
from privproof.release.hidden_chains import Hidden
from privproof.release.hidden_prior_files import chain_document, hidden_document
from privproof.release.markov_chains import Band, Chain
from privproof.release.release_question import Prior

_KEYS = ("kind", "name", "transitions", "start")
_HIDDEN: dict[str, tuple[str, ...]] = {"mixture": (), "schedule": ("start",)}
_NODES = "nodes: {rain: {table: {yes: 1/5, no: 4/5}}}"
_HINT = "transitions: {rest: {rest: 9/10, walk: 1/10}, walk: {rest: 2/5, walk: 3/5}}"


def read_prior(path: str | Path) -> tuple[Prior, ...]:
    """The prior in a file: chains, one band, a network, or a Gaussian chain.

    Raises:
        FormatError: the file is no prior.
        ScenarioError: its rows do not sum to one, or name unknown states.
    """
    root = read_document(Path(path))
    with with_file_place(root, path):
        several, network = Scalar("chains") in root, Scalar("nodes") in root
        beside = dict.fromkeys(("transitions", "start", "name"), "it stands inside each of the chains")
        known = ("chains",) if several else ("name", "nodes") if network else _chain_keys(root)
        known = KEYS if is_gaussian(root) else known
        fields.known_keys(root, ("kind", *known), "", elsewhere=beside)
        kind = fields.required_field(root, "kind", fields.name, hint="kind: prior")
        if kind != "prior":
            raise FormatError("kind", f"a file of kind {kind!r} is no prior", place="kind", hint="kind: prior")
        if is_gaussian(root):
            return (gaussian_chain(root),)
        if network:
            return (_network(root),)
        hidden = _read_hidden(root, "")
        if hidden is not None:
            return (hidden,)
        listed = root.get(Scalar("chains"))
        if listed is None:
            return (_prior(root, ""),)
        chains: list[Prior] = []
        for number, entry in enumerate(fields.series(listed, "chains")):
            place = f"chains[{number}]"
            given = fields.table(entry, place, hint=_HINT)
            fields.known_keys(given, _chain_keys(given), place)
            chain = _read_hidden(given, place) or _prior(given, place)
            if isinstance(chain, Band):
                raise FormatError("shape", "a band among chains", place=place, hint="single numbers")
            chains.append(chain)
        if not chains:
            raise FormatError("shape", "there is no chain", place="chains", hint=_HINT)
        return tuple(chains)


def _chain_keys(given: DocumentTable) -> tuple[str, ...]:
    """The keys of a chain, hidden or not."""
    for kept, more in _HIDDEN.items():
        if Scalar(kept) in given:
            return ("name", kept, *more)
    return ("name", "transitions", "start", "emissions" if Scalar("emissions") in given else "values")


def _read_hidden(given: DocumentTable, place: str) -> Hidden | None:
    """The hidden chain in a table, if it holds one."""
    within = f"{place}." if place else ""
    name = fields.optional(given, "name", fields.text, place) or ""
    if Scalar("values") in given:
        chain = _prior(given, place)
        if isinstance(chain, Band):
            raise FormatError("shape", "a band shows its states", place=f"{within}values", hint="single numbers")
        shown = {
            str(state): fields.name(value, f"{within}values.{state}")
            for state, value in fields.table(given[Scalar("values")], f"{within}values").items()
        }
        for state in dict.fromkeys((*chain.states, *shown)):
            if (state in shown) != (state in chain.states):
                said = "shows no value" if state in chain.states else "is not in the transitions"
                raise FormatError("values", f"the state {state!r} {said}", place=f"{within}values", hint="one for each")
        return Hidden.of(chain, shown, name=name)
    if Scalar("emissions") in given:
        rows = fields.required_field(given, "transitions", fields.table, place, hint=_HINT)
        return Hidden.markov(
            _rows(rows, f"{within}transitions"),
            _rows(fields.table(given[Scalar("emissions")], f"{within}emissions"), f"{within}emissions"),
            initial=_start(given.get(Scalar("start")), ("stationary", "any"), f"{within}start"),  # type: ignore[arg-type]
            name=name,
        )
    for kind in _HIDDEN:
        if Scalar(kind) not in given:
            continue
        chains, weights = [], []
        for number, entry in enumerate(fields.series(given[Scalar(kind)], f"{within}{kind}")):
            here = f"{within}{kind}[{number}]"
            part = fields.table(entry, here, hint=_HINT)
            fields.known_keys(part, ("weight", "transitions", "start") if kind == "mixture" else ("transitions",), here)
            chain = _prior(part, here) if kind == "mixture" else _phase(part, here)
            if isinstance(chain, Band):
                raise FormatError("shape", "a band among chains", place=here, hint="single numbers")
            chains.append(chain)
            if kind == "mixture":
                weights.append(fields.required_field(part, "weight", fields.number, here, hint="weight: 1/2"))
        if not chains:
            raise FormatError("shape", "there is no chain", place=f"{within}{kind}", hint=_HINT)
        if kind == "mixture":
            return Hidden.mixture(chains, weights, name=name)
        first = _start(given.get(Scalar("start")), ("stationary",), f"{within}start")
        return Hidden.schedule(chains, initial=first, name=name)  # type: ignore[arg-type]
    return None


def _rows(rows: DocumentTable, place: str) -> dict[str, dict[str, Rational]]:
    return {str(state): _row(fields.table(row, f"{place}.{state}"), f"{place}.{state}") for state, row in rows.items()}


def _phase(given: DocumentTable, place: str) -> Chain:
    """A phase of a schedule; its own start does not matter."""
    rows = fields.required_field(given, "transitions", fields.table, place, hint=_HINT)
    with _relocate_complaints(place):
        return Chain.of(_rows(rows, f"{place}.transitions"), initial="any")


def _start(start: Node | None, words: tuple[str, ...], place: str) -> str | dict[str, Rational]:
    if start is None or isinstance(start, Scalar):
        return "stationary" if start is None else fields.one_of(start, words, place)
    return _row(fields.table(start, place, hint="start: {rest: 1}"), place)


def _network(root: DocumentTable) -> Network:
    """The network in a file; its numbers stay texts, which are read exactly."""
    listed: dict[str, dict[str, Any]] = {}
    for name, node in fields.required_field(root, "nodes", fields.table, hint=_NODES).items():
        place = f"nodes.{name}"
        given = fields.table(node, place, hint=_NODES)
        fields.known_keys(given, ("values", "parents", "table"), place)
        read: dict[str, Any] = {}
        for member in ("values", "parents"):
            if Scalar(member) in given:
                read[member] = list(fields.names(given[Scalar(member)], f"{place}.{member}"))
        rows = fields.required_field(given, "table", fields.table, place, hint=_NODES)
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


def _row(row: DocumentTable, place: str) -> dict[str, Rational]:
    return {str(value): fields.number(entry, f"{place}.{value}") for value, entry in row.items()}


def chain_from(given: DocumentTable, place: str) -> Chain:
    """The chain in a table of another document."""
    fields.known_keys(given, _KEYS, place)
    found = _prior(given, place)
    if isinstance(found, Band):
        raise FormatError("shape", "a band where a chain is wanted", place=place, hint="single numbers")
    return found


def _prior(given: DocumentTable, place: str) -> Chain | Band:
    rows = fields.required_field(given, "transitions", fields.table, place, hint=_HINT)
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
    with _relocate_complaints(place):
        return _chain(entries, start, place, name)


@contextmanager
def _relocate_complaints(place: str) -> Iterator[None]:
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
    if isinstance(prior, GaussianChain):
        return {**result, **gaussian_document(prior)}
    if isinstance(prior, Hidden):
        return {**result, **hidden_document(prior)}
    if isinstance(prior, Band):
        result["transitions"] = {
            state: {target: [str(low), str(high)] for target, low, high in zip(prior.states, lows, highs, strict=True)}
            for state, lows, highs in zip(prior.states, prior.low, prior.high, strict=True)
        }
        return {**result, "start": "any"}
    return {**result, **chain_document(prior)}


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
