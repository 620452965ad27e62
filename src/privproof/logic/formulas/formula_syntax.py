"""The syntax of dpCTL* (dpCTL* paper, Section 4.1), with the usual derived operators, step bounds and finite families.

    state formulas   true  label  x >= 3  !Φ  Φ & Φ  Φ | Φ  Φ -> Φ  Φ <-> Φ  P>=1/2 [ φ ]  D[ε, δ](φ)  all k in 0..9: Φ
                     R{"cost"}<=5 [ F Φ ]  R=? [ C<=10 ]  R=? [ C ]  R=? [ I=10 ]  S>=1/2 [ Φ ]  E [ φ ]  A [ φ ]
    path formulas    Φ  !φ  φ & φ  ...  X φ  F φ  G φ  φ U φ  φ W φ  φ R φ    with bounds F<=10, G[2,5], U<=k, X^3

State and path formulas are built from the same nodes; `privproof.logic.formulas.formula_parser` keeps them apart.  ``str`` of a formula
is its canonical text, which reads back as the same formula, also where temporal operators bind tighter than ``&`` and ``|``: a temporal
operator below a Boolean one or an until stands in parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from privproof.errors import PrivproofError
from privproof.exact import Epsilon, Rational, delta, epsilon


@dataclass(frozen=True)
class Count:
    """A number of steps: a whole number, or linear in the variables of the families around it, such as ``2*k + 1``."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        parts = [name if factor == 1 else f"{factor}*{name}" for name, factor in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    @property
    def simple(self) -> bool:
        """Whether it is one number or one variable."""
        return (not self.terms and self.constant >= 0) or (
            self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1
        )

    def at(self, values: Mapping[str, int | str]) -> Count:
        """With the variables replaced by their values."""
        constant, rest = self.constant, []
        for name, factor in self.terms:
            value = values.get(name)
            if isinstance(value, int):
                constant += factor * value
            else:
                rest.append((name, factor))
        return Count(constant, tuple(rest))


@dataclass(frozen=True)
class StepBound:
    """The steps in which a temporal operator looks: from `low` to `high`, without end where high is None."""

    low: Count = Count()
    high: Count | None = None

    def __str__(self) -> str:
        if self.high is None:
            return "" if self.low == Count() else f">={_wrap_count(self.low)}"
        if self.low == self.high:
            return f"={_wrap_count(self.high)}"
        return f"<={_wrap_count(self.high)}" if self.low == Count() else f"[{self.low},{self.high}]"


@dataclass(frozen=True)
class Truth:
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True)
class Atom:
    """A label, or the name of a state."""

    name: str


@dataclass(frozen=True)
class Comparison:
    """A condition on a variable of the model, such as ``x >= 3``."""

    variable: str
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Count


@dataclass(frozen=True)
class Not:
    """Negation."""

    inner: Formula


@dataclass(frozen=True)
class And:
    """Conjunction."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """Disjunction."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Implies:
    """Implication."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Iff:
    """Equivalence."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class NextState:
    """In the next state; with `times`, after so many steps."""

    inner: Formula
    times: Count = Count(1)


@dataclass(frozen=True)
class Unary:
    """Finally (``F``) or globally (``G``)."""

    operator: Literal["F", "G"]
    inner: Formula
    bound: StepBound = StepBound()


@dataclass(frozen=True)
class Until:
    """Until (``U``), weak until (``W``) or release (``R``)."""

    operator: Literal["U", "W", "R"]
    left: Formula
    right: Formula
    bound: StepBound = StepBound()


@dataclass(frozen=True)
class ProbabilityRange:
    """Probabilities from `low` to `high`, each end included or not.

    >>> from privproof.exact import rational
    >>> str(ProbabilityRange(rational("1/2"), rational(1))), str(ProbabilityRange(rational(0), rational(0)))
    ('>=1/2', '=0')
    """

    low: Rational
    high: Rational
    low_included: bool = True
    high_included: bool = True

    def __str__(self) -> str:
        if self.low == self.high:
            return f"={self.low}"
        if self.low == 0 and self.low_included:
            return f"<{'=' if self.high_included else ''}{self.high}"
        if self.high == 1 and self.high_included:
            return f">{'=' if self.low_included else ''}{self.low}"
        return f" in {'[' if self.low_included else '('}{self.low}, {self.high}{']' if self.high_included else ')'}"

    def contains(self, value: Rational) -> bool:
        """Whether a probability lies in the range."""
        above = self.low <= value if self.low_included else self.low < value
        return above and (value <= self.high if self.high_included else value < self.high)


@dataclass(frozen=True)
class Probable:
    """``P_J φ``: the probability of φ lies in the range J; a range of None asks for the probability itself (``P=?``).

    On a decision process it lies in the range under every scheduler.  ``side`` says which extreme over the schedulers is asked for
    (``Pmin=?``, ``Pmax=?``); without it both are.
    """

    within: ProbabilityRange | None
    path: Formula
    side: Literal["", "min", "max"] = ""


@dataclass(frozen=True)
class Amounts:
    """Expected rewards from `low` to `high`; without end, infinity included, where `high` is None.

    >>> from privproof.exact import rational
    >>> str(Amounts(rational("1/2"), None)), str(Amounts(rational(0), rational(3), high_included=False))
    ('>=1/2', '<3')
    """

    low: Rational
    high: Rational | None
    low_included: bool = True
    high_included: bool = True

    def __str__(self) -> str:
        if self.high is None:
            return f">{'=' if self.low_included else ''}{self.low}"
        if self.low == self.high:
            return f"={self.low}"
        if self.low == 0 and self.low_included:
            return f"<{'=' if self.high_included else ''}{self.high}"
        return f" in {'[' if self.low_included else '('}{self.low}, {self.high}{']' if self.high_included else ')'}"

    def contains(self, value: Rational | None) -> bool:
        """Whether an expected reward lies in the range; None is the infinite one."""
        if value is None:
            return self.high is None
        above = self.low <= value if self.low_included else self.low < value
        return above and (self.high is None or (value <= self.high if self.high_included else value < self.high))


@dataclass(frozen=True)
class Accumulated:
    """``C<=k``, inside of R: the reward of the first k steps; ``C``: of all steps."""

    steps: Count | None = None


@dataclass(frozen=True)
class Momentary:
    """``I=k``, inside of R: the reward of the state after k steps."""

    steps: Count


@dataclass(frozen=True)
class LongRun:
    """``S``, inside of R: the mean reward of a step, in the long run."""


@dataclass(frozen=True)
class Steady:
    """``S_J [ Φ ]``: in the long run the share of steps in which the state formula Φ holds lies in the range J (``S=?``: asks for it)."""

    within: ProbabilityRange | None
    inner: Formula


@dataclass(frozen=True)
class OfPaths:
    """``E [ φ ]``: some path satisfies φ; ``A [ φ ]``: every path does, however unlikely."""

    quantifier: Literal["E", "A"]
    path: Formula


@dataclass(frozen=True)
class Expected:
    """``R_J [ ... ]``: the expected reward lies in the range J; a range of None asks for it (``R=?``).

    The path formula says until when rewards are collected: until it is satisfied, where it is ``F done`` or another co-safe one;
    where that may never happen the reward is infinite.  On a decision process the range is meant for every scheduler, and `side` is
    as in `Probable`.

    Attributes:
        within: the range.
        path: a co-safe path formula, `Accumulated`, `Momentary` or `LongRun`.
        reward: the name of the rewards; without one the first ones of the model.
        side: which extreme over the schedulers is asked for.
    """

    within: Amounts | None
    path: Formula
    reward: str = ""
    side: Literal["", "min", "max"] = ""


@dataclass(frozen=True)
class Private:
    """``D_{ε,δ} φ``: from no neighbour is φ more than e^ε times likelier, plus δ (dpCTL* paper, Section 4)."""

    epsilon: Epsilon | str
    delta: Rational | str
    path: Formula


@dataclass(frozen=True)
class FormulaFamily:
    """A conjunction (``all``) or disjunction (``some``) over the values of a variable."""

    quantifier: Literal["all", "some"]
    variable: str
    values: tuple[int, ...] | tuple[str, ...]
    body: Formula

    def instances(self) -> Iterator[Formula]:
        """The body at every value."""
        for value in self.values:
            yield instance(self.body, {self.variable: value})


Formula: TypeAlias = (
    "Truth | Atom | Comparison | Not | And | Or | Implies | Iff | NextState | Unary | Until | Probable | Private | FormulaFamily | "
    "Expected | Accumulated | Momentary | LongRun | Steady | OfPaths"
)


def direct_subformulas(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly below a formula."""
    if isinstance(formula, And | Or):
        return formula.parts
    if isinstance(formula, Implies | Iff | Until):
        return formula.left, formula.right
    if isinstance(formula, Probable | Private | Expected | OfPaths):
        return (formula.path,)
    if isinstance(formula, FormulaFamily):
        return (formula.body,)
    if isinstance(formula, Not | NextState | Unary | Steady):
        return (formula.inner,)
    return ()


def instance(formula: Formula, values: Mapping[str, int | str]) -> Formula:
    """The formula with the variables of families replaced by values."""
    if isinstance(formula, Atom):
        return Atom(_fill_placeholders(formula.name, values))
    if isinstance(formula, Comparison):
        return Comparison(_fill_placeholders(formula.variable, values), formula.operator, formula.value.at(values))
    changed: dict[str, object] = {}
    for part in fields(formula):
        old = getattr(formula, part.name)
        new = old
        if isinstance(old, Count):
            new = old.at(values)
        elif isinstance(old, StepBound):
            new = StepBound(old.low.at(values), None if old.high is None else old.high.at(values))
        elif isinstance(old, tuple) and part.name == "parts":
            new = tuple(instance(inner, values) for inner in old)
        elif part.name in ("inner", "left", "right", "path", "body"):
            new = instance(old, values)
        elif isinstance(old, str) and part.name in ("epsilon", "delta"):
            text = _fill_placeholders(old, values)
            try:
                new = text if "{" in text else (epsilon(text) if part.name == "epsilon" else delta(text))
            except PrivproofError as problem:
                raise problem.at(f"formula: {part.name} of D where {values}") from None
        if new is not old:
            changed[part.name] = new
    return replace(formula, **changed) if changed else formula  # type: ignore[arg-type]


def _fill_placeholders(text: str, values: Mapping[str, int | str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


RESERVED = frozenset(
    {"X", "F", "G", "U", "W", "R", "P", "D", "true", "false", "all", "some", "in", "Pmin", "Pmax", "Rmin", "Rmax"}
)
PLAIN = re.compile(r"[A-Za-z_{][A-Za-z0-9_{}']*")
_BINDING = {FormulaFamily: 0, Until: 1, NextState: 1, Unary: 1, Iff: 2, Implies: 2, Or: 3, And: 4}
"""How tightly the text of a formula holds together; a part that holds less than its place asks for stands in parentheses."""
_TIGHT = 5
"""How tightly everything else holds together: names, negations, and what brings its own brackets."""


def show_formula(formula: Formula, scope: frozenset[str] = frozenset()) -> str:
    """The canonical text of a formula; `scope` are the variables of the families around it."""
    match formula:
        case Truth(value):
            return "true" if value else "false"
        case Atom(name):
            return _name(name, scope)
        case Comparison(variable, operator, value):
            return f"{_name(variable, scope)} {operator} {_wrap_count(value)}"
        case Not(inner):
            return f"!{_tight(inner, scope)}"
        case And(parts):
            return " & ".join(_under(part, _TIGHT, scope) for part in parts)
        case Or(parts):
            return " | ".join(_under(part, 4, scope) for part in parts)
        case Implies(left, right):
            return f"{_under(left, 3, scope)} -> {_under(right, 3, scope)}"
        case Iff(left, right):
            return f"{_under(left, 3, scope)} <-> {_under(right, 3, scope)}"
        case NextState(inner, times):
            return f"X{'' if times == Count(1) else '^' + _wrap_count(times)} {_after_temporal(inner, scope)}"
        case Unary(operator, inner, bound):
            return f"{operator}{bound} {_after_temporal(inner, scope)}"
        case Until(operator, left, right, bound):
            return f"{_under(left, _TIGHT, scope)} {operator}{bound} {_under(right, _TIGHT, scope)}"
        case Probable(within, path, side):
            return f"P{side}{'=?' if within is None else within} [ {show_formula(path, scope)} ]"
        case Expected(amounts, path, reward, side):
            named = f"{{{_quote_name(reward)}}}" if reward else ""
            return f"R{named}{side}{'=?' if amounts is None else amounts} [ {show_formula(path, scope)} ]"
        case Accumulated(steps):
            return "C" if steps is None else f"C<={_wrap_count(steps)}"
        case Momentary(steps):
            return f"I={_wrap_count(steps)}"
        case LongRun():
            return "S"
        case Steady(within, inner):
            return f"S{'=?' if within is None else within} [ {show_formula(inner, scope)} ]"
        case OfPaths(quantifier, path):
            return f"{quantifier} [ {show_formula(path, scope)} ]"
        case Private(eps, share, path):
            return f"D[{eps}, {share}]({show_formula(path, scope)})"
        case FormulaFamily(quantifier, variable, values, body):
            listed = f"{{{', '.join(show_formula(Atom(str(v))) for v in values)}}}"
            if all(isinstance(v, int) for v in values):
                first, last = int(values[0]), int(values[-1])
                listed = f"{first}..{last}"
            return f"{quantifier} {variable} in {listed}: {show_formula(body, scope | {variable})}"


def _name(name: str, scope: frozenset[str]) -> str:
    """A name as it is, or in quotes where it would be read as something else."""
    inner = re.findall(r"\{([^{}]*)\}", name)
    plain = PLAIN.fullmatch(name) and name not in RESERVED and name not in scope and set(inner) <= scope
    return name if plain else _quote_name(name)


def _quote_name(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _under(formula: Formula, level: int, scope: frozenset[str]) -> str:
    text = show_formula(formula, scope)
    return text if _BINDING.get(type(formula), _TIGHT) >= level else f"({text})"


def _tight(formula: Formula, scope: frozenset[str]) -> str:
    if isinstance(formula, Comparison):
        return f"({show_formula(formula, scope)})"
    return _under(formula, _TIGHT, scope)


def _after_temporal(formula: Formula, scope: frozenset[str]) -> str:
    if isinstance(formula, NextState | Unary):
        return show_formula(formula, scope)
    return _tight(formula, scope)


def _wrap_count(count: Count) -> str:
    return str(count) if count.simple else f"({count})"


_KINDS = (
    Truth, Atom, Comparison, Not, And, Or, Implies, Iff, NextState, Unary, Until, Probable, Private, FormulaFamily, Expected,
    Accumulated, Momentary, LongRun, Steady, OfPaths,
)  # fmt: skip
for _kind in _KINDS:
    _kind.__str__ = show_formula  # type: ignore[method-assign, assignment]
