"""Networks: quilts by separation in the moral graph, influences by elimination of variables, sums by enumeration.

Removing a quilt from the moral graph (parents and children joined, and parents of one child with each other) leaves the
nodes that X_i still reaches; all others are independent of X_i given the quilt (Lauritzen and Spiegelhalter 1988).  The
loss at X_i is at most the influence of the quilt, ``max P(quilt = q | X_i = x) / P(quilt = q | X_i = x')``, plus the cost
of moving the nodes reached, X_i among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_text, only_members, require_name
from privproof_checker.release.release_priors import Network
from privproof_checker.release.release_questions import Release
from privproof_checker.release.transition_powers import OperationWork

_MOST_ENTRIES = 200_000
"""The entries of a product of factors; beyond, the evidence is refused."""
_MOST_WORLDS = 300_000
"""Combinations of values of all nodes that are enumerated for the law of the sum; a larger network is refused."""


@dataclass(frozen=True)
class NetworkFactor:
    """A function of some nodes, without its zeros."""

    nodes: tuple[int, ...]
    entries: Mapping[tuple[int, ...], Rational]


def moral(network: Network) -> list[set[int]]:
    """The neighbours of every node in the moral graph."""
    result: list[set[int]] = [set() for _ in network.nodes]
    for number, node in enumerate(network.nodes):
        family = {number, *node.parents}
        for each in family:
            result[each] |= family - {each}
    return result


def connected_nodes(graph: Sequence[set[int]], start: int, removed: set[int]) -> set[int]:
    """The nodes that are connected with the start when others are removed, the start among them.

    >>> sorted(connected_nodes([{1}, {0, 2}, {1, 3}, {2}], 0, {2}))
    [0, 1]
    """
    result, waiting = {start}, [start]
    while waiting:
        for neighbour in graph[waiting.pop()] - removed - result:
            result.add(neighbour)
            waiting.append(neighbour)
    return result


def joint(network: Network, kept: Sequence[int], work: OperationWork, place: str) -> dict[tuple[int, ...], Rational]:
    """The joint distribution of some nodes, without its zeros."""
    relevant, waiting = set(kept), list(kept)
    while waiting:
        for parent in network.nodes[waiting.pop()].parents:
            if parent not in relevant:
                relevant.add(parent)
                waiting.append(parent)
    factors = [_table(network, number) for number in sorted(relevant)]
    left = relevant - set(kept)
    while left:
        scopes = {node: _scope(factors, node) for node in left}
        node = min(left, key=lambda each: (prod(len(network.nodes[n].values) for n in scopes[each]), each))
        touching = [factor for factor in factors if node in factor.nodes]
        factors = [factor for factor in factors if node not in factor.nodes]
        factors.append(_sum_out(_product(touching, work, place), node))
        left.remove(node)
    product = _product(factors, work, place)
    order = [product.nodes.index(node) for node in kept]
    return {tuple(values[i] for i in order): entry for values, entry in product.entries.items()}


def _table(network: Network, number: int) -> NetworkFactor:
    node = network.nodes[number]
    entries = {
        (*values, own): entry for values, row in node.table.items() for own, entry in enumerate(row) if entry != 0
    }
    return NetworkFactor((*node.parents, number), entries)


def _scope(factors: Iterable[NetworkFactor], node: int) -> set[int]:
    """The nodes of the factors that a node stands in."""
    return {other for factor in factors if node in factor.nodes for other in factor.nodes}


def _product(factors: Sequence[NetworkFactor], work: OperationWork, place: str) -> NetworkFactor:
    result = NetworkFactor((), {(): ONE})
    for factor in factors:
        shared = [node for node in factor.nodes if node in result.nodes]
        mine = [result.nodes.index(node) for node in shared]
        theirs = [factor.nodes.index(node) for node in shared]
        rest = [i for i, node in enumerate(factor.nodes) if node not in result.nodes]
        matching: dict[tuple[int, ...], list[tuple[tuple[int, ...], Rational]]] = {}
        for values, entry in factor.entries.items():
            key = tuple(values[i] for i in theirs)
            matching.setdefault(key, []).append((tuple(values[i] for i in rest), entry))
        entries: dict[tuple[int, ...], Rational] = {}
        for values, entry in result.entries.items():
            for more, other in matching.get(tuple(values[i] for i in mine), ()):
                entries[values + more] = entry * other
            within(len(entries), _MOST_ENTRIES, "combinations of values", place)
        work.add(100 * len(entries))
        result = NetworkFactor(result.nodes + tuple(factor.nodes[i] for i in rest), entries)
    return result


def _sum_out(factor: NetworkFactor, node: int) -> NetworkFactor:
    """The factor without a node, summed over its values."""
    at = factor.nodes.index(node)
    entries: dict[tuple[int, ...], Rational] = {}
    for values, entry in factor.entries.items():
        key = values[:at] + values[at + 1 :]
        entries[key] = entries.get(key, ZERO) + entry
    return NetworkFactor(factor.nodes[:at] + factor.nodes[at + 1 :], entries)


def influence(
    network: Network, node: int, quilt: Sequence[int], work: OperationWork, place: str
) -> tuple[Rational | None, int]:
    """The largest ratio between possible values of a node (None if it is infinite), and how many are possible."""
    found = joint(network, [node, *quilt], work, place)
    masses: dict[int, Rational] = {}
    given: dict[tuple[int, ...], dict[int, Rational]] = {}
    for (value, *rest), entry in found.items():
        masses[value] = masses.get(value, ZERO) + entry
        given.setdefault(tuple(rest), {})[value] = entry
    result = ONE
    for chances in given.values():
        if len(chances) < len(masses):
            return None, len(masses)
        likely = [chances[value] / mass for value, mass in masses.items()]
        result = max(result, max(likely) / min(likely))
    return result, len(masses)


def proved_by_network_quilts(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that every node of every network has a quilt that the claim affords."""
    only_members(evidence, ("method", "quilts"), "evidence")
    listed = a_list(evidence.get("quilts"), "evidence.quilts")
    if len(listed) != len(release.priors):
        refuse(f"{len(listed)} lists are given for {len(release.priors)} networks", "evidence.quilts")
    work, compared = OperationWork(), False
    for number, (item, network) in enumerate(zip(listed, release.priors, strict=True)):
        place = f"evidence.quilts[{number}]"
        assert isinstance(network, Network)
        graph, allowance = moral(network), release.allowance(network)
        missing = set(range(len(network.nodes)))
        for i, (node, quilt) in enumerate(_quilts(item, network, place)):
            here = f"{place}[{i}]"
            if node not in missing:
                refuse("the node has a quilt already", here)
            missing.remove(node)
            ratio, possible = influence(network, node, quilt, work, here)
            if ratio is None:
                refuse("the influence of the quilt is infinite", here)
            local = connected_nodes(graph, node, set(quilt))
            if possible > 1 and allowance.affords(ratio, len(local)) is not True:
                refuse(f"the claim does not afford the influence and moving {len(local)} nodes", here)
            compared = compared or possible > 1
        if missing:
            refuse(f"the node {network.nodes[min(missing)].name[:60]!r} has no quilt", place)
    if not compared:
        refuse("no node has two possible values, so nothing is compared", "question.priors")
    return Accepted("proved", release.claim(), {"method": "quilts", "priors": len(release.priors)})


def _quilts(value: object, network: Network, place: str) -> Iterator[tuple[int, list[int]]]:
    for i, item in enumerate(a_list(value, place)):
        here = f"{place}[{i}]"
        both = a_list(item, here)
        if len(both) != 2:
            refuse("expected a node and the nodes of its quilt", here)
        numbers = [
            network.numbers[require_name(a_text(name, here), network.numbers, "node", here)]
            for name in (both[0], *a_list(both[1], f"{here}[1]"))
        ]
        if len(set(numbers)) < len(numbers):
            refuse("a quilt consists of different nodes, none of them the node itself", here)
        yield numbers[0], numbers[1:]


def worlds(network: Network, place: str) -> Iterator[tuple[tuple[int, ...], Rational]]:
    """Every possible assignment of values to the nodes, with its probability."""
    within(prod(len(node.values) for node in network.nodes), _MOST_WORLDS, "combinations of values", place)
    found: list[tuple[tuple[int, ...], Rational]] = [((), ONE)]
    for node in network.nodes:
        found = [
            ((*values, own), chance * entry)
            for values, chance in found
            for own, entry in enumerate(node.table[tuple(values[parent] for parent in node.parents)])
            if entry != 0
        ]
    yield from found
