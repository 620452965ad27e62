"""Where a text goes that a function makes from a noisy number: straight out of it, to the screen, or somewhere else.

The text of a number that is not drawn cannot be known.  If it is returned as it is, it tells no more than the number; if it is
printed, it is no part of the output; if anything else is done with it, there is no telling.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import logging
import re
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, Literal

_LOGGED = ("debug", "info", "warning", "error", "critical", "exception", "log")
_DISPLAYS = (ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Dict, ast.keyword)
_HERE = str(Path(__file__).parent.parent)
_PLAIN_MARK = re.compile(r"%[a-zA-Z%]")
"""A place in a text for %, without a width: what is cut or filled up is more than the text of a number."""


def reaches(frame: FrameType) -> Literal["returned", "printed"] | None:
    """Where the text goes that is being made in a frame; None where that is not plain from the source."""
    position = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    found = {_goes(node, frame) for node in _nodes(frame.f_code.co_filename).get(position, ())}
    where = found.pop() if len(found) == 1 else None
    caller = frame.f_back
    if where == "returned" and (caller is None or not caller.f_code.co_filename.startswith(_HERE)):
        return None  # returned to other code of the function, which may look at it
    return where


@lru_cache(maxsize=64)
def _nodes(filename: str) -> dict[tuple[int | None, ...], list[ast.AST]]:
    """The expressions of a file that make texts, by their place; every node knows what stands above it."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return {}
    found: dict[tuple[int | None, ...], list[ast.AST]] = {}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.above = node  # type: ignore[attr-defined]
        if isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.Call | ast.BinOp):
            place = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
            found.setdefault(place, []).append(node)
    return found


def _goes(node: Any, frame: FrameType) -> Literal["returned", "printed"] | None:
    """Where the value of an expression goes."""
    if not _plain(node, frame):
        return None
    while True:
        above = node.above
        if isinstance(above, ast.Return | ast.Yield):
            return "returned"
        if _prints(node, frame) and isinstance(above, ast.Expr):
            return "printed"
        if _prints(above, frame) and node is not above.func:
            node = above
            continue
        if not isinstance(above, _DISPLAYS) and not _joins_texts(above, node):
            return None
        node = above


def _joins_texts(above: ast.AST, node: ast.AST) -> bool:
    """Whether an expression puts a text that is written out before or behind another one."""
    if not isinstance(above, ast.BinOp) or not isinstance(above.op, ast.Add):
        return False
    other = above.right if above.left is node else above.left
    return isinstance(other, ast.Constant) and isinstance(other.value, str)


def _plain(node: ast.AST, frame: FrameType) -> bool:
    """Whether an expression makes the text of a number and does no more to it."""
    match node:
        case ast.FormattedValue():
            return node.conversion == -1 or (node.format_spec is None and node.conversion != ord("a"))
        case ast.JoinedStr():
            return all(_plain(each, frame) for each in node.values if isinstance(each, ast.FormattedValue))
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return "%" not in _PLAIN_MARK.sub("", text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return "!" not in text
        case ast.Call(func=ast.Name(id=("str" | "repr" | "format") as name)):
            return _value(node.func, frame) is getattr(builtins, name)
        case _:
            return _prints(node, frame)


def _prints(call: ast.AST, frame: FrameType) -> bool:
    """Whether a call prints or logs, and does nothing else."""
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "print" and _value(call.func, frame) is builtins.print
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LOGGED:
        return False
    logger = _value(call.func.value, frame)
    return logger is logging or isinstance(logger, logging.Logger | logging.LoggerAdapter)


def _value(node: ast.AST, frame: FrameType) -> Any:
    """What a name, or an attribute of it, stands for in a frame; None if it is nothing there."""
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), node.attr, None)
    if not isinstance(node, ast.Name):
        return None
    for names in (frame.f_locals, frame.f_globals, vars(builtins)):
        if node.id in names:
            return names[node.id]
    return None
