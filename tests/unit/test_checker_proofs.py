"""The checker goes from the text of a mechanism with continuous noise to the instructions of its proof, and takes no others for them."""

from __future__ import annotations

import pytest
from tests.instructions import outcome, question_of
from tests.laplace_programs import load

from privproof.library.laplace.examples import ENTRIES

PROVED = [entry.mechanism for entry in ENTRIES if entry.known.startswith("proved")]
LISTED = "@mechanism\ndef m(q: real_queries()):\n"
ONE = "@mechanism\ndef m(x: real()):\n"
HELPERS = """\
def first_above(values, bound):
    for at, value in enumerate(values):
        if value > bound:
            return at
    return -1


def noisy(value, size=2):
    return laplace(value, scale=size)


"""

FOLLOWED = {
    "a list": LISTED + "    return [laplace(a, scale=1) for a in q]\n",
    "a list of some": LISTED
    + "    out = []\n    for a in q:\n        y = laplace(a, scale=1)\n        if y > 0:\n            out.append(y)\n    return out\n",
    "a tuple of a list": LISTED
    + "    out = []\n    for a in q:\n        out.append(laplace(a, scale=1) > 0)\n    return tuple(out)\n",
    "a list that is returned early": LISTED
    + "    out = []\n    for a in q:\n        if laplace(a, scale=1) > 0:\n            return out\n        out.append(1)\n    return out\n",
    "zip": "@mechanism\ndef m(q: real_queries(), r: public(real_queries())):\n"
    + "    for a, b in zip(q, r):\n        yield laplace(a + b, scale=1)\n",
    "lists of two lengths": "@mechanism\ndef m(q: real_queries(), r: public(real_queries(size=3))):\n"
    + "    for a, b in zip(q, r):\n        yield laplace(a + b, scale=1)\n",
    "range of a length": LISTED + "    for i in range(len(q)):\n        yield laplace(q[i], scale=1)\n",
    "range as far as both": "@mechanism\ndef m(q: real_queries(), n: public(integer(low=1))):\n"
    + "    for i in range(min(n, len(q))):\n        yield laplace(q[i], scale=1)\n",
    "range backwards": LISTED + "    for i in range(len(q) - 1, -1, -1):\n        yield laplace(q[i], scale=1)\n",
    "range from one": LISTED + "    for i in range(1, len(q)):\n        yield laplace(q[i] - q[i - 1], scale=1)\n",
    "a fixed range": ONE + "    for i in range(3):\n        yield laplace(x + i, scale=1)\n",
    "enumerate from one": LISTED
    + "    for i, a in enumerate(q, 1):\n        if laplace(a, scale=1) > i:\n            return i\n    return 0\n",
    "an index that is shifted": LISTED
    + "    limit = laplace(0, scale=2)\n    for i, a in enumerate(q):\n        if laplace(a, scale=4) > limit:\n"
    + "            return i + 1\n    return 0\n",
    "a winner that is shifted": LISTED
    + "    best, winner = 0, 0\n    for i, a in enumerate(q):\n        y = laplace(a, scale=2)\n        if i == 0 or y > best:\n"
    + "            best, winner = y, i + 1\n    return winner\n",
    "the last entry": LISTED + "    if len(q) == 0:\n        return 0\n    return 1 if laplace(q[-1], scale=1) > 0 else 2\n",
    "an empty list": LISTED + "    if len(q) == 0:\n        return 'none'\n    return 'some' if laplace(q[0], scale=1) > 0 else 'none'\n",
    "while and break": LISTED
    + "    i = 0\n    while True:\n        if i >= len(q):\n            break\n        yield laplace(q[i], scale=1)\n        i += 1\n",
    "continue": LISTED
    + "    for i, a in enumerate(q):\n        if i % 2 == 0:\n            continue\n        yield laplace(a, scale=1)\n",
    "nested loops": LISTED
    + "    for a in q:\n        for b in q:\n            yield laplace(a - b, scale=1)\n        yield 'next'\n",
    "sums": LISTED + "    return laplace(sum(q) / 2 + 3 - sum(q), scale=1)\n",
    "a sum of a generator": LISTED + "    return laplace(sum(2 * a for a in q if a > 0), scale=1)\n",
    "any": LISTED + "    return laplace(0, scale=1) > 0 and any(a > 0 for a in q)\n",
    "extremes": ONE + "    return laplace(max(min(x, 3), -abs(x), 0), scale=1)\n",
    "a tuple": ONE + "    y = laplace(x, scale=1)\n    return y > 0, laplace(x, scale=2)\n",
    "helpers": HELPERS + LISTED + "    return noisy(first_above(q, 0)), noisy(1, size=3) > 0\n",
    "a value that may be None": LISTED
    + "    best = None\n    for a in q:\n        y = laplace(a, scale=2)\n        if best is None or y > best:\n            best = y\n"
    + "    return best is None\n",
    "None that is shown": LISTED
    + "    found = None\n    for i, a in enumerate(q):\n        if laplace(a, scale=2) > 0:\n            found = i\n            break\n"
    + "    return found\n",
    "a coin": ONE + "    if bernoulli('1/3'):\n        return laplace(x, scale=1)\n    return laplace(x, scale=2) - 1\n",
    "a random number": "@mechanism\ndef m(x: real(), n: public(integer(low=1))):\n"
    + "    k = uniform(1, n)\n    return k, laplace(k * 2 + x, scale=1)\n",
    "a public text": "@mechanism\ndef m(x: real(), mode: public(one_of('wide', 'narrow'))):\n"
    + "    if mode == 'wide':\n        return laplace(x, scale=2)\n    return laplace(x, scale=1)\n",
    "a public truth value": "@mechanism\ndef m(x: real(), flag: public(one_of(True, False))):\n"
    + "    return laplace(x, scale=1) > 0 or flag\n",
    "a scale": "@mechanism\ndef m(x: real(), n: public(integer(low=1)), k: public(integer(low=2))):\n"
    + "    return laplace(x, scale=n * k / 3)\n",
    "whole numbers": "@mechanism\ndef m(q: queries(), n: public(integer(low=1))):\n"
    + "    for i, a in enumerate(q):\n        if (i + 1) % n == 0 or i // n > 3:\n            yield laplace(a, scale=1)\n",
    "bounds": "@mechanism\ndef m(x: real(low=0, high=3)):\n    return laplace(max(x, 0), scale=1)\n",
    "a stream": "@mechanism\ndef m(s: real_stream()):\n    limit = laplace(0, scale=2)\n    for i, a in enumerate(s):\n"
    + "        if laplace(a, scale=4) > limit:\n            yield i\n            return\n        yield -1\n",
    "match": LISTED
    + "    k = 0\n    for a in q:\n        match k:\n            case 0:\n                yield laplace(a, scale=1)\n"
    + "            case _:\n                yield 0\n        k = 1 - k\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("proofs")


@pytest.mark.parametrize("convert", [True, False])
@pytest.mark.parametrize("mechanism", PROVED, ids=lambda mechanism: mechanism.name)
def test_the_instructions_of_every_proof_of_the_library_are_those_of_its_text(mechanism, convert):
    assert outcome(question_of(mechanism, convert=convert)) == "established"


@pytest.mark.parametrize("convert", [True, False])
@pytest.mark.parametrize("name", FOLLOWED)
def test_a_text_is_followed_to_its_instructions(folder, name, convert):
    assert outcome(question_of(load(folder, FOLLOWED[name]), convert=convert)) == "established"
