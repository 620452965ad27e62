"""The checker of dpCTL* on examples with known values, and on certificates that say something wrong."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from privproof_checker.logic import check_logic
from privproof_checker.outcomes import Accepted, Limits, Outcome, Refusal, Rejected
from privproof_checker.plain_documents import plain

TRUE: Any = ["true"]
FALSE: Any = ["false"]


def chain(
    rows: dict[str, dict[str, Any]], labels: dict[str, list[str]] | None = None, neighbours: Any = ()
) -> dict[str, Any]:
    """A Markov chain by names of states."""
    number = {name: i for i, name in enumerate(rows)}
    return {
        "states": list(rows),
        "actions": [],
        "rows": [[[None, [[number[t], p] for t, p in row.items()]]] for row in rows.values()],
        "labels": {name: [number[s] for s in members] for name, members in (labels or {}).items()},
        "neighbours": [[number[s], number[t]] for s, t in neighbours],
    }


def decisions(
    actions: str, rows: dict[str, dict[str, dict[str, Any]]], labels: dict[str, list[str]], neighbours: Any = ()
) -> dict[str, Any]:
    """A decision process by names of states and actions."""
    number = {name: i for i, name in enumerate(rows)}
    return {
        "states": list(rows),
        "actions": list(actions),
        "rows": [
            [[actions.index(a), [[number[t], p] for t, p in row.items()]] for a, row in choices.items()]
            for choices in rows.values()
        ],
        "labels": {name: [number[s] for s in members] for name, members in labels.items()},
        "neighbours": [[number[s], number[t]] for s, t in neighbours],
    }


def label(name: str) -> Any:
    return ["label", name]


def nxt(path: Any, steps: int = 1) -> Any:
    return ["X", steps, path]


def until(left: Any, right: Any, low: int = 0, high: int | None = None) -> Any:
    return ["U", left, right, low, high]


def eventually(path: Any, low: int = 0, high: int | None = None) -> Any:
    return until(TRUE, path, low, high)


def always(path: Any, high: int | None = None) -> Any:
    return ["not", eventually(["not", path], 0, high)]


def private(epsilon: str, path: Any, delta: str = "0") -> Any:
    return ["D", {"epsilon": epsilon, "delta": delta}, path]


def probable(
    path: Any, low: str = "0", high: str = "1", *, low_included: bool = True, high_included: bool = True
) -> Any:
    return ["P", {"low": low, "low_included": low_included, "high": high, "high_included": high_included}, path]


def exactly(path: Any, value: str) -> Any:
    return probable(path, value, value)


def certificate(verdict: str, process: Any, formula: Any, states: list[int], **evidence: Any) -> dict[str, Any]:
    return {
        "format": "privproof-certificate",
        "version": 1,
        "verdict": verdict,
        "question": {
            "kind": "logic",
            "process": process,
            "formula": formula,
            "text": "for the reader",
            "states": states,
        },
        "evidence": {"method": "logic", **evidence},
    }


def judge(document: dict[str, Any]) -> Outcome:
    """Check as the front does; anything but a refusal goes through."""
    try:
        plain(document, Limits())
        return check_logic(document["verdict"], document["question"], document, Limits())
    except Refusal as refusal:
        return Rejected(refusal.reason, refusal.place)


def proved(process: Any, formula: Any, states: list[int], **evidence: Any) -> bool:
    return isinstance(judge(certificate("proved", process, formula, states, **evidence)), Accepted)


def refuted(process: Any, formula: Any, state: int, **evidence: Any) -> bool:
    return isinstance(judge(certificate("refuted", process, formula, [state], state=state, **evidence)), Accepted)


def value(process: Any, path: Any, state: int) -> str:
    """The probability that the checker finds."""
    outcome = judge(certificate("proved", process, probable(path), [state]))
    assert isinstance(outcome, Accepted), outcome
    ((found,),) = [each.values() for each in outcome.details["probabilities"].values()]  # type: ignore[attr-defined]
    return str(found)


SURVEY = chain(
    {
        "plus": {"yes": "3/4", "no": "1/4"},
        "minus": {"yes": "1/4", "no": "3/4"},
        "yes": {"dead": "1"},
        "no": {"dead": "1"},
        "dead": {"dead": "1"},
    },
    {"out1": ["yes"], "out0": ["no"]},
    [("plus", "minus")],
)

TWICE = chain(
    {
        "pp": {"yy": "9/16", "yn": "3/16", "ny": "3/16", "nn": "1/16"},
        "mm": {"yy": "1/16", "yn": "3/16", "ny": "3/16", "nn": "9/16"},
        "yy": {"y": "1"},
        "yn": {"n": "1"},
        "ny": {"y": "1"},
        "nn": {"n": "1"},
        "y": {"y": "1"},
        "n": {"n": "1"},
    },
    {"out1": ["yy", "yn", "y"]},
    [("pp", "mm")],
)

LOOP = chain(
    {
        "a": {"a": "1/2", "b": "1/4", "c": "1/4"},
        "b": {"a": "1/2", "b": "1/2"},
        "c": {"c": "1/3", "d": "2/3"},
        "d": {"c": "1"},
        "e": {"e": "1/3", "a": "1/3", "f": "1/3"},
        "f": {"f": "1"},
    },
    {name: [name] for name in "abcdef"},
)
A, B, C, D, E, F = (label(name) for name in "abcdef")


class TestChains:
    def test_survey(self) -> None:
        assert proved(SURVEY, private("ln(3)", nxt(label("out1"))), [0, 1])
        assert proved(SURVEY, private("ln(3)", nxt(label("out0"))), [0, 1])
        assert not proved(SURVEY, private("1", nxt(label("out1"))), [0, 1])
        assert refuted(SURVEY, private("1", nxt(label("out1"))), 0)
        assert refuted(SURVEY, private("1", nxt(label("out1"))), 1)
        assert not refuted(SURVEY, private("ln(3)", nxt(label("out1"))), 0)
        assert proved(SURVEY, private("0", nxt(label("out1")), "1/2"), [0, 1])
        assert refuted(SURVEY, private("0", nxt(label("out1")), "49/100"), 1)

    def test_statement(self) -> None:
        outcome = judge(certificate("proved", SURVEY, private("ln(3)", nxt(label("out1"))), [0, 1]))
        assert isinstance(outcome, Accepted)
        assert outcome.statement == (
            "D[ln(3), 0](X out1) holds in the states plus, minus; the probabilities were computed again, 2 ordered pairs "
            "of neighbours were compared"
        )
        assert outcome.details["probabilities"] == {"D[ln(3), 0](X out1)": {"plus": "3/4", "minus": "1/4"}}
        outcome = judge(certificate("refuted", SURVEY, private("1", nxt(label("out1"))), [0], state=0))
        assert isinstance(outcome, Accepted)
        assert "3/4 in the state plus and 1/4 in its neighbour minus" in outcome.statement

    def test_double_survey(self) -> None:
        both = nxt(["and", label("out1"), nxt(label("out1"))])
        assert (value(TWICE, both, 0), value(TWICE, both, 1)) == ("9/16", "1/16")
        assert proved(TWICE, private("ln(9)", both), [0, 1])
        assert refuted(TWICE, private("ln(899/100)", both), 0)
        assert proved(TWICE, private("0", both, "1/2"), [0, 1])
        assert proved(TWICE, private("ln(3)", nxt(label("out1"), 2)), [0, 1])
        assert refuted(TWICE, private("ln(299/100)", nxt(label("out1"), 2)), 1)

    @pytest.mark.parametrize(
        ("path", "state", "expected"),
        [
            (always(eventually(A)), 0, "0"),
            (always(eventually(C)), 0, "1"),
            (eventually(always(C)), 0, "0"),
            (eventually(always(["or", C, D])), 0, "1"),
            (["and", always(eventually(C)), always(eventually(D))], 4, "1/2"),
            (["or", always(eventually(F)), always(eventually(A))], 4, "1/2"),
            (eventually(always(F)), 4, "1/2"),
            (always(["or", ["not", B], nxt(A)]), 0, "2/3"),
            (always(["or", ["not", B], nxt(A)]), 1, "1/3"),
            (always(["or", ["not", D], nxt(["not", D])]), 0, "1"),
            (always(eventually(["and", C, nxt(C)])), 2, "1"),
            (always(eventually(["and", D, nxt(D)])), 2, "0"),
            (eventually(always(["or", C, nxt(C)])), 2, "1"),
            (eventually(always(["or", D, nxt(D)])), 2, "0"),
            (until(["or", A, eventually(B)], C), 0, "1"),
            (until(until(A, B), C), 0, "0"),
            (until(A, C), 0, "1/2"),
            (until(A, until(B, A)), 1, "1"),
            (until(["not", F], C), 4, "1/2"),
            (eventually(F, 0, 1), 4, "1/3"),
            (eventually(F, 0, 3), 4, "13/27"),
            (eventually(F, 3, 3), 4, "13/27"),
            (until(E, F, 2, 3), 4, "4/27"),
            (until(E, F, 2, None), 4, "1/6"),
            (always(E, 2), 4, "1/9"),
            (["not", always(E, 2)], 4, "8/9"),
            (["and", eventually(F, 0, 2), eventually(A, 0, 2)], 4, "0"),
            (["or", eventually(F, 0, 2), eventually(A, 0, 2)], 4, "8/9"),
            (always(eventually(D, 0, 2)), 2, "0"),
            (eventually(always(eventually(D, 0, 2))), 2, "0"),
            (always(eventually(always(C, 5))), 2, "1"),
            (nxt(A, 1000), 5, "0"),
            (eventually(C, 0, 100_000), 2, "1"),
            (["and", E, nxt(until(E, F))], 4, "1/2"),
            (["or", F, nxt(until(E, F))], 4, "1/2"),
            (always(["or", ["not", A], eventually(B)]), 0, "0"),
            (always(["or", ["not", A], eventually(["or", B, C])]), 0, "1"),
            (eventually(["and", B, always(["not", B])]), 0, "0"),
            (eventually(["and", A, nxt(always(["not", A]))]), 0, "1"),
        ],
    )  # fmt: skip
    def test_known_values(self, path: Any, state: int, expected: str) -> None:
        assert value(LOOP, path, state) == expected
        assert proved(LOOP, exactly(path, expected), [state])
        complement = {"0": "1", "1": "0"}.get(expected)
        if complement is not None:
            assert value(LOOP, ["not", path], state) == complement
            assert refuted(LOOP, exactly(path, complement), state)

    def test_ranges(self) -> None:
        path = until(A, C)
        assert proved(LOOP, probable(path, "1/2", "1"), [0])
        assert refuted(LOOP, probable(path, "1/2", "1", low_included=False), 0)
        assert refuted(LOOP, probable(path, "0", "1/2", high_included=False), 0)
        assert refuted(LOOP, probable(path, "0", "49/100"), 0)
        assert refuted(LOOP, probable(path, "2/3", "1/3"), 0)

    def test_nested(self) -> None:
        likely = probable(until(A, C), "1/2", "1")  # in a and in c, not in b
        assert proved(LOOP, likely, [0, 2])
        assert refuted(LOOP, likely, 1)
        assert value(LOOP, nxt(likely), 0) == "3/4"
        assert value(LOOP, always(likely), 0) == "0"
        assert value(LOOP, until(likely, C), 0) == "1/2"
        inner = private("ln(2)", nxt(label("out1")))
        assert refuted(SURVEY, ["or", inner, probable(nxt(inner), "0", "99/100")], 0)
        assert proved(SURVEY, probable(nxt(inner), "1", "1"), [0, 1])
        assert proved(SURVEY, private("0", nxt(inner)), [0, 1])
        assert proved(SURVEY, ["and", ["not", inner], private("ln(3)", nxt(label("out1")))], [0, 1])

    def test_vacuous_comparison_is_not_proved(self) -> None:
        alone = {**SURVEY, "neighbours": []}
        assert not proved(alone, private("0", nxt(label("out1"))), [0])
        assert not proved(SURVEY, probable(nxt(label("out1"))), [])

    def test_many_steps(self) -> None:
        slow = chain({"a": {"a": "999/1000", "b": "1/1000"}, "b": {"b": "1"}}, {"b": ["b"]})
        assert proved(slow, probable(eventually(label("b"), 0, 1000), "63/100", "64/100"), [0])
        outcome = judge(certificate("proved", slow, probable(eventually(label("b"), 0, 1_000_000)), [0]))
        assert isinstance(outcome, Rejected)
        assert "too much work" in outcome.reason

    def test_long_cycle(self) -> None:
        size = 300
        ring = chain(
            {f"s{i}": {f"s{(i + 1) % size}": "2/3", f"s{(i * 7 + 3) % size}": "1/3"} for i in range(size)}
            | {"end": {"end": "1"}},
            {"zero": ["s0"], "end": ["end"]},
        )
        ring["rows"][5] = [[None, [[6, "1/2"], [size, "1/2"]]]]
        assert value(ring, eventually(label("end")), 0) == "1"
        assert value(ring, until(["not", label("zero")], label("end")), 0) == "0"
        found = judge(
            certificate("proved", ring, probable(until(["not", label("zero")], label("end")), "1/100", "99/100"), [1])
        )
        assert isinstance(found, Accepted)


class TestEnclosures:
    PROCESS = chain(
        {
            "plus": {"yes": ["2/3", "3/4"], "no": ["1/4", "1/3"]},
            "minus": {"yes": "1/3", "no": "2/3"},
            "yes": {"plus": ["1/2", "51/100"], "yes": ["49/100", "1/2"]},
            "no": {"no": "1"},
        },
        {"out1": ["yes"], "no": ["no"]},
        [("plus", "minus")],
    )

    def test_decided_for_every_value(self) -> None:
        assert proved(self.PROCESS, private("ln(5/2)", nxt(label("out1"))), [0, 1])
        assert refuted(self.PROCESS, private("ln(3/2)", nxt(label("out1"))), 0)
        for verdict in (proved(self.PROCESS, private("ln(21/10)", nxt(label("out1"))), [0]),
                        refuted(self.PROCESS, private("ln(21/10)", nxt(label("out1"))), 0)):  # fmt: skip
            assert not verdict

    def test_certain_limits(self) -> None:
        assert proved(self.PROCESS, exactly(eventually(label("no")), "1"), [0, 1, 2, 3])
        assert proved(self.PROCESS, exactly(always(eventually(label("out1"))), "0"), [0])
        assert proved(self.PROCESS, probable(until(["not", label("no")], label("out1")), "66/100", "76/100"), [0])
        assert not proved(self.PROCESS, exactly(nxt(label("out1")), "2/3"), [0])
        assert not refuted(self.PROCESS, exactly(nxt(label("out1")), "2/3"), 0)

    def test_unknown_inside(self) -> None:
        unsure = probable(nxt(label("out1")), "7/10", "1")
        assert not proved(self.PROCESS, unsure, [0])
        assert not refuted(self.PROCESS, unsure, 0)
        assert refuted(self.PROCESS, unsure, 1)
        assert proved(self.PROCESS, ["or", unsure, ["not", unsure], ["true"]], [0])
        assert not proved(self.PROCESS, probable(eventually(unsure)), [2])
        assert proved(self.PROCESS, exactly(always(["not", unsure]), "1"), [3])


COIN = decisions(
    "LH",
    {
        "s": {"L": {"win": "1/2", "s": "1/2"}, "H": {"win": "1/4", "lose": "3/4"}},
        "t": {"L": {"win": "1/3", "lose": "2/3"}, "H": {"win": "1/4", "lose": "3/4"}},
        "win": {"L": {"win": "1"}, "H": {"win": "1"}},
        "lose": {"L": {"lose": "1"}, "H": {"lose": "1"}},
    },
    {"win": ["win"], "lose": ["lose"]},
    [("s", "t")],
)
WIN = label("win")


class TestDecisions:
    @pytest.mark.parametrize(
        ("path", "low", "high"),
        [
            (eventually(WIN), "1/4", "1"),
            (always(["not", WIN]), "0", "3/4"),
            (nxt(WIN), "1/4", "1/2"),
            (eventually(WIN, 0, 2), "1/4", "3/4"),
            (always(["not", label("lose")]), "1/4", "1"),
            (always(["state", 0]), "0", "0"),
            (until(["state", 0], label("lose")), "0", "3/4"),
            (nxt(eventually(WIN), 2), "1/4", "1"),
        ],
    )
    def test_extremes(self, path: Any, low: str, high: str) -> None:
        assert value(COIN, path, 0) == f"from {low} to {high}"
        assert proved(COIN, probable(path, low, high), [0])
        if low != high:
            assert refuted(COIN, probable(path, low, high, low_included=False), 0)
            assert refuted(COIN, probable(path, low, high, high_included=False), 0)

    def test_stay_for_ever(self) -> None:
        process = decisions(
            "ab",
            {"s": {"a": {"s": "1"}, "b": {"u": "1"}}, "u": {"a": {"s": "1"}, "b": {"win": "1/2", "s": "1/2"}},
             "win": {"a": {"win": "1"}}},
            {"win": ["win"]},
        )  # fmt: skip
        assert value(process, eventually(WIN), 0) == "from 0 to 1"
        assert value(process, eventually(WIN), 1) == "from 0 to 1"
        assert value(process, always(["not", WIN]), 1) == "from 0 to 1"

    def test_neither_safe_nor_co_safe(self) -> None:
        assert value(COIN, always(eventually(WIN)), 0) == "from 1/4 to 1"  # the goal is not left
        assert value(COIN, eventually(always(["not", WIN])), 0) == "from 0 to 3/4"
        several = ["and", *(always(eventually(["X", steps, WIN])) for steps in range(1, 7))]
        outcome = judge(certificate("proved", COIN, probable(several), [0]))
        assert isinstance(outcome, Rejected)
        assert "endless operators" in outcome.reason

    def _operators(self, formula: Any, *pairs: tuple[int, int, Any]) -> Any:
        return [{"formula": formula, "pairs": [{"left": s, "right": t, "how": how} for s, t, how in pairs]}]

    def test_by_extremes(self) -> None:
        extremes = {"kind": "extremes"}
        formula = private("ln(2)", nxt(WIN))  # max s 1/2, min t 1/4, max t 1/3, min s 1/4
        assert proved(COIN, formula, [0, 1], operators=self._operators(formula, (0, 1, extremes), (1, 0, extremes)))
        assert not proved(COIN, formula, [0], operators=self._operators(formula, (0, 1, extremes)))
        assert not proved(COIN, formula, [0])
        tighter = private("ln(3/2)", nxt(WIN))
        assert not proved(COIN, tighter, [0], operators=self._operators(tighter, (0, 1, extremes), (1, 0, extremes)))
        assert not proved(COIN, formula, [0], operators=self._operators(tighter, (0, 1, extremes), (1, 0, extremes)))

    def test_by_tree(self) -> None:
        formula = private("ln(3/2)", nxt(WIN))  # L: 1/2 and 1/3; H: 1/4 both
        tree = {"kind": "tree", "words": [[0], [1]]}
        deep = {"kind": "tree", "words": [[0, 0], [0, 1], [1]]}
        assert proved(COIN, formula, [0, 1], operators=self._operators(formula, (0, 1, tree), (1, 0, deep)))
        for words in ([[0]], [[0], [1], [0]], [[0], [0, 1], [1]], [], [[]], [[0], [1, 0]], [[0], [2]]):
            wrong = {"kind": "tree", "words": words}
            assert not proved(COIN, formula, [0], operators=self._operators(formula, (0, 1, wrong), (1, 0, tree)))
        tighter = private("ln(149/100)", nxt(WIN))
        assert not proved(COIN, tighter, [0], operators=self._operators(tighter, (0, 1, tree), (1, 0, tree)))

    def test_by_lasso(self) -> None:
        formula = private("ln(29/10)", eventually(WIN))  # L for ever: 1 and 1/3
        lasso = {"kind": "lasso", "before": [], "repeated": [0]}
        later = {"kind": "lasso", "before": [0, 0, 0, 0, 0, 0], "repeated": [1]}
        assert refuted(COIN, formula, 0, operators=self._operators(formula, (0, 1, lasso)))
        assert refuted(COIN, formula, 1, operators=self._operators(formula, (0, 1, later)))
        assert not refuted(COIN, formula, 0, operators=self._operators(formula, (1, 0, lasso)))
        loose = private("ln(3)", eventually(WIN))
        assert not refuted(COIN, loose, 0, operators=self._operators(loose, (0, 1, lasso)))
        assert not refuted(COIN, formula, 0)
        assert not proved(COIN, formula, [0], operators=self._operators(formula, (0, 1, lasso)))
        assert proved(COIN, ["not", formula], [0, 1], operators=self._operators(formula, (0, 1, lasso)))
        empty = {"kind": "lasso", "before": [0], "repeated": []}
        assert not refuted(COIN, formula, 0, operators=self._operators(formula, (0, 1, empty)))
        recurring = private("1", always(eventually(WIN)))
        assert refuted(COIN, recurring, 0, operators=self._operators(recurring, (0, 1, lasso)))

    def test_words_are_left_to_translation(self) -> None:
        formula = private("ln(3)", eventually(WIN))
        how = {"kind": "words", "certificate": {}, "states": []}
        outcome = judge(certificate("proved", COIN, formula, [0], operators=self._operators(formula, (0, 1, how))))
        assert isinstance(outcome, Rejected)

    def test_every_action_is_needed(self) -> None:
        process = copy.deepcopy(COIN)
        process["rows"][2].pop()
        formula = private("ln(2)", nxt(WIN))
        extremes = {"kind": "extremes"}
        assert not proved(process, formula, [0], operators=self._operators(formula, (0, 1, extremes), (1, 0, extremes)))
        assert proved(process, probable(nxt(WIN), "1/4", "1/2"), [0])

    def test_unknown_inside(self) -> None:
        inner = private("ln(2)", nxt(WIN))
        extremes = {"kind": "extremes"}
        operators = self._operators(inner, (0, 1, extremes), (1, 0, extremes))
        assert proved(COIN, probable(nxt(inner), "1", "1"), [0, 1], operators=operators)
        assert not proved(COIN, probable(nxt(inner), "1", "1"), [0, 1])
        assert proved(COIN, probable(nxt(inner), "1", "1"), [2])

    def test_enclosures(self) -> None:
        process = copy.deepcopy(COIN)
        process["rows"][0][1] = [1, [[2, ["24/100", "26/100"]], [3, ["74/100", "76/100"]]]]
        assert proved(process, probable(nxt(WIN), "23/100", "1/2"), [0])
        assert not proved(process, probable(nxt(WIN), "1/4", "1/2"), [0])
        assert not refuted(process, probable(nxt(WIN), "1/4", "1/2"), 0)
        assert not proved(process, probable(eventually(WIN)), [0])
        lasso = {"kind": "lasso", "before": [], "repeated": [0]}
        formula = private("ln(29/10)", eventually(WIN))
        assert refuted(process, formula, 0, operators=self._operators(formula, (0, 1, lasso)))


class TestWrongCertificates:
    """One change makes the claim wrong: it is not accepted."""

    GOOD = certificate("proved", SURVEY, private("ln(3)", nxt(label("out1"))), [0, 1])

    def test_good(self) -> None:
        assert isinstance(judge(self.GOOD), Accepted)

    @pytest.mark.parametrize(
        ("place", "new"),
        [
            (("question", "process", "rows", 0), [[None, [[2, "4/5"], [3, "1/5"]]]]),
            (("question", "process", "rows", 0), [[None, [[2, "4/5"], [3, "1/4"]]]]),
            (("question", "process", "rows", 0), [[None, [[2, "5/4"], [3, "-1/4"]]]]),
            (("question", "process", "rows", 0), [[None, [[2, "1"], [3, "0"]]]]),
            (("question", "process", "rows", 0), [[None, [[2, "1/2"], [2, "1/2"]]]]),
            (("question", "process", "rows", 0), [[0, [[2, "3/4"], [3, "1/4"]]]]),
            (("question", "process", "rows", 0), []),
            (("question", "process", "rows", 0), [[None, []]]),
            (("question", "process", "rows", 0), [[None, [[2, ["3/4", "4/5"]], [3, ["1/5", "1/4"]]]]]),
            (("question", "process", "rows", 0), [[None, [[2, ["3/4", "1/2"]], [3, "1/4"]]]]),
            (("question", "process", "rows", 0, 0, 1, 0, 0), 7),
            (("question", "process", "labels", "out1"), [2, 2]),
            (("question", "process", "labels", "out1"), [0, True]),
            (("question", "process", "neighbours"), []),
            (("question", "process", "neighbours"), [[0, 2]]),
            (("question", "process", "neighbours"), [[0, 9]]),
            (("question", "formula"), private("ln(29/10)", nxt(label("out1")))),
            (("question", "formula"), private("-1", nxt(label("out1")))),
            (("question", "formula"), private("ln(3)", nxt(label("out2")))),
            (("question", "formula"), private("ln(3)", nxt(label("out1")), "2")),
            (("question", "formula"), private("ln(3)", nxt(label("out1"), 0))),
            (("question", "formula"), private("ln(3)", until(TRUE, label("out1"), 3, 2))),
            (("question", "formula"), private("ln(3)", until(TRUE, label("out1"), 0, 2_000_000))),
            (("question", "formula"), ["not", private("ln(3)", nxt(label("out1")))]),
            (("question", "formula"), nxt(label("out1"))),
            (("question", "formula"), ["and"]),
            (("question", "formula"), ["what"]),
            (("question", "states"), []),
            (("question", "states"), [0, 0]),
            (("question", "states"), [5]),
            (("question", "more"), 1),
            (("evidence", "method"), "word"),
            (("evidence", "more"), 1),
            (("evidence", "operators"), [{"formula": private("ln(3)", nxt(label("out1"))), "pairs": []}]),
            (("evidence", "operators"), [{"formula": private("ln(4)", nxt(label("out1"))), "pairs": []}]),
            (("verdict",), "refuted"),
        ],
    )
    def test_changed(self, place: tuple[Any, ...], new: Any) -> None:
        document: Any = copy.deepcopy(self.GOOD)
        at = document
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = new
        assert isinstance(judge(document), Rejected)

    def test_refuted_needs_an_asked_state(self) -> None:
        document = certificate("refuted", SURVEY, private("1", nxt(label("out1"))), [1], state=0)
        assert isinstance(judge(document), Rejected)
        document = certificate("refuted", SURVEY, private("1", nxt(label("out1"))), [0, 1])
        assert isinstance(judge(document), Rejected)

    def test_a_text_does_not_count(self) -> None:
        document = copy.deepcopy(self.GOOD)
        document["question"]["text"] = "D[0, 0](X out1)"
        outcome = judge(document)
        assert isinstance(outcome, Accepted)
        assert outcome.statement.startswith("D[ln(3), 0](X out1)")
