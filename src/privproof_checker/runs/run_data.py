"""Data sets and neighbours: all values of the declared inputs at the sizes of the question, and which of them a relation compares.

Numbers without end have no list of all values.  Then a question is *sampled*: it holds some data sets, each within the declarations, and
what is true of two neighbours among them refutes a claim.  Nothing is proved by such a question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NoReturn, TypeAlias

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, a_number, a_text, an_integer, an_object, only_members

_MOST_DATA = 100_000
"""Data sets that a question may have; beyond, it is refused."""
_NORMS = ("l1", "l2")
_RELATIONS = ("each", "one", "monotone", "add-remove", *_NORMS, "function")

Value: TypeAlias = str
"""A value as its text in the document, which tells 1, True and "1" apart."""
Entry: TypeAlias = tuple[int, Value]
"""The number of the input that an entry of a data set belongs to, and its value."""


@dataclass(frozen=True)
class _Input:
    name: str
    shape: str
    values: tuple[Value, ...] | None
    within: Rational | None
    public: bool
    size: int | None
    real: bool = False
    low: Rational | None = None
    high: Rational | None = None


@dataclass(frozen=True)
class Neighbours:
    """How many data sets there are, and which are neighbours, both ways."""

    count: int
    pairs: frozenset[tuple[int, int]]


def read_data(asked: dict[str, object], limits: Limits, *, sampled: bool) -> Neighbours:
    """The neighbours of a question; refuses one that does not hold all data sets of its declarations.

    Args:
        asked: the question.
        limits: how much is read.
        sampled: whether a question that holds some of its data sets will do, because a claim is refuted by two of them.
    """
    few = a_flag(asked.get("sampled", False), "question.sampled")
    if few and not sampled:
        refuse(
            "the question holds some of its data sets, by which a claim is refuted and nothing is proved", "question"
        )
    declared = _inputs(asked.get("inputs"), limits)
    relation = asked.get("relation")
    if relation not in _RELATIONS:
        refuse(f"expected a relation among {', '.join(_RELATIONS)}", "question.relation")
    sizes = [an_integer(item, "question.sizes") for item in a_list(asked.get("sizes"), "question.sizes")]
    shortest = 0 if relation == "add-remove" else 1
    if any(size < shortest for size in sizes) or len(set(sizes)) < len(sizes):
        refuse(f"sizes are different whole numbers, {shortest} or more", "question.sizes")
    if bool(sizes) != any(each.shape == "list" and each.size is None for each in declared):
        refuse("sizes are for lists whose declaration leaves the length open, and these need one", "question.sizes")
    listed = a_list(asked.get("data"), "question.data")
    if few:
        within(len(listed), _MOST_DATA, "data sets", "question.data")
        expected = [_sample(item, declared, sizes, number, limits) for number, item in enumerate(listed)]
    elif any(each.values is None for each in declared):
        refuse("there is no list of all values", "question.inputs")
    else:
        expected = [data for size in sizes or [0] for data in _all(declared, size, limits)]
    if len(listed) != len(expected):
        refuse(f"there are {len(expected)} data sets, and {len(listed)} are listed", "question.data")
    for number, (item, data) in enumerate(zip(listed, expected, strict=True)):
        if _read_entries(item, declared, f"question.data[{number}]") != data:
            refuse("this is not the data set in this place of the list of all", f"question.data[{number}]")
    if relation in _NORMS and len([each for each in declared if not each.public]) != 1:
        refuse("a norm is for one private input", "question.relation")
    if relation == "function":
        pairs = _read_named_pairs(asked.get("pairs"), declared, expected)
    elif "pairs" in asked:
        refuse("the relation says which data sets are neighbours", "question.pairs")
    elif relation == "add-remove":
        pairs = set(_one_more(declared, expected))
    else:
        pairs = set(_related_pairs(declared, str(relation), expected, limits))
    if not pairs:
        refuse("no two data sets are neighbours", "question")
    return Neighbours(len(expected), frozenset(pairs))


def _inputs(value: object, limits: Limits) -> list[_Input]:
    given = an_object(value, "question.inputs")
    result = []
    for name, item in given.items():
        place = f"question.inputs.{name}"
        one = an_object(item, place)
        ends = ("real", "low", "high") if one.get("values") is None else ()
        only_members(one, ("shape", "values", *ends, "within", "public", "size", "text"), place)
        a_text(one.get("text"), f"{place}.text")
        shape = one.get("shape")
        if shape not in ("value", "list"):
            refuse("expected a value or a list", f"{place}.shape")
        near = None if one.get("within") is None else a_number(one["within"], f"{place}.within", limits)
        texts: list[Value] | None = None
        if one.get("values") is not None:
            texts = [_text(each) for each in a_list(one["values"], f"{place}.values")]
            within(len(texts), limits.symbols, "values", f"{place}.values")
            if not texts or len(set(texts)) < len(texts):
                refuse("values are given, each once", f"{place}.values")
            for text in texts if near is not None else ():
                _number(text, f"{place}.values", limits)
        elif near is None:
            refuse("numbers without end differ by amounts", f"{place}.within")
        size = None if one.get("size") is None else an_integer(one["size"], f"{place}.size")
        if size is not None and (size < 1 or shape == "value"):
            refuse("a list has a size of 1 or more", f"{place}.size")
        public = a_flag(one.get("public"), f"{place}.public")
        if texts is not None:
            result.append(_Input(name, str(shape), tuple(texts), near, public, size))
            continue
        low, high = (
            None if one.get(end) is None else a_number(one[end], f"{place}.{end}", limits) for end in ("low", "high")
        )
        real = a_flag(one.get("real"), f"{place}.real")
        result.append(_Input(name, str(shape), None, near, public, size, real, low, high))
    return result


def _sample(item: object, declared: list[_Input], sizes: list[int], number: int, limits: Limits) -> tuple[Entry, ...]:
    """A data set within the declarations, its lists of one of the sizes."""
    place = f"question.data[{number}]"
    entries = _read_entries(item, declared, place)
    lengths = set()
    for k, each in enumerate(declared):
        values = [value for of, value in entries if of == k]
        if each.shape == "list" and each.size is None:
            lengths.add(len(values))
        elif each.shape == "list" and len(values) != each.size:
            refuse(f"the list {each.name} has another length than is declared", place)
        for value in values:
            if each.values is not None:
                if value not in each.values:
                    refuse(f"a value of {each.name} is none of those declared", place)
                continue
            amount = _number(value, place, limits)
            if not each.real and (amount.q != 1 or set(json.loads(value)) != {"int"}):
                refuse(f"a value of {each.name} is no whole number", place)
            if (each.low is not None and amount < each.low) or (each.high is not None and amount > each.high):
                refuse(f"a value of {each.name} is outside of its range", place)
    if len(lengths) > 1 or not lengths <= set(sizes):
        refuse("the lists have one of the sizes", place)
    return entries


def _text(value: object) -> Value:
    if type(value) is dict and len(value) == 1 and type(whole := value.get("int")) is int:
        return f'{{"int": {whole}}}'  # the same text, sooner
    return json.dumps(value, sort_keys=True)


def _number(value: Value, place: str, limits: Limits) -> Rational:
    typed = json.loads(value)
    for kind in ("int", "fraction"):
        if isinstance(typed, dict) and set(typed) == {kind}:
            return a_number(typed[kind], place, limits)
    refuse("values that differ by amounts are numbers", place)


def _all(declared: list[_Input], size: int, limits: Limits) -> Iterator[tuple[Entry, ...]]:
    """All data sets with lists of a size, in order."""
    choices: list[list[tuple[Entry, ...]]] = []
    count = 1
    for number, each in enumerate(declared):
        assert each.values is not None
        length = (size if each.size is None else each.size) if each.shape == "list" else 1
        within(length, 64, "entries of a list", "question.sizes")
        count *= len(each.values) ** length
        within(count, _MOST_DATA, "data sets", "question.data")
        choices.append([tuple((number, v) for v in values) for values in product(each.values, repeat=length)])
    for parts in product(*choices):
        yield tuple(entry for part in parts for entry in part)


def _read_entries(value: object, declared: list[_Input], place: str) -> tuple[Entry, ...]:
    given = an_object(value, place)
    if list(given) != [each.name for each in declared]:
        refuse("a data set has a value for every input, in order", place)
    entries: list[Entry] = []
    for number, each in enumerate(declared):
        if each.shape == "value":
            entries.append((number, _text(given[each.name])))
            continue
        held = an_object(given[each.name], f"{place}.{each.name}")
        only_members(held, ("tuple",), f"{place}.{each.name}")
        entries += [(number, _text(item)) for item in a_list(held.get("tuple"), f"{place}.{each.name}")]
    return tuple(entries)


def _related_pairs(
    declared: list[_Input], relation: str, data: list[tuple[Entry, ...]], limits: Limits
) -> Iterator[tuple[int, int]]:
    """The pairs of data sets that a relation compares: of the same length, equal in what is public."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, entries in enumerate(data):
        groups.setdefault(tuple(k for k, _ in entries), []).append(number)
    amounts = _Amounts(declared, limits)
    if relation == "one":
        for group in groups.values():
            yield from _one_changed(declared, amounts, data, group)
        return
    compared = sum(len(group) ** 2 for group in groups.values())
    within(compared, 100 * limits.pairs * 10, "pairs of data sets", "question.data")
    for group in groups.values():
        for one in group:
            for other in group:
                if one < other and _neighbours(declared, relation, data[one], data[other], amounts):
                    yield one, other
                    yield other, one


@dataclass
class _Amounts:
    """The values of inputs as numbers, each read once."""

    declared: list[_Input]
    limits: Limits
    known: dict[Value, Rational] = field(default_factory=dict)

    def apart(self, one: Value, other: Value) -> Rational:
        """By how much the second is larger."""
        for value in (one, other):
            if value not in self.known:
                self.known[value] = _number(value, "question.data", self.limits)
        return self.known[other] - self.known[one]

    def near(self, of: int, one: Value, other: Value) -> bool:
        """Whether an entry of an input may change from one value to the other."""
        each = self.declared[of]
        return each.within is None or abs(self.apart(one, other)) <= each.within


def _one_changed(
    declared: list[_Input], amounts: _Amounts, data: list[tuple[Entry, ...]], group: list[int]
) -> Iterator[tuple[int, int]]:
    """The pairs of a group that differ in one private entry, by what it may change: those that are the same without it."""
    for place, (of, _) in enumerate(data[group[0]]):
        if declared[of].public:
            continue
        alike: dict[tuple[Entry, ...], list[int]] = {}
        for number in group:
            alike.setdefault(data[number][:place] + data[number][place + 1 :], []).append(number)
        compared = sum(len(numbers) ** 2 for numbers in alike.values())
        within(compared, 100 * amounts.limits.pairs * 10, "pairs of data sets", "question.data")
        for numbers in alike.values():
            for one, other in combinations(numbers, 2):
                before, after = data[one][place][1], data[other][place][1]
                if before != after and amounts.near(of, before, after):
                    yield one, other
                    yield other, one


def _one_more(declared: list[_Input], data: list[tuple[Entry, ...]]) -> Iterator[tuple[int, int]]:
    """The pairs of which one has one element more, in a private list of open length, and is the same otherwise."""
    numbers = {entries: number for number, entries in enumerate(data)}
    for number, entries in enumerate(data):
        for place, (k, _) in enumerate(entries):
            each = declared[k]
            other = numbers.get(entries[:place] + entries[place + 1 :])
            if each.shape == "list" and each.size is None and not each.public and other is not None:
                yield number, other
                yield other, number


def _neighbours(
    declared: list[_Input], relation: str, left: tuple[Entry, ...], right: tuple[Entry, ...], amounts: _Amounts
) -> bool:
    signs: list[int] = []
    total = most = Rational(0)
    for (number, one), (_, other) in zip(left, right, strict=True):
        if one == other:
            continue
        each = declared[number]
        if each.public:
            return False
        if each.within is None:
            if relation == "monotone":
                _without_order(each)
            signs.append(0)
            continue
        difference = amounts.apart(one, other)
        if abs(difference) > each.within:
            return False
        signs.append(1 if difference > 0 else -1)
        if relation in _NORMS:
            total += abs(difference) if relation == "l1" else difference * difference
            most = each.within if relation == "l1" else each.within * each.within
    if relation in _NORMS:
        return bool(signs) and 0 not in signs and total <= most
    return bool(signs) and (relation == "each" or abs(sum(signs)) == len(signs))


def _without_order(declared: _Input) -> NoReturn:
    refuse("what has no order does not move in one direction", f"question.inputs.{declared.name}")


def _read_named_pairs(value: object, declared: list[_Input], data: list[tuple[Entry, ...]]) -> set[tuple[int, int]]:
    """The pairs that a function of the user's named: these are taken, as long as they agree in what is public."""
    result: set[tuple[int, int]] = set()
    for number, item in enumerate(a_list(value, "question.pairs")):
        place = f"question.pairs[{number}]"
        sides = [an_integer(each, place) for each in a_list(item, place)]
        if len(sides) != 2 or not 0 <= sides[0] < sides[1] < len(data):
            refuse("expected the numbers of two data sets, the smaller first", place)
        one, other = (data[k] for k in sides)
        for k, each in enumerate(declared):
            if each.public and [v for n, v in one if n == k] != [v for n, v in other if n == k]:
                refuse(f"the two data sets differ in {each.name}, which is public", place)
        result |= {(sides[0], sides[1]), (sides[1], sides[0])}
    return result
