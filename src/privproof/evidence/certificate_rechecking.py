"""The checker under the names by which privproof has it; it is a package of its own."""

from privproof_checker import recheck, recheck_file

__all__ = ["recheck", "recheck_file"]
