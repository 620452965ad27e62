"""Storm as an oracle: exact probabilities of PCTL* formulas at every state of random and classical chains.

Storm 2.0 (the Python wheel ``stormpy``) is told the chain as a matrix of rationals and the formula in its own syntax, in which path
formulas have no ``->``, ``W`` and ``R``, and bounds only on a temporal operator right below P; `storm_text` writes the rest out.
D formulas, which Storm does not know, are computed from its probabilities and handed back as labels.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction

import pytest
from flint import fmpq
from tests.chains import (
    LABELS,
    Chain,
    Labels,
    process_of,
    random_chain,
    random_labels,
    random_path,
    random_state,
)

from privproof.engines.search_monitor import Monitor
from privproof.logic import chain_solving as chains
from privproof.logic.enclosed_processes import Enclosed
from privproof.logic.formulas import (
    And,
    Atom,
    Formula,
    Iff,
    Implies,
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
from privproof.logic.formulas.formula_syntax import direct_subformulas
from privproof.logic.formulas.sublogics import is_state_formula
from privproof.logic.model_checking import Checker
from privproof.logic.path_probabilities import normal
from privproof.logic.process_graphs import ProcessGraph

stormpy = pytest.importorskip("stormpy")
from stormpy import datastructures, models  # noqa: E402

pytestmark = pytest.mark.slow

EACH = int(os.environ.get("PRIVPROOF_STORM_CASES", "1000"))
"""How many random cases each of the random tests draws."""
EVERYWHERE = '"everywhere"'


# ------------------------------------------------------------------------------------------------------------ Storm


class Refused(Exception):
    """Storm does not answer."""


class Storm:
    """A chain in Storm."""

    def __init__(self, chain: Chain, labels: Mapping[str, set[int]], pairs: Sequence[tuple[int, int]] = ()) -> None:
        self.chain = chain
        self.pairs = pairs
        self.labels: Labels = {label: set(where) for label, where in labels.items()}
        entries = sum(map(len, chain))
        builder = datastructures.SparseMatrixBuilder[stormpy.Rational](
            rows=len(chain), columns=len(chain), entries=entries
        )
        for state, row in enumerate(chain):
            for target in sorted(row):
                p = row[target]
                builder.add_next_value(state, target, stormpy.Rational(f"{p.numerator}/{p.denominator}"))
        self.matrix = builder.build()
        self._model()

    def _model(self) -> None:
        labeling = models.StateLabeling(len(self.chain))
        labeling.add_label("init")
        labeling.add_label_to_state("init", 0)
        labeling.add_label("everywhere")
        for state in range(len(self.chain)):
            labeling.add_label_to_state("everywhere", state)
        for label, where in self.labels.items():
            labeling.add_label(label)
            for state in where:
                labeling.add_label_to_state(label, state)
        components = models.SparseModelComponents[stormpy.Rational](
            transition_matrix=self.matrix, state_labeling=labeling
        )
        self.model = models.SparseDtmc[stormpy.Rational](components)

    def probabilities(self, path: Formula) -> list[Fraction]:
        """The probability of a path formula from every state."""
        formula = f"P=? [ {storm_text(path, top=True)} ]"
        try:
            result = stormpy.model_checking(self.model, stormpy.parse_property(formula))
        except RuntimeError as problem:
            # Storm 2.0 builds some products with an automaton wrongly and then refuses them
            if "Invalid item count" in str(problem):
                raise Refused from None
            raise
        return [Fraction(str(value)) for value in result.get_value_vector()]

    def named(self, where: set[int]) -> Atom:
        """A new label on some states."""
        label = f"n{len(self.labels)}"
        self.labels[label] = where
        self._model()
        return Atom(label)

    def without_private(self, formula: Formula) -> Formula:
        """The formula with every D formula replaced by a label on the states where it holds, by the definition."""
        changed = {}
        for part in fields(formula):
            old = getattr(formula, part.name)
            if isinstance(old, tuple) and part.name == "parts":
                changed[part.name] = tuple(map(self.without_private, old))
            elif part.name in ("inner", "left", "right", "path"):
                changed[part.name] = self.without_private(old)
        formula = replace(formula, **changed) if changed else formula
        if not isinstance(formula, Private):
            return formula
        p = self.probabilities(formula.path)
        budget, share = formula.epsilon, Fraction(str(formula.delta))
        good = set(range(len(self.chain)))
        for s, t in self.pairs:
            for left, right in ((s, t), (t, s)):
                if not budget.allows(p[left], p[right], share):
                    good -= {s, t}
        return self.named(good)


def storm_text(formula: Formula, *, top: bool = False) -> str:
    """The formula as Storm reads it; bounds not right below P are written out by X."""

    def text(f: Formula) -> str:
        return storm_text(f)

    def until(left: str, right: str, bound: StepBound) -> str:
        low = bound.low.constant
        result = f"(({left}) U ({right}))" if bound.high is None else right
        for _ in range(0 if bound.high is None else bound.high.constant - low):
            result = f"(({right}) | (({left}) & (X ({result}))))"
        for _ in range(low):
            result = f"(({left}) & (X ({result})))"
        return f"({result})"

    match formula:
        case Truth(value):
            return EVERYWHERE if value else f"(!{EVERYWHERE})"  # Storm 2.0 takes !(true) in a path formula for a label
        case Atom(name):
            return f'"{name}"'
        case Not(inner):
            return f"(!{text(inner)})"
        case And(parts):
            return "(" + " & ".join(map(text, parts)) + ")"
        case Or(parts):
            return "(" + " | ".join(map(text, parts)) + ")"
        case Implies(left, right):
            return f"((!{text(left)}) | {text(right)})"
        case Iff(left, right):
            a, b = text(left), text(right)
            return f"(({a} & {b}) | ((!{a}) & (!{b})))"
        case NextState(inner, times):
            result = text(inner)
            for _ in range(times.constant):
                result = f"(X {result})"
            return result if not top else result.removeprefix("(").removesuffix(")") if times.constant else result
        case Unary(operator, inner, bound):
            plain = is_state_formula(inner)
            if top and plain and bound.high is not None and bound.low.constant == 0 and operator == "F":
                return f"F<={bound.high.constant} {text(inner)}"
            if bound == StepBound():
                return f"{operator} {text(inner)}" if top else f"({operator} {text(inner)})"
            if operator == "F":
                return until(EVERYWHERE, text(inner), bound)
            return f"(!{until(EVERYWHERE, f'!{text(inner)}', bound)})"
        case Until(operator, left, right, bound):
            a, b = text(left), text(right)
            plain = is_state_formula(left) and is_state_formula(right)
            if operator == "U" and top and plain and bound.high is not None and bound.low.constant == 0:
                return f"{a} U<={bound.high.constant} {b}"
            if operator == "U":
                return f"{a} U {b}" if top and bound == StepBound() else until(a, b, bound)
            if operator == "R":
                return f"(!{until(f'!{a}', f'!{b}', bound)})"
            return f"(!{until(f'!{b}', f'(!{a}) & (!{b})', bound)})"
        case Probable(within, path):
            assert within is not None
            inner = storm_text(path, top=True)
            bounds = []
            if within.low > 0 or not within.low_included:
                bounds.append(f"(P>{'=' if within.low_included else ''}{within.low} [ {inner} ])")
            if within.high < 1 or not within.high_included:
                bounds.append(f"(P<{'=' if within.high_included else ''}{within.high} [ {inner} ])")
            return "(" + " & ".join(bounds) + ")" if bounds else EVERYWHERE
    raise AssertionError(formula)


# ------------------------------------------------------------------------------------------------------------- ours


def fraction(number) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def exact(process, path: Formula) -> list[Fraction]:
    checker = Checker(process, Monitor())
    question = Probable(None, path)
    checker.truth(question)
    found = [checker.measured[question].least(s) for s in range(len(process))]
    assert all(between.exact for between in found)
    return [fraction(between.low) for between in found]


def enclosed(process, path: Formula) -> list[tuple[Fraction, Fraction]]:
    checker, leaves = Checker(process, Monitor()), {}
    small = normal(path, lambda inner: leaves.setdefault(inner, len(leaves)))
    truths = [checker.truth(inner) == 1 for inner in leaves]
    arithmetic = Enclosed(process.numbers, Monitor())
    graph = ProcessGraph(process.rows, process.targets, process.values)
    ball = chains.probabilities(graph, truths, small, arithmetic)
    return [tuple(map(fraction, arithmetic.bounds(ball, s))) for s in range(len(process))]


def agree(chain: Chain, labels: Labels, path: Formula) -> None:
    theirs = Storm(chain, labels).probabilities(path)
    process = process_of(chain, labels)
    assert exact(process, path) == theirs, str(path)
    for (low, high), value in zip(enclosed(process, path), theirs, strict=True):
        assert low <= value <= high, str(path)


def each(kind: str, block: int, test: Callable[[random.Random, Chain, Labels], None]) -> None:
    """Test one block of a tenth of the random cases of a kind."""
    refused = 0
    for number in range(block * EACH // 10, (block + 1) * EACH // 10):
        try:
            test(*drawn(kind, number))
        except Refused:
            refused += 1
    assert refused <= EACH // 100 + 2


def drawn(kind: str, number: int) -> tuple[random.Random, Chain, Labels]:
    source = random.Random(f"{kind} {number}")
    states = source.randint(2, 8)
    return source, random_chain(source, states), random_labels(source, states)


# ------------------------------------------------------------------------------------------------------- random chains


@pytest.mark.parametrize("block", range(10))
def test_linear_time_without_bounds(block):
    def test(source, chain, labels):
        agree(chain, labels, random_path(source, source.randint(1, 4), bounded=0))

    each("ltl", block, test)


@pytest.mark.parametrize("block", range(10))
def test_linear_time_with_bounds(block):
    def test(source, chain, labels):
        agree(chain, labels, random_path(source, source.randint(1, 3), bounded=0.5, longest=3))

    each("bounds", block, test)


@pytest.mark.parametrize("block", range(10))
def test_nested_probabilities(block):
    def test(source, chain, labels):
        agree(chain, labels, random_path(source, source.randint(1, 2), bounded=0.2, state=0.6))

    each("nested", block, test)


@pytest.mark.parametrize("block", range(10))
def test_one_operator_with_long_bounds(block):
    def test(source, chain, labels):
        agree(chain, labels, random_path(source, 1, bounded=0.7, longest=40))

    each("long", block, test)


@pytest.mark.parametrize("block", range(10))
def test_neighbours(block):
    def test(source, chain, labels):
        states = len(chain)
        drawn_pairs = [(source.randrange(states), source.randrange(states)) for _ in range(3)]
        pairs = [(s, t) for s, t in drawn_pairs if s != t] or [(0, 1)]
        inner = random_state(source, 1, private=True)
        outer = And((Not(inner), Atom(source.choice(LABELS)))) if source.random() < 0.5 else inner
        temporal = (NextState(outer), Unary("F", outer), Until("U", Atom("a"), outer), Unary("G", Unary("F", outer)))
        formula = replace(random_state(source, 0, private=True), path=source.choice(temporal))
        storm = Storm(chain, labels, pairs)
        label = storm.without_private(formula)
        truth = Checker(process_of(chain, labels, pairs), Monitor()).truth(formula)
        if isinstance(label, Atom):
            expected = [state in storm.labels[label.name] for state in range(states)]
        else:
            theirs = storm.probabilities(label.path)
            expected = [label.within.contains(fmpq(p.numerator, p.denominator)) for p in theirs]
        assert truth.tolist() == [int(holds) for holds in expected], str(formula)

    each("neighbours", block, test)


# ---------------------------------------------------------------------------------------------------- classical chains


def knuth_yao() -> tuple[Chain, Labels]:
    half = Fraction(1, 2)
    edges = [(1, 2), (3, 4), (5, 6), (1, 7), (8, 9), (10, 11), (2, 12)]
    chain: Chain = [{left: half, right: half} for left, right in edges]
    chain += [{s: Fraction(1)} for s in range(7, 13)]
    return chain, {f"d{k}": {6 + k} for k in range(1, 7)} | {"done": set(range(7, 13)), "start": {0}}


def gamblers_ruin(most: int, win: Fraction = Fraction(9, 19)) -> tuple[Chain, Labels]:
    chain: Chain = [{0: Fraction(1)}]
    chain += [{s - 1: 1 - win, s + 1: win} for s in range(1, most)]
    chain += [{most: Fraction(1)}]
    return chain, {"ruin": {0}, "rich": {most}, "even": {s for s in range(most + 1) if s % 2 == 0}}


def herman(size: int) -> tuple[Chain, Labels]:
    """Herman's ring: a process with a token keeps or passes it by a coin."""
    chain: Chain = []
    for bits in range(2**size):
        x = [bits >> i & 1 for i in range(size)]
        tokens = [i for i in range(size) if x[i] == x[i - 1]]
        row: dict[int, Fraction] = {}
        for coins in range(2 ** len(tokens)):
            y = [x[i - 1] for i in range(size)]
            for k, i in enumerate(tokens):
                y[i] = coins >> k & 1
            target = sum(bit << i for i, bit in enumerate(y))
            row[target] = row.get(target, Fraction(0)) + Fraction(1, 2 ** len(tokens))
        chain.append(row)
    count = [sum((b >> i & 1) == (b >> (i - 1) % size & 1) for i in range(size)) for b in range(2**size)]
    return chain, {
        "stable": {b for b, k in enumerate(count) if k == 1},
        "three": {b for b, k in enumerate(count) if k == 3},
    }


def birth_death(most: int) -> tuple[Chain, Labels]:
    chain: Chain = [{0: Fraction(2, 3), 1: Fraction(1, 3)}]
    for s in range(1, most):
        up, down = Fraction(1, 3 + s % 2), Fraction(1, 2)
        chain.append({s - 1: down, s: 1 - up - down, s + 1: up})
    chain.append({most - 1: Fraction(1)})
    return chain, {"empty": {0}, "full": {most}, "low": set(range(most // 3)), "odd": set(range(1, most + 1, 2))}


CLASSICAL = [
    *[(knuth_yao(), f"F d{k}") for k in range(1, 7)],
    (knuth_yao(), "F<=4 done"),
    (knuth_yao(), "F<=5 (done & !d1)"),
    (knuth_yao(), "(G F done) & !(F (d1 | d6))"),
    (knuth_yao(), "X X X (done & G !d3)"),
    (gamblers_ruin(50), "F ruin"),
    (gamblers_ruin(50), "F rich"),
    (gamblers_ruin(50), "F<=60 rich"),
    (gamblers_ruin(50), "(even -> X !even) U (ruin | rich)"),
    (gamblers_ruin(50), "(F (rich & X rich)) & G F even"),
    (gamblers_ruin(12), "!rich U[3,20] ruin"),
    (herman(3), "F stable"),
    (herman(5), "F stable"),
    (herman(5), "F<=6 stable"),
    (herman(5), "F G stable"),
    (herman(5), "three U (stable & X stable)"),
    (birth_death(30), "!full U empty"),
    (birth_death(30), "low U<=25 empty"),
    (birth_death(30), "(G F full) & G F empty"),
    (birth_death(12), "(F full) & ((odd -> X low) U empty)"),
    (birth_death(30), "F (full & F empty)"),
]


@pytest.mark.parametrize(("model", "text"), CLASSICAL, ids=[text for _, text in CLASSICAL])
def test_classical(model, text):
    chain, labels = model
    (path,) = direct_subformulas(parse_formula(f"P=? [ {text} ]"))
    agree(chain, labels, path)


def test_the_die_is_fair():
    process = process_of(*knuth_yao())
    for k in range(1, 7):
        assert exact(process, parse_formula(f"P=? [ F d{k} ]").path)[0] == Fraction(1, 6)
