"""Model checking: a formula of dpCTL* asked of a Markov chain, a decision process, or a mechanism made into one."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from typing import get_args

import numpy as np

from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor, Stopped
from privproof.errors import QuestionError
from privproof.evidence import Unknown
from privproof.evidence.engine_answers import Answer
from privproof.evidence.gate import admit
from privproof.logic.counterexample_traces import FAR, Trace, drawn_traces
from privproof.logic.decision_process import REFUSED, DecisionProcess, Missing
from privproof.logic.formula_certificates import logic_evidence
from privproof.logic.formula_question import FormulaQuestion
from privproof.logic.formulas import (
    Accumulated,
    Expected,
    Formula,
    LongRun,
    Momentary,
    NextState,
    OfPaths,
    Private,
    Probable,
    Unary,
    Until,
    WrittenFormula,
    note_on_reading,
    read_formula,
)
from privproof.logic.formulas.sublogics import only_private, subformulas
from privproof.logic.model_checking import Checker
from privproof.logic.state_satisfaction import Satisfaction

_CONFIRMED = 20_000
"""A verdict about a process with at most so many entries is confirmed by the independent checker at once."""


_STEPS = 1_000
"""And one about a formula that looks at most so many steps ahead."""


def model_check(
    process: DecisionProcess,
    formula: Formula | WrittenFormula | str,
    *,
    states: Collection[str] | None = None,
    exact: bool = False,
    tight: bool = False,
    missing: Missing = "stay",
    certify: bool | None = None,
    monitor: Monitor | None = None,
) -> Satisfaction:
    """In which states of a process does a formula of dpCTL* hold?

    Args:
        process: a labelled Markov chain or decision process.
        formula: the formula, or its text, or both (`read_formula`); a text that is read otherwise where temporal operators bind
            tighter than ``&``, such as ``P>=1/2 [ F a & b ]``, gets a note with both readings.
        states: the states the verdict is about; without it those that have neighbours (for a formula with D), or those a run starts
            in, or all.
        exact: never be content with enclosures, however long exact numbers take.
        tight: on a decision process, look for the least epsilon and delta of every D as well; on a chain they are always given.
        missing: what D takes an action for in a state that does not have it: ``"stay"``, it changes nothing; ``"refuse"``, it ends
            the run in a state and label ``refused``, of which formulas may speak; ``"enabled"``, it is not asked for: sequences of
            actions count only where every state has them in which either run may be.
        certify: whether to make a certificate and let the independent checker confirm the verdict; without it, where the process
            is small.
        monitor: progress, a time limit, an interrupt.

    >>> from privproof.logic.library.logic_models import survey
    >>> found = model_check(survey(), "D[ln(3), 0](X out1)")
    >>> found.status, found.witness.left_probability.low, found.witness.right_probability.low, found.witness.epsilon[0]
    ('proved', 3/4, 1/4, Epsilon('ln(3)'))
    """
    begun = time.perf_counter()
    written = read_formula(formula) if isinstance(formula, str) else formula
    parsed = written.formula if isinstance(written, WrittenFormula) else written
    if missing not in get_args(Missing):
        raise QuestionError(
            "missing", f"{missing!r} is nothing that a missing action does", hint=", ".join(get_args(Missing))
        )
    process = process.refusing() if missing == "refuse" else replace(process, missing=missing)
    asked, chosen = asked_states(process, parsed, states)
    checker = Checker(
        process, monitor or Monitor(), always_exact=exact, tight=tight, asked=asked, alone=only_private(parsed)
    )
    try:
        found = _decide_states(checker, FormulaQuestion(process, parsed, asked), chosen)
    except QuestionError as problem:
        if problem.code == "unknown-name" and isinstance(written, WrittenFormula):
            raise written.complaint(problem) from None
        raise
    reading = note_on_reading(written) if isinstance(written, WrittenFormula) else None
    read_so = () if reading is None else (reading,)
    found = replace(found, notes=(*process.relies, *read_so, *_note_on_missing(process, parsed)))
    found = _confirm_answer(found, certify=certify)
    return replace(found, seconds=time.perf_counter() - begun)


def draw_runs(
    process: DecisionProcess,
    formula: Formula | WrittenFormula | str,
    *,
    count: int,
    steps: int = 50,
    states: Collection[str] | None = None,
    seed: int | None = None,
    monitor: Monitor | None = None,
) -> tuple[Trace, ...]:
    """Runs of a process, drawn, each until it settles the formula's first P, R, D, E or A, or so many steps; nothing is proved by them.

    Args:
        process: a labelled Markov chain or decision process; of the latter all choices of a state are equally likely.
        formula: what the runs are looked at for.
        count: how many runs from each state.
        steps: how long they are at most.
        states: where they begin; without it as for `model_check`.
        seed: makes the draws repeatable.
        monitor: a time limit, an interrupt.

    >>> from privproof.logic.library.logic_models import survey
    >>> [run.outcome for run in draw_runs(survey(), "P=? [ X out1 ]", count=3, states=["plus"], seed=1)]
    ['satisfied', 'satisfied', 'violated']
    """
    if count < 1 or steps < 1:
        raise QuestionError("runs", f"{count} runs of {steps} steps are none", place="--simulate", hint="--simulate 10")
    written = read_formula(formula) if isinstance(formula, str) else formula
    parsed = written.formula if isinstance(written, WrittenFormula) else written
    asked, _ = asked_states(process, parsed, states)
    monitor = monitor or Monitor()
    checker = Checker(process, monitor)
    paths = [part.path for part in subformulas(parsed) if isinstance(part, Probable | Private | OfPaths | Expected)]
    about = next((path for path in paths if not isinstance(path, Accumulated | Momentary | LongRun)), None)
    prepared = (FAR, [np.ones(len(process), np.bool_)]) if about is None else checker.path(about)
    if prepared is None:
        raise QuestionError("runs", "; ".join(checker.reasons), place="formula")
    path, truths = prepared
    found = drawn_traces(process, truths, path, asked, count=count, steps=steps, seed=seed, pause=monitor.pause)
    return tuple(found)


class LogicEngine:
    """Answers questions about formulas."""

    name = "logic"

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return "a formula says itself what is claimed" if request.tight else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """Whether the formula holds in all the states that are asked about."""
        question = request.question
        assert isinstance(question, FormulaQuestion)
        checker = Checker(question.process, monitor, asked=question.states, alone=only_private(question.formula))
        yield _answer(_decide_states(checker, question, "those asked about"))


def _decide_states(checker: Checker, question: FormulaQuestion, chosen: str) -> Satisfaction:
    """In which states the formula holds, as far as that was decided."""
    try:
        truth = checker.truth(question.formula)
    except Stopped:
        truth = np.full(len(question.process), -1, np.int8)
        checker.reasons.append(checker.monitor.stopped() or "stopped")
    reasons = tuple(dict.fromkeys(checker.reasons))
    return Satisfaction(question.process, question.formula, question.states, chosen, truth, checker.measured, reasons)


def _answer(found: Satisfaction) -> Answer:
    """What is about to be said about the states that are asked about."""
    computed = found.computed
    question = FormulaQuestion(found.process, found.formula, found.asked, in_columns=found.in_columns)
    if computed == "unknown":
        return Answer(status="unknown", question=question, engine=found.engine, reason="; ".join(found.reasons))
    return Answer(status=computed, question=question, engine=found.engine, evidence=logic_evidence(found))


def asked_states(
    process: DecisionProcess, formula: Formula, states: Collection[str] | None
) -> tuple[tuple[int, ...], str]:
    """The states that the verdict is about, and how they were chosen."""
    if states:
        return tuple(dict.fromkeys(process.state(name, place="states") for name in states)), "those asked about"
    if states is not None:
        raise QuestionError("states", "no state is named", place="states", hint="name one, or leave it out")
    related = sorted({s for pair in process.related for s in pair})
    if related and any(isinstance(part, Private) for part in subformulas(formula)):
        return tuple(related), "those that have neighbours"
    if process.initial:
        return process.initial, "those a run starts in"
    return tuple(range(len(process))), "all"


def _note_on_missing(process: DecisionProcess, formula: Formula) -> tuple[str, ...]:
    """What D takes actions for that some states do not have."""
    if not process.lacking or not any(isinstance(part, Private) for part in subformulas(formula)):
        return ()
    pairs = len(process) * len(process.actions)
    does = {
        "stay": "there an action changes nothing",
        "refuse": f"there an action ends the run in the state {REFUSED}",
        "enabled": "sequences that ask for an action where one of the two runs may lack it are left out, and tell nothing",
    }
    return (
        f"D asks both neighbours for the same actions, and {process.lacking} of {pairs} pairs of a state and an action are missing: "
        f"{does[process.missing]}",
    )


def _longest(formula: Formula) -> int:
    """The largest number of steps in a formula."""
    longest = 0
    for part in subformulas(formula):
        if isinstance(part, NextState):
            longest = max(longest, part.times.constant)
        elif isinstance(part, Unary | Until) and part.bound.high is not None:
            longest = max(longest, part.bound.high.constant)
    return longest


def _confirm_answer(found: Satisfaction, *, certify: bool | None) -> Satisfaction:
    """The answer with its verdict, where the independent checker accepts its certificate; otherwise why it has none."""
    computed = found.computed
    if computed == "unknown" or found.is_query:
        return found
    why = _reason_uncertified(found, certify=certify)
    if why:
        told = "it holds in every state asked about" if computed == "proved" else "it fails in a state asked about"
        return replace(found, reasons=(*found.reasons, f"computed, and not certified: {told}; {why}"))
    verdict = admit(_answer(found))
    if isinstance(verdict, Unknown):
        undecided = np.full(len(found.truth), -1, np.int8)
        return replace(found, truth=undecided, reasons=(*found.reasons, verdict.reason))
    return replace(found, verdict=verdict)


def _reason_uncertified(found: Satisfaction, *, certify: bool | None) -> str:
    """Why there is no certificate; empty where there is to be one."""
    if certify is False:
        return "no certificate was asked for"
    if found.in_columns:
        return ""
    entries = len(found.process.targets)
    if certify is None and (entries > _CONFIRMED or _longest(found.formula) > _STEPS):
        size = f"the process has {entries} transitions" if entries > _CONFIRMED else "the formula looks far ahead"
        return f"{size}: ask for a certificate to have it checked, however long that takes"
    return ""
