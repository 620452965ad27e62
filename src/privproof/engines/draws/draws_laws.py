"""Laws of noise, compared two at a time: the outcome that tells them apart best, and by how much.

Geometric laws with one alpha have ratios that fall or rise with the outcome: with centers i < j the ratio
``alpha^(|z-i| - |z-j|)`` never rises with z.  So it is largest at the lower end, and merging all outcomes beyond a bound into the bound
(truncation) leaves it largest there, because the ratio of two sums lies between the ratios of their terms.  Other laws are tables,
which are compared outcome by outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privproof.exact import ONE, ZERO, Rational, rational
from privproof.language.laws import Geometric, TableLaw
from privproof.language.noise import NOISES
from privproof.language.values import key, shared_value
from privproof.models.draws_model import EXACTLY, NoiseCall


@dataclass(frozen=True)
class ToldApart:
    """What tells two laws apart best: an outcome, and the ratio of its probabilities, None where it is infinite."""

    outcome: Any
    ratio: Rational | None


class Incomparable(Exception):
    """Two laws whose largest ratio is not found: noise on all integers beside other noise."""


class DrawsLaws:
    """The laws of a model; tables are made when they are needed."""

    def __init__(self, calls: tuple[NoiseCall, ...]) -> None:
        self.calls = calls
        self._alphas: dict[str, Rational] = {}
        self._powers: dict[tuple[str, int], Rational] = {}
        self._tables: dict[int, dict[Any, tuple[Any, Rational]]] = {}
        self._told: dict[tuple[int, int], ToldApart] = {}

    @cached_property
    def _centers(self) -> list[tuple[Any, int] | None]:
        """For geometric laws what they must share to be compared by their centers, and the center."""
        return [
            (repr((call.noise, call.arguments[1:])), call.arguments[0])
            if call.noise in ("geometric", "truncated_geometric") and type(call.arguments[0]) is int
            else None
            for call in self.calls
        ]

    def told(self, left: int, right: int) -> ToldApart:
        """What tells two laws apart best, the first one making it likelier."""
        if left == right:
            return ToldApart(None, ONE)
        if (left, right) not in self._told:
            one, other = self._centers[left], self._centers[right]
            if one is not None and other is not None and one[0] == other[0]:
                found = self._geometric(left, right)
            else:
                found = self._compared(left, right)
            self._told[left, right] = found
        return self._told[left, right]

    def ratio(self, left: Sequence[int], right: Sequence[int]) -> Rational | None:
        """The largest ratio of parts that are drawn independently, each from its law; None where it is infinite."""
        found = ONE
        for i, j in zip(left, right, strict=True):
            if i != j:
                ratio = self.told(i, j).ratio
                if ratio is None:
                    return None
                found *= ratio
        return found

    def outcome(self, left: int, right: int) -> Any:
        """An outcome that tells two laws apart best; of equal laws a likely one."""
        if left != right:
            return self.told(left, right).outcome
        call = self.calls[left]
        if call.noise == "geometric":
            return call.arguments[0]
        if call.noise == "truncated_geometric":
            return min(max(call.arguments[0], call.arguments[1]), call.arguments[2])
        return max(self._table(left).values(), key=lambda row: row[1])[0]

    def probability(self, law: int, outcome: Any) -> Rational:
        """The probability of an outcome."""
        call = self.calls[law]
        if call.noise == "geometric":
            alpha = self._alpha(call)
            if type(outcome) is not int:
                return ZERO
            return (1 - alpha) / (1 + alpha) * self._power(call, abs(outcome - call.arguments[0]))
        if call.noise == "truncated_geometric" and type(call.arguments[0]) is int:
            return self._truncated(call, outcome)
        row = self._table(law).get(key(shared_value(outcome)))
        return ZERO if row is None else row[1]

    def _alpha(self, call: NoiseCall) -> Rational:
        given = call.arguments[-3:]
        if repr(given) not in self._alphas:
            law = NOISES["geometric"].law(0, *given)
            assert isinstance(law, Geometric)
            self._alphas[repr(given)] = rational(law.alpha)
        return self._alphas[repr(given)]

    def _power(self, call: NoiseCall, exponent: int) -> Rational:
        found = (repr(call.arguments[-3:]), exponent)
        if found not in self._powers:
            self._powers[found] = self._alpha(call) ** exponent
        return self._powers[found]

    def _truncated(self, call: NoiseCall, outcome: Any) -> Rational:
        center, low, high = call.arguments[:3]
        if type(outcome) is not int or not low <= outcome <= high:
            return ZERO
        if low == high:
            return ONE
        alpha = self._alpha(call)
        if outcome not in (low, high):
            return (1 - alpha) / (1 + alpha) * self._power(call, abs(outcome - center))
        beyond = center - low if outcome == low else high - center
        if beyond >= 0:
            return self._power(call, beyond) / (1 + alpha)
        return 1 - self._power(call, 1 - beyond) / (1 + alpha)

    def _geometric(self, left: int, right: int) -> ToldApart:
        call, other = self.calls[left], self.calls[right]
        i, j = call.arguments[0], other.arguments[0]
        if call.noise == "geometric":
            return ToldApart(i, 1 / self._power(call, abs(i - j)))
        low, high = call.arguments[1:3]
        if low == high:
            return ToldApart(low, ONE)
        end = low if i < j else high
        if low <= min(i, j) and max(i, j) <= high:
            return ToldApart(end, 1 / self._power(call, abs(i - j)))
        return ToldApart(end, self._truncated(call, end) / self._truncated(other, end))

    def _table(self, law: int) -> dict[Any, tuple[Any, Rational]]:
        """The outcomes of a law, by what tells them apart."""
        if law not in self._tables:
            call = self.calls[law]
            if call.noise == EXACTLY:
                rows: tuple[tuple[Any, Rational], ...] = ((call.arguments[0], ONE),)
            else:
                found = NOISES[call.noise].law(*call.arguments)
                if not isinstance(found, TableLaw):
                    raise Incomparable(call.noise)
                rows = found.possible
            self._tables[law] = {key(shared_value(value)): (value, p) for value, p in rows}
        return self._tables[law]

    def _compared(self, left: int, right: int) -> ToldApart:
        one, other = self._table(left), self._table(right)
        best: ToldApart | None = None
        for name, (value, p) in one.items():
            if name not in other:
                return ToldApart(value, None)
            ratio = p / other[name][1]
            if best is None or (best.ratio is not None and ratio > best.ratio):
                best = ToldApart(value, ratio)
        assert best is not None
        return best
