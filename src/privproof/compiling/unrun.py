"""What of a function was never run beside its program, although no condition of the program leads there.

Trials search for data and noise until every condition of the *program* has gone both ways.  A condition that the translation has lost is
none of these: what it guards is never tried, and the program agrees with the function on all trials.  So the function is watched while
it runs, instruction by instruction.  What was never reached must have a reason: a test that no data and no noise decide, a test of the
program that did not go both ways either (which is said), an exception.
"""

from __future__ import annotations

import ast
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from privproof.language.mechanism import Mechanism

_SILENT = frozenset(
    ("CACHE", "RESUME", "RETURN_GENERATOR", "POP_TOP", "NOP", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS")
)
"""Instructions that tracing does not tell of, or that stand for no part of the text."""
_ENDS = frozenset(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"))
_ALWAYS = frozenset(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"))
_SETTLED = frozenset(("isinstance", "float", "int", "bool", "str", "max", "min", "abs", "round", "callable", "hasattr"))
"""Functions whose values are known where those of their arguments are."""


class Watched:
    """The instructions of a function, with those of functions inside it, that were run."""

    def __init__(self, mechanism: Mechanism) -> None:
        function = inspect.unwrap(mechanism.function)
        self.function = getattr(function, "__func__", function)
        self.inputs = frozenset(mechanism.inputs)
        code = getattr(self.function, "__code__", None)
        self.seen: dict[CodeType, set[int]] = {} if code is None else {each: set() for each in _codes(code)}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context what runs is noted; whoever traced before goes on afterwards."""
        before = sys.gettrace()
        if before is not None or not self.seen:  # a debugger, or what measures coverage, would be cut off
            yield
            return
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        seen = self.seen.get(frame.f_code)
        if seen is None:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def step(inner: FrameType, event: str, argument: Any) -> Callable[..., Any]:
            if event == "opcode":
                seen.add(inner.f_lasti)
            return step

        return step

    def never_run(self, known: Iterable[int]) -> str | None:
        """What was never run without a reason, in words; None where there is nothing.

        Args:
            known: the lines with conditions of the program that did not go both ways.
        """
        if not any(self.seen.values()):
            return None
        places = [
            place for code, seen in self.seen.items() if seen for place in _unreached(code, seen) if place is not None
        ]
        if not places:
            return None
        found = _Reasons.of(self.function, self.inputs, frozenset(known))
        for line, column in places:
            if found is None or not found.excused(line, column):
                return (
                    f"perhaps: what stands in line {line} of {self.function.__name__} was never run beside the program, "
                    "which has no condition that leads there"
                )
        return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _unreached(code: CodeType, seen: set[int]) -> Iterator[tuple[int, int] | None]:
    """Where instructions stand that a run may come to without an exception, and none came to."""
    listed = list(dis.get_instructions(code))
    numbers = {each.offset: number for number, each in enumerate(listed)}
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        number = waiting.pop()
        if number in reached or number >= len(listed):
            continue
        reached.add(number)
        each = listed[number]
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            waiting.append(numbers[each.argval])
            if each.opname in _ALWAYS:
                continue
        if each.opname not in _ENDS:
            waiting.append(number + 1)
    for number in sorted(reached):
        each = listed[number]
        at = each.positions
        if each.offset in seen or each.opname in _SILENT or at is None or at.lineno is None or at.col_offset is None:
            continue
        if not (each.opname == "LOAD_CONST" and each.argval is None):  # the end of a function
            yield at.lineno, at.col_offset


class _Reasons:
    """Why a part of a function may be left out of trials."""

    def __init__(self, tree: ast.AST, lines: int, columns: int, inputs: frozenset[str], known: frozenset[int]) -> None:
        self.lines, self.columns, self.known = lines, columns, known
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)]
        self.open = self._open(tree, inputs)

    @classmethod
    def of(cls, function: Any, inputs: frozenset[str], known: frozenset[int]) -> _Reasons | None:
        """The reasons in the text of a function; None where there is no text."""
        try:
            listed, first = inspect.getsourcelines(function)
            text = "".join(listed)
            tree = ast.parse(textwrap.dedent(text))
        except (OSError, SyntaxError, TypeError):
            return None
        indent = len(listed[0]) - len(listed[0].lstrip())
        return cls(tree, max(first, 1) - 1, indent, inputs, known)

    def _open(self, tree: ast.AST, inputs: frozenset[str]) -> set[str]:
        """The names that data or noise may have a part in."""
        found = set(inputs)
        while True:
            more = {
                name.id
                for node in ast.walk(tree)
                if isinstance(
                    node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.comprehension | ast.NamedExpr
                )
                and self._depends(node, found)
                for name in ast.walk(
                    node.target if not isinstance(node, ast.Assign) else ast.Tuple(node.targets, ast.Store())
                )
                if isinstance(name, ast.Name)
            }
            if more <= found:
                return found
            found |= more

    def _depends(self, node: ast.AST, found: set[str]) -> bool:
        """Whether something may depend on data or noise."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id in found:
                return True
            if isinstance(part, ast.Call) and not (isinstance(part.func, ast.Name) and part.func.id in _SETTLED):
                if not (isinstance(part.func, ast.Attribute) and isinstance(part.func.value, ast.Name)):
                    return True
                if part.func.value.id != "math":
                    return True
        return False

    def excused(self, line: int, column: int) -> bool:
        """Whether what stands at a place has a reason not to be run."""
        line, column = line - self.lines, column - self.columns
        inside = [node for node in self.nodes if _begin(node) <= (line, column) < _end(node)]
        if not inside:
            return False
        node: ast.AST | None = max(inside, key=lambda each: (_begin(each), tuple(-end for end in _end(each))))
        while node is not None:
            if isinstance(node, ast.Raise | ast.ExceptHandler | ast.Assert):
                return True
            around = self.parents.get(node)
            test = getattr(around, "test", None)
            if (
                isinstance(around, ast.If | ast.IfExp | ast.While)
                and node is not test
                and self._settled(around, [test])
            ):
                return True
            if isinstance(around, ast.BoolOp) and self._settled(
                around, [each for each in around.values if each is not node]
            ):
                return True
            if isinstance(around, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                tests = [test for generator in around.generators for test in generator.ifs]
                if tests and self._settled(around, tests):
                    return True
            node = around
        return False

    def _settled(self, branching: ast.expr | ast.stmt, tests: list[Any]) -> bool:
        """Whether no data and no noise decide some of the tests of a branching, or the program has a test there that went one way."""
        lines = range(_begin(branching)[0] + self.lines, _end(branching)[0] + self.lines + 1)
        return not self.known.isdisjoint(lines) or not all(self._depends(test, self.open) for test in tests)


def _begin(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset + 1
