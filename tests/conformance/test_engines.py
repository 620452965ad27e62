"""Every engine on every case it supports: all agree with the known ratio, with brute force, and with the checker."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest
from tests.amounts import ALL
from tests.brute import INFINITE, hmm_ratio, transducer_ratio
from tests.cases import CASES
from tests.certificates import recheck

from privproof import check, epsilon, log, rational, tight_epsilon, tight_rho
from privproof.engines import ENGINES, EngineRequest
from privproof.exact import Budget, fraction
from privproof.library import EXAMPLES
from privproof.models import Transducer
from privproof.scenarios import ProgramQuestion
from privproof_checker import Accepted

EVERY = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
BELOW, ABOVE = Fraction(10**12 - 1, 10**12), Fraction(10**12 + 1, 10**12)


@cache
def question_of(name):
    """The question of a case, compiled and tried out once for all engines."""
    return next(case for case in CASES if case.name == name).question()


def supporting(case, budget, *, tight=False):
    """The engines that take the question."""
    question = question_of(case.name)
    request = EngineRequest(question, tight=True) if tight else EngineRequest(question.under(budget))
    for engine in ENGINES:
        if (
            question.family in engine.families
            and engine.name not in case.costly
            and engine.load().supports(request) is None
        ):
            yield engine.name


def confirmed(verdict):
    assert isinstance(recheck(verdict.certificate), Accepted)
    return verdict


def holds(case, budget):
    """Whether the budget is kept, by the known ratio."""
    if budget.infinite:
        return case.ratio != INFINITE
    return case.ratio != INFINITE and budget.compare_bound(rational(case.ratio)) >= 0


def assert_all_agree(case, budget, turn=None):
    """Whether every engine gives the known answer; in the suite one of them, another for each case and each turn."""
    names = list(supporting(case, Budget(budget)))
    assert names, "no engine supports the case"
    if not (ALL or turn is None):
        names = [names[(CASES.index(case) + turn) % len(names)]]
    for name in names:
        verdict = check(question_of(case.name), budget, engine=name)
        if budget.infinite and name == "smt":
            assert verdict.status == "unknown"
            continue
        assert verdict.status == ("proved" if holds(case, budget) else "refuted"), (name, verdict)
        confirmed(verdict)
        if verdict.status == "refuted":
            assert not budget.allows(verdict.witness.left_probability, verdict.witness.right_probability)
        elif verdict.witness is not None:
            assert budget.allows(verdict.witness.left_probability, verdict.witness.right_probability)


def test_names_are_distinct():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert len({engine.name for engine in ENGINES}) == len(ENGINES)


@pytest.mark.parametrize("case", [case for case in CASES if case.small], ids=lambda case: case.name)
def test_the_known_ratio_is_what_brute_force_finds(case):
    question = question_of(case.name)
    if isinstance(question.model, Transducer):
        finite = question.model.finish is not None
        lengths = (
            range(len(question.model.steps), len(question.model.steps) + 1)
            if finite
            else range(question.horizon.low, question.horizon.high + 1)
        )
        assert transducer_ratio(question, lengths) == case.ratio
    else:
        assert hmm_ratio(question, range(question.horizon.low, question.horizon.high + 1)) == case.ratio


@EVERY
def test_the_tight_epsilon(case):
    names = list(supporting(case, Budget(epsilon("inf")), tight=True))
    assert names
    for name in names:
        verdict = confirmed(tight_epsilon(question_of(case.name), engine=name))
        if case.ratio == INFINITE:
            assert (verdict.status, str(verdict.lower)) == ("refuted", "inf")
            assert verdict.witness.right_probability == 0 < verdict.witness.left_probability
        else:
            assert verdict.status == "proved", name
            assert verdict.tight == log(case.ratio) or (case.ratio == 1 and verdict.tight == epsilon(0))
            assert fraction(verdict.witness.ratio) == case.ratio


@EVERY
def test_at_the_tight_epsilon_and_just_beside_it(case):
    if case.ratio == INFINITE:
        pytest.skip("there is no tight epsilon")
    for turn, factor in enumerate((BELOW, Fraction(1), ABOVE)):
        if case.ratio * factor >= 1:
            assert_all_agree(case, log(case.ratio * factor), turn)


@EVERY
def test_at_the_ends(case):
    for turn, text in enumerate(("0", "inf")):
        assert_all_agree(case, epsilon(text), turn)


IRRATIONAL = [
    pytest.param(case, text, id=f"{text}-{case.name}", marks=() if (row + column) % 3 == 0 else pytest.mark.slow)
    for row, case in enumerate(CASES)
    for column, text in enumerate(("1/2", "ln(2)+1/3", "ln(2)/2"))
]
"""Every case and every bound; in the suite one bound of each case."""


@pytest.mark.parametrize(("case", "text"), IRRATIONAL)
def test_irrational_bounds(case, text):
    assert_all_agree(case, epsilon(text), turn=2)


@EVERY
def test_rational_budgets_close_to_a_logarithm(case):
    """The decimals of the tight epsilon, cut after 60 digits: one too small, the next too large."""
    if case.ratio in (INFINITE, 1) or case.costly:
        pytest.skip("there is no logarithm to come close to")
    low = truncated_logarithm(case.ratio, 60)
    question = question_of(case.name)
    assert check(question, low).status == "refuted"
    assert check(question, low + Fraction(1, 10**60)).status == "proved"


def truncated_logarithm(ratio, digits):
    from flint import arb, ctx, fmpq

    before, ctx.prec = ctx.prec, 4 * digits + 64
    try:
        scaled = arb(fmpq(ratio.numerator, ratio.denominator)).log() * 10**digits
        return Fraction(int(scaled.floor().unique_fmpz()), 10**digits)
    finally:
        ctx.prec = before


def test_an_irrational_budget_between_neighbours_of_the_ratio():
    """ln(4)/2 is ln(2): written otherwise, the budget is the same."""
    case = next(case for case in CASES if case.name == "geometric")
    for text in ("ln(4)/2", "ln(8)/3", "2*ln(2)/2", "ln(4)-ln(2)", "ln(2)+1/3-1/3"):
        assert_all_agree(case, epsilon(text))


@pytest.mark.parametrize(
    "example",
    [
        # the suite asks about the programs with Laplace noise in tests/papers/test_checkdp.py, and compares with what is known
        pytest.param(example, id=example.name, marks=pytest.mark.slow if example.name.startswith("laplace-") else ())
        for example in EXAMPLES
    ],
)
def test_every_example_of_the_library_comes_to_its_known_verdict(example):
    question = example.question()
    said, _, tight = example.known.partition(";")
    if isinstance(question, ProgramQuestion):
        verdict = confirmed(check(question))
        assert verdict.status == said.split()[0]
        return
    verdict = confirmed(check(question) if question.claims else tight_epsilon(question))
    if said.startswith("tight epsilon"):
        wanted = said.removeprefix("tight epsilon ").split(",")[0]
        assert str(verdict.tight) == wanted
    else:
        assert verdict.status == said.split()[0]
        if tight.endswith("is tight"):
            found = tight_epsilon(question) if question.budget else tight_rho(example.mechanism)
            assert str(found.tight) == tight.removesuffix("is tight").strip()


@pytest.mark.parametrize("name", ["tensors", "frontier"])
def test_witnesses_change_as_few_inputs_as_possible(name):
    for case in CASES:
        question = question_of(case.name)
        if name in supporting(case, Budget(epsilon("inf")), tight=True) and case.name.startswith(("naive", "improved")):
            if "hmm" in case.name:
                continue
            found = tight_epsilon(question, engine=name).witness
            other = "frontier" if name == "tensors" else "tensors"
            again = tight_epsilon(question, engine=other).witness
            assert sum(x.changed for x in found.letters) == sum(x.changed for x in again.letters), case.name
