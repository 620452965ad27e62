"""Mechanisms run with their noise left open: linear forms, what is refused, and the tree of all runs."""

from __future__ import annotations

import operator
from fractions import Fraction
from pathlib import Path

import pytest
from tests.laplace_programs import load

from privproof import LanguageError, bernoulli, integer, mechanism
from privproof.engines.laplace.events import event_probability, measure, tree
from privproof.exact import rational
from privproof.exact.exponentials import ExponentialSum
from privproof.language import exponential, laplace, real, real_queries
from privproof.language.branching import leaves
from privproof.language.linear import Linear, Whole, deciding, exactly
from privproof.language.patterns import ANY, Between, matching, read_pattern, word
from privproof.language.scripts import Draw
from privproof.language.scripts import Test as Comparison

noise, other = Linear.atom(0), Linear.atom(1)
datum = Linear.atom("a")


# ----------------------------------------------------------------------------------------------------------- arithmetic


def test_sums_and_multiples():
    form = 2 * (noise - other) + 3 - datum / 2
    assert repr(form) == "2*x0 - 2*x1 - 1/2*a + 3"
    assert form.terms == {0: 2, 1: -2, "a": rational("-1/2")}
    assert form.constant == 3
    assert form.noisy
    assert not datum.noisy
    assert repr(-(3 - noise)) == "x0 - 3"
    assert repr(+noise) == "x0"
    assert repr(Fraction(1, 3) * noise + True) == "1/3*x0 + 1"


def test_what_cancels_is_a_number():
    assert (noise + 1) - noise == 1
    assert isinstance((noise + 1) - noise, Whole)
    assert (noise + Fraction(1, 2)) - noise == Fraction(1, 2)
    assert noise * 0 == 0
    assert type(noise * 0) is Whole
    assert ((noise + 1) - noise) / 2 == Fraction(1, 2)


def test_equal_forms_are_equal_and_others_are_refused():
    assert noise + 1 == 1 + noise
    assert (noise == noise + 1) is False
    assert (noise == "text") is False
    with pytest.raises(LanguageError, match="tested for equality"):
        _ = noise == other


def test_comparisons_ask_the_decider():
    asked = []

    def decide(form, strict):
        asked.append((form.text(), strict))
        return True

    with deciding(decide):
        assert noise > 1
        assert noise >= other
        assert other < 2
        assert noise <= 0
        assert noise < noise + 1
        assert not noise > noise + Fraction(1, 2)
        assert noise <= noise
        assert not noise < noise
    assert asked == [("x0 - 1", True), ("x0 - x1", False), ("-x1 + 2", True), ("-x0", False)]


def test_a_form_is_compared_only_inside_a_run():
    with pytest.raises(LanguageError, match="outside a run"):
        _ = noise > 0


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda: noise * other, "linear"),
        (lambda: noise * datum, "linear"),
        (lambda: noise / other, "linear"),
        (lambda: 1 / noise, "linear"),
        (lambda: noise**2, "linear"),
        (lambda: noise + 0.5, "float"),
        (lambda: 0.5 * noise, "float"),
        (lambda: float(noise), "float"),
        (lambda: int(noise), "rounding"),
        (lambda: round(noise), "rounding"),
        (lambda: noise // 2, "rounding"),
        (lambda: noise % 2, "rounding"),
        (lambda: 7 % noise, "rounding"),
        (lambda: [1, 2][noise], "rounding"),
        (lambda: range(noise), "rounding"),
        (lambda: bool(noise), "truth"),
        (lambda: hash(noise), "hash"),
        (lambda: {noise: 1}, "hash"),
        (lambda: noise in (1, 2), "equality"),
    ],
)
def test_what_is_no_linear_form_is_refused_with_its_line(wrong, code):
    with pytest.raises(LanguageError) as refusal:
        wrong()
    assert refusal.value.code == code
    assert refusal.value.hint
    assert refusal.value.place == f"{Path(__file__)}:{wrong.__code__.co_firstlineno}"


def test_a_division_by_zero_is_one():
    with pytest.raises(ZeroDivisionError):
        _ = noise / 0


def test_whole_numbers_divide_exactly():
    assert Whole(1) / 3 == Fraction(1, 3)
    assert 2 / Whole(3) == Fraction(2, 3)
    assert Fraction(1, 2) / Whole(2) == Fraction(1, 4)
    assert Whole(2) / Fraction(1, 2) == 4
    for operation in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod):
        for a, b in ((7, 2), (-7, 2), (7, -2)):
            for left, right in ((Whole(a), b), (a, Whole(b)), (Whole(a), Whole(b))):
                found = operation(left, right)
                assert found == operation(a, b)
                assert type(found) is Whole
    assert type(-Whole(2)) is type(abs(Whole(-2))) is Whole
    assert Whole(2) + Fraction(1, 2) == Fraction(5, 2)
    assert list(range(Whole(2))) == [0, 1]
    assert exactly([1, (2, "x"), True]) == [1, (2, "x"), True]
    assert exactly([1, True])[0] / 2 == Fraction(1, 2)
    assert exactly(True) is True


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("branching")


REFUSED = {
    "linear": "return laplace(x, scale=1) * laplace(x, scale=1)",
    "equality": "return laplace(x, scale=1) == 0",
    "rounding": "return int(laplace(x, scale=1))",
    "truth": "return 1 if laplace(x, scale=1) else 0",
    "scale": "return laplace(x, scale=0)",
    "float": "return laplace(x, scale=1 / 3)",
}


@pytest.mark.parametrize("code", REFUSED)
def test_a_run_is_refused_with_the_line_of_the_mechanism(folder, code):
    found = load(folder, f"@mechanism\ndef m(x: real()):\n    y = x\n    {REFUSED[code]}\n")
    with pytest.raises(LanguageError) as refusal:
        leaves(found, {"x": 1})
    file, _, line = refusal.value.place.rpartition(":")
    assert refusal.value.code == code
    assert REFUSED[code] in Path(file).read_text().splitlines()[int(line) - 1]


def test_a_scale_may_be_a_number_and_not_a_form():
    @mechanism
    def scaled(x: real(), c: real()):
        return laplace(x, scale=c)

    (leaf,) = leaves(scaled, {"x": 1, "c": Fraction(3, 2)})
    assert leaf.noises[0].scale == rational("3/2")
    with pytest.raises(LanguageError, match="scale of noise depends"):
        leaves(scaled, {"x": 1, "c": Linear.atom("c")})


# ----------------------------------------------------------------------------------------------------------------- trees


@mechanism
def positive(x: real()):
    return laplace(x, scale=2) > 0


@mechanism
def twice(x: real()):
    z = laplace(x, scale=1)
    yield z > 0
    yield z > 1
    yield z > 0


@mechanism
def mixed(x: real()):
    if bernoulli("1/3"):
        return laplace(x, scale=1)
    return "nothing" if laplace(x, scale=1) < 0 else 0


@mechanism
def coins(x: integer()):
    return [bernoulli("1/4") for _ in range(3)]


@mechanism
def waiting(x: real()):
    return exponential(x, scale=1) >= x


def test_a_comparison_is_taken_both_ways():
    found = leaves(positive, {"x": 3})
    assert [(repr(leaf.tests[0].halfspace), leaf.output) for leaf in found] == [("x0 + 3", True), ("-x0 - 3", False)]
    assert all(leaf.complete and leaf.weight == 1 for leaf in found)


def test_what_was_decided_is_not_asked_again():
    outputs = sorted(leaf.output for leaf in leaves(twice, {"x": 0}))
    assert outputs == [[False, False, False], [True, False, True], [True, True, True]]


def test_inputs_that_are_forms_may_be_equal_so_both_ways_stay_open():
    outputs = [leaf.output for leaf in leaves(twice, {"x": Linear.atom("x")})]
    assert [True, True, True] in outputs
    assert [False, False, False] in outputs


def test_the_range_of_exponential_noise_is_known():
    (leaf,) = leaves(waiting, {"x": 5})
    assert leaf.output is True
    assert leaf.steps == ()


def test_discrete_noise_has_its_weight():
    found = leaves(mixed, {"x": 0})
    assert len(found) == 3
    by_output = {repr(word(leaf.output)): leaf for leaf in found}
    assert by_output["any number"].weight == rational("1/3")
    assert isinstance(by_output["any number"].steps[0], Draw)
    silent = by_output["'nothing'"]
    assert silent.weight == rational("2/3")
    assert [type(step) for step in silent.steps] == [Draw, Comparison]
    assert measure(found, "nothing") == ExponentialSum.constant(Fraction(1, 3))
    assert measure(found, ANY) == ExponentialSum.constant(Fraction(2, 3))
    assert measure(found, 0) == ExponentialSum.constant(Fraction(1, 3))


def test_discrete_noise_alone():
    found = leaves(coins, {"x": 0})
    assert len(found) == 8
    assert sum((leaf.weight for leaf in found), rational(0)) == 1
    assert measure(found, [True, True, False]) == ExponentialSum.constant(Fraction(3, 64))


@mechanism
def many(q: real_queries()):
    for value in q:
        yield laplace(value, scale=1) > 0


def test_there_may_be_too_many_ways():
    assert len(leaves(many, {"q": [0] * 5}, most=32)) == 32
    with pytest.raises(LanguageError, match="more than 31 ways") as refusal:
        leaves(many, {"q": [0] * 5}, most=31)
    assert refusal.value.code == "paths"


def test_runs_of_no_interest_are_left_early():
    pattern = [True] * 12
    found = tree(many, {"q": [0] * 12}, pattern)
    assert len(found) == 13
    assert sum(leaf.complete for leaf in found) == 1
    assert event_probability(many, pattern, {"q": [0] * 12}) == ExponentialSum.constant(Fraction(1, 2**12))


def test_a_run_may_draw_only_so_often():
    with pytest.raises(LanguageError, match="more than 400 times"):
        leaves(many, {"q": [0] * 500}, follow=lambda written: written[-1])


# ----------------------------------------------------------------------------------------------------------------- tails


@mechanism
def forty(x: real()):
    return laplace(0, scale=1) >= x


def test_tails_far_out_have_their_exact_ratio():
    near, far = (event_probability(forty, True, {"x": x}) for x in (40, 41))
    assert near == ExponentialSum.term(Fraction(1, 2), 0, -40)
    assert far == ExponentialSum.term(Fraction(1, 2), 0, -41)
    assert near == far.scaled(1)
    assert 0 < float(near.ball(1).mid()) < 1e-17


def test_the_other_side_of_a_tail_is_not_rounded_to_one():
    near, far = (event_probability(forty, False, {"x": x}) for x in (40, 41))
    assert near != far
    assert (near - far).sign(1) < 0
    assert near + ExponentialSum.term(Fraction(1, 2), 0, -40) == ExponentialSum.constant(1)


# -------------------------------------------------------------------------------------------------------------- patterns


def test_patterns_of_outputs():
    output = [noise + 1, 0, "a", True]
    assert word(output) == [ANY, 0, "a", True]
    assert matching([Between(Fraction(0), None), 0, "a", True], output) == [noise + 1]
    assert [repr(f) for f in matching([Between(Fraction(0), Fraction(3)), 0, "a", True], output)] == [
        "x0 + 1",
        "-x0 + 2",
    ]
    assert matching([ANY, 0, "a", 1], output) is None
    assert matching([ANY, 0, "a"], output) is None
    assert matching(Between(Fraction(-1), None), 0) == []
    assert matching(Between(Fraction(1), None), 0) is None
    assert matching(ANY, True) is None
    assert matching(1, noise) is None
    assert [repr(f) for f in matching(1, noise, discrete=True)] == ["x0 - 1", "-x0 + 1"]
    assert matching((1,), [1]) is None


def test_events_as_they_are_written():
    assert read_pattern(["≥3", "≤-1/2", "0..1", "*", "text", 2, ("≥0",)]) == [
        Between(Fraction(3), None),
        Between(None, Fraction(-1, 2)),
        Between(Fraction(0), Fraction(1)),
        ANY,
        "text",
        2,
        (Between(Fraction(0), None),),
    ]
    with pytest.raises(LanguageError, match="float"):
        read_pattern([0.5])
    with pytest.raises(LanguageError):
        read_pattern("≥three")
