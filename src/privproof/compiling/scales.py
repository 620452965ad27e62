"""Scales of noise: rational multiples of products of public numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from privproof.compiling.rewriting import Unsupported, fold_constants, is_number, substitute_parameters
from privproof.compiling.sorts import CONTINUOUS, PURE
from privproof.errors import LanguageError
from privproof.exact import ONE, Rational, rational
from privproof.exact.affine import as_power
from privproof.language.flow import Instruction
from privproof.language.inputs import ADD_REMOVE
from privproof.language.laws import TRUNCATED, Geometric, geometric
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Block, Constant, Expression, Operation, Sample, Variable
from privproof.language.walking import (
    reads,
    rewrite_expression,
    statements,
    values_assigned_once,
    variables,
)

SIZE = "size"
"""The common length of the lists, where it is the same in both runs."""
SQUARES = ("mu^2",)
"""The group of Gaussian noise, continuous and discrete: shifts are counted by ``s^2/variance``, whatever its scale."""
_DEEPEST = 10
"""How many variables that stand for others are looked through, one behind the other; deeper ones stay names."""


@dataclass(frozen=True)
class Scale:
    """A scale: a rational multiple of a product of public whole numbers; of geometric noise, of one over a logarithm.

    To shift noise by s costs ``|s| / scale``, geometric noise ``|s| ln(1/alpha)``.  Where ``1/alpha = ratio^m`` with the largest such m,
    this is ``m |s|`` in units of ln(ratio): alpha = 1/4 and alpha = 1/2 are counted together.  Gaussian noise is counted in squares.

    Attributes:
        factor: the rational; of geometric noise 1/m; of discrete Gaussian noise its variance.
        names: the public numbers, sorted, with repetition; ``size`` is the length of the lists.
        ratio: of geometric noise the ratio whose logarithm is the unit of its costs.
        squared: whether it is the standard deviation of Gaussian noise, or the variance of discrete Gaussian noise.
        bound: of truncated noise how far it goes, to both sides.
    """

    factor: Rational
    names: tuple[str, ...] = ()
    ratio: Rational | None = None
    squared: bool = False
    bound: Rational | None = None

    @property
    def group(self) -> tuple[str, ...]:
        """What costs are counted in: the public numbers, the logarithm, or squares."""
        if self.squared:
            return SQUARES
        return self.names if self.ratio is None else (f"ln({self.ratio})",)

    @property
    def alpha(self) -> Rational:
        """Of geometric noise: how much less likely it is one step further away."""
        assert self.ratio is not None
        return 1 / self.ratio ** int((1 / self.factor).p)


def substitute_single_assignments(expression: Expression, body: Block) -> Expression:
    """An expression with the values of variables that are assigned once, such as the arguments of a function that is called."""
    if not any(True for _ in variables(expression)):
        return expression
    once = values_assigned_once(body)

    def read(part: Expression, left: int) -> Expression:
        def change(inner: Expression) -> Expression | None:
            if isinstance(inner, Variable) and (value := once.get(inner.name)) is not None and left:
                return read(value, left - 1)
            return None

        return rewrite_expression(part, change)

    return read(expression, _DEEPEST)


def shifted_scales(code: tuple[Instruction, ...], body: Block, mechanism: Mechanism) -> dict[int, Scale]:
    """The scale of every noise that is shifted, by its site; one that may be 0 or below is refused."""
    found = {}
    for sample in (step for step in code if isinstance(step, Sample) and step.noise == "geometric"):
        found[sample.site] = _logarithm(sample, body)
    for sample in (step for step in code if isinstance(step, Sample) and step.noise == "discrete_gaussian"):
        found[sample.site] = scale = replace(
            _scale(substitute_single_assignments(sample.arguments[1], body), ()), squared=True
        )
        if scale.factor <= 0:
            raise Unsupported(f"the variance of the noise at {sample.place} is not above 0")
    for sample in (step for step in code if isinstance(step, Sample) and step.noise in CONTINUOUS):
        scale = _scale(
            substitute_single_assignments(sample.arguments[1], body), mechanism.public_numbers, common_lists(mechanism)
        )
        found[sample.site] = scale = replace(scale, squared=sample.noise == "gaussian")
        if sample.noise == TRUNCATED:
            found[sample.site] = replace(scale, bound=_bound(sample, scale, body))
        for name in scale.names:
            if name == SIZE:
                continue  # that it is not 0 where noise is drawn is shown with everything else
            low = mechanism.inputs[name].low
            if low is None or low < 1:
                raise LanguageError(
                    "scale",
                    f"the scale is a multiple of {name}, which may be 0 or below",
                    place=str(sample.place),
                    hint=f"{name}: public(integer(low=1))",
                )
    return found


def _bound(sample: Sample, scale: Scale, body: Block) -> Rational:
    """How far truncated noise goes: a number, and so is its scale."""
    bound = _scale(substitute_single_assignments(sample.arguments[2], body), ())
    if scale.names or scale.factor <= 0 or bound.factor <= 0:
        raise Unsupported(f"the scale and the bound of the noise at {sample.place} are no numbers above 0")
    return bound.factor


def _logarithm(sample: Sample, body: Block) -> Scale:
    """The scale of geometric noise: alpha as a power."""
    given = [fold_constants(substitute_single_assignments(argument, body)) for argument in sample.arguments[1:]]
    values = [each.value for each in given if isinstance(each, Constant)]
    if len(values) < len(given):
        raise Unsupported(f"alpha of the noise at {sample.place} is no constant")
    law = geometric(0, *values)
    assert isinstance(law, Geometric)
    ratio, power = as_power(1 / rational(law.alpha))
    return Scale(ONE / power, (), ratio)


def common_lists(mechanism: Mechanism) -> frozenset[str]:
    """The lists whose length is left open, and the same in both runs."""
    if SIZE in mechanism.inputs or mechanism.neighbours == ADD_REMOVE:
        return frozenset()
    return frozenset(n for n, each in mechanism.inputs.items() if each.shape == "list" and each.size is None)


def _is_length(part: Expression, lists: frozenset[str]) -> bool:
    match part:
        case Operation("len" | "turns", (Variable(name),)):
            return name in lists
        case _:
            return False


def _scale(expression: Expression, public: tuple[str, ...], lists: frozenset[str] = frozenset()) -> Scale:
    """A scale as a multiple of a product of public numbers."""
    factor, powers = monomial(expression, public, lists)
    if any(power < 0 for power in powers.values()):
        raise Unsupported(f"the scale at {expression.place} divides by a public number")
    return Scale(factor, tuple(sorted(name for name, power in powers.items() for _ in range(power))))


def monomial(
    expression: Expression, names: tuple[str, ...], lists: frozenset[str] = frozenset()
) -> tuple[Rational, dict[str, int]]:
    """A scale as a rational times powers of names, and of the length of some lists."""
    if _is_length(expression, lists):
        return ONE, {SIZE: 1}
    match expression:
        case Constant(int() | Fraction() as value) if is_number(value):
            return rational(value), {}
        case Constant(str() as value):
            return rational(value), {}
        case Variable(name) if name in names:
            return ONE, {name: 1}
        case Operation("*" | "/" as sign, (left, right)):
            a, m = monomial(left, names, lists)
            b, n = monomial(right, names, lists)
            powers = dict(m)
            for name, power in n.items():
                powers[name] = powers.get(name, 0) + (power if sign == "*" else -power)
            return (a * b if sign == "*" else a / b), {k: v for k, v in powers.items() if v}
        case Operation("pos" | "whole", (inner,)):
            return monomial(inner, names, lists)
        case _:
            raise Unsupported(f"the scale at {expression.place} is no multiple of a product of public numbers")


def unit(mechanism: Mechanism) -> str | None:
    """The parameter that all scales are inversely proportional to and that occurs nowhere else, if there is one.

    What costs B at one value of such a parameter costs the same multiple of it at every other: the shifts do not change.

    >>> from privproof.library.laplace.laplace_noisy_max import noisy_max
    >>> unit(noisy_max)
    'epsilon'
    """
    for name, value in mechanism.parameters.items():
        if not is_number(value):
            continue
        others = {n: v for n, v in mechanism.parameters.items() if n != name}
        body = substitute_parameters(mechanism.translated.body, others)
        scales = [s for s in statements(body) if isinstance(s, Sample) and s.noise in PURE]
        if any(isinstance(s, Sample) and s.noise in CONTINUOUS and s.noise not in PURE for s in statements(body)):
            return None
        elsewhere = any(
            name in variables(e)
            for s in statements(body)
            for e in (s.arguments[:1] if isinstance(s, Sample) and s.noise in CONTINUOUS else reads(s))
        )
        try:
            known = (*mechanism.public_numbers, name)
            powers = [monomial(substitute_single_assignments(s.arguments[1], body), known)[1] for s in scales]
        except Unsupported:
            continue
        if scales and not elsewhere and all(power.get(name) == -1 for power in powers):
            return name
    return None
