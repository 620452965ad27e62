"""Neighbours whose answers change together within a norm: `real_queries(norm="l2")` and `norm="l1"`."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from itertools import product
from math import exp, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from tests.amounts import patience, selected
from tests.certificates import nested
from tests.programs import load

from privproof import array as numpy_array
from privproof import (
    audit,
    check,
    gaussian,
    integer,
    laplace,
    mechanism,
    public,
    real,
    real_queries,
    smallest_delta,
    tight_epsilon,
    tight_mu,
    tight_renyi,
    tight_rho,
)
from privproof.audits.sampling.adjacent_data import Adjacent, is_adjacent
from privproof.audits.sampling.data_moves import draw_neighbours
from privproof.audits.sampling.data_proposals import patterns
from privproof.compiling.runs import ran
from privproof.errors import LanguageError
from privproof_checker import Accepted, Rejected, recheck


def _delta(mu, epsilon):
    below = NormalDist().cdf
    return below(mu / 2 - epsilon / mu) - exp(epsilon) * below(-mu / 2 - epsilon / mu)


def _near(mu, epsilon, factor):
    return f"{_delta(mu, epsilon) * factor:.15f}"


@mechanism
def vector(q: real_queries(norm="l2", sensitivity=3)):
    return [gaussian(x, sigma=6) for x in q]


@mechanism
def clipped(q: real_queries(norm="l2")):
    return [gaussian(min(max(x, -5), 5) / 2, sigma=1) for x in q]


def array(q):
    return q + np.random.normal(0, 2, size=len(q))


@mechanism
def total(q: real_queries(norm="l1")):
    return gaussian(sum(q), sigma=2)


@mechanism
def four(q: real_queries(norm="l2", size=4)):
    return gaussian(sum(q), sigma=4)


@mechanism
def three(q: real_queries(norm="l2", size=3)):
    return gaussian(sum(q), sigma=4)


@mechanism
def twice(q: real_queries(norm="l2")):
    for x in q:
        yield gaussian(x, sigma=2)
        yield gaussian(x, sigma=2)


@mechanism
def of_l1(q: real_queries(norm="l1")):
    return [gaussian(x, sigma=2) for x in q]


@mechanism
def two_entries(q: real_queries(norm="l2", size=3)):
    return gaussian((q[0] + q[2]) / 2, sigma=1)


@pytest.mark.parametrize(
    ("function", "mu"),
    [
        (vector, 1 / 2),
        (clipped, 1 / 2),
        (total, 1 / 2),
        (four, 1 / 2),
        (three, sqrt(3) / 4),
        (twice, 1 / sqrt(2)),
        (of_l1, 1 / 2),
        (two_entries, 1 / sqrt(2)),
    ],
)
def test_gaussian_noise_has_the_delta_of_two_normal_laws(function, mu):
    above = check(function, 1, _near(mu, 1, 1.0001))
    assert above.status == "proved"
    assert isinstance(recheck(nested(above.certificate)), Accepted)
    below = check(function, 1, _near(mu, 1, 0.9999))
    assert below.status == "refuted"
    assert isinstance(recheck(nested(below.certificate)), Accepted)


def test_arrays_of_ordinary_code():
    declared = numpy_array(real_queries(norm="l2"))
    assert check(array, 1, "0.0069", q=declared).status == "proved"
    assert check(array, 1, "0.0068", q=declared).status == "refuted"


def test_the_smallest_values_of_every_length():
    found = smallest_delta(vector, 1)
    assert float(found.lower) == pytest.approx(_delta(1 / 2, 1), rel=1e-11)
    assert float(found.upper) == pytest.approx(_delta(1 / 2, 1), rel=1e-11)
    smallest = tight_rho(vector)
    assert [str(smallest.lower), str(smallest.upper)] == ["1/8", "1/8"]
    assert check(vector, mu="0.4999").status == "refuted"


@mechanism
def laplace_vector(q: real_queries(norm="l1", sensitivity=2)):
    return [laplace(x, scale=4) for x in q]


@mechanism
def laplace_l2(q: real_queries(norm="l2")):
    return [laplace(x, scale=1) for x in q]


@mechanism
def laplace_of_four(q: real_queries(norm="l2", size=4)):
    return [laplace(x, scale=1) for x in q]


def test_laplace_noise_has_an_epsilon_within_l1_and_none_for_every_length_within_l2():
    assert str(tight_epsilon(laplace_vector).tight) == "1/2"
    assert check(laplace_vector, "0.499").status == "refuted"
    for claim in (1, 2, 5):  # it grows with the root of the length
        verdict = check(laplace_l2, claim)
        assert verdict.status == "refuted"
        changes = [Fraction(y) - x for x, y in zip(verdict.witness.left["q"], verdict.witness.right["q"], strict=True)]
        assert sum(change**2 for change in changes) <= 1
    assert check(laplace_of_four, 2).status == "proved"
    assert check(laplace_of_four, "1.999").status == "refuted"


@mechanism
def again(q: real_queries(norm="l2")):
    for x in q:
        yield gaussian(x, sigma=2)
    for x in q:
        yield gaussian(x, sigma=2)


@mechanism
def first_again(q: real_queries(norm="l2")):
    for _ in q:
        yield gaussian(q[0], sigma=2)


@mechanism
def running(q: real_queries(norm="l1")):
    so_far = 0
    for x in q:
        so_far = so_far + x
        yield gaussian(so_far, sigma=2)


@mechanism
def summed(q: real_queries(norm="l2")):
    return gaussian(sum(q), sigma=2)


@pytest.mark.parametrize("function", [again, first_again, running, summed])
def test_an_entry_counts_as_often_as_it_is_shown_and_changes_add_up(function):
    """Each would have the delta of mu = 1/2 if an entry counted once, or if one entry alone could change."""
    assert check(function, 1, _near(1 / 2, 1, 1.01)).status == "refuted"


def test_all_answers_do_not_change_by_the_sensitivity_at_once():
    """Two answers that both change by 1 have the delta of mu = 1/sqrt(2), which would refute the claim."""
    assert check(vector, 1, _near(1 / 2, 1, 1.01), size=2).status == "proved"
    assert not is_adjacent(Adjacent({"q": [0, 0]}, {"q": [3, 3]}), vector.inputs, "l2")


def _changed(certificate, change):
    forged = copy.deepcopy(dict(certificate))
    change(forged)
    return recheck(forged)


def test_the_checker_counts_squares_by_itself():
    certificate = nested(check(vector, 1, _near(1 / 2, 1, 1.0001)).certificate)

    def settled(forged):
        return next(path["settled"] for path in forged["evidence"]["paths"] if "settled" in path)

    def smaller(forged):
        [(_, shift)] = settled(forged).items()
        shift["spread"] = [[read, "9/10"] for read, _ in shift["spread"]]

    def negative(forged):
        [(_, shift)] = settled(forged).items()
        shift["spread"] = [[read, "-1"] for read, _ in shift["spread"]]

    def doubled(forged):
        [(_, shift)] = settled(forged).items()
        shift["spread"] = [*shift["spread"], *shift["spread"]]

    def later(forged):
        [(_, shift)] = settled(forged).items()
        shift["spread"] = [[5, "1"]]

    def by_reach(forged):
        [(_, shift)] = settled(forged).items()
        del shift["spread"]

    def fewer(forged):
        forged["evidence"]["bounds"] = [{"squares": "1/8"}]

    def every_one(forged):
        forged["question"]["relation"] = "each"

    def other_norm(forged):
        forged["question"]["relation"] = "l1"

    def told_otherwise(forged):
        forged["question"]["relation"] = forged["question"]["source"]["relation"] = "one"

    for change in (smaller, negative, doubled, later, by_reach, fewer, every_one, other_norm, told_otherwise):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__


def test_the_checker_knows_neighbours_within_a_norm():
    certificate = nested(check(laplace_l2, 1).certificate)

    def further(forged):
        right = forged["evidence"]["right"]["arguments"]["q"]
        forged["evidence"]["right"]["arguments"]["q"] = ["1"] * len(right)

    found = _changed(certificate, further)
    assert isinstance(found, Rejected)
    assert "l2" in str(found)


def test_some_data_sets_refute_and_prove_nothing():
    runs = ran(vector, [1, 2], sampled=True)
    for i, j in runs.pairs:
        pair = Adjacent(*({"q": list(runs.data[k]["q"])} for k in (i, j)))
        assert is_adjacent(pair, vector.inputs, "l2")
    certificate = nested(check(vector, 1, _near(1 / 2, 1, 0.99)).certificate)
    assert certificate["question"]["sampled"]

    def proved(forged):
        forged["verdict"], forged["question"]["delta"] = "proved", "1/2"
        forged["evidence"] = {"method": "divergence"}

    def unmarked(forged):
        del forged["question"]["sampled"]

    def outside(forged):
        forged["question"]["inputs"]["q"]["high"] = "0"

    def too_far(forged):
        forged["question"]["inputs"]["q"]["within"] = "1/100"

    for change in (proved, unmarked, outside, too_far):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__


def test_real_answers_without_a_norm_are_refuted_too():
    @mechanism(neighbours="one")
    def one(q: real_queries(0, 9)):
        return [gaussian(x, sigma=2) for x in q]

    assert check(one, 1, "0.00683").status == "proved"
    assert check(one, 1, "0.00682").status == "refuted"


def test_neighbours_that_are_drawn_are_within_the_norm():
    generator = np.random.default_rng(3)
    for norm in ("l1", "l2"):
        declared = {"q": real_queries(norm=norm, sensitivity=2)}
        found = [pair for _ in range(40) if (pair := draw_neighbours(declared, norm, 3, {}, generator)) is not None]
        found += patterns(declared, norm, 3)
        assert len(found) > 40
        power = 1 if norm == "l1" else 2
        for pair in found:
            changes = [abs(Fraction(y) - x) for x, y in zip(pair.left["q"], pair.right["q"], strict=True)]
            assert 0 < sum(change**power for change in changes) <= 2**power
        assert any(sum(x != y for x, y in zip(p.left["q"], p.right["q"], strict=True)) > 1 for p in found)


def test_audits_compare_neighbours_within_the_norm():
    report = audit(laplace_vector, "0.3", samples=20_000, seed=1, size=2)
    assert report.verdict is not None
    assert report.verdict.status == "refuted"


def test_what_a_norm_cannot_be_beside():
    def two(q, x):
        return gaussian(sum(q) + x, sigma=1)

    with pytest.raises(LanguageError, match="may change too"):
        mechanism(two, inputs={"q": real_queries(norm="l2"), "x": real()})
    assert mechanism(two, inputs={"q": real_queries(norm="l2"), "x": public(integer(0, 1))}).neighbours == "l2"
    with pytest.raises(LanguageError, match="says who are neighbours"):
        mechanism(array, neighbours="one", inputs={"q": real_queries(norm="l2")})
    with pytest.raises(LanguageError, match="no input has this norm"):
        mechanism(array, neighbours="l2", inputs={"q": real_queries()})
    with pytest.raises(LanguageError, match="none of l1, l2"):
        real_queries(norm="l3")
    with pytest.raises(LanguageError, match="values and a norm"):
        real_queries(values=(0, 1), norm="l2")


def _largest_mu(rows, sigmas, relation, sensitivity):
    """The exact mu of sums of answers with normal noise of their own."""
    scaled = np.array([[float(factor) / sigma for factor in row] for row, sigma in zip(rows, sigmas, strict=True)])
    if relation == "l2":
        size = np.linalg.norm(scaled, 2)
    elif relation in ("l1", "one"):
        size = max(np.linalg.norm(column) for column in scaled.T)
    else:
        signs = (1, -1) if relation == "each" else (1, 0)
        size = max(np.linalg.norm(scaled @ corner) for corner in product(signs, repeat=scaled.shape[1]))
    return float(sensitivity) * float(size)


@pytest.mark.parametrize("seed", selected(range(200), 4))
def test_random_sums_have_the_delta_of_their_matrix(seed, tmp_path):
    chance = random.Random(seed)
    size, relation = chance.choice([1, 2, 3, 4]), chance.choice(["l1", "l2", "l2", "each", "one", "monotone"])
    sensitivity = chance.choice([Fraction(1), Fraction(2), Fraction(1, 2)])
    rows = [
        [Fraction(chance.choice([0, 1, 1, -1, 2]), chance.choice([1, 1, 2])) for _ in range(size)]
        for _ in range(chance.choice([1, 2, 3]))
    ]
    sigmas = [chance.choice([1, 2, 3]) for _ in rows]
    if not any(any(row) for row in rows):
        return
    sums = [" + ".join(f"q[{i}] * Fraction({str(f)!r})" for i, f in enumerate(row) if f) or "0" for row in rows]
    shown = [f"gaussian({total}, sigma={sigma})" for total, sigma in zip(sums, sigmas, strict=True)]
    norm = f", norm={relation!r}" if relation in ("l1", "l2") else ""
    neighbours = "" if norm else f"(neighbours={relation!r})"
    text = (
        "from privproof import gaussian, real_queries\n\n"
        f"@mechanism{neighbours}\ndef m(q: real_queries(sensitivity={str(sensitivity)!r}, size={size}{norm})):\n"
        f"    return {', '.join(shown)}\n"
    )
    function = load(tmp_path, text)
    mu, epsilon = _largest_mu(rows, sigmas, relation, sensitivity), chance.choice([1, 2])
    if not 1e-9 < _delta(mu, epsilon) < 0.99:
        return
    assert check(function, epsilon, _near(mu, epsilon, 1.0005), time_limit=20).status == "proved"
    assert check(function, epsilon, _near(mu, epsilon, 0.9995), time_limit=20).status == "refuted"


@mechanism
def gauss_twice(q: real_queries(norm="l2", size=2)):
    return gaussian(q[0], sigma=2), gaussian(q[0] + q[1], sigma=2)


@mechanism
def covered(q: real_queries(norm="l1", size=3), level: public(real())):
    both = gaussian(0, sigma=2)
    first = gaussian(q[0] + level, sigma=1)
    return first + both, gaussian(q[1] - q[2], sigma=2), first - both


@mechanism
def uncovered(q: real_queries(norm="l2", size=2)):
    both = gaussian(0, sigma=2)
    return q[0] + both, q[1] + both


@mechanism
def decided(q: real_queries(norm="l2", size=2)):
    one = gaussian(q[0], sigma=2)
    return one, gaussian(q[0] + q[1] if one > 0 else q[1], sigma=2)


def test_several_sums_move_by_their_matrix_norm():
    """mu^2 is the largest eigenvalue of [[2, 1], [1, 1]]/4; one by one the sums come to 3/4."""
    exact = (3 + sqrt(5)) / 8
    for tight, value, digits in (
        (tight_rho(gauss_twice), exact / 2, 9),
        (tight_mu(gauss_twice), sqrt(exact), 9),
        (tight_renyi(gauss_twice, 3), 3 * exact / 2, 9),
    ):
        assert float(tight.upper.decimal(digits=15)) == pytest.approx(value, abs=10**-digits)
        assert float(tight.lower.decimal(digits=15)) == pytest.approx(value, abs=10**-digits)
    assert check(gauss_twice, mu="0.80902").status == "proved"
    assert check(gauss_twice, mu="0.80901").status == "refuted"
    found = smallest_delta(gauss_twice, 1)
    assert float(found.upper) - float(found.lower) < 1e-9
    assert float(found.upper) == pytest.approx(_delta(sqrt(exact), 1), rel=1e-8)


def test_noise_that_is_shared_counts_with_its_covariance():
    """Sum and difference of two noisy numbers tell both, and the one without data tells nothing."""
    assert str(tight_mu(covered).tight) == "1"
    assert check(uncovered, 1, "0.99").status != "proved"  # the difference of the two is shown without noise


def test_a_test_on_noise_is_no_matrix():
    assert check(decided, 1, _near(sqrt(1 / 2), 1, 1.01), time_limit=patience(20)).status != "proved"


def test_the_checker_bounds_the_matrix_by_itself():
    certificate = nested(check(gauss_twice, mu="0.80902").certificate)["evidence"]["certificate"]
    assert certificate["evidence"]["method"] == "matrix"

    def less(forged):
        forged["evidence"]["squares"] = "6544/10000"

    def negative(forged):
        forged["evidence"]["squares"] = "-1"

    def none(forged):
        forged["evidence"]["shifts"] = [["0", "0"], ["0", "0"]]

    def half(forged):
        forged["evidence"]["shifts"][1] = ["1", "1/2"]

    def fewer(forged):
        forged["evidence"]["shifts"].pop()

    def wider(forged):
        forged["question"]["code"][0][-1]["factor"] = "3"

    def named_like_noise(forged):
        forged["question"]["inputs"]["~0"] = forged["question"]["inputs"].pop("q")

    for change in (less, negative, none, half, fewer, wider, named_like_noise):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__
    for relation in ("each", "monotone"):  # by which both entries may change by 1

        def other(forged, relation=relation):
            del forged["question"]["source"]
            forged["question"]["relation"] = relation

        found = _changed(certificate, other)
        assert isinstance(found, Rejected)
        assert "in squares" in str(found)
