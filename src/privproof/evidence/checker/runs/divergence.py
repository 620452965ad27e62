"""Claims over events where Gaussian noise is drawn, or noisy numbers are shown: bounds on ``P(E) - e^epsilon Q(E)`` in balls.

*Proof.*  On both trees the leaves are put together by what they show: the shape, the forms of the noisy numbers in it and of those that
something was done to or decided by, without their constants.  An observer who is also told these numbers sees no less.  What is shown
is then, on either side, with probability p (q) a vector ``B x + m`` (``B x + n``) of noises that no test looked at.

* ``m = n``: at most ``max(0, p - e^epsilon q)``.
* All noise in it Gaussian, ``S = B diag(sigma^2) B'`` invertible: two normal laws at distance ``mu^2 = (m-n)' S^-1 (m-n)``, hence with
  ``e = epsilon + ln(q/p)`` exactly ``p (Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu))``.
* A Laplace noise of its own in a number that is moved: its density changes by at most ``e^(|move|/(factor scale))``, so the above holds
  with e less the sum of these costs, and ``p - exp(e) p`` where nothing else is moved.
* Of all numbers one with Laplace noise of its own alone is moved, by B scales: the densities differ by factors from ``e^-B`` to
  ``e^B``, and ``P(Y >= t)`` against ``P(Y >= t - B)`` gives exactly ``p (1 - exp(min(e, (e - B)/2)))``, or 0 where that is negative.
* Anything else: at most p.

It rises in p and falls in q, so the ends of the balls are taken.  Sums over everything that is shown bound the excess of every event.

*Refutation.*  An event is a list of shapes, each whole or a halfspace of its noisy numbers; its probabilities are computed from the trees.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, fmpq_mat

from privproof.evidence.checker.documents import a_list, a_number, a_text, an_integer, an_object, only_members, text
from privproof.evidence.checker.integrals.normal import KINDS, forest_probability, normal_share
from privproof.evidence.checker.integrals.probabilities import Integrator
from privproof.evidence.checker.outcomes import Accepted, Limits, refuse
from privproof.evidence.checker.programs.trees import Linear
from privproof.evidence.checker.runs.sums import likelihood
from privproof.evidence.checker.runs.ways import Done, Leaf, Part, Ran, Tree
from privproof.exact import ZERO, Rational, epsilon
from privproof.exact.balls import precision, rational_bounds

_BITS = 128
"""The precision of balls: finer than that of what is claimed with balls, so that rounding refuses nothing."""


def proved_by_divergence(ran: Ran, evidence: dict[str, object]) -> Accepted:
    """Check that no event is more than delta beyond what epsilon allows."""
    only_members(evidence, ("method",), "evidence")
    claim = ran.claim
    if claim.pointwise and claim.delta != 0:
        refuse("this is evidence about events, and the delta is for each output", "evidence.method")
    if claim.epsilon.infinite:
        refuse("an infinite epsilon has no excess", "evidence.method")
    with precision(_BITS):
        bound = claim.epsilon.ball(_BITS).exp()
        seen = [_observed(tree, f"question.trees[{k}]") for k, tree in enumerate(ran.trees)]
        largest = arb(0)
        for i, j in sorted(ran.compared):
            found = _most(seen[i], seen[j], bound)
            if not found <= claim.delta:
                refuse(
                    f"an event may be {found.upper().str(8, radius=False)} beyond what epsilon allows, more than {text(claim.delta)}",
                    "evidence",
                )
            largest = found if found > largest else largest
    pairs = len(ran.neighbours.pairs)
    return Accepted(
        "proved",
        f"on {pairs} ordered pairs of neighbours no event is more than {text(claim.delta)} beyond what epsilon allows",
        {"method": "divergence", "pairs": pairs, "runs": sum(len(tree) for tree in ran.trees)},
    )


# -------------------------------------------------------------------------------------------------------- what is seen


@dataclass
class _Seen:
    """What is shown with some probability: numbers ``B x + m``."""

    probability: arb
    rows: tuple[tuple[tuple[int, Rational], ...], ...]
    laws: tuple[tuple[str, Rational], ...]
    constants: tuple[Rational, ...]


def _observed(tree: Tree, place: str) -> dict[object, list[_Seen]]:
    """What the leaves of a tree show, by shape, forms and laws."""
    found: dict[object, list[_Seen]] = {}
    for leaf in tree:
        forms: list[Linear] = []
        shown = tuple(_skeleton(part, forms) for part in leaf.parts)
        guessed = tuple((_skeleton(step.about, forms), step.outcome) for step in leaf.guesses)  # type: ignore[arg-type]
        mine = sorted({j for form in forms for j, _ in form.factors})
        if any(j in mine for form in leaf.conditions[: _tests(leaf)] for j, _ in form.factors):
            refuse("a noisy number is shown that a test looked at", place)
        rows = tuple(tuple((mine.index(j), c) for j, c in form.factors) for form in forms)
        laws = tuple(leaf.noises[j] for j in mine)
        key = (leaf.shape, shown, guessed, rows, laws)
        constants = tuple(form.constant for form in forms)
        probability = _probability(leaf, (), place)
        for other in found.setdefault(key, []):
            if other.constants == constants:
                other.probability += probability
                break
        else:
            found[key].append(_Seen(probability, rows, laws, constants))
    return found


def _tests(leaf: Leaf) -> int:
    return sum(step.kind == "test" for step in leaf.steps)


def _skeleton(part: Part, forms: list[Linear]) -> object:
    """What was done to numbers, with the numbers themselves put aside."""
    if isinstance(part, Linear):
        forms.append(part)
        return len(forms) - 1
    if isinstance(part, Done):
        return (part.operation, tuple(_skeleton(each, forms) for each in part.parts))
    return part


def _probability(leaf: Leaf, also: tuple[Linear, ...], place: str) -> arb:
    """The probability of the tests on the way to a leaf: integers are summed, the rest integrated."""
    tests = [*leaf.conditions[: _tests(leaf)], *also]
    whole = [form for form in tests if any(leaf.noises[j][0] == "geometric" for j, _ in form.factors)]
    rest = [form for form in tests if form not in whole]
    result = arb(leaf.weight)
    if whole:
        alone = Leaf(leaf.noises, (), leaf.shape, ())
        result *= likelihood(alone, whole, Integrator(), place).ball(1, _BITS)
    numbers = [j for j, (kind, _) in enumerate(leaf.noises) if kind in KINDS]
    order = {j: k for k, j in enumerate(numbers)}
    if any(j not in order for form in rest for j, _ in form.factors):
        refuse("noise of two kinds is compared", place)
    inequalities = [({order[j]: c for j, c in form.factors}, form.constant) for form in rest]
    return result * forest_probability([leaf.noises[j] for j in numbers], inequalities, place)


# ------------------------------------------------------------------------------------------------------------ bounding


def _most(left: dict[object, list[_Seen]], right: dict[object, list[_Seen]], bound: arb) -> arb:
    """A bound on the excess of every event."""
    total = arb(0)
    for key, mine in left.items():
        others = right.get(key, [])
        for number, seen in enumerate(mine):
            other = others[number] if len(mine) == len(others) else None
            total += _excess(seen, other, bound)
    return total


def _excess(mine: _Seen, other: _Seen | None, bound: arb) -> arb:
    p = mine.probability.upper()
    if p <= 0:
        return arb(0)
    q = arb(0) if other is None else other.probability.lower()
    if other is None or not q > 0:
        return p
    moves = [a - b for a, b in zip(mine.constants, other.constants, strict=True)]
    apart = _distance(mine, moves)
    if apart is None:
        return p
    square, cost, single = apart
    e = (bound * q / p).log()
    if single:
        return _at_least_zero(p - e.min((e - arb(cost)) / 2).exp() * p)
    e -= arb(cost)
    if square == 0:
        result = p - e.exp() * p
    else:
        mu = arb(square).sqrt()
        result = p * (normal_share(mu / 2 - e / mu) - e.exp() * normal_share(-mu / 2 - e / mu))
    return _at_least_zero(result)


def _at_least_zero(result: arb) -> arb:
    """The upper end of a ball, or 0; what is no number stays so, and is within no delta."""
    return arb(0) if result <= 0 else result.upper()


def _distance(seen: _Seen, moves: list[Rational]) -> tuple[Rational, Rational, bool] | None:
    """The square of mu, the cost of the other moves, and whether that is all and of one number; None where no noise makes up for a move."""
    if not any(moves):
        return ZERO, ZERO, False
    times: dict[int, int] = {}
    for row in seen.rows:
        for j, _ in row:
            times[j] = times.get(j, 0) + 1
    normal: list[int] = []
    cost = ZERO
    for k, row in enumerate(seen.rows):
        kinds = {seen.laws[j][0] for j, _ in row}
        if kinds == {"gaussian"}:
            normal.append(k)
        elif any(times[j] > 1 for j, _ in row):
            return None
        elif moves[k] != 0:
            if len(row) != 1 or kinds != {"laplace"}:
                return None
            [(j, factor)] = row
            cost += abs(moves[k] / factor) / seen.laws[j][1]
    if all(moves[k] == 0 for k in normal):
        return ZERO, cost, sum(move != 0 for move in moves) == 1
    entries = [_common(seen, a, b) for a in normal for b in normal]
    covariance = fmpq_mat(len(normal), len(normal), entries)
    if covariance.det() == 0:
        return None
    column = fmpq_mat(len(normal), 1, [moves[k] for k in normal])
    return (column.transpose() * covariance.solve(column))[0, 0], cost, False


def _common(seen: _Seen, a: int, b: int) -> Rational:
    """The covariance of two numbers."""
    other = dict(seen.rows[b])
    return sum((c * other[j] * seen.laws[j][1] ** 2 for j, c in seen.rows[a] if j in other), ZERO)


# ------------------------------------------------------------------------------------------------------------ refuting


def refuted_by_region(ran: Ran, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that a list of outcomes and halfspaces is an event beyond the claim."""
    only_members(evidence, ("method", "left", "right", "regions"), "evidence")
    left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
    if (left, right) not in ran.neighbours.pairs:
        refuse("these are no neighbours", "evidence.right")
    claim = ran.claim
    if claim.delta != 0 and claim.pointwise:
        refuse("a delta for each output is refuted by one output", "evidence.regions")
    if claim.epsilon.infinite:
        refuse("an infinite epsilon has no excess", "evidence.method")
    regions: dict[str, tuple[tuple[Rational, ...], Rational]] = {}
    for number, item in enumerate(a_list(evidence.get("regions"), "evidence.regions")):
        place = f"evidence.regions[{number}]"
        given = an_object(item, place)
        only_members(given, ("shape", "factors", "end"), place)
        shape = a_text(given.get("shape"), place)
        factors = tuple(a_number(each, place, limits) for each in a_list(given.get("factors"), place))
        if shape in regions:
            refuse("a shape is named twice", place)
        regions[shape] = factors, a_number(given.get("end"), place, limits)
    with precision(_BITS):
        p, q = (_likelihood(ran.trees[ran.places[side]], regions) for side in (left, right))
        less = p - arb(claim.delta)
        if not less > claim.epsilon.ball(_BITS).exp() * q:
            refuse(f"{p} does not exceed e^({claim.epsilon}) times {q} plus {text(claim.delta)}", "evidence")
        lower = None if not q > 0 else rational_bounds((less / q).log())[0]
    more = "" if claim.delta == 0 else f" plus {text(claim.delta)}"
    return Accepted(
        "refuted",
        f"an event has probability {p.str(10)} on the left data and {q.str(10)} on the right ones, more than "
        f"e^({claim.epsilon}) times as much{more}",
        {"method": "regions", "left": p.str(20), "right": q.str(20)},
        lower=claim.epsilon if lower is None or lower <= 0 else epsilon(_rounded(lower)),
    )


def _rounded(value: Rational) -> Rational:
    """A number, rounded down to a multiple of 10^-12, so that it can be written down."""
    return Rational(int((value * 10**12).floor()), 10**12)


def _likelihood(tree: Tree, regions: dict[str, tuple[tuple[Rational, ...], Rational]]) -> arb:
    """The probability of an event on a tree."""
    total = arb(0)
    for number, leaf in enumerate(tree):
        place = f"leaf {number}"
        if leaf.guesses or any(not _continuous(part, leaf) for part in leaf.parts):
            refuse("whole or opaque numbers may be shown in more than one way", place)
        if leaf.shape not in regions:
            continue
        factors, end = regions[leaf.shape]
        if not factors:
            total += _probability(leaf, (), place)
            continue
        if len(factors) != len(leaf.parts):
            refuse("a halfspace has a factor for every noisy number", "evidence.regions")
        sum_of: dict[int, Rational] = {}
        constant = -end
        for factor, part in zip(factors, leaf.parts, strict=True):
            assert isinstance(part, Linear)
            constant += factor * part.constant
            for j, c in part.factors:
                sum_of[j] = sum_of.get(j, ZERO) + factor * c
        kept = {j: c for j, c in sum_of.items() if c != 0}
        tests = leaf.conditions[: _tests(leaf)]
        if any(j in kept for t in tests for j, _ in t.factors):
            refuse("a halfspace is of numbers that no test looked at", "evidence.regions")
        if len(kept) == 1 and all(leaf.noises[j][0] == "laplace" for j in kept):
            [(j, c)] = kept.items()
            away = arb(constant / (abs(c) * leaf.noises[j][1]))  # the noise is symmetric: it is above -away
            tail = (-abs(away)).exp() / 2
            total += _probability(leaf, (), place) * (1 - tail if constant > 0 else tail)
            continue
        if any(leaf.noises[j][0] != "gaussian" for j in kept):
            refuse("a halfspace is of numbers with Gaussian noise, or of one with Laplace noise", "evidence.regions")
        variance = sum((c * c * leaf.noises[j][1] ** 2 for j, c in kept.items()), ZERO)
        if variance == 0:
            refuse("a halfspace without noise", "evidence.regions")
        total += _probability(leaf, (), place) * normal_share(arb(constant) / arb(variance).sqrt())
    return total


def _continuous(part: Part, leaf: Leaf) -> bool:
    """Whether a noisy number takes every value with probability 0."""
    return isinstance(part, Linear) and any(leaf.noises[j][0] != "geometric" for j, _ in part.factors)
