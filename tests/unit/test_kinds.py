"""Numbers that are equal and print differently are no common output of an alignment."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.programs import load

from privproof import check
from privproof.compiling.kinds import refuse_several_kinds
from privproof.compiling.rewriting import Unsupported

LOOP = "    c = 0\n    for x in q:\n        c += 1\n        if c > 50 and x > 0:\n            w = {}\n"
SEVERAL = {
    "a fraction in some runs": "    w = 1\n" + LOOP.format("Fraction(1)") + "    return w",
    "a fraction times zero": "    w = 0\n"
    + LOOP.format("Fraction(1) * 0")
    + "    return w + geometric(0, alpha='1/2')",
    "noise times a fraction": "    w = geometric(0, alpha='1/2')\n" + LOOP.format("w * Fraction(1)") + "    return w",
    "inside a tuple": "    w = 1\n" + LOOP.format("Fraction(1)") + "    return ('x', w, geometric(0, alpha='1/2'))",
    "an expression": "    return 1 if len(q) > 50 and q[0] > 0 else Fraction(1)",
    "a parameter": "    return half if len(q) > 50 and q[0] > 0 else 1",
    "a list": "    w = [2]\n" + LOOP.format("[Fraction(2)]") + "    return w",
    "clamped whole numbers": "    return min(geometric(q[0], alpha='1/2'), Fraction(3))",
    "a quotient": "    w = 1\n" + LOOP.format("2 / 2") + "    return w",
}
ONE_KIND = {
    "continuous noise": "    w = 0\n    for x in q:\n        w = w + laplace(x, scale=1)\n    return w",
    "a fraction with continuous noise": "    return laplace(q[0], scale=1) * Fraction(1, 2)",
    "whole numbers": "    w = -1\n" + LOOP.format("geometric(x, alpha='1/2')") + "    return w",
    "fractions": "    w = Fraction(1)\n" + LOOP.format("w * 2") + "    return w",
    "different returns": "    if not q:\n        return Fraction(1)\n    return geometric(q[0], alpha='1/2')",
    "clamped noise": "    return min(max(laplace(q[0], scale=1), 0), Fraction(1))",
    "constants that differ": "    return 1 if len(q) > 50 and q[0] > 0 else Fraction(1, 2)",
    "a truth value": "    return geometric(q[0], alpha='1/2') > Fraction(1, 2)",
    "a place": "    w = None\n    for i, x in enumerate(q):\n        if laplace(x, scale=1) > 2:\n            w = i\n    return w",
}


def mechanism_of(folder, body):
    head = "from fractions import Fraction\nfrom privproof import *\n@mechanism(epsilon=1)\ndef m(q: queries(), half=Fraction(1)):\n"
    return load(folder, f"{head}{body}\n")


@pytest.mark.parametrize("body", SEVERAL.values(), ids=SEVERAL.keys())
def test_what_may_be_of_several_kinds_is_not_shown(tmp_path, body):
    with pytest.raises(Unsupported, match="print differently where they are equal"):
        refuse_several_kinds(mechanism_of(tmp_path, body))


@pytest.mark.parametrize("body", ONE_KIND.values(), ids=ONE_KIND.keys())
def test_numbers_of_one_kind_are_shown(tmp_path, body):
    refuse_several_kinds(mechanism_of(tmp_path, body))


def test_no_proof_where_only_long_lists_would_tell(tmp_path):
    verdict = check(mechanism_of(tmp_path, SEVERAL["noise times a fraction"]))
    assert verdict.status == "unknown"
    assert "print differently where they are equal" in verdict.reason


def test_such_numbers_do_print_differently():
    assert Fraction(1) == 1
    assert repr(Fraction(1)) != repr(1)
