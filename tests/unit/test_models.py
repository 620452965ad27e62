"""Models are checked when they are made: every complaint names the place and the exact value found."""

from __future__ import annotations

import pytest

from privproof.errors import FloatRefused, ModelError, NumberError, QuestionError
from privproof.models import Branch, HiddenMarkovModel, Horizon, Letter, MarkovChain, Transducer

ROW = {"x": "1/2", "y": "1/2"}


def hidden(**changes):
    given = {
        "states": ["a", "b"],
        "observations": ["x", "y"],
        "emissions": {"a": ROW, "b": ROW},
        "transitions": {"a": {"b": 1}},
    }
    return HiddenMarkovModel(**{**given, **changes})


def machine(**changes):
    given = {
        "states": ["s", "t"],
        "inputs": ["0", "1"],
        "outputs": ["x"],
        "initial": {"s": 1},
        "steps": [{"s": {"0": [(1, "t")], "1": [("1/2", "s"), ("1/2", "t")]}}],
        "finish": {"s": {"x": 1}, "t": {"x": 1}},
    }
    return Transducer(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "place", "parts"),
    [
        ({"emissions": {"a": {"x": "1/2"}, "b": ROW}}, "emissions.a", ["1/2", "missing"]),
        ({"emissions": {"a": {"x": "1/2", "y": "2/3"}, "b": ROW}}, "emissions.a", ["7/6", "1/6", "too much"]),
        ({"emissions": {"a": ROW}}, "emissions.b", ["0", "missing"]),
        ({"emissions": {"a": {}, "b": ROW}}, "emissions.a", ["at least one entry"]),
        ({"emissions": {"a": {"x": "3/2", "y": "-1/2"}, "b": ROW}}, "emissions.a.x", ["3/2", "[0, 1]"]),
        ({"emissions": {"a": {"x": "-1/2", "y": "3/2"}, "b": ROW}}, "emissions.a.x", ["-1/2", "[0, 1]"]),
        ({"emissions": {"a": {"z": 1}, "b": ROW}}, "emissions.a", ["unknown observation 'z'", "known: x, y"]),
        ({"emissions": {"a": ROW, "b": ROW, "c": ROW}}, "emissions", ["unknown state 'c'"]),
        ({"transitions": {"a": {"bb": 1}}}, "transitions.a", ["unknown state 'bb'", "did you mean 'b'"]),
        ({"transitions": {"q": {"b": 1}}}, "transitions", ["unknown state 'q'"]),
        ({"transitions": {"a": {"b": "0.999"}}}, "transitions.a", ["999/1000", "1/1000"]),
        ({"states": []}, "states", ["no state"]),
        ({"states": ["a", "a"]}, "states", ["'a'", "twice"]),
        ({"states": ["a", ""]}, "states", ["''"]),
        ({"states": "ab"}, "states", ["'ab'", "one text"]),
        ({"states": ["a", 1]}, "states", ["1"]),
        ({"observations": []}, "observations", ["no observation"]),
    ],
)
def test_hidden_markov_models(changes, place, parts):
    with pytest.raises(ModelError) as caught:
        hidden(**changes)
    assert caught.value.place == place
    assert isinstance(caught.value, ValueError)
    for part in parts:
        assert part in str(caught.value)


def test_the_place_of_a_number_that_is_none():
    with pytest.raises(FloatRefused) as caught:
        hidden(emissions={"a": {"x": 0.5, "y": "1/2"}, "b": ROW})
    assert caught.value.place == "emissions.a.x"
    with pytest.raises(NumberError) as caught:
        hidden(emissions={"a": {"x": "half", "y": "1/2"}, "b": ROW})
    assert caught.value.place == "emissions.a.x"
    assert "'half'" in str(caught.value)


def test_a_model_is_frozen():
    model = hidden()
    with pytest.raises(AttributeError):
        model.states = ()
    with pytest.raises(TypeError):
        model.emissions["a"] = {}
    with pytest.raises(TypeError):
        model.emissions["a"]["x"] = 1
    assert model.halts("b")
    assert not model.halts("a")


def test_zeros_are_dropped():
    model = hidden(emissions={"a": {"x": 1, "y": 0}, "b": ROW})
    assert dict(model.emissions["a"]) == {"x": 1}


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"labels": {"c": ["x"]}}, ["labels", "unknown state 'c'"]),
        ({"labels": {"a": ["x", "x"]}}, ["labels.a", "twice"]),
        ({"labels": {"a": ["x,y"]}}, ["labels.a", "'x,y'"]),
        ({"labels": {"a": "-"}}, ["labels.a", "'-'"]),
        ({"transitions": {"a": {"b": "1/2"}}}, ["transitions.a", "1/2"]),
    ],
)
def test_markov_chains(changes, parts):
    with pytest.raises(ModelError) as caught:
        MarkovChain(**{"states": ["a", "b"], **changes})
    for part in parts:
        assert part in str(caught.value)


def test_a_chain_as_a_hidden_model():
    chain = MarkovChain(
        states=["a", "b", "c"], transitions={"a": {"b": "1/2", "c": "1/2"}}, labels={"b": ["q", "p"], "c": "r"}
    )
    model = chain.hidden()
    assert model.observations == ("-", "p,q", "r")
    assert dict(model.emissions["b"]) == {"p,q": 1}
    assert model.halts("b")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"steps": []}, ["steps", "no step"]),
        ({"repeats": True}, ["steps[0]", "'t'", "without an output"]),
        ({"marks": {"0*": "0"}}, ["marks", "lists of every length"]),
        ({"initial": {"s": "1/2"}}, ["initial", "1/2"]),
        ({"initial": {"u": 1}}, ["initial", "unknown state 'u'"]),
        ({"finish": {"s": {"x": 1}, "u": {"x": 1}}}, ["finish", "'u'"]),
        ({"finish": {"s": {"z": 1}, "t": {"x": 1}}}, ["finish.s", "'z'"]),
        ({"finish": {"s": {"x": "1/3"}, "t": {"x": 1}}}, ["finish.s", "1/3"]),
        ({"finish": {"s": {"x": 1}}}, ["finish", "t"]),
        ({"steps": [{"s": {"0": [(1, "t")]}}]}, ["steps[0]", "1"]),
        ({"steps": [{"s": {"0": [(1, "t")], "1": [("1/2", "t")]}}]}, ["steps[0]", "s", "1/2"]),
        ({"steps": [{"s": {"0": [(1, "u")], "1": [(1, "t")]}}]}, ["steps[0]", "'u'"]),
        ({"steps": [{"s": {"0": [(1, "t", "z")], "1": [(1, "t")]}}]}, ["steps[0]", "'z'"]),
        ({"steps": [{"s": {"2": [(1, "t")], "0": [(1, "t")], "1": [(1, "t")]}}]}, ["steps[0]", "'2'"]),
        ({"steps": [{"u": {"0": [(1, "t")], "1": [(1, "t")]}}]}, ["steps[0]", "'u'"]),
        ({"steps": [{"s": {"0": [("-1", "t"), (2, "s")], "1": [(1, "t")]}}]}, ["steps[0]", "-1"]),
    ],
)
def test_transducers(changes, parts):
    with pytest.raises(ModelError) as caught:
        machine(**changes)
    for part in parts:
        assert part in str(caught.value)


def test_steps_of_a_transducer():
    finite = machine()
    assert finite.steps[0]["s"]["0"] == (Branch(1, "t"),)
    assert finite.step(0) is not None
    assert finite.step(1) is None
    stream = machine(finish=None, repeats=True)
    assert stream.step(0) is stream.step(7)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("3", "3"), (" up  to 11 ", "up to 11"), ("unbounded", "unbounded"), ("up to 1", "1"), ("+2", "2")],
)
def test_horizons(text, shown):
    assert str(Horizon.of(text)) == shown


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "up to 0", "three", "1.5", "up to", "1e3", "10000000000", "9" * 40, "to 3"]
)
def test_what_is_no_horizon(text):
    with pytest.raises(QuestionError) as caught:
        Horizon.of(text)
    assert caught.value.hint


def test_which_lengths_count():
    horizon = Horizon.up_to(3)
    assert [horizon.counts(n) for n in range(5)] == [False, True, True, True, False]
    assert [horizon.goes_on(n) for n in range(5)] == [True, True, True, False, False]
    assert Horizon.unbounded().counts(10**6)
    assert not Horizon.exactly(2).counts(1)


def test_letters_print_as_they_are_read_back():
    assert [str(Letter("x")), str(Letter("x", "0", "1")), str(Letter(None, "0", "1")), str(Letter())] == [
        "x",
        "0|1:x",
        "0|1",
        "·",
    ]
    assert Letter("x", "0", "1").changed
    assert not Letter("x", "1", "1").changed
