"""The parts that all reports are made of: facts, and numbers as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privproof.evidence import Verdict


@dataclass(frozen=True)
class Fact:
    """A line of a report: a label and what it says."""

    label: str
    text: str


def tight_fact(verdict: Verdict, words: str) -> Fact:
    """What is known about the tight epsilon, and which part of it no certificate shows."""
    return Fact("tight epsilon", f"{words} ({verdict.uncertified})" if verdict.uncertified else words)


def plain_data(value: object) -> Any:
    """A value of a mechanism as JSON has it: fractions as texts, tuples as lists."""
    if isinstance(value, dict):
        return {str(name): plain_data(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
