"""The commands.  Exit status: 0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown."""

from __future__ import annotations

import errno
import inspect
import json
import os
import re
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import privproof
from privproof.asking import check as ask
from privproof.asking import probabilities, tight_epsilon
from privproof.cli.loading import is_process, load, load_process, only_pair, setting
from privproof.compiling import word_problem
from privproof.engines import Monitor, Progress
from privproof.errors import FormatError, PrivproofError, QuestionError
from privproof.evidence import Refuted, Unknown, Verdict, Witness
from privproof.evidence.checker import Accepted, recheck_file
from privproof.exact import Budget, Epsilon, asked_for, delta, epsilon
from privproof.formats import dot, svg, write_question
from privproof.formats.processes import write_process
from privproof.model_checking import model_check
from privproof.models import Horizon, Letter, Transducer
from privproof.profiles import privacy_profile
from privproof.reporting import (
    Command,
    Fact,
    data,
    page,
    print_profile,
    print_satisfaction,
    print_table,
    print_verdict,
    profile_data,
    satisfaction_data,
)
from privproof.scenarios import ParametricQuestion, PufferfishQuestion, Question, UnderPriors
from privproof.sizes import Table, over_sizes

if TYPE_CHECKING:
    from privproof.library import Example, FormulaExample

STATUS = {"proved": 0, "refuted": 1, "unknown": 3}

app = typer.Typer(
    name="privproof",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Target = Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="A model file, or a Python file and a name in it.")]
DeltaText = Annotated[str | None, typer.Option("--delta", help="The budget's delta, over events; default 0.")]
Pointwise = Annotated[bool, typer.Option("--pointwise", help="Read delta for each output instead of each event.")]
Size = Annotated[
    str | None, typer.Option("--size", help="The length of the lists that a mechanism reads: 3, or a range 2..8.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="The value of a parameter; may be repeated.")
]
HorizonText = Annotated[str | None, typer.Option("--horizon", help='Word lengths: K, "up to K" or unbounded.')]
EngineName = Annotated[
    str | None,
    typer.Option("--engine", help="table, tensors, frontier, unbounded, events or smt; default: the first that fits."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
CertificateOut = Annotated[Path | None, typer.Option("--certificate", help="Write the certificate here.")]
ReportOut = Annotated[Path | None, typer.Option("--report", help="Write an HTML report here.")]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", min=0, help="Stop after so many seconds, with what is known.")
]


@contextmanager
def monitored(limit: float | None, *, quiet: bool) -> Iterator[Monitor]:
    """A monitor that shows progress on a terminal; an interrupt stops the search, a second one the program."""
    monitor = Monitor(deadline=None if limit is None else time.monotonic() + limit)
    errors = Console(stderr=True)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if monitor.interrupted:
            raise KeyboardInterrupt
        monitor.interrupted = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        if quiet or not errors.is_terminal:
            yield monitor
        else:
            with errors.status("compiling") as status:

                def listen(event: Progress) -> None:
                    status.update(str(event))

                monitor.listen = listen
                yield monitor
    finally:
        signal.signal(signal.SIGINT, before)


def _question(
    target: str, size: int | None, horizon: str | None, pair: str | None = None, settings: list[str] | None = None
) -> Question | UnderPriors:
    lengths = None if horizon is None else Horizon.of(horizon)
    question = load(target, size=size, horizon=lengths, parameters=dict(map(setting, settings or ())))
    if pair is None:
        return question
    return only_pair(_about_words(question, "--pair"), pair)


def _about_words(question: Question | UnderPriors, place: str) -> Question:
    """The question, if it is one about the words of a model."""
    if isinstance(question, PufferfishQuestion | ParametricQuestion):
        raise QuestionError(
            "question",
            "this does not apply to secrets under a prior",
            place=place,
            hint="privproof check, privproof epsilon",
        )
    return question


def _sizes(text: str | None) -> list[int | None]:
    """The sizes that ``--size`` names."""
    if text is None:
        return [None]
    match = re.fullmatch(r"([0-9]{1,6})(?:\.\.([0-9]{1,6}))?", text.strip())
    if match is None:
        raise QuestionError("size", f"{text!r} is no size", place="--size", hint="--size 3, or --size 2..8")
    low, high = int(match[1]), int(match[2] or match[1])
    if low < 1 or high < low:
        raise QuestionError("size", f"{text!r} names no sizes", place="--size", hint="--size 2..8")
    return list(range(low, high + 1))


def one_size(text: str | None) -> int | None:
    sizes = _sizes(text)
    if len(sizes) > 1:
        raise QuestionError("size", f"{text!r} names several sizes", place="--size", hint="--size 3")
    return sizes[0]


def _command(
    target: str,
    size: int | None,
    horizon: str | None,
    epsilon_: str | None,
    delta_: str | None,
    settings: list[str] | None = None,
    *,
    pointwise: bool,
) -> Command:
    """The options that belong to the question, as they were given."""
    given: list[tuple[str, object]] = [
        ("--size", size),
        ("--horizon", horizon),
        ("--epsilon", epsilon_),
        ("--delta", delta_),
    ]
    given += [("--set", setting) for setting in settings or ()]
    options = [str(part) for name, value in given if value is not None for part in (name, value)]
    return Command(target, (*options, "--pointwise") if pointwise else tuple(options))


def _finish(
    verdict: Verdict,
    *,
    command: Command | None,
    asked_tight: bool,
    as_json: bool,
    certificate: Path | None,
    report: Path | None,
) -> None:
    written, failed = None, None
    try:
        if certificate is not None and verdict.certificate is not None:
            write(certificate, json.dumps(verdict.certificate, ensure_ascii=False, indent=1) + "\n")
            written = str(certificate)
        if report is not None:
            write(report, page(verdict, command=command, asked_tight=asked_tight, certificate=written))
    except FormatError as error:
        failed = error
    if as_json:
        typer.echo(json.dumps(data(verdict, certificate=written), ensure_ascii=False))
    else:
        more = []
        if certificate is not None:
            none = "not written" if failed else "none: an unknown verdict has none"
            more.append(Fact("certificate", written or none))
        if report is not None and failed is None:
            more.append(Fact("report", str(report)))
        console = Console(highlight=False)
        print_verdict(console, verdict, command=command, asked_tight=asked_tight, more=tuple(more))
    if failed is not None:
        raise failed
    raise typer.Exit(STATUS[verdict.status])


def _finish_table(
    table: Table, *, asked_tight: bool, as_json: bool, certificate: Path | None, report: Path | None
) -> None:
    """The verdicts at several sizes, and what they suggest."""
    if certificate is not None or report is not None:
        raise QuestionError(
            "size", "certificates and reports are about one size", place="--size", hint="--size 3 --certificate OUT"
        )
    if as_json:
        worst = next((v for _, v in table.rows if v.status == table.status), table.rows[-1][1])
        rows = [{"size": size, **data(verdict, certificate=None)} for size, verdict in table.rows]
        whole = {**data(worst, certificate=None), "sizes": rows, "trend": table.trend}
        typer.echo(json.dumps(whole, ensure_ascii=False))
    else:
        print_table(Console(highlight=False), table, asked_tight=asked_tight)
    raise typer.Exit(STATUS[table.status])


def writable(*paths: Path | None) -> None:
    """Complain about a path that cannot be written before anything is searched."""
    for path in paths:
        if path is None:
            continue
        reason = None
        if path.is_dir():
            reason = errno.EISDIR
        elif not path.parent.exists():
            reason = errno.ENOENT
        elif not path.parent.is_dir():
            reason = errno.ENOTDIR
        elif not os.access(path if path.exists() else path.parent, os.W_OK):
            reason = errno.EACCES
        if reason is not None:
            raise FormatError("file", f"cannot write: {os.strerror(reason)}", place=str(path))


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError("file", f"cannot write: {error.strerror}", place=str(path)) from None


def _budgeted(
    question: Question | UnderPriors, epsilon_: str | None, delta_: str | None, *, pointwise: bool
) -> Question | UnderPriors:
    """The question under the budget of the command line; what it does not name comes from the file."""
    own = question.budget
    if epsilon_ is not None:
        return question.under(Budget(epsilon(epsilon_), delta(delta_ or 0), pointwise))
    if delta_ is None and not pointwise:
        return question
    if own is None:
        raise QuestionError("budget", "delta is given without an epsilon", place="--delta", hint="--epsilon 'ln(2)'")
    share = own.delta if delta_ is None else delta(delta_)
    return question.under(Budget(own.epsilon, share, pointwise or own.pointwise))


@app.command()
def check(
    target: Target,
    epsilon_: Annotated[
        str | None, typer.Option("--epsilon", help="The budget: ln(8/3), 1/2, 1.3, ln(2)+1/2, inf.")
    ] = None,
    delta_: DeltaText = None,
    pointwise: Pointwise = False,
    size: Size = None,
    settings: Settings = None,
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
) -> None:
    """Is the mechanism private within the budget?"""
    writable(certificate, report)

    def posed(number: int | None) -> Question | UnderPriors:
        question = _question(target, number, horizon, pair, settings)
        question = _budgeted(question, epsilon_, delta_, pointwise=pointwise)
        if question.budget is None and word is None:
            raise QuestionError(
                "budget",
                "neither the command nor the file names a budget",
                place=target,
                hint=f"privproof check {target} --epsilon 'ln(2)', or privproof epsilon {target}",
            )
        return question

    sizes = _sizes(size)
    if len(sizes) > 1:
        with monitored(time_limit, quiet=as_json) as monitor:
            table = over_sizes(lambda n: ask(posed(n), engine=engine, monitor=monitor), [n for n in sizes if n])
        return _finish_table(table, asked_tight=False, as_json=as_json, certificate=certificate, report=report)
    question = posed(sizes[0])
    command = _command(target, sizes[0], horizon, epsilon_, delta_, settings, pointwise=pointwise)
    if word is not None:
        verdict = _one_word(_about_words(question, "--word"), word)
        return _finish(
            verdict, command=command, asked_tight=False, as_json=as_json, certificate=certificate, report=report
        )
    with monitored(time_limit, quiet=as_json) as monitor:
        verdict = ask(question, engine=engine, monitor=monitor)
    _finish(verdict, command=command, asked_tight=False, as_json=as_json, certificate=certificate, report=report)


def _one_word(question: Question, text: str) -> Verdict:
    """The verdict that one word gives: refuted if it breaks the budget, else unknown."""
    try:
        letters = tuple(_letter(part, question) for part in shlex.split(text))
    except ValueError as error:
        raise QuestionError("word", f"{text!r} cannot be read: {error}", place="--word") from None
    found = probabilities(question, None, letters)
    if not found:
        raise QuestionError(
            "word",
            f"the word {text!r} is compared under no pair: a letter is unknown, or cannot follow, or its inputs are no neighbours",
            place="--word",
            hint="letters are observations o, or inputs and output v|w:o",
        )
    budget = question.budget
    for witness in found:
        if budget and not budget.epsilon.allows(witness.left_probability, witness.right_probability, budget.delta):
            return Refuted(question, "definition", lower=_needed(witness, budget), witness=witness)
    witness = max(found, key=lambda w: (w.right_probability == 0 < w.left_probability, w.ratio or Fraction(0)))
    reason = "one word proves nothing; this one breaks no budget given"
    return Unknown(question, "definition", lower=_needed(witness, budget), witness=witness, reason=reason)


def _needed(witness: Witness, budget: Budget | None) -> Epsilon:
    """The epsilon that a witness asks for."""
    return asked_for(witness.left_probability, witness.right_probability, budget.delta if budget else 0)


def _letter(text: str, question: Question) -> Letter:
    """The letter ``o``, ``v|w`` or ``v|w:o``; names with bars and colons in them are told by what the model knows."""
    model = question.model
    if isinstance(model, Transducer):
        known = [
            Letter(output, left, right)
            for left in model.inputs
            if text.startswith(f"{left}|")
            for right in model.inputs
            if text.startswith(f"{left}|{right}")
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


@app.command(name="epsilon")
def epsilon_command(
    target: Target,
    delta_: DeltaText = None,
    pointwise: Pointwise = False,
    size: Size = None,
    settings: Settings = None,
    horizon: HorizonText = None,
    engine: EngineName = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """The tight epsilon: exact, or certified lower and upper bounds."""
    writable(certificate, report)
    sizes = _sizes(size)
    with monitored(time_limit, quiet=as_json) as monitor:

        def answer(number: int | None) -> Verdict:
            question = _question(target, number, horizon, pair, settings)
            return tight_epsilon(question, delta_ or 0, pointwise=pointwise, engine=engine, monitor=monitor)

        if len(sizes) > 1:
            table = over_sizes(answer, [n for n in sizes if n])
        else:
            verdict = answer(sizes[0])
    if len(sizes) > 1:
        return _finish_table(table, asked_tight=True, as_json=as_json, certificate=certificate, report=report)
    command = _command(target, sizes[0], horizon, None, delta_, settings, pointwise=pointwise)
    _finish(verdict, command=command, asked_tight=True, as_json=as_json, certificate=certificate, report=report)


@app.command()
def profile(
    target: Target,
    size: Size = None,
    settings: Settings = None,
    horizon: HorizonText = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    points: Annotated[int, typer.Option("--points", min=2, max=10_001, help="How many epsilons.")] = 11,
    csv: Annotated[bool, typer.Option("--csv", help="Print epsilon,delta rows and nothing else.")] = False,
    as_json: AsJson = False,
) -> None:
    """The privacy profile: the smallest delta for every epsilon, exactly, over all neighbours."""
    curve = privacy_profile(_about_words(_question(target, one_size(size), horizon, pair, settings), target))
    if csv:
        typer.echo(curve.csv(points), nl=False)
    elif as_json:
        typer.echo(json.dumps(profile_data(curve, points), ensure_ascii=False))
    else:
        print_profile(Console(highlight=False), curve, points)


@app.command()
def recheck(
    path: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate written by --certificate.")],
    as_json: AsJson = False,
) -> None:
    """Check a certificate with the independent checker: status 0 accepted, 2 rejected."""
    begun = time.perf_counter()
    outcome = recheck_file(path)
    seconds = time.perf_counter() - begun
    accepted = isinstance(outcome, Accepted)
    if as_json:
        result: dict[str, Any] = {"accepted": accepted, "seconds": round(seconds, 6)}
        if isinstance(outcome, Accepted):
            result |= {"verdict": outcome.verdict, "statement": outcome.statement}
        else:
            result |= {"reason": outcome.reason, "place": outcome.place}
        typer.echo(json.dumps(result, ensure_ascii=False))
    elif isinstance(outcome, Accepted):
        typer.echo(f"✓ accepted  {outcome.verdict}: {outcome.statement} ({seconds:.2f} s)")
    else:
        typer.echo(f"✗ rejected  {outcome.place}: {outcome.reason}", err=True)
    raise typer.Exit(0 if accepted else 2)


@app.command()
def convert(
    target: Target,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="Where to write: .yaml, .json, .pm, .nm, .prism, .drn, .dot, .svg or .smt2."
        ),
    ],
    epsilon_: Annotated[str | None, typer.Option("--epsilon", help="The budget, for .smt2.")] = None,
    size: Size = None,
    settings: Settings = None,
    horizon: HorizonText = None,
    pair: Annotated[str | None, typer.Option("--pair", help="The pair, for .smt2.")] = None,
) -> None:
    """Write a model in another form: YAML, JSON, PRISM, DRN, DOT, SVG, SMT-LIB."""
    if is_process(target, out):
        given = dict(text.partition("=")[::2] for text in settings or ())
        lengths = None if horizon is None else Horizon.of(horizon)
        write_process(load_process(target, size=one_size(size), horizon=lengths, settings=given), out)
        typer.echo(f"{out} written")
        return
    question = _about_words(_question(target, one_size(size), horizon, pair, settings), target)
    suffix = out.suffix.lower()
    if suffix in (".yaml", ".yml", ".json"):
        write_question(question, out)
    elif suffix == ".dot":
        write(out, dot(question))
    elif suffix == ".svg":
        write(out, svg(question))
    elif suffix == ".smt2":
        write(out, _smtlib(question, epsilon_))
    else:
        raise FormatError(
            "suffix", f"unknown suffix {suffix!r}", place=str(out), hint=".yaml, .json, .pm, .drn, .dot, .svg or .smt2"
        )
    typer.echo(f"{out} written")


def _smtlib(question: Question, text: str | None) -> str:
    from privproof.engines.words.smt import smtlib

    budget = Budget.of(text) if text is not None else question.budget
    if budget is None:
        raise QuestionError("budget", "SMT-LIB needs a budget", place="--epsilon", hint="--epsilon 'ln(2)'")
    compiled = word_problem(question)
    length = compiled.problem.horizon.high
    if length is None:
        raise QuestionError("horizon", "SMT-LIB needs a bounded horizon", place="--horizon", hint="--horizon 5")
    low, high = budget.epsilon.enclosure(64)
    head = [
        f"; one query: start 1 of {len(compiled.begins)}, words of length {length}; --pair and --horizon choose others"
    ]
    if low != high:
        head.append(
            "; e^epsilon is irrational and rounded up here: sat refutes the budget, unsat proves it only beyond this bound"
        )
    name = f"{question.name}: {compiled.begins[0].pair.name}"
    query = smtlib(compiled.problem, high, length=length, start=0, delta=budget.delta, name=name)
    return "\n".join([*head, query])


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Run this example.")] = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write the example as a model file instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """The library: list its examples with their known verdicts, or run one."""
    from privproof.library import EXAMPLES, FORMULAS, FormulaExample  # here, because no other command needs it

    entries: list[Example | FormulaExample] = [*EXAMPLES, *FORMULAS]
    known = {example.name: example for example in entries}
    if name is None:
        if as_json:
            listed = [
                {"name": e.name, "title": e.title, "citation": e.citation, "known": e.known} for e in known.values()
            ]
            typer.echo(json.dumps(listed, ensure_ascii=False))
            return
        table = Grid(box=None, pad_edge=False, header_style="bold")
        for heading in ("name", "what", "known"):
            table.add_column(heading, overflow="fold", no_wrap=heading == "name")
        for example in known.values():
            table.add_row(example.name, Text(example.title), Text(example.known))
        Console(highlight=False).print(table)
        return
    if name not in known:
        raise QuestionError("example", f"there is no example {name!r}", place="examples", hint=", ".join(known))
    example = known[name]
    if not as_json and write is None:
        typer.echo(f"{example.title} ({example.citation})\nknown: {example.known}\n")
    if isinstance(example, FormulaExample):
        _formula_example(example, write, as_json=as_json)
        return
    question = example.question()
    if write is not None:
        write_question(_about_words(question, "--write"), write)
        typer.echo(f"{write} written")
        return
    if not as_json and example.mechanism is not None:
        typer.echo(inspect.getsource(example.mechanism.function))
    with monitored(None, quiet=as_json) as monitor:
        verdict = ask(question, monitor=monitor) if question.budget else tight_epsilon(question, monitor=monitor)
    asked_tight = question.budget is None
    _finish(verdict, command=None, asked_tight=asked_tight, as_json=as_json, certificate=None, report=None)


def _formula_example(example: FormulaExample, write: Path | None, *, as_json: bool) -> None:
    """Run, or write, an example that asks a formula."""
    process = example.process()
    if write is not None:
        write_process(process, write)
        typer.echo(f"{write} written")
        return
    with monitored(None, quiet=as_json) as monitor:
        found = model_check(process, example.formula, states=example.states, monitor=monitor)
    if as_json:
        typer.echo(json.dumps(satisfaction_data(found, certificate=None), ensure_ascii=False))
    else:
        print_satisfaction(Console(highlight=False), found, every=False)
    raise typer.Exit(STATUS[found.status])


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Prove or refute the privacy of a randomised mechanism, and say exactly how private it is.

    Exit status: 0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown.
    """
    if version:
        typer.echo(f"privproof {privproof.__version__}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> None:
    """The entry point: every wrong request is one message and status 2."""
    try:
        app(standalone_mode=True)
    except PrivproofError as error:
        typer.echo(f"privproof: {error}", err=True)
        raise SystemExit(2) from None
