"""Several releases about one series: the joint loss by enumeration never exceeds the account, and the account is its own formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from random import Random

import numpy as np
import pytest
from tests.release import release_brute as brute
from tests.release.release_brute import Answer, Influences, Matrix, Row, homogeneous
from tests.release.test_releases import chain_of, exceeds, random_chain, random_weights, start_of

from privproof.errors import BudgetError, QuestionError, ScenarioError
from privproof.release import Accountant, Chain, Geometric, calibrate, count, verify, weighted_sum

WALK = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
SCALES = tuple(Fraction(each) for each in ("1/3", "1", "2", "5", "20"))


@dataclass(frozen=True)
class Asked:
    """A noisy sum of the entries first..last, with Laplace noise of a scale."""

    first: int
    last: int
    weights: tuple[Fraction, ...]
    scale: Fraction

    @property
    def cost(self) -> Fraction:
        return (max(self.weights) - min(self.weights)) / self.scale

    def answer(self, values: tuple[int, ...]) -> Fraction:
        """The sum in units of the noise, so that one kernel fits all answers."""
        return sum((self.weights[x] for x in values[self.first - 1 : self.last]), Fraction(0)) / self.scale


def together(releases: Sequence[Asked]) -> object:
    """The query that asks all of them."""

    def answers(values: tuple[int, ...]) -> Answer:
        return tuple(each.answer(values) for each in releases)

    return answers


def account(chain: Chain, length: int, releases: Sequence[Asked]) -> Accountant:
    result = Accountant.of(chain, length=length)
    for each in releases:
        result = result.spending(each.cost, first=each.first, last=each.last)
    return result


def joint_loss(matrix: Matrix, start: Row, length: int, releases: Sequence[Asked]) -> object:
    """The largest ratio of the joint densities, over entries, values, and the grid of atoms."""
    tables = brute.laws(homogeneous(start, matrix, length), together(releases))  # type: ignore[arg-type]
    return brute.loss(tables, brute.laplace(Fraction(1)))


def random_asked(random: Random, size: int, first: int, last: int) -> Asked:
    weights = [Fraction(int(x == 0)) for x in range(size)] if random.random() < 0.5 else random_weights(random, size)
    return Asked(first, last, tuple(weights), random.choice(SCALES))


def plans(random: Random, size: int, length: int) -> Iterator[list[Asked]]:
    """Sequential releases, disjoint halves, sliding windows, and any windows."""
    half = max(1, length // 2)
    yield [random_asked(random, size, 1, length) for _ in range(2)]
    if length > 1:
        yield [random_asked(random, size, 1, half), random_asked(random, size, half + 1, length)]
    if length > 2:
        yield [random_asked(random, size, first, first + 1) for first in range(1, min(length, 4))]
    ends = [sorted(random.choices(range(1, length + 1), k=2)) for _ in range(random.choice((2, 2, 3)))]
    yield [random_asked(random, size, low, high) for low, high in ends]


def _never_exceeds(random: Random, number: int) -> list[float]:
    shares = []
    for _ in range(number):
        size = random.choice((2, 2, 3))
        length = random.randint(1, 5 if size == 2 else 4)
        matrix, chain = random_chain(random, size)
        starts = [start_of(chain)] if chain.law is not None else [*brute.starts_to_try(random, size, 1)][-3:]
        for releases in plans(random, size, length):
            allowed = account(chain, length, releases).epsilon
            for start in starts:
                assert start is not None
                loss = joint_loss(matrix, start, length, releases)
                assert not exceeds(loss, allowed), (matrix, chain.start, start, length, releases)  # type: ignore[arg-type]
                shares.append(float(loss) / float(allowed))  # type: ignore[arg-type]
    return shares


def test_the_joint_loss_never_exceeds_the_account() -> None:
    shares = _never_exceeds(Random(60), 40)
    assert len(shares) > 120
    assert max(shares) > 0.99, "the account is not wasteful everywhere"
    assert sorted(shares)[len(shares) // 2] > 0.3


@pytest.mark.slow
def test_the_joint_loss_never_exceeds_the_account_often() -> None:
    assert len(_never_exceeds(Random(61), 1500)) > 5000


def test_geometric_noise_counts_the_same() -> None:
    random = Random(62)
    for _ in range(12):
        matrix, chain = random_chain(random, 2)
        start = start_of(chain)
        if start is None:
            continue
        noises = [Geometric.of(random.choice(("1/5", "1/2", "9/10"))) for _ in range(2)]
        result = Accountant.of(chain, length=4)
        for noise in noises:
            result = result.spending(_cost(noise), note=str(noise))
        tables = brute.laws(homogeneous(start, matrix, 4), lambda values: (Fraction(values.count(0)),) * 2)
        worst = _two_kernels(tables, noises)
        assert worst <= float(result.epsilon) * (1 + 1e-12)


def _cost(noise: Geometric) -> Fraction:
    """What a step costs, from above."""
    return Fraction(-log(float(Fraction(int(noise.alpha.p), int(noise.alpha.q))))) + Fraction(1, 10**12)


def _two_kernels(tables: Sequence[dict[int, dict[Answer, Fraction]]], noises: Sequence[Geometric]) -> float:
    first, second = (float(Fraction(int(noise.alpha.p), int(noise.alpha.q))) for noise in noises)
    worst = 0.0
    for table in tables:
        if len(table) < 2:
            continue
        atoms = sorted({answer for law in table.values() for answer in law})
        for z in range(-1, 6):
            for w in range(-1, 6):
                sides = [
                    sum(float(law.get(c, 0)) * first ** abs(z - c[0]) * second ** abs(w - c[1]) for c in atoms)
                    for law in table.values()
                ]
                worst = max(worst, log(max(sides) / min(sides)))
    return worst


# ------------------------------------------------------------------------------------------------ the formula, literally


def literal(told: Influences, length: int, costs: Sequence[Fraction]) -> float:
    """``max over entries of min over quilts of influence + what the entries between cost``."""
    worst = 0.0
    for node in brute.nodes_with_secrets(told, length):
        losses = []
        for a, b, _ in brute.quilts_of(node, length):
            ratio = told.of(node, a, b)
            if ratio is not None:
                low = 1 if a is None else node - a + 1
                high = length if b is None else node + b - 1
                losses.append(log(ratio) + float(sum(costs[low - 1 : high], Fraction(0))))
        worst = max(worst, min(losses))
    return worst


def test_the_account_is_its_formula() -> None:
    random = Random(63)
    same = 0
    for _ in range(80):
        size = random.choice((2, 2, 3))
        matrix, chain = random_chain(random, size)
        length = random.randint(1, 9)
        result, costs = Accountant.of(chain, length=length), [Fraction(0)] * length
        for _ in range(random.randint(1, 4)):
            low, high = sorted(random.choices(range(1, length + 1), k=2))
            cost = random.choice((Fraction(1, 100), Fraction(1, 7), Fraction(1), Fraction(3)))
            result = result.spending(cost, first=low, last=high)
            costs = [c + (cost if low <= i + 1 <= high else 0) for i, c in enumerate(costs)]
        told = Influences(matrix, start_of(chain), reachable=True)
        expected = literal(told, length, costs)
        assert float(result.epsilon) >= expected * (1 - 1e-12), (matrix, chain.start, length, costs)
        assert float(result.epsilon) <= float(sum(costs)) * (1 + 1e-12)
        if chain.start == "stationary" and all(len(told.possible(n)) == size for n in range(1, length + 1)):
            same += 1
            assert float(result.epsilon) == pytest.approx(expected, rel=1e-9), (matrix, length, costs)
    assert same > 5


def telling(second: float, distances: np.ndarray) -> np.ndarray:
    """What an entry of a symmetric chain on two states tells about another one so far away."""
    powers = second**distances
    return np.log1p(powers) - np.log1p(-powers)


def symmetric_formula(second: float, costs: np.ndarray, nodes: Sequence[int]) -> float:
    """The formula for a symmetric chain on two states: both sides of a quilt are best by themselves."""
    length = len(costs)
    paid = np.concatenate([[0.0], np.cumsum(costs)])
    worst = 0.0
    for node in nodes:
        left, right = np.arange(1, node), np.arange(1, length - node + 1)
        before, after = paid[node - 1], paid[length] - paid[node - 1]
        to_left = min(telling(second, left) + before - paid[node - left], default=np.inf)
        to_right = min(telling(second, right) + paid[node + right - 1] - before, default=np.inf)
        worst = max(worst, min(before + after, to_left + to_right, to_left + after, before + to_right))
    return worst


def symmetric(flip: Fraction) -> Chain:
    return chain_of(((1 - flip, flip), (flip, 1 - flip)), "stationary")


@pytest.mark.parametrize("flip", ["1/4", "1/10", "1/50"])
def test_longer_series_with_windows(flip: str) -> None:
    random = Random(64)
    chain, second = symmetric(Fraction(flip)), 1 - 2 * float(Fraction(flip))
    for length in (30, 120, 400):
        result, costs = Accountant.of(chain, length=length), np.zeros(length)
        for _ in range(4):
            low, high = sorted(random.choices(range(1, length + 1), k=2))
            cost = random.choice((Fraction(1, 1000), Fraction(1, 50), Fraction(1, 5)))
            result = result.spending(cost, first=low, last=high)
            costs[low - 1 : high] += float(cost)
        expected = symmetric_formula(second, costs, range(1, length + 1))
        assert expected * (1 - 1e-9) <= float(result.epsilon) <= expected * 1.01 + 1e-3


def test_no_entry_of_a_long_piece_costs_more_than_the_account() -> None:
    """Where quilts on one side are best, entries of a piece differ, and the worst one need not be in its middle."""
    flip, length, cut = Fraction(24, 10**8), 20000, 13333
    costs = Fraction(40, 3) / cut, Fraction(20, 3) / (length - cut) * Fraction(1001, 1000)
    result = Accountant.of(symmetric(flip), length=length).spending(costs[0], last=cut)
    result = result.spending(costs[1], first=cut + 1)
    each = np.repeat([float(cost) for cost in costs], [cut, length - cut])
    expected = symmetric_formula(1 - 2 * float(flip), each, range(500, length, 500))
    assert float(result.epsilon) >= expected * (1 - 1e-9)


# ----------------------------------------------------------------------------------------------------- figures and limits


@pytest.fixture(scope="module")
def weekly() -> Fraction:
    """What an entry costs in one release at epsilon = 1 by quilts."""
    return calibrate(WALK, length=100, query=count("walk"), epsilon=1, method="quilt", noise="laplace").cost


@pytest.mark.parametrize(("number", "expected"), [(1, "1.00"), (2, "1.67"), (5, "3.03"), (10, "4.30")])
def test_many_releases_cost_less_than_their_sum(weekly: Fraction, number: int, expected: str) -> None:
    result = Accountant.of(WALK, length=100)
    for _ in range(number):
        result = result.spending(weekly)
    assert f"{float(result.epsilon):.2f}" == expected
    assert result.epsilon <= result.simple * (1 + Fraction(1, 10**9))
    assert float(result.simple) == pytest.approx(number, rel=1e-6)


def test_disjoint_halves_cost_no_more_than_one(weekly: Fraction) -> None:
    halves = Accountant.of(WALK, length=100).spending(weekly, last=50).spending(weekly, first=51)
    whole = Accountant.of(WALK, length=100).spending(weekly)
    assert halves.epsilon == whole.epsilon
    assert f"{float(halves.epsilon):.2f}" == "1.00"


def test_the_order_does_not_matter_and_more_costs_more() -> None:
    random = Random(65)
    spendings = [(Fraction(random.randint(1, 30), 100), *sorted(random.choices(range(1, 41), k=2))) for _ in range(5)]
    totals = []
    for order in (spendings, spendings[::-1], sorted(spendings)):
        result, before = Accountant.of(WALK, length=40), Fraction(0)
        for cost, low, high in order:
            result = result.spending(cost, first=low, last=high)
            assert result.epsilon >= before * (1 - Fraction(1, 10**12))
            before = result.epsilon
        totals.append(float(result.epsilon))
    assert max(totals) - min(totals) < 1e-9


def test_several_chains_cost_as_much_as_the_worst() -> None:
    slow = WALK.starting("any")
    costs = [float(Accountant.of(chain, length=50).spending("1/5").epsilon) for chain in ([WALK], [slow], [WALK, slow])]
    assert costs[2] == max(costs[:2])


@pytest.mark.parametrize("window", [(1, 100), (20, 30), (100, 100)])
def test_what_is_left_is_the_most(weekly: Fraction, window: tuple[int, int]) -> None:
    first, last = window
    result = Accountant.of(WALK, length=100, epsilon=3)
    for _ in range(3):
        result = result.spending(weekly)
    left = result.left(first=first, last=last)
    assert left > 0
    assert result.spending(left, first=first, last=last).epsilon <= 3
    with pytest.raises(BudgetError):
        result.spending(left * (1 + Fraction(1, 10**4)), first=first, last=last)


def test_a_release_beyond_the_budget_is_refused_and_nothing_is_spent(weekly: Fraction) -> None:
    result = Accountant.of(WALK, length=100, epsilon="3/2").spending(weekly, note="the first")
    with pytest.raises(BudgetError, match=r"would bring the loss to 1\.6\d+, above 3/2") as problem:
        result.spending(weekly)
    assert "is left" in str(problem.value)
    assert [spending.note for spending in result.spendings] == ["the first"]
    assert result.epsilon < Fraction(3, 2)
    full = result.spending(result.left())
    with pytest.raises(BudgetError):
        full.spending(weekly)
    assert float(full.left()) < 1e-4


def test_a_budget_that_is_no_fraction() -> None:
    result = Accountant.of(WALK, length=20, epsilon="ln(2)")
    spent = result.spending(result.left())
    assert float(spent.epsilon) <= log(2)
    assert float(spent.epsilon) == pytest.approx(log(2), rel=1e-3)


def test_nothing_spent_costs_nothing() -> None:
    assert Accountant.of(WALK, length=5).epsilon == 0
    with pytest.raises(QuestionError, match="no budget"):
        Accountant.of(WALK, length=5).left()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cost": 0}, "an entry costs 0"),
        ({"cost": -1}, "an entry costs -1"),
        ({"cost": 1, "first": 0}, r"0\.\.5 are no entries"),
        ({"cost": 1, "last": 6}, r"1\.\.6 are no entries"),
        ({"cost": 1, "first": 4, "last": 3}, r"4\.\.3 are no entries"),
        ({"cost": 0.5}, "float"),
        ({"cost": "a lot"}, "not an exact number"),
    ],
)
def test_a_spending_that_makes_no_sense(given: dict[str, object], said: str) -> None:
    cost = given.pop("cost")
    with pytest.raises((BudgetError, ScenarioError, ValueError), match=said):
        Accountant.of(WALK, length=5).spending(cost, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("chains", "length"), [([], 5), ([3], 5), (WALK, 0), (WALK, "5")])
def test_an_accountant_of_nothing(chains: object, length: object) -> None:
    with pytest.raises(ScenarioError):
        Accountant.of(chains, length=length)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------- one release that is proved in another way


def test_a_single_release_costs_its_own_budget() -> None:
    """Exact noise alone loses epsilon; with others it counts by its quilts."""
    made = calibrate(WALK, length=100, query=count("walk"), epsilon=1)
    assert made.method == "exact"
    once = Accountant.of(WALK, length=100).spending(made)
    assert once.epsilon <= 1
    assert float(once.spending(made).epsilon) > 2


@pytest.mark.parametrize("start", ["stationary", {"a": 1}])
def test_a_budget_under_other_beliefs_does_not_count(start: object) -> None:
    """What was calibrated for independent entries loses more where the entries depend on each other."""
    even = ((Fraction(1, 2),) * 2,) * 2
    slow = ((Fraction(99, 100), Fraction(1, 100)), (Fraction(1, 100), Fraction(99, 100)))
    made = calibrate(chain_of(even, "stationary"), query=count("b"), epsilon=1, length=20)
    chain = Chain.of({x: dict(zip("ab", row, strict=True)) for x, row in zip("ab", slow, strict=True)}, initial=start)  # type: ignore[arg-type]
    true = verify(chain, query=count("b"), noise=made.noise, length=20)
    assert float(true.lower.decimal(digits=12)) > 5  # type: ignore[union-attr]
    booked = Accountant.of(chain, length=20).spending(made).epsilon
    assert float(booked) >= float(true.lower.decimal(digits=12))  # type: ignore[union-attr]


def test_a_budget_for_other_entries_does_not_count() -> None:
    """After a given start the first entries are nearly certain, and later ones are not: the same noise loses more there."""
    lazy = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10)))
    chain = chain_of(lazy, (Fraction(1), Fraction(0)))
    query = weighted_sum({"b": 1})
    made = calibrate(chain, query=query, epsilon=1, length=2, method="exact")
    later = brute.times((start_of(chain),), brute.times(lazy, brute.times(lazy, lazy)))[0]  # type: ignore[arg-type]
    tables = brute.laws(homogeneous(later, lazy, 2), brute.sums([Fraction(0), Fraction(1)]))
    assert isinstance(made.noise, Geometric)
    alpha = Fraction(int(made.noise.alpha.p), int(made.noise.alpha.q))
    true = brute.loss(tables, brute.geometric(alpha, Fraction(1)))
    assert exceeds(true, Fraction(1))
    booked = Accountant.of(chain, length=5).spending(made, first=4, last=5).epsilon
    assert not exceeds(true, booked)
