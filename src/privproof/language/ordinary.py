"""Ordinary code: noise of Python's libraries as the ideal noise that it names, and floats with the exact values that they have.

``np.random.laplace(v, s)``, ``random.random() < p``, ``random.randint(a, b)`` and their kin become noise functions of the language, with
the same laws that a run under control gives them (`language.recognition`).  A float is a constant: what is computed from floats alone
is computed by Python while the function is read, and the result counts exactly.  Where a float would meet data, and rounding could
matter, there is no translation.
"""

from __future__ import annotations

import ast
import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from privproof.errors import LanguageError
from privproof.language.folding import Unfoldable, exact
from privproof.language.laws import CONTINUOUS
from privproof.language.objects import Objects
from privproof.language.resolving import Unusable
from privproof.language.syntax import (
    Assign,
    Constant,
    Element,
    Expression,
    Operation,
    Place,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import variables

_SIGNATURES: dict[str, tuple[str, ...]] = {
    "numpy.random.laplace": ("loc", "scale", "size"),
    "numpy.random.normal": ("loc", "scale", "size"),
    "scipy.stats.norm.rvs": ("loc", "scale", "size"),
    "numpy.random.gumbel": ("loc", "scale", "size"),
    "scipy.stats.gumbel_r.rvs": ("loc", "scale", "size"),
    "random.gauss": ("mu", "sigma"),
    "random.normalvariate": ("mu", "sigma"),
    "numpy.random.exponential": ("scale", "size"),
    "numpy.random.standard_exponential": ("size",),
    "numpy.random.randint": ("low", "high", "size"),
    "numpy.random.integers": ("low", "high", "size"),
    "numpy.random.choice": ("a", "size", "replace", "p"),
    "scipy.stats.laplace.rvs": ("loc", "scale", "size"),
    "scipy.stats.expon.rvs": ("loc", "scale", "size"),
    "random.expovariate": ("lambd",),
    "random.randint": ("a", "b"),
    "random.randrange": ("start", "stop"),
    "random.getrandbits": ("k",),
    "random._randbelow": ("n",),
    "random.choice": ("seq",),
    "random.choices": ("population", "weights"),
    "numpy.random.binomial": ("n", "p", "size"),
    "numpy.random.geometric": ("p", "size"),
    "secrets.randbelow": ("exclusive_upper_bound",),
}
"""The arguments of what draws, in order; calls with others are not read."""
_UNIT = (
    *("random.random", "numpy.random.random", "numpy.random.random_sample", "numpy.random.rand"),
    *("random.uniform", "numpy.random.uniform"),
)
_MOST_COINS = 16
"""Coins that are thrown at once and counted: the outcomes are listed."""
_BITS = 16
"""Random bits that are drawn as one whole number, as in a run under control."""
_DIVIDE_LATER = "laplace(sum(data), scale=...) / len(data): the noise first, because Python rounds the quotient"
_BY_RANK = "exponential_mechanism on how far each value is from the middle: one record may move it by the whole range"
_INSTEAD = {
    "numpy.mean": _DIVIDE_LATER,
    "numpy.average": _DIVIDE_LATER,
    "statistics.mean": _DIVIDE_LATER,
    "statistics.fmean": _DIVIDE_LATER,
    "numpy.median": _BY_RANK,
    "numpy.quantile": _BY_RANK,
    "numpy.percentile": _BY_RANK,
    "statistics.median": _BY_RANK,
    "numpy.histogram": "sum(1 for x in data if low <= x < high), one bin after the other",
    "numpy.bincount": "sum(1 for x in data if x == k), one number k after the other",
    "math.fsum": "sum(data)",
}
"""What to write in the place of functions that are often called."""
_HINT = "loc=..., scale=... by name or in order, one number at a time"


class Ordinary(Objects):
    """Reads noise of libraries, and numbers that are floats."""

    exactly = False
    """Whether a table of constants is read, in which floats count with their exact values."""

    @abstractmethod
    def expression(self, node: ast.expr, out: list[Statement]) -> Expression:
        """An expression, with the samples inside it as statements before it."""

    @abstractmethod
    def conditional(
        self,
        test: ast.expr,
        then: ast.expr,
        otherwise: ast.expr,
        out: list[Statement],
        here: Place,
        read: Callable[[ast.expr, list[Statement]], Expression] | None = None,
    ) -> Expression:
        """``then if test else otherwise``."""

    @abstractmethod
    def fixed(self, node: ast.AST, value: object, here: Place) -> Expression:
        """A value that is known beforehand."""

    def known_value(self, node: ast.expr, here: Place) -> Expression | None:
        """The value of an expression of constants that Python computes while it is read; None where there is nothing to compute.

        Raises:
            LanguageError: it is a float where a float could be rounded.
        """
        if not self.shared.ordinary or isinstance(node, ast.Tuple | ast.List | ast.Dict):
            return None
        try:
            value = self.compute(node)
        except Unfoldable:
            return None
        if type(value) is float:
            return self.floating(value, here)
        if isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.IfExp) and not isinstance(
            value, tuple | list
        ):
            return Constant(value, here)
        return None

    def floating(self, value: float, here: Place) -> Constant:
        """A float with its exact value; where data may meet it, the function as a whole says later whether that can be told."""
        number = exact(value)
        if number is None:
            raise LanguageError("float", f"{value!r} is no number", place=str(here), hint="a finite number")
        if not self.exactly:
            self.shared.floats.add((here, number))
        return Constant(number, here)

    def number(self, node: ast.expr, out: list[Statement]) -> Expression:
        """A number that is compared or that noise is made of: a float counts with its exact value."""
        if not self.shared.ordinary:
            return self.expression(node, out)
        here = self.place(node)
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse, out, here, read=self.number)
            case ast.Subscript(value=held, slice=index) if not isinstance(index, ast.Slice):
                table = self.numbers(held, out)
                if table is not None:
                    return Element(table, self.expression(index, out), here)
        try:
            value = self.compute(node)
        except Unfoldable:
            return self.expression(node, out)
        if type(value) is float:
            number = exact(value)
            if number is not None:
                return Constant(number, here)
        if type(value) in (int, bool, Fraction):
            return Constant(value, here)
        return self.expression(node, out)

    def numbers(self, node: ast.expr, out: list[Statement]) -> Expression | None:
        """A table or tuple of numbers that is written out, or a constant; None for anything else."""
        here = self.place(node)
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if not any(
                isinstance(e, ast.Starred) for e in elements
            ):
                kind = "tuple of" if isinstance(node, ast.Tuple) else "list of"
                return Operation(kind, tuple(self.number(each, out) for each in elements), here)
            case ast.Dict(keys=keys, values=values):
                entries: list[Expression] = []
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        return None
                    entries += [self.expression(key, out), self.number(value, out)]
                return Operation("table of", tuple(entries), here)
            case ast.Name() | ast.Attribute():
                try:
                    found = self._constant(node)
                except Unfoldable:
                    return None
                if not isinstance(found.value, tuple | MappingProxyType):
                    return None
                self.exactly = True
                try:
                    return self.fixed(node, found.value, here)
                finally:
                    self.exactly = False
        return None

    def draw(self, noise: str, arguments: tuple[Expression, ...], out: list[Statement], here: Place) -> Variable:
        """Noise, in a statement of its own."""
        self.shared.drawn = True
        kept = self.shared.name("z")
        if noise in CONTINUOUS:
            self.shared.noisy.add(kept)
        out.append(Sample(kept, noise, arguments, self.shared.sites, here))
        self.shared.sites += 1
        return Variable(kept, here)

    def library(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """The call of a library's function."""
        here = self.place(node)
        if name in _UNIT:
            self.shared.drawn = True
            self.refuse(
                node,
                f"{ast.unparse(node)} outside a comparison",
                f"{ast.unparse(node)} < p, where p is a probability; np.random.laplace(0, scale) for noise made by hand",
            )
        if name not in _SIGNATURES:
            instead = _INSTEAD.get(name, "the functions that the language reference lists")
            self.refuse(node, f"calling {ast.unparse(node.func)}", instead)
        given = self.bound(node, name)
        for key in ("p", "weights"):
            split = self.by_data(node, given.get(key), out)
            if split is not None:
                return split
        arguments = {key: self.argument(key, value, out) for key, value in given.items() if key in _NUMBERS}
        zero, one = Constant(0, here), Constant(1, here)
        match name:
            case "numpy.random.laplace" | "scipy.stats.laplace.rvs":
                scale = self.scale(node, arguments.get("scale", one))
                return self.draw("laplace", (arguments.get("loc", zero), scale), out, here)
            case "numpy.random.normal" | "scipy.stats.norm.rvs":
                scale = self.scale(node, arguments.get("scale", one))
                return self.draw("gaussian", (arguments.get("loc", zero), scale), out, here)
            case "numpy.random.gumbel" | "scipy.stats.gumbel_r.rvs":
                scale = self.scale(node, arguments.get("scale", one))
                return self.draw("gumbel", (arguments.get("loc", zero), scale), out, here)
            case "random.gauss" | "random.normalvariate":
                scale = self.scale(node, arguments.get("sigma", one))
                return self.draw("gaussian", (arguments.get("mu", zero), scale), out, here)
            case "numpy.random.exponential" | "numpy.random.standard_exponential" | "scipy.stats.expon.rvs":
                scale = self.scale(node, arguments.get("scale", one))
                return self.draw("exponential", (arguments.get("loc", zero), scale), out, here)
            case "random.expovariate":
                rate = self.scale(node, arguments.get("lambd", one))
                return self.draw("exponential", (zero, Constant(1 / _fraction(rate), here)), out, here)
            case "random.randint":
                return self.between(arguments["a"], _plus(arguments["b"], 1), out, here)
            case "random.randrange" if "stop" not in arguments:
                return self.between(zero, arguments["start"], out, here)
            case "random.randrange":
                return self.between(arguments["start"], arguments["stop"], out, here)
            case "numpy.random.randint" | "numpy.random.integers" if "high" not in arguments:
                return self.between(zero, arguments["low"], out, here)
            case "numpy.random.randint" | "numpy.random.integers":
                return self.between(arguments["low"], arguments["high"], out, here)
            case "secrets.randbelow":
                return self.between(zero, arguments["exclusive_upper_bound"], out, here)
            case "random._randbelow":
                return self.between(zero, arguments["n"], out, here)
            case "random.getrandbits":
                bits = arguments["k"]
                if not (isinstance(bits, Constant) and isinstance(bits.value, int) and 0 < bits.value <= _BITS):
                    self.refuse(node, f"{ast.unparse(node)}", f"random.getrandbits(k) with k from 1 to {_BITS}")
                return self.draw("uniform", (zero, Constant(2**bits.value - 1, here)), out, here)
            case "random.choice":
                values = self.kept(self.expression(given["seq"], out), out, here)
                place = self.draw("uniform", (zero, _plus(Operation("len", (values,), here), -1)), out, here)
                return Element(values, place, here)
            case "numpy.random.choice":
                return self.chosen(node, given, out, here)
            case "numpy.random.binomial":
                return self.counted_heads(node, given, out, here)
            case "numpy.random.geometric":
                self.refuse(node, f"{ast.unparse(node)} by itself", f"{ast.unparse(node)} - {ast.unparse(node)}")
        self.refuse(
            node, f"calling {ast.unparse(node.func)} in this place", "the functions that the language reference lists"
        )

    def by_data(self, node: ast.expr, shares: ast.expr | None, out: list[Statement]) -> Expression | None:
        """A draw whose probabilities a test chooses, as two draws of which the test chooses one; None where none does."""
        if not isinstance(shares, ast.IfExp):
            return None
        try:
            self.compute(shares)
        except Unfoldable:
            sides = [_exchanged(node, shares, each) for each in (shares.body, shares.orelse)]
            return self.conditional(shares.test, sides[0], sides[1], out, self.place(node))
        return None

    def two_sided(self, node: ast.BinOp, out: list[Statement]) -> Expression | None:
        """``E + np.random.geometric(p) - np.random.geometric(p)``: E plus two-sided geometric noise; None for anything else.

        The difference of two independent numbers of trials up to a success is k with probability ``p/(2-p) (1-p)^|k|``.
        """
        share = self.success(node.right) if self.shared.ordinary and isinstance(node.op, ast.Sub) else None
        match node.left:
            case ast.Call() as call:
                first, rest = call, None
            case ast.BinOp(left=rest, op=ast.Add(), right=ast.Call() as call) if self.success(call) is not None:
                first = call
            case ast.BinOp(left=ast.Call() as call, op=ast.Add(), right=rest):
                first = call
            case _:
                return None
        if share is None or self.success(first) != share or not 0 < share < 1:
            return None
        here = self.place(node)
        center = None if rest is None else self.expression(rest, out)
        law = (Constant(0, here), Constant(1 - share, here), Constant(None, here), Constant(1, here))
        noise = self.draw("geometric", law, out, here)
        return noise if center is None else Operation("+", (center, noise), here)

    def success(self, node: ast.expr) -> Fraction | None:
        """The probability p in ``np.random.geometric(p)``; None for anything else."""
        try:
            if not isinstance(node, ast.Call) or self.meaning(node.func).value != "numpy.random.geometric":
                return None
            value = self.compute(self.bound(node, "numpy.random.geometric")["p"])
        except (LanguageError, Unusable, Unfoldable, KeyError):
            return None
        return Fraction(value) if type(value) in (int, float, Fraction) else None

    def counted_heads(
        self, node: ast.Call, given: dict[str, ast.expr], out: list[Statement], here: Place
    ) -> Expression:
        """``np.random.binomial(n, p)`` with constants."""
        try:
            count, share = (self.compute(given[key]) for key in ("n", "p"))
        except (Unfoldable, KeyError):
            self.refuse(node, f"{ast.unparse(node)}, whose arguments are no constants,", "random.random() < p")
        if type(count) is not int or not 0 <= count <= _MOST_COINS or type(share) not in (int, float, Fraction):
            self.refuse(node, f"{ast.unparse(node)}", f"n up to {_MOST_COINS}, and a probability")
        p = Fraction(share)
        if not 0 <= p <= 1:
            self.refuse(node, f"a probability of {share}", "a probability between 0 and 1")
        weights = [math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
        return self.draw("choice", (self.table(node, weights, here),), out, here)

    def one_of_several(self, node: ast.expr, out: list[Statement]) -> Expression | None:
        """``random.choices(values, weights=...)[0]``; None for anything else."""
        match node:
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=0)) if self.shared.ordinary:
                pass
            case _:
                return None
        try:
            found = self.meaning(call.func)
        except (LanguageError, Unusable):
            return None
        several = [k.value for k in call.keywords if k.arg == "k"]
        if (found.kind, found.value) != ("library", "random.choices") or (several and not _is(several[0], 1)):
            return None
        here = self.place(node)
        plain = ast.copy_location(ast.Call(call.func, call.args, [k for k in call.keywords if k.arg != "k"]), call)
        given = self.bound(plain, "random.choices")
        split = self.by_data(node, given.get("weights"), out)
        if split is not None:
            return split
        values = self.kept(self.expression(given["population"], out), out, here)
        length = self.known_length(given["population"])
        try:
            shares = [1] * (length or 0) if "weights" not in given else self.compute(given["weights"])
        except Unfoldable:
            self.refuse(given["weights"], "weights that depend on data", "weights that are constants")
        total = sum((Fraction(share) for share in shares if type(share) in (int, float, Fraction)), Fraction(0))
        if length != len(shares) or total <= 0:
            self.refuse(node, "as many weights as values: that", "values and weights, both written out")
        scaled = [Fraction(share) / total for share in shares if type(share) in (int, float, Fraction)]
        return Element(values, self.draw("choice", (self.table(call, scaled, here),), out, here), here)

    def known_length(self, node: ast.expr) -> int | None:
        """How many elements a sequence has, if that is known while it is read."""
        if isinstance(node, ast.List | ast.Tuple):
            return None if any(isinstance(each, ast.Starred) for each in node.elts) else len(node.elts)
        try:
            return len(self.compute(node))
        except (Unfoldable, TypeError):
            return None

    def argument(self, key: str, value: ast.expr, out: list[Statement]) -> Expression:
        return (
            self.number(value, out)
            if key in ("loc", "scale", "mu", "sigma", "lambd")
            else _whole(self.expression(value, out))
        )

    def bound(self, node: ast.Call, name: str) -> dict[str, ast.expr]:
        """The arguments of a call of a library's function, by name."""
        known = _SIGNATURES[name]
        given: dict[str, ast.expr] = {}
        for number, argument in enumerate(node.args):
            if number >= len(known) or isinstance(argument, ast.Starred):
                self.refuse(node, f"{ast.unparse(node.func)} with these arguments", _HINT)
            given[known[number]] = argument
        for keyword in node.keywords:
            if keyword.arg not in known or keyword.arg in given:
                self.refuse(node, f"{ast.unparse(node.func)} with {keyword.arg or '**'}", _HINT)
            given[str(keyword.arg)] = keyword.value
        if isinstance(given.get("size"), ast.Constant) and given["size"].value is None:  # type: ignore[attr-defined]
            del given["size"]
        if "size" in given and not (name.startswith("scipy") and _is(given["size"], 1)):
            self.refuse(given["size"], f"{ast.unparse(node.func)} with a size", "a list comprehension")
        needed = {"a": 2, "b": 2, "start": 1, "low": 1, "k": 1, "n": 1, "seq": 1, "exclusive_upper_bound": 1}
        for number, key in enumerate(known):
            if key not in given and needed.get(key, 0) > number:
                self.refuse(node, f"{ast.unparse(node)}", f"{name}({', '.join(known)})")
        return given

    def scale(self, node: ast.Call, value: Expression) -> Constant:
        """A scale, which is a constant above zero."""
        if not (isinstance(value, Constant) and isinstance(value.value, int | Fraction) and value.value > 0):
            self.refuse(
                node, f"{ast.unparse(node)}, whose scale is no constant above 0,", "a scale of constants and parameters"
            )
        return value

    def between(self, low: Expression, end: Expression, out: list[Statement], here: Place) -> Expression:
        """One of the whole numbers from `low` to `end` - 1, drawn as its distance from `low`."""
        low = self.kept(low, out, here)
        width = _plus(end if _is_zero(low) else _minus(end, low), -1)
        drawn = self.draw("uniform", (Constant(0, here), width), out, here)
        return drawn if _is_zero(low) else Operation("+", (low, drawn), here)

    def kept(self, value: Expression, out: list[Statement], here: Place) -> Expression:
        """The value, in a variable if it is more than one."""
        if isinstance(value, Variable | Constant):
            return value
        name = self.shared.name("s")
        self.note_noise(name, value)
        out.append(Assign(name, value, here))
        return Variable(name, here)

    def is_noisy(self, *values: Expression) -> bool:
        """Whether continuous noise of a library has a part in a value, so that Python's rounding is no matter."""
        noisy = self.shared.noisy - self.shared.mixed
        return any(name in noisy for value in values for name in variables(value))

    def note_noise(self, name: str, value: Expression) -> None:
        """Remember whether a variable is noisy; if it may be data on some ways, Python's rounding matters there."""
        noisy, shared = self.is_noisy(value), self.shared
        plain = not noisy and not isinstance(value, Constant)
        if self.branches:
            if (noisy and name in shared.exact) or (plain and name in shared.noisy):
                shared.mixed.add(name)
        else:
            for names in (shared.noisy, shared.exact, shared.mixed):
                names.discard(name)
        if noisy:
            shared.noisy.add(name)
        elif plain:
            shared.exact.add(name)

    def chosen(self, node: ast.Call, given: dict[str, ast.expr], out: list[Statement], here: Place) -> Expression:
        """``np.random.choice(values, p=probabilities)``."""
        values = given["a"]
        if "replace" in given and "size" not in given:
            self.refuse(node, "choice with replace", "choice(values, p=...)")
        shares: Sequence[Any] | None = None
        if "p" in given:
            try:
                shares = self.compute(given["p"])
            except Unfoldable:
                self.refuse(given["p"], "probabilities that depend on data", "probabilities that are constants")
        try:
            count = self.compute(values)
        except Unfoldable:
            count = None
        sequence: Expression | None = None
        if type(count) is not int:
            sequence = self.kept(Operation("alike", (self.expression(values, out),), here), out, here)
        if shares is None:
            many = Constant(count, here) if sequence is None else Operation("len", (sequence,), here)
            drawn: Expression = self.draw("uniform", (Constant(0, here), _plus(many, -1)), out, here)
        else:
            drawn = self.draw("choice", (self.table(node, shares, here),), out, here)
            length = count if sequence is None else self.known_length(values)
            if length != len(shares):
                self.refuse(node, "as many probabilities as values: that", "values and probabilities, both written out")
        return drawn if sequence is None else Element(sequence, drawn, here)

    def table(self, node: ast.Call, shares: Any, here: Place) -> Expression:
        """The table of numbers by which one of several values is chosen."""
        numbers = [Fraction(share) for share in shares if type(share) in (int, float, Fraction)]
        total = sum(numbers, Fraction(0))
        if len(numbers) != len(shares) or not numbers or min(numbers) < 0 or total <= 0:
            self.refuse(node, f"the probabilities {shares!r}", "numbers that are not negative")
        if abs(total - 1) > Fraction(1, 10**8):
            self.refuse(node, f"probabilities that sum to {float(total)!r}", "probabilities that sum to 1")
        entries = [Constant(part, here) for i, each in enumerate(numbers) for part in (i, each / total)]
        return Operation("table of", tuple(entries), here)


_NUMBERS = (
    "loc",
    "scale",
    "mu",
    "sigma",
    "lambd",
    "a",
    "b",
    "start",
    "stop",
    "low",
    "high",
    "k",
    "n",
    "exclusive_upper_bound",
)


def _exchanged(node: Any, old: ast.expr, new: ast.expr) -> Any:
    """A copy of a syntax tree with another part."""
    if node is old:
        return new
    if isinstance(node, list):
        return [_exchanged(each, old, new) for each in node]
    if not isinstance(node, ast.AST):
        return node
    made = copy.copy(node)
    for name, value in ast.iter_fields(node):
        setattr(made, name, _exchanged(value, old, new))
    return made


def _fraction(value: Constant) -> Fraction:
    assert isinstance(value.value, int | Fraction)
    return Fraction(value.value)


def _whole(value: Expression) -> Expression:
    """The value, checked to be a whole number."""
    if isinstance(value, Constant) and type(value.value) is int:
        return value
    return Operation("whole", (value,), value.place)


def _is_zero(value: Expression) -> bool:
    return isinstance(value, Constant) and type(value.value) is int and value.value == 0


def _is(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _plus(value: Expression, number: int) -> Expression:
    if isinstance(value, Constant) and isinstance(value.value, int):
        return Constant(value.value + number, value.place)
    return Operation("+", (value, Constant(number, value.place)), value.place)


def _minus(left: Expression, right: Expression) -> Expression:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(left.value - right.value, left.place)  # type: ignore[operator]
    return Operation("-", (left, right), left.place)
