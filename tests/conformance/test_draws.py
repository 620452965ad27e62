"""Separate draws: the engine agrees with the engines for words at small sizes, and with closed forms at large ones."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.amounts import selected
from tests.certificates import nested, recheck
from tests.conformance import separate_draws as cases
from tests.programs import HEADER, load

from privproof import Mechanism, check, tight_epsilon
from privproof.asking import ask
from privproof.compiling.draws import draws_question, separate_draws
from privproof.compiling.programs import mechanism_question
from privproof.engines.engine_protocol import EngineRequest
from privproof.evidence.verdicts import Verdict
from privproof.exact import epsilon, log
from privproof_checker import Accepted


def _sizes(mechanism: Mechanism) -> list[int | None]:
    (declared,) = mechanism.inputs.values()
    if declared.shape != "list":
        return [None]
    return [1, 3] if len(declared.values or ()) == 2 else [1, 2]


def _by_draws(mechanism: Mechanism, size: int | None) -> Verdict | None:
    question = draws_question(mechanism, size=size, least=0)
    return None if question is None else ask(EngineRequest(question, tight=True), "draws")


@pytest.mark.parametrize("mechanism", cases.SEPARATE, ids=lambda m: m.name)
def test_the_tight_epsilon_is_that_of_the_words(mechanism: Mechanism) -> None:
    for size in _sizes(mechanism):
        found = _by_draws(mechanism, size)
        assert found is not None, size
        words = tight_epsilon(mechanism_question(mechanism, size=size))
        assert found.status == words.status, (size, found)
        assert found.upper == words.upper, size
        assert found.lower == words.lower, size
        assert found.tight is not None or found.lower.infinite, "data attain the bound"
        assert isinstance(recheck(nested(found.certificate)), Accepted)


@pytest.mark.parametrize("mechanism", cases.OTHERS, ids=lambda m: m.name)
def test_what_is_looked_at_has_no_such_model(mechanism: Mechanism) -> None:
    assert separate_draws(mechanism.pinned(), 3) is None


@pytest.mark.parametrize("mechanism", cases.FORGETTING, ids=lambda m: m.name)
def test_what_another_pass_forgets_is_never_guessed(mechanism: Mechanism) -> None:
    for size in (2, 3):
        found = _by_draws(mechanism, size)
        if found is not None:
            words = tight_epsilon(mechanism_question(mechanism, size=size))
            assert found.upper.compare(words.upper) >= 0
            assert found.lower.compare(words.lower) <= 0


@pytest.mark.parametrize("mechanism", [cases.histogram, cases.cells, cases.sum_and_count], ids=lambda m: m.name)
def test_passes_that_are_taken_apart_give_the_same(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    together = _by_draws(mechanism, 4)
    monkeypatch.setattr("privproof.compiling.draws._MANY_TURNS", 2)
    apart = _by_draws(mechanism, 4)
    assert together is not None
    assert apart is not None
    assert len(apart.question.model.passes) >= 2  # type: ignore[attr-defined]
    assert apart.tight == together.tight


def test_a_histogram_too_narrow_for_its_data_is_bounded_from_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = _by_draws(cases.histogram, 7)
    monkeypatch.setattr("privproof.compiling.draws._MANY_TURNS", 2)
    found = _by_draws(cases.histogram, 7)
    assert exact is not None
    assert found is not None
    assert found.lower.compare(exact.upper) <= 0 <= found.upper.compare(exact.lower)


_TURNS = (
    *("a += x", "b += a", "a = (a + x) % 3", "a, b = b, a", "b = max(a, b)", "b = b + 1 - x", "b = a"),
    *("if x == 1:\n            a += 1", "if x:\n            b = 0", "if a > 1:\n            b += x"),
)
_WRITTEN = ("", "", "out.append(NOISE(a))", "out.append(NOISE(b))\n        out.append(NOISE(x))")
_ENDS = (
    *("NOISE(a)", "NOISE(a), NOISE(b)", "[NOISE(c) for c in (a, b, a + b)]", "NOISE(b), (NOISE(a), 1)"),
    *("NOISE(a + b), NOISE(len(q))", "[NOISE(a), b]", "NOISE(a) if a == b else NOISE(b), NOISE(b)"),
)


def _random_program(seed: int) -> str:
    chance = Random(seed)
    relation = chance.choice(("one", "each", "monotone"))
    lines = ["@mechanism(neighbours=RELATION)", "def m(q: queries(0, 1)):", "    a = b = 0", "    out = []"]
    written = chance.choice(_WRITTEN)
    lines += ["    for x in q:", *(f"        {line}" for line in chance.sample(_TURNS, chance.randint(1, 3)))]
    lines += [f"        {written}"] if written else []
    if chance.random() < 0.4:
        lines += ["    for x in q:", f"        {chance.choice(_TURNS)}"]
    lines += [f"    return {f'out, {chance.choice(_ENDS[:2])}' if written else chance.choice(_ENDS)}"]
    noise = 'truncated_geometric(ARGUMENT, alpha="1/2", low=0, high=1)'
    text = re.sub(r"NOISE\(([^()]*(?:\([^()]*\))?)\)", lambda m: noise.replace("ARGUMENT", m[1]), "\n".join(lines))
    return HEADER + text.replace("RELATION", repr(relation)) + "\n"


@pytest.mark.parametrize("seed", selected(range(200), 10))
def test_random_programs_agree_with_the_words(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = load(tmp_path, _random_program(seed))
    found = _by_draws(mechanism, 2)
    if found is not None:
        words = tight_epsilon(mechanism_question(mechanism, size=2))
        assert (found.status, found.lower) == (words.status, words.lower)
        assert found.upper.compare(words.upper) >= 0
        monkeypatch.setattr("privproof.compiling.draws._MANY_TURNS", 0)
        apart = _by_draws(mechanism, 2)
        if apart is not None:
            assert apart.lower.compare(words.upper) <= 0 <= apart.upper.compare(words.lower)


# ------------------------------------------------------------------------------------------------------------ large sizes


def test_a_count_of_a_thousand_records_is_exact() -> None:
    verdict = tight_epsilon(cases.count, size=1000)
    assert (verdict.engine, verdict.tight) == ("draws", log(2))
    assert verdict.certified.lower
    assert verdict.certified.upper


def test_a_sum_of_a_thousand_answers_loses_their_range() -> None:
    verdict = tight_epsilon(cases.sum_and_count, size=500)
    assert verdict.tight == log(Fraction(2**2 * 3))


def test_twenty_bits_are_no_million_states() -> None:
    verdict = tight_epsilon(cases.bits, size=20)
    assert verdict.tight == log(3**20)
    assert len(verdict.witness.event) == 20
    assert tight_epsilon(cases.bits_of_one, size=200).tight == log(6)


def test_a_histogram_of_hundreds_of_records_loses_two_cells() -> None:
    assert tight_epsilon(cases.cells, size=300).tight == log(4)


def test_far_claims_are_refuted_at_once() -> None:
    verdict = check(cases.bits, "ln(10)", size=1000)
    assert verdict.status == "refuted"
    assert verdict.witness.ratio == 3**1000
    assert verdict.upper == epsilon("1000*ln(3)")
    assert check(cases.leaks_the_sum, 100, size=1000).lower.infinite


def test_a_delta_is_left_to_the_words() -> None:
    verdict = check(cases.count, "ln(2)", "1/100", size=12)
    assert (verdict.status, verdict.engine) == ("proved", "events")


# ----------------------------------------------------------------------------------------------------------- the checker


def _certificate(mechanism: Mechanism, size: int | None) -> dict[str, Any]:
    verdict = _by_draws(mechanism, size)
    assert verdict is not None
    return copy.deepcopy(dict(nested(verdict.certificate) or {}))


def test_a_smaller_epsilon_is_refused() -> None:
    certificate = _certificate(cases.count, 3)
    certificate["question"]["epsilon"] = "ln(199/100)"
    assert not isinstance(recheck(certificate), Accepted)


@pytest.mark.parametrize("mechanism", [cases.count, cases.histogram, cases.bits_of_one], ids=lambda m: m.name)
def test_a_pass_with_less_in_it_is_refused(mechanism: Mechanism) -> None:
    certificate = _certificate(mechanism, 3)
    for part in ("moves", "ends"):
        changed = copy.deepcopy(certificate)
        rows = changed["question"]["passes"][0][part]
        number = 0 if part == "moves" else max(i for i, row in enumerate(rows) if row is not None)
        rows[number] = [] if part == "moves" else None
        assert not isinstance(recheck(changed), Accepted), part


def test_a_witness_of_strangers_is_refused() -> None:
    certificate = _certificate(cases.count, 3)
    certificate["witness"]["left"] = [1, 1, 1]
    certificate["witness"]["right"] = [0, 0, 0]
    assert not isinstance(recheck(certificate), Accepted)


def test_a_law_with_less_noise_is_refused() -> None:
    certificate = _certificate(cases.count, 3)
    for law in certificate["question"]["laws"]:
        law["arguments"][3] = {"text": "1/3"}
    assert not isinstance(recheck(certificate), Accepted)


def test_running_the_function_must_agree_with_the_model() -> None:
    question = draws_question(cases.count, size=3, least=0)
    assert question is not None
    laws = tuple(replace(law, arguments=(law.arguments[0] // 2, *law.arguments[1:])) for law in question.model.laws)
    verdict = ask(EngineRequest(replace(question, model=replace(question.model, laws=laws)), tight=True), "draws")
    assert verdict.status == "unknown"
    assert "running the function" in verdict.reason
