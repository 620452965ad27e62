"""A privacy profile on a terminal and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb
from rich.console import Console
from rich.text import Text

from privproof.exact import Rational, log, rational, show
from privproof.exact.balls import precision
from privproof.exact.texts import enclosing
from privproof.profiles import Profile, SmallestDelta
from privproof.reporting.reports import report_of
from privproof.reporting.wording import data

_DIGITS = 13
"""Digits of a delta: no fewer than engines give it with."""


def print_profile(console: Console, profile: Profile, points: int, *, up_to: Rational | None = None) -> None:
    """Print a profile: the tight epsilon, total variation, the curve at some epsilons, who is told apart, Rényi divergences."""

    def line(label: str, said: str) -> None:
        console.print(Text(f"  {label:<17} {said}"), soft_wrap=True)

    console.print(Text(f"{profile.name}: the privacy profile, over all neighbours", style="bold"), soft_wrap=True)
    tight = profile.epsilon()
    line("delta = 0", f"from epsilon {tight.show()} on" if not tight.infinite else "at no epsilon")
    line("epsilon = 0", f"delta {show(profile.total_variation)}, the total variation distance")
    corners = ", ".join(f"({log(c).decimal()}, {show(d)})" for c, d in profile.corners[:6])
    more = ", ..." if len(profile.corners) > 6 else ""
    line("corners", f"(epsilon, delta): {corners}{more}")
    for point in profile.points(points, up_to=up_to):
        epsilon, delta = point.row
        line(f"epsilon {epsilon}", f"delta {delta}")
    worst = profile.worst(0)
    if worst is not None:
        line("told apart", str(worst))


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

    def line(label: str, said: str) -> None:
        console.print(Text(f"  {label:<15}{said}"), soft_wrap=True)

    low, high = _ends(found)
    console.print(
        Text(f"{found.question.name}: the smallest delta at epsilon {found.epsilon.show()}", style="bold"),
        soft_wrap=True,
    )
    for fact in report_of(found.question).compared(found.question):
        line(fact.label, fact.text)
    line("at most", high + (", proved" if found.proof is not None else ": nothing less is proved"))
    line("at least", low + (", refuted below" if found.refutation is not None else ""))
    if found.refutation is not None and found.refutation.witness is not None:
        witness = found.refutation.witness
        line("event", f"the output is {witness.seen}")
        line("told apart", report_of(found.question).sides(witness, found.question))
    for note in found.verdict.notes:
        line("note", note)


def print_curve(console: Console, found: Sequence[SmallestDelta]) -> None:
    """Print the smallest deltas at some epsilons."""
    first = found[0]
    console.print(Text(f"{first.question.name}: the privacy profile, enclosed", style="bold"), soft_wrap=True)
    for fact in report_of(first.question).compared(first.question):
        console.print(Text(f"  {fact.label:<17} {fact.text}"), soft_wrap=True)
    for each in found:
        low, high = _ends(each)
        said = f"delta {low}" if low == high else f"delta from {low} to {high}"
        console.print(Text(f"  {'epsilon ' + each.epsilon.decimal():<17} {said}"), soft_wrap=True)


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
            ["0", "0"] if end == 0 else enclosing(arb(rational(end)), digits=_DIGITS)
            for end in (found.lower, found.upper)
        )
    return low[0], high[1]
