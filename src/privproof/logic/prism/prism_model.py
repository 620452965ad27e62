"""PRISM models read: the process, and which of its states satisfy a condition in the model's own words.

PRISM has no neighbour relation.  It is written in comments that PRISM passes over::

    //@ neighbours "plus" ~ "minus"
    //@ neighbours s=0 & !b ~ s=0 & b

Every reachable state that satisfies the one side is a neighbour of every reachable state that satisfies the other.  In the
same way ``//@ initial s=0`` says where runs start, where ``init ... endinit`` lists more states, so that they are kept.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from privproof.logic.decision_process import Bools, DecisionProcess
from privproof.logic.prism.expression_meanings import Scope
from privproof.logic.prism.prism_expressions import ExpressionReader, SyntaxNode, parse_expression
from privproof.logic.prism.prism_tokens import PrismSource

MOST_STATES = 20_000_000
"""How many states are explored unless the caller says otherwise; a model with more is refused."""
MOST_PAIRS = 1_000_000
"""The remarks of a model may relate so many pairs of neighbours; beyond, they are refused with a hint to relate fewer states."""

_WORD = re.compile(r"(neighbours|initial)\b[ \t]*")
_REMARKS = "//@ neighbours A ~ B, or //@ initial A"
_NO_CONSTANTS: Mapping[str, str] = {}


@dataclass(frozen=True)
class PrismModel:
    """A model read from the PRISM language.

    Attributes:
        process: its reachable states.
        scope: what the names in its text mean.
    """

    process: DecisionProcess
    scope: Scope

    def satisfying(self, condition: str, *, name: str = "condition") -> Bools:
        """The states that satisfy a condition over variables, constants, formulas and quoted labels.

        Args:
            condition: the condition.
            name: what messages call it.

        >>> model = explore('dtmc const int N = 2; module m x : [0..N]; [] x<N -> (x'+"'"+'=x+1); [] x=N -> true; endmodule')
        >>> model.satisfying('x=N | "init"').tolist()
        [True, False, True]
        """
        source = PrismSource(name, condition)
        return self.states_of(source, parse_expression(source))

    def states_of(self, source: PrismSource, node: SyntaxNode) -> Bools:
        """The states that satisfy a condition of some text."""
        process = self.process
        slots = len(self.scope.variables)
        labels = {label: slots + number for number, label in enumerate(process.labels)}
        scope = replace(self.scope, source=source, labels=labels, _known={}, _open=[])
        meaning = scope.condition(node, "what is asked of states")
        from privproof.logic.prism.label_states import (
            states_satisfying,  # here, because models of other files need none of it
        )

        return states_satisfying(meaning, len(process), [*process.variables.values(), *process.labels.values()])


def explore(
    text: str,
    *,
    constants: Mapping[str, str] = _NO_CONSTANTS,
    self_loops: bool = False,
    most_states: int = MOST_STATES,
    name: str = "text",
) -> PrismModel:
    """The model that a PRISM text describes, with what is needed to ask about its states.

    Args:
        text: the model.
        constants: values for the constants that the model leaves open.
        self_loops: let a state without any command stay where it is, instead of refusing the model.
        most_states: how many reachable states there may be at most.
        name: what messages call the text.

    Raises:
        FormatError: the text is no model that can be read; the place is ``name:line:column``.
        ModelError: some states have no transition.
    """
    with no_collecting():
        from privproof.logic.prism.module_system import system  # here and below, for the same reason
        from privproof.logic.prism.prism_syntax import parse_text
        from privproof.logic.prism.state_exploration import explore_states

        found = system(parse_text(PrismSource(name, text)), constants)
        process = explore_states(found, self_loops=self_loops, most_states=most_states)
    model = PrismModel(process, found.scope)
    stretches = []
    for begin, remark in found.remarks:
        word = _WORD.match(remark)
        if not word:
            found.source.refuse(begin, "remark", f"unknown remark {remark.split(' ')[0]!r}", hint=_REMARKS)
        stretch = (begin + word.end(), begin + len(remark))
        if word[1] == "neighbours":
            stretches.append(stretch)
        else:
            model = _set_initial_states(model, found.source, stretch)
    pairs = _pairs(model, found.source, stretches)
    return replace(model, process=replace(model.process, neighbours=pairs, name=Path(name).stem))


def parse_prism(
    text: str,
    *,
    constants: Mapping[str, str] = _NO_CONSTANTS,
    self_loops: bool = False,
    most_states: int = MOST_STATES,
    name: str = "text",
) -> DecisionProcess:
    """The process that a PRISM text describes; see `explore` for the arguments.

    >>> coin = parse_prism('''
    ... dtmc
    ... module coin
    ...   side : [0..2];
    ...   [] side=0 -> 1/2 : (side'=1) + 1/2 : (side'=2);
    ...   [] side>0 -> true;
    ... endmodule
    ... label "heads" = side=1;
    ... //@ neighbours side=1 ~ side=2''')
    >>> list(coin.names), coin.entries(0), coin.neighbours
    (['(side=0)', '(side=1)', '(side=2)'], [(1, 1/2), (2, 1/2)], ((1, 2),))
    """
    return explore(text, constants=constants, self_loops=self_loops, most_states=most_states, name=name).process


@contextmanager
def no_collecting() -> Iterator[None]:
    """Without the collector of cyclic garbage, which would look at every state and every node again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def neighbours_from(
    model: PrismModel | DecisionProcess, text: str, *, name: str = "neighbours"
) -> tuple[tuple[int, int], ...]:
    """The pairs of states that a text relates: ``A ~ B``, several separated by ``;``.

    Args:
        model: the model; of a process alone, the conditions speak of its variables (as integers) and its labels.
        text: the conditions.
        name: what messages call the text.

    >>> from privproof.logic.decision_process import DecisionProcess
    >>> survey = DecisionProcess.of(states=["a", "b"], transitions={}, labels={"a": "plus", "b": "minus"}, self_loops=True)
    >>> neighbours_from(survey, '"plus" ~ "minus"')
    ((0, 1),)
    """
    source = PrismSource(name, text)
    return _pairs(words_of(model, source) if isinstance(model, DecisionProcess) else model, source, [(0, len(text))])


def words_of(process: DecisionProcess, source: PrismSource) -> PrismModel:
    """A process alone as a model, for a text that speaks of its variables (as integers) and its labels."""
    variables = {variable: (number, "int") for number, variable in enumerate(process.variables)}
    return PrismModel(process, Scope(source, variables=variables))


def _set_initial_states(model: PrismModel, source: PrismSource, stretch: tuple[int, int]) -> PrismModel:
    """The model whose runs start in the states that a stretch of a text describes."""
    marks = model.states_of(source, parse_expression(source, begin=stretch[0], end=stretch[1]))
    labels = {**model.process.labels, "init": marks}
    return replace(model, process=replace(model.process, labels=labels, initial=tuple(np.flatnonzero(marks).tolist())))


def _pairs(model: PrismModel, source: PrismSource, stretches: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The pairs that stretches of a text relate."""
    found: dict[tuple[int, int], None] = {}
    for begin, end in stretches:
        reader = ExpressionReader(source, begin=begin, end=end)
        while True:
            at = reader.token.start
            sides = [reader.expression()]
            reader.expect("~", after="the condition of one neighbour")
            sides.append(reader.expression())
            _relate(model, source, at, sides, found)
            while reader.accept(";"):
                pass
            if reader.at_end:
                break
    return tuple(found)


def _relate(
    model: PrismModel, source: PrismSource, at: int, sides: Iterable[SyntaxNode], found: dict[tuple[int, int], None]
) -> None:
    left, right = (np.flatnonzero(model.states_of(source, side)).tolist() for side in sides)
    for side, which in ((left, "left"), (right, "right")):
        if not side:
            source.refuse(
                at, "neighbours", f"no reachable state satisfies the {which} side", hint="check the condition"
            )
    if len(left) * len(right) + len(found) > MOST_PAIRS:
        source.refuse(
            at,
            "neighbours",
            f"{len(left)} states ~ {len(right)} states: more than {MOST_PAIRS} pairs of neighbours",
            hint="relate fewer states",
        )
    pairs = [(min(a, b), max(a, b)) for a in left for b in right if a != b]
    if not pairs:
        source.refuse(at, "neighbours", "both sides are the same single state", hint="relate two different states")
    found.update(dict.fromkeys(pairs))
