"""Zones of noises, of the engine and of the checker: against points at random."""

import random

import pytest
from tests.amounts import spread

from privproof.engines.integrals.integral_enclosures import FormCondition
from privproof.engines.integrals.integration_zones import all_joined, zone_of
from privproof.exact import rational
from privproof_checker.integrals.gaps import is_void, largest_gaps, needed_inequalities, unions


def condition(count, high, low, constant):
    """``x_high - x_low + constant >= 0``; `count` stands for 0."""
    factors = {atom: rational(f) for atom, f in ((high, 1), (low, -1)) if atom < count}
    return factors, rational(constant)


def tree(chance, count, depth, before=()):
    """Leaves of a random tree of comparisons, some of them left out."""
    if depth == 0 or chance.random() < 0.2:
        return [list(before)] if chance.random() < 0.6 else []
    high, low = chance.sample(range(count + 1), 2)
    constant = chance.randint(-1, 1)
    yes, no = condition(count, high, low, constant), condition(count, low, high, -constant)
    return tree(chance, count, depth - 1, (*before, yes)) + tree(chance, count, depth - 1, (*before, no))


def holds(point, inequalities):
    return all(sum(float(f) * point[j] for j, f in factors.items()) + float(c) >= 0 for factors, c in inequalities)


def test_zones_that_are_joined_hold_the_same_points_once():
    for seed in spread(range(2_000), 150):
        chance = random.Random(seed)
        count = chance.choice((2, 3))
        leaves = tree(chance, count, 4)
        zones = all_joined([zone_of(count, [FormCondition(*each) for each in leaf]) for leaf in leaves])
        gaps = unions([largest_gaps(leaf) for leaf in leaves])
        written = [[(each.factors, each.constant) for each in zone.conditions()] for zone in zones]
        for _ in range(20):
            point = [chance.uniform(-3, 3) for _ in range(count)]
            once = sum(holds(point, leaf) for leaf in leaves)
            assert sum(holds(point, each) for each in written) == once, seed
            assert sum(holds(point, needed_inequalities(each)) for each in gaps) == once, seed


def test_the_orders_of_a_loop_are_put_together():
    def below(low, high):
        return condition(3, high, low, 0)

    ways = [[below(0, 1), below(1, 2)], [below(1, 0), below(0, 2)]]
    [zone] = all_joined([zone_of(3, [FormCondition(*each) for each in way]) for way in ways])
    [gaps] = unions([largest_gaps(way) for way in ways])
    assert {tuple(sorted(each.factors)) for each in zone.conditions()} == {(0, 2), (1, 2)}
    assert {tuple(sorted(factors)) for factors, _ in needed_inequalities(gaps)} == {(0, 2), (1, 2)}


def test_what_follows_is_dropped_and_what_is_impossible_is_void():
    circle = [condition(3, 1, 0, 0), condition(3, 1, 2, 0), condition(3, 2, 0, 0)]
    assert len(zone_of(3, [FormCondition(*each) for each in circle]).conditions()) == 2
    assert len(needed_inequalities(largest_gaps(circle))) == 2
    against = [condition(2, 1, 0, -1), condition(2, 0, 1, 0)]
    assert zone_of(2, [FormCondition(*each) for each in against]).empty
    assert is_void(largest_gaps(against))


@pytest.mark.parametrize("factors", [{0: 1, 1: 1}, {0: 2, 1: -1}, {0: 1, 1: 1, 2: -2}, {}])
def test_other_forms_are_no_zone(factors):
    exact = {j: rational(f) for j, f in factors.items()}
    assert zone_of(3, [FormCondition(exact, rational(0))]) is None
    assert largest_gaps([(exact, rational(0))]) is None


def test_zones_that_do_not_fit_are_left_apart():
    ways = [[condition(1, 0, 1, -1)], [condition(1, 1, 0, 0)]]  # above 1, and below 0
    assert len(all_joined([zone_of(1, [FormCondition(*each) for each in way]) for way in ways])) == 2
    assert len(unions([largest_gaps(way) for way in ways])) == 2
