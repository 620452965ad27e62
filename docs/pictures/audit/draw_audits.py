"""The pictures of the pages on audits: ``python docs/pictures/audit/draw_audits.py`` draws them anew, always the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import log
from pathlib import Path

from privproof import audit, real_queries
from privproof.library.mechanisms import discrete_above_threshold, improved_noisy_max
from privproof.reporting import histogram_chart, p_value_chart

HERE = Path(__file__).parent
EXACT = log(24 / 7)


def improved() -> str:
    """The p-values of improved noisy max over three queries."""
    found = audit(improved_noisy_max, 1, size=3, samples=20_000, exact=False)
    return p_value_chart([("20,000 runs", found)], title="Improved noisy max over three queries", exact=EXACT)


def samples() -> str:
    """The same with few and with many runs, on one pair of data sets."""
    pair = ([1, 1, 1], [0, 2, 2])
    found = [
        (f"{runs:,} runs", audit(improved_noisy_max, 1, pairs=[pair], samples=runs, exact=False))
        for runs in (1_000, 10_000, 100_000)
    ]
    return p_value_chart(found, title="More runs come nearer, and stay below", exact=EXACT)


def lengths() -> str:
    """Above threshold, which keeps no epsilon at all, on streams of three lengths."""
    found = [
        (f"streams of {size}", audit(discrete_above_threshold, 3, size=size, samples=100_000, exact=False))
        for size in (3, 5, 8)
    ]
    return p_value_chart(found, title="Above threshold, which keeps no epsilon at all")


def largest(q: real_queries(), epsilon: float = 1.0) -> float:
    """Noisy max that returns the noisy answer instead of its index."""
    return max(answer + random.expovariate(epsilon / 2) - random.expovariate(epsilon / 2) for answer in q)


def histogram() -> str:
    """What it returns on two neighbouring lists."""
    return histogram_chart(audit(largest, 1, pairs=[([0] * 5, [1] * 5)], samples=20_000))


PICTURES: dict[str, Callable[[], str]] = {
    "improved": improved,
    "samples": samples,
    "lengths": lengths,
    "histogram": histogram,
}


if __name__ == "__main__":
    for name, drawn in PICTURES.items():
        (HERE / f"{name}.svg").write_text(drawn(), encoding="utf-8")
