"""Audits: what is tested, with which budget, and what exact engines make of it."""

from __future__ import annotations

import random
from fractions import Fraction
from math import exp, log
from statistics import NormalDist

import pytest
from tests.certificates import recheck

from privproof import (
    LanguageError,
    PrivproofError,
    QuestionError,
    audit,
    bernoulli,
    gaussian,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    real,
    real_queries,
    runnable,
    stream,
)
from privproof.engines import Monitor
from privproof.exact import epsilon
from privproof.library.laplace.laplace_noisy_max import noisy_max, noisy_max_value
from privproof.library.laplace.sparse_vector import sparse_vector_wrong_scales
from privproof.library.mechanisms import improved_noisy_max, rejected_geometric, survey
from privproof_checker import Accepted

QUICK = 4_000


def laplacian(x: real(), scale=1.0):
    return x + random.expovariate(1 / scale) - random.expovariate(1 / scale)


def on_a_grid(x: real()):
    return round(1024 * laplacian(x)) / 1024


def test_a_violation_is_real():
    found = audit(improved_noisy_max, "1", size=3, samples=20_000)
    assert found.status == "refuted"
    assert found.violated
    assert found.real.loss.bound > exp(1)
    assert found.epsilon < log(24 / 7) + 0.05
    assert str(found.tight.tight) == "ln(24/7)"
    assert isinstance(recheck(found.verdict.certificate), Accepted)
    assert all(candidate.judgement in ("real", "spurious") for candidate in found.candidates)


def test_a_private_mechanism_is_proved_and_its_candidates_are_spurious():
    found = audit(survey, samples=QUICK)
    assert found.status == "proved"
    assert not found.violated
    assert {candidate.judgement for candidate in found.candidates} == {"spurious"}
    assert found.real is None
    assert found.candidates[0].left_probability == Fraction(3, 4)


def test_the_same_seed_gives_the_same_audit():
    one, other = (audit(rejected_geometric, samples=QUICK, seed=5, exact=False) for _ in range(2))
    assert (one.epsilon, one.curve, one.count, one.histogram) == (
        other.epsilon,
        other.curve,
        other.count,
        other.histogram,
    )
    assert audit(rejected_geometric, samples=QUICK, seed=6, exact=False).count != one.count


def test_a_function_is_never_proved_nor_refuted():
    found = audit(on_a_grid, "1/2", samples=20_000)
    assert found.status == "unknown"
    assert found.violated
    assert 0.5 < found.epsilon < 1.02
    assert found.repeatable
    assert found.verdict is None
    kept = audit(on_a_grid, "1.1", samples=QUICK)
    assert kept.status == "unknown"
    assert not kept.violated


def test_pairs_by_hand():
    found = audit(lambda x: x + random.gauss(0, 1), 1, "1/10", pairs=[(0.0, 1.0)], samples=20_000)
    assert found.count.pair.left in ({"x": 0.0}, {"x": 1.0})
    assert found.epsilon > 1
    assert found.delta > 0.1
    named = audit(laplacian, pairs=[({"x": 0}, {"x": 1})], samples=QUICK)
    assert named.pairs == 1


def test_pairs_that_are_no_neighbours_are_refused():
    with pytest.raises(QuestionError, match="no neighbours"):
        audit(laplacian, pairs=[(0, 2)], samples=QUICK)


def test_a_function_that_declares_nothing_needs_pairs():
    with pytest.raises(QuestionError, match="nothing says what it reads"):
        audit(lambda x: x)


def test_a_public_input_is_fixed():
    found = audit(sparse_vector_wrong_scales, size=4, fixed={"N": 1, "threshold": 0}, samples=QUICK)
    assert found.count.pair.left["N"] == found.count.pair.right["N"] == 1
    assert found.status == "refuted"
    assert found.verdict.question.name == "sparse_vector_wrong_scales with N = 1, threshold = 0 (size 4)"
    with pytest.raises(QuestionError, match="no public input"):
        audit(sparse_vector_wrong_scales, size=4, fixed={"q": [1]}, samples=QUICK)


def test_a_parameter_is_set():
    found = audit(noisy_max, 1, size=3, fixed={"epsilon": 2}, samples=50_000, exact=False)
    assert found.epsilon > 1.2


def test_a_claim_at_a_public_number_is_asked_about_at_that_number():
    @mechanism(epsilon="N")
    def copies(x: real(), N: public(integer(low=1))):
        for _ in range(N):
            yield laplace(x, scale=1)

    found = audit(copies, fixed={"N": 1}, samples=QUICK)
    assert found.status == "proved"
    assert str(found.budget.epsilon) == "1"
    open_ended = audit(copies, samples=QUICK, exact=False)
    assert open_ended.budget is None
    assert any("no budget was tested" in note for note in open_ended.notes)


def test_pairs_and_fixed_values_agree():
    @mechanism(epsilon="N*ln(2)")
    def scaled(x: integer(0, 1), N: public(integer(1, 3))):
        return geometric(N * x, alpha="1/2")

    pair = ({"x": 0, "N": 3}, {"x": 1, "N": 3})
    found = audit(scaled, pairs=[pair], samples=QUICK)
    assert str(found.budget.epsilon) == "ln(8)"
    assert found.status == "proved"
    with pytest.raises(QuestionError, match="fixed at 1"):
        audit(scaled, pairs=[pair], fixed={"N": 1}, samples=QUICK)


def test_a_claim_at_a_size():
    @mechanism(epsilon="size * ln(3)")
    def each_answered(answers: queries(0, 1)):
        return [randomized_response(answer, truth="3/4") for answer in answers]

    found = audit(each_answered, size=2, samples=QUICK)
    assert str(found.budget.epsilon) == "ln(9)"
    assert found.status == "proved"
    several = audit(each_answered, samples=500, exact=False)
    assert str(several.budget.epsilon) == f"ln({3**12})"
    assert list(several.by_size) == [12]


def test_a_claim_that_depends_on_the_size_is_asked_about_at_that_size():
    @mechanism(epsilon="size")
    def each_noisy(q: real_queries()):
        return [laplace(answer, scale=1) for answer in q]

    found = audit(each_noisy, samples=QUICK, exact_seconds=300)
    assert found.status == "proved"
    assert found.verdict.question.size == 12

    @mechanism(epsilon="size * ln(3)")
    def answered(s: stream(0, 1)):
        for answer in s:
            yield randomized_response(answer, truth="3/4")

    found = audit(answered, size=3, samples=QUICK)
    assert found.status == "proved"
    assert str(found.tight.tight) == "ln(27)"


def test_a_claim_that_depends_on_a_public_number_is_proved_for_every_number():
    @mechanism(epsilon="N")
    def copies(x: real(), N: public(integer(low=1))):
        for _ in range(N):
            yield laplace(x, scale=1)

    found = audit(copies, samples=QUICK, exact_seconds=2)
    assert found.budget is None
    assert found.status == "proved"


def test_a_parameter_of_a_function_is_set():
    quiet = audit(
        lambda x, scale=1.0: round(laplacian(x, scale)), 1, inputs={"x": real()}, fixed={"scale": 10}, samples=QUICK
    )
    assert quiet.epsilon < 0.2
    with pytest.raises(QuestionError, match="no public input"):
        audit(laplacian, 1, fixed={"unknown": 10}, samples=QUICK)


def test_a_pair_without_a_public_input():
    with pytest.raises(QuestionError, match="'threshold' is not given"):
        audit(sparse_vector_wrong_scales, pairs=[([0, 0], [1, 1])], samples=QUICK)


def test_what_a_function_prints_is_swallowed(capsys):
    def chatty(x: real()):
        print("hello")
        return x + random.random()

    audit(chatty, samples=200, search=400)
    assert capsys.readouterr().out == ""


def test_the_claim_of_a_runnable_comes_first():
    assert str(audit(runnable(survey, epsilon="2"), samples=QUICK, exact=False).budget.epsilon) == "2"
    assert str(audit(runnable(survey, epsilon="2"), "3", samples=QUICK, exact=False).budget.epsilon) == "3"


def test_delta_over_events():
    @mechanism(epsilon="1/10", delta="1/4")
    def wider(x: one_of(True, False)):  # the tails on both sides together break it, neither does alone
        if x:
            return laplace(0, scale=1)
        return laplace(0, scale=4)

    found = audit(wider, samples=50_000)
    assert found.real is not None
    assert len(found.real.exactly.patterns) > 1
    assert found.delta > 0.25


def test_what_is_returned_on_a_stream_is_certified():
    @mechanism(epsilon="ln(2)")
    def total(s: stream(0, 1)):
        count = 0
        for answer in s:
            count = min(count + answer, 3)
            if bernoulli("1/2"):
                return count

    found = audit(total, size=3, samples=QUICK)
    assert found.real.left_probability > 0
    assert found.real.loss.infinite


def test_texts_that_look_like_tails_are_texts():
    @mechanism(epsilon="0", delta="1/4")
    def texts(x: integer(0, 1)):
        if bernoulli(Fraction(1, 2) if x == 0 else Fraction(3, 10)):
            return 0
        return "≥0"

    assert audit(texts, samples=QUICK).status == "proved"


def test_a_real_candidate_where_the_engine_is_at_a_loss():
    @mechanism
    def turned(x: integer()):
        noisy = geometric(x, alpha="1/2")
        if noisy > 3:
            return "many"
        return noisy

    assert audit(turned, "1/2", samples=QUICK, exact_seconds=3).status == "refuted"


def test_the_exact_losses_of_candidates_raise_the_lower_bound():
    found = audit(noisy_max_value, size=3, samples=QUICK)
    assert str(found.tight.lower) == "3/2"


def test_time_is_kept():
    import time

    begun = time.monotonic()
    found = audit(laplacian, 1, samples=10_000_000, monitor=Monitor(deadline=begun + 0.5))
    assert time.monotonic() - begun < 10
    assert found.samples < 10_000_000
    assert any("out of time" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"confidence": "1"}, "not between"),
        ({"samples": 3}, "no number of runs"),
        ({"search": 3.5}, "no number of runs"),
        ({"size": 0}, "no length"),
        ({"size": [2, True]}, "no length"),
        ({"size": []}, "no length"),
        ({"size": 2.5}, "no length"),
    ],
)
def test_nonsense_is_refused(options, said):
    with pytest.raises(QuestionError, match=said):
        audit(noisy_max, **options)


def test_a_size_that_nothing_takes():
    with pytest.raises(QuestionError, match="takes it"):
        audit(survey, size=3)


def test_what_cannot_be_run():
    with pytest.raises(LanguageError, match="cannot be audited"):
        audit(3)


def test_an_audit_is_no_truth_value():
    with pytest.raises(TypeError, match="look at audit"):
        bool(audit(survey, samples=QUICK, exact=False))


def test_own_lists_are_not_changed():
    def spoils(q: real_queries()):
        q.sort()
        return q[0] + random.random() > 0.5

    assert audit(spoils, size=3, samples=QUICK).epsilon >= 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pairs": []}, "holds no pair"),
        ({"pairs": 5}, "holds no pair"),
        ({"pairs": ([0], [1])}, "is no pair"),
        ({"pairs": [(0, 0)]}, "they are the same"),
        ({"pairs": [("a", 0)]}, "is outside"),
        ({"pairs": [({"y": 0, "x": 0}, {"x": 1})]}, "there is no input 'y'"),
        ({"pairs": [(0.5, 1)]}, "is a float"),
        ({"seed": -1}, "no whole number"),
        ({"seed": None}, "no whole number"),
    ],
)
def test_wrong_pairs_and_seeds(options, said):
    with pytest.raises(PrivproofError, match=said):
        audit(laplacian, **options)


def test_a_claim_at_the_size_of_a_pair():
    @mechanism(epsilon="size")
    def each_noisy(q: real_queries()):
        return [laplace(answer, scale=1) for answer in q]

    found = audit(each_noisy, pairs=[([0, 0], [1, 1])], samples=QUICK)
    assert str(found.budget.epsilon) == "2"
    assert found.status == "proved"
    with pytest.raises(QuestionError, match="the sizes they have"):
        audit(each_noisy, pairs=[([0, 0], [1, 1])], size=3, samples=QUICK)


def test_a_very_large_budget():
    assert not audit(laplacian, "1e400", samples=QUICK).violated


# ------------------------------------------------------------------------------------------------- other measures, curves


@mechanism
def noisy_count(n: integer(0, 1)):
    return gaussian(n, sigma=1)


@pytest.mark.parametrize(
    ("claim", "least"),
    [({"mu": "9/10"}, 0.94), ({"rho": "1/4"}, 0.29), ({"renyi": {2: "1/2"}}, 0.57), ({"renyi": {1: "1/4"}}, 0.27)],
)
def test_a_claim_about_another_measure_is_tested_directly(claim, least):
    found = audit(noisy_count, samples=20_000, exact=False, seed=1, **claim)  # one in forty seeds finds a weak event
    assert found.violated
    assert found.budget is None
    (bound,) = found.measures
    truth = {"mu": 1.0, "rho": 0.5}.get(bound.measure.kind, 0.5 * float(str(bound.measure.order or 0)))
    assert least < bound.at_least < truth
    assert found.bracket[0] == bound.at_least


@pytest.mark.parametrize("claim", [{"mu": 1}, {"renyi": {2: 1, 4: 2}}])
def test_a_claim_about_another_measure_that_holds_is_proved_and_not_spoken_against(claim):
    found = audit(noisy_count, samples=QUICK, **claim)
    assert found.status == "proved"
    assert not found.violated
    assert all(bound.at_least < float(Fraction(str(bound.claimed))) for bound in found.measures)
    assert isinstance(recheck(found.verdict.certificate), Accepted)


def test_runs_and_an_engine_refute_another_measure():
    found = audit(noisy_count, rho="1/8", samples=QUICK)
    assert found.status == "refuted"
    assert found.violated
    assert "not 1/8-zCDP: the runs speak against it, and the exact engine refutes it" in str(found)
    assert repr(found).startswith("Audit('noisy_count', claim='1/8-zCDP', epsilon>=")


def test_several_orders_are_one_claim():
    found = audit(noisy_count, renyi={2: "3/4", 4: "1/2"}, samples=20_000, seed=1, exact=False)
    assert found.violated
    assert [str(bound.claimed) for bound in found.measures] == ["3/4", "1/2"]
    assert found.measures[1].at_least > 0.5
    assert found.bracket[0] > 1
    assert "every multiple of the claimed divergences below" in str(found)


def test_a_mechanism_claims_a_measure_of_itself():
    @mechanism(rho="1/4")
    def claimed(n: integer(0, 1)):
        return gaussian(n, sigma=1)

    assert audit(claimed, samples=QUICK, exact=False).measures[0].claimed == epsilon("1/4")
    assert audit(claimed, 3, samples=QUICK, exact=False).measures == ()


def test_one_claim_at_a_time():
    for claim in ({"rho": 1, "epsilon": 1}, {"rho": 1, "mu": 1}, {"renyi": {2: 1}, "delta": "1/10"}):
        with pytest.raises(PrivproofError, match="claimed at once"):
            audit(noisy_count, samples=QUICK, **claim)
    with pytest.raises(PrivproofError, match="infinite epsilon"):
        audit(noisy_count, samples=QUICK, curve=["inf"])


def gaussian_delta(epsilon: float) -> float:
    """Delta of one Gaussian against another one standard deviation away (Balle and Wang 2018)."""
    below = NormalDist().cdf
    return below(0.5 - epsilon) - exp(epsilon) * below(-0.5 - epsilon)


def test_a_lower_curve_stays_below_the_exact_one():
    asked = ["0", "1/2", "1", "3/2", "2", "5"]
    found = audit(noisy_count, samples=20_000, exact=False, curve=asked)
    bounds = [bound.at_least for bound in found.deltas]
    for point, bound in zip(asked, bounds, strict=True):
        assert 0 <= bound < gaussian_delta(float(Fraction(point)))
    assert [floor < bound for floor, bound in zip((0.35, 0.19, 0.09, 0.03), bounds, strict=False)] == [True] * 4
    assert bounds[-1] == 0.0
    assert found.deltas[-1].count is None
    assert sum(count.share for count in found.tests) == pytest.approx(1.0)
    assert "lower curve" in str(found)


def test_a_curve_beside_a_claim_shares_the_confidence():
    found = audit(noisy_count, 1, "1/10", samples=20_000, exact=False, curve=[0, 1])
    assert sum(count.share for count in found.tests) == pytest.approx(1.0)
    assert found.tests[0].share < 0.6
    assert found.deltas[1].at_least >= found.delta > 0.08
