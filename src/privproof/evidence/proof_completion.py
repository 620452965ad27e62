"""Multipliers for the conditions of alignments: engines leave them to be found, and a certificate needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privproof_checker import recheck
from privproof_checker.linear.linear_documents import supply_refutations
from privproof_checker.version_one import second_version


def wanted_refutations(conditions: Sequence[str]) -> Sequence[dict[str, object] | None]:
    """Multipliers for the conditions of a certificate that has none; the search loads a solver, so it waits until one is met."""
    from privproof.evidence.certified_multipliers import refutations

    return refutations(conditions)


def complete_certificate(draft: Mapping[str, object]) -> dict[str, object]:
    """The certificate of a draft with all that it lacks of multipliers, so far as there are some; what it shows is not asked here."""
    document = second_version(draft)
    with supply_refutations(wanted_refutations):
        recheck(document)
    return document
