"""Whether a question about a function can also be answered by running it."""

from __future__ import annotations

from dataclasses import replace

from privproof.errors import LanguageError, QuestionError
from privproof.language import Mechanism
from privproof.language.inputs import ADD_REMOVE
from privproof.scenarios import AnyQuestion, RunsQuestion, runs_question


def as_run(of: AnyQuestion, *, sampled: bool = False) -> RunsQuestion | None:
    """The question about running the function; None where it cannot be run on all its data, or on some of them."""
    if isinstance(of, RunsQuestion):
        return of
    function = _function(of)
    if function is None or of.family not in ("words", "program", "draws"):
        return None
    if sampled and (not isinstance(function.neighbours, str) or function.neighbours == ADD_REMOVE):
        return None
    try:
        return runs_question(replace(function, pin=None), size=_size(of, function), sampled=sampled)
    except (LanguageError, QuestionError):
        return None


def is_of_every_size(of: AnyQuestion) -> bool:
    """Whether a question is about lists of every size."""
    if isinstance(of, RunsQuestion):
        return False
    function = _function(of)
    return True if function is None else _has_open_list(function) and _size(of, function) is None


def _function(of: AnyQuestion) -> Mechanism | None:
    return next((each for each in of.functions if isinstance(each, Mechanism)), None)


def _has_open_list(function: Mechanism) -> bool:
    return any(declared.shape == "list" and declared.size is None for declared in function.inputs.values())


def _size(of: AnyQuestion, function: Mechanism) -> int | None:
    return of.list_size if _has_open_list(function) else None
