"""Random mechanisms with Laplace noise: the prover, the refuter, the checker, exact probabilities and runs of the function never contradict
each other."""

from __future__ import annotations

import contextlib
import copy
import json
import time
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from tests.amounts import selected
from tests.certificates import nested, recheck
from tests.corpus import programs
from tests.laplace_programs import Author, frequency, load, losses, neighbours, relation_of, streams

from privproof import check, sample, tight_epsilon
from privproof.compiling.relational import Unsupported, program_for_alignment
from privproof.compiling.translation import program_agreement
from privproof.engines import Monitor
from privproof.engines.laplace.alignments import Alignment, Shift
from privproof.engines.laplace.certificates import alignment_evidence
from privproof.engines.laplace.events import event_probability, measure, tree
from privproof.engines.laplace.horn import Invariants, invariants
from privproof.engines.laplace.proving import AlignmentProof, prove
from privproof.engines.laplace.refuting import Refuter, publics
from privproof.engines.laplace.tight import search_losses_at_size
from privproof.engines.search_monitor import SearchAllowance, Stopped
from privproof.errors import LanguageError
from privproof.evidence.certified_multipliers import refutations
from privproof.evidence.gate import Answer
from privproof.evidence.proof_completion import complete_certificate
from privproof.exact import epsilon, fraction
from privproof.exact.exponentials import ExponentialSum
from privproof.language.patterns import word
from privproof.scenarios import program_question
from privproof_checker.linear.linear_documents import supply_refutations
from privproof_checker.outcomes import Accepted, Rejected

SEEDS = range(40)
MORE = range(1000, 1400)
PATIENCE = 8
RUNS = 100_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("laplace")


def soon(seconds=PATIENCE):
    return Monitor(deadline=time.monotonic() + seconds)


def attempted(function, *arguments, **options):
    """What a function returns, and None; or None, and how it refuses."""
    try:
        return function(*arguments, **options), None
    except LanguageError as refusal:
        return None, refusal


def listed(mechanism):
    return any(declared.shape == "list" for declared in mechanism.inputs.values())


def asked(seed, folder, kind=None):
    """A program, a claim about it and a size or none."""
    author, random = Author(seed, kind), Random(seed * 7 + 1)
    mechanism = load(folder, author.text)
    size = random.choice((None, None, 2, 3)) if listed(mechanism) else None
    return mechanism, random.choice(author.claims), size, random


def bound(verdict, public, size):
    """What a proof allows at given public numbers and a size."""
    if verdict.formula is None:
        return verdict.upper
    return epsilon(fraction(verdict.formula.at({**public, "size": size or 0})))


def hard(mechanism, verdict, size):
    """The largest losses that a search finds, each with what is allowed there."""
    sizes = [size] if size else [1, 2, 3] if listed(mechanism) else [None]
    for one in sizes:
        for public in publics(mechanism):
            refuter = Refuter(mechanism, relation_of(mechanism), soon(4))
            with contextlib.suppress(Stopped):
                search_losses_at_size(refuter, one, public)
            if refuter.best is not None:
                yield refuter.best, bound(verdict, public, one)


def confirmed_proof(mechanism, verdict, size, random):
    """No loss is above what is proved: neither those that a search finds, nor those at random data."""
    if streams(mechanism):
        return None
    largest = None
    for loss, allowed in hard(mechanism, verdict, size):
        assert not loss.exceeds(allowed)
        largest = loss if largest is None or loss.lower().ball() > largest.lower().ball() else largest
    end = time.monotonic() + 2
    for _ in range(4):
        left, right = neighbours(mechanism, size or random.choice((1, 2, 3)), random, wide=random.choice((1, 3, 6)))
        public = {name: value for name, value in left.items() if mechanism.inputs[name].public}
        length = max((len(value) for value in left.values() if isinstance(value, list)), default=0)
        for loss in losses(mechanism, left, right, random):
            assert not loss.exceeds(bound(verdict, public, length))
            if time.monotonic() > end:
                return largest
    return largest


def confirmed_refutation(mechanism, verdict, claim):
    """Both probabilities are computed again, and counted in many runs."""
    witness = verdict.witness
    for side, exact in ((witness.left, witness.left_probability), (witness.right, witness.right_probability)):
        assert event_probability(mechanism, witness.event, side) == exact
        expected = float(exact.ball(1).mid())
        if expected < 1e-4:
            continue
        samples, refusal = attempted(sample, mechanism, dict(side), RUNS, seed=1)
        if refusal is not None:
            assert refusal.code == "value"  # x / 2 of a whole number is a float in Python
            continue
        found = frequency(samples, witness.event)
        assert abs(found - expected) <= 5 * (expected * (1 - expected) / RUNS) ** 0.5 + 1 / RUNS
    left, right = witness.left_probability, witness.right_probability
    assert right.is_zero or (left - right.scaled(claim)).sign(1) > 0


def confirmed(seed, folder, kind=None):
    mechanism, claim, size, random = asked(seed, folder, kind)
    verdict, refusal = attempted(check, mechanism, claim, size=size, monitor=soon())
    if refusal is not None:
        assert refusal.hint
        return
    if verdict.certificate is not None:
        assert isinstance(recheck(json.loads(json.dumps(nested(verdict.certificate)))), Accepted)
    if verdict.status == "refuted":
        confirmed_refutation(mechanism, verdict, claim)
    if verdict.status == "proved":
        largest = confirmed_proof(mechanism, verdict, size, random)
        less = claim * Fraction(99, 100)
        if largest is not None and largest.exceeds(epsilon(less)):
            assert check(mechanism, less, size=size, monitor=soon()).status != "proved"


@pytest.mark.parametrize("seed", selected(SEEDS, 6))
def test_a_verdict_is_confirmed_by_exact_probabilities_and_by_runs(folder, seed):
    confirmed(seed, folder)


@pytest.mark.parametrize("seed", selected(range(5000, 5100), 3))
def test_a_verdict_on_a_selection_is_confirmed(folder, seed):
    confirmed(seed, folder, "selecting")


@pytest.mark.parametrize("seed", selected(range(6000, 6200), 4))
def test_a_verdict_on_draws_that_one_run_makes_alone_is_confirmed(folder, seed):
    confirmed(seed, folder, "branching")


@pytest.mark.slow
@pytest.mark.parametrize("seed", selected(MORE, 1))
def test_many_verdicts_are_confirmed(folder, seed):
    confirmed(seed, folder)


# ------------------------------------------------------------------------------------------------ programs and functions


def agrees(seed, folder, kind=None):
    mechanism = load(folder, Author(seed, kind).text)
    for convert in (True, False):
        for ahead in (True, False):
            try:
                program, refusal = attempted(program_for_alignment, mechanism, convert=convert, ahead=ahead)
            except Unsupported:
                continue
            if refusal is None:
                assert program_agreement(program).told is None
            else:
                assert refusal.hint


@pytest.mark.parametrize("seed", selected(range(100, 180), 8))
def test_the_program_that_is_proved_does_what_the_function_does(folder, seed):
    agrees(seed, folder)


@pytest.mark.parametrize("seed", selected(range(7000, 7400), 12))
def test_draws_in_any_case_are_looked_at_where_the_function_draws(folder, seed):
    agrees(seed, folder, "branching")


@pytest.mark.slow
@pytest.mark.parametrize("seed", selected(range(2000, 2600), 1))
def test_many_programs_do_what_their_functions_do(folder, seed):
    agrees(seed, folder)


def whole(seed, folder):
    mechanism = load(folder, Author(seed).text)
    if streams(mechanism):
        return
    random = Random(seed)
    given, _ = neighbours(mechanism, 2, random)
    found = tree(mechanism, given)
    total = ExponentialSum.constant(0)
    for leaf in found:
        total = total + measure((leaf,), word(leaf.output))
    assert total == ExponentialSum.constant(1)
    samples, refusal = attempted(sample, mechanism, given, RUNS, seed=seed)
    if refusal is not None:
        assert refusal.code == "value"
        return
    for leaf in found[:6]:
        expected = float(measure(found, word(leaf.output)).ball(1).mid())
        slack = 5 * max(expected * (1 - expected), 0) ** 0.5 / RUNS**0.5 + 1 / RUNS
        assert abs(frequency(samples, word(leaf.output)) - expected) <= slack


@pytest.mark.parametrize("seed", selected(range(200, 240), 6))
def test_the_probabilities_of_all_leaves_add_up_to_one_and_agree_with_runs(folder, seed):
    whole(seed, folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", selected(range(3000, 3300), 1))
def test_many_trees_add_up_to_one_and_agree_with_runs(folder, seed):
    whole(seed, folder)


# --------------------------------------------------------------------------------------------------------- tight epsilon


def tight(seed, folder):
    mechanism, _, size, random = asked(seed, folder)
    verdict, refusal = attempted(tight_epsilon, mechanism, size=size, monitor=soon())
    if refusal is not None:
        assert refusal.hint
        return
    if verdict.status == "proved":
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    if verdict.status == "proved" or not verdict.upper.infinite:
        confirmed_proof(mechanism, verdict, size, random)
    if verdict.status != "refuted" and not verdict.upper.infinite:
        assert (
            verdict.witness is None
            or not (
                verdict.witness.left_probability
                - verdict.witness.right_probability.scaled(fraction(verdict.upper.shift))
            ).sign(1)
            > 0
        )


@pytest.mark.parametrize("seed", selected(range(300, 310), 3))
def test_both_bounds_of_the_tight_epsilon_are_confirmed(folder, seed):
    tight(seed, folder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", selected(range(4000, 4100), 1))
def test_many_bounds_of_the_tight_epsilon_are_confirmed(folder, seed):
    tight(seed, folder)


# ------------------------------------------------------------------------------------------------------------- mutations

TIGHT = programs("continuous", "tight")


def proof_of(folder, program):
    claim = Fraction(program.expected.removeprefix("proved at "))
    mechanism = load(folder, program)
    question = program_question(mechanism).under(check(mechanism, claim).question.budget)
    found = prove(mechanism, question.claim, Monitor())
    assert isinstance(found, AlignmentProof)
    return mechanism, question, claim, found


def searched(certificate):
    """What the checker says of a certificate without multipliers, while somebody looks for them in earnest."""
    with supply_refutations(refutations):
        return recheck(certificate)


def alignment_certificate(question, proof):
    """The certificate of a proof by alignment."""
    evidence = alignment_evidence(proof)
    answer = Answer(status="proved", question=question, engine="laplace", evidence=evidence, compiled=proof.program)
    return nested(complete_certificate(answer.certificate()))


@pytest.mark.parametrize("program", TIGHT, ids=str)
def test_a_changed_alignment_is_no_proof_or_one_that_the_checker_accepts(folder, program):
    mechanism, question, claim, proof = proof_of(folder, program)
    random = Random(program.name)
    assert isinstance(searched(alignment_certificate(question, proof)), Accepted)
    kept = 0
    for _ in range(8):
        place = random.choice([key for key, shift in proof.alignment.shifts.items() if shift.factors])
        factors = dict(proof.alignment.shifts[place].factors)
        feature = random.choice(list(factors))
        factors[feature] += random.choice((-2, -1, 1, 2)) * Fraction(1, random.choice((1, 2, 10)))
        changed = Alignment({**proof.alignment.shifts, place: Shift(factors)})
        try:
            found = invariants(proof.blocks, changed, proof.bounds, SearchAllowance(Monitor(), 3))
        except Stopped:
            found = "unknown"
        if isinstance(found, Invariants):
            kept += 1
            certificate = alignment_certificate(question, replace(proof, alignment=changed, invariants=found))
            assert isinstance(searched(certificate), Accepted)
        else:
            certificate = alignment_certificate(question, replace(proof, alignment=changed))
            assert isinstance(searched(certificate), Rejected)
    assert kept < 8
    refuter = Refuter(mechanism, relation_of(mechanism), soon())
    search_losses_at_size(refuter, 2 if listed(mechanism) else None, {})
    assert not refuter.best.exceeds(epsilon(claim))


@pytest.mark.parametrize("program", TIGHT, ids=str)
def test_a_lowered_claim_is_rejected_where_a_loss_exceeds_it(folder, program):
    mechanism, question, claim, proof = proof_of(folder, program)
    less = claim * Fraction(99, 100)
    refuter = Refuter(mechanism, relation_of(mechanism), Monitor())
    search_losses_at_size(refuter, 2 if listed(mechanism) else None, {}, far=True)
    assert refuter.best.exceeds(epsilon(less))
    certificate = json.loads(json.dumps(alignment_certificate(question, proof)))
    lowered = copy.deepcopy(certificate)
    lowered["question"]["epsilon"] = str(less)
    lowered["question"]["claim"]["constant"] = str(less)
    assert isinstance(searched(lowered), Rejected)
    for limit in lowered["evidence"]["bounds"]:
        limit["constant"] = str(less)
    assert isinstance(searched(lowered), Rejected)
    assert check(mechanism, less).status != "proved"


@pytest.mark.parametrize("program", TIGHT, ids=str)
def test_a_program_with_less_noise_is_rejected(folder, program):
    _, question, _, proof = proof_of(folder, program)
    certificate = json.loads(json.dumps(alignment_certificate(question, proof)))
    samples = [step for step in certificate["question"]["code"] if step[0] == "sample"]
    for step in samples:
        step[4]["factor"] = str(Fraction(step[4]["factor"]) / 2)
    assert samples
    assert isinstance(searched(certificate), Rejected)


@pytest.mark.parametrize("program", TIGHT, ids=str)
def test_a_shift_that_is_left_out_or_doubled_is_rejected(folder, program):
    _, question, _, proof = proof_of(folder, program)
    certificate = json.loads(json.dumps(alignment_certificate(question, proof)))
    without = copy.deepcopy(certificate)
    without["evidence"]["paths"] = []
    assert isinstance(searched(without), Rejected)
    for path in certificate["evidence"]["paths"]:
        for case in path["cases"]:
            for shift in case["shifts"].values():
                shift["constant"] = str(2 * Fraction(shift["constant"]))
                for part in (*shift["reads"], *shift["distances"]):
                    part[1] = str(2 * Fraction(part[1]))
    assert isinstance(searched(certificate), Rejected)


# ------------------------------------------------------------------------------------------------- found by such programs

COIN = """
@mechanism
def m(x: real()):
    noisy = laplace(x, scale=1)
    if bernoulli("1/3"):
        yield noisy > 0
    else:
        yield noisy < 0
"""
MODES = """
@mechanism
def m(x: real(), mode: public(one_of("a", "b", "c", "d", "e"))):
    if mode == "e":
        return laplace(x, scale=1)
    return laplace(x, scale=2)
"""
STREAM = """
@mechanism(neighbours="{}")
def m(s: real_stream()):
    limit = laplace(0, scale=2)
    for value in s:
        if laplace(value, scale=4) > limit:
            yield True
            return
        yield False
"""
CLAMPED = """
@mechanism(neighbours="one")
def m(q: real_queries(size=2)):
    for value in q:
        yield laplace(max(value, 0), scale=1)
"""


def above(verdict, floor):
    """Whether the upper bound of a verdict is at least a number."""
    return verdict.upper.infinite or bool(verdict.upper.ball() >= floor)


def test_an_output_that_comes_from_two_sides_of_a_coin_has_two_weights(folder):
    assert above(tight_epsilon(load(folder, COIN)), 0.23)


def test_the_upper_bound_is_about_every_public_value(folder):
    mechanism = load(folder, MODES)
    assert above(tight_epsilon(mechanism), 1)
    assert check(mechanism, "1/2").status != "proved"


@pytest.mark.parametrize("relation", ["each", "one", "monotone"])
def test_a_stream_has_no_size_at_which_the_loss_is_zero(folder, relation):
    mechanism = load(folder, STREAM.format(relation))
    assert check(mechanism, 1).status == "proved"
    assert above(tight_epsilon(mechanism, monitor=soon(30)), 0.2)


def test_branches_on_the_data_do_not_end_the_search_for_the_tight_epsilon(folder):
    verdict = tight_epsilon(load(folder, CLAMPED), monitor=soon(30))
    assert above(verdict, 1)
    assert not verdict.lower.infinite


@pytest.mark.parametrize("text", [COIN, MODES, CLAMPED])
@pytest.mark.parametrize("question", [tight_epsilon, lambda mechanism, **options: check(mechanism, 1, **options)])
def test_a_search_without_time_says_so(folder, text, question):
    verdict = question(load(folder, text), monitor=soon(-1))
    assert verdict.status == "unknown"
    assert verdict.reason
