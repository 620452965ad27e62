"""Evidence for the operator D of a decision process that is a certificate about words of actions.

Such a certificate is about a transducer T that reads actions, writes nothing, and is stopped by one more input: then it halts
or never does.  Proved is, for every word w of actions (of every length, or of one length k), that T, stopped after w, halts with

    H(left, w)  <=  e^epsilon H(right, w) + delta.

Let the product of process and formula be as in `products`, and suppose that T copies it.  Every state of T is named after a state of the
process, except one that stays and halts when stopped, and one that stays and never halts.  A node n of the product is *paired* with a
state of T of the same process state, or, if success is certain (impossible) from n under every scheduler, with the first (second) of the
two.  From a pair every action leads to pairs again, with the same probabilities.  So the distribution over T's states after a word
is that over the nodes, sent along.

* **Co-safe formula.**  Suppose T halts when stopped exactly in the states of satisfied nodes and the certain one.  Along a sequence of
  actions H grows to the probability of reaching a node that is satisfied or certain, which is the probability of the formula.
* **Safe formula.**  Suppose T halts exactly in the states of nodes that are neither violated nor impossible.  Along a sequence H falls
  to the probability of never reaching a violated or impossible node, which is the probability of the formula.
* **Decided after k actions**: then H after k actions is the probability itself.

So the inequality passes to the limit, and holds for every sequence of actions.
"""

from __future__ import annotations

from collections.abc import Sequence

from privproof_checker.claims import read_claim
from privproof_checker.logic.decision_processes import Process
from privproof_checker.logic.extremes import Extremes
from privproof_checker.logic.formulas import Private, a_state
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_list, a_number, a_text, an_object, only_members

Rows = dict[str, dict[str, dict[str, Rational]]]


class Words:
    """A certificate about words, checked, and which nodes of the product are paired with which states of its transducer."""

    def __init__(
        self,
        process: Process,
        formula: Private,
        found: Extremes,
        shows: Sequence[int],
        value: object,
        place: str,
        limits: Limits,
    ) -> None:
        from privproof_checker.front import check_document  # the front knows this module

        self.process, self.found, self.shows, self.place = process, found, shows, place
        given = an_object(value, place)
        only_members(given, ("certificate", "states", "counted", "other"), place)
        certificate = an_object(given.get("certificate"), f"{place}.certificate")
        if check_document(certificate, limits).verdict != "proved":
            refuse("a certificate about words must prove its claim", f"{place}.certificate")
        asked = f"{place}.certificate.question"
        question = an_object(certificate.get("question"), asked)
        self.stop = _stop(process, question, asked)
        self.rows, self.halting, self.staying = _machine(process, formula, question, asked, limits, self.stop)
        self.pairs = _pairs(question, asked)
        horizon = question.get("horizon")
        self.steps = None if horizon in (None, "unbounded") else _steps(horizon, f"{asked}.horizon")
        count = len(process.names)
        self.state_of = {
            name: a_state(state, count, f"{place}.states.{name}")
            for name, state in an_object(given.get("states"), f"{place}.states").items()
        }
        self.counted, self.other = (a_text(given.get(key), f"{place}.{key}") for key in ("counted", "other"))
        if {self.counted, self.other} & self.state_of.keys() or self.counted == self.other:
            refuse("the two states that stay are named after no state of the process", place)
        self._absorbing(self.counted, halts=True)
        self._absorbing(self.other, halts=False)
        self._paired: set[tuple[int, str]] = set()
        self._halts: bool | None = None

    def compare(self, left: tuple[int, str], right: tuple[int, str]) -> None:
        """Refuse unless two nodes are paired with two states that the certificate compares."""
        for node, name in (left, right):
            self._follow(node, name)
            if self.steps is not None:
                self._decided(node, self.steps)
        if left[1] != right[1] and (left[1], right[1]) not in self.pairs:
            refuse("the certificate does not compare these two states", self.place)

    def _follow(self, node: int, name: str) -> None:
        """Refuse unless the pair, and every pair it leads to, is one."""
        waiting = [(node, name)]
        while waiting:
            pair = waiting.pop()
            if pair not in self._paired:
                self._paired.add(pair)
                waiting += self._onward(*pair)

    def _onward(self, node: int, name: str) -> list[tuple[int, str]]:
        """Refuse unless a node and a state are a pair; the pairs that follow."""
        if self._sure(node) or self._never(node):
            if name != (self.counted if self._sure(node) else self.other):
                refuse(f"the state {name[:40]!r} is paired with a node that is decided", self.place)
            return []
        if self.state_of.get(name) != self._shown(node) or name not in self.rows:
            refuse(f"the state {name[:40]!r} belongs to another state of the process", self.place)
        self._undecided(name)
        result = []
        for action, row in zip(self.process.actions, self.found.product.rows[node], strict=True):
            left = dict(self.rows[name].get(action, {}))
            by_state = {self.state_of[target]: target for target in left if target in self.state_of}
            for target, p in row:
                if not isinstance(p, Rational):
                    refuse("the numbers of the process are not exact", self.place)
                if self._sure(target) or self._never(target):
                    onward: str | None = self.counted if self._sure(target) else self.other
                else:
                    onward = by_state.get(self._shown(target))
                if onward is None or onward not in left:
                    refuse(f"the action {action[:40]!r} in the state {name[:40]!r} is not copied", self.place)
                left[onward] -= p
                result.append((target, onward))
            if any(number != 0 for number in left.values()):
                refuse(f"the action {action[:40]!r} in the state {name[:40]!r} has other probabilities", self.place)
        return result

    def _decided(self, node: int, steps: int) -> None:
        """Refuse unless the formula is decided after so many actions."""
        level = {node}
        for _ in range(steps):
            level = {t for n in level for t in ((n,) if self._sure(n) or self._never(n) else self._targets(n))}
        if not all(self._sure(n) or self._never(n) for n in level):
            refuse("the formula is not decided when the words end", self.place)

    def _targets(self, node: int) -> list[int]:
        return [target for row in self.found.product.rows[node] for target, _ in row]

    def _undecided(self, state: str) -> None:
        """Refuse unless stopped where nothing is decided the transducer always halts (safe formula) or never does (co-safe formula)."""
        row = self.rows[state].get(self.stop, {})
        into = set(row)
        halts = into <= self.halting
        if not into or not (halts or into <= self.staying):
            refuse(f"stopped in the state {state[:40]!r} the transducer halts by chance", self.place)
        obligations, root = self.found.obligations, self.found.root
        if not (obligations.safe(root) if halts else obligations.co_safe(root)):
            refuse(
                f"stopped in the state {state[:40]!r} the transducer {'halts' if halts else 'does not halt'}",
                self.place,
            )
        if self._halts is not None and self._halts != halts:
            refuse(f"stopped in the state {state[:40]!r} the transducer does other than elsewhere", self.place)
        self._halts = halts

    def _absorbing(self, state: str, *, halts: bool) -> None:
        """Refuse unless the state, where the transducer has it, stays, and halts when stopped or never does."""
        row = self.rows.get(state)
        if row is None:
            if state in self.halting:
                refuse(f"the state {state[:40]!r} has no row", self.place)
            return
        if any(row.get(action) != {state: ONE} for action in self.process.actions):
            refuse(f"the state {state[:40]!r} does not stay", self.place)
        self._stopped(state, halts=halts)

    def _stopped(self, state: str, *, halts: bool) -> None:
        row = self.rows[state].get(self.stop, {})
        into = self.halting if halts else self.staying
        if len(row) != 1 or next(iter(row)) not in into:
            does = "does not halt" if halts else "may halt"
            refuse(f"stopped in the state {state[:40]!r} the transducer {does}", self.place)

    def _shown(self, node: int) -> int:
        """The state of the process behind a node; those that one action leads to from a node differ in it."""
        return self.shows[self.found.product.nodes[node][0]]

    def _sure(self, node: int) -> bool:
        return self.found.least[node] == ONE

    def _never(self, node: int) -> bool:
        return self.found.greatest[node] == ZERO


def _steps(horizon: object, place: str) -> int:
    """The number of actions before `stop`, for words of one length."""
    text = str(horizon)
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        refuse("words have one length, or every length", place)
    return int(text) - 1


def _stop(process: Process, question: dict[str, object], place: str) -> str:
    """The input that stops: the one after the actions, of which it is none."""
    inputs = [a_text(name, f"{place}.inputs") for name in a_list(question.get("inputs"), f"{place}.inputs")]
    if inputs[:-1] != list(process.actions) or len(set(inputs)) < len(inputs):
        refuse("the inputs are not the actions and one more", f"{place}.inputs")
    return inputs[-1]


def _machine(
    process: Process, formula: Private, question: dict[str, object], place: str, limits: Limits, stop: str
) -> tuple[Rows, set[str], set[str]]:
    """The rows of the transducer, its halting states, and those that never halt; refuses one of another shape."""
    if question.get("kind") != "transducer":
        refuse("the certificate is not about a transducer", f"{place}.kind")
    claim = read_claim(question, limits)
    if claim.epsilon.compare(formula.epsilon) != 0 or claim.delta != formula.delta:
        refuse("the certificate is about another budget", f"{place}.epsilon")
    if claim.delta != 0 and not claim.pointwise:
        refuse("the certificate is about events", f"{place}.pointwise")
    if question.get("repeats") is not True or question.get("finish") is not None:
        refuse("the transducer does not repeat its step for ever", f"{place}.repeats")
    scenario = an_object(question.get("scenario"), f"{place}.scenario")
    only_members(scenario, ("pairs", "words"), f"{place}.scenario")
    if scenario.get("words") != {"ending": "complete"}:
        refuse("the certificate is not about complete runs", f"{place}.scenario.words")
    listed = a_list(question.get("steps"), f"{place}.steps")
    if len(listed) != 1:
        refuse("the transducer has more than one kind of step", f"{place}.steps")
    rows: Rows = {}
    for state, inputs in an_object(listed[0], f"{place}.steps[0]").items():
        here = f"{place}.steps[0].{state}"
        rows[state] = {
            symbol: _branches(branches, f"{here}.{symbol}", limits)
            for symbol, branches in an_object(inputs, here).items()
        }
    states = [a_text(name, f"{place}.states") for name in a_list(question.get("states"), f"{place}.states")]
    halting = {state for state in states if state not in rows}
    staying = {
        state for state, row in rows.items() if all(row.get(x) == {state: ONE} for x in (*process.actions, stop))
    }
    return rows, halting, staying


def _branches(value: object, place: str, limits: Limits) -> dict[str, Rational]:
    result: dict[str, Rational] = {}
    for i, item in enumerate(a_list(value, place)):
        branch = an_object(item, f"{place}[{i}]")
        if branch.get("output") is not None:
            refuse("the transducer writes something", f"{place}[{i}]")
        target = a_text(branch.get("to"), f"{place}[{i}].to")
        number = a_number(branch.get("probability"), f"{place}[{i}].probability", limits)
        result[target] = result.get(target, ZERO) + number
    return {target: number for target, number in result.items() if number != 0}


def _pairs(question: dict[str, object], place: str) -> frozenset[tuple[str, str]]:
    """The ordered pairs of states that are compared: both directions of each."""
    scenario = an_object(question.get("scenario"), f"{place}.scenario")
    result: set[tuple[str, str]] = set()
    for i, item in enumerate(a_list(scenario.get("pairs"), f"{place}.scenario.pairs")):
        pair = an_object(item, f"{place}.scenario.pairs[{i}]")
        sides = [an_object(pair.get(side), f"{place}.scenario.pairs[{i}].{side}") for side in ("left", "right")]
        if all(len(side) == 1 for side in sides) and pair.get("only") is None:
            left, right = (next(iter(side)) for side in sides)
            result |= {(left, right), (right, left)}
    return frozenset(result)
