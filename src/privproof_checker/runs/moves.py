"""Proofs by alignment of trees: every leaf of one tree is moved, by a shift of its noise, into a leaf of the other that shows the same.

For a leaf l and its target l' with shift s, and forms f of l and f' of l':

* both draw the same noises; every noisy number shown, and every condition guessed, is equal: ``f'(x + s) = f(x)``;
* every condition of l' follows from those of l: ``f'(x + s) - sum of q_k f_k(x)`` is a constant at least 0, with factors ``q_k >= 0``;
* the weight of l times the density of its noise is at most e^epsilon times that of l' at ``x + s``.

No two leaves have the same target, so an event has at most e^epsilon times its probability on the other side.  A leaf may have no
target if its conditions contradict one another: a sum of them with factors at least 0 is a negative constant.
"""

from __future__ import annotations

from privproof_checker.numbers import ZERO, Epsilon, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_list, a_number, an_integer, an_object, number_pairs, only_members
from privproof_checker.programs.open_trees import Done, Linear, Part
from privproof_checker.runs.run_leaves import Ran, RunLeaf, Tree

_LARGEST_SHIFT = 1_000_000
"""How far geometric noise is moved, since alpha is raised to it exactly; beyond, it is refused."""


def proved_by_moves(ran: Ran, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check the alignments of all ordered pairs of neighbours."""
    only_members(evidence, ("method", "alignments", "pairs"), "evidence")
    listed = a_list(evidence.get("alignments"), "evidence.alignments")
    given: dict[tuple[int, int], int] = {}
    for item in a_list(evidence.get("pairs"), "evidence.pairs"):
        triple = [an_integer(each, "evidence.pairs") for each in a_list(item, "evidence.pairs")]
        if len(triple) != 3 or not 0 <= triple[2] < len(listed):
            refuse("expected two data sets and the number of an alignment", "evidence.pairs")
        given[triple[0], triple[1]] = triple[2]
    seen: set[tuple[int, int, int]] = set()
    for i, j in sorted(ran.neighbours.pairs):
        if (i, j) not in given:
            refuse(f"no alignment is given for the data sets {i} and {j}", "evidence.pairs")
        key = (ran.places[i], ran.places[j], given[i, j])
        if key not in seen:
            seen.add(key)
            place = f"evidence.alignments[{given[i, j]}]"
            _check_alignment(ran.trees[key[0]], ran.trees[key[1]], listed[key[2]], ran.claim.epsilon, place, limits)
    return Accepted(
        "proved",
        f"on {len(ran.neighbours.pairs)} ordered pairs of neighbours every way is moved into one that shows the same, at a cost "
        f"of at most {ran.claim.epsilon}",
        {"method": "alignment", "pairs": len(ran.neighbours.pairs), "alignments": len(seen)},
    )


def _check_alignment(left: Tree, right: Tree, value: object, bound: Epsilon, place: str, limits: Limits) -> None:
    listed = a_list(value, place)
    if len(listed) != len(left):
        refuse("every leaf has a move", place)
    taken: set[int] = set()
    for number, (leaf, item) in enumerate(zip(left, listed, strict=True)):
        here = f"{place}[{number}]"
        given = an_object(item, here)
        only_members(given, ("to", "shift", "factors"), here)
        factors = [_factors(each, len(leaf.conditions), here, limits) for each in a_list(given.get("factors"), here)]
        if given.get("to") is None:
            _contradictory(leaf, factors, here)
            continue
        target = an_integer(given["to"], here)
        if not 0 <= target < len(right) or target in taken:
            refuse("there is no such leaf, or another one was moved there", here)
        taken.add(target)
        shift = tuple(a_number(each, here, limits) for each in a_list(given.get("shift"), here))
        _check_move(leaf, right[target], shift, factors, bound, here)


def _factors(value: object, count: int, place: str, limits: Limits) -> dict[int, Rational]:
    result: dict[int, Rational] = {}
    for number, factor in number_pairs(value, "the number of a condition and its factor", place, limits):
        if not 0 <= number < count or number in result or factor < 0:
            refuse("a factor is for a condition of the leaf, once, and at least 0", place)
        result[number] = factor
    return result


def _contradictory(leaf: RunLeaf, factors: list[dict[int, Rational]], place: str) -> None:
    if len(factors) != 1:
        refuse("a leaf without a target needs one sum of its conditions", place)
    total = _combine_conditions(leaf, factors[0])
    if total.factors or total.constant >= 0:
        refuse("the conditions of a leaf without a target contradict one another", place)


def _combine_conditions(leaf: RunLeaf, factors: dict[int, Rational]) -> Linear:
    """A sum of the conditions of a leaf."""
    terms: dict[int, Rational] = {}
    constant = ZERO
    conditions = leaf.conditions
    for number, factor in factors.items():
        form = conditions[number]
        constant += factor * form.constant
        for j, c in form.factors:
            terms[j] = terms.get(j, ZERO) + factor * c
    return Linear(tuple((j, c) for j, c in sorted(terms.items()) if c != 0), constant)


def _check_move(
    leaf: RunLeaf,
    target: RunLeaf,
    shift: tuple[Rational, ...],
    factors: list[dict[int, Rational]],
    bound: Epsilon,
    place: str,
) -> None:
    if leaf.noises != target.noises or len(shift) != len(leaf.noises):
        refuse("a leaf and its target draw the same noises, and each is shifted", place)
    if leaf.shape != target.shape or len(leaf.parts) != len(target.parts):
        refuse("a leaf and its target show the same", place)
    for one, other in zip(leaf.parts, target.parts, strict=True):
        _equal(one, other, shift, place)
    if len(leaf.guesses) != len(target.guesses):
        refuse("a leaf and its target make the same guesses", place)
    for guess, same in zip(leaf.guesses, target.guesses, strict=True):
        if guess.outcome != same.outcome:
            refuse("a guess comes out the same way in a leaf and its target", place)
        assert not isinstance(guess.about, tuple)
        assert not isinstance(same.about, tuple)
        _equal(guess.about, same.about, shift, place)
    conditions = target.conditions
    if len(factors) != len(conditions):
        refuse("every condition of the target follows from those of the leaf", place)
    for form, each in zip(conditions, factors, strict=True):
        total = _combine_conditions(leaf, each)
        moved = form.moved(shift)
        if moved.factors != total.factors or moved.constant < total.constant:
            refuse("a condition of the target does not follow from those of the leaf", place)
    _check_price(leaf, target, shift, bound, place)


def _equal(one: Part, other: Part, shift: tuple[Rational, ...], place: str) -> None:
    """Refuse parts that are not equal when the noise of the second is shifted."""
    if isinstance(one, Linear) and isinstance(other, Linear):
        if other.moved(shift) != one:
            refuse("a noisy number is not the same after the shift", place)
    elif isinstance(one, Done) and isinstance(other, Done):
        if one.operation != other.operation or len(one.parts) != len(other.parts):
            refuse("what is done to noisy numbers differs", place)
        for a, b in zip(one.parts, other.parts, strict=True):
            _equal(a, b, shift, place)
    elif one != other:
        refuse("what is done to noisy numbers differs", place)


def _check_price(leaf: RunLeaf, target: RunLeaf, shift: tuple[Rational, ...], bound: Epsilon, place: str) -> None:
    """Refuse a move that costs more than epsilon."""
    if target.weight == 0:
        refuse("the target is impossible", place)
    ratio, total = leaf.weight / target.weight, ZERO
    for (kind, number, *_), moved in zip(leaf.noises, shift, strict=True):
        if kind == "geometric":
            if moved.q != 1 or abs(moved) > _LARGEST_SHIFT:
                refuse("geometric noise is shifted by whole numbers", place)
            ratio *= (1 / number) ** abs(int(moved.p))
        elif kind == "exponential":
            total += moved / number
        else:
            total += abs(moved) / number
    if ratio > 0 and Epsilon(ratio=ratio, shift=total).compare(bound) > 0:
        refuse(f"a move costs {Epsilon(ratio=ratio, shift=total)}, more than {bound}", place)
