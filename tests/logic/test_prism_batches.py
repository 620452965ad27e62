"""PRISM models are explored state by state, or all waiting states at once: the same process, or the same complaint."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.amounts import selected

from privproof.errors import PrivproofError
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.prism import explore
from privproof.logic.prism import state_batches as batches
from privproof.logic.prism import state_exploration as exploring
from privproof.logic.prism.columnwise_steps import ColumnExpressions, ColumnwiseStates
from privproof.logic.prism.expression_meanings import Scope
from privproof.logic.prism.prism_expressions import parse_expression
from privproof.logic.prism.prism_tokens import PrismSource

ATOMS = ("x{m}", "y{m}", "x1", "y2", "g")
CONDITIONS = (
    "{a}<{n}",
    "{a}={n}",
    "{a}!={b}",
    "{a}+{b}>{n}",
    "b1",
    "!b2 | {a}>=2",
    "({a}>1 => b1)",
    "({a}<=1 <=> b2)",
    "mod({a},2)=0",
    "{a}>1/2",
    "{a}*0.5<{b}",
    "floor({a}/2)=0",
    "(x{m}>0 & 2/x{m}>=1)",
    "({a}>0 ? b1 : {b}=1)",
    "min({a},{b})=0",
    "max({a},{b},1)<=2",
    "-{a}>-2",
    "pow({a},2)<=4",
)
UPDATES = (
    "{n}",
    "mod({a}+1,3)",
    "min({a}+1,3)",
    "max({a}-1,0)",
    "3-{a}",
    "floor({a}/2)",
    "(b1 ? {n} : {a})",
    "mod({a}*{b}+{n},4)",
    "{a}",
    "x{m}+1",
)
ROWS = (
    "{u}",
    "1/2:{u} + 1/2:{v}",
    "1/3:{u} + 1/3:{v} + 1/3:{w}",
    "x{m}/3:{u} + 1-x{m}/3:{v}",
    "y{m}/3:{u} + 1-y{m}/2:{v}",
    "0.25:{u} + 0.75:{u}",
    "(g+x2=0 ? 1 : 1/2):{u} + (g+x2=0 ? 0 : 1/2):{v}",
)


def random_model(seed: int) -> str:
    source = random.Random(seed)

    def filled(text: str, m: int) -> str:
        while "{" in text:
            for name, kinds in (("{a}", ATOMS), ("{b}", ATOMS), ("{m}", (str(m),)), ("{n}", "0123")):
                text = text.replace(name, source.choice(kinds), 1)
            for name in ("{u}", "{v}", "{w}"):
                if name in text:
                    text = text.replace(name, update(m), 1)
        return text

    def update(m: int) -> str:
        changed = source.sample([f"x{m}", f"y{m}", f"b{m}"], source.choice((1, 1, 2)))
        parts = [
            f"({name}'={filled(source.choice(('true', 'false', '!b1', 'b1 & b2') if name[0] == 'b' else UPDATES), m)})"
            for name in changed
        ]
        return "&".join(parts)

    lines = [source.choice(("dtmc", "mdp", "mdp"))]
    if source.random() < 0.3:
        lines.append("init x1+x2<=1 & y1=0 & y2=0 & g=0 & !b1 endinit")
    begin = "" if len(lines) > 1 else " init 0"
    lines.append(f"global g : [0..1]{begin};")
    for m in (1, 2):
        lines.append(f"module m{m} x{m} : [0..3]{begin}; y{m} : [0..3]{begin}; b{m} : bool;")
        for action in ["a", *(source.choice(("", "", "a", "c", f"own{m}")) for _ in range(source.randint(2, 6)))]:
            guard = " & ".join(filled(source.choice(CONDITIONS), m) for _ in range(source.randint(1, 2)))
            row = filled(source.choice(ROWS), m)
            lines.append(f"[{action}] {guard} -> {row};")
        lines.append("endmodule")
    lines.append(f'label "l" = {filled(source.choice(CONDITIONS), 1)};')
    lines.append(f"rewards {filled(source.choice(CONDITIONS), 2)} : x1+1/2; [a] true : x2*y1; [] b1 : 2; endrewards")
    return "\n".join(lines)


def told(process: DecisionProcess) -> dict[str, object]:
    """Everything that is in a process."""
    numbers = [str(number) for number in process.numbers]
    return {
        "names": list(process.names),
        "actions": process.actions,
        "choices": process.choices.tolist(),
        "action_of": process.action_of.tolist(),
        "rows": process.rows.tolist(),
        "targets": process.targets.tolist(),
        "values": [numbers[value] for value in process.values.tolist()],
        "labels": {name: marks.tolist() for name, marks in process.labels.items()},
        "initial": process.initial,
        "variables": {name: column.tolist() for name, column in process.variables.items()},
        "rewards": {
            name: (
                [gain.of_state(s) for s in range(len(process))],
                [gain.of_choice(c) for c in range(len(process.rows) - 1)],
            )
            for name, gain in process.rewards.items()
        },
    }


def outcome(text: str, monkeypatch: pytest.MonkeyPatch, *, at_once: bool, most: int = 10_000) -> object:
    monkeypatch.setattr(exploring, "_WIDE", 1 if at_once else 10**9)
    monkeypatch.setattr(exploring, "_NARROW", 0)
    try:
        return told(explore(text, self_loops=True, most_states=most).process)
    except PrivproofError as problem:
        return str(problem)


@pytest.mark.parametrize("seed", selected(range(4_000), 60))
def test_the_same_either_way(seed, monkeypatch):
    text = random_model(seed)
    most = 30 if seed % 20 == 0 else 10_000
    assert outcome(text, monkeypatch, at_once=True, most=most) == outcome(text, monkeypatch, at_once=False, most=most)


def test_few_that_wait_are_taken_one_by_one_again(monkeypatch):
    """A path after a broad beginning: the table of states is given back, and the process is the same."""
    text = """mdp module m x : [0..400] init 0; y : [0..20] init 0;
      [go] x=0 & y=0 -> 1/2:(y'=5) + 1/2:(y'=10); [up] x=0 & y>0 & y<20 -> (y'=y+1); [on] y=20 & x<400 -> (x'=x+1);
    endmodule"""
    alone = outcome(text, monkeypatch, at_once=False)
    monkeypatch.setattr(exploring, "_PATIENCE", 3)
    monkeypatch.setattr(exploring, "_WIDE", 1)
    monkeypatch.setattr(exploring, "_NARROW", 5)
    assert told(explore(text, self_loops=True).process) == alone


def test_large_numbers_do_not_overflow():
    """2^40 times itself leaves 64 bits: such a guard is computed exactly."""
    high = 2**40
    scope = Scope(PrismSource("", text := "x*x > 1"), variables={"x": (0, "int")})
    expressions = ColumnExpressions([(0, high)])
    meaning = expressions.shared(scope.meaning(parse_expression(PrismSource("", text))))
    assert expressions.values(meaning, ColumnwiseStates(2, [np.array([1, high])])).tolist() == [False, True]
    # what is added up on the way counts, too
    scope = Scope(PrismSource("", text := "x+x+x+x-x-x-x-x = 0"), variables={"x": (0, "int")})
    expressions = ColumnExpressions([(0, 2**61)])
    meaning = expressions.shared(scope.meaning(parse_expression(PrismSource("", text))))
    assert expressions.values(meaning, ColumnwiseStates(2, [np.array([1, 2**61])])).tolist() == [True, True]


def test_states_of_too_many_bits_are_taken_one_by_one(monkeypatch):
    variables = " ".join(f"v{i} : [0..1000000] init 0;" for i in range(4))
    text = f"dtmc module m {variables} [] v3<5 -> 1/2:(v3'=v3+1) + 1/2:(v0'=1); [] v3=5 -> true; endmodule"
    called = []
    monkeypatch.setattr(batches.Batches, "step", lambda *_: called.append(1))
    assert len(outcome(text, monkeypatch, at_once=True)["names"]) == 12
    assert not called
