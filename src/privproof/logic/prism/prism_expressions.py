"""Expressions of the PRISM language, as they are written: nodes with places, and the reader that makes them.

Precedence is PRISM's, loosest first: ``?:``, ``=>`` (to the right), ``<=>``, ``|``, ``&``, ``!``, ``= !=``, ``< <= > >=``, ``+ -``,
``* /``, ``^`` (to the right), unary ``-``: so ``-2^2`` is 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from privproof.errors import NumberError
from privproof.exact import Rational, rational
from privproof.exact.parsing import Operator, TextToken, climb
from privproof.logic.prism.prism_tokens import WORDS, PrismSource, PrismTokens

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


def _operation(operands: Sequence[SyntaxNode], signs: Sequence[TextToken]) -> SyntaxNode:
    return SyntaxNode(signs[0].text, tuple(operands), None, signs[0].start)


def _chain(operands: Sequence[SyntaxNode], signs: Sequence[TextToken]) -> SyntaxNode:
    first = "+" if signs[0].text in "+-" else "*"
    return SyntaxNode(first, tuple(operands), first + "".join(sign.text for sign in signs), signs[0].start)


def _power(operands: Sequence[SyntaxNode], signs: Sequence[TextToken]) -> SyntaxNode:
    return SyntaxNode("pow", tuple(operands), None, signs[0].start)


def _negative(operands: Sequence[SyntaxNode], signs: Sequence[TextToken]) -> SyntaxNode:
    return SyntaxNode("neg", tuple(operands), None, signs[0].start)


_COMPARISON, _SUM = 6, 8
"""How tight a comparison and a sum bind, from 1 on."""
_OPERATORS = {
    "=>": Operator(1, _operation, "right"),
    "<=>": Operator(2, _operation),
    "|": Operator(3, _operation, "together"),
    "&": Operator(4, _operation, "together"),
    **{sign: Operator(_COMPARISON, _operation) for sign in ("=", "!=")},
    **{sign: Operator(_COMPARISON + 1, _operation) for sign in ("<", "<=", ">", ">=")},
    **{sign: Operator(_SUM, _chain, "together") for sign in "+-"},
    **{sign: Operator(_SUM + 1, _chain, "together") for sign in "*/"},
    "^": Operator(_SUM + 2, _power, "right"),
}
_PREFIXES = {"!": Operator(5, _operation), "-": Operator(_SUM + 3, _negative)}


class ExpressionReader(PrismTokens):
    """Reads expressions."""

    deepest = DEEPEST

    def expression(self) -> SyntaxNode:
        """Read the expression that must come."""
        with self.deeper():
            condition = self._climb(1)
            if sign := self.accept("?"):
                first = self.expression()
                self.expect(":", after="the first case of ?:")
                condition = SyntaxNode("?", (condition, first, self.expression()), None, sign.start)
        return condition

    def comparison(self) -> SyntaxNode:
        """Read a comparison, or what binds tighter: Boolean operators stand in parentheses."""
        return self._climb(_COMPARISON)

    def sum(self) -> SyntaxNode:
        """Read arithmetic: a sum, or what binds tighter.  A name before a parenthesis that is no function stands alone: ``F<=k (b)``."""
        if self.token.kind == "name" and self.token.text not in FUNCTIONS and self.sees("(", ahead=1):
            token = self.take()
            return SyntaxNode("name", (), token.text, token.start)
        return self._climb(_SUM)

    def too_deep(self) -> NoReturn:
        """Raise the complaint that the coming token stands too deep."""
        hint = "name its parts by formulas"
        self.source.refuse(self.token.start, "depth", f"the expression nests deeper than {DEEPEST}", hint=hint)

    def _climb(self, loosest: int) -> SyntaxNode:
        return climb(self, _OPERATORS, self._operand, prefixes=_PREFIXES, loosest=loosest)

    def _operand(self) -> SyntaxNode:
        kind, text, at, _ = self.token
        if kind == "number":
            self.take()
            return number(self.source, at, text)
        if kind == "name":
            return self._named()
        if kind == "label":
            return SyntaxNode("label", (), self.label(), at)
        if not self.accept("("):
            self.expected("an expression")
        inner = self.expression()
        self.expect(")", after="the expression in parentheses")
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


def number(source: PrismSource, at: int, text: str) -> SyntaxNode:
    """The literal that a numeral denotes, exactly."""
    if len(text) < 1000 and text.isdigit():
        return SyntaxNode("int", (), int(text), at)
    try:
        value = rational(text)
    except NumberError as problem:
        source.refuse(at, problem.code, problem.message, hint=problem.hint)
    return SyntaxNode("int", (), int(value.p), at) if text.isdigit() else SyntaxNode("double", (), value, at)


def parse_expression(source: PrismSource, *, begin: int = 0, end: int | None = None) -> SyntaxNode:
    """The expression that a text is, or a stretch of it.

    >>> parse_expression(PrismSource("", "!x=1 & y")).op, parse_expression(PrismSource("", "0.25")).value
    ('&', 1/4)
    """
    reader = ExpressionReader(source, begin=begin, end=end)
    return reader.read_whole(reader.expression, behind="an operator or the end of the expression")


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
