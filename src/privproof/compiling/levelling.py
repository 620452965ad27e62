"""Rewriting of what the two runs do alike although it is written differently.

A variable that is called like something that proofs speak of, such as ``cost``, gets another name.

Data come before noise: a shift may speak of what is known when the noise is drawn.  ``noise = laplace(0, 1)``, ``return sum(q) + noise``
draws before it sums up; what only computes, from variables that the noise has no part in, is done before the draw.  A draw depends on
its arguments alone, so that neither notices the order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from privproof.compiling.branches import noisy_variables
from privproof.compiling.needs import read_counts
from privproof.compiling.sorts import CONTINUOUS
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Assign,
    Block,
    Constant,
    Expression,
    If,
    Operation,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import (
    reads,
    statements,
    variables,
    with_blocks,
    with_names,
    with_reads,
    writes,
)


def noise_around_sums(body: Block) -> Block:
    """``noise = laplace(0, 1)`` and later ``count + noise`` as noise around the count: the same number, and what it is added to is told."""
    written, read = Counter(map(writes, statements(body))), read_counts(body)
    noisy = noisy_variables(body)

    def change(block: Block) -> Block:
        result = [with_blocks(statement, change) for statement in block]
        for at, drawn in enumerate(result):
            match drawn:
                case Sample(name, noise, (Constant(0), *law)) if noise in CONTINUOUS:
                    if written[name] == 1 and read[name] == 1:
                        _around(result, at, drawn, tuple(law), noisy)
        return tuple(result)

    return change(body)


def _around(block: list[Statement], at: int, drawn: Sample, law: tuple[Expression, ...], noisy: set[str]) -> None:
    """Draw noise around what is added to it in a later statement of the block, if that is known by then."""
    changed = set[str | None]()
    for later in range(at + 1, len(block)):
        statement, sums = block[later], list[Expression]()

        def noted(expression: Expression, sums: list[Expression] = sums) -> Expression | None:
            match expression:
                case Operation("+", (one, other)):
                    for alone, more in ((one, other), (other, one)):
                        if isinstance(alone, Variable) and alone.name == drawn.name:
                            sums.append(more)
                            return alone
            return None

        if any(drawn.name in variables(e) for e in reads(statement)):
            made = with_reads(statement, noted)
            if (
                isinstance(statement, Assign | If)
                and len(sums) == 1
                and not (changed | noisy) & set(variables(sums[0]))
            ):
                block[at], block[later] = replace(drawn, arguments=(sums[0], *law)), made
            return
        changed |= {writes(s) for s in statements((statement,))}


def data_before_noise(body: Block) -> Block:
    """What only computes, and reads nothing that noise was given to, stands before the noise; the order of the draws stays."""
    result: list[Statement] = []
    late: list[Statement] = []
    held: set[str] = set()
    needed: set[str] = set()

    def let_go() -> None:
        result.extend(late)
        late.clear()
        held.clear()
        needed.clear()

    for statement in body:
        inner = tuple(statements((statement,)))
        read = {name for s in inner for e in reads(s) for name in variables(e)}
        written = {name for s in inner if (name := writes(s)) is not None}
        computes = all(isinstance(s, Assign | If | While) for s in inner)
        if computes and not held & (read | written) and not needed & written:
            result.append(statement)
        elif isinstance(statement, Assign | Sample):
            late.append(statement)
            held |= written
            needed |= read
        else:
            let_go()
            result.append(with_blocks(statement, data_before_noise))
    let_go()
    return tuple(result)


RESERVED = ("cost", "ok", "size", "up", "by", "changed", "which", "added")
"""What proofs call the costs, the length of lists and how neighbours differ."""


def rename_reserved_variables(body: Block, mechanism: Mechanism) -> Block:
    """The body with other names for variables that are called like something that proofs speak of."""
    taken = {writes(s) for s in statements(body)} | set(mechanism.inputs)
    names = {name: f"{name}_" for name in RESERVED if name in taken and name not in mechanism.inputs}
    for name in names:
        while names[name] in taken:
            names[name] += "_"

    return with_names(body, names)
