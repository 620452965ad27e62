"""What stands for the generators of random numbers of Python's libraries, each method with the ideal noise that it names.

Every method asks the run that is under way for its values, as this package's own noise functions do.  The numbers stand for the ideal
distributions: what floating point makes of them is another matter.  What is no noise that is known is refused by its name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, NoReturn

from privproof.language import laws
from privproof.language.linear import Linear, Opaque, Ratio, asked_by_function, refuse
from privproof.language.noise import bernoulli, draw_from, exponential, gaussian, geometric, gumbel, laplace, uniform
from privproof.language.trees import playing

_BITS = 16
"""Random bits that are drawn at once as one whole number, each value with its probability; more are refused."""


class _Uniform:
    """A uniform number in a run in which nothing stays open: it is drawn as far as it is looked at.

    Args:
        ends: what is known of the number between 0 and 1 that it is made of: all multiples of one number share it.
        factor: what this is multiplied by.
        offset: what is added then.
    """

    def __init__(self, ends: list[Fraction] | None = None, factor: Any = 1, offset: Any = 0) -> None:
        self.ends = [Fraction(0), Fraction(1)] if ends is None else ends
        self.factor, self.offset = Fraction(factor), Fraction(offset)

    def _above(self, bound: Any) -> bool:
        """Whether the number is above another one; a tie has probability zero."""
        at, (low, high) = (_exact(bound) - self.offset) / self.factor, self.ends
        if self.factor != 1 or self.offset != 0:
            at = min(max(at, Fraction(0)), Fraction(1))
        if (low > 0 or high < 1) and not low < at < high:
            return (at <= low) == (self.factor > 0)
        below = bernoulli((at - low) / (high - low))
        self.ends[:] = [low, at] if below else [at, high]
        return below != (self.factor > 0)

    def _below(self, bound: Any) -> bool:
        return not self._above(bound)

    __lt__ = __le__ = _below
    __gt__ = __ge__ = _above

    def __add__(self, other: Any) -> _Uniform:
        return _Uniform(self.ends, self.factor, self.offset + _exact(other))

    def __sub__(self, other: Any) -> _Uniform:
        return _Uniform(self.ends, self.factor, self.offset - _exact(other))

    def __mul__(self, other: Any) -> Any:
        number = _exact(other)
        return _Uniform(self.ends, self.factor * number, self.offset * number) if number else 0.0

    __radd__, __rmul__ = __add__, __mul__

    def __getattr__(self, name: str) -> NoReturn:
        refuse("uniform", "a uniform number is used for more than a comparison", hint="random() < p")


class _Trials:
    """The number of trials up to a success, and what is added to it: less another such number it is two-sided geometric noise.

    The difference of two independent ones is k with probability ``p/(2-p) (1-p)^|k|``.  Each may be used once.

    Args:
        share: the probability p of a success.
        offset: what is added.
    """

    def __init__(self, share: Any, offset: Any = 0, used: list[bool] | None = None) -> None:
        self.share, self.offset, self.used = _exact(share), offset, [False] if used is None else used
        if not 0 < self.share <= 1:
            raise ValueError("p must be between 0 and 1, and not 0")

    def __add__(self, other: Any) -> _Trials:
        return self.__getattr__("+") if isinstance(other, _Trials) else self._moved(other)

    __radd__ = __add__

    def _moved(self, by: Any) -> _Trials:
        return _Trials(self.share, self.offset + by, self.used)

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, _Trials):
            return self._moved(-other)
        if self.share != other.share or self.share == 1 or self.used == [True] or other.used == [True]:
            self.__getattr__("-")
        if self.used is other.used:
            return self.offset - other.offset
        self.used[:] = other.used[:] = [True]
        return self.offset - other.offset + geometric(0, alpha=1 - self.share)

    def __rsub__(self, other: Any) -> NoReturn:
        self.__getattr__("-")

    def __getattr__(self, name: str) -> NoReturn:
        refuse(
            "geometric",
            "one-sided geometric noise is used for more than one difference",
            hint="x + rng.geometric(p) - rng.geometric(p)",
        )


def _unit() -> Any:
    player = playing()
    return _Uniform() if player is None else player.unit()


def _normal(center: Any, *, scale: Any) -> Any:
    return gaussian(center, sigma=scale)


def unknown_generator_call(
    name: str, hint: str = "random, uniform, integers, choice, laplace, normal, exponential, geometric"
) -> Callable[..., NoReturn]:
    def refused(*_: Any, **__: Any) -> NoReturn:
        refuse("noise", f"{name} is no noise that is recognised", hint=hint)

    return refused


def _unseeded(*given: Any, **named: Any) -> None:
    """Refuse a seed: noise that is the same in every run hides nothing."""
    seeds = [each for each in (*given, *named.values()) if each is not None and not isinstance(each, _BITS_KINDS)]
    if seeds and playing() is not None:
        refuse(
            "seed",
            "the noise is seeded inside the function, so that it is the same in every run",
            hint="leave the seed out, or make the generator outside of the function",
        )


def _kept_state(*_: Any) -> NoReturn:
    """Refuse what makes noise come again."""
    refuse(
        "seed",
        "the state of a generator is read, set or copied, so that its noise may come again",
        hint="draw from the generator itself",
    )


def _exact(value: Any) -> Fraction:
    """A number that noise is made of, a float with its exact value."""
    if isinstance(value, Linear | Opaque):
        refuse("noise", "noise depends on noise in a way that has no table", hint="numbers that do not depend on noise")
    number = value if isinstance(value, int | float | Fraction) else value.item()
    if isinstance(number, float) and not math.isfinite(number):  # libraries draw nan or inf, or raise, as they like
        refuse("noise", f"noise is made with {number}", hint="finite numbers")
    return Fraction(number)


def _table(values: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
    """One of some values, by weights that need not sum to one."""
    shares = [Fraction(1)] * len(values) if weights is None else [_exact(weight) for weight in weights]
    if len(shares) != len(values) or not values or any(share < 0 for share in shares) or sum(shares) <= 0:
        raise ValueError("a choice needs values, and as many weights that are not negative and not all zero")
    total = sum(shares, Fraction(0))
    places = draw_from(laws.TableLaw(tuple((i, share / total) for i, share in enumerate(shares))))
    return values[places]


def _below(limit: Any) -> int:
    number = int(limit)
    if number < 1:
        raise ValueError("there is no whole number below 1 here")
    return uniform(0, number - 1)


def _bits(count: int) -> int:
    if count > _BITS:
        refuse(
            "noise",
            f"{count} random bits are drawn at once",
            hint=f"at most {_BITS}: random.randrange(n), random.random()",
        )
    return uniform(0, 2**count - 1) if count else 0


PYTHON: Mapping[str, Callable[..., Any]] = {
    "random": lambda self: _unit(),
    "_randbelow": lambda self, n: _below(n),
    "getrandbits": lambda self, k: _bits(k),
    "randbytes": lambda self, n: unknown_generator_call("randbytes")(),
    "expovariate": lambda self, lambd=1.0: exponential(0, scale=1 / _exact(lambd)),
    "seed": lambda self, a=None, version=2: _unseeded(a),
    "getstate": lambda self: _kept_state(),
    "setstate": lambda self, state: _kept_state(),
    "choice": lambda self, seq: seq[_below(len(seq))],
    "choices": lambda self, population, weights=None, *, cum_weights=None, k=1: [
        _table(list(population), weights if cum_weights is None else _differences(cum_weights)) for _ in range(k)
    ],
    "gauss": lambda self, mu=0.0, sigma=1.0: _scaled(_normal, mu, _either_sign(sigma)),
    "normalvariate": lambda self, mu=0.0, sigma=1.0: _scaled(_normal, mu, _either_sign(sigma)),
    **{
        name: unknown_generator_call(f"random.{name}")
        for name in ("betavariate", "gammavariate", "lognormvariate", "paretovariate", "triangular")
    },
    **{
        name: unknown_generator_call(f"random.{name}")
        for name in ("vonmisesvariate", "weibullvariate", "binomialvariate")
    },
}
"""The methods of ``random.Random`` that draw; its other methods are made of these."""


def _differences(sums: Sequence[Any]) -> list[Fraction]:
    exact = [_exact(each) for each in sums]
    return [after - before for before, after in zip([Fraction(0), *exact], exact, strict=False)]


class Bits:
    """What stands for a source of random bits of numpy while a generator is made from it; its bits are refused."""

    def __init__(self, *seed: Any, **named: Any) -> None:
        _unseeded(*seed, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return unknown_generator_call(f"numpy.random: {name}")


class _Stands(type):
    """The class of what stands for generators: numpy's own are instances of it too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or type(instance) in numpy_generators()


class Generator(metaclass=_Stands):
    """A generator of numpy whose values are asked of the run under way; also for the functions of ``numpy.random``."""

    def __init__(self, *seed: Any, **named: Any) -> None:
        _unseeded(*seed, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return unknown_generator_call(f"numpy.random: {name}")

    __copy__ = __deepcopy__ = __reduce_ex__ = _kept_state

    @property
    def bit_generator(self) -> Any:
        _kept_state()

    def _filled(self, size: Any, draw: Callable[..., Any], *arguments: Any, kind: Any = None) -> Any:
        """One number, or an array of them; arguments that are arrays are taken element by element."""
        import numpy as np

        spread = np.broadcast_arrays(*[np.asarray(a, dtype=object) for a in arguments]) if arguments else []
        shape = size if size is not None else spread[0].shape if spread else ()
        if size is None and (not spread or spread[0].shape == ()):
            drawn = draw(*(_item(a) for a in arguments))
            return drawn if kind in (None, "int64") else bool(drawn) if kind is bool else np.dtype(kind).type(drawn)
        shape = (shape,) if isinstance(shape, int) or hasattr(shape, "__index__") else tuple(shape)
        spread = [np.broadcast_to(each, shape) for each in spread]
        result = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            result[place] = draw(*(each[place] for each in spread))
        return floats(result) if kind is None else result.astype(kind)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        _nothing(out)
        return self._filled(size, _unit)

    random_sample = ranf = sample = random

    def rand(self, *shape: int) -> Any:
        return self._filled(shape or None, _unit)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda a, b: _exact(a) + (_exact(b) - _exact(a)) * _unit(), low, high)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda a, b: _scaled(laplace, a, b), loc, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda a, b: _scaled(gumbel, a, b), loc, scale)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda a, b: _scaled(_normal, a, b), loc, scale)

    def standard_normal(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        _nothing(out)
        return self._filled(size, lambda: gaussian(0, sigma=1))

    def randn(self, *shape: int) -> Any:
        return self._filled(shape or None, lambda: gaussian(0, sigma=1))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda b: _scaled(exponential, 0, b), scale)

    def standard_exponential(self, size: Any = None, dtype: Any = None, method: str = "zig", out: Any = None) -> Any:
        _nothing(out)
        return self._filled(size, lambda: exponential(0, scale=1))

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = "int64", endpoint: Any = 0) -> Any:
        first, last = (0, low) if high is None else (low, high)
        between = lambda a, b: _whole(a) + _below(_whole(b) - _whole(a) + int(endpoint))  # noqa: E731
        return self._filled(size, between, first, last, kind=dtype)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        return self.integers(low, high, size, "int64" if dtype is int else dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        first, last = (1, low) if high is None else (low, high)
        return self.integers(first, last, size, endpoint=True)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._filled(size, _binomial, n, p, kind="int64")

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._filled(size, _Trials, p)

    def choice(self, a: Any, size: Any = None, replace: Any = 1, p: Any = None, axis: int = 0, shuffle: Any = 1) -> Any:
        import numpy as np

        values = _listed(a)
        if axis != 0 or (not replace and (p is not None or not shuffle) and size is not None):
            unknown_generator_call("choice(replace=False, p=..., shuffle=False, axis=1)")()
        weights = None if p is None else _probabilities(p)
        if size is None:
            drawn = _table(values, weights)
            return int(drawn) if hasattr(a, "__index__") else drawn
        if not replace:
            count = int(math.prod(np.atleast_1d(size)))
            if count > len(values):
                raise ValueError("Cannot take a larger sample than population when replace is False")
            return np.asarray(_sampled(values, count)).reshape(size)
        shape = (size,) if hasattr(size, "__index__") else tuple(size)
        listed = [_table(values, weights) for _ in range(math.prod(shape))]
        return np.asarray(listed).reshape((*shape, *np.shape(values[0])))

    def permutation(self, x: Any, axis: int = 0) -> Any:
        import numpy as np

        if axis != 0:
            unknown_generator_call("permutation(axis=1)")()
        values = _listed(x)
        return np.asarray(_sampled(values, len(values)))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if axis != 0:
            unknown_generator_call("shuffle(axis=1)")()
        x[:] = _sampled([each.copy() if hasattr(each, "shape") else each for each in x], len(x))

    def seed(self, *seed: Any, **named: Any) -> None:
        """Nothing: the values are asked of the run."""
        _unseeded(*seed, **named)


_BITS_KINDS = (Bits, Generator)
_SUMS_TO_ONE = Fraction(1, 10**7)
"""Probabilities of floats that miss 1 by more than this are an error for numpy, which takes them as they are; ours is no narrower."""


def _nothing(out: Any) -> None:
    if out is not None:
        unknown_generator_call("drawing into an array (out=...)")()


def _listed(values: Any) -> list[Any]:
    """The values that numpy chooses from, as it holds them: the whole numbers below a number, or the elements of an array."""
    import numpy as np

    if isinstance(values, int) or hasattr(values, "__index__"):
        return list(np.arange(int(values)))
    noisy = any(isinstance(each, Linear | Opaque) for each in values)
    return list(values) if noisy else list(np.asarray(values))


def _probabilities(p: Any) -> list[Fraction]:
    shares = [_exact(each) for each in p]
    if abs(sum(shares, Fraction(0)) - 1) > _SUMS_TO_ONE:
        raise ValueError("probabilities do not sum to 1")
    return shares


def _whole(value: Any) -> int:
    """A bound of whole numbers; numpy rounds no other number here."""
    if isinstance(value, Linear | Opaque) or _exact(value).denominator != 1:
        unknown_generator_call(f"a random whole number below {value}")()
    return int(value)


def numpy_generators() -> tuple[Any, ...]:
    mtrand, generators = sys.modules.get("numpy.random.mtrand"), sys.modules.get("numpy.random._generator")
    return () if mtrand is None or generators is None else (generators.Generator, mtrand.RandomState)


def _item(value: Any) -> Any:
    if isinstance(value, Linear | Opaque):
        return value
    return value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value


def _either_sign(sigma: Any) -> Any:
    """The standard deviation for ``random``, which multiplies by what it is given: noise that is symmetric has no sign."""
    return sigma if isinstance(sigma, Linear | Opaque) else abs(_exact(sigma))


def _scaled(noise: Callable[..., Any], center: Any, scale: Any) -> Any:
    """Noise of a scale that may be zero, and for numpy not the zero of floats that is negative."""
    if not isinstance(scale, Linear | Opaque) and _exact(scale) <= 0:
        if math.copysign(1, scale) < 0:
            raise ValueError("scale < 0")
        return _item(center)
    if isinstance(scale, Linear | Opaque):
        return noise(_item(center), scale=scale)
    middle = _item(center)
    return noise(Fraction(middle) if type(middle) is float and math.isfinite(middle) else middle, scale=_exact(scale))


def _binomial(n: Any, p: Any) -> int:
    count, share = _whole(n), _exact(p)
    if not 0 <= share <= 1:
        raise ValueError("p < 0, p > 1 or p is NaN")
    weights = [math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(count + 1)]
    drawn: int = _table(list(range(count + 1)), weights)
    return drawn


def _sampled(values: list[Any], count: int) -> list[Any]:
    """So many of some values, in random order."""
    left = list(values)
    return [left.pop(_below(len(left))) for _ in range(count)]


def rvs(self: Any, *arguments: Any, random_state: Any = None, **named: Any) -> Any:
    """What ``scipy.stats.NAME.rvs`` draws."""
    _unseeded(random_state)
    known: Any = getattr(sys.modules["scipy.stats"], str(self.name), None)
    name = str(self.name) if type(known) is type(self) else ""
    given = dict(zip((*_SHAPES.get(name, ()), "size"), arguments, strict=False)) | named
    generator = Generator()
    loc, scale, size = given.get("loc", 0), given.get("scale", 1), given.get("size")
    match name:
        case "laplace":
            return generator.laplace(loc, scale, size)
        case "expon":
            return generator._filled(size, lambda a, b: _scaled(exponential, a, b), loc, scale)
        case "uniform":
            return generator._filled(size, lambda a, b: _exact(a) + _exact(b) * _unit(), loc, scale)
        case "bernoulli":
            return generator._filled(size, lambda p, a: int(bernoulli(_exact(p))) + a, given["p"], loc, kind="int64")
        case "binom":
            return generator._filled(
                size, lambda n, p, a: _binomial(n, p) + a, given["n"], given["p"], loc, kind="int64"
            )
        case "randint":
            drawn = lambda low, high, a: _whole(low) + _below(_whole(high) - _whole(low)) + a  # noqa: E731
            return generator._filled(size, drawn, given["low"], given["high"], loc, kind="int64")
        case "gumbel_r":
            return generator.gumbel(loc, scale, size)
        case "norm":
            return generator.normal(loc, scale, size)
        case "geom":
            return generator._filled(size, lambda p, a: _Trials(p, a), given["p"], loc)
        case _:
            return unknown_generator_call(f"scipy.stats.{self.name}")()


_SHAPES = {
    "laplace": ("loc", "scale"),
    "norm": ("loc", "scale"),
    "gumbel_r": ("loc", "scale"),
    "expon": ("loc", "scale"),
    "uniform": ("loc", "scale"),
    "bernoulli": ("p", "loc"),
    "binom": ("n", "p", "loc"),
    "geom": ("p", "loc"),
    "randint": ("low", "high", "loc"),
}
"""The arguments of the distributions of scipy, in order."""


def floats(array: Any) -> Any:
    """An array of objects that stands for one of floats: numbers that are put into it become floats, noisy numbers stay."""
    import numpy as np

    if not _FLOATS:

        class Floats(np.ndarray):
            stands_for_floats = True

            @property
            def dtype(self) -> Any:
                return np.dtype(float) if asked_by_function("numpy", "scipy") else np.ndarray.dtype.__get__(self)

            def __setitem__(self, key: Any, value: Any) -> None:
                super().__setitem__(key, np.frompyfunc(as_float, 1, 1)(value))

        _FLOATS.append(Floats)
    return np.asarray(np.frompyfunc(as_float, 1, 1)(array), dtype=object).view(_FLOATS[0])


def as_float(value: Any) -> Any:
    """A number as an array of floats holds it."""
    exact = isinstance(value, Linear | Opaque | Ratio) or not isinstance(value, Real)
    return value if exact else float(value)


_FLOATS: list[type] = []
"""The class of such arrays, which is made when numpy is there."""
