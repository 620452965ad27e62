"""Noisy values that are drawn one after the other, without a loop, for a list that is written out: the cells of a histogram.

``noisy = [laplace(data.count(cell), scale=1) for cell in CELLS]`` has as many draws as there are cells.  Where the noise is of one
kind and scale, is put into one list and is read nowhere else, the draws may be made at once: they are independent of each other, and
nothing comes in between that they depend on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from privproof.compiling.branches import noisy_variables
from privproof.compiling.needs import read_counts
from privproof.compiling.selections.ranks import nowhere
from privproof.compiling.sorts import PURE
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Constant,
    Expression,
    Operation,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import statements, variables, writes

CELLS = "cells"
"""The operation of a list of noisy values that are drawn at once; it stands for the list by its name."""


@dataclass(frozen=True)
class Cells:
    """Noisy values that are drawn at once.

    Attributes:
        sample: one of the draws.
        centers: the centre of each.
    """

    sample: Sample
    centers: tuple[Expression, ...]


def with_cells(body: Block) -> tuple[Block, Mapping[str, Cells]]:
    """The statements with draws made at once that fill a list, and these draws by the name of the list."""
    found: dict[str, Cells] = {}
    for begin in body:
        match begin:
            case Assign(name, Operation("list of", ())):
                made = _filled(body, begin)
                if made is not None:
                    body, found[name] = made
            case _:
                pass
    return body, found


def _filled(body: Block, begin: Assign) -> tuple[Block, Cells] | None:
    """A list that only takes noisy values of one law, each read nowhere else, and nothing else."""
    name = begin.name
    changing = [s for s in statements(body) if writes(s) == name and s is not begin]
    appended = [s for s in body if isinstance(s, Append) and s.name == name and isinstance(s.value, Variable)]
    if len(appended) < 2 or len(appended) != len(changing):
        return None
    drawn: list[Sample] = []
    noisy = noisy_variables(body)
    reads, writers = read_counts(body), Counter(writes(s) for s in statements(body))
    samples = {s.name: s for s in reversed(body) if isinstance(s, Sample)}
    for each in appended:
        assert isinstance(each.value, Variable)
        source = each.value.name
        sample = samples.get(source)
        if sample is None or sample.noise not in PURE or reads[source] != 1 or writers[source] != 1:
            return None
        if noisy.intersection(variables(sample.arguments[0])):
            return None
        drawn.append(sample)
    if len({(s.noise, tuple(map(nowhere, s.arguments[1:]))) for s in drawn}) > 1:
        return None
    last = appended[-1]
    if not _undisturbed(body, drawn, last):
        return None
    kept: list[Statement] = []
    gone = {id(each) for each in (begin, *drawn, *appended)}
    for statement in body:
        if statement is last:
            kept.append(Assign(name, Operation(CELLS, (Constant(name, last.place),), last.place), last.place))
        elif id(statement) not in gone:
            kept.append(statement)
    return tuple(kept), Cells(drawn[0], tuple(s.arguments[0] for s in drawn))


def _undisturbed(body: Block, drawn: list[Sample], last: Append) -> bool:
    """Whether nothing that the draws depend on changes before the last of them, and nothing else is drawn between them."""
    order = {id(statement): number for number, statement in enumerate(body)}
    first, end = order[id(drawn[0])], order[id(last)]
    if [order[id(s)] for s in drawn] != sorted(order[id(s)] for s in drawn) or order[id(drawn[-1])] > end:
        return False
    own = {id(each) for each in drawn}
    needed: set[str] = set()
    for statement in body[first : end + 1]:
        inside = list(statements((statement,)))
        if any(isinstance(s, Sample) and id(s) not in own for s in inside) or any(writes(s) in needed for s in inside):
            return False
        if id(statement) in own and isinstance(statement, Sample):
            needed.update(name for argument in statement.arguments for name in variables(argument))
    return True
