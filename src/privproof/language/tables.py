"""Tables over public keys: dictionaries, counters and lists of fixed length become one variable for every key.

``{"a": 0, "b": 0}``, ``dict.fromkeys(KEYS, 0)``, ``{k: f(k) for k in KEYS}`` and ``np.zeros(3)`` have keys that are known while the
function is read.  A name that is given such a table once, and that stands for nothing else, is taken apart: ``counts["a"]`` is a
variable of its own, a key that depends on data chooses among them, and a loop over the keys is written out turn by turn.
``Counter(data)[key]`` is ``data.count(key)``.  A table whose keys come from data stays what it is, or is refused: which keys
there are would show.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from privproof.language.public_keys import MOST_TURNS, PLAIN_KEYS, Keyed, names_in
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import (
    Assign,
    Constant,
    Expression,
    Operation,
    Place,
    Statement,
    Variable,
)
from privproof.language.table_entries import TableEntries

_READ_BY = ("len", "max", "min", "sum", "sorted", "list", "tuple", "dict", "any", "all", "zip", "enumerate", "reversed")
_FILLED = ("numpy.zeros",)
_MEASURES = ("shape", "size")
_VIEWS = ("items", "keys", "values", "get", "copy")


class Tables(TableEntries):
    """Reads what makes a table over public keys."""

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
        followed = self.shared.ordinary or self.counted_into(name)
        if not followed and isinstance(value, ast.List | ast.BinOp | ast.ListComp):
            return False
        if isinstance(value, ast.ListComp):
            return self.list_made(name, value, "list", out, here)
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
            case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult(), right=count):
                length, content = self.foreseen(count), self.foreseen(one)
                if type(length) is not int or not 0 < length <= MOST_TURNS or type(content) not in (int, bool):
                    return None
                return "list", [(i, Constant(content, here)) for i in range(length)]
            case ast.List(elts=elements) if elements:
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
            if not isinstance(key, PLAIN_KEYS) and not (isinstance(key, tuple) and key is not UNFORESEEN):
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

    def named_once(self, name: str) -> bool:
        """Whether a name is assigned once, in a plain statement of the function's own block, and never anywhere else."""
        if name not in self.steady or self.nested or name in self.shared.given or self.branches:
            return False
        stored = [n for n in self.parts if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
        at_once = {id(key) for key in self.keys_called_at_once() if name not in {arg.arg for arg in key.args.args}}
        inner = any(
            isinstance(n, ast.FunctionDef | ast.Lambda)
            and n is not self.read.tree
            and id(n) not in at_once
            and name in names_in(n)
            for n in self.parts
        )
        return len(stored) == 1 and not inner

    def keys_called_at_once(self) -> Iterator[ast.Lambda]:
        """The keys of ``max``, ``min`` and ``sorted``: what is written there is asked in that very place, and never later."""
        for part in self.parts:
            match part:
                case ast.Call(func=ast.Name(id="max" | "min" | "sorted" as called), keywords=keywords):
                    if called not in self.names:
                        yield from (k.value for k in keywords if k.arg == "key" and isinstance(k.value, ast.Lambda))
                case ast.Call(keywords=keywords) if self.library_called(part) in ("heapq.nlargest", "heapq.nsmallest"):
                    yield from (k.value for k in keywords if k.arg == "key" and isinstance(k.value, ast.Lambda))

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


def _later(reader: Tables, node: ast.expr) -> Callable[[list[Statement]], Expression]:
    return lambda out: reader.expression(node, out)


def _distinct(keys: list[Any]) -> bool:
    """Whether all keys are known, and no two are equal."""
    if any(key is UNFORESEEN or not isinstance(key, (*PLAIN_KEYS, tuple)) for key in keys):
        return False
    return len(set(keys)) == len(keys)
