"""The checker against the definitions, by brute force on random small models; and against arbitrary documents."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples, selected

from privproof_checker import Accepted, Outcome, Rejected, recheck
from privproof_checker.model_expressions import Languages, read_expression
from privproof_checker.outcomes import Limits
from privproof_checker.systems import DenseMatrices, Stack, product

Document = dict[str, Any]
ENUMERATION = {"method": "enumeration"}
TINY = Fraction(1, 10**9)


def certificate(question: Document, evidence: Document, verdict: str = "proved") -> Document:
    return {
        "format": "privproof-certificate",
        "version": 1,
        "verdict": verdict,
        "question": question,
        "evidence": evidence,
    }


def is_accepted(outcome: Outcome) -> bool:
    assert isinstance(outcome, Accepted | Rejected)
    assert not isinstance(outcome, Rejected) or outcome.place != "checker", outcome
    return isinstance(outcome, Accepted)


def random_distribution(choose: random.Random, names: list[str], zeros: float = 0.3) -> Document:
    weights = [0 if choose.random() < zeros else choose.randint(1, 4) for _ in names]
    if not any(weights):
        weights[choose.randrange(len(names))] = 1
    return {n: str(Fraction(w, sum(weights))) for n, w in zip(names, weights, strict=True) if w}


# ------------------------------------------------------------------------------------------------ hidden Markov models


def random_chain(choose: random.Random) -> Document:
    states = ["r", "s", "t"][: choose.randint(2, 3)]
    going_on = [s for s in states if choose.random() < 0.7]
    words: Document = {"ending": choose.choice(["any", "complete", "visible"])}
    if choose.random() < 0.5:
        words["only"] = choose.choice(["x (x|y)* y?", ". x* y+", "(x y)* | y . ?", "'x' .*", "(x|y|z)+"])
    if choose.random() < 0.3:
        words["without"] = ["z"]
    pairs = [
        {"name": f"pair {i}", "left": random_distribution(choose, states), "right": random_distribution(choose, states)}
        for i in range(choose.randint(1, 2))
    ]
    if choose.random() < 0.3:
        pairs[0]["only"] = ".*"
    return {
        "kind": "hmm",
        "states": states,
        "observations": ["x", "y", "z"],
        "transitions": {s: random_distribution(choose, states) for s in going_on},
        "emissions": {s: random_distribution(choose, ["x", "y", "z"], 0.2) for s in states},
        "scenario": {"pairs": pairs, "words": words},
        "horizon": choose.choice([1, 2, 3, "up to 3"]),
    }


def chain_masses(question: Document, initial: Document, word: tuple[str, ...]) -> dict[str, Fraction]:
    """The mass of every ending of a word."""
    alpha = {s: Fraction(p) * Fraction(question["emissions"][s].get(word[0], 0)) for s, p in initial.items()}
    for symbol in word[1:]:
        after: dict[str, Fraction] = {}
        for s, mass in alpha.items():
            for t, p in question["transitions"].get(s, {}).items():
                after[t] = after.get(t, Fraction(0)) + mass * Fraction(p) * Fraction(
                    question["emissions"][t].get(symbol, 0)
                )
        alpha = after
    halted = sum((m for s, m in alpha.items() if s not in question["transitions"]), Fraction(0))
    return {"any": sum(alpha.values(), Fraction(0)), "complete": halted}


def chain_language(question: Document, pair: Document) -> Callable[[tuple[str, ...]], bool]:
    words = question["scenario"]["words"]
    only = pair.get("only", words.get("only"))
    pattern = None if only is None else re.compile(re.sub(r"[\s']", "", only))
    forbidden = set(words.get("without", ()))
    return lambda word: not forbidden & set(word) and (pattern is None or pattern.fullmatch("".join(word)) is not None)


def lengths(question: Document) -> tuple[range, int]:
    horizon = question["horizon"]
    high = int(str(horizon).removeprefix("up to "))
    return (range(high, high + 1) if isinstance(horizon, int) else range(1, high + 1)), high


def chain_outcomes(question: Document) -> Iterator[list[tuple[Fraction, Fraction]]]:
    """Every outcome space of every ordered pair: the two probabilities of each outcome."""
    compared, high = lengths(question)
    ending = question["scenario"]["words"]["ending"]
    for pair in question["scenario"]["pairs"]:
        allowed = chain_language(question, pair)
        masses = {
            word: [chain_masses(question, pair[side], word) for side in ("left", "right")]
            for k in range(1, high + 1)
            for word in itertools.product("xyz", repeat=k)
            if allowed(word)
        }
        for one, other in ((0, 1), (1, 0)):
            outcomes = {
                (w, end): (m[one][end], m[other][end]) for w, m in masses.items() for end in ("any", "complete")
            }
            if ending == "complete":
                yield [v for (w, end), v in outcomes.items() if end == "complete" and len(w) in compared]
            else:
                for k in compared:
                    space = [v for (w, end), v in outcomes.items() if end == "any" and len(w) == k]
                    if ending == "visible":
                        space += [v for (w, end), v in outcomes.items() if end == "complete" and len(w) < k]
                    yield space


def chain_comparisons(question: Document) -> Iterator[tuple[Fraction, Fraction]]:
    """Every compared word of every ordered pair, with each of its endings."""
    compared, _ = lengths(question)
    ending = question["scenario"]["words"]["ending"]
    for pair in question["scenario"]["pairs"]:
        allowed = chain_language(question, pair)
        for k in compared:
            for word in itertools.product("xyz", repeat=k):
                if allowed(word):
                    left, right = (chain_masses(question, pair[side], word) for side in ("left", "right"))
                    for end in ("any", "complete") if ending == "visible" else (ending,):
                        yield left[end], right[end]
                        yield right[end], left[end]


@pytest.mark.parametrize("seed", selected(range(120), 20))
def test_enumeration_of_words_follows_the_definition(seed: int) -> None:
    question = random_chain(random.Random(seed))
    found = list(chain_comparisons(question))
    if any(p > 0 == q for p, q in found):
        assert not is_accepted(recheck(certificate({**question, "epsilon": "inf"}, ENUMERATION)))
        return
    if not any(p > 0 for p, q in found):
        return
    ratio = max(1, *(p / q for p, q in found if q))
    outcome = recheck(certificate({**question, "epsilon": f"ln({ratio})"}, ENUMERATION))
    if all(pair["left"] == pair["right"] for pair in question["scenario"]["pairs"]):
        assert outcome.reason == "both sides are the same, so nothing is compared"
        return
    assert is_accepted(outcome)
    if ratio > 1:
        assert not is_accepted(
            recheck(certificate({**question, "epsilon": f"ln({ratio - (ratio - 1) * TINY})"}, ENUMERATION))
        )


@pytest.mark.parametrize("seed", selected(range(120), 20))
def test_enumeration_for_each_output_follows_the_definition(seed: int) -> None:
    choose = random.Random(seed)
    question = random_chain(choose)
    c = Fraction(choose.randint(2, 6), 2)
    found = list(chain_comparisons(question))
    delta = max((p - c * q for p, q in found), default=Fraction(0))
    if not 0 < delta < 1:
        return
    claim = {**question, "epsilon": f"ln({c})", "pointwise": True}
    assert is_accepted(recheck(certificate({**claim, "delta": str(delta)}, ENUMERATION)))
    assert not is_accepted(recheck(certificate({**claim, "delta": str(delta * (1 - TINY))}, ENUMERATION)))


@pytest.mark.parametrize("seed", selected(range(120), 20))
def test_enumeration_of_events_follows_the_definition(seed: int) -> None:
    choose = random.Random(seed)
    question = random_chain(choose)
    c = Fraction(choose.randint(2, 6), 2)
    delta = max(sum((max(Fraction(0), p - c * q) for p, q in space), Fraction(0)) for space in chain_outcomes(question))
    if not 0 < delta < 1:
        return
    claim = {**question, "epsilon": f"ln({c})"}
    assert is_accepted(recheck(certificate({**claim, "delta": str(delta)}, ENUMERATION)))
    assert not is_accepted(recheck(certificate({**claim, "delta": str(delta * (1 - TINY))}, ENUMERATION)))


@pytest.mark.parametrize("seed", selected(range(40), 10))
def test_events_under_an_irrational_bound_follow_the_definition(seed: int) -> None:
    """e^(1/2) = 1.6487212707001281...: close rationals on both sides decide."""
    question = random_chain(random.Random(seed))
    low, high = (Fraction(n, 10**15) for n in (1648721270700128, 1648721270700129))
    worst = [
        max(sum((max(Fraction(0), p - c * q) for p, q in space), Fraction(0)) for space in chain_outcomes(question))
        for c in (high, low)
    ]
    if not 0 < worst[0] <= worst[1] < Fraction(999, 1000):
        return
    claim = {**question, "epsilon": "1/2"}
    assert is_accepted(recheck(certificate({**claim, "delta": str(worst[1] + TINY)}, ENUMERATION)))
    assert not is_accepted(recheck(certificate({**claim, "delta": str(worst[0] * (1 - TINY))}, ENUMERATION)))


@pytest.mark.parametrize(
    "text", ["x (x|y)* y?", ". x* y+", "(x y)* | y . ?", "((x+)?y)+", "(x|x y)(z*)*", "x++?*", "()", ""]
)
@pytest.mark.parametrize("without", [(), ("y",)])
def test_derivatives_match_like_any_other_matcher(text: str, without: tuple[str, ...]) -> None:
    languages = Languages(Limits())
    begin = languages.number(read_expression(text, "xyz", without, "", Limits()))
    plain = re.sub(r"\s", "", text).replace("x++?*", "(((x+)+)?)*").replace(".", "[xyz]")
    for length in range(6):
        for word in itertools.product("xyz", repeat=length):
            state: int | None = begin
            for symbol in word:
                state = None if state is None else languages.after(state, symbol)
            expected = re.fullmatch(plain, "".join(word)) is not None and not set(word) & set(without)
            assert (state is not None and languages.accepts[state]) == expected


# --------------------------------------------------------------------------------------------------------- coordinates


@pytest.mark.parametrize("relation", ["each", "one", "monotone"])
@pytest.mark.parametrize("within", [1, 2, "any"])
def test_coordinates_name_all_neighbouring_states(relation: str, within: Any) -> None:
    sets = list(itertools.product(range(3), repeat=2))
    names = [f"d{x}{y}" for x, y in sets]
    total = {n: 20 + i for i, n in enumerate(names)}

    def related(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
        moves = [y - x for x, y in zip(left, right, strict=True)]
        near = all(within == "any" or abs(m) <= within for m in moves)
        if relation == "one":
            return near and sum(m != 0 for m in moves) == 1
        if relation == "monotone":
            return near and any(moves) and (min(moves) >= 0 or max(moves) <= 0)
        return near and any(moves)

    question = {
        "kind": "hmm",
        "states": names,
        "observations": ["x", "y"],
        "emissions": {n: {"x": f"1/{t}", "y": f"{t - 1}/{t}"} for n, t in total.items()},
        "scenario": {
            "neighbours": {
                "relation": relation,
                "within": within,
                "coordinates": {n: list(d) for n, d in zip(names, sets, strict=True)},
            }
        },
        "horizon": 1,
        "epsilon": "ln(2)",
    }
    pairs = sum(related(one, other) for one in sets for other in sets)
    outcome = recheck(certificate(question, ENUMERATION))
    assert isinstance(outcome, Accepted)
    assert f"{pairs} ordered pairs" in outcome.statement
    for one, other in itertools.product(range(9), repeat=2):
        ratio = Fraction(total[names[other]], total[names[one]])
        evidence = {
            "method": "word",
            "left": {names[one]: 1},
            "right": {names[other]: 1},
            "word": [{"output": "x"}],
            "left_probability": f"1/{total[names[one]]}",
            "right_probability": f"1/{total[names[other]]}",
        }
        refuted = is_accepted(recheck(certificate({**question, "epsilon": 0}, evidence, "refuted")))
        assert refuted == (related(sets[one], sets[other]) and ratio > 1)


# --------------------------------------------------------------------------------------------------------- transducers


def random_machine(choose: random.Random) -> Document:
    states = ["r", "s"]
    outputs: list[str | None] = ["x", "y", None]

    def branches() -> list[Document]:
        options = list(itertools.product(states, outputs))
        weights = [choose.randint(0, 2) for _ in options]
        weights[choose.randrange(len(options))] += 1
        return [
            {"probability": str(Fraction(w, sum(weights))), "to": t, "output": o}
            for (t, o), w in zip(options, weights, strict=True)
            if w
        ]

    count = choose.randint(1, 2)
    steps = [
        {s: {v: branches() for v in ("0", "1")} for s in states if choose.random() < 0.8 or not i} for i in range(count)
    ]
    relation = choose.choice(["each", "one", "monotone", "pairs"])
    neighbours: Document = {"relation": relation}
    if relation == "pairs":
        sequences = list(itertools.product("01", repeat=2))
        neighbours["pairs"] = [[list(a), list(b)] for a, b in (choose.sample(sequences, 2) for _ in range(2))]
    return {
        "kind": "transducer",
        "states": states,
        "inputs": ["0", "1"],
        "outputs": ["x", "y"],
        "initial": random_distribution(choose, states),
        "steps": steps,
        "repeats": choose.random() < 0.5,
        "scenario": {"neighbours": neighbours, "words": {"ending": choose.choice(["any", "complete", "visible"])}},
        "horizon": choose.choice([1, 2, "up to 2"]),
    }


Choice = tuple[str, str]


def machine_step(question: Document, number: int) -> Document:
    steps = question["steps"]
    if number < len(steps):
        return dict(steps[number])
    return dict(steps[-1]) if question["repeats"] else {}


def may_read(question: Document, sequence: tuple[Choice, ...]) -> bool:
    """Whether the relation allows a sequence of pairs of inputs, straight from its definition."""
    neighbours = question["scenario"]["neighbours"]
    moves = [int(w) - int(v) for v, w in sequence]
    match neighbours["relation"]:
        case "one":
            return sum(m != 0 for m in moves) <= 1
        case "monotone":
            return not (1 in moves and -1 in moves)
        case "pairs":
            listed = [list(zip(a, b, strict=True)) for a, b in neighbours["pairs"]]
            listed += [list(zip(b, a, strict=True)) for a, b in neighbours["pairs"]]
            return any(list(sequence) == full[: len(sequence)] for full in listed)
        case _:
            return True


def machine_masses(question: Document, inputs: tuple[str, ...], outputs: tuple[str | None, ...]) -> dict[str, Fraction]:
    alpha = {s: Fraction(p) for s, p in question["initial"].items()}
    for number, (symbol, output) in enumerate(zip(inputs, outputs, strict=True)):
        after: dict[str, Fraction] = {}
        for s, mass in alpha.items():
            for branch in machine_step(question, number).get(s, {}).get(symbol, []):
                if branch["output"] == output:
                    after[branch["to"]] = after.get(branch["to"], Fraction(0)) + mass * Fraction(branch["probability"])
        alpha = after
    following = machine_step(question, len(inputs))
    halted = sum((m for s, m in alpha.items() if s not in following), Fraction(0))
    return {"any": sum(alpha.values(), Fraction(0)), "complete": halted}


def machine_outcomes(question: Document) -> Iterator[list[tuple[Fraction, Fraction]]]:
    """Every outcome space under every deterministic adversary that decides by the outputs seen."""
    compared, high = lengths(question)
    if not question["repeats"]:
        high = min(high, len(question["steps"]))
    ending = question["scenario"]["words"]["ending"]
    histories = [h for k in range(high) for h in itertools.product(("x", "y", None), repeat=k)]
    pairs = list(itertools.product("01", repeat=2))
    for chosen in itertools.product(pairs, repeat=len(histories)):
        adversary = dict(zip(histories, chosen, strict=True))
        if chosen[0] != pairs[0] and not may_read(question, chosen[:1]):
            continue
        words = {}
        for k in range(1, high + 1):
            for outputs in itertools.product(("x", "y", None), repeat=k):
                sequence = tuple(adversary[outputs[:i]] for i in range(k))
                if may_read(question, sequence):
                    words[outputs] = [
                        machine_masses(question, tuple(side), outputs) for side in zip(*sequence, strict=True)
                    ]
        if ending == "complete":
            yield [(p["complete"], q["complete"]) for w, (p, q) in words.items() if len(w) in compared]
        else:
            for k in compared:
                if k <= high:
                    yield [
                        (p[end], q[end])
                        for w, (p, q) in words.items()
                        for end in ("any", "complete")
                        if (end == "any" and len(w) == k) or (end == "complete" and ending == "visible" and len(w) < k)
                    ]


@pytest.mark.parametrize("seed", selected(range(40), 10))
def test_events_of_a_transducer_follow_the_definition(seed: int) -> None:
    choose = random.Random(seed)
    question = random_machine(choose)
    if seed % 4:
        question["horizon"] = 1
        question["steps"] = question["steps"][:1]
    c = Fraction(choose.randint(2, 3), 2)
    delta = max(
        (sum((max(Fraction(0), p - c * q) for p, q in space), Fraction(0)) for space in machine_outcomes(question)),
        default=Fraction(0),
    )
    if not 0 < delta < 1:
        return
    claim = {**question, "epsilon": f"ln({c})"}
    assert is_accepted(recheck(certificate({**claim, "delta": str(delta)}, ENUMERATION)))
    assert not is_accepted(recheck(certificate({**claim, "delta": str(delta * (1 - TINY))}, ENUMERATION)))


@pytest.mark.parametrize("seed", selected(range(100), 20))
def test_words_of_a_transducer_follow_the_definition(seed: int) -> None:
    choose = random.Random(seed)
    question = random_machine(choose)
    compared, _ = lengths(question)
    ending = question["scenario"]["words"]["ending"]
    found = []
    for k in compared:
        if k > len(question["steps"]) and not question["repeats"]:
            continue
        for sequence in itertools.product(itertools.product("01", repeat=2), repeat=k):
            if not may_read(question, sequence):
                continue
            for outputs in itertools.product(("x", "y", None), repeat=k):
                left, right = (machine_masses(question, tuple(side), outputs) for side in zip(*sequence, strict=True))
                ends = ("any", "complete") if ending == "visible" else (ending,)
                found += [(left[end], right[end], sequence, outputs, end) for end in ends]
    if not any(p > 0 for p, *_ in found):
        return
    infinite = [entry for entry in found if entry[0] > 0 == entry[1]]
    worst = infinite[0] if infinite else max((e for e in found if e[1]), key=lambda e: e[0] / e[1])
    evidence = {
        "method": "word",
        "left": question["initial"],
        "right": question["initial"],
        "word": [{"left": v, "right": w, "output": o} for (v, w), o in zip(worst[2], worst[3], strict=True)],
        "ending": worst[4],
        "left_probability": str(worst[0]),
        "right_probability": str(worst[1]),
    }
    if infinite:
        assert is_accepted(recheck(certificate({**question, "epsilon": "inf"}, evidence, "refuted")))
        assert not is_accepted(recheck(certificate({**question, "epsilon": "inf"}, ENUMERATION)))
        return
    ratio = max(Fraction(1), worst[0] / worst[1])
    assert is_accepted(recheck(certificate({**question, "epsilon": f"ln({ratio})"}, ENUMERATION)))
    if ratio > 1:
        less = {**question, "epsilon": f"ln({ratio - (ratio - 1) * TINY})"}
        assert not is_accepted(recheck(certificate(less, ENUMERATION)))
        assert is_accepted(recheck(certificate(less, evidence, "refuted")))


# ------------------------------------------------------------------------------------------------- arbitrary documents

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["1/2", "ln(2)", "a", "b", "A", "B", "any", "complete", "up to 2", "unbounded", "hmm", "transducer"]
    )
)
KEYS = st.sampled_from(
    [
        "format",
        "version",
        "verdict",
        "question",
        "evidence",
        "kind",
        "states",
        "observations",
        "transitions",
        "emissions",
        "scenario",
        "pairs",
        "left",
        "right",
        "only",
        "neighbours",
        "relation",
        "within",
        "coordinates",
        "words",
        "without",
        "ending",
        "horizon",
        "epsilon",
        "delta",
        "pointwise",
        "method",
        "nodes",
        "generators",
        "next",
        "letter",
        "node",
        "multipliers",
        "over",
        "by",
        "starts",
        "classes",
        "weight",
        "size",
        "entries",
        "word",
        "output",
        "a",
        "b",
        "A",
        "B",
    ]
) | st.text(max_size=3)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)

CHAIN: Document = {
    "kind": "hmm",
    "states": ["a", "b"],
    "observations": ["A", "B"],
    "transitions": {"a": {"a": "1/2", "b": "1/2"}, "b": {"b": 1}},
    "emissions": {"a": {"A": "3/4", "B": "1/4"}, "b": {"A": "1/4", "B": "3/4"}},
    "scenario": {
        "pairs": [{"name": "p", "left": {"a": 1}, "right": {"b": 1}}],
        "words": {"only": "(A|B)+", "without": ["B"]},
    },
    "horizon": "up to 2",
    "epsilon": "ln(9)",
    "delta": 0,
    "pointwise": False,
}
MACHINE: Document = {
    "kind": "transducer",
    "states": ["s", "t"],
    "inputs": ["0", "1"],
    "outputs": ["x", "y"],
    "initial": {"s": 1},
    "steps": [
        {
            "s": {
                "0": [{"probability": "1/3", "to": "t"}, {"probability": "2/3", "to": "s"}],
                "1": [{"probability": 1, "to": "t"}],
            }
        }
    ],
    "finish": {"s": {"x": 1}, "t": {"x": "1/2", "y": "1/2"}},
    "scenario": {"neighbours": {"relation": "each", "within": 1}},
    "horizon": "unbounded",
    "epsilon": "1",
}
CONE: Document = {
    "method": "cone",
    "nodes": [
        {
            "generators": [{"left": [1, 0], "right": {"size": 2, "entries": [[1, 1]]}, "weight": 1}],
            "next": [{"letter": {"output": "A"}, "node": 0, "multipliers": [[[0, "1/4"]]]}],
        }
    ],
    "starts": [{"left": {"a": 1}, "right": {"b": 1}, "node": 0, "multipliers": [[0, 1]]}],
}
WORD: Document = {
    "method": "word",
    "left": {"a": 1},
    "right": {"b": 1},
    "word": [{"output": "A", "left": None, "right": None}],
    "ending": "any",
    "left_probability": "3/4",
    "right_probability": "1/4",
}
EVENT: Document = {"method": "event", "left": {"a": 1}, "right": {"b": 1}, "words": [[{"output": "A"}]], "length": 1}
SEEDS = [
    certificate(CHAIN, CONE),
    certificate(CHAIN, ENUMERATION),
    certificate({**CHAIN, "delta": "1/2"}, ENUMERATION),
    certificate(CHAIN, WORD, "refuted"),
    certificate({**CHAIN, "delta": "1/9"}, EVENT, "refuted"),
    certificate(MACHINE, ENUMERATION),
    certificate({**MACHINE, "delta": "1/2"}, ENUMERATION),
    certificate(MACHINE, {"method": "tensors"}),
]

RELAXED = settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SMALL = Limits(words=2000, explored=2000, tensor=10_000, horizon=50)


@given(JSON)
@RELAXED
def test_an_arbitrary_document_never_raises(document: object) -> None:
    is_accepted(recheck(document, limits=SMALL))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, dict):
        return {k: changed(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    return [changed(v, path[1:], new) if i == path[0] else v for i, v in enumerate(value)]


@given(st.data())
@RELAXED
def test_a_changed_certificate_never_raises(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(paths(document))))
        document = changed(document, path, data.draw(JSON))
        if not isinstance(document, dict | list):
            break
    is_accepted(recheck(document, limits=SMALL))


@given(st.data())
@RELAXED
def test_many_products_at_once(data: st.DataObject) -> None:
    """Vectors in a stack are multiplied as they are one by one."""
    vectors = data.draw(
        st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 10**30), max_size=5), min_size=1, max_size=12)
    )
    row = st.dictionaries(st.integers(0, 5), st.integers(1, 10**20)).map(lambda entries: list(entries.items()))
    rows = data.draw(st.dictionaries(st.integers(0, 6), row))
    assert Stack(vectors, DenseMatrices()).after(rows) == [product(vector, rows) for vector in vectors]


@given(st.data())
@RELAXED
def test_no_evidence_proves_what_is_false(data: st.DataObject) -> None:
    """The ratio of the letter A is 3, so no cone whatever proves ln(29/10)."""
    question = {**CHAIN, "horizon": 1, "epsilon": "ln(29/10)"}
    del question["transitions"]
    question["scenario"] = {"pairs": CHAIN["scenario"]["pairs"]}
    vectors = st.lists(st.integers(0, 3), min_size=2, max_size=2)
    numbers = st.sampled_from([0, "1/4", "1/3", "1/2", 1, 2, 3, 4])
    listed = st.lists(st.tuples(st.integers(0, 1), numbers).map(list), max_size=2)
    whole = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12)).map(list), max_size=2)
    multipliers = listed | st.fixed_dictionaries({"over": st.integers(1, 12), "by": whole})
    generator = st.fixed_dictionaries({"left": vectors, "right": vectors})
    node = st.integers(0, 2)
    onward = [
        {"letter": {"output": o}, "node": data.draw(node), "multipliers": [data.draw(multipliers) for _ in range(2)]}
        for o in "AB"
    ]
    nodes = [{"generators": [data.draw(generator) for _ in range(2)], "next": onward} for _ in range(3)]
    starts = [
        {"left": {x: 1}, "right": {y: 1}, "node": data.draw(node), "multipliers": data.draw(multipliers)}
        for x, y in ("ab", "ba")
    ]
    assert not is_accepted(
        recheck(certificate(question, {"method": "cone", "nodes": nodes, "starts": starts}), limits=SMALL)
    )
