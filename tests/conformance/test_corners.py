"""Deltas of real answers at one size: known answers, random programs against random data, traps."""

import copy
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from tests.amounts import selected
from tests.certificates import nested, recheck

from privproof import check, gaussian, mechanism, real_queries, smallest_delta
from privproof.compiling.registers import registers
from privproof.compiling.rewriting import Unsupported
from privproof.engines.registers import data_corners as corners
from privproof.engines.registers.data_corners import Corners, Reals
from privproof.exact import epsilon, fraction, rational
from privproof.loading.question_loading import load


@mechanism
def noisy_max(q: real_queries()):
    best, winner = None, 0
    for i, a in enumerate(q):
        noisy = gaussian(a, sigma=4)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def above(q: real_queries()):
    t = gaussian(0, sigma=4)
    for i, a in enumerate(q):
        if gaussian(a, sigma=8) >= t:
            return i
    return -1


@mechanism
def between_bounds(q: real_queries(0, 1)):
    best, winner = None, 0
    for i, a in enumerate(q):
        noisy = gaussian(a, sigma=4)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def between_values(q: real_queries(values=(0, 1))):
    best, winner = None, 0
    for i, a in enumerate(q):
        noisy = gaussian(a, sigma=4)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


KNOWN = [
    (noisy_max, 2, 0.100911140213946),
    (between_values, 2, 0.0951093378034),
    (between_bounds, 2, 0.0951093378034),
    (between_values, 3, 0.1123384316599),
    (between_bounds, 3, 0.1123384316599),
    pytest.param(noisy_max, 3, 0.1142837144, marks=pytest.mark.slow),
    pytest.param(above, 2, 0.0240215633, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("function", "size", "delta"), KNOWN)
def test_known_deltas_of_real_answers(function, size, delta):
    found = smallest_delta(function, "1/10", size=size)
    assert found.verdict.engine == "registers"
    assert float(found.lower) - 1e-10 <= delta <= float(found.upper) + 1e-13
    assert float(found.upper - found.lower) < 2e-9
    again = recheck(nested(found.proof.certificate))
    assert "real entries" in again.statement or function is between_values
    assert found.refutation.status == "refuted"


def test_a_claim_takes_less_than_the_delta():
    found = check(noisy_max, "1/10", "0.1227", size=3)  # by shifts alone
    assert (found.status, found.engine) == ("proved", "registers")
    assert check(noisy_max, "1/10", "0.114", size=3).status == "refuted"
    assert check(noisy_max, "1/10", "0.25", size=8).engine == "registers"


def test_small_deltas_are_refuted_too():
    found = smallest_delta(noisy_max, "12/5", size=2)
    assert 9.28e-13 < float(found.lower) <= float(found.upper) < 9.29e-13


def test_a_refutation_has_real_data():
    found = check(noisy_max, "1/10", "0.1", size=2)
    assert found.status == "refuted"
    assert any(isinstance(value, Fraction) for value in found.witness.left["q"])
    assert recheck(nested(found.certificate)).verdict == "refuted"


@pytest.mark.parametrize("change", [
    lambda c: c["question"].update(delta="1/10"),
    lambda c: c["question"]["inputs"]["q"].update(within="2"),
    lambda c: c["question"].update(size=3),
    lambda c: c["evidence"].update(method="registers"),
    lambda c: next(step for step in c["question"]["code"] if step[0] == "sample")[4].update(factor="3"),
])  # fmt: skip
def test_a_proof_of_something_else_is_refused(change):
    certificate = copy.deepcopy(dict(nested(check(noisy_max, "1/10", "0.10092", size=2).certificate)))
    assert recheck(certificate).verdict == "proved"
    change(certificate)
    assert not hasattr(recheck(certificate), "verdict")


# ---------------------------------------------------------------------------------------------------------------- traps


def test_the_ends_of_a_range_are_not_enough_where_an_answer_pulls_both_ways():
    """Whether a noisy answer lies between two numbers: worst data may lie inside of their range."""

    @mechanism
    def inside(q: real_queries(0, 8, sensitivity=8)):
        low, high = gaussian(2, sigma=1), gaussian(6, sigma=1)
        for a in q:
            noisy = gaussian(a, sigma=1)
            if low < noisy and noisy < high:
                return True
        return False

    found = check(inside, "1/10", "1/10", size=1)
    assert found.engine != "registers" or found.status == "unknown"


TRAPS = {
    "an answer is drawn twice": "for i, a in enumerate(q):\n        if gaussian(a, sigma=4) >= gaussian(a, sigma=4):\n"
    "            return i\n    return -1",
    "an answer counts on both sides": "t = gaussian(q[0], sigma=4)\n    for i, a in enumerate(q):\n        if gaussian(a, sigma=4) >= t:\n"
    "            return i\n    return -1",
    "a half is added on one way": "z = gaussian(q[0], sigma=4)\n    t = gaussian(0, sigma=1)\n    if t >= gaussian(0, sigma=1):\n"
    "        return z >= t\n    return z + 1/2 >= 2 * t",
    "one noise for two answers": "z = gaussian(0, sigma=2)\n    t = gaussian(0, sigma=2)\n"
    "    for i, a in enumerate(q):\n        if z + a >= t:\n"
    "            return i\n    return -1",
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_are_left_to_others(trap, tmp_path):
    made = written(TRAPS[trap], tmp_path)
    with pytest.raises(Unsupported, match=r"real answers|different units"):
        Corners(registers(made, 2), Reals("each", (rational(1),) * 2, (None,) * 2, (None,) * 2), lambda: None)


# -------------------------------------------------------------------------------------------------------------- fuzzing


def written(body, tmp_path):
    """A mechanism with a body, in a file of its own."""
    file = tmp_path / "made.py"
    file.write_text(
        "from privproof import gaussian, laplace, mechanism, queries\n\n\n"
        f"@mechanism\ndef made(q: queries(0, 1)):\n    {body}\n"
    )
    return load(f"{file}:made", size=2, run=True).mechanism


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
GRID = np.concatenate([k + (_NODES + 1) / 2 for k in range(-40, 40)])  # kinks are at whole numbers
WEIGHTS = np.tile(_WEIGHTS / 2, 80)


def density(kind, center, scale):
    """The density of a law on the grid, and its distribution function."""
    u = (GRID - center) / scale
    if kind == "gaussian":
        return np.exp(-u * u / 2) / np.sqrt(2 * np.pi) / scale, ndtr(u)
    tail = np.exp(-np.abs(u)) / 2
    return tail / scale, np.where(u < 0, tail, 1 - tail)


def integral(values):
    return float(np.sum(values * WEIGHTS))


class Extreme:
    """Noisy max or min of answers with noise of different scales."""

    def __init__(self, rnd, size):
        self.scales = [rnd.choice([1, 2, 3]) for _ in range(size)]
        self.kinds = ["gaussian"] * size
        self.sign = rnd.choice([">", "<"])
        lines = ["best, winner = None, 0"]
        for i in range(size):
            lines += [f"z = gaussian(q[{i}], sigma={self.scales[i]})"]
            lines += ["best = z"] if i == 0 else [f"if z {self.sign} best:", "    best = z", f"    winner = {i}"]
        self.body = "\n    ".join([*lines, "return winner"])

    def law(self, data):
        laws = [density(k, a, s) for k, a, s in zip(self.kinds, data, self.scales, strict=True)]
        found = []
        for i, (own, _) in enumerate(laws):
            rest = [f if self.sign == ">" else 1 - f for j, (_, f) in enumerate(laws) if j != i]
            found.append(integral(own * np.prod(rest, axis=0)))
        return found


class First:
    """The first answer beyond a noisy threshold."""

    def __init__(self, rnd, size):
        self.size, self.sign = size, rnd.choice([">", "<"])
        self.kind = rnd.choice(["gaussian", "laplace"])
        self.threshold, self.scale, self.center = rnd.choice([1, 2]), rnd.choice([1, 2]), rnd.choice([0, 1])
        name = "sigma" if self.kind == "gaussian" else "scale"
        self.offset = rnd.choice([0, Fraction(1, 2)])
        lines = [f"t = {self.kind}({self.center}, {name}={self.threshold})", "for i, a in enumerate(q):"]
        lines += [f"    if gaussian(a, sigma={self.scale}) {self.sign} t + {self.offset}:", "        return i"]
        self.body = "\n    ".join([*lines, "return -1"])

    def law(self, data):
        hub, _ = density(self.kind, self.center, self.threshold)
        below = [density("gaussian", a - float(self.offset), self.scale)[1] for a in data]
        stay = below if self.sign == ">" else [1 - f for f in below]
        found, before = [], np.ones_like(GRID)
        for each in stay:
            found.append(integral(hub * before * (1 - each)))
            before = before * each
        return [*found, integral(hub * before)]


@pytest.mark.parametrize("seed", selected(range(120), 3))
def test_no_data_have_more_than_the_bound(seed, tmp_path, monkeypatch):
    """Bounds hold however few boxes there are: random neighbours, and those around the worst that is known."""
    monkeypatch.setattr(corners, "_BOXES", 100)
    rnd = random.Random(seed)
    size = rnd.choice([1, 2, 2, 2])
    made = rnd.choice([Extreme, First] if size > 1 else [First])(rnd, size)
    relation = rnd.choice(["each", "each", "one", "monotone"])
    within = tuple(Fraction(rnd.choice(["1/2", "1", "2"])) for _ in range(size))
    lows = [rnd.choice([None, Fraction(0), Fraction(-1)]) for _ in range(size)]
    highs = [rnd.choice([None, Fraction(1), Fraction(5, 2)]) for _ in range(size)]
    if rnd.random() < 1 / 2:
        lows, highs = [None] * size, [None] * size
    reals = Reals(
        relation,
        tuple(rational(w) for w in within),
        tuple(None if e is None else rational(e) for e in lows),
        tuple(None if e is None else rational(e) for e in highs),
    )
    searched = Corners(registers(written(made.body, tmp_path), size), reals, lambda: None)
    bound = epsilon(rnd.choice(["0", "1/10", "1/2"]))
    found = searched.at(bound.ball(96).exp(), str(bound))
    times = float(bound.ball(53).exp().mid())
    seen = 0.0

    def inside(values):
        low = [-8 if e is None else float(e) for e in lows]
        high = [8 if e is None else float(e) for e in highs]
        return [min(max(v, a), b) for v, a, b in zip(values, low, high, strict=True)]

    for trial in range(150):
        if trial % 3 == 0 and found.left:
            left = inside([float(fraction(v)) + rnd.gauss(0, 0.3) for v in found.left])
        else:
            left = inside([rnd.uniform(-6, 6) for _ in range(size)])
        moves = [float(w) * rnd.choice([1, 1, rnd.random()]) * rnd.choice([1, -1]) for w in within]
        if relation == "one":
            only = rnd.randrange(size)
            moves = [move if k == only else 0 for k, move in enumerate(moves)]
        elif relation == "monotone":
            moves = [abs(move) for move in moves] if rnd.random() < 1 / 2 else [-abs(move) for move in moves]
        right = inside([a + b for a, b in zip(left, moves, strict=True)])
        excess = sum(max(0, p - times * q) for p, q in zip(made.law(left), made.law(right), strict=True))
        seen = max(seen, excess)
        assert excess <= float(fraction(found.upper)) + 1e-8, (made.body, left, right, excess)
    assert seen <= float(fraction(found.upper)) + 1e-8
    if found.left:
        sides = [made.law([float(fraction(v)) for v in side]) for side in (found.left, found.right)]
        shown = [int(str(each.text)) for each in searched.model.outcomes]  # -1, none, is the last of a law
        exact = sum(sides[0][shown[k]] - times * sides[1][shown[k]] for k in found.event)
        assert abs(exact - float(fraction(found.lower))) < 1e-8  # e^-20 lies beyond the grid
