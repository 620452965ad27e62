"""Scenarios: the pairs of situations that must look alike, and which words are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privproof_checker.neighbour_lists import Relation, read_relation
from privproof_checker.numbers import ONE, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_distribution,
    a_list,
    a_text,
    a_text_or_null,
    an_object,
    names,
    only_members,
    require_name,
)

_PLACE = "question.scenario"


@dataclass(frozen=True)
class Pair:
    """Two initial distributions; both directions are compared.

    Attributes:
        left: one distribution, by state.
        right: the other.
        only: a restriction on words for this pair alone; it replaces the scenario's.
        place: where the pair stands in the document.
    """

    left: Mapping[str, Rational]
    right: Mapping[str, Rational]
    only: str | None
    place: str


@dataclass(frozen=True)
class Scenario:
    """What is compared.

    Attributes:
        pairs: the pairs, listed or by coordinates.
        relation: how the inputs of the two sides are related (transducers).
        only: a regular expression over observations, or None.
        without: observations that no compared word contains.
        ending: ``any``, ``complete`` or ``visible``.
    """

    pairs: tuple[Pair, ...]
    relation: Relation
    only: str | None
    without: tuple[str, ...]
    ending: str


def read_scenario(
    value: object,
    *,
    states: Mapping[str, int],
    observations: Sequence[str] | None,
    inputs: tuple[str, ...] | None,
    initial: Mapping[str, Rational] | None,
    limits: Limits,
) -> Scenario:
    """The scenario of a question: with observations for a hidden Markov model, with inputs for a transducer."""
    given = an_object(value, _PLACE)
    only_members(given, ("pairs", "neighbours", "words"), _PLACE)
    pairs = _read_pairs(given.get("pairs"), states, limits)
    relation = read_relation(given.get("neighbours"), states=states, inputs=inputs, limits=limits)
    if initial is None:
        pairs += _by_coordinates(relation)
        within(2 * len(pairs), limits.pairs, "ordered pairs", _PLACE)
    elif not pairs and given.get("neighbours") is not None:
        pairs = [Pair(initial, initial, None, f"{_PLACE}.neighbours")]
    if not pairs:
        refuse("the scenario compares nothing", _PLACE)
    only, without, ending = _words(given.get("words"), observations, limits)
    if inputs is not None and any(pair.only is not None for pair in pairs):
        refuse("the words of a transducer cannot be restricted by outputs", f"{_PLACE}.pairs")
    return Scenario(tuple(pairs), relation, only, without, ending)


def _read_pairs(value: object, states: Mapping[str, int], limits: Limits) -> list[Pair]:
    if value is None:
        return []
    listed = a_list(value, f"{_PLACE}.pairs")
    within(2 * len(listed), limits.pairs, "ordered pairs", f"{_PLACE}.pairs")
    result = []
    for i, item in enumerate(listed):
        place = f"{_PLACE}.pairs[{i}]"
        given = an_object(item, place)
        only_members(given, ("name", "left", "right", "only"), place)
        a_text_or_null(given.get("name"), f"{place}.name")
        left, right = (a_distribution(given.get(s), states, "state", f"{place}.{s}", limits) for s in ("left", "right"))
        result.append(Pair(left, right, a_text_or_null(given.get("only"), f"{place}.only"), place))
    return result


def _by_coordinates(relation: Relation) -> list[Pair]:
    """All pairs of different states whose data sets are neighbours; one direction of each is enough here."""
    if relation.kind == "same":
        return []
    items = list(relation.coordinates.items())
    found = [
        Pair({left: ONE}, {right: ONE}, None, f"{_PLACE}.neighbours")
        for i, (left, x) in enumerate(items)
        for right, y in items[i + 1 :]
        if relation.related(x, y)
    ]
    if not found:
        refuse("no two states are neighbours", f"{_PLACE}.neighbours")
    return found


def _words(
    value: object, observations: Sequence[str] | None, limits: Limits
) -> tuple[str | None, tuple[str, ...], str]:
    if value is None:
        return None, (), "any"
    place = f"{_PLACE}.words"
    given = an_object(value, place)
    only_members(given, ("only", "without", "ending"), place)
    only = a_text_or_null(given.get("only"), f"{place}.only")
    listed = a_list(given.get("without") or [], f"{place}.without")
    without = names(listed, f"{place}.without", limits.symbols) if listed else ()
    if observations is None and (only is not None or without):
        refuse("the words of a transducer cannot be restricted by outputs", place)
    among = frozenset(observations or ())
    for name in without:
        require_name(name, among, "observation", f"{place}.without")
    ending = a_text(given.get("ending", "any"), f"{place}.ending")
    if ending not in ("any", "complete", "visible"):
        refuse(f"{ending[:40]!r} is none of any, complete, visible", f"{place}.ending")
    return only, without, ending
