"""Verdicts, witnesses and certificates; imports the engines' findings, and `checker` nothing but `exact`."""

from privproof.evidence.verdicts import Proved, Refuted, Status, Unknown, Verdict, Witness

__all__ = ["Proved", "Refuted", "Status", "Unknown", "Verdict", "Witness"]
