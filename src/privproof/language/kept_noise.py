"""Arrays of noise that are kept before they are added: every number is drawn where it is read.

After ``noise = rng.laplace(size=len(data))`` the sum ``data + noise`` is made of numbers that were drawn before.  They are independent of
each other and of all else, so that a number may as well be drawn where it is read, if that is one place and the place is come to at most
once for every number: an expression about whole arrays, the turn of a loop that walks over the numbers side by side with something of
the same length, or the turn of a loop over their indices.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CLOSED = (ast.Lambda, ast.FunctionDef, ast.AsyncFor, ast.While)


@dataclass(frozen=True)
class NoiseReading:
    """The one place where a name is read.

    Attributes:
        loop: the loop around it that begins after the name got its value; None if there is none.
    """

    loop: ast.AST | None


def only_reading(tree: ast.FunctionDef, name: str) -> NoiseReading | None:
    """Where a name is read that the function's own block assigns once; None if there are several places, or several times are possible."""
    stored = [i for i, s in enumerate(tree.body) if isinstance(s, ast.Assign) and _stores(s, name)]
    every = [p for p in ast.walk(tree) if isinstance(p, ast.Name) and p.id == name]
    if len(stored) != 1 or len(every) != 2:
        return None
    ways = [way for statement in tree.body[stored[0] + 1 :] for way in _ways(statement, name)]
    if len(ways) != 1 or any(isinstance(part, _CLOSED) for part in ways[0]):
        return None
    loops = [part for part in ways[0] if isinstance(part, _LOOPS)]
    return NoiseReading(loops[0] if loops else None) if len(loops) < 2 else None


def _stores(statement: ast.Assign, name: str) -> bool:
    match statement.targets:
        case [ast.Name(id=found)]:
            return found == name
    return False


def _ways(node: ast.AST, name: str) -> Iterator[tuple[ast.AST, ...]]:
    """What is around the places in which a name is read."""
    if isinstance(node, ast.Name) and node.id == name:
        yield ()
    for part in ast.iter_child_nodes(node):
        for way in _ways(part, name):
            yield (node, *way)


def beside(target: ast.expr, over: ast.expr, name: str) -> tuple[ast.expr, ast.expr, str] | None:
    """``x, n`` in ``zip(data, noise)`` without the noise: the target, what is walked over, and what a number of it is called."""
    match target, over:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]) if len(targets) == len(
            args
        ):
            places = [i for i, each in enumerate(args) if isinstance(each, ast.Name) and each.id == name]
        case _:
            return None
    if len(places) != 1 or len(args) < 2 or not isinstance(targets[places[0]], ast.Name):
        return None
    number = targets[places[0]]
    assert isinstance(number, ast.Name)
    rest = [(t, a) for i, (t, a) in enumerate(zip(targets, args, strict=True)) if i != places[0]]
    if any(isinstance(part, ast.Name) and part.id == number.id for t, _ in rest for part in ast.walk(t)):
        return None
    if len(rest) == 1:
        return rest[0][0], rest[0][1], number.id
    walked = ast.Call(over.func, [a for _, a in rest], [])
    return ast.Tuple([t for t, _ in rest], ast.Store()), walked, number.id


def index_of(target: ast.expr, over: ast.expr) -> tuple[str, ast.expr] | None:
    """The index of a loop over ``range(n)`` or ``enumerate(data)``, and what says how often it goes round."""
    match target, over:
        case ast.Name(id=index), ast.Call(func=ast.Name(id="range"), args=[bound], keywords=[]):
            return index, bound
        case ast.Tuple(elts=[ast.Name(id=index), _]), ast.Call(
            func=ast.Name(id="enumerate"), args=[ast.Name() as walked], keywords=[]
        ):
            return index, ast.Call(ast.Name("len", ast.Load()), [walked], [])
    return None


def is_stored(nodes: list[ast.stmt], name: str) -> bool:
    """Whether a name is assigned to."""
    return any(
        isinstance(p, ast.Name) and p.id == name and not isinstance(p.ctx, ast.Load) for n in nodes for p in ast.walk(n)
    )


class Put(ast.NodeTransformer):
    """Puts an expression in the place of a name, or of ``name[index]``."""

    def __init__(self, new: ast.expr, name: str, index: str | None = None) -> None:
        self.new, self.name, self.index, self.done = new, name, index, 0

    def _new(self, node: ast.expr) -> ast.expr:
        self.done += 1
        return ast.copy_location(copy.deepcopy(self.new), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.index is None and node.id == self.name and isinstance(node.ctx, ast.Load):
            return self._new(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)) if (name, index) == (
                self.name,
                self.index,
            ):
                return self._new(node)
        return self.generic_visit(node)
