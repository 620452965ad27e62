"""Neighbouring data sets by chance, and small changes of them.

A random data set has one level, two, a slope, or any; its neighbour moves as the relation allows, mostly by as much as it may.  From
a promising pair, small changes of it lead to a worse one.  The same seed of the generator gives the same pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, TypeVar

import numpy as np

from privproof.audits.sampling.adjacent_data import Adjacent, is_adjacent, private_inputs, refuse_relation
from privproof.audits.sampling.data_spaces import (
    FAR,
    DataCell,
    Numbers,
    Place,
    Space,
    public_data,
    public_values,
    refuse_values,
    without,
)
from privproof.language.inputs import NORMS, Input
from privproof.language.mechanism import Relation

TRIES = 2_000
"""So many random pairs are shown to a function of the user, who may call few of them neighbours."""
_FEW_TRIES = 50
"""The same where most pairs are neighbours, because they were made to be."""
_PLACES: tuple[Place, ...] = ("low", "high", "middle")

Item = TypeVar("Item")


def draw_neighbours(
    inputs: Mapping[str, Input],
    relation: Relation,
    size: int | None,
    fixed: Mapping[str, Any],
    generator: np.random.Generator,
) -> Adjacent | None:
    """A random pair of neighbours; None if none was found.

    >>> from privproof import queries
    >>> pair = draw_neighbours({"q": queries(0, 9)}, "one", 4, {}, np.random.default_rng(1))
    >>> is_adjacent(pair, {"q": queries(0, 9)}, "one")
    True
    """
    space = Space.of(inputs, relation, size, fixed)
    if not space.private:
        return None
    public = public_data(space, fixed)
    for _ in range(TRIES if callable(relation) else _FEW_TRIES):
        shared = _any(public, generator)
        if relation == "add-remove":
            pair = _without_one(space, _levels(space, generator), shared, generator)
        else:
            pair = space.pair(*propose_neighbours(space, generator), shared)
        if pair is not None:
            return pair
    return None


def propose_neighbours(space: Space, generator: np.random.Generator) -> tuple[Numbers, Numbers]:
    """A random data set and one that may be its neighbour."""
    left = _levels(space, generator)
    size = len(left)
    relation = space.relation
    if callable(relation):
        relation = _any(("each", "one", "monotone", "swap", "any"), generator)
    if relation == "any":
        return left, _levels(space, generator)
    if relation == "swap":
        return left, _swap_numbers(space, left, *generator.integers(size, size=2).tolist())
    signs = generator.integers(-1, 2, size) if generator.integers(2) else generator.choice([-1, 1], size)
    if relation == "one" or (relation in NORMS and generator.integers(2)):
        signs = signs * 0
        signs[int(generator.integers(size))] = generator.choice([-1, 1])
    elif relation in NORMS:
        return left, _share_sensitivity(space, left, signs.tolist())
    elif relation == "monotone":
        signs = np.abs(signs) * generator.choice([-1, 1])
    return left, [_move_number(c, x, s, generator) for c, x, s in zip(space.cells, left, signs.tolist(), strict=True)]


def _share_sensitivity(space: Space, left: Numbers, signs: Sequence[int]) -> Numbers:
    """The numbers after changes that share a sensitivity out evenly, in the norm of the space."""
    count = max(1, sum(map(abs, signs)))
    parts = count if space.relation == "l1" else isqrt(count - 1) + 1
    return [c.clipped(x + s * c.step / parts) for c, x, s in zip(space.cells, left, signs, strict=True)]


def _any(items: Sequence[Item], generator: np.random.Generator) -> Item:
    return items[int(generator.integers(len(items)))]


def _levels(space: Space, generator: np.random.Generator) -> Numbers:
    """A random data set: one level, two, a slope, or any."""
    size, far = len(space.cells), 2 ** int(generator.integers(0, 7))
    kind = generator.integers(4)
    if kind == 0:
        levels = np.zeros(size, dtype=np.int64)
    elif kind == 1:
        levels = far * generator.integers(0, 2, size)
    elif kind == 2:
        levels = np.arange(size) * generator.integers(-1, 2)
    else:
        levels = generator.integers(-far, far + 1, size)
    place = _any(_PLACES, generator)
    lowest, highest, first = int(levels.min()), int(levels.max()), int(generator.integers(FAR))
    numbers = []
    for cell, level in zip(space.cells, levels.tolist(), strict=True):
        if cell.count is not None and kind == 3:
            numbers.append((cell.low or 0) + Fraction(int(generator.integers(cell.count))))
        elif cell.record and cell.count is not None:
            numbers.append(Fraction((first + level) % cell.count))
        else:
            numbers.append(cell.clipped(cell.origin(place, lowest, highest) + level * cell.unit))
    return numbers


def _move_number(cell: DataCell, number: Fraction, sign: int, generator: np.random.Generator) -> Fraction:
    """The number after a change in a direction: by as much as it may, or half of that; another record."""
    if sign == 0 or cell.step == 0:
        return number
    if cell.record:
        assert cell.count is not None
        return Fraction(int(generator.integers(cell.count)))
    by = cell.step
    if generator.integers(8) == 0:
        by = by / 2 if cell.declared.real else Fraction(int(generator.integers(1, min(int(by), FAR) + 1)))
    return cell.clipped(number + sign * by)


def _swap_numbers(space: Space, numbers: Numbers, i: int, j: int) -> Numbers:
    """The same numbers, two of them swapped if they belong to inputs declared alike."""
    result = list(numbers)
    if space.cells[i] == space.cells[j]:
        result[i], result[j] = numbers[j], numbers[i]
    return result


def _without_one(
    space: Space, numbers: Numbers, shared: Mapping[str, Any], generator: np.random.Generator
) -> Adjacent | None:
    """The data set with these numbers, and without one record of it."""
    lists = [name for name, declared in space.private.items() if declared.size is None]
    if not lists:
        return None
    name = _any(lists, generator)
    data = space.data(numbers)
    place = int(generator.integers(len(data[name])))
    return space.sorted(Adjacent({**shared, **data}, {**shared, **without(data, name, place)}))


def mutate_neighbours(
    pair: Adjacent,
    inputs: Mapping[str, Input],
    relation: Relation,
    fixed: Mapping[str, Any],
    generator: np.random.Generator,
) -> Adjacent | None:
    """Neighbours near a pair of neighbours; None if none was found.

    One value moves on both sides together, or the difference of one value changes, or two values are swapped on both sides, or a public
    value that is not given moves.  With ``add-remove`` another record may be the one that is added.

    >>> from privproof import queries
    >>> inputs, pair = {"q": queries()}, Adjacent({"q": [0, 0, 0]}, {"q": [1, 1, 1]})
    >>> is_adjacent(mutate_neighbours(pair, inputs, "each", {}, np.random.default_rng(1)), inputs, "each")
    True
    """
    refuse_relation(inputs, relation)
    refuse_values(inputs, fixed)
    if not private_inputs(inputs):
        return None
    open_names = [name for name, declared in inputs.items() if declared.public and name not in fixed]
    for _ in range(_FEW_TRIES):
        if open_names and generator.integers(4) == 0:
            name = _any(open_names, generator)
            value = _nudge_input(inputs[name], pair.left[name], generator)
            found = Adjacent({**pair.left, name: value}, {**pair.right, name: value})
        elif relation == "add-remove":
            found = _another_place(pair, inputs, generator)
        else:
            found = _nearby(pair, inputs, relation, generator)
        if found not in (pair, Adjacent(pair.right, pair.left)) and is_adjacent(found, inputs, relation):
            return found
    return None


def _nearby(
    pair: Adjacent, inputs: Mapping[str, Input], relation: Relation, generator: np.random.Generator
) -> Adjacent:
    """One value moves, on both sides or on one, or two are swapped."""
    lengths = {name: len(pair.left[name]) for name, declared in inputs.items() if declared.shape != "value"}
    space = Space(inputs, relation, lengths)
    left, right = space.numbers(pair.left), space.numbers(pair.right)
    i, j = generator.integers(len(left), size=2).tolist()
    cell, kind = space.cells[i], generator.integers(3)
    if kind == 0:
        by = _jump(cell, generator)
        left[i], right[i] = cell.clipped(left[i] + by), cell.clipped(right[i] + by)
    elif kind == 1:
        right[i] = _move_number(cell, left[i], int(generator.integers(-1, 2)), generator)
    else:
        left, right = _swap_numbers(space, left, i, j), _swap_numbers(space, right, i, j)
    return space.sorted(Adjacent({**pair.left, **space.data(left)}, {**pair.right, **space.data(right)}))


def _another_place(pair: Adjacent, inputs: Mapping[str, Input], generator: np.random.Generator) -> Adjacent:
    """One record is changed, two are swapped, or another one is the one that is added."""
    name = _any(list(private_inputs(inputs)), generator)
    turned = len(pair.left[name]) < len(pair.right[name])
    longer, shorter = (list(side[name]) for side in ((pair.right, pair.left) if turned else (pair.left, pair.right)))
    if not longer:
        return pair
    place = next((i for i, (x, y) in enumerate(zip(longer, shorter, strict=False)) if x != y), len(longer) - 1)
    added = len(longer) > len(shorter)
    i, j = generator.integers(len(longer), size=2).tolist()
    kind = generator.integers(3)
    if kind == 0:
        place = i
    elif kind == 1:
        longer[i] = _nudged_value(inputs[name], longer[i], generator)
    else:
        longer[i], longer[j] = longer[j], longer[i]
    shorter = longer[:place] + longer[place + 1 :] if added else list(longer)
    left, right = (shorter, longer) if turned else (longer, shorter)
    return Adjacent({**pair.left, name: left}, {**pair.right, name: right})


def _jump(cell: DataCell, generator: np.random.Generator) -> Fraction:
    """A multiple of the unit, in either direction, sometimes large."""
    by = 2 ** int(generator.integers(0, 7)) if generator.integers(3) == 0 else 1
    return cell.unit * by * int(generator.choice([-1, 1]))


def _nudge_input(declared: Input, value: Any, generator: np.random.Generator) -> Any:
    """A value of an input near another one: of a list, one element is changed."""
    if declared.shape == "value":
        return _nudged_value(declared, value, generator)
    place = int(generator.integers(len(value)))
    return [_nudged_value(declared, v, generator) if i == place else v for i, v in enumerate(value)]


def _nudged_value(declared: Input, value: Any, generator: np.random.Generator) -> Any:
    cell = DataCell.of(declared, "each")
    if cell.record:
        assert cell.count is not None
        return cell.value(Fraction(int(generator.integers(cell.count))))
    if generator.integers(2):
        return _any(public_values(declared), generator)
    return cell.value(cell.clipped(cell.number(value) + _jump(cell, generator)))
