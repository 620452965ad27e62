"""An answer does not depend on what was asked before in the same process, nor on how Python orders its sets."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tests.amounts import examples
from tests.cases import CASES
from tests.commands import ROOT, environment

from privproof import check, laplace, mechanism, real_queries, tight_epsilon
from privproof.exact.balls import precision
from privproof.library import EXAMPLES

SLOW = ("noisy-max", "sparse-vector", "release-quilt", "subsampling")
"""Examples that take seconds; tests marked slow ask them too."""
FEW = (
    "laplace-partial-sum-little-noise",
    "laplace-noisy-histogram-all-change",
    "stream-ranges",
    "naive-noisy-max",
    "survey",
)
"""Examples that fresh interpreters are asked about."""


_SECONDS = re.compile(r" in [0-9.]+ s\b")


def told(verdict):
    """Everything that a verdict says but the time it took; balls print with as many digits as is set around."""
    with precision(53):
        return _told(verdict)


def _told(verdict):
    return json.dumps(
        [
            verdict.status,
            verdict.engine,
            str(verdict.lower),
            str(verdict.upper),
            str(verdict.witness),
            list(map(str, getattr(verdict, "event", ()))),
            [_SECONDS.sub("", note) for note in verdict.notes],
            str(getattr(verdict, "reason", "")),
            verdict.certificate,
        ],
        sort_keys=True,
        default=str,
    )


def answer(name):
    for case in CASES:
        if name == f"case {case.name}":
            return told(tight_epsilon(case.question()))
    (example,) = [example for example in EXAMPLES if example.name == name]
    question = example.question()
    return told(check(question) if question.claims else tight_epsilon(question))


def names(*, slow):
    found = [f"case {case.name}" for case in CASES if case.small]
    return [*found, *(e.name for e in EXAMPLES if slow or not any(part in e.name for part in SLOW))]


def assert_independent(listed):
    first = {name: answer(name) for name in listed}
    again = {name: answer(name) for name in reversed(listed)}
    assert [name for name in listed if first[name] != again[name]] == []


def test_answers_do_not_depend_on_what_was_asked_before():
    """Every eighteenth of them: examples of one kind stand beside each other."""
    assert_independent(names(slow=False)[::18])


@pytest.mark.slow
def test_answers_do_not_depend_on_what_was_asked_before_of_all_examples():
    assert_independent(names(slow=True))


@mechanism
def summed(q: real_queries()):
    return laplace(sum(q), scale=1)


@mechanism
def bounded(q: real_queries(0, 1)):
    return laplace(sum(q), scale=1)


def test_the_witness_of_a_search_by_a_solver():
    """The order of its terms decides which of several losses a solver finds first; every question begins anew."""
    first = [told(check(asked, 1)) for asked in (summed, bounded)]
    again = [told(check(asked, 1)) for asked in (bounded, summed)]
    assert first == again[::-1]


def test_fresh_interpreters_give_the_same_answers():
    code = "import sys, json\nfrom tests.conformance.test_orders import answer\nprint(json.dumps([answer(n) for n in sys.argv[1:]]))"
    here = [answer(name) for name in FEW]
    for seed in range(1, examples(16, fewest=1) + 1):
        listed = FEW[::-1] if seed % 2 else FEW
        done = subprocess.run(
            [sys.executable, "-c", code, *listed],
            env={**environment(), "PYTHONHASHSEED": str(seed)},
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        found = dict(zip(listed, json.loads(done.stdout), strict=True))
        assert [found[name] for name in FEW] == here
