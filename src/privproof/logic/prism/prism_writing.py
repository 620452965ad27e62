"""A decision process as a PRISM text: one module, one variable, a command for every choice.

Storm and PRISM read it; `parse_prism` gives back the same process, its states numbered in the order in which they are reached.
States that no run reaches stand in the ``init ... endinit`` block too, so that they are kept, and a line ``//@ initial`` says
where runs really start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from privproof.errors import FormatError
from privproof.exact import Rational
from privproof.logic.decision_process import Bools, DecisionProcess, Enclosure, mark_states
from privproof.logic.prism.module_steps import is_silent
from privproof.logic.prism.prism_tokens import WORDS
from privproof.logic.reward_structures import Rewards
from privproof.models.graph_algorithms import reachable

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TURN = re.compile(r"#[0-9]+$")
_BUILT_IN = ("init", "deadlock")
_PROPERTY_WORDS = frozenset(
    ["A", "C", "E", "F", "G", "I", "P", "R", "S", "U", "W", "X", "Pmax", "Pmin", "Rmax", "Rmin"]
)


def write_prism(process: DecisionProcess) -> str:
    """The PRISM text of a process.

    The labels ``init`` and ``deadlock`` are PRISM's own and not written: the first are the initial states.

    Raises:
        FormatError: a probability is not exact, or a label cannot be written.

    >>> survey = DecisionProcess.of(
    ...     states=["plus", "minus", "yes", "no"], labels={"yes": "out1"}, initial=["plus", "minus"],
    ...     transitions={"plus": {"yes": "3/4", "no": "1/4"}, "minus": {"yes": "1/4", "no": "3/4"}},
    ...     neighbours=[("plus", "minus")], self_loops=True)
    >>> print(write_prism(survey))
    dtmc
    <BLANKLINE>
    module process
      s : [0..3];
      [] s=0 -> 3/4:(s'=2) + 1/4:(s'=3);  // plus
      [] s=1 -> 1/4:(s'=2) + 3/4:(s'=3);  // minus
      [] s=2 -> (s'=2);  // yes
      [] s=3 -> (s'=3);  // no
    endmodule
    <BLANKLINE>
    init s<=1 endinit
    <BLANKLINE>
    label "out1" = s=2;
    <BLANKLINE>
    //@ neighbours s=0 ~ s=1
    <BLANKLINE>
    """
    return "".join(_lines(process))


def _lines(process: DecisionProcess) -> Iterator[str]:
    count = len(process)
    actions = [_action(name) for name in process.actions]
    yield "dtmc\n\n" if process.is_chain else "mdp\n\n"
    start = mark_states(count, process.initial)
    roots = start | ~_reached_states(process)
    single = int(np.argmax(roots)) if roots.sum() == 1 else None
    yield f"module process\n  s : [0..{count - 1}]{f' init {single}' if single else ''};\n"
    choices = process.choices.tolist()
    for state in range(count):
        for choice in range(choices[state], choices[state + 1]):
            action = "" if process.is_chain else actions[int(process.action_of[choice])]
            branches = " + ".join(_branches(process, choice, state))
            comment = f"  // {_comment(process.names[state])}" if choice == choices[state] else ""
            yield f"  [{action}] s={state} -> {branches};{comment}\n"
    yield "endmodule\n"
    if single is None:
        yield f"\ninit {_condition(roots)} endinit\n"
    if (roots != start).any():
        yield f"//@ initial {_condition(start)}\n"
    check_init(process, start)
    shown = [(label, marks) for label, marks in process.labels.items() if label not in _BUILT_IN]
    if shown:
        yield "\n"
    for label, marks in shown:
        if '"' in label or "\n" in label or not label:
            raise FormatError("label", f"the label {label!r} cannot be written in PRISM", hint="rename the label")
        yield f'label "{label}" = {_condition(marks)};\n'
    for name in process.rewards:
        yield f'\nrewards "{name}"\n{"".join(_rewards(process, process.reward(name), actions))}endrewards\n'
    if process.related:
        yield "\n"
    for left, right in process.related:
        yield f"//@ neighbours s={left} ~ s={right}\n"


def _rewards(process: DecisionProcess, rewards: Rewards, actions: list[str]) -> Iterator[str]:
    """The rewards of states and choices; choices of a state that the language calls alike must gain alike."""
    choices = process.choices.tolist()
    for state in range(len(process)):
        if rewards.of_state(state) != 0:
            yield f"  s={state} : {rewards.of_state(state)};\n"
        gains: dict[str, Rational] = {}
        for choice in range(choices[state], choices[state + 1]):
            action = "" if process.is_chain else actions[int(process.action_of[choice])]
            if gains.setdefault(action, rewards.of_choice(choice)) != rewards.of_choice(choice):
                raise FormatError(
                    "reward",
                    f"two choices [{action}] of the state {process.names[state]} have different rewards",
                    hint="name the actions apart: PRISM gives rewards to actions",
                )
        yield from (f"  [{action}] s={state} : {gain};\n" for action, gain in gains.items() if gain != 0)


def check_init(process: DecisionProcess, start: Bools) -> None:
    """Complain about a label ``init`` that marks other states than the initial ones."""
    if "deadlock" in process.labels and process.labels["deadlock"].any():
        raise FormatError(
            "label", "the label 'deadlock' is reserved for states without a transition", hint="rename the label"
        )
    if "init" in process.labels and not np.array_equal(process.labels["init"], start):
        raise FormatError(
            "label",
            "the label 'init' marks other states than the initial ones, for which it is reserved",
            hint="rename the label",
        )


def _reached_states(process: DecisionProcess) -> Bools:
    """The states that runs reach."""
    rows, targets = process.rows[process.choices].tolist(), process.targets.tolist()
    reached = reachable(process.initial, lambda state: targets[rows[state] : rows[state + 1]])
    return mark_states(len(process), reached)


def _branches(process: DecisionProcess, choice: int, state: int) -> Iterator[str]:
    for target, number in process.entries(choice):
        if isinstance(number, Enclosure):
            raise FormatError(
                "enclosure",
                f"the probability {number} of {process.names[state]} -> {process.names[target]} is not exact",
                hint="PRISM knows no enclosures; write a YAML model file, or choose an exact probability in the enclosure",
            )
        yield f"(s'={target})" if number == 1 else f"{number}:(s'={target})"


def _action(name: str) -> str:
    """What PRISM may call an action: choices of the same name are told apart again when the text is read."""
    plain = _TURN.sub("", name)
    if is_silent(plain):
        return ""
    return (
        plain
        if _NAME.fullmatch(plain) and plain not in WORDS | _PROPERTY_WORDS
        else "a_" + re.sub(r"[^A-Za-z0-9_]", "_", plain)
    )


def _comment(name: str) -> str:
    return " ".join(name.split())


def _condition(marks: Bools) -> str:
    """The condition that the state is one of the marked ones, as a disjunction of ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], marks, [False]))))
    parts = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        last = end - 1
        if begin == 0 and end == len(marks):
            return "true"
        if begin == last:
            parts.append(f"s={begin}")
        elif begin == 0:
            parts.append(f"s<={last}")
        elif end == len(marks):
            parts.append(f"s>={begin}")
        else:
            parts.append(f"(s>={begin} & s<={last})")
    return " | ".join(parts) or "false"
