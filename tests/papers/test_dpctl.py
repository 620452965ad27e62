"""Every number of the dpCTL* paper ("Model Checking Differentially Private Properties"), reproduced or corrected."""

from __future__ import annotations

from itertools import product

import pytest
from tests.certificates import recheck

from privproof import Horizon, check, epsilon, log, model_check, rational
from privproof.library.above_threshold import above_threshold as above_threshold_stream
from privproof.logic.library.formula_examples import FORMULAS
from privproof.logic.library.logic_models import (
    above_threshold,
    double_survey,
    from_automaton,
    geometric,
    interactive_survey,
    subsampling_majority,
    survey,
)
from privproof_checker import Accepted


def between(found):
    """The two probabilities of the worst pair, where they are exact."""
    gap = found.witness
    assert gap.left_probability.exact
    assert gap.right_probability.exact
    return gap.left_probability.low, gap.right_probability.low


def test_survey_is_ln_3_private_and_no_less():
    for output in ("out1", "out0"):
        found = model_check(survey(), f"D[ln(3), 0](X {output})")
        assert found.status == "proved"
        assert between(found) == (rational("3/4"), rational("1/4"))
        assert found.witness.epsilon == (log(3), log(3))
        assert model_check(survey(), f"D[ln(299/100), 0](X {output})").status == "refuted"


def test_survey_by_delta_alone():
    """Section 6: "one cannot decrease delta = .5 without increasing epsilon"."""
    found = model_check(survey(), "D[0, 1/2](X out1)")
    assert (found.status, found.witness.delta.low) == ("proved", rational("1/2"))
    assert model_check(survey(), "D[0, 0.499](X out1)").status == "refuted"


def test_geometric_is_ln_2_private_in_every_output():
    found = model_check(geometric(), "all k in 0..5: D[ln(2), 0](X out{k})")
    assert found.status == "proved"
    for measured in found.measured.values():
        worst = found.worst(measured)
        assert worst.epsilon == (log(2), log(2))
    assert model_check(geometric(), "D[ln(1.99), 0](X out0)").status == "refuted"


def test_double_survey():
    model = double_survey()
    found = model_check(model, "D[ln(9), 0](X (out1 & X out1))")
    assert (found.status, between(found)) == ("proved", (rational("9/16"), rational("1/16")))
    assert found.witness.epsilon == (log(9), log(9))
    every = "all a in {out1, out0}: all b in {out1, out0}: D[ln(9), 0](X (a & X b))"
    assert model_check(model, every).status == "proved"
    assert model_check(model, "D[ln(3), 0](X X out1)").witness.epsilon == (log(3), log(3))
    nested = model_check(model, "D[ln(3), 0](X (out1 & D[ln(3), 0](X out1)))")
    assert nested.status == "proved"
    by_delta = model_check(model, "D[0, 1/2](X (out1 & X out1))")
    assert (by_delta.status, by_delta.witness.delta.low) == ("proved", rational("1/2"))


def test_subsampling_majority_with_enclosed_laplace_noise():
    """The paper has no numbers; the delta that epsilon = 1 needs is about 0.0854 for delta = 1/2."""
    found = model_check(subsampling_majority(), "D[1, 1/2](F out1) & D[1, 1/2](F out0)", certify=False)
    assert found.computed == "proved"
    assert rational("0.085413429") < found.witness.delta.low < found.witness.delta.high < rational("0.085413430")


def test_interactive_survey_needs_ln_4_for_the_accurate_question():
    model = interactive_survey()
    assert model_check(model, "D[ln(4), 0](X out1) & D[ln(4), 0](X out0)").status == "proved"
    found = model_check(model, "D[ln(3), 0](X out1)")
    assert (found.status, found.witness.actions) == ("refuted", (("H",), ()))
    assert between(found) == (rational("4/5"), rational("1/5"))


def bottoms_then_top(k):
    return f"((G[1,{k}] bot) & X^{k + 1} top)" if k else "(X top)"


def test_above_threshold_one_pair_by_proposition_2():
    """D[0, 0.17] for t3 r5 / t3 r4: the largest over full-information schedulers minus the least, for each k; the peak is k = 1."""
    model = above_threshold().having_only([("t3r5", "_t3r4")])
    needed = {}
    for k in range(6):
        found = model_check(model, f"D[0, 17/100]{bottoms_then_top(k)}")
        assert found.status == "proved"
        needed[k] = found.witness.delta.high
    assert max(needed, key=needed.get) == 1
    assert rational("0.162206") < needed[1] < rational("0.162208")


@pytest.mark.parametrize(("loss", "value", "k"), [("1", "0.714721", 2), ("0", "0.731641", 1)])
def test_above_threshold_all_pairs_by_proposition_2(loss, value, k):
    """The paper's (1, 0.74): at epsilon 1 Proposition 2 gives 0.714721; 0.731641, which rounds to 0.74, is its value at epsilon 0."""
    model = above_threshold()
    found = {}
    for number in range(5):
        answer = model_check(model, f"D[{loss}, 37/50]{bottoms_then_top(number)}", certify=number == k)
        assert answer.computed == "proved"
        assert answer.status == ("proved" if number == k else "unknown")
        close = next(iter(answer.measured.values()))
        found[number] = max(gap.delta.high for gap in close.directions)
    top = max(found.values())
    assert abs(top - rational(value)) < rational("0.000001")


@pytest.mark.parametrize(
    ("loss", "k", "low", "high"),
    [("1", 2, "0.16322158", "0.16322159"), ("0", 1, "9947/30720", "9947/30720")],
)
def test_above_threshold_exactly_over_query_schedulers(loss, k, low, high):
    found = model_check(above_threshold(thresholds=[5]), f"D[{loss}, 1/2]{bottoms_then_top(k)}", tight=True)
    assert found.status == "proved"
    gap = max((found.worst(m) for m in found.measured.values()), key=lambda gap: gap.delta.low)
    assert rational(low) <= gap.delta.low <= gap.delta.high <= rational(high)


@pytest.mark.parametrize(("loss", "holds", "fails"), [("1", "0.1633", "0.1632"), ("0", "0.3238", "0.3237")])
@pytest.mark.slow
def test_above_threshold_for_every_number_of_answers(loss, holds, fails):
    """The same bound for outputs of every length, by a potential; with a certificate."""
    question = above_threshold_stream(high=5)
    proved = check(question, loss, holds, pointwise=True, horizon=Horizon.unbounded())
    assert proved.status == "proved"
    assert isinstance(recheck(proved.certificate), Accepted)
    assert check(question, loss, fails, pointwise=True, horizon=Horizon.unbounded()).status == "refuted"


@pytest.mark.parametrize("example", [e for e in FORMULAS if "subsampling" not in e.name], ids=lambda e: e.name)
def test_the_library_of_formulas(example):
    found = model_check(example.process(), example.formula, states=example.states)
    assert found.status == "proved"
    assert found.certificate is not None
    assert isinstance(recheck(found.certificate), Accepted)


def accepted(moves, word, start, accepting):
    """The probability that a probabilistic automaton accepts a word, from the definition."""
    masses = {start: rational(1)}
    for letter in word:
        onward = {}
        for state, mass in masses.items():
            for target, p in moves[state][letter].items():
                onward[target] = onward.get(target, 0) + mass * rational(p)
        masses = onward
    return sum((mass for state, mass in masses.items() if state in accepting), rational(0))


def test_the_reduction_behind_theorem_1():
    """``start |= D[0, cutpoint](F hit)`` iff no word is accepted with probability above the cutpoint."""
    moves = {
        "a": {"0": {"a": "1/2", "b": "1/4", "c": "1/4"}, "1": {"a": "1/3", "c": "2/3"}},
        "b": {"0": {"b": "2/3", "c": "1/3"}, "1": {"a": "3/4", "c": "1/4"}},
        "c": {"0": {"c": 1}, "1": {"c": 1}},
    }
    best = max(accepted(moves, word, "a", {"b"}) for n in range(8) for word in product("01", repeat=n))
    assert rational("1/4") < best < rational("1/3")
    for cutpoint, status in (("0.6", "proved"), ("1/4", "refuted")):
        model = from_automaton(
            states=["a", "b", "c"], letters=["0", "1"], moves=moves, start="a", accepting=["b"], cutpoint=cutpoint
        )
        found = model_check(model, f"D[0, {cutpoint}](F hit)")
        assert found.status == status
        if status == "refuted":
            before, _ = found.witness.actions
            assert accepted(moves, [a for a in before if a != "end"], "a", {"b"}) > rational("1/4")


def test_the_paper_s_own_reduction_is_decidable():
    """With the cutpoint 0 the question is plain reachability: D[1, 0](F hit) fails iff an accepting state can be reached."""
    moves = {"a": {"0": {"a": 1}}, "b": {"0": {"b": 1}}}
    for accepting, status in ((["b"], "proved"), (["a"], "refuted")):
        model = from_automaton(
            states=["a", "b"], letters=["0"], moves=moves, start="a", accepting=accepting, cutpoint=0
        )
        assert model_check(model, "D[1, 0](F hit)").status == status


def test_epsilon_is_exact_where_e_is_irrational():
    assert epsilon("1").compare(log("2.71828")) > 0
    assert model_check(survey(), "D[1.0986, 0](X out1)").status == "refuted"
    assert model_check(survey(), "D[1.0987, 0](X out1)").status == "proved"
