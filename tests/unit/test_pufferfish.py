"""Priors, secrets, and the tables they become: against enumeration from the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest

from privproof import (
    LanguageError,
    MarkovPrior,
    ScenarioError,
    bernoulli,
    choice,
    integer,
    mechanism,
    one_of,
    prior,
    pufferfish,
    randomized_response,
    tight_epsilon,
    time_series,
    truncated_geometric,
)
from privproof.compiling.pufferfish import secrets_table
from privproof.exact import fraction
from privproof.language.laws import TableLaw as Law
from privproof.language.noise import drawing
from privproof.models.parameter_conditions import conditions_of


@mechanism
def noisy_count(count: integer(0, 3)):
    return truncated_geometric(count, alpha="1/3", low=0, high=3)


@prior(p="0 < p < 1", q="[0, 1]")
def household(p, q, size=3):
    data = [bernoulli(p)]
    for _ in range(size - 1):
        if data[-1]:
            data.append(bernoulli(q))
        else:
            data.append(choice({True: p * q, False: 1 - p * q}))
    return data


def asked(chosen=household, **more):
    secrets = {"first": lambda data: data[0], "not first": lambda data: not data[0], "all": all}
    return pufferfish(noisy_count, prior=chosen, query=sum, secrets=secrets, **more)


def drawn(chosen, values):
    """Every data set of a prior at given values with its probability, by running the function on all its choices."""
    found: dict[tuple, Fraction] = {}

    def explore(choices):
        weight, made = Fraction(1), []

        def draw(law):
            nonlocal weight
            assert isinstance(law, Law)
            position = len(made)
            chosen_here = choices[position] if position < len(choices) else 0
            made.append((chosen_here, len(law.outcomes)))
            weight *= law.outcomes[chosen_here][1]
            return law.outcomes[chosen_here][0]

        with drawing(draw):
            data = chosen(**values)
        found[tuple(data)] = found.get(tuple(data), Fraction(0)) + weight
        for position in range(len(choices), len(made)):
            for other in range(1, made[position][1]):
                explore([*(c for c, _ in made[:position]), other])

    explore([])
    return found


@pytest.mark.parametrize(
    "values", [{"p": Fraction(1, 3), "q": Fraction(1, 2)}, {"p": Fraction(4, 5), "q": Fraction(1)}]
)
def test_the_table_holds_the_definition(values):
    found = secrets_table(asked()).table
    data = drawn(household, values)
    assert sum(data.values()) == 1
    exact = dict(values.items())
    for secret, holds in {"first": lambda d: d[0], "not first": lambda d: not d[0], "all": all}.items():
        chance = sum(p for d, p in data.items() if holds(d))
        assert fraction(found.probability(secret).at(exact)) == chance
        for output in found.outputs:
            joint = Fraction(0)
            for d, p in data.items():
                if holds(d):
                    law = dict(zip("0123", _row(sum(d)), strict=True))
                    joint += p * law[output]
            assert fraction(found.probability(secret, output).at(exact)) == joint


def _row(count):
    a = Fraction(1, 3)
    inside, ends = (1 - a) / (1 + a), 1 / (1 + a)
    return [(ends if z in (0, 3) else inside) * a ** abs(z - count) for z in range(4)]


def test_conditions_compare_both_directions():
    listed = conditions_of(secrets_table(asked(pairs=[("first", "not first")])).table).listed
    assert {condition.pair for condition in listed} == {("first", "not first"), ("not first", "first")}


@prior
def certain():
    return (True, True)


def test_an_impossible_secret_is_told():
    found = secrets_table(asked(certain, pairs=[("first", "not first")]))
    assert found.impossible == ("not first",)
    assert found.table.pairs == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: asked(pairs=[("first", "nobody")]), "unknown secret 'nobody'"),
        (lambda: asked(pairs=[]), "no pair of secrets"),
        (lambda: asked(pairs=[("all", "all")]), "no pair of two secrets"),
        (lambda: pufferfish(noisy_count, prior=household, secrets={"one": all}), "fewer than two secrets"),
        (lambda: pufferfish(noisy_count, prior=sum, secrets={"a": all, "b": any}), "is no prior"),
    ],
)
def test_wrong_questions(call, message):
    with pytest.raises(ScenarioError, match=message):
        call()


def test_a_failing_secret_is_told():
    question = pufferfish(noisy_count, prior=household, query=sum, secrets={"x": lambda d: d[9], "y": all})
    with pytest.raises(ScenarioError, match="IndexError"):
        secrets_table(question)


def branching(p):
    if p > 0:
        return (True,)
    return (False,)


def test_a_prior_does_not_branch_on_what_is_unknown():
    question = asked(prior(p="0 < p < 1")(branching))
    with pytest.raises(LanguageError, match="an unknown parameter is compared"):
        secrets_table(question)


@pytest.mark.parametrize("text", ["p < 1", "1 < p < 0", "0 < q < 1", "0 < p < x", "p"])
def test_no_interval(text):
    with pytest.raises(ScenarioError):
        prior(p=text)(branching)


# ------------------------------------------------------------------------------------------------------------- series


@mechanism
def report(x: one_of("a", "b")):
    return randomized_response(x, truth="3/4", among=("a", "b"))


CHAIN = {"a": {"a": Fraction(4, 5), "b": Fraction(1, 5)}, "b": {"a": Fraction(1, 3), "b": Fraction(2, 3)}}
INITIAL = {"a": Fraction(1, 4), "b": Fraction(3, 4)}


def largest(moment, length):
    """The largest ratio over all words up to a length, from the definition."""
    best = Fraction(0)
    for n in range(1, length + 1):
        weights = {}
        for path in product("ab", repeat=max(n, moment)):
            p = INITIAL[path[0]]
            for x, y in pairwise(path):
                p *= CHAIN[x][y]
            weights[path] = p
        for word in product("ab", repeat=n):
            given = {}
            for secret in "ab":
                joint = total = Fraction(0)
                for path, p in weights.items():
                    if path[moment - 1] == secret:
                        total += p
                        shown = p
                        for x, o in zip(path, word, strict=False):
                            shown *= Fraction(3, 4) if x == o else Fraction(1, 4)
                        joint += shown
                given[secret] = joint / total
            best = max(best, given["a"] / given["b"], given["b"] / given["a"])
    return best


@pytest.mark.parametrize(("moment", "length"), [(1, 4), (2, 4), (3, 5), (4, 4)])
def test_a_series_with_a_secret_at_one_moment(moment, length):
    chain = MarkovPrior.of(["a", "b"], initial=INITIAL, transitions=CHAIN)
    verdict = tight_epsilon(time_series(report, chain, secret_at=moment, length=length))
    assert fraction(verdict.tight.bound) == largest(moment, length)


def test_a_chain_between_bounds_is_at_least_as_bad_as_each_of_them():
    def chain(stay, **more):
        rows = {"a": {"a": stay, "b": f"1 - {stay}"}, "b": {"b": stay, "a": f"1 - {stay}"}}
        return MarkovPrior.of(["a", "b"], initial={"a": "1/2", "b": "1/2"}, transitions=rows, **more)

    between = tight_epsilon(time_series(report, chain("s", parameters={"s": "[0.6, 0.9]"})))
    assert between.status == "proved"
    for stay in ("0.6", "0.75", "0.9"):
        single = tight_epsilon(time_series(report, chain(stay)))
        assert single.lower.compare(between.upper) <= 0
    assert float(between.upper.decimal()) - float(between.lower.decimal()) < 1e-4


def test_wrong_series():
    with pytest.raises(ScenarioError, match="sum to"):
        MarkovPrior.of(["a", "b"], initial={"a": 1}, transitions={"a": {"a": "1/2"}, "b": {"b": 1}})
    with pytest.raises(ScenarioError, match="not linear"):
        MarkovPrior.of(
            ["a", "b"],
            initial={"a": 1},
            parameters={"s": "[0, 1]"},
            transitions={"a": {"a": "s^2", "b": "1 - s^2"}, "b": {"b": 1}},
        )
    chain = MarkovPrior.of(["a", "b"], initial={"a": 1}, transitions={"a": {"a": 1}, "b": {"b": 1}})
    with pytest.raises(ScenarioError, match="only a is possible"):
        time_series(report, chain)
