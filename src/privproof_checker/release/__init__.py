"""The checker of certificates about releases of correlated data; like the whole checker it shares no code with engines."""

from privproof_checker.release.release_checking import check_release

__all__ = ["check_release"]
