"""Probabilities of reports on sites, enclosed in balls or exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isqrt

from flint import arb

from privproof_checker.numbers import ZERO, Epsilon
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.release.locations.location_questions import PlanarNoise, ReportTable, Site, squared_distance

BITS = (128, 512, 2048)
"""The precisions at which a loss is compared with the claim, in this order; what the last leaves open is not accepted."""


_TAIL_BITS = 48
"""Offsets with weights above 2 to minus so many bits are added one by one, twice and three times as many at the higher precisions."""


class ReportLaw:
    """The probabilities of reports, for a table or for planar geometric noise."""

    def __init__(self, mechanism: PlanarNoise | ReportTable, limits: Limits) -> None:
        self.mechanism, self.limits = mechanism, limits
        self.spread = lru_cache(maxsize=None)(self._spread)
        self.weight = lru_cache(maxsize=None)(self._weight)
        self.total = lru_cache(maxsize=None)(self._total)
        self.cells = lru_cache(maxsize=None)(self._cells)

    def outputs(self) -> Sequence[object]:
        """All reports of a mechanism with finitely many."""
        if isinstance(self.mechanism, ReportTable):
            return sorted({name for row in self.mechanism.rows.values() for name in row})
        assert self.mechanism.map is not None
        return sorted({self.mechanism.reported(site) for site in self.mechanism.map.sites})

    def distance(self, left: Site, right: Site) -> arb:
        """The distance of two sites."""
        with precision(BITS[0]):
            return arb(self.mechanism.step) * arb(squared_distance(left, right)).sqrt()

    def open(
        self, sites: Sequence[Site], outputs: Sequence[object], allowed: Epsilon
    ) -> Iterator[tuple[Site, Site, object]]:
        """The ordered pairs with the reports that balls of modest precision do not show to keep the claim."""
        bits = BITS[0]
        with precision(bits):
            rate = allowed.ball(bits) * arb(self.mechanism.step)
            rows = {site: [self.probability(site, output, bits) for output in outputs] for site in sites}
            logarithms = {site: [p.log() if p > 0 else None for p in row] for site, row in rows.items()}
            roots = {
                squared: rate * arb(squared).sqrt()
                for squared in {squared_distance(a, b) for a in sites for b in sites}
            }
            left_open = []
            for number, left in enumerate(sites):
                for right in sites[number + 1 :]:
                    cap = roots[squared_distance(left, right)]
                    for output, mine, other in zip(outputs, logarithms[left], logarithms[right], strict=True):
                        if mine is None or other is None or not -cap <= mine - other <= cap:
                            left_open += [(left, right, output), (right, left, output)]
        return iter(left_open)

    def exceeds(self, left: Site, right: Site, output: object, allowed: Epsilon) -> bool | None:
        """Whether ``P(z | x) > e^(epsilon d) P(z | x')``; None where it cannot be told."""
        if isinstance(self.mechanism, ReportTable):
            mine, other = (self.mechanism.rows[site].get(str(output), ZERO) for site in (left, right))
            if mine == 0 or other == 0:
                return bool(mine > other)
            steps = isqrt(squared_distance(left, right))
            if steps**2 == squared_distance(left, right):
                try:
                    return not allowed.times(self.mechanism.step * steps).allows(mine, other)
                except ValueError:
                    pass
        elif self._same_normaliser(left, right) and self.mechanism.rate.compare(allowed) <= 0:
            return False
        for bits in BITS:
            with precision(bits):
                apart = arb(self.mechanism.step) * arb(squared_distance(left, right)).sqrt()
                margin = self.logarithm(left, right, output, bits) - allowed.ball(bits) * apart
            if margin > 0:
                return True
            if margin <= 0:
                return False
        return None

    def _same_normaliser(self, left: Site, right: Site) -> bool:
        """Whether resampling divides by the same number at both sites: the distances to the sites of the map are the same ones."""
        assert isinstance(self.mechanism, PlanarNoise)
        return self.mechanism.ending == "resampled" and self.spread(left) == self.spread(right)

    def logarithm(self, left: Site, right: Site, output: object, bits: int) -> arb:
        """``ln(P(z | x) / P(z | x'))``; for noise without its normaliser where that is the same."""
        with precision(bits):
            if isinstance(self.mechanism, PlanarNoise) and self._alone(output):
                assert isinstance(output, tuple)
                rate = self.mechanism.rate.ball(bits) * arb(self.mechanism.step)
                gap = rate * (arb(squared_distance(output, right)).sqrt() - arb(squared_distance(output, left)).sqrt())
                if self.mechanism.ending != "resampled":
                    return gap
                return gap + (self.total(right, bits) / self.total(left, bits)).log()
            mine, other = (self.probability(site, output, bits) for site in (left, right))
            return (mine / other).log() if mine > 0 and other > 0 else arb("0 +/- inf")

    def _alone(self, output: object) -> bool:
        """Whether a report stands for itself alone."""
        noise = self.mechanism
        if not isinstance(noise, PlanarNoise) or not isinstance(output, tuple):
            return False
        if noise.map is None:
            return True
        if noise.ending == "resampled":
            if noise.map.nearest(output) != output:
                refuse(f"the report {output} is not on the map", "evidence.output")
            return True
        if noise.table or noise.map.corners is None:
            return False
        low, high = noise.map.corners
        return all(low[k] < output[k] < high[k] for k in (0, 1))

    def probability(self, site: Site, output: object, bits: int) -> arb:
        """The probability of a report."""
        noise = self.mechanism
        with precision(bits):
            if isinstance(noise, ReportTable):
                return arb(noise.rows[site].get(str(output), ZERO))
            assert isinstance(output, tuple)
            if self._alone(output):
                return self.weight(squared_distance(site, output), bits) / self.total(site, bits)
            found = self.cells(site, bits)
            return found.get(output, self.beyond(self._reach(bits), bits).union(arb(0))) / self.total(site, bits)

    def _weight(self, squared: int, bits: int) -> arb:
        assert isinstance(self.mechanism, PlanarNoise)
        with precision(bits):
            return (-self.mechanism.rate.ball(bits) * arb(self.mechanism.step) * arb(squared).sqrt()).exp()

    def _spread(self, site: Site) -> tuple[int, ...]:
        assert isinstance(self.mechanism, PlanarNoise)
        assert self.mechanism.map is not None
        if not self.mechanism.map.sites:
            refuse("the map is too large to be summed over", "question.mechanism.outputs.map")
        return tuple(sorted(squared_distance(each, site) for each in self.mechanism.map.sites))

    def _total(self, site: Site, bits: int) -> arb:
        """The sum of all weights: over the map where it is drawn again, over the whole grid otherwise."""
        assert isinstance(self.mechanism, PlanarNoise)
        with precision(bits):
            if self.mechanism.ending == "resampled":
                return sum((self.weight(squared, bits) for squared in self.spread(site)), arb(0))
            return self._whole(bits)

    def _whole(self, bits: int) -> arb:
        """Directly, or where the grid is fine by the integral: a point of the cell of n is at most half a diagonal from n."""
        assert isinstance(self.mechanism, PlanarNoise)
        rate = self.mechanism.rate.ball(bits) * arb(self.mechanism.step)
        reach = self._reach(bits)
        if reach**2 <= self.limits.words // 8:
            total = self.beyond(reach, bits).union(arb(0)) + 1
            for i in range(1, reach + 1):
                total += sum((4 if j in (0, i) else 8) * self.weight(i * i + j * j, bits) for j in range(i + 1))
            return total
        integral, half = 2 * arb.pi() / rate**2, arb(2).sqrt() / 2
        return (integral * (-rate * half).exp()).union(integral * (rate * half).exp())

    def _reach(self, bits: int) -> int:
        """How far offsets are taken one by one: beyond the map, and as far as the weights matter."""
        assert isinstance(self.mechanism, PlanarNoise)
        rate = self.mechanism.rate.ball(bits) * arb(self.mechanism.step)
        size = 0
        if self.mechanism.map is not None and self.mechanism.ending == "clamped":
            corners = self.mechanism.map.corners or self.mechanism.map.sites
            size = sum(max(site[k] for site in corners) - min(site[k] for site in corners) for k in (0, 1))
        with precision(bits):
            matters = rational_bounds(arb(_TAIL_BITS * (1 + BITS.index(bits))) * arb(2).log() / rate)[1]
        return 2 + size + int(matters.ceil())

    def beyond(self, reach: int, bits: int) -> arb:
        """A bound of the weight of the offsets with max(|i|, |j|) above the reach: 8k of them have the maximum k, and length k or more."""
        with precision(bits):
            ratio, start = self.weight(1, bits), reach + 1
            return 8 * ratio**start * (start - (start - 1) * ratio) / (1 - ratio) ** 2

    def _cells(self, site: Site, bits: int) -> dict[Site, arb]:
        """The weights of all reports of clamped noise: offsets one by one, and all beyond may belong to any report."""
        noise = self.mechanism
        assert isinstance(noise, PlanarNoise)
        assert noise.map is not None
        reach = self._reach(bits)
        effort = 1 if noise.map.corners is not None else len(noise.map.sites)
        within((2 * reach + 1) ** 2 * effort, self.limits.words, "offsets", "question.mechanism")
        counts: dict[Site, dict[int, int]] = {}
        for i in range(-reach, reach + 1):
            for j in range(-reach, reach + 1):
                lengths = counts.setdefault(noise.reported((site[0] + i, site[1] + j)), {})
                lengths[i * i + j * j] = lengths.get(i * i + j * j, 0) + 1
        with precision(bits):
            rest = self.beyond(reach, bits).union(arb(0))
            return {
                report: sum((count * self.weight(squared, bits) for squared, count in lengths.items()), rest)
                for report, lengths in counts.items()
            }
