"""What shows itself in a notebook, or prints what the command prints: a class says that it does, and whoever can tell it says how.

Models, mechanisms and answers lie below the reports that tell them, so they only ask for a card; `privproof` says where cards come from.
"""

from __future__ import annotations

from collections.abc import Callable

_known: list[Callable[[], Callable[[object], str]]] = []
_texts: list[Callable[[], Callable[[object], str]]] = []


def show_with(cards: Callable[[], Callable[[object], str]], texts: Callable[[], Callable[[object], str]]) -> None:
    """From now on things are shown as cards and told as texts by what these give, called when they are first needed."""
    _known[:], _texts[:] = [cards], [texts]


class ShownCard:
    """Something that a notebook shows as a card: a sentence, facts and a picture, on light and dark pages."""

    def _repr_html_(self) -> str:
        return _known[0]()(self)


class ShownText(ShownCard):
    """Something that prints what the command prints about it; its `repr` is one line."""

    def __str__(self) -> str:
        return _texts[0]()(self)
