"""Events of a mechanism with open noise, and their probabilities, exactly.

An event is a pattern of an output.  Its probability is the sum, over the leaves of the mechanism's tree, of the noise that leads
there: a polyhedron.  Over geometric noise masses are summed, over continuous noise densities are integrated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import arb

from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.leaf_sums import geometric_probability
from privproof.engines.integrals.noise_races import order_probability
from privproof.engines.integrals.piecewise_functions import CentredNoise
from privproof.engines.integrals.region_probabilities import probability, probability_ball
from privproof.errors import LanguageError
from privproof.exact import ONE, rational
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.patience import pause
from privproof.language.branching import BranchLeaf, Follow, leaves
from privproof.language.linear import Linear, showing_unseen
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import matching
from privproof.language.taint import samples

_HALF = rational("1/2")
"""An alpha in the place of noise that is not geometric, which no inequality mentions there."""
_APART = {"geometric": "geometric", "gumbel": "Gumbel"}
"""Noise that is summed up before the rest is integrated, and what it is called."""
_UNUSED = CentredNoise("laplace", ONE)
"""A law in the place of a noise that no inequality mentions."""
_REMEMBERED = 4_096
"""So many probabilities of polyhedra are remembered: data that are moved alike, and leaves that differ in what is shown, have the same."""


def halfspace(form: Linear) -> Halfspace:
    """A form that must not be negative, as the integrator takes it."""
    terms = sorted((atom, factor) for atom, factor in form.terms.items() if isinstance(atom, int))
    return Halfspace(tuple(terms), form.constant)


@dataclass(frozen=True)
class _Split:
    """A leaf without its geometric and its Gumbel noise: the probability of these, and what is left to be integrated."""

    weight: ExponentialSum
    noises: tuple[CentredNoise, ...]
    halfspaces: tuple[Halfspace, ...]


def _split(leaf: BranchLeaf, also: Sequence[Linear]) -> _Split:
    """Sum over the geometric noise of a leaf, and over the orders of its Gumbel noise.

    Raises:
        LanguageError: noise of several kinds is compared, or the sum takes too long.
    """
    pause()
    discrete: list[tuple[Halfspace, bool]] = []
    orders: list[Halfspace] = []
    rest: list[Halfspace] = []
    strict = [test.strict == test.outcome for test in leaf.tests]
    forms = [*zip((test.halfspace for test in leaf.tests), strict, strict=True), *((form, False) for form in also)]
    for form, above in forms:
        kinds = {_APART.get(leaf.noises[atom].kind) for atom in form.terms if isinstance(atom, int)}
        if len(kinds) > 1:
            told = " and ".join(sorted(kind or "continuous" for kind in kinds))
            raise LanguageError("integral", f"{told} noise are compared", hint="compare noise of one kind")
        if kinds == {"geometric"}:
            discrete.append((halfspace(form), above))
        elif kinds == {"Gumbel"}:
            orders.append(halfspace(form))
        else:
            rest.append(halfspace(form))
    weight = ExponentialSum.constant(leaf.weight)
    if discrete:
        alphas = [noise.scale if noise.kind == "geometric" else _HALF for noise in leaf.noises]
        weight = weight * rational(geometric_probability(alphas, *zip(*discrete, strict=True)))
    if orders:
        weight = weight * order_probability({j: noise.scale for j, noise in enumerate(leaf.noises)}, orders)
    noises = tuple(_UNUSED if noise.kind in _APART else CentredNoise(noise.kind, noise.scale) for noise in leaf.noises)
    return _Split(weight, noises, tuple(rest))


def _share(leaf: BranchLeaf, also: Sequence[Linear]) -> ExponentialSum:
    found = _split(leaf, also)
    if found.weight.is_zero:
        return found.weight
    return probability(found.noises, found.halfspaces) * found.weight


def measure(found: Sequence[BranchLeaf], pattern: object) -> ExponentialSum:
    """The probability of an event, from the leaves of a mechanism's tree."""
    total = ExponentialSum.constant(0)
    for leaf in found:
        if leaf.complete and (also := leaf.within(pattern)) is not None:
            total = total + _share(leaf, also)
    return total


def measure_ball(found: Sequence[BranchLeaf], pattern: object, bits: int = 128) -> arb:
    """The same as a ball."""
    with precision(bits):
        total = arb(0)
    for leaf in found:
        if leaf.complete and (also := leaf.within(pattern)) is not None:
            split = _split(leaf, also)
            if not split.weight.is_zero:
                part = _ball(split.noises, split.halfspaces, bits)
                with precision(bits):
                    total = total + part * split.weight.ball(1, bits)
    return total


@lru_cache(maxsize=_REMEMBERED)
def _ball(noises: tuple[CentredNoise, ...], halfspaces: tuple[Halfspace, ...], bits: int) -> arb:
    return probability_ball(noises, halfspaces, ONE, bits)


def following(pattern: object, *, discrete: bool = False) -> Follow | None:
    """For a generator: whether what is written so far may still become an output of the pattern."""
    if not isinstance(pattern, list):
        return None

    def follow(written: Sequence[object]) -> bool:
        if len(written) > len(pattern):
            return False
        return matching(pattern[len(written) - 1], written[-1], discrete=discrete) is not None

    return follow


def tree(
    mechanism: Mechanism, arguments: Mapping[str, object], pattern: object = None, **options: Any
) -> tuple[BranchLeaf, ...]:
    """The leaves of a mechanism's tree; those that cannot lie in the pattern may be left early."""
    discrete = any(sample.noise == "geometric" for sample in samples(mechanism.translated.body))
    follow = following(pattern, discrete=discrete) if mechanism.generator else None
    with showing_unseen():
        return leaves(mechanism, arguments, follow=follow, **options)


def event_probability(mechanism: Mechanism, pattern: object, arguments: Mapping[str, object]) -> ExponentialSum:
    """The probability that the output lies in a pattern, exactly."""
    return measure(tree(mechanism, arguments, pattern), pattern)
