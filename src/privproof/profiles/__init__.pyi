from .accounting import composed_loss_distribution, privacy_loss_distribution
from .curves import Curve, Enclosure
from .deltas import SmallestDelta
from .enclosed import EnclosedProfile
from .profile import Point, Profile, Worst, privacy_profile
from .renyi import Divergence, renyi_divergence
from .situations import Comparison, Outcome, Situation

__all__ = [
    "Comparison",
    "Curve",
    "Divergence",
    "EnclosedProfile",
    "Enclosure",
    "Outcome",
    "Point",
    "Profile",
    "Situation",
    "SmallestDelta",
    "Worst",
    "composed_loss_distribution",
    "privacy_loss_distribution",
    "privacy_profile",
    "renyi_divergence",
]
