"""Where the comparison of a text with its instructions is cut: what stays true at the head of a loop, however often it is passed.

At a cut the truth values, texts and the shape of all that both sides hold are fixed, and the numbers are open.  Of them a `Cut` knows
which differ by a constant only, which are the same expression of the inputs throughout, and bounds.  It begins with all that holds at the
first arrival, and every other arrival takes away what does not hold there.  What is left when nothing more is taken away holds always
(Flanagan and Leino, "Houdini, an annotation assistant for ESC/Java", 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import Any, TypeAlias

from privproof_checker.source.facts import Asked, Facts, Path
from privproof_checker.source.following import Answers, Sink, Span, Summing
from privproof_checker.source.running import Frame, Run
from privproof_checker.source.symbols import (
    PLACE,
    Atom,
    Key,
    Parts,
    Term,
    constant_of,
    is_whole,
    key_of,
    number_of,
    parts_of,
    plus,
    times,
)
from privproof_checker.source.values import (
    FORGOTTEN,
    UNREAD,
    Beyond,
    Cells,
    Labelled,
    Member,
    Stream,
    Table,
    Value,
    Walk,
    held,
    key,
    with_items,
)

_MOST_FACTS = 300
"""Facts that are kept at a cut; the others are forgotten, which can only leave more undecided."""
_MOST_MOVES = 4
"""How often a bound at a cut is moved before it is given up."""
_Fact: TypeAlias = tuple[Asked, int]
"""What is known, and how often its bound was moved."""


class Remade:
    """A run with its numbers changed, and its shape: all that is no number."""

    def __init__(self, run: Run, change: Callable[[Value], Value]) -> None:
        self.change = change
        self._lists: dict[int, tuple[int, Cells]] = {}
        frames, shape = [], []
        for frame in run.frames:
            names = sorted(frame.variables)
            known = [self._value(frame.variables[name]) for name in names]
            stack = [self._value(value) for value in frame.stack]
            variables = {name: value for name, (value, _) in zip(names, known, strict=True)}
            frames.append(Frame(frame.function, frame.at, variables, [value for value, _ in stack]))
            shape.append(
                (frame.function, frame.at, tuple(names), tuple(s for _, s in known), tuple(s for _, s in stack))
            )
        self.run = Run(frames)
        self.shape = tuple(shape)

    def _number(self, value: Value) -> tuple[Value, Any]:
        return self.change(value), "whole" if is_whole(value) else "real"

    def _several(self, values: Sequence[Value]) -> tuple[list[Value], tuple[Any, ...]]:
        made = [self._value(value) for value in values]
        return [value for value, _ in made], tuple(shape for _, shape in made)

    def _value(self, value: Value) -> tuple[Value, Any]:
        if value is None or isinstance(value, bool | str) or value is FORGOTTEN:
            return value, key(value)
        match value:
            case Term() | int() | Fraction():
                return self._number(value)
            case float():
                return value, key(value)
            case Labelled() | Member():
                raise Beyond("an object is held in a loop", PLACE)
            case tuple() | Table():
                items, shape = self._several(held(value))
                return with_items(value, items), (type(value).__name__, *shape)
            case Cells():
                return self._list(value)
            case Walk():
                return self._walk(value)
            case Answers():
                return value, ("answers", value.name)
            case Sink():
                return value, ("sink", value.kind)
            case Stream() if value.given is UNREAD:
                return Stream(value.name), ("stream", value.name)
            case Span():
                (start, stop), shape = self._several((value.start, value.stop))
                return Span(start, stop, value.step), ("span", value.step, *shape)
            case Summing():
                (position, total), shape = self._several((value.position, value.total))
                return Summing(value.over, position, total), ("summing", value.over.name, *shape)
        raise Beyond(f"{type(value).__name__} is held in a loop", PLACE)

    def _list(self, cells: Cells) -> tuple[Value, Any]:
        if id(cells) in self._lists:
            number, made = self._lists[id(cells)]
            return made, ("again", number)
        made = Cells([], cells.fixed, cells.name)
        number = len(self._lists)
        self._lists[id(cells)] = number, made
        made.items, shape = self._several(cells.items)
        return made, ("list", number, cells.fixed, cells.name, *shape)

    def _walk(self, walk: Walk) -> tuple[Value, Any]:
        inner, shape = self._several(walk.inner)
        if walk.over is None or isinstance(walk.over, Answers | Span):
            position, kind = self._number(walk.position)
        else:
            position, kind = walk.position, walk.position
        over, of = (None, None) if walk.over is None else self._value(walk.over)
        return Walk(over, walk.kind, position, inner), ("walk", walk.kind, kind, of, *shape)


class Cut:
    """What holds at a cut.

    Attributes:
        path: the atoms.
        own: every number, as a polynomial in atoms of the cut and in what is the same throughout a run.
        facts: what is known of them.
    """

    def __init__(self, path: Path, numbers: Sequence[Value]) -> None:
        self.path = path
        self.whole = [is_whole(value) for value in numbers]
        self.own: list[Parts] = [parts_of(value) for value in numbers]
        self._first: dict[int, int] = {}
        self.facts: list[_Fact] = []
        groups: dict[Key, list[int]] = {}
        for i, parts in enumerate(self.own):
            if not path.atoms.stable(parts):
                groups.setdefault(key_of(parts, constant=False), []).append(i)
        back: dict[int, Parts] = {}
        for known in sorted(groups, key=lambda known: not _is_atom(known)):
            members = groups[known]
            if not _is_atom(known) and all(self._said(atom, back) for product, _ in known for atom in product):
                for i in members:
                    self.own[i] = substituted(self.own[i], back)
                continue
            before = self.own[members[0]]
            self._begin(members)
            expressed = plus(self.own[members[0]], {(): constant_of(before)}, -1)
            if _is_atom(known):
                back[known[0][0][0]] = expressed
            low, high = path.facts.ends(dict(known))
            if low is not None:
                self.facts.append((Asked("at least", plus(expressed, {(): -low})), 0))
            if high is not None:
                self.facts.append((Asked("at least", plus({(): high}, expressed, -1)), 0))
        for asked in path.facts.questions():
            if all(self._said(atom, back) for product in asked.parts for atom in product):
                self.facts.append((Asked(asked.what, substituted(asked.parts, back)), 0))
        self._keep(numbers)

    def _said(self, atom: int, back: Mapping[int, Parts]) -> bool:
        """Whether an atom can be spoken of at the cut."""
        return atom in back or self.path.atoms.listed[atom].stable

    def _begin(self, members: Sequence[int]) -> Parts:
        """Let numbers that differ by constants be an atom of their own, plus constants; the atom."""
        first = next((i for i in members if self.whole[i]), members[0])
        atom = self.path.atoms.new(Atom(whole=self.whole[first]))
        origin = constant_of(self.own[first])
        for i in members:
            self.own[i] = plus({(atom,): Fraction(1)}, {(): constant_of(self.own[i]) - origin})
        self._first[atom] = first
        return {(atom,): Fraction(1)}

    def numbers(self) -> list[Value]:
        """The numbers, as far as they are known."""
        return [number_of(parts, whole=whole) for parts, whole in zip(self.own, self.whole, strict=True)]

    def known(self) -> Facts:
        """The facts."""
        found = Facts(self.path.atoms)
        for asked, _ in self.facts:
            if found.answer(asked) is None:
                found = found.after(asked, outcome=True) or found
        return found

    def weaken(self, numbers: Sequence[Value]) -> bool:
        """Take away what does not hold of these numbers; whether something was taken away."""
        here = self._here(numbers)
        groups: dict[Any, list[int]] = {}
        for i, value in enumerate(numbers):
            own, parts = self.own[i], parts_of(value)
            if plus(substituted(own, here), parts, -1):
                alike = key_of(own, constant=False), key_of(parts, constant=False)
                groups.setdefault((*alike, constant_of(own) - constant_of(parts)), []).append(i)
        back: dict[int, Parts] = {}
        then: dict[int, Parts] = {}
        for known, now, apart in sorted(groups, key=lambda group: not _is_atom(group[1])):
            members = groups[known, now, apart]
            if not _is_atom(now) and self._rewrite(members, [parts_of(numbers[i]) for i in members], back, then):
                continue
            origin = next((i for i in members if self.whole[i]), members[0])
            before = self.own[origin]
            atom = self._begin(members)
            then[next(iter(atom))[0]] = before
            if _is_atom(now):
                back.setdefault(now[0][0][0], plus(atom, {(): constant_of(parts_of(numbers[origin]))}, -1))
            self._separate(atom, before)
        return self._keep(numbers) or bool(groups)

    def _rewrite(
        self, members: Sequence[int], now: Sequence[Parts], back: Mapping[int, Parts], then: Mapping[int, Parts]
    ) -> bool:
        """Express numbers by atoms that begin now, if that holds now and held before; whether it does."""
        if not all(self._said(atom, back) for parts in now for product in parts for atom in product):
            return False
        made = [substituted(parts, back) for parts in now]
        if any(plus(substituted(m, then), self.own[i], -1) for m, i in zip(made, members, strict=True)):
            return False
        for i, parts in zip(members, made, strict=True):
            self.own[i] = parts
        return True

    def _separate(self, atom: Parts, before: Parts) -> None:
        """Say of a new atom what was known of the expression that it was before."""
        apart = plus(atom, before, -1)
        more = [(Asked("at least", apart), 0), (Asked("at least", plus({}, apart, -1)), 0)]
        known = key_of(before, constant=False)
        if _is_atom(known):
            ((old,), _) = known[0]
            instead = {old: plus(atom, {(): constant_of(before)}, -1)}
            for asked, moved in self.facts:
                if any(old in product for product in asked.parts):
                    more.append((Asked(asked.what, substituted(asked.parts, instead)), moved))
        self.facts += more

    def _here(self, numbers: Sequence[Value]) -> dict[int, Parts]:
        """What the atoms of the cut are at an arrival."""
        return {atom: plus(parts_of(numbers[i]), {(): constant_of(self.own[i])}, -1) for atom, i in self._first.items()}

    def _keep(self, numbers: Sequence[Value]) -> bool:
        """Keep the facts that hold of these numbers now; whether one was dropped or moved."""
        here = self._here(numbers)
        del self.facts[_MOST_FACTS:]
        kept = [fact for fact in (self._holding(fact, here) for fact in self.facts) if fact is not None]
        changed, self.facts = kept != self.facts, kept
        return changed

    def _holding(self, fact: _Fact, here: Mapping[int, Parts]) -> _Fact | None:
        """A fact, if it holds here; a bound that is exceeded is moved, a few times."""
        asked, moved = fact
        parts = substituted(asked.parts, here)
        if self.path.facts.answer(Asked(asked.what, parts)) is True:
            return fact
        low, _ = self.path.facts.ends(parts)
        if asked.what == "nonzero" or low is None or low > 0 or moved >= _MOST_MOVES:
            return None
        return Asked("at least", plus(asked.parts, {(): -low})), moved + 1


def _is_atom(known: Key) -> bool:
    """Whether a polynomial without its constant is an atom."""
    return len(known) == 1 and len(known[0][0]) == 1 and known[0][1] == 1


def substituted(parts: Parts, atoms: Mapping[int, Parts]) -> Parts:
    """A polynomial with others in the place of atoms."""
    found: Parts = {}
    for product, coefficient in parts.items():
        made: Parts = {(): coefficient}
        for atom in product:
            made = times(made, atoms.get(atom, {(atom,): Fraction(1)}))
        found = plus(found, made)
    return found


def numbers_of(run: Run) -> tuple[list[Value], Any]:
    """The numbers that a run holds, in order, and its shape."""
    found: list[Value] = []

    def note(value: Value) -> Value:
        found.append(value)
        return value

    return found, Remade(run, note).shape


def with_numbers(run: Run, numbers: Sequence[Value]) -> Run:
    """A copy of a run with other numbers in their places."""
    at = count()
    return Remade(run, lambda _: numbers[next(at)]).run
