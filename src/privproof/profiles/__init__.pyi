from .compared_situations import SeenOutcome, Situation, SituationComparison
from .delta_curves import Curve, RealEnclosure
from .enclosed_profile import EnclosedProfile
from .loss_distributions import composed_loss_distribution, privacy_loss_distribution
from .profile import Point, Profile, Worst, privacy_profile
from .renyi_profiles import Divergence, renyi_divergence
from .smallest_delta import SmallestDelta

__all__ = [
    "Curve",
    "Divergence",
    "EnclosedProfile",
    "Point",
    "Profile",
    "RealEnclosure",
    "SeenOutcome",
    "Situation",
    "SituationComparison",
    "SmallestDelta",
    "Worst",
    "composed_loss_distribution",
    "privacy_loss_distribution",
    "privacy_profile",
    "renyi_divergence",
]
