"""Probabilities from trees of runs: of outcomes, and of noisy numbers between bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privproof.engines.integrals.leaf_sums import geometric_probability
from privproof.engines.integrals.piecewise_functions import CentredNoise
from privproof.engines.integrals.region_probabilities import probability
from privproof.engines.laplace.events import halfspace
from privproof.errors import LanguageError
from privproof.exact import rational
from privproof.exact.exponentials import ExponentialSum
from privproof.language.laws import WHOLE
from privproof.language.linear import Linear

if TYPE_CHECKING:
    from privproof.language.trees import TreeLeaf

Interval = tuple[Fraction | None, Fraction | None]
"""Where a noisy number shall lie: from one end to the other, None for no end."""


@dataclass(frozen=True)
class ShapedEvent:
    """Outcomes of some shapes; where there is one shape with noisy numbers, each of them between two ends.

    Attributes:
        shapes: the shapes.
        within: for the noisy numbers of the one shape where they shall lie; empty for anywhere.
        text: the event in words.
    """

    shapes: tuple[str, ...]
    within: tuple[Interval, ...]
    text: str


def likelihood(tree: Sequence[TreeLeaf], event: ShapedEvent, *, upper: bool, whole: bool) -> ExponentialSum:
    """The probability of an event; where something opaque has a part in it, a bound from above or from below.

    Args:
        tree: the runs on some data.
        event: the event.
        upper: whether it is bounded from above.
        whole: whether noisy numbers of the event have values of positive probability.
    """
    total = ExponentialSum.constant(0)
    for leaf in tree:
        if leaf.outcome.shape not in event.shapes:
            if upper and (whole or has_atoms(leaf)) and any(may_agree(leaf.outcome.shape, s) for s in event.shapes):
                total = total + share(leaf)  # a whole or rounded number may be the one that is shown elsewhere
            continue
        opaque = bool(leaf.guesses)
        also: list[Linear] = []
        for part, (low, high) in zip(leaf.outcome.parts, event.within, strict=False):
            if (low, high) == (None, None):
                continue
            if not isinstance(part, Linear):
                opaque = True
                continue
            also += [] if low is None else [form(part - low)]
            also += [] if high is None else [form(high - part)]
        if upper or not opaque:
            total = total + share(leaf, also)
    return total


def has_atoms(leaf: TreeLeaf) -> bool:
    """Whether a noisy number that a leaf shows has values of positive probability: it is whole, or something was done to it."""
    return any(
        not isinstance(part, Linear) or all(leaf.noises[atom].kind in WHOLE for atom in part.terms)  # type: ignore[index]
        for part in leaf.outcome.parts
    )


def may_agree(one: str, other: str) -> bool:
    """Whether two shapes may be shown by the same value: they agree before their first noisy number and after their last.

    >>> may_agree("tuple(#0 int, int(1))", "tuple(int(2), int(1))"), may_agree("#0 int", "int(3)")
    (True, True)
    >>> may_agree("tuple(#0, int(1))", "tuple(int(2), int(3))"), may_agree("list(#0)", "tuple(#0)")
    (False, False)
    """
    (first, last), (before, after) = _ends(one), _ends(other)
    return (first.startswith(before) or before.startswith(first)) and (last.endswith(after) or after.endswith(last))


def _ends(shape: str) -> tuple[str, str]:
    pieces = _NOISY.split(shape)
    if _INSIDE_TEXT.search(shape):
        return shape[: shape.index("str(")], ""
    return pieces[0], pieces[-1]


_NOISY = re.compile(r"#[0-9]+(?: int| Fraction)?")
_INSIDE_TEXT = re.compile(r"""['"] #""")


def form(value: object) -> Linear:
    """A number or a form as a form."""
    made = Linear.of(value)
    assert made is not None
    return made


_EXACT = ("geometric", "laplace", "exponential")
"""Kinds of noise with exact probabilities."""


def share(leaf: TreeLeaf, also: Sequence[Linear] = ()) -> ExponentialSum:
    """The probability of the noise that leads to a leaf and keeps some forms at zero or above.

    Raises:
        LanguageError: geometric and continuous noise are compared with one another, or several geometric ones in a circle.
    """
    forms = [test.halfspace for test in leaf.tests] + list(also)
    geometric = [j for j, noise in enumerate(leaf.noises) if noise.kind == "geometric"]
    continuous = [j for j, noise in enumerate(leaf.noises) if noise.kind in ("laplace", "exponential")]
    if any(noise.kind not in (*_EXACT, "uniform") for noise in leaf.noises):
        raise LanguageError("noise", "this noise has no exact probabilities", hint="a delta")
    result = ExponentialSum.constant(leaf.weight)
    for mine, others in ((geometric, continuous), (continuous, geometric)):
        place = {j: k for k, j in enumerate(mine)}
        own = [each for each in forms if any(atom in place for atom in each.terms)]
        if any(atom in others for each in own for atom in each.terms):
            raise LanguageError("noise", "geometric and continuous noise are compared", hint="one kind of noise")
        if mine is geometric and any(len(each.terms) > 1 for each in own):
            raise LanguageError(
                "integral", "several geometric noises are compared with one another", hint="an alignment"
            )
        moved = [halfspace(Linear({place[a]: f for a, f in each.terms.items()}, each.constant)) for each in own]  # type: ignore[index]
        if not own:
            continue
        if mine is geometric:
            alphas = [leaf.noises[j].scale for j in mine]
            result = result * rational(geometric_probability(alphas, moved, [False] * len(moved)))
        else:
            result = result * probability(
                [CentredNoise(leaf.noises[j].kind, leaf.noises[j].scale) for j in mine], moved
            )
    if any(not each.terms and each.constant < 0 for each in forms):
        return ExponentialSum.constant(0)
    return result
