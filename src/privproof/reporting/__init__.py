"""Verdicts for readers: text, JSON and HTML; imports `evidence` and computes nothing."""

from privproof.reporting.audits import audit_data, audit_page, histogram_chart, p_value_chart, print_audit
from privproof.reporting.facts import Fact
from privproof.reporting.html import page
from privproof.reporting.logic import print_satisfaction, satisfaction_data, satisfaction_page
from privproof.reporting.profiles import print_profile, profile_data
from privproof.reporting.text import print_explanation, print_table, print_verdict
from privproof.reporting.wording import Command, data, headline

__all__ = [
    "Command",
    "Fact",
    "audit_data",
    "audit_page",
    "data",
    "headline",
    "histogram_chart",
    "p_value_chart",
    "page",
    "print_audit",
    "print_explanation",
    "print_profile",
    "print_satisfaction",
    "print_table",
    "print_verdict",
    "profile_data",
    "satisfaction_data",
    "satisfaction_page",
]
