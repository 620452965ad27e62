"""Losses on lattices, of the engine and of the checker, against exact composition of small finite mechanisms."""

from __future__ import annotations

from itertools import product

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.engines.composition.hockey_stick_curves import (
    sampled_first,
    sampled_second,
    through_points,
    without_replacement,
)
from privproof.engines.composition.loss_lattices import losses_above, losses_below
from privproof.exact import Rational, epsilon, rational
from privproof.exact.balls import precision
from privproof_checker.composed import composed_curves as checking
from privproof_checker.composed.loss_lattices import lattice_above, lattice_below

STEP, REACH = epsilon("1/40"), 200
POINTS = [rational(p) for p in ("1/2", "1", "5/4", "2", "4", "9")]


@st.composite
def laws(draw, size=3):
    """Two laws on a few outputs, each of which may be impossible."""
    sides = []
    for _ in range(2):
        weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
        sides.append([Rational(w, sum(weights)) for w in weights])
    return list(zip(*sides, strict=True))


def exact(pairs, c):
    """The largest ``P(E) - c Q(E)``."""
    return sum((max(Rational(0), p - c * q) for p, q in pairs), Rational(0))


def curve_of(pairs):
    def curve(c):
        total = arb(0)
        for p, q in pairs:
            more = arb(p) - c * arb(q)
            total += more if more > 0 else arb(0) if more <= 0 else arb(0).union(more.upper())
        return total

    return curve


def together(*many):
    """All combinations of outputs, by the definition."""
    found = []
    for row in product(*many):
        p = q = Rational(1)
        for x, y in row:
            p, q = p * x, q * y
        found.append((p, q))
    return found


def log_of(c):
    return epsilon(f"ln({c})") if c > 1 else epsilon(0)


@settings(max_examples=examples(60), deadline=None)
@given(laws(), laws(), st.integers(1, 3))
def test_bounds_hold_the_exact_composition(one, other, times):
    whole = together(*[one] * times, other)
    certain = arb(sum((p for p, q in one if q == 0), Rational(0)))
    with precision(300):
        above = losses_above(curve_of(one), STEP, REACH).times(times)
        above = above.joined(losses_above(curve_of(other), STEP, REACH))
        below = losses_below(curve_of(one), STEP, REACH, certain).times(times)
        checked = lattice_above(curve_of(one), STEP, REACH).power(times)
        checked = checked.product(lattice_above(curve_of(other), STEP, REACH))
        under = lattice_below(curve_of(one), STEP, REACH, certain).power(times)
        alone = together(*[one] * times)
        for c in POINTS[1:]:
            at = log_of(c)
            for bound in (above.delta(at), checked.excess(at, STEP)):
                assert arb(exact(whole, c)).lower() <= bound
            for bound in (below.delta(at), under.excess(at, STEP)):
                assert bound <= arb(exact(alone, c)).upper()
            assert abs(above.delta(at) - checked.excess(at, STEP)) < 1e-25
            assert abs(below.delta(at) - under.excess(at, STEP)) < 1e-15


@pytest.mark.parametrize("size", [3, 4])
def test_bounds_meet_where_losses_are_on_the_lattice(size):
    weights = [Rational(3) ** k for k in range(size)]
    total = sum(weights, Rational(0))
    pairs = [(p / total, q / total) for p, q in zip(weights, reversed(weights), strict=True)]
    step, reach = epsilon("ln(3)"), 3
    whole = together(*[pairs] * 3)
    with precision(200):
        above = losses_above(curve_of(pairs), step, reach).times(3)
        below = losses_below(curve_of(pairs), step, reach, arb(0)).times(3)
        for c in (Rational(2), Rational(5), Rational(20)):
            assert abs(above.delta(log_of(c)) - arb(exact(whole, c))) < 1e-30
            assert abs(below.delta(log_of(c)) - arb(exact(whole, c))) < 1e-15


@settings(max_examples=examples(60), deadline=None)
@given(laws(), st.sampled_from(["1/10", "1/3", "1"]))
def test_curves_of_samples_are_those_of_the_mixtures(pairs, rate):
    share = rational(rate)
    mixed = [(share * p + (1 - share) * q, q) for p, q in pairs]
    turned = [(q, p) for p, q in mixed]
    back = [(q, p) for p, q in pairs]
    with precision(160):
        for c in POINTS:
            first, second = arb(exact(mixed, c)), arb(exact(turned, c))
            for ways in (
                (sampled_first, sampled_second),
                (checking.with_record_first, checking.with_record_second),
            ):
                assert abs(ways[0](curve_of(pairs), share)(arb(c)) - first) < 1e-30
                assert abs(ways[1](curve_of(back), share)(arb(c)) - second) < 1e-30


@settings(max_examples=examples(40), deadline=None)
@given(laws(), laws(), st.sampled_from(["1/10", "1/2"]))
def test_samples_without_replacement_are_below_their_bound(pairs, rest, rate):
    share = rational(rate)
    r = [p for p, _ in rest]  # what is shown where the record is not in the sample: a neighbour of both
    p, q = [x for x, _ in pairs], [y for _, y in pairs]
    both = [list(zip(a, b, strict=True)) for a, b in product((p, q, r), repeat=2)]

    def worst(c):
        found = [curve_of(each)(c).upper() for each in both]
        best = found[0]
        for each in found[1:]:
            best = best.max(each)
        return best

    mixed = [(share * a + (1 - share) * z, share * b + (1 - share) * z) for a, b, z in zip(p, q, r, strict=True)]
    with precision(160):
        for c in POINTS:
            for bound in (without_replacement(worst, share), checking.of_a_share(worst, share)):
                assert arb(exact(mixed, c)) <= bound(arb(c)) + arb(10) ** -30


@settings(max_examples=examples(40), deadline=None)
@given(laws(), st.lists(st.sampled_from(["0", "1/4", "ln(2)", "1", "2"]), min_size=1, max_size=4, unique=True))
def test_a_curve_through_points_is_above_all_neighbours(pairs, places):
    turned = [(q, p) for p, q in pairs]
    with precision(160):
        points = []
        for place in sorted(places, key=lambda text: float(epsilon(text).ball(64))):
            c = epsilon(place).ball(160).exp()
            needed = max(float(curve_of(each)(c).upper()) for each in (pairs, turned))
            points.append((epsilon(place), Rational(int(needed * 10**6) + 2, 10**6)))
        for bound in (through_points(points, 160), checking.from_points(points, [])):
            for c in POINTS:
                assert arb(max(exact(pairs, c), exact(turned, c))) <= bound(arb(c)) + arb(10) ** -30
