"""Expressions of the PRISM language, as they are written: nodes with places, and the reader that makes them.

Precedence is PRISM's, loosest first: ``?:``, ``=>`` (to the right), ``<=>``, ``|``, ``&``, ``!``, ``= !=``, ``< <= > >=``, ``+ -``,
``* /``, ``^`` (to the right), unary ``-``: so ``-2^2`` is 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from privproof.errors import NumberError
from privproof.exact import Rational, rational
from privproof.logic.prism.prism_tokens import WORDS, Source, Tokens

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
_NOT, _SUM, _PRODUCT, _POWER = 6, 9, 10, 11
"""How tightly the operators bind that are read by functions of their own, on the scale of `_BINDING`; what is larger binds more."""


class SyntaxNode(NamedTuple):
    """A node of an expression.

    Attributes:
        op: ``int``, ``double``, ``bool``, ``name``, ``label``, a sign (``neg`` for unary minus, ``?`` for a conditional), or
            the name of a function; ``+`` and ``*`` are chains of any length.
        args: the operands.
        value: of a literal its value, of a name or a label the name, of a chain the sign before each operand.
        at: where it stands in its source.
    """

    op: str
    args: tuple[SyntaxNode, ...]
    value: int | Rational | str | bool | None
    at: int


class ExpressionReader(Tokens):
    """Reads expressions."""

    _depth = 0

    def expression(self) -> SyntaxNode:
        """Read the expression that must come."""
        self._deeper()
        condition = self._binary(2)
        if sign := self.accept("?"):
            first = self.expression()
            self.expect(":", after="the first case of ?:")
            condition = SyntaxNode("?", (condition, first, self.expression()), None, sign.start)
        self._depth -= 1
        return condition

    def comparison(self) -> SyntaxNode:
        """Read a comparison, or what binds tighter: Boolean operators stand in parentheses."""
        return self._binary(_BINDING["="])

    def sum(self) -> SyntaxNode:
        """Read arithmetic: a sum, or what binds tighter.  A name before a parenthesis that is no function stands alone: ``F<=k (b)``."""
        if self.token.kind == "name" and self.token.text not in FUNCTIONS and self.sees("(", ahead=1):
            token = self.take()
            return SyntaxNode("name", (), token.text, token.start)
        return self._binary(_SUM)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self.source.refuse(
                self.token.start,
                "depth",
                f"the expression nests deeper than {DEEPEST}",
                hint="name its parts by formulas",
            )

    def _binary(self, loosest: int) -> SyntaxNode:
        left = self._prefix(loosest)
        while self.token.kind == "sign":
            _, sign, at, _ = self.token
            if sign in "+-" and loosest <= _SUM:
                left = self._chain(left, "+-", _SUM + 1, at)
            elif sign in "*/" and loosest <= _PRODUCT:
                left = self._chain(left, "*/", _PRODUCT + 1, at)
            elif sign == "^" and loosest <= _POWER:
                left = SyntaxNode("pow", (left, self._to_the_right(_POWER)), None, at)
            elif sign == "=>" and loosest <= _BINDING[sign]:
                left = SyntaxNode(sign, (left, self._to_the_right(_BINDING[sign])), None, at)
            elif (binding := _BINDING.get(sign, 0)) >= loosest:
                operands = [left]
                while self.accept(sign):
                    operands.append(self._binary(binding + 1))
                    if sign not in "&|":
                        break
                left = SyntaxNode(sign, tuple(operands), None, at)
            else:
                break
        return left

    def _to_the_right(self, binding: int) -> SyntaxNode:
        """Read the right operand of an operator that groups to the right."""
        self.take()
        self._deeper()
        right = self._binary(binding)
        self._depth -= 1
        return right

    def _chain(self, first: SyntaxNode, signs: str, binding: int, at: int) -> SyntaxNode:
        operands, before = [first], [signs[0]]
        while sign := self.accept(*signs):
            before.append(sign.text)
            operands.append(self._binary(binding))
        return SyntaxNode(signs[0], tuple(operands), "".join(before), at)

    def _prefix(self, loosest: int) -> SyntaxNode:
        kind, text, at, _ = self.token
        if kind == "number":
            self.take()
            return number(self.source, at, text)
        if kind == "name":
            return self._named()
        if kind == "label":
            return SyntaxNode("label", (), self.label(), at)
        if self.accept("("):
            inner = self.expression()
            self.expect(")", after="the expression in parentheses")
            return inner
        if not self.accept("-", "!"):
            self.expected("an expression")
        self._deeper()
        if text == "-":
            inner = SyntaxNode("neg", (self._binary(_POWER + 1),), None, at)
        else:
            inner = SyntaxNode("!", (self._binary(max(loosest, _NOT)),), None, at)
        self._depth -= 1
        return inner

    def _named(self) -> SyntaxNode:
        _, text, at, _ = self.token
        called = self.sees("(", ahead=1)
        if text in WORDS and text not in ("true", "false") and text not in FUNCTIONS and not called:
            self.expected("an expression")
        self.take()
        if text in ("true", "false"):
            return SyntaxNode("bool", (), text == "true", at)
        if text == "func" and self.accept("("):
            text = self.take().text
            self._function(at, text)
            self.expect(",", after="the name of the function")
            return self._call(at, text)
        if text in FUNCTIONS or called:
            self._function(at, text)
            self.expect("(", after=f"'{text}'")
            return self._call(at, text)
        return SyntaxNode("name", (), text, at)

    def _function(self, at: int, text: str) -> None:
        if text == "log":
            self.source.refuse(
                at, "unsupported", "log has no exact value", hint="give the number itself as a fraction or a decimal"
            )
        if text not in FUNCTIONS:
            self.source.unknown(at, "function", text, tuple(FUNCTIONS))

    def _call(self, at: int, text: str) -> SyntaxNode:
        operands = [self.expression()]
        while self.accept(","):
            operands.append(self.expression())
        self.expect(")", after=f"the arguments of {text}")
        least, most = FUNCTIONS[text]
        if not least <= len(operands) <= most:
            wanted = f"{least} argument{'s' if least > 1 else ''}" if least == most else f"{least} to {most} arguments"
            self.source.refuse(at, "arguments", f"{text} takes {wanted}, not {len(operands)}")
        return SyntaxNode(text, tuple(operands), None, at)


def number(source: Source, at: int, text: str) -> SyntaxNode:
    """The literal that a numeral denotes, exactly."""
    if len(text) < 1000 and text.isdigit():
        return SyntaxNode("int", (), int(text), at)
    try:
        value = rational(text)
    except NumberError as problem:
        source.refuse(at, problem.code, problem.message, hint=problem.hint)
    return SyntaxNode("int", (), int(value.p), at) if text.isdigit() else SyntaxNode("double", (), value, at)


def parse_expression(source: Source, *, begin: int = 0, end: int | None = None) -> SyntaxNode:
    """The expression that a text is, or a stretch of it.

    >>> parse_expression(Source("", "!x=1 & y")).op, parse_expression(Source("", "0.25")).value
    ('&', 1/4)
    """
    reader = ExpressionReader(source, begin=begin, end=end)
    node = reader.expression()
    if not reader.at_end:
        reader.expected("an operator or the end of the expression")
    return node


def names_in(node: SyntaxNode) -> list[str]:
    """The names that an expression mentions."""
    found: list[str] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.op == "name":
            found.append(str(part.value))
        waiting.extend(part.args)
    return found
