"""Letters, distributions and beginnings as plain data, for certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privproof.models import Distribution, Letter

if TYPE_CHECKING:
    from privproof.compiling import Begin


def letter_document(letter: Letter) -> dict[str, str | None]:
    """A letter as plain data."""
    if letter.left is None and letter.right is None:
        return {"output": letter.output}
    return {"left": letter.left, "right": letter.right, "output": letter.output}


def numbers_document(entries: Distribution) -> dict[str, str]:
    """A distribution as plain data."""
    return {name: str(probability) for name, probability in entries.items()}


def begin_document(begin: Begin) -> dict[str, object]:
    """Where words begin, as plain data: an ordered pair, and the restriction or the output that its words have."""
    result: dict[str, object] = {
        "left": numbers_document(begin.pair.left),
        "right": numbers_document(begin.pair.right),
    }
    if begin.pair.only is not None:
        result["only"] = begin.pair.only
    if begin.finish is not None:
        result["finish"] = begin.finish
    return result
