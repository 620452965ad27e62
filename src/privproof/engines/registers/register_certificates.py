"""The evidence of verdicts by registers: the checker runs the program of the question again, so there is little to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privproof.compiling.register_states import Outcome


def registers_evidence() -> dict[str, object]:
    """The evidence of a proof: all neighbours were compared."""
    return {"method": "registers"}


def corners_evidence() -> dict[str, object]:
    """The evidence of a proof about real answers: corners were compared."""
    return {"method": "corners"}


def outcomes_evidence(
    left: Mapping[str, Any], right: Mapping[str, Any], outcomes: Sequence[Outcome]
) -> dict[str, object]:
    """The evidence of a refutation: two data sets and the outputs of an event."""
    return {
        "method": "outcomes",
        "left": _arguments(left),
        "right": _arguments(right),
        "outputs": [[[_part(part) for part in parts] for parts in each.output] for each in outcomes],
    }


def _arguments(values: Mapping[str, Any]) -> dict[str, object]:
    return {name: [str(v) for v in value] if isinstance(value, list) else str(value) for name, value in values.items()}


def _part(value: object) -> object:
    """A truth value, or a text or None as a tag, or a number."""
    if isinstance(value, bool):
        return value
    return {"tag": value} if value is None or isinstance(value, str) else str(value)
