"""Lists and dictionaries of a module that nothing in its text changes: constants, as tuples and tables are.

A list can change, so by itself it is no constant.  But where a module's text gives it a name once, and everywhere else uses nothing but
its elements (goes through it, asks how long it is or whether something is in it, looks an element up), no function of the module
changes it or hands it to somebody who might, and none can tell it from a tuple of the same elements.  What the elements are is
recorded as for any other constant, so that a list that others have changed since is noticed as a number is that has another value now.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any

from privproof.language.constants import frozen_copy

_OF_ELEMENTS = frozenset(
    ("all", "any", "enumerate", "frozenset", "len", "list", "reversed", "set", "sorted", "sum", "tuple")
)
"""Built-in functions that use nothing but the elements of their first argument, and do not give that back."""
_READING = frozenset(("count", "get", "index", "items", "keys", "values"))
"""Methods of lists and dictionaries that change nothing, and give back elements or views."""


def elements_of(value: list[Any] | dict[Any, Any], name: str) -> Any:
    """A list as a tuple, a dictionary as a table that cannot change.

    Raises:
        NotPlain: an element is no constant: a list in a list could be changed through its holder.

    >>> elements_of([1, "a"], "KEYS")
    (1, 'a')
    """
    return frozen_copy(tuple(value) if isinstance(value, list) else MappingProxyType(value), name, floats=True)


def only_reads(module: ast.Module, name: str, is_builtin: Callable[[str], bool]) -> bool:
    """Whether a module binds a name once, at its top, and uses nothing but the elements of what it stands for.

    Args:
        module: the text.
        name: the name.
        is_builtin: whether a name that the module does not bind stands for the built-in function of that name.

    >>> text = "KEYS = [1, 2]\\ndef f(counts):\\n    return [counts[k] for k in KEYS]"
    >>> only_reads(ast.parse(text), "KEYS", lambda name: True)
    True
    >>> only_reads(ast.parse(text + "\\ndef g(k):\\n    keys = KEYS\\n    keys.append(k)"), "KEYS", lambda name: True)
    False
    """
    bound = list(_bound(module))
    top = [statement for statement in module.body if _binds(statement, name)]
    if len(top) != 1 or bound.count(name) != 1:
        return False
    for node in ast.walk(module):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load):
                called = node.func if isinstance(node, ast.Call) else None
                while isinstance(called, ast.Attribute):
                    called = called.value
                known = not isinstance(called, ast.Name) or (called.id not in bound and is_builtin(called.id))
                if not known or not _uses_elements(node, part):
                    return False
    return True


def _binds(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target), value=ast.expr()):
            return target == name
    return False


def _bound(module: ast.Module) -> Iterator[str]:
    """The names that are given a meaning somewhere in a text, as often as they are."""
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _uses_elements(node: ast.AST, part: ast.expr) -> bool:
    """Whether what stands around a value uses its elements alone."""
    match node:
        case ast.For(iter=walked) | ast.comprehension(iter=walked):
            return walked is part
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[container]):
            return container is part
        case ast.Subscript(value=held, slice=place, ctx=ast.Load()):
            return held is part and not isinstance(place, ast.Slice | ast.Tuple)
        case ast.Attribute(attr=name, ctx=ast.Load()):
            return name in _READING
        case ast.Starred():
            return True
        case ast.Call(func=ast.Name(id="zip"), args=given):
            return any(each is part for each in given)
        case ast.Call(func=ast.Name(id="max" | "min"), args=[argument]):  # of two arguments it would give one back
            return argument is part
        case ast.Call(func=ast.Name(id=name), args=[argument, *_]):
            return argument is part and name in _OF_ELEMENTS
        case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[argument, *_]):
            return argument is part
    return False
