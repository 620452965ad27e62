"""JANI models: the same process as the model that is written in the language of PRISM, and what is refused by name."""

from __future__ import annotations

import copy
import json

import pytest

from privproof.errors import FormatError
from privproof.logic.formats.jani_files import jani_as_prism
from privproof.logic.formats.process_files import read_process
from privproof.logic.prism import explore


def op(sign, left, right):
    return {"op": sign, "left": left, "right": right}


def to(place, weight=None, **values):
    told = {"location": place, "assignments": [{"ref": name, "value": value} for name, value in values.items()]}
    return told if weight is None else {**told, "probability": {"exp": weight}}


def edge(place, *destinations, action=None, guard=None):
    told = {"location": place, "destinations": list(destinations)}
    return told | ({"action": action} if action else {}) | ({"guard": {"exp": guard}} if guard is not None else {})


WALK = {
    "jani-version": 1,
    "name": "walk",
    "type": "mdp",
    "constants": [{"name": "N", "type": "int", "value": 3}, {"name": "p", "type": "real"}],
    "variables": [
        {
            "name": "n",
            "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": "N"},
            "initial-value": 0,
        },
        {"name": "won", "type": "bool", "transient": True, "initial-value": False},
    ],
    "automata": [
        {
            "name": "walker",
            "locations": [
                {"name": "away"},
                {"name": "home", "transient-values": [{"ref": "won", "value": op("=", "n", "N")}]},
            ],
            "initial-locations": ["away"],
            "edges": [
                edge(
                    "away",
                    to("away", "p", n=op("+", "n", 1)),
                    to("home", op("-", 1, "p")),
                    action="go",
                    guard=op("<", "n", "N"),
                ),
                edge("away", to("home"), guard=op("=", "n", "N")),
                edge("home", to("home")),
            ],
        },
        {
            "name": "clock",
            "variables": [{"name": "t", "type": "bool", "initial-value": False}],
            "locations": [{"name": "only"}],
            "initial-locations": ["only"],
            "edges": [
                edge("only", to("only", 0.25, t=True), to("only", 0.75), action="beat", guard={"op": "¬", "exp": "t"}),
                edge("only", to("only", t=False), action="rest", guard="t"),
            ],
        },
    ],
    "system": {
        "elements": [{"automaton": "walker"}, {"automaton": "clock"}],
        "syncs": [
            {"result": "go", "synchronise": ["go", "beat"]},
            {"result": "rest", "synchronise": [None, "rest"]},
        ],
    },
    "properties": [
        {
            "name": "most",
            "expression": {
                "op": "filter",
                "fun": "max",
                "values": {"op": "Pmax", "exp": {"op": "F", "exp": "won", "step-bounds": {"upper": 6}}},
                "states": {"op": "initial"},
            },
        },
        {
            "name": "cost",
            "expression": {
                "op": "filter",
                "fun": "max",
                "values": {"op": "Emax", "exp": "n", "reach": "won"},
                "states": {"op": "initial"},
            },
        },
    ],
}

PRISM = """mdp
const int N = 3;
const double p;
module walker
  n : [0..N] init 0;
  at : [0..1] init 0;
  [go] at=0 & n<N -> p:(n'=n+1) + 1-p:(at'=1);
  [] at=0 & n=N -> (at'=1);
  [] at=1 -> true;
endmodule
module ticking
  t : bool init false;
  [go] !t -> 1/4:(t'=true) + 3/4:true;
  [rest] t -> (t'=false);
endmodule
"""


def rows(process):
    """The choices of every state, by what it is called without the names of its variables."""
    called = [tuple(int(column[s]) for column in process.variables.values()) for s in range(len(process))]
    return {
        called[s]: sorted(
            sorted((called[t], str(p)) for t, p in process.entries(c))
            for c in range(process.choices[s], process.choices[s + 1])
        )
        for s in range(len(process))
    }


def test_the_same_process_as_in_prism(tmp_path):
    (tmp_path / "walk.jani").write_text(json.dumps(WALK), encoding="utf-8")
    found = read_process(tmp_path / "walk.jani", constants={"p": "4/5"})
    same = explore(PRISM, constants={"p": "4/5"}).process
    assert rows(found) == rows(same)
    assert {"go", "rest"} <= set(found.actions)
    assert jani_as_prism(json.dumps(WALK))[1]["most"] == "Pmax=? [ F<=(6) (won) ]"


def changed(change):
    document = copy.deepcopy(WALK)
    change(document)
    return jani_as_prism(json.dumps(document))[0]


def test_where_runs_begin():
    """Variables without a value, several locations, a condition: all that satisfy it."""

    def change(document):
        del document["variables"][0]["initial-value"]
        document["automata"][0]["initial-locations"] = ["away", "home"]
        document["restrict-initial"] = {"exp": op("≤", "n", 1)}

    process = explore(changed(change), constants={"p": "1/2"}).process
    begins = {process.names[s] for s in process.initial}
    assert begins == {f"(n={n},walker_location={at},t=false)" for n in (0, 1) for at in (0, 1)}


def test_an_action_that_an_automaton_never_does_is_blocked():
    def change(document):
        document["automata"][1]["edges"].pop(0)

    process = explore(changed(change), constants={"p": "1/2"}, self_loops=True).process
    assert len(process) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(type="ctmc"), "the type 'ctmc'"),
        (lambda d: d.update(features=["arrays"]), "the feature 'arrays'"),
        (lambda d: d["variables"][0].update(type="clock"), "the type 'clock'"),
        (lambda d: d["system"]["elements"][0].update({"input-enable": ["go"]}), "input-enable"),
        (lambda d: d["system"]["syncs"].pop(), "in no synchronisation vector"),
        (lambda d: d["system"]["syncs"][0]["synchronise"].pop(), "1 of 2 automata"),
        (lambda d: d["automata"][0]["edges"][0].update(rate={"exp": 1}), "the rate of an edge"),
        (lambda d: d["automata"][0]["edges"][1].update(guard={"exp": op("sin", 1, 1)}), "the operator 'sin'"),
        (lambda d: d["automata"][0]["edges"][1].update(guard={"exp": "m"}), "no variable or constant 'm'"),
        (lambda d: d["automata"][0]["edges"][1].pop("destinations"), "is missing in an object"),
        (
            lambda d: d["automata"][0]["edges"][2]["destinations"].__setitem__(0, to("home", won=True)),
            "transient variable",
        ),
        (
            lambda d: d["automata"][0]["edges"][0]["destinations"][0]["assignments"][0].update(index=1),
            "an assignment with an index",
        ),
    ],
)
def test_what_is_not_supported_is_said_by_name(change, said):
    with pytest.raises(FormatError, match=said):
        changed(change)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"type": NaN}', "{}"])
def test_what_is_no_model(text):
    with pytest.raises(FormatError):
        jani_as_prism(text)
