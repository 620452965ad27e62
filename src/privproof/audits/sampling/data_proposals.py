"""Which two neighbouring data sets to try first.

A few systematic patterns find most violations (Ding, Wang, Wang, Zhang, Kifer, *Detecting violations of differential privacy*, CCS
2018, table 2; Bichsel, Steffen, Bogunovic, Vechev, *DP-Sniper*, S&P 2021): all answers move, one moves against the rest, one half
against the other, on equal answers and on answers far apart.  A pattern is two lists of levels, and it is tried at the low end of the
bounds, at the high end, and between.  Where there are few pairs of neighbours, all of them are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, islice, product, zip_longest
from math import floor, prod
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from privproof.audits.sampling.adjacent_data import Adjacent, called_adjacent, is_adjacent
from privproof.audits.sampling.data_moves import TRIES, propose_neighbours
from privproof.audits.sampling.data_spaces import (
    MOST,
    Data,
    DataCell,
    Levels,
    Pattern,
    Place,
    Space,
    alternate_levels,
    halves,
    public_data,
    without,
)
from privproof.language.inputs import NORMS, Input
from privproof.language.mechanism import Relation

_FIRST = 44
"""So many patterns come at the low end before the first of them come at other places."""
_REPEATED = 8
"""So many patterns come at other places before the rest comes at the low end."""
_MOST_DATA_SETS = 2_000
"""Up to so many pairs, or data sets, all of them are listed; of more, pairs by chance."""
_SPREADS = (1, 2, 5, 10)
"""How far apart the values of a pattern are, in units of the sensitivity."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def patterns(
    inputs: Mapping[str, Input], relation: Relation, size: int | None, fixed: Mapping[str, Any] = _NOTHING
) -> list[Adjacent]:
    """Neighbouring data sets to begin with, the most promising first: all of them where they are few, at most 60 otherwise.

    Each pair is named once; both directions are meant.

    Args:
        inputs: the declared inputs.
        relation: ``each``, ``one``, ``monotone``, ``add-remove``, or a function of two data sets.
        size: the length of every stream, and of every list of open length; with ``add-remove``, of the longer one.
        fixed: values of public inputs; others are tried.

    Raises:
        LanguageError: there is no such relation for these inputs, the function fails, or a value given is none of the input.
        QuestionError: the size is missing.

    >>> from privproof import queries
    >>> for pair in patterns({"q": queries()}, "each", 3)[:5]:
    ...     print(pair.left["q"], pair.right["q"])
    [0, 0, 0] [1, 1, 1]
    [0, 1, 1] [1, 0, 0]
    [0, 0, 1] [1, 1, 0]
    [1, 1, 1] [0, 2, 2]
    [1, 1, 1] [2, 0, 0]
    """
    space = Space.of(inputs, relation, size, fixed)
    if not space.private:
        return []
    private = list(_distinct(_private(space), MOST))
    joined = (
        space.sorted(Adjacent({**shared, **left}, {**shared, **right}))
        for (left, right), shared in _cross_early_first(private, public_data(space, fixed))
    )
    return list(islice((pair for pair in joined if is_adjacent(pair, inputs, relation)), MOST))


def _private(space: Space) -> Iterator[tuple[Data, Data]]:
    """Pairs of private data sets that are neighbours."""
    if space.relation == "add-remove":
        candidates = _removals(space)
    elif callable(space.relation):
        candidates = _candidate_pairs(space)
    else:
        number = _how_many(space)
        some = _placed_patterns(space) if number is None or number > MOST else ()
        rest = _all_pairs(space) if number is not None and 0 < number <= _MOST_DATA_SETS else ()
        candidates = chain(some, rest)
    yield from ((x, y) for x, y in candidates if is_adjacent(Adjacent(x, y), space.private, space.relation))


def _distinct(pairs: Iterable[tuple[Data, Data]], most: int) -> Iterator[tuple[Data, Data]]:
    """The first pairs, none of them twice, in whatever order of its sides."""
    seen: set[Any] = set()
    for left, right in pairs:
        name = frozenset((_freeze_data(left), _freeze_data(right)))
        if len(name) == 2 and name not in seen:
            seen.add(name)
            yield left, right
            if len(seen) == most:
                return


def _freeze_data(data: Mapping[str, Any]) -> Any:
    return tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(data.items()))


def _cross_early_first(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[Any, Any]]:
    """All combinations; those come first that are early on both sides."""
    ranked = sorted(product(range(len(first)), range(len(second))), key=lambda ij: ((ij[0] + 1) * (ij[1] + 1), ij))
    return [(first[i], second[j]) for i, j in ranked]


def _placed_patterns(space: Space) -> Iterator[tuple[Data, Data]]:
    """The patterns, at the low end of the bounds and then at other places."""
    listed = list(islice(_templates(space), 4 * MOST))
    places: tuple[Place, ...] = () if all(cell.record for cell in space.cells) else ("high", "middle")
    yield from (space.placed(pattern, "low") for pattern in listed[:_FIRST])
    yield from (space.placed(pattern, place) for pattern in listed[:_REPEATED] for place in places)
    yield from (space.placed(pattern, "low") for pattern in listed[_FIRST:])
    yield from (space.placed(pattern, place) for pattern in listed[_REPEATED:] for place in places)


def _templates(space: Space) -> Iterator[Pattern]:
    """The patterns of a relation."""
    size = len(space.cells)
    if any(cell.record for cell in space.cells) and space.relation != "monotone":
        yield from _of_records(space)
    numbers = [cell for cell in space.cells if not cell.record]
    widths = [(c.high - c.low) / c.unit for c in numbers if c.high is not None and c.low is not None]
    widest = floor(min(widths)) if widths else None
    spreads = [g for g in _SPREADS if widest is None or g <= widest]
    spreads += [widest] if widest is not None and widest > 0 and widest not in spreads else []
    kinds = [space.relation] if isinstance(space.relation, str) else ["each", "one", "monotone"]
    for kind in kinds:
        if kind == "one" or kind in NORMS:  # within a norm one value may change as far as all together
            yield from _one_changed(size, spreads)
            continue
        yield from _in_one_direction(size, spreads) if kind == "monotone" else _each_changed(size, spreads)
        if len(space.private) > 1:
            for part in space.parts.values():
                yield (0,) * size, tuple(int(part.start <= i < part.stop) for i in range(size))


def _first(one: int, rest: int, size: int) -> Levels:
    return (one, *[rest] * (size - 1))


def _last(rest: int, one: int, size: int) -> Levels:
    return (*[rest] * (size - 1), one)


def _places(size: int) -> list[int]:
    """At either end, and in the middle."""
    return list(dict.fromkeys((0, size - 1, size // 2)))


def _two_levels(size: int) -> Iterator[Pattern]:
    """Patterns of two levels, 0 and 1."""
    yield (0,) * size, (1,) * size
    for make in (_first, _last, halves, alternate_levels):
        yield make(0, 1, size), make(1, 0, size)
    yield (0,) * size, _first(1, 0, size)
    yield (0,) * size, _last(0, 1, size)
    yield _first(0, 1, size), (1,) * size
    yield _last(1, 0, size), (1,) * size


def _each_changed(size: int, spreads: Sequence[int]) -> Iterator[Pattern]:
    half = size // 2
    yield from islice(_two_levels(size), 4)
    for make in (_first, _last, halves):
        yield (1,) * size, make(0, 2, size)
        yield (1,) * size, make(2, 0, size)
    yield from islice(_two_levels(size), 4, None)
    for g in spreads:
        for make in (_first, _last, halves):
            yield make(0, g, size), make(1, g - 1, size)
            yield make(g, 0, size), make(g - 1, 1, size)
    yield halves(1, 0, size), (*[0] * half, 1, *[0] * (size - half - 1))
    yield halves(0, 1, size), (*[1] * half, 0, *[1] * (size - half - 1))
    for g in spreads:
        yield _first(0, g, size), _first(1, g + 1, size)
        yield _first(0, g, size), _first(1, g, size)
    yield tuple(range(size)), tuple(range(1, size + 1))


def _bases(size: int, spreads: Sequence[int]) -> Iterator[Levels]:
    """Equal levels, and levels apart."""
    yield (0,) * size
    for g in spreads:
        for make in (_first, _last, halves, alternate_levels):
            yield make(0, g, size)
            yield make(g, 0, size)
    yield tuple(range(size))


def _one_changed(size: int, spreads: Sequence[int]) -> Iterator[Pattern]:
    moves = [(place, by) for place in _places(size) for by in (1, -1)]
    for base, (place, by) in _cross_early_first(list(_bases(size, spreads)), moves):
        yield base, tuple(level + by * (i == place) for i, level in enumerate(base))


def _in_one_direction(size: int, spreads: Sequence[int]) -> Iterator[Pattern]:
    moves = [(1,) * size, halves(1, 0, size), _first(1, 0, size), _last(0, 1, size), halves(0, 1, size)]
    moves += [_first(0, 1, size), _last(1, 0, size), alternate_levels(1, 0, size)]
    for base, move in _cross_early_first(list(_bases(size, spreads)), moves):
        yield base, tuple(level + by for level, by in zip(base, move, strict=True))


def _of_records(space: Space) -> Iterator[Pattern]:
    """Each value of a record against each other one, the other records being equal to either, or mixed."""
    size = len(space.cells)
    most = max(int(cell.high or 0) + 1 for cell in space.cells if cell.record)
    values = list(islice(combinations(range(most), 2), MOST))
    places = [place for place in _places(size) if space.cells[place].record]
    others = ((0,) * size, (1,) * size, alternate_levels(0, 1, size), halves(0, 1, size))
    ones = [((*o[:p], 0, *o[p + 1 :]), (*o[:p], 1, *o[p + 1 :])) for o in others for p in places]
    listed = ones if space.relation == "one" else [*_two_levels(size), *ones]
    for pair, chosen in _cross_early_first(listed, values):
        left, right = (
            tuple(chosen[level] if cell.record else level for cell, level in zip(space.cells, side, strict=True))
            for side in pair
        )
        yield left, right


def _how_many(space: Space) -> int | None:
    """How many pairs of neighbours there are for each, one and monotone; None for infinitely many."""
    total = space.total
    if total is None:
        return None
    counts = [cell.count or 0 for cell in space.cells]
    near = [cell.near for cell in space.cells]
    if space.relation == "one":
        return sum(n // 2 * (total // k) for n, k in zip(near, counts, strict=True))
    if space.relation == "monotone":
        return prod(k + n // 2 for n, k in zip(near, counts, strict=True)) - total
    return (prod(k + n for n, k in zip(near, counts, strict=True)) - total) // 2


def _all_pairs(space: Space) -> Iterator[tuple[Data, Data]]:
    """All pairs of neighbours for each, one and monotone; those that differ in most values first."""
    choices = []
    for cell in space.cells:
        numbers = cell.every
        furthest = len(numbers) * cell.step if cell.record else cell.step
        choices.append([(x, y) for x in numbers for y in numbers if abs(x - y) <= furthest])
    found: list[tuple[tuple[Fraction, Fraction], ...]] = []
    if space.relation == "one":
        still = [[(x, y) for x, y in some if x == y] for some in choices]
        for i, some in enumerate(choices):
            found += product(*still[:i], [(x, y) for x, y in some if x < y], *still[i + 1 :])
    else:
        for pairs in product(*choices):
            signs = [x < y for x, y in pairs if x != y]
            if signs and signs[0] and (space.relation == "each" or all(signs)):
                found.append(pairs)
    for pairs in sorted(found, key=lambda pairs: -sum(x != y for x, y in pairs)):
        yield space.data([x for x, _ in pairs]), space.data([y for _, y in pairs])


def _candidate_pairs(space: Space) -> Iterator[tuple[Data, Data]]:
    """Pairs of data sets that a function of the user calls neighbours, or may: patterns in turn with pairs from everywhere."""
    for row in zip_longest(_placed_patterns(space), _from_everywhere(space)):
        yield from (pair for pair in row if pair is not None)


def _from_everywhere(space: Space) -> Iterator[tuple[Data, Data]]:
    """Pairs by chance; where there are few data sets, those far apart in turn with others, as the function of the user allows."""
    assert callable(space.relation)
    generator = np.random.default_rng(0)
    if space.total is None or space.total > _MOST_DATA_SETS:
        for _ in range(TRIES):
            left, right = propose_neighbours(space, generator)
            yield space.data(left), space.data(right)
        return
    data = list(space.every())
    values = [list(one.values()) for one in data]
    first, second = np.triu_indices(len(data), 1)
    known: dict[Any, int] = {}
    rows = np.array([_ranks(one, known) for one in values], dtype=np.float64)
    apart = np.abs(rows[first] - rows[second]).sum(axis=1)
    order = np.column_stack([np.argsort(-apart, kind="stable"), generator.permutation(len(first))]).ravel()
    for number in dict.fromkeys(order.tolist()):
        i, j = int(first[number]), int(second[number])
        if called_adjacent(values[i], values[j], space.relation):
            yield data[i], data[j]


def _ranks(values: Sequence[Any], known: dict[Any, int]) -> list[float]:
    """The values of a data set as numbers: numbers themselves, and everything else in the order of its appearance."""
    flat = [x for value in values for x in (value if isinstance(value, list) else [value])]
    return [float(x) if isinstance(x, int | Fraction) else float(known.setdefault(x, len(known))) for x in flat]


def _removals(space: Space) -> Iterator[tuple[Data, Data]]:
    """A list with a record and without it, for each list whose length is open."""
    lists = [name for name, declared in space.private.items() if declared.size is None]
    number = 0
    if space.total is not None and space.total <= MOST:
        for name in lists:
            count = space.cells[space.parts[name].start].count or 0
            number += space.total + (space.total // count) * (space.lengths[name] - 1) * (count - 1)
    if 0 < number <= MOST:
        for data in space.every():
            yield from ((data, without(data, name, i)) for name in lists for i in range(len(data[name])))
        return
    palettes = {name: _palette(space.cells[space.parts[name].start]) for name in space.private}
    plain = {name: [palettes[name][0]] * space.lengths[name] for name in space.private}
    for name in lists:
        size, palette = space.lengths[name], palettes[name]
        choices = range(len(palette))
        makes = [lambda a, b, n: (a,) * n, alternate_levels, halves]
        for (i, j), (make, place) in _cross_early_first(
            _cross_early_first(choices, choices), list(product(makes, _places(size)))
        ):
            rest = [palette[k] for k in make(i, j, size - 1)]
            data = {**plain, name: [*rest[:place], palette[j], *rest[place:]]}
            yield data, without(data, name, place)


def _palette(cell: DataCell) -> list[Any]:
    """A few values: at both ends, in the middle, and near."""
    low, high, middle = cell.low, cell.high, cell.middle
    if low is not None and high is not None and middle is not None:
        numbers = [low, high, middle, low + cell.unit]
        numbers += [low + k for k in range(2, int(high))] if cell.record else []
    else:
        base = low if low is not None else high if high is not None else Fraction(0)
        numbers = [base + k * cell.unit * (1 if high is None else -1) for k in (0, 1, 10)]
        numbers += [base - cell.unit]
    return list(dict.fromkeys(cell.value(cell.clipped(number)) for number in numbers))[:8]
