"""The search for real data with a large excess, in floats: what it finds is computed again in balls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from privproof.compiling.register_states import Registers
from privproof.engines.registers.pulled_events import Point, Pull, taking_part
from privproof.exact import Rational

_FINEST = 16
"""The search ends with steps of 2 to minus this, in sensitivities: what is left to gain is of the order of their square."""
_STEPS = 250
"""Steps of a search: one that goes on for longer goes to where nothing changes any more."""
_GAIN = 1e-13
"""A step that gains less, in parts of the value, is none: floats say no more."""
_REACH = {"gaussian": 9, "laplace": 30, "exponential": 30}
"""Scales that are integrated over on both sides of a center."""
_NODES = 8
"""Nodes in the smallest scale: the trapezoidal rule is then exact to ten digits on Gaussian noise."""

Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


def as_float(value: Rational) -> float:
    """The float next to a number."""
    return int(value.p) / int(value.q)


class Rough:
    """Probabilities of outcomes that are integrals over one register, in floats."""

    def __init__(self, model: Registers, pulls: Sequence[Pull]) -> None:
        self.model = model
        self.entry = {name: number for number, name in enumerate(model.entries)}
        taken = [model.noises[atom] for atom in taking_part(model)]
        self.step = as_float(min(each.scale for each in taken)) / _NODES
        self.kept: dict[tuple[int, Rational], tuple[Array, Array]] = {}
        self.far = max(_REACH[each.kind] * as_float(each.scale) for each in taken)
        self.ends = (0.0, 0.0)
        self.line: Array = np.zeros(0)

    def probabilities(self, point: Point) -> list[float]:
        """Of all outcomes at some data."""
        low, high = as_float(min(point)) - self.far, as_float(max(point)) + self.far
        if low < self.ends[0] or high > self.ends[1] or not self.line.size:
            centers = [as_float(each.center.constant) for each in self.model.noises]
            self.ends = (min(low, min(centers) - self.far) * 2, max(high, max(centers) + self.far) * 2)
            self.line = np.arange(self.ends[0], self.ends[1], self.step)
            self.kept = {}
        found = []
        for outcome in self.model.outcomes:
            total = 0.0
            for term in outcome.terms:
                for [hub] in term.tuples:
                    value = self.law(hub, point)[0]
                    for atom, cells in term.cells.items():
                        if atom != hub:
                            below = self.law(atom, point)[1]
                            value = value * (below if cells == 1 else 1 - below)
                    total += float(value.sum()) * self.step
            found.append(total)
        return found

    def law(self, atom: int, point: Point) -> tuple[Array, Array]:
        """The density and the distribution function of a noisy value at some data."""
        drawn = self.model.noises[atom]
        center = drawn.center.constant
        for name, factor in drawn.center.terms:
            center += factor * point[self.entry[str(name)]]
        if (atom, center) not in self.kept:
            scale = as_float(drawn.scale)
            u = (self.line - as_float(center)) / scale
            u = -u if drawn.turned else u
            if drawn.kind == "gaussian":
                from scipy.special import ndtr  # here, because it is slow to import and only real answers need it

                density, below = np.exp(-u * u / 2) / np.sqrt(2 * np.pi), ndtr(u)
            elif drawn.kind == "laplace":
                tail = np.exp(-np.abs(u)) / 2
                density, below = tail, np.where(u < 0, tail, 1 - tail)
            else:
                tail = np.exp(-np.maximum(u, 0))
                density, below = np.where(u < 0, 0, tail), 1 - tail
            self.kept[atom, center] = density / scale, 1 - below if drawn.turned else below
        return self.kept[atom, center]


def climb(
    value: Callable[[Point], float],
    start: Point,
    groups: Sequence[Sequence[int]],
    within: Point,
    inside: Callable[[Point], Point],
) -> tuple[float, Point]:
    """A point with a large value: steps along groups of entries that become smaller where none leads upwards."""
    here, top = start, value(start)
    unit, steps = Rational(2), 0
    while unit >= Rational(1, 2**_FINEST) and steps < _STEPS:
        steps += 1
        tried = [
            inside(tuple(v + sign * unit * within[k] if k in group else v for k, v in enumerate(here)))
            for group in groups
            for sign in (1, -1)
        ]
        best, there = max((value(each), each) for each in tried)
        if best > top + _GAIN * abs(top):
            here, top = there, best
        else:
            unit /= 2
    return top, here
