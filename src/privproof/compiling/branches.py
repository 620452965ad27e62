"""Draws that only one of two runs makes: branches on data are levelled, so that both runs draw alike.

Where a test on data decides whether noise is drawn, neighbouring runs may draw different numbers of times.  Noise that nothing looks at
changes no law: so the noise of a branch is drawn in any case, and looked at only where the branch is taken.  Noise of one law that both
branches draw, in the same order, is drawn once, around a centre that depends on the test.  What else stands in the branches is guarded:

* ``if count > 0: noisy = laplace(count, 1); if noisy > 10: out.append(noisy)`` becomes
  ``noisy = laplace(count if count > 0 else 0, 1); if count > 0 and noisy > 10: out.append(noisy)``;
* ``if x > 5: return laplace(5, 1)``, ``return laplace(x, 1)`` becomes ``return laplace(5 if x > 5 else x, 1)``.

A draw says *where* the function makes it (`Sample.where`), so that both can be compared run by run.  This is the theorem of unmatched
draws in the form of a program: a draw of one run alone is a draw of both that one of them does not look at, for every value of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TypeAlias

from privproof.compiling.needs import exposed_after, variables_read_first
from privproof.compiling.sorts import SHIFTED
from privproof.language.syntax import (
    Assign,
    Block,
    Conditional,
    Constant,
    Emit,
    Expression,
    If,
    Operation,
    Place,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    parts,
    reads_any,
    statements,
    variables,
    variables_reached,
    with_blocks,
    with_parts,
    within,
    writes,
)

_NOWHERE = Place("", 0, 0)
_Seen: TypeAlias = "Sample | Emit | Return | If"
"""What a branch does that cannot be taken back: draws, outputs, and tests on noise around them."""


def noisy_variables(body: Block) -> set[str]:
    """The variables that noise flows into."""
    return variables_reached(body, (s.name for s in statements(body) if isinstance(s, Sample)), reads_any)


def levelled_branches(body: Block, differs: Callable[[Expression], bool]) -> Block:
    """Tests on data that decide about noise, with their draws outside of the branches.

    Args:
        body: the statements.
        differs: whether an expression may differ between the runs; a test that does not goes the same way in both.
    """
    return _Levelling(body, differs).block(body, set())


@dataclass(frozen=True)
class _Guard:
    """When a branch is taken: a variable, and how it came out."""

    test: Variable
    taken: bool

    @property
    def holds(self) -> Expression:
        """The guard as an expression."""
        return self.test if self.taken else Operation("not", (self.test,), self.test.place)

    def chosen(self, here: Expression, elsewhere: Expression) -> Expression:
        """One value in this branch, and another one elsewhere."""
        one, other = (here, elsewhere) if self.taken else (elsewhere, here)
        return Conditional(self.test, one, other, self.test.place)

    def alone(self, block: Block) -> Iterator[Statement]:
        """Statements of this branch alone."""
        if block:
            yield If(self.test, block if self.taken else (), () if self.taken else block, self.test.place)


class _Levelling:
    def __init__(self, body: Block, differs: Callable[[Expression], bool]) -> None:
        self.noisy, self.differs = noisy_variables(body), differs
        self.made: set[str] = set()

    def named(self, what: str, place: Place) -> Variable:
        """A new variable."""
        name = f"#{what} {len(self.made)}"
        self.made.add(name)
        return Variable(name, place)

    def block(self, block: Block, live: set[str]) -> Block:
        """A block with its branches levelled, given the variables that are read after it."""
        done, result = list[Statement](), list[Statement]()
        later = exposed_after(block)
        for number, statement in enumerate(block):
            after = live | later[number]
            if isinstance(statement, If) and self.differs(statement.test):
                whole, rest = _with_rest(statement, block[number + 1 :])
                levelled = self.levelled(whole, result, after)
                if levelled is not None and whole is statement and not _returns((whole,)):
                    done += (*result, *levelled)
                    result = []
                    continue
                if levelled is not None:
                    here = statement.place
                    end = (Return(Constant(None, here), here),) if _returns((whole,)) else ()  # code ends with one
                    return (*done, *result, *levelled, *self.block(rest, live), *end)
            result.append(self.looked_into(statement, after))
        return (*done, *result)

    def looked_into(self, statement: Statement, after: set[str]) -> Statement:
        """A statement that stays, with the branches inside of it levelled."""
        again = variables_read_first((statement,), set())[0] if isinstance(statement, While) else set[str]()
        return with_blocks(statement, lambda inner: self.block(inner, after | again))

    def levelled(self, statement: If, before: list[Statement], after: set[str]) -> Block | None:
        """A test without noise whose branches draw, as statements that draw in any case; None for any other."""
        asked = _first_asked(statement.test, before)
        if self.noisy.intersection(variables(asked)):
            return None
        sides = self.inside(statement.then, after), self.inside(statement.otherwise, after)
        if sides[0] is None or sides[1] is None:
            return None
        draws = [s for side in sides for s in side or () if isinstance(s, Sample)]
        if not draws or any(s.noise not in SHIFTED for s in statements((statement,)) if isinstance(s, Sample)):
            return None
        test = self.named("branch", statement.place)
        begin = Assign(test.name, asked, statement.place)
        branches = statement.then, statement.otherwise
        own = _own_names(*branches, after), _own_names(branches[1], branches[0], after)
        return (begin, *self.joined(test, sides[0], sides[1], own))

    def inside(self, block: Block, live: set[str]) -> Block | None:
        """What stands in a branch, its own branches levelled; None where something stands there that is not guarded, such as a loop."""
        result: list[Statement] = []
        for number, statement in enumerate(block):
            match statement:
                case Assign() | Sample() | Emit():
                    result.append(statement)
                case Return():
                    unreached = statements(block[number + 1 :])
                    return None if any(isinstance(s, Emit) for s in unreached) else (*result, statement)
                case If():
                    whole, rest = _with_rest(statement, block[number + 1 :])
                    after = live | variables_read_first(block[number + 1 :], set())[0]
                    levelled = self.levelled(whole, result, after)
                    if levelled is not None:
                        last = self.inside(rest, live)
                        return None if last is None else (*result, *levelled, *last)
                    kinds = (Assign, If, Sample, Emit, Return)
                    if not all(isinstance(s, kinds) for s in statements((statement,))):
                        return None
                    result.append(self.looked_into(statement, after))
                case _:
                    return None
        return tuple(result)

    def joined(
        self, test: Variable, then: Block, otherwise: Block, own: tuple[set[str], set[str]]
    ) -> Iterator[Statement]:
        """Two branches as one sequence: what both do alike is done once, and everything else where its branch is taken."""
        ends: tuple[Return, Return] | None = None
        match then[-1:], otherwise[-1:]:
            case (Return() as returned,), (Return() as other_way,) if _kind(returned) != _kind(other_way):
                then, otherwise, ends = then[:-1], otherwise[:-1], (returned, other_way)
        sides = list(_segments(then)), list(_segments(otherwise))
        mine_, theirs_ = ([_kind(seen) for _, seen in side if seen is not None] for side in sides)
        one, other = _Guard(test, taken=True), _Guard(test, taken=False)
        for what, i, k, j, m in SequenceMatcher(None, mine_, theirs_, autojunk=False).get_opcodes():
            if what == "equal":
                for (first, mine), (second, theirs) in zip(sides[0][i:k], sides[1][j:m], strict=True):
                    yield from self.plain(one, first, own[0])
                    yield from self.plain(other, second, own[1])
                    assert mine is not None
                    assert theirs is not None
                    yield from self.together((one, other), (mine, theirs), own)
                continue
            for guard, listed, names in ((one, sides[0][i:k], own[0]), (other, sides[1][j:m], own[1])):
                for before, seen in listed:
                    yield from self.plain(guard, before, names)
                    assert seen is not None
                    yield from self.guarded(guard, seen, names)
        for guard, side, names in zip((one, other), sides, own, strict=True):
            yield from self.plain(guard, side[-1][0], names)
        if ends is not None:
            yield If(test, ends[:1], ends[1:], test.place)

    def plain(self, guard: _Guard, block: Block, own: set[str]) -> Iterator[Statement]:
        """What only assigns, in one branch; variables of the branch alone are given their values in any case."""
        waiting: list[Statement] = []
        for statement in block:
            if isinstance(statement, Assign) and statement.name in own | self.made and _never_fails(statement.value):
                yield from guard.alone(tuple(waiting))
                waiting.clear()
                yield statement
            else:
                waiting.append(statement)
        yield from guard.alone(tuple(waiting))

    def together(
        self, guards: tuple[_Guard, _Guard], seen: tuple[_Seen, _Seen], own: tuple[set[str], set[str]]
    ) -> Iterator[Statement]:
        """What both branches do: it is done once, with what depends on the branch."""
        test = guards[0].test
        match seen:
            case Sample() as mine, Sample() as theirs:
                always = Constant(value=True, place=test.place)
                made = None
                if mine.where is not None or theirs.where is not None:
                    made = Conditional(test, mine.where or always, theirs.where or always, test.place)
                centre = self.named("centre", test.place)
                yield Assign(centre.name, _either(test, mine.arguments[0], theirs.arguments[0]), test.place)
                drawn = replace(mine, arguments=(centre, *mine.arguments[1:]), where=made)
                if mine.name == theirs.name:
                    yield drawn
                    return
                kept = self.named("drawn", test.place)
                yield replace(drawn, name=kept.name)
                for guard, sample, names in zip(guards, (mine, theirs), own, strict=True):
                    yield from self.plain(guard, (Assign(sample.name, kept, test.place),), names)
            case (Emit() as mine_, Emit() as theirs_) | (Return() as mine_, Return() as theirs_):
                yield replace(mine_, value=_either(test, mine_.value, theirs_.value))
            case _:
                raise AssertionError(seen)

    def guarded(self, guard: _Guard, seen: _Seen, own: set[str]) -> Iterator[Statement]:
        """What one branch does alone; noise is drawn in any case."""
        here = guard.test.place
        match seen:
            case Sample(name, _, (centre, *law), _, _, where):
                idle: Expression = Constant(0, here)
                if isinstance(centre, Constant):  # noise that only one run looks at is told by its centre
                    idle = Operation("+", (centre, Constant(1, here)), here)
                made = guard.holds if where is None else Operation("and", (guard.holds, where), here)
                around = self.named("centre", here)
                yield Assign(around.name, guard.chosen(centre, idle), here)
                drawn = replace(seen, arguments=(around, *law), where=made)
                if name in own | self.made:
                    yield drawn
                    return
                kept = self.named("drawn", here)
                yield replace(drawn, name=kept.name)
                yield from guard.alone((Assign(name, kept, here),))
            case If(test, then, otherwise, place):
                both = Operation("and", (guard.holds, test), place)
                neither = Operation("and", (guard.holds, Operation("not", (test,), place)), place)
                yield If(both, then, (If(neither, otherwise, (), place),) if otherwise else (), place)
            case Emit() | Return():
                yield from guard.alone((seen,))


def _own_names(branch: Block, other: Block, after: set[str]) -> set[str]:
    """The variables that a branch writes before it reads them, and that neither the other branch nor what comes after looks at."""
    written, elsewhere = ({name for s in statements(b) if (name := writes(s)) is not None} for b in (branch, other))
    needed = variables_read_first(branch, set())[0] | variables_read_first(other, set())[0]
    return written - needed - elsewhere - after


def _first_asked(test: Expression, before: list[Statement]) -> Expression:
    """A test, or what its variable was given last, as ``count > 0`` of ``count > 0 and laplace(count, 1) > 10``."""
    if not isinstance(test, Variable):
        return test
    written = set[str | None]()
    for statement in reversed(before):
        if isinstance(statement, Assign) and statement.name == test.name:
            return test if written.intersection(variables(statement.value)) else statement.value
        written |= {writes(s) for s in statements((statement,))}
        if test.name in written:
            break
    return test


def _never_fails(value: Expression) -> bool:
    """Whether an expression has a value whatever the values of its variables are."""
    known = ("+", "-", "neg", "not", "and", "or", "<", "<=", ">", ">=", "==", "!=")
    return all(
        isinstance(part, Variable | Constant | Conditional) or (isinstance(part, Operation) and part.name in known)
        for part in within(value)
    )


def _with_rest(statement: If, rest: Block) -> tuple[If, Block]:
    """A test with what comes after it in the branch that does not return, if one does; and what is left."""
    ends = [_returns(side) for side in (statement.then, statement.otherwise)]
    if all(ends) or not any(ends):
        return statement, rest
    then, otherwise = (
        side if end else (*side, *rest) for side, end in zip((statement.then, statement.otherwise), ends, strict=True)
    )
    return replace(statement, then=then, otherwise=otherwise), ()


def _returns(block: Block) -> bool:
    """Whether a block ends with a return on every way."""
    match block[-1:]:
        case (Return(),):
            return True
        case (If(_, then, otherwise),):
            return _returns(then) and _returns(otherwise)
        case _:
            return any(isinstance(s, Return) for s in block)


def _segments(block: Block) -> Iterator[tuple[Block, _Seen | None]]:
    """The statements before everything that cannot be taken back, with that; at last those after all of it."""
    waiting: list[Statement] = []
    for statement in block:
        match statement:
            case Sample() | Emit() | Return():
                yield tuple(waiting), statement
                waiting = []
            case If() if not all(isinstance(s, Assign | If) for s in statements((statement,))):
                yield tuple(waiting), statement
                waiting = []
            case _:
                waiting.append(statement)
    yield tuple(waiting), None


def _kind(seen: _Seen) -> tuple[object, ...]:
    """What two branches have in common: noise of one law, or outputs of one form."""
    match seen:
        case Sample(_, noise, (_, *law)):
            return noise, *map(placeless, law)
        case Emit(value) | Return(value):
            return type(seen).__name__, _form(value)
        case _:
            return ("alone", id(seen))


def _form(value: Expression) -> object:
    """An output without its parts."""
    match value:
        case Operation("tuple of" | "list of" | "table of" as name, arguments):
            return name, tuple(map(_form, arguments))
        case Constant(str() | None as known):
            return type(known).__name__
        case Constant(tuple()):
            return value.value
        case _:
            return "."


def _either(test: Variable, one: Expression, other: Expression) -> Expression:
    """One of two values of one form, part by part."""
    if placeless(one) == placeless(other):
        return one
    match one, other:
        case (Operation("tuple of" | "list of" | "table of"), Operation()):
            pairs = zip(parts(one), parts(other), strict=True)
            return with_parts(one, tuple(_either(test, a, b) for a, b in pairs))
        case _:
            return Conditional(test, one, other, test.place)


def placeless(expression: Expression) -> Expression:
    """An expression, wherever it stands."""
    return replace(with_parts(expression, tuple(map(placeless, parts(expression)))), place=_NOWHERE)
