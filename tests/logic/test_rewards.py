"""Expected rewards against brute force: every scheduler without memory, its chain solved by hand, on small random processes."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.amounts import selected
from tests.logic.test_logic_processes import random_process, row, with_labels

from privproof import model_check, rational, read_process, write_process
from privproof.errors import ModelError, PrivproofError, QuestionError
from privproof.exact import fraction
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.reward_structures import Rewards
from privproof_checker import Accepted, recheck

INFINITE = None
Chain = list[dict[int, Fraction]]


def random_rewards(seed: int, *, actions: int = 2, states: int = 4) -> DecisionProcess:
    source = random.Random(f"rewards {seed}")
    process = with_labels(random_process(seed, states=states, actions=actions))
    pick = lambda: rational(source.choice((0, 0, 0, 1, 2, "1/3")))  # noqa: E731
    rewards = Rewards.of([pick() for _ in range(len(process))], [pick() for _ in range(len(process) * actions)])
    return replace(process, rewards={"cost": rewards})


def policies(process: DecisionProcess) -> list[tuple[int, ...]]:
    return list(product(range(len(process.actions)), repeat=len(process)))


def chain_of(process: DecisionProcess, policy: tuple[int, ...]) -> tuple[Chain, list[Fraction]]:
    rewards, count = process.reward("cost"), len(process.actions)
    rows = [dict(row(process, s, policy[s])) for s in range(len(process))]
    return rows, [fraction(rewards.leaving(s, s * count + policy[s])) for s in range(len(process))]


def reached(rows: Chain, start: int, stop: set[int]) -> set[int]:
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        if here not in stop:
            for target in rows[here]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
    return seen


def solved(rows: Chain, gains: list[Fraction], unknown: list[int]) -> dict[int, Fraction]:
    """The solution of x = gain + sum p x, x being 0 elsewhere, by Gaussian elimination."""
    size = len(unknown)
    matrix = [
        [Fraction(i == j) - rows[unknown[i]].get(unknown[j], Fraction(0)) for j in range(size)] + [gains[unknown[i]]]
        for i in range(size)
    ]
    for i in range(size):
        pivot = next(k for k in range(i, size) if matrix[k][i] != 0)
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [x / matrix[i][i] for x in matrix[i]]
        for k in range(size):
            if k != i:
                matrix[k] = [x - matrix[k][i] * y for x, y in zip(matrix[k], matrix[i], strict=True)]
    return {state: matrix[i][size] for i, state in enumerate(unknown)}


def until(rows: Chain, gains: list[Fraction], goal: set[int], state: int) -> Fraction | None:
    """The expected reward of a chain until a goal."""
    seen = reached(rows, state, goal)
    if any(not reached(rows, s, goal) & goal for s in seen):
        return INFINITE
    return solved(rows, gains, sorted(seen - goal)).get(state, Fraction(0))


def total(rows: Chain, gains: list[Fraction], state: int) -> Fraction | None:
    """The expected reward of all steps of a chain."""
    seen = reached(rows, state, set())
    recurrent = {s for s in seen if all(s in reached(rows, t, set()) for t in reached(rows, s, set()))}
    if any(gains[s] for s in recurrent):
        return INFINITE
    return solved(rows, gains, sorted(seen - recurrent)).get(state, Fraction(0))


def steps(process: DecisionProcess, state: int, count: int, *, moment: bool, largest: bool) -> Fraction:
    """The optimum over schedulers with memory, by recursion over the steps."""
    rewards, actions = process.reward("cost"), len(process.actions)
    if count == 0:
        return fraction(rewards.of_state(state)) if moment else Fraction(0)
    found = []
    for action in range(actions):
        gain = Fraction(0) if moment else fraction(rewards.leaving(state, state * actions + action))
        later = (
            p * steps(process, t, count - 1, moment=moment, largest=largest) for t, p in row(process, state, action)
        )
        found.append(gain + sum(later, Fraction(0)))
    return max(found) if largest else min(found)


def best(values: list[Fraction | None], *, largest: bool) -> Fraction | None:
    finite = [value for value in values if value is not None]
    if largest:
        return INFINITE if len(finite) < len(values) else max(finite)
    return min(finite) if finite else INFINITE


def expected(process: DecisionProcess, formula: str, state: int, *, largest: bool) -> Fraction | None:
    if formula.startswith(("C<=", "I=")):
        return steps(process, state, int(formula[-1]), moment=formula[0] == "I", largest=largest)
    values = []
    for policy in policies(process):
        rows, gains = chain_of(process, policy)
        if formula == "C":
            values.append(total(rows, gains, state))
        else:
            goal = {s for s in range(len(process)) if process.labels[formula[-1]][s]}
            values.append(until(rows, gains, goal, state))
    return best(values, largest=largest)


@pytest.mark.diagonal
@pytest.mark.parametrize("formula", ["F a", "F b", "C", "C<=3", "I=2"])
@pytest.mark.parametrize("seed", selected(range(60), 6))
def test_rewards_against_all_schedulers(formula, seed):
    process = random_rewards(seed)
    found = model_check(process, f"R=? [ {formula} ]", states=process.names)
    likely = next(iter(found.measured.values()))
    for state in range(len(process)):
        for largest in (False, True):
            value = (likely.most if largest else likely.least)(state)
            wanted = expected(process, formula, state, largest=largest)
            assert value.infinite == (wanted is INFINITE), (state, largest)
            assert wanted is INFINITE or fraction(value.low) == wanted, (state, largest)


@pytest.mark.diagonal
@pytest.mark.parametrize("formula", ["F a", "C", "C<=3", "I=2", "(X a) U b", "X (a | X true)"])
@pytest.mark.parametrize("seed", selected(range(30), 3))
def test_bounds_on_rewards_are_certified(formula, seed):
    """The verdict at the value itself and beside it; the checker computes by its own ways, and a changed reward is noticed."""
    process = random_rewards(seed)
    likely = next(iter(model_check(process, f"R=? [ {formula} ]").measured.values()))
    for state in (0, 1):
        name = process.names[state]
        low, high = likely.least(state), likely.most(state)
        if high.infinite:
            assert model_check(process, f"R<=1000 [ {formula} ]", states=[name]).status == "refuted"
            assert model_check(process, f"Rmax>1000 [ {formula} ]", states=[name]).status == "proved"
        else:
            assert model_check(process, f"R<={high.low} [ {formula} ]", states=[name]).status == "proved"
            if high.low > 0:
                assert model_check(process, f"R<{high.low} [ {formula} ]", states=[name]).status == "refuted"
            found = model_check(process, f"Rmax>={high.low} [ {formula} ]", states=[name])
            assert found.status == "proved"
        if not low.infinite:
            assert model_check(process, f"R>={low.low} [ {formula} ]", states=[name]).status == "proved"
            assert model_check(process, f"R>{low.low} [ {formula} ]", states=[name]).status == "refuted"
            assert model_check(process, f"Rmin<={low.low} [ {formula} ]", states=[name]).status == "proved"


def test_a_changed_certificate_is_rejected():
    process = random_rewards(1)
    likely = next(iter(model_check(process, "R=? [ C<=3 ]").measured.values()))
    state = next(s for s in range(len(process)) if likely.most(s).low > 0)
    found = model_check(process, f"R<={likely.most(state).low} [ C<=3 ]", states=[process.names[state]])
    assert found.status == "proved"
    assert found.certificate is not None
    plain = json.loads(json.dumps(found.certificate))
    assert isinstance(recheck(plain), Accepted)
    rewards = plain["question"]["process"]["rewards"]["cost"]
    for part in (*rewards["states"], *rewards["choices"]):
        before = part[-1]
        part[-1] = "1000"
        relevant = isinstance(recheck(plain), Accepted)
        part[-1] = before
        if not relevant:
            break
    else:
        pytest.fail("no reward matters")
    rewards["states"].append([0, "-1"])
    assert not isinstance(recheck(plain), Accepted)


def test_zero_rewards_are_no_way_to_wait():
    """A loop that costs nothing beside a way to the goal that costs 5: the least reward until the goal is 5, not 0."""
    process = DecisionProcess.of(
        states=["here", "there"],
        actions=["wait", "go"],
        labels={"there": "done"},
        transitions={
            "here": {"wait": {"here": 1}, "go": {"there": 1}},
            "there": {"wait": {"there": 1}, "go": {"there": 1}},
        },
    )
    zero, five = rational(0), rational(5)
    process = replace(process, rewards={"cost": Rewards.of([zero, zero], [zero, five, zero, zero])})
    likely = next(iter(model_check(process, "R=? [ F done ]").measured.values()))
    assert likely.least(0).low == 5
    assert likely.most(0).infinite
    assert model_check(process, "Rmin<5 [ F done ]", states=["here"]).status == "refuted"
    likely = next(iter(model_check(process, "R=? [ C ]").measured.values()))
    assert (likely.least(0).low, likely.most(0).low) == (0, 5)


def test_what_rewards_cannot_be_asked():
    process = random_rewards(0)
    with pytest.raises(QuestionError, match="may not be so after any number of steps"):
        model_check(process, "R=? [ G a ]")
    with pytest.raises(QuestionError, match="2 steps back"):
        model_check(process, "all k in 1..2: R>=0 [ C<=(k - 3) ]")
    with pytest.raises(QuestionError, match="any number of steps"):
        model_check(process, "all k in 1..2: R>=0 [ X^(k - 3) a ]")
    with pytest.raises(PrivproofError, match="gain"):
        model_check(process, 'R{"gain"}=? [ F a ]')
    with pytest.raises(QuestionError, match="no rewards"):
        model_check(with_labels(random_process(0)), "R=? [ F a ]")
    with pytest.raises(ModelError, match="negative"):
        Rewards.of([rational(-1)], [])


@pytest.mark.parametrize("suffix", ["yaml", "json", "pm"])
def test_rewards_in_files(tmp_path, suffix):
    """They survive being written and read, of decision processes and of chains."""
    process = random_rewards(5)
    chain = replace(random_rewards(6, actions=1), actions=(), action_of=np.zeros(0, np.int64))
    for written in (process, chain):
        file = tmp_path / f"model.{suffix}"
        write_process(written, file)
        again = read_process(file)
        names = list(again.names) if suffix != "pm" else [f"(s={s})" for s in range(len(written))]
        for s in range(len(written)):
            here = again.state(names[s])
            assert again.reward("cost").of_state(here) == written.reward("cost").of_state(s)
            found = {again.action(c): again.reward("").of_choice(c) for c in range(*again.choices[here : here + 2])}
            wanted = {written.action(c): written.reward("").of_choice(c) for c in range(*written.choices[s : s + 2])}
            assert found == wanted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{cost: {states: {here: -1}}}", "negative"),
        ("{cost: {states: {nowhere: 1}}}", "nowhere"),
        ("{cost: {choices: {here: {fly: 1}}}}", "fly"),
        ("{cost: {actions: {go: 1}}}", "actions"),
        ("{cost: {states: {here: 0.5}}}", "0.5"),
    ],
)
def test_rewards_in_files_that_are_wrong(tmp_path, given, message):
    text = f"kind: mdp\nstates: [here]\nactions: [go]\ntransitions: {{here: {{go: {{here: 1}}}}}}\nrewards: {given}\n"
    (tmp_path / "model.yaml").write_text(text)
    with pytest.raises(PrivproofError, match=message):
        read_process(tmp_path / "model.yaml").reward("cost")
