"""``sum`` and ``count`` of an input as loops.

A list that is fed to a mechanism element by element would have to be kept whole for a sum at the end; with the sum as a loop the state
is the sum so far.  Only a list that is read and never changed, and that has no second name, may be walked over earlier than it is summed.
"""

from __future__ import annotations

from fractions import Fraction

from privproof.compiling.rewriting import Unsupported, expand_count_calls, expand_sum_calls
from privproof.language.flow import Flow, flow
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Block, Element, Expression, Operation, Variable
from privproof.language.walking import parts, reads, statements, writes


def summing_flow(mechanism: Mechanism) -> Flow:
    """The instructions of a mechanism, with ``sum`` and ``count`` of an input as loops: the sum so far is the state, and not the list."""
    summed = summed_body(mechanism)
    if summed == mechanism.translated.body:
        return mechanism.flow
    lists = [name for name, declared in mechanism.inputs.items() if declared.shape == "list"]
    return flow(summed, lists, given=(*mechanism.inputs, *mechanism.parameters))


def summed_body(mechanism: Mechanism) -> Block:
    """The statements of a mechanism, with ``sum`` and ``count`` of an input as loops where the input is only read."""
    body = mechanism.translated.body
    lists = {name: declared for name, declared in mechanism.inputs.items() if declared.shape == "list"}
    numbers = all(
        isinstance(value, int | Fraction) for declared in lists.values() for value in declared.values or ("",)
    )
    if not all(_only_read(body, name) for name in lists):
        return body
    body = expand_count_calls(body, lists)
    if not numbers:
        return body
    try:
        return expand_sum_calls(body, mechanism)
    except Unsupported:
        return body


def _only_read(body: Block, name: str) -> bool:
    """Whether a list is only read: element by element, its length or its sum; so that no other name stands for it, and none changes it."""

    def fine(expression: Expression) -> bool:
        match expression:
            case Variable(found):
                return found != name
            case Element(Variable(), index):
                return fine(index)
            case Operation("sum" | "len" | "turns", (Variable(),)):
                return True
            case Operation("count", (Variable(), wanted)):
                return fine(wanted)
            case _:
                return all(map(fine, parts(expression)))

    return all(writes(statement) != name and all(map(fine, reads(statement))) for statement in statements(body))
