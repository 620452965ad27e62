"""The mechanism behind a finite model: what the model's names stand for, and a witness in the mechanism's own terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from privproof.language.indices import Foretold, Turn
from privproof.language.values import (
    ENDED,
    Cells,
    Lookup,
    Named,
    Tail,
    parts_of,
    shared_value,
    text,
    with_indices,
    with_written,
)

if TYPE_CHECKING:
    from privproof.language import Mechanism
    from privproof.language.indices import Written
    from privproof.language.running import Run

REVERSED = " (reversed)"
"""What the name of a pair ends in when its sides are exchanged."""


@dataclass(frozen=True)
class Origin:
    """The mechanism that a finite model was made from, and what the names in the model stand for.

    Attributes:
        mechanism: the mechanism.
        fed: the argument that is read one value a step; None where one input of the model is a whole data set.
        inputs: for every input of the model the value it stands for; for a whole data set the arguments by name.
        outputs: for every output of the model the value it stands for.
        situations: for every pair of the scenario the other arguments by name, on the left and on the right.
        collected: whether all outputs are shown at the end, as one.
    """

    mechanism: Mechanism
    fed: str | None
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    situations: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]
    collected: bool = True

    def arguments(self, pair: str, side: int, inputs: Sequence[str]) -> dict[str, Any]:
        """The arguments of the mechanism that one side (0: left, 1: right) of a pair and its inputs stand for."""
        values = [self.inputs[name] for name in inputs]
        fed = dict(values[0]) if self.fed is None else {self.fed: values}
        if pair in self.situations:
            others = self.situations[pair][side]
        else:
            others = self.situations[pair.removesuffix(REVERSED)][1 - side]
        given = {**others, **fed}
        return {name: given[name] for name in self.mechanism.inputs}

    def shows(self, run: Run, letters: Sequence[str | None], marked: Sequence[int] = ()) -> bool:
        """Whether a run shows the outputs that a word names; indices that are foretold are those of marked inputs."""
        if self.collected:
            return fits(whole_output(self.outputs, letters, marked), shared_value(run.value))
        if self.mechanism.stream is not None:
            steps = [list(step) for step in run.written] or [[]]
            if run.ended and any(ENDED in _parts(value) for value in self.outputs.values()):
                steps[-1].append(ENDED)
            return len(steps) == len(letters) and all(
                _writes_output(self.outputs, letter, shown) for letter, shown in zip(letters, steps, strict=True)
            )
        wanted = [self.outputs[letter] for letter in letters if letter is not None]
        flat = [v for value in wanted for v in _parts(value)]
        return len(flat) == len(run.value) and all(
            fits(w, shared_value(v)) for w, v in zip(flat, run.value, strict=True)
        )


def whole_output(outputs: Mapping[str, Any], letters: Sequence[str | None], marked: Sequence[int] = ()) -> Any:
    """The output that a word stands for which is shown at the end as one: what its steps write, and the end.

    Args:
        outputs: what the outputs of the model stand for.
        letters: what is written in every step, and at the end.
        marked: the indices that are foretold.
    """
    *steps, last = letters
    assert last is not None

    def listed(end: Written) -> Any:
        written = [
            with_indices(value, lambda index: place + index.plus if isinstance(index, Turn) else index)  # noqa: B023
            for place, step in enumerate(steps)
            if step is not None
            for value in _parts(outputs[step])
        ]
        whole = (*written, *end.last)
        return whole if end.fixed else Cells(whole)

    return told_indices(with_written(outputs[last], listed), marked)


def told_indices(output: Any, marked: Sequence[int]) -> Any:
    """An output with the indices that are foretold in it: those of the marked inputs."""

    def told(index: Any) -> Any:
        return marked[index.mark - 1] + index.plus if isinstance(index, Foretold) and index.mark else index

    return with_indices(output, told) if marked else output


@dataclass(frozen=True)
class Several:
    """Several outputs written in one step."""

    values: tuple[Any, ...]


def _parts(value: Any) -> tuple[Any, ...]:
    return value.values if isinstance(value, Several) else (value,)


def _writes_output(outputs: Mapping[str, Any], letter: str | None, shown: Sequence[Any]) -> bool:
    if letter is None:
        return not shown
    wanted = _parts(outputs[letter])
    return len(wanted) == len(shown) and all(fits(w, shared_value(v)) for w, v in zip(wanted, shown, strict=True))


def fits(pattern: Any, value: Any) -> bool:
    """Whether a value is the one that an output of a model stands for, or one of them.

    >>> from fractions import Fraction
    >>> fits(Tail(-1, 1, 6, Fraction(1, 2)), 9), fits((1, "x"), (1, "x")), fits(1, True)
    (True, True, False)
    """
    match pattern:
        case Tail(_, sign, offset):
            return isinstance(value, int) and not isinstance(value, bool) and (value - offset) * sign >= 0
        case Cells(items):
            return isinstance(value, Cells) and _all_fit(items, value.items)
        case tuple():
            return isinstance(value, tuple) and _all_fit(pattern, value)
        case Lookup(rows):
            keys = isinstance(value, Lookup) and [text(k) for k, _ in rows] == [text(k) for k, _ in value.rows]
            return keys and _all_fit(parts_of(pattern) or (), parts_of(value) or ())
        case Named(shape, items):
            return isinstance(value, Named) and value.shape == shape and _all_fit(items, value.items)
        case _:
            return text(pattern) == text(value)


def _all_fit(patterns: Sequence[Any], values: Sequence[Any]) -> bool:
    return len(patterns) == len(values) and all(fits(p, v) for p, v in zip(patterns, values, strict=True))
