"""A question that compares nothing is refused, or unknown; it is never proved."""

from __future__ import annotations

import pytest
from tests.certificates import nested, recheck

from privproof import (
    HiddenMarkovModel,
    Neighbours,
    Pair,
    Question,
    Scenario,
    ScenarioError,
    Transducer,
    bernoulli,
    check,
    integer,
    laplace,
    mechanism,
    one_of,
    prior,
    pufferfish,
    queries,
    randomized_response,
    real,
    real_queries,
    real_stream,
    stream,
    tight_epsilon,
)
from privproof.formats import question_from_document
from privproof_checker import Rejected


@mechanism
def one_value(x: integer(3, 3)):
    return randomized_response(x % 2, truth="3/4")


@mechanism
def too_close(x: integer(0, 3, sensitivity="1/2")):
    return randomized_response(x % 2, truth="3/4")


@mechanism
def one_record(x: one_of("a")):
    return bernoulli("1/2")


@mechanism
def one_answer(q: queries(2, 2, size=3)):
    return bernoulli("1/2")


@mechanism
def one_stream(values: stream(1, 1)):
    for _ in values:
        yield bernoulli("1/2")


@mechanism(neighbours=lambda x, y: False)
def no_relation(x: integer(0, 3)):
    return randomized_response(x % 2, truth="3/4")


@mechanism
def one_real(x: real(low=3, high=3)):
    return laplace(x, scale=1)


@mechanism
def one_integer(x: integer(3, 3)):
    return laplace(x, scale=1)


@mechanism
def too_close_a_count(x: integer(sensitivity="1/2")):
    return laplace(x, scale=1)


@mechanism
def one_number(values: real_stream(low=1, high=1)):
    for value in values:
        yield laplace(value, scale=1)


@mechanism
def beside_another(q: real_queries(), x: real(low=3, high=3)):
    return laplace(q[0] + x if len(q) > 0 else x, scale=1)


@pytest.mark.parametrize(
    "asked",
    [
        one_value,
        too_close,
        one_record,
        one_answer,
        one_stream,
        no_relation,
        one_real,
        one_integer,
        too_close_a_count,
        one_number,
        beside_another,
    ],
    ids=lambda asked: asked.name,
)
def test_inputs_in_which_no_neighbours_differ(asked):
    for ask in (tight_epsilon, lambda subject: check(subject, 1)):
        with pytest.raises(Exception, match="neighbours") as raised:
            ask(asked)
        assert raised.value.code == "empty-relation"


def coin():
    return HiddenMarkovModel(
        states=["a", "b"], observations=["x", "y"], emissions={"a": {"x": "1/3", "y": "2/3"}, "b": {"y": 1}}
    )


def test_pairs_with_both_sides_the_same():
    model = coin()
    mixed = {"a": "1/2", "b": "1/2"}
    same = Pair.of(model, "same", mixed, mixed)
    with pytest.raises(ScenarioError, match="both sides of every pair are the same"):
        tight_epsilon(Question(model=model, scenario=Scenario(pairs=(same,))))
    other = Pair.of(model, "other", {"a": 1}, {"b": 1})
    assert tight_epsilon(Question(model=model, scenario=Scenario(pairs=(same, other)))).status == "refuted"


def reader(**others):
    rows = {v: [("1/2", "s", "a"), ("1/2", "s", "b")] for v in ("0", "1")}
    return Transducer(
        states=["s"], inputs=["0", "1"], outputs=["a", "b"], initial={"s": 1}, steps=[{"s": rows}], repeats=True
    )


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(neighbours=Neighbours.pairs([(("0", "1"), ("0", "1"))])),
        Scenario(neighbours=Neighbours.each(within="1/2")),
        Scenario(pairs=(Pair.of(reader(), "same", {"s": 1}, {"s": 1}),)),
    ],
    ids=["listed", "within", "pairs"],
)
def test_transducers_whose_sides_read_the_same(scenario):
    with pytest.raises(ScenarioError) as raised:
        tight_epsilon(Question(model=reader(), scenario=scenario))
    assert raised.value.code == "empty-relation"


def automaton(reads, *, beside=False):
    states = {"start": {"scale": 2, "reads": "nothing"}, "wait": {"scale": 4, "reads": reads}, "done": {}}
    transitions = [
        {"from": "start", "to": "wait", "store": "x"},
        {"from": "wait", "to": "wait", "when": "sample < x", "output": "below"},
        {"from": "wait", "to": "done", "when": "sample >= x", "output": "above"},
    ]
    if beside:
        states["aside"] = {"scale": 4}
        transitions.append({"from": "aside", "to": "done", "output": "above"})
    document = {"kind": "stream-automaton", "states": states, "transitions": transitions, "epsilon": 1}
    return question_from_document({**document, "scenario": {"neighbours": {"relation": "each", "within": 1}}})


def test_automata_that_read_nothing():
    for asked in (automaton("nothing"), automaton("nothing", beside=True)):
        for verdict in (check(asked), tight_epsilon(asked)):
            assert verdict.status == "unknown"
            assert "nothing is compared" in verdict.reason


@prior
def fair():
    return 1 if bernoulli("1/2") else 0


@mechanism
def answered(x: integer(0, 1)):
    return randomized_response(x, truth="3/4")


def test_secrets_that_hold_on_the_same_data():
    same = {"zero": lambda x: x == 0, "not one": lambda x: x != 1}
    verdict = tight_epsilon(pufferfish(answered, prior=fair, secrets=same))
    assert verdict.status == "unknown"
    assert "hold on the same data: 'zero' and 'not one'" in verdict.reason
    three = tight_epsilon(pufferfish(answered, prior=fair, secrets={**same, "one": lambda x: x == 1}))
    assert str(three.tight) == "ln(3)"
    assert any("the same data under the prior, so not compared" in note for note in three.notes)


def mixed(interval, *constraints):
    @prior(p=interval, constraints=constraints)
    def beliefs(p):
        return (2 if bernoulli("1/2") else 1) if bernoulli(p) else 0

    return beliefs


@mechanism
def parity(x: integer(0, 3)):
    return randomized_response(x % 2, truth="3/4")


SOMETIMES_THE_SAME = {"zero": lambda x: x == 0, "even": lambda x: x % 2 == 0}


@pytest.mark.parametrize(
    ("interval", "constraints", "reason"),
    [
        ("0 <= p <= 0", (), "hold on the same data: 'zero' and 'even'"),
        ("0 <= p <= 1", ("p <= 0",), "hold on the same data: 'zero' and 'even'"),
        ("0 <= p <= 1", ("1 - 2*p >= 1",), "hold on the same data: 'zero' and 'even'"),
        ("1 <= p <= 1", (), "impossible: 'zero'"),
        ("0 <= p <= 1", ("p >= 1",), "impossible: 'zero'"),
    ],
)
def test_secrets_that_are_the_same_at_the_only_parameters(interval, constraints, reason):
    question = pufferfish(parity, prior=mixed(interval, *constraints), secrets=SOMETIMES_THE_SAME)
    for verdict in (tight_epsilon(question), check(question, 1)):
        assert verdict.status == "unknown"
        assert "nothing is compared" in verdict.reason
        assert reason in verdict.reason


def test_secrets_that_differ_somewhere_are_compared():
    for interval, constraints in (("0 <= p <= 1", ()), ("0 <= p <= 1", ("p <= 1/2",)), ("1/2 <= p <= 1/2", ())):
        question = pufferfish(parity, prior=mixed(interval, *constraints), secrets=SOMETIMES_THE_SAME)
        assert tight_epsilon(question).status == "proved"


def under_parameters(interval, left, right):
    return question_from_document(
        {
            "kind": "hmm",
            "states": ["a", "b", "c"],
            "observations": ["x", "y"],
            "emissions": {"a": {"x": "1/3", "y": "2/3"}, "b": {"x": "2/3", "y": "1/3"}, "c": {"y": 1}},
            "scenario": {"parameters": {"q": interval}, "pairs": [{"name": "one", "left": left, "right": right}]},
            "horizon": 1,
            "epsilon": 1,
        }
    )


@pytest.mark.parametrize(
    ("interval", "left", "right"),
    [
        ("[0, 1]", {"a": "1 - q", "b": "q"}, {"a": "1 - q", "b": "q"}),
        ("[0, 1]", {"a": "1 - q", "b": "q"}, {"a": "2 - 2*q", "b": "2*q"}),
        ("[1/2, 1/2]", {"a": "1 - q", "b": "q"}, {"a": "q", "b": "1 - q"}),
        ("[0, 0]", {"a": "1 - q", "b": "q"}, {"a": "1 - q", "c": "q"}),
    ],
)
def test_sides_in_parameters_that_are_the_same(interval, left, right):
    question = under_parameters(interval, left, right)
    for verdict in (check(question), tight_epsilon(question)):
        assert verdict.status == "unknown"
        assert "nothing is compared" in verdict.reason


def test_sides_in_parameters_that_differ_somewhere_are_compared():
    verdict = check(under_parameters("[0, 1]", {"a": "1 - q", "b": "q"}, {"a": "q", "b": "1 - q"}))
    assert verdict.status == "proved"


def test_the_checker_refuses_secrets_that_are_the_same_at_the_only_parameters():
    question = pufferfish(parity, prior=mixed("0 <= p <= 1"), secrets=SOMETIMES_THE_SAME)
    certificate = dict(nested(tight_epsilon(question).certificate))
    assert not isinstance(recheck(certificate), Rejected)
    (parameter,) = certificate["question"]["parameters"]
    certificate["question"] = {**certificate["question"], "parameters": [{**parameter, "low": "0", "high": "0"}]}
    found = recheck(certificate)
    assert isinstance(found, Rejected)
    assert "nothing is compared" in found.reason


def test_the_checker_refuses_certificates_that_compare_nothing():
    document = {
        "format": "privproof-certificate",
        "version": 1,
        "verdict": "proved",
        "question": {
            "kind": "hmm",
            "states": ["a", "b"],
            "observations": ["x"],
            "emissions": {"a": {"x": 1}, "b": {"x": 1}},
            "scenario": {"pairs": [{"left": {"a": 1}, "right": {"a": 1}}]},
            "horizon": 1,
            "epsilon": "1",
        },
        "evidence": {"method": "enumeration"},
    }
    found = recheck(document)
    assert isinstance(found, Rejected)
    assert "nothing is compared" in found.reason
    document["question"]["scenario"]["pairs"][0]["right"] = {"b": 1}
    assert not isinstance(recheck(document), Rejected)


def test_the_checker_refuses_programs_on_data_that_cannot_differ():
    certificate = nested(check(mechanism_of_one()).certificate)
    certificate["question"]["inputs"]["x"] |= {"low": "3", "high": "3"}
    found = recheck(certificate)
    assert isinstance(found, Rejected)
    assert "nothing is compared" in found.reason


def mechanism_of_one():
    @mechanism(epsilon=1)
    def noisy(x: real()):
        return laplace(x, scale=1)

    return noisy
