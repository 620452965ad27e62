"""The command line; it computes nothing itself."""

from privproof.cli.application import main

__all__ = ["main"]
