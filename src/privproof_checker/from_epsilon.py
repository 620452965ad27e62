"""Deltas from a proof of an epsilon.

**Theorem.** Let ``P(E) <= c0 Q(E)`` and ``Q(E) <= c0 P(E)`` for every event E, and let ``1 <= c <= c0``. Then
``P(E) <= c Q(E) + delta`` for every event with ``delta = (c0 - c) / (c0 + 1)``.

*Proof.* Let p = P(E) and q = Q(E). The first inequality for E says p <= c0 q, the second one for the complement of E says 1 - q <= c0 (1
- p), that is p <= 1 - (1 - q)/c0. So p - c q is at most the smaller of (c0 - c) q and 1 - 1/c0 - (c - 1/c0) q. The first rises with q,
the second falls, and they meet at q = 1/(c0 + 1), where both are (c0 - c)/(c0 + 1). QED

Equivalently ``c0 (1 - delta) <= c + delta``. Randomised response attains it, and so do counts with geometric noise: there every output is
either c0 times as likely on one side, or c0 times as likely on the other.

It is needed that an epsilon is about whole laws of what is shown, compared both ways.
"""

from __future__ import annotations

from collections.abc import Mapping

from privproof_checker.claims import Claim
from privproof_checker.numbers import Epsilon, rational
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import refuse

_WHOLE = ("program", "runs", "draws")
"""Kinds of questions whose epsilon bounds all likelihood ratios of whole laws, both ways."""
_BITS = 256
"""Bits of a power of e that is not rational: far more than a delta that anybody writes down."""


def refuse_other_laws(asked: Mapping[str, object], place: str) -> None:
    """Refuse questions whose epsilon is not about whole laws of what is shown, compared both ways."""
    kind = asked.get("kind")
    scenario = asked.get("scenario")
    ends = kind == "transducer" and asked.get("finish") is not None  # every run shows a word of the full length
    if kind in _WHOLE or (ends and isinstance(scenario, dict) and "words" not in scenario and "pairs" not in scenario):
        return
    refuse("from an epsilon of this kind of question nothing is concluded here", place)


def delta_follows(claim: Claim, pure: Epsilon) -> bool:
    """Whether a claim with a delta over events follows from a proof of an epsilon without one."""
    if pure.infinite:
        return False
    exact = pure.bound
    with precision(_BITS):
        ratio = rational_bounds(pure.ball(_BITS).exp())[1] if exact is None else rational(exact)
    return claim.holds(ratio * (1 - claim.delta), rational(1))
