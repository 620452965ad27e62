"""The least and the greatest probability of a path formula in a decision process, over all schedulers.

In the product with the obligations of a co-safe formula success is reaching *true*; in that of a safe formula failure
is reaching *false* (see `obligations`).  So both extremes are extremes of the probability of reaching a goal, and
since the product is deterministic in the path, a scheduler of the product that remembers nothing is a scheduler of the
process.  They are computed component by component, exactly, by improving a choice for each node until nothing
improves.  What is found is right however it was found:

* Greatest: v is the value of some choices, hence not above the greatest one; and ``v >= sum p v`` for every choice, so
  by induction on n no scheduler reaches the goal within n steps with more than v.
* Least: Z are the nodes where a choice can stay among Z and exits of value 0 for ever; their least value is 0.  From
  the other nodes, whatever is chosen, the rest of the component is left almost surely (a set in which one can stay for
  ever would belong to Z).  v is the value of some choices, and ``v <= sum p v`` for every choice, so under every
  scheduler v is at most the expected value of v after n steps, which tends to the expected value on leaving.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import arb

from privproof_checker.graph_algorithms import components
from privproof_checker.logic.decision_processes import ProcessWalk, Row, Value
from privproof_checker.logic.formulas import Path
from privproof_checker.logic.measures import Holds, solve_component
from privproof_checker.logic.monitor_products import MonitorProduct, explore
from privproof_checker.logic.obligations import Obligations, Truths
from privproof_checker.logic.solving import one_step
from privproof_checker.numbers import ONE, ZERO
from privproof_checker.outcomes import refuse

_MOST_ROUNDS = 2_000
"""Choices that have not settled after so many rounds of policy iteration are refused; a few rounds are usual."""


@dataclass
class Extremes:
    """A product with the least and greatest probability of success in its nodes; None where it is not known."""

    product: MonitorProduct
    obligations: Obligations
    root: int
    co_safe: bool
    least: list[Value | None]
    greatest: list[Value | None]

    def at(self, state: int) -> tuple[Value, Value] | None:
        """The least and the greatest probability from a state."""
        node = self.product.number[state, self.root]
        low, high = self.least[node], self.greatest[node]
        return None if low is None or high is None else (low, high)


def is_supported(path: Path) -> bool:
    """Whether a path formula is safe or co-safe."""
    obligations = Obligations()
    root = obligations.of(path)
    return obligations.safe(root) or obligations.co_safe(root)


def extremes(walk: ProcessWalk, holds: Holds, path: Path, starts: Iterable[int]) -> Extremes:
    """The extremes of a path formula from some states; refuses a formula that is neither safe nor co-safe."""
    obligations = Obligations()
    root = obligations.of(path)
    asked = list(dict.fromkeys(starts))
    domain = walk.reached(asked)
    columns = [holds(leaf, [walk.shows[s] for s in domain]) for leaf in obligations.leaves]
    truths: list[Truths | None] = [None] * len(walk.rows)
    for s in domain:
        truths[s] = tuple(column[walk.shows[s]] for column in columns)
    co_safe = obligations.co_safe(root)
    if not co_safe and not obligations.safe(root):
        refuse(
            "a path formula of a decision process is neither safe nor co-safe: an endless until, and the negation of "
            "one, are not both supported",
            "question.formula",
        )
    product = explore(walk, obligations, truths, ((s, root) for s in asked))
    decisive = obligations.true if co_safe else obligations.false
    goals = {i for i, (_, obligation) in enumerate(product.nodes) if obligation == decisive}
    following = product.following()
    parts = components(range(len(following)), following.__getitem__)
    low = optimum(product, parts, goals, greatest=False)
    high = optimum(product, parts, goals, greatest=True)
    if co_safe:
        return Extremes(product, obligations, root, co_safe, low, high)
    return Extremes(product, obligations, root, co_safe, _complements(high), _complements(low))


def _complements(values: list[Value | None]) -> list[Value | None]:
    return [None if value is None else ONE - value for value in values]


def optimum(product: MonitorProduct, parts: list[list[int]], goals: set[int], *, greatest: bool) -> list[Value | None]:
    """The least or greatest probability of reaching a goal from every node."""
    values: list[Value | None] = [None] * len(product.nodes)
    for part in parts:
        first = part[0]
        if first in product.unknown:
            continue
        if not product.rows[first]:
            values[first] = ONE if first in goals else ZERO
            continue
        if len(part) == 1:
            found = [one_step(row, values) for row in product.rows[first]]
            known = [value for value in found if value is not None]
            if len(known) == len(found):  # it is not known of itself, so that no way leads from it to itself
                values[first] = _the_same(_best(known, greatest=greatest))
                continue
        members = set(part)
        out = [target for node in part for row in product.rows[node] for target, _ in row if target not in members]
        if not any(values[target] is None for target in out):
            _component(product, part, values, greatest=greatest)
            for node in part:
                values[node] = _the_same(values[node])
    return values


def _the_same(value: Value | None) -> Value | None:
    """A value; for 0 and 1 always the same objects, so that rows that lead to nothing else are seen at once."""
    if value is None or isinstance(value, arb):
        return value
    return ONE if value == ONE else ZERO if value == ZERO else value


def _best(values: list[Value], *, greatest: bool) -> Value:
    """The greatest or least of some values."""
    if not any(isinstance(value, arb) for value in values):
        return max(values) if greatest else min(values)
    result = arb(values[0])
    for value in values[1:]:
        result = result.max(arb(value)) if greatest else result.min(arb(value))
    return result


def _component(product: MonitorProduct, part: list[int], values: list[Value | None], *, greatest: bool) -> None:
    """Fill in the values of a component with cycles; they stay None where numbers are not exact."""
    members = set(part)
    entries = [entry for node in part for row in product.rows[node] for entry in row]
    if any(isinstance(p, arb) or (t not in members and isinstance(values[t], arb)) for t, p in entries):
        return
    if greatest:
        chosen = _towards(product, part, values)
        still: set[int] = set() if chosen else members
    else:
        still = _staying_nodes(product, part, values)
        chosen = {node: product.rows[node][0] for node in part if node not in still}
    for node in still:
        values[node] = ZERO
    moving = [node for node in part if node not in still]
    if not moving:
        return
    for _ in range(_MOST_ROUNDS):
        solve_component(moving, [chosen[node] for node in moving], values)
        improved = False
        for node in moving:
            here = values[node]
            for row in product.rows[node]:
                found = one_step(row, values)
                if here is not None and found is not None and (found > here if greatest else found < here):
                    here, improved = found, True
                    chosen[node] = row
        if not improved:
            return
    refuse("the choices of a decision process do not settle", "question.process")


def _gain(row: Row, members: set[int], values: list[Value | None]) -> bool:
    """Whether a row leaves to a positive value."""
    return any(target not in members and values[target] != 0 for target, _ in row)


def _towards(product: MonitorProduct, part: list[int], values: list[Value | None]) -> dict[int, Row]:
    """Choices under which from every node an exit of positive value is reached; none if there is no such exit."""
    members = set(part)
    chosen: dict[int, Row] = {}
    waiting: list[int] = []
    before: dict[int, list[tuple[int, Row]]] = {node: [] for node in part}
    for node in part:
        for row in product.rows[node]:
            for target, _ in row:
                if target in members:
                    before[target].append((node, row))
            if node not in chosen and _gain(row, members, values):
                chosen[node] = row
                waiting.append(node)
    for node in waiting:
        for earlier, row in before[node]:
            if earlier not in chosen:
                chosen[earlier] = row
                waiting.append(earlier)
    return chosen


def _staying_nodes(product: MonitorProduct, part: list[int], values: list[Value | None]) -> set[int]:
    """The nodes from which one can stay for ever among themselves and exits of value 0."""
    staying = set(part)
    members = set(part)
    while True:
        gone = {
            node
            for node in staying
            if not any(
                not _gain(row, members, values) and all(t in staying or t not in members for t, _ in row)
                for row in product.rows[node]
            )
        }
        if not gone:
            return staying
        staying -= gone
