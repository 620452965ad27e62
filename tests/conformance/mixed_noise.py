"""Random mechanisms with noise of all kinds mixed, and their deltas by plain numerical integration.

A mechanism is made of one or two blocks (a noisy threshold, the largest of noisy answers, a count of passes, a noisy test, a noisy
number that is shown, ...), as text and as a law: what is shown with which probability, and the densities of noisy numbers in it.
The laws are computed here from the definitions, on grids, in floats; they share nothing with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import numpy as np
from scipy.special import ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
REACH = 80
HUB = np.concatenate([k + (_NODES + 1) / 2 for k in np.arange(-REACH, REACH)])
"""Where an integral over a noisy threshold is evaluated: kinks are at whole numbers."""
HUB_WEIGHTS = np.tile(_WEIGHTS / 2, 2 * REACH)
SHOWN = np.linspace(-REACH, REACH, 2 * REACH * 400 + 1)
"""Where the density of a number that is shown is evaluated."""
STEP = SHOWN[1] - SHOWN[0]
EXACT, SUMMED = 1e-8, 3e-6
"""By how much a delta is off: of discrete outcomes and closed formulas; of sums over the density of a number that is shown."""

Label = tuple[Any, ...]


@dataclass(frozen=True)
class Noise:
    """A kind of noise and its scale, a whole number or a fraction as text."""

    kind: str
    scale: str

    @property
    def size(self) -> float:
        top, _, bottom = self.scale.partition("/")
        return float(top) / float(bottom or 1)

    @property
    def whole(self) -> bool:
        return self.kind in ("discrete_gaussian", "geometric")

    def text(self, center: str) -> str:
        name = {"gaussian": "sigma", "discrete_gaussian": "variance", "geometric": "alpha"}.get(self.kind, "scale")
        value = f'"{self.scale}"' if "/" in self.scale else self.scale
        return f"{self.kind}({center}, {name}={value})"

    def density(self, x: np.ndarray, center: float) -> np.ndarray:
        u = (x - center) / self.size
        if self.kind == "gaussian":
            return np.exp(-u * u / 2) / math.sqrt(2 * math.pi) / self.size
        return np.exp(-np.abs(u)) / 2 / self.size

    def below(self, x: np.ndarray, center: float) -> np.ndarray:
        u = (x - center) / self.size
        if self.kind == "gaussian":
            return ndtr(u)
        tail = np.exp(-np.abs(u)) / 2
        return np.where(u < 0, tail, 1 - tail)

    def table(self, center: int) -> dict[int, float]:
        """The law of a noisy whole number."""
        if self.kind == "geometric":
            a = self.size
            return {center + k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-60, 61)}
        weights = {k: math.exp(-k * k / (2 * self.size)) for k in range(-60, 61)}
        total = sum(weights.values())
        return {center + k: w / total for k, w in weights.items()}


@dataclass(frozen=True)
class Shown:
    """A number with noise of its own that is shown."""

    noise: Noise
    center: float


@dataclass
class Outcomes:
    """What is shown: probabilities of labels, fresh numbers beside them, or the density of one number."""

    masses: dict[Label, float] = field(default_factory=dict)
    fresh: tuple[Shown, ...] = ()
    densities: dict[Label, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """A part of a mechanism: a function of the data, as lines of text and as a law."""

    lines: tuple[str, ...]
    law: Callable[[Sequence[int]], Outcomes]
    name: str


# --------------------------------------------------------------------------------------------------------------- blocks


def _continuous(rnd: Random) -> Noise:
    return Noise(rnd.choice(["gaussian", "gaussian", "laplace"]), rnd.choice(["1", "2", "3", "3/2"]))


def _whole(rnd: Random) -> Noise:
    if rnd.random() < 1 / 2:
        return Noise("discrete_gaussian", rnd.choice(["1", "2", "5/2", "4"]))
    return Noise("geometric", rnd.choice(["1/2", "1/3", "2/3"]))


STATISTICS: dict[str, Callable[[Sequence[int]], int]] = {
    "sum(q)": sum,
    "q[0]": lambda q: q[0],
    "q.count(0)": lambda q: list(q).count(0),
    "max(q)": max,
    "min(sum(q), 2)": lambda q: min(sum(q), 2),
    "sum(1 for x in q if x > 0)": lambda q: sum(x > 0 for x in q),
    "2 * q[-1] - 1": lambda q: 2 * q[-1] - 1,
    "q[0] - q[-1]": lambda q: q[0] - q[-1],
    "max(0, min(1, sum(q) - 1))": lambda q: max(0, min(1, sum(q) - 1)),
}


def threshold(rnd: Random) -> Block:
    """The first answer beyond a noisy threshold."""
    hub, noise, center = _continuous(rnd), _continuous(rnd), rnd.choice([0, 1])
    sign, offset = rnd.choice([">", "<", ">=", "<="]), rnd.choice([0, 0, 1])
    beyond = f"t + {offset}" if offset else "t"
    lines = [f"t = {hub.text(str(center))}", "for i, a in enumerate(q):"]
    lines += [f"    if {noise.text('a')} {sign} {beyond}:", "        return i", "return -1"]

    def law(q: Sequence[int]) -> Outcomes:
        before = HUB_WEIGHTS * hub.density(HUB, center)
        found: dict[Label, float] = {}
        for i, a in enumerate(q):
            passes = noise.below(HUB + offset, a)
            passes = 1 - passes if sign[0] == ">" else passes
            found[i,] = float(np.sum(before * passes))
            before = before * (1 - passes)
        found[-1,] = float(np.sum(before))
        return Outcomes(found)

    return Block(tuple(lines), law, "threshold")


def extreme(rnd: Random) -> Block:
    """The place of the largest, or least, of noisy answers; some with its noisy value."""
    noise, sign, value = _continuous(rnd), rnd.choice([">", "<"]), rnd.random() < 1 / 4
    written = rnd.choice(["loop", "list"]) if sign == ">" else "loop"
    if written == "list":
        lines = [f"noisy = [{noise.text('a')} for a in q]"]
        lines += ["return noisy.index(max(noisy)), max(noisy)" if value else "return noisy.index(max(noisy))"]
    else:
        lines = ["best, place = None, 0", "for i, a in enumerate(q):", f"    z = {noise.text('a')}"]
        lines += [f"    if best is None or z {sign} best:", "        best, place = z, i"]
        lines += ["return place, best" if value else "return place"]

    def law(q: Sequence[int]) -> Outcomes:
        grid = SHOWN if value else HUB
        below = [noise.below(grid, a) for a in q]
        rest = below if sign == ">" else [1 - f for f in below]
        found = {}
        for i, a in enumerate(q):
            found[i,] = noise.density(grid, a) * np.prod(
                [f for j, f in enumerate(rest) if j != i] or [1 + 0 * grid], axis=0
            )
        if value:
            return Outcomes(densities=found)
        return Outcomes({label: float(np.sum(each * HUB_WEIGHTS)) for label, each in found.items()})

    return Block(tuple(lines), law, "extreme with its value" if value else "extreme")


def passes(rnd: Random) -> Block:
    """How many answers pass a noisy threshold."""
    hub, noise = _continuous(rnd), _continuous(rnd)
    lines = [
        f"t = {hub.text('0')}",
        "c = 0",
        "for a in q:",
        f"    if {noise.text('a')} > t:",
        "        c += 1",
        "return c",
    ]

    def law(q: Sequence[int]) -> Outcomes:
        found = {0: HUB_WEIGHTS * hub.density(HUB, 0)}
        for a in q:
            up = 1 - noise.below(HUB, a)
            found = {
                c: found.get(c, 0 * HUB) * (1 - up) + found.get(c - 1, 0 * HUB) * up for c in range(len(found) + 1)
            }
        return Outcomes({(c,): float(np.sum(each)) for c, each in found.items()})

    return Block(tuple(lines), law, "passes")


def noisy_test(rnd: Random) -> Block:
    """Whether a noisy number passes a constant."""
    noise = rnd.choice([_continuous, _whole])(rnd)
    text, value = rnd.choice(list(STATISTICS.items()))
    sign, end = rnd.choice([">", ">="]), rnd.choice([-1, 0, 1, 2])
    lines = [f"return {noise.text(text)} {sign} {end}"]

    def law(q: Sequence[int]) -> Outcomes:
        if noise.whole:
            up = sum(p for x, p in noise.table(value(q)).items() if x > end or (sign == ">=" and x == end))
        else:
            up = 1 - float(noise.below(np.array([float(end)]), value(q))[0])
        return Outcomes({(True,): up, (False,): 1 - up})

    return Block(tuple(lines), law, "test")


def response(rnd: Random) -> Block:
    """Randomised response about a test of the data."""
    text, value = rnd.choice(list(STATISTICS.items()))
    truth, end = rnd.choice(["3/4", "2/3", "9/10"]), rnd.choice([0, 1])
    lines = [f'return randomized_response({text} > {end}, truth="{truth}")']

    def law(q: Sequence[int]) -> Outcomes:
        top, bottom = truth.split("/")
        p, actual = int(top) / int(bottom), value(q) > end
        return Outcomes({(actual,): p, (not actual,): 1 - p})

    return Block(tuple(lines), law, "response")


def number(rnd: Random) -> Block:
    """A number with continuous noise."""
    noise = _continuous(rnd)
    text, value = rnd.choice(list(STATISTICS.items()))
    return Block((f"return {noise.text(text)}",), lambda q: Outcomes({(): 1.0}, (Shown(noise, value(q)),)), "number")


def histogram(rnd: Random) -> Block:
    """Two noisy counts."""
    one, two = _continuous(rnd), _continuous(rnd)
    first, second = rnd.sample(list(STATISTICS), 2)
    lines = [f"return {one.text(first)}, {two.text(second)}"]

    def law(q: Sequence[int]) -> Outcomes:
        return Outcomes({(): 1.0}, (Shown(one, STATISTICS[first](q)), Shown(two, STATISTICS[second](q))))

    return Block(tuple(lines), law, "histogram")


def whole_number(rnd: Random) -> Block:
    """A noisy whole number, some clamped."""
    noise, clamped = _whole(rnd), rnd.random() < 1 / 2
    text, value = rnd.choice(list(STATISTICS.items()))
    low, high = rnd.choice([(0, 2), (-1, 1), (0, 5)])
    drawn = noise.text(text)
    lines = [f"return max({low}, min({high}, {drawn}))" if clamped else f"return {drawn}"]

    def law(q: Sequence[int]) -> Outcomes:
        found: dict[Label, float] = {}
        for x, p in noise.table(value(q)).items():
            label = (max(low, min(high, x)) if clamped else x,)
            found[label] = found.get(label, 0.0) + p
        return Outcomes(found)

    return Block(tuple(lines), law, "clamped whole number" if clamped else "whole number")


def whole_comparison(rnd: Random) -> Block:
    """Which of two noisy whole numbers is larger."""
    one, two, sign = _whole(rnd), _whole(rnd), rnd.choice([">", ">="])
    first, second = rnd.sample(list(STATISTICS), 2)
    lines = [f"a = {one.text(first)}", f"b = {two.text(second)}", f"return a {sign} b"]

    def law(q: Sequence[int]) -> Outcomes:
        left, right = one.table(STATISTICS[first](q)), two.table(STATISTICS[second](q))
        up = sum(
            p * r for x, p in left.items() for y, r in right.items() if x > y or (sign == ">=" and x == y)
        )  # fmt: skip
        return Outcomes({(True,): up, (False,): 1 - up})

    return Block(tuple(lines), law, "comparison of whole numbers")


def shown_beyond(rnd: Random) -> Block:
    """A noisy number that is shown where it passes a constant."""
    noise, end = _continuous(rnd), rnd.choice([0, 1, 2])
    text, value = rnd.choice(list(STATISTICS.items()))
    lines = [f"z = {noise.text(text)}", f"if z > {end}:", "    return z", "return None"]

    def law(q: Sequence[int]) -> Outcomes:
        below = float(noise.below(np.array([float(end)]), value(q))[0])
        inside = np.where(end + STEP / 2 < SHOWN, 1.0, np.where(end - STEP / 2 < SHOWN, 0.5, 0.0))
        return Outcomes({("none",): below}, densities={("beyond",): noise.density(SHOWN, value(q)) * inside})

    return Block(tuple(lines), law, "number beyond a constant")


DISCRETE = [threshold, threshold, extreme, extreme, passes, noisy_test, response, whole_number, whole_comparison]
ANY = [*DISCRETE, number, number, histogram, shown_beyond]


# ----------------------------------------------------------------------------------------------------------- mechanisms


@dataclass(frozen=True)
class Made:
    """A mechanism: its text, its data, and its law.

    Attributes:
        text: a module with the function `made`.
        values: the values of an entry.
        relation: which data sets are neighbours.
        blocks: what it is made of.
    """

    text: str
    values: tuple[int, ...]
    relation: str
    blocks: tuple[Block, ...]
    way: str

    @property
    def kind(self) -> str:
        return f"{self.way}: {', '.join(block.name for block in self.blocks)}"

    def law(self, q: Sequence[int]) -> list[Outcomes]:
        """What is shown; the outcomes of the items of the list are different from one another."""
        first = self.blocks[0].law(q)
        if len(self.blocks) == 1:
            return [first]
        second = self.blocks[1].law(q)
        found = []
        for label, p in first.masses.items():
            if self.way == "then" and label[0] != _asked(self.blocks[0]):
                found.append(Outcomes({(*label, "stop"): p}))
                continue
            masses = {(*label, *other): p * r for other, r in second.masses.items()}
            densities = {(*label, *other): p * r for other, r in second.densities.items()}
            found.append(Outcomes(masses, second.fresh, densities))
        return found

    def pairs(self, size: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """All ordered pairs of different neighbours."""
        for left, right in product(product(self.values, repeat=size), repeat=2):
            moves = [b - a for a, b in zip(left, right, strict=True)]
            if not any(moves):
                continue
            if self.relation == "records":
                near = sum(move != 0 for move in moves) == 1
            else:
                near = all(abs(move) <= 1 for move in moves)
                near &= self.relation != "one" or sum(move != 0 for move in moves) == 1
                near &= self.relation != "monotone" or all(m >= 0 for m in moves) or all(m <= 0 for m in moves)
            if near:
                yield left, right

    def delta(self, size: int, epsilon: float) -> tuple[float, float]:
        """The largest excess of all neighbours, and by how much it may be off."""
        laws = {q: self.law(q) for q in product(self.values, repeat=size)}
        best, off = 0.0, EXACT
        for left, right in self.pairs(size):
            value, error = excess(laws[left], laws[right], epsilon)
            best, off = max(best, value), max(off, error)
        return best, off


def _asked(block: Block) -> Any:
    return True if block.name in ("test", "response", "comparison of whole numbers") else 0


def make(rnd: Random) -> Made:
    """A random mechanism."""
    way = rnd.choice(["alone", "alone", "both", "then"])
    if way == "alone":
        blocks = (rnd.choice(ANY)(rnd),)
    else:
        first = rnd.choice(DISCRETE)(rnd)
        while not first.law((0,)).masses:
            first = rnd.choice(DISCRETE)(rnd)
        blocks = (first, rnd.choice(ANY)(rnd))
    relation = rnd.choice(["each", "each", "one", "monotone", "records", "records"])
    values = (0, 1, 2) if rnd.random() < 1 / 4 else (0, 1)
    names = "discrete_gaussian, gaussian, geometric, laplace, mechanism, queries, randomized_response, records"
    lines = [f"from privproof import {names}", "", ""]
    if way != "alone":
        for k, block in enumerate(blocks):
            lines += [f"def block{k}(q):", *("    " + line for line in block.lines), "", ""]
    if relation == "records":
        declared = f"records({', '.join(map(str, values))})"
    else:
        declared = f"queries({values[0]}, {values[-1]})"
    marked = f'@mechanism(neighbours="{relation}")' if relation in ("one", "monotone") else "@mechanism"
    lines += [marked, f"def made(q: {declared}):"]
    if way == "alone":
        lines += ["    " + line for line in blocks[0].lines]
    elif way == "both":
        lines += ["    first = block0(q)", "    return first, block1(q)"]
    else:
        lines += ["    first = block0(q)", f"    if first == {_asked(blocks[0])}:", "        return first, block1(q)"]
        lines += ['    return first, "stop"']
    return Made("\n".join(lines) + "\n", values, relation, blocks, way)


# ------------------------------------------------------------------------------------------------------------- excesses


def excess(left: Sequence[Outcomes], right: Sequence[Outcomes], epsilon: float) -> tuple[float, float]:
    """The largest excess of an event, and by how much it may be off."""
    c, total, off = math.exp(epsilon), 0.0, EXACT
    others = {label: (q, each.fresh) for each in right for label, q in each.masses.items()}
    dense = {label: values for each in right for label, values in each.densities.items()}
    for each in left:
        for label, p in each.masses.items():
            q, fresh = others.get(label, (0.0, each.fresh))
            moves = [(a.noise, abs(a.center - b.center)) for a, b in zip(each.fresh, fresh, strict=True)]
            value, error = _of_moves(p, c * q, [move for move in moves if move[1]])
            total, off = total + value, max(off, error)
        for label, values in each.densities.items():
            gap = values - c * dense[label] if label in dense else values
            total += float(np.sum(np.maximum(gap, 0)) * STEP)
            off = SUMMED
    return total, off


def _of_moves(p: float, q: float, moves: list[tuple[Noise, float]]) -> tuple[float, float]:
    """The excess of fresh numbers that move, with masses p and q (times e^epsilon)."""
    if q == 0 or p == 0:
        return p, EXACT
    if not moves:
        return max(0.0, p - q), EXACT
    square = sum((by / noise.size) ** 2 for noise, by in moves if noise.kind == "gaussian")
    sharp = [by / noise.size for noise, by in moves if noise.kind == "laplace"]
    inner = _normal(math.sqrt(square)) if square else _laplace(sharp.pop())
    if not sharp:
        return float(p * inner(np.array([math.log(q / p)]))[0]), EXACT
    # one Laplace number outside, in units of its scale, around 0 on the left and moved on the right
    by = sharp.pop()
    density = np.exp(-np.abs(SHOWN)) / 2
    loss = np.abs(SHOWN - by) - np.abs(SHOWN)
    assert not sharp
    return float(p * np.sum(density * inner(math.log(q / p) - loss)) * STEP), SUMMED


def _normal(mu: float) -> Callable[[np.ndarray], np.ndarray]:
    def curve(e: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            found = ndtr(mu / 2 - e / mu) - np.exp(np.minimum(e, 600)) * ndtr(-mu / 2 - e / mu)
        return np.maximum(found, 0)

    return curve


def _laplace(by: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda e: np.maximum(1 - np.exp(np.where(e <= -by, e, np.where(e >= by, 0, (e - by) / 2))), 0)


# ---------------------------------------------------------------------------------------------------------- other measures


def moment(left: Sequence[Outcomes], right: Sequence[Outcomes], order: float) -> float:
    """The sum of ``P^a Q^(1-a)``: infinite where something is impossible on the right alone."""
    total = 0.0
    others = {label: (q, each.fresh) for each in right for label, q in each.masses.items()}
    dense = {label: values for each in right for label, values in each.densities.items()}
    for each in left:
        for label, p in each.masses.items():
            q, fresh = others.get(label, (0.0, each.fresh))
            if p < 1e-25:  # what is left out of the law of a whole number
                continue
            if q == 0:
                return math.inf
            value = p**order * q ** (1 - order)
            for a, b in zip(each.fresh, fresh, strict=True):
                value *= _noise_moment(a.noise, abs(a.center - b.center) / a.noise.size, order)
            total += value
        for label, values in each.densities.items():
            inside = values > 1e-30
            if label not in dense:
                return math.inf
            with np.errstate(divide="ignore"):
                total += float(np.sum(values[inside] ** order * dense[label][inside] ** (1 - order)) * STEP)
    return total


def _noise_moment(noise: Noise, by: float, a: float) -> float:
    if noise.kind == "gaussian":
        return math.exp(a * (a - 1) * by * by / 2)
    return (a * math.exp((a - 1) * by) + (a - 1) * math.exp(-a * by)) / (2 * a - 1)


def composed(left: Sequence[Outcomes], right: Sequence[Outcomes], epsilon: float) -> float | None:
    """The largest excess of two uses, where nothing but labels is shown."""
    laws = []
    for side in (left, right):
        if any(each.fresh or each.densities for each in side):
            return None
        laws.append({label: p for each in side for label, p in each.masses.items()})
    p, q = (np.array([law.get(label, 0.0) for label in laws[0]]) for law in laws)
    return float(np.sum(np.maximum(np.outer(p, p) - math.exp(epsilon) * np.outer(q, q), 0)))
