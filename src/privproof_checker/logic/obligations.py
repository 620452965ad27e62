"""Path formulas as obligations, and what is left of an obligation after one step of a path.

A path formula is first written with negations at its leaves only.  Its parts are numbered *nodes*:

    ("leaf", i, truth)    ("and", nodes)    ("or", nodes)    ("X", k, f)
    ("U", f, g, low, high)    g at some step j from low to high, f at all steps before j
    ("R", f, g, low, high)    the dual: for every step j from low to high, g at j or f at a step before j

An *obligation* is a positive Boolean combination of nodes, kept as the antichain of its minimal conjunctions: the
empty antichain is false, the one with the empty conjunction true.  Two obligations that are equal as Boolean functions
of their nodes are the same antichain, so from one formula only finitely many obligations arise.  Nodes U of one f and
g that begin at 0 are a *family*: one that ends sooner implies one that ends later; of R the later implies the sooner.  In
a conjunction only the strongest of a family is kept, and a conjunction that implies another one so is dropped.

`left(obligation, state)` is the obligation with: a path ``s, t, ...`` satisfies the old one if and only if ``t, ...``
satisfies the new one (Bacchus and Kabanza, "Using temporal logics to express search control knowledge", 2000).

* **Co-safe** (no R without end): a path satisfies the obligation if and only if what is left becomes true.
* **Safe** (no U without end): a path violates it if and only if what is left becomes false.

The second follows by induction on the formula: a violated leaf is false after one step, a violated conjunction with
one of its parts, a violated disjunction with the last of them, a violated R when g is at some step j and f at all
steps before j, and each of those finitely many after finitely many steps.  Leaving out implied nodes changes nothing: a
conjunction becomes false with the first of its nodes that does (other antichains are true if all nodes are), and if a
weaker member of a family becomes false, the stronger one does no later.  The first is its dual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import TypeAlias

from privproof_checker.logic.formulas import (
    Leaf,
    Next,
    Not,
    Path,
    PathNot,
    PathSeveral,
    Several,
    State,
    Until,
)
from privproof_checker.outcomes import within

Node: TypeAlias = tuple[object, ...]
Antichain: TypeAlias = frozenset[frozenset[int]]
Family: TypeAlias = tuple[str, int, int]
Truths: TypeAlias = tuple[bool | None, ...]

TRUE: Antichain = frozenset((frozenset(),))
FALSE: Antichain = frozenset()

_MOST_CONJUNCTIONS = 1_000
"""One obligation has at most so many conjunctions, before simplifying ten times as many; a formula that needs more is refused."""
_MOST_OBLIGATIONS = 2_000_000
"""How many obligations, and parts of them, are numbered for one formula; a formula that needs more is refused."""


class Obligations:
    """The obligations that arise from path formulas; leaves are numbered in `leaves`."""

    def __init__(self) -> None:
        self.leaves: list[State] = []
        self._leaf_numbers: dict[State, int] = {}
        self._nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._chains: list[Antichain] = []
        self._chain_numbers: dict[Antichain, int] = {}
        self._steps: dict[tuple[int, Truths], Antichain | None] = {}
        self._left: dict[tuple[int, Truths], int | None] = {}
        self._family: dict[int, tuple[Family, float]] = {}
        self._endless: dict[tuple[int, str], bool] = {}
        self.true, self.false = self.numbered(TRUE), self.numbered(FALSE)
        self._true, self._false = self._node(("and", ())), self._node(("or", ()))

    def of(self, path: Path) -> int:
        """The obligation of a path formula."""
        return self.numbered(self._expanded(self._read(path, truth=True)))

    def numbered(self, chain: Antichain) -> int:
        """The number of an obligation."""
        number = self._chain_numbers.get(chain)
        if number is None:
            number = self._chain_numbers[chain] = len(self._chains)
            within(number, _MOST_OBLIGATIONS, "obligations", "question.formula")
            self._chains.append(chain)
        return number

    def _node(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._nodes)
            within(number, _MOST_OBLIGATIONS, "parts of obligations", "question.formula")
            self._nodes.append(node)
        return number

    def _read(self, path: Path, *, truth: bool) -> int:
        """The node of a path formula, or of its negation."""
        match path:
            case Leaf(Not(inner)):
                return self._read(Leaf(inner), truth=not truth)
            case Leaf(Several(every, parts)):
                kind = "and" if every == truth else "or"
                return self._several(kind, [self._read(Leaf(each), truth=truth) for each in parts])
            case Leaf(state):
                number = self._leaf_numbers.setdefault(state, len(self.leaves))
                if number == len(self.leaves):
                    self.leaves.append(state)
                return self._node(("leaf", number, truth))
            case PathNot(inner):
                return self._read(inner, truth=not truth)
            case PathSeveral(every, parts):
                return self._several(
                    "and" if every == truth else "or", [self._read(each, truth=truth) for each in parts]
                )
            case Next(steps, inner):
                return self._next(steps, self._read(inner, truth=truth))
            case Until(left, right, low, high):
                f, g = self._read(left, truth=truth), self._read(right, truth=truth)
                return self._until("U" if truth else "R", f, g, low, high)
        raise AssertionError(path)

    def _several(self, kind: str, parts: Iterable[int]) -> int:
        unit, zero = (self._true, self._false) if kind == "and" else (self._false, self._true)
        kept = sorted({part for part in parts if part != unit})
        if zero in kept:
            return zero
        return kept[0] if len(kept) == 1 else self._node((kind, tuple(kept)))

    def _next(self, steps: int, inner: int) -> int:
        if inner in (self._true, self._false):
            return inner
        match self._nodes[inner]:
            case ("X", int(further), int(last)):
                return self._node(("X", steps + further, last))
        return self._node(("X", steps, inner))

    def _until(self, kind: str, f: int, g: int, low: int, high: int | None) -> int:
        """U or R.  Without end and from a later step on, it is split at that step, so that endless ones begin at 0."""
        absorbed, escape = (self._true, self._false) if kind == "U" else (self._false, self._true)
        if g == escape or (low == 0 and (g == absorbed or high == 0 or f == escape)):
            return g
        if low > 0 and f == absorbed:  # nothing is asked before the step low
            return self._next(low, self._until(kind, f, g, 0, None if high is None else high - low))
        if high is None and low > 0:
            if kind == "U":  # f at the steps before low, and from low on the endless until
                first = self._until("R", self._false, f, 0, low - 1)
                return self._several("and", (first, self._next(low, self._until("U", f, g, 0, None))))
            first = self._until("U", self._true, f, 0, low - 1)
            return self._several("or", (first, self._next(low, self._until("R", f, g, 0, None))))
        number = self._node((kind, f, g, low, high))
        if low == 0:
            end = inf if high is None else high
            self._family[number] = ((kind, f, g), -end if kind == "U" else end)
        return number

    def _expanded(self, number: int) -> Antichain:
        """A node as an obligation."""
        if number == self._true:
            return TRUE
        if number == self._false:
            return FALSE
        match self._nodes[number]:
            case ("and", tuple(parts)):
                return _known_chain(self._all(self._expanded(part) for part in parts))
            case ("or", tuple(parts)):
                return _known_chain(self._any(self._expanded(part) for part in parts))
        return frozenset((frozenset((number,)),))

    def left(self, obligation: int, truths: Truths) -> int | None:
        """What is left of an obligation after a state with these truths of the leaves; None if that is unknown."""
        key = (obligation, truths)
        if key not in self._left:
            chains = (self._all(self._step(number, truths) for number in each) for each in self._chains[obligation])
            found = self._any(chains)
            self._left[key] = None if found is None else self.numbered(found)
        return self._left[key]

    def _step(self, number: int, truths: Truths) -> Antichain | None:
        key = (number, truths)
        if key not in self._steps:
            self._steps[key] = self._stepped(number, truths)
        return self._steps[key]

    def _stepped(self, number: int, truths: Truths) -> Antichain | None:
        match self._nodes[number]:
            case ("leaf", int(leaf), bool(truth)):
                holds = truths[leaf]
                return None if holds is None else TRUE if holds == truth else FALSE
            case ("and", tuple(parts)):
                return self._all(self._step(part, truths) for part in parts)
            case ("or", tuple(parts)):
                return self._any(self._step(part, truths) for part in parts)
            case ("X", int(steps), int(inner)):
                return self._expanded(inner if steps == 1 else self._next(steps - 1, inner))
            case ("U" | "R" as kind, int(f), int(g), int(low), high):
                assert high is None or isinstance(high, int)
                if high == 0:
                    return self._step(g, truths)
                later = self._expanded(self._until(kind, f, g, max(low - 1, 0), None if high is None else high - 1))
                one, other = (self._any, self._all) if kind == "U" else (self._all, self._any)
                goes_on = other(iter((self._step(f, truths), later)))
                return goes_on if low > 0 else one(iter((self._step(g, truths), goes_on)))
        raise AssertionError(self._nodes[number])

    def safe(self, obligation: int) -> bool:
        """Whether no U without end occurs."""
        return not any(self._has_endless(node, "U") for each in self._chains[obligation] for node in each)

    def co_safe(self, obligation: int) -> bool:
        """Whether no R without end occurs."""
        return not any(self._has_endless(node, "R") for each in self._chains[obligation] for node in each)

    def _has_endless(self, number: int, kind: str) -> bool:
        key = (number, kind)
        if key not in self._endless:
            node = self._nodes[number]
            endless = node[0] == kind and node[4] is None
            self._endless[key] = endless or any(self._has_endless(part, kind) for part in _parts(node))
        return self._endless[key]

    def in_the_limit(self, obligation: int, recurs: Callable[[int], bool]) -> int:
        """The obligation with every endless ``f U g`` replaced: by the weak until where g recurs, else by false.

        ``recurs`` is asked about the obligation of the replaced g.
        """

        def change(number: int, f: int, g: int) -> int:
            if self._nodes[number][0] == "R":
                return self._until("R", f, g, 0, None)
            return self._weak_until(f, g) if recurs(self.numbered(self._expanded(g))) else self._false

        return self._changed(obligation, change)

    def endless(self, obligation: int) -> tuple[list[int], list[int]]:
        """The nodes U and the nodes R without end that occur in an obligation."""
        seen: dict[int, None] = {}
        waiting = [node for each in self._chains[obligation] for node in each]
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen[number] = None
                waiting.extend(_parts(self._nodes[number]))
        found = [number for number in seen if self._nodes[number][0] in ("U", "R") and self._nodes[number][4] is None]
        untils = [number for number in found if self._nodes[number][0] == "U"]
        return untils, [number for number in found if number not in untils]

    def weakened(self, obligation: int, again: frozenset[int]) -> int:
        """The obligation with the endless untils of ``again`` made weak, and the others false: safe."""
        return self._changed(obligation, self._weakening(again))

    def for_ever(self, release: int, again: frozenset[int]) -> int:
        """The obligation that the second part of an endless R, weakened, holds at every step."""
        held = self._replacing(self._weakening(again))(_parts(self._nodes[release])[1])
        return self.numbered(self._expanded(self._until("R", self._false, held, 0, None)))

    def some_time(self, until: int, lasting: frozenset[int]) -> int:
        """The obligation that the second part of an endless U holds some time, endless R of ``lasting`` made true, others strong."""

        def change(number: int, f: int, g: int) -> int:
            if self._nodes[number][0] == "U":
                return self._until("U", f, g, 0, None)
            return self._true if number in lasting else self._until("U", g, self._several("and", (f, g)), 0, None)

        met = self._replacing(change)(_parts(self._nodes[until])[1])
        return self.numbered(self._expanded(self._until("U", self._true, met, 0, None)))

    def together(self, several: Iterable[int]) -> int:
        """The conjunction of obligations."""
        return self.numbered(_known_chain(self._all(self._chains[each] for each in several)))

    def _weak_until(self, f: int, g: int) -> int:
        return self._until("R", g, self._several("or", (f, g)), 0, None)

    def _weakening(self, again: frozenset[int]) -> Callable[[int, int, int], int]:
        def change(number: int, f: int, g: int) -> int:
            if self._nodes[number][0] == "R":
                return self._until("R", f, g, 0, None)
            return self._weak_until(f, g) if number in again else self._false

        return change

    def _changed(self, obligation: int, change: Callable[[int, int, int], int]) -> int:
        replace = self._replacing(change)
        chains = (self._all(self._expanded(replace(number)) for number in each) for each in self._chains[obligation])
        return self.numbered(_known_chain(self._any(chains)))

    def _replacing(self, change: Callable[[int, int, int], int]) -> Callable[[int], int]:
        """The map of nodes, inner ones first, that changes endless U and R; the change is told the node and its replaced parts."""
        replaced: dict[int, int] = {}

        def replace(number: int) -> int:
            if number not in replaced:
                replaced[number] = through(number, self._nodes[number])
            return replaced[number]

        def through(number: int, node: Node) -> int:
            match node:
                case ("and" | "or" as kind, tuple(parts)):
                    return self._several(kind, [replace(part) for part in parts])
                case ("X", int(steps), int(inner)):
                    return self._next(steps, replace(inner))
                case ("U" | "R", int(f), int(g), 0, None):
                    return change(number, replace(f), replace(g))
                case ("U" | "R" as kind, int(f), int(g), int(low), high):
                    assert high is None or isinstance(high, int)
                    return self._until(kind, replace(f), replace(g), low, high)
            return number

        return replace

    def _reduced(self, conjunction: frozenset[int]) -> frozenset[int]:
        """The conjunction without nodes that another one implies."""
        strongest: dict[Family, int] = {}
        kept: list[int] = []
        for number in conjunction:
            family = self._family.get(number)
            if family is None:
                kept.append(number)
            elif family[0] not in strongest or family[1] > self._family[strongest[family[0]]][1]:
                strongest[family[0]] = number
        return frozenset((*kept, *strongest.values())) if strongest else conjunction

    def _implies(self, one: frozenset[int], other: frozenset[int]) -> bool:
        """Whether every node of the other conjunction is in the one, or implied by a node of its family there."""
        if other <= one:
            return True
        if len(other) > len(one):
            return False
        strength = {family[0]: family[1] for family in map(self._family.get, one) if family is not None}
        for number in other - one:
            family = self._family.get(number)
            if family is None or family[0] not in strength or strength[family[0]] < family[1]:
                return False
        return True

    def _minimal(self, conjunctions: set[frozenset[int]]) -> Antichain:
        """The conjunctions that imply no other."""
        within(len(conjunctions), _MOST_CONJUNCTIONS, "conjunctions of an obligation", "question.formula")
        if len(conjunctions) < 2:
            return frozenset(conjunctions)
        kept: list[frozenset[int]] = []
        for each in sorted(conjunctions, key=len):
            if not any(self._implies(each, other) for other in kept):
                kept = [other for other in kept if len(other) < len(each) or not self._implies(other, each)]
                kept.append(each)
        return frozenset(kept)

    def _any(self, parts: Iterator[Antichain | None]) -> Antichain | None:
        """The disjunction, None if it is unknown; true as soon as a part is, even if another is unknown."""
        result, unknown = FALSE, False
        for part in parts:
            if part == TRUE:
                return TRUE
            if part is None:
                unknown = True
            elif part != FALSE:
                result = self._minimal(set(result | part))
        return None if unknown else result

    def _all(self, parts: Iterator[Antichain | None]) -> Antichain | None:
        """The conjunction, None if it is unknown; false as soon as a part is, even if another is unknown."""
        result, unknown = TRUE, False
        for part in parts:
            if part == FALSE:
                return FALSE
            if part is None:
                unknown = True
            elif part != TRUE:
                combined = len(result) * len(part)
                within(combined, 10 * _MOST_CONJUNCTIONS, "conjunctions of an obligation", "question.formula")
                result = self._minimal({self._reduced(one | other) for one in result for other in part})
        return None if unknown else result


def _known_chain(chain: Antichain | None) -> Antichain:
    assert chain is not None
    return chain


def _parts(node: Node) -> tuple[int, ...]:
    match node:
        case ("and" | "or", tuple(parts)):
            return parts
        case ("X", _, int(inner)):
            return (inner,)
        case ("U" | "R", int(f), int(g), _, _):
            return (f, g)
    return ()
