"""``D_{ε,δ} φ`` on large decision processes, so that the checker can check it in columns.

What a path formula that looks k steps ahead says about two neighbours depends on the states alone that k steps lead to.  Where these are
few (or all states within reach, where it looks ahead without end), the question is asked of the process of these states, by `queries`,
whatever the size of the whole (`NearPairs`).  Otherwise (`FarPairs`)

* *Proposition 2* by vectors: bounds on the greatest probability at the left and on the least one at the right, over all schedulers of the
  process in which every state has every action;
* *a sequence of actions* by vectors: along it the process is a chain, of positions and states, whose probabilities are bounded from both
  sides.  Few sequences are tried: one action for ever, all in turn, and what the best schedulers would do on their likeliest runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privproof.logic.decision_process import REFUSED, Bools, DecisionProcess, Ints, Numbered
from privproof.logic.exact_solving import TooLarge
from privproof.logic.formulas import Formula, Private
from privproof.logic.large_processes import Evidence, PathBounds, path_bounds
from privproof.logic.path_measures import Closeness, Gap, Truths, ValueBetween, gap_between, lower, worst_of
from privproof.logic.path_probabilities import Path, horizon
from privproof.logic.query_schedulers import ByWords, Lasso, closeness
from privproof.logic.query_vectors import Columns, runs_of

if TYPE_CHECKING:
    from privproof.logic.model_checking import Checker

_NEAR = 20_000
"""States near the pairs, up to which they are a process of their own: as many as the checker takes for a small one."""
_NEAR_ENTRIES = 200_000
"""And their entries: the checker goes through them one by one, in about a second."""
_ALONG = 1_000_000
"""Entries of all chains along the sequences of actions that are tried for a direction: a few seconds."""
_POSITIONS = 50_000_000
"""Positions of a sequence times states: a byte each, while the chain along the sequence is made."""
_LONGEST = 40
"""Actions that a best scheduler takes on its likeliest run, which are tried as the beginning of a sequence."""
_COMPLETED = 30_000_000
"""Entries of the process in which every state has every action: about a gigabyte in all vectors."""


@dataclass(frozen=True, eq=False)
class NearPairs:
    """The states near the pairs, and what is known of each direction in the process of these states."""

    states: Ints
    directions: tuple[Gap, ...]


@dataclass(frozen=True, eq=False)
class FarPairs:
    """Vectors on the completed process, and those along sequences of actions, by the directions that they violate."""

    bounds: PathBounds
    along: dict[tuple[int, int], PathBounds]


def far_closeness(
    checker: Checker, formula: Private, path: Path, truths: list[Bools], *, near: bool = True
) -> Closeness | None:
    """What is known of D on a large decision process; None where it is left to the search that has no columns.

    Args:
        checker: knows the process, and the formulas inside.
        formula: the formula of D.
        path: its path formula, prepared.
        truths: where the formulas inside hold.
        near: whether to look at the process of the states near the pairs first.
    """
    process = checker.process
    begin = np.array(sorted({s for pair in process.related for s in pair}), np.int64)
    steps = None if process.missing == "enabled" and process.lacking else horizon(path)
    around = checker.columns.within_steps(begin, len(process) if steps is None else steps)
    if process.missing == "refuse" and process.lacking:
        around = np.union1d(around, [process.state(REFUSED)])
    found, noted = None, len(checker.reasons)
    if near and len(around) <= _NEAR:
        part = checker.columns.only(around)
        if len(part.process.targets) <= _NEAR_ENTRIES:
            found = _near_closeness(checker, formula, path, truths, around, part.process)
            if (found.truth[begin] >= 0).all():
                return found
    if (process.missing == "enabled" and process.lacking) or len(process.targets) + process.lacking > _COMPLETED:
        return found
    try:
        by_vectors = _by_vectors(checker, formula, begin)
    except TooLarge:
        return found
    if by_vectors is None or (by_vectors.truth[begin] < 0).any():
        return found
    del checker.reasons[noted:]
    return by_vectors


def _near_closeness(
    checker: Checker, formula: Private, path: Path, truths: list[Bools], near: Ints, part: DecisionProcess
) -> Closeness:
    process = checker.process
    place = {int(s): i for i, s in enumerate(near)}
    pairs = tuple((place[s], place[t]) for s, t in process.related)
    small = replace(part, names=tuple(process.names[s] for s in near), neighbours=pairs, missing=process.missing)
    alone = replace(checker, process=small, asked=(), measured={}, _known={})
    found = closeness(alone, formula, path, [truth[near] for truth in truths])
    truth: Truths = np.ones(len(process), np.int8)
    truth[near] = found.truth

    def told(gap: Gap) -> Gap:
        proof = gap.proof
        if isinstance(proof, ByWords):
            states = {name: int(near[state]) for name, state in proof.states.items()}
            proof = replace(proof, states=states, starts={int(near[s]): name for s, name in proof.starts.items()})
        return replace(gap, left=int(near[gap.left]), right=int(near[gap.right]), proof=proof)

    return Closeness(
        formula,
        truth,
        lambda s, t: told(found.gap(place[s], place[t])),
        process.related,
        found.how,
        tuple(map(told, found.directions)),
        far=NearPairs(near, found.directions),
    )


def _by_vectors(checker: Checker, formula: Private, begin: Ints) -> Closeness | None:
    process, monitor = checker.process, checker.monitor
    completed = process.completed

    def decided(inner: Formula) -> Bools | None:
        found = checker.decided([inner])
        return None if found is None else found[0]

    bounds = path_bounds(Columns(completed), formula.path, decided, monitor, begin)
    if bounds is None:
        return None
    least, most = bounds.probabilities(largest=False), bounds.probabilities(largest=True)
    gaps: dict[tuple[int, int], Gap] = {}
    along: dict[tuple[int, int], PathBounds] = {}
    for pair in process.related:
        for s, t in (pair, pair[::-1]):
            p, q = (ValueBetween(least(state).low, most(state).high) for state in (s, t))
            gap = gap_between(s, t, p, q, formula)
            if gap.holds:
                reason = "the extremes over all schedulers are close enough (Proposition 2)"
                gaps[s, t] = replace(gap, reason=reason)
                continue
            gaps[s, t] = replace(gap, holds=None, reason="the extremes over all schedulers leave it open")
            left = _ALONG
            for lasso in _sequences(completed, bounds, (s, t)):
                monitor.pause()
                try:
                    chain, shows, starts = chain_along(completed, (s, t), lasso, left)
                    left -= len(chain.targets)
                    shown = _violating_gap(checker, formula, (s, t), lasso, chain, shows, starts)
                except TooLarge:
                    continue
                if shown is not None:
                    gaps[s, t], along[s, t] = shown
                    break
    truth: Truths = np.ones(len(process), np.int8)
    for (s, t), gap in gaps.items():
        lower(truth, (s, t), holds=gap.holds)

    def worse(s: int, t: int) -> Gap:
        found = worst_of([gaps[s, t], gaps[t, s]])
        assert found is not None
        return found

    how = "over query schedulers, bounded by vectors, in exact arithmetic"
    return Closeness(formula, truth, worse, process.related, how, tuple(gaps.values()), far=FarPairs(bounds, along))


def _violating_gap(
    checker: Checker,
    formula: Private,
    pair: tuple[int, int],
    lasso: Lasso,
    chain: DecisionProcess,
    shows: Ints,
    starts: tuple[int, int],
) -> tuple[Gap, PathBounds] | None:
    """The gap and the vectors along a sequence of actions, where it violates the claim."""

    def shown(inner: Formula) -> Bools | None:
        found = checker.decided([inner])
        return None if found is None else found[0][shows]

    wanted = np.unique(np.array(starts, np.int64))
    bounds = path_bounds(Columns(chain), formula.path, shown, checker.monitor, wanted)
    if bounds is None:
        return None
    likely = bounds.probabilities(largest=False)
    gap = gap_between(*pair, likely(starts[0]), likely(starts[1]), formula)
    if gap.holds is not False:
        return None
    names = checker.process.actions
    named = (tuple(names[a] for a in lasso.before), tuple(names[a] for a in lasso.repeated))
    return replace(gap, proof=lasso, actions=named, reason="this sequence of actions violates it"), bounds


def _sequences(completed: DecisionProcess, bounds: PathBounds, pair: tuple[int, int]) -> Iterator[Lasso]:
    """Sequences that are tried."""
    actions = len(completed.actions)
    turns = tuple(range(actions))
    for item in bounds.evidence:
        if isinstance(item, Evidence) and item.most is not None:
            for side, state in ((item.most.low, pair[0]), (item.least.high, pair[1])):
                if side.policy is not None:
                    yield Lasso(_likeliest(completed, side.policy, state), turns)
    yield Lasso((), turns)
    for action in turns:
        yield Lasso((), (action,))


def _likeliest(completed: DecisionProcess, policy: Ints, state: int) -> tuple[int, ...]:
    """The actions of a policy on its likeliest run."""
    taken: list[int] = []
    actions = len(completed.actions)
    for _ in range(_LONGEST):
        choice = state * actions + int(policy[state])
        taken.append(int(completed.action_of[choice]))
        state = max(completed.entries(choice), key=lambda entry: (float(entry[1]), -entry[0]))[0]  # type: ignore[arg-type]
    return tuple(taken)


def chain_along(
    completed: DecisionProcess, pair: tuple[int, int], lasso: Lasso, most: int = _ALONG
) -> tuple[DecisionProcess, Ints, tuple[int, int]]:
    """The chain of a process along a sequence of actions, the state that each of its states shows, and where two states begin.

    Only what is reached from the two is in it; its states are in the order of positions of the sequence, and then of the states.

    Raises:
        TooLarge: it has too many entries.
    """
    sequence, actions = np.array((*lasso.before, *lasso.repeated), np.int64), len(completed.actions)
    count, length = len(completed), len(sequence)
    following = np.append(np.arange(1, length), len(lasso.before))
    if length * count > _POSITIONS:
        raise TooLarge("the sequence of actions is too long for so large a process")
    marks = np.zeros(length * count, np.bool_)  # of position * count + state
    front, size = np.unique(np.array(pair, np.int64)), 0
    while len(front):
        marks[front] = True
        position, state = np.divmod(front, count)
        choices = state * actions + sequence[position]
        entries = runs_of(completed.rows, choices)
        size += len(entries)
        if size > most:
            raise TooLarge("the chain along a sequence of actions is too long")
        lengths = completed.rows[choices + 1] - completed.rows[choices]
        ahead = np.unique(np.repeat(following[position], lengths) * count + completed.targets[entries])
        front = ahead[~marks[ahead]]
    found = np.flatnonzero(marks)
    position, shows = np.divmod(found, count)
    choices = shows * actions + sequence[position]
    entries = runs_of(completed.rows, choices)
    lengths = completed.rows[choices + 1] - completed.rows[choices]
    ahead = np.repeat(following[position], lengths) * count + completed.targets[entries]
    chain = DecisionProcess(
        names=Numbered(len(found)),
        choices=np.arange(len(found) + 1),
        rows=np.append(0, np.cumsum(lengths)),
        targets=np.searchsorted(found, ahead),
        values=completed.values[entries],
        numbers=completed.numbers,
    )
    left, right = np.searchsorted(found, np.array(pair)).tolist()
    return chain, shows, (left, right)
