"""How a question was asked on the command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from privproof.evidence.witnesses import WordWitness


@dataclass(frozen=True)
class ReplayCommand:
    """How the question was asked on the command line, so that a witness can be replayed.

    Attributes:
        target: the file, perhaps with a name.
        options: further options that belong to the question.
    """

    target: str
    options: tuple[str, ...] = ()

    def explaining(self) -> str:
        """The target and the options that ``privproof explain`` takes too."""
        kept: list[str] = []
        options = list(self.options)
        while options:
            name = options.pop(0)
            value = [] if name == "--pointwise" else [options.pop(0)]
            kept += [name, *value] if name in ("--size", "--epsilon", "--set") else []
        return " ".join(map(shlex.quote, (self.target, *kept)))

    def replay(self, witness: WordWitness) -> str:
        """The command that recomputes both probabilities of a witness."""
        word = " ".join(_quote_letter(str(letter)) for letter in witness.observed.letters)
        pair = witness.observed.pair
        chosen = [] if pair == "neighbours" else ["--pair", pair]
        parts = ["privproof", "check", self.target, *self.options, *chosen, "--word", word]
        return " ".join(map(shlex.quote, parts))


def _quote_letter(letter: str) -> str:
    """A letter as one part of a word: in quotation marks only where it needs them."""
    return shlex.quote(letter) if set(letter) & set(" \t\n\"'\\#") or not letter else letter
