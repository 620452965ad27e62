"""A PRISM model with every name looked up: constants have values, variables slots and bounds, commands meanings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from privproof.exact import Rational, rational
from privproof.logic.prism.expression_meanings import ExpressionMeaning, Scope, constant
from privproof.logic.prism.module_composition import Joint, compose
from privproof.logic.prism.prism_expressions import SyntaxNode, names_in, parse_expression
from privproof.logic.prism.prism_syntax import ConstantDeclaration, GuardedCommand, ModelText, Module, RewardItem
from privproof.logic.prism.prism_tokens import PrismSource

_LARGEST_VALUE = 2**62
"""Values of variables are kept as 64-bit integers; a range that ends further from 0 is refused, one without bounds ends here."""


_NONE: Mapping[str, Any] = {}


class Slot(NamedTuple):
    """A variable: its place in the tuple of a state is its slot."""

    name: str
    kind: str
    low: int
    high: int
    initial: int
    module: str
    at: int

    def show(self, value: int) -> str:
        """A value of the variable as the language writes it."""
        return ("true" if value else "false") if self.kind == "bool" else str(value)


class CommandOutcome(NamedTuple):
    """One branch of a command: its probability and the new values by slot."""

    probability: ExpressionMeaning
    changes: tuple[tuple[int, ExpressionMeaning], ...]
    at: int


class CommandRule(NamedTuple):
    """A command with its meanings."""

    module: str
    action: str
    guard: ExpressionMeaning
    outcomes: tuple[CommandOutcome, ...]
    at: int


class Gain(NamedTuple):
    """One line of rewards with its meanings: of states, or of choices by an action (empty: of those without one)."""

    action: str | None
    guard: ExpressionMeaning
    value: ExpressionMeaning
    at: int


@dataclass(frozen=True)
class System:
    """What a model says.

    Attributes:
        source: its text.
        kind: ``dtmc`` or ``mdp``.
        scope: what names mean outside of modules.
        slots: the variables in the order of their declarations.
        rules: the commands of all modules.
        joints: what modules do at once.
        start: the condition of the initial states; without, the initial values.
        start_at: where that condition stands.
        labels: the conditions of the labels.
        rewards: the lines of the rewards of each name.
        remarks: the ``//@`` comments, with their places.
    """

    source: PrismSource
    kind: str
    scope: Scope
    slots: tuple[Slot, ...]
    rules: tuple[CommandRule, ...]
    joints: tuple[Joint, ...]
    start: ExpressionMeaning | None
    start_at: int
    labels: Mapping[str, ExpressionMeaning]
    rewards: Mapping[str, tuple[Gain, ...]]
    remarks: tuple[tuple[int, str], ...]

    @cached_property
    def unbounded(self) -> bool:
        """Whether a variable has no bounds."""
        return any(slot.high == _LARGEST_VALUE for slot in self.slots)

    def commands(self, joint: Joint) -> list[list[CommandRule]]:
        """For every module that takes part in a joint the commands that it may take."""
        return [self._by_part[part] for part in joint.parts]

    @cached_property
    def _by_part(self) -> Mapping[tuple[str, str], list[CommandRule]]:
        found: dict[tuple[str, str], list[CommandRule]] = {}
        for rule in self.rules:
            found.setdefault((rule.module, rule.action), []).append(rule)
        return found


def system(text: ModelText, given: Mapping[str, str]) -> System:
    """The system of a model as written, under values for the constants that it leaves open."""
    values = constant_values(text.source, text.constants, given)
    scope = Scope(text.source, values, text.formulas, formula_source=text.source)
    slots = tuple(_slots(text, scope))
    if text.start is not None:
        for slot, (variable, _) in zip(slots, text.variables, strict=True):
            if variable.initial is not None:
                text.source.refuse(
                    variable.initial.at,
                    "initial",
                    f"the variable {slot.name!r} has an initial value beside the init ... endinit block",
                    hint="keep one of the two",
                )
    variables = {slot.name: (number, slot.kind) for number, slot in enumerate(slots)}
    scope = replace(scope, variables=variables, _known={})
    for name, node in text.formulas.items():
        scope.meaning(SyntaxNode("name", (), name, node.at))
    rules: list[CommandRule] = []
    own = {module.name: [command.action for command in module.commands] for module in text.modules.values()}
    joints = compose(text.source, text.systems, own)
    shared = {part for joint in joints if len(joint.parts) > 1 for part in joint.parts}
    for module in text.modules.values():
        inside = replace(scope, names=module.names, _known={}) if module.names else scope
        synchronising = {action for name, action in shared if name == module.name}
        rules += [_rule(command, module, inside, slots, synchronising) for command in module.commands]
    return System(
        text.source,
        text.kind,
        scope,
        slots,
        tuple(rules),
        joints,
        None if text.start is None else scope.condition(text.start, "what init ... endinit holds"),
        0 if text.start is None else text.start.at,
        {name: scope.condition(node, f'the label "{name}"') for name, (node, _) in text.labels.items()},
        {name: tuple(_gain(item, scope) for item in items) for name, items in text.rewards.items()},
        text.remarks,
    )


def constant_values(
    source: PrismSource,
    constants: Mapping[str, ConstantDeclaration],
    given: Mapping[str, str],
    known: Mapping[str, Any] = _NONE,
) -> dict[str, Any]:
    """The values of constants that a text declares.

    Args:
        source: the text.
        constants: the constants as declared.
        given: values for those that are left open.
        known: the values of other constants, of which these may speak.
    """
    for name in given:
        place = PrismSource(f"--set {name}", "")
        if name not in constants:
            place.unknown(0, "constant", name, tuple(constants))
        if constants[name].value is not None:
            place.refuse(
                0,
                "constant",
                f"the constant {name!r} has a value on line {source.line(constants[name].at)} of {source.name}",
                hint=f"leave it open in the file: const {constants[name].kind} {name};",
            )
    values: dict[str, Any] = dict(known)
    for first in constants:
        waiting = [first]
        while waiting:
            name = waiting[-1]
            declared = constants[name]
            if name in values:
                waiting.pop()
                continue
            scope, node = Scope(source, values), declared.value
            if node is None:
                if name not in given:
                    example = {"int": "3", "double": "1/3", "bool": "true"}[declared.kind]
                    source.refuse(
                        declared.at, "constant", f"the constant {name!r} has no value", hint=f"--set {name}={example}"
                    )
                scope = Scope(PrismSource(f"--set {name}", str(given[name])))
                node = parse_expression(scope.source)
            needed = [other for other in names_in(node) if other in constants and other not in values]
            if needed and declared.value is not None:
                if needed[0] in waiting:
                    circle = " -> ".join([*waiting[waiting.index(needed[0]) :], needed[0]])
                    source.refuse(declared.at, "circle", f"the constants define each other: {circle}")
                waiting.append(needed[0])
                continue
            values[name] = _value(scope, node, declared.kind, f"the constant {name!r}")
    return values


def _value(scope: Scope, node: SyntaxNode, kind: str, what: str) -> int | Rational | bool:
    found = scope.fixed(node, what)
    if kind == "bool":
        return bool(scope.condition(node, what).value)
    if kind == "int":
        return int(scope.integer(node, what).value)
    scope.number(node, what)
    return rational(found.value)


def _slots(text: ModelText, scope: Scope) -> list[Slot]:
    slots: list[Slot] = []
    for variable, module in text.variables:
        inside = replace(scope, names=text.modules[module].names, _known={}) if module else scope
        name, what = variable.name, f"the initial value of {variable.name!r}"
        if variable.unbounded:
            start = 0 if variable.initial is None else _integer(inside, variable.initial, what)
            slots.append(Slot(name, "int", -_LARGEST_VALUE, _LARGEST_VALUE, start, module, variable.at))
            continue
        if variable.low is None or variable.high is None:
            initial = 0
            if variable.initial is not None:
                inside.fixed(variable.initial, what)
                initial = int(inside.condition(variable.initial, what).value)
            slots.append(Slot(name, "bool", 0, 1, initial, module, variable.at))
            continue
        low, high = _integer(inside, variable.low, "a bound"), _integer(inside, variable.high, "a bound")
        if low > high:
            text.source.refuse(
                variable.at, "range", f"the range [{low}..{high}] of {name!r} is empty", hint=f"[{high}..{low}]"
            )
        initial = low
        if variable.initial is not None:
            initial = _integer(inside, variable.initial, what)
            if not low <= initial <= high:
                text.source.refuse(
                    variable.initial.at, "range", f"{what} is {initial}, outside its range [{low}..{high}]"
                )
        slots.append(Slot(name, "int", low, high, initial, module, variable.at))
    if not slots:
        text.source.refuse(0, "variables", "the model has no variable", hint="declare one, for instance x : [0..1];")
    return slots


def _gain(item: RewardItem, scope: Scope) -> Gain:
    guard = scope.condition(item.guard, "the condition of a reward")
    return Gain(item.action, guard, scope.number(item.value, "a reward"), item.at)


def _integer(scope: Scope, node: SyntaxNode, what: str) -> int:
    scope.fixed(node, what)
    value = int(scope.integer(node, what).value)
    if abs(value) > _LARGEST_VALUE:
        scope.source.refuse(node.at, "range", f"{what} is {value}, beyond 2^62")
    return value


def _rule(
    command: GuardedCommand, module: Module, scope: Scope, slots: tuple[Slot, ...], synchronising: set[str]
) -> CommandRule:
    outcomes: list[CommandOutcome] = []
    for branch in command.branches:
        changes: dict[int, ExpressionMeaning] = {}
        for change in branch.updates:
            if change.name not in scope.variables:
                scope.source.unknown(change.at, "variable", change.name, tuple(scope.variables))
            number, kind = scope.variables[change.name]
            slot = slots[number]
            if slot.module not in ("", module.name):
                scope.source.refuse(
                    change.at,
                    "owner",
                    f"the module {module.name} changes {slot.name!r}, which belongs to the module {slot.module}",
                    hint="a module changes its own variables and global ones",
                )
            if not slot.module and command.action in synchronising:
                scope.source.refuse(
                    change.at,
                    "owner",
                    f"the global variable {slot.name!r} is changed by [{command.action}], which several modules share",
                    hint="change global variables in commands that no other module takes part in",
                )
            if number in changes:
                scope.source.refuse(change.at, "twice", f"{slot.name!r} is changed twice in one update")
            what = f"the new value of {slot.name!r}"
            value = scope.condition(change.value, what) if kind == "bool" else scope.integer(change.value, what)
            changes[number] = value
        probability = constant(1) if branch.probability is None else scope.number(branch.probability, "a probability")
        outcomes.append(CommandOutcome(probability, tuple(changes.items()), branch.at))
    guard = scope.condition(command.guard, "a guard")
    return CommandRule(module.name, command.action, guard, tuple(outcomes), command.at)
