"""Bounds on the tight epsilon that a certificate shows beside its verdict: a proof of a larger epsilon, a refutation of a smaller one."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.certificates import nested, recheck

from privproof import check, read_question, tight_epsilon
from privproof.evidence import gate
from privproof.exact import INFINITE, epsilon
from privproof.library.laplace.laplace_noisy_max import noisy_max, noisy_max_value
from privproof.library.laplace.sums import laplace_mechanism, noisy_histogram_all_change, partial_sum
from privproof.library.noisy_max import noisy_max_question
from privproof.release import verify
from privproof.release.markov_chains import Chain
from privproof.release.release_question import Geometric, Laplace
from privproof.release.series_queries import count, histogram
from privproof_checker import Accepted, Rejected

SURVEY = Path(__file__).parent.parent.parent / "examples" / "models" / "survey.yaml"


def released(query, noise, *, length=8):
    chain = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
    return verify(chain, length=length, query=query, noise=noise, epsilon="1/10")


BELOW = {
    "an alignment that is tight": lambda: tight_epsilon(laplace_mechanism),
    "an alignment that is nearly tight": lambda: tight_epsilon(noisy_max),
    "an alignment at one size": lambda: tight_epsilon(partial_sum, size=2),
    "an alignment for every size": lambda: tight_epsilon(noisy_histogram_all_change),
    "an event": lambda: tight_epsilon(read_question(SURVEY), "1/4"),
    "another event": lambda: tight_epsilon(read_question(SURVEY), "1/100"),
    "a histogram": lambda: released(histogram(["rest", "walk"]), Laplace.of(1)),
    "a long series": lambda: released(count("walk"), Geometric.of("1/2"), length=200),
}
ABOVE = {
    "words": lambda: check(noisy_max_question(3, improved=False), "ln(2)"),
    "a release with Laplace noise": lambda: released(count("walk"), Laplace.of(8)),
    "a release with geometric noise": lambda: released(count("walk"), Geometric.of("1/2")),
    "a histogram": lambda: released(histogram(["rest", "walk"]), Laplace.of(8)),
}
UPPER_LEFT_OPEN = ("a long series",)
"""All its laws take the checker long."""


class Asked(Mapping):
    """The verdicts on some questions, each asked when it is first looked at, and the answers that passed the gate with them."""

    def __init__(self, questions):
        self.questions, self.verdicts, self.answers = questions, {}, {}

    def __getitem__(self, name):
        if name not in self.verdicts:
            confirmed, confirm = {}, gate.confirm

            def listen(answer, certificate):
                confirmed[id(certificate)] = answer
                return confirm(answer, certificate)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(gate, "confirm", listen)
                self.verdicts[name] = self.questions[name]()
            self.answers[name] = confirmed[id(self.verdicts[name].certificate)]
        return self.verdicts[name]

    def __iter__(self):
        return iter(self.questions)

    def __len__(self):
        return len(self.questions)


@pytest.fixture(scope="session")
def verdicts():
    return {"below": Asked(BELOW), "above": Asked(ABOVE)}


@pytest.mark.parametrize(("member", "name"), [*(("below", n) for n in BELOW), *(("above", n) for n in ABOVE)])
def test_both_bounds_are_certified(member, name, verdicts):
    verdict = verdicts[member][name]
    assert member in nested(verdict.certificate)
    assert verdict.lower.compare(epsilon(0)) > 0
    assert verdict.certified.lower, verdict
    assert verdict.certified.upper or name in UPPER_LEFT_OPEN, verdict
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


@pytest.mark.parametrize("name", BELOW)
def test_without_the_refutation_the_lower_bound_is_not_certified(name, verdicts):
    certificate = dict(nested(verdicts["below"][name].certificate))
    with_it = recheck(certificate)
    del certificate["below"]
    without = recheck(certificate)
    assert isinstance(without, Accepted)
    assert without.lower is None or without.lower.compare(with_it.lower) < 0
    assert without.verdict == with_it.verdict
    assert "below" not in without.details


@pytest.mark.parametrize(("member", "name"), [*(("below", n) for n in BELOW), *(("above", n) for n in ABOVE)])
def test_one_part_exchanged_and_it_is_refused(member, name, verdicts):
    verdict = verdicts[member][name]
    certificate = nested(verdict.certificate)
    inside = certificate[member]
    wrong = {"below": ["inf", "100", str(verdict.upper), [1]], "above": ["0", "1/1000", None, [1]]}[member]
    mutants = [{**inside, "epsilon": value} for value in wrong]
    mutants += [
        {**inside, "evidence": certificate["evidence"]},
        {**inside, "evidence": {}},
        {**inside, "evidence": None},
        {**inside, "verdict": "refuted"},
        {**inside, "question": certificate["question"]},
        {"epsilon": inside["epsilon"]},
        {"evidence": inside["evidence"]},
        [inside],
        None,
    ]
    if certificate["verdict"] == "refuted" and member == "below":
        mutants.remove({**inside, "evidence": certificate["evidence"]})  # this one refutes a little less, and is true
    for mutant in mutants:
        outcome = recheck({**certificate, member: mutant})
        assert isinstance(outcome, Rejected), (mutant, outcome)


@pytest.mark.parametrize("name", BELOW)
def test_the_refutation_of_another_question_is_refused(name, verdicts):
    own = verdicts["below"][name]
    for other, verdict in verdicts["below"].items():
        if other == name:
            continue
        outcome = recheck({**nested(own.certificate), "below": nested(verdict.certificate)["below"]})
        same_question = {name, other} == {"an event", "another event"}
        assert isinstance(outcome, Rejected) or same_question, (name, other, outcome)
        if isinstance(outcome, Accepted):
            assert outcome.lower.compare(own.upper) <= 0


@pytest.mark.parametrize("name", ["an alignment that is tight", "an alignment for every size"])
def test_the_runs_of_another_program_are_refused(name, verdicts):
    """The trees are compared with the text: a probability that is a little off is not that of the program."""
    certificate = copy.deepcopy(dict(nested(verdicts["below"][name].certificate)))
    for side in ("left", "right"):
        changed = copy.deepcopy(certificate)
        for leaf in changed["below"]["evidence"][side]["leaves"]:
            leaf["noises"] = [[kind, str(2)] for kind, _ in leaf["noises"]]
        outcome = recheck(changed)
        assert isinstance(outcome, Rejected), outcome
    changed = copy.deepcopy(certificate)
    for side in ("left", "right"):
        for leaf in changed["below"]["evidence"][side]["leaves"]:
            leaf["noises"] = [[kind, str(2)] for kind, _ in leaf["noises"]]
    changed["below"]["epsilon"] = "0"
    outcome = recheck(changed)
    assert isinstance(outcome, Rejected)
    assert "another probability in the program" in outcome.reason


def test_without_a_source_there_is_no_lower_bound_of_a_program(verdicts):
    certificate = dict(nested(verdicts["below"]["an alignment that is tight"].certificate))
    question = {name: part for name, part in certificate["question"].items() if name != "source"}
    outcome = recheck({**certificate, "question": question})
    assert isinstance(outcome, Rejected)
    assert "without a source" in outcome.reason
    plain = {name: part for name, part in certificate.items() if name != "below"}
    assert isinstance(recheck({**plain, "question": question}), Accepted)


def test_what_of_the_lower_bound_comes_from_the_source_is_told(verdicts):
    outcome = recheck(nested(verdicts["below"]["an alignment that is tight"].certificate))
    assert outcome.details["source"]["established"] == [
        "the instructions that the alignment is about, and the inputs",
        "both probabilities of the event of the lower bound",
    ]
    assert not outcome.details["source"]["taken"]
    assert "the lower bound, witnessed" in outcome.how["words"]


def test_a_smaller_epsilon_is_refuted_where_the_claim_is_an_expression(verdicts):
    verdict = verdicts["below"]["an alignment for every size"]
    assert verdict.formula is not None
    outcome = recheck(nested(verdict.certificate))
    assert outcome.lower.compare(verdict.lower) == 0
    assert outcome.upper.compare(INFINITE) == 0


@pytest.mark.parametrize("name", BELOW)
def test_an_answer_cannot_say_more_than_its_refutation_shows(name, verdicts):
    """With a lower bound that exceeds what was established, the gate says that it is not certified, or refuses it."""
    verdict = verdicts["below"][name]
    answer = verdicts["below"].answers[name]
    certificate = {**nested(verdict.certificate)}
    outcome = recheck(certificate)
    more = epsilon("100") if outcome.upper.infinite else outcome.upper
    raised = gate.confirm(replace(answer, lower=more, upper=more), certificate)
    if not isinstance(raised, gate.Refusal) and verdict.tight is None:
        assert not raised.certified.lower


def test_a_formula_has_no_lower_bound():
    from privproof import model_check
    from privproof.logic.library.logic_models import survey

    certificate = nested(model_check(survey(), "D[ln(3), 0](X out1)").verdict.certificate)
    outcome = recheck({**certificate, "below": {"epsilon": "0", "evidence": {"method": "logic"}}})
    assert isinstance(outcome, Rejected)
    assert "only where an epsilon is asked about" in outcome.reason


def test_a_bound_of_one_size_does_not_become_one_of_another():
    """A loss at size 3 says nothing about the size 2."""
    three, two = tight_epsilon(noisy_max_value, size=3), tight_epsilon(noisy_max_value, size=2)
    assert "below" in nested(three.certificate)
    outcome = recheck({**nested(two.certificate), "below": nested(three.certificate)["below"]})
    assert isinstance(outcome, Rejected)
