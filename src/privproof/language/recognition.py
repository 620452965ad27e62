"""Randomness of Python's libraries, recognised as the ideal noise that it names.

While a function runs under control, the functions of ``random``, ``secrets``, ``numpy.random`` and ``scipy.stats`` ask the run that is
under way for their values, as this package's own noise functions do.  They are replaced in their modules, in the functions' own modules
where they were imported by name, and generators that are kept in a module, a default or an object are replaced as well.  What cannot
be replaced changes its state when it is used, which `language.state` finds.

The numbers stand for the ideal distributions: what floating point makes of them is another matter.
"""

from __future__ import annotations

import builtins
import logging
import math
import random
import secrets
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any, NoReturn

from privproof.errors import LanguageError
from privproof.language import laws
from privproof.language.linear import Linear, Opaque, refuse
from privproof.language.noise import bernoulli, drawn, exponential, laplace, uniform
from privproof.language.trees import playing

_BITS = 16
"""Random bits that are drawn at once as one whole number, each value with its probability; more are refused."""


class _Uniform:
    """A number between 0 and 1 in a run in which nothing stays open: it is compared once, with a probability."""

    def __init__(self) -> None:
        self.compared = False

    def _below(self, bound: Any) -> bool:
        if self.compared:
            refuse("uniform", "a uniform number is compared twice", hint="random() < p")
        self.compared = True
        return bernoulli(_exact(bound))

    __lt__ = __le__ = _below

    def __gt__(self, bound: Any) -> bool:
        return not self._below(bound)

    __ge__ = __gt__

    def __getattr__(self, name: str) -> NoReturn:
        refuse("uniform", "a uniform number is used for more than a comparison", hint="random() < p")


def _unit() -> Any:
    player = playing()
    return _Uniform() if player is None else player.unit()


def _gaussian(*_: Any, **__: Any) -> NoReturn:
    refuse(
        "gaussian",
        "Gaussian noise is drawn, for which there is no engine yet",
        hint="laplace noise, or privproof audit",
    )


def _unknown(name: str) -> Callable[..., NoReturn]:
    def refused(*_: Any, **__: Any) -> NoReturn:
        refuse(
            "noise",
            f"{name} is no noise that is recognised",
            hint="random, uniform, integers, choice, laplace, exponential",
        )

    return refused


def _exact(value: Any) -> Fraction:
    """A number that noise is made of, a float with its exact value."""
    if isinstance(value, Linear | Opaque):
        refuse("noise", "noise depends on noise in a way that has no table", hint="numbers that do not depend on noise")
    return Fraction(value if isinstance(value, int | float | Fraction) else value.item())


def _table(values: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
    """One of some values, by weights that need not sum to one."""
    shares = [Fraction(1)] * len(values) if weights is None else [_exact(weight) for weight in weights]
    if len(shares) != len(values) or not values or any(share < 0 for share in shares) or sum(shares) <= 0:
        raise ValueError("a choice needs values, and as many weights that are not negative and not all zero")
    total = sum(shares, Fraction(0))
    places = drawn(laws.Table(tuple((i, share / total) for i, share in enumerate(shares))))
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


# ------------------------------------------------------------------------------------------------------------ random


_PYTHON: Mapping[str, Callable[..., Any]] = {
    "random": lambda self: _unit(),
    "_randbelow": lambda self, n: _below(n),
    "getrandbits": lambda self, k: _bits(k),
    "randbytes": lambda self, n: _unknown("randbytes")(),
    "expovariate": lambda self, lambd=1.0: exponential(0, scale=1 / _exact(lambd)),
    "seed": lambda self, *_, **__: None,
    "choice": lambda self, seq: seq[_below(len(seq))],
    "choices": lambda self, population, weights=None, *, cum_weights=None, k=1: [
        _table(list(population), weights if cum_weights is None else _differences(cum_weights)) for _ in range(k)
    ],
    **dict.fromkeys(("gauss", "normalvariate"), _gaussian),
    **{
        name: _unknown(f"random.{name}")
        for name in ("betavariate", "gammavariate", "lognormvariate", "paretovariate", "triangular")
    },
    **{name: _unknown(f"random.{name}") for name in ("vonmisesvariate", "weibullvariate", "binomialvariate")},
}
"""The methods of ``random.Random`` that draw; its other methods are made of these."""


def _differences(sums: Sequence[Any]) -> list[Fraction]:
    exact = [_exact(each) for each in sums]
    return [after - before for before, after in zip([Fraction(0), *exact], exact, strict=False)]


# ------------------------------------------------------------------------------------------------------------- numpy


class _Generator:
    """A generator of numpy whose values are asked of the run under way; also for the functions of ``numpy.random``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _gaussian if name in _NORMAL else _unknown(f"numpy.random: {name}")

    def _filled(self, size: Any, draw: Callable[..., Any], *arguments: Any) -> Any:
        """One number, or an array of them; arguments that are arrays are taken element by element."""
        import numpy as np

        spread = np.broadcast_arrays(*[np.asarray(a, dtype=object) for a in arguments]) if arguments else []
        shape = size if size is not None else spread[0].shape if spread else ()
        if size is None and (not spread or spread[0].shape == ()):
            return draw(*(_item(a) for a in arguments))
        shape = (shape,) if isinstance(shape, int) or hasattr(shape, "__index__") else tuple(shape)
        spread = [np.broadcast_to(each, shape) for each in spread]
        result = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            result[place] = draw(*(each[place] for each in spread))
        return _narrowed(result)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return self._filled(size, _unit)

    random_sample = ranf = sample = random

    def rand(self, *shape: int) -> Any:
        return self._filled(shape or None, _unit)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda a, b: _exact(a) + (_exact(b) - _exact(a)) * _unit(), low, high)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda a, b: _scaled(laplace, a, b), loc, scale)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._filled(size, lambda b: _scaled(exponential, 0, b), scale)

    def standard_exponential(self, size: Any = None, **_: Any) -> Any:
        return self._filled(size, lambda: exponential(0, scale=1))

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: Any = 0) -> Any:
        first, last = (0, low) if high is None else (low, high)
        return self._filled(size, lambda a, b: int(a) + _below(int(b) - int(a) + int(endpoint)), first, last)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = None) -> Any:
        return self.integers(low, high, size)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        first, last = (1, low) if high is None else (low, high)
        return self.integers(first, last, size, endpoint=True)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._filled(size, _binomial, n, p)

    def choice(self, a: Any, size: Any = None, replace: Any = 1, p: Any = None, axis: int = 0, shuffle: Any = 1) -> Any:
        import numpy as np

        values = list(range(int(a))) if isinstance(a, int) or hasattr(a, "__index__") else list(a)
        if size is None:
            return _table(values, None if p is None else list(p))
        if not replace:
            if p is not None:
                _unknown("choice(replace=False, p=...)")()
            return np.asarray(_sampled(values, int(math.prod(np.atleast_1d(size))))).reshape(size)
        drawn = self._filled(size, lambda: _table(values, None if p is None else list(p)))
        return np.asarray(drawn.tolist())

    def permutation(self, x: Any) -> Any:
        import numpy as np

        values = list(range(int(x))) if isinstance(x, int) else list(x)
        return np.asarray(_sampled(values, len(values)))

    def shuffle(self, x: Any) -> None:
        x[:] = _sampled(list(x), len(x))

    def seed(self, *_: Any, **__: Any) -> None:
        """Nothing: the values are asked of the run."""


_NORMAL = ("normal", "standard_normal", "randn", "multivariate_normal", "lognormal")


def _item(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value


def _narrowed(array: Any) -> Any:
    """An array of whole numbers or truth values as numpy would make it; noisy numbers stay objects."""
    import numpy as np

    kinds = {type(each) for each in array.ravel().tolist()}
    return array.astype(np.int64) if kinds and kinds <= {int} else array


def _scaled(noise: Callable[..., Any], center: Any, scale: Any) -> Any:
    """Noise of a scale that may be zero."""
    if isinstance(scale, Linear | Opaque):
        return noise(_item(center), scale=scale)
    width, middle = _exact(scale), _item(center)
    return center if width == 0 else noise(Fraction(middle) if type(middle) is float else middle, scale=width)


def _binomial(n: Any, p: Any) -> int:
    count, share = int(n), _exact(p)
    if not 0 <= share <= 1:
        raise ValueError("p < 0, p > 1 or p is NaN")
    weights = [math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(count + 1)]
    drawn: int = _table(list(range(count + 1)), weights)
    return drawn


def _sampled(values: list[Any], count: int) -> list[Any]:
    """So many of some values, in random order."""
    left = list(values)
    return [left.pop(_below(len(left))) for _ in range(count)]


# ------------------------------------------------------------------------------------------------------------- scipy


def _rvs(self: Any, *arguments: Any, size: Any = None, random_state: Any = None, **named: Any) -> Any:
    """What ``scipy.stats.NAME.rvs`` draws."""
    generator, name = _Generator(), self.name
    given = dict(zip(_SHAPES.get(name, ()), arguments, strict=False)) | named
    size = None if size == 1 else size
    loc, scale = given.get("loc", 0), given.get("scale", 1)
    match name:
        case "laplace":
            return generator.laplace(loc, scale, size)
        case "expon":
            return generator._filled(size, lambda a, b: _scaled(exponential, a, b), loc, scale)
        case "uniform":
            return generator._filled(size, lambda a, b: _exact(a) + _exact(b) * _unit(), loc, scale)
        case "bernoulli":
            return generator._filled(size, lambda p, a: int(bernoulli(_exact(p))) + a, given["p"], loc)
        case "binom":
            return generator._filled(size, lambda n, p, a: _binomial(n, p) + a, given["n"], given["p"], loc)
        case "randint":
            return generator.integers(given["low"], given["high"], size)
        case "norm":
            return _gaussian()
        case _:
            return _unknown(f"scipy.stats.{name}")()


_SHAPES = {
    "laplace": ("loc", "scale"),
    "expon": ("loc", "scale"),
    "uniform": ("loc", "scale"),
    "bernoulli": ("p", "loc"),
    "binom": ("n", "p", "loc"),
    "randint": ("low", "high", "loc"),
}
"""The arguments of the distributions of scipy, in order."""


# --------------------------------------------------------------------------------------------------------- replacing


def substitute(value: Any) -> Any:
    """What stands in for a generator or a drawing function while a function runs under control; the value itself for all else."""
    mtrand, generators = (sys.modules.get(f"numpy.random.{name}") for name in ("mtrand", "_generator"))
    if mtrand is not None and generators is not None:
        kinds = (generators.Generator, mtrand.RandomState)
        if type(value) in kinds:
            return _Generator()
        if isinstance(_bound_to(value), kinds):
            return getattr(_Generator(), value.__name__)
        if value is generators.default_rng or value is mtrand.RandomState:
            return _new_generator
    owner = _bound_to(value)
    if isinstance(owner, random.Random) and getattr(value, "__name__", "") in _PYTHON:
        drawing = _PYTHON[value.__name__]
        return lambda *arguments, **named: drawing(owner, *arguments, **named)
    return value


def _bound_to(value: Any) -> Any:
    """The object whose method something is; None for what is no method, whatever it says."""
    methods = (types.MethodType, types.BuiltinMethodType)
    named = type(value).__name__ == "cython_function_or_method"
    return getattr(value, "__self__", None) if type(value) in methods or named else None


def _new_generator(*_: Any, **__: Any) -> _Generator:
    return _Generator()


def _own_modules(globals_: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The names of the modules that are neither Python's nor installed nor this package's."""
    seen = {id(globals_)}
    yield globals_  # type: ignore[misc]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if not file or name.split(".")[0] in sys.stdlib_module_names or "site-packages" in file:
            continue
        names = vars(module)
        if id(names) not in seen and name.split(".")[0] != "privproof":
            seen.add(id(names))
            yield names


@contextmanager
def recognised(globals_: Mapping[str, Any], owner: Any = None) -> Iterator[None]:
    """Inside this context the randomness of libraries is asked of the run under way, and nothing is printed or logged.

    Args:
        globals_: the names of the function's module.
        owner: the object whose method it is, if it is one.
    """
    with ExitStack() as stack:
        for kind in (random.Random, random.SystemRandom):
            stack.enter_context(_attributes(kind, _PYTHON))
        bound = {name: substitute(value) for name, value in vars(random).items() if substitute(value) is not value}
        stack.enter_context(_attributes(random, bound))
        stack.enter_context(_attributes(secrets, {"token_bytes": _unknown("secrets.token_bytes")}))
        if "numpy" in sys.modules:
            stack.enter_context(_numpy())
        stats = sys.modules.get("scipy.stats._distn_infrastructure")
        if stats is not None:
            stack.enter_context(_attributes(stats.rv_generic, {"rvs": _rvs}))
            for kind in (stats.rv_continuous, stats.rv_discrete):
                if "rvs" in vars(kind):
                    stack.enter_context(_attributes(kind, {"rvs": _rvs}))
        for names in _own_modules(globals_):
            stack.enter_context(_replaced(names))
        if owner is not None and hasattr(owner, "__dict__"):
            stack.enter_context(_replaced(vars(owner)))
        stack.enter_context(_attributes(builtins, {"print": lambda *_, **__: None}))
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)
        yield


@contextmanager
def _attributes(holder: Any, values: Mapping[str, Any]) -> Iterator[None]:
    missing = object()
    before = {name: vars(holder).get(name, missing) for name in values}
    for name, value in values.items():
        setattr(holder, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                delattr(holder, name)
            else:
                setattr(holder, name, value)


@contextmanager
def _replaced(names: dict[str, Any]) -> Iterator[None]:
    found = {name: other for name, value in list(names.items()) if (other := substitute(value)) is not value}
    before = {name: names[name] for name in found}
    names.update(found)
    try:
        yield
    finally:
        names.update(before)


@contextmanager
def _numpy() -> Iterator[None]:
    import numpy as np

    generator = _Generator()
    drawing = [name for name, value in vars(np.random).items() if substitute(value) is not value]
    changed = {name: substitute(vars(np.random)[name]) for name in drawing}
    with _attributes(np.random, {**changed, "seed": generator.seed}), _attributes(np, _arrays(np)):
        yield


def _arrays(np: Any) -> dict[str, Any]:
    """Makers of arrays of floats that noisy numbers may be put into: while noise is open they hold objects."""

    def holding(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            result = make(*arguments, **named)
            return result.astype(object) if result.dtype.kind == "f" and "dtype" not in named else result

        return made

    names = ("zeros", "empty", "ones", "full", "zeros_like", "ones_like", "empty_like", "full_like")
    return {name: holding(getattr(np, name)) for name in names}


def is_recognised(problem: LanguageError) -> bool:
    """Whether a refusal is about noise that has no engine yet."""
    return problem.code in ("gaussian", "noise", "uniform")
