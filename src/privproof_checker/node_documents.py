"""What cone and ratio certificates have in common: nodes with edges by letter, classes of states, and starts, each in parts.

Multipliers, of a type M, say how what is known of a node follows from what is known of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from privproof_checker.machines import OneOutput, TransducerSystem
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_text_or_null, an_integer, an_object, only_members
from privproof_checker.systems import Letter, Question, Rows, Start, matching_starts, read_letter

M = TypeVar("M")

Classes: TypeAlias = tuple[int | None, ...] | None
"""For every state its class, None for a state that does not count; None as a whole: every state is its own class."""


@dataclass(frozen=True)
class Onward(Generic[M]):
    """An edge of a certificate: the target node, and multipliers for all that is known of the source."""

    node: int
    multipliers: tuple[M, ...]
    place: str


@dataclass(frozen=True)
class Beginning(Generic[M]):
    """How an ordered pair is covered, by what is known of a node: for all words, or for those that end in one output."""

    start: Start
    finish: str | None
    node: int
    multipliers: M
    place: str


def listed_nodes(evidence: dict[str, object], limits: Limits) -> list[tuple[dict[str, object], str]]:
    """The nodes of a certificate as they are given, with their places."""
    listed = a_list(evidence.get("nodes"), "evidence.nodes")
    within(len(listed), limits.nodes, "nodes", "evidence.nodes")
    places = [f"evidence.nodes[{i}]" for i in range(len(listed))]
    return [(an_object(item, place), place) for item, place in zip(listed, places, strict=True)]


@dataclass(frozen=True)
class NodeReading(Generic[M]):
    """How the edges and starts of a certificate are read.

    Attributes:
        known: for every node how many things are known of it, each of which needs multipliers.
        missing: what is said where there are more of these, or fewer.
        read: reads multipliers, given how many things are known of the target.
        strict: whether other members than the known ones are refused.
    """

    known: list[int]
    missing: str
    read: Callable[[object, int, str], M]
    strict: bool

    def target(self, given: dict[str, object], place: str) -> int:
        """The node that an edge or a start leads to."""
        number = an_integer(given.get("node"), f"{place}.node")
        if not 0 <= number < len(self.known):
            refuse("there is no node of this number", f"{place}.node")
        return number


def read_edges(item: dict[str, object], number: int, place: str, reading: NodeReading[M]) -> dict[Letter, Onward[M]]:
    """The edges of a node of a number."""
    found: dict[Letter, Onward[M]] = {}
    for j, value in enumerate(a_list(item.get("next", []), f"{place}.next")):
        here = f"{place}.next[{j}]"
        entry = an_object(value, here)
        if reading.strict:
            only_members(entry, ("letter", "node", "multipliers"), here)
        letter = read_letter(entry.get("letter"), f"{here}.letter")
        if letter in found:
            refuse(f"the letter {letter} has two next entries", here)
        target = reading.target(entry, here)
        tables = a_list(entry.get("multipliers"), f"{here}.multipliers")
        if len(tables) != reading.known[number]:
            refuse(reading.missing, f"{here}.multipliers")
        count = reading.known[target]
        multipliers = (reading.read(table, count, f"{here}.multipliers[{i}]") for i, table in enumerate(tables))
        found[letter] = Onward(target, tuple(multipliers), here)
    return found


def read_starts(
    question: Question, evidence: dict[str, object], reading: NodeReading[M], limits: Limits
) -> list[Beginning[M]]:
    """The starts of a certificate, each with the ordered pairs that it names; refuses those that leave one out."""
    machine = question.system if isinstance(question.system, TransducerSystem) else None
    outputs = frozenset(() if machine is None else machine.compared_outputs)
    known = outputs if machine is None or machine.finish is None else outputs | set(machine.outputs)
    result: list[Beginning[M]] = []
    for i, item in enumerate(a_list(evidence.get("starts"), "evidence.starts")):
        place = f"evidence.starts[{i}]"
        given = an_object(item, place)
        if reading.strict:
            only_members(given, ("left", "right", "only", "finish", "node", "multipliers"), place)
        node = reading.target(given, place)
        multipliers = reading.read(given.get("multipliers"), reading.known[node], f"{place}.multipliers")
        finish = a_text_or_null(given.get("finish"), f"{place}.finish")
        if finish is not None and finish not in known:
            refuse("no word ends by writing this output", f"{place}.finish")
        starts = matching_starts(question, given, place, limits)
        result.extend(Beginning(start, finish, node, multipliers, place) for start in starts)
    covered = {(each.start, each.finish) for each in result}
    for start in question.system.starts:
        by_output = bool(outputs) and all((start, output) in covered for output in outputs)
        if (start, None) not in covered and not by_output:
            refuse("an ordered pair has no start", "evidence.starts")
    return result


def checked_by_output(
    question: Question, starts: list[Beginning[M]], check: Callable[[Question, list[Beginning[M]]], int]
) -> int:
    """Check the starts for each output in which words end by themselves; the comparisons made where words end, of which there are some."""
    comparisons = 0
    for finish in dict.fromkeys(each.finish for each in starts):
        part = question
        if finish is not None and isinstance(question.system, TransducerSystem):
            part = replace(question, system=OneOutput(question.system, finish))
        comparisons += check(part, [each for each in starts if each.finish == finish])
    if comparisons == 0:
        refuse("no word is compared", "question")
    return comparisons


def counted_classes(
    counted: Collection[int], occupied: Collection[int], classes: Classes, place: str, *, needed: bool = True
) -> frozenset[int]:
    """The classes that a final column counts; all occupied states of a class must agree, and none without one be needed and counted."""
    counts: dict[int, bool] = {}
    for i in occupied:
        number = i if classes is None else classes[i]
        if number is None:
            if needed and i in counted:
                refuse("a state without a class is counted where a word ends", f"{place}.classes")
        elif counts.setdefault(number, i in counted) != (i in counted):
            refuse("the states of one class differ where a word ends", f"{place}.classes")
    return frozenset(number for number, yes in counts.items() if yes)


def class_matrix(
    rows: Rows, letter: Letter, occupied: Collection[int], classes: tuple[Classes, Classes], place: str, *, needed: bool
) -> dict[int, dict[int, int]]:
    """The matrix of a letter from the classes of a node to those of the next; occupied states must agree, as where words end."""
    before, after = classes
    sums: dict[int, dict[int, int]] = {}
    for i in occupied:
        row = class_sums(rows.get(i, ()), after)
        number = i if before is None else before[i]
        if number is None:
            if needed and row:
                refuse(f"a state without a class counts after the letter {letter}", f"{place}.classes")
        elif sums.setdefault(number, row) != row:
            refuse(f"the states of one class differ under the letter {letter}", f"{place}.classes")
    return sums


N = TypeVar("N", int, Rational)


def class_sums(entries: Iterable[tuple[int, N]], classes: Classes) -> dict[int, N]:
    """The sums of entries over classes, without zeros; states without a class are left out."""
    sums: dict[int, N] = {}
    for i, entry in entries:
        number = i if classes is None else classes[i]
        if number is not None and entry != 0:
            sums[number] = sums[number] + entry if number in sums else entry
    return sums
