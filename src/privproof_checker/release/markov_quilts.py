"""Proofs by Markov quilts for chains (Song, Wang and Chaudhuri, SIGMOD 2017).

A quilt of the node i is an earlier node, a later one, both or none.  Given its values, the nodes beyond are independent of
X_i, so the loss at i is at most the influence of the quilt plus the cost of moving the n nodes strictly between, X_i among
them, all at once.

The evidence gives a quilt for ranges of nodes.  A whole range is judged at once, and three facts make that sound:

* a node that lacks one or both of the quilt nodes, because the series ends before, has no more nodes between and no more
  influence: the ratio of an absent node is 1, and that of a present one is never below 1;
* the distribution of the node i is some distribution (that of the node i - f + 1) times P^(f-1), for every f <= i, so its
  ratio at x' and x is at most the largest ``P^(f-1)(y, x') / P^(f-1)(y, x)``: a bound at the first node of a range is one
  for all of them;
* more pairs of states and more values of the quilt nodes than possible can only increase the bound.

Where that is not enough, distributions are computed for every node, and then every node is judged alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from privproof_checker.numbers import ONE
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, an_integer, only_members
from privproof_checker.release.influences import Kit, Pairs, Ratio, TooLarge, kits
from privproof_checker.release.release_losses import Allowance
from privproof_checker.release.release_priors import Chain
from privproof_checker.release.release_questions import Release, given_by_prior
from privproof_checker.release.transition_powers import OperationWork, Supports, members

_MOST_ALONE = 20_000
"""A range that cannot be judged as a whole is judged node by node if it is shorter than this; otherwise it is refused."""
_MOST_PAIRS = 40_000_000
"""Judging node by node looks at so many pairs of values in all, so that with many states only shorter ranges are tried."""


@dataclass(frozen=True)
class QuiltRange:
    """The nodes from first to last, whose quilt nodes are so far to the left and to the right, if there are any."""

    first: int
    last: int
    left: int | None
    right: int | None
    length: int

    @property
    def leftmost(self) -> int:
        """The first node whose left quilt node exists; beyond the range if there is none."""
        return self.last + 1 if self.left is None else max(self.first, self.left + 1)

    @property
    def rightmost(self) -> int:
        """The last node whose right quilt node exists; before the range if there is none."""
        return self.first - 1 if self.right is None else min(self.last, self.length - self.right)

    @property
    def between(self) -> int:
        """The most nodes that lie between the quilt nodes, or up to the ends of the series."""
        before = self.last - 1 if self.left is None else self.left - 1
        after = self.length - self.first if self.right is None else self.right - 1
        return min(before + 1 + after, self.length)

    def alone(self) -> Iterator[QuiltRange]:
        """Every node as a range of its own."""
        for node in range(self.first, self.last + 1):
            left = None if self.left is None or self.left > node - 1 else self.left
            right = None if self.right is None or self.right > self.length - node else self.right
            yield QuiltRange(node, node, left, right, self.length)


def proved_by_quilts(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that every node has a quilt that the claim affords."""
    only_members(evidence, ("method", "ranges"), "evidence")
    work, count, compared = OperationWork(), 0, False
    for chain, series in given_by_prior(release, evidence, "lists"):
        assert isinstance(chain, Chain)
        judge = Judge(chain, release.allowance(chain), work)
        for length, ranges, place in series:
            for number, each in enumerate(ranges_of(ranges, length, place, limits)):
                judge.check(each, f"{place}[{number}]")
                count += 1
                within(count, limits.pairs, "ranges", "evidence.ranges")
            compared = compared or judge.supports.compares(length)
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    return Accepted("proved", release.claim(), {"method": "quilts", "ranges": count, "priors": len(release.priors)})


def ranges_of(value: object, length: int, place: str, limits: Limits) -> Iterator[QuiltRange]:
    """The ranges, which must cover the nodes 1 to length in order, without a gap."""
    listed = a_list(value, place)
    within(len(listed), limits.pairs, "ranges", place)
    following = 1
    for number, item in enumerate(listed):
        here = f"{place}[{number}]"
        four = a_list(item, here)
        if len(four) != 4:
            refuse("a range is the first node, the last one, and the distances to the left and to the right", here)
        first, last = (an_integer(each, f"{here}[{i}]") for i, each in enumerate(four[:2]))
        if first != following or not first <= last <= length:
            refuse(f"the nodes {first} to {last} do not continue at {following} up to at most {length}", here)
        left, right = (_distance(each, length, f"{here}[{i}]") for i, each in enumerate(four[2:], 2))
        yield QuiltRange(first, last, left, right, length)
        following = last + 1
    if following != length + 1:
        refuse(f"the nodes from {following} to {length} are in no range", place)


def _distance(value: object, length: int, place: str) -> int | None:
    """A distance; one beyond the series is none."""
    if value is None:
        return None
    distance = an_integer(value, place)
    if distance < 1:
        refuse("a quilt node is at a distance of at least 1", place)
    return None if distance >= length else distance


class Judge:
    """Judges ranges of one chain."""

    def __init__(self, chain: Chain, allowance: Allowance, work: OperationWork) -> None:
        self.chain, self.allowance, self.work = chain, allowance, work
        self.supports = Supports(chain)
        self.makers = kits(chain, work)
        self.kits: list[Kit] = []

    def check(self, each: QuiltRange, place: str) -> None:
        """Refuse a range that has a node whose quilt the claim does not afford."""
        if not self._tells(each):
            return
        if each.left is None and each.right is None:
            if self.allowance.affords(ONE, each.length) is not True:
                refuse(f"the claim does not afford moving all {each.length} nodes at once", place)
            return
        unsettled = False
        for attempt in self._attempts(each):
            for level in range(len(self.makers)):
                try:
                    answer = attempt(each, self._kit(level))
                except TooLarge:
                    answer = None
                if answer:
                    return
                if answer is False:
                    break
            else:
                unsettled = True
        said = "cannot be shown to afford" if unsettled else "does not afford"
        refuse(f"the claim {said} the quilts of the nodes {each.first} to {each.last}", place)

    def _tells(self, each: QuiltRange) -> bool:
        """Whether two values may be possible for a node of the range; otherwise it has nothing to tell."""
        return self.supports.union(each.first, each.last).bit_count() > 1

    def _kit(self, level: int) -> Kit:
        if level == len(self.kits):
            self.kits.append(self.makers[level]())
        return self.kits[level]

    def _attempts(self, each: QuiltRange) -> Iterator[Callable[[QuiltRange, Kit], bool | None]]:
        """Ways to judge a range, each a closer look than the one before."""
        yield self._at_once
        if self.chain.kind == "given" and each.leftmost <= each.last:
            yield self._at_once_from_each
        if each.last - each.first < min(_MOST_ALONE, _MOST_PAIRS // self.chain.size**2):
            yield self._alone

    def _at_once(self, each: QuiltRange, kit: Kit) -> bool | None:
        """Judge with a bound of the distributions from the first node."""
        return self._range(each, self._at_first(each, kit), kit)

    def _at_once_from_each(self, each: QuiltRange, kit: Kit) -> bool | None:
        """Judge with the distribution of every node."""
        return self._range(each, self._one_by_one(each, kit), kit)

    def _alone(self, each: QuiltRange, kit: Kit) -> bool | None:
        """Judge every node alone."""
        result: bool | None = True
        for node in filter(self._tells, each.alone()):
            given = self.chain.kind == "given"
            answer = self._at_once_from_each(node, kit) if given else self._at_once(node, kit)
            if answer is False:
                return False
            result = result and answer
        return result

    def _at_first(self, each: QuiltRange, kit: Kit) -> Pairs:
        """Bounds of ``m_i(x') / m_i(x)`` for the nodes whose left quilt node exists, from the first of them."""
        if each.leftmost > each.last:
            return {}
        if self.chain.kind == "stationary":
            return kit.start()
        return self._from(each.leftmost, each.last, kit)

    def _from(self, first: int, last: int, kit: Kit) -> Pairs:
        """Bounds of ``m_i(x') / m_i(x)`` for i from first to last, where first is at least 2."""
        earlier = self.supports.union(1, last - first + 1)
        table = kit.columns(first - 1, earlier)
        possible = members(self.supports.union(first, last))
        return {(x, other): table[other][x] for x in possible for other in possible if other != x}

    def _one_by_one(self, each: QuiltRange, kit: Kit) -> Pairs:
        """The largest ``m_i(x') / m_i(x)``, for every node on its own as far as that goes."""
        if each.leftmost > each.last:
            return {}
        until = max(min(each.last, kit.furthest), each.leftmost - 1)
        result = kit.marginals(each.leftmost, until) if until >= each.leftmost else {}
        if until < each.last:
            for pair, ratio in self._from(until + 1, each.last, kit).items():
                known = result.get(pair, ratio)
                result[pair] = None if ratio is None or known is None else max(ratio, known)
        return result

    def _range(self, each: QuiltRange, ratios: Pairs, kit: Kit) -> bool | None:
        """Whether the claim affords the quilts of a range, given the ratios of its distributions."""
        after = kit.rows(each.right) if each.right is not None and each.rightmost >= each.first else None
        self.work.add(30 * self.chain.size**2)
        worst: Ratio = kit.nothing
        if after is not None:
            possible = members(self.supports.union(each.first, each.last))
            for x in possible:
                for other in possible:
                    if other != x:
                        worst = _larger(worst, after[x][other])
        if each.left is not None and each.leftmost <= each.last:
            before = kit.columns(each.left, self.supports.union(each.leftmost - each.left, each.last - each.left))
            for (x, other), ratio in ratios.items():
                influence = _larger(kit.nothing, kit.join(ratio, before[x][other]))
                worst = _larger(worst, influence if after is None else kit.join(influence, after[x][other]))
        return kit.within(worst, each.between, self.allowance)


def _larger(left: Ratio, right: Ratio) -> Ratio:
    return None if left is None or right is None else max(left, right)
