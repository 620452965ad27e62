"""Other measures than epsilon and delta: zCDP, Gaussian and Rényi differential privacy, from both sides, with certificates."""

import copy
import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.certificates import nested, recheck

from privproof import (
    BudgetError,
    LanguageError,
    QuestionError,
    bernoulli,
    check,
    choice,
    gaussian,
    geometric,
    integer,
    laplace,
    mechanism,
    randomized_response,
    real,
    records,
    seeded,
    smallest_delta,
    staircase,
    tight_mu,
    tight_renyi,
    tight_rho,
    truncated_laplace,
    uniform_real,
)
from privproof.engines.runs.leaf_likelihoods import MovedNumber, likelihoods
from privproof.exact import rational
from privproof.exact.balls import precision
from privproof_checker.outcomes import Accepted, Rejected
from privproof_checker.runs.moved import law_pairing


@mechanism(rho="1/8")
def one_number(n: integer(0, 1)):
    return gaussian(n, sigma=2)


@mechanism(mu="1/2")
def perhaps(n: integer(0, 1)):
    if bernoulli("1/3"):
        return None
    return gaussian(n, sigma=2)


@mechanism(renyi={2: "1/2", 8: 2})
def two_numbers(n: integer(0, 1)):
    return gaussian(n, sigma=2), gaussian(n, sigma=2)


@mechanism
def laplace_number(n: integer(0, 1)):
    return laplace(n, scale=1)


@mechanism
def laplace_and_gaussian(n: integer(0, 1)):
    return laplace(n, scale=1), gaussian(n, sigma=2)


@mechanism
def response(n: integer(0, 1)):
    return randomized_response(n, truth="3/4")


@mechanism
def whole(n: integer(0, 1)):
    return geometric(n, alpha="1/2")


@mechanism
def threshold(n: integer(0, 1)):
    return gaussian(n, sigma=1) > 1


@mechanism
def any_number(x: real()):
    return laplace(x, scale=1)


@mechanism
def leaks(n: integer(0, 1)):
    if n == 1 and bernoulli("1/1000"):
        return "one"
    return gaussian(n, sigma=100)


def near(verdict, value, relative=1e-8):
    low, high = float(verdict.lower.decimal(digits=15)), float(verdict.upper.decimal(digits=15))
    assert verdict.status == "proved"
    assert verdict.certified.lower
    assert verdict.certified.upper
    return low * (1 - 1e-14) <= value <= high * (1 + 1e-14) and high - low <= relative * value


def test_what_decorators_claim_is_proved():
    for claimed in (one_number, perhaps, two_numbers):
        verdict = check(claimed)
        assert verdict.status == "proved"
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)


def test_gaussian_noise_is_exact():
    assert str(tight_rho(one_number).tight) == "1/8"
    assert str(tight_mu(one_number).tight) == "1/2"
    assert str(tight_renyi(two_numbers, 3).tight) == "3/4"
    assert near(tight_mu(two_numbers), math.sqrt(0.5))
    assert check(one_number, rho="124999999999/1000000000000").status == "refuted"
    assert check(one_number, mu="499999999999/1000000000000").status == "refuted"


@pytest.mark.parametrize(
    ("f", "rho"),
    [
        (response, math.log(3) / 2),
        (laplace_number, math.exp(-1)),
        (laplace_and_gaussian, math.exp(-1) + 1 / 8),
        (whole, math.log(2) / 3),
        (threshold, None),
    ],
)
def test_the_smallest_rho(f, rho):
    found = tight_rho(f)
    assert near(found, rho if rho is not None else float(found.lower.decimal(digits=15)))


def test_values_of_randomised_response_are_met_exactly():
    """They are logarithms, at which balls decide nothing: rho is ln(3)/2, and the orders 2 and 3 have ln(7/3) and ln(61/9)/2."""
    for claim in ({"rho": "ln(3)/2"}, {"renyi": {1: "ln(3)/2", 2: "ln(7/3)", 3: "ln(61/9)/2"}}):
        verdict = check(response, **claim)
        assert verdict.status == "proved"
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    forged = copy.deepcopy(nested(check(response, rho="ln(3)/2").certificate))
    forged["question"]["budgets"] = [{"value": "ln(3)/2 - 1/1000000000000000000000000000000000000000000000000"}]
    assert isinstance(recheck(forged), Rejected)
    assert check(response, rho="549306/1000000").status == "refuted"


@pytest.mark.parametrize(
    ("f", "mu"), [(response, 1.348979500392164), (threshold, 1.0), (laplace_number, 1.0300639976244337)]
)
def test_the_smallest_mu(f, mu):
    assert near(tight_mu(f), mu)


def test_renyi_divergences_of_laplace_noise_have_a_formula():
    for order in (Fraction(3, 2), 2, 7):
        a = float(order)
        known = math.log(a / (2 * a - 1) * math.exp(a - 1) + (a - 1) / (2 * a - 1) * math.exp(-a)) / (a - 1)
        assert near(tight_renyi(laplace_number, order), known)
    assert near(tight_renyi(laplace_number, 1), math.exp(-1))


def test_an_outcome_that_is_impossible_on_one_side_has_no_rho_and_no_mu():
    for found in (tight_rho(leaks), tight_mu(leaks), check(leaks, rho=100), check(leaks, renyi={2: 50})):
        assert found.status == "refuted"
        assert isinstance(recheck(nested(found.certificate)), Accepted)
    assert tight_rho(leaks).lower.infinite


def test_what_is_proved_for_all_data_follows_from_epsilon():
    """No rho below that of randomised response follows from epsilon 1 alone, though here a smaller one holds."""
    verdict = check(any_number, rho="0.4622")
    assert verdict.status == "proved"
    assert verdict.question.of.family == "program"
    assert check(any_number, mu="1.2321").status == check(any_number, renyi={2: "0.7354"}).status == "proved"
    assert check(any_number, rho="0.4621").status == check(any_number, mu="1.2319").status == "unknown"


def test_several_orders_hold_only_together():
    assert check(laplace_number, renyi={2: "0.6192", 3: "0.7469"}).status == "proved"
    assert check(laplace_number, renyi={2: "0.6192", 3: "0.7468"}).status == "refuted"


def test_what_cannot_be_claimed():
    with pytest.raises(QuestionError, match="at once"):
        check(one_number, epsilon=1, rho=1)
    with pytest.raises(BudgetError, match="rho and mu are claimed at once"):
        check(one_number, rho=1, mu=1)
    with pytest.raises(BudgetError, match="rho=-1 is below zero"):
        check(one_number, rho="-1")
    with pytest.raises(BudgetError, match="mu=size/4 depends on size, and a mu is a number") as grows:
        check(one_number, mu="size/4")
    assert 'rho="size/32"' in grows.value.hint
    with pytest.raises(BudgetError, match="outside"):
        check(one_number, renyi={"1/2": 1})
    with pytest.raises(LanguageError, match="at once"):
        mechanism(epsilon=1, rho=1, inputs={"n": integer(0, 1)})(lambda n: n)


def changed(document, path, value):
    made = copy.deepcopy(document)
    inner = made
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return made


def test_no_certificate_shows_more_than_it_does():
    proof = dict(nested(tight_rho(laplace_number).certificate))
    refused = [
        changed(proof, ("question", "budgets", 0, "value"), "0.36787"),
        changed(proof, ("question", "measure"), "mu"),
        changed(proof, ("question", "of", "epsilon"), "1"),
        changed(proof, ("evidence", "proofs", 0, "schedules"), []),
        changed(proof, ("evidence", "proofs", 0, "schedules", 0, "steps"), []),
        changed(proof, ("below", "value"), "0.3678795"),
        changed(proof, ("verdict",), "refuted"),
    ]
    assert all(isinstance(recheck(each), Rejected) for each in refused)
    refutation = dict(nested(check(laplace_number, rho="0.36").certificate))
    assert isinstance(recheck(changed(refutation, ("question", "budgets", 0, "value"), "0.37")), Rejected)
    points = dict(nested(tight_mu(laplace_number).certificate))
    for shown in ([], [["0"]], [["0", "1/2"]]):
        assert isinstance(recheck(changed(points, ("evidence", "proofs", 0, "points"), shown)), Rejected)
    pure = dict(nested(check(any_number, rho="0.4622").certificate))
    assert isinstance(recheck(changed(pure, ("question", "budgets", 0, "value"), "0.4621")), Rejected)
    assert isinstance(recheck(changed(pure, ("evidence", "certificate", "question", "delta"), "1/2")), Rejected)
    assert isinstance(recheck(changed(pure, ("question", "of", "relation"), "one")), Rejected)


LAWS = {
    "laplace": [("1/3", 9)],
    "exponential": [("1/3", 9)],
    "uniform_real": [("1/2", 20)],
    "truncated_laplace": [("1/2", 5), ("1/3", 20)],
    "staircase": [("1/2", 5), ("1/4", 4), (0, 1)],
    "geometric": [("1/10", "9/10")],
}
numbers = st.fractions(min_value=0, max_value=1, max_denominator=6)


@settings(max_examples=examples(160), deadline=None)
@given(st.data())
def test_both_sides_agree_on_noise_that_is_moved(data):
    """The engines' cells and ramps, the checker's intervals: excess, moments and losses of every kind of noise."""
    kind = data.draw(st.sampled_from(sorted(LAWS)))
    law = [kind]
    for low, high in LAWS[kind]:
        least, most = Fraction(low), Fraction(high)
        law.append(rational(least + (most - least) * data.draw(numbers)))
    by = rational(data.draw(st.fractions(min_value=-4, max_value=4, max_denominator=4).filter(bool)))
    by = rational(int(by.ceil()) or 1) if kind == "geometric" else by
    with precision(128):
        one, two = likelihoods(MovedNumber(tuple(law), by)), law_pairing((tuple(law), by), "here")
        for c in ("0.3", "1", "1.7", "6"):
            assert one.excess(arb(c)).overlaps(two.excess(arb(c)))
        for order in ("1.5", "2", "5"):
            first, second = one.moment(arb(order)), two.moment(arb(order))
            assert (first is None) == (second is None)
            assert first is None or first.overlaps(second)
        assert (one.loss is None) == (two.loss() is None)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=4))
def test_rho_of_random_tables(weights):
    """Between the bounds lies the largest rate over a fine grid of orders, computed from the definition."""
    sums = [sum(w[side] for w in weights) for side in (0, 1)]
    p, q = ([Fraction(w[side], sums[side]) for w in weights] for side in (0, 1))

    @mechanism
    def table(n: integer(0, 1)):
        if n == 0:
            return choice({i: left[i] for i in range(len(left))})
        return choice({i: right[i] for i in range(len(right))})

    left, right = p, q

    def rate(a, b, order):
        total = math.fsum(float(x) ** order * float(y) ** (1 - order) for x, y in zip(a, b, strict=True))
        return math.log(total) / (order - 1) / order

    found = tight_rho(table)
    orders = [1 + 1.03**k * 1e-3 for k in range(400)]
    known = max(rate(a, b, order) for a, b in ((p, q), (q, p)) for order in orders)
    assert found.status == "proved"
    assert float(found.upper.decimal(digits=15)) >= known * (1 - 1e-9) - 1e-11
    assert float(found.upper.decimal(digits=15)) <= known * (1 + 2e-3) + 1e-9


@mechanism
def flat(n: integer(0, 1)):
    return uniform_real(n, width=10)


@mechanism
def cut_off(n: integer(0, 1)):
    return truncated_laplace(n, scale=1, bound="4.46492017589")


@mechanism
def stairs(n: integer(0, 1)):
    return staircase(n, epsilon=1, share="1/3")


@mechanism
def flat_and_gaussian(n: integer(0, 1)):
    return uniform_real(n, width=10), gaussian(n, sigma=2)


@mechanism
def compared_flat(n: integer(0, 1)):
    return uniform_real(n, width=10) > 0


@pytest.mark.parametrize(
    ("f", "delta"), [(flat, 0.1), (cut_off, 0.01), (flat_and_gaussian, 0.1 + 0.9 * 0.006829594983)], ids=str
)
def test_deltas_of_noise_of_other_shapes(f, delta):
    """Supports differ, so there is a delta at every epsilon, and no rho."""
    found = smallest_delta(f, 1)
    assert float(found.lower) == pytest.approx(delta, abs=1e-11)
    assert float(found.upper) == pytest.approx(delta, abs=1e-11)
    assert isinstance(recheck(nested(found.proof.certificate)), Accepted)
    assert isinstance(recheck(nested(found.refutation.certificate)), Accepted)
    assert isinstance(
        recheck(changed(dict(nested(found.refutation.certificate)), ("question", "delta"), "0.2")), Rejected
    )
    assert tight_rho(f).lower.infinite


def test_the_staircase_is_private_within_its_epsilon():
    assert check(stairs, epsilon="1.000001", delta="1e-20").status == "proved"
    assert check(stairs, epsilon="0.9", delta="1e-3").status == "refuted"
    assert tight_rho(stairs).status == "proved"


def test_noise_of_other_shapes_is_not_compared():
    verdict = check(compared_flat, epsilon=1, delta="1/2")
    assert verdict.status == "unknown"
    assert "uniform_real noise is compared" in verdict.reason


def test_samples_of_noise_of_other_shapes():
    with seeded(1):
        drawn = [[f(0) for _ in range(2000)] for f in (flat, cut_off, stairs)]
    assert max(map(abs, drawn[0])) <= 5
    assert max(map(abs, drawn[1])) <= 4.465
    inside = [sum(abs(x) <= part for x in drawn[2]) / 2000 for part in (1 / 3, 1)]
    share = (1 / 3) * (1 - math.exp(-1)) / (1 / 3 + math.exp(-1) * 2 / 3)
    assert inside == pytest.approx([share, 1 - math.exp(-1)], abs=0.05)


@pytest.mark.parametrize(
    ("claim", "status"), [({"rho": "1/8"}, "proved"), ({"mu": "1/2"}, "proved"), ({"rho": "0.1"}, "unknown")]
)
def test_a_claim_at_a_size_may_be_proved_for_every_length(claim, status):
    """Running a function says nothing about a noisy number that was tested; alignments do. Smallest values are of the size alone."""

    @mechanism
    def positive(data: records(0, 1)):
        return max(0, gaussian(sum(data), sigma=2))

    verdict = check(positive, size=2, **claim)
    assert verdict.status == status
    assert ("every length" in str(verdict)) == (status == "proved")
    assert "every length" not in str(tight_rho(positive, size=2))
