"""Questions about formulas as plain data: the process and the formula."""

from __future__ import annotations

from privproof.logic.comparison_states import satisfying_states
from privproof.logic.decision_process import DecisionProcess, Enclosure
from privproof.logic.formula_question import FormulaQuestion
from privproof.logic.formulas import (
    Accumulated,
    And,
    Atom,
    Comparison,
    Expected,
    Formula,
    FormulaFamily,
    Iff,
    Implies,
    LongRun,
    Momentary,
    NextState,
    Not,
    OfPaths,
    Or,
    Private,
    ProbabilityRange,
    Probable,
    Steady,
    StepBound,
    Truth,
    Unary,
    Until,
)
from privproof.logic.formulas.sublogics import subformulas
from privproof.logic.process_columns import comparison_name, process_columns
from privproof.logic.reward_structures import Rewards


def document(question: FormulaQuestion, compiled: object) -> dict[str, object]:
    """The question: the process, the formula and the states that are asked about."""
    process = question.process
    if question.in_columns:
        return {
            "kind": "logic in columns",
            "title": process.name,
            "process": process_columns(process, question.formula, question.states),
            "formula": formula_data(question.formula, process, in_columns=True),
            "text": str(question.formula),
            "states": list(question.states),
        }
    return {
        "kind": "logic",
        "title": process.name,
        "process": _process(process, {f.reward for f in subformulas(question.formula) if isinstance(f, Expected)}),
        "formula": formula_data(question.formula, process),
        "text": str(question.formula),
        "states": list(question.states),
    }


def _process(process: DecisionProcess, asked: set[str]) -> dict[str, object]:
    """The process, with the rewards that are asked about."""

    def number(p: object) -> object:
        return [str(p.low), str(p.high)] if isinstance(p, Enclosure) else str(p)

    begins = process.choices.tolist()
    names = sorted({process.reward_name(name) for name in asked})
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
        **({"rewards": {name: _rewards(process, process.reward(name)) for name in names}} if names else {}),
    }


def _rewards(process: DecisionProcess, rewards: Rewards) -> dict[str, object]:
    """The rewards that are not 0: of states, and of choices, told by their state and action."""
    begins = process.choices.tolist()
    return {
        "states": [[s, str(rewards.of_state(s))] for s in range(len(process)) if rewards.of_state(s) != 0],
        "choices": [
            [s, int(process.action_of[c]) if process.actions else None, str(rewards.of_choice(c))]
            for s in range(len(process))
            for c in range(begins[s], begins[s + 1])
            if rewards.of_choice(c) != 0
        ],
    }


def formula_data(formula: Formula, process: DecisionProcess, *, in_columns: bool = False) -> list[object]:
    """A formula in the form that certificates use: few operators, all arguments spelled out; in columns a comparison is a label."""

    def say(f: Formula) -> list[object]:
        match f:
            case Truth(value):
                return ["true" if value else "false"]
            case Atom(name):
                return ["label", name] if name in process.labels else ["state", process.state(name)]
            case Comparison() if in_columns:
                return ["label", comparison_name(f, process)]
            case Comparison():
                return ["set", _state_numbers(f, process)]
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
            case FormulaFamily(quantifier):
                return ["and" if quantifier == "all" else "or", *map(say, f.instances())]
            case NextState(inner, times):
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
                return ["P", _range(within), say(path)]
            case Expected(amounts, path, reward):
                assert amounts is not None
                bounds = {
                    "low": str(amounts.low),
                    "low_included": amounts.low_included,
                    "high": None if amounts.high is None else str(amounts.high),
                    "high_included": amounts.high_included,
                }
                return ["R", bounds, process.reward_name(reward), say(path)]
            case Accumulated(steps):
                return ["C", None if steps is None else steps.constant]
            case Momentary(steps):
                return ["I", steps.constant]
            case LongRun():
                return ["S"]
            case Steady(within, inner):
                assert within is not None
                return ["S", _range(within), say(inner)]
            case OfPaths("E", path):
                return ["E", say(path)]
            case OfPaths(_, path):
                return ["not", ["E", ["not", say(path)]]]
            case Private(epsilon, delta, path):
                return ["D", {"epsilon": str(epsilon), "delta": str(delta)}, say(path)]
        raise AssertionError(f)

    return say(formula)


def _range(within: ProbabilityRange) -> dict[str, object]:
    return {
        "low": str(within.low),
        "low_included": within.low_included,
        "high": str(within.high),
        "high_included": within.high_included,
    }


def _until(left: list[object], right: list[object], bound: StepBound) -> list[object]:
    low, high = max(0, bound.low.constant), None if bound.high is None else bound.high.constant
    if high is not None and high < low:
        return ["false"]
    return ["U", left, right, low, high]


def _state_numbers(comparison: Comparison, process: DecisionProcess) -> list[int]:
    return [int(s) for s in satisfying_states(comparison, process).nonzero()[0]]
