"""Conditions on parameters: what privacy under a prior with unknown parameters comes to.

For secrets s and t, a prior with parameters x and an output o, with ``P(o, s)`` the probability that o is shown and s holds,

    Pr(o | s) <= c Pr(o | t) + delta    is    P(o, s) P(t)  <=  c P(o, t) P(s)  +  delta P(s) P(t)

wherever both secrets are possible, a comparison of polynomials in x; where one of them is impossible both sides are zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import Region


@dataclass(frozen=True)
class Condition:
    """``left <= c * right + delta * scale`` for all parameters of a region; all three polynomials are non-negative there.

    Attributes:
        pair: the two secrets.
        output: the output.
        left: ``P(o, s) P(t)``.
        right: ``P(o, t) P(s)``.
        scale: ``P(s) P(t)``.
    """

    pair: tuple[str, str]
    output: str
    left: Polynomial
    right: Polynomial
    scale: Polynomial


@dataclass(frozen=True)
class Conditions:
    """A region and the conditions that must hold on it."""

    region: Region
    listed: tuple[Condition, ...]
