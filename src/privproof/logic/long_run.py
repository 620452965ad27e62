"""What happens in the long run on a Markov chain, exactly: the share of steps in some states (``S``), the mean reward of a step (``R [
S ]``).

A run ends in a bottom component, almost surely.  There the mean of a number per step is that of one round from a state back to it:
what a round is expected to gain, divided by how long it is expected to take (the renewal theorem).  Elsewhere it is the expected
value of the component that the run ends in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, Rational
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.exact_solving import Exactly, TooLarge
from privproof.logic.formulas import Formula, Steady
from privproof.logic.path_measures import Likelihood, ValueBetween, inside
from privproof.logic.policy_iteration import exact_row
from privproof.logic.process_graphs import ProcessGraph

if TYPE_CHECKING:
    from privproof.logic.model_checking import Checker


def steady(checker: Checker, formula: Steady) -> Likelihood:
    """What is known of ``S_J [ Φ ]``."""
    process = checker.process
    count = len(process)
    refuse_choices(process, formula)
    truths = checker.decided([formula.inner])
    values: list[Rational] | None = None
    if truths is not None:
        try:
            values = long_run(process, [ONE if here else ZERO for here in truths[0].tolist()], checker)
        except TooLarge as problem:
            checker.reasons.append(str(problem))
    if values is None:
        unknown = ValueBetween(ZERO, ONE)
        truth = np.full(count, -1 if formula.within is not None else 1, np.int8)
        return Likelihood(formula, truth, lambda s: unknown, lambda s: unknown, "not decided")
    found = values
    truth = np.ones(count, np.int8)
    if formula.within is not None:
        for s, value in enumerate(found):
            truth[s] = inside(formula.within, ValueBetween(value, value), ValueBetween(value, value))
    return Likelihood(
        formula, truth, lambda s: ValueBetween(found[s], found[s]), lambda s: ValueBetween(found[s], found[s]), "exact"
    )


def refuse_choices(process: DecisionProcess, formula: Formula) -> None:
    """Complain about a decision process."""
    if not process.is_chain:
        raise QuestionError(
            "long-run",
            f"{formula} is about the long run, which can be asked of Markov chains, and this is a decision process",
            place="formula",
            hint="P=? [ G F done ] and P=? [ F G done ] can be asked",
        )


def long_run(process: DecisionProcess, gains: Sequence[Rational], checker: Checker) -> list[Rational]:
    """The mean gain of a step in the long run, from every state of a chain; a state gains when it is left."""
    if not process.exact:
        raise TooLarge("the long run of a chain with enclosures is not supported")
    count = len(process)
    graph = ProcessGraph(process.rows, process.targets, process.values)
    arithmetic = Exactly(process.numbers, checker.monitor)
    everywhere = np.ones(count, np.bool_)
    order, starts = graph.order(everywhere)
    part_of = np.empty(count, np.int64)
    part_of[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    leaving = np.zeros(len(starts) - 1, np.bool_)
    leaving[part_of[graph.sources[part_of[graph.sources] != part_of[graph.targets]]]] = True
    values = [ZERO] * count
    recurrent = np.zeros(count, np.bool_)
    nodes, begins = order.tolist(), starts.tolist()
    for part in np.flatnonzero(~leaving).tolist():
        checker.monitor.pause()
        members = nodes[begins[part] : begins[part + 1]]
        mean = _round(process, members, gains, arithmetic) / _round(process, members, [ONE] * count, arithmetic)
        for state in members:
            values[state] = mean
            recurrent[state] = True
    found: list[Rational] = arithmetic.solve(graph, values, ~recurrent)
    return found


def _round(process: DecisionProcess, part: list[int], gains: Sequence[Rational], arithmetic: Exactly) -> Rational:
    """What is gained from the first state of a bottom component until it is left again."""
    first, others = part[0], part[1:]
    edges = [[(number, target) for target, number in exact_row(process, state)] for state in others]
    values: dict[int, Rational] = {first: ZERO}
    if others:
        arithmetic.settle(others, edges, values, gains=[gains[state] for state in others])
    total = gains[first]
    for target, number in exact_row(process, first):
        total += number * values[target]
    return total
