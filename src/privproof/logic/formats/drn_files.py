"""Explicit models in Storm's DRN format, in and out: ``DTMC`` and ``MDP``.

The format is described at https://www.stormchecker.org/documentation/background/languages.html.  States are listed one after the
other, each with its labels and its transitions::

    state 0 init
        action go
            1 : 1/3
            2 : 2/3

Rewards are passed over; parameters, intervals, rates and observations are refused.  The neighbour relation stands in comments
``//@ neighbours 0 ~ 1``, which Storm passes over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from privproof.errors import FormatError
from privproof.formats.document_nodes import file_text
from privproof.logic.decision_process import DecisionProcess, Enclosure, mark_states
from privproof.logic.formats.drn_reader import DrnReader
from privproof.logic.prism.prism_model import no_collecting
from privproof.logic.prism.prism_writing import check_init

_TURN = re.compile(r"#[0-9]+$")
_PLAIN_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_drn(path: str | Path, *, self_loops: bool = False, rounded: bool = False) -> DecisionProcess:
    """The process in a DRN file; see `parse_drn` for the arguments."""
    return parse_drn(file_text(path), self_loops=self_loops, rounded=rounded, name=str(path))


def parse_drn(text: str, *, self_loops: bool = False, rounded: bool = False, name: str = "text") -> DecisionProcess:
    """The process that a DRN text describes; its states keep their numbers.

    Args:
        text: the model.
        self_loops: let a state without any transition stay where it is, instead of refusing the model.
        rounded: take rows whose sum misses one by at most 1e-9 for rounded ones, and divide them by their sum.
        name: what messages call the text.

    Raises:
        FormatError: the text is no model that can be read; the place is ``name:line``.
        ModelError: some states have no transition.

    >>> coin = parse_drn('''@type: DTMC
    ... @nr_states
    ... 2
    ... @model
    ... state 0 init
    ...   0 : 0.5
    ...   1 : 1/2
    ... state 1 done
    ...   1 : 1
    ... //@ neighbours 0 ~ 1''')
    >>> coin.entries(0), coin.initial, list(coin.labels), coin.neighbours
    ([(0, 1/2), (1, 1/2)], (0,), ['init', 'done'], ((0, 1),))
    """
    with no_collecting():
        return DrnReader(text, name, self_loops=self_loops, rounded=rounded).process()


def write_drn(process: DecisionProcess) -> str:
    """The DRN text of a process.

    Raises:
        FormatError: a probability is not exact, or a label cannot be written.

    >>> coin = DecisionProcess.of(states=["flip", "heads"], transitions={"flip": {"flip": "1/2", "heads": "1/2"}},
    ...     labels={"heads": "done"}, initial=["flip"], neighbours=[("flip", "heads")], self_loops=True)
    >>> print(write_drn(coin))
    // written by privproof
    @type: DTMC
    @parameters
    <BLANKLINE>
    @reward_models
    <BLANKLINE>
    @nr_states
    2
    @nr_choices
    2
    @model
    state 0 init
        action 0
                0 : 1/2
                1 : 1/2
    state 1 done
        action 0
                1 : 1
    //@ neighbours 0 ~ 1
    <BLANKLINE>
    """
    return "".join(_lines(process))


def _lines(process: DecisionProcess) -> Iterator[str]:
    count = len(process)
    check_init(process, mark_states(count, process.initial))
    yield f"// written by privproof\n@type: {'DTMC' if process.is_chain else 'MDP'}\n@parameters\n\n@reward_models\n\n"
    yield f"@nr_states\n{count}\n@nr_choices\n{len(process.rows) - 1}\n@model\n"
    carried: dict[int, list[str]] = {}
    marks = {label: np.flatnonzero(states).tolist() for label, states in process.labels.items() if label != "init"}
    for label, states in {"init": list(process.initial), **marks}.items():
        written = _label(label)
        for state in states:
            carried.setdefault(state, []).append(written)
    for number in process.numbers:
        if isinstance(number, Enclosure):
            raise FormatError(
                "enclosure",
                f"the probability {number} is not exact",
                hint="DRN files of chains know no enclosures; write a YAML model file",
            )
    actions = [" ".join(_TURN.sub("", action).split()) for action in process.actions]
    numbers = [str(number) for number in process.numbers]
    rows, targets, values = process.rows.tolist(), process.targets.tolist(), process.values.tolist()
    choices, action_of = process.choices.tolist(), process.action_of.tolist()
    for state in range(count):
        yield " ".join(("state", str(state), *carried.get(state, ()))) + "\n"
        for choice in range(choices[state], choices[state + 1]):
            yield f"\taction {actions[action_of[choice]] if actions else 0}\n"
            for entry in range(rows[choice], rows[choice + 1]):
                yield f"\t\t{targets[entry]} : {numbers[values[entry]]}\n"
    for left, right in process.related:
        yield f"//@ neighbours {left} ~ {right}\n"


def _label(label: str) -> str:
    if _PLAIN_LABEL.fullmatch(label):
        return label
    if not label or '"' in label or "\n" in label or "\r" in label:
        raise FormatError("label", f"the label {label!r} cannot be written in a DRN file", hint="rename the label")
    return f'"{label}"'
