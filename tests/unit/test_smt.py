"""The SMT engine against enumeration of words, the papers' numbers, and other solvers; timings are not asserted."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.compiling import word_problem
from privproof.engines.words import smt_search as smt
from privproof.engines.words import word_solver as solver
from privproof.errors import QuestionError
from privproof.exact import Rational, fraction, rational
from privproof.library.above_threshold import above_threshold_two_copies
from privproof.library.noisy_max import noisy_max_hmm, noisy_max_question
from privproof.library.satisfiability import assignment, ratio_if_unsatisfiable, satisfiability
from privproof.models import Final, HiddenMarkovModel, Horizon, Location, ProblemStart, Word, WordProblem
from privproof.models.noise_rows import truncated_geometric_row
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words

z3 = pytest.importorskip("z3")

LITTLE = Fraction(1, 1000)
EVERYTHING = Words()


def problem_of(question: Question) -> WordProblem:
    return word_problem(question).problem


def outputs(word: Word) -> tuple[str, ...]:
    return tuple(letter.output or "" for letter in word.letters)


def the_word(found: Word | smt.SmtUnknown | None) -> Word:
    assert isinstance(found, Word)
    return found


def probability(
    model: HiddenMarkovModel, initial: Mapping[str, Rational], word: tuple[str, ...], *, halted: bool = False
) -> Fraction:
    """Pr(word | initial) by summing over all paths, from the definition."""

    def onward(state: str, rest: tuple[str, ...]) -> Fraction:
        shown = fraction(model.emissions[state].get(rest[0], rational(0)))
        if shown == 0:
            return shown
        if len(rest) == 1:
            return shown if not halted or state not in model.transitions else Fraction(0)
        moves = model.transitions.get(state, {})
        return shown * sum((fraction(p) * onward(after, rest[1:]) for after, p in moves.items()), Fraction(0))

    return sum((fraction(p) * onward(state, word) for state, p in initial.items()), Fraction(0))


def z3_verdict(script: str) -> str:
    one = z3.Solver(ctx=z3.Context())
    one.add(z3.parse_smt2_string(script, ctx=one.ctx))
    return str(one.check())


def cvc5_verdict(script: str) -> str:
    cvc5 = pytest.importorskip("cvc5")
    one = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(one)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(one, parser.getSymbolManager()))
    return said.strip()


# ------------------------------------------------------------------------------------------------------- random models

RESTRICTIONS = (
    (EVERYTHING, ".*"),
    (Words(ending="complete"), ".*"),
    (Words(ending="visible"), ".*"),
    (Words(without=("y",)), "[^y]*"),
    (Words(only="x (y | x x)*"), "x(y|xx)*"),
    (Words(only="(x y)* x", ending="visible"), "(xy)*x"),
)


@st.composite
def distributions(draw: st.DrawFn, names: str) -> dict[str, Fraction]:
    weights = draw(st.lists(st.integers(0, 4), min_size=len(names), max_size=len(names)).filter(any))
    return {name: Fraction(w, sum(weights)) for name, w in zip(names, weights, strict=True) if w}


@st.composite
def models(draw: st.DrawFn) -> tuple[HiddenMarkovModel, Pair]:
    names, observations = draw(st.sampled_from(["ab", "abc"])), draw(st.sampled_from(["xy", "xyz"]))
    moving = draw(st.sets(st.sampled_from(names)))
    model = HiddenMarkovModel(
        states=list(names),
        observations=list(observations),
        transitions={state: draw(distributions(names)) for state in sorted(moving)},
        emissions={state: draw(distributions(observations)) for state in names},
    )
    return model, Pair.of(model, "secret", draw(distributions(names)), draw(distributions(names)))


def compared(
    model: HiddenMarkovModel, pair: Pair, words: Words, pattern: str, length: int
) -> Iterator[tuple[tuple[str, ...], str, Fraction, Fraction]]:
    """Every word of a length that the restriction leaves, with its probabilities, in both directions."""
    endings = {"any": ["any"], "complete": ["complete"], "visible": ["any", "complete"]}[words.ending]
    for word in product(model.observations, repeat=length):
        if re.fullmatch(pattern, "".join(word)):
            for ending in endings:
                one, other = (
                    probability(model, side, word, halted=ending == "complete") for side in (pair.left, pair.right)
                )
                yield word, ending, one, other
                yield word, ending, other, one


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    drawn=models(),
    restriction=st.sampled_from(RESTRICTIONS),
    bound=st.fractions(min_value=0, max_value=6, max_denominator=4),
    delta=st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 8)]),
    strict=st.booleans(),
    literal=st.booleans(),
)
def test_agrees_with_enumeration(
    drawn: tuple[HiddenMarkovModel, Pair],
    restriction: tuple[Words, str],
    bound: Fraction,
    delta: Fraction,
    strict: bool,
    literal: bool,
) -> None:
    model, pair = drawn
    assume(pair.left != pair.right)
    words, pattern = restriction
    question = Question(model=model, scenario=Scenario(pairs=(pair,), words=words), horizon=Horizon.up_to(3))
    problem = problem_of(question)

    def violates(left: Fraction, right: Fraction) -> bool:
        limit = bound * right + delta
        return left > limit if strict else left >= limit and left > 0

    violating = [
        {(w, ending, p, q) for w, ending, p, q in compared(model, pair, words, pattern, length) if violates(p, q)}
        for length in (1, 2, 3)
    ]
    c, slack = rational(bound), rational(delta)
    found = smt.violating_word(problem, c, delta=slack, strict=strict, literal=literal)
    expected = next((some for some in violating if some), None)
    if expected is None:
        assert found is None
    else:
        word = the_word(found)
        assert (outputs(word), word.final, fraction(word.left), fraction(word.right)) in expected
    for length, some in enumerate(violating, 1):
        alone = smt.violating_word(problem, c, delta=slack, strict=strict, literal=not literal, length=length)
        assert (alone is not None) == bool(some)
    verdicts = {
        z3_verdict(smt.smtlib(problem, c, length=2, start=start, delta=slack, strict=strict))
        for start in range(len(problem.starts))
    }
    assert ("sat" in verdicts) == bool(violating[1])


# ---------------------------------------------------------------------------------------------- the papers' mechanisms


def geometric() -> WordProblem:
    model = HiddenMarkovModel(
        states=["0", "1", "2"],
        observations=["~0", "~1", "~2"],
        emissions={
            str(v): {f"~{z}": p for z, p in enumerate(truncated_geometric_row(v, alpha="1/2", high=2))}
            for v in range(3)
        },
    )
    neighbours = Neighbours.each(within=1, coordinates={str(v): (v,) for v in range(3)})
    return problem_of(Question(model=model, scenario=Scenario(neighbours=neighbours)))


@pytest.mark.parametrize("literal", [False, True])
def test_truncated_geometric(literal: bool) -> None:
    problem = geometric()
    assert smt.violating_word(problem, rational(2), literal=literal) is None
    assert the_word(smt.violating_word(problem, rational(2 - LITTLE), literal=literal)).ratio == 2
    assert the_word(smt.violating_word(problem, rational(2), strict=False, literal=literal)).ratio == 2


def noisy_max_probability(inputs: tuple[int, ...], output: int, *, improved: bool) -> Fraction:
    """Algorithms 2 and 3 of the paper, by summing over all noisy answers."""
    total = Fraction(0)
    for noisy in product(range(3), repeat=len(inputs)):
        largest = [i for i, x in enumerate(noisy, 1) if x == max(noisy)]
        share = Fraction(output in largest, len(largest)) if improved else Fraction(output == largest[0])
        for value, z in zip(inputs, noisy, strict=True):
            share *= fraction(truncated_geometric_row(value, alpha="1/2", high=2)[z])
        total += share
    return total


@pytest.mark.diagonal
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize(
    ("size", "improved", "tight"), [(2, False, "4"), (3, False, "8"), (2, True, "12/5"), (3, True, "24/7")]
)
def test_noisy_max_of_all_neighbours_at_once(size: int, improved: bool, tight: str, literal: bool) -> None:
    problem = problem_of(noisy_max_question(size, improved=improved))
    bound = Fraction(tight)
    assert smt.violating_word(problem, rational(bound), literal=literal) is None
    word = the_word(smt.violating_word(problem, rational(bound - LITTLE), literal=literal))
    assert word.ratio is not None
    assert fraction(word.ratio) > bound - LITTLE
    *answers, last = word.letters
    for side, found in (("left", word.left), ("right", word.right)):
        inputs = tuple(int(getattr(letter, side)) for letter in answers)
        assert fraction(found) == noisy_max_probability(inputs, int(last.output or 0), improved=improved)


def test_noisy_max_as_a_hidden_markov_model() -> None:
    problem = problem_of(noisy_max_hmm(3, improved=False))
    start = next(n for n, s in enumerate(problem.starts) if s.name == "111 ~ 220")
    one = replace(problem, starts=(problem.starts[start],))
    assert smt.violating_word(one, rational(8)) is None
    word = the_word(smt.violating_word(one, rational(8 - LITTLE)))
    assert outputs(word) == ("start", "3")
    assert word.ratio == 8


@pytest.mark.parametrize("length", [5, pytest.param(7, marks=pytest.mark.slow)])
def test_above_threshold_in_two_copies(length: int) -> None:
    question = above_threshold_two_copies(horizon=Horizon.up_to(length))
    compiled = word_problem(question)
    assert smt.violating_word(compiled.problem, rational(16)) is None
    word = the_word(smt.violating_word(compiled.problem, rational(3)))
    pair = compiled.begins[word.start].pair
    assert isinstance(question.model, HiddenMarkovModel)
    left, right = (probability(question.model, side, outputs(word)) for side in (pair.left, pair.right))
    assert (left, right) == (fraction(word.left), fraction(word.right))
    assert left > 3 * right
    shorter = replace(compiled.problem, horizon=Horizon.up_to(len(word.letters) - 1))
    assert smt.violating_word(shorter, rational(3), literal=True) is None


@pytest.mark.parametrize(
    ("clauses", "satisfiable"),
    [
        ([[1, -2], [-1]], True),
        ([[1, 2], [-1, 2], [1, -2]], True),
        ([[1], [-1]], False),
        ([[1, 2], [-1, 2], [1, -2], [-1, -2]], False),
        ([[1, 2, 3], [-1, -2], [-3, 1], [-2, 3]], True),
    ],
)
def test_satisfiability(clauses: list[list[int]], satisfiable: bool) -> None:
    problem = problem_of(satisfiability(clauses))
    bound = (ratio_if_unsatisfiable(len(clauses)) + 4) / 2
    found = smt.violating_word(problem, bound)
    if satisfiable:
        word = the_word(found)
        values = assignment(outputs(word))
        assert word.ratio == 4
        assert all(any(values[abs(literal)] == (literal > 0) for literal in clause) for clause in clauses)
    else:
        assert found is None
    assert smt.violating_word(problem, rational(4)) is None


def one_sided() -> WordProblem:
    """A word that only the left side can show: no bound holds."""
    model = HiddenMarkovModel(
        states=["a", "b"],
        observations=["x", "y"],
        transitions={"a": {"a": 1}, "b": {"b": 1}},
        emissions={"a": {"x": "999/1000", "y": "1/1000"}, "b": {"x": 1}},
    )
    pair = Pair.of(model, "secret", {"a": 1}, {"b": 1})
    return problem_of(Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=Horizon.up_to(2)))


@pytest.mark.parametrize("literal", [False, True])
def test_a_word_of_one_side_only_violates_every_bound(literal: bool) -> None:
    word = the_word(smt.violating_word(one_sided(), rational(10**12), literal=literal))
    assert (outputs(word), word.left, word.right) == (("y",), rational("1/1000"), rational(0))
    assert word.ratio is None
    assert smt.violating_word(one_sided(), rational(2), delta=rational("1/500"), literal=literal) is None


# --------------------------------------------------------------------------------------------------- giving up, errors


def test_too_little_effort_is_no_verdict() -> None:
    problem = problem_of(noisy_max_question(3, improved=True))
    unknown = smt.violating_word(problem, rational("24/7"), effort=100)
    assert isinstance(unknown, smt.SmtUnknown)
    assert (unknown.length, unknown.start) == (4, 0)
    assert unknown.reason


def test_should_stop_is_asked_before_every_query() -> None:
    asked: list[bool] = []

    def should_stop() -> bool:
        asked.append(len(asked) == 3)
        return asked[-1]

    stopped = smt.violating_word(geometric(), rational(2), should_stop=should_stop)
    assert stopped == smt.SmtUnknown(length=1, start=3, reason="stopped")
    assert asked == [False, False, False, True]


@pytest.mark.slow
def test_an_interrupt_reaches_the_handler() -> None:
    problem = problem_of(noisy_max_question(6, improved=True))
    caught: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: caught.append(number))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        unknown = smt.violating_word(problem, rational(4))
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert isinstance(unknown, smt.SmtUnknown)
    assert caught == [signal.SIGINT]


def test_a_wrong_model_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lying(script: str, *, booleans: list[str], **_: object) -> solver.SolverAnswer:
        return solver.SolverAnswer("sat", dict.fromkeys(booleans, True))

    monkeypatch.setattr(solver, "check", lying)
    with pytest.raises(AssertionError, match="does not satisfy"):
        smt.violating_word(geometric(), rational(2))


def test_without_z3_only_the_text_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(QuestionError) as caught:
        smt.violating_word(geometric(), rational(2))
    assert (caught.value.code, caught.value.hint) == ("engine", "pip install z3-solver")
    assert "(check-sat)" in smt.smtlib(geometric(), rational(2), length=1, start=0)


def test_an_unbounded_horizon_needs_a_length() -> None:
    problem = replace(one_sided(), horizon=Horizon.unbounded())
    with pytest.raises(QuestionError, match="unbounded"):
        smt.violating_word(problem, rational(2))
    assert the_word(smt.violating_word(problem, rational(2), length=5)).right == 0


@pytest.mark.parametrize("numbers", [{"bound": -1}, {"bound": 1, "delta": -1}, {"bound": 1, "effort": 0}])
def test_numbers_out_of_range_are_refused(numbers: dict[str, int]) -> None:
    bound, effort = rational(numbers["bound"]), numbers.get("effort", 1000)
    with pytest.raises(QuestionError):
        smt.violating_word(geometric(), bound, delta=rational(numbers.get("delta", 0)), effort=effort)


def test_the_empty_word() -> None:
    one, half = rational(1), rational("1/2")
    location = Location(1, 1, (), (Final("any", (one,), (one,)),))
    problem = WordProblem((location,), (ProblemStart("pair", 0, (one,), (half,)),), Horizon.exactly(1))
    assert smt.violating_word(problem, rational(2), length=0) is None
    assert the_word(smt.violating_word(problem, rational(1), length=0)).letters == ()
    assert z3_verdict(smt.smtlib(problem, rational(1), length=0, start=0)) == "sat"


def test_the_solver_reports_exact_values() -> None:
    script = "(declare-const x Real) (declare-const b Bool) (assert (and (not b) (= (* 3 x) (- 1))))"
    answer = solver.check(script, effort=100_000, booleans=["b"], reals=["x"])
    assert (answer.verdict, answer.values) == ("sat", {"b": False, "x": rational("-1/3")})


# -------------------------------------------------------------------------------------------------------- SMT-LIB text


def scripts() -> Iterator[tuple[str, str]]:
    """Scripts with the verdict that they must get."""
    naive = problem_of(noisy_max_question(2, improved=False))
    yield smt.smtlib(naive, rational(4), length=3, start=0), "unsat"
    yield smt.smtlib(naive, rational(4 - LITTLE), length=3, start=1), "sat"
    yield smt.smtlib(naive, rational(4), length=3, start=1, strict=False), "sat"
    yield smt.smtlib(naive, rational(4), length=7, start=0), "unsat"
    yield smt.smtlib(one_sided(), rational(10**30), length=2, start=0), "sat"
    yield smt.smtlib(one_sided(), rational(2), length=2, start=0, delta=rational("1/500")), "unsat"
    problem = problem_of(satisfiability([[1, -2], [-1]]))
    bound = (ratio_if_unsatisfiable(2) + 4) / 2
    yield smt.smtlib(problem, bound, length=5, start=0), "sat"
    yield smt.smtlib(problem, rational(4), length=5, start=0), "unsat"
    copies = problem_of(above_threshold_two_copies(horizon=Horizon.up_to(7)))
    yield smt.smtlib(copies, rational(16), length=7, start=1), "unsat"


@pytest.mark.parametrize(("script", "verdict"), list(scripts()))
def test_z3_gives_the_verdict_of_the_script(script: str, verdict: str) -> None:
    assert z3_verdict(script) == verdict


@pytest.mark.parametrize(("script", "verdict"), list(scripts()))
def test_cvc5_gives_the_verdict_of_the_script(script: str, verdict: str) -> None:
    assert cvc5_verdict(script) == verdict


def test_the_text_is_complete_exact_and_the_same_every_time() -> None:
    compiled = word_problem(noisy_max_hmm(2, improved=True))
    model = noisy_max_hmm(2, improved=True).model
    states = [
        [
            " or ".join(name for name, c in zip(model.states, classes, strict=True) if c == k)
            for k in range(place.left_size)
        ]
        for classes, place in zip(compiled.left, compiled.problem.locations, strict=True)
    ]
    scripted = [
        smt.smtlib(compiled.problem, rational("7/3"), length=2, start=3, name="two\nqueries", states=states)
        for _ in range(2)
    ]
    assert scripted[0] == scripted[1]
    lines = scripted[0].splitlines()
    assert lines[0] == "; two queries"
    assert "P(w) > 7/3 * Q(w)" in lines[1]
    assert f"The start is: {compiled.problem.starts[3].name}" in lines[1]
    assert "(set-logic QF_LRA)" in lines
    assert lines[-1] == "(check-sat)"
    assert all(line.startswith((";", "(")) for line in lines)
    assert any(line.endswith("; letter 1 is start, from location 0 to 1") for line in lines)
    assert any(
        line.startswith("(declare-const a2_") and "; left, in " in line and line.endswith(" after 2") for line in lines
    )
    assert "(/ 7 3)" in scripted[0]
    assert re.search(r"\d\.\d", re.sub(";.*|.*set-info.*", "", scripted[0])) is None
