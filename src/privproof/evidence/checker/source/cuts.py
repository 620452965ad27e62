"""Where the comparison of a text with its instructions is cut: what stays true at the head of a loop, however often it is passed.

At a cut the truth values, texts and the shape of all that both sides hold are fixed, and the numbers are open.  Of them a `Cut` knows
which differ by a constant only, which are the same expression of the inputs throughout, and bounds.  It begins with all that holds at the
first arrival, and every other arrival takes away what does not hold there.  What is left when nothing more is taken away holds always
(Flanagan and Leino, "Houdini, an annotation assistant for ESC/Java", 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any, TypeAlias

from privproof.evidence.checker.source.following import Answers, Sink, Span, Summing
from privproof.evidence.checker.source.machine import Frame, Run
from privproof.evidence.checker.source.symbols import (
    PLACE,
    Asked,
    Atom,
    Facts,
    Key,
    Parts,
    Path,
    Term,
    constant_of,
    is_whole,
    key_of,
    number_of,
    parts_of,
    plus,
    times,
)
from privproof.evidence.checker.source.values import FORGOTTEN, UNREAD, Beyond, Cells, Stream, Table, Value, Walk, key

_MOST_FACTS = 300
_MOST_MOVES = 4
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
            held = [self._value(frame.variables[name]) for name in names]
            stack = [self._value(value) for value in frame.stack]
            variables = {name: value for name, (value, _) in zip(names, held, strict=True)}
            frames.append(Frame(frame.function, frame.at, variables, [value for value, _ in stack]))
            shape.append(
                (frame.function, frame.at, tuple(names), tuple(s for _, s in held), tuple(s for _, s in stack))
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
            case tuple():
                items, shape = self._several(value)
                return tuple(items), ("tuple", *shape)
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
            case Table():
                rows, shape = self._several(value.rows)
                return Table(tuple(rows)), ("table", *shape)
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


@dataclass(frozen=True)
class _Class:
    """Numbers that differ by constants: what they are based on, and whether that is the same expression of the inputs throughout."""

    base: Parts
    pinned: bool


class Cut:
    """What holds at a cut.

    Attributes:
        path: the atoms.
        classes: the classes of numbers.
        places: for every number its class, and by how much it differs from the base.
        facts: what is known.
    """

    def __init__(self, path: Path, numbers: Sequence[Value]) -> None:
        self.path = path
        self.whole = [is_whole(value) for value in numbers]
        self.facts: list[_Fact] = []
        groups: dict[Any, list[int]] = {}
        for i, value in enumerate(numbers):
            groups.setdefault(key_of(parts_of(value), constant=False), []).append(i)
        offsets = [constant_of(parts_of(value)) for value in numbers]
        self._group(list(groups.values()), offsets, [self._pinned(known) for known in groups])
        back: dict[int, Parts] = {}
        candidates: list[Asked] = []
        for known, group in zip(groups, self.classes, strict=True):
            if group.pinned:
                continue
            if len(known) == 1 and len(known[0][0]) == 1 and known[0][1] == 1:
                (atom,) = known[0][0]
                member = groups[known][0]
                back[atom] = plus(self._parts(member), {(): offsets[member]}, -1)
            candidates += self._between(group, groups[known][0], known, offsets)
        for asked in path.facts.questions():
            if all(atom in back or path.atoms.listed[atom].stable for product in asked.parts for atom in product):
                candidates.append(Asked(asked.what, substituted(asked.parts, back)))
        self.facts = [(asked, 0) for asked in candidates[:_MOST_FACTS]]
        self._keep(numbers)

    def _pinned(self, known: Key) -> Parts | None:
        return dict(known) if self.path.atoms.stable(dict(known)) else None

    def _between(self, group: _Class, member: int, known: Key, offsets: Sequence[Fraction]) -> list[Asked]:
        """The bounds of the numbers of a class, as far as they are known now."""
        low, high = self.path.facts.ends(dict(known))
        own = plus(self._parts(member), {(): offsets[member]}, -1)
        found = [] if low is None else [Asked("at least", plus(own, {(): -low}))]
        return found if high is None else [*found, Asked("at least", plus({(): high}, own, -1))]

    def _group(self, groups: list[list[int]], offsets: list[Fraction], pinned: list[Parts | None]) -> None:
        """Divide the numbers into classes."""
        self.classes: list[_Class] = []
        places: dict[int, tuple[int, Fraction]] = {}
        for number, (members, base) in enumerate(zip(groups, pinned, strict=True)):
            first = next((i for i in members if self.whole[i]), members[0])
            origin = Fraction(0) if base is not None else offsets[first]
            if base is None:
                atom = self.path.atoms.new(Atom(whole=self.whole[first]))
                self.classes.append(_Class({(atom,): Fraction(1)}, pinned=False))
            else:
                self.classes.append(_Class(base, pinned=True))
            places |= {i: (number, offsets[i] - origin) for i in members}
        self.places = [places[i] for i in range(len(places))]

    def _parts(self, i: int) -> Parts:
        number, offset = self.places[i]
        return plus(self.classes[number].base, {(): offset})

    def numbers(self) -> list[Value]:
        """The numbers, as far as they are known."""
        return [number_of(self._parts(i), whole=whole) for i, whole in enumerate(self.whole)]

    def known(self) -> Facts:
        """The facts."""
        found = Facts(self.path.atoms)
        for asked, _ in self.facts:
            if found.answer(asked) is None:
                found = found.after(asked, outcome=True) or found
        return found

    def weaken(self, numbers: Sequence[Value]) -> bool:
        """Take away what does not hold of these numbers; whether something was taken away."""
        groups: dict[Any, list[int]] = {}
        for i, value in enumerate(numbers):
            parts = parts_of(value)
            number, offset = self.places[i]
            known, apart = key_of(parts, constant=False), offset - constant_of(parts)
            stays = self.classes[number].pinned and known == key_of(self.classes[number].base) and not apart
            groups.setdefault((number, None if stays else (known, apart)), []).append(i)
        lost = any(known is not None and self.classes[number].pinned for number, known in groups)
        if lost or len(groups) > len(self.classes):
            self._split(groups)
            self._keep(numbers)
            return True
        return self._keep(numbers)

    def _split(self, groups: Mapping[Any, list[int]]) -> None:
        """Divide the classes further; what was known of a class is said of each of its parts."""
        before, offsets = self.classes, [offset for _, offset in self.places]
        known_before = self.facts
        kept = [before[number].base if known is None else None for number, known in groups]
        self._group(list(groups.values()), offsets, kept)
        parts_of_class: dict[int, list[Parts]] = {}
        self.facts = []
        for (number, known), members in groups.items():
            old = plus(self._parts(members[0]), {(): offsets[members[0]]}, -1)
            parts_of_class.setdefault(number, []).append(old)
            if before[number].pinned and known is not None:
                apart = plus(old, before[number].base, -1)
                self.facts += [(Asked("at least", apart), 0), (Asked("at least", plus({}, apart, -1)), 0)]
        atoms = {next(iter(before[n].base))[0]: found for n, found in parts_of_class.items() if not before[n].pinned}
        for asked, moved in known_before:
            mentioned = {atom for product in asked.parts for atom in product if atom in atoms}
            for turn in range(max((len(atoms[atom]) for atom in mentioned), default=1)):
                chosen = {atom: atoms[atom][turn % len(atoms[atom])] for atom in mentioned}
                self.facts.append((Asked(asked.what, substituted(asked.parts, chosen)), moved))
        del self.facts[_MOST_FACTS:]

    def _keep(self, numbers: Sequence[Value]) -> bool:
        """Keep the facts that hold of these numbers now; whether one was dropped."""
        here: dict[int, Parts] = {}
        for i, (number, offset) in enumerate(self.places):
            if not self.classes[number].pinned:
                (atom,) = next(iter(self.classes[number].base))
                here.setdefault(atom, plus(parts_of(numbers[i]), {(): offset}, -1))
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
        if asked.what == "nonzero" or low is None or moved >= _MOST_MOVES:
            return None
        return Asked("at least", plus(asked.parts, {(): -low})), moved + 1


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
