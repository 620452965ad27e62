"""Privacy profiles: known answers, words about them, and what cannot be asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from privproof import Horizon, Pair, Question, QuestionError, Scenario, ScenarioError, Words, rational, tight_epsilon
from privproof.errors import PrivproofError
from privproof.exact import INFINITE, epsilon, fraction, log
from privproof.exact.rounding import float_above
from privproof.library.above_threshold import above_threshold, above_threshold_two_copies
from privproof.library.noisy_max import noisy_max_hmm, noisy_max_question
from privproof.models import HiddenMarkovModel, MarkovChain, Transducer
from privproof.profiles import (
    Curve,
    RealEnclosure,
    Situation,
    privacy_loss_distribution,
    privacy_profile,
    renyi_divergence,
)
from privproof.profiles.delta_curves import hull
from privproof.profiles.loss_distributions import rounded_losses
from privproof.profiles.profile_games import Game
from privproof.profiles.profile_pairs import PairTable
from privproof.scenarios import Neighbours

q = rational


def one_step(rows, relation=None, **more):
    """A mechanism that reads one input and draws its output by a table."""
    outputs = list(dict.fromkeys(o for row in rows.values() for o in row))
    return Question(
        model=Transducer(
            states=["begin", *(f"read {v}" for v in rows)],
            inputs=list(rows),
            outputs=outputs,
            initial={"begin": 1},
            steps=[{"begin": {v: [(1, f"read {v}")] for v in rows}}],
            finish={f"read {v}": row for v, row in rows.items()},
        ),
        scenario=Scenario(neighbours=relation or Neighbours.each(within=1)),
        **more,
    )


SURVEY = one_step({"0": {"no": "3/4", "yes": "1/4"}, "1": {"no": "1/4", "yes": "3/4"}}, name="survey")
FOUR = one_step(
    {
        "0": {"a": "0.3", "b": "0.3", "c": "0.2", "d": "0.2"},
        "1": {"a": "0.2", "b": "0.2", "c": "0.3", "d": "0.3"},
    }
)


def test_randomised_response():
    profile = privacy_profile(SURVEY)
    assert profile.curve == Curve(((q("3/4"), q("1/4")), (q("1/4"), q("3/4"))))
    assert profile.epsilon() == log(3)
    assert profile.corners == ((1, q("1/2")), (3, 0))
    assert profile.total_variation == q("1/2")
    assert profile.delta("ln(2)") == q("1/4")
    assert profile.delta("ln(3)") == profile.delta("5") == 0
    assert profile.epsilon("1/4") == log(2)
    assert profile.epsilon("1/2") == profile.epsilon("1") == epsilon(0)
    assert profile.attained_by == Situation("neighbours", ("0",), ("1",))
    assert profile.worst("ln(3)") is None
    assert str(profile.worst("ln(2)")) == (
        "inputs 0 against 1: the event {no} has probability 3/4 = 0.75 on the left and 1/4 = 0.25 on the right"
    )


def test_an_irrational_bound_is_enclosed():
    delta = privacy_profile(SURVEY).delta("1/2")
    assert isinstance(delta, RealEnclosure)
    assert float(delta.low) == pytest.approx(0.75 - 0.25 * 1.6487212707001282)
    assert 0 < delta.high - delta.low < q("1e-50")
    assert str(delta) == "0.33782"


def test_the_set_sense_and_the_pointwise_sense_differ():
    profile = privacy_profile(FOUR)
    assert profile.delta(0) == q("1/5")
    assert profile.pointwise_delta(0) == q("1/10")
    assert profile.epsilon("0.15") == log("9/8")
    assert profile.pointwise_epsilon("0.15") == epsilon(0)
    assert [str(outcome) for outcome in profile.worst(0).event] == ["a", "b"]


@pytest.mark.parametrize(("size", "improved", "tight"), [(2, True, "12/5"), (3, True, "24/7"), (3, False, "8")])
def test_noisy_max_as_a_transducer_and_as_a_hidden_markov_model(size, improved, tight):
    left = privacy_profile(noisy_max_question(size, improved=improved))
    right = privacy_profile(noisy_max_hmm(size, improved=improved))
    assert isinstance(left.compared, PairTable)
    assert isinstance(right.compared, Game)
    assert left.epsilon() == log(tight)
    assert (left.curve, left.single) == (right.curve, right.single)
    for order in (1, "3/2", 2, 5, "inf"):
        one, other = renyi_divergence(left, order), renyi_divergence(right, order)
        assert one.lower.compare(other.upper) <= 0
        assert other.lower.compare(one.upper) <= 0
        assert one.exact == other.exact or order in (1, "3/2")


def test_all_neighbours_are_compared_once():
    found = privacy_profile(noisy_max_question(4, improved=True)).compared
    assert found.pairs == 7**4 - 3**4
    assert found.distinct == 129
    changed = {
        relation: privacy_profile(noisy_max_question(3, improved=True, relation=relation)).compared.pairs
        for relation in ("each", "one", "monotone")
    }
    assert changed == {"each": 7**3 - 27, "one": 3 * 4 * 9, "monotone": 2 * (5**3 - 27)}


@pytest.mark.parametrize("size", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_streams_agree_with_the_engine(size):
    question = replace(above_threshold(), horizon=Horizon.up_to(size))
    profile = privacy_profile(question)
    for delta in ("1/100", "1/10", "1/4"):
        assert tight_epsilon(question, delta).tight == profile.epsilon(delta)
    worst = profile.worst("ln(3/2)")
    assert worst.left - q("3/2") * worst.right == profile.delta("ln(3/2)")


def test_inputs_may_depend_on_what_was_seen():
    """The first output says which of the two inputs the second step treats unfairly."""
    listen = {"0": [("1/2", "x", "x"), ("1/2", "y", "y")], "1": [("1/2", "x", "x"), ("1/2", "y", "y")]}
    fair = [("1/2", "end", "h"), ("1/2", "end", "t")]
    model = Transducer(
        states=["s", "x", "y", "end"],
        inputs=["0", "1", "2"],
        outputs=["x", "y", "h", "t"],
        initial={"s": 1},
        steps=[
            {"s": {**listen, "2": listen["0"]}},
            {
                "x": {"0": [(1, "end", "h")], "1": fair, "2": fair},
                "y": {"0": fair, "1": fair, "2": [(1, "end", "h")]},
            },
        ],
    )
    question = Question(model=model, scenario=Scenario(neighbours=Neighbours.each(within=1)))
    profile = privacy_profile(question)
    assert profile.total_variation == q("1/2")
    situation = profile.worst(0).situation
    assert not situation.left
    assert {(move.after, frozenset((move.left, move.right))) for move in situation.moves[1:]} == {
        (("x",), frozenset("01")),
        (("y",), frozenset("12")),
    }
    assert "after x: 0 | 1" in str(situation) or "after x: 1 | 0" in str(situation)
    assert tight_epsilon(question, "1/4").lower == profile.epsilon("1/4") == INFINITE


def test_outputs_on_the_way_and_one_at_the_end():
    echo = {v: [("3/4", f"s{v}", v), ("1/4", f"s{v}", "1" if v == "0" else "0")] for v in ("0", "1")}
    rows = {"s0": {"0": "2/3", "1": "1/3"}, "s1": {"0": "1/3", "1": "2/3"}}
    model = Transducer(
        states=["b", "s0", "s1"],
        inputs=["0", "1"],
        outputs=["0", "1"],
        initial={"b": 1},
        steps=[{"b": echo}],
        finish=rows,
    )
    for relation in (Neighbours.each(within=1), Neighbours.pairs([(("0",), ("1",))])):
        profile = privacy_profile(Question(model=model, scenario=Scenario(neighbours=relation)))
        assert profile.epsilon() == log(6)
        assert profile.curve.likelihoods[0] == (q("1/2"), q("1/12"))


def test_what_only_one_side_can_show():
    profile = privacy_profile(one_step({"0": {"a": "9/10", "b": "1/10"}, "1": {"a": 1}}))
    assert profile.epsilon() == profile.epsilon("1/20") == INFINITE
    assert profile.epsilon("1/10") == epsilon(0)
    assert profile.delta("inf") == profile.delta("100") == q("1/10")
    assert renyi_divergence(profile, 2).exact == INFINITE
    assert profile.curve == Curve(((q("1/10"), q(0)), (q("9/10"), q("9/10"))))
    assert profile.corners == ((1, q("1/10")),)


def test_equal_situations():
    profile = privacy_profile(one_step({"0": {"a": 1}, "1": {"a": 1}}))
    assert profile.epsilon() == epsilon(0)
    assert profile.total_variation == 0
    assert renyi_divergence(profile, "3/2").exact == renyi_divergence(profile, 1).exact == epsilon(0)
    assert profile.composed(5).epsilon() == epsilon(0)


def test_pairs_of_initial_distributions():
    chain = MarkovChain(
        states=["a", "b", "x", "y"],
        transitions={"a": {"x": "3/4", "y": "1/4"}, "b": {"x": "1/4", "y": "3/4"}},
        labels={"x": ["x"], "y": ["y"]},
    )
    pair = Pair.of(chain, "secret", {"a": 1}, {"b": 1})
    profile = privacy_profile(Question(model=chain, scenario=Scenario(pairs=(pair,)), horizon=Horizon.exactly(2)))
    assert profile.curve == privacy_profile(SURVEY).curve
    assert profile.attained_by.pair == "secret"
    complete = Scenario(pairs=(pair,), words=Words(ending="complete"))
    assert privacy_profile(Question(model=chain, scenario=complete)).curve == profile.curve


def test_divergences():
    profile = privacy_profile(SURVEY)
    assert renyi_divergence(profile, 2).exact == log("7/3")
    assert str(renyi_divergence(profile, 2)) == "ln(7/3) ≈ 0.847298"
    assert str(renyi_divergence(SURVEY, 1)) == "≈ 0.549306"
    assert renyi_divergence(profile, "inf").exact == log(3)
    orders = [renyi_divergence(profile, order) for order in (1, "3/2", 2, "5/2", 3, 100, "inf")]
    assert all(a.upper.compare(b.lower) < 0 for a, b in pairwise(orders))


def test_composition():
    profile = privacy_profile(SURVEY)
    assert profile.composed(1) == profile.curve
    assert profile.composed(3).epsilon() == log(27)
    assert profile.composed(3).at(q(1)) == q("11/16")
    assert len(profile.composed(20).likelihoods) == 21


def test_points_for_a_plot():
    profile = privacy_profile(SURVEY)
    points = profile.points(5, up_to=1)
    assert [point.epsilon for point in points] == [epsilon(Fraction(i, 4)) for i in range(5)]
    assert points[0].delta == RealEnclosure(q("1/2"), q("1/2"))
    assert all(a.delta.low > b.delta.high for a, b in pairwise(points))
    assert profile.csv(3) == "epsilon,delta\n0,0.5\n0.55,0.316687\n1.1,0\n"


def test_the_hull_takes_the_best_of_both():
    steep = Curve.of([(q("1/2"), q("1/10")), (q("1/2"), q("9/10"))])
    long = Curve.of([(q("9/10"), q("1/2")), (q("1/10"), q("1/2"))])
    both = hull([*steep.corners, *long.corners])
    for c in map(q, ("0", "1/2", "1", "6/5", "2", "5", "6")):
        assert both.at(c) == max(steep.at(c), long.at(c))


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        (above_threshold(), QuestionError, "the horizon is unbounded"),
        (above_threshold_two_copies(horizon=Horizon.exactly(3)), ScenarioError, "the words are restricted"),
        (replace(SURVEY, horizon=Horizon.exactly(5)), QuestionError, "does not fit"),
        (noisy_max_question(14, improved=True), QuestionError, "more than 200000"),
        (one_step({"0": {"a": 1}, "5": {"a": 1}}), ScenarioError, "no two inputs are neighbours"),
        (one_step({"0": {"a": 1}, "red": {"a": 1}}), ScenarioError, "'red' is not a number"),
        (one_step({"0": {"a": 1}, "1": {"a": 1}}, Neighbours.pairs([("0", "9")])), ScenarioError, "unknown input '9'"),
        (one_step({"0": {"a": 1}, "1": {"a": 1}}, Neighbours.pairs([("00", "11")])), ScenarioError, "reads 1"),
    ],
)
def test_what_cannot_be_asked(question, error, message):
    with pytest.raises(error, match=message):
        privacy_profile(question)


def test_runs_that_have_not_ended():
    model = HiddenMarkovModel(
        states=["a", "b"],
        observations=["o"],
        transitions={"a": {"a": "1/2", "b": "1/2"}},
        emissions={"a": {"o": 1}, "b": {"o": 1}},
    )
    scenario = Scenario(pairs=(Pair.of(model, "p", {"a": 1}, {"b": 1}),), words=Words(ending="complete"))
    with pytest.raises(QuestionError, match="have not ended after 3 letters"):
        privacy_profile(Question(model=model, scenario=scenario, horizon=Horizon.up_to(3)))


def test_nonsense():
    profile = privacy_profile(SURVEY)
    with pytest.raises(QuestionError, match="outside"):
        renyi_divergence(profile, "1/2")
    with pytest.raises(QuestionError, match="at least once"):
        profile.composed(0)
    with pytest.raises(QuestionError, match="at least two points"):
        profile.points(1)
    with pytest.raises(PrivproofError, match="nan"):
        profile.delta(float("nan"))
    assert profile.delta(0.5) == profile.delta("1/2")


# ---------------------------------------------------------------------------------------------------- the accountant


def test_losses_are_rounded_up_exactly():
    curve = Curve.of([(q("3/4"), q("1/4")), (q("1/8"), q("1/8")), (q("1/8"), q("5/8"))])
    losses, infinite = rounded_losses(curve, q("1/10"))
    assert (losses, infinite) == ({11: q("3/4"), 0: q("1/8"), -16: q("1/8")}, 0)
    assert fraction(q("1/3")) <= Fraction(float_above(q("1/3"))) < fraction(q("1/3")) + Fraction(1, 10**15)


def test_without_the_accountant(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(PrivproofError, match="privproof\\[accounting\\]"):
        privacy_loss_distribution(privacy_profile(SURVEY))


@pytest.mark.parametrize("question", [SURVEY, FOUR, noisy_max_question(2, improved=True)])
def test_the_accountant(question):
    pytest.importorskip("dp_accounting")
    profile = privacy_profile(question)
    loss = privacy_loss_distribution(profile)
    for times in (1, 10):
        exact, composed = profile.composed(times), loss.self_compose(times)
        for delta in ("1/10", "1/100"):
            tight = float(exact.epsilon(delta).decimal(digits=12))
            assert tight - 1e-9 <= composed.get_epsilon_for_delta(float(q(delta))) <= tight + times * 1e-4 + 1e-9
    with pytest.raises(QuestionError, match="not positive"):
        privacy_loss_distribution(profile, interval=0)
