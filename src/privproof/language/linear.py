"""Linear forms in noise: what a mechanism computes when its noise is left open.

A `Linear` is a number ``c + a_1 x_1 + ... + a_k x_k`` whose ``x_j`` are noises that have not been drawn, or inputs that have not been
chosen.  It can stand wherever the function handles a number: sums, multiples and comparisons work as they do in Python, and a comparison
asks the *decider* of the current run which way it goes.  What is no linear form (a product of two of them, rounding, a test for
equality, whose probability is zero) is refused with its place; or, where runs are compared side by side, becomes an `Opaque`
value: what was done to which forms, and nothing else.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import partialmethod
from numbers import Integral
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, TypeVar

from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, fraction, rational

Atom: TypeAlias = "int | str"
"""A noise by its number in the run, or an input by its name."""

Kind: TypeAlias = "type[int] | type[Fraction] | type[float]"
"""What a number is in Python, where noise is drawn and not left open."""

Terms: TypeAlias = tuple[tuple[Atom, Rational], ...]


def _refused(name: str) -> Callable[..., Any]:
    def refused(self: Any, *_: Any) -> NoReturn:
        refuse("linear", f"{name} of a noisy number", hint="leave it as it is, or compare it")

    return refused


def _beyond(operation: str, how: int, *, turned: bool = False) -> Callable[..., Any]:
    def done(self: Any, *others: Any) -> Any:
        if not all(map(_is_number, others)):
            return NotImplemented
        return beyond(operation, (*others, self) if turned else (self, *others), (_ROUNDED, _POWER)[how])

    return done


class _Noisy:
    """What all noisy numbers do alike: what a number in Python can do and they cannot is refused, and never an error."""

    __slots__ = ()

    if TYPE_CHECKING:

        def text(self) -> str:
            """The number as it is written in mathematics."""

    def __repr__(self) -> str:
        return self._told("repr")

    def __str__(self) -> str:
        return self._told("str")

    def __format__(self, spec: str) -> str:
        return self._told("format", spec)

    def _told(self, how: str, spec: str = "") -> str:
        """What stands for the text in a run that is under control; the text itself outside, and where it is printed."""
        control = _control.get()
        if control is not None:
            return control.formatted(self, how, spec)  # type: ignore[arg-type]
        frame = sys._getframe(2)
        if _decider.get() is not _undecided and not frame.f_code.co_filename.startswith(_PACKAGE):
            from privproof.language.formatting import reaches

            if reaches(frame) != "printed":
                refuse(
                    "text",
                    "the text of a noisy number is used",
                    hint="return the number itself: formatting what is released tells no more and no less",
                )
        return self.text()

    def __getattr__(self, name: str) -> Any:
        if name == _PACKED and _control.get() is not None:
            _pack(sys._getframe(1))
        numpy = sys.modules.get("numpy") if asked_by_function("numpy", "scipy") else None
        kinds = [float, int, Fraction, *([] if numpy is None else [numpy.float64])]
        known = any(hasattr(kind, name) for kind in kinds)
        if known and not name.startswith("__") and _control.get() is not None:
            refuse("attribute", f"{name} of a noisy number is asked for", hint="leave it as it is, or compare it")
        raise AttributeError(f"'float' object has no attribute {name!r}")

    def conjugate(self) -> Any:
        """The number itself, which is real."""
        return self

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self

    def __reduce_ex__(self, _: Any) -> Any:
        if _control.get() is None:
            return super().__reduce_ex__(2)
        refuse("text", "a noisy number is pickled", hint="return the number itself")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    __floordiv__, __rfloordiv__ = _beyond("//", 0), _beyond("//", 0, turned=True)
    __mod__, __rmod__ = _beyond("%", 0), _beyond("%", 0, turned=True)
    __pow__, __rpow__ = _beyond("**", 1), _beyond("**", 1, turned=True)
    __and__ = __rand__ = _refused("&")
    __or__ = __ror__ = _refused("|")
    __xor__ = __rxor__ = _refused("^")
    __lshift__ = __rlshift__ = _refused("<<")
    __rshift__ = __rrshift__ = _refused(">>")
    __invert__ = _refused("~")
    __complex__ = _refused("complex()")


_PACKED = "__array_struct__"
"""What numpy asks of every object that it puts into an array."""
_asking: ContextVar[str] = ContextVar("asking for kinds", default="")


def packing(asked: str) -> AbstractContextManager[None]:
    """Inside this context noise that is packed into an array of objects is refused, where something asks what arrays hold."""
    return _having(_asking, asked)


def _pack(frame: FrameType) -> None:
    """Refuses that a noisy number becomes an element of an array of objects, where that would be seen."""
    root = str(frame.f_globals.get("__name__")).partition(".")[0]
    if "site-packages" in frame.f_code.co_filename and root not in ("numpy", "scipy", "privproof"):
        refuse(
            "frame",
            f"a noisy number is put into an array by {root}, where it would count as an object and not as a number",
            hint="add noise to numbers, lists or arrays of numpy, and leave tables to what is done without noise",
            own=True,
        )
    if _asking.get():
        refuse(
            "kind",
            f"a noisy number is put into an array, and {_asking.get()} may ask whether that holds floats",
            hint="a list, or leave out what asks for kinds",
        )


def _is_number(value: Any) -> bool:
    """Whether a value is a real number, which noise may meet.

    Raises:
        LanguageError: it is a complex one.
    """
    return isinstance(_real(value), Linear | Opaque | int | float | Fraction | Integral)


def _real(value: Any) -> Any:
    if isinstance(value, complex):
        refuse("complex", "noise meets a complex number", hint="leave out what is not real")
    return value


def _common(one: Kind, other: Kind) -> Kind:
    """What a sum or a product is."""
    return float if float in (one, other) else Fraction if Fraction in (one, other) else int


def asked_by_function(*packages: str) -> bool:
    """Whether the function, and not what computes here or in some packages, asks what a noisy number is."""
    if _control.get() is None:
        return False
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "abc":
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(_PACKAGE):
        return False
    module = str(frame.f_globals.get("__name__"))
    if module == "fractions":
        return frame.f_code.co_name == "__new__"
    return module.split(".")[0] not in packages


_PACKAGE = str(Path(__file__).parent.parent)


class Linear(_Noisy):
    """A constant plus multiples of noises and inputs.

    >>> x, y = Linear.atom(0), Linear.atom(1)
    >>> 2 * (x - y) + 3
    2*x0 - 2*x1 + 3
    >>> (x + 1) - x
    1
    """

    __slots__ = ("constant", "kind", "terms")

    def __init__(self, terms: Mapping[Atom, Rational], constant: Rational, kind: Kind = float) -> None:
        self.terms = terms
        self.constant = constant
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return Linear, (dict(self.terms), self.constant)

    def __copy__(self) -> Linear:
        return self

    def __deepcopy__(self, _: Any) -> Linear:
        return self

    @classmethod
    def atom(cls, atom: Atom) -> Linear:
        """One noise or input by itself."""
        return cls({atom: ONE}, ZERO)

    @classmethod
    def of(cls, value: Any) -> Linear | None:
        """A number as a form; None if it is no number.

        A float counts with the exact value that it has, where the function runs as it is.  Where what runs stands for a translation,
        in which quotients are exact, it is refused.

        Raises:
            LanguageError: it is a float there, or not finite.
        """
        if isinstance(value, Linear):
            return value
        if isinstance(value, bool | int):
            return cls({}, rational(int(value)), int)
        if isinstance(value, Fraction | Rational):
            return cls({}, rational(value), Fraction)
        if isinstance(value, float):
            if _control.get() is None and not _floats_count.get():
                refuse("float", f"{value!r} is a float", hint=f'Fraction("{value!r}") for exactly that number')
            if not math.isfinite(value):
                refuse("float", f"noise meets {value!r}", hint="leave out what is not finite")
            return cls({}, rational(Fraction(value)))
        return cls({}, rational(int(value)), int) if isinstance(value, Integral) else None

    @property
    def noisy(self) -> bool:
        """Whether noise has a part in it."""
        return any(isinstance(atom, int) for atom in self.terms)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind if asked_by_function() else Linear

    def text(self) -> str:
        """The form as it is written in mathematics."""
        shown = ""
        for atom, factor in sorted(self.terms.items(), key=lambda term: (isinstance(term[0], str), str(term[0]))):
            name = f"x{atom}" if isinstance(atom, int) else atom
            size = name if abs(factor) == 1 else f"{abs(factor)}*{name}"
            sign = ("-" if factor < 0 else "") if not shown else (" - " if factor < 0 else " + ")
            shown += sign + size
        if self.constant != 0 or not shown:
            shown += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}" if shown else str(self.constant)
        return shown

    def _plus(self, other: Any, sign: int) -> Any:
        right = None if isinstance(other, Opaque) else Linear.of(_real(other))
        if right is None:
            return NotImplemented
        terms = dict(self.terms)
        for atom, factor in right.terms.items():
            total = terms.get(atom, ZERO) + sign * factor
            if total == 0:
                del terms[atom]
            else:
                terms[atom] = total
        return _simplest(Linear(terms, self.constant + sign * right.constant, _common(self.kind, right.kind)))

    def times(self, factor: Rational) -> Linear:
        """A multiple of the form."""
        if factor == 0:
            return Linear({}, ZERO, self.kind)
        return Linear({atom: a * factor for atom, a in self.terms.items()}, self.constant * factor, self.kind)

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Linear:
        return self.times(-ONE)

    def __pos__(self) -> Linear:
        return self

    def __mul__(self, other: Any) -> Any:
        right = Linear.of(_real(other))
        if right is None:
            return NotImplemented
        if right.terms and self.terms:
            return beyond(
                "*",
                (self, right),
                ("linear", "two values that depend on noise or on the data are multiplied", "multiply by constants"),
            )
        scaled = self.times(right.constant) if self.terms else right.times(self.constant)
        return _simplest(Linear(scaled.terms, scaled.constant, _common(self.kind, right.kind)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        right = Linear.of(_real(other))
        if right is None:
            return NotImplemented
        if right.terms:
            return beyond("/", (self, right), _DIVIDED)
        if right.constant == 0:
            raise ZeroDivisionError("division by zero")
        kind = float if self.kind is right.kind is int else _common(self.kind, right.kind)
        scaled = self.times(1 / right.constant)
        return _simplest(Linear(scaled.terms, scaled.constant, kind))

    def __rtruediv__(self, other: Any) -> Any:
        return beyond("/", (other, self), _DIVIDED)

    def __abs__(self) -> Linear:
        return self if self >= 0 else -self

    def _decided(self, other: Any, sign: int, *, strict: bool) -> Any:
        if isinstance(other, float) and not isinstance(other, Linear | Opaque) and not math.isfinite(other):
            return other < 0 if sign > 0 else other > 0  # noise is finite, and nothing compares to nan
        difference = self._plus(other, -1)
        if difference is NotImplemented:
            return NotImplemented
        form = Linear.of(difference)
        assert form is not None
        if not form.terms:
            value = sign * form.constant
            return value > 0 if strict else value >= 0
        return _decider.get()(form if sign > 0 else -form, strict)

    def __lt__(self, other: Any) -> Any:
        return self._decided(other, -1, strict=True)

    def __le__(self, other: Any) -> Any:
        return self._decided(other, -1, strict=False)

    def __gt__(self, other: Any) -> Any:
        return self._decided(other, 1, strict=True)

    def __ge__(self, other: Any) -> Any:
        return self._decided(other, 1, strict=False)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Opaque):
            return NotImplemented
        if isinstance(other, float) and not isinstance(other, Linear) and not math.isfinite(other):
            return False
        if Linear.of(_real(other)) is None:
            return NotImplemented
        difference = Linear.of(self._plus(other, -1))
        assert difference is not None
        if not difference.terms:
            return difference.constant == 0
        control = _control.get()
        if control is not None:
            return control.equal(difference)
        among = _equality.get()
        found = None if among is None else among(difference)
        if found is not None:
            return found
        what = "a noisy number" if difference.noisy else "a number that may be anything"
        refuse(
            "equality", f"{what} is tested for equality", hint="compare with < or >=; equal values have probability 0"
        )

    def __hash__(self) -> int:
        refuse("hash", "a noisy number is used as a key", hint="compare it and use the outcome")

    def __bool__(self) -> bool:
        control = _control.get()
        if control is not None:
            return not control.equal(self)
        refuse("truth", "a noisy number is used as a truth value", hint="compare it: x > 0")

    def _whole(self, how: str) -> int:
        control = _control.get()
        number = None if control is None else control.whole(self, how)
        if number is None:
            refuse("rounding", "a noisy number is used as a whole number", hint="leave it as it is, or round(x)")
        return number

    def __int__(self) -> int:
        return self._whole("int")

    def __index__(self) -> int:
        return self._whole("index")

    def _rounded(self, how: str, *others: Any) -> Any:
        control = _control.get()
        if control is None:
            stepped = _stepping.get()(self, how, *others)
            return beyond(how, (self, *others), _ROUNDED) if stepped is None else stepped
        number = None if others else control.whole(self, how)
        return beyond(how, (self, *others), _ROUNDED) if number is None else number

    def __round__(self, *digits: Any) -> Any:
        return self._rounded("round", *digits)

    def __floor__(self) -> Any:
        return self._rounded("floor")

    def __ceil__(self) -> Any:
        return self._rounded("ceil")

    def __trunc__(self) -> Any:
        return self._rounded("trunc")

    def __float__(self) -> float:
        refuse("float", "a noisy number becomes a float", hint="leave it as it is: it is one already when it runs")

    # What numpy calls on an array of such numbers.

    def rint(self) -> Any:
        """The number, rounded, and a float."""
        return self._rounded("rint")

    def exp(self) -> Any:
        """e to the number."""
        return beyond("exp", (self,), _POWER)

    def log(self) -> Any:
        """The logarithm of the number."""
        control = _control.get()
        if control is not None:
            control.refuse_logarithm("log", self)
        return beyond("log", (self,), _POWER)

    def sqrt(self) -> Any:
        """The root of the number."""
        return beyond("sqrt", (self,), _POWER)


_DIVIDED = ("linear", "a value is divided by one that depends on noise or on the data", "divide by constants")
_ROUNDED = ("rounding", "a noisy number is rounded or used as a whole number", "leave it as it is")
_POWER = ("linear", "a power of a value that depends on noise or on the data", "multiply by constants")


class Opaque(_Noisy):
    """What was done to forms that is no linear form: the operation and its parts.

    Two runs that do the same to equal forms have equal values here; nothing else is known about them.
    """

    __slots__ = ("operation", "parts")

    def __init__(self, operation: str, parts: tuple[Any, ...]) -> None:
        self.operation = operation
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return Opaque, (self.operation, self.parts)

    def __copy__(self) -> Opaque:
        return self

    def __deepcopy__(self, _: Any) -> Opaque:
        return self

    def text(self) -> str:
        """What was done, as a call."""
        return f"{self.operation}({', '.join(p.text() if isinstance(p, Linear | Opaque) else repr(p) for p in self.parts)})"

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        if asked_by_function():
            refuse(
                "type",
                "a rounded or multiplied noisy number is asked what it is",
                hint="leave it as it is: a number",
            )
        return Opaque

    def _compared(operation: str) -> Callable[[Opaque, Any], Any]:  # type: ignore[misc]
        def compared(self: Opaque, other: Any) -> Any:
            if not _is_number(other):
                return NotImplemented
            control = _control.get()
            if control is None:
                refuse("linear", f"{self.text()} is compared outside a run", hint="this is no number")
            return control.guess(Opaque(operation, (self, other)))

        return compared

    __lt__, __le__, __gt__, __ge__ = map(_compared, ("<", "<=", ">", ">="))
    __eq__, __ne__ = _compared("=="), _compared("!=")

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __hash__(self) -> int:
        refuse("hash", "a noisy number is used as a key", hint="compare it and use the outcome")

    def _done(operation: str, *, turned: bool = False) -> Callable[..., Any]:  # type: ignore[misc]
        def done(self: Opaque, *others: Any) -> Any:
            if not all(map(_is_number, others)):
                return NotImplemented
            return Opaque(operation, (*others, self) if turned else (self, *others))

        return done

    __add__, __sub__, __mul__, __truediv__ = map(_done, ("+", "-", "*", "/"))
    __radd__, __rsub__ = _done("+", turned=True), _done("-", turned=True)
    __rmul__, __rtruediv__ = _done("*", turned=True), _done("/", turned=True)
    __neg__, __abs__, __round__ = map(_done, ("neg", "abs", "round"))
    __floor__, __ceil__, __trunc__ = map(_done, ("floor", "ceil", "trunc"))
    rint, exp, log, sqrt = map(_done, ("rint", "exp", "log", "sqrt"))

    def __pos__(self) -> Opaque:
        return self

    def _number(self) -> NoReturn:
        refuse("rounding", "a noisy number is used as a whole number or a float", hint="leave it as it is")

    __int__ = __index__ = __float__ = _number


class Control(Protocol):
    """Says what happens where runs are compared side by side and something is done that is no linear form."""

    def guess(self, condition: Opaque) -> bool:
        """Whether a condition holds of which only the parts are known."""

    def equal(self, form: Linear) -> bool:
        """Whether a form is zero."""

    def whole(self, form: Linear, how: str) -> int | None:
        """A form as a whole number, where its noise can be drawn for that; None if not."""

    def refuse_logarithm(self, name: str, value: Linear | Opaque) -> None:
        """Refuse the logarithm of a uniform number."""

    def formatted(self, value: Linear | Opaque, how: str, spec: str) -> str:
        """What stands for the text of a value; may refuse."""

    def refused(self, problem: LanguageError) -> None:
        """Take note that something was refused: the function may catch it and go on as no run would."""


_control: ContextVar[Control | None] = ContextVar("control", default=None)


T = TypeVar("T")


@contextmanager
def _having(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def opaque_forms(control: Control) -> AbstractContextManager[None]:
    """Inside this context what is no linear form is opaque, and the control decides what has to be decided about it."""
    return _having(_control, control)


def beyond(operation: str, parts: tuple[Any, ...], refusal: tuple[str, str, str]) -> Any:
    """What is no linear form: an opaque value where runs are compared, or where it may be shown; refused elsewhere."""
    if _control.get() is None and not _unseen.get():
        code, message, hint = refusal
        refuse(code, message, hint=hint)
    kinds = [part.kind.__name__ for part in parts if isinstance(part, Linear) and part.kind is not float]
    return Opaque(f"{operation} of {', '.join(kinds)}" if kinds else operation, parts)


def _simplest(form: Linear) -> Any:
    """A form without atoms is a number: what it is in a run, elsewhere exact, and whole where it can be."""
    if form.terms:
        return form
    if _control.get() is not None:
        return form.kind(fraction(form.constant))
    return Whole(int(form.constant.p)) if form.constant.q == 1 else fraction(form.constant)


class Whole(int):
    """A whole number whose quotients are exact: ``Whole(1) / 3`` is ``Fraction(1, 3)``.

    >>> 2 / Whole(3), (Whole(2) * 3 + 1) / 2, range(Whole(2))
    (Fraction(2, 3), Fraction(7, 2), range(0, 2))
    """

    def __truediv__(self, other: Any) -> Any:
        return Fraction(int(self)) / other if isinstance(other, int | Fraction) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return Fraction(int(other)) / int(self) if isinstance(other, int) else NotImplemented

    def _kept(operation: Callable[[int, Any], Any]) -> Callable[[Whole, Any], Any]:  # type: ignore[misc]
        def applied(self: Whole, other: Any) -> Any:
            result = operation(int(self), other)
            return Whole(result) if type(result) is int else result

        return applied

    __add__, __radd__ = _kept(int.__add__), _kept(int.__radd__)
    __sub__, __rsub__ = _kept(int.__sub__), _kept(int.__rsub__)
    __mul__, __rmul__ = _kept(int.__mul__), _kept(int.__rmul__)
    __floordiv__, __rfloordiv__ = _kept(int.__floordiv__), _kept(int.__rfloordiv__)
    __mod__, __rmod__ = _kept(int.__mod__), _kept(int.__rmod__)

    def __neg__(self) -> Whole:
        return Whole(-int(self))

    def __abs__(self) -> Whole:
        return Whole(abs(int(self)))


class Ratio(Fraction):
    """A noisy number that is given exactly, and that prints in the formats of a float."""

    def __format__(self, specification: str) -> str:
        return format(float(self), specification)

    def rint(self) -> Ratio:
        """The next whole number, by which numpy rounds."""
        return Ratio(round(self))


def _as_ratio(name: str) -> Any:
    compute = getattr(Fraction, name)

    def applied(self: Fraction, *others: Any) -> Any:
        finite = (Fraction(o) if type(o) is float and math.isfinite(o) else o for o in others)
        found = compute(self, *finite)
        return Ratio(found) if type(found) is Fraction else found

    return applied


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg", "pos", "abs"):
    setattr(Ratio, f"__{_name}__", _as_ratio(f"__{_name}__"))


CURVES = ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh")
"""Functions of one number, by the names that they have in Python's and in numpy's library."""


def curve(name: str, value: Any) -> float:
    """The value of one of these functions at a number, by the library that is named.

    >>> curve("math.sqrt", 4), curve("numpy.exp", 1000)
    (2.0, inf)
    """
    library, _, function = name.rpartition(".")
    if library == "math":
        return float(getattr(math, function)(float(value)))
    import numpy

    with numpy.errstate(all="ignore"):
        return float(getattr(numpy, function)(float(value)))


for _name in CURVES:
    setattr(
        Ratio, _name, partialmethod(lambda self, name: curve(name, self), f"numpy.{_name}")
    )  # numpy asks the number itself


def exactly(value: Any) -> Any:
    """A value in which whole numbers divide exactly."""
    if type(value) is int:
        return Whole(value)
    if isinstance(value, list | tuple):
        return type(value)(exactly(item) for item in value)
    return value


class _Beside(Whole):
    """A whole number that floats are computed with exactly."""


def _with_floats(name: str) -> Any:
    compute = getattr(Whole, name)

    def applied(self: _Beside, other: Any) -> Any:
        if type(other) is float and math.isfinite(other):
            return getattr(Ratio(int(self)), name)(other)
        found = compute(self, other)
        return _Beside(found) if type(found) is Whole else found

    return applied


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(_Beside, f"__{_name}__", _with_floats(f"__{_name}__"))


def beside_floats(value: Any) -> Any:
    """A value that floats are computed with exactly.

    >>> beside_floats(Fraction(1, 3)) + 0.5, 0.1 + beside_floats(0) == Fraction(0.1), beside_floats([2])[0] + 1
    (Ratio(5, 6), True, 3)
    """
    if isinstance(value, list | tuple):
        return type(value)(beside_floats(item) for item in value)
    if type(value) is int:
        return _Beside(value)
    return Ratio(value) if type(value) is Fraction else value


def _undecided(form: Linear, strict: bool) -> bool:  # noqa: FBT001
    raise LanguageError("linear", f"{form} is compared outside a run", hint="this is a form, not a number")


_decider: ContextVar[Callable[[Linear, bool], bool]] = ContextVar("decider", default=_undecided)


_equality: ContextVar[Callable[[Linear], bool | None] | None] = ContextVar("equality", default=None)
_stepping: ContextVar[Callable[..., Linear | Opaque | None]] = ContextVar("stepping", default=lambda *_: None)
_unseen: ContextVar[bool] = ContextVar("unseen", default=False)
_floats_count: ContextVar[bool] = ContextVar("floats count", default=False)


def floats_count() -> bool:
    """Whether floats count with the exact values that they have."""
    return _floats_count.get()


def showing_unseen() -> AbstractContextManager[None]:
    """Inside this context what is no linear form is opaque: it may be shown, and an event says nothing about it."""
    return _having(_unseen, True)  # noqa: FBT003 - the value of a variable


def counting_floats() -> AbstractContextManager[None]:
    """Inside this context floats count with the exact values that they have, also beside noise that is left open."""
    return _having(_floats_count, True)  # noqa: FBT003 - the value of a variable


@contextmanager
def deciding(
    decider: Callable[[Linear, bool], bool],
    equality: Callable[[Linear], bool | None] | None = None,
    stepping: Callable[..., Linear | Opaque | None] = lambda *_: None,
) -> Iterator[None]:
    """Inside this context the decider says whether a form is above zero (strictly, or not).

    Args:
        decider: says so.
        equality: says whether a form is zero, or None where it does not; without an answer such a test is refused.
        stepping: a form as it is rounded, by the name of what rounds it and the number of digits; None where that is refused.
    """
    with _having(_decider, decider), _having(_equality, equality), _having(_stepping, stepping):
        yield


def calling_frame() -> FrameType:
    """Where the mechanism is: the innermost frame outside this package's language."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame


_HERE = str(Path(__file__).parent)


def refuse(code: str, message: str, *, hint: str, own: bool = False) -> NoReturn:
    """Refuse what the function does, with the line of the function that does it, or (own) that has a library do it."""
    frame = calling_frame()
    while own and frame.f_back is not None and "site-packages" in frame.f_code.co_filename:
        frame = frame.f_back
    raise note_problem(LanguageError(code, message, place=f"{frame.f_code.co_filename}:{frame.f_lineno}", hint=hint))


def note_problem(problem: LanguageError) -> LanguageError:
    """A problem, of which the run that is under way has taken note, whoever catches it."""
    control, refusals = _control.get(), _refusals.get()
    if control is not None:
        control.refused(problem)
    if refusals is not None:
        refusals.append(problem)
    return problem


_refusals: ContextVar[list[LanguageError] | None] = ContextVar("refusals", default=None)


@contextmanager
def noting_refusals() -> Iterator[list[LanguageError]]:
    """Inside this context all refusals are listed: a function that catches one goes a way that no run goes."""
    found: list[LanguageError] = []
    with _having(_refusals, found):
        yield found
