"""Random programs with geometric noise: no proof is contradicted by the probabilities that an enumeration of the noise gives.

The enumeration shares nothing with the tool but the function itself: every draw takes the values near its centre, one after the other, and
what lies further away is bounded by its tail.  A proof is wrong if an output is surely more than e^epsilon times as likely on a neighbour.
"""

from __future__ import annotations

import time
from fractions import Fraction
from math import exp
from random import Random

import pytest
from tests.amounts import ALL, selected
from tests.certificates import recheck
from tests.programs import load

from privproof import check
from privproof.engines import Monitor
from privproof.errors import LanguageError
from privproof.language.laws import Geometric, TableLaw
from privproof.language.noise import drawing

HEADER = "from privproof.language import geometric, integer, mechanism, public, queries, truncated_geometric\n\n\n"
ALPHAS = ("1/3", "1/4", "1/2", "2/5", "1/9")
PATIENCE = 5 if ALL else 2
REACH = {0: 0, 1: 16, 2: 9, 3: 5, 4: 3, 5: 2}
"""How far from its centre noise is enumerated, by the number of draws of a run."""


class Author:
    """Writes a random program: a few numbers, or a list that is walked over once."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.noises: list[str] = []
        one = self.random.choice
        self.relation = one(("each", "each", "one", "monotone"))
        self.text = one((self.straight, self.straight, self.walk, self.walk, self.walk, self.counter))()
        self.claim = one(("1/2", "ln(2)", "ln(3)", "2*ln(2)", "2*ln(3)", "3*ln(2)", "4*ln(2)", "ln(9)", "5"))

    def noise(self, center: str) -> str:
        alpha = self.random.choice(ALPHAS)
        if self.random.random() < 0.2:
            return f'truncated_geometric({center}, low=-1, high=2, alpha="{alpha}")'
        return f'geometric({center}, alpha="{alpha}")'

    def head(self, inputs: str) -> str:
        return f'@mechanism(neighbours="{self.relation}")\ndef m({inputs}):\n'

    def straight(self) -> str:
        one = self.random.choice
        centers = ["x", "y", "x + y", "x - y", "0", "2 * x", "min(x, 1)", "abs(y)", "1 if x > y else 0"]
        lines = [f"    a = {self.noise(one(centers))}\n", f"    b = {self.noise(one(centers))}\n"]
        test = one(("a > b", "a >= b", "a == b", "a != 0", "a == 1 or b > 0", "a + b > 1", "2 * a > b", "x > 0"))
        shown = ["a", "b", "a + b", "a - b", "1", "0", "(a, b > 0)", "2 * a", "a + x"]
        if self.random.random() < 0.6:
            lines.append(f"    if {test}:\n        return {one(shown)}\n    return {one(shown)}\n")
        else:
            lines.append(f"    return {one((test, one(shown)))}\n")
        return self.head("x: integer(), y: integer()") + "".join(lines)

    def walk(self) -> str:
        one = self.random.choice
        before = one(("    limit = 1\n", f"    limit = {self.noise('0')}\n", f"    limit = {self.noise('1')}\n"))
        noisy = self.noise(one(("v", "v", "v", "2 * v", "min(v, 1)", "1 if v > 0 else 0")))
        test = one(("n > limit", "n >= limit", "n == limit", "n != limit", "v > limit"))
        inside = one(
            (
                f"        if {test}:\n            return i\n",
                f"        if {test}:\n            found = found + 1\n",
                f"        if {test}:\n            found = i\n            limit = n\n",
                f"        if i == 0 or {one(('n > best', 'n >= best', 'n == best'))}:\n            best, found = n, i\n",
                "        found = found + n\n",
            )
        )
        after = one(
            ("    return found\n", "    return found\n", "    return found > 0\n", "    return (found, limit > 0)\n")
        )
        start = "    found, best = -1, 0\n"
        loop = f"    for i, v in enumerate(q):\n        n = {noisy}\n{inside}"
        return self.head("q: queries()") + before + start + loop + after

    def counter(self) -> str:
        one = self.random.choice
        value = one(("1 if v > 0 else 0", "v", "min(max(v, 0), 2)", "1 if v == 1 else -1"))
        loop = f"    total = 0\n    for v in q:\n        total = total + ({value})\n"
        last = one(("    return {}\n", "    return {} > 1\n", "    return max({}, 0)\n", "    return {} == 0\n"))
        return self.head("q: queries()") + loop + last.format(self.noise("total"))


def outputs(mechanism, arguments):
    """The probabilities of the outputs, from below, and how much may be missing from each."""
    found: dict[str, Fraction] = {}
    reach = REACH[min(count_of_draws(mechanism, arguments), 5)]
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        given = waiting.pop()
        weight, made, tables = Fraction(1), [], []

        def draw(law, given=given, made=made, tables=tables):
            nonlocal weight
            outcomes = listed(law, reach)
            k = given[len(made)] if len(made) < len(given) else 0
            made.append(k)
            tables.append(len(outcomes))
            value, probability = outcomes[k]
            weight *= probability
            return value

        with drawing(draw):
            result = mechanism(**arguments)
        found[repr(result)] = found.get(repr(result), Fraction(0)) + weight
        for place in range(len(given), len(made)):
            waiting += [(*made[:place], k) for k in range(1, tables[place])]
    return found, 1 - sum(found.values())


def listed(law, reach):
    match law:
        case Geometric(center, alpha):
            height = (1 - alpha) / (1 + alpha)
            return [(int(center) + k, height * alpha ** abs(k)) for k in range(-reach, reach + 1)]
        case TableLaw(rows):
            return [row for row in rows if row[1]]
    raise AssertionError(law)


def count_of_draws(mechanism, arguments):
    """The most draws that a run makes among some."""
    most = 0
    for k in (-9, 0, 9):
        made = []
        with drawing(lambda law, made=made, k=k: made.append(1) or listed(law, 9)[0][0] * 0 + k):
            mechanism(**arguments)
        most = max(most, len(made))
    return most


def neighbouring(mechanism, size, random, relation):
    """Two neighbouring data sets."""
    places = 2 if "x" in mechanism.inputs else size
    values = [random.randint(-1, 2) for _ in range(places)]
    steps = [random.choice((-1, 0, 1)) for _ in range(places)]
    if relation == "one":
        chosen = random.randrange(places) if places else 0
        steps = [step if k == chosen else 0 for k, step in enumerate(steps)]
    if relation == "monotone":
        steps = [abs(step) for step in steps]
        if random.random() < 0.5:
            steps = [-step for step in steps]
    moved = [value + step for value, step in zip(values, steps, strict=True)]
    if "x" in mechanism.inputs:
        return dict(zip("xy", values, strict=True)), dict(zip("xy", moved, strict=True))
    return {"q": values}, {"q": moved}


@pytest.mark.filterwarnings(
    "ignore::privproof.errors.CertificateRefused"
)  # what the checker does not follow is no contradiction
@pytest.mark.parametrize("seed", selected(range(240), 4))
def test_no_proof_is_contradicted_by_an_enumeration_of_the_noise(seed, tmp_path):
    author = Author(seed)
    mechanism = load(tmp_path, HEADER + author.text)
    try:
        verdict = check(mechanism, author.claim, monitor=Monitor(deadline=time.monotonic() + PATIENCE))
    except LanguageError:
        return
    if verdict.status == "refuted":
        witness = verdict.witness
        assert verdict.certified
        for side, exact in ((witness.left, witness.left_probability), (witness.right, witness.right_probability)):
            confirmed(mechanism, side, witness.event, exact)
    if verdict.status != "proved":
        return
    assert recheck(dict(verdict.certificate)).verdict == "proved"
    largest = exp(float(verdict.upper.decimal(digits=15)))
    random = Random(seed)
    for size in (0, 1, 2, 3, 4):
        for _ in range(3):
            left, right = neighbouring(mechanism, size, random, author.relation)
            (one, _), (two, missing) = outputs(mechanism, left), outputs(mechanism, right)
            for output, p in one.items():
                assert float(p) <= largest * float(two.get(output, 0) + missing) * (1 + 1e-12), (
                    author.text,
                    left,
                    right,
                )


def confirmed(mechanism, arguments, event, exact):
    """The exact probability of an event that is one output lies where the enumeration says."""
    if not isinstance(event, int | bool):
        return
    found, missing = outputs(mechanism, arguments)
    low = float(found.get(repr(event), 0))
    assert low - 1e-9 <= float(exact.ball(1).mid()) <= low + float(missing) + 1e-9
