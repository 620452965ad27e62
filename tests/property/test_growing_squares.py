"""What is proved of Gaussian noise for every length is no less than what short lists give away.

Random functions go through a list and show noisy numbers.  Where no test decides what is shown, two data sets that differ by d give normal
numbers whose means are ``sum over shown numbers of (their change)^2/variance`` apart, exactly; the largest value over all neighbours of a
length is found by trying all corners.  An alignment proves an expression in the length, which must be at least that much.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from tests.amounts import selected

from privproof import check
from privproof.evidence.verdicts import ProgramDetails
from privproof.loading.question_loading import load

SIZES = range(1, 7)
RELATIONS = ("each", "each", "one", "monotone")


def made(rnd):
    """A function: its text, its neighbours, and by how much every shown number changes with the changes of a list, with its variance."""
    relation = rnd.choice(RELATIONS)
    shown = []
    for _ in range(rnd.choice([1, 1, 2])):
        center = rnd.choice(["a", "a", "2 * a", "a / 2", "total", "a - q[0]", "0", "i * a"])
        shown.append((center, rnd.choice([1, 2, 3, 4])))
    early, only = rnd.random() < 1 / 4, rnd.choice([None, None, "i % 2 == 0", "i < 2"])
    lines = ["from privproof import gaussian, mechanism, real_queries", "", "", f'@mechanism(neighbours="{relation}")']
    lines += [
        "def made(q: real_queries()):",
        "    total = 0",
        "    for i, a in enumerate(q):",
        "        total = total + a",
    ]
    inner = "        "
    if only is not None:
        lines += [f"        if {only}:"]
        inner += "    "
    lines += [f"{inner}yield gaussian({center}, sigma={sigma})" for center, sigma in shown]
    if early:
        lines += ["        if i == 1:", "            return"]

    def changes(d):
        for i in range(min(len(d), 2) if early else len(d)):
            if only is None or (i % 2 == 0 if "%" in only else i < 2):
                for center, sigma in shown:
                    known = {"a": d[i], "total": sum(d[: i + 1]), "q": d, "i": i}
                    yield Fraction(eval(center, {}, known)) ** 2 / sigma**2

    return "\n".join(lines) + "\n", relation, changes


def most(changes, relation, size):
    """What a change between neighbours comes to in squares at most: it is convex, so that corners are enough."""
    corners = product((-1, 1), repeat=size)
    if relation == "monotone":
        corners = product((0, 1), repeat=size)
    if relation == "one":
        corners = ([int(k == i) for k in range(size)] for i in range(size))
    return max(sum(changes([Fraction(x) for x in corner]), Fraction(0)) for corner in corners)


def compared(seed, folder):
    """What is proved beside what is true, at every size; empty where nothing is proved."""
    text, relation, changes = made(random.Random(seed))
    file = folder / f"squares{seed}.py"
    file.write_text(text)
    verdict = check(load(f"{file}:made"), epsilon=0, delta=1, time_limit=20)
    details = verdict.details
    if verdict.status != "proved" or not isinstance(details, ProgramDetails) or details.costs is None:
        return []
    others, squares = details.costs
    assert others == 0
    return [(size, Fraction(str(squares.at({"size": size}))), most(changes, relation, size), text) for size in SIZES]


@pytest.mark.parametrize("seed", selected(range(60), 2))
def test_no_length_gives_away_more_than_is_proved(seed, tmp_path):
    for size, proved, true, text in compared(seed, tmp_path):
        assert true <= proved, (size, proved, true, text)
