"""How the tests run: Hypothesis without its explain phase, whose tracing slows arithmetic down many times."""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile(
    "privproof", phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink), deadline=None
)
settings.load_profile("privproof")
