"""Timings side by side: privproof's engines and the SMT encoding of the FAIER paper, in one run on one machine.

    python benchmarks/run.py [--limit SECONDS] [--tiny] [--json OUT]

Where nothing else is said, the engines of privproof are timed from the question to the verdict: compiling, searching,
and the independent checker on the certificate.  "Search" is the search alone, on the compiled problem.  The SMT
baseline is timed on the same lumped word problem, from the query to Z3's answer, for one ordered pair of situations and
one bound; compiling is not counted and nothing is checked afterwards.  Seconds depend on the machine.
Ratios between columns do less, but where a timing is a few milliseconds they have varied threefold from run to run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from families import random_model

from privproof import Budget, log, tight_epsilon
from privproof.compiling import word_problem
from privproof.engines import Monitor
from privproof.engines.words.bounded_engines import FrontierEngine
from privproof.engines.words.smt_search import SmtUnknown, violating_word
from privproof.exact import Rational, rational
from privproof.library import above_threshold, above_threshold_two_copies, noisy_max_hmm, noisy_max_question
from privproof.models import HiddenMarkovModel, Horizon, WordProblem
from privproof.scenarios import Pair, Question, Scenario

_NOISY_MAX_COLUMNS = (
    "n",
    "pairs",
    "ratio",
    "tensors, all",
    "frontier, all",
    "SMT lin, 1 pair",
    "SMT lin, all*",
    "SMT literal, 1 pair",
    "SMT literal, all*",
    "lin*/tensors",
    "lin*/frontier",
    "literal*/tensors",
)
_ABOVE_THRESHOLD_COLUMNS = (
    "k",
    "tight ratio",
    "frontier tight, 42 pairs",
    "search, 1 pair",
    "SMT lin, 1 pair",
    "SMT literal, 1 pair",
    "answer at k",
    "lin/search",
    "literal/search",
)
_RANDOM_COLUMNS = (
    "states",
    "observations",
    "k",
    "frontier tight, both directions",
    "SMT lin, proof",
    "SMT lin, refutation",
    "proof/frontier",
    "refutation/frontier",
)

_BOUNDED_EFFORT = 3_000_000
_FAST = 1.0
_EFFORT = 2**32 - 1
"""The solver's own limit is out of the way; the limit in seconds counts."""


@dataclass(frozen=True)
class Members:
    """Which members of every family are timed.

    Attributes:
        queries: numbers of queries of noisy max.
        longest: the longest words of above threshold.
        models: states, observations and length of words of random models.
        tensors: numbers of queries that tensors alone are timed on.
        horizons: lengths of words; the unbounded horizon comes last.
        dense: states and observations of the two random models with those horizons.
        states: numbers of states of sparse models.
        letters: numbers of their letters.
    """

    queries: Sequence[int]
    longest: int
    models: Sequence[tuple[int, int, int]]
    tensors: Sequence[int]
    horizons: Sequence[int]
    dense: tuple[tuple[int, int], tuple[int, int]]
    states: Sequence[int]
    letters: Sequence[int]


WHOLE = Members(
    queries=(3, 4, 5),
    longest=11,
    models=((3, 2, 4), (3, 2, 6), (3, 3, 5), (5, 3, 4), (5, 3, 5), (8, 3, 4)),
    tensors=range(6, 12),
    horizons=(3, 11, 30, 100),
    dense=((5, 3), (20, 6)),
    states=(10, 100, 1_000, 10_000),
    letters=(2, 5, 10, 20, 50, 100),
)
TINY = Members((2,), 3, ((2, 2, 2),), (2,), (2, 3), ((2, 2), (3, 2)), (4,), (2,))


@dataclass(frozen=True)
class Timing:
    """How long something took; beyond the limit only that is known."""

    seconds: float
    finished: bool = True
    estimated: bool = False

    def __str__(self) -> str:
        return f"{'' if self.finished else '> '}{'~ ' if self.estimated else ''}{_seconds(self.seconds)}"

    def times(self, count: int) -> Timing:
        """The time for so many like it: an extrapolation."""
        return Timing(self.seconds * count, self.finished, estimated=True)


@dataclass
class Table:
    """A family: what it is, its columns, its rows, and what a reader must know."""

    title: str
    columns: Sequence[str]
    notes: Sequence[str] = ()
    rows: list[list[Any]] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """Another row; told at once, so that a long run is seen to go on."""
        self.rows.append(list(cells))
        print(".", end="", file=sys.stderr, flush=True)

    def show(self) -> None:
        """Print the table."""
        texts = [list(map(_text, row)) for row in (self.columns, *self.rows)]
        widths = [max(len(row[i]) for row in texts) for i in range(len(self.columns))]
        print(f"\n{self.title}\n")
        for number, row in enumerate(texts):
            print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
            if number == 0:
                print("  " + "  ".join("-" * width for width in widths))
        for note in self.notes:
            print(f"  {note}")

    def data(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [[_plain(cell) for cell in row] for row in self.rows],
            "notes": list(self.notes),
        }


def _seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.3g} ms"
    if value < 1000:
        return f"{value:.3g} s"
    return f"{value / 3600:.3g} h" if value < 100 * 3600 else f"{value / 86400:.3g} d"


def _text(cell: Any) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, Speedup):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _plain(cell: Any) -> Any:
    if isinstance(cell, Timing):
        return {"seconds": round(cell.seconds, 6), "finished": cell.finished, "extrapolated": cell.estimated}
    if isinstance(cell, Speedup):
        return {"times": float(f"{cell.times:.3g}"), "at_least": cell.at_least}
    return cell if cell is None or isinstance(cell, int | float | str) else str(cell)


@dataclass(frozen=True)
class Speedup:
    """How many times longer the baseline takes."""

    times: float
    at_least: bool = False

    @classmethod
    def of(cls, baseline: Timing | None, ours: Timing) -> Speedup | None:
        """From two timings; None where the baseline was not run."""
        return None if baseline is None else cls(baseline.seconds / ours.seconds, not baseline.finished)

    def __str__(self) -> str:
        return f"{'> ' if self.at_least else ''}{float(f'{self.times:.2g}'):,.6g}x"


# ------------------------------------------------------------------------------------------------------- measuring


def timed(work: Callable[[], Any]) -> tuple[Timing, Any]:
    """The best of three runs, of one where it is slow."""
    best, result = float("inf"), None
    for _ in range(3):
        begun = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begun)
        if best > _FAST:
            break
    return Timing(best), result


def _child(connection: Connection, work: Callable[[], Any]) -> None:
    connection.send(timed(work))


def limited(work: Callable[[], str], limit: float) -> tuple[Timing, str | None]:
    """The same in a process of its own that is ended at the limit."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_child, args=(there, work))
    process.start()
    try:
        if here.poll(limit):
            timing, answer = here.recv()
            return timing, answer
        return Timing(limit, finished=False), None
    finally:
        process.kill()
        process.join()


def baseline(
    problem: WordProblem, bound: Rational, *, length: int, literal: bool, limit: float
) -> tuple[Timing, str | None]:
    """Z3 on one length and the first start of a problem."""
    single = replace(problem, starts=problem.starts[:1])

    def work() -> str:
        found = violating_word(single, bound, length=length, literal=literal, effort=_EFFORT)
        return "unknown" if isinstance(found, SmtUnknown) else "unsat" if found is None else "sat"

    return limited(work, limit)


def tight(question: Question, engine: str | None = None) -> tuple[Timing, Rational]:
    """The tight epsilon, established and checked."""
    timing, verdict = timed(lambda: tight_epsilon(question, engine=engine))
    assert verdict.status == "proved"
    return timing, rational(verdict.tight.bound)


def one_pair(question: Question, left: str, right: str) -> Question:
    """The question about two states alone."""
    pair = Pair.of(question.model, f"{left} ~ {right}", {left: 1}, {right: 1})
    return replace(question, scenario=Scenario(pairs=(pair,), words=question.scenario.words))


# --------------------------------------------------------------------------------------------------------- families


def noisy_max(limit: float, queries: Sequence[int]) -> Table:
    """All neighbours at once, against one pair at a time."""
    table = Table(
        "Improved noisy max over n queries, every query may change: the exact tight epsilon",
        _NOISY_MAX_COLUMNS,
        [
            "* EXTRAPOLATED: the time for one ordered pair times the number of ordered pairs, 7^n - 3^n; not run.",
            "SMT: the model of Fig. 2, the pair that attains the tight ratio, bound just there (unsat).",
        ],
    )
    for n in queries:
        question = noisy_max_question(n, improved=True)
        all_tensors, ratio = tight(question, "tensors")
        all_frontier, again = tight(question, "frontier")
        assert ratio == again
        hidden = one_pair(noisy_max_hmm(n, improved=True), "1" * n, "0" + "2" * (n - 1))
        problem = word_problem(hidden).problem
        pairs = 7**n - 3**n
        lin, _ = baseline(problem, ratio, length=2, literal=False, limit=limit)
        literal, _ = baseline(problem, ratio, length=2, literal=True, limit=limit)
        every, every_literal = lin.times(pairs), literal.times(pairs)
        table.add(
            n,
            pairs,
            ratio,
            all_tensors,
            all_frontier,
            lin,
            every,
            literal,
            every_literal,
            Speedup.of(every, all_tensors),
            Speedup.of(every, all_frontier),
            Speedup.of(every_literal, all_tensors),
        )
    return table


def above_threshold_growth(limit: float, longest: int) -> Table:
    """The two-copy model of Fig. 3 by the length of words."""
    table = Table(
        "Above threshold as the two-copy model of Fig. 3, words up to length k, bound 16 (4 ln 2)",
        _ABOVE_THRESHOLD_COLUMNS,
        [
            "1 pair: threshold 2, answers 0 and 1, the pair of the paper's Table 2, in one direction.",
            "SMT: the sum over the lengths 1 to k, one query each, as the paper runs it.",
            f"> means stopped at {limit:g} s for one query; - means not run because a shorter length was stopped.",
        ],
    )
    spent: dict[bool, Timing | None] = {False: Timing(0.0), True: Timing(0.0)}
    for k in range(1, longest + 1):
        question = above_threshold_two_copies(horizon=Horizon.up_to(k))
        compiled = word_problem(question.only("threshold 2, answers 0 and 1"))
        compiled = replace(compiled, problem=replace(compiled.problem, starts=compiled.problem.starts[:1]))
        compiled = replace(compiled, begins=compiled.begins[:1])
        said = None
        for literal in (False, True):
            before = spent[literal]
            if before is not None and before.finished:
                more, answer = baseline(compiled.problem, rational(16), length=k, literal=literal, limit=limit)
                spent[literal] = Timing(before.seconds + more.seconds, more.finished)
                said = said or answer
            else:
                spent[literal] = None
        if k < 3:
            continue
        whole, ratio = tight(question)
        search, finding = timed(lambda compiled=compiled: FrontierEngine().check(compiled, Budget(log(16)), Monitor()))
        assert said is None or (said == "unsat") == (finding.proof is not None)
        lin, literal_time = spent[False], spent[True]
        table.add(
            k,
            ratio,
            whole,
            search,
            lin,
            literal_time,
            said,
            Speedup.of(lin, search),
            Speedup.of(literal_time, search),
        )
    return table


def random_models(limit: float, shapes: Sequence[tuple[int, int, int]]) -> Table:
    """Dense random models, where nothing can be lumped."""
    table = Table(
        "Random dense hidden Markov models, words of length k",
        _RANDOM_COLUMNS,
        ["proof: the bound is the tight ratio (unsat); refutation: 999/1000 of it (sat); one direction."],
    )
    for states, symbols, k in shapes:
        question = replace(random_model(states, symbols, seed=7), horizon=Horizon.exactly(k))
        ours, ratio = tight(question)
        problem = word_problem(question).problem
        proof, said = baseline(problem, ratio, length=k, literal=False, limit=limit)
        assert said in (None, "unsat")
        refutation, _ = baseline(problem, ratio * rational("999/1000"), length=k, literal=False, limit=limit)
        table.add(states, symbols, k, ours, proof, refutation, Speedup.of(proof, ours), Speedup.of(refutation, ours))
    return table


def tensor_growth(queries: Sequence[int]) -> Table:
    """Many queries."""
    table = Table(
        "Tensors: noisy max over n queries, all neighbours",
        ["n", "ordered pairs", "naive", "improved", "improved, ns a pair", "checker"],
        ["checker: whether the certificate was checked within the time, or is left to privproof recheck."],
    )
    for n in queries:
        naive, _ = tight(noisy_max_question(n, improved=False), "tensors")
        question = noisy_max_question(n, improved=True)
        improved, verdict = timed(lambda question=question: tight_epsilon(question, engine="tensors"))
        left = any("recheck" in note for note in verdict.notes)
        pairs = 7**n - 3**n
        table.add(n, pairs, naive, improved, f"{improved.seconds / pairs * 1e9:.3g}", "later" if left else "included")
    return table


def sparse_model(states: int, symbols: int, *, seed: int, horizon: Horizon) -> Question:
    """A hidden Markov model where every state has four successors, two of them the same for all."""
    source = random.Random(seed)
    places, shown = [f"s{i}" for i in range(states)], [f"o{i}" for i in range(symbols)]

    def row(names: Sequence[str]) -> dict[str, Fraction]:
        weights = [source.randint(1, 9) for _ in names]
        return {name: Fraction(w, sum(weights)) for name, w in zip(names, weights, strict=True)}

    onward = {s: row(list(dict.fromkeys([*places[:2], *source.sample(places, 2)]))) for s in places}
    shows = {s: row(shown) for s in places}
    model = HiddenMarkovModel(states=places, observations=shown, transitions=onward, emissions=shows)
    pair = Pair.of(model, "pair", row(places[:3]), row(places[1:4]))
    return Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=horizon, name=f"{states} states")


def solved(question: Question, bound: Rational) -> Timing | None:
    """Z3 on every length of the horizon, one start, with a limit on its effort; None where it gives up."""
    problem = word_problem(question).problem
    single = replace(problem, starts=problem.starts[:1])
    begun = time.perf_counter()
    found = violating_word(single, bound, effort=_BOUNDED_EFFORT)
    return None if isinstance(found, SmtUnknown) else Timing(time.perf_counter() - begun)


def growth(title: str, column: str, questions: Sequence[tuple[Any, Question]], notes: Sequence[str] = ()) -> Table:
    """One family, each member in comparison with the first, and with the SMT encoding as long as that answers."""
    table = Table(
        title,
        [column, "ratio", "checked verdict", "times the first", "SMT lin, 1 pair", "SMT/ours"],
        [
            *notes,
            f"SMT: the tight ratio as the bound (unsat); - means beyond {_BOUNDED_EFFORT:,} resource units, or not tried.",
        ],
    )
    first: Timing | None = None
    answers = True
    for value, question in questions:
        ours, verdict = timed(lambda question=question: tight_epsilon(question))
        first = first or ours
        upper = verdict.upper.bound
        shown = "none" if verdict.lower.infinite else "unknown" if upper is None else f"{float(upper):.6g}"
        theirs = None
        if answers and upper is not None and question.horizon is not None and question.horizon.high is not None:
            theirs = solved(question, rational(upper))
            answers = theirs is not None
        table.add(value, shown, ours, f"{ours.seconds / first.seconds:.2g}x", theirs, Speedup.of(theirs, ours))
    return table


def horizons(longest: Sequence[int], dense: Sequence[tuple[int, int]]) -> list[Table]:
    """Long words, and words of every length."""
    lengths = [Horizon.up_to(k) for k in longest] + [Horizon.unbounded()]
    small, large = (random_model(*shape, seed=seed) for shape, seed in zip(dense, (11, 1), strict=True))
    return [
        growth(title, "horizon", [(str(h), replace(question, horizon=h)) for h in chosen])
        for title, question, chosen in (
            ("Growth with the horizon: above threshold, all answers within 1", above_threshold(), lengths),
            (f"Growth with the horizon: random dense, {small.name}", small, lengths),
            (
                f"Growth with the horizon: random dense, {large.name}",
                large,
                [lengths[0], lengths[1], lengths[-1]],
            ),
        )
    ]


def sizes(states_of: Sequence[int], letters_of: Sequence[int]) -> list[Table]:
    """Many states, many letters."""
    bounded = Horizon.up_to(3)
    states = [(n, sparse_model(n, 4, seed=5, horizon=bounded)) for n in states_of]
    letters = [(m, sparse_model(20, m, seed=5, horizon=Horizon.up_to(2))) for m in letters_of]
    return [
        growth("Growth with the states: sparse random, 4 observations, words up to length 3", "states", states),
        growth("Growth with the letters: sparse random, 20 states, words up to length 2", "letters", letters),
    ]


def main() -> None:
    """Run every family and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=8.0, help="seconds for one SMT query")
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the tables as JSON too")
    given = parser.parse_args()
    some = TINY if given.tiny else WHOLE
    begun = time.perf_counter()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {given.limit:g} s for one SMT query")
    tables = []
    for family in (
        lambda: noisy_max(given.limit, some.queries),
        lambda: above_threshold_growth(given.limit, some.longest),
        lambda: random_models(given.limit, some.models),
        lambda: tensor_growth(some.tensors),
        lambda: horizons(some.horizons, some.dense),
        lambda: sizes(some.states, some.letters),
    ):
        result = family()
        print(file=sys.stderr)
        for table in result if isinstance(result, list) else [result]:
            table.show()
            tables.append(table)
    seconds = time.perf_counter() - begun
    print(f"\nall in {seconds:.0f} s")
    if given.json is not None:
        found = {
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "limit": given.limit,
            "seconds": round(seconds, 1),
            "tables": [table.data() for table in tables],
        }
        given.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
