"""Priors: what is believed of correlated data before anything is released.

* A *chain* is a Markov chain: rows of transition probabilities and a start, which is a distribution, the stationary
  distribution (there must be exactly one), or any distribution at all.
* A *band* is all chains, with any start, whose transition matrices lie between two matrices, entry by entry; the matrix
  may change from step to step.
* A *hidden chain* is a chain of which only a value is seen: every state shows one, and several states may show the same.  The entries
  are the values.  Mixtures of chains, hidden Markov models and schedules are such chains, on states that say more than is seen.
* A *Gaussian chain* is a series of real numbers, of which the correlations of neighbours are known or bounded (`shifts`).
* A *network* is a Bayesian network: nodes after their parents, each with a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal, TypeAlias

from flint import fmpq_mat

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    an_object,
    names,
    only_members,
    require_name,
    text,
)

_MOST_STATES = 400
"""A chain may have so many states, and a node so many values; beyond, the prior is refused."""
_MOST_NODES = 300
"""A network may have so many nodes; beyond, the prior is refused."""
_MOST_ROWS = 100_000
"""The table of a node may have so many rows, one for each combination of values of its parents; beyond, it is refused."""

Row: TypeAlias = "tuple[Rational, ...]"


@dataclass(frozen=True)
class Chain:
    """A Markov chain.

    Attributes:
        states: the names of the states.
        rows: the transition probabilities; every row sums to one.
        kind: whether the start is given, stationary, or any.
        start: the distribution of the first entry, unless it may be any.
        shown: of a hidden chain, for every state the value that it shows; empty where states are the values themselves.
    """

    states: tuple[str, ...]
    rows: tuple[Row, ...]
    kind: Literal["given", "stationary", "any"]
    start: Row | None
    shown: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.states)

    @property
    def values(self) -> tuple[str, ...]:
        """For every state the value of an entry."""
        return self.shown or self.states

    @cached_property
    def pattern(self) -> tuple[int, ...]:
        """For every state the set of states that may follow it, as bits."""
        return tuple(support(row) for row in self.rows)


@dataclass(frozen=True)
class Band:
    """All chains between two matrices."""

    states: tuple[str, ...]
    low: tuple[Row, ...]
    high: tuple[Row, ...]

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.states)


@dataclass(frozen=True)
class NetworkNode:
    """A node of a network: its parents by number, and for every tuple of their values (by number) the probabilities."""

    name: str
    values: tuple[str, ...]
    parents: tuple[int, ...]
    table: Mapping[tuple[int, ...], Row]


@dataclass(frozen=True)
class Network:
    """A Bayesian network."""

    nodes: tuple[NetworkNode, ...]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The nodes by name."""
        return {node.name: number for number, node in enumerate(self.nodes)}


@dataclass(frozen=True)
class GaussianChain:
    """All Gaussian chains whose neighbours have correlations within bounds; see `shifts`.

    Attributes:
        steps: the bounds: one pair for all steps, or one for each.
        distance: so far two values of an entry are apart at most.
        cut: whether entries are cut off at a range, which holds these values.
        narrower: whether the first entry may vary less than the others.
        variance: what the variance is at least.
    """

    steps: tuple[tuple[Rational, Rational], ...]
    distance: Rational
    cut: bool
    narrower: bool
    variance: Rational

    def between(self, length: int) -> tuple[tuple[Rational, Rational], ...]:
        """The bounds for every step of a series."""
        if len(self.steps) == 1:
            return self.steps * (length - 1)
        if len(self.steps) != length - 1:
            refuse(f"{len(self.steps)} steps are given for a series of length {length}", "question.priors")
        return self.steps


Prior: TypeAlias = "Chain | Band | Network | GaussianChain"


def support(row: Sequence[Rational]) -> int:
    """The places of a row that are not zero, as bits.

    >>> support((ONE, ZERO, ONE))
    5
    """
    return sum(1 << place for place, entry in enumerate(row) if entry != 0)


def read_priors(value: object, limits: Limits) -> tuple[Prior, ...]:
    """The priors of a question: chains with the same states, or one band, or networks."""
    listed = a_list(value, "question.priors")
    if not listed:
        refuse("there is no prior, so nothing is compared", "question.priors")
    within(len(listed), limits.symbols, "priors", "question.priors")
    result: list[Prior] = []
    for number, item in enumerate(listed):
        place = f"question.priors[{number}]"
        given = an_object(item, place)
        kind = a_text(given.get("kind"), f"{place}.kind")
        if kind in ("chain", "hidden"):
            result.append(_chain(given, place, limits))
        elif kind == "band":
            result.append(_band(given, place, limits))
        elif kind == "network":
            result.append(_network(given, place, limits))
        elif kind == "gaussian-chain":
            result.append(_gaussian_chain(given, place, limits))
        else:
            refuse(f"{kind[:40]!r} is no kind of prior", f"{place}.kind")
    first = result[0]
    for number, prior in enumerate(result[1:], 1):
        place = f"question.priors[{number}]"
        if type(prior) is not type(first) or isinstance(prior, Band | GaussianChain):
            refuse("the priors are chains, or networks, or one band, or one Gaussian chain", place)
        if isinstance(prior, Chain) and isinstance(first, Chain):
            hidden = prior.shown or first.shown
            if {*prior.values} != {*first.values} if hidden else prior.states != first.states:
                refuse("the states differ from those of the first prior", f"{place}.states")
    return tuple(result)


def _row(value: object, size: int, place: str, limits: Limits) -> Row:
    """A list of so many numbers between 0 and 1."""
    listed = a_list(value, place)
    if len(listed) != size:
        refuse(f"{len(listed)} numbers are given for {size} values", place)
    result = tuple(a_number(item, f"{place}[{i}]", limits) for i, item in enumerate(listed))
    for i, entry in enumerate(result):
        if not 0 <= entry <= 1:
            refuse(f"{text(entry)} is no probability", f"{place}[{i}]")
    return result


def _distribution(value: object, size: int, place: str, limits: Limits) -> Row:
    """A row that sums to one."""
    row = _row(value, size, place, limits)
    total = sum(row, ZERO)
    if total != 1:
        refuse(f"the probabilities sum to {text(total)} instead of 1", place)
    return row


def _matrix(value: object, size: int, place: str, limits: Limits) -> tuple[Row, ...]:
    listed = a_list(value, place)
    if len(listed) != size:
        refuse(f"{len(listed)} rows are given for {size} states", place)
    return tuple(_row(item, size, f"{place}[{i}]", limits) for i, item in enumerate(listed))


def _chain(given: dict[str, object], place: str, limits: Limits) -> Chain:
    hidden = given.get("kind") == "hidden"
    only_members(given, ("kind", "states", "rows", "start", *(("values",) if hidden else ())), place)
    states = names(given.get("states"), f"{place}.states", _MOST_STATES)
    shown: tuple[str, ...] = ()
    if hidden:
        listed = a_list(given.get("values"), f"{place}.values")
        shown = tuple(a_text(item, f"{place}.values[{i}]") for i, item in enumerate(listed))
        if len(shown) != len(states) or not all(shown):
            refuse("every state shows a value, which has a name", f"{place}.values")
    rows = _matrix(given.get("rows"), len(states), f"{place}.rows", limits)
    for i, row in enumerate(rows):
        total = sum(row, ZERO)
        if total != 1:
            refuse(f"the probabilities sum to {text(total)} instead of 1", f"{place}.rows[{i}]")
    start = given.get("start")
    if start == "any":
        return Chain(states, rows, "any", None, shown)
    if start == "stationary":
        return Chain(states, rows, "stationary", stationary(rows, f"{place}.start"), shown)
    if isinstance(start, str):
        refuse(f"{start[:40]!r} is no start: write a list, stationary or any", f"{place}.start")
    return Chain(states, rows, "given", _distribution(start, len(states), f"{place}.start", limits), shown)


def stationary(rows: Sequence[Row], place: str) -> Row:
    """The stationary distribution, verified by multiplication; refused unless there is exactly one.

    >>> half = Rational(1, 2)
    >>> stationary(((half, half), (ONE, ZERO)), "start")
    (2/3, 1/3)
    """
    size = len(rows)
    system = [[rows[y][x] - (ONE if x == y else ZERO) for y in range(size)] for x in range(size)]
    system[-1] = [ONE] * size
    ones = [[ZERO] for _ in range(size - 1)] + [[ONE]]
    try:
        solved = fmpq_mat(system).solve(fmpq_mat(ones))
    except ZeroDivisionError:
        refuse("the chain has more than one stationary distribution", place)
    result = tuple(solved[x, 0] for x in range(size))
    after = fmpq_mat([list(result)]) * fmpq_mat([list(row) for row in rows])
    if any(entry < 0 for entry in result) or sum(result, ZERO) != 1 or tuple(after.entries()) != result:
        refuse("the stationary distribution cannot be verified", place)
    return result


def _band(given: dict[str, object], place: str, limits: Limits) -> Band:
    only_members(given, ("kind", "states", "low", "high"), place)
    states = names(given.get("states"), f"{place}.states", _MOST_STATES)
    low, high = (_matrix(given.get(end), len(states), f"{place}.{end}", limits) for end in ("low", "high"))
    for i, (below, above) in enumerate(zip(low, high, strict=True)):
        if any(b > a for b, a in zip(below, above, strict=True)):
            refuse("an entry of low is above that of high", f"{place}.low[{i}]")
        if not sum(below, ZERO) <= 1 <= sum(above, ZERO):
            refuse("no distribution lies between these rows, so nothing is compared", f"{place}.low[{i}]")
    return Band(states, low, high)


def _gaussian_chain(given: dict[str, object], place: str, limits: Limits) -> GaussianChain:
    only_members(given, ("kind", "steps", "distance", "values", "start", "variance"), place)
    listed = [
        a_list(item, f"{place}.steps[{i}]") for i, item in enumerate(a_list(given.get("steps"), f"{place}.steps"))
    ]
    steps = []
    for i, item in enumerate(listed):
        ends = tuple(a_number(end, f"{place}.steps[{i}]", limits) for end in item)
        if len(ends) != 2 or not -1 < ends[0] <= ends[1] < 1:
            refuse("these are no bounds on a correlation between -1 and 1", f"{place}.steps[{i}]")
        steps.append((ends[0], ends[1]))
    if not steps:
        refuse("no step has a correlation", f"{place}.steps")
    distance = a_number(given.get("distance"), f"{place}.distance", limits)
    variance = a_number(given.get("variance"), f"{place}.variance", limits)
    if distance <= 0 or variance < 0:
        refuse("the distance is above 0, and the variance not below it", place)
    cut = given.get("values") is not None
    if cut:
        values = [a_number(end, f"{place}.values", limits) for end in a_list(given["values"], f"{place}.values")]
        if len(values) != 2 or values[1] - values[0] < distance:
            refuse("the range holds no two values that are so far apart", f"{place}.values")
    start = a_text(given.get("start"), f"{place}.start")
    if start not in ("stationary", "narrower"):
        refuse(f"{start[:40]!r} is no start: stationary or narrower", f"{place}.start")
    return GaussianChain(tuple(steps), distance, cut, start == "narrower", variance)


def _network(given: dict[str, object], place: str, limits: Limits) -> Network:
    only_members(given, ("kind", "nodes"), place)
    listed = a_list(given.get("nodes"), f"{place}.nodes")
    if not listed:
        refuse("there is no node", f"{place}.nodes")
    within(len(listed), _MOST_NODES, "nodes", f"{place}.nodes")
    result: list[NetworkNode] = []
    for number, item in enumerate(listed):
        node = _node(an_object(item, f"{place}.nodes[{number}]"), result, f"{place}.nodes[{number}]", limits)
        if any(node.name == before.name for before in result):
            refuse(f"the node {node.name[:60]!r} is given twice", f"{place}.nodes[{number}].name")
        result.append(node)
    return Network(tuple(result))


def _node(given: dict[str, object], before: Sequence[NetworkNode], place: str, limits: Limits) -> NetworkNode:
    only_members(given, ("name", "values", "parents", "table"), place)
    name = a_text(given.get("name"), f"{place}.name")
    if not name:
        refuse("the name is empty", f"{place}.name")
    values = names(given.get("values"), f"{place}.values", _MOST_STATES)
    numbers = {node.name: number for number, node in enumerate(before)}
    parents: list[int] = []
    for i, item in enumerate(a_list(given.get("parents"), f"{place}.parents")):
        here = f"{place}.parents[{i}]"
        parent = numbers[require_name(a_text(item, here), numbers, "node before this one", here)]
        if parent in parents:
            refuse("the parent is given twice", here)
        parents.append(parent)
    rows = prod(len(before[parent].values) for parent in parents)
    within(rows, _MOST_ROWS, "rows of a table", f"{place}.table")
    table: dict[tuple[int, ...], Row] = {}
    for i, item in enumerate(a_list(given.get("table"), f"{place}.table")):
        here = f"{place}.table[{i}]"
        both = a_list(item, here)
        if len(both) != 2:
            refuse("a row of a table is the values of the parents and the probabilities", here)
        told = [a_text(each, f"{here}[0]") for each in a_list(both[0], f"{here}[0]")]
        if len(told) != len(parents):
            refuse(f"{len(told)} values are given for {len(parents)} parents", f"{here}[0]")
        key = tuple(
            before[parent].values.index(require_name(value, before[parent].values, "value", f"{here}[0]"))
            for parent, value in zip(parents, told, strict=True)
        )
        if key in table:
            refuse("these values of the parents are given twice", f"{here}[0]")
        table[key] = _distribution(both[1], len(values), f"{here}[1]", limits)
    if len(table) != rows:
        refuse(f"{len(table)} rows are given for {rows} values of the parents", f"{place}.table")
    return NetworkNode(name, values, tuple(parents), table)
