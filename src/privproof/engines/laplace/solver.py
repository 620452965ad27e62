"""Z3, for the search for alignments and invariants: every other module of the engine has it from here."""

from __future__ import annotations

import z3

TRUE = z3.BoolVal(val=True)
FALSE = z3.BoolVal(val=False)

__all__ = ["FALSE", "TRUE", "z3"]
