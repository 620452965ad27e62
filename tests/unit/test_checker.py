"""The independent checker: hand-made certificates of every method, and the ones that must be rejected."""

from __future__ import annotations

import copy
import itertools
import json
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import spread
from tests.regression.checker_lines import counted, documented, documented_rules
from tests.structure import files_in, foreign, loadings

import privproof_checker as checker
from privproof_checker import Accepted, Limits, Outcome, Rejected, recheck, recheck_file
from privproof_checker.outcomes import Refusal
from privproof_checker.plain_documents import plain
from privproof_checker.rules import RULES

Document = dict[str, Any]

GEOMETRIC = {"0": ["2/3", "1/6", "1/6"], "1": ["1/3", "1/3", "1/3"], "2": ["1/6", "1/6", "2/3"]}


def certificate(question: Document, evidence: Document, verdict: str = "proved", **more: Any) -> Document:
    return {
        "format": "privproof-certificate",
        "version": 1,
        "verdict": verdict,
        "question": question,
        "evidence": evidence,
        **more,
    }


def accepted(outcome: Outcome) -> Accepted:
    assert isinstance(outcome, Accepted), outcome
    return outcome


def rejected(outcome: Outcome) -> Rejected:
    assert isinstance(outcome, Rejected), outcome
    assert outcome.place != "checker", outcome
    return outcome


# ----------------------------------------------------------------------------------------------------------- questions


def geometric(epsilon: str = "ln(2)", pairs: tuple[str, ...] = ("01", "12"), **more: Any) -> Document:
    """The truncated 1/2-geometric mechanism over 0, 1, 2, as a model without steps."""
    names = ("zero", "one", "two")
    return {
        "kind": "hmm",
        "states": list(names),
        "observations": ["0", "1", "2"],
        "emissions": {
            name: dict(zip("012", row, strict=True)) for name, row in zip(names, GEOMETRIC.values(), strict=True)
        },
        "scenario": {
            "pairs": [{"name": p, "left": {names[int(p[0])]: 1}, "right": {names[int(p[1])]: 1}} for p in pairs]
        },
        "horizon": 1,
        "epsilon": epsilon,
        **more,
    }


def response(epsilon: str, horizon: Any = "unbounded", stay: str = "3/5", **more: Any) -> Document:
    """A two-state chain seen through randomised response; the secret is the first state."""
    leave = str(1 - Fraction(stay))
    return {
        "kind": "hmm",
        "states": ["a", "b"],
        "observations": ["A", "B"],
        "transitions": {"a": {"a": stay, "b": leave}, "b": {"a": leave, "b": stay}},
        "emissions": {"a": {"A": "3/4", "B": "1/4"}, "b": {"A": "1/4", "B": "3/4"}},
        "scenario": {"pairs": [{"name": "first", "left": {"a": 1}, "right": {"b": 1}}]},
        "horizon": horizon,
        "epsilon": epsilon,
        **more,
    }


def noisy_max(count: int, epsilon: str, relation: str = "each", within: Any = 1, *, improved: bool = False) -> Document:
    """Noisy max over answers 0, 1, 2 with geometric noise; on ties the first wins, or a uniform one (improved)."""
    states = ["start"]
    steps: list[Document] = []
    reached: set[tuple[int, frozenset[int]]] = set()
    for i in range(count):
        sources = sorted(reached, key=str) if i else [None]
        step: Document = {}
        onward: set[tuple[int, frozenset[int]]] = set()
        for source in sources:
            table: Document = {}
            for value in "012":
                masses: dict[tuple[int, frozenset[int]], Fraction] = {}
                for noisy, probability in enumerate(GEOMETRIC[value]):
                    if source is None or noisy > source[0]:
                        target = (noisy, frozenset((i,)))
                    elif noisy == source[0] and improved:
                        target = (noisy, source[1] | {i})
                    else:
                        target = source
                    masses[target] = masses.get(target, Fraction(0)) + Fraction(probability)
                onward |= masses.keys()
                table[value] = [{"probability": str(p), "to": label(t)} for t, p in masses.items()]
            step["start" if source is None else label(source)] = table
        steps.append(step)
        reached = onward
        states += [label(t) for t in sorted(onward, key=str) if label(t) not in states]
    finish = {label(t): {f"i{i}": str(Fraction(1, len(t[1]))) for i in sorted(t[1])} for t in reached}
    return {
        "kind": "transducer",
        "states": states,
        "inputs": ["0", "1", "2"],
        "outputs": [f"i{i}" for i in range(count)],
        "initial": {"start": 1},
        "steps": steps,
        "finish": finish,
        "scenario": {"neighbours": {"relation": relation, "within": within}},
        "epsilon": epsilon,
    }


def label(target: tuple[int, frozenset[int]]) -> str:
    return f"{target[0]}:{','.join(str(i) for i in sorted(target[1]))}"


def above_threshold(epsilon: str, horizon: Any, **more: Any) -> Document:
    """Above threshold over 0, 1, 2 with a noisy threshold at 0: below until the first above, then it halts."""
    levels = ("t0", "t1", "t2")
    step: Document = {}
    for t, name in enumerate(levels):
        step[name] = {}
        for value in "012":
            above = sum(Fraction(p) for noisy, p in enumerate(GEOMETRIC[value]) if noisy >= t)
            branches = [{"probability": str(above), "to": "done", "output": "T"}]
            if above != 1:
                branches.append({"probability": str(1 - above), "to": name, "output": "B"})
            step[name][value] = branches
    return {
        "kind": "transducer",
        "states": [*levels, "done"],
        "inputs": ["0", "1", "2"],
        "outputs": ["T", "B"],
        "initial": dict(zip(levels, GEOMETRIC["1"], strict=True)),
        "steps": [step],
        "repeats": True,
        "scenario": {"neighbours": {"relation": "each", "within": 1}},
        "horizon": horizon,
        "epsilon": epsilon,
        **more,
    }


ENUMERATION = {"method": "enumeration"}
TENSORS = {"method": "tensors"}


# --------------------------------------------------------------------------------------------------------------- words


def word(left: str, right: str, outputs: str, p: str, q: str, **more: Any) -> Document:
    return {
        "method": "word",
        "left": {left: 1},
        "right": {right: 1},
        "word": [{"output": o} for o in outputs],
        "ending": "any",
        "left_probability": p,
        "right_probability": q,
        **more,
    }


def test_a_word_refutes() -> None:
    evidence = word("zero", "two", "0", "2/3", "1/6")
    outcome = accepted(recheck(certificate(geometric("ln(3)", ("02",)), evidence, "refuted")))
    assert outcome.verdict == "refuted"
    assert outcome.details["ratio"] == "4"
    reason = rejected(recheck(certificate(geometric("ln(4)", ("02",)), evidence, "refuted"))).reason
    assert "does not violate" in reason


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"left_probability": "2/5"}, "evidence.left_probability"),
        ({"right_probability": "1/7"}, "evidence.right_probability"),
        ({"left": {"one": 1}}, "evidence"),
        ({"left": {"two": 1}, "right": {"two": 1}}, "evidence"),
        ({"word": [{"output": "1"}]}, "evidence.left_probability"),
        ({"word": [{"output": "9"}]}, "evidence.word"),
        ({"word": []}, "evidence.word"),
        ({"word": [{"output": "0"}, {"output": "0"}]}, "evidence.word"),
        ({"word": [{"output": "0", "left": "0", "right": "0"}]}, "evidence.word"),
        ({"ending": "complete"}, "evidence.word"),
        ({"left": {"zero": 2, "one": -1}}, "evidence.left.one"),
        ({"left": {"zero": "1/2"}}, "evidence.left"),
        ({"left": {"nobody": 1}}, "evidence.left"),
        ({"method": "cone"}, "evidence.method"),
        ({"left_probability": 0.6}, "document"),
    ],
)
def test_a_word_that_says_something_else_is_rejected(change: Document, place: str) -> None:
    evidence = word("zero", "two", "0", "2/3", "1/6") | change
    assert rejected(recheck(certificate(geometric("ln(3)", ("02",)), evidence, "refuted"))).place == place


def test_both_directions_of_a_pair_are_compared_and_no_others() -> None:
    question = geometric("ln(3/2)")
    accepted(recheck(certificate(question, word("one", "two", "0", "1/3", "1/6"), "refuted")))
    accepted(recheck(certificate(question, word("two", "one", "2", "2/3", "1/3"), "refuted")))
    rejected(recheck(certificate(question, word("zero", "two", "0", "2/3", "1/6"), "refuted")))


def test_a_witness_shows_that_epsilon_is_attained() -> None:
    witness = word("zero", "one", "0", "2/3", "1/3")
    outcome = accepted(recheck(certificate(geometric("ln(2)"), ENUMERATION, witness=witness)))
    assert outcome.details["tight"] is True
    assert "no smaller one holds" in outcome.statement
    outcome = accepted(recheck(certificate(geometric("1"), ENUMERATION, witness=witness)))
    assert outcome.details["tight"] is False
    witness["left_probability"] = "1/3"
    assert (
        rejected(recheck(certificate(geometric("ln(2)"), ENUMERATION, witness=witness))).place
        == "witness.left_probability"
    )


def test_no_epsilon_at_all() -> None:
    question = {
        "kind": "markov-chain",
        "states": ["a", "b"],
        "labels": {"a": ["x", "w"], "b": []},
        "scenario": {"pairs": [{"left": {"a": 1}, "right": {"b": 1}}]},
        "horizon": 1,
        "epsilon": "inf",
    }
    evidence = {**word("a", "b", "", "1", "0"), "word": [{"output": "w,x"}]}
    assert accepted(recheck(certificate(question, evidence, "refuted"))).details["ratio"] == "infinite"
    assert "impossible on the right" in rejected(recheck(certificate(question, ENUMERATION))).reason


# -------------------------------------------------------------------------------------------------------------- events


def event(left: str, right: str, *words: str, **more: Any) -> Document:
    letters = [[{"output": o} for o in outputs] for outputs in words]
    return {"method": "event", "left": {left: 1}, "right": {right: 1}, "words": letters, **more}


def test_an_event_refutes() -> None:
    # P(AA) - Q(AA) + P(AB) - Q(AB) is the distance of the first letters: 1/2.
    question = response("0", 2, delta="499/1000")
    evidence = event("a", "b", "AA", "AB")
    outcome = accepted(recheck(certificate(question, evidence, "refuted")))
    assert (outcome.details["left_probability"], outcome.details["right_probability"]) == ("3/4", "1/4")
    rejected(recheck(certificate(response("0", 2, delta="1/2"), evidence, "refuted")))
    rejected(recheck(certificate(question, event("a", "b", "AA"), "refuted")))
    assert "same outputs" in rejected(recheck(certificate(question, event("a", "b", "AA", "AA"), "refuted"))).reason
    assert "no outcome" in rejected(recheck(certificate(question, event("a", "b", "AA", "A"), "refuted"))).reason
    pointwise = response("0", 2, delta="1/4", pointwise=True)
    assert "each output" in rejected(recheck(certificate(pointwise, evidence, "refuted"))).reason
    wrong = {**evidence, "left_probability": "4/5"}
    assert rejected(recheck(certificate(question, wrong, "refuted"))).place == "evidence.left_probability"


def test_the_adversary_of_an_event_decides_by_what_it_has_seen() -> None:
    question = above_threshold("0", 2, delta="1/100")
    first = {"output": "B", "left": "0", "right": "1"}
    good = [[first, {"output": "T", "left": "1", "right": "0"}], [first, {"output": "B", "left": "1", "right": "0"}]]
    evidence = {"method": "event", "left": question["initial"], "right": question["initial"], "words": good}
    accepted(recheck(certificate(question, evidence, "refuted")))
    bad = copy.deepcopy(evidence)
    bad["words"][1][1]["right"] = "1"
    assert "other inputs" in rejected(recheck(certificate(question, bad, "refuted"))).reason


def test_enumeration_proves_over_events() -> None:
    outcome = accepted(recheck(certificate(response("0", 2, delta="1/2"), ENUMERATION)))
    assert "over events" in outcome.statement
    assert "exceeds delta" in rejected(recheck(certificate(response("0", 2, delta="499/1000"), ENUMERATION))).reason
    accepted(recheck(certificate(response("0", 2, delta="9/20", pointwise=True), ENUMERATION)))


# --------------------------------------------------------------------------------------------------------------- cones


def unit(index: int, size: int) -> list[int]:
    return [int(i == index) for i in range(size)]


def geometric_cone(weights: bool = False) -> Document:
    """A start node for every ordered pair, and a node for what each output leaves; all inequalities are equalities."""
    nodes: list[Document] = []
    starts: list[Document] = []
    names = ("zero", "one", "two")
    for i, j in ((0, 1), (1, 0), (1, 2), (2, 1)):
        onward = []
        begin = {"left": unit(i, 3), "right": unit(j, 3)} | ({"weight": 1} if weights else {})
        starts.append({"left": {names[i]: 1}, "right": {names[j]: 1}, "node": len(nodes), "multipliers": [[0, "1"]]})
        nodes.append({"generators": [begin], "next": onward})
        for k in range(3):
            left = [int(6 * Fraction(GEOMETRIC[str(i)][k])) * entry for entry in unit(i, 3)]
            right = {"size": 3, "entries": [[j, int(6 * Fraction(GEOMETRIC[str(j)][k]))]]}
            onward.append({"letter": {"output": str(k)}, "node": len(nodes), "multipliers": [[[0, "1/6"]]]})
            generator = {"left": left, "right": right} | ({"weight": 6} if weights else {})
            nodes.append({"generators": [generator], "next": []})
    return {"method": "cone", "nodes": nodes, "starts": starts}


def test_a_cone_proves() -> None:
    outcome = accepted(recheck(certificate(geometric("ln(2)"), geometric_cone())))
    assert (outcome.details["nodes"], outcome.details["comparisons"]) == (16, 12)
    place = rejected(recheck(certificate(geometric("ln(199/100)"), geometric_cone()))).place
    assert place.endswith("generators[0]")
    accepted(recheck(certificate(geometric("ln(2)", delta="1/100"), geometric_cone())))


def test_a_cone_with_weights_proves_for_each_output() -> None:
    cone = geometric_cone(weights=True)
    accepted(recheck(certificate(geometric("ln(3/2)", delta="1/6", pointwise=True), cone)))
    rejected(recheck(certificate(geometric("ln(3/2)", delta="4/25", pointwise=True), cone)))
    missing = rejected(recheck(certificate(geometric("ln(3/2)", delta="1/6", pointwise=True), geometric_cone())))
    assert "needs a weight" in missing.reason
    over_events = geometric("ln(3/2)", delta="1/6")
    rejected(recheck(certificate(over_events, cone)))
    cone["nodes"][1]["generators"][0]["weight"] = 7
    rejected(recheck(certificate(geometric("ln(3/2)", delta="1/6", pointwise=True), cone)))


def closed_cone(question: Document, bound: int) -> Document:
    """A cone for words of every length, on a chain that both sides share.

    Exact vectors, a node each, until ``left <= bound * right`` in every state; from there on the generators
    ``(bound e_s, e_s)`` suffice, because a letter maps each of them to a non-negative combination of them.
    """
    states = question["states"]
    moves = [[Fraction(question["transitions"][s].get(t, 0)) for t in states] for s in states]
    shows = {o: [Fraction(question["emissions"][s].get(o, 0)) for s in states] for o in question["observations"]}
    size = len(states)
    matrices = {o: [[moves[i][j] * e[j] for j in range(size)] for i in range(size)] for o, e in shows.items()}
    diagonal = {o: [[e[i] * (i == j) for j in range(size)] for i in range(size)] for o, e in shows.items()}
    tail: Document = {
        "generators": [{"left": [bound * x for x in unit(s, size)], "right": unit(s, size)} for s in range(size)],
        "next": [
            {
                "letter": {"output": o},
                "node": 0,
                "multipliers": [[[t, str(m[s][t])] for t in range(size)] for s in range(size)],
            }
            for o, m in matrices.items()
        ],
    }
    nodes = [tail]

    def follow(left: list[Fraction], right: list[Fraction], first: bool) -> tuple[int, list[list[object]]]:
        if not first and all(x <= bound * y for x, y in zip(left, right, strict=True)):
            return 0, [[s, str(x / bound)] for s, x in enumerate(left)]
        scale = math.lcm(*(x.denominator for x in (*left, *right)))
        node: Document = {
            "generators": [{"left": [int(x * scale) for x in left], "right": [int(x * scale) for x in right]}],
            "next": [],
        }
        number = len(nodes)
        nodes.append(node)
        assert number < 100
        for o, m in (diagonal if first else matrices).items():
            after = [
                [sum((v[i] * m[i][j] * scale for i in range(size)), Fraction(0)) for j in range(size)]
                for v in (left, right)
            ]
            target, multipliers = follow(*after, first=False)
            node["next"].append({"letter": {"output": o}, "node": target, "multipliers": [multipliers]})
        return number, [[0, str(Fraction(1, scale))]]

    starts = []
    for pair in question["scenario"]["pairs"]:
        for one, other in ((pair["left"], pair["right"]), (pair["right"], pair["left"])):
            vectors = [[Fraction(side.get(s, 0)) for s in states] for side in (one, other)]
            node, multipliers = follow(*vectors, first=True)
            starts.append({"left": one, "right": other, "node": node, "multipliers": multipliers})
    return {"method": "cone", "nodes": nodes, "starts": starts}


def test_a_cone_proves_for_words_of_every_length() -> None:
    cone = closed_cone(response("0"), 4)
    for horizon in ("unbounded", "up to 5", 7):
        accepted(recheck(certificate(response("ln(4)", horizon), cone)))
    rejected(recheck(certificate(response("ln(379/100)"), cone)))


def over_common_denominator(multipliers: list[list[object]]) -> Document:
    numbers = [(index, Fraction(number)) for index, number in multipliers]
    over = math.lcm(1, *(number.denominator for _, number in numbers))
    return {"over": over, "by": [[index, int(number * over)] for index, number in numbers]}


def test_multipliers_over_a_common_denominator() -> None:
    cone = closed_cone(response("0"), 4)
    for node in cone["nodes"]:
        for onward in node["next"]:
            onward["multipliers"] = [over_common_denominator(row) for row in onward["multipliers"]]
    for start in cone["starts"]:
        start["multipliers"] = over_common_denominator(start["multipliers"])
    accepted(recheck(certificate(response("ln(4)"), cone)))
    rejected(recheck(certificate(response("ln(379/100)"), cone)))
    row = cone["nodes"][0]["next"][0]["multipliers"][0]
    good = dict(row)
    for bad in (
        {"over": 0},
        {"over": -row["over"]},
        {"over": str(row["over"])},
        {"over": row["over"] + 1},
        {"by": [[0, -1]]},
        {"by": [[99, 1]]},
        {"by": [[0, "1"]]},
        {"by": None},
        {"by": [[0]]},
    ):
        row.update(good)
        row.update(bad)
        assert "multipliers" in rejected(recheck(certificate(response("ln(4)"), cone))).place


def test_a_cone_whose_nodes_have_classes() -> None:
    """The states b and b2 behave alike; d is never left towards anything that counts, e is never reached."""
    question = response("ln(4)")
    cone = closed_cone(question, 4)
    question["states"] = ["a", "b", "b2", "d", "e"]
    question["transitions"] = {
        "a": {"a": "3/5", "b": "1/5", "b2": "1/5"},
        "b": {"a": "2/5", "b": "3/5"},
        "b2": {"a": "2/5", "b2": "3/5"},
        "d": {"d": 1},
        "e": {"a": 1},
    }
    question["emissions"] |= {"b2": question["emissions"]["b"], "d": {"C": 1}, "e": {"A": 1}}
    question["observations"] = ["A", "B", "C"]
    question["scenario"]["words"] = {"without": ["C"]}
    for node in cone["nodes"]:
        node["classes"] = {"left": [0, 1, 1, None, None], "right": [0, 1, 1, None, None]}
    accepted(recheck(certificate(question, cone)))
    rejected(recheck(certificate(question | {"epsilon": "ln(3)"}, cone)))
    for bad in (
        [0, 1, 0, None, None],
        [0, 1, None, None, None],
        [0, 1, 2, None, None],
        [0, 1, 1, None],
        [0, 1, 1, -1, None],
    ):
        for node in cone["nodes"]:
            node["classes"] = {"left": bad, "right": [0, 1, 1, None, None]}
        assert "classes" in rejected(recheck(certificate(question, cone))).place
    for node in cone["nodes"]:
        node["classes"] = {"left": [0, 1, 1, None, None], "right": [0, None, 1, None, None]}
    rejected(recheck(certificate(question, cone)))


def test_states_without_a_class_hold_nothing_that_counts() -> None:
    question = geometric("ln(2)")
    for nobody in range(3):
        cone = geometric_cone()
        for node in cone["nodes"]:
            node["classes"] = {"left": [0, 1, 2], "right": [0, 1, 2]}
        accepted(recheck(certificate(question, cone)))
        for node in cone["nodes"][1::4]:
            node["classes"]["left"][nobody] = None
        assert "without a class" in rejected(recheck(certificate(question, cone))).reason


def survey(epsilon: str) -> Document:
    """Randomised response to one question, as a transducer."""
    return {
        "kind": "transducer",
        "states": ["s", "yes", "no"],
        "inputs": ["yes", "no"],
        "outputs": ["Y", "N", "never"],
        "initial": {"s": 1},
        "steps": [
            {
                "s": {
                    "yes": [{"probability": "3/4", "to": "yes"}, {"probability": "1/4", "to": "no"}],
                    "no": [{"probability": "1/4", "to": "yes"}, {"probability": "3/4", "to": "no"}],
                }
            }
        ],
        "finish": {"yes": {"Y": 1}, "no": {"N": 1}},
        "scenario": {"neighbours": {"relation": "each", "within": "any"}},
        "epsilon": epsilon,
    }


def test_a_cone_for_each_output_by_itself() -> None:
    """For every output and every pair of inputs the mass of the one state that leads to the output."""
    mass = {("Y", "yes"): 3, ("Y", "no"): 1, ("N", "yes"): 1, ("N", "no"): 3}
    starts, nodes = [], []
    for output in ("Y", "N"):
        kept = [None, 0, None] if output == "Y" else [None, None, 0]
        onward: list[Document] = []
        starts.append(
            {"left": {"s": 1}, "right": {"s": 1}, "finish": output, "node": len(nodes), "multipliers": [[0, 1]]}
        )
        classes = {"left": [0, None, None], "right": [0, None, None]}
        nodes.append({"generators": [{"left": [1], "right": [1]}], "next": onward, "classes": classes})
        for left, right in itertools.product(("yes", "no"), repeat=2):
            letter = {"output": None, "left": left, "right": right}
            onward.append({"letter": letter, "node": len(nodes), "multipliers": [[[0, "1/4"]]]})
            generator = {"left": [mass[output, left]], "right": [mass[output, right]]}
            end = [{"letter": {"output": output}, "node": len(nodes) + 1, "multipliers": [[[0, 1]]]}]
            nodes.append({"generators": [generator], "next": end, "classes": {"left": kept, "right": kept}})
            nodes.append({"generators": [generator]})
    starts.append({"left": {"s": 1}, "right": {"s": 1}, "finish": "never", "node": 0, "multipliers": []})
    cone = {"method": "cone", "nodes": nodes, "starts": starts}
    accepted(recheck(certificate(survey("ln(3)"), cone)))
    rejected(recheck(certificate(survey("ln(299/100)"), cone)))
    for i in range(2):
        assert "no start" in rejected(recheck(certificate(survey("ln(3)"), without(cone, ("starts", i))))).reason
    accepted(recheck(certificate(survey("ln(3)"), without(cone, ("starts", 2)))))  # no word ends in this output
    swapped = replaced(cone, ("starts", 0, "finish"), "N")
    rejected(recheck(certificate(survey("ln(3)"), swapped)))
    rejected(recheck(certificate(survey("ln(3)"), replaced(cone, ("starts", 0, "finish"), "x"))))
    rejected(recheck(certificate(survey("ln(3)"), replaced(cone, ("starts", 0, "finish"), None))))


def parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a document."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from parts(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from parts(item, (*path, i))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    result = copy.deepcopy(value)
    at(result, path[:-1])[path[-1]] = new
    return result


def without(value: Any, path: tuple[Any, ...]) -> Any:
    result = copy.deepcopy(value)
    del at(result, path[:-1])[path[-1]]
    return result


_EXCHANGES = 200
"""So many of a thousand exchanges are tried in the suite, evenly over all parts: every kind of wrong value at many of them."""


def test_every_part_of_a_cone_is_needed() -> None:
    whole = certificate(geometric("ln(2)"), geometric_cone())
    exchanged = []
    for path in parts(whole["evidence"]):
        if not path or path[-1] == "next":
            continue
        found = at(whole["evidence"], path)
        cut = {**whole, "evidence": without(whole["evidence"], path)}
        if path[-2:] == ("generators", 0) or path[-1] != "weight":
            rejected(recheck(cut))
        if isinstance(found, int | str) and path[-1] not in ("method", "size"):
            others = (-1, "x", None, [], {}, 1.5, True, *((10**9,) if path[-1] == "node" else ()))
            exchanged += [(path, new) for new in others]
    for path, new in spread(exchanged, _EXCHANGES):
        rejected(recheck({**whole, "evidence": replaced(whole["evidence"], path, new)}))


def test_every_multiplier_of_an_exact_cone_is_the_only_one() -> None:
    whole = certificate(geometric("ln(2)"), geometric_cone())
    for path in parts(whole["evidence"]):
        found = at(whole["evidence"], path)
        if isinstance(found, str) and "multipliers" in path:
            for factor in (Fraction(999, 1000), Fraction(1001, 1000)):
                new = str(Fraction(found) * factor)
                rejected(recheck({**whole, "evidence": replaced(whole["evidence"], path, new)}))


def test_a_start_in_the_wrong_order_is_rejected() -> None:
    cone = geometric_cone()
    start = cone["starts"][0]
    start["left"], start["right"] = start["right"], start["left"]
    rejected(recheck(certificate(geometric("ln(2)"), cone)))
    cone = geometric_cone()
    del cone["starts"][0]
    assert "no start" in rejected(recheck(certificate(geometric("ln(2)"), cone))).reason
    cone = geometric_cone()
    cone["nodes"][0]["next"][0]["letter"]["output"] = "1"
    assert "two next entries" in rejected(recheck(certificate(geometric("ln(2)"), cone))).reason
    cone = geometric_cone()
    cone["nodes"][0]["next"][0]["letter"]["output"] = "9"
    assert "no next entry" in rejected(recheck(certificate(geometric("ln(2)"), cone))).reason


def test_a_generator_with_entries_below_zero_is_rejected() -> None:
    cone = geometric_cone()
    cone["nodes"][0]["generators"][0]["left"][2] = -1
    assert "below 0" in rejected(recheck(certificate(geometric("ln(2)"), cone))).reason


def test_a_cone_for_a_transducer() -> None:
    """Above threshold with one letter: exact vectors, a node for every letter."""
    question = above_threshold("ln(3)", 1)
    initial = [2, 2, 2, 0]
    onward, nodes = [], []
    for left, right in itertools.product("012", repeat=2):
        if abs(int(left) - int(right)) > 1:
            continue
        for output in "TB":
            vectors = []
            for value in (left, right):
                vector = [0, 0, 0, 0]
                for t, name in enumerate(("t0", "t1", "t2")):
                    for branch in question["steps"][0][name][value]:
                        if branch["output"] == output:
                            vector[3 if output == "T" else t] += int(6 * Fraction(branch["probability"]))
                vectors.append(vector)
            letter = {"output": output, "left": left, "right": right}
            onward.append({"letter": letter, "node": len(nodes) + 1, "multipliers": [[[0, "1/3"]]]})
            nodes.append({"generators": [{"left": vectors[0], "right": vectors[1]}]})
    cone = {
        "method": "cone",
        "nodes": [{"generators": [{"left": initial, "right": initial}], "next": onward}, *nodes],
        "starts": [
            {"left": question["initial"], "right": question["initial"], "node": 0, "multipliers": [[0, "1/6"]]},
        ],
    }
    accepted(recheck(certificate(question, cone)))
    rejected(recheck(certificate({**question, "epsilon": "ln(3/2)"}, cone)))
    rejected(recheck(certificate({**question, "horizon": 2}, cone)))
    question["scenario"]["neighbours"]["within"] = 2
    assert "no next entry" in rejected(recheck(certificate(question, cone))).reason


# --------------------------------------------------------------------------------------------- enumeration and tensors


@pytest.mark.parametrize("evidence", [ENUMERATION, TENSORS], ids=["enumeration", "tensors"])
@pytest.mark.parametrize(
    ("count", "relation", "improved", "ratio"),
    [
        (2, "each", False, "4"),
        (3, "each", False, "8"),
        (2, "each", True, "12/5"),
        (3, "each", True, "24/7"),
        (3, "one", False, "2"),
        (3, "one", True, "40/21"),
    ],
)
def test_noisy_max(count: int, relation: str, improved: bool, ratio: str, evidence: Document) -> None:
    accepted(recheck(certificate(noisy_max(count, f"ln({ratio})", relation, improved=improved), evidence)))
    less = Fraction(ratio) - Fraction(1, 10**6)
    rejected(recheck(certificate(noisy_max(count, f"ln({less})", relation, improved=improved), evidence)))


@pytest.mark.parametrize("relation", ["each", "one", "monotone"])
@pytest.mark.parametrize("within", [1, "3/2", 2, "any"])
@pytest.mark.parametrize("improved", [False, True])
def test_tensors_and_enumeration_agree(relation: str, within: Any, improved: bool) -> None:
    for tenth in range(10, 60, 3):
        question = noisy_max(2, f"ln({tenth}/10)", relation, within, improved=improved)
        by_tensors, by_words = (type(recheck(certificate(question, e))) for e in (TENSORS, ENUMERATION))
        assert by_tensors is by_words


def test_tensors_decide_an_irrational_bound() -> None:
    accepted(recheck(certificate(noisy_max(2, "1.3863"), TENSORS)))
    rejected(recheck(certificate(noisy_max(2, "1.3862"), TENSORS)))
    accepted(recheck(certificate(noisy_max(2, "inf"), TENSORS)))
    accepted(recheck(certificate(noisy_max(2, "ln(16)/2"), TENSORS)))
    rejected(recheck(certificate(noisy_max(2, "ln(15)/2"), TENSORS)))


def test_tensors_are_for_what_they_are_for() -> None:
    rejected(recheck(certificate(geometric("ln(2)"), TENSORS)))
    rejected(recheck(certificate(above_threshold("ln(16)", 3), TENSORS)))
    question = noisy_max(2, "ln(4)")
    question["scenario"] = {"neighbours": {"relation": "pairs", "pairs": [[["0", "1"], ["1", "1"]]]}}
    rejected(recheck(certificate(question, TENSORS)))
    accepted(recheck(certificate(question, ENUMERATION)))
    rejected(recheck(certificate(noisy_max(3, "ln(8)"), TENSORS), limits=Limits(tensor=80)))
    question = noisy_max(2, "ln(4)")
    question["steps"][0]["start"]["0"][0]["output"] = "i0"
    assert "at the end alone" in rejected(recheck(certificate(question, TENSORS))).reason


@pytest.mark.parametrize("length", [1, 2, 3])
def test_above_threshold_loses_a_factor_two_a_step(length: int) -> None:
    question = above_threshold(f"ln({2**length})", length)
    accepted(recheck(certificate(question, ENUMERATION)))
    less = Fraction(2**length) - Fraction(1, 1000)
    rejected(recheck(certificate(question | {"epsilon": f"ln({less})"}, ENUMERATION)))
    rejected(recheck(certificate(question | {"horizon": "unbounded"}, ENUMERATION), limits=Limits(words=2000)))


def test_enumeration_closes_an_unbounded_question_that_repeats() -> None:
    question = geometric("ln(2)", horizon="unbounded")
    names = question["states"]
    question["transitions"] = {name: {name: 1} for name in names}
    rejected(recheck(certificate({**question, "epsilon": "ln(1000)"}, ENUMERATION), limits=Limits(words=3000)))
    question["transitions"] = {name: {"one": 1} for name in names}
    accepted(recheck(certificate(question, ENUMERATION)))


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"kind": "mdp"}, "question.kind"),
        ({"states": []}, "question.states"),
        ({"states": ["zero", "one", "two", "two"]}, "question.states"),
        ({"states": "zero"}, "question.states"),
        ({"observations": ["0", "1"]}, "question.emissions.zero"),
        ({"transitions": {"zero": {"zero": "1/2"}}}, "question.transitions.zero"),
        ({"transitions": {"zero": {"nobody": 1}}}, "question.transitions.zero"),
        ({"transitions": {"nobody": {"zero": 1}}}, "question.transitions"),
        ({"epsilon": "-1"}, "question.epsilon"),
        ({"epsilon": "ln(1/2)"}, "question.epsilon"),
        ({"epsilon": "ln(0)"}, "question.epsilon"),
        ({"epsilon": "ln(2)/0"}, "question.epsilon"),
        ({"epsilon": "1/0"}, "question.epsilon"),
        ({"epsilon": "99999999"}, "question.epsilon"),
        ({"epsilon": None}, "question.epsilon"),
        ({"delta": 2}, "question.delta"),
        ({"delta": "-1/2"}, "question.delta"),
        ({"pointwise": 1}, "question.pointwise"),
        ({"horizon": 0}, "question.horizon"),
        ({"horizon": "up to 0"}, "question.horizon"),
        ({"horizon": True}, "question.horizon"),
        ({"horizon": 10**12}, "question.horizon"),
        ({"scenario": {}}, "question.scenario"),
        ({"scenario": None}, "question.scenario"),
        ({"scenario": {"pairs": []}}, "question.scenario"),
        ({"scenario": {"secrets": []}}, "question.scenario"),
        ({"unheard": 1}, "question"),
        ({"initial": {"zero": 1}}, "question"),
    ],
)
def test_a_question_that_is_none_is_rejected(change: Document, place: str) -> None:
    assert rejected(recheck(certificate(geometric("ln(2)") | change, ENUMERATION))).place == place


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": "other"}, "format"),
        ({"version": 2}, "version"),
        ({"version": True}, "version"),
        ({"version": "1"}, "version"),
        ({"verdict": "unknown"}, "verdict"),
        ({"verdict": ["proved"]}, "verdict"),
        ({"verdict": "refuted"}, "evidence.method"),
        ({"evidence": None}, "evidence"),
        ({"evidence": {"method": "trust"}}, "evidence.method"),
        ({"question": []}, "question"),
    ],
)
def test_a_certificate_that_is_none_is_rejected(change: Document, place: str) -> None:
    assert rejected(recheck({**certificate(geometric("ln(2)"), ENUMERATION), **change})).place == place


@pytest.mark.parametrize(
    "scenario",
    [
        {"neighbours": {"relation": "each", "within": 0}},
        {"neighbours": {"relation": "each", "within": "1/2"}},
        {"neighbours": {"relation": "none"}},
        {"neighbours": {"relation": "pairs", "pairs": []}},
        {"neighbours": {"relation": "pairs", "pairs": [[["0"], ["0", "1"]]]}},
        {"neighbours": {"relation": "pairs", "pairs": [[["0", "9"], ["0", "1"]]]}},
        {"neighbours": {"relation": "pairs", "pairs": [[["0", "1"], ["0", "1"]]]}},
        {"neighbours": {"relation": "each"}, "words": {"only": "i0"}},
        {"neighbours": {"relation": "each"}, "words": {"without": ["i0"]}},
        {"pairs": [{"left": {"start": 1}, "right": {"start": 1}}]},
        {"pairs": [{"left": {"start": 1}, "right": {"start": 1}, "only": "i0"}], "neighbours": {"relation": "each"}},
    ],
)
def test_a_transducer_scenario_that_compares_nothing_is_rejected(scenario: Document) -> None:
    question = {**noisy_max(2, "ln(1000)"), "scenario": scenario}
    rejected(recheck(certificate(question, ENUMERATION)))


def test_a_transducer_that_is_none_is_rejected() -> None:
    good = noisy_max(2, "ln(4)")
    rejected(recheck(certificate({**good, "horizon": 2}, ENUMERATION)))
    accepted(recheck(certificate({**good, "horizon": 3}, ENUMERATION)))
    rejected(recheck(certificate({**good, "repeats": True}, ENUMERATION)))
    rejected(recheck(certificate({**good, "inputs": ["0", "1", "2", "x"]}, ENUMERATION)))
    for path in [("steps", 1, "0:0"), ("finish", "0:0"), ("steps", 0, "start", "2"), ("steps", 0, "start", "2", 0)]:
        rejected(recheck(certificate(without(good, path), ENUMERATION)))
    rejected(recheck(certificate({**good, "steps": []}, ENUMERATION)))


def test_limits_are_named() -> None:
    whole = certificate(geometric("ln(2)"), geometric_cone())
    for name, limits in {
        "nodes": Limits(nodes=3),
        "generators": Limits(generators=3),
        "names": Limits(states=2),
        "ordered pairs": Limits(pairs=2),
        "combinations": Limits(explored=2),
        "values": Limits(values=20),
        "nested": Limits(depth=4),
        "steps": Limits(horizon=0),
    }.items():
        reason = rejected(recheck(whole, limits=limits)).reason
        assert "limit" in reason
        assert name in reason
    assert "limit" in rejected(recheck(certificate(geometric("ln(2)"), ENUMERATION), limits=Limits(words=3))).reason
    long = geometric("ln(2)", delta="0." + "0" * 50 + "1")
    assert "limit" in rejected(recheck(certificate(long, ENUMERATION), limits=Limits(digits=40))).reason


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    whole = json.dumps(certificate(geometric("ln(2)"), geometric_cone()))
    path.write_text(whole)
    accepted(recheck_file(path))
    for text in (
        whole[:-1],
        whole[: len(whole) // 2],
        "",
        "null",
        "[1]",
        whole.replace('"1/6"', "0.1666", 1),
        whole.replace('"version": 1', '"version": 1, "version": 1'),
        whole.replace('"version": 1', '"version": NaN'),
        whole.replace('"version": 1', '"version": 1e0'),
        whole.replace('"version": 1', '"version": ' + "1" * 200_000),
        "[" * 200_000,
        '{"a":' * 5000,
        whole + "x",
    ):
        path.write_text(text)
        rejected(recheck_file(path))
    path.write_bytes(b"\xff\xfe" + whole.encode())
    rejected(recheck_file(path))
    rejected(recheck_file(tmp_path / "missing.json"))
    rejected(recheck_file(tmp_path))
    path.write_text(whole)
    assert "limit" in rejected(recheck_file(path, limits=Limits(file_bytes=100))).reason


def test_documents_that_are_no_json_are_rejected() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for document in (endless, {1: 2}, {"a": {2}}, object(), {"a": (1,)}, {"a": b"x"}, float("nan"), None):
        rejected(recheck(document))


def test_a_document_holds_plain_values_of_few_digits() -> None:
    """Whole numbers that are too long are refused wherever they stand and whatever their sign, and nothing else is let in."""

    class Word(str):
        __slots__ = ()

    class Number(int):
        __slots__ = ()

    few = Limits(digits=40)
    long = 10**45
    for fine in (
        0,
        -(10**30),
        10**30,
        True,
        None,
        "x" * 1000,
        Word("x"),
        Number(7),
        [[1, [2, Number(-3)]], {"a": [Word("b")]}],
    ):
        plain(fine, few)
    for wrong in (
        long,
        -long,
        Number(long),
        [1, [2, "3", -long]],
        {"a": {"b": [long, None]}},
        [None, True, {"a": Number(-long)}],
    ):
        with pytest.raises(Refusal, match="digits"):
            plain(wrong, few)
    for wrong in (1.5, [0, 1.5], {"a": [float("nan")]}, {1: 2}, [b"x"], [(1, 2)], {"a": {1, 2}}, [Fraction(1, 2)]):
        with pytest.raises(Refusal):
            plain(wrong, few)
    with pytest.raises(Refusal, match="more values"):
        plain([[1, 2, 3], [4, 5]], Limits(values=6))
    with pytest.raises(Refusal, match="nested deeper"):
        plain([[[[]]]], Limits(depth=3))


def test_integers_of_many_digits_are_read(tmp_path: Path) -> None:
    cone = geometric_cone()
    text = json.dumps(certificate(geometric("ln(2)"), cone))
    large = "1" + "0" * 6000
    text = text.replace('{"left": [1, 0, 0]', f'{{"left": [{large}, 0, 0]', 1)
    path = tmp_path / "large.json"
    path.write_text(text)
    assert "cover" in rejected(recheck_file(path)).reason


# ---------------------------------------------------------------------------------------------------- its independence


def test_it_imports_nothing_else_of_the_package() -> None:
    """In all its modules, and in whatever way; none loads a solver, and five load numpy."""
    folder = Path(checker.__file__).parent
    assert {
        "front.py",
        "logic/state_truth.py",
        "programs/path_conditions.py",
        "release/release_checking.py",
        "streams/stream_checking.py",
    } <= set(files_in(folder))
    allowed = {*sys.stdlib_module_names, "flint"}
    arrays = {"numpy", "numpy.typing"}
    doors = {
        "release/rounded_laws.py": arrays,
        "logic/columns.py": arrays,
        "logic/column_bounds.py": arrays,
        "logic/monitors.py": arrays,
        "logic/query_columns.py": arrays,
    }
    assert foreign(folder, own="privproof_checker", allowed=allowed, doors=doors) == []
    assert {each.file for each in foreign(folder, own="privproof_checker", allowed=allowed, doors={})} == set(doors)


def test_it_starts_no_other_program() -> None:
    """What it says is established by its own code in its own process."""
    started = {"subprocess", "multiprocessing", "ctypes", "socket", "asyncio", "concurrent"}
    assert not [each for each in loadings(Path(checker.__file__).parent) if each.top in started]


def test_its_page_names_every_rule() -> None:
    """With the lines that it rests on; ``python -m tests.regression.checker_lines FOLDER`` writes the table anew."""
    assert documented_rules() == set(RULES)


def test_its_page_says_how_long_it_is() -> None:
    """About: within a twentieth, or a hundred lines; ``python -m tests.regression.checker_lines`` writes the table anew."""
    found, told = counted(), documented()
    assert set(found) == set(told)
    assert not {part for part, lines in found.items() if abs(lines - told[part]) > max(100, lines // 20)}
