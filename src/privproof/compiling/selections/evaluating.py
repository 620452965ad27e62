"""A function evaluated for one length of its lists, or for all from one on, with its selections in the place of loops.

What is known is followed: constants, the length as far as it decides a test, places and values by their ranks, tuples and lists of such,
lists with an element for every place.  What is not known stays as it was written, with what is known put in.  A test that is not decided
has the rest of the function in both branches, so that no two ways meet again and every list is known where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from privproof.compiling.selections.cells import Cells, with_cells
from privproof.compiling.selections.lists import Length, RankLists
from privproof.compiling.selections.ranks import (
    BEFORE,
    EACH,
    NOWHERE,
    SORTED,
    STEMS,
    Failing,
    NoSelection,
    as_each,
    at_place,
    choice_scale,
    each,
    is_kept,
    nowhere,
    place,
    rank_of,
    ranks,
    value,
)
from privproof.compiling.selections.turns import Followed, follow
from privproof.compiling.selections.winners import with_winners
from privproof.compiling.sorts import CHOICE, CHOICES, OTHERS, PLACE, RANKED
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Conditional,
    Constant,
    Continue,
    Each,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Place,
    Replace,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    map_expressions,
    parts,
    reads,
    rewrite_expression,
    statements,
    variables,
    with_blocks,
    with_reads,
    within,
    writes,
)

_MOST_STATEMENTS = 2_000
"""Statements of a function that are followed for one length: loops over lists that are written out have few turns."""
_LONGEST = 8
"""Lengths that are told apart: as many as there are ranks that a loop may keep, and one for the others. Longer lists are alike."""


def loops_as_selections(body: Block, mechanism: Mechanism) -> tuple[Block, int] | None:
    """The body with its loops over noisy values as selections, and the least length of lists on which it does not fail.

    None if there are none, or if neighbours have lists of different length.
    """
    sites = iter(range(1 + max((s.site for s in statements(body) if isinstance(s, Sample)), default=0), 10**9))
    for written_as in (lambda given: given, with_winners):
        try:
            written, cells = with_cells(written_as(body))
            if cells or any(isinstance(s, Sample) and s.noise in CHOICES for s in statements(body)):
                return _Evaluation(mechanism, Length(0, unknown=True), sites, 0, cells).whole(written), 0
        except (NoSelection, Failing):
            pass
    if mechanism.neighbours not in ("each", "one", "monotone"):
        return None
    try:
        return _by_length(body, mechanism, sites)
    except NoSelection:
        return None


def _by_length(body: Block, mechanism: Mechanism, sites: Iterator[int]) -> tuple[Block, int]:
    """The body for every length of its lists."""
    opened = [name for name, declared in mechanism.inputs.items() if declared.shape == "list"]
    if not opened:
        raise NoSelection
    fixed = mechanism.inputs[opened[0]].size
    if fixed is not None:
        only = _Evaluation(mechanism, Length(fixed), sites, 0)
        try:
            return only.whole(body), 0
        except Failing:
            raise NoSelection from None
    most = 1
    while True:
        last = _Evaluation(mechanism, Length(most, many=True), sites, most)
        try:
            result = last.whole(body)
        except Failing:
            raise NoSelection from None
        if last.length.needed <= most:
            break
        most = last.length.needed
        if most > _LONGEST:
            raise NoSelection
    here = result[0].place
    length = Operation("turns", (Variable(opened[0], here),), here)
    chain: Block = ()
    least = 0
    for count in range(most):
        try:
            block = _read_again(_Evaluation(mechanism, Length(count), sites, count).block(body, {}))
        except Failing:
            least, block = count + 1, (Return(Constant(None, here), here),)
        chain = (
            block if not count else (If(Operation("==", (length, Constant(count, here)), here), block, chain, here),)
        )
    return (If(Operation(">=", (length, Constant(most, here)), here), result, chain, here),), least


class _Evaluation(RankLists):
    """The evaluation for one length.

    Args:
        mechanism: the mechanism.
        length: what is known of the length of its lists.
        sites: numbers for the draws.
        copy: the number of this evaluation among those of the function.
        cells: lists whose noisy values are drawn at once.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        length: Length,
        sites: Iterator[int],
        copy: int,
        cells: Mapping[str, Cells] = MappingProxyType({}),
    ) -> None:
        super().__init__(mechanism, length)
        self.cells = cells
        self.sites, self.copy = sites, copy
        self.followed = 0

    def whole(self, body: Block) -> Block:
        """The body, which has a selection."""
        result = _read_again(self.block(body, {}))
        if not self.largest:
            raise NoSelection
        return result

    def block(self, given: Block, held: dict[str, Expression]) -> Block:
        """Some statements, up to the end of the function."""
        result: list[Statement] = []
        waiting = list(reversed(given))
        while waiting:
            self.followed += 1
            if self.followed > _MOST_STATEMENTS:
                raise NoSelection
            statement = waiting.pop()
            rest = tuple(reversed(waiting))
            match statement:
                case Assign(name, Operation("cells", (Constant(str() as listed),))):
                    return (*result, *self.drawn_at_once(name, self.cells[listed], held, rest))
                case Assign(name, new, where):
                    made = self.value(new, held)
                    result += self.assigned(name, made, held, where)
                case Append(name, new) if isinstance(old := held.get(name), Operation) and old.name == "list of":
                    added = self.value(new, held)
                    if not (isinstance(added, Variable) or is_kept(added) or self.steady(added)):
                        own = Variable(f"#entry{next(self.sites)}", statement.place)  # what it speaks of may change
                        result.append(Assign(own.name, self.checked(added), statement.place))
                        added = own
                    held[name] = replace(old, arguments=(*old.arguments, added))
                case Sample(_, noise, (scores, *law)) if noise in CHOICES:
                    return (*result, *self.drawn_by_score(statement, self.value(scores, held), law, held, rest))
                case Sample(name):
                    made_ = self.put(statement, held)
                    assert isinstance(made_, Sample)
                    site = next(self.sites)
                    if any(name in variables(known) for other, known in held.items() if other != name):
                        made_ = replace(made_, name=f"{name} {site}")  # the noise of an earlier turn is still spoken of
                        held[name] = Variable(made_.name, statement.place)
                    else:
                        self.forget(name, held)
                    result.append(replace(made_, site=site))
                case If(test, then, otherwise, where):
                    decided = self.value(test, held)
                    if isinstance(decided, Constant):
                        waiting += reversed(then if decided.value else otherwise)
                        continue
                    try:
                        ways = [self.block((*way, *rest), dict(held)) for way in (then, otherwise)]
                    except Failing:
                        raise NoSelection from None  # it fails for some data, or some noise, alone
                    result.append(If(self.checked(decided), ways[0], ways[1], where))
                    return tuple(result)
                case While(test, body):
                    over = self.all_places(statement, held)
                    if over is not None and self.reads_values(body, held):
                        return (*result, *self.selection(statement, over, held, rest))
                    decided = test if self.speaks_of_length(test, held) else self.value(test, held)
                    if not isinstance(decided, Constant):
                        result.append(self.kept(statement, held))
                    elif decided.value:
                        if isinstance(test, Constant) or any(isinstance(s, Break | Continue) for s in statements(body)):
                            raise NoSelection  # ``while True`` has no last turn that its test could tell
                        waiting += [statement, *reversed(body)]
                case Return(where_value):
                    result.append(self.copied(Return(self.checked(self.value(where_value, held)), statement.place)))
                    return tuple(result)
                case Emit(shown):
                    result.append(self.copied(Emit(self.checked(self.value(shown, held)), statement.place)))
                case Append(name) | Replace(name) if name not in held:
                    result.append(self.put(statement, held))
                case _:
                    raise NoSelection
        return tuple(result)

    def copied(self, statement: Return | Emit) -> Statement:
        """An output of this copy of the function."""
        return replace(statement, place=replace(statement.place, copy=self.copy))

    def assigned(self, name: str, made: Expression, held: dict[str, Expression], where: Place) -> list[Statement]:
        """Note what a variable holds; the statement that is left of it."""
        self.forget(name, held)
        if self.steady(made) or is_kept(made):
            held[name] = nowhere(made)
        if is_kept(made) or _is_open(made):
            return []
        return [Assign(name, self.checked(made), where)]

    def forget(self, name: str, held: dict[str, Expression]) -> None:
        """A variable gets another value: nothing that is known may speak of the old one."""
        held.pop(name, None)
        if any(name in variables(known) for known in held.values()):
            raise NoSelection

    def steady(self, expression: Expression) -> bool:
        """Whether the value of an expression is known once and for all: it speaks of constants, inputs and ranks alone."""
        own = all(name in self.mechanism.inputs or name.startswith(STEMS) for name in variables(expression))
        return own and not any(isinstance(part, Operation) and part.name == BEFORE for part in within(expression))

    def put(self, statement: Statement, held: Mapping[str, Expression]) -> Statement:
        """A statement with what is known put in."""
        return with_reads(statement, lambda e: None) if not reads(statement) else self._with(statement, held)

    def _with(self, statement: Statement, held: Mapping[str, Expression]) -> Statement:
        match statement:
            case Sample(_, _, arguments):
                return replace(statement, arguments=tuple(self.checked(self.value(a, held)) for a in arguments))
            case Append(_, new):
                return replace(statement, value=self.checked(self.value(new, held)))
            case Replace(_, index, new):
                made = (self.checked(self.value(each, held)) for each in (index, new))
                return replace(statement, index=next(made), value=next(made))
            case _:
                raise NoSelection

    def kept(self, loop: While, held: dict[str, Expression]) -> Statement:
        """A loop that is none over noisy values: it stays, with what is known put in."""
        written = {name for s in statements((loop,)) if (name := writes(s)) is not None}
        for name in written:
            if name in held and is_kept(held[name]):
                raise NoSelection
            held.pop(name, None)
        if any(written & set(variables(known)) for known in held.values()):
            raise NoSelection

        def change(expression: Expression) -> Expression | None:
            return self.checked(self.value(expression, held)) if isinstance(expression, Variable) else None

        inside = {name for s in statements((loop,)) for e in reads(s) for name in variables(e)}
        if any(name in held and is_kept(held[name]) for name in inside):
            raise NoSelection
        if any(isinstance(s, Each | Inline) for s in statements((loop,))):
            raise NoSelection
        return replace(
            loop, test=rewrite_expression(loop.test, change), body=map_expressions(self.own_sites(loop.body), change)
        )

    def own_sites(self, block: Block) -> Block:
        """Statements whose noise is told apart from that of other copies."""

        def change(statement: Statement) -> Statement:
            match statement:
                case Sample():
                    return replace(statement, site=next(self.sites))
                case If(_, then, otherwise):
                    return replace(statement, then=self.own_sites(then), otherwise=self.own_sites(otherwise))
                case While(_, body):
                    return replace(statement, body=self.own_sites(body))
                case Return() | Emit():
                    return self.copied(statement)
                case _:
                    return statement

        return tuple(map(change, block))

    def checked(self, expression: Expression) -> Expression:
        """An expression that a program can hold."""
        for part in within(expression):
            if isinstance(part, Operation) and part.name in (EACH, SORTED, BEFORE):
                raise NoSelection
        return expression

    def all_places(self, loop: While, held: Mapping[str, Expression]) -> tuple[str, int] | None:
        """The counter of a loop over all places, and where it begins; None for any other loop."""
        match loop.test:
            case Operation("<", (Variable(counter), bound)):
                start = held.get(counter)
                if not isinstance(start, Constant) or start.value not in (0, 1) or isinstance(start.value, bool):
                    return None
                whole = self.value(bound, held)
                return (counter, int(str(start.value))) if self.length.is_length(whole, self.mechanism) else None
            case _:
                return None

    def speaks_of_length(self, test: Expression, held: Mapping[str, Expression]) -> bool:
        """Whether the number of turns of a loop depends on the length of the lists: such a loop is not written out."""
        inside = [self.value(part, held) for part in parts(test)]
        return any(self.length.is_length(part, self.mechanism) for e in inside for part in within(e))

    def reads_values(self, block: Block, held: Mapping[str, Expression]) -> bool:
        """Whether a loop over all places draws, or reads a list with an element for every place."""
        drawn = any(isinstance(s, Sample) for s in statements(block))
        read = {name for s in statements(block) for e in reads(s) for name in variables(e)}
        grown = any(isinstance(s, Append) for s in statements(block))
        return drawn or grown or any(name in held and as_each(held[name]) is not None for name in read)

    def selection(self, loop: While, over: tuple[str, int], held: dict[str, Expression], rest: Block) -> Block:
        """A loop over all places, and what comes after it."""
        counter, start = over
        draws = any(isinstance(s, Sample) for s in statements(loop.body))
        read = {name for s in statements(loop.body) for e in reads(s) for name in variables(e)}
        tags = {found[1] for name in read if (found := as_each(held.get(name, Constant(None, NOWHERE)))) is not None}
        known = tags - {0}
        if draws and (known or start):
            raise NoSelection
        number = len(self.largest) + 1 if draws else next(iter(known), 0)
        if len(known) > 1:
            raise NoSelection
        problem: NoSelection | None = None
        for largest in (True, False) if draws else (self.largest.get(number, True),):
            if draws:
                self.largest[number] = largest
            try:
                followed = follow(
                    loop, counter, held, number or 1, self.mechanism, start=start, largest=largest, rest=rest
                )
                return self.after(loop, followed, number, dict(held), rest)
            except NoSelection as error:
                problem = problem or error
                for later in [n for n in self.largest if n >= number and draws]:
                    del self.largest[later]
        raise problem or NoSelection

    def after(self, loop: While, found: Followed, number: int, held: dict[str, Expression], rest: Block) -> Block:
        """What comes after a loop over all places, with the selection that the loop makes before it."""
        if found.drawn is not None:
            self.supported(found.drawn.center, loop)
        self.length.need(found.most)
        turns = self.length.count
        way = found.after(turns) if turns >= min(found.ways) else {}
        result: list[Statement] = []
        written = {name for s in statements(loop.body) if (name := writes(s)) is not None}
        before = dict(held)
        for name in written:
            if name in found.elements:
                element = found.elements[name]
                own = any(number == selection for _, selection in ranks(element, "#value"))
                held[name] = each(element, number if own else 0)
                continue
            if name not in way or way[name] == Operation(BEFORE, (Variable(name, NOWHERE),), NOWHERE):
                if name not in way:
                    held.pop(name, None)
                continue
            new = way[name]
            if not self.steady(new):
                raise NoSelection
            held[name] = new
            if not is_kept(new):
                result.append(Assign(name, self.checked(new), loop.place))
        if any(written & set(variables(known)) for name, known in before.items() if name not in written):
            raise NoSelection
        made = (*result, *self.block(rest, held))
        if found.drawn is None:
            return made
        length = Operation("turns", (self.length.listed(self.mechanism, NOWHERE),), NOWHERE)
        return self.with_draws(found.drawn.sample, found.drawn.center, length, number, made)

    def drawn_at_once(self, name: str, cells: Cells, held: dict[str, Expression], rest: Block) -> Block:
        """A list whose noisy values are drawn at once, and what comes after it."""
        number, here = len(self.largest) + 1, cells.sample.place
        before, center = self.in_cells(tuple(self.value(each, held) for each in cells.centers), number, here)
        problem: NoSelection | None = None
        for largest in (True, False):
            self.largest[number], self.lengths[number] = largest, Length(len(before))
            try:
                made = self.block(rest, {**held, name: each(value(0, number), number)})
            except NoSelection as error:
                problem = problem or error
                for later in [n for n in self.largest if n >= number]:
                    del self.largest[later]
                continue
            return (*before, *self.with_draws(cells.sample, center, Constant(len(before), here), number, made))
        raise problem or NoSelection

    def drawn_by_score(
        self, choice: Sample, scores: Expression, law: list[Expression], held: dict[str, Expression], rest: Block
    ) -> Block:
        """A place that is chosen by its score, as that of the largest score with Gumbel noise, and what comes after it."""
        number, here = len(self.largest) + 1, choice.place
        where = place(0, number)
        before: Block = ()
        self.largest[number] = True
        match scores, as_each(scores):
            case Operation("list of" | "tuple of", entries), None:
                if not entries:
                    raise Failing
                self.lengths[number] = Length(len(entries))
                before, center = self.in_cells(entries, number, here)
                length: Expression = Constant(len(entries), here)
            case Variable(name), None if self.length.is_length(Operation("turns", (scores,), here), self.mechanism):
                center = Element(Variable(name, here), where, here)
                length = Operation("turns", (scores,), here)
            case _, (element, 0):
                center = at_place(element, where)
                length = Operation("turns", (self.length.listed(self.mechanism, here),), here)
            case _:
                raise NoSelection
        if self.length_of(number).count == 0:
            raise Failing
        if isinstance(length, Operation) and any(
            name not in (where.name, *self.mechanism.inputs) for name in variables(center)
        ):
            raise NoSelection
        scale = choice_scale(law) if choice.noise == CHOICE else Constant(1, here)
        drawn = Sample(choice.name, "gumbel", (center, scale, Constant(choice.noise, here)), choice.site, here)
        self.forget(choice.name, held)
        made = self.block(rest, {**held, choice.name: place(1, number)})
        return (*before, *self.with_draws(drawn, center, length, number, made))

    def in_cells(self, centers: tuple[Expression, ...], number: int, here: Place) -> tuple[Block, Expression]:
        """Values that are kept in variables, and that at a place."""
        names = [Variable(f"#cell{k} of {number}", here) for k in range(len(centers))]
        where = place(0, number)
        center: Expression = names[-1]
        for k, cell in reversed(list(enumerate(names[:-1]))):
            center = Conditional(Operation("==", (where, Constant(k, here)), here), cell, center, here)
        return tuple(Assign(c.name, self.checked(e), here) for c, e in zip(names, centers, strict=True)), center

    def with_draws(self, sample: Sample, center: Expression, length: Expression, number: int, made: Block) -> Block:
        """Statements after the draws of a selection that they speak of."""
        known = self.length_of(number)
        wanted = [e for s in statements(made) for e in reads(s)]
        places = max((r for e in wanted for r, s in ranks(e, "#place") if s == number), default=0)
        values = max((r for e in wanted for r, s in ranks(e, "#value") if s == number), default=0)
        winners = max(places, values - 1, 1)
        known.need(winners + 1)
        if winners > known.count and not known.many:
            winners = known.count
        largest = Variable("#others" if number == 1 else f"#others of {number}", sample.place)
        last = value(winners + 1, number).name

        def named(expression: Expression) -> Expression | None:
            return largest if isinstance(expression, Variable) and expression.name == last else None

        others = largest if known.count > winners or known.many else None
        return (*self.drawn(sample, center, length, winners, number, others), *map_expressions(made, named))

    def supported(self, center: Expression, loop: While) -> None:
        """Refuse centres that speak of more than data and the place."""
        allowed = {place(0, n).name for n in self.largest} | set(self.mechanism.inputs)
        if any(name not in allowed for name in variables(center)):
            raise NoSelection
        if not any(isinstance(part, Element) for part in within(center)):
            raise NoSelection

    def drawn(
        self, sample: Sample, center: Expression, length: Expression, winners: int, number: int, others: Variable | None
    ) -> Block:
        """The draws of a selection with so many places."""
        here = sample.place
        if not winners:
            return ()
        places = [replace(place(rank, number), place=here) for rank in range(1, winners + 1)]
        values = [replace(value(rank, number), place=here) for rank in range(1, winners + 1)]
        centers = [Variable(p.name.replace("#place", "#center of "), here) for p in places]
        block: list[Statement] = []
        for k, where in enumerate(places):
            block.append(Sample(where.name, PLACE, (length, *places[:k]), next(self.sites), here))
        for where, middle in zip(places, centers, strict=True):
            block.append(Assign(middle.name, _at(center, where, here), here))
        if others is not None:
            values.append(others)
            block.append(Sample(others.name, OTHERS, (length, centers[0], *places), next(self.sites), here))
        for middle, drawn in zip(centers, values, strict=False):
            arguments = (middle, *sample.arguments[1:])
            block.append(replace(sample, name=drawn.name, arguments=arguments, site=next(self.sites)))
        order = values if self.largest[number] else values[::-1]
        ranked = "#ranked" if number == 1 else f"#ranked of {number}"
        block.append(Sample(ranked, RANKED, tuple(order), next(self.sites), here))
        return tuple(block)


def _read_again(block: Block) -> Block:
    """The statements without assignments to variables that nothing reads."""
    while True:
        read = {name for s in statements(block) for e in reads(s) for name in variables(e)}

        def change(given: Block, read: set[str] = read) -> Block:
            kept = (s for s in given if not (isinstance(s, Assign) and s.name not in read))
            return tuple(with_blocks(s, change) for s in kept)

        made = change(block)
        if made == block:
            return block
        block = made


def _is_open(expression: Expression) -> bool:
    """Whether an expression is the first element of a list of noisy values, which a loop makes a rank of."""
    return isinstance(expression, Element) and as_each(expression.sequence) is not None


def _at(center: Expression, where: Variable, here: Place) -> Expression:
    def change(expression: Expression) -> Expression | None:
        if rank_of(expression, "#place") is not None:
            return where
        match expression:
            case Variable() | Constant() | Operation() | Element() | Conditional():
                return replace(expression, place=here)

    return rewrite_expression(center, change)
