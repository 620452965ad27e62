"""Properties as PRISM writes them, asked of a PRISM model: ``P=? [ F s=N & !b ]``, ``filter(max, P=? [ F "done" ], x>0)``.

A property is a formula of the logic whose atoms are conditions in the model's own words: its variables, constants and formulas, with
arithmetic.  A condition that is more than one comparison of a variable with a number becomes a label of the process, named by its
text; so what is asked, and what a certificate holds, is a formula over labels.  Bounds on steps and on probabilities may be constants
of the model.

What PRISM can ask and this package cannot (games, several objectives) is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast, get_args

import numpy as np

from privproof.errors import FormatError, FormulaError, nearest
from privproof.exact import Rational, rational
from privproof.logic.decision_process import Bools
from privproof.logic.formulas import (
    And,
    Atom,
    Comparison,
    Expected,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Probable,
    Steady,
    Truth,
    WrittenFormula,
    parse_formula,
)
from privproof.logic.formulas.formula_parser import REWARD, FormulaReader
from privproof.logic.formulas.formula_syntax import RESERVED, Count
from privproof.logic.formulas.formula_tokens import LARGEST_COUNT
from privproof.logic.prism.computed_values import Computed, parse_computation
from privproof.logic.prism.expression_meanings import ExpressionMeaning
from privproof.logic.prism.prism_expressions import FUNCTIONS, ExpressionReader, SyntaxNode, names_in
from privproof.logic.prism.prism_model import PrismModel
from privproof.logic.prism.prism_tokens import PrismSource

Aggregate: TypeAlias = Literal[
    "forall", "exists", "state", "min", "max", "avg", "sum", "count", "first", "range", "print", "printall"
]
"""What a filter makes of the values in the states that it is about."""

_SIGNS = {"+": "sum", "&": "forall", "|": "exists"}
_UNSUPPORTED = {
    "multi": "several objectives at once",
}
_FOREIGN = re.compile(r"[{}\\]")
"""Characters of formulas that the language of models does not have: a condition ends before the first of them."""
_COMPARING = ("=", "<", ">", "!=")
_OLD_FILTER = re.compile(r"\{([^{}]*)\}\s*(?:\{\s*(min|max)\s*\}\s*)?\]\s*$")


_PERHAPS_COMPUTED = re.compile(r"arithmetic|expected|asks for a number")
"""What a complaint says about a text that is no formula, and may be a number that is computed from several."""

_GOES_ON = re.compile(r"\s*(?![UWR]\b)[^\s,;)\]}]")
"""What follows a condition that is only a part of a formula."""

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")

_NO_OTHERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Property:
    """A property of a model.

    Attributes:
        written: the formula and its text, or what is computed from several.
        model: the model, with the labels that the formula speaks of.
        states: the states that a filter is about; None without one.
        aggregate: what the filter makes of the values there.
    """

    written: WrittenFormula | Computed
    model: PrismModel
    states: tuple[int, ...] | None = None
    aggregate: Aggregate | None = None


def read_property(model: PrismModel, text: str, others: Mapping[str, str] = _NO_OTHERS) -> Property:
    """The property of a model that a text denotes.

    Args:
        model: the model.
        text: the property.
        others: the texts of properties by name, of which it may speak: ``filter(forall, "safe" <=> x=0)``.

    Raises:
        FormulaError: the text is no property that can be read.

    >>> from privproof.logic.prism.prism_model import explore
    >>> model = explore('''dtmc const int N = 2; module m x : [0..N]; b : bool;
    ...     [] x<N -> 1/2:(x'=x+1) + 1/2:true; [] x=N -> true; endmodule''')
    >>> found = read_property(model, 'P>=1/2 [ F<=(2*N) x+1=N & !b ]')
    >>> print(found.written.formula)
    P>=1/2 [ F<=4 ("x+1=N" & !b) ]
    >>> found.model.process.labels["x+1=N"].tolist()
    [False, True, False]
    """
    old = _OLD_FILTER.search(text)
    if old is None:
        return _PropertyReader(text, model, others).whole_property()
    kept = text[: old.start()] + " " * (len(old[0]) - 1) + "]"
    found = _PropertyReader(kept, model, others).whole_property()
    states = _PropertyReader(old[1], found.model).whole_condition()
    return Property(found.written, found.model, states, cast(Aggregate, old[2] or "state"))


def _as_written(text: str, formula: Formula) -> WrittenFormula:
    """A formula with its text, if that is a formula without the model's words; otherwise with its canonical text."""
    try:
        same = parse_formula(text) == formula
    except FormulaError:
        same = False
    return WrittenFormula(text if same else str(formula), formula)


class _PropertyReader(FormulaReader):
    """Reads one property; conditions become labels."""

    def __init__(self, text: str, model: PrismModel, others: Mapping[str, str] = _NO_OTHERS) -> None:
        super().__init__(text)
        self._model, self._others = model, others
        self._source = PrismSource("formula", text)
        process = model.process
        self._labels: dict[str, Bools] = dict(process.labels)
        self._labels.setdefault("deadlock", np.zeros(len(process), np.bool_))
        self._names = replace(model.scope, source=self._source, labels={}, _known={}, _open=[])

    def whole_property(self) -> Property:
        """The property that the text is."""
        try:
            found = self._filter() if self._at_filter() else self._plain(self.whole())
            if not self.at_end:
                self.expected("the end")
        except FormulaError as problem:
            result = self._computed((0, 0), problem)
            if not self.at_end:
                raise
            found = self._claimed(result) or self._plain(result)
        return replace(found, model=self._labelled()) if found.model is self._model else found

    def _plain(self, found: Formula | Computed, begin: int = 0) -> Property:
        if isinstance(found, Computed):
            return Property(found, self._model)
        self.no_number_inside(found)
        return Property(_as_written(self.text[begin : self.ended], found), self._model)

    def _at_filter(self) -> bool:
        return self.token.text == "filter" and self.sees("(", ahead=1)

    def _filter(self) -> Property:
        self.take()
        self.expect("(")
        aggregate = _SIGNS.get(self.token.text, self.token.text)
        if aggregate not in get_args(Aggregate):
            self.expected("what the filter makes of the values", hint=", ".join(get_args(Aggregate)))
        self.take()
        self.expect(",")
        begun, begin = self.place, self.token.start
        try:
            written: Formula | Computed = self._value()
        except FormulaError as problem:
            written = self._computed(begun, problem)
        made = self._plain(written, begin)
        states = tuple(range(len(self._model.process)))
        if self.accept(","):
            at = self.token.start
            states = self._states(self.formula(), at)
        self.expect(")")
        return replace(made, states=states, aggregate=cast(Aggregate, aggregate))

    def _value(self) -> Formula:
        """The formula that a filter is about."""
        begin = self.token.start
        formula = self.formula()
        self.state(formula, begin)
        if self.token.text not in (",", ")"):
            self.expected("',' or ')'")
        return formula

    def _computed(self, begun: tuple[int, int], problem: FormulaError) -> Computed:
        """What is computed from several properties, from a token on; where it is nothing of the kind, the complaint that there was."""
        if not _PERHAPS_COMPUTED.search(problem.message):
            raise problem
        self.place = begun
        begin, level = self.token.start, 0
        pieces: dict[tuple[int, int], Property] = {}
        try:
            while not self.at_end and not (level == 0 and self.token.text in (",", ")")):
                start = self.token.start
                if self._at_property():
                    part = self._part()
                    pieces[start, self.ended] = part
                else:
                    level += {"(": 1, ")": -1}.get(self.take().text, 0)
            end = max(begin, self.ended)
            model = self._labelled()
            pieces = {at: replace(one, model=model) if one.model is self._model else one for at, one in pieces.items()}
            return parse_computation(self.text, (begin, end), pieces, self._names)
        except FormulaError as other:
            if not other.message.startswith("expected"):
                raise
            raise max(problem, other, key=lambda each: int(each.place.rpartition(":")[2])) from None  # it got farther

    def _claimed(self, found: Computed) -> Property | None:
        """The claim that a comparison of one number with a constant is, which can have a certificate: ``1/2 <= P=? [ F a ]``."""
        meaning, turned = found.meaning, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        if meaning.op not in turned:
            return None
        sign, (part, bound) = meaning.op, meaning.args
        if part.op == "const":
            sign, part, bound = turned[sign], bound, part
        asked = found.parts.get(part.value) if part.op == "var" else None
        if asked is None or bound.op != "const" or asked.aggregate or not isinstance(asked.written, WrittenFormula):
            return None
        query = asked.written.formula
        if not asked.written.asks_for_number or rational(bound.value) < 0:
            return None
        if rational(bound.value) > 1 and not isinstance(query, Expected):
            return None
        if not self._model.process.is_chain and not getattr(query, "side", ""):
            return None
        text = str(query).replace("=?", f"{sign}{rational(bound.value)}", 1)
        return Property(WrittenFormula(text, parse_formula(text)), asked.model)

    def _at_property(self) -> bool:
        """Whether what comes is a property, which stands for a number or a truth, and no name of the model."""
        token = self.token
        if token.kind == "quoted" or self._at_filter() or (token.text == "S" and self.about_steady()):
            return True
        if token.text in ("E", "A", "D"):
            return self.sees("[", ahead=1)
        if token.kind != "name" or not (token.text in ("P", "Pmin", "Pmax") or REWARD.fullmatch(token.text)):
            return False
        return token.text not in (*self._names.variables, *self._names.constants, *self._names.formulas)

    def _part(self) -> Property:
        token = self.token
        if self._at_filter():
            return self._filter()
        if token.kind == "quoted" and token.text[1:-1] not in self._labels and token.text[1:-1] in self._others:
            self.take()
            name = token.text[1:-1]
            rest = {other: text for other, text in self._others.items() if other != name}
            try:
                return read_property(self._model, self._others[name], rest)
            except FormulaError as problem:
                self.complain(f"the property {token.text}: {problem.message}", token.start, hint=problem.hint)
        if token.kind == "quoted" and token.text[1:-1] in self._labels:
            return self._plain(Atom(self.take().text[1:-1]), token.start)
        return self._plain(self.primary(), token.start)

    def whole_condition(self) -> tuple[int, ...]:
        """The states that the text, a condition, is about."""
        found = self._states(self.formula(), 0)
        if not self.at_end:
            self.expected("an operator or the end")
        return found

    def _states(self, condition: Formula, at: int) -> tuple[int, ...]:
        found = tuple(np.flatnonzero(self._holding(condition, at)).tolist())
        if not found:
            self.complain("no reachable state satisfies the condition of the filter", at)
        return found

    def _holding(self, condition: Formula, at: int) -> Bools:
        """The states in which a condition holds."""
        match condition:
            case Truth(value):
                return np.full(len(self._model.process), value)
            case Atom(name) if name in self._labels:
                return self._labels[name]
            case Comparison():
                return self._model.satisfying(str(condition))
            case Not(inner):
                return ~self._holding(inner, at)
            case And(parts):
                return np.asarray(np.logical_and.reduce([self._holding(part, at) for part in parts]))
            case Or(parts):
                return np.asarray(np.logical_or.reduce([self._holding(part, at) for part in parts]))
            case Implies(left, right):
                return ~self._holding(left, at) | self._holding(right, at)
            case Iff(left, right):
                return np.asarray(self._holding(left, at) == self._holding(right, at))
            case _:
                self.complain("the states of a filter are told by a condition", at, hint='for instance x>0 | "init"')

    def _labelled(self) -> PrismModel:
        """The model with the labels that were made."""
        return replace(self._model, process=replace(self._model.process, labels=self._labels))

    def primary(self) -> Formula:
        """A condition in the model's words, or whatever else the logic has."""
        token = self.token
        word, braced, _ = token.text.partition("{")
        asked = braced or any(self.sees(sign, ahead=1) for sign in ("=?", "[", "(", "<=", ">=", "<", ">"))
        if token.kind == "name" and word in _UNSUPPORTED and asked and word not in self._names.variables:
            what = f"{_UNSUPPORTED[word]} cannot be asked"
            self.complain(what, token.start, hint="one property at a time")
        if token.text in ("<", "[") and self.sees(token.text, ahead=1):
            self.complain(
                "games and coalitions cannot be asked", token.start, hint="write Pmax=? or Pmin=? without them"
            )
        if token.kind == "quoted" and token.text[1:-1] not in self._labels:
            if token.text[1:-1] in self._others:
                return self._other()
            known = ", ".join(f'"{label}"' for label in list(self._labels)[:8])
            self.complain(f"the model has no label {token.text}", token.start, hint=f"known: {known}")
        condition = self._condition()
        if condition is None:
            self._no_number()
        return condition or super().primary()

    def _no_number(self) -> None:
        """Refuse, by its name, a number of the model where a formula must be: ``x+1``, ``pow(2, N)``."""
        token = self.token
        called = token.text in FUNCTIONS and self.sees("(", ahead=1)
        found = None if called or token.text in self._labels else self._expression(ExpressionReader.sum)
        compared = found is not None and self.text[found[2] :].lstrip().startswith(
            _COMPARING
        )  # with a family's variable
        if called or (found is not None and found[1].kind != "bool" and not compared):
            self.complain(
                "arithmetic cannot be asked: a formula holds or fails, or asks for one number",
                token.start,
                hint="compare it (x+1 > 2), or ask P=? [ ... ], R=? [ ... ] or S=? [ ... ]",
            )

    def _other(self) -> Formula:
        """The formula of another property, which must hold or fail."""
        token = self.take()
        name = token.text[1:-1]
        rest = {other: text for other, text in self._others.items() if other != name}
        inner = _PropertyReader(self._others[name], self._model, rest)
        inner._labels = self._labels
        try:
            formula = inner.whole()
        except FormulaError as problem:
            self.complain(f"the property {token.text}: {problem.message}", token.start, hint=problem.hint)
        if isinstance(formula, Probable | Expected | Steady) and formula.within is None:
            self.complain(
                f"the property {token.text} asks for a number, and this needs one that holds or fails", token.start
            )
        return formula

    def implication(self) -> Formula:
        """A formula; where a part of a condition has no value in some state, the condition as a whole, which may not need it there."""
        begun = self.place
        try:
            return super().implication()
        except FormatError as problem:
            self.place = begun
            begin = self.token.start
            found = self._expression(ExpressionReader.expression) if problem.code in ("division", "power") else None
            if found is None or found[1].kind != "bool" or _GOES_ON.match(self.text, found[2]):
                raise
            self._pass(found[2])
            return self._named(begin, found[2])

    def _condition(self) -> Formula | None:
        begin = self.token.start
        found = self._expression(ExpressionReader.comparison)
        if found is None or found[1].kind != "bool":
            return None
        node, meaning, end = found
        self._pass(end)
        if node.op == "bool":
            return Truth(bool(node.value))
        simple = self._comparison(meaning)
        if simple is not None:
            return simple
        return self._named(begin, end)

    def _named(self, begin: int, end: int) -> Formula:
        """The label of the states that satisfy a condition, which is a stretch of the text."""
        text = " ".join(self.text[begin:end].split())
        marks = self._model.satisfying(text, name="formula")
        name = text
        while name in self._labels and not np.array_equal(self._labels[name], marks):
            name = f"({name})"
        self._labels[name] = marks
        return Atom(name)

    def _comparison(self, meaning: ExpressionMeaning) -> Formula | None:
        """The comparison of a variable with a whole number, which the logic has itself."""
        if meaning.op not in ("=", "!=", "<", "<=", ">", ">="):
            return None
        left, right = meaning.args
        if left.op != "var" or left.kind != "int" or right.op != "const" or right.kind != "int":
            return None
        name = next(name for name, (slot, _) in self._names.variables.items() if slot == left.value)
        return Comparison(name, cast(Literal["="], meaning.op), Count(int(right.value)))

    def count(self) -> Count:
        """A number of steps, which may be computed from constants of the model."""
        found = self._steps()
        known = (*self._names.variables, *self._names.constants, *self._names.formulas)
        name = self.token.text
        plain = _PLAIN_NAME.fullmatch(name) and not self._at_property() and not self.sees("(", ahead=1)
        if found is None and plain and name not in (*self.scope, *known, *RESERVED):
            self.complain(
                f"the model has no constant or variable {name!r}",
                self.token.start,
                hint=nearest(name, known)
                or f"write the number; a PRISM model, or a file of its properties, may declare it: const int {name};",
            )
        return super().count() if found is None else found

    def linear(self) -> Count:
        """An end of a range of steps, which may be computed from constants of the model."""
        found = self._steps()
        return super().linear() if found is None else found

    def _steps(self) -> Count | None:
        start = self.token.start
        value = self._constant()
        if value is None:
            return None
        if value.q != 1 or value < 0:
            self.complain(f"{value} is no number of steps", start)
        if value > LARGEST_COUNT:
            self.complain(f"{value} is beyond {LARGEST_COUNT} steps", start)
        return Count(int(value.p))

    def number(self) -> Rational:
        """An exact number, which may be computed from constants of the model."""
        value = self._constant()
        return super().number() if value is None else value

    def _constant(self) -> Rational | None:
        """The value of what is computed from numbers and constants of the model, if such comes."""
        found = self._expression(ExpressionReader.sum)
        if found is None or found[1].op != "const" or found[1].kind == "bool":
            return None
        self._pass(found[2])
        return rational(found[1].value)

    def _expression(
        self, read: Callable[[ExpressionReader], SyntaxNode]
    ) -> tuple[SyntaxNode, ExpressionMeaning, int] | None:
        """What the language of models reads from here on, and where it ends; None where that is nothing, or no condition on states."""
        if self.token.kind not in ("name", "number", "mark"):
            return None
        begin = self.token.start
        foreign = _FOREIGN.search(self.text, begin)
        try:
            reader = ExpressionReader(self._source, begin=begin, end=None if foreign is None else foreign.start())
            node = read(reader)
            if any(name in self.scope or name in RESERVED for name in names_in(node)):
                return None
            return node, self._names.meaning(node), reader.token.start if reader.token.text else reader.token.end
        except FormatError as problem:
            if problem.code == "constant":
                self.complain(problem.message, begin, hint=problem.hint)
            return None

    def _pass(self, end: int) -> None:
        while not self.at_end and self.token.start < end:
            self.take()
