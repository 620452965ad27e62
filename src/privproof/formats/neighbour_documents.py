"""Neighbour relations in model files: on the coordinates of states, on inputs, or listed pair by pair."""

from __future__ import annotations

from privproof.errors import FormatError, ScenarioError
from privproof.exact import Rational
from privproof.formats import document_fields as fields
from privproof.formats.document_nodes import Node, Scalar
from privproof.models.finite_distributions import known_name
from privproof.scenarios import Neighbours

RELATIONS = ("each", "one", "monotone", "add-remove", "pairs")


def read_neighbours(
    node: Node, place: str, states: tuple[str, ...], inputs: tuple[str, ...] | None = None
) -> Neighbours:
    """A neighbour relation, on the coordinates of states or, where a model reads them, on inputs."""
    given = fields.table(node, place, hint="neighbours: {relation: each, within: 1}")
    fields.known_keys(given, ("relation", "within", "coordinates", "pairs"), place)
    kind = fields.required_field(
        given,
        "relation",
        lambda entry, at: fields.one_of(entry, RELATIONS, at),
        place,
        hint=f"relation: {' | '.join(RELATIONS)}",
    )
    unused = {"pairs": ("within", "coordinates"), "add-remove": ("within", "pairs")}.get(kind, ("pairs",))
    known = {"relation", "within", "coordinates", "pairs"}.difference(unused)
    elsewhere = dict.fromkeys(unused, f"relation: {kind} does not use it")
    if inputs is not None:
        known.discard("coordinates")
        elsewhere["coordinates"] = "only for kind: hmm or markov-chain; the inputs of a transducer are its numbers"
    fields.known_keys(given, known, place, elsewhere=elsewhere)
    if kind == "pairs":
        return fields.required_field(
            given,
            "pairs",
            lambda entry, at: _listed(entry, at, inputs),
            place,
            hint='pairs: [[["0", "1"], ["1", "1"]]]',
        )
    within: Rational | None = None
    entry = given.get(Scalar("within"), Scalar("1"))
    if entry != "any":
        within = fields.number(entry, f"{place}.within")
    coordinates = fields.optional(given, "coordinates", lambda table, at: _coordinates(table, at, states), place)
    if kind == "add-remove":
        return Neighbours.add_remove(coordinates=coordinates)
    make = {"each": Neighbours.each, "one": Neighbours.one, "monotone": Neighbours.monotone}[kind]
    return make(within=within, coordinates=coordinates)


def _listed(node: Node, place: str, inputs: tuple[str, ...] | None) -> Neighbours:
    pairs = []
    for number, entry in enumerate(fields.series(node, place)):
        here = f"{place}[{number}]"
        both = fields.series(entry, here, hint='[["0", "1"], ["1", "1"]]')
        if len(both) != 2:
            raise FormatError(
                "shape", f"a pair has two sides, not {len(both)}", place=here, hint='[["0", "1"], ["1", "1"]]'
            )
        left, right = (fields.names(side, f"{here}[{i}]") for i, side in enumerate(both))
        if inputs is not None:
            for i, side in enumerate((left, right)):
                for j, symbol in enumerate(side):
                    known_name(symbol, among=inputs, what="input", place=f"{here}[{i}][{j}]", error=ScenarioError)
        pairs.append((left, right))
    return Neighbours.pairs(pairs)


def _coordinates(node: Node, place: str, states: tuple[str, ...]) -> dict[str, list[Rational]]:
    result = {}
    for state, entry in fields.table(node, place, hint="coordinates: {state: [0, 1]}").items():
        here = f"{place}.{state}"
        known_name(str(state), among=states, what="state", place=here, error=ScenarioError)
        values = [entry] if isinstance(entry, Scalar) else fields.series(entry, here)
        result[str(state)] = [fields.number(value, f"{here}[{i}]") for i, value in enumerate(values)]
    return result
