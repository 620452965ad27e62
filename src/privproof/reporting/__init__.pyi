from .console_texts import plain_console, print_explanation, print_headline, print_table, print_verdict
from .html_pages import Page
from .law_pictures import distribution_picture, profile_picture
from .measured_report import print_renyi, renyi_csv, renyi_data
from .profile_texts import (
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
from .progress_bars import show_progress
from .replay_commands import ReplayCommand
from .report_facts import Fact
from .verdict_pages import page
from .verdict_wording import data, headline

__all__ = [
    "Fact",
    "Page",
    "ReplayCommand",
    "curve_csv",
    "curve_data",
    "curve_page",
    "data",
    "delta_data",
    "delta_page",
    "distribution_picture",
    "headline",
    "page",
    "plain_console",
    "print_curve",
    "print_delta",
    "print_explanation",
    "print_headline",
    "print_profile",
    "print_renyi",
    "print_table",
    "print_verdict",
    "profile_data",
    "profile_page",
    "profile_picture",
    "renyi_csv",
    "renyi_data",
    "show_progress",
]
