"""Random Markov chains and random formulas of the logic, and what the formulas mean, from the definitions and without the engine.

Two ways to a probability that share nothing with the engine:

* `holds_on` evaluates a path formula on an ultimately periodic path by the textbook semantics.  It settles chains without
  randomness, and, with `enumerated`, formulas that are decided after finitely many steps.
* `joint` finds, for every state, the probability of each combination of truths of *all* temporal subformulas at once.  In a bottom
  component of the chain exactly one strongly connected part of the product of states and combinations has positive probability:
  the one that fulfils its untils and whose matrix has the eigenvalue one (Baier, Kiefer, Klein, Müller, Worrell, CAV 2016).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from privproof.exact import epsilon, rational
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas.formula_syntax import (
    And,
    Atom,
    Count,
    Formula,
    Iff,
    Implies,
    NextState,
    Not,
    Or,
    Private,
    ProbabilityRange,
    Probable,
    StepBound,
    Truth,
    Unary,
    Until,
)

Chain = list[dict[int, Fraction]]
Labels = dict[str, set[int]]
LABELS = ("a", "b", "c")


# ----------------------------------------------------------------------------------------------------------- random


def random_chain(source: random.Random, states: int, *, deterministic: bool = False) -> Chain:
    """A sparse chain with absorbing states, transient states and cycles."""
    chain: Chain = []
    for state in range(states):
        kind = source.random()
        if kind < 0.12:
            chain.append({state: Fraction(1)})
            continue
        most = 1 if deterministic else source.choice((1, 2, 2, 3))
        # forward edges make transient states, backward ones cycles
        pool = range(state, states) if source.random() < 0.35 else range(states)
        targets = source.sample(list(pool), min(most, len(pool)))
        weights = [source.choice((1, 1, 2, 3, 7)) for _ in targets]
        chain.append({t: Fraction(w, sum(weights)) for t, w in zip(targets, weights, strict=True)})
    return chain


def random_labels(source: random.Random, states: int) -> Labels:
    """Each label on some states; now and then on none or on all."""
    found: Labels = {}
    for label in LABELS:
        density = source.choice((0.0, 0.3, 0.5, 0.5, 0.8, 1.0) if source.random() < 0.3 else (0.3, 0.5, 0.6))
        found[label] = {s for s in range(states) if source.random() < density}
    return found


def process_of(
    chain: Chain, labels: Mapping[str, set[int]], neighbours: Sequence[tuple[int, int]] = ()
) -> DecisionProcess:
    """The chain as a model; the states are called s0, s1, ..."""
    carried = {f"s{s}": [label for label, where in labels.items() if s in where] for s in range(len(chain))}
    process = DecisionProcess.of(
        states=[f"s{s}" for s in range(len(chain))],
        transitions={f"s{s}": {f"s{t}": p for t, p in row.items()} for s, row in enumerate(chain)},
        labels={state: found for state, found in carried.items() if found},
        neighbours=[(f"s{s}", f"s{t}") for s, t in neighbours],
    )
    missing = {label: [False] * len(chain) for label in labels if label not in process.labels}
    return replace(process, labels={**process.labels, **{k: np.array(v, np.bool_) for k, v in missing.items()}})


def random_bound(source: random.Random, longest: int = 4) -> StepBound:
    """A step bound: up to, exactly, from to, or from on."""
    low, high = sorted((source.randint(0, longest), source.randint(0, longest)))
    return source.choice(
        (
            StepBound(Count(), Count(high)),
            StepBound(Count(), Count(high)),
            StepBound(Count(high), Count(high)),
            StepBound(Count(low), Count(high)),
            StepBound(Count(low)),
        )
    )


def random_path(
    source: random.Random,
    depth: int,
    *,
    bounded: float = 0.3,
    unbounded: bool = True,
    state: float = 0.0,
    longest: int = 4,
) -> Formula:
    """A path formula.

    Args:
        source: of randomness.
        depth: how deep operators nest.
        bounded: how often a temporal operator has a step bound.
        unbounded: whether operators without a bound are allowed.
        state: how often a leaf is a P formula.
        longest: the largest step bound.
    """
    if depth == 0 or source.random() < 0.1:
        if source.random() < state:
            return random_state(source, 1, bounded=bounded)
        return Atom(source.choice(LABELS)) if source.random() < 0.95 else Truth(source.random() < 0.5)

    def below() -> Formula:
        return random_path(source, depth - 1, bounded=bounded, unbounded=unbounded, state=state, longest=longest)

    def bound() -> StepBound:
        while True:
            found = random_bound(source, longest) if source.random() < bounded or not unbounded else StepBound()
            if unbounded or found.high is not None:
                return found

    match source.choice(("!", "&", "|", "->", "<->", "X", "X", "X^", "F", "F", "G", "G", "U", "U", "U", "W", "R")):
        case "!":
            return Not(below())
        case "&":
            return And((below(), below()))
        case "|":
            return Or((below(), below()))
        case "->":
            return Implies(below(), below())
        case "<->":
            return Iff(below(), below())
        case "X":
            return NextState(below())
        case "X^":
            return NextState(below(), Count(source.randint(0, 3)))
        case "F":
            return Unary("F", below(), bound())
        case "G":
            return Unary("G", below(), bound())
        case operator:
            return Until(operator, below(), below(), bound())


def random_state(source: random.Random, depth: int, *, bounded: float = 0.3, private: bool = False) -> Formula:
    """A P formula (or, with `private`, now and then a D formula) around a random path formula."""
    path = random_path(source, depth, bounded=bounded)
    if private and source.random() < 0.5:
        budget = epsilon(source.choice(("0", "ln(2)", "ln(3)", "1/2", "inf")))
        return Private(budget, rational(source.choice(("0", "0", "1/8", "1/2", "1"))), path)
    return Probable(random_range(source), path)


def random_range(source: random.Random) -> ProbabilityRange:
    """A range of probabilities whose ends random chains hit."""
    ends = [fmpq(*pair) for pair in ((0, 1), (1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (1, 1))]
    low, high = sorted((source.choice(ends), source.choice(ends)))
    if low == high:
        return source.choice(
            (ProbabilityRange(low, low), ProbabilityRange(fmpq(0), fmpq(1)), ProbabilityRange(low, fmpq(1)))
        )
    return ProbabilityRange(low, high, source.random() < 0.7, source.random() < 0.7)


# ------------------------------------------------------------------------------------------- the meaning of a formula

Leaf = Callable[[Formula, int], bool]


def holds_on(formula: Formula, stem: Sequence[int], loop: Sequence[int], leaf: Leaf) -> bool:
    """Whether a path formula holds on ``stem loop loop ...``, by the definitions."""
    word = [*stem, *loop]
    first, size = len(stem), len(word)
    known: dict[tuple[int, int], bool] = {}

    def at(position: int) -> int:
        return position if position < size else first + (position - first) % len(loop)

    def steps(bound: StepBound, position: int) -> range:
        """The offsets to look at: beyond one turn of the loop an unbounded operator meets nothing new."""
        low = bound.low.constant
        enough = low + size + 1
        return range(low, enough if bound.high is None else bound.high.constant + 1)

    def holds(f: Formula, position: int) -> bool:
        position = at(position)
        key = (id(f), position)
        if key not in known:
            known[key] = evaluate(f, position)
        return known[key]

    def until(left: Formula, right: Formula, bound: StepBound, position: int) -> bool:
        for offset in steps(bound, position):
            if holds(right, position + offset) and all(holds(left, position + before) for before in range(offset)):
                return True
        return False

    def release(left: Formula, right: Formula, bound: StepBound, position: int) -> bool:
        return all(
            holds(right, position + offset) or any(holds(left, position + before) for before in range(offset))
            for offset in steps(bound, position)
        )

    def evaluate(f: Formula, position: int) -> bool:
        match f:
            case Truth(value):
                return value
            case Not(inner):
                return not holds(inner, position)
            case And(parts):
                return all(holds(part, position) for part in parts)
            case Or(parts):
                return any(holds(part, position) for part in parts)
            case Implies(left, right):
                return holds(right, position) or not holds(left, position)
            case Iff(left, right):
                return holds(left, position) == holds(right, position)
            case NextState(inner, times):
                return holds(inner, position + times.constant)
            case Unary("F", inner, bound):
                return any(holds(inner, position + offset) for offset in steps(bound, position))
            case Unary("G", inner, bound):
                return all(holds(inner, position + offset) for offset in steps(bound, position))
            case Until("U", left, right, bound):
                return until(left, right, bound, position)
            case Until("R", left, right, bound):
                return release(left, right, bound, position)
            case Until("W", left, right, bound):
                # as long as it looks, every step has left, unless right came
                return all(
                    holds(left, position + offset) or any(holds(right, position + o) for o in range(offset + 1))
                    for offset in steps(bound, position)
                )
        return leaf(f, word[position])

    return holds(formula, 0)


def lasso(chain: Chain, state: int) -> tuple[list[int], list[int]]:
    """The only path of a chain without randomness."""
    path, seen = [state], {state: 0}
    while True:
        (state,) = chain[path[-1]]
        if state in seen:
            return path[: seen[state]], path[seen[state] :]
        seen[state] = len(path)
        path.append(state)


def steps_to_decide(formula: Formula) -> int:
    """After how many steps a formula without unbounded operators is decided."""
    match formula:
        case NextState(inner, times):
            return times.constant + steps_to_decide(inner)
        case Unary(_, inner, bound):
            return bound.high.constant + steps_to_decide(inner)
        case Until(_, left, right, bound):
            return bound.high.constant + max(steps_to_decide(left), steps_to_decide(right))
        case Not(inner):
            return steps_to_decide(inner)
        case And(parts) | Or(parts):
            return max(map(steps_to_decide, parts))
        case Implies(left, right) | Iff(left, right):
            return max(steps_to_decide(left), steps_to_decide(right))
    return 0


def enumerated(chain: Chain, formula: Formula, state: int, leaf: Leaf) -> Fraction:
    """The probability of a formula that is decided after finitely many steps, path by path."""

    def paths(path: list[int], weight: Fraction, left: int) -> Iterator[tuple[list[int], Fraction]]:
        if left == 0:
            yield path, weight
            return
        for target, p in chain[path[-1]].items():
            yield from paths([*path, target], weight * p, left - 1)

    total = Fraction(0)
    for path, weight in paths([state], Fraction(1), steps_to_decide(formula)):
        if holds_on(formula, path, path[-1:], leaf):
            total += weight
    return total


# ------------------------------------------------------------------------------------------------ all truths at once


class TooMany(Exception):
    """The formula has too many temporal subformulas for the product."""


def core(formula: Formula) -> tuple:
    """The formula in leaves, negation, disjunction, X and U, with every bound written out."""
    match formula:
        case Truth(value):
            return ("true",) if value else ("not", ("true",))
        case Not(inner):
            return _negated(core(inner))
        case And(parts):
            return _negated(_either([_negated(core(part)) for part in parts]))
        case Or(parts):
            return _either([core(part) for part in parts])
        case Implies(left, right):
            return _either([_negated(core(left)), core(right)])
        case Iff(left, right):
            first, second = core(left), core(right)
            return _either([_both(first, second), _both(_negated(first), _negated(second))])
        case NextState(inner, times):
            return _later(core(inner), times.constant)
        case Unary("F", inner, bound):
            return _until(("true",), core(inner), bound)
        case Unary("G", inner, bound):
            return _negated(_until(("true",), _negated(core(inner)), bound))
        case Until("U", left, right, bound):
            return _until(core(left), core(right), bound)
        case Until("R", left, right, bound):
            return _negated(_until(_negated(core(left)), _negated(core(right)), bound))
        case Until("W", left, right, bound):
            first, second = core(left), core(right)
            return _negated(_until(_negated(second), _both(_negated(first), _negated(second)), bound))
    return ("leaf", formula)


def _negated(f: tuple) -> tuple:
    return f[1] if f[0] == "not" else ("not", f)


def _either(parts: list[tuple]) -> tuple:
    return ("or", *parts)


def _both(left: tuple, right: tuple) -> tuple:
    return _negated(_either([_negated(left), _negated(right)]))


def _later(f: tuple, times: int) -> tuple:
    return f if times == 0 else ("X", _later(f, times - 1))


def _until(left: tuple, right: tuple, bound: StepBound) -> tuple:
    low = bound.low.constant
    result = ("U", left, right) if bound.high is None else right
    for _ in range(0 if bound.high is None else bound.high.constant - low):
        result = _either([right, _both(left, ("X", result))])
    for _ in range(low):
        result = _both(left, ("X", result))
    return result


def _temporal(f: tuple, found: dict[tuple, int]) -> None:
    if f[0] in ("true", "leaf") or f in found:
        return
    for part in f[1:]:
        _temporal(part, found)
    if f[0] in ("X", "U"):
        found.setdefault(f, len(found))


def joint(chain: Chain, formula: Formula, leaf: Leaf, *, most: int = 5) -> list[Fraction]:
    """The probability of a path formula from every state, by the product with all combinations of truths.

    Raises:
        TooMany: more than `most` temporal subformulas.
    """
    whole = core(formula)
    numbered: dict[tuple, int] = {}
    _temporal(whole, numbered)
    if len(numbered) > most:
        raise TooMany
    size = len(numbered)
    combinations = list(itertools.product((False, True), repeat=size))

    def value(f: tuple, state: int, truth: tuple[bool, ...]) -> bool:
        if f in numbered:
            return truth[numbered[f]]
        match f[0]:
            case "true":
                return True
            case "leaf":
                return leaf(f[1], state)
            case "not":
                return not value(f[1], state, truth)
        return any(value(part, state, truth) for part in f[1:])

    def before(state: int, target: int, later: tuple[bool, ...]) -> tuple[bool, ...]:
        """The truths at a state, from those at its successor; inner formulas have smaller numbers."""
        truth: list[bool] = []
        for f, number in numbered.items():
            padded = (*truth, *([False] * (size - number)))
            if f[0] == "X":
                truth.append(value(f[1], target, later))
            else:
                now = value(f[2], state, padded) or (value(f[1], state, padded) and later[number])
                truth.append(now)
        return tuple(truth)

    weight: dict[tuple[int, tuple[bool, ...]], fmpq] = {}
    parts = components(range(len(chain)), lambda s: chain[s])
    bottoms = [part for part in parts if all(t in part for s in part for t in chain[s])]
    for bottom in bottoms:
        weight |= _recurrent(chain, bottom, combinations, numbered, value, before)
    transient = sorted(set(range(len(chain))) - set().union(*bottoms))
    nodes = [(s, v) for s in transient for v in combinations]
    place = {node: i for i, node in enumerate(nodes)}
    if nodes:
        matrix, goal = fmpq_mat(len(nodes), len(nodes)), fmpq_mat(len(nodes), 1)
        for i in range(len(nodes)):
            matrix[i, i] = 1
        for s in transient:
            for t, p in chain[s].items():
                for later in combinations:
                    i = place[s, before(s, t, later)]
                    if (t, later) in place:
                        k = place[t, later]
                        matrix[i, k] = matrix[i, k] - _number(p)
                    else:
                        goal[i, 0] = goal[i, 0] + _number(p) * weight.get((t, later), fmpq(0))
        solution = matrix.solve(goal)
        weight |= {node: solution[i, 0] for node, i in place.items()}
    result = []
    for s in range(len(chain)):
        everything = sum((weight.get((s, v), fmpq(0)) for v in combinations), fmpq(0))
        assert everything == 1, "the oracle itself is wrong"
        total = sum((weight.get((s, v), fmpq(0)) for v in combinations if value(whole, s, v)), fmpq(0))
        result.append(Fraction(int(total.p), int(total.q)))
    return result


def _number(p: Fraction) -> fmpq:
    return fmpq(p.numerator, p.denominator)


def _recurrent(chain, bottom, combinations, numbered, value, before):  # type: ignore[no-untyped-def]
    """The weights of states and truths in a bottom component: those of its one part of positive probability."""
    edges: dict[tuple, dict[tuple, Fraction]] = {(s, v): {} for s in bottom for v in combinations}
    for s in bottom:
        for t, p in chain[s].items():
            for later in combinations:
                edges[s, before(s, t, later)][t, later] = p
    chosen = []
    for part in components(edges, lambda node: edges[node]):
        if not any(t in part for node in part for t in edges[node]):
            continue
        fair = all(
            any(value(f[2], s, v) or not v[number] for s, v in part) for f, number in numbered.items() if f[0] == "U"
        )
        if not fair:
            continue
        nodes = sorted(part)
        place = {node: i for i, node in enumerate(nodes)}
        matrix = fmpq_mat(len(nodes), len(nodes))
        for node, i in place.items():
            matrix[i, i] = 1
            for t, p in edges[node].items():
                if t in place:
                    matrix[i, place[t]] = matrix[i, place[t]] - _number(p)
        reduced, rank = matrix.rref()
        if rank == len(nodes):
            continue
        assert rank == len(nodes) - 1, "the oracle itself is wrong"
        free = next(i for i in range(len(nodes)) if i >= rank or reduced[i, i] != 1)
        vector = [fmpq(1) if i == free else -reduced[i if i < free else i - 1, free] for i in range(len(nodes))]
        state = nodes[0][0]
        total = sum((x for (s, _), x in zip(nodes, vector, strict=True) if s == state), fmpq(0))
        chosen.append({node: vector[i] / total for node, i in place.items()})
    assert len(chosen) == 1, "the oracle itself is wrong"
    return chosen[0]


def components(nodes, successors) -> list[set]:  # type: ignore[no-untyped-def]
    """The strongly connected parts: nodes that reach each other."""
    index: dict = {}
    low: dict = {}
    stack: list = []
    on: set = set()
    found: list[set] = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(list(successors(root))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on.add(target)
                    work.append((target, iter(list(successors(target)))))
                    break
                if target in on:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while True:
                        top = stack.pop()
                        on.discard(top)
                        part.add(top)
                        if top == node:
                            break
                    found.append(part)
    return found
