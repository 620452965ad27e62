"""Meanings as Python: text of expressions over generated names, compiled once and run for every state.

Nothing of the user's text enters the generated code: variables become ``v0``, ``v1``, ..., constants are numerals or ``k0``,
``k1``, ... in the namespace, operations are a fixed few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from privproof.logic.prism.expression_meanings import FAILING, ROUNDING, ExpressionMeaning, divide, modulo, power

_SIGNS = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "=="}
_CHUNK = 50
"""A sum of more terms is written as a sum of sums: the compiler of Python goes one level deeper with each sign."""


class Code:
    """Generated Python: gathers what its names stand for, and compiles it.

    >>> from privproof.logic.prism.prism_expressions import parse_expression
    >>> from privproof.logic.prism.expression_meanings import Scope
    >>> from privproof.logic.prism.prism_tokens import PrismSource
    >>> source = PrismSource("", "x > 1/3 & mod(x, 2) = 1")
    >>> meaning = Scope(source, variables={"x": (0, "int")}).meaning(parse_expression(source))
    >>> code = Code()
    >>> code.expression(meaning)
    '((v0 > k0) and (mod(v0, 2, k1) == 1))'
    >>> code.column(meaning)([(0,), (1,), (2,), (3,)])
    [False, True, False, True]
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "__builtins__": {}, "divide": divide, "pow": power, "mod": modulo, "min": min, "max": max, **ROUNDING
        }  # fmt: skip
        self._shared = 0

    def share(self, value: Any) -> str:
        """The generated name of a value."""
        name = f"k{self._shared}"
        self._shared += 1
        self.names[name] = value
        return name

    def expression(self, meaning: ExpressionMeaning) -> str:
        """The Python of a meaning."""
        op, value = meaning.op, meaning.value
        if op == "const":
            if isinstance(value, bool):
                return str(value)
            if isinstance(value, int) and abs(value) < 10**15:
                return str(value) if value >= 0 else f"({value})"
            return self.share(value)
        if op == "var":
            return f"v{value}"
        parts = [self.expression(part) for part in meaning.args]
        if op in ("&", "|"):
            return f"({(' and ' if op == '&' else ' or ').join(parts)})"
        if op in _SIGNS:
            return f"({parts[0]} {_SIGNS[op]} {parts[1]})"
        if op == "=>":
            return f"(not {parts[0]} or {parts[1]})"
        if op == "!":
            return f"(not {parts[0]})"
        if op == "neg":
            return f"(-{parts[0]})"
        if op == "?":
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        if op == "+":
            return _sum([f"{sign}{part}" for sign, part in zip(value, parts, strict=True)])
        if op == "*":
            return self._product(value, parts)
        if op in FAILING:
            return f"{op}({parts[0]}, {parts[1]}, {self.share(value[1])})"
        if op in ROUNDING or len(parts) > 1:
            return f"{op}({', '.join(parts)})"
        return parts[0]

    def _product(self, value: Any, parts: Sequence[str]) -> str:
        signs, place = value if isinstance(value, tuple) else (value, "")
        result = parts[0]
        where = self.share(place) if place else ""
        for sign, part in zip(signs[1:], parts[1:], strict=True):
            result = f"{result}*{part}" if sign == "*" else f"divide({result}, {part}, {where})"
        return f"({result})"

    def compiled(self, text: str, name: str) -> Any:
        """Run generated definitions, and give what they define by a name."""
        exec(compile(text, "<generated from a PRISM model>", "exec"), self.names)
        return self.names[name]

    def column(self, meaning: ExpressionMeaning) -> Callable[[Iterable[tuple[Any, ...]]], list[Any]]:
        """The function from rows of values, of the variables that the meaning uses, lowest slot first, to its values."""
        taken = ", ".join(f"v{slot}" for slot in used_slots(meaning.uses))
        text = f"def column(rows):\n    return [{self.expression(meaning)} for {taken}, in rows]\n"
        function: Callable[[Iterable[tuple[Any, ...]]], list[Any]] = self.compiled(text, "column")
        return function


def used_slots(bits: int) -> list[int]:
    """The slots that a number has as bits."""
    return [slot for slot in range(bits.bit_length()) if bits >> slot & 1]


def _sum(signed: list[str]) -> str:
    while len(signed) > _CHUNK:
        signed = [f"+({''.join(signed[i : i + _CHUNK])})" for i in range(0, len(signed), _CHUNK)]
    return f"({''.join(signed).removeprefix('+')})"
