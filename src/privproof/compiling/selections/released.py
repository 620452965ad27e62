"""Selections among cells whose noisy values are all released: what is selected is computed from these.

The top k of noisy counts say less than all of the noisy counts: who has these can find the top k himself.  One record changes few of the
cells, so that their noise pays for that, and which cells are selected costs nothing, however many they are and in whatever order they
come.  The alignment of a selection, which moves the winners alone, costs more with every winner.

The output is kept beside the noisy values, in terms of their ranks, and is what the program shows where it is run next to the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from privproof.compiling.rewriting import Unsupported
from privproof.compiling.selections.ranks import NOWHERE, STEMS, rank_of
from privproof.compiling.sorts import OTHERS, PLACE, PROCESSED, PURE, RANKED
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Emit,
    Expression,
    Operation,
    Place,
    Return,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import rewrite_expression, variables

LATER = "shown later"
"""The operation of what is released on the way and is shown in nothing but the last output."""
RANKED_VALUES = ("value of rank", "place of rank")
"""The operations of the value and the place of a rank: the rank, whether 1 is the largest, and the noisy values."""
OTHERWISE = "it does more with its cells than to select among their noisy values"
"""Why noisy values are not released; worth saying only where there is no better reason that it is not proved."""


def released_cells(body: Block, shown: Mapping[Place, Expression]) -> tuple[Block, dict[Place, Expression]]:
    """The body with the noisy values of a selection among cells released, and what it shows where it returns.

    Args:
        body: the statements.
        shown: what stood where an output is given in parts.

    Raises:
        Unsupported: it has no such selection, or does something else with data or noise.
    """
    *before, last = body
    first = next((k for k, each in enumerate(before) if isinstance(each, Sample)), len(before))
    draws = [each for each in before[first:] if isinstance(each, Sample)]
    values = [each for each in draws if each.noise in PURE]
    kinds = [each.noise for each in draws if each.noise not in PURE]
    if not isinstance(last, Return) or kinds.count(RANKED) != 1 or len(values) < 1 or draws[0].noise != PLACE:
        raise Unsupported(OTHERWISE)
    cells = _cells(before[first:], draws[0], values[0])
    if not set(kinds) <= {PLACE, OTHERS, RANKED} or len(values[0].arguments) != 2:
        raise Unsupported(OTHERWISE)
    released: list[Statement] = []
    written = []
    for number, each in enumerate(before[:first]):
        if not isinstance(each, Assign):
            raise Unsupported(OTHERWISE)
        released.append(each)
        written.append(each.name)
        if each.name in cells:
            released += _draw(values[0], each.name, draws[-1].site + 1 + number)
    if len(set(written)) < len(written) or [name for name in written if name in cells] != cells:
        raise Unsupported(OTHERWISE)
    down = next(variables(draws[-1].arguments[0])) == values[0].name
    told = shown.get(last.place, last.value)
    output = _by_ranks(told, [_noisy(name) for name in cells], len(values) + 1, down=down)
    return (*released, replace(last, value=Constant(None, last.value.place))), {last.place: output}


def is_shown_later(value: Expression) -> bool:
    """Whether what is released here is shown in nothing but the last output."""
    match value:
        case Operation("processed", (Operation("shown later"), *_)):
            return True
        case _:
            return False


def _cells(block: Sequence[Statement], place: Sample, drawn: Sample) -> list[str]:
    """The variables of the cells, in order, among which the first place of a selection is found."""
    match drawn.arguments[0], place.arguments:
        case Variable(center), (Constant(int() as count),):
            chosen = [each.value for each in block if isinstance(each, Assign) and each.name == center]
            found = list(_chosen(chosen[0], place.name)) if len(chosen) == 1 else []
            if len(found) == count == len(set(found)):
                return found
    raise Unsupported(OTHERWISE)


def _chosen(center: Expression, place: str) -> Iterator[str]:
    """The variable that is chosen at every place, the first place first."""
    match center:
        case Conditional(Operation("==", (Variable(name), Constant())), Variable(then), otherwise) if name == place:
            yield then
            yield from _chosen(otherwise, place)
        case Variable(name):
            yield name
        case _:
            raise Unsupported(OTHERWISE)


def _noisy(cell: str) -> Variable:
    return Variable(f"{cell}, noisy", NOWHERE)


def _draw(sample: Sample, cell: str, site: int) -> tuple[Statement, Statement]:
    """The noisy value of a cell, drawn and released."""
    here = sample.place
    drawn = replace(sample, name=_noisy(cell).name, arguments=(Variable(cell, here), sample.arguments[1]), site=site)
    return drawn, Emit(
        Operation(PROCESSED, (Operation(LATER, (), here), replace(_noisy(cell), place=here)), here), here
    )


def _by_ranks(shown: Expression, noisy: Sequence[Variable], others: int, *, down: bool) -> Expression:
    """An output in terms of the ranks of noisy values; it speaks of nothing else."""

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, Variable):
            return None
        for stem, operation in zip(STEMS, RANKED_VALUES, strict=True):
            found = (others, 1) if stem == "#value" and part.name == "#others" else rank_of(part, stem)
            if found is not None and found[1] == 1:
                return Operation(operation, (Constant(found[0], NOWHERE), Constant(down, NOWHERE), *noisy), part.place)
        raise Unsupported(OTHERWISE)

    return rewrite_expression(shown, change)
