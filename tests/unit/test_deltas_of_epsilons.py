"""Deltas that follow from an epsilon, for lists of every length: the theorem, the certificates, and what short lists refute."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product

import pytest
from tests.certificates import nested, recheck

from privproof import (
    bernoulli,
    check,
    geometric,
    mechanism,
    queries,
    randomized_response,
    records,
    smallest_delta,
    truncated_geometric,
)
from privproof.compiling.distributions import output_classes
from privproof.exact import epsilon, fraction, log, rational
from privproof_checker import Accepted, Rejected
from privproof_checker.claims import Claim
from privproof_checker.from_epsilon import delta_follows


@mechanism
def capped(q: records(0, 1)):
    n = 0
    for x in q:
        n = min(n + x, 3)
    return truncated_geometric(n, alpha="1/2", low=0, high=3)


@mechanism
def noisy_count(q: records(0, 1)):
    return geometric(sum(q), alpha="1/2")


@mechanism
def answers(q: records(0, 1)):
    return [randomized_response(x, truth="3/4") for x in q]


@mechanism
def sampled(q: records(0, 1)):
    n = 0
    for x in q:
        if bernoulli("1/4"):
            n = min(n + x, 2)
    return truncated_geometric(n, alpha="1/2", low=0, high=2)


@mechanism
def two_cells(q: records("a", "b")):
    a, b = 0, 0
    for x in q:
        if x == "a":
            a = min(a + 1, 2)
        else:
            b = min(b + 1, 2)
    return truncated_geometric(a, alpha="1/2", low=0, high=2), truncated_geometric(b, alpha="1/2", low=0, high=2)


@mechanism
def naive(q: queries(0, 2)):
    best, winner = -1, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if noisy > best:
            best, winner = noisy, i
    return winner


def largest_excess(asked, values, relation, bound, longest):
    """The largest excess of an event over all neighbouring lists up to a length, from the definition."""
    laws = {
        data: {repr(v): fraction(p) for v, p in output_classes(asked, {"q": list(data)})}
        for n in range(longest + 1)
        for data in product(values, repeat=n)
    }
    worst = Fraction(0)
    for left, one in laws.items():
        for right, other in laws.items():
            if relation == "one":
                near = len(left) == len(right) and sum(x != y for x, y in zip(left, right, strict=True)) == 1
            else:
                short, long = sorted((left, right), key=len)
                near = len(short) + 1 == len(long) and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))
            if near:
                worst = max(worst, sum(max(Fraction(0), p - bound * other.get(o, 0)) for o, p in one.items()))
    return worst


def test_no_two_laws_exceed_what_follows_from_their_ratios():
    for weights in product((1, 2, 5), repeat=3):
        for others in product((1, 2, 5), repeat=3):
            one = [Fraction(w, sum(weights)) for w in weights]
            other = [Fraction(w, sum(others)) for w in others]
            ratio = max(max(p / q, q / p) for p, q in zip(one, other, strict=True))
            for bound in (Fraction(1), Fraction(5, 4), Fraction(2)):
                if bound <= ratio:
                    excess = sum(max(Fraction(0), p - bound * q) for p, q in zip(one, other, strict=True))
                    assert excess <= (ratio - bound) / (ratio + 1)


def test_what_follows_is_decided_exactly():
    def claim(of, delta):
        return Claim(epsilon(of), rational(delta), pointwise=False)

    assert delta_follows(claim("ln(3/2)", "1/6"), log(2))
    assert not delta_follows(claim("ln(3/2)", Fraction(1, 6) - Fraction(1, 10**30)), log(2))
    assert delta_follows(claim("1", "1/100000"), epsilon("1"))
    assert delta_follows(claim("1/2", "0.2877"), epsilon("1"))  # (e - e^(1/2)) / (e + 1) = 0.28765...
    assert not delta_follows(claim("1/2", "0.2876"), epsilon("1"))
    assert not delta_follows(claim("1", "1/2"), epsilon("inf"))


@pytest.mark.parametrize(
    ("asked", "relation", "exact"),
    [
        (capped, "one", "1/6"),
        (capped, "add-remove", "1/6"),
        (noisy_count, "one", "1/6"),
        (noisy_count, "add-remove", "1/6"),
        (answers, "one", "3/8"),
        (two_cells, "add-remove", "1/6"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_smallest_delta_of_every_length(asked, relation, exact):
    found = smallest_delta(asked, "ln(3/2)", neighbours=relation)
    assert found.upper == Fraction(exact)
    assert found.upper * (1 - Fraction(1, 10**11)) <= found.lower <= found.upper
    assert (found.proof.status, found.refutation.status) == ("proved", "refuted")
    certificate = dict(nested(found.proof.certificate))
    assert certificate["evidence"]["method"] == "epsilon"
    assert isinstance(recheck(certificate), Accepted)


@pytest.mark.parametrize(("asked", "values"), [(capped, (0, 1)), (sampled, (0, 1)), (two_cells, ("a", "b"))])
@pytest.mark.parametrize("relation", ["one", "add-remove"])
def test_no_short_list_exceeds_what_is_proved(asked, values, relation):
    bound = Fraction(9, 8)
    found = smallest_delta(asked, f"ln({bound})", neighbours=relation)
    assert found.lower <= largest_excess(asked, values, relation, bound, 3) <= found.upper


def test_a_delta_is_refuted_at_a_length_and_none_follows_from_no_epsilon():
    verdict = check(two_cells, "ln(3/2)", delta="1/4", neighbours="one")
    assert (verdict.status, verdict.question.list_size) == ("refuted", 1)
    assert check(naive, "ln(2)", delta="1/100").status != "proved"
    assert check(answers, "ln(2)", delta="1/4", neighbours="one").status == "proved"
    assert check(answers, "ln(2)", delta="6/25", neighbours="one").status == "refuted"


def test_the_checker_finds_what_was_tampered_with():
    proof = nested(check(capped, "ln(3/2)", delta="1/6", neighbours="one").certificate)
    assert isinstance(recheck(proof), Accepted)

    def tampered(change):
        changed = copy.deepcopy(dict(proof))
        change(changed)
        return recheck(changed)

    for change in (
        lambda document: document["question"].update(delta="1/7"),
        lambda document: document["question"].update(epsilon="ln(4/3)"),
        lambda document: document["question"].update(pointwise=True),
        lambda document: document["question"].pop("delta"),
        lambda document: document["evidence"].update(epsilon="ln(9/5)"),
        lambda document: document["evidence"].update(epsilon="ln(3)"),
        lambda document: document["evidence"].update(epsilon="inf"),
        lambda document: document["evidence"].update(evidence=dict(document["evidence"])),
        lambda document: document["question"]["finish"].popitem(),
        lambda document: document.update(verdict="refuted"),
        lambda document: document.update(bounds={"upper": "ln(5/4)"}),
    ):
        assert isinstance(tampered(change), Rejected)
