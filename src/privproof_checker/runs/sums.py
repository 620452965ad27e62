"""Probabilities of outcomes and of events, from trees of runs: discrete noise is summed, open noise integrated, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from privproof_checker.integrals.probabilities import Integrator
from privproof_checker.numbers import Epsilon, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.numbers.exponentials import ExponentialSum, exceeds
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, only_members, text
from privproof_checker.programs import open_trees as programs
from privproof_checker.programs.open_trees import WHOLE, Linear
from privproof_checker.programs.program_losses import needed_epsilon, probability_text
from privproof_checker.runs.run_leaves import Ran, RunLeaf, Tree

_ZERO = ExponentialSum.constant(0)
_MOST_BITS = 8192
"""The precision up to which a logarithm under a root is compared; beyond, nothing is established."""

Row: TypeAlias = dict[str, ExponentialSum]


def proved_by_table(ran: Ran, evidence: dict[str, object]) -> Accepted:
    """Check that the probabilities of all outcomes on all neighbours are within the claim."""
    only_members(evidence, ("method",), "evidence")
    integrator = Integrator()
    rows = [_row(tree, integrator, f"question.trees[{k}]") for k, tree in enumerate(ran.trees)]
    numbers = [_numbers(row) for row in rows]
    for i, j in sorted(ran.compared):
        one, two = numbers[i], numbers[j]
        if one is not None and two is not None and not ran.claim.events:
            _within_numbers(ran, one, two)
        else:
            _within(ran, rows[i], rows[j])
    outcomes = len({shape for row in rows for shape in row})
    return Accepted(
        "proved",
        f"the probabilities of {outcomes} outcomes on {len(ran.neighbours.pairs)} ordered pairs of neighbours are within {ran.claim}",
        {"method": "table", "outcomes": outcomes, "pairs": len(ran.neighbours.pairs), "runs": _runs(ran.trees)},
    )


def _runs(trees: Iterable[Tree]) -> int:
    return sum(len(tree) for tree in trees)


def _row(tree: Tree, integrator: Integrator, place: str) -> Row:
    row: Row = {}
    for leaf in tree:
        if leaf.guesses or leaf.parts:
            refuse("an outcome with noisy numbers, or behind a guess, has no probability of its own", place)
        row[leaf.shape] = row.get(leaf.shape, _ZERO) + likelihood(leaf, (), integrator, place)
    return row


def _numbers(row: Row) -> dict[str, Rational] | None:
    """A row whose probabilities are all rational."""
    found: dict[str, Rational] = {}
    for shape, p in row.items():
        number = p.rational
        if number is None:
            return None
        found[shape] = number
    return found


def _within_numbers(ran: Ran, left: dict[str, Rational], right: dict[str, Rational]) -> None:
    for shape, p in left.items():
        q = right.get(shape, Rational(0))
        if not ran.claim.holds(p, q):
            refuse(f"{shape[:80]} has probability {text(p)} against {text(q)}", "evidence")


def _within(ran: Ran, left: Row, right: Row) -> None:
    claim = ran.claim
    if claim.events:
        total = _ZERO
        for shape, p in left.items():
            q = right.get(shape, _ZERO)
            if _beyond(p, q, claim.epsilon):
                total = total + _excess(p, q, claim.epsilon)
        if (total - ExponentialSum.constant(claim.delta)).sign() > 0:
            refuse(f"an event is more than {text(claim.delta)} beyond what epsilon allows", "evidence")
        return
    for shape, p in left.items():
        q = right.get(shape, _ZERO)
        if _beyond(p - ExponentialSum.constant(claim.delta), q, claim.epsilon):
            refuse(f"{shape[:80]} has probability {probability_text(p)} against {probability_text(q)}", "evidence")


def _excess(p: ExponentialSum, q: ExponentialSum, bound: Epsilon) -> ExponentialSum:
    """``p - e^bound q``, or slightly more where the bound has a root; for an infinite bound p, where q is 0."""
    if bound.infinite:
        return p if q.is_zero else _ZERO
    if bound.root != 1:
        return p - q * bound.enclosure()[0]
    return p - (q * bound.ratio).scaled(bound.shift)


def _beyond(p: ExponentialSum, q: ExponentialSum, bound: Epsilon) -> bool:
    """Whether ``p > e^bound q``; refuses where that cannot be established."""
    if bound.infinite or bound.root == 1 or p.sign() <= 0 or q.is_zero:
        return exceeds(p, q, bound)
    one, two = p.rational, q.rational
    if one is not None and two is not None:
        return not bound.allows(one, two)
    bits = 128
    while bits <= _MOST_BITS:
        with precision(bits):
            difference = p.ball(bits) - bound.ball(bits).exp() * q.ball(bits)
        if difference > 0 or difference < 0:
            return bool(difference > 0)
        bits *= 2
    refuse("two probabilities are too near to e^epsilon to be compared", "evidence")


def likelihood(leaf: RunLeaf, also: Iterable[Linear], integrator: Integrator, place: str) -> ExponentialSum:
    """The probability of the noise that leads to a leaf and keeps some more forms at 0 or above, as if every guess came out so."""
    forms = [*leaf.conditions, *also]
    made = []
    for form in forms:
        factors = form.factors
        if len(factors) > 1 and any(leaf.noises[j][0] == "geometric" for j, _ in form.factors):
            refuse("a form with geometric noise mentions no other noise", place)
        made.append(programs.Linear(factors, form.constant))
    if any(not form.factors and form.constant < 0 for form in made):
        return _ZERO
    held = tuple(form for form in made if form.factors)
    return (
        programs.probability(
            programs.EventLeaf(tuple(law[:2] for law in leaf.noises), (), event=True, also=held, place=place),
            integrator,
        )
        * leaf.weight
    )


def refuted_by_event(ran: Ran, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that an event is beyond the claim on two neighbours."""
    only_members(evidence, ("method", "left", "right", "shapes", "within"), "evidence")
    left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
    if (left, right) not in ran.neighbours.pairs:
        refuse("these are no neighbours", "evidence.right")
    shapes = [a_text(item, "evidence.shapes") for item in a_list(evidence.get("shapes"), "evidence.shapes")]
    bounds = [_bounds(item, limits) for item in a_list(evidence.get("within"), "evidence.within")]
    if not shapes or len(set(shapes)) < len(shapes) or (bounds and len(shapes) != 1):
        refuse("an event has different shapes, and bounds only where it has one", "evidence.shapes")
    claim = ran.claim
    if claim.delta != 0 and claim.pointwise and (len(shapes) > 1 or bounds):
        refuse("a delta for each output is refuted by one output", "evidence.shapes")
    integrator = Integrator()
    one, two = ran.trees[ran.places[left]], ran.trees[ran.places[right]]
    p = _event(one, shapes, bounds, integrator, upper=False)
    q = _event(two, shapes, bounds, integrator, upper=True)
    atoms = any(_has_atoms(leaf) for tree in (one, two) for leaf in tree if leaf.shape in shapes)
    for number, leaf in enumerate(two):
        if leaf.shape in shapes or not (atoms or _has_atoms(leaf)):
            continue
        if any(may_agree(leaf.shape, shape) for shape in shapes):
            q = q + likelihood(leaf, (), integrator, f"leaf {number}")
    less = p - ExponentialSum.constant(claim.delta)
    more = "" if claim.delta == 0 else f" plus {text(claim.delta)}"
    if not exceeds(less, q, claim.epsilon):
        refuse(
            f"{probability_text(p)} does not exceed e^({claim.epsilon}) times {probability_text(q)}{more}", "evidence"
        )
    return Accepted(
        "refuted",
        f"an event has probability {probability_text(p)} on the left data and {probability_text(q)} on the right ones, more than "
        f"e^({claim.epsilon}) times as much{more}",
        {"method": "event", "left": probability_text(p), "right": probability_text(q), "runs": len(one) + len(two)},
        lower=needed_epsilon(less, q),
    )


def _has_atoms(leaf: RunLeaf) -> bool:
    """Whether a noisy number that is shown may have a value of positive probability: no continuous noise is in it, or it is opaque."""
    return any(
        not isinstance(part, Linear) or all(leaf.noises[j][0] in WHOLE for j, _ in part.factors) for part in leaf.parts
    )


def may_agree(one: str, other: str) -> bool:
    """Whether values of two shapes may be equal; ``#0`` stands for a noisy number, and all else is as it is shown."""
    (start, end), (begin, finish) = (_fixed_ends(shape) for shape in (one, other))
    length, width = min(len(start), len(begin)), min(len(end), len(finish))
    return start[:length] == begin[:length] and end[len(end) - width :] == finish[len(finish) - width :]


def _fixed_ends(shape: str) -> tuple[str, str]:
    """What stands in a shape before its first noisy number and after its last; a text with a noisy number in it is not fixed."""
    numbers = list(re.finditer(r"#[0-9]+( int| Fraction)?", shape))
    if not numbers:
        return shape, shape
    if "' #" in shape or '" #' in shape:
        return shape.partition("str(")[0], ""
    return shape[: numbers[0].start()], shape[numbers[-1].end() :]


def _bounds(value: object, limits: Limits) -> tuple[Rational | None, Rational | None]:
    given = a_list(value, "evidence.within")
    if len(given) != 2:
        refuse("expected two ends, or null for none", "evidence.within")
    low, high = (None if end is None else a_number(end, "evidence.within", limits) for end in given)
    return low, high


def _event(
    tree: Tree,
    shapes: list[str],
    bounds: list[tuple[Rational | None, Rational | None]],
    integrator: Integrator,
    *,
    upper: bool,
) -> ExponentialSum:
    """The probability of an event; a bound from above or below where a guess or something opaque has a part in it."""
    total = _ZERO
    for number, leaf in enumerate(tree):
        if leaf.shape not in shapes:
            continue
        opaque = bool(leaf.guesses)
        also: list[Linear] = []
        if bounds and len(bounds) != len(leaf.parts):
            refuse("bounds are for the noisy numbers of the outcome, one for each", "evidence.within")
        for part, (low, high) in zip(leaf.parts, bounds, strict=False):
            if low is None and high is None:
                continue
            if not isinstance(part, Linear):
                opaque = True
                continue
            also += [] if low is None else [Linear(part.factors, part.constant - low)]
            also += [] if high is None else [Linear(part.turned().factors, high - part.constant)]
        if upper or not opaque:
            total = total + likelihood(leaf, also, integrator, f"leaf {number}")
    return total
