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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from privproof.engines.words import word_solver as solver
from privproof.engines.words.smt_encoding import WordClaim, encode_value, one_line
from privproof.engines.words.word_unrolling import WordWalk, unroll
from privproof.errors import QuestionError
from privproof.exact import ZERO, Rational
from privproof.models import Word, WordProblem

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
    claim = WordClaim(bound, delta, strict=strict)
    for size in _lengths(problem, length):
        unknown: SmtUnknown | None = None
        for start in range(len(problem.starts)):
            if should_stop is not None and should_stop():
                return unknown or SmtUnknown(size, start, "stopped")
            walk = unroll(problem, start, size)
            if not walk.ends:
                continue
            query = encode_value(walk, claim, literal=literal)
            answer = solver.check(
                query.text, effort=effort, booleans=query.booleans, reals=query.reals, logic=query.logic
            )
            if answer.verdict == "sat":
                return _decode_word(problem, walk, answer, claim, literal=literal)
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
    claim = WordClaim(bound, delta, strict=strict)
    walk = unroll(problem, start, length)
    lines = [
        f"; {one_line(name) or 'word problem'}",
        f"; Is there a word w of length {length} with {claim}? The start is: {one_line(problem.starts[start].name)}",
        "; sat: there is one, and the bound is refuted; the variables eT_N that are true spell it.",
        "; unsat: there is none, so from this start no word of this length violates the bound.",
        "; eT_N: letter T is the one in the comment. fN: the word ends there, and that final column gives P and Q.",
        "; aT_I, bT_I: the probability, left and right, of the first T letters and of being in coordinate I then.",
        "; Words with P(w) = 0 violate nothing and are left out, as are coordinates that contribute nothing.",
        "(set-info :smt-lib-version 2.6)",
        "(set-option :produce-models true)",
        encode_value(walk, claim, literal=False, states=states).text,
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


def _decode_word(
    problem: WordProblem, walk: WordWalk, answer: solver.SolverAnswer, claim: WordClaim, *, literal: bool
) -> Word:
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
