"""Verdicts on programs of the library that several files of tests look at: each is asked for once in a process."""

from __future__ import annotations

from collections.abc import Callable

from privproof import Mechanism, Verdict, check
from privproof.scenarios import ProgramQuestion

_FOUND: dict[Callable[..., object], Verdict] = {}


def checked(subject: Mechanism | ProgramQuestion) -> Verdict:
    """Whether a program of the library keeps its own claim."""
    function = (subject.mechanism if isinstance(subject, ProgramQuestion) else subject).function
    if function not in _FOUND:
        _FOUND[function] = check(subject)
    return _FOUND[function]
