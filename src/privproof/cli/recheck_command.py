"""The command ``recheck``: what a certificate establishes, how, from which source, and whether a file is still that program."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privproof.cli.command_answers import end, say, say_json
from privproof.cli.command_options import AsJson, Settings
from privproof.cli.command_worker import WHY, command, on_interrupt, report_activity, set_time_limit
from privproof.errors import QuestionError
from privproof_checker import Accepted, Outcome, recheck_file

if TYPE_CHECKING:
    from privproof.language import Mechanism


@command("recheck")
def recheck(
    path: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate written by --certificate.")],
    source: Annotated[
        str | None, typer.Option("--source", metavar="FILE:NAME", help="Is this still the program that was verified?")
    ] = None,
    settings: Settings = None,
    explain: Annotated[bool, typer.Option("--explain", help="Tell the argument, rule by rule.")] = False,
    as_json: AsJson = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0, help="Give up after so many seconds, with status 3.")
    ] = 600,
) -> None:
    """Check a certificate with the independent checker.

    Status 0 accepted, 2 rejected, 3 about another program, or not decided within a limit.
    """
    neither: dict[str, Any] = {"accepted": False, "seconds": 0.0, "reason": WHY, "place": str(path)}
    on_interrupt(lambda _: {"object": neither} if as_json else {"err": f"? not checked  {path}: {WHY}\n"})
    set_time_limit(time_limit)
    report_activity(f"checking {path}")
    begun = time.perf_counter()
    outcome = recheck_file(path)
    seconds = time.perf_counter() - begun
    changed = compare_with_program(outcome, source, settings)
    if as_json:
        facts = {"argument": _facts(outcome)} if explain and isinstance(outcome, Accepted) else {}
        say_json(recheck_data(outcome, seconds, changed) | facts)
    elif isinstance(outcome, Accepted):
        say(recheck_text(outcome, seconds, source, changed))
        if explain:
            say(_accepted_argument(outcome))
    else:
        say(f"✗ rejected  {outcome.place}: {outcome.reason}", err=True)
    end(2 if not isinstance(outcome, Accepted) else 3 if changed else 0)


def compare_with_program(outcome: Outcome, target: str | None, settings: list[str] | None) -> list[str] | None:
    """In what the mechanism ``FILE:NAME`` differs from the program of an accepted certificate; None if none is named."""
    if target is None:
        if settings:
            raise QuestionError("parameter", "--set goes with --source", place="--set", hint="--source FILE:NAME")
        return None
    if not isinstance(outcome, Accepted):
        return None
    asked = _below_measure(outcome.question)
    if asked.get("kind") == "runs":
        return _run_again(asked, target, settings)
    member: Any = asked.get("source")
    if member is None:
        raise QuestionError(
            "source",
            "the certificate is about a model, and holds no source",
            place="--source",
            hint="privproof check FILE:NAME --certificate OUT writes one that does",
        )
    from privproof.evidence.question_sources import differences, other_neighbours

    try:
        declared, relation = member["program"]["inputs"], str(member["relation"])
        subject = _as_declared(target, {name: str(each["text"]) for name, each in declared.items()}, relation, settings)
        found = differences(member, subject)
        own = not found and member["relation"] == "function"
        return other_neighbours(asked, subject) if own else found
    except (KeyError, TypeError, AttributeError):
        raise QuestionError(
            "source", "the certificate's record of the program is no such record", place="question.source.program"
        ) from None


def _below_measure(question: Mapping[str, Any]) -> Mapping[str, Any]:
    """The question about the program, where that about a measure or about several uses of one function holds it."""
    if question.get("kind") == "composed":
        if len(question["uses"]) != 1:
            raise QuestionError(
                "source", "the certificate is about several programs", place="question.uses", hint="one at a time"
            )
        return _below_measure(question["uses"][0]["of"])
    return question["of"] if question.get("kind") == "measured" else question


def _run_again(asked: Mapping[str, Any], target: str, settings: list[str] | None) -> list[str]:
    """In what the runs of the function ``FILE:NAME`` differ from those of an accepted certificate."""
    from privproof.engines.runs.run_again import other_runs

    declared: Any = asked["inputs"]
    texts = {name: str(each["text"]) for name, each in declared.items()}
    return other_runs(dict(asked), _as_declared(target, texts, str(asked["relation"]), settings))


def _as_declared(target: str, declared: Mapping[str, str], relation: str, settings: list[str] | None) -> Mechanism:
    """The function ``FILE:NAME``; what a plain one does not say of its inputs and neighbours, the certificate says."""
    from privproof.compiling.posing import mechanism_of_function, mechanism_with, with_neighbours
    from privproof.formats.python_files import read_input
    from privproof.language import Mechanism
    from privproof.loading.file_targets import parameters_of
    from privproof.loading.function_loading import load_subject

    found = load_subject(target)
    if not isinstance(found, Mechanism) and not callable(found):
        raise QuestionError(
            "source", f"{target} is no function", place="--source", hint="--source FILE:NAME, the name of a function"
        )
    inputs = dict(read_input(f"{name}={text}") for name, text in declared.items())
    if isinstance(found, Mechanism):
        subject = mechanism_with(found, {name: each for name, each in inputs.items() if name not in found.inputs})
    else:
        subject = mechanism_with(mechanism_of_function(found, inputs), inputs)
        subject = subject if relation == "function" else with_neighbours(subject, relation)
    parameters = parameters_of(settings)
    return subject.having(**parameters) if parameters else subject


def _facts(outcome: Accepted) -> list[dict[str, str]]:
    from privproof_checker.derived_facts import argument

    return [asdict(fact) for fact in argument(outcome)]


def _accepted_argument(outcome: Accepted) -> str:
    from privproof_checker.derived_facts import argument_text

    return argument_text(outcome)


def recheck_data(outcome: Outcome, seconds: float, changed: list[str] | None) -> dict[str, Any]:
    """The answer as plain data."""
    result: dict[str, Any] = {"accepted": isinstance(outcome, Accepted), "seconds": round(seconds, 6)}
    if not isinstance(outcome, Accepted):
        return {**result, "reason": outcome.reason, "place": outcome.place}
    result |= {"verdict": outcome.verdict, "statement": outcome.statement, "how": dict(outcome.how)}
    result["source"] = outcome.details.get("source")
    if changed is not None:
        result |= {"same_program": not changed, "changed": changed}
    return result


def recheck_text(outcome: Accepted, seconds: float, target: str | None, changed: list[str] | None) -> str:
    """The answer in words, one line for each part."""
    lines = [f"✓ accepted  {outcome.verdict}: {outcome.statement} ({seconds:.2f} s)", f"  {how_words(outcome)}"]
    if changed:
        lines.append(f"✗ another program  {target} is not what was verified:")
        lines += [f"  {each}" for each in changed]
    elif changed is not None:
        source: Any = outcome.details.get("source") or {}
        runs = _below_measure(outcome.question).get("kind") == "runs"
        said = "; it was run again, and all its runs are the same" if runs else _TAKEN
        taken = "" if source.get("established") else said
        lines.append(f"✓ the same program  {target} is what was verified{taken}")
    return "\n".join(lines)


_TAKEN = "; its model was taken from the compiler, not re-established"


def how_words(outcome: Accepted) -> str:
    """How a verdict was re-established, in words."""
    how = outcome.how
    by = {"witnessed": "witnessed by the certificate", "recomputed": "recomputed"}[how["by"]]
    about = "" if "source" in outcome.details else ", about a model"
    if _below_measure(outcome.question).get("kind") == "runs":
        about = ", about runs as they were recorded"
    return f"{by}{about}: {how['words']}"
