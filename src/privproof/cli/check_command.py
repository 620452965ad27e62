"""The commands that ask: ``check``, ``epsilon``, ``profile``, ``recheck``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from privproof.asking import ask as ask_request
from privproof.asking import check as ask
from privproof.asking import tight_epsilon
from privproof.cli.command_drafts import (
    Reports,
    asking_sizes,
    command_of,
    draft_question,
    finish,
    finish_part,
    finish_part_table,
    finish_table,
    load_question,
    verdict_from_store,
    with_budget,
)
from privproof.cli.command_options import (
    AsJson,
    CertificateOut,
    Cluster,
    DeltaText,
    EngineName,
    HorizonText,
    Inputs,
    Jobs,
    MemoryLimit,
    MuText,
    NeighboursText,
    Part,
    Pointwise,
    Quiet,
    RenyiTexts,
    ReportIn,
    Reporting,
    ReportOut,
    RhoText,
    Settings,
    Size,
    Targets,
    TimeLimit,
    Verbose,
)
from privproof.cli.command_options import Target as OneTarget
from privproof.cli.command_requests import begin, measure_options, named_sizes, one_size_only, renyi_orders, writable
from privproof.cli.command_worker import command, command_monitor, remember_memory_limit, report_activity
from privproof.cli.project_command import PATIENCE, Wanted, check_project
from privproof.engines import Monitor
from privproof.engines.engine_protocol import EngineRequest
from privproof.errors import QuestionError, nearest
from privproof.evidence import Verdict
from privproof.exact import delta as exact_delta
from privproof.exact.measures import measured_budgets
from privproof.execution.workers import cluster as connected
from privproof.execution.workers import processors
from privproof.models import Letter, Transducer
from privproof.profiles.size_sweeps import over_sizes
from privproof.projects.mechanism_discovery import Target, find_targets, marked_targets
from privproof.projects.project_configuration import FAIL_ON, Configuration, configuration
from privproof.projects.project_errands import errand, reports_of, run_errands
from privproof.scenarios import AnyQuestion, Question


@command("check")
def check(
    targets: Targets = None,
    epsilon_: Annotated[
        str | None, typer.Option("--epsilon", help="The budget: ln(8/3), 1/2, 1.3, ln(2)+1/2, inf.")
    ] = None,
    delta_: DeltaText = None,
    pointwise: Pointwise = False,
    rho: RhoText = None,
    mu: MuText = None,
    renyi: RenyiTexts = None,
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    horizon: HorizonText = None,
    engine: EngineName = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    word: Annotated[
        str | None, typer.Option("--word", help="Compare this one word only: letters o or v|w or v|w:o.")
    ] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Of several mechanisms or sizes, how many at once; default: one per processor."
        ),
    ] = None,
    cluster: Cluster = None,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", help="The mildest verdict that fails: unknown (default) or refuted.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", help="Write SARIF 2.1.0 here.")] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="PATTERN", help="Leave this out of folders; may be repeated."),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor keep verdicts from one run to the next.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    part: Part = False,
    report_out: Reporting = False,
    report_in: ReportIn = None,
) -> None:
    """Is the mechanism private within the budget?

    Several files, folders and packages may be given: every mechanism in them is checked.
    Exit status: 1 if one is refuted, otherwise 2 if one could not be asked about, 3 if one is unknown, 0 if all are proved.
    """
    remember_memory_limit(memory_limit)
    configured = configuration(Path.cwd())
    named = [_plain_name(target) for target in targets or configured_paths(configured)]
    if not all(named) or not named:
        raise QuestionError(
            "target",
            "nothing is named to check",
            place="check",
            hint='privproof check FILE, or in pyproject.toml: [tool.privproof] paths = ["src"]',
        )
    chosen = fail_on or configured.fail_on or "unknown"
    if chosen not in FAIL_ON:
        hint = nearest(chosen, FAIL_ON) or f"--fail-on {FAIL_ON[0]}"
        raise QuestionError("fail-on", f"{chosen!r} is no verdict to fail on", place="--fail-on", hint=hint)

    def options_with(*more: tuple[str, str | None]) -> tuple[str, ...]:
        """The options of a command that answers for this one."""
        measures = measure_options(rho, mu, renyi)
        asked = (horizon, epsilon_, delta_, settings, inputs, neighbours, measures)
        given = [
            text for option, value in (("--engine", engine), *more) if value is not None for text in (option, value)
        ]
        return (*command_of("", None, *asked, pointwise=pointwise).options, *given, *(("--no-cache",) * no_cache))

    found = None if part else several(named, [*configured.exclude, *(exclude or ())], configured.folder)
    if found is None and (junit is not None or sarif is not None):
        found = find_targets(named)
    if found is not None:
        begin(", ".join(named), None, as_json=as_json)
        one_at_a_time(("--pair", pair), ("--word", word), ("--certificate", certificate))
        writable(report, junit, sarif)
        seconds = next((each for each in (time_limit, configured.time_limit) if each is not None), PATIENCE)
        wanted = Wanted(
            options_with(("--size", size), ("--time-limit", f"{seconds:g}")),
            jobs or configured.jobs or processors(),
            chosen,
            as_json=as_json,
            verbosity=int(verbose) - int(quiet),
            junit=junit,
            sarif=sarif,
            report=report,
            cluster=cluster,
            seconds=seconds,
        )
        check_project(found, wanted)
    target = named[0]
    limit = time_limit if time_limit is not None else configured.time_limit
    begin(target, limit, as_json=as_json or part)
    writable(certificate, report)
    budgets = measured_budgets(rho, mu, renyi_orders(renyi))
    by_default = configured.epsilon if epsilon_ is None and delta_ is None and not budgets and not pointwise else None

    def question_at(number: int | None, *, given: bool) -> AnyQuestion:
        question = load_question(
            target, number, horizon, pair, settings, inputs, neighbours, run=engine == "runs", sized=given
        )
        question = with_budget(question, epsilon_, delta_, budgets, pointwise=pointwise)
        if not question.claims and by_default is not None:
            question = with_budget(question, by_default, configured.delta, (), pointwise=False)
        if word is None and not question.claims:
            raise QuestionError(
                "budget",
                "neither the command nor the file names a budget",
                place=target,
                hint=f"privproof check {target} --epsilon 'ln(2)', or privproof epsilon {target}",
            )
        return question

    sizes = named_sizes(size if size is not None else configured.size)
    one_size_only(sizes, certificate, report)
    shared_only(cluster, sizes)
    reports = Reports.read(report_in, wanted=report_out)
    if len(sizes) > 1:

        def answer(number: int, monitor: Monitor, told: Reports) -> Verdict:
            question = question_at(number, given=size is not None)
            verdict = told.verdict(number, question, monitor)
            if verdict is None:
                verdict = ask(question, engine=engine, monitor=monitor)
            return reports.add(number, question, verdict)

        options = options_with(("--time-limit", None if limit is None else f"{limit:g}"))
        with (
            command_monitor() as monitor,
            reported_sizes(cluster, ("check", *options), target, sizes, limit, monitor) as there,
        ):
            table = over_sizes(
                lambda n: answer(n, monitor, reports if there is None else there(n)),
                [n for n in sizes if n],
                monitor=monitor,
                so_far=lambda table: asking_sizes(table, asked_tight=False, as_json=as_json or part),
                jobs=1 if part or there is not None else jobs or configured.jobs or processors(),
            )
        if part:
            finish_part_table(table, reports.made)
        finish_table(table, asked_tight=False, as_json=as_json)
    question = question_at(sizes[0], given=size is not None)
    asked = command_of(
        target,
        sizes[0] if size is not None else None,
        horizon,
        epsilon_,
        delta_,
        settings,
        inputs,
        neighbours,
        measure_options(rho, mu, renyi),
        pointwise=pointwise,
    )
    draft_question(question, command=asked, asked_tight=False, as_json=as_json or part)
    if word is not None:
        verdict = _one_word(question.words(place="--word"), word)
        finish(verdict, command=asked, asked_tight=False, as_json=as_json, certificate=certificate, report=report)
    with command_monitor() as monitor:

        def reported_or_asked() -> Verdict:
            told = reports.verdict(sizes[0], question, monitor)
            return ask(question, engine=engine, monitor=monitor) if told is None else told

        verdict, known = verdict_from_store(question, reported_or_asked, engine, limit, monitor, keep=not no_cache)
    if part:
        reports.add(sizes[0], question, verdict)
        finish_part(verdict, command=asked, kept=known, reports=reports.made)
    finish(
        verdict,
        command=asked,
        asked_tight=False,
        as_json=as_json,
        certificate=certificate,
        report=report,
        brief=quiet,
        mild=chosen == "refuted",
    )


def _plain_name(target: str) -> str:
    """``FILE::NAME``, as pytest writes it, is ``FILE:NAME``."""
    head, colons, name = target.rpartition("::")
    return f"{head}:{name}" if colons and not Path(target).exists() else target


def configured_paths(configured: Configuration) -> list[str]:
    """The paths of the configuration, as they are called in the working directory."""
    here = Path.cwd()
    return [
        path if configured.folder == here else _path_from_here(configured.folder, path) for path in configured.paths
    ]


def _path_from_here(folder: Path, path: str) -> str:
    file = path.partition(":")[0]
    return os.path.relpath(folder / path) if (folder / file).exists() else path


def several(named: list[str], exclude: list[str], base: Path) -> tuple[Target, ...] | None:
    """What is to be checked, where that is more than one thing, or a folder; None for a single mechanism or model."""
    if len(named) == 1 and not Path(named[0]).is_dir():
        single = Path(named[0])
        head = named[0].rpartition(":")[0]
        if head and not single.exists():
            return None
        if single.exists() and (single.suffix != ".py" or len(marked_targets(single)) < _SEVERAL):
            return None
        found = find_targets(named, exclude=exclude, base=base)
        return found if len(found) >= _SEVERAL else None
    found = find_targets(named, exclude=exclude, base=base)
    if not found:
        raise QuestionError(
            "target",
            "no mechanism was found: no @mechanism in a Python file, and no model with a scenario",
            place=", ".join(named),
            hint="privproof check FILE:NAME names a function that is not marked",
        )
    return found


_SEVERAL = 2
"""One is asked about as it always was; from two on there is a table."""


def one_at_a_time(*options: tuple[str, object]) -> None:
    """Complain about an option that is about one mechanism."""
    for name, value in options:
        if value is not None:
            raise QuestionError("option", f"{name} is about one mechanism", place=name, hint=f"FILE:NAME {name} ...")


def _one_word(question: Question, text: str) -> Verdict:
    """The verdict that one word gives."""
    try:
        letters = tuple(_letter(part, question) for part in shlex.split(text))
    except ValueError as error:
        raise QuestionError("word", f"{text!r} cannot be read: {error}", place="--word") from None
    try:
        return ask_request(EngineRequest(question, word=letters))
    except QuestionError as error:
        error.place = "--word" if error.place == "word" else error.place
        raise


def _letter(text: str, question: Question) -> Letter:
    """The letter ``o``, ``v|w`` or ``v|w:o``; names with bars and colons in them are told by what the model knows."""
    model = question.model
    if isinstance(model, Transducer):
        sides = (*model.inputs, None)
        known = [
            Letter(output, left, right)
            for left in sides
            if text.startswith(f"{left or ''}|")
            for right in sides
            if text.startswith(f"{left or ''}|{right or ''}") and (left, right) != (None, None)
            for output in (None, *model.outputs)
        ]
        for letter in (*known, *map(Letter, model.outputs)):
            if str(letter) == text:
                return letter
    inputs, colon, output = text.rpartition(":")
    if not colon:
        inputs, output = (text, "") if "|" in text else ("", text)
    if not inputs:
        return Letter(text)
    left, bar, right = inputs.partition("|")
    return Letter(output or None, left, right) if bar else Letter(text)


@command("epsilon")
def epsilon_command(
    target: OneTarget,
    delta_: DeltaText = None,
    pointwise: Pointwise = False,
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    horizon: HorizonText = None,
    engine: EngineName = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    part: Part = False,
    report_out: Reporting = False,
) -> None:
    """The tight epsilon: exact, or certified lower and upper bounds."""
    remember_memory_limit(memory_limit)
    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    sizes = named_sizes(size)
    one_size_only(sizes, certificate, report)
    shared_only(cluster, sizes)
    asked = command_of(target, sizes[0], horizon, None, delta_, settings, inputs, neighbours, pointwise=pointwise)
    reports = Reports({}, wanted=report_out)
    more = [("--engine", engine), ("--pair", pair), ("--time-limit", None if time_limit is None else f"{time_limit:g}")]
    options = command_of("", None, horizon, None, delta_, settings, inputs, neighbours, pointwise=pointwise).options
    options += tuple(text for option, value in more if value is not None for text in (option, value))
    with (
        command_monitor() as monitor,
        reported_sizes(cluster, ("epsilon", *options), target, sizes, time_limit, monitor) as there,
    ):

        def answer(number: int | None) -> Verdict:
            question = load_question(target, number, horizon, pair, settings, inputs, neighbours, run=engine == "runs")
            if len(sizes) == 1:
                draft_question(question, command=asked, asked_tight=True, as_json=as_json)
            told = None if there is None or number is None else there(number).verdict(number, question, monitor)
            budget = None if told is None else told.question.budget
            as_asked = budget is None or (budget.delta, budget.pointwise) == (exact_delta(delta_ or 0), pointwise)
            if told is not None and as_asked:
                return replace(told, asked_tight=True)
            found = tight_epsilon(question, delta_ or 0, pointwise=pointwise, engine=engine, monitor=monitor)
            return reports.add(number, question, found)

        if len(sizes) > 1:
            table = over_sizes(
                answer,
                [n for n in sizes if n],
                monitor=monitor,
                so_far=lambda table: asking_sizes(table, asked_tight=True, as_json=as_json),
                jobs=1 if there is not None else jobs or processors(),
            )
            finish_table(table, asked_tight=True, as_json=as_json)
        verdict = answer(sizes[0])
    if part:
        finish_part(verdict, command=asked, kept=False, reports=reports.made, asked_tight=True)
    finish(verdict, command=asked, asked_tight=True, as_json=as_json, certificate=certificate, report=report)


def shared_only(address: str | None, sizes: list[int | None]) -> None:
    """Complain about a cluster where there is nothing to share."""
    if address is not None and len(sizes) == 1:
        said = "--cluster is about several mechanisms or sizes"
        hint = "privproof check FOLDER --cluster ..., or --size 1..8"
        raise QuestionError("option", said, place="--cluster", hint=hint)


@contextmanager
def reported_sizes(
    address: str | None,
    command: tuple[str, ...],
    target: str,
    sizes: list[int | None],
    seconds: float | None,
    monitor: Monitor,
) -> Iterator[Callable[[int], Reports] | None]:
    """What a cluster reports about each size, asked for in the order of the sizes; None without a cluster."""
    file = target if Path(target).exists() else target.rpartition(":")[0]
    asked = [(*command, "--size", str(n), "--part", "--report-out", "--json", "--", target) for n in sizes]
    with connected(address) as executor:
        if executor is None:
            yield None
            return
        report_activity(f"{len(sizes)} sizes on {address}")
        answers = run_errands(executor, [errand(each, file, seconds) for each in asked], monitor.stopped)
        with closing(answers):
            yield lambda _: Reports(next((reports_of(told) for told in answers), {}))
