from .front import recheck, recheck_file
from .outcomes import Accepted, Limits, Outcome, Rejected

__all__ = ["Accepted", "Limits", "Outcome", "Rejected", "recheck", "recheck_file"]
