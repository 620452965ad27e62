"""Auditing: testing by sampling, joined with exact certification.

Testing is quick but unsure, verification is exact but slower (FAIER, Section 7).  An audit searches for two data sets and an event that
tells them apart, tests what it found on fresh runs, and then hands its candidates to the exact engines where these support the mechanism:
a candidate is *real* or *spurious*, and between the epsilons that sampling brackets the exact one is found (FAIER, Algorithm 5).
Chance decides nothing: an audit is refuted or proved only by exact probabilities.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, inf
from typing import Any

import numpy as np

from privproof.audits.audit_findings import Audit, accusing_level
from privproof.audits.audit_statements import aim_of, audit_of, by_stakes, claim_of
from privproof.audits.exact_answers import exactly, narrowed_to
from privproof.audits.float_leaks import float_leak_notes
from privproof.audits.sampling.adjacent_data import Adjacent, fits, is_adjacent
from privproof.audits.sampling.claim_tests import count_events, counted_until
from privproof.audits.sampling.data_proposals import patterns
from privproof.audits.sampling.event_search import EventSearch, FoundSuspect
from privproof.audits.sampling.event_tallies import Crew
from privproof.audits.sampling.function_calls import FunctionCalls
from privproof.audits.sampling.runnable_functions import Runnable, is_repeatable, runnable
from privproof.engines import Monitor
from privproof.engines.search_monitor import Timed
from privproof.errors import BudgetError, LanguageError, PrivproofError, QuestionError
from privproof.exact import Budget, Epsilon, EpsilonLike, Number, fraction, rational
from privproof.exact import delta as exact_delta
from privproof.exact import epsilon as exact_epsilon
from privproof.exact.measures import MeasuredBudget, Orders, measured_budgets
from privproof.execution.workers import Workers
from privproof.language import Mechanism
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.mechanism import Relation

SAMPLES = 2_000_000
"""The runs of the test, unless the caller says otherwise; an ordinary function, which is slower, gets fewer."""
_MOST_SEARCHED = 3_000_000
"""The search makes three times as many runs as the test, but no more than this unless the caller says so."""
_SAMPLES_OF_CALLABLES = (100_000, 20_000, 4_000)
"""Of an ordinary function the first of these numbers of runs that `_PATIENCE` has time for, and the last in any case."""
_TRIED = 256
"""How many calls of an ordinary function are timed together, after two single ones, to estimate how long one takes."""
_SLOW = 1.0
"""Calls are no longer timed once the next measurement would take more seconds than this."""
_FEWEST_SEARCHED = 500
"""With fewer runs the search would find little: a time limit that is too short for them is refused with what is needed."""
_PATIENCE = 60.0
"""How many seconds the runs of an ordinary function may take if nobody says how many are wanted."""
_SIZES = (2, 3, 5, 8, 12)
"""The lengths of lists that are tried if none is asked for: few, since they share the runs of the search."""
_EXACT_SECONDS = 30.0
"""How many seconds the exact engines are asked for, unless the caller says otherwise; the test stands without them."""
_SEARCHING = 0.5
"""The share of a time limit that the search may take."""


def audit(
    subject: Mechanism | Runnable | Callable[..., Any] | Any,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    *,
    rho: EpsilonLike | None = None,
    mu: EpsilonLike | None = None,
    renyi: Orders | None = None,
    curve: Sequence[EpsilonLike] = (),
    pairs: Iterable[tuple[Any, Any]] | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    size: int | Sequence[int] | None = None,
    fixed: Mapping[str, object] | None = None,
    samples: int | None = None,
    search: int | None = None,
    confidence: Number = "0.95",
    stop_early: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    executor: Executor | None = None,
    exact: bool = True,
    exact_seconds: float = _EXACT_SECONDS,
    monitor: Monitor | None = None,
    so_far: Callable[[Audit], None] = lambda _: None,
) -> Audit:
    """Test a mechanism by running it, and certify what is found.

    Args:
        subject: a mechanism, an ordinary function, a measurement of OpenDP, a mechanism of diffprivlib, or what `runnable` made.
        epsilon: the budget's epsilon that is tested; without it the subject's own claim, if it makes one.
        delta: the budget's delta, over events.
        rho: instead of epsilon: the claimed rho, of zero-concentrated differential privacy.
        mu: instead of epsilon: the claimed mu, of Gaussian differential privacy.
        renyi: instead of epsilon: claimed bounds on Rényi divergences by order, such as ``{2: "1/4"}``.
        curve: epsilons at which delta is bounded from below, all together.
        pairs: the data sets to compare, as ``(left, right)``: arguments by name, or the first argument; without it they are searched for.
        inputs: what an ordinary function reads, by name; without it what its annotations say.
        neighbours: which data sets are neighbours: each, one, monotone, add-remove, or a function of two data sets.
        size: the length, or lengths, of lists and streams; without it several are tried.
        fixed: values of public inputs, and of parameters.
        samples: how many runs on each side the bounds rest on.
        search: about how many runs the search may make; without it three times as many as samples, or three million.
        confidence: the probability with which all bounds hold together.
        stop_early: whether the test ends as soon as its runs speak against the claim; samples is then the most that are made, and the
            bound, which holds whenever it ends, is a little lower than that of a test of fixed length.
        seed: the same seed gives the same audit.
        jobs: how many processes of this machine share the runs; the audit is the same for every number of them.
        executor: who shares the runs instead, an executor of `concurrent.futures`: ``client.get_executor()`` of a dask cluster.
        exact: whether candidates are handed to the exact engines.
        exact_seconds: how long the exact engines may take, about.
        monitor: progress, a time limit for the search, an interrupt.
        so_far: told what the runs say, before the exact engines are asked.

    >>> from privproof.library.mechanisms import improved_noisy_max
    >>> found = audit(improved_noisy_max, "1", size=3, samples=20_000)
    >>> found.status, found.violated, found.real.loss
    ('refuted', True, Epsilon('ln(24/7)'))
    >>> 1 < found.epsilon < 1.2321, found.tight.tight
    (True, Epsilon('ln(24/7)'))
    """
    begun = time.perf_counter()
    monitor = monitor or Monitor()
    measured = measured_budgets(rho, mu, renyi)
    if measured and (epsilon is not None or delta != 0):
        raise QuestionError("budget", f"epsilon and {measured[0].measure} are claimed at once", hint="one at a time")
    given = Budget(exact_epsilon(epsilon), exact_delta(delta)) if epsilon is not None else None
    if given is None and delta != 0:
        raise BudgetError("budget", "a delta without an epsilon", place="delta", hint="give both")
    points = tuple(dict.fromkeys(_finite(exact_epsilon(value)) for value in curve))
    level = _confidence(confidence)
    made = runnable(subject, inputs=inputs, neighbours=neighbours)
    made, fixed = _bind_fixed_values(made, dict(fixed or {}))
    runs = _runs("samples", samples) or SAMPLES
    listed = [] if pairs is None else [_pair(made, left, right, fixed) for left, right in _two_by_two(pairs)]
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise QuestionError("seed", f"seed={seed!r} is no whole number from 0 on", place="seed", hint="seed=0")
    if listed:
        fixed = _common(made, listed)
    sizes, notes = _sizes(made, size, listed)
    budget, by_length = None, False
    if not measured:
        budget, sizes, more, by_length = _budget(made, given, sizes, fixed)
        notes += more
        if budget is None and made.mechanism is not None and made.mechanism.claim is None:
            measured = made.mechanism.measures
    measured = tuple(_at_sizes(each, made, sizes) for each in measured)
    notes += made.notes
    claim = claim_of(budget, measured)
    if stop_early and (budget is None or budget.epsilon.infinite or points):
        said = "a curve is" if points else "there is no claimed epsilon that runs could be"
        raise QuestionError(
            "stop", f"{said} tested by a number of runs that is fixed", place="stop_early", hint="epsilon=1"
        )
    aim = aim_of(claim, points)
    searched_runs = _runs("search", search)
    jobs = _jobs(made, jobs)
    first = next(iter(listed or patterns(made.inputs, made.relation, sizes[-1], fixed)), None)
    if made.mechanism is None:
        each = _seconds_of(made, first)
        if samples is None:
            runs = next((n for n in _SAMPLES_OF_CALLABLES if 5 * n * each <= _PATIENCE), _SAMPLES_OF_CALLABLES[-1])
        searched_runs = _in_time(searched_runs or 3 * runs, each / jobs, monitor, made.name)
    searching, testing = np.random.SeedSequence(seed).spawn(2)
    remaining = inf if monitor.deadline is None else monitor.deadline - time.monotonic()
    watched = monitor if remaining == inf else Timed(monitor, _SEARCHING * remaining)
    with Workers(jobs, executor) as workers:
        crew = Crew.of(made, workers, None if first is None else first.left)
        found = EventSearch(crew, aim, searching, watched).found(
            sizes, listed, fixed, searched_runs or min(_MOST_SEARCHED, 3 * runs), runs
        )
        if not found.candidates:
            if found.stopped:
                raise QuestionError("time", f"{found.stopped} before any run", place=made.name, hint="more time")
            said = "no two neighbouring data sets were found"
            raise QuestionError("neighbours", said, place=made.name, hint="pairs=[(left, right)]")
        searched = time.perf_counter()
        stakes = None
        if stop_early and claim.value is not None:
            counts, written, stakes = counted_until(
                crew, found.tested[0], claim.value, claim.delta, accusing_level(level), runs, testing, monitor
            )
        else:
            counts, written = count_events(crew, found.tested, aim, float(1 - level), runs, testing, monitor)
    result = audit_of(made.name, found, counts, written, claim, points, level)
    early = False
    if stakes is not None and claim.value is not None:
        result = by_stakes(result, stakes, claim.value)
        early = result.violated
    tested = time.perf_counter()
    repeatable = made.mechanism is not None or (made.repeatable and is_repeatable(made, found.candidates[0].pair.left))
    result = replace(
        result,
        seed=seed,
        repeatable=repeatable,
        notes=(
            *notes,
            *([] if result.count is None else float_leak_notes(made, result.count.event)),
            *([f"the test ended after {result.samples} of at most {runs} runs on each side"] if early else []),
            *_remarks(
                found, result.samples if early else runs, result.samples, explicit=size is not None or bool(listed)
            ),
        ),
        seconds={"search": searched - begun, "test": tested - searched},
    )
    if exact and made.mechanism is not None:
        so_far(result)
        if monitor.deadline is not None:
            exact_seconds = min(exact_seconds, max(0.0, monitor.deadline - time.monotonic()))
        lists = made.mechanism.stream is None
        length = sizes[0] if by_length else size if isinstance(size, int) and lists else None
        result = exactly(narrowed_to(made.mechanism, fixed), result, found, length, exact_seconds, monitor)
    return replace(result, seconds={**result.seconds, "exact": time.perf_counter() - tested})


def _finite(epsilon: Epsilon) -> Epsilon:
    if epsilon.infinite:
        raise BudgetError("epsilon", "delta is 0 at an infinite epsilon", place="curve", hint='curve=[0, "1/2", 1, 2]')
    return epsilon


def _confidence(confidence: Number) -> Fraction:
    level = fraction(confidence)
    if not Fraction(1, 2) <= level < 1:
        raise QuestionError(
            "confidence", f"confidence={level} is not between 1/2 and 1", place="confidence", hint="0.95"
        )
    return level


def _runs(name: str, number: int | None) -> int | None:
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 100):
        raise QuestionError(
            name, f"{name}={number!r} is no number of runs above 99", place=name, hint=f"{name}=100_000"
        )
    return number


def _bind_fixed_values(made: Runnable, fixed: dict[str, object]) -> tuple[Runnable, dict[str, object]]:
    """The subject with parameters that are given, and the values of its public inputs."""
    parameters = {} if made.mechanism is None else made.mechanism.parameters
    changed = {name: fixed.pop(name) for name in list(fixed) if name in parameters}
    if changed:
        assert made.mechanism is not None
        having = runnable(made.mechanism.having(**changed))
        made = replace(made, mechanism=having.mechanism, draw=having.draw)
    if isinstance(made.draw, FunctionCalls) and not made.draw.positional:
        constants = {name: fixed.pop(name) for name in list(fixed) if name not in made.inputs and made.draw.takes(name)}
        made = replace(made, draw=made.draw.having(constants))
    for name in fixed:
        if name not in made.inputs or not made.inputs[name].public:
            known = ", ".join(n for n, declared in made.inputs.items() if declared.public) or "none"
            raise QuestionError(
                "fixed", f"{name!r} is no public input", place=made.name, hint=f"public inputs: {known}"
            )
    return made, fixed


def _two_by_two(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs that are given, at least one."""
    listed = list(pairs) if isinstance(pairs, Iterable) and not isinstance(pairs, str | Mapping) else []
    wrong = next((pair for pair in listed if not isinstance(pair, list | tuple) or len(pair) != 2), None)
    if not listed or wrong is not None:
        said = f"pairs={pairs!r} holds no pair" if wrong is None else f"{wrong!r} is no pair of data sets"
        raise QuestionError("pair", said, place="pairs", hint="pairs=[(left, right)]")
    return listed


def _pair(made: Runnable, left: Any, right: Any, fixed: Mapping[str, object]) -> Adjacent:
    """A pair that is given; where inputs are declared, it must be one of neighbours."""
    sides = [_arguments(made, side) for side in (left, right)]
    for side in sides:
        for name, value in fixed.items():
            if side.setdefault(name, value) != value:
                said = f"{name} is {side[name]!r} in a pair and fixed at {value!r}"
                raise QuestionError("fixed", said, place=made.name, hint="drop one of them")
    missing = next((name for side in sides for name in made.inputs if name not in side), None)
    if missing is not None:
        raise QuestionError(
            "pair", f"{missing!r} is not given", place=made.name, hint=f"{{{missing!r}: ...}} on both sides"
        )
    pair = Adjacent(sides[0], sides[1])
    for value in (x for side in sides for name in made.inputs for x in _each(side.get(name))):
        if isinstance(value, float):
            raise LanguageError("float", f"{value!r} is a float", place=made.name, hint=f'Fraction("{value!r}")')
    if made.inputs and not is_adjacent(pair, made.inputs, made.relation):
        raise QuestionError(
            "neighbours",
            f"{left!r} and {right!r} are no neighbours: {_why_not(made, pair)}",
            place=made.name,
            hint="what the inputs declare, and the relation, say which data sets are",
        )
    return pair


def _why_not(made: Runnable, pair: Adjacent) -> str:
    """Why two data sets are no neighbours, in words."""
    for side in (pair.left, pair.right):
        for name, value in side.items():
            if name not in made.inputs:
                return f"there is no input {name!r}"
            if not fits(made.inputs[name], value):
                return f"{name}={value!r} is outside {made.inputs[name]}"
    if pair.left == pair.right:
        return "they are the same"
    for name, declared in made.inputs.items():
        if declared.public and pair.left[name] != pair.right[name]:
            return f"{name} is public and differs"
        if made.relation != ADD_REMOVE and len(_each(pair.left[name])) != len(_each(pair.right[name])):
            return f"{name} has two lengths"
    return f"by the relation {made.relation!r}" if isinstance(made.relation, str) else "your relation says so"


def _each(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else [value]


def _common(made: Runnable, pairs: Sequence[Adjacent]) -> dict[str, object]:
    """The public values that all pairs have in common."""
    public = [name for name, declared in made.inputs.items() if declared.public]
    return {name: pairs[0].left[name] for name in public if all(p.left[name] == pairs[0].left[name] for p in pairs)}


def _arguments(made: Runnable, side: Any) -> dict[str, object]:
    if isinstance(side, Mapping):
        return dict(side)
    private = (name for name, declared in made.inputs.items() if not declared.public)
    return {next(private, made.first): side}


def _jobs(made: Runnable, jobs: int | None) -> int:
    """How many processes share the runs: as many as are asked for, or as many as the subject was made for."""
    if jobs is not None:
        return jobs
    return made.draw.processes if isinstance(made.draw, FunctionCalls) else 1


def _seconds_of(made: Runnable, first: Adjacent | None) -> float:
    """How long one call of an ordinary function takes, about."""
    each = 0.0
    for count in (1, 1, _TRIED):
        if first is None or count * each > _SLOW:
            break
        begun = time.perf_counter()
        made.draw(first.left, count, 0)
        each = (time.perf_counter() - begun) / count
    return each


def _in_time(runs: int, each: float, monitor: Monitor, name: str) -> int:
    """How many runs the search may make, so that it ends in its share of the time."""
    if monitor.deadline is None:
        return runs
    possible = int(_SEARCHING * max(0.0, monitor.deadline - time.monotonic()) / max(each, 1e-9))
    if possible < _FEWEST_SEARCHED:
        said = f"a call takes {each:.2g} s, so there is no time for {_FEWEST_SEARCHED} runs"
        needed = ceil(_FEWEST_SEARCHED * each / _SEARCHING)
        raise QuestionError("time", said, place=name, hint=f"at least {needed} s, or a faster function")
    return min(runs, possible)


def _at_sizes(budget: MeasuredBudget, made: Runnable, sizes: Sequence[int | None]) -> MeasuredBudget:
    """A value that grows with the size as the largest of its values at the sizes that are tried."""
    if budget.growing is None:
        return budget
    given = {} if made.mechanism is None else made.mechanism.parameters
    known = {name: rational(each) for name, each in given.items() if isinstance(each, int | Fraction)}
    at = [{**known, **({} if size is None else {"size": rational(size)})} for size in sizes]
    return max(
        (budget.filled(each, ()) for each in at), key=lambda found: float(found.value.ball()) if found.value else 0
    )


def _sizes(
    made: Runnable, size: int | Sequence[int] | None, pairs: Sequence[Adjacent]
) -> tuple[list[int | None], list[str]]:
    """The lengths of lists and streams to try."""
    if not made.inputs and not pairs:
        raise QuestionError(
            "inputs",
            "; ".join(("nothing says what it reads, so no data sets can be proposed", *_about_inputs(made))),
            place=made.name,
            hint="pairs=[(left, right)] or inputs={'q': real_queries()}, on the command line --left and --right or --input "
            "'q=real_queries()', or declare them: def f(q: real_queries()): ...",
        )
    open_ended = [
        name
        for name, declared in made.inputs.items()
        if declared.shape == "stream" or (declared.shape == "list" and declared.size is None)
    ]
    if pairs:
        lengths = {pair.size for pair in pairs}
        if size is not None and lengths != {size}:
            raise QuestionError("size", "the pairs have the sizes they have", place="size", hint="drop the size")
        return [lengths.pop() if len(lengths) == 1 and open_ended else None], []
    if not open_ended:
        if size is not None:
            raise QuestionError("size", "no list or stream of open length takes it", place="size", hint="drop the size")
        return [None], []
    if size is None:
        return list(_SIZES), []
    sizes = list(size) if isinstance(size, Sequence) and not isinstance(size, str) else [size]
    if not sizes:
        raise QuestionError("size", "no length is given", place="size", hint="size=5")
    for one in sizes:
        if isinstance(one, bool) or not isinstance(one, int) or one < 1:
            raise QuestionError("size", f"size={one!r} is no length", place="size", hint="size=5")
    return [*sizes], []


def _about_inputs(made: Runnable) -> list[str]:
    return [note for note in made.notes if "cannot be read" in note or "not known" in note]


def _budget(
    made: Runnable, given: Budget | None, sizes: list[int | None], fixed: Mapping[str, object]
) -> tuple[Budget | None, list[int | None], list[str], bool]:
    """What is tested against, the lengths to try, remarks, and whether it is about one length only.

    The budget is the one given, or the subject's claim; a claim that speaks of the size is tested at one length.
    """
    if given is not None or made.claim is not None:
        return given or made.claim, sizes, [], False
    if made.mechanism is None or made.mechanism.claim is None:
        return None, sizes, [], False
    numbers = {name: value for name, value in fixed.items() if isinstance(value, int)}
    failure: PrivproofError | None = None
    for size in dict.fromkeys((None, sizes[-1])):
        try:
            budget = made.mechanism.budget(size, **numbers)
        except (LanguageError, BudgetError) as problem:
            failure = problem
            continue
        if size is None:
            return budget, sizes, [], False
        said = [f"the claim depends on the size: only lists of {size} were tried"] if len(sizes) > 1 else []
        return budget, [size], said, True
    assert failure is not None
    return None, sizes, [f"no budget was tested: {failure.message}; fix that: --set NAME=VALUE"], False


def _remarks(found: FoundSuspect, wanted: int, made: int, *, explicit: bool) -> list[str]:
    """What a reader should know about the search and the test."""
    remarks = []
    if found.stopped:
        remarks.append(f"the search was {found.stopped}: what it had found until then was tested")
    if made < wanted:
        remarks.append(f"out of time: the bounds rest on {made} runs on each side instead of {wanted}")
    losses = sorted(found.by_size.items())
    if len(losses) > 1 and all(0 < before < after for (_, before), (_, after) in pairwise(losses)):
        said = ", ".join(f"{worth:.2f} at {size}" for size, worth in losses)
        remarks.append(
            f"the losses found grow with the length ({said}): longer lists may lose more than any that was tried"
        )
    elif len(losses) == 1 and explicit:
        remarks.append(f"only lists of length {losses[0][0]} were tried: longer ones may lose more")
    return remarks
