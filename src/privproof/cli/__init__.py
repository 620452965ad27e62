"""The command line; it computes nothing itself."""

from privproof.cli.commands import main

__all__ = ["main"]
