"""The worst way: a bound on all words, exact where a word attains it, and never below the truth."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from tests.amounts import selected
from tests.certificates import nested, recheck

from privproof import Mechanism, Transducer, check, mechanism, queries, tight_epsilon, truncated_geometric
from privproof.compiling import mechanism_question, word_problem
from privproof.engines.search_monitor import Monitor
from privproof.engines.words.worst_way_engine import largest_product
from privproof.exact import log
from privproof.library import noisy_max_question
from privproof.scenarios import Neighbours, Question, Scenario
from privproof_checker import Accepted


def _noisy_max(relation: str) -> Mechanism:
    @mechanism(neighbours=relation)
    def largest(q: queries(0, 3)):  # type: ignore[valid-type]
        best, winner = -1, 0
        for i, value in enumerate(q):
            noisy = truncated_geometric(value, alpha="1/2", low=0, high=3)
            if noisy > best:
                best, winner = noisy, i
        return winner

    found: Mechanism = largest
    return found


@pytest.mark.parametrize(("relation", "ratio"), [("each", 2**10), ("one", 2), ("monotone", 2**10)])
def test_noisy_max_on_ten_queries_is_exact_without_a_table(relation: str, ratio: int) -> None:
    question = mechanism_question(_noisy_max(relation), size=10)
    bound = largest_product(question, Monitor())
    assert bound == ratio
    if relation != "monotone":
        verdict = tight_epsilon(question)
        assert (verdict.engine, verdict.tight) == ("worst-way", log(ratio))
        assert verdict.certified.upper
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)


def test_a_claim_below_the_bound_is_refuted_and_one_above_proved() -> None:
    question = mechanism_question(_noisy_max("each"), size=10)
    assert check(question, "10*ln(2)").status == "proved"
    refuted = check(question, "ln(1000)")
    assert (refuted.status, refuted.engine, refuted.upper) == ("refuted", "worst-way", log(2**10))


def test_a_bound_that_no_word_attains_is_left_to_others() -> None:
    verdict = tight_epsilon(noisy_max_question(3, improved=True), engine="tensors")
    bound = largest_product(noisy_max_question(3, improved=True), Monitor())
    assert bound is not None
    assert verdict.upper.compare(log(bound)) < 0


def _random_question(seed: int) -> Question:
    chance = Random(seed)
    states, inputs = [f"s{i}" for i in range(3)], ["0", "1", "2"]

    def row() -> list[tuple[str, str]]:
        weights = [chance.randint(0, 3) for _ in states]
        weights[chance.randrange(3)] += 1
        return [(f"{w}/{sum(weights)}", s) for w, s in zip(weights, states, strict=True) if w]

    steps = [{s: {v: row() for v in inputs} for s in states} for _ in range(3)]
    finish = {s: {t.upper(): p for p, t in row()} for s in states}
    model = Transducer(
        states=states, inputs=inputs, outputs=["S0", "S1", "S2"], initial={"s0": 1}, steps=steps, finish=finish
    )
    make = chance.choice((Neighbours.each, Neighbours.one, Neighbours.monotone))
    return Question(model=model, scenario=Scenario(neighbours=make(within=1)))


@pytest.mark.parametrize("seed", selected(range(200), 15))
def test_the_bound_is_never_below_the_truth(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    question = _random_question(seed)
    truth = tight_epsilon(question, engine="tensors")
    bound = largest_product(question, Monitor())
    if bound is not None:
        assert truth.upper.compare(log(bound)) <= 0
    monkeypatch.setattr("privproof.engines.words.worst_way_engine._FEW", 0)
    found = tight_epsilon(question, engine="worst-way")
    assert found.lower.compare(truth.lower) <= 0
    if found.status == "proved":
        assert found.tight == truth.tight


def test_a_smaller_epsilon_is_refused_by_the_checker() -> None:
    certificate: dict[str, Any] = copy.deepcopy(
        dict(nested(check(mechanism_question(_noisy_max("one"), size=10), "ln(2)").certificate) or {})
    )
    assert certificate["evidence"] == {"method": "worst way"}
    certificate["question"]["epsilon"] = "ln(199/100)"
    certificate.pop("witness", None)
    assert not isinstance(recheck(certificate), Accepted)


def test_large_arrays_are_refused_by_their_bytes() -> None:
    @mechanism
    def largest(q: queries(0, 10)):  # type: ignore[valid-type]
        best, winner = -1, 0
        for i, value in enumerate(q):
            noisy = truncated_geometric(value, alpha="1/3", low=0, high=10)
            if noisy > best:
                best, winner = noisy, i
        return winner

    from privproof.engines.words import output_tensors as tensors

    reason = tensors.reason_against(word_problem(mechanism_question(largest, size=7)))
    assert reason is not None
    assert "MiB" in reason
