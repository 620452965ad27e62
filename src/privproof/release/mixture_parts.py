"""Quilts for mixtures of chains: those that hold which of the chains it is.

A mixture never forgets its component, so entries far away tell it, and an entry hints at it: between states of different components
no quilt but the empty one has a finite influence.  But the component may be part of the quilt.  Let k be the largest
``P(C = c | X_i = x) / P(C = c | X_i = x')``.  Quilts of every component within ``epsilon - ln k`` keep the mixture within epsilon
(`privproof_checker.release.mixture_parts` has the proof).  Where epsilon is below ln k, the whole series stays one group; that is no
weakness of the argument alone: with ever longer series, noise that does not grow with them tells the component in the end, and that
costs ln k.

It is about stationary mixtures, for which k is the same at every entry: the parts of the states without a step between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter

from flint import arb, fmpq_mat

from privproof.exact import ZERO, Rational
from privproof.exact.balls import precision
from privproof.exact.rounding import float_below
from privproof.release.hidden_chains import Hidden
from privproof.release.influence_costs import quilted_chain, upper
from privproof.release.markov_chains import Chain
from privproof.release.markov_quilts import Block, Quilts, quilts, spent
from privproof.release.release_question import Prior


@dataclass(frozen=True)
class Parts:
    """The parts of a prior.

    Attributes:
        chains: the chain of every part.
        told: the logarithm of the most that an entry tells about the part, rounded up; 0 for one part.
    """

    chains: tuple[Chain, ...]
    told: Fraction

    def within(self, length: int, budget: float) -> tuple[Quilts, ...]:
        """The quilts of every part at what is left of a budget; none where nothing is."""
        left = float_below(Fraction(budget) - self.told)
        return tuple(quilts(chain, length, left) for chain in self.chains) if left > 0 else ()


def parts_of(prior: Prior) -> Parts | None:
    """The parts of a prior that is a chain, hidden or not; none where an entry tells the part for sure.

    >>> calm, busy = (Chain.of({x: {"a": p, "b": q} for x in "ab"}) for p, q in (("3/5", "2/5"), ("2/5", "3/5")))
    >>> found = parts_of(Hidden.mixture([calm, busy], ["1/2", "1/2"]))
    >>> len(found.chains), f"{float(found.told):.4f}"
    (2, '0.4055')
    """
    chain = quilted_chain(prior, "quilt")
    law = chain.start
    if not isinstance(prior, Hidden) or isinstance(law, str) or not _stationary(chain):
        return Parts((chain,), Fraction(0))
    left, chains, joint = [s for s, p in enumerate(law) if p != 0], [], []
    while left:
        inside, edge = {left[0]}, [left[0]]
        while edge:
            here = edge.pop()
            new = {s for s in left if s not in inside and (chain.rows[here][s] != 0 or chain.rows[s][here] != 0)}
            inside |= new
            edge += new
        places = [s for s in left if s in inside]
        left = [s for s in left if s not in inside]
        rows = tuple(tuple(chain.rows[s][t] for t in places) for s in places)
        chains.append(Chain(tuple(chain.states[s] for s in places), rows, "stationary", chain.name))
        shares: dict[str, Rational] = {}
        for s in places:
            shares[prior.values[s]] = shares.get(prior.values[s], ZERO) + law[s]
        joint.append(shares)
    if len(chains) == 1:
        return Parts((chain,), Fraction(0))
    total = {value: sum((shares.get(value, ZERO) for shares in joint), ZERO) for shares in joint for value in shares}
    if any(len(shares) < len(total) for shares in joint):
        return None
    known = [[shares[value] / total[value] for value in total] for shares in joint]
    with precision(192):
        told = upper(arb(max(max(row) / min(row) for row in known)).log())
    return Parts(tuple(chains), told)


def best_quilts(prior: Prior, length: int, budget: float) -> Quilts:
    """The quilts of a prior that allow the most: of its chain, or of the worst of its parts, whose influence holds the part's."""
    whole, parts = quilts(quilted_chain(prior, "quilt"), length, budget), parts_of(prior)
    if parts is None or len(parts.chains) == 1:
        return whole
    found = parts.within(length, budget)
    if not found or (worst := min(found, key=lambda each: each.rate)).rate <= whole.rate:
        return whole
    more = nextafter(float(parts.told), inf)

    def beside(block: Block) -> Block:
        return replace(block, cell=replace(block.cell, influence=nextafter(block.cell.influence + more, inf)))

    return replace(worst, blocks=tuple(map(beside, worst.blocks)), worst=beside(worst.worst))


def least_spent(prior: Prior, length: int, rate: Fraction) -> Fraction:
    """What a series loses at most where every entry costs so much, by the quilts of the chain or of its parts."""
    whole, parts = spent(quilted_chain(prior, "quilt"), length, rate)[0], parts_of(prior)
    if parts is None or len(parts.chains) == 1:
        return whole
    return min(whole, parts.told + max(spent(chain, length, rate)[0] for chain in parts.chains))


def _stationary(chain: Chain) -> bool:
    law = chain.start
    assert not isinstance(law, str)
    return (fmpq_mat([list(law)]) * fmpq_mat([list(row) for row in chain.rows])).entries() == list(law)
