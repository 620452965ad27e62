"""Random questions for Hypothesis."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from privproof.models import HiddenMarkovModel, Horizon, Transducer
from privproof.scenarios import Neighbours, Pair, Question, Scenario


@st.composite
def distributions(draw, names, *, zeros=True):
    weights = draw(st.lists(st.integers(0 if zeros else 1, 5), min_size=len(names), max_size=len(names)))
    if not sum(weights):
        weights[draw(st.integers(0, len(names) - 1))] = 1
    return {n: Fraction(w, sum(weights)) for n, w in zip(names, weights, strict=True) if w}


@st.composite
def hmms(draw, *, most_states=4, most_symbols=3, zeros=True, halting=True):
    states = [f"s{i}" for i in range(draw(st.integers(1, most_states)))]
    symbols = [f"o{i}" for i in range(draw(st.integers(1, most_symbols)))]
    transitions = {}
    for s in states:
        kind = draw(st.sampled_from(["row", "row", "row", "absorbing", "halt"] if halting else ["row"]))
        if kind == "row":
            transitions[s] = draw(distributions(states, zeros=zeros))
        elif kind == "absorbing":
            transitions[s] = {s: 1}
    emissions = {s: draw(distributions(symbols, zeros=zeros)) for s in states}
    return HiddenMarkovModel(states=states, observations=symbols, transitions=transitions, emissions=emissions)


@st.composite
def hmm_questions(draw, *, longest=4, **kinds):
    model = draw(hmms(**kinds))
    left, right = draw(distributions(model.states)), draw(distributions(model.states))
    if draw(st.integers(0, 9)) == 0:
        right = left
    pairs = (Pair.of(model, "pair", left, right),)
    length = draw(st.integers(1, longest))
    horizon = draw(st.sampled_from([Horizon.exactly(length), Horizon.up_to(length)]))
    return Question(model=model, scenario=Scenario(pairs=pairs), horizon=horizon, name="random")


@st.composite
def transducers(draw, *, finite: bool, steps: int, inputs: int = 3):
    states = [f"s{i}" for i in range(draw(st.integers(1, 3)))]
    names = [str(i) for i in range(draw(st.integers(2, inputs)))]
    outputs = ["a", "b"]
    kinds = [(s, o) for s in states for o in ([None] if finite else ["a", "b", None])]

    def table():
        result = {}
        for s in states:
            if finite or draw(st.integers(0, 4)):
                result[s] = {
                    v: [
                        (p, *kinds[int(k)]) for k, p in draw(distributions([str(i) for i in range(len(kinds))])).items()
                    ]
                    for v in names
                }
        return result

    listed = [table() for _ in range(steps if finite else 1)]
    finish = {s: draw(distributions(outputs)) for s in states} if finite else None
    return Transducer(
        states=states,
        inputs=names,
        outputs=outputs,
        initial=draw(distributions(states)),
        steps=listed,
        repeats=not finite,
        finish=finish,
    )


@st.composite
def transducer_questions(draw, *, finite: bool):
    length = draw(st.integers(1, 3 if finite else 2))
    model = draw(transducers(finite=finite, steps=length))
    relation = draw(
        st.sampled_from([Neighbours.each(within=1), Neighbours.one(within=1), Neighbours.monotone(within=1)])
    )
    horizon = None if finite else Horizon.up_to(length)
    return Question(model=model, scenario=Scenario(neighbours=relation), horizon=horizon, name="random")
