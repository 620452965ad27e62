"""The command line; it computes nothing itself.  The modules add their commands to the application in this order."""

from privproof.cli import asking as asking
from privproof.cli import auditing as auditing
from privproof.cli import converting as converting
from privproof.cli import examples as examples
from privproof.cli import explaining as explaining
from privproof.cli import logic as logic
from privproof.cli import releasing as releasing
from privproof.cli.common import app, main

__all__ = ["app", "main"]
