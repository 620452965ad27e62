"""Paths between cuts as data: the noise drawn, the elements read, what must hold for the second run, and the state behind them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction

from privproof.engines.laplace.kept import Kept
from privproof.engines.laplace.solver import z3
from privproof.engines.laplace.values import Term, Value, number, real, size_of
from privproof.language.laws import GAUSSIAN, WHOLE
from privproof.language.syntax import Place


@dataclass(frozen=True)
class Read:
    """An element of a private input that is read on a path.

    Attributes:
        source: the input.
        index: where.
        value: the element in the first run.
        distance: how far it is from that in the second.
        hidden: whether which element it is depends on noise, so that no shift may speak of it.
        square: the square of the distance, where all distances are within a norm that counts squares.
    """

    source: str
    index: Term
    value: Term
    distance: Term
    hidden: bool = False
    square: Term = None


@dataclass(frozen=True)
class DrawnNoise:
    """Noise drawn on a path.

    Attributes:
        instruction: the number of the instruction.
        kind: ``laplace``, ``exponential``, ``gumbel``, ``geometric``, ``gaussian`` or ``discrete_gaussian``.
        factor: the rational part of the scale; of discrete Gaussian noise its variance.
        group: the public numbers in the scale, the logarithm that geometric noise is counted in, or squares.
        shift: the symbol of its shift; of noise on the integers a whole number.
        distances: the distances, at this moment, of the variables that are free of noise.
        tests: how many tests of the path come before.
        reads: how many reads of the path come before.
        reach: a bound on the size of the shift of Gaussian noise.
        promised: what counts a promise that is given of it, and whether it is given, as 1 or 0.
    """

    instruction: int
    kind: str
    factor: Fraction
    group: tuple[str, ...]
    shift: Term
    distances: Mapping[str, Term]
    tests: int = 0
    reads: int = 0
    reach: Fraction = Fraction(0)
    promised: tuple[tuple[str, ...], Term] | None = None

    @property
    def whole(self) -> bool:
        """Whether its shifts are whole numbers."""
        return self.kind in WHOLE

    @property
    def settled(self) -> bool:
        """Whether its shift may depend on what comes before alone: that of Gaussian noise."""
        return self.kind in GAUSSIAN

    @property
    def variance(self) -> Fraction:
        """The variance of Gaussian noise; that of discrete noise is the number that it is given by."""
        return self.factor**2 if self.kind == "gaussian" else self.factor

    def cost(self, shift: Term, square: Term = None) -> Term:
        """What a shift costs, in its group: of Gaussian noise ``s^2/variance``, at most ``reach |s|/variance`` where s is no number.

        Args:
            shift: the shift.
            square: a bound on its square, where there is a better one.
        """
        if square is not None:
            return z3.simplify(square / number(self.variance))
        size = size_of(shift)
        if self.whole and not self.settled:
            return size * int(1 / self.factor)
        if not self.settled:
            return size / number(self.factor)
        size = real(size)
        known = z3.simplify(size)
        reach = known if z3.is_rational_value(known) else number(self.reach)
        return z3.simplify(reach * size / number(self.variance))


@dataclass(frozen=True)
class Obligation:
    """What must hold for the second run.

    Attributes:
        condition: the formula.
        what: in words.
        place: where.
        gap: for a test that noise takes part in: a distance that must not be negative; enough for the condition, and in general needed.
    """

    condition: Term
    what: str
    place: Place
    gap: Term = None


@dataclass(frozen=True, eq=False)
class Path:
    """A path between two cuts.

    Attributes:
        source: the cut it begins at.
        target: the cut it ends at; None for the end of the mechanism.
        tests: the tests on the way and how they go.
        condition: when the first run takes it (facts about what is read included).
        safety: that no list is read past its end.
        obligations: what must hold for the second run.
        drawn: the noise drawn.
        reads: the elements of private inputs read.
        fresh: the symbols that stand for values read and noise.
        after: the state behind it, by symbol.
        parts: what is returned, at the end.
        looks: whether an observer looks at the costs on the way: a value of a stream is taken.
    """

    source: int
    target: int | None
    tests: tuple[tuple[int, bool], ...]
    condition: Term
    safety: tuple[Obligation, ...]
    obligations: tuple[Obligation, ...]
    drawn: tuple[DrawnNoise, ...]
    reads: tuple[Read, ...]
    fresh: tuple[Term, ...]
    after: Mapping[str, Term]
    parts: tuple[Value, ...]
    looks: bool = False


@dataclass
class Walk:
    """The state of one symbolic run along a path."""

    values: dict[str, Value]
    condition: list[Term] = field(default_factory=list)
    safety: list[Obligation] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    drawn: list[DrawnNoise] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    fresh: list[Term] = field(default_factory=list)
    tests: list[tuple[int, bool]] = field(default_factory=list)
    counts: dict[str, Term] = field(default_factory=dict)
    """By the names of symbols of the state: how much was taken from streams, is passed of lists, and is spent of norms."""
    known: dict[tuple[str, str], Value] = field(default_factory=dict)
    kept: dict[str, Kept] = field(default_factory=dict)
    of_record: dict[tuple[str, ...], Term] = field(default_factory=dict)
    """Products of what the record that changes holds, by the terms of their factors."""
    looks: bool = False
    run: int = 0
    """Inside a total: the run whose record is looked at, 1 or 2."""

    def copy(self) -> Walk:
        return Walk(**{name: copy(value) for name, value in vars(self).items()})
