"""Scales that are multiples of several public numbers: products have symbols, and costs are exchanged between counters."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

import pytest
from tests.amounts import patience, selected
from tests.certificates import nested, recheck
from tests.corpus import programs
from tests.laplace_programs import load

from privproof import LanguageError, check
from privproof.exact import Rational
from privproof_checker import Accepted, Rejected
from privproof_checker.programs.symbol_products import inequalities

PROVED, NOT_PROVED, REFUSED = (
    [each for each in programs("continuous", "products") if each.expected == word]
    for word in ("proved", "not proved", "refused")
)


@pytest.mark.parametrize("program", selected(PROVED, 5), ids=str)
def test_a_product_of_public_numbers_pays_for_as_many_turns(tmp_path, program):
    assert check(load(tmp_path, program), 1).status == "proved"


@pytest.mark.parametrize("program", selected(NOT_PROVED, 3), ids=str)
def test_and_for_no_more(tmp_path, program):
    assert check(load(tmp_path, program), 1, time_limit=patience(6)).status != "proved"


@pytest.mark.parametrize("program", REFUSED, ids=str)
def test_a_factor_that_may_be_zero_is_refused(tmp_path, program):
    with pytest.raises(LanguageError, match="may be 0 or below"):
        check(load(tmp_path, program), 1)


def _times(rows: list[tuple[tuple[str, ...], Fraction, tuple[str, ...]]], values: dict[str, int]) -> Fraction:
    """What loops lose that show one number with Laplace noise in every turn: turns over scale, added up."""
    at = {**values, "N * M": values["N"] * values["M"], "2": 2}
    return sum(
        (prod(at[n] for n in ends) / (factor * prod(at[n] for n in scale)) for ends, factor, scale in rows), Fraction(0)
    )


@pytest.mark.parametrize("seed", selected(range(72), 1))
def test_random_loops_against_the_loss_of_the_laplace_mechanism(tmp_path, seed):
    dice = Random(seed)
    rows, lines = [], []
    for _ in range(dice.randint(1, 2)):
        ends = tuple(dice.choice(("N", "M", "N * M", "2")) for _ in range(dice.randint(1, 2)))
        scale = tuple(dice.choice("NM") for _ in range(dice.randint(1, 3)))
        factor = Fraction(dice.choice((1, 2, 4)))
        rows.append((ends, factor, scale))
        for depth, end in enumerate(ends):
            lines.append("    " * (depth + 1) + f"for _ in range({end}):")
        lines.append("    " * (len(ends) + 1) + f"yield laplace(x, scale={' * '.join([str(factor), *scale])})")
    head = "@mechanism\ndef m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):\n"
    text = "from privproof import *\nfrom privproof.language import laplace, real\n\n" + head + "\n".join(lines) + "\n"
    losses = {(n, m): _times(rows, {"N": n, "M": m}) for n, m in product(range(1, 7), repeat=2)}
    worst = max(losses.values())
    grows = worst in (losses[6, 1], losses[1, 6], losses[6, 6]) and worst > losses[1, 1]
    function = load(tmp_path, text)
    for claim in (worst, worst - Fraction(1, 24)):
        verdict = check(function, str(claim), time_limit=patience(6) if claim < worst or grows else None)
        if claim < worst:
            assert verdict.status != "proved"
        elif (
            not grows and len(rows) == 1 and (len(rows[0][0]) == 1 or "N * M" not in rows[0][0])
        ):  # one number is exchanged
            assert verdict.status == "proved", text
        else:
            assert not (grows and verdict.status == "proved"), text


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    program = next(each for each in PROVED if each.name.endswith("rounds of steps"))
    certificate = nested(check(load(tmp_path_factory.mktemp("rounds"), program), 1).certificate)
    assert isinstance(recheck(certificate), Accepted)
    return certificate


def test_the_explanation_counts_together_what_is_exchanged(tmp_path):
    told = str(check(load(tmp_path, next(each for each in PROVED if each.name.endswith("rounds of steps"))), 1))
    assert "noise whose scale grows with M * N costs at most 1" in told
    assert "costs at most 0" not in told


def _exchanging(certificate):
    return next(path for path in certificate["evidence"]["paths"] if path.get("exchanged"))["exchanged"][0]


@pytest.mark.parametrize(
    ("member", "value"),
    [("times", "-1"), ("times", "1/2"), ("times", "2"), ("by", "K"), ("names", ["N"]), ("names", [])],
)
def test_an_exchange_leaves_the_cost_as_it_is(rounds, member, value):
    certificate = copy.deepcopy(rounds)
    assert _exchanging(certificate)[member] != value
    _exchanging(certificate)[member] = value
    assert isinstance(recheck(certificate), Rejected)


def test_the_other_factor_cannot_be_exchanged_in_its_place(rounds):
    certificate = copy.deepcopy(rounds)
    exchange = _exchanging(certificate)
    exchange["by"] = next(name for name in ("M", "N") if name != exchange["by"])
    assert isinstance(recheck(certificate), Rejected)


def test_without_the_exchange_there_is_no_proof(rounds):
    certificate = copy.deepcopy(rounds)
    for path in certificate["evidence"]["paths"]:
        path.pop("exchanged", None)
    assert isinstance(recheck(certificate), Rejected)


def test_no_bound_takes_anything_off_the_others(rounds):
    for number, bound in enumerate(rounds["evidence"]["bounds"]):
        if bound["names"]:
            certificate = copy.deepcopy(rounds)
            certificate["evidence"]["bounds"][number]["factor"] = "-1"
            assert isinstance(recheck(certificate), Rejected)


class _Declared:
    def __init__(self, **ranges):
        self.ranges = ranges


@pytest.mark.parametrize(
    "ends", [((1, None), (1, None)), ((0, None), (2, 5)), ((-3, 4), (-2, 2)), ((None, 3), (-1, None))]
)
def test_what_is_known_of_a_product_holds_of_it(ends):
    ranges = {n: tuple(None if e is None else Rational(e) for e in end) for n, end in zip("MN", ends, strict=True)}
    own = {"M": "M", "N": "N", "M * N": "P"}
    known = list(inequalities(("M", "N"), _Declared(**ranges), own))
    assert known
    grid = [range(-7 if low is None else low, 8 if high is None else high + 1) for low, high in ends]
    for m, n in product(*grid):
        for term in known:
            assert _value(term, {"M": m, "N": n, "P": m * n}), (term, m, n)


def _value(term, values):
    words = term.replace("(", " ( ").replace(")", " ) ").split()

    def read():
        word = words.pop(0)
        if word != "(":
            return values[word] if word in values else int(word)
        head, parts = words.pop(0), []
        while words[0] != ")":
            parts.append(read())
        words.pop(0)
        match head:
            case "+":
                return sum(parts)
            case "-":
                return -parts[0] if len(parts) == 1 else parts[0] - sum(parts[1:])
            case "*":
                return prod(parts)
            case ">=":
                return parts[0] >= parts[1]
            case "<=":
                return parts[0] <= parts[1]

    return read()
