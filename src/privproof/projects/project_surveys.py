"""Many questions at once: one mechanism at several sizes, or every mechanism of a project, shared out to workers.

Processes of this machine are this privproof, and what passed the gate there is a verdict.  What others send back (`executor`) is a
report: the gate of this process admits it about the question as it is posed here, or the question is asked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from privproof.asking import check, question_of_subject, question_with_claim, tight_epsilon
from privproof.compiling.posing import Subject
from privproof.engines.search_monitor import Monitor
from privproof.evidence import Verdict
from privproof.exact import Budget, EpsilonLike, Number
from privproof.exact import delta as exact_delta
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Parcel, Workers
from privproof.profiles.size_sweeps import SizeTable, over_sizes
from privproof.projects.mechanism_discovery import find_targets
from privproof.projects.project_errands import check_targets
from privproof.projects.project_results import CheckResult, told_result, wrong_result
from privproof.scenarios import AnyQuestion
from privproof.store.stored_asking import reported_entry, reported_verdict
from privproof.store.stored_verdicts import StoredEntry

_PATIENCE = 600.0
"""Seconds after which the sizes that are left are not asked about, unless more are asked for."""
_EACH = 60.0
"""Seconds that each mechanism of a project may take unless told otherwise, as for the command."""


@dataclass(frozen=True)
class _Sized:
    """What is asked at every size.

    Attributes:
        subject: a mechanism or function, or the name of a file.
        epsilon: the claim; None for the smallest epsilon.
        delta: its delta.
        engine: the engine that is named.
        options: what else the question takes.
    """

    subject: Subject | str
    epsilon: EpsilonLike | None
    delta: Number
    engine: str | None
    options: dict[str, Any]

    def question(self, size: int) -> AnyQuestion:
        """The question at a size; without a claim where the smallest epsilon is asked for."""
        asked = question_of_subject(
            self.subject, size, None, self.options.get("inputs") or {}, self.options.get("neighbours"), self.engine
        )
        return asked.under(None) if self.epsilon is None else question_with_claim(asked, self.epsilon, self.delta)

    def verdict(self, question: AnyQuestion, monitor: Monitor) -> Verdict:
        """The answer to it."""
        if self.epsilon is None:
            return tight_epsilon(question, self.delta, engine=self.engine, monitor=monitor)
        return check(question, engine=self.engine, monitor=monitor)

    def fits(self, verdict: Verdict) -> bool:
        """Whether what is reported about the smallest epsilon is about the delta that is asked for."""
        budget = verdict.question.budget
        return self.epsilon is not None or budget is None or budget == Budget(budget.epsilon, exact_delta(self.delta))


def survey_sizes(
    subject: Subject | str,
    sizes: Sequence[int],
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    *,
    engine: str | None = None,
    time_limit: float | None = _PATIENCE,
    jobs: int = 1,
    executor: Executor | None = None,
    **options: Any,
) -> SizeTable:
    """The verdicts on a mechanism at several sizes; the same for every number of workers.

    Args:
        subject: a mechanism, a function, or the name of a file: ``FILE:NAME``.
        sizes: the lengths of its lists.
        epsilon: the claim; without it the smallest epsilon of every size is asked for.
        delta: the delta of both.
        engine: the name of the engine to use.
        time_limit: seconds for all of them; those that are left are not asked about.
        jobs: how many processes of this machine share the sizes.
        executor: instead of them an executor of `concurrent.futures`, such as that of a dask cluster; what it reports is checked here.
        options: ``inputs`` and ``neighbours``, as for `check`.

    >>> from privproof.library.mechanisms import improved_noisy_max
    >>> table = survey_sizes(improved_noisy_max, [1, 2, 3])
    >>> [str(verdict.tight) for _, verdict in table.rows]
    ['0', 'ln(12/5)', 'ln(24/7)']
    """
    asked, monitor = _Sized(subject, epsilon, delta, engine, options), Monitor.within(time_limit)
    if executor is None:
        return over_sizes(lambda n: asked.verdict(asked.question(n), monitor), sizes, monitor=monitor, jobs=jobs)
    workers = Workers(executor=executor)
    reports = map_chunks(
        workers, partial(_report, workers.parcel(asked, "the mechanism"), time_limit), sizes, stopped=monitor.stopped
    )

    def admitted(size: int) -> Verdict:
        entry, question = next(reports, None), asked.question(size)
        found = None if entry is None else reported_verdict(entry, question, monitor)
        if isinstance(found, Verdict) and asked.fits(found):
            return replace(found, asked_tight=epsilon is None)
        return asked.verdict(question, monitor)

    try:
        return over_sizes(admitted, sizes, monitor=monitor)
    finally:
        reports.close()


def _report(parcel: Parcel[_Sized], seconds: float | None, size: int) -> StoredEntry | None:
    asked = parcel.open()
    question = asked.question(size)
    return reported_entry(asked.verdict(question, Monitor.within(seconds)), question)


def survey_project(
    paths: Iterable[str],
    *,
    options: Sequence[str] = (),
    exclude: Sequence[str] = (),
    time_limit: float = _EACH,
    jobs: int = 1,
    executor: Executor | None = None,
) -> tuple[CheckResult, ...]:
    """What becomes of every mechanism of a project, as ``privproof check`` says it; each is checked in a process of its own.

    Args:
        paths: files, folders, ``FILE:NAME``, packages.
        options: of ``privproof check``, such as ``("--epsilon", "1")``.
        exclude: patterns of what is left out of folders.
        time_limit: seconds for each.
        jobs: how many are checked at once on this machine.
        executor: instead of that an executor of `concurrent.futures` that runs the checks; what it reports is checked here.
    """
    targets = find_targets(paths, exclude=exclude)
    results = {
        each: wrong_result(each, vars(each.problem), f"privproof: {each.problem}\n")
        for each in targets
        if each.problem is not None
    }
    given = (*options, "--time-limit", f"{time_limit:g}")
    with Workers(jobs=1 if executor is not None else jobs, executor=executor) as workers:
        asked = [each for each in targets if each not in results]
        for target, told in check_targets(workers, asked, given, time_limit, lambda: None):
            results[target] = told_result(target, told, 0.0)
    return tuple(results[each] for each in targets)
