"""Expressions of a mechanism: read from their documents, with the sort of every part settled.

>>> tags = Tags()
>>> reader = ProgramReader({"x": "real"}, {}, tags, Limits())
>>> e = reader.expression(["+", ["variable", "x"], ["int", 1]], "here")
>>> e.sort, e.constant, reader.expression(["/", ["int", 1], ["int", 3]], "here").constant
('real', None, 1/3)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, a_number, a_text, an_integer
from privproof_checker.programs.program_inputs import ProgramInput, Scalar

_NUMBERS = ("int", "real")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
BITS = {">>": 2, "<<": 2, "&": 2, "|": 2, "^": 2, "**": 2, "bit_length": 1}
"""Operations on integers that both runs share, each with the number of its operands; nothing is known of what they give."""
_OF_LISTS = {"entry": 2, "part": 3, "count": 1}
_MOST_PARTS = 1000
"""An operator may have so many operands, and a list of expressions so many parts; beyond, the program is refused."""
_MOST_EXPRESSIONS = 200_000
"""All expressions that one reader meets, those inside others counted; beyond, the document is refused."""


@dataclass(frozen=True)
class Expression:
    """An expression.

    Attributes:
        head: ``literal``, ``variable``, ``read``, ``length``, ``total``, ``record``, of lists that are kept ``entry``, ``part`` and
            ``count``, or the operation.
        sort: ``int``, ``real``, ``bool`` or ``tag``.
        place: where it stands in the document.
        parts: the operands; of a read or an entry, the index; of a part, its two ends; of a total, what every record adds.
        name: the variable, or the list; of a field of a record, both: ``data.age``.
        value: the literal: a number, a truth value, or the number of a tag.
        constant: the number, if the expression is made of literals alone.
    """

    head: str
    sort: str
    place: str
    parts: tuple[Expression, ...] = ()
    name: str = ""
    value: Rational | bool | None = None
    constant: Rational | None = None


class Tags:
    """Distinct integers for tags, in the order in which they are first met: 0, 1, 2, ..."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {}

    def number(self, tag: Scalar) -> int:
        """The integer that stands for a tag."""
        assert tag is None or isinstance(tag, str)
        return self._numbers.setdefault(tag, len(self._numbers))


class ProgramReader:
    """Reads expressions over variables and inputs whose sorts are known."""

    def __init__(
        self,
        sorts: Mapping[str, str],
        inputs: Mapping[str, ProgramInput],
        tags: Tags,
        limits: Limits,
        kept: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.sorts = sorts
        self.inputs = inputs
        self.kept = kept
        self.tags = tags
        self.limits = limits
        self._count = 0
        self._summed = ""

    def expression(self, value: object, place: str) -> Expression:
        """The expression that a document denotes."""
        self._count += 1
        within(self._count, _MOST_EXPRESSIONS, "expressions", place)
        given = a_list(value, place)
        if not given:
            refuse("an expression is empty", place)
        head = a_text(given[0], f"{place}[0]")
        rest = given[1:]
        if head in ("int", "rational", "bool", "tag"):
            return self._literal(head, _exactly(rest, 1, place)[0], place)
        if head == "variable":
            name = a_text(_exactly(rest, 1, place)[0], place)
            if name not in self.sorts:
                refuse(f"unknown variable {name[:40]!r}", place)
            return Expression("variable", self.sorts[name], place, name=name)
        if head in ("read", "length"):
            return self._list(head, rest, place)
        if head in _OF_LISTS:
            return self._of_kept(head, rest, place)
        if head == "total":
            return self._total(rest, place)
        if head == "record":
            return self._record(rest, place)
        if head == "position":
            return self._position(rest, place)
        within(len(rest), _MOST_PARTS, "operands", place)
        parts = tuple(self.expression(item, f"{place}[{i + 1}]") for i, item in enumerate(rest))
        return self._operation(head, parts, place)

    def of_sort(self, value: object, sort: str, place: str) -> Expression:
        """An expression whose value fits a sort; an integer fits the reals."""
        found = self.expression(value, place)
        if found.sort != sort and (found.sort, sort) != ("int", "real"):
            refuse(f"expected an expression of sort {sort}, found {found.sort}", place)
        return found

    def parts(self, value: object, place: str) -> tuple[Expression, ...]:
        """A list of expressions."""
        listed = a_list(value, place)
        within(len(listed), _MOST_PARTS, "parts", place)
        return tuple(self.expression(item, f"{place}[{i}]") for i, item in enumerate(listed))

    def _literal(self, head: str, value: object, place: str) -> Expression:
        if head == "bool":
            return Expression("literal", "bool", place, value=a_flag(value, place))
        if head == "tag":
            tag = None if value is None else a_text(value, place)
            return Expression("literal", "tag", place, value=Rational(self.tags.number(tag)))
        if head == "int":
            whole = Rational(an_integer(value, place))
            return Expression("literal", "int", place, value=whole, constant=whole)
        number = a_number(value, place, self.limits)
        return Expression("literal", "real", place, value=number, constant=number)

    def _list(self, head: str, rest: list[object], place: str) -> Expression:
        name = a_text(_exactly(rest, 2 if head == "read" else 1, place)[0], place)
        declared = self.inputs.get(name)
        if declared is None or declared.shape != "list":
            refuse(f"{name[:40]!r} is not a list", place)
        if self._summed:
            refuse(f"a total depends on {head} of a list", place)
        if head == "read" and declared.fields:
            refuse("a row is read field by field, in totals alone", place)
        if head == "length":
            return Expression("length", "int", place, name=name)
        index = self.expression(rest[1], f"{place}[2]")
        if index.sort != "int":
            refuse("an index is an integer", f"{place}[2]")
        return Expression("read", declared.sort, place, parts=(index,), name=name)

    def _of_kept(self, head: str, rest: list[object], place: str) -> Expression:
        """An entry of a list that is kept, the sum of a part of it, or how many entries it has."""
        name = a_text(_exactly(rest, _OF_LISTS[head], place)[0], place)
        if name not in self.kept:
            refuse(f"{name[:40]!r} is not a list that is kept", place)
        if self._summed:
            refuse(f"a total depends on {head} of a list", place)
        ends = tuple(self.expression(item, f"{place}[{i + 2}]") for i, item in enumerate(rest[1:]))
        if any(end.sort != "int" for end in ends):
            refuse("an index is an integer", place)
        return Expression(head, "int" if head == "count" else self.kept[name], place, ends, name)

    def _total(self, rest: list[object], place: str) -> Expression:
        """The sum over a private list of what its records add; a record is spoken of nowhere else."""
        name = a_text(_exactly(rest, 2, place)[0], place)
        declared = self.inputs.get(name)
        if declared is None or declared.shape != "list" or declared.public:
            refuse(f"{name[:40]!r} is not a private list", place)
        if self._summed:
            refuse("a total inside a total", place)
        self._summed = name
        added = self.expression(rest[1], f"{place}[2]")
        self._summed = ""
        if added.sort not in _NUMBERS:
            refuse("a total adds up numbers", f"{place}[2]")
        return Expression("total", added.sort, place, (added,), name)

    def _record(self, rest: list[object], place: str) -> Expression:
        name = a_text(rest[0] if rest else None, place)
        if not self._summed or name != self._summed:
            refuse("a record outside of a total over its list", place)
        declared = self.inputs[name]
        if not declared.fields:
            _exactly(rest, 1, place)
            return Expression("record", declared.sort, place, name=name)
        part = a_text(_exactly(rest, 2, place)[1], place)
        if part not in declared.fields:
            refuse(f"a record has no field {part[:40]!r}", place)
        return Expression("record", declared.fields[part].sort, place, name=declared.fields[part].name)

    def _position(self, rest: list[object], place: str) -> Expression:
        """The place of the record in its list."""
        name = a_text(_exactly(rest, 1, place)[0], place)
        if not self._summed or name != self._summed:
            refuse("a position outside of a total over its list", place)
        return Expression("position", "int", place, name=name)

    def _operation(self, head: str, parts: tuple[Expression, ...], place: str) -> Expression:
        sorts = [part.sort for part in parts]
        if head == "if":
            if len(parts) != 3 or sorts[0] != "bool":
                refuse("expected a test and two values", place)
            return Expression("if", _join_sorts(sorts[1:], place), place, parts)
        if head in ("not", "and", "or"):
            if not parts or (head == "not" and len(parts) != 1) or set(sorts) != {"bool"}:
                refuse(f"{head} takes truth values", place)
            return Expression(head, "bool", place, parts)
        if head in _COMPARISONS:
            if len(parts) != 2:
                refuse("a comparison has two sides", place)
            if _join_sorts(sorts, place) not in _NUMBERS and head not in ("==", "!="):
                refuse(f"{head} compares numbers", place)
            return Expression(head, "bool", place, parts)
        if any(sort not in _NUMBERS for sort in sorts):
            refuse(f"{head[:40]} takes numbers", place)
        return _arithmetic(head, parts, place, summed=bool(self._summed))


def parts_within(expression: Expression) -> Iterator[Expression]:
    """An expression and all its parts."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(part.parts)


def _arithmetic(head: str, parts: tuple[Expression, ...], place: str, *, summed: bool) -> Expression:
    if head in BITS:
        if len(parts) != BITS[head] or any(part.sort != "int" for part in parts):
            refuse(f"{head} takes integers", place)
        return Expression(head, "int", place, parts)
    counts = {"neg": 1, "abs": 1, "+": 2, "-": 2, "*": 2, "/": 2, "//": 2, "%": 2}
    if head in ("max", "min"):
        if not parts:
            refuse(f"{head} of nothing", place)
    elif counts.get(head) != len(parts):
        refuse(f"{head[:40]!r} with {len(parts)} operands is no operation", place)
    sort = _join_sorts([part.sort for part in parts], place)
    known = [part.constant for part in parts]
    constants = [value for value in known if value is not None]
    folded = constants if len(constants) == len(parts) else None
    if head in ("//", "%"):
        if sort != "int":
            refuse(f"{head} takes integers", place)
        return Expression(head, "int", place, parts)
    if head == "/":
        if known[1] is None or known[1] == 0:
            refuse("a divisor is a constant other than 0", place)
        sort = "real"
    if head == "*" and known[0] is None and known[1] is None and sort != "int" and not summed:
        refuse("one factor of a product of reals is a constant", place)
    return Expression(head, sort, place, parts, constant=None if folded is None else _fold_constants(head, folded))


def _fold_constants(head: str, values: list[Rational]) -> Rational:
    match head:
        case "+":
            return values[0] + values[1]
        case "-":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "/":
            return values[0] / values[1]
        case "neg":
            return -values[0]
        case "abs":
            return abs(values[0])
        case "max":
            return max(values)
        case _:
            return min(values)


def _join_sorts(sorts: list[str], place: str) -> str:
    """The sort of values of several sorts: integers are reals; nothing else mixes."""
    found = set(sorts)
    if len(found) == 1:
        return sorts[0]
    if found == {"int", "real"}:
        return "real"
    refuse(f"{' and '.join(sorted(found))} do not mix", place)


def _exactly(values: list[object], count: int, place: str) -> list[object]:
    if len(values) != count:
        refuse(f"expected {count} operand{'s' if count != 1 else ''}, found {len(values)}", place)
    return values
