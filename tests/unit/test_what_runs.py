"""What is verified is what runs: programs that say one thing and do another are refused, or get the verdict of what they do.

Each attack is a way to have one program verified and another one run.  None of them may end as a proof of what does not run.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import linecache
import os
import py_compile
import sys
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType, ModuleType

import pytest

from privproof import (
    LanguageError,
    check,
    integer,
    mechanism_process,
    mechanism_question,
    model_check,
    output_distribution,
    randomized_response,
    tight_epsilon,
)
from privproof.language import NOISES, Mechanism, bernoulli, mechanism, one_of, prior, recognition, state
from privproof.language.comparing import difference
from privproof.language.constants import NotPlain, frozen_copy, typed_document
from privproof.language.packages import OURS
from privproof.language.resolving import builtin_name, signature
from privproof.language.scripts import weighted_results
from privproof.scenarios import pufferfish

HEADER = """\
from fractions import Fraction
from types import MappingProxyType, ModuleType

from privproof import bernoulli, choice, geometric, integer, mechanism, one_of, queries, randomized_response, records

"""
NOISY = "return randomized_response(bit, truth='3/4')"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a module into a folder from which it can be imported, and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a text of the same length and second is another text
    written = []

    def write_module(text, name="attacked", *, run=True):
        file = tmp_path / f"{name}.py"
        file.write_text(HEADER + text)
        importlib.invalidate_caches()
        if not run:
            return file
        written.append(name)
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    yield write_module
    for name in written:
        sys.modules.pop(name, None)


def status(found: Mechanism) -> str:
    return check(found, "ln(3)").status


def refusal(found: Mechanism) -> LanguageError:
    """Why a mechanism is not translated; if it is run instead, the verdict must be that of what runs."""
    with pytest.raises(LanguageError) as caught:
        mechanism_question(found)
    assert caught.value.hint
    assert caught.value.place
    try:
        verdict = check(found, "ln(3)")
    except LanguageError:
        return caught.value
    assert verdict.engine == "runs"
    assert (verdict.status, verdict.status != "refuted") == ("proved" if private(found) else "refuted", private(found))
    return caught.value


def private(found: Mechanism) -> bool:
    """Whether what runs is ln(3)-private, by running it on all its choices."""
    values = [dict.fromkeys(found.inputs, value) for value in next(iter(found.inputs.values())).values]
    rows = []
    for arguments in values:
        row: dict[str, Fraction] = {}
        for result, p in weighted_results(lambda arguments=arguments: found(**arguments))[0]:
            row[repr(result)] = row.get(repr(result), Fraction(0)) + p
        rows.append(row)
    return all(p <= 3 * other.get(key, 0) for row in rows for other in rows for key, p in row.items())


def body(*lines: str, before: str = "") -> str:
    """A module with one mechanism of one bit."""
    inside = "".join(f"    {line}\n" for line in lines)
    return f"{before}\n@mechanism\ndef m(bit: one_of(0, 1)):\n{inside}"


# ------------------------------------------------------------------------------------------- what is called is what is read

CALLED = {
    "an object with an attribute function": """\
class Decorated:
    def __init__(self, function):
        self.function = function
    def __call__(self, bit):
        return bit

@Decorated
def helper(bit):
    return randomized_response(bit, truth='3/4')
""",
    "an object with a function and parameters": """\
class Decorated:
    parameters = {}
    def __call__(self, bit):
        return bit
    @staticmethod
    def function(bit):
        return randomized_response(bit, truth='3/4')

helper = Decorated()
""",
    "an object that says it is a function": """\
from types import FunctionType
def inner(bit):
    return randomized_response(bit, truth='3/4')
class Liar:
    __class__ = FunctionType
    __code__ = inner.__code__
    __name__ = "inner"
    def __call__(self, bit):
        return bit

helper = Liar()
""",
    "a subclass of Mechanism": """\
from privproof.language import Mechanism
class Loud(Mechanism):
    def __call__(self, bit):
        return bit

@mechanism
def inner(bit: one_of(0, 1)):
    return randomized_response(bit, truth='3/4')
helper = Loud(inner.function, inner.inputs, inner.parameters)
""",
    "functools.wraps": """\
import functools
def loud(function):
    @functools.wraps(function)
    def inner(bit):
        return bit
    return inner

@loud
def helper(bit):
    return randomized_response(bit, truth='3/4')
""",
    "functools.partial": """\
import functools
def inner(truth, bit):
    return randomized_response(bit, truth=truth)
helper = functools.partial(inner, '1')
""",
    "functools.lru_cache": """\
import functools
@functools.lru_cache
def helper(bit):
    return randomized_response(bit, truth='3/4')
""",
    "a bound method": """\
class Counter:
    calls = 0
    def draw(self, bit):
        self.calls += 1
        return bit if self.calls > 40 else randomized_response(bit, truth='3/4')

helper = Counter().draw
""",
    "a class": """\
class helper(int):
    pass
""",
    "one of two lambdas in a line": "helper, other = lambda bit: bit, lambda bit: randomized_response(bit, truth='3/4')\n",
    "a prior": """\
from privproof import prior
@prior
def helper(bit=0):
    return randomized_response(bit, truth='3/4')
""",
    "a generator": """\
def helper(bit):
    yield bit
""",
    "a method of the interpreter": "helper = [0, 1].count\n",
    "a mock of a noise function": """\
from unittest.mock import Mock
helper = Mock(wraps=randomized_response)
""",
}


@pytest.mark.parametrize("name", CALLED)
def test_what_is_no_plain_function_is_not_inlined(write, name):
    refusal(write(body("return helper(bit)", before=CALLED[name])).m)


def test_a_lambda_is_a_function(write):
    found = write(body("return helper(bit)", before="helper = lambda bit: randomized_response(bit, truth='3/4')\n"))
    assert [function.name for function in found.m.program.functions] == ["m", "function"]
    assert str(tight_epsilon(found.m).tight) == "ln(3)"
    found.helper = lambda bit: randomized_response(bit, truth="4/5")
    assert str(tight_epsilon(found.m).tight) == "ln(4)"


def test_a_member_of_an_enumeration_is_what_it_is_now(write):
    before = "from enum import Enum\nclass Kind(Enum):\n    ON = 0\n    OFF = 1\n"
    found = write(body("return Kind.ON.value + bit", before=before))
    assert output_distribution(found.m, bit=1) == {1: 1}
    found.Kind.ON._value_ = 5
    assert output_distribution(found.m, bit=1) == {6: 1}


def test_a_subclass_of_mechanism_has_no_verdict(write):
    before = "from privproof.language import Mechanism\nclass Loud(Mechanism):\n    def __call__(self, bit):\n        return bit\n"
    found = write(body(NOISY, before=before))
    assert "Loud" in refusal(found.Loud(found.m.function, found.m.inputs, found.m.parameters, name="loud")).message


def test_a_static_method_and_a_function_of_a_class_are_what_they_are(write):
    before = (
        "class Tools:\n    HALF = '1/2'\n    def flip(bit):\n        return bernoulli(Tools.HALF)\n"
        "    @staticmethod\n    def keep(bit):\n        return bit\n    @classmethod\n    def loud(cls, bit):\n        return bit\n"
    )
    assert status(write(body("return Tools.flip(bit)", before=before)).m) == "proved"
    assert status(write(body("return Tools.keep(bit)", before=before)).m) == "refuted"
    refusal(write(body("return Tools.loud(bit)", before=before)).m)


def test_a_mechanism_inside_a_mechanism_runs_with_its_own_parameters(write):
    before = (
        "@mechanism\ndef inner(bit: one_of(0, 1), truth='3/4'):\n    return randomized_response(bit, truth=truth)\n"
        "loud = inner.having(truth='1')\n"
    )
    found = write(body("return inner(bit)", before=before))
    assert status(found.m) == "proved"
    assert status(write(body("return loud(bit)", before=before)).m) == "refuted"
    both = write(body("return inner(bit), loud(bit)", before=before)).m.program
    assert [function.defaults.get("truth") for function in both.functions] == [None, "3/4", "1"]


# ------------------------------------------------------------------------------------------------- the text and the code


def test_a_file_edited_after_its_import_is_refused(write):
    found = write(body("return bit"))
    write(body(NOISY), run=False)
    problem = refusal(found.m)
    assert problem.code == "changed"
    assert "reload" in problem.hint
    assert status(importlib.reload(found).m) == "proved"


def test_an_edit_that_the_clock_and_the_size_do_not_show_is_seen(write, tmp_path):
    found = write(body("return 1 * bit"))
    status(found.m)
    file = tmp_path / "attacked.py"
    before = file.stat()
    file.write_text(HEADER + body("return 0 * bit"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert refusal(found.m).code == "changed"


def test_lines_added_above_are_an_edit(write):
    found = write(body(NOISY))
    write("# a new line\n" + body(NOISY), run=False)
    assert refusal(found.m).code == "changed"


def test_an_edit_elsewhere_in_the_file_changes_nothing(write):
    found = write(body(NOISY))
    write(body(NOISY) + "\n# a note\nOTHER = 1\n", run=False)
    assert status(found.m) == "proved"


def test_an_edit_inside_a_comprehension_is_seen(write):
    found = write(body("return max([v for v in (0, bit)])"))
    write(body("return max([v for v in (0, 000)])"), run=False)
    assert refusal(found.m).code == "changed"


def test_an_edit_of_a_constant_only_is_seen(write):
    found = write(body("return bernoulli('1/4') if bit == 1 else bernoulli('3/4')"))
    write(body("return bernoulli('1/4') if bit == True else bernoulli('3/4')"), run=False)
    assert refusal(found.m).code == "changed"


@pytest.mark.parametrize("text", ["def m(bit:\n", "\0", ""])
def test_a_file_that_is_no_longer_python_is_refused(write, tmp_path, text):
    found = write(body(NOISY))
    (tmp_path / "attacked.py").write_text(text)
    refusal(found.m)


def test_a_file_that_is_gone_is_refused(write, tmp_path):
    found = write(body(NOISY))
    assert status(found.m) == "proved"
    (tmp_path / "attacked.py").unlink()
    assert refusal(found.m).code == "source"


def test_an_edited_helper_of_another_module_is_refused(write):
    write("def helper(bit):\n    return bit\n", "attacked_helper")
    found = write(body("return helper(bit)", before="from attacked_helper import helper\n"))
    assert status(found.m) == "refuted"
    write(f"def helper(bit):\n    {NOISY}\n", "attacked_helper", run=False)
    assert "helper" in refusal(found.m).message


def test_a_replaced_code_object_is_refused_or_is_what_is_read(write):
    found = write(body(NOISY) + "\ndef loud(bit):\n    return bit\ndef m2(bit):\n    return bit\n")
    found.m.function.__code__ = found.loud.__code__
    assert check(found.m, "ln(3)").status == "refuted"
    assert found.m(1) == 1
    found.m.function.__code__ = found.loud.__code__.replace(co_consts=(None, 1), co_name="m")
    assert refusal(found.m).code == "changed"


@pytest.mark.parametrize(
    "changes",
    [
        {"co_consts": (None, "1", ("truth",))},
        {"co_names": ("bernoulli",)},
        {"co_flags": 0x23},
        {"co_varnames": ("bot",)},
        {"co_qualname": "other"},
    ],
)
def test_every_part_of_a_code_object_counts(write, changes):
    found = write(body(NOISY))
    code = found.m.function.__code__
    changed = code.replace(**changes)
    assert difference(changed, code) is not None
    assert difference(code, code.replace(co_filename="other.py")) is None
    found.m.function.__code__ = changed
    assert refusal(found.m).code == "changed"


def test_a_helper_whose_code_is_replaced_is_seen(write):
    before = f"def helper(bit):\n    {NOISY}\ndef loud(bit):\n    return bit\n"
    found = write(body("return helper(bit)", before=before))
    assert status(found.m) == "proved"
    found.helper.__code__ = found.loud.__code__
    assert status(found.m) == "refuted"


def test_code_that_was_executed_under_the_name_of_another_file_is_refused(write, tmp_path):
    file = write(body(NOISY), run=False)
    space = {"__name__": "attacked"}
    exec(compile(HEADER + body("return bit" + " " * (len(NOISY) - 10)), str(file), "exec"), space)
    assert refusal(space["m"]).code == "changed"


def test_a_false_text_in_the_cache_of_lines_is_refused():
    false = HEADER + body(NOISY)
    linecache.cache["<attacked>"] = (len(false), None, false.splitlines(keepends=True), "<attacked>")
    space = {"__name__": "attacked"}
    exec(compile(HEADER + body("return bit"), "<attacked>", "exec"), space)
    assert refusal(space["m"]).code == "changed"
    del linecache.cache["<attacked>"]


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
def test_a_stale_or_foreign_pyc_is_refused(write, tmp_path, mode):
    file = write(body("return bit"), run=False)
    compiled = importlib.util.cache_from_source(str(file))
    if mode is py_compile.PycInvalidationMode.UNCHECKED_HASH:
        py_compile.compile(str(file), compiled, invalidation_mode=mode)
        file.write_text(HEADER + body(NOISY))
    else:
        file.write_text(HEADER + body(NOISY))
        foreign = tmp_path / "foreign.py"
        foreign.write_text(HEADER + body("return bit"))
        py_compile.compile(str(foreign), compiled, dfile=str(file), invalidation_mode=mode)
        data = bytearray((tmp_path / compiled).read_bytes())
        if mode is py_compile.PycInvalidationMode.TIMESTAMP:
            seen = file.stat()
            data[8:16] = int(seen.st_mtime).to_bytes(4, "little") + seen.st_size.to_bytes(4, "little")
        else:
            data[8:16] = importlib.util.source_hash(file.read_bytes())
        (tmp_path / compiled).write_bytes(data)
    found = importlib.import_module("attacked")
    assert found.m(1) == 1
    assert "return bit" not in (tmp_path / "attacked.py").read_text()
    assert refusal(found.m).code == "changed"


@pytest.mark.parametrize(
    "text",
    [
        'class Outer:\n    @mechanism\n    def m(bit: one_of(0, 1)):\n        """A text\nof two lines."""\n        '
        + NOISY
        + "\n",
        "class Outer:\n\tif True:\n\t\t@mechanism\n\t\tdef m(bit: one_of(0, 1)):\n\t\t\t# a note\n\n\t\t\t"
        + NOISY
        + "\n",
        'class Outer:\n    @mechanism\n    def m(bit: one_of(0, 1), text="""a\n  b"""):\n        x = """c\n    d"""\n'
        "        return (x, text,\n  randomized_response(bit, truth='3/4'))\n",
        "class Outer:\n    @staticmethod\n    def plain(bit):\n        return bit\n    @mechanism(\n        epsilon='ln(3)'\n    )\n"
        "    def m(bit: one_of(0, 1)): " + NOISY + "; x = 2\n",
    ],
)
def test_wherever_a_function_stands_its_text_is_its_own(write, text):
    found = write(text).Outer.m
    assert status(found) == "proved"
    record = found.program.functions[0]
    assert record.text.startswith("def m(")
    assert record.qualified == "Outer.m"
    space: dict[str, object] = {}
    exec(compile("from __future__ import annotations\n" + record.text, "again", "exec", dont_inherit=True), space)
    again, code = space["m"].__code__, found.function.__code__
    assert (again.co_code, again.co_names, again.co_varnames) == (code.co_code, code.co_names, code.co_varnames)
    assert again.co_consts[1:] == code.co_consts[1:]


# --------------------------------------------------------------------------------------- what changes between two questions


def test_a_constant_that_changes_is_seen(write):
    found = write(body("return randomized_response(bit, truth=TRUTH)", before="TRUTH = '3/4'\n"))
    assert status(found.m) == "proved"
    found.TRUTH = "1"
    assert status(found.m) == "refuted"
    assert found.m.program.relies_on() == "relies on TRUTH = '1'"
    found.TRUTH = 0.75
    assert refusal(found.m).code == "float"
    del found.TRUTH
    assert refusal(found.m).code == "name"


def test_a_constant_of_another_module_that_changes_is_seen(write):
    helper = write("TRUTH = '3/4'\n", "attacked_helper")
    found = write(
        body("return randomized_response(bit, truth=attacked_helper.TRUTH)", before="import attacked_helper\n")
    )
    assert status(found.m) == "proved"
    helper.TRUTH = "1"
    assert status(found.m) == "refuted"
    assert found.m.program.relies_on() == "relies on attacked_helper.TRUTH = '1'"


def test_a_constant_of_another_kind_is_another_constant(write):
    found = write(body("return LIMIT", before="LIMIT = 1\n"))
    first = found.m.program
    for value in (True, Fraction(1), "1", (1,)):
        found.LIMIT = value
        assert found.m.program.digest() != first.digest()
    found.LIMIT = 1
    assert found.m.program.digest() == first.digest()


def test_a_helper_that_is_exchanged_is_seen(write):
    found = write(body("return helper(bit)", before=f"def helper(bit):\n    {NOISY}\ndef loud(bit):\n    return bit\n"))
    assert status(found.m) == "proved"
    found.helper = found.loud
    assert status(found.m) == "refuted"
    found.helper = functools.partial(found.loud)
    refusal(found.m)


def test_a_helper_of_a_helper_that_is_exchanged_is_seen(write):
    before = f"def deep(bit):\n    {NOISY}\ndef helper(bit):\n    return deep(bit)\ndef loud(bit):\n    return bit\n"
    found = write(body("return helper(bit)", before=before))
    assert status(found.m) == "proved"
    found.deep = found.loud
    assert status(found.m) == "refuted"


@pytest.mark.parametrize("star", ["", "*, "])
def test_a_default_of_a_helper_that_changes_is_seen(write, star):
    before = f"def helper(bit, {star}truth='3/4'):\n    return randomized_response(bit, truth=truth)\n"
    found = write(body("return helper(bit)", before=before))
    assert status(found.m) == "proved"
    assert found.m.program.relies_on() == "relies on helper(truth='3/4')"
    found.helper.__defaults__, found.helper.__kwdefaults__ = (("1",), None) if not star else (None, {"truth": "1"})
    assert status(found.m) == "refuted"
    found.helper.__defaults__, found.helper.__kwdefaults__ = None, None
    assert refusal(found.m).code == "call"


def test_a_cell_of_a_closure_that_changes_is_seen(write):
    before = (
        "def make(truth):\n    def louder():\n        nonlocal truth\n        truth = '1'\n"
        "    @mechanism\n    def m(bit: one_of(0, 1)):\n        return randomized_response(bit, truth=truth)\n"
        "    return m, louder\nm, louder = make('3/4')\n"
    )
    found = write(before)
    assert status(found.m) == "proved"
    found.louder()
    assert status(found.m) == "refuted"
    found.m.function.__closure__[0].cell_contents = [1]
    refusal(found.m)
    del found.m.function.__closure__[0].cell_contents
    refusal(found.m)


def test_a_parameter_that_somebody_changes_is_seen(write):
    text = "@mechanism\ndef m(bit: one_of(0, 1), truths=['3/4']):\n    return randomized_response(bit, truth=truths[0]), truths\n"
    found = write(text)
    assert status(found.m) == "proved"
    shown = found.m(1)[1]
    shown[0] = "1"
    assert found.m(1)[1] == ["3/4"]
    found.m.function.__defaults__[0][0] = "1"
    assert found.m(1)[1] == ["3/4"]
    assert status(found.m) == "proved"
    found.m.parameters["truths"][0] = "1"
    assert found.m(1) == (1, ["1"])
    assert status(found.m) == "refuted"


def test_another_function_put_into_a_mechanism_is_seen(write):
    found = write(body(NOISY) + "\ndef loud(bit):\n    return bit\n")
    assert status(found.m) == "proved"
    object.__setattr__(found.m, "function", found.loud)
    assert status(found.m) == "refuted"
    assert status(replace(found.m)) == "refuted"


def test_a_question_is_about_the_program_it_was_asked_about(write):
    found = write(body("return randomized_response(bit, truth=TRUTH)", before="TRUTH = '3/4'\n"))
    question = mechanism_question(found.m)
    assert question.relied_on() == ("relies on TRUTH = '3/4'",)
    found.TRUTH = "1"
    with pytest.raises(LanguageError, match="TRUTH was '3/4' and is '1'"):
        question.relied_on()
    found.TRUTH = "3/4"
    assert question.relied_on() == ("relies on TRUTH = '3/4'",)


def test_what_changes_while_a_question_is_answered_has_no_verdict(write):
    text = (
        "TRUTH = '3/4'\ndef close(left, right):\n    global TRUTH\n    TRUTH = LATER\n    return True\nLATER = '3/4'\n"
        "@mechanism(neighbours=close)\ndef m(bit: one_of(0, 1)):\n    return randomized_response(bit, truth=TRUTH)\n"
    )
    found = write(text)
    verdict = check(found.m, "ln(3)")
    assert verdict.status == "proved"
    assert "relies on TRUTH = '3/4'" in verdict.notes
    found.LATER = "1"
    with pytest.raises(LanguageError, match="TRUTH was '3/4' and is '1'"):
        check(found.m, "ln(3)")
    assert status(found.m) == "refuted"


def test_a_question_that_is_asked_again_later_is_about_the_old_program(write):
    found = write(body("return randomized_response(bit, truth=TRUTH)", before="TRUTH = '3/4'\n"))
    question = mechanism_question(found.m)
    found.TRUTH = "1"
    with pytest.raises(LanguageError, match="has changed since the question was asked"):
        check(question, "ln(3)")


def test_a_program_with_continuous_noise_is_the_one_that_runs(write):
    before = "from privproof import laplace, real\nSCALE = 1\nSHARE = Fraction(1, 2)\n"
    text = "@mechanism(epsilon=1)\ndef m(x: real()):\n    return laplace(SHARE * x + SHARE * x, scale=SCALE)\n"
    found = write(before + text)
    verdict = check(found.m)
    assert verdict.status == "proved"
    assert "relies on SHARE = 1/2, SCALE = 1" in verdict.notes
    question = verdict.question
    found.SCALE = Fraction(1, 2)
    assert check(found.m).status == "refuted"
    with pytest.raises(LanguageError, match="SCALE was 1 and is 1/2"):
        check(question)


def test_a_formula_about_a_mechanism_relies_on_its_constants_too(write):
    found = write(body("return randomized_response(bit, truth=TRUTH)", before="TRUTH = '3/4'\n"))
    answer = model_check(mechanism_process(found.m), 'D[ln(3), 0](X "1")')
    assert (answer.status, answer.notes) == ("proved", ("relies on TRUTH = '3/4'",))
    found.TRUTH = "1"
    assert model_check(mechanism_process(found.m), 'D[ln(3), 0](X "1")').status == "refuted"


def test_a_question_notices_every_kind_of_change(write):
    before = (
        "LIMIT = 1\nOTHER = 'a'\ndef helper(bit, *, truth='3/4'):\n    return randomized_response(bit, truth=truth)\n"
        "def second(bit, *, truth='3/4'):\n    return randomized_response(bit, truth=truth)\n"
    )
    found = write(body("return LIMIT, helper(bit), len((1,))", before=before))
    kept, helper = found.m.pinned(), found.helper
    for change, back in [
        (lambda: setattr(found, "LIMIT", True), lambda: setattr(found, "LIMIT", 1)),
        (lambda: setattr(found, "helper", found.second), lambda: setattr(found, "helper", helper)),
        (lambda: setattr(found, "len", max), lambda: delattr(found, "len")),
        (
            lambda: found.helper.__kwdefaults__.update(truth="1"),
            lambda: found.helper.__kwdefaults__.update(truth="3/4"),
        ),
    ]:
        assert kept.translated
        change()
        with pytest.raises(LanguageError, match=r"has changed|stands for|is max"):
            _ = kept.translated
        back()
    assert kept.program.digest() == found.m.program.digest()


def test_a_question_under_a_prior_is_about_the_functions_it_was_asked_about(write):
    found = write(
        "from privproof import prior\nP = '1/2'\n"
        + body(NOISY)
        + "\n@prior\ndef data():\n    return 1 if bernoulli(P) else 0\n"
    )
    kept = found.data.pinned()
    assert kept.program.relies_on() == "relies on P = '1/2'"
    assert kept.flow
    found.P = "1/3"
    with pytest.raises(LanguageError, match="P was '1/2' and is '1/3'"):
        _ = kept.flow
    question = pufferfish(found.m, prior=found.data, secrets={"one": lambda d: d == 1, "none": lambda d: d == 0})
    verdict = check(question, "ln(3)")
    assert verdict.status == "proved"
    assert verdict.question.relied_on() == ("relies on P = '1/3'",)
    found.P = "1/2"
    with pytest.raises(LanguageError, match="P was '1/3' and is '1/2'"):
        verdict.question.relied_on()


def test_nothing_is_translated_twice_while_nothing_changes(write):
    found = write(body("return helper(bit)", before=f"def helper(bit):\n    {NOISY}\n"))
    first = found.m.translated
    assert found.m.translated is first
    assert found.m.pinned().translated is first


# -------------------------------------------------------------------------------------------------- state is no constant

STATE = {
    "a property that turns": (
        "class Switch:\n    reads = 0\n    @property\n    def on(self):\n        Switch.reads += 1\n"
        "        return Switch.reads > 40\nS = Switch()\n",
        "S.on",
    ),
    "the length of a list": ("LOG = []\n", "len(LOG) > 40"),
    "an element of a list": ("LOG = [0]\ndef log(line):\n    LOG.append(line)\n", "LOG[0]"),
    "a list in a tuple": ("LOG = (0, [0])\n", "LOG[1][0]"),
    "a dictionary": ("TABLE = {0: 0}\ndef turn(on):\n    TABLE[0] = on\n", "TABLE[0]"),
    "a set": ("TABLE = {0}\n", "1 in TABLE"),
    "a dictionary in a table": ("TABLE = MappingProxyType({0: {0: 0}})\n", "TABLE[0][0]"),
    "a table that answers in its own way": (
        "class Table(dict):\n    def __missing__(self, key):\n        return 1\nTABLE = MappingProxyType(Table())\n",
        "TABLE[0]",
    ),
    "a table over an object": (
        "from collections import ChainMap\nTABLE = MappingProxyType(ChainMap({0: 0}))\n",
        "TABLE[0]",
    ),
    "a defaultdict": ("from collections import defaultdict\nTABLE = defaultdict(int)\n", "TABLE[0]"),
    "an attribute of an object": ("class Box:\n    pass\nB = Box()\nB.on = False\n", "B.on"),
    "an attribute of a simple namespace": (
        "from types import SimpleNamespace\nB = SimpleNamespace(on=False)\n",
        "B.on",
    ),
    "an attribute of a function": ("def helper():\n    pass\nhelper.on = False\n", "helper.on"),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Box:\n    on: bool\nB = Box(False)\n",
        "B.on",
    ),
    "a frozen dataclass with a property": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Box:\n    off: bool\n"
        "    @property\n    def on(self):\n        return True\nB = Box(False)\n",
        "B.on",
    ),
    "a frozen dataclass with lookups of its own": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Box:\n    on: bool\n"
        "    def __getattribute__(self, name):\n        return True\nB = Box(False)\n",
        "B.on",
    ),
    "a frozen dataclass with a list": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Box:\n    on: list\nB = Box([0])\n",
        "B.on[0]",
    ),
    "a property of a class": (
        "class Meta(type):\n    @property\n    def on(cls):\n        return True\nclass Box(metaclass=Meta):\n    on = False\n",
        "Box.on",
    ),
    "a descriptor of a class": (
        "class Later:\n    def __get__(self, holder, kind):\n        return True\nclass Box:\n    on = Later()\n",
        "Box.on",
    ),
    "a name tuple": ("from typing import NamedTuple\nclass Box(NamedTuple):\n    on: bool\nB = Box(False)\n", "B.on"),
    "a name tuple as a tuple": (
        "from typing import NamedTuple\nclass Box(NamedTuple):\n    on: bool\n    def __getitem__(self, i):\n        return True\n"
        "B = Box(False)\n",
        "B[0]",
    ),
    "an enumeration of whole numbers": ("from enum import IntEnum\nclass Kind(IntEnum):\n    ON = 0\n", "Kind.ON"),
    "a member of an enumeration": (
        "from enum import IntEnum\nclass Kind(IntEnum):\n    ON = 0\nON = Kind.ON\n",
        "ON == 0",
    ),
    "a whole number of its own kind": (
        "class Odd(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\nN = Odd(5)\n",
        "N == 0",
    ),
    "a text of its own kind": (
        "class Odd(str):\n    def __eq__(self, other):\n        return True\n    __hash__ = str.__hash__\nN = Odd('a')\n",
        "N == 'b'",
    ),
    "a fraction of its own kind": (
        "class Odd(Fraction):\n    def __bool__(self):\n        return True\nN = Odd(0)\n",
        "N",
    ),
    "a fraction of numbers of their own kind": (
        "class Odd(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n"
        "N = Fraction(1, 2)\nN._numerator = Odd(1)\n",
        "N == 0",
    ),
    "an object that counts as true": ("class Odd:\n    def __bool__(self):\n        return True\nN = Odd()\n", "N"),
    "an object that adds": ("class Odd:\n    def __add__(self, other):\n        return 1\nN = Odd()\n", "N + 0"),
    "a float": ("N = 0.5\n", "N > 1"),
    "a module that computes its attributes": ("import computing\n", "computing.ON"),
    "a module of its own kind": ("import turning\n", "turning.ON"),
    "a number that cannot be written": ("N = 10**5000\n", "N > 0"),
    "a fraction that cannot be written": ("N = Fraction(1, 10**5000)\n", "N > 0"),
    "a table that holds itself": ("T = {}\nTABLE = MappingProxyType(T)\nT[0] = TABLE\n", "TABLE[0]"),
    "an iterator": ("N = iter((0, 1))\n", "1 in N"),
    "a range": ("N = range(3)\n", "1 in N"),
    "bytes": ("N = bytearray(b'a')\n", "N[0]"),
    "a name with underscores": ("__import__ = 0\n", "__import__.__self__"),
}


@pytest.mark.parametrize("name", STATE)
def test_state_of_a_module_is_no_constant(write, name):
    write("def __getattr__(name):\n    return True\n", "computing")
    write(
        "import sys\nfrom types import ModuleType\nON = False\nclass Turning(ModuleType):\n"
        "    @property\n    def ON(self):\n        return True\n"
        "    @ON.setter\n    def ON(self, value):\n        pass\nsys.modules[__name__].__class__ = Turning\n",
        "turning",
    )
    before, value = STATE[name]
    found = write(body(f"if {value}:", "    return bit", NOISY, before=before))
    first = refusal(found.m)
    assert refusal(found.m).message == first.message


def test_the_way_out_is_a_frozen_table(write):
    found = write(body("return TABLE[bit]", before="TABLE = {0: 'a', 1: 'b'}\nTABLE.update()\n"))
    assert "TABLE = MappingProxyType({...})" in refusal(found.m).hint
    found = write(body("return TABLE[bit]", before="TABLE = ['a', 'b']\nTABLE.sort()\n"))
    assert "TABLE = tuple(...)" in refusal(found.m).hint


@pytest.mark.parametrize(("made", "changed"), [("{0: '3/4'}", {0: "1"}), ("['3/4']", ["1"])])
def test_a_list_or_table_that_the_module_only_reads_is_a_constant(write, made, changed):
    found = write(body("return randomized_response(bit, truth=TABLE[0])", before=f"TABLE = {made}\n"))
    assert status(found.m) == "proved"
    assert "TABLE" in found.m.program.relies_on()
    found.TABLE[0] = "1"
    assert status(found.m) == "refuted", "what others do to it is seen"
    found.TABLE = type(changed)()
    assert "TABLE" in refusal(found.m).message, "an empty one is there to be filled"


CHANGES = {
    "another function appends": "def more(x):\n    TABLE.append(x)\n",
    "another function has it under another name": "def more(x):\n    held = TABLE\n    held.append(x)\n",
    "it is given away": "def more():\n    return TABLE\n",
    "it is given to a function": "def more(x):\n    put(TABLE, x)\n",
    "an entry is replaced": "def more(x):\n    TABLE[0] = x\n",
    "it is added to": "def more(x):\n    global TABLE\n    TABLE += [x]\n",
    "it has a second name": "OTHER = TABLE\n",
    "the larger of two lists": "OTHER = max(TABLE, [])\n",
    "a sum that begins with it": "OTHER = sum([], TABLE)\n",
    "a function that calls itself len": "def len(held):\n    held.append(0)\nOTHER = len(TABLE)\n",
    "a default": "def more(x, held=TABLE):\n    held.append(x)\n",
    "a pattern": "match (0, TABLE):\n    case (0, OTHER):\n        pass\n",
    "the element of a list": "OTHER = [TABLE]\n",
    "a walrus": "OTHER = [(held := TABLE)]\n",
    "an exception": "def more():\n    try:\n        pass\n    except ValueError as TABLE:\n        pass\n",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_list_that_the_module_could_change_is_no_constant(write, name):
    found = write(body("return randomized_response(bit, truth=TABLE[0])", before=f"TABLE = ['3/4']\n{CHANGES[name]}"))
    assert "TABLE is a list, which can change" in refusal(found.m).message


def test_a_frozen_table_that_is_changed_below_its_view_is_seen(write):
    before = "INSIDE = {0: '3/4'}\nTABLE = MappingProxyType(INSIDE)\n"
    found = write(body("return randomized_response(bit, truth=TABLE[0])", before=before))
    assert status(found.m) == "proved"
    found.INSIDE[0] = "1"
    assert status(found.m) == "refuted"


def test_a_frozen_table_is_an_output_like_any_other(write):
    found = write(body(f"z = {NOISY[7:]}", "return TABLE[z]", before="TABLE = (MappingProxyType({0: 1}), 2)\n"))
    assert status(found.m) == "proved"


@pytest.mark.parametrize("slots", ["", ", slots=True"])
def test_a_field_of_frozen_data_is_a_constant(write, slots):
    before = f"from dataclasses import dataclass\n@dataclass(frozen=True{slots})\nclass Settings:\n"
    before += "    truth: str = '1/2'\nS = Settings('3/4')\n"
    found = write(body("return randomized_response(bit, truth=S.truth)", before=before))
    assert status(found.m) == "proved"
    assert found.m.program.relies_on() == "relies on S.truth = '3/4'"
    object.__setattr__(found.S, "truth", "1")
    assert status(found.m) == "refuted"


@pytest.mark.parametrize("default", ["[1]", "{0: 1}", "object()", "0.5", "type('Odd', (int,), {})(1)"])
def test_a_default_of_a_helper_that_can_change_is_refused(write, default):
    found = write(body("return helper(bit)", before=f"def helper(bit, extra={default}):\n    return bit\n"))
    assert "extra" in refusal(found.m).message


@pytest.mark.parametrize(
    "value", ["type('Odd', (int,), {})(1)", "type('Odd', (list,), {})()", "object()", "{object(): 1}"]
)
def test_a_parameter_of_another_kind_is_refused(write, value):
    found = write(f"@mechanism\ndef m(bit: one_of(0, 1), extra={value}):\n    return bit\n")
    assert "extra" in refusal(found.m).message


def test_parameters_that_were_put_in_by_hand_are_looked_at(write):
    found = write(
        "@mechanism\ndef m(bit: one_of(0, 1), extra=1):\n    return randomized_response(bit, truth='3/4'), extra\n"
    )
    for odd in (type("Odd", (int,), {})(1), object(), 0.5):
        with pytest.raises(LanguageError):
            _ = replace(found.m, parameters={"extra": odd}).program
    with pytest.raises(LanguageError, match="Table"):
        _ = replace(found.m, parameters=type("Table", (dict,), {})({"extra": 1})).program
    with pytest.raises(LanguageError, match="Table"):
        _ = replace(found.m, parameters=MappingProxyType(type("Table", (dict,), {})({"extra": 1}))).program
    assert replace(found.m, parameters={"extra": 2}).program.document()["parameters"] == {"extra": {"int": "2"}}


def test_inputs_are_of_plain_values():
    odd = type("Odd", (int,), {"__eq__": lambda self, other: True, "__hash__": int.__hash__})
    named = type("Named", (tuple,), {})
    for value in (odd(1), named((1, 2)), (0, odd(1))):
        with pytest.raises(LanguageError):
            one_of(0, value)


# ------------------------------------------------------------------------------------------------------ names and builtins


def fake(values):
    return 1


def test_a_built_in_function_that_is_shadowed_is_not_taken_for_it(write):
    found = write(body("return len((0, 1)) - 2 + 0 * bit"))
    assert check(found.m, 0).status == "proved"
    found.len = lambda values: 3
    assert found.m.program.functions[0].meanings["len"].kind == "function"
    assert output_distribution(found.m, bit=0) == {1: 1}
    found.len = max
    assert found.m.program.functions[0].meanings["len"].value == "max"
    del found.len
    assert check(found.m, 0).status == "proved"


def test_a_built_in_function_that_is_shadowed_by_a_helper_is_the_helper(write):
    found = write(
        body("return len((0, 1)) + bit", before="def len(values):\n    return randomized_response(0, truth='3/4')\n")
    )
    assert [function.name for function in found.m.program.functions] == ["m", "len"]
    assert found.m.program.functions[0].meanings["len"].kind == "function"


@pytest.mark.parametrize("name", ["len", "range", "enumerate", "zip", "max", "sorted", "int", "tuple", "list"])
def test_a_built_in_function_that_is_exchanged_everywhere_is_not_taken_for_it(write, monkeypatch, name):
    uses = {
        "range": "[i for i in range(1)]",
        "enumerate": "[i for i, x in enumerate((1,))]",
        "zip": "[x for x, y in zip((1,), (2,))]",
    }
    found = write(body(f"x = {uses.get(name, f'{name}((1,))' if name != 'int' else 'int(1)')}", "return 1 if x else 0"))
    assert check(found.m, 0).status == "proved"
    original = getattr(builtins, name)
    odd = type(name, (original,), {}) if name not in ("len", "range", "max", "sorted") else lambda *v: original(*v)
    with monkeypatch.context() as patched:
        patched.setattr(builtins, name, odd)
        with pytest.raises(LanguageError):
            _ = found.m.translated
    assert check(found.m, 0).status == "proved"


def test_builtins_of_ones_own_are_the_ones_that_count(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(HEADER + body("return len((0, 1)) * bit"))
    own = {**vars(builtins), "len": lambda values: 1}
    space = {"__builtins__": own, "__name__": "own"}
    exec(compile(file.read_text(), str(file), "exec"), space)
    assert space["m"](1) == 1
    assert output_distribution(space["m"], bit=1) == {1: 1}


def test_globals_of_another_kind_are_refused(tmp_path):
    class Answering(dict):
        def __missing__(self, name):
            raise KeyError(name)

    file = tmp_path / "own.py"
    file.write_text(HEADER + body(NOISY))
    space = Answering({"__name__": "own", "__builtins__": builtins})
    exec(compile(file.read_text(), str(file), "exec"), space)
    refusal(space["m"])


def test_names_that_python_changes_inside_a_class_are_refused(write):
    text = (
        "__truth = '3/4'\n_Outer__truth = '1'\nclass Outer:\n    @mechanism\n    def m(bit: one_of(0, 1)):\n"
        "        return randomized_response(bit, truth=__truth)\n"
    )
    found = write(text)
    assert found.Outer.m(1) == 1
    refusal(found.Outer.m)


def test_a_signature_that_lies_is_not_believed(write):
    import inspect

    before = f"def helper(bit, other):\n    return bit\ndef quiet(other, bit):\n    {NOISY}\n"
    found = write(body("return helper(bit=bit, other=0)", before=before))
    found.helper.__signature__ = inspect.signature(found.quiet)
    found.helper.__name__ = found.helper.__qualname__ = "quiet"
    found.helper.__module__ = "nowhere"
    assert status(found.m) == "refuted"
    assert list(signature(found.helper).parameters) == ["bit", "other"]
    text = "def turned(bit: one_of(0, 1), truth='1'):\n    return randomized_response(bit, truth=truth)\n"
    text += (
        "import inspect\nturned.__signature__ = inspect.signature(lambda bit, truth='3/4': 0)\nm = mechanism(turned)\n"
    )
    found = write(text)
    assert found.m.parameters["truth"] == "1"
    assert status(found.m) == "refuted"


def test_a_noise_function_that_was_changed_is_refused(write):
    found = write(body("return geometric(bit, epsilon='ln(3)')"))
    assert status(found.m) == "proved"
    noise = NOISES["geometric"].function
    before = noise.__kwdefaults__
    try:
        noise.__kwdefaults__ = {**before, "sensitivity": "1/1000"}
        assert "geometric" in refusal(found.m).message
        noise.__kwdefaults__ = before
        code, noise.__code__ = (
            noise.__code__,
            (lambda value, *, alpha=None, epsilon=None, sensitivity=1: value).__code__,
        )
        assert "geometric" in refusal(found.m).message
        noise.__code__ = code
    finally:
        noise.__kwdefaults__ = before
    assert status(found.m) == "proved"


def test_a_noise_function_under_another_name_is_what_it_is(write):
    found = write(body("return uniform(bit, truth='3/4')", before="uniform = randomized_response\n"))
    assert status(found.m) == "proved"
    found = write(
        body("return noises.response(bit, truth='3/4')", before="class noises:\n    response = randomized_response\n")
    )
    assert status(found.m) == "proved"


def test_a_function_that_shadows_a_noise_function_is_what_it_is(write):
    found = write(body(NOISY) + "\ndef randomized_response(bit, *, truth):\n    return bit\n")
    assert status(found.m) == "refuted"


@pytest.mark.parametrize(
    "lines",
    [
        ("global CALLS", "CALLS += 1", "return bit if CALLS > 40 else 0"),
        ("LOG.append(1)", "return bit if len(LOG) > 40 else 0"),
        ("LOG[0] += 1", "return bit if LOG[0] > 40 else 0"),
        ("helper.calls = 1", "return 0"),
        ("helper(bit)", "return 0"),
        ("return counted(bit)",),
        ("return bit if next(NUMBERS) > 40 else 0",),
    ],
)
def test_what_remembers_is_refused(write, lines):
    before = (
        "from itertools import count\nCALLS = 0\nLOG = [0]\nNUMBERS = count()\n"
        "def helper(bit):\n    global CALLS\n    CALLS += 1\n"
        "def counted(bit, log=[]):\n    log.append(1)\n    return bit if len(log) > 40 else 0\n"
    )
    refusal(write(body(*lines, before=before)).m)


# ---------------------------------------------------------------------------------------------------------- the record


def test_the_record_holds_everything_a_translation_used(write):
    before = (
        "import math\nLIMIT = 2\nTABLE = MappingProxyType({0: Fraction(1, 3), 1: None})\n"
        "def helper(x, *, step=1):\n    return min(x + step, LIMIT)\n"
    )
    text = (
        "@mechanism\ndef m(q: queries(0, 2), p='3/4', pair=(1, True)):\n    total = 0\n    for i, x in enumerate(q):\n"
    )
    text += "        total += helper(x)\n    return Fraction(1, 2) if bernoulli(p) else (TABLE[0], LIMIT, len(q))\n"
    found = write(before + text).m
    document = found.program.document()
    first, second = document["functions"]
    assert first["text"] == text.partition("\n")[2].rstrip("\n")
    assert first["line"] == HEADER.count("\n") + before.count("\n") + 2
    assert first["meanings"] == {
        "Fraction": {"builtin": "Fraction"},
        "LIMIT": {"constant": {"int": "2"}},
        "TABLE": {"constant": {"dict": [[{"int": "0"}, {"fraction": "1/3"}], [{"int": "1"}, {"none": None}]]}},
        "bernoulli": {"noise": "bernoulli"},
        "enumerate": {"builtin": "enumerate"},
        "helper": {"function": 1},
        "len": {"builtin": "len"},
    }
    assert second["name"] == "helper"
    assert second["meanings"] == {"LIMIT": {"constant": {"int": "2"}}, "min": {"builtin": "min"}}
    assert second["defaults"] == {"step": {"int": "1"}}
    assert document["parameters"] == {"p": {"text": "3/4"}, "pair": {"tuple": [{"int": "1"}, {"bool": True}]}}
    assert document["inputs"]["q"]["text"] == "queries(0, 2)"
    assert document["inputs"]["q"]["values"] is None
    assert (document["inputs"]["q"]["low"], document["inputs"]["q"]["high"]) == ("0", "2")
    assert found.program.relies_on() == "relies on TABLE = {0: 1/3, 1: None}, LIMIT = 2, helper(step=1)"


def test_the_digest_is_of_the_program_and_not_of_its_place(write):
    text = body("return randomized_response(bit, truth=TRUTH)", before="TRUTH = '3/4'\n")
    first = write(text).m.program
    moved = write("# further down\n" * 3 + text, "elsewhere").m.program
    assert first.digest() == moved.digest()
    assert not first.same(moved)
    assert write(text.replace("bit", "but"), "other").m.program.digest() != first.digest()


def test_two_constants_of_one_name_are_told_apart(write):
    helper = write("LIMIT = 1\ndef clipped(x):\n    return min(x, LIMIT)\n", "attacked_helper")
    found = write(body("return clipped(bit) + LIMIT", before="from attacked_helper import clipped\nLIMIT = 2\n"))
    assert found.m.program.relies_on() == "relies on LIMIT = 2 in m, LIMIT = 1 in clipped"
    assert helper.LIMIT == 1


def test_a_mechanism_without_constants_relies_on_none(write):
    assert write(body(NOISY)).m.program.relies_on() is None


def test_plain_values_and_their_documents():
    value = (1, True, "a", None, Fraction(1, 3), MappingProxyType({1: (2,)}))
    assert frozen_copy(value, "X") == value
    assert typed_document(frozen_copy([1, {"a": 2}], "X", lists=True)) == {
        "list": [{"int": "1"}, {"dict": [[{"text": "a"}, {"int": "2"}]]}]
    }
    with pytest.raises(NotPlain):
        typed_document({1, 2})
    with pytest.raises(NotPlain):
        typed_document(type("Odd", (int,), {})(1))


def test_built_in_functions_are_known_by_what_they_are():
    assert [builtin_name(f) for f in (len, range, Fraction, fake, [].append, sys.exit, int)] == [
        "len",
        "range",
        None,
        None,
        None,
        None,
        "int",
    ]


@mechanism
def here(bit: one_of(0, 1)):
    assert_ = bernoulli("1/4")
    return bit if assert_ else 0


@prior
def around():
    return 1 if bernoulli("1/2") else 0


def test_functions_of_a_file_that_pytest_has_rewritten_are_compared_too():
    assert here.program.functions[0].text.startswith("def here(")
    assert around.program.functions[0].name == "around"


def test_a_module_in_the_place_of_another_is_looked_at(tmp_path, monkeypatch):
    """As many modules are loaded as before: the one that draws now is another."""

    def flipped(x):
        import helper_in_turns

        return x ^ helper_in_turns.noise()

    def loads(chance):
        module = ModuleType("helper_in_turns")
        module.__file__ = str(tmp_path / "helper_in_turns.py")
        exec(f"from random import random\n\ndef noise():\n    return int(random() < {chance})\n", vars(module))
        monkeypatch.setitem(sys.modules, "helper_in_turns", module)

    loads(0.5)
    verdicts = [check(flipped, 0, x=integer(0, 1)).status for _ in range(2)]
    loads(0.25)
    assert [*verdicts, check(flipped, 0, x=integer(0, 1)).status] == ["proved", "proved", "refuted"]


def test_the_checker_is_not_looked_at_as_the_users_own():
    importlib.import_module("privproof_checker.front")
    watched = [names.get("__name__", "") for names, own in recognition._modules({}) if own]
    assert [name for name in watched if name.partition(".")[0] in OURS] == []
    assert state._of_module(sys.modules["privproof_checker.front"]) == []
