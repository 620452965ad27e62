"""Engines: each answers one kind of question about a compiled problem; they import `compiling` and what is above it, and never print."""

from privproof.engines.findings import ConeProof, Engine, EnumerationProof, Finding, Proof, TensorProof
from privproof.engines.monitor import Monitor, Progress
from privproof.engines.words.bounded import FrontierEngine, SmtEngine, TensorEngine
from privproof.engines.words.events import Events
from privproof.engines.words.table import TableEngine, one_step
from privproof.engines.words.unbounded import UnboundedEngine

ENGINES: tuple[Engine, ...] = (
    TableEngine(),
    TensorEngine(),
    FrontierEngine(),
    UnboundedEngine(),
    Events(),
    SmtEngine(),
)
"""All engines, the one to try first in front."""

__all__ = [
    "ENGINES",
    "ConeProof",
    "Engine",
    "EnumerationProof",
    "Finding",
    "Monitor",
    "Progress",
    "Proof",
    "TensorProof",
    "one_step",
]
