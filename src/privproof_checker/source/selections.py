"""Selections: the text draws a noisy value for every entry of a list and binds what the largest are, for lists of every length.

The instructions say of a list that its k largest noisy values have the places w_1, ..., w_k and the values x_1, ..., x_k, and that the
largest of the others has the value x (`programs.selections`).  Here the text is run with the list left open (`Queries`), once for every
length up to a number and once for all that are longer.  What a loop over the list keeps is known by *rank*: the noisy value of the entry
whose value is the r-th largest so far, that entry, its index (`At`).  In a turn the new entry gets any rank; the ranks from there on go up
by one.  Values are compared by their ranks; those whose rank is beyond k + 1 must be forgotten at the end of the turn.

**Why it is enough.**  The noise is continuous, so no two values are equal, with probability one.  Whatever the length, the entries and the
noise are, the run of the text goes through turns that were looked at: the rank of the new entry is some rank, and what the turn does
depends on ranks alone, because nothing else about these values may be asked.  By induction the text knows, after the loop, the values,
entries and indices of ranks 1 to k + 1, under whatever names; and so do the instructions.  Every turn draws noise once, of the kind and
the scale of the instructions; its own centre and theirs differ by what both know, so both speak of the same values.

After the loops the numbers of the text become those of the instructions, and both are followed as in every proof (`proofs`).  An entry of
a list that a loop fills with its noisy values (`Gathered`) has the rank of its value; the list may be asked for its largest value, for the
index of a value, and for its values in order.  Where every run on lists of one length fails, these show the same, and nothing is compared;
and lists without entries have no neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privproof_checker.source.following import Answers
from privproof_checker.source.forms import Form, knowing
from privproof_checker.source.laws import Continuous
from privproof_checker.source.machine import Machine
from privproof_checker.source.operations import Fails
from privproof_checker.source.rank_cases import ENTRY, ORDERS, Atom, Block, Case, atom_of, form_of, number_of_atom
from privproof_checker.source.running import End, Event, Frame, Noise, Run, Wait, Work, held_values, holders
from privproof_checker.source.source_member import PLACE, Source
from privproof_checker.source.symbols import Parts, Term, number_of, plus
from privproof_checker.source.values import (
    ENDED,
    UNREAD,
    Beyond,
    Cells,
    Gathered,
    Length,
    OpenList,
    Sealed,
    Value,
    within,
)

_MOST_STATES = 400
"""States of a loop, by ranks, in one length; beyond, nothing is established about the source."""


@dataclass(frozen=True, eq=False)
class At(Sealed):
    """The index of the entry of a rank."""

    block: int
    rank: int


@dataclass(eq=False)
class Queries(OpenList):
    """The list: gone through by one loop after the other.

    Attributes:
        block: the number of the loop, from 1 on.
        rank: the rank of the entry that is given.
    """

    block: int = 0
    rank: int = 0

    @property
    def mark(self) -> tuple[Any, ...]:
        """What is given, and which loop it is."""
        given = "entry" if isinstance(self.given, Form) else repr(self.given)
        return ("queries", given, self.taken is UNREAD, self.walked, self.block)

    def begin(self) -> None:
        """The next loop begins, once the one before has ended."""
        if self.walked and self.given is not ENDED:
            raise Beyond("a loop over the list inside of another one", "")
        self.walked, self.given, self.block = True, UNREAD, self.block + 1

    def place(self) -> Value:
        """The index of the entry that is given."""
        return At(self.block, self.rank)

    def element(self, index: Value) -> Value:
        """The entry of a rank."""
        if not isinstance(index, At):
            raise Beyond("an entry of the list that has no rank", "")
        return form_of("entry", index.block, index.rank)


class Failing(Exception):
    """The text itself raises an exception here, whatever the entries and the noise are: what stands for ranks has no part in it."""


@dataclass(frozen=True, eq=False)
class Ordered(Sealed):
    """The values of a list in order, or their indices, the selected ones first or last."""

    block: int
    first: bool
    indices: bool


class RankMachine(Machine):
    """Runs the text on lists of one length, or of all that are longer than a number.

    Attributes:
        case: the selections of the instructions.
        length: the length; None where it is larger than `most`.
        turn: the loop and the rank of the new entry in a turn that is under way; None outside of loops.
        count: how many turns there were before; all above `most` are one.
        drawn: whether its noise is drawn.
    """

    def __init__(self, source: Source, work: Work, case: Case, length: int | None, most: int) -> None:
        super().__init__(source.functions, work, exact_quotients=not source.ordinary)
        self.case, self.length, self.most = case, length, most
        self.turn: tuple[int, int] | None = None
        self.count, self.drawn = 0, False

    def block(self, number: int) -> Block:
        """The selection of a loop; of a loop that belongs to none, nothing but that all its runs fail can be found."""
        if number <= len(self.case.blocks):
            return self.case.blocks[number - 1]
        return Block((), ("",) * (self.most + 1), None, "", Fraction(0), Form(Fraction(0)), largest=True)

    def known(self, form: Form, strict: bool) -> bool | None:  # noqa: FBT001
        """Whether a difference of two values is above zero, by their ranks."""
        if form.constant or sorted(form.terms.values()) != [-1, 1]:
            return None
        (plus,) = [atom_of(number) for number, factor in form.terms.items() if factor == 1]
        (minus,) = [atom_of(number) for number, factor in form.terms.items() if factor == -1]
        if (plus[0], minus[0], plus[1]) != ("value", "value", minus[1]):
            return None
        return (plus[2] < minus[2]) == self.block(plus[1]).largest

    def onward(self, run: Run) -> Event:
        """Run to the next element of a list, to noise outside of loops, or to the end."""
        with knowing(self.known):
            while True:
                found = self.go(run)
                if not (isinstance(found, Noise) and self.turn is not None):
                    return found
                self._draw(run, found)

    def _draw(self, run: Run, found: Noise) -> None:
        """The noise of a turn: the value of the new entry, as the instructions have it."""
        assert self.turn is not None
        number, rank = self.turn
        block, law = self.block(number), found.law
        if self.drawn or not isinstance(law, Continuous):
            raise Beyond("a turn draws other noise than continuous one, or more", PLACE)
        if block.places and (law.kind, law.scale) != (block.kind, block.scale):
            raise Beyond("a turn draws other noise than the selection", PLACE)
        self.drawn = True
        if not block.places:
            run.frames[-1].stack.append(form_of("value", number, rank))
            return
        center = Form(block.center.constant) + form_of("entry", number, rank).times(
            block.center.terms.get(ENTRY, Fraction(0))
        )
        own = Form.of(law.center)
        run.frames[-1].stack.append(form_of("value", number, rank) - center + own)

    def _noise(self, frame: Frame, name: str, names: Any) -> Event:
        if self.turn is None:
            return Noise([])  # outside of the loops: whoever follows the text from here on looks at it
        return super()._noise(frame, name, names)

    def instruction(self, run: Run) -> Event | None:
        """One instruction; those on lists of values are answered by ranks."""
        frame = run.frames[-1]
        name, argument, _ = self.functions[frame.function].code[frame.at]
        stack = frame.stack
        match name:
            case "builtin" if stack and isinstance(stack[-1], Gathered) and argument[1] == 1:
                stack[-1] = self._of_values(argument[0], stack[-1])
            case "builtin" if argument[1] == 2 and isinstance(stack[-2], Gathered) and isinstance(stack[-1], Length):
                stack[-2:] = [self._of_values(argument[0], stack[-2])]
            case "method" if argument == "index" and isinstance(stack[-2], Gathered):
                stack[-2:] = [self._index(stack[-2], stack[-1])]
            case "part" if isinstance(stack[-3], Ordered):
                stack[-3:] = [self._first(stack[-3], stack[-2], stack[-1])]
            case _:
                return super().instruction(run)
        frame.at += 1
        return None

    def _list_number(self, listed: Gathered) -> int:
        if not listed.complete:
            raise Beyond("a list of values is read before it is complete", PLACE)
        return int(listed.name)

    def _of_values(self, function: str, listed: Gathered) -> Value:
        number = self._list_number(listed)
        if function == "len":
            return Length(listed)
        if function in ("list", "tuple"):
            return listed
        if function not in _EXTREMES:
            raise Beyond(f"{function} of all values", PLACE)
        ordered, indices, down = _EXTREMES[function]
        selected = len(self.block(number).names()) == 1 == self.length or down == self.block(number).largest
        if ordered:
            return Ordered(number, selected, indices)
        if not selected:
            raise Beyond("the largest value where the smallest are selected, or the other way round", PLACE)
        if self.length == 0:
            raise Failing
        return _ranked(number, 1, indices=indices)

    def _index(self, listed: Gathered, value: Value) -> Value:
        number = self._list_number(listed)
        if isinstance(value, Form) and value.constant == 0 and list(value.terms.values()) == [1]:
            [found] = map(atom_of, value.terms)
            if found[:2] == ("value", number):
                return At(number, found[2])
        raise Beyond("the index of what is no value of the list", PLACE)

    def _element(self, sequence: Value, index: Value) -> Value:
        if not isinstance(sequence, Gathered | Ordered):
            return super()._element(sequence, index)
        listed = sequence
        if isinstance(listed, Gathered):
            number = self._list_number(listed)
            if not isinstance(index, At) or index.block != number:
                raise Beyond("a value at an index that has no rank", PLACE)
            return form_of("value", number, index.rank)
        if type(index) is not int or (index >= 0) != listed.first:
            raise Beyond("a value in order that has no rank", PLACE)
        rank = index + 1 if listed.first else -index
        if self.length is not None and rank > self.length:
            raise Failing
        return _ranked(listed.block, rank, indices=listed.indices)

    def _first(self, listed: Ordered, start: Value, stop: Value) -> Cells:
        """The selected ones of all values, or of their indices: the first ones, or the last ones where these are selected."""
        if listed.first and start in (None, 0) and type(stop) is int and stop >= 0:
            count = stop
        elif not listed.first and stop is None and type(start) is int and start < 0:
            count = -start
        else:
            raise Beyond("a part of the values in order that are not the selected ones", PLACE)
        count = count if self.length is None else min(count, self.length)
        if count > self.most:
            raise Beyond("more values than are ranked", PLACE)
        ranks = range(1, count + 1) if listed.first else range(count, 0, -1)
        return Cells([_ranked(listed.block, rank, indices=listed.indices) for rank in ranks])

    def _compared(self, sign: str, left: Value, right: Value) -> bool:
        if not (isinstance(left, Length | At) or isinstance(right, Length | At)):
            return super()._compared(sign, left, right)
        measured, number = (left, right) if isinstance(left, Length | At) else (right, left)
        if number is None and sign in ("Is", "IsNot", "Eq", "NotEq"):
            return sign in ("IsNot", "NotEq")
        if isinstance(number, bool) or not isinstance(number, int) or sign not in ORDERS:
            raise Beyond("an index, or the length of the list, and something else are compared", PLACE)
        if isinstance(measured, At):
            if self.turn != (measured.block, measured.rank):
                raise Beyond("an index of another turn is compared", PLACE)
            one = self.count
            told = one <= self.most
        elif measured.indices:
            raise Beyond("a range is compared", PLACE)
        else:
            told = self.length is not None
            one = self.most + 1 if self.length is None else self.length
        if not told and number > self.most:
            raise Beyond("an index, or the length of the list, is compared with a number that is too large", PLACE)
        return ORDERS[sign](*((one, number) if measured is left else (number, one)))


_EXTREMES: Mapping[str, tuple[bool, bool, bool]] = {
    "max": (False, False, True),
    "min": (False, False, False),
    "index of max": (False, True, True),
    "index of min": (False, True, False),
    "sorted": (True, False, False),
    "sorted down": (True, False, True),
    "sorted indices": (True, True, False),
    "sorted indices down": (True, True, True),
}
"""What is asked of all values: whether for all in order, whether for indices, and whether from the largest on."""


def _ranked(block: int, rank: int, *, indices: bool) -> Value:
    return At(block, rank) if indices else form_of("value", block, rank)


def final_runs(source: Source, name: str, case: Case, length: int | None, most: int, work: Work) -> list[Run]:
    """The text after its loops over the list, on lists of a length; none where all its runs fail."""
    machine = RankMachine(source, work, case, length, most)
    run = machine.begin({**source.parameters, name: Queries(name)})
    found: dict[Any, Run] = {}
    failed = False
    waiting = [(run, 0)]
    while waiting:
        begun, loops = waiting.pop()
        try:
            ended = _to_loop(machine, begun, loops)
        except Failing:
            failed = True
            continue
        except Fails as problem:
            raise Beyond(problem.reason, problem.place) from None
        if isinstance(ended, Run):
            waiting += [(after, loops + 1) for after in _after_loop(machine, ended)]
        else:
            key, final = ended
            found[key] = final
    if failed and found:
        raise Beyond("some runs on lists of one length fail, and others do not", PLACE)
    return list(found.values())


def _to_loop(machine: RankMachine, run: Run, loops: int) -> Run | tuple[Any, Run]:
    """A run that waits for the first element of a loop, or that goes on without another loop, with its key."""
    machine.turn = None
    event = machine.onward(run)
    if isinstance(event, Wait):
        return run
    if isinstance(event, End) or event == Noise([]):
        if loops != len(machine.case.blocks):
            raise Beyond("the text has not as many loops as the instructions have selections", PLACE)
        settled, key = machine.settled(run)
        return key, settled
    raise Beyond("something else happens than loops over the list", PLACE)


def holders_of(run: Run) -> list[Any]:
    """The lists of open length that a run holds."""
    return [held for held in holders(run) if isinstance(held, OpenList)]


def _after_loop(machine: RankMachine, start: Run) -> list[Run]:
    """The runs that a loop ends with, whatever the entries and the noise are."""
    start = _hidden(machine, start)
    settled, key = machine.settled(start)
    known: dict[Any, tuple[Run, int]] = {(key, 0): (settled, 0)}
    waiting = [(key, 0)]
    found: dict[Any, Run] = {}
    while waiting:
        if len(known) > _MOST_STATES:
            raise Beyond("a loop has too many states", PLACE)
        run, count = known[waiting.pop()]
        number = next(held.block for held in holders_of(run) if isinstance(held, Queries))
        tracked = len(machine.block(number).names())
        if count == (machine.most + 1 if machine.length is None else machine.length):
            ended = _fed(machine, run, number, None)
            found.setdefault(machine.settled(machine.copied(ended))[1], ended)
            if machine.length is not None:
                continue
        after = min(count + 1, machine.most + 1)
        for rank in range(1, min(count, tracked) + 2):
            turned = _fed(machine, run, number, rank)
            machine.turn, machine.count, machine.drawn = (number, rank), count, False
            if not isinstance(machine.onward(turned), Wait) or not machine.drawn:
                raise Beyond("a turn ends the loop, or draws no noise", PLACE)
            _clean(turned, number, rank)
            turned, key = machine.settled(turned)
            if any(atom[1] == number and atom[2] > tracked for atom in _atoms(turned)):
                raise Beyond("a loop keeps values that are not among the selected ones", PLACE)
            if (key, after) not in known:
                known[key, after] = (turned, after)
                waiting.append((key, after))
    return list(found.values())


def _hidden(machine: RankMachine, run: Run) -> Run:
    """A run before a loop, with the list that it fills hidden."""
    copy = machine.copied(run)
    [listed] = [held for held in holders_of(copy) if isinstance(held, Queries)]
    frame = copy.frames[-1]
    for held, value in frame.variables.items():
        if isinstance(value, Cells) and not value.items and not value.fixed:
            frame.variables[held] = Gathered(str(listed.block))
    return copy


def _fed(machine: RankMachine, run: Run, number: int, rank: int | None) -> Run:
    """A copy of a run with a new entry of a rank, or with the end of the list."""

    def moved(leaf: Value) -> Value:
        if isinstance(leaf, At) and leaf.block == number and rank is not None and leaf.rank >= rank:
            return replace(leaf, rank=leaf.rank + 1)
        if isinstance(leaf, Form) and rank is not None:
            terms = {}
            for atom, factor in leaf.terms.items():
                kind, block, held = atom_of(atom)
                terms[number_of_atom(kind, block, held + (block == number and held >= rank))] = factor
            return Form(leaf.constant, dict(sorted(terms.items())))
        return leaf

    copy = machine.copied(run, moved)
    for held in holders_of(copy):
        if isinstance(held, Queries):
            held.given = ENDED if rank is None else form_of("entry", number, rank)
            held.rank = 0 if rank is None else rank
        elif isinstance(held, Gathered) and rank is None:
            held.complete = True
    return copy


def _clean(run: Run, number: int, rank: int) -> None:
    """Take note of what a turn has appended: to every list that the loop fills the value of the new entry."""
    for held in holders_of(run):
        if isinstance(held, Gathered) and not held.complete:
            value = form_of("value", number, rank)
            if len(held.new) != 1 or not isinstance(held.new[0], Form) or held.new[0] != value:
                raise Beyond("a turn appends something else than its noisy value", PLACE)
            held.new = ()


def _atoms(run: Run) -> list[Atom]:
    """What a run knows of ranks."""
    found: list[Atom] = []
    for leaf in (each for value in held_values(run) for each in within(value)):
        if isinstance(leaf, Form):
            found.extend(map(atom_of, leaf.terms))
        elif isinstance(leaf, At):
            found.append(("at", leaf.block, leaf.rank))
    return found


@dataclass(frozen=True)
class Numbers:
    """What ranks are called from the end of the loops on, by selection and rank: values and indices as numbers, an entry by its index."""

    values: Mapping[tuple[int, int], Term]
    places: Mapping[tuple[int, int], Term]
    entry: Callable[[Value], Term]
    answers: Answers

    def of(self, value: Value) -> Value:
        """A value of the text with these numbers."""
        if isinstance(value, Form):
            return self._combined(value)
        if isinstance(value, At):
            return self._place(value.block, value.rank)
        if isinstance(value, Queries):
            return self.answers
        if isinstance(value, Length) and not value.indices:
            return self.answers.length
        if isinstance(value, Sealed):
            raise Beyond("what is left of a selection is not followed", PLACE)
        return value

    def _combined(self, form: Form) -> Value:
        """A form as a number; of what is computed from entries alone Python's type is not known."""
        parts: Parts = {(): form.constant} if form.constant else {}
        bare = not form.constant and list(form.terms.values()) == [1]
        noisy = False
        for number, factor in form.terms.items():
            kind, block, rank = atom_of(number)
            noisy |= kind == "value"
            if kind == "entry":
                found = self.entry(self._place(block, rank))
                if bare:
                    return found
            elif (block, rank) in self.values:
                found = self.values[block, rank]
            else:
                raise Beyond("a value that is not among the selected ones is used", PLACE)
            parts = plus(parts, found.parts, factor)
        if form.terms and not noisy:
            raise Beyond("entries are computed with", PLACE)
        return number_of(parts, whole=False)

    def _place(self, block: int, rank: int) -> Term:
        if (block, rank) not in self.places:
            raise Beyond("the index of a value that is not selected is used", PLACE)
        return self.places[block, rank]
