"""How losses grow with the list: a rate and a constant that are proved for every length and attained from some length on.

Where a pump shows that no epsilon is enough for lists of every length, the largest ratios of short lists say how they may grow:
``ratio(n) = c r^n`` from some n on.  That this bounds every length is the same problem with the matrices of the right side times r, for
which an invariant is looked for; that it is attained for ever is a family of words ``u v^k w``, equal as often as the
recurrence has terms (Cayley and Hamilton; `privproof_checker.growing_ratios` has the theorem).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from privproof.compiling import word_problem
from privproof.engines.search_monitor import Monitor, SearchAllowance
from privproof.engines.words.cone_invariants import Invariant
from privproof.engines.words.frontier_search import Frontier
from privproof.engines.words.problem_letters import letter_document
from privproof.engines.words.word_certificates import proof_evidence
from privproof.engines.words.word_endings import beyond
from privproof.engines.words.word_findings import ConeProof, GrowingProof
from privproof.evidence.verdicts import Formula
from privproof.exact import ONE, Budget, Rational, fraction, log, text
from privproof.models import Horizon, Letter, Transducer, Word, WordProblem

if TYPE_CHECKING:
    from privproof.compiling import Compiled

_LONGEST = 5
"""Lists up to this length are looked at for the rate: enough to see it twice after a few lengths that differ."""
_WORTH = 20_000
"""So many vectors are looked at for the largest ratio of one length."""
_MOST_VECTORS = 200
"""So many vectors are expanded for a proof with the rate: where the rate is right, single steps mostly prove it."""
_MOST_MEMBERS = 400
"""So many members of a family are compared at the most; a model with more than half as many states gets no formula."""


def growing_proof(compiled: Compiled, monitor: Monitor) -> GrowingProof | None:
    """How the smallest epsilon grows with the list, exactly; None where that was not found."""
    model = compiled.question.model
    if not isinstance(model, Transducer) or not model.of_every_length or 2 * len(model.states) > _MOST_MEMBERS:
        return None
    relation = compiled.question.scenario.neighbours
    if relation is not None and relation.kind == "add-remove":
        return None
    words = _largest(compiled.problem, monitor)
    if len(words) < _LONGEST or monitor.stopped() is not None:
        return None
    ratios = [ONE, *(word.left / word.right for word in words)]
    rate = ratios[-1] / ratios[-2]
    if rate <= 1 or ratios[-2] / ratios[-3] != rate:
        return None
    constant = max(ratio / rate**n for n, ratio in enumerate(ratios))
    grown = word_problem(replace(compiled.question, rate=rate))
    family = _family(grown.problem, words, constant, 2 * len(model.states))
    if family is None:
        return None
    budget = Budget(log(constant))
    search = Invariant(grown.problem, goal=beyond(budget), threshold=constant, monitor=SearchAllowance(monitor, _WORTH))
    closed = search.run(most=_MOST_VECTORS)
    if closed.trace is None:
        return None
    pair = compiled.begins[family.word.start].pair
    formula = Formula(fraction(rate), budget.epsilon, family.least)
    return GrowingProof(
        formula,
        {
            "rate": text(rate),
            "epsilon": str(budget.epsilon),
            "evidence": proof_evidence(grown, ConeProof(closed.trace)),
            "family": {
                "left": {name: text(p) for name, p in pair.left.items()},
                "right": {name: text(p) for name, p in pair.right.items()},
                "before": [letter_document(letter) for letter in family.before],
                "repeated": [letter_document(family.repeated)],
                "after": [letter_document(letter) for letter in family.after],
                "ending": family.word.final,
                "first": 0,
            },
        },
    )


def _largest(problem: WordProblem, monitor: Monitor) -> list[Word]:
    """For lists of 1, 2, ... elements a word with the largest ratio, as far as they are found and finite."""
    found = []
    for size in range(1, _LONGEST + 1):
        bounded = replace(problem, horizon=Horizon.exactly(size + 1))
        searched = Frontier(bounded, monitor=SearchAllowance(monitor, _WORTH)).run()
        if searched.stopped is not None or searched.best is None or searched.best.ratio is None:
            break
        found.append(searched.best)
    return found


@dataclass(frozen=True)
class _Family:
    """Words that attain a claim, for ever: one letter is repeated."""

    word: Word
    before: tuple[Letter, ...]
    repeated: Letter
    after: tuple[Letter, ...]

    @property
    def least(self) -> int:
        """The number of elements without a repetition."""
        return len(self.before) + len(self.after) - 1


def _family(problem: WordProblem, words: list[Word], constant: Rational, count: int) -> _Family | None:
    """The family with the shortest lists that attains a constant in the problem with the rate."""
    found = [
        family
        for word in words
        for family in _families(word)
        if _leads_back(problem, family) and all(_attains(problem, family, k, constant) for k in range(count))
    ]
    return min(found, key=lambda family: family.least, default=None)


def _families(word: Word) -> Iterator[_Family]:
    """The families that a word is a member of, with one repetition of one of its letters."""
    for place, letter in enumerate(word.letters[:-1]):
        yield _Family(word, word.letters[:place], letter, word.letters[place + 1 :])


def _leads_back(problem: WordProblem, family: _Family) -> bool:
    """Whether the repeated letter leads back to where it begins."""
    location = problem.starts[family.word.start].location
    for letter in family.before:
        edge = problem.edge(location, letter)
        if edge is None:
            return False
        location = edge.target
    edge = problem.edge(location, family.repeated)
    return edge is not None and edge.target == location


def _attains(problem: WordProblem, family: _Family, repetitions: int, constant: Rational) -> bool:
    letters = (*family.before, *(family.repeated,) * repetitions, *family.after)
    try:
        word = problem.word(family.word.start, letters, final=family.word.final)
    except (KeyError, ValueError):  # a marked letter is not repeated
        return False
    return word.left > 0 and word.left == constant * word.right
