"""Numbers and truths that are computed from what several properties say."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from tests.amounts import selected
from tests.logic.test_prism_properties import CHOICE, DIE

from privproof import FormulaError, QuestionError
from privproof.engines.search_monitor import Monitor
from privproof.exact import fraction, rational
from privproof.logic.computed_quantities import Amount, compute, evaluate
from privproof.logic.prism.computed_values import Computed
from privproof.logic.prism.expression_meanings import Scope
from privproof.logic.prism.prism_expressions import parse_expression
from privproof.logic.prism.prism_model import explore
from privproof.logic.prism.prism_properties import read_property
from privproof.logic.prism.prism_tokens import PrismSource
from privproof.logic.prism.property_files import parse_properties


def values(text: str, model: str = DIE, others=None):
    """What a computed property says, in every state that it is about."""
    found = read_property(explore(model), text, others or {})
    assert isinstance(found.written, Computed), found
    shown = []
    for value in compute(found, monitor=Monitor()).values:
        if isinstance(value, Amount):
            assert value.exact
            shown.append("infinite" if value.low is None else fraction(value.low))
        else:
            shown.append(value)
    return shown


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P=? [ F s=7 ] + P=? [ F d=6 ]", Fraction(7, 6)),
        ("1 - P=? [ F d=6 ]", Fraction(5, 6)),
        ("-P=? [ F d=6 ]", Fraction(-1, 6)),
        ("P=? [ F d=6 ] / P=? [ F big ]", Fraction(1, 3)),
        ("2 * P=? [ F d=6 ]^2 - P=? [ F d=5 ] * P=? [ F d=4 ]", Fraction(1, 36)),
        ("round(P=? [ F s=7 ])", 1),
        ("ceil(P=? [ F d=6 ]) + 1", 2),
        ("floor(-P=? [ F d=6 ])", -1),
        ("max(P=? [ F d=6 ], P=? [ F d>3 ], 1/3)", Fraction(1, 2)),
        ("min(s, d) + N", 7),
        ("s+1", 1),
        ("N", 7),
        ("-3.5", Fraction(-7, 2)),
        ("(big ? 1 : 0)*2 + P=? [ F big ]", Fraction(1, 2)),
        ("s=0 ? P=? [ F d=1 ] : 1/0", Fraction(1, 6)),
        ("s>0 ? 1/s : 0", 0),
        ("P=? [ F d=6 ] > 1/7 ? 3 : 4", 3),
        ("P=? [ F d=1 ] = P=? [ F d=6 ]", True),
        ("P=? [ F d=1 ] != P=? [ F d=6 ] | false", False),
        ("P=? [ F d=1 ] < P=? [ F d>1 ] & !big", True),
        ("big => 1/0 > P=? [ F big ]", True),
        ("filter(count, P>0 [ F d=6 ]) = 4", True),
        ("filter(count, P>0 [ F d=6 ])", None),
        ("filter(sum, s>0 ? pow(2, s-1) : 0)", 1 + 2 + 4 + 8 + 16 + 32 + 6 * 64),
        ("filter(avg, P=? [ X s=7 ] * 6, s=3 | s=4)", Fraction(9, 2)),
        ("filter(max, P=? [ F d=6 ]) - filter(min, P=? [ F d=6 ], s=6)", 1 - Fraction(2, 3)),
        ("filter(forall, P=? [ F s=7 ] = 1) & filter(exists, P=? [ F d=6 ] = 1)", True),
        ("filter(state, d + P=? [ F d=6 ], s=2) * 2", Fraction(2, 3)),
        ("filter(sum, filter(count, P>0 [ F d=6 ]), s=3 | s=4)", 8),
        ("filter(first, 2*s)", 0),
    ],
)
def test_arithmetic_over_properties_of_the_die(text, wanted):
    if wanted is None:
        assert not isinstance(read_property(explore(DIE), text).written, Computed)
        return
    assert values(text) == [wanted]


def test_a_number_in_each_state_of_a_filter():
    assert values("filter(print, P=? [ F d=6 ] * 2 + s, s<3)") == [Fraction(1, 3), 1, 2 + Fraction(2, 3)]


def test_of_a_decision_process_one_side_is_computed_with():
    assert values("1 - Pmax=? [ F x=1 ]", CHOICE) == [Fraction(1, 2)]
    assert values("Pmax=? [ F x=1 ] - Pmin=? [ F x=1 ]", CHOICE) == [Fraction(1, 4)]
    with pytest.raises(QuestionError, match="computed from least or largest values"):
        values("1 - P=? [ F x=1 ]", CHOICE)


def test_properties_speak_of_computed_ones_by_name():
    file = parse_properties('"x": P=? [ F d=6 ];\n"y": "x" + 1;\n2 * "y" - "x"')
    assert values(file.properties[2].text, others=file.named) == [2 + Fraction(1, 6)]
    with pytest.raises(FormulaError, match='the property "a"'):
        values('1 + "a"', others={"a": '1 + "b"', "b": '1 + "a"'})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / P=? [ F s=8 ]", "divided by zero"),
        ("pow(2, P=? [ F d=6 ])", "no exact value"),
        ("mod(s, 0) + P=? [ F s=7 ]", "positive divisor"),
        ("2 * filter(print, P=? [ F d=6 ], s<3)", "a number is of one"),
        ("2 * filter(count, P=? [ F d=6 ])", "not for such values"),
    ],
)
def test_a_value_that_there_is_not_is_said(text, message):
    with pytest.raises(QuestionError, match=message):
        values(text)


def test_one_number_compared_with_a_constant_is_a_claim():
    for text, wanted in [
        ("1/2 <= P=? [ F d=6 ]", "P>=1/2 [ F (d = 6) ]"),
        ("P=? [ F d=6 ] > 0.25", "P>1/4 [ F (d = 6) ]"),
        ("R=? [ C<=3 ] < 2*N", "R<14 [ C<=3 ]"),
        ("2 > Pmax=? [ F d=6 ] + 0", None),
    ]:
        found = read_property(explore(DIE + "rewards true: 1; endrewards"), text).written
        assert isinstance(found, Computed) if wanted is None else str(found.formula) == wanted
    found = read_property(explore(CHOICE), "Pmax=? [ F x=1 ] >= 1/2").written
    assert str(found.formula) == "!P<1/2 [ F (x = 1) ]"
    assert isinstance(read_property(explore(CHOICE), "P=? [ F x=1 ] >= 1/2").written, Computed)


def test_infinite_rewards_are_compared_and_not_computed_with():
    model = DIE + "rewards true: 1; endrewards"
    assert values("R=? [ F d=6 ] > 10^6 + s", model) == [True]
    assert values("min(R=? [ F d=6 ], R=? [ F s=7 ])", model) == [Fraction(11, 3)]
    assert values("max(R=? [ F d=6 ], 5)", model) == ["infinite"]
    assert values("R=? [ F d=6 ] + 1", model) == [None]


@pytest.mark.parametrize("seed", selected(range(400), 20))
def test_enclosures_hold_what_numbers_inside_of_them_give(seed):
    """Random expressions over five numbers, evaluated in enclosures and at points of the enclosures."""
    draw = random.Random(seed)
    names = "abcde"

    def number(depth):
        if depth == 0 or draw.random() < 0.2:
            return draw.choice([*names, str(draw.randint(0, 3))])
        kind = draw.choice(["+", "-", "*", "/", "min", "max", "neg", "?", "floor"])
        if kind in "+-*/":
            return f"({number(depth - 1)} {kind} {number(depth - 1)})"
        if kind == "?":
            return f"({truth(depth - 1)} ? {number(depth - 1)} : {number(depth - 1)})"
        if kind in ("neg", "floor"):
            return f"({'-' if kind == 'neg' else 'floor'}({number(depth - 1)}))"
        return f"{kind}({number(depth - 1)}, {number(depth - 1)})"

    def truth(depth):
        kind = draw.choice(["<", "<=", ">", ">=", "=", "!=", "&", "|", "!", "=>"])
        if kind in ("&", "|", "=>") and depth:
            return f"({truth(depth - 1)} {kind} {truth(depth - 1)})"
        if kind == "!" and depth:
            return f"(!{truth(depth - 1)})"
        sign = kind if kind[0] in "<>=!" and kind not in ("!", "=>") else "<"
        return f"({number(max(0, depth - 1))} {sign} {number(max(0, depth - 1))})"

    for _ in range(20):
        text = number(3) if draw.random() < 0.6 else truth(3)
        source = PrismSource("formula", text)
        scope = Scope(source, variables={name: (slot, "double") for slot, name in enumerate(names)})
        meaning = scope.meaning(parse_expression(source))
        ends = [sorted((draw.randint(-8, 8), draw.randint(-8, 8))) for _ in names]
        enclosed = [Amount(rational(low) / 4, rational(high) / 4) for low, high in ends]
        try:
            whole = evaluate(meaning, enclosed.__getitem__)
        except Exception as problem:
            assert type(problem).__name__ in ("_Undecided", "Trouble")  # noqa: PT017
            continue
        for _ in range(5):
            point = [rational(draw.randint(low, high)) / 4 for low, high in ends]
            at = evaluate(meaning, [Amount(value, value) for value in point].__getitem__)
            if isinstance(whole, Amount):
                assert whole.low <= at.low == at.high <= whole.high, (text, ends)
            else:
                assert whole is None or whole is at, (text, ends)
