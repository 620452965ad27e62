"""Evidence about lotteries: pieces of stretches, the laws of levels, and two lists."""

from __future__ import annotations

from collections.abc import Mapping

from privproof.engines.lotteries.lottery_lists import LotteryLists
from privproof.engines.lotteries.lottery_stretching import Stretch


def stretch_evidence(stretches: Mapping[str, Stretch]) -> dict[str, object]:
    """For every direction in which elements change the pieces of a stretch."""
    pieces = {name: [[str(end) for end in piece] for piece in found.pieces] for name, found in stretches.items()}
    return {"method": "stretch", "pieces": pieces}


def levels_evidence() -> dict[str, object]:
    """The checker compares the laws of levels by itself."""
    return {"method": "levels"}


def lists_evidence(lists: LotteryLists) -> dict[str, object]:
    """Two lists, the winner in front."""
    others = [[x, y, count] for (x, y), count in lists.others]
    return {"method": "lists", "winner": list(lists.winner), "others": others}
