"""Random finite mechanisms: no bound for every length is contradicted by the exact losses of short lists."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples, patience
from tests.certificates import recheck
from tests.every_length import largest_ratio, law_of, list_reader

from privproof import Question, tight_epsilon
from privproof.exact import fraction
from privproof.scenarios import Neighbours, Scenario
from privproof_checker import Accepted

RELATIONS = {
    "one": Neighbours.one(within=None),
    "add-remove": Neighbours.add_remove(),
    "each": Neighbours.each(within=None),
}


@st.composite
def rows(draw, size):
    weights = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 3]), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def mechanisms(draw):
    states = [f"s{i}" for i in range(draw(st.integers(1, 3)))]
    inputs = [str(i) for i in range(draw(st.integers(2, 3)))]
    outputs = ["p", "q"]
    step = {(s, v): draw(rows(len(states))) for s in states for v in inputs}
    finish = {s: draw(st.sampled_from([(1, 3), (1, 1), (3, 1), (2, 1), (0, 1)])) for s in states}
    ends = {s: [Fraction(x, sum(pair)) for x in pair] for s, pair in finish.items()}
    return list_reader(states, inputs, outputs, draw(rows(len(states))), step, ends)


@pytest.mark.parametrize("relation", RELATIONS)
@settings(max_examples=examples(40, fewest=3), deadline=None)
@given(model=mechanisms())
def test_no_bound_for_every_length_is_contradicted_by_short_lists(relation, model):
    longest = 6 if len(model.inputs) == 2 and relation != "each" else 4
    verdict = tight_epsilon(
        Question(model=model, scenario=Scenario(neighbours=RELATIONS[relation])), time_limit=patience(10)
    )
    worst = largest_ratio(model, relation, longest)
    if verdict.status == "proved":
        assert worst is not None
        assert worst <= fraction(verdict.upper.ratio)
        assert isinstance(recheck(verdict.certificate), Accepted)
    if verdict.witness is not None:
        left, right = (law_of(model, data) for data in verdict.witness.inputs)
        (output,) = verdict.witness.output
        assert left.get(output, 0) == verdict.witness.left_probability
        assert right.get(output, 0) == verdict.witness.right_probability
    if verdict.status == "refuted":
        assert verdict.lower.infinite
    elif verdict.tight is not None and verdict.witness is not None and verdict.witness.ratio:
        assert max(Fraction(1), verdict.witness.ratio) == fraction(verdict.tight.ratio)
