"""Which expressions have a value whatever the data are, and which tests of a record go one way alone.

A summary keeps of the turns of a loop what they add up, and nothing else that they compute.  An error that some record ends in would be
left out with the rest, and so would be what is done after it: ``try: ... except ValueError: s += 1000``.  So only turns are summarised of
which every part surely has a value: sums, products and comparisons of numbers, divisions by constants other than 0, entries of tables
that have one for every value that is declared.  A test that the declared values decide, as in
``if not 0 <= r.age <= 120: raise ValueError``, leads to one side alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from privproof.compiling.record_values import OPEN, all_values, value_at
from privproof.compiling.sorts import CONTINUOUS
from privproof.language.inputs import Input
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Expression,
    If,
    Inline,
    Operation,
    Result,
    Sample,
    Statement,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import blocks, statements, within, writes

Kind: TypeAlias = Literal["nothing", "whole", "number", "text", "anything"]
"""What values are: whole numbers and truth values, numbers, texts; ``nothing`` of what there is no value yet."""
Ends: TypeAlias = "tuple[Fraction | None, Fraction | None]"

_ALWAYS = ("==", "!=", "is", "is not", "and", "or", "not", "bool", "tuple of", "list of", "fixed list of", "table of")
"""What never fails, whatever its operands are."""
_ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SUMS = ("+", "extend", "-", "*", "repeat", "neg", "pos", "abs")
_ROUNDED = ("int", "round", "floor", "ceil", "trunc")
_LISTED = ("tuple of", "list of", "fixed list of")
_NUMBERS = ("nothing", "whole", "number")
_WHOLE = ("nothing", "whole")
_DRAWN = ("bernoulli", "geometric", "truncated_geometric", "uniform")


class Values:
    """What is known of the values of expressions about a record of a list.

    Args:
        body: the statements around, which assign the variables that are no part of a record.
        inputs: the declared inputs.
    """

    def __init__(self, body: Block, inputs: Mapping[str, Input]) -> None:
        self.inputs = inputs
        written: dict[str, list[Statement]] = {}
        for statement in statements(body):
            if (name := writes(statement)) is not None:
                written.setdefault(name, []).append(statement)
        self.rows: dict[str, Input] = {}
        found: dict[str, Input] | None = None
        while found is None or len(found) > len(self.rows):
            self.rows = found or {}
            found = {name: row for name, changes in written.items() if (row := self._row(changes)) is not None}
        self.kinds: dict[str, Kind] = dict.fromkeys(written, "nothing")
        before: dict[str, Kind] = {}
        while before != self.kinds:
            before = dict(self.kinds)
            for name, changes in written.items():
                self.kinds[name] = _joined((self.kinds[name], *map(self._given, changes)))

    def _row(self, changes: Iterable[Statement]) -> Input | None:
        """The list that a variable is only given records of, or copies of these, where they have named fields."""
        lists: list[Input] = []
        for change in changes:
            match change:
                case Assign(_, Element(Variable(name))) if name in self.inputs and self.inputs[name].fields:
                    lists.append(self.inputs[name])
                case Assign(_, Variable(name)) if name in self.rows:
                    lists.append(self.rows[name])
                case _:
                    return None
        return lists[0] if lists and all(each is lists[0] for each in lists) else None

    def _given(self, change: Statement) -> Kind:
        """What a statement gives to a variable."""
        match change:
            case Assign(_, value):
                return self.kind(value)
            case Inline(_, body):
                return _joined(self.kind(result.value) for result in _results(body))
            case Sample(_, noise) if noise in _DRAWN:
                return "whole"
            case Sample(_, noise) if noise in CONTINUOUS:
                return "number"
            case _:
                return "anything"

    def kind(self, expression: Expression) -> Kind:
        """What the value of an expression is, where it has one."""
        match expression:
            case Constant(value):
                return "nothing" if value is MISSING else _kind_of((value,))
            case Variable(name) if name in self.kinds:
                return "anything" if name in self.inputs else self.kinds[name]
            case Variable(name) | Operation("record", (Variable(name),)) | Element(Variable(name)) if (
                name in self.inputs
            ):
                return _declared(self.inputs[name])
            case Operation("field", (Operation("record", (Variable(name),)), Constant(str() as part))):
                return _declared(dict(self.inputs[name].fields)[part])
            case Element(Variable(name), Constant(str() as part)) if name in self.rows:
                return _declared(dict(self.rows[name].fields)[part])
            case Element(Element(Variable(name)), Constant(str() as part)) if name in self.inputs:
                return _declared(dict(self.inputs[name].fields)[part]) if self.inputs[name].fields else "anything"
            case Conditional(_, then, otherwise):
                return _joined((self.kind(then), self.kind(otherwise)))
            case Element(Operation(held, entries)) if held in _LISTED:
                return _joined(map(self.kind, entries))
            case Element(Operation("table of", entries)):
                return _joined(map(self.kind, entries[1::2]))
            case Operation("get", (Operation("table of", entries), _, default)):
                return _joined(map(self.kind, (*entries[1::2], default)))
            case Operation("and" | "or" | "max" | "min" | "//" | "%", arguments) if len(arguments) > 1:
                return _joined(map(self.kind, arguments))
            case Operation("**", (base, _)):
                return self.kind(base)
            case Operation("/" | "float" | "Fraction"):
                return "number"
            case Operation(name, arguments) if name in _SUMS:
                found = _joined(map(self.kind, arguments))
                return found if found in (*_NUMBERS, "text") else "anything"
            case Operation(name) if name in (*_ORDERED, *_ROUNDED):
                return "whole"
            case Operation(
                "==" | "!=" | "is" | "is not" | "not" | "bool" | "in" | "not in" | "len" | "turns" | "whole"
                | "&" | "|" | "^" | "~" | "<<" | ">>" | "position"
            ):  # fmt: skip
                return "whole"
            case _:
                return "anything"

    def surely(self, expression: Expression) -> bool:
        """Whether an expression has a value for every record."""
        return all(map(self.defined, within(expression)))

    def defined(self, expression: Expression) -> bool:
        """Whether an expression has a value wherever its parts have one."""
        match expression:
            case Constant(value):
                return value is not MISSING
            case Variable() | Conditional() | Operation("record" | "position", (Variable(),)):
                return True
            case Operation("field", (Operation("record"), Constant())):
                return True
            case Element(Operation() as holder, index):
                return self._is_entry(holder, index)
            case Element(Variable(name), index):
                return name in self.rows and isinstance(index, Constant)
            case Element():
                return False
            case Operation("len" | "turns", (Variable(name),)) if name in self.inputs:
                return True
            case Operation(name) if name in _ALWAYS:
                return True
            case Operation("get", (Operation("table of"), _, _)):
                return True
            case Operation("in" | "not in", (_, Operation(held))):
                return held in (*_LISTED, "table of")
            case Operation(name, (left, right)) if name in _ORDERED:
                found = _joined((self.kind(left), self.kind(right)))
                return found in (*_NUMBERS, "text")
            case Operation("max" | "min", arguments):
                return len(arguments) > 1 and self._are(_NUMBERS, arguments)
            case Operation(name, arguments) if name in _SUMS:
                return self._are(_NUMBERS, arguments)
            case Operation("//" | "%" | "/", (left, Constant(int() | Fraction() as divisor))):
                return divisor != 0 and self._are(_NUMBERS, (left,))
            case Operation("**", (base, Constant(int() as exponent))):
                return exponent >= 0 and self._are(_NUMBERS, (base,))
            case Operation("<<" | ">>", (left, Constant(int() as places))):
                return places >= 0 and self._are(_WHOLE, (left,))
            case Operation("&" | "|" | "^" | "~" | "whole", arguments):
                return self._are(_WHOLE, arguments)
            case Operation(name, (inner,)) if name in (*_ROUNDED, "float"):
                return self._are(_NUMBERS, (inner,))
            case Operation("Fraction", (inner,)):
                return self._are(_NUMBERS, (inner,))
            case Operation("Fraction", (inner, Constant(int() as divisor))):
                return divisor != 0 and self._are(_WHOLE, (inner,))
            case _:
                return False

    def _are(self, kinds: tuple[str, ...], arguments: Iterable[Expression]) -> bool:
        return all(self.kind(each) in kinds for each in arguments)

    def _is_entry(self, holder: Expression, index: Expression) -> bool:
        """Whether a table or a list that is written out has an entry for every value of an index."""
        values = all_values(index, self.inputs)
        match holder:
            case Operation("table of", entries):
                keys = {key for each in entries[::2] if (key := value_at(each, {})) is not OPEN}
                return values is not None and set(values) <= keys
            case Operation(name, entries) if name in _LISTED:
                places = range(-len(entries), len(entries))
                return values is not None and _kind_of(values) == "whole" and all(each in places for each in values)
            case _:
                return False

    def decided(self, test: Expression) -> bool | None:
        """The way that a test goes for every record; None where it may go either way, or where that is not known."""
        match test:
            case Constant(bool() as value):
                return value
            case Operation("not", (inner,)):
                found = self.decided(inner)
                return None if found is None else not found
            case Operation("and" | "or" as name, sides):
                ways, ends = [self.decided(side) for side in sides], name == "or"
                return ends if ends in ways else None if None in ways else not ends
            case Operation(name, (left, right)) if name in _ORDERED:
                holds, (low, high), (least, most) = _ORDERED[name], self.ends(left), self.ends(right)
                below = name in ("<", "<=")
                always, never = ((high, least), (low, most)) if below else ((low, most), (high, least))
                if None not in always and holds(*always):
                    return True
                return False if None not in never and not holds(*never) else None
            case _:
                return None

    def ends(self, expression: Expression) -> Ends:
        """The least and the largest value of a constant or of what a record holds."""
        match expression:
            case Constant(int() | Fraction() as value):
                return Fraction(value), Fraction(value)
            case Operation("record", (Variable(name),)):
                declared = self.inputs[name]
            case Operation("field", (Operation("record", (Variable(name),)), Constant(str() as part))):
                declared = dict(self.inputs[name].fields)[part]
            case _:
                return None, None
        if declared.values is not None:
            known = declared.values if _kind_of(declared.values) in ("whole", "number") else ()
            return (Fraction(min(known)), Fraction(max(known))) if known else (None, None)
        low, high = declared.low, declared.high
        return None if low is None else Fraction(str(low)), None if high is None else Fraction(str(high))


def _results(block: Block) -> Iterator[Result]:
    """What a function that is called may give back; behind a result, and behind a test with one on both sides, it never comes."""
    for statement in block:
        match statement:
            case Result():
                yield statement
                return
            case If(_, then, otherwise):
                yield from (*_results(then), *_results(otherwise))
                if _ends(then) and _ends(otherwise):
                    return
            case Inline():
                continue  # of a call inside
            case _:
                for inner in blocks(statement):
                    yield from _results(inner)


def _ends(block: Block) -> bool:
    """Whether some statements end in a result in any case."""
    return any(isinstance(s, Result) or (isinstance(s, If) and _ends(s.then) and _ends(s.otherwise)) for s in block)


def _declared(declared: Input) -> Kind:
    """What the values of an input are, or those of its elements."""
    if declared.fields:
        return "anything"
    if declared.values is not None:
        return _kind_of(declared.values)
    return "number" if declared.real else "whole"


def _kind_of(values: Iterable[Any]) -> Kind:
    kinds: dict[type, Kind] = {bool: "whole", int: "whole", Fraction: "number", float: "number", str: "text"}
    return _joined(kinds.get(type(value), "anything") for value in values)


def _joined(kinds: Iterable[Kind]) -> Kind:
    """What values of several kinds are."""
    found = set(kinds) - {"nothing"}
    if len(found) < 2:
        return next(iter(found), "nothing")
    return "number" if found == {"whole", "number"} else "anything"
