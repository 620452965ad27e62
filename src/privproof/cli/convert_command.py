"""The command ``convert``: a model in another form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privproof.capabilities import capabilities, load_named
from privproof.cli.command_answers import say, write
from privproof.cli.command_drafts import load_question
from privproof.cli.command_options import Constants, HorizonText, Rounded, SelfLoops, Settings, Size, Target, TimeLimit
from privproof.cli.command_requests import one_size, writable
from privproof.cli.command_worker import WHY, command, on_interrupt, report_activity, set_time_limit
from privproof.compiling import word_problem
from privproof.errors import FormatError, QuestionError
from privproof.exact import Budget
from privproof.formats import dot, svg
from privproof.formats.document_writing import question_text
from privproof.scenarios import ProgramQuestion, Question, StreamQuestion
from privproof.scenarios.program_questions import as_program
from privproof.scenarios.stream_questions import as_stream


@command("convert")
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
    constants: Constants = None,
    self_loops: SelfLoops = False,
    rounded: Rounded = False,
    horizon: HorizonText = None,
    pair: Annotated[str | None, typer.Option("--pair", help="The pair, for .smt2.")] = None,
    time_limit: TimeLimit = None,
) -> None:
    """Write a model in another form: YAML, JSON, PRISM, DRN, DOT, SVG, SMT-LIB."""
    on_interrupt(lambda _: {"err": f"privproof: {out} is not written: {WHY}\n"})
    set_time_limit(time_limit)
    report_activity(f"converting {target}")
    writable(out)
    number = one_size(size)
    for convert_own in (load_named(each.convert) for each in capabilities() if each.convert is not None):
        converted = convert_own(
            target,
            out,
            size=number,
            horizon=horizon,
            settings=settings,
            constants=constants,
            self_loops=self_loops,
            rounded=rounded,
        )
        if converted is not None:
            write(out, converted)
            say(f"{out} written")
            return
    if constants or self_loops or rounded:
        raise QuestionError(
            "parameter",
            "--const, --self-loops and --rounded are for Markov chains and decision processes that formulas are asked of",
            place=target,
            hint="convert to or from .pm, .drn",
        )
    found = load_question(target, number, horizon, pair, settings)
    program = as_program(found)
    if program is not None:
        found = _as_stream(program)
    suffix = out.suffix.lower()
    streaming = as_stream(found) if suffix != ".smt2" else None
    question: Question | StreamQuestion = streaming or found.words(place=target)
    if suffix in (".yaml", ".yml", ".json"):
        write(out, question_text(question, out))
    elif suffix == ".dot":
        write(out, dot(question))
    elif suffix == ".svg":
        write(out, svg(question))
    elif suffix == ".smt2":
        write(out, _smtlib(found.words(place=target), epsilon_))
    else:
        raise FormatError(
            "suffix", f"unknown suffix {suffix!r}", place=str(out), hint=".yaml, .json, .pm, .drn, .dot, .svg or .smt2"
        )
    say(f"{out} written")


def _as_stream(question: ProgramQuestion) -> ProgramQuestion | StreamQuestion:
    """The stream automaton of a function on a stream, where it has that shape."""
    from privproof.compiling.rewriting import Unsupported
    from privproof.compiling.streams import stream_question

    if question.mechanism.stream is None:
        return question
    try:
        return stream_question(question)
    except Unsupported as problem:
        raise QuestionError(
            "streams", f"not a stream automaton: {problem}", place=question.name, hint="privproof explain"
        ) from None


def _smtlib(question: Question, text: str | None) -> str:
    from privproof.engines.words.smt_search import smtlib

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
