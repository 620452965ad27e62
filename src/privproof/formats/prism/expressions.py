"""Expressions of the PRISM language, as they are written: nodes with places, and the parser that makes them.

Precedence is PRISM's, loosest first: ``?:``, ``=>``, ``<=>``, ``|``, ``&``, ``!``, ``= !=``, ``< <= > >=``, ``+ -``,
``* /``, unary ``-``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from privproof.errors import NumberError
from privproof.exact import Rational, rational
from privproof.formats.prism.tokens import WORDS, Cursor, Source, tokens

DEEPEST = 100
"""How deep parentheses, conditions and functions may nest."""

FUNCTIONS: Mapping[str, tuple[int, int]] = {
    "min": (1, 1000),
    "max": (1, 1000),
    "floor": (1, 1),
    "ceil": (1, 1),
    "round": (1, 1),
    "pow": (2, 2),
    "mod": (2, 2),
}
"""The functions, with how many arguments they take at least and at most."""

_BINDING = {"=>": 2, "<=>": 3, "|": 4, "&": 5, "=": 7, "!=": 7, "<": 8, "<=": 8, ">": 8, ">=": 8}
_NOT, _SUM, _PRODUCT = 6, 9, 10
"""How tightly the operators bind that are read by functions of their own, on the scale of `_BINDING`; what is larger binds more."""


class Node(NamedTuple):
    """A node of an expression.

    Attributes:
        op: ``int``, ``double``, ``bool``, ``name``, ``label``, a sign (``neg`` for unary minus, ``?`` for a conditional), or
            the name of a function; ``+`` and ``*`` are chains of any length.
        args: the operands.
        value: of a literal its value, of a name or a label the name, of a chain the sign before each operand.
        at: where it stands in its source.
    """

    op: str
    args: tuple[Node, ...]
    value: int | Rational | str | bool | None
    at: int


class ExpressionParser:
    """Reads expressions at a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._depth = 0

    def expression(self) -> Node:
        """Read the expression that must come."""
        self._deeper()
        condition = self._binary(2)
        cursor = self._cursor
        if cursor.sees("?"):
            at = cursor.take("?")
            first = self.expression()
            cursor.take(":", after="the first case of ?:")
            condition = Node("?", (condition, first, self.expression()), None, at)
        self._depth -= 1
        return condition

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._cursor.source.refuse(
                self._cursor.offset,
                "depth",
                f"the expression nests deeper than {DEEPEST}",
                hint="name its parts by formulas",
            )

    def _binary(self, loosest: int) -> Node:
        cursor = self._cursor
        left = self._prefix(loosest)
        while cursor.kinds[cursor.at] == "sign":
            sign = cursor.texts[cursor.at]
            at = cursor.offsets[cursor.at]
            if sign in "+-" and loosest <= _SUM:
                left = self._chain(left, "+-", _SUM + 1, at)
            elif sign in "*/" and loosest <= _PRODUCT:
                left = self._chain(left, "*/", _PRODUCT + 1, at)
            elif (binding := _BINDING.get(sign, 0)) >= loosest:
                cursor.at += 1
                right = self._binary(binding + 1)
                if sign in "&|":
                    operands = [left, right]
                    while cursor.skip(sign):
                        operands.append(self._binary(binding + 1))
                    left = Node(sign, tuple(operands), None, at)
                else:
                    left = Node(sign, (left, right), None, at)
            else:
                break
        return left

    def _chain(self, first: Node, signs: str, binding: int, at: int) -> Node:
        cursor, operands, before = self._cursor, [first], [signs[0]]
        while cursor.kinds[cursor.at] == "sign" and cursor.texts[cursor.at] in signs:
            before.append(cursor.texts[cursor.at])
            cursor.at += 1
            operands.append(self._binary(binding))
        return Node(signs[0], tuple(operands), "".join(before), at)

    def _prefix(self, loosest: int) -> Node:
        cursor = self._cursor
        at, kind, text = cursor.offset, cursor.kinds[cursor.at], cursor.texts[cursor.at]
        if kind == "number":
            cursor.at += 1
            return number(cursor.source, at, text)
        if kind == "name":
            return self._named(at, text)
        if kind == "label":
            cursor.at += 1
            return Node("label", (), text, at)
        if kind == "sign" and text in "(-!":
            cursor.at += 1
            if text == "(":
                inner = self.expression()
                cursor.take(")", after="the expression in parentheses")
                return inner
            self._deeper()
            if text == "-":
                inner = Node("neg", (self._binary(_PRODUCT + 1),), None, at)
            else:
                inner = Node("!", (self._binary(max(loosest, _NOT)),), None, at)
            self._depth -= 1
            return inner
        cursor.expected("an expression")

    def _named(self, at: int, text: str) -> Node:
        cursor = self._cursor
        cursor.at += 1
        if text in ("true", "false"):
            return Node("bool", (), text == "true", at)
        if text == "func" and cursor.skip("("):
            text = cursor.texts[cursor.at]
            cursor.at += 1
            self._function(at, text)
            cursor.take(",", after="the name of the function")
            return self._call(at, text)
        if text in FUNCTIONS or cursor.sees("("):
            self._function(at, text)
            cursor.take("(", after=f"'{text}'")
            return self._call(at, text)
        if text in WORDS:
            cursor.at -= 1
            cursor.expected("an expression")
        return Node("name", (), text, at)

    def _function(self, at: int, text: str) -> None:
        if text == "log":
            self._cursor.source.refuse(
                at, "unsupported", "log has no exact value", hint="give the number itself as a fraction or a decimal"
            )
        if text not in FUNCTIONS:
            self._cursor.source.unknown(at, "function", text, tuple(FUNCTIONS))

    def _call(self, at: int, text: str) -> Node:
        cursor = self._cursor
        operands = [self.expression()]
        while cursor.skip(","):
            operands.append(self.expression())
        cursor.take(")", after=f"the arguments of {text}")
        least, most = FUNCTIONS[text]
        if not least <= len(operands) <= most:
            wanted = f"{least} argument{'s' if least > 1 else ''}" if least == most else f"{least} to {most} arguments"
            cursor.source.refuse(at, "arguments", f"{text} takes {wanted}, not {len(operands)}")
        return Node(text, tuple(operands), None, at)


def number(source: Source, at: int, text: str) -> Node:
    """The literal that a numeral denotes, exactly."""
    if len(text) < 1000 and text.isdigit():
        return Node("int", (), int(text), at)
    try:
        value = rational(text)
    except NumberError as problem:
        source.refuse(at, problem.code, problem.message, hint=problem.hint)
    return Node("int", (), int(value.p), at) if text.isdigit() else Node("double", (), value, at)


def parse_expression(source: Source, *, begin: int = 0, end: int | None = None) -> Node:
    """The expression that a text is, or a stretch of it.

    >>> parse_expression(Source("", "!x=1 & y")).op, parse_expression(Source("", "0.25")).value
    ('&', 1/4)
    """
    cursor = Cursor(tokens(source, begin=begin, end=end))
    node = ExpressionParser(cursor).expression()
    if cursor.kinds[cursor.at] != "end":
        cursor.expected("an operator or the end of the expression")
    return node
