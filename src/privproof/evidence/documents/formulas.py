"""Questions about formulas as plain data: the process and the formula."""

from __future__ import annotations

from privproof.compiling.conditions import satisfying
from privproof.formulas import (
    And,
    Atom,
    Bound,
    Comparison,
    Family,
    Formula,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Private,
    Probable,
    Truth,
    Unary,
    Until,
)
from privproof.models import DecisionProcess, Enclosure
from privproof.scenarios.formulas import FormulaQuestion


def document(question: FormulaQuestion, compiled: object) -> dict[str, object]:
    """The question: the process, the formula and the states that are asked about."""
    process = question.process
    return {
        "kind": "logic",
        "title": process.name,
        "process": _process(process),
        "formula": structured(question.formula, process),
        "text": str(question.formula),
        "states": list(question.states),
    }


def _process(process: DecisionProcess) -> dict[str, object]:
    def number(p: object) -> object:
        return [str(p.low), str(p.high)] if isinstance(p, Enclosure) else str(p)

    begins = process.choices.tolist()
    return {
        "states": list(process.names),
        "actions": list(process.actions),
        "rows": [
            [
                [
                    int(process.action_of[c]) if process.actions else None,
                    [[target, number(p)] for target, p in process.entries(c)],
                ]
                for c in range(begins[s], begins[s + 1])
            ]
            for s in range(len(process))
        ],
        "labels": {label: [int(s) for s in carried.nonzero()[0]] for label, carried in process.labels.items()},
        "neighbours": [list(pair) for pair in process.related],
        **({"missing": process.missing} if process.lacking else {}),
    }


def structured(formula: Formula, process: DecisionProcess) -> list[object]:
    """A formula in the form that certificates use: few operators, all arguments spelled out."""

    def say(f: Formula) -> list[object]:
        match f:
            case Truth(value):
                return ["true" if value else "false"]
            case Atom(name):
                return ["label", name] if name in process.labels else ["state", process.state(name)]
            case Comparison():
                return ["set", _satisfying(f, process)]
            case Not(inner):
                return ["not", say(inner)]
            case And(parts):
                return ["and", *map(say, parts)]
            case Or(parts):
                return ["or", *map(say, parts)]
            case Implies(left, right):
                return ["or", ["not", say(left)], say(right)]
            case Iff(left, right):
                first, second = say(left), say(right)
                return ["and", ["or", ["not", first], second], ["or", first, ["not", second]]]
            case Family(quantifier):
                return ["and" if quantifier == "all" else "or", *map(say, f.instances())]
            case Next(inner, times):
                return ["X", times.constant, say(inner)] if times.constant else say(inner)
            case Unary(operator, inner, bound):
                if operator == "F":
                    return _until(["true"], say(inner), bound)
                return ["not", _until(["true"], ["not", say(inner)], bound)]
            case Until(operator, left, right, bound):
                first, second = say(left), say(right)
                if operator == "U":
                    return _until(first, second, bound)
                if operator == "R":
                    return ["not", _until(["not", first], ["not", second], bound)]
                return ["not", _until(["not", second], ["and", ["not", first], ["not", second]], bound)]
            case Probable(within, path):
                assert within is not None
                ends = {
                    "low": str(within.low),
                    "low_included": within.low_included,
                    "high": str(within.high),
                    "high_included": within.high_included,
                }
                return ["P", ends, say(path)]
            case Private(epsilon, delta, path):
                return ["D", {"epsilon": str(epsilon), "delta": str(delta)}, say(path)]
        raise AssertionError(f)

    return say(formula)


def _until(left: list[object], right: list[object], bound: Bound) -> list[object]:
    low, high = max(0, bound.low.constant), None if bound.high is None else bound.high.constant
    if high is not None and high < low:
        return ["false"]
    return ["U", left, right, low, high]


def _satisfying(comparison: Comparison, process: DecisionProcess) -> list[int]:
    return [int(s) for s in satisfying(comparison, process).nonzero()[0]]
