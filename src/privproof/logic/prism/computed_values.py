"""Numbers and truths computed from what several properties say: ``1 - P=? [ F a ]``, ``filter(count, P>0 [ F a ]) = 3``.

Such a property is an expression of the language of models in which properties stand in the place of variables.  Each of them is read by
the reader of properties and becomes a further variable; what remains is read, and its kinds are checked, as every other expression.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from privproof.errors import FormatError, FormulaError
from privproof.logic.prism.expression_meanings import ExpressionMeaning, Scope
from privproof.logic.prism.prism_expressions import parse_expression
from privproof.logic.prism.prism_tokens import PrismSource

if TYPE_CHECKING:
    from privproof.logic.prism.prism_properties import Property

_PLACE = re.compile(r":(\d+):(\d+)$")


@dataclass(frozen=True, eq=False)
class Computed:
    """A number or a truth that is computed from what properties say.

    Attributes:
        text: how it is written.
        meaning: the expression, over variables of the model and the parts.
        parts: the properties in it, by their slots; the other slots are the model's variables.
    """

    text: str
    meaning: ExpressionMeaning
    parts: Mapping[int, Property]

    def __str__(self) -> str:
        return self.text


def parse_computation(
    text: str, stretch: tuple[int, int], pieces: Mapping[tuple[int, int], Property], scope: Scope
) -> Computed:
    """The expression that a stretch of a text is.

    Args:
        text: the text.
        stretch: where the expression begins and ends.
        pieces: the properties in it, by where they begin and end.
        scope: what the names of the model mean.

    Raises:
        FormulaError: it is no expression, or something in it is of the wrong kind.
    """
    taken = {*scope.variables, *scope.constants, *scope.formulas}
    free = (name for name in map("_{:x}".format, range(len(taken) + len(pieces) + 1)) if name not in taken)
    variables, parts, rest = dict(scope.variables), {}, text
    for (begin, end), part in pieces.items():
        name = next(free)
        if len(name) > end - begin:
            raise FormulaError.under(text, begin, "too many properties stand in one expression")
        slot = len(variables)
        variables[name] = slot, kind_of(part)
        parts[slot] = part
        rest = rest[:begin] + name.ljust(end - begin) + rest[end:]  # every other place stays where it is
    source = PrismSource("formula", rest)
    names = Scope(
        source, scope.constants, scope.formulas, variables, {}, scope.names, scope.formula_source, scope.valueless
    )
    try:
        meaning = names.meaning(parse_expression(source, begin=stretch[0], end=stretch[1]))
    except FormatError as problem:
        _complain(text, problem)
    return Computed(" ".join(text[slice(*stretch)].split()), meaning, parts)


def kind_of(part: Property) -> str:
    """Whether a property is an ``int``, a ``double`` or a ``bool``."""
    if part.aggregate in ("forall", "exists"):
        return "bool"
    if part.aggregate == "count":
        return "int"
    if part.aggregate == "avg":
        return "double"
    if isinstance(part.written, Computed):
        return part.written.meaning.kind
    return "double" if part.written.asks_for_number else "bool"


def _complain(text: str, problem: FormatError) -> NoReturn:
    place = _PLACE.search(problem.place)
    line, column = (1, 1) if place is None else (int(place[1]), int(place[2]))
    begin = sum(len(part) + 1 for part in text.split("\n")[: line - 1])
    raise FormulaError.under(text, begin + column - 1, problem.message, hint=problem.hint) from None
