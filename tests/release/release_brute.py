"""Pufferfish releases by the book: definitions by enumeration and in fractions, that share no code with the package.

* `Model` is what an adversary may believe: a first distribution and a matrix for every step; `series` lists all series with their
  probabilities.
* `influence` is the definition of the influence of a quilt, from the joint distribution; `Influences` the same by powers of the
  matrix, for every start, and longer series.
* `worst_score` and `worst_cost` are the literal Markov quilt algorithm: all entries, all quilts, all pairs.
* `laws` are the distributions of a query given the values of an entry; `loss` compares them under noise at every atom, in balls.
* `moved` is the distance W_infinity by the quantile coupling, `moved_by_flow` by the definition: the least w for which a flow exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from random import Random

from flint import arb, arb_mat, ctx, fmpq

Row = tuple[Fraction, ...]
Matrix = tuple[Row, ...]
Answer = tuple[Fraction, ...]
Law = dict[Answer, Fraction]


@contextmanager
def precisely() -> Iterator[None]:
    """The precision of the balls here, and around comparisons of them; what is tested runs with its own."""
    with ctx.workprec(200):
        yield


# ----------------------------------------------------------------------------------------------------------- enumeration


@dataclass(frozen=True)
class Model:
    """A first distribution, and a transition matrix for every step."""

    start: Row
    steps: tuple[Matrix, ...]

    @property
    def length(self) -> int:
        return len(self.steps) + 1


def homogeneous(start: Row, matrix: Matrix, length: int) -> Model:
    return Model(start, (matrix,) * (length - 1))


def series(model: Model) -> dict[tuple[int, ...], Fraction]:
    """All series that are possible, with their probabilities."""
    result = {}
    for values in product(range(len(model.start)), repeat=model.length):
        chance = model.start[values[0]]
        for step, (here, there) in zip(model.steps, pairwise(values), strict=True):
            chance *= step[here][there]
        if chance:
            result[values] = chance
    return result


def influence(joint: Mapping[tuple[int, ...], Fraction], node: int, quilt: Sequence[int]) -> Fraction | None:
    """``max Pr(quilt = z | X_node = x) / Pr(quilt = z | X_node = x')`` over possible x, x' and z; None where it is infinite."""
    given: dict[int, dict[tuple[int, ...], Fraction]] = {}
    for values, chance in joint.items():
        seen = tuple(values[i - 1] for i in quilt)
        table = given.setdefault(values[node - 1], {})
        table[seen] = table.get(seen, Fraction(0)) + chance
    totals = {x: sum(table.values()) for x, table in given.items()}
    worst = Fraction(1)
    for x, left in given.items():
        for y, right in given.items():
            for seen, chance in left.items() if x != y else ():
                if not right.get(seen):
                    return None
                worst = max(worst, chance / totals[x] / (right[seen] / totals[y]))
    return worst


# ---------------------------------------------------------------------------------------------------- quilts by powers


def times(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return tuple(
        tuple(sum((a * b for a, b in zip(row, col, strict=True)), Fraction(0)) for col in columns) for row in left
    )


class Influences:
    """The influence of quilts on chains, by powers of the matrix; a start of None is any start.

    With `reachable`, quilt values that are impossible are left out on the left side, as the definition has it; without, all rows of the
    powers count, as in the published algorithm.
    """

    def __init__(self, matrix: Matrix, start: Row | None, *, reachable: bool) -> None:
        self.matrix, self.start, self.reachable, self.size = matrix, start, reachable, len(matrix)
        self.powers: list[Matrix] = [
            tuple(tuple(Fraction(int(i == j)) for j in range(self.size)) for i in range(self.size))
        ]
        self.rows: list[Row] = [] if start is None else [start]
        self.forth = cache(self._forth)
        self.back = cache(self._back)

    def power(self, n: int) -> Matrix:
        while len(self.powers) <= n:
            self.powers.append(times(self.powers[-1], self.matrix))
        return self.powers[n]

    def row(self, node: int) -> Row:
        while len(self.rows) < node:
            self.rows.append(times((self.rows[-1],), self.matrix)[0])
        return self.rows[node - 1]

    def possible(self, node: int) -> list[int]:
        """The values that an entry may have."""
        if self.start is None:
            return [x for x in range(self.size) if any(row[x] for row in self.power(node - 1))]
        return [x for x in range(self.size) if self.row(node)[x]]

    def _forth(self, n: int, x: int, y: int) -> Fraction | None:
        return largest_ratio(self.power(n)[x], self.power(n)[y])

    def _back(self, node: int, n: int, x: int, y: int) -> Fraction | None:
        """``m(y)/m(x) max_z P^n(z, x)/P^n(z, y)``, where m is the distribution of the entry; the largest over all starts."""
        rows = self.power(n)
        if self.start is not None and self.reachable:
            rows = tuple(row for row, chance in zip(rows, self.row(node - n), strict=True) if chance)
        told = largest_ratio([row[x] for row in rows], [row[y] for row in rows])
        if self.start is None:
            before = self.power(node - 1)
            prior = largest_ratio([row[y] for row in before], [row[x] for row in before])
        else:
            prior = self.row(node)[y] / self.row(node)[x]
        return None if told is None or prior is None else told * prior

    def of(self, node: int, left: int | None, right: int | None) -> Fraction | None:
        """The influence of the quilt at these distances, as a ratio; None where it is infinite."""
        worst = Fraction(1)
        for x in self.possible(node):
            for y in self.possible(node):
                if x != y:
                    sides = [] if left is None else [self.back(node, left, x, y)]
                    sides += [] if right is None else [self.forth(right, x, y)]
                    if None in sides:
                        return None
                    told = Fraction(1)
                    for side in sides:
                        told *= side
                    worst = max(worst, told)
        return worst


def largest_ratio(above: Sequence[Fraction], below: Sequence[Fraction]) -> Fraction | None:
    """The largest of ``a/b``, without those with a = 0; None where it is infinite."""
    worst = Fraction(0)
    for a, b in zip(above, below, strict=True):
        if a and not b:
            return None
        worst = max(worst, a / b) if a else worst
    return worst


def quilts_of(node: int, length: int) -> Iterator[tuple[int | None, int | None, int]]:
    """All quilts of an entry, as distances, with the number of entries between them."""
    yield None, None, length
    for a in range(1, node):
        yield a, None, length - node + a
        for b in range(1, length - node + 1):
            yield a, b, a + b - 1
    for b in range(1, length - node + 1):
        yield None, b, node + b - 1


def nodes_with_secrets(told: Influences, length: int) -> list[int]:
    return [node for node in range(1, length + 1) if len(told.possible(node)) > 1]


def worst_score(told: Influences, length: int, epsilon: Fraction) -> tuple[float, int, tuple[int, ...]]:
    """``max over entries of min over quilts of size / (epsilon - influence)``, with the entry and its quilt; 0 where nothing is secret."""
    return _worst(told, length, lambda size, e: size / (_ball(epsilon) - e) if e < _ball(epsilon) else None)


def worst_cost(told: Influences, length: int, rate: Fraction) -> tuple[float, int, tuple[int, ...]]:
    """``max over entries of min over quilts of influence + size * rate``."""
    return _worst(told, length, lambda size, e: e + size * _ball(rate))


@precisely()
def _worst(
    told: Influences, length: int, value: Callable[[int, arb], arb | None]
) -> tuple[float, int, tuple[int, ...]]:
    worst: tuple[float, int, tuple[int, ...]] = (0.0, 0, ())
    for node in nodes_with_secrets(told, length):
        best: tuple[float, tuple[int, ...]] | None = None
        for a, b, size in quilts_of(node, length):
            ratio = told.of(node, a, b)
            found = None if ratio is None else value(size, logarithm(ratio))
            if found is not None and (best is None or float(found) < best[0]):
                best = float(found), (*(() if a is None else (node - a,)), *(() if b is None else (node + b,)))
        assert best is not None
        if best[0] > worst[0]:
            worst = best[0], node, best[1]
    return worst


# ----------------------------------------------------------------------------------------------- balls, laws and losses


@precisely()
def exact(value: Fraction | int) -> arb:
    return _ball(value)


def _ball(value: Fraction | int) -> arb:
    """A number at the precision around."""
    return arb(fmpq(Fraction(value).numerator, Fraction(value).denominator))


@cache
@precisely()
def logarithm(value: Fraction) -> arb:
    return _ball(value).log()


def sums(weights: Sequence[Fraction]) -> Callable[[tuple[int, ...]], Answer]:
    """The query that adds a weight for every entry."""
    return lambda values: (sum((weights[x] for x in values), Fraction(0)),)


def counts(size: int) -> Callable[[tuple[int, ...]], Answer]:
    """The histogram."""
    return lambda values: tuple(Fraction(values.count(x)) for x in range(size))


def laws(model: Model, query: Callable[[tuple[int, ...]], Answer]) -> list[dict[int, Law]]:
    """For every entry and every possible value of it the distribution of the answer."""
    result: list[dict[int, Law]] = [{} for _ in range(model.length)]
    for values, chance in series(model).items():
        answer = query(values)
        for table, x in zip(result, values, strict=True):
            law = table.setdefault(x, {})
            law[answer] = law.get(answer, Fraction(0)) + chance
    for table in result:
        for x, law in table.items():
            total = sum(law.values())
            table[x] = {answer: chance / total for answer, chance in law.items()}
    return result


Kernel = Callable[[Fraction], arb]


def laplace(scale: Fraction) -> Kernel:
    """``e^(-d/scale)``."""
    return cache(precisely()(lambda distance: (-_ball(distance / scale)).exp()))


def geometric(alpha: Fraction, step: Fraction) -> Kernel:
    """``alpha^(d/step)``, for distances that are whole steps."""

    @precisely()
    def weight(distance: Fraction) -> arb:
        steps = distance / step
        assert steps.denominator == 1, f"{distance} is no multiple of {step}"
        return _ball(alpha) ** int(steps)

    return cache(weight)


@precisely()
def loss(tables: Sequence[Mapping[int, Law]], kernel: Kernel, *, outputs: Sequence[Answer] = ()) -> arb:
    """The largest logarithm of the ratio of two densities of the noisy answer, over entries, values, and all atoms (or given outputs).

    Noise is added to every component; ratios of such mixtures are largest at the grid of atoms.
    """
    worst = arb(0)
    for table in tables:
        if len(table) < 2:
            continue
        atoms = sorted({answer for law in table.values() for answer in law})
        places = outputs or list(product(*(sorted(set(component)) for component in zip(*atoms, strict=True))))
        noise = []
        for place in places:
            for atom in atoms:
                weight = arb(1)
                for z, c in zip(place, atom, strict=True):
                    weight *= kernel(abs(z - c))
                noise.append(weight)
        masses = [_ball(law.get(atom, Fraction(0))) for atom in atoms for law in table.values()]
        mixed = arb_mat(len(places), len(atoms), noise) * arb_mat(len(atoms), len(table), masses)
        for place in range(len(places)):
            row = [mixed[place, x] for x in range(len(table))]
            largest, least = row[0], row[0]
            for value in row[1:]:
                largest, least = largest.max(value), least.min(value)
            worst = worst.max((largest / least).log())
    return worst


# ------------------------------------------------------------------------------------------------------------- distances


def moved(left: Mapping[Fraction, Fraction], right: Mapping[Fraction, Fraction]) -> Fraction:
    """W_infinity by the quantile coupling: mass is moved in order."""
    first, second = [sorted((c, p) for c, p in law.items() if p) for law in (left, right)]
    worst, i, j = Fraction(0), 0, 0
    here, there = first[0][1], second[0][1]
    while True:
        worst = max(worst, abs(first[i][0] - second[j][0]))
        slice_ = min(here, there)
        here, there = here - slice_, there - slice_
        if here == 0:
            i += 1
            here = first[i][1] if i < len(first) else Fraction(0)
        if there == 0:
            j += 1
            there = second[j][1] if j < len(second) else Fraction(0)
        if i == len(first) or j == len(second):
            assert i == len(first)
            assert j == len(second)
            return worst


def moved_by_flow(left: Mapping[Fraction, Fraction], right: Mapping[Fraction, Fraction]) -> Fraction:
    """W_infinity by its definition: the least w for which all mass flows along pairs of atoms at most w apart."""
    atoms = [(c, p) for c, p in left.items() if p], [(c, p) for c, p in right.items() if p]
    for w in sorted({abs(a - b) for a, _ in atoms[0] for b, _ in atoms[1]}):
        if _flow(atoms[0], atoms[1], w) == 1:
            return w
    raise AssertionError("no coupling at all")


def _flow(
    left: Sequence[tuple[Fraction, Fraction]], right: Sequence[tuple[Fraction, Fraction]], w: Fraction
) -> Fraction:
    """The largest flow, by augmenting paths."""
    source, sink = "source", "sink"
    free: dict[object, dict[object, Fraction]] = {source: {}, sink: {}}
    for i, (_, p) in enumerate(left):
        free[source][("l", i)] = p
        free[("l", i)] = {}
    for j, (_, p) in enumerate(right):
        free[("r", j)] = {sink: p}
    for i, (a, _) in enumerate(left):
        for j, (b, _) in enumerate(right):
            if abs(a - b) <= w:
                free[("l", i)][("r", j)] = Fraction(2)
    total = Fraction(0)
    while True:
        came: dict[object, object] = {source: source}
        queue: list[object] = [source]
        for here in queue:
            for there, capacity in free[here].items():
                if capacity and there not in came:
                    came[there] = here
                    queue.append(there)
        if sink not in came:
            return total
        path: list[tuple[object, object]] = []
        end: object = sink
        while end != source:
            path.append((came[end], end))
            end = came[end]
        amount = min(free[a][b] for a, b in path)
        for a, b in path:
            free[a][b] -= amount
            free[b][a] = free[b].get(a, Fraction(0)) + amount
        total += amount


# -------------------------------------------------------------------------------------------------------- random instances


def random_row(random: Random, size: int, *, zeros: bool) -> Row:
    """A distribution: even, uneven, or with impossible values."""
    while True:
        parts = [random.choice((1, 1, 2, 3, 5, 8, 20, 100)) for _ in range(size)]
        if zeros:
            parts = [part * random.randint(0, 1) for part in parts]
        if any(parts):
            return tuple(Fraction(part, sum(parts)) for part in parts)


def random_matrix(random: Random, size: int) -> Matrix:
    """A transition matrix: full, sparse, a permutation, lazy, in two parts, with one row for all, or with a value that nothing leads to."""
    kind = random.choice(("full", "full", "full", "sparse", "sparse", "permutation", "lazy", "equal", "transient"))
    if kind == "permutation":
        order = random.sample(range(size), size)
        return tuple(tuple(Fraction(int(j == order[i])) for j in range(size)) for i in range(size))
    if kind == "equal":
        return (random_row(random, size, zeros=False),) * size
    rows = tuple(random_row(random, size, zeros=kind == "sparse") for _ in range(size))
    if kind == "lazy":
        stay = random.choice((Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)))
        return tuple(
            tuple((1 - stay) * p + (stay if i == j else 0) for j, p in enumerate(row)) for i, row in enumerate(rows)
        )
    if kind == "transient":
        return tuple(
            tuple(Fraction(0) if j == size - 1 else p / (1 - row[-1]) for j, p in enumerate(row)) for row in rows
        )
    return rows


def random_start(random: Random, size: int) -> Row:
    """A first distribution: even or uneven, perhaps with impossible values, perhaps one value alone."""
    if random.random() < 0.2:
        only = random.randrange(size)
        return tuple(Fraction(int(x == only)) for x in range(size))
    return random_row(random, size, zeros=random.random() < 0.3)


def starts_to_try(random: Random, size: int, number: int) -> Iterator[Row]:
    """Starts for a prior that allows any: pairs of values near and far from certain, and random ones."""
    for x in range(size):
        for y in range(size):
            for share in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**9)) if x != y else ():
                yield tuple((1 - share) * int(z == x) + share * int(z == y) for z in range(size))
    for _ in range(number):
        yield random_start(random, size)
