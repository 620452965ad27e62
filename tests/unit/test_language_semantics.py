"""Small programs, each with one point where a translation could differ from Python: it must not.

They stand in `tests/corpus/meanings`.  Those that fail in Python, change a list under two names, or keep something between calls are
refused, or mean what they mean in Python.
"""

from __future__ import annotations

import pytest
from tests.amounts import examples
from tests.corpus import programs
from tests.programs import compared, load

from privproof import LanguageError

PROGRAMS = programs("meanings")
AGREEING = [program for program in PROGRAMS if program.expected == "agrees"]
PITFALLS = [program for program in PROGRAMS if program.expected == "agrees or refused"]


def test_every_program_is_of_one_of_the_two_kinds():
    assert len(AGREEING) + len(PITFALLS) == len(PROGRAMS)


@pytest.mark.parametrize("program", AGREEING, ids=str)
def test_a_program_of_the_language_means_what_it_means_in_python(tmp_path, program):
    assert compared(load(tmp_path, program), program.size, most=examples(300)).startswith("agrees")


@pytest.mark.parametrize("program", PITFALLS, ids=str)
def test_a_pitfall_is_refused_or_means_what_it_means_in_python(tmp_path, program):
    try:
        found = load(tmp_path, program)
    except LanguageError:
        return
    assert compared(found, program.size, most=examples(300)).startswith(("agrees", "refused"))
