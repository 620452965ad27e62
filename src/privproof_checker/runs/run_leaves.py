"""Trees of runs: the leaves of each data set, read and seen to be those of a tree.

A step of a way is a *draw* of discrete noise with the probabilities of all outcomes, a *test* of a linear form in the noises left
open, or a *guess*: a condition that is known only by what was done to which forms.  At every node all leaves through it go on with
the same step, and every outcome has a leaf.  At the end stands the shape of what was shown, and the noisy numbers in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.claims import Claim
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, a_text, an_integer, an_object, only_members
from privproof_checker.programs.open_trees import (
    Done,
    Linear,
    Part,
    RunWay,
    Step,
    moderate,
    read_chances,
    read_form,
    read_law,
    refuse_no_tree,
    refuse_ties,
)
from privproof_checker.runs.run_data import Neighbours

_MOST_LEAVES = 500_000
"""Leaves of one tree; beyond, it is refused."""
_MOST_STEPS = 5_000
"""Steps of one way; beyond, it is refused."""
_MOST_DIGITS = 1_000
"""The digits of a numerator or denominator in a form or a law; beyond, its exponential might not be told from 0, and it is refused."""
_KINDS = ("laplace", "exponential", "geometric", "gaussian", "discrete_gaussian")
_BALLS = ("gaussian", "discrete_gaussian")
_SHAPES = {"uniform_real": 1, "truncated_laplace": 2, "staircase": 3}
"""Kinds of noise of other shapes, with how many numbers each has: width; scale and bound; step, loss and share."""
_DEEPEST = 60
"""How deep opaque values are nested; beyond, they are refused."""

Law: TypeAlias = tuple[str, Rational, *tuple[Rational, ...]]
"""The kind of a noise, and its parameters."""


@dataclass(frozen=True)
class RunLeaf(RunWay):
    """A way to the end, the shape of what was shown there, and the noisy numbers in it."""

    shape: str
    parts: tuple[Part, ...]

    @property
    def conditions(self) -> list[Linear]:
        """The forms that are at least 0 on this way: its tests, then exponential noise."""
        return self.tests + [Linear(((j, ONE),), ZERO) for j, law in enumerate(self.noises) if law[0] == "exponential"]

    @property
    def guesses(self) -> list[Step]:
        """The guesses on this way."""
        return [step for step in self.steps if step.kind == "guess"]


Tree: TypeAlias = tuple[RunLeaf, ...]


@dataclass(frozen=True)
class Ran:
    """A question about runs, read: for every data set the number of its tree."""

    claim: Claim
    neighbours: Neighbours
    trees: tuple[Tree, ...]
    places: tuple[int, ...]

    @property
    def in_balls(self) -> bool:
        """Whether noise is drawn whose probabilities are enclosed in balls."""
        return any(law[0] in _BALLS or law[0] in _SHAPES for tree in self.trees for leaf in tree for law in leaf.noises)

    @property
    def compared(self) -> set[tuple[int, int]]:
        """The trees that are compared, by number."""
        return {(self.places[i], self.places[j]) for i, j in self.neighbours.pairs}


def read_trees(asked: dict[str, object], count: int, limits: Limits) -> tuple[tuple[Tree, ...], tuple[int, ...]]:
    """The trees of a question, and the number of the tree of every data set."""
    listed = a_list(asked.get("trees"), "question.trees")
    within(len(listed), count, "trees", "question.trees")
    reader = _LeafReader(_tables(asked.get("tables"), limits), limits)
    trees = tuple(_tree(item, f"question.trees[{i}]", reader) for i, item in enumerate(listed))
    places = tuple(an_integer(item, "question.runs") for item in a_list(asked.get("runs"), "question.runs"))
    if len(places) != count or any(not 0 <= place < len(trees) for place in places):
        refuse("every data set has the number of a tree", "question.runs")
    outputs = an_object(asked.get("outputs"), "question.outputs")
    for shape, shown in outputs.items():
        a_text(shown, f"question.outputs.{shape[:40]}")
    return trees, places


def _tables(value: object, limits: Limits) -> list[tuple[Rational, ...]]:
    """The probabilities that draws have, each table once."""
    tables = []
    for number, item in enumerate(a_list(value, "question.tables")):
        place = f"question.tables[{number}]"
        listed = a_list(item, place)
        within(len(listed), 10 * limits.symbols, "outcomes", place)
        tables.append(read_chances(listed, place, limits))
    return tables


@dataclass(frozen=True)
class _LeafReader:
    """What is needed to read leaves."""

    tables: list[tuple[Rational, ...]]
    limits: Limits


def _tree(value: object, place: str, reader: _LeafReader) -> Tree:
    listed = a_list(value, place)
    within(len(listed), _MOST_LEAVES, "leaves", place)
    if not listed:
        refuse("there is no leaf", place)
    leaves: list[RunLeaf] = []
    for i, item in enumerate(listed):
        leaves.append(_leaf(item, leaves[-1] if leaves else None, f"{place}[{i}]", reader))
    refuse_no_tree(leaves, place)
    return tuple(leaves)


def _leaf(value: object, before: RunLeaf | None, place: str, reader: _LeafReader) -> RunLeaf:
    """A leaf; its first steps may be those of the leaf before it, which are about the same noises."""
    given, limits = an_object(value, place), reader.limits
    only_members(given, ("noises", "after", "steps", "shape", "parts"), place)
    noises = tuple(_law(item, f"{place}.noises", limits) for item in a_list(given.get("noises"), f"{place}.noises"))
    listed = a_list(given.get("steps"), f"{place}.steps")
    within(max(len(listed), len(noises)), _MOST_STEPS, "steps", place)
    begun = _first_steps(given["after"], before, noises, place) if "after" in given else ()
    steps = (*begun, *(_step(item, noises, f"{place}.steps[{i}]", reader) for i, item in enumerate(listed)))
    within(len(steps), _MOST_STEPS, "steps", place)
    parts = tuple(
        _part(item, noises, f"{place}.parts", limits, 0) for item in a_list(given.get("parts"), f"{place}.parts")
    )
    return RunLeaf(noises, steps, a_text(given.get("shape"), f"{place}.shape"), parts)


def _first_steps(value: object, before: RunLeaf | None, noises: tuple[Law, ...], place: str) -> tuple[Step, ...]:
    """The first steps of the leaf before, which mention noises that both leaves have."""
    count = an_integer(value, f"{place}.after")
    if before is None or not 0 < count <= len(before.steps):
        refuse(f"the leaf before has no {count} steps", f"{place}.after")
    steps = before.steps[:count]
    for step in steps:
        if any(j >= len(noises) or noises[j] != before.noises[j] for j in step.mentioned):
            refuse("a step of the leaf before is about another noise", f"{place}.after")
    return steps


def _law(value: object, place: str, limits: Limits) -> Law:
    """The kind of a noise and its numbers."""
    given = a_list(value, place)
    kind = given[0] if given else None
    if not isinstance(kind, str) or kind not in _SHAPES:
        return read_law(value, place, limits, _MOST_DIGITS, _KINDS)
    first, *more = (moderate(each, place, limits, _MOST_DIGITS) for each in given[1:] or [0])
    if 1 + len(more) != _SHAPES[kind] or first <= 0 or any(each <= 0 for each in more[:1]):
        refuse(f"{kind} noise has {_SHAPES[kind]} numbers, above 0", place)
    if kind == "staircase" and not 0 <= more[1] <= 1:
        refuse("the density of a staircase falls after a share of a step, from 0 to 1", place)
    return (kind, first, *more)


def _step(value: object, noises: tuple[Law, ...], place: str, reader: _LeafReader) -> Step:
    given = a_list(value, place)
    if len(given) != 3 or given[0] not in ("test", "draw", "guess"):
        refuse("expected a draw, a test or a guess, and its outcome", place)
    if given[0] == "draw":
        table, outcome = an_integer(given[1], place), an_integer(given[2], place)
        if not 0 <= table < len(reader.tables):
            refuse(f"there is no table {table}", place)
        chances = reader.tables[table]
        if not 0 <= outcome < len(chances):
            refuse(f"a draw has no outcome {outcome}", place)
        return Step("draw", chances, outcome)
    about = _part(given[1], noises, place, reader.limits, 0)
    if given[0] == "test":
        if not isinstance(about, Linear):
            refuse("a test is about a form", place)
        refuse_ties(about, tuple(law[:2] for law in noises), place)
    return Step(str(given[0]), about, int(a_flag(given[2], place)))


def _part(value: object, noises: tuple[Law, ...], place: str, limits: Limits, depth: int) -> Part:
    within(depth, _DEEPEST, "nested operations", place)
    given = an_object(value, place)
    if "done" in given:
        only_members(given, ("done", "to"), place)
        parts = tuple(_part(item, noises, place, limits, depth + 1) for item in a_list(given.get("to"), place))
        return Done(a_text(given.get("done"), place), parts)
    if "value" in given:
        only_members(given, ("value",), place)
        return a_text(given.get("value"), place)
    return read_form(given, len(noises), place, limits, _MOST_DIGITS)
