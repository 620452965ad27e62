"""A PRISM model as it is written: declarations, modules and commands, read by recursive descent.

What is outside the language that this package reads (continuous time, games, ``system ... endsystem``, unbounded integers) is
refused by name; rewards are read over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from privproof.formats.prism.expressions import ExpressionParser, Node
from privproof.formats.prism.tokens import Cursor, Source, Tokens, tokens

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


class Constant(NamedTuple):
    """``const kind name = value;``, the value perhaps left open."""

    kind: str
    value: Node | None
    at: int


class Variable(NamedTuple):
    """A variable; a bool has no bounds."""

    name: str
    low: Node | None
    high: Node | None
    initial: Node | None
    at: int


class Assignment(NamedTuple):
    """``(name' = value)``."""

    name: str
    value: Node
    at: int


class Branch(NamedTuple):
    """``probability : updates``; no probability is one."""

    probability: Node | None
    updates: tuple[Assignment, ...]
    at: int


class Command(NamedTuple):
    """``[action] guard -> branches;``."""

    action: str
    guard: Node
    branches: tuple[Branch, ...]
    at: int


@dataclass(frozen=True)
class Module:
    """A module; of a copy, `names` is the renaming that all its expressions are read under."""

    name: str
    variables: tuple[Variable, ...]
    commands: tuple[Command, ...]
    names: dict[str, str] = field(default_factory=dict)


@dataclass
class Text:
    """A whole model as written."""

    source: Source
    kind: str = ""
    constants: dict[str, Constant] = field(default_factory=dict)
    formulas: dict[str, Node] = field(default_factory=dict)
    labels: dict[str, tuple[Node, int]] = field(default_factory=dict)
    variables: list[tuple[Variable, str]] = field(default_factory=list)
    modules: dict[str, Module] = field(default_factory=dict)
    start: Node | None = None
    remarks: tuple[tuple[int, str], ...] = ()
    declared: dict[str, int] = field(default_factory=dict)


def parse_text(source: Source) -> Text:
    """The model that a text is, names not yet looked up.

    >>> text = parse_text(Source("", "dtmc const int N; module m x : [0..N]; [] x<N -> (x'=x+1); endmodule"))
    >>> text.kind, list(text.constants), list(text.modules)
    ('dtmc', ['N'], ['m'])
    """
    return _Reader(tokens(source)).text()


class _Reader:
    def __init__(self, stream: Tokens) -> None:
        self._cursor = Cursor(stream)
        self._expressions = ExpressionParser(self._cursor)
        self._text = Text(stream.source, remarks=stream.remarks)

    def text(self) -> Text:
        cursor, text = self._cursor, self._text
        while cursor.kinds[cursor.at] != "end":
            at, word = cursor.offset, cursor.texts[cursor.at]
            if cursor.kinds[cursor.at] == "name" and word in KINDS | _OTHER_KINDS:
                self._kind(at, word)
            elif cursor.skip("const"):
                self._constant()
            elif cursor.skip("formula"):
                name = self._declare("a formula")
                cursor.take("=", after="the name of the formula")
                text.formulas[name] = self._expressions.expression()
                cursor.take(";", after="the formula")
            elif cursor.skip("label"):
                self._label()
            elif cursor.skip("global"):
                text.variables.append((self._variable(), ""))
            elif cursor.skip("module"):
                self._module()
            elif cursor.skip("rewards"):
                self._over("endrewards")
            elif cursor.skip("init"):
                if text.start is not None:
                    text.source.refuse(at, "twice", "there are two init ... endinit blocks", hint="join them by |")
                text.start = self._expressions.expression()
                cursor.take("endinit", after="the condition of the initial states")
            elif word in ("system", "observables", "observable", "invariant", "player"):
                text.source.refuse(
                    at,
                    "unsupported",
                    f"'{word}' is not read",
                    hint="all modules run in parallel and synchronise on their common actions" * (word == "system"),
                )
            else:
                cursor.expected("a declaration (dtmc, mdp, const, formula, label, global, module, init or rewards)")
        if not text.kind:
            text.source.refuse(0, "kind", "the model does not say what it is", hint="begin with a line dtmc or mdp")
        if not text.modules:
            cursor.expected("a module", hint="module m ... endmodule")
        return text

    def _kind(self, at: int, word: str) -> None:
        if word not in KINDS:
            self._text.source.refuse(
                at, "unsupported", f"'{word}': {_OTHER_KINDS[word]} are not read", hint="this reader knows dtmc and mdp"
            )
        if self._text.kind:
            self._text.source.refuse(at, "twice", f"the model was said to be a {self._text.kind} before")
        self._text.kind = KINDS[word]
        self._cursor.at += 1

    def _declare(self, what: str) -> str:
        at = self._cursor.offset
        name = self._cursor.name(what)
        self._distinct(name, at)
        return name

    def _distinct(self, name: str, at: int) -> None:
        source, declared = self._text.source, self._text.declared
        if name in declared:
            source.refuse(at, "twice", f"{name!r} is declared twice (first on line {source.line(declared[name])})")
        declared[name] = at

    def _constant(self) -> None:
        cursor = self._cursor
        kind = next((kind for kind in ("int", "double", "bool") if cursor.skip(kind)), "int")
        at = cursor.offset
        name = self._declare("a constant")
        value = self._expressions.expression() if cursor.skip("=") else None
        cursor.take(";", after=f"the constant {name}")
        self._text.constants[name] = Constant(kind, value, at)

    def _label(self) -> None:
        cursor, text = self._cursor, self._text
        at = cursor.offset
        name = cursor.label()
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
        cursor.take("=", after="the label")
        text.labels[name] = (self._expressions.expression(), at)
        cursor.take(";", after="the label's condition")

    def _variable(self) -> Variable:
        cursor = self._cursor
        at = cursor.offset
        name = self._declare("a variable")
        cursor.take(":", after=f"the variable {name}")
        low: Node | None = None
        high: Node | None = None
        if cursor.skip("["):
            low = self._expressions.expression()
            cursor.take("..", after="the lowest value")
            high = self._expressions.expression()
            cursor.take("]", after="the highest value")
        elif not cursor.skip("bool"):
            if cursor.sees("int") or cursor.sees("clock"):
                self._text.source.refuse(
                    cursor.offset,
                    "unsupported",
                    f"the variable {name!r} is unbounded",
                    hint=f"bound it, for instance {name} : [0..10];",
                )
            cursor.expected("'bool' or a range such as [0..3]")
        initial = self._expressions.expression() if cursor.skip("init") else None
        cursor.take(";", after=f"the variable {name}")
        return Variable(name, low, high, initial, at)

    def _module(self) -> None:
        cursor, text = self._cursor, self._text
        at = cursor.offset
        name = cursor.name("a module")
        if name in text.modules:
            text.source.refuse(at, "twice", f"there are two modules {name!r}")
        if cursor.skip("="):
            text.modules[name] = self._copy(name)
            return
        variables: list[Variable] = []
        commands: list[Command] = []
        while not cursor.skip("endmodule"):
            if cursor.sees("["):
                commands.append(self._command())
            elif cursor.kinds[cursor.at] == "name" and cursor.sees(":", ahead=1):
                variables.append(self._variable())
                text.variables.append((variables[-1], name))
            else:
                cursor.expected("a variable, a command or 'endmodule'", hint="a command begins with [] or [action]")
        text.modules[name] = Module(name, tuple(variables), tuple(commands))

    def _copy(self, name: str) -> Module:
        cursor, text = self._cursor, self._text
        at = cursor.offset
        original = cursor.name("the module to copy")
        if original not in text.modules:
            text.source.unknown(at, "module", original, tuple(text.modules))
        names: dict[str, str] = {}
        start = cursor.take("[", after="the module to copy")
        while not names or cursor.skip(","):
            here = cursor.offset
            old = cursor.name("what is renamed")
            if old in names:
                text.source.refuse(here, "twice", f"{old!r} is renamed twice")
            cursor.take("=", after=f"'{old}'")
            names[old] = cursor.name("the new name")
        cursor.take("]", after="the renaming")
        cursor.take("endmodule", after="the renaming")
        module = text.modules[original]
        variables: list[Variable] = []
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

    def _command(self) -> Command:
        cursor = self._cursor
        at = cursor.take("[")
        action = "" if cursor.sees("]") else cursor.name("an action")
        cursor.take("]", after="the action")
        guard = self._expressions.expression()
        cursor.take("->", after="the guard")
        branches = [self._branch()]
        while cursor.skip("+"):
            branches.append(self._branch())
        cursor.take(";", after="the command")
        return Command(action, guard, tuple(branches), at)

    def _branch(self) -> Branch:
        cursor = self._cursor
        at = cursor.offset
        probability = None
        if not self._at_update():
            probability = self._expressions.expression()
            if not cursor.skip(":"):
                cursor.expected("':' after the probability", hint="an update is written (x'=1)")
            if not self._at_update():
                cursor.expected("an update such as (x'=1), or true")
        if cursor.skip("true"):
            return Branch(probability, (), at)
        updates = [self._assignment()]
        while cursor.skip("&"):
            updates.append(self._assignment())
        return Branch(probability, tuple(updates), at)

    def _at_update(self) -> bool:
        cursor = self._cursor
        if cursor.sees("true"):
            return cursor.sees(";", ahead=1) or cursor.sees("+", ahead=1)
        return cursor.sees("(") and cursor.sees("'", ahead=2)

    def _assignment(self) -> Assignment:
        cursor = self._cursor
        cursor.take("(")
        at = cursor.offset
        name = cursor.name("the variable that changes")
        cursor.take("'", after=f"'{name}'")
        cursor.take("=", after=f"{name}'")
        value = self._expressions.expression()
        cursor.take(")", after="the update")
        return Assignment(name, value, at)

    def _over(self, end: str) -> None:
        cursor = self._cursor
        at = cursor.offset
        while not cursor.skip(end):
            if cursor.kinds[cursor.at] == "end":
                self._text.source.refuse(at, "syntax", f"expected '{end}', found the end of the text")
            cursor.at += 1
