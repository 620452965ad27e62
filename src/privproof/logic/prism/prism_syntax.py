"""A PRISM model as it is written: declarations, modules and commands, read by recursive descent.

What is outside the language that this package reads (continuous time, games, intervals of probabilities) is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from privproof.logic.prism.module_composition import CompositionTerm, read_term
from privproof.logic.prism.prism_expressions import FUNCTIONS, ExpressionReader, SyntaxNode
from privproof.logic.prism.prism_tokens import PrismSource

KINDS = {"dtmc": "dtmc", "probabilistic": "dtmc", "mdp": "mdp", "nondeterministic": "mdp"}
_OTHER_KINDS = {
    "ctmc": "continuous-time Markov chains",
    "stochastic": "continuous-time Markov chains",
    "pta": "timed automata",
    "pomdp": "partially observable models",
    "popta": "partially observable models",
    "smg": "games",
    "tsg": "games",
    "csg": "games",
    "idtmc": "interval models",
    "imdp": "interval models",
}


class ConstantDeclaration(NamedTuple):
    """``const kind name = value;``, the value perhaps left open."""

    kind: str
    value: SyntaxNode | None
    at: int


class VariableDeclaration(NamedTuple):
    """A variable; a bool has no bounds, and neither has an unbounded integer."""

    name: str
    low: SyntaxNode | None
    high: SyntaxNode | None
    initial: SyntaxNode | None
    at: int
    unbounded: bool = False


class Assignment(NamedTuple):
    """``(name' = value)``."""

    name: str
    value: SyntaxNode
    at: int


class CommandBranch(NamedTuple):
    """``probability : updates``; no probability is one."""

    probability: SyntaxNode | None
    updates: tuple[Assignment, ...]
    at: int


class GuardedCommand(NamedTuple):
    """``[action] guard -> branches;``."""

    action: str
    guard: SyntaxNode
    branches: tuple[CommandBranch, ...]
    at: int


class RewardItem(NamedTuple):
    """``guard : value;``, of states, or ``[action] guard : value;``, of choices by this action (empty: of those without one)."""

    action: str | None
    guard: SyntaxNode
    value: SyntaxNode
    at: int


@dataclass(frozen=True)
class Module:
    """A module; of a copy, `names` is the renaming that all its expressions are read under."""

    name: str
    variables: tuple[VariableDeclaration, ...]
    commands: tuple[GuardedCommand, ...]
    names: dict[str, str] = field(default_factory=dict)


@dataclass
class ModelText:
    """A whole model as written."""

    source: PrismSource
    kind: str = ""
    constants: dict[str, ConstantDeclaration] = field(default_factory=dict)
    formulas: dict[str, SyntaxNode] = field(default_factory=dict)
    labels: dict[str, tuple[SyntaxNode, int]] = field(default_factory=dict)
    variables: list[tuple[VariableDeclaration, str]] = field(default_factory=list)
    modules: dict[str, Module] = field(default_factory=dict)
    rewards: dict[str, tuple[RewardItem, ...]] = field(default_factory=dict)
    start: SyntaxNode | None = None
    systems: dict[str, CompositionTerm] = field(default_factory=dict)
    remarks: tuple[tuple[int, str], ...] = ()
    declared: dict[str, int] = field(default_factory=dict)


def parse_text(source: PrismSource) -> ModelText:
    """The model that a text is, names not yet looked up.

    >>> text = parse_text(PrismSource("", "dtmc const int N; module m x : [0..N]; [] x<N -> (x'=x+1); endmodule"))
    >>> text.kind, list(text.constants), list(text.modules)
    ('dtmc', ['N'], ['m'])
    """
    return _ModelReader(source).model()


class _ModelReader(ExpressionReader):
    def __init__(self, source: PrismSource) -> None:
        super().__init__(source)
        self._model = ModelText(source, remarks=self.remarks)

    def model(self) -> ModelText:
        text = self._model
        while not self.at_end:
            kind, word, at, _ = self.token
            if kind == "name" and word in KINDS | _OTHER_KINDS:
                self._kind(at, word)
            elif self.accept("const"):
                self._constant()
            elif self.accept("formula"):
                name = self._declare("a formula")
                self.expect("=", after="the name of the formula")
                text.formulas[name] = self.expression()
                self.expect(";", after="the formula")
            elif self.accept("label"):
                self._label()
            elif self.accept("global"):
                text.variables.append((self._variable(), ""))
            elif self.accept("module"):
                self._module()
            elif self.accept("rewards"):
                self._rewards(self.token.start)
            elif self.accept("init"):
                if text.start is not None:
                    text.source.refuse(at, "twice", "there are two init ... endinit blocks", hint="join them by |")
                text.start = self.expression()
                self.expect("endinit", after="the condition of the initial states")
            elif self.accept("system"):
                self._system(at)
            elif word in ("observables", "observable", "invariant", "player"):
                text.source.refuse(at, "unsupported", f"'{word}' is not read")
            else:
                self.expected(
                    "a declaration (dtmc, mdp, const, formula, label, global, module, init, rewards or system)"
                )
        if not text.modules:
            self.expected("a module", hint="module m ... endmodule")
        text.kind = text.kind or "mdp"  # as PRISM has it
        return text

    def _kind(self, at: int, word: str) -> None:
        if word not in KINDS:
            self._model.source.refuse(
                at, "unsupported", f"'{word}': {_OTHER_KINDS[word]} are not read", hint="this reader knows dtmc and mdp"
            )
        if self._model.kind:
            self._model.source.refuse(at, "twice", f"the model was said to be a {self._model.kind} before")
        self._model.kind = KINDS[word]
        self.take()

    def _declare(self, what: str) -> str:
        at = self.token.start
        name = self.name(what)
        self._distinct(name, at)
        return name

    def _distinct(self, name: str, at: int) -> None:
        source, declared = self._model.source, self._model.declared
        if name in declared:
            source.refuse(at, "twice", f"{name!r} is declared twice (first on line {source.line(declared[name])})")
        declared[name] = at

    def _constant(self) -> None:
        kind = next((kind for kind in ("int", "double", "bool") if self.accept(kind)), "int")
        at = self.token.start
        name = self._declare("a constant")
        value = self.expression() if self.accept("=") else None
        self.expect(";", after=f"the constant {name}")
        self._model.constants[name] = ConstantDeclaration(kind, value, at)

    def _label(self) -> None:
        text = self._model
        at = self.token.start
        name = self.label()
        if name in ("init", "deadlock"):
            text.source.refuse(at, "label", f'the label "{name}" is built in', hint="name it otherwise")
        if not name:
            text.source.refuse(at, "label", "a label has a name", hint='write label "done" = ...;')
        if name in text.labels:
            text.source.refuse(
                at,
                "twice",
                f'the label "{name}" is declared twice (first on line {text.source.line(text.labels[name][1])})',
            )
        self.expect("=", after="the label")
        text.labels[name] = (self.expression(), at)
        self.expect(";", after="the label's condition")

    def _rewards(self, at: int) -> None:
        """Rewards; those without a name are called by their number, as formulas may."""
        listed = self._model.rewards
        name = self.label() if self.token.kind == "label" else str(len(listed) + 1)
        if name in listed:
            self._model.source.refuse(at, "twice", f"there are two rewards {name!r}", hint="name them apart")
        items: list[RewardItem] = []
        while not self.accept("endrewards"):
            if self.at_end:
                self._model.source.refuse(at, "syntax", "expected 'endrewards', found the end of the text")
            begin, action = self.token.start, None
            if self.accept("["):
                action = "" if self.sees("]") else self.name("an action", besides=FUNCTIONS)
                self.expect("]", after="the action")
            guard = self.expression()
            self.expect(":", after="the condition of the reward")
            items.append(RewardItem(action, guard, self.expression(), begin))
            self.expect(";", after="the reward")
        listed[name] = tuple(items)

    def _system(self, at: int) -> None:
        """A composition of the modules; those with a name are parts of others."""
        listed = self._model.systems
        name = ""
        if self.token.kind == "label" and not any(self.sees(sign, ahead=1) for sign in ("|", "/", "{", "endsystem")):
            name = self.label()
        if name in listed:
            called = f"two systems {name!r}" if name else "two system ... endsystem blocks without a name"
            self._model.source.refuse(at, "twice", f"there are {called}", hint='name one: system "part" ... endsystem')
        listed[name] = read_term(self)
        self.expect("endsystem", after="the composition")

    def _variable(self) -> VariableDeclaration:
        at = self.token.start
        name = self._declare("a variable")
        self.expect(":", after=f"the variable {name}")
        low: SyntaxNode | None = None
        high: SyntaxNode | None = None
        unbounded = False
        if self.accept("["):
            low = self.expression()
            self.expect("..", after="the lowest value")
            high = self.expression()
            self.expect("]", after="the highest value")
        elif self.accept("int"):
            unbounded = True
        elif not self.accept("bool"):
            if self.sees("clock"):
                self._model.source.refuse(
                    self.token.start, "unsupported", f"{name!r} is a clock: timed automata are not read"
                )
            self.expected("'bool', 'int' or a range such as [0..3]")
        initial = self.expression() if self.accept("init") else None
        self.expect(";", after=f"the variable {name}")
        return VariableDeclaration(name, low, high, initial, at, unbounded)

    def _module(self) -> None:
        text = self._model
        at = self.token.start
        name = self.name("a module")
        if name in text.modules:
            text.source.refuse(at, "twice", f"there are two modules {name!r}")
        if self.accept("="):
            text.modules[name] = self._copy(name)
            return
        variables: list[VariableDeclaration] = []
        commands: list[GuardedCommand] = []
        while not self.accept("endmodule"):
            if self.sees("["):
                commands.append(self._command())
            elif self.token.kind == "name" and self.sees(":", ahead=1):
                variables.append(self._variable())
                text.variables.append((variables[-1], name))
            else:
                self.expected("a variable, a command or 'endmodule'", hint="a command begins with [] or [action]")
        text.modules[name] = Module(name, tuple(variables), tuple(commands))

    def _copy(self, name: str) -> Module:
        text = self._model
        at = self.token.start
        original = self.name("the module to copy")
        if original not in text.modules:
            text.source.unknown(at, "module", original, tuple(text.modules))
        names: dict[str, str] = {}
        start = self.expect("[", after="the module to copy").start
        while not names or self.accept(","):
            here = self.token.start
            old = self.name("what is renamed", besides=FUNCTIONS)
            if old in names:
                text.source.refuse(here, "twice", f"{old!r} is renamed twice")
            self.expect("=", after=f"'{old}'")
            names[old] = self.name("the new name", besides=FUNCTIONS)
        self.expect("]", after="the renaming")
        self.expect("endmodule", after="the renaming")
        module = text.modules[original]
        variables: list[VariableDeclaration] = []
        for variable in module.variables:
            if variable.name not in names:
                text.source.refuse(
                    start,
                    "renaming",
                    f"the variable {variable.name!r} of {original} is not renamed",
                    hint=f"add {variable.name}=... with a new name",
                )
            copy = variable._replace(name=names[variable.name])
            self._distinct(copy.name, start)
            variables.append(copy)
            text.variables.append((copy, name))
        whole = {old: names.get(new, new) for old, new in module.names.items()}
        whole |= {old: new for old, new in names.items() if old not in module.names}
        commands = tuple(
            command._replace(
                action=names.get(command.action, command.action),
                branches=tuple(
                    branch._replace(
                        updates=tuple(
                            change._replace(name=names.get(change.name, change.name)) for change in branch.updates
                        )
                    )
                    for branch in command.branches
                ),
            )
            for command in module.commands
        )
        return Module(name, tuple(variables), commands, whole)

    def _command(self) -> GuardedCommand:
        at = self.expect("[").start
        action = "" if self.sees("]") else self.name("an action", besides=FUNCTIONS)
        self.expect("]", after="the action")
        guard = self.expression()
        self.expect("->", after="the guard")
        branches = [self._branch()]
        while self.accept("+"):
            branches.append(self._branch())
        self.expect(";", after="the command")
        return GuardedCommand(action, guard, tuple(branches), at)

    def _branch(self) -> CommandBranch:
        at = self.token.start
        probability = None
        if self.sees("["):
            self._model.source.refuse(
                at,
                "unsupported",
                "intervals of probabilities are not read",
                hint="give one probability; a model file of kind markov-chain takes enclosures: [0.12, 0.13]",
            )
        if not self._at_update():
            probability = self.expression()
            if not self.accept(":"):
                self.expected("':' after the probability", hint="an update is written (x'=1)")
            if not self._at_update():
                self.expected("an update such as (x'=1), or true")
        if self.accept("true"):
            return CommandBranch(probability, (), at)
        updates = [self._assignment()]
        while self.accept("&"):
            updates.append(self._assignment())
        return CommandBranch(probability, tuple(updates), at)

    def _at_update(self) -> bool:
        if self.sees("true"):
            return self.sees(";", ahead=1) or self.sees("+", ahead=1)
        return self.sees("(") and self.sees("'", ahead=2)

    def _assignment(self) -> Assignment:
        self.expect("(")
        at = self.token.start
        name = self.name("the variable that changes")
        self.expect("'", after=f"'{name}'")
        self.expect("=", after=f"{name}'")
        value = self.expression()
        self.expect(")", after="the update")
        return Assignment(name, value, at)
