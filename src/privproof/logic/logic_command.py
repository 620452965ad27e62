"""The command ``logic``: a formula of dpCTL* asked of a Markov chain, a decision process or a mechanism."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privproof.cli.command_answers import console, end, say, say_json, write
from privproof.cli.command_options import (
    AsJson,
    CertificateOut,
    Constants,
    HorizonText,
    ReportOut,
    Rounded,
    SelfLoops,
    Settings,
    Size,
    TimeLimit,
)
from privproof.cli.command_requests import STATUS, begin, one_size, writable
from privproof.cli.command_worker import command, command_monitor, report_activity
from privproof.errors import FormatError, FormulaError, PrivproofError, QuestionError
from privproof.loading.file_targets import settings_of
from privproof.logic.decision_process import Missing
from privproof.logic.formula_engine import draw_runs, model_check
from privproof.logic.formula_loading import AskedFormula, load_formulas
from privproof.logic.formula_texts import (
    experiment_line,
    filtered_status,
    print_satisfaction,
    runs_data,
    runs_lines,
    satisfaction_data,
)
from privproof.logic.formulas import WrittenFormula
from privproof.logic.prism.experiments import constants_of, experiments
from privproof.logic.state_filters import apply_filter
from privproof.logic.state_satisfaction import Satisfaction
from privproof.models import Horizon
from privproof.reporting import Fact

if TYPE_CHECKING:
    from privproof.logic.computed_quantities import Computation


@command("logic")
def logic(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model file (.yaml, .json, PRISM .pm .nm .prism, .jani, .drn), or a Python file and a name.",
        ),
    ],
    formula: Annotated[
        str,
        typer.Argument(
            metavar="FORMULA",
            help="A state formula: D[ln(3), 0](X out1), P=? [ F done ]; or a file of properties (.props, .pctl, .jani).",
        ),
    ],
    states: Annotated[
        list[str] | None, typer.Option("--state", help="Ask about this state; may be repeated. Default: see below.")
    ] = None,
    neighbours: Annotated[
        str | None,
        typer.Option("--neighbours", metavar="'A ~ B; ...'", help="The neighbour relation, instead of the model's."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--property", metavar="NAME", help="Of a file, the property of this name or on this line."),
    ] = None,
    settings: Settings = None,
    size: Size = None,
    horizon: HorizonText = None,
    constants: Constants = None,
    self_loops: SelfLoops = False,
    rounded: Rounded = False,
    missing: Annotated[
        Missing,
        typer.Option(
            "--missing",
            help="What D takes an action for in a state that does not have it: it changes nothing, ends the run (label refused), or is "
            "never asked for.",
        ),
    ] = "stay",
    exact: Annotated[bool, typer.Option("--exact", help="Exact numbers however large the model is.")] = False,
    tight: Annotated[
        bool, typer.Option("--tight", help="On a decision process, look for the least epsilon and delta as well.")
    ] = False,
    simulate: Annotated[
        int | None,
        typer.Option("--simulate", metavar="N", help="Draw N runs from each state asked about instead, and show them."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="For --simulate: the same runs again.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List all states and all pairs.")] = False,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """In which states does a formula hold, and what are the probabilities behind it?

    The verdict is about the states named by --state; without it about the states that have neighbours (for a formula with D), or
    those where the model starts, or all. Exit status: 0 it holds in all of them, 1 it fails in one, 3 not decided.
    """
    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    given = settings_of(settings)
    tried = [given | values for values in experiments(constants_of(constants))]
    listed = [
        (label, asked)
        for label, values in ((_label(values, tried), values) for values in tried)
        for asked in load_formulas(
            target,
            formula,
            only=only,
            neighbours=neighbours,
            size=one_size(size),
            horizon=None if horizon is None else Horizon.of(horizon),
            settings=values,
            self_loops=self_loops,
            rounded=rounded,
        )
    ]
    if len(listed) > 1 and (certificate or report):
        raise QuestionError(
            "property",
            f"{len(listed)} properties are asked, and a certificate or a report is about one",
            hint="--property NAME" if len(tried) == 1 else "--const with one value each",
        )
    if simulate is not None:
        _simulate([asked for _, asked in listed], states, simulate, seed, as_json=as_json)
        return
    report_activity("model checking")
    shown: list[dict[str, object]] = []
    statuses: list[int] = []
    for label, asked in listed:
        head: dict[str, object] = {"constants": label} if label else {}
        head |= {"property": asked.name} if asked.name else {}
        try:
            found = _check_formula(
                asked, states, exact=exact, tight=tight, missing=missing, certify=certificate is not None
            )
        except (QuestionError, FormulaError, FormatError) as problem:
            if len(listed) == 1:
                raise
            statuses.append(STATUS["unknown"])
            shown.append({**head, "verdict": "unknown", "reason": str(problem)})
            if not as_json:
                say(f"- not asked  {' '.join(map(str, filter(None, (label, asked.name))))}: {problem}")
            continue
        if not isinstance(found, Satisfaction):
            from privproof.logic.computed_texts import (  # here and below: most formulas compute nothing from several
                computation_data,
                computation_line,
                computation_status,
                print_computation,
            )

            if report is not None:
                raise QuestionError(
                    "property", f"{found.text} is computed from several properties, and a page is about one"
                )
            statuses.append(computation_status(found))
            if as_json:
                shown.append({**head, **computation_data(found)})
            elif label:
                say(f"{label}  {asked.name + '  ' if asked.name else ''}{computation_line(found)}")
            else:
                print_computation(console(), found, name=asked.name, certified=certificate is not None)
            continue
        made = None if asked.aggregate is None else apply_filter(found, asked.aggregate)
        written = None
        if certificate is not None and found.certificate is not None:
            write(certificate, json.dumps(found.certificate, ensure_ascii=False, indent=1) + "\n")
            written = str(certificate)
        if report is not None:
            from privproof.logic.formula_pages import satisfaction_page  # here, because most answers are no pages

            write(report, satisfaction_page(found, certificate=written).written(report))
        statuses.append(STATUS[found.status] if made is None else filtered_status(found, made))
        if as_json:
            shown.append({**head, **satisfaction_data(found, certificate=written, every=every, made=made)})
        elif label:
            say(experiment_line(label, asked.name, found, made))
        else:
            more: list[Fact] = []
            if certificate is not None:
                none = "none: =? claims nothing" if found.is_query else "none: only a decided formula has one"
                more.append(Fact("certificate", written or none))
            if report is not None:
                more.append(Fact("report", str(Path(report))))
            print_satisfaction(console(), found, every=every, more=tuple(more), made=made, name=asked.name)
    worst = 1 if 1 in statuses else 3 if 3 in statuses else 0
    if as_json:
        verdict = {0: "proved", 1: "refuted", 3: "unknown"}[worst]
        say_json(shown[0] if len(shown) == 1 else {"verdict": verdict, "properties": shown})
    end(worst)


def _simulate(
    listed: list[AskedFormula], states: list[str] | None, count: int, seed: int | None, *, as_json: bool
) -> None:
    """Draw runs and show them; a claim is not decided."""
    report_activity("drawing runs")
    shown: list[object] = []
    for asked in listed:
        if isinstance(asked.written, PrivproofError):
            raise asked.written
        if not isinstance(asked.written, WrittenFormula):
            raise QuestionError(
                "runs", f"{asked.written.written} is computed from several properties", hint="name one of them"
            )
        with command_monitor() as monitor:
            runs = draw_runs(
                asked.process, asked.written, count=count, states=states or asked.states, seed=seed, monitor=monitor
            )
        shown.append({"formula": str(asked.written.formula), "runs": runs_data(asked.process, runs)})
        if not as_json:
            say("\n".join(runs_lines(asked.process, runs)))
    if as_json:
        say_json(shown[0] if len(shown) == 1 else {"properties": shown})
    end(0)


def _label(values: dict[str, str], tried: list[dict[str, str]]) -> str:
    """What tells one of several experiments from the others; nothing where there is one."""
    changing = [name for name in values if len({each[name] for each in tried}) > 1]
    return ", ".join(f"{name}={values[name]}" for name in changing)


def _check_formula(
    asked: AskedFormula, states: list[str] | None, *, exact: bool, tight: bool, missing: Missing, certify: bool
) -> Satisfaction | Computation:
    if isinstance(asked.written, PrivproofError):
        raise asked.written
    with command_monitor() as monitor:
        if not isinstance(asked.written, WrittenFormula):
            from privproof.logic.computed_quantities import compute

            return compute(asked.written, states=states, exact=exact, missing=missing, monitor=monitor)
        return model_check(
            asked.process,
            asked.written,
            states=states or asked.states,
            exact=exact,
            tight=tight,
            missing=missing,
            certify=True if certify else None,
            monitor=monitor,
        )
