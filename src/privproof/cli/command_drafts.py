"""What the commands share: options, drafts, and how an answer ends.

Exit status: 0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown, 4 (audit) unknown, and the runs speak against the claim.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from privproof.asking import question_with_claim
from privproof.cli.command_answers import console, current_answer, end, json_line, rendered_text, say, say_json, write
from privproof.cli.command_requests import STATUS
from privproof.cli.command_worker import WHY, on_interrupt, report_activity
from privproof.engines import Monitor, Progress
from privproof.errors import QuestionError
from privproof.evidence import Unknown, Verdict
from privproof.exact import Budget, delta, epsilon
from privproof.exact.measures import MeasuredBudget
from privproof.loading.file_targets import parameters_of
from privproof.loading.question_loading import inputs_of, load
from privproof.models import Horizon
from privproof.profiles.size_sweeps import SizeTable
from privproof.reporting import (
    Fact,
    ReplayCommand,
    data,
    headline,
    page,
    plain_console,
    print_headline,
    print_table,
    print_verdict,
)
from privproof.scenarios import (
    AnyQuestion,
    Use,
    composed_question,
    sampling_of_kind,
)
from privproof.store.stored_verdicts import VerdictStore, default_path

if TYPE_CHECKING:
    from rich.console import Console


def draft_question(question: AnyQuestion, *, command: ReplayCommand | None, asked_tight: bool, as_json: bool) -> None:
    """If the command is stopped now, the question is known, and what the search has established."""
    lower = epsilon(0)

    def draft(event: Progress | None) -> dict[str, object]:
        nonlocal lower
        if event is not None and event.established is not None and event.established.compare(lower) > 0:
            lower = event.established
        verdict = Unknown(question.under(None) if asked_tight else question, "none", lower=lower, reason=WHY)
        if as_json:
            return {"object": data(verdict, certificate=None)}
        return {
            "out": rendered_text(
                lambda console: print_verdict(console, verdict, command=command, asked_tight=asked_tight)
            )
        }

    on_interrupt(draft)
    report_activity("compiling")


def load_question(
    target: str,
    size: int | None,
    horizon: str | None,
    pair: str | None = None,
    settings: list[str] | None = None,
    inputs: list[str] | None = None,
    neighbours: str | None = None,
    *,
    run: bool = False,
    sized: bool = True,
) -> AnyQuestion:
    """The question that a command asks; a size that the command does not name itself counts where there is one to choose."""
    lengths = None if horizon is None else Horizon.of(horizon)

    def question_of(number: int | None) -> AnyQuestion:
        return load(
            target,
            size=number,
            horizon=lengths,
            parameters=parameters_of(settings),
            inputs=inputs_of(inputs),
            neighbours=neighbours,
            run=run,
        )

    try:
        question = question_of(size)
    except QuestionError as error:
        if sized or size is None or error.code != "size":
            raise
        question = question_of(None)
    if pair is None:
        return question
    return question.words(place="--pair").only(pair)


def together(
    question: AnyQuestion, times: int | None, rate: str | None = None, sampled: str | None = None
) -> AnyQuestion:
    """The question about several uses, or about uses on samples, where one is asked for."""
    if times is None and rate is None:
        if sampled is not None:
            raise QuestionError("sampling", "no rate is given", place="--sampling", hint="--subsample 1/100")
        return question
    chosen = None if rate is None else sampling_of_kind("poisson" if sampled is None else sampled, rate)
    return composed_question(Use(question, 1 if times is None else times, chosen))


def command_of(
    target: str,
    size: int | None,
    horizon: str | None,
    epsilon_: str | None,
    delta_: str | None,
    settings: list[str] | None = None,
    inputs: list[str] | None = None,
    neighbours: str | None = None,
    measures: list[tuple[str, object]] | None = None,
    *,
    pointwise: bool,
) -> ReplayCommand:
    """The options that belong to the question, as they were given."""
    given: list[tuple[str, object]] = [
        ("--size", size),
        ("--horizon", horizon),
        ("--epsilon", epsilon_),
        ("--delta", delta_),
        *(measures or ()),
    ]
    given += [("--set", setting) for setting in settings or ()]
    given += [("--input", declared) for declared in inputs or ()]
    given += [("--neighbours", neighbours)]
    options = [str(part) for name, value in given if value is not None for part in (name, value)]
    return ReplayCommand(target, (*options, "--pointwise") if pointwise else tuple(options))


def finish(
    verdict: Verdict,
    *,
    command: ReplayCommand | None,
    asked_tight: bool,
    as_json: bool,
    certificate: Path | None,
    report: Path | None,
    brief: bool = False,
    mild: bool = False,
) -> NoReturn:
    """The answer is this verdict, with its certificate and its report; in brief its first line; mild if unknown is no failure."""
    written = None
    if certificate is not None and verdict.certificate is not None:
        write(certificate, json.dumps(verdict.certificate, ensure_ascii=False, indent=1) + "\n")
        written = str(certificate)
    if report is not None:
        shown_page = page(verdict, command=command, asked_tight=asked_tight, certificate=written)
        write(report, shown_page.written(report))

    def shown(*, files: bool) -> str:
        if as_json:
            return json_line(data(verdict, certificate=written if files else None), current_answer().encoding)
        more = []
        if certificate is not None:
            none = "none: an unknown verdict has none" if verdict.status == "unknown" else "none: this verdict has none"
            more.append(Fact("certificate", none if written is None else written if files else "not written"))
        if report is not None and files:
            more.append(Fact("report", str(report)))
        facts = tuple(more)
        if brief:
            return rendered_text(lambda console: print_headline(console, verdict, asked_tight=asked_tight))
        return rendered_text(
            lambda console: print_verdict(console, verdict, command=command, asked_tight=asked_tight, more=facts)
        )

    say(shown(files=True), end="")
    current_answer().unwritten = shown(files=False)
    end(0 if mild and verdict.status == "unknown" else STATUS[verdict.status])


def verdict_from_store(
    question: AnyQuestion,
    ask: Callable[[], Verdict],
    engine: str | None,
    limit: float | None,
    monitor: Monitor,
    *,
    keep: bool,
) -> tuple[Verdict, bool]:
    """The verdict on a question, and whether it was known from before; the user's store knows and keeps it, if it shall."""
    path = default_path() if keep else None
    if path is None:
        return ask(), False
    from privproof.store.stored_asking import ask_once  # here, because a command without a store needs none of it

    store = VerdictStore(path)
    found = ask_once(question, ask, store, engine=engine, limit=limit, monitor=monitor)
    if store.problem:
        report_activity(f"verdicts are not kept: {store.problem}")
    return found


def finish_part(
    verdict: Verdict, *, command: ReplayCommand, kept: bool, reports: dict[str, object], asked_tight: bool = False
) -> NoReturn:
    """The answer is this verdict, for a process that gathers several."""
    observed = None if verdict.witness is None else verdict.witness.observed
    _finish_part(
        verdict.status,
        headline(verdict, asked_tight=asked_tight),
        lambda where: print_verdict(where, verdict, command=command, asked_tight=asked_tight),
        data(verdict, certificate=None),
        getattr(observed, "number", 0),
        reports,
        kept=kept,
    )


def finish_part_table(table: SizeTable, reports: dict[str, object]) -> NoReturn:
    """The answer is a table of verdicts at several sizes, for a process that gathers several."""
    name = table.rows[0][1].question.name.partition(" (")[0]
    shown = partial(print_table, table=table, asked_tight=False)
    _finish_part(table.status, name, shown, table_data(table), 0, reports)


def _finish_part(
    status: str,
    sentence: str,
    show: Callable[[Console], None],
    said: dict[str, object],
    line: int,
    reports: dict[str, object],
    *,
    kept: bool = False,
) -> NoReturn:
    plain = StringIO()
    show(plain_console(plain))
    told = {"sentence": sentence, "text": plain.getvalue(), "shown": rendered_text(show), "data": said, "line": line}
    say_json({**told, "kept": kept, **({"reports": reports} if reports else {})})
    end(STATUS[status])


class Reports:
    """What crosses between processes that answer for each other, by size: what others have reported, and what this one reports.

    Attributes:
        given: what others have reported.
        made: what this process reports; empty where nobody asks for it.
    """

    def __init__(self, given: dict[str, Any], *, wanted: bool = False) -> None:
        self.given, self.wanted = given, wanted
        self.made: dict[str, object] = {}

    @classmethod
    def read(cls, path: Path | None, *, wanted: bool) -> Reports:
        """The reports in a file."""
        return cls({} if path is None else json.loads(path.read_text(encoding="utf-8")), wanted=wanted)

    def add(self, size: int | None, question: AnyQuestion, verdict: Verdict) -> Verdict:
        """Report a verdict, if that is asked for; and the verdict."""
        if self.wanted:
            from privproof.store.stored_asking import entry_document, reported_entry  # few commands need them

            entry = reported_entry(verdict, question)
            self.made |= {} if entry is None else {str(size): entry_document(entry)}
        return verdict

    def verdict(self, size: int | None, question: AnyQuestion, monitor: Monitor) -> Verdict | None:
        """The verdict that was reported about a question, if the gate admits it here; None where the question has to be asked."""
        if str(size) not in self.given:
            return None
        from privproof.store.stored_asking import document_entry, reported_verdict

        entry = document_entry(self.given[str(size)])
        found = None if entry is None else reported_verdict(entry, question, monitor)
        if isinstance(found, Verdict):
            return found
        why = "it cannot be read" if found is None else found.reason
        report_activity(f"what was reported about {question.name} does not count, it is asked here: {why}")
        return None


def asking_sizes(table: SizeTable, *, asked_tight: bool, as_json: bool) -> None:
    """If the command is stopped now, some sizes were asked about."""
    draft: dict[str, object] = {}
    if as_json:
        draft["object"] = {**table_data(table), "reason": WHY}
    else:
        told = rendered_text(lambda console: print_table(console, table, asked_tight=asked_tight))
        draft["out"] = f"{told}  {'reason':<15}{WHY}\n"
    on_interrupt(lambda _: draft)


def finish_table(table: SizeTable, *, asked_tight: bool, as_json: bool) -> NoReturn:
    """The verdicts at several sizes, and what they suggest."""
    if as_json:
        say_json(table_data(table))
    else:
        print_table(console(), table, asked_tight=asked_tight)
    end(STATUS[table.status])


def table_data(table: SizeTable) -> dict[str, object]:
    """Verdicts at several sizes as plain data."""
    worst = next((v for _, v in table.rows if v.status == table.status), table.rows[-1][1])
    rows = [{"size": size, **data(verdict, certificate=None)} for size, verdict in table.rows]
    whole = {**data(worst, certificate=None), "verdict": table.status, "sizes": rows, "trend": table.trend}
    if table.unasked:
        whole["unasked"] = table.left_out
        if table.status == "unknown":
            whole["reason"] = f"out of time, or interrupted: not asked at the sizes {table.left_out}"
    return whole


def with_budget(
    question: AnyQuestion,
    epsilon_: str | None,
    delta_: str | None,
    budgets: tuple[MeasuredBudget, ...] = (),
    *,
    pointwise: bool,
) -> AnyQuestion:
    """The question under the budget of the command line; what it does not name comes from the file."""
    if pointwise and question.continuous:
        raise QuestionError(
            "delta", "single outputs have probability 0 under continuous noise", place="--pointwise", hint="drop it"
        )
    own = question.budget
    if epsilon_ is not None or budgets or (delta_ is None and not pointwise):
        return question_with_claim(question, epsilon_, delta_ or 0, budgets, pointwise=pointwise)
    if own is None:
        raise QuestionError("budget", "delta is given without an epsilon", place="--delta", hint="--epsilon 'ln(2)'")
    share = own.delta if delta_ is None else delta(delta_)
    return question.under(Budget(own.epsilon, share, pointwise or own.pointwise))
