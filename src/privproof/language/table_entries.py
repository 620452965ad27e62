"""What is read and changed in a table that was taken apart into one variable for every key.

A key that is known is a variable; one that depends on data chooses among all of them, and fails where the table would.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Any

from privproof.language.public_keys import PLAIN_KEYS, Keyed
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Constant,
    Element,
    Expression,
    Operation,
    Place,
    Statement,
    Variable,
)
from privproof.language.tallies import Tallies


class TableEntries(Tallies):
    """Reads what is looked up in tables, and what is put into them."""

    @abstractmethod
    def first_largest(
        self, listed: list[Expression], values: list[Expression], sign: str, out: list[Statement], here: Place
    ) -> Expression:
        """The first of several whose value no other one exceeds, all written out."""

    @abstractmethod
    def entry_added(
        self, name: str, index: ast.expr, value: Expression, out: list[Statement], here: Place, change: str | None
    ) -> bool:
        """``name[index] = value`` of a table that is given keys under tests; False for any other name."""

    def looked_up(self, name: str, index: ast.expr, out: list[Statement], here: Place) -> Expression | None:
        """``name[index]`` of a table that was taken apart, or of counts; None for any other name."""
        if name in self.counters:
            if isinstance(index, ast.Constant) and (name, repr(index.value)) in self.counted:
                return Variable(self.counted[name, repr(index.value)], here)
            return Operation("count", (self.counters[name], self.expression(index, out)), here)
        table = self.tables.get(name)
        if table is None:
            return None
        known = self.position(table, self.foreseen(index))
        if known in table.entries and known is not UNFORESEEN:
            return Variable(table.entries[known], here)
        if known is not UNFORESEEN:
            if table.kind == "counting":
                return Constant(0, here)
            self.refuse(index, f"{name}[{known!r}], which has no value,", "a key of the table")
        if table.kind == "counting" and not table.entries:
            self.refuse(index, "a key that depends on data", "a table with all keys: dict.fromkeys(KEYS, 0)")
        key = self.expression(index, out)
        if table.kind in ("list", "array"):
            values = tuple(Variable(each, here) for each in table.entries.values())
            return Element(Operation("tuple of", values, here), key, here)
        return Element(self.whole_table(index, table, here), key, here)

    def position(self, table: Keyed, key: Any) -> Any:
        """A key as it stands in the table: of a list an index from its end is one from its beginning."""
        if key is UNFORESEEN or not isinstance(key, (*PLAIN_KEYS, tuple)):
            return UNFORESEEN
        if table.kind in ("list", "array") and isinstance(key, int) and -len(table.entries) <= key < 0:
            return key + len(table.entries)
        return key

    def whole_table(self, node: ast.AST, table: Keyed, here: Place) -> Expression:
        """A table as one value."""
        if table.kind in ("list", "array"):
            return Operation("list of", tuple(Variable(each, here) for each in table.entries.values()), here)
        rows = [(self.fixed(node, key, here), Variable(each, here)) for key, each in table.entries.items()]
        return Operation("table of", tuple(part for row in rows for part in row), here)

    def put(
        self,
        name: str,
        index: ast.expr,
        value: Expression,
        out: list[Statement],
        here: Place,
        *,
        change: str | None = None,
    ) -> bool:
        """``name[index] = value`` of a table that was taken apart, or ``name[index] += value``; False for any other name."""
        table = self.tables.get(name)
        if table is None:
            if self.entry_added(name, index, value, out, here, change):
                return True
            if name in self.counters:
                self.refuse(index, "changing a Counter of data", "a table with all keys: dict.fromkeys(KEYS, 0)")
            return False
        known = self.position(table, self.foreseen(index))
        if known is not UNFORESEEN:
            if known not in table.entries:
                if self.branches or table.kind in ("list", "array"):
                    self.refuse(index, f"a key {known!r} that is added under a test", "a table with all keys")
                if change is not None and table.kind != "counting":
                    self.refuse(index, f"{name}[{known!r}], which has no value,", "a key of the table")
                table.entries[known] = self.shared.name("t")
                if change is not None:
                    out.append(Assign(table.entries[known], Constant(0, here), here))
            held = Variable(table.entries[known], here)
            new = value if change is None else Operation(change, (held, value), here)
            if not self.branches:
                table.entries[known] = self.shared.name("t")
            out.append(Assign(table.entries[known], new, here))
            return True
        if not table.entries:
            self.refuse(index, "a key that depends on data", "a table with all keys: dict.fromkeys(KEYS, 0)")
        key = self.kept(self.expression(index, out), out, here)
        value = self.kept(value, out, here)
        numbers, count = table.kind in ("list", "array"), len(table.entries)
        nothing = Constant(None, here)
        rows = [part for each in table.entries for part in (self.fixed(index, each, here), nothing)]
        holder = (
            Operation("tuple of", (nothing,) * count, here) if numbers else Operation("table of", tuple(rows), here)
        )
        out.append(Assign(self.shared.name("d"), Element(holder, key, here), here))  # fails where the table does
        for number, (each, variable) in enumerate(table.entries.items()):
            same: Expression = Operation("==", (key, self.fixed(index, each, here)), here)
            if numbers:
                same = Operation("or", (same, Operation("==", (key, Constant(number - count, here)), here)), here)
            held = Variable(variable, here)
            new = value if change is None else Operation(change, (held, value), here)
            out.append(Assign(variable, Conditional(same, new, held, here), here))
        return True

    def of_table(self, node: ast.Call, function: ast.Attribute, out: list[Statement]) -> Expression | None:
        """A method of a table that was taken apart; None for any other."""
        here = self.place(node)
        if not isinstance(function.value, ast.Name) or node.keywords:
            return None
        name = function.value.id
        if name in self.counters and function.attr == "get" and len(node.args) == 2:
            default = self.foreseen(node.args[1])
            return self.looked_up(name, node.args[0], out, here) if type(default) is int and default == 0 else None
        table = self.tables.get(name)
        if table is not None and table.kind == "list" and function.attr == "index":
            return self.where_extreme(node, name, table, out, here)
        if table is None or table.kind in ("list", "array"):
            return None
        if function.attr == "get" and len(node.args) in (1, 2):
            default_value = self.expression(node.args[1], out) if len(node.args) == 2 else Constant(None, here)
            known = self.foreseen(node.args[0])
            if known is not UNFORESEEN and isinstance(known, (*PLAIN_KEYS, tuple)):
                return Variable(table.entries[known], here) if known in table.entries else default_value
            return Operation(
                "get", (self.whole_table(node, table, here), self.expression(node.args[0], out), default_value), here
            )
        if function.attr == "copy" and not node.args:
            return self.whole_table(node, table, here)
        listed = self.static_items(node)
        return None if listed is None else Operation("list of", tuple(listed), here)

    def where_extreme(
        self, node: ast.Call, name: str, table: Keyed, out: list[Statement], here: Place
    ) -> Expression | None:
        """``noisy.index(max(noisy))`` of a list that was taken apart; None for any other call of ``index``."""
        match node.args:
            case [ast.Call(args=[ast.Name(id=same)], keywords=[]) as inner] if same == name:
                sign = ">" if self.known(inner, "max") else "<" if self.known(inner, "min") else None
            case _:
                return None
        if sign is None:
            return None
        values = self.keys_of(node, table, here)
        return self.first_largest([Constant(i, here) for i in range(len(values))], values, sign, out, here)

    def appended_in(self, value: ast.expr, out: list[Statement], here: Place) -> bool:
        """``table[key].append(value)`` as a statement."""
        match value:
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=ast.Name(id=name), slice=index), attr="append"),
                args=[item],
                keywords=[],
            ) if name in self.tables:
                known = self.position(self.tables[name], self.foreseen(index))
                if known is UNFORESEEN or known not in self.tables[name].entries:
                    return False
                out.append(Append(self.tables[name].entries[known], self.expression(item, out), here))
                return True
        return False
