"""Exact numbers: rationals at the border, budgets read, printed and compared, balls, matrices."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from privproof.errors import BudgetError, FloatRefused, NumberError, PrivproofError
from privproof.exact import INFINITE, Budget, decimal, delta, epsilon, fraction, from_float, log, rational, show
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.rational_matrices import Matrix, dot

fractions = st.fractions(max_denominator=10**9)
ratios = st.fractions(Fraction(1), Fraction(50), max_denominator=60)


def logarithm(ratio, digits):
    """The decimals of ln(ratio), cut off."""
    with precision(4 * digits + 64):
        return Fraction(int((arb(rational(ratio)).log() * 10**digits).floor().unique_fmpz()), 10**digits)


# ---------------------------------------------------------------------------------------------------------- rationals


@given(fractions)
def test_a_fraction_is_read_back_from_its_text(value):
    assert fraction(rational(str(value))) == fraction(rational(value)) == value


@given(st.integers(-(10**9), 10**9), st.integers(0, 12))
def test_decimals_are_exact(digits, places):
    sign, whole = ("-" if digits < 0 else ""), str(abs(digits)).rjust(places + 1, "0")
    text = f"{sign}{whole[: len(whole) - places]}.{whole[len(whole) - places :]}"
    assert fraction(rational(text)) == Fraction(digits, 10**places)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" 1/3 ", "1/3"),
        ("1 / 3", "1/3"),
        ("+2", "2"),
        (".5", "1/2"),
        ("5.", "5"),
        ("1e-3", "1/1000"),
        ("2.5E2", "250"),
        ("0.1/0.3", "1/3"),
        ("-0", "0"),
    ],
)
def test_forms_of_numbers(text, value):
    assert str(rational(text)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x",
        "1/",
        "/2",
        "1/2/3",
        "1e",
        "e5",
        ".",
        "1_000",
        "0x10",
        "nan",
        "inf",
        "½",
        "１",
        "1,5",
        "--1",
        "1e99999",
        "1/0",
    ],
)
def test_what_is_no_number(text):
    with pytest.raises(NumberError) as caught:
        rational(text)
    assert repr(text) in str(caught.value) or text.strip("1e") in str(caught.value)


@pytest.mark.parametrize("value", [True, None, [], 1j, b"1"])
def test_other_things_are_no_numbers(value):
    with pytest.raises(NumberError):
        rational(value)


@pytest.mark.parametrize("value", [0.1, 1.0, -2.5, 1e300, float("nan"), float("inf"), float("-inf")])
def test_a_float_is_refused(value):
    with pytest.raises(FloatRefused) as caught:
        rational(value)
    assert isinstance(caught.value, TypeError)
    assert caught.value.hint


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_that_is_meant_is_taken_exactly(value):
    assert fraction(from_float(value)) == Fraction(value)


@given(st.fractions(max_denominator=10**6))
def test_a_decimal_is_near(value):
    printed = Fraction(decimal(rational(value)))
    assert abs(printed - value) <= abs(value) * Fraction(1, 10**5)


def test_numbers_beyond_floating_point_are_printed():
    assert decimal(rational("1e-400")) == "1e-400"
    assert decimal(rational("1e400")) == "1e+400"
    assert show(rational("1e400")).startswith("≈") or "e+400" in show(rational("1e400"))
    assert decimal(rational("-1e-5000")) == "-1e-5000"


# ------------------------------------------------------------------------------------------------------------ budgets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ln(2)", "ln(2)"),
        ("log(2)", "ln(2)"),
        ("ln(8/3)", "ln(8/3)"),
        ("4*ln(2)", "ln(16)"),
        ("ln(2)*4", "ln(16)"),
        ("ln(4)/2", "ln(2)"),
        ("ln(2)/3", "ln(2)/3"),
        ("2*ln(2)/3", "ln(4)/3"),
        ("ln(8)/6", "ln(2)/2"),
        ("ln(2)+ln(3)", "ln(6)"),
        ("ln(6) - ln(3)", "ln(2)"),
        ("ln(2)/2+ln(3)/2", "ln(6)/2"),
        ("ln(2)/2+ln(2)/2", "ln(2)"),
        ("ln(2)+1/2", "ln(2) + 1/2"),
        ("1/2+ln(2)", "ln(2) + 1/2"),
        ("ln(9)-1/2", "ln(9) - 1/2"),
        ("2*(ln(2)+1/2)", "ln(4) + 1"),
        ("-(-1)", "1"),
        ("1.3", "13/10"),
        ("0", "0"),
        ("ln(1)", "0"),
        (" inf ", "inf"),
        ("Infinity", "inf"),
        ("∞", "inf"),
        ("1e-3", "1/1000"),
        ("ln(1.5)", "ln(3/2)"),
        ("ln((1+1)*2)", "ln(4)"),
    ],
)
def test_budgets_are_read(text, shown):
    assert str(epsilon(text)) == shown
    assert epsilon(shown) == epsilon(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-1",
        "-inf",
        "nan",
        "1/0",
        "ln(0)",
        "ln(-1)",
        "ln()",
        "ln 2",
        "ln(2",
        "ln(2))",
        "ln(2)*ln(2)",
        "1/ln(2)",
        "ln(ln(3))",
        "ln(1/2)",
        "ln(2)-1",
        "2ln(2)",
        "e",
        "1+",
        "*2",
        "inf+1",
        "exp(1)",
        "ln(2)/10001",
        "10001*ln(2)",
        "(" * 60 + "1" + ")" * 60,
        "1 2",
    ],
)
def test_what_is_no_budget(text):
    with pytest.raises(BudgetError) as caught:
        epsilon(text)
    assert caught.value.hint


@pytest.mark.parametrize("value", [float("nan"), True, None, -0.5])
def test_a_budget_is_an_exact_number(value):
    with pytest.raises(PrivproofError):
        epsilon(value)


@pytest.mark.parametrize(("value", "text"), [(0.1, "1/10"), (1e-5, "1/100000"), (2.0, "2"), (float("inf"), "inf")])
def test_a_budget_that_is_a_float_is_the_decimal_that_it_prints_as(value, text):
    assert epsilon(value) == epsilon(text)


@pytest.mark.parametrize("value", ["-1/10", "1.0001", "2", -1, 2, "x"])
def test_delta_is_a_probability(value):
    with pytest.raises(PrivproofError):
        delta(value)


def test_delta_at_its_ends():
    assert (delta(0), delta("1"), delta(Fraction(1, 2))) == (0, 1, fmpq(1, 2))


@given(ratios, ratios)
def test_logarithms_compare_as_their_ratios(one, other):
    assert log(one).compare(log(other)) == (one > other) - (one < other)
    assert log(one).compare_bound(rational(other)) == (one > other) - (one < other)


@given(ratios, st.integers(1, 6), ratios, st.integers(1, 6))
def test_roots_of_logarithms_compare_exactly(one, root, other, power):
    left, right = epsilon(f"ln({one})/{root}"), epsilon(f"ln({other})/{power}")
    wanted = (one**power > other**root) - (one**power < other**root)
    assert left.compare(right) == wanted
    assert right.compare(left) == -wanted


@given(ratios.filter(lambda r: r > 1), st.sampled_from([20, 60, 200]))
def test_a_rational_budget_never_equals_a_logarithm(ratio, digits):
    """The decimals of ln(ratio) cut off are too small, one unit more is too large, however many digits there are."""
    low = logarithm(ratio, digits)
    high = low + Fraction(1, 10**digits)
    assert epsilon(low).compare_bound(rational(ratio)) == -1
    assert epsilon(high).compare_bound(rational(ratio)) == 1
    assert epsilon(low).compare(log(ratio)) == -1
    assert log(ratio).compare(epsilon(high)) == -1
    assert not epsilon(low).allows(rational(ratio), rational(1))
    assert epsilon(high).allows(rational(ratio), rational(1))


def test_mixed_budgets_compare_exactly():
    """ln(2) + x against ln(3), where x is ln(3/2) cut after 60 digits."""
    x = logarithm(Fraction(3, 2), 60)
    assert epsilon(f"ln(2)+{x}").compare(log(3)) == -1
    assert epsilon(f"ln(2)+{x + Fraction(1, 10**60)}").compare(log(3)) == 1
    assert epsilon(f"ln(2)/3 + {x}").compare(epsilon(f"ln(2)/3 + {x}")) == 0


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 5))
def test_enclosures_hold_the_bound_and_shrink(shift, below, root):
    value = epsilon(f"ln(2)/{root} + {Fraction(shift, below)}")
    low, high = value.enclosure(64)
    assert low <= high
    assert value.compare_bound(low) >= 0 >= value.compare_bound(high)
    finer = value.enclosure(512)
    assert finer[1] - finer[0] <= high - low
    if value.bound is None:
        assert low < high


def test_enormous_budgets():
    huge = epsilon("1000")
    assert huge.compare_bound(rational(10) ** 434) == 1
    assert huge.compare_bound(rational(10) ** 435) == -1
    assert log(rational(10) ** 5000).compare(epsilon("11512.9")) == 1
    assert log(rational(10) ** 5000).decimal() == "11512.9"
    assert epsilon("10000*ln(2)").bound == 2**10000
    low, high = huge.enclosure(128)
    assert low < high


def test_infinity():
    assert INFINITE.allows(rational(1), rational("1e-900"))
    assert not INFINITE.allows(rational(1), rational(0))
    assert INFINITE.allows(rational(0), rational(0))
    assert INFINITE.allows(rational("1/2"), rational(0), rational("1/2"))
    assert INFINITE.compare(INFINITE) == 0
    assert INFINITE.compare(epsilon(10**6)) == 1
    assert INFINITE.show() == "inf (no epsilon at all)"
    assert INFINITE.bound is None
    with pytest.raises(BudgetError):
        INFINITE.enclosure()


def test_what_a_budget_allows_with_a_delta():
    budget = epsilon("ln(2)")
    assert budget.allows(rational("0.7"), rational("0.3"), rational("0.1"))
    assert not budget.allows(rational("0.7"), rational("0.3"), rational("0.0999"))
    assert not budget.allows(rational("0.1"), rational(0))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ln(8)", "ln(8) ≈ 2.07944"),
        ("1/2", "1/2 = 0.5"),
        ("1/3", "1/3 ≈ 0.333333"),
        ("2", "2"),
        ("0", "0"),
        ("ln(2)/3", "ln(2)/3 ≈ 0.231049"),
    ],
)
def test_budgets_are_shown_in_both_forms(text, shown):
    assert epsilon(text).show() == shown


def test_budgets_print():
    assert str(Budget.of("ln(2)")) == "ln(2)"
    assert str(Budget.of("ln(2)", "1e-2")) == "(ln(2), 1/100)"
    assert "for each output" in str(Budget.of(1, "1/2", pointwise=True))
    assert repr(epsilon("4*ln(2)")) == "Epsilon('ln(16)')"


# ---------------------------------------------------------------------------------------------------- balls, matrices


@given(st.integers(2, 50), st.integers(10, 300))
def test_the_ends_of_a_ball_enclose_it(value, bits):
    with precision(bits):
        low, high = rational_bounds(arb(value).sqrt())
    assert low * low <= value <= high * high


def test_precision_returns():
    before = ctx.prec
    with precision(1000):
        assert ctx.prec == 1000
    assert ctx.prec == before
    with pytest.raises(ZeroDivisionError), precision(1000):
        fmpq(1) / 0
    assert ctx.prec == before


tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=2)


@given(tables, st.lists(st.integers(0, 4), min_size=2, max_size=2), st.lists(st.integers(0, 4), min_size=3, max_size=3))
def test_products_with_a_matrix(table, row, column):
    matrix = Matrix.of(3, ({j: fmpq(x, 7) for j, x in enumerate(entries)} for entries in table))
    after = matrix.after([fmpq(x) for x in row])
    assert after == tuple(fmpq(sum(row[i] * table[i][j] for i in range(2)), 7) for j in range(3))
    before = matrix.before([fmpq(x) for x in column])
    assert before == tuple(fmpq(sum(table[i][j] * column[j] for j in range(3)), 7) for i in range(2))
    assert dot(after, [fmpq(x) for x in column]) == dot([fmpq(x) for x in row], before)
    assert matrix.is_zero == (not any(map(any, table)))
    assert all(x != 0 for entries in matrix.rows for _, x in entries)
    assert (7 * fmpq(1, matrix.denominator)).q == 1
