"""Large processes are bounded by vectors: here small ones are too, and compared with exact numbers, entry by entry."""

from __future__ import annotations

import json
import random
from base64 import b64decode, b64encode
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from itertools import product as iterated
from math import prod
from zlib import compress, decompress

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy.sparse import csr_matrix
from tests.amounts import examples, selected
from tests.certificates import nested, recheck

from privproof import model_check
from privproof.engines.search_monitor import Monitor, Stopped
from privproof.exact import fraction
from privproof.logic import model_checking as checking
from privproof.logic import sparse_factors as factored
from privproof.logic.automaton_products import product
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.exact_solving import TooLarge
from privproof.logic.linear_recurrences import often_bounds
from privproof.logic.optimal_schedulers import least_and_most
from privproof.logic.prism import explore
from privproof.logic.query_vectors import UNITS, Columns
from privproof.logic.value_bounds import until_bounds
from privproof_checker import Accepted, Rejected

ENDLESS = ("U", ("leaf", 0), ("leaf", 1), 0, None)


def random_process(seed: int, *, chain: bool) -> DecisionProcess:
    source = random.Random(seed)
    names = [f"s{i}" for i in range(source.randint(2, 9))]
    actions = [] if chain else [f"x{i}" for i in range(source.randint(1, 3))]
    rows: dict[str, object] = {}
    for name in names:
        own = {}
        for action in source.sample(actions, source.randint(1, len(actions))) if actions else ["-"]:
            targets = source.sample(names, min(len(names), source.choice((1, 1, 1, 2, 2, 3))))
            parts = [source.choice((1, 1, 2, 3, 1000)) for _ in targets]
            own[action] = {t: Fraction(p, sum(parts)) for t, p in zip(targets, parts, strict=True)}
        rows[name] = own["-"] if chain else own
    labels = {name: [label for label in ("a", "b") if source.random() < 0.35] for name in names}
    labels["s0"], labels["s1"] = ["a"], ["b"]
    return DecisionProcess.of(
        states=names, actions=actions, transitions=rows, labels=labels, initial=["s0"], neighbours=[("s0", "s1")]
    )


@pytest.mark.parametrize("seed", selected(range(800), 60))
def test_vectors_enclose_the_exact_numbers(seed):
    process = random_process(seed, chain=seed % 4 == 0)
    source = random.Random(-seed)
    goal, stay = (np.array([source.random() < share for _ in range(len(process))]) for share in (0.25, 0.85))
    whole = product(process, [stay, goal], ENDLESS, range(len(process)), Monitor())
    least, most = least_and_most(whole, Monitor())
    for largest, exact in ((False, least), (True, most)):
        found = until_bounds(Columns(process), stay, goal, Monitor(), largest=largest)
        for s in range(len(process)):
            low, high = int(found.low.values[s]), int(found.high.values[s])
            assert low <= exact[whole.start[s]] * UNITS <= high
            assert high - low < UNITS * 1e-6


@pytest.mark.parametrize("seed", selected(range(2_000), 60))
def test_vectors_of_repetition_enclose_the_exact_numbers(seed):
    """Every policy is tried, in the chain of which bottom components decide."""
    drawn = (random_process(seed + 10_000 * again, chain=seed % 4 == 0) for again in range(100))
    process = next(each for each in drawn if prod(np.diff(each.choices).tolist()) <= 3_000)
    source = random.Random(-seed)
    often = np.array([source.random() < source.choice((0.15, 0.5)) for _ in range(len(process))])
    columns = Columns(process)
    values = [_often_exactly(process, policy, often) for policy in _policies(process)]
    for largest in (False, True):
        found = often_bounds(columns, often, Monitor(), largest=largest)
        for s in range(len(process)):
            exact = (max if largest else min)(value[s] for value in values)
            low, high = int(found.low.values[s]), int(found.high.values[s])
            assert low <= exact * UNITS <= high
            assert high - low < UNITS * 1e-6
            assert low == high or exact not in (0, 1)


def _policies(process: DecisionProcess) -> Iterator[tuple[int, ...]]:
    begins = process.choices.tolist()
    return iterated(*(range(first, last) for first, last in pairwise(begins)))


def _often_exactly(process: DecisionProcess, policy: tuple[int, ...], often: np.ndarray) -> list[fmpq]:
    """The probability of visiting states for ever, from every state of the chain of a policy."""
    size = len(process)
    rows = [dict(process.entries(choice)) for choice in policy]
    reach = np.eye(size, dtype=bool)
    for s, row in enumerate(rows):
        reach[s, list(row)] = True
    for _ in range(size):
        reach = reach @ reach
    bottom = [all(reach[t, s] for t in np.flatnonzero(reach[s])) for s in range(size)]
    won = [bottom[s] and bool(often[reach[s]].any()) for s in range(size)]
    matrix = fmpq_mat(size, size)
    for s, row in enumerate(rows):
        matrix[s, s] = fmpq(1)
        for t, p in row.items() if not bottom[s] else ():
            matrix[s, t] -= p
    solution = matrix.inv() * fmpq_mat(size, 1, [fmpq(int(w)) for w in won])
    return [solution[s, 0] for s in range(size)]


FORMULAS = (
    "P>={p} [ F a ]",
    "P>={p} [ G F a ]",
    "P<{p} [ F G a ]",
    "P<={p} [ X !G F a & b ]",
    "P>={p} [ F P>1/2 [ F G b ] ]",
    "P<{p} [ b U a ]",
    "P>1/4 [ G a ]",
    "P<={p} [ a W b ]",
    "P>={p} [ X b ]",
    "P>={p} [ F<=3 a & b ]",
    "P<={p} [ a U[1,3] b ]",
    "P>={p} [ X X F a & b ]",
    "P>={p} [ F P>=1/2 [ X a ] ]",
    "(P>={p} [ F a & b ]) | !P<{p} [ G !b ]",
)
PRIVATE = (
    "D[ln(2), {p}](G F a)",
    "D[0, {p}](F G !b)",
    "D[ln(2), {p}](F a & b)",
    "D[0, {p}](a U<=4 b)",
    "D[ln(3), 0](X b)",
)


@pytest.mark.parametrize("seed", selected(range(2_000), 30))
def test_verdicts_by_vectors_are_those_of_exact_numbers(seed, monkeypatch):
    chain = seed % 2 == 0
    process = random_process(seed, chain=chain)
    formulas = [*FORMULAS[seed % 3 :: 3], *(PRIVATE[seed % 2 :: 2] if chain else [])]
    for text in formulas:
        formula = text.format(p=("1/3", "1/2", "9/10", "1")[seed % 4])
        exact = model_check(process, formula)
        with monkeypatch.context() as patched:
            patched.setattr(checking, "LARGE", 0)
            found = model_check(process, formula)
        assert found.status == exact.status
        if found.in_columns:
            assert isinstance(recheck(json.loads(json.dumps(nested(found.certificate)))), Accepted)


def changed(column: dict[str, object], place: int, by: int) -> None:
    """Add to one number of a column, in place."""
    kind = np.dtype(f"<i{column['bits'] // 8}")
    numbers = np.frombuffer(decompress(b64decode(column["data"])), kind).astype(np.int64)
    numbers[place] += by
    column["bits"] = 64
    column["data"] = b64encode(compress(numbers.astype("<i8").tobytes())).decode()


def certified(monkeypatch: pytest.MonkeyPatch, process: DecisionProcess, formula: str) -> dict[str, object]:
    monkeypatch.setattr(checking, "LARGE", 0)
    found = model_check(process, formula)
    assert found.in_columns
    assert nested(found.certificate) is not None
    return json.loads(json.dumps(nested(found.certificate)))


def walk() -> DecisionProcess:
    """Two choices: one leads on, the other stays; from `far` the goal is reached with 1/2 at most."""
    return DecisionProcess.of(
        states=["far", "near", "goal", "lost"],
        actions=["go", "wait"],
        transitions={
            "far": {"go": {"near": 1}, "wait": {"far": 1}},
            "near": {"go": {"goal": "1/2", "lost": "1/2"}, "wait": {"near": "1/2", "far": "1/2"}},
            "goal": {"go": {"goal": 1}},
            "lost": {"go": {"lost": 1}},
        },
        labels={"goal": "goal"},
        initial=["far"],
    )


def test_a_scheduler_that_stays_for_ever_bounds_nothing_from_below(monkeypatch):
    """Waiting keeps any value: without ranks a bound from below would be accepted at every height."""
    document = certified(monkeypatch, walk(), "P<=3/4 [ F goal ]")
    untils = document["evidence"]["untils"][0]
    for state in (0, 1):
        changed(untils["most"]["low"]["values"], state, UNITS // 4)
        changed(untils["least"]["low"]["values"], state, UNITS // 4)
    document["question"]["formula"][1]["low"] = "3/5"
    assert isinstance(recheck(document), Rejected)


@pytest.mark.parametrize(
    ("side", "end", "name", "state", "by"),
    [
        ("most", "high", "values", 0, -1_000_000),
        ("most", "high", "values", 2, -1),
        ("most", "low", "values", 1, 1_000_000),
        ("most", "low", "values", 3, 1),
        ("most", "low", "ranks", 0, -10),
        ("most", "low", "policy", 0, 1),
        ("most", "low", "policy", 3, 1),
        ("least", "low", "values", 0, 1),
        ("least", "high", "policy", 1, -1),
    ],
)
def test_changed_vectors_are_rejected(monkeypatch, side, end, name, state, by):
    document = certified(monkeypatch, walk(), "P<=3/4 [ F goal ]")
    assert isinstance(recheck(document), Accepted)
    changed(document["evidence"]["untils"][0][side][end][name], state, by)
    assert isinstance(recheck(document), Rejected)


def rests() -> DecisionProcess:
    """Where a run may rest without the goal or with it; `far` gambles for the goal, which is left and come back to."""
    return DecisionProcess.of(
        states=["far", "goal", "back", "lost"],
        actions=["go", "wait"],
        transitions={
            "far": {"go": {"goal": "1/2", "lost": "1/2"}, "wait": {"far": 1}},
            "goal": {"go": {"back": 1}, "wait": {"back": "1/2", "lost": "1/2"}},
            "back": {"go": {"goal": "1/3", "back": "2/3"}, "wait": {"goal": 1}},
            "lost": {"go": {"lost": 1}},
        },
        labels={"goal": "goal"},
        initial=["far"],
    )


@pytest.mark.parametrize(
    ("side", "end", "name", "state", "by"),
    [
        ("most", "high", "values", 0, -1_000_000),
        ("most", "high", "values", 1, -1),
        ("least", "high", "falls", 1, -1_000),
        ("least", "high", "falls", 2, 1_000),
        ("least", "high", "falls", 0, -UNITS),
        ("most", "low", "values", 0, 1_000_000),
        ("most", "low", "values", 3, UNITS // 2),
        ("most", "low", "ranks", 2, -10),
        ("most", "low", "policy", 1, 1),
        ("least", "low", "values", 0, 1),
        ("least", "low", "values", 1, 1),
        ("least", "low", "values", 2, 1),
        ("least", "high", "policy", 1, -1),
    ],
)
def test_changed_vectors_of_repetition_are_rejected(monkeypatch, side, end, name, state, by):
    document = certified(monkeypatch, rests(), "P<=3/4 [ G F goal ]")
    assert isinstance(recheck(document), Accepted)
    changed(document["evidence"]["often"][0][side][end][name], state, by)
    assert isinstance(recheck(document), Rejected)


def flat(document: dict[str, object], values: list[int]) -> None:
    """Give all bounds from above the same values."""
    for side in ("least", "most"):
        bound = document["evidence"]["often"][0][side]["high"]
        for column in (bound["values"], bound.get("falls", {})):
            column["bits"], column["data"] = 64, b64encode(compress(np.array(values, "<i8").tobytes())).decode()


def test_a_bound_that_does_not_fall_bounds_no_repetition(monkeypatch):
    """Any constant is superharmonic: without the strict fall where the goal holds, 1/4 would be accepted for ``G F goal``."""
    document = certified(monkeypatch, rests(), "P<=3/4 [ G F goal ]")
    flat(document, [UNITS // 4] * 4)
    document["question"]["formula"][1]["high"] = "1/3"
    outcome = recheck(document)
    assert isinstance(outcome, Rejected)
    assert "does not fall" in str(outcome)


def test_evidence_about_repetition_says_nothing_about_reaching(monkeypatch):
    """``goal`` is reached from the start with 1 by waiting for it, and visited for ever with 1/2 at most."""
    document = certified(monkeypatch, rests(), "P<=3/4 [ G F goal ]")
    formula = document["question"]["formula"]
    for path in (
        formula[2][1],
        ["U", ["true"], ["label", "goal"], 0, None],
        ["not", ["U", ["label", "goal"], ["not", ["U", ["true"], ["label", "goal"], 0, None]], 0, None]],
        ["not", ["U", ["true"], ["not", ["U", ["true"], ["label", "goal"], 0, 1]], 0, None]],
        ["not", ["U", ["true"], ["not", ["U", ["true"], ["true"], 0, None]], 0, None]],
    ):
        asked = json.loads(json.dumps(document))
        asked["question"]["formula"][2] = path
        asked["question"]["formula"][1]["high"] = "3/4"
        assert isinstance(recheck(asked), Rejected)


def test_changed_processes_are_rejected(monkeypatch):
    base = json.dumps(certified(monkeypatch, walk(), "P<=3/4 [ F goal ]"))
    for key, place, by in (("which", 0, 1), ("targets", 0, 9), ("targets", 0, 2), ("lengths", 0, 1), ("choices", 0, 1)):
        document = json.loads(base)
        changed(document["question"]["process"][key], place, by)
        assert isinstance(recheck(document), Rejected)
    for change in (
        lambda process: process["numbers"].__setitem__(0, "2/3"),
        lambda process: process.update(count=5),
        lambda process: process["targets"].update(count=10**12),
        lambda process: process["targets"].update(data="AAAA"),
        lambda process: process["targets"].update(bits=7),
        lambda process: process.update(entries=-1),
        lambda process: process["labels"].clear(),
    ):
        document = json.loads(base)
        change(document["question"]["process"])
        assert isinstance(recheck(document), Rejected)


def test_a_bomb_is_not_unpacked(monkeypatch):
    document = certified(monkeypatch, walk(), "P<=3/4 [ F goal ]")
    document["question"]["process"]["which"]["data"] = b64encode(compress(bytes(50_000_000))).decode()
    assert isinstance(recheck(document), Rejected)


def test_long_denominators_are_left_to_exact_numbers(monkeypatch):
    """Beyond 2^36 no sum would fit into 64 bits: no vectors, and the same verdict as before."""
    process = DecisionProcess.of(
        states=["s", "goal", "lost"],
        transitions={
            "s": {"goal": Fraction(1, 2**40), "lost": 1 - Fraction(1, 2**40)},
            "goal": {"goal": 1},
            "lost": {"lost": 1},
        },
        labels={"goal": "goal"},
        initial=["s"],
    )
    goal = np.array([False, True, False])
    with pytest.raises(TooLarge):
        until_bounds(Columns(process), np.ones(3, np.bool_), goal, Monitor(), largest=False)
    monkeypatch.setattr(checking, "LARGE", 0)
    found = model_check(process, "P<=1/2 [ F goal ]")
    assert (found.status, found.in_columns) == ("proved", False)


GRID = """dtmc
const int N = 90;
module grid
 x : [0..N-1] init 0; y : [0..N-1] init 0;
 [] x<N-1 & y<N-1 -> 1/2:(x'=x+1) + 1/3:(y'=y+1) + 1/6:(x'=x+1)&(y'=y+1);
 [] x=N-1 & y<N-1 -> (y'=y+1);
 [] x<N-1 & y=N-1 -> (x'=x+1);
 [] x=N-1 & y=N-1 -> true;
endmodule
label "left" = x=N-1 & y<2*N/3;
//@ neighbours x=0&y=0 ~ x=0&y=1
"""


def test_a_large_chain_has_a_verdict():
    """24,000 transitions: today's bound on what the checker computes exactly without being asked is below it."""
    process = explore(GRID).process
    exact = model_check(process, "P=? [ F left ]", exact=True)
    value = fraction(next(iter(exact.measured.values())).least(0).low)
    found = model_check(process, f"P>={value - Fraction(1, 10**9)} [ F left ]")
    assert found.status == "proved"
    assert found.in_columns
    assert model_check(process, f"P>={value + Fraction(1, 10**9)} [ F left ]").status == "refuted"
    private = model_check(process, "D[ln(2), 0](F left)")
    assert private.status == "proved"
    assert private.in_columns
    at = model_check(process, f"P>={value} [ F left ]", certify=False)
    assert at.computed == "proved"  # what vectors leave open is computed exactly, as before


@pytest.mark.parametrize("seed", selected(range(200), 10))
def test_parts_that_are_iterated_are_enclosed_too(seed, monkeypatch):
    """Large parts are iterated first, and factored where that ends too late: here every part with a cycle is large."""
    monkeypatch.setattr(factored, "_SMALL", 1)
    monkeypatch.setattr(factored, "_ITERATED", 0)
    monkeypatch.setattr(factored, "_ITERATIONS", 100 if seed % 2 else 1)
    test_vectors_enclose_the_exact_numbers(seed)


def test_the_time_limit_is_kept_where_a_part_would_be_factored_for_long(monkeypatch):
    for name, value in (("_ITERATIONS", 1), ("_SECONDS", 1e12)):
        monkeypatch.setattr(factored, name, value)
    part = csr_matrix([[0, 0.5, 0.1], [0.3, 0, 0.5], [0.5, 0.2, 0]])
    with pytest.raises(Stopped):
        factored._Large(part, Monitor.within(0.05)).solve(np.array([1.0, 2.0, -1.0]))


# --- path formulas beside monitors ----------------------------------------------------------------

BESIDE = (
    "G (a -> F b)",
    "(G F a) & (G F b)",
    "F (a & X b)",
    "(G F a) -> (G F b)",
    "(F G a) | (G F (b & X a))",
    "G (a -> X b)",
    "(a U b) & (G F b)",
    "G (a -> F<=2 b)",
    "F G (a -> X a)",
    "(F a) & (G (b -> F a)) & !(F G b)",
    "(X a) U b",
    "G (a | F (b & F a))",
    "X (G (a -> F b))",
    "(a W b) | (G F a)",
    "(G F a) <-> (G F b)",
    "(X a) R b",
    "G ((a & X b) -> F (a & X !b))",
    "all k in 1..2: G (a -> F (b & X^k a))",
)


@pytest.mark.parametrize("seed", selected(range(2_000), 40))
def test_verdicts_beside_monitors_are_those_of_exact_numbers(seed, monkeypatch):
    process = random_process(seed, chain=True)
    path = BESIDE[seed % len(BESIDE)]
    bound = ("1/3", "1/2", "9/10")[seed % 3]
    for formula in (f"P>={bound} [ {path} ]", f"P<{bound} [ !({path}) ]", f"D[ln(2), {bound}]({path})"):
        exact = model_check(process, formula)
        with monkeypatch.context() as patched:
            patched.setattr(checking, "LARGE", 0)
            found = model_check(process, formula)
        assert found.status == exact.status
        if found.in_columns:  # otherwise the probability is the bound itself
            assert isinstance(recheck(json.loads(json.dumps(nested(found.certificate)))), Accepted)


def forks() -> DecisionProcess:
    """Three ends with 1/3 each: a and b in turn, a alone, and neither."""
    return DecisionProcess.of(
        states=["start", "a1", "b1", "a2", "none"],
        transitions={
            "start": {"a1": "1/3", "a2": "1/3", "none": "1/3"},
            "a1": {"b1": "1/2", "a1": "1/2"},
            "b1": {"a1": 1},
            "a2": {"a2": 1},
            "none": {"none": 1},
        },
        labels={"a1": "a", "a2": "a", "b1": "b"},
        initial=["start"],
    )


FORKED = (
    ("(G F a) -> (G F b)", "2/3"),
    ("G (a -> F b)", "2/3"),
    ("(G F a) & (G F b)", "1/3"),
    ("(F G a) | (G F b)", "2/3"),
    ("F (a & X b)", "1/3"),
)


def column_of(values: np.ndarray) -> dict[str, object]:
    data = b64encode(compress(values.astype("<i8").tobytes())).decode()
    return {"bits": 64, "count": len(values), "data": data}


def numbers_of(column: dict[str, object]) -> np.ndarray:
    kind = np.dtype(f"<i{column['bits'] // 8}")
    return np.frombuffer(decompress(b64decode(column["data"])), kind).astype(np.int64)


@pytest.mark.parametrize(("path", "value"), FORKED)
def test_no_change_of_the_evidence_makes_a_false_claim_accepted(monkeypatch, path, value):
    """What is claimed is false, below or above: all single changes, and many at once, are rejected."""
    for sign, beyond in ((">=", Fraction(value) + Fraction(1, 100)), ("<=", Fraction(value) - Fraction(1, 100))):
        document = certified(monkeypatch, forks(), f"P>=1/2 [ {path} ]")
        document["question"]["formula"][1].update(
            {"low": str(beyond), "high": "1"} if sign == ">=" else {"low": "0", "high": str(beyond)},
            low_included=True,
            high_included=True,
        )
        document["verdict"] = "proved"
        document["evidence"].pop("state", None)
        base = json.dumps(document)
        evidence = json.loads(base)["evidence"]["monitored"][0]
        source = random.Random(path)
        names = ["low", "high", "classes", "leaving", "letters"]
        for attempt in range(examples(600)):
            changed_one = json.loads(base)
            given = changed_one["evidence"]["monitored"][0]
            for name in source.sample(names, source.randint(1, 4)):
                numbers = numbers_of(given[name]).copy()
                if name in ("low", "high") and source.random() < 0.6:
                    numbers[:] = source.choice((0, UNITS, UNITS // 2)) if attempt % 2 else numbers
                    numbers[source.randrange(len(numbers)) :] = source.choice((0, UNITS))
                elif name == "classes" and source.random() < 0.5:
                    numbers[:] = source.randrange(-1, 1 << len(given["again"]))
                else:
                    place = source.randrange(len(numbers))
                    numbers[place] = source.choice((0, 1, 2, -1, UNITS))
                given[name] = column_of(numbers)
            if source.random() < 0.3:
                row = source.choice(given["steps"])
                row[source.randrange(len(row))] = source.randrange(len(given["steps"]))
            if source.random() < 0.3:
                given["again"] = [column_of(np.ones_like(numbers_of(each))) for each in evidence["again"]]
            assert isinstance(recheck(changed_one), Rejected)


@pytest.mark.parametrize(
    ("name", "by"),
    [("low", 1_000_000), ("high", -1_000_000), ("classes", 1), ("classes", -1), ("leaving", -100), ("again", -100)],
)
def test_changed_evidence_beside_monitors_is_rejected(monkeypatch, name, by):
    document = certified(monkeypatch, forks(), "P>=1/2 [ (G F a) -> (G F b) ]")
    assert isinstance(recheck(document), Accepted)
    base = json.dumps(document)
    outcomes = []
    for place in range(document["evidence"]["monitored"][0]["low"]["count"]):
        document = json.loads(base)
        given = document["evidence"]["monitored"][0]
        changed(given["again"][0] if name == "again" else given[name], place, by)
        outcomes.append(recheck(document))
    assert any(isinstance(outcome, Rejected) for outcome in outcomes)


def test_monitors_say_nothing_about_other_formulas(monkeypatch):
    document = certified(monkeypatch, forks(), "P>=1/2 [ (G F a) -> (G F b) ]")
    for path in (
        ["and", ["label", "a"], ["X", 1, ["label", "b"]]],
        ["U", ["label", "a"], ["not", ["U", ["true"], ["label", "b"], 0, None]], 0, None],
    ):
        asked = json.loads(json.dumps(document))
        asked["question"]["formula"][2] = path
        assert isinstance(recheck(asked), Rejected)
        asked["evidence"]["monitored"][0]["formula"] = path
        assert isinstance(recheck(asked), Rejected)
