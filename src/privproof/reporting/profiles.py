"""A privacy profile on a terminal and as plain data."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from privproof.exact import log, show
from privproof.profiles import Profile


def print_profile(console: Console, profile: Profile, points: int) -> None:
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
    for point in profile.points(points):
        epsilon, delta = point.row
        line(f"epsilon {epsilon}", f"delta {delta}")
    worst = profile.worst(0)
    if worst is not None:
        line("told apart", str(worst))


def profile_data(profile: Profile, points: int) -> dict[str, Any]:
    """A profile as plain data: exact texts for the corners, decimals for the points."""
    tight = profile.epsilon()
    return {
        "mechanism": profile.name,
        "tight": "inf" if tight.infinite else str(tight),
        "total_variation": str(profile.total_variation),
        "corners": [
            {"bound": str(c), "epsilon": log(c).decimal(digits=10), "delta": str(d)} for c, d in profile.corners
        ],
        "points": [dict(zip(("epsilon", "delta"), point.row, strict=True)) for point in profile.points(points)],
    }
