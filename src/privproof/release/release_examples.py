"""Releases of correlated data: one that is right, and ones that are not.

The lecture notes K. Chaudhuri, "Privacy III: Inferential Privacy and Pufferfish" (2020), print the Markov quilt mechanism as
Algorithm 2.  Followed to the letter it breaks privacy for every epsilon above 1: entries at the ends have no quilts there, so it
always falls back to the whole series, and then it divides by epsilon once more.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log

from privproof.exact import Budget, EpsilonLike, Number, Rational, epsilon, fraction, rational
from privproof.release.markov_chains import Chain
from privproof.release.release_question import Laplace, ReleaseQuestion
from privproof.release.series_queries import count


def activity() -> Chain:
    """Resting and walking, minute by minute."""
    return Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}}, name="activity")


def running_example() -> tuple[Chain, Chain]:
    """The two chains of the running example of Song, Wang and Chaudhuri (2017)."""
    first = Chain.of({"0": {"0": "0.9", "1": "0.1"}, "1": {"0": "0.4", "1": "0.6"}}, initial={"0": 1}, name="theta 1")
    second = Chain.of(
        {"0": {"0": "0.8", "1": "0.2"}, "1": {"0": "0.3", "1": "0.7"}},
        initial={"0": "0.9", "1": "0.1"},
        name="theta 2",
    )
    return first, second


def quilt_release() -> ReleaseQuestion:
    """A count over 100 entries with the noise that the Markov quilt mechanism finds for the running example."""
    return ReleaseQuestion(
        priors=running_example(),
        lengths=(100,),
        entries=100,
        query=count("1"),
        noise=Laplace.of("13.022"),
        budget=Budget.of(1),
        name="count with quilt noise",
    )


def entry_release() -> ReleaseQuestion:
    """A count with the noise that would do if entries were independent."""
    return ReleaseQuestion(
        priors=(activity(),),
        lengths=(30,),
        entries=30,
        query=count("walk"),
        noise=Laplace.of(1),
        budget=Budget.of(1),
        name="count with noise for independent entries",
    )


def lecture_scale(chain: Chain, length: int, budget: EpsilonLike) -> Fraction:
    """Algorithm 2 of the lecture notes, line by line: the scale of its Laplace noise.

    >>> lecture_scale(activity(), 4, 2)
    Fraction(1, 1)
    """
    allowed = float(rational(str(epsilon(budget))))
    largest = -inf
    for t in range(1, length + 1):
        needed = length / allowed
        for a in range(1, t):
            for b in range(1, length - t + 1):  # the notes go one further, to an entry that does not exist
                influence = _influence(chain, t, a, b)
                if influence != allowed:
                    needed = min(needed, (a + b + 1) / (allowed - influence))
        largest = max(largest, needed)
    return Fraction(largest / allowed).limit_denominator(10**9)


def _influence(chain: Chain, t: int, a: int, b: int) -> float:
    """The influence of X_t on X_{t-a} and X_{t+b}, by definition."""
    size = len(chain.states)
    law = chain.law
    assert law is not None
    before = list(law)
    for _ in range(t - a - 1):
        before = [sum((before[x] * chain.rows[x][y] for x in range(size)), Rational(0)) for y in range(size)]
    left, right = _power(chain, a), _power(chain, b)
    worst = 0.0
    chances = [sum((before[y] * left[y][x] for y in range(size)), Rational(0)) for x in range(size)]
    for x in range(size):
        for other in range(size):
            for y in range(size):
                for z in range(size):
                    above = before[y] * left[y][x] * right[x][z] * chances[other]
                    below = before[y] * left[y][other] * right[other][z] * chances[x]
                    if above != 0:
                        worst = inf if below == 0 else max(worst, log(fraction(above / below)))
    return worst


def _power(chain: Chain, exponent: int) -> list[list[Rational]]:
    size = len(chain.states)
    result = [[Rational(int(x == y)) for y in range(size)] for x in range(size)]
    for _ in range(exponent):
        result = [
            [sum((row[m] * chain.rows[m][y] for m in range(size)), Rational(0)) for y in range(size)] for row in result
        ]
    return result


def lecture_release(*, length: int = 2, budget: Number = 5) -> ReleaseQuestion:
    """A count with the noise of the lecture notes' Algorithm 2, on a chain that seldom changes."""
    chain = Chain.of(
        {"0": {"0": "0.988", "1": "0.012"}, "1": {"0": "0.018", "1": "0.982"}},
        initial={"0": "0.051", "1": "0.949"},
        name="a chain that seldom changes",
    )
    return ReleaseQuestion(
        priors=(chain,),
        lengths=(length,),
        entries=length,
        query=count("1"),
        noise=Laplace(rational(lecture_scale(chain, length, budget))),
        budget=Budget.of(budget),
        name="count with the noise of the lecture notes' Algorithm 2",
    )
