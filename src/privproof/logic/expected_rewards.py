"""Expected rewards on chains and decision processes, exactly: the least and the largest over all schedulers.

All are rewards *until a goal*, which `policies` computes part by part:

* Until a path formula is satisfied: it must be co-safe, so that a run satisfies it after finitely many steps or never.  The goal
  are the nodes of the product with the formula at which it is satisfied *by what has been read*: ``X true`` takes one step, as in
  PRISM.  A scheduler that may fail to get there collects an infinite reward.  So the largest is finite where every scheduler gets
  there almost surely, and the least where some does; the least is then the least of those schedulers, and no choice of theirs leads
  to where none does.
* In all steps (``C``), largest: infinite where a run can come to an end component in which something is gained.  Elsewhere all end
  components gain nothing, and whoever is in one may as well stop: the goal.  Least: a run whose reward is finite ends in an end
  component where nothing is gained, so these are the goal.
* In the first k steps (``C<=k``), and of the state after k steps (``I=k``): backwards, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, Rational
from privproof.logic.automaton_products import MonitorProduct, product
from privproof.logic.decision_process import Bools, DecisionProcess
from privproof.logic.end_components import end_components, surely_for_all, surely_for_some
from privproof.logic.exact_solving import LONG, Exactly, TooLarge
from privproof.logic.formulas import (
    Accumulated,
    And,
    Expected,
    Formula,
    Implies,
    LongRun,
    Momentary,
    NextState,
    Not,
    Or,
    Unary,
    Until,
)
from privproof.logic.formulas.formula_syntax import Count
from privproof.logic.formulas.sublogics import is_state_formula
from privproof.logic.long_run import long_run, refuse_choices
from privproof.logic.path_measures import INFINITE, Likelihood, ValueBetween
from privproof.logic.path_probabilities import Path, after, conjunction, disjunction, until
from privproof.logic.policy_iteration import Option, Options, exact_row, graph_of, settle, worth
from privproof.logic.reward_structures import Rewards

if TYPE_CHECKING:
    from privproof.logic.model_checking import Checker

_MOST_STEPS_TIMES_STATES = 50_000_000
"""Steps times entries of the process, for rewards that are computed step by step; beyond it the question is too large."""


def expectation(checker: Checker, formula: Expected) -> Likelihood:
    """What is known of ``R_J [ ... ]``."""
    process = checker.process
    path = formula.path
    if isinstance(path, Accumulated | Momentary) and path.steps is not None and path.steps.constant < 0:
        raise QuestionError("reward", f"{formula} looks {-path.steps.constant} steps back", place="formula")
    rewards = process.reward(formula.reward)
    count = len(process)
    try:
        if not process.exact:
            raise TooLarge("expected rewards of a process with enclosures are not supported")
        find = _reward_finder(checker, formula, rewards)
        least = None if find is None else find(False)  # noqa: FBT003 - whether the largest is asked for
        most = least if process.is_chain or find is None else find(True)  # noqa: FBT003
    except TooLarge as problem:
        checker.reasons.append(str(problem))
        least = most = None
    if least is None or most is None:
        unknown = ValueBetween(ZERO, ONE)
        truth = np.full(count, -1 if formula.within is not None else 1, np.int8)
        return Likelihood(formula, truth, lambda s: unknown, lambda s: unknown, "not decided")
    low, high = least, most
    truth = np.ones(count, np.int8)
    if formula.within is not None:
        for s in range(count):
            truth[s] = formula.within.contains(low[s]) and formula.within.contains(high[s])
    return Likelihood(formula, truth, lambda s: _amount(low[s]), lambda s: _amount(high[s]), "exact")


def _amount(value: Rational | None) -> ValueBetween:
    return INFINITE if value is None else ValueBetween(value, value)


Find = Callable[[bool], list[Rational | None]]
"""From whether the largest is asked for to the expected rewards from all states; None is infinite."""


def _reward_finder(checker: Checker, formula: Expected, rewards: Rewards) -> Find | None:
    """How to compute the rewards of a formula; None where a formula inside is not decided."""
    process, monitor = checker.process, checker.monitor
    match formula.path:
        case Accumulated(None):
            options = _options(process, rewards)
            return lambda largest: total(options, monitor, largest=largest)
        case Accumulated(Count(steps)):
            options, begin = _options(process, rewards), [ZERO] * len(process)
            return lambda largest: _stepwise(options, begin, steps, monitor, largest=largest)
        case Momentary(Count(steps)):
            bare = [[(ZERO, row) for _, row in own] for own in _options(process, rewards)]
            begin = [rewards.of_state(s) for s in range(len(process))]
            return lambda largest: _stepwise(bare, begin, steps, monitor, largest=largest)
        case LongRun():
            refuse_choices(process, formula)
            gains = [rewards.leaving(s, s) for s in range(len(process))]
            return lambda largest: list(long_run(process, gains, checker))
    numbered: dict[Formula, int] = {}
    path = satisfied_by_reading(formula.path, lambda inner: numbered.setdefault(inner, len(numbered)))
    truths = checker.decided(numbered)
    if truths is None:
        return None
    return lambda largest: _until_satisfied(process, rewards, truths, path, monitor, largest=largest)


def _options(process: DecisionProcess, rewards: Rewards) -> list[list[Option]]:
    """What every choice of every state gains, and where it leads."""
    begins = process.choices.tolist()
    return [
        [(rewards.leaving(s, c), exact_row(process, c)) for c in range(begins[s], begins[s + 1])]
        for s in range(len(process))
    ]


def satisfied_by_reading(formula: Formula, leaf: Callable[[Formula], int], *, truth: bool = True) -> Path:
    """A co-safe path formula, or its negation, in normal form; every state formula in it, also ``true``, is a leaf that has to be read.

    There are no negations but in leaves, so that nothing is true before all that it speaks of has been read.
    """
    if is_state_formula(formula):
        return ("leaf", leaf(formula if truth else Not(formula)))
    match formula:
        case Not(inner):
            return satisfied_by_reading(inner, leaf, truth=not truth)
        case And(parts) | Or(parts):
            found = [satisfied_by_reading(part, leaf, truth=truth) for part in parts]
            return conjunction(found) if isinstance(formula, And) == truth else disjunction(found)
        case Implies(left, right):
            return satisfied_by_reading(Or((Not(left), right)), leaf, truth=truth)
        case NextState(inner, times) if times.constant >= 0:
            return after(satisfied_by_reading(inner, leaf, truth=truth), times.constant)
        case Unary("F", inner, bound) if truth:
            return until(("true",), satisfied_by_reading(inner, leaf), bound)
        case Unary("G", inner, bound) if not truth:
            return until(("true",), satisfied_by_reading(inner, leaf, truth=False), bound)
        case Until("U", left, right, bound) if truth:
            return until(satisfied_by_reading(left, leaf), satisfied_by_reading(right, leaf), bound)
        case Until("R", left, right, bound) if not truth:
            first, second = (satisfied_by_reading(part, leaf, truth=False) for part in (left, right))
            return until(first, second, bound)
    raise QuestionError(
        "reward",
        f"rewards are collected until a path formula is satisfied, and {formula} may not be so after any number of steps",
        place="formula",
        hint="R=? [ F done ]: from X, F, U, & and | (co-safe formulas); R=? [ C<=10 ], R=? [ C ], R=? [ I=10 ]",
    )


def _until_satisfied(
    process: DecisionProcess,
    rewards: Rewards,
    truths: Sequence[Bools],
    path: Path,
    monitor: Monitor,
    *,
    largest: bool,
) -> list[Rational | None]:
    whole = product(process, truths, path, range(len(process)), monitor)
    begins = process.choices.tolist()
    options: list[list[Option]] = []
    goal: list[bool] = []
    for (state, _), choices in zip(whole.nodes, whole.choices, strict=True):
        options.append([(rewards.leaving(state, begins[state] + c), row) for c, (_, row) in enumerate(choices)])
        goal.append(bool(choices) and choices[0][1] == ((MonitorProduct.GOAL, ONE),))
    goal[MonitorProduct.GOAL] = True
    found = until_goal(options, goal, monitor, largest=largest)
    return [found[whole.start[s]] for s in range(len(process))]


def until_goal(options: Options, goal: Sequence[bool], monitor: Monitor, *, largest: bool) -> list[Rational | None]:
    """The largest or least expected gain until the goal is reached; infinite where it may not be."""
    sure = surely_for_all(options, goal) if largest else surely_for_some(options, goal)
    return _solve_gains(options, goal, sure, monitor, largest=largest)


def _solve_gains(
    options: Options, goal: Sequence[bool], finite: Sequence[bool], monitor: Monitor, *, largest: bool
) -> list[Rational | None]:
    """The gains where they are finite, by options that stay there."""
    kept = [
        [option for option in own if all(finite[target] for target, _ in option[1])]
        if finite[node] and not goal[node]
        else []
        for node, own in enumerate(options)
    ]
    graph = graph_of(kept)
    order, starts = graph.order(np.array(finite, np.bool_) & ~np.array(goal, np.bool_))
    values: list[Rational] = [ZERO] * len(kept)
    arithmetic = Exactly((), monitor)
    nodes, begins = order.tolist(), starts.tolist()
    for begin, end in pairwise(begins):
        monitor.pause()
        settle(kept, nodes[begin:end], values, arithmetic, largest=largest)
    return [value if here else None for value, here in zip(values, finite, strict=True)]


def total(options: Options, monitor: Monitor, *, largest: bool) -> list[Rational | None]:
    """The largest or least expected gain of all steps."""
    count = len(options)
    if not largest:
        still = end_components(options, range(count), lambda node, c: options[node][c][0] == 0)
        goal = [False] * count
        for part in still:
            for node in part:
                goal[node] = True
        return until_goal(options, goal, monitor, largest=False)
    parts = end_components(options, range(count))
    gaining = [any(options[node][c][0] > 0 for node, own in part.items() for c in own) for part in parts]
    marks = np.zeros(count + 1, np.bool_)
    stopping: list[list[Option]] = [list(own) for own in options] + [[]]
    for part, gains in zip(parts, gaining, strict=True):
        for node in part:
            if gains:
                marks[node] = True
            else:
                stopping[node].append((ZERO, ((count, ONE),)))
    endless = graph_of(stopping).reaching(marks, np.ones(count + 1, np.bool_))
    goal = [False] * count + [True]
    return _solve_gains(stopping, goal, (~endless).tolist(), monitor, largest=True)[:count]


def _stepwise(
    options: Options, begin: list[Rational], steps: int, monitor: Monitor, *, largest: bool
) -> list[Rational | None]:
    """The largest or least expected gain of some steps, and of what is there at the end."""
    if steps * sum(len(row) for own in options for _, row in own) > _MOST_STEPS_TIMES_STATES:
        raise TooLarge(f"{steps} steps of so large a process are too many for exact arithmetic")
    best = max if largest else min
    values = begin
    for _ in range(steps):
        monitor.pause()
        values = [best(worth(option, values) for option in own) for own in options]
        if any(max(int(value.p).bit_length(), int(value.q).bit_length()) > LONG for value in values):
            raise TooLarge
    return list(values)
