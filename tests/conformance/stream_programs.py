"""Random functions on streams, and the automata made from them followed literally.

* `source`: the text of a random function on a stream; `loaded` writes texts to a file and imports them.
* `automaton_probability`: the probability that an automaton writes a word, summed over all its executions.
* `neighbours`, `sampled_word`: random data that may be confused, and a word that the function writes on one of them.
* `document`: a random ``kind: stream-automaton`` document.
"""

from __future__ import annotations

import importlib.util
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, ctx

from privproof.engines.integrals.piecewise_functions import CentredNoise
from privproof.engines.integrals.region_probabilities import difference, probability_ball
from privproof.exact import rational
from privproof.language import Mechanism
from privproof.language.linear import exactly
from privproof.language.noise import drawing
from privproof.language.patterns import Between, matching
from privproof.language.running import run_once
from privproof.models.stream_automaton import alternatives
from privproof.scenarios import StreamQuestion

HEADER = """# mypy: ignore-errors
from fractions import Fraction

from privproof.language import laplace, mechanism, public, real, real_stream, stream


"""
SCALES = ("1", "2", "4", "Fraction(3, 2)", '"1/2"', "4 * c / epsilon", "2 / epsilon")


class Late(Exception):
    """Something did not come to an end."""


class _Alarm(BaseException):
    """Time is up."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Fail, rather than wait, where something does not come to an end."""

    def late(*_: Any) -> None:
        raise _Alarm

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    except _Alarm:
        raise Late(f"no end within {seconds} seconds") from None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------------------------------------------------- functions


class _Writer:
    """Writes one function."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng, self.name = rng, name
        self.lines: list[str] = []
        self.kind = rng.choices(
            ["real_stream()", "stream()", "real_stream(0, 1)", "real_stream(sensitivity=2)"], [7, 1, 1, 1]
        )[0]
        self.extra = rng.choices(["", "public", "secret"], [6, 2, 2])[0]
        if self.extra == "secret" and self.kind not in ("real_stream()", "real_stream(0, 1)"):
            self.extra = ""
        self.relation = rng.choices(["each", "one", "monotone"], [3, 1, 1])[0]
        self.bounded = rng.random() < 0.6
        self.thresholds = [f"t{i}" for i in range(rng.choice([1, 1, 2, 2, 3]))]
        self.table = rng.random() < 0.2
        self.raw = rng.random() < 0.04
        self.shared = rng.random() < 0.6
        self.silent = rng.random() < 0.15
        self.drawn = 0

    def scale(self) -> str:
        return self.rng.choice(SCALES)

    def constant(self) -> str:
        return self.rng.choice(["0", "0", "1", "-1", "2", "Fraction(1, 2)"])

    def number(self) -> str:
        """A noisy answer."""
        if self.shared and self.rng.random() < 0.8:
            return "noisy"
        self.drawn += 1
        middle = self.rng.choices(["x", "-x", "x + 1", "x - Fraction(1, 2)", "0"], [10, 2, 1, 1, 1])[0]
        return f"laplace({middle}, scale={self.scale()})"

    def threshold(self) -> str:
        if self.table and self.rng.random() < 0.5:
            return "ts[mode]"
        found = self.rng.choice(self.thresholds)
        chance = self.rng.random()
        if chance < 0.1:
            return f"{found} + {self.constant()}"
        if chance < 0.17 and len(self.thresholds) > 1:
            return f"{self.rng.choice(['min', 'max'])}({', '.join(self.thresholds[:2])})"
        return found

    def atom(self) -> str:
        kind = self.rng.choices(
            ["compare", "swapped", "chain", "constant", "state", "thresholds", "raw", "bounds", "abs"],
            [12, 3, 3, 1, 3, 0.7, 4 if self.raw else 0, 0.7, 0.4],
        )[0]
        sign = self.rng.choice(["<", "<=", ">", ">="])
        match kind:
            case "compare":
                return f"{self.number()} {sign} {self.threshold()}"
            case "swapped":
                return f"{self.threshold()} {sign} {self.number()}"
            case "chain":
                return f"{self.threshold()} <= {self.number()} < {self.threshold()}"
            case "constant":
                return f"{self.number()} {sign} {self.constant()}"
            case "thresholds":
                return f"{self.threshold()} {sign} {self.threshold()}"
            case "raw":
                return f"x {sign} {self.threshold()}"
            case "bounds":
                return (
                    f"{self.rng.choice(['min', 'max'])}({self.number()}, {self.threshold()}) {sign} {self.threshold()}"
                )
            case "abs":
                return f"abs({self.number()}) {sign} 1"
        return self.rng.choice(["mode == 1", "mode == 0", "count == 1", "count < c"])

    def test(self) -> str:
        chance = self.rng.random()
        if chance < 0.6:
            return self.atom()
        if chance < 0.75:
            return f"{self.atom()} and {self.atom()}"
        if chance < 0.9:
            return f"{self.atom()} or {self.atom()}"
        return f"not ({self.atom()})"

    def output(self) -> str:
        kind = self.rng.choices(
            ["symbol", "sample", "gap", "fresh", "tuple", "threshold", "state", "negated"],
            [14, 0.6, 1.2, 0.8, 0.8, 0.3, 1, 0.3],
        )[0]
        noisy = "noisy" if self.shared else f"laplace(x, scale={self.scale()})"
        match kind:
            case "sample":
                return noisy
            case "gap":
                return f"{noisy} - {self.rng.choice(self.thresholds)}"
            case "fresh":
                return f"laplace(x, scale={self.scale()})"
            case "tuple":
                return f"({self.rng.choice(['1', 'mode', repr('a')])}, {self.rng.choice([noisy, '2', 'count'])})"
            case "threshold":
                return self.rng.choice(self.thresholds)
            case "state":
                return self.rng.choice(["mode", "count", "None", "mode == 1"])
            case "negated":
                return f"-({noisy})"
        self.drawn += 1
        return repr("abcdefgh"[self.drawn % 8])

    def block(self, depth: int, indent: str) -> None:
        """A block of the loop's body."""
        begun = len(self.lines)
        for _ in range(self.rng.choice([1, 1, 2, 2])):
            self.statement(depth, indent)
        if len(self.lines) == begun:
            self.lines.append(f"{indent}pass")

    def statement(self, depth: int, indent: str) -> None:
        kind = self.rng.choices(
            [
                "if",
                "else",
                "yield",
                "count",
                "mode",
                "redraw",
                "keep",
                "return",
                "break",
                "cell",
                "nothing",
                "expression",
            ],
            [
                0 if depth > 2 else 3,
                0 if depth > 2 else 4,
                8,
                1,
                1,
                0.8,
                0.8,
                1.2,
                0.5,
                0.3,
                3 if self.silent else 0,
                1,
            ],
        )[0]
        add = self.lines.append
        match kind:
            case "if":
                add(f"{indent}if {self.test()}:")
                self.block(depth + 1, indent + "    ")
            case "else":
                add(f"{indent}if {self.test()}:")
                self.block(depth + 1, indent + "    ")
                if self.rng.random() < 0.3:
                    add(f"{indent}elif {self.test()}:")
                    self.block(depth + 1, indent + "    ")
                add(f"{indent}else:")
                self.block(depth + 1, indent + "    ")
            case "yield":
                add(f"{indent}yield {self.output()}")
            case "expression":
                add(f"{indent}yield {self.output()} if {self.test()} else {self.output()}")
            case "count":
                add(f"{indent}count += 1")
                add(f"{indent}if count >= c:")
                add(f"{indent}    return")
            case "mode":
                add(f"{indent}mode = 1 - mode")
            case "redraw":
                add(f"{indent}{self.rng.choice(self.thresholds)} = laplace({self.constant()}, scale={self.scale()})")
            case "keep":
                noisy = "noisy" if self.shared else f"laplace(x, scale={self.scale()})"
                add(f"{indent}{self.rng.choice(self.thresholds)} = {noisy}")
            case "return" | "break":
                add(f"{indent}if {self.test()}:")
                add(f"{indent}    yield {self.output()}")
                add(f"{indent}    {kind}")
            case "cell" if self.table:
                add(f"{indent}ts[mode] = {self.rng.choice(self.thresholds)}")

    def text(self) -> str:
        given = [f"xs: {self.kind}"]
        if self.extra == "public":
            given.append("p: public(real())")
        if self.extra == "secret":
            given.insert(0, "s: real()")
        given += ["c=2", "epsilon=1"]
        add = self.lines.append
        add(f'@mechanism(epsilon=1, neighbours="{self.relation}")')
        add(f"def {self.name}({', '.join(given)}):")
        for number, name in enumerate(self.thresholds):
            middle = self.constant()
            if number == 0 and self.extra:
                middle = self.extra[0]
            add(f"    {name} = laplace({middle}, scale={self.scale()})")
        if self.table:
            add(f"    ts = [laplace(i, scale={self.scale()}) for i in range(2)]")
        add("    count = 0")
        add("    mode = 0")
        if self.bounded:
            add("    left = 2")
        add("    for x in xs:")
        if self.shared:
            middle = self.rng.choices(["x", "-x", "x + 1"], [8, 1, 1])[0]
            add(f"        noisy = laplace({middle}, scale={self.scale()})")
        if self.rng.random() < 0.8:
            add(f"        if {self.number()} {self.rng.choice(['<', '>='])} {self.threshold()}:")
            self.block(1, " " * 12)
            add("        else:")
            self.block(1, " " * 12)
        if self.rng.random() < 0.5:
            self.block(1, "        ")
        if self.bounded:
            add("        left -= 1")
            add("        if left == 0:")
            add("            return")
        if not any("yield" in line for line in self.lines):
            add("        yield 0")
        return "\n".join(self.lines)


def source(rng: random.Random, name: str) -> str:
    """The text of a random function."""
    return _Writer(rng, name).text()


def loaded(folder: Path, texts: Sequence[str], name: str) -> list[Mechanism]:
    """The functions of some texts, from a file, because their source is read."""
    path = folder / f"{name}.py"
    path.write_text(HEADER + "\n\n\n".join(texts) + "\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [found for found in vars(module).values() if isinstance(found, Mechanism)]


# --------------------------------------------------------------------------------------------------- automata, followed


def automaton_probability(question: StreamQuestion, word: Sequence[Any], numbers: Sequence[Any]) -> arb:
    """The probability that what the automaton writes on some numbers, the secret (or None) first, is a word."""
    automaton = question.automaton
    found = [arb(0)]

    def follow(state, place, noises, wanted, held, written):
        leaving = [automaton.transitions[n] for n in automaton.leaving.get(state, ())]
        indices = automaton.leaving.get(state, ())
        if place == len(numbers) or not leaving:
            if written == len(word):
                found[0] += probability_ball(noises, wanted, rational(1), 160)
            return
        given = numbers[place]
        for number, step in zip(indices, leaving, strict=True):
            drawn, more = [], list(noises)
            for sample in step.samples:
                middle = sample.mean + (sample.reads * rational(given) if sample.reads else 0)
                drawn.append((None, middle) if sample.rate is None else (len(more), middle))
                more += [] if sample.rate is None else [CentredNoise("laplace", 1 / sample.rate)]

            def of(term, drawn=drawn):
                return (None, rational(0)) if term is None else drawn[term] if isinstance(term, int) else held[term]

            for guard in alternatives(step):
                asked = [(of(o.low), of(o.high), o.offset) for o in guard]
                outputs = question.outputs[number] if question.outputs else _plain(step)
                values = iter(step.values)
                after = written
                fits = True
                for output in outputs:
                    if after >= len(word) or not _fits(output, word[after], values, of, asked):
                        fits = False
                        break
                    after += 1
                if not fits:
                    continue
                now = list(wanted)
                for (low, below), (high, above), offset in asked:
                    limit = offset - above + below
                    if low == high:
                        fits = fits and limit <= 0
                    else:
                        now.append(difference(low, high, limit))
                if fits:
                    follow(step.target, place + 1, more, now, held | {n: drawn[s] for n, s in step.stores}, after)

    with _bits(160):
        follow(automaton.initial, 0, [], [], {}, 0)
    return found[0]


def _plain(step: Any) -> tuple[Any, ...]:
    """What a transition of a file writes: nothing, or one output."""
    return () if step.silent else ((step.symbol, *(Between() for _ in step.values)),)


def _fits(output: Any, wanted: Any, values: Iterator[Any], of: Any, asked: list[Any]) -> bool:
    if isinstance(output, list | tuple):
        if not isinstance(wanted, list | tuple) or len(output) != len(wanted):
            return False
        return all(_fits(a, b, values, of, asked) for a, b in zip(output, wanted, strict=True))
    if isinstance(output, Between):
        value = next(values)
        if not isinstance(wanted, Between):
            return False
        if wanted.low is not None:
            asked.append((of(value.minus), of(value.plus), rational(wanted.low) - value.constant))
        if wanted.high is not None:
            asked.append((of(value.plus), of(value.minus), value.constant - rational(wanted.high)))
        return True
    if isinstance(wanted, Between):
        return matching(wanted, output) is not None
    return repr(output) == repr(wanted)


@contextmanager
def _bits(number: int) -> Iterator[None]:
    before = ctx.prec
    ctx.prec = number
    try:
        yield
    finally:
        ctx.prec = before


# ------------------------------------------------------------------------------------------------------------- random data


def neighbours(rng: random.Random, mechanism: Mechanism, relation: str, length: int) -> tuple[dict, dict]:
    """Two data sets that may be confused, near to the places where losses are large or anywhere."""
    declared = mechanism.inputs[mechanism.stream]
    secret = next((n for n, d in mechanism.inputs.items() if n != mechanism.stream and not d.public), None)
    count = length + (secret is not None)
    within = Fraction(int(declared.within.p), int(declared.within.q))
    signs = [rng.choice([-1, 1]) for _ in range(count)]
    if relation == "monotone":
        signs = [signs[0] * rng.choice([0, 1, 1]) for _ in signs]
    if relation == "one" and signs:
        changed = rng.randrange(count)
        signs = [sign if place == changed else 0 for place, sign in enumerate(signs)]
    far = rng.choice([0, 0, 1, 2, 5, 10])
    step = 1 if not declared.real else rng.choice([1, 1, 1, Fraction(1, 2)])
    left = [sign * far * within + (0 if rng.random() < 0.6 else rng.randint(-3, 3)) for sign in signs]
    if relation == "one":
        left = [value + rng.choice([-1, 1]) * far * rng.choice([0, 1]) for value in left]
    right = [value + sign * within * step for value, sign in zip(left, signs, strict=True)]
    if declared.low is not None:
        left = [Fraction(rng.randint(0, 2), 2) for _ in signs]
        right = [max(Fraction(0), min(Fraction(1), v + s)) for v, s in zip(left, signs, strict=True)]
    sides = []
    for side in (left, right):
        values = [int(v) if Fraction(v).denominator == 1 else Fraction(v) for v in side]
        given: dict[str, Any] = {}
        if secret is not None:
            given[secret] = values.pop(0)
        given[mechanism.stream] = values
        for name, other in mechanism.inputs.items():
            if other.public:
                given[name] = 0
        sides.append(given)
    return sides[0], sides[1]


def numbers_of(mechanism: Mechanism, arguments: dict) -> list[Any]:
    """What the automaton reads: the secret, or None, and the stream."""
    secret = [v for n, v in arguments.items() if n != mechanism.stream and not mechanism.inputs[n].public]
    return [*(secret or [None]), *arguments[mechanism.stream]]


def sampled_word(rng: random.Random, mechanism: Mechanism, arguments: dict) -> list[Any]:
    """What the function writes in one run, with a range in the place of every noisy number."""

    def draw(law: Any) -> float:
        return float(law.center) + rng.choice([-1, 1]) * rng.expovariate(1) * float(Fraction(law.scale))

    exact = replace(mechanism, parameters={name: exactly(value) for name, value in mechanism.parameters.items()})
    with drawing(draw):
        ran = run_once(exact, {name: exactly(value) for name, value in arguments.items()})
    return [_around(rng, value) for step in ran.written for value in step]


def _around(rng: random.Random, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_around(rng, part) for part in value)
    if isinstance(value, float):
        kind = rng.choice(["near", "near", "wide", "above", "below"])
        low = Fraction(int(value // 1))
        match kind:
            case "near":
                near = Fraction(round(value * 16), 16)
                return Between(near - Fraction(1, 16), near + Fraction(1, 16))
            case "above":
                return Between(low, None)
            case "below":
                return Between(None, low + 1)
        return Between(low, low + 2)
    return value


# ------------------------------------------------------------------------------------------------------------ documents


def document(rng: random.Random) -> dict[str, Any]:
    """A random stream automaton as a file says it."""
    separate = rng.random() < 0.3
    names = ["x", "y", "z"][: rng.choice([1, 1, 2, 2, 3])]
    waits = [f"w{i}" for i in range(rng.choice([1, 2, 2, 3]))]
    line = rng.random() < 0.5
    states: dict[str, Any] = {}
    transitions: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        states[f"s{number}"] = {"scale": _scale(rng)} | ({} if rng.random() < 0.4 else {"reads": "nothing"})
        if rng.random() < 0.2:
            states[f"s{number}"]["mean"] = rng.choice(["1", "-1/2"])
        target = f"s{number + 1}" if number + 1 < len(names) else waits[0]
        transitions.append({"from": f"s{number}", "to": target, "store": name})
    for number, wait in enumerate(waits):
        state: dict[str, Any] = {"scale": _scale(rng)}
        if separate:
            state["noise"] = "separate"
            if rng.random() < 0.5:
                state["scale"] = {name: _scale(rng) for name in names}
        elif rng.random() < 0.04:
            state["scale"] = 0
        elif rng.random() < 0.2:
            state = {"rate": rng.choice(["1/3", "2", "1/2"])}
        if rng.random() < 0.25:
            state["fresh"] = rng.choice([{"scale": _scale(rng)}, {"rate": "1/2"}, 3])
        states[wait] = state
        after = [*waits[number + 1 :], "done"] if line else [*waits, "done"]
        for place, when in enumerate(_guards(rng, names, separate=separate)):
            step: dict[str, Any] = {"from": wait, "to": rng.choice(after)}
            if when:
                step["when"] = when
            step["output"] = _output(rng, names, "abcd"[place], state, separate=separate)
            if rng.random() < 0.12:
                step["store"] = rng.choice(names)
            transitions.append(step)
    states["done"] = {}
    return {
        "kind": "stream-automaton",
        "states": states,
        "transitions": transitions,
        "scenario": {"neighbours": {"relation": rng.choice(["each", "each", "one", "monotone"]), "within": 1}},
    }


def _scale(rng: random.Random) -> Any:
    return rng.choice([1, 2, 4, "3/2", "1/2", 8])


def _guards(rng: random.Random, names: Sequence[str], *, separate: bool) -> list[str]:
    """Guards of which at most one holds."""
    one, other = rng.choice(names), rng.choice(names)
    plus = rng.choice(["", "", "", " + 1", " - 1/2"])
    apart = {
        "two": [f"sample < {one}{plus}", f"sample >= {one}{plus}"],
        "mirror": [f"{one}{plus} > sample", f"{one}{plus} <= sample"],
        "range": [f"{one} <= sample < {one} + 2", f"sample < {one}", f"sample >= {one} + 2"],
        "one": [rng.choice([f"sample > {one}{plus}", f"sample <= {one}{plus}"])],
        "always": [""],
    }
    if not separate:
        apart["constant"] = ["sample < 1", "sample >= 1"]
        apart["constants"] = ["0 <= sample < 2", "sample >= 2"]
    if other != one:
        apart["between"] = [f"{one} <= sample < {other}", f"sample < {one}"]
        apart["and"] = [f"sample >= {one} and sample >= {other}", f"sample < {one} and sample < {other}"]
        apart["or"] = [f"sample >= {one} or sample >= {other}", f"sample < {one} and sample < {other}"]
        apart["some"] = [f"sample >= {one} and sample < {other}", f"sample < {one} or sample >= {other}"]
    found = list(apart[rng.choice(list(apart))])
    rng.shuffle(found)
    return found if rng.random() < 0.7 else found[:1]


def _output(rng: random.Random, names: Sequence[str], symbol: str, state: dict[str, Any], *, separate: bool) -> Any:
    chance = rng.random()
    name = rng.choice(names)
    if chance < 0.06:
        return f"sample of {name}" if separate else "sample"
    if chance < 0.14:
        return f"sample - {name}"
    if chance < 0.3 and "fresh" in state:
        return rng.choice(["fresh", [symbol, "fresh"]])
    return symbol


def neighbours_of(rng: random.Random, question: StreamQuestion, length: int) -> tuple[list[int], list[int]]:
    """Two streams that may be confused."""
    signs = [rng.choice([-1, 1]) for _ in range(length)]
    if question.relation == "monotone":
        signs = [signs[0] * rng.choice([0, 1, 1]) for _ in signs]
    if question.relation == "one":
        changed = rng.randrange(length)
        signs = [sign if place == changed else 0 for place, sign in enumerate(signs)]
    far = rng.choice([0, 0, 1, 3, 8])
    left = [sign * far + (0 if rng.random() < 0.6 else rng.randint(-3, 3)) for sign in signs]
    return left, [value + sign for value, sign in zip(left, signs, strict=True)]


def automaton_word(rng: random.Random, question: StreamQuestion, numbers: Sequence[Any]) -> list[Any]:
    """What an automaton writes in one run, with a range in the place of every noisy number."""
    automaton = question.automaton
    state, held, found = automaton.initial, dict[str, float](), list[Any]()
    for given in numbers:
        noise = [rng.choice([-1, 1]) * rng.expovariate(1) for _ in range(8)]
        for number in automaton.leaving.get(state, ()):
            step = automaton.transitions[number]
            drawn = [
                float(Fraction(str(sample.mean)))
                + sample.reads * float(given)
                + (0 if sample.rate is None else float(1 / Fraction(str(sample.rate))) * noise[place])
                for place, sample in enumerate(step.samples)
            ]

            def of(term: Any, drawn: Sequence[float] = drawn, held: dict[str, float] = held) -> float:
                return 0.0 if term is None else drawn[term] if isinstance(term, int) else held[term]

            holds = [of(order.high) - of(order.low) >= float(Fraction(str(order.offset))) for order in step.guard]
            if not holds or (any if step.some else all)(holds):
                if not step.silent:
                    values = [_around(rng, of(value.plus) - of(value.minus)) for value in step.values]
                    found.append((step.symbol, *values))
                held = held | {name: drawn[sample] for name, sample in step.stores}
                state = step.target
                break
        else:
            break
    return found
