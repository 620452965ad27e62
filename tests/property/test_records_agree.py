"""Random sums over records with Laplace noise: what is proved for every length is never contradicted by exact losses of short lists."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from tests.amounts import selected
from tests.certificates import recheck
from tests.laplace_programs import load, losses

from privproof import check
from privproof.engines import Monitor
from privproof.engines.laplace.proving import AlignmentProof, prove
from privproof.engines.laplace.solver import own_context
from privproof.exact import epsilon, rational
from privproof.exact.affine import Affine
from privproof_checker import Rejected

ADD_REMOVE = "add-remove"
DOMAINS = {
    'records("a", "b", "c")': ("a", "b", "c"),
    'records("yes", "no", None)': ("yes", "no", None),
    "records(True, False)": (True, False),
    "records(0, 1, 5)": (0, 1, 5),
    "queries(0, 3, sensitivity=3)": (0, 1, 2, 3),
    "queries(-1, 2, sensitivity=2)": (-1, 0, 1, 2),
}
LONGEST = 2


class Author:
    """Writes one program that releases sums over its records, perhaps after tests on them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.domain = self.pick(*DOMAINS)
        self.values = DOMAINS[self.domain]
        self.numbers = all(type(value) is int for value in self.values)
        self.relation = self.pick("one", ADD_REMOVE)
        self.lines: list[str] = []
        self.sums = [self.summed(f"s{k}") for k in range(self.pick(1, 2, 2, 3))]
        self.scales = [self.pick(1, 2, Fraction(1, 2), 3) for _ in self.sums]

    def pick(self, *among):
        return self.random.choice(among)

    def test(self, name="r", deep=2):
        kind = self.random.randrange(6)
        if deep and kind == 0:
            return f"({self.test(name, deep - 1)} {self.pick('and', 'or')} {self.test(name, deep - 1)})"
        if deep and kind == 1:
            return f"not {self.test(name, deep - 1)}"
        if self.numbers and kind < 5:
            return f"{name} {self.pick('<', '<=', '>', '>=')} {self.pick(-1, 0, 1, 2, 3)}"
        if self.values == (True, False):
            return name
        return f"{name} {self.pick('==', '!=')} {self.pick(*self.values)!r}"

    def number(self, name="r"):
        if not self.numbers:
            return self.pick("1", "2", f"(3 if {self.test(name)} else -1)")
        return self.pick(
            name,
            f"min(max({name}, 0), 1)",
            f"abs({name} - 1)",
            f"2 * {name} - 1",
            f"({name} if {self.test(name)} else 1)",
        )

    def summed(self, name):
        """A sum, and the lines that make it."""
        kind = self.random.randrange(6)
        if kind == 0:
            self.lines.append(f"{name} = sum(1 for r in data if {self.test()})")
        elif kind == 1:
            self.lines.append(f"{name} = sum({self.number()} for r in data if {self.test()})")
        elif kind == 2:
            self.lines.append(f"{name} = data.count({self.pick(*self.values)!r})")
        elif kind == 3:
            self.lines.append(f"{name} = len([r for r in data if {self.test()}])")
        elif kind == 4:
            self.lines += [
                f"{name} = {self.pick(0, 1)}",
                "for r in data:",
                f"    if {self.test()}:",
                f"        {name} += {self.number()}",
            ]
            self.lines += [f"    else:\n        {name} -= 1"] if self.pick(True, False) else []
        else:
            self.lines.append(
                f"{name} = len(data)" if self.relation == ADD_REMOVE else f"{name} = sum({self.number()} for r in data)"
            )
        return name

    @property
    def released(self) -> str:
        shown = ", ".join(f"laplace({s}, scale=Fraction('{c}'))" for s, c in zip(self.sums, self.scales, strict=True))
        return self.text([f"return ({shown},)"])

    @property
    def tested(self) -> str:
        """The same sums behind tests on noisy ones."""
        first, last = self.sums[0], self.sums[-1]
        kind = self.random.randrange(3)
        if kind == 0:
            end = [f"if laplace({first}, scale=2) >= 1:", f"    return laplace({last}, scale=2)", "return 7"]
        elif kind == 1:
            end = [f"return laplace({first}, scale=2) > laplace({last}, scale=2)"]
        else:
            end = [
                "limit = laplace(0, scale=2)",
                f"return laplace({first}, scale=4) >= limit, laplace({last}, scale=4)",
            ]
        return self.text(end)

    def text(self, end: list[str]) -> str:
        body = "\n".join(f"    {line}" for block in (*self.lines, *end) for line in block.split("\n"))
        return f'@mechanism(neighbours="{self.relation}")\ndef m(data: {self.domain}):\n{body}\n'

    def sums_of(self, data: list[object]) -> list[Fraction]:
        """The sums of a data set, by Python."""
        known: dict[str, object] = {"data": data}
        exec("\n".join(self.lines), known)
        return [Fraction(known[name]) for name in self.sums]

    def neighbours(self, longest: int = LONGEST):
        """All neighbouring lists up to a length."""
        for n in range(1, longest + 1):
            for rest in product(self.values, repeat=n - 1):
                for one in self.values:
                    if self.relation == ADD_REMOVE:
                        yield [*rest, one], [*rest]
                        yield [one, *rest], [*rest]
                    else:
                        yield from (([*rest, one], [*rest, other]) for other in self.values if other is not one)

    def loss(self) -> Fraction:
        """The exact loss: Laplace noise on every sum, each away from where it is on the other side."""

        def apart(left, right):
            pairs = zip(self.sums_of(left), self.sums_of(right), self.scales, strict=True)
            return sum((abs(a - b) / c for a, b, c in pairs), Fraction(0))

        return max(apart(left, right) for left, right in self.neighbours())


class LoopAuthor:
    """Writes loops over records that mostly add up, and sometimes look at places, earlier records or sums so far, or leave early."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.relation = self.pick("one", ADD_REMOVE)
        self.values = self.pick((0, 1), (0, 1, 2), (-1, 0, 2))
        self.lines = ["a = 0", "b = 0", "t = 0", "u = 1"]
        for _ in range(self.pick(1, 1, 2)):
            self.lines.append(self.pick("for r in data:", "for i, r in enumerate(data):"))
            self.place = "i" if "i," in self.lines[-1] else None
            for _ in range(self.pick(1, 2, 3, 4)):
                self.lines += self.statement(1)
            self.lines += [self.pick("b = b + t", "a = a + b", "t = 0", "u = a")] if self.chance(1 / 3) else []
        self.scales = (self.pick(1, 2), self.pick(1, 3))
        self.shown = self.pick(("a", "b"), ("a", "t"), ("b", "u"), ("a", "a + b"), ("a", "u"))

    def pick(self, *among):
        return self.random.choice(among)

    def chance(self, probability):
        return self.random.random() < probability

    def number(self):
        others = ["t", "a", "b", "u", "r + t"] if self.chance(1 / 4) else []
        others += [self.place] if self.place and self.chance(1 / 5) else []
        return self.pick("r", "1", "2", "r + 1", "min(r, 1)", "abs(r)", "2 * r", "(1 if r > 0 else 0)", *others)

    def test(self):
        others = ["a > 1", "t > 0", "u == 1", "b < 2"] if self.chance(1 / 4) else []
        others += ["i > 0"] if self.place and self.chance(1 / 5) else []
        return self.pick("r > 0", "r == 1", "r >= 1 and r < 2", "not r > 0", "r != 0", *others)

    def statement(self, deep):
        pad, kind = "    " * deep, self.random.random()
        if kind < 0.45 or deep == 3:
            return [f"{pad}{self.pick('a', 'b', 'a', 'b', 't')} {self.pick('+=', '-=')} {self.number()}"]
        if kind < 0.6:
            return [f"{pad}{self.pick('t', 'u')} = {self.number()}"]
        if kind < 0.65:
            return [f"{pad}{self.pick('a', 'b')} = {self.number()} + {self.pick('a', 'b')}"]
        if kind < 0.7:
            return [f"{pad}if {self.test()}:", f"{pad}    {self.pick('break', 'continue')}"]
        then = [f"{pad}if {self.test()}:", *self.statement(deep + 1)]
        return [*then, f"{pad}else:", *self.statement(deep + 1)] if self.chance(1 / 2) else then

    @property
    def text(self) -> str:
        body = "\n".join(f"    {line}" for line in self.lines)
        noisy = ", ".join(f"laplace({s}, scale={c})" for s, c in zip(self.shown, self.scales, strict=True))
        head = f'@mechanism(neighbours="{self.relation}")\ndef m(data: records{self.values!r}):\n'
        return f"{head}{body}\n    return {noisy}\n"

    def loss(self) -> Fraction:
        """The exact loss on lists of up to three records, by running the lines themselves."""
        code, known = compile("\n".join(self.lines), "loops", "exec"), {}

        def shown(data):
            if data not in known:
                store = {"data": list(data)}
                exec(code, store)
                known[data] = [Fraction(eval(each, store)) for each in self.shown]
            return known[data]

        def apart(one, other):
            pairs = zip(shown(one), shown(other), self.scales, strict=True)
            return sum((abs(a - b) / c for a, b, c in pairs), Fraction(0))

        return max(
            apart(data, data[:at] + new + data[at + 1 :])
            for n in (1, 2, 3)
            for data in product(self.values, repeat=n)
            for at in range(n)
            for new in ([()] if self.relation == ADD_REMOVE else [(value,) for value in self.values])
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@pytest.mark.parametrize("seed", selected(range(200), 6))
def test_sums_with_noise_cost_exactly_what_one_record_can_do(seed, folder):
    author = Author(seed)
    mechanism, known = load(folder, author.released), author.loss()
    found = check(mechanism, str(known) if known else "1/100")
    assert found.status == "proved", author.released
    assert not isinstance(recheck(found.certificate), Rejected)
    if known:
        assert check(mechanism, str(known * 9 / 10)).status == "refuted", author.released


@pytest.mark.parametrize("seed", selected(range(1000, 1200), 4))
def test_what_is_proved_is_never_contradicted_on_short_lists(seed, folder):
    author = Author(seed)
    text = author.tested
    mechanism = load(folder, text)
    claim = author.pick("1/4", "1/2", 1, 2, 3)
    found = check(mechanism, claim, time_limit=5)
    if found.status != "proved":
        return
    assert not isinstance(recheck(found.certificate), Rejected)
    for left, right in author.random.sample(list(author.neighbours()), 6):
        for loss in losses(mechanism, {"data": left}, {"data": right}, author.random):
            assert not loss.exceeds(epsilon(rational(claim))), (text, left, right, loss.event)


@pytest.mark.parametrize("seed", selected(range(2000, 2400), 12))
def test_no_loop_is_taken_for_a_sum_that_is_none(seed, folder):
    author = LoopAuthor(seed)
    mechanism, known = load(folder, author.text), author.loss()
    if not known:
        return
    with own_context():
        found = prove(mechanism, Affine(rational(known * 99 / 100)), Monitor(deadline=time.monotonic() + 8))
    assert not isinstance(found, AlignmentProof), author.text
