"""What an engine finds: bounds on the tight epsilon, a word, and a proof, if it has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from privproof.engines.words.frontier_search import SearchTrace
from privproof.engines.words.pumped_words import Pump
from privproof.engines.words.ratio_cones import RatioCones
from privproof.evidence.verdicts import Formula
from privproof.exact import INFINITE, Epsilon
from privproof.models import Word

if TYPE_CHECKING:
    from privproof.compiling import Compiled


@dataclass(frozen=True)
class ConeProof:
    """Generators and multipliers that dominate every word (see `words.dominance`)."""

    trace: SearchTrace


@dataclass(frozen=True)
class TensorProof:
    """All inputs and outputs of a finite mechanism were computed; a checker does the same on its own."""


@dataclass(frozen=True)
class WorstWayProof:
    """The ratios of all moves were multiplied along the worst way; a checker does the same on its own."""


@dataclass(frozen=True)
class EnumerationProof:
    """All words were looked at; a checker does the same on its own."""


@dataclass(frozen=True)
class RatioProof:
    """Ratios of futures and generators of pasts (see `words.ratio_cones`), of the question compiled in this way."""

    compiled: Compiled
    cones: RatioCones


Proof: TypeAlias = "ConeProof | TensorProof | WorstWayProof | EnumerationProof | RatioProof"


@dataclass(frozen=True)
class GrowingProof:
    """How the smallest epsilon grows with the list, with its evidence as plain data."""

    formula: Formula
    evidence: dict[str, object]


@dataclass(frozen=True)
class Finding:
    """What an engine found.

    Attributes:
        lower: the tight epsilon is at least this.
        upper: the tight epsilon is at most this, if `proof` shows it.
        word: a word behind the lower bound.
        event: the words of an event behind the lower bound, where a delta counts over events.
        length: how many letters the observer of the event has seen.
        attained: where the budget is broken, a word that attains the lower bound.
        pump: words whose ratio grows without bound.
        growing: how the loss grows with the list, exactly, with the evidence.
        proof: why nothing exceeds the upper bound (or the budget asked for).
        above: where the budget is broken, why nothing exceeds the upper bound.
        stopped: why the engine gave up, or None.
        pass_on: where it gave up, whether the next engine is asked.
        notes: what else the reader should know.
    """

    lower: Epsilon
    upper: Epsilon = INFINITE
    word: Word | None = None
    event: tuple[Word, ...] = ()
    length: int = 0
    attained: Word | None = None
    pump: Pump | None = None
    growing: GrowingProof | None = None
    proof: Proof | None = None
    above: Proof | None = None
    stopped: str | None = None
    pass_on: bool = False
    notes: tuple[str, ...] = ()
