"""Sums of parts of a list: blocks, windows, prefixes and trees of sums, and what must not be proved of them."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest
from tests.amounts import patience, selected
from tests.certificates import nested, recheck

from privproof import check, geometric, integer, laplace, mechanism, public, queries, real_queries, records
from privproof.language.running import run_once
from privproof.language.scripts import record_run
from privproof_checker import Accepted


@mechanism(epsilon=1, neighbours="one")
def tree_of_eight(q: real_queries(size=8)):
    for width in [1, 2, 4, 8]:
        for i in range(0, 8, width):
            yield laplace(sum(q[i : i + width]), scale=4)


@mechanism(epsilon=1, neighbours="one")
def tree_of_widths(q: real_queries()):
    out = []
    for width in (1, 2, 4, 8):
        for i in range(0, len(q), width):
            out.append(laplace(sum(q[i : i + width]), scale=4))  # noqa: PERF401
    return out


@mechanism(epsilon=1, neighbours="one")
def tree_of_levels(q: real_queries(), levels: public(integer(low=1))):
    for level in range(levels):
        for i in range(0, len(q), 2**level):
            yield laplace(sum(q[i : i + 2**level]), scale=levels)


@mechanism(epsilon=1, neighbours="one")
def doubled_widths(q: real_queries(), levels: public(integer(low=1))):
    width = 1
    for _ in range(levels):
        for i in range(0, len(q), width):
            yield laplace(sum(q[i : i + width]), scale=levels)
        width *= 2


@mechanism(epsilon=1, neighbours="one")
def window(q: real_queries()):
    for i in range(len(q)):
        yield laplace(sum(q[i : i + 3]), scale=3)


@mechanism(epsilon=1, neighbours="one")
def prefixes(q: real_queries(size=4)):
    for i in range(4):
        yield laplace(sum(q[: i + 1]), scale=4)


@mechanism(epsilon=1, neighbours="one")
def from_the_end(q: real_queries()):
    yield laplace(sum(q[-3:]), scale=2)
    yield laplace(sum(q[:-3]), scale=2)
    yield laplace(sum(q[2:1]), scale=1)
    yield laplace(sum(q[1:-1]), scale=2)


@mechanism(epsilon=1, neighbours="one")
def votes(q: records("yes", "no")):
    yield laplace(q[:5].count("yes"), scale=1)
    yield laplace(q[5:].count("yes"), scale=1)


PROVED = [
    tree_of_eight,
    tree_of_widths,
    tree_of_levels,
    doubled_widths,
    window,
    prefixes,
    from_the_end,
    votes,
]


@pytest.mark.parametrize("f", PROVED, ids=lambda f: f.name)
def test_they_are_proved_with_what_they_cost_and_refuted_below(f):
    verdict = check(f)
    assert verdict.status == "proved"
    assert isinstance(recheck(verdict.certificate), Accepted)
    assert check(f, "9/10").status == "refuted"


def test_geometric_noise():
    @mechanism(epsilon="2*ln(2)", neighbours="one")
    def tree(q: queries(0, 1)):
        for width in (1, 2):
            for i in range(0, len(q), width):
                yield geometric(sum(q[i : i + width]), alpha="1/2")

    assert check(tree).status == "proved"
    assert check(tree, "1.38").status == "refuted"


@mechanism(epsilon=1, neighbours="one")
def overlapping(q: real_queries(), width: public(integer(low=1))):
    for i in range(0, len(q), width):
        yield laplace(sum(q[i : i + width + 1]), scale=1)


@mechanism(epsilon=1, neighbours="one")
def forgotten_level(q: real_queries()):
    for width in (1, 2, 4, 8):
        for i in range(0, len(q), width):
            yield laplace(sum(q[i : i + width]), scale=3)


@mechanism(epsilon=1, neighbours="one")
def all_from_the_end(q: real_queries()):
    yield laplace(sum(q[-5:]), scale=1)
    yield laplace(sum(q[:-5]), scale=1)
    yield laplace(sum(q[:1]), scale=1)


@mechanism(epsilon=1, neighbours="one")
def named_from_the_end(q: real_queries(size=3)):
    block = q[-5:]  # all of them
    yield laplace(sum(block), scale=1)
    yield laplace(sum(q[0:1]), scale=1)


@mechanism(epsilon=1, neighbours="one")
def downward(q: real_queries(), step: public(integer(-2, -1))):
    for i in range(3, 0, step):
        yield laplace(sum(q[i - 1 : i + 1]), scale=1)


@mechanism(epsilon=1, neighbours="one")
def by_data(q: real_queries()):
    end = 1 if sum(q) > 0 else 2
    yield laplace(sum(q[:end]), scale=1)


@mechanism(epsilon=1, neighbours="add-remove")
def shifted_blocks(q: records(0, 1)):
    yield laplace(sum(q[0:2]), scale=1)
    yield laplace(sum(q[2:4]), scale=1)


@mechanism(epsilon=1)
def every_entry(q: real_queries(size=3)):
    yield laplace(sum(q[0:2]), scale=1)


@pytest.mark.parametrize(
    "f",
    [
        overlapping,
        forgotten_level,
        all_from_the_end,
        named_from_the_end,
        downward,
        by_data,
        shifted_blocks,
        every_entry,
    ],
    ids=lambda f: f.name,
)
def test_wrong_ones_are_not_proved(f):
    assert check(f, time_limit=patience(5)).status != "proved"


def test_positions_are_told_of_replaced_records_alone():
    certificate = nested(check(votes).certificate)
    del certificate["question"]["source"]
    assert isinstance(recheck(certificate), Accepted)
    moved = copy.deepcopy(certificate)
    moved["question"]["relation"] = "add-remove"
    assert not isinstance(recheck(moved), Accepted)
    wider = copy.deepcopy(certificate)
    for step in wider["question"]["code"]:
        if step[0] == "assign" and step[2] == ["int", 5]:
            step[2] = ["int", 6]
            break
    assert wider != certificate
    assert not isinstance(recheck(wider), Accepted)


ENDS = ("", "0", "1", "2", "-1", "-2", "-4", "5", "i", "i + 1", "-i", "len(q) - i")


def exact_loss(f, size):
    """Outputs are independent: the loss is what one value moves the centres by, each divided by its scale."""
    most = Fraction(0)
    for changed in range(size):
        left, right = [0] * size, [0] * size
        right[changed] = 1
        sides = []
        for data in (left, right):
            _, drawn = record_run(lambda data=data: run_once(f, {"q": data}), lambda law: Fraction(law.center))
            sides.append([(Fraction(law.center), Fraction(law.scale)) for law, _ in drawn])
        most = max(most, sum(abs(a - b) / scale for (a, scale), (b, _) in zip(*sides, strict=True)))
    return most


@pytest.mark.parametrize("number", selected(range(72), 6))
def test_all_ends_mean_what_they_mean_in_python(number, tmp_path, monkeypatch):
    low, high = ENDS[number % 12], ENDS[(5 * number + number // 12) % 12]
    text = (
        "from privproof import laplace, mechanism, real_queries\n"
        "@mechanism(neighbours='one')\n"
        "def f(q: real_queries(size=3)):\n"
        "    for i in range(3):\n"
        f"        part = q[{low}:{high}]\n"
        "        yield laplace(sum(part), scale=2)\n"
        f"        yield laplace(sum(q[{low}:{high}]), scale=1)\n"
    )
    (tmp_path / f"parts_{number}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    f = __import__(f"parts_{number}").f
    loss = exact_loss(f, 3)
    assert check(f, loss, time_limit=patience(5)).status != "refuted"
    if loss:
        assert check(f, loss * Fraction(9, 10), time_limit=patience(5)).status != "proved"
