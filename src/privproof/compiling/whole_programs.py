"""A mechanism that reads all its data in one step.

One private value, several inputs, a relation of the user's own, or lists of different length: one has one element more, so that their
length is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from privproof.compiling.exploring import Rest
from privproof.compiling.finite_programs import (
    MOST_DATA_SETS,
    FiniteProgram,
    Start,
    neighbours_of,
    start_pairs,
    without_order,
)
from privproof.compiling.steps import Outcome, Steps, input_values, transducer
from privproof.errors import ScenarioError
from privproof.exact import ONE
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.mechanism import related_by
from privproof.language.values import Answers, plain, text
from privproof.scenarios import Neighbours, Question, Scenario

_MOST_PAIRS = 50_000
"""Pairs of neighbours by a relation of the user's own, which are listed and compared one by one; more are refused."""


def whole_question(program: FiniteProgram, relation: str, name: str | None) -> Question:
    ((fed, declared),) = program.private.items()
    assert declared.values is not None
    data = {v: {fed: v} for v in declared.values}
    named = {n: {fed: v} for n, v in input_values(declared).items()}
    return _question_at_once(
        program, declared, data, named, neighbours_of(relation, declared), name or program.mechanism.name
    )


def data_set_question(program: FiniteProgram, relation: Any, name: str | None) -> Question:
    names = list(program.private)
    data, found = neighbouring_data_sets(program, relation)
    symbols = {d: text(tuple(map(plain, d)) if len(d) > 1 else plain(d[0])) for d in data}
    listed = [((symbols[data[i]],), (symbols[data[j]],)) for i, j in found]
    by_symbol = {symbols[d]: dict(zip(names, d, strict=True)) for d in data}
    named = {symbol: {n: plain(v) for n, v in values.items()} for symbol, values in by_symbol.items()}
    declared = Input("value", tuple(symbols.values()), None, "")
    return _question_at_once(
        program, declared, by_symbol, named, Neighbours.pairs(listed), name or _sized_name(program, relation)
    )


def _question_at_once(
    program: FiniteProgram,
    declared: Input,
    data: Mapping[Any, Mapping[str, Any]],
    named: Mapping[str, Any],
    neighbours: Neighbours,
    name: str,
) -> Question:
    """The question about a mechanism that reads all its data in one step: by symbol, and as plain values by name."""
    starts = program.starts()
    steps = _one_step(program, starts, data)
    model, initial, outputs = transducer(
        [{r: ONE} for r in steps[0]], steps, declared, program.state_name, finished=True, repeats=False
    )
    return Question(
        model=model,
        scenario=Scenario(pairs=start_pairs(model, starts, initial), neighbours=neighbours),
        budget=program.budget,
        name=name,
        origin=program.origin(None, named, outputs, starts, collected=True),
    )


def _one_step(program: FiniteProgram, starts: list[Start], data: Mapping[Any, Mapping[str, Any]]) -> Steps:
    """One step that reads everything."""
    table: dict[Rest, dict[Any, list[Outcome]]] = {}
    for number, start in enumerate(starts):
        rows: dict[Any, list[Outcome]] = {}
        for symbol, values in data.items():
            settled = program.explorer.settle(program.explorer.state(0, {**start.store, **values}))
            rows[symbol] = [(p, program.collected_rest((), rest), None) for rest, p in settled.items()]
        table[Rest(None, None, (), ("start", number, start.name))] = rows
    return [table]


def neighbouring_data_sets(
    program: FiniteProgram, relation: Any
) -> tuple[list[tuple[Any, ...]], list[tuple[int, int]]]:
    """All data sets, and which of them (by number) are neighbours."""
    count = 1
    for name, declared in program.private.items():
        assert declared.values is not None
        lengths = program.lengths(name, declared) if declared.shape == "list" else (1,)
        count *= sum(len(declared.values) ** length for length in lengths)
    if count > MOST_DATA_SETS:
        program.refuse("size", f"{count} data sets are more than {MOST_DATA_SETS}", "smaller ranges")
    data = list(product(*(list(program.all_values(n, i)) for n, i in program.private.items())))
    if relation == ADD_REMOVE:
        found = _one_more(program, data)
    else:
        found = [
            (i, j)
            for i, x in enumerate(data)
            for j in range(i + 1, len(data))
            if _related(program, relation, x, data[j])
        ]
    if not found:
        raise ScenarioError(
            "empty-relation",
            "no two data sets are neighbours",
            place=program.place,
            hint="widen the relation or the ranges",
        )
    if len(found) > _MOST_PAIRS:
        program.refuse("size", f"{len(found)} pairs of neighbours are more than {_MOST_PAIRS}", "smaller ranges")
    return data, found


def _one_more(program: FiniteProgram, data: Sequence[tuple[Any, ...]]) -> list[tuple[int, int]]:
    """The pairs of data sets of which one has one element more in its list, and is otherwise the same; the shorter one first.

    Raises:
        LanguageError: there is not exactly one private list of open length.
    """
    opened = [i for i, each in enumerate(program.private.values()) if each.shape == "list" and each.size is None]
    if len(opened) != 1:
        program.refuse(
            "neighbours",
            f"elements are added to one list of open length, and here are {len(opened)}",
            "one private list without a size, such as records('yes', 'no')",
        )
    (place,) = opened

    def key(values: tuple[Any, ...]) -> tuple[str, ...]:
        return tuple(text(plain(value)) for value in values)

    numbers = {key(values): number for number, values in enumerate(data)}
    found: dict[tuple[int, int], None] = {}
    for number, values in enumerate(data):
        listed = tuple(values[place])
        for gone in range(len(listed)):
            shorter = Answers(listed[:gone] + listed[gone + 1 :])
            other = numbers.get(key((*values[:place], shorter, *values[place + 1 :])))
            if other is not None:
                found[other, number] = None
    return list(found)


def _related(program: FiniteProgram, relation: Any, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    if callable(relation):
        return related_by(relation, list(map(plain, left)), list(map(plain, right)), program.place)
    changes = []
    for declared, x, y in zip(program.private.values(), left, right, strict=True):
        for v, w in zip(x, y, strict=True) if declared.shape == "list" else ((x, y),):
            if v != w:
                if declared.within is None and relation == "monotone":
                    raise without_order(declared)
                if declared.within is not None and abs(v - w) > declared.within:
                    return False
                changes.append(0 if declared.within is None else 1 if v < w else -1)
    if relation == "one":
        return len(changes) == 1
    return bool(changes) and (relation == "each" or abs(sum(changes)) == len(changes))


def _sized_name(program: FiniteProgram, relation: Any) -> str:
    """How reports call the mechanism; with lists of two lengths both are named."""
    if relation != ADD_REMOVE:
        return program.mechanism.name
    (size,) = {program.sizes[n] for n, i in program.private.items() if i.shape == "list" and i.size is None}
    return f"{program.mechanism.name} (sizes {size - 1} and {size})"
