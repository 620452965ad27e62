from .findings import ConeProof, Engine, EnumerationProof, Finding, Proof, TensorProof
from .monitor import Monitor, Progress
from .registry import ENGINES
from .words.table import one_step

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
