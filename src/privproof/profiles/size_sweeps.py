"""One mechanism at several sizes: a table, and what the numbers suggest, said as a measurement and not as a proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import exp

from privproof.engines.search_monitor import Monitor
from privproof.evidence import Verdict
from privproof.exact import Epsilon, fraction, log
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Parcel, Workers

_PATIENCE = 1.0
"""Seconds at least that sizes under way have when time is up: each of them ends by itself with what it knows."""
_SIMPLE = 12
"""The largest denominator of a ratio that a sequence of sizes is said to approach; the remark is no bound and proves nothing."""


@dataclass(frozen=True)
class SizeTable:
    """Verdicts by size.

    Attributes:
        rows: every size with its verdict.
        unasked: the sizes that there was no time left for.
    """

    rows: tuple[tuple[int, Verdict], ...]
    unasked: tuple[int, ...] = ()

    @property
    def status(self) -> str:
        """Proved if it is proved at every size, refuted if it is refuted at one, otherwise unknown."""
        found = [verdict.status for _, verdict in self.rows]
        if "refuted" in found:
            return "refuted"
        return "proved" if found and not self.unasked and set(found) == {"proved"} else "unknown"

    @property
    def boundary(self) -> str:
        """Where a claim ends to hold, in words; empty where it holds or fails at every size, or changes more than once."""
        found = [(size, verdict.status) for size, verdict in self.rows]
        proved = [size for size, status in found if status == "proved"]
        refuted = [size for size, status in found if status == "refuted"]
        if not proved or not refuted or len(proved) + len(refuted) < len(found) or max(proved) > min(refuted):
            return ""
        return f"proved up to n = {max(proved)}, refuted from n = {min(refuted)} on, of the sizes looked at"

    @property
    def trend(self) -> str:
        """What the tight epsilons suggest, in words."""
        told = trend([size for size, _ in self.rows], [verdict.tight for _, verdict in self.rows])
        return f"{told}; not asked: n = {self.left_out}" if self.unasked else told

    @property
    def left_out(self) -> str:
        """The sizes that there was no time left for, as ``7..12``; empty where there are none."""
        return "..".join(map(str, dict.fromkeys((self.unasked[0], self.unasked[-1])))) if self.unasked else ""


def over_sizes(
    ask: Callable[[int], Verdict],
    sizes: Sequence[int],
    *,
    monitor: Monitor | None = None,
    so_far: Callable[[SizeTable], None] = lambda _: None,
    jobs: int = 1,
) -> SizeTable:
    """The verdicts at several sizes, from the first on; all of them together have the time that the monitor gives.

    Args:
        ask: the verdict at one size.
        sizes: the sizes.
        monitor: when it stops, the sizes that are left are not asked about.
        so_far: told the table after each size.
        jobs: how many processes of this machine share the sizes; without copies of this process, this one does all.
    """
    table, found = SizeTable((), tuple(sizes)), {}
    with Workers(max(1, min(jobs, len(sizes))) if Workers(jobs).copies else 1) as workers:
        work = partial(_verdict_at, workers.parcel(ask))

        def stopped() -> str | None:
            return None if monitor is None or not (table.rows or monitor.interrupted) else monitor.stopped()

        patience = 0.0 if monitor is None or monitor.deadline is None else max(_PATIENCE, 2 * monitor.grace)
        last = len(sizes) - workers.width  # the last ones run side by side: the one that takes longest begins first
        order = [*range(last), *range(len(sizes) - 1, max(last, 0) - 1, -1)]
        verdicts = map_chunks(workers, work, [sizes[n] for n in order], stopped=stopped, patience=patience)
        for number, verdict in zip(order, verdicts, strict=False):
            found[number] = verdict
            known = next((n for n in range(len(sizes)) if n not in found), len(sizes))
            table = SizeTable(tuple((sizes[n], found[n]) for n in range(known)), tuple(sizes[known:]))
            if table.rows and table.unasked:
                so_far(table)
    if not table.rows and sizes:  # interrupted before the first: it says so itself
        table = SizeTable(((sizes[0], ask(sizes[0])),), tuple(sizes[1:]))
    return table


def _verdict_at(parcel: Parcel[Callable[[int], Verdict]], size: int) -> Verdict:
    return parcel.open()(size)


def trend(sizes: Sequence[int], tight: Sequence[Epsilon | None]) -> str:
    """What a sequence of tight epsilons suggests; never more than what was measured.

    >>> from privproof.exact import epsilon
    >>> trend([2, 3, 4], [epsilon("ln(4)"), epsilon("ln(8)"), epsilon("ln(16)")])
    'measured for n = 2..4: grows by ln(2) ≈ 0.693147 with each step; nothing is proved beyond n = 4'
    """
    measured = f"measured for n = {sizes[0]}..{sizes[-1]}" if len(sizes) > 1 else f"measured for n = {sizes[0]}"
    beyond = f"nothing is proved beyond n = {sizes[-1]}"
    known = [value for value in tight if value is not None]
    if len(known) < len(tight):
        return f"{measured}: not tight at every size; {beyond}"
    if any(value.infinite for value in known):
        first = next(size for size, value in zip(sizes, known, strict=True) if value.infinite)
        return f"{measured}: no epsilon at all from n = {first} on; {beyond}"
    signs = {b.compare(a) for a, b in pairwise(known)}
    if signs <= {0}:
        return f"{measured}: {known[0].show()} each time; {beyond}"
    if signs != {1}:
        words = "falls" if signs == {-1} else "goes up and down" if -1 in signs else "does not fall"
        return f"{measured}: {words}, from {known[0].show()} to {known[-1].show()}; {beyond}"
    steps = {_quotient(a, b) for a, b in pairwise(known)}
    step = next(iter(steps))
    if len(steps) == 1 and step is not None and len(known) > 2:
        return f"{measured}: grows by {log(step).show()} with each step; {beyond}"
    limit = _limit(known)
    towards = "" if limit is None else f", as if it approached {limit} from below"
    return f"{measured}: grows from {known[0].show()} to {known[-1].show()}{towards}; {beyond}"


def _quotient(before: Epsilon, after: Epsilon) -> Fraction | None:
    """``e^(after - before)`` where it is rational."""
    if before.bound is None or after.bound is None:
        return None
    return fraction(after.bound) / fraction(before.bound)


def _limit(known: Sequence[Epsilon]) -> str | None:
    """Where the sequence seems to go, if its increments shrink like a geometric series: a simple logarithm if one is near."""
    if len(known) < 4:
        return None
    ratios = [exp(float(value.decimal(digits=15))) for value in known[-4:]]
    first, second, third = (b - a for a, b in pairwise(ratios))
    if not 0 < third < second < first or third / second > 0.9 or abs(third / second - second / first) > 0.2:
        return None
    missing = third * third / (second - third)
    simple = Fraction(ratios[-1] + missing).limit_denominator(_SIMPLE)
    if float(simple) > ratios[-1] and abs(float(simple) - ratios[-1] - missing) <= 0.5 * missing:
        return log(simple).show()
    return None
