"""Reading formulas of dpCTL*: a text becomes a formula, or one complaint with a caret under the place.

The precedence is that of PRISM: from loose to tight ``U W R`` (to the right), ``X F G``, ``=>`` (to the right), ``<=>``, ``|``,
``&``, ``!``.  So ``F a & b`` is ``F (a & b)``, and ``a & b U c`` is ``(a & b) U c``.  PRISM takes no temporal operator as an operand
of a Boolean one; where one stands there it reaches as far as it can, as in Storm: ``a & F b | c`` is ``a & F (b | c)``.  A family
``all k in 0..9: ...`` reaches as far as it can.

Textbooks often let temporal operators bind tighter than ``&``, and so did this reader once:
`privproof.logic.formulas.formula_readings` tells of texts that mean something else then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn, TypeVar, cast

from privproof.errors import FormulaError, PrivproofError
from privproof.exact import ONE, ZERO, Epsilon, Rational, delta, epsilon, show
from privproof.exact.parsing import Operator, TextToken, climb
from privproof.logic.formulas.formula_syntax import (
    RESERVED,
    Accumulated,
    Amounts,
    And,
    Atom,
    Comparison,
    Count,
    Expected,
    Formula,
    FormulaFamily,
    Iff,
    Implies,
    LongRun,
    Momentary,
    NextState,
    Not,
    OfPaths,
    Or,
    Private,
    ProbabilityRange,
    Probable,
    Steady,
    Truth,
    Unary,
    Until,
)
from privproof.logic.formulas.formula_tokens import FormulaTokens, place_of
from privproof.logic.formulas.sublogics import is_state_formula, subformulas

_FAMILY = "all k in 0..9: D[1, 0](X out{k})"
_LISTED = re.compile(r"\s*(?:\"((?:[^\"\\\n]|\\.)*)\"|([^,{}\"\s](?:[^,{}\"\n]*[^,{}\"\s])?))\s*([,}])")
REWARD = re.compile(r"R(?P<first>min|max)?(?P<brace>\{(?P<number>[0-9]*)(?P<closed>\}(?P<second>min|max)?)?)?")
"""How a formula about rewards begins: R, Rmin, Rmax, R{1}, R{1}max, or, before a name in quotation marks, R{."""
_COMPUTED = ("+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">=")
"""What would make a number, or a truth, of the numbers that properties ask for."""
_LARGEST_FAMILY = 100_000
"""The values of a family, and the instances of all families inside each other; beyond, the formula is refused."""
_LARGEST_EPSILON = 10_000
"""The largest number in the budget of D; beyond, it is refused with the hint to write inf."""


def parse_formula(text: str) -> Formula:
    """The state formula that a text denotes.

    Raises:
        FormulaError: the text is no state formula; the message shows where.

    >>> formula = parse_formula("D[ln(3),0](X out1)&D[ ln(3) , 0 ](X out0)")
    >>> print(formula)
    D[ln(3), 0](X out1) & D[ln(3), 0](X out0)
    >>> print(parse_formula("P>=.5[ F<=10 done ]"))
    P>=1/2 [ F<=10 done ]
    >>> parse_formula("P>=1/2 [ F ]")
    Traceback (most recent call last):
    ...
    privproof.errors.FormulaError: formula:12: expected a formula and found ']' [formula]
        P>=1/2 [ F ]
                   ^
    """
    return FormulaReader(text).whole()


@dataclass(frozen=True)
class WrittenFormula:
    """A formula and the text that it was read from.

    Attributes:
        text: the text.
        formula: the formula.
    """

    text: str
    formula: Formula

    @property
    def asks_for_number(self) -> bool:
        """Whether it asks for a number (``P=?``, ``R=?``, ``S=?``) instead of a truth."""
        return isinstance(self.formula, Probable | Expected | Steady) and self.formula.within is None

    def complaint(self, problem: PrivproofError) -> FormulaError:
        """A complaint about a name, with a caret under the name where it stands in the text."""
        return FormulaError.under(self.text, place_of(self.text, problem.name), problem.message, hint=problem.hint)


def read_formula(text: str) -> WrittenFormula:
    """The state formula that a text denotes, with the text: what is read once need not be read again.

    Raises:
        FormulaError: the text is no state formula; the message shows where.
    """
    return WrittenFormula(text, parse_formula(text))


class _Claim(NamedTuple):
    """What stands behind P or R: the sign of a comparison, or ``in``, and the ends."""

    sign: str
    low: Rational
    high: Rational
    low_included: bool = True
    high_included: bool = True

    def about_some(self, side: str) -> bool:
        """Whether ``Pmax>=``, ``Rmin<`` and the like ask for some scheduler, not for every one."""
        return side == ("max" if ">" in self.sign else "min")


_R = TypeVar("_R", ProbabilityRange, Amounts)


def _claimed(claim: _Claim, make: Callable[..., _R], top: Rational | None) -> _R:
    """The numbers that are claimed, among those from 0 to the top, or without end."""
    value = claim.low
    return {
        ">=": make(value, top),
        ">": make(value, top, low_included=False),
        "<=": make(ZERO, value),
        "<": make(ZERO, value, high_included=False),
    }.get(claim.sign, make(*claim[1:]))


def _others(within: _R, make: Callable[..., _R], top: Rational | None) -> _R | None:
    """The numbers outside of a range that begins at 0 or ends at the top, if any: some scheduler is in the one if not every one is in
    the other."""
    if within.high is not None and not (within.high == top and within.high_included):
        return make(within.high, top, low_included=not within.high_included)
    if within.low == 0 and within.low_included:
        return None
    return make(ZERO, within.low, high_included=not within.low_included)


OPERATORS: Mapping[str, Operator[Formula]] = {
    **dict.fromkeys(("=>", "->"), Operator(1, lambda sides, _: Implies(*sides), "right")),
    **dict.fromkeys(("<=>", "<->"), Operator(2, lambda sides, _: Iff(*sides), "right")),
    **dict.fromkeys(("|", "||"), Operator(3, lambda parts, _: Or(tuple(parts)), "together")),
    **dict.fromkeys(("&", "&&"), Operator(4, lambda parts, _: And(tuple(parts)), "together")),
}
"""PRISM groups ``a <=> b <=> c`` to the left; to the right it means the same."""


class FormulaReader(FormulaTokens):
    """Reads one text."""

    deepest = 150

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.instances = 1

    def no_arithmetic(self) -> None:
        """Refuse, by its name, a number that is computed from what properties ask for: ``1 - P=? [ F a ]``, ``filter(count, ...) = 3``."""
        asked = "=?" in self.text or "filter" in self.text
        if asked and (self.token.kind == "number" or self.token.text in _COMPUTED):
            hint = "ask for each number by itself, one property at a time"
            self.complain("arithmetic over properties cannot be asked", self.token.start, hint=hint)

    def whole(self) -> Formula:
        formula = self.formula()
        if not self.at_end:
            self.no_arithmetic()
            self.expected("an operator or the end", hint=self.near())
        self.state(formula, 0)
        self.no_number_inside(formula)
        return formula

    def no_number_inside(self, formula: Formula) -> None:
        """Complain about a part that asks for a number where a truth is needed."""
        for part in subformulas(formula):
            if isinstance(part, Probable | Expected | Steady) and part.within is None and part is not formula:
                at, sign = self.text.rfind("=?"), {Probable: "P", Expected: "R", Steady: "S"}[type(part)]
                self.complain(
                    f"{sign}=? asks for a number and can only be the whole formula", at, hint=f"{sign}>=1/2 [ ... ]"
                )

    def near(self) -> str:
        if self.token.kind in ("name", "quoted"):
            return "between two formulas stands &, |, =>, <=>, U, W or R"
        return ""

    def state(self, formula: Formula, at: int) -> None:
        """Complain about a temporal operator that no P or D is about."""
        if not is_state_formula(formula):
            self.complain(
                "a temporal operator stands outside P, R, D, E and A: this is a formula about paths, not about states",
                at,
                hint=f"P=? [ {str(formula)[:60]} ]",
            )

    def formula(self) -> Formula:
        """A formula, up to whatever cannot belong to it."""
        with self.deeper():
            left = self.implication()
            operator = self.accept("U", "W", "R")
            if operator is None:
                return left
            bound = self.bound()
            return Until(cast(Literal["U", "W", "R"], operator.text), left, self.formula(), bound)

    def implication(self) -> Formula:
        return climb(self, OPERATORS, self.prefixed)

    def prefixed(self) -> Formula:
        with self.deeper():
            if self.accept("!"):
                return Not(self.prefixed())
            if self.accept("X"):
                times = self.count() if self.accept("^") else Count(1)
                return NextState(self.scope_of_temporal(), times)
            operator = self.accept("F", "G")
            if operator is not None:
                bound = self.bound()
                return Unary(cast(Literal["F", "G"], operator.text), self.scope_of_temporal(), bound)
            return self.primary()

    def scope_of_temporal(self) -> Formula:
        """What ``X``, ``F`` or ``G`` speaks about: everything up to the next ``U``, ``W``, ``R`` or closing bracket."""
        if self.token.kind == "name" and self.token.text in ("X", "F", "G"):
            return self.prefixed()
        return self.implication()

    def too_deep(self) -> NoReturn:
        self.complain(f"the formula nests deeper than {self.deepest}", self.token.start)

    def primary(self) -> Formula:
        token = self.token
        if self.accept("("):
            inner = self.formula()
            self.expect(")")
            return inner
        if token.kind == "quoted":
            self.take()
            return self.compared(Atom(re.sub(r"\\(.)", r"\1", token.text[1:-1])))
        if self.accept("true", "false"):
            return Truth(token.text == "true")
        if self.accept("P", "Pmin", "Pmax"):
            return self.probable(token)
        if token.text in ("E", "A") and self.sees("[", ahead=1):
            return self.of_paths()
        if token.text == "S" and self.about_steady():
            return self.steady()
        called = REWARD.fullmatch(token.text) if token.kind == "name" else None
        if called is not None:
            self.take()
            return self.reward(called)
        if self.accept("D"):
            return self.private()
        if self.accept("all", "some"):
            return self.family(token)
        if token.kind == "name" and token.text not in RESERVED:
            self.take()
            for inner in re.findall(r"\{([^{}]*)\}", token.text):
                if inner not in self.scope:
                    self.complain(
                        f"{{{inner}}} names no variable of a family",
                        token.start,
                        hint=_FAMILY,
                    )
            bound = token.text in self.scope
            return self.compared(Atom(f"{{{token.text}}}" if bound else token.text))
        if token.kind == "name":
            self.complain(
                f"expected a formula and found the operator {token.text}",
                token.start,
                hint=f'a label of this name is written "{token.text}"',
            )
        self.no_arithmetic()
        hint = 'a label that is a number is written in quotes: "1"' if token.kind == "number" else ""
        self.expected("a formula", hint=hint)

    def compared(self, atom: Atom) -> Formula:
        operator = self.accept("=", "==", "!=", "<", "<=", ">", ">=")
        if operator is None:
            return atom
        text = "=" if operator.text == "==" else operator.text
        sign = -1 if self.accept("-") else 1
        count = self.count()
        value = Count(sign * count.constant, tuple((name, sign * factor) for name, factor in count.terms))
        return Comparison(atom.name, cast(Literal["="], text), value)

    def probable(self, token: TextToken) -> Formula:
        side, start = cast(Literal["", "min", "max"], token.text[1:]), self.token.start
        claimed = self.claimed(token.text, side, "P>=1/2 [ F done ], P in [1/4, 3/4] [ F done ] or P=? [ F done ]")
        within = self.checked(claimed, start)
        self.expect("[")
        path = self.formula()
        self.expect("]")
        if within is None or claimed is None:
            return Probable(None, path, side)
        if not claimed.about_some(side):
            return Probable(within, path)
        outside = _others(within, ProbabilityRange, ONE)
        return Truth(True) if outside is None else Not(Probable(outside, path))  # noqa: FBT003 - a formula

    def checked(self, claimed: _Claim | None, start: int) -> ProbabilityRange | None:
        """The probabilities that are claimed, or a complaint about them."""
        if claimed is None:
            return None
        within = _claimed(claimed, ProbabilityRange, ONE)
        for end in (within.low, within.high):
            if not 0 <= end <= 1:
                self.complain(f"the bound {show(end)} is no probability", start)
        low, high = within.low, within.high
        if low > high or (low == high and not (within.low_included and within.high_included)):
            self.complain("no probability lies in this range", start)
        return within

    def of_paths(self) -> Formula:
        """``E [ ... ]`` or ``A [ ... ]``."""
        quantifier = cast(Literal["E", "A"], self.take().text)
        self.expect("[")
        path = self.formula()
        self.expect("]")
        return OfPaths(quantifier, path)

    def about_steady(self) -> bool:
        """Whether the coming S begins ``S=? [``, ``S>=1/2 [`` or ``S in (0, 1) [``, and is no label or variable of this name."""
        if self.sees("=?", ahead=1) or self.sees("in", ahead=1):
            return True
        if not any(self.sees(sign, ahead=1) for sign in (">=", ">", "<=", "<", "=", "==")):
            return False
        at = 2
        while not self.ends(ahead=at) and not any(self.sees(sign, ahead=at) for sign in ("[", "]", ")", "&", "|", ",")):
            at += 1
        return self.sees("[", ahead=at)

    def steady(self) -> Formula:
        """``S`` with what is claimed of it, and a state formula in brackets."""
        self.take()
        start = self.token.start
        within = self.checked(self.claimed("S", "", "S>=1/2 [ done ], S=? [ done ]"), start)
        self.expect("[")
        start = self.token.start
        inner = self.formula()
        self.state(inner, start)
        self.expect("]")
        return Steady(within, inner)

    def claimed(self, word: str, side: str, hint: str) -> _Claim | None:
        """What stands behind P or R: a comparison or a range, or None for ``=?``."""
        if self.accept("=?"):
            return None
        if side and self.token.text not in (">=", ">", "<=", "<"):
            self.expected(f"=?, >=, >, <= or < after {word}", hint="in [1/4, 3/4] [ ... ] is about every scheduler")
        if self.accept("in"):
            opening = self.accept("[", "(") or self.expect("[")
            low = self.number()
            self.expect(",")
            high = self.number()
            closing = self.accept("]", ")") or self.expect("]")
            return _Claim("in", low, high, opening.text == "[", closing.text == "]")
        operator = self.accept(">=", ">", "<=", "<", "=", "==")
        if operator is None:
            self.expected("a bound" if word.startswith("R") else "a bound on the probability", hint=hint)
        value = self.number()
        return _Claim(operator.text, value, value)

    def reward(self, called: re.Match[str]) -> Formula:
        """What stands behind ``R``: the name of rewards in braces, then as behind P, and in the brackets also C and I."""
        name, side = "", called["first"] or ""
        if called["brace"]:
            name, side = called["number"], called["second"] or ""
            if not called["closed"]:
                if self.token.kind != "quoted":
                    self.expected("the name of rewards in quotation marks", hint='R{"cost"}=? [ F done ]')
                name = re.sub(r"\\(.)", r"\1", self.take().text[1:-1])
                self.expect("}")
                word = self.accept("min", "max")
                side = "" if word is None else word.text
        start = self.token.start
        claimed = self.claimed(f"R{side}", side, "R<=5 [ F done ], R in [1, 5] [ F done ] or R=? [ F done ]")
        within = None if claimed is None else _claimed(claimed, Amounts, None)
        if within is not None:
            if within.low < 0 or (within.high is not None and within.high < 0):
                self.complain("a reward is never negative", start)
            same = within.low == within.high and not (within.low_included and within.high_included)
            if within.high is not None and (within.low > within.high or same):
                self.complain("no reward lies in this range", start)
        self.expect("[")
        path = self.collected()
        self.expect("]")
        about = cast(Literal["", "min", "max"], side)
        if within is None or claimed is None:
            return Expected(None, path, name, about)
        if not claimed.about_some(side):
            return Expected(within, path, name)
        beyond = _others(within, Amounts, None)
        return Truth(True) if beyond is None else Not(Expected(beyond, path, name))  # noqa: FBT003 - a formula

    def collected(self) -> Formula:
        """What stands in the brackets of R: until when rewards are collected."""
        if self.sees("C") and (self.sees("]", ahead=1) or self.sees("<=", ahead=1)):
            self.take()
            return Accumulated(self.count() if self.accept("<=") else None)
        if self.sees("I") and self.sees("=", ahead=1):
            self.take()
            self.take()
            return Momentary(self.count())
        if self.sees("S") and self.sees("]", ahead=1):
            self.take()
            return LongRun()
        return self.formula()

    def private(self) -> Formula:
        start = self.expect("[").end
        share_at = None
        level = 0
        while not (level == 0 and self.token.text == "]"):
            if self.at_end:
                self.complain("the bracket of D is not closed", start - 1, hint="D[ln(3), 0](X out1)")
            level += {"(": 1, ")": -1}.get(self.token.text, 0)
            if level == 0 and self.token.text == ",":
                if share_at is not None:
                    self.complain("D has two numbers, epsilon and delta", self.token.start, hint="D[ln(3), 0](X out1)")
                share_at = self.token.start
            self.take()
        end = self.expect("]").start
        if share_at is None:
            self.complain("D needs two numbers, epsilon and delta", start, hint="D[ln(3), 0](X out1)")
        for name in re.finditer(r"\{([^{}]*)(\}?)", self.text[start:end]):
            if name[1] not in self.scope or not name[2]:
                self.complain(f"{name[0]} names no variable of a family", start + name.start(), hint=_FAMILY)
        budget = self.text[start:share_at].strip()
        share = self.text[share_at + 1 : end].strip()
        loss: object = budget
        part: object = share
        try:
            loss = budget if "{" in budget else epsilon(budget)
        except PrivproofError as error:
            self.complain(error.message, start, hint=error.hint)
        if isinstance(loss, Epsilon) and abs(loss.shift) > _LARGEST_EPSILON:
            self.complain(f"epsilon is beyond {_LARGEST_EPSILON}", start, hint="write inf for no bound at all")
        try:
            part = share if "{" in share else delta(share)
        except PrivproofError as error:
            self.complain(error.message, share_at + 1, hint=error.hint)
        self.expect("(")
        path = self.formula()
        self.expect(")")
        return Private(loss, part, path)

    def family(self, quantifier: TextToken) -> Formula:
        token = self.token
        if token.kind != "name" or token.text in RESERVED or "{" in token.text:
            hint = f'all k in 0..9: ...; a label of this name is written "{quantifier.text}"'
            self.expected("a variable", hint=hint)
        self.take()
        self.expect("in")
        place = self.token.start
        values: list[int] | list[str]
        if self.token.kind in ("name", "mark") and self.token.text.startswith("{"):
            values = self.listed()
        else:
            low = self.whole_number()
            self.expect("..")
            place = self.token.start
            high = self.whole_number()
            if high < low:
                self.complain(f"{low}..{high} has no value", place)
            if high - low >= _LARGEST_FAMILY:
                self.complain(f"{low}..{high} has more than {_LARGEST_FAMILY} values", place)
            values = list(range(low, high + 1))
        self.expect(":")
        outer = self.scope.get(token.text)
        if outer is not None:
            self.complain(
                f"the variable {token.text} is used by an outer family", token.start, hint="take another name"
            )
        self.scope[token.text] = type(values[0])
        self.instances *= len(values)
        if self.instances > _LARGEST_FAMILY:
            self.complain(f"the families have together more than {_LARGEST_FAMILY} instances", place)
        body = self.formula()
        self.instances //= len(values)
        del self.scope[token.text]
        every = cast("tuple[int, ...]", tuple(values))
        return FormulaFamily(cast(Literal["all"], quantifier.text), token.text, every, body)

    def listed(self) -> list[str]:
        """Names in braces; a brace sticks to a name beside it when it is read as a token."""
        end = self.token.start + 1
        names: list[str] = []
        while not names or self.text[end - 1] != "}":
            match = _LISTED.match(self.text, end)
            if match is None:
                self.complain("expected names in braces", end, hint="all a in {out0, out1}: ...")
            names.append(match[2] if match[1] is None else re.sub(r"\\(.)", r"\1", match[1]))
            end = match.end()
        while not self.at_end and self.token.end <= end:
            self.take()
        if self.token.start < end:
            self.complain(f"expected ':' and found {self.text[end]!r}", end)
        return names
