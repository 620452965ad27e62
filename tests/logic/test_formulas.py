"""Reading and printing formulas of the logic: canonical texts read back, and nonsense is met with a complaint at the right place."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.errors import FormulaError, PrivproofError
from privproof.exact import epsilon, rational
from privproof.logic.formulas import (
    And,
    Atom,
    Comparison,
    FormulaFamily,
    Iff,
    Implies,
    NextState,
    Not,
    Or,
    Private,
    ProbabilityRange,
    Probable,
    StepBound,
    Truth,
    Unary,
    Until,
    parse_formula,
    sublogic,
)
from privproof.logic.formulas.formula_syntax import RESERVED, Count
from privproof.logic.formulas.sublogics import is_state_formula, subformulas

# ------------------------------------------------------------------------------------------------------- round trips

PLAIN = st.sampled_from(["a", "b", "out1", "X1", "Up", "in0", "Fa", "true1", "x'", "_", "P1", "allk", "s_0"])
ODD = st.one_of(
    st.sampled_from(sorted(RESERVED)),
    st.sampled_from(
        ["(1,2)", "a b", 'say "hi"', "back\\slash", "1", "", "é", "->", "{z}", "a{b", "}", "k", "=?", "\t"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=5),
)
PROBABILITIES = st.sampled_from(["0", "1/4", "1/3", "0.5", "3/4", "1", "1e-9"]).map(rational)
BUDGETS = st.sampled_from(["0", "ln(3)", "1/2", "ln(2)/3", "ln(5/2) + 1/7", "inf", "1.3"]).map(epsilon)


@st.composite
def ranges(draw):
    low, high = sorted([draw(PROBABILITIES), draw(PROBABILITIES)])
    if low == high:
        return ProbabilityRange(low, high)
    return ProbabilityRange(low, high, draw(st.booleans()), draw(st.booleans()))


@st.composite
def counts(draw, scope, *, least=0):
    numbers = [name for name, kind in scope.items() if kind is int]
    constant = draw(st.integers(least, 9))
    if not numbers or draw(st.booleans()):
        return Count(constant)
    names = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=2, unique=True))
    terms = tuple((name, draw(st.sampled_from([1, 1, 2, 3, -1, -2]))) for name in names)
    return Count(draw(st.integers(-3, 9)), terms)


@st.composite
def bounds(draw, scope):
    match draw(st.sampled_from(["none", "none", "<=", ">=", "=", "[]"])):
        case "none":
            return StepBound()
        case "<=":
            return StepBound(Count(), draw(counts(scope)))
        case ">=":
            return StepBound(draw(counts(scope)))
        case "=":
            same = draw(counts(scope))
            return StepBound(same, same)
    low, high = draw(counts(scope)), draw(counts(scope))
    if not low.terms and not high.terms and low.constant > high.constant:
        low, high = high, low
    return StepBound(low, high)


@st.composite
def formulas(draw, depth=3, *, path=False, scope=None):
    """Formulas of every kind, as `parse_formula` would make them."""
    scope = scope or {}

    def below(*, inside=path, more=None):
        return draw(formulas(depth=depth - 1, path=inside, scope={**scope, **(more or {})}))

    kinds = ["true", "atom", "quoted", "compare"]
    if scope:
        kinds += ["variable", "variable"]
    if depth > 0:
        kinds += ["!", "&", "|", "->", "<->", "P", "P", "D", "D", "family"]
        kinds += ["X", "F", "G", "U", "X", "F", "G", "U"] if path else []
    match draw(st.sampled_from(kinds)):
        case "true":
            return Truth(draw(st.booleans()))
        case "atom":
            name = draw(PLAIN)
            return Atom(name)
        case "quoted":
            name = draw(ODD)
            return Atom(name if not any(f"{{{variable}}}" in name for variable in scope) else "odd one")
        case "variable":
            name = draw(st.sampled_from(sorted(scope)))
            return Atom(draw(st.sampled_from([f"{{{name}}}", f"out{{{name}}}", f"a{{{name}}}b"])))
        case "compare":
            name = draw(st.one_of(PLAIN, st.sampled_from(["X", "a b", "true"])))
            sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
            return Comparison(name, sign, draw(counts(scope, least=-3)))
        case "!":
            return Not(below())
        case "&":
            return And((below(), below(), below())[: draw(st.integers(2, 3))])
        case "|":
            return Or((below(), below(), below())[: draw(st.integers(2, 3))])
        case "->":
            return Implies(below(), below())
        case "<->":
            return Iff(below(), below())
        case "X":
            return NextState(below(), draw(st.one_of(st.just(Count(1)), counts(scope))))
        case "F":
            return Unary("F", below(), draw(bounds(scope)))
        case "G":
            return Unary("G", below(), draw(bounds(scope)))
        case "U":
            return Until(draw(st.sampled_from("UWR")), below(), below(), draw(bounds(scope)))
        case "P":
            return Probable(draw(ranges()), below(inside=True))
        case "D":
            numbers = [name for name, kind in scope.items() if kind is int]
            budget = draw(BUDGETS)
            if numbers and draw(st.booleans()):
                budget = draw(st.sampled_from([f"{{{numbers[0]}}}", f"ln({{{numbers[0]}}} + 1)"]))
            return Private(budget, draw(PROBABILITIES), below(inside=True))
    fresh = [name for name in ("k", "j", "m") if name not in scope]
    if not fresh:
        return Truth(True)
    variable, quantifier = draw(st.sampled_from(fresh)), draw(st.sampled_from(["all", "some"]))
    if draw(st.booleans()):
        low = draw(st.integers(0, 5))
        return FormulaFamily(
            quantifier, variable, tuple(range(low, low + draw(st.integers(1, 4)))), below(more={variable: int})
        )
    names = st.one_of(PLAIN, st.sampled_from(["(1,2)", "a b", "1", "a,b", "}", 'q"q', "X", "all"]))
    values = tuple(draw(st.lists(names, min_size=1, max_size=3)))
    return FormulaFamily(quantifier, variable, values, below(more={variable: str}))


@settings(
    max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(formulas())
def test_the_canonical_text_reads_back(formula):
    text = str(formula)
    assert parse_formula(text) == formula, text
    assert str(parse_formula(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("P>=.5[F<=10 done]", "P>=1/2 [ F<=10 done ]"),
        ("P >= 0.50 [ (F (done)) ]", "P>=1/2 [ F done ]"),
        ("P=?[a U b U c]", "P=? [ a U (b U c) ]"),
        ("P<1 [ X X a ]", "P<1 [ X X a ]"),
        ("P in (0, 1) [ X^3 a ]", "P in (0, 1) [ X^3 a ]"),
        ("P in [0,1] [ X^1 a ]", "P<=1 [ X a ]"),
        ("P==1 [ F<3 a ]", "P=1 [ F<=2 a ]"),
        ("P=0 [ F>3 a ]", "P=0 [ F>=4 a ]"),
        ("P>0 [ G[2,2] a ]", "P>0 [ G=2 a ]"),
        ("P>0 [ G[0,2] a ]", "P>0 [ G<=2 a ]"),
        ("a => b", "a -> b"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a && b || c", "a & b | c"),
        ("a & (b | c)", "a & (b | c)"),
        ("!(a & b)", "!(a & b)"),
        ('"a" & "X"', 'a & "X"'),
        ("D[ 2*ln(3) , 1e-3 ]( X a )", "D[ln(9), 1/1000](X a)"),
        ("all k in 0..3: D[{k}, 0](X^k a{k})", "all k in 0..3: D[{k}, 0](X^k a{k})"),
        ("all k in 0..3: P>=0 [ F<=(2*k+1) k ]", "all k in 0..3: P<=1 [ F<=(2*k + 1) {k} ]"),
        ("some a in {x, y}: P=1 [ X a ]", "some a in {x, y}: P=1 [ X {a} ]"),
        ("x==3 & y != -2", "x = 3 & y != (-2)"),
        ("\n a \t&\r\n b ", "a & b"),
    ],
)
def test_canonical_texts(text, canonical):
    assert str(parse_formula(text)) == canonical
    assert str(parse_formula(canonical)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        'x >= 3 & "a b" < 2',
        "all k in 0..3: x >= (k + 1)",
        "all k in 0..3: x >= -k",
        "all k in 0..3: P>=0 [ F<=(3 - k) a ]",
        'all k in 0..3: P>=0 [ X ("k" & k) ]',
        'P>=0 [ X "{z}" ]',
        'all a in {"x,y", "}"}: P>=0 [ X a ]',
        "P>=0 [ F<=(2 - 5) a ]",
    ],
)
def test_what_once_did_not_read_back(text):
    formula = parse_formula(text)
    assert parse_formula(str(formula)) == formula, str(formula)


@pytest.mark.parametrize("name", ["X1", "Up", "in0", "Fa", "Xa", "true1", "allk", "Pmaxi", "D1", "_X", "G_"])
def test_names_that_begin_like_operators(name):
    assert parse_formula(name) == Atom(name)
    assert parse_formula(f"P>=0 [ F {name} ]").path == Unary("F", Atom(name))


def test_a_family_fills_every_place():
    (first, second) = parse_formula("all k in 1..2: x{k} >= k & P>=0 [ F<=(k + 1) a{k} ] & D[{k}, 0](X k)").instances()
    assert str(first) == 'x1 >= 1 & P<=1 [ F<=2 a1 ] & D[1, 0](X "1")'
    assert str(second) == 'x2 >= 2 & P<=1 [ F<=3 a2 ] & D[2, 0](X "2")'


# --------------------------------------------------------------------------------------------------------- sublogics


@pytest.mark.parametrize(
    ("text", "logic"),
    [
        ("true", "PCTL"),
        ("a & !b", "PCTL"),
        ("P>=1/2 [ F a ]", "PCTL"),
        ("P>=1/2 [ a U<=3 P>0 [ X b ] ]", "PCTL"),
        ("P>=1/2 [ G[1,2] (a & P=1 [ F b ]) ]", "PCTL"),
        ("P>=1/2 [ a ]", "PCTL*"),
        ("P>=1/2 [ !F a ]", "PCTL*"),
        ("P>=1/2 [ (F a) & F b ]", "PCTL*"),
        ("P>=1/2 [ F G a ]", "PCTL*"),
        ("a | P>=1/2 [ X X a ]", "PCTL*"),
        ("D[1, 0](X a)", "dpCTL"),
        ("P=1 [ F D[1, 0](a W b) ]", "dpCTL"),
        ("all k in 0..2: D[1, 0](X a{k})", "dpCTL"),
        ("D[1, 0](X (a & X b))", "dpCTL*"),
        ("D[1, 0](X a) & P=1 [ G F a ]", "dpCTL*"),
        ("D[1, 0](F P=1 [ G F a ])", "dpCTL*"),
    ],
)
def test_sublogics(text, logic):
    assert sublogic(parse_formula(text)) == logic


def test_subformulas_come_outer_first():
    formula = parse_formula("a & P>=1/2 [ b U X c ]")
    assert [str(part) for part in subformulas(formula)] == [
        str(formula),
        "a",
        "P>=1/2 [ b U (X c) ]",
        "b U (X c)",
        "b",
        "X c",
        "c",
    ]
    assert [is_state_formula(part) for part in subformulas(formula)] == [True, True, True, False, True, False, True]


# ---------------------------------------------------------------------------------------------------------- nonsense

NONSENSE = [
    ("", 1, "expected a formula and found the end"),
    ("   ", 1, "expected a formula and found the end"),
    ("a b", 3, "expected an operator or the end and found 'b'"),
    ("a &", 4, "expected a formula and found the end"),
    ("& a", 1, "expected a formula and found '&'"),
    ("(a", 3, "expected ')' and found the end"),
    ("a)", 2, "expected an operator or the end and found ')'"),
    ("!", 2, "expected a formula"),
    ("X a", 1, "outside P, R, D, E and A"),
    ("a U b", 1, "outside P, R, D, E and A"),
    ("a & F b", 1, "outside P, R, D, E and A"),
    ("P [ F a ]", 3, "expected a bound on the probability"),
    ("P>=1/2 F a", 8, "expected '['"),
    ("P>=1/2 [ F a", 13, "expected ']' and found the end"),
    ("P>=1/2 [ F ]", 12, "expected a formula and found ']'"),
    ("P>=1/2 []", 9, "expected a formula and found ']'"),
    ("P>= [ F a ]", 5, "expected a number"),
    ("P>=x [ F a ]", 4, "expected a number and found 'x'"),
    ("P>=3/2 [ F a ]", 2, "is no probability"),
    ("P>=1e999 [ F a ]", 2, "is no probability"),
    ("P>=1e99999 [ F a ]", 4, "exponent"),
    ("P>=1/0 [ F a ]", 4, "divides by zero"),
    ("P>=1/2/3 [ F a ]", 4, "not an exact number"),
    ("P>=-1/2 [ F a ]", 2, "is no probability"),
    ("P>1 [ F a ]", 2, "no probability lies in"),
    ("P<0 [ F a ]", 2, "no probability lies in"),
    ("P in [3/4, 1/4] [ F a ]", 3, "no probability lies in"),
    ("P in (1/2, 1/2] [ F a ]", 3, "no probability lies in"),
    ("P in [1/4 3/4] [ F a ]", 7, "not an exact number"),
    ("Pmin in [0, 1] [ F a ]", 6, "after Pmin and found 'in'"),
    ("a & P=? [ F a ]", 6, "can only be the whole formula"),
    ("P>=1/2 [ X P=? [ X a ] ]", 13, "can only be the whole formula"),
    ("D(X a)", 2, "expected '['"),
    ("D[1](X a)", 3, "two numbers"),
    ("D[1, 0, 0](X a)", 7, "two numbers"),
    ("D[1, 0 (X a)", 2, "not closed"),
    ("D[1), 0](X a)", 2, "not closed"),
    ("D[-1, 0](X a)", 3, "below zero"),
    ("D[1, 2](X a)", 5, "outside [0, 1]"),
    ("D[, ](X a)", 3, "unexpected the end"),
    ("D[eps, 0](X a)", 3, "not an exact number"),
    ("D[1, 0] X a", 9, "expected '('"),
    ("D[{z}, 0](X a)", 3, "names no variable"),
    ("all k in 0..3: D[{k, 0](X a)", 18, "names no variable"),
    ("X", 2, "expected a formula and found the end"),
    ("U & a", 1, "found the operator U"),
    ("P>0 [ F in ]", 9, "found the operator in"),
    ("1 & a", 1, "expected a formula and found '1'"),
    ("a $ b", 3, "cannot read '$'"),
    ("a & é", 5, "cannot read 'é'"),
    ("a\x00b", 2, "cannot read '\\x00'"),
    ('"a', 1, "unclosed quotation mark"),
    ('a & "b\nc"', 5, "unclosed quotation mark"),
    ("P>0 [ F<= a ]", 11, "number of steps"),
    ("P>0 [ F<0 a ]", 8, "has no step"),
    ("P>0 [ F[3,2] a ]", 8, "has no step"),
    ("P>0 [ F[3 2] a ]", 11, "expected ','"),
    ("P>0 [ F<=1.5 a ]", 10, "expected a whole number"),
    ("P>0 [ F<=-1 a ]", 10, "expected a whole number"),
    ("P>0 [ F<=9999999 a ]", 10, "beyond 1000000 steps"),
    ("P>0 [ F<=1000000*1000000 a ]", 18, "beyond 1000000 steps"),
    ("P>0 [ F<=99999999999999999999 a ]", 10, "expected a whole number"),
    ("P>0 [ X^k a ]", 9, "number of steps"),
    ("P>0 [ X^ a ]", 10, "number of steps"),
    ("x >= 1.5", 6, "expected a whole number"),
    ("x >= y", 6, "number of steps"),
    ("x >=", 5, "expected a whole number and found the end"),
    ("all in 0..3: a", 5, "expected a variable"),
    ("all X in 0..3: a", 5, "expected a variable"),
    ("all k 0..3: a", 7, "expected 'in'"),
    ("all k in 3..0: a", 13, "has no value"),
    ("all k in 0..99999999: a", 13, "more than 100000 values"),
    ("all k in 0..3 a", 15, "expected ':'"),
    ("all k in 0..: a", 13, "expected a whole number"),
    ("all k in 0...3: a", 13, "expected a whole number"),
    ("all k in {}: a", 11, "names in braces"),
    ("all k in {a,}: a", 13, "names in braces"),
    ("all k in {a: b", 11, ""),
    ("all k in {a}foo: a", 13, "expected ':'"),
    ("all k in 0..3: all k in 0..3: a{k}", 20, "used by an outer family"),
    ("all k in 0..999: all j in 0..999: a", 30, "together more than 100000"),
    ("all k in {a, b}: P>0 [ F<=k c ]", 27, "number of steps"),
    ("a{k}", 1, "names no variable"),
    ("all k in 0..3: a & (b", 22, "expected ')'"),
    ("a <- b", 6, "number of steps"),
    ("a = ", 4, "expected a whole number and found the end"),
]


@pytest.mark.parametrize(("text", "place", "message"), NONSENSE, ids=[text[:30] for text, _, _ in NONSENSE])
def test_nonsense(text, place, message):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    assert message in caught.value.message
    assert caught.value.place == f"formula:{place}"
    shown = caught.value.shown.splitlines()
    assert shown[-1].rstrip().endswith("^")
    assert len(str(caught.value)) < 600


MONSTERS = {
    "long": "a & " * 5000 + "a",
    "too long": "a" * 30_000,
    "parentheses": "(" * 3000 + "a" + ")" * 3000,
    "negations": "!" * 5000 + "a",
    "implications": "a -> " * 3000 + "a",
    "untils": "P>0 [ " + "a U " * 3000 + "a ]",
    "nexts": "P>0 [ " + "X " * 5000 + "a ]",
    "families": "".join(f"all k{i} in 0..0: " for i in range(900)) + "a",
    "probabilities": "P>0 [ X " * 1000 + "a" + " ]" * 1000,
    "factors": "P>0 [ F<=" + "1*" * 4000 + "1 a ]",
    "terms": "P>0 [ F<=(" + "1 + " * 4000 + "1) a ]",
    "minus signs": "D[" + "-" * 4000 + "1, 0](X a)",
    "roots": "D[" + "(" * 4000 + "1" + ")" * 4000 + ", 0](X a)",
    "digits": "P>=0." + "3" * 15_000 + " [ X a ]",
    "fraction": "P>=1/" + "3" * 15_000 + " [ X a ]",
    "digits of a count": "P>0 [ X^" + "9" * 15_000 + " a ]",
    "budget": "D[ln(" + "9" * 15_000 + "), 0](X a)",
    "power": "D[999999*ln(999999), 0](X a)",
    "quotes": '"' * 9999,
    "backslashes": '"' + "\\" * 9999 + '"',
    "braces": "{" * 9999,
    "names in braces": "all k in {" + "a," * 9000 + "a}: k",
    "spaces": " " * 15_000 + "a",
    "newlines": "\n" * 15_000 + "$",
    "dots": "." * 9999,
    "comparisons": "x >= " + "-" * 3000 + "1",
}


@pytest.mark.parametrize("text", MONSTERS.values(), ids=MONSTERS)
def test_monsters(text):
    """A formula or a complaint; never another exception, and no waiting."""
    try:
        formula = parse_formula(text)
    except PrivproofError:
        return
    if len(str(formula)) <= 20_000:
        assert parse_formula(str(formula)) == formula


PIECES = [
    *RESERVED, *"()[]{},:=<>?!&|^*/+-.\"\\~$é", "<->", "->", "<=", ">=", "..", "=?", "1", "0.5", "1e9", "ln(", "inf", "a", "k", "{k}",
    " ", "\n", "P>=1/2 [", "D[1, 0](", "all k in 0..3:", "\x00", "\u2028", "１", "∞",
]  # fmt: skip


@settings(max_examples=examples(400), deadline=None)
@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join), st.text(max_size=40)))
def test_only_complaints_come_out(text):
    try:
        formula = parse_formula(text)
    except PrivproofError:
        return
    assert parse_formula(str(formula)) == formula


def test_damaged_formulas():
    """One character of a good formula removed, doubled or replaced."""
    source = random.Random(0)
    good = [
        "all k in 0..9: D[ln({k} + 1), 1/8](X (out{k} & F<=(2*k + 1) done)) & P in [1/4, 3/4) [ a W[2,5] b ]",
        'some a in {x, "y z"}: P>=1/2 [ G (a -> X^3 !b) ] <-> x >= -3',
    ]
    for _ in range(1500):
        text = source.choice(good)
        at = source.randrange(len(text))
        text = (
            text[:at]
            + source.choice(["", text[at] * 2, source.choice('()[]{},:=<>?!&|^*/+-."\\ aXk19')])
            + text[at + 1 :]
        )
        try:
            formula = parse_formula(text)
        except PrivproofError:
            continue
        assert parse_formula(str(formula)) == formula, text
