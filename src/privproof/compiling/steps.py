"""Steps of a mechanism as a transducer: names for states, inputs and outputs, and what an observer can tell from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from privproof.compiling.exploring import Rest
from privproof.compiling.outputs import Borders, Symbols, borders, named_rows, several
from privproof.exact import ONE, ZERO, Rational
from privproof.language.inputs import Input
from privproof.language.values import ENDED, Cells, Lookup, Named, Tail, key, tails, text
from privproof.models import Branch, Transducer

_MOST_GROUPS = 3_000
"""Sets of states that an observer holds possible; with more of them outputs are collected and shown at the end."""

Outcome: TypeAlias = "tuple[Rational, Rest, tuple[Any, ...] | None]"
"""A branch of a step: its probability, where the run rests, and what is shown (None: nothing)."""
Steps: TypeAlias = "list[dict[Rest, dict[Any, list[Outcome]]]]"
"""For every step: from every rest and on every input the branches."""


def transducer(
    begins: list[dict[Rest, Rational]],
    steps: Steps,
    declared: Input,
    state_name: Callable[[Rest], str],
    *,
    finished: bool,
    repeats: bool,
) -> tuple[Transducer, list[dict[str, Rational]], Mapping[str, Any]]:
    """The transducer of the steps, the initial distribution for every value of the public inputs, what the outputs stand for."""
    names: dict[Rest, str] = {}
    taken: dict[str, int] = {}

    def name(rest: Rest) -> str:
        if rest not in names:
            plain_name = state_name(rest)
            taken[plain_name] = count = taken.get(plain_name, 0) + 1
            names[rest] = plain_name if count == 1 else f"{plain_name} ({count})"
        return names[rest]

    initial = []
    for begin in begins:
        row: dict[str, Rational] = {}
        for rest, p in begin.items():
            row[name(rest)] = row.get(name(rest), ZERO) + p
        initial.append(row)
    shown = [
        s for table in steps for rows in table.values() for row in rows.values() for _, _, s in row if s is not None
    ]
    on_the_way = borders(shown)
    ends = {
        rest: rest.value
        for table in steps[-1:]
        for rows in table.values()
        for row in rows.values()
        for _, rest, _ in row
    }
    letters = Symbols(several(v) for s in {key(s): s for s in shown}.values() for v, _ in on_the_way.refined(s))
    last, results = named_rows({rest: [(value, ONE)] for rest, value in ends.items()} if finished else {})
    inputs = input_names(declared)
    tables = []
    for table in steps:
        rows_by_state: dict[str, dict[str, list[Branch]]] = {}
        for node, rows in table.items():
            rows_by_state[name(node)] = {
                inputs[value]: list(_branches(row, name, on_the_way, letters)) for value, row in rows.items()
            }
        tables.append(rows_by_state)
    finish = {name(rest): row for rest, row in last.items()} if finished else None
    outputs = {**letters.values, **results}
    model = Transducer(
        states=list(names.values()),
        inputs=list(inputs.values()),
        outputs=list(outputs) or ["nothing"],
        initial=initial[0],
        steps=tables,
        repeats=repeats,
        finish=finish,
    )
    return model, initial, MappingProxyType(outputs)


def _branches(
    row: Iterable[Outcome], name: Callable[[Rest], str], on_the_way: Borders, letters: Symbols
) -> Iterator[Branch]:
    for p, rest, shown in row:
        if shown is None:
            yield Branch(p, name(rest))
        else:
            for refined, q in on_the_way.refined(shown):
                yield Branch(p * q, name(rest), letters.name(several(refined)))


def input_names(declared: Input) -> dict[Any, str]:
    """The names of an input's values in the model."""
    assert declared.values is not None
    symbols = Symbols(declared.values)
    return {value: symbols.name(value) for value in declared.values}


def input_values(declared: Input) -> Mapping[str, Any]:
    """The values of an input by their names in the model."""
    return MappingProxyType({name: value for value, name in input_names(declared).items()})


def outputs_aligned(begins: list[dict[Rest, Rational]], steps: Steps) -> bool:
    """Whether the outputs so far tell how many outputs every further step writes.

    Only then does showing outputs step by step tell an observer no more than showing them all at the end.
    """
    groups = {frozenset(rest for begin in begins for rest in begin)}
    written = (s for table in steps for rows in table.values() for row in rows.values() for _, _, s in row)
    told = _told if any(True for s in written for _ in tails(s)) else text
    for table in steps:
        following: set[frozenset[Rest]] = set()
        for group in groups:
            counts = set()
            onward: dict[Any, set[Rest]] = {}
            for rest in group:
                for row in table[rest].values():
                    for _, target, shown in row:
                        counts.add(0 if shown is None else len(shown))
                        onward.setdefault(None if shown is None else told(shown), set()).add(target)
            if len(counts) > 1:
                return False
            following.update(frozenset(targets) for targets in onward.values())
        groups = following
        if len(groups) > _MOST_GROUPS:
            return False
    return True


def with_ends(steps: Steps) -> Steps:
    """The steps of a stream with the end of a run shown, unless the last thing written tells it.

    An observer sees that a run has ended.  It is told by an output that no run writes before its end; otherwise the end is an
    output of its own.
    """
    ending: set[Any] = set()
    going_on: set[Any] = set()
    for table in steps:
        for row in (row for rows in table.values() for row in rows.values()):
            for _, target, shown in row:
                (ending if target.state is None else going_on).add(_told(shown))
    if ending.isdisjoint(going_on) and None not in ending:
        return steps
    return [
        {
            node: {
                value: [(p, t, (*(shown or ()), ENDED) if t.state is None else shown) for p, t, shown in row]
                for value, row in rows.items()
            }
            for node, rows in table.items()
        }
        for table in steps
    ]


def _told(shown: tuple[Any, ...] | None) -> Any:
    """What tells outputs apart; numbers are not told apart where unbounded ones are among them."""
    return None if shown is None else tuple(alike(value) for value in shown)


def alike(value: Any) -> Any:
    """What tells values apart where numbers are not told apart."""
    if isinstance(value, Cells):
        return ("list", tuple(map(alike, value.items)))
    if isinstance(value, tuple):
        return ("tuple", tuple(map(alike, value)))
    if isinstance(value, Lookup):
        return ("table", tuple((key(known), alike(item)) for known, item in value.rows))
    if isinstance(value, Named):
        return ("named", value.shape, tuple(map(alike, value.items)))
    return "a number" if isinstance(value, int | Tail) and not isinstance(value, bool) else key(value)
