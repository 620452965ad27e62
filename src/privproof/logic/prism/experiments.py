"""Constants from the command line, as PRISM has them: ``N=3,p=0.1``, and ranges ``N=1:2:5``, which ask once for every value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

from privproof.errors import PrivproofError, QuestionError
from privproof.exact import fraction, rational

_MOST_EXPERIMENTS = 10_000
"""Combinations of values of ranges; beyond, the request is refused, since each is a model of its own."""


def constants_of(text: str | None) -> dict[str, str]:
    """The constants that ``--const`` gives, as PRISM has it: ``N=3,p=0.1``.

    >>> constants_of("N=1:2:5, p=1/3")
    {'N': '1:2:5', 'p': '1/3'}
    """
    result: dict[str, str] = {}
    for part in filter(None, (text or "").split(",")):
        name, equals, value = (side.strip() for side in part.partition("="))
        if not equals or not name.isidentifier() or not value:
            raise QuestionError(
                "parameter", f"{part!r} gives no constant a value", place="--const", hint="--const N=3,p=0.1"
            )
        result[name] = value
    return result


def experiments(settings: Mapping[str, str]) -> list[dict[str, str]]:
    """The settings one after the other that a text with ranges means: ``1:5``, or ``1:2:5`` with a step.

    >>> experiments({"N": "1:2:5", "k": "2"})
    [{'N': '1', 'k': '2'}, {'N': '3', 'k': '2'}, {'N': '5', 'k': '2'}]
    """
    ways = [[(name, value) for value in _values_of(name, text)] for name, text in settings.items()]
    if math.prod(map(len, ways)) > _MOST_EXPERIMENTS:
        raise QuestionError("parameter", f"the ranges have more than {_MOST_EXPERIMENTS} combinations", place="--const")
    return [dict(chosen) for chosen in product(*ways)]


def _values_of(name: str, text: str) -> list[str]:
    """The values of a range, or the one value that a text is."""
    parts = text.split(":")
    if len(parts) not in (2, 3):
        return [text]
    try:
        low, high = rational(parts[0].strip()), rational(parts[-1].strip())
        step = rational(parts[1].strip()) if len(parts) == 3 else rational(1)
    except PrivproofError as problem:
        raise problem.at(f"--const {name}") from None
    if step <= 0 or high < low:
        raise QuestionError("parameter", f"the range {text} has no value", place=f"--const {name}", hint="N=1:2:5")
    count = math.floor(fraction((high - low) / step)) + 1
    if count > _MOST_EXPERIMENTS:
        raise QuestionError("parameter", f"the range {text} has {count} values", place=f"--const {name}")
    return [str(low + step * turn) for turn in range(count)]
