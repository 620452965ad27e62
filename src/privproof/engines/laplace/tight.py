"""How private exactly: the least cost of shifts at given sizes, the formula that these numbers follow, and losses that approach them.

The least cost over all shifts, at the worst corner of the neighbours, bounds the loss at a size (`worst`).  Computed at a few sizes and
public numbers it suggests a formula, such as ``(1 + 6*N)/4`` or ``size/2``; only what is then proved by an alignment is reported as a
bound.  From below, data further and further along the worst corner give losses that approach the cost, each with its exact
probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, isfinite, isnan
from typing import Any

from privproof.compiling.relational import Program
from privproof.compiling.sorts import SHIFTED
from privproof.engines.laplace.changes import summed_alone
from privproof.engines.laplace.events import following
from privproof.engines.laplace.refuting import Refuter, publics
from privproof.engines.laplace.worst import (
    LinearProgram,
    Region,
    corners,
    long_regions,
    open_names,
    private_names,
    regions,
    simplest,
    verify_shift_cost,
    worst,
)
from privproof.engines.search_monitor import Monitor
from privproof.errors import LanguageError
from privproof.exact import Epsilon, Rational, fraction, log, rational
from privproof.exact.affine import Affine, affine
from privproof.exact.balls import rational_bounds
from privproof.language.linear import Linear
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import Between, matching

_CLOSE = 1e-7
"""A loss this near to the least cost counts as having reached it, and the search for larger ones ends."""
_NEAR = (0, 1, 2, 4, 8, 16, 32, 64, -1, -2)
"""How far along a corner data are tried at first: simple data make simple witnesses."""
_FAR = (2**8, 2**12, 2**16, 2**20, 2**24)
"""How far they are tried when the nearer ones did not come close to the cost."""
_WHOLE = 1e-4
"""How much a least cost, found in floats and rounded, may be above a multiple of a logarithm that it is meant to be."""
_MORE = 3
"""So many multiples of a logarithm are tried: shifts by whole numbers may cost more than the least cost says."""
_TRIED = 6
"""So many of the costliest regions are tried, as long as they cost the same."""
_CORNERS = 6_000
"""Linear programs, one for each corner and region; beyond it there is no bound from costs."""


def has_open_size(mechanism: Mechanism, question_size: int | None) -> bool:
    """Whether the size of the lists is open, or there is a stream."""
    open_ended = (d.shape == "stream" or (d.shape == "list" and d.size is None) for d in mechanism.inputs.values())
    return question_size is None and any(open_ended)


def upper_at(
    mechanism: Mechanism, relation: str, size: int | None, public: Mapping[str, Any], monitor: Monitor
) -> Fraction | None:
    """A bound on the loss at a size, from the least cost of shifts at every corner, verified exactly; None if there is none."""
    if relation == "l2":  # which has no corners
        return None
    found = regions(mechanism, size, public, monitor.pause)
    names = private_names(mechanism, size)
    listed = list(corners(mechanism, relation, names)) if len(names) <= 12 else []
    if not listed or len(listed) * len(found) > _CORNERS:
        return None
    most = Fraction(0)
    for region in found:
        monitor.pause()
        program = LinearProgram(region, names)
        for corner in listed:
            cost, shifts = program.solve(corner)
            if not isfinite(cost):
                return None
            exact = verify_shift_cost(region, corner, shifts)
            if exact is None:
                return None
            most = max(most, exact)
    return most


def cost_at(
    mechanism: Mechanism, relation: str, size: int | None, public: Mapping[str, Any], monitor: Monitor
) -> float:
    """The largest least cost that is found at a size."""
    if size is None or size <= 3:
        found = regions(mechanism, size, public, monitor.pause)
    else:
        found = long_regions(mechanism, size, public, monitor)
    names = private_names(mechanism, size)
    return max((w.cost for w in worst(mechanism, relation, found, names, monitor.pause)), default=float("nan"))


def formula(mechanism: Mechanism, relation: str, size: int | None, monitor: Monitor) -> Affine | None:
    """The formula that the least costs follow at the sizes and public numbers tried: a guess."""
    names = list(mechanism.public_numbers)
    if not has_open_size(mechanism, size):

        def alone(public: Mapping[str, Any]) -> Affine | None:
            cost = cost_at(mechanism, relation, size, public, monitor)
            return Affine(_rational(cost)) if isfinite(cost) else None

        return _over_numbers(mechanism, names, alone)

    def at(public: Mapping[str, Any]) -> Affine | None:
        scale = max([1, *(v for n, v in public.items() if n in names and isinstance(v, int))])
        sizes = [6 * scale, 6 * scale + 3, 6 * scale + 6] if _few(mechanism, public, monitor) else [2, 3, 4]
        costs = [cost_at(mechanism, relation, n, public, monitor) for n in sizes]
        if any(map(isnan, costs)):
            sizes = [2, 3, 4]
            costs = [cost_at(mechanism, relation, n, public, monitor) for n in sizes]
        if not all(map(isfinite, costs)):
            return None
        slope = (costs[1] - costs[0]) / (sizes[1] - sizes[0])
        if abs(costs[2] - costs[1] - slope * (sizes[2] - sizes[1])) > 1e-6:
            return None
        return affine(_rational(costs[0] - slope * sizes[0]), {"size": _rational(slope)})

    return _over_numbers(mechanism, names, at)


def whole_costs(program: Program, cost: float) -> list[Epsilon]:
    """Budgets near a least cost that shifts by whole numbers can have, where all noise is geometric and has one logarithm."""
    scales = [program.scale(site) for site in program.sites if site.noise in SHIFTED]
    ratios = {scale.ratio for scale in scales}
    ratio = next(iter(ratios), None)
    if len(ratios) != 1 or ratio is None:
        return []
    unit = float(rational_bounds(log(ratio).ball())[0])
    least = max(0, ceil(cost / unit - _WHOLE))
    return [log(ratio**times) for times in range(least, least + _MORE)]


def _few(mechanism: Mechanism, public: Mapping[str, Any], monitor: Monitor) -> bool:
    """Whether larger sizes can be looked at: words are followed, or there are few ways through the mechanism."""
    if mechanism.generator:
        return True
    fewer, more = (len(regions(mechanism, size, public, monitor.pause)) for size in (3, 4))
    return more <= fewer + 1


def _rational(value: float) -> Rational:
    return rational(Fraction(value).limit_denominator(5000))


def _over_numbers(
    mechanism: Mechanism, names: Sequence[str], at: Callable[[Mapping[str, Any]], Affine | None]
) -> Affine | None:
    """An affine expression through the values at a few public numbers."""
    base = next(publics(mechanism, numbers=(1,)))
    first = at(base)
    if first is None:
        return None
    result = first
    for name in names:
        low = base[name]
        second, third = (at({**base, name: low + step}) for step in (1, 2))
        if second is None or third is None:
            return None
        slope = second.plus(first, -1)
        if third.plus(second, -1) != slope or slope.terms:
            return None
        result = result.plus(affine(-slope.constant * low, {name: slope.constant}))
    return result


def search_losses_at_size(refuter: Refuter, size: int | None, public: Mapping[str, Any], *, far: bool = False) -> bool:
    """Look for losses at a size, along the worst corners, further and further away; whether the least cost is nearly reached."""
    ranked = refuter.ranked(size, public) if size is None or size <= 5 else refuter.ranked_long(size, public)
    if not ranked:
        return False
    goal = ranked[0].cost
    for one in ranked[:_TRIED]:
        if one.cost < goal - 1e-9:
            break
        for left, right in refuter.pairs(one.corner, public, size, _FAR if far else _NEAR):
            for event in refuter.shapes(one.region.word, left):
                refuter.decided(left, right, event)
            if refuter.best_value >= goal - _CLOSE:
                return True
    return refuter.best_value >= goal - _CLOSE


def cost_by_line(
    mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any], event: Any, monitor: Monitor
) -> dict[int, Fraction]:
    """What every line has to pay for an event at given data: the least cost of shifts, by the line that draws the noise."""
    if summed_alone(mechanism):
        return {}
    own = {name for name, declared in mechanism.inputs.items() if declared.size is not None}
    size = max((len(v) for name, v in left.items() if isinstance(v, list) and name not in own), default=None)
    corner: dict[str, Fraction] = {}
    for name, declared in mechanism.inputs.items():
        if not declared.public:
            one, other = ([side[name]] if declared.shape == "value" else side[name] for side in (left, right))
            names = open_names(name, declared, size)
            corner.update({n: Fraction(b) - Fraction(a) for n, a, b in zip(names, one, other, strict=True)})
    follow = following(event) if mechanism.generator and (size or 0) > 5 else None
    best: tuple[float, Region, tuple[float, ...]] | None = None
    try:
        listed = regions(mechanism, size, left, monitor.pause, follow=follow)
    except LanguageError:
        return {}  # the function does not run on data that are left open
    for region in listed:
        if matching(event, _sketched(region.word, event)) is None:
            continue
        cost, shifts = LinearProgram(region, list(corner)).solve(corner)
        if isfinite(cost) and (best is None or cost > best[0]):
            best = (cost, region, shifts)
    if best is None or verify_shift_cost(best[1], corner, best[2]) is None:
        return {}
    shares: dict[int, Fraction] = {}
    for noise, shift in zip(best[1].noises, best[2], strict=True):
        exact = abs(simplest(shift)) / fraction(noise.scale)
        if exact:
            shares[noise.line] = shares.get(noise.line, Fraction(0)) + exact
    return shares


def _sketched(pattern: Any, event: Any) -> Any:
    """A word with a number that fits in the place of each noisy number."""
    if isinstance(pattern, Between):
        return Linear.atom(0) if isinstance(event, Between) else pattern
    if isinstance(pattern, list | tuple) and isinstance(event, list | tuple) and len(pattern) == len(event):
        return type(pattern)(_sketched(p, e) for p, e in zip(pattern, event, strict=True))
    return pattern
