"""One step of a system: generated Python that gives all choices of a state.

Every command becomes a few lines; commands that ask for one value of the same variable (``s=7``) are found by that value.
Actions that several modules share are put together while the model runs, for their combinations may be many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from privproof.logic.prism.expression_meanings import ExpressionMeaning, Trouble
from privproof.logic.prism.module_composition import Joint
from privproof.logic.prism.module_system import CommandOutcome, CommandRule, System
from privproof.logic.prism.state_coding import Code, used_slots
from privproof.logic.prism.transition_tables import Probabilities, ProbabilityNumbers, State, StateNumbers

Row: TypeAlias = dict[int, int]
Found: TypeAlias = list[tuple[int, Row]]
Step: TypeAlias = Callable[[State, Found], None]

SILENT = "tau"
"""What a choice is called whose command has no action, where one module has all such commands."""
_SILENT_OF = "~"
"""Before the name of a module: what its choices without an action are called, where several modules have such commands."""

_FEWEST_LOOKED_UP = 8
"""If at least so many commands ask for values of one variable, they are found by its value; fewer are tried one after the other."""


class Stepper:
    """Gives the choices of states of one system.

    Attributes:
        actions: the names of the actions, in the order of the text.
        alone: the commands that one module takes by itself, in the order in which a state's choices by them stand.
        joint: what several modules do at once; choices by it stand behind.
    """

    def __init__(self, system: System, index: StateNumbers, numbers: ProbabilityNumbers) -> None:
        self._system, self._index, self._numbers = system, index, numbers
        self._code = Code()
        self._code.names |= {"index": index, "plus": numbers.plus, "outside": self._outside, "together": self._together}
        silent = {_partners(joint) for joint in system.joints if not joint.action}
        self._silent = {partners: _SILENT_OF + partners if len(silent) > 1 else SILENT for partners in silent}
        by_part: dict[tuple[str, str], list[Joint]] = {}
        for joint in system.joints:
            for part in joint.parts:
                by_part.setdefault(part, []).append(joint)
        ordered = [joint for rule in system.rules for joint in by_part.get((rule.module, rule.action), ())]
        self.actions = list(dict.fromkeys(map(self._name, ordered)))
        self._number = {action: number for number, action in enumerate(self.actions)}
        self._alone = {joint.parts[0]: self.number(joint) for joint in system.joints if len(joint.parts) == 1}
        self._unpack = "    " + ", ".join(f"v{slot}" for slot in range(len(system.slots))) + ", = state\n"
        alone = [rule for rule in system.rules if (rule.module, rule.action) in self._alone]
        self._pivot = _pivot(alone)
        self._by_value: dict[int, list[CommandRule]] = {}
        self._plain: dict[int, list[tuple[int, Probabilities, CommandRule]]] = {}
        rest: list[CommandRule] = []
        for rule in alone:
            value = _asked_value(rule.guard, self._pivot)
            if value is None:
                rest.append(rule)
            elif self._is_plain(rule):
                self._plain.setdefault(value, []).append((self.alone_number(rule), self._fixed(rule), rule))
            else:
                self._by_value.setdefault(value, []).append(rule)
        self.joint = list(dict.fromkeys(joint for joint in ordered if len(joint.parts) > 1))
        self.alone = [rule for rules in self._by_value.values() for rule in rules]
        self.alone += [rule for rules in self._plain.values() for _, _, rule in rules] + rest
        self._general = self._step(rest, self.joint) if rest or self.joint else None
        self._special: dict[int, Step] = {}

    def choices(self, state: State) -> Found:
        """The choices of a state: actions, and rows that give for every next state the number of its probability."""
        found: Found = []
        if self._pivot >= 0:
            value = state[self._pivot]
            step = self._special.get(value)
            if step is None and value in self._by_value:
                step = self._special[value] = self._step(self._by_value[value], ())
            if step is not None:
                step(state, found)
            for action, probabilities, rule in self._plain.get(value, ()):
                found.append((action, self._plainly(state, probabilities, rule)))
        if self._general is not None:
            self._general(state, found)
        return found

    @property
    def silence(self) -> str:
        """What choices without an action are called where one module has them all; empty where it is otherwise."""
        return SILENT if SILENT in self._silent.values() else ""

    def numbered(self, action: str) -> list[int]:
        """The numbers of the choices by an action; of the empty one, those without an action."""
        names = set(self._silent.values()) if not action else {action}
        return [number for name, number in self._number.items() if name in names]

    def _name(self, joint: Joint) -> str:
        """What choices are called: by their action, or by the modules, so that one name means the same in all states."""
        return joint.action or self._silent[_partners(joint)]

    def _is_plain(self, rule: CommandRule) -> bool:
        """Whether a command asks for one value only and gives constants only, so that no code is needed for it."""
        return rule.guard.op == "=" and all(
            outcome.probability.op == "const"
            and all(
                value.op == "const" and self._system.slots[slot].low <= value.value <= self._system.slots[slot].high
                for slot, value in outcome.changes
            )
            for outcome in rule.outcomes
        )

    def number(self, joint: Joint) -> int:
        """The number of the action of choices."""
        return self._number[self._name(joint)]

    def alone_number(self, rule: CommandRule) -> int:
        """The number of the action of a command that its module takes by itself."""
        return self._alone[rule.module, rule.action]

    def probabilities(self, rule: CommandRule) -> tuple[list[int], Probabilities]:
        """The probabilities of a command's branches, by the values of some variables: by the value itself where it is one."""
        uses = 0
        for outcome in rule.outcomes:
            uses |= outcome.probability.uses
        slots = used_slots(uses)
        if not slots:
            return slots, self._fixed(rule)
        key = ", ".join(f"v{slot}" for slot in slots)
        computed = ", ".join(self._code.expression(outcome.probability) for outcome in rule.outcomes)
        compute = self._code.compiled(f"def compute(key):\n    {key} = key\n    return ({computed},)\n", "compute")
        source = self._system.source
        places = [source.place(outcome.at) for outcome in rule.outcomes]
        return slots, Probabilities(self._numbers, compute, source.place(rule.at), places)

    def _fixed(self, rule: CommandRule) -> Probabilities:
        """The constant probabilities of a command."""
        source, values = self._system.source, [outcome.probability.value for outcome in rule.outcomes]
        return Probabilities(
            self._numbers,
            lambda _: values,
            source.place(rule.at),
            [source.place(outcome.at) for outcome in rule.outcomes],
        )

    def _plainly(self, state: State, probabilities: Probabilities, rule: CommandRule) -> Row:
        """The row of a command that gives constants."""
        row: Row = {}
        plus = self._numbers.plus
        for number, outcome in zip(probabilities[()], rule.outcomes, strict=True):
            if number >= 0:
                new = list(state)
                for slot, value in outcome.changes:
                    new[slot] = value.value
                i = self._index[tuple(new)]
                row[i] = plus[row[i], number] if i in row else number
        return row

    def _step(self, rules: Sequence[CommandRule], joint: Sequence[Joint]) -> Step:
        functions: list[str] = []
        lines = ["def step(state, found):\n", self._unpack]
        for rule in rules:
            lines.append(f"    if {self._code.expression(rule.guard)}:\n        row = {{}}\n")
            for outcome, given, indent in self._branches(rule, lines):
                new = ", ".join(self._changed(outcome, indent, lines))
                lines.append(f"{indent}i = index[{new},]\n")
                lines.append(f"{indent}row[i] = plus[row[i], {given}] if i in row else {given}\n")
            lines.append(f"        found.append(({self.alone_number(rule)}, row))\n")
        for each in joint:
            self._joint(each, functions, lines)
        lines.append("    return\n")
        step: Step = self._code.compiled("".join(functions + lines), "step")
        return step

    def _branches(self, rule: CommandRule, lines: list[str]) -> Iterator[tuple[CommandOutcome, str, str]]:
        """Write a command's branches: before each is given, its condition is written, and what is written then stands under it.

        Yields:
            The branch, the generated name of its probability, and the indentation of its lines.
        """
        outcomes = rule.outcomes
        slots, probabilities = self.probabilities(rule)
        key = ", ".join(f"v{slot}" for slot in slots)
        table = self._code.share(probabilities)
        names = [f"p{number}" for number in range(len(outcomes))]
        lines.append(f"        {', '.join(names)}, = {table}[{key or '()'}]\n")
        for outcome, name in zip(outcomes, names, strict=True):
            if outcome.probability.op != "const":
                lines.append(f"        if {name} >= 0:\n")
                yield outcome, name, " " * 12
            elif outcome.probability.value != 0:
                yield outcome, name, " " * 8

    def _changed(self, outcome: CommandOutcome, indent: str, lines: list[str]) -> list[str]:
        """The names of all variables' new values; what is computed is written, with a watch over its range."""
        new = [f"v{slot}" for slot in range(len(self._system.slots))]
        for number, meaning in outcome.changes:
            slot = self._system.slots[number]
            text = self._code.expression(meaning)
            if slot.kind == "int" and not (meaning.op == "const" and slot.low <= meaning.value <= slot.high):
                place = self._code.share(self._system.source.place(outcome.at))
                lines.append(f"{indent}u{number} = {text}\n")
                lines.append(
                    f"{indent}if not {slot.low} <= u{number} <= {slot.high}: outside({place}, {number}, u{number})\n"
                )
                text = f"u{number}"
            new[number] = text
        return new

    def _joint(self, joint: Joint, functions: list[str], lines: list[str]) -> None:
        """Write the lines of what several modules do at once: which commands are enabled, then all combinations."""
        modules = [module for module, _ in joint.parts]
        position: dict[int, int] = {}
        for module in modules:
            for number, slot in enumerate(self._system.slots):
                if slot.module == module:
                    position[number] = len(position)
        for turn, (module, rules) in enumerate(zip(modules, self._system.commands(joint), strict=True)):
            own = [number for number, slot in enumerate(self._system.slots) if slot.module == module]
            lines.append(f"    m{turn} = []\n")
            for rule in rules:
                name = f"b{len(self._code.names)}_{len(functions)}"
                functions.append(f"def {name}(state):\n{self._unpack}    if True:\n        found = []\n")
                for outcome, given, indent in self._branches(rule, functions):
                    new = self._changed(outcome, indent, functions)
                    values = "".join(f"{new[number]}, " for number in own)
                    functions.append(f"{indent}found.append(({given}, ({values})))\n")
                functions.append("        return found\n")
                earlier = f"m{turn - 1} and " if turn else ""
                lines.append(f"    if {earlier}{self._code.expression(rule.guard)}: m{turn}.append({name})\n")
        place = f"place{len(self._code.names)}_{len(functions)}"
        result = "".join(
            f"t[{position[number]}], " if number in position else f"v{number}, "
            for number in range(len(self._system.slots))
        )
        functions.append(f"def {place}(state, t):\n{self._unpack}    return ({result})\n")
        enabled = ", ".join(f"m{turn}" for turn in range(len(modules)))
        given = f"{self.number(joint)}, ({enabled},), {place}"
        lines.append(f"    if m{len(modules) - 1}: together(state, found, {given})\n")

    def _outside(self, place: str, slot: int, value: int) -> None:
        variable = self._system.slots[slot]
        raise Trouble(
            place,
            "range",
            f"the new value {value} of {variable.name!r} is outside its range [{variable.low}..{variable.high}]",
            "widen the range or narrow the guard",
        )

    def _together(
        self,
        state: State,
        found: Found,
        action: int,
        enabled: Sequence[Sequence[Callable[[State], list[tuple[int, State]]]]],
        place: Callable[[State, State], State],
    ) -> None:
        """All combinations of enabled commands, one of each module; what they do happens at once."""
        plus, times, index = self._numbers.plus, self._numbers.times, self._index
        for parts in product(*[[command(state) for command in commands] for commands in enabled]):
            joint = parts[0]
            for part in parts[1:]:
                joint = [(times[p, q], values + more) for p, values in joint for q, more in part]
            row: Row = {}
            for p, values in joint:
                i = index[place(state, values)]
                row[i] = plus[row[i], p] if i in row else p
            found.append((action, row))


def _partners(joint: Joint) -> str:
    return "|".join(module for module, _ in joint.parts)


def is_silent(action: str) -> bool:
    """Whether a choice of this name has no action in the language."""
    return action == SILENT or action.startswith(_SILENT_OF)


def _pivot(rules: Sequence[CommandRule]) -> int:
    """The variable by whose value most commands can be found; -1 if that would not help."""
    counts = Counter(slot for rule in rules for slot in dict(_equalities(rule.guard)))
    slot, count = counts.most_common(1)[0] if counts else (-1, 0)
    return slot if count >= _FEWEST_LOOKED_UP else -1


def _asked_value(guard: ExpressionMeaning, pivot: int) -> int | None:
    return next((value for slot, value in _equalities(guard) if slot == pivot), None)


def _equalities(guard: ExpressionMeaning) -> Iterator[tuple[int, int]]:
    """What a guard asks of single variables: ``x = 3`` as a part of its conjunction."""
    if guard.op == "&":
        for part in guard.args:
            yield from _equalities(part)
    elif guard.op == "=":
        left, right = guard.args
        if left.op == "const":
            left, right = right, left
        if left.op == "var" and right.op == "const" and right.kind == "int":
            yield left.value, right.value
