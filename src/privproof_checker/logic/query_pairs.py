"""Evidence for the operator D of a decision process: for ordered pairs of neighbours, all action sequences or one.

A query scheduler is one infinite sequence of actions, used blindly from both states.  For a pair (s, t) the claim is
``p(s) <= e^epsilon p(t) + delta`` for every sequence; the evidence about it is one of

* ``extremes``: the greatest probability at s and the least at t, over all schedulers, satisfy it (Proposition 2);
* ``tree``: every infinite sequence begins with exactly one of the given words, and for each word w the expected greatest
  probability of what remains after w from s, and the expected least one from t, satisfy it.  For a sequence that begins
  with w, p(s) is the expectation, over the node reached by w, of what the rest of the sequence achieves from there;
* ``lasso``: under one sequence, some actions and then others for ever, it is violated;
* ``words``: see `translation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from privproof_checker.logic.decision_processes import Process, Value, a_kind, ends, in_words, read_word, walk_along
from privproof_checker.logic.extremes import Extremes, extremes
from privproof_checker.logic.formulas import Private, a_state
from privproof_checker.logic.measures import Holds, Measure
from privproof_checker.logic.readings import ActionWalk, read_for
from privproof_checker.logic.translation import Words
from privproof_checker.numbers import ONE, ZERO
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_text, an_object, only_members


@dataclass
class PairFacts:
    """What is established about a formula of D: ordered pairs where it holds, and where it is violated (and how)."""

    holding: set[tuple[int, int]] = field(default_factory=set)
    violated: dict[tuple[int, int], str] = field(default_factory=dict)


def surely_holds(formula: Private, left: Value, right: Value) -> bool:
    """Whether ``left <= e^epsilon right + delta`` is certain."""
    return formula.epsilon.allows(ends(left)[1], ends(right)[0], formula.delta)


def surely_fails(formula: Private, left: Value, right: Value) -> bool:
    """Whether ``left > e^epsilon right + delta`` is certain."""
    return not formula.epsilon.allows(ends(left)[0], ends(right)[1], formula.delta)


class Pairs:
    """Checks the pairs of one formula of D."""

    def __init__(self, process: Process, formula: Private, holds: Holds, limits: Limits) -> None:
        self.process, self.formula, self.holds, self.limits = process, formula, holds, limits
        self.facts = PairFacts()
        self._reading: ActionWalk
        self._extremes: Extremes | None = None
        self._starts: set[int] = set()

    def check(self, value: object, certificates: list[object], where: str) -> None:
        """Add what a list of pairs establishes; refuses a pair that does not establish what it says."""
        place = f"{where}.pairs"
        listed = a_list(value, place)
        within(len(listed), self.limits.pairs, "pairs", place)
        read: list[tuple[int, int, dict[str, object], str, str]] = []
        for i, item in enumerate(listed):
            here = f"{place}[{i}]"
            given = an_object(item, here)
            only_members(given, ("left", "right", "how"), here)
            left, right = (
                a_state(given.get(side), len(self.process.names), f"{here}.{side}") for side in ("left", "right")
            )
            if right not in self.process.neighbours[left]:
                refuse("the states are not different neighbours", here)
            how, kind = a_kind(given.get("how"), f"{here}.how")
            read.append((left, right, how, kind, f"{here}.how"))
        self._reading = read_for(self.process, [(left, right) for left, right, *_ in read], self.limits.explored, place)
        begun = [(*self._reading.begin(left, right, here), kind) for left, right, _, kind, here in read]
        self._starts = {state for *both, kind in begun if kind != "lasso" for state in both}
        self._extremes = None
        words: dict[int, Words] = {}
        for (left, right, how, kind, here), (first, second, _) in zip(read, begun, strict=True):
            match kind:
                case "extremes":
                    only_members(how, ("kind",), here)
                    self._compare({self._node(first): ONE}, {self._node(second): ONE}, here)
                    self.facts.holding.add((left, right))
                case "tree":
                    self._tree(first, second, how, here)
                    self.facts.holding.add((left, right))
                case "words":
                    self._words(first, second, how, here, words, certificates, f"{where}.certificates")
                    self.facts.holding.add((left, right))
                case "lasso":
                    self.facts.violated[left, right] = self._lasso(first, second, how, here)
                case _:
                    refuse(f"{kind[:40]!r} is no evidence for a pair", f"{here}.kind")
        both = self.facts.holding & self.facts.violated.keys()
        if both:
            refuse("the evidence contradicts itself", place)

    def _found(self) -> Extremes:
        if self._extremes is None:
            self._extremes = extremes(self._reading.walk, self.holds, self.formula.path, sorted(self._starts))
        return self._extremes

    def _node(self, state: int) -> int:
        found = self._found()
        return found.product.number[state, found.root]

    def _compare(self, left: dict[int, Value], right: dict[int, Value], place: str) -> None:
        """Refuse unless the expected greatest value on the left and least on the right satisfy the claim."""
        found = self._found()
        above, below = _expected_value(left, found.greatest), _expected_value(right, found.least)
        if above is None or below is None:
            refuse("the extreme probabilities are not known", place)
        if not surely_holds(self.formula, above, below):
            refuse(f"{in_words(above)} on the left against {in_words(below)} on the right is not allowed", place)

    def _tree(self, left: int, right: int, how: dict[str, object], place: str) -> None:
        only_members(how, ("kind", "words"), place)
        tree = self._prefixes(how.get("words"), f"{place}.words")
        first: dict[int, Value] = {self._node(left): ONE}
        second: dict[int, Value] = {self._node(right): ONE}
        waiting = [(0, first, second)]
        work = 0
        while waiting:
            node, one, two = waiting.pop()
            if not tree[node]:
                self._compare(one, two, f"{place}.words")
                continue
            for action, following in tree[node].items():
                moved = self._moved(one, action), self._moved(two, action)
                work += len(moved[0]) + len(moved[1])
                within(work, self.limits.explored, "nodes after words", f"{place}.words")
                waiting.append((following, *moved))

    def _words(
        self,
        left: int,
        right: int,
        how: dict[str, object],
        place: str,
        known: dict[int, Words],
        certificates: list[object],
        where: str,
    ) -> None:
        """Refuse unless a certificate about words compares the two states."""
        only_members(how, ("kind", "certificate", "left", "right"), place)
        number = a_state(how.get("certificate"), len(certificates), f"{place}.certificate")
        if number not in known:
            known[number] = Words(
                self.process,
                self.formula,
                self._found(),
                self._reading.walk.shows,
                certificates[number],
                f"{where}[{number}]",
                self.limits,
            )
        names = [a_text(how.get(side), f"{place}.{side}") for side in ("left", "right")]
        known[number].compare((self._node(left), names[0]), (self._node(right), names[1]))

    def _prefixes(self, value: object, place: str) -> list[dict[int, int]]:
        """The tree of the words, which must be a complete prefix code: its nodes with the next ones by action."""
        listed = a_list(value, place)
        within(len(listed), self.limits.words, "words", place)
        actions = len(self.process.actions)
        tree: list[dict[int, int]] = [{}]
        leaves: set[int] = set()
        for i, item in enumerate(listed):
            node = 0
            for action in read_word(item, actions, f"{place}[{i}]", self.limits):
                if node in leaves:
                    refuse("a word begins with another one", f"{place}[{i}]")
                if action not in tree[node]:
                    tree[node][action] = len(tree)
                    tree.append({})
                    within(len(tree), self.limits.words, "prefixes of words", place)
                node = tree[node][action]
            if node in leaves or tree[node]:
                refuse("a word is given twice or begins another one", f"{place}[{i}]")
            leaves.add(node)
        if any(node not in leaves and len(following) < actions for node, following in enumerate(tree)):
            refuse("some sequence of actions begins with none of the words", place)
        return tree

    def _moved(self, masses: dict[int, Value], action: int) -> dict[int, Value]:
        """The distribution over nodes of the product after an action; decided nodes stay."""
        product = self._found().product
        result: dict[int, Value] = {}
        for node, mass in masses.items():
            rows = product.rows[node]
            for target, p in rows[action] if rows else ((node, ONE),):
                result[target] = result.get(target, ZERO) + mass * p
        return result

    def _lasso(self, left: int, right: int, how: dict[str, object], place: str) -> str:
        """Refuse unless one sequence violates the claim; says how."""
        only_members(how, ("kind", "before", "repeated"), place)
        before, repeated = (
            read_word(how.get(part), len(self.process.actions), f"{place}.{part}", self.limits)
            for part in ("before", "repeated")
        )
        if not repeated:
            refuse("no action is repeated", f"{place}.repeated")
        self._reading.counts(left, before, repeated, place)
        walk = walk_along(self._reading.walk, before, repeated, self.limits.explored, place)
        found = Measure(walk, self.holds).of(self.formula.path, (left, right))
        one, two = found[left], found[right]
        if one is None or two is None:
            refuse("the probabilities are not known", place)
        if not surely_fails(self.formula, one, two):
            refuse(f"the sequence does not violate it: {in_words(one)} against {in_words(two)}", place)
        first = " ".join(self.process.actions[action] for action in before[:20]) + (" ..." if len(before) > 20 else "")
        again = " ".join(self.process.actions[action] for action in repeated[:20]) + (
            " ..." if len(repeated) > 20 else ""
        )
        return (
            f"under the actions {first + ', then ' if first else ''}{again} for ever the probability is {in_words(one)} in "
            f"the state {self._name(left)} and {in_words(two)} in {self._name(right)}"
        )

    def _name(self, state: int) -> str:
        """The name of the state that a state of the reading shows."""
        return self.process.names[self._reading.walk.shows[state]]


def _expected_value(masses: dict[int, Value], values: list[Value | None]) -> Value | None:
    total: Value = ZERO
    for node, mass in masses.items():
        value = values[node]
        if value is None:
            return None
        total = total + mass * value
    return total
