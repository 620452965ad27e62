"""Proofs by the worst way: the checker multiplies the ratios of all moves of a transducer along the worst way.

Let ``P_t(s, w)`` be the probability of the word w from state s before step t on, left inputs read, and ``Q_t(s, w)`` the same with the
right inputs. If ``R_t(s)`` satisfies

    R_t(s) >= p_x(s, o, j) / p_y(s, o, j) * R_(t+1)(j)

for all inputs (x, y) that the relation allows and all moves that write o (or nothing) and lead to j with ``p_x > 0``, and is 1 at
the end, where both sides write by one finish table, then ``P_t(s, w) <= R_t(s) Q_t(s, w)`` for every word: by induction,

    P_t(s, w) = sum over j of p_x(s, o, j) P_(t+1)(j, w')  <=  sum over j of R_t(s) p_y(s, o, j) Q_(t+1)(j, w')  =  R_t(s) Q_t(s, w).

Both sides begin with the same distribution, so the claim with ``e^epsilon >= max of R_0`` follows, with delta = 0. It holds for the
relations ``each``, ``one`` and ``monotone``, because R also depends on their memory.
"""

from __future__ import annotations

from privproof_checker.machines import TransducerSystem
from privproof_checker.neighbour_lists import Memory
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.systems import Question


def proved_by_the_worst_way(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a claim by multiplying ratios along the worst way."""
    machine = question.system
    if not isinstance(machine, TransducerSystem) or machine.finish is None or machine.repeats:
        refuse("this method is for transducers with a finish that read one number of inputs", "evidence.method")
    if machine.relation.kind not in ("each", "one", "monotone"):
        refuse("this method is for the relations each, one and monotone", "evidence.method")
    if any(start.left != start.right for start in machine.starts):
        refuse("the worst way needs the same initial distribution on both sides", "question.scenario.pairs")
    levels: list[set[tuple[int, Memory]]] = [
        {(state, machine.relation.start()) for start in machine.starts for state, mass in start.left if mass}
    ]
    compared = 0
    for step in machine.steps:
        following: set[tuple[int, Memory]] = set()
        for state, memory in levels[-1]:
            compared += len(machine.choices(memory))
            within(compared, limits.explored, "pairs of inputs", "evidence")
            for left, right, after in machine.choices(memory):
                if left is None or right is None:
                    refuse("an input is read on one side only", "evidence.method")
                following |= {(j, after) for branches in step[state][left].values() for j, _ in branches}
        levels.append(following)
    bounds = dict.fromkeys(levels.pop(), ONE)
    for step in reversed(machine.steps):
        level = levels.pop()
        earlier: dict[tuple[int, Memory], Rational] = {}
        for state, memory in level:
            largest = ZERO
            for left, right, after in machine.choices(memory):
                assert left is not None
                assert right is not None
                other = {(o, j): p for o, branches in step[state][right].items() for j, p in branches}
                for output, branches in step[state][left].items():
                    for j, p in branches:
                        q = other.get((output, j), ZERO)
                        if q == 0:
                            refuse("a move is possible on one side only", "evidence")
                        ratio = p / q * bounds[j, after]
                        largest = ratio if ratio > largest else largest
            earlier[state, memory] = largest
        bounds = earlier
    bound = max(bounds.values())
    if not question.claim.holds_without_delta(bound, ONE):
        refuse("the ratios multiply to more than the claim allows", "evidence")
    details: dict[str, object] = {"method": "worst way", "compared": compared}
    return Accepted("proved", f"private with {question.claim}; compared: {question.described}", details)
