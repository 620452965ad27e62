"""The two encodings of unrolled words as SMT-LIB text: linear, and the FAIER paper's with SELECT (see `smt`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from privproof.engines.words.word_unrolling import Live, UnrolledSide, WordWalk
from privproof.exact import ONE, ZERO, Rational


@dataclass(frozen=True)
class WordClaim:
    """The inequality that a word is to satisfy."""

    bound: Rational
    delta: Rational
    strict: bool

    def holds(self, left: Rational, right: Rational) -> bool:
        if self.strict:
            return left > self.bound * right + self.delta
        return left > 0 and left >= self.bound * right + self.delta

    def formula(self, left: str, right: str) -> str:
        limit = total(term for term in (scale_to_integers(self.bound, right), numeral(self.delta)) if term != "0")
        return f"(> {left} {limit})" if self.strict else f"(and (> {left} 0) (>= {left} {limit}))"

    def __str__(self) -> str:
        slack = f" + {self.delta}" if self.delta != 0 else ""
        limit = f"{self.bound} * Q(w){slack}"
        return f"P(w) > {limit}" if self.strict else f"P(w) >= {limit} and P(w) > 0"


@dataclass
class SolverQuery:
    """The text of a query as it grows, with the variables that spell the word."""

    logic: str
    lines: list[str] = field(default_factory=list)
    booleans: list[str] = field(default_factory=list)
    reals: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join([f"(set-logic {self.logic})", *self.lines])

    def declare(self, name: str, sort: str, note: str = "") -> None:
        self.lines.append(f"(declare-const {name} {sort})" + (f" ; {one_line(note)}" if note else ""))

    def claim(self, formula: str) -> None:
        self.lines.append(f"(assert {formula})")


def encode_value(
    walk: WordWalk, claim: WordClaim, *, literal: bool, states: Sequence[Sequence[str]] = ()
) -> SolverQuery:
    query = SolverQuery("QF_NRA" if literal else "QF_LRA")
    if not walk.ends:
        query.claim("false")
        return query
    for step, arcs in enumerate(walk.arcs, 1):
        if literal:
            _select_step(query, walk, step)
        else:
            _linear_step(query, walk, step, states)
        if len({arc.source for arc in arcs}) > 1:
            for number, arc in enumerate(arcs):
                before = _arcs_into(walk, step - 1, arc.source, literal=literal)
                query.claim(f"(=> {_arc_formula(step, number, literal=literal)} {any_of(before)})")
    length = len(walk.arcs)
    left, right = walk.sides
    for number, (location, final) in enumerate(walk.ends):
        name = f"f{number}"
        query.declare(name, "Bool", f"the word ends at location {location}, final column {final.name}")
        query.booleans.append(name)
        numbers = [
            _dot(side, length, ((i, column[i]) for i in sorted(side.live[length][location]) if column[i] != 0))
            for side, column in ((left, final.left), (right, final.right))
        ]
        parts = [claim.formula(*numbers)]
        if length:
            parts.append(any_of(_arcs_into(walk, length, location, literal=literal)))
        query.claim(f"(=> {name} {all_of(parts)})")
    query.claim(any_of(f"f{number}" for number in range(len(walk.ends))))
    return query


def _dot(side: UnrolledSide, step: int, column: Iterable[tuple[int, Rational]]) -> str:
    """The inner product of the vector after `step` letters with a column; a number for the initial vector."""
    if step == 0:
        return numeral(sum((side.initial[i] * entry for i, entry in column), ZERO))
    return total(scale_to_integers(entry, f"{side.mark}{step}_{i}") for i, entry in column)


def _arc_formula(step: int, number: int, *, literal: bool) -> str:
    """The formula that an arc is the one taken at a step."""
    return f"(= w{step} {number})" if literal else f"e{step}_{number}"


def _arcs_into(walk: WordWalk, step: int, location: int, *, literal: bool) -> Iterator[str]:
    for number, arc in enumerate(walk.arcs[step - 1]):
        if arc.edge.target == location:
            yield _arc_formula(step, number, literal=literal)


def _linear_step(query: SolverQuery, walk: WordWalk, step: int, states: Sequence[Sequence[str]]) -> None:
    arcs = walk.arcs[step - 1]
    names = [f"e{step}_{number}" for number in range(len(arcs))]
    for name, arc in zip(names, arcs, strict=True):
        way = f"from location {arc.source} to {arc.edge.target}"
        query.declare(name, "Bool", f"letter {step} is {arc.edge.letter}, {way}")
    query.booleans.extend(names)
    query.claim(any_of(names))
    for number, name in enumerate(names):
        for other in names[number + 1 :]:
            query.claim(f"(not (and {name} {other}))")
    for side in walk.sides:
        for j in side.coordinates(step):
            names_here = _coordinate_names(side.live[step], j, states)
            note = f"{'left' if side.mark == 'a' else 'right'}, in {names_here} after {step}" if names_here else ""
            query.declare(f"{side.mark}{step}_{j}", "Real", note)
    for name, arc in zip(names, arcs, strict=True):
        equations = [
            f"(= {side.mark}{step}_{j} {_dot(side, step - 1, column)})"
            for side in walk.sides
            for j, column in side.columns(step, arc).items()
        ]
        query.claim(f"(=> {name} {all_of(equations)})")


def _coordinate_names(live: Live, coordinate: int, states: Sequence[Sequence[str]]) -> str:
    """The names that a coordinate has at the locations where it is live; none where states have no names."""
    if not states:
        return ""
    here = (location for location in sorted(live) if coordinate in live[location] and states[location])
    return " or ".join(dict.fromkeys(states[location][coordinate] for location in here))


def _select_step(query: SolverQuery, walk: WordWalk, step: int) -> None:
    arcs = walk.arcs[step - 1]
    query.declare(f"w{step}", "Real")
    query.reals.append(f"w{step}")
    query.claim(any_of(_arc_formula(step, number, literal=True) for number in range(len(arcs))))
    for side in walk.sides:
        columns = [side.columns(step, arc) for arc in arcs]
        for j in side.coordinates(step):
            entering = [tuple(column.get(j, ())) for column in columns]
            directions = {tuple((i, entry / column[0][1]) for i, entry in column) for column in entering if column}
            if len(directions) == 1:
                emissions = _select(step, [numeral(column[0][1]) if column else "0" for column in entering])
                value = f"(* {_dot(side, step - 1, directions.pop())} {emissions})"
            else:
                value = _select(step, [_dot(side, step - 1, column) for column in entering])
            query.lines.append(f"(define-fun {side.mark}{step}_{j} () Real {value})")


def _select(step: int, values: Sequence[str]) -> str:
    """SELECT of the paper: the value of the letter that w is."""
    result = values[-1]
    for number in reversed(range(len(values) - 1)):
        result = f"(ite (= w{step} {number}) {values[number]} {result})"
    return result


def one_line(comment: str) -> str:
    """A comment on one line, whatever a name in it contains."""
    return " ".join(comment.split())


def numeral(value: Rational) -> str:
    size = abs(value)
    digits = str(size.p) if size.q == 1 else f"(/ {size.p} {size.q})"
    return f"(- {digits})" if value < 0 else digits


def scale_to_integers(factor: Rational, term: str) -> str:
    if factor == 0 or term == "0":
        return "0"
    return term if factor == ONE else f"(* {numeral(factor)} {term})"


def _join_terms(operator: str, empty: str, parts: Iterable[str]) -> str:
    listed = list(parts)
    if len(listed) <= 1:
        return listed[0] if listed else empty
    return f"({operator} {' '.join(listed)})"


def total(terms: Iterable[str]) -> str:
    return _join_terms("+", "0", terms)


def any_of(formulas: Iterable[str]) -> str:
    return _join_terms("or", "false", formulas)


def all_of(formulas: Iterable[str]) -> str:
    return _join_terms("and", "true", formulas)
