"""Parts of a page: the source of a function, and drawings."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privproof.language import Mechanism, Prior


DRAWN = 60
"""States of a model that a drawing still shows well."""


def source(function: Mechanism | Prior) -> str:
    """The text of the record that a verdict is about, helpers included: not what the file says by now."""
    program = function.program if function.pin is None else function.pin
    return "".join(f"<pre>{escape(each.text)}</pre>" for each in program.functions)


def drawing_element(picture: str) -> str:
    """A picture that may be wider than the page."""
    return f'<div class="drawing">{picture}</div>'
