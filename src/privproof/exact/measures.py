"""Measures of privacy besides epsilon and delta: one number that bounds how well two situations can be told apart.

* *rho*, zero-concentrated differential privacy (Bun and Steinke 2016): ``D_alpha(P || Q) <= rho alpha`` for every order alpha > 1;
* *mu*, Gaussian differential privacy (Dong, Roth and Su 2022): no test of P against Q is better than the best one of N(0, 1) against
  N(mu, 1);
* *renyi*, Rényi differential privacy of one order (Mironov 2017): ``D_alpha(P || Q) <= tau``.

P and Q are the laws of what is shown in any two situations that must look alike, in both orders.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from privproof.errors import BudgetError
from privproof.exact.affine import Affine, affine, read_affine
from privproof.exact.budgets import Epsilon, EpsilonLike, epsilon
from privproof.exact.rationals import Number, Rational, rational

LARGEST_ORDER = 10_000
"""The largest order that likelihood ratios are raised to; beyond, it is refused: the order inf is the tight epsilon."""


@dataclass(frozen=True)
class Measure:
    """A measure of privacy.

    Attributes:
        kind: which one.
        order: the order of a Rényi divergence; from 1 on, which is the Kullback-Leibler divergence.

    >>> print(Measure("rho"), Measure("renyi", rational(2)))
    rho Rényi divergence of order 2
    """

    kind: Literal["rho", "mu", "renyi"]
    order: Rational | None = None

    def __str__(self) -> str:
        return self.kind if self.order is None else f"Rényi divergence of order {self.order}"

    def claim(self, value: Epsilon | Affine) -> str:
        """What it means to be within a value, as an adjective."""
        if self.kind == "renyi":
            return f"({self.order}, {value})-Rényi private"
        shown = f"({value})" if isinstance(value, Affine) and " " in str(value) else str(value)
        return f"{shown}-{'zCDP' if self.kind == 'rho' else 'GDP'}"


RHO, MU = Measure("rho"), Measure("mu")


def renyi(order: Number) -> Measure:
    """The Rényi divergence of an order.

    >>> renyi("3/2")
    Measure(kind='renyi', order=3/2)
    """
    alpha = rational(order)
    if not 1 <= alpha <= LARGEST_ORDER:
        raise BudgetError(
            "order",
            f"order={alpha} is outside [1, {LARGEST_ORDER}]",
            hint="1 is the Kullback-Leibler divergence; the order inf is epsilon",
        )
    return Measure("renyi", alpha)


@dataclass(frozen=True)
class MeasuredBudget:
    """A measure and the value that is claimed for it; None where the smallest one is asked for.

    Attributes:
        measure: the measure.
        value: the value, where it is a number.
        growing: the value, where it is an expression in the size and public numbers.
    """

    measure: Measure
    value: Epsilon | None = None
    growing: Affine | None = None

    @property
    def claims(self) -> bool:
        """Whether a value is claimed."""
        return self.value is not None or self.growing is not None

    @property
    def claimed(self) -> Epsilon | Affine | None:
        """What is claimed."""
        return self.value if self.growing is None else self.growing

    def filled(self, known: Mapping[str, Rational], names: Collection[str]) -> MeasuredBudget:
        """The same with values for names that are known; a number where none is left.

        Raises:
            BudgetError: it speaks of other names, or its value is below zero.
        """
        if self.growing is None:
            return self
        constant = self.growing.constant
        factors = {}
        for name, factor in self.growing.terms:
            if name in known:
                constant += factor * known[name]
            elif name in names:
                factors[name] = factor
            else:
                hint = f"known here: {', '.join((*known, *names)) or 'none'}; or ask at a size"
                raise BudgetError("budget", f"{self.measure}={self.growing} speaks of {name!r}", hint=hint)
        if factors:
            return MeasuredBudget(self.measure, None, affine(constant, factors))
        return MeasuredBudget(self.measure, _value(self.measure, str(constant)))


Orders: TypeAlias = "Mapping[Any, EpsilonLike]"
"""Rényi divergences by order."""


def measured_budgets(
    rho: EpsilonLike | None = None, mu: EpsilonLike | None = None, renyi_: Orders | None = None
) -> tuple[MeasuredBudget, ...]:
    """The budgets that are claimed: of one measure, for Rényi divergences at one or several orders.

    Raises:
        BudgetError: more than one measure is claimed, or a value is below zero or infinite.

    >>> measured_budgets(renyi_={2: "1/4"})
    (MeasuredBudget(measure=Measure(kind='renyi', order=2), value=Epsilon('1/4'), growing=None),)
    """
    given = [(RHO, rho), (MU, mu), *((renyi(order), value) for order, value in (renyi_ or {}).items())]
    found = tuple(_budget(measure, value) for measure, value in given if value is not None)
    kinds = list(dict.fromkeys(each.measure.kind for each in found))
    if len(kinds) > 1:
        raise BudgetError("budget", f"{' and '.join(kinds)} are claimed at once", hint="one measure at a time")
    return found


def _budget(measure: Measure, value: EpsilonLike) -> MeasuredBudget:
    """A number, or for rho and Rényi divergences an expression in names."""
    names = set(re.findall(r"[^\W0-9]\w*", value)) - {"ln", "inf", "e", "E"} if isinstance(value, str) else set()
    if names and measure.kind == "mu":
        said = f"mu={value} depends on {', '.join(sorted(names))}, and a mu is a number"
        raise BudgetError("budget", said, hint='mu="1/2"; what grows is claimed as rho="size/32"')
    if not names:
        return MeasuredBudget(measure, _value(measure, value))
    expression = read_affine(str(value), sorted(names))
    if expression.ratio is not None:
        raise BudgetError("budget", f"{measure}={value} grows by logarithms", hint='rho="size/8"')
    if not expression.terms:
        return MeasuredBudget(measure, _value(measure, str(expression.constant)))
    return MeasuredBudget(measure, None, expression)


def _value(measure: Measure, value: EpsilonLike) -> Epsilon:
    name = "renyi" if measure.kind == "renyi" else measure.kind
    try:
        found = epsilon(value)
    except BudgetError as problem:
        problem.message = problem.message.replace("epsilon=", f"{name}=")
        raise
    if found.infinite:
        raise BudgetError("budget", f"{name}={value} claims nothing", hint=f'{name}="1/2"')
    return found
