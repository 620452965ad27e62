"""The checker of stream automata: certificates written by hand, and what must not be accepted."""

from __future__ import annotations

import itertools
import json
import math
import random
import time

import pytest

from privproof.exact import rational
from privproof_checker.outcomes import Accepted, Limits, Refusal, Rejected
from privproof_checker.plain_documents import plain
from privproof_checker.streams.cost_products import Products
from privproof_checker.streams.order_systems import Conflict, conflict
from privproof_checker.streams.shift_couplings import Kernels
from privproof_checker.streams.stream_automata import read_automaton
from privproof_checker.streams.stream_checking import check_stream
from privproof_checker.streams.stream_executions import Situation


def outcome(certificate):
    try:
        plain(certificate, Limits())
        return check_stream(certificate["verdict"], certificate["question"], certificate, Limits())
    except Refusal as refusal:
        return Rejected(refusal.reason, refusal.place)


def accepted(certificate):
    found = outcome(certificate)
    assert isinstance(found, Accepted), found
    return found


def rejected(certificate, words=""):
    found = outcome(certificate)
    assert isinstance(found, Rejected), found
    assert words in f"{found.place}: {found.reason}", found
    return found


def changed(certificate, *path, to):
    """The certificate with one place changed."""
    copied = json.loads(json.dumps(certificate))
    inner = copied
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = to
    return copied


def arrow(source, target, symbol, *, samples=(), guard=(), some=False, stores=None, values=()):
    return {
        "from": source,
        "to": target,
        "samples": [list(each) for each in samples],
        "guard": [list(each) for each in guard],
        "some": some,
        "stores": stores or {},
        "symbol": symbol,
        "values": [list(each) for each in values],
    }


def question(states, transitions, *, relation="each", within=1, epsilon="1", **more):
    return {
        "kind": "stream",
        "title": None,
        "states": states,
        "initial": states[0],
        "transitions": transitions,
        "relation": relation,
        "within": within,
        "epsilon": epsilon,
        **more,
    }


def proved(asked, *arenas, unit="1/4", **more):
    listed = [{"changes": list(changes), "nodes": nodes} for changes, nodes in arenas]
    evidence = {"method": "coupling", "unit": unit, "arenas": listed, **more}
    return {"verdict": "proved", "question": asked, "evidence": evidence}


def refuted(asked, **evidence):
    return {"verdict": "refuted", "question": asked, "evidence": evidence}


def node(state, *products, known=(), follows=None, **more):
    listed = [[{"names": list(names), "front": [list(v) for v in front]} for names, front in p] for p in products]
    after = {str(number): list(targets) for number, targets in (follows or {}).items()}
    return {"state": state, "known": [list(pair) for pair in known], "products": listed, "next": after, **more}


def constant(cost):
    return [((), [[cost]])]


def of_x(*costs):
    return [(("x",), [list(costs)])]


# -- above threshold --------------------------------------------------------------------------------------------------


QUERY = [("1/4", 1, 0)]
BELOW, ABOVE = [(0, "x", 0)], [("x", 0, 0)]


def above_threshold(**claim):
    transitions = [
        arrow("start", "run", "go", samples=[("1/2", 0, 0)], stores={"x": 0}),
        arrow("run", "run", "below", samples=QUERY, guard=BELOW),
        arrow("run", "end", "above", samples=QUERY, guard=ABOVE),
    ]
    return question(["start", "run", "end"], transitions, **claim)


def sparse_vector(**claim):
    """Above threshold that goes on for ever."""
    asked = above_threshold(**claim)
    asked["transitions"][2]["to"] = "run"
    return asked


def of_above_threshold(**claim):
    nodes = [
        node("start", constant(0), follows={0: [1]}),
        node("run", of_x(None, None, 2), follows={1: [1], 2: [2]}),
        node("end", constant(4)),
    ]
    return proved(above_threshold(**claim), ((-1, 1), nodes))


def monotone_arenas():
    for changes, run, last in (((0, 1), (None, None, 2), 3), ((-1, 0), (None, 0, 2), 1)):
        nodes = [
            node("start", constant(0), follows={0: [1]}),
            node("run", of_x(*run), follows={1: [1], 2: [2]}),
            node("end", constant(last)),
        ]
        yield changes, nodes


def of_one():
    nodes = [
        node("start", constant(0), follows={0: [1]}, changed=False),
        node("run", of_x(None, 0, 2), follows={1: [1, 2], 2: [3, 4]}, changed=False),
        node("run", of_x(None, 1, 2), follows={1: [2], 2: [4]}, changed=True),
        node("end", constant(0), changed=False),
        node("end", constant(1), changed=True),
    ]
    return proved(above_threshold(relation="one", epsilon="1/4"), ((-1, 1), nodes))


def attained(*segments):
    return {"segments": [{"steps": [list(move) for move in moves], "times": times} for moves, times in segments]}


def test_above_threshold():
    found = accepted(of_above_threshold())
    assert found.details["cost"] == "1"
    assert "at most 1" in found.statement
    accepted(of_above_threshold(delta="1/100"))
    accepted(of_above_threshold(epsilon="ln(3)"))
    accepted(of_above_threshold(epsilon="inf"))
    rejected(of_above_threshold(epsilon="1/2"), "exceeds")
    rejected(of_above_threshold(epsilon="ln(2.7)"), "exceeds")
    rejected(of_above_threshold(within=2), "not covered")
    rejected(of_above_threshold(relation="monotone"), "extreme differences")


def leaves(value, path=()):
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in items:
            yield from leaves(inner, (*path, name))
    else:
        yield path, value


def test_tampering_with_any_number_is_refused():
    certificate = of_above_threshold()
    tampered = 0
    for path, value in leaves(certificate["evidence"], ("evidence",)):
        others = {int: lambda v: [v - 1, v + 1, True, "x"], type(None): lambda v: [7, -1], bool: lambda v: [not v, 0]}
        for other in others.get(type(value), lambda v: ["1/2", "1/8", 0, "nonsense", None])(value):
            rejected(changed(certificate, *path, to=other))
            tampered += 1
    assert tampered > 50
    for path, value in leaves(of_one()["evidence"], ("evidence",)):
        if type(value) is int:
            rejected(changed(of_one(), *path, to=value - 1))


def test_shapes_that_are_refused():
    good = of_above_threshold()
    nodes = ("evidence", "arenas", 0, "nodes")
    rejected(changed(good, *nodes, 1, "next", to={"1": [1]}), "no successor")
    rejected(changed(good, *nodes, 1, "next", to={"1": [1], "2": []}), "no successor")
    rejected(changed(good, *nodes, 1, "next", to={"1": [1], "2": [2], "0": [1]}), "does not leave")
    rejected(changed(good, *nodes, 1, "next", to={"1": [1], "02": [2]}), "no successor")
    rejected(changed(good, *nodes, 1, "products", to=[]), "not covered")
    rejected(changed(good, *nodes, 1, "products", 0, to=[]), "does not name")
    rejected(changed(good, *nodes, 1, "products", 0, 0, "front", to=[]), "empty")
    rejected(changed(good, *nodes, 1, "products", 0, 0, "names", to=["y"]), "not covered")
    rejected(changed(good, *nodes, 1, "products", 0, 0, "names", to=["x", "x"]), "different names")
    rejected(changed(good, *nodes, 1, "known", to=[["x", "y"]]), "does not follow")
    rejected(changed(good, *nodes, 0, "known", to=[["x", "x"]]), "not the beginning")
    rejected(changed(good, *nodes, 0, "state", to="run"), "not the beginning")
    rejected(changed(good, *nodes, 0, "products", to=[of_x(0, 0, 0)]))
    rejected(changed(good, *nodes, to=[]), "no node")
    rejected(changed(good, "evidence", "arenas", to=[]), "arenas")
    rejected(changed(good, "evidence", "unit", to="1/3"), "whole")
    rejected(changed(good, "evidence", "method", to="loss"), "no evidence")
    rejected(changed(good, "question", "kind", to="program"))
    rejected(changed(good, *nodes, 2, "products", 0, 0, "front", to=[[None]]), "infinite")
    forgotten = changed(good, *nodes, 1, "products", to=[[{"names": [], "front": [[4]]}]])
    rejected(forgotten, "does not name")


def test_a_product_stands_for_all_its_vectors():
    good = of_above_threshold()
    front = ("evidence", "arenas", 0, "nodes", 1, "products", 0, 0, "front")
    accepted(changed(good, *front, to=[[None, None, 2], [2, 0, 2]]))
    rejected(changed(good, *front, to=[[None, None, 2], [None, None, 3]]))
    accepted(changed(good, "evidence", "arenas", 0, "nodes", 1, "products", to=[
        [{"names": ["x"], "front": [[None, None, 1]]}, {"names": [], "front": [[1]]}],
    ]))  # fmt: skip


def test_relations():
    accepted(of_one())
    rejected(changed(of_one(), "question", "epsilon", to="1/5"), "exceeds")
    rejected(changed(of_one(), "question", "relation", to="each"), "change is noted")
    asked = above_threshold(relation="monotone", epsilon="3/4")
    both = proved(asked, *monotone_arenas())
    accepted(both)
    accepted(proved(asked, *reversed(list(monotone_arenas()))))
    rejected(changed(both, "question", "epsilon", to="2/3"), "exceeds")
    rejected(changed(both, "question", "relation", to="each"), "extreme differences")
    for arena in monotone_arenas():
        rejected(proved(asked, arena), "arenas")
        rejected(proved(asked, arena, arena), "arenas")


def test_an_epsilon_that_is_attained():
    good = of_above_threshold()
    good["evidence"]["attained"] = attained(([(0, 0)], 1), ([(1, 1)], 3), ([(2, -1)], 1))
    found = accepted(good)
    assert found.details["tight"]
    assert "no smaller epsilon" in found.statement
    assert not accepted(changed(good, "question", "delta", to="1/10")).details["tight"]
    rejected(changed(good, "question", "epsilon", to="2"), "less than epsilon")
    for wrong in (
        attained(([(0, 0)], 1), ([(1, 1)], 2), ([(2, -1)], 1)),
        attained(([(0, 0)], 1), ([(1, -1)], 3), ([(2, -1)], 1)),
        attained(([(0, 1)], 1), ([(1, 1)], 3), ([(2, -1)], 1)),
        attained(([(0, 0)], 1), ([(1, 1)], 3), ([(2, -2)], 1)),
        attained(([(0, 0)], 1), ([(1, 1)], 3), ([(2, -1)], 2)),
        attained(([(0, 0)], 1), ([(1, 1)], 0), ([(2, -1)], 1)),
        attained(([(1, 1)], 3), ([(2, -1)], 1)),
        attained(([(0, 0)], 1), ([(1, 1)], 10**12), ([(2, -1)], 1)),
        attained(([], 1)),
        attained(),
    ):
        rejected(changed(good, "evidence", "attained", to=wrong))
    once = of_one()
    once["evidence"]["attained"] = attained(([(0, 0)], 1), ([(1, 0)], 9), ([(2, -1)], 1))
    accepted(once)
    once["evidence"]["attained"] = attained(([(0, 0)], 1), ([(1, 1)], 9), ([(2, -1)], 1))
    rejected(once, "instead of one")
    both = proved(above_threshold(relation="monotone", epsilon="3/4"), *monotone_arenas())
    both["evidence"]["attained"] = attained(([(0, 0)], 1), ([(1, 1)], 9), ([(2, 0)], 1))
    accepted(both)
    both["evidence"]["attained"] = attained(([(0, 0)], 1), ([(1, 1)], 9), ([(2, -1)], 1))
    rejected(both, "both directions")
    same = changed(good, "question", "transitions", 2, "symbol", to="below")
    rejected(same, "does not tell that it was taken")
    silent = changed(good, "question", "transitions", 1, "symbol", to="")
    rejected(silent, "does not tell that it was taken")


def test_attained_needs_a_possible_execution():
    """Two comparisons of the threshold with constants that exclude each other."""
    transitions = [
        arrow("a", "b", "go", samples=[("1/2", 1, 0)], stores={"x": 0}),
        arrow("b", "c", "up", guard=[(None, "x", 1)]),
        arrow("c", "d", "down", guard=[("x", None, 0)]),
    ]
    nodes = [
        node("a", constant(0), follows={0: [1]}),
        node("b", *(of_x(*(abs(s - change) for s in (-1, 0, 1))) for change in (-1, 1)), follows={1: [2]}),
        node("c", of_x(None, 1, 2), follows={2: [3]}),
        node("d", constant(1)),
    ]
    certificate = proved(question(list("abcd"), transitions, epsilon="1/2"), ((-1, 1), nodes), unit="1/2")
    accepted(certificate)
    certificate["evidence"]["attained"] = attained(([(0, -1), (1, 0)], 1))
    accepted(certificate)
    certificate["evidence"]["attained"] = attained(([(0, -1), (1, 0), (2, 0)], 1))
    rejected(certificate, "contradict")


# -- the automaton ----------------------------------------------------------------------------------------------------


def test_automata_that_are_refused():
    good = of_above_threshold()
    at = ("question", "transitions")
    rejected(changed(good, *at, 1, "guard", to=[]), "exclude each other")
    rejected(changed(good, *at, 1, "guard", to=[[0, "x", "-1/9"]]), "exclude each other")
    accepted(changed(good, *at, 1, "guard", to=[[0, "x", "1/9"]]))
    rejected(changed(good, *at, 1, "guard", to=[["x", 0, 0]]), "exclude each other")
    rejected(changed(good, *at, 1, "guard", to=[[0, "y", 0]]), "may not have been stored")
    rejected(changed(good, *at, 0, "stores", to={}), "may not have been stored")
    rejected(changed(good, *at, 0, "stores", to={"x": 1}), "stores no sample")
    rejected(changed(good, *at, 1, "guard", to=[[1, "x", 0]]), "no sample 1")
    rejected(changed(good, *at, 1, "guard", to=[[True, "x", 0]]))
    rejected(changed(good, *at, 1, "some", to=1))
    rejected(changed(good, *at, 1, "samples", to=[["1/2", 1, 0]]), "exclude each other")
    rejected(changed(good, *at, 1, "samples", to=[["1/4", 0, 0]]), "exclude each other")
    rejected(changed(good, *at, 1, "samples", to=[[0, 1, 0]]), "not positive")
    rejected(changed(good, *at, 1, "samples", to=[["1/4", 2, 0]]), "-1, 0 or 1")
    rejected(changed(good, *at, 1, "samples", to=[["1/4", True, 0]]))
    rejected(changed(good, *at, 1, "samples", to=[["1/4", 1, 0.5]]))
    rejected(changed(good, *at, 1, "to", to="nowhere"), "unknown state")
    rejected(changed(good, *at, 1, "more", to=1), "unknown member")
    rejected(changed(good, "question", "within", to=0), "not positive")
    rejected(changed(good, "question", "delta", to=2), "outside")
    rejected(changed(good, "question", "relation", to="some"), "unknown relation")
    rejected(changed(good, "question", "states", to=["start", "run", "end", "run"]), "twice")


def test_guards_that_tie():
    """Without noise the two orders hold together for one input, which matters for a proof."""
    bare = [(None, 1, 0)]
    transitions = [
        arrow("a", "b", "low", samples=bare, guard=[(0, None, 0)]),
        arrow("a", "b", "high", samples=bare, guard=[(None, 0, 0)]),
    ]
    asked = question(["a", "b"], transitions, epsilon="inf")
    rejected(proved(asked, ((-1, 1), [node("a", constant(0), follows={0: [0], 1: [0]})])), "tie")
    loss = {"method": "loss", "steps": [1], "windows": [[]]}
    accepted(refuted(asked, **loss, left=["1/2"], right=["-1/2"]))
    rejected(refuted(asked, **loss, left=[0], right=["-1/2"]), "tie")
    rejected(refuted(asked, **loss, left=["-1/2"], right=["1/2"]), "not exceed")


def test_conflicts():
    zero = rational(0)
    cycle = [("x", 0, zero), (0, "y", zero), ("y", "x", zero)]
    assert conflict(cycle) is Conflict.ALWAYS
    assert conflict(cycle, lambda one, two: False) is Conflict.TIES
    assert conflict(cycle[:2]) is Conflict.NONE
    assert conflict([*cycle[:2], ("y", "x", rational(-1))]) is Conflict.NONE
    assert conflict([*cycle[:2], ("y", "x", rational("1/9"))], lambda one, two: False) is Conflict.ALWAYS
    assert conflict([(0, 0, zero)]) is Conflict.NONE
    assert conflict([(0, 0, rational(1))]) is Conflict.ALWAYS
    generator = random.Random(1)
    cycles = [each for size in (2, 3, 4) for each in itertools.permutations(range(4), size)]
    for _ in range(300):
        orders = [(*generator.sample(range(4), 2), rational(generator.randint(-2, 1))) for _ in range(5)]
        offsets = {}
        for low, high, offset in orders:
            offsets[low, high] = max(offset, offsets.get((low, high), offset))
        sums = [
            sum((offsets[pair] for pair in zip(each, (*each[1:], each[0]), strict=True)), rational(0))
            for each in cycles
            if all(pair in offsets for pair in zip(each, (*each[1:], each[0]), strict=True))
        ]
        assert (conflict(orders) is Conflict.ALWAYS) == any(total >= 0 for total in sums)
        found = conflict(orders, lambda one, two: False)
        assert (found is Conflict.ALWAYS) == any(total > 0 for total in sums)


# -- known facts ------------------------------------------------------------------------------------------------------


def twins(known):
    """Two thresholds from one sample: what lies between them never happens."""
    regions = [
        ("below", [(0, "x", 0), (0, "y", 0)]),
        ("above", [("x", 0, 0), ("y", 0, 0)]),
        ("between", [("y", 0, 0), (0, "x", 0)]),
        ("reversed", [("x", 0, 0), (0, "y", 0)]),
    ]
    transitions = [arrow("start", "run", "go", samples=[("1/2", 0, 0)], stores={"x": 0, "y": 0})]
    for i, (symbol, guard) in enumerate(regions):
        transitions.append(arrow("run", "run" if i == 0 else "end", symbol, samples=QUERY, guard=guard))
    front = [[(None if (x, y) != (1, 1) else 2) for x in (-1, 0, 1) for y in (-1, 0, 1)]]
    nodes = [
        node("start", constant(0), follows={0: [1]}),
        node("run", [(("y", "x"), [v]) for v in front][:1], known=known, follows={1: [1], 2: [2]}),
        node("end", constant(4)),
    ]
    return proved(question(["start", "run", "end"], transitions), ((-1, 1), nodes))


def test_known_facts():
    equal = [("x", "y"), ("y", "x")]
    accepted(twins(equal))
    rejected(twins(equal[:1]), "transition 4 has no successor")
    rejected(twins(equal[1:]), "transition 3 has no successor")
    rejected(twins([]), "no successor")
    apart = changed(twins(equal), "question", "transitions", 0, "samples", to=[["1/2", 0, 0], ["1/2", 0, 0]])
    rejected(changed(apart, "question", "transitions", 0, "stores", "y", to=1), "does not follow")


def test_equal_thresholds_do_not_contradict_an_order_between_them():
    """The guard ``x <= y`` holds whenever x and y are the same sample; so does the opposite one: they are tied."""
    start = arrow("start", "run", "go", samples=[("1/2", 0, 0)], stores={"x": 0, "y": 0})
    transitions = [start, arrow("run", "end", "yes", guard=[("x", "y", 0)])]
    nodes = [
        node("start", constant(0), follows={0: [1]}),
        node("run", constant(0), known=[("x", "y"), ("y", "x")]),
    ]
    asked = question(["start", "run", "end"], transitions, epsilon="0")
    rejected(proved(asked, ((-1, 1), nodes)), "no successor")
    transitions.append(arrow("run", "end", "no", guard=[("y", "x", 0)]))
    rejected(proved(asked, ((-1, 1), nodes)), "tie")
    start["samples"], start["stores"] = [["1/2", 0, 0], ["1/2", 0, 0]], {"x": 0, "y": 1}
    rejected(proved(asked, ((-1, 1), nodes)), "does not follow")


def test_facts_about_thresholds_that_are_not_looked_at():
    """Nothing is known about the noise of y, which no step looks at, so it does not exclude x <= 0."""
    transitions = [
        arrow("start", "run", "go", samples=[("1/2", 0, 0)], guard=[(None, 0, 0)], stores={"x": 0, "y": 0}),
        arrow("run", "end", "low", guard=[("x", None, 1)]),
    ]
    nodes = [
        node("start", constant(0), follows={0: [1]}),
        node("run", of_x(None, 0, None), known=[("x", "y"), ("y", "x")]),
    ]
    asked = question(["start", "run", "end"], transitions, epsilon="0")
    rejected(proved(asked, ((-1, 1), nodes)), "no successor")
    # Two of x, y and z are the same sample, and the third threshold is only mentioned in facts.
    transitions[0]["stores"] = {"x": 0, "y": 0, "z": 0}
    transitions[1] = arrow("run", "end", "order", guard=[("x", "z", 0)])
    nodes[1] = node("run", constant(0), known=[("x", "y"), ("y", "x"), ("y", "z"), ("z", "y")])
    rejected(proved(asked, ((-1, 1), nodes)), "no successor")


def test_thresholds_without_noise_may_tie():
    transitions = [
        arrow("a", "b", "go", samples=[(None, 0, 2)], stores={"x": 0}),
        arrow("b", "c", "low", guard=[("x", None, -2)]),
        arrow("b", "c", "high", guard=[(None, "x", 2)]),
    ]
    nodes = [
        node("a", constant(0), follows={0: [1]}),
        node("b", of_x(None, 0, None), follows={1: [2], 2: [2]}),
        node("c", constant(0)),
    ]
    certificate = proved(question(["a", "b", "c"], transitions, epsilon="0"), ((-1, 1), nodes))
    rejected(certificate, "tie")
    apart = changed(certificate, "question", "transitions", 2, "guard", to=[[None, "x", "201/100"]])
    rejected(apart, "nothing is compared")
    noisy = changed(certificate, "question", "transitions", 0, "samples", to=[["1/2", 0, 2]])
    rejected(noisy, "nothing is compared")


def test_an_automaton_that_reads_nothing_compares_nothing():
    """Everything else is right, so a number that is read, and changes nothing, is all that is missing."""
    nodes = [node("a", constant(0), follows={0: [1]}), node("b", constant(0))]
    silent = proved(
        question(["a", "b"], [arrow("a", "b", "go", samples=[("1/2", 0, 0)])], epsilon="0"), ((-1, 1), nodes)
    )
    rejected(silent, "nothing is compared")
    beside = [arrow("a", "b", "go", samples=[("1/2", 0, 0)]), arrow("c", "b", "go", samples=QUERY)]
    rejected(proved(question(["a", "b", "c"], beside, epsilon="0"), ((-1, 1), nodes)), "nothing is compared")
    accepted(proved(question(["a", "b"], [arrow("a", "b", "go", samples=QUERY)], epsilon="0"), ((-1, 1), nodes)))


def test_facts_after_a_step():
    """A stored sample that was above a threshold stays above it until one of them is replaced."""
    transitions = [
        arrow("a", "b", "go", samples=[("1/2", 0, 0)], stores={"x": 0}),
        arrow("b", "c", "up", samples=[("1/2", 0, 0)], guard=[("x", 0, 0)], stores={"y": 0}),
        arrow("c", "d", "never", samples=QUERY, guard=[("y", 0, 0), (0, "x", 0)]),
        arrow("c", "d", "outside", samples=QUERY, guard=[("y", 0, 0), ("x", 0, 0)]),
    ]
    nodes = [
        node("a", constant(0), follows={0: [1]}),
        node("b", of_x(None, 0, None), follows={1: [2]}),
        node(
            "c",
            [(("x", "y"), [[None, None, None, None, 0, None, None, None, None]])],
            known=[("x", "y")],
            follows={3: [3]},
        ),
        node("d", constant(1)),
    ]
    certificate = proved(question(list("abcd"), transitions, epsilon="1/4"), ((-1, 1), nodes))
    accepted(certificate)
    at = ("question", "transitions", 1)
    rejected(changed(certificate, *at, "guard", to=[[0, "x", 0]]), "does not follow")
    rejected(changed(certificate, *at, "guard", to=[["x", 0, -1]]), "does not follow")
    accepted(changed(certificate, *at, "guard", to=[["x", 0, 1]]))
    rejected(changed(certificate, *at, "guard", to=[["x", None, 0]]), "does not follow")
    accepted(changed(certificate, *at, "guard", to=[["x", None, 0], [None, 0, 0]]))
    some = changed(certificate, *at, "guard", to=[["x", 0, 0], ["x", 0, 1]])
    rejected(changed(some, *at, "some", to=True), "does not follow")


# -- costs ------------------------------------------------------------------------------------------------------------


def random_path(generator, length):
    """A straight automaton over the thresholds x, y and z."""
    transitions = []
    stored = []
    for i in range(length):
        count = generator.randint(1, 2)
        samples = [(generator.choice([1, 2, 3, None]), generator.choice([-1, 0, 1]), 0) for _ in range(count)]
        terms = [*range(count), *stored, None]
        guard = [(*generator.sample(terms, 2), -1) for _ in range(generator.choice([0, 1, 1, 2]))]
        values = [(*generator.sample(terms, 2), 0)] if generator.random() < 0.15 else []
        stores = {n: generator.randrange(count) for n in "xyz" if generator.random() < (0.9 if i == 0 else 0.3)}
        transitions.append(arrow(f"s{i}", f"s{i + 1}", "a", samples=samples, guard=guard, values=values, stores=stores))
        stored = sorted({*stored, *stores})
    return question([f"s{i}" for i in range(length + 1)], transitions)


def brute_force(automaton, changes):
    """The least cost over all shifts of all samples, and over none if no coupling exists."""
    laws = [(i, j) for i, t in enumerate(automaton.transitions) for j in range(len(t.step.samples))]
    best = math.inf
    for shifts in itertools.product((-1, 0, 1), repeat=len(laws)):
        chosen = dict(zip(laws, shifts, strict=True))
        thresholds = {None: 0}
        cost = 0
        for i, transition in enumerate(automaton.transitions):
            step = transition.step
            own = {j: chosen[i, j] for j in range(len(step.samples))}
            place = {**thresholds, **own}
            if any(place[low] > place[high] for low, high, _ in step.guard):
                break
            if any(place[plus] != place[minus] for plus, minus, _ in step.values):
                break
            away = [(s.rate, abs(s.reads * changes[i] - own[j])) for j, s in enumerate(step.samples)]
            if any(rate is None and distance for rate, distance in away):
                break
            cost += sum(int(rate.p) * distance for rate, distance in away if rate is not None)
            thresholds.update({name: own[j] for name, j in step.stores.items()})
        else:
            best = min(best, cost)
    return best


def test_costs_against_all_shifts():
    generator = random.Random(5)
    finite = 0
    for _ in range(120):
        automaton = read_automaton(random_path(generator, 4), Limits())
        changes = [generator.choice([-1, 1]) if t.step.reads else 0 for t in automaton.transitions]
        products = Products(Kernels(lambda rate: int(rate.p)))
        here = products.zero
        for transition, change in zip(automaton.transitions, changes, strict=True):
            here = products.advanced(transition.step.form, change, here)
        expected = brute_force(automaton, changes)
        assert here.bound() == expected
        finite += expected < math.inf
    assert 30 < finite < 120


def test_costs_do_not_depend_on_what_a_table_knows():
    """What is remembered of groups and steps is the same wherever they occur again: one table for many ways of one automaton."""
    generator = random.Random(8)
    again = 0
    for _ in range(60):
        automaton = read_automaton(random_path(generator, 5), Limits())
        kept = Products(Kernels(lambda rate: int(rate.p)))
        for _ in range(6):
            fresh = Products(Kernels(lambda rate: int(rate.p)))
            here, there = kept.zero, fresh.zero
            for transition in automaton.transitions:
                if not transition.step.looked <= here.home.keys():
                    break
                change = generator.choice([-1, 0, 1]) if transition.step.reads else 0
                here = kept.advanced(transition.step.form, change, here)
                there = fresh.advanced(transition.step.form, change, there)
                gone = frozenset(name for name in "xyz" if name in here.home and generator.random() < 0.1)
                here, there = kept.forgotten(here, gone), fresh.forgotten(there, gone)
                told = [[(group.names, group.front) for group in each.groups] for each in (here, there)]
                assert here.constant == there.constant
                assert told[0] == told[1]
                again += 1
    assert again > 500


def test_costs_against_probabilities():
    """Far out, in the direction of the differences, the loss of a path is nearly its cost, and it is never more."""
    generator = random.Random(11)
    near = 0
    for _ in range(40):
        asked = random_path(generator, 3)
        asked["within"] = generator.choice([1, "1/2", 2])
        for transition in asked["transitions"]:
            transition["samples"] = [
                [rate or 1, reads, generator.choice([0, 1])] for rate, reads, _ in transition["samples"]
            ]
        automaton = read_automaton(asked, Limits())
        changes = [generator.choice([-1, 1]) if t.step.reads else 0 for t in automaton.transitions]
        situation = Situation()
        if not any(changes) or not all(situation.take(t.step) for t in automaton.transitions):
            continue
        products = Products(Kernels(lambda rate: int(rate.p)))
        here = products.zero
        for transition, change in zip(automaton.transitions, changes, strict=True):
            here = products.advanced(transition.step.form, change, here)
        cost = rational(here.bound()) * automaton.within
        steps = list(range(len(changes)))
        windows = [[[-3, 3] for _ in t.step.values] for t in automaton.transitions]
        left, right = (
            [
                str(far * change * automaton.within) if t.step.reads else None
                for change, t in zip(changes, automaton.transitions, strict=True)
            ]
            for far in (40, 41)
        )
        for far, sides in enumerate(((left, right), (right, left))):
            above = {**asked, "epsilon": str(cost + rational("1/1000000"))}
            rejected(loss(above, steps, *sides, windows), "not exceed")
            if far == 0 and cost > rational("1/10"):
                accepted(loss({**asked, "epsilon": str(cost - rational("1/10"))}, steps, *sides, windows))
                near += 1
    assert near > 10


def test_coverage_joins_groups():
    products = Products(Kernels(lambda rate: 1))
    one = products.product([(("x",), ((0, 1, 2),)), (("y",), ((1, 1, 1),)), ((), ((2,),))])
    joined = tuple(a + b for a in (2, 3, 4) for b in (1, 1, 1))
    assert products.covered(one, products.product([(("x", "y"), (joined,))]))
    assert not products.covered(one, products.product([(("x", "y"), ((*joined[:-1], 4),))]))
    assert products.covered(products.product([(("x", "y"), (joined,))]), one)
    assert products.covered(one, products.product([(("x",), ((3, 4, 5),))]))
    assert not products.covered(one, products.product([(("x",), ((3, 4, 4),))]))
    assert products.covered(one, products.product([((), ((3,),))]))
    assert not products.covered(one, products.product([((), ((2,),))]))
    assert not products.covered(products.zero, one)


def test_many_samples_in_a_step():
    """Independent samples cost the sum of their costs; those that a largest sample exceeds cost 2 each at most."""
    many = 300
    samples = [("1/4", 1, 0)] * many
    written = [arrow("a", "b", "all", samples=samples, values=[(i, None, 0) for i in range(many)])]
    nodes = [node("a", constant(0), follows={0: [1]}), node("b", constant(many))]
    accepted(proved(question(["a", "b"], written, epsilon=str(many // 4)), ((-1, 1), nodes)))
    rejected(proved(question(["a", "b"], written, epsilon=str(many // 4 - 1)), ((-1, 1), nodes)), "exceeds")
    few = 40
    largest = [
        arrow("a", "b", str(i), samples=samples[:few], guard=[(j, i, 0) for j in range(few) if j != i])
        for i in range(few)
    ]
    nodes = [node("a", constant(0), follows={i: [1] for i in range(few)}), node("b", constant(0))]
    accepted(proved(question(["a", "b"], largest, epsilon="0"), ((-1, 1), nodes)))


# -- growth -----------------------------------------------------------------------------------------------------------


def growth(asked, *segments, thresholds=("x",)):
    listed = [{"steps": [list(move) for move in moves], "repeated": repeated} for moves, repeated in segments]
    return refuted(asked, method="growth", kind="leaking pair", thresholds=list(thresholds), segments=listed)


LEAKING_PAIR = (([(0, 0)], False), ([(1, 1)], True), ([(2, -1)], True))


def test_growth():
    asked = sparse_vector(epsilon="inf")
    found = accepted(growth(asked, *LEAKING_PAIR))
    assert "no finite epsilon" in found.statement
    rejected(growth(above_threshold(epsilon="inf"), *LEAKING_PAIR), "does not end where it begins")
    rejected(growth(asked, ([(0, 0)], False), ([(1, 1)], True), ([(2, -1)], False)), "bounded")
    rejected(growth(asked, ([(0, 0)], False), ([(1, 1)], True), ([(2, 1)], True)), "bounded")
    rejected(growth(asked, ([(0, 0)], False), ([(1, -1)], True), ([(2, -1)], True)), "bounded")
    rejected(growth(asked, *LEAKING_PAIR, thresholds=()), "bounded")
    rejected(growth(asked, *LEAKING_PAIR, thresholds=["y"]), "bounded")
    rejected(growth({**asked, "relation": "one"}, *LEAKING_PAIR), "one input")
    rejected(growth({**asked, "relation": "monotone"}, *LEAKING_PAIR), "both directions")
    rejected(growth({**asked, "delta": "1/10"}, *LEAKING_PAIR), "delta")
    # In one direction, one phase needs the shift 1 and the other, where nothing differs, a shift of at most 0.
    accepted(growth({**asked, "relation": "monotone"}, LEAKING_PAIR[0], LEAKING_PAIR[1], ([(2, 0)], True)))
    # One repeated segment in which the threshold is compared in both ways.
    accepted(growth(asked, LEAKING_PAIR[0], ([(1, 1), (2, -1)], True)))


def test_growth_with_a_threshold_that_is_replaced():
    """Noisy sortedness (E13): every sample must be below the last, which it replaces."""
    transitions = [
        arrow("a", "b", "go", samples=QUERY, stores={"x": 0}),
        arrow("b", "b", "down", samples=QUERY, guard=BELOW, stores={"x": 0}),
    ]
    asked = question(["a", "b"], transitions, epsilon="inf")
    accepted(growth(asked, ([(0, 1)], False), ([(1, 1), (1, -1)], True), ([(1, 1), (1, -1)], True)))
    rejected(growth(asked, ([(0, 1)], False), ([(1, 1)], True), ([(1, -1)], True)), "bounded")
    # Steps by at least 1 above a bound are possible as often as one likes if the first sample is large enough.
    family = ([(0, 1)], False), ([(1, 1), (1, -1)], True)
    transitions[1]["guard"] = [[0, "x", 1], [None, 0, -5]]
    accepted(growth(asked, *family))
    transitions[0]["guard"] = [[0, None, -10]]
    rejected(growth(asked, *family), "contradict")
    transitions[1]["guard"] = [[0, "x", 1]]
    rejected(growth(asked, *family), "settled")
    transitions[1]["guard"] = [[0, "x", -1]]
    rejected(growth(asked, *family), "settled")


def test_growth_by_disclosure():
    """A loop that writes a noisy input (E21) needs no thresholds."""
    asked = question(["a"], [arrow("a", "a", "v", samples=QUERY, values=[(0, None, 0)])], epsilon="inf")
    accepted(growth(asked, ([(0, 1)], True), thresholds=()))
    rejected(growth(asked, ([(0, 0)], True), thresholds=()), "bounded")
    rejected(growth(asked, ([(0, 1)], False), thresholds=()), "bounded")


def test_situations():
    """Thresholds from one sample are one value, and samples without noise are constants unless they read."""
    transitions = [
        arrow("a", "b", "", samples=[(1, 0, 0), (None, 0, 5)], stores={"x": 0, "y": 0, "c": 1}),
        arrow("b", "b", "", guard=[("x", "y", 0), ("y", "x", 0), ("x", "c", 0)]),
        arrow("b", "b", "", guard=[("x", "y", 1)]),
        arrow("b", "b", "", guard=[(None, "x", 5)]),
    ]
    automaton_steps = []
    for transition in transitions[1:]:
        asked = question(["a", "b"], [transitions[0], transition])
        automaton_steps.append(read_automaton(asked, Limits()).transitions[1].step)
    first = read_automaton(question(["a", "b"], transitions[:1]), Limits()).transitions[0].step
    situation = Situation()
    assert situation.take(first)
    before = situation.layout()
    assert situation.take(automaton_steps[0])
    settled = situation.layout()
    assert settled != before
    assert situation.take(automaton_steps[0])
    assert situation.layout() == settled
    assert not situation.take(automaton_steps[2])
    other = Situation()
    assert other.take(first)
    assert not other.take(automaton_steps[1])


# -- losses -----------------------------------------------------------------------------------------------------------


def loss(asked, steps, left, right, windows=None):
    given = [[] for _ in steps] if windows is None else windows
    return refuted(asked, method="loss", steps=steps, left=left, right=right, windows=given)


def test_loss_of_a_sparse_vector():
    repeats = 8
    steps = [0] + [1] * repeats + [2] * repeats
    left = [None] + ["-1/2"] * repeats + ["1/2"] * repeats
    right = [None] + ["1/2"] * repeats + ["-1/2"] * repeats
    found = accepted(loss(sparse_vector(epsilon="1"), steps, left, right))
    ratio = float(found.details["left"]) / float(found.details["right"])
    assert ratio > math.e
    budget = math.log(ratio)
    accepted(loss(sparse_vector(epsilon=str(round(budget - 0.001, 6))), steps, left, right))
    rejected(loss(sparse_vector(epsilon=str(round(budget + 0.001, 6))), steps, left, right), "not exceed")
    good = loss(sparse_vector(epsilon="1"), steps, left, right)
    rejected(changed(good, "evidence", "left", 0, to=0), "if and only if")
    rejected(changed(good, "evidence", "left", 1, to=None), "if and only if")
    rejected(changed(good, "evidence", "left", 1, to="-3/5"), "differ by more")
    rejected(changed(good, "evidence", "right", to=good["evidence"]["left"]), "same inputs")
    rejected(changed(good, "evidence", "steps", 3, to=0), "begin where")
    rejected(changed(good, "evidence", "steps", 3, to=9), "no transition")
    rejected(changed(good, "evidence", "windows", 3, to=[[0, 1]]), "0 windows")
    rejected(changed(good, "evidence", "windows", to=[]), "one for each step")
    rejected(changed(good, "question", "relation", to="one"), "instead of one")
    rejected(changed(good, "question", "relation", to="monotone"), "both directions")
    rejected(changed(good, "question", "epsilon", to="inf"), "not exceed")
    rejected(changed(good, "question", "delta", to="1/2"), "not exceed")
    accepted(changed(good, "question", "delta", to="1/1000000"))


def test_a_tiny_probability():
    far = [None] + ["20000"] * 1
    found = accepted(loss(above_threshold(epsilon="1/5"), [0, 1], far, [None, "20001"]))
    assert "e-2" in found.details["left"]


def test_windows():
    """A written sample: the ratio in a window far out is e^(rate)."""
    asked = question(["a"], [arrow("a", "a", "v", samples=[(1, 1, 3)], values=[(0, None, -3)])], epsilon="1")
    rejected(loss(asked, [0], [0], [1], [[[None, 0]]]), "tell whether")
    asked["epsilon"] = "0.999999"
    accepted(loss(asked, [0], [0], [1], [[[None, 0]]]))
    accepted(loss(asked, [0], [0], [1], [[[-5, -4]]]))
    rejected(loss(asked, [0], [0], [1], [[[0, 1]]]), "not exceed")
    rejected(loss(asked, [0], [0], [1], [[[None, None]]]), "not exceed")
    rejected(loss(asked, [0], [0], [1], [[[1]]]), "two ends")
    asked["epsilon"] = "1.999999"
    accepted(loss(asked, [0, 0], [0, 7], [1, 6], [[[None, 0]], [[7, None]]]))
    # With the mean left out, the window is elsewhere.
    asked["transitions"][0]["values"][0][2] = 0
    rejected(loss(asked, [0, 0], [0, 7], [1, 6], [[[None, 0]], [[7, None]]]), "not exceed")


def test_an_infinite_loss():
    """Without noise on the query (Lyu, Su and Li's algorithm 5) an output becomes impossible."""
    asked = sparse_vector(epsilon="inf")
    for transition in asked["transitions"][1:]:
        transition["samples"] = [[None, 1, 0]]
    good = loss(asked, [0, 1, 2], [None, 0, 1], [None, 1, 0])
    found = accepted(good)
    assert found.details["right"] == "0"
    rejected(loss(asked, [0, 1, 2], [None, 1, 0], [None, 0, 1]), "not exceed")
    rejected(changed(good, "question", "delta", to="1/2"), "not exceed")
    accepted(changed(good, "question", "delta", to="1/6"))


def test_alternatives():
    """One of two orders holds: the union is counted once."""
    samples = [(1, 1, 0), (1, 0, 0)]
    transitions = [
        arrow("a", "b", "some", samples=samples, guard=[(None, 0, 0), (None, 1, 0)], some=True),
        arrow("a", "b", "none", samples=samples, guard=[(0, None, 0), (1, None, 0)]),
    ]
    asked = question(["a", "b"], transitions, epsilon="0.1")
    found = accepted(loss(asked, [0], [1], [0]))
    below = math.exp(-1) / 2
    assert float(found.details["left"]) == pytest.approx(1 - below / 2)
    assert float(found.details["right"]) == pytest.approx(3 / 4)
    # All orders are kept: the sample that reads must not fall, and in the other transition must not rise.
    nodes = [node("a", constant(0), follows={0: [1], 1: [1]}), node("b", constant(1))]
    accepted(proved({**asked, "epsilon": "1"}, ((-1, 1), nodes), unit=1))
    overlapping = changed(loss(asked, [0], [1], [0]), "question", "transitions", 1, "guard", to=[[0, None, 0]])
    rejected(overlapping, "exclude each other")


def test_executions_that_write_the_same():
    """The two comparisons cannot be told apart, so the event has probability 1 on both sides."""
    asked = sparse_vector(epsilon="1/100")
    good = loss(asked, [0, 1], [None, 0], [None, 1])
    accepted(good)
    same = changed(good, "question", "transitions", 2, "symbol", to="below")
    rejected(same, "not exceed")
    steps = [0] + [1] * 12
    many = loss(asked, steps, [None] + [0] * 12, [None] + [1] * 12)
    rejected(changed(many, "question", "transitions", 2, "symbol", to="below"), "limit of 2000")


def test_steps_that_write_nothing_leave_no_trace():
    """One symbol in two steps: the comparison decides in which of them it is written, which is not seen."""
    transitions = [
        arrow("a", "b", "", samples=QUERY, guard=[(0, None, 0)]),
        arrow("a", "c", "v", samples=QUERY, guard=[(None, 0, 0)]),
        arrow("b", "d", "v"),
        arrow("c", "d", ""),
    ]
    asked = question(list("abcd"), transitions, epsilon="0")
    rejected(loss(asked, [1, 3], [1, None], [0, None]), "does not tell where a run is")
    rejected(loss(asked, [1], [1], [0]), "does not tell where a run is")
    transitions[0]["symbol"] = "u"
    accepted(loss(asked, [1, 3], [1, None], [0, None]))


def test_nonsense_is_refused():
    """Any one place of a certificate replaced by any value gives an outcome."""
    repeats = [0, 1, 2]
    certificates = [
        of_one(),
        growth(sparse_vector(epsilon="inf"), *LEAKING_PAIR),
        loss(sparse_vector(epsilon="0"), repeats, [None, "-1/2", "1/2"], [None, "1/2", "-1/2"]),
    ]
    certificates[0]["evidence"]["attained"] = attained(([(0, 0)], 1), ([(1, 0)], 2), ([(2, -1)], 1))
    for certificate in certificates:
        accepted(certificate)
        places = {path[:end] for path, _ in leaves(certificate) for end in range(2, len(path) + 1) if len(path) > 1}
        for place in places:
            for value in (None, 3, -1, True, "x", [], {"x": 0}, [[]]):
                outcome(changed(certificate, *place, to=value))


# -- large automata ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [2_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_a_long_chain(length):
    """Above threshold, unrolled: two transitions for each step."""
    states = ["start", *(f"s{i}" for i in range(length)), "end"]
    transitions = [arrow("start", "s0", "go", samples=[("1/2", 0, 0)], stores={"x": 0})]
    nodes = [node("start", constant(0), follows={0: [1]})]
    for i in range(length):
        after = f"s{i + 1}" if i + 1 < length else "end"
        follows = {len(transitions): [i + 2], len(transitions) + 1: [length + 1]}
        transitions.append(arrow(f"s{i}", after, "below", samples=QUERY, guard=BELOW))
        transitions.append(arrow(f"s{i}", "end", "above", samples=QUERY, guard=ABOVE))
        nodes.append(node(f"s{i}", of_x(None, None, 2), follows=follows))
    nodes.append(node("end", constant(4)))
    certificate = proved(question(states, transitions), ((-1, 1), nodes))
    began = time.perf_counter()
    accepted(certificate)
    assert time.perf_counter() - began < 5 + length / 1_000
    rejected(changed(certificate, "evidence", "arenas", 0, "nodes", length, "products", 0, 0, "front", 0, 2, to=1))


def test_products_stand_for_all_sums_and_cover_each_other_soundly():
    """Against the definition: what is common to all costs of a group is put into the constant, and nothing else changes."""
    chance = random.Random(5)
    table = Products(Kernels(lambda rate: 1))

    def front(names):
        return tuple(
            tuple(chance.choice([0, 1, 2, 3, 5, math.inf]) for _ in range(3 ** len(names)))
            for _ in range(chance.randint(1, 2))
        )

    def written(made):
        return [(group.names, group.front) for group in made.groups]

    def sums(groups, constant=0):
        found = {(constant,) * 9}
        for names, vectors in groups:
            at = [[0] * 9, [i // 3 for i in range(9)], [i % 3 for i in range(9)], list(range(9))]
            reach = at[("a" in names) + 2 * ("b" in names)]
            found = {
                tuple(c + vector[i] for c, i in zip(one, reach, strict=True)) for one in found for vector in vectors
            }
        return found

    shapes = [[("a",), ("b",)], [("a", "b")], [(), ("a",), ("b",)], [(), ("a", "b")]]
    covered = 0
    for _ in range(400):
        listed = []
        for _ in range(2):
            names = chance.choice(shapes)
            groups = [(each, front(each) if each else ((chance.randint(0, 3),),)) for each in names]
            made = table.product(groups)
            assert sums(written(made), made.constant) == sums(groups)
            listed.append((made, sums(groups)))
        (one, left), (two, right) = listed
        if table.covered(one, two):
            covered += 1
            assert all(any(all(x <= y for x, y in zip(v, w, strict=True)) for w in right) for v in left)
        raised = table.product([((), ((2,),)), *written(one), ((), ((one.constant,),))])
        assert table.covered(one, raised)
        if math.inf not in map(min, left):
            assert not table.covered(raised, one)
    assert covered > 10
