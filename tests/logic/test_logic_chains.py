"""Path probabilities on random chains: against the definitions, under laws that any probability obeys, and floats against exact numbers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.chains import (
    LABELS,
    TooMany,
    enumerated,
    holds_on,
    joint,
    lasso,
    process_of,
    random_bound,
    random_chain,
    random_labels,
    random_path,
    random_state,
    steps_to_decide,
)

from privproof.engines.search_monitor import Monitor
from privproof.logic import chain_solving as chains
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.enclosed_processes import Enclosed
from privproof.logic.exact_solving import Exactly, TooLarge
from privproof.logic.formulas import (
    And,
    Atom,
    NextState,
    Not,
    Or,
    Private,
    Probable,
    StepBound,
    Truth,
    Unary,
    Until,
    parse_formula,
)
from privproof.logic.formulas.formula_syntax import Count
from privproof.logic.model_checking import Checker
from privproof.logic.path_probabilities import normal
from privproof.logic.process_graphs import ProcessGraph

MANY = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SOME = settings(MANY, max_examples=examples(60))
SEEDS = st.integers(0, 2**32)


def fraction(number) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def path_of(text):
    return parse_formula(f"P=? [ {text} ]").path


def between(process, path):
    """Bounds on the probability of a path formula from every state, as the checker reports them."""
    checker, question = Checker(process, Monitor()), Probable(None, path)
    checker.truth(question)
    return [tuple(map(fraction, checker.measured[question].least(s))) for s in range(len(process))]


def exact(process, path) -> list[Fraction]:
    found = between(process, path)
    assert all(low == high for low, high in found)
    return [low for low, _ in found]


def prepared(process, path):
    checker, leaves = Checker(process, Monitor()), {}
    small = normal(path, lambda inner: leaves.setdefault(inner, len(leaves)))
    truths = [checker.truth(inner) == 1 for inner in leaves]
    return ProcessGraph(process.rows, process.targets, process.values), truths, small


def enclosed(process, path):
    """Bounds in floating point with certified errors."""
    arithmetic = Enclosed(process.numbers, Monitor())
    ball = chains.probabilities(*prepared(process, path), arithmetic)
    low, high = arithmetic.ends(ball)
    found = []
    for s in range(len(process)):
        bottom, top = map(fraction, arithmetic.bounds(ball, s))
        found.append((max(bottom, Fraction(float(low[s]))), min(top, Fraction(float(high[s])))))
    return found


def drawn(seed, *, least=1, most=6, **kinds):
    source = random.Random(seed)
    states = source.randint(least, most)
    return source, random_chain(source, states, **kinds), random_labels(source, states)


def leaf_of(labels):
    return lambda formula, state: state in labels[formula.name]


# ------------------------------------------------------------------------------------------------ by the definitions


@MANY
@given(SEEDS)
def test_without_randomness_the_only_path_decides(seed):
    source, chain, labels = drawn(seed, deterministic=True)
    path = random_path(source, source.randint(1, 4))
    expected = [int(holds_on(path, *lasso(chain, s), leaf_of(labels))) for s in range(len(chain))]
    assert exact(process_of(chain, labels), path) == expected, str(path)


@MANY
@given(SEEDS)
def test_what_is_decided_in_finitely_many_steps_is_a_sum_over_paths(seed):
    source, chain, labels = drawn(seed, most=5)
    path = random_path(source, source.randint(1, 2), unbounded=False, longest=3)
    if steps_to_decide(path) > 6:
        return
    expected = [enumerated(chain, path, s, leaf_of(labels)) for s in range(len(chain))]
    assert exact(process_of(chain, labels), path) == expected, str(path)


@settings(MANY, max_examples=examples(400))
@given(SEEDS)
def test_all_truths_at_once(seed):
    source, chain, labels = drawn(seed)
    path = random_path(source, source.randint(1, 4), bounded=source.choice((0, 0.2)), longest=2)
    try:
        expected = joint(chain, path, leaf_of(labels), most=5)
    except TooMany:
        return
    assert exact(process_of(chain, labels), path) == expected, str(path)


@SOME
@given(SEEDS)
def test_nested_state_formulas_are_labels(seed):
    """P and D formulas inside, evaluated from the definitions and put back as labels."""
    source, chain, labels = drawn(seed, least=2)
    states = range(len(chain))
    pairs = sorted({tuple(sorted(source.sample(states, 2))) for _ in range(2)})
    process = process_of(chain, labels, pairs)
    inner = random_state(source, 2, private=True)
    try:
        p = joint(chain, inner.path, leaf_of(labels), most=4)
    except TooMany:
        return
    if isinstance(inner, Private):
        share = fraction(inner.delta)
        good = {
            s
            for s in states
            if all(
                inner.epsilon.allows(p[i], p[k], share) for pair in pairs if s in pair for i, k in (pair, pair[::-1])
            )
        }
    else:
        good = {s for s in states if inner.within.contains(fmpq(p[s].numerator, p[s].denominator))}
    checker = Checker(process, Monitor())
    assert set(np.flatnonzero(checker.truth(inner) == 1).tolist()) == good, str(inner)
    shapes = (
        lambda f: NextState(f),
        lambda f: Unary("F", And((f, NextState(Atom("b"))))),
        lambda f: Until("U", Atom("a"), f, random_bound(random.Random(seed), 3)),
        lambda f: Unary("G", Unary("F", Not(f))),
    )
    shape = source.choice(shapes)
    named = process_of(chain, {**labels, "inner": good}, pairs)
    assert exact(process, shape(inner)) == exact(named, shape(Atom("inner")))


CLOCKS_INSIDE = [
    "(X X c) & F (X X b)",
    "(X c) & G (a -> F<=2 b)",
    "(X X c) | G F<=2 b",
    "(F<=2 c) & F (a & F<=2 b)",
    "(X X X a) <-> ((a U X X b) U c)",
    "X (a U>=2 (b U>=1 c))",
    "(((b W c) U X a) W ((a U b) W X^3 a)) & X (c U<=2 (c | b))",
    "G<=3 (a | X F (b & X X c))",
]


@pytest.mark.parametrize("text", CLOCKS_INSIDE)
def test_clocks_inside_and_outside_unbounded_operators(text):
    """Progression must end although an unbounded operator winds up its inner clocks again at every step."""
    for seed in range(8):
        _, chain, labels = drawn(seed, least=2, most=4)
        path, process = path_of(text), process_of(chain, labels)
        try:
            expected = joint(chain, path, leaf_of(labels), most=6)
        except TooMany:
            expected = [1 - p for p in exact(process, Not(path))]
        assert exact(process, path) == expected, seed


# ------------------------------------------------------------------------------------------------------------- laws


@SOME
@given(SEEDS)
def test_laws_of_probability(seed):
    source, chain, labels = drawn(seed)
    process = process_of(chain, labels)
    f, g = (random_path(source, 2, bounded=0.3) for _ in range(2))
    p, q = exact(process, f), exact(process, g)
    assert [1 - x for x in p] == exact(process, Not(f))
    both, either = exact(process, And((f, g))), exact(process, Or((f, g)))
    assert [x + y for x, y in zip(p, q, strict=True)] == [x + y for x, y in zip(both, either, strict=True)]
    assert all(0 <= x <= y for x, y in zip(both, p, strict=True))
    assert exact(process, NextState(f)) == [sum(w * p[t] for t, w in row.items()) for row in chain]


@SOME
@given(SEEDS)
def test_equal_formulas_are_equally_likely(seed):
    source, chain, labels = drawn(seed)
    process = process_of(chain, labels)
    f, g = (random_path(source, 1, bounded=0.2) for _ in range(2))
    k = source.randint(0, 3)
    upto, after = StepBound(Count(), Count(k)), StepBound(Count(k))
    same = [
        (Until("U", f, g), Or((g, And((f, NextState(Until("U", f, g))))))),
        (Until("W", f, g), Or((Until("U", f, g), Unary("G", f)))),
        (Until("R", f, g), Not(Until("U", Not(f), Not(g)))),
        (Until("U", f, g), And((Until("W", f, g), Unary("F", g)))),
        (Until("W", f, g, upto), Or((Until("U", f, g, upto), Unary("G", f, upto)))),
        (Unary("F", Unary("G", f)), Not(Unary("G", Unary("F", Not(f))))),
        (Unary("F", f, after), NextState(Unary("F", f), Count(k))),
        (Unary("G", NextState(f)), NextState(Unary("G", f))),
        (
            Until("U", f, g, after),
            And((Unary("G", f, StepBound(Count(), Count(k - 1))), NextState(Until("U", f, g), Count(k)))),
        ),
        (Unary("F", f, upto), Until("U", Truth(True), f, upto)),
        (Unary("G", Unary("F", Unary("G", f))), Unary("F", Unary("G", f))),
    ]
    left, right = source.choice(same)
    assert exact(process, left) == exact(process, right), f"{left} and {right}"


@SOME
@given(SEEDS)
def test_bounded_until_grows_to_until(seed):
    _, chain, labels = drawn(seed)
    process = process_of(chain, labels)
    limit = exact(process, path_of("a U b"))
    before = [Fraction(0)] * len(chain)
    for k in (0, 1, 2, 5, 40, 300):
        now = exact(process, path_of(f"a U<={k} b"))
        assert all(x <= y <= z for x, y, z in zip(before, now, limit, strict=True))
        before = now
    assert all(z - y < Fraction(1, 50) for y, z in zip(before, limit, strict=True))


@SOME
@given(SEEDS)
def test_neither_order_nor_copies_of_states_matter(seed):
    source, chain, labels = drawn(seed)
    states = len(chain)
    path = random_path(source, 3, bounded=0.2)
    p = exact(process_of(chain, labels), path)
    order = source.sample(range(states), states)
    moved = [{order.index(t): w for t, w in chain[s].items()} for s in order]
    where = {label: {order.index(s) for s in found} for label, found in labels.items()}
    assert exact(process_of(moved, where), path) == [p[s] for s in order]
    # split a state in two halves
    victim, share = source.randrange(states), source.choice((Fraction(1, 2), Fraction(1, 5), Fraction(1)))
    split = []
    for row in [*chain, chain[victim]]:
        parts = dict(row)
        weight = parts.pop(victim, Fraction(0))
        parts |= {t: w for t, w in ((victim, weight * (1 - share)), (states, weight * share)) if w}
        split.append(parts)
    doubled = {label: found | ({states} if victim in found else set()) for label, found in labels.items()}
    assert exact(process_of(split, doubled), path) == [*p, p[victim]]


# ----------------------------------------------------------------------------------------------------------- floats


def contains(process, path) -> bool:
    """Whether the float enclosures contain the exact numbers; False where there are none."""
    values = chains.probabilities(*prepared(process, path), Exactly(process.numbers, Monitor()))
    try:
        with np.errstate(all="ignore"):
            bounds = enclosed(process, path)
    except TooLarge:
        return False
    for value, (low, high) in zip(map(fraction, values), bounds, strict=True):
        assert low <= value <= high, str(path)
    return True


@MANY
@given(SEEDS)
def test_enclosures_contain_the_exact_number(seed):
    source, chain, labels = drawn(seed)
    contains(process_of(chain, labels), random_path(source, source.randint(1, 4)))


@SOME
@given(SEEDS)
def test_enclosures_under_extreme_probabilities(seed):
    """Probabilities from 1e-400 to 1 - 1e-400, many successors, large components."""
    source = random.Random(seed)
    states = source.choice((2, 3, 5, 8, 40))
    chain = []
    for s in range(states):
        targets = source.sample(range(states), source.randint(1, min(states, source.choice((2, 3, 40)))))
        powers = [source.choice((0, 0, 0, 1, 5, 12, 15, 30, 100, 200, 310, 400)) for _ in targets]
        weights = [Fraction(source.randint(1, 9), 10**k) for k in powers]
        whole = {t: w / sum(weights) for t, w in zip(targets, weights, strict=True)}
        chain.append({s: Fraction(1)} if source.random() < 0.1 else whole)
    process = process_of(chain, random_labels(source, states))
    contains(process, random_path(source, source.randint(1, 3), bounded=0.2, longest=3))


@pytest.mark.parametrize("leak", ["1e-3", "1e-6", "1e-9", "1e-12", "1e-14", "1e-30"])
def test_enclosures_under_slow_mixing(leak):
    slow = Fraction(leak)
    stay = (1 - slow) / 2
    ring = [{(s + 1) % 20: stay, (s - 1) % 20: stay, 20 + s % 2: slow} for s in range(20)]
    chain = [*ring, {20: Fraction(1)}, {21: Fraction(1)}]
    labels = {"a": {20}, "b": {0, 5}, "c": set(range(20))}
    found = [
        contains(process_of(chain, labels), path_of(text)) for text in ("F a", "c U a", "(F a) & G F c", "F (b & X a)")
    ]
    assert all(found) or slow < Fraction(1, 10**10)


@pytest.mark.parametrize("width", [300, 1000])
def test_enclosures_with_hundreds_of_successors(width):
    source = random.Random(width)
    weights = [source.randint(1, 10**6) for _ in range(width)]
    first = {1 + i: Fraction(w, sum(weights)) for i, w in enumerate(weights)}
    chain = [first] + [{source.randrange(1 + width): Fraction(1, 3), 1 + i: Fraction(2, 3)} for i in range(width)]
    chain = [row if sum(row.values()) == 1 else {t: Fraction(1) for t in row} for row in chain]
    labels = random_labels(source, 1 + width)
    for text in ("F<=3 (a & b)", "X X a", "a U b", "(F (a & X b)) & F c"):
        assert contains(process_of(chain, labels), path_of(text))


def test_an_acyclic_chain_of_many_layers():
    source = random.Random(5)
    depth = 1000
    chain = [{s + 1: Fraction(999, 1000), depth: Fraction(1, 1000)} for s in range(depth - 1)]
    chain += [{depth: Fraction(1)}, {depth: Fraction(1)}]
    labels = {"a": {s for s in range(depth) if source.random() < 0.01}, "b": {depth - 1}, "c": {depth}}
    for text in ("F b", "F (a & X a)", "G F c", "!a U c"):
        assert contains(process_of(chain, labels), path_of(text))


# ------------------------------------------------------------------------------------- probabilities known only roughly


def loosened(source, chain, labels):
    """The chain with some probabilities given as enclosures around the true ones."""
    width = source.choice((Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 20), Fraction(1, 2)))
    rows = {}
    for s, row in enumerate(chain):
        rows[f"s{s}"] = {
            f"s{t}": p if source.random() < 0.4 else (p * (1 - width), min(Fraction(1), p * (1 + width)))
            for t, p in row.items()
        }
    plain = process_of(chain, labels)
    loose = DecisionProcess.of(states=list(plain.names), transitions=rows)
    carried = {label: np.array([s in where for s in range(len(chain))]) for label, where in labels.items()}
    return DecisionProcess(
        names=loose.names,
        choices=loose.choices,
        rows=loose.rows,
        targets=loose.targets,
        values=loose.values,
        numbers=loose.numbers,
        labels=carried,
    )


@MANY
@given(SEEDS)
def test_enclosed_models_contain_the_true_one(seed):
    source, chain, labels = drawn(seed)
    path = random_path(source, source.randint(1, 3), bounded=0.2, longest=2)
    try:
        values = joint(chain, path, leaf_of(labels), most=5)
    except TooMany:
        return
    process = loosened(source, chain, labels)
    ways = [between(process, path)]
    try:
        with np.errstate(all="ignore"):
            ways.append(enclosed(process, path))
    except TooLarge:
        pass
    for bounds in ways:
        for value, (low, high) in zip(values, bounds, strict=True):
            assert low <= value <= high, str(path)


def test_a_loop_that_may_be_certain_is_not_decided():
    """The enclosure of the loop reaches one: nothing is known of the way out, and nothing breaks."""
    process = DecisionProcess.of(
        states=["s", "t", "u"],
        transitions={"s": {"s": ("1/2", "1"), "t": ("1/100", "1/2"), "u": ("1/100", "1/4")}},
        labels={"t": "a"},
        self_loops=True,
    )
    low, high = between(process, path_of("F a"))[0]
    assert 0 <= low <= high <= 1
    truth = Checker(process, Monitor()).truth(parse_formula("P>=1/2 [ F a ]"))
    assert truth.tolist() == [-1, 1, 0]


def test_labels_are_as_they_are_drawn():
    """The random formulas use every label, and every operator is met."""
    met = " ".join(str(random_path(random.Random(seed), 4)) for seed in range(300))
    assert all(f" {sign}" in met for sign in ("X", "F", "G", "U", "W", "R", "->", "<->", "&", "|", *LABELS))
