"""From what a user has (a function, a mechanism, a question) to the question that it poses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, TypeAlias

from privproof.compiling.coins import noisy_records, record_coins_of
from privproof.compiling.draws import draws_question
from privproof.compiling.programs import mechanism_question
from privproof.compiling.registers import registers
from privproof.compiling.relational import Program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.runs import too_many_to_run
from privproof.compiling.sorts import CHOICES, OTHERS, PLACE, RANKED
from privproof.compiling.summaries import SUMMED, sums_up
from privproof.errors import LanguageError, QuestionError
from privproof.exact.patience import Stopped
from privproof.language import Mechanism, mechanism
from privproof.language.flow import Test, instruction_reads
from privproof.language.inputs import ADD_REMOVE, NORMS, RELATIONS, Input, integer, queries
from privproof.language.mechanism import Relation
from privproof.language.recognition import IDEAL, floats_note, inexact
from privproof.language.syntax import Conditional, Constant, Expression, Operation, Variable
from privproof.language.taint import samples
from privproof.language.walking import parts
from privproof.models import Horizon
from privproof.scenarios import AnyQuestion, RunsQuestion, is_program, program_question, runs_question
from privproof.scenarios.program_questions import is_gaussian, is_truncated, is_weighed

Subject: TypeAlias = "AnyQuestion | Mechanism | Callable[..., Any]"
"""What can be asked about: a question, a mechanism, or whatever can be called and is one."""


def pose_question(
    subject: Subject,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    run: bool = False,
) -> AnyQuestion:
    """The question that something poses, at a size and for a horizon where it leaves them open.

    A function that the language has no translation for is asked about as it runs.

    Args:
        subject: a question, a mechanism, or whatever can be called and is one.
        size: the length of lists, where their declaration leaves it open.
        horizon: for a stream the numbers of answers compared.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function or a mechanism which data sets are neighbours, where it does not say it.
        run: whether to run the function as it is, also where it could be translated.

    Raises:
        QuestionError: it poses none, or has no such size or horizon.
        LanguageError: it can neither be translated nor run.
    """
    if isinstance(subject, Mechanism):
        subject = mechanism_with(subject, inputs)
    elif callable(subject) and not isinstance(subject, AnyQuestion | type) and not hasattr(subject, "question"):
        subject = mechanism_of_function(subject, inputs)
    if isinstance(subject, Mechanism):
        if neighbours is not None:
            subject = with_neighbours(subject, neighbours)
        return _of_mechanism(subject, size, horizon, run=run)
    if inputs or neighbours is not None:
        raise QuestionError(
            "input", "only a function has inputs and neighbours to declare", place="inputs", hint="drop them"
        )
    if not isinstance(subject, AnyQuestion):
        made = getattr(subject, "question", None)
        if not isinstance(made, AnyQuestion):
            raise QuestionError(
                "subject",
                f"{type(subject).__name__} is nothing that can be asked about",
                place="subject",
                hint="a function, a @mechanism, a question (Question(model=..., scenario=...)), or a file name",
            )
        subject = made
    if size is not None:
        raise QuestionError("size", "a model has the size it has", place="size", hint="drop the size")
    return subject if horizon is None else subject.lasting(horizon)


def with_neighbours(subject: Mechanism, neighbours: Relation) -> Mechanism:
    """A mechanism with other neighbours.

    Raises:
        LanguageError: there is no such relation.
    """
    if isinstance(neighbours, str) and neighbours not in (*RELATIONS, *NORMS):
        raise LanguageError(
            "neighbours",
            f"neighbours={neighbours!r} is no relation",
            place=subject.name,
            hint=f"{', '.join(RELATIONS)}, or a function of two data sets",
        )
    return replace(subject, relation=neighbours, pin=None)


def mechanism_of_function(function: Callable[..., Any], inputs: Mapping[str, Input] | None = None) -> Mechanism:
    """A function as a mechanism; what runs is the function itself, with its own defaults."""
    call = getattr(type(function), "__call__", None)  # noqa: B004 - not whether it can be called, but by what
    if type(call) is FunctionType:  # an object that can be called: its class says what is done
        return replace(mechanism_of_function(MethodType(call, function), inputs), name=type(function).__name__)
    made: Mechanism = mechanism(function, inputs=inputs)
    return replace(made, bare=True)


def mechanism_with(subject: Mechanism, inputs: Mapping[str, Input] | None) -> Mechanism:
    """A mechanism, with other declarations of some of its inputs."""
    if not inputs:
        return subject
    made: Mechanism = mechanism(subject.function, neighbours=subject.relation, inputs={**subject.inputs, **inputs})
    made = replace(made, claim=subject.claim, measures=subject.measures)
    changed = {n: v for n, v in subject.parameters.items() if n in made.parameters}
    return made.having(**changed) if changed else made


def _of_mechanism(subject: Mechanism, size: int | None, horizon: Horizon | None, *, run: bool) -> AnyQuestion:
    if run:
        return runs_question(subject, size=size)
    try:
        if is_gaussian(subject):
            if horizon is None and (keeps_few(subject, size) or is_settled(subject, size)):
                return program_question(subject, size=size)
            raise LanguageError(
                "gaussian",
                "Gaussian noise is decided by running the function",
                place=subject.place,
                hint="data with finitely many values: records(0, 1), integer(0, 5)",
            )
        if is_truncated(subject) and (horizon is not None or not is_settled(subject, size)):
            raise LanguageError(
                "truncated",
                "truncated noise is decided by running the function",
                place=subject.place,
                hint="data with finitely many values: records(0, 1), integer(0, 5)",
            )
        if is_weighed(subject):
            if size is None and horizon is None and is_aligned(subject):
                return program_question(subject)
            raise LanguageError(
                "choice",
                "weights that depend on data, beyond a choice by scores for lists of every length",
                place=subject.place,
                hint="data with finitely many values, which are run; or exponents that are sums and multiples of data, and no size",
            )
        if not is_program(subject):
            large = None if horizon is not None else draws_question(subject, size=size)
            if large is not None:
                return large
            opened = horizon is None and _open_lists(subject) and (size is None or size > _LISTED)
            if opened and _noisy_sums(subject):
                return program_question(subject, size=size)  # there are as many states as there are sums
            try:
                return mechanism_question(subject, size=size, horizon=horizon, every_length=True)
            except (QuestionError, LanguageError) as problem:
                unsized = size is None and horizon is None and _open_lists(subject)
                if unsized and problem.code != "changed" and is_aligned(subject):
                    return program_question(subject)  # of every length, whatever the states between two elements are
                if isinstance(problem, LanguageError) or problem.code != "size" or not unsized:
                    raise
                if is_ordinary(subject) or subject.neighbours == ADD_REMOVE:
                    return runs_question(subject)  # of every size that there is time for
                raise
        question: AnyQuestion = program_question(_in_numbers(subject), size=size)
        return question if horizon is None else question.lasting(horizon)
    except LanguageError as problem:
        if horizon is not None or subject.proposed is not None or problem.code == "changed":
            raise
        if problem.code == "size" and is_aligned(subject):  # too many data sets for a table, and for runs
            return program_question(subject, size=size)
        if size is not None and too_many_to_run(subject, size) and is_aligned(subject):
            return program_question(subject, size=size)  # an alignment counts no data sets
        return runs_question(subject, size=size, reason=problem)
    except Stopped:
        late = LanguageError(
            "time", "out of time while the model was made", hint="a smaller size, or a longer time limit"
        )
        endless = any(declared.values is None for declared in subject.inputs.values())
        return runs_question(subject, size=size, reason=late, sampled=endless)  # who asks knows that no time is left


_SMALL = 3
"""Whether a function keeps few noisy numbers is tried at this size: its instructions are those of every size."""


def keeps_few(subject: Mechanism, size: int | None) -> bool:
    """Whether a function at a size is one that integrals over few registers are about, on finitely many numbers."""
    private = [declared for declared in subject.inputs.values() if not declared.public]
    if any(declared.values is None or declared.within is None for declared in private):
        return False
    try:
        registers(subject, None if size is None else min(size, _SMALL))
    except (Unsupported, LanguageError):
        return False
    return True


def is_settled(subject: Mechanism, size: int | None) -> bool:
    """Whether a mechanism with Gaussian noise is one that alignments are about, with more data sets than can be run."""
    private = [declared for declared in subject.inputs.values() if not declared.public]
    opened = size is None and _open_lists(subject)
    if subject.stream is not None or not (opened or any(declared.values is None for declared in private)):
        return False
    if any(declared.within is None and declared.shape != "list" for declared in private):
        return False
    try:
        program = program_for_alignment(subject)
    except (Unsupported, LanguageError):
        return False
    return not any(step.noise in (PLACE, OTHERS, RANKED) for step in program.sites)


def is_aligned(subject: Mechanism) -> bool:
    """Whether a mechanism draws geometric noise without bounds or chooses by scores, and is one that alignments are about."""
    kinds = {sample.noise for sample in samples(subject.translated.body)}
    if not kinds & {"geometric", *CHOICES} or subject.stream is not None:
        return False
    return _relational(subject, select=bool(kinds & set(CHOICES))) is not None


def _relational(subject: Mechanism, *, select: bool = False) -> Program | None:
    """The program that alignments are about; its records may hold the coins that are tossed, or the noise that is drawn, for them."""
    found = record_coins_of(subject) or noisy_records(subject)
    for each in (subject,) if found is None else (found.mechanism, subject):
        try:
            return program_for_alignment(each, select=select)
        except (Unsupported, LanguageError):
            continue
    return None


_LISTED = 30
"""Tables and passes go through lists of so many records in a second."""


def _noisy_sums(subject: Mechanism) -> bool:
    """Whether a mechanism adds up over its records and puts geometric noise on the sums, and does nothing else with them."""
    if subject.neighbours not in SUMMED or subject.stream is not None:
        return False
    if not any(sample.noise == "geometric" for sample in samples(subject.translated.body)):
        return False
    program = _relational(subject)
    if program is None or not sums_up(program.code) or any(isinstance(step, Test) for step in program.code):
        return False
    linear: tuple[str, ...] = ("+", "-", "extend", "neg", "pos", "whole", "tuple of", "list of", "total")
    if subject.neighbours != ADD_REMOVE:
        linear += ("len", "turns")  # the same on both sides
    noise = {step.name for step in program.sites}
    done = (part for step in program.code for read in instruction_reads(step) for part in _outside_totals(read))
    return not any(
        isinstance(part, Conditional) or (isinstance(part, Operation) and part.name not in linear)
        for part in done
        if not _clamps(part, noise)
    )


def _clamps(expression: Expression, noise: set[str]) -> bool:
    """Whether an expression is a noisy number that is cut off at constants."""
    match expression:
        case Operation("min" | "max", arguments):
            return all(_clamps(part, noise) for part in arguments)
        case Variable(name):
            return name in noise
        case _:
            return isinstance(expression, Constant)


def _outside_totals(expression: Expression) -> Iterator[Expression]:
    """The parts of an expression, without what is added up."""
    yield expression
    if not (isinstance(expression, Operation) and expression.name == "total"):
        for part in parts(expression):
            yield from _outside_totals(part)


_TRANSLATED = ("program", "words")
"""Questions about functions that were translated."""


def is_ordinary(subject: Mechanism) -> bool:
    """Whether a function draws noise of libraries, so that running it is what is done where its translation has no answer."""
    return subject.proposed is None and subject.translated.ordinary


def ordinary_mechanism(question: AnyQuestion) -> Mechanism | None:
    """The function behind a question that draws noise of libraries and was translated; None for every other question."""
    found = question.functions[:1] if question.family in _TRANSLATED else ()
    return next((each for each in found if isinstance(each, Mechanism) and is_ordinary(each)), None)


def run_instead(question: AnyQuestion, reason: str) -> RunsQuestion | None:
    """The question of running a function that no engine had an answer for; None where it is not run.

    A function with infinitely many data sets is run on a few of them.
    A function that became a model is run only if it draws noise of libraries: else its model is what was asked about.
    """
    function = next((each for each in question.functions if isinstance(each, Mechanism)), None)
    if function is None or question.family not in _TRANSLATED or (question.claims and question.budget is None):
        return None
    if question.family == "words" and not (is_ordinary(function) and (question.list_size or not _open_lists(function))):
        return None
    size = question.list_size if _open_lists(function) else None
    endless = any(declared.values is None for declared in function.inputs.values())
    if endless and (not isinstance(function.neighbours, str) or function.neighbours == ADD_REMOVE):
        return None
    try:
        found = runs_question(replace(function, pin=None), size=size, sampled=endless)
    except LanguageError:
        return None
    return replace(found, reason=reason, budget=question.budget)


def of_every_length(question: AnyQuestion) -> AnyQuestion | None:
    """The question about lists of every length, where alignments are about a function that was to be run at a size; None elsewhere.

    It draws Gaussian noise, and a delta is claimed, or geometric noise without bounds.

    What is proved of every length holds at the size; what is refuted need not.
    """
    subject, sizes = (getattr(question, name, None) for name in ("mechanism", "sizes"))
    if question.family != "runs" or not sizes or not isinstance(subject, Mechanism) or subject.proposed is not None:
        return None
    pure = question.budget is not None and question.budget.delta == 0
    try:
        if not (is_settled(subject, None) if is_gaussian(subject) and not pure else is_aligned(subject)):
            return None
        return program_question(subject).under(question.budget)
    except LanguageError:
        return None


def ordinary_notes(question: AnyQuestion) -> tuple[str, ...]:
    """What a verdict about ordinary code takes for granted, in words."""
    mechanism = ordinary_mechanism(question)
    if mechanism is None:
        return ()
    program = mechanism.program
    values = [*program.parameters.values()]
    values += [m.value for function in program.functions for m in function.meanings.values() if m.kind == "constant"]
    values += [default for function in program.functions for default in function.defaults.values()]
    code = getattr(mechanism.function, "__code__", None)
    values += () if code is None else code.co_consts
    return (*floats_note(inexact(values)), IDEAL, *((_MEANT,) if is_weighed(mechanism) else ()))


_MEANT = "weights that are powers of e count as the real numbers that are meant; refutations have the floats that Python computes"


def _open_lists(subject: Mechanism) -> bool:
    return any(declared.shape == "list" and declared.size is None for declared in subject.inputs.values())


def _in_numbers(subject: Mechanism) -> Mechanism:
    """The mechanism with records that are whole numbers without a gap declared as such numbers: their neighbours are the same.

    A record changes in any way, so a number within low, ..., high changes by at most high - low; one record changes at a time.
    """
    private = [declared for declared in subject.inputs.values() if not declared.public]
    relation = subject.neighbours
    if not is_ordinary(subject) or relation not in ("one", "each"):
        return subject
    if any(declared.within is not None for declared in private) or any(i.shape == "stream" for i in private):
        return subject
    inputs = {}
    for name, declared in subject.inputs.items():
        values = declared.values
        if declared.public:
            inputs[name] = declared
            continue
        if not values or any(type(value) is not int for value in values) or len(values) < 2:
            return subject
        low, high = min(values), max(values)
        if high - low != len(values) - 1:
            return subject
        make = queries if declared.shape == "list" else integer
        options = {"size": declared.size} if declared.shape == "list" else {}
        inputs[name] = replace(make(low, high, sensitivity=high - low, **options), array=declared.array)
    return replace(subject, inputs=MappingProxyType(inputs), relation=relation)
