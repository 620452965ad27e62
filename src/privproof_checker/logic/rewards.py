"""The least and the greatest expected reward over all schedulers, exactly.

A node has *moves*: what is gained, and a row.  Whatever is asked is what is gained until a set of goals is reached.

**Until a goal.**  A scheduler that may never get there collects an infinite reward, by definition.

* Greatest.  Let K be the largest set of nodes, none of them a goal, in which one can stay for ever.  From where K can be reached
  (not through a goal) the greatest reward is infinite.  From the other nodes every scheduler reaches a goal almost surely, whatever
  is chosen.  v is the value of some choices, and ``v >= gain + sum p v`` for every move; so by induction no scheduler gains more
  than v in n steps, for any n.
* Least.  Let S be the largest set of nodes from each of which a goal can be reached by moves that never leave S.  From elsewhere no
  scheduler reaches a goal almost surely: the nodes from which one does form such a set.  A scheduler that reaches one almost surely
  never leaves S.  v is the value of choices inside S that reach a goal almost surely, and ``v <= gain + sum p v`` for every move
  that stays in S; so v is at most what is gained in n steps plus the expected v after them, and that tends to 0 for a scheduler
  that reaches a goal almost surely.

The choices are found by improving a choice that leaves its component almost surely, as long as a move is strictly better; what is
found is right however it was found: where no move is better, the inequalities above hold, and the equations were solved for a
choice under which the component is left almost surely, which is looked at anew in every round.

**In all steps.**  Under every scheduler a run stays almost surely in an end component from some step on, taking all its moves again
and again.  Greatest: infinite where an end component with a gain can be reached; elsewhere all of them gain nothing, and stopping
there changes nothing.  Least: a finite reward is only had by ending in end components that gain nothing, where one may stay; these
are the goals.

**Until a path formula is satisfied.**  The formula has only X, U, conjunction and disjunction outside of its leaves, and every leaf
has to be read: the goals are the nodes of the product from which the step leaves the obligation true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from flint import fmpq

from privproof_checker.graph_algorithms import components, reachable
from privproof_checker.logic.decision_processes import Process, Row, walk_of
from privproof_checker.logic.end_components import edges_before, end_components, reached_for_sure
from privproof_checker.logic.formulas import (
    Expected,
    Leaf,
    Next,
    Path,
    PathNot,
    PathSeveral,
    State,
    States,
    Steps,
    Until,
)
from privproof_checker.logic.longrun import long_run
from privproof_checker.logic.measures import Holds
from privproof_checker.logic.monitor_products import explore
from privproof_checker.logic.obligations import Obligations, Truths
from privproof_checker.logic.solving import eliminate
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse, within

Move: TypeAlias = tuple[Rational, Row]
Moves: TypeAlias = list[list[Move]]
Amount: TypeAlias = "Rational | None"

_MOST_ROUNDS = 2_000
"""Choices that have not settled after so many rounds of policy iteration are refused; a few rounds are usual."""
_MOST_WORK = 60_000_000
"""Entries of rows that are passed in all steps of a bounded reward, each counted once per 64 bits of the numbers; beyond, it is refused."""


def expectations(
    process: Process, formula: Expected, holds: Holds, asked: Iterable[int]
) -> dict[int, tuple[Amount, Amount] | None]:
    """The least and the greatest expected reward from some states (None: infinite); not known where a formula inside is not."""
    moves = _moves(process, formula.reward)
    starts = list(dict.fromkeys(asked))
    if isinstance(formula.until, Steps) and formula.until.mean:
        if not process.chain:
            refuse("the long run of a decision process is not supported", "question.formula")
        found = long_run([own[0][1] for own in moves], [own[0][0] for own in moves], starts)
        return {s: (value, value) for s, value in found.items()}
    if isinstance(formula.until, Steps):
        low, high = (_of_steps(process, formula, moves, greatest=greatest) for greatest in (False, True))
        return {s: (low[s], high[s]) for s in starts}
    domain = walk_of(process).reached(starts)
    unknown = False

    def read(state: State, truth: bool) -> States:  # noqa: FBT001
        nonlocal unknown
        found = holds(state, domain)
        unknown = unknown or any(found[s] is None for s in domain)
        return States(frozenset(s for s in domain if found[s] is truth), "")

    path = _positive(formula.until, read, truth=True)
    if unknown:
        return dict.fromkeys(starts)
    obligations = Obligations()
    root = obligations.of(path)
    members = [leaf.members for leaf in obligations.leaves if isinstance(leaf, States)]
    truths: list[Truths | None] = [tuple(s in one for one in members) for s in range(len(process.names))]
    product = explore(walk_of(process), obligations, truths, ((s, root) for s in starts))
    paired: Moves = []
    goals: list[bool] = []
    for (state, obligation), rows in zip(product.nodes, product.rows, strict=True):
        paired.append([(gain, row) for (gain, _), row in zip(moves[state], rows, strict=True)] if rows else [])
        here = truths[state]
        assert here is not None
        satisfied = obligation == obligations.true
        goals.append(satisfied or (bool(rows) and obligations.left(obligation, here) == obligations.true))
    low, high = (_until(paired, goals, greatest=greatest) for greatest in (False, True))
    numbers = {s: product.number[s, root] for s in starts}
    return {s: (low[node], high[node]) for s, node in numbers.items()}


def _moves(process: Process, reward: str) -> Moves:
    """What every choice gains, in the order of the rows of the walk."""
    rewards = process.rewards[reward]
    result: Moves = []
    for state, choices in enumerate(process.choices):
        own = rewards.states.get(state, ZERO)
        ordered = sorted(choices.items(), key=lambda choice: choice[0] or 0)
        result.append([(own + rewards.choices.get((state, action), ZERO), row) for action, row in ordered])
    return result


def _rows(moves: Moves) -> list[list[Row]]:
    return [[row for _, row in own] for own in moves]


def _positive(path: Path, read: Callable[[State, bool], States], *, truth: bool) -> Path:
    """The formula, or its negation, with leaves that are sets of states, and without negation; refuses one that is not co-safe."""
    match path:
        case Leaf(state):
            return Leaf(read(state, truth))
        case PathNot(inner):
            return _positive(inner, read, truth=not truth)
        case PathSeveral(every, parts):
            return PathSeveral(every == truth, tuple(_positive(part, read, truth=truth) for part in parts))
        case Next(steps, inner):
            return Next(steps, _positive(inner, read, truth=truth))
        case Until(left, right, low, high) if truth:
            return Until(_positive(left, read, truth=True), _positive(right, read, truth=True), low, high)
    refuse("rewards are collected until a co-safe formula is satisfied: one of X, U, and, or", "question.formula")


def _until(moves: Moves, goals: list[bool], *, greatest: bool) -> list[Amount]:
    """The gain until a goal."""
    inside = _never_avoided(moves, goals) if greatest else reached_for_sure(_rows(moves), goals)
    return _values(moves, goals, inside, greatest=greatest)


def _never_avoided(moves: Moves, goals: list[bool]) -> set[int]:
    """The nodes from which every scheduler reaches a goal almost surely."""
    staying = {node for node, goal in enumerate(goals) if not goal}
    while True:
        gone = {
            node
            for node in staying
            if moves[node] and not any(all(target in staying for target, _ in row) for _, row in moves[node])
        }
        if not gone:
            break
        staying -= gone
    before = edges_before(_rows(moves), lambda node, row: not goals[node])
    able = reachable(staying, before.__getitem__)
    return set(range(len(moves))) - able


def _values(moves: Moves, goals: list[bool], inside: set[int], *, greatest: bool) -> list[Amount]:
    """The gain until a goal from the nodes inside, by moves that stay inside; infinite elsewhere."""
    kept: Moves = [
        [] if goals[node] or node not in inside else [move for move in own if all(t in inside for t, _ in move[1])]
        for node, own in enumerate(moves)
    ]
    values: list[Amount] = [ZERO if goals[node] else None for node in range(len(moves))]
    following = [list({target for _, row in own for target, _ in row}) for own in kept]
    for part in components([node for node in sorted(inside) if not goals[node]], following.__getitem__):
        if not goals[part[0]]:
            _settle(kept, part, values, greatest=greatest)
    return values


def _settle(moves: Moves, part: list[int], values: list[Amount], *, greatest: bool) -> None:
    """Fill in the values of a component that can be left."""
    chosen = _leaving_moves(part, {node: moves[node] for node in part})
    if len(chosen) < len(part):
        refuse("a component of the process cannot be left", "question.process")
    for _ in range(_MOST_ROUNDS):
        if len(_leaving_moves(part, {node: [chosen[node]] for node in part})) < len(part):
            refuse("a choice stays in a component for ever", "question.process")
        _solve(part, [chosen[node] for node in part], values)
        improved = False
        for node in part:
            here = _exact(values[node])
            for move in moves[node]:
                found = _worth(move, values)
                if found > here if greatest else found < here:
                    here, improved = found, True
                    chosen[node] = move
        if not improved:
            return
    refuse("the choices of a decision process do not settle", "question.process")


def _leaving_moves(part: list[int], moves: dict[int, list[Move]]) -> dict[int, Move]:
    """For the nodes from which the component can be left a move that leads there."""
    before: dict[int, list[tuple[int, Move]]] = {node: [] for node in part}
    chosen: dict[int, Move] = {}
    for node in part:
        for move in moves[node]:
            for target, _ in move[1]:
                if target in before:
                    before[target].append((node, move))
                else:
                    chosen.setdefault(node, move)
    waiting = list(chosen)
    for node in waiting:
        for earlier, move in before[node]:
            if earlier not in chosen:
                chosen[earlier] = move
                waiting.append(earlier)
    return chosen


def _solve(part: list[int], chosen: list[Move], values: list[Amount]) -> None:
    local = {node: i for i, node in enumerate(part)}
    inside, worth, outside = [], [], []
    for gain, row in chosen:
        leaving = ZERO
        for target, p in row:
            if target not in local:
                gain, leaving = gain + _exact(p) * _exact(values[target]), leaving + _exact(p)
        inside.append({local[target]: p for target, p in row if target in local})
        worth.append(gain)
        outside.append(leaving)
    for node, value in zip(part, eliminate(inside, worth, outside), strict=True):  # type: ignore[arg-type]
        values[node] = _exact(value)


def _worth(move: Move, values: list[Amount]) -> Rational:
    total, row = move
    for target, p in row:
        total = total + _exact(p) * _exact(values[target])
    return total


def _exact(value: object) -> Rational:
    assert isinstance(value, fmpq)
    return value


def _of_steps(process: Process, formula: Expected, moves: Moves, *, greatest: bool) -> list[Amount]:
    assert isinstance(formula.until, Steps)
    count, moment = formula.until.count, formula.until.moment
    if count is None:
        return _all_steps(moves, greatest=greatest)
    values: list[Amount] = [ZERO] * len(moves)
    if moment:
        own = process.rewards[formula.reward].states
        values = [own.get(state, ZERO) for state in range(len(moves))]
        moves = [[(ZERO, row) for _, row in each] for each in moves]
    entries = sum(len(row) for own in moves for _, row in own)
    best = max if greatest else min
    work = 0
    for _ in range(count):
        values = [best(_worth(move, values) for move in own) for own in moves]
        size = max((value.q.bit_length() for value in values if value is not None), default=1)
        work += entries * (1 + size // 64)
        within(work, _MOST_WORK, "entries passed in all steps", "question.formula")
    return values


def _all_steps(moves: Moves, *, greatest: bool) -> list[Amount]:
    """The gain of all steps."""
    if not greatest:
        quiet: Moves = [[move for move in own if move[0] == 0] for own in moves]
        still = {node for part in end_components(_rows(quiet)) for node in part}
        return _until(moves, [node in still for node in range(len(moves))], greatest=False)
    stop = len(moves)
    stopping: Moves = [list(own) for own in moves] + [[]]
    gaining: list[int] = []
    for part in end_components(_rows(moves)):
        members = set(part)
        gains = [gain for node in part for gain, row in moves[node] if all(target in members for target, _ in row)]
        if any(gain > 0 for gain in gains):
            gaining.extend(part)
        else:
            for node in part:
                stopping[node].append((ZERO, ((stop, ONE),)))
    endless = reachable(gaining, edges_before(_rows(moves), lambda node, row: True).__getitem__)
    goals = [False] * stop + [True]
    return _values(stopping, goals, set(range(stop + 1)) - endless, greatest=True)[:stop]
