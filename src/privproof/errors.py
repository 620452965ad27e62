"""Every exception that privproof raises on purpose.

    PrivproofError
    ├── NumberError (ValueError)       a number that is not an exact number
    │   └── FloatRefused (TypeError)   a float where an exact number is needed
    ├── BudgetError (ValueError)       epsilon below zero, delta outside [0, 1], text that is no budget
    ├── ModelError (ValueError)        a model that is not one: row sums, unknown states, ...
    ├── ScenarioError (ValueError)     an empty neighbour relation, a pair of unknown states, ...
    ├── LanguageError (ValueError)     a mechanism outside the language: the construct, its place, what to write instead
    ├── FormulaError (ValueError)      a text that is no formula of the logic: with a caret under the place
    ├── FormatError (ValueError)       a file that cannot be read
    └── QuestionError (ValueError)     a question that cannot be asked: no budget, no such engine, ...

    UserWarning
    └── CertificateRefused             the checker does not accept a certificate that an engine wrote: a bug of privproof

Each exception carries a stable ``code``, the ``place`` (file, line, path inside the document) and one ``hint``
that can be pasted.  ``str(error)`` is the whole message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


class PrivproofError(Exception):
    """The base of every exception raised on purpose; see the module's docstring for the tree.

    >>> print(ModelError("row-sum", "the row sums to 5/6, not 1", place="emissions.zero", hint="add 1/6"))
    emissions.zero: the row sums to 5/6, not 1 [row-sum]
      hint: add 1/6
    """

    def __init__(self, code: str, message: str, *, place: str = "", hint: str = "", name: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        """The name that is complained about, where it is one."""
        self.message = message
        self.place = place
        self.hint = hint

    def __reduce__(self) -> tuple[type[PrivproofError], tuple[str, str], dict[str, object]]:
        return type(self), (self.code, self.message), vars(self)  # so that it can be sent from process to process

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}{self.message} [{self.code}]{hint}"

    @property
    def position(self) -> tuple[int, int] | None:
        """The line and the column in a file, both counted from 1, where the place names them; without a column the line's first.

        >>> FormatError("syntax", "a bracket is open", place="model.yaml:5:26: emissions").position
        (5, 26)
        >>> FormatError("file", "there is no such file", place="model.yaml").position is None
        True
        """
        found = re.search(r":([0-9]+)(?::([0-9]+))?(?=:|$)", self.place)
        return None if found is None else (int(found[1]), int(found[2] or 1))

    def at(self, place: str) -> PrivproofError:
        """Put a wider place (a file, a section) in front of the place known so far."""
        self.place = f"{place}: {self.place}" if self.place else place
        return self


class NumberError(PrivproofError, ValueError):
    """A text that is not an exact number."""


class FloatRefused(NumberError, TypeError):
    """A float where an exact number is needed."""


class BudgetError(PrivproofError, ValueError):
    """An epsilon below zero, a delta outside [0, 1], or a text that is no budget."""


class ModelError(PrivproofError, ValueError):
    """A model that breaks its definition."""


class ScenarioError(PrivproofError, ValueError):
    """A scenario that names nothing to compare, or things that do not exist."""


class LanguageError(PrivproofError, ValueError):
    """A mechanism that is not in the mechanism language, or declares what cannot be."""


class FormulaError(PrivproofError, ValueError):
    """A text that is no formula; the message shows the text with a caret under the place."""

    shown = ""

    def __str__(self) -> str:
        first, _, rest = super().__str__().partition("\n")
        return "\n".join(part for part in (first, self.shown, rest) if part)

    @classmethod
    def under(cls, text: str, at: int, message: str, *, hint: str = "") -> FormulaError:
        """The complaint about the character at a position of the text."""
        begin = text.rfind("\n", 0, at) + 1
        line = text[begin:].partition("\n")[0]
        column = at - begin
        first = max(0, column - 60)
        error = cls("formula", message, place=f"formula:{at + 1}", hint=hint)
        error.shown = f"    {line[first : first + 100]}\n    {' ' * (column - first)}^"
        return error


class FormatError(PrivproofError, ValueError):
    """A file that cannot be read as what it should be."""


class QuestionError(PrivproofError, ValueError):
    """A question that cannot be asked or that the chosen engine does not answer."""


class CertificateRefused(UserWarning):
    """The checker does not accept a certificate that an engine wrote.

    The verdict is then unknown, so nothing wrong is said; but either the engine or the checker is wrong, and the tests take
    the warning for a failure.
    """


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant; empty where nothing that is known comes near.

    >>> nearest("epsilom", ("epsilon", "delta"))
    "did you mean 'epsilon'?"
    """
    found = get_close_matches(word, list(known), n=1)
    return f"did you mean {found[0]!r}?" if found else ""
