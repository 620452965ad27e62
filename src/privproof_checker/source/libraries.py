"""Functions of Python's libraries: what they draw, as the ideal law that they name, and what ``math`` computes.

| written | law |
| --- | --- |
| ``numpy.random.laplace``, ``scipy.stats.laplace.rvs`` | Laplace noise of the scale around the location |
| ``numpy.random.normal``, ``random.gauss``, ``random.normalvariate``, ``scipy.stats.norm.rvs`` | Gaussian noise |
| ``numpy.random.exponential``, ``random.expovariate``, ``scipy.stats.expon.rvs`` | exponential noise |
| ``random.random() < p`` | true with probability p, which counts with the exact value that it has |
| ``random.randint``, ``randrange``, ``secrets.randbelow``, ``numpy.random.randint`` ... | one of the whole numbers, each alike |
| ``random.choice``, ``random.choices(...)[0]``, ``numpy.random.choice`` | one of the values, alike or with the given probabilities |
| ``random.uniform(a, b) < c``, ``numpy.random.uniform`` | true with the share of the interval that is below c |
| ``numpy.random.binomial`` | the number of heads |

A float counts with the exact value that it has; probabilities that sum to one but for rounding are divided by their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from privproof_checker.numbers import Rational, rational
from privproof_checker.source.forms import Form
from privproof_checker.source.laws import Continuous, Law, Signature
from privproof_checker.source.operations import elements, exact_float, fails, real, unknown, whole
from privproof_checker.source.values import Cells, Tail, Value

_WIDEST = 20_000
"""As many values a whole number that is drawn may have; beyond, nothing is established about the source."""
_MOST_BITS = 16
"""Bits that are drawn as one whole number; beyond, nothing is established about the source."""
_ROUNDING = Fraction(1, 10**8)
"""How far the sum of probabilities may be from one, as numpy has it."""
UNIT = ("random.random", "numpy.random.random", "numpy.random.random_sample", "numpy.random.rand")
"""What draws a number between 0 and 1: it is known where it is compared."""
BETWEEN: Mapping[str, Signature] = {
    "random.uniform": Signature(("a", "b"), 2, {}),
    "numpy.random.uniform": Signature(("low", "high"), 2, {"low": 0, "high": 1}),
}
"""What draws a number between two others."""
COIN = "coin"
"""Whether such a number is below another one."""
LIBRARY: Mapping[str, Signature] = {
    COIN: Signature(("p",), 1, {}),
    "random.uniform": Signature(("a", "b", "at"), 3, {}),
    "numpy.random.uniform": Signature(("low", "high", "at"), 3, {"low": 0, "high": 1}),
    "numpy.random.binomial": Signature(("n", "p", "size"), 3, {"size": None}),
    "random.choices": Signature(("population", "weights"), 2, {"weights": None}),
    "numpy.random.laplace": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": None}),
    "numpy.random.normal": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": None}),
    "scipy.stats.norm.rvs": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": 1}),
    "numpy.random.gumbel": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": None}),
    "scipy.stats.gumbel_r.rvs": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": 1}),
    "random.gauss": Signature(("mu", "sigma"), 2, {"mu": 0, "sigma": 1}),
    "random.normalvariate": Signature(("mu", "sigma"), 2, {"mu": 0, "sigma": 1}),
    "numpy.random.exponential": Signature(("scale", "size"), 2, {"scale": 1, "size": None}),
    "numpy.random.standard_exponential": Signature(("size",), 1, {"size": None}),
    "scipy.stats.laplace.rvs": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": 1}),
    "scipy.stats.expon.rvs": Signature(("loc", "scale", "size"), 3, {"loc": 0, "scale": 1, "size": 1}),
    "random.expovariate": Signature(("lambd",), 1, {"lambd": 1}),
    "random.randint": Signature(("a", "b"), 2, {}),
    "random.randrange": Signature(("start", "stop"), 2, {"stop": None}),
    "numpy.random.randint": Signature(("low", "high", "size"), 3, {"high": None, "size": None}),
    "numpy.random.integers": Signature(("low", "high", "size"), 3, {"high": None, "size": None}),
    "secrets.randbelow": Signature(("exclusive_upper_bound",), 1, {}),
    "random._randbelow": Signature(("n",), 1, {}),
    "random.getrandbits": Signature(("k",), 1, {}),
    "random.choice": Signature(("seq",), 1, {}),
    "numpy.random.choice": Signature(("a", "size", "replace", "p"), 4, {"size": None, "replace": True, "p": None}),
}

_CONTINUOUS: Mapping[str, tuple[str, str, str]] = {
    "numpy.random.laplace": ("laplace", "loc", "scale"),
    "scipy.stats.laplace.rvs": ("laplace", "loc", "scale"),
    "numpy.random.normal": ("gaussian", "loc", "scale"),
    "scipy.stats.norm.rvs": ("gaussian", "loc", "scale"),
    "random.gauss": ("gaussian", "mu", "sigma"),
    "random.normalvariate": ("gaussian", "mu", "sigma"),
    "numpy.random.gumbel": ("gumbel", "loc", "scale"),
    "scipy.stats.gumbel_r.rvs": ("gumbel", "loc", "scale"),
    "numpy.random.exponential": ("exponential", "", "scale"),
    "numpy.random.standard_exponential": ("exponential", "", ""),
    "scipy.stats.expon.rvs": ("exponential", "loc", "scale"),
    "random.expovariate": ("exponential", "", "lambd"),
}
"""Continuous noise: which, and the arguments that are its location and its scale, where there are such; `lambd` is one over it."""


def library_law(name: str, a: Mapping[str, Value]) -> Law:
    """The law that a function of a library draws from, at its arguments.

    >>> library_law("random.randint", {"a": 1, "b": 2})
    [(1, 1/2), (2, 1/2)]
    """
    _one(name, a)
    if name in _CONTINUOUS:
        kind, given = noise_meant(name, a)
        return Continuous(kind, given["value"], _scale(given["sigma" if kind == "gaussian" else "scale"]))
    match name:
        case "coin":
            return _true_with(_number(a["p"]))
        case "random.randint":
            return _between(_whole(a["a"]), _whole(a["b"]) + 1)
        case "random.randrange":
            return _from(a["start"], a["stop"])
        case "numpy.random.randint" | "numpy.random.integers":
            return _from(a["low"], a["high"])
        case "secrets.randbelow" | "random._randbelow":
            return _between(0, _whole(next(iter(a.values()))))
        case "random.getrandbits":
            if not 0 < _whole(a["k"]) <= _MOST_BITS:
                unknown("as many random bits")
            return _between(0, 2 ** _whole(a["k"]))
        case "random.uniform" | "numpy.random.uniform":
            return _below(name, a)
        case "numpy.random.binomial":
            return _heads(_whole(a["n"]), _number(a["p"]))
        case "random.choices":
            values = _listed(a["population"])
            return _alike(values) if a["weights"] is None else _weighted(values, _listed(a["weights"]))
        case "random.choice":
            return _alike(_listed(a["seq"]))
        case "numpy.random.choice":
            return _chosen(a)
        case _:
            unknown(f"the function {name[:60]}")


def noise_meant(name: str, a: Mapping[str, Value]) -> tuple[str, Mapping[str, Value]]:
    """The noise of the language that a library's function is, with its arguments, of which some may be left open."""
    if name not in LIBRARY:
        return name, a
    _one(name, a)
    if name == COIN:
        return "bernoulli", {"p": a["p"]}
    if name not in _CONTINUOUS:
        unknown(f"{name} beside continuous noise")
    kind, location, given = _CONTINUOUS[name]
    scale = 1 / _scale(a[given]) if name == "random.expovariate" else exact_float(a.get(given, 1))
    return kind, {"value": exact_float(a.get(location, 0)), "sigma" if kind == "gaussian" else "scale": scale}


def _one(name: str, a: Mapping[str, Value]) -> None:
    """Refuse several numbers that are drawn at once; numpy makes a list also of one."""
    if a.get("size") not in (None, 1) or (a.get("size") == 1 and not name.startswith("scipy")):
        unknown("noise of a size")


def _number(value: Value) -> Fraction:
    if isinstance(value, Tail | Form):
        unknown("noise that is not drawn is an argument of noise")
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return Fraction(value)


def _scale(value: Value) -> Fraction:
    found = _number(value)
    if found <= 0:
        unknown("a scale that is not above 0")
    return found


def _whole(value: Value) -> int:
    return whole(value, "an argument of noise")


def _from(low: Value, high: Value) -> Law:
    return _between(0, _whole(low)) if high is None else _between(_whole(low), _whole(high))


def _between(low: int, end: int) -> Law:
    if end <= low:
        fails("there is no number to draw")
    if end - low > _WIDEST:
        unknown("noise with too many values")
    return [(value, Rational(1, end - low)) for value in range(low, end)]


def _listed(value: Value) -> list[Value]:
    if not isinstance(value, Cells | tuple | str | range):
        fails("what is chosen from is no list")
    return list(elements(value))


def _alike(values: Sequence[Value]) -> Law:
    if not values:
        fails("there is nothing to choose from")
    return [(value, Rational(1, len(values))) for value in values]


def _below(name: str, a: Mapping[str, Value]) -> Law:
    """Whether a number that is drawn between two others is below a third; ``random.uniform`` rounds how far they are apart."""
    low, high = (a["a"], a["b"]) if name == "random.uniform" else (a["low"], a["high"])
    if not all(type(end) in (int, float) for end in (low, high)) or not low < high:
        unknown("a uniform number between these ends")
    width = Fraction(high - low) if name == "random.uniform" else Fraction(high) - Fraction(low)
    return _true_with((_number(a["at"]) - Fraction(low)) / width)


def _true_with(share: Fraction) -> Law:
    """Whether a number that is drawn between 0 and 1 is below another one."""
    p = min(max(share, Fraction(0)), Fraction(1))
    return [(value, rational(q)) for value, q in ((True, p), (False, 1 - p)) if q]


def _heads(count: int, p: Fraction) -> Law:
    """How many of several coins show heads."""
    if not 0 <= count <= _MOST_BITS or not 0 <= p <= 1:
        unknown("a binomial number of so many coins, or with this probability")
    shares = [math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
    return [(k, rational(share)) for k, share in enumerate(shares) if share]


def _weighted(values: Sequence[Value], weights: Sequence[Value], most: float | Fraction = math.inf) -> Law:
    """One of several values, by weights whose sum is no further from one than is said."""
    shares = [_number(weight) for weight in weights]
    total = sum(shares, Fraction(0))
    if len(shares) != len(values) or min(shares, default=Fraction(-1)) < 0 or total <= 0 or abs(total - 1) > most:
        unknown("weights that do not fit the values")
    return [(value, rational(share / total)) for value, share in zip(values, shares, strict=True) if share]


def _chosen(a: Mapping[str, Value]) -> Law:
    """One of several values, with probabilities: of an array all are whole numbers, or all are texts."""
    values: list[Value] = list(range(_whole(a["a"]))) if isinstance(a["a"], int) else _listed(a["a"])
    if {type(value) for value in values} not in ({int}, {str}):
        unknown("an array of values of several kinds")
    return _alike(values) if a["p"] is None else _weighted(values, _listed(a["p"]), _ROUNDING)


_COMPUTING = ("exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "floor", "ceil", "trunc", "fabs")
_MATH: Mapping[str, Callable[[float], object]] = {f"math.{name}": getattr(math, name) for name in _COMPUTING}
COMPUTED = tuple(_MATH)
"""Functions of one number."""


def library_value(name: str, arguments: Sequence[Value]) -> Value:
    """What a function of ``math`` makes of a number, by Python's own."""
    if len(arguments) != 1 or not real(arguments[0]):
        unknown(f"{name} of noise, or of several numbers")
    try:
        found = _MATH[name](arguments[0])
    except (ValueError, OverflowError):
        fails(f"{name} of a number that it is not for")
    if isinstance(found, float) and found - found != 0:
        unknown(f"{name} of this number is no finite number")
    return found
