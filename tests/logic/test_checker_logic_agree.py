"""The checker of dpCTL* against other methods on random small models, and on random documents."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product
from typing import Any

from flint import fmpq, fmpq_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof_checker.logic import check_logic
from privproof_checker.logic.decision_processes import ends, read_process, walk_of
from privproof_checker.logic.formulas import FormulaReader
from privproof_checker.logic.measures import Measure
from privproof_checker.logic.state_truth import Truth
from privproof_checker.outcomes import Accepted, Limits, Refusal
from privproof_checker.plain_documents import plain

# ---------------------------------------------------------------------------------- the oracle: refining the chain


class Refined:
    """Probabilities by splitting states (Courcoubetis and Yannakakis 1995): an innermost operator becomes a label."""

    def __init__(self, rows: list[dict[int, Fraction]], labels: dict[str, set[int]]) -> None:
        self.rows = rows
        self.truth = [{name: s in members for name, members in labels.items()} for s in range(len(rows))]
        self.copies = [[(s, Fraction(1))] for s in range(len(rows))]
        self.count = 0

    def probability(self, path: Any) -> list[Fraction]:
        done = self.reduce(unfolded(path))
        return [sum((w for c, w in copies if self.holds(done, c)), Fraction(0)) for copies in self.copies]

    def holds(self, formula: Any, s: int) -> bool:
        match formula:
            case ["true"]:
                return True
            case ["false"]:
                return False
            case ["label", name]:
                return self.truth[s][name]
            case ["not", f]:
                return not self.holds(f, s)
            case ["and", *parts]:
                return all(self.holds(f, s) for f in parts)
            case ["or", *parts]:
                return any(self.holds(f, s) for f in parts)
        raise AssertionError(formula)

    def reduce(self, path: Any) -> Any:
        """The formula with its temporal operators replaced by new labels."""
        match path:
            case ["not", f]:
                return ["not", self.reduce(f)]
            case ["and" | "or" as kind, *parts]:
                return [kind, *(self.reduce(f) for f in parts)]
            case ["X", f]:
                inner = self.reduce(f)
                goal = [self.holds(inner, s) for s in range(len(self.rows))]
                q = [sum((p for t, p in row.items() if goal[t]), Fraction(0)) for row in self.rows]
                return self.split(q, lambda s, t, sign: sign == goal[t], lambda s, t, sign, other: True)
            case ["U", f, g]:
                first, second = self.reduce(f), self.reduce(g)
                b = [self.holds(first, s) for s in range(len(self.rows))]
                c = [self.holds(second, s) for s in range(len(self.rows))]
                q = self.until(b, c)
                return self.split(
                    q, lambda s, t, sign: True, lambda s, t, sign, other: c[s] or not b[s] or sign == other
                )
        return path

    def until(self, b: list[bool], c: list[bool]) -> list[Fraction]:
        n = len(self.rows)
        reach = {s for s in range(n) if c[s]}
        while True:
            more = {s for s in range(n) if s not in reach and b[s] and any(t in reach for t in self.rows[s])}
            if not more:
                break
            reach |= more
        unknown = [s for s in range(n) if s in reach and not c[s]]
        result = [Fraction(int(c[s])) for s in range(n)]
        if unknown:
            number = {s: i for i, s in enumerate(unknown)}
            k = len(unknown)
            matrix, right = fmpq_mat(k, k), fmpq_mat(k, 1)
            for s, i in number.items():
                matrix[i, i] = 1
                for t, p in self.rows[s].items():
                    if t in number:
                        matrix[i, number[t]] = matrix[i, number[t]] - fmpq(p.numerator, p.denominator)
                    elif c[t]:
                        right[i, 0] = right[i, 0] + fmpq(p.numerator, p.denominator)
            solution = matrix.solve(right)
            for s, i in number.items():
                value = solution[i, 0]
                result[s] = Fraction(int(value.p), int(value.q))
        return result

    def split(self, q: list[Fraction], allowed: Any, paired: Any) -> Any:
        weight = {(s, sign): q[s] if sign else 1 - q[s] for s in range(len(q)) for sign in (True, False)}
        number: dict[tuple[int, bool], int] = {}
        for key, w in weight.items():
            if w > 0:
                number[key] = len(number)
        assume(len(number) <= 200)
        name = f"new{self.count}"
        self.count += 1
        rows: list[dict[int, Fraction]] = []
        for s, sign in number:
            row = {
                number[t, other]: p * weight[t, other]
                for t, p in self.rows[s].items()
                for other in (True, False)
                if (t, other) in number and allowed(s, t, sign) and paired(s, t, sign, other)
            }
            total = sum(row.values(), Fraction(0))
            rows.append({c: p / total for c, p in row.items()})
        self.truth = [{**self.truth[s], name: sign} for s, sign in number]
        self.copies = [
            [(number[c, sign], w * weight[c, sign]) for c, w in copies for sign in (True, False) if (c, sign) in number]
            for copies in self.copies
        ]
        self.rows = rows
        return ["label", name]


def unfolded(path: Any) -> Any:
    """The formula with single nexts and endless untils only."""
    match path:
        case ["not", f]:
            return ["not", unfolded(f)]
        case ["and" | "or" as kind, *parts]:
            return [kind, *(unfolded(f) for f in parts)]
        case ["X", k, f]:
            result = unfolded(f)
            for _ in range(k):
                result = ["X", result]
            return result
        case ["U", f, g, low, high]:
            if low == 0 and high is None:
                return ["U", unfolded(f), unfolded(g)]
            if high == 0:
                return unfolded(g)
            later = ["X", unfolded(["U", f, g, max(0, low - 1), None if high is None else high - 1])]
            on = ["and", unfolded(f), later]
            return on if low > 0 else ["or", unfolded(g), on]
    return path


# ----------------------------------------------------------------------------------------------- models and formulas

LABELS = ("a", "b", "c")


@st.composite
def rows_of(draw: Any, size: int, *, most: int = 3) -> dict[int, Fraction]:
    targets = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most, unique=True))
    weights = [draw(st.integers(1, 4)) for _ in targets]
    return {t: Fraction(w, sum(weights)) for t, w in zip(targets, weights, strict=True)}


@st.composite
def models(draw: Any, *, most: int = 3, largest: int = 5) -> tuple[list[dict[int, Fraction]], dict[str, set[int]]]:
    size = draw(st.integers(1, largest))
    rows = [draw(rows_of(size, most=most)) for _ in range(size)]
    return rows, {name: draw(st.sets(st.integers(0, size - 1))) for name in LABELS}


atoms = st.one_of(st.sampled_from([["label", name] for name in LABELS]), st.just(["true"]))


def windows(inner: Any) -> Any:
    bounds = st.sampled_from([(0, None), (0, None), (0, None), (1, None), (0, 1), (0, 2), (1, 2), (2, 2)])
    return st.builds(lambda f, g, w: ["U", f, g, *w], inner, inner, bounds)


paths = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda f: ["not", f], inner),
        st.builds(lambda kind, f, g: [kind, f, g], st.sampled_from(["and", "or"]), inner, inner),
        st.builds(lambda k, f: ["X", k, f], st.integers(1, 2), inner),
        windows(inner),
        st.builds(lambda f: ["U", ["true"], f, 0, None], inner),
        st.builds(lambda f: ["not", ["U", ["true"], ["not", f], 0, None]], inner),
    ),
    max_leaves=5,
)


def as_process(rows: list[dict[int, Fraction]], labels: dict[str, set[int]], neighbours: Any = ()) -> dict[str, Any]:
    return {
        "states": [f"s{i}" for i in range(len(rows))],
        "actions": [],
        "rows": [[[None, [[t, str(p)] for t, p in row.items()]]] for row in rows],
        "labels": {name: sorted(members) for name, members in labels.items()},
        "neighbours": [list(pair) for pair in neighbours],
    }


def measured(document: dict[str, Any], path: Any, *, by_product: bool = False) -> list[Fraction]:
    process = read_process(document, "process", Limits())
    formula = FormulaReader(process.names, process.labels, Limits()).path(path, "formula")
    measure = Measure(walk_of(process), Truth(process, Limits()).holds)
    found = (measure.by_product if by_product else measure.of)(formula, range(len(process.names)))
    result = []
    for s in range(len(process.names)):
        value = found[s]
        assert isinstance(value, fmpq)
        result.append(Fraction(int(value.p), int(value.q)))
    return result


def judge(document: Any) -> bool:
    """Whether a certificate is accepted; nothing but a refusal may be raised."""
    try:
        plain(document, Limits())
        return isinstance(check_logic(document["verdict"], document["question"], document, Limits()), Accepted)
    except Refusal:
        return False


def certificate(verdict: str, process: Any, formula: Any, states: list[int], **evidence: Any) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "question": {"kind": "logic", "process": process, "formula": formula, "states": states},
        "evidence": {"method": "logic", **evidence},
    }


# ----------------------------------------------------------------------------------------------------------- chains


@settings(max_examples=examples(300))
@given(models(), paths)
def test_chain_against_refinement(model: tuple[list[dict[int, Fraction]], dict[str, set[int]]], path: Any) -> None:
    rows, labels = model
    expected = Refined(rows, labels).probability(path)
    assert measured(as_process(rows, labels), path) == expected
    assert measured(as_process(rows, labels), path, by_product=True) == expected


@settings(max_examples=examples(150))
@given(models(most=1), paths)
def test_deterministic_chain(model: tuple[list[dict[int, Fraction]], dict[str, set[int]]], path: Any) -> None:
    """Every state has one path: the formula is evaluated on it, from the end of the longest useful prefix backwards."""
    rows, labels = model
    following = [next(iter(row)) for row in rows]

    def holds(formula: Any, s: int) -> bool:
        match formula:
            case ["true"]:
                return True
            case ["label", name]:
                return s in labels[name]
            case ["not", f]:
                return not holds(f, s)
            case ["and", f, g]:
                return holds(f, s) and holds(g, s)
            case ["or", f, g]:
                return holds(f, s) or holds(g, s)
            case ["X", k, f]:
                for _ in range(k):
                    s = following[s]
                return holds(f, s)
            case ["U", f, g, low, high]:
                for j in range((2 * len(rows) + low if high is None else high) + 1):
                    if j >= low and holds(g, s):
                        return True
                    if not holds(f, s):
                        return False
                    s = following[s]
                return False
        raise AssertionError(formula)

    assert measured(as_process(rows, labels), path) == [Fraction(int(holds(path, s))) for s in range(len(rows))]


@settings(max_examples=examples(100))
@given(models(), paths, st.sampled_from(["0", "ln(2)", "1/2", "ln(3)"]), st.sampled_from(["0", "1/3"]), st.data())
def test_private(model: Any, path: Any, epsilon: str, delta: str, data: Any) -> None:
    """Of proved and refuted exactly the right one is accepted."""
    rows, labels = model
    assume(len(rows) > 1)
    s, t = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2, unique=True))
    p = Refined(rows, labels).probability(path)
    factor = {"0": 1.0, "ln(2)": 2.0, "1/2": 1.6487212707001282, "ln(3)": 3.0}[epsilon]
    exact = Fraction(factor) if factor.is_integer() else Fraction(factor).limit_denominator(10**12)
    private = all(left <= exact * right + Fraction(delta) for left, right in ((p[s], p[t]), (p[t], p[s])))
    process = as_process(rows, labels, [(s, t)])
    formula = ["D", {"epsilon": epsilon, "delta": delta}, path]
    assert judge(certificate("proved", process, formula, [s])) == private
    assert judge(certificate("refuted", process, formula, [t, s], state=t)) == (not private)
    assert judge(certificate("proved", process, ["not", formula], [s, t])) == (not private)


@settings(max_examples=examples(100))
@given(models(), paths, st.integers(20, 60))
def test_enclosures_contain_the_value(model: Any, path: Any, width: int) -> None:
    rows, labels = model
    expected = Refined(rows, labels).probability(path)
    document = as_process(rows, labels)
    for row in document["rows"]:
        for entry in row[0][1]:
            p = Fraction(entry[1])
            if p < 1:
                entry[1] = [str(p * (1 - Fraction(1, 2**width))), str(p + (1 - p) * Fraction(1, 2**width))]
    process = read_process(document, "process", Limits())
    formula = FormulaReader(process.names, process.labels, Limits()).path(path, "formula")
    found = Measure(walk_of(process), Truth(process, Limits()).holds).of(formula, range(len(rows)))
    for s, value in enumerate(expected):
        ball = found[s]
        assert ball is not None
        low, high = (Fraction(int(end.p), int(end.q)) for end in ends(ball))
        assert low <= value <= high
        assert high - low < Fraction(1, 2 ** (width - 16))
        if value in (0, 1):
            assert low == high


# ------------------------------------------------------------------------------------------------ decision processes


@st.composite
def decision_models(draw: Any, *, all_actions: bool = False) -> tuple[Any, dict[str, set[int]]]:
    size = draw(st.integers(2, 4))
    count = [2 if all_actions else draw(st.integers(1, 2)) for _ in range(size)]
    rows = [[draw(rows_of(size, most=2)) for _ in range(k)] for k in count]
    return rows, {name: draw(st.sets(st.integers(0, size - 1))) for name in LABELS}


def as_decisions(rows: Any, labels: dict[str, set[int]], neighbours: Any = ()) -> dict[str, Any]:
    return {
        **as_process([choices[0] for choices in rows], labels, neighbours),
        "actions": ["L", "H"],
        "rows": [[[a, [[t, str(p)] for t, p in row.items()]] for a, row in enumerate(choices)] for choices in rows],
    }


present = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda f: ["not", f], inner),
        st.builds(lambda kind, f, g: [kind, f, g], st.sampled_from(["and", "or"]), inner, inner),
    ),
    max_leaves=2,
)


def probable(path: Any, low: Fraction, high: Fraction, *, included: bool = True) -> Any:
    return ["P", {"low": str(low), "low_included": True, "high": str(high), "high_included": included}, path]


@settings(max_examples=examples(120))
@given(decision_models(), present, present, st.booleans())
def test_endless_extremes(model: Any, left: Any, right: Any, negated: bool) -> None:
    """For an until between present formulas, schedulers without memory suffice: all of them are tried."""
    rows, labels = model
    path = ["U", left, right, 0, None]
    path = ["not", path] if negated else path
    values = [
        Refined([choices[i] for choices, i in zip(rows, picked, strict=True)], labels).probability(path)
        for picked in product(*(range(len(choices)) for choices in rows))
    ]
    process = as_decisions(rows, labels)
    for s in range(len(rows)):
        low, high = min(value[s] for value in values), max(value[s] for value in values)
        check_extremes(process, path, s, low, high)


def check_extremes(process: Any, path: Any, s: int, low: Fraction, high: Fraction) -> None:
    assert judge(certificate("proved", process, probable(path, low, high), [s]))
    assert judge(certificate("refuted", process, probable(path, low, high, included=False), [s], state=s))
    if low < high:
        middle = (low + high) / 2
        assert judge(certificate("refuted", process, probable(path, middle, high), [s], state=s))
        assert not judge(certificate("proved", process, probable(path, middle, high), [s]))


bounded = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda f: ["not", f], inner),
        st.builds(lambda kind, f, g: [kind, f, g], st.sampled_from(["and", "or"]), inner, inner),
        st.builds(lambda f: ["X", 1, f], inner),
        st.builds(lambda f, g, w: ["U", f, g, *w], inner, inner, st.sampled_from([(0, 1), (0, 2), (1, 2)])),
    ),
    max_leaves=4,
)


def depth(path: Any) -> int:
    match path:
        case ["not", f]:
            return depth(f)
        case ["and" | "or", f, g]:
            return max(depth(f), depth(g))
        case ["X", k, f]:
            return k + depth(f)
        case ["U", f, g, _, high]:
            return high + max(depth(f), depth(g))
    return 0


def on(path: Any, states: tuple[int, ...], labels: dict[str, set[int]]) -> bool:
    """The truth of a bounded formula on a long enough finite path."""
    match path:
        case ["true"]:
            return True
        case ["label", name]:
            return states[0] in labels[name]
        case ["not", f]:
            return not on(f, states, labels)
        case ["and", f, g]:
            return on(f, states, labels) and on(g, states, labels)
        case ["or", f, g]:
            return on(f, states, labels) or on(g, states, labels)
        case ["X", k, f]:
            return on(f, states[k:], labels)
        case ["U", f, g, low, high]:
            return any(
                on(g, states[j:], labels) and all(on(f, states[i:], labels) for i in range(j))
                for j in range(low, high + 1)
            )
    raise AssertionError(path)


@settings(max_examples=examples(120))
@given(decision_models(), bounded)
def test_bounded_extremes(model: Any, path: Any) -> None:
    """All histories are tried."""
    rows, labels = model
    steps = depth(path)
    assume(steps <= 4)

    def value(states: tuple[int, ...], best: Any) -> Fraction:
        if len(states) > steps:
            return Fraction(int(on(path, states, labels)))
        return best(  # type: ignore[no-any-return]
            sum((p * value((*states, t), best) for t, p in row.items()), Fraction(0)) for row in rows[states[-1]]
        )

    process = as_decisions(rows, labels)
    for s in range(len(rows)):
        check_extremes(process, path, s, value((s,), min), value((s,), max))


@settings(max_examples=examples(100))
@given(decision_models(all_actions=True), bounded, st.sampled_from([("0", 1), ("ln(2)", 2)]))
def test_bounded_private(model: Any, path: Any, budget: tuple[str, int]) -> None:
    """All sequences of actions are tried: the tree of all is accepted where the claim holds, a lasso where it fails."""
    rows, labels = model
    steps = depth(path)
    assume(steps <= 3)

    def value(states: tuple[int, ...], word: tuple[int, ...]) -> Fraction:
        if not word:
            return Fraction(int(on(path, states, labels)))
        return sum((p * value((*states, t), word[1:]) for t, p in rows[states[-1]][word[0]].items()), Fraction(0))

    words = list(product((0, 1), repeat=steps))
    process = as_decisions(rows, labels, [(0, 1)])
    formula = ["D", {"epsilon": budget[0], "delta": "0"}, path]
    violations = {
        (s, t): [w for w in words if value((s,), w) > budget[1] * value((t,), w)] for s, t in ((0, 1), (1, 0))
    }
    tree = {"kind": "tree", "words": [list(w) for w in words]}
    pairs = [{"left": s, "right": t, "how": tree} for s, t in violations]
    operators = [{"formula": formula, "pairs": pairs}]
    assert judge(certificate("proved", process, formula, [0, 1], operators=operators)) == (not any(violations.values()))
    for (s, t), found in violations.items():
        for w in words:
            how = {"kind": "lasso", "before": list(w), "repeated": [0]}
            evidence = [{"formula": formula, "pairs": [{"left": s, "right": t, "how": how}]}]
            assert judge(certificate("refuted", process, formula, [s], state=s, operators=evidence)) == (w in found)


# -------------------------------------------------------------------------------------------------- random documents

values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["", "L", "1/2", "1", "X", "true", "label", "a", "ln(2)", "D"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "low", "epsilon", "a"]), inner, max_size=2),
    max_leaves=6,
)  # fmt: skip

_PRIVATE: Any = ["D", {"epsilon": "ln(2)", "delta": "0"}, ["U", ["label", "a"], ["X", 1, ["label", "b"]], 0, 3]]
_LOGIC = [
    certificate(
        "proved",
        as_process([{0: Fraction(1, 2), 1: Fraction(1, 2)}, {1: Fraction(1)}], {"a": {0}, "b": {1}, "c": set()}, [(0, 1)]),
        ["or", ["P", {"low": "0", "low_included": True, "high": "1", "high_included": False}, ["label", "a"]], _PRIVATE],
        [1],
    ),
    certificate(
        "refuted",
        as_decisions([[{1: Fraction(1)}, {0: Fraction(1)}]] * 2, {"a": {0}, "b": {1}, "c": set()}, [(0, 1)]),
        _PRIVATE,
        [0, 1],
        state=0,
        operators=[
            {
                "formula": _PRIVATE,
                "pairs": [
                    {"left": 0, "right": 1, "how": {"kind": "lasso", "before": [0], "repeated": [1]}},
                    {"left": 1, "right": 0, "how": {"kind": "tree", "words": [[0], [1]]}},
                ],
            }
        ],
    ),
]  # fmt: skip


@settings(max_examples=examples(400))
@given(st.sampled_from(_LOGIC), st.lists(st.integers(0, 7), min_size=1, max_size=9), values)
def test_nonsense_is_refused(document: Any, steps: list[int], new: Any) -> None:
    """Anything put anywhere gives an answer: accepted or refused, never another error."""
    changed = copy.deepcopy(document)
    at = changed
    for i, step in enumerate(steps):
        keys: list[Any] = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = keys[step % len(keys)]
        if i + 1 == len(steps) or not isinstance(at[key], dict | list):
            at[key] = new
            break
        at = at[key]
    if isinstance(changed.get("question"), dict):
        judge(changed)
