"""Where a text goes that a function makes from a noisy number: straight out of it, to the screen, or somewhere else.

The text of a number that is not drawn cannot be known.  If it is returned as it is, it tells no more than the number; if it is
printed, it is no part of the output; if anything else is done with it, there is no telling.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import CodeType, FrameType
from typing import Literal

_PRINTED = ("print", "debug", "info", "warning", "error", "critical", "exception", "log")
_DISPLAYS = (ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Dict, ast.keyword)


def reaches(frame: FrameType) -> Literal["returned", "printed"] | None:
    """Where the text goes that is being made in a frame; None where that is not plain from the source."""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last = positions[0], positions[1]
    if first is None or last is None:
        return None
    return _reaches(frame.f_code, frame.f_code.co_filename, first, last)


@lru_cache(maxsize=256)
def _reaches(code: CodeType, filename: str, first: int, last: int) -> Literal["returned", "printed"] | None:
    """The same for all texts that are made between two lines: all must go to one place."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = {
        _goes(node, parents)
        for node in ast.walk(tree)
        if _makes_text(node) and node.lineno <= last and (node.end_lineno or node.lineno) >= first  # type: ignore[attr-defined]
    }
    return found.pop() if len(found) == 1 else None


def _makes_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        return name in ("str", "repr", "format", *_PRINTED)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))


def _goes(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Literal["returned", "printed"] | None:
    """Where the value of an expression goes."""
    while True:
        above = parents.get(node)
        if isinstance(above, ast.Return | ast.Yield):
            return "returned"
        if isinstance(node, ast.Call) and _prints(node) and isinstance(above, ast.Expr):
            return "printed"
        if isinstance(above, ast.Call) and _prints(above) and node is not above.func:
            node = above
            continue
        if not isinstance(above, _DISPLAYS):
            return None
        node = above


def _prints(call: ast.Call) -> bool:
    called = call.func
    name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
    return name in _PRINTED
