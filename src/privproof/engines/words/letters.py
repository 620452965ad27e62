"""Letters and distributions as plain data, for certificates."""

from __future__ import annotations

from privproof.models import Distribution, Letter


def letter_document(letter: Letter) -> dict[str, str | None]:
    """A letter as plain data."""
    if letter.left is None and letter.right is None:
        return {"output": letter.output}
    return {"left": letter.left, "right": letter.right, "output": letter.output}


def numbers_document(entries: Distribution) -> dict[str, str]:
    """A distribution as plain data."""
    return {name: str(probability) for name, probability in entries.items()}
