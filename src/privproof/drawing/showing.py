"""What shows itself in a notebook: a class says that it does, and whoever knows how to tell it says how.

Models, mechanisms and answers lie below the reports that tell them, so they only ask for a card; `privproof` says where cards come from.
"""

from __future__ import annotations

from collections.abc import Callable

_known: list[Callable[[], Callable[[object], str]]] = []


def show_with(loader: Callable[[], Callable[[object], str]]) -> None:
    """From now on things are shown by what this gives, called when it is first needed."""
    _known[:] = [loader]


class Shown:
    """Something that a notebook shows as a card: a sentence, facts and a picture, on light and dark pages."""

    def _repr_html_(self) -> str:
        return _known[0]()(self)
