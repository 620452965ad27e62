"""What Gaussian noise gives away where its shifts grow with the size: delta, rho and Rényi divergences as expressions in the size."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from math import exp, sqrt
from statistics import NormalDist

import pytest
from tests.amounts import patience, selected
from tests.certificates import nested as nested_evidence
from tests.certificates import recheck

from privproof import (
    audit,
    check,
    gaussian,
    integer,
    laplace,
    mechanism,
    public,
    queries,
    real,
    real_queries,
    smallest_delta,
    tight_mu,
    tight_rho,
)
from privproof.compiling.relational import program_for_alignment
from privproof.errors import BudgetError
from privproof.evidence.question_documents import question_document
from privproof.language.mechanism import Claim
from privproof.scenarios import program_question
from privproof_checker import Accepted, Rejected
from privproof_checker.outcomes import DEFAULT_LIMITS
from privproof_checker.programs.foretelling import ends_surely
from privproof_checker.programs.instructions import read_program
from privproof_checker.programs.program_inputs import read_declared


@mechanism
def largest(q: real_queries()):
    best, winner = 0, -1
    for i, answer in enumerate(q):
        noisy = gaussian(answer, sigma=4)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def some_above(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    found = False
    for answer in q:
        if gaussian(answer, sigma=8) >= noisy:
            found = True
    return found


@mechanism
def first_above(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism
def first_above_and_more(q: real_queries(), threshold: public(real())):
    """The result is not all that is shown, so that an event may have a part of every result."""
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i, gaussian(0, sigma=1)
    return -1, gaussian(0, sigma=1)


@mechanism
def every_answer(q: real_queries()):
    return [gaussian(answer, sigma=4) for answer in q]


@mechanism
def many_rounds(x: real(), rounds: public(integer(low=1))):
    return [gaussian(x, sigma=4) for _ in range(rounds)]


@mechanism
def with_laplace(q: real_queries(), x: real()):
    first = laplace(x, scale=4)
    for answer in q:
        yield gaussian(answer, sigma=4)
    yield first


def claiming(function, epsilon, delta):
    """The same mechanism with a claim of its own, which may speak of the size."""
    return replace(function, claim=Claim(epsilon, delta))


def given_away(squares, left):
    """Delta of two normal laws so far apart, in squares of standard deviations."""
    if squares == 0:
        return 0.0
    mu, below = sqrt(squares), NormalDist().cdf
    return below(mu / 2 - left / mu) - exp(left) * below(-mu / 2 - left / mu)


def slope(per_answer, epsilon):
    """The least c with delta(n) <= c n for every n."""
    return max(given_away(n * per_answer, epsilon) / n for n in range(1, 400))


@pytest.fixture(scope="module")
def proof():
    return check(program_question(claiming(largest, epsilon="1/2", delta=f"size * {slope(1 / 16, 0.5) * 1.0001:.9f}")))


def test_delta_grows_with_the_size(proof):
    assert (proof.status, proof.engine) == ("proved", "laplace")
    assert "size/16 in squares" in str(proof)
    less = claiming(largest, epsilon="1/2", delta=f"size * {slope(1 / 16, 0.5) * 0.999:.9f}")
    assert check(program_question(less), time_limit=patience(8)).status == "unknown"


def test_the_checker_compares_all_sizes(proof):
    """A delta that is enough at nearly all sizes is refused, and so are squares that are less at any."""
    bounds = nested_evidence(proof.certificate)["evidence"]["bounds"]
    assert bounds == [{"squares": {"constant": "0", "terms": {"size": "1/16"}}}]
    claimed = nested_evidence(proof.certificate)["question"]["delta"]

    def changed(*, squares=None, **delta):
        made = copy.deepcopy(nested_evidence(proof.certificate))
        made["question"]["delta"] = {**claimed, **delta}
        if squares is not None:
            made["evidence"]["bounds"][0]["squares"] = squares
        return recheck(made)

    assert isinstance(changed(), Accepted)
    grown = Fraction(claimed["terms"]["size"])
    assert isinstance(
        changed(terms={"size": str(grown * Fraction(9, 10))}, constant="1/100"), Rejected
    )  # not near its tangent
    assert isinstance(changed(terms={"size": "1/1000000"}, constant="1/2"), Rejected)  # not in the long run
    assert isinstance(changed(terms={"size": "0"}, constant="1/2"), Rejected)
    assert isinstance(changed(terms={"size": "0"}, constant="1"), Accepted)
    assert isinstance(changed(terms={"size": "-1"}, constant="2"), Rejected)
    for squares in (
        {"constant": "0", "terms": {"size": "1/17"}},
        {"constant": "-1/16", "terms": {"size": "1/16"}},
        {"constant": "4", "terms": {}},
        {"constant": "0", "terms": {"n": "1/16"}},
        "1/4",
    ):
        assert isinstance(changed(squares=squares), Rejected), squares


def test_an_event_leaves_out_one_result():
    """Of two results delta pays for one; sparse vector for as many as there are answers, and for one more where more is shown."""
    each = given_away(1 / 16, 0.5)
    verdict = check(some_above, epsilon="1/2", delta=f"{each * 1.0001:.9f}")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert "all but one" in str(verdict)


@pytest.mark.slow
def test_no_less_is_paid_for():
    each = given_away(1 / 16, 0.5)
    assert check(some_above, epsilon="1/2", delta=f"{each * 0.999:.9f}", time_limit=10).status != "proved"
    each = given_away(1 / 8, 1.24)
    for function, delta, status in (
        (first_above, f"size * {each * 1.0001:.12f}", "proved"),
        (first_above, f"size * {each * 0.999:.12f}", "unknown"),
        (first_above_and_more, f"size * {each * 1.0001:.12f}", "unknown"),
        (first_above_and_more, f"(size + 1) * {each * 1.0001:.12f}", "proved"),
    ):
        claimed = claiming(function, epsilon="1.24", delta=delta)
        assert check(program_question(claimed), time_limit=10).status == status, (function.name, delta)


@pytest.mark.parametrize("size", selected(range(1, 7), 2))
def test_no_size_contradicts_what_is_proved(size):
    """The exact deltas of small sizes, for answers of 0 and 1."""

    @mechanism
    def few(q: queries(0, 1)):
        best, winner = 0, -1
        for i, answer in enumerate(q):
            noisy = gaussian(answer, sigma=4)
            if i == 0 or noisy > best:
                best, winner = noisy, i
        return winner

    if size > 1:
        found = smallest_delta(few, "1/2", size=size)
        assert found.lower <= given_away(size / 16, 0.5)
        assert found.upper <= size * slope(1 / 16, 0.5)


# --------------------------------------------------------------------------------------------------------------- rho


def test_rho_grows_with_the_size():
    verdict = check(every_answer, rho="size/32")
    assert (verdict.status, verdict.engine) == ("proved", "divergences")
    assert nested_evidence(verdict.certificate)["question"]["budgets"] == [
        {"claim": {"constant": "0", "terms": {"size": "1/32"}}}
    ]
    assert "size/32-zCDP" in str(verdict)
    for change in ({"size": "1/33"}, {"size": "1/31", "n": "1"}, {}):
        forged = copy.deepcopy(nested_evidence(verdict.certificate))
        forged["question"]["budgets"][0]["claim"]["terms"] = change
        assert isinstance(recheck(forged), Rejected), change
    forged = copy.deepcopy(nested_evidence(verdict.certificate))
    forged["question"]["measure"] = "mu"
    assert isinstance(recheck(forged), Rejected)


def test_a_rho_that_grows_too_slowly_is_refuted():
    verdict = check(every_answer, rho="size/33")
    assert verdict.status == "refuted"
    assert verdict.lower.compare(verdict.question.budgets[0].value) > 0


def test_what_grows_is_told_where_a_number_is_asked_for():
    assert 'claim rho="size/32"' in tight_rho(every_answer, time_limit=patience(30)).reason
    assert "rho size/32 follows, which grows; no mu does" in tight_mu(every_answer, time_limit=patience(30)).reason


@pytest.mark.slow
def test_what_else_grows():
    assert check(every_answer, renyi={2: "size/16", 3: "3*size/32"}).status == "proved"
    assert check(every_answer, renyi={2: "size/17"}).status == "refuted"
    assert check(many_rounds, rho="rounds/32").status == "proved"
    assert check(many_rounds, rho="rounds/33").status == "unknown"
    assert check(with_laplace, rho="1/4 + size/32").status == "proved"
    assert check(with_laplace, rho="1/5 + size/32").status != "proved"
    told = tight_rho(every_answer)
    assert (told.status, "size/32" in str(told)) == ("unknown", True)


def test_what_a_value_may_speak_of():
    @mechanism(rho="k/16 + size/8")
    def scaled(q: real_queries(), k=2):
        return [gaussian(answer, sigma=2) for answer in q]

    question = program_question(scaled)
    assert str(question.measured(scaled.measures).budgets[0].growing) == "1/8 + size/8"
    other = program_question(scaled.having(k=4))
    assert str(other.measured(scaled.measures).budgets[0].growing) == "1/4 + size/8"
    sized = program_question(scaled, size=3)
    assert str(sized.measured(scaled.measures).budgets[0].value) == "1/2"
    with pytest.raises(BudgetError, match="speaks of 'n'"):
        check(scaled, rho="n/8")
    with pytest.raises(BudgetError, match="multiplies two names"):
        mechanism(scaled.function, rho="size*size/8")
    with pytest.raises(BudgetError, match="logarithms"):
        mechanism(scaled.function, rho="size*ln(2)")
    assert (
        audit(scaled, size=2, samples=2_000)
        .measures[0]
        .claimed.compare(sized.measured(scaled.measures).budgets[0].value)
        < 0
    )


# ----------------------------------------------------------------------------------------------------- runs that end


@mechanism
def nested(q: real_queries(), rounds: public(integer(low=1))):
    total = 0
    for _ in range(rounds):
        for answer in q:
            if gaussian(answer, sigma=4) > 2:
                continue
            total = total + 1
    return total > 3


@mechanism
def counted(q: real_queries()):
    i = 0
    while i < len(q):
        if gaussian(q[i], sigma=4) > 2:
            return i
        i = i + 1
    return -1


@mechanism
def stuck(q: real_queries()):
    i = 0
    while i < len(q):
        if gaussian(q[i], sigma=4) < 2:
            i = i + 1
    return i


@mechanism
def put_back(q: real_queries()):
    i = 0
    while i < len(q):
        i = i + 1
        if gaussian(q[0], sigma=4) > 2:
            i = 0
    return i


@mechanism
def moving_limit(x: real()):
    i, most = 0, 3
    while i < most:
        i = i + 1
        if gaussian(x, sigma=4) > 2:
            most = most + 1
    return i


@mechanism
def waiting(x: real()):
    noisy = gaussian(x, sigma=1)
    while noisy > 0:
        noisy = noisy + 0
    return False


@mechanism
def divided(q: real_queries(), threshold: public(real())):
    """Where no answer is above the threshold it fails, which is more or less likely: an event with all results is not certain."""
    noisy = gaussian(threshold, sigma=4)
    above = 0
    for answer in q:
        if gaussian(answer, sigma=8) >= noisy:
            above = above + 1
    return 7 // above > 3


@mechanism
def halved(q: real_queries()):
    return len(q) // 2 > 1 and gaussian(q[0], sigma=1) > 0


@pytest.mark.parametrize(
    ("function", "ends"),
    [
        (largest, True),
        (nested, True),
        (counted, True),
        (stuck, False),
        (put_back, False),
        (moving_limit, False),
        (waiting, False),
        (divided, False),
        (halved, True),
    ],
)
def test_which_programs_surely_end(function, ends):
    question = program_question(claiming(function, epsilon=1, delta="1/2"))
    document = question_document(question, program_for_alignment(question.mechanism))
    program = read_program(document, read_declared(document, DEFAULT_LIMITS), DEFAULT_LIMITS)
    assert ends_surely(program) == ends
