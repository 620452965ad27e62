"""The exponential mechanism for lists of every length: Gumbel noise, choices by scores, exact probabilities, and what is none of it."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp, log
from random import Random

import numpy as np
import pytest
from tests.amounts import patience
from tests.certificates import nested, recheck, recheck_anew

from privproof import (
    check,
    exponential_mechanism,
    gumbel,
    laplace,
    mechanism,
    queries,
    real_queries,
    records,
    seeded,
    tight_epsilon,
)
from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.noise_races import order_probability
from privproof.errors import LanguageError
from privproof.exact import epsilon, rational
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.quotients import ExponentialQuotient
from privproof_checker.integrals import integral_orders as orders
from privproof_checker.numbers import exponentials as checked
from privproof_checker.outcomes import Accepted, Rejected

CELLS = ("a", "b", "c")
CELL = records(*CELLS)


def of_the_language(q):
    noisy = [gumbel(v, scale=2) for v in q]
    return noisy.index(max(noisy))


def of_numpy(q):
    return int(np.argmax(np.array(q) + np.random.gumbel(scale=2, size=len(q))))


def by_key(q):
    return max(range(len(q)), key=lambda i: q[i] + np.random.gumbel(0, 2.0))


def by_scores(q):
    return exponential_mechanism(q, epsilon=1)


def by_tripled_scores(q):
    scores = [3 * v for v in q]
    return exponential_mechanism(scores, epsilon=1, sensitivity=3)


def by_powers_of_e(q, eps=1.0):
    return random.choices(range(len(q)), weights=[math.exp(eps * s / 2) for s in q])[0]


def by_powers_below_one(q, eps=1.0):
    most = max(q)
    weights = [math.exp(eps * (s - most) / 2) for s in q]
    total = sum(weights)
    return int(np.random.choice(len(q), p=[w / total for w in weights]))


def by_an_array_of_powers(q, eps=1.0):
    scores = np.array(q)
    probs = np.exp(eps * (scores - scores.max()) / 2)
    probs /= probs.sum()
    rng = np.random.default_rng()
    return int(rng.choice(len(q), p=probs))


def two_of_them(q):
    noisy = [gumbel(v, scale=4) for v in q]
    return sorted(range(len(q)), key=lambda i: noisy[i], reverse=True)[:2]


SPELLINGS = (
    of_the_language, of_numpy, by_key, by_scores, by_tripled_scores, by_powers_of_e, by_powers_below_one, by_an_array_of_powers,
    two_of_them,
)  # fmt: skip


@pytest.mark.parametrize("function", SPELLINGS)
def test_choices_are_proved_for_lists_of_every_length_and_less_is_refuted(function):
    declared = queries() if "scores" in function.__name__ else real_queries()
    proved = check(function, 1, inputs={"q": declared})
    assert (proved.status, proved.engine) == ("proved", "laplace")
    assert check(function, "9/10", inputs={"q": declared}).status == "refuted"


@pytest.mark.parametrize("neighbours", ["monotone", "one"])
def test_scores_that_move_in_one_direction_cost_half(neighbours):
    for function, declared in ((of_the_language, real_queries()), (by_scores, queries())):
        asked = mechanism(function, inputs={"q": declared}, neighbours=neighbours)
        assert check(asked, "1/2").status == "proved"
        assert check(asked, "9/20").status == "refuted"


def count_by_scores(data):
    return CELLS[exponential_mechanism([data.count(cell) for cell in CELLS], epsilon=1)]


def count_by_powers(data):
    scores = [sum(r == cell for r in data) for cell in CELLS]
    return random.choices(CELLS, weights=[math.exp(s / 2) for s in scores])[0]


def middle_cell(data):
    """The cell with the rank that is nearest to the middle: sensitivity 1 under replacement."""
    ranks = [sum(r < cell for r in data) for cell in (1, 2, 3)]
    return exponential_mechanism([-abs(2 * rank - len(data)) for rank in ranks], epsilon=1, sensitivity=2)


@pytest.mark.diagonal
@pytest.mark.parametrize("function", [count_by_scores, count_by_powers])
@pytest.mark.parametrize(("neighbours", "claim"), [("one", "1"), ("add-remove", "1/2")])
def test_public_cells_scored_on_records(function, neighbours, claim):
    asked = mechanism(function, inputs={"data": CELL}, neighbours=neighbours)
    assert check(asked, claim).status == "proved"
    assert check(asked, "1/4").status == "refuted"


def middle_by_powers(data):
    scores = [-abs(sum(r < cell for r in data) - len(data) / 2) for cell in (1, 2, 3)]
    probs = np.array([math.exp(s / 2) for s in scores])
    return (1, 2, 3)[np.random.choice(3, p=probs / probs.sum())]


@pytest.mark.parametrize("function", [middle_cell, middle_by_powers])
def test_a_quantile_by_ranks(function):
    asked = mechanism(function, inputs={"data": records(0, 1, 2, 3)})
    assert check(asked, 1, neighbours="one").status == "proved"
    assert check(asked, 1, neighbours="add-remove").status == "proved"
    assert check(asked, "1/3", neighbours="one").status == "refuted"


def test_the_bound_is_approached_and_not_attained():
    found = tight_epsilon(mechanism(of_the_language, inputs={"q": real_queries()}))
    assert found.upper == epsilon(1)
    assert epsilon("999/1000").compare(found.lower) < 0 < epsilon(1).compare(found.lower)


# ----------------------------------------------------------------------------------------------------------------- traps


def the_smallest(q):
    noisy = [gumbel(v, scale=2) for v in q]
    return noisy.index(min(noisy))


def the_noise_taken_away(q):
    noisy = [v - np.random.gumbel(0, 2.0) for v in q]
    return noisy.index(max(noisy))


def the_value_itself(q):
    noisy = [gumbel(v, scale=2) for v in q]
    return max(noisy)


def the_value_beside_its_place(q):
    noisy = [gumbel(v, scale=2) for v in q]
    return noisy.index(max(noisy)), max(noisy)


def the_gap(q):
    noisy = [gumbel(v, scale=2) for v in q]
    top = sorted(noisy, reverse=True)
    return noisy.index(top[0]), top[0] - top[1]


def above_a_threshold(q):
    threshold = gumbel(0, scale=4)
    for i, v in enumerate(q):
        if gumbel(v, scale=4) >= threshold:
            return i
    return None


def is_the_largest_large(q):
    noisy = [gumbel(v, scale=2) for v in q]
    return noisy.index(max(noisy)), max(noisy) > 3


def the_answer_of_the_winner(q):
    noisy = [gumbel(v, scale=2) for v in q]
    return q[noisy.index(max(noisy))]


def the_choice_twice(q):
    first, second = [gumbel(v, scale=2) for v in q], [gumbel(v, scale=2) for v in q]
    return first.index(max(first)), second.index(max(second))


def a_gap_beside_another_choice(q):
    noisy = [laplace(v, scale=4) for v in q]
    other = [gumbel(v, scale=4) for v in q]
    return noisy.index(max(noisy)), max(other)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (the_smallest, "refuted"),
        (the_noise_taken_away, "refuted"),
        (the_choice_twice, "refuted"),
        (the_answer_of_the_winner, "refuted"),
        (the_value_itself, "unknown"),
        (the_value_beside_its_place, "unknown"),
        (the_gap, "unknown"),
        (above_a_threshold, "proved"),
        (is_the_largest_large, "unknown"),
        (a_gap_beside_another_choice, "unknown"),
    ],
)
def test_gumbel_noise_only_moves_up(function, expected):
    limit = patience(1) if expected == "unknown" else 60
    assert check(function, 1, inputs={"q": real_queries()}, time_limit=limit).status == expected


def noise_in_the_exponent(q):
    return random.choices(range(len(q)), weights=[math.exp(s / 2 + np.random.laplace()) for s in q])[0]


def squares_in_the_exponent(q):
    return random.choices(range(len(q)), weights=[math.exp(s * s) for s in q])[0]


def something_added(q):
    return random.choices(range(len(q)), weights=[math.exp(s / 2) + 1 for s in q])[0]


def divided_by_another_sum(q):
    weights, others = [math.exp(s / 2) for s in q], [math.exp(s) for s in q]
    probs = [w / sum(others) for w in weights]
    return int(np.random.choice(len(q), p=probs))


def the_weights_shown(q):
    weights = [math.exp(s / 2) for s in q]
    return random.choices(range(len(q)), weights=weights)[0], weights[0]


def other_weights_by_then(q):
    weights = [math.exp(s / 2) for s in q]
    for i in range(len(q)):
        weights[i] = math.exp(q[i])
    return random.choices(range(len(q)), weights=weights)[0]


def an_array_times_another(q):
    scores = np.array(q)
    return int(np.argmax(np.exp(scores * (scores - scores.max()))))


OTHERWISE = (
    noise_in_the_exponent, squares_in_the_exponent, something_added, divided_by_another_sum, the_weights_shown, other_weights_by_then,
    an_array_times_another,
)  # fmt: skip


@pytest.mark.parametrize("function", OTHERWISE)
def test_other_weights_are_no_choice_by_scores(function):
    try:
        assert check(function, 1, inputs={"q": real_queries()}, time_limit=patience(1)).status != "proved"
    except LanguageError as refused:
        assert refused.code in ("choice", "construct", "product", "float")  # noqa: PT017


def test_a_verdict_says_which_weights_it_is_about():
    notes = " ".join(check(by_powers_of_e, 1, inputs={"q": real_queries()}).notes)
    assert "the real numbers that are meant" in notes
    assert check(by_powers_of_e, 1, inputs={"q": queries(0, 2)}, size=2).engine == "runs"


def test_cells_of_two_scales_are_no_choice():
    def two_scales(data):
        noisy = [gumbel(data.count("a"), scale=2), gumbel(data.count("b"), scale=4)]
        return noisy.index(max(noisy))

    assert check(two_scales, "1/2", inputs={"data": CELL}, neighbours="one", time_limit=patience(1)).status != "proved"


def test_scores_that_are_no_whole_numbers_are_left_to_gumbel_noise():
    verdict = check(mechanism(by_scores, inputs={"q": real_queries()}), 1)
    assert verdict.status == "unknown"
    assert "gumbel(score, scale=...)" in verdict.reason


# --------------------------------------------------------------------------------------------------- certificates to refuse


@pytest.fixture(scope="module")
def certificate():
    made = json.loads(json.dumps(dict(nested(check(of_the_language, 1, inputs={"q": real_queries()}).certificate))))
    made["question"]["source"]["claims"] = "taken"
    made["question"]["source"]["reason"] = "changed by hand"
    return made


def rejected(certificate, change, words):
    copied = json.loads(json.dumps(certificate))
    change(copied, copied["question"]["code"])
    assert isinstance(recheck(copied), Rejected)
    outcome = recheck_anew(copied)
    assert isinstance(outcome, Rejected)
    assert words in outcome.reason


def test_the_certificate_is_accepted_as_it_is(certificate):
    assert isinstance(recheck(certificate), Accepted)


def test_a_shift_below_zero_is_refused(certificate):
    def change(copied, _):
        for path in copied["evidence"]["paths"]:
            for case in path["cases"]:
                for shift in case["shifts"].values():
                    shift.update(constant="-1", reads=[], distances=[])

    rejected(certificate, change, "the shift is not below 0")


# ----------------------------------------------------------------------------------------------------- exact probabilities


def shares(scores, scale):
    weights = [exp(score / scale) for score in scores]
    return [weight / sum(weights) for weight in weights]


def test_no_loss_at_a_length_is_above_the_bound_of_all():
    """The largest loss of a choice with Gumbel noise of scale 2, over neighbours that all differ by -1, 0 or 1."""
    found = 0.0
    for size in (1, 2, 3):
        for scores in product((0, 1, 40), repeat=size):
            for moved in product((-1, 0, 1), repeat=size):
                one = shares(scores, 2)
                two = shares([s + m for s, m in zip(scores, moved, strict=True)], 2)
                losses = [log(p / q) for p, q in zip(one, two, strict=True)]
                most = (max(moved) - min(moved)) / 2
                assert max(losses) <= most + 1e-9
                found = max(found, *losses)
    assert 1 - 1e-6 < found <= 1 + 1e-9


def as_checked(value):
    """A number of the engines in the checker's numbers."""
    above, below = (
        (value.above, value.below) if isinstance(value, ExponentialQuotient) else (value, ExponentialSum.constant(1))
    )
    one, two = (
        sum((checked.ExponentialSum.term(q, s) for q, _, s in part.terms), checked.ExponentialSum.constant(0))
        for part in (above, below)
    )
    return one.over(two)


@pytest.mark.parametrize("seed", range(6))
def test_engine_checker_and_a_sum_over_orders_agree(seed):
    chance = Random(seed)
    count = chance.randint(2, 4)
    centers = [Fraction(chance.randint(-3, 3), 2) for _ in range(count)]
    scale = Fraction(chance.randint(1, 3))
    pairs = [pair for pair in combinations(chance.sample(range(count), count), 2) if chance.random() < 0.6]
    forms = []
    for larger, smaller in pairs or [(0, 1)]:
        terms = sorted(((larger, rational(1)), (smaller, rational(-1))))
        forms.append((tuple(terms), rational(centers[larger] - centers[smaller])))
    engine = order_probability(dict.fromkeys(range(count), rational(scale)), [Halfspace(*form) for form in forms])
    checker = orders.order_probability([("gumbel", rational(scale))] * count, forms)
    assert as_checked(engine) == checker
    total = 0.0
    weights = [exp(center / scale) for center in centers]
    for order in permutations(range(count)):
        rank = {node: number for number, node in enumerate(order)}
        if all(rank[larger] < rank[smaller] for larger, smaller in pairs or [(0, 1)]):
            chance_of = 1.0
            for number, node in enumerate(order):
                chance_of *= weights[node] / sum(weights[other] for other in order[number:])
            total += chance_of
    assert abs(float(engine.ball(1).mid()) - total) < 1e-12


def test_comparisons_that_are_no_orders_have_no_probability():
    two = {0: rational(1), 1: rational(2)}
    with pytest.raises(LanguageError, match="same scale"):
        order_probability(two, [Halfspace(((0, rational(1)), (1, rational(-1))), rational(0))])
    apart = [Halfspace(((0, rational(1)), (1, rational(-1))), rational(k)) for k in (0, 1)]
    with pytest.raises(LanguageError, match="two distances"):
        order_probability(dict.fromkeys(range(2), rational(1)), apart)
    turned = [Halfspace(((0, rational(k)), (1, rational(-k))), rational(0)) for k in (1, -1)]
    assert order_probability(dict.fromkeys(range(2), rational(1)), turned) == ExponentialSum.constant(0)


def test_gumbel_noise_is_sampled_from_its_law():
    with seeded(1):
        below = sum(gumbel(1, scale=2) <= 1 for _ in range(4000)) / 4000
    assert abs(below - exp(-1)) < 0.03
