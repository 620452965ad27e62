"""The instructions of a machine with variables and a stack, and how they are written one after the other.

| instruction | what it does |
| --- | --- |
| `constant v`, `load x`, `store x`, `pop`, `twice n` | push a value or a variable, pop into one, drop, push the top n once more |
| `tuple n`, `list n`, `table n` | make one of the top n (of a table: 2 n) |
| `operate s`, `change s`, `sign s`, `compare s` | an operator, the same in place (`+=`), a sign, a comparison |
| `element`, `part`, `put`, `put new` | `xs[i]`, `xs[i:j]`, `xs[i] = v` (from v, xs, i, or from xs, i, v) |
| `unpack n`, `append`, `add x` | the elements, the first on top; `xs.append(v)`; append to the list in a variable |
| `jump`, `unless`, `or else`, `and then` | go on elsewhere: always; if false; if true, or if false, keeping the value |
| `walk`, `next` | begin to walk over a list; the next element, or leave the loop |
| `record`, `text`, `texts`, `entry x` | an object; a value in a text, texts joined; one more entry for the table in a variable |
| `builtin`, `method`, `library`, `noise`, `call` | calls |
| `return`, `yield`, `raise` | what leaves the function |
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeAlias

from privproof_checker.source.heads import Head
from privproof_checker.source.values import Beyond

Instruction: TypeAlias = tuple[str, Any, int]

_DEEPEST = 60
"""Statements and expressions inside each other, long before the recursion of the reader is too deep for Python."""
_MOST_INSTRUCTIONS = 5_000
"""The instructions that one function becomes; beyond, this and the limits beside it, nothing is established about it."""
_MOST_VARIABLES = 500
"""The variables of a function, and as many again that the reader adds to keep what the function does not name."""


class CodeWriter:
    """Writes the instructions of one function.

    Attributes:
        head: the function.
        code: the instructions so far.
        scopes: the names that comprehensions bind, the innermost last.
        line: the line of the text that is read.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self.code: list[Instruction] = []
        self.scopes: list[dict[str, str]] = []
        self.depth = 0
        self.fresh = 0
        self.line = 1
        arguments = head.tree.args
        if arguments.vararg or arguments.kwarg:
            self.refuse(head.tree, "a parameter with a star")
        self.local = {*head.parameters, *_stored_names(head.tree)}
        if len(self.local) > _MOST_VARIABLES:
            raise Beyond(f"more than {_MOST_VARIABLES} variables", head.place)

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Say that something is not known, with its line."""
        line = getattr(node, "lineno", self.line) + self.head.line - 1
        raise Beyond(f"{what} is not known to the checker", f"{self.head.place}: {self.head.name}, line {line}")

    def emit(self, name: str, argument: Any = None) -> int:
        """Write an instruction; its number."""
        if len(self.code) >= _MOST_INSTRUCTIONS:
            raise Beyond(f"more than {_MOST_INSTRUCTIONS} instructions", self.head.place)
        self.code.append((name, argument, self.line))
        return len(self.code) - 1

    def enter(self, node: ast.stmt | ast.expr) -> None:
        """Begin to read a node; `depth` goes down at its end."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(node, "nesting this deep")
        self.line = node.lineno

    def land(self, *jumps: int) -> None:
        """Let jumps go to the next instruction."""
        for jump in jumps:
            name, _, line = self.code[jump]
            self.code[jump] = (name, len(self.code), line)

    def slot(self, stem: str) -> str:
        """A variable that the function does not have."""
        self.fresh += 1
        if self.fresh > _MOST_VARIABLES:
            raise Beyond(f"more than {_MOST_VARIABLES} variables", self.head.place)
        return f"{stem}#{self.fresh}"

    def variable(self, name: str) -> str:
        """The variable that a name stands for inside of the function."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def is_local(self, name: str) -> bool:
        """Whether a name is one of the function's own."""
        return name in self.local or any(name in scope for scope in self.scopes)


def bound_names(target: ast.expr) -> list[str]:
    """The names that a target binds."""
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _stored_names(tree: ast.FunctionDef) -> Iterator[str]:
    """The names that a function assigns to; those of comprehensions are theirs alone."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.comprehension):
            waiting += [node.iter, *node.ifs]
        else:
            waiting += ast.iter_child_nodes(node)


def successors(code: Sequence[Instruction]) -> list[list[int]]:
    """For every instruction those that may follow it."""
    onward = []
    for number, (name, argument, _) in enumerate(code):
        targets = [] if name in ("jump", "return") else [number + 1]
        if name in ("jump", "unless", "or else", "and then", "next"):
            targets.append(argument)
        onward.append(targets)
    return onward


def live_variables(code: Sequence[Instruction]) -> tuple[frozenset[str], ...]:
    """For every instruction the variables that some way on reads before it writes them."""
    read = [frozenset((argument,)) if name in ("load", "add", "entry") else frozenset() for name, argument, _ in code]
    return needed_from(successors(code), read, [argument if name == "store" else None for name, argument, _ in code])


def needed_from(
    onward: Sequence[Sequence[int]], read: Sequence[frozenset[str]], written: Sequence[str | None]
) -> tuple[frozenset[str], ...]:
    """The variables that some way on reads before it writes them, by where instructions lead and what they read and write."""
    before: list[list[int]] = [[] for _ in onward]
    for number, targets in enumerate(onward):
        for target in targets:
            before[target].append(number)
    live: list[frozenset[str]] = [frozenset()] * len(onward)
    waiting = list(range(len(onward)))
    queued = set(waiting)
    while waiting:
        number = waiting.pop()
        queued.discard(number)
        needed = frozenset[str]().union(*(live[target] for target in onward[number]))
        needed = read[number] | (needed - {written[number]})
        if needed != live[number]:
            live[number] = needed
            for earlier in before[number]:
                if earlier not in queued:
                    queued.add(earlier)
                    waiting.append(earlier)
    return tuple(live)
