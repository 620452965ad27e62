"""Tensors and erosion: all inputs of a finite mechanism at once (one output at the end, neighbours coordinate by coordinate).

For every output o the array ``D_o[v] = Pr(o | inputs v)`` has one axis an input.  The largest ratio over all neighbours is

    max over v of D_o[v] / erode(D_o)[v],

where erode takes the minimum over the inputs near v, one axis at a time: n passes over m^n numbers instead of all pairs of
neighbours.  The arrays hold exact integers on a common denominator, computed from the middle outwards (two halves and one matrix
product): as floats while every number stays below 2^53, where floating point is exact, then as 64-bit integers, then as integers
of any size.  Only the quotients are rounded; those that come within rounding of the largest are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, lcm, log2
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from privproof.engines.search_monitor import Monitor, Progress
from privproof.engines.words.word_vectors import quotient
from privproof.exact import ZERO, Epsilon, Rational, decimal, fraction, rational, smallest_epsilon
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.memory import memory_limit, memory_words
from privproof.models import Letter, Transducer, Word
from privproof.scenarios import Neighbours

if TYPE_CHECKING:
    from privproof.compiling import Compiled

Array: TypeAlias = NDArray[Any]
Point: TypeAlias = tuple[int, ...]
Window: TypeAlias = tuple[tuple[int, ...], ...]
"""For every input, by index, the inputs near it."""

_LARGEST = 20_000_000
"""Inputs in all, times outputs: several arrays of inputs are in memory at once, and the checker goes through all of them."""
_MOST_BYTES = 1 << 30
"""What the arrays of one output may take, whatever the limit on memory; beyond, another engine is asked."""
_ARRAYS = 4
"""Arrays of all inputs that are in memory at once: the numbers, their erosion, their ratios, and one in the making."""
_OBJECT = 48
"""Bytes of an integer of any size and the reference to it, besides its digits."""
_BAND = 1e-12
"""Ratios this near to the largest one, rounded, are compared exactly; rounding is off by less."""
_FEW = 200
"""Where more points attain the ratio, the nearest neighbours are found for all together, by layers of changed inputs."""


def reason_against(compiled: Compiled) -> str | None:
    """Why tensors do not answer the question, or None if they do."""
    model, scenario = compiled.question.model, compiled.question.scenario
    if not isinstance(model, Transducer) or model.finish is None:
        return "the mechanism does not write exactly one output, at the end"
    if model.of_every_length:
        return "lists of every length are asked about"
    if any(b.output is not None for step in model.steps for row in step.values() for bs in row.values() for b in bs):
        return "the mechanism writes on the way, not only at the end"
    if scenario.neighbours is None or scenario.neighbours.kind == "pairs":
        return "the neighbours are not given coordinate by coordinate"
    if any(begin.pair.left != begin.pair.right for begin in compiled.begins):
        return "the two sides start differently"
    needed, most = _bytes(model), min(_MOST_BYTES, memory_limit() or _MOST_BYTES)
    if needed > most:
        said = f"take {memory_words(needed)}, more than {memory_words(most)}"
        return f"arrays of {len(model.inputs)}^{len(model.steps)} exact numbers {said}"
    if len(model.outputs) * len(model.inputs) ** len(model.steps) > _LARGEST:
        return f"{len(model.inputs)}^{len(model.steps)} inputs and {len(model.outputs)} outputs are more than {_LARGEST} together"
    return None


def _bytes(model: Transducer) -> int:
    """What the arrays of one output take, about: numbers beyond 62 bits are objects."""
    digits = 0.0
    for step in model.steps:
        rows = (branch.probability for row in step.values() for branches in row.values() for branch in branches)
        digits += log2(lcm(1, *{int(p.q) for p in rows}))
    size = 8 if digits < 62 else _OBJECT + int(digits) // 8
    entries: int = len(model.inputs) ** len(model.steps)
    return _ARRAYS * size * entries


@dataclass(frozen=True)
class _OutputChain:
    """The mechanism with one output in view: initial row, one matrix for every step and input, final column."""

    start: int
    output: str
    initial: Vector
    steps: tuple[tuple[Matrix, ...], ...]
    final: Vector


def _chains(compiled: Compiled) -> Iterator[_OutputChain]:
    problem, model = compiled.problem, compiled.question.model
    assert isinstance(model, Transducer)
    for number, (start, begin) in enumerate(zip(problem.starts, compiled.begins, strict=True)):
        location, steps = start.location, []
        for _ in model.steps:
            edges = {e.letter.left: e for e in problem.locations[location].edges if not e.letter.changed}
            steps.append(tuple(edges[symbol].left for symbol in model.inputs))
            location = edges[model.inputs[0]].target
        ending = problem.locations[location].edges
        if ending and begin.finish is not None:
            final = tuple(dict(row).get(0, ZERO) for row in ending[0].left.rows)
            yield _OutputChain(number, begin.finish, start.left, tuple(steps), final)


def _whole(value: Rational, scale: int) -> int:
    return int(value.p) * (scale // int(value.q))


def _scale(vector: Sequence[Rational]) -> int:
    return lcm(1, *(int(x.q) for x in vector))


def _product(left: Array, right: Array) -> Array:
    """The product of two arrays of integers of any size."""
    (rows, inner), columns = left.shape, right.shape[1]
    if inner == 0:
        return np.zeros((rows, columns), dtype=object)
    whole = fmpz_mat(rows, inner, left.ravel().tolist()) * fmpz_mat(inner, columns, right.ravel().tolist())
    return _objects([int(x) for x in whole.entries()], (rows, columns))


def _objects(values: list[int], shape: tuple[int, int]) -> Array:
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result.reshape(shape)


def _integers(matrix: Matrix, scale: int) -> Array:
    result = np.zeros((len(matrix.rows), matrix.columns), dtype=object)
    for i, row in enumerate(matrix.rows):
        for j, entry in row:
            result[i, j] = _whole(entry, scale)
    return result


def _coprime(array: Array, scale: int) -> tuple[Array, int]:
    """The array and its common denominator divided by what all numbers have in common."""
    divisor = gcd(scale, *array.ravel().tolist())
    return (array // divisor, scale // divisor) if divisor > 1 else (array, scale)


def _tensor(chain: _OutputChain) -> tuple[Array, int]:
    """``D_o`` times a common denominator, one axis an input; and the denominator."""
    scales = [lcm(*(matrix.denominator for matrix in step)) for step in chain.steps]
    dense = [[_integers(m, scale) for m in step] for step, scale in zip(chain.steps, scales, strict=True)]
    middle = len(dense) // 2
    before, after = _scale(chain.initial), _scale(chain.final)
    forward = _objects([_whole(x, before) for x in chain.initial], (1, len(chain.initial)))
    for step, scale in zip(dense[:middle], scales, strict=False):
        forward = np.stack([_product(forward, m) for m in step], axis=1).reshape(-1, step[0].shape[1])
        forward, before = _coprime(forward, before * scale)
    backward = _objects([_whole(x, after) for x in chain.final], (len(chain.final), 1))
    for step, scale in zip(reversed(dense[middle:]), reversed(scales), strict=False):
        backward = np.stack([_product(m, backward) for m in step], axis=1).reshape(step[0].shape[0], -1)
        backward, after = _coprime(backward, after * scale)
    total = before * after
    shape = (len(dense[0]),) * len(dense)
    if total < 2**62:
        kind = np.float64 if total < 2**53 else np.int64
        return (forward.astype(kind) @ backward.astype(kind)).reshape(shape), total
    return _product(forward, backward).reshape(shape), total


def _windows(relation: Neighbours, inputs: tuple[str, ...]) -> tuple[Window, ...]:
    """Which inputs are near which; for monotone neighbours one table for each direction."""
    indices = range(len(inputs))
    values = list(map(rational, inputs)) if relation.within is not None or relation.kind == "monotone" else []

    def near(i: int, j: int, direction: int) -> bool:
        if i == j:
            return True
        if relation.within is not None and not relation.close(values[i], values[j]):
            return False
        return direction == 0 or (values[j] - values[i]) * direction >= 0

    directions = (1, -1) if relation.kind == "monotone" else (0,)
    return tuple(tuple(tuple(j for j in indices if near(i, j, d)) for i in indices) for d in directions)


def _erode(array: Array, axis: int, window: Window) -> Array:
    result = np.empty_like(array)
    ahead: tuple[Any, ...] = (slice(None),) * axis
    for i, (first, *others) in enumerate(window):
        target = result[(*ahead, i, ...)]
        target[...] = array[(*ahead, first, ...)]
        for j in others:
            np.minimum(target, array[(*ahead, j, ...)], out=target)
    return result


def _erode_all_axes(array: Array, window: Window) -> Array:
    for axis in range(array.ndim):
        array = _erode(array, axis, window)
    return array


def _layers(array: Array, window: Window, most: int) -> list[Array]:
    """For every count up to `most` the minimum over neighbours that change at most so many inputs."""
    layers = [array] * (most + 1)
    for axis in range(array.ndim):
        for count in range(most, 0, -1):
            layers[count] = np.minimum(layers[count], _erode(layers[count - 1], axis, window))
    return layers


def _quotients(array: Array, eroded: Array) -> NDArray[np.float64]:
    """The ratios, rounded; infinite where only the smaller one is zero, zero where both are."""
    if array.dtype == object:
        return np.asarray(np.frompyfunc(quotient, 2, 1)(array, eroded), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(array > 0, array.astype(np.float64) / eroded.astype(np.float64), 0.0)


def _largest(array: Array, eroded: Array, floor: float) -> tuple[Fraction | float, NDArray[np.intp]]:
    """The largest ratio, exactly, and the (flat) points that attain it; none if it is surely below `floor`."""
    ratios = _quotients(array, eroded).ravel()
    top = float(ratios.max())
    if top < floor * (1 - _BAND) or top == 0:
        return Fraction(0), np.array([], dtype=np.intp)
    if top == inf:
        return inf, np.flatnonzero(ratios == inf)
    points = np.flatnonzero(ratios >= top * (1 - _BAND))
    above, below = array.ravel()[points], eroded.ravel()[points]
    exact = {
        pair: Fraction(int(pair[0]), int(pair[1])) for pair in set(zip(above.tolist(), below.tolist(), strict=True))
    }
    best = max(exact.values())
    members = [pair for pair, value in exact.items() if value == best]
    chosen = np.zeros(len(points), dtype=bool)
    for p, q in members:
        chosen |= (above == p) & (below == q)
    return best, points[chosen]


@dataclass(frozen=True)
class Extreme:
    """The largest ratio (None: infinite), the simplest word that attains it, and why the search ended early, if it did."""

    ratio: Rational | None
    word: Word | None
    stopped: str | None = None


def largest_ratio(compiled: Compiled, *, monitor: Monitor | None = None) -> Extreme:
    """The largest ratio over all neighbours, exactly, with a word of the fewest changed inputs that attains it."""
    search = _TensorSearch(compiled, monitor or Monitor())
    best: Fraction | float = Fraction(0)
    word: Word | None = None
    for chain in _chains(compiled):
        reason = search.monitor.stopped()
        if reason is not None:
            return Extreme(_exact(best), word, reason)
        known = smallest_epsilon(best, 1) if isinstance(best, Fraction) and best else None
        search.monitor.listen(Progress(f"tensors, output {chain.output}", lower=_ratio_text(best), established=known))
        array, total = _tensor(chain)
        for window in search.windows:
            eroded = search.eroded(array, window)
            ratio, points = _largest(array, eroded, float(best))
            if len(points) and ratio >= best:
                here = search.simplest(chain, window, array, total, eroded, points, ratio)
                if ratio > best or word is None or here.changes < word.changes:
                    best, word = ratio, here
        if best == inf:
            break
    return Extreme(_exact(best), word)


def simplest_violation(compiled: Compiled, epsilon: Epsilon, *, monitor: Monitor | None = None) -> Word | None:
    """A word beyond epsilon with the fewest changed inputs, then with the largest ratio; None if there is none."""
    search = _TensorSearch(compiled, monitor or Monitor())
    found: Word | None = None
    for chain in _chains(compiled):
        array, total = _tensor(chain)
        for window in search.windows:
            for layer in _layers(array, window, search.most if found is None else found.changes):
                ratio, points = _largest(array, layer, 0.0)
                if len(points) and (isinstance(ratio, float) or epsilon.compare_bound(rational(ratio)) < 0):
                    word = search.word(chain, window, array, total, layer, int(points[0]))
                    if found is None or (-word.changes, _size(word)) > (-found.changes, _size(found)):
                        found = word
                    break
    return found


def _size(word: Word) -> Fraction | float:
    return inf if word.right == 0 else fraction(word.left / word.right)


class _TensorSearch:
    """What the searches over one compiled question share."""

    def __init__(self, compiled: Compiled, monitor: Monitor) -> None:
        model, relation = compiled.question.model, compiled.question.scenario.neighbours
        assert isinstance(model, Transducer)
        assert relation is not None
        self.inputs = model.inputs
        self.monitor = monitor
        self.windows = _windows(relation, model.inputs)
        self.one = relation.kind == "one"
        self.most = 1 if self.one else len(model.steps)

    def eroded(self, array: Array, window: Window) -> Array:
        """The minimum over all neighbours."""
        return _layers(array, window, 1)[1] if self.one else _erode_all_axes(array, window)

    def simplest(
        self,
        chain: _OutputChain,
        window: Window,
        array: Array,
        total: int,
        eroded: Array,
        points: NDArray[np.intp],
        ratio: Fraction | float,
    ) -> Word:
        """Of the words that attain the largest ratio one with the fewest changed inputs."""
        if not self.one and len(points) > _FEW:
            for layer in _layers(array, window, self.most):
                value, attaining = _largest(array, layer, 0.0)
                if len(attaining) and value == ratio:
                    return self.word(chain, window, array, total, layer, int(attaining[0]))
        few = points[:1] if self.one else points
        return min((self.word(chain, window, array, total, eroded, int(p)) for p in few), key=lambda word: word.changes)

    def word(self, chain: _OutputChain, window: Window, array: Array, total: int, layer: Array, flat: int) -> Word:
        """The word of a point and its nearest neighbour with the smallest probability."""
        point = tuple(int(i) for i in np.unravel_index(flat, array.shape))
        box = [window[i] for i in point]
        if self.one:
            near = [(*point[:a], j, *point[a + 1 :]) for a in range(len(point)) for j in box[a]]
            others = [p for p in near if array[p] == layer[point]]
        else:
            equal = np.argwhere(array[np.ix_(*box)] == layer[point])
            others = [tuple(box[axis][i] for axis, i in enumerate(offset)) for offset in equal.tolist()]
        other = min(others, key=lambda p: (sum(x != y for x, y in zip(point, p, strict=True)), p))
        letters = (
            *(Letter(None, self.inputs[x], self.inputs[y]) for x, y in zip(point, other, strict=True)),
            Letter(chain.output),
        )
        left, right = (rational(int(array[p])) / total for p in (point, other))
        return Word(chain.start, letters, "any", left, right)


def _exact(ratio: Fraction | float) -> Rational | None:
    return rational(ratio) if isinstance(ratio, Fraction) else None


def _ratio_text(ratio: Fraction | float) -> str:
    return decimal(ratio) if isinstance(ratio, Fraction) and ratio else ""
