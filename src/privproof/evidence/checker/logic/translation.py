"""Evidence for the operator D of a decision process that is a certificate about words of actions.

Such a certificate is about a transducer T that reads actions, writes nothing, and is stopped by one more input, `stop`: then it halts
or never does.  Proved is, for every word w of actions (of every length, or of one length k), that T halts after ``w stop`` with

    H(left, w)  <=  e^epsilon H(right, w) + delta.

Let the product of process and formula be as in `products`, and suppose that T copies it: every node n of the product is sent to a state
of T so that T's rows are the product's rows sent along, except that nodes from which success is certain under every scheduler may be
sent to one state that stays and halts when stopped, and nodes from which it is impossible to one that stays and never halts.

* **Co-safe formula.**  Suppose T halts when stopped exactly in the states of satisfied nodes and the certain one.  Along a sequence of
  actions H grows to the probability of reaching a node that is satisfied or certain, which is the probability of the formula.
* **Safe formula.**  Suppose T halts exactly in the states of nodes that are neither violated nor impossible.  Along a sequence H falls
  to the probability of never reaching a violated or impossible node, which is the probability of the formula.
* **Decided after k actions**: then H after k actions is the probability itself.

So the inequality passes to the limit, and holds for every sequence of actions.
"""

from __future__ import annotations

from dataclasses import dataclass

from privproof.evidence.checker.claims import read_claim
from privproof.evidence.checker.documents import a_flag, a_list, a_number, a_text, an_object, only_members
from privproof.evidence.checker.logic.extremes import Extremes
from privproof.evidence.checker.logic.formulas import Path, PathNot, Private, Reader, a_state
from privproof.evidence.checker.logic.processes import Process
from privproof.evidence.checker.outcomes import Limits, refuse
from privproof.exact import ONE, ZERO, Rational

STOP = "stop"

Rows = dict[str, dict[str, dict[str, Rational]]]


@dataclass(frozen=True)
class Words:
    """What a certificate about words establishes: the ordered pairs of transducer states, and the state of each node."""

    pairs: frozenset[tuple[str, str]]
    state_of: dict[int, str]


def check_words(
    process: Process,
    formula: Private,
    found: Extremes,
    reader: Reader,
    value: object,
    starts: set[int],
    place: str,
    limits: Limits,
) -> Words:
    """What a certificate about words establishes about the product; refuses one that does not copy it."""
    from privproof.evidence.checker.front import checked  # the front knows this module

    given = an_object(value, place)
    only_members(given, ("certificate", "states", "complemented", "counted", "other"), place)
    certificate = an_object(given.get("certificate"), f"{place}.certificate")
    accepted = checked(certificate, limits)
    if accepted.verdict != "proved":
        refuse("a certificate about words must prove its claim", f"{place}.certificate")
    question = an_object(certificate.get("question"), f"{place}.certificate.question")
    rows, halting, staying = _machine(process, formula, question, f"{place}.certificate.question", limits)
    complemented = a_flag(given.get("complemented"), f"{place}.complemented")
    named = _named(given.get("states"), found, reader, f"{place}.states", complemented=complemented)
    ends = {key: a_text(given.get(key), f"{place}.{key}") for key in ("counted", "other")}
    copy = _Copy(process, found, rows, named, ends["counted"], ends["other"], halting, staying, place)
    horizon = question.get("horizon")
    steps = None if horizon in (None, "unbounded") else _steps(horizon, f"{place}.certificate.question.horizon")
    copy.check(starts, steps)
    return Words(_pairs(question, f"{place}.certificate.question"), copy.state_of)


def _steps(horizon: object, place: str) -> int:
    """The number of actions before `stop`, for words of one length."""
    text = str(horizon)
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        refuse("words have one length, or every length", place)
    return int(text) - 1


def _machine(
    process: Process, formula: Private, question: dict[str, object], place: str, limits: Limits
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
    if STOP in process.actions or question.get("inputs") != [*process.actions, STOP]:
        refuse("the inputs are not the actions and `stop`", f"{place}.inputs")
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
        state for state, row in rows.items() if all(row.get(x) == {state: ONE} for x in (*process.actions, STOP))
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


def _named(value: object, found: Extremes, reader: Reader, place: str, *, complemented: bool) -> dict[int, str]:
    """For nodes of the product the state of the transducer that is said to copy them."""
    result: dict[int, str] = {}
    count = len(reader.names)
    for name, item in an_object(value, place).items():
        here = f"{place}.{name}"
        both = a_list(item, here)
        if len(both) != 2:
            refuse("expected a state of the process and a path formula", here)
        state = a_state(both[0], count, f"{here}[0]")
        path: Path = reader.path(both[1], f"{here}[1]")
        obligation = found.obligations.of(PathNot(path) if complemented else path)
        node = found.product.number.get((state, obligation))
        if node is not None:
            result[node] = name
    return result


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


class _Copy:
    """Checks that the transducer copies the product."""

    def __init__(
        self,
        process: Process,
        found: Extremes,
        rows: Rows,
        named: dict[int, str],
        counted: str,
        other: str,
        halting: set[str],
        staying: set[str],
        place: str,
    ) -> None:
        self.process, self.found, self.rows, self.named = process, found, rows, named
        self.counted, self.other, self.halting, self.staying, self.place = counted, other, halting, staying, place
        self.state_of: dict[int, str] = {}

    def check(self, starts: set[int], steps: int | None) -> None:
        """Refuse unless every node that matters is copied, and decided after so many actions where words have one length."""
        self._absorbing(self.counted, halts=True)
        self._absorbing(self.other, halts=False)
        waiting = [self.found.product.number[state, self.found.root] for state in starts]
        level = set(waiting)
        while waiting:
            node = waiting.pop()
            if node not in self.state_of:
                self.state_of[node] = self._state(node)
                if not self._absorbed(node):
                    waiting += self._copied(node)
        if steps is not None:
            for _ in range(steps):
                level = {t for node in level for t in ((node,) if self._absorbed(node) else self._targets(node))}
            if not all(self._absorbed(node) for node in level):
                refuse("the formula is not decided when the words end", self.place)

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
        row = self.rows[state].get(STOP, {})
        into = self.halting if halts else self.staying
        if len(row) != 1 or next(iter(row)) not in into:
            refuse(
                f"stopped in the state {state[:40]!r} the transducer {'does not halt' if halts else 'may halt'}",
                self.place,
            )

    def _sure(self, node: int) -> bool:
        return self.found.least[node] == ONE

    def _never(self, node: int) -> bool:
        return self.found.greatest[node] == ZERO

    def _absorbed(self, node: int) -> bool:
        return self._sure(node) or self._never(node)

    def _state(self, node: int) -> str:
        if self._sure(node):
            return self.counted
        if self._never(node):
            return self.other
        if node not in self.named or self.named[node] not in self.rows:
            refuse("a node of the product of process and formula is not copied", self.place)
        return self.named[node]

    def _targets(self, node: int) -> list[int]:
        return [target for row in self.found.product.rows[node] for target, _ in row]

    def _copied(self, node: int) -> list[int]:
        """Refuse unless the rows of a node are copied; the nodes that follow."""
        state = self.state_of[node]
        for action, row in zip(self.process.actions, self.found.product.rows[node], strict=True):
            wanted: dict[str, Rational] = {}
            for target, p in row:
                if not isinstance(p, Rational):
                    refuse("the numbers of the process are not exact", self.place)
                name = self._state(target)
                wanted[name] = wanted.get(name, ZERO) + p
            if self.rows[state].get(action) != wanted:
                refuse(f"the action {action[:40]!r} in the state {state[:40]!r} is not copied", self.place)
        self._stopped(state, halts=not self.found.co_safe)
        return self._targets(node)
