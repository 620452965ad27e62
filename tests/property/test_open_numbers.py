"""What is known of numbers that are left open is never more than there is: against all small numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof_checker.source.cuts import Cut
from privproof_checker.source.facts import Asked, Facts, Path
from privproof_checker.source.symbols import Atom, number_of

COEFFICIENTS = st.sampled_from([Fraction(n, d) for n in (-3, -2, -1, 0, 1, 2, 3) for d in (1, 2)])
SIGNS = {
    "above": lambda value: value > 0,
    "at least": lambda value: value >= 0,
    "zero": lambda value: value == 0,
    "nonzero": lambda value: value != 0,
}
WHOLE = [Fraction(n) for n in range(-3, 4)]
HALVES = [Fraction(n, 2) for n in range(-6, 7)]
ATOMS = 3


@st.composite
def questions(draw):
    parts = {(i,): draw(COEFFICIENTS) for i in range(ATOMS)}
    parts[()] = draw(COEFFICIENTS)
    if draw(st.integers(0, 5)) == 0:
        parts[0, 1] = draw(COEFFICIENTS)
    return Asked(draw(st.sampled_from(list(SIGNS))), {product: f for product, f in parts.items() if f})


def value(parts, numbers):
    total = Fraction(0)
    for atoms, coefficient in parts.items():
        for atom in atoms:
            coefficient *= numbers[atom]
        total += coefficient
    return total


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(questions(), min_size=1, max_size=6), questions(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_answers_are_right_wherever_they_are_given(asked, last, whole):
    path = Path()
    for i in range(ATOMS):
        path.atoms.new(Atom(whole=whole[i], low=Fraction(-3), high=Fraction(3) if i else None))
    ranges = [WHOLE if whole[i] else HALVES for i in range(ATOMS)]
    possible = list(product(*ranges))
    facts: Facts | None = path.facts
    for question in asked:
        outcomes = {SIGNS[question.what](value(question.parts, numbers)) for numbers in possible}
        answer = facts.answer(question)
        if answer is not None:
            assert outcomes == {answer}
            continue
        outcome = min(outcomes)
        after = facts.after(question, outcome=outcome)
        possible = [n for n in possible if SIGNS[question.what](value(question.parts, n)) == outcome]
        assert after is not None
        assert after.answer(question) is outcome
        facts = after
    answer = facts.answer(last)
    assert answer is None or {SIGNS[last.what](value(last.parts, numbers)) for numbers in possible} == {answer}
    low, high = facts.ends(last.parts)
    for numbers in possible:
        assert low is None or low <= value(last.parts, numbers)
        assert high is None or value(last.parts, numbers) <= high


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.lists(st.tuples(COEFFICIENTS, COEFFICIENTS), min_size=4, max_size=4), min_size=1, max_size=5), st.data()
)
def test_what_a_cut_knows_holds_at_every_arrival(arrivals, data):
    """Numbers that are ``a + b x`` in an atom that is left open and at least 0: what is left is true of all of them."""
    path = Path()
    atom = path.atoms.new(Atom(whole=False, stable=data.draw(st.booleans()), low=Fraction(0)))
    cut = None
    for numbers in arrivals:
        given_ = [number_of({p: f for p, f in (((), a), ((atom,), b)) if f}, whole=False) for a, b in numbers]
        if cut is None:
            cut = Cut(path, given_)
        else:
            cut.weaken(given_)
    for numbers in arrivals:
        for x in (Fraction(0), Fraction(1, 2), Fraction(2)):
            held = [a + b * x for a, b in numbers]
            chosen = {atom: x, **{own: held[i] - cut.own[i].get((), Fraction(0)) for own, i in cut._first.items()}}
            assert [value(parts, chosen) for parts in cut.own] == held
            assert all(SIGNS[asked.what](value(asked.parts, chosen)) for asked, _ in cut.facts)
