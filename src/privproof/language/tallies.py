"""Tallies: a loop that counts the elements of a list in a table is the ``Counter`` of the list.

Where the keys are a field of the records, whose values are declared, the table is one over all of these values.
"""

from __future__ import annotations

import ast
import copy
import itertools
import math
from typing import Any

from privproof.language.arrays import BuiltIn
from privproof.language.public_keys import MOST_TURNS, PublicKeys, names_in


class Tallies(PublicKeys):
    """Reads loops that count."""

    def tallied(self, before: ast.stmt, node: ast.stmt) -> ast.stmt | None:
        """``h = defaultdict(int)`` and ``for r in data: h[r] += 1`` as ``h = Counter(data)``, of which only counts are asked; else None."""
        match before, node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=made),
                ast.For(target=ast.Name(id=each), iter=over, body=[turn], orelse=[]),
            ):
                pass
            case _:
                return None
        match turn:
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=held), slice=ast.Name(id=key)),
                op=ast.Add(),
                value=ast.Constant(value=1),
            ) if (held, key) == (name, each) and self.counts_missing(made):
                pass
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=held), slice=ast.Name(id=key))],
                value=ast.BinOp(
                    left=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=asked), attr="get"),
                        args=[ast.Name(id=same), ast.Constant(value=0)],
                        keywords=[],
                    ),
                    op=ast.Add(),
                    right=ast.Constant(value=1),
                ),
            ) if (held, key, asked, same) == (name, each, name, each):
                if not self.counts_missing(made) and not (isinstance(made, ast.Dict) and not made.keys):
                    return None
            case _:
                return None
        inside = {id(part) for part in ast.walk(node)}
        uses = [p for p in self.parts if isinstance(p, ast.Name) and p.id in (name, each) and id(p) not in inside]
        looks = [p for p in self.parts if isinstance(p, ast.Subscript) and any(p.value is use for use in uses)]
        gets = [
            p
            for p in self.parts
            if isinstance(p, ast.Attribute) and p.attr == "get" and any(p.value is u for u in uses)
        ]
        walks = [use for use in uses if self.used_sorted(use)]
        if any(use.id == each for use in uses) or len(uses) != 1 + len(looks) + len(gets) + len(walks):
            return None
        if not self.counts_missing(made) and not all(map(self.occurs, looks)):
            return None
        counted = ast.Call(BuiltIn("Counter", ast.Load()), [over], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Assign(before.targets, counted), before))

    def with_all_keys(self, node: ast.stmt) -> ast.stmt:
        """A table into which data count, with a key for all that may occur, where it is only looked into; any other statement as it is.

        ``sums = defaultdict(int)`` before ``sums[r.city] += r.age`` is ``{"A": 0, "B": 0}``, and ``Counter(r.city for r in data)`` is
        ``{"A": sum(1 for r in data if r.city == "A"), ...}``: which keys there are is not seen by who asks for one.
        """
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made) if self._only_looked_into(name):
                table = self._counted_keys(made) if made.args else None
                if table is None and self._begins_empty(made):
                    table = self._empty_keys(name, made)
                if table is not None:
                    return ast.fix_missing_locations(ast.copy_location(ast.Assign(node.targets, table), node))
        return node

    def _counted_keys(self, made: ast.Call) -> ast.Dict | None:
        match made:
            case ast.Call(
                args=[
                    ast.GeneratorExp(
                        elt=key, generators=[ast.comprehension(target=ast.Name(id=each), is_async=0) as walk]
                    )
                    | ast.ListComp(
                        elt=key, generators=[ast.comprehension(target=ast.Name(id=each), is_async=0) as walk]
                    )
                ],
                keywords=[],
            ) if self.library_called(made) == "collections.Counter":
                values = self._values_of(key, each, walk.iter)
            case _:
                return None
        if values is None:
            return None
        counts: list[ast.expr] = []
        for value in values:
            test = ast.Compare(copy.deepcopy(key), [ast.Eq()], [_written(value)])
            turns = ast.comprehension(walk.target, walk.iter, [*copy.deepcopy(walk.ifs), test], 0)
            counted = ast.GeneratorExp(ast.Constant(1), [turns])
            counts.append(ast.Call(BuiltIn("sum", ast.Load()), [counted], []))
        return ast.Dict([_written(value) for value in values], counts)

    def _empty_keys(self, name: str, made: ast.Call) -> ast.Dict | None:
        """The table in which data are added up, with all keys that they may bring."""
        found: dict[Any, None] = {}
        changes = [p for p in self.parts if isinstance(p, ast.AugAssign) and _holder(p.target) == name]
        for change in changes:
            assert isinstance(change.target, ast.Subscript)
            loops = [p for p in self.parts if isinstance(p, ast.For) and any(q is change for q in ast.walk(p))]
            known = [
                values
                for loop in loops
                if isinstance(loop.target, ast.Name)
                and sum(_stores(part, loop.target.id) for part in ast.walk(loop)) == 1
                and (values := self._values_of(change.target.slice, loop.target.id, loop.iter)) is not None
            ]
            if len(known) != 1 or not isinstance(change.op, ast.Add):
                return None
            found |= dict.fromkeys(known[0])
        stores = [p for p in self.parts if _holder(p) == name and not isinstance(p.ctx, ast.Load)]  # type: ignore[attr-defined]
        if not changes or len(stores) != len(changes):
            return None
        zero = 0.0 if isinstance(made.args[0] if made.args else None, ast.Name) and made.args[0].id == "float" else 0  # type: ignore[attr-defined]
        return ast.Dict([_written(key) for key in found], [ast.Constant(zero) for _ in found])

    def counted_into(self, name: str) -> bool:
        """Whether records are added up in the places of a list of numbers, ``hist[r.age // 10] += 1``, outside of loops by ``while``."""
        made = [
            p.value
            for p in self.parts
            if isinstance(p, ast.Assign) and len(p.targets) == 1 and _is_name(p.targets[0], name)
        ]
        turns = [p for p in self.parts if isinstance(p, ast.While)]
        stores = [p for p in self.parts if _holder(p) == name and not isinstance(p.ctx, ast.Load)]  # type: ignore[attr-defined]
        if (
            len(made) != 1
            or not _of_numbers(made[0])
            or any(p is s for t in turns for p in ast.walk(t) for s in stores)
        ):
            return False
        return any(
            isinstance(p, ast.AugAssign | ast.Assign)
            and (added := in_place(p)) is not None
            and _holder(added.target) == name
            and self._chosen_by_record(added, p)
            for p in self.parts
        )

    def _chosen_by_record(self, change: ast.AugAssign, node: ast.stmt) -> bool:
        """Whether something is added in a place that the element of a loop over a given list says."""
        assert isinstance(change.target, ast.Subscript)
        asked = names_in(change.target.slice)
        return isinstance(change.op, ast.Add) and any(
            isinstance(loop, ast.For)
            and any(self.names.get(name) in self.shared.lists for name in names_in(loop.iter))
            and asked & (_said_by_record(loop) | {name for name in asked if self.names.get(name) in self.shared.lists})
            and any(part is node for part in ast.walk(loop))
            for loop in self.parts
        )

    def _values_of(self, key: ast.expr, each: str, over: ast.expr) -> tuple[Any, ...] | None:
        """All values of an element of a list, of a field or of several, where there are a few of one type; None for anything else."""
        if (
            not isinstance(over, ast.Name)
            or over.id not in self.steady
            or self.names.get(over.id) not in self.shared.lists
        ):
            return None
        match key:
            case ast.Name(id=same) if same == each:
                source = self.names[over.id]
            case (
                ast.Attribute(value=ast.Name(id=same), attr=field)
                | ast.Subscript(value=ast.Name(id=same), slice=ast.Constant(value=str(field)))
            ) if same == each:
                source = f"{self.names[over.id]}.{field}"
            case ast.Tuple(elts=[_, *_] as several):
                listed = [self._values_of(part, each, over) for part in several]
                known = [values for values in listed if values is not None]
                few = len(known) == len(listed) and math.prod(map(len, known)) <= MOST_TURNS
                return tuple(itertools.product(*known)) if few else None
            case _:
                return None
        values = self.shared.values.get(source, ())
        plain = {type(value) for value in values} in ({int}, {str})
        return values if plain and 0 < len(values) <= MOST_TURNS else None

    def _only_looked_into(self, name: str) -> bool:
        """Whether a name is given one value, and used in ``name[key]`` and ``name.get(key, 0)`` alone."""
        uses = [part for part in self.parts if isinstance(part, ast.Name) and part.id == name]
        looks = [p for p in self.parts if isinstance(p, ast.Subscript) and not isinstance(p.slice, ast.Slice)]
        gets = [
            p.func.value
            for p in self.parts
            if isinstance(p, ast.Call)
            and isinstance(p.func, ast.Attribute)
            and p.func.attr == "get"
            and len(p.args) == 2
            and isinstance(p.args[1], ast.Constant)
            and type(p.args[1].value) is int
            and p.args[1].value == 0
        ]
        held = sum(any(each is use for each in (*(look.value for look in looks), *gets)) for use in uses)
        return name in self.steady and len(uses) == 1 + held

    def _begins_empty(self, made: ast.Call) -> bool:
        """Whether a call makes an empty table in which what is missing counts as 0 or 0.0."""
        floats = len(made.args) == 1 and isinstance(made.args[0], ast.Name) and made.args[0].id == "float"
        return self.counts_missing(made) or (
            floats and not made.keywords and self.library_called(made) == "collections.defaultdict"
        )

    def begins_tally(self, node: ast.Assign) -> bool:
        """Whether a statement begins an empty table."""
        return (isinstance(node.value, ast.Dict) and not node.value.keys) or self.counts_missing(node.value)

    def used_sorted(self, use: ast.Name) -> bool:
        """Whether a name stands in ``sorted(name)``, ``sorted(name.items())`` or ``sorted(name.keys())``."""
        for part in self.parts:
            match part:
                case (
                    ast.Call(args=[ast.Call(func=ast.Attribute(value=held, attr="items" | "keys"))])
                    | ast.Call(args=[held])
                ) if held is use and self.known(part, "sorted"):
                    return True
        return False

    def occurs(self, look: ast.Subscript) -> bool:
        """Whether ``counts[key]`` stands in a loop over the sorted keys of the same table, so that the key is there."""
        for loop in self.parts:
            match loop, look:
                case (
                    ast.For(target=ast.Name(id=key), iter=ast.Call(args=[ast.Name(id=walked)])),
                    ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=asked)),
                ) if (key, walked) == (asked, name) and self.known(loop.iter, "sorted"):
                    return any(part is look for part in ast.walk(loop))
        return False

    def counts_missing(self, node: ast.expr) -> bool:
        """Whether an expression is an empty table in which a missing key counts as 0."""
        if not isinstance(node, ast.Call) or node.keywords:
            return False
        called = self.library_called(node)
        default = len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id == "int"
        return (called == "collections.Counter" and not node.args) or (called == "collections.defaultdict" and default)


def _written(value: Any) -> ast.expr:
    """A key as an expression."""
    return (
        ast.Tuple([_written(part) for part in value], ast.Load()) if isinstance(value, tuple) else ast.Constant(value)
    )


def _holder(node: ast.AST) -> str | None:
    """The name of the table that a subscript looks into."""
    return node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None


def _said_by_record(loop: ast.For) -> set[str]:
    """The names that hold the element of a loop, or what is computed of it: ``decade = r.age // 10``."""
    found = names_in(loop.target)
    steps = [part for part in ast.walk(loop) if isinstance(part, ast.Assign)]
    for _ in steps:
        found |= {
            name for step in steps if names_in(step.value) & found for each in step.targets for name in names_in(each)
        }
    return found


def in_place(node: ast.AugAssign | ast.Assign) -> ast.AugAssign | None:
    """``hist[x] = hist[x] + 1`` as ``hist[x] += 1``; None for what is neither."""
    match node:
        case ast.AugAssign():
            return node
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name()) as target],
            value=ast.BinOp(left=ast.Subscript() as held, op=ast.Add() as sign, right=more),
        ) if ast.unparse(target) == ast.unparse(held):
            return ast.copy_location(ast.AugAssign(target, sign, more), node)
    return None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _of_numbers(made: ast.expr) -> bool:
    """Whether an expression makes a list or table of whole numbers that are written out: ``[0] * 10``, ``[0 for _ in range(10)]``."""
    match made:
        case ast.BinOp(left=ast.List(elts=[_] as elements), op=ast.Mult()) | ast.List(elts=[_, *_] as elements):
            return all(isinstance(each, ast.Constant) and type(each.value) is int for each in elements)
        case ast.Dict(values=[_, *_] as elements):
            return all(isinstance(each, ast.Constant) and type(each.value) is int for each in elements)
        case (
            ast.ListComp(elt=ast.Constant(value=content))
            | ast.DictComp(value=ast.Constant(value=content))
            | ast.Call(func=ast.Attribute(attr="fromkeys"), args=[_, ast.Constant(value=content)], keywords=[])
        ):
            return type(content) is int
    return False


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
