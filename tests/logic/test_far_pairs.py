"""D on decision processes in columns: small ones are asked so too, and compared with what is known of them, and with sequences."""

from __future__ import annotations

import json
import random
import warnings
from dataclasses import replace
from itertools import product

import pytest
from flint import fmpq
from tests.amounts import selected
from tests.certificates import nested, recheck
from tests.logic.test_bounds_by_vectors import random_process

from privproof import model_check
from privproof.engines.search_monitor import Monitor
from privproof.logic import far_query_pairs as far_pairs
from privproof.logic import model_checking as checking
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import parse_formula
from privproof.logic.prism import explore
from privproof.logic.query_schedulers import Lasso
from privproof_checker import Rejected

PATHS = (
    "F a",
    "G a",
    "a U b",
    "F<=3 (a & b)",
    "G<=2 a",
    "X a",
    "a W b",
    "F[1,3] a",
    "X (F<=2 b)",
    "G F a",
    "F P>=1/2 [ X a ]",
)
BUDGETS = ("0, 0", "ln(2), 0", "1/2, 1/8", "ln(4), 1/4", "0, 1/2")


def question(seed: int):
    draw = random.Random(seed)
    process = random_process(seed, chain=False)
    return process, f"D[{draw.choice(BUDGETS)}]({draw.choice(PATHS)})", draw.choice(("stay", "refuse", "enabled")), draw


@pytest.mark.parametrize("near", [20_000, -1])
@pytest.mark.parametrize("seed", selected(range(2_000), 8))
def test_verdicts_in_columns_are_those_of_small_processes(seed, near, monkeypatch):
    process, asked, missing, draw = question(seed)
    known = model_check(process, asked, missing=missing, monitor=Monitor.within(1))
    with monkeypatch.context() as patched:
        patched.setattr(checking, "LARGE", -1)
        patched.setattr(far_pairs, "_NEAR", near)
        found = model_check(process, asked, missing=missing, certify=True, monitor=Monitor.within(1))
    assert {known.status, found.status} != {"proved", "refuted"}
    if found.status == "proved" and missing != "enabled" and "P>" not in asked:
        _no_sequence_violates(process.refusing() if missing == "refuse" else process, asked, draw)


def _no_sequence_violates(process, asked, draw):
    """Some sequences of actions, each with the exact probabilities of the chain along it."""
    formula = parse_formula(asked)
    completed, path = process.completed, asked[asked.index("](") + 2 : -1]
    for _ in range(3):
        before, repeated = (tuple(draw.choices(range(len(completed.actions)), k=k)) for k in (draw.randint(0, 3), 2))
        for pair in process.related:
            chain, shows, starts = far_pairs.chain_along(completed, pair, Lasso(before, repeated))
            chain = replace(chain, labels={label: marks[shows] for label, marks in process.labels.items()})
            likely = next(iter(model_check(chain, f"P=? [ {path} ]", states=list(map(str, starts))).measured.values()))
            left, right = (likely.least(start).low for start in starts)
            assert formula.epsilon.allows(left, right, formula.delta)
            assert formula.epsilon.allows(right, left, formula.delta)


@pytest.mark.parametrize("seed", selected(range(400), 8))
def test_what_is_changed_in_evidence_is_not_believed(seed, monkeypatch):
    """A claim that fails is never accepted as proved with the evidence of one that holds, nor the other way round."""
    monkeypatch.setattr(checking, "LARGE", -1)
    monkeypatch.setattr(far_pairs, "_NEAR", -1 if seed % 2 else 20_000)
    process, asked, missing, _ = question(seed)
    found = model_check(process, asked, missing=missing, certify=True, monitor=Monitor.within(1))
    if nested(found.certificate) is None or not found.in_columns:
        return
    whole = json.loads(json.dumps(nested(found.certificate)))
    assert not isinstance(recheck(whole), Rejected)
    opposite = "refuted" if found.status == "proved" else "proved"
    turned = {**whole, "verdict": opposite, "evidence": {**whole["evidence"], "state": found.asked[0]}}
    assert isinstance(recheck(turned), Rejected)
    for change in ("pairs", "formula", "process"):
        other = json.loads(json.dumps(whole))
        item = other["evidence"]["operators"][0]
        if change == "pairs":
            item["pairs"] = []
        elif change == "formula":
            other["question"]["formula"][1]["delta"] = other["question"]["formula"][1]["epsilon"] = "0"
            if other["question"]["formula"] == whole["question"]["formula"]:
                continue
        else:
            del other["question"]["process"]["taken"]
        assert isinstance(recheck(other), Rejected), change


HOP = """mdp
module hop
  x : [0..2500] init 0;
  side : [0..1] init 0;
  [go] x<2500 -> 1/2:(x'=x+1) + 1/2:(x'=min(x+2, 2500));
  [turn] x<2 -> 2/3:(side'=1-side) + 1/3:true;
  [] x=2500 -> true;
endmodule
label "end" = x=2500;
//@ neighbours x=0 & side=0 ~ x=0 & side=1
"""


def test_one_that_is_not_large_has_a_verdict_by_vectors_where_nothing_else_decides_it(monkeypatch):
    monkeypatch.setattr(checking, "LARGE", 20_000)
    process = explore(HOP.replace("2500", "1500")).process
    assert len(process.targets) < checking.LARGE
    for asked in ("D[ln(2), 0](F (end & side=0))", "D[0, 1/2](G F (end & side=0))"):
        found = model_check(process, asked, monitor=Monitor.within(20))
        assert found.status == "refuted", (asked, found.reasons)
        assert not found.reasons
    both = model_check(process, "D[ln(2), 0](F (end & side=0)) & P>=0 [ F end ]", monitor=Monitor.within(2))
    assert both.status == "unknown"  # the other operator has its own evidence, of another kind


def test_choices_may_be_listed_in_any_order():
    """Every state has every action, in two different orders."""
    rows = {"s": {"x": {"s": 1}, "y": {"t": 1}}, "t": {"y": {"s": "1/2", "t": "1/2"}, "x": {"t": 1}}}
    process = DecisionProcess.of(
        states=["s", "t"], actions=["x", "y"], transitions=rows, labels={"t": ["a"]}, neighbours=[("s", "t")]
    )
    completed = process.completed
    assert [completed.actions[a] for a in completed.action_of] == ["x", "y", "x", "y"]
    assert [completed.entries(choice) for choice in (2, 3)] == [process.entries(3), process.entries(2)]
    chain, shows, (left, right) = far_pairs.chain_along(completed, (0, 1), Lasso((1,), (0,)))
    assert [shows[t] for t, _ in chain.entries(right)] == [0, 1]
    assert [shows[t] for t, _ in chain.entries(left)] == [1]


def test_a_large_process_has_a_verdict_by_what_is_near_and_by_vectors(monkeypatch):
    """Thousands of transitions; what four steps lead to is a few states, what the end needs is all of them."""
    monkeypatch.setattr(far_pairs, "_NEAR", 2_000)
    monkeypatch.setattr(checking, "LARGE", 5_000)
    process = explore(HOP).process
    assert len(process.targets) > 5_000
    for asked, wanted, far in [
        ("D[ln(2), 0](X side=0)", "refuted", far_pairs.NearPairs),
        ("D[ln(2), 1/3](F<=4 (x>=3 & side=0))", "refuted", far_pairs.NearPairs),
        ("D[ln(2), 3/4](F<=2 (x>=3 & side=0))", "proved", far_pairs.NearPairs),
        ("D[0, 0](F (end & !end))", "proved", far_pairs.FarPairs),
        ("D[ln(2), 0](F (end & side=0))", "refuted", far_pairs.FarPairs),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = model_check(process, asked)
        assert found.status == wanted, (asked, found.reasons)
        assert isinstance(next(iter(found.measured.values())).far, far)


BOUNDED = {
    "F<=3 (a & b)": (3, lambda a, b: any(x and y for x, y in zip(a, b, strict=True))),
    "G<=2 a": (2, lambda a, b: all(a)),
    "X X b": (2, lambda a, b: b[2]),
    "F[1,3] a": (3, lambda a, b: any(a[1:])),
    "a U<=3 b": (3, lambda a, b: any(b[i] and all(a[:i]) for i in range(4))),
    "!(F<=2 b)": (2, lambda a, b: not any(b)),
}


@pytest.mark.parametrize("seed", selected(range(4_000), 12))
def test_every_sequence_of_actions_is_tried(seed, monkeypatch):
    """Formulas that look a few steps ahead: what is said in columns is what all sequences say, each run added up."""
    draw = random.Random(seed)
    process, missing = random_process(seed, chain=False), draw.choice(("stay", "refuse"))
    path, budget = draw.choice(list(BOUNDED)), draw.choice(BUDGETS)
    read = process.refusing() if missing == "refuse" else process
    asked = parse_formula(f"D[{budget}]({path})")
    steps, satisfied = BOUNDED[path]

    def step(state, action):
        for choice in range(read.choices[state], read.choices[state + 1]):
            if read.action_of[choice] == action:
                return read.entries(choice)
        return [(state if missing == "stay" else len(read) - 1, fmpq(1))]

    def likely(state, word):
        runs = [((state,), fmpq(1))]
        for action in word:
            runs = [((*run, t), p * q) for run, p in runs for t, q in step(run[-1], action)]
        marks = [read.labels[label] for label in ("a", "b")]
        return sum((p for run, p in runs if satisfied(*([mark[s] for s in run] for mark in marks))), fmpq(0))

    words = list(product(range(len(read.actions)), repeat=steps))
    holds = all(
        asked.epsilon.allows(likely(s, word), likely(t, word), asked.delta)
        for word in words
        for pair in read.related
        for s, t in (pair, pair[::-1])
    )
    monkeypatch.setattr(checking, "LARGE", -1)
    monkeypatch.setattr(far_pairs, "_NEAR", -1 if seed % 2 else 20_000)
    found = model_check(process, asked, missing=missing, certify=True, monitor=Monitor.within(2))
    assert found.status == ("proved" if holds else "refuted")
