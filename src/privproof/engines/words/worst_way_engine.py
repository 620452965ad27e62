"""The worst way: a bound on all words of a finite mechanism in one sweep, and a search for a word that attains it.

Both runs are compared as long as they are in the same state.  Let ``R_t(s)`` bound the ratio of the probabilities of every output, and of
everything on the way, from state s before step t on, whatever neighbouring inputs follow.  At the end both sides write by one table, so
R is 1, and before it

    R_t(s) = max over the inputs (x, y) and over the moves s -> j under x of  p_x(s, j) / p_y(s, j) * R_(t+1)(j).

Sums over moves keep the bound: ``sum p_x(s,j) P_j <= sum R_t(s) p_y(s,j) Q_j``.  The cost is the number of moves times that of
neighbouring inputs, where tables of all inputs have as many entries as there are data sets.  The bound is exact if a word attains it: for
naive noisy max, for threshold tests, and whenever one move costs the most on all ways.  Words are sought by improving one input at a
time, in floating point; both probabilities of the best one are then computed exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.compiling import Begin, Compiled, near_inputs, refuse_equal_sides
from privproof.compiling.word_problems import input_choices
from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.engines.words.word_engine import WordEngine, WordRequest
from privproof.engines.words.word_findings import Finding, WorstWayProof
from privproof.exact import INFINITE, ONE, ZERO, Budget, Rational, epsilon, smallest_epsilon
from privproof.memory import entries_within, memory_words
from privproof.models import Distribution, Horizon, Letter, Transducer, Word, WordProblem
from privproof.scenarios import Pair, Question, ordered_pairs

_FEW = 200_000
"""Up to so many combinations of inputs and output tables list them all, in seconds, and find the simplest witness."""
_MOST_ENTRIES = 20_000_000
"""Entries of the matrices in which words are sought, eight bytes each; with more of them no word is sought."""
_SWEEPS = 3
"""How often every input is improved in turn; words that still get better then are rare."""
_BEST = 3
"""Words of one pair of inputs throughout that are improved, for every output: the best ones."""

_RELATIONS = ("each", "one", "monotone")

Row: TypeAlias = dict[tuple[str | None, str], Rational]
"""The moves from a state under an input: the probability of every output and next state."""


class WorstWayEngine(WordEngine):
    """The ratios of all moves, multiplied along the worst way."""

    name = "worst-way"

    def compiled(self, asked: WordRequest) -> Compiled | None:
        """The question as it is; None if it is not about a mechanism with one output at the end."""
        question = asked.question
        model = question.model
        if asked.over_events or not isinstance(model, Transducer) or model.finish is None or model.of_every_length:
            return None
        relation = question.scenario.neighbours
        if relation is None or relation.kind not in _RELATIONS or not question.scenario.words.unrestricted:
            return None
        length = len(model.steps) + 1
        if question.horizon is not None and question.horizon.high not in (None, length):
            return None
        pairs = ordered_pairs(question)
        if any(pair.left != pair.right for pair in pairs):
            return None
        refuse_equal_sides(question, model, pairs)
        begins = tuple(Begin(pair, output) for pair in pairs for output in model.outputs)
        return Compiled(question, WordProblem((), (), Horizon.exactly(length)), begins, (), ())

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        model = compiled.question.model
        assert isinstance(model, Transducer)
        if budget.delta != 0:
            return "the worst way does not take a delta"
        if len(model.outputs) * len(model.inputs) ** len(model.steps) <= _FEW:
            return f"there are no more than {_FEW} combinations of inputs and output, which tables list"
        return None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """What the bound says; where it does not decide, the next engine is asked."""
        for answer in super().answers(request, monitor):
            yield replace(answer, pass_on=True) if answer.status == "unknown" else answer

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """The bound and the best word, compared with the budget."""
        finding, loose = self._found(compiled, monitor)
        if finding.proof is not None and finding.upper.compare(budget.epsilon) <= 0:
            return finding
        if finding.lower.compare(budget.epsilon) > 0:
            return replace(finding, proof=None, above=finding.proof)
        return replace(finding, proof=None, upper=INFINITE, stopped=finding.stopped or loose)

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """The bound, if a word attains it."""
        finding, loose = self._found(compiled, monitor)
        if finding.proof is None or finding.lower == finding.upper:
            return finding
        return replace(finding, proof=None, upper=INFINITE, stopped=loose)

    def _found(self, compiled: Compiled, monitor: Monitor) -> tuple[Finding, str]:
        """The bound and the best word, and why the bound may be loose."""
        lower, word = epsilon(0), None
        try:
            bound = largest_product(compiled.question, monitor)
            if bound is None:
                return Finding(lower, stopped="a move is possible on one side only"), _LOOSE
            upper = smallest_epsilon(bound, 1)
            monitor.listen(Progress("worst way", upper=str(upper)))
            words = _Words(compiled, monitor)
            for word in words.improving(bound):
                lower = smallest_epsilon(word.left, word.right)
                monitor.listen(Progress("worst way", established=lower))
        except Stopped:
            return Finding(lower, word=word, stopped=monitor.stopped() or "stopped"), _LOOSE
        return Finding(lower, upper, word=word, proof=WorstWayProof()), words.short or _LOOSE


_LOOSE = "the bound state by state is not attained by the words tried"


def moves(model: Transducer) -> list[dict[str, dict[str, Row]]]:
    """For every step, from every state and under every input: the probabilities of what is written and where it leads."""
    result = []
    for step in model.steps:
        table: dict[str, dict[str, Row]] = {}
        for state, rows in step.items():
            table[state] = {
                symbol: {(b.output, b.target): b.probability for b in branches} for symbol, branches in rows.items()
            }
        result.append(table)
    return result


def largest_product(question: Question, monitor: Monitor) -> Rational | None:
    """The largest product of ratios along any way; None where it is infinite."""
    model = question.model
    assert isinstance(model, Transducer)
    first, choices = input_choices(question.scenario.neighbours, model)
    tables = moves(model)
    starts = {state for pair in ordered_pairs(question) for state in pair.left}
    reached = [{(state, first) for state in starts}]
    letters: list[dict[Any, list[tuple[str, str, Any]]]] = []
    for number, table in enumerate(tables):
        monitor.pause()
        memories = {memory for _, memory in reached[-1]}
        both = {memory: list(choices(number, memory)) for memory in memories}
        letters.append(
            {m: [(x, y, after) for x, y, after in c if x is not None and y is not None] for m, c in both.items()}
        )
        onward = set()
        for state, memory in reached[-1]:
            targets = {target for row in table[state].values() for _, target in row}
            onward |= {(target, after) for after in {a for _, _, a in letters[-1][memory]} for target in targets}
        reached.append(onward)
    bounds: dict[Any, Rational] = dict.fromkeys(reached[-1], ONE)
    for number in reversed(range(len(tables))):
        before: dict[Any, Rational] = {}
        for state, memory in reached[number]:
            monitor.pause()
            best = ZERO
            rows = tables[number][state]
            for x, y, after in letters[number][memory]:
                other = rows[y]
                for move, p in rows[x].items():
                    value = bounds[move[1], after]
                    if x != y:
                        q = other.get(move)
                        if q is None:
                            return None
                        value = p / q * value
                    best = max(best, value)
            before[state, memory] = best
        bounds = before
    return max(bounds.values())


@dataclass(frozen=True)
class _Plan:
    """Which inputs a word may have: for every step the pairs, and which of the steps are improved together with others."""

    letters: tuple[tuple[tuple[int, int], ...], ...]


class _Words:
    """Words with large ratios."""

    def __init__(self, compiled: Compiled, monitor: Monitor) -> None:
        self.compiled, self.monitor = compiled, monitor
        model = compiled.question.model
        assert isinstance(model, Transducer)
        self.model = model
        self.tables = moves(model)
        self.number = {symbol: i for i, symbol in enumerate(model.inputs)}
        relation = compiled.question.scenario.neighbours
        assert relation is not None
        self.kind = relation.kind
        self.near = [(self.number[v], self.number[w]) for v, w in near_inputs(relation, model)]
        self.values = dict(enumerate(model.inputs))
        self.short = ""  # what there is no room for

    def improving(self, bound: Rational) -> Iterator[Word]:
        """Words, each with a larger ratio than those before; the last one may attain the bound."""
        for start in range(0, len(self.compiled.begins), len(self.model.outputs)):
            pair = self.compiled.begins[start].pair
            if not self._matrices(pair):
                return
            best: Word | None = None
            for plan, output in product(self._plans(), range(len(self.model.outputs))):
                for word in self._candidates(plan, output):
                    self.monitor.pause()
                    found = self._exactly(start, pair, word, output)
                    if found.left == 0 or all(x == y for x, y in word):
                        continue
                    if best is None or found.left * best.right > best.left * found.right:
                        best = found
                        yield best
                    if best.left >= bound * best.right:
                        return

    def _plans(self) -> Iterator[_Plan]:
        steps, equal = len(self.tables), tuple((v, v) for v in range(len(self.number)))
        changes = tuple(letter for letter in self.near if letter[0] != letter[1])
        if self.kind == "each":
            yield _Plan((tuple(self.near),) * steps)
        elif self.kind == "one":
            for place in range(steps):
                yield _Plan(tuple(changes if step == place else equal for step in range(steps)))
        else:
            order = {i: float(name) for i, name in self.values.items()}
            for sign in (1, -1):
                one_way = tuple(letter for letter in changes if (order[letter[1]] - order[letter[0]]) * sign > 0)
                yield _Plan(((*equal, *one_way),) * steps)

    def _matrices(self, pair: Pair) -> bool:
        """Dense matrices of all steps and inputs, rounded; whether there is room for them."""
        current = sorted(pair.left)
        self.initial = np.array([float(pair.left[state]) for state in current])
        self.steps: list[NDArray[np.float64]] = []
        reached = [current]
        for table in self.tables:
            reached.append(sorted({t for state in reached[-1] for row in table[state].values() for _, t in row}))
        needed = (
            8 * len(self.number) * sum(len(here) * len(there) for here, there in pairwise(reached))
        )  # bytes of floats
        room = 8 * entries_within(_MOST_ENTRIES, 8)
        if needed > room:
            self.short = (
                f"no word was tried: matrices of {memory_words(needed)} would be needed, more than {memory_words(room)}"
            )
            return False
        for table, onward in zip(self.tables, reached[1:], strict=True):
            column = {state: j for j, state in enumerate(onward)}
            dense = np.zeros((len(self.number), len(current), len(onward)))
            for i, state in enumerate(current):
                for symbol, row in table[state].items():
                    for (_, target), p in row.items():
                        dense[self.number[symbol], i, column[target]] += float(p)
            self.steps.append(dense)
            current = onward
        assert self.model.finish is not None
        finish = self.model.finish
        self.finish = np.array([[float(finish[s].get(o, ZERO)) for o in self.model.outputs] for s in current])
        return True

    def _candidates(self, plan: _Plan, output: int) -> Iterator[list[tuple[int, int]]]:
        """The best words of one pair of inputs throughout, improved."""
        begun = []
        for letter in dict.fromkeys(letter for letters in plan.letters for letter in letters):
            word = [letter if letter in letters else letters[0] for letters in plan.letters]
            begun.append((self._ratio(word, output), word))
        begun.sort(key=lambda each: -each[0])
        for _, word in begun[:_BEST]:
            yield self._improved(plan, word, output)

    def _ratio(self, word: list[tuple[int, int]], output: int) -> float:
        left = right = self.initial
        for dense, (x, y) in zip(self.steps, word, strict=True):
            left, right = left @ dense[x], right @ dense[y]
        p, q = float(left @ self.finish[:, output]), float(right @ self.finish[:, output])
        return p / q if q > 0 else 0.0

    def _improved(self, plan: _Plan, word: list[tuple[int, int]], output: int) -> list[tuple[int, int]]:
        word = list(word)
        for _ in range(_SWEEPS):
            before = list(word)
            columns = [(self.finish[:, output], self.finish[:, output])]
            for dense, (x, y) in zip(reversed(self.steps), reversed(word), strict=True):
                columns.append((dense[x] @ columns[-1][0], dense[y] @ columns[-1][1]))
            left = right = self.initial
            for place, dense in enumerate(self.steps):
                ahead = columns[len(self.steps) - 1 - place]
                ps, qs = (left @ dense) @ ahead[0], (right @ dense) @ ahead[1]
                ratios = [ps[x] / qs[y] if qs[y] > 0 else 0.0 for x, y in plan.letters[place]]
                x, y = word[place] = plan.letters[place][int(np.argmax(ratios))]
                left, right = left @ dense[x], right @ dense[y]
                scale = float(left.sum()) or 1.0
                left, right = left / scale, right / scale
            if word == before:
                break
        return word

    def _exactly(self, start: int, pair: Pair, word: list[tuple[int, int]], output: int) -> Word:
        """Both probabilities of a word, exactly."""
        name = self.model.outputs[output]
        letters = [Letter(None, self.values[x], self.values[y]) for x, y in word]
        sides = [self._probability(pair.left, [self.values[letter[side]] for letter in word], name) for side in (0, 1)]
        return Word(start + output, (*letters, Letter(name)), "any", sides[0], sides[1])

    def _probability(self, initial: Distribution, symbols: list[str], output: str) -> Rational:
        current = dict(initial)
        for table, symbol in zip(self.tables, symbols, strict=True):
            following: dict[str, Rational] = {}
            for state, mass in current.items():
                for (_, target), p in table[state][symbol].items():
                    following[target] = following.get(target, ZERO) + mass * p
            current = following
        assert self.model.finish is not None
        finish = self.model.finish
        return sum((mass * finish[state].get(output, ZERO) for state, mass in current.items()), ZERO)
