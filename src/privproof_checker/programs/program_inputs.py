"""The inputs of a mechanism and the claim about it: what is public, which inputs are neighbours, what is promised.

An input is a value, a list or a stream of integers, reals, truth values or tags (null or a text); or a private list of rows,
whose fields are such.  A public input is
the same in both runs.  Private inputs differ as the relation says: ``each`` entry by at most its ``within``; at most
``one`` entry of one input; ``monotone``: each, but all in one direction; or ``add-remove``: the one private input is a list,
and has one entry more, anywhere, in one of the runs; or ``l1`` or ``l2``: the one private input is a list of numbers, and the
sum of ``|d|``, or of ``d^2``, over all its differences d is at most ``within``, or its square.  Without ``within`` an entry may
differ in any way.  A claim is an affine expression in public integers and in the common length of the lists, or a number.

Whatever would make the set of neighbours empty is refused, so that nothing is proved about nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import ZERO, Epsilon, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_flag,
    a_list,
    a_number,
    a_text,
    an_integer,
    an_object,
    only_members,
    text,
)

SHAPES = ("value", "list", "stream")
SORTS = ("int", "real", "bool", "tag")
ROW = "row"
ADD_REMOVE = "add-remove"
NORMS = ("l1", "l2")
RELATIONS = ("each", "one", "monotone", ADD_REMOVE, *NORMS)
SIZE = "size"

_MEMBERS = ("shape", "sort", "public", "within", "low", "high", "size", "values", "fields")
_MOST_INPUTS = 100
"""A mechanism may declare so many inputs; beyond, the question is refused."""
_LARGEST_SIZE = 1_000_000
"""The largest length of lists that may be fixed; beyond, the question is refused."""

Scalar = Rational | bool | str | None
"""A value: a number, a truth value, or a tag."""


@dataclass(frozen=True)
class ProgramInput:
    """A declared input.

    Attributes:
        name: its name.
        shape: ``value``, ``list`` or ``stream``.
        sort: ``int``, ``real``, ``bool`` or ``tag``.
        public: whether it is the same in both runs.
        within: by how much neighbours may differ in one entry; None for in any way.
        low: the least value, if there is one.
        high: the largest value, if there is one.
        size: the length of a list, if it is fixed by itself.
        values: the values allowed, if they are listed.
        fields: of the sort ``row``: what each entry is made of, by name.
    """

    name: str
    shape: str
    sort: str
    public: bool
    within: Rational | None
    low: Rational | None
    high: Rational | None
    size: int | None
    values: tuple[Scalar, ...] | None
    fields: Mapping[str, ProgramInput] = field(default_factory=dict)

    @property
    def numeric(self) -> bool:
        """Whether its entries are numbers."""
        return self.sort in ("int", "real")


@dataclass(frozen=True)
class Affine:
    """A constant and multiples of public integers; ``size`` stands for the common length of the lists."""

    constant: Rational
    terms: Mapping[str, Rational]

    def __str__(self) -> str:
        parts = [f"{value}*{name}" for name, value in self.terms.items() if value != 0]
        return " + ".join([str(self.constant), *parts] if self.constant != 0 or not parts else parts)

    def minus(self, other: Affine) -> Affine:
        """The difference."""
        names = (*self.terms, *(name for name in other.terms if name not in self.terms))
        terms = {name: self.terms.get(name, ZERO) - other.terms.get(name, ZERO) for name in names}
        return Affine(self.constant - other.constant, terms)

    def times(self, factor: Rational) -> Affine:
        """A multiple."""
        return Affine(self.constant * factor, {name: value * factor for name, value in self.terms.items()})

    def largest(self, ranges: Mapping[str, tuple[Rational | None, Rational | None]]) -> Rational | None:
        """The largest value over a box; None where there is none.

        >>> Affine(Rational(1), {"N": Rational(-1, 2)}).largest({"N": (Rational(1), None)})
        1/2
        """
        total = self.constant
        for name, factor in self.terms.items():
            low, high = ranges[name]
            end = high if factor > 0 else low
            if factor == 0:
                continue
            if end is None:
                return None
            total += factor * end
        return total


Rows = tuple[Mapping[str, Scalar], ...]
"""Rows of a list, each by some of its fields, whatever the others are."""


@dataclass(frozen=True)
class Change:
    """Which changes of a record are looked at, where these are not all.

    Attributes:
        name: the list.
        between: from which rows to which, either way; None for a record that is not there.
    """

    name: str
    between: tuple[tuple[Rows, Rows | None], ...]


@dataclass(frozen=True)
class Declared:
    """The inputs, who are neighbours, and what is claimed.

    Attributes:
        inputs: the inputs by name, in order.
        relation: ``each``, ``one``, ``monotone``, ``add-remove``, ``l1`` or ``l2``.
        size: the length of all lists without a size of their own; None for every length.  Under ``add-remove`` that of the longer one.
        epsilon: the number claimed, or None.
        claim: the affine expression claimed, or None; where both are given it is at most epsilon.
        ratio: where the claim is that many times the logarithm of a ratio above 1, this ratio.
        given: the probability that is claimed to be given away besides, as an expression like the claim.
        change: which changes of a record are looked at; None for all.
    """

    inputs: Mapping[str, ProgramInput]
    relation: str
    size: int | None
    epsilon: Epsilon | None
    claim: Affine | None
    given: Affine
    ratio: Rational | None = None
    change: Change | None = None

    @property
    def delta(self) -> Rational:
        """The delta that is claimed, which is one number; refused where it is an expression."""
        if any(self.given.terms.values()):
            refuse("a delta that depends on sizes or public numbers is decided by alignments alone", "question.delta")
        return self.given.constant

    @property
    def private(self) -> tuple[ProgramInput, ...]:
        """The private inputs in order."""
        return tuple(each for each in self.inputs.values() if not each.public)

    @property
    def ranges(self) -> dict[str, tuple[Rational | None, Rational | None]]:
        """The least and the largest value of everything that an affine expression may mention."""
        result: dict[str, tuple[Rational | None, Rational | None]] = {
            each.name: (each.low, each.high)
            for each in self.inputs.values()
            if each.public and each.shape == "value" and each.sort == "int"
        }
        if self.relation != ADD_REMOVE:  # then the length is no public number
            result[SIZE] = (ZERO, None) if self.size is None else (Rational(self.size), Rational(self.size))
        return result

    @property
    def claimed(self) -> str:
        """The claim in words."""
        if self.epsilon is not None:
            return f"epsilon = {str(self.epsilon)[:80]}"
        times = "" if self.ratio is None else f" times ln({str(self.ratio)[:80]})"
        return f"epsilon = {str(self.claim)[:200]}{times}"


def read_declared(question: dict[str, object], limits: Limits) -> Declared:
    """The inputs, the relation and the claim of a question."""
    given = an_object(question.get("inputs"), "question.inputs")
    within(len(given), _MOST_INPUTS, "inputs", "question.inputs")
    inputs = {name: _input(name, value, f"question.inputs.{name}", limits) for name, value in given.items()}
    called = [*inputs, *(part.name for each in inputs.values() for part in each.fields.values())]
    if len(set(called)) < len(called):
        refuse("an input is called what a field of a row is, or two fields are: list, point, field", "question.inputs")
    if SIZE in inputs:
        refuse("an input cannot be called size, which stands for the length of the lists", "question.inputs.size")
    if all(each.public for each in inputs.values()):
        refuse("no input is private", "question.inputs")
    relation = a_text(question.get("relation"), "question.relation")
    if relation not in RELATIONS:
        refuse(f"{relation[:40]!r} is none of {', '.join(RELATIONS)}", "question.relation")
    size = _size(question.get("size"), "question.size")
    if relation == ADD_REMOVE:
        _one_open_list([each for each in inputs.values() if not each.public], size)
    elif relation in NORMS and not _one_list_of_numbers([each for each in inputs.values() if not each.public]):
        refuse("a norm is for one private list of numbers that differ by amounts, and nothing else", "question.inputs")
    elif not any(_can_differ(each, size) for each in inputs.values()):
        refuse("no two data sets are neighbours, so nothing is compared", "question.inputs")
    if "epsilon" not in question and "claim" not in question:
        refuse("the question claims nothing", "question.epsilon")
    epsilon = read_epsilon(question["epsilon"], "question.epsilon", limits) if "epsilon" in question else None
    declared = Declared(inputs, relation, size, epsilon, None, Affine(ZERO, {}))
    delta = _delta(question.get("delta", 0), declared, limits)
    declared = replace(declared, given=delta)
    if "claim" not in question:
        return declared
    claim = an_object(question["claim"], "question.claim")
    only_members(claim, ("constant", "terms", "ratio"), "question.claim")
    affine = read_affine(claim, declared, "question.claim", limits)
    if "ratio" in claim:
        ratio = a_number(claim["ratio"], "question.claim.ratio", limits)
        if ratio <= 1 or epsilon is not None:
            refuse("a claim in logarithms has a ratio above 1, and no other number beside it", "question.claim")
        return replace(declared, epsilon=None, claim=affine, ratio=ratio)
    if epsilon is not None:
        at_most(affine, epsilon, declared, "question.claim")
    return replace(declared, claim=affine)


def _delta(value: object, declared: Declared, limits: Limits) -> Affine:
    """The claimed delta: a number between 0 and 1, or an expression that is never below 0."""
    if not isinstance(value, dict):
        delta = a_number(value, "question.delta", limits)
        if not 0 <= delta <= 1:
            refuse(f"delta = {text(delta)} is outside [0, 1]", "question.delta")
        return Affine(delta, {})
    only_members(value, ("constant", "terms"), "question.delta")
    affine = read_affine(value, declared, "question.delta", limits)
    below = Affine(ZERO, {}).minus(affine).largest(declared.ranges)
    if below is None or below > 0:
        refuse(f"delta = {str(affine)[:200]} may be below 0", "question.delta")
    return affine


def read_affine(given: Mapping[str, object], declared: Declared, place: str, limits: Limits) -> Affine:
    """The members ``constant`` and ``terms`` of an object."""
    terms = {}
    ranges = declared.ranges
    for name, value in an_object(given.get("terms", {}), f"{place}.terms").items():
        if name not in ranges:
            refuse(f"{name[:40]!r} is not a public integer, nor size", f"{place}.terms")
        terms[name] = a_number(value, f"{place}.terms.{name}", limits)
    return Affine(a_number(given.get("constant", 0), f"{place}.constant", limits), terms)


def at_most(value: Affine, epsilon: Epsilon, declared: Declared, place: str) -> None:
    """Refuse an expression that may exceed a number."""
    if epsilon.infinite:
        return
    largest = value.largest(declared.ranges)
    if largest is None or Epsilon(shift=largest).compare(epsilon) > 0:
        refuse(f"{str(value)[:200]} may exceed {str(epsilon)[:80]}", place)


def scalar(value: object, sort: str, place: str, limits: Limits) -> Scalar:
    """A value of a sort: an exact number, a truth value, or a tag (null or a text)."""
    if sort == "bool":
        return a_flag(value, place)
    if sort == "tag":
        return None if value is None else a_text(value, place)
    number = a_number(value, place, limits)
    if sort == "int" and number.q != 1:
        refuse(f"{text(number)} is not an integer", place)
    return number


def check_declared_bounds(value: Scalar, declared: ProgramInput, place: str) -> None:
    """Refuse a value outside the declared bounds."""
    if declared.values is not None and not any(same(value, each) for each in declared.values):
        refuse("the value is none of those declared", place)
    if isinstance(value, Rational) and (
        (declared.low is not None and value < declared.low) or (declared.high is not None and value > declared.high)
    ):
        refuse(f"{text(value)} is outside the declared bounds", place)


def same(left: Scalar, right: Scalar) -> bool:
    """Whether two values are the same, of the same type."""
    return type(left) is type(right) and left == right


def plain_name(name: str, place: str) -> str:
    """A name that can stand in a quoted symbol."""
    if not 0 < len(name) <= 200 or not name.isprintable() or any(sign in name for sign in "|\\"):
        refuse("a name is empty, too long, or holds a character that has no place in a name", place)
    return name


def _input(name: str, value: object, place: str, limits: Limits) -> ProgramInput:
    plain_name(name, place)
    given = an_object(value, place)
    only_members(given, _MEMBERS, place)
    shape = _among(given.get("shape"), SHAPES, f"{place}.shape")
    if given.get("sort") == ROW:
        return _rows(name, given, place, limits)
    if "fields" in given:
        refuse("only rows have fields", f"{place}.fields")
    sort = _among(given.get("sort"), SORTS, f"{place}.sort")
    public = a_flag(given.get("public"), f"{place}.public")
    low, high, apart = (_optional(given.get(name), f"{place}.{name}", limits) for name in ("low", "high", "within"))
    size = _size(given.get("size"), f"{place}.size")
    if size is not None and shape != "list":
        refuse("only a list has a size", f"{place}.size")
    if sort not in ("int", "real") and (low is not None or high is not None or apart is not None):
        refuse(f"a {sort} has no bounds and no distance", place)
    if public and apart is not None:
        refuse("a public input does not differ between neighbours", f"{place}.within")
    if apart is not None and (apart <= 0 or (sort == "int" and apart < 1)):
        refuse("within is too small for any two entries to differ", f"{place}.within")
    if low is not None and high is not None and (low > high or (sort == "int" and high.floor() < low)):
        refuse("no value lies within the bounds", place)
    values = None
    if given.get("values") is not None:
        listed = a_list(given["values"], f"{place}.values")
        within(len(listed), limits.symbols, "values", f"{place}.values")
        values = tuple(scalar(item, sort, f"{place}.values[{i}]", limits) for i, item in enumerate(listed))
        bare = ProgramInput(name, shape, sort, public, apart, low, high, size, None)
        for i, item in enumerate(values):
            check_declared_bounds(item, bare, f"{place}.values[{i}]")
        if not values:
            refuse("no value is allowed", f"{place}.values")
    return ProgramInput(name, shape, sort, public, apart, low, high, size, values)


def _rows(name: str, given: dict[str, object], place: str, limits: Limits) -> ProgramInput:
    """A private list of rows."""
    if given.get("shape") != "list" or a_flag(given.get("public"), f"{place}.public"):
        refuse("rows are the entries of a private list", place)
    if any(given.get(member) is not None for member in ("within", "low", "high", "values")):
        refuse("what a row may be is said by its fields", place)
    listed = an_object(given.get("fields"), f"{place}.fields")
    within(len(listed), _MOST_INPUTS, "fields", f"{place}.fields")
    if not listed:
        refuse("a row has a field", f"{place}.fields")
    fields = {}
    for part, item in listed.items():
        here = f"{place}.fields.{part}"
        only_members(an_object(item, here), ("sort", "low", "high", "values"), here)
        plain_name(part, here)
        fields[part] = _input(
            f"{name}.{part}", {"shape": "value", "public": False, **an_object(item, here)}, here, limits
        )
        if fields[part].sort == ROW:
            refuse("a field is no row", here)
    size = _size(given.get("size"), f"{place}.size")
    return ProgramInput(
        name, "list", ROW, public=False, within=None, low=None, high=None, size=size, values=None, fields=fields
    )


def _one_open_list(private: list[ProgramInput], size: int | None) -> None:
    """Refuse private inputs to which no entry can be added, or to several of which one can."""
    if len(private) != 1 or private[0].shape != "list" or private[0].size is not None:
        refuse("an entry is added to the one private input, a list of open length", "question.inputs")
    if size == 0:
        refuse("no two data sets are neighbours, so nothing is compared", "question.inputs")


def _can_differ(declared: ProgramInput, size: int | None) -> bool:
    """Whether an input may hold different values in neighbouring data sets."""
    length = size if declared.size is None else declared.size
    if declared.public or (declared.shape == "list" and length == 0):
        return False
    if declared.fields:
        return any(_can_differ(each, size) for each in declared.fields.values())
    if declared.low is not None and declared.low == declared.high:
        return False
    return declared.values is None or len(declared.values) > 1


def _one_list_of_numbers(private: list[ProgramInput]) -> bool:
    """Whether there is one private input: a list of numbers that differ by amounts."""
    return len(private) == 1 and private[0].shape == "list" and private[0].numeric and private[0].within is not None


def _among(value: object, choices: Iterable[str], place: str) -> str:
    found = a_text(value, place)
    if found not in choices:
        refuse(f"{found[:40]!r} is none of {', '.join(choices)}", place)
    return found


def _optional(value: object, place: str, limits: Limits) -> Rational | None:
    return None if value is None else a_number(value, place, limits)


def _size(value: object, place: str) -> int | None:
    if value is None:
        return None
    size = an_integer(value, place)
    if not 0 <= size <= _LARGEST_SIZE:
        refuse(f"a size is between 0 and {_LARGEST_SIZE}", place)
    return size
