from .commands import Command
from .facts import Fact
from .html import Page, page
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
