"""Parts of a page: the source of a function, and drawings."""

from __future__ import annotations

from html import escape

from privproof.language import Mechanism, Prior

DRAWN = 60
"""States of a model that a drawing still shows well."""


def source(function: Mechanism | Prior) -> str:
    """The text of a function, as it was read."""
    return f"<pre>{escape(function.program.functions[0].text)}</pre>"


def drawing(picture: str) -> str:
    """A picture that may be wider than the page."""
    return f'<div class="drawing">{picture}</div>'
