"""The checker on questions about secrets: good certificates are accepted, tampered ones rejected, nonsense never raises."""

from __future__ import annotations

import copy
import itertools
import json
from fractions import Fraction
from math import comb

import pytest
from tests.tables import counting, noisy_max, proved_certificate, rare_causes, refuted_certificate, simplex

from privproof.engines.parametric import Proof, Violation, prove
from privproof.engines.search_monitor import Monitor
from privproof.exact import Budget, Rational, rational
from privproof.exact.regions import ParameterRegion
from privproof.models.parameter_conditions import ConditionTable, conditions_of
from privproof_checker import Accepted, Limits, Rejected, recheck
from privproof_checker.outcomes import Refusal
from privproof_checker.pufferfish.bernstein import Boxes, CubeSide, check_tree, grid, halves, split_by_order
from privproof_checker.pufferfish.polynomials import at, read_polynomial

LIMITS = Limits()
NAMES = {"p": 0, "q": 1}


def certificate(table, epsilon, delta="0"):
    """A certificate for whatever the engine decides, as it comes back from a file."""
    budget = Budget.of(epsilon, delta, pointwise=True)
    decision = prove(conditions_of(table), budget.epsilon.enclosure()[0], budget.delta, Monitor())
    if isinstance(decision, Violation):
        return json.loads(json.dumps(refuted_certificate(table, budget, decision)))
    assert isinstance(decision, Proof), decision
    return json.loads(json.dumps(proved_certificate(table, budget, decision, Monitor())))


@pytest.fixture(scope="module")
def proved():
    return certificate(simplex(), "ln(3)")


@pytest.fixture(scope="module")
def refuted():
    return certificate(simplex(), "ln(2)")


def changed(document, path, value):
    """A copy with one value replaced, or taken away by `...`."""
    result = copy.deepcopy(document)
    inside = result
    for step in path[:-1]:
        inside = inside[step]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return result


class TestPolynomials:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("p^2*q - 3/4*p + 1/2", "3/8"),
            ("(1 - p)**2 / 4 - -q", "17/16"),
            ("2*(p + q)*(p - q)", "-3/2"),
            ("-p^2", "-1/4"),
            ("0.25*q", "1/4"),
            ("7", "7"),
        ],
    )
    def test_values(self, text, expected):
        polynomial = read_polynomial(text, NAMES, "here", LIMITS)
        assert at(polynomial, (Rational(1, 2), Rational(1))) == rational(expected)

    def test_equal_polynomials_are_equal(self):
        first, second = (read_polynomial(text, NAMES, "here", LIMITS) for text in ("(p+q)^2", "p^2+2*p*q+q^2"))
        assert first == second
        assert read_polynomial("p - p", NAMES, "here", LIMITS) == {}

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "p +",
            "r",
            "p/q",
            "p/0",
            "p^-1",
            "p^p",
            "p^9999",
            "(p",
            "p)",
            "p q",
            "p $ q",
            "(" * 500 + "p",
            "2^",
            None,
            [],
            True,
        ],
    )
    def test_nonsense(self, text):
        with pytest.raises(Refusal):
            read_polynomial(text, NAMES, "here", LIMITS)

    def test_limits(self):
        with pytest.raises(Refusal):
            read_polynomial("(1 + p + q)^900", NAMES, "here", Limits(explored=10_000))
        with pytest.raises(Refusal):
            read_polynomial(f"{'9' * 900}^1000", NAMES, "here", LIMITS)


class TestTrees:
    def grid(self, text):
        return grid(read_polynomial(text, NAMES, "here", LIMITS), 2, "here", LIMITS)

    def check(self, tree, text, constraints=()):
        sides = [CubeSide(self.grid(expression), strict) for expression, strict in constraints]
        check_tree(tree, self.grid(text), sides, Boxes(LIMITS), "tree")

    @staticmethod
    def value(part, point):
        total = Fraction(0)
        for coefficient, index in zip(part.values, itertools.product(*map(range, part.shape)), strict=True):
            weight = Fraction(coefficient)
            for i, size, x in zip(index, part.shape, point, strict=True):
                weight *= comb(size - 1, i) * x**i * (1 - x) ** (size - 1 - i)
            total += weight
        return total

    def test_parts_are_the_polynomial_there(self):
        text = "3*p^3*q - p*q^2 + 1/7 - 2*p"
        whole, polynomial = self.grid(text), read_polynomial(text, NAMES, "here", LIMITS)
        points = list(itertools.product((Fraction(0), Fraction(2, 3), Fraction(1, 5), Fraction(1)), repeat=2))
        ways = [
            (whole, lambda x, y: (x, y)),
            (halves(whole, 0)[0], lambda x, y: (x / 2, y)),
            (halves(whole, 0)[1], lambda x, y: ((1 + x) / 2, y)),
            (halves(whole, 1)[0], lambda x, y: (x, y / 2)),
            (halves(whole, 1)[1], lambda x, y: (x, (1 + y) / 2)),
            (halves(whole, 1, 2, 7)[0], lambda x, y: (x, y * 2 / 7)),
            (halves(whole, 0, 2, 7)[1], lambda x, y: ((2 + 5 * x) / 7, y)),
            (split_by_order(whole, (0, False), (1, False))[0], lambda x, y: (x * y, y)),
            (split_by_order(whole, (0, False), (1, True))[0], lambda x, y: (x * y, 1 - y)),
            (split_by_order(whole, (0, True), (1, False))[1], lambda x, y: (1 - x, x * y)),
            (split_by_order(whole, (1, True), (0, True))[0], lambda x, y: (1 - x, 1 - x * y)),
        ]
        for part, there in ways:
            factors = set()
            for point in points:
                expected = at(polynomial, [rational(x) for x in there(*point)])
                factors.add(rational(self.value(part, point)) / expected)
            assert len(factors) == 1
            assert factors.pop() > 0

    @pytest.mark.parametrize(
        ("tree", "text", "constraints"),
        [
            (".", "p*q", ()),
            ("a..", "(2*p - 1)^2", ()),
            ("a(1/3)..", "(3*p - 1)^2", ()),
            ("<ab..", "p^2 - p*q + q^2", ()),
            ("<AB..", "(1 - p)^2 - (1 - p)*(1 - q) + (1 - q)^2", ()),
            ("b.B", "3/4 - q", [("1", False), ("2/5 - q", False)]),
            ("A", "-1", [("-1", False)]),
            ("A", "-1", [("-p", True)]),
        ],
    )
    def test_good_trees(self, tree, text, constraints):
        self.check(tree, text, constraints)

    @pytest.mark.parametrize(
        ("tree", "text", "constraints"),
        [
            (".", "(2*p - 1)^2", ()),
            ("a..", "(3*p - 1)^2", ()),
            ("a(1/2)..", "(3*p - 1)^2", ()),
            ("a(0)..", "p", ()),
            ("a(1)..", "p", ()),
            ("a(-1/2)..", "p", ()),
            ("a(1/2..", "p", ()),
            ("a()..", "p", ()),
            ("a(x)..", "p", ()),
            ("(1/2)..", "p", ()),
            (".", "p^2 - p*q + q^2", ()),
            ("<aB..", "p^2 - p*q + q^2", ()),
            ("<ab..", "p^2 - 3*p*q + q^2", ()),
            ("b.B", "3/4 - q", [("1", False), ("3/5 - q", False)]),
            (".", "-p", ()),
            ("", "p", ()),
            ("a.", "p", ()),
            ("a...", "p", ()),
            ("..", "p", ()),
            ("A", "p", ()),
            ("A", "-1", [("-p", False)]),
            ("A", "-1", [("p - 1/2", False)]),
            ("B", "-1", [("-1", False)]),
            ("c..", "p", ()),
            ("<aa..", "p", ()),
            ("<aA..", "p", ()),
            ("<a", "p", ()),
            ("<", "p", ()),
            ("<ac..", "p", ()),
            ("?", "p", ()),
            (" .", "p", ()),
            ("\u212a..", "p", ()),
            ("\uff41..", "p", ()),
        ],
    )
    def test_bad_trees(self, tree, text, constraints):
        with pytest.raises(Refusal):
            self.check(tree, text, constraints)


class TestGoodCertificates:
    @pytest.mark.parametrize(
        ("table", "epsilon", "verdict"),
        [
            (counting(by_count=True), "ln(2)", "proved"),
            (counting(by_count=True), "ln(19/10)", "refuted"),
            (counting(by_count=True), "0.7", "proved"),
            (counting(by_count=True), "ln(5)/2", "proved"),
            (noisy_max(), "ln(40/21)", "proved"),
            (noisy_max(), "ln(13/7)", "refuted"),
            (noisy_max(contagious=True), "ln(24/7)", "proved"),
            (noisy_max(contagious=True), "ln(2)", "refuted"),
            (simplex(), "ln(3)", "proved"),
            (simplex(), "ln(2)", "refuted"),
            (rare_causes(), "ln(5/2)", "proved"),
            (rare_causes(), "ln(3/2)", "refuted"),
        ],
    )
    def test_accepted(self, table, epsilon, verdict):
        outcome = recheck(certificate(table, epsilon))
        assert isinstance(outcome, Accepted), outcome
        assert outcome.verdict == verdict

    def test_pointwise_delta(self):
        outcome = recheck(certificate(simplex(), "ln(2)", "1/6"))
        assert (outcome.verdict, outcome.details["method"]) == ("proved", "bernstein")
        assert recheck(certificate(simplex(), "ln(2)", "1/20")).verdict == "refuted"

    def test_a_delta_over_events_is_not_proved_output_by_output(self):
        document = certificate(simplex(), "ln(2)", "1/6")
        outcome = recheck(changed(document, ["question", "pointwise"], False))
        assert isinstance(outcome, Rejected)
        assert outcome.place == "question.pointwise"

    def test_a_witness_shows_that_it_is_tight(self):
        table = counting(by_count=False)
        conditions = conditions_of(table)
        proof = prove(conditions, Rational(2), Rational(0), Monitor())
        below = prove(conditions, Rational(19, 10), Rational(0), Monitor())
        document = proved_certificate(table, Budget.of("ln(2)"), proof, Monitor(), witness=below)
        outcome = recheck(document)
        assert outcome.details["tight"] is True
        assert "attained" in outcome.statement
        assert isinstance(recheck(changed(document, ["witness", "left"], "1/3")), Rejected)

    def test_an_infinite_epsilon_follows_from_any_bound(self, proved):
        assert isinstance(recheck(changed(proved, ["question", "epsilon"], "inf")), Accepted)


class TestTampering:
    @pytest.mark.parametrize(
        ("path", "value", "place"),
        [
            (["question", "data", 0, "weight"], "2*p", "question.data"),
            (["question", "data", 0, "weight"], "p^2", "question.data"),
            (["question", "data", 0, "outputs", "yes"], "1/3", "question.data[0].outputs"),
            (["question", "data", 0, "outputs"], {"yes": "9/10", "no": "1/10"}, "evidence.conditions"),
            (["question", "data", 0, "outputs"], {"yes": "3/2", "no": "-1/2"}, "question.data[0].outputs.no"),
            (["question", "data", 0, "secrets"], "s", "question.data[0].secrets"),
            (["question", "epsilon"], "ln(2)", "evidence.bound"),
            (["question", "epsilon"], "1", "evidence.bound"),
            (["question", "epsilon"], ..., "question.epsilon"),
            (["question", "constraints"], [], "evidence.coordinates"),
            (["question", "constraints", 0, "expression"], "p + q - 1", "evidence.points"),
            (["question", "constraints", 0, "expression"], "2 - p - q", "evidence.coordinates"),
            (["question", "parameters", 0, "low"], "-1", "evidence.coordinates"),
            (["question", "parameters", 0, "name"], "p p", "question.parameters[0].name"),
            (["question", "parameters", 0, "low"], "2", "question.parameters[0]"),
            (["question", "parameters", 1, "name"], "p", "question.parameters[1].name"),
            (["question", "pairs"], [], "question.pairs"),
            (["question", "pairs"], [["s", "s"]], "question.pairs[0]"),
            (["question", "pairs"], [["s", "nobody"]], "question.pairs[0][1]"),
            (["question", "surprise"], 1, "question"),
            (["evidence", "method"], "parameters", "evidence.method"),
            (["evidence", "bound"], "2", "evidence.conditions"),
            (["evidence", "bound"], "4", "evidence.bound"),
            (["evidence", "bound"], "-1", "evidence.bound"),
            (["evidence", "points"], [], "evidence.points"),
            (["evidence", "points", 0], {"p": "0", "q": "0"}, "evidence.points"),
            (["evidence", "points", 0], {"p": "1", "q": "0"}, "evidence.points"),
            (["evidence", "points", 0, "p"], "2", "evidence.points[0].p"),
            (["evidence", "points", 0], {"p": "1", "q": "1"}, "evidence.points[0]"),
            (["evidence", "points", 0, "q"], ..., "evidence.points[0]"),
            (["evidence", "weights", 0], "", "evidence.weights[0]"),
            (["evidence", "weights", 0], "A", "evidence.weights[0]"),
            (["evidence", "weights"], [], "evidence.weights"),
            (["evidence", "coordinates"], [], "evidence.coordinates"),
            (["evidence", "coordinates", 0, "high"], "1/2", "evidence.coordinates[0].high"),
            (["evidence", "coordinates", 0, "low"], "1/2", "evidence.coordinates[0].low"),
            (["evidence", "coordinates", 1, "high"], "1 - 2*p", "evidence.coordinates[1].high"),
            (["evidence", "coordinates", 1, "high"], "1 - q", "evidence.coordinates[1]"),
            (["evidence", "coordinates", 1, "name"], "p", "evidence.coordinates[1]"),
            (["evidence", "conditions", 0], ..., "evidence.conditions"),
            (["evidence", "conditions", 0, "output"], "no", "evidence.conditions[1]"),
            (["evidence", "conditions", 0, "pair"], ["s", "u"], "evidence.conditions[0].pair"),
            (["evidence", "conditions", 0, "factors"], [], "evidence.conditions[0]"),
            (["verdict"], "refuted", "evidence.method"),
        ],
    )
    def test_a_proof(self, proved, path, value, place):
        outcome = recheck(changed(proved, path, value))
        assert isinstance(outcome, Rejected), outcome
        assert outcome.place.startswith(place), outcome

    @pytest.mark.parametrize(
        ("path", "value", "place"),
        [
            (["evidence", "values", "p"], "3/2", "evidence.values.p"),
            (["evidence", "values", "p"], "0", "evidence.values"),
            (["evidence", "values", "p"], ..., "evidence.values"),
            (["evidence", "values", "q"], "1", "evidence.values"),
            (["evidence", "values", "q"], "1/2", "evidence"),
            (["evidence", "values", "r"], "1", "evidence.values"),
            (["evidence", "left"], "1/3", "evidence.left"),
            (["evidence", "right"], "1/7", "evidence.right"),
            (["evidence", "left"], 0.5, "document"),
            (["evidence", "pair"], ["t", "u"], "evidence.pair"),
            (["evidence", "pair"], ["t", "s"], "evidence.left"),
            (["evidence", "output"], "maybe", "evidence.output"),
            (["question", "epsilon"], "ln(3)", "evidence"),
            (["question", "delta"], "1/2", "evidence"),
            (["question", "constraints", 0], {"expression": "1/4 - p", "strict": False}, "evidence.values"),
            (["question", "parameters", 0, "high"], "1/4", "evidence.values.p"),
            (["verdict"], "proved", "evidence.method"),
        ],
    )
    def test_a_refutation(self, refuted, path, value, place):
        outcome = recheck(changed(refuted, path, value))
        assert isinstance(outcome, Rejected), outcome
        assert outcome.place.startswith(place), outcome

    def test_an_open_end_is_not_in_the_region(self, refuted):
        parameter = {"name": "q", "low": "0", "high": "1", "low_open": True, "high_open": False}
        assert refuted["evidence"]["values"]["q"] == "0"
        outcome = recheck(changed(refuted, ["question", "parameters", 1], parameter))
        assert outcome.place == "evidence.values.q"

    def test_a_negative_weight_is_no_prior(self):
        document = certificate(counting(by_count=False), "ln(2)")
        data = document["question"]["data"]
        data[0]["weight"], data[1]["weight"] = "2*p - 1", "1 - p^2 - (2*p - 1) - p*(1 - p)"
        outcome = recheck(document)
        assert isinstance(outcome, Rejected)
        assert outcome.place.startswith("evidence.weights")

    def test_factors(self):
        document = certificate(rare_causes(), "ln(17/10)")
        conditions = document["evidence"]["conditions"]
        at_ = next(i for i, each in enumerate(conditions) if "factors" in each)
        factors = ["evidence", "conditions", at_, "factors"]
        for path, value in (
            ([*factors, 0, "polynomial"], "1"),
            ([*factors, 0, "power"], 2),
            ([*factors, 0, "power"], 0),
            ([*factors, 0, "tree"], "a.."[:2]),
            ([*factors, 0, "tree"], ...),
            (factors, []),
        ):
            assert isinstance(recheck(changed(document, path, value)), Rejected), path

    def test_a_factor_that_changes_sign_is_rejected_even_if_the_product_is_right(self):
        document = certificate(rare_causes(), "ln(17/10)")
        for number, each in enumerate(document["evidence"]["conditions"]):
            for k, factor in enumerate(each.get("factors", ())):
                flipped = changed(
                    document,
                    ["evidence", "conditions", number, "factors", k, "polynomial"],
                    f"-({factor['polynomial']})",
                )
                assert isinstance(recheck(flipped), Rejected)

    def test_an_empty_region_is_not_proved(self):
        table = simplex()
        empty = ConditionTable(
            ParameterRegion.of({"p": "[0, 1]", "q": "[0, 1]"}, ["p + q <= 1", "p >= 2"]), table.rows, table.pairs
        )
        document = certificate(table, "ln(3)")
        document["question"]["constraints"].append({"expression": str(empty.region.constraints[1].expression)})
        outcome = recheck(document)
        assert outcome.place.startswith("evidence.points")

    def test_every_single_change_of_a_tree_is_noticed_or_harmless(self):
        document = certificate(rare_causes(), "ln(17/10)")
        for number, each in enumerate(document["evidence"]["conditions"]):
            trees = [["factors", k, "tree"] for k in range(len(each.get("factors", ())))] or [["tree"]]
            for path in trees:
                whole = each
                for step in path:
                    whole = whole[step]
                for i in range(min(len(whole), 12)):
                    shorter = changed(document, ["evidence", "conditions", number, *path], whole[:i] + whole[i + 1 :])
                    assert isinstance(recheck(shorter), Rejected)

    @pytest.mark.parametrize("value", [None, 1, "x", [], {}, True, [[]], {"a": None}, "9" * 50, -3])
    def test_nonsense_anywhere_never_raises(self, proved, refuted, value):
        for document in (proved, refuted):
            for path in paths(document):
                assert isinstance(recheck(changed(document, path, value)), Accepted | Rejected)

    def test_limits(self, proved):
        for limits in (Limits(nodes=3), Limits(tensor=2), Limits(digits=1), Limits(states=2), Limits(pairs=1)):
            assert isinstance(recheck(proved, limits=limits), Rejected)


def paths(value, before=()):
    """The path to every value in a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield [*before, step]
        yield from paths(inner, (*before, step))
