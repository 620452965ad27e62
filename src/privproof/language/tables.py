"""Tables over public keys: dictionaries, counters and lists of fixed length become one variable for every key.

``{"a": 0, "b": 0}``, ``dict.fromkeys(KEYS, 0)``, ``{k: f(k) for k in KEYS}`` and ``np.zeros(3)`` have keys that are known while the
function is read.  A name that is given such a table once, and that stands for nothing else, is taken apart: ``counts["a"]`` is a
variable of its own, a key that depends on data chooses among them, and a loop over the keys is written out turn by turn.
``Counter(data)[key]`` is ``data.count(key)``.  A table whose keys come from data stays what it is, or is refused: which keys
there are would show.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from privproof.language.arrays import BuiltIn
from privproof.language.folding import Unfoldable
from privproof.language.resolving import Found
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
from privproof.language.texts import Texts
from privproof.language.values import Member

MOST_TURNS = 64
"""Turns of a loop over public keys that are written out one by one; a longer loop stays a loop."""
_PLAIN_KEYS = (bool, int, str, type(None), Member)
_READ_BY = ("len", "max", "min", "sum", "sorted", "list", "tuple", "dict", "any", "all", "zip", "enumerate", "reversed")
_FILLED = ("numpy.zeros",)
_MEASURES = ("shape", "size")
_VIEWS = ("items", "keys", "values", "get", "copy")


@dataclass
class Keyed:
    """A table whose keys are known, each with the variable that holds its value.

    Attributes:
        kind: ``dict``, ``counting`` (a missing key counts as 0), ``list`` or ``array``.
        entries: the variables by their keys, in order.
        changed: whether the function changes it somewhere.
    """

    kind: str
    entries: dict[Any, str] = field(default_factory=dict)
    changed: bool = False


class Tables(Texts):
    """Reads tables over public keys, and loops over them."""

    tables: dict[str, Keyed]
    """Names that stand for a table whose keys are known."""
    counters: dict[str, Expression]
    """Names that stand for the counts of the elements of a list."""
    counted: dict[tuple[str, str], str]
    """Variables that hold such a count, by the name and how its key is written."""
    branches: int
    """How many tests and loops are around what is read: there no key is added to a table."""

    @abstractmethod
    def store(self, target: ast.expr, value: Expression, out: list[Statement], here: Place) -> None:
        """``target = value``."""

    @abstractmethod
    def known(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the call of a built-in function."""

    @abstractmethod
    def found(self, node: ast.expr) -> Found | None:
        """What a name outside stands for."""

    @abstractmethod
    def library_called(self, node: ast.expr) -> str | None:
        """The function of a library that an expression calls."""

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

    # -------------------------------------------------------------------------------------------------- making tables

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

    def length_made(self, node: ast.expr) -> int | None:
        """The length of an array that an expression makes, if that is known: ``np.zeros(3)``, ``np.array([f(k) for k in KEYS])``."""
        called = self.library_called(node)
        if not isinstance(node, ast.Call) or not node.args or called not in (*_FILLED, "numpy.array", "numpy.asarray"):
            return None
        if called in _FILLED:
            length = self.foreseen(node.args[0])
            return length if type(length) is int and 0 < length <= MOST_TURNS else None
        match node.args[0]:
            case ast.List(elts=elements) if elements and not any(isinstance(each, ast.Starred) for each in elements):
                return len(elements)
            case ast.ListComp(generators=[ast.comprehension(iter=over, ifs=[])]):
                listed = self.static_items(over)
                return None if listed is None else len(listed) or None
        return None

    def table_made(self, name: str, value: ast.expr, out: list[Statement], here: Place) -> bool:
        """Take a table apart that a name is given; False if it is none, or the name stands for more."""
        made_of = (ast.Dict, ast.DictComp, ast.Call, ast.List, ast.BinOp, ast.ListComp)
        if not isinstance(value, made_of) or not self.named_once(name):
            return False
        if isinstance(value, ast.ListComp):
            return self.shared.ordinary and self.list_made(name, value, "list", out, here)
        if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.ListComp):
            known = self.length_made(value) is not None
            return known and self.list_made(name, value.args[0], "array", out, here)
        called = self.library_called(value) if isinstance(value, ast.Call) else None
        if (
            called == "collections.Counter"
            and isinstance(value, ast.Call)
            and len(value.args) == 1
            and not value.keywords
        ):
            if not self.used_as_table(name, views=("get", "items", "keys")):
                return False
            listed = self.sequence(value.args[0], out)
            if not (isinstance(listed, Variable) and listed.name in self.shared.given):
                kept = self.shared.name("s")
                out.append(Assign(kept, Operation("list", (listed,), here), here))
                listed = Variable(kept, here)
            self.counters[name] = listed
            for part in self.parts:  # what is added to noise is known before the noise is drawn
                match part:
                    case ast.Subscript(value=ast.Name(id=holder), slice=ast.Constant(value=key)) if holder == name:
                        if (name, repr(key)) not in self.counted:
                            self.counted[name, repr(key)] = self.shared.name("t")
                            count = Operation("count", (listed, Constant(key, here)), here)
                            out.append(Assign(self.counted[name, repr(key)], count, here))
            return True
        made = self.entries_of(value, called, out, here)
        views = {"list": (), "array": _MEASURES}.get(made[0], _VIEWS) if made is not None else ()
        if made is None or not self.used_as_table(name, views=views, array=made[0] == "array"):
            return False
        kind, rows = made
        changed = self.changes(name)
        if kind == "list" and not changed:
            return False
        table = Keyed(kind, {}, changed)
        for key, held in rows:
            table.entries[key] = self.shared.name("t")
            content = held(out) if callable(held) else held
            out.append(Assign(table.entries[key], content, here))
        self.tables[name] = table
        return True

    def list_made(self, name: str, value: ast.ListComp, kind: str, out: list[Statement], here: Place) -> bool:
        """Take a list or an array apart whose length is known."""
        array = kind == "array"
        if not self.used_as_table(name, views=_MEASURES if array else ("index",), array=array):
            return False
        listed: list[str] = []

        def keep() -> None:
            listed.append(self.shared.name("t"))
            content = self.expression(value.elt, out)
            self.note_noise(listed[-1], content)
            out.append(Assign(listed[-1], content, here))

        before, sites = len(out), self.shared.sites
        if not self.spelled_out(value.generators, keep, out) or not listed:
            del out[before:]
            self.shared.sites = sites
            return False
        self.tables[name] = Keyed(kind, dict(enumerate(listed)), self.changes(name))
        return True

    def entries_of(
        self, value: ast.expr, called: str | None, out: list[Statement], here: Place
    ) -> tuple[str, list[tuple[Any, Expression | Callable[[list[Statement]], Expression]]]] | None:
        """The kind of a table with its keys and values; None where these are not known."""
        match value:
            case ast.Dict(keys=keys, values=values):
                known = [UNFORESEEN if key is None else self.foreseen(key) for key in keys]
                if not _distinct(known):
                    return None
                return "dict", [(key, _later(self, each)) for key, each in zip(known, values, strict=True)]
            case ast.DictComp():
                rows = self.comprehended(value, out)
                return None if rows is None else ("dict", rows)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[keys, filled]) if (
                "dict" not in self.names and not value.keywords
            ):
                listed, content = self.static_items(keys), self.foreseen(filled)
                if listed is None or content is UNFORESEEN or not all(isinstance(each, Constant) for each in listed):
                    return None
                known = [each.value for each in listed if isinstance(each, Constant)]
                return (
                    None
                    if not _distinct(known)
                    else ("dict", [(key, self.fixed(value, content, here)) for key in known])
                )
            case ast.Call(args=[], keywords=keywords) if self.known(value, "dict"):
                if any(k.arg is None for k in keywords):
                    return None
                return "dict", [(str(k.arg), _later(self, k.value)) for k in keywords]
            case ast.Call(args=[], keywords=[]) if called == "collections.Counter":
                return "counting", []
            case ast.Call(args=[ast.Name(id="int"), *rest], keywords=[]) if called == "collections.defaultdict":
                inner = self.entries_of(rest[0], None, out, here) if rest else ("dict", [])
                return None if inner is None or inner[0] != "dict" else ("counting", inner[1])
            case ast.Call() if called in _FILLED:
                length = self.length_made(value)
                return None if length is None else ("array", [(i, Constant(0, here)) for i in range(length)])
            case ast.Call(args=[ast.List(elts=elements)], keywords=[]) if self.length_made(value) is not None:
                return "array", [(i, _later(self, each)) for i, each in enumerate(elements)]
            case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult(), right=count) if self.shared.ordinary:
                length, content = self.foreseen(count), self.foreseen(one)
                if type(length) is not int or not 0 < length <= MOST_TURNS or type(content) not in (int, bool):
                    return None
                return "list", [(i, Constant(content, here)) for i in range(length)]
            case ast.List(elts=elements) if self.shared.ordinary and elements:
                if any(isinstance(each, ast.Starred) for each in elements):
                    return None
                return "list", [(i, _later(self, each)) for i, each in enumerate(elements)]
        return None

    def comprehended(self, node: ast.DictComp, out: list[Statement]) -> list[tuple[Any, Any]] | None:
        """The entries of a table that a comprehension makes over public keys; None where they are not known."""
        here = self.place(node)
        rows: dict[Any, Expression] = {}
        plain = True

        def add() -> None:
            nonlocal plain
            key = self.foreseen(node.key)
            if not isinstance(key, _PLAIN_KEYS) and not (isinstance(key, tuple) and key is not UNFORESEEN):
                plain = False
                return
            kept = self.shared.name("t")
            out.append(Assign(kept, self.expression(node.value, out), here))
            rows[key] = Variable(kept, here)

        before, sites = len(out), self.shared.sites
        if not self.spelled_out(node.generators, add, out) or not plain:
            del out[before:]
            self.shared.sites = sites
            return None
        return list(rows.items())

    def table_value(self, node: ast.Dict | ast.DictComp, out: list[Statement]) -> Expression | None:
        """A comprehension over public keys as a table that is written out."""
        if not isinstance(node, ast.DictComp):
            return None
        here = self.place(node)
        rows = self.comprehended(node, out)
        if rows is None:
            return None
        entries = [part for key, value in rows for part in (self.fixed(node, key, here), value)]
        return Operation("table of", tuple(entries), here)

    # -------------------------------------------------------------------------------------------- how names are used

    def named_once(self, name: str) -> bool:
        """Whether a name is assigned once, in a plain statement of the function's own block, and never anywhere else."""
        if name not in self.steady or self.nested or name in self.shared.given or self.branches:
            return False
        stored = [n for n in self.parts if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
        inner = any(
            isinstance(n, ast.FunctionDef | ast.Lambda) and n is not self.read.tree and name in _loaded(n)
            for n in self.parts
        )
        return len(stored) == 1 and not inner

    def used_as_table(self, name: str, *, views: tuple[str, ...], array: bool = False) -> bool:
        """Whether a name is only looked into, walked over, asked for its views, or given back; an array also computed with as a whole."""
        changed = self.changes(name)
        ending = {id(part) for end in self.parts if isinstance(end, ast.Return) for part in ast.walk(end)}
        for holder in self.parts:
            for part in ast.iter_child_nodes(holder):
                if not (isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)):
                    continue
                match holder:
                    case ast.Subscript(value=inner, slice=index) if inner is part and not isinstance(index, ast.Slice):
                        continue
                    case ast.Attribute(value=inner, attr=attribute) if inner is part and attribute in views:
                        continue
                    case ast.For(iter=inner) | ast.comprehension(iter=inner) if inner is part:
                        continue
                    case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[inner]) if inner is part:
                        continue
                    case ast.Return() | ast.Yield() | ast.FormattedValue():
                        continue
                    case ast.BinOp() | ast.UnaryOp() if array:
                        continue
                    case ast.Call(func=ast.Name(id=called)) if called in _READ_BY and called not in self.names:
                        continue
                    case ast.Call() if self.library_called(holder) in ("numpy.argmax", "numpy.sum", "numpy.max"):
                        continue
                    case ast.Tuple() | ast.List() | ast.Call() | ast.Dict() | ast.keyword() if (
                        not changed or id(holder) in ending
                    ):
                        continue
                return False
        return True

    def changes(self, name: str) -> bool:
        """Whether the function changes what a name holds, element by element."""
        return any(
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and part.value.id == name
            and not isinstance(part.ctx, ast.Load)
            for part in self.parts
        )

    # ------------------------------------------------------------------------------------------- reading and changing

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
        if key is UNFORESEEN or not isinstance(key, (*_PLAIN_KEYS, tuple)):
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
            if known is not UNFORESEEN and isinstance(known, (*_PLAIN_KEYS, tuple)):
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

    # ------------------------------------------------------------------------------------- loops that are written out

    def static_items(self, over: ast.expr) -> list[Expression] | None:
        """What a loop is over, where all of it is known while the function is read, but for the values of variables."""
        here = self.place(over)
        match over:
            case ast.Name(id=name) if name in self.tables:
                return self.keys_of(over, self.tables[name], here)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=view), args=[], keywords=[]) if (
                name in self.tables and view in ("items", "keys", "values")
            ):
                table = self.tables[name]
                keys = [self.fixed(over, key, here) for key in table.entries]
                values: list[Expression] = [Variable(each, here) for each in table.entries.values()]
                if view != "items":
                    return keys if view == "keys" else values
                return [Operation("tuple of", pair, here) for pair in zip(keys, values, strict=True)]
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "sorted"):
                listed = self.static_items(inner)
                if listed is None or not all(isinstance(each, Constant) for each in listed):
                    return None
                try:
                    return sorted(listed, key=lambda each: each.value)  # type: ignore[union-attr, return-value, arg-type]
                except TypeError:
                    return None
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "list") or self.known(over, "tuple"):
                return self.static_items(inner)
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "reversed"):
                listed = self.static_items(inner)
                return None if listed is None else listed[::-1]
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "enumerate"):
                listed = self.static_items(inner)
                if listed is None:
                    return None
                return [Operation("tuple of", (Constant(i, here), each), here) for i, each in enumerate(listed)]
            case ast.Call(args=several, keywords=[]) if self.known(over, "zip") and several:
                lists = [self.static_items(each) for each in several]
                if any(each is None for each in lists):
                    return None
                rows = zip(*(each for each in lists if each is not None), strict=False)
                return [Operation("tuple of", row, here) for row in rows]
            case ast.Call(args=bounds, keywords=[]) if self.known(over, "range") and 1 <= len(bounds) <= 3:
                numbers = [self.foreseen(each) for each in bounds]
                if not all(type(each) is int for each in numbers) or (len(numbers) == 3 and numbers[2] == 0):
                    return None
                turns = range(*numbers)
                return [Constant(i, here) for i in turns] if len(turns) <= MOST_TURNS else None
        members = self.members_named(over)
        if members is not None:
            return [Constant(each, here) for each in members]
        try:
            known = self.compute(over)
        except Unfoldable:
            return None
        if not isinstance(known, tuple | list) or len(known) > MOST_TURNS:
            return None
        if any(type(part) is float for part in _leaves(known)):
            return None
        return [self.fixed(over, each, here) for each in known]

    def keys_of(self, over: ast.expr, table: Keyed, here: Place) -> list[Expression]:
        """What a loop over a table is over: its keys; of a list its elements."""
        if table.kind in ("list", "array"):
            return [Variable(each, here) for each in table.entries.values()]
        return [self.fixed(over, key, here) for key in table.entries]

    def members_named(self, node: ast.expr) -> tuple[Member, ...] | None:
        """The members of an enumeration that an expression names."""
        if not isinstance(node, ast.Name | ast.Attribute) or (isinstance(node, ast.Name) and node.id in self.names):
            return None
        found = self.found(node)
        if found is None or found.kind != "members":
            return None
        self.shared.object_fields |= {"name", "value"}
        return tuple(found.value)

    def about_tables(self, *nodes: ast.AST) -> bool:
        """Whether code looks into a table that was taken apart, or into counts."""
        names = {*self.tables, *self.counters}
        return any(isinstance(part, ast.Name) and part.id in names for node in nodes for part in ast.walk(node))

    @contextmanager
    def bound_to(self, target: ast.expr, item: Expression, out: list[Statement], here: Place) -> Iterator[None]:
        """A target with a value for one turn: what is a constant is known."""
        before = dict(self.constants)
        pairs = list(_side_by_side(target, item))
        for each, part in pairs:
            self.store(each, part, out, here)
        for name, part in _matched(target, item):
            self.constants.pop(name, None)
            if isinstance(part, Constant):
                self.constants[name] = part.value
        yield
        self.constants = before

    @contextmanager
    def inner_names(self, names: Iterable[str]) -> Iterator[None]:
        """Names of a scope of their own, until its end: each stands for a new variable."""
        before, outside = dict(self.names), {}
        for name in names:
            self.names[name] = f"{self.shared.name('x')}.{name}"
            outside[name] = self.constants.pop(name, UNFORESEEN)
        yield
        self.names.clear()
        self.names.update(before)
        for name, value in outside.items():
            self.constants.pop(name, None)
            if value is not UNFORESEEN:
                self.constants[name] = value

    def spelled_out(self, generators: list[ast.comprehension], last: Callable[[], None], out: list[Statement]) -> bool:
        """The loops of a comprehension over public keys, turn by turn; False where these are not known."""
        if not generators:
            last()
            return True
        first, *others = generators
        listed = self.static_items(first.iter)
        if listed is None or first.is_async or any(isinstance(p, ast.Subscript) for p in ast.walk(first.target)):
            return False
        here = self.place(first.iter)
        with self.inner_names({p.id for p in ast.walk(first.target) if isinstance(p, ast.Name)}):
            for item in listed:
                with self.bound_to(first.target, item, out, here):
                    tests = [self.foreseen(test) for test in first.ifs]
                    fine = not any(test is UNFORESEEN for test in tests)
                    if fine and all(tests):
                        fine = self.spelled_out(others, last, out)
                if not fine:
                    return False
            return True


def _later(reader: Tables, node: ast.expr) -> Callable[[list[Statement]], Expression]:
    return lambda out: reader.expression(node, out)


def _distinct(keys: list[Any]) -> bool:
    """Whether all keys are known, and no two are equal."""
    if any(key is UNFORESEEN or not isinstance(key, (*_PLAIN_KEYS, tuple)) for key in keys):
        return False
    return len(set(keys)) == len(keys)


def _loaded(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _side_by_side(target: ast.expr, item: Expression) -> Iterator[tuple[ast.expr, Expression]]:
    """A target with its value, taken apart as far as the value is written out and no part of it is an element of a list."""
    match target, item:
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), Operation("tuple of", values)) if len(targets) == len(
            values
        ) and not any(isinstance(part, ast.Starred | ast.Subscript) for part in ast.walk(target)):
            for one, part in zip(targets, values, strict=True):
                yield from _side_by_side(one, part)
        case _:
            yield target, item


def _matched(target: ast.expr, item: Expression) -> Iterator[tuple[str, Expression]]:
    """The names of a target with the parts of a value that they take, as far as these are written out."""
    match target, item:
        case ast.Name(id=name), _:
            yield name, item
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), Operation("tuple of", arguments)) if len(
            targets
        ) == len(arguments) and not any(isinstance(each, ast.Starred) for each in targets):
            for one, part in zip(targets, arguments, strict=True):
                yield from _matched(one, part)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            for one in targets:
                for name in _loaded(one):
                    yield name, Operation("unknown", (), item.place)
