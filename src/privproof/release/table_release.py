"""From a table to a release: read the data in one pass, calibrate, verify, draw the noise, and keep a record of everything assumed.

Nothing is released unless its privacy was proved and the independent checker accepted the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from privproof.drawing.showing import ShownCard
from privproof.errors import QuestionError
from privproof.evidence import Verdict
from privproof.exact import Budget, EpsilonLike, Number, fraction
from privproof.exact import epsilon as exact_epsilon
from privproof.exact.measures import Orders
from privproof.release.calibration import Calibrated, calibrate_known, claimed_budget, laws_about
from privproof.release.divergence_calibration import less_than_alone
from privproof.release.error_comparison import errors_by_method
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.influence_costs import upper
from privproof.release.ledger import Entry, Ledger
from privproof.release.ledger import Quilts as QuiltRule
from privproof.release.markov_chains import Chain
from privproof.release.markov_quilts import spent
from privproof.release.noisy_release import Released, noisy
from privproof.release.release_question import Gaussian, Prior
from privproof.release.release_verification import verify_calibrated
from privproof.release.row_selection import parse_selection
from privproof.release.series_queries import histogram, parse_linear, parse_query
from privproof.release.table_preparation import prepare
from privproof.release.tables.table_cells import Bins

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
_LITTLE_DIVERGENCE = (
    "WARNING: under this prior less noise is enough than independent entries would need. Whoever believes another prior may "
    "learn more than was claimed."
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
        query: the query as a text, see `parse_query`, or a selection, see `parse_selection`; of real numbers, see `parse_linear`.
        epsilon: the budget.
        rho: instead of epsilon: all Rényi divergences are to be at most rho times their order.
        renyi: instead of epsilon: bounds on Rényi divergences by order.
        priors: the class of priors, where it is given; otherwise a chain is fitted.
        told: how the priors are called in the record.
        public: a public table that the prior is fitted to; none for the private one.
        start: the first value of a fitted chain.
        smoothing: what is added to every count of a fitted chain.
        confidence: instead of one fitted chain, all chains that the public table does not speak against at this confidence.
        series: the column that tells series apart; of a network, the column that names its nodes.
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
        delta: with Gaussian noise, the second part of the budget.
        seed: a seed for the noise, for tests.
        jobs: how many processes count files, and parts of Parquet files.
        paid: where what the release costs is entered before its noise is drawn.
    """

    data: Any
    column: str
    query: str
    epsilon: EpsilonLike | None = None
    rho: EpsilonLike | None = None
    renyi: Orders | None = None
    priors: Prior | Sequence[Prior] | None = None
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
    delta: Number = 0
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
            listed = (self.priors,) if isinstance(self.priors, Prior) else tuple(self.priors)
            object.__setattr__(self, "priors", listed)
            object.__setattr__(self, "told", self.told or "given")
        if self.epsilon is not None:
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
class ReleaseSource:
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
class Record(ShownCard):
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
        selection: what was asked to be read off the noisy histogram, in words.
        selected: what was read off: states by their rank, or by the share of a quantile.
    """

    made: Calibrated
    verdict: Verdict
    source: ReleaseSource
    released: Released | None = None
    account: Fraction | None = None
    certificate: str | None = None
    errors: Mapping[str, Sequence[Fraction | None]] = field(default_factory=dict)
    budgets: tuple[Fraction, ...] = ()
    entry: Entry | None = None
    selection: str = ""
    selected: Mapping[str, str] = field(default_factory=dict)

    @property
    def priors(self) -> tuple[Prior, ...]:
        """The class of priors."""
        return self.made.question.priors


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
    given: Any = request.priors  # a tuple, since the request was made
    real = given is not None and isinstance(given[0], GaussianChain)
    selection = None if real else parse_selection(request.query)
    found = prepare(request, told)
    middles = None if request.bins is None else dict(zip(request.bins.names, request.bins.middles, strict=True))
    if real:
        query = parse_linear(request.query)
    elif selection is None:
        query = parse_query(request.query, list(found.states), middles)
    else:
        listed = any(given is not None for given in (request.priors, request.states, request.bins))
        query = histogram(selection.ordered(found.states, listed=listed))
    budget = claimed_budget(request.epsilon, request.delta, request.rho, request.renyi)
    made = calibrate_known(
        laws_about(found.priors, query, None, found.lengths)[0],
        budget=budget,
        entries=found.entries,
        gaps=found.gaps and not real,
        method=request.method,  # type: ignore[arg-type]
        noise=request.noise,  # type: ignore[arg-type]
        told=told,
    )
    cost = None if isinstance(made.noise, Gaussian) else made.cost
    warnings = (
        (_FITTED, request.private),
        (_SEEDED, request.seed is not None),
        (_INDEPENDENT, found.split and not found.gaps),
        (_LITTLE, cost is not None and isinstance(budget, Budget) and cost > upper(budget.epsilon.ball())),
        (_LITTLE_DIVERGENCE, isinstance(budget, tuple) and not real and less_than_alone(made.question, budget)),
        (_LITTLE_DIVERGENCE, made.method == "own"),
    )
    source = ReleaseSource(
        prior=found.where,
        data=found.data,
        private=request.private,
        secure=request.seed is None,
        assumptions=found.assumptions,
        warnings=tuple(text for text, holds in warnings if holds),
    )
    told(f"proving that the noise of the method {made.method} is enough")
    verdict = verify_calibrated(made)
    if verdict.status != "proved":
        return Record(made, verdict, source)
    paid, name = request.paid, "" if selection is None else selection.name
    if paid is not None and name:
        paid = replace(paid, note=paid.note or f"{name}, of a noisy histogram")
    entry = None if paid is None else pay(paid, made, verdict, seeded=request.seed is not None)
    answer = noisy(made, found.answers(made.question.query), seed=request.seed)
    chains = [prior for prior in found.priors if isinstance(prior, Chain) and cost is not None]
    account = max((spent(chain, max(found.lengths), made.cost)[0] for chain in chains), default=None)
    errors: dict[str, tuple[Fraction | None, ...]] = {}
    if compare and cost is not None and isinstance(budget, Budget) and not real:
        errors = errors_by_method(
            found.priors, query=query, epsilons=_BUDGETS, lengths=found.lengths, entries=found.entries, gaps=found.gaps
        )
    budgets = tuple(fraction(text) for text in _BUDGETS)
    return Record(
        made,
        verdict,
        source,
        answer,
        account,
        errors=errors,
        budgets=budgets,
        entry=entry,
        selection=name,
        selected={} if selection is None else selection.read(answer),
    )


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
    gaussian = isinstance(made.noise, Gaussian)
    return ledger.spend(
        entry=None if gaussian else made.cost,
        squared=made.squared if gaussian else None,
        last=longest,
        dataset=paid.dataset,
        analyst=paid.analyst,
        note=paid.note or question.name,
        certificate=verdict.certificate,
        seeded=seeded,
    )
