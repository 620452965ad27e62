"""Events of a mechanism with continuous noise, and their probabilities, exactly.

An event is a pattern of an output.  Its probability is the sum, over the leaves of the mechanism's tree, of the noise that leads
there: a polyhedron.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flint import arb

from privproof.engines.integrals.functions import Noise
from privproof.engines.integrals.leaves import Halfspace
from privproof.engines.integrals.probabilities import probability, probability_ball
from privproof.engines.integrals.sums import geometric_probability
from privproof.errors import LanguageError
from privproof.exact import ONE
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.language.branching import Follow, Leaf, leaves
from privproof.language.linear import Linear
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import matching
from privproof.language.taint import samples


def halfspace(form: Linear) -> Halfspace:
    """A form that must not be negative, as the integrator takes it."""
    terms = sorted((atom, factor) for atom, factor in form.terms.items() if isinstance(atom, int))
    return Halfspace(tuple(terms), form.constant)


def _share(leaf: Leaf, also: Sequence[Linear]) -> ExponentialSum:
    forms = [test.halfspace for test in leaf.tests] + list(also)
    kinds = {noise.kind for noise in leaf.noises}
    if kinds == {"geometric"}:
        strict = [test.strict == test.outcome for test in leaf.tests] + [False] * len(also)
        alphas = [noise.scale for noise in leaf.noises]
        value = geometric_probability(alphas, [halfspace(form) for form in forms], strict)
        return ExponentialSum.constant(value) * leaf.weight
    if "geometric" in kinds:
        raise LanguageError("noise", "geometric and continuous noise in one mechanism", hint="one kind of noise")
    noises = [Noise(noise.kind, noise.scale) for noise in leaf.noises]
    return probability(noises, [halfspace(form) for form in forms]) * leaf.weight


def measure(found: Sequence[Leaf], pattern: object) -> ExponentialSum:
    """The probability of an event, from the leaves of a mechanism's tree."""
    total = ExponentialSum.constant(0)
    for leaf in found:
        if leaf.complete and (also := leaf.within(pattern)) is not None:
            total = total + _share(leaf, also)
    return total


def measure_ball(found: Sequence[Leaf], pattern: object, bits: int = 128) -> arb:
    """The same as a ball."""
    with precision(bits):
        total = arb(0)
    for leaf in found:
        if leaf.complete and (also := leaf.within(pattern)) is not None:
            if any(noise.kind == "geometric" for noise in leaf.noises):
                part = _share(leaf, also).ball(ONE, bits)
            else:
                forms = [test.halfspace for test in leaf.tests] + list(also)
                noises = [Noise(noise.kind, noise.scale) for noise in leaf.noises]
                part = probability_ball(noises, [halfspace(form) for form in forms], ONE, bits)
            with precision(bits):
                total = total + part * arb(leaf.weight)
    return total


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
) -> tuple[Leaf, ...]:
    """The leaves of a mechanism's tree; those that cannot lie in the pattern may be left early."""
    discrete = any(sample.noise == "geometric" for sample in samples(mechanism.translated.body))
    follow = following(pattern, discrete=discrete) if mechanism.generator else None
    return leaves(mechanism, arguments, follow=follow, **options)


def event_probability(mechanism: Mechanism, pattern: object, arguments: Mapping[str, object]) -> ExponentialSum:
    """The probability that the output lies in a pattern, exactly."""
    return measure(tree(mechanism, arguments, pattern), pattern)
