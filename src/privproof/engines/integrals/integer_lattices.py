"""Sums over the integer points of polyhedra, exactly: what `sums` leaves where inequalities form a cycle or hold three noises.

A *cell* is a system of inequalities with integer coefficients, and on it a function ``sum c * Π x_j^k_j ρ_j^x_j``. Such functions are
closed under summation: a variable whose coefficients are all 1 or -1 lies between the largest of its lower bounds and the smallest of its
upper ones, which are integers; the cell is split by which these are, the antidifference is taken between them, and the variable is gone
(Fourier and Motzkin, with sums). Another coefficient a is made 1 by splitting the other variables of its inequality by their residues
modulo a. Sums that do not end exist because the function decays there; every term of it does, since terms are masses at points of the
cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import comb, gcd
from typing import NamedTuple, TypeAlias, TypeVar

from privproof.engines.integrals.piecewise_functions import End
from privproof.errors import LanguageError
from privproof.exact.rationals import ONE, ZERO, Rational

K = TypeVar("K")
Power: TypeAlias = tuple[int, Rational]
"""Of one variable: ``x^k * ρ^x``."""
Terms: TypeAlias = dict[tuple[Power, ...], Rational]
"""A function: for every product of powers, one for each variable, its factor."""
Form: TypeAlias = tuple[tuple[int, ...], int]
"""Integer coefficients of all variables, and a constant: at least 0 in a cell; also a bound, or a variable in terms of others."""
Step: TypeAlias = tuple[End, End, Mapping[Power, Rational]]
"""A function of one variable on the integers from an end up to, but not, another."""

_ALONE: Power = (0, ONE)
_MOST_TERMS = 200_000
"""Terms made for one sum; beyond, the probability is given up, and with it the event."""
_LARGEST = 100_000
"""The largest exponent of a ratio: numbers have so many digits, more or less. Beyond, the event is given up."""


class _Cell(NamedTuple):
    forms: frozenset[Form]
    terms: Terms


def lattice_sum(functions: Sequence[Sequence[Step]], forms: Sequence[Form]) -> Rational:
    """The sum of the product of functions, one for each variable, over the integer points where all forms are at least 0.

    >>> half = Rational(1, 2)
    >>> one = [(None, ZERO, {(0, 2 * ONE): Rational(1, 3)}), (ZERO, None, {(0, half): Rational(1, 3)})]
    >>> lattice_sum([one, one], [((2, -3), 0)]) + lattice_sum([one, one], [((-2, 3), -1)])
    1
    >>> lattice_sum([one, one, one], [((1, 1, -1), 0), ((-1, -1, 1), 0)])
    11/81

    Raises:
        LanguageError: it takes too many terms.
    """
    return _IntegerLattice(len(functions)).total(functions, forms)


class _IntegerLattice:
    def __init__(self, size: int) -> None:
        self.size = size
        self.made = 0

    def total(self, functions: Sequence[Sequence[Step]], forms: Sequence[Form]) -> Rational:
        result = ZERO
        for chosen in product(*functions):
            walls = list(forms)
            terms: Terms = {(): ONE}
            for place, (low, high, factors) in enumerate(chosen):
                unit = tuple(int(i == place) for i in range(self.size))
                walls += [] if low is None else [(unit, -int(low.p))]
                walls += [] if high is None else [(tuple(-a for a in unit), int(high.p) - 1)]
                terms = {(*powers, power): c * f for powers, c in terms.items() for power, f in factors.items()}
            cell = _tidy_cell(walls, terms)
            if cell is not None:
                result += self.summed(cell, tuple(range(self.size)))
        return result

    def summed(self, cell: _Cell, left: tuple[int, ...]) -> Rational:
        """The sum over the variables that are left."""
        if not cell.terms:
            return ZERO
        if not left:
            return sum(cell.terms.values(), ZERO)
        place = min(left, key=lambda each: _effort(cell, each))
        wide = next((form for form in cell.forms if abs(form[0][place]) > 1), None)
        if wide is not None:
            return sum((self.summed(each, left) for each in self.residues(cell, place, wide)), ZERO)
        rest = tuple(each for each in left if each != place)
        return sum((self.summed(each, rest) for each in self.without(cell, place)), ZERO)

    def residues(self, cell: _Cell, place: int, wide: Form) -> Iterator[_Cell]:
        """The cell, split by the residues of the other variables of a form, so that the coefficient of one variable divides the others."""
        modulus = abs(wide[0][place])
        others = [i for i, a in enumerate(wide[0]) if a % modulus]
        for rests in product(range(modulus), repeat=len(others)):
            found: _Cell | None = cell
            for other, rest in zip(others, rests, strict=True):
                if found is not None:
                    unit = tuple(modulus * int(i == other) for i in range(self.size))
                    forms = [_substitute_form(form, other, (unit, rest)) for form in found.forms]
                    found = _tidy_cell(forms, self.substituted(found.terms, other, (unit, rest)))
            if found is not None:
                yield found

    def without(self, cell: _Cell, place: int) -> Iterator[_Cell]:
        """The cells that the sum over one variable leaves."""
        lowers: list[Form] = []
        uppers: list[Form] = []
        others: list[Form] = []
        for coefficients, constant in sorted(cell.forms):
            own = coefficients[place]
            rest = tuple(0 if i == place else -own * a for i, a in enumerate(coefficients))
            (lowers if own > 0 else uppers if own < 0 else others).append(
                (rest, -own * constant) if own else (coefficients, constant)
            )
        inside = self.antidifferences(cell.terms, place)
        ends: tuple[Sequence[Form | None], Sequence[Form | None]] = (lowers or (None,), uppers or (None,))
        for low, high in product(*ends):
            forms = list(others)
            if low is not None:  # the first of the largest lower bounds
                forms += [_minus(low, each, int(k < lowers.index(low))) for k, each in enumerate(lowers) if each != low]
            if high is not None:
                forms += [
                    _minus(each, high, int(k < uppers.index(high))) for k, each in enumerate(uppers) if each != high
                ]
            if low is not None and high is not None:
                forms.append(_minus(high, low, 0))
            found = _tidy_cell(forms, {})
            if found is None:
                continue
            terms: Terms = {}
            if high is not None:
                gather(terms, self.substituted(inside, place, (high[0], high[1] + 1)), ONE)
            elif any(powers[place][1] >= 1 for powers in inside):
                raise _beyond("does not decay")
            if low is not None:
                gather(terms, self.substituted(inside, place, low), -ONE)
            elif any(powers[place][1] <= 1 for powers in inside):
                raise _beyond("does not decay")
            yield _Cell(found.forms, terms)

    def antidifferences(self, terms: Terms, place: int) -> Terms:
        """The function G with ``G(x+1) - G(x)`` equal to the given one, in one variable."""
        made: Terms = {}
        for powers, factor in terms.items():
            degree, ratio = powers[place]
            for power, share in enumerate(antidifference(degree, ratio)):
                if share:
                    gather(made, {_with(powers, place, (power, ratio)): share}, factor)
        self.count(made)
        return made

    def substituted(self, terms: Terms, place: int, form: Form) -> Terms:
        """A function with an integer form in the place of a variable."""
        coefficients, constant = form
        made: Terms = {}
        for powers, factor in terms.items():
            degree, ratio = powers[place]
            if abs(constant) > _LARGEST or any(abs(a) > _LARGEST for a in coefficients):
                raise _beyond("needs powers that are too large")
            base = _with(powers, place, _ALONE)
            for i, a in enumerate(coefficients):
                if a:
                    base = _with(base, i, (base[i][0], base[i][1] * ratio**a))
            expanded: Terms = {base: factor * ratio**constant}
            for _ in range(degree):
                more: Terms = {}
                for each, share in expanded.items():
                    if constant:
                        gather(more, {each: share}, Rational(constant))
                    for i, a in enumerate(coefficients):
                        if a:
                            gather(more, {_with(each, i, (each[i][0] + 1, each[i][1])): share}, Rational(a))
                expanded = more
                self.count(expanded)
            gather(made, expanded, ONE)
        self.count(made)
        return made

    def count(self, terms: Terms) -> None:
        self.made += len(terms) + 1
        if self.made > _MOST_TERMS:
            raise _beyond(f"takes more than {_MOST_TERMS} terms")


def _beyond(reason: str) -> LanguageError:
    return LanguageError(
        "integral", f"the sum over geometric noise {reason}", hint="fewer comparisons of noisy numbers"
    )


def _effort(cell: _Cell, place: int) -> tuple[int, int]:
    """How many cells the sum over a variable makes: residues first, then pairs of bounds."""
    widest = max((abs(form[0][place]) for form in cell.forms), default=0)
    lowers = sum(form[0][place] > 0 for form in cell.forms)
    uppers = sum(form[0][place] < 0 for form in cell.forms)
    return max(widest, 1), max(lowers, 1) * max(uppers, 1)


def _with(powers: tuple[Power, ...], place: int, power: Power) -> tuple[Power, ...]:
    return (*powers[:place], power, *powers[place + 1 :])


def _substitute_form(form: Form, place: int, other: Form) -> Form:
    """A form with another one in the place of a variable."""
    coefficients, constant = form
    own = coefficients[place]
    made = tuple(
        (0 if i == place else a) + own * b for i, (a, b) in enumerate(zip(coefficients, other[0], strict=True))
    )
    return made, constant + own * other[1]


def _minus(left: Form, right: Form, less: int) -> Form:
    return tuple(a - b for a, b in zip(left[0], right[0], strict=True)), left[1] - right[1] - less


def _tidy_cell(forms: Sequence[Form], terms: Terms) -> _Cell | None:
    """A cell whose forms have coprime coefficients, the tightest of each direction; None if two contradict each other."""
    tightest: dict[tuple[int, ...], int] = {}
    for coefficients, constant in forms:
        unit = gcd(*coefficients)
        if not unit:
            if constant < 0:
                return None
            continue
        direction = tuple(a // unit for a in coefficients)
        tightest[direction] = min(constant // unit, tightest.get(direction, constant // unit))
    for direction, constant in tightest.items():
        opposite = tightest.get(tuple(-a for a in direction))
        if opposite is not None and constant + opposite < 0:
            return None
    return _Cell(frozenset(tightest.items()), terms)


def gather(total: dict[K, Rational], terms: Mapping[K, Rational], factor: Rational = ONE) -> None:
    """Add a multiple of some terms to others; what cancels is left out."""
    for key, value in terms.items():
        together = total.get(key, ZERO) + factor * value
        if together:
            total[key] = together
        else:
            total.pop(key, None)


def antidifference(degree: int, ratio: Rational) -> list[Rational]:
    """The p, lowest coefficient first, with ``ratio * p(x+1) - p(x) = x^degree``; p(0) = 0 if the ratio is 1."""
    top = degree + (ratio == 1)
    found = [ZERO] * (top + 1)
    for d in range(degree, -1, -1):
        place = d + (ratio == 1)
        known = ratio * sum((comb(j, d) * found[j] for j in range(place + 1, top + 1)), ZERO)
        found[place] = ((ONE if d == degree else ZERO) - known) / (place if ratio == 1 else ratio - 1)
    return found
