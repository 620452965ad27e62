"""The privacy profile of finite mechanisms: delta for every epsilon, Rényi divergences, privacy loss; imports `compiling` and above."""

from privproof.profiles.accounting import privacy_loss_distribution
from privproof.profiles.curves import Curve, Enclosure
from privproof.profiles.profile import Point, Profile, Worst, privacy_profile
from privproof.profiles.renyi import Divergence, renyi_divergence
from privproof.profiles.situations import Comparison, Outcome, Situation

__all__ = [
    "Comparison",
    "Curve",
    "Divergence",
    "Enclosure",
    "Outcome",
    "Point",
    "Profile",
    "Situation",
    "Worst",
    "privacy_loss_distribution",
    "privacy_profile",
    "renyi_divergence",
]
