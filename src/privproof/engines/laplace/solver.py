"""Z3, for the search for alignments and invariants: every other module of the engine has it from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

TRUE = z3.BoolVal(val=True)
FALSE = z3.BoolVal(val=False)


class Substitution:
    """Terms in the place of symbols: made once, applied to many formulas.

    >>> x, y = z3.Ints("x y")
    >>> Substitution([(x, y + 1)])(x == 2)
    y == 1
    """

    def __init__(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        self.pairs = pairs
        self.count = len(pairs)
        self.old = (z3.Ast * self.count)(*(old.as_ast() for old, _ in pairs))
        self.new = (z3.Ast * self.count)(*(new.as_ast() for _, new in pairs))

    def __call__(self, term: Any) -> Any:
        """A formula with the terms in place, simplified."""
        context = term.ctx
        made = z3.Z3_substitute(context.ref(), term.as_ast(), self.count, self.old, self.new)
        z3.Z3_inc_ref(context.ref(), made)
        simple = z3.Z3_simplify(context.ref(), made)
        result = z3.z3._to_expr_ref(simple, context)
        z3.Z3_dec_ref(context.ref(), made)
        return result


__all__ = ["FALSE", "TRUE", "Substitution", "z3"]
