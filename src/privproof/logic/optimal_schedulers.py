"""The least and the largest probability of a path formula over all schedulers of a decision process, exactly.

On the product with a co-safe formula this is the probability of reaching the goal.  The product is solved part by part in reverse
topological order, a strongly connected part by `policies`.  For the least the nodes from which some scheduler avoids the goal for ever are
set to zero first (a greatest fixed point on the graph); among the others no scheduler can stay.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from privproof.engines.search_monitor import Monitor, Stopped
from privproof.exact import ONE, ZERO, Rational
from privproof.logic.automaton_products import MonitorProduct, product, product_decides
from privproof.logic.decision_process import Bools, mark_states
from privproof.logic.end_components import avoidable
from privproof.logic.exact_solving import Exactly, TooLarge
from privproof.logic.formulas import Probable
from privproof.logic.path_measures import Likelihood, Probabilities, ValueBetween, inside
from privproof.logic.path_probabilities import Path
from privproof.logic.policy_iteration import settle, without_gain
from privproof.logic.recurrence_probabilities import extremes_of_any

if TYPE_CHECKING:
    from privproof.logic.model_checking import Checker


def likelihood(checker: Checker, formula: Probable, path: Path, truths: list[Bools]) -> Likelihood:
    """What is known of ``P_J φ`` on a decision process."""
    process = checker.process
    count = len(process)
    if formula.side and formula.within is None and process.exact and product_decides(path):
        return _of_one_side(checker, formula, path, truths)
    found = extremes(checker, path, truths, range(count))
    if found is None:
        unknown = ValueBetween(ZERO, ONE)
        truth = np.full(count, -1 if formula.within is not None else 1, np.int8)
        return Likelihood(formula, truth, lambda s: unknown, lambda s: unknown, "not decided")
    least, most, how = found
    truth = np.ones(count, np.int8)
    if formula.within is not None:
        for s in range(count):
            truth[s] = inside(formula.within, ValueBetween(least[s], least[s]), ValueBetween(most[s], most[s]))
    return Likelihood(
        formula, truth, lambda s: ValueBetween(least[s], least[s]), lambda s: ValueBetween(most[s], most[s]), how
    )


def _of_one_side(checker: Checker, formula: Probable, path: Path, truths: list[Bools]) -> Likelihood:
    """What is known of ``Pmin=?`` or ``Pmax=?``: the other side is computed where somebody wants to see it."""
    process, monitor = checker.process, checker.monitor
    unknown = ValueBetween(ZERO, ONE)

    @cache
    def whole() -> MonitorProduct:
        return product(process, truths, path, range(len(process)), monitor)

    @cache
    def side(largest: bool) -> dict[int, Rational] | None:  # noqa: FBT001
        try:
            found = one_side(whole(), monitor, largest=largest)
        except TooLarge:
            checker.reasons.append("the product of the process and the formula is too large for exact arithmetic")
            return None
        return {s: found[node] for s, node in whole().start.items()}

    def known(largest: bool) -> Probabilities:  # noqa: FBT001
        def probability(s: int) -> ValueBetween:
            try:
                found = side(largest)
            except Stopped:  # the time was up for the side that is not asked for
                found = None
            return unknown if found is None else ValueBetween(found[s], found[s])

        return probability

    how = "not decided" if side(formula.side == "max") is None else "exact"
    return Likelihood(formula, np.ones(len(process), np.int8), known(False), known(True), how)  # noqa: FBT003


def extremes(
    checker: Checker, path: Path, truths: list[Bools], states: Any
) -> tuple[dict[int, Rational], dict[int, Rational], str] | None:
    """The least and the largest probability from the given states; None, with a reason noted, where they cannot be had."""
    process = checker.process
    if not process.exact:
        checker.reasons.append("a decision process with enclosures is not supported")
        return None
    if not product_decides(path):
        return _of_any(checker, path, truths)
    try:
        whole = product(process, truths, path, states, checker.monitor)
        low, high = least_and_most(whole, checker.monitor)
    except TooLarge:
        checker.reasons.append("the product of the process and the formula is too large for exact arithmetic")
        return None
    return (
        {s: low[node] for s, node in whole.start.items()},
        {s: high[node] for s, node in whole.start.items()},
        "exact",
    )


def _of_any(
    checker: Checker, path: Path, truths: list[Bools]
) -> tuple[dict[int, Rational], dict[int, Rational], str] | None:
    """The extremes of a formula that is neither safe nor co-safe; None where that is too large."""
    try:
        least, most = extremes_of_any(checker.process, truths, path, checker.monitor)
    except TooLarge as problem:
        checker.reasons.append(f"{problem}; the formula is neither safe nor co-safe")
        return None
    return dict(enumerate(least)), dict(enumerate(most)), "exact"


def least_and_most(whole: MonitorProduct, monitor: Monitor) -> tuple[list[Rational], list[Rational]]:
    """The least and the largest probability of the formula in every node of a product."""
    return one_side(whole, monitor, largest=False), one_side(whole, monitor, largest=True)


def one_side(whole: MonitorProduct, monitor: Monitor, *, largest: bool) -> list[Rational]:
    """The largest or the least probability of the formula in every node of a product."""
    found = goal_probabilities(whole, largest=largest != whole.complemented, monitor=monitor)
    return [1 - x for x in found] if whole.complemented else found


def goal_probabilities(whole: MonitorProduct, *, largest: bool, monitor: Monitor) -> list[Rational]:
    """The largest or least probability of reaching the goal, from every node of a product."""
    count = len(whole)
    can = whole.graph.reaching(mark_states(count, [MonitorProduct.GOAL]), np.ones(count, np.bool_))
    if not largest:
        can &= ~np.array(avoidable(whole.choices, [node == MonitorProduct.GOAL for node in range(count)]), np.bool_)
    values: list[Rational] = [ZERO] * count
    values[MonitorProduct.GOAL] = ONE
    open_ = can.copy()
    open_[MonitorProduct.GOAL] = False
    order, starts = whole.graph.order(open_)
    arithmetic = Exactly((), monitor)
    options = without_gain(whole.choices)
    nodes, begins = order.tolist(), starts.tolist()
    for number in range(len(begins) - 1):
        part = nodes[begins[number] : begins[number + 1]]
        monitor.pause()
        settle(options, part, values, arithmetic, largest=largest)
    return values
