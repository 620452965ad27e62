"""Checking a whole project: every mechanism in a worker of its own, some of them at once.

A worker that fails, loops or is killed costs its own mechanism's verdict and no other.  The verdicts that are known when the command is
interrupted are said; what was not asked about yet is listed as unknown, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from privproof.cli.command_answers import (
    CommandAnswer,
    console,
    current_answer,
    end,
    json_line,
    rendered_text,
    say,
    write,
)
from privproof.cli.command_worker import WHY, is_interrupted, on_interrupt, report_activity
from privproof.cli.worker_processes import start_worker
from privproof.cli.worker_supervision import INTERRUPTED, Supervision
from privproof.execution.workers import Workers, cluster, limit_processors, processors
from privproof.projects.mechanism_discovery import Target
from privproof.projects.project_errands import check_targets
from privproof.projects.project_results import (
    STATUS,
    CheckOutput,
    CheckResult,
    overall,
    told_result,
    unasked_result,
    wrong_result,
)
from privproof.reporting.junit_files import junit
from privproof.reporting.project_texts import print_results, results_data, results_page
from privproof.reporting.sarif_files import sarif
from privproof.version import __version__

PATIENCE = 60.0
"""Seconds that each mechanism of a project may take unless told otherwise: a check that others wait for should end."""
_STEP = 0.02
"""Seconds of waiting for one worker before the others are looked at."""
_LAST_WORDS = 0.4
"""Seconds that workers have to stop in after an interrupt: half of what the supervisor gives to all of the command."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a project.

    Attributes:
        options: the options of each single check.
        jobs: how many are made at once.
        fail_on: the mildest verdict that is a failure.
        as_json: whether to print one list of objects.
        verbosity: -1 for less, 1 for more.
        junit: where to write JUnit XML.
        sarif: where to write SARIF.
        report: where to write a page.
        cluster: the address of a cluster that makes them, instead of processes of this machine.
        seconds: the time limit of each.
    """

    options: tuple[str, ...]
    jobs: int
    fail_on: str
    as_json: bool = False
    verbosity: int = 0
    junit: Path | None = None
    sarif: Path | None = None
    report: Path | None = None
    cluster: str | None = None
    seconds: float = PATIENCE


def check_project(targets: Sequence[Target], wanted: Wanted) -> NoReturn:
    """Check every target and end with all verdicts."""
    results: dict[Target, CheckResult] = {}
    _tell_so_far(targets, results, wanted)
    for target in targets:
        if target.problem is not None:
            results[target] = wrong_result(target, vars(target.problem), f"privproof: {target.problem}\n")
    run = _run if wanted.cluster is None else _run_elsewhere
    run([target for target in targets if target.problem is None], targets, wanted, results)
    answered = _in_order(targets, results, "interrupted")
    if wanted.junit is not None:
        write(wanted.junit, junit(answered, fail_on=wanted.fail_on))
    if wanted.sarif is not None:
        write(wanted.sarif, sarif(answered, __version__))
    if wanted.report is not None:
        write(wanted.report, results_page(answered))
    if wanted.as_json:
        say(json_line(results_data(answered), current_answer().encoding), end="")
    else:
        _print(console(), answered, wanted, "")
    end(overall(answered, wanted.fail_on))


def _print(where: Any, results: Sequence[CheckResult], wanted: Wanted, reason: str) -> None:
    print_results(where, results, more=wanted.verbosity > 0, less=wanted.verbosity < 0, reason=reason)


def _in_order(targets: Sequence[Target], results: Mapping[Target, CheckResult], why: str) -> list[CheckResult]:
    """A result for every target; for those that nothing is known about, why not."""
    return [results.get(target) or unasked_result(target, why) for target in targets]


def _tell_so_far(targets: Sequence[Target], results: Mapping[Target, CheckResult], wanted: Wanted) -> None:
    """If the command is stopped now, this is what is established."""
    so_far = _in_order(targets, results, "stopped before")
    status = overall(so_far, wanted.fail_on)
    if wanted.as_json:
        listed = [{**each, **({"reason": WHY} if each.get("reason") else {})} for each in results_data(so_far)]
        out = json_line(listed, current_answer().encoding)
    else:
        out = rendered_text(lambda where: _print(where, so_far, wanted, WHY))
    silent = {"silent": True} if wanted.as_json else {}
    on_interrupt(lambda _: {"out": out, "status": status or STATUS["unknown"], "err": "", **silent})


def _run_elsewhere(
    asked: Sequence[Target], targets: Sequence[Target], wanted: Wanted, results: dict[Target, CheckResult]
) -> None:
    """Fill in the results, as they come from a cluster, each after the gate has admitted it in a process of this machine."""
    begun = time.monotonic()
    report_activity(f"{len(asked)} mechanisms on {wanted.cluster}")

    def stopped() -> str | None:
        return "interrupted" if is_interrupted() else None

    with cluster(wanted.cluster) as executor:
        for target, told in check_targets(Workers(executor=executor), asked, wanted.options, wanted.seconds, stopped):
            results[target] = told_result(target, told, time.monotonic() - begun)
            report_activity(_progress(len(results), len(targets), ()))
            _tell_so_far(targets, results, wanted)


def _run(
    asked: Sequence[Target], targets: Sequence[Target], wanted: Wanted, results: dict[Target, CheckResult]
) -> None:
    """Fill in the results, as they come."""
    from privproof.cli.application import application

    waiting = list(asked)
    limit_processors(processors() // max(1, min(wanted.jobs, len(waiting))))  # for the workers, which are copies
    running: dict[Target, tuple[Supervision, float]] = {}
    stopping, told = False, ""
    while running or (waiting and not stopping):
        while waiting and not stopping and len(running) < wanted.jobs:
            target, begun = waiting.pop(0), time.monotonic()
            arguments = ["check", *wanted.options, "--part", "--", target.text]
            running[target] = Supervision(start_worker(partial(application, "check"), begun, arguments), begun), begun
        now = _progress(len(results), len(targets), list(running))
        if now != told:
            report_activity(now)
            told = now
        for target, (supervision, begun) in list(running.items()):
            answer = supervision.step(_STEP)
            if answer is not None:
                supervision.part()
                del running[target]
                results[target] = _result(target, answer, time.monotonic() - begun)
                _tell_so_far(targets, results, wanted)
        if is_interrupted() and not stopping:
            stopping = True
            for supervision, _ in running.values():
                supervision.interrupt(_LAST_WORDS)


def _progress(done: int, all_: int, running: Sequence[Target]) -> str:
    return f"{done} of {all_}: {', '.join(target.text for target in running)}"


def _result(target: Target, answer: CommandAnswer | int, seconds: float) -> CheckResult:
    """The result that the answer of a process of this machine is."""
    if isinstance(answer, int):
        return unasked_result(target, "interrupted" if answer == INTERRUPTED else "no answer")
    return told_result(target, CheckOutput(answer.status, answer.out, answer.err, answer.error), seconds)
