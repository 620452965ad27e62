"""A privacy profile, or one delta of it, on a terminal, as plain data and as a page with the curve drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb
from rich.console import Console
from rich.text import Text

from privproof.exact import Rational, log, rational, show
from privproof.exact.balls import precision
from privproof.exact.number_texts import enclosing_decimals
from privproof.profiles import Profile, SmallestDelta
from privproof.reporting.html_pages import Page
from privproof.reporting.law_pictures import profile_picture
from privproof.reporting.model_drawings import drawing_element
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import report_of
from privproof.reporting.verdict_wording import data

_DIGITS = 13
"""Digits of a delta: no fewer than engines give it with."""
_WIDE, _NARROW = 18, 15
"""Columns of the labels of a profile, ``epsilon 0.123456``, and of those of a delta, as those of verdicts."""


def print_profile(console: Console, profile: Profile, points: int, *, up_to: Rational | None = None) -> None:
    """Print a profile: the tight epsilon, total variation, the curve at some epsilons, who is told apart."""
    _print(console, _profile_sentence(profile), _profile_facts(profile, points, up_to), _WIDE)


def _profile_sentence(profile: Profile) -> str:
    return f"{profile.name}: the privacy profile, over all neighbours"


def _profile_facts(profile: Profile, points: int, up_to: Rational | None) -> list[Fact]:
    tight = profile.epsilon()
    corners = ", ".join(f"({log(c).decimal()}, {show(d)})" for c, d in profile.corners[:6])
    more = ", ..." if len(profile.corners) > 6 else ""
    worst = profile.worst(0)
    return [
        Fact("delta = 0", f"from epsilon {tight.show()} on" if not tight.infinite else "at no epsilon"),
        Fact("epsilon = 0", f"delta {show(profile.total_variation)}, the total variation distance"),
        Fact("corners", f"(epsilon, delta): {corners}{more}"),
        *(Fact(f"epsilon {point.row[0]}", f"delta {point.row[1]}") for point in profile.points(points, up_to=up_to)),
        *([] if worst is None else [Fact("told apart", str(worst))]),
    ]


def profile_page(profile: Profile, points: int, *, up_to: Rational | None = None) -> Page:
    """A profile as a page."""
    facts = tuple(_profile_facts(profile, points, up_to))
    return Page(
        "computed",
        _profile_sentence(profile),
        facts,
        _drawn_curve(profile, up_to),
        profile_data(profile, points, up_to=up_to),
    )


def _drawn_curve(found: Profile | Sequence[SmallestDelta], up_to: Rational | None = None) -> str:
    return f"<h2>The curve</h2>{drawing_element(profile_picture(found, up_to=up_to))}"


def _print(console: Console, sentence: str, facts: Sequence[Fact], width: int) -> None:
    """A sentence and facts, a line each."""
    console.print(Text(sentence, style="bold"), soft_wrap=True)
    for fact in facts:
        console.print(Text(f"  {fact.label:<{width}}{fact.text}"), soft_wrap=True)


def profile_data(profile: Profile, points: int, *, up_to: Rational | None = None) -> dict[str, Any]:
    """A profile as plain data: exact texts for the corners, decimals for the points."""
    tight = profile.epsilon()
    return {
        "mechanism": profile.name,
        "tight": "inf" if tight.infinite else str(tight),
        "total_variation": str(profile.total_variation),
        "corners": [
            {"bound": str(c), "epsilon": log(c).decimal(digits=10), "delta": str(d)} for c, d in profile.corners
        ],
        "points": [
            dict(zip(("epsilon", "delta"), point.row, strict=True)) for point in profile.points(points, up_to=up_to)
        ],
    }


def print_delta(console: Console, found: SmallestDelta) -> None:
    """Print the smallest delta at an epsilon."""
    _print(console, _delta_sentence(found), _delta_facts(found), _NARROW)


def _delta_sentence(found: SmallestDelta) -> str:
    return f"{found.question.name}: the smallest delta at epsilon {found.epsilon.show()}"


def _delta_facts(found: SmallestDelta) -> list[Fact]:
    low, high = _ends(found)
    report = report_of(found.question)
    result = list(report.compared(found.question))
    result.append(Fact("at most", high + (", proved" if found.proof is not None else ": nothing less is proved")))
    result.append(Fact("at least", low + (", refuted below" if found.refutation is not None else "")))
    if found.refutation is not None and found.refutation.witness is not None:
        witness = found.refutation.witness
        result.append(Fact("event", f"the output is {witness.seen}"))
        result.append(Fact("told apart", report.sides(witness, found.question)))
    return [*result, *(Fact("note", note) for note in found.verdict.notes)]


def delta_page(found: SmallestDelta, certificate: str | None) -> Page:
    """The smallest delta at an epsilon as a page."""
    status = "unknown" if found.verdict.status == "unknown" else "computed"
    drawn = "".join(report_of(found.question).drawn(found.verdict, found.question))
    facts = tuple(_delta_facts(found))
    return Page(status, _delta_sentence(found), facts, drawn, delta_data(found, certificate))


def print_curve(console: Console, found: Sequence[SmallestDelta]) -> None:
    """Print the smallest deltas at some epsilons."""
    _print(console, _curve_sentence(found), _curve_facts(found), _WIDE)


def _curve_sentence(found: Sequence[SmallestDelta]) -> str:
    return f"{found[0].question.name}: the privacy profile, enclosed"


def _curve_facts(found: Sequence[SmallestDelta]) -> list[Fact]:
    result = list(report_of(found[0].question).compared(found[0].question))
    for each in found:
        low, high = _ends(each)
        said = f"delta {low}" if low == high else f"delta from {low} to {high}"
        result.append(Fact(f"epsilon {each.epsilon.decimal()}", said))
    return result


def curve_page(found: Sequence[SmallestDelta]) -> Page:
    """The smallest deltas at some epsilons as a page."""
    decided = all(each.verdict.status != "unknown" for each in found)
    status = "computed" if decided else "unknown"
    return Page(status, _curve_sentence(found), tuple(_curve_facts(found)), _drawn_curve(found), curve_data(found))


def curve_data(found: Sequence[SmallestDelta]) -> dict[str, Any]:
    """The smallest deltas at some epsilons as plain data."""
    points = [
        {"epsilon": str(each.epsilon), **dict(zip(("lower", "upper"), _ends(each), strict=True))} for each in found
    ]
    return {"mechanism": found[0].question.name, "points": points}


def curve_csv(found: Sequence[SmallestDelta]) -> str:
    """The same as lines ``epsilon,lower,upper``."""
    rows = [(each.epsilon.decimal(), *_ends(each)) for each in found]
    return "".join(",".join(row) + "\n" for row in (("epsilon", "lower", "upper"), *rows))


def delta_data(found: SmallestDelta, certificate: str | None) -> dict[str, Any]:
    """The smallest delta at an epsilon as plain data: decimals, rounded outwards, and the verdict behind it."""
    low, high = _ends(found)
    return {**data(found.verdict, certificate=certificate), "delta": {"lower": low, "upper": high}}


def _ends(found: SmallestDelta) -> tuple[str, str]:
    """Both bounds as decimals, rounded outwards."""
    with precision(128):
        low, high = (
            ["0", "0"] if end == 0 else enclosing_decimals(arb(rational(end)), digits=_DIGITS)
            for end in (found.lower, found.upper)
        )
    return low[0], high[1]
