"""Measurements of OpenDP and mechanisms of diffprivlib: their inputs, their claims, and how they are run.

Neither library is imported; the object at hand says everything.  A claim belongs to a distance: the epsilon of a measurement is what
its privacy map says for neighbours at distance ``d_in``, that of a mechanism holds for inputs that differ by its sensitivity.  So the
neighbours that are compared are always within that distance, or there is no claim.  Fewer neighbours than the metric permits are
sound: what is found between them is found between neighbours.  Their floats are taken as the exact decimals they print as.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privproof.audits.sampling.function_calls import FunctionCalls, as_floats
from privproof.audits.sampling.runnable_functions import Declared, Runnable, choose_relation, inputs_by_name
from privproof.errors import LanguageError
from privproof.exact import Budget, EpsilonLike, Number, Rational, rational
from privproof.exact.rounding import float_above, float_below
from privproof.language.inputs import ADD_REMOVE, Input, integer, one_of, queries, real, real_queries, records
from privproof.language.mechanism import Relation

_WIDEST = 1000
"""Whole inputs are tried within so many of the least one; a note says so."""
_TRUTHS = (False, True)
_ANY_WAY = ("each", "one", "monotone")


@dataclass(frozen=True)
class _Space:
    """What a library says about inputs.

    Attributes:
        inputs: the declared input, if it is clear.
        relation: the relation that keeps neighbours within the distance.
        fitting: the relations that do.
        within: the most by which a value may differ then; None for any way.
        notes: what to know about it.
    """

    inputs: Mapping[str, Input]
    relation: Relation = "each"
    fitting: tuple[str, ...] = ()
    within: Rational | None = None
    notes: tuple[str, ...] = ()


def _settle_inputs(
    space: _Space, inputs: Declared | None, neighbours: Relation | None, name: str, distance: str, *, claimed: bool
) -> tuple[Mapping[str, Input], Relation, tuple[str, ...]]:
    """Inputs and relation, with what the user says; refused where the claim would not hold for such neighbours.

    The third part is a reason why the library's claim is about other neighbours, if nobody can tell.
    """
    known = space.inputs if inputs is None else inputs_by_name(inputs, "value", name)
    if len(known) > 1:
        raise LanguageError(
            "input", f"{name} reads one value, not {', '.join(known)}", place=name, hint="one input, a list if need be"
        )
    if inputs is None and neighbours is None:
        return known, space.relation, ()
    if neighbours is None and space.fitting:
        neighbours = space.relation
    relation = choose_relation(neighbours, known, name)
    if claimed or not known:
        return known, relation, ()
    if callable(relation) or not space.fitting:
        return (
            known,
            relation,
            (f"no claim: nothing says whether these neighbours are within {distance}; give epsilon=",),
        )
    for key, value in known.items():
        if relation not in space.fitting:
            raise LanguageError(
                "neighbours",
                f"neighbours={relation!r} are not within {distance}, for which {name} makes its claim",
                place=name,
                hint=f"{' or '.join(map(repr, space.fitting))}, a larger d_in, or epsilon= for a claim of your own",
            )
        if space.within is not None and (value.within is None or value.within > space.within):
            shown = "in any way" if value.within is None else f"by {value.within}"
            raise LanguageError(
                "input",
                f"neighbours may differ {shown} in {key}: {value}, but {name} makes its claim for {space.within}",
                place=name,
                hint=f"sensitivity={space.within}, a larger d_in, or epsilon= for a claim of your own",
            )
    return known, relation, ()


def _exactly(number: Any) -> Rational:
    """The exact decimal that a float prints as."""
    return rational(repr(float(number)) if isinstance(number, float | np.floating) else Fraction(number))


def _number_literal(number: Rational) -> int | str:
    return int(number.p) if number.q == 1 else str(number)


def _number(
    *, whole: bool, listed: bool, low: Any, high: Any, within: Rational, size: int | None
) -> tuple[Input, tuple[str, ...]]:
    """A number or a list of numbers, inside the bounds that are finite."""
    bounds = [None if bound is None or not math.isfinite(bound) else _exactly(bound) for bound in (low, high)]
    notes: tuple[str, ...] = ()
    if whole:
        first, last = bounds
        first = None if first is None else rational(first.ceil())
        last = None if last is None else rational(last.floor())
        if first is not None and last is not None and last - first > _WIDEST:
            last = first + _WIDEST
            notes = (f"inputs between {first} and {last} are tried, fewer than are permitted",)
        bounds = [first, last]
    lower, upper = (None if bound is None else _number_literal(bound) for bound in bounds)
    sensitivity = _number_literal(within)
    if listed:
        make = queries if whole else real_queries
        return make(lower, upper, sensitivity=sensitivity, size=size), notes
    return (integer if whole else real)(lower, upper, sensitivity=sensitivity), notes


def from_opendp(
    measurement: Any,
    *,
    inputs: Declared | None = None,
    neighbours: Relation | None = None,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    name: str | None = None,
    d_in: Number = 1,
    processes: int = 1,
) -> Runnable:
    """A measurement of OpenDP.

    Args:
        measurement: the measurement.
        inputs: its input; without it, what its input domain says.
        neighbours: the relation; without it, what its input metric says.
        epsilon: a claim; without it, what its privacy map says about ``d_in``.
        delta: the claim's delta; without an epsilon, the delta at which a privacy profile is read.
        name: its name.
        d_in: the distance of neighbouring inputs.
        processes: how many processes share the runs.

    Raises:
        LanguageError: ``d_in`` is no distance of its metric, or the neighbours are not within it.
    """
    called = name or "measurement"
    distance = rational(d_in)
    if distance <= 0:
        raise LanguageError("d_in", f"d_in={d_in} is not above 0", place=called, hint="d_in=1")
    space = _opendp_space(measurement, distance)
    known, relation, doubts = _settle_inputs(
        space, inputs, neighbours, called, f"d_in={distance} of {measurement.input_metric}", claimed=epsilon is not None
    )
    claim, remarks = None, doubts
    if epsilon is not None:
        claim = Budget.of(epsilon, delta)
    elif not doubts and not space.fitting:
        remarks = (f"no claim: nothing says which data sets are within d_in={distance}; give epsilon=",)
    elif not doubts:
        claim, remarks = _opendp_claim(measurement, distance, delta, called)
    source = "OpenDP draws from the operating system: the runs cannot be repeated"
    calls = FunctionCalls(
        called,
        measurement,
        positional=True,
        adapt=_membership(measurement, called),
        processes=processes,
        independent=True,
    )
    kept = space.notes if inputs is None else ()
    return Runnable(called, calls, known, relation, claim, repeatable=False, notes=(*kept, *remarks, source))


_FLOATING = ("f64", "f32", "Vec<f64>", "Vec<f32>")
_WHOLE = ("i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize")


def _as_floats(_: str, value: object) -> Any:
    return as_floats(value)


def _membership(measurement: Any, name: str) -> Callable[[str, Any], Any]:
    """Passes members of the input domain only: a measurement claims nothing about other values, and may not refuse them."""
    domain = measurement.input_domain
    floating = str(domain.carrier_type) in _FLOATING

    def adapt(key: str, value: object) -> Any:
        passed = as_floats(value) if floating else value
        try:
            inside = domain.member(passed)
        except Exception as error:
            raise LanguageError(
                "input", f"{key}={value!r} is no value for {domain}: {error}", place=name, hint=f"{domain.carrier_type}"
            ) from None
        if not inside:
            raise LanguageError(
                "input", f"{key}={value!r} is not in {domain}", place=name, hint="inputs= within its bounds"
            )
        return passed

    return adapt


def _opendp_claim(
    measurement: Any, distance: Rational, delta: Number, name: str
) -> tuple[Budget | None, tuple[str, ...]]:
    """What the privacy map says about a distance."""
    metric, measure = measurement.input_metric, str(measurement.output_measure.type)
    kind = str(metric.distance_type)
    given: int | float
    if kind in ("f64", "f32"):
        given = float_above(distance)
    elif kind in _WHOLE:
        if distance.q != 1:
            raise LanguageError("d_in", f"d_in={distance} is no whole number: {metric}", place=name, hint="d_in=1")
        given = int(distance.p)
    else:
        return None, (f"no claim: the distance of {metric} is not one number; give epsilon=",)
    if measure not in _READABLE:
        return None, (f"no claim: the privacy map speaks of {measure}; {_WAYS.get(measure, 'give epsilon=')}",)
    if measure == "SmoothedMaxDivergence" and rational(delta) == 0:
        return None, ("no claim: the privacy map gives a profile; give delta= to read its epsilon there",)
    try:
        answer = measurement.map(given)
        if measure == "SmoothedMaxDivergence":
            answer = (answer.epsilon(float_below(rational(delta))), None)
    except Exception as error:
        return None, (f"no claim: map({given!r}) raised {type(error).__name__}: {' '.join(str(error).split())}",)
    bound, slack = answer if isinstance(answer, tuple) else (answer, 0)
    claim = Budget.of(repr(float(bound)), delta if slack is None else _exactly(slack))
    return claim, (f"the claim is the measurement's own, map({given!r}) = {answer if slack is not None else bound}",)


_READABLE = ("MaxDivergence", "Approximate<MaxDivergence>", "FixedSmoothedMaxDivergence", "SmoothedMaxDivergence")
_WAYS = {
    "ZeroConcentratedDivergence": "dp.c.make_zCDP_to_approxDP(measurement) and delta=, or give epsilon=",
    "Approximate<ZeroConcentratedDivergence>": "dp.c.make_zCDP_to_approxDP(measurement) and delta=, or give epsilon=",
}


def _opendp_space(measurement: Any, distance: Rational) -> _Space:
    """What the input domain and the input metric say."""
    domain, metric = measurement.input_domain, measurement.input_metric
    kind = str(metric.type).partition("<")[0].rpartition("::")[2]
    listed = type(domain).__name__ == "VectorDomain"
    atoms = domain.element_domain if listed else domain
    size = domain.size if listed else None
    relation, fitting, within, notes = _opendp_relation(kind, str(metric), distance, listed=listed, size=size)
    if not fitting:
        return _Space(
            {}, notes=(*notes, f"neighbours are not known from {metric}: give pairs of data sets, or inputs=")
        )
    made = (
        _opendp_input(atoms, listed=listed, size=size, within=within) if type(atoms).__name__ == "AtomDomain" else None
    )
    if made is None:
        return _Space(
            {},
            relation,
            fitting,
            within,
            (*notes, f"inputs are not known from {domain}: give pairs of data sets, or inputs="),
        )
    return _Space({"value": made[0]}, relation, fitting, within, (*notes, *made[1]))


def _opendp_relation(
    kind: str, shown: str, distance: Rational, *, listed: bool, size: int | None
) -> tuple[str, tuple[str, ...], Rational | None, tuple[str, ...]]:
    """The relation whose neighbours are within the distance, all such relations, and by how much one value may differ."""
    one_value = (f"neighbours differ in one value, by {distance}: fewer than {shown} permits",)
    match kind, listed:
        case "AbsoluteDistance", False:
            return "each", _ANY_WAY, distance, ()
        case "DiscreteDistance", False if distance >= 1:
            return "each", _ANY_WAY, None, ()
        case "LInfDistance", True if "monotonic" in shown:
            return "monotone", ("monotone", "one"), distance, ()
        case "LInfDistance", True:
            return "each", _ANY_WAY, distance, ()
        case "L1Distance" | "L2Distance", True:
            return "one", ("one",), distance, one_value
        case "HammingDistance" | "ChangeOneDistance", True if distance >= 1:
            return "one", ("one",), None, ()
        case "SymmetricDistance" | "InsertDeleteDistance", True if size is not None:
            if distance >= 2:
                return "one", ("one",), None, ()
            return "one", (), None, (f"lists of {size} records differ by 2 of {shown}, if at all: d_in=2",)
        case "SymmetricDistance" | "InsertDeleteDistance", True if distance >= 1:
            return ("one", (ADD_REMOVE, "one"), None, ()) if distance >= 2 else (ADD_REMOVE, (ADD_REMOVE,), None, ())
        case _:
            return "each", (), None, ()


def _opendp_input(
    atoms: Any, *, listed: bool, size: int | None, within: Rational | None
) -> tuple[Input, tuple[str, ...]] | None:
    """The input that an atomic domain, or a list of its members, declares."""
    carrier = str(atoms.carrier_type)
    if carrier == "bool":
        return (records(*_TRUTHS, size=size) if listed else one_of(*_TRUTHS)), ()
    if carrier == "String" and listed:
        return records("a", "b", size=size), ("the records 'a' and 'b' are tried; give inputs= for others",)
    if carrier not in (*_WHOLE, "f64", "f32"):
        return None
    whole = carrier in _WHOLE
    low, high = atoms.bounds or (0 if carrier.startswith("u") else None, None)
    notes: tuple[str, ...] = ()
    if within is None:  # a record changes in any way
        if low is None or high is None:
            low, high = 0, 10
            notes = ("values between 0 and 10 are tried; give inputs= for others",)
        within = max(_exactly(high) - _exactly(low), rational(1))
    made, more = _number(whole=whole, listed=listed, low=low, high=high, within=within, size=size)
    return made, (*notes, *more)


def from_diffprivlib(
    mechanism: Any,
    *,
    inputs: Declared | None = None,
    neighbours: Relation | None = None,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    name: str | None = None,
    processes: int = 1,
) -> Runnable:
    """A mechanism of diffprivlib.

    Args:
        mechanism: the mechanism; with a ``random_state`` its runs can be repeated.
        inputs: its input; without it, what its attributes say.
        neighbours: the relation; without it, inputs that differ by at most its sensitivity.
        epsilon: a claim; without it, its own.
        delta: the claim's delta.
        name: its name.
        processes: how many processes share the runs.

    Raises:
        LanguageError: the neighbours differ by more than its sensitivity.
    """
    called = name or type(mechanism).__name__
    space = _diffprivlib_space(mechanism)
    known, relation, notes = _settle_inputs(
        space, inputs, neighbours, called, "its sensitivity", claimed=epsilon is not None
    )
    claim = None
    if epsilon is not None:
        claim = Budget.of(epsilon, delta)
    elif not notes and not space.fitting:
        notes = ("no claim: nothing says which of its inputs are neighbours; give epsilon=",)
    elif not notes and hasattr(mechanism, "epsilon"):
        slack = getattr(mechanism, "delta", 0.0)
        claim = Budget.of(repr(float(mechanism.epsilon)), _exactly(float(slack)))
        notes = (
            f"the claim is the mechanism's own, epsilon={mechanism.epsilon!r}, delta={slack!r}, as exact decimals",
        )
    seeding = _seeded_maker(mechanism)
    repeatable = seeding is not None
    if not repeatable:
        notes = (*notes, "diffprivlib draws from the operating system: random_state= makes runs that can be repeated")
    calls = FunctionCalls(
        called,
        mechanism.randomise,
        positional=True,
        processes=processes,
        adapt=_as_floats if any(value.real for value in known.values()) else None,
        seeding=seeding,
        independent=_draws_securely(mechanism),
    )
    kept = space.notes if inputs is None else ()
    return Runnable(called, calls, known, relation, claim, repeatable=repeatable, notes=(*kept, *notes))


def _seeded_maker(mechanism: Any) -> Callable[[int], Callable[..., Any]] | None:
    """Makes the mechanism with a source that has a seed, where its source is one of numpy's."""
    source = getattr(mechanism, "_rng", None)
    if not isinstance(source, np.random.RandomState | np.random.Generator):
        return None

    def seeded(seed: int) -> Any:
        fresh = copy.copy(mechanism)
        sequence = np.random.SeedSequence(seed)
        fresh._rng = (
            np.random.default_rng(sequence)
            if isinstance(source, np.random.Generator)
            else np.random.RandomState(np.random.MT19937(sequence))
        )
        return fresh.randomise

    return seeded


def _draws_securely(mechanism: Any) -> bool:
    return type(getattr(mechanism, "_rng", None)).__name__ == "SystemRandom"


def _diffprivlib_space(mechanism: Any) -> _Space:
    """What the attributes of a mechanism say."""
    kinds = {kind.__name__ for kind in type(mechanism).__mro__}
    if kinds & {"Exponential", "PermuteAndFlip"}:
        return _Space(
            {},
            notes=(
                "its utilities are fixed when it is made: audit a function of the utilities that makes and runs it",
            ),
        )
    if "Binary" in kinds:
        return _Space({"value": one_of(mechanism.value0, mechanism.value1)}, "each", _ANY_WAY)
    if "ExponentialCategorical" in kinds:
        return _Space({"value": one_of(*sorted(mechanism._domain_values))}, "each", _ANY_WAY)
    whole = bool(kinds & {"Geometric", "GaussianDiscrete"})
    if not whole and not kinds & {"Laplace", "Gaussian", "Uniform"}:
        return _Space({}, notes=("its inputs are not known: give pairs of data sets, or inputs=",))
    within = _exactly(mechanism.sensitivity)
    if within <= 0:
        return _Space({}, notes=(f"no neighbours: sensitivity={mechanism.sensitivity!r}",))
    low, high = getattr(mechanism, "lower", None), getattr(mechanism, "upper", None)
    made, notes = _number(whole=whole, listed=False, low=low, high=high, within=within, size=None)
    return _Space({"value": made}, "each", _ANY_WAY, within, notes)
