"""Proofs by tensors: the checker computes the distribution of the output for all input sequences at once.

For a transducer that reads n inputs out of m values and then writes one output, let ``D_o[v]`` be the probability of
the output o on the inputs v = (v1, ..., vn). The claim with delta = 0 is ``D_o[v] <= c D_o[w]`` for all o and all
neighbours v, w, that is

    D_o[v] <= c E_o[v],      E_o[v] = min of D_o[w] over the neighbours w of v and v itself.

The minimum over a box is a running minimum along one axis after the other (*erosion*):

* ``each``: the window of all values at distance at most `within`, along every axis in turn;
* ``one``: the same window along one axis alone, each axis for itself;
* ``monotone``: the half window upwards along every axis in turn, and, for itself, the half window downwards.

Where many prefixes of the inputs lead to the same numbers, D is a diagram with shared parts (`diagrams`), and what is
equal is eroded and compared once. Otherwise D is a list, computed in the middle: a word's probability is (row vector after
the first half of the inputs) times (column vector before the second half), so ``D_o`` is one product of integer matrices.
All entries of one D_o stand over one denominator, which does not matter.

This holds where the mechanism writes nothing before the end; a letter before the end that is written would be
observed too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from math import prod
from operator import gt, mul
from typing import TypeAlias

from flint import fmpz_mat

from privproof_checker.claims import Claim, as_rational
from privproof_checker.decision_diagrams import Moves, Windows, shared_tensor
from privproof_checker.machines import TransducerSystem
from privproof_checker.numbers.patience import pause
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import text
from privproof_checker.systems import Masses, Question, Rows, on_common_denominator

Tensor: TypeAlias = list[int]
_BITS = 128
"""The precision of the lower bound of e^epsilon in the quick test on integers; what fails that test is decided exactly."""


def proved_by_tensors(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a claim by computing all output probabilities."""
    machine = question.system
    if not isinstance(machine, TransducerSystem) or machine.finish is None or machine.open_ended:
        refuse("tensors are for transducers with a finish after the last step", "evidence.method")
    if machine.relation.kind not in ("each", "one", "monotone"):
        refuse("tensors are for the relations each, one and monotone", "evidence.method")
    outputs = [output for output in machine.finish_matrices[0] if output is not None]
    size = len(outputs)
    for _ in machine.steps:
        size *= len(machine.inputs)
        within(size, limits.tensor, "entries of the output tensors", "evidence")
    order = _order(machine)
    windows = _windows(machine, order)
    compared = 0
    for initial in dict.fromkeys(_initial(machine)):
        mechanism = _mechanism(machine, initial, order)
        for output in outputs:
            compared += _compare(question.claim, machine.relation.kind, mechanism, output, windows)
    details = {"method": "tensors", "inputs": len(machine.inputs) ** len(machine.steps), "outputs": len(outputs)}
    statement = f"private with {question.claim}{', even with delta = 0' if question.claim.delta != 0 else ''}"
    return Accepted("proved", f"{statement}; compared: {question.described}", {**details, "comparisons": compared})


def _initial(machine: TransducerSystem) -> list[Masses]:
    for start in machine.starts:
        if start.left != start.right:
            refuse("tensors need the same initial distribution on both sides", "question.scenario.pairs")
    return [start.left for start in machine.starts]


def _order(machine: TransducerSystem) -> list[str]:
    """The inputs by their numbers, so that a window is a range of positions."""
    values = machine.relation.values
    if not values:
        return list(machine.inputs)
    if len(set(values.values())) < len(values):
        refuse("two inputs are the same number", "question.inputs")
    return sorted(machine.inputs, key=values.__getitem__)


@dataclass(frozen=True)
class _Mechanism:
    """The mechanism in integers: the weights of states at the beginning, for every step their rows, for every output weights at the end."""

    start: Mapping[int, int]
    steps: Sequence[Moves]
    finals: Mapping[str, Mapping[int, int]]

    @cached_property
    def widths(self) -> list[int]:
        """The number of inputs of every step."""
        return [len(next(iter(step.values()), ())) for step in self.steps]

    @cached_property
    def matrices(self) -> list[list[fmpz_mat]]:
        """For every step and every input a matrix."""
        after = [*(list(step) for step in self.steps[1:]), list(next(iter(self.finals.values()), ()))]
        return [
            [_dense([rows[k] for rows in step.values()], targets) for k in range(width)]
            for step, targets, width in zip(self.steps, after, self.widths, strict=True)
        ]

    @cached_property
    def forward(self) -> fmpz_mat:
        """The rows after the first half of the inputs."""
        forward = _dense([list(self.start.items())], list(self.steps[0]))
        for step in self.matrices[: len(self.steps) // 2]:
            products = [(forward * matrix).table() for matrix in step]
            forward = fmpz_mat([table[i] for i in range(forward.nrows()) for table in products])
        return forward

    def tensor(self, output: str) -> Tensor:
        """The tensor of an output, flat, the first input being the most significant digit of the position."""
        weights = self.finals[output]
        backward = fmpz_mat(len(weights), 1, list(weights.values()))
        for step in reversed(self.matrices[len(self.steps) // 2 :]):
            products = [(matrix * backward).table() for matrix in step]
            backward = fmpz_mat([list(chain.from_iterable(rows)) for rows in zip(*products, strict=True)])
        return list(map(int, (self.forward * backward).entries()))


def _dense(rows: Sequence[Sequence[tuple[int, int]]], columns: list[int]) -> fmpz_mat:
    """The matrix of rows over some states."""
    place = {state: j for j, state in enumerate(columns)}
    entries = [0] * (len(rows) * len(columns))
    for i, row in enumerate(rows):
        for state, weight in row:
            entries[i * len(columns) + place[state]] += weight
    return fmpz_mat(len(rows), len(columns), entries)


def _mechanism(machine: TransducerSystem, initial: Masses, order: list[str]) -> _Mechanism:
    _, (start,) = on_common_denominator(initial)
    steps: list[Moves] = []
    reached = dict.fromkeys(start)
    for number in range(len(machine.steps)):
        matrices = [_silent(machine, number, symbol) for symbol in order]
        steps.append({state: [rows.get(state, ()) for rows in matrices] for state in reached})
        reached = dict.fromkeys(state for rows in steps[-1].values() for row in rows for state, _ in row)
    finals = {}
    for output, column in machine.finish_matrices[0].items():
        if output is not None:
            finals[output] = {state: column[state][0][1] if state in column else 0 for state in reached}
    return _Mechanism(start, steps, finals)


def _silent(machine: TransducerSystem, number: int, symbol: str) -> Rows:
    """The rows of a step under an input, times the denominator of the step."""
    by_output = machine.matrices(number, symbol)
    if any(output is not None for output in by_output):
        refuse("tensors are for mechanisms that write at the end alone", f"question.steps[{number}]")
    return by_output.get(None, {})


def _compare(claim: Claim, kind: str, mechanism: _Mechanism, output: str, windows: Windows) -> int:
    """Refuse unless an output is within the claim on all neighbours; how many entries were compared."""
    compared = 0
    shared = shared_tensor(mechanism.start, mechanism.steps, mechanism.finals[output])
    if shared is not None:
        diagram, node = shared
        for smaller in diagram.erosions(kind, node, windows):
            compared += prod(mechanism.widths)
            _decide(claim, _suspects(claim, diagram.pairs(node, smaller)), output)
        return compared
    tensor = mechanism.tensor(output)
    for eroded in _erosions(kind, tensor, len(mechanism.steps), windows):
        compared += len(tensor)
        _below(claim, tensor, eroded, output)
    return compared


def _windows(machine: TransducerSystem, order: list[str]) -> Windows:
    """For every position in the order of inputs the range of positions at distance at most `within`."""
    distance, values = machine.relation.distance, machine.relation.values
    if distance is None:
        return [(0, len(order) - 1)] * len(order)
    near = [[k for k, w in enumerate(order) if abs(values[v] - values[w]) <= distance] for v in order]
    return [(min(positions), max(positions)) for positions in near]


def _erosions(kind: str, tensor: Tensor, axes: int, windows: Windows) -> Iterator[Tensor]:
    """The erosions of the tensor; the claim is about all of them."""
    width = len(windows)
    strides = [width**axis for axis in range(axes)]
    if kind == "one":
        eroded = tensor
        for stride in strides:
            eroded = list(map(min, eroded, _minima(tensor, stride, windows)))
        yield eroded
        return
    upwards = [(k, high) for k, (_, high) in enumerate(windows)]
    downwards = [(low, k) for k, (low, _) in enumerate(windows)]
    for chosen in [windows] if kind == "each" else [upwards, downwards]:
        eroded = tensor
        for stride in strides:
            eroded = _minima(eroded, stride, chosen)
        yield eroded


def _minima(tensor: Tensor, stride: int, windows: Windows) -> Tensor:
    """The running minimum along the axis whose neighbouring positions are `stride` apart.

    >>> _minima([5, 1, 4, 9, 8, 7], 1, [(0, 1), (0, 2), (1, 2)])
    [1, 1, 1, 8, 7, 7]
    """
    result = tensor[:]
    for group in _lines(len(tensor), len(windows), stride):
        pause()
        parts = [tensor[line] for line in group]
        for line, (low, high) in zip(group, windows, strict=True):
            if low < high:
                result[line] = map(min, *parts[low : high + 1])
    return result


def _lines(length: int, width: int, stride: int) -> Iterator[list[slice]]:
    """Slices that together hold the tensor, `width` at a time: entry for entry they are neighbours along an axis.

    Contiguous slices where the stride is large, and strided ones where it is small, so that there are few of them.
    """
    step = width * stride
    if stride * step <= length:
        for first in range(stride):
            yield [slice(first + k * stride, None, step) for k in range(width)]
    else:
        for first in range(0, length, step):
            yield [slice(first + k * stride, first + (k + 1) * stride) for k in range(width)]


def _below(claim: Claim, tensor: Tensor, eroded: Tensor, output: str) -> None:
    """Refuse unless ``tensor <= c eroded`` everywhere."""
    if not claim.epsilon.infinite:
        low, _ = claim.epsilon.enclosure(_BITS)
        above, below = map(mul, tensor, repeat(int(low.q))), map(mul, eroded, repeat(int(low.p)))
        if not any(map(gt, above, below)):
            return
    _decide(claim, _suspects(claim, zip(tensor, eroded, strict=True)), output)


def _suspects(claim: Claim, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs (d, e) for which ``d <= c e`` is not plain.

    With a rational lower bound p/q of c the test is on integers; what fails it is decided exactly, one by one.
    """
    if claim.epsilon.infinite:
        return [(d, e) for d, e in pairs if d and not e]
    low, _ = claim.epsilon.enclosure(_BITS)
    p, q = int(low.p), int(low.q)
    return [(d, e) for d, e in pairs if q * d > p * e]


def _decide(claim: Claim, suspects: list[tuple[int, int]], output: str) -> None:
    """Refuse a pair that violates the claim."""
    for d, e in suspects:
        if not claim.holds_without_delta(as_rational(d), as_rational(e)):
            ratio = f"the ratio is {text(as_rational(d, e))}" if e else "it is impossible on neighbouring inputs"
            refuse(f"the output {output!r} violates the claim: {ratio}", "evidence")
