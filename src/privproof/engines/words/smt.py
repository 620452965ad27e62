"""The word problem as a question to an SMT solver: Algorithm 1 and Theorem 5.3 of the FAIER paper, in general form.

Theorem 5.3: the query "there are letters w_1 ... w_k with ``P(w) > c Q(w)``" is unsatisfiable if and only if
``P(w) <= c Q(w)`` for every word of length k.  The letters are variables; the forward vectors ``a_t`` and ``b_t`` after
t letters are expressions (in the paper) or variables (here) that the letters determine.

* The *linear* encoding has for every step one Boolean for every edge that may be taken then, exactly one of them true,
  and an edge implies the linear equations ``a_t = a_{t-1} A`` and ``b_t = b_{t-1} B``.  It is a query in QF_LRA, linear
  real arithmetic.
* The *literal* encoding is the paper's: a numeric variable ``w_t`` for the letter, and every entry of ``a_t`` is the
  product of an inner product and a nested if-then-else, SELECT, over the letters.  Where the matrices of the edges do
  not have the form (transition times emission) of a hidden Markov model, SELECT chooses among the inner products.  It
  is here for comparison; the longer the words, the more it falls behind.

**Zeros.**  A word with ``Q(w) = 0 < P(w)`` satisfies the query at every c, and on the model of Fig. 3 Algorithm 1 as
printed finds words of this kind that are no executions; the appendix (Theorem 10.2) therefore asks for ``Q(w) > 0``.
We do not: that would also hide the genuine violations, words that are possible on one side only.  Which words count is
said by the problem's graph of locations, and of those, one that only the left side can show violates every bound.  A
word with ``P(w) = 0`` violates none, so edges and coordinates that cannot contribute to P (or Q) within the length are
left out.

The encoding is written as SMT-LIB text, which is also what `smtlib` exports: the file handed to another solver is the
very query that was asked here.  A word that the solver finds is recomputed exactly before it is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from privproof.engines.words import solver
from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.matrices import Matrix, Vector
from privproof.models import Edge, Final, Word, WordProblem

DEFAULT_EFFORT = 200_000_000
"""The resource units that one query may use; some ten millions make a second."""


@dataclass(frozen=True)
class SmtUnknown:
    """The solver gave up, or was stopped: every shorter length and no other is settled (no word violates there).

    Attributes:
        length: the shortest length that is not settled.
        start: the first start that is not settled at this length.
        reason: why.
    """

    length: int
    start: int
    reason: str


def violating_word(
    problem: WordProblem,
    bound: Rational,
    *,
    delta: Rational = ZERO,
    strict: bool = True,
    length: int | None = None,
    literal: bool = False,
    effort: int = DEFAULT_EFFORT,
    should_stop: Callable[[], bool] | None = None,
) -> Word | SmtUnknown | None:
    """A shortest word with ``P(w) > bound * Q(w) + delta`` for some start; None if there is none in the horizon.

    There is one query for every length and start.  A single query that also chooses the start is several times faster
    where words are short and starts are many (noisy max), and ten times slower where words are long (above threshold).

    Args:
        problem: the word problem; its horizon must be bounded unless `length` is given.
        bound: the factor c, not negative.
        delta: the additive slack, not negative.
        strict: if false, look for a word with ``P(w) >= bound * Q(w) + delta`` and ``P(w) > 0``: is the bound attained?
        length: only words of this length, whether or not the horizon has it.
        literal: use the paper's if-then-else encoding instead of the linear one.
        effort: the resource units that every single query may use.
        should_stop: asked before every query; if it says true, the search ends and its result is `SmtUnknown`.

    Raises:
        QuestionError: Z3 is missing, the horizon is unbounded, or a number is out of range.

    >>> from privproof.compiling import word_problem
    >>> from privproof.exact import rational
    >>> from privproof.library.noisy_max import noisy_max_question
    >>> problem = word_problem(noisy_max_question(2, improved=False)).problem
    >>> violating_word(problem, rational(4)) is None
    True
    >>> found = violating_word(problem, rational("3.999"))
    >>> [str(letter) for letter in found.letters], found.ratio
    (['1|2', '1|0', '2'], 4)
    """
    _in_range(bound, delta, length)
    claim = _Claim(bound, delta, strict=strict)
    for size in _lengths(problem, length):
        unknown: SmtUnknown | None = None
        for start in range(len(problem.starts)):
            if should_stop is not None and should_stop():
                return unknown or SmtUnknown(size, start, "stopped")
            walk = _unroll(problem, start, size)
            if not walk.ends:
                continue
            query = _query(walk, claim, literal=literal)
            answer = solver.check(
                query.text, effort=effort, booleans=query.booleans, reals=query.reals, logic=query.logic
            )
            if answer.verdict == "sat":
                return _decoded(problem, walk, answer, claim, literal=literal)
            if answer.verdict == "unknown" and unknown is None:
                unknown = SmtUnknown(size, start, answer.reason)
        if unknown is not None:
            return unknown
    return None


def smtlib(
    problem: WordProblem,
    bound: Rational,
    *,
    length: int,
    start: int,
    delta: Rational = ZERO,
    strict: bool = True,
    name: str = "",
    states: Sequence[Sequence[str]] = (),
) -> str:
    """The linear query for one start and one length as a self-contained SMT-LIB 2.6 script; writing it needs no solver.

    Args:
        problem: the word problem.
        bound: the factor c, not negative.
        length: the length of the words.
        start: the index of the start.
        delta: the additive slack, not negative.
        strict: as for `violating_word`.
        name: what the first comment calls the question.
        states: for every location the names of its coordinates, for the comments; empty where they have none.

    >>> from privproof.compiling import word_problem
    >>> from privproof.exact import rational
    >>> from privproof.library.noisy_max import noisy_max_question
    >>> problem = word_problem(noisy_max_question(2, improved=False)).problem
    >>> script = smtlib(problem, rational(4), length=3, start=0, name="naive noisy max")
    >>> print(script)  # doctest: +ELLIPSIS
    ; naive noisy max
    ; Is there a word w of length 3 with P(w) > 4 * Q(w)? The start is: neighbours
    ...
    (set-logic QF_LRA)
    ...
    (check-sat)
    """
    _in_range(bound, delta, length)
    claim = _Claim(bound, delta, strict=strict)
    walk = _unroll(problem, start, length)
    lines = [
        f"; {_line(name) or 'word problem'}",
        f"; Is there a word w of length {length} with {claim}? The start is: {_line(problem.starts[start].name)}",
        "; sat: there is one, and the bound is refuted; the variables eT_N that are true spell it.",
        "; unsat: there is none, so from this start no word of this length violates the bound.",
        "; eT_N: letter T is the one in the comment. fN: the word ends there, and that final column gives P and Q.",
        "; aT_I, bT_I: the probability, left and right, of the first T letters and of being in coordinate I then.",
        "; Words with P(w) = 0 violate nothing and are left out, as are coordinates that contribute nothing.",
        "(set-info :smt-lib-version 2.6)",
        "(set-option :produce-models true)",
        _query(walk, claim, literal=False, states=states).text,
        "(check-sat)",
    ]
    return "\n".join(lines) + "\n"


def _in_range(bound: Rational, delta: Rational, length: int | None) -> None:
    for name, value in (("bound", bound), ("delta", delta), ("length", length)):
        if value is not None and value < 0:
            raise QuestionError("bound", f"{name}={value} is negative", place=name, hint=f"give a {name} of at least 0")


def _lengths(problem: WordProblem, length: int | None) -> Iterable[int]:
    if length is not None:
        return (length,)
    if problem.horizon.high is None:
        raise QuestionError(
            "horizon",
            "the engine smt compares words of bounded length, and the horizon is unbounded",
            place="horizon",
            hint="give a horizon such as: up to 8",
        )
    return range(problem.horizon.low, problem.horizon.high + 1)


@dataclass(frozen=True)
class _Claim:
    """The inequality that a word is to satisfy."""

    bound: Rational
    delta: Rational
    strict: bool

    def holds(self, left: Rational, right: Rational) -> bool:
        if self.strict:
            return left > self.bound * right + self.delta
        return left > 0 and left >= self.bound * right + self.delta

    def formula(self, left: str, right: str) -> str:
        limit = _sum(term for term in (_scaled(self.bound, right), _number(self.delta)) if term != "0")
        return f"(> {left} {limit})" if self.strict else f"(and (> {left} 0) (>= {left} {limit}))"

    def __str__(self) -> str:
        slack = f" + {self.delta}" if self.delta != 0 else ""
        limit = f"{self.bound} * Q(w){slack}"
        return f"P(w) > {limit}" if self.strict else f"P(w) >= {limit} and P(w) > 0"


# ------------------------------------------------------------------------------------------------- unrolling the graph

Live: TypeAlias = Mapping[int, frozenset[int]]
"""For every location that a word may be at, the coordinates that can contribute to its probability."""

_Reached: TypeAlias = dict[int, tuple[set[int], set[int]]]


@dataclass(frozen=True)
class _Arc:
    """An edge that may be taken at a certain step, with the location that it leaves."""

    source: int
    edge: Edge


@dataclass(frozen=True)
class _Side:
    """One of the two forward computations: the first letter of its variables, where it starts, what is live when."""

    mark: Literal["a", "b"]
    initial: Vector
    live: tuple[Live, ...]

    def columns(self, step: int, arc: _Arc) -> dict[int, list[tuple[int, Rational]]]:
        """For every live coordinate after an arc the pairs (coordinate before, entry) that flow into it."""
        result: dict[int, list[tuple[int, Rational]]] = {j: [] for j in sorted(self.live[step][arc.edge.target])}
        matrix = arc.edge.left if self.mark == "a" else arc.edge.right
        for i in sorted(self.live[step - 1][arc.source]):
            for j, entry in matrix.rows[i]:
                if j in result:
                    result[j].append((i, entry))
        return result

    def dot(self, step: int, column: Iterable[tuple[int, Rational]]) -> str:
        """The inner product of the vector after `step` letters with a column; a number for the initial vector."""
        if step == 0:
            return _number(sum((self.initial[i] * entry for i, entry in column), ZERO))
        return _sum(_scaled(entry, f"{self.mark}{step}_{i}") for i, entry in column)

    def coordinates(self, step: int) -> list[int]:
        """The coordinates that are live after so many letters at some location."""
        return sorted(frozenset[int]().union(*self.live[step].values()))


@dataclass(frozen=True)
class _Walk:
    """The words of one length from one start: the arcs of every step, both sides, and where words may end."""

    start: int
    arcs: tuple[tuple[_Arc, ...], ...]
    sides: tuple[_Side, _Side]
    ends: tuple[tuple[int, Final], ...]


def _unroll(problem: WordProblem, start: int, length: int) -> _Walk:
    """Reachability of locations and coordinates, forward and then backward; without an end no word has P > 0."""
    begin = problem.starts[start]
    reached: list[_Reached] = [{begin.location: (_support(begin.left), _support(begin.right))}]
    for _ in range(length):
        onward: _Reached = {}
        for location, (left, right) in reached[-1].items():
            for edge in problem.locations[location].edges:
                if following := _image(edge.left, left):
                    known = onward.setdefault(edge.target, (set(), set()))
                    known[0].update(following)
                    known[1].update(_image(edge.right, right))
        reached.append(onward)
    ends = tuple(
        (location, final)
        for location, (left, _) in reached[-1].items()
        for final in problem.locations[location].finals
        if not left.isdisjoint(_support(final.left))
    )
    lefts: dict[int, set[int]] = {}
    rights: dict[int, set[int]] = {}
    for location, final in ends:
        left, right = reached[-1][location]
        lefts.setdefault(location, set()).update(left & _support(final.left))
        rights.setdefault(location, set()).update(right & _support(final.right))
    live = [(_frozen(lefts), _frozen(rights))]
    arcs: list[tuple[_Arc, ...]] = []
    for here in reversed(reached[:-1]):
        after_left, after_right = live[-1]
        lefts, rights, usable = {}, {}, []
        for location, (left, right) in here.items():
            for edge in problem.locations[location].edges:
                needed = _preimage(edge.left, left, after_left.get(edge.target, frozenset()))
                if needed:
                    usable.append(_Arc(location, edge))
                    lefts.setdefault(location, set()).update(needed)
                    rights.setdefault(location, set()).update(_preimage(edge.right, right, after_right[edge.target]))
        arcs.append(tuple(usable))
        live.append((_frozen(lefts), _frozen(rights)))
    arcs.reverse()
    live.reverse()
    left_side = _Side("a", begin.left, tuple(left for left, _ in live))
    right_side = _Side("b", begin.right, tuple(right for _, right in live))
    return _Walk(start, tuple(arcs), (left_side, right_side), ends)


def _support(vector: Vector) -> set[int]:
    return {i for i, entry in enumerate(vector) if entry != 0}


def _image(matrix: Matrix, rows: Iterable[int]) -> set[int]:
    return {column for row in rows for column, _ in matrix.rows[row]}


def _preimage(matrix: Matrix, rows: Iterable[int], columns: frozenset[int]) -> set[int]:
    return {row for row in rows if any(column in columns for column, _ in matrix.rows[row])}


def _frozen(sets: Mapping[int, set[int]]) -> Live:
    return {location: frozenset(members) for location, members in sets.items()}


# --------------------------------------------------------------------------------------------------- writing the query


@dataclass
class _Query:
    """The text of a query as it grows, with the variables that spell the word."""

    logic: str
    lines: list[str] = field(default_factory=list)
    booleans: list[str] = field(default_factory=list)
    reals: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join([f"(set-logic {self.logic})", *self.lines])

    def declare(self, name: str, sort: str, note: str = "") -> None:
        self.lines.append(f"(declare-const {name} {sort})" + (f" ; {_line(note)}" if note else ""))

    def claim(self, formula: str) -> None:
        self.lines.append(f"(assert {formula})")


def _query(walk: _Walk, claim: _Claim, *, literal: bool, states: Sequence[Sequence[str]] = ()) -> _Query:
    query = _Query("QF_NRA" if literal else "QF_LRA")
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
                before = _arriving(walk, step - 1, arc.source, literal=literal)
                query.claim(f"(=> {_taken(step, number, literal=literal)} {_any(before)})")
    length = len(walk.arcs)
    left, right = walk.sides
    for number, (location, final) in enumerate(walk.ends):
        name = f"f{number}"
        query.declare(name, "Bool", f"the word ends at location {location}, final column {final.name}")
        query.booleans.append(name)
        numbers = [
            side.dot(length, ((i, column[i]) for i in sorted(side.live[length][location]) if column[i] != 0))
            for side, column in ((left, final.left), (right, final.right))
        ]
        parts = [claim.formula(*numbers)]
        if length:
            parts.append(_any(_arriving(walk, length, location, literal=literal)))
        query.claim(f"(=> {name} {_all(parts)})")
    query.claim(_any(f"f{number}" for number in range(len(walk.ends))))
    return query


def _taken(step: int, number: int, *, literal: bool) -> str:
    """The formula that an arc is the one taken at a step."""
    return f"(= w{step} {number})" if literal else f"e{step}_{number}"


def _arriving(walk: _Walk, step: int, location: int, *, literal: bool) -> Iterator[str]:
    for number, arc in enumerate(walk.arcs[step - 1]):
        if arc.edge.target == location:
            yield _taken(step, number, literal=literal)


def _linear_step(query: _Query, walk: _Walk, step: int, states: Sequence[Sequence[str]]) -> None:
    arcs = walk.arcs[step - 1]
    names = [f"e{step}_{number}" for number in range(len(arcs))]
    for name, arc in zip(names, arcs, strict=True):
        way = f"from location {arc.source} to {arc.edge.target}"
        query.declare(name, "Bool", f"letter {step} is {arc.edge.letter}, {way}")
    query.booleans.extend(names)
    query.claim(_any(names))
    for number, name in enumerate(names):
        for other in names[number + 1 :]:
            query.claim(f"(not (and {name} {other}))")
    for side in walk.sides:
        for j in side.coordinates(step):
            names_here = _named(side.live[step], j, states)
            note = f"{'left' if side.mark == 'a' else 'right'}, in {names_here} after {step}" if names_here else ""
            query.declare(f"{side.mark}{step}_{j}", "Real", note)
    for name, arc in zip(names, arcs, strict=True):
        equations = [
            f"(= {side.mark}{step}_{j} {side.dot(step - 1, column)})"
            for side in walk.sides
            for j, column in side.columns(step, arc).items()
        ]
        query.claim(f"(=> {name} {_all(equations)})")


def _named(live: Live, coordinate: int, states: Sequence[Sequence[str]]) -> str:
    """The names that a coordinate has at the locations where it is live; none where states have no names."""
    if not states:
        return ""
    here = (location for location in sorted(live) if coordinate in live[location] and states[location])
    return " or ".join(dict.fromkeys(states[location][coordinate] for location in here))


def _select_step(query: _Query, walk: _Walk, step: int) -> None:
    arcs = walk.arcs[step - 1]
    query.declare(f"w{step}", "Real")
    query.reals.append(f"w{step}")
    query.claim(_any(_taken(step, number, literal=True) for number in range(len(arcs))))
    for side in walk.sides:
        columns = [side.columns(step, arc) for arc in arcs]
        for j in side.coordinates(step):
            entering = [tuple(column.get(j, ())) for column in columns]
            directions = {tuple((i, entry / column[0][1]) for i, entry in column) for column in entering if column}
            if len(directions) == 1:
                emissions = _select(step, [_number(column[0][1]) if column else "0" for column in entering])
                value = f"(* {side.dot(step - 1, directions.pop())} {emissions})"
            else:
                value = _select(step, [side.dot(step - 1, column) for column in entering])
            query.lines.append(f"(define-fun {side.mark}{step}_{j} () Real {value})")


def _select(step: int, values: Sequence[str]) -> str:
    """SELECT of the paper: the value of the letter that w is."""
    result = values[-1]
    for number in reversed(range(len(values) - 1)):
        result = f"(ite (= w{step} {number}) {values[number]} {result})"
    return result


def _decoded(problem: WordProblem, walk: _Walk, answer: solver.Answer, claim: _Claim, *, literal: bool) -> Word:
    """The word that a model spells, both probabilities recomputed from the problem."""
    letters = []
    for step, arcs in enumerate(walk.arcs, 1):
        if literal:
            number = int(answer.values[f"w{step}"])
        else:
            number = next(n for n in range(len(arcs)) if answer.values[f"e{step}_{n}"])
        letters.append(arcs[number].edge.letter)
    final = next(final for number, (_, final) in enumerate(walk.ends) if answer.values[f"f{number}"])
    word = problem.word(walk.start, tuple(letters), final=final.name)
    if not claim.holds(word.left, word.right):
        raise AssertionError(f"the solver's word {word} does not satisfy {claim}")
    return word


# -------------------------------------------------------------------------------------------------------- SMT-LIB text


def _line(comment: str) -> str:
    """A comment on one line, whatever a name in it contains."""
    return " ".join(comment.split())


def _number(value: Rational) -> str:
    size = abs(value)
    digits = str(size.p) if size.q == 1 else f"(/ {size.p} {size.q})"
    return f"(- {digits})" if value < 0 else digits


def _scaled(factor: Rational, term: str) -> str:
    if factor == 0 or term == "0":
        return "0"
    return term if factor == ONE else f"(* {_number(factor)} {term})"


def _joined(operator: str, empty: str, parts: Iterable[str]) -> str:
    listed = list(parts)
    if len(listed) <= 1:
        return listed[0] if listed else empty
    return f"({operator} {' '.join(listed)})"


def _sum(terms: Iterable[str]) -> str:
    return _joined("+", "0", terms)


def _any(formulas: Iterable[str]) -> str:
    return _joined("or", "false", formulas)


def _all(formulas: Iterable[str]) -> str:
    return _joined("and", "true", formulas)
