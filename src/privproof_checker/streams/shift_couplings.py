"""Shift couplings of stream automata: what it costs to carry the samples of one run into those of the other.

Let the inputs of two runs differ by ``D * within``.  Every sample of the second run is that of the first plus
``g * within`` for a *shift* g of -1, 0 or 1.  A sample of rate r that reads the input c times pays
``r * within * |c D - g|``, which bounds the logarithm of the ratio of the densities; without noise ``g = c D``.  If the
shifts satisfy ``shift(low) <= shift(high)`` for every order of the guards on the path and ``shift(plus) = shift(minus)``
for every value written, then the second run takes the same path and writes the same numbers, so the probability of any
event on this path is at most e^cost times that in the second run (Farzan, Li, Nikolov and Nittoor).  The same holds for
a guard of which one order must hold, since every order that holds is kept.

Costs are whole multiples of a unit.  Parts of a step that no order, value or store connects are treated separately, and
within a part samples are minimised out one after the other, those with few neighbours first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import refuse
from privproof_checker.streams.automaton_steps import StepForm
from privproof_checker.streams.order_systems import Term

SHIFTS = (-1, 0, 1)
"""The shifts of a sample that a coupling chooses from, in units of how far neighbouring inputs may differ."""
MOST_NAMES = 8
"""The thresholds of one group."""

Shifts: TypeAlias = tuple[int, ...]
Weight: TypeAlias = Callable[[Rational], int]
"""The cost of shifting a sample with noise of a given rate by one."""

_Linked: TypeAlias = tuple[list[int | str], list[tuple[Term, Term, bool]], dict[str, int]]
"""The terms, the constraints (an equality if true) and the stores of a part."""

_Factor: TypeAlias = tuple[tuple[int, ...], dict[Shifts, int]]
"""Variables, and the finite costs by their shifts."""


@dataclass(frozen=True, eq=False)
class Part:
    """A connected part of a step.

    Attributes:
        looked: the thresholds whose old shifts matter.
        stores: new thresholds, each with a position in the new shifts.
        moves: by the shifts of those looked at, the new shifts that are possible, with their costs.
    """

    looked: tuple[str, ...]
    stores: tuple[tuple[str, int], ...]
    moves: Mapping[Shifts, Sequence[tuple[Shifts, int]]]


class Kernels:
    """The parts of steps, remembered by their form."""

    def __init__(self, weight: Weight, among: frozenset[str] | None = None) -> None:
        """Take the weights of samples; if `among` is given, drop the constraints on all other thresholds."""
        self._weight = weight
        self._among = among
        self._parts: dict[tuple[StepForm, int], tuple[Part, ...]] = {}
        self._moves: dict[object, dict[Shifts, list[tuple[Shifts, int]]]] = {}

    def parts(self, form: StepForm, change: int) -> tuple[Part, ...]:
        """The parts of a step whose input changes by so much."""
        key = (form, change)
        if key not in self._parts:
            self._parts[key] = tuple(self._part(form, change, *found) for found in self._connected(form))
        return self._parts[key]

    def _connected(self, form: StepForm) -> Iterable[_Linked]:
        """What each part consists of."""
        links = [link for link in form.links if link[0] != link[1] and self._seen(link[0]) and self._seen(link[1])]
        stores = {name: sample for name, sample in form.stores.items() if self._among is None or name in self._among}
        beside: dict[int | str, list[int | str]] = {sample: [] for sample in stores.values()}
        for one, two, _ in links:
            for term, other in ((one, two), (two, one)):
                if term is not None:
                    beside.setdefault(term, [])
                    if other is not None:
                        beside[term].append(other)
        part_of: dict[int | str, int] = {}
        parts: list[_Linked] = []
        for root in beside:
            if root in part_of:
                continue
            part_of[root] = len(parts)
            members = [root]
            for term in members:
                for other in beside[term]:
                    if other not in part_of:
                        part_of[other] = len(parts)
                        members.append(other)
            parts.append((members, [], {}))
        for one, two, equal in links:
            anchor = two if one is None else one
            assert anchor is not None
            parts[part_of[anchor]][1].append((one, two, equal))
        for name, sample in stores.items():
            parts[part_of[sample]][2][name] = sample
        return parts

    def _seen(self, term: Term) -> bool:
        return not isinstance(term, str) or self._among is None or term in self._among

    def _law(self, rate: Rational | None, reads: int, change: int) -> tuple[int, int | None]:
        """The shift of a sample that costs nothing, and what one more costs (None: it is impossible)."""
        return reads * change, None if rate is None else self._weight(rate)

    def _part(
        self,
        form: StepForm,
        change: int,
        members: Sequence[int | str],
        links: Sequence[tuple[Term, Term, bool]],
        stores: Mapping[str, int],
    ) -> Part:
        place: dict[Term, int] = {term: i for i, term in enumerate(members)}
        place[None] = -1
        looked = tuple(term for term in members if isinstance(term, str))
        kept = sorted(set(stores.values()))
        laws = tuple(None if isinstance(term, str) else self._law(*form.laws[term], change) for term in members)
        ties = tuple((place[one], place[two], equal) for one, two, equal in links)
        scope = (*(place[name] for name in looked), *(place[sample] for sample in kept))
        key = (laws, ties, scope)
        if key not in self._moves:
            self._moves[key] = _moves(laws, ties, scope, len(looked))
        positions = {sample: i for i, sample in enumerate(kept)}
        return Part(looked, tuple((name, positions[sample]) for name, sample in stores.items()), self._moves[key])


# The least cost over the samples of a part


def _moves(
    laws: Sequence[tuple[int, int | None] | None],
    ties: Sequence[tuple[int, int, bool]],
    scope: tuple[int, ...],
    looked: int,
) -> dict[Shifts, list[tuple[Shifts, int]]]:
    """The new shifts and their costs by the old shifts.

    Args:
        laws: of each variable, the shift that costs nothing and the weight (None: no other shift); None for thresholds.
        ties: pairs of variables (-1 for the constant 0), the first at most the second, or equal if true.
        scope: the variables to keep; the first ones are the thresholds looked at.
        looked: how many these are.
    """
    if len(scope) > MOST_NAMES:
        refuse(f"a step connects more than {MOST_NAMES} thresholds", "question.transitions")
    factors: list[_Factor] = []
    for i, law in enumerate(laws):
        if law is None:
            costs: dict[Shifts, int] = {(s,): 0 for s in SHIFTS}
        elif law[1] is None:
            costs = {(law[0],): 0}
        else:
            costs = {(s,): law[1] * abs(law[0] - s) for s in SHIFTS}
        factors.append(((i,), costs))
    for one, two, equal in ties:
        allowed = [(a, b) for a in SHIFTS for b in SHIFTS if a == b or (a < b and not equal)]
        if one == -1:
            factors.append(((two,), {(b,): 0 for a, b in allowed if a == 0}))
        elif two == -1:
            factors.append(((one,), {(a,): 0 for a, b in allowed if b == 0}))
        else:
            factors.append(((one, two), dict.fromkeys(allowed, 0)))
    waiting = set(range(len(laws))) - set(scope)
    while waiting:
        near = {i: set[int]() for i in waiting}
        for variables, _ in factors:
            for i in variables:
                if i in near:
                    near[i].update(variables)
        # All with the fewest neighbours at once, as long as they are not neighbours of each other.
        fewest = min(len(each) for each in near.values())
        chosen: set[int] = set()
        for i in sorted(waiting):
            if len(near[i]) == fewest and not near[i] & chosen:
                chosen.add(i)
        own: dict[int, list[_Factor]] = {i: [] for i in chosen}
        rest: list[_Factor] = []
        for factor in factors:
            i = next((i for i in factor[0] if i in chosen), -1)
            (own[i] if i >= 0 else rest).append(factor)
        factors = rest + [_least(_sum_factors(own[i]), tuple(sorted(near[i] - {i}))) for i in sorted(chosen)]
        waiting -= chosen
    result: dict[Shifts, list[tuple[Shifts, int]]] = {}
    for shifts, cost in _least(_sum_factors(factors), scope)[1].items():
        result.setdefault(shifts[:looked], []).append((shifts[looked:], cost))
    return result


def _sum_factors(factors: Iterable[_Factor]) -> _Factor:
    """The sum of factors."""
    scope: tuple[int, ...] = ()
    costs: dict[Shifts, int] = {(): 0}
    for variables, more in factors:
        new = [i for i, variable in enumerate(variables) if variable not in scope]
        old = [(i, scope.index(variable)) for i, variable in enumerate(variables) if variable in scope]
        if len(scope) + len(new) > MOST_NAMES + 1:
            refuse("the samples of a step are connected too closely", "question.transitions")
        by: dict[Shifts, list[tuple[Shifts, int]]] = {}
        for shifts, cost in more.items():
            by.setdefault(tuple(shifts[i] for i, _ in old), []).append((tuple(shifts[i] for i in new), cost))
        costs = {
            (*shifts, *added): cost + extra
            for shifts, cost in costs.items()
            for added, extra in by.get(tuple(shifts[j] for _, j in old), ())
        }
        scope += tuple(variables[i] for i in new)
    return scope, costs


def _least(factor: _Factor, scope: tuple[int, ...]) -> _Factor:
    """The least cost over all variables but these."""
    variables, costs = factor
    kept = [variables.index(variable) for variable in scope]
    result: dict[Shifts, int] = {}
    for shifts, cost in costs.items():
        key = tuple(shifts[i] for i in kept)
        if key not in result or cost < result[key]:
            result[key] = cost
    return scope, result
