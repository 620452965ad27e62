"""The reader of DRN texts: line after line into the arrays of a process, every row checked where it ends."""

from __future__ import annotations

import io
import re
from array import array
from pathlib import Path
from typing import NoReturn

import numpy as np

from privproof.errors import FormatError, NumberError
from privproof.exact import ONE, ZERO, Rational, rational, show
from privproof.logic.decision_process import DecisionProcess, Ints, Numbered, deadlock, mark_states
from privproof.logic.prism.module_steps import SILENT
from privproof.logic.prism.prism_model import MOST_PAIRS
from privproof.logic.prism.state_exploration import distinct_actions

_TRANSITION = re.compile(r"\s*([0-9]+)\s*:\s*(.*?)\s*")
_LABEL = re.compile(r'\s*(?:"([^"]*)"|([^\s"\[\]{}]+))')
_REMARK = re.compile(r"\s*//@\s*neighbours\s+([0-9]+)\s*~\s*([0-9]+)\s*")
_UNLABELLED = ("__NOLABEL__", SILENT)
_CLOSE = rational("1e-9")
"""A row whose sum is this near to 1 counts as rounded: with ``rounded=True`` it is divided by its sum, otherwise the hint says so."""


class _Values(dict[str, int]):
    """The probabilities by their text, as numbers into `all`; the probability 0 is -1."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Rational] = []
        self._known: dict[Rational, int] = {}
        self.placeholders: dict[str, str] = {}

    def __missing__(self, text: str) -> int:
        found = self[text] = self.number(self._value(text))
        return found

    def number(self, value: Rational) -> int:
        if value == 0:
            return -1
        if value not in self._known:
            self._known[value] = len(self.all)
            self.all.append(value)
        return self._known[value]

    def _value(self, text: str) -> Rational:
        written = self.placeholders.get(text, text)
        if written.startswith("["):
            raise NumberError("unsupported", f"the interval {written}: interval models are not read")
        value = rational(written)
        if not 0 <= value <= 1:
            raise NumberError("probability", f"the probability {show(value)} is outside [0, 1]")
        return value


_ROUNDED = "{} rows of the file miss the sum 1 by rounding: what is asked is the process in which they are divided by their sum"


class DrnReader:
    """Reads one DRN text; see `privproof.logic.formats.drn_files.parse_drn` for the arguments."""

    def __init__(self, text: str, name: str, *, self_loops: bool, rounded: bool) -> None:
        self._text, self._name = text, name
        self._self_loops, self._rounded, self._divided = self_loops, rounded, 0
        self._line = 0
        self._lines = io.StringIO(text, newline=None)
        self._kind = ""
        self._counts: dict[str, int] = {}
        self._values = _Values()
        self._labels: dict[str, list[int]] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._actions: dict[str, int] = {}
        self._right: set[tuple[int, ...]] = set()
        self._rows = _Rows()

    def process(self) -> DecisionProcess:
        """The process that the text describes."""
        self._header()
        return self._model()

    def _refuse(self, code: str, message: str, *, line: int = 0, hint: str = "") -> NoReturn:
        raise FormatError(code, message, place=f"{self._name}:{line or self._line}", hint=hint)

    def _next(self) -> str | None:
        """The next line that says something, without its margins; None at the end."""
        for line in self._lines:
            self._line += 1
            stripped = line.strip()
            if stripped.startswith("//"):
                self._remark(stripped)
            else:
                return stripped
        return None

    def _remark(self, line: str) -> None:
        if not line.startswith("//@"):
            return
        found = _REMARK.fullmatch(line)
        if not found:
            self._refuse("remark", f"{_short(line)} is no remark", hint="//@ neighbours 0 ~ 1")
        left, right = int(found[1]), int(found[2])
        if left != right:
            self._pairs.setdefault((min(left, right), max(left, right)), self._line)
        if len(self._pairs) > MOST_PAIRS:
            self._refuse("neighbours", f"more than {MOST_PAIRS} pairs of neighbours")

    def _header(self) -> None:
        line = self._next()
        while line is not None:
            key, colon, rest = line.partition(":")
            if key == "@type":
                self._kind = rest.strip().upper()
                if self._kind not in ("DTMC", "MDP"):
                    self._refuse(
                        "unsupported", f"models of the type {rest.strip()!r} are not read", hint="@type: DTMC or MDP"
                    )
            elif key == "@value_type":
                if "interval" in rest or "parametric" in rest or "function" in rest:
                    self._refuse("unsupported", f"values of the type {rest.strip()!r} are not read", hint="rational")
            elif line == "@placeholders":
                line = self._next()
                while line is not None and not line.startswith("@"):
                    given, colon, value = line.partition(":")
                    if colon:
                        self._values.placeholders[given.strip()] = value.strip()
                    line = self._next()
                continue
            elif line == "@parameters":
                line = self._next()
                if line and not line.startswith("@"):
                    self._refuse("unsupported", f"the model has parameters: {_short(line)}", hint="give them values")
                if line:
                    continue
            elif line == "@reward_models":
                line = self._next()
                if line and line.startswith("@"):
                    continue
            elif line in ("@nr_states", "@nr_choices"):
                given = self._next() or ""
                if not (given.isascii() and given.isdigit() and len(given) < 16):
                    self._refuse("syntax", f"expected a number after {line}, found {_short(given)}")
                self._counts[line] = int(given)
            elif line == "@model":
                break
            elif line:
                self._refuse(
                    "syntax",
                    f"expected a line such as @type: DTMC or @model, found {_short(line)}",
                    hint="a DRN file begins with @type: DTMC",
                )
            line = self._next()
        if line is None:
            self._refuse("syntax", "expected @model, found the end of the text", line=self._line or 1)
        if not self._kind:
            self._refuse("syntax", "the text does not say its type before @model", hint="@type: DTMC or @type: MDP")

    def _model(self) -> DecisionProcess:
        rows, known = self._rows, self._values
        targets, values = rows.targets, rows.values
        for line in self._lines:
            self._line += 1
            words = line.split()
            if len(words) == 3 and words[1] == ":" and rows.open:
                target, value = words[0], words[2]
            elif not words:
                continue
            elif words[0] == "state":
                self._state(words, line)
                continue
            elif words[0] == "action":
                self._end_of_choice()
                if not rows.states:
                    self._refuse("syntax", "an action before the first state", hint="state 0")
                rows.begin(self._line, self._action(line))
                continue
            elif words[0].startswith("//"):
                self._remark(line.strip())
                continue
            else:
                target, value = self._transition(line)
            try:
                number = known[value]
                if not (target.isdigit() and target.isascii()):
                    raise ValueError(target)
                if number >= 0:
                    targets.append(int(target))
                    values.append(number)
            except NumberError as problem:
                self._refuse(problem.code, problem.message, hint=problem.hint)
            except (ValueError, OverflowError):
                self._refuse("syntax", f"expected the number of a state before ':', found {_short(target)}")
        self._end_of_state()
        return self._finished()

    def _transition(self, line: str) -> tuple[str, str]:
        """A transition that opens a choice without an action, or is not written as usual."""
        found = _TRANSITION.fullmatch(line)
        if not found:
            self._refuse("syntax", f"expected a state, an action or a transition, found {_short(line.strip())}")
        if not self._rows.states:
            self._refuse("syntax", "a transition before the first state", hint="state 0")
        if not self._rows.open:
            self._rows.begin(self._line, -1)
        return found[1], found[2]

    def _state(self, words: list[str], line: str) -> None:
        """A state begins: its number, then its labels."""
        self._end_of_state()
        rows = self._rows
        if len(words) < 2 or words[1] != str(rows.states):
            self._refuse(
                "state",
                f"expected state {rows.states}, found {_short(line.strip())}",
                hint="states come in order, from 0",
            )
        rest = line.split(None, 2)[2] if len(words) > 2 else ""
        if rest and rest[0] in "!{":
            self._refuse(
                "unsupported",
                f"{_short(rest.strip())}: {'rates' if rest[0] == '!' else 'observations'} are not read",
                hint="@type: DTMC or MDP",
            )
        if rest and rest[0] == "[":
            rest = self._over_rewards(rest)
        self._mark(rest)
        rows.states += 1

    def _mark(self, labels: str) -> None:
        at = 0
        while at < len(labels) and not labels[at:].isspace():
            found = _LABEL.match(labels, at)
            if not found:
                self._refuse(
                    "label", f"expected a label, found {_short(labels[at:].strip())}", hint='quote it: "label"'
                )
            label = found[2] if found[1] is None else found[1]
            self._labels.setdefault(label, []).append(self._rows.states)
            at = found.end()

    def _over_rewards(self, text: str) -> str:
        inside, bracket, rest = text.partition("]")
        if not bracket:
            self._refuse("syntax", f"the rewards {_short(inside.strip())} have no closing ]")
        return rest

    def _action(self, line: str) -> int:
        rest = line.split(None, 1)[1].strip() if len(line.split()) > 1 else ""
        bracket = rest.find(" [") if not rest.startswith("[") else 0
        if bracket >= 0:
            self._over_rewards(rest[bracket:])
            rest = rest[:bracket].strip()
        if not rest or rest in _UNLABELLED:
            return -1
        return self._actions.setdefault(rest, len(self._actions))

    def _end_of_choice(self) -> None:
        """Check the row that ends here: no state twice, sum one."""
        rows = self._rows
        if not rows.open:
            return
        rows.open = False
        begin = rows.begins[-1]
        targets, key = rows.targets[begin:], tuple(rows.values[begin:])
        if len(set(targets)) < len(targets):
            twice = next(target for number, target in enumerate(targets) if target in targets[:number])
            self._refuse("twice", f"state {twice} stands twice in a row of state {rows.states - 1}", line=rows.line)
        if key in self._right:
            return
        total = sum((self._values.all[number] for number in key), ZERO)
        if total == ONE:
            self._right.add(key)
        elif self._rounded and abs(total - 1) <= _CLOSE:
            self._divided += 1
            for place, number in enumerate(key, begin):
                rows.values[place] = self._values.number(self._values.all[number] / total)
        else:
            self._refuse(
                "row-sum",
                f"the probabilities of state {rows.states - 1} sum to {show(total)} instead of 1: "
                f"{show(abs(1 - total))} is {'too much' if total > 1 else 'missing'}",
                line=rows.line,
                hint="the numbers look rounded: export them exactly, or read them with --rounded (rounded=True)"
                if abs(total - 1) <= _CLOSE
                else "the probabilities of a row sum to exactly one",
            )

    def _end_of_state(self) -> None:
        self._end_of_choice()
        rows = self._rows
        if not rows.states:
            return
        own = len(rows.begins) - rows.choices[-1]
        if not own:
            rows.stuck.append(rows.states - 1)
            rows.begin(self._line, -1)
            rows.targets.append(rows.states - 1)
            rows.values.append(self._values.number(ONE))
            rows.open = False
        elif own > 1 and self._kind == "DTMC":
            self._refuse("choices", f"state {rows.states - 1} of a DTMC has {own} choices", hint="@type: MDP")
        rows.choices.append(len(rows.begins))

    def _finished(self) -> DecisionProcess:
        rows = self._rows
        count, end = rows.states, self._line or 1
        if not count:
            self._refuse("syntax", "expected state 0, found the end of the text", line=end)
        found = {"@nr_states": count, "@nr_choices": len(rows.begins) - len(rows.stuck)}
        for key, number in found.items():
            given = self._counts.get(key, number)
            if given != number and not (key == "@nr_choices" and given == len(rows.begins)):
                self._refuse("count", f"{key} says {given}, but there are {number}", line=end)
        targets = _ints(rows.targets)
        if int(targets.max()) >= count:
            self._unknown_target(count)
        for (_, right), line in self._pairs.items():
            if right >= count:
                self._refuse("unknown-name", f"unknown state {right}", line=line, hint=f"states are 0..{count - 1}")
        if rows.stuck and not self._self_loops:
            raise deadlock([str(state) for state in rows.stuck], place=self._name)
        choices = _ints(rows.choices)
        chain = self._kind == "DTMC"
        actions: tuple[str, ...] = ()
        action_of = np.zeros(0, np.int64)
        if not chain:
            actions, action_of = distinct_actions(list(self._actions), choices, _ints(rows.actions))
        if rows.stuck:
            self._labels["deadlock"] = rows.stuck
        return DecisionProcess(
            names=Numbered(count),
            actions=actions,
            choices=choices,
            action_of=action_of,
            rows=np.append(_ints(rows.begins), len(targets)),
            targets=targets,
            values=_ints(rows.values),
            numbers=tuple(self._values.all),
            labels={label: mark_states(count, states) for label, states in self._labels.items()},
            initial=tuple(self._labels.get("init", ())),
            neighbours=tuple(self._pairs),
            name=Path(self._name).stem,
            relies=() if not self._divided else (_ROUNDED.format(self._divided),),
        )

    def _unknown_target(self, count: int) -> NoReturn:
        """Find the first transition to a state that does not exist, and complain about it."""
        model = False
        for number, line in enumerate(io.StringIO(self._text, newline=None), 1):
            found = _TRANSITION.fullmatch(line.strip()) if model else None
            model = model or line.strip() == "@model"
            if found and int(found[1]) >= count and self._values[found[2]] >= 0:
                self._refuse(
                    "unknown-name", f"unknown state {found[1]}", line=number, hint=f"states are 0..{count - 1}"
                )
        raise AssertionError("every transition leads to a state")


class _Rows:
    """The arrays of a process while they grow."""

    def __init__(self) -> None:
        self.states = 0
        self.open = False
        self.line = 0
        self.stuck: list[int] = []
        self.choices, self.actions, self.begins = array("q", [0]), array("q"), array("q")
        self.targets, self.values = array("q"), array("q")

    def begin(self, line: int, action: int) -> None:
        """A choice begins."""
        self.open, self.line = True, line
        self.begins.append(len(self.targets))
        self.actions.append(action)


def _ints(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, np.int64)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:50]}...")
