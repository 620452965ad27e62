"""Linear arithmetic in the checker: clauses say what formulas say, refutations are followed, and nothing false is accepted."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.evidence.certified_multipliers import NoMultipliers, multipliers, refutations
from privproof.exact import Rational
from privproof_checker.linear.linear_documents import read_refutation
from privproof_checker.linear.linear_normal import Clauses, LinearForm, clauses_of
from privproof_checker.linear.linear_rule import Propagation, Refutation, check_refutation
from privproof_checker.outcomes import DEFAULT_LIMITS, Refusal

DECLARED = "\n".join(
    f"(declare-const {name} {sort})"
    for name, sort in (("x", "Real"), ("y", "Real"), ("i", "Int"), ("j", "Int"), ("p", "Bool"), ("q", "Bool"))
)


class Writer:
    """Random formulas over two reals, two integers and two truth values."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def number(self, depth: int) -> str:
        choice = self.random.random()
        if depth == 0 or choice < 0.3:
            return self.random.choice(["x", "y", "(to_real i)", "(to_real j)", "1.0", "(- 2.0)", "(/ 1.0 2.0)"])
        one, other = self.number(depth - 1), self.number(depth - 1)
        if choice < 0.6:
            return f"({self.random.choice('+-')} {one} {other})"
        if choice < 0.75:
            return f"(* (/ 3.0 2.0) {one})"
        if choice < 0.8:
            return f"(to_real (to_int {one}))"
        if choice < 0.85:
            head, whole = self.random.choice(["div", "mod"]), self.random.choice(["i", "j", "(+ i (* 2 j))", "(- i 5)"])
            return f"(to_real ({head} {whole} {self.random.choice(['2', '3', '(- 2)'])}))"
        return f"(ite {self.truth(depth - 1)} {one} {other})"

    def truth(self, depth: int) -> str:
        choice = self.random.random()
        if depth == 0 or choice < 0.45:
            if choice < 0.1:
                return self.random.choice(["p", "q", "true"])
            head = self.random.choice(["<", "<=", ">", ">=", "=", "="])
            return f"({head} {self.number(max(0, depth - 1))} {self.number(max(0, depth - 1))})"
        one, other = self.truth(depth - 1), self.truth(depth - 1)
        if choice < 0.55:
            return f"(not {one})"
        if choice < 0.65:
            return f"(ite {one} {other} {self.truth(depth - 1)})"
        return f"({self.random.choice(['and', 'or', '=>', '='])} {one} {other})"

    def script(self) -> str:
        bounds = [f"(assert (and (<= (- 3) {n}) (<= {n} 3)))" for n in "ij"]
        asserted = [f"(assert {self.truth(3)})" for _ in range(self.random.randint(2, 7))]
        return "\n".join(["(set-logic ALL)", DECLARED, *bounds, *asserted])


def solvable(script: str) -> bool:
    solver = z3.Solver()
    solver.from_string(script)
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


@given(st.integers(0, 10**9))
@settings(max_examples=examples(1200), deadline=None)
def test_what_has_no_solution_is_refuted_and_nothing_else_is(seed: int) -> None:
    script = Writer(seed).script()
    if solvable(script):
        with pytest.raises(NoMultipliers):
            multipliers(clauses_of(script))
    else:
        check_refutation(clauses_of(script), multipliers(clauses_of(script)), "here")


@given(st.integers(0, 10**9))
@settings(max_examples=examples(1200), deadline=None)
def test_a_refutation_is_not_accepted_for_formulas_that_have_a_solution(seed: int) -> None:
    """Leave out, exchange or change a formula, until there is a solution: what refuted the old ones is no refutation."""
    random = Random(seed)
    lines = Writer(seed).script().splitlines()
    if solvable("\n".join(lines)):
        return
    found = multipliers(clauses_of("\n".join(lines)))
    at = random.choice([n for n, line in enumerate(lines) if line.startswith("(assert")])
    other = lines[:at] + random.choice([[], [f"(assert {Writer(seed + 1).truth(2)})"]]) + lines[at + 1 :]
    script = "\n".join(other)
    if solvable(script):
        with pytest.raises(Refusal):
            check_refutation(clauses_of(script), found, "here")


@given(st.integers(0, 10**9))
@settings(max_examples=examples(1200), deadline=None)
def test_a_refutation_that_was_changed_is_refused_where_there_is_a_solution(seed: int) -> None:
    """Formulas with a solution, and any refutation that is made up of clashes among the same atoms."""
    random = Random(seed)
    script = Writer(seed).script()
    if not solvable(script):
        return
    clauses = clauses_of(script)
    numbers = list(range(1, clauses.size + 1))
    atoms = list(clauses.rows)
    lemmas = tuple(
        tuple((random.choice(atoms) * random.choice((1, -1)), Rational(random.randint(1, 3))) for _ in range(2))
        for _ in range(3)
    )
    steps = tuple(tuple(random.choice(numbers) * random.choice((1, -1)) for _ in range(2)) for _ in range(3))
    for some in (Refutation((), lemmas, ()), Refutation((), (), steps), Refutation((), lemmas, steps), Refutation()):
        with pytest.raises(Refusal):
            check_refutation(clauses_of(script), some, "here")


def test_clauses_have_the_solutions_of_the_formula() -> None:
    """For every value of the atoms' variables on a grid: the formula holds if and only if its clauses can be satisfied."""
    script = "(declare-const i Int)(declare-const j Int)(assert (= (ite (< i j) (+ i 1) (* 2 j)) 2))"
    clauses = clauses_of(script)
    holding = {(i, j) for i in range(-3, 4) for j in range(-3, 4) if ((i + 1) if i < j else 2 * j) == 2}
    for i, j in itertools.product(range(-3, 4), repeat=2):
        fixed = f"{script}(assert (= i {_number(i)}))(assert (= j {_number(j)}))"
        try:
            check_refutation(clauses_of(fixed), multipliers(clauses_of(fixed)), "here")
            refutable = True
        except NoMultipliers:
            refutable = False
        assert refutable == ((i, j) not in holding)
    assert clauses.whole == [True, True, True]


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def test_integers_are_rounded_and_split() -> None:
    rounded = "(declare-const i Int)(assert (< (* 2 i) 3))(assert (> (* 2 i) 1))(assert (not (= i 1)))"
    check_refutation(clauses_of(rounded), multipliers(clauses_of(rounded)), "here")
    # 3i + 3j = 4k + ... has no solution in integers, although none of its rows can be rounded alone
    split = "(declare-const i Int)(declare-const j Int)(assert (= (* 2 i) (+ 1 (* 2 j))))"
    assert refutations([split]) == [{"atoms": [], "lemmas": [], "steps": []}]
    cube = "(declare-const i Int)(declare-const j Int)(assert (<= 1 (- (* 3 i) (* 2 j))))(assert (<= (- (* 3 i) (* 2 j)) 1))"
    bounded = cube + "(assert (<= 0 i))(assert (<= i 2))(assert (<= 0 j))(assert (<= j 0))"
    found = multipliers(clauses_of(bounded))
    assert found.atoms or found.lemmas
    check_refutation(clauses_of(bounded), found, "here")


def test_a_real_is_not_rounded() -> None:
    script = "(declare-const x Real)(assert (< x 1.0))(assert (> x 0.0))"
    with pytest.raises(NoMultipliers):
        multipliers(clauses_of(script))


SMALL = "(declare-const x Real)(declare-const y Real)(assert (or (< x y) (< y x)))(assert (= x y))"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"lemmas": [[[1, 1]]]}, "combines atoms"),
        ({"lemmas": [[[0, 1]]]}, "combines atoms"),
        ({"lemmas": [[[10**9, 1]]]}, "combines atoms"),
        ({"lemmas": [[[2, -1], [3, 1]]]}, "combines atoms"),
        ({"lemmas": [[[2, 1]]]}, "may hold together"),
        ({"lemmas": [[]]}, "may hold together"),
        ({"steps": [[0]]}, "a literal that there is not"),
        ({"steps": [[10**9]]}, "a literal that there is not"),
        ({"steps": [[2]]}, "does not follow|not refuted"),
        ({"atoms": [[0, [7, 1]]]}, "a variable that there is not"),
        ({"atoms": [[0, [-1, 1]]]}, "a variable that there is not"),
        ({"atoms": [[]]}, "has a constant"),
        ({"atoms": [[0, [0, 1], [0, 1]]]}, "every variable once"),
        ({"lemmas": [[[2, "1/0"]]]}, "exact number"),
        ({"lemmas": [[[2]]]}, "how many times"),
        ({"lemmas": [2]}, "list"),
        ({"more": []}, "more"),
        ({}, "not refuted"),
    ],
)
def test_what_is_no_refutation_is_refused(given: dict[str, object], why: str) -> None:
    script = "(declare-const x Real)(declare-const y Real)(assert (or (< x y) (< y x)))"
    with pytest.raises(Refusal, match=why):
        check_refutation(clauses_of(script), read_refutation(given, "here", DEFAULT_LIMITS), "here")


def test_every_part_of_a_refutation_is_needed() -> None:
    writers = (Writer(seed).script() for seed in itertools.count())
    seen = 0
    for script in writers:
        if solvable(script):
            continue
        found = multipliers(clauses_of(script))
        for n in range(len(found.lemmas)):
            less = replace(found, lemmas=found.lemmas[:n] + found.lemmas[n + 1 :])
            try:
                check_refutation(clauses_of(script), less, "here")
            except Refusal:
                seen += 1
        if seen > 20:
            return


@pytest.mark.parametrize(
    "script",
    [
        "(declare-const x Real)(assert (> (* x x) 1.0))",
        "(declare-const x Real)(assert (> (/ 1.0 x) 1.0))",
        "(declare-const x Real)(assert (exists ((y Real)) (> y x)))",
        "(declare-const x Real)(assert (distinct x x))",
        "(declare-const i Int)(assert (= (div i 0) 1))",
        "(declare-const i Int)(assert (= (mod 5 i) 1))",
        "(declare-const x Real)(assert (= (div x 2) 1.0))",
        "(assert z)",
        "(check-sat)",
        "(assert " + "(not " * 500 + "true" + ")" * 501,
    ],
)
def test_what_is_not_linear_is_refused(script: str) -> None:
    with pytest.raises(Refusal):
        clauses_of(script)


def test_propagation_forgets_what_was_supposed() -> None:
    known = Propagation(3, [(1, 2), (-1, 3), (-2, 3)])
    assert not known.fails((1,))
    assert known.fails((-3,))
    assert not known.fails((3,))
    known.add((-3,))
    assert known.fails(())
    assert known.fails((3,))


def test_an_atom_and_its_negation_exclude_each_other() -> None:
    clauses = Clauses()
    real, whole = clauses.variable(whole=False), clauses.variable(whole=True)
    for form in (
        real,
        whole,
        real.plus(whole, Rational(1, 2)),
        whole.times(Rational(2, 3)).plus(LinearForm((), Rational(1, 5))),
    ):
        for strict in (False, True):
            literal = clauses.at_least(form, strict=strict)
            assert clauses.at_least(form.times(Rational(-1)), strict=not strict) == -literal
            one, other = clauses.row(literal), clauses.row(-literal)
            assert one is not None
            assert other is not None
            total = one.form.plus(other.form)
            assert not total.parts
            assert total.constant < 0 or (total.constant == 0 and one.strict != other.strict)
