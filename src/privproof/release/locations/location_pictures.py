"""Pictures of locations as self-contained SVG: the map, the true place, how far reports spread, and the worst pair of a finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from privproof.drawing.palette import BLUE, BOX, DARK_ORANGE, GREY, INK, RED, SILVER
from privproof.drawing.strokes import svg_element, text_at, text_width
from privproof.exact import Number, rational
from privproof.release.locations.location_findings import LocationFinding
from privproof.release.locations.location_maps import Clamped, Map, Resampled
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace

Spot = tuple[float, float]

_SIZE, _MARGIN, _LINE = 560.0, 36.0, 17.0
"""In pixels: the longer side of the map, the margin around it, and a line of the legend."""
_MOST_DOTS = 2_500
"""More sites are not drawn as dots: a rectangle is left plain, of another map the first so many are drawn."""
_SHARES: tuple[tuple[str, str], ...] = (("1/2", "50 %"), ("19/20", "95 %"))


@dataclass(frozen=True)
class _Frame:
    """Where places stand in the picture: north is up."""

    west: float
    north: float
    scale: float

    def at(self, spot: Spot) -> Spot:
        return _MARGIN + (spot[0] - self.west) * self.scale, _MARGIN + (self.north - spot[1]) * self.scale


def location_picture(
    mechanism: PlanarGeometric | PlanarLaplace | Clamped | Resampled | None = None,
    *,
    location: tuple[Any, Any] | None = None,
    reports: Sequence[tuple[Any, Any]] = (),
    finding: LocationFinding | None = None,
    title: str = "",
) -> str:
    """An SVG picture: the map, the true place with the radii of 50 % and 95 % of the reports, reports, and a finding's worst pair.

    Args:
        mechanism: whose noise and map are drawn; left out, that of the finding.
        location: the true place: a site for noise on a grid.
        reports: sampled reports, as dots: sites for noise on a grid.
        finding: whose pair of places and report are marked.
        title: the first line.

    >>> from privproof.release.locations.location_maps import clamped
    >>> town = Map.rectangle((0, 0), (9, 9), step=100)
    >>> drawn = location_picture(clamped(PlanarGeometric.of("1/200", step=100), town), location=(4, 4), reports=[(3, 4), (6, 6)])
    >>> drawn.startswith("<svg"), drawn.count('class="report"'), drawn.count('class="radius"')
    (True, 2, 2)
    """
    shown = mechanism if mechanism is not None else finding.mechanism if finding is not None else None
    noise = shown.noise if isinstance(shown, Clamped | Resampled) else shown
    step = _float(noise.step) if isinstance(noise, PlanarGeometric) else _float(getattr(shown, "step", 1))
    where = shown.map if isinstance(shown, Clamped | Resampled) else None
    true = None if location is None else _spot(location, step)
    dots = [_spot(report, step) for report in reports]
    marks = [] if finding is None else _marks(finding, step)
    radii = _radii(noise, true)
    spots = dots + [spot for _, _, spot in marks] + _outline(where, step) + ([] if true is None else [true])
    spots += [(true[0] + sign * radius, true[1] + sign * radius) for _, radius in radii if true for sign in (-1, 1)]
    if not spots:
        spots = [(-1.0, -1.0), (1.0, 1.0)]
    frame, width, height = _frame(spots)
    body = _drawn_map(where, step, frame)
    if true is not None:
        x, y = frame.at(true)
        for label, radius in radii:
            size = radius * frame.scale
            body.append(
                f'<circle class="radius" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="none" stroke="{BLUE}" stroke-dasharray="5 4"/>'
            )
            body.append(_text(x, y - size - 3, f"{label} within {radius:.4g}", BLUE, anchor="middle"))
    for spot in dots:
        x, y = frame.at(spot)
        body.append(f'<circle class="report" cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{GREY}" fill-opacity="0.55"/>')
    if true is not None:
        x, y = frame.at(true)
        body.append(f'<path d="M{x - 6:.1f} {y:.1f}h12M{x:.1f} {y - 6:.1f}v12" stroke="{BLUE}" stroke-width="2.5"/>')
    body += _drawn_marks(marks, frame)
    return _document(body, _legend(true, dots, marks, finding), title, width, height)


def _marks(finding: LocationFinding, step: float) -> list[tuple[str, str, Spot]]:
    """The places of a finding: label, colour, spot."""
    found = [("x", RED, finding.left), ("x'", DARK_ORANGE, finding.right), ("z", INK, finding.output)]
    return [(name, colour, _spot(place, step)) for name, colour, place in found if isinstance(place, tuple)]


def _radii(noise: object, true: Spot | None) -> list[tuple[str, float]]:
    if true is None or not isinstance(noise, PlanarGeometric | PlanarLaplace):
        return []
    return [(label, float(noise.accuracy(share, 64).mid())) for share, label in _SHARES]


def _outline(where: Map | None, step: float) -> list[Spot]:
    return [] if where is None else [_spot(corner, step) for corner in where.bounds]


def _frame(spots: Sequence[Spot]) -> tuple[_Frame, float, float]:
    west, east = min(x for x, _ in spots), max(x for x, _ in spots)
    south, north = min(y for _, y in spots), max(y for _, y in spots)
    extent = max(east - west, north - south) or 1.0
    scale = _SIZE / extent
    west, north = west - 0.02 * extent, north + 0.02 * extent
    width, height = ((high - low + 0.02 * extent) * scale + 2 * _MARGIN for low, high in ((west, east), (south, north)))
    return _Frame(west, north, scale), width, height


def _drawn_map(where: Map | None, step: float, frame: _Frame) -> list[str]:
    if where is None:
        return []
    low, high = (frame.at(_spot(corner, step)) for corner in where.bounds)
    result = []
    if where.corners is not None:
        result.append(
            f'<rect x="{low[0]:.1f}" y="{high[1]:.1f}" width="{high[0] - low[0]:.1f}" height="{low[1] - high[1]:.1f}" '
            f'fill="{BOX}" stroke="{SILVER}"/>'
        )
        across, along = (where.corners[1][k] - where.corners[0][k] + 1 for k in (0, 1))
        if across * along > _MOST_DOTS:
            return result
    for site in where.sites[:_MOST_DOTS]:
        x, y = frame.at(_spot(site, step))
        result.append(f'<circle class="site" cx="{x:.1f}" cy="{y:.1f}" r="1.6" fill="{SILVER}"/>')
    return result


def _drawn_marks(marks: Sequence[tuple[str, str, Spot]], frame: _Frame) -> list[str]:
    result = []
    if len(marks) >= 2:
        (a, b), (c, d) = frame.at(marks[0][2]), frame.at(marks[1][2])
        result.append(f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" stroke="{RED}" stroke-width="1.5"/>')
    taken: dict[Spot, int] = {}
    for name, colour, spot in marks:
        x, y = frame.at(spot)
        lines = taken.get(spot, 0)
        taken[spot] = lines + 1
        radius = 5 + 3 * lines
        result.append(
            f'<circle class="worst" cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        result.append(_text(x + 10 + 16 * lines, y - 8, name, colour))
    return result


def _legend(
    true: Spot | None, dots: Sequence[Spot], marks: Sequence[object], finding: LocationFinding | None
) -> list[tuple[str, str]]:
    lines = []
    if true is not None:
        lines.append((BLUE, "the true place, and radii that hold 50 % and 95 % of the reports"))
    if dots:
        lines.append((GREY, f"{len(dots)} reports"))
    if finding is not None and marks:
        lines += [(RED, line.strip()) for line in str(finding).splitlines() if not line.startswith("  of:")]
    return lines


def _document(body: Sequence[str], legend: Sequence[tuple[str, str]], title: str, width: float, height: float) -> str:
    top = _LINE + 8 if title else 0.0
    wide = max(width, 24 + max((text_width(words) for _, words in legend), default=0.0))
    tall = height + top + _LINE * len(legend) + 10
    said = "; ".join(words for _, words in legend) or "a map"
    parts = [_text(12, 20, title, INK, size=14)] if title else []
    parts += [f'<g transform="translate(0 {top:.0f})">', *body, "</g>"]
    parts += [_text(12, height + top + _LINE * number, words, colour) for number, (colour, words) in enumerate(legend)]
    return svg_element(title or "a map", said, (0, 0, wide, tall), parts)


def _text(x: float, y: float, words: str, colour: str, *, anchor: str = "start", size: int = 12) -> str:
    return text_at(x, y, words, size=size, fill=colour, anchor=anchor)


def _spot(place: tuple[Any, Any], step: float) -> Spot:
    return _float(place[0]) * step, _float(place[1]) * step


def _float(value: Number | float) -> float:
    return value if isinstance(value, float) else float(arb(rational(value)))
