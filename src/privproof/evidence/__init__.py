"""Verdicts, witnesses and certificates; imports the engines' findings, and `checker` nothing but `exact`."""

from privproof.evidence.verdicts import Growth, PriorWitness, Proved, Refuted, Status, Unknown, Verdict, Witness

__all__ = ["Growth", "PriorWitness", "Proved", "Refuted", "Status", "Unknown", "Verdict", "Witness"]
