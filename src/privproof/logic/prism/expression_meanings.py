"""What an expression means: names looked up, kinds checked, formulas put in, constant parts computed.

The result is a `ExpressionMeaning`, a tree over variables alone.  Numbers are exact: an ``int`` of the language is a Python integer, a
``double`` an exact rational.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from flint import fmpz

from privproof.errors import FormatError
from privproof.exact import Rational, rational
from privproof.logic.prism.prism_expressions import DEEPEST, SyntaxNode
from privproof.logic.prism.prism_tokens import PrismSource

LARGEST = 100_000
"""How many nodes an expression may have once its formulas are put in."""

_MOST_BITS = 100_000
"""A power that would have more bits is refused before it is computed."""
_DEEPEST = DEEPEST + 50
"""With its formulas put in, an expression may nest a little deeper than as written; beyond, it is refused."""
_CONDITION, _NUMBER = "a condition", "a number"


class Trouble(Exception):
    """A computation that fails in some state: where in the text, and why."""

    def __init__(self, place: str, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.place, self.code, self.message, self.hint = place, code, message, hint


class ExpressionMeaning(NamedTuple):
    """A checked expression.

    Attributes:
        op: ``const``, ``var``, or an operation as in `expressions.Node`.
        args: the operands.
        value: of a constant its value, of a variable its slot, of a chain its signs, of an operation that may fail its place.
        kind: ``int``, ``double`` or ``bool``.
        uses: the slots of the variables in it, as bits.
        size: how many nodes it has.
        depth: how deep it nests.
    """

    op: str
    args: tuple[ExpressionMeaning, ...]
    value: Any
    kind: str
    uses: int
    size: int
    depth: int


def constant(value: Any) -> ExpressionMeaning:
    """The meaning of a value: a truth value, an integer or an exact rational."""
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "double"
    return ExpressionMeaning("const", (), value, kind, 0, 1, 1)


def divide(left: Any, right: Any, place: str) -> Rational:
    """The exact quotient."""
    if right == 0:
        raise Trouble(place, "division", f"{left} is divided by zero")
    return rational(left) / rational(right)


def power(base: Any, exponent: Any, place: str) -> Any:
    """The exact power, for an integer exponent, or another one where the root is exact."""
    whole = rational(exponent)
    number, count = rational(base), int(whole.p)
    if whole.q != 1:
        found = _root(number, int(whole.q))
        if found is None:
            raise Trouble(place, "power", f"pow({number}, {whole}) has no exact value: it is no rational number")
        number = base = found
    if abs(count) * max(int(number.p).bit_length(), int(number.q).bit_length()) > _MOST_BITS:
        raise Trouble(place, "power", f"pow({number}, {whole}) has more than {_MOST_BITS} bits")
    if count < 0 and isinstance(base, int) and isinstance(exponent, int):
        raise Trouble(
            place, "power", f"pow({base}, {exponent}) of integers is no integer", f"write pow({base}.0, {exponent})"
        )
    if count < 0 and number == 0:
        raise Trouble(place, "division", f"pow({number}, {whole}) divides by zero")
    return base**count if isinstance(base, int) and isinstance(exponent, int) else number**count


def _root(number: Rational, degree: int) -> Rational | None:
    """The root of some degree from 0 on, where it is a rational number."""
    parts = [int(number.p), int(number.q)]
    if parts[0] < 0 or degree > max(part.bit_length() for part in parts):
        return number if number in (0, 1) else None
    roots = [int(fmpz(part).root(degree)) for part in parts]
    return rational(roots[0]) / roots[1] if [each**degree for each in roots] == parts else None


def modulo(left: int, right: int, place: str) -> int:
    """The remainder, from 0 on, for a positive divisor."""
    if right <= 0:
        raise Trouble(place, "division", f"mod({left}, {right}) needs a positive divisor")
    return left % right


def floor(value: Any) -> int:
    """The largest integer that is not above."""
    return int(rational(value).floor())


def ceil(value: Any) -> int:
    """The smallest integer that is not below."""
    return int(rational(value).ceil())


def nearest(value: Any) -> int:
    """The nearest integer, halves upwards."""
    return floor(rational(value) + rational("1/2"))


FAILING: Mapping[str, Callable[[Any, Any, str], Any]] = {"/": divide, "pow": power, "mod": modulo}
ROUNDING: Mapping[str, Callable[[Any], int]] = {"floor": floor, "ceil": ceil, "round": nearest}
_COMPARING: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<=>": operator.eq,
    "=>": operator.le,
}


@dataclass(frozen=True, eq=False)
class Scope:
    """What names mean.

    Attributes:
        source: the text that the expressions are of.
        constants: the constants and their values.
        formulas: the formulas as written in the model, `formula_source`.
        variables: the variables: slot and kind.
        labels: labels that may be spoken of, as further slots.
        names: a renaming of names, of a module that is a copy.
        formula_source: the text that the formulas are of.
        valueless: constants without a value, each with the way to give it one.
    """

    source: PrismSource
    constants: Mapping[str, int | Rational | bool] = field(default_factory=dict)
    formulas: Mapping[str, SyntaxNode] = field(default_factory=dict)
    variables: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    formula_source: PrismSource | None = None
    valueless: Mapping[str, str] = field(default_factory=dict)
    _known: dict[str, ExpressionMeaning] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def whole(self, node: SyntaxNode) -> ExpressionMeaning:
        """The meaning of a whole expression; one that depends on no variable has a value."""
        found = self.meaning(node)
        if found.uses or found.op == "const":
            return found
        try:
            return constant(evaluate(found))
        except Trouble as trouble:
            raise FormatError(trouble.code, trouble.message, place=trouble.place, hint=trouble.hint) from None

    def condition(self, node: SyntaxNode, what: str) -> ExpressionMeaning:
        """The meaning of an expression that must be a condition."""
        found = self.whole(node)
        if found.kind != "bool":
            self._kind(node, what, _CONDITION, found)
        return found

    def number(self, node: SyntaxNode, what: str) -> ExpressionMeaning:
        """The meaning of an expression that must be a number."""
        found = self.whole(node)
        if found.kind == "bool":
            self._kind(node, what, _NUMBER, found)
        return found

    def integer(self, node: SyntaxNode, what: str) -> ExpressionMeaning:
        """The meaning of an expression that must be an integer."""
        found = self.number(node, what)
        if found.kind != "int":
            self.source.refuse(
                node.at,
                "type",
                f"{what} is an integer, this is {_kind_text(found)}",
                hint="round it by floor(...) or ceil(...)",
            )
        return found

    def fixed(self, node: SyntaxNode, what: str) -> ExpressionMeaning:
        """The meaning of an expression that must not depend on variables."""
        found = self.whole(node)
        if found.uses:
            slot = (found.uses & -found.uses).bit_length() - 1
            name = next(name for name, (number, _) in self.variables.items() if number == slot)
            self.source.refuse(
                node.at, "constant", f"{what} depends on the variable {name!r}", hint="use constants and numbers only"
            )
        return found

    def meaning(self, node: SyntaxNode, *, depth: int = 0) -> ExpressionMeaning:
        """The meaning of an expression, of whatever kind."""
        if depth > _DEEPEST:
            self._deep(node)
        op, value = node.op, node.value
        if op in ("int", "double", "bool"):
            return ExpressionMeaning("const", (), value, op, 0, 1, 1)
        if op == "name":
            assert isinstance(value, str)
            return self._named(node, self.names.get(value, value), depth)
        if op == "label":
            assert isinstance(value, str)
            if value not in self.labels:
                if not self.labels:
                    self.source.refuse(node.at, "label", f'the label "{value}" cannot stand here', hint="use a formula")
                self.source.unknown(node.at, "label", value, tuple(self.labels))
            return ExpressionMeaning("var", (), self.labels[value], "bool", 1 << self.labels[value], 1, 1)
        parts = tuple([self.meaning(part, depth=depth + 1) for part in node.args])
        uses, size, deepest = 0, 1, 0
        for part in parts:
            uses |= part.uses
            size += part.size
            deepest = max(deepest, part.depth)
        if op == "*":
            deepest += len(parts)
        if size > LARGEST:
            self.source.refuse(node.at, "size", f"the expression with its formulas has more than {LARGEST} parts")
        if deepest > _DEEPEST:
            self._deep(node)
        kind = self._check(node, parts)
        failing = op in FAILING or (op == "*" and isinstance(value, str) and "/" in value)
        if not uses:
            folded = ExpressionMeaning(op, parts, (value, "") if failing else value, kind, 0, size, deepest + 1)
            try:
                return constant(evaluate(folded))
            except Trouble:
                pass  # it is a mistake only where the value is needed
        return ExpressionMeaning(
            op, parts, (value, self.source.place(node.at)) if failing else value, kind, uses, size, deepest + 1
        )

    def _named(self, node: SyntaxNode, name: str, depth: int) -> ExpressionMeaning:
        if name in self.variables:
            slot, kind = self.variables[name]
            return ExpressionMeaning("var", (), slot, kind, 1 << slot, 1, 1)
        if name in self.constants:
            return constant(self.constants[name])
        if name in self.valueless:
            self.source.refuse(node.at, "constant", f"the constant {name!r} has no value", hint=self.valueless[name])
        if name not in self.formulas:
            known = (*self.variables, *self.constants, *self.formulas)
            self.source.unknown(node.at, "name", name, known)
        if name not in self._known:
            if name in self._open:
                circle = " -> ".join([*self._open[self._open.index(name) :], name])
                self.source.refuse(node.at, "circle", f"the formulas define each other: {circle}")
            self._open.append(name)
            inner = self
            if self.formula_source is not None and self.formula_source is not self.source:
                inner = Scope(
                    self.formula_source, self.constants, self.formulas, self.variables, {}, self.names,
                    self.formula_source, self.valueless, self._known, self._open,
                )  # fmt: skip
            self._known[name] = inner.meaning(self.formulas[name], depth=depth + 1)
            self._open.pop()
        return self._known[name]

    def _check(self, node: SyntaxNode, parts: tuple[ExpressionMeaning, ...]) -> str:
        op = node.op
        if op in ("!", "&", "|", "=>", "<=>"):
            for inside, part in zip(node.args, parts, strict=True):
                if part.kind != "bool":
                    self._kind(inside, f"the operand of '{op}'", _CONDITION, part)
            return "bool"
        if op in ("=", "!=") and parts[0].kind == parts[1].kind == "bool":
            return "bool"
        numbers = list(zip(node.args, parts, strict=True))
        if op == "?":
            if parts[0].kind != "bool":
                self._kind(node.args[0], "what stands before '?'", _CONDITION, parts[0])
            if parts[1].kind == parts[2].kind:
                return parts[1].kind
            numbers = numbers[1:]
        for inside, part in numbers:
            if part.kind == "bool":
                self._kind(inside, f"the operand of '{'-' if op == 'neg' else op}'", _NUMBER, part)
        if op in _COMPARING:
            return "bool"
        if op in ROUNDING:
            return "int"
        whole = all(part.kind == "int" for _, part in numbers)
        if op == "mod" and not whole:
            self.source.refuse(node.at, "type", "mod is of integers", hint="round the arguments by floor(...)")
        if op == "*" and isinstance(node.value, str) and "/" in node.value:
            return "double"
        return "int" if whole else "double"

    def _deep(self, node: SyntaxNode) -> NoReturn:
        self.source.refuse(node.at, "depth", f"the expression with its formulas nests deeper than {_DEEPEST}")

    def _kind(self, node: SyntaxNode, what: str, wanted: str, found: ExpressionMeaning) -> NoReturn:
        hint = (
            "compare it, for instance x > 0" if wanted is _CONDITION else "use a conditional, for instance (b ? 1 : 0)"
        )
        self.source.refuse(node.at, "type", f"{what} is {wanted}, this is {_kind_text(found)}", hint=hint)


def _kind_text(found: ExpressionMeaning) -> str:
    what = {"int": "an integer", "double": "a number (double)", "bool": "a condition (bool)"}[found.kind]
    return f"{what}: {value_text(found.value)}" if found.op == "const" else what


def value_text(value: object) -> str:
    """A value of the language as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def evaluate(meaning: ExpressionMeaning) -> Any:
    """The value of a meaning that depends on no variable.

    Raises:
        Trouble: it has none.
    """
    op, args = meaning.op, meaning.args
    if op == "const":
        return meaning.value
    if op in ("&", "|"):
        return (all if op == "&" else any)(evaluate(part) for part in args)
    if op == "?":
        return evaluate(args[1] if evaluate(args[0]) else args[2])
    if op == "=>" and not evaluate(args[0]):
        return True
    values = [evaluate(part) for part in args]
    if op == "!":
        return not values[0]
    if op == "neg":
        return -values[0]
    if op in _COMPARING:
        return bool(_COMPARING[op](values[0], values[1]))
    if op in ROUNDING:
        return ROUNDING[op](values[0])
    if op == "+":
        return sum((value if sign == "+" else -value for sign, value in zip(meaning.value, values, strict=True)), 0)
    if op == "*":
        signs, place = meaning.value if isinstance(meaning.value, tuple) else (meaning.value, "")
        result = values[0]
        for sign, value in zip(signs[1:], values[1:], strict=True):
            result = result * value if sign == "*" else divide(result, value, place)
        return result
    if op in FAILING:
        return FAILING[op](values[0], values[1], meaning.value[1])
    return (min if op == "min" else max)(values)
