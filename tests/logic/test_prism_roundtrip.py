"""Random chains and decision processes, written and read again: the same process, in PRISM and in DRN."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.exact import rational
from privproof.logic.decision_process import Builder
from privproof.logic.formats.drn_files import parse_drn, write_drn
from privproof.logic.prism import explore, parse_prism, write_prism


@st.composite
def processes(draw, *, most_states=6):
    """A random process; in every state the choices of one action follow each other as a reader numbers them."""
    count = draw(st.integers(1, most_states))
    actions = draw(st.sampled_from([(), ("go",), ("tau", "tau#2", "go", "go#2")]))
    build = Builder(actions)
    for _ in range(count):
        own = [None] if not actions else draw(st.sampled_from([[0], list(range(len(actions)))]))
        for action in own:
            weights = draw(st.dictionaries(st.integers(0, count - 1), st.integers(1, 9), min_size=1, max_size=4))
            total = sum(weights.values())
            build.choice(action, [(t, rational(Fraction(w, total))) for t, w in weights.items()])
        build.state()
    subsets = st.lists(st.booleans(), min_size=count, max_size=count)
    labels = {
        label: np.array(draw(subsets), np.bool_) for label in draw(st.sets(st.sampled_from(["a", "b", "long one"])))
    }
    states = st.integers(0, count - 1)
    return build.process(
        names=[f"state {i}" for i in range(count)],
        labels=labels,
        initial=tuple(sorted(draw(st.sets(states)))),
        neighbours=tuple(draw(st.lists(st.tuples(states, states), max_size=4))),
    )


def said(process, numbers):
    """What a process says of its states under other numbers for them, whatever their order."""
    order = np.argsort(numbers)
    rows = [
        [
            (process.action(c), {int(numbers[t]): p for t, p in process.entries(c)})
            for c in range(process.choices[s], process.choices[s + 1])
        ]
        for s in order
    ]
    labels = {label: marks[order].tolist() for label, marks in process.labels.items() if label != "init"}
    initial = sorted(int(numbers[s]) for s in process.initial)
    related = sorted(tuple(sorted((int(numbers[a]), int(numbers[b])))) for a, b in process.related)
    return rows, labels, initial, related


@settings(max_examples=examples(150))
@given(process=processes())
def test_prism_gives_back_what_was_written(process):
    again = parse_prism(write_prism(process))
    assert again.is_chain == process.is_chain
    assert said(again, again.variables["s"]) == said(process, np.arange(len(process)))


@settings(max_examples=examples(150))
@given(process=processes())
def test_drn_gives_back_what_was_written(process):
    again = parse_drn(write_drn(process))
    carried = {label: marks for label, marks in process.labels.items() if marks.any()}
    rows, _, initial, related = said(process, np.arange(len(process)))
    assert said(again, np.arange(len(again))) == (
        rows, {label: marks.tolist() for label, marks in sorted(carried.items())}, initial, related
    )  # fmt: skip


_NUMBERS = st.recursive(
    st.sampled_from(["x", "y", "0", "1", "2", "0.5", "N"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(st.sampled_from(["floor", "ceil", "round"]), inner).map(lambda t: f"{t[0]}({t[1]}/2)"),
        inner.map(lambda t: f"-{t}"),
    ),
    max_leaves=6,
)
_CONDITIONS = st.recursive(
    st.one_of(
        st.tuples(_NUMBERS, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), _NUMBERS).map("".join),
        st.sampled_from(["b", "true", "false"]),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&", "|", "=>", "<=>"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"!{t}"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
    ),
    max_leaves=6,
)
_MODEL = explore(
    """
    dtmc const int N = 2;
    module m x : [-1..2]; y : [0..3]; b : bool; [] true -> true; endmodule
    init true endinit
    """
)


@settings(max_examples=examples(300))
@given(condition=_CONDITIONS)
def test_generated_code_computes_what_constants_compute(condition):
    found = _MODEL.satisfying(condition)
    for state in (0, 7, 18, 31):
        x, y, b = (int(_MODEL.process.variables[name][state]) for name in "xyb")
        text = f"dtmc const int N = 2; formula x = {x}; formula y = {y}; formula b = {str(bool(b)).lower()};"
        text += f'module m z : bool; [] true -> true; endmodule label "holds" = {condition};'
        assert bool(parse_prism(text).labels["holds"][0]) == bool(found[state]), (condition, x, y, b)
