"""Laws: how a sum is distributed given one entry, for every entry and every value of it.

For a Markov chain this takes polynomial time.  With the forward table ``A_i[x, c] = Pr(X_i = x, w(X_1) + ... + w(X_i) = c)`` and
the backward one ``B_i[x, c] = Pr(w(X_{i+1}) + ... + w(X_T) = c | X_i = x)`` the law of the whole sum given X_i = x is the
convolution of ``A_i[x] / Pr(X_i = x)`` with ``B_i[x]``.

Tables are computed in floating point; all terms are positive, so an entry errs at most by the factor that the law states (`error`),
and an entry is zero exactly where it is impossible.  Where a comparison is too close for that, the exact law of the entry is
computed in rationals.

Of a hidden chain the entries are what its states show: the terms of all states that show a value are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np
from flint import fmpq, fmpq_poly

from privproof.errors import QuestionError
from privproof.exact import ZERO, Rational
from privproof.memory import entries_within, memory_words
from privproof.release.bayes_networks import Network
from privproof.release.histogram_sums import MOST_OUTPUTS, Counts, pack_counts
from privproof.release.markov_chains import Chain
from privproof.release.series_queries import Query
from privproof.release.transition_powers import UNIT

LARGEST = 40_000_000
"""The entries of all laws of one prior together, beyond which exact calibration is not tried."""
_MOST_CELLS = 100_000_000
"""Outputs of a histogram times laws, beyond which exact calibration is not tried: noise on all of them takes some seconds, each time."""
_MOST_PRODUCTS = 2_000_000_000
"""Multiplications for the laws of a histogram; the checker does as many."""
_BYTES = 24
"""Of an entry: a float of the laws, the same in the making, and its exact number for a while."""
_LARGEST_EXACT = 40_000_000
"""Multiplications of rationals; longer series are refused, with a hint."""
_TINY = 1e-250
"""Floats below this may have lost digits; laws with such masses are said not to be complete."""
_TINY_WITHOUT_TAILS = 1e-20
"""The same for the probability of a value by which laws are divided, where their tails are lost."""
_LEAST = -600.0
"""Logarithm of the least product of probabilities for which the tails of laws are within the range of floats."""


@dataclass(frozen=True)
class SumLaws:
    """The laws of a query given the values of one entry, any two of which must not be told apart.

    Attributes:
        prior: the number of the prior.
        length: the length of the series; 0 for a network.
        node: the entry, a number from 1 or a name.
        values: its possible values.
        masses: for every value the probabilities of the sums, in steps from `lowest` on.
        lowest: the least sum, in steps.
        error: the masses are right up to this relative error, and up to an absolute one of 1e-285.
        complete: whether a mass is zero only where it is impossible.
        exactly: the same masses as rationals.
        counts: for a histogram, how the sums tell its counts.
    """

    prior: int
    length: int
    node: int | str
    values: tuple[str, ...]
    masses: np.ndarray = field(repr=False)
    lowest: int
    error: float
    complete: bool
    exactly: Callable[[], tuple[tuple[Rational, ...], ...]] = field(repr=False, compare=False)
    counts: Counts | None = None

    @property
    def outputs(self) -> int:
        """How many outputs are compared."""
        return self.masses.shape[1] if self.counts is None else self.counts.outputs


def chain_laws(
    chain: Chain, length: int, query: Query, prior: int = 0, *, shown: Sequence[str] | None = None
) -> Iterator[SumLaws]:
    """The laws of a sum or of a histogram given each entry of a series.

    Args:
        chain: the chain.
        length: the length of the series.
        query: the query.
        prior: the number of the prior.
        shown: for every state the value that it shows, which is the entry; without it the states are the values.

    Raises:
        QuestionError: the start may be any, the query is a function, or the tables are too large.
    """
    law = chain.law
    if law is None:
        raise QuestionError(
            "prior",
            "the law of a sum depends on the start, and the start may be any",
            place="initial",
            hint='method="quilt" holds for every start; or give the first distribution',
        )
    shown = chain.states if shown is None else shown
    query, counts = told_by_sum(query, [shown], length, length * len(chain.states))
    steps = query.steps(shown)
    lowest, highest = min(steps), max(steps)
    weights = [step - lowest for step in steps]
    width, size = (highest - lowest) * length + 1, len(steps)
    room = entries_within(LARGEST, _BYTES)
    if length * size * width > room:
        raise QuestionError(
            "size",
            f"{length} entries x {size} states x {width} sums are {length * size * width} numbers, "
            f"{memory_words(_BYTES * length * size * width)}, more than {memory_words(_BYTES * room)}",
            place="length",
            hint=f'at most {room}; method="quilt" takes any length',
        )
    possible = [np.array([p != 0 for p in law])]
    for _ in range(length - 1):
        possible.append(chain.following(possible[-1]))
    least = _logarithm(min(p for p in law if p != 0))
    least += (length - 1) * _logarithm(min(p for row in chain.rows for p in row if p != 0))
    matrix = chain.matrix
    first = np.array([float(p) for p in law])
    forward = [_starting_table(first, weights, highest - lowest + 1)]
    for i in range(1, length):
        forward.append(_shift_rows(matrix.T @ forward[-1], weights, (highest - lowest) * (i + 1) + 1))
    backward = np.ones((size, 1))
    error = (2 * length * (size + 4) + width + 2 * size + 8) * UNIT
    found: list[SumLaws] = []
    for i in range(length, 0, -1):
        table = forward.pop()
        chances = table.sum(axis=1)
        states = np.flatnonzero(possible[i - 1])
        if (chances[states] < (_TINY if least > _LEAST else _TINY_WITHOUT_TAILS)).any():
            raise QuestionError(
                "prior",
                f"a value of X_{i} is possible with a probability too small for the tables of laws",
                place="prior",
                hint='method="quilt"',
            )
        groups: dict[str, list[int]] = {}
        for x in states.tolist():
            groups.setdefault(shown[x], []).append(x)
        masses = np.stack(
            [sum(np.convolve(table[x], backward[x]) for x in each) / chances[each].sum() for each in groups.values()]
        )
        found.append(
            SumLaws(
                prior,
                length,
                i,
                tuple(groups),
                masses,
                lowest * length,
                error,
                least > _LEAST,
                _exact(chain, law, weights, length, i, tuple(groups.values())),
                counts,
            )
        )
        backward = matrix @ _shift_rows(backward, weights, (highest - lowest) * (length - i + 1) + 1)
    yield from reversed(found)


def told_by_sum(query: Query, values: Sequence[Sequence[str]], entries: int, laws: int) -> tuple[Query, Counts | None]:
    """The sum that tells the query: itself, or the number whose digits are the counts of a histogram.

    Args:
        query: the query.
        values: what each kind of entry may be.
        entries: how many entries there are.
        laws: how many laws there are, one for every entry and value.
    """
    if query.kind == "sum":
        return query, None
    if query.kind != "histogram":
        raise QuestionError("query", f"{query.name} is no sum of weights", place="query", hint='method="quilt"')
    told, counts = pack_counts(query, values, entries)
    width = counts.outputs // (entries + 1 if counts.rest else 1)
    if (
        counts.outputs > MOST_OUTPUTS
        or counts.outputs * laws > _MOST_CELLS
        or width * width // 6 * laws > _MOST_PRODUCTS
    ):
        raise QuestionError(
            "size",
            f"{counts.bins} counts of {entries} entries have {entries + 1}^{counts.bins} outputs, for each of {laws} laws",
            place="length",
            hint='fewer bins or shorter series; method="quilt" takes any length',
        )
    return told, counts


def _logarithm(value: Rational) -> float:
    """The logarithm of a number above zero, however small."""
    return log(int(value.p)) - log(int(value.q))


def _starting_table(first: np.ndarray, weights: Sequence[int], width: int) -> np.ndarray:
    result = np.zeros((len(first), width))
    for x, weight in enumerate(weights):
        result[x, weight] = first[x]
    return result


def _shift_rows(table: np.ndarray, weights: Sequence[int], width: int) -> np.ndarray:
    """Every row moved up by the weight of its state."""
    result = np.zeros((len(table), width))
    for x, weight in enumerate(weights):
        result[x, weight : weight + table.shape[1]] = table[x]
    return result


def _exact(
    chain: Chain,
    law: Sequence[Rational],
    weights: Sequence[int],
    length: int,
    node: int,
    possible: Sequence[Sequence[int]],
) -> Callable[[], tuple[tuple[Rational, ...], ...]]:
    """The exact law of one entry, by polynomials whose coefficients are probabilities."""

    def computed() -> tuple[tuple[Rational, ...], ...]:
        size = len(law)
        width = max(weights) * length + 1
        within_exact(length, size, width)
        moved = [fmpq_poly([0] * weight + [1]) for weight in weights]
        forward = [moved[x] * law[x] for x in range(size)]
        for _ in range(node - 1):
            forward = [
                moved[y] * sum((forward[x] * chain.rows[x][y] for x in range(size)), fmpq_poly([])) for y in range(size)
            ]
        backward = [fmpq_poly([1]) for _ in range(size)]
        for _ in range(length - node):
            added = [moved[y] * backward[y] for y in range(size)]
            backward = [sum((added[y] * chain.rows[x][y] for y in range(size)), fmpq_poly([])) for x in range(size)]
        result = []
        for states in possible:
            joint = sum((forward[x] * backward[x] for x in states), fmpq_poly([]))
            coefficients = [fmpq(c) for c in joint.coeffs()]
            chance = sum(coefficients, ZERO)
            padded = [*coefficients, *([ZERO] * (width - len(coefficients)))]
            result.append(tuple(c / chance for c in padded))
        return tuple(result)

    return computed


def within_exact(length: int, size: int, width: int) -> None:
    """Complain where exact laws would take too long."""
    if length * size * size * width > _LARGEST_EXACT:
        raise QuestionError(
            "size", f"exact laws of {length} entries and {size} states take too long", place="length", hint="shorter"
        )


def listed_laws(
    laws: Mapping[str, Mapping[int, Rational]],
    *,
    prior: int = 0,
    node: str | int = 1,
    length: int = 0,
    counts: Counts | None = None,
) -> SumLaws:
    """Laws that are given: for every secret the probabilities of whole sums; for a histogram from 0 on."""
    lowest = min(min(law) for law in laws.values()) if counts is None else 0
    highest = max(max(law) for law in laws.values())
    exact = tuple(tuple(law.get(c, ZERO) for c in range(lowest, highest + 1)) for law in laws.values())
    masses = np.array([[float(p) for p in row] for row in exact])
    complete = all(
        (mass > _TINY) == (p != 0)
        for row, some in zip(exact, masses, strict=True)
        for p, mass in zip(row, some, strict=True)
    )
    return SumLaws(prior, length, node, tuple(laws), masses, lowest, 2 * UNIT, complete, lambda: exact, counts)


def network_laws_of(network: Network, query: Query, prior: int = 0) -> Iterator[SumLaws]:
    """The laws of a sum or of a histogram given each node of a network."""
    from privproof.release.network_quilts import network_laws

    values = [node.values for node in network.nodes]
    query, counts = told_by_sum(query, values, len(values), sum(map(len, values)))
    found = network_laws(network, query)
    for node in network.nodes:
        given = {value: found[node.name, value] for value in node.values if (node.name, value) in found}
        if len(given) > 1:
            yield listed_laws(given, prior=prior, node=node.name, counts=counts)
