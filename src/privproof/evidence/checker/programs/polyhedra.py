"""Probabilities of polyhedra under independent Laplace and one-sided exponential noise, exactly.

The density of Laplace noise of scale b is ``e^(-x/b) / (2b)`` on the numbers above 0 and ``e^(x/b) / (2b)`` below.  So,
split by signs, a probability is an integral of terms ``q * x_1^k_1 ... x_n^k_n * e^(linear form)`` over polyhedra.  One
variable after the other is integrated out: a polyhedron is split by which lower bound of the variable is the largest and
which upper bound the smallest; the antiderivative is taken at both; and what the choice says of the other variables joins
their constraints.  Cells of equal shape are added up.  A variable that shares constraints with few others goes first, so
that constraints in the shape of a star or a tree stay small.

Boundaries have no volume, so every constraint may be taken as strict, and a cell without interior is left out (this is
decided by Fourier and Motzkin's elimination).  In a cell with interior, every term falls off in every direction in which
the cell is unbounded: it is the product of the densities at a face of the original polyhedron, times a polynomial.

    >>> half = probability([("laplace", Rational(1))], [((Rational(1),), Rational(-1))])
    >>> str(half)
    '1/2*e^(-1)'
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from privproof.evidence.checker.outcomes import refuse
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.exponentials import ExponentialSum

Law: TypeAlias = tuple[str, Rational]
"""The kind, ``laplace`` or ``exponential``, and the scale."""

Form: TypeAlias = tuple[tuple[Rational, ...], Rational]
"""The coefficients of a linear form, and its constant."""

Region: TypeAlias = frozenset[Form]
"""Forms that are at least 0, scaled so that the first coefficient is 1 or -1, the tightest of each direction."""

Key: TypeAlias = tuple[tuple[int, ...], tuple[Rational, ...], Rational]
Terms: TypeAlias = dict[Key, Rational]
"""Coefficients by the powers of the variables, and the linear form in the exponent: its coefficients and constant."""

_MOST_TERMS = 1_000_000
"""Terms made by integrating out the noises of all leaves of a question; beyond, the probability is refused as too complicated."""
_MOST_CONSTRAINTS = 300
"""With more forms, eliminating variables no longer looks whether a region is empty: it is integrated, and gives 0 if it is."""
_PLACE = "evidence"


class Integrator:
    """Integrates, with a memory of what it has integrated and a bound on the effort."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[Law, ...], Region], ExponentialSum] = {}
        self._effort = 0

    def probability(self, laws: Sequence[Law], forms: Sequence[Form]) -> ExponentialSum:
        """The probability that all forms in the noises are at least 0."""
        whole = _region(forms)
        if whole is None:
            return ExponentialSum.constant(0)
        product = ExponentialSum.constant(1)
        for variables in _components(whole, len(laws)):
            chosen = tuple(laws[v] for v in variables)
            inside = (form for form in whole if any(form[0][v] != 0 for v in variables))
            part = frozenset((tuple(form[0][v] for v in variables), form[1]) for form in inside)
            if (chosen, part) not in self._known:
                self._known[chosen, part] = self._connected(chosen, part)
            product = product * self._known[chosen, part]
            if product.is_zero:
                break
        return product

    def _connected(self, laws: tuple[Law, ...], region: Region) -> ExponentialSum:
        size = len(laws)
        cells: dict[Region, Terms] = {}
        if not _hollow(region):
            cells[region] = {((0,) * size, (ZERO,) * size, ZERO): ONE}
        remaining = set(range(size))
        while remaining:
            variable = min(remaining, key=lambda v: (_company(cells, v), v))
            remaining.discard(variable)
            after: dict[Region, Terms] = {}
            for cell, terms in cells.items():
                for inside, factor, rate in _halves(laws[variable], variable, size):
                    halved = _region((*cell, inside))
                    if halved is not None:
                        weighted = _weighted(terms, variable, factor, rate)
                        for found, integral in self._eliminated(halved, weighted, variable):
                            _add(after.setdefault(found, {}), integral)
            cells = after
        total = ExponentialSum.constant(0)
        for cell, terms in cells.items():
            assert not cell
            total = total + ExponentialSum.of((factor, 0, shift) for (_, _, shift), factor in terms.items())
        return total

    def _eliminated(self, region: Region, terms: Terms, variable: int) -> Iterator[tuple[Region, Terms]]:
        lower: list[Form] = []
        upper: list[Form] = []
        others: list[Form] = []
        for form in region:
            factor = form[0][variable]
            if factor == 0:
                others.append(form)
            else:
                (lower if factor > 0 else upper).append(_solved(form, variable))
        none: list[Form | None] = [None]
        for low in list(lower) or none:
            for high in list(upper) or none:
                forms = list(others)
                if low is not None:
                    forms += [_minus(low, each) for each in lower if each is not low]
                if high is not None:
                    forms += [_minus(each, high) for each in upper if each is not high]
                if low is not None and high is not None:
                    forms.append(_minus(high, low))
                cell = _region(forms)
                if cell is None or _hollow(cell):
                    continue
                integral: Terms = {}
                if high is not None:
                    self._antiderivative(terms, variable, high, ONE, integral)
                else:
                    _vanishing(terms, variable, -1)
                if low is not None:
                    self._antiderivative(terms, variable, low, -ONE, integral)
                else:
                    _vanishing(terms, variable, 1)
                yield cell, {key: factor for key, factor in integral.items() if factor != 0}

    def _antiderivative(self, terms: Terms, variable: int, at: Form, sign: Rational, total: Terms) -> None:
        """Add, times the sign, the antiderivative of the terms in a variable, taken at a form in the others.

        For a != 0 that of ``x^k e^(a x)`` is ``e^(a x) * sum over j of (-1)^j k!/(k-j)! x^(k-j) / a^(j+1)``.
        """
        raised: dict[int, Terms] = {}
        for (powers, rates, shift), factor in terms.items():
            power, rate = powers[variable], rates[variable]
            rest = (*powers[:variable], 0, *powers[variable + 1 :])
            if rate == 0:
                exponents = rates
                summands = [(power + 1, factor / (power + 1))]
            else:
                moved = (*rates[:variable], ZERO, *rates[variable + 1 :])
                exponents = tuple(r if c == 0 else r + rate * c for r, c in zip(moved, at[0], strict=True))
                shift += rate * at[1]
                summands = []
                coefficient = factor / rate
                for j in range(power + 1):
                    summands.append((power - j, coefficient))
                    coefficient = -coefficient * (power - j) / rate
            for degree, coefficient in summands:
                if degree not in raised:
                    raised[degree] = _power(at, degree)
                self._effort += len(raised[degree])
                for (more, _, _), weight in raised[degree].items():
                    key = (tuple(map(int.__add__, rest, more)), exponents, shift)
                    total[key] = total.get(key, ZERO) + sign * coefficient * weight
            if self._effort > _MOST_TERMS:
                refuse("the probability is too complicated to be integrated here", _PLACE)


def probability(laws: Sequence[Law], forms: Sequence[Form]) -> ExponentialSum:
    """The probability that all forms in the noises are at least 0."""
    return Integrator().probability(laws, forms)


def _region(forms: Sequence[Form]) -> Region | None:
    """The forms normalised; None if they cannot all be at least 0, or only on a set without volume."""
    tightest: dict[tuple[Rational, ...], Rational] = {}
    for coefficients, constant in forms:
        lead = next((abs(factor) for factor in coefficients if factor != 0), None)
        if lead is None:
            if constant < 0:
                return None
            continue
        scaled = coefficients if lead == 1 else tuple(factor / lead for factor in coefficients)
        value = constant / lead
        if scaled not in tightest or value < tightest[scaled]:
            tightest[scaled] = value
    for coefficients, constant in tightest.items():
        opposite = tightest.get(tuple(-factor for factor in coefficients))
        if opposite is not None and constant + opposite <= 0:
            return None
    return frozenset(tightest.items())


def _hollow(region: Region) -> bool:
    """Whether no point makes all forms positive; False also if this takes too long to find out."""
    forms: Region | None = region
    while forms:
        size = len(next(iter(forms))[0])
        counts = []
        for v in range(size):
            above, below = sum(f[0][v] > 0 for f in forms), sum(f[0][v] < 0 for f in forms)
            if above or below:
                counts.append((above * below - above - below, v))
        variable = min(counts)[1]
        lower = [_solved(form, variable) for form in forms if form[0][variable] > 0]
        upper = [_solved(form, variable) for form in forms if form[0][variable] < 0]
        rest = [form for form in forms if form[0][variable] == 0]
        for low in lower:
            for high in upper:
                form = _minus(high, low)
                if form[1] <= 0 and all(factor == 0 for factor in form[0]):
                    return True
                rest.append(form)
        if len(rest) > _MOST_CONSTRAINTS:
            return False
        forms = _region(rest)
    return forms is None


def _solved(form: Form, variable: int) -> Form:
    """The bound that ``form >= 0`` gives for a variable, as a form in the others."""
    factor = form[0][variable]
    coefficients = tuple(ZERO if v == variable else -c / factor for v, c in enumerate(form[0]))
    return coefficients, -form[1] / factor


def _minus(left: Form, right: Form) -> Form:
    return tuple(a - b for a, b in zip(left[0], right[0], strict=True)), left[1] - right[1]


def _halves(law: Law, variable: int, size: int) -> Iterator[tuple[Form, Rational, Rational]]:
    """The pieces of a density ``factor * e^(rate * x)``, each with the form that is at least 0 there."""
    kind, scale = law
    unit = tuple(ONE if v == variable else ZERO for v in range(size))
    if kind == "exponential":
        yield (unit, ZERO), 1 / scale, -1 / scale
    else:
        yield (unit, ZERO), 1 / (2 * scale), -1 / scale
        yield (tuple(-c for c in unit), ZERO), 1 / (2 * scale), 1 / scale


def _weighted(terms: Terms, variable: int, factor: Rational, rate: Rational) -> Terms:
    """The terms times ``factor * e^(rate * x)``."""
    return {
        (powers, (*rates[:variable], rates[variable] + rate, *rates[variable + 1 :]), shift): value * factor
        for (powers, rates, shift), value in terms.items()
    }


def _vanishing(terms: Terms, variable: int, sign: int) -> None:
    """Refuse terms that do not vanish where the variable is unbounded: their rate must have this sign."""
    if any(rates[variable] * sign <= 0 for _, rates, _ in terms):
        refuse("an integral does not converge", _PLACE)


def _power(form: Form, degree: int) -> Terms:
    """A power of a linear form, as a polynomial."""
    size = len(form[0])
    none = (ZERO,) * size
    linear = {tuple(int(v == w) for w in range(size)): c for v, c in enumerate(form[0]) if c != 0}
    if form[1] != 0:
        linear[(0,) * size] = form[1]
    result: dict[tuple[int, ...], Rational] = {(0,) * size: ONE}
    for _ in range(degree):
        raised: dict[tuple[int, ...], Rational] = {}
        for powers, value in result.items():
            for more, factor in linear.items():
                key = tuple(map(int.__add__, powers, more))
                raised[key] = raised.get(key, ZERO) + value * factor
        result = raised
    return {(powers, none, ZERO): value for powers, value in result.items()}


def _add(total: Terms, more: Terms) -> None:
    for key, value in more.items():
        together = total.get(key, ZERO) + value
        if together == 0:
            del total[key]
        else:
            total[key] = together


def _company(cells: dict[Region, Terms], variable: int) -> tuple[int, int]:
    """With how many other variables a variable shares constraints, and how many constraints it has, at most."""
    worst = (0, 0)
    for cell in cells:
        mine = [form for form in cell if form[0][variable] != 0]
        others = {v for form in mine for v, factor in enumerate(form[0]) if factor != 0 and v != variable}
        worst = max(worst, (len(others), len(mine)))
    return worst


def _components(region: Region, size: int) -> list[tuple[int, ...]]:
    """The variables that occur, in groups that share constraints."""
    group = list(range(size))

    def root(v: int) -> int:
        while group[v] != v:
            v = group[v]
        return v

    occurring: set[int] = set()
    for coefficients, _ in region:
        here = [v for v, factor in enumerate(coefficients) if factor != 0]
        occurring.update(here)
        for v in here[1:]:
            group[root(v)] = root(here[0])
    found: dict[int, list[int]] = {}
    for v in sorted(occurring):
        found.setdefault(root(v), []).append(v)
    return [tuple(variables) for variables in found.values()]
