"""Assignments: what a target takes, and what changes a list where it stands.

``a, b = b, a`` evaluates every value before the first target takes one; ``first, *rest = xs`` and ``x += y`` become plain assignments;
a list that is changed in place is assigned anew under its name.
"""

from __future__ import annotations

import ast

from privproof.language.expressions import BINARY
from privproof.language.loops import Loops
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import (
    Assign,
    Constant,
    Element,
    Expression,
    Operation,
    Place,
    Replace,
    Statement,
    Variable,
)
from privproof.language.tallies import in_place
from privproof.language.walking import variables

_IN_PLACE = {"+": "extend", "*": "repeat"}
"""Operators that change a list where they stand on the left of =."""


class Assignments(Loops):
    """Reads assignments."""

    def assign(self, targets: list[ast.expr], value: ast.expr, out: list[Statement], here: Place) -> None:
        if (
            len(targets) == 1
            and isinstance(targets[0], ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
        ):
            names, values = targets[0].elts, value.elts
            if len(names) == len(values) and not any(isinstance(v, ast.Starred) for v in (*names, *values)):
                known = [self.foreseen(v) if self.shared.ordinary else UNFORESEEN for v in values]
                both = list(zip(names, values, known, strict=True))
                left = [(n, v) for n, v, found in both if type(found) is not float or not self.is_steady(n)]
                names, read = [n for n, _ in left], [self.expression(v, out) for _, v in left]
                for name, _, found in both:
                    self.settle(name, found)
                written = {self.names[n.id] for n in names if isinstance(n, ast.Name)}
                if any(written.intersection(variables(e)) for e in read) or not all(
                    isinstance(n, ast.Name) for n in names
                ):
                    kept = [self.shared.name("t") for _ in read]
                    out.extend(Assign(name, e, here) for name, e in zip(kept, read, strict=True))
                    read = [Variable(name, here) for name in kept]
                for name, e in zip(names, read, strict=True):
                    self.store(name, e, out, here)
                return
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            only = targets[0].id
            if self.generator_made(only, value) or self.object_made(only, value):
                return
            if self.table_grown(only, value, out, here) or self.table_made(only, value, out, here):
                return
            if self.uniform_kept(only, value, out, here):
                return
        added = in_place(ast.Assign(targets, value))
        if added is not None and isinstance(added.target, ast.Subscript) and isinstance(added.target.value, ast.Name):
            held = added.target.value.id
            if held in self.tables and self.counted_into(held):
                self.augment(targets[0], added.target, added.op, added.value, out)
                return
        foreseen = self.foreseen(value) if self.shared.ordinary else UNFORESEEN
        if type(foreseen) is float and all(map(self.is_steady, targets)):
            for target in targets:
                self.settle(target, foreseen)
            return
        self.whole = value
        result = self.expression(value, out)
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            kept_name = self.shared.name("t")
            out.append(Assign(kept_name, result, here))
            result = Variable(kept_name, here)
        for target in targets:
            self.store(target, result, out, here)
            self.settle(target, foreseen)

    def is_steady(self, target: ast.expr) -> bool:
        """Whether a target is a name that plain statements alone assign, so that what it stands for is known from one to the next."""
        return isinstance(target, ast.Name) and target.id in self.steady

    def store(self, target: ast.expr, value: Expression, out: list[Statement], here: Place) -> None:
        match target:
            case ast.Name(id=name):
                if self.names[name] in self.shared.streams:
                    self.refuse(target, f"assigning to the stream {name}", "use another name")
                self.note_noise(self.names[name], value)
                out.append(Assign(self.names[name], value, here))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(e, ast.Starred) for e in elements):
                    self.spread(target, elements, value, out, here)
                    return
                kept = self.shared.name("t")
                count = Constant(len(elements), here)
                out.append(Assign(kept, Operation("unpack", (value, count), here), here))
                for i, element in enumerate(elements):
                    self.store(element, Element(Variable(kept, here), Constant(i, here), here), out, here)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if (
                name in self.names and not isinstance(index, ast.Slice) and self.put(name, index, value, out, here)
            ):
                pass
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.names:
                if isinstance(index, ast.Slice):
                    self.refuse(target, "assigning to a slice", "assign element by element")
                out.append(Replace(self.names[name], self.expression(index, out), value, here))
            case ast.Subscript():
                self.refuse(target, "assigning inside a nested list", "row = list(rows[i]); row[j] = x; rows[i] = row")
            case _:
                self.unknown(target)

    def spread(
        self, target: ast.expr, elements: list[ast.expr], value: Expression, out: list[Statement], here: Place
    ) -> None:
        """``first, *rest = value``."""
        kept, count = self.shared.name("t"), len(elements) - 1
        out.append(Assign(kept, Operation("list", (value,), here), here))
        whole = Variable(kept, here)
        if count:  # fails where there are fewer values than names
            out.append(Assign(self.shared.name("d"), Element(whole, Constant(count - 1, here), here), here))
        number = next(i for i, e in enumerate(elements) if isinstance(e, ast.Starred))
        for i, element in enumerate(elements):
            if i == number:
                assert isinstance(element, ast.Starred)
                end = Constant(i - count if i < count else None, here)
                rest = Operation("slice", (whole, Constant(i, here), end), here)
                self.store(element.value, rest, out, here)
            else:
                index = Constant(i if i < number else i - count - 1, here)
                self.store(element, Element(whole, index, here), out, here)

    def augment(self, node: ast.AST, target: ast.expr, op: ast.operator, value: ast.expr, out: list[Statement]) -> None:
        here = self.place(node)
        name = BINARY.get(type(op))
        if name is None:
            self.refuse(node, "this operator", "+=, -=, *=, //=, %= or **=")
        if isinstance(target, ast.Name):
            if target.id not in self.names:
                self.unknown(target)
            foreseen = UNFORESEEN
            if self.shared.ordinary:
                whole = ast.BinOp(ast.Name(target.id, ast.Load()), op, value)
                foreseen = self.foreseen(ast.copy_location(ast.fix_missing_locations(whole), node))
            if type(foreseen) is float and target.id in self.steady:
                self.settle(target, foreseen)
                return
            self.whole_numbers(node, name, target.id)
            old: Expression = Variable(self.names[target.id], here)
            new = Operation(_IN_PLACE.get(name, name), (old, self.expression(value, out)), here)
            self.store(target, new, out, here)
            self.settle(target, foreseen)
        elif (
            isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.tables
        ):
            self.whole_numbers(node, name)
            more = self.expression(value, out)
            self.put(target.value.id, target.slice, more, out, here, change=_IN_PLACE.get(name, name))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.names:
            self.whole_numbers(node, name)
            kept = self.shared.name("t")
            out.append(Assign(kept, self.expression(target.slice, out), here))
            index = Variable(kept, here)
            cell = Element(Variable(self.names[target.value.id], here), index, here)
            new = Operation(_IN_PLACE.get(name, name), (cell, self.expression(value, out)), here)
            out.append(Replace(self.names[target.value.id], index, new, here))
        elif isinstance(target, ast.Subscript):
            self.refuse(target, "changing a nested list", "row = list(rows[i]); row[j] += x; rows[i] = row")
        else:
            self.unknown(target)

    def whole_numbers(self, node: ast.AST, sign: str, name: str | None = None) -> None:
        """Refuse what Python rounds: a quotient, or a float that data are added to."""
        if self.shared.ordinary and (sign == "/" or type(self.constants.get(name or "")) is float):
            self.refuse(node, "arithmetic of floats with data", "whole numbers until the noise is added")

    def changed_in_place(self, value: ast.expr, out: list[Statement], here: Place) -> bool:
        """A statement that changes a list: ``extend``, ``sort``, ``reverse``, ``pop``, ``remove``, ``clear``."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=arguments, keywords=keywords):
                pass
            case _:
                return False
        if name not in self.names or name in self.tables or any(isinstance(a, ast.Starred) for a in arguments):
            return False
        held = Variable(self.names[name], here)
        given = {str(k.arg): k.value for k in keywords}
        match method, arguments:
            case "extend", [more] if not given:
                new = Operation("extend", (held, self.sequence(more, out)), here)
            case "sort", [] if given.keys() <= {"reverse"}:
                turned = self.expression(given["reverse"], out) if given else Constant(value=False, place=here)
                new = Operation("sort", (held, turned), here)
            case "reverse", [] if not given:
                new = Operation("reverse", (held,), here)
            case "clear", [] if not given:
                new = Operation("cleared", (held,), here)
            case "remove", [item] if not given:
                new = Operation("removed", (held, self.expression(item, out)), here)
            case "pop", [] | [_] if not given:
                index = self.expression(arguments[0], out) if arguments else Constant(-1, here)
                new = Operation("without", (held, index), here)
            case _:
                return False
        self.store(ast.Name(name, ast.Store()), new, out, here)
        return True
