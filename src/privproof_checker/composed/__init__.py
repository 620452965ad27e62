"""The checker of certificates about several uses together: `curves` (of one use), `lattices` (losses), `checking` (the way in)."""

from privproof_checker.composed.composed_checking import check_composed

__all__ = ["check_composed"]
