"""Tallies: a loop that counts the elements of a list in a table is the ``Counter`` of the list."""

from __future__ import annotations

import ast

from privproof.language.arrays import BuiltIn
from privproof.language.public_keys import PublicKeys


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
