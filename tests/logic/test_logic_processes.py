"""Decision processes against brute force: every scheduler, every sequence of actions, on small random processes."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.amounts import selected
from tests.certificates import recheck

from privproof import model_check, rational
from privproof.engines.search_monitor import Monitor
from privproof.exact import fraction
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Private, parse_formula
from privproof.logic.model_checking import Checker
from privproof.logic.path_probabilities import progress
from privproof_checker import Accepted, Rejected

LABELS = ("a", "b")


def random_process(seed: int, *, states: int = 4, actions: int = 2) -> DecisionProcess:
    source = random.Random(seed)
    names = [f"s{i}" for i in range(states)]
    rows: dict[str, dict[str, dict[str, Fraction]]] = {}
    for name in names:
        rows[name] = {}
        for action in range(actions):
            targets = source.sample(names, source.choice((1, 1, 2, 3)))
            parts = [source.randint(1, 4) for _ in targets]
            rows[name][f"x{action}"] = {t: Fraction(p, sum(parts)) for t, p in zip(targets, parts, strict=True)}
    labels = {name: [label for label in LABELS if source.random() < 0.4] for name in names}
    pairs = [("s0", "s1")] + ([("s1", "s2")] if source.random() < 0.5 else [])
    return DecisionProcess.of(
        states=names, actions=[f"x{i}" for i in range(actions)], transitions=rows, labels=labels, neighbours=pairs
    )


def row(process: DecisionProcess, state: int, action: int) -> list[tuple[int, Fraction]]:
    choice = int(process.choices[state]) + action
    return [(target, fraction(p)) for target, p in process.entries(choice)]


def labelled(process: DecisionProcess, state: int, label: str) -> bool:
    return bool(process.labels[label][state]) if label in process.labels else False


def satisfies(path: list[int], formula: str, process: DecisionProcess) -> bool:
    """Whether a finite path, long enough, satisfies one of the formulas below, by hand."""

    def at(i: int, label: str) -> bool:
        return labelled(process, path[i], label)

    return {
        "X a": lambda: at(1, "a"),
        "X (a & X b)": lambda: at(1, "a") and at(2, "b"),
        "F<=2 a": lambda: any(at(i, "a") for i in range(3)),
        "a U<=3 b": lambda: any(at(j, "b") and all(at(i, "a") for i in range(j)) for j in range(4)),
        "G<=2 !b": lambda: not any(at(i, "b") for i in range(3)),
        "(G[1,2] a) | X^3 b": lambda: (at(1, "a") and at(2, "a")) or at(3, "b"),
        "(X a) <-> X X b": lambda: at(1, "a") == at(2, "b"),
    }[formula]()


BOUNDED = ("X a", "X (a & X b)", "F<=2 a", "a U<=3 b", "G<=2 !b", "(G[1,2] a) | X^3 b", "(X a) <-> X X b")
DEPTH = 3
SLOW = (17,)
"""Where neither a proof nor a violation is found, which takes a while."""


def under(process: DecisionProcess, state: int, actions: tuple[int, ...], formula: str) -> Fraction:
    """The probability under one sequence of actions, by listing all paths."""
    total = Fraction(0)
    waiting = [([state], Fraction(1))]
    while waiting:
        path, mass = waiting.pop()
        if len(path) == DEPTH + 1:
            total += mass if satisfies(path, formula, process) else 0
            continue
        waiting.extend(([*path, t], mass * p) for t, p in row(process, path[-1], actions[len(path) - 1]))
    return total


def best(process: DecisionProcess, path: list[int], formula: str, *, largest: bool) -> Fraction:
    """The optimum over history-dependent schedulers, by recursion over histories."""
    if len(path) == DEPTH + 1:
        return Fraction(satisfies(path, formula, process))
    values = [
        sum(
            (p * best(process, [*path, t], formula, largest=largest) for t, p in row(process, path[-1], a)), Fraction(0)
        )
        for a in range(len(process.actions))
    ]
    return max(values) if largest else min(values)


@pytest.mark.diagonal
@pytest.mark.parametrize("formula", BOUNDED)
@pytest.mark.parametrize("seed", selected(range(6), 2))
def test_schedulers_on_bounded_formulas(formula, seed):
    process = with_labels(random_process(seed))
    found = model_check(process, f"P=? [ {formula} ]")
    likely = next(iter(found.measured.values()))
    for state in range(len(process)):
        assert fraction(likely.least(state).low) == best(process, [state], formula, largest=False)
        assert fraction(likely.most(state).high) == best(process, [state], formula, largest=True)


def with_labels(process: DecisionProcess) -> DecisionProcess:
    """The process with every label known, even where no state carries it."""
    missing = {label: np.zeros(len(process), np.bool_) for label in LABELS if label not in process.labels}
    return replace(process, labels={**process.labels, **missing})


def gaps(process: DecisionProcess, formula: str) -> dict[tuple[int, int], list[tuple[Fraction, Fraction]]]:
    sequences = list(product(range(len(process.actions)), repeat=DEPTH))
    probabilities = {
        state: [under(process, state, actions, formula) for actions in sequences]
        for state in {s for pair in process.related for s in pair}
    }
    return {
        (s, t): list(zip(probabilities[s], probabilities[t], strict=True))
        for pair in process.related
        for s, t in (pair, pair[::-1])
    }


@pytest.mark.diagonal
@pytest.mark.parametrize("formula", BOUNDED)
@pytest.mark.parametrize("seed", selected(range(8), 3))
def test_query_schedulers_on_bounded_formulas(formula, seed):
    process = with_labels(random_process(seed, actions=2 + seed % 2))
    every = gaps(process, formula)
    for bound, delta in (("2", "0"), ("1", "1/4"), ("3/2", "1/10")):
        c, share = Fraction(bound), Fraction(delta)
        broken = {s for side, pairs in every.items() for s in side if any(p > c * q + share for p, q in pairs)}
        found = model_check(process, f"D[ln({bound}), {delta}]({formula})")
        assert {s for s in found.asked if found.truth[s] == 0} == broken
        assert not (found.truth < 0).any()
        if broken:
            gap = found.witness
            actions = [process.actions.index(a) for a in gap.actions[0]]
            padded = tuple(actions) + (0,) * (DEPTH - len(actions))
            assert fraction(gap.left_probability.low) == under(process, gap.left, padded, formula)
            assert fraction(gap.right_probability.low) == under(process, gap.right, padded, formula)


@pytest.mark.parametrize("seed", selected(range(6), 2))
def test_tight_values_over_query_schedulers(seed):
    process = with_labels(random_process(seed))
    formula = "X (a & X b)"
    every = [pair for pairs in gaps(process, formula).values() for pair in pairs]
    found = model_check(process, f"D[ln(3), 1]({formula})", tight=True, certify=False)
    close = next(iter(found.measured.values()))
    needed = max(max(p - 3 * q, Fraction(0)) for p, q in every)
    assert max(fraction(gap.delta.low) for gap in close.directions) == needed
    assert max(fraction(gap.delta.high) for gap in close.directions) >= needed


def reach(process: DecisionProcess, policy: dict[int, int], goal: set[int]) -> list[float]:
    values = [1.0 if s in goal else 0.0 for s in range(len(process))]
    for _ in range(600):
        values = [
            1.0 if s in goal else sum(float(p) * values[t] for t, p in row(process, s, policy[s]))
            for s in range(len(process))
        ]
    return values


@pytest.mark.parametrize("seed", selected(range(12), 4))
def test_schedulers_on_reachability(seed):
    """For reachability memoryless deterministic schedulers suffice: all of them are tried."""
    process = with_labels(random_process(100 + seed))
    goal = {s for s in range(len(process)) if labelled(process, s, "a")}
    found = model_check(process, "P=? [ F a ]")
    likely = next(iter(found.measured.values()))
    tried = [
        reach(process, dict(enumerate(policy)), goal)
        for policy in product(range(len(process.actions)), repeat=len(process))
    ]
    for state in range(len(process)):
        values = [each[state] for each in tried]
        assert abs(float(likely.least(state).low) - min(values)) < 1e-6
        assert abs(float(likely.most(state).low) - max(values)) < 1e-6


def stepped(process: DecisionProcess) -> list[np.ndarray]:
    """One matrix an action, with the states labelled a absorbing."""
    count = len(process)
    matrices = [np.zeros((count, count)) for _ in process.actions]
    for state in range(count):
        for action, matrix in enumerate(matrices):
            for target, p in [(state, 1)] if labelled(process, state, "a") else row(process, state, action):
                matrix[state, target] += float(p)
    return matrices


def lasso(process: DecisionProcess, before: tuple[int, ...], repeated: tuple[int, ...]) -> np.ndarray:
    """The probability of F a under a periodic sequence of actions from every state, by running it for long."""
    matrices = stepped(process)
    cycle = np.eye(len(process))
    for action in repeated:
        cycle = cycle @ matrices[action]
    values = np.linalg.matrix_power(cycle, 2**14) @ np.array([labelled(process, s, "a") for s in range(len(process))])
    for action in reversed(before):
        values = matrices[action] @ values
    return values


@pytest.mark.parametrize("seed", selected([s for s in range(25) if s not in SLOW], 8))
def test_query_schedulers_on_reachability(seed):
    """What is proved survives every short lasso, and what is refuted fails on the one that is shown."""
    process = with_labels(random_process(200 + seed))
    lassos = [
        (u, v) for n in range(3) for u in product((0, 1), repeat=n) for m in (1, 2) for v in product((0, 1), repeat=m)
    ]
    for bound, delta in (("2", "0"), ("1", "1/3")):
        found = model_check(process, f"D[ln({bound}), {delta}](F a)")
        close = next(iter(found.measured.values()))
        for gap in close.directions:
            if gap.holds is True:
                for before, repeated in lassos:
                    values = lasso(process, before, repeated)
                    p, q = values[gap.left], values[gap.right]
                    assert p <= float(Fraction(bound)) * q + float(Fraction(delta)) + 1e-6
            elif gap.holds is False and gap.actions is not None:
                before, repeated = (tuple(map(process.actions.index, part)) for part in gap.actions)
                for s, told in ((gap.left, gap.left_probability), (gap.right, gap.right_probability)):
                    if told.exact and repeated:
                        assert abs(lasso(process, before, repeated)[s] - float(told.low)) < 1e-6
        assert found.status != "unknown" or found.reasons


def test_progression_agrees_with_itself_on_the_checker():
    """A formula decided after k steps is decided by progression after k steps."""
    formula = parse_formula("D[1, 0](X (a & X b))")
    assert isinstance(formula, Private)
    process = with_labels(random_process(1))
    path, _ = Checker(process, Monitor()).path(formula.path)
    once = progress(path, [True, True])
    assert progress(progress(once, [True, True]), [True, True]) == ("true",)
    assert rational(1) == 1


@pytest.mark.parametrize("seed", selected(range(300, 360), 6))
def test_a_formula_that_is_safe_and_co_safe_in_disguise(seed):
    """``(F a) & F<=3 a`` is ``F<=3 a``: the engine's certificate may treat its negation as safe, the checker knows it is both."""
    process = with_labels(random_process(seed, states=3))
    found = model_check(process, "D[ln(2), 1/10](!((F (a & b)) & (F<=3 (a & b))))")
    assert not any("checker" in reason for reason in found.reasons)


def partial_process(seed: int) -> DecisionProcess:
    """A process some of whose states lack actions, one of which is called as the letter inside that ends a word."""
    source = random.Random(seed)
    whole = random_process(seed, actions=3)
    names, actions = list(whole.names), ["go", "stop", "halt"]
    rows = {}
    for number, name in enumerate(names):
        kept = source.sample(range(3), source.choice((1, 2, 2, 3)))
        rows[name] = {actions[a]: {names[t]: p for t, p in row(whole, number, a)} for a in sorted(kept)}
    labels = {name: [label for label in LABELS if labelled(whole, i, label)] for i, name in enumerate(names)}
    pairs = [(names[s], names[t]) for s, t in whole.related]
    return with_labels(
        DecisionProcess.of(states=names, actions=actions, transitions=rows, labels=labels, neighbours=pairs)
    )


def spelled_out(process: DecisionProcess, missing: str) -> DecisionProcess:
    """The same process with a row for every action of every state, written by hand."""
    names = [*process.names, *(["refused"] if missing == "refuse" else [])]
    rows: dict[str, dict[str, dict[str, Fraction]]] = {name: {} for name in names}
    for number, name in enumerate(process.names):
        for choice in range(*process.choices[number : number + 2]):
            rows[name][process.action(choice)] = {names[t]: fraction(p) for t, p in process.entries(choice)}
    for name in names:
        for action in process.actions:
            rows[name].setdefault(action, {name if missing == "stay" else "refused": Fraction(1)})
    for name in names:
        rows[name] = {action: rows[name][action] for action in process.actions}
    labels = {name: [label for label in LABELS if labelled(process, i, label)] for i, name in enumerate(process.names)}
    pairs = [(process.names[s], process.names[t]) for s, t in process.related]
    return with_labels(
        DecisionProcess.of(states=names, actions=process.actions, transitions=rows, labels=labels, neighbours=pairs)
    )


@pytest.mark.diagonal
@pytest.mark.parametrize("missing", ["stay", "refuse"])
@pytest.mark.parametrize("seed", selected(range(60), 6))
def test_an_action_that_a_state_does_not_have(seed, missing):
    process = partial_process(seed)
    every = spelled_out(process, missing)
    for formula in BOUNDED[seed % 3 :: 3]:
        pairs = gaps(every, formula)
        for bound, delta in (("2", "0"), ("3/2", "1/10")):
            c, share = Fraction(bound), Fraction(delta)
            broken = {s for side, both in pairs.items() for s in side if any(p > c * q + share for p, q in both)}
            found = model_check(process, f"D[ln({bound}), {delta}]({formula})", missing=missing)
            assert {s for s in found.asked if found.truth[s] == 0} == broken
            assert found.status == ("refuted" if broken else "proved")
            assert isinstance(recheck(found.certificate), Accepted)
            assert any("of a state and an action are missing" in note for note in found.notes) == bool(process.lacking)


@pytest.mark.parametrize("seed", selected(range(20), 3))
def test_probabilities_take_only_actions_that_there_are(seed):
    process = partial_process(seed)
    plain, refusing = (model_check(process, "P=? [ F a ]", missing=missing) for missing in ("stay", "refuse"))
    first, second = (next(iter(found.measured.values())) for found in (plain, refusing))
    goal = {s for s in range(len(process)) if labelled(process, s, "a")}
    choices = [range(*process.choices[s : s + 2]) for s in range(len(process))]
    tried = []
    for policy in product(*choices):
        values = [float(s in goal) for s in range(len(process))]
        for _ in range(600):
            values = [
                1.0 if s in goal else sum(float(p) * values[t] for t, p in process.entries(policy[s]))
                for s in range(len(process))
            ]
        tried.append(values)
    for state in range(len(process)):
        least, most = (pick(each[state] for each in tried) for pick in (min, max))
        for likely in (first, second):
            assert abs(float(likely.least(state).low) - least) < 1e-6
            assert abs(float(likely.most(state).low) - most) < 1e-6


def test_a_certificate_that_leaves_out_what_missing_actions_do_is_rejected():
    """With the other reading the claim is another one: where s0 offers a query that s1 does not, only refusing shows it."""
    process = DecisionProcess.of(
        states=["s0", "s1", "end"],
        actions=["ask", "wait"],
        transitions={"s0": {"ask": {"s0": 1}}, "s1": {"wait": {"s1": 1}}, "end": {"ask": {"end": 1}}},
        labels={"end": "end"},
        neighbours=[("s0", "s1")],
    )
    assert model_check(process, "D[0, 0](F end)").status == "proved"
    found = model_check(process, "D[ln(2), 0](F refused)", missing="refuse")
    assert found.status == "refuted"
    document = json.loads(json.dumps(found.certificate))
    for changed in ("stay", None, "enabled"):
        document["question"]["process"]["missing"] = changed
        assert isinstance(recheck(document), Rejected)
    left = model_check(process, "D[0, 0](F end)")
    document = json.loads(json.dumps(left.certificate))
    del document["question"]["process"]["missing"]
    assert isinstance(recheck(document), Rejected)
