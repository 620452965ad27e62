"""Random statistics of records with noise: proofs for every length against the exact losses of all lists of up to six records.

What is shown depends on how many records say what, so that the losses are computed from the counts, without the tool: of a number with
noise the loss is the distance over the scale, of a test the larger of those of its outcomes, and of independent parts the sum.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import ceil, exp, floor, log
from random import Random

import pytest
from tests.amounts import patience, selected
from tests.certificates import recheck
from tests.programs import load

from privproof import check
from privproof_checker import Accepted

LONGEST = 6
"""Proofs are compared with all lists of so many records."""
GRID = 48
"""Claims are multiples of one over this."""
CLOSE = 1e-9
"""What is this near is rounding of the floats that the exact losses are computed in."""


class Author:
    """Writes a program that shows some statistics of its records with noise, or whether they pass a threshold with it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.values = self.pick((0, 1), (0, 1, 2), ("a", "b"), ("a", "b", "c"), (-1, 0, 2), (True, False))
        self.numbers = all(type(value) is int for value in self.values)
        self.relation = self.pick("one", "add-remove")
        self.geometric = self.random.random() < 0.3
        self.parts = [(self.statistic(), *self.noise()) for _ in range(self.pick(1, 1, 2, 2, 3))]

    def pick(self, *among):
        return self.random.choice(among)

    def count(self):
        value = self.pick(*self.values)
        return self.pick(
            f"data.count({value!r})",
            f"sum(1 for x in data if x == {value!r})",
            f"len([x for x in data if x != {value!r}])",
        )

    def statistic(self):
        """A whole number that one record changes by a bounded amount; what is cut off is cut off at two."""
        kind = self.random.randrange(8)
        if kind == 0 and self.numbers:
            low = self.pick(-1, 0)
            return f"sum(max(min(x, {low + self.pick(1, 2)}), {low}) for x in data)"
        if kind == 1 and self.numbers:
            return f"sum({self.pick(1, 2, -1)} * x for x in data if x {self.pick('>', '<=', '!=')} {self.pick(0, 1)})"
        if kind == 2:
            return f"min({self.count()}, {self.pick(1, 2)})"
        if kind == 3:
            return f"max({self.count()} - {self.count()}, 0)"
        if kind == 4:
            return f"{self.count()} {self.pick('+', '-')} {self.pick(1, 2)} * {self.count()}"
        if kind == 5:
            return f"(1 if {self.count()} > {self.pick(0, 1, 2)} else 0)"
        return self.count()

    def noise(self):
        """How much of the loss a step takes, and the threshold; None where the number is shown."""
        threshold = self.pick(None, None, None, 1, 8)
        if self.geometric:
            return self.pick(1, 1, 2), threshold
        return 1 / self.pick(1, 2, 0.5, 4), threshold

    def text(self):
        lines = [
            "from privproof import laplace",
            f"@mechanism(neighbours={self.relation!r})",
            f"def m(data: records{self.values!r}):",
        ]
        shown = []
        for k, (statistic, loss, threshold) in enumerate(self.parts):
            lines.append(f"    s{k} = {statistic}")
            law = f"geometric(s{k}, alpha='1/{2**loss}')" if self.geometric else f"laplace(s{k}, scale='{1 / loss}')"
            shown.append(law if threshold is None else f"{law} > {threshold}")
        return "\n".join([*lines, f"    return {', '.join(shown)}", ""])

    def loss(self, part, one, other):
        """The largest logarithm of a quotient of probabilities of what a part shows, of one number against another."""
        _, step, threshold = part
        if threshold is None:
            return abs(one - other) * step * (log(2) if self.geometric else 1)
        one, other = threshold - one, threshold - other
        return max(
            log(self.above(step, one) / self.above(step, other)), log(self.below(step, one) / self.below(step, other))
        )

    def above(self, step, far):
        """How likely noise is to be above a number."""
        if self.geometric:
            return self.below(step, -far - 1)
        return self.below(step, -far)

    def below(self, step, far):
        """How likely noise is to be at most a number."""
        if self.geometric:
            alpha = 2.0**-step
            return alpha**-far / (1 + alpha) if far < 0 else 1 - alpha ** (far + 1) / (1 + alpha)
        return exp(far * step) / 2 if far < 0 else 1 - exp(-far * step) / 2

    def losses(self):
        """The exact loss of lists of up to six records, and what shifts cost at most that make up for every change."""
        found = {}
        for size in range(LONGEST + 1):
            for data in combinations_with_replacement(self.values, size):
                counted = frozenset(Counter(map(repr, data)).items())
                found[counted] = data, [int(eval(each[0], {"data": list(data)})) for each in self.parts]
        exact = most = 0.0
        for left, right in self.neighbours(found):
            both = list(zip(self.parts, left, right, strict=True))
            for turned in (False, True):
                exact = max(exact, sum(self.loss(p, *((b, a) if turned else (a, b))) for p, a, b in both))
            most = max(most, sum(abs(a - b) * p[1] * (log(2) if self.geometric else 1) for p, a, b in both))
        return exact, most

    def neighbours(self, found):
        """The statistics of all neighbouring lists."""
        for data, numbers in found.values():
            for new in self.values:
                if self.relation == "add-remove":
                    other = (*data, new)
                    if len(other) <= LONGEST:
                        yield numbers, found[frozenset(Counter(map(repr, other)).items())][1]
                else:
                    for place in range(len(data)):
                        other = (*data[:place], new, *data[place + 1 :])
                        yield numbers, found[frozenset(Counter(map(repr, other)).items())][1]


def compared(folder, seed):
    """Compare the verdicts on a claim that shifts pay for, and on one that is too small; both as words."""
    author = Author(seed)
    exact, most = author.losses()
    function = load(folder, author.text())
    enough = f"{round(most / log(2))}*ln(2)" if author.geometric else f"{ceil(most * GRID - CLOSE)}/{GRID}"
    verdict = check(function, enough, time_limit=patience(8))
    assert verdict.status != "refuted", (author.text(), enough)
    if verdict.certificate is not None:
        assert isinstance(recheck(verdict.certificate), Accepted)
    too_small = (floor(exact * GRID + CLOSE) - 1) / GRID
    if too_small < 0 or exact == 0:
        return verdict.status, "none"
    other = check(function, f"{round(too_small * GRID)}/{GRID}", time_limit=patience(8))
    assert other.status != "proved", (author.text(), too_small, exact)
    return verdict.status, other.status


@pytest.mark.parametrize("seed", selected(range(3000), 3))
def test_statistics_with_noise_agree_with_lists_of_up_to_six_records(tmp_path, seed):
    compared(tmp_path, seed)
