"""Programs of instructions are well-sorted: what the compiler writes the checker reads, and what no program can say is refused by name."""

from __future__ import annotations

import pytest
from tests.instructions import outcome, question_of

from privproof import check, integer, laplace, mechanism, public, queries, real
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.translation import program_agreement
from privproof_checker.outcomes import Limits
from privproof_checker.programs.instructions import read_program
from privproof_checker.programs.program_inputs import read_declared


@mechanism(epsilon="1")
def bare_tuple(x: real()):
    noisy = laplace(x, scale=1)
    (noisy, "text", (1, 2))  # noqa: B018
    return noisy > 0


@mechanism(epsilon="1")
def empty_or_first(q: queries()):
    if not len(q):
        return 0
    return laplace(q[0], scale=1)


@mechanism(epsilon="1")
def first_if_any(q: queries()):
    if len(q) and not len(q) > 5:
        return laplace(q[0], scale=1)
    return 0


@mechanism(epsilon="1")
def stored_truth(q: queries(), n: public(integer())):
    some = bool(n)
    empty = not len(q)
    count, noisy = 0, 0
    for x in q:
        if not count:
            noisy = laplace(x, scale=1)
        count = count + 1
    return noisy > (1 if n else 2) if some and not empty else False


@mechanism(epsilon="1")
def never_assigned(x: real()):
    def_ = laplace(x, scale=1)
    return _helper(def_) > 0


def _helper(value):
    while False:
        unused = 1  # noqa: F841
    return value


READ = [bare_tuple, empty_or_first, first_if_any, stored_truth, never_assigned]


@pytest.mark.parametrize("program", READ, ids=lambda m: m.name)
def test_the_checker_reads_what_the_compiler_writes(program):
    document = question_of(program)
    read = read_program(document, read_declared(document, Limits()), Limits())
    assert len(read.code) == len(document["code"])
    assert outcome(document) == "established"
    assert program_agreement(program_for_alignment(program)).told is None


@pytest.mark.parametrize("program", [bare_tuple, empty_or_first, first_if_any], ids=lambda m: m.name)
def test_they_are_proved(program):
    assert check(program).status == "proved"


@mechanism
def tuple_kept(x: real()):
    pair = (1, 2)
    return laplace(x, scale=1) > pair[0]


@mechanism
def tuple_returned(x: real()):
    pair = (laplace(x, scale=1), 2)
    return pair


@mechanism
def own_value(x: real()):
    noisy = laplace(x, scale=1)
    if noisy > 0:
        a = a  # noqa: F821, F841
    return noisy > 0


@mechanism
def truth_of_noise(x: real()):
    noisy = laplace(x, scale=1)
    return 1 if noisy else 0


@mechanism
def truth_of_text(x: real(), n: public(integer())):
    word = "" if n > 0 else "some"
    return laplace(x, scale=1) > 0 if word else False


@mechanism
def counted_truth(x: real(), n: public(integer())):
    flag = n > 0
    return laplace(x + (flag + 1), scale=1)


@mechanism
def truth_and_number(x: real(), n: public(integer())):
    flag = n > 0
    return laplace(x, scale=1) > 0 if flag == 1 else False


REFUSED = [
    (tuple_kept, "a tuple|an element of"),
    (tuple_returned, "a tuple is kept"),
    (own_value, "a has no value"),
    (truth_of_noise, "the truth of a noisy number"),
    (truth_of_text, "the truth of a text or of None"),
    (counted_truth, "holds a truth value and a whole number|a truth value where a number is needed"),
    (truth_and_number, "are compared"),
]


@pytest.mark.parametrize(("program", "reason"), REFUSED, ids=lambda case: getattr(case, "name", ""))
def test_what_no_program_can_say_is_refused_with_its_place(program, reason):
    with pytest.raises(Unsupported, match=rf"({reason}).*test_sorts\.py:\d+"):
        program_for_alignment(program)
