"""All quilts of a node of a network, of which releases only look for the best: what is known of them is that of each."""

from __future__ import annotations

from privproof.release.bayes_networks import Network
from privproof.release.network_quilts import NetworkQuilt, _Graph, _Influence


def network_quilts(network: Network, node: str, *, largest: int = 3) -> tuple[NetworkQuilt, ...]:
    """All quilts of a node with at most so many nodes, each of which has a local neighbour; those with few local nodes first."""
    influence = _Influence(network, network.node(node).name)
    graph = _Graph(network)
    found = graph.boundaries(node, largest)
    listed = sorted(found, key=lambda pair: (pair[1].bit_count(), pair[0].bit_count(), pair[0]))
    return tuple(
        NetworkQuilt(node, graph.names(quilt), graph.names(local), influence.ratio(graph.names(quilt)))
        for quilt, local in listed
    )
