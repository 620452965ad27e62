"""Random functions of ordinary Python, and what they mean by brute force.

The grammar is one of what people write, not of the language: dictionaries, counters, objects, closures, texts, noise of ``random``,
``secrets`` and ``numpy``, uniform numbers that are kept and compared later.  Brute force knows nothing of the package: it executes the
text with its own modules in the place of these, which go through all outcomes of the noise.
"""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

HEAD = """\
import random
import secrets
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from enum import Enum

import numpy as np

Point = namedtuple("Point", "first second")
KEYS = (0, 1)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Report:
    winner: int
    label: str = "done"


class Flip:
    def __init__(self, share, times=1):
        if share < 0:
            raise ValueError("share")
        self.share = share
        self.times = times

    def flip(self, bit):
        return bit if random.random() < self.share else 1 - bit

    def __call__(self, value):
        return self.flip(value) + self.times


def applied(function, value):
    return function(value)


def clamp(value, low=0, high=2):
    return min(max(value, low), high)


"""
NOISE = (
    *("random.randint(0, 1)", "random.choice([0, 1, 1])", "secrets.randbelow(2)", "random.getrandbits(1)"),
    *("int(random.random() < 0.25)", "random.choices([0, 2], weights=[1, 3])[0]", "int(np.random.binomial(1, 0.5))"),
    *("int(np.random.choice([0, 1], p=[0.25, 0.75]))", "(data[0] if random.random() < 0.75 else 1 - data[0])"),
    *("Flip(0.75).flip(data[1])", "(1 if random.uniform(0, 2) > 0.5 else 0)", "np.random.randint(2) * 1"),
    "random.choices([0, 1], weights=[3, 1] if data[1] else [1, 3])[0]",
)
INTS = (
    *(
        "a",
        "b",
        "data[0]",
        "data[-1]",
        "sum(data)",
        "len(data)",
        "max(data)",
        "a + b",
        "a - data[1]",
        "2 * a",
        "0",
        "1",
    ),
    *(
        "abs(a - b)",
        "a % 2",
        "clamp(a)",
        "min(a, b)",
        "(a if data[0] else b)",
        "data.count(1)",
        "sum(data[1:])",
        "a ^ b",
    ),
    *("len([x for x in data if x > 0])", "sum(x * 2 for x in data)", "applied(lambda v: v + 1, a)", "-a", "int(a > b)"),
)
BOOLS = (
    *("a > b", "a == b", "data[0] == 1", "a in (0, 2)", "a >= 1 and b", "not a", "any(data)", "b != data[1]"),
    *("random.random() < 0.5", "a <= sum(data)", "all(x == a for x in data)"),
)
OUTPUTS = (
    *(
        "a",
        "(a, b)",
        "{'a': a, 'b': b}",
        "f'{a}:{b}'",
        "Point(a, b)",
        "Report(a)",
        "[a, b]",
        "max(a, b)",
        "str(a) + '!'",
    ),
    *(
        "Color.RED if a > b else Color.BLUE",
        "a if b else None",
        "{k: a + k for k in KEYS}",
        "'-'.join([str(a), str(b)])",
    ),
    "sorted([a, b], reverse=True)",
)
PLAIN = (
    *("a = $int", "b = $int", "b = $noise", "a += $noise", "a, b = b, a", "a, b = $int, $noise", "a -= $int"),
    *("for x in data:\n    a += x", "for i, x in enumerate(data):\n    if x:\n        b = i", "a = clamp(a, high=3)"),
    *("if $bool:\n    a = $int\nelse:\n    b = $int", "if $bool:\n    b = $noise", "while a > 2:\n    a -= 2"),
    *(
        "try:\n    a = $int\nexcept ValueError:\n    a = 0",
        "assert len(data) == 2",
        "print('now', a)",
        "first, *rest = data",
    ),
    *("with np.errstate(all='ignore'):\n    a = $int", "for x, y in zip(data, KEYS):\n    a += x * y", "b = round(b)"),
    "for x in reversed(data):\n    if x and random.random() < 0.5:\n        break\n    a += 1",
)
FRESH = {
    "u": ("u = random.random()", ("int(u < 0.25)", "int(u > 0.5)", "(1 if 0.75 > u else 0)", "int(u <= 0.5)")),
    "w": ("w = np.random.uniform(0, 1)", ("(data[0] if w < 0.75 else 1 - data[0])",)),
    "t": ("t = {'p': $int, 'q': 0}\nt['q'] += $int", ("t['p']", "t['q']", "t.get('p', 0)", "sum(t.values())")),
    "h": ("h = Counter(data)", ("h[0]", "h[1]", "h.get(1, 0)")),
    "d": ("d = defaultdict(int)\nfor r in data:\n    d[r] += 1", ("d[0]", "d[1]")),
    "m": ("m = {k: data.count(k) for k in KEYS}", ("m[1]", "m[data[0]]", "len(m)")),
    "xs": ("xs = [$int for x in data]\nxs.append($noise)", ("xs[0]", "xs[-1]", "len(xs)", "max(xs)", "sum(xs)")),
    "o": ("o = Flip(0.75)", ("o.flip(data[0])", "o(data[1])", "o.times")),
    "g": ("def g(v):\n    return v + a", ("g(b)", "applied(g, 1)", "g(data[0])")),
    "k": ("k = lambda v: v * 2 + data[0]", ("k(1)", "k(b)", "applied(k, 2)")),
    "s": ("s = f'{a}-{$int}'", ("len(s)", "s.count('1')", "int(s == '1-1')")),
    "c": ("c = [0] * 2\nfor x in data:\n    c[x] += 1", ("c[0]", "c[1]")),
}


def source(number: int) -> str:
    """The text of a module whose function ``f`` is the one of a number."""
    chance = Random(number)
    known = list(INTS)

    def phrase(text: str) -> str:
        while "$" in text:
            kind = next(k for k in ("int", "bool", "noise") if f"${k}" in text)
            text = text.replace(f"${kind}", chance.choice({"int": known, "bool": BOOLS, "noise": NOISE}[kind]), 1)
        return text

    lines = [phrase("a = $noise"), phrase("b = $noise")]
    left = list(FRESH)
    for _ in range(chance.randint(2, 5)):
        if chance.random() < 0.6 and left:
            name = left.pop(chance.randrange(len(left)))
            made, uses = FRESH[name]
            lines += phrase(made).split("\n")
            known += uses * 3
            lines.append(phrase(chance.choice(("a = $int", "b = $int", "a += $int", "b += $int"))))
        else:
            lines += phrase(chance.choice(PLAIN)).split("\n")
    lines.append(f"return {chance.choice(OUTPUTS)}")
    return HEAD + "def f(data):\n" + "".join(f"    {line}\n" for line in lines)


def compiled(number: int) -> Callable[..., Any]:
    """The function of a number, with a text that can be read back."""
    text, file = source(number), f"<ordinary {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = ModuleType(f"ordinary_{number}")
    sys.modules[module.__name__] = module
    exec(compile(text, file, "exec"), vars(module))
    return module.f  # type: ignore[no-any-return]


# ----------------------------------------------------------------------------------------------------------- brute force


class _Noise:
    """Goes through the outcomes of all noise, one run after the other."""

    def __init__(self) -> None:
        self.way: list[tuple[int, int]] = []
        self.at, self.share = 0, Fraction(1)

    def runs(self, call: Callable[[], Any]) -> Iterator[tuple[Any, Fraction]]:
        while True:
            self.at, self.share = 0, Fraction(1)
            value = call()
            yield value, self.share
            while self.way and self.way[-1][0] + 1 == self.way[-1][1]:
                self.way.pop()
            if not self.way:
                return
            self.way[-1] = (self.way[-1][0] + 1, self.way[-1][1])

    def pick(self, shares: list[Fraction]) -> int:
        possible = [i for i, share in enumerate(shares) if share > 0]
        if self.at == len(self.way):
            self.way.append((0, len(possible)))
        chosen = possible[self.way[self.at][0]]
        self.at += 1
        self.share *= shares[chosen] / sum(shares, Fraction(0))
        return chosen


class _Between:
    """A uniform number of which an interval is known."""

    def __init__(self, noise: _Noise, low: Fraction, high: Fraction) -> None:
        self.noise, self.low, self.high = noise, low, high

    def below(self, bound: Any) -> bool:
        at = min(max(Fraction(bound), self.low), self.high)
        under = self.noise.pick([at - self.low, self.high - at]) == 0
        self.low, self.high = (self.low, at) if under else (at, self.high)
        return under

    __lt__ = __le__ = below

    def __gt__(self, bound: Any) -> bool:
        return not self.below(bound)

    __ge__ = __gt__


def _modules(noise: _Noise) -> dict[str, Any]:
    def below(count: int) -> int:
        return noise.pick([Fraction(1)] * count)

    def uniform(low: float = 0, high: float = 1) -> _Between:
        return _Between(noise, Fraction(low), Fraction(high))

    def weighted(values: Any, weights: Any) -> Any:
        return values[noise.pick([Fraction(w) for w in weights])]

    def binomial(count: int, p: float) -> int:
        return sum(1 - noise.pick([Fraction(p), 1 - Fraction(p)]) for _ in range(count))

    class Quiet:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    drawn = SimpleNamespace(
        uniform=uniform, binomial=binomial, randint=below, choice=lambda values, p: weighted(values, p)
    )
    return {
        "random": SimpleNamespace(
            random=uniform,
            uniform=uniform,
            randint=lambda low, high: low + below(high - low + 1),
            choice=lambda values: values[below(len(values))],
            choices=lambda values, weights: [weighted(values, weights)],
            getrandbits=lambda bits: below(2**bits),
        ),
        "secrets": SimpleNamespace(randbelow=below),
        "np": SimpleNamespace(random=drawn, errstate=lambda **_: Quiet()),
        "print": lambda *_: None,
    }


def law(function: Callable[..., Any], data: list[int]) -> dict[str, Fraction]:
    """The probability of every output, as it prints."""
    noise = _Noise()
    space = function.__globals__
    replaced = _modules(noise)
    before = {name: space[name] for name in replaced if name in space}
    space.update(replaced)
    try:
        found: dict[str, Fraction] = {}
        for value, share in noise.runs(lambda: function(list(data))):
            found[repr(value)] = found.get(repr(value), Fraction(0)) + share
    finally:
        for name in replaced:
            space.pop(name)
        space.update(before)
    return found


def largest_ratio(function: Callable[..., Any]) -> Fraction | None:
    """The largest ratio of the probabilities of an output on neighbouring lists of two bits; None if one of them is 0.

    Raises:
        Exception: the function fails on some data.
    """
    laws = {data: law(function, list(data)) for data in itertools.product((0, 1), repeat=2)}
    worst = Fraction(1)
    for one, other in itertools.permutations(laws, 2):
        if sum(x != y for x, y in zip(one, other, strict=True)) == 1:
            for value, p in laws[one].items():
                if value not in laws[other]:
                    return None
                worst = max(worst, p / laws[other][value])
    return worst
