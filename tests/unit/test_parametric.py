"""The parametric engine: proofs, violations, suprema."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from tests.tables import counting, noisy_max, one, rare_causes, simplex

from privproof.engines.parametric import (
    Proof,
    Undecided,
    Violation,
    non_negative,
    prove,
    supremum,
)
from privproof.engines.parametric import (
    second_solvers as solvers,
)
from privproof.engines.parametric.bernstein_boxes import (
    Corner,
    coefficients,
    coordinate_polynomials,
    coordinates,
    cut_box,
    halves,
    split_by_order,
)
from privproof.engines.parametric.simple_points import simple_points, simplify_point
from privproof.engines.search_monitor import Monitor
from privproof.exact import Rational, fraction, simplest
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.models.parameter_conditions import RegionConditions, conditions_of

ZERO = Rational(0)
SQUARE = {"p": "0 < p < 1", "q": "0 < q < 1"}


def value(tensor, point):
    """A polynomial from its Bernstein coefficients, by definition."""
    total = Fraction(0)
    for index in itertools.product(*map(range, tensor.shape)):
        weight = Fraction(1)
        for i, size, x in zip(index, tensor.shape, point, strict=True):
            weight *= comb(size - 1, i) * x**i * (1 - x) ** (size - 1 - i)
        total += weight * tensor[index]
    return total


def check_violation(conditions, found, c, delta=ZERO):
    """A violation is what it says, by the definition."""
    assert isinstance(found, Violation)
    assert conditions.region.contains(found.values)
    scale = found.condition.scale.at(found.values)
    assert scale > 0
    assert found.left == found.condition.left.at(found.values) / scale
    assert found.right == found.condition.right.at(found.values) / scale
    assert found.left > c * found.right + delta


class TestCoefficients:
    polynomial = Polynomial.of("3*p^3*q - p*q^2 + 1/7 - 2*p", ("p", "q"))
    points = tuple(itertools.product((Fraction(0), Fraction(1, 3), Fraction(4, 5), Fraction(1)), repeat=2))

    def at(self, point):
        return fraction(self.polynomial.at(dict(zip("pq", point, strict=True))))

    def test_they_represent_the_polynomial(self):
        tensor = coefficients(self.polynomial)
        factors = {value(tensor, point) / self.at(point) for point in self.points}
        assert len(factors) == 1
        assert factors.pop() > 0

    @pytest.mark.parametrize("axis", [0, 1])
    def test_halves(self, axis):
        low, high = halves(coefficients(self.polynomial), axis)
        factors = set()
        for point in self.points:
            for part, moved in ((low, point[axis] / 2), (high, (1 + point[axis]) / 2)):
                there = (*point[:axis], moved, *point[axis + 1 :])
                factors.add(value(part, point) / self.at(there))
        assert len(factors) == 1
        assert factors.pop() > 0

    @pytest.mark.parametrize("axis", [0, 1])
    def test_cut(self, axis):
        low, high = cut_box(coefficients(self.polynomial), axis, Rational(2, 7))
        share, factors = Fraction(2, 7), set()
        for point in self.points:
            for part, moved in ((low, point[axis] * share), (high, share + point[axis] * (1 - share))):
                there = (*point[:axis], moved, *point[axis + 1 :])
                factors.add(value(part, point) / self.at(there))
        assert len(factors) == 1
        assert factors.pop() > 0

    @pytest.mark.parametrize(("first", "second"), list(itertools.product((False, True), repeat=2)))
    def test_ordered(self, first, second):
        parts = split_by_order(coefficients(self.polynomial), Corner(0, 1, first, second))
        for which, part in enumerate(parts):
            factors = set()
            for u, y in self.points:
                x = (u * y, y) if which == 0 else (y, u * y)
                there = tuple(1 - z if high else z for z, high in zip(x, (first, second), strict=True))
                factors.add(value(part, (u, y) if which == 0 else (y, u)) / self.at(there))
            assert len(factors) == 1
            assert factors.pop() > 0

    def test_halves_stay_exact_beyond_machine_integers(self):
        tensor = np.array([10**30, -(10**30) + 1, 10**30], dtype=object)
        for _ in range(40):
            tensor, _high = halves(tensor, 0)
        assert tensor.dtype == object
        assert tensor[0] == 10**30 * 4**40

    def test_a_number_has_one_coefficient(self):
        assert coefficients(Polynomial.constant("3/2", ())).shape == ()


class TestCoordinates:
    @pytest.mark.parametrize(
        ("constraints", "expected"),
        [
            (["p + q + r <= 1"], {"p": ("0", "1"), "q": ("0", "-p + 1"), "r": ("0", "-p - q + 1")}),
            (["p <= q", "q <= r"], {"p": ("0", "1"), "r": ("p", "1"), "q": ("p", "r")}),
            (["p + q >= 1/2", "p*q <= 1/4"], {"p": ("0", "1"), "q": ("0", "1"), "r": ("0", "1")}),
            (["p + q <= 3/2"], {"p": ("0", "1"), "q": ("0", "1"), "r": ("0", "1")}),
        ],
    )
    def test_linear_constraints(self, constraints, expected):
        region = ParameterRegion.of(dict.fromkeys("pqr", "[0, 1]"), constraints)
        assert {each.name: (str(each.low), str(each.high)) for each in coordinates(region)} == expected

    def test_every_point_of_the_region_is_reached(self):
        region = ParameterRegion.of(dict.fromkeys("pqr", "[0, 1]"), ["p + q + r <= 1"])
        chosen = coordinates(region)
        for point in simple_points(region, most=300):
            shares = {}
            for each in chosen:
                low, high = each.low.at(point), each.high.at(point)
                shares[each.name] = ZERO if low == high else (point[each.name] - low) / (high - low)
                assert 0 <= shares[each.name] <= 1
            values = coordinate_polynomials(region.names, chosen)
            assert {name: values[name].at(shares) for name in region.names} == point


class TestPoints:
    def test_simple_ones_come_first_and_belong(self):
        region = ParameterRegion.of({"p": "0 < p <= 1", "q": "[1/4, 3/4)"}, ["p + q < 1"])
        points = simple_points(region)
        assert points[0] == {"p": Rational(1, 2), "q": Rational(1, 4)}
        assert all(region.contains(point) for point in points)

    def test_a_narrow_interval_has_points(self):
        region = ParameterRegion.of({"p": "1/1000 < p < 2/1000"})
        assert region.contains(simple_points(region)[0])

    def test_a_single_point(self):
        assert simple_points(ParameterRegion.of({"p": "[1/3, 1/3]"})) == [{"p": Rational(1, 3)}]

    def test_off_an_open_border(self):
        region = ParameterRegion.of({"p": "0 < p < 1"})
        found = simplify_point({"p": ZERO}, region, {"p": Rational(1, 2)}, lambda at: at["p"] < Rational(1, 77))
        assert found == {"p": Rational(1, 100)}

    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [("3.14", "3.15", "22/7"), ("1/3", "1/2", "1/2"), ("2", "3", "2"), ("7/5", "7/5", "7/5"), ("9/10", "6/5", "1")],
    )
    def test_the_simplest_fraction(self, low, high, expected):
        assert simplest(Fraction(low), Fraction(high)) == Fraction(expected)


class TestExamplesOfThePaper:
    def test_counting(self):
        conditions = conditions_of(counting(by_count=True))
        assert isinstance(prove(conditions, Rational(2), ZERO, Monitor()), Proof)
        check_violation(conditions, prove(conditions, Rational(19, 10), ZERO, Monitor()), Rational(19, 10))
        found = supremum(conditions, ZERO, Monitor())
        assert (found.lower, found.upper, found.attained) == (2, 2, False)
        assert found.point in ({"p": ZERO}, {"p": Rational(1)})

    def test_counting_one_person(self):
        found = supremum(conditions_of(counting(by_count=False)), ZERO, Monitor())
        assert (found.lower, found.exact, found.attained, found.point) == (2, True, True, {"p": Rational(1, 2)})

    def test_noisy_max(self):
        conditions = conditions_of(noisy_max())
        assert isinstance(prove(conditions, Rational(2), ZERO, Monitor()), Proof)
        assert isinstance(prove(conditions, Rational(40, 21), ZERO, Monitor()), Proof)
        below = Rational(40, 21) - Rational(1, 1000)
        check_violation(conditions, prove(conditions, below, ZERO, Monitor()), below)
        found = supremum(conditions, ZERO, Monitor())
        assert (found.lower, found.upper, found.attained) == (Rational(40, 21), Rational(40, 21), False)
        assert found.point == {"pA": 0, "pB": 1, "pC": 1}
        assert found.condition.output == "~1"

    def test_contagious(self):
        conditions = conditions_of(noisy_max(contagious=True))
        found = supremum(conditions, ZERO, Monitor())
        assert (found.lower, found.upper, found.attained) == (Rational(24, 7), Rational(24, 7), False)
        violation = prove(conditions, Rational(2), ZERO, Monitor())
        check_violation(conditions, violation, Rational(2))
        assert set(violation.values.values()) == {Rational(1, 2)}
        assert (violation.condition.output, violation.ratio) == ("~1", Rational(287, 107))


class TestProofs:
    def test_no_parameters(self):
        conditions = one({}, "2", "3")
        assert isinstance(prove(conditions, Rational(2, 3), ZERO, Monitor()), Proof)
        assert prove(conditions, Rational(3, 5), ZERO, Monitor()).values == {}
        found = supremum(conditions, ZERO, Monitor())
        assert (found.lower, found.exact, found.attained) == (Rational(2, 3), True, True)

    @pytest.mark.parametrize(
        ("left", "right", "c"),
        [
            ("p*(1 - p)", "1", "1/4"),
            ("p*(1 - p) + q*(1 - q)", "1", "1/2"),
            ("p", "p + q", "1"),
            ("p^2*q", "p^2*q + p^3", "1"),
            ("(2*p + q/2)*(p + 2*q)", "(p + q)*(2*p + q)", "13/10"),
            ("(2*(1 - p) + q/2)*(1 - p + 2*q)", "(1 - p + q)*(2*(1 - p) + q)", "13/10"),
            ("4*p*q*(1 - p)*(1 - q)", "1", "1/4"),
        ],
    )
    def test_equality_on_the_border_and_where_squares_vanish(self, left, right, c):
        conditions = one(SQUARE, left, right)
        bound = Rational(*Fraction(c).as_integer_ratio())
        assert isinstance(prove(conditions, bound, ZERO, Monitor()), Proof)

    def test_the_product_of_the_factors_is_the_condition(self):
        conditions = one(SQUARE, "p*(1 - p)*q", "q")
        proof = prove(conditions, Rational(1, 4), ZERO, Monitor())
        assert isinstance(proof, Proof)
        product = Polynomial.constant(1, ("p", "q"))
        for factor in proof.conditions[0].factors:
            product = product * factor.polynomial**factor.power
        assert product == Polynomial.of("q/4 - p*(1 - p)*q", ("p", "q"))

    def test_simplex(self):
        conditions = conditions_of(simplex())
        assert isinstance(prove(conditions, Rational(3), ZERO, Monitor()), Proof)
        check_violation(conditions, prove(conditions, Rational(5, 2), ZERO, Monitor()), Rational(5, 2))

    def test_rare_causes(self):
        conditions = conditions_of(rare_causes())
        found = supremum(conditions, ZERO, Monitor())
        assert found.upper - found.lower < Rational(1, 10**5)
        proof = prove(conditions, found.lower + Rational(1, 100), ZERO, Monitor())
        assert isinstance(proof, Proof)
        assert "<" in "".join(factor.tree for each in proof.conditions for factor in each.factors)

    def test_nonlinear_constraints(self):
        conditions = one(SQUARE, "p + q", "1", constraints=["p^2 + q^2 <= 1"])
        assert isinstance(prove(conditions, Rational(3, 2), ZERO, Monitor()), Proof)
        check_violation(conditions, prove(conditions, Rational(7, 5), ZERO, Monitor()), Rational(7, 5))

    def test_strict_constraints_and_open_ends_are_respected(self):
        conditions = one({"p": "0 < p < 1", "q": "[0, 1)"}, "p", "1 - q", constraints=["q < p", "p < 1/2"])
        found = prove(conditions, Rational(9, 10), ZERO, Monitor())
        check_violation(conditions, found, Rational(9, 10))

    def test_delta(self):
        conditions = one({"p": "0 < p < 1"}, "1/2 + p/4", "1/2")
        quarter = Rational(1, 4)
        assert isinstance(prove(conditions, Rational(1), quarter, Monitor()), Proof)
        check_violation(conditions, prove(conditions, Rational(9, 10), quarter, Monitor()), Rational(9, 10), quarter)
        found = supremum(conditions, quarter, Monitor())
        assert (found.lower, found.exact, found.attained, found.point) == (1, True, False, {"p": 1})

    def test_an_empty_region_proves_nothing(self):
        conditions = one(SQUARE, "0", "1", constraints=["p + q >= 3"])
        assert isinstance(prove(conditions, Rational(2), ZERO, Monitor()), Undecided)
        assert supremum(conditions, ZERO, Monitor()).upper is None

    def test_an_impossible_secret_proves_nothing(self):
        conditions = one(SQUARE, "0", "0", "0")
        assert "possible" in prove(conditions, Rational(2), ZERO, Monitor()).reason

    def test_no_condition_proves_nothing(self):
        conditions = RegionConditions(ParameterRegion.of(SQUARE), ())
        assert isinstance(prove(conditions, Rational(2), ZERO, Monitor()), Undecided)

    def test_what_cannot_be_closed_is_undecided_and_the_solvers_opinion_is_a_note(self):
        pytest.importorskip("z3")
        conditions = one(SQUARE, "1", "1 + (p - 1/3)^2 + (q - 1/7)^2")
        found = prove(conditions, Rational(1), ZERO, Monitor())
        assert isinstance(found, Undecided)
        assert found.open == conditions.listed
        assert "no certificate" in found.notes[0]

    @pytest.mark.parametrize(
        ("left", "right", "point"),
        [
            ("1", "1 + (p - 1/3)^2 - (p - 1/3)*(q - 1/7) + (q - 1/7)^2", {"p": Rational(1, 3), "q": Rational(1, 7)}),
            ("27*p*q*(1 - p - q)", "1", {"p": Rational(1, 3), "q": Rational(1, 3)}),
        ],
    )
    def test_a_supremum_attained_inside_is_exact(self, left, right, point):
        found = supremum(one(SQUARE, left, right, constraints=["p + q <= 1"]), ZERO, Monitor())
        assert (found.lower, found.upper, found.attained, found.point) == (1, 1, True, point)

    def test_an_interrupted_search_says_so(self):
        conditions = conditions_of(noisy_max())
        monitor = Monitor(interrupted=True)
        one_by_one = one(SQUARE, "(2*p + q/2)*(p + 2*q)", "(p + q)*(2*p + q)")
        assert prove(one_by_one, Rational(13, 10), ZERO, monitor).reason == "interrupted"
        assert "interrupted" in supremum(conditions, ZERO, monitor).notes

    def test_few_boxes_leave_it_open(self):
        conditions = one(SQUARE, "(2*p + q/2)*(p + 2*q)", "(p + q)*(2*p + q)")
        found = prove(conditions, Rational(13, 10), ZERO, Monitor(), boxes=5, ask_solvers=False)
        assert isinstance(found, Undecided)


class TestSuprema:
    @pytest.mark.parametrize(
        ("left", "right", "scale"),
        [("1", "p", "p"), ("p", "p*q", "1"), ("p*(1 - p)", "q", "1"), ("q", "0", "1"), ("p", "p^2 + q^2", "p")],
    )
    def test_infinite(self, left, right, scale):
        found = supremum(one(SQUARE, left, right, scale), ZERO, Monitor())
        assert found.infinite
        assert found.exact
        assert found.attained or found.direction is not None

    def test_irrational(self):
        found = supremum(one({"p": "0 < p < 1"}, "p*(1 - p^2)", "1"), ZERO, Monitor())
        root = 2 / (3 * 3**0.5)
        assert float(fraction(found.lower)) <= root <= float(fraction(found.upper))
        assert fraction(found.upper / found.lower - 1) <= Fraction(1, 10**6)
        assert found.attained

    def test_a_coarser_precision(self):
        found = supremum(one({"p": "0 < p < 1"}, "p*(1 - p^2)", "1"), ZERO, Monitor(), precision=Rational(1, 10))
        assert found.upper / found.lower <= Rational(11, 10)

    def test_never_below_zero(self):
        found = supremum(one({"p": "0 < p < 1"}, "p/4", "1", "1"), Rational(1, 2), Monitor())
        assert (found.lower, found.upper, found.condition) == (0, 0, None)


class TestNonNegative:
    def test_weights(self):
        region = ParameterRegion.of({"p": "[0, 1]", "q": "[0, 1]"}, ["p + q <= 1"])
        texts = ("p", "1 - p - q", "p*q", "(p - q)^2 + p", "p - q", "-1")
        trees = non_negative([Polynomial.of(text, ("p", "q")) for text in texts], region, Monitor())
        assert [tree is not None for tree in trees] == [True, True, True, True, False, False]


class TestSolvers:
    region = ParameterRegion.of(SQUARE, ["p + q <= 1"])

    @pytest.mark.parametrize("name", ["z3", "cvc5"])
    def test_values_and_opinions(self, name):
        pytest.importorskip(name)
        scale = Polynomial.constant(1, ("p", "q"))
        sign = {"z3": "Z3"}.get(name, name)
        near = Polynomial.of("(p - 1/3)^2 + (q - 1/3)^2 - 1/1000", ("p", "q"))
        found = {each.solver: each for each in solvers.opinions(near, scale, self.region)}[sign]
        assert found.verdict == "sat"
        assert self.region.contains(found.values)
        assert near.at(found.values) < 0
        never = Polynomial.of("(p - 1/3)^2 + (q - 1/3)^2", ("p", "q"))
        assert {each.solver: each for each in solvers.opinions(never, scale, self.region)}[sign].verdict == "unsat"

    def test_they_are_imported_only_when_asked(self):
        script = "import sys, privproof.engines.parametric; print('z3' in sys.modules, 'cvc5' in sys.modules)"
        child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert child.stdout.split() == ["False", "False"]
