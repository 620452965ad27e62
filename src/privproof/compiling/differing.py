"""What may differ between two runs on neighbouring data: variables and expressions that data or noise flow into."""

from __future__ import annotations

from privproof.compiling.sorts import OTHERS, SHIFTED
from privproof.language.flow import Instruction, Next
from privproof.language.inputs import ADD_REMOVE
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Each,
    Element,
    Expression,
    Operation,
    Replace,
    Sample,
    Statement,
    Variable,
)
from privproof.language.walking import parts, reads, variables, variables_reached


def differing_by_assignment(body: Block, mechanism: Mechanism) -> set[str]:
    """The variables that private data or noise flow into by assignments (not by tests)."""
    private = {name for name, declared in mechanism.inputs.items() if not declared.public}

    def flows(statement: Statement, found: set[str]) -> bool:
        match statement:
            case Sample(_, "place" | "ranked"):
                return False  # both runs have it in common
            case Sample(_, noise) if noise in (*SHIFTED, "truncated_geometric", OTHERS):
                return True
            case Each(_, stream) if stream in found:
                return True
            case _:
                return any(differs(expression, found, mechanism) for expression in reads(statement))

    return variables_reached(body, private, flows)


def differs(expression: Expression, high: set[str] | frozenset[str], mechanism: Mechanism) -> bool:
    """Whether the value of an expression may differ between the two runs."""
    match expression:
        case Operation("len" | "turns", (Variable(name),)) if name in mechanism.inputs:
            return mechanism.neighbours == ADD_REMOVE and not mechanism.inputs[name].public
        case Operation("length" | "position"):
            return (
                False  # a list that is kept is made alike by both runs, and a record that is replaced stays where it is
            )
        case Variable(name):
            return name in high
        case Element(Variable(name), index) if name in mechanism.inputs:
            return name in high or differs(index, high, mechanism)
        case _:
            return any(differs(part, high, mechanism) for part in parts(expression))


def differing_variables(code: tuple[Instruction, ...], mechanism: Mechanism) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that may differ between the runs, and those in whose value noise has a part."""
    private = {name for name, declared in mechanism.inputs.items() if not declared.public}
    high, noisy = set(private), set[str]()
    while True:
        before = len(high) + len(noisy)
        for step in code:
            match step:
                case Assign(name, value) | Replace(name, _, value) | Append(name, value):
                    if differs(value, high, mechanism):
                        high.add(name)
                    if noisy.intersection(variables(value)):
                        noisy.add(name)
                case Sample(_, "place" | "ranked"):
                    pass  # both runs have it in common
                case Sample(name, noise, arguments):
                    if noise in (*SHIFTED, OTHERS) or any(differs(a, high, mechanism) for a in arguments):
                        high.add(name)
                    noisy.add(name)
                case Next(name, stream):
                    if stream in private:
                        high.add(name)
                case _:
                    pass
        if len(high) + len(noisy) == before:
            return frozenset(high), frozenset(noisy)
