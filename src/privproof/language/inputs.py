"""What a mechanism reads: declared in its signature, beside the name.

    def noisy_max(q: queries(0, 2)): ...                     a list of integer answers, each between 0 and 2
    def survey(answers: records("yes", "no")): ...           a list of records from a finite set
    def ages(data: rows(age=integer(0, 120))): ...           a list of records with named fields, read as r.age or r["age"]
    def report(x: integer(0, 5)): ...                        one integer
    def above(t: public(integer(0, 2)), s: stream(0, 2)):    a threshold that is no secret, and answers without end

Together with the *relation* of the mechanism (``each``, ``one``, ``monotone``, or a function of the user) a declaration says which
two data sets are neighbours: by how much an answer may differ is its *sensitivity*; a record may differ in any way.  With a *norm* the
sensitivity is that of all answers together: the sum of their changes (``l1``), or the root of the sum of their squares (``l2``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any, Literal, TypeAlias

from privproof.errors import LanguageError
from privproof.exact import Number, Rational, fraction, rational
from privproof.language.row import Row

_MOST_ROWS = 5_000
"""Rows with more values than this are not listed: then nothing that goes through all of them is done, and sums over them still are."""

Shape: TypeAlias = Literal["value", "list", "stream"]
Norm: TypeAlias = Literal["l1", "l2"]
ADD_REMOVE = "add-remove"
RELATIONS = ("each", "one", "monotone", ADD_REMOVE)
"""The relations that can be named; those of norms are declared with an input."""
NORMS: tuple[Norm, ...] = ("l1", "l2")
"""What the changes of all answers together may be measured in; also the names of the relations that this makes."""


@dataclass(frozen=True)
class Input:
    """A declared input.

    Attributes:
        shape: one value, a list, or a stream.
        values: the values it may take (each of them, in a list or stream); None for numbers without both bounds, or reals.
        real: whether it takes real numbers.
        low: the least value of a number, if there is one.
        high: the largest value of a number, if there is one.
        within: by how much neighbours may differ in one value; None for in any way.
        public: whether it is the same on both sides.
        size: the length of a list, if the declaration fixes it.
        text: the declaration as it is written.
        array: whether a list is given as an array of numpy.
        frame: the library as whose table a list of rows is given; none for a list.
        fields: of records with named fields, each with what it may be.
        norm: what the changes of all values together are measured in, by which neighbours may differ; None for each by itself.
    """

    shape: Shape
    values: tuple[Any, ...] | None
    within: Rational | None
    text: str
    real: bool = False
    low: Rational | None = None
    high: Rational | None = None
    public: bool = False
    size: int | None = None
    array: bool = False
    frame: str = ""
    fields: tuple[tuple[str, Input], ...] = ()
    norm: Norm | None = None

    def __repr__(self) -> str:
        return self.text

    @property
    def differs(self) -> bool:
        """Whether neighbours can differ in one of its values.

        >>> integer(0, 3).differs, integer(3, 3).differs, real(low=3, high=3).differs, integer(sensitivity="1/2").differs
        (True, False, False, False)
        """
        if self.public:
            return False
        if self.fields:
            return any(replace(each, within=None).differs for _, each in self.fields)
        if self.values is not None:
            if self.within is None:
                return len(self.values) > 1
            ordered = sorted(self.values)
            return any(above - below <= self.within for below, above in pairwise(ordered))
        if self.within is not None and not self.real and self.within < 1:
            return False
        return self.low is None or self.low != self.high

    def some(self, choose: Callable[[Input], Any]) -> Any:
        """A value: one that is chosen, or a row of such."""
        if self.fields and self.values is None:
            return Row(**{name: choose(each) for name, each in self.fields})
        return choose(self)

    @property
    def relation(self) -> str:
        """The relation that is meant where none is named: one record changes; every answer may change, or all within a norm."""
        if self.norm is not None:
            return self.norm
        return "one" if self.within is None and self.shape != "value" else "each"


def is_near(norm: str, changes: Iterable[Fraction], within: Rational) -> bool:
    """Whether changes are together no more than a sensitivity, in a norm.

    >>> is_near("l2", [Fraction(3, 5), Fraction(4, 5)], rational(1)), is_near("l1", [Fraction(3, 5), Fraction(4, 5)], rational(1))
    (True, False)
    """
    bound = fraction(within)
    if norm == "l1":
        return sum(map(abs, changes), Fraction(0)) <= bound
    return sum((change**2 for change in changes), Fraction(0)) <= bound**2


def queries(
    low: Number | None = None, high: Number | None = None, *, sensitivity: Number = 1, size: int | None = None
) -> Any:
    """A list of integer answers of queries.

    Args:
        low: the least answer; without bounds only engines for unbounded numbers can decide.
        high: the largest answer.
        sensitivity: by how much one answer may differ between neighbours.
        size: the length of the list; without it, the question fixes it.

    >>> queries(0, 2)
    queries(0, 2)
    >>> queries(0, 2).values
    (0, 1, 2)
    """
    return _numbers("queries", "list", low, high, sensitivity, size)


def real_queries(
    low: Number | None = None,
    high: Number | None = None,
    *,
    values: Sequence[int] | None = None,
    sensitivity: Number = 1,
    norm: Norm | None = None,
    size: int | None = None,
) -> Any:
    """A list of real answers of queries.

    Args:
        low: the least answer.
        high: the largest answer.
        values: the only answers that are compared, whole numbers one after the other: a verdict says nothing about the reals between them.
        sensitivity: by how much one answer may differ between neighbours; with a norm, all answers together.
        norm: what the changes of all answers together are measured in: ``l1``, their sum, or ``l2``, the root of the sum of their squares.
        size: the length of the list; without it, the question fixes it.

    >>> real_queries().real
    True
    >>> real_queries(norm="l2", sensitivity=3)
    real_queries(sensitivity=3, norm='l2')
    >>> real_queries(values=(0, 1))
    real_queries(values=(0, 1))
    >>> real_queries(values=(0, 1)).values
    (0, 1)
    """
    if norm is not None and norm not in NORMS:
        raise LanguageError(
            "input", f"norm={norm!r} is none of {', '.join(NORMS)}", place="real_queries", hint='norm="l2"'
        )
    if values is None:
        return _numbers("real_queries", "list", low, high, sensitivity, size, real=True, norm=norm)
    listed = tuple(values)
    text = _text("real_queries", values=listed, low=low, high=high, sensitivity=sensitivity, norm=norm, size=size)
    if norm is not None:
        raise LanguageError(
            "input", "values and a norm are both given", place=text, hint="drop values: all reals are compared"
        )
    if low is not None or high is not None:
        raise LanguageError(
            "input", "values and bounds are both given", place=text, hint=f"real_queries(values={listed})"
        )
    if (
        not listed
        or any(type(value) is not int for value in listed)
        or sorted(listed) != list(range(min(listed), min(listed) + len(listed)))
    ):
        hint = "values=(0, 1, 2); for halves double the answers, the sensitivity and the noise"
        raise LanguageError("input", "the values are not whole numbers one after the other", place=text, hint=hint)
    return replace(_numbers("queries", "list", min(listed), max(listed), sensitivity, size), text=text)


def integer(low: Number | None = None, high: Number | None = None, *, sensitivity: Number = 1) -> Any:
    """One integer; neighbours differ by at most the sensitivity.

    >>> integer(0, 5, sensitivity=2).within
    2
    """
    return _numbers("integer", "value", low, high, sensitivity)


def real(low: Number | None = None, high: Number | None = None, *, sensitivity: Number = 1) -> Any:
    """One real number; neighbours differ by at most the sensitivity."""
    return _numbers("real", "value", low, high, sensitivity, real=True)


def stream(low: Number | None = None, high: Number | None = None, *, sensitivity: Number = 1) -> Any:
    """Integer answers without end, one after the other, chosen by an observer who sees what was written so far."""
    return _numbers("stream", "stream", low, high, sensitivity)


def real_stream(low: Number | None = None, high: Number | None = None, *, sensitivity: Number = 1) -> Any:
    """Real answers without end."""
    return _numbers("real_stream", "stream", low, high, sensitivity, real=True)


def records(*values: object, size: int | None = None) -> Any:
    """A list of records, each one of the values given; neighbours differ in one record, in any way.

    >>> records("yes", "no").values
    ('yes', 'no')
    """
    return Input("list", _distinct("records", values), None, _text("records", *values, size=size), size=_size(size))


def rows(size: int | Input | None = None, **fields: Input) -> Any:
    """A list of records with named fields, read as ``r.age`` or ``r["age"]``; neighbours differ in one record, in any way.

    Args:
        size: the length of the list; without it, the question fixes it, or every length is meant.  Given as an input, a field of that name.
        fields: what each field may be: ``integer(...)``, ``real(...)`` or ``one_of(...)``.

    >>> rows(age=integer(0, 120), city=one_of("A", "B"))
    rows(age=integer(0, 120), city=one_of('A', 'B'))
    >>> rows(age=integer(0, 1), city=one_of("A", "B")).values[1]
    Row(age=0, city='B')
    """
    if isinstance(size, Input):
        fields, size = {"size": size, **fields}, None
    text = _text("rows", **fields, size=size)
    if not fields:
        raise LanguageError("input", "no field is given", place="rows", hint="rows(age=integer(0, 120))")
    for name, each in fields.items():
        if not isinstance(each, Input) or each.shape != "value" or each.public:
            asked = name in ("neighbours", "epsilon", "delta")
            hint = f"@mechanism({name}={each!r})" if asked else f"{name}=integer(0, 120), one_of('A', 'B')"
            raise LanguageError("input", f"{name}={each!r} is no field", place=text, hint=hint)
        if name.startswith("_") or name in ("keys", "items"):
            raise LanguageError("input", f"{name!r} is no name of a field", place=text, hint="a name of its own")
    values: tuple[Any, ...] | None = None
    listed = [each.values for each in fields.values()]
    if all(each is not None for each in listed) and prod(len(each or ()) for each in listed) <= _MOST_ROWS:
        made = product(*(each or () for each in listed))
        values = tuple(Row(**dict(zip(fields, each, strict=True))) for each in made)
    return Input("list", values, None, text, size=_size(size), fields=tuple(fields.items()))


def one_of(*values: object) -> Any:
    """One record: one of the values given; neighbours differ in any way."""
    return Input("value", _distinct("one_of", values), None, _text("one_of", *values))


def stream_of(*values: object) -> Any:
    """Records without end, each one of the values given; neighbours differ in one record, in any way."""
    return Input("stream", _distinct("stream_of", values), None, _text("stream_of", *values))


def public(declared: Input) -> Any:
    """The same input, but no secret: it is equal on both sides, and the claim is about each of its values.

    A public stream is what an observer asks for, request by request: ``requests: public(stream_of("low", "high"))``.

    >>> public(integer(0, 2))
    public(integer(0, 2))
    """
    if not isinstance(declared, Input):
        raise LanguageError(
            "input", f"public({declared!r}) declares no input", place="public", hint="public(integer(0, 2))"
        )
    return replace(declared, public=True, text=f"public({declared.text})")


def array(declared: Input) -> Any:
    """The same list, given to the function as an array of numpy; by itself for a parameter that is annotated as one.

    >>> array(records(0, 1))
    array(records(0, 1))
    """
    if not isinstance(declared, Input) or declared.shape != "list":
        raise LanguageError(
            "input", f"array({declared!r}) declares no list", place="array", hint="array(records(0, 1))"
        )
    return replace(declared, array=True, text=f"array({declared.text})")


FRAMES = ("pandas", "polars", "pyarrow")
"""The libraries whose tables can be declared."""


def frame(declared: Input, library: str = "pandas") -> Any:
    """The same rows, given to the function as a table: a data frame of pandas or polars, or a table of pyarrow.

    Args:
        declared: the rows; their fields are the columns.
        library: ``pandas``, ``polars`` or ``pyarrow``.

    >>> frame(rows(age=integer(0, 3), city=one_of("A", "B")))
    frame(rows(age=integer(0, 3), city=one_of('A', 'B')))
    """
    if not isinstance(declared, Input) or declared.shape != "list" or not declared.fields:
        raise LanguageError(
            "input", f"frame({declared!r}) declares no rows", place="frame", hint="frame(rows(age=integer(0, 3)))"
        )
    real = next((name for name, each in declared.fields if each.real), None)
    if real is not None:
        raise LanguageError(
            "input", f"{real} is any real number, and a table holds floats", place="frame", hint=f"{real}=integer(0, 3)"
        )
    if library not in FRAMES:
        raise LanguageError("input", f"library={library!r} has no tables", place="frame", hint=", ".join(FRAMES))
    more = "" if library == "pandas" else f", {library!r}"
    return replace(declared, frame=library, text=f"frame({declared.text}{more})")


def as_given(declared: Input, value: Any) -> Any:
    """A list as the function is given it: as a list, an array of numpy, or a table."""
    if declared.array:
        import numpy as np

        return np.array(list(value))
    if not declared.frame:
        return value
    library = importlib.import_module(declared.frame)
    make = library.table if declared.frame == "pyarrow" else library.DataFrame
    if value:
        return make({name: [row[name] for row in value] for name, _ in declared.fields})
    one = make({name: [(each.values or (0,))[0]] for name, each in declared.fields})  # columns of the right kinds
    return one.slice(0, 0) if declared.frame == "pyarrow" else one.head(0)


def _numbers(
    name: str,
    shape: Shape,
    low: Number | None,
    high: Number | None,
    sensitivity: Number,
    size: int | None = None,
    *,
    real: bool = False,
    norm: Norm | None = None,
) -> Input:
    bounds = [None if bound is None else rational(bound) for bound in (low, high)]
    within = rational(sensitivity)
    both = low is not None and high is not None
    bounds_shown = {} if both else {"low": low, "high": high}
    text = _text(name, *((low, high) if both else ()), **bounds_shown, sensitivity=sensitivity, norm=norm, size=size)
    if within <= 0:
        raise LanguageError(
            "input", f"sensitivity={sensitivity} is not above 0", place=text, hint="sensitivity=1; public(...) for 0"
        )
    if not real and any(bound.q != 1 for bound in bounds if bound is not None):
        raise LanguageError("input", "the bounds of an integer are integers", place=text, hint=f"real_{name}(...)")
    values: tuple[Any, ...] | None = None
    if bounds[0] is not None and bounds[1] is not None:
        if bounds[0] > bounds[1]:
            raise LanguageError("input", f"Cannot have high={high} < low={low}", place=text)
        if not real:
            values = tuple(range(int(bounds[0].p), int(bounds[1].p) + 1))
    return Input(shape, values, within, text, real=real, low=bounds[0], high=bounds[1], size=_size(size), norm=norm)


def _instead(name: str, declared: Input) -> str:
    """What to write where a declaration was given for the values of records."""
    if declared.shape != "value":
        return f"{declared!r} by itself"
    if declared.values is None:
        return f"rows(x={declared!r}), read as r.x"
    low, high = declared.values[0], declared.values[-1]
    return f"{name}(*range({low}, {high + 1}))" if declared.within is not None else f"{name}{declared.values!r}"


def _distinct(name: str, values: tuple[object, ...]) -> tuple[object, ...]:
    place = _text(name, *values)
    if len(values) == 1 and isinstance(values[0], tuple | list | range | set | frozenset):
        raise LanguageError("input", "the values are given one by one", place=place, hint=f'{name}("yes", "no")')
    if not values:
        raise LanguageError("input", "no value is given", place=place, hint=f'{name}("yes", "no")')
    for value in values:
        if isinstance(value, float):
            raise LanguageError("input", f"{value!r} is a float", place=place, hint=f'Fraction("{value!r}")')
        if isinstance(value, Input):
            raise LanguageError(
                "input", f"{value!r} is a declaration, not a value", place=place, hint=_instead(name, value)
            )
        if not is_plain(value):
            raise LanguageError(
                "input",
                f"{value!r} is a {type(value).__name__}",
                place=place,
                hint="numbers, texts, truth values, tuples",
            )
    if len({(type(value), value) for value in values}) < len(values) or len(set(values)) < len(values):
        raise LanguageError("input", "a value is given twice", place=place)
    return values


def is_plain(value: object) -> bool:
    """Whether a value is of Python's own types, and of no subclass."""
    if type(value) is tuple:
        return all(is_plain(item) for item in value)
    if type(value) is Row:
        return all(is_plain(item) for _, item in value.items())
    return type(value) in (bool, int, str, Fraction, type(None))


def _size(size: int | None) -> int | None:
    if size is not None and (type(size) is not int or size < 1):
        raise LanguageError("input", f"size={size!r} is not a whole number above 0", place="size", hint="size=3")
    return size


def _text(name: str, *arguments: object, **options: object) -> str:
    shown = [repr(argument) for argument in arguments]
    shown += [
        f"{key}={value!r}" if key == "norm" else f"{key}={value}"
        for key, value in options.items()
        if value is not None and (key, value) != ("sensitivity", 1)
    ]
    return f"{name}({', '.join(shown)})"
