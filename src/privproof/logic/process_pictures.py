"""Pictures of Markov chains and decision processes: boxes and arrows."""

from __future__ import annotations

from collections.abc import Collection

from privproof.drawing.graph_pictures import Arrow, Box, Picture
from privproof.exact.number_texts import short
from privproof.formats.automaton_pictures import few_lines
from privproof.logic.decision_process import DecisionProcess, Enclosure


def process_picture(process: DecisionProcess, failing: Collection[int] = ()) -> Picture:
    """The picture of a Markov chain or decision process on numbered states: labels in the boxes, actions beside the probabilities.

    States in which a formula fails have a red border.

    >>> coin = DecisionProcess.of(states=["a", "b"], actions=["flip"], labels={"b": "done"}, self_loops=True,
    ...     transitions={"a": {"flip": {"a": "1/2", "b": "1/2"}}})
    >>> process_picture(coin).arrows[1], process_picture(coin).boxes[1].lines
    (Arrow(source=0, target=1, lines=('flip: 1/2',), marked=False), ('done',))
    """
    lefts, rights = ({pair[side] for pair in process.neighbours} for side in (0, 1))
    boxes = tuple(
        Box(
            str(name),
            few_lines(label for label, marks in process.labels.items() if marks[state]),
            left=state in lefts,
            right=state in rights,
            initial=state in process.initial,
            failing=state in failing,
        )
        for state, name in enumerate(process.names)
    )
    moves: dict[tuple[int, int], list[str]] = {}
    for state in range(len(process)):
        for choice in range(process.choices[state], process.choices[state + 1]):
            action = "" if process.is_chain else f"{process.actions[process.action_of[choice]]}: "
            for entry in range(process.rows[choice], process.rows[choice + 1]):
                found = process.numbers[process.values[entry]]
                shown = str(found) if isinstance(found, Enclosure) else short(found)
                moves.setdefault((state, int(process.targets[entry])), []).append(f"{action}{shown}")
    arrows = tuple(Arrow(source, target, few_lines(lines)) for (source, target), lines in moves.items())
    return Picture(process.name, boxes, arrows)
