"""The command ``profile``."""

from __future__ import annotations

from typing import Annotated

import typer

from privproof.cli.answers import console, say, say_json
from privproof.cli.common import begin, loaded, one_size
from privproof.cli.options import AsJson, HorizonText, Settings, Size, Target, TimeLimit
from privproof.cli.working import command
from privproof.profiles import privacy_profile
from privproof.reporting import print_profile, profile_data


@command("profile")
def profile(
    target: Target,
    size: Size = None,
    settings: Settings = None,
    horizon: HorizonText = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    points: Annotated[int, typer.Option("--points", min=2, max=10_001, help="How many epsilons.")] = 11,
    csv: Annotated[bool, typer.Option("--csv", help="Print epsilon,delta rows and nothing else.")] = False,
    as_json: AsJson = False,
    time_limit: TimeLimit = None,
) -> None:
    """The privacy profile: the smallest delta for every epsilon, exactly, over all neighbours."""
    begin(target, time_limit, as_json=as_json)
    curve = privacy_profile(loaded(target, one_size(size), horizon, pair, settings).words(place=target))
    if csv:
        say(curve.csv(points), end="")
    elif as_json:
        say_json(profile_data(curve, points))
    else:
        print_profile(console(), curve, points)
