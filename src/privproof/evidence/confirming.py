"""An engine's word is never enough: a verdict stands only if the independent checker accepts its certificate."""

from __future__ import annotations

import warnings

from privproof.errors import CertificateRefused
from privproof.evidence.checker import Rejected, recheck
from privproof.evidence.verdicts import Unknown, Verdict


def accepted(verdict: Verdict) -> Verdict:
    """The verdict if the checker accepts its certificate, otherwise unknown."""
    outcome = recheck(verdict.certificate)
    if isinstance(outcome, Rejected):
        reason = refusal(outcome)
        return Unknown(verdict.question, verdict.engine, notes=verdict.notes, reason=reason)
    return verdict


def refusal(outcome: Rejected) -> str:
    """Why there is no verdict, for the reader; and a warning, since an engine and the checker should never disagree."""
    reason = f"the checker does not accept the certificate ({outcome.place}: {outcome.reason})"
    warnings.warn(CertificateRefused(reason), stacklevel=3)
    return reason
