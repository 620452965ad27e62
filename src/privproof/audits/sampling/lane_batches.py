"""Batches: lanes that are at one instruction, with a column for every variable, and what expressions are for all of them.

Where an expression is asked for only in some of the lanes (behind ``and``, ``or``, ``if``), it is computed only there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from privproof.audits.sampling.column_operations import apply, element, merge_columns, truth
from privproof.audits.sampling.lane_joining import join_columns, signatures
from privproof.audits.sampling.sample_columns import Array, Column, Same, select
from privproof.errors import LanguageError
from privproof.language.syntax import Conditional, Constant, Element, Expression, Operation, Place, Variable
from privproof.language.values import shown_name
from privproof.language.walking import variables


@dataclass
class LaneBatch:
    """Lanes that are at one instruction, and their variables."""

    lanes: Array
    store: dict[str, Column]

    def __len__(self) -> int:
        return len(self.lanes)

    def part(self, chosen: Array, names: tuple[str, ...]) -> LaneBatch:
        """Some of the lanes, with some of the variables."""
        store = {name: select(self.store[name], chosen) for name in names if name in self.store}
        return LaneBatch(self.lanes[chosen], store)


Evaluate: TypeAlias = Callable[[LaneBatch], Column]


def join_batches(batches: list[LaneBatch], names: tuple[str, ...]) -> list[LaneBatch]:
    """The batches, joined where their variables hold values of one kind."""
    if len(batches) == 1:
        return batches
    keys: list[list[Hashable]] = [[] for _ in batches]
    for name in names:
        having = [number for number, batch in enumerate(batches) if name in batch.store]
        if not having:
            continue
        found = signatures([batches[number].store[name] for number in having])
        for number, signature in zip(having, found, strict=True):
            keys[number].append((name, signature))
    alike: dict[Hashable, list[LaneBatch]] = {}
    for key, batch in zip(keys, batches, strict=True):
        alike.setdefault(tuple(key), []).append(batch)
    return [_one(group, names) for group in alike.values()]


def _one(batches: list[LaneBatch], names: tuple[str, ...]) -> LaneBatch:
    if len(batches) == 1:
        return batches[0]
    sizes = list(map(len, batches))
    known = [name for name in names if name in batches[0].store]
    store = {name: join_columns([batch.store[name] for batch in batches], sizes) for name in known}
    return LaneBatch(np.concatenate([batch.lanes for batch in batches]), store)


def evaluator(expression: Expression) -> Evaluate:
    """A function from a batch to the column of an expression's values."""
    match expression:
        case Constant(value):
            constant = Same(value)
            return lambda batch: constant
        case Variable(name, place):
            return _variable(name, place)
        case Element(sequence, index):
            first, second = evaluator(sequence), evaluator(index)
            return lambda batch: element(first(batch), second(batch), len(batch))
        case Conditional(test, then, otherwise):
            condition = evaluator(test)
            sides = (_part(then), _part(otherwise))
            return lambda batch: _choose_by_lane(batch, truth(condition(batch), len(batch)), *sides)
        case Operation("and" | "or" as name, (left, right)):
            return _logic(name, evaluator(left), _part(right))
        case Operation("and" | "or" as name, (left, *rest), place):
            return evaluator(Operation(name, (left, Operation(name, tuple(rest), place)), place))
        case Operation(name, arguments):
            evaluators = [evaluator(argument) for argument in arguments]
            return lambda batch: apply(name, [evaluate(batch) for evaluate in evaluators], len(batch))


Part: TypeAlias = Callable[[LaneBatch, "Array | None"], Column]
"""The column of an expression's values for some lanes of a batch, or for all."""


def _part(expression: Expression) -> Part:
    names, evaluate = tuple(dict.fromkeys(variables(expression))), evaluator(expression)
    return lambda batch, chosen: evaluate(batch if chosen is None else batch.part(chosen, names))


def _choose_by_lane(batch: LaneBatch, found: bool | Array, then: Part, otherwise: Part) -> Column:  # noqa: FBT001
    """One expression for the lanes where something is true, another for the rest."""
    if isinstance(found, bool):
        return then(batch, None) if found else otherwise(batch, None)
    chosen, rest = np.flatnonzero(found), np.flatnonzero(~found)
    if not len(chosen) or not len(rest):
        return then(batch, None) if len(chosen) else otherwise(batch, None)
    return merge_columns(chosen, then(batch, chosen), rest, otherwise(batch, rest))


def _logic(name: str, first: Evaluate, second: Part) -> Evaluate:
    def evaluate(batch: LaneBatch) -> Column:
        value = first(batch)

        def kept(_: LaneBatch, lanes: Array | None) -> Column:
            return value if lanes is None else select(value, lanes)

        sides = (second, kept) if name == "and" else (kept, second)
        return _choose_by_lane(batch, truth(value, len(batch)), *sides)

    return evaluate


def _variable(name: str, place: Place) -> Evaluate:
    def value(batch: LaneBatch) -> Column:
        if name not in batch.store:
            raise LanguageError(
                "variable",
                f"{shown_name(name)!r} is read before it is assigned",
                place=str(place),
                hint="assign it first",
            )
        return batch.store[name]

    return value
