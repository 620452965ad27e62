"""Statements that count for nothing: what is printed or logged, and what a ``with`` enters without changing a value.

They are left out; what stands in them must still do nothing and fail nowhere, and is read for that.
"""

from __future__ import annotations

import ast
import re

from privproof.errors import LanguageError
from privproof.language.inlined_calls import InlinedCalls
from privproof.language.resolving import Unusable
from privproof.language.sources import UNFORESEEN, root_name
from privproof.language.syntax import (
    Assign,
    Constant,
    Operation,
    Place,
    Statement,
)

_CONTEXTS = ("numpy.errstate", "warnings.catch_warnings", "contextlib.nullcontext")
"""What a ``with`` may enter: it changes no values."""


class IdleStatements(InlinedCalls):
    """Reads what prints and logs."""

    def tells(self, node: ast.Call) -> bool:
        """Whether a call prints or logs, which is no output here."""
        if not isinstance(node.func, ast.Name | ast.Attribute) or root_name(node.func) in self.names:
            return False
        try:
            found = self.meaning(node.func)
        except (LanguageError, Unusable):
            return False
        told = found.kind == "library" and str(found.value).startswith(("logging.", "warnings."))
        return (found.kind, found.value) == ("builtin", "print") or (told and found.value not in _CONTEXTS)

    def told(self, node: ast.Call, out: list[Statement], here: Place) -> None:
        """What is printed or logged: it is left out, and must do nothing and fail nowhere."""
        for keyword in node.keywords:
            if not isinstance(keyword.value, ast.Constant | ast.Attribute) or keyword.arg is None:
                self.refuse(node, f"{ast.unparse(node.func)} with this {keyword.arg or 'table'}", "leave it out")
        for argument in node.args:
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    if part.format_spec is not None and not _is_number_format(part.format_spec):
                        self.refuse(part, "this format", "{x}, {x:.3f}")
                    inner = part.value
                else:
                    inner = part
                if isinstance(inner, ast.Constant):
                    continue
                known = self.foreseen(inner)
                if known is not UNFORESEEN:
                    if isinstance(part, ast.FormattedValue) and part.format_spec and not isinstance(known, int | float):
                        self.refuse(part, "a text in the format of a number", "{x}")
                    continue
                if isinstance(inner, ast.Name) and (inner.id in self.tables or inner.id in self.counters):
                    continue
                value = self.expression(inner, out)
                if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                    value = Operation("-", (value, Constant(0, here)), here)  # a number, or it fails as the format does
                out.append(Assign(self.shared.name("d"), value, here))

    def is_idle(self, nodes: list[ast.stmt]) -> bool:
        """Whether statements do nothing that counts."""
        return all(
            isinstance(node, ast.Pass)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self.tells(node.value))
            for node in nodes
        )

    def changes_nothing(self, item: ast.withitem) -> bool:
        """Whether what a ``with`` enters changes nothing that counts."""
        return item.optional_vars is None and self.library_called(item.context_expr) in _CONTEXTS


def _is_number_format(node: ast.expr) -> bool:
    """Whether a format is one that every number, noisy or not, has."""
    if not isinstance(node, ast.JoinedStr) or len(node.values) != 1 or not isinstance(node.values[0], ast.Constant):
        return False
    return re.fullmatch(r"\.[0-9]+[efg%]", str(node.values[0].value)) is not None
