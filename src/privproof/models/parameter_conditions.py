"""Conditions on parameters: what privacy under a prior with unknown parameters comes to.

For secrets s and t, a prior with parameters x and an output o, with ``P(o, s)`` the probability that o is shown and s holds,

    Pr(o | s) <= c Pr(o | t) + delta    is    P(o, s) P(t)  <=  c P(o, t) P(s)  +  delta P(s) P(t)

wherever both secrets are possible, a comparison of polynomials in x; where one of them is impossible both sides are zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privproof.exact import ZERO, Rational
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion


@dataclass(frozen=True)
class ConditionRow:
    """A class of data sets: its weight under the prior, the distribution of the output, the secrets that hold, one of its members."""

    weight: Polynomial
    outputs: Mapping[str, Rational]
    secrets: tuple[str, ...]
    example: str = ""


@dataclass(frozen=True)
class ConditionTable:
    """A question about secrets: the region, the rows, and the pairs of secrets, each meant in both directions.

    With `relative`, weights are probabilities up to a factor that is the same for all rows of a secret, as where only the distributions
    given each secret are known.
    """

    region: ParameterRegion
    rows: tuple[ConditionRow, ...]
    pairs: tuple[tuple[str, str], ...]
    relative: bool = False

    @property
    def outputs(self) -> tuple[str, ...]:
        """Every output of a row."""
        return tuple(dict.fromkeys(output for row in self.rows for output in row.outputs))

    def probability(self, secret: str, output: str | None = None) -> Polynomial:
        """The probability that a secret holds, and that the output is shown if one is given."""
        total = Polynomial.constant(0, self.region.names)
        for row in self.rows:
            if secret in row.secrets:
                total = total + (row.weight if output is None else row.weight * row.outputs.get(output, ZERO))
        return total


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
class RegionConditions:
    """A region and the conditions that must hold on it."""

    region: ParameterRegion
    listed: tuple[Condition, ...]


def conditions_of(table: ConditionTable) -> RegionConditions:
    """The conditions that a table comes to: both directions of every pair, every output.

    >>> p = Polynomial.parameter("p", ("p",))
    >>> yes, no = {"Y": Rational(3, 4), "N": Rational(1, 4)}, {"Y": Rational(1, 4), "N": Rational(3, 4)}
    >>> rows = (ConditionRow(p, yes, ("ill",)), ConditionRow(1 - p, no, ("well",)))
    >>> found = conditions_of(ConditionTable(ParameterRegion.of({"p": "0 < p < 1"}), rows, (("ill", "well"),)))
    >>> [(*each.pair, each.output, str(each.left)) for each in found.listed][:2]
    [('ill', 'well', 'Y', '-3/4*p^2 + 3/4*p'), ('ill', 'well', 'N', '-1/4*p^2 + 1/4*p')]
    """
    secrets = {secret: table.probability(secret) for pair in table.pairs for secret in pair}
    joint = {(output, s): table.probability(s, output) for s in secrets for output in table.outputs}
    directed = dict.fromkeys(each for s, t in table.pairs for each in ((s, t), (t, s)))
    return RegionConditions(
        table.region,
        tuple(
            Condition((s, t), o, joint[o, s] * secrets[t], joint[o, t] * secrets[s], secrets[s] * secrets[t])
            for s, t in directed
            for o in table.outputs
        ),
    )
