"""Proofs for mixtures of chains: quilts that hold which of the chains it is.

The possible states of a stationary chain fall into *parts* without a step between them: a series stays in the part C in which it
begins, and in each part it follows a chain of its own.  Let k be the largest ``P(C = c | X_i = x) / P(C = c | X_i = x')``, over parts
and pairs of possible values.  If quilts show, in every part, that two values of X_i are apart by a loss of at most ``epsilon - ln k``
there, then the claim holds: ``P(w | x)`` is the sum over c of ``P(c | x) P(w | c, x)``, in which the first factor is at most k times,
and the second at most ``e^epsilon / k`` times, that of x'.  (With Gaussian noise delta is added to the second factor, and averages to
delta.)  The start is checked to be stationary, so k is the same for every entry.

A chain that is not stationary has one part, itself, and k = 1.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq_mat

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, only_members
from privproof_checker.release.markov_quilts import Judge, ranges_of
from privproof_checker.release.release_priors import Chain
from privproof_checker.release.release_questions import Release, given_by_prior
from privproof_checker.release.transition_powers import OperationWork


def proved_by_parts(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that in every part every node has a quilt that the claim affords beside what the part tells."""
    only_members(evidence, ("method", "ranges"), "evidence")
    work, count, compared = OperationWork(), 0, False
    for number, (chain, series) in enumerate(given_by_prior(release, evidence, "lists")):
        assert isinstance(chain, Chain)
        parts = parts_of(chain)
        allowance = replace(release.allowance(chain), told=told_by_part(parts, f"question.priors[{number}]"))
        judges = [Judge(part, allowance, work) for part, _ in parts]
        for length, listed, place in series:
            given = a_list(listed, place)
            if len(given) != len(parts):
                refuse(f"{len(given)} lists are given for {len(parts)} parts", place)
            for part, (judge, ranges) in enumerate(zip(judges, given, strict=True)):
                for each in ranges_of(ranges, length, f"{place}[{part}]", limits):
                    judge.check(each, f"{place}[{part}]")
                    count += 1
                    within(count, limits.pairs, "ranges", "evidence.ranges")
                compared = compared or judge.supports.compares(length)
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    return Accepted("proved", release.claim(), {"method": "parts", "ranges": count, "priors": len(release.priors)})


def parts_of(chain: Chain) -> list[tuple[Chain, Rational]]:
    """The parts of a chain, each with its probability."""
    start = chain.start
    if chain.kind == "any" or start is None:
        return [(chain, ONE)]
    moved = fmpq_mat([list(start)]) * fmpq_mat([list(row) for row in chain.rows])
    if tuple(moved.entries()) != tuple(start):
        return [(chain, ONE)]
    left = [state for state, weight in enumerate(start) if weight != 0]
    result = []
    while left:
        inside, edge = {left[0]}, [left[0]]
        while edge:
            here = edge.pop()
            new = {s for s in left if s not in inside and (chain.rows[here][s] != 0 or chain.rows[s][here] != 0)}
            inside |= new
            edge += new
        places = [state for state in left if state in inside]
        left = [state for state in left if state not in inside]
        weight = sum((start[s] for s in places), ZERO)
        part = Chain(
            tuple(chain.states[s] for s in places),
            tuple(tuple(chain.rows[s][t] for t in places) for s in places),
            "stationary",
            tuple(start[s] / weight for s in places),
            tuple(chain.values[s] for s in places),
        )
        if any(sum(row, ZERO) != 1 for row in part.rows):
            refuse("a part of a stationary chain is left", "question.priors")
        result.append((part, weight))
    return result


def told_by_part(parts: list[tuple[Chain, Rational]], place: str) -> Rational:
    """The most that a value of an entry tells about the part: the largest ``P(c | x) / P(c | x')``."""
    if len(parts) == 1:
        return ONE
    joint: list[dict[str, Rational]] = []
    total: dict[str, Rational] = {}
    for part, weight in parts:
        assert part.start is not None
        here: dict[str, Rational] = {}
        for value, p in zip(part.values, part.start, strict=True):
            here[value] = here.get(value, ZERO) + weight * p
            total[value] = total.get(value, ZERO) + weight * p
        joint.append(here)
    most = ONE
    for here in joint:
        if {*here} != {*total}:
            refuse("a value that is possible in one part is impossible in another, so it tells the part", place)
        shares = [here[value] / total[value] for value in total]
        most = max(most, max(shares) / min(shares))
    return most
