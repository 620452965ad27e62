"""Expressions and noise of a program as they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from privproof.compiling.list_parts import is_end
from privproof.compiling.scales import substitute_single_assignments
from privproof.exact import rational
from privproof.exact.number_texts import short
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Element,
    Expression,
    Operation,
    Replace,
    Sample,
    Variable,
    While,
)
from privproof.language.walking import statements, values_assigned_once, variables

_INFIX = {"extend": "+", "repeat": "*", "is": "is", "is not": "is not"}


_STRENGTH = {
    "or": 1,
    "and": 2,
    "not": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "//": 6,
    "%": 6,
}


_RECORD = "r"


_WORDS = {
    "l": "listed",
    "e": "entry",
    "t": "value",
    "v": "item",
    "k": "key",
    "r": "returned",
    "u": "drawn",
    "s": "part",
    "c": "chosen",
}
"""What variables are called whose names the translation makes of a letter and a number."""


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Writer:
    """Writes expressions as the user would, with the names that the translation made up resolved."""

    def __init__(self, body: Block) -> None:
        self.body = body
        self.made = {
            s.name: s.value
            for s in statements(body)
            if isinstance(s, Assign) and s.name.startswith(("#center", "#total")) and s.name not in variables(s.value)
        }
        put = {s.value.name for s in statements(body) if isinstance(s, Replace) and isinstance(s.value, Variable)}
        for name, value in values_assigned_once(body).items():
            if name in put and name.startswith("#t") and name not in self.made:
                self.made[name] = value  # what an entry of a list is given
        self.ends = {s.name: s.value for s in statements(body) if isinstance(s, Assign) and is_end(s.name)}
        self.tests = {s.name: s.value for s in statements(body) if isinstance(s, Assign) and s.name.startswith("#if")}
        named: dict[str, str] = {}
        for statement in statements(body):
            if (
                isinstance(statement, Assign)
                and isinstance(statement.value, Variable)
                and statement.value.name.startswith("#")
            ):
                named.setdefault(statement.value.name, statement.name)
        self.named = {made: name for made, name in named.items() if not name.startswith("#")}
        self.called: dict[str, str] = {}
        self.taken = {s.name for s in statements(body) if isinstance(s, Assign)}
        self.walks = {id(s): walk for s in statements(body) if isinstance(s, While) and (walk := _walk(s)) is not None}
        for walk in self.walks.values():
            free = next(name for name in ("i", "j", "k", "index") if name not in self.taken)
            self.named[walk.counter] = walk.number or free

    def name(self, name: str) -> str:
        """A variable as it is called."""
        if name in self.made:
            return self.text(self.made[name])
        if not name.startswith("#"):
            return name
        if name in self.named:
            return self.named[name]
        if "." in name:
            kind, _, of = name.rpartition(".")
            return (
                of if not of.startswith("#") else self.apart(name, {"#count": "count", "#sum": "total"}.get(kind, of))
            )
        if re.fullmatch(r"#(i|n|at)\d+", name):
            return "i" if "i" not in self.taken else "k"
        if name.startswith(("#sum", "#a")):
            return "total"
        if name.startswith("#z"):
            return "noisy"
        entry = re.fullmatch(r"#e(\d+)(\w+)", name)
        return self.apart(name, f"{entry[2]}[{entry[1]}]" if entry else name)

    def apart(self, name: str, wanted: str) -> str:
        """What a name that was made up is called: the same everywhere, and as no other one is."""
        if name not in self.called:
            stem = re.sub(r"\W+", "_", wanted.lstrip("#")) if wanted.startswith("#") else wanted
            stem = re.sub(r"_?\d+(_\d+)*$", "", stem) or stem
            stem = _WORDS.get(stem, stem)
            used = {*self.taken, *self.called.values()}
            numbers = (f"{stem}{number}" for number in range(2, len(used) + 3))
            self.called[name] = next(each for each in (stem, *numbers) if each not in used)
        return self.called[name]

    def text(self, expression: Expression, around: int = 0) -> str:
        """An expression as a text."""
        match expression:
            case Constant(Fraction() as value):
                return f"({short(rational(value))})" if value.denominator > 1 and around else short(rational(value))
            case Constant(value):
                return repr(value) if isinstance(value, str) or value is None else str(value)
            case Variable(name):
                return self.text(self.made[name], around) if name in self.made else self.name(name)
            case Element(sequence, index):
                return f"{self.text(sequence)}[{self.text(index)}]"
            case Conditional(Operation("==", (where, Constant(0))), Variable(name)) if name.startswith("#cell0 of "):
                return f"cells[{self.text(where)}]"  # the values that a selection is from, each where it stands
            case Conditional(test, then, otherwise):
                shown = f"{self.text(then, 1)} if {self.text(test, 1)} else {self.text(otherwise, 1)}"
                return f"({shown})" if around else shown
            case Operation("len" | "turns" | "length", (inner,)):
                return f"len({self.text(inner)})"
            case Operation("entry", (held, index)):
                return f"{self.text(held)}[{self.text(index)}]"
            case Operation("part", (held, Constant(0), Operation("length"))):
                return f"sum({self.text(held)})"
            case Operation("part", (held, low, high)):
                first = "" if isinstance(low, Constant) and low.value == 0 else self.text(low)
                return f"sum({self.text(held)}[{first}:{self.text(high)}])"
            case Operation("filled", (count, value)):
                return f"[{self.text(value)}] * {self.text(count, 6)}"
            case Operation(">>" | "<<" | "&" | "|" | "^" | "**" as bits, (left, right)):
                shown = f"{self.text(left, 8)} {bits} {self.text(right, 8)}"  # stronger than any other operator
                return f"({shown})" if around else shown
            case Operation("bit_length", (inner,)):
                return f"{self.text(inner, 8)}.bit_length()"
            case Operation("copied", (held,)):
                return f"list({self.text(held)})"
            case Operation("whole" | "pos", (inner,)):
                return self.text(inner, around)
            case Operation("neg", (inner,)):
                return f"-{self.text(inner, 7)}"
            case Operation("not", (inner,)):
                shown = f"not {self.text(inner, 3)}"
                return f"({shown})" if around > 3 else shown
            case Operation("total", (source, added)):
                return self.total(source, added)
            case Operation("record"):
                return _RECORD
            case Operation("field", (inner, Constant(part))):
                return f"{self.text(inner)}.{part}"
            case Operation("tuple of", parts):
                return f"({', '.join(self.text(p) for p in parts)})"
            case Operation(name, (left, right)) if _INFIX.get(name, name) in (*_STRENGTH, "is", "is not"):
                sign = _INFIX.get(name, name)
                strength = _STRENGTH.get(sign, 4)
                shown = f"{self.text(left, strength)} {sign} {self.text(right, strength + 1)}"
                return f"({shown})" if strength < around else shown
            case Operation("and" | "or" as name, parts):
                return f" {name} ".join(self.text(p, _STRENGTH[name] + 1) for p in parts)
            case Operation(name, parts):
                return f"{name}({', '.join(self.text(p) for p in parts)})"
        raise AssertionError(expression)

    def total(self, source: Expression, added: Expression) -> str:
        """A sum over all records, or over those of a part."""
        listed = self.text(source)
        match added:
            case Conditional(test, then, Constant(0)) if (ends := self.part(test)) is not None:
                listed, added = f"{listed}[{ends}]", then
                if isinstance(added, Operation) and added.name in ("record", "bool"):
                    return f"sum({listed})"
            case _:
                pass
        match added:
            case Conditional(test, then, Constant(0)):
                return f"sum({self.text(then)} for {_RECORD} in {listed} if {self.text(test)})"
            case _:
                return f"sum({self.text(added, 1)} for {_RECORD} in {listed})"

    def part(self, test: Expression) -> str | None:
        """The ends of a part, as they are written, from what tells whether the place of a record lies between them."""
        found = {"<=": "", ">": ""}
        for each in test.arguments if isinstance(test, Operation) and test.name == "and" else (test,):
            match each:
                case Operation("<=" | ">" as sign, (Variable(name), Operation("position"))):
                    found[sign] = self.end(name)
                case _:
                    return None
        return f"{found['<=']}:{found['>']}"

    def end(self, name: str) -> str:
        """An end of a part, as it is written, from what it comes to in a list."""
        match self.ends.get(name):
            case Conditional(Operation("<", (asked, Constant(0))), _, end) if asked == end:
                return self.text(end)
            case Operation("max", (Constant(0), Operation("+", (end, Operation("len"))))):
                return self.text(end)
            case None:
                return self.name(name)
            case end:
                return self.text(end)

    def decided(self, test: Expression, *, outcome: bool) -> str:
        """A test with its outcome, as one comparison where it can be."""
        if outcome:
            return self.text(test)
        if isinstance(test, Operation) and test.name in _OPPOSITE:
            return self.text(Operation(_OPPOSITE[test.name], test.arguments, test.place))
        return f"not ({self.text(test)})"

    def noise(self, sample: Sample) -> str:
        """The call of a noise function."""
        center, scale = sample.arguments[:2]
        if sample.noise == "geometric":
            given = zip(("alpha", "epsilon", "sensitivity"), sample.arguments[1:], strict=True)
            law = [
                f"{name}={self.text(substitute_single_assignments(value, self.body))}"
                for name, value in given
                if not _default(name, value)
            ]
            return f"geometric({', '.join([self.text(center), *law])})"
        named = {"gaussian": "sigma", "discrete_gaussian": "variance"}.get(sample.noise, "scale")
        return (
            f"{sample.noise}({self.text(center)}, {named}={self.text(substitute_single_assignments(scale, self.body))})"
        )


def _default(name: str, value: Expression) -> bool:
    """Whether an argument of geometric noise is what it is where nothing is said."""
    return isinstance(value, Constant) and value.value == (1 if name == "sensitivity" else None)


@dataclass(frozen=True)
class _Walk:
    """A loop over a list: its counter, the name that `enumerate` gives it, and the variable and the list."""

    counter: str
    number: str
    item: str
    sequence: Expression


def _walk(loop: While) -> _Walk | None:
    match loop.test, loop.body[:2]:
        case (
            Operation("<", (Variable(counter_), Operation("turns", (sequence,)))),
            (Assign(item, Element(_, Variable(index))), Assign(moved, value)),
        ) if counter_ == index and (moved == counter_ or value == Variable(counter_, value.place)):
            return _Walk(counter_, "" if moved == counter_ else moved, item, sequence)
        case _:
            return None
