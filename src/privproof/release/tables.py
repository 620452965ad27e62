"""From a table to a release: read the data in one pass, calibrate, verify, draw the noise, and keep a record of everything assumed.

Nothing is released unless its privacy was proved and the independent checker accepted the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from privproof.drawing.showing import Shown
from privproof.engines.releases.costs import upper
from privproof.engines.releases.quilts import spent
from privproof.errors import QuestionError, ScenarioError
from privproof.evidence import Verdict
from privproof.exact import EpsilonLike, Number, fraction
from privproof.exact import epsilon as exact_epsilon
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers
from privproof.formats.table_streams import stream_name
from privproof.formats.tables import Bins, Reading, Summary, summarise
from privproof.release.calibrating import Calibrated, calibrated, laws_about
from privproof.release.comparing import errors_by_method
from privproof.release.ledger import Entry, Ledger
from privproof.release.ledger import Quilts as QuiltRule
from privproof.release.releasing import Released, exact_answers, noisy
from privproof.release.verifying import verify_calibrated
from privproof.scenarios import Band, Chain
from privproof.scenarios.queries import parse_query

_FITTED = (
    "WARNING: the prior was fitted to the private data itself. The guarantee holds for a prior that the adversary knows "
    "anyway; a prior that was learnt from the data can leak them. Fit it on public data, or state it."
)
_BUDGETS = ("1/10", "1/5", "1/2", "1", "2", "5", "10")
_SEEDED = (
    "WARNING: the noise was drawn from a seed. Whoever knows the seed knows the truth: for tests, not for release."
)

_INDEPENDENT = (
    "WARNING: parts of a series on both sides of a gap or a missing entry are taken to be independent. The prior does not say "
    "so; without --gaps independent they are parts of one series."
)
_LITTLE = (
    "WARNING: under this prior less noise is enough than independent entries would need. Whoever believes another prior may "
    "learn more than epsilon."
)


@dataclass(frozen=True)
class Paid:
    """The ledger into which a release is entered; its data set has a budget under a prior.

    Attributes:
        ledger: the ledger.
        dataset: the data set, where there are several.
        analyst: who releases.
        note: what else to say.
    """

    ledger: Ledger
    dataset: str | None = None
    analyst: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be released.

    Attributes:
        data: the private table: files, folders, frames, relations or cursors (`formats.tables`), read as one.
        column: the column with the states, or with numbers that bins make into states.
        query: the query as a text, see `parse_query`.
        epsilon: the budget.
        priors: the class of priors, where it is given; otherwise a chain is fitted.
        told: how the priors are called in the record.
        public: a public table that the prior is fitted to; none for the private one.
        start: the first value of a fitted chain.
        smoothing: what is added to every count of a fitted chain.
        confidence: instead of one fitted chain, all chains that the public table does not speak against at this confidence.
        series: the column that tells series apart.
        time: the column with times.
        gap: the largest step of time within a series.
        gaps: what a gap, or a missing entry, means: ``joined`` for a longer distance within the series, ``independent`` for another series
            that has nothing to do with what was before, which the prior does not say.
        bins: the bins of a column of numbers.
        states: the states, where they are named.
        missing: texts that mean a missing entry.
        delimiter: what stands between two cells of a CSV file.
        method: the method of calibration.
        noise: the kind of noise.
        seed: a seed for the noise, for tests.
        jobs: how many processes count files, and parts of Parquet files.
        paid: where what the release costs is entered before its noise is drawn.
    """

    data: Any
    column: str
    query: str
    epsilon: EpsilonLike
    priors: Chain | Band | Sequence[Chain] | Sequence[Band] | None = None
    told: str = ""
    public: Any = ()
    start: str = "stationary"
    smoothing: Number = "1/2"
    confidence: Number | None = None
    series: str | None = None
    time: str | None = None
    gap: Number | None = None
    gaps: str = "joined"
    bins: Bins | None = None
    states: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    method: str = "auto"
    noise: str = "geometric"
    seed: int | None = None
    jobs: int = 1
    paid: Paid | None = None

    def __post_init__(self) -> None:
        """One table, one prior and a budget of any kind may be given as they are."""
        for name in ("data", "public"):
            given = getattr(self, name)
            listed = given if isinstance(given, list | tuple) else (given,)
            object.__setattr__(self, name, tuple(Path(one) if isinstance(one, str) else one for one in listed))
        if self.priors is not None:
            listed = (self.priors,) if isinstance(self.priors, Chain | Band) else tuple(self.priors)
            object.__setattr__(self, "priors", listed)
            object.__setattr__(self, "told", self.told or "given")
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))

    @property
    def private(self) -> bool:
        """Whether the prior is fitted to the private data itself."""
        mine, known = (
            {one.resolve() if isinstance(one, Path) else id(one) for one in listed}
            for listed in (self.data, self.public)
        )
        return self.priors is None and (not self.public or bool(mine & known))


@dataclass(frozen=True)
class Source:
    """Where the prior and the data come from.

    Attributes:
        prior: where the prior comes from, in words.
        data: what was read, in words and numbers.
        private: whether the prior was fitted to the private data.
        secure: whether the noise comes from the operating system's generator.
        assumptions: what is taken for granted.
        warnings: what must not be overlooked.
    """

    prior: str
    data: Mapping[str, Any]
    private: bool = False
    secure: bool = True
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record(Shown):
    """What was released, and everything about it.

    Attributes:
        made: the query with its noise.
        verdict: what was established about its privacy.
        source: where the prior and the data come from.
        released: the noisy answer; None where the privacy was not proved, and nothing was released.
        account: what the release counts in an account of several, by its quilts.
        certificate: the file with the certificate, if one was written.
        errors: for charts, the expected error of every method at several budgets.
        budgets: these budgets.
        entry: the entry of the ledger that it was paid by.
    """

    made: Calibrated
    verdict: Verdict
    source: Source
    released: Released | None = None
    account: Fraction | None = None
    certificate: str | None = None
    errors: Mapping[str, Sequence[Fraction | None]] = field(default_factory=dict)
    budgets: tuple[Fraction, ...] = ()
    entry: Entry | None = None

    @property
    def priors(self) -> tuple[Chain | Band, ...]:
        """The class of priors."""
        return tuple(prior for prior in self.made.question.priors if isinstance(prior, Chain | Band))


def release_table(request: Request, *, compare: bool = False, told: Callable[[str], None] = lambda _: None) -> Record:
    """Release a query of a table: count it, find the noise, prove that it is enough, and draw it.

    Args:
        request: what is to be released.
        compare: also compute what every method would need at several budgets.
        told: is told what is being done, where that takes long.

    >>> table = {"state": ["rest", "walk", "walk", "rest"] * 25}
    >>> import pandas
    >>> chain = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
    >>> asked = Request(data=pandas.DataFrame(table), column="state", query="count:walk", epsilon=1, priors=chain, seed=7)
    >>> record = release_table(asked)
    >>> record.verdict.status, str(record.released.value)
    ('proved', '54')
    """
    if request.gaps not in ("joined", "independent"):
        raise QuestionError("gaps", f"{request.gaps!r}", place="gaps", hint="joined, independent")
    priors, where, summary = _prepared(request, told)
    split = summary.chains > sum(summary.totals.values())
    gaps = split and request.gaps == "joined"
    if gaps:
        priors = _anywhere(priors)
    _possible(summary, priors)
    known = list(priors[0].states)
    middles = None if request.bins is None else dict(zip(request.bins.names, request.bins.middles, strict=True))
    query = parse_query(request.query, known, middles)
    lengths = list(summary.totals if gaps else summary.lengths)
    made = calibrated(
        laws_about(priors, query, None, lengths)[0],
        epsilon=request.epsilon,
        entries=summary.entries,
        gaps=gaps,
        method=request.method,  # type: ignore[arg-type]
        noise=request.noise,  # type: ignore[arg-type]
        told=told,
    )
    warnings = (
        (_FITTED, request.private),
        (_SEEDED, request.seed is not None),
        (_INDEPENDENT, split and not gaps),
        (_LITTLE, made.cost > upper(exact_epsilon(request.epsilon).ball())),
    )
    source = Source(
        prior=where,
        data=_described(request.data, summary),
        private=request.private,
        secure=request.seed is None,
        assumptions=_assumptions(summary, priors, gaps=gaps),
        warnings=tuple(text for text, holds in warnings if holds),
    )
    told(f"proving that the noise of the method {made.method} is enough")
    verdict = verify_calibrated(made)
    if verdict.status != "proved":
        return Record(made, verdict, source)
    entry = None if request.paid is None else pay(request.paid, made, verdict, seeded=request.seed is not None)
    counts = dict(zip(summary.states, summary.counts, strict=True))
    answer = noisy(made, exact_answers(query, counts), seed=request.seed)
    chains = [prior for prior in priors if isinstance(prior, Chain)]
    account = max((spent(chain, max(lengths), made.cost)[0] for chain in chains), default=None)
    errors: dict[str, tuple[Fraction | None, ...]] = {}
    if compare:
        errors = errors_by_method(
            priors, query=query, epsilons=_BUDGETS, lengths=lengths, entries=summary.entries, gaps=gaps
        )
    budgets = tuple(fraction(text) for text in _BUDGETS)
    return Record(made, verdict, source, answer, account, errors=errors, budgets=budgets, entry=entry)


def pay(paid: Paid, made: Calibrated, verdict: Verdict, *, seeded: bool) -> Entry:
    """Enter what a release costs into a ledger whose budget is under the priors of the release.

    What is entered is what one entry costs, which holds whatever the prior; the quilts of the account then say what all releases lose
    together, under its chains and for series as long as its own.  So these must be the release's chains, and no series may be longer.
    The privacy of correlated data does not add up otherwise: a budget in epsilon or rho does not take such a release.

    Raises:
        BudgetError: the budget would be exceeded; nothing was entered.
        QuestionError: the budget is not under these priors, or for shorter series.
    """
    ledger, question = paid.ledger, made.question
    known = ledger.datasets
    name = paid.dataset if paid.dataset is not None else next(iter(known)) if len(known) == 1 else None
    rule = known[name].rule if name in known else None
    longest = max(question.lengths)
    if rule is not None:
        hint = f"privproof account create OTHER.ledger --prior PRIOR --length {longest} --epsilon 4"
        said = ""
        if not isinstance(rule, QuiltRule):
            said = "a release of correlated data is paid under a prior, and this budget is not"
        elif {*question.priors} != {*rule.account.chains}:
            said = "the budget is under another prior than the release"
        elif longest > rule.account.length:
            said = f"a series has {longest} entries, and the budget is for {rule.account.length}"
        elif question.gaps and any(not isinstance(chain.start, str) for chain in rule.account.chains):
            said = "entries are missing, and the prior of the budget has a given start"
        if said:
            raise QuestionError("account", said, place=ledger.name, hint=hint)
    return ledger.spend(
        entry=made.cost,
        last=longest,
        dataset=paid.dataset,
        analyst=paid.analyst,
        note=paid.note or question.name,
        certificate=verdict.certificate,
        seeded=seeded,
    )


def _counted(
    request: Request, sources: Sequence[Any], states: Sequence[str] | None, told: Callable[[str], None]
) -> Summary:
    told(f"counting {_names(sources)}")
    with Workers(jobs=request.jobs) as workers:
        mapped = None if workers.alone else partial(map_chunks, workers)
        return summarise(_reading(request, sources, states), mapped=mapped, told=told)


def _prepared(
    request: Request, told: Callable[[str], None]
) -> tuple[tuple[Chain, ...] | tuple[Band, ...], str, Summary]:
    """The priors, where they come from, and what the private table holds."""
    if request.priors is not None:
        priors: Any = request.priors  # a tuple, since the request was made
        summary = _counted(request, request.data, priors[0].states, told)
        _agree(summary, priors[0])
        return priors, request.told, summary
    if request.public:
        public = _counted(request, request.public, request.states, told)
        prior = _fitted(request, public)
        summary = _counted(request, request.data, prior.states, told)
        _agree(summary, prior)
        return (prior,), f"fitted to {_names(request.public)} ({public})", summary  # type: ignore[return-value]
    summary = _counted(request, request.data, request.states, told)
    return (_fitted(request, summary),), "fitted to the private data itself", summary  # type: ignore[return-value]


def _reading(request: Request, sources: Sequence[Any], states: Sequence[str] | None) -> Reading:
    return Reading.of(
        list(sources),
        column=request.column,
        series=request.series,
        time=request.time,
        gap=request.gap,
        bins=request.bins,
        states=None if request.bins is not None else states,
        missing=request.missing,
        delimiter=request.delimiter,
    )


def _fitted(request: Request, summary: Summary) -> Chain | Band:
    """The chain that a table suggests, or the band; states that were found in it stand in the order of the alphabet."""
    if request.start not in ("stationary", "any"):
        raise QuestionError("start", f"{request.start!r} is no start", place="start", hint="stationary, any")
    word: Literal["stationary", "any"] = "any" if request.start == "any" else "stationary"
    order = list(range(len(summary.states)))
    if request.states is None and request.bins is None:
        order.sort(key=lambda i: summary.states[i])
    counts, states = summary.transitions[np.ix_(order, order)], [summary.states[i] for i in order]
    if request.confidence is not None:
        return Band.counted(counts, states=states, confidence=request.confidence)
    return Chain.counted(counts, states=states, smoothing=request.smoothing, initial=word, name="fitted chain")


def _agree(summary: Summary, prior: Chain | Band) -> None:
    if summary.states != prior.states:
        raise QuestionError(
            "states",
            f"the data have the states {', '.join(summary.states[:6])}, the prior {', '.join(prior.states[:6])}",
            place="bins",
            hint="the same bins for both",
        )


def _names(sources: Sequence[Any]) -> str:
    return ", ".join(str(one) if isinstance(one, Path) else stream_name(one) for one in sources)


def _described(sources: Sequence[Any], summary: Summary) -> dict[str, Any]:
    return {
        "files": _names(sources),
        "rows": summary.rows,
        "entries": summary.entries,
        "missing": summary.missing,
        "series": summary.series,
        "chains": summary.chains,
        "longest": max(summary.lengths),
    }


def _possible(summary: Summary, priors: tuple[Chain, ...] | tuple[Band, ...]) -> None:
    """Complain about data that no prior of the class allows: nothing that is said about the prior would be about them."""
    listed: tuple[Chain | Band, ...] = (*priors,)
    for number, prior in enumerate(listed):
        rows = prior.rows if isinstance(prior, Chain) else prior.high
        place = {state: i for i, state in enumerate(prior.states)}
        at = [place[state] for state in summary.states]
        seen = np.zeros((len(prior.states), len(prior.states)), dtype=np.bool_)
        seen[np.ix_(at, at)] = summary.transitions > 0
        steps = np.argwhere(seen & np.array([[p == 0 for p in row] for row in rows]))
        law = prior.law if isinstance(prior, Chain) else None
        stationary = isinstance(prior, Chain) and prior.start == "stationary"
        counted = summary.counts if stationary else summary.firsts
        never = [
            s
            for s, many in zip(summary.states, counted, strict=True)
            if many and law is not None and law[place[s]] == 0
        ]
        if not len(steps) and not never:
            return
        if number == len(listed) - 1:
            said = f"a series is in {never[0]!r}" if never else ""
            if len(steps):
                said = f"{prior.states[steps[0][0]]!r} is followed by {prior.states[steps[0][1]]!r}"
            raise ScenarioError(
                "prior", f"{said}, which is impossible under {prior}", place="prior", hint="a prior that fits the data"
            )


def _anywhere(priors: tuple[Chain, ...] | tuple[Band, ...]) -> tuple[Chain, ...] | tuple[Band, ...]:
    """Where entries are missing, chains with a given start are taken with any: what is first is not the first entry then."""
    return tuple(  # type: ignore[return-value]
        prior.starting("any") if isinstance(prior, Chain) and not isinstance(prior.start, str) else prior
        for prior in priors
    )


def _assumptions(summary: Summary, priors: tuple[Chain, ...] | tuple[Band, ...], *, gaps: bool) -> tuple[str, ...]:
    result = [f"the entries follow {'the prior' if len(priors) == 1 else 'one of the priors'}: {priors[0]}"]
    if summary.series > 1 or (summary.chains > summary.series and not gaps):
        between = " and parts of a series on both sides of a gap or a missing entry"
        split = between if not gaps and summary.chains > summary.series else ""
        result.append(f"different series{split} are independent of each other; the others may be known")
    if gaps:
        result.append("what is missing was not chosen by what it would have been")
    return (*result, "the number of entries and the lengths of the series are public")
