"""The source member of a question: the program, what its inputs may be, and what the names in the model stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from privproof_checker.numbers import Rational, rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import (
    a_flag,
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    only_members,
)
from privproof_checker.programs.program_inputs import NORMS, Declared, Scalar
from privproof_checker.source.declarations import declaration
from privproof_checker.source.establishing import PLACE as PLACE
from privproof_checker.source.reading import Function, read_functions
from privproof_checker.source.values import Beyond, Cells, Table, Value, key, printed, read_value

_MEMBERS = ("claims", "reason", "program", "relation", "size", "inputs", "outputs", "pairs")
_MOST_DATA_SETS = 6_000
"""The values of a list, and the combinations of all inputs, that are listed; beyond, nothing is established about the source."""
_SHAPES = ("value", "list", "stream")


@dataclass(frozen=True)
class Input:
    """An input of the mechanism.

    Attributes:
        name: its name.
        shape: one value, a list or a stream.
        values: what it, or each of its entries, may be; None for numbers without bounds and for reals.
        within: by how much an entry may differ; None: in any way.
        public: whether it is the same on both sides.
        size: the length of a list.
        low: the least value of a number.
        high: the largest value of a number.
        real: whether it takes real numbers.
        own_size: the length that its declaration fixes.
    """

    name: str
    shape: str
    values: tuple[Value, ...] | None
    within: Rational | None
    public: bool
    size: int | None
    low: Rational | None
    high: Rational | None
    real: bool
    own_size: int | None

    def all_values(self, *, shorter: bool = False) -> Iterator[Value]:
        """Every value: of a list, every list of its length; with `shorter`, where its length is open, also those with one entry less."""
        if self.values is None:
            raise Beyond(f"the input {self.name!r} has no finite set of values", PLACE)
        if self.shape == "value":
            yield from self.values
            return
        if self.size is None:
            refuse(f"nothing says how long the list {self.name!r} is", PLACE)
        if self.size * (len(self.values).bit_length() - 1) > 64 or len(self.values) ** self.size > _MOST_DATA_SETS:
            raise Beyond(f"the list {self.name!r} has too many values", PLACE)
        if shorter and self.own_size is None and self.size > 0:
            yield from (Cells(list(items), fixed=True) for items in product(self.values, repeat=self.size - 1))
        yield from (Cells(list(items), fixed=True) for items in product(self.values, repeat=self.size))


@dataclass(frozen=True)
class Findings:
    """What a comparison with the source took on trust, and what else must be said."""

    taken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """The source of a question.

    Attributes:
        functions: the code of the program.
        inputs: the inputs of the mechanism, in order.
        parameters: its other arguments.
        relation: ``each``, ``one``, ``monotone``, ``add-remove``, or ``function``.
        member: the whole member, for what depends on the kind of the question.
        taken: what of the declarations the text does not tell.
        notes: the defaults and parameters that have other values than the text says.
    """

    functions: tuple[Function, ...]
    inputs: Mapping[str, Input]
    parameters: Mapping[str, Value]
    relation: str
    member: Mapping[str, object]
    taken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def mechanism(self) -> Function:
        """The mechanism itself."""
        return self.functions[0]

    @property
    def ordinary(self) -> bool:
        """Whether noise of libraries is drawn, so that quotients are Python's own."""
        return any(function.ordinary for function in self.functions)

    @property
    def stream(self) -> Input | None:
        """The input without end."""
        return next((each for each in self.inputs.values() if each.shape == "stream"), None)

    @property
    def lengths_differ(self) -> bool:
        """Whether neighbours are lists of different length."""
        return self.relation == "add-remove"

    @property
    def private(self) -> list[Input]:
        """The private inputs."""
        return [each for each in self.inputs.values() if not each.public]

    def public_values(self) -> list[dict[str, Value]]:
        """Every combination of values of the public inputs that are no streams."""
        return combinations([each for each in self.inputs.values() if each.public and each.shape != "stream"])


def combinations(inputs: list[Input], *, shorter: bool = False) -> list[dict[str, Value]]:
    """Every combination of values of some inputs; with `shorter` also of lists that have one entry less."""
    listed = [list(each.all_values(shorter=shorter)) for each in inputs]
    if prod(map(len, listed)) > _MOST_DATA_SETS:
        raise Beyond(f"there are more than {_MOST_DATA_SETS} data sets", PLACE)
    return [dict(zip((each.name for each in inputs), values, strict=True)) for values in product(*listed)]


def data_key(values: Mapping[str, Value]) -> str:
    """What tells data sets apart."""

    def inner(value: Value) -> object:
        return ("list", *map(key, value.items)) if isinstance(value, Cells) else key(value)

    return repr([(name, inner(values[name])) for name in sorted(values)])


def read_source(value: object, limits: Limits) -> Source:
    """The source member of a question."""
    member = an_object(value, PLACE)
    only_members(member, _MEMBERS, PLACE)
    program = an_object(member.get("program"), f"{PLACE}.program")
    only_members(program, ("functions", "inputs", "parameters"), f"{PLACE}.program")
    functions = read_functions(program.get("functions"), f"{PLACE}.program.functions")
    size = member.get("size")
    length = None if size is None else an_integer(size, f"{PLACE}.size")
    inputs = {
        name: _input(name, each, length, limits)
        for name, each in an_object(program.get("inputs"), f"{PLACE}.program.inputs").items()
    }
    parameters = {
        name: read_value(each, f"{PLACE}.program.parameters.{name}")
        for name, each in an_object(program.get("parameters"), f"{PLACE}.program.parameters").items()
    }
    owner = functions[0].owner if functions[0].owner not in {*inputs, *parameters} else None
    taken_by = [name for name in functions[0].parameters if name != owner]
    if sorted((*inputs, *parameters)) != sorted(taken_by):
        refuse("the inputs and parameters are not those of the function", f"{PLACE}.program")
    if not any(not each.public for each in inputs.values()):
        refuse("no input is private, so nothing is compared", f"{PLACE}.program.inputs")
    if sum(each.shape == "stream" for each in inputs.values()) > 1:
        refuse("there are two streams", f"{PLACE}.program.inputs")
    relation = a_text(member.get("relation"), f"{PLACE}.relation")
    if relation not in ("each", "one", "monotone", "add-remove", *NORMS, "function"):
        refuse(f"{relation[:40]!r} is no relation", f"{PLACE}.relation")
    written = functions[0].annotations
    unclear = [name for name, each in inputs.items() if not _as_written(each, written.get(name), relation)]
    taken = (f"what may be given for {', '.join(unclear)[:200]}, which the text does not tell",) if unclear else ()
    return Source(functions, inputs, parameters, relation, member, taken, tuple(_set_otherwise(functions, parameters)))


def same_inputs(source: Source, declared: Declared) -> None:
    """Refuse inputs or a relation of the question that are not those of the program."""
    if list(source.inputs) != list(declared.inputs) or source.relation != declared.relation:
        refuse("the question has other inputs, or another relation, than the program", "question.inputs")
    for each in source.inputs.values():
        other = declared.inputs[each.name]
        within = None if each.public else each.within
        mine = (each.shape, each.public, each.real, within, each.low, each.high)
        real = other.sort == "real" and other.values is None
        theirs = (other.shape, other.public, real, other.within, other.low, other.high)
        if mine != theirs or other.size != each.own_size or not _same_values(each.values, other.values):
            refuse(f"the input {each.name!r} is declared in another way", f"question.inputs.{each.name}")


def _same_values(mine: tuple[Value, ...] | None, theirs: tuple[Scalar, ...] | None) -> bool:
    """Whether the values that a question lists, if it lists any, are those of the program."""
    if theirs is None:
        return True
    exact = (v if isinstance(v, bool | str | None) else rational(v) for v in mine or ())
    return mine is not None and [(type(v), v) for v in exact] == [(type(v), v) for v in theirs]


def _set_otherwise(functions: tuple[Function, ...], parameters: Mapping[str, Value]) -> Iterator[str]:
    """The values of parameters that differ from the defaults that the text writes out."""
    for number, function in enumerate(functions):
        for name, value in (parameters if number == 0 else function.defaults).items():
            plain = not isinstance(value, Cells | Table)
            if name in function.written and not (plain and key(value) == key(function.written[name])):
                shown = printed(value)[:100] if plain else "a list or a table"
                yield f"with {name} = {shown} in {function.name}, where the text says {function.written[name]!r:.100}"


def _as_written(each: Input, annotation: ast.expr | None, relation: str) -> bool:
    """Whether the text itself declares the input; refuses if it declares another one."""
    written = declaration(annotation)
    if written is None:
        return False
    if not each.public and {written.norm, relation} & set(NORMS) and written.norm != relation:
        refuse(
            f"the text declares the neighbours of {each.name!r} in another way", f"{PLACE}.program.inputs.{each.name}"
        )
    declared = (each.shape, each.public, each.real, each.within, each.low, each.high)
    known = None if each.values is None else sorted(repr(key(value)) for value in each.values)
    values = None if written.values is None else sorted(repr(key(value)) for value in written.values)
    same = (written.shape, written.public, written.real, written.within, written.low, written.high) == declared
    if not same and known == values and written.within is None and relation in ("each", "one"):
        # records that are declared as the numbers they are: any two of them are neighbours either way
        low, high = _ends(each)
        spread = None if low is None or high is None else high - low
        same = (written.shape, written.public, written.real, spread, low, high) == declared and not each.public
    if not same or (written.low is None and written.high is None and known != values):
        if written.public and each.public:
            raise Beyond(
                f"{each.name!r} has a value here that the text leaves open", f"{PLACE}.program.inputs.{each.name}"
            )
        refuse(f"the text declares {each.name!r} in another way", f"{PLACE}.program.inputs.{each.name}")
    if written.size is not None and written.size != each.size:
        refuse(f"the text declares another length of {each.name!r}", f"{PLACE}.program.inputs.{each.name}")
    return True


def _ends(each: Input) -> tuple[Rational | None, Rational | None]:
    """The least and the largest of the whole numbers that an input may be; None where it may be something else."""
    listed = each.values or ()
    if not listed or any(type(value) is not int for value in listed):
        return None, None
    numbers = [rational(value) for value in listed if isinstance(value, int)]
    return min(numbers), max(numbers)


def _input(name: str, value: object, length: int | None, limits: Limits) -> Input:
    place = f"{PLACE}.program.inputs.{name}"
    given = an_object(value, place)
    if given.get("fields") is not None:
        raise Beyond(f"the records of {name!r} have named fields", place)
    only_members(given, ("text", "shape", "values", "real", "low", "high", "within", "public", "size"), place)
    a_text_or_null(given.get("text"), f"{place}.text")
    shape = a_text(given.get("shape"), f"{place}.shape")
    if shape not in _SHAPES:
        refuse(f"{shape[:40]!r} is none of {', '.join(_SHAPES)}", f"{place}.shape")
    values: tuple[Value, ...] | None = None
    if given.get("values") is not None:
        values = tuple(read_value(item, f"{place}.values") for item in a_list(given["values"], f"{place}.values"))
        if not values or len({key(item) for item in values}) < len(values):
            refuse("the values of an input are at least one, and each is given once", f"{place}.values")
    if values is not None and len(set(values)) < len(values):
        refuse("two values of an input are equal", f"{place}.values")
    numbers: dict[str, Rational | None] = {}
    for bound in ("low", "high", "within"):
        found = given.get(bound)
        numbers[bound] = None if found is None else rational(a_number(found, f"{place}.{bound}", limits))
    within = numbers["within"]
    if within is not None and within <= 0:
        refuse("an input that is private may differ by something", f"{place}.within")
    size = given.get("size")
    fixed = None if size is None else an_integer(size, f"{place}.size")
    public, real = (a_flag(given.get(flag, False), f"{place}.{flag}") for flag in ("public", "real"))
    low, high = numbers["low"], numbers["high"]
    if not real and low is not None and high is not None:
        if high - low > limits.symbols or low.q != 1 or high.q != 1:
            raise Beyond(f"the input {name!r} has too many values", place)
        between = tuple(range(int(low.p), int(high.p) + 1))
        if not between or values not in (None, between):
            refuse("the values are not those between the bounds", f"{place}.values")
        values = between
    elif low is not None or high is not None:
        values = None
    final = (length if fixed is None else fixed) if shape == "list" else None
    return Input(name, shape, values, within, public, final, low, high, real, fixed)


def neighbours(source: Source, left: Mapping[str, Value], right: Mapping[str, Value]) -> bool:
    """Whether two data sets are neighbours: they differ, and their entries differ as the relation allows."""
    if source.relation in NORMS:
        raise Beyond("a norm over lists of finitely many numbers", f"{PLACE}.relation")
    if source.lengths_differ:
        return _one_more(source, left, right) or _one_more(source, right, left)
    changes: list[int] = []
    for each in source.private:
        if each.name not in left:
            continue
        sides = [side[each.name] for side in (left, right)]
        entries = zip(*(side.items if each.shape == "list" else (side,) for side in sides), strict=True)
        for x, y in entries:
            if x == y:
                continue
            if each.within is None and source.relation == "monotone":
                refuse("records have no direction", f"{PLACE}.relation")
            if each.within is not None and abs(rational(x) - rational(y)) > each.within:
                return False
            changes.append(0 if each.within is None else 1 if x < y else -1)
    if source.relation == "one":
        return len(changes) == 1
    return bool(changes) and (source.relation == "each" or abs(sum(changes)) == len(changes))


def _one_more(source: Source, short: Mapping[str, Value], long: Mapping[str, Value]) -> bool:
    """Whether one data set is the other with one entry of one list of open length taken out."""
    differing = [each for each in source.private if data_key({"": short[each.name]}) != data_key({"": long[each.name]})]
    if len(differing) != 1 or differing[0].shape != "list" or differing[0].own_size is not None:
        return False
    one, other = short[differing[0].name], long[differing[0].name]
    assert isinstance(one, Cells)
    assert isinstance(other, Cells)
    fewer, more = [key(item) for item in one.items], [key(item) for item in other.items]
    return any(more[:place] + more[place + 1 :] == fewer for place in range(len(more)))
