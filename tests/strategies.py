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
    states = [f"s{i}" for i in range(draw(st.integers(2, most_states)))]
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
    if left == right:
        left, right = {model.states[0]: Fraction(1)}, {model.states[1]: Fraction(1)}
    pairs = (Pair.of(model, "pair", left, right),)
    length = draw(st.integers(1, longest))
    horizon = draw(st.sampled_from([Horizon.exactly(length), Horizon.up_to(length)]))
    return Question(model=model, scenario=Scenario(pairs=pairs), horizon=horizon, name="random")


@st.composite
def transient_questions(draw, *, symbols=2):
    """Hidden Markov models with states that are left for good, where one side may have mass and the other none."""
    passing = [f"t{i}" for i in range(draw(st.integers(1, 3)))]
    lasting = [f"r{i}" for i in range(draw(st.integers(1, 2)))]
    states, shown = [*passing, *lasting], [f"o{i}" for i in range(symbols)]
    transitions = {}
    for number, s in enumerate(passing):
        onward = draw(distributions([*passing[number:], *lasting]))
        share = draw(st.sampled_from([Fraction(1, 4), Fraction(1, 2)]))
        transitions[s] = {t: (1 - share) * p for t, p in onward.items()}
        transitions[s][lasting[0]] = transitions[s].get(lasting[0], Fraction(0)) + share
    for s in lasting:
        transitions[s] = draw(distributions(lasting, zeros=False))
    emissions = {s: draw(distributions(shown, zeros=False)) for s in states}
    model = HiddenMarkovModel(states=states, observations=shown, transitions=transitions, emissions=emissions)
    left, right = draw(distributions(states)), draw(distributions(states))
    if left == right:
        left, right = {states[0]: Fraction(1)}, {states[1]: Fraction(1)}
    pair = Pair.of(model, "pair", left, right)
    return Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=Horizon.unbounded(), name="transient")


@st.composite
def pumped_questions(draw):
    """Two rings of states that favour one cyclic word of at most four letters, the left one more; both may leak into a common end.

    Repeating the word multiplies the ratio by more than one every time, so there is no epsilon.
    """
    length = draw(st.integers(1, 4))
    word = draw(st.lists(st.sampled_from(["x", "y"]), min_size=length, max_size=length))
    leak = draw(st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 10)]))
    strong, weak = Fraction(9, 10), draw(st.sampled_from([Fraction(3, 5), Fraction(7, 10), Fraction(4, 5)]))
    transitions: dict[str, dict[str, Fraction]] = {"end": {"end": Fraction(1)}}
    emissions = {"end": {"x": Fraction(1, 2), "y": Fraction(1, 2)}}
    for ring, p in (("l", strong), ("r", weak)):
        for i, symbol in enumerate(word):
            transitions[f"{ring}{i}"] = {f"{ring}{(i + 1) % length}": 1 - leak} | ({"end": leak} if leak else {})
            emissions[f"{ring}{i}"] = {symbol: p, "y" if symbol == "x" else "x": 1 - p}
    model = HiddenMarkovModel(
        states=list(emissions), observations=["x", "y"], transitions=transitions, emissions=emissions
    )
    pair = Pair.of(model, "rings", {"l0": 1}, {"r0": 1})
    return Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=Horizon.unbounded(), name="pumped")


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
