"""The command line; it computes nothing itself."""

from privproof.cli import logic as logic  # adds its command
from privproof.cli.commands import main

__all__ = ["main"]
