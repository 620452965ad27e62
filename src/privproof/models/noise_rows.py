"""Tables of discrete noise: the truncated geometric mechanism (Ghosh, Roughgarden and Sundararajan 2009)."""

from __future__ import annotations

from privproof.exact import ONE, Number, Rational, rational


def truncated_geometric_row(value: int, *, alpha: Number, high: int) -> tuple[Rational, ...]:
    """The distribution of the truncated alpha-geometric mechanism over {0, ..., high} at `value`.

    Inside, ``Pr(z) = (1-alpha)/(1+alpha) * alpha^|z-value|``; the two ends collect the tails.

    >>> truncated_geometric_row(0, alpha="1/2", high=2), truncated_geometric_row(1, alpha="1/4", high=2)
    ((2/3, 1/6, 1/6), (1/5, 3/5, 1/5))
    """
    base = rational(alpha)
    inside = (ONE - base) / (ONE + base)
    ends = ONE / (ONE + base)
    return tuple((ends if z in (0, high) else inside) * base ** abs(z - value) for z in range(high + 1))
