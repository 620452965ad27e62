"""Refutations by a loss: two neighbouring inputs, and an event that is too likely under the first.

The probabilities of the event are integrated from the trees of runs, exactly: sums of ``q e^s`` with rational q and s.
That one exceeds e^epsilon times the other is decided exactly too, since exponentials of different rationals are linearly
independent over the rationals (Lindemann and Weierstrass).  The trees say what the mechanism does on these two inputs; that
they are trees, with an outcome for every case, is checked, and that they are those of the mechanism is not.
"""

from __future__ import annotations

from fractions import Fraction

from privproof_checker.claims import loss_at_least
from privproof_checker.integrals.probabilities import Integrator
from privproof_checker.numbers import INFINITE, ZERO, Epsilon, Rational, epsilon, smallest_epsilon
from privproof_checker.numbers.balls import rational_bounds
from privproof_checker.numbers.exponentials import ExponentialSum, exceeds, loss
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_text_or_null, an_object, only_members, text
from privproof_checker.programs.open_trees import probability, read_leaves
from privproof_checker.programs.program_inputs import (
    ADD_REMOVE,
    NORMS,
    SIZE,
    Declared,
    ProgramInput,
    Scalar,
    check_declared_bounds,
    same,
    scalar,
)

_MOST_SHOWN = 200
"""A probability with a longer exact text is shown as a decimal number in the statement; the comparison is exact all the same."""
_LARGEST_CLAIM = 10_000
"""The largest epsilon that a claim may come to at given inputs; beyond, it is refused before it is raised to a power of e."""
_SIMPLE = 1_000
"""Denominators up to this are tried for a loss that is a fraction."""

Row = tuple[Scalar, ...]
"""An entry with fields."""
Arguments = dict[str, tuple[Scalar | Row, ...]]
"""The entries of each input; of a value, the one entry."""


def refuted_by_loss(declared: Declared, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that the loss of an event exceeds the claim."""
    only_members(evidence, ("method", "event", "pattern", "left", "right"), "evidence")
    a_text_or_null(evidence.get("event"), "evidence.event")
    sides = {}
    for name in ("left", "right"):
        given = an_object(evidence.get(name), f"evidence.{name}")
        only_members(given, ("arguments", "leaves", "rest"), f"evidence.{name}")
        sides[name] = given
    left, right = (
        read_arguments(sides[s].get("arguments"), declared, f"evidence.{s}.arguments", limits) for s in sides
    )
    check_neighbours(declared, left, right)
    budget = _budget(declared, left)
    integrator = Integrator()
    above, below = (event_probability(side, f"evidence.{name}", integrator, limits) for name, side in sides.items())
    more = "" if declared.delta == 0 else f" plus {text(declared.delta)}"
    if not exceeds(above - declared.delta, below, budget):
        refuse(
            f"{probability_text(above)} does not exceed e^({budget}) times {probability_text(below)}{more}", "evidence"
        )
    return Accepted(
        "refuted",
        f"an event has probability {probability_text(above)} on the left inputs and {probability_text(below)} on the right ones, more than "
        f"e^({budget}) times as much{more}",
        {
            "method": "loss",
            "left": probability_text(above),
            "right": probability_text(below),
            "leaves": _leaves(sides),
            "epsilon": str(budget),
        },
        lower=needed_epsilon(above - declared.delta, below),
    )


def event_probability(side: dict[str, object], place: str, integrator: Integrator, limits: Limits) -> ExponentialSum:
    """The probability of the event by the leaves of a tree; where it says so, what has no leaf lies outside the event."""
    if side.get("rest", "outside") != "outside":
        refuse("the rest is outside, or every outcome has a leaf", f"{place}.rest")
    total = ExponentialSum.constant(0)
    for leaf in read_leaves(side.get("leaves"), f"{place}.leaves", limits, whole="rest" not in side):
        if leaf.event:
            total = total + probability(leaf, integrator)
    return total


def _leaves(sides: dict[str, dict[str, object]]) -> int:
    return sum(len(a_list(side.get("leaves"), "evidence")) for side in sides.values())


def needed_epsilon(above: ExponentialSum, below: ExponentialSum) -> Epsilon:
    """An epsilon that two probabilities ask for at least; exactly where it is a simple fraction, or their quotient is."""
    if below.is_zero:
        return INFINITE
    one, two = (side.rational for side in (above, below))
    if one is not None and two is not None:
        return smallest_epsilon(one, two)
    ball = loss(above, below)
    middle = rational_bounds(ball.mid())[0]
    near = Fraction(int(middle.p), int(middle.q)).limit_denominator(_SIMPLE)
    simple = Rational(near.numerator, near.denominator)
    if simple >= 0 and (above - below.scaled(simple)).is_zero:
        return epsilon(simple)
    return loss_at_least(ball)


def probability_text(value: ExponentialSum) -> str:
    exact = str(value)
    return exact if len(exact) <= _MOST_SHOWN else f"about {float(value.ball()):.9g}"


def read_arguments(value: object, declared: Declared, place: str, limits: Limits) -> Arguments:
    """The inputs of one side, each within its declaration."""
    given = an_object(value, place)
    only_members(given, declared.inputs, place)
    result: Arguments = {}
    for each in declared.inputs.values():
        here = f"{place}.{each.name}"
        if each.name not in given:
            refuse("the input is not given", here)
        listed = [given[each.name]] if each.shape == "value" else a_list(given[each.name], here)
        within(len(listed), limits.horizon, "entries", here)
        entries = tuple(_entry(item, each, f"{here}[{i}]", limits) for i, item in enumerate(listed))
        if each.size is not None and len(entries) != each.size:
            refuse(f"the list has length {len(entries)} instead of {each.size}", here)
        result[each.name] = entries
    _length(declared, result, place)
    return result


def _entry(value: object, declared: ProgramInput, place: str, limits: Limits) -> Scalar | Row:
    """One entry of an input, within its declaration; a row is the tuple of its fields, in the order of the declaration."""
    if declared.fields:
        given = an_object(value, place)
        if list(given) != list(declared.fields):
            refuse("the fields are not those declared", place)
        return tuple(_scalar(given[part], each, f"{place}.{part}", limits) for part, each in declared.fields.items())
    return _scalar(value, declared, place, limits)


def _scalar(value: object, declared: ProgramInput, place: str, limits: Limits) -> Scalar:
    found = scalar(value, declared.sort, place, limits)
    check_declared_bounds(found, declared, place)
    return found


def _length(declared: Declared, arguments: Arguments, place: str) -> int | None:
    """The common length of the lists without a size of their own; None if there is no such list and no size."""
    lengths = {len(arguments[e.name]) for e in declared.inputs.values() if e.shape == "list" and e.size is None}
    if declared.size is not None and not (declared.relation == ADD_REMOVE and lengths == {declared.size - 1}):
        lengths.add(declared.size)
    if len(lengths) > 1:
        refuse("the lists have different lengths", place)
    return next(iter(lengths), None)


def check_neighbours(declared: Declared, left: Arguments, right: Arguments) -> None:
    """Refuse inputs that are the same, or that are not neighbours."""
    if declared.relation == ADD_REMOVE:
        _one_more(declared, left, right)
        return
    changes: list[tuple[ProgramInput, Scalar | Row, Scalar | Row]] = []
    for each in declared.inputs.values():
        one, two = left[each.name], right[each.name]
        if len(one) != len(two):
            refuse(f"the input {each.name!r} has different lengths on the two sides", "evidence.right.arguments")
        changed = [(each, a, b) for a, b in zip(one, two, strict=True) if not _same(a, b)]
        if changed and each.public:
            refuse(f"the public input {each.name!r} differs", "evidence.right.arguments")
        changes += changed
    if not changes:
        refuse("the two sides have the same inputs", "evidence.right.arguments")
    if declared.relation == "one" and len(changes) > 1:
        refuse(f"{len(changes)} entries differ instead of one", "evidence.right.arguments")
    signs = set()
    for each, a, b in changes:
        if not isinstance(a, Rational) or not isinstance(b, Rational):
            if declared.relation == "monotone":
                refuse(f"the input {each.name!r} has no direction", "evidence.right.arguments")
            continue
        if each.within is not None and abs(b - a) > each.within:
            refuse(f"an entry of {each.name!r} differs by {text(abs(b - a))}", "evidence.right.arguments")
        signs.add(b > a)
    if declared.relation in NORMS:
        _within_norm(declared, [b - a for _, a, b in changes if isinstance(a, Rational) and isinstance(b, Rational)])
    if declared.relation == "monotone" and len(signs) > 1:
        refuse("the entries differ in both directions", "evidence.right.arguments")


def _within_norm(declared: Declared, differences: list[Rational]) -> None:
    """Refuse differences that are together more than the one private list allows."""
    [private] = declared.private
    assert private.within is not None
    if declared.relation == "l1":
        total, most = sum((abs(each) for each in differences), ZERO), private.within
    else:
        total, most = sum((each * each for each in differences), ZERO), private.within * private.within
    if total > most:
        said = f"the differences come to {text(total)} instead of at most {text(most)}"
        refuse(f"{said}, in {declared.relation}", "evidence.right.arguments")


def _one_more(declared: Declared, left: Arguments, right: Arguments) -> None:
    """Refuse inputs of which none is the other with one entry of the private list removed."""
    [private] = declared.private
    for each in declared.inputs.values():
        if each.public and not _alike(left[each.name], right[each.name]):
            refuse(f"the public input {each.name!r} differs", "evidence.right.arguments")
    shorter, longer = sorted((left[private.name], right[private.name]), key=len)
    removed = (longer[:place] + longer[place + 1 :] for place in range(len(longer)))
    if len(longer) != len(shorter) + 1 or not any(_alike(shorter, other) for other in removed):
        refuse("no list is the other with one entry removed", "evidence.right.arguments")


def _alike(left: tuple[Scalar | Row, ...], right: tuple[Scalar | Row, ...]) -> bool:
    return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))


def _same(left: Scalar | Row, right: Scalar | Row) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _alike(left, right)
    return not isinstance(left, tuple) and not isinstance(right, tuple) and same(left, right)


def _budget(declared: Declared, arguments: Arguments) -> Epsilon:
    """The claim at these inputs."""
    if declared.epsilon is not None:
        return declared.epsilon
    assert declared.claim is not None
    total = declared.claim.constant
    for name, factor in declared.claim.terms.items():
        if name == SIZE:
            size = _length(declared, arguments, "question.claim")
            if size is None:
                refuse("the claim depends on the length of lists, and there are none", "question.claim")
            total += factor * size
        else:
            [value] = arguments[name]
            assert isinstance(value, Rational)
            total += factor * value
    if abs(total) > _LARGEST_CLAIM:
        refuse(f"the claim at these inputs is beyond the limit of {_LARGEST_CLAIM}", "question.claim")
    if declared.ratio is not None:
        return Epsilon(ratio=declared.ratio ** int(total.p), root=int(total.q))
    return Epsilon(shift=total)
