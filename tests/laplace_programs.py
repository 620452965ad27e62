"""Random mechanisms with Laplace and exponential noise, as source text; and deciding about them by exact probabilities alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from privproof.audits.sampling.output_samples import FLOAT
from privproof.engines.laplace.events import measure, tree
from privproof.engines.laplace.refuting import Loss, words
from privproof.language import Mechanism
from privproof.language.patterns import ANY, Between
from tests.corpus import Program
from tests.programs import load as load_program

HEADER = "from privproof.language import exponential, laplace, real, real_queries, real_stream\n\n\n"
KINDS = ("sparse", "largest", "summing", "straight", "odd")
CUTS = (Fraction(-2), Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(2))


def load(folder: Path, program: str | Program) -> Mechanism:
    """The mechanism of a program."""
    return load_program(folder, program if isinstance(program, Program) else HEADER + program)


class Author:
    """Writes one random program.

    Attributes:
        text: its source.
        kind: which family it is of.
        scale: the sum of 1/scale over its noise, a rough idea of what it may cost.
    """

    def __init__(self, seed: int, kind: str | None = None) -> None:
        self.random = Random(seed)
        self.kind = kind or self.pick(*KINDS)
        self.sites: list[Fraction] = []
        self.sensitivity = self.pick(1, 1, 1, 2)
        self.relation = self.pick("each", "each", "one", "monotone")
        self.lines: list[str] = []
        self.depth = 1
        self.public: list[str] = []
        self.inputs: list[str] = []
        getattr(self, self.kind)()
        listed = ", ".join([*self.inputs, *self.public])
        head = f'@mechanism(neighbours="{self.relation}")\ndef m({listed}):\n'
        self.text = head + "\n".join(self.lines) + "\n"

    def pick(self, *among: Any) -> Any:
        return self.random.choice(among)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def number(self) -> str:
        """A scale that is a constant."""
        value = self.pick(
            Fraction(1), Fraction(2), Fraction(4), Fraction(3), Fraction(4, 3), Fraction(1, 2), Fraction(3, 2)
        )
        self.sites.append(1 / value)
        return str(value) if value.denominator == 1 else f"Fraction({value.numerator}, {value.denominator})"

    def scale(self, *, counted: bool) -> str:
        """A scale, perhaps a multiple of N."""
        value = self.number()
        return f"{value} * N" if counted and self.chance(0.6) else value

    def noise(self, center: str, *, counted: bool = False) -> str:
        """Noise at a center."""
        kind = "exponential" if self.chance(0.12) else "laplace"
        return f"{kind}({center}, scale={self.scale(counted=counted)})"

    def answers(self) -> None:
        """Declare a list of answers."""
        declared = self.pick("real_queries", "real_queries", "real_queries", "queries")
        self.inputs.append(f"q: {declared}({'sensitivity=2' if self.sensitivity == 2 else ''})")

    @property
    def claims(self) -> list[Fraction]:
        """Claims worth trying: near what the noise suggests."""
        total = sum(self.sites, Fraction(0)) * self.sensitivity
        first = self.sites[0] * self.sensitivity if self.sites else Fraction(1)
        return sorted(
            {total, total * 2, total / 2, first, 2 * first, total + first, Fraction(1), Fraction(3, 4) * total}
        )

    # ------------------------------------------------------------------------------------------------------ sparse vector

    def sparse(self) -> None:
        """A relative of the sparse vector technique."""
        self.answers()
        cutoff = self.pick("N", "N", "1", "2", None)
        counted = cutoff == "N"
        if self.chance(0.5):
            self.public.append("threshold: public(real())")
            threshold = "threshold"
        else:
            threshold = self.pick("0", "1", "Fraction(1, 2)")
        if counted:
            self.public.append("N: public(integer(low=1))")
        sums = self.chance(0.15)
        compare = self.pick(">=", ">=", ">", "<")
        below = self.chance(0.25)
        redrawn = self.chance(0.2)
        written = self.pick("True", "True", "1", "gap", "value", "fresh", "i")
        fixed = self.scale(counted=counted)
        limit = f"laplace({threshold}, scale={fixed})" if self.chance(0.92) else threshold
        self.put(f"limit = {limit}")
        if cutoff:
            self.put("count = 0")
        if sums:
            self.put("total = 0")
        style = self.pick("for", "enumerate", "while", "while")
        if written == "i":
            style = "enumerate"
        answer = {"for": "answer", "enumerate": "answer", "while": "q[i]"}[style]
        if style == "for":
            self.put("for answer in q:")
        elif style == "enumerate":
            self.put("for i, answer in enumerate(q):")
        else:
            self.put("i = 0")
            guard = f" and count < {cutoff}" if cutoff and self.chance(0.7) else ""
            self.put(f"while i < len(q){guard}:")
            if guard:
                cutoff = f"{cutoff} "
        stops = bool(cutoff) and not cutoff.endswith(" ")
        limited = cutoff.strip() if cutoff else None
        self.depth += 1
        read = answer
        if sums:
            self.put(f"total = total + {answer}")
            read = "total"
        elif self.chance(0.1):
            read = f"2 * {answer}"
        self.put(f"noisy = {self.noise(read, counted=counted) if self.chance(0.92) else read}")
        self.put(f"if noisy {compare} limit:")
        shown = {"gap": "noisy - limit", "value": "noisy", "True": "True", "1": "1", "i": "i"}
        above, under = ("then", "else")
        for side in (above, under):
            self.depth += 1
            if side == above:
                self.put(f"yield {shown.get(written) or self.noise(read, counted=counted)}")
            else:
                quiet = "False" if written == "True" else self.pick("0", "0", "'no'")
                self.put(f"yield {quiet}")
            if limited and (side == under) == below:
                self.put("count += 1")
                if stops:
                    self.put(f"if count >= {limited}:")
                    self.put("    return")
                if redrawn and limit != threshold:
                    again = self.chance(0.5)
                    if again:
                        self.put(f"if count < {limited}:")
                        self.depth += 1
                    self.put(f"limit = {limit}")
                    self.depth -= again
            self.depth -= 1
            if side == above:
                self.put("else:")
        if style == "while":
            self.put("i += 1")
        self.depth -= 1

    # --------------------------------------------------------------------------------------------------------- noisy max

    def largest(self) -> None:
        """A relative of noisy max."""
        self.answers()
        sign = self.pick(">", ">", ">=", "<", "<=")
        returned = self.pick("winner", "winner", "winner", "best", "winner, best", "second", "flag")
        self.put("best, winner, second, flag = 0, 0, 0, False")
        self.put("for i, answer in enumerate(q):")
        self.depth += 1
        self.put(f"noisy = {self.noise(self.pick('answer', 'answer', 'answer', '-answer', '2 * answer'))}")
        first = self.pick("i == 0 or ", "i == 0 or ", "i == 0 or ", "")
        self.put(f"if {first}noisy {sign} best:")
        self.depth += 1
        if returned == "second":
            self.put("second = winner")
        self.put("best, winner = noisy, i")
        if returned == "flag":
            self.put("flag = i > 0")
        self.depth -= 2
        if returned == "winner" and self.chance(0.15):
            returned = "(winner, " + self.noise("best") + ")"
        if returned == "winner" and self.chance(0.15):
            self.put("if winner > 1:")
            self.put("    return 'late'")
            returned = "'early'"
        self.put(f"return {returned}")

    # -------------------------------------------------------------------------------------------------------- selections

    def branching(self) -> None:
        """Tests on data that decide about noise: drawn in one branch, in both, or in another number in each."""
        self.inputs += [f"{name}: {self.pick('real(0, 3)', 'real()', 'integer()')}" for name in self.pick("x", "xy")]
        self.end = self.pick("return out", "return out", "return a > 1", "return a, b > 2", "return b")
        self.put("out, a, b = [], 0, 1")
        for _ in range(self.pick(1, 2)):
            self.levels(2)
        self.put(self.end)

    def levels(self, left: int) -> None:
        """One test on data, with what is done in its branches."""
        names = [each.partition(":")[0] for each in self.inputs]
        self.put(f"if {self.pick(*names)} {self.pick('>', '>=', '<')} {self.pick(0, 1, 2)}:")
        for _ in range(self.pick(1, 2)):
            self.depth += 1
            for _ in range(self.pick(1, 2, 3)):
                self.in_level(names, left)
            self.depth -= 1
            self.put("else:")
        self.lines.pop()

    def in_level(self, names: list[str], left: int) -> None:
        """A statement of a branch."""
        kind = self.pick("draw", "draw", "draw", "show", "test", "assign", "branch", "end")
        if kind == "draw":
            centre, noise = self.pick(*names, *names, "0", "1", "a"), self.pick(*["laplace"] * 9, "exponential")
            scale = self.pick(1, 1, 1, 2)
            self.sites.append(Fraction(1, scale))
            self.put(f"{self.pick('a', 'a', 'b')} = {noise}({centre}, scale={scale})")
        elif kind == "show" and self.end == "return out":
            self.put(f"out.append({self.pick('a', 'b', '1')})")
        elif kind == "test":
            self.put(f"if a > {self.pick(0, 3)}:")
            self.put(f"    {self.pick('b = 2', 'b = a', 'a = b', 'out.append(a)' if 'out' in self.end else 'a = 1')}")
        elif kind == "branch" and left:
            self.levels(left - 1)
        elif kind == "end" and self.chance(0.3):
            self.put(self.end)
        else:
            self.put(f"b = {self.pick('a', '2', 'b + 1', names[0])}")

    def selecting(self) -> None:
        """What the first of many noisy values are: by a loop or by lists, and what is shown of them."""
        self.answers()
        sign = self.pick(">", ">", ">", "<")
        center = self.pick("v", "v", "v", "-v", "2 * v", "v + 1")
        shown = ["first", "a - b", "b - a", "a", "second", "b - c", "fresh", "b", "i + 1"]
        wanted = self.random.sample(shown, self.pick(1, 2, 2, 3))
        if self.chance(0.5):
            self.put(f"xs = [{self.noise(center)} for v in q]")
            self.put(f"ys = sorted(xs{', reverse=True' if sign == '>' else ''})")
            names = {
                "a": "ys[0]",
                "b": "ys[1]",
                "c": "ys[2]",
                "first": f"xs.index({'max' if sign == '>' else 'min'}(xs))",
            }
            names["second"] = "xs.index(ys[1])"
            self.put("if len(q) < 3:")
            self.put("    return None")
            for name, meaning in names.items():
                self.put(f"{name} = {meaning}")
        elif self.chance(0.5):
            self.put("if len(q) < 3:")
            self.put("    return None")
            self.put(f"xs = [{self.noise(center)} for v in q]")
            key = "xs[i]" if sign == "<" else "-xs[i]"
            orders = [f"sorted(range(len(q)), key=lambda i: {key})", f"sorted(range(len(xs)), key=lambda i: {key})[:3]"]
            turned = ", reverse=True" if sign == ">" else ""
            orders.append(f"[i for _, i in sorted(((x, i) for i, x in enumerate(xs)){turned})[:3]]")
            self.put(f"order = {self.pick(*orders)}")
            self.put("first, second = order[0], order[1]")
            self.put("a, b, c = xs[first], xs[second], xs[order[2]]")
        else:
            self.put("a, b, c, first, second = None, None, None, None, None")
            self.put("for i, v in enumerate(q):")
            self.depth += 1
            self.put(f"x = {self.noise(center)}")
            self.put(f"if a is None or x {sign} a:")
            kept = self.pick("a, b, c, first, second = x, a, b, i, first", "a, b, first = x, a, i")
            self.put(f"    {kept}")
            self.put(f"elif b is None or x {sign} b:")
            self.put(f"    {self.pick('b, c, second = x, b, i', 'b, c, second = x, b, i', 'b, second = x, i')}")
            self.put(f"elif c is None or x {sign}{self.pick('', '', '=')} c:")
            self.put("    c = x")
            self.depth -= 1
            self.put("if len(q) < 3:")
            self.put("    return None")
        parts = [{"fresh": self.noise("q[first]"), "i + 1": "first + 1"}.get(part, part) for part in wanted]
        self.put(f"return {', '.join(parts)}")

    # -------------------------------------------------------------------------------------------------------------- sums

    def summing(self) -> None:
        """Sums, prefix sums and histograms."""
        self.answers()
        kind = self.pick("sum", "prefix", "histogram", "listed", "window", "reused", "average")
        if kind == "sum":
            if self.chance(0.3):
                self.put("if len(q) == 0:")
                self.put("    return 0")
            self.put(f"return {self.noise(self.pick('sum(q)', '2 * sum(q)', 'sum(q) / 2', 'sum(q) + 1'))}")
        elif kind == "prefix":
            self.put("total = 0")
            self.put("for value in q:")
            self.depth += 1
            if self.chance(0.5):
                self.put(f"total = total + {self.noise('value')}")
                self.put("yield total")
            else:
                self.put("total = total + value")
                self.put(f"yield {self.noise('total')}")
        elif kind == "histogram":
            self.put(f"return [{self.noise('value')} for value in q]")
        elif kind == "listed":
            self.put("out = []")
            self.put("for value in q:")
            self.put(f"    out.append({self.noise('value')} {self.pick('', '+ 1', '- value', '> 0')})")
            self.put("return out")
        elif kind == "window":
            self.put("last = 0")
            self.put("for value in q:")
            self.put(f"    yield {self.noise('value + last')}")
            self.put("    last = value")
        elif kind == "reused":
            self.put(f"noise = {self.noise('0')}")
            self.put("for value in q:")
            self.put(f"    yield {self.pick('value + noise', 'value > noise', self.noise('value') + ' + noise')}")
        else:
            self.public.append("M: public(integer(low=1))")
            self.put("total = 0")
            self.put("for i, value in enumerate(q):")
            self.depth += 1
            self.put("total = total + value")
            self.put("if (i + 1) % M == 0:")
            self.put(f"    yield {self.noise('total')}")
            if self.chance(0.8):
                self.put("    total = 0")
        self.depth = 1

    # ----------------------------------------------------------------------------------------------------- straight lines

    def straight(self) -> None:
        """A small program on one or two numbers."""
        names = ["x", "y"][: self.pick(1, 2, 2)]
        bounds = self.pick("", "", "", "low=0", "low=0, high=3", "low=-2, high=2")
        for name in names:
            declared = self.pick("real", "real", "integer") if "high" not in bounds else "real"
            options = ", ".join(filter(None, [bounds, "sensitivity=2" if self.sensitivity == 2 else ""]))
            self.inputs.append(f"{name}: {declared}({options})")
        self.values = list(names)
        self.truths: list[str] = []
        self.draws = self.pick(1, 2, 2, 3)
        generator = self.chance(0.4)
        for k in range(self.draws):
            self.put(f"z{k} = {self.noise(self.mix())}")
            self.values.append(f"z{k}")
            if self.chance(0.35):
                self.branch(generator)
        if self.chance(0.2):
            self.put(f"b = bernoulli({self.pick(repr('1/3'), repr('1/2'))})")
            self.truths.append("b")
        if self.chance(0.4):
            self.branch(generator)
        word = "yield" if generator else "return"
        for _ in range(self.pick(1, 1, 2) if generator else 1):
            self.put(f"{word} {self.shown()}")

    def mix(self) -> str:
        """A combination of numbers."""
        one = self.pick(*self.values)
        kind = self.random.random()
        if kind < 0.5:
            return one
        other = self.pick(*self.values)
        if kind < 0.65:
            return f"{one} {self.pick('+', '-')} {other}"
        if kind < 0.75:
            return f"{self.pick(2, -1, 3)} * {one} {self.pick('+', '-')} {self.pick('1', 'Fraction(1, 2)', other)}"
        if kind < 0.82:
            return f"{one} / 2"
        if kind < 0.88:
            return f"{self.pick('max', 'min')}({one}, {self.pick('0', other)})"
        if kind < 0.93:
            return f"abs({one})"
        return f"({one} if {self.test()} else {other})"

    def test(self) -> str:
        """A comparison."""
        if self.truths and self.chance(0.3):
            return self.pick(*self.truths)
        one = f"{self.pick(*self.values)} {self.pick('>', '>=', '<', '<=')} {self.pick('0', '1', *self.values)}"
        if self.chance(0.15):
            return f"({one} {self.pick('and', 'or')} {self.pick(*self.values)} < 1)"
        return f"not {one}" if self.chance(0.08) else one

    def branch(self, generator: bool) -> None:
        """An if, with assignments or outputs in it."""
        kind = self.random.random()
        new = f"w{len(self.lines)}"
        test = self.test()
        if kind < 0.5:
            self.put(f"{new} = {self.pick('0', *self.values)}")
            self.put(f"if {test}:")
            self.put(f"    {new} = {self.mix()}")
            if self.chance(0.4):
                self.put("else:")
                self.put(f"    {new} = {self.pick('1', self.mix())}")
            self.values.append(new)
        elif kind < 0.65:
            self.put(f"{new} = {test}")
            self.truths.append(new)
        else:
            self.put(f"if {test}:")
            self.depth += 1
            if generator:
                self.put(f"yield {self.shown()}")
                if self.chance(0.4):
                    self.put("return")
            else:
                self.put(f"return {self.shown()}")
            self.depth -= 1

    def shown(self) -> str:
        """An output."""
        noisy = [v for v in self.values if v.startswith("z")]
        kind = self.random.random()
        if kind < 0.4:
            return self.pick(*noisy)
        if kind < 0.55:
            return self.test()
        if kind < 0.7:
            return self.pick("1", "'done'", "True", "0")
        if kind < 0.8:
            return f"1 if {self.test()} else 2"
        return self.mix()

    # ---------------------------------------------------------------------------------------------------------------- odd

    def odd(self) -> None:
        """Loops with something unusual in them."""
        self.answers()
        kind = self.pick(
            "count",
            "twice",
            "first",
            "two limits",
            "state",
            "coin",
            "clamped",
            "fixed",
            "nested",
            "sums",
            "stream",
            "gap",
        )
        if kind == "count":
            self.put("count = 0")
            self.put("for value in q:")
            self.put(f"    if {self.noise('value')} > {self.pick('0', '1')}:")
            self.put("        count += 1")
            self.put("return count")
        elif kind == "twice":
            self.put("for value in q:")
            self.put(f"    yield {self.noise('value')}")
            self.put("for value in q:")
            self.put(f"    yield {self.noise('value')} > 0")
        elif kind == "first":
            self.put(f"limit = {self.noise('0')}")
            self.put("for i, value in enumerate(q):")
            self.put(f"    if {self.noise('value')} {self.pick('>', '>=', '<')} limit:")
            self.put(f"        return {self.pick('i', 'i + 1', 'True')}")
            self.put(f"return {self.pick('-1', 'len(q)')}" if "True" not in self.lines[-1] else "return False")
        elif kind == "two limits":
            self.put(f"low = {self.noise('0')}")
            self.put(f"high = {self.noise('2')}")
            self.put("for value in q:")
            self.depth += 1
            self.put(f"noisy = {self.noise('value')}")
            self.put("if noisy > low and noisy < high:")
            self.put("    yield 'inside'")
            self.put("else:")
            self.put("    yield 'outside'")
            if self.chance(0.6):
                self.put("    return")
            self.depth -= 1
        elif kind == "state":
            self.put(f"limit = {self.noise('0')}")
            self.put("seen = False")
            self.put("for value in q:")
            self.depth += 1
            self.put(f"above = {self.noise('value')} > limit")
            self.put("if above:")
            self.put("    seen = True")
            self.put(f"yield {self.pick('seen', 'above')}")
            self.put(f"if {self.pick('above', 'seen')}:")
            self.put("    return")
            self.depth -= 1
            self.lines = [line.replace("yield seen", "yield above") for line in self.lines]
        elif kind == "coin":
            self.put("for value in q:")
            self.put(f"    if bernoulli({self.pick(repr('1/2'), repr('1/4'))}):")
            self.put(f"        yield {self.noise('value')}")
            self.put("    else:")
            self.put(f"        yield {self.pick('None', repr('skip'), self.noise('value') + ' > 0')}")
        elif kind == "clamped":
            self.put("for value in q:")
            self.put(f"    yield {self.noise(self.pick('max(value, 0)', 'min(value, 1)', 'abs(value)'))}")
        elif kind == "fixed":
            self.inputs = [
                f"q: real_queries({self.pick('low=0, high=3', 'low=0', '')}{', size=2' if self.chance(0) else ''})"
            ]
            self.put("limit = " + self.noise("1"))
            self.put("for value in q:")
            self.put("    if value > 2:")
            self.put(f"        yield {self.noise('value')}")
            self.put("    else:")
            self.put("        yield limit > value")
        elif kind == "nested":
            self.put("for i, value in enumerate(q):")
            self.depth += 1
            self.put(f"noisy = {self.noise('value')}")
            self.put("if noisy > 0:")
            self.put(f"    if {self.noise('value')} > 1:")
            self.put("        yield 2")
            self.put("    else:")
            self.put("        yield 1")
            self.put("else:")
            self.put(f"    yield {self.pick('0', 'noisy', '-1')}")
            self.depth -= 1
        elif kind == "sums":
            self.put("positive, negative = 0, 0")
            self.put("for value in q:")
            self.depth += 1
            self.put("if value > 0:")
            self.put("    positive = positive + value")
            if self.chance(0.6):
                self.put("else:")
                self.put("    negative = negative - value")
            self.depth -= 1
            self.put(f"yield {self.noise('positive')}")
            self.put(f"yield {self.noise('negative')}")
        elif kind == "stream":
            self.inputs = ["s: real_stream()"]
            self.put(f"limit = {self.noise('0')}")
            self.put("for value in s:")
            self.depth += 1
            self.put(f"if {self.noise('value')} > limit:")
            self.put(f"    yield {self.pick('True', self.noise('value'))}")
            self.put("    return")
            self.put("yield False")
            self.depth -= 1
        else:
            self.put("best, next_best, winner = 0, 0, 0")
            self.put("for i, value in enumerate(q):")
            self.depth += 1
            self.put(f"noisy = {self.noise('value')}")
            self.put("if i == 0 or noisy > best:")
            self.put("    next_best = best")
            self.put("    best, winner = noisy, i")
            self.depth -= 1
            self.put(f"return {self.pick('winner, best - next_best', 'best - next_best', 'winner')}")


# ------------------------------------------------------------------------------------------- data, words, probabilities


def relation_of(mechanism: Mechanism) -> str:
    """Which data are neighbours."""
    return mechanism.relation or next(d.relation for d in mechanism.inputs.values() if not d.public)


def streams(mechanism: Mechanism) -> bool:
    """Whether it reads a stream."""
    return any(declared.shape == "stream" for declared in mechanism.inputs.values())


def neighbours(mechanism: Mechanism, size: int, random: Random, wide: int = 6) -> tuple[dict[str, Any], dict[str, Any]]:
    """Random neighbouring data; public numbers are small."""
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}
    private = [
        (n, i) for n, d in mechanism.inputs.items() if not d.public for i in range(1 if d.shape == "value" else size)
    ]
    changed = random.choice(private) if private else None
    up = random.choice((1, -1))
    relation = relation_of(mechanism)
    for name, declared in mechanism.inputs.items():
        low = -wide if declared.low is None else int(declared.low)
        high = max(low, wide) if declared.high is None else int(declared.high)
        within = 1 if declared.within is None else Fraction(int(declared.within.p), int(declared.within.q))

        def value(low: int = low, high: int = high, real: bool = declared.real) -> Any:
            return Fraction(random.randint(2 * low, 2 * high), 2) if real else random.randint(low, high)

        if declared.public:
            left[name] = right[name] = random.randint(max(low, 1), max(low, 1) + 1) if not declared.real else value()
            continue
        ones, others = [], []
        for i in range(1 if declared.shape == "value" else size):
            one = value()
            by = random.choice((within, within, within / 2 if declared.real else within, 0)) * random.choice((1, -1))
            if relation == "one":
                by = within * up if (name, i) == changed else 0
            elif relation == "monotone":
                by = abs(by) * up
            other = one + by
            if (declared.low is not None and other < low) or (declared.high is not None and other > high):
                other = one
            ones.append(one)
            others.append(other if declared.real else int(other))
        left[name], right[name] = (ones[0], others[0]) if declared.shape == "value" else (ones, others)
    return left, right


def filled(pattern: Any, random: Random) -> Iterator[Any]:
    """A word, and events in it: half-lines and intervals in the place of noisy numbers."""
    yield pattern

    def put(part: Any) -> Any:
        if isinstance(part, Between) and part == ANY:
            cut = random.choice(CUTS)
            return random.choice((Between(None, cut), Between(cut, None), Between(cut, cut + 1)))
        if isinstance(part, list | tuple):
            return type(part)(put(item) for item in part)
        return part

    for _ in range(2):
        event = put(pattern)
        if repr(event) == repr(pattern):
            return
        yield event


def losses(mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any], random: Random) -> Iterator[Loss]:
    """The losses of all words on given data, both ways, exactly."""
    trees = [tree(mechanism, side) for side in (left, right)]
    for one, other, a, b in ((left, right, *trees), (right, left, *reversed(trees))):
        for pattern, _ in words(a):
            for event in filled(pattern, random):
                yield Loss(one, other, event, measure(a, event), measure(b, event))


# ---------------------------------------------------------------------------------------------------------- Monte Carlo


def frequency(samples: Any, event: Any) -> float:
    """How often runs lie in an event."""
    total = 0
    for code, output in enumerate(samples.outputs):
        chosen = samples.codes == code
        slots = iter(range(10**6))
        inside = _inside(event, output, samples.floats, slots, chosen)
        if inside is not None:
            total += int(np.count_nonzero(inside))
    return total / len(samples)


def _inside(event: Any, output: Any, floats: Any, slots: Iterator[int], chosen: Any) -> Any:
    if isinstance(event, list | tuple):
        if type(event) is not type(output) or len(event) != len(output):
            return None
        for wanted, part in zip(event, output, strict=True):
            chosen = _inside(wanted, part, floats, slots, chosen)
            if chosen is None:
                return None
        return chosen
    if output is FLOAT:
        values = floats[next(slots)]
        if not isinstance(event, Between):
            number = isinstance(event, int | Fraction) and not isinstance(event, bool)
            return chosen & (values == float(event)) if number else None
        if event.low is not None:
            chosen = chosen & (values >= float(event.low))
        return chosen if event.high is None else chosen & (values <= float(event.high))
    if isinstance(event, Between):
        if isinstance(output, bool) or not isinstance(output, int | Fraction):
            return None
        inside = (event.low is None or event.low <= output) and (event.high is None or output <= event.high)
        return chosen if inside else None
    same = output == event and isinstance(output, bool) == isinstance(event, bool)
    return chosen if same and isinstance(output, str) == isinstance(event, str) else None
