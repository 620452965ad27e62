"""How many examples a property is tried on: a part of them in the suite, all of them where time does not matter."""

from __future__ import annotations

import os

_ALL = os.environ.get("PRIVPROOF_EXAMPLES") == "all"
_PART = 3
_FEWEST = 15


def examples(most: int) -> int:
    """So many examples at most, a third of them in the suite, but never less than a few."""
    return most if _ALL else max(min(most, _FEWEST), most // _PART)
