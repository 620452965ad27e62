"""Random mechanisms with continuous noise from a grammar, and whether the program that is proved does what the function does.

The grammar has the form of `random_programs`.  The program of `compiling.relational` and the function are run on the same data and
noise, at random and on every way through the function at small sizes.
"""

from __future__ import annotations

import re
from random import Random

from privproof.compiling.relational import Unsupported, program_for_alignment
from privproof.compiling.translation import program_agreement, refuse_endless
from privproof.errors import LanguageError
from privproof.language import Mechanism

GRAMMAR: dict[str, list[str]] = {
    "real": [
        *("$name", "$name", "$name", "x", "v", "0", "1", "-2", "Fraction(1, 2)", "n", "weight"),
        *(
            "($real + $real)",
            "($real - $real)",
            "(2 * $real)",
            "$real / 2",
            "-$real",
            "+$real",
            "abs($real)",
            "(n * 3 - 1)",
        ),
        *(
            "max($real, $real)",
            "min($real, $real, 1)",
            "($real if $bool else $real)",
            "sum(q)",
            "q[0]",
            "q[-1]",
            "q[k]",
        ),
        *("shift($real)", "larger(b=$real, a=$real)", "noisy($real)", "first_above(q, $real)", "len(q)"),
        *("$noise", "$noise", "$noise"),
    ],
    "noise": [
        *("laplace($real, scale=2)", "laplace($real, scale=$scale)", "exponential($real, scale=1)", "uniform(0, 2)"),
        *("laplace(0, scale=n)", "laplace($real, scale=2 * n / epsilon)"),
    ],
    "scale": ["1", "3", "Fraction(1, 2)", "1 / epsilon", "epsilon"],
    "bool": [
        *("$flag", "True", "$flag"),
        *(
            "$real < $real",
            "$real >= $real",
            "$real < $real <= $real",
            "$real > $real",
            "k == 0",
            "k < n",
            "weight == 2",
        ),
        *(
            "not ($bool)",
            "($bool and $bool)",
            "($bool or $bool)",
            "bernoulli('1/3')",
            "best is None",
            "best is not None",
        ),
    ],
    "shown": ["$real", "$real", "$bool", "k", "'a'", "None", "($bool, $real)", "($real, k)", "best", "i"],
    "name": ["a", "b", "c"],
    "flag": ["p", "r"],
    "statement": [
        *("$name = $real", "$name = $real", "$name = $noise", "$name, $name = $real, $real", "$name = $name = $real"),
        *(
            "$name += $real",
            "$name -= $noise",
            "k += 1",
            "k = k + 1",
            "k = 0",
            "$flag = $bool",
            "$flag = $bool",
            "best = $real",
        ),
        *("best = None", "$name: int = $real", "$name, (k, $name) = $real, (1, $real)", "pass", "$shown", "i = k"),
        *("if $bool:\n$block", "if $bool:\n$block\nelse:\n$block", "if $bool:\n$block\nelif $bool:\n$block"),
        *(
            "if best is None or $real > best:\n    best = $real\n    i = k",
            "if $bool:\n    $name = $real\n    $flag = $bool",
        ),
        *("for v in q:\n$block", "for k, v in enumerate(q):\n$block", "for k, v in enumerate(q, 1):\n$block"),
        *("for i, i in enumerate(q):\n$block", "for a, b in zip(q, q):\n$block", "for a, a in zip(q, q):\n$block"),
        *("for k in range(2):\n$block", "for k in range(len(q)):\n$block", "for i in range(1, 4, 2):\n$block"),
        *(
            "$turn = 0\nwhile $turn < len(q) and $bool:\n    v = q[$turn]\n    $turn += 1\n$block",
            "$turn = 0\nwhile $turn < 2:\n    $turn += 1\n$block",
        ),
        "match k:\n    case 0:\n        $name = $real\n    case 1 | 2:\n        $name = $real",
        *("$leave", "$leave", "$write", "$write", "$write"),
    ],
}
HELPERS = """\
def shift(a, by=1):
    a = a + by
    return a


def larger(a, b):
    if a > b:
        return a
    return b


def noisy(a, size=2):
    return laplace(a, scale=size) + 1


def first_above(values, bound):
    for at, value in enumerate(values):
        if value > bound:
            return at
    return -1


"""
PROLOGUE = [
    "a = x",
    "b = 1",
    "c = laplace(0, scale=2)",
    "k = 0",
    "i = 0",
    "v = 0",
    "p = True",
    "r = c > x",
    "best = None",
]
_SLOT = re.compile(r"\$([a-z]+)")


class ContinuousAuthor:
    """Writes one random mechanism with continuous noise: the same seed, the same program.

    Attributes:
        text: the program.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.shape = self.random.choice(("return", "return", "list", "yield", "yield"))
        self.draws = 4
        self.loops = 0
        self.turns = 0
        lines = list(PROLOGUE)
        if self.random.random() < 0.1:
            lines.pop(self.random.randrange(len(lines)))
        lines += ["out = []"] if self.shape == "list" else []
        lines += [self._statement(2) for _ in range(self.random.randint(1, 4))]
        end = {
            "return": f"return {self._phrase('shown', 2)}",
            "list": "return out",
            "yield": f"yield {self._phrase('shown', 1)}",
        }
        body = "\n".join([*lines, end[self.shape]])
        declared = "q: real_queries(), x: real(), n: public(integer(low=1)), epsilon=1, weight=2"
        self.text = f"{HELPERS}@mechanism\ndef m({declared}):\n{_indented(body)}\n"

    def _statement(self, depth: int) -> str:
        options = GRAMMAR["statement"]
        if depth <= 0:
            options = [option for option in options if "$block" not in option]
        production = self.random.choice(options)
        if production == "$leave":
            return self.random.choice(("break", "continue")) if self.loops else "pass"
        if production == "$write":
            shown = self._phrase("shown", 1)
            return {"return": "pass", "list": f"out.append({shown})", "yield": f"yield {shown}"}[self.shape]
        loop = production.startswith(("for", "$turn"))
        self.turns += "$turn" in production
        production = production.replace("$turn", f"j{self.turns}")
        head, *blocks = production.split("$block")
        filled = self._filled(head, 1)
        self.loops += loop
        for part in blocks:
            inner = "\n".join(self._statement(depth - 1) for _ in range(self.random.randint(1, 2)))
            filled += _indented(inner) + self._filled(part, 1)
        self.loops -= loop
        return filled

    def _filled(self, production: str, depth: int) -> str:
        return _SLOT.sub(lambda found: self._phrase(found[1], depth), production)

    def _phrase(self, kind: str, depth: int) -> str:
        options = GRAMMAR[kind]
        if self.draws <= 0:
            options = [
                o for o in options if not any(word in o for word in ("noise", "laplace", "exponential", "uniform"))
            ] or ["0"]
        if depth <= 0:
            options = [o for o in options if "$" not in o.replace("$name", "").replace("$flag", "")] or ["1"]
        production = self.random.choice(options)
        self.draws -= "laplace" in production or "exponential" in production or "noisy" in production
        return self._filled(production, depth - 1)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def outcome(mechanism: Mechanism) -> str:
    """Whether the program that alignments speak of does what the function does: "agrees", or why there is no program.

    Raises:
        AssertionError: they differ.
    """
    said = "agrees"
    for convert in (True, False):
        try:
            program = program_for_alignment(mechanism, convert=convert)
            refuse_endless(program)
            told = program_agreement(program).told
        except Unsupported:
            said = "unsupported"
            continue
        except LanguageError as refusal:
            return refusal.code
        if told is not None and "in how equal outputs print" not in told:
            raise AssertionError(told)
        said = said if told is None else "prints differently"
    return said
