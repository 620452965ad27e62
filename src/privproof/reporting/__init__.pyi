from .audit_data import audit_data
from .audit_pages import audit_page, delta_chart, histogram_chart, p_value_chart
from .audits import print_audit
from .commands import Command
from .computed import computation_data, computation_line, computation_status, print_computation
from .facts import Fact
from .html import Page, page
from .logic import (
    experiment_line,
    filtered_status,
    print_satisfaction,
    runs_data,
    runs_lines,
    satisfaction_data,
    satisfaction_page,
)
from .measured import print_renyi, renyi_csv, renyi_data
from .pictures import distribution_picture, profile_picture
from .profiles import (
    curve_csv,
    curve_data,
    curve_page,
    delta_data,
    delta_page,
    print_curve,
    print_delta,
    print_profile,
    profile_data,
    profile_page,
)
from .progress import show_progress
from .text import plain_console, print_explanation, print_headline, print_table, print_verdict
from .wording import data, headline

__all__ = [
    "Command",
    "Fact",
    "Page",
    "audit_data",
    "audit_page",
    "computation_data",
    "computation_line",
    "computation_status",
    "curve_csv",
    "curve_data",
    "curve_page",
    "data",
    "delta_chart",
    "delta_data",
    "delta_page",
    "distribution_picture",
    "experiment_line",
    "filtered_status",
    "headline",
    "histogram_chart",
    "p_value_chart",
    "page",
    "plain_console",
    "print_audit",
    "print_computation",
    "print_curve",
    "print_delta",
    "print_explanation",
    "print_headline",
    "print_profile",
    "print_renyi",
    "print_satisfaction",
    "print_table",
    "print_verdict",
    "profile_data",
    "profile_page",
    "profile_picture",
    "renyi_csv",
    "renyi_data",
    "runs_data",
    "runs_lines",
    "satisfaction_data",
    "satisfaction_page",
    "show_progress",
]
