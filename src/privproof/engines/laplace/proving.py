"""Proofs by alignment, for every size: the search through the forms of alignments, from the simple to the rich."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import floor
from operator import mul
from typing import TypeAlias

from privproof.compiling.cells import few_cells
from privproof.compiling.kinds import refuse_several_kinds
from privproof.compiling.relational import Class, Program, prepare_program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.scales import SQUARES
from privproof.compiling.sorts import PLACE
from privproof.engines.laplace.alignments import Alignment, cases
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.horn import Bound, Invariants, Outcome, invariants, share_budget
from privproof.engines.laplace.products import exchanges
from privproof.engines.laplace.promises import Promise, promises
from privproof.engines.laplace.solver import Effort, Exhausted, within
from privproof.engines.laplace.squares import Steps, allowances, delta_for_each, delta_of, enough_at_all_sizes
from privproof.engines.laplace.synthesis import Counterexample, GaveUp, Spent, Synthesis, instances, most_spent
from privproof.engines.search_monitor import Monitor
from privproof.errors import LanguageError
from privproof.exact import ZERO, Epsilon, Rational, epsilon, fraction, rational
from privproof.exact.affine import Affine, affine
from privproof.language import Mechanism
from privproof.language.flow import following
from privproof.language.syntax import Constant
from privproof.language.taint import samples

_SHARES = "the shares of the budget that noise of different alphas and scales takes are more than the budget together"
_GIVEN_AWAY = "the shifts of Gaussian noise give away more than delta"
_SPENT = "the effort for a proof of so large a claim is spent; more is spent on a smaller one"
_PUMPS = (6, 16, 40)
"""Lengths of longer runs that an alignment must survive: the next one where it fails on larger sizes all the same."""


@dataclass(frozen=True)
class AlignmentProof:
    """A proof: the program, the alignment, the invariants and how the budget is shared out."""

    blocks: Blocks
    alignment: Alignment
    invariants: Invariants
    budget: Affine

    @property
    def program(self) -> Program:
        """The program that is proved, perhaps with few of its cells."""
        return self.blocks.program

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What each counter holds at most at the end."""
        return self.invariants.bounds

    def counted_together(self) -> tuple[tuple[tuple[str, ...], ...], Affine] | None:
        """The counters that costs are exchanged between, and what they hold at most together, each divided by its product; or None."""
        exchanged = {group for each in self.blocks.exchanges for group in (each.names, each.others)}
        found = [bound for bound in self.bounds if bound.group in exchanged]
        drawn = tuple(bound.group for bound in found if bound.group in self.blocks.groups)
        return (drawn, Affine(sum((bound.limit.constant for bound in found), ZERO))) if found else None


@dataclass(frozen=True)
class NoProof:
    """No proof was found.

    Attributes:
        reason: why.
        last: the last run at which an alignment failed, if one did.
        blocks: what the run speaks of.
    """

    reason: str
    last: Counterexample | None = None
    blocks: Blocks | None = None


@dataclass(frozen=True)
class RowForm:
    """A form of alignments.

    Attributes:
        convert: whether tests that only guard assignments may go different ways.
        ahead: whether shifts may depend on how the loop goes on.
        half: whether coefficients may be halves.
        tied: whether shifts depend only on the tests that data or noise take part in.
        own: whether the shift of a noise depends only on the tests and outputs that it has a part in, and on data that meet it there.
        select: whether a loop that only finds the largest of its noisy values is a selection.
        reach: how far Gaussian noise may be shifted, as a multiple of the change of what it is added to.
        foretell: whether shifts of Gaussian noise may depend on the result, which then costs delta for every result.
        spare: how much larger than the last index a whole number of the result may be: 0 for an empty list is.
        places: at how many places the two runs may differ in a list that is kept.
    """

    convert: bool
    ahead: bool = False
    half: bool = False
    tied: bool = False
    own: bool = False
    select: bool = False
    reach: int = 1
    foretell: bool = False
    spare: int = 0
    places: int = 1


FORMS = (
    RowForm(convert=True, own=True),
    RowForm(convert=True, own=True, select=True),
    RowForm(convert=True, tied=True),
    RowForm(convert=True),
    RowForm(convert=False, tied=True),
    RowForm(convert=False),
    RowForm(convert=True, ahead=True),
    RowForm(convert=False, ahead=True),
    RowForm(convert=True, half=True),
)


_MANY_CELLS = 4
"""From so many noisy values on a selection is tried first: with fewer, comparing them one by one takes as long."""

NOTHING = Affine(ZERO)
"""No delta."""


PROMISED = (RowForm(convert=True, own=True), RowForm(convert=True, tied=True), RowForm(convert=False, tied=True))
"""The forms of alignments that need not work on all runs."""


SETTLED = tuple(
    RowForm(convert=convert, own=own, tied=not own, reach=reach)
    for reach in (1, 2)
    for convert, own in ((True, True), (True, False), (False, False))
)
"""The forms of alignments of programs with Gaussian noise."""

FORETOLD = tuple(
    RowForm(convert=True, own=own, tied=not own, reach=2, foretell=True, spare=spare)
    for spare in (0, 1)
    for own in (True, False)
)
"""The same where its shifts depend on the result."""


def _selects_cells(mechanism: Mechanism) -> bool:
    """Whether a mechanism selects among so many noisy values that comparing them one after the other takes longer."""
    try:
        program = prepare_program(mechanism, select=True)
    except (Unsupported, LanguageError):
        return False
    return any(
        step.noise == PLACE
        and isinstance(step.arguments[0], Constant)
        and int(str(step.arguments[0].value)) >= _MANY_CELLS
        for step in program.sites
    )


def attempts(
    mechanism: Mechanism,
    budget: Affine,
    monitor: Monitor,
    *,
    size: int | None = None,
    forms: Sequence[RowForm] = FORMS,
    exact: Epsilon | None = None,
    delta: Affine = NOTHING,
    effort: Effort | None = None,
) -> Iterator[AlignmentProof | NoProof]:
    """Attempts to prove a budget, one for every form of alignments; the last one says most.

    Args:
        mechanism: the mechanism.
        budget: the budget.
        monitor: an interrupt.
        size: the length of its lists; None for every length.
        forms: the forms, in order.
        exact: the budget where it is one number, exactly: costs of geometric noise are logarithms.
        delta: what may be given away besides: by Gaussian noise, and by promises that noise may break.
        effort: what all of them together may take; None where that is not limited.
    """
    try:
        refuse_several_kinds(mechanism)
    except Unsupported as problem:
        yield NoProof(str(problem))
        return
    if any(sample.noise == "gumbel" for sample in samples(mechanism.translated.body)) or _selects_cells(mechanism):
        forms = sorted(forms, key=lambda form: not form.select)  # it is drawn for selections
    seen: set[tuple[object, ...]] = set()
    known: dict[tuple[int, ...], tuple[Blocks, list[Counterexample]]] = {}
    up_to_bad, celled = not delta.terms and delta.constant > 0, False
    for number, form in enumerate(_with_places(forms)):
        if up_to_bad and number == 1 and not celled:  # a delta is claimed for what is true of most runs only
            yield from _up_to_bad(mechanism, budget, monitor, size, exact, fraction(delta.constant))
        shape_of = (
            form.convert, form.ahead, form.select, form.reach, form.foretell, form.spare, form.places
        )  # fmt: skip
        try:
            if shape_of not in known:
                made = program_for_alignment(
                    mechanism,
                    size=size,
                    convert=form.convert,
                    ahead=form.ahead,
                    select=form.select,
                )
                made = few_cells(made)
                if (form.places > 1 and not made.kept) or (made.kept and not _is_plain(form)):
                    continue
                blocks = Blocks(made, form.reach, foretell=form.foretell, spare=form.spare, places=form.places)
                _ = blocks.paths, blocks.fixed, blocks.groups, blocks.results
                known[shape_of] = (blocks, [])
        except Unsupported as problem:
            if form.places == 1:
                yield NoProof(str(problem))
            continue
        blocks, before = known[shape_of]
        program = blocks.program
        search = Synthesis(blocks, budget, monitor, form.half, form.tied, form.own, exact=exact)
        told = tuple(search.where(path, ()) for path in blocks.paths)
        shape = (*shape_of[3:], program.code, program.cuts, form.half, form.own, told)
        if shape in seen:
            continue
        seen.add(shape)
        if SQUARES in blocks.groups:
            each = _each(blocks, delta)
            if each is not None and each > 0:
                yield from _approximate(search, Affine(each))
            elif not delta.terms or blocks.results is not None:
                yield NoProof("delta is not enough for every size")
            if delta.terms and blocks.results is None:
                yield from _approximate(search, delta if size is None else _at_size(delta, size))
            continue
        try:
            with within(effort):
                found = _attempt(search, before)
        except Exhausted:
            yield NoProof(_SPENT, search.last, blocks)
            return
        if up_to_bad and number == 0 and program.cells is not None and isinstance(found, NoProof):
            celled = True  # violations among many cells take longer to look for than proofs
            yield from _proofs_first(_up_to_bad(mechanism, budget, monitor, size, exact, fraction(delta.constant)))
        yield found
        before += search.seen


def _proofs_first(found: Iterator[AlignmentProof | NoProof]) -> Iterator[AlignmentProof | NoProof]:
    """Attempts, those that failed after all others."""
    failed = []
    for one in found:
        if isinstance(one, AlignmentProof):
            yield one
        else:
            failed.append(one)
    yield from failed


def _with_places(forms: Sequence[RowForm]) -> Iterator[RowForm]:
    """The forms, each followed by the same where lists may differ at two places: while a sum is moved it is in both."""
    for form in forms:
        yield form
        yield replace(form, places=2)


def _is_plain(form: RowForm) -> bool:
    """Whether a form is tried where lists are kept: noise moves against what it is added to, whatever comes later."""
    return (form.own or form.tied) and not (form.ahead or form.half or form.select)


def _each(blocks: Blocks, delta: Affine) -> Rational | None:
    """The delta for every result that may be foretold, at all sizes and public numbers."""
    program, results = blocks.program, blocks.results
    many = Affine(rational(1)) if results is None else results.paid
    if program.size is not None:
        delta, many = (_at_size(part, program.size) for part in (delta, many))
    return delta_for_each(delta, many, _least(program))


def _least(program: Program) -> dict[str, Rational | None]:
    """The least value of everything that a claim may speak of."""
    return {**{name: program.inputs[name].low for name in program.mechanism.public_numbers}, "size": ZERO}


def _at_size(expression: Affine, size: int) -> Affine:
    """An expression with the size filled in."""
    terms = dict(expression.terms)
    return Affine(expression.constant + terms.pop("size", ZERO) * size, tuple(terms.items()))


def _up_to_bad(
    mechanism: Mechanism, budget: Affine, monitor: Monitor, size: int | None, exact: Epsilon | None, delta: Fraction
) -> Iterator[AlignmentProof | NoProof]:
    """Attempts that need not work on all runs: noise whose centre differs goes far with a probability that delta pays for."""
    for form in PROMISED:
        try:
            program = few_cells(program_for_alignment(mechanism, size=size, convert=form.convert))
        except Unsupported as problem:
            yield NoProof(str(problem))
            continue

        def promising(given: Promise, program: Program = program, form: RowForm = form) -> Synthesis | None:
            blocks = Blocks(program, promises=(given,))
            if not any(drawn.promised for path in blocks.paths for drawn in path.drawn):
                return None
            return Synthesis(blocks, budget, monitor, form.half, form.tied, form.own, exact=exact)

        for given in promises(program, delta):
            try:
                search = promising(given)
            except Unsupported as problem:
                yield NoProof(str(problem))
                break
            if search is None:
                continue
            if SQUARES not in search.blocks.groups:
                yield _attempt(search, ())
                continue
            for found in _approximate(search, Affine(rational(1))):
                if isinstance(found, NoProof):
                    yield found
                    continue
                left = delta - _gaussian_part(found, exact)
                closer = None if left <= 0 else given.within(left)
                again = None if closer is None else promising(closer)
                if again is not None and closer is not None:
                    yield from _approximate(again, Affine(rational(delta - closer.price)))


def _gaussian_part(proof: AlignmentProof, exact: Epsilon | None) -> Fraction:
    """What the Gaussian noise of a proof gives away."""
    if any(bound.limit.terms for bound in proof.bounds):
        return Fraction(1)
    spent = {bound.group: fraction(bound.limit.constant) for bound in proof.bounds}
    squares = spent.pop(SQUARES, Fraction(0))
    others, steps = sum(spent.values(), Fraction(0)), steps_of(proof.blocks, proof.alignment)
    return Fraction(1) if exact is None else delta_of(squares, others, exact, steps)


_AMPLE = epsilon(1000)
"""A budget that any alignment with a finite cost keeps that is worth having."""


def cheapest(
    mechanism: Mechanism, program: Program, between: tuple[tuple[Class, Class | None], ...], monitor: Monitor
) -> AlignmentProof | NoProof:
    """A proof of what an alignment with the smallest shifts costs, where a record changes between some classes alone."""
    last = NoProof("no form of alignments applies")
    for form in FORMS:
        try:
            made = program
            if (form.convert, form.ahead, form.select) != (True, False, False):
                made = program_for_alignment(
                    mechanism,
                    size=program.size,
                    convert=form.convert,
                    ahead=form.ahead,
                    select=form.select,
                )
            blocks = Blocks(replace(made, between=between))
            _ = blocks.paths, blocks.fixed, blocks.groups
        except Unsupported as problem:
            last = NoProof(str(problem)) if last.blocks is None else last
            continue
        search = Synthesis(blocks, Affine(_AMPLE.shift), monitor, form.half, form.tied, form.own, exact=_AMPLE)
        found = _attempt(search, (), lambda _, spent, blocks=blocks: _as_spent(blocks, spent))  # type: ignore[misc]
        if isinstance(found, AlignmentProof):
            return found
        last = found
    return last


def _as_spent(blocks: Blocks, spent: Spent) -> tuple[Bound, ...] | None:
    """What each counter was seen to spend, as its bound; None where scales are multiples of public numbers."""
    if any(group and group not in blocks.logarithms for group in blocks.groups):
        return None
    most = most_spent(spent)
    return tuple(Bound(group, Affine(rational(most.get(group, Fraction(0))))) for group in blocks.groups)


def _approximate(search: Synthesis, delta: Affine) -> Iterator[AlignmentProof | NoProof]:
    """Attempts with Gaussian noise: epsilon is shared out in several ways."""
    blocks, exact = search.blocks, search.exact
    if exact is None or exact.infinite or (delta.constant <= 0 and not delta.terms):
        yield NoProof("Gaussian noise needs a number for epsilon and a delta above 0")
        return
    discrete = frozenset(
        drawn.variance for path in blocks.paths for drawn in path.drawn if drawn.whole and drawn.settled
    )
    for allowance in allowances(exact, delta, alone=blocks.groups == (SQUARES,), variances=discrete):
        budget = Affine(rational(allowance.others))
        tried = replace(search, budget=budget, exact=None, squares=allowance.squares)
        found = _attempt(tried, (), lambda alignment, spent: _bounds(blocks, alignment, spent, exact, delta))
        yield replace(found, budget=search.budget) if isinstance(found, AlignmentProof) else found


def steps_of(blocks: Blocks, alignment: Alignment) -> Steps | None:
    """The discrete Gaussian noise that an alignment shifts; None where there is none."""
    sites: dict[int, tuple[Fraction, int]] = {}
    whole = alone = True
    for path in blocks.paths:
        for drawn in path.drawn:
            if not drawn.settled:
                continue
            if not drawn.whole:
                alone = False
                continue
            whole = False
            for case in cases(blocks, path):
                shift = alignment.shift(path, case, drawn.instruction)
                by = floor(shift.reach(drawn.reach)) if any(shift.factors.values()) else 0
                before = sites.get(drawn.instruction, (drawn.variance, 0))
                sites[drawn.instruction] = drawn.variance, max(by, before[1])
    if whole:
        return None
    shifted = {at: site for at, site in sites.items() if site[1]}
    once = not any(at in _ahead(blocks.program, at) for at in shifted)
    return Steps(tuple(shifted.values()), once, alone)


def _ahead(program: Program, at: int) -> set[int]:
    """The instructions that may come after one."""
    found: set[int] = set()
    waiting = [at]
    while waiting:
        here = waiting.pop()
        for target in following(here, program.code[here]):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def _bounds(
    blocks: Blocks, alignment: Alignment, spent: Spent, exact: Epsilon, delta: Affine
) -> tuple[Bound, ...] | None:
    """What each counter holds at most, as it was seen to spend; None where this is too much."""
    if blocks.logarithms or any(group not in ((), SQUARES) for group in blocks.groups):
        return None
    most = most_spent(spent)
    grown = Affine(rational(most.get(SQUARES, Fraction(0))))
    if delta.terms or delta.constant >= 1:
        grown = _grown(blocks, spent)
    others, steps = most.get((), Fraction(0)), steps_of(blocks, alignment)
    if not enough_at_all_sizes(grown, others, exact, delta, steps, _least(blocks.program)):
        return None
    return tuple(Bound(group, grown if group == SQUARES else Affine(rational(others))) for group in blocks.groups)


def _grown(blocks: Blocks, spent: Spent) -> Affine:
    """What Gaussian noise comes to as an expression in the size and public numbers, as if it went on to grow as it was seen to."""
    names = [name for name in (*blocks.mechanism.public_numbers, "size") if name in blocks.fixed]
    seen = {tuple(i.values[name] for name in names): costs.get(SQUARES, Fraction(0)) for i, costs in spent}
    slopes: dict[str, Fraction] = {}
    for k, name in enumerate(names):
        for low, high in list(pairwise(sorted({key[k] for key in seen})))[-1:]:
            steps = [
                cost - seen.get((*key[:k], low, *key[k + 1 :]), cost) for key, cost in seen.items() if key[k] == high
            ]
            slopes[name] = max(*steps, Fraction(0)) / (high - low)
    steady = (
        [cost - sum(map(mul, slopes.values(), key)) for key, cost in seen.items()] if len(slopes) == len(names) else []
    )
    rest = max(steady, default=max(seen.values(), default=Fraction(0)))
    return affine(rational(rest), {name: rational(slope) for name, slope in slopes.items()} if steady else {})


Sharing: TypeAlias = "Callable[[Alignment, Spent], tuple[Bound, ...] | None]"
"""The bounds of the counters, from an alignment and what each was seen to spend; None where this is more than is claimed."""


def _attempt(
    search: Synthesis, before: Sequence[Counterexample], sharing: Sharing | None = None
) -> AlignmentProof | NoProof:
    """An attempt with one form of alignments; runs at which others failed are known from the beginning."""
    blocks, budget, monitor = search.blocks, search.budget, search.monitor
    names = {name for name, _ in budget.terms}
    missing = sorted(names - blocks.fixed.keys())
    if missing:
        return NoProof(f"the budget speaks of {missing[0]}, which the mechanism does not have")
    listed = instances(blocks)
    reason = "no alignment"
    for pump in _PUMPS if sharing is None else _PUMPS[:2]:
        listed = [*listed, *instances(blocks, pump=pump)]
        try:
            for one in before if pump == _PUMPS[0] else ():
                search.require(one)
            alignment = search.aligned(listed)
        except GaveUp as problem:
            return NoProof(str(problem), search.last, blocks)
        several = any(len(group) > 1 for group in blocks.groups)
        bounds = share_budget(budget, blocks, {}, search.exact) if sharing is None else None
        ways: Iterable[tuple[Blocks, tuple[Bound, ...] | None]] = ((blocks, bounds),)
        if sharing is not None:
            ways = ((blocks, sharing(alignment, search.spent(alignment, instances(blocks)))),)
        elif len(blocks.groups) > 1 or several or bounds is None:
            spent = {g: rational(v) for g, v in most_spent(search.spent(alignment, instances(blocks))).items()}
            ways = _exchanged(blocks, budget, spent, search.exact)
        outcome: Outcome | None = None
        for tried, bounds in ways:
            if bounds is not None:
                found = invariants(tried, alignment, bounds, monitor, patient=not several)
                if isinstance(found, Invariants):
                    return AlignmentProof(tried, alignment, found, budget)
                outcome = found
        if outcome is None:
            return NoProof(_SHARES if sharing is None else _GIVEN_AWAY, search.last, blocks)
        reason = {
            "fails": "the alignment that small sizes allow fails on larger ones",
            "unknown": "the solver found no invariant",
        }[outcome]
        if outcome == "unknown":
            break
    return NoProof(reason, search.last, blocks)


def _exchanged(
    blocks: Blocks, budget: Affine, spent: Mapping[tuple[str, ...], Rational], exact: Epsilon | None
) -> Iterator[tuple[Blocks, tuple[Bound, ...] | None]]:
    """Ways to count the costs of products of public numbers, each with the bounds of the counters."""
    for plan, left in exchanges(blocks.groups, blocks.paths, spent):
        tried = blocks.exchanging(plan)
        yield tried, share_budget(budget, tried, left, exact)


def prove(
    mechanism: Mechanism,
    budget: Affine,
    monitor: Monitor,
    *,
    size: int | None = None,
    forms: Sequence[RowForm] = FORMS,
    exact: Epsilon | None = None,
) -> AlignmentProof | NoProof:
    """A proof that a mechanism keeps a budget, by the first form of alignments that gives one."""
    last: NoProof | None = None
    for attempt in attempts(mechanism, budget, monitor, size=size, forms=forms, exact=exact):
        if isinstance(attempt, AlignmentProof):
            return attempt
        last = attempt if last is None or attempt.last is not None else last
    return last or NoProof("no form of alignments applies")
