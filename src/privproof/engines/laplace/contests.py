"""Losses of selections among many cells: two cells contest a rank, and all others are far away.

The place of the largest, or the top k, of noisy counts over ten cells has no more to say than what is selected.  Which data tell most
is known: a record goes from one cell to another, both hold many records, and it is the smaller one of the two that is selected.  The
further it is behind, the nearer its loss comes to what the noise of both cells pays, and cells without records hardly matter.  The cells
of higher ranks hold so many records that they are sure of them.

Sorting ten open numbers has millions of ways.  What is selected is the same in all of them that agree in the first k ranks: the values of
these come in order, and are above all others.  So an output has one region for every choice of these ranks that leads to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import ceil, perm
from typing import Any

from privproof.compiling.program_follower import Follower
from privproof.compiling.relational import Program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.selections.released import RANKED_VALUES
from privproof.engines.laplace.changes import tried_values
from privproof.engines.laplace.events import measure, measure_ball
from privproof.engines.laplace.losses import Loss
from privproof.errors import LanguageError
from privproof.exact import Epsilon, fraction, rational
from privproof.exact.balls import precision
from privproof.language.branching import BranchLeaf
from privproof.language.inputs import ADD_REMOVE
from privproof.language.linear import Linear, Ratio
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import in_parts, matching, word
from privproof.language.running import exact_run
from privproof.language.scripts import ScriptedDraw, Test, record_run
from privproof.language.syntax import Assign, Constant, Expression, Operation, Sample
from privproof.language.walking import within

_MOST_CHOICES = 2_000
"""So many choices of the first ranks are looked through for those that lead to an output."""
_BEHIND = (2, 4, 8, 16, 32, 64, 128)
"""How far the cell that is selected is behind, in multiples of the scale: the loss comes within about one over it of its limit."""
_APART = 40
"""How far the cells of higher ranks are ahead, in multiples of the scale."""
_MOST_RECORDS = 3_000
"""The longest list that is tried."""
_NEAR = 1e-6
"""Losses so near to the budget are computed exactly."""


@dataclass(frozen=True)
class _Cell:
    """A cell that a record counts for: its number, the record, how much it adds there, and whether that makes it come sooner."""

    number: int
    record: Any
    adds: Fraction
    sooner: bool


def contest_program(mechanism: Mechanism) -> Program | None:
    """The program that releases the noisy values of all cells, where the function shows which are selected, and nothing else."""
    try:
        program = program_for_alignment(mechanism, select=True, released=True)
    except (Unsupported, LanguageError):
        return None
    only = len(program.inputs) == 1 and program.lists and not next(iter(program.inputs.values())).public
    operations = {part.name for part in within(_output(program)) if isinstance(part, Operation)}
    plain = all(sample.noise == "laplace" and not program.scale(sample).names for sample in program.sites)
    return program if only and plain and RANKED_VALUES[1] in operations and RANKED_VALUES[0] not in operations else None


def _output(program: Program) -> Expression:
    """What the function shows, in terms of ranks."""
    [shown] = program.shown.values()
    return shown


@dataclass
class Contest:
    """The search for a loss above a budget among selections of cells.

    Attributes:
        program: what is followed, of `contest_program`.
        pause: called on the way; may raise to stop.
    """

    program: Program
    pause: Callable[[], None]

    def loss(self, allowed: Epsilon) -> Loss | None:
        """A loss above a budget; None where none is found."""
        if perm(len(self.program.sites), self.ranks) > _MOST_CHOICES:
            return None
        for left, right, winners in self.tried():
            self.pause()
            same = [each for each in self.choices if matching(self.shown(winners), self.shown(each)) is not None]
            if len({frozenset(each) for each in same}) > 1:
                continue
            event = self.event(left, winners)
            runs = [tuple(self.leaf(side, each, event) for each in same) for side in (left, right)]
            p, q = (measure_ball(leaves, event) for leaves in runs)
            with precision(128):
                near = p > 0 and q > 0 and (p / q).log() > allowed.ball() - _NEAR
            if not near:
                continue
            above, below = (measure(leaves, event) for leaves in runs)
            found = Loss(left, right, event, above, below, runs=(runs[0], runs[1]), partial=True)
            if found.exceeds(allowed):
                return found
        return None

    # ------------------------------------------------------------------------------------------------------------ data

    def tried(self) -> Iterator[tuple[dict[str, Any], dict[str, Any], tuple[int, ...]]]:
        """Neighbouring data, and the cells of the first ranks: of two that contest one of these the one that is behind comes first.

        They contest the first rank, or, where the order of what is selected is not shown, the last of those that are.
        """
        if len(self.touched) <= self.ranks or len(self.touched) < 2:
            return
        behind, ahead, *above = self.touched
        higher = above[: self.ranks - 1]
        numbers = [each.number for each in (behind, ahead, *above)]
        sooner = {each.sooner for each in self.touched}
        if len(sooner) > 1 or (sooner == {False} and len(numbers) < len(self.program.sites)):
            return
        scale = fraction(self.program.scale(self.program.sites[0]).factor)
        for times in (0, *_BEHIND):
            level = ceil(scale * max(times // 4, 2)) if times else 0
            if not behind.sooner:  # records make a cell come later, and those without any come first
                farthest = level + scale * (times + _APART) if times else 0
                counts = {each: ceil(farthest / each.adds) for each in above}
                counts |= {ahead: ceil(level / ahead.adds), behind: ceil((level + scale * times) / behind.adds)}
                yield from self.moved(counts, ahead, behind, tuple(numbers[: self.ranks]))
                continue
            counts = {behind: ceil(level / behind.adds), ahead: ceil((level + scale * times) / ahead.adds)}
            yield from self.moved(counts, behind, ahead, tuple(numbers[: self.ranks]))
            if higher and times:
                for rank, each in enumerate(reversed(higher), start=1):
                    counts[each] = ceil((level + scale * (times + rank * _APART)) / each.adds)
                winners = (*(each.number for each in higher), behind.number)
                yield from self.moved(counts, behind, ahead, winners)

    def moved(
        self, counts: Mapping[_Cell, int], one: _Cell, other: _Cell, winners: tuple[int, ...]
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any], tuple[int, ...]]]:
        """Lists with so many records of each cell, and one more of one cell, or of the other."""
        if sum(counts.values()) > _MOST_RECORDS:
            return
        [name] = self.program.lists
        common = [each.record for each, count in counts.items() for _ in range(count)]
        more, fewer = {name: [*common, one.record]}, {name: [*common, other.record]}
        if self.program.relation == ADD_REMOVE:
            yield more, {name: common}, winners
            yield {name: common}, fewer, winners
        else:
            yield more, fewer, winners

    @cached_property
    def touched(self) -> list[_Cell]:
        """Cells that records count for, each by one that counts for no other; those of the first ranks last."""
        [(name, declared)] = self.program.inputs.items()
        nothing, found = self.centers({name: []}), dict[int, _Cell]()
        for record in tried_values(declared, []):
            moved = [
                (k, one - zero)
                for k, (one, zero) in enumerate(zip(self.centers({name: [record]}), nothing, strict=True))
            ]
            changed = [(k, by) for k, by in moved if by]
            if len(changed) == 1:
                [(number, by)] = changed
                found.setdefault(number, _Cell(number, record, abs(by), self.sign * by > 0))
        return list(found.values())

    def centers(self, arguments: Mapping[str, Any]) -> list[Fraction]:
        """What the noise of every cell is added to."""
        follower = Follower(self.program, arguments, None)
        found = []
        for step in self.program.code:
            if isinstance(step, Assign):
                follower.values[step.name] = follower.value(step.value)
            elif isinstance(step, Sample):
                found.append(Fraction(follower.value(step.arguments[0])))
        return found

    # ----------------------------------------------------------------------------------------------------------- ranks

    @cached_property
    def _ranked(self) -> list[tuple[int, bool]]:
        """The ranks that the output speaks of, and whether the first is that of the largest value."""
        found = []
        for part in within(_output(self.program)):
            match part:
                case Operation("place of rank", (Constant(int() as rank), Constant(bool() as down), *_)):
                    found.append((rank, down))
        return found

    @property
    def ranks(self) -> int:
        """How many of the first ranks decide the output."""
        return max(rank for rank, _ in self._ranked)

    @property
    def sign(self) -> int:
        """1 where the largest values are selected, -1 where the smallest are."""
        return 1 if self._ranked[0][1] else -1

    @cached_property
    def choices(self) -> list[tuple[int, ...]]:
        """All choices of cells for the first ranks."""
        return list(permutations(range(len(self.program.sites)), self.ranks))

    def _placed(self, winners: Sequence[int]) -> list[Fraction]:
        """Noisy values whose first ranks are these cells."""
        others = [k for k in range(len(self.program.sites)) if k not in winners]
        order = {k: place for place, k in enumerate((*winners, *others))}
        return [Fraction(-self.sign * order[k]) for k in range(len(order))]

    def shown(self, winners: tuple[int, ...]) -> Any:
        """The output for a choice of the first ranks, in parts: equal sets are the same, in whatever order they are held."""
        if winners not in self._known:
            follower = Follower(self.program, {}, None)
            follower.values = dict(zip((each.name for each in self.program.sites), self._placed(winners), strict=True))
            self._known[winners] = in_parts(follower.value(_output(self.program)))
        return self._known[winners]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], Any]:
        return {}

    def event(self, arguments: Mapping[str, Any], winners: Sequence[int]) -> Any:
        """What the function itself shows where noise makes these cells the first."""
        values = iter(self._placed(winners))
        shown, _ = record_run(lambda: exact_run(self.program.mechanism, arguments), lambda _: Ratio(next(values)))
        return word(shown)

    def leaf(self, arguments: Mapping[str, Any], winners: Sequence[int], event: Any) -> BranchLeaf:
        """The run in which these cells come first, in this order, and before all others."""
        noisy = [Linear.atom(k) + Linear.of(center) for k, center in enumerate(self.centers(arguments))]
        drawn = tuple(
            ScriptedDraw(s.noise, rational(self.program.scale(s).factor), s.place.line) for s in self.program.sites
        )
        steps = [
            Test((noisy[a] - noisy[b]) * self.sign, strict=True, outcome=outcome) for a, b, outcome in _sorting(winners)
        ]
        last = noisy[winners[-1]]
        steps += [
            Test((last - each) * self.sign, strict=True, outcome=True)
            for k, each in enumerate(noisy)
            if k not in winners
        ]
        return BranchLeaf(drawn, tuple(steps), event)


def _sorting(winners: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """The comparisons that put cells into this order, one cell after the other: which two, and whether the first comes sooner.

    Orders of the same cells are told apart by them one after the other.
    """
    ordered: list[int] = []
    for each in sorted(winners):
        place = 0
        for before in ordered:
            sooner = winners.index(before) < winners.index(each)
            yield before, each, sooner
            if not sooner:
                break
            place += 1
        ordered.insert(place, each)
