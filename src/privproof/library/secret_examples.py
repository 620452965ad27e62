"""Pufferfish questions of the FAIER paper: a count or noisy max over two people's diseases, under several priors.

The paper conditions on counts: "John has the disease" enters as "the count is not 0", "he has not" as "not everybody has it".  Both
readings are here: as printed, and with the secret about John himself.
"""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import bernoulli, integer, mechanism, prior, truncated_geometric
from privproof.library.mechanisms import improved_noisy_max
from privproof.scenarios import pufferfish


@mechanism
def noisy_count(count: integer(0, 2)):
    """The truncated geometric mechanism on a count of two people."""
    return truncated_geometric(count, alpha="1/2", low=0, high=2)


@prior(p="0 < p < 1")
def contagious(p):
    """In a family all are ill or none."""
    ill = bernoulli(p)
    return ill, ill


@prior(p="0 < p < 1")
def independent(p):
    """Everybody falls ill independently, with the same unknown probability."""
    return bernoulli(p), bernoulli(p)


@prior(p_a="0 < p_a < 1", p_b="0 < p_b < 1", p_c="0 < p_c < 1")
def three_diseases(p_a, p_b, p_c):
    """Three diseases, independent of each other and among people."""
    john = (bernoulli(p_a), bernoulli(p_b), bernoulli(p_c))
    other = (bernoulli(p_a), bernoulli(p_b), bernoulli(p_c))
    return john, other


@prior(p_a="0 < p_a < 1", p_b="0 < p_b < 1", p_c="0 < p_c < 1")
def contagious_first(p_a, p_b, p_c):
    """The first of three diseases is contagious: both have it or none."""
    a = bernoulli(p_a)
    john = (a, bernoulli(p_b), bernoulli(p_c))
    other = (a, bernoulli(p_b), bernoulli(p_c))
    return john, other


def ill(data):
    """John, the first person, is ill."""
    return data[0]


def well(data):
    """John is not ill."""
    return not data[0]


def count(data):
    """How many are ill."""
    return sum(data)


def counts(data):
    """How many have each disease."""
    john, other = data
    return [x + y for x, y in zip(john, other, strict=True)]


def has_first(data):
    """John has the first disease."""
    return data[0][0]


def has_not_first(data):
    """John does not have the first disease."""
    return not data[0][0]


contagious_count = pufferfish(
    noisy_count,
    prior=contagious,
    query=count,
    secrets={"John is ill": ill, "John is well": well},
    epsilon="ln(2)",
    name="noisy count of a family, all ill or none",
)

independent_count = pufferfish(
    noisy_count,
    prior=independent,
    query=count,
    secrets={"John is ill": ill, "John is well": well},
    epsilon="ln(2)",
    name="noisy count of two independent people",
)

independent_count_as_printed = pufferfish(
    noisy_count,
    prior=independent,
    query=count,
    secrets={"no record of John": lambda data: True, "somebody is ill": lambda data: sum(data) > 0},
    epsilon="ln(2)",
    name="noisy count of two independent people, with and without John's record",
)

independent_noisy_max = pufferfish(
    improved_noisy_max,
    prior=three_diseases,
    query=counts,
    secrets={"John has A": has_first, "John does not have A": has_not_first},
    epsilon="ln(2)",
    name="noisy max over three independent diseases",
)

independent_noisy_max_as_printed = pufferfish(
    improved_noisy_max,
    prior=three_diseases,
    query=counts,
    secrets={
        "somebody has A": lambda data: counts(data)[0] > 0,
        "somebody does not have A": lambda data: counts(data)[0] < 2,
    },
    epsilon="ln(2)",
    name="noisy max over three independent diseases, secrets as printed",
)

contagious_noisy_max = pufferfish(
    improved_noisy_max,
    prior=contagious_first,
    query=counts,
    secrets={"John has A": has_first, "John does not have A": has_not_first},
    epsilon="ln(2)",
    name="noisy max over three diseases, the first contagious",
)
