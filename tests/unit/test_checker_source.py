"""The checker goes from the text of a mechanism to its model by itself, and takes no other model, text or relation for it."""

from __future__ import annotations

import copy
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.certificates import nested

from privproof import (
    bernoulli,
    check,
    exponential,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    real,
    real_queries,
    real_stream,
    records,
    stream,
    stream_of,
    truncated_geometric,
)
from privproof.compiling import mechanism_question
from privproof.evidence.question_documents import question_document
from privproof.exact import Budget, epsilon
from privproof.library import mechanisms
from privproof.models import Horizon
from privproof_checker import Accepted, Limits, Rejected, recheck
from privproof_checker.established_texts import _from_source
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Refusal
from privproof_checker.source.agreeing import Transducer, agree
from privproof_checker.source.running import Work
from privproof_checker.source.values import Beyond
from privproof_checker.word_questions import read_question

TENFOLD = 10


def asked(mechanism_, *, size=None, horizon=None):
    """The question's document, under some budget."""
    question = mechanism_question(mechanism_, size=size, horizon=horizon)
    return question_document(question.under(Budget(epsilon("ln(2)"))))


def established(document):
    """What the checker says about the source of a question; raises its refusal."""
    read_question(document, Limits())
    return _from_source(document, {}, Limits())


LIBRARY = [
    (mechanisms.plain_geometric, {}),
    (mechanisms.bounded_geometric, {}),
    (mechanisms.clamped_geometric, {}),
    (mechanisms.rejected_geometric, {}),
    (mechanisms.noisy_count, {"size": 3}),
    (mechanisms.naive_noisy_max, {"size": 4}),
    (mechanisms.improved_noisy_max, {"size": 3}),
    (mechanisms.discrete_above_threshold, {"horizon": Horizon.up_to(3)}),
    (mechanisms.discrete_above_threshold, {}),
    (mechanisms.survey, {}),
    (mechanisms.double_survey, {}),
    (mechanisms.interactive_survey, {"horizon": Horizon.up_to(2)}),
    (mechanisms.interactive_survey, {}),
    (mechanisms.subsampling_majority, {"size": 2}),
    (mechanisms.exponential_choice, {"size": 3}),
    (mechanisms.permute_and_flip, {"size": 3}),
    (mechanisms.rappor, {}),
]


@pytest.mark.parametrize(("mechanism_", "given"), LIBRARY, ids=lambda value: getattr(value, "name", None))
def test_every_finite_mechanism_of_the_library_is_re_established(mechanism_, given):
    found = established(asked(mechanism_, **given))
    assert found.from_source
    assert not found.taken


# ------------------------------------------------------------------------------------------------- mechanisms to change


def noisy(value, alpha):
    return truncated_geometric(value, alpha=alpha, low=0, high=2)


LEAST = -1


@mechanism(epsilon="ln(2)")
def largest(q: queries(0, 2), alpha="1/2"):
    best, winner = LEAST, 0
    for i, value in enumerate(q):
        found = noisy(value, alpha)
        if found > best:
            best, winner = found, i
    return winner


@mechanism(epsilon="ln(3)")
def asked_twice(q: records("yes", "no")):
    for answer in q:
        yield randomized_response(answer, truth="3/4", among=("yes", "no"))


@mechanism(epsilon="ln(2)")
def counting(n: integer(0, 3), least: public(integer(0, 1))):
    return max(geometric(n, alpha="1/2"), least)


@mechanism(epsilon="ln(3)", neighbours="one")
def two(age: integer(0, 2), smoker: one_of("yes", "no")):
    return noisy(age, "1/2"), randomized_response(smoker, truth="3/4", among=("yes", "no"))


@mechanism(epsilon="ln(4)")
def online(s: stream(0, 2)):
    threshold = noisy(1, "1/2")
    for _n, value in enumerate(s):
        if noisy(value, "1/2") >= threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon="ln(9)")
def requests(ill: one_of("yes", "no"), r: public(stream_of("low", "high"))):
    for each in r:
        yield randomized_response(ill, truth="4/5" if each == "high" else "3/4", among=("yes", "no"))


def two_apart(left, right):
    return left != right


@mechanism(epsilon="ln(9)", neighbours=two_apart)
def related(q: records(0, 1, size=2)):
    return [randomized_response(x, truth="3/4") for x in q]


CASES = {
    "list": (largest, {"size": 3}),
    "generator": (asked_twice, {"size": 2}),
    "unbounded": (counting, {}),
    "data": (two, {}),
    "stream": (online, {}),
    "bounded stream": (online, {"horizon": Horizon.up_to(3)}),
    "requests": (requests, {}),
    "own relation": (related, {}),
}


@pytest.fixture(params=CASES)
def document(request):
    mechanism_, given = CASES[request.param]
    return asked(mechanism_, **given)


def test_what_was_re_established_and_what_was_taken_is_told(document):
    found = established(document)
    assert found.from_source == ("the model, its inputs and outputs, and which data are neighbours",)
    own = document["source"]["relation"] == "function"
    assert found.taken == (("which data sets are neighbours, which a function of the user says",) if own else ())


def refused(document):
    """The refusal of the checker; nothing else is raised, whatever the document holds."""
    with pytest.raises(Refusal) as found:
        established(document)
    return found.value


def beyond(refusal):
    return isinstance(refusal, Beyond)


def replaced(document, old, new, number=0):
    changed = copy.deepcopy(document)
    function = changed["source"]["program"]["functions"][number]
    assert old in function["text"]
    function["text"] = function["text"].replace(old, new)
    return changed


@pytest.mark.parametrize(
    ("old", "new", "number"),
    [
        ("found > best", "found >= best", 0),
        ("found > best", "not (found > best)", 0),
        ("best, winner = found, i", "winner, best = found, i", 0),
        ("return winner", "return best", 0),
        ("enumerate(q)", "enumerate(q, 1)", 0),
        ("high=2", "high=3", 1),
        ("noisy(value, alpha)", "value", 0),
        ("queries(0, 2)", "queries(0, 3)", 0),
        ("queries(0, 2)", "queries(0, 2, sensitivity=2)", 0),
        ("queries(0, 2)", "public(queries(0, 2))", 0),
    ],
)
def test_another_text_is_rejected(old, new, number):
    assert not beyond(refused(replaced(asked(largest, size=3), old, new, number)))


@pytest.mark.parametrize("case", CASES)
def test_another_probability_in_the_model_is_rejected(case):
    mechanism_, given = CASES[case]
    changed = copy.deepcopy(asked(mechanism_, **given))
    for step in changed["steps"]:
        for row in step.values():
            for branches in row.values():
                if len(branches) > 1:
                    low, high = (Fraction(branch["probability"]) for branch in branches[:2])
                    branches[0]["probability"] = str(low / 2)
                    branches[1]["probability"] = str(high + low / 2)
                    assert not beyond(refused(changed))
                    return
    raise AssertionError("nothing is random")


def _constant(d):
    d["source"]["program"]["functions"][0]["meanings"]["LEAST"] = {"constant": {"int": "1"}}


def _parameter(d):
    d["source"]["program"]["parameters"]["alpha"] = {"text": "1/3"}


def _helper(d):
    d["source"]["program"]["functions"][0]["meanings"]["noisy"] = {"noise": "uniform"}


def _relation(d):
    d["source"]["relation"] = "one"


def _within(d):
    d["source"]["program"]["inputs"]["q"]["within"] = "2"


def _model_relation(d):
    d["scenario"]["neighbours"]["relation"] = "one"


def _size(d):
    d["source"]["size"] = 2


def _steps(d):
    del d["steps"][1]


def _inputs(d):
    d["source"]["inputs"]["0"], d["source"]["inputs"]["1"] = d["source"]["inputs"]["1"], d["source"]["inputs"]["0"]


def _outputs(d):
    d["source"]["outputs"]["0"], d["source"]["outputs"]["1"] = d["source"]["outputs"]["1"], d["source"]["outputs"]["0"]


def _same_output(d):
    d["source"]["outputs"]["0"] = d["source"]["outputs"]["1"]


def _domain(d):
    d["source"]["program"]["inputs"]["q"]["high"] = "1"


def _public(d):
    d["source"]["program"]["inputs"]["q"]["public"] = True


def _finish(d):
    d["finish"] = {state: {"0": "1"} for state in d["finish"]}


@pytest.mark.parametrize(
    "change",
    [
        _constant, _parameter, _helper, _relation, _within, _model_relation, _size, _steps, _inputs, _outputs,
        _same_output, _domain, _public, _finish,
    ],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_anything_else_that_is_exchanged_is_rejected(change):
    document = copy.deepcopy(asked(largest, size=3))
    assert established(document).from_source
    change(document)
    assert refused(document)


def test_parameters_that_are_set_otherwise_than_the_text_says_are_told():
    assert established(asked(largest, size=2)).notes == ()
    changed = established(asked(largest.having(alpha="1/3"), size=2))
    assert changed.from_source
    assert changed.notes == ("with alpha = '1/3' in largest, where the text says '1/2'",)


def test_a_decorated_text_is_not_taken_for_the_function():
    document = copy.deepcopy(asked(largest, size=2))
    function = document["source"]["program"]["functions"][0]
    function["text"] = f"@something\n{function['text']}"
    assert beyond(refused(document))


def test_pairs_of_data_sets_that_are_left_out_or_added_are_rejected():
    document = copy.deepcopy(asked(two))
    listed = document["scenario"]["neighbours"]["pairs"]
    kept = listed.pop()
    assert "not the neighbouring data sets" in refused(document).reason
    listed.append([kept[0], kept[0]])
    assert refused(document)


def test_public_values_that_the_mechanism_does_not_have_are_rejected_and_some_of_them_are_told():
    document = copy.deepcopy(asked(counting))
    document["scenario"]["pairs"].pop()
    document["source"]["pairs"].pop()
    assert established(document).notes == ("of 2 pairs of initial distributions the question compares 1",)
    document["source"]["pairs"][0]["left"]["least"] = {"int": "1"}
    assert refused(document)
    document["source"]["pairs"][0]["left"]["least"] = {"int": "7"}
    assert refused(document)


def test_an_unbounded_output_that_overlaps_another_is_rejected():
    document = copy.deepcopy(asked(counting))
    names = document["source"]["outputs"]
    (tail,) = (name for name, value in names.items() if "at least" in value[0])
    names[tail] = [{"at least": "1"}]
    assert refused(document)


def test_a_stream_whose_end_is_not_told_is_rejected():
    @mechanism(epsilon="ln(9)")
    def stops(s: stream(0, 1)):
        for x in s:
            if randomized_response(x, truth="3/4") == 1:
                return
            yield 0

    document = copy.deepcopy(asked(stops))
    assert established(document).from_source
    for value in document["source"]["outputs"].values():
        if value[-1] == {"end": None}:
            value[-1] = {"text": "end"}
    assert refused(document)


def test_a_model_that_stops_before_the_longest_stream_is_rejected():
    document = copy.deepcopy(asked(online, horizon=Horizon.up_to(3)))
    if not document.get("repeats"):
        document["steps"].pop()
    document["horizon"] = "up to 3"
    assert document.get("repeats") or refused(document)


# -------------------------------------------------------------------------------------------------------------- certificates


def test_a_verdict_on_a_function_is_re_established_from_its_source():
    verdict = check(largest, size=3)
    outcome = recheck(nested(verdict.certificate))
    assert isinstance(outcome, Accepted)
    assert outcome.how["by"] == "witnessed"
    assert outcome.details["source"]["established"]
    assert "re-established from the source of largest" in outcome.statement


def test_a_certificate_without_a_source_is_about_a_model():
    certificate = copy.deepcopy(dict(nested(check(largest, size=2).certificate)))
    del certificate["question"]["source"]
    outcome = recheck(certificate)
    assert isinstance(outcome, Accepted)
    assert "source" not in outcome.details


def test_what_is_too_large_to_re_establish_is_taken_from_the_compiler_and_said():
    certificate = copy.deepcopy(dict(nested(check(largest, size=3).certificate)))
    small = Limits(source_steps=10)
    outcome = recheck(certificate, limits=small)
    assert isinstance(outcome, Rejected)
    assert outcome.beyond
    certificate["question"]["source"] |= {"claims": "taken", "reason": outcome.reason}
    outcome = recheck(certificate, limits=small)
    assert isinstance(outcome, Accepted)
    assert outcome.details["source"]["established"] == []
    assert "taken from the compiler: " in outcome.statement
    assert "it takes more than 10 steps" in outcome.statement


def test_the_gate_says_what_it_took_from_the_compiler():
    @mechanism(epsilon="ln(3)")
    def counts(x: integer(0, 1)):
        tally = Counter([x])
        return randomized_response(tally[1], truth="3/4")

    verdict = check(counts)
    assert verdict.status == "proved"
    source = nested(verdict.certificate)["question"]["source"]
    assert source["claims"] == "taken"
    assert "Counter" in source["reason"]


def test_every_way_in_which_a_verdict_is_re_established_is_told():
    said = {
        nested(check(largest, size=3).certificate)["evidence"]["method"]: recheck(
            nested(check(largest, size=3).certificate)
        ).how["by"],
        nested(check(largest, "3*ln(2)", size=2).certificate)["evidence"]["method"]: recheck(
            nested(check(largest, "3*ln(2)", size=2).certificate)
        ).how["by"],
    }
    assert set(said.values()) <= {"witnessed", "recomputed"}


# ---------------------------------------------------------------------------------------- refutations with continuous noise


def clipped(x, bound):
    return max(min(x, bound), -bound)


@mechanism(epsilon="epsilon")
def above(q: real_queries(), threshold: public(integer(low=1)), epsilon=1):
    bar = laplace(threshold, scale=4 / epsilon)
    for answer in q:
        if laplace(clipped(answer, 5), scale=1 / epsilon) >= bar:
            yield True
        else:
            yield False


@mechanism(epsilon="1/2", neighbours="one")
def mixed(x: real(low=0), y: integer()):
    noisy_sum = exponential(x, scale=2) + laplace(y, scale="1/2")
    if bernoulli("1/3"):
        return "none"
    return noisy_sum > 3, noisy_sum


@mechanism(epsilon="1/2")
def whole(n: integer()):
    found = geometric(n, alpha="1/2")
    return found > 3, found


@mechanism(epsilon="1/4")
def on_a_stream(s: real_stream()):
    total = 0
    for value in s:
        total = total + value
        yield laplace(total, scale=1)


LOSSES = {"list": (above, {"size": 2}), "mixed": (mixed, {}), "whole": (whole, {}), "stream": (on_a_stream, {})}


@pytest.fixture(params=LOSSES, scope="module")
def loss(request):
    mechanism_, given = LOSSES[request.param]
    verdict = check(mechanism_, "1/10", **given)
    assert verdict.status == "refuted"
    certificate = dict(nested(verdict.certificate))
    if certificate["evidence"]["method"] != "loss" or certificate["question"]["kind"] != "program":
        pytest.skip("refuted in another way")
    return certificate


def test_a_refutation_with_continuous_noise_is_re_established(loss):
    outcome = recheck(loss)
    assert isinstance(outcome, Accepted)
    assert outcome.details["source"]["established"] == [
        "both probabilities of the event, the inputs, and that they are neighbours"
    ]
    assert outcome.details["source"]["taken"] == []


def _rejected(certificate):
    outcome = recheck(certificate)
    assert isinstance(outcome, Rejected), outcome
    return outcome


@pytest.mark.parametrize(
    ("old", "new"),
    [("scale=4 / epsilon", "scale=5 / epsilon"), (">= bar", "< bar"), ("clipped(answer, 5)", "2 * answer"),
     ("yield True", "yield 1"), ("scale=2", "scale=3"), ('"1/3"', '"1/2"'), ("> 3", "<= 3"), ('alpha="1/2"', 'alpha="1/3"'),
     ("total + value", "total - value"), ("scale=1)", "scale=2)")],
)  # fmt: skip
def test_another_text_than_that_of_a_refutation_is_rejected(loss, old, new):
    certificate = copy.deepcopy(loss)
    function = certificate["question"]["source"]["program"]["functions"][0]
    if old not in function["text"]:
        pytest.skip("another mechanism")
    function["text"] = function["text"].replace(old, new)
    assert "another probability" in _rejected(certificate).reason


def test_other_trees_than_those_of_the_text_are_rejected(loss):
    certificate = copy.deepcopy(loss)
    for leaf in certificate["evidence"]["left"]["leaves"]:
        leaf["event"] = True
        leaf["also"] = []
    assert _rejected(certificate)


@pytest.mark.parametrize(
    "pattern", [None, {}, {"between": []}, {"between": ["0", "1", "2"]}, {"int": "77"}, {"list": 3}]
)
def test_another_event_is_rejected(loss, pattern):
    certificate = copy.deepcopy(loss)
    certificate["evidence"]["pattern"] = pattern
    assert _rejected(certificate)


@pytest.mark.parametrize("member", ["relation", "inputs"])
def test_another_relation_or_input_of_a_refutation_is_rejected(loss, member):
    certificate = copy.deepcopy(loss)
    source = certificate["question"]["source"]
    if member == "relation":
        source["relation"] = "monotone"
    else:
        next(iter(source["program"]["inputs"].values()))["within"] = "3"
    assert _rejected(certificate)


# --------------------------------------------------------------------------------------------------------------- hostility

HOSTILE = {
    "deep parentheses": "return " + "(" * 3000 + "1" + ")" * 3000,
    "deep signs": "return " + "-" * 50_000 + "1",
    "deep lists": "return " + "[" * 150 + "]" * 150,
    "an endless loop": "while True:\n        pass",
    "an endless loop of noise": "while True:\n        bernoulli('1/2')",
    "a tower of powers": "return 10 ** 10 ** 10",
    "a power that grows": "x = 2\n    while True:\n        x = x * x",
    "a huge range": "return sum(range(10 ** 15))",
    "a huge loop": "x = 0\n    for i in range(10 ** 15):\n        x += i\n    return x",
    "a huge text": "return 'a' * 10 ** 12",
    "a huge list": "return [0] * 10 ** 12",
    "a list that grows": "xs = [0]\n    while True:\n        xs = xs + xs",
    "a list in itself": "xs = []\n    xs.append(xs)\n    return xs",
    "a list in itself, before an answer": "xs = []\n    xs.append(xs)\n    for x in q:\n        xs = [xs, xs]\n    return x",
    "a tuple in a tuple": "x = ()\n    while True:\n        x = (x,)",
    "states that grow": "x = 0\n    while bernoulli('1/2'):\n        x += 1\n    return x",
    "wide noise": "return uniform(0, 10 ** 12)",
    "many kinds of noise": "return [uniform(0, 9999) for _ in range(9999)]",
    "a call of itself": "return largest(q)",
    "a lambda": "return (lambda: 1)()",
    "an import": "import os\n    return os",
    "an attribute": "return q.__class__",
    "an f-string": "return f'{q}'",
    "a walrus": "return (x := 1)",
    "a long number": "return 1" + "0" * 5000,
    "a decimal with an exponent": "return Fraction('1e999999999')",
    "a float": "return 0.5",
    "half a text": "return 'a",
    "a null byte": "return '\0'",
}


LONG = ("a huge loop", "a tuple in a tuple", "many kinds of noise")
"""They come to their end by the same limits as others do, an endless loop and states that grow."""


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in HOSTILE]
)
def test_hostile_texts_are_rejected_quickly(case):
    document = copy.deepcopy(asked(largest, size=2))
    function = document["source"]["program"]["functions"][0]
    function["text"] = f"def largest(q: queries(0, 2), alpha):\n    {HOSTILE[case]}\n"
    function["meanings"] |= {
        "sum": {"builtin": "sum"},
        "range": {"builtin": "range"},
        "bernoulli": {"noise": "bernoulli"},
        "uniform": {"noise": "uniform"},
        "largest": {"function": 0},
        "Fraction": {"builtin": "Fraction"},
    }
    begun = time.process_time()
    refused(document)
    assert time.process_time() - begun < TENFOLD


@pytest.mark.parametrize("member", ["program", "relation", "inputs", "outputs", "pairs", "claims"])
@pytest.mark.parametrize("value", [None, [], {}, "x", 7, [[]], {"functions": []}, {"a": {"int": "1"}}])
def test_nonsense_in_the_source_is_rejected(member, value):
    document = copy.deepcopy(asked(largest, size=2))
    document["source"][member] = value
    assert refused(document)


# ------------------------------------------------------------------------------------------------------ programs and models


def step(**rows):
    return {state: {"x": branches} for state, branches in rows.items()}


HALF = Rational(1, 2)
EARLY = Transducer(
    [{"begin": Rational(1)}],
    [
        step(begin=[(HALF, None, "a"), (HALF, None, "b")]),
        step(a=[(Rational(1), "yes", "end")], b=[(Rational(1), "no", "end")]),
    ],
    repeats=False,
    finish=None,
)
"""Chooses first, and shows it a step later."""


def test_states_that_go_on_alike_are_one():
    doubled = replace(
        EARLY,
        steps=[
            step(begin=[(HALF, None, "b"), (HALF / 2, None, "c"), (HALF / 2, None, "a")]),
            step(**{name: [(Rational(1), "no" if name == "b" else "yes", "end")] for name in "abc"}),
        ],
    )
    agree(EARLY, doubled, Work(1_000))


@pytest.mark.parametrize(
    "steps",
    [
        [step(begin=[(Rational(1), None, "a")]), step(a=[(HALF, "yes", "end"), (HALF, "no", "end")])],
        [EARLY.steps[0], step(a=[(Rational(1), "yes", "end")], b=[(Rational(1), "yes", "end")])],
        [step(begin=[(HALF / 2, None, "a"), (3 * HALF / 2, None, "b")]), EARLY.steps[1]],
        [EARLY.steps[0], step(a=[(Rational(1), "yes", "end")])],
    ],
    ids=["chooses later", "shows something else", "other probabilities", "halts"],
)
@pytest.mark.parametrize("repeats", [False, True])
def test_a_model_that_chooses_later_or_shows_something_else_is_refused(steps, repeats):
    first, second = (replace(EARLY, steps=each) for each in (EARLY.steps, steps))
    if repeats:
        first, second = (
            replace(each, steps=[{**each.steps[0], **each.steps[1]}], repeats=True) for each in (first, second)
        )
    agree(first, first, Work(1_000))
    with pytest.raises(Refusal, match="does not do what the model does"):
        agree(first, second, Work(1_000))


@mechanism
def counted(q: queries(0, 1, size=2)):
    return {"all": [truncated_geometric(answer, low=0, high=1, alpha="1/2") for answer in q], 0: ([1], {})}


def test_tables_of_lists_are_outputs():
    assert established(asked(counted)).from_source
