"""Proofs by alignment: run 2 follows run 1 with shifted noise, and the shifts cost no more than is claimed.

Theorem.  Fix neighbouring inputs.  Suppose that for every run 1 that ends, run 2 with the shifted noise takes the same
path and puts out the same, the shifts add up to ``sum |s| / scale <= B`` (of geometric noise they are integers, and cost
``|s| ln(1/alpha)``), and a shift depends on the inputs, the foretold result and the path alone.  Then ``P(E) <= e^B Q(E)``
for every set E of outputs.  For on each path the noise is merely translated, the integers onto themselves, at the price of
the factor e^B in its density or its probabilities; and the images of different paths are disjoint, because run 2 takes
the path that it comes from.

Gaussian noise.  Suppose besides that each shift s of Gaussian noise depends on the inputs and on the path before its draw
alone, and that ``sum s^2 / sigma^2 <= mu^2`` on every path.  Then ``P(E) <= e^(B+e) Q(E) + H_mu(e)`` for every e >= 0, with
``H_mu(e) = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu)``.  For with f the density of the other noise and g that of the
Gaussian noise ``f(h) g(h) <= f(h) (e^e g(h+s) + max(0, g(h) - e^e g(h+s)))``; the first part is bounded as above.  The
second is at most a hockey-stick divergence of the Gaussian noises h_j against h_j - s_j, whose s_j are predictable: both are made
from a Brownian motion on [0, mu^2], without drift or with drift -1, by the same rule that spends the time
``s_j^2 / sigma_j^2`` on step j, so that it is at most the divergence of these motions, H_mu(e).  Where there is discrete
Gaussian noise, whose shifts are integers, the hockey-stick divergence is bounded otherwise: `gaussian` says how.

Shifts of Gaussian noise may even depend on the foretold result, if it is paid for all its values (`foretelling`), and the alignment may
fail on runs that delta pays for (`promises`).

That the suppositions hold is shown by invariants at the cuts: they hold at the start, are kept on every path between
cuts, and give what is needed along every path.  Where a program has selections, a shift may also depend on noise that
is never shifted; `selections` says what, and why the theorem holds all the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from privproof_checker.numbers import ONE, ZERO, Epsilon, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, Shifts, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members
from privproof_checker.programs.alignment_invariants import read_invariant
from privproof_checker.programs.executing import Execution
from privproof_checker.programs.flow import afterwards, flow_of
from privproof_checker.programs.foretelling import Foretold, read_foretold
from privproof_checker.programs.gaussian import BITS, GaussianDraws, given_away
from privproof_checker.programs.instruction_kinds import SQUARES, Group, Logarithm, Program, Sample
from privproof_checker.programs.instructions import read_group
from privproof_checker.programs.path_conditions import Condition, establish
from privproof_checker.programs.paths import Alignment, ProgramPath, paths_of, read_alignments, read_cuts
from privproof_checker.programs.program_inputs import Affine, Declared, at_most, read_affine
from privproof_checker.programs.promises import Promise, prices, read_promises
from privproof_checker.programs.ranges import read_range
from privproof_checker.programs.run_states import State, cost_of
from privproof_checker.programs.symbol_products import product_of
from privproof_checker.programs.terms import INT, REAL, both, implies, number, plus, times

_MEMBERS = (
    "method",
    "cuts",
    "bounds",
    "paths",
    "invariants",
    "conditions",
    "promises",
    "foretold",
    "places",
    "range",
    "multipliers",
)
_MOST_PLACES = 2
"""At so many places may the runs differ in a list that is kept; more are not covered."""
_MOST_TIMES = 100_000
"""How many times a logarithm may be a bound, since its ratio is raised to this power exactly; beyond, it is refused."""
_MOST_TEXT = 2_000_000
"""The invariant of one cut may have so many characters; a longer text is refused before it is read."""


def proved_by_alignment(program: Program, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that the alignment proves the claim."""
    only_members(evidence, _MEMBERS, "evidence")
    foretell = "foretold" in evidence
    flow = flow_of(program, foretell=foretell)
    promises = read_promises(evidence.get("promises", []), flow, limits)
    cuts = read_cuts(evidence.get("cuts"), program, flow.selections)
    paths = paths_of(program, cuts)
    alignments = read_alignments(evidence.get("paths"), paths, flow, limits, foretold=foretell)
    exchanges = [exchange for alignment in alignments.values() for exchange in alignment.exchanged]
    exchanged = [group for each in exchanges for group in (each.names, each.others)]
    counted = dict.fromkeys(each.cost for each in promises.values())
    state = State(flow, counted, _places(evidence), exchanged)
    foretold = read_foretold(evidence["foretold"], flow, limits) if foretell else Foretold()
    bounds, shifts = _bounds(evidence.get("bounds"), state, promises, foretold, _discrete(program, alignments), limits)
    definitions = _definitions(evidence.get("invariants"), cuts, state)
    losses = read_range(evidence["range"], program, flow.selections, limits) if "range" in evidence else None
    once = tuple(state.start()) if all(path.end != 0 for path in paths) else ()
    conditions = [_initial(state)]
    conditions += [
        _path_condition(state, path, alignments[path], promises, foretold, bounds, losses, () if path.start else once)
        for path in paths
    ]
    shown = establish(conditions, definitions, evidence, limits)
    declared = program.declared
    delta = declared.given
    more = f", plus delta = {str(delta)[:200]}," if delta.constant != 0 or any(delta.terms.values()) else ""
    return Accepted(
        "proved",
        f"every set of outputs of runs that end is at most e^epsilon times as likely{more} under any neighbouring inputs, with "
        f"{declared.claimed}; {_lengths(declared)}",
        {
            "method": "alignment",
            "paths": len(paths),
            **shown,
            "foretold": len(flow.outputs),
        },
        shifts=shifts,
        range=losses,
    )


def _places(evidence: dict[str, object]) -> int:
    """At how many places the runs may differ in a list that is kept."""
    places = an_integer(evidence.get("places", 1), "evidence.places")
    if not 1 <= places <= _MOST_PLACES:
        refuse(f"lists differ at 1 to {_MOST_PLACES} places", "evidence.places")
    return places


def _lengths(declared: Declared) -> str:
    if all(each.shape != "list" or each.size is not None for each in declared.inputs.values()):
        return f"neighbours differ as in {declared.relation!r}"
    size = "every length" if declared.size is None else f"length {declared.size}"
    return f"neighbours differ as in {declared.relation!r}, lists of {size}"


def _discrete(program: Program, alignments: Mapping[ProgramPath, Alignment]) -> GaussianDraws | None:
    """The discrete Gaussian noise of a program, and by how much it is shifted; None where there is none."""
    samples = {at: step for at, step in enumerate(program.code) if isinstance(step, Sample) and step.gaussian}
    if not any(step.whole for step in samples.values()):
        return None
    found: dict[int, tuple[Rational, int]] = {at: (step.variance, 0) for at, step in samples.items() if step.whole}
    for alignment in alignments.values():
        for at, settled in alignment.settled.items():
            if at in found:
                found[at] = found[at][0], max(found[at][1], *(int(each.reach.floor()) for each in settled))
    once = not any(at in afterwards(program, at) for at in found)
    return GaussianDraws(tuple(found.values()), once, len(found) == len(samples))


def _bounds(
    value: object,
    state: State,
    promises: Mapping[int, Promise],
    foretold: Foretold,
    drawn: GaussianDraws | None,
    limits: Limits,
) -> tuple[dict[str, str], Shifts | None]:
    """The bounds of the costs as terms, by the symbol of the cost, and as numbers; refuses bounds that exceed the claim."""
    listed = a_list(value, "evidence.bounds")
    declared = state.declared
    within(len(listed), len(state.groups) + 1, "bounds", "evidence.bounds")
    found: dict[Group, str] = {}
    total = Affine(ZERO, {})
    product = ONE
    counted: dict[Logarithm, Affine] = {}
    squares = Affine(ZERO, {})
    for i, item in enumerate(listed):
        place = f"evidence.bounds[{i}]"
        given = an_object(item, place)
        if "ratio" in given:
            logarithm, times_ = _logarithm(given, place, state, limits)
            if logarithm in found:
                refuse("the costs are bounded twice", place)
            if isinstance(times_, int):
                product *= logarithm.ratio**times_
                found[logarithm] = number(times_, INT)
            else:
                found[logarithm] = _affine(times_, state)
            counted[logarithm] = Affine(Rational(times_), {}) if isinstance(times_, int) else times_
            continue
        if "squares" in given:
            if SQUARES in found or SQUARES not in state.groups:
                refuse("the squares of Gaussian noise are bounded once, where there is some", place)
            only_members(given, ("squares",), place)
            squares = _squares(given["squares"], declared, f"{place}.squares", limits)
            found[SQUARES] = _affine(squares, state)
            continue
        group = read_group(given.get("names"), declared, f"{place}.names")
        if group in found:
            refuse("the costs are bounded twice", place)
        if group not in state.groups:
            refuse("no noise has such a scale", place)
        if not group:
            only_members(given, ("names", "constant", "terms"), place)
            affine = read_affine(given, declared, place, limits)
            total = Affine(total.constant + affine.constant, affine.terms)
            found[group] = _affine(affine, state)
            continue
        only_members(given, ("names", "factor"), place)
        factor = a_number(given.get("factor"), f"{place}.factor", limits)
        if factor < 0:  # where the size is 0, the product is, and nothing may be taken off the other costs
            refuse("the factor of a product is at least 0", f"{place}.factor")
        total = Affine(total.constant + factor, total.terms)
        bound = "0.0" if factor == 0 else times(factor, f"(to_real {state.own(product_of(group))})", REAL)
        found[group] = bound
    for each in state.groups:
        if each not in found:
            if each:
                named = " * ".join(each) if isinstance(each, tuple) else str(each)
                refuse(f"the costs of the scales with {named} are not bounded", "evidence.bounds")
            found[each] = number(0, REAL)
    if squares.constant != 0 or any(squares.terms.values()) or promises:
        with precision(BITS):
            broken = prices(promises)
        given_away(squares, foretold.many, broken, total, product, declared, drawn)
    elif declared.ratio is not None or any(each.terms for each in counted.values()):
        _claimed_in_logarithms(total, counted, declared)
    else:
        _check_cost(total, product, declared)
    no_number = any(each.terms for each in counted.values())
    only = promises or foretold.ranges is not None  # these bound no divergence: up to bad noise, and in hindsight
    most = None if no_number or only else total.largest(declared.ranges)
    shifts = (
        None
        if most is None
        else Shifts(Epsilon(ratio=product, shift=most), squares, drawn is not None, declared.ranges)
    )
    return {cost_of(group): bound for group, bound in found.items()}, shifts


def _squares(value: object, declared: Declared, place: str, limits: Limits) -> Affine:
    """What Gaussian noise comes to in squares at most: a number, or an expression in the size and public integers."""
    if not isinstance(value, dict):
        return Affine(a_number(value, place, limits), {})
    only_members(value, ("constant", "terms"), place)
    return read_affine(value, declared, place, limits)


def _claimed_in_logarithms(total: Affine, counted: Mapping[Logarithm, Affine], declared: Declared) -> None:
    """Refuse costs that may exceed so many times a logarithm; all of them have to be multiples of the same one."""
    if declared.ratio is None or declared.claim is None or set(counted) != {Logarithm(declared.ratio)}:
        refuse("the bounds are not counted in the logarithm of the claim", "evidence.bounds")
    if total.constant != 0 or any(total.terms.values()):
        refuse("a claim in logarithms has no share for other noise", "evidence.bounds")
    excess = counted[Logarithm(declared.ratio)].minus(declared.claim).largest(declared.ranges)
    if excess is None or excess > 0:
        refuse(f"the bound may exceed the claim {declared.claimed}", "evidence.bounds")


def _logarithm(given: dict[str, object], place: str, state: State, limits: Limits) -> tuple[Logarithm, int | Affine]:
    """A bound of the costs of geometric noise: how many times which logarithm."""
    if "times" not in given:
        only_members(given, ("ratio", "constant", "terms"), place)
        affine = read_affine(given, state.declared, place, limits)
        return _known_logarithm(Logarithm(a_number(given.get("ratio"), f"{place}.ratio", limits)), state, place), affine
    only_members(given, ("ratio", "times"), place)
    logarithm = _known_logarithm(Logarithm(a_number(given.get("ratio"), f"{place}.ratio", limits)), state, place)
    times_ = an_integer(given.get("times"), f"{place}.times")
    if not 0 <= times_ <= _MOST_TIMES:
        refuse(f"a bound is between 0 and {_MOST_TIMES} times the logarithm", place)
    return logarithm, times_


def _known_logarithm(logarithm: Logarithm, state: State, place: str) -> Logarithm:
    if logarithm not in state.groups:
        refuse("no noise has such an alpha", place)
    return logarithm


def _check_cost(total: Affine, product: Rational, declared: Declared) -> None:
    """Refuse costs that may exceed the claim: the affine part, and the logarithm of a product."""
    if product != 1:
        limit, rest = declared.epsilon, total
        if limit is None:
            assert declared.claim is not None
            limit, rest = Epsilon(), total.minus(declared.claim)
        if limit.infinite:
            return
        largest = rest.largest(declared.ranges)
        if largest is None or Epsilon(ratio=product, shift=largest).compare(limit) > 0:
            shown = f"{str(total)[:200]} + ln({str(product)[:200]})"
            refuse(f"the bound {shown} may exceed the claim {declared.claimed}", "evidence.bounds")
        return
    if declared.claim is None:
        assert declared.epsilon is not None
        at_most(total, declared.epsilon, declared, "evidence.bounds")
        return
    excess = total.minus(declared.claim).largest(declared.ranges)
    if excess is None or excess > 0:
        refuse(f"the bound {str(total)[:200]} may exceed the claim {str(declared.claim)[:200]}", "evidence.bounds")


def _affine(affine: Affine, state: State) -> str:
    parts = [number(affine.constant, REAL)]
    parts += [times(factor, f"(to_real {state.own(name)})", REAL) for name, factor in affine.terms.items()]
    return plus(*parts)


def _definitions(value: object, cuts: frozenset[int], state: State) -> str:
    """The invariants as functions of the state."""
    given = an_object(value, "evidence.invariants")
    if set(given) != {str(cut) for cut in cuts}:
        refuse("there is an invariant for each cut, and no other", "evidence.invariants")
    parameters = " ".join(f"({symbol.own} {symbol.sort})" for symbol in state.symbols.values())
    lines = []
    for name, item in given.items():
        place = f"evidence.invariants.{name}"
        text = a_text(item, place)
        within(len(text), _MOST_TEXT, "characters of an invariant", place)
        lines.append(f"(define-fun inv{name} ({parameters}) Bool {read_invariant(text, state.symbols, place)})")
    return "\n".join(lines)


def _holds(state: State, cut: int, now: Mapping[str, str]) -> str:
    """That the invariant of a cut holds in a state."""
    return f"(inv{cut} {' '.join(now.get(name, symbol.own) for name, symbol in state.symbols.items())})"


def _symbols(state: State) -> dict[str, str]:
    return {symbol.own: symbol.sort for symbol in state.symbols.values()}


def _initial(state: State) -> Condition:
    """The invariant of the first cut holds at the start."""
    goal = ("the invariant holds at the start", _holds(state, 0, {}))
    return Condition("evidence.invariants.0", _symbols(state), (*state.facts(), *state.start()), (goal,))


def _path_condition(
    state: State,
    path: ProgramPath,
    alignment: Alignment,
    promises: Mapping[int, Promise],
    foretold: Foretold,
    bounds: Mapping[str, str],
    losses: Rational | None,
    first: tuple[str, ...],
) -> Condition:
    """What a path owes, given the invariant where it starts, and what holds there because no run comes back to it."""
    execution = Execution(state, path, alignment, promises, bounds, losses)
    evaluator = execution.evaluator
    goals = list(evaluator.obligations)
    if path.end is not None:
        now = dict(execution.now)
        if state.flow.prophecy:
            now["ok"] = both((now["ok"], *(term for _, term in execution.deferred)))
        goals.append((f"the invariant of cut {path.end} holds at the end", _holds(state, path.end, now)))
    elif state.flow.prophecy:
        goals += foretold.obligations(execution.result, state)
        premise, goal = execution.foretold()
        goals.append(("a run with the foretold result is matched", implies(premise, goal)))
    else:
        goals.append(("the result is the same in both runs", both(value.equal for value in execution.result)))
        goals.append(("the costs are within the bounds at the end", execution.within_bounds()))
    known = (*state.facts(), *first, _holds(state, path.start, {}), *evaluator.known)
    place = f"evidence.invariants.{path.start}, {path}"
    return Condition(place, {**_symbols(state), **evaluator.symbols}, known, tuple(goals))
