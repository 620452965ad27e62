"""A mechanism of finite kind becomes a question about a transducer.

Three shapes:

* *list* (`compiling.list_programs`): one private list, fed to the mechanism one answer a step.
* *whole* (`compiling.whole_programs`): one private value, or several inputs, or a relation of the user's own, or lists of different
  length: one step reads the whole data set.
* *stream* (`compiling.stream_programs`): answers without end.
"""

from __future__ import annotations

from dataclasses import replace

from privproof.compiling.finite_programs import FiniteProgram
from privproof.compiling.list_programs import every_length_question, list_question
from privproof.compiling.stream_programs import requested_question, stream_question
from privproof.compiling.whole_programs import data_set_question, whole_question
from privproof.errors import LanguageError, QuestionError
from privproof.language.inputs import ADD_REMOVE
from privproof.language.mechanism import Mechanism
from privproof.models import Horizon, Transducer
from privproof.scenarios import Question


def mechanism_question(
    mechanism: Mechanism,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    name: str | None = None,
    every_length: bool = False,
) -> Question:
    """The question that a mechanism poses.

    Args:
        mechanism: the mechanism.
        size: the length of its lists, where their declaration leaves it open; for a stream the largest number of answers.
        horizon: for a stream, the numbers of answers compared.
        name: how reports call it; by default its name with the size.
        every_length: whether the question is about lists of every length where no size is given, and the loop over the list allows it.

    Raises:
        LanguageError: the mechanism is outside the language, or has no finite model.
        QuestionError: the size is missing, or there is none to give.
    """
    try:
        return _question(FiniteProgram(mechanism, size, horizon, every_length=every_length), name)
    except LanguageError as problem:
        raise (problem if problem.place else problem.at(mechanism.place)) from None


def given_in_advance(question: Question) -> Question:
    """The same question with all outputs of a generator on a list shown at the end, as one.

    A claim over events is about every adversary, who chooses the next inputs by the outputs so far.  On a stream it may; a list is
    given in advance, so nothing may be shown before all of it is read.  Without delta both are the same: one word decides.
    """
    origin, model = question.origin, question.model
    if origin is None or origin.fed is None or origin.collected or origin.mechanism.stream is not None:
        return question
    assert isinstance(model, Transducer)
    left_open = any(i.shape == "list" and i.size is None for i in origin.mechanism.inputs.values())
    program = FiniteProgram(origin.mechanism, len(model.steps) if left_open else None, None, collected=True)
    made = _question(program, question.name)
    names = {pair.name for pair in question.scenario.pairs}
    pairs = tuple(pair for pair in made.scenario.pairs if pair.name in names)
    return replace(made, scenario=replace(made.scenario, pairs=pairs), budget=question.budget)


def _question(program: FiniteProgram, name: str | None) -> Question:
    only = next(iter(program.private.values()))
    relation = program.mechanism.neighbours
    if program.stream is not None and program.mechanism.inputs[program.stream].public:
        return requested_question(program, relation, name)
    if program.stream is not None:
        if len(program.private) > 1:
            program.refuse("input", "a private input beside a stream", "make it public(...), or drop the stream")
        if callable(relation) or relation == ADD_REMOVE:
            said = "a relation of your own on a stream" if callable(relation) else "one element more on a stream"
            program.refuse("neighbours", said, "each, one or monotone")
        return stream_question(program, str(relation), name)
    if program.horizon is not None and program.horizon.high is not None:
        raise QuestionError(
            "horizon", "the mechanism reads no stream, so its size counts", place="--horizon", hint="--size 3"
        )
    if program.every_length:
        return every_length_question(program, str(relation), name)
    if len(program.private) == 1 and not callable(relation) and relation != ADD_REMOVE:
        if only.shape == "list":
            return list_question(program, str(relation), name)
        return whole_question(program, str(relation), name)
    return data_set_question(program, relation, name)
