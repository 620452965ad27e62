"""Evidence about separate draws: the product of all ratios, which a checker finds by itself; and data with an output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privproof.language.constants import typed_document


def product_evidence() -> dict[str, object]:
    """The checker multiplies the largest ratios of all parts by itself."""
    return {"method": "product"}


def outcome_evidence(left: Sequence[int], right: Sequence[int], outcomes: Sequence[Any]) -> dict[str, object]:
    """Two data sets by the numbers of their values, and what is drawn, pass by pass."""
    return {
        "method": "outcome",
        "left": list(left),
        "right": list(right),
        "outcomes": [typed_document(outcome) for outcome in outcomes],
    }
