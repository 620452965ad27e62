"""Mechanisms as source text: writing them to a file, and deciding about them by running the Python function itself.

Nothing here looks at the translated source.  The distribution of an output is what `privproof.language.running` finds by running
the function on all its random choices; the tight ratio is the largest quotient of two such distributions over all
neighbouring data sets.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, product
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from privproof import LanguageError, output_distribution, tight_epsilon
from privproof.exact import fraction
from privproof.language import Input, Mechanism
from privproof.language.running import Outputs, Run, outputs
from tests.brute import INFINITE, largest
from tests.corpus import Program

HEADER = """\
from fractions import Fraction

from privproof import (
    bernoulli,
    choice,
    exponential_mechanism,
    geometric,
    integer,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    records,
    stream,
    stream_of,
    truncated_geometric,
    uniform,
)

"""
PLACE = re.compile(r"\.py:\d+:\d+$")
_numbers = count(1)


def load(folder: Path, program: str | Program, name: str = "m") -> Mechanism:
    """Write a program to a file of its own, import it, and return its mechanism."""
    module_name = f"program_{next(_numbers)}_of_{folder.name}".replace("-", "_")
    file = folder / f"{module_name}.py"
    file.write_text(program.text if isinstance(program, Program) else HEADER + program)
    specification = importlib.util.spec_from_file_location(module_name, file)
    module = importlib.util.module_from_spec(specification)
    sys.modules[module_name] = module
    try:
        specification.loader.exec_module(module)
    finally:
        del sys.modules[module_name]
    return getattr(module, name)


# ------------------------------------------------------------------------------------------------------------ data sets


def values_of(declared: Input, size: int) -> list[Any]:
    """Every value that an input may have."""
    if declared.shape == "value":
        return list(declared.values)
    return [list(values) for values in product(declared.values, repeat=declared.size or size)]


def data_sets(mechanism: Mechanism, size: int, length: int | None = None) -> list[dict[str, Any]]:
    """Every value of all the inputs together: lists of the size, a stream of the length (or of the size)."""
    names = list(mechanism.inputs)
    listed = [
        values_of(declared, length if length and declared.shape == "stream" else size)
        for declared in mechanism.inputs.values()
    ]
    return [dict(zip(names, values, strict=True)) for values in product(*listed)]


def related(mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two data sets are neighbours, from the definition."""
    private = {name: declared for name, declared in mechanism.inputs.items() if not declared.public}
    if any(left[name] != right[name] for name in mechanism.inputs if name not in private):
        return False
    relation = mechanism.relation or next(iter(private.values())).relation
    if callable(relation):
        one, other = ([side[name] for name in private] for side in (left, right))
        one, other = (side[0] if len(side) == 1 else tuple(side) for side in (one, other))
        return one != other and bool(relation(one, other) or relation(other, one))
    changes = []
    for name, declared in private.items():
        single = declared.shape == "value"
        for v, w in [(left[name], right[name])] if single else zip(left[name], right[name], strict=True):
            if v != w:
                if declared.within is not None and abs(v - w) > declared.within:
                    return False
                changes.append(declared.within is not None and v < w)
    if relation == "one":
        return len(changes) == 1
    return bool(changes) and (relation == "each" or len(set(changes)) == 1)


# ------------------------------------------------------------------------------------------------------------- by runs


def seen(mechanism: Mechanism, run: Run) -> object:
    """What an observer sees of a run, as it prints; of a stream step by step, and whether it has ended."""
    if mechanism.stream is None:
        return repr(run.value)
    return (repr(run.written), repr(run.value) if run.ended and not run.written else "", run.ended)


def by_runs(
    mechanism: Mechanism, data: Mapping[str, Any], most: int, known: Mapping[str, Outputs]
) -> dict[object, Fraction]:
    """The exact probability of all that can be seen, by running the function; only where it has finitely many runs."""
    made = known[repr(data)] if repr(data) in known else outputs(mechanism, data, most=most)
    if made.left_over:
        raise TooManyRuns(made)
    result: dict[object, Fraction] = {}
    for run, p in made.runs:
        result[seen(mechanism, run)] = result.get(seen(mechanism, run), Fraction(0)) + p
    return result


class TooManyRuns(Exception):
    """The runs do not end, or there are too many."""

    def __init__(self, made: Outputs) -> None:
        super().__init__()
        self.made = made


def largest_ratio(
    mechanism: Mechanism, size: int, most: int = 20_000, known: Mapping[str, Outputs] = MappingProxyType({})
) -> Fraction | str:
    """The largest quotient of two probabilities of one output, over all neighbouring data sets.

    Args:
        mechanism: the mechanism.
        size: the length of its lists; for a stream the largest length.
        most: how many runs are too many.
        known: runs that are made already, by the data set as it prints.
    """
    sizes = range(1, size + 1) if mechanism.stream is not None else [size]
    ratios = []
    for length in sizes:
        data = data_sets(mechanism, size, length)
        rows = [by_runs(mechanism, d, most, known) for d in data]
        for i, left in enumerate(data):
            for j, right in enumerate(data):
                if i != j and related(mechanism, left, right):
                    ratios += [(p, rows[j].get(output, Fraction(0))) for output, p in rows[i].items()]
    return largest(ratios)


# ------------------------------------------------------------------------------------------------------ distributions


@dataclass(frozen=True)
class AtLeast:
    """All whole numbers from a bound on."""

    bound: int

    def __contains__(self, value: object) -> bool:
        return type(value) is int and value >= self.bound


@dataclass(frozen=True)
class AtMost:
    """All whole numbers up to a bound."""

    bound: int

    def __contains__(self, value: object) -> bool:
        return type(value) is int and value <= self.bound


def pattern(key: object) -> object:
    """What a key of `output_distribution` stands for."""
    if isinstance(key, str) and ("≥" in key or "≤" in key):
        text = re.sub(r"≥(-?\d+)", r"AtLeast(\1)", key)
        text = re.sub(r"≤(-?\d+)", r"AtMost(\1)", text)
        return _tuples(eval(text, {"AtLeast": AtLeast, "AtMost": AtMost, "Fraction": Fraction}))
    return key


def _tuples(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(map(_tuples, value))
    return value


def covers(wanted: object, value: object) -> bool:
    """Whether a value is one of those that a pattern stands for."""
    if isinstance(wanted, AtLeast | AtMost):
        return value in wanted
    if isinstance(wanted, tuple):
        return isinstance(value, tuple) and len(wanted) == len(value) and all(map(covers, wanted, value))
    return repr(wanted) == repr(value)


def output_of(mechanism: Mechanism, run: Run) -> object:
    """The output of a run; of a generator, or on a stream, the tuple of everything it has written."""
    if mechanism.stream is None:
        return tuple(run.value) if mechanism.generator else run.value
    if not run.written:
        return () if not run.ended else tuple(run.value) if mechanism.generator else (run.value,)
    return tuple(value for step in run.written for value in step)


def disagreement(mechanism: Mechanism, made: Outputs, found: Mapping[object, Fraction]) -> str | None:
    """How a distribution differs from the runs; None if it does not, up to the runs left over."""
    if sum(found.values(), Fraction(0)) != 1:
        return f"the probabilities sum to {sum(found.values(), Fraction(0))}"
    patterns = [(key, pattern(key)) for key in found]
    masses = [Fraction(0)] * len(patterns)
    by_value: dict[str, tuple[object, Fraction]] = {}
    for run, p in made.runs:
        value = output_of(mechanism, run)
        by_value[repr(value)] = (value, by_value.get(repr(value), (value, Fraction(0)))[1] + p)
    for value, p in by_value.values():
        fitting = [
            i for i, (key, wanted) in enumerate(patterns) if key == repr(value) or covers(wanted, _tuples(value))
        ]
        if len(fitting) != 1:
            return f"{value!r} of probability {p} is covered by {len(fitting)} of the keys {list(found)}"
        masses[fitting[0]] += p
    for (key, p), mass in zip(found.items(), masses, strict=True):
        if not mass <= p <= mass + made.left_over:
            return f"{key!r} has probability {p}; by runs between {mass} and {mass + made.left_over}"
    return None


def compared(mechanism: Mechanism, size: int, most: int = 1500) -> str:
    """Compare everything that is said about a mechanism with its runs.

    Returns:
        "refused" where the mechanism is refused, "agrees" where every distribution and the tight ratio are those of the runs,
        "agrees in part" where the runs do not end, so that only what they show is compared.

    Raises:
        AssertionError: something differs, the function fails where nothing is said about that, or an exception
            is no refusal with a place.
    """
    known: dict[str, Outputs] = {}
    refusal: LanguageError | None = None
    whole = True
    for data in data_sets(mechanism, size):
        try:
            made = known[repr(data)] = outputs(mechanism, data, most=most)
        except LanguageError as problem:
            made, failure = None, problem
        try:
            found = output_distribution(mechanism, **data)
        except LanguageError as problem:
            refusal = problem
            break
        assert made is not None, f"on {data} the function fails ({failure}), but the translation gives {found}"
        difference = disagreement(mechanism, made, found)
        assert difference is None, f"on {data}: {difference}"
        whole = whole and not made.left_over
    assert refusal is None or PLACE.search(refusal.place), f"no place: {refusal}"
    lists = [i for i in mechanism.inputs.values() if i.shape != "value" and i.size is None]
    try:
        verdict = tight_epsilon(mechanism, size=size if lists else None)
    except LanguageError as problem:
        if refusal is None and problem.code not in ("unbounded", "size"):
            raise AssertionError(f"only the question is refused: {problem}") from problem
        return "refused"
    if verdict.engine == "runs" and verdict.status == "unknown":
        return "refused"
    if refusal is not None:
        assert verdict.engine == "runs", f"a verdict ({verdict.status}) although {refusal}"
        return "refused"
    assert verdict.status != "unknown", f"unknown: {verdict.reason}"
    if not whole:
        return "agrees in part"
    try:
        wanted = largest_ratio(mechanism, size, most, known)
    except TooManyRuns:
        return "agrees in part"
    ratio = INFINITE if verdict.status == "refuted" else fraction(verdict.tight.bound)
    wanted = wanted if wanted == INFINITE else max(wanted, Fraction(1))
    assert ratio == wanted, f"the tight ratio is said to be {ratio}; by runs it is {wanted}"
    return "agrees"


# --------------------------------------------------------------------------------------------------- random programs

HELPERS = """\
def clamp(value, low=0, high=2):
    if value < low:
        return low
    if value > high:
        return high
    return value


def push(xs, value):
    if len(xs) < 4:
        xs.append(value)


def first_over(xs, bound):
    for i, x in enumerate(xs):
        if x > bound:
            return i
    return -1


def flip(bit, truth="3/4"):
    return randomized_response(bit, truth=truth)


def noisy_count(xs, limit):
    total = 0
    for x in xs:
        if x > limit:
            continue
        total += x
        if total > 2:
            break
    return truncated_geometric(total, low=0, high=2, alpha="1/2")


def near(left, right):
    return left != right and str(left) <= str(right)


"""


class Author:
    """Writes random mechanisms: the same seed, the same program.

    Attributes:
        size: the length of the lists, for which the program is meant.
        text: the program.
    """

    def __init__(self, seed: int, *, unbounded: bool | None = None, small: bool = False) -> None:
        self.random = Random(seed)
        self.size = self.random.choice((1, 2, 2, 2 if small else 3))
        self.unbounded = self.random.random() < 0.25 if unbounded is None else unbounded
        self.lines: list[str] = []
        self.depth = 1
        self.draws = self.random.choice((1, 2) if small else (1, 2, 3, 4))
        self.loops = 0
        self.fresh = 0
        self.ints: list[str] = []
        self.bools: list[str] = []
        self.lists: list[str] = []
        self.maybe: list[str] = []
        self.inputs: list[str] = []
        self.generator = False
        self.guarded = False
        self.reads_x = False
        self.stream: str | None = None
        self.text = HELPERS + self.mechanism()

    # ------------------------------------------------------------------------------------------------------- choosing

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    # ------------------------------------------------------------------------------------------------------ mechanism

    def mechanism(self) -> str:
        shape = self.pick("list", "list", "list", "value", "pair", "mixed", "public", "stream", "requests", "records")
        self.generator = self.chance(0.35) if shape not in ("stream", "requests") else self.chance(0.8)
        relation = ""
        declared = []
        if shape in ("list", "public", "mixed"):
            high = 1 if self.size == 3 else self.pick(1, 2)
            declared.append(f"q: queries(0, {high})")
            self.inputs.append("q")
            relation = self.pick("", "", "each", "one", "monotone", "near" if shape != "public" else "one")
            if shape == "public":
                declared.append(f"t: public({self.pick('integer(0, 1)', 'integer(0, 2)')})")
                self.ints.append("t")
            if shape == "mixed":
                self.size = min(self.size, 2)
                declared.append("x: integer(0, 1)")
                self.ints.append("x")
        elif shape == "records":
            declared.append("q: records(0, 1)")
            self.inputs.append("q")
            relation = self.pick("", "each", "one")
        elif shape == "value":
            declared.append(f"x: {self.pick('integer(0, 2)', 'integer(0, 3, sensitivity=2)', 'one_of(0, 1, 2)')}")
            self.ints.append("x")
            relation = self.pick("", "each", "near")
        elif shape == "pair":
            declared += ["x: integer(0, 2)", "y: integer(0, 1)"]
            self.ints += ["x", "y"]
            relation = self.pick("", "each", "one", "monotone", "near")
        elif shape == "stream":
            self.size = min(self.size, 2)
            declared.append("s: stream(0, 1)")
            self.stream = "s"
            relation = self.pick("", "each", "one", "monotone")
        else:
            self.size = min(self.size, 2)
            declared += ["x: integer(0, 2)", "s: public(stream(0, 1))"]
            self.reads_x = True
            self.ints.append("x")
            self.stream = "s"
        if self.chance(0.4):
            declared.append("k=1")
            self.ints.append("k")
        if self.chance(0.6):
            self.guard()
        else:
            for _ in range(self.random.randint(0, 2)):
                self.assignment()
        if self.stream is not None:
            self.streaming()
        else:
            for _ in range(self.random.randint(1, 4)):
                self.statement()
            self.ending()
        option = "" if not relation else f"(neighbours={relation if relation == 'near' else repr(relation)})"
        return "\n".join([f"@mechanism{option}", f"def m({', '.join(declared)}):", *self.lines, ""])

    def guard(self) -> None:
        """Draw noise on everything private first, and go on with that alone."""
        self.guarded = True
        for name in [name for name in ("x", "y") if name in self.ints]:
            self.ints.remove(name)
            if self.stream is None or self.chance(0.5):
                drawn = self.name("a")
                self.put(f"{drawn} = {self.drawn(name)}")
                self.ints.append(drawn)
        if self.inputs:
            self.inputs = []
            if self.chance(0.4):
                drawn = self.name("l")
                self.put(f"{drawn} = [{self.drawn('v')} for v in q]")
                self.lists.append(drawn)
                return
            kept = self.name("a")
            self.put(f"{kept} = {self.random.randint(-1, 1)}")
            self.ints.append(kept)
            before = self.scope()
            index, drawn = self.name("i"), self.name("a")
            forward = self.chance(0.6)
            self.put(f"for {index}, v in enumerate(q):" if forward else f"for {index} in range(len(q)):")
            self.depth += 1
            self.loops += 1
            at = "v" if forward else self.pick("q[i]", "q[i - 1]", "q[-i - 1]", "q[i] + q[0]", "q[-1] - q[i]")
            self.put(f"{drawn} = {self.drawn(at.replace('i', index) if not forward else at)}")
            self.ints += [index, drawn]
            self.draws = min(self.draws, 1)
            for _ in range(self.random.randint(1, 2)):
                self.statement()
            if self.generator and self.chance(0.6):
                self.put(f"yield {self.pick(drawn, kept, self.released())}")
            self.depth -= 1
            self.loops -= 1
            self.restore(before)

    def drawn(self, value: str) -> str:
        """Noise on something private, with every output possible."""
        if self.unbounded and self.chance(0.6):
            return self.pick(f"geometric({value}, alpha='1/2')", f"clamp(geometric({value}, alpha='1/3'))")
        return self.pick(
            f"truncated_geometric({value}, low=0, high={self.pick(1, 2)}, alpha='1/2')",
            f"truncated_geometric({value}, low=-1, high=1, alpha=Fraction(1, 3))",
            f"flip(clamp({value}, 0, 1))",
            f"randomized_response(clamp({value}), truth='1/2', among=(0, 1, 2))",
            f"exponential_mechanism([{value}, 1], epsilon='ln(4)')",
        )

    def streaming(self) -> None:
        before = self.scope()
        value = self.name("v")
        self.put(f"for {value} in s:" if self.chance(0.8) else f"for n, {value} in enumerate(s):")
        self.depth += 1
        self.loops += 1
        if self.guarded:
            drawn = self.name("a")
            self.put(f"{drawn} = {self.drawn(self.pick(value, 'x') if self.reads_x else value)}")
            value = drawn
        self.ints.append(value)
        for _ in range(self.random.randint(0, 2)):
            self.statement()
        if self.generator:
            self.put(f"yield {self.released()}")
            if self.chance(0.4):
                self.put(f"if {self.truth(2)}:")
                self.put(f"    {self.pick('return', 'break')}")
        else:
            self.put(f"if {self.noisy_truth()}:")
            self.put(f"    return {self.released()}")
        self.depth -= 1
        self.loops -= 1
        self.restore(before)
        if self.generator and self.chance(0.3):
            self.put(f"yield {self.released()}")

    def ending(self) -> None:
        known = [*self.ints, *self.bools, *self.lists]
        if self.chance(0.5) and known:
            shown = self.random.sample(known, min(len(known), 4))
            self.put(f"{'yield' if self.generator else 'return'} ({', '.join(shown)},)")
        elif self.generator:
            if not any("yield" in line for line in self.lines) or self.chance(0.7):
                self.put(f"yield {self.released()}")
            if self.chance(0.3):
                self.put("return")
        else:
            self.put(f"return {self.released()}")

    def released(self) -> str:
        """Something to show: mostly noise on what is known."""
        kind = self.random.random()
        if kind < 0.35:
            return self.noise(2)
        if kind < 0.5:
            return self.number(2)
        if kind < 0.6:
            return self.truth(2)
        if kind < 0.7 and self.lists:
            return self.pick(*self.lists)
        if kind < 0.8:
            return f"({self.noise(1)}, {self.number(1)})"
        if kind < 0.9:
            return self.sequence(1)
        return self.pick("None", "'done'", "(1, 'a')")

    def scope(self) -> tuple[list[str], list[str], list[str]]:
        return list(self.ints), list(self.bools), list(self.lists)

    def restore(self, before: tuple[list[str], list[str], list[str]]) -> None:
        """Names that were first assigned inside a block may be unassigned after it."""
        self.maybe += [name for name in self.ints if name not in before[0]]
        self.ints, self.bools, self.lists = (list(names) for names in before)

    # ------------------------------------------------------------------------------------------------------ statements

    def statement(self) -> None:
        kind = self.random.random()
        if len(self.lines) > 24 or self.depth > 3 or kind < 0.3:
            self.assignment()
        elif kind < 0.5:
            self.branch()
        elif kind < 0.68:
            self.loop()
        elif kind < 0.74:
            self.counting()
        elif kind < 0.8:
            self.matching()
        elif kind < 0.88 and self.lists:
            self.changing()
        elif kind < 0.91 and self.draws > 0:
            self.rejecting()
        elif kind < 0.95 and self.generator:
            self.put(f"yield {self.released()}")
        else:
            self.assignment()

    def assignment(self) -> None:
        kind = self.random.random()
        if kind < 0.4:
            target = self.pick(*self.ints) if self.own() and self.chance(0.4) else self.name("a")
            if target in ("x", "y", "t", "k") and self.chance(0.7):
                target = self.name("a")
            self.put(f"{target} = {self.number(2)}")
            self.know(self.ints, target)
        elif kind < 0.52 and self.own():
            self.put(f"{self.pick(*self.own())} {self.pick('+=', '-=', '*=')} {self.number(1)}")
        elif kind < 0.62:
            one, other = self.name("a"), self.name("a")
            self.put(f"{one}, {other} = {self.number(1)}, {self.number(1)}")
            self.know(self.ints, one)
            self.know(self.ints, other)
        elif kind < 0.68 and len(self.own()) >= 2:
            one, other = self.random.sample(self.own(), 2)
            self.put(f"{one}, {other} = {other}, {one}")
        elif kind < 0.78:
            target = self.name("b")
            self.put(f"{target} = {self.truth(2)}")
            self.know(self.bools, target)
        elif kind < 0.95:
            target = self.name("l")
            self.put(f"{target} = {self.sequence(2)}")
            self.know(self.lists, target)
        else:
            target = self.name("a")
            self.put(f"{target} = {self.pick('Fraction(1, 2) * 2', 'None', '(1, 2)[0]', 'len((1, 2))')}")
            if "None" not in self.lines[-1]:
                self.know(self.ints, target)

    def own(self) -> list[str]:
        """Whole numbers that the program may change."""
        return [name for name in self.ints if name.startswith("a")]

    def know(self, names: list[str], name: str) -> None:
        if name not in names:
            names.append(name)

    def block(self, *, most: int = 2) -> None:
        before = self.scope()
        self.depth += 1
        for _ in range(self.random.randint(1, most)):
            self.statement()
        if self.loops and self.chance(0.2):
            self.put(self.pick("break", "continue"))
        elif self.chance(0.08) and self.depth > 1 and self.stream is None:
            self.put("return" if self.generator else f"return {self.released()}")
        self.depth -= 1
        self.restore(before)

    def branch(self) -> None:
        self.put(f"if {self.truth(2)}:")
        self.block()
        for _ in range(self.pick(0, 0, 1)):
            self.put(f"elif {self.truth(1)}:")
            self.block()
        if self.chance(0.5):
            self.put("else:")
            self.block()

    def loop(self) -> None:
        before = self.scope()
        value, index = self.name("v"), self.name("i")
        lists = [*self.inputs, *self.lists]
        kind = self.random.random()
        new = [value]
        if kind < 0.3 and lists:
            self.put(f"for {value} in {self.pick(*lists)}:")
        elif kind < 0.5 and lists:
            start = self.pick("", "", ", 1", ", start=2")
            self.put(f"for {index}, {value} in enumerate({self.pick(*lists)}{start}):")
            new.append(index)
        elif kind < 0.6 and lists:
            self.put(f"for {index}, {value} in zip({self.pick(*lists)}, {self.pick('range(2)', *lists)}):")
            new.append(index)
        elif kind < 0.7:
            self.put(f"for {value} in {self.pick('range(3, 0, -1)', 'range(1, 3)', '(2, 0)', '[1, -1]')}:")
        elif kind < 0.85 and self.inputs:
            self.put(f"for {index} in range({self.pick('len(q)', 'len(q)', 'len(q) - 1')}):")
            self.put(f"    {value} = q[{self.pick(index, index, f'{index} - 1', f'-{index} - 1')}]")
            new.append(index)
        elif kind < 0.92 and self.inputs:
            self.put(f"for {value} in [w + {self.number(0)} for w in q]:")
        else:
            self.put(f"for {value} in range({self.pick('2', 'clamp(' + self.number(1) + ')')}):")
        self.ints += new
        self.loops += 1
        draws, self.draws = self.draws, min(self.draws, 1)
        self.block()
        self.draws = min(self.draws, draws - 1)
        self.loops -= 1
        self.ints = before[0]
        self.restore(before)
        self.maybe += new

    def counting(self) -> None:
        counter = self.name("n")
        self.put(f"{counter} = 0")
        self.put(f"while {counter} < {self.pick('2', 'len(q)' if self.inputs else '3')}:")
        self.depth += 1
        self.put(f"{counter} += 1")
        self.depth -= 1
        before = self.scope()
        self.ints.append(counter)
        self.loops += 1
        draws, self.draws = self.draws, min(self.draws, 1)
        self.block()
        self.draws = min(self.draws, draws - 1)
        self.loops -= 1
        self.restore(before)

    def matching(self) -> None:
        self.put(f"match {self.number(1)}:")
        self.depth += 1
        for case in self.pick(("0", "1 | 2"), ("0 | -1", "2"), ("1", "0"), ("True", "0")):
            guard = f" if {self.quiet_truth()}" if self.chance(0.3) else ""
            self.put(f"case {case}{guard}:")
            self.block(most=1)
        if self.chance(0.6):
            self.put("case _:")
            self.block(most=1)
        self.depth -= 1

    def changing(self) -> None:
        target = self.pick(*self.lists)
        kind = self.random.random()
        if kind < 0.3:
            self.put(f"{target}.append({self.number(1)})")
        elif kind < 0.5:
            self.put(f"if {target}:")
            self.put(f"    {target}[{self.pick('0', '-1')}] {self.pick('=', '=', '+=')} {self.number(1)}")
        elif kind < 0.65:
            self.put(f"{target} += {self.pick('[' + self.number(1) + ']', '(1, 2)', target)}")
        elif kind < 0.8:
            self.put(f"push({target}, {self.number(1)})")
        elif kind < 0.88:
            other = self.name("l")
            self.put(f"{other} = {target}")
            self.know(self.lists, other)
        elif kind < 0.94:
            self.put(f"{target} = {target} + [{self.number(0)}]")
        else:
            self.put(f"{target}[{self.number(0)}] = {self.number(1)}")

    def rejecting(self) -> None:
        target = self.name("a")
        self.draws -= 1
        if self.unbounded:
            self.put(f"{target} = geometric({self.number(0)}, alpha='1/2')")
            self.put(f"while {target} < 0 or {target} > 2:")
            self.put(f"    {target} = geometric(0, alpha='1/2')")
        else:
            self.put(f"{target} = uniform(0, 2)")
            self.put(f"if {target} == 2:")
            self.put(f"    {target} = uniform(0, 1)")
        self.know(self.ints, target)

    # ----------------------------------------------------------------------------------------------------- expressions

    def number(self, depth: int) -> str:
        kind = self.random.random()
        atoms = [*self.ints, *(f"q[{i}]" for i in ("0", "-1") if self.inputs)]
        if self.maybe and self.chance(0.02):
            return self.pick(*self.maybe)
        if depth <= 0 or kind < 0.3:
            return self.pick(*atoms) if atoms and self.chance(0.75) else str(self.random.randint(-1, 3))
        one, other = self.number(depth - 1), self.number(depth - 1)
        if kind < 0.45:
            return f"({one} {self.pick('+', '-', '*')} {other})"
        if kind < 0.5:
            return f"({one} {self.pick('//', '%')} {self.pick('2', '3', '-2', other)})"
        if kind < 0.56:
            return f"{self.pick('min', 'max')}({one}, {other})"
        if kind < 0.6:
            return f"{self.pick('abs', 'int', '-')}({one})"
        if kind < 0.66:
            return f"({one} if {self.truth(depth - 1)} else {other})"
        if kind < 0.72:
            return f"clamp({one}{self.pick('', ', high=1', ', -1, 1')})"
        if kind < 0.84:
            return self.measure(depth)
        return self.noise(depth)

    def measure(self, depth: int) -> str:
        xs = self.sequence(depth - 1)
        listed = self.pick(*self.lists, *self.inputs, xs)
        return self.pick(
            f"len({xs})",
            f"sum({listed})",
            f"sum({listed}, 1)",
            f"sum(v * v for v in {listed})",
            f"sum(v for v in {listed} if {self.test('v')})",
            f"max({listed}, default=0)",
            f"min([0, {self.number(0)}])",
            f"sorted({listed})[0]",
            f"{xs}.count({self.number(0)})",
            f"first_over({listed}, {self.number(0)})",
            f"({self.number(0)}, {self.number(0)})[{self.pick('0', '1', '-1')}]",
            "{0: 1, 1: 0, 2: 5}" + f"[clamp({self.number(0)})]",
        )

    def noise(self, depth: int) -> str:
        if self.draws <= 0:
            return self.number(0)
        self.draws -= 1
        value = self.number(depth - 1)
        if self.unbounded and self.chance(0.6):
            drawn = f"geometric({value}, alpha='1/2')"
            return self.pick(drawn, f"min(max({drawn}, 0), 2)", f"clamp({drawn})", f"abs({drawn})", f"-{drawn}")
        listed = self.pick(*self.lists, *self.inputs, "[1, 0]")
        return self.pick(
            f"truncated_geometric({value}, low=0, high={self.pick(1, 2)}, alpha={self.pick(repr('1/2'), 'Fraction(1, 3)')})",
            f"truncated_geometric({value}, low=-1, high=1, epsilon='ln(3)')",
            f"randomized_response(clamp({value}, 0, 1), truth='3/4')",
            f"randomized_response(clamp({value}), truth='1/2', among=(0, 1, 2))",
            f"uniform(0, {self.pick(1, 2)})",
            f"uniform(0, clamp({value}))",
            "choice({0: '1/3', 1: '2/3'})",
            f"choice({{clamp({value}): '1/3', 7: '2/3'}})",
            f"flip(clamp({value}, 0, 1))",
            f"flip(clamp({value}, 0, 1), truth='2/3')",
            f"noisy_count({listed}, 2)",
            f"exponential_mechanism([{value}, 1], epsilon='ln(4)')",
            f"int(bernoulli({self.pick(repr('1/3'), 'Fraction(1 + clamp(' + value + '), 4)')}))",
        )

    def noisy_truth(self) -> str:
        self.draws += 1
        return f"{self.noise(1)} {self.pick('>', '<=', '==')} {self.pick('0', '1')}"

    def quiet_truth(self) -> str:
        draws, self.draws = self.draws, 0
        result = f"{self.number(0)} < {self.number(0)}"
        self.draws = draws
        return result

    def test(self, name: str) -> str:
        return self.pick(f"{name}", f"{name} > 0", f"{name} != {self.number(0)}", f"0 <= {name} < 2", f"not {name}")

    def truth(self, depth: int) -> str:
        kind = self.random.random()
        if depth <= 0 or kind < 0.15:
            return self.pick(*self.bools, f"{self.number(0)} {self.pick('<', '>', '==', '!=')} {self.number(0)}")
        if kind < 0.45:
            return f"{self.number(depth - 1)} {self.pick('<', '>', '==', '!=', '<=', '>=')} {self.number(depth - 1)}"
        if kind < 0.53:
            return f"{self.number(depth - 1)} <= {self.number(depth - 1)} < {self.number(0)}"
        if kind < 0.68:
            return f"({self.truth(depth - 1)} {self.pick('and', 'or')} {self.truth(depth - 1)})"
        if kind < 0.74:
            return f"not {self.truth(depth - 1)}"
        if kind < 0.8:
            return f"{self.number(depth - 1)} {self.pick('in', 'not in')} {self.pick('(0, 2)', '[1, -1]')}"
        if kind < 0.87:
            listed = self.pick(*self.lists, *self.inputs, "(0, 1)")
            return f"{self.pick('any', 'all')}({self.test('v')} for v in {listed})"
        if kind < 0.95 and self.draws > 0:
            self.draws -= 1
            return f"bernoulli({self.pick(repr('1/3'), repr('1/2'))})"
        return f"({self.number(0)}, {self.number(0)}) {self.pick('<', '==')} ({self.number(0)}, 1)"

    def sequence(self, depth: int) -> str:
        kind = self.random.random()
        known = [*self.lists, *self.inputs]
        if depth <= 0 or kind < 0.25:
            elements = [self.number(depth - 1) for _ in range(self.random.randint(0, 2))]
            return f"[{', '.join(elements)}]"
        if not known:
            return f"[{self.number(1)}]"
        listed = self.pick(*known)
        if kind < 0.4:
            return (
                f"[v {self.pick('+', '-')} {self.number(0)} for v in {listed}{self.pick('', ' if ' + self.test('v'))}]"
            )
        if kind < 0.5 and self.draws > 0:
            self.draws -= 2
            return f"[flip(clamp(v, 0, 1)) for v in {listed}]"
        if kind < 0.58:
            return f"[(v, w)[w % 2] for v in {listed} for w in range(2){self.pick('', ' if v > w')}]"
        if kind < 0.66:
            return f"[i + v for i, v in enumerate({listed})]"
        if kind < 0.74:
            return f"sorted({listed})"
        if kind < 0.82:
            return f"{listed}[{self.pick('1:', ':1', ':-1', '0:2', ':')}]"
        if kind < 0.9:
            return f"list({listed})"
        return f"({self.sequence(0)} + {self.pick(*self.lists, '[0]')})"
