"""Separate draws: the parts of an output are independent given the data, and read from them in passes without noise.

A question lists the values of an entry, the size of the data, the laws, and the passes. A pass is a deterministic automaton: it begins in
state 0, and `moves` says for every state and every value where it goes. `written` holds for every state and value the laws of the parts
drawn on the way, `ends` for every state the laws of the parts drawn at the end. The output is all parts of all passes.

**Why it is enough.** Given the data d every part o_k has its own law, so ``P(o | d)`` is the product of the probabilities of the parts, and

    max over o of P(o | d) / P(o | d')  =  product over k of  max over o_k of  P_k(o_k | d) / P_k(o_k | d').

*One pass.* A node is (state on d, state on d', memory of the relation). All nodes that are reached within the size are listed, so those
at which d and d' end are among them; the claim is compared with the largest product at any node, and where parts are drawn on the
way with the largest product along any path of the size, found from its end.

*Several passes.* Under ``one`` let an entry change from x to y. What pass p loses is at most B_p(x, y), the largest product over the
nodes that are reached with this change; so the loss is at most the largest product over p of B_p(x, y), over all changes. Otherwise it
is at most the product of what the passes lose at most, each for itself.

**Laws.** Tables are compared outcome by outcome. Two geometric laws with one alpha and centers i < j have the ratio
``alpha^(|z-i| - |z-j|)`` at z, which never rises with z: it is at most ``alpha^-(j-i)``. Truncation adds up all z from a bound on; a
ratio of sums lies between the ratios of the terms, so the largest ratio is that of the lower bound; for i > j, of the upper one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, TypeAlias

from privproof_checker.claims import read_claim
from privproof_checker.draw_laws import MOST_OUTCOMES, DrawLaw, Ratio, largest_ratio
from privproof_checker.numbers import ONE, ZERO, Rational, rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    only_members,
    text,
)
from privproof_checker.source.values import Value, key, read_value

_MEMBERS = ("kind", "title", "epsilon", "values", "size", "relation", "within", "laws", "passes", "source")
_MOST_NODES = 1_500_000
"""Nodes of all products that are listed; beyond, the certificate is refused."""
_MOST_STEPS = 20_000_000
"""Moves that are followed in all; beyond, the certificate is refused."""

Change: TypeAlias = tuple[int, int]
Node: TypeAlias = tuple[int, int, int]


def check_draws(verdict: str, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is about separate draws."""
    only_members(asked, _MEMBERS, "question")
    a_text_or_null(asked.get("title"), "question.title")
    claim = read_claim(asked, limits)
    draws = _read_draws(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if (verdict, method) == ("refuted", "outcome"):
        left, right = draws.shown(evidence, "evidence")
        if claim.holds(left, right):
            refuse(f"the output does not violate the claim: {_ratio_text(left, right)}", "evidence")
        statement = f"not private with {claim}: {_ratio_text(left, right)}"
        return Accepted("refuted", statement, {"method": method}, lower=claim.needs(left, right))
    if (verdict, method) != ("proved", "product"):
        refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
    only_members(evidence, ("method",), "evidence")
    bound = draws.bound()
    if not claim.holds_without_delta(ONE if bound is None else bound, ZERO if bound is None else ONE):
        refuse(f"the largest ratio is {'infinite' if bound is None else text(bound)[:80]}", "evidence")
    details: dict[str, object] = {"method": method, "passes": len(draws.passes), "nodes": draws.nodes}
    statement = f"private with {claim}; compared: data of {draws.size} entries, {draws.kind}"
    if "witness" not in certificate:
        return Accepted("proved", statement, details)
    left, right = draws.shown(an_object(certificate["witness"], "witness"), "witness")
    if not claim.holds(left, right):
        refuse("the witness violates the claim that is said to be proved", "witness")
    return Accepted("proved", f"{statement}; {_ratio_text(left, right)}", details, lower=claim.needs(left, right))


def _ratio_text(left: Rational, right: Rational) -> str:
    ratio = text(left / right)[:80] if right != 0 else "infinite"
    return f"the ratio of an output is {ratio}"


@dataclass(frozen=True)
class _Pass:
    moves: list[list[int]]
    written: list[list[list[int]]]
    ends: list[list[int] | None]


class _Draws:
    """A mechanism of separate draws, with its neighbours."""

    def __init__(
        self, values: list[Value], size: int, kind: str, near: Rational | None, laws: list[DrawLaw], passes: list[_Pass]
    ) -> None:
        self.values, self.size, self.kind, self.laws, self.passes = values, size, kind, laws, passes
        self.numbers = [] if near is None else [_distance(value) for value in values]
        self.changes: list[Change] = []
        order = list(range(len(values)))
        order.sort(key=lambda i: self.numbers[i] if self.numbers else i)
        for place, i in enumerate(order):
            for j in order[place + 1 :]:
                if near is not None and self.numbers[j] - self.numbers[i] > near:
                    break
                self.changes += [(i, j), (j, i)]
        if not self.changes:
            refuse("no two values are neighbours", "question.values")
        self.nodes = 0
        self.steps = 0
        self.outcomes = 0
        self.known: dict[tuple[int, int], Ratio] = {}

    def shown(self, evidence: Mapping[str, object], place: str) -> tuple[Rational, Rational]:
        """Both probabilities of an output on neighbouring data."""
        only_members(evidence, ("method", "left", "right", "outcomes"), place)
        left, right = (self._data(evidence.get(side), f"{place}.{side}") for side in ("left", "right"))
        self._neighbours(left, right, place)
        outcomes = [read_value(item, f"{place}.outcomes") for item in a_list(evidence.get("outcomes"), place)]
        sides = []
        for data in (left, right):
            drawn = self._drawn(data)
            if len(drawn) != len(outcomes):
                refuse("there is not one outcome for every part", f"{place}.outcomes")
            total = ONE
            for number, outcome in zip(drawn, outcomes, strict=True):
                total *= self.laws[number].probability(outcome)
            sides.append(total)
        return sides[0], sides[1]

    def _data(self, value: object, place: str) -> list[int]:
        data = [an_integer(item, place) for item in a_list(value, place)]
        if len(data) != self.size or any(not 0 <= each < len(self.values) for each in data):
            refuse("data are numbers of values, as many as the size says", place)
        return data

    def _neighbours(self, left: list[int], right: list[int], place: str) -> None:
        changed = [(x, y) for x, y in zip(left, right, strict=True) if x != y]
        allowed = set(self.changes)
        directions = {self._direction(change) for change in changed} if self.kind == "monotone" else {0}
        one = len(changed) == 1 if self.kind == "one" else bool(changed)
        if not one or len(directions) > 1 or any(change not in allowed for change in changed):
            refuse("the data are no neighbours", place)

    def _drawn(self, data: Sequence[int]) -> list[int]:
        found: list[int] = []
        for each in self.passes:
            state = 0
            for value in data:
                if each.written:
                    found += each.written[state][value]
                if not each.moves[state]:
                    refuse("a pass ends before the data", "question.passes")
                state = each.moves[state][value]
            ends = each.ends[state]
            if ends is None:
                refuse("a pass has no end where the data end", "question.passes")
            found += ends
        return found

    def _direction(self, change: Change) -> int:
        one, other = (self.numbers[each] for each in change)
        return 1 if one < other else -1

    def bound(self) -> Ratio:
        """What two neighbouring data sets may lose at most."""
        for number, each in enumerate(self.passes):
            self._complete(each, f"question.passes[{number}]")
        if len(self.passes) == 1:
            return self._loss(self.passes[0], self.changes)
        if self.kind != "one":
            return _product([self._loss(each, self.changes) for each in self.passes])
        losses = [self._by_change(each) for each in self.passes]
        best = ONE
        for change in self.changes:
            found = _product([each[change] for each in losses])
            if found is None:
                return None
            best = max(best, found)
        return best

    def _by_change(self, each: _Pass) -> dict[Change, Ratio]:
        """What a pass loses by each change; values that it does not tell apart are looked at once."""
        names: dict[object, int] = {}
        classes = []
        for value in range(len(self.values)):
            column = (
                tuple(row[value] for row in each.moves if row),
                tuple(tuple(row[value]) for row in each.written),
            )
            classes.append(names.setdefault(column, value))
        known: dict[Change, Ratio] = {}
        result: dict[Change, Ratio] = {}
        for x, y in self.changes:
            name = (classes[x], classes[y])
            if name not in known:
                known[name] = ONE if name[0] == name[1] else self._loss(each, [(x, y)])
            result[x, y] = known[name]
        return result

    def _complete(self, each: _Pass, place: str) -> None:
        """Refuse a pass that does not go on before the data end, or has no end where they may end."""
        levels = {0: 0}
        waiting = [0]
        for state in waiting:
            if levels[state] == self.size:
                continue
            if not each.moves[state]:
                refuse("a state can be reached before the data end, and does not go on", place)
            for target in each.moves[state]:
                if target not in levels:
                    levels[target] = levels[state] + 1
                    waiting.append(target)
        if all(each.ends[state] is not None for state in levels):
            return
        last = {0}
        for _ in range(self.size):
            self._spend(len(last) * len(self.values))
            last = {target for state in last for target in each.moves[state]}
        if any(each.ends[state] is None for state in last):
            refuse("a pass has no end where the data may end", place)

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > _MOST_STEPS:
            refuse(f"more than {_MOST_STEPS} moves of two runs", "question.passes")

    def _letters(self, changes: list[Change]) -> list[list[tuple[int, int, int]]]:
        """For every memory the values that both sides may read next, with the memory afterwards."""
        equal = [(v, v) for v in range(len(self.values))]
        if self.kind == "each":
            return [[(x, y, 0) for x, y in (*equal, *changes)]]
        if self.kind == "one":
            before = [(x, y, 0) for x, y in equal] + [(x, y, 1) for x, y in changes]
            return [before, [(x, y, 1) for x, y in equal]]
        up = [change for change in changes if self._direction(change) > 0]
        down = [change for change in changes if self._direction(change) < 0]
        return [
            [*((x, y, 0) for x, y in equal), *((x, y, 1) for x, y in up), *((x, y, 2) for x, y in down)],
            [(x, y, 1) for x, y in (*equal, *up)],
            [(x, y, 2) for x, y in (*equal, *down)],
        ]

    def _loss(self, each: _Pass, changes: list[Change]) -> Ratio:
        """What a pass loses at most where entries change so."""
        letters = self._letters(changes)
        reached = self._reached(each, letters)
        if each.written:
            return self._along(each, letters, reached)
        best = ONE
        for left, right, _ in reached:
            one, other = each.ends[left], each.ends[right]
            if one is None or other is None or left == right:
                continue
            found = self._parts(one, other)
            if found is None:
                return None
            best = max(best, found)
        return best

    def _reached(self, each: _Pass, letters: list[list[tuple[int, int, int]]]) -> dict[Node, None]:
        """The nodes that are reached within the size."""
        seen: dict[Node, None] = {(0, 0, 0): None}
        level = list(seen)
        for _ in range(self.size):
            following: dict[Node, None] = {}
            for left, right, memory in level:
                self._spend(len(letters[memory]))
                one, other = each.moves[left], each.moves[right]
                if not one or not other:
                    refuse("a state can be reached before the data end, and does not go on", "question.passes")
                for x, y, after in letters[memory]:
                    node = (one[x], other[y], after)
                    if node not in seen:
                        seen[node] = following[node] = None
            level = list(following)
            if not level:
                break
        self.nodes += len(seen)
        within(self.nodes, _MOST_NODES, "pairs of states", "question.passes")
        return seen

    def _parts(self, left: list[int], right: list[int]) -> Ratio:
        """The product of the largest ratios of some parts."""
        found = ONE
        for i, j in zip(left, right, strict=True):
            if i == j:
                continue
            if (i, j) not in self.known:
                self.outcomes += len(self.laws[i].table)
                within(self.outcomes, MOST_OUTCOMES, "outcomes", "question.laws")
                self.known[i, j] = largest_ratio(self.laws[i], self.laws[j])
            ratio = self.known[i, j]
            if ratio is None:
                return None
            found *= ratio
        return found

    def _along(self, each: _Pass, letters: list[list[tuple[int, int, int]]], reached: dict[Node, None]) -> Ratio:
        """The largest product along a path of the size, from its end."""
        values: dict[Node, Ratio] = {}
        for node in reached:
            one, other = each.ends[node[0]], each.ends[node[1]]
            if one is not None and other is not None:
                values[node] = self._parts(one, other)
        onward = {node: list(self._drawing(each, node, letters[node[2]], reached)) for node in reached}
        for _ in range(self.size):
            following: dict[Node, Ratio] = {}
            for node, moves in onward.items():
                self._spend(len(moves))
                for target, drawn in moves:
                    if target not in values:
                        continue
                    after = values[target]
                    if drawn is None or after is None:
                        return None
                    found = drawn * after
                    held = following.get(node)
                    if held is None or found > held:
                        following[node] = found
            values = following
        return values[0, 0, 0]

    def _drawing(
        self, each: _Pass, node: Node, letters: list[tuple[int, int, int]], reached: dict[Node, None]
    ) -> Iterator[tuple[Node, Ratio]]:
        """The moves of a node, with the largest ratio of what is drawn on the way."""
        left, right, _ = node
        for x, y, after in letters:
            one, other = each.moves[left], each.moves[right]
            target = (one[x], other[y], after) if one and other else None
            if target is not None and target in reached:
                yield target, self._parts(each.written[left][x], each.written[right][y])


def _product(factors: Sequence[Ratio]) -> Ratio:
    found = ONE
    for factor in factors:
        if factor is None:
            return None
        found *= factor
    return found


def _distance(value: Value) -> Rational:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        refuse("values that differ by amounts are numbers", "question.values")
    return rational(value)


def _read_draws(asked: dict[str, object], limits: Limits) -> _Draws:
    listed = a_list(asked.get("values"), "question.values")
    within(len(listed), limits.symbols, "values", "question.values")
    values = [read_value(item, f"question.values[{i}]") for i, item in enumerate(listed)]
    if len({key(value) for value in values}) < len(values):
        refuse("a value is listed twice", "question.values")
    size = an_integer(asked.get("size"), "question.size")
    if not 1 <= size <= limits.steps:
        refuse("data have at least one entry, and not too many", "question.size")
    kind = a_text(asked.get("relation"), "question.relation")
    if kind not in ("each", "one", "monotone"):
        refuse("expected each, one or monotone", "question.relation")
    near = None if asked.get("within") is None else a_number(asked["within"], "question.within", limits)
    if near is None and kind == "monotone":
        refuse("what has no order does not move in one direction", "question.within")
    laws = []
    for i, item in enumerate(a_list(asked.get("laws"), "question.laws")):
        place = f"question.laws[{i}]"
        one = an_object(item, place)
        only_members(one, ("noise", "arguments"), place)
        given = [read_value(each, place) for each in a_list(one.get("arguments"), place)]
        laws.append(DrawLaw(a_text(one.get("noise"), place), given, place))
    passes = [
        _read_pass(item, len(values), len(laws), f"question.passes[{i}]", limits)
        for i, item in enumerate(a_list(asked.get("passes"), "question.passes"))
    ]
    if not passes or not laws:
        refuse("nothing is drawn", "question.passes")
    return _Draws(values, size, kind, near, laws, passes)


def _read_pass(value: object, values: int, laws: int, place: str, limits: Limits) -> _Pass:
    one = an_object(value, place)
    only_members(one, ("moves", "written", "ends"), place)
    moves = [_numbers(row, f"{place}.moves") for row in a_list(one.get("moves"), f"{place}.moves")]
    within(len(moves), limits.states, "states", f"{place}.moves")
    if not moves or any(row and (len(row) != values or not all(0 <= s < len(moves) for s in row)) for row in moves):
        refuse("a row of moves says for every value to which state it leads, or is empty", f"{place}.moves")
    written = [
        [_laws(laws_here, laws, f"{place}.written") for laws_here in a_list(row, f"{place}.written")]
        for row in a_list(one.get("written") or [], f"{place}.written")
    ]
    if written and (len(written) != len(moves) or any(len(row) != values for row in written)):
        refuse("parts are written in every state, by every value, or in none", f"{place}.written")
    if len({len(each) for row in written for each in row}) > 1:
        refuse("every step writes as many parts", f"{place}.written")
    ends = [None if e is None else _laws(e, laws, f"{place}.ends") for e in a_list(one.get("ends"), f"{place}.ends")]
    if len(ends) != len(moves) or len({len(each) for each in ends if each is not None}) != 1:
        refuse("every end draws as many parts", f"{place}.ends")
    return _Pass(moves, written, ends)


def _laws(value: object, count: int, place: str) -> list[int]:
    found = _numbers(value, place)
    if any(not 0 <= each < count for each in found):
        _refuse_number(place)
    return found


def _refuse_number(place: str) -> NoReturn:
    refuse("there is no law of this number", place)


def _numbers(value: object, place: str) -> list[int]:
    return [an_integer(item, place) for item in a_list(value, place)]
