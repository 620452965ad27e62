"""Trials of a translation: on a few data sets the model and the running function must give the same outputs.

A refutation shows its two data sets, and the function is run on them.  A proof is about all data sets; here some are tried: the two
extreme ones and others at random, always the same ones.  A trial proves nothing about the rest; it is there to catch a
translation that is wrong, whatever the reason.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from privproof.compiling.distributions import output_classes
from privproof.exact import fraction, show
from privproof.language import Mechanism
from privproof.language.running import Run, outputs
from privproof.language.values import held, text
from privproof.models import Transducer
from privproof.scenarios import Origin, Question, fits

_TRIALS = 8
_FEW_TRIALS = 3
_LARGE = 300
_RUNS = 300
_LONGEST = 3


def translated_rightly(question: Question, origin: Origin) -> tuple[str | None, str]:
    """How the function and its translation disagree on one of a few data sets (None: they agree), and what was tried."""
    tried = set()
    for arguments in _chosen(question, origin):
        if repr(arguments) not in tried:
            tried.add(repr(arguments))
            told = _disagreement(origin.mechanism, arguments)
            if told is not None:
                return f"on {arguments} {told}", ""
    return None, f"running the function itself on {len(tried)} data sets agrees with the model"


def _disagreement(mechanism: Mechanism, arguments: dict[str, Any]) -> str | None:
    classes = output_classes(mechanism, arguments)
    runs = outputs(mechanism, arguments, most=_RUNS)
    seen = [Fraction(0)] * len(classes)
    for run, p in runs.runs:
        value = shown_by(mechanism, run)
        here = [i for i, (pattern, _) in enumerate(classes) if fits(pattern, value)]
        if len(here) != 1:
            return f"the function gives {text(value)}, the model does not"
        seen[here[0]] += p
    for (pattern, mass), found in zip(classes, seen, strict=True):
        if not found <= fraction(mass) <= found + runs.left_over:
            return f"the model gives {show(mass)} for the output {text(pattern)}, running the function {show(found)}"
    return None


def shown_by(mechanism: Mechanism, run: Run) -> Any:
    """What a run shows, in the form of `output_classes`."""
    if mechanism.stream is not None:
        return tuple(held(value) for step in run.written for value in step)
    return tuple(map(held, run.value)) if mechanism.generator else held(run.value)


def _chosen(question: Question, origin: Origin) -> Iterator[dict[str, Any]]:
    """The first and the last data set, and some at random, the same ones every time."""
    generator = random.Random(0)
    model = question.model
    assert isinstance(model, Transducer)
    length = 1 if origin.fed is None else len(model.steps)
    if origin.mechanism.stream is not None:
        high = _LONGEST if question.horizon is None or question.horizon.high is None else question.horizon.high
        length = min(high, _LONGEST)
    pairs = list(origin.situations)
    for trial in range(_TRIALS if len(model.states) <= _LARGE else _FEW_TRIALS):
        names = [model.inputs[0], model.inputs[-1]]
        inputs = [names[trial] if trial < 2 else generator.choice(model.inputs) for _ in range(length)]
        pair = pairs[-trial] if trial < 2 else generator.choice(pairs)
        yield origin.arguments(pair, trial % 2, inputs)
