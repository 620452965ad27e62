"""What is known of expressions: constants, the length of the lists, places and values by rank, lists of such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privproof.compiling.selections.ranks import (
    NONE,
    NOWHERE,
    SORTED,
    STEMS,
    Failing,
    NoSelection,
    as_each,
    at_place,
    at_rank,
    compare,
    each,
    in_order,
    key_sign,
    part_of,
    place,
    rank_of,
    ranks,
    simple,
)
from privproof.compiling.sorts import COMPARISONS
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Conditional, Constant, Element, Expression, Operation, Place, Variable
from privproof.language.walking import parts, with_parts

_WRITTEN = ("list of", "tuple of", "fixed list of")
_WALKED = ("enumerate", "zip", "reversed", "range")
_EAGER = ("max", "min", "sorted", "sorted down", "sorted by")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass
class Length:
    """What is known of the length of the lists.

    Attributes:
        count: the length.
        many: whether it is only the least one.
        needed: all lengths from here on are alike in what was asked so far.
        unknown: whether nothing is known of it.
    """

    count: int
    many: bool = False
    needed: int = 0
    unknown: bool = False

    def need(self, count: int) -> None:
        """Note that shorter lists are not like those of this length and more."""
        self.needed = max(self.needed, count)

    def is_length(self, expression: Expression, mechanism: Mechanism) -> bool:
        """Whether an expression is this length."""
        match expression:
            case Operation("turns" | "len", (Variable(name),)) if not self.unknown:
                declared = mechanism.inputs.get(name)
                return declared is not None and declared.shape == "list" and declared.size == self._fixed(mechanism)
            case _:
                return False

    def _fixed(self, mechanism: Mechanism) -> int | None:
        return next(declared.size for declared in mechanism.inputs.values() if declared.shape == "list")

    def listed(self, mechanism: Mechanism, here: Place) -> Variable:
        """A list of this length."""
        return Variable(next(name for name, found in mechanism.inputs.items() if found.shape == "list"), here)

    def compared(self, name: str, number: int) -> bool:
        """How the length compares with a number."""
        if self.unknown:
            raise NoSelection
        if self.many:
            self.need(number + 1)
        return compare(name, max(self.count, number + 1) if self.many else self.count, number)


class RankLists:
    """What is known of expressions.

    Attributes:
        mechanism: the mechanism.
        length: what is known of the length of its lists.
        largest: the selections so far, by number: whether the first rank has the largest value.
    """

    def __init__(self, mechanism: Mechanism, length: Length) -> None:
        self.mechanism, self.length = mechanism, length
        self.largest: dict[int, bool] = {}
        self.lengths: dict[int, Length] = {}

    def length_of(self, selection: int) -> Length:
        """How many values a selection has; of no selection, the length of the lists."""
        return self.lengths.get(selection, self.length)

    def value(self, expression: Expression, held: Mapping[str, Expression]) -> Expression:
        """What an expression is, as far as it is known."""
        match expression:
            case Constant():
                return expression
            case Variable(name):
                return held.get(name, expression)
            case Operation("and" | "or" as name, arguments):
                return self.joined(name, [self.value(argument, held) for argument in arguments], expression)
            case Conditional(test, then, otherwise):
                decided = self.value(test, held)
                if isinstance(decided, Constant):
                    return self.value(then if decided.value else otherwise, held)
        expression = _counted_from_the_end(expression)
        inside = tuple(self.value(part, held) for part in parts(expression))
        match expression:
            case Operation(name):
                return self.operation(name, inside, expression)
            case Element():
                return self.element(inside[0], inside[1], expression)
        return with_parts(expression, inside)

    def joined(self, name: str, inside: list[Expression], expression: Operation) -> Expression:
        """``and`` and ``or``, without what is decided; after what may be no truth value, the last one is what comes out."""
        left: list[Expression] = []
        for number, part in enumerate(inside, 1):
            if not isinstance(part, Constant):
                left.append(part)
            elif not isinstance(part.value, bool):
                raise NoSelection
            elif part.value == (name == "or"):
                left.append(part)
                break
            elif number == len(inside) and left and not _is_truth(left[-1]):
                left.append(part)
        if not left:
            return Constant(name == "and", NOWHERE)
        return left[0] if len(left) == 1 else Operation(name, tuple(left), expression.place)

    def operation(self, name: str, inside: tuple[Expression, ...], expression: Operation) -> Expression:
        """An operation on what is known."""
        made = self.listed(name, inside)
        if made is not None:
            return made
        match name, inside:
            case "not", (Constant(bool() as known),):
                return Constant(not known, NOWHERE)
            case (("not" | "bool"), (Variable(inner),)) if inner in self.mechanism.inputs:
                full = self.size(Variable(inner, NOWHERE))
                if full is not None:
                    return Constant(self.length.compared(">", 0) == (name == "bool"), NOWHERE)
            case (("len" | "turns"), (inner,)):
                size = self.size(inner)
                if size is not None:
                    return size
            case (("whole" | "pos" | "int"), (inner,)) if rank_of(inner, "#place") or _is_whole(inner):
                return inner
            case "whole", (inner,) if self.length.is_length(inner, self.mechanism):
                return inner
            case (("is" | "is not" | "==" | "!="), (one, other)) if NONE in (_plain(one), _plain(other)):
                tested = other if _plain(one) == NONE else one
                if isinstance(tested, Constant) or any(rank_of(tested, stem) for stem in STEMS):
                    return Constant((_plain(tested) == NONE) == (name in ("is", "==")), NOWHERE)
            case _, (one, other) if name in COMPARISONS:
                decided = self.compared(name, one, other)
                if decided is not None:
                    return Constant(decided, NOWHERE)
        if any(_is_list(part) for part in inside) and name not in _WRITTEN:
            raise NoSelection
        return simple(Operation(name, inside, expression.place))

    def size(self, sequence: Expression) -> Expression | None:
        """The length of a list."""
        match sequence:
            case Operation(name, arguments) if name in _WRITTEN:
                return Constant(len(arguments), NOWHERE)
            case Constant(tuple() as values):
                return Constant(len(values), NOWHERE)
            case Operation("each" | "in order", (_, Constant(int() as selection), *_)) if selection in self.lengths:
                return Constant(self.lengths[selection].count, NOWHERE)
            case Operation("each" | "in order") if not self.length.unknown:
                return Operation("turns", (self.length.listed(self.mechanism, NOWHERE),), NOWHERE)
            case Variable():
                whole = Operation("turns", (sequence,), NOWHERE)
                return whole if self.length.is_length(whole, self.mechanism) else None
            case _:
                return None

    def compared(self, name: str, one: Expression, other: Expression) -> bool | None:
        """How a comparison goes, if that is known."""
        match one, other:
            case Constant(int() as left), Constant(int() as right):
                return compare(name, left, right)
            case _, Constant(int() as right) if self.length.is_length(one, self.mechanism):
                return self.length.compared(name, right)
            case Constant(int() as left), _ if self.length.is_length(other, self.mechanism):
                return self.length.compared(_TURNED.get(name, name), left)
        for stem in STEMS:
            first, second = rank_of(one, stem), rank_of(other, stem)
            if first is not None and second is not None and first[1] == second[1] and first[0] and second[0]:
                if first == second:
                    return name in ("==", "<=", ">=")
                if name in ("==", "!="):
                    return name == "!="  # equal values have probability 0
                if stem == "#value":
                    return ((first[0] < second[0]) == self.largest[first[1]]) == (name in (">", ">="))
        return None

    def listed(self, name: str, inside: tuple[Expression, ...]) -> Expression | None:
        """An operation that makes a list, or of a list; None for any other."""
        if name in _EAGER and isinstance(inside[0], Operation) and inside[0].name in _WALKED:
            inside = (self.listed("list", inside[:1]) or inside[0], *inside[1:])
        match name, inside:
            case (("list" | "tuple"), (Operation("range", (*start, stop)),)) if (
                self.length.is_length(stop, self.mechanism) and len(start) < 2
            ):
                if start and _plain(start[0]) != Constant(0, NOWHERE):
                    raise NoSelection
                return each(place(0), 0)
            case (("list" | "tuple"), (Operation("range", (Constant(int() as stop),)),)):
                return Operation("list of", tuple(Constant(i, NOWHERE) for i in range(stop)), NOWHERE)
            case (("list" | "tuple"), (Operation("enumerate", (inner, Constant(0))),)):
                return self.zipped((each(place(0), 0), inner))
            case (("list" | "tuple"), (Operation("zip", lists),)):
                return self.zipped(lists)
            case (("list" | "tuple"), (Operation("reversed", (inner,)),)):
                return self.listed("slice", (inner, NONE, NONE, Constant(-1, NOWHERE)))
            case (("list" | "tuple"), (inner,)) if _is_list(inner):
                return _as(name, inner)
            case (("enumerate" | "zip" | "reversed" | "range"), _):
                return Operation(name, inside, NOWHERE)
            case (("max" | "min"), (inner,)) if (found := as_each(inner)) is not None:
                return self.extreme(name, *found)
            case "index", (inner, what) if (found := as_each(inner)) is not None:
                return self.index(*found, what)
            case (("sorted" | "sorted down"), (inner,)) if (found := as_each(inner)) is not None:
                return self.sorted(found[0], found, down=name == "sorted down")
            case (("argmax" | "argmin"), (inner,)) if (found := as_each(inner)) is not None:
                extreme = self.extreme(f"m{name[-2:]}", *found)
                return self.index(*found, extreme)
            case "argsort", (inner,) if (found := as_each(inner)) is not None:
                return self.sorted(place(0, found[1] or 1), found, down=False)
            case "sorted by", (inner, keys, Constant(bool() as down)):
                return self.sorted_by(inner, keys, down=down)
            case "slice", (inner, *bounds) if _is_list(inner):
                return self.sliced(inner, bounds)
            case "+", (Operation("list of", first), Operation("list of", second)):
                return Operation("list of", (*first, *second), NOWHERE)
            case (("sorted" | "set"), (Operation("list of" | "tuple of", arguments),)) if all(
                rank_of(each, "#place") for each in arguments
            ):
                return Operation(name, inside, NOWHERE)
            case _:
                return None

    def zipped(self, lists: tuple[Expression, ...]) -> Expression:
        """Several lists with an element for every place, side by side."""
        found = [as_each(self.listed("list", (each,)) or each) for each in lists]
        known = [pair for pair in found if pair is not None]
        numbers = {number for _, number in known} - {0}
        if len(known) < len(lists) or len(numbers) > 1:
            raise NoSelection
        selection = numbers.pop() if numbers else 0
        elements = tuple(self.spoken(element, selection) for element, _ in known)
        return each(Operation("tuple of", elements, NOWHERE), selection)

    def spoken(self, element: Expression, selection: int) -> Expression:
        """The element of a list that speaks only of places, beside one that speaks of the values of a selection."""
        return (
            at_place(element, place(0, selection or 1)) if not any(True for _ in ranks(element, "#value")) else element
        )

    def extreme(self, name: str, element: Expression, selection: int) -> Expression:
        """The largest or smallest element of a list."""
        sign = self.sign(element, selection)
        if (name == "max") != (sign == self.largest[selection]):
            raise NoSelection
        return self.ranked(element, 1, selection)

    def sign(self, element: Expression, selection: int) -> bool:
        """Whether the elements of a list come in the order of their values, or in the reverse one."""
        sign = key_sign(element, selection) if selection else None
        if sign is None:
            raise NoSelection
        return sign > 0

    def ranked(self, element: Expression, rank: int, selection: int) -> Expression:
        """The element of a list at the place of a rank."""
        length = self.length_of(selection)
        if length.many:
            length.need(rank)
        elif rank > length.count:
            raise Failing
        return at_rank(element, rank, selection)

    def index(self, element: Expression, selection: int, what: Expression) -> Expression:
        """The place of an element."""
        self.sign(element, selection)
        for rank, number in {found for stem in STEMS for found in ranks(what, stem)}:
            if number == selection and _same(at_rank(element, rank, selection), what):
                return place(rank, selection)
        raise NoSelection

    def sorted(self, element: Expression, by: tuple[Expression, int], *, down: bool) -> Expression:
        """A list in the order of another one."""
        key, selection = by
        sign = self.sign(key, selection)
        first = (sign == self.largest[selection]) == down
        if self.length_of(selection).many:
            return in_order(element, selection, first=first)
        every = range(1, self.length_of(selection).count + 1)
        made = [at_rank(element, rank, selection) for rank in (every if first else reversed(every))]
        return Operation("list of", tuple(made), NOWHERE)

    def sorted_by(self, inner: Expression, keys: Expression, *, down: bool) -> Expression | None:
        found, by = as_each(inner), as_each(keys)
        if found is None or by is None or not by[1] or found[1] not in (0, by[1]):
            return None
        element = found[0] if found[1] else self.spoken(found[0], by[1])
        return self.sorted(element, by, down=down)

    def sliced(self, inner: Expression, bounds: list[Expression]) -> Expression:
        """A part of a list."""
        numbers: list[int | None] = []
        for bound in bounds:
            if not isinstance(bound, Constant) or not (bound.value is None or type(bound.value) is int):
                raise NoSelection
            numbers.append(bound.value)
        start, stop, step = (*numbers, None, None)[:3]
        match inner:
            case Operation(name, arguments) if name in _WRITTEN:
                return Operation(name, arguments[slice(start, stop, step)], NOWHERE)
            case Operation("in order", (element, Constant(int() as selection), Constant(bool() as first))):
                if (start, stop, step) == (None, None, -1):
                    return in_order(element, selection, first=not first)
                if step not in (None, 1):
                    raise NoSelection
                if first and stop is not None and 0 <= (start or 0) <= stop:
                    wanted = range((start or 0) + 1, stop + 1)
                elif not first and start is not None and start < (stop or 0) <= 0:
                    wanted = range(-start, -(stop or 0), -1)
                else:
                    raise NoSelection
                self.length.need(max(wanted, default=0))
                return Operation("list of", tuple(at_rank(element, r, selection) for r in wanted), NOWHERE)
            case _:
                raise NoSelection

    def chosen(self, sequence: Expression, index: Expression, length: Length) -> Expression:
        """The element of a list that is written out at the place of a rank, all of whose places it has."""
        size = self.size(sequence)
        if length.many or length.unknown or not isinstance(size, Constant) or size.value != length.count:
            raise NoSelection
        parts = [part_of(sequence, Constant(k, NOWHERE)) for k in range(length.count)]
        result = parts[-1]
        for k, part in reversed(list(enumerate(parts[:-1]))):
            assert part is not None
            assert result is not None
            result = Conditional(Operation("==", (index, Constant(k, NOWHERE)), NOWHERE), part, result, NOWHERE)
        assert result is not None
        return result

    def element(self, sequence: Expression, index: Expression, expression: Element) -> Expression:
        """An element of a list."""
        part = part_of(sequence, index)
        if part is not None:
            return part
        if isinstance(index, Operation) and index.name in ("whole", "pos"):
            index = index.arguments[0]
        found, rank = as_each(sequence), rank_of(index, "#place")
        match sequence, index:
            case ((Operation("tuple of" | "list of" | "fixed list of") | Constant(tuple())), _) if rank is not None:
                return self.chosen(sequence, index, self.length_of(rank[1]))
            case _, _ if found is not None and rank is not None:
                if found[1] in (0, rank[1]):
                    return at_rank(self.spoken(found[0], rank[1]), rank[0], rank[1])
            case _, Constant(int() as number) if found is not None:
                if not self.length_of(found[1]).compared(">", number if number >= 0 else -1 - number):
                    raise Failing
                if not any(True for _ in ranks(found[0], "#value")) and number >= 0:
                    return at_place(found[0], index)
                if number == 0:
                    return Element(sequence, Constant(number, NOWHERE), NOWHERE)
            case Operation("in order", (element, Constant(int() as selection), Constant(bool() as first))), Constant(
                int() as number
            ) if first == (number >= 0):
                return self.ranked(element, number + 1 if first else -number, selection)
            case Variable(name), _ if name in self.mechanism.inputs:
                return Element(sequence, index, expression.place)
        raise NoSelection


def _counted_from_the_end(expression: Expression) -> Expression:
    """An element at a negative index, which was written as the length less a number."""
    match expression:
        case Element(
            Variable(name) as listed, Operation("-", (Operation("turns", (Variable(same),)), Constant(int() as k)))
        ) if name == same:
            return Element(listed, Constant(-k, expression.place), expression.place)
        case _:
            return expression


def _is_truth(expression: Expression) -> bool:
    """Whether an expression is surely a truth value."""
    match expression:
        case Operation("and" | "or", sides):
            return all(map(_is_truth, sides))
        case Operation(name):
            return name in (*COMPARISONS, "not", "is", "is not", "in", "not in", "bool")
        case Constant(value):
            return isinstance(value, bool)
        case _:
            return False


def _is_whole(expression: Expression) -> bool:
    """Whether an expression is a whole number that is known: int(1/2) and int("3") are others than what they are made of."""
    return isinstance(expression, Constant) and type(expression.value) is int


def _is_list(expression: Expression) -> bool:
    return isinstance(expression, Operation) and expression.name in ("each", SORTED, *_WRITTEN)


def _as(name: str, inner: Expression) -> Expression:
    """A list as a list or a tuple."""
    if isinstance(inner, Operation) and inner.name in _WRITTEN:
        return Operation(f"{name} of", inner.arguments, NOWHERE)
    return inner


def _plain(expression: Expression) -> Expression:
    return Constant(expression.value, NOWHERE) if isinstance(expression, Constant) else expression


def _same(one: Expression, other: Expression) -> bool:
    return repr(one) == repr(other) or (
        type(one) is type(other)
        and (one.name == other.name if isinstance(one, Variable) and isinstance(other, Variable) else False)
    )
