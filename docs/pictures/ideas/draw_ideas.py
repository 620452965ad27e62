"""The pictures of ideas: ``python docs/pictures/ideas/draw_ideas.py`` draws them anew, always the same.

What is a number in them comes from a verdict; only the sketches of the landing page and of neighbours are drawn by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from pathlib import Path

from privproof import check, integer, laplace, mechanism, tight_epsilon
from privproof.drawing.axes import axis_for
from privproof.drawing.graph_pictures import arrow_path
from privproof.drawing.palette import (
    BLUE,
    BOX,
    DARK_ORANGE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE_BLUE,
    PALE_RED,
    PAPER,
    RED,
    STATUS,
)
from privproof.drawing.plots import Plot
from privproof.drawing.strokes import MARGIN, WIDTH, point_list, segment, svg_document, svg_element, text_at
from privproof.formats import read_question, stream_picture, svg
from privproof.profiles.output_laws import hidden_rows
from privproof.reporting import distribution_picture

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"


def box(x: float, y: float, wide: float, high: float, fill: str = BOX, stroke: str = GREY) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="6" fill="{fill}" stroke="{stroke}" stroke-width="1.2"/>'
    )


def arrow(a: float, b: float, c: float, d: float, colour: str = GREY) -> str:
    bend = (c - a) / 2
    return arrow_path(((a, b), (a + bend, b), (c - bend, d), (c, d)), colour)


def column(x: float, y: float, cells: Sequence[str], changed: int, colour: str, wide: float = 88) -> list[str]:
    """A data set as a column of records."""
    parts = []
    for i, cell in enumerate(cells):
        odd = i == changed
        parts.append(box(x, y + 24 * i, wide, 21, PALE_RED if odd else BOX, RED if odd else GREY))
        parts.append(text_at(x + wide / 2, y + 24 * i + 15, cell, fill=INK, anchor="middle", bold=odd))
    return [*parts, text_at(x + wide / 2, y - 8, "left" if colour == BLUE else "right", fill=colour, anchor="middle", bold=True)]


def landing() -> str:
    """What the tool does: two data sets, one function, two distributions, one of three answers."""
    parts = column(16, 46, ["Ann: yes", "Bob: no", "Eve: yes"], 2, BLUE)
    parts += column(16, 176, ["Ann: yes", "Bob: no", "Eve: no"], 2, DARK_ORANGE)
    parts += [arrow(108, 82, 150, 128), arrow(108, 212, 150, 150)]
    parts += [box(152, 104, 128, 68, PALE_BLUE, BLUE)]
    for i, line in enumerate(("your function,", "your model,", "your data")):
        parts.append(text_at(216, 126 + 17 * i, line, fill=INK, anchor="middle", bold=i == 0))
    parts += [arrow(282, 128, 322, 84), arrow(282, 150, 322, 196)]
    shown = {"0": (0.55, 0.14), "1": (0.29, 0.27), "2": (0.16, 0.59)}
    for top, side, colour in ((36.0, 0, BLUE), (148.0, 1, ORANGE)):
        for i, name in enumerate(shown):
            high = 96 * shown[name][side]
            parts.append(f'<rect x="{330 + 30 * i}" y="{top + 68 - high:.1f}" width="22" height="{high:.1f}" rx="2" fill="{colour}"/>')
            parts.append(text_at(341 + 30 * i, top + 83, name, size=11, anchor="middle"))
        parts.append(segment(324, top + 68, 424, top + 68, GREY))
    parts.append(text_at(374, 262, "what an observer sees", anchor="middle"))
    parts += [arrow(430, 104, 474, 62), arrow(430, 138, 474, 138), arrow(430, 172, 474, 214)]
    answers = (
        ("proved", "✓ proved", "never more than e^ε times", "as likely, for all neighbours"),
        ("refuted", "✗ refuted", "these two, this output:", "1/3 against 7/72"),
        ("unknown", "? unknown", "why, and what is", "established all the same"),
    )
    for i, (status, name, first, second) in enumerate(answers):
        y = 36.0 + 76 * i
        parts.append(box(478, y, 226, 62, PAPER, STATUS[status]))
        parts.append(text_at(490, y + 20, name, size=14, fill=STATUS[status], bold=True))
        parts.append(text_at(490, y + 37, first, fill=INK))
        parts.append(text_at(490, y + 53, second, fill=INK))
    parts.append(text_at(704, 280, "with a certificate that a second program checks", size=11, anchor="end"))
    said = "Two data sets that differ in one person go through the same function; the two distributions are compared exactly."
    return svg_element("What privproof does", said, (0, 0, WIDTH, 292), parts)


def neighbours() -> str:
    """The relations: which two data sets are compared."""
    kinds = (
        ("one value changes", (1, 0, 1, 1), (1, 0, 0, 1), (2,)),
        ("every value by at most 1", (3, 5, 2, 4), (4, 4, 2, 5), (0, 1, 3)),
        ("all in one direction", (3, 5, 2, 4), (4, 6, 2, 5), (0, 1, 3)),
        ("one record more", (1, 0, 1, 1), (1, 0, 1), (3,)),
    )
    parts, top = [], 58.0
    for name, left, right, changed in kinds:
        parts.append(text_at(MARGIN, top + 26, name, size=13, fill=INK))
        for x, values in ((220, left), (470, right)):
            for i, value in enumerate(values):
                odd = i in changed
                parts.append(box(x + 46 * i, top + 6, 40, 30, PALE_RED if odd else BOX, RED if odd else GREY))
                parts.append(text_at(x + 46 * i + 20, top + 26, str(value), size=14, fill=INK, anchor="middle"))
        parts.append(text_at(437, top + 26, "~", size=18, fill=GREY, anchor="middle"))
        top += 50
    said = "Four neighbour relations: one value changes; every value by at most 1; all in one direction; one record more."
    return svg_document("Neighbours: two data sets that must look alike", said, top + 14, parts)


def band() -> str:
    """Both distributions of a claim that fails."""
    drawn = distribution_picture(check(f"{EXAMPLES}/mechanisms/noisy_max.py:naive", size=3))
    assert drawn is not None
    return drawn


@mechanism(epsilon="1/2")
def noisy_count(count: integer()):
    """A count with noise for epsilon = 1."""
    return laplace(count, scale=1)


def band_of_number() -> str:
    """The same for one noisy number."""
    drawn = distribution_picture(check(noisy_count))
    assert drawn is not None
    return drawn


def alignment() -> str:
    """Sparse vector: a run, and the run on neighbouring data that writes the same after its noise is moved."""
    axis = axis_for([0.0, 5.0], log=False, outward=True, count=6)
    plots = [Plot(150, top, 530, 0, axis, None) for top in (118.0, 268.0)]
    rows = (
        ("a run on the left data", 2.3, (("first", 1.1, "below"), ("second", 3.0, "above"))),
        ("the run on the right data", 3.3, (("first", 2.1, "below"), ("second", 4.0, "above"))),
    )
    parts = []
    for plot, (name, threshold, answers) in zip(plots, rows, strict=True):
        y = plot.top
        colour = BLUE if plot is plots[0] else DARK_ORANGE
        parts.append(text_at(MARGIN, y - 34, name, fill=colour, bold=True))
        parts.append(segment(plot.left, y, plot.right, y, GREY))
        parts += [segment(plot.across(x), y - 4, plot.across(x), y + 4, GREY) for x in range(6)]
        parts += [text_at(plot.across(x), y + 36, str(x), size=11, anchor="middle") for x in range(6)]
        at = plot.across(threshold)
        parts.append(segment(at, y - 26, at, y + 18, RED, width=2))
        parts.append(text_at(at, y - 31, "noisy threshold", fill=RED, anchor="middle", halo=True))
        for number, value, written in answers:
            x = plot.across(value)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"/>')
            parts.append(text_at(x, y + 20, f"{number}: {written}", fill=INK, anchor="middle", halo=True))
    moves = ((2.3, 3.3, "+1: costs ε/2", RED), (1.1, 2.1, "data: +1", GREY), (3.0, 4.0, "data: −1, noise: +2: costs ε/2", BLUE))
    for (start, end, said, colour), lift in zip(moves, (0, 0, 0), strict=True):
        a, b = plots[0].across(start), plots[1].across(end)
        top, bottom = plots[0].top + 42 + lift, plots[1].top - 46
        parts.append(arrow_path(((a, top), (a, top + 30), (b, bottom - 30), (b, bottom)), colour))
        shift = 8 if start != 2.3 else 6
        parts.append(text_at((a + b) / 2 + shift, (top + bottom) / 2 - 8 + (24 if start == 2.3 else 0), said, size=11, fill=INK, halo=True))
    said = (
        "A run of sparse vector and the aligned run on neighbouring data: the noise is moved so that both write the same, "
        "and moving it costs epsilon in all."
    )
    return svg_document("An alignment: the same output, with the noise moved", said, 330, parts)


def cone() -> str:
    """All words of a model in the plane of their two probabilities: none leaves the cone."""
    question = read_question(EXAMPLES / "models" / "activity.yaml")
    pair = question.scenario.pairs[0]
    verdict = tight_epsilon(question)
    assert verdict.tight is not None
    factor = exp(float(verdict.tight.decimal(digits=12)))
    model = question.model
    words = [row for length in range(1, 6) for row in hidden_rows(model, pair.left, pair.right, length) or ()]
    spots = [(float(row.right), float(row.left)) for row in words]  # type: ignore[arg-type]
    most = max(max(spot) for spot in spots)
    axis = axis_for([0.0, most], log=False, outward=True, count=5)
    end = float(axis.high)
    plot = Plot(70, 74, 420, 320, axis, axis)
    inside = [plot.at(0, 0), plot.at(end / factor, end), plot.at(end, end), plot.at(end, end / factor)]
    parts = [f'<polygon points="{point_list(inside)}" fill="{PALE_BLUE}" fill-opacity="0.8"/>']
    parts.append(plot.grid("probability on the right", "probability on the left", 62))
    for x, y in ((end / factor, end), (end, end / factor)):
        (a, b), (c, d) = plot.at(0, 0), plot.at(x, y)
        parts.append(segment(a, b, c, d, BLUE, width=1.6))
    for x, y in spots:
        at = plot.at(x, y)
        parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3" fill="{INK}" fill-opacity="0.7"/>')
    notes = (
        (BLUE, "P = e^ε Q and P = Q / e^ε"),
        (INK, f"{len(words)} words of up to 5 letters"),
        (GREEN, f"at ε = {verdict.tight.decimal(digits=5)} none is outside,"),
        (GREEN, "and one lies on the border"),
    )
    parts += [text_at(512, 120 + 20 * i, text, fill=colour) for i, (colour, text) in enumerate(notes)]
    return svg_document("The cone: every word as a point", "Words of a model, by their two probabilities.", 450, parts)


def leak() -> str:
    """A stream automaton that loses more with every repetition, with the cycles in red."""
    verdict = check(EXAMPLES / "models" / "streams" / "no_cutoff.yaml")
    assert verdict.leak is not None
    return svg(stream_picture(verdict.question, [n for steps, _ in verdict.leak.segments for n in steps]))


PICTURES: dict[str, Callable[[], str]] = {
    "landing": landing,
    "neighbours": neighbours,
    "band": band,
    "number": band_of_number,
    "alignment": alignment,
    "cone": cone,
    "leak": leak,
}


if __name__ == "__main__":
    for name, drawn in PICTURES.items():
        (HERE / f"{name}.svg").write_text(drawn(), encoding="utf-8")
