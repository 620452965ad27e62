"""D over sequences of actions that are enabled wherever either run may be, against brute force by the definition."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from tests.amounts import selected
from tests.certificates import recheck
from tests.logic.test_logic_processes import BOUNDED, DEPTH, labelled, partial_process, satisfies

from privproof import model_check
from privproof.exact import fraction
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.prism import explore
from privproof_checker import Accepted, Rejected

UNSETTLED = 40
"""Steps after which a sequence on four states can go on for ever: there are fewer supports."""


def rows_of(process: DecisionProcess) -> list[dict[int, dict[int, Fraction]]]:
    """For every state its actions with their distributions."""
    return [
        {
            int(process.action_of[c]): {t: fraction(p) for t, p in process.entries(c)}
            for c in range(*process.choices[s : s + 2])
        }
        for s in range(len(process))
    ]


def admissible(rows: list[dict[int, dict[int, Fraction]]], pair: tuple[int, int], word: tuple[int, ...]) -> bool:
    """Whether a word can be asked of both runs, and be followed by more for ever; by the definition."""

    def moved(states: frozenset[int], action: int) -> frozenset[int] | None:
        if any(action not in rows[s] for s in states):
            return None
        return frozenset(t for s in states for t in rows[s][action])

    @cache
    def lasts(states: frozenset[int], steps: int) -> bool:
        onward = [moved(states, a) for a in range(3)]
        return steps == 0 or any(each is not None and lasts(each, steps - 1) for each in onward)

    here: frozenset[int] | None = frozenset(pair)
    for action in word:
        here = None if here is None else moved(here, action)
    return here is not None and lasts(here, UNSETTLED)


def under(process: DecisionProcess, state: int, word: tuple[int, ...], formula: str) -> Fraction:
    """The probability under an admissible word, by listing all paths."""
    rows = rows_of(process)
    waiting, total = [([state], Fraction(1))], Fraction(0)
    while waiting:
        path, mass = waiting.pop()
        if len(path) == DEPTH + 1:
            total += mass if satisfies(path, formula, process) else 0
        else:
            waiting.extend(([*path, t], mass * p) for t, p in rows[path[-1]][word[len(path) - 1]].items())
    return total


@pytest.mark.parametrize("seed", selected(range(120), 10))
def test_enabled_sequences_of_bounded_formulas(seed):
    process = partial_process(seed)
    rows = rows_of(process)
    words = {
        pair: [word for word in product(range(3), repeat=DEPTH) if admissible(rows, pair, word)]
        for pair in process.related
    }
    for formula in BOUNDED[seed % 4 :: 4]:
        numbers = {
            pair: [tuple(under(process, s, word, formula) for s in pair) for word in listed]
            for pair, listed in words.items()
        }
        for bound, delta in (("2", "0"), ("3/2", "1/10")):
            c, share = Fraction(bound), Fraction(delta)
            broken = {
                s
                for pair, both in numbers.items()
                for s in pair
                if any(p > c * q + share or q > c * p + share for p, q in both)
            }
            empty = {s for pair, both in numbers.items() for s in pair if not both}
            found = model_check(process, f"D[ln({bound}), {delta}]({formula})", missing="enabled")
            for s in found.asked:
                assert found.truth[s] == (0 if s in broken else -1 if s in empty else 1)
            assert found.status == ("refuted" if broken else "unknown" if empty else "proved")
            assert bool(empty) == any("no endless sequence" in reason for reason in found.reasons)
            if found.certificate is not None:
                assert isinstance(recheck(found.certificate), Accepted)
            if broken:
                gap = found.witness
                word = tuple(process.actions.index(a) for a in gap.actions[0])
                assert word in words[tuple(sorted((gap.left, gap.right)))] or len(word) < DEPTH
                assert fraction(gap.left_probability.low) > c * fraction(gap.right_probability.low) + share


def reached(
    process: DecisionProcess, pair: tuple[int, int], before: tuple[int, ...], again: tuple[int, ...]
) -> list[float]:
    """The probability of F a from both states under a periodic sequence, by running it; asserts that it is enabled all along."""
    rows = rows_of(process)
    found = []
    for state in pair:
        masses, total = {state: 1.0}, 0.0
        support = frozenset(pair)
        for step in range(2_000):
            action = before[step] if step < len(before) else again[(step - len(before)) % len(again)]
            assert all(action in rows[s] for s in support)
            support = frozenset(t for s in support for t in rows[s][action])
            total += sum(m for s, m in masses.items() if labelled(process, s, "a"))
            onward: dict[int, float] = {}
            for s, mass in masses.items():
                for t, p in {} if labelled(process, s, "a") else rows[s][action].items():
                    onward[t] = onward.get(t, 0.0) + mass * float(p)
            masses = onward
        found.append(total)
    return found


@pytest.mark.parametrize("seed", selected(range(400, 480), 4))
def test_enabled_sequences_of_endless_formulas(seed):
    process = partial_process(seed)
    rows = rows_of(process)
    lassos = [
        (u, v)
        for n in range(3)
        for u in product(range(3), repeat=n)
        for m in (1, 2)
        for v in product(range(3), repeat=m)
    ]
    for bound, delta in (("2", "0"), ("1", "1/3")):
        found = model_check(process, f"D[ln({bound}), {delta}](F a)", missing="enabled")
        close = next(iter(found.measured.values()))
        for gap in close.directions:
            pair = (gap.left, gap.right)
            if gap.holds is True:
                for before, again in lassos:
                    if admissible(rows, pair, before + again * 16):
                        p, q = reached(process, pair, before, again)
                        assert p <= float(Fraction(bound)) * q + float(Fraction(delta)) + 1e-6
            elif gap.holds is False:
                before, again = (tuple(map(process.actions.index, part)) for part in gap.actions)
                told = reached(process, pair, before, again)
                assert told[0] > float(Fraction(bound)) * told[1] + float(Fraction(delta)) - 1e-9
        assert found.certificate is None or isinstance(recheck(found.certificate), Accepted)


RING = """mdp
global q1 : [0..1]; global q2 : [0..1]; global q3 : [0..1];
module process1 [] q1=1 -> 0.5:(q1'=0)&(q3'=1) + 0.5:(q1'=0)&(q2'=1); endmodule
module process2 [] q2=1 -> 0.5:(q2'=0)&(q1'=1) + 0.5:(q2'=0)&(q3'=1); endmodule
module process3 [] q3=1 -> 0.5:(q3'=0)&(q2'=1) + 0.5:(q3'=0)&(q1'=1); endmodule
init q1+q2+q3>0 endinit
label "one" = q1+q2+q3=1;
//@ neighbours q1=1&q2=1&q3=0 ~ q1=1&q2=1&q3=1
"""


def test_a_ring_in_which_no_sequence_is_enabled():
    """Israeli and Jalfon's ring with 3 processes: soon nobody knows where the last token is, so that nothing can be asked for."""
    process = explore(RING).process
    formula = "D[ln(2), 1/4](F<=6 one)"
    assert model_check(process, formula, missing="enabled").status == "unknown"
    assert [model_check(process, formula, missing=each).status for each in ("stay", "refuse")] == ["refuted", "refuted"]


def two_doors() -> DecisionProcess:
    """From both states `ask` is enabled, and later nothing that both have."""
    return DecisionProcess.of(
        states=["s", "t", "left", "right"],
        actions=["ask", "a", "b"],
        transitions={
            "s": {"ask": {"left": 1}, "a": {"s": 1}},
            "t": {"ask": {"right": 1}, "a": {"t": 1}},
            "left": {"a": {"left": 1}},
            "right": {"b": {"right": 1}},
        },
        labels={"left": "goal"},
        neighbours=[("s", "t")],
    )


def test_a_sequence_must_go_on_for_ever():
    """After `ask` no action is enabled on both sides: that word is left out, and only `a` for ever is compared."""
    found = model_check(two_doors(), "D[0, 0](F goal)", missing="enabled")
    assert found.status == "proved"
    assert "left out" in " ".join(found.notes)
    assert model_check(two_doors(), "D[0, 0](F goal)").status == "refuted"


def test_nothing_that_is_compared_is_never_proved():
    shut = DecisionProcess.of(
        states=["s", "t"],
        actions=["a", "b"],
        transitions={"s": {"a": {"s": 1}}, "t": {"b": {"t": 1}}},
        neighbours=[("s", "t")],
    )
    for formula in ("D[0, 0](F s)", "D[0, 1](F s)", "D[inf, 0](G s)", "!D[0, 0](F s)"):
        found = model_check(shut, formula, missing="enabled")
        assert found.status == "unknown"
        assert any("no endless sequence of actions is enabled both in s and in t" in reason for reason in found.reasons)


def test_certificates_about_other_sequences_are_rejected():
    """An action that is not enabled is no witness, and a proof over enabled sequences is none over all."""
    refuted = model_check(two_doors(), "D[0, 0](F goal)")
    document = json.loads(json.dumps(refuted.certificate))
    assert isinstance(recheck(document), Accepted)
    document["question"]["process"]["missing"] = "enabled"
    assert isinstance(recheck(document), Rejected)
    proved = model_check(two_doors(), "D[0, 0](F goal)", missing="enabled")
    for other in ("stay", "refuse"):
        document = json.loads(json.dumps(proved.certificate))
        document["question"]["process"]["missing"] = other
        assert isinstance(recheck(document), Rejected)
