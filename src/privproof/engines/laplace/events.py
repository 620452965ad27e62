"""Events of a mechanism with continuous noise, and their probabilities, exactly.

An event is a pattern of an output: constants stand for themselves, and in the place of a noisy number stands where it shall lie
(`Between`).  Its probability is the sum, over the leaves of the mechanism's tree, of the noise that leads there: a polyhedron.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from privproof.engines.laplace.integrals import Halfspace, Noise, probability, probability_ball
from privproof.engines.laplace.sums import geometric_probability
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.language.branching import Follow, Leaf, leaves
from privproof.language.linear import Linear
from privproof.language.mechanism import Mechanism


@dataclass(frozen=True)
class Between:
    """A noisy number lies between two bounds; None for no bound.

    >>> Between(None, Fraction(-3)), Between(Fraction(0), Fraction(1, 2)), Between()
    (≤-3, 0..1/2, any number)
    """

    low: Fraction | None = None
    high: Fraction | None = None

    def __repr__(self) -> str:
        if self.low is None and self.high is None:
            return "any number"
        if self.low is None:
            return f"≤{self.high}"
        return f"≥{self.low}" if self.high is None else f"{self.low}..{self.high}"


ANY = Between()


def shown(pattern: Any) -> str:
    """A pattern in words."""
    match pattern:
        case list():
            return f"[{', '.join(map(shown, pattern))}]"
        case tuple():
            return f"({', '.join(map(shown, pattern))}{',' if len(pattern) == 1 else ''})"
        case _:
            return repr(pattern)


def matching(pattern: Any, output: Any) -> list[Linear] | None:
    """When an output lies in a pattern: the forms that must not be negative; None if it never does."""
    match pattern:
        case list() | tuple():
            if type(output) is not type(pattern) or len(output) != len(pattern):
                return None
            found: list[Linear] = []
            for wanted, part in zip(pattern, output, strict=True):
                more = matching(wanted, part)
                if more is None:
                    return None
                found += more
            return found
        case Between(low, high):
            if isinstance(output, Linear):
                result = [] if low is None else [Linear.of(output - low)]
                result += [] if high is None else [Linear.of(high - output)]
                return [form for form in result if form is not None]
            if isinstance(output, bool) or not isinstance(output, int | Fraction):
                return None
            return [] if (low is None or low <= output) and (high is None or output <= high) else None
        case _:
            if isinstance(output, Linear):
                return None
            same = output == pattern and (type(output) is bool) == (type(pattern) is bool)
            return [] if same and isinstance(output, str) == isinstance(pattern, str) else None


def word(output: Any) -> Any:
    """The pattern of all outputs that differ from one in its noisy numbers only."""
    match output:
        case list():
            return [word(part) for part in output]
        case tuple():
            return tuple(word(part) for part in output)
        case Linear():
            return ANY
        case int() if not isinstance(output, bool):
            return int(output)
        case _:
            return output


def key(pattern: Any) -> str:
    """Something that tells patterns apart."""
    return repr(pattern)


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


def measure(found: Sequence[Leaf], pattern: Any) -> ExponentialSum:
    """The probability of an event, from the leaves of a mechanism's tree."""
    total = ExponentialSum.constant(0)
    for leaf in found:
        if leaf.complete and (also := matching(pattern, leaf.output)) is not None:
            total = total + _share(leaf, also)
    return total


def measure_ball(found: Sequence[Leaf], pattern: Any, bits: int = 128) -> arb:
    """The same as a ball."""
    with precision(bits):
        total = arb(0)
    for leaf in found:
        if leaf.complete and (also := matching(pattern, leaf.output)) is not None:
            if any(noise.kind == "geometric" for noise in leaf.noises):
                part = _share(leaf, also).ball(ONE, bits)
            else:
                forms = [test.halfspace for test in leaf.tests] + list(also)
                noises = [Noise(noise.kind, noise.scale) for noise in leaf.noises]
                part = probability_ball(noises, [halfspace(form) for form in forms], ONE, bits)
            with precision(bits):
                total = total + part * arb(leaf.weight)
    return total


def following(pattern: Any) -> Follow | None:
    """For a generator: whether what is written so far may still become an output of the pattern."""
    if not isinstance(pattern, list):
        return None

    def follow(written: Sequence[Any]) -> bool:
        if len(written) > len(pattern):
            return False
        return matching(pattern[len(written) - 1], written[-1]) is not None

    return follow


def tree(mechanism: Mechanism, arguments: Mapping[str, Any], pattern: Any = None, **options: Any) -> tuple[Leaf, ...]:
    """The leaves of a mechanism's tree; those that cannot lie in the pattern may be left early."""
    follow = following(pattern) if mechanism.generator else None
    return leaves(mechanism, arguments, follow=follow, **options)


def event_probability(mechanism: Mechanism, pattern: Any, arguments: Mapping[str, Any]) -> ExponentialSum:
    """The probability that the output lies in a pattern, exactly."""
    return measure(tree(mechanism, arguments, pattern), pattern)


def bounds(value: Any) -> Between:
    """A bound from what a user writes: ``"≥3"``, ``"≤-1/2"``, or a pair."""
    if isinstance(value, str) and value[:1] in "≥≤":
        end = fraction(rational(value[1:].strip()))
        return Between(end, None) if value[0] == "≥" else Between(None, end)
    raise LanguageError("event", f"{value!r} is no event", hint='"≥3", "≤-1/2", or Between(0, 1)')


def number(value: Rational) -> Any:
    """A rational as Python's own number."""
    return int(value.p) if value.q == 1 else fraction(value)


ZERO_PROBABILITY = ExponentialSum.constant(ZERO)
