"""The checker's own reading of the language against CPython: the exact distribution of the output by both.

The programs are those of `test_language`.  What the checker does not follow it says; what it follows must be what CPython does, and a
function that fails when CPython runs it fails in the checker.
"""

from __future__ import annotations

import warnings
from collections import Counter
from random import Random

import pytest
from tests.amounts import selected, spread
from tests.conformance.random_programs import Author, Disagreement, by_cpython, data_sets
from tests.corpus import programs
from tests.programs import load

from privproof import LanguageError
from privproof.errors import PrivproofError
from privproof.exact import ZERO, fraction
from privproof_checker.outcomes import Limits
from privproof_checker.source.exploring import Explorer, rest
from privproof_checker.source.machine import Machine
from privproof_checker.source.operations import Fails
from privproof_checker.source.running import Work
from privproof_checker.source.source_member import read_source
from privproof_checker.source.values import Beyond, Cells, Stream, printed

STEPS = 60_000
MOST = 120
SELDOM = 5
"""What the checker does not follow is seldom: so many programs agree for each."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("checker")


def law(source, data):
    """The distribution of what the mechanism shows, by the checker."""
    machine = Machine(source.functions, Work(STEPS))
    explorer = Explorer(machine)
    arguments = dict(source.parameters)
    elements = []
    for name, declared in source.inputs.items():
        if declared.shape == "stream":
            elements, arguments[name] = list(data[name]), Stream(name)
        else:
            listed = declared.shape == "list"
            arguments[name] = Cells(list(data[name]), fixed=True, name=name) if listed else data[name]
    level = dict(explorer.settle(machine.begin(arguments)))
    for element in elements:
        following = {}
        for before, p in level.items():
            onward = {before: p}
            if before.run is not None:
                settled = explorer.settle(machine.fed(before.run, source.stream.name, None, element))
                onward = {
                    rest(r.run, r.key[0], r.value, (*before.written, *r.written)): p * q for r, q in settled.items()
                }
            for found, mass in onward.items():
                following[found] = following.get(found, ZERO) + mass
        level = following
    shown = Counter()
    for found, p in level.items():
        value = found.value
        if source.mechanism.generator or found.run is not None:
            value = found.written
        elif source.stream is not None:
            value = (*found.written, found.value)
        shown[printed(value)] += fraction(p)
    return shown


def compared(mechanism, data):
    """How the checker and CPython compare on some data: agrees, both fail, or beyond the checker."""
    try:
        program = mechanism.program.document()
    except LanguageError:
        return "refused"
    try:
        source = read_source({"program": program, "relation": "each", "size": 2}, Limits())
        mine = law(source, data)
    except (Beyond, RecursionError):
        return "beyond"
    except Fails as failure:
        mine = failure.reason
    try:
        real, left_over = by_cpython(mechanism, data, MOST)
    except Disagreement:
        return "beyond"
    except PrivproofError as failure:
        if not isinstance(mine, str):
            raise AssertionError(f"on {data} the function fails ({failure}), the checker gives {mine}") from None
        return "both fail"
    if isinstance(mine, str):
        assert left_over, f"on {data} only the checker fails: {mine}"
        return "beyond"
    if any("≥" in output or "≤" in output for output in mine):
        return "beyond"
    for output in {*mine, *real}:
        found = mine[output]
        assert real.get(output, 0) <= found <= real.get(output, 0) + left_over, f"{data}: {output}: {found}, {real}"
    return "agrees"


@pytest.mark.parametrize("number", range(8))
def test_constructs_mean_to_the_checker_what_they_mean_in_cpython(folder, number):
    assert (said := compared_all(folder, number, ordinary=False))["agrees"] > SELDOM * said["beyond"]


@pytest.mark.parametrize("number", selected(range(8), 4))
def test_what_the_checker_reads_of_ordinary_code_means_what_it_means_in_cpython(folder, number):
    """Of some constructs the checker takes the model from the compiler; of more than half it does not."""
    assert (said := compared_all(folder, number, ordinary=True))["agrees"] > said["beyond"]


def compared_all(folder, number, *, ordinary):
    """How often the checker agrees on the constructs of a group."""
    said = Counter()
    read = [p for p in programs("constructs") if p.name.startswith(("ordinary", "grown")) == ordinary]
    for program in read[number::8]:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            mechanism = load(folder, program)
        said.update(compared(mechanism, data) for data in spread(data_sets(mechanism, 2), 3))
    return said


def on_a_random_program(folder, seed):
    author, random = Author(seed), Random(seed)
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
        mechanism = load(folder, author.text)
    data = data_sets(mechanism, 2)
    try:
        return [compared(mechanism, one) for one in random.sample(data, min(2, len(data)))]
    except AssertionError as problem:
        raise AssertionError(f"seed {seed}: {problem}\n{author.text}") from None


@pytest.mark.parametrize("first", selected(range(50_000, 50_100, 20), 2))
def test_random_programs_mean_to_the_checker_what_they_mean_in_cpython(folder, first):
    said = Counter(each for seed in range(first, first + 20) for each in on_a_random_program(folder, seed))
    assert said["agrees"]


@pytest.mark.slow
@pytest.mark.parametrize("first", selected(range(60_000, 70_000, 100), 1))
def test_many_random_programs_mean_to_the_checker_what_they_mean_in_cpython(folder, first):
    for seed in range(first, first + 100):
        on_a_random_program(folder, seed)
