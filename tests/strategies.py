"""Random questions for Hypothesis."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from privproof.models import HiddenMarkovModel, Horizon, Transducer
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words


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


@st.composite
def _horizons(draw):
    length = draw(st.integers(1, 4))
    return draw(st.sampled_from([None, Horizon.unbounded(), Horizon.exactly(length), Horizon.up_to(length)]))


@st.composite
def _sparse(draw, names):
    """A distribution that is often certain, or nearly."""
    chosen = draw(st.lists(st.sampled_from(list(names)), min_size=1, max_size=3, unique=True))
    return draw(distributions(chosen, zeros=False))


@st.composite
def restricted_questions(draw):
    """Hidden Markov models of all kinds: chains that end or never do, restrictions on words, endings, horizons, several pairs."""
    states = [f"s{i}" for i in range(draw(st.integers(2, 4)))]
    symbols = [f"o{i}" for i in range(draw(st.integers(1, 3)))]
    forward = draw(st.booleans())
    transitions = {}
    for number, state in enumerate(states):
        later = states[number + 1 :] if forward else states
        if later and draw(st.integers(0, 3)):
            transitions[state] = draw(_sparse(later))
    emissions = {s: draw(_sparse(symbols)) for s in states}
    model = HiddenMarkovModel(states=states, observations=symbols, transitions=transitions, emissions=emissions)
    only = draw(st.sampled_from([None, None, None, "o0*", "(o0|.)+ o0", "o0 .*", ". ."]))
    words = Words(only=only, ending=draw(st.sampled_from(["any", "any", "complete", "visible"])))
    pairs = [Pair.of(model, "first", {states[0]: 1}, {states[1]: 1})]
    if draw(st.booleans()):
        pairs.append(Pair.of(model, "second", draw(_sparse(states)), draw(_sparse(states))))
    scenario = Scenario(pairs=tuple(pairs), words=words)
    return Question(model=model, scenario=scenario, horizon=draw(_horizons()), name="restricted")


@st.composite
def reading_questions(draw):
    """Transducers of all kinds: with a last output or without, that halt or repeat, that write on the way, every relation."""
    states = [f"s{i}" for i in range(draw(st.integers(1, 3)))]
    inputs = [str(i) for i in range(draw(st.integers(2, 3)))]
    outputs = ["a", "b", "c"][: draw(st.integers(1, 3))]
    kind = draw(st.sampled_from(["finish", "stream", "steps", "later"]))
    forward = draw(st.booleans()) and kind != "finish"
    length = 1 if kind == "stream" else draw(st.integers(1, 3))
    on_the_way = kind != "finish" or draw(st.integers(0, 3)) == 0

    def table():
        result = {}
        for number, state in enumerate(states):
            targets = states[number + 1 :] if forward else states
            if targets and (kind == "finish" or draw(st.integers(0, 3))):
                ways = [(t, o) for t in targets for o in ([*outputs, None] if on_the_way else [None])]
                rows = {v: draw(_sparse(range(len(ways)))) for v in inputs}
                result[state] = {v: [(p, *ways[k]) for k, p in row.items()] for v, row in rows.items()}
        return result

    model = Transducer(
        states=states,
        inputs=inputs,
        outputs=outputs,
        initial=draw(_sparse(states)),
        steps=[table() for _ in range(length)],
        repeats=kind in ("stream", "later"),
        finish={s: draw(_sparse(outputs)) for s in states} if kind == "finish" else None,
    )
    within = draw(st.integers(1, 2))
    made = [Neighbours.each(within=within), Neighbours.one(within=within), Neighbours.monotone(within=within)]
    listed = [(("0",) * length, ("1",) * length), (("1",) * length, ("1", *("0",) * (length - 1)))]
    relation = draw(st.sampled_from([*made, Neighbours.pairs(listed)]))
    words = Words(ending=draw(st.sampled_from(["any", "any", "complete", "visible"])))
    horizon = None if kind == "finish" else draw(_horizons())
    return Question(model=model, scenario=Scenario(neighbours=relation, words=words), horizon=horizon, name="reading")
