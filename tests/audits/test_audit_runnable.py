"""Anything that can be run many times: what is declared, what is claimed, and what its runs are."""

from __future__ import annotations

import functools
import itertools
import math
import multiprocessing
import os
import random
import secrets
import sys
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pytest
from scipy import stats

from privproof.audits.sampling import function_calls as calling
from privproof.audits.sampling import two_sides as sides
from privproof.audits.sampling.function_calls import FunctionCalls
from privproof.audits.sampling.output_samples import FLOAT, Samples
from privproof.audits.sampling.output_tables import pieces, plain
from privproof.audits.sampling.runnable_functions import Runnable, is_repeatable, runnable
from privproof.errors import LanguageError, PrivproofError, QuestionError
from privproof.exact import Budget
from privproof.execution import workers as execution
from privproof.language import (
    bernoulli,
    geometric,
    integer,
    mechanism,
    public,
    queries,
    real,
    real_queries,
    records,
    stream,
)


@mechanism(epsilon="ln(2)")
def coin(x: integer(0, 1)):
    return x if bernoulli("2/3") else 1 - x


def noisy(q: real_queries(), *, scale=1.0, rng):
    return [value + rng.laplace(scale=scale) for value in q]


def at_the_top(x):
    return x + random.randrange(3)


def every(samples: Samples) -> list[Any]:
    """The outputs of all runs as Python values."""

    def filled(output: Any, floats: list[float]) -> Any:
        if output is FLOAT:
            return floats.pop(0)
        if isinstance(output, list | tuple):
            return type(output)(filled(item, floats) for item in output)
        return output

    columns = [array.tolist() for array in samples.floats]
    result = []
    for run, code in enumerate(samples.codes.tolist()):
        floats = [column[run] for column in columns]
        result.append(filled(samples.outputs[code], floats))
    return result


def same(one: Samples, other: Samples) -> bool:
    return repr(every(one)) == repr(every(other))


# --------------------------------------------------------------------------------------------------- what can be audited


def test_a_mechanism_brings_its_inputs_and_no_claim():
    run = runnable(coin)
    assert run.mechanism is coin
    assert (run.name, dict(run.inputs), run.relation, run.claim) == ("coin", dict(coin.inputs), "each", None)
    found = run.draw({"x": 1}, 30_000, 5).counts()
    assert stats.binomtest(found["1"], 30_000, 2 / 3).pvalue > 1e-6
    assert runnable(coin, epsilon="1/2").claim == Budget.of("1/2")


def test_a_mechanism_with_other_neighbours_is_asked_about_those():
    run = runnable(coin, neighbours="monotone")
    assert run.mechanism.relation == "monotone"

    @mechanism
    def total(q: queries(0, 1)):
        return geometric(sum(q), alpha="1/2")

    run = runnable(total, neighbours="add-remove")
    assert run.mechanism is None
    assert "exact engines" in run.notes[0]
    narrower = runnable(total, inputs={"q": queries(0, 3, size=2)})
    assert narrower.mechanism.inputs["q"].size == 2
    with pytest.raises(LanguageError, match="reads q"):
        runnable(total, inputs={"r": queries(0, 3)})


def test_a_runnable_is_returned_with_what_is_given():
    run = runnable(lambda q: 0, inputs={"q": queries(0, 1)})
    again = runnable(run, epsilon=1, name="zero", neighbours="one")
    assert (again.name, again.claim, again.relation, again.draw) == ("zero", Budget.of(1), "one", run.draw)
    assert again.inputs == run.inputs
    bare = runnable(lambda q: q)
    assert runnable(bare, inputs={"q": records("a", "b")}).relation == "one"
    with_reals = runnable(bare, inputs={"q": real()})
    assert with_reals.draw({"q": Fraction(1, 2)}, 2, 0).values().tolist() == [0.5, 0.5]


def test_a_function_declares_its_inputs():
    run = runnable(noisy, rng="rng", epsilon="1", delta="1e-6")
    assert (run.name, dict(run.inputs)) == ("noisy", {"q": real_queries()})
    assert run.claim == Budget.of(1, "1e-6")
    assert run.mechanism is None
    assert run.draw({"q": [Fraction(1, 3), 0]}, 10, 0).outputs == ([FLOAT, FLOAT],)


def test_annotations_with_metadata_and_several_inputs():
    def f(t: public(integer(0, 2)), q: Annotated[list, records("a", "b")], k=2.5):
        return len(q)

    run = runnable(f)
    assert list(run.inputs) == ["t", "q"]
    assert run.relation == "one"


class Adder:
    def __init__(self, by):
        self.by = by

    def __call__(self, x: integer(0, 3)):
        return x + self.by

    def method(self, x: integer(0, 3)):
        return x - self.by


def test_callables_of_every_kind():
    assert runnable(Adder(2)).draw({"x": 1}, 3, 0).counts() == {"3": 3}
    assert runnable(Adder(2)).name == "Adder"
    assert runnable(Adder(2).method).draw({"x": 1}, 3, 0).counts() == {"-1": 3}
    assert dict(runnable(Adder(2).method).inputs) == {"x": integer(0, 3)}
    partly = functools.partial(noisy, scale=0.5)
    assert (runnable(partly, rng="rng").name, list(runnable(partly, rng="rng").inputs)) == ("noisy", ["q"])
    fixed = functools.partial(noisy, q=[1.0])
    assert dict(runnable(fixed, rng="rng").inputs) == {}
    assert runnable(lambda a, /, b: a - b, inputs={"a": integer(), "b": integer()}).draw(
        {"b": 1, "a": 3}, 2, 0
    ).counts() == {"2": 2}
    assert runnable(lambda *values: sum(values)).draw({"a": 1, "b": 2}, 2, 0).counts() == {"3": 2}
    assert runnable(lambda **named: sorted(named)).draw({"b": 1, "a": 2}, 1, 0).outputs == (["a", "b"],)
    assert runnable(max).draw({"q": [1, 5, 2]}, 2, 0).counts() == {"5": 2}


def test_without_any_declaration_only_pairs_can_be_compared():
    run = runnable(lambda q: q)
    assert dict(run.inputs) == {}
    assert run.relation == "each"
    assert dict(runnable(noisy, inputs={}, rng="rng").inputs) == {}


def test_one_input_needs_no_name():
    assert dict(runnable(at_the_top, inputs=integer(0, 3)).inputs) == {"x": integer(0, 3)}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: runnable(3), "3 \\(a int\\) cannot be audited"),
        (lambda: runnable(Adder), "the class Adder"),
        (lambda: runnable(noisy), "nothing says what 'rng' may be"),
        (lambda: runnable(lambda a, b: a, inputs={"a": integer()}), "nothing says what 'b' may be"),
        (lambda: runnable(lambda a: a, inputs={"b": integer()}), "has no parameter 'b'"),
        (lambda: runnable(lambda a: a, inputs={"a": 3}), "declares no input"),
        (lambda: runnable(lambda a: a, inputs=[3]), "no mapping"),
        (lambda: runnable(lambda a: a, inputs={"a": public(integer())}), "could be private"),
        (lambda: runnable(lambda a: a, rng="rng"), "no parameter 'rng'"),
        (lambda: runnable(lambda a: a, batched=True), "no parameter 'count'"),
        (lambda: runnable(at_the_top, inputs=integer(), neighbours="some"), "'some' is no relation"),
        (lambda: runnable(at_the_top, inputs=integer(), neighbours="add-remove"), "is no list"),
        (lambda: runnable(at_the_top, inputs=queries(size=3), neighbours="add-remove"), "always has 3"),
        (lambda: runnable(at_the_top, inputs=stream(), neighbours="add-remove"), "is no list"),
        (lambda: runnable(at_the_top, delta="1/2"), "a delta without an epsilon"),
        (lambda: runnable(at_the_top, processes=0), "processes=0"),
        (lambda: runnable(coin, batched=True), "batched=True is for plain callables"),
        (lambda: runnable(coin, rng="rng"), "rng='rng' is for plain callables"),
        (lambda: runnable(at_the_top).draw({"x": 1}, 0, 0), "count=0"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(LanguageError, match=said):
        make()


def test_annotations_that_cannot_be_read():
    def f(q: missing()):  # noqa: F821
        return q

    made = runnable(f)
    assert dict(made.inputs) == {}
    assert made.first == "q"
    assert "annotations cannot be read: name 'missing' is not defined" in made.notes[0]
    assert list(runnable(f, inputs=integer()).inputs) == ["q"]


def test_a_float_is_the_decimal_that_it_prints_as():
    assert runnable(at_the_top, epsilon=0.1).claim == runnable(at_the_top, epsilon="1/10").claim
    with pytest.raises(PrivproofError):
        runnable(at_the_top, epsilon="-1")


def test_a_relation_of_the_user():
    def close(left, right):
        return left != right

    assert runnable(at_the_top, inputs=integer(0, 3), neighbours=close).relation is close


# ------------------------------------------------------------------------------------------------------------------ runs


def test_runs_are_repeated_by_their_seed_and_differ_otherwise(monkeypatch):
    monkeypatch.setattr(calling, "_CALLS", 100)
    for function in (
        lambda x: random.random(),
        lambda x: np.random.random(),
        lambda x: geometric(x, alpha="1/2"),
        lambda x: [np.random.normal(), random.randrange(5), bernoulli("1/3")],
    ):
        run = runnable(function)
        first = run.draw({"x": 1}, 300, 3)
        assert same(first, run.draw({"x": 1}, 300, 3))
        assert not same(first, run.draw({"x": 1}, 300, 4))
        assert is_repeatable(run, {"x": 1})
        values = every(first)
        assert values[:100] != values[100:200] != values[200:]
    assert runnable(lambda x: random.random()).draw({"x": 1}, 3, -7)
    assert not is_repeatable(runnable(lambda x: secrets.randbelow(10**6)), {"x": 1})


def test_the_global_generators_are_left_alone():
    random.seed(1)
    np.random.seed(1)
    expected = random.Random(1).random(), np.random.RandomState(1).random()
    runnable(lambda x: random.random() + np.random.random()).draw({"x": 1}, 5000, 0)
    with pytest.raises(LanguageError):
        runnable(lambda x: np.random.random() / 0).draw({"x": 1}, 50, 0)
    assert (random.random(), np.random.random()) == expected


def test_the_runs_have_the_right_law():
    found = runnable(at_the_top, processes=2).draw({"x": 5}, 60_000, 11)
    assert stats.chisquare(list(found.counts().values())).pvalue > 1e-6
    floats = runnable(lambda x, rng: x + rng.normal(), rng="rng").draw({"x": 2}, 30_000, 1).values()
    assert stats.kstest(floats - 2, "norm").pvalue > 1e-6
    chunks = floats[:28672].reshape(7, 4096)
    assert np.abs(np.corrcoef(chunks) - np.eye(7)).max() < 0.1


@pytest.mark.parametrize("processes", [2, 3])
def test_the_number_of_processes_does_not_matter(processes):
    before = set(multiprocessing.active_children())

    def function(q, rng):
        kind = random.randrange(4)
        return [rng.normal(), "text", q, None][kind]

    run = functools.partial(runnable, function, rng="rng")
    alone = run().draw({"q": [1, 2]}, 10_000, 3)
    assert same(alone, run(processes=processes).draw({"q": [1, 2]}, 10_000, 3))
    assert set(multiprocessing.active_children()) == before


def test_work_is_shared():
    where = runnable(lambda x: x + 0 * os.getpid(), processes=2)
    assert where.draw({"x": 1}, 20_000, 0).counts() == {"1": 20_000}
    calls = FunctionCalls("process", lambda: os.getpid(), processes=2, independent=True)
    assert str(os.getpid()) not in calls({}, 40_000, 0).counts()


def test_a_hidden_source_is_never_copied_into_several_processes():
    hidden = np.random.default_rng(5)
    run = runnable(lambda x: x + hidden.random(), processes=2)
    found = run.draw({"x": 1}, 20_000, 0).values()
    assert len(np.unique(found)) == 20_000
    assert not is_repeatable(run, {"x": 1})


@pytest.mark.skipif(sys.platform == "win32", reason="there is no other way there")
def test_where_processes_cannot_be_forked(monkeypatch):
    monkeypatch.setattr(execution, "_start_method", lambda: "spawn")
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(QuestionError, match="cannot be sent to another process"):
        runnable(lambda x: x, processes=2).draw({"x": 1}, 10_000, 0)
    at_the_top_of_a_module = functools.partial(geometric, alpha="1/2")
    alone, shared = (runnable(at_the_top_of_a_module, inputs=integer(), processes=n) for n in (1, 2))
    assert same(alone.draw({"value": 1}, 5000, 0), shared.draw({"value": 1}, 5000, 0))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_call_that_fails(processes):
    def broken(q):
        raise ZeroDivisionError("by a secret")

    with pytest.raises(LanguageError, match=r"broken\(q=\[1, 2\]\) raised ZeroDivisionError: by a secret") as caught:
        runnable(broken, processes=processes).draw({"q": [1, 2]}, 30_000, 0)
    assert caught.value.code == "call"
    assert "test_audit_runnable.py" in caught.value.hint
    with pytest.raises(LanguageError, match="raised TypeError"):
        runnable(broken, processes=processes).draw({"r": 1}, 10, 0)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_call_that_fails_sometimes(processes):
    def brittle(q):
        if random.random() < 0.01:
            raise ZeroDivisionError("by a secret")
        return 1

    found = runnable(brittle, processes=processes).draw({"q": [1, 2]}, 10_000, 0).counts()
    assert list(found) == ["1", "'raises ZeroDivisionError'"]
    assert 50 < found["'raises ZeroDivisionError'"] < 200


def test_a_process_that_dies():
    mother = os.getpid()
    with pytest.raises(QuestionError, match="without an answer"):
        FunctionCalls("dying", lambda: 1 if os.getpid() == mother else os._exit(3), processes=2)({}, 10_000, 0)
    assert not multiprocessing.active_children()


def test_arguments_are_fresh_in_every_call():
    def greedy(q, deep, table, array, positional, /, t):
        seen = (len(q), len(deep[0]), len(table), int(array.sum()), len(positional), t)
        q.append(1)
        deep[0].append(1)
        table["more"] = 1
        array += 1
        positional.clear()
        return seen

    given = {"q": [1], "deep": [[1]], "table": {}, "array": np.zeros(2), "positional": [1, 2], "t": (1,)}
    assert runnable(greedy).draw(given, 50, 0).counts() == {"(1, 1, 0, 0, 2, (1,))": 50}
    assert given["q"] == [1]
    assert given["deep"] == [[1]]

    def pops(q, r, s):
        return q.pop() + r.pop() + s

    assert runnable(pops).draw({"q": [1], "r": [2], "s": 3}, 9, 0).counts() == {"6": 9}
    assert runnable(lambda q: q.pop()).draw({"q": [1]}, 9, 0).counts() == {"1": 9}


def test_a_generator_s_output_is_what_it_yields():
    def above(s: stream(), t=1):
        for value in s:
            yield value > t
            if value > t:
                return

    assert runnable(above).draw({"s": [0, 1, 2, 3]}, 4, 0).counts() == {"[False, False, True]": 4}
    assert runnable(lambda x: (k for k in range(x))).draw({"x": 2}, 4, 0).counts() == {"[0, 1]": 4}
    assert runnable(lambda x: iter("ab") if random.random() < 0.5 else None).draw({"x": 2}, 99, 0).counts().keys() == {
        "['a', 'b']",
        "None",
    }


def test_a_generator_without_end(monkeypatch):
    monkeypatch.setattr(sides, "_LONGEST", 100)
    with pytest.raises(LanguageError, match="more than 100 values"):
        runnable(lambda x: itertools.count()).draw({"x": 1}, 2, 0)


def test_many_runs_in_one_call():
    run = runnable(lambda x, rng, count: x + rng.normal(size=count), rng="rng", batched=True, inputs=real())
    floats = run.draw({"x": 1}, 150_000, 0).values()
    assert len(np.unique(floats)) == 150_000
    assert stats.kstest(floats - 1, "norm").pvalue > 1e-6
    again = runnable(run.draw.function, rng="rng", batched=True, inputs=real(), processes=2).draw({"x": 1}, 150_000, 0)
    assert np.array_equal(again.values(), floats)
    assert runnable(lambda count: ["a"] * count, batched=True).draw({}, 5, 0).counts() == {"'a'": 5}
    assert runnable(lambda count: ("a", 1) * (count // 2), batched=True).draw({}, 4, 0).counts() == {"'a'": 2, "1": 2}
    assert runnable(lambda count: iter(range(count)), batched=True).draw({}, 3, 0).values().tolist() == [0, 1, 2]
    assert runnable(lambda count: np.eye(count), batched=True).draw({}, 2, 0).outputs == ([FLOAT, FLOAT],)
    assert runnable(lambda count: np.array(["a"] * count), batched=True).draw({}, 2, 0).outputs == ("a",)
    for wrong in (lambda count: [1] * (count + 1), lambda count: np.float64(3.0)):
        with pytest.raises(LanguageError, match=r"returned (6|one) output"):
            runnable(wrong, batched=True).draw({}, 5, 0)
    with pytest.raises(LanguageError, match="returned 3, no list of outputs"):
        runnable(lambda count: 3, batched=True).draw({}, 5, 0)


# --------------------------------------------------------------------------------------------------------------- outputs


class Colour(Enum):
    RED = 1


@dataclass
class Point:
    x: float
    label: str


class Subclass(float):
    pass


HUGE = 2**70
OUTPUTS = [
    True,
    1,
    1.0,
    0.0,
    -0.0,
    Fraction(1),
    "1",
    b"1",
    None,
    HUGE,
    -HUGE,
    math.inf,
    math.nan,
    [1, 2],
    (1, 2),
    [],
    [[]],
    [1.5, "a", (None, 2.5)],
    [math.nan, 1.0],
    [HUGE],
    np.float32(0.5),
    np.int8(3),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.array(2.5),
    np.array([1, 2]),
    np.array([[1.0, 2.0]]),
    np.array(["x"]),
    np.str_("s"),
    1 + 2j,
    {"b": 1, "a": 2.5},
    {3, 1},
    frozenset(),
    range(2),
    Colour.RED,
    Point(1.5, "p"),
    Subclass(2.0),
]


def expected(value: Any) -> Any:
    """What an output is shown as, said once more."""
    if isinstance(value, float | np.floating):
        return "nan" if math.isnan(value) else float(value)
    if isinstance(value, np.ndarray):
        return expected(value.tolist())
    if isinstance(value, list | tuple):
        return type(value)(map(expected, value))
    special = {
        "np.int8(3)": 3,
        "np.uint64(18446744073709551615)": 2**64 - 1,
        "np.True_": True,
        "np.str_('s')": "s",
        "(1+2j)": (1.0, 2.0),
        "{'b': 1, 'a': 2.5}": (("b", 1), ("a", 2.5)),
        "{1, 3}": (1, 3),
        "frozenset()": (),
        "range(0, 2)": [0, 1],
        "<Colour.RED: 1>": "Colour.RED",
        "Point(x=1.5, label='p')": ("Point", 1.5, "p"),
    }
    return special.get(repr(value), value)


@pytest.mark.parametrize("value", OUTPUTS, ids=repr)
def test_one_output_for_all_runs(value):
    samples = runnable(lambda: value).draw({}, 5, 0)
    assert repr(every(samples)) == repr([expected(value)] * 5)
    assert repr(plain(value)) == repr(expected(value))
    batch = runnable(lambda count: [value] * count, batched=True).draw({}, 5, 0)
    assert same(samples, batch)


def test_all_outputs_mixed():
    shown = {repr(expected(value)) for value in OUTPUTS}
    for processes in (1, 2):
        samples = runnable(lambda: random.choice(OUTPUTS), processes=processes).draw({}, 9000, 0)
        assert set(map(repr, every(samples))) == shown
        assert len(samples.texts) == len(set(samples.texts))


def test_outputs_of_every_pair_of_kinds():
    for left, right in itertools.combinations(OUTPUTS, 2):
        outputs = [left, right, right, left]
        assert sorted(run for runs, _ in pieces(outputs) for run in runs.tolist()) == [0, 1, 2, 3]
        found = every(runnable(lambda count, outputs=outputs: outputs, batched=True).draw({}, 4, 0))
        assert repr(found) == repr([expected(value) for value in outputs])


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.int64, np.uint8, np.uint64, np.float16, np.float64, np.longdouble, object]
)
def test_arrays_of_every_type(dtype):
    array = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    whole = runnable(lambda count: array, batched=True).draw({}, 3, 0)
    rows = iter([*array] * 2)
    single = FunctionCalls("rows", lambda: next(rows))({}, 3, 0)
    assert repr(every(whole)) == repr(every(single)) == repr([[plain(item) for item in row] for row in array])


def test_arrays_of_differing_shapes_and_types():
    outputs = [np.zeros(2), np.zeros(3), np.zeros(2, dtype=int), np.array(2.0), np.zeros((0,))]
    found = every(runnable(lambda count: outputs, batched=True).draw({}, 5, 0))
    assert found == [[0.0, 0.0], [0.0, 0.0, 0.0], [0, 0], 2.0, []]
    assert isinstance(found[2][0], int)


def test_not_a_number_does_not_disturb_other_floats():
    outputs = [[1.0, math.nan], [math.nan, 2.0], [3.0, 4.0], [math.inf, -math.inf]]
    for given in (outputs, np.array(outputs)):
        samples = runnable(lambda count, given=given: given, batched=True).draw({}, 4, 0)
        assert sorted(samples.texts) == ["['nan', float]", "[float, 'nan']", "[float, float]"]
        assert every(samples) == [[1.0, "nan"], ["nan", 2.0], [3.0, 4.0], [math.inf, -math.inf]]


def test_lists_of_many_lengths_with_floats():
    samples = runnable(lambda: [random.random() for _ in range(random.randrange(20))]).draw({}, 5000, 0)
    assert sorted(map(len, samples.outputs)) == list(range(20))
    assert len(samples.floats) == 19


def test_an_output_that_prints_its_address_is_refused():
    for make in (object, lambda: [1, object()], lambda: lambda: 1):
        with pytest.raises(LanguageError, match="prints its address") as caught:
            runnable(lambda make=make: make()).draw({}, 3, 0)
        assert caught.value.code == "call"


def test_a_runnable_of_one_s_own():
    def draw(arguments, count, seed):
        return Samples(np.zeros(count, dtype=np.int64), (arguments["x"],))

    run = Runnable("own", draw)
    assert runnable(run).draw({"x": 3}, 2, 0).counts() == {"3": 2}
    assert repr(run) == "<runnable own>"
    assert is_repeatable(run, {"x": 1})


def test_data_sets_that_are_arrays():
    """Whether two arrays are the same is no truth value: pairs of data sets are told apart without asking."""
    import numpy as np

    from privproof import audit

    def total(x):
        return float(x.sum() + np.random.laplace())

    found = audit(total, "1", pairs=[(np.array([0, 1]), np.array([1, 1]))], samples=500, search=500)
    assert found.status == "unknown"
