"""Markov quilts of Bayesian networks (Song, Wang and Chaudhuri, "Pufferfish privacy mechanisms for correlated data", SIGMOD 2017).

A *quilt* of a node is a set of nodes that separates it, together with the *local* nodes around it, from all the others in the moral
graph. Given the quilt, the others tell nothing of the node; the quilt itself tells at most its *max-influence*

    e = max over possible values a, b and values q of the quilt of  ln P(quilt = q | node = a) / P(quilt = q | node = b),

and the local nodes, wherever they are, move an answer by no more than they are many.  So a mechanism that costs r per entry costs
no more than ``e + (number of local nodes) r`` about this node, whichever quilt one looks at: every node takes the one that allows
the largest rate.

A quilt that has a node without a local neighbour is never better than the quilt without it, so only those are listed where every
one has such a neighbour: they are the boundaries of the connected sets around the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf
from typing import Any, TypeAlias

import numpy as np
from flint import Ordering, arb, fmpq, fmpz, fmpz_mpoly_ctx, fmpz_poly

from privproof.errors import BudgetError, ScenarioError
from privproof.exact import ONE, ZERO, Epsilon, Rational
from privproof.exact.balls import precision, rational_bounds
from privproof.release.bayes_networks import LARGEST_TABLE, Network, NetworkFactor, beliefs, table_from_cells
from privproof.release.series_queries import Query

Law: TypeAlias = dict[int, Rational]
_Ratios: TypeAlias = "list[list[Rational | None]]"

_DENSE = 10_000
"""Sums up to this span are counted by dense polynomials, others by sparse ones."""
_DIGITS = 15
"""Digits that a rate is rounded down to, so that numbers stay short."""
_BITS = 128
"""Precision at first; it is doubled until the rate is above zero for certain."""
_LESS = 1 - 1e-9
"""A quilt is passed over only if it is worse by more than floats are off; the best one is computed exactly."""


@dataclass(frozen=True)
class NetworkQuilt:
    """A quilt of a node.

    Attributes:
        node: whose quilt it is.
        quilt: the nodes that separate; none for the trivial quilt.
        local: the nodes on this side of it, the node itself among them.
        ratio: the greatest ratio of probabilities of the quilt's values given two possible values of the node; None if it is infinite.
    """

    node: str
    quilt: tuple[str, ...]
    local: tuple[str, ...]
    ratio: Rational | None

    @property
    def size(self) -> int:
        """The number of local nodes."""
        return len(self.local)

    def allowed(self, epsilon: Epsilon, bits: int = _BITS) -> arb | None:
        """What every entry may cost: ``(epsilon - ln ratio) / size``; None if the influence alone takes epsilon or more."""
        if self.ratio is None or epsilon.compare_bound(self.ratio) <= 0:
            return None
        with precision(bits):
            return (epsilon.ball(bits) - arb(self.ratio).log()) / self.size


@dataclass(frozen=True)
class NetworkQuilts:
    """The best quilt of every node, and what an entry may cost.

    Attributes:
        quilts: one for every node, in their order.
        rate: a rational with ``ln ratio + size * rate <= epsilon`` for each of them.
    """

    quilts: tuple[NetworkQuilt, ...]
    rate: Rational


def best_network_quilts(network: Network, epsilon: Epsilon, *, largest: int = 3) -> NetworkQuilts:
    """For every node the quilt with the fewest local nodes for the budget that its influence leaves, and the rate for all.

    Raises:
        BudgetError: an epsilon of zero, which no noise attains, or an infinite one, which needs none.

    >>> from privproof.exact import epsilon
    >>> flu = Network.exchangeable(["Ann", "Bob", "Cem"], {0: "1/4", 1: "1/4", 2: "1/4", 3: "1/4"})
    >>> best_network_quilts(flu, epsilon("3/2")).rate
    1/2
    """
    if epsilon.infinite or epsilon.compare(Epsilon()) <= 0:
        raise BudgetError("budget", f"epsilon = {epsilon}", hint="an epsilon above 0, such as 1")
    graph = _Graph(network)
    chosen = tuple(_best(network, graph, name, epsilon, largest) for name in network.names)
    return NetworkQuilts(chosen, min(_rate(quilt, epsilon) for quilt in chosen))


def _best(network: Network, graph: _Graph, node: str, epsilon: Epsilon, largest: int) -> NetworkQuilt:
    """The quilt of a node with the largest rate, in the order of their sizes.

    A quilt tells at least as much as a part of it and has at least the local nodes that are settled, so that most need not be
    looked at.  The others are compared by floats, and a better one is taken if its exact influence confirms it.  Which quilt
    is found is a matter of noise, not of privacy.
    """
    influence = _Influence(network, node)
    best = NetworkQuilt(node, (), graph.names(graph.component(node)), ONE)
    budget = float(epsilon.ball())
    highest = budget / best.size
    left = {0: budget} | {graph.bit(name): budget - _logarithm(ratio) for name, ratio in influence.singles.items()}

    def hopeless(quilt: int, local: int) -> bool:
        parts = (left[1 << i] for i in range(quilt.bit_length()) if quilt >> i & 1)
        return min(left.get(quilt, budget), *parts, budget) * _LESS <= highest * local.bit_count()

    for size in range(1, largest + 1):
        found = {q: local for q, local in graph.boundaries(node, size, without=hopeless) if q.bit_count() == size}
        told = _estimates(network, influence, [graph.names(quilt) for quilt in found])
        left |= {quilt: budget - each for quilt, each in zip(found, told, strict=True)}
        for quilt in sorted(found, key=lambda each: left[each] / found[each].bit_count(), reverse=True):
            if left[quilt] * _LESS <= highest * found[quilt].bit_count():
                break
            names = graph.names(quilt)
            each = NetworkQuilt(node, names, graph.names(found[quilt]), influence.ratio(names))
            allowed = each.allowed(epsilon)
            if allowed is not None and (rate := float(allowed)) > highest:
                best, highest = each, rate
    return best


def _estimates(network: Network, influence: _Influence, quilts: Sequence[tuple[str, ...]]) -> list[float]:
    """The influence of quilts in floats: every case fixes the node and all of a quilt but its last node."""
    blocks: dict[tuple[str, ...], slice] = {}
    cases: list[dict[str, int]] = []
    for *some, _ in quilts:
        fixed = tuple(some)
        if fixed not in blocks:
            values = [influence.possible, *(range(len(network.by_name[name].values)) for name in fixed)]
            begin = len(cases)
            cases += [dict(zip((influence.node, *fixed), each, strict=True)) for each in product(*values)]
            blocks[fixed] = slice(begin, len(cases))
    if not cases:
        return []
    at_once = max(1, LARGEST_TABLE // max(network.widths.values()))
    parts = [_likely(network, cases[i : i + at_once]) for i in range(0, len(cases), at_once)]
    whole = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in {each[-1] for each in quilts}}
    result = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for *some, last in quilts:
            rows = whole[last][:, blocks[tuple(some)]].reshape(len(whole[last]), len(influence.possible), -1)
            rows = rows / rows.sum(axis=(0, 2), keepdims=True)
            ratios = np.nan_to_num(rows.max(axis=1) / rows.min(axis=1), nan=1.0, posinf=inf)
            result.append(float(np.log(ratios.max())))
    return result


def _likely(network: Network, cases: Sequence[Mapping[str, int]]) -> dict[str, np.ndarray]:
    """In every case, for every node how likely its values are, in proportion to the distribution of the case."""
    fixed = {
        name: np.ones((len(network.by_name[name].values), len(cases))) for name in {n for case in cases for n in case}
    }
    for i, case in enumerate(cases):
        for name, value in case.items():
            fixed[name][:, i] = 0.0
            fixed[name][value, i] = 1.0
    evidence = [NetworkFactor((name,), cells) for name, cells in fixed.items()]
    found = beliefs([*network.floats.values(), *evidence], network.order)
    return {name: factor.cells for name, factor in found.items()}


def _logarithm(ratio: Rational | None) -> float:
    return inf if ratio is None else float(arb(ratio).log())


def _rate(quilt: NetworkQuilt, epsilon: Epsilon) -> Rational:
    """The rate of a quilt, rounded down to a few digits unless it is a rational."""
    if quilt.ratio == epsilon.ratio and epsilon.root == 1:
        return epsilon.shift / quilt.size
    bits = _BITS
    while True:
        allowed = quilt.allowed(epsilon, bits)
        assert allowed is not None
        low, _ = rational_bounds(allowed)
        if low > 0:
            break
        bits *= 2
    power = _DIGITS + len(str(low.q)) - len(str(low.p))
    scale = fmpq(10) ** power
    return (low * scale).floor() / scale


@dataclass(frozen=True)
class _Graph:
    """The moral graph, with sets of nodes as the bits of whole numbers."""

    network: Network

    @cached_property
    def neighbours(self) -> tuple[int, ...]:
        place = {name: i for i, name in enumerate(self.network.names)}
        return tuple(sum(1 << place[other] for other in self.network.moral[name]) for name in self.network.names)

    @property
    def all(self) -> int:
        return (1 << len(self.network.nodes)) - 1

    def bit(self, name: str) -> int:
        return 1 << self.network.names.index(name)

    def names(self, bits: int) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(self.network.names) if bits >> i & 1)

    def around(self, bits: int) -> int:
        """The neighbours of a set, and parts of the set."""
        found = 0
        while bits:
            low = bits & -bits
            found |= self.neighbours[low.bit_length() - 1]
            bits ^= low
        return found

    def component(self, name: str, without: int = 0) -> int:
        """All nodes that a node reaches without passing some others."""
        reached = new = self.bit(name)
        while new:
            new = self.around(new) & ~reached & ~without
            reached |= new
        return reached

    def boundaries(
        self, name: str, largest: int, without: Callable[[int, int], bool] = lambda quilt, local: False
    ) -> Iterator[tuple[int, int]]:
        """Connected sets around a node with at most so many neighbours, each after its neighbours.

        Args:
            name: the node.
            largest: how many neighbours.
            without: whether to leave all that contain these neighbours and these members.
        """
        pending = [(0, self.bit(name), self.neighbours[self.network.names.index(name)])]
        while pending:
            quilt, local, around = pending.pop()
            if without(quilt, local):
                continue
            if quilt.bit_count() == largest:
                local = self.component(name, quilt)
                around = quilt
            around &= ~local & ~quilt
            if not around:
                yield quilt, local
                continue
            low = around & -around
            pending.append((quilt, local | low, around | self.neighbours[low.bit_length() - 1]))
            pending.append((quilt | low, local, around))


class _Influence:
    """How much other nodes tell of a node, as exact ratios.

    Nodes in parts of the moral graph that only this node connects are independent given it, so that the greatest ratio for a pair
    of its values is the product of those of the parts.
    """

    def __init__(self, network: Network, node: str) -> None:
        self.network = network
        self.node = node
        values = network.by_name[node].values
        self.possible = [values.index(value) for value in network.possible[node]]
        self.known: dict[tuple[str, ...], _Ratios] = {}

    @cached_property
    def part(self) -> Mapping[str, int]:
        """Which part of the moral graph without this node every other one belongs to."""
        graph = _Graph(self.network)
        rest = graph.all & ~graph.bit(self.node)
        found: dict[str, int] = {}
        for name in self.network.names:
            if name != self.node and name not in found:
                part = graph.component(name, ~rest)
                found |= dict.fromkeys(graph.names(part), len(found))
        return found

    @cached_property
    def singles(self) -> Mapping[str, Rational | None]:
        """The ratio of every other node."""
        size = len(self.network.by_name[self.node].values)
        rows = []
        for value in self.possible:
            here = table_from_cells((self.node,), (size,), [fmpz(int(i == value)) for i in range(size)])
            rows.append(beliefs([*self.network.factors.values(), here], self.network.order))
        found: dict[str, Rational | None] = {}
        for name in self.network.names:
            if name != self.node:
                self.known[name,] = _ratios([row[name].column for row in rows])
                found[name] = self.ratio((name,))
        return found

    def ratio(self, quilt: Sequence[str]) -> Rational | None:
        """The greatest ratio of probabilities of the quilt's values given two possible values of the node."""
        groups: dict[int, tuple[str, ...]] = {}
        for name in quilt:
            groups[self.part[name]] = (*groups.get(self.part[name], ()), name)
        tables = [self.ratios(group) for group in groups.values()]
        greatest = ONE
        for a in range(len(self.possible)):
            for b in range(len(self.possible)):
                whole = ONE
                for table in tables:
                    factor = table[a][b]
                    if factor is None:
                        return None
                    whole *= factor
                greatest = max(greatest, whole)
        return greatest

    def ratios(self, group: tuple[str, ...]) -> _Ratios:
        """For every two possible values of the node, the greatest ratio of some nodes' values."""
        if group not in self.known:
            cells = self.network.weights((self.node, *group)).cells
            self.known[group] = _ratios([list(cells[value].reshape(-1)) for value in self.possible])
        return self.known[group]


def _ratios(rows: Sequence[Sequence[fmpz]]) -> _Ratios:
    """For every two rows, each in proportion to a distribution, the greatest ratio of the one to the other; None for infinite."""
    exact = [[fmpq(weight, sum(row)) for weight in row] for row in rows]
    return [[_greatest(left, right) for right in exact] for left in exact]


def _greatest(left: Sequence[Rational], right: Sequence[Rational]) -> Rational | None:
    pairs = [(p, q) for p, q in zip(left, right, strict=True) if p != 0]
    return None if any(q == 0 for _, q in pairs) else max(p / q for p, q in pairs)


def network_laws(network: Network, query: Query) -> dict[tuple[str, str], Law]:
    """The exact distribution of a sum given every node's every possible value: how many steps, and how likely.

    Every cell of the tables is multiplied by ``x`` to the power of what it adds to the sum, and the variables are summed
    out as before: the coefficients of the polynomials are the probabilities of the sums.

    Raises:
        ScenarioError: a query that is no sum.

    >>> from privproof.release.series_queries import count
    >>> flu = Network.exchangeable(["Ann", "Bob", "Cem", "Dot"], {0: "0.1", 1: "0.15", 2: "0.5", 3: "0.15", 4: "0.1"})
    >>> network_laws(flu, count("ill"))["Ann", "healthy"]
    {0: 1/5, 1: 9/40, 2: 1/2, 3: 3/40}
    """
    if query.kind != "sum":
        raise ScenarioError(
            "query", f"a {query.kind} has no law of a sum", place="query", hint="a count or a weighted sum"
        )
    steps = {node.name: query.steps(node.values) for node in network.nodes}
    least = sum(min(each) for each in steps.values())
    span = sum(max(each) for each in steps.values()) - least
    power, terms = _dense() if span <= _DENSE else _sparse()
    weighted = []
    for node in network.nodes:
        low = min(steps[node.name])
        powers = table_from_cells((node.name,), (len(node.values),), [power(each - low) for each in steps[node.name]])
        factor = network.factors[node.name]
        weighted.append(NetworkFactor(factor.scope, factor.cells * powers.along(factor.scope)))
    found = beliefs(weighted, network.order)
    laws: dict[tuple[str, str], Law] = {}
    for node in network.nodes:
        for value, polynomial in zip(node.values, found[node.name].column, strict=True):
            if value in network.possible[node.name]:
                listed = sorted(terms(polynomial))
                total = sum((weight for _, weight in listed), ZERO)
                laws[node.name, value] = {number + least: weight / total for number, weight in listed}
    return laws


_Power: TypeAlias = Callable[[int], Any]
_Terms: TypeAlias = Callable[[Any], Iterator[tuple[int, Rational]]]


def _dense() -> tuple[_Power, _Terms]:
    """Powers of x, and the terms of a polynomial, where most sums below the greatest are possible."""

    def terms(polynomial: fmpz_poly) -> Iterator[tuple[int, Rational]]:
        return ((i, fmpq(weight)) for i, weight in enumerate(polynomial.coeffs()) if weight != 0)

    return lambda exponent: fmpz_poly([0] * exponent + [1]), terms


def _sparse() -> tuple[_Power, _Terms]:
    """The same where few are."""
    ring = fmpz_mpoly_ctx.get(("x",), Ordering.lex)

    def terms(polynomial: Any) -> Iterator[tuple[int, Rational]]:
        return ((int(exponents[0]), fmpq(weight)) for exponents, weight in polynomial.to_dict().items())

    return lambda exponent: ring.from_dict({(exponent,): 1}), terms
