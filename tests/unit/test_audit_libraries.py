"""Libraries: measurements of OpenDP and mechanisms of diffprivlib with their claims, PyDP, PipelineDP and Tumult as they are called."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from privproof import audit, check
from privproof.audits.sampling import function_calls as calling
from privproof.audits.sampling.runnable_functions import is_repeatable, runnable
from privproof.errors import LanguageError
from privproof.exact import Budget, rational
from privproof.language import integer, one_of, queries, real, real_queries, records


def found(subject: Any, **options: Any) -> tuple[str, Any, str]:
    run = runnable(subject, **options)
    return repr(dict(run.inputs)), run.relation, str(run.claim)


def test_neither_library_is_imported_for_other_subjects():
    program = (
        "import sys; from privproof.audits.sampling.runnable_functions import runnable; runnable(lambda q: q); "
        "assert not {'opendp', 'diffprivlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# --------------------------------------------------------------------------------------------------------------- OpenDP


@pytest.fixture(scope="module")
def dp():
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib")
    return prelude


@pytest.fixture(scope="module")
def whole(dp):
    return dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0)


@pytest.fixture(scope="module")
def floating(dp):
    return dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=2.0)


def summing(dp, size=None):
    domain = dp.vector_domain(dp.atom_domain(bounds=(0, 5)), **({} if size is None else {"size": size}))
    return dp.t.make_sum(domain, dp.symmetric_distance()) >> dp.m.then_laplace(scale=5.0)


def test_numbers(dp, whole, floating):
    assert found(whole) == ("{'value': integer()}", "each", "1/2")
    assert found(whole, d_in=2) == ("{'value': integer(sensitivity=2)}", "each", "1")
    assert found(floating) == ("{'value': real()}", "each", "1/2")
    bounded = dp.m.make_geometric(
        dp.atom_domain(T=int, bounds=(0, 10)), dp.absolute_distance(T=int), scale=2.0, bounds=(0, 10)
    )
    assert found(bounded) == ("{'value': integer(0, 10)}", "each", "1/2")
    wide = dp.m.make_laplace(dp.atom_domain(bounds=(3, 10**9)), dp.absolute_distance(T=int), scale=2.0)
    assert found(wide)[0] == "{'value': integer(3, 1003)}"


def test_a_distance_that_is_no_float_is_rounded_up(floating):
    run = runnable(floating, d_in="1/3")
    assert run.inputs["value"].within == rational("1/3")
    assert run.claim.epsilon.shift >= rational("1/6")


def test_what_is_no_distance(whole):
    with pytest.raises(LanguageError, match="d_in=1/2 is no whole number"):
        runnable(whole, d_in="1/2")
    with pytest.raises(LanguageError, match="d_in=0 is not above 0"):
        runnable(whole, d_in=0)


def test_vectors(dp):
    three = dp.vector_domain(dp.atom_domain(T=int), size=3)
    laplace = dp.m.make_laplace(three, dp.l1_distance(T=int), scale=2.0)
    assert found(laplace) == ("{'value': queries(size=3)}", "one", "1/2")
    assert "fewer than" in runnable(laplace).notes[0]
    with pytest.raises(LanguageError, match="'each' are not within"):
        runnable(laplace, neighbours="each")
    open_ended = dp.vector_domain(dp.atom_domain(T=int))
    noisy_max = dp.m.make_noisy_max(open_ended, dp.linf_distance(T=int), dp.max_divergence(), scale=1.0)
    assert found(noisy_max) == ("{'value': queries()}", "each", "2")
    monotonic = dp.linf_distance(T=int, monotonic=True)
    noisy_max = dp.m.make_noisy_max(open_ended, monotonic, dp.max_divergence(), scale=1.0)
    assert found(noisy_max) == ("{'value': queries()}", "monotone", "1")
    with pytest.raises(LanguageError, match="not within"):
        runnable(noisy_max, neighbours="each")


def test_records_come_and_go(dp):
    assert found(summing(dp)) == ("{'value': queries(0, 5, sensitivity=5)}", "add-remove", "1")
    assert found(summing(dp), d_in=2)[1:] == ("one", "2")
    strings = dp.vector_domain(dp.atom_domain(T=str))
    counting = dp.t.make_count(strings, dp.symmetric_distance()) >> dp.m.then_laplace(scale=5.0)
    assert found(counting) == ("{'value': records('a', 'b')}", "add-remove", "1/5")
    assert found(counting, inputs=records("x", "y", "z"))[1:] == ("add-remove", "1/5")


def test_a_changed_record_is_two_records_away(dp):
    with pytest.raises(LanguageError, match="'one' are not within d_in=1"):
        runnable(summing(dp), neighbours="one")
    assert found(summing(dp), neighbours="one", d_in=2)[1:] == ("one", "2")
    assert found(summing(dp), neighbours="one", epsilon=5)[1:] == ("one", "5")


def test_lists_of_one_length_have_no_neighbours_at_distance_one(dp):
    run = runnable(summing(dp, size=4))
    assert (dict(run.inputs), run.claim) == ({}, None)
    assert "d_in=2" in run.notes[0]
    assert found(summing(dp, size=4), d_in=2) == ("{'value': queries(0, 5, sensitivity=5, size=4)}", "one", "1")


def test_own_inputs_must_be_within_the_distance(dp, whole):
    assert found(whole, inputs=integer(0, 3))[0] == "{'value': integer(0, 3)}"
    assert list(runnable(whole, inputs={"x": integer(0, 3)}).inputs) == ["x"]
    with pytest.raises(LanguageError, match="by 2 in value"):
        runnable(whole, inputs=integer(sensitivity=2))
    with pytest.raises(LanguageError, match="in any way"):
        runnable(whole, inputs=one_of(0, 5))
    assert found(whole, inputs=one_of(0, 5), epsilon=3)[2] == "3"
    run = runnable(whole, inputs=integer(), neighbours=lambda left, right: True)
    assert run.claim is None
    assert "no claim" in run.notes[0]
    with pytest.raises(LanguageError, match="reads one value"):
        runnable(whole, inputs={"x": integer(), "y": integer()})


def test_randomized_response(dp):
    assert found(dp.m.make_randomized_response_bool(0.75))[:2] == ("{'value': one_of(False, True)}", "each")
    categories = dp.m.make_randomized_response(["a", "b", "c"], 0.75)
    assert dict(runnable(categories).inputs) == {}
    run = runnable(categories, inputs=one_of("a", "b", "c"))
    assert run.claim.epsilon.compare_bound(6) >= 0
    counts = run.draw({"value": "a"}, 500, 0).counts()
    assert set(counts) == {"'a'", "'b'", "'c'"}


def test_other_measures(dp):
    gaussian = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=2.0)
    run = runnable(gaussian)
    assert run.claim is None
    assert "make_zCDP_to_approxDP" in " ".join(run.notes)
    profile = dp.c.make_zCDP_to_approxDP(gaussian)
    assert runnable(profile).claim is None
    assert runnable(profile, delta="1e-6").claim.delta == rational("1e-6")
    assert 2.41 < float(runnable(profile, delta="1e-6").claim.epsilon.decimal()) < 2.42
    fixed = runnable(dp.c.make_fix_delta(profile, 1e-6)).claim
    assert fixed.delta == rational("1e-6")
    assert fixed.epsilon == runnable(profile, delta="1e-6").claim.epsilon


def test_runs_of_a_measurement(dp, whole, floating, monkeypatch):
    run = runnable(whole)
    assert not run.repeatable
    assert not is_repeatable(run, {"value": 3})
    values = run.draw({"value": 3}, 1000, 0).values()
    assert abs(np.median(values) - 3) <= 1
    run = runnable(floating)
    samples = run.draw({"value": Fraction(7, 2)}, 1000, 0).values()
    assert stats.kstest(samples, stats.laplace(3.5, 2.0).cdf).pvalue > 1e-6
    monkeypatch.setattr(calling, "_CALLS", 100)
    assert len(runnable(floating, processes=2).draw({"value": 1}, 250, 0)) == 250
    assert runnable(summing(dp)).draw({"value": [1, 2]}, 100, 0).values().dtype == np.int64
    with pytest.raises(LanguageError, match="is no value for"):
        run.draw({"value": "text"}, 10, 0)


def test_values_outside_the_domain_are_refused(dp):
    run = runnable(summing(dp), inputs=queries(0, 9))
    assert len(run.draw({"value": [0, 5]}, 10, 0)) == 10
    with pytest.raises(LanguageError, match=r"value=\[0, 9\] is not in VectorDomain"):
        run.draw({"value": [0, 9]}, 10, 0)


def test_what_is_no_measurement(dp):
    counting = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    with pytest.raises(LanguageError, match="Transformation of OpenDP is not a measurement"):
        runnable(counting)
    with pytest.raises(LanguageError, match="for plain callables"):
        runnable(summing(dp), batched=True)


# ---------------------------------------------------------------------------------------------------------- diffprivlib


@pytest.fixture(scope="module")
def mechanisms():
    try:
        from diffprivlib import mechanisms
    except ImportError as error:  # also where it does not know the scikit-learn that is there
        pytest.skip(f"diffprivlib cannot be imported: {error}")
    return mechanisms


CASES = [
    ("Laplace", {"epsilon": 0.1, "sensitivity": 1}, "real()", "1/10", 1),
    ("Laplace", {"epsilon": 1, "delta": 0.01, "sensitivity": 0.5}, "real(sensitivity=1/2)", "(1, 1/100)", 1),
    ("LaplaceTruncated", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 2.5}, "real(0, '5/2')", "1", 1),
    ("LaplaceFolded", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 2}, "real(0, 2)", "1", 1),
    ("LaplaceBoundedDomain", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 2}, "real(0, 2)", "1", 1),
    ("LaplaceBoundedNoise", {"epsilon": 1, "delta": 0.1, "sensitivity": 1}, "real()", "(1, 1/10)", 1),
    ("Geometric", {"epsilon": 1, "sensitivity": 2}, "integer(sensitivity=2)", "1", 2),
    ("GeometricTruncated", {"epsilon": 1, "lower": 0, "upper": 10**7}, "integer(0, 1000)", "1", 2),
    ("GeometricFolded", {"epsilon": 1, "lower": 0.5, "upper": 3.5}, "integer(1, 3)", "1", 2),
    ("Binary", {"epsilon": 1, "value0": "a", "value1": "b"}, "one_of('a', 'b')", "1", "a"),
    (
        "ExponentialCategorical",
        {"epsilon": 1, "utility_list": [["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]},
        "one_of('a', 'b', 'c')",
        "1",
        "a",
    ),
    ("Gaussian", {"epsilon": 1, "delta": 0.1, "sensitivity": 1}, "real()", "(1, 1/10)", 1),
    ("GaussianAnalytic", {"epsilon": 1, "delta": 0.1, "sensitivity": 1}, "real()", "(1, 1/10)", 1),
    ("GaussianDiscrete", {"epsilon": 1, "delta": 0.1}, "integer()", "(1, 1/10)", 1),
    ("Snapping", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 5}, "real(0, 5)", "1", 1),
    ("Staircase", {"epsilon": 1, "sensitivity": 1}, "real()", "1", 1),
    ("Uniform", {"delta": 0.1, "sensitivity": 1}, "real()", "(0, 1/10)", 1),
]


@pytest.mark.parametrize(("kind", "options", "inputs", "claim", "value"), CASES, ids=[case[0] for case in CASES])
def test_mechanisms(mechanisms, kind, options, inputs, claim, value):
    made = getattr(mechanisms, kind)(**options, random_state=7)
    run = runnable(made)
    assert (run.name, f"{run.inputs['value']}", run.relation, str(run.claim)) == (kind, inputs, "each", claim)
    assert run.repeatable
    assert is_repeatable(run, {"value": value})
    secure = runnable(getattr(mechanisms, kind)(**options))
    assert secure.repeatable is (kind == "Staircase")
    assert is_repeatable(secure, {"value": value}) is secure.repeatable


def test_runs_of_a_mechanism(mechanisms):
    made = mechanisms.Laplace(epsilon=0.5, sensitivity=1, random_state=7)
    before = made._rng.get_state()[1].tolist()
    values = runnable(made).draw({"value": Fraction(5, 2)}, 9000, 1).values()
    assert stats.kstest(values, stats.laplace(2.5, 2.0).cdf).pvalue > 1e-6
    assert len(np.unique(values)) == 9000
    assert np.array_equal(values, runnable(made, processes=2).draw({"value": Fraction(5, 2)}, 9000, 1).values())
    assert made._rng.get_state()[1].tolist() == before
    secure = runnable(mechanisms.Laplace(epsilon=0.5, sensitivity=1), processes=2).draw({"value": 0}, 9000, 1)
    assert len(np.unique(secure.values())) == 9000


def test_mechanisms_without_inputs(mechanisms):
    run = runnable(mechanisms.Exponential(epsilon=1, sensitivity=1, utility=[1, 2, 3], random_state=1))
    assert (dict(run.inputs), run.claim) == ({}, None)
    assert "utilities" in run.notes[0]
    assert set(run.draw({}, 500, 0).counts()) == {"0", "1", "2"}
    run = runnable(mechanisms.Bingham(epsilon=1, random_state=1))
    assert run.draw({"value": np.eye(2)}, 5, 0).texts == ("[float, float]",)
    assert dict(runnable(mechanisms.Laplace(epsilon=1, sensitivity=0)).inputs) == {}


def test_mechanisms_of_one_s_own(mechanisms):
    class Louder(mechanisms.Laplace):
        pass

    made = Louder(epsilon=1, sensitivity=1, random_state=1)
    assert (runnable(made).name, runnable(made, name="it").name) == ("Louder", "it")
    assert runnable(made, epsilon="1/2").claim == Budget.of("1/2")
    assert runnable(made, inputs=real(0, 1)).claim == Budget.of(1)
    for wrong in (real(sensitivity=2), real_queries(sensitivity="3/2"), one_of(0, 5), queries(0, 9, sensitivity=2)):
        with pytest.raises(LanguageError, match="makes its claim for 1"):
            runnable(made, inputs=wrong)


# ------------------------------------------------------------------------------------------- libraries without an adapter


def test_a_method_that_does_not_tell_its_parameters_is_called_by_position():
    run = runnable("aab".count, inputs=one_of("a", "b"))
    assert run.draw({"value": "a"}, 5, 0).counts() == {"2": 5}


def test_an_object_whose_method_draws_is_told_so():
    class Noisy:
        def add_noise(self, value):
            return value

    with pytest.raises(LanguageError, match=r"its method that draws: Noisy\(\.\.\.\)\.add_noise"):
        runnable(Noisy())


def test_pydp():
    mechanisms = pytest.importorskip("pydp.algorithms.numerical_mechanisms", reason="PyDP is not installed")
    laplacian = pytest.importorskip("pydp.algorithms.laplacian", reason="PyDP is not installed")
    noisy = mechanisms.LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    kept = audit(noisy.add_noise, 1, inputs=integer(0, 5), samples=5000)
    assert (kept.violated, kept.epsilon > 0.5) == (False, True)
    assert audit(noisy.add_noise, "1/4", inputs=integer(0, 5), samples=5000).violated
    counting = laplacian.Count(epsilon=1.0, dtype="int").quick_result
    assert audit(counting, "1/4", inputs=records(0, 1), neighbours="add-remove", size=3, samples=5000).violated
    assert not audit(counting, 1, inputs=records(0, 1), neighbours="add-remove", size=3, samples=5000).violated


def test_noise_of_pydp_that_hardly_ever_shows_is_not_taken_for_none():
    mechanisms = pytest.importorskip("pydp.algorithms.numerical_mechanisms", reason="PyDP is not installed")

    def rounded(x):
        return round(mechanisms.LaplaceMechanism(epsilon=20.0, sensitivity=1.0).add_noise(x))

    with pytest.raises(LanguageError, match="compiled code, of which nobody can see whether it draws"):
        check(rounded, 20, x=integer(0, 2))


def counted(rows, epsilon=1.0):
    """How many people are in either part, by PipelineDP; a row is a person and a part."""
    import pipeline_dp as dp

    accountant = dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-6)
    engine = dp.DPEngine(accountant, dp.LocalBackend())
    wanted = dp.AggregateParams(
        metrics=[dp.Metrics.COUNT],
        noise_kind=dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )
    columns = dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: 1
    )
    found = engine.aggregate(list(rows), wanted, columns, public_partitions=["a", "b"])
    accountant.compute_budgets()
    return {part: float(metrics.count) for part, metrics in sorted(found)}


def test_pipeline_dp():
    pytest.importorskip("pipeline_dp", reason="PipelineDP is not installed")
    pairs = [([("ann", "a"), ("bob", "b")], [("ann", "a")])]
    assert not audit(counted, 1, pairs=pairs, samples=2000, search=2000).violated
    assert audit(counted, "1/4", pairs=pairs, samples=2000, search=2000).violated
    with pytest.raises(LanguageError, match="add_noise of pydp is compiled code"):
        check(counted, 1, rows=records(("ann", "a"), ("ann", "b")), size=1)


def test_tumult():
    noise = pytest.importorskip("tmlt.core.measurements.noise_mechanisms", reason="Tumult Core is not installed")
    measurement = noise.AddGeometricNoise(2)
    assert not audit(measurement, "1/2", inputs=integer(0, 5), samples=3000).violated
    assert audit(measurement, "1/8", inputs=integer(0, 5), samples=3000).violated

    def noisy(x):
        return int(measurement(x))

    with pytest.raises(LanguageError, match="more than 500 random choices"):
        check(noisy, 1, x=integer(0, 2))


def test_diffprivlib_is_readable_where_it_compares_and_chooses(mechanisms):
    def binary(answer):
        return mechanisms.Binary(epsilon=1, value0="no", value1="yes").randomise(answer)

    def chosen(q):
        return mechanisms.Exponential(epsilon=1, sensitivity=1, utility=q, candidates=["a", "b"]).randomise()

    assert check(binary, 1, answer=one_of("no", "yes")).status == "proved"
    assert check(binary, "0.99", answer=one_of("no", "yes")).status == "refuted"
    assert check(chosen, 1, q=queries(0, 2, size=2)).status == "proved"
    assert check(chosen, "1/2", q=queries(0, 2, size=2)).status == "refuted"
