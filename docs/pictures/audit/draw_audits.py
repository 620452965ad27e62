"""The pictures of the pages on audits: ``python docs/pictures/audit/draw_audits.py`` draws them anew, always the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import log
from pathlib import Path

import numpy as np

from privproof import audit, real_queries
from privproof.drawing.palette import BLUE, DARK_ORANGE, GREY
from privproof.drawing.strokes import MARGIN, segment, svg_document, text_at
from privproof.library.mechanisms import discrete_above_threshold, improved_noisy_max
from privproof.audits.audit_pages import histogram_chart, p_value_chart

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


_FINE = 2.0**-56
"""The distance of doubles from 1/16 to 1/8."""
_PERIOD = 8
"""So many of these distances are 2^-53, the grid of the draws that 1 is added to."""


def lattice() -> str:
    """On which doubles the sums of x and Laplace noise lie, from runs with x = 0 and x = 1, of those that are from 1/16 to 1/8."""
    generator = np.random.default_rng(0)
    step, top, parts = 32, 66, []
    for row, (x, colour) in enumerate(((0, BLUE), (1, DARK_ORANGE))):
        outputs = x + generator.laplace(size=400_000)
        inside = outputs[(outputs >= 1 / 16) & (outputs < 1 / 8)]
        places = np.bincount((inside / _FINE).astype(np.int64) % _PERIOD, minlength=_PERIOD) / len(inside)
        y = top + 96 * row
        parts.append(text_at(MARGIN, y, f"x = {x}: {len(inside):,} outputs", fill=colour, bold=True))
        parts.append(segment(MARGIN, y + 42, MARGIN + step * 2 * _PERIOD, y + 42, GREY))
        for place in range(2 * _PERIOD + 1):
            share, left = float(places[place % _PERIOD]), MARGIN + step * place
            parts.append(segment(left, y + 38, left, y + 46, GREY))
            if share > 0:
                parts.append(f'<circle cx="{left}" cy="{y + 42}" r="{3 + 7 * share:.1f}" fill="{colour}"/>')
                parts.append(text_at(left, y + 26, f"{100 * share:.0f} %", size=10, anchor="middle"))
    for place, name in ((0, "k · 2⁻⁵³"), (_PERIOD, "(k + 1) · 2⁻⁵³"), (2 * _PERIOD, "(k + 2) · 2⁻⁵³")):
        parts.append(text_at(MARGIN + step * place, top + 166, name, size=11, anchor="middle" if place else "start"))
    said = "With x = 0 all doubles occur; with x = 1 only every eighth, the multiples of 2^-53."
    return svg_document("Which doubles x + laplace() can be, between 1/16 and 1/8", said, 250, parts, width=640)


PICTURES: dict[str, Callable[[], str]] = {
    "improved": improved,
    "samples": samples,
    "lengths": lengths,
    "histogram": histogram,
    "lattice": lattice,
}


if __name__ == "__main__":
    for name, drawn in PICTURES.items():
        (HERE / f"{name}.svg").write_text(drawn(), encoding="utf-8")
