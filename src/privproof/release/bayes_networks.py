"""Bayesian networks as priors: records that influence each other, such as the members of a household.

Every node is an entry of the data, with the probabilities of its values given those of its parents; the joint distribution is the
product of these tables.  The secrets are the values of the nodes, as far as they are possible.  In the *moral graph* a node is joined
to its parents and to the other parents of its children; nodes that a set separates there are independent given the set (Lauritzen and
Spiegelhalter 1988).  Sums over the joint distribution are done one variable at a time, in tables of nodes that are close in that graph.

Tables hold whole numbers: every row of a node times its common denominator.  The factor cancels from all conditional probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb, lcm, prod
from types import MappingProxyType
from typing import Any

import numpy as np
from flint import fmpq

from privproof.errors import ScenarioError
from privproof.exact import ONE, ZERO, Number, Rational
from privproof.models.finite_distributions import distinct_names, distribution, known_name
from privproof.release.markov_chains import Chain

LARGEST_TABLE = 1 << 20
"""The cells of a table, and of a product of tables while nodes are summed out; beyond, it is refused with a hint to take fewer parents."""
_MEMBERS = ("values", "parents", "table")
_MOST_EXCHANGEABLE = 14
"""The table of the last of exchangeable entries has a row for all values of the others; with more entries it is refused."""


@dataclass(frozen=True)
class Node:
    """One entry of the data.

    Attributes:
        name: its name.
        values: the values it may take.
        parents: the nodes it depends on.
        table: for every tuple of the parents' values, in their order, the probabilities of its own values, in their order.
    """

    name: str
    values: tuple[str, ...]
    parents: tuple[str, ...]
    table: Mapping[tuple[str, ...], tuple[Rational, ...]]


@dataclass(frozen=True)
class Network:
    """A Bayesian network as a prior; the nodes stand after their parents.

    Attributes:
        nodes: the entries of the data.
        name: how reports call it.
    """

    nodes: tuple[Node, ...]
    name: str = ""

    @classmethod
    def of(cls, nodes: Mapping[str, Mapping[str, Any]], *, name: str = "") -> Network:
        """A network from exact numbers.

        Args:
            nodes: for every node its ``table`` and, unless they are plain from it, its ``values`` and ``parents``.  The table of
                a node without parents is a row; otherwise it has a row for every value of the parent, or for every tuple of
                values of the parents, which may also be written as one text: ``"yes, no"``.  The nodes come in any order.
            name: how reports call it.

        Raises:
            ModelError: a name that is none, or given twice.
            ScenarioError: a row that is missing or does not sum to one, an unknown parent or value, parents in a circle, no secret.

        >>> network = Network.of({
        ...     "wet": {"parents": ["rain"], "table": {"yes": {"yes": "9/10", "no": "1/10"}, "no": {"yes": "1/4", "no": "3/4"}}},
        ...     "rain": {"table": {"yes": "1/5", "no": "4/5"}},
        ... })
        >>> network.names, network.marginal("wet")
        (('rain', 'wet'), (19/50, 31/50))
        >>> Network.of({"rain": {"table": {"yes": "1/5", "no": "3/5"}}})
        Traceback (most recent call last):
        ...
        privproof.errors.ScenarioError: network.rain.table: the probabilities sum to 4/5 = 0.8 instead of 1: 1/5 = 0.2 is missing [row-sum]
          hint: for instance yes: 2/5
        """
        names = distinct_names(list(nodes), what="node", place="network")
        parents = {each: _parents(each, nodes[each], names) for each in names}
        values = {each: _values(each, nodes[each], parents[each]) for each in names}
        listed = []
        for each in _after_parents(names, parents):
            above = tuple(values[parent] for parent in parents[each])
            rows = _rows(f"network.{each}.table", nodes[each]["table"], values[each], parents[each], above)
            listed.append(Node(each, values[each], parents[each], MappingProxyType(rows)))
        network = cls(tuple(listed), name)
        if all(len(possible) < 2 for possible in network.possible.values()):
            raise ScenarioError(
                "secret",
                "no node has two possible values: there is no secret",
                place="network",
                hint="two values of one node",
            )
        return network

    @classmethod
    def chain(cls, chain: Chain, length: int, *, name: str = "") -> Network:
        """A Markov chain of so many entries as a network, with the nodes X1, X2, ...

        >>> walk = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
        >>> Network.chain(walk, 3).marginal("X3")
        (4/5, 1/5)
        """
        if length < 1:
            raise ScenarioError("length", f"length = {length}", place="length", hint="1 or more")
        if chain.law is None:
            raise ScenarioError(
                "initial",
                "a chain that starts anywhere is no single network",
                place="initial",
                hint='initial="stationary", or a row',
            )
        steps: Mapping[tuple[str, ...], tuple[Rational, ...]]
        steps = MappingProxyType({(state,): row for state, row in zip(chain.states, chain.rows, strict=True)})
        first = Node("X1", chain.states, (), MappingProxyType({(): chain.law}))
        rest = (Node(f"X{i}", chain.states, (f"X{i - 1}",), steps) for i in range(2, length + 1))
        return cls((first, *rest), name or chain.name)

    @classmethod
    def exchangeable(
        cls,
        names: Sequence[str],
        numbers: Mapping[int, Number],
        *,
        values: tuple[str, str] = ("healthy", "ill"),
        name: str = "",
    ) -> Network:
        """A known distribution of how many of the entries have the second value, where every choice of which is as likely.

        Args:
            names: the entries, at most 14.
            numbers: how many have the second value, and how likely that is.
            values: the two values.
            name: how reports call it.

        >>> flu = Network.exchangeable(["Ann", "Bob"], {0: "1/2", 2: "1/2"})
        >>> flu.nodes[1].table[("ill",)]
        (0, 1)
        """
        people = distinct_names(names, what="entry", place="names")
        size = len(people)
        if size > _MOST_EXCHANGEABLE:
            raise ScenarioError(
                "size",
                f"{size} entries need a table of {2 ** (size - 1)} rows",
                place="names",
                hint=f"at most {_MOST_EXCHANGEABLE}",
            )
        likely = distribution(
            {str(number): probability for number, probability in numbers.items()},
            among=[str(number) for number in range(size + 1)],
            what="number of entries",
            place="numbers",
            error=ScenarioError,
        )
        both = distinct_names(values, what="value", place="values")
        if len(both) != 2:
            raise ScenarioError("values", f"{len(both)} values instead of 2", place="values", hint='("healthy", "ill")')

        def prefix(length: int, ill: int) -> Rational:
            """The probability that the first entries are one given sequence with so many ill."""
            left = size - length
            terms = (
                p * comb(left, int(n) - ill) / comb(size, int(n))
                for n, p in likely.items()
                if 0 <= int(n) - ill <= left
            )
            return sum(terms, ZERO)

        nodes = []
        for i, person in enumerate(people):
            row = []
            for ill in range(i + 1):
                whole = prefix(i, ill)
                share = prefix(i + 1, ill + 1) / whole if whole else ZERO
                row.append((ONE - share, share))
            table = {before: row[before.count(both[1])] for before in product(both, repeat=i)}
            nodes.append(Node(person, both, people[:i], MappingProxyType(table)))
        return cls(tuple(nodes), name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(node.name for node in self.nodes)

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return MappingProxyType({node.name: node for node in self.nodes})

    def node(self, name: str) -> Node:
        """The node of that name."""
        known_name(name, among=self.names, what="node", place="network", error=ScenarioError)
        return self.by_name[name]

    @cached_property
    def moral(self) -> Mapping[str, frozenset[str]]:
        """The moral graph: for every node its neighbours.

        >>> coin = {"table": {"heads": "1/2", "tails": "1/2"}}
        >>> equal = {pair: {"yes": 1} if pair[0] == pair[1] else {"no": 1} for pair in product(("heads", "tails"), repeat=2)}
        >>> pair = Network.of({"a": coin, "b": coin, "same": {"parents": ["a", "b"], "values": ["yes", "no"], "table": equal}})
        >>> sorted(pair.moral["a"])
        ['b', 'same']
        """
        joined: dict[str, set[str]] = {name: set() for name in self.names}
        for node in self.nodes:
            family = {node.name, *node.parents}
            for member in family:
                joined[member] |= family - {member}
        return MappingProxyType({name: frozenset(others) for name, others in joined.items()})

    @cached_property
    def ancestors(self) -> Mapping[str, frozenset[str]]:
        """For every node the nodes above it, and itself."""
        above: dict[str, frozenset[str]] = {}
        for node in self.nodes:
            above[node.name] = frozenset({node.name}).union(*(above[parent] for parent in node.parents))
        return MappingProxyType(above)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """An order in which to sum the variables out, the one with the smallest table first."""
        return tuple(self.widths)

    @cached_property
    def widths(self) -> Mapping[str, int]:
        """The nodes in the order in which they are summed out, each with the number of cells of its table."""
        sizes = {node.name: len(node.values) for node in self.nodes}
        graph = {name: set(others) for name, others in self.moral.items()}
        result: dict[str, int] = {}
        while graph:
            cells = {name: prod((sizes[other] for other in graph[name]), start=sizes[name]) for name in graph}
            name = min(cells, key=cells.__getitem__)
            others = graph.pop(name)
            for other in others:
                graph[other] |= others - {other}
                graph[other].discard(name)
            result[name] = cells[name]
        return MappingProxyType(result)

    @cached_property
    def factors(self) -> Mapping[str, NetworkFactor]:
        """The table of every node in whole numbers."""
        found = {}
        for node in self.nodes:
            scope, shape, column = self._table(node)
            whole = lcm(*(int(p.q) for p in column))
            found[node.name] = table_from_cells(scope, shape, ((p * whole).p for p in column))
        return MappingProxyType(found)

    @cached_property
    def floats(self) -> Mapping[str, NetworkFactor]:
        """The table of every node in floats, each the nearest one."""
        found = {}
        for node in self.nodes:
            scope, shape, column = self._table(node)
            cells = np.array([float(p) for p in column]).reshape([*shape, 1])
            found[node.name] = NetworkFactor(scope, cells)
        return MappingProxyType(found)

    def _table(self, node: Node) -> tuple[tuple[str, ...], list[int], list[Rational]]:
        above = [self.by_name[parent].values for parent in node.parents]
        column = [p for key in product(*above) for p in node.table[key]]
        return (*node.parents, node.name), [*map(len, above), len(node.values)], column

    @cached_property
    def possible(self) -> Mapping[str, tuple[str, ...]]:
        """For every node the values that have a probability above 0."""
        found = beliefs(self.factors.values(), self.order)
        return MappingProxyType(
            {
                node.name: tuple(
                    value for value, weight in zip(node.values, found[node.name].column, strict=True) if weight != 0
                )
                for node in self.nodes
            }
        )

    def marginal(self, name: str) -> tuple[Rational, ...]:
        """The probabilities of the values of a node."""
        self.node(name)
        weights = [fmpq(weight) for weight in self.weights((name,)).column]
        return tuple(weight / sum(weights, ZERO) for weight in weights)

    def weights(self, names: Sequence[str]) -> NetworkFactor:
        """Whole numbers in proportion to the joint distribution of some nodes, in this order."""
        above = frozenset[str]().union(*(self.ancestors[name] for name in names))
        left = [factor for name, factor in self.factors.items() if name in above]
        for name in self.order:
            if name in above and name not in names:
                met = [factor for factor in left if name in factor.scope]
                left = [factor for factor in left if name not in factor.scope]
                left.append(multiply_tables(met).without(name))
        return multiply_tables(left).in_order(names)

    def joint(self, *, limit: int = LARGEST_TABLE) -> Iterator[tuple[tuple[str, ...], Rational]]:
        """Every possible assignment, in the order of the nodes, and its probability.

        Raises:
            ScenarioError: there are more than the limit.

        >>> flu = Network.exchangeable(["Ann", "Bob"], {0: "1/2", 2: "1/2"})
        >>> list(flu.joint())
        [(('healthy', 'healthy'), 1/2), (('ill', 'ill'), 1/2)]
        """
        place = {name: i for i, name in enumerate(self.names)}
        wheres = [tuple(place[parent] for parent in node.parents) for node in self.nodes]
        pending: list[tuple[tuple[str, ...], Rational]] = [((), ONE)]
        found = 0
        while pending:
            values, likely = pending.pop()
            if len(values) == len(self.nodes):
                found += 1
                if found > limit:
                    raise ScenarioError("size", f"more than {limit} assignments are possible", place="network")
                yield values, likely
                continue
            node = self.nodes[len(values)]
            row = node.table[tuple(values[i] for i in wheres[len(values)])]
            pending += [
                ((*values, value), likely * p)
                for value, p in reversed(list(zip(node.values, row, strict=True)))
                if p != 0
            ]

    def __str__(self) -> str:
        return f"{self.name or 'a network'} of {len(self.nodes)} nodes"


@dataclass(frozen=True, eq=False)
class NetworkFactor:
    """A table over some nodes, with numbers or polynomials in its cells.

    Attributes:
        scope: the nodes.
        cells: an array with one axis for every node, and one at the end for cases that are computed side by side, mostly one.
    """

    scope: tuple[str, ...]
    cells: np.ndarray

    @property
    def column(self) -> list[Any]:
        """The cells one after the other."""
        return list(self.cells.reshape(-1))

    def without(self, *names: str) -> NetworkFactor:
        """The sum over all values of some nodes."""
        scope, cells = self.scope, self.cells
        for name in names:
            axis = scope.index(name)
            scope, cells = scope[:axis] + scope[axis + 1 :], cells.sum(axis=axis)
        return NetworkFactor(scope, cells)

    def in_order(self, scope: Sequence[str]) -> NetworkFactor:
        """The same table with its nodes in another order."""
        axes = [self.scope.index(name) for name in scope]
        return NetworkFactor(tuple(scope), self.cells.transpose([*axes, len(axes)]))

    def along(self, scope: Sequence[str]) -> np.ndarray:
        """The cells with an axis for every node of a wider scope, of length one for those it does not depend on."""
        mine = [name for name in scope if name in self.scope]
        cells = self.in_order(mine).cells
        lengths = iter(cells.shape)
        return cells.reshape([next(lengths) if name in self.scope else 1 for name in scope] + [cells.shape[-1]])


def table_from_cells(scope: Sequence[str], shape: Sequence[int], cells: Iterable[Any]) -> NetworkFactor:
    """A table from its cells, one after the other."""
    flat = np.empty(prod(shape), dtype=object)
    for i, cell in enumerate(cells):
        flat[i] = cell
    return NetworkFactor(tuple(scope), flat.reshape([*shape, 1]))


def multiply_tables(factors: Sequence[NetworkFactor]) -> NetworkFactor:
    """The product of tables, over all their nodes.

    Raises:
        ScenarioError: it has more than 2^20 cells.
    """
    if not factors:
        return NetworkFactor((), np.ones(1, dtype=int))
    first, *rest = sorted(factors, key=lambda factor: len(factor.scope))
    for factor in rest:
        scope = first.scope + tuple(name for name in factor.scope if name not in first.scope)
        left, right = first.along(scope), factor.along(scope)
        cells = prod(max(pair) for pair in zip(left.shape, right.shape, strict=True))
        if cells > LARGEST_TABLE:
            raise ScenarioError(
                "size",
                f"the nodes {', '.join(scope[:6])}, ... need a table of {cells} cells, more than {LARGEST_TABLE}",
                place="network",
                hint="fewer parents, or fewer values",
            )
        first = NetworkFactor(scope, left * right)
    return first


def beliefs(factors: Iterable[NetworkFactor], order: Sequence[str]) -> dict[str, NetworkFactor]:
    """For every node its table in the product of all factors, with the other nodes summed out.

    Messages pass twice over the tree of the tables that summing in this order makes (Shafer and Shenoy 1990): once to the
    last node, and once back.  No division is needed, so that the cells may be polynomials.
    """
    position = {name: i for i, name in enumerate(order)}
    own: dict[str, list[NetworkFactor]] = {name: [] for name in order}
    for factor in factors:
        own[min(factor.scope, key=position.__getitem__)].append(factor)
    below: dict[str, list[str]] = {name: [] for name in order}
    inward: dict[str, NetworkFactor] = {}
    for name in order:
        inward[name] = multiply_tables(own[name] + [inward[other] for other in below[name]]).without(name)
        if name != order[-1]:
            below[min(inward[name].scope, key=position.__getitem__, default=order[-1])].append(name)
    outward: dict[str, NetworkFactor] = {}
    found: dict[str, NetworkFactor] = {}
    for name in reversed(order):
        before = [multiply_tables(own[name] + [outward[each] for each in (name,) if each in outward])]
        for other in below[name]:
            before.append(multiply_tables([before[-1], inward[other]]))
        after = multiply_tables([])
        for other, rest in zip(reversed(below[name]), reversed(before[:-1]), strict=True):
            others = multiply_tables([rest, after])
            outward[other] = others.without(*(each for each in others.scope if each not in inward[other].scope))
            after = multiply_tables([after, inward[other]])
        found[name] = before[-1].without(*(each for each in before[-1].scope if each != name))
    return found


def _parents(name: str, given: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    place = f"network.{name}"
    if not isinstance(given, Mapping):
        raise ScenarioError("node", f"{given!r} is no node", place=place, hint='{"table": {"yes": "1/2", "no": "1/2"}}')
    for member in given:
        known_name(member, among=_MEMBERS, what="member", place=place, error=ScenarioError)
    if not isinstance(given.get("table"), Mapping):
        raise ScenarioError("table", "there is no table", place=place, hint='"table": {"yes": "1/2", "no": "1/2"}')
    listed = given.get("parents") or ()
    parents = distinct_names(listed, what="parent", place=f"{place}.parents") if listed else ()
    for parent in parents:
        known_name(parent, among=names, what="parent", place=f"{place}.parents", error=ScenarioError)
    return parents


def _values(name: str, given: Mapping[str, Any], parents: tuple[str, ...]) -> tuple[str, ...]:
    """The values that are given, or those of the table in the order in which they first stand there."""
    listed = given.get("values")
    if listed is None:
        rows = given["table"].values() if parents else [given["table"]]
        listed = list(dict.fromkeys(value for row in rows if isinstance(row, Mapping) for value in row))
    return distinct_names(listed, what="value", place=f"network.{name}.values")


def _rows(
    place: str,
    given: Mapping[Any, Any],
    values: tuple[str, ...],
    parents: tuple[str, ...],
    above: tuple[tuple[str, ...], ...],
) -> dict[tuple[str, ...], tuple[Rational, ...]]:
    """The rows of a table in the order of the parents' values."""
    if prod(map(len, above)) * len(values) > LARGEST_TABLE:
        raise ScenarioError("size", f"the table has more than {LARGEST_TABLE} cells", place=place, hint="fewer parents")
    keys = dict.fromkeys(product(*above))
    written: dict[str, list[tuple[str, ...]]] = {}
    for key in keys:
        written.setdefault(_key_text(key), []).append(key)
    rows: dict[tuple[str, ...], tuple[Rational, ...]] = {}
    for raw, row in given.items() if parents else [((), given)]:
        texts = written.get(_key_text([raw]), []) if isinstance(raw, str) else []
        meant = [raw] if isinstance(raw, tuple) else texts
        if len(meant) > 1:
            raise ScenarioError(
                "table", f"{raw!r} may be {meant[0]} or {meant[1]}", place=place, hint="write the values as a tuple"
            )
        at = f"{place}.{raw}" if parents else place
        if not meant or meant[0] not in keys:
            raise ScenarioError(
                "unknown-name",
                f"{raw!r} is no choice of values of {', '.join(parents)}",
                place=place,
                hint=f"for instance {', '.join(next(iter(keys)))!r}",
            )
        key = meant[0]
        if key in rows:
            raise ScenarioError("table", f"the row {raw!r} is given twice", place=place)
        if not isinstance(row, Mapping):
            raise ScenarioError("table", f"{row!r} is no row", place=at, hint=f'{{"{values[0]}": 1}}')
        exact = distribution(row, among=values, what="value", place=at, error=ScenarioError)
        rows[key] = tuple(exact.get(value, ZERO) for value in values)
    for key in keys:
        if key not in rows:
            raise ScenarioError(
                "missing-row",
                f"there is no row for {', '.join(f'{p} = {v}' for p, v in zip(parents, key, strict=True))}",
                place=place,
                hint=f'"{", ".join(key)}": {{"{values[0]}": 1}}',
            )
    return {key: rows[key] for key in keys}


def _key_text(values: Iterable[str]) -> str:
    return ",".join(part.strip() for value in values for part in value.split(","))


def _after_parents(names: tuple[str, ...], parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The names, each after its parents, otherwise in the order they are given."""
    placed: dict[str, None] = {}
    while len(placed) < len(names):
        ready = next((n for n in names if n not in placed and all(p in placed for p in parents[n])), None)
        if ready is None:
            raise ScenarioError(
                "cycle",
                f"parents in a circle: {' -> '.join(_circle(parents, placed))}",
                place="network",
                hint="leave out one of these arrows",
            )
        placed[ready] = None
    return list(placed)


def _circle(parents: Mapping[str, tuple[str, ...]], placed: Mapping[str, None]) -> list[str]:
    """Nodes each of which is a parent of the next, from one back to itself."""
    path = [next(name for name in parents if name not in placed)]
    while path[-1] not in path[:-1]:
        path.append(next(parent for parent in parents[path[-1]] if parent not in placed))
    return path[path.index(path[-1]) :][::-1]
