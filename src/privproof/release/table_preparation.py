"""What a release of a table starts from: the prior that is given or fitted, and what the private table holds, counted in one pass.

Of series their counts and lengths are known afterwards.  Of a network every node has one row, which the column of series names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Rational, show
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers
from privproof.models.finite_distributions import known_name
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.hidden_chains import Hidden
from privproof.release.markov_chains import Band, Chain
from privproof.release.noisy_release import exact_answers
from privproof.release.release_question import Prior
from privproof.release.series_queries import Query
from privproof.release.tables.table_counting import named_values
from privproof.release.tables.table_files import ROWS_AT_ONCE, Summary, TableReading, summarise
from privproof.release.tables.table_numbers import add_up
from privproof.release.tables.table_streams import stream_name

if TYPE_CHECKING:
    from privproof.release.table_release import Request


@dataclass(frozen=True)
class Prepared:
    """What a release starts from.

    Attributes:
        priors: the class of priors.
        where: where they come from, in words.
        states: the values that a query may speak of.
        counts: how often every value occurs.
        entries: how many entries there are.
        lengths: the lengths of the series; none for a network.
        gaps: whether entries are missing inside the series, which are joined over them.
        split: whether some series have gaps.
        data: what was read, in words and numbers.
        assumptions: what is taken for granted.
        total: of real numbers, their sum.
    """

    priors: tuple[Prior, ...]
    where: str
    states: tuple[str, ...]
    counts: Mapping[str, int]
    entries: int
    lengths: tuple[int, ...]
    gaps: bool
    split: bool
    data: Mapping[str, Any]
    assumptions: tuple[str, ...]
    total: Rational | None = None

    def answers(self, query: Query) -> dict[str, Rational]:
        """The answers of a query, without noise and not divided."""
        return exact_answers(query, self.counts) if self.total is None else {query.name: query.rounded(self.total)}


def prepare(request: Request, told: Callable[[str], None]) -> Prepared:
    """Find the prior and count the private table.

    Raises:
        FormatError: the table is none, with the place.
        QuestionError: the prior and the table do not fit.
        ScenarioError: the data are impossible under the prior.
    """
    given: Any = request.priors  # a tuple, since the request was made
    if given and isinstance(given[0], Network):
        return _network(request, given, told)
    if given and isinstance(given[0], GaussianChain):
        return _numbers(request, given[0], told)
    priors, where, summary = _prepare_priors(request, told)
    split = summary.chains > sum(summary.totals.values())
    gaps = split and request.gaps == "joined"
    if gaps:
        priors = _anywhere(priors)
    _possible(summary, priors)
    return Prepared(
        priors=priors,
        where=where,
        states=priors[0].states,
        counts=dict(zip(summary.states, summary.counts, strict=True)),
        entries=summary.entries,
        lengths=tuple(summary.totals if gaps else summary.lengths),
        gaps=gaps,
        split=split,
        data=_describe_data(request.data, summary),
        assumptions=_assumptions(summary, priors, gaps=gaps),
    )


def _numbers(request: Request, prior: GaussianChain, told: Callable[[str], None]) -> Prepared:
    """Real numbers under a Gaussian chain, added up."""
    for name, given in {"bins": request.bins, "states": request.states}.items():
        if given is not None:
            raise QuestionError(name, "the prior is about real numbers", place=name, hint="drop it")
    told(f"adding up {_names(request.data)}")
    found = add_up(_table_reading(request, request.data, None), prior.values, rows=ROWS_AT_ONCE, told=told)
    split = found.chains > sum(found.totals.values())
    gaps = split and request.gaps == "joined"
    taken = prior.over_gaps() if gaps else prior
    lengths = tuple(found.totals if gaps else found.lengths)
    assumptions = _list_assumptions(taken, found.series, found.chains, gaps=gaps)
    if prior.values is not None:
        ends = f"{show(prior.values[0])}..{show(prior.values[1])}"
        assumptions = (*assumptions, f"values beyond {ends} count as its ends")
    return Prepared(
        priors=(taken,),
        where=request.told,
        states=(),
        counts={},
        entries=found.entries,
        lengths=lengths,
        gaps=gaps,
        split=split,
        data={
            "files": _names(request.data),
            "rows": found.rows,
            "entries": found.entries,
            "missing": found.missing,
            "series": found.series,
            "chains": found.chains,
            "longest": max(lengths),
        },
        assumptions=assumptions,
        total=found.total,
    )


def _network(request: Request, networks: tuple[Network, ...], told: Callable[[str], None]) -> Prepared:
    """A value for every node of the networks."""
    unused = {"time": request.time, "gap": request.gap, "bins": request.bins, "states": request.states}
    for name, given in unused.items():
        if given is not None:
            raise QuestionError(name, "a network has nodes, and no order of time or bins", place=name, hint="drop it")
    if request.series is None:
        raise QuestionError(
            "series", "which column names the nodes of the network?", place="series", hint="--series person"
        )
    told(f"reading {_names(request.data)}")
    found = named_values(_table_reading(request, request.data, None), rows=ROWS_AT_ONCE)
    nodes = {node.name: node.values for node in networks[0].nodes}
    for name in found:
        known_name(
            name, among=nodes, what="node", place=f"{_names(request.data)}: {request.series}", error=ScenarioError
        )
    for name, values in nodes.items():
        place = f"{_names(request.data)}: {name}"
        if name not in found:
            raise ScenarioError("data", f"the node {name!r} has no row", place=place, hint="one row for every node")
        known_name(found[name], among=values, what="value", place=place, error=ScenarioError)
    if not any(_likely(network, found) for network in networks):
        raise ScenarioError(
            "prior",
            f"these values are impossible under {networks[0]}",
            place="prior",
            hint="a prior that fits the data",
        )
    which = "the prior" if len(networks) == 1 else "one of the priors"
    return Prepared(
        priors=networks,
        where=request.told,
        states=tuple(dict.fromkeys(value for values in nodes.values() for value in values)),
        counts=Counter(found.values()),
        entries=len(nodes),
        lengths=(),
        gaps=False,
        split=False,
        data={"files": _names(request.data), "rows": len(found), "entries": len(nodes)},
        assumptions=(f"the entries follow {which}: {networks[0]}", "which nodes there are is public"),
    )


def _likely(network: Network, values: Mapping[str, str]) -> bool:
    """Whether the network gives the values a probability above 0."""
    return all(
        node.table[tuple(values[parent] for parent in node.parents)][node.values.index(values[node.name])] != 0
        for node in network.nodes
    )


def _count_table(
    request: Request, sources: Sequence[Any], states: Sequence[str] | None, told: Callable[[str], None]
) -> Summary:
    told(f"counting {_names(sources)}")
    with Workers(jobs=request.jobs) as workers:
        mapped = None if workers.alone else partial(map_chunks, workers)
        return summarise(_table_reading(request, sources, states), mapped=mapped, told=told)


def _prepare_priors(
    request: Request, told: Callable[[str], None]
) -> tuple[tuple[Chain | Hidden | Band, ...], str, Summary]:
    """The priors, where they come from, and what the private table holds."""
    if request.priors is not None:
        priors: Any = request.priors  # a tuple, since the request was made
        summary = _count_table(request, request.data, priors[0].states, told)
        _agree(summary, priors[0])
        return priors, request.told, summary
    if request.public:
        public = _count_table(request, request.public, request.states, told)
        prior = _fit_prior(request, public)
        summary = _count_table(request, request.data, prior.states, told)
        _agree(summary, prior)
        return (prior,), f"fitted to {_names(request.public)} ({public})", summary
    summary = _count_table(request, request.data, request.states, told)
    return (_fit_prior(request, summary),), "fitted to the private data itself", summary


def _table_reading(request: Request, sources: Sequence[Any], states: Sequence[str] | None) -> TableReading:
    return TableReading.of(
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


def _fit_prior(request: Request, summary: Summary) -> Chain | Band:
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


def _agree(summary: Summary, prior: Chain | Hidden | Band) -> None:
    if summary.states != prior.states:
        raise QuestionError(
            "states",
            f"the data have the states {', '.join(summary.states[:6])}, the prior {', '.join(prior.states[:6])}",
            place="bins",
            hint="the same bins for both",
        )


def _names(sources: Sequence[Any]) -> str:
    return ", ".join(str(one) if isinstance(one, Path) else stream_name(one) for one in sources)


def _describe_data(sources: Sequence[Any], summary: Summary) -> dict[str, Any]:
    return {
        "files": _names(sources),
        "rows": summary.rows,
        "entries": summary.entries,
        "missing": summary.missing,
        "series": summary.series,
        "chains": summary.chains,
        "longest": max(summary.lengths),
    }


def _possible(summary: Summary, priors: Sequence[Chain | Hidden | Band]) -> None:
    """Complain about data that no prior of the class allows: nothing that is said about the prior would be about them."""
    listed: tuple[Chain | Hidden | Band, ...] = (*priors,)
    for number, prior in enumerate(listed):
        if isinstance(prior, Hidden):
            if _data_are_possible(summary, prior):
                return
            if number == len(listed) - 1:
                raise ScenarioError(
                    "prior", f"the data are impossible under {prior}", place="prior", hint="a prior that fits the data"
                )
            continue
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


def _data_are_possible(summary: Summary, prior: Hidden) -> bool:
    """Whether every step of the data, and every first value, is possible by itself under a hidden chain."""
    chain = prior.chain
    steps = {
        (prior.values[x], prior.values[y]) for x, row in enumerate(chain.rows) for y, p in enumerate(row) if p != 0
    }
    law = chain.law
    firsts = {value for x, value in enumerate(prior.values) if law is None or law[x] != 0}
    counted = summary.counts if chain.start == "stationary" else summary.firsts
    seen = [(summary.states[x], summary.states[y]) for x, y in np.argwhere(summary.transitions > 0).tolist()]
    began = [state for state, many in zip(summary.states, counted, strict=True) if many]
    return all(step in steps for step in seen) and all(state in firsts for state in began)


def _anywhere(priors: Sequence[Chain | Hidden | Band]) -> tuple[Chain | Hidden | Band, ...]:
    """Where entries are missing, chains with a given start are taken with any: what is first is not the first entry then."""
    return tuple(
        prior.starting("any") if isinstance(prior, Chain) and not isinstance(prior.start, str) else prior
        for prior in priors
    )


def _assumptions(summary: Summary, priors: Sequence[Chain | Hidden | Band], *, gaps: bool) -> tuple[str, ...]:
    said = f"{'the prior' if len(priors) == 1 else 'one of the priors'}: {priors[0]}"
    return _list_assumptions(said, summary.series, summary.chains, gaps=gaps)


def _list_assumptions(prior: object, series: int, chains: int, *, gaps: bool) -> tuple[str, ...]:
    result = [f"the entries follow {prior}"]
    if series > 1 or (chains > series and not gaps):
        between = " and parts of a series on both sides of a gap or a missing entry"
        split = between if not gaps and chains > series else ""
        result.append(f"different series{split} are independent of each other; the others may be known")
    if gaps:
        result.append("what is missing was not chosen by what it would have been")
    return (*result, "the number of entries and the lengths of the series are public")
