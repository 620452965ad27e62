"""Asking a question: choose an engine that supports it, let it answer, and hand its answers to the gate.

An engine's word is never enough: a refutation's probabilities are recomputed from the definition by the independent checker, and a
proof's certificate is checked, before the verdict is given (`evidence.gate`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from privproof.compiling.posing import of_every_length, ordinary_mechanism, ordinary_notes, pose_question, run_instead
from privproof.engines.engine_protocol import Engine, EngineRequest, Remark
from privproof.engines.engine_registry import ENGINES
from privproof.engines.search_monitor import Monitor, Progress
from privproof.errors import LanguageError, QuestionError, nearest
from privproof.evidence.gate import first_admitted
from privproof.evidence.verdicts import Proved, Refuted, Unknown, Verdict
from privproof.exact import Budget, Epsilon, EpsilonLike, Number, fraction, rational
from privproof.exact import delta as exact_delta
from privproof.exact import epsilon as exact_epsilon
from privproof.exact.measures import MU, RHO, Measure, MeasuredBudget, Orders, measured_budgets
from privproof.exact.measures import renyi as renyi_measure
from privproof.exact.patience import OUT_OF_TIME, Stopped, watch_computation
from privproof.models import Horizon
from privproof.scenarios import AnyQuestion

if TYPE_CHECKING:
    from privproof.compiling.posing import Subject
    from privproof.language.inputs import Input
    from privproof.language.mechanism import Relation
    from privproof.profiles import EnclosedProfile, Profile, SmallestDelta

_JUST_BELOW = Fraction(10**12 - 1, 10**12)
"""What is refuted lies below an exact delta by a trillionth of it."""
_CLEARLY_BELOW = Fraction(99, 100)
"""Where the checker refutes less than an engine, on the same coarse lattice of losses: a hundredth less is refuted instead."""
_NEXT_TO_NOTHING = Fraction(1, 10**30)
"""What is proved where delta is 0, but only in balls: the checker's are of other sizes than the engine's."""
_PATIENCE = 600.0
"""Seconds after which a question is given up, unless more are asked for: nobody wants to wait for ever without having said so."""

_CURVE = tuple(Fraction(n, 32) for n in (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28))
"""The epsilons at which deltas are proved for a composition, as parts of the largest loss."""
_FARTHEST = Fraction(8)
"""Where no epsilon is proved without a delta, the curve is followed up to here."""
_NEGLIGIBLE = Fraction(1, 10**15)
"""A curve of deltas is followed until there."""

P = ParamSpec("P")
R = TypeVar("R")


def check(
    subject: Subject | str | Path,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    pointwise: bool = False,
    rho: EpsilonLike | None = None,
    mu: EpsilonLike | None = None,
    renyi: Orders | None = None,
    engine: str | None = None,
    monitor: Monitor | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    time_limit: float | None = _PATIENCE,
    **named: Input,
) -> Verdict:
    """Is the mechanism private within the budget?

    Args:
        subject: a mechanism, a function, a question, or the name of a file: ``FILE`` or ``FILE:NAME``.
        epsilon: the budget's epsilon; without it the question's own budget counts.
        delta: the budget's delta, over events unless `pointwise`.
        size: for a mechanism, the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, or a model: the lengths compared.
        pointwise: read delta for each output instead of each event.
        rho: instead of epsilon: the budget's rho, for zero-concentrated differential privacy.
        mu: instead of epsilon: the budget's mu, for Gaussian differential privacy.
        renyi: instead of epsilon: bounds on Rényi divergences by order, such as ``{2: "1/4"}``.
        engine: the name of the engine to use; without it the first that supports the question.
        monitor: progress, a time limit, an interrupt.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function which data sets are neighbours: ``each``, ``one``, ``monotone``, ``add-remove``, or a function.
        time_limit: stop after so many seconds with what is known, unless a monitor is given; None for no limit.
        named: the same by name: ``data=records("yes", "no")``.

    A function that has no translation is run as it is, on all its data sets of small sizes and all its random choices.

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> verdict = check(noisy_max_question(3, improved=False), epsilon="ln(2)")
    >>> verdict.status, verdict.witness.inputs, verdict.witness.output, verdict.witness.ratio
    ('refuted', (('1', '1', '0'), ('2', '0', '0')), ('2',), Fraction(4, 1))
    """
    watch = monitor or Monitor.within(time_limit)
    with watch_computation(watch):
        question = question_of_subject(subject, size, horizon, {**(inputs or {}), **named}, neighbours, engine)
    question = question_with_claim(question, epsilon, delta, measured_budgets(rho, mu, renyi), pointwise=pointwise)
    if not question.claims:
        raise QuestionError("budget", "no budget is given", hint="ask for one, such as ln(2), or for the tight epsilon")
    request = EngineRequest(question)
    return _too_late(request) if monitor is None and watch.stopped() else ask(request, engine, watch)


def question_with_claim(
    question: AnyQuestion,
    epsilon: EpsilonLike | None,
    delta: Number = 0,
    budgets: tuple[MeasuredBudget, ...] = (),
    *,
    pointwise: bool = False,
) -> AnyQuestion:
    """A question with a claim: an epsilon, budgets of another measure, or what its function claims of itself.

    Raises:
        QuestionError: an epsilon and another measure are claimed at once.
    """
    if budgets and (epsilon is not None or delta != 0):
        raise QuestionError("budget", f"epsilon and {budgets[0].measure} are claimed at once", hint="one at a time")
    if epsilon is not None:
        return question.under(Budget(exact_epsilon(epsilon), exact_delta(delta), pointwise))
    if not budgets and not question.claims:
        budgets = question.own_budgets
    return question.measured(budgets) if budgets else question


def tight_rho(subject: Subject | str | Path, **options: Any) -> Verdict:
    """The smallest rho for which a mechanism is rho-zCDP (zero-concentrated differential privacy), between two numbers.

    Args:
        subject: a mechanism, a function, a question, or the name of a file.
        options: as for `tight_epsilon`: size, horizon, monitor, inputs, neighbours, time_limit.

    >>> from privproof import gaussian, integer, mechanism
    >>> @mechanism
    ... def count(n: integer(0, 1)):
    ...     return gaussian(n, sigma=2)
    >>> tight_rho(count).tight
    Epsilon('1/8')
    """
    return _tight_measure(subject, RHO, **options)


def tight_mu(subject: Subject | str | Path, **options: Any) -> Verdict:
    """The smallest mu for which a mechanism is mu-GDP (Gaussian differential privacy), between two numbers.

    Args:
        subject: a mechanism, a function, a question, or the name of a file.
        options: as for `tight_epsilon`: size, horizon, monitor, inputs, neighbours, time_limit.
    """
    return _tight_measure(subject, MU, **options)


def tight_renyi(subject: Subject | str | Path, order: Number, **options: Any) -> Verdict:
    """The largest Rényi divergence of an order between neighbours, between two numbers.

    Args:
        subject: a mechanism, a function, a question, or the name of a file.
        order: the order, from 1 on.
        options: as for `tight_epsilon`: size, horizon, monitor, inputs, neighbours, time_limit.
    """
    return _tight_measure(subject, renyi_measure(order), **options)


def renyi_curve(
    question: AnyQuestion, orders: Sequence[Number], monitor: Monitor | None = None
) -> tuple[tuple[Measure, Verdict], ...]:
    """The largest Rényi divergences of a question at several orders; the function is run once for all of them."""
    prepared: dict[str, Any] = {}
    watch = monitor or Monitor()
    found = []
    for order in orders:
        measure = renyi_measure(order)
        asked = question.measured((MeasuredBudget(measure),))
        found.append((measure, ask(EngineRequest(asked, tight=True, prepared=prepared), None, watch)))
    return tuple(found)


def _tight_measure(
    subject: Subject | str | Path,
    measure: Measure,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    monitor: Monitor | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    time_limit: float | None = _PATIENCE,
    **named: Input,
) -> Verdict:
    watch = monitor or Monitor.within(time_limit)
    with watch_computation(watch):
        question = question_of_subject(subject, size, horizon, {**(inputs or {}), **named}, neighbours)
    request = EngineRequest(question.measured((MeasuredBudget(measure),)), tight=True)
    return _too_late(request) if monitor is None and watch.stopped() else ask(request, None, watch)


def tight_epsilon(
    subject: Subject | str | Path,
    delta: Number = 0,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    pointwise: bool = False,
    engine: str | None = None,
    monitor: Monitor | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    time_limit: float | None = _PATIENCE,
    **named: Input,
) -> Verdict:
    """How private is the mechanism: the smallest epsilon it satisfies, exactly, or certified bounds.

    The verdict is proved (for the epsilon in its budget), refuted (there is no epsilon at all) or unknown (with bounds).

    >>> from privproof.library.noisy_max import noisy_max_question
    >>> verdict = tight_epsilon(noisy_max_question(3, improved=True))
    >>> verdict.tight, verdict.witness.inputs, verdict.witness.output
    (Epsilon('ln(24/7)'), (('1', '1', '1'), ('0', '2', '2')), ('1',))
    """
    watch = monitor or Monitor.within(time_limit)
    with watch_computation(watch):
        question = question_of_subject(subject, size, horizon, {**(inputs or {}), **named}, neighbours, engine)
    request = EngineRequest(question, tight=True, delta=exact_delta(delta), pointwise=pointwise)
    return _too_late(request) if monitor is None and watch.stopped() else ask(request, engine, watch)


def smallest_delta(
    subject: Subject | str | Path,
    epsilon: EpsilonLike,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    monitor: Monitor | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    time_limit: float | None = _PATIENCE,
    **named: Input,
) -> SmallestDelta:
    """How large delta must be at an epsilon, over all events and all neighbours.

    Args:
        subject: a mechanism, a function, a question, or the name of a file: ``FILE`` or ``FILE:NAME``.
        epsilon: the epsilon.
        size: for a mechanism, the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, or a model: the lengths compared.
        monitor: progress, a time limit, an interrupt.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function which data sets are neighbours.
        time_limit: stop after so many seconds with what is known, unless a monitor is given; None for no limit.
        named: the same as `inputs`, by name.

    >>> from privproof import gaussian, integer, mechanism
    >>> @mechanism
    ... def count(n: integer(0, 1)):
    ...     return gaussian(n, sigma=2)
    >>> found = smallest_delta(count, 1)
    >>> round(float(found.lower), 9), round(float(found.upper), 9), found.proof.status, found.refutation.status
    (0.006829595, 0.006829595, 'proved', 'refuted')
    """
    watch = monitor or Monitor.within(time_limit)
    with watch_computation(watch):
        question = question_of_subject(subject, size, horizon, {**(inputs or {}), **named}, neighbours)
    return delta_of(question, exact_epsilon(epsilon), watch)


def delta_curve(
    question: AnyQuestion, epsilons: Sequence[EpsilonLike], monitor: Monitor | None = None
) -> tuple[SmallestDelta, ...]:
    """The smallest deltas of a question at several epsilons; the function is run once for all of them."""
    prepared: dict[str, Any] = {}
    return tuple(delta_of(question, exact_epsilon(each), monitor, prepared) for each in epsilons)


def privacy_profile(
    subject: Subject | str | Path,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    **named: Input,
) -> Profile | EnclosedProfile:
    """The privacy profile of a mechanism: exact for finite mechanisms, enclosed where noise is continuous; a claim is ignored.

    Args:
        subject: a mechanism, a function, a question (also one that `composed` makes), or the name of a file: ``FILE`` or ``FILE:NAME``.
        size: for a mechanism, the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, the lengths compared.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function which data sets are neighbours.
        named: the same as `inputs`, by name.

    Outputs of finite mechanisms are those of runs that have ended, or words of the full length of the horizon; that a run has halted
    counts as seen.  Where inputs are read after outputs were seen, the adversary may choose them accordingly.

    Raises:
        QuestionError: the horizon is unbounded, or there is too much to go through.
        ScenarioError: words are restricted, so that outputs are no whole distributions; or there is nothing to compare.

    >>> from privproof import gaussian, integer, laplace, mechanism
    >>> @mechanism
    ... def count(n: integer(0, 1)):
    ...     return gaussian(n, sigma=2)
    >>> @mechanism
    ... def other(n: integer(0, 1)):
    ...     return laplace(n, scale=2)
    >>> profile = privacy_profile(count)
    >>> print(profile.delta(1), profile.epsilon("1/100").decimal())
    0.00682959 0.919458
    >>> both = profile.composed(privacy_profile(other), times=3)
    >>> print(f"{both.name}: {both.delta(1)}")
    3 uses of count and 3 uses of other: between 0.194803367367 and 0.194813
    """
    from privproof import profiles
    from privproof.profiles.enclosed_profile import Asking

    question = question_of_subject(subject, size, horizon, {**(inputs or {}), **named}, neighbours)
    if question.family == "words":
        return profiles.privacy_profile(question.words(place="privacy_profile"))
    asking = Asking(
        lambda asked, bound, prepared: delta_of(asked, bound, prepared=prepared),
        lambda asked, delta: tight_epsilon(asked, delta).upper,
    )
    return profiles.EnclosedProfile(question.under(None), asking)


def delta_of(
    question: AnyQuestion, bound: Epsilon, monitor: Monitor | None = None, prepared: dict[str, Any] | None = None
) -> SmallestDelta:
    """The smallest delta of a question at an epsilon.

    Args:
        question: the question.
        bound: the epsilon.
        monitor: progress, a time limit, an interrupt.
        prepared: what engines have prepared for the same question before.

    Raises:
        QuestionError: the epsilon is infinite, or no engine decides a delta about this.
    """
    if bound.infinite:
        raise QuestionError("budget", "an infinite epsilon needs no delta", place="epsilon", hint="epsilon=1")
    from privproof.profiles import SmallestDelta, privacy_profile
    from privproof.profiles.delta_from_epsilon import delta_bounds

    watch = monitor or Monitor()
    shared: dict[str, Any] = {} if prepared is None else prepared

    def asked_with(delta: Fraction) -> Verdict:
        return ask(EngineRequest(question.under(Budget(bound, rational(delta))), prepared=shared), None, watch)

    if question.family == "words" and not question.of_every_length:
        low, high = map(fraction, privacy_profile(question.words(place="delta")).bounds(bound))
        low = low if low == high else low * _JUST_BELOW
    else:
        asked = asked_with(Fraction(1))
        bounds = asked.delta_bounds
        if bounds is None and isinstance(asked, Proved) and isinstance(asked_with(Fraction(0)), Proved):
            bounds = Fraction(0), Fraction(0)  # epsilon is enough
        found_elsewhere = None if bounds is not None else delta_bounds(question, bound, _asker(watch))
        if found_elsewhere is not None:
            return _delta_enclosure(question, bound, found_elsewhere, watch)
        if bounds is None:
            said = (
                asked.reason if isinstance(asked, Unknown) else f"the engine {asked.engine} decides no delta by itself"
            )
            raise QuestionError(
                "delta",
                said or "no delta is decided",
                place="delta",
                hint="data with finitely many values, such as records(0, 1), at a small --size; fresh noise for what is shown",
            )
        (low, high), question = bounds, asked.question
    proof = asked_with(high) if high < 1 else None
    if high == 0 and not isinstance(proof, Proved):
        high = _NEXT_TO_NOTHING
        proof = asked_with(high)
    of = question.under(None)
    few = question.rewritten(lambda part: run_instead(part, "")) if 0 == low < high else None
    if few is not None:  # from below, at the sizes that there is time for
        shared = {}
        try:
            found = ask(EngineRequest(few.under(Budget(bound, rational(1))), prepared=shared), None, watch)
        except LanguageError:  # it cannot be run: nothing is known from below
            found = None
        if found is not None:
            low = min(high, Fraction(0) if found.delta_bounds is None else found.delta_bounds[0])
            question = found.question
    refutation = asked_with(low if low < high else low * _JUST_BELOW) if low > 0 else None
    if low > 0 and not isinstance(refutation, Refuted):
        low *= _CLEARLY_BELOW
        refutation = asked_with(low)
    return SmallestDelta(
        bound,
        low if isinstance(refutation, Refuted) else Fraction(0),
        high if isinstance(proof, Proved) else Fraction(1),
        proof if isinstance(proof, Proved) else None,
        refutation if isinstance(refutation, Refuted) else None,
        of,
    )


def _asker(watch: Monitor) -> Callable[[EngineRequest], Verdict]:
    return lambda request: ask(request, None, watch)


def _delta_enclosure(
    question: AnyQuestion, bound: Epsilon, found: tuple[Fraction, Fraction, AnyQuestion], watch: Monitor
) -> SmallestDelta:
    """The smallest delta between what short lists need and what follows from an epsilon, each with its verdict."""
    from privproof.profiles import SmallestDelta

    low, high, short = found

    def verdict_on(asked: AnyQuestion, delta: Fraction) -> Verdict:
        return ask(EngineRequest(asked.under(Budget(bound, rational(delta)))), None, watch)

    if low == 0 < high:
        few = question.rewritten(lambda part: run_instead(part, ""))
        ran = None if few is None else verdict_on(few, Fraction(1))
        if ran is not None and ran.delta_bounds is not None:
            low, short = min(high, ran.delta_bounds[0]), ran.question
    proof = verdict_on(question, high) if high < 1 else None
    refutation = verdict_on(short, low * _JUST_BELOW) if low > 0 else None
    return SmallestDelta(
        bound,
        low * _JUST_BELOW if isinstance(refutation, Refuted) else Fraction(0),
        high if isinstance(proof, Proved) else Fraction(1),
        proof if isinstance(proof, Proved) else None,
        refutation if isinstance(refutation, Refuted) else None,
        question.under(None),
    )


def _too_late(request: EngineRequest, why: str = OUT_OF_TIME) -> Verdict:
    """The verdict where a model cannot be made in the time that there is."""
    return Unknown(request.question, "none", reason=f"{why} while the model was made", asked_tight=request.tight)


def question_of_subject(
    subject: Subject | str | Path,
    size: int | None,
    horizon: Horizon | None,
    inputs: Mapping[str, Input],
    neighbours: Relation | None,
    engine: str | None = None,
) -> AnyQuestion:
    """The question that something poses: a question, a mechanism, a function, or what a file holds."""
    run = engine == "runs"
    if isinstance(subject, str | Path):
        from privproof.loading.question_loading import load

        return load(str(subject), size=size, horizon=horizon, inputs=inputs, neighbours=neighbours, run=run)
    return pose_question(subject, size=size, horizon=horizon, inputs=inputs, neighbours=neighbours, run=run)


def ask(request: EngineRequest, engine: str | None = None, monitor: Monitor | None = None) -> Verdict:
    """The verdict on a request, by the first engine that supports it (or the one named) and has an answer.

    Raises:
        QuestionError: there is no engine of that name, or it does not support the request.
    """
    begun = time.perf_counter()
    watch = monitor or Monitor()
    of = request.question.below_measure
    if of is not None:
        request.prepared.setdefault("pure", lambda: _within_some_epsilon(of, watch))
        request.prepared.setdefault("within", lambda budget: ask(EngineRequest(of.under(budget)), None, watch))
    request.prepared.setdefault("proved", lambda part: _proved_curve(part, watch))
    with watch_computation(watch):
        try:
            verdict = _ask_or_run(request, engine, watch)
        except Stopped as stopped:
            verdict = _too_late(request, str(stopped))
    return replace(verdict, seconds=time.perf_counter() - begun, asked_tight=request.tight)


def _ask_or_run(request: EngineRequest, engine: str | None, watch: Monitor) -> Verdict:
    """The verdict on a request as it stands, or else on running the function."""
    try:
        request = _in_one_form(request, engine)
        verdict = _ask_engines(request, engine, watch)
        verdict = replace(verdict, notes=(*verdict.notes, *ordinary_notes(request.question)))
    except LanguageError as problem:
        other = (
            None if engine is not None or problem.code == "changed" else run_instead(request.question, problem.message)
        )
        if other is None or other.sampled:
            raise
        return _ask_engines(replace(request, question=other, prepared={}), None, watch)
    if isinstance(verdict, Unknown) and engine is None and watch.stopped() is None:
        found: Verdict | None = _proved_of_every_length(request, watch)
        found = _from_elsewhere(request, watch) if found is None else found
        return _run(request, verdict, watch) if found is None else found
    return verdict


def _proved_of_every_length(request: EngineRequest, watch: Monitor) -> Proved | None:
    """A proof for lists of every length of a claim about one size, where running the function does not decide it."""
    question, budget = request.question, request.budget
    of = question.below_measure
    if request.tight or request.word is not None or (of is None and (budget is None or budget.delta >= 1)):
        return None
    wider = of_every_length(question if of is None else of)
    if wider is None:
        return None
    asked = wider if of is None else wider.measured(getattr(question, "budgets", ()))
    try:
        found = ask(EngineRequest(asked), None, watch)
    except (LanguageError, Stopped):
        return None
    return found if isinstance(found, Proved) else None


def _from_elsewhere(request: EngineRequest, watch: Monitor) -> Verdict | None:
    """The verdict on a claim with a delta that follows from one without, or from short lists; None where none does."""
    budget = request.budget
    if request.tight or request.word is not None or budget is None or budget.delta == 0 or budget.pointwise:
        return None
    from privproof.profiles.delta_from_epsilon import proved_by_epsilon, refuted_on_short_lists

    def asked(other: EngineRequest) -> Verdict:
        return _ask_or_run(other, None, watch)

    found = proved_by_epsilon(request.question, asked)
    return refuted_on_short_lists(request.question, asked) if found is None else found


def _within_some_epsilon(question: AnyQuestion, watch: Monitor) -> Verdict:
    """The verdict on the smallest epsilon that is proved; its certificate is about one number, not an expression in sizes."""
    found = ask(EngineRequest(question, tight=True), None, watch)
    if (
        isinstance(found, Proved)
        and not found.upper.infinite
        and "epsilon" not in dict(found.certificate or {})["question"]
    ):
        return ask(EngineRequest(question.under(Budget(found.upper))), None, watch)
    return found


def _proved_curve(question: AnyQuestion, watch: Monitor) -> tuple[AnyQuestion, list[dict[str, Any]]]:
    """Certificates about one question, of an epsilon, a mu, and deltas at some epsilons: what is proved of its curve."""
    found: list[tuple[AnyQuestion, dict[str, Any]]] = []

    def keep(verdict: Verdict | None) -> bool:
        if not isinstance(verdict, Proved) or verdict.certificate is None:
            return False
        of = verdict.question.below_measure or verdict.question.under(None)
        found.append((of, dict(verdict.certificate)))
        return True

    end = _FARTHEST
    pure = _within_some_epsilon(question, watch)
    if keep(pure):
        end = Fraction(pure.upper.decimal())
    gaussian = not found and keep(ask(EngineRequest(question.measured((MeasuredBudget(MU),)), tight=True), None, watch))
    shared: dict[str, Any] = {}
    for place in () if gaussian else _CURVE:  # a mu says everything at once
        try:
            point = delta_of(question, exact_epsilon(Fraction(round(end * place * 1000), 1000)), watch, shared)
        except QuestionError:
            break
        if not keep(point.proof) or point.upper < _NEGLIGIBLE:
            break
    if not found:
        return question, []
    of = found[0][0]
    return of, [certificate for other, certificate in found if other == of]


def _in_one_form(request: EngineRequest, engine: str | None) -> EngineRequest:
    """The request with everything listed, where a delta, a word or an engine of another kind is asked for."""
    question, budget = request.question, request.budget
    fits = engine is None or any(each.name == engine and question.family in each.families for each in ENGINES)
    if fits and request.word is None and (budget is None or budget.delta == 0):
        return request
    listed = question.listed()
    return request if listed is question else replace(request, question=listed, prepared={})


def _run(request: EngineRequest, verdict: Unknown, watch: Monitor) -> Verdict:
    """The verdict of running the function, where no engine knew: for good at the size asked about, otherwise only what it refutes."""
    other = run_instead(request.question, verdict.reason)
    if other is None:
        return verdict
    try:
        found = _ask_engines(replace(request, question=other, prepared={}), None, watch)
    except (LanguageError, Stopped):
        return verdict
    if found.status == "unknown":
        return verdict
    unsupported = verdict.engine == "none"
    if found.status == "refuted" or other.sized or unsupported or ordinary_mechanism(request.question) is not None:
        return found
    said = f"at {found.question.name}, {found.upper.show()} is proved by running it"
    return replace(verdict, notes=(*verdict.notes, said))


def _ask_engines(request: EngineRequest, engine: str | None, watch: Monitor) -> Verdict:
    """The verdict of the first engine that supports a request, or the one named."""
    refusals: list[str] = []
    notes: list[str] = []
    passed: list[str] = []
    verdict: Verdict | None = None
    for each in _candidates(request.question, engine):
        reason = each.supports(request)
        if reason is not None:
            refusals.append(f"{each.name}: {reason}")
            notes += [str(reason)] if isinstance(reason, Remark) else []
            continue
        watch.listen(Progress(f"trying the engine {each.name}"))
        with closing(each.answers(request, watch)) as answers:
            verdict = first_admitted(answers)
        if engine is None and isinstance(verdict, Unknown) and verdict.pass_on:
            passed.append(f"{each.name}: {verdict.reason}")
            continue
        break
    if verdict is None:
        if engine is not None:
            raise QuestionError("engine", f"the engine does not support the question: {refusals[0]}", place="engine")
        verdict = Unknown(request.question, "none", reason="; ".join(refusals))
    unanswered = passed if isinstance(verdict, Unknown) else []
    return replace(verdict, notes=(*verdict.notes, *notes, *unanswered))


def _candidates(question: AnyQuestion, name: str | None) -> Iterator[Engine]:
    """The engines for a kind of question, or the one named, each loaded when its turn comes."""
    fitting = [each for each in ENGINES if question.family in each.families]
    if name is not None:
        chosen = [each for each in fitting if each.name == name]
        if not chosen:
            known = name in {each.name for each in ENGINES}
            said = f"{name} does not answer questions of this kind" if known else f"there is no engine {name!r}"
            names = [each.name for each in fitting]
            hint = f"{nearest(name, names)} engines: {', '.join(names)}".lstrip()
            raise QuestionError("engine", said, place="engine", hint=hint)
        fitting = chosen
    return (each.load() for each in fitting)
