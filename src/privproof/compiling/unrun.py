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
from privproof.language.state import codes_within

_SILENT = frozenset(
    ("CACHE", "RESUME", "RETURN_GENERATOR", "POP_TOP", "NOP", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS")
)
"""Instructions that tracing does not tell of, or that stand for no part of the text."""
_RAISES = frozenset(("RAISE_VARARGS", "RERAISE"))
_ENDS = frozenset(("RETURN_VALUE", "RETURN_CONST", *_RAISES))
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
        self.seen: dict[CodeType, set[int]] = {} if code is None else {each: set() for each in codes_within(code)}

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

    def never_run(self, known: Iterable[int], totalled: Iterable[int]) -> str | None:
        """What was never run without a reason, in words; None where there is nothing.

        Args:
            known: the lines with conditions of the program that did not go both ways.
            totalled: the lines of what is added up over all records.
        """
        if not any(self.seen.values()):
            return None
        reasons = _Reasons.of(self.function, self.inputs, frozenset(known), frozenset(totalled))
        for code, seen in self.seen.items():
            for line, column, leads in _untaken(code, seen) if seen else ():
                if reasons is None or not reasons.excused(line, column, leads):
                    return (
                        f"perhaps: where line {line} of {self.function.__name__} leads was never run beside the program, "
                        "which has no condition that leads there"
                    )
        return None


def _untaken(code: CodeType, seen: set[int]) -> Iterator[tuple[int, int, list[dis.Instruction]]]:
    """The branches that were met and never taken one way: their place, and the instructions that way that none came to.

    Ways that end in an exception alone are left out.
    """
    listed = list(dis.get_instructions(code))
    numbers = {each.offset: number for number, each in enumerate(listed)}
    for number, each in enumerate(listed):
        at = each.positions
        jumps = each.opcode in dis.hasjrel or each.opcode in dis.hasjabs
        if each.offset not in seen or not jumps or each.opname in _ALWAYS or at is None or at.lineno is None:
            continue
        for first in (number + 1, numbers[each.argval]):
            found, ends = _way(listed, numbers, seen, first)
            if found and not ends <= _RAISES:
                yield at.lineno, at.col_offset or 0, found


def _way(
    listed: list[dis.Instruction], numbers: dict[int, int], seen: set[int], first: int
) -> tuple[list[dis.Instruction], set[str]]:
    """The instructions that follow one and that were never run; how that ends, where it comes back to others: as nothing."""
    while first < len(listed) and listed[first].opname in _SILENT and listed[first].opname not in _ENDS:
        first += 1  # of these nothing is told
    found: dict[int, dis.Instruction] = {}
    ends: set[str] = set()
    waiting = [first]
    while waiting:
        number = waiting.pop()
        if number in found or number >= len(listed):
            continue
        each = listed[number]
        if each.offset in seen:
            ends.add("")
            continue
        found[number] = each
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            waiting.append(numbers[each.argval])
            if each.opname in _ALWAYS:
                continue
        if each.opname in _ENDS:
            ends.add(each.opname)
        else:
            waiting.append(number + 1)
    return [found[number] for number in sorted(found)], ends


class _Reasons:
    """Why a part of a function may be left out of trials."""

    def __init__(
        self,
        tree: ast.AST,
        lines: int,
        columns: int,
        inputs: frozenset[str],
        known: frozenset[int],
        totalled: frozenset[int],
    ) -> None:
        self.lines, self.columns, self.known, self.totalled = lines, columns, known, totalled
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)]
        self.open = self._open(tree, inputs)

    @classmethod
    def of(
        cls, function: Any, inputs: frozenset[str], known: frozenset[int], totalled: frozenset[int]
    ) -> _Reasons | None:
        """The reasons in the text of a function; None where there is no text."""
        try:
            listed, first = inspect.getsourcelines(function)
            text = "".join(listed)
            tree = ast.parse(textwrap.dedent(text))
        except (OSError, SyntaxError, TypeError):
            return None
        indent = len(listed[0]) - len(listed[0].lstrip())
        return cls(tree, max(first, 1) - 1, indent, inputs, known, totalled)

    def _open(self, tree: ast.AST, inputs: frozenset[str]) -> set[str]:
        """The names that data or noise may have a part in: they are given something open, or anything where something open decides."""
        found = set(inputs)
        while True:
            more: set[str] = set()
            for node in ast.walk(tree):
                match node:
                    case ast.Assign(value=given) | ast.AugAssign(value=given) | ast.NamedExpr(value=given):
                        decided: ast.AST | None = given
                    case ast.AnnAssign(value=given):
                        decided = given
                    case ast.For(iter=given) | ast.comprehension(iter=given):
                        decided = given
                    case ast.If(test=given) | ast.While(test=given):
                        decided = given
                    case ast.With() | ast.Try() | ast.Match():
                        decided = node
                    case _:
                        continue
                if decided is not None and self._depends(decided, found):
                    more |= {
                        part.id
                        for part in ast.walk(node)
                        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
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

    def excused(self, line: int, column: int, leads: list[dis.Instruction]) -> bool:
        """Whether a branch has a reason to be taken one way alone, or the other way is but the end of the function."""
        if not any(self._stands_for(each) for each in leads):
            return True
        node: ast.AST | None = self._innermost(line, column)
        if isinstance(node, ast.If | ast.While | ast.For):  # the last operand of its test stands where it stands itself
            return self._settled(node, [] if isinstance(node, ast.For) else [node.test])
        while node is not None:
            around = self.parents.get(node)
            match around:
                case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if node is test:
                    return self._settled(around, [test])
                case ast.Assert():
                    return True
                case ast.BoolOp() if not self._depends(node, self.open):
                    return True
                case ast.For():
                    return self._settled(around, []) or self._adds_up(around)
                case ast.comprehension(ifs=tests):
                    comprehended = self.parents[around]
                    if not isinstance(comprehended, ast.expr):
                        return False
                    return self._settled(comprehended, tests) or self._adds_up(comprehended)
            node = around
        return line in self.known

    def _stands_for(self, each: dis.Instruction) -> bool:
        """Whether an instruction stands for a part of the text; the end of a function is none unless it is written."""
        if each.opname in _SILENT and each.opname not in _ENDS:
            return False
        at = each.positions
        if at is None or at.lineno is None:
            return False
        if each.opname in _ENDS or (each.opname == "LOAD_CONST" and each.argval is None):
            node: ast.AST | None = self._innermost(at.lineno, at.col_offset or 0)
            while node is not None and not isinstance(node, ast.Return):
                node = self.parents.get(node)
            return node is not None
        return True

    def _innermost(self, line: int, column: int) -> ast.expr | ast.stmt | None:
        """The smallest part of the text at a place."""
        place = (line - self.lines, column - self.columns)
        inside = [node for node in self.nodes if _begin(node) <= place < _end(node)]
        return max(inside, key=lambda each: (_begin(each), tuple(-end for end in _end(each))), default=None)

    def _adds_up(self, walking: ast.expr | ast.stmt) -> bool:
        """Whether the program adds something up where a loop stands, so that what walks over the records is no branch of it."""
        return not self.totalled.isdisjoint(self._lines_of(walking))

    def _lines_of(self, node: ast.expr | ast.stmt) -> range:
        """The lines of the file that a part of the text stands in."""
        return range(_begin(node)[0] + self.lines, _end(node)[0] + self.lines + 1)

    def _settled(self, branching: ast.expr | ast.stmt, tests: list[Any]) -> bool:
        """Whether no data and no noise decide some of the tests of a branching, or the program has a test there that went one way."""
        return not self.known.isdisjoint(self._lines_of(branching)) or not all(
            self._depends(test, self.open) for test in tests
        )


def _begin(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset + 1
