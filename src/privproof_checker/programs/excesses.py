"""Claims with a delta about programs at one size: the largest excess over all neighbours, and events.

The excess of two data sets is the sum over everything that is shown of ``max(0, p - e^epsilon q)``; a delta over events holds if no pair of
neighbours has more.  The probability of what is shown is a sum of integrals (`registers`) in which noisy numbers with equal laws that
sit on the same marks and lie in the same gaps may change places.  So of an entry of the data all that counts is its letter and what it does
there: its
*part*.  Two ways to go through all pairs:

* *one after the other*: what is shown is settled at the last entry that has a part in it.  Entries before it are of one class if
  everything that is settled later gives them equal parts.
  ``V(k, c, c') = max of [what is settled at k + V(k+1, c + b, c' + b')]`` over all letters b, b' that may
  stand at entry k of neighbours, c and c' the numbers of letters in each class;
* *all alike*: everything that is shown singles out one entry, another one each time, and all other entries have equal parts.  Then only
  how many entries have which pair of letters counts.

Numbers are whole multiples of 2^-62: p rounded up, e^epsilon q down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from flint import arb

from privproof_checker.events import beyond, too_likely
from privproof_checker.integrals.panels import PanelLaw
from privproof_checker.integrals.strips import Product, integrate
from privproof_checker.numbers import ZERO, Epsilon, Rational
from privproof_checker.numbers.balls import precision, whole_bounds
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, a_number, a_text, an_object, only_members, text
from privproof_checker.programs.bundles import Bundle, Shown
from privproof_checker.programs.instruction_kinds import Program
from privproof_checker.programs.program_expressions import Tags
from privproof_checker.programs.program_inputs import Declared
from privproof_checker.programs.program_losses import check_neighbours, read_arguments
from privproof_checker.programs.registers import Unfolded, unfold

_BITS = 128
"""The precision of balls: finer than that of what is claimed with balls, so that rounding refuses nothing."""
_UNITS = 2**62
"""Probabilities are rounded to multiples of its inverse."""
_MOST_COMPARED = 20_000_000
"""Pairs of numbers of letters that are gone through; beyond, the evidence is refused."""

Doing = tuple[int, tuple[int, ...], int]
"""The law without its entry, by number; the marks that it may sit on; its gaps, 0 for none."""
Doings = tuple[tuple[Doing, ...], ...]
"""What an entry does in each integral of something that is shown."""
Part = int
"""The number of such doings: entries that do the same have one part."""
Sum = tuple[tuple[Product, int], ...]
State = tuple[tuple[int, ...], ...]
"""How often each letter came before, in each class of entries."""


class ShownTable:
    """What is shown, by the parts of entries, and its probabilities."""

    def __init__(self, unfolded: Unfolded, letters: Sequence[Rational]) -> None:
        self.letters = tuple(letters)
        self.kinds: list[tuple[str, Rational, Rational, Rational, bool]] = []
        self.laws: list[PanelLaw] = []
        self.law_of: dict[tuple[int, int], int] = {}
        self.sums: dict[object, Sum] = {}
        self.balls: dict[Sum, arb] = {}
        where = {name: number for number, name in enumerate(unfolded.entries)}
        self.parts: list[Doings] = []
        self.shown: list[tuple[Part, tuple[int, ...], dict[int, Part]]] = []
        number_of: dict[Doings, Part] = {}

        def part(rows: Sequence[Sequence[Doing]]) -> Part:
            doings = tuple(tuple(sorted(row)) for row in rows)
            if doings not in number_of:
                number_of[doings] = len(self.parts)
                self.parts.append(doings)
            return number_of[doings]

        for bundles in unfolded.shown.values():
            fixed: list[list[Doing]] = [[] for _ in bundles]
            parts: dict[int, list[list[Doing]]] = {}
            for number, bundle in enumerate(bundles):
                for who, marks in _marks_by_number(bundle).items():
                    noisy = unfolded.noisy[who]
                    factor = noisy.center[1][0][1] if noisy.center[1] else ZERO
                    kind = (noisy.kind, noisy.scale, noisy.center[0], factor, noisy.turned)
                    if kind not in self.kinds:
                        self.kinds.append(kind)
                    doing = (self.kinds.index(kind), marks, bundle.gaps.get(who, 0))
                    if noisy.entry is None:
                        fixed[number].append(doing)
                    else:
                        parts.setdefault(where[noisy.entry], [[] for _ in bundles])[number].append(doing)
            self.shown.append((part(fixed), tuple(b.marks for b in bundles), {e: part(p) for e, p in parts.items()}))

    def sum(self, number: int, counts: Mapping[tuple[Part, int], int]) -> Sum:
        """The probability of something shown, by how many letters have which part."""
        fixed, marks, _ = self.shown[number]
        key = (fixed, marks, frozenset(item for item in counts.items() if item[1]))
        if key not in self.sums:
            found: dict[Product, int] = {}
            for integral, count in enumerate(marks):
                doing: dict[Doing, int] = {}
                for kind, sits, gaps in self.parts[fixed][integral]:
                    one = (self.law(kind, 0), sits, gaps)
                    doing[one] = doing.get(one, 0) + 1
                for (part, letter), times in counts.items():
                    for kind, sits, gaps in self.parts[part][integral] if times else ():
                        one = (self.law(kind, letter), sits, gaps)
                        doing[one] = doing.get(one, 0) + times
                for each, times in _seatings(doing, count, 0, (), 1):
                    found[each] = found.get(each, 0) + times
            self.sums[key] = tuple(sorted(found.items()))
        return self.sums[key]

    def law(self, kind: int, letter: int) -> int:
        if (kind, letter) not in self.law_of:
            name, scale, constant, factor, turned = self.kinds[kind]
            law = PanelLaw(name, constant + factor * self.letters[letter], scale, turned)
            if law not in self.laws:
                self.laws.append(law)
            self.law_of[kind, letter] = self.laws.index(law)
        return self.law_of[kind, letter]

    def evaluate(self) -> None:
        """Integrate everything that was asked for."""
        missing = [each for each in set(self.sums.values()) if each not in self.balls]
        values = integrate(self.laws, [one for each in missing for one, _ in each])
        for each in missing:
            self.balls[each] = sum((times * values[one] for one, times in each), arb(0))

    def on(self, number: int, data: Sequence[int]) -> Sum:
        """The probability of something shown on some data."""
        counts: dict[tuple[Part, int], int] = {}
        for entry, part in self.shown[number][2].items():
            counts[part, data[entry]] = counts.get((part, data[entry]), 0) + 1
        return self.sum(number, counts)


def _marks_by_number(bundle: Bundle) -> dict[int, tuple[int, ...]]:
    """For everybody in a bundle the marks that it sits on, on some way; refuses ways that are not all there are."""
    sets = [{way[mark] for way in bundle.ways} for mark in range(bundle.marks)]
    if sum(1 for way in product(*sets) if len(set(way)) == bundle.marks) != len(bundle.ways):
        refuse("noisy numbers sit on marks in some ways, and not in all", "question.code")
    everybody = set(bundle.gaps).union(*sets)
    return {who: tuple(mark for mark, each in enumerate(sets) if who in each) for who in sorted(everybody)}


def _seatings(
    doing: Mapping[Doing, int], marks: int, mark: int, seated: tuple[int, ...], times: int
) -> Iterator[tuple[Product, int]]:
    """All ways to choose who sits on the marks, and how often each occurs."""
    if mark < marks:
        for one, count in doing.items():
            if count and mark in one[1]:
                yield from _seatings({**doing, one: count - 1}, marks, mark + 1, (*seated, one[0]), times * count)
        return
    powers: dict[tuple[int, int], int] = {}
    for (law, _, gaps), count in doing.items():
        if count and not gaps:
            return  # somebody who sits on a mark on every way was left out
        if count:
            powers[law, gaps] = powers.get((law, gaps), 0) + count
    yield (seated, tuple(sorted(powers.items()))), times


@dataclass(frozen=True)
class _Data:
    """The letters, and the pairs of them that may stand at every entry of neighbours."""

    relation: str
    letters: tuple[Rational, ...]
    pairs: Sequence[Sequence[tuple[int, int]]]

    def directions(self) -> list[Sequence[Sequence[tuple[int, int]]]]:
        """The pairs of letters at every entry; where all changes go in one direction, for each of the two."""
        if self.relation != "monotone":
            return [self.pairs]
        up = [[(a, b) for a, b in pairs if a <= b] for pairs in self.pairs]
        return [up, [[(a, b) for a, b in pairs if a >= b] for pairs in self.pairs]]


def _data(declared: Declared) -> _Data:
    if declared.relation not in ("each", "one", "monotone"):
        refuse("neighbours have lists of one length", "question.relation")
    choices: list[tuple[Rational, ...]] = []
    limits: list[Rational | None] = []
    for each in declared.inputs.values():
        values = each.values
        if values is None and each.sort == "int" and each.low is not None and each.high is not None:
            within(int((each.high - each.low).floor()), 10_000, "values of an entry", f"question.inputs.{each.name}")
            values = tuple(Rational(v) for v in range(int(each.low.ceil()), int(each.high.floor()) + 1))
        if values is None or not each.numeric:
            refuse("an entry has no finite list of numbers", f"question.inputs.{each.name}")
        count = 1 if each.shape == "value" else (declared.size if each.size is None else each.size)
        assert count is not None
        numbers = tuple(sorted({v for v in values if isinstance(v, Rational)}))
        choices += [numbers] * count
        limits += [each.within] * count
    letters = tuple(sorted({v for each in choices for v in each}))
    number = {v: k for k, v in enumerate(letters)}
    pairs = [
        [(number[a], number[b]) for a in each for b in each if limit is None or abs(a - b) <= limit]
        for each, limit in zip(choices, limits, strict=True)
    ]
    return _Data(declared.relation, letters, pairs)


def proved_by_registers(program: Program, evidence: dict[str, object]) -> Accepted:
    """Check that no event is more than delta beyond what epsilon allows, on all neighbours."""
    only_members(evidence, ("method",), "evidence")
    bound = the_bound(program.declared)
    data = _data(program.declared)
    delta = program.declared.delta
    if delta >= 1:
        return Accepted("proved", "no event is more than 1 beyond anything", {"method": "registers"}, upper=bound)
    table, largest = largest_excess(unfold(program), data.letters, data.relation, data.pairs, bound)
    if largest > delta:
        shown = f"{float(largest.p) / float(largest.q):.10g}"
        refuse(f"an event may be {shown} beyond what epsilon allows, more than {text(delta)}", "evidence")
    return Accepted(
        "proved",
        f"on all neighbours with {len(data.letters)} possible values no event is more than {text(delta)} beyond what epsilon allows",
        {"method": "registers", "shown": len(table.shown), "integrals": len(table.balls), "entries": len(data.pairs)},
        upper=bound,
    )


def largest_excess(
    unfolded: Unfolded,
    letters: tuple[Rational, ...],
    relation: str,
    pairs: Sequence[Sequence[tuple[int, int]]],
    bound: Epsilon,
) -> tuple[ShownTable, Rational]:
    """A bound on the excess of all neighbours, whose letters at every entry are among some pairs."""
    data = _Data(relation, letters, pairs)
    with precision(_BITS):
        table = ShownTable(unfolded, letters)
        most = (_alike(table, data) or _in_turn(table, data))(bound.ball(_BITS).exp())
        everything = sum((table.balls[table.on(k, (0,) * len(pairs))] for k in range(len(table.shown))), arb(0))
        if not everything.overlaps(arb(1)):
            refuse("the probabilities of all that is shown do not sum up to 1", "question.code")
    return table, Rational(most, _UNITS)


def the_bound(declared: Declared) -> Epsilon:
    """The epsilon of a claim, a number."""
    bound = declared.epsilon
    if bound is None or bound.infinite:
        refuse("an event is beyond a number", "question.epsilon")
    return bound


def _round_table(table: ShownTable, times: arb) -> tuple[dict[Sum, int], dict[Sum, int]]:
    """All probabilities rounded up, and times a number rounded down and cut at 1."""
    up, down = {}, {}
    for each, ball in table.balls.items():
        up[each] = min(_UNITS, max(0, whole_bounds(_UNITS * ball)[1]))
        down[each] = min(_UNITS, max(0, whole_bounds(_UNITS * times * ball)[0]))
    return up, down


def _in_turn(table: ShownTable, data: _Data) -> Callable[[arb], int]:
    """Everything is settled at the last entry that has a part in it."""
    size, letters = len(data.pairs), len(table.letters)
    last = [max(parts, default=0) for _, _, parts in table.shown]
    classes: list[int] = []
    heads: list[int] = []
    for entry in range(size):
        later = [parts for (_, _, parts), end in zip(table.shown, last, strict=True) if end > entry]
        equal = [k for k, head in enumerate(heads) if all(p.get(head) == p.get(entry) for p in later)]
        if not later:
            classes.append(-1)
        elif equal:
            classes.append(equal[0])
        else:
            classes.append(len(heads))
            heads.append(entry)
    levels: list[dict[State, list[list[Sum]]]] = []
    states: set[State] = {((0,) * letters,) * len(heads)}
    compared = 0
    for entry in range(size):
        compared += len(states) ** 2 * len(data.pairs[entry])
        within(compared, _MOST_COMPARED, "pairs of numbers of letters", "evidence")
        settled = [number for number, end in enumerate(last) if end == entry]
        level: dict[State, list[list[Sum]]] = {}
        for state in states:
            level[state] = []
            for letter in range(letters):
                found = []
                for number in settled:
                    parts = table.shown[number][2]
                    counts: dict[tuple[Part, int], int] = {}
                    for kind, head in enumerate(heads):
                        if head in parts and any(state[kind]):
                            for which, count in enumerate(state[kind]):
                                counts[parts[head], which] = counts.get((parts[head], which), 0) + count
                    if entry in parts:
                        counts[parts[entry], letter] = counts.get((parts[entry], letter), 0) + 1
                    found.append(table.sum(number, counts))
                level[state].append(found)
        levels.append(level)
        states = {
            _count_letter(state, classes[entry], b) for state in states for pair in data.pairs[entry] for b in pair
        }
    for number in range(len(table.shown)):
        table.on(number, (0,) * size)
    table.evaluate()

    def largest(times: arb) -> int:
        up, down = _round_table(table, times)
        return max(run(pairs, up, down) for pairs in data.directions())

    def run(pairs: Sequence[Sequence[tuple[int, int]]], up: dict[Sum, int], down: dict[Sum, int]) -> int:
        flags = (0, 1) if data.relation == "one" else (0,)
        numbers: dict[State, int] = {}
        after: list[list[list[int]]] = []
        for entry in range(size - 1, -1, -1):
            level, kind = levels[entry], classes[entry]
            used = sorted({letter for pair in pairs[entry] for letter in pair})
            left = [[[up[each] for each in row] for row in listed] for listed in level.values()]
            # of every letter, and everything that is settled here, the other probability in all states
            right = {
                b: list(zip(*([down[each] for each in listed[b]] for listed in level.values()), strict=True))
                for b in used
            }
            onward = {b: [numbers[_count_letter(state, kind, b)] for state in level] for b in used} if after else {}
            best: list[list[list[int]]] = []
            for flag in flags:
                best.append([])
                # the pairs of letters that are left, each with what is known of the entries after it
                moves = [
                    (a, b, after[1 if len(flags) > 1 and a != b else flag] if after else None)
                    for a, b in pairs[entry]
                    if not (len(flags) > 1 and a != b and flag)
                ]
                for number, p in enumerate(left):
                    lines = []
                    for a, b, later in moves:
                        line = [0] * len(left)
                        if later is not None:
                            known = later[onward[a][number]]
                            line = [known[k] for k in onward[b]]
                        for x, ys in zip(p[a], right[b], strict=True):
                            line = [gain + x - y if x > y else gain for gain, y in zip(line, ys, strict=True)]
                        lines.append(line)
                    best[-1].append([max(gains) for gains in zip(*lines, strict=True)] or [-1] * len(left))
            after, numbers = best, {state: number for number, state in enumerate(level)}
        return after[0][0][0]  # nothing was counted before the first entry

    return largest


def _count_letter(state: tuple[tuple[int, ...], ...], kind: int, letter: int) -> tuple[tuple[int, ...], ...]:
    if kind < 0:
        return state
    row = state[kind]
    return (*state[:kind], (*row[:letter], row[letter] + 1, *row[letter + 1 :]), *state[kind + 1 :])


def _alike(table: ShownTable, data: _Data) -> Callable[[arb], int] | None:
    """Everything that is shown singles out an entry of its own; None where it does not."""
    size, letters = len(data.pairs), len(table.letters)
    if size < 3 or len(table.shown) != size or any(pairs != data.pairs[0] for pairs in data.pairs):
        return None
    if len({(fixed, marks) for fixed, marks, _ in table.shown}) > 1:
        return None
    alone: dict[int, Part] = {}
    rest: set[Part] = set()
    for _, _, parts in table.shown:
        if len(parts) != size:
            return None
        often: dict[Part, int] = {}
        for part in parts.values():
            often[part] = often.get(part, 0) + 1
        single = [entry for entry, part in parts.items() if often[part] == 1]
        if len(single) != 1 or len(often) != 2 or single[0] in alone:
            return None
        alone[single[0]] = parts[single[0]]
        rest |= set(often) - {parts[single[0]]}
    if len(set(alone.values())) != 1 or len(rest) != 1:
        return None
    own, other = next(iter(alone.values())), rest.pop()
    sums: dict[tuple[tuple[int, ...], int], Sum] = {}
    for counts in _compositions(size, letters):
        for letter in range(letters):
            if counts[letter]:
                found = {(other, b): count - (b == letter) for b, count in enumerate(counts)}
                sums[counts, letter] = table.sum(0, {**found, (own, letter): 1})
    for number in range(size):
        table.on(number, (0,) * size)
    table.evaluate()

    def largest(times: arb) -> int:
        up, down = _round_table(table, times)
        p, q = ({key: rounded[each] for key, each in sums.items()} for rounded in (up, down))
        best = 0
        for pairs in data.directions():
            kinds = pairs[0]
            tried = 0
            for numbers in _compositions(size, len(kinds)):
                tried += 1
                within(tried, _MOST_COMPARED, "numbers of pairs of letters", "evidence")
                if data.relation == "one" and sum(n for n, (a, b) in zip(numbers, kinds, strict=True) if a != b) > 1:
                    continue
                left, right = [0] * letters, [0] * letters
                for n, (a, b) in zip(numbers, kinds, strict=True):
                    left[a] += n
                    right[b] += n
                one, two = tuple(left), tuple(right)
                total = 0
                for n, (a, b) in zip(numbers, kinds, strict=True):
                    if n:
                        gain = p[one, a] - q[two, b]
                        if gain > 0:
                            total += n * gain
                best = max(best, total)
        return best

    return largest


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def refuted_by_outcomes(program: Program, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that an event is more than delta beyond what epsilon allows, on two neighbours."""
    only_members(evidence, ("method", "left", "right", "outputs"), "evidence")
    declared = program.declared
    bound = the_bound(declared)
    arguments = [read_arguments(evidence.get(s), declared, f"evidence.{s}", limits) for s in ("left", "right")]
    check_neighbours(declared, arguments[0], arguments[1])
    unfolded = unfold(program)
    event = _event(evidence.get("outputs"), program.tags, limits)
    known = list(unfolded.shown)
    numbers = [known.index(output) for output in event if output in unfolded.shown]
    if len(numbers) < len(event):
        refuse("an output is never shown", "evidence.outputs")
    entries = [[value for values in given.values() for value in values] for given in arguments]
    if any(not isinstance(v, Rational) for data in entries for v in data):
        refuse("an entry is no number", "evidence")
    letters = tuple(sorted({v for data in entries for v in data if isinstance(v, Rational)}))
    with precision(_BITS):
        table = ShownTable(unfolded, letters)
        sums = [[table.on(number, [letters.index(v) for v in data]) for number in numbers] for data in entries]
        table.evaluate()
        sides = [sum((table.balls[each] for each in side), arb(0)) for side in sums]
        p, q = sides
        lower = beyond(p, q, bound, declared.delta, _BITS)
    return too_likely(p, q, bound, declared.delta, lower, told="inputs", method="outcomes")


def _event(value: object, tags: Tags, limits: Limits) -> list[Shown]:
    """The outputs of an event, each once."""
    found: list[Shown] = []
    for number, item in enumerate(a_list(value, "evidence.outputs")):
        place = f"evidence.outputs[{number}]"
        found.append(
            tuple(
                tuple(_part(part, tags, place, limits) for part in a_list(parts, place))
                for parts in a_list(item, place)
            )
        )
    if len(set(found)) < len(found):
        refuse("an output is named twice", "evidence.outputs")
    return found


def _part(value: object, tags: Tags, place: str, limits: Limits) -> object:
    if isinstance(value, bool):
        return a_flag(value, place)
    if isinstance(value, dict):
        given = an_object(value, place)
        only_members(given, ("tag",), place)
        tag = given.get("tag")
        return ("tag", tags.number(None if tag is None else a_text(tag, place)))
    return a_number(value, place, limits)
