"""What is given to a mechanism, for all data at once: numbers that are left open, and lists and streams of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from privproof_checker.programs.program_expressions import Tags
from privproof_checker.programs.program_inputs import SIZE, Declared
from privproof_checker.source.facts import Path
from privproof_checker.source.following import Answers
from privproof_checker.source.instructed import Held, Tag
from privproof_checker.source.source_member import Input, Source
from privproof_checker.source.symbols import PLACE, Atom, Term, bound
from privproof_checker.source.values import Beyond, Stream, Value


class Given:
    """The inputs of a mechanism.

    Attributes:
        numbers: those that are numbers.
        lists: those that are lists.
        element: what is known of an element of the stream.
    """

    def __init__(self, source: Source, declared: Declared, path: Path) -> None:
        self.path = path
        self.numbers: dict[str, Term] = {}
        self.lists: dict[str, Answers] = {}
        self._streams: dict[str, Atom] = {}
        self._discrete: list[list[tuple[str, Value]]] = []
        for each in source.inputs.values():
            if each.shape == "list":
                self.lists[each.name] = Answers(each.name, self._length(each, declared.size), _entry(each))
            elif each.shape == "stream":
                self._streams[each.name] = _entry(each)
            elif declared.inputs[each.name].sort in ("bool", "tag"):
                known = bool if declared.inputs[each.name].sort == "bool" else str | None
                if each.values is None or not all(isinstance(value, known) for value in each.values):
                    raise Beyond(f"{each.name!r} holds something else than its sort says", PLACE)
                self._discrete.append([(each.name, value) for value in each.values])
            else:
                self.numbers[each.name] = path.term(path.atoms.named(("input", each.name), _entry(each, stable=True)))

    @property
    def scales(self) -> dict[str, Term]:
        """The numbers that scales may be multiples of: those that are given, and the common length of the lists."""
        lengths = [each.length for each in self.lists.values() if isinstance(each.length, Term)]
        return {**self.numbers, **({SIZE: lengths[0]} if lengths else {})}

    @property
    def element(self) -> Atom:
        """What is known of an element of the stream."""
        (found,) = self._streams.values()
        return found

    def _length(self, each: Input, size: int | None) -> Value:
        """The length of a list: its own, or the one that all lists share."""
        if each.own_size is not None:
            return each.own_size
        low, high = (0, None) if size is None else (Fraction(size), Fraction(size))
        return self.path.term(
            self.path.atoms.named("size", Atom(whole=True, stable=True, low=Fraction(low), high=high))
        )

    def beginnings(self, tags: Tags) -> Iterator[tuple[dict[str, Held], dict[str, Value]]]:
        """What the instructions and the text begin with, for all truth values and texts that may be given."""
        arguments: dict[str, Value] = {**self.numbers, **self.lists}
        for chosen in product(*self._discrete):
            held: dict[str, Held] = dict(self.numbers)
            for name, value in chosen:
                held[name] = value if isinstance(value, bool) else Tag(tags.number(value))
            yield held, {**arguments, **{name: Stream(name) for name in self._streams}, **dict(chosen)}


def _entry(each: Input, *, stable: bool = False) -> Atom:
    """What is known of a number that is given."""
    if each.values is not None and any(type(value) is not int for value in each.values):
        raise Beyond(f"{each.name!r} holds something else than numbers", f"{PLACE}.program.inputs.{each.name}")
    return Atom(whole=not each.real, stable=stable, low=bound(each.low), high=bound(each.high))
