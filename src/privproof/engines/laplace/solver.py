"""Z3, for the search for alignments and invariants: every other module of the engine has it from here.

Z3 numbers all terms of a context in the order in which they are made, and its heuristics look at the numbers.  So every question
has a context of its own (`own_context`): what a search finds does not depend on what was asked before in the same process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeVar

import z3

from privproof.exact.patience import pause, seconds_left

T = TypeVar("T")


@contextmanager
def own_context(context: Any = None) -> Iterator[None]:
    """Inside, terms that are made belong to a new context, or to the given one; the one before comes back afterwards.

    >>> with own_context():
    ...     inside = z3.Int("x")
    >>> inside.ctx == z3.Int("x").ctx
    False
    """
    before = z3.z3._main_ctx
    z3.z3._main_ctx = context or z3.Context()
    try:
        yield
    finally:
        z3.z3._main_ctx = before


def each_in_own_context(found: Iterator[T]) -> Iterator[T]:
    """What an iterator finds, in a context of its own while it searches, and only then.

    An iterator that is left may be closed at any later time, in the middle of another search, together with the context that it
    would bring back.
    """
    context = z3.Context()
    while True:
        with own_context(context):
            try:
                item = next(found)
            except StopIteration:
                return
        yield item


_NEVER = 4_000_000.0
"""Seconds, 46 days, for Z3 where there is no limit: one with a limit, however far, searches in another order than one without."""


class Exhausted(Exception):
    """The effort for a search is spent."""


@dataclass
class Effort:
    """How much Z3 may do for a search, in steps that it counts itself: they are the same on every machine.

    Attributes:
        most: for the whole search, steps of Spacer counted with their weight.
        each: for one attempt to find an invariant, in steps of Spacer.
        spent: what was done until now.
    """

    most: int
    each: int
    spent: int = 0


_efforts: list[Effort] = []
"""The limits inside of which something is asked, the innermost last."""


@contextmanager
def within(effort: Effort | None) -> Iterator[None]:
    """Inside, what is asked counts, and `Exhausted` is raised when the effort is spent; not across the steps of a generator.

    >>> with own_context(), within(Effort(most=10, each=10)):
    ...     solver = z3.Solver()
    ...     solver.add(z3.Int("x") > 2, z3.Int("x") * z3.Int("x") == 25)
    ...     print(ask_solver(solver))
    ...     ask_solver(solver)
    Traceback (most recent call last):
        ...
    privproof.engines.laplace.solver.Exhausted
    """
    if effort is None:
        yield
        return
    _efforts.append(effort)
    try:
        yield
    finally:
        _efforts.pop()


def effort_for_attempt(effort: int, weight: int) -> int:
    """So much of an effort for one attempt as the limit leaves."""
    return min([effort, *(max(1, min(limit.each, (limit.most - limit.spent) // weight)) for limit in _efforts)])


def ask_solver(solver: Any, weight: int = 1) -> Any:
    """What a solver says about its assertions, within the time and the effort that is left.

    Args:
        solver: the solver.
        weight: how long its steps take, compared with those of a solver for formulas without loops.

    Raises:
        Stopped: there was not time enough.
        Exhausted: the effort was spent before.
    """
    pause()
    if any(limit.spent >= limit.most for limit in _efforts):
        raise Exhausted
    before = _steps(solver.ctx) if _efforts else 0
    solver.set("timeout", ceil(1000 * min(seconds_left(), _NEVER)))
    answer = solver.check()
    for limit in _efforts:
        limit.spent += weight * (_steps(solver.ctx) - before)
    if answer == z3.unknown:
        pause()
    return answer


def _steps(context: Any) -> int:
    """How many steps Z3 counted in a context."""
    solver = z3.Solver(ctx=context)
    solver.check()
    return int(solver.statistics().get_key_value("rlimit count"))


def true() -> Any:
    """The formula that always holds."""
    return z3.BoolVal(val=True)


def false() -> Any:
    """The formula that never holds."""
    return z3.BoolVal(val=False)


class Substitution:
    """Terms in the place of symbols: made once, applied to many formulas.

    >>> x, y = z3.Ints("x y")
    >>> Substitution([(x, y + 1)])(x == 2)
    y == 1
    """

    def __init__(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        self.pairs = pairs
        self.count = len(pairs)
        self.old = (z3.Ast * self.count)(*(old.as_ast() for old, _ in pairs))
        self.new = (z3.Ast * self.count)(*(new.as_ast() for _, new in pairs))

    def plain(self, term: Any) -> Any:
        """A formula with the terms in place, otherwise as it is.

        `z3.substitute` compares the sorts of all pairs each time, which takes most of its time; Z3 itself does so as well, and faster.
        """
        context = term.ctx
        made = z3.Z3_substitute(context.ref(), term.as_ast(), self.count, self.old, self.new)
        return z3.z3._to_expr_ref(made, context)

    def __call__(self, term: Any) -> Any:
        """A formula with the terms in place, simplified."""
        context = term.ctx
        made = z3.Z3_substitute(context.ref(), term.as_ast(), self.count, self.old, self.new)
        z3.Z3_inc_ref(context.ref(), made)
        simple = z3.Z3_simplify(context.ref(), made)
        result = z3.z3._to_expr_ref(simple, context)
        z3.Z3_dec_ref(context.ref(), made)
        return result


__all__ = ["Effort", "Exhausted", "Substitution", "each_in_own_context", "false", "own_context", "true", "within", "z3"]
