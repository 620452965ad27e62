"""Tensors with shared parts against tensors as lists, and both against the definition."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.certificates import nested

from privproof import tight_epsilon
from privproof.library.noisy_max import noisy_max_question
from privproof_checker import Accepted, Rejected, recheck, tensors
from privproof_checker import decision_diagrams as diagrams


def minima(kind, values, axes, windows):
    """The erosions by the definition."""
    places = list(product(range(len(windows)), repeat=axes))
    at = dict(zip(places, values, strict=True))

    def least(place, allowed):
        near = product(*(range(windows[x][0], windows[x][1] + 1) for x in place))
        return min(at[other] for other in near if allowed(list(zip(place, other, strict=True))))

    allowed = {
        "each": [lambda _: True],
        "one": [lambda moves: sum(x != y for x, y in moves) <= 1],
        "monotone": [lambda moves: all(x <= y for x, y in moves), lambda moves: all(x >= y for x, y in moves)],
    }[kind]
    return [[least(place, each) for place in places] for each in allowed]


def listed(diagram, node):
    if node in diagram.values:
        return [diagram.values[node]]
    return [value for child in diagram.children[node] for value in listed(diagram, child)]


def mechanism(seed):
    """A random mechanism in integers; often with the same step again, and with zeros."""
    random = Random(seed)
    width = random.choice([1, 2, 3, 4])
    axes = random.randint(1, 3 if width > 2 else 5)
    largest, sizes = random.choice([1, 1, 2, 5, 1000, 10**12]), [random.randint(1, 5) for _ in range(axes + 1)]

    def row(states):
        return [(state, random.randint(0, largest)) for state in range(states) if random.random() < 0.6]

    def step(before, after):
        return {state: [row(after) for _ in range(width)] for state in range(before)}

    if random.random() < 0.5:
        sizes = sizes[:1] * (axes + 1)
        steps = [step(sizes[0], sizes[0])] * axes
    else:
        steps = [step(sizes[k], sizes[k + 1]) for k in range(axes)]
    final = {state: random.randint(0, largest) * (random.random() < 0.6) for state in range(sizes[-1])}
    windows = [(max(0, k - random.randint(0, 1)), min(width - 1, k + random.randint(0, 1))) for k in range(width)]
    return tensors._Mechanism(dict(row(sizes[0])), steps, {"o": final}), windows


@given(st.integers(0, 10**9))
def test_diagrams_and_lists_are_the_tensor(seed):
    dense, windows = mechanism(seed)
    axes, width = len(dense.steps), len(windows)
    flat = dense.tensor("o")
    assert len(flat) == width**axes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagrams, "_PER_ENTRY", 10**9)
        diagram, node = diagrams.shared_tensor(dense.start, dense.steps, dense.finals["o"])
    shared = listed(diagram, node)
    assert shared == flat
    for kind in ("each", "one", "monotone"):
        right = minima(kind, shared, axes, windows)
        eroded = list(diagram.erosions(kind, node, windows))
        assert [listed(diagram, each) for each in eroded] == right
        assert [list(each) for each in tensors._erosions(kind, shared, axes, windows)] == right
        for each, expected in zip(eroded, right, strict=True):
            assert set(diagram.pairs(node, each)) == set(zip(shared, expected, strict=True))


@pytest.mark.parametrize("improved", [True, False])
@pytest.mark.parametrize("relation", ["each", "one", "monotone"])
@pytest.mark.parametrize("shared", [0, 10**6])
def test_both_ways_accept_and_reject_the_same(improved, relation, shared, monkeypatch):
    """The tight epsilon is accepted, and a little less is not, with diagrams and with lists."""
    monkeypatch.setattr(diagrams, "_PER_ENTRY", shared)
    used = []
    shared_tensor = tensors.shared_tensor

    def counted(*given):
        used.append(shared_tensor(*given))
        return used[-1]

    monkeypatch.setattr(tensors, "shared_tensor", counted)
    question = noisy_max_question(5, improved=improved)
    near = replace(question.scenario.neighbours, kind=relation)
    verdict = tight_epsilon(replace(question, scenario=replace(question.scenario, neighbours=near)))
    ratio = verdict.tight.bound
    plain = {name: part for name, part in nested(verdict.certificate).items() if name != "witness"}
    assert plain["evidence"]["method"] == "tensors"
    assert isinstance(recheck(plain), Accepted)
    rejected = recheck({**plain, "question": {**plain["question"], "epsilon": f"ln({ratio - Fraction(1, 10**9)})"}})
    assert isinstance(rejected, Rejected)
    assert "violates the claim: the ratio is" in rejected.reason
    assert all(each is not None for each in used) == bool(shared)
