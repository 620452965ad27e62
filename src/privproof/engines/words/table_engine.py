"""Mechanisms that read one input and write one output: the table of all probabilities, every neighbouring pair of rows compared.

With V values of the input and O outputs the table has V * O entries, and there are as many comparisons as neighbouring pairs times
outputs: nothing has to be searched for.  This is the common case of a mechanism on one value or on a whole data set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from privproof.compiling import Begin, Compiled, near_inputs, refuse_equal_sides
from privproof.engines.search_monitor import Monitor, Progress
from privproof.engines.words.word_engine import WordEngine, WordRequest
from privproof.engines.words.word_findings import EnumerationProof, Finding, TensorProof
from privproof.exact import INFINITE, ZERO, Budget, Rational, smallest_epsilon
from privproof.models import Distribution, Horizon, Letter, Transducer, Word, WordProblem
from privproof.scenarios import Question, ordered_pairs

Row: TypeAlias = dict[str, Rational]


def one_step(question: Question) -> Compiled | None:
    """The question in the form that this engine takes, or None if it is not of this kind."""
    model, scenario = question.model, question.scenario
    if not isinstance(model, Transducer) or model.finish is None or model.repeats or len(model.steps) != 1:
        return None
    if scenario.neighbours is None or not scenario.words.unrestricted:
        return None
    if question.horizon is not None and question.horizon.high not in (None, 2):
        return None
    branches = (b for row in model.steps[0].values() for listed in row.values() for b in listed)
    pairs = ordered_pairs(question)
    if any(b.output is not None for b in branches) or any(pair.left != pair.right for pair in pairs):
        return None
    refuse_equal_sides(question, model, pairs)
    begins = tuple(Begin(pair, output) for pair in pairs for output in model.outputs)
    return Compiled(question, WordProblem((), (), Horizon.exactly(2)), begins, (), ())


class TableEngine(WordEngine):
    """All rows of the table, compared pair by pair."""

    name = "table"

    def compiled(self, asked: WordRequest) -> Compiled | None:
        """The question as a table; None if it is none."""
        return None if asked.over_events else one_step(asked.question)

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        return None

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """The largest ratio, compared with the budget."""
        finding = self.tight(compiled, budget.delta, monitor, pointwise=budget.pointwise)
        if finding.stopped is not None or finding.lower.compare(budget.epsilon) <= 0:
            return finding
        return Finding(finding.lower, finding.upper, word=finding.word, above=finding.proof)

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """The largest ratio, exactly."""
        best: Rational = ZERO
        found: Word | None = None
        for word in _words(compiled, monitor):
            excess = word.left - delta
            if excess <= 0 or excess <= best * word.right:
                continue
            if word.right == 0:
                return Finding(INFINITE, INFINITE, word=word)
            best, found = excess / word.right, word
        reason = monitor.stopped()
        tight = smallest_epsilon(best, 1)
        if reason is not None:
            return Finding(tight, word=found, stopped=reason)
        relation = compiled.question.scenario.neighbours
        tensors = delta == 0 and relation is not None and relation.kind != "pairs"
        return Finding(tight, tight, word=found, proof=TensorProof() if tensors else EnumerationProof())


def _words(compiled: Compiled, monitor: Monitor) -> Iterator[Word]:
    """Every pair of neighbouring inputs with every output that the left one may show; equal inputs last, for an output at all."""
    question = compiled.question
    model = question.model
    assert isinstance(model, Transducer)
    assert question.scenario.neighbours is not None
    near = near_inputs(question.scenario.neighbours, model)
    numbers = {output: i for i, output in enumerate(model.outputs)}
    for start in range(0, len(compiled.begins), len(model.outputs)):
        pair = compiled.begins[start].pair
        monitor.listen(Progress(f"table, {pair.name}"))
        if monitor.stopped() is not None:
            return
        rows = {symbol: _row(model, pair.left, symbol) for symbol in model.inputs}
        for v, w in sorted(near, key=lambda sides: sides[0] == sides[1]):
            other = rows[w]
            for output, p in rows[v].items():
                letters = (Letter(None, v, w), Letter(output))
                yield Word(start + numbers[output], letters, "any", p, other.get(output, ZERO))


def _row(model: Transducer, initial: Distribution, symbol: str) -> Row:
    """The distribution of the output on one input."""
    assert model.finish is not None
    result: Row = {}
    for state, mass in initial.items():
        for branch in model.steps[0][state][symbol]:
            share = mass * branch.probability
            for output, p in model.finish[branch.target].items():
                result[output] = result.get(output, ZERO) + share * p
    return {output: p for output, p in result.items() if p != 0}
