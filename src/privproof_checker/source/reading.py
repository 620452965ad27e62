"""From the text of a function to a code of few instructions.

The text is parsed with `ast`, and every construct of the language becomes instructions for a machine with variables and a
stack (`code`), in the order in which Python evaluates.  What is not known here is refused with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_list
from privproof_checker.source.code import Instruction, live_variables
from privproof_checker.source.expressions import OPERATORS, ExpressionReader
from privproof_checker.source.heads import Head
from privproof_checker.source.libraries import LIBRARY, UNIT
from privproof_checker.source.values import Beyond

_MOST_FUNCTIONS = 200
"""The functions of one program; beyond, nothing is established about it."""


@dataclass(frozen=True)
class Function(Head):
    """A function of the program, whose body is read.

    Attributes:
        code: its instructions.
        live: for every instruction the variables that are needed from there on.
        owner: of a method, the parameter that stands for its object.
        ordinary: whether it draws noise of libraries.
    """

    code: tuple[Instruction, ...]
    live: tuple[frozenset[str], ...]
    owner: str | None
    ordinary: bool


def read_functions(value: object, place: str) -> tuple[Function, ...]:
    """The functions of a program document; the first is the mechanism."""
    listed = a_list(value, place)
    if not listed:
        refuse("there is no function", place)
    if len(listed) > _MOST_FUNCTIONS:
        raise Beyond(f"more than {_MOST_FUNCTIONS} functions", place)
    heads = [Head.read(item, f"{place}[{i}]", len(listed)) for i, item in enumerate(listed)]
    return tuple(_Reader(head, heads).function() for head in heads)


class _Reader(ExpressionReader):
    """Reads the body of one function."""

    def __init__(self, head: Head, heads: Sequence[Head]) -> None:
        super().__init__(head, heads)
        self.loops: list[tuple[str, int, list[int]]] = []

    def function(self) -> Function:
        head = self.head
        self.block(head.tree.body)
        self.emit("constant", None)
        self.emit("return", None)
        code = tuple(self.code)
        told = (head.name, head.tree, head.meanings, head.defaults, head.line, head.place)
        ordinary = any(each.kind == "library" and each.value in (*LIBRARY, *UNIT) for each in head.meanings.values())
        return Function(*told, code, live_variables(code), self.owner, ordinary)

    def block(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        self.enter(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                self.expression(value)
                for i, target in enumerate(targets):
                    if i < len(targets) - 1:
                        self.emit("twice", 1)
                    self.store(target)
            case ast.AnnAssign(target=ast.Name() as target, value=value):
                if value is not None:
                    self.expression(value)
                    self.store(target)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, op, value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test)
                jump = self.emit("unless")
                self.block(body)
                if orelse:
                    over = self.emit("jump")
                    self.land(jump)
                    self.block(orelse)
                    self.land(over)
                else:
                    self.land(jump)
            case ast.While(test=test, body=body, orelse=[]):
                start = len(self.code)
                self.expression(test)
                leave = self.emit("unless")
                self.loops.append(("while", start, []))
                self.block(body)
                self.emit("jump", start)
                self.land(leave, *self.loops.pop()[2])
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                self.walk(over, target)
                start = len(self.code)
                leave = self.emit("next")
                self.store(target)
                self.loops.append(("for", start, []))
                self.block(body)
                self.emit("jump", start)
                self.land(leave, *self.loops.pop()[2])
            case ast.Match():
                self.match(node)
            case ast.Break() if self.loops:
                kind, _, leaving = self.loops[-1]
                if kind == "for":
                    self.emit("pop")
                leaving.append(self.emit("jump"))
            case ast.Continue() if self.loops:
                self.emit("jump", self.loops[-1][1])
            case ast.Return(value=value):
                if self.head.generator and not (value is None or _is_none(value)):
                    self.refuse(node, "a return with a value in a generator")
                if value is None:
                    self.emit("constant", None)
                else:
                    self.expression(value)
                self.emit("return")
            case ast.Expr(value=ast.Yield(value=value)):
                if value is None:
                    self.emit("constant", None)
                else:
                    self.expression(value)
                self.emit("yield")
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Raise():
                self.emit("raise")
            case ast.Assert(test=test):
                self.expression(test)
                self.emit("sign", "Not")
                over = self.emit("unless")
                self.emit("raise")
                self.land(over)
            case ast.Expr(value=ast.Call() as told) if self.tells(told):
                for argument in told.args:
                    self.expression(argument)
                    self.emit("pop")
            case ast.Expr(value=value):
                self.expression(value)
                self.emit("pop")
            case _:
                self.refuse(node, f"the statement {type(node).__name__}")
        self.depth -= 1

    def tells(self, node: ast.Call) -> bool:
        """Whether a call prints or logs values, which nobody sees who sees the outputs."""
        if any(not isinstance(k.value, ast.Constant) for k in node.keywords):
            return False
        return self.called(node, "builtin") == "print" or str(self.called(node, "library")).startswith("logging.")

    def augment(self, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        sign = type(op).__name__
        if sign not in OPERATORS:
            self.refuse(target, f"the operator {sign}")
        match target:
            case ast.Name(id=name):
                self.emit("load", self.variable(name))
                self.expression(value)
                self.emit("change", sign)
                self.emit("store", self.variable(name))
            case ast.Subscript(value=holder, slice=index) if not isinstance(index, ast.Slice):
                self.expression(holder)
                self.expression(index)
                self.emit("twice", 2)
                self.emit("element")
                self.expression(value)
                self.emit("change", sign)
                self.emit("put new")
            case _:
                self.refuse(target, f"a target that is a {type(target).__name__}")

    def match(self, node: ast.Match) -> None:
        """The cases, one after the other: each is the question whether its pattern fits, and its guard."""
        subject = self.slot("subject")
        self.expression(node.subject)
        self.emit("store", subject)
        done: list[int] = []
        for case in node.cases:
            self.line = case.pattern.lineno
            self.fits(case.pattern, subject)
            fail = [self.emit("unless")]
            if case.guard is not None:
                self.expression(case.guard)
                fail.append(self.emit("unless"))
            self.block(case.body)
            done.append(self.emit("jump"))
            self.land(*fail)
        self.land(*done)

    def fits(self, pattern: ast.pattern, subject: str) -> None:
        """Push whether a pattern fits."""
        match pattern:
            case ast.MatchValue(value=value):
                self.emit("load", subject)
                self.expression(value)
                self.emit("compare", "Eq")
            case ast.MatchSingleton(value=single):
                self.emit("load", subject)
                self.emit("constant", single)
                self.emit("compare", "Is")
            case ast.MatchAs(pattern=None, name=None):
                self.emit("constant", argument=True)
            case ast.MatchOr(patterns=patterns):
                jumps = []
                for each in patterns[:-1]:
                    self.fits(each, subject)
                    jumps.append(self.emit("or else"))
                self.fits(patterns[-1], subject)
                self.land(*jumps)
            case _:
                self.refuse(pattern, f"a pattern that is a {type(pattern).__name__}")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
