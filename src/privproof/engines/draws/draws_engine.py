"""Separate draws: the largest ratio of an output is the product of the largest ratios of its parts.

With one pass over the data the bound is exact as soon as data attain it.  With several passes, under the relation in which one entry
changes from x to y, the bound is the largest product, over all changes, of what each pass may lose by that change: the passes
share the change, and not what comes before and after it.  Data that attain it show that it is exact; otherwise the tight epsilon lies
between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from privproof.engines.draws.draws_certificates import outcome_evidence, product_evidence
from privproof.engines.draws.draws_laws import DrawsLaws, Incomparable
from privproof.engines.draws.draws_neighbours import Letter, PairProduct, Relation, TooManyNeighbours
from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.evidence.engine_answers import Answer
from privproof.evidence.witnesses import DrawsWitness, ObservedParts, Witness
from privproof.exact import INFINITE, ONE, Budget, Rational, epsilon, fraction, rational, show, smallest_epsilon
from privproof.language.running import outputs
from privproof.language.values import shared_value, text
from privproof.models.draws_model import Draws
from privproof.scenarios import DrawsQuestion

_RUNS = 300
"""Runs of the function on one data set, the likeliest random choices first; the mass of those that were not made is told."""
_TRIED = 400
"""Data on which a bound of several passes is tried to be attained."""


class DrawsEngine:
    """The losses of all parts, added up."""

    name = "draws"

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        if request.word is not None:
            return "one word is asked about"
        budget = request.budget
        return "separate draws do not take a delta" if budget is not None and budget.delta != 0 else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """The bound with data that attain it."""
        question = request.question
        assert isinstance(question, DrawsQuestion)
        budget = request.budget
        assert budget is not None
        search = _DrawsSearch(question, monitor)
        try:
            search.run()
        except Stopped:
            search.stopped = monitor.stopped() or "stopped"
        except TooManyNeighbours as problem:
            search.stopped = f"two runs reach too many pairs of states: {problem}"
        except Incomparable as problem:
            search.stopped = f"the largest ratio of {problem} noise beside other noise is not found"
        yield from _DrawsJudging(question, search, budget, request.tight).answers()


class _DrawsSearch:
    """The bound, and the best data found.

    Attributes:
        upper: the largest ratio that is possible; None where it is infinite, or not known because the search was stopped.
        best: both data sets, what is drawn, and both probabilities.
        stopped: why the search was given up.
    """

    def __init__(self, question: DrawsQuestion, monitor: Monitor) -> None:
        self.question, self.monitor = question, monitor
        self.model: Draws = question.model
        self.laws = DrawsLaws(self.model.laws)
        declared = question.mechanism.inputs[question.input]
        within = None if declared.within is None else rational(declared.within)
        self.relation = Relation.of(question.relation, self.model.values, within)
        self.upper: Rational | None = None
        self.best: tuple[tuple[int, ...], tuple[int, ...], list[Any], Rational, Rational] | None = None
        self.stopped: str | None = None

    def run(self) -> None:
        self.monitor.listen(Progress("separate draws"))
        if self.model.size == 1:
            self._one_entry()
        elif len(self.model.passes) == 1:
            product = PairProduct(self.model, self.model.passes[0], self.relation, self.laws, self.monitor)
            found = product.largest()
            self.upper = found.ratio
            if found.data is not None:
                self._try(*found.data)
        else:
            self._several()
        if self.best is None:  # nothing is lost, on any data
            (x, y), rest = self.relation.near[0], (0,) * (self.model.size - 1)
            self._try((x, *rest), (y, *rest))

    def _one_entry(self) -> None:
        """Every pair of values."""
        best: Rational | None = None
        for number, (x, y) in enumerate(self.relation.near):
            if number % 1000 == 0:
                self.monitor.pause()
            ratio = self.laws.ratio(self.model.drawn((x,)), self.model.drawn((y,)))
            if best is None or ratio is None or ratio > best:
                best = ratio
                self._try((x,), (y,))
            if ratio is None:
                break
        self.upper = best

    def _try(self, left: tuple[int, ...], right: tuple[int, ...]) -> None:
        """Take two different data sets, if they are better than the best so far."""
        if left == right:
            return
        one, other = self.model.drawn(left), self.model.drawn(right)
        outcomes = [self.laws.outcome(i, j) for i, j in zip(one, other, strict=True)]
        p, q = ONE, ONE
        for i, j, outcome in zip(one, other, outcomes, strict=True):
            p, q = p * self.laws.probability(i, outcome), q * self.laws.probability(j, outcome)
        if self.best is not None:
            _, _, _, a, b = self.best
            if b == 0 or (q != 0 and p * b <= a * q):
                return
        self.best = (left, right, outcomes, p, q)
        self.monitor.listen(Progress("separate draws", established=smallest_epsilon(p, q)))

    def _several(self) -> None:
        if self.relation.kind != "one":
            found = [
                PairProduct(self.model, made, self.relation, self.laws, self.monitor).largest()
                for made in self.model.passes
            ]
            for each in found:
                if each.data is not None:
                    self._try(*each.data)
            self.upper = _product(each.ratio for each in found)
            return
        losses = [self._by_change(number) for number in range(len(self.model.passes))]
        best: Rational | None = ONE
        changes: list[Letter] = []
        for change in self.relation.near:
            bound = _product(each[change] for each in losses)
            if bound == best:
                changes.append(change)
            elif best is not None and (bound is None or bound > best):
                best, changes = bound, [change]
        self.upper = best
        for left, right in islice(self._candidates(changes), _TRIED):
            self.monitor.pause()
            self._try(left, right)
            assert self.best is not None
            if self.best[4] == 0 or (best is not None and self.best[3] >= best * self.best[4]):
                return

    def _by_change(self, number: int) -> dict[Letter, Rational | None]:
        """What one pass may lose at most by each change."""
        made = self.model.passes[number]
        known: dict[Any, Rational | None] = {}
        result: dict[Letter, Rational | None] = {}
        classes = PairProduct(self.model, made, self.relation, self.laws, self.monitor, ()).classes
        for x, y in self.relation.near:
            name = (classes[x], classes[y])
            if name not in known:
                product = PairProduct(self.model, made, self.relation, self.laws, self.monitor, ((x, y),))
                known[name] = ONE if classes[x] == classes[y] else product.largest().ratio
            result[x, y] = known[name]
        return result

    def _candidates(self, changes: list[Letter]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Data with one change: the rest all of one value, or of two in several proportions."""
        rest, values = self.model.size - 1, range(len(self.model.values))
        for x, y in changes:
            for z in values:
                yield (x, *(z,) * rest), (y, *(z,) * rest)
        shares = dict.fromkeys(min(k, rest) for k in (rest // 2, 1, 2, 5, 10, rest // 4, 3 * rest // 4))
        for x, y in changes:
            for z in values:
                for w in values:
                    for k in shares if z != w else ():
                        filled = (*(z,) * k, *(w,) * (rest - k))
                        yield (x, *filled), (y, *filled)


@dataclass(frozen=True)
class _DrawsJudging:
    """What a search says."""

    question: DrawsQuestion
    search: _DrawsSearch
    budget: Budget
    tight: bool

    def answers(self) -> Iterator[Answer]:
        search = self.search
        witness = None if search.best is None else self._witness()
        lower = epsilon(0) if witness is None else smallest_epsilon(search.best[3], search.best[4])  # type: ignore[index]
        unbounded = search.upper is None or search.stopped is not None
        upper = INFINITE if unbounded else smallest_epsilon(search.upper, 1)  # type: ignore[arg-type]
        known = Answer(
            status="unknown",
            question=self.question.under(None if self.tight else self.budget),
            engine=DrawsEngine.name,
            lower=lower,
            upper=upper,
            witness=witness,
            notes=self._notes(),
            reason=search.stopped or "the bound of several passes is not attained by the data tried",
        )
        shown = {} if search.best is None else {"witness": outcome_evidence(*search.best[:3])}
        refuted = lower.infinite if self.tight else lower.compare(self.budget.epsilon) > 0
        if refuted and search.best is not None:
            asked = self.question.under(self.budget)
            above = (
                {} if unbounded or self.tight else {"above": {"epsilon": str(upper), "evidence": product_evidence()}}
            )
            yield from self._run_again(
                replace(
                    known, status="refuted", question=asked, evidence=outcome_evidence(*search.best[:3]), more=above
                )
            )
        elif not unbounded and (self.tight or upper.compare(self.budget.epsilon) <= 0):
            asked_for = replace(self.budget, epsilon=upper) if self.tight else self.budget
            sharper = {} if upper.compare(asked_for.epsilon) >= 0 else {"bounds": {"upper": str(upper)}}
            yield from self._run_again(
                replace(
                    known,
                    status="proved",
                    question=self.question.under(asked_for),
                    evidence=product_evidence(),
                    more={**shown, **sharper},
                )
            )
        else:
            yield known

    def _witness(self) -> DrawsWitness:
        assert self.search.best is not None
        left, right, outcomes, p, q = self.search.best
        output = self.question.model.output(outcomes)
        sides = (self.question.data(left), self.question.data(right))
        return Witness(*sides, ObservedParts(text(shared_value(output)), output), fraction(p), fraction(q))

    def _notes(self) -> tuple[str, ...]:
        model = self.question.model
        parts = len(model.drawn((0,) * model.size)) if self.search.best is None else len(self.search.best[2])
        states = sum(len(each.moves) for each in model.passes)
        passes = f"{len(model.passes)} passes" if len(model.passes) > 1 else "one pass"
        told = f"{parts} part{'s' if parts > 1 else ''} drawn independently; {passes} over the data, {states} states"
        return (told,)

    def _run_again(self, answer: Answer) -> Iterator[Answer]:
        """The answer if running the function itself agrees with the model on some data, otherwise unknown."""
        least = Fraction(1)
        tried = list(self._data())
        for data in tried:
            arguments = self.question.data(data)
            runs = outputs(self.question.mechanism, arguments, most=_RUNS)
            least = min(least, 1 - runs.left_over)
            told = self._disagreement(data, runs.runs, runs.left_over)
            if told is not None:
                yield Answer(
                    status="unknown",
                    question=answer.question,
                    engine=answer.engine,
                    notes=answer.notes,
                    reason=f"on {_shorten_arguments(arguments)} {told}",
                )
                return
        share = "" if least == 1 else f" (at least {int(least * 1000) / 10} % of all random choices)"
        said = f"running the function itself on {len(tried)} data sets{share} agrees with the model"
        yield replace(answer, notes=(*answer.notes, said))

    def _data(self) -> Iterator[tuple[int, ...]]:
        """Both data sets of the witness, and one in which the values take turns."""
        found = {} if self.search.best is None else dict.fromkeys(self.search.best[:2])
        size, values = self.question.model.size, len(self.question.model.values)
        yield from dict.fromkeys((*found, tuple((size - place) % values for place in range(size))))

    def _disagreement(self, data: tuple[int, ...], runs: Any, left_over: Fraction) -> str | None:
        """How the probabilities of outputs differ from those of the model; None if they do not."""
        model, laws = self.question.model, self.search.laws
        drawn = model.drawn(data)
        seen: dict[str, tuple[Any, Fraction]] = {}
        for ran, p in runs:
            name = repr(ran.value)
            seen[name] = (ran.value, p + (seen[name][1] if name in seen else 0))
        for name, (value, found) in seen.items():
            parts = _parts(model, value, len(drawn))
            if parts is None:
                return f"the function gives {name[:60]}, the model does not"
            mass = ONE
            for law, part in zip(drawn, parts, strict=True):
                mass *= laws.probability(law, part)
            if not found <= fraction(mass) <= found + left_over:
                return f"the model gives {show(mass)} for {name[:60]}, running the function {show(found)}"
        return None


def _product(ratios: Iterable[Rational | None]) -> Rational | None:
    """The product of largest ratios; None where one is infinite."""
    found = ONE
    for ratio in ratios:
        if ratio is None:
            return None
        found *= ratio
    return found


def _parts(model: Draws, value: Any, count: int) -> list[Any] | None:
    """The parts of an output, pass by pass; None where the model has no such output."""
    before = count - len(model.order)
    written: list[Any] = []
    last: list[Any] = []

    def read(shape: Any, inner: Any) -> bool:
        if shape == "part":
            last.append(inner)
            return True
        kind, inside = shape
        if type(inner) is not (list if kind == "list" else tuple):
            return False
        items = list(inner)
        for each in inside:
            if each == "written":
                written.extend(items[:before])
                del items[:before]
            elif not items or not read(each, items.pop(0)):
                return False
        return not items

    if not read(model.shape, value) or len(written) != before or len(last) != len(model.order):
        return None
    drawn = [*written, *last]
    for place, number in enumerate(model.order):
        drawn[before + number] = last[place]
    return drawn


def _shorten_arguments(arguments: Any) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return shown if len(shown) <= 80 else shown[:77] + "..."
