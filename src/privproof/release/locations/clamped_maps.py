"""A whole number with geometric noise, clamped to the values it can take, as a mechanism that the engines verify.

Clamping changes no loss: beyond the values that are possible, the ratio of two probabilities is constant.
"""

# mypy: disable-error-code="valid-type, no-untyped-def"

from privproof.exact import Number, rational
from privproof.language import Mechanism, integer, mechanism, truncated_geometric


def clamped_mechanism(low: int, high: int, alpha: Number) -> Mechanism:
    """Geometric noise with ratio alpha on whole numbers from low to high, clamped.

    >>> from privproof import tight_epsilon
    >>> tight_epsilon(clamped_mechanism(0, 4, "1/2")).tight
    Epsilon('ln(2)')
    """
    ratio = str(rational(alpha))

    @mechanism
    def noisy(value: integer(low, high), ratio=ratio, low=low, high=high):
        return truncated_geometric(value, alpha=ratio, low=low, high=high)

    made: Mechanism = noisy
    return made
