"""Noisy releases of correlated series, against definitions by enumeration: quilts, every way to calibrate, laws, distances, drawing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import log
from random import Random

import numpy as np
import pytest
from flint import arb
from scipy.stats import chi2
from tests.amounts import ALL, examples
from tests.release import release_brute as brute
from tests.release.release_brute import Answer, Influences, Kernel, Law, Matrix, Model, Row, homogeneous

from privproof.errors import PrivproofError, QuestionError, ScenarioError
from privproof.exact import rational
from privproof.language.randomness import Seeded
from privproof.release.calibration import calibrate
from privproof.release.calibration_methods import METHODS, Method
from privproof.release.law_distances import largest_distance
from privproof.release.markov_chains import Band, Chain
from privproof.release.markov_quilts import quilts, spent
from privproof.release.noise_drawing import draw, lattice
from privproof.release.release_losses import largest_loss
from privproof.release.release_question import Geometric, Laplace, Noise
from privproof.release.series_queries import Query, count, histogram, weighted_sum
from privproof.release.sum_laws import chain_laws, listed_laws

WEIGHTS = tuple(Fraction(each) for each in ("0", "1", "-1", "1/3", "-2/7", "1/2", "3", "5/6"))
BUDGETS = tuple(Fraction(each) for each in ("1/50", "1/5", "1", "2", "5", "40"))
CLOSE = brute.exact(Fraction(1, 2**120))


def fraction(value: object) -> Fraction:
    return Fraction(int(value.p), int(value.q))  # type: ignore[attr-defined]


def chain_of(matrix: Matrix, start: Row | str) -> Chain:
    states = "abc"[: len(matrix)]
    initial = start if isinstance(start, str) else dict(zip(states, start, strict=True))
    return Chain.of(
        {x: dict(zip(states, row, strict=True)) for x, row in zip(states, matrix, strict=True)}, initial=initial
    )


def start_of(chain: Chain) -> Row | None:
    return None if chain.law is None else tuple(fraction(p) for p in chain.law)


def random_chain(random: Random, size: int) -> tuple[Matrix, Chain]:
    """A chain with any of the three kinds of start."""
    while True:
        matrix = brute.random_matrix(random, size)
        start = random.choice(("given", "given", "any", "stationary"))
        try:
            return matrix, chain_of(matrix, brute.random_start(random, size) if start == "given" else start)
        except ScenarioError:
            continue  # several distributions are stationary


def kernel_of(noise: Noise) -> Kernel:
    if isinstance(noise, Geometric):
        return brute.geometric(fraction(noise.alpha), fraction(noise.step))
    return brute.laplace(fraction(noise.scale))


@brute.precisely()
def exceeds(loss: arb, epsilon: Fraction) -> bool:
    """Whether the loss is certainly above the budget; where it equals the budget a ball cannot tell."""
    return bool(loss > brute.exact(epsilon) * (1 + CLOSE))


# ------------------------------------------------------------------------------------------- the reference, by itself


def test_the_reference_agrees_with_the_joint_distribution() -> None:
    random = Random(1)
    for _ in range(25):
        size = random.choice((2, 3))
        matrix, chain = random_chain(random, size)
        start = start_of(chain) or brute.random_start(random, size)
        length = random.randint(1, 5 if size == 2 else 4)
        joint = brute.series(homogeneous(start, matrix, length))
        told = Influences(matrix, start, reachable=True)
        for node in range(1, length + 1):
            for a, b, _ in brute.quilts_of(node, length):
                quilt = [*(() if a is None else (node - a,)), *(() if b is None else (node + b,))]
                assert brute.influence(joint, node, quilt) == told.of(node, a, b), (matrix, start, node, quilt)


def test_a_quilt_shields_what_lies_beyond() -> None:
    random = Random(2)
    for _ in range(10):
        matrix, chain = random_chain(random, 2)
        start = start_of(chain) or brute.random_start(random, 2)
        joint = brute.series(homogeneous(start, matrix, 6))
        for node, a, b in ((3, 1, 1), (3, 2, 2), (4, 1, 1), (2, 1, 3)):
            beyond = [i for i in range(1, 7) if i <= node - a or i >= node + b]
            assert brute.influence(joint, node, [node - a, node + b]) == brute.influence(joint, node, beyond)


def test_the_largest_ratio_is_at_an_atom() -> None:
    random = Random(3)
    for _ in range(20):
        matrix, chain = random_chain(random, 2)
        start = start_of(chain) or brute.random_start(random, 2)
        tables = brute.laws(homogeneous(start, matrix, 4), brute.sums([Fraction(-1), Fraction(2)]))
        kernel = brute.laplace(random.choice(BUDGETS))
        between = [(Fraction(random.randint(-800, 1200), 97),) for _ in range(40)]
        with brute.precisely():
            assert not bool(brute.loss(tables, kernel, outputs=between) > brute.loss(tables, kernel) + CLOSE)


def test_moving_in_order_is_moving_best() -> None:
    random = Random(4)
    for _ in range(60):
        left, right = (_random_law(random) for _ in range(2))
        assert brute.moved(left, right) == brute.moved_by_flow(left, right)


def _random_law(random: Random, atoms: int = 5) -> dict[Fraction, Fraction]:
    places = random.sample(range(9), random.randint(1, atoms))
    parts = [random.choice((1, 1, 2, 3, 7)) for _ in places]
    return {Fraction(c): Fraction(part, sum(parts)) for c, part in zip(places, parts, strict=True)}


# ------------------------------------------------------------------------------------------------------------- 1. quilts


def _quilts_agree(random: Random, number: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for _ in range(number):
        size = random.choice((2, 2, 3))
        matrix, chain = random_chain(random, size)
        length, epsilon = random.choice((1, 2, 3, 4, 5, 6, 7, 9)), random.choice(BUDGETS)
        rate = random.choice((Fraction(1, 100), Fraction(1, 7), Fraction(1), Fraction(10)))
        printed = Influences(matrix, start_of(chain), reachable=False)
        told = Influences(matrix, start_of(chain), reachable=True)
        what = (matrix, chain.start, length, epsilon, rate)
        found = quilts(chain, length, float(epsilon))
        price, at = spent(chain, length, rate)
        least, low = (
            brute.worst_score(told, length, Fraction(float(epsilon)))[0],
            brute.worst_cost(told, length, rate)[0],
        )
        assert float(found.score) >= least * (1 - 1e-14), what
        assert float(price) >= low * (1 - 1e-14), what
        for each in (found, at):
            assert [block.first for block in each.blocks] == [1, *(block.last + 1 for block in each.blocks[:-1])], what
            assert each.blocks[-1].last == length, what
        _blocks_hold(found, told, length, Fraction(float(epsilon)), found.rate, what)
        _blocks_hold(at, told, length, price, rate, what)
        if all(len(told.possible(node)) == size for node in range(1, length + 1)):
            seen["all values possible"] += 1
            expected = brute.worst_score(printed, length, Fraction(float(epsilon)))
            assert float(found.score) == pytest.approx(expected[0], rel=1e-9), (what, expected)
            assert float(price) == pytest.approx(brute.worst_cost(printed, length, rate)[0], rel=1e-9), what
        seen["tight" if float(found.score) <= least * (1 + 1e-9) else "loose"] += 1
    return seen


def _blocks_hold(found: object, told: Influences, length: int, epsilon: Fraction, rate: Fraction, what: object) -> None:
    """Every block's choice is true of every entry in it, by the definition."""
    for block in found.blocks:  # type: ignore[attr-defined]
        for node in range(block.first, block.last + 1):
            if len(told.possible(node)) < 2:
                continue
            a, b = block.cell.left, block.cell.right
            left = None if a is None or a >= node else a
            right = None if b is None or node + b > length else b
            between = (length if right is None else node + right - 1) - (0 if left is None else node - left)
            ratio = told.of(node, left, right)
            assert between <= block.size, (what, node, block)
            assert ratio is not None, (what, node, block)
            assert log(ratio) <= block.cell.influence * (1 + 1e-15) + 1e-300, (what, node, block)
            with brute.precisely():
                paid = brute.logarithm(ratio) + between * brute.exact(rate)
            assert not exceeds(paid, epsilon), (what, node, block)


def test_quilts_are_the_literal_algorithm() -> None:
    seen = _quilts_agree(Random(10), 75)
    assert seen["all values possible"] > 30
    assert seen["tight"] > 30


def test_quilts_of_longer_series() -> None:
    """Long enough for blocks of entries, and for starts that are forgotten."""
    random = Random(12)
    for number in range(9 if ALL else 3):
        matrix = tuple(brute.random_row(random, 2, zeros=False) for _ in range(2))
        chain = chain_of(
            matrix,
            brute.random_row(random, 2, zeros=False) if number % 3 == 0 else ("any", "stationary")[number % 3 - 1],
        )
        printed = Influences(matrix, start_of(chain), reachable=False)
        for epsilon in (Fraction(1, 4), Fraction(2)):
            expected = brute.worst_score(printed, 24, epsilon)[0]
            assert float(quilts(chain, 24, float(epsilon)).score) == pytest.approx(expected, rel=1e-9), (
                matrix,
                chain.start,
            )


@pytest.mark.slow
def test_quilts_are_the_literal_algorithm_often() -> None:
    _quilts_agree(Random(11), 4000)


def test_an_early_entry_does_not_borrow_a_node_before_the_series() -> None:
    """Left nodes that do not exist tell nothing; counting them could make an influence smaller where the start is given."""
    matrix = ((Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 11), Fraction(10, 11)))
    chain = chain_of(matrix, (Fraction(1, 2), Fraction(1, 2)))
    told = Influences(matrix, start_of(chain), reachable=True)
    found = quilts(chain, 4, 2.0)
    _blocks_hold(found, told, 4, Fraction(2), found.rate, chain)


@pytest.mark.parametrize("start", ["stationary", "any", {"a": 1}, {"b": 1}, {"a": "1/2", "c": "1/2"}])
@pytest.mark.parametrize(
    "rows",
    [
        {"a": {"a": 1}, "b": {"a": "1/2", "b": "1/2"}, "c": {"b": 1}},
        {"a": {"b": 1}, "b": {"a": "1/2", "b": "1/2"}, "c": {"a": 1}},
        {"a": {"a": "1/2", "b": "1/2"}, "b": {"a": "1/5", "b": "4/5"}, "c": {"a": "3/10", "b": "3/10", "c": "2/5"}},
        {"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1}},
        {"a": {"b": "1/2", "c": "1/2"}, "b": {"a": 1}, "c": {"a": 1}},
    ],
)
def test_impossible_values_keep_nothing_from_ending(rows: dict[str, dict[str, object]], start: object) -> None:
    chain = Chain.of(rows, initial=start)  # type: ignore[arg-type]
    matrix = tuple(tuple(fraction(p) for p in row) for row in chain.rows)
    told = Influences(matrix, start_of(chain), reachable=True)
    for length in (1, 2, 5, 12):
        found, (price, _) = quilts(chain, length, 1.0), spent(chain, length, Fraction(1, 5))
        assert (
            brute.worst_score(told, length, Fraction(1))[0] * (1 - 1e-14) <= float(found.score) <= length * (1 + 1e-14)
        )
        low = brute.worst_cost(told, length, Fraction(1, 5))[0]
        assert low * (1 - 1e-14) <= float(price) <= length / 5 * (1 + 1e-14)


# ------------------------------------------------------------------------------------------------------------ 2. privacy


@dataclass(frozen=True)
class Case:
    """A query of a series, with the laws of its answers under every start that is tried."""

    matrix: Matrix
    chain: Chain
    length: int
    epsilon: Fraction
    query: Query
    tables: tuple[list[dict[int, Law]], ...]

    @brute.precisely()
    def worst(self, noise: Noise) -> arb:
        kernel = kernel_of(noise)
        result = arb(0)
        for table in self.tables:
            result = result.max(brute.loss(table, kernel))
        return result

    @property
    def secret(self) -> bool:
        return any(len(laws) > 1 for table in self.tables for laws in table)


def random_query(random: Random, states: str) -> tuple[Query, object]:
    kind = random.choice(("count", "weights", "weights", "histogram"))
    if kind == "histogram":
        return histogram(states), brute.counts(len(states))
    if kind == "count":
        return count("a"), brute.sums([Fraction(int(x == "a")) for x in states])
    weights = random_weights(random, len(states))
    return weighted_sum(dict(zip(states, weights, strict=True))), brute.sums(weights)


def random_weights(random: Random, size: int) -> list[Fraction]:
    """Weights that are not all the same."""
    while True:
        weights = [random.choice(WEIGHTS) for _ in range(size)]
        if len(set(weights)) > 1:
            return weights


def random_case(random: Random) -> Case:
    size = random.choice((2, 2, 3))
    matrix, chain = random_chain(random, size)
    query, answer = random_query(random, "abc"[:size])
    length = random.randint(1, 3 if query.kind == "histogram" else 6 if size == 2 else 4)
    start = start_of(chain)
    starts = [start] if start is not None else brute.starts_to_try(random, size, 4)
    tables = tuple(brute.laws(homogeneous(each, matrix, length), answer) for each in starts)  # type: ignore[arg-type]
    return Case(matrix, chain, length, random.choice(BUDGETS), query, tables)


def _nothing_leaks(random: Random, number: int) -> tuple[dict[str, float], Counter[str]]:
    """The largest loss of every method, as a share of the budget."""
    largest: dict[str, float] = defaultdict(float)
    tried: Counter[str] = Counter()
    for _ in range(number):
        case = random_case(random)
        for method in ("auto", *METHODS):
            for kind in ("geometric", "laplace"):
                try:
                    made = calibrate(
                        case.chain,
                        query=case.query,
                        epsilon=case.epsilon,
                        length=case.length,
                        method=method,
                        noise=kind,
                    )
                except PrivproofError as problem:
                    if problem.code in ("secrets", "query") and method in ("auto", "quilt", "contraction", "group"):
                        assert not case.secret or not _moves(case), case
                        continue
                    assert method not in ("auto", "quilt", "contraction", "group"), case
                    if method in ("exact", "wasserstein"):
                        unlike = case.query.kind == "histogram" and method == "wasserstein"
                        assert unlike or case.chain.law is None or not case.secret or not _moves(case), case
                    continue
                loss = case.worst(made.noise)
                assert not exceeds(loss, case.epsilon), (method, made.noise, float(loss), case)
                tried[method] += 1
                share = float(loss / brute.exact(case.epsilon))
                largest[method] = max(largest[method], share)
                if method == "exact" and case.secret and kind == "laplace" and _tells(case):
                    tried["exact and tight"] += share > 0.999999
                    tried["exact and able to tell"] += 1
    return largest, tried


def _moves(case: Case) -> bool:
    """Whether the answer is not the same for all series that are possible."""
    return len({answer for table in case.tables for laws in table for law in laws.values() for answer in law}) > 1


def _tells(case: Case) -> bool:
    """Whether without noise some answer is impossible under one value and possible under another, so that every budget can be reached."""
    return any(
        set(law) != set(other)
        for table in case.tables
        for laws in table
        for law, other in combinations(laws.values(), 2)
    )


def test_no_method_leaks() -> None:
    largest, tried = _nothing_leaks(Random(20), 30)
    assert tried["exact and tight"] == tried["exact and able to tell"] > 5
    assert largest["exact"] > 0.999999
    assert largest["quilt"] == pytest.approx(1)
    assert largest["wasserstein"] == pytest.approx(1)
    assert set(tried) >= set(METHODS)


@pytest.mark.slow
def test_no_method_leaks_often() -> None:
    largest, tried = _nothing_leaks(Random(21), 2000)
    assert tried["exact and tight"] == tried["exact and able to tell"]
    assert min(largest[method] for method in METHODS if method != "gk16") > 0.999


def test_extreme_budgets() -> None:
    matrix = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(2, 5), Fraction(3, 5)))
    for start in ("stationary", (Fraction(1), Fraction(0)), (Fraction(1, 10**9), 1 - Fraction(1, 10**9))):
        chain = chain_of(matrix, start)
        given = start_of(chain)
        assert given is not None
        for length in (1, 2, 5):
            tables = brute.laws(homogeneous(given, matrix, length), brute.sums([Fraction(0), Fraction(1)]))
            if not any(len(table) > 1 for table in tables):
                continue
            for epsilon in (Fraction(1, 10**12), Fraction(1, 10**5), Fraction(400), Fraction(5000)):
                for method in ("exact", "wasserstein", "quilt", "contraction", "spectral", "group"):
                    made = calibrate(
                        chain,
                        query=count("b"),
                        epsilon=epsilon,
                        length=length,
                        method=method,
                        noise="laplace",  # type: ignore[arg-type]
                    )
                    assert not exceeds(brute.loss(tables, kernel_of(made.noise)), epsilon), (
                        start,
                        length,
                        epsilon,
                        method,
                    )


@pytest.mark.parametrize("method", ["exact", "wasserstein", "quilt", "auto"])
def test_values_too_rare_for_floats_are_kept_secret_or_refused(method: Method) -> None:
    rare = Fraction(1, 10**400)
    half = Fraction(1, 2)
    far = ((half, half - rare, rare), (half, half, Fraction(0)), (half, half, Fraction(0)))
    cases = [
        (far, (half, half, Fraction(0)), [Fraction(0), Fraction(1), Fraction(2000)], 2),
        (((half, half), (Fraction(1, 3), Fraction(2, 3))), (1 - rare, rare), [Fraction(0), Fraction(1)], 3),
        (((1 - rare, rare), (half, half)), (half, half), [Fraction(0), Fraction(1)], 3),
    ]
    for matrix, start, weights, length in cases:
        chain = chain_of(matrix, start)
        query = weighted_sum(dict(zip(chain.states, weights, strict=True)))
        try:
            made = calibrate(chain, query=query, epsilon=1, length=length, method=method, noise="laplace")
        except PrivproofError:
            assert method != "auto"
            continue
        tables = brute.laws(homogeneous(start, matrix, length), brute.sums(weights))
        assert not exceeds(brute.loss(tables, kernel_of(made.noise)), Fraction(1)), (matrix, start)


# ---------------------------------------------------------------------------------------------------- 3. laws, distances


def _laws_agree(random: Random, number: int) -> None:
    for _ in range(number):
        size = random.choice((2, 3))
        matrix, chain = random_chain(random, size)
        start = start_of(chain)
        if start is None:
            continue
        weights = random_weights(random, size)
        length = random.randint(1, 6 if size == 2 else 4)
        query = weighted_sum(dict(zip(chain.states, weights, strict=True)))
        expected = brute.laws(homogeneous(start, matrix, length), brute.sums(weights))
        found = list(chain_laws(chain, length, query))
        assert [laws.node for laws in found] == list(range(1, length + 1))
        widest = Fraction(0)
        for laws, table in zip(found, expected, strict=True):
            assert laws.values == tuple(chain.states[x] for x in sorted(table))
            exact = laws.exactly()
            for masses, rationals, x in zip(laws.masses, exact, sorted(table), strict=True):
                assert len(masses) == len(rationals)
                listed = {
                    (fraction(query.step) * (laws.lowest + c),): fraction(p) for c, p in enumerate(rationals) if p != 0
                }
                assert listed == table[x], (matrix, start, length, weights, laws.node)
                for mass, p in zip(masses, rationals, strict=True):
                    assert (mass == 0) == (p == 0)
                    assert abs(Fraction(float(mass)) - fraction(p)) <= Fraction(laws.error) * fraction(p)
            for left, right in combinations(table.values(), 2):
                widest = max(widest, brute.moved(_line(left), _line(right)))
        distance = largest_distance(laws for laws in found if len(laws.values) > 1)
        assert distance.steps * fraction(query.step) == widest, (matrix, start, length, weights)
        assert distance.exact


def _line(law: Law) -> dict[Fraction, Fraction]:
    return {answer[0]: chance for answer, chance in law.items()}


def test_laws_and_distances_are_those_of_the_enumeration() -> None:
    _laws_agree(Random(30), 80)


@pytest.mark.slow
def test_laws_and_distances_are_those_of_the_enumeration_often() -> None:
    _laws_agree(Random(31), 2000)


def test_rounding_does_not_decide_about_a_distance() -> None:
    """Cumulative sums of thirds and sevenths meet exactly; sums of floats miss each other by a little, and the distance jumps."""
    random = Random(32)
    fooled = 0
    for _ in range(400):
        whole = random.choice((3, 7, 10, 12))
        left, right = _parts_of(random, whole), _parts_of(random, whole)
        laws = listed_laws({"x": _whole(left), "y": _whole(right)})
        expected = brute.moved(left, right)
        assert largest_distance([laws]).steps == expected, (left, right)
        fooled += _by_floats(left, right) != expected
    assert fooled > 10


def test_the_smallest_example_that_fools_floats() -> None:
    tenth = Fraction(1, 10)
    left, right = {0: 3 * tenth, 9: 7 * tenth}, {0: tenth, 1: 2 * tenth, 9: 7 * tenth}
    assert 0.1 + 0.2 > 0.3
    laws = listed_laws(
        {"x": {c: rational(p) for c, p in left.items()}, "y": {c: rational(p) for c, p in right.items()}}
    )
    assert largest_distance([laws]).steps == 1
    assert _by_floats(left, right) == 8


def _parts_of(random: Random, whole: int) -> dict[Fraction, Fraction]:
    """A law whose masses are multiples of one fraction."""
    law: Counter[int] = Counter(random.choices(random.sample(range(10), 4), k=whole))
    return {Fraction(c): Fraction(number, whole) for c, number in law.items()}


def test_tails_below_the_range_of_floats_count() -> None:
    """Masses of 1e-1290 decide about this distance: it is 3, and 1 for all that floats can hold."""
    rows = {"a": {"a": "1/41", "b": "20/41", "c": "20/41"}, "b": {"a": 1}, "c": {"a": "1/14", "b": "5/14", "c": "4/7"}}
    chain = Chain.of(rows, initial={"a": "1/10", "b": "1/10", "c": "4/5"})
    query = weighted_sum({"a": 3, "c": 1})
    at = next(islice(chain_laws(chain, 800, query), 399, None))
    exact = [{Fraction(c): fraction(p) for c, p in enumerate(law) if p != 0} for law in at.exactly()]
    assert max(brute.moved(left, right) for left, right in combinations(exact, 2)) == 3
    try:
        assert largest_distance([at]).steps >= 3
    except QuestionError as refused:
        assert refused.code == "size"  # noqa: PT017


def _whole(law: dict[Fraction, Fraction]) -> dict[int, object]:
    return {int(c): rational(p) for c, p in law.items()}


def _by_floats(left: dict[int, Fraction] | dict[Fraction, Fraction], right: object) -> int:
    """The distance by the quantile coupling of floating point sums, as one would write it."""
    places = np.arange(10)
    first, second = (np.cumsum([float(law.get(c, 0)) for c in range(10)]) for law in (left, right))  # type: ignore[attr-defined]
    levels = np.unique(np.concatenate([first, second]))
    levels = levels[levels <= min(first[-1], second[-1])]
    return int(max(abs(places[np.searchsorted(first, levels)] - places[np.searchsorted(second, levels)])))


def test_losses_enclose_the_exact_ones() -> None:
    random = Random(33)
    for _ in range(60):
        size = random.choice((2, 3))
        matrix, chain = random_chain(random, size)
        start = start_of(chain)
        if start is None:
            continue
        weights = [Fraction(random.choice((0, 1, 2, -3))) for _ in range(size - 1)] + [Fraction(7)]
        query = weighted_sum(dict(zip(chain.states, weights, strict=True)))
        found = [laws for laws in chain_laws(chain, 4, query) if len(laws.values) > 1]
        if not found:
            continue
        alpha = random.choice((0.25, 0.5, 0.9375))
        step = fraction(query.step)
        tables = brute.laws(homogeneous(start, matrix, 4), brute.sums(weights))
        loss = brute.loss(tables, brute.geometric(Fraction(alpha), step))
        enclosed = largest_loss(found, alpha)
        assert enclosed.low <= float(loss) <= enclosed.high
        assert enclosed.high - enclosed.low < 1e-11


# --------------------------------------------------------------------------------- 4. several lengths, priors, and bands


def test_several_lengths_are_all_protected() -> None:
    random = Random(40)
    for _ in range(examples(25)):
        matrix, chain = random_chain(random, 2)
        epsilon = random.choice(BUDGETS)
        starts = [start_of(chain)] if chain.law is not None else list(brute.starts_to_try(random, 2, 2))
        weights = [Fraction(1), Fraction(-1, 3)]
        query = weighted_sum(dict(zip("ab", weights, strict=True)))
        for method in ("auto", *METHODS):
            try:
                made = calibrate(chain, query=query, epsilon=epsilon, lengths=(3, 6), method=method, noise="laplace")
            except PrivproofError:
                continue
            assert made.question.entries == 9
            for length in (3, 6):
                for start in starts:
                    assert start is not None
                    tables = brute.laws(homogeneous(start, matrix, length), brute.sums(weights))
                    loss = brute.loss(tables, kernel_of(made.noise))
                    assert not exceeds(loss, epsilon), (method, matrix, start, length, epsilon)


def test_several_priors_are_all_covered() -> None:
    random = Random(41)
    for _ in range(examples(25)):
        pairs = [random_chain(random, 2) for _ in range(3)]
        epsilon = random.choice(BUDGETS)
        for method in ("auto", *METHODS):
            try:
                made = calibrate(
                    [chain for _, chain in pairs], query=count("a"), epsilon=epsilon, length=5, method=method
                )
            except PrivproofError:
                continue
            for matrix, chain in pairs:
                for start in [start_of(chain)] if chain.law is not None else brute.starts_to_try(random, 2, 2):
                    assert start is not None
                    tables = brute.laws(homogeneous(start, matrix, 5), brute.sums([Fraction(1), Fraction(0)]))
                    assert not exceeds(brute.loss(tables, kernel_of(made.noise)), epsilon), (method, matrix, start)


def _corners(random: Random, low: Sequence[Fraction], high: Sequence[Fraction]) -> Row:
    """A distribution within bounds: one that exhausts them in a random order, or one in between."""
    row, left = list(low), 1 - sum(low)
    for x in random.sample(range(len(low)), len(low)):
        more = min(left, high[x] - low[x])
        if random.random() < 0.2:
            more *= Fraction(random.randint(0, 4), 4)
        row[x], left = row[x] + more, left - more
    for x in range(len(low)):
        more = min(left, high[x] - row[x])
        row[x], left = row[x] + more, left - more
    return tuple(row)


def _bands(random: Random, number: int) -> Iterator[tuple[float, str]]:
    for _ in range(number):
        size = random.choice((2, 2, 3))
        states = "abc"[:size]
        centre = [brute.random_row(random, size, zeros=random.random() < 0.1) for _ in range(size)]
        slack = random.choice((Fraction(0), Fraction(1, 50), Fraction(1, 10), Fraction(1, 3)))
        low = [[max(Fraction(0), p - slack) for p in row] for row in centre]
        high = [[min(Fraction(1), p + slack) for p in row] for row in centre]
        band = Band.of({x: {y: (low[i][j], high[i][j]) for j, y in enumerate(states)} for i, x in enumerate(states)})
        epsilon = random.choice(BUDGETS)
        length = random.randint(1, 6 if size == 2 else 4)
        weights = random_weights(random, size)
        query = weighted_sum(dict(zip(states, weights, strict=True)))
        for method in ("auto", "contraction", "group"):
            made = calibrate(band, query=query, epsilon=epsilon, length=length, method=method, noise="laplace")  # type: ignore[arg-type]
            for start in [*brute.starts_to_try(random, size, 2)][-8:]:
                steps = tuple(tuple(_corners(random, low[i], high[i]) for i in range(size)) for _ in range(length - 1))
                loss = brute.loss(brute.laws(Model(start, steps), brute.sums(weights)), kernel_of(made.noise))
                assert not exceeds(loss, epsilon), (method, low, high, steps, start, epsilon)
                yield float(loss / brute.exact(epsilon)), method


def test_bands_cover_chains_that_change() -> None:
    shares = list(_bands(Random(42), 20))
    assert max(share for share, method in shares if method == "contraction") > 0.9


@pytest.mark.slow
def test_bands_cover_chains_that_change_often() -> None:
    assert len(list(_bands(Random(43), 1000))) > 10000


# ------------------------------------------------------------------------------------------------------------ 5. drawing


def _fits(drawn: Counter[int], chances: dict[int, float], number: int) -> bool:
    """A chi-square test at one in a million, values that are expected less than ten times taken together."""
    common = [value for value, chance in chances.items() if chance * number >= 10]
    expected = np.array([chances[value] * number for value in common])
    counted = np.array([drawn[value] for value in common])
    expected, counted = np.append(expected, number - expected.sum()), np.append(counted, number - counted.sum())
    statistic = float(((counted - expected) ** 2 / expected).sum())
    return statistic < float(chi2.ppf(1 - 1e-6, len(common)))


@pytest.mark.parametrize(("alpha", "step"), [("1/10", "1"), ("1/2", "1/3"), ("9/10", "2"), ("99/100", "1")])
def test_geometric_noise_has_its_law(alpha: str, step: str) -> None:
    number, ratio = 6000, float(Fraction(alpha))
    source, noise = Seeded(5), Geometric.of(alpha, step=step)
    drawn = Counter(int((draw(noise, rational(step), source) / rational(step)).p) for _ in range(number))
    assert _fits(drawn, {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-2000, 2001)}, number)
    wrong = ratio * 0.8
    assert not _fits(drawn, {k: (1 - wrong) / (1 + wrong) * wrong ** abs(k) for k in range(-2000, 2001)}, number)


@pytest.mark.parametrize(("scale", "step"), [("1/50", "1"), ("1", "1/3"), ("13", "1"), ("5000000", "1")])
def test_laplace_noise_lies_on_a_lattice_and_has_its_law(scale: str, step: str) -> None:
    number, noise = 4000, Laplace.of(scale)
    unit = lattice(noise, rational(step))
    assert unit * 2**20 <= noise.scale or unit == rational(step)
    assert (rational(step) / unit).q == 1
    source = Seeded(6)
    drawn = [draw(noise, rational(step), source) for _ in range(number)]
    assert all((value / unit).q == 1 for value in drawn)
    shares = [float(fraction(value / noise.scale)) for value in drawn]
    cells = Counter(int(np.floor(4 * share)) for share in shares)

    def cumulative(x: float) -> float:
        return np.exp(x) / 2 if x < 0 else 1 - np.exp(-x) / 2

    chances = {k: float(cumulative((k + 1) / 4) - cumulative(k / 4)) for k in range(-60, 60)}
    assert _fits(cells, chances, number)


def test_answers_and_noise_share_a_lattice() -> None:
    random = Random(50)
    for _ in range(30):
        weights = random_weights(random, 3)
        query = weighted_sum(dict(zip("abc", weights, strict=True)))
        made = calibrate(Chain.of({x: dict.fromkeys("abc", "1/3") for x in "abc"}), query=query, epsilon=1, length=4)
        assert isinstance(made.noise, Geometric)
        answers: set[Answer] = {
            (fraction(query([*"abc"][i] for i in values)),) for values in ((0, 1, 2), (2, 2, 1), (0, 0, 0))
        }  # type: ignore[arg-type]
        assert all((answer / fraction(made.noise.step)).denominator == 1 for (answer,) in answers)
