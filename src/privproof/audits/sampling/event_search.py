"""Searching: which two data sets, and which event, tell a mechanism's inputs apart best.

First every proposed pair gets a few runs: the patterns of its adjacency at every length, and some pairs by chance.  The better half gets
more runs; from the best ones the search climbs: a value, a difference or a public number is changed, and what is better stays.  Of the
runs of a pair one half proposes events (`sampling.learning`) and the other half counts them, so that an event is not chosen for its luck.
Pairs are compared by what they *promise* for the test (`sampling.aims`), so that one with few runs has a fair chance against one with many;
at last the best race against each other with fresh counts of events that stay.

Everything here only proposes.  A bound comes from fresh runs (`sampling.testing`), a verdict from exact probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from privproof.audits.sampling.adjacent_data import Adjacent, is_adjacent
from privproof.audits.sampling.confidence_intervals import promised_jointly
from privproof.audits.sampling.data_moves import draw_neighbours, mutate_neighbours
from privproof.audits.sampling.data_proposals import patterns
from privproof.audits.sampling.event_learning import Learnt, learn
from privproof.audits.sampling.event_tallies import Crew, recounts, seed_number
from privproof.audits.sampling.feature_learning import Hints, group_counts, learn_features
from privproof.audits.sampling.features import references
from privproof.audits.sampling.output_events import Event, Having, occurs
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.runnable_functions import Runnable
from privproof.audits.sampling.search_aims import (
    Aim,
    Candidate,
    Planned,
    bound_from_counts,
    promise_of,
    promised_bound,
    shows,
    worth_of,
)
from privproof.audits.sampling.smoothed_counts import ForetoldCount, foretold_unions
from privproof.audits.sampling.tradeoff_curves import EpsilonAt, Tradeoff
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.execution.workers import Parcel, Workers
from privproof.language.inputs import Input

_NEARLY = 0.98
"""A simpler pair is preferred to a better one if it is surely nearly as good."""
_PATTERNS = 60
"""Patterns of pairs that are tried first, over all lengths together."""
_BY_CHANCE = 16
"""Pairs by chance that are tried beside them."""
_SURVIVORS = 12
"""Pairs that get more runs after the first look."""
_PARENTS = 4
"""The best of these are changed a little in every climb."""
_CHILDREN = 5
"""Changes of each of them."""
_CLIMBS = 4
"""Climbs, where there are runs enough for them."""
_RACING = 4
"""Pairs that race against each other at the end, each with the best event that many runs have taught."""
_RACE = 2
"""The part of the runs by which they are compared."""
_SIMPLER = 3
"""At most two thirds of the runs goes into simpler pairs: this part on either side, over all that are tried."""
_FEWEST = 60
"""No pair is looked at with fewer runs: its counts would be chance."""
_ENOUGH = 400
"""Between these numbers of runs a pair is looked at first."""
_FIRST = 8
"""Pairs that are tried however few runs there are."""
_CLIMB = 20_000
"""So many runs in all are worth a climb."""
_LAST = 6
"""At least this part of the runs goes to each side of the best pair at the end, to choose what is tested; and all that are left."""
_ENOUGH_MORE = 1.1
"""An event that is better for something else by less than this factor is not worth a share of the confidence."""
_KEPT = 4
"""Events by features that are counted beside the others, in either direction."""
_HANDICAP = 0.02
"""An event by a feature has to win by so much: others are easier to read, and can be certified."""
_LEARNT = 2**18
"""Runs on each side that events are learnt from at most: all tails that are tried hold hundreds of them, and one process learns."""
_FIRST_LOOK = 2**17
"""Runs on each side of a pair at the first look at most: enough to tell its two directions apart, by one worker."""
_POSITIONS = 24
"""Entries of a pair that are tried to be made simpler, each with a test of its own."""


@dataclass(frozen=True)
class FoundSuspect:
    """What a search has found.

    Attributes:
        candidates: the candidates, the best first, each pair once.
        tested: for the best pair in its direction, the events to test: the best for what is looked for first, and others where they are
            better for something else.
        tried: how many pairs were tried.
        runs: how many runs were made.
        by_size: for every length tried, the largest worth.
        stopped: why it ended early; empty if it did not.
    """

    candidates: tuple[Candidate, ...]
    tested: tuple[Planned, ...]
    tried: int
    runs: int
    by_size: Mapping[int, float]
    stopped: str = ""


class EventSearch:
    """A search through the data sets of one mechanism."""

    def __init__(self, crew: Crew, aim: Aim, seeds: np.random.SeedSequence, monitor: Monitor) -> None:
        self.crew, self.subject, self.aim, self.monitor = crew, crew.subject, aim, monitor
        self.seeds = seeds
        self.test_runs = 1
        self.winner = ""
        self.generator = np.random.default_rng(seeds.spawn(1)[0])
        self.known: dict[str, Candidate] = {}
        self.tried = 0
        self.runs = 0
        self.by_size: dict[int, float] = {}

    def found(
        self,
        sizes: Sequence[int | None],
        pairs: Sequence[Adjacent],
        fixed: Mapping[str, Any],
        budget: int,
        runs: int,
    ) -> FoundSuspect:
        """The best candidates.

        Args:
            sizes: the lengths of lists and streams to try.
            pairs: the only pairs to try; without any, those that the adjacency suggests.
            fixed: the values of public inputs that are given.
            budget: how many runs may be made, about.
            runs: how many runs the test will make on each side.
        """
        stopped = ""
        self.test_runs = runs
        try:
            self._through(sizes, pairs, fixed, budget)
            best = self._ranked()
            if best and not pairs:
                best.insert(0, self._simplified(best.pop(0), budget))
            last = max(_FEWEST, budget // _LAST, (budget - self.runs) // 2)
            tested = self._tested(best[0].pair, last, runs) if best else []
        except Stopped:
            stopped = self.monitor.stopped() or "stopped"
            best = self._ranked()
            tested = [Planned(candidate, self.aim.first) for candidate in best[:1]]
        return FoundSuspect(tuple(best[:_SURVIVORS]), tuple(tested), self.tried, self.runs, self.by_size, stopped)

    def _through(
        self, sizes: Sequence[int | None], pairs: Sequence[Adjacent], fixed: Mapping[str, Any], budget: int
    ) -> None:
        fewest = max(_FEWEST, min(_ENOUGH, budget // 100))
        first = list(pairs) if pairs else self._proposed(sizes, fixed)[: max(_FIRST, budget // (8 * fewest))]
        self._evaluate(first, max(fewest, min(_FIRST_LOOK, budget // (12 * max(1, len(first))))))
        self._settle(_SURVIVORS, max(fewest, budget // (8 * _SURVIVORS)), rounds=2)
        climbs = 0 if pairs else min(_CLIMBS, budget // _CLIMB)
        for climb in range(climbs):
            self.monitor.listen(Progress(f"climbing ({climb + 1} of {climbs}), {self.tried} pairs tried"))
            self._climb(fixed, max(fewest, budget // (8 * climbs * _PARENTS * _CHILDREN)))
        self._settle(_SURVIVORS, max(fewest, budget // (8 * _SURVIVORS)), rounds=1)
        self._settle(_RACING, max(fewest, budget // (4 * _RACING)), rounds=1)
        self._race(budget // _RACE)

    def _race(self, budget: int) -> None:
        """Successive halving (Karnin, Koren and Somekh 2013): the best pairs, each with its event, get fresh runs, and half of them leave.

        The event of a pair stays, so that its counts of all rounds are added up, and none of them is for learning.
        """
        racing = [replace(candidate, left=0, right=0, runs=0) for candidate in self._best(_RACING)]
        rounds = max(1, (len(racing) - 1).bit_length())
        while len(racing) > 1:
            self.monitor.listen(Progress(f"{len(racing)} pairs are compared, {self.runs} runs"))
            each = max(_FEWEST, budget // (2 * rounds * len(racing)))
            racing = self._recounted(racing, each)
            racing = sorted(racing, key=_rank, reverse=True)[: len(racing) // 2]
            self.winner = _name(racing[0].pair)

    def _recounted(self, racing: Sequence[Candidate], runs: int) -> list[Candidate]:
        """Candidates with the counts of so many more runs each."""
        counts = self._counts([(candidate.pair, [candidate.event]) for candidate in racing], runs)
        found = []
        for c, ((left, right),) in zip(racing, counts, strict=True):
            more = replace(c, left=c.left + left, right=c.right + right, runs=c.runs + runs)
            found += self._weighed([more], self.aim.first)
            self.known[_name(c.pair)] = found[-1]
        return found

    def _counts(self, asked: Sequence[tuple[Adjacent, Sequence[Event]]], runs: int) -> list[list[tuple[int, int]]]:
        """How often events of pairs occur on both sides in so many fresh runs; workers count, and only counts come back.

        Raises:
            Stopped: the search has to stop.
        """
        counts = recounts(self.crew, asked, runs, self.seeds.spawn(1)[0], self.monitor)
        self.monitor.pause()
        self.runs += 2 * runs * len(asked)
        return [[(left, right) for left, right in each.tolist()] for each in counts]

    def _settle(self, count: int, runs: int, *, rounds: int) -> None:
        """Give more runs to the best until the best have them: what was best by luck falls back."""
        for _ in range(rounds if len(self.known) > 1 else 0):
            doubtful = [c.pair for c in self._best(count) if 4 * c.runs < runs]
            if not doubtful:
                return
            self._evaluate(doubtful, runs)

    def _proposed(self, sizes: Sequence[int | None], fixed: Mapping[str, Any]) -> list[Adjacent]:
        """Patterns and pairs by chance, every length in its turn."""
        inputs, relation = self.subject.inputs, self.subject.relation
        most = max(_SURVIVORS, _PATTERNS // len(sizes))
        rows = zip_longest(*(patterns(inputs, relation, size, fixed)[:most] for size in sizes))
        result = [pair for row in rows for pair in row if pair is not None]
        for number in range(_BY_CHANCE):
            pair = draw_neighbours(inputs, relation, sizes[number % len(sizes)], fixed, self.generator)
            result += [] if pair is None else [pair]
        return result

    def _climb(self, fixed: Mapping[str, Any], runs: int) -> None:
        children = []
        for parent in self._best(_PARENTS):
            for _ in range(_CHILDREN):
                child = mutate_neighbours(
                    parent.pair, self.subject.inputs, self.subject.relation, fixed, self.generator
                )
                children += [] if child is None else [child]
        self._evaluate(children, runs, new=True)

    def _simplified(self, candidate: Candidate, budget: int) -> Candidate:
        """A pair that is nearly as good, with values that occur elsewhere in it in the place of others.

        The winner is looked at once more with as many runs, and what would replace it twice: what is worse must be lucky three times.
        """
        inputs, relation = self.subject.inputs, self.subject.relation
        steps: list[Callable[[Adjacent], Adjacent | None]] = [partial(_nearer_zero, inputs=inputs)]
        steps += [partial(_level_list, name=n, position=i) for n, i in _positions(candidate.pair)[:_POSITIONS]]
        runs = max(_FEWEST, min(2 * candidate.runs, budget // (_SIMPLER * len(steps))))
        (again,) = self._candidates([candidate.pair], runs)
        goal = _NEARLY * max(candidate.worth, again.worth)
        while steps:
            tried = [step(candidate.pair) for step in steps]
            chosen = [n for n, pair in enumerate(tried) if pair is not None and is_adjacent(pair, inputs, relation)]
            pairs = [pair for n in chosen if (pair := tried[n]) is not None]
            better = next(
                (
                    (n, found)
                    for n, found in zip(chosen, self._candidates(pairs, runs), strict=False)
                    if found.worth >= goal
                ),
                None,
            )
            if better is None:
                break
            steps = steps[better[0] + 1 :]
            (again,) = self._candidates([better[1].pair], runs)
            candidate = again if again.worth >= goal else candidate
        return candidate

    def _best(self, count: int) -> list[Candidate]:
        """The best candidates so far; what is worth nothing counts by its estimate."""
        return sorted(self.known.values(), key=_rank, reverse=True)[:count]

    def _ranked(self) -> list[Candidate]:
        """All candidates, the best first: the winner of the race, and the others by their worth."""
        return sorted(self._best(len(self.known)), key=lambda candidate: _name(candidate.pair) != self.winner)

    def _evaluate(self, pairs: Iterable[Adjacent], runs: int, *, new: bool = False) -> None:
        """Give so many runs on each side to every pair; what was known with more runs stays."""
        left: dict[str, Adjacent] = {}
        for pair in pairs:
            before = self.known.get(_name(pair))
            if before is None or not (new or before.runs * 2 >= runs):
                left.setdefault(_name(pair), pair)
        for (name, pair), candidate in zip(left.items(), self._candidates(list(left.values()), runs), strict=True):
            self.tried += name not in self.known
            self.known[name] = candidate
            size = pair.size
            if size is not None:
                sure = worth_of(self.aim.first, candidate.runs)(np.array([candidate.left]), np.array([candidate.right]))
                self.by_size[size] = max(self.by_size.get(size, 0.0), float(sure[0]))
            self.monitor.listen(Progress(f"{self.tried} pairs tried, {self.runs} runs"))

    def _candidates(self, pairs: Sequence[Adjacent], runs: int) -> Iterator[Candidate]:
        """The best event of every pair, in the order of the pairs; the same as if one was looked at after the other.

        Raises:
            Stopped: the search has to stop.
        """
        evaluations = [
            _PairEvaluation(self.aim, pair, runs, self.test_runs, _advance_seeds(self.seeds, 2 * n))
            for n, pair in enumerate(pairs)
        ]
        found = self.crew.each(_evaluate_pair, evaluations, self.monitor)
        for _ in pairs:
            candidate = next(found, None)
            if candidate is None:
                self.monitor.pause()
                raise Stopped("stopped")
            self.seeds = _advance_seeds(self.seeds, 2)
            self.runs += 2 * runs
            yield candidate

    def _drawn(self, pair: Adjacent, runs: int) -> tuple[Samples, Samples]:
        one, other = (seed_number(s) for s in self.seeds.spawn(2))
        self.runs += 2 * runs
        left, right = self.crew.samples([(pair.left, one), (pair.right, other)], runs)
        return left, right

    def _candidate(self, pair: Adjacent, runs: int) -> Candidate:
        """The best event of a pair, in the better direction."""
        events = self._events_of(pair, self._drawn(pair, runs), self.aim.first)
        return max(events, key=_rank)

    def _events_of(self, pair: Adjacent, sides: tuple[Samples, Samples], tradeoff: Tradeoff) -> list[Candidate]:
        """Events of a pair in both directions, learnt on one half of the runs and counted on the other."""
        runs = len(sides[0])
        half = min(runs // 2, _LEARNT)
        for side in sides:
            _ = side.places, side.sheets, side.items  # both halves have the same table
        learning, counting = ([side.part(*ends) for side in sides] for ends in ((0, half), (half, runs)))
        outputs = tuple({repr(o): o for side in sides for o in side.outputs}.values())
        result: list[Candidate] = []
        proposed = self._proposals(pair, learning, learn(*learning), tradeoff)
        for events, ordered, turn in zip(proposed, (pair, Adjacent(pair.right, pair.left)), (1, -1), strict=True):
            foretold = self._foretold(ordered, learning[::turn], self.test_runs)
            one, other = counting[::turn]
            events = [*events, *(each.event for each in foretold)]
            counts = [(int(occurs(event, one).sum()), int(occurs(event, other).sum())) for event in events]
            result += self._counted(ordered, events, counts, runs - half, tradeoff, outputs, foretold)
        return result

    def _counted(
        self,
        pair: Adjacent,
        events: Sequence[Event],
        counts: Sequence[tuple[int, int]],
        runs: int,
        tradeoff: Tradeoff,
        outputs: tuple[Any, ...] = (),
        foretold: Sequence[ForetoldCount] = (),
    ) -> list[Candidate]:
        """Events of a pair, of which a model foretells the last ones, with what they promise."""
        models = [*[None] * (len(events) - len(foretold)), *foretold]
        found = [
            Candidate(pair, event, *count, runs, 0.0, outputs, model)
            for event, count, model in zip(events, counts, models, strict=True)
        ]
        return self._weighed(found, tradeoff)

    def _weighed(self, candidates: Sequence[Candidate], tradeoff: Tradeoff) -> list[Candidate]:
        """Candidates with what their counts promise now."""
        if not candidates:
            return []
        promise = promise_of(tradeoff, candidates[0].runs, self.test_runs)
        promises = promise(*(np.array([getattr(c, side) for c in candidates]) for side in ("left", "right"))).tolist()
        return [
            replace(c, worth=max(worth, promised_bound(c, tradeoff, self.test_runs)) - _handicap(c.event))
            for c, worth in zip(candidates, promises, strict=True)
        ]

    def _proposals(
        self,
        pair: Adjacent,
        sides: Sequence[Samples],
        known: Learnt,
        tradeoff: Tradeoff,
        directions: Sequence[bool] = (False, True),
    ) -> list[list[Event]]:
        """For every direction the events that seem likelier on the left, or turned on the right."""
        hints = _hints(pair, floats=self.subject.mechanism is None)
        features = learn_features(sides[0], sides[1], hints, lambda n: worth_of(tradeoff, n), keep=_KEPT)
        score = worth_of(tradeoff, len(sides[0]))
        return [[p.event for p in (*known.best(score, turned=turned), *features[turned])] for turned in directions]

    def _tested(self, pair: Adjacent, searched: int, runs: int) -> list[Planned]:
        """The events of the best pair that are to be tested: the one that promises most, and others that are better for something else."""
        learning = min(searched // 2, _LEARNT)
        drawn = self._drawn(pair, learning)
        known = learn(*drawn)
        first, *others = dict.fromkeys((self.aim.first, *self.aim.claim, *self.aim.curve))
        tradeoffs = [first, *(each for each in others if shows(each, searched))]
        proposed = [self._proposals(pair, drawn, known, tradeoff, [False])[0] for tradeoff in tradeoffs]
        foretold = self._foretold(pair, drawn, runs)
        proposed[0] += [each.event for each in foretold]
        (counts,) = self._counts([(pair, [event for events in proposed for event in events])], searched - learning)
        result: list[Planned] = []
        for tradeoff, events in zip(tradeoffs, proposed, strict=True):
            found = self._counted(pair, events, counts[: len(events)], searched - learning, tradeoff, (), foretold)
            foretold = []
            counts = counts[len(events) :]
            listed = [*found, *(planned.candidate for planned in result)]
            promises = self._promises(listed, tradeoff, runs)
            best = max(range(len(found)), key=promises.__getitem__, default=None)
            enough = max((promise for promise, *_ in promises[len(found) :]), default=0.0)
            if best is not None and (not result or promises[best][0] > _ENOUGH_MORE * enough):
                result.append(Planned(found[best], tradeoff))
        return result

    def _foretold(self, pair: Adjacent, sides: Sequence[Samples], runs: int) -> list[ForetoldCount]:
        """Events whose probabilities a model of all outputs foretells: the best of them, by what they promise for so many runs."""
        tradeoff = self.aim.first
        if not isinstance(tradeoff, EpsilonAt):
            return []
        features = group_counts([*sides[0].outputs, *sides[1].outputs], _hints(pair, floats=False).groups)
        found = [
            (promised_jointly(each.left, len(sides[0]), each.right, each.occurrences, runs, tradeoff.delta), each)
            for feature in features
            for each in foretold_unions(feature, *sides)
        ]
        return [each for _, each in sorted(found, key=lambda each: -each[0])[:_KEPT]]

    def _promises(self, listed: Sequence[Candidate], tradeoff: Tradeoff, runs: int) -> list[tuple[float, ...]]:
        """By what the events of one pair are ranked."""
        if not listed:
            return []
        left, right = ([getattr(c, side) for c in listed] for side in ("left", "right"))
        promises = bound_from_counts(tradeoff, left, right, listed[0].runs, runs).tolist()
        return [
            (max(promise, promised_bound(c, tradeoff, runs)) - _handicap(c.event), c.worth, min(c.estimate, 1e9))
            for c, promise in zip(listed, promises, strict=True)
        ]


def _handicap(event: Event) -> float:
    return _HANDICAP if isinstance(event, Having) else 0.0


def _hints(pair: Adjacent, *, floats: bool) -> Hints:
    """What a pair suggests about features of outputs; floats that only stand for real numbers have no features."""
    groups: dict[str, list[int]] = {}
    for name, position in _positions(pair):
        groups.setdefault(repr((name, pair.left[name][position], pair.right[name][position])), []).append(position)
    found = tuple(references(dict(pair.left), dict(pair.right))) if floats else None
    return Hints(found, tuple(map(tuple, groups.values())))


def _positions(pair: Adjacent) -> list[tuple[str, int]]:
    """The places of the lists in a pair, where both sides have one length."""
    return [
        (name, position)
        for name, left in pair.left.items()
        if isinstance(left, list) and len(left) == len(pair.right[name])
        for position in range(len(left))
    ]


def _nearer_zero(pair: Adjacent, inputs: Mapping[str, Input]) -> Adjacent | None:
    """The pair with all its private numbers moved together, so that the least of them is zero."""
    private = [name for name in pair.left if name in inputs and not inputs[name].public]
    found = [x for side in (pair.left, pair.right) for name in private for x in _as_list(side[name])]
    if any(isinstance(x, bool) or not isinstance(x, int | Fraction) for x in found) or not found or min(found) == 0:
        return None
    least = min(found)

    def moved(value: Any) -> Any:
        return [x - least for x in value] if isinstance(value, list) else value - least

    sides = ({n: moved(v) if n in private else v for n, v in side.items()} for side in (pair.left, pair.right))
    return Adjacent(*sides)


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _level_list(pair: Adjacent, name: str, position: int) -> Adjacent | None:
    """The pair with what is most frequent in a list at one of its places; None where it stands there already."""
    columns = list(zip(pair.left[name], pair.right[name], strict=True))
    often = max(columns, key=lambda column: (columns.count(column), -columns.index(column)))
    if columns[position] == often:
        return None
    columns[position] = often
    sides = (list(side) for side in zip(*columns, strict=True))
    left, right = ({**given, name: values} for given, values in zip((pair.left, pair.right), sides, strict=True))
    return Adjacent(left, right)


def _rank(candidate: Candidate) -> tuple[float, float]:
    """By what candidates are compared; what is worth nothing counts by its estimate."""
    return candidate.worth, min(candidate.estimate, 1e9)


def _name(pair: Adjacent) -> str:
    """Something that tells pairs apart, whichever comes first."""
    return " | ".join(sorted((repr(dict(pair.left)), repr(dict(pair.right)))))


@dataclass(frozen=True)
class _PairEvaluation:
    """What is looked for in a pair, by how many runs, for a test of how many, and where the seeds come from."""

    aim: Aim
    pair: Adjacent
    runs: int
    test_runs: int
    seeds: np.random.SeedSequence


def _evaluate_pair(parcel: Parcel[Runnable], asked: _PairEvaluation) -> Candidate:
    """The best event of a pair, in the better direction."""
    crew = Crew(parcel.open(), Workers(), parcel)
    search = EventSearch(crew, asked.aim, np.random.SeedSequence(0), Monitor())
    search.seeds, search.test_runs = asked.seeds, asked.test_runs
    return search._candidate(asked.pair, asked.runs)


def _advance_seeds(seeds: np.random.SeedSequence, count: int) -> np.random.SeedSequence:
    """The same sequence after so many others were made of it."""
    return np.random.SeedSequence(
        seeds.entropy,
        spawn_key=seeds.spawn_key,
        pool_size=seeds.pool_size,
        n_children_spawned=seeds.n_children_spawned + count,
    )
