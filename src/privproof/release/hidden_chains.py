"""Hidden chains as priors: a Markov chain of which a series shows only a value of every state.

A chain forgets all but its last value.  What a series is drawn from often remembers more: which of several habits a person has, what
the person is doing that the series only hints at, what time of the day it is.  All of these are chains on richer states:

* a **mixture** of chains: a state is (the chain, the value), and the chain never changes;
* a **hidden Markov model**: a state is (the hidden state, the value it shows), drawn anew at every step;
* a **schedule**: a state is (the phase of the clock, the value), and the phase moves on by itself.

The entries of the series, and its secrets, are the values alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from flint import fmpq_mat

from privproof.errors import ScenarioError
from privproof.exact import ONE, ZERO, Number, Rational, rational, show
from privproof.models.finite_distributions import distinct_names, distribution
from privproof.release.markov_chains import Chain, Row


@dataclass(frozen=True)
class Hidden:
    """A chain of which only a value of every state is seen.

    Attributes:
        chain: the chain on all states.
        values: for every state the value that it shows.
        name: how reports call it.
    """

    chain: Chain
    values: tuple[str, ...]
    name: str = ""

    @classmethod
    def of(cls, chain: Chain, values: Mapping[str, str] | Sequence[str], *, name: str = "") -> Hidden:
        """A chain and the value that each of its states shows.

        >>> weather = Chain.of({"sun": {"sun": "1/2", "fog": "1/2"}, "fog": {"sun": "1/2", "rain": "1/2"}, "rain": {"sun": 1}})
        >>> Hidden.of(weather, {"sun": "dry", "fog": "dry", "rain": "wet"}).states
        ('dry', 'wet')
        """
        listed = tuple(values[state] for state in chain.states) if isinstance(values, Mapping) else tuple(values)
        if len(listed) != len(chain.states):
            raise ScenarioError(
                "values", f"{len(listed)} values for {len(chain.states)} states", place="values", hint="one for each"
            )
        if len(set(listed)) < 2:
            raise ScenarioError("states", "one value keeps no secret", place="values", hint="two or more")
        return cls(chain, listed, name or chain.name)

    @classmethod
    def mixture(cls, chains: Sequence[Chain], weights: Sequence[Number], *, name: str = "") -> Hidden:
        """One of several chains, nobody says which: each with a probability, and from then on for the whole series.

        The value of an entry also tells something about which chain it is, and so about entries far away.

        >>> calm, busy = (Chain.of({x: {"rest": p, "walk": q} for x in ("rest", "walk")}) for p, q in (("0.9", "0.1"), ("0.2", "0.8")))
        >>> Hidden.mixture([calm, busy], ["3/4", "1/4"]).chain.law
        (27/40, 3/40, 1/20, 1/5)
        """
        shares = tuple(rational(weight) for weight in weights)
        if len(shares) != len(chains) or not chains:
            raise ScenarioError("weights", f"{len(shares)} weights for {len(chains)} chains", place="weights")
        if any(share < 0 for share in shares) or sum(shares, ZERO) != 1:
            raise ScenarioError(
                "weights", f"they sum to {show(sum(shares, ZERO))}", place="weights", hint="probabilities that sum to 1"
            )
        if any({*chain.states} != {*chains[0].states} for chain in chains):
            raise ScenarioError("states", "the chains are about different states", place="chains", hint="the same ones")
        first: list[Rational] = []
        for number, (chain, share) in enumerate(zip(chains, shares, strict=True)):
            if chain.law is None:
                raise ScenarioError(
                    "start", "the start may be any", place=f"chains[{number}]", hint="a first distribution for each"
                )
            first += [share * p for p in chain.law]
        names = distinct_names(
            [f"{number}: {state}" for number, chain in enumerate(chains, 1) for state in chain.states],
            what="state",
            place="chains",
        )
        rows: list[Row] = []
        for number, chain in enumerate(chains):
            before = sum(len(each.states) for each in chains[:number])
            after = len(names) - before - len(chain.states)
            rows += [(*[ZERO] * before, *row, *[ZERO] * after) for row in chain.rows]
        values = tuple(state for chain in chains for state in chain.states)
        told = name or f"a mixture of {len(chains)} chains"
        return cls.of(Chain(names, tuple(rows), tuple(first), told), values, name=told)

    @classmethod
    def markov(
        cls,
        transitions: Mapping[str, Mapping[str, Number]],
        emissions: Mapping[str, Mapping[str, Number]],
        *,
        initial: Literal["stationary", "any"] | Mapping[str, Number] = "stationary",
        name: str = "",
    ) -> Hidden:
        """A hidden Markov model: a chain that is not seen, and for each of its states how likely it shows each value.

        >>> health = {"well": {"well": "9/10", "ill": "1/10"}, "ill": {"well": "3/10", "ill": "7/10"}}
        >>> shown = {"well": {"normal": "4/5", "fever": "1/5"}, "ill": {"normal": "1/5", "fever": "4/5"}}
        >>> Hidden.markov(health, shown).chain.law
        (3/5, 3/20, 1/20, 1/5)
        """
        behind = Chain.of(transitions, initial=initial, name=name)
        seen = tuple(dict.fromkeys(value for state in behind.states for value in emissions.get(state, {})))
        shown: dict[str, Mapping[str, Rational]] = {}
        for state in behind.states:
            given = emissions.get(state, {})
            shown[state] = distribution(
                given, among=seen, what="value", place=f"emissions.{state}", error=ScenarioError
            )
        for state in emissions:
            if state not in behind.states:
                raise ScenarioError("unknown-name", f"unknown state {state!r}", place="emissions")
        pairs = [(i, value) for i, state in enumerate(behind.states) for value in seen if shown[state].get(value, ZERO)]
        chances = [shown[behind.states[i]][value] for i, value in pairs]
        rows = tuple(tuple(behind.rows[i][j] * p for (j, _), p in zip(pairs, chances, strict=True)) for i, _ in pairs)
        names = distinct_names([f"{behind.states[i]}: {value}" for i, value in pairs], what="state", place="emissions")
        law = behind.law
        start = (
            behind.start if law is None or behind.start == "stationary" else _joint_distribution(law, pairs, chances)
        )
        told = name or f"a hidden Markov model with {len(behind.states)} states"
        return cls.of(Chain(names, rows, start, told), [value for _, value in pairs], name=told)

    @classmethod
    def schedule(
        cls,
        phases: Sequence[Chain],
        *,
        initial: Literal["stationary"] | Mapping[str, Number] = "stationary",
        first: int = 0,
        name: str = "",
    ) -> Hidden:
        """Transition matrices that follow each other round the clock: by day and by night, on every hour of the day.

        Args:
            phases: for every phase the chain whose step leads to the next entry.
            initial: the first distribution; ``"stationary"`` for the one that a whole round does not change.
            first: the phase of the first entry, from 0 on.
            name: how reports call it.

        >>> day = Chain.of({x: {"home": "1/5", "away": "4/5"} for x in ("home", "away")})
        >>> night = Chain.of({"home": {"home": 1}, "away": {"home": "1/2", "away": "1/2"}})
        >>> Hidden.schedule([day, night]).chain.law
        (3/5, 2/5, 0, 0)
        """
        if not phases or any(phase.states != phases[0].states for phase in phases):
            raise ScenarioError("states", "phases are chains about the same states", place="phases")
        if not 0 <= first < len(phases):
            raise ScenarioError("phase", f"there is no phase {first}", place="first", hint=f"0..{len(phases) - 1}")
        turned = [*phases[first:], *phases[:first]]
        states, size, rounds = phases[0].states, len(phases[0].states), len(turned)
        rows: list[Row] = []
        for number, phase in enumerate(turned):
            before = (number + 1) % rounds * size
            rows += [(*[ZERO] * before, *row, *[ZERO] * (rounds * size - before - size)) for row in phase.rows]
        law = _after_a_round(turned) if initial == "stationary" else turned[0].starting(initial).law
        assert law is not None
        names = tuple(f"{(number + first) % rounds}: {state}" for number in range(rounds) for state in states)
        told = name or f"a schedule of {rounds} phases"
        start = (*law, *[ZERO] * ((rounds - 1) * size))
        return cls.of(Chain(names, tuple(rows), start, told), states * rounds, name=told)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The values of the series."""
        return tuple(dict.fromkeys(self.values))

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return f"{self.name or 'a hidden chain'} on {len(self.chain.states)} states that show {len(self.states)} values"


def _joint_distribution(
    law: Sequence[Rational], pairs: Sequence[tuple[int, str]], chances: Sequence[Rational]
) -> tuple[Rational, ...]:
    return tuple(law[i] * chance for (i, _), chance in zip(pairs, chances, strict=True))


def _after_a_round(phases: Sequence[Chain]) -> Row:
    """The distribution that one step of every phase, in turn, does not change."""
    states = phases[0].states
    whole = fmpq_mat([[ONE if x == y else ZERO for y in range(len(states))] for x in range(len(states))])
    for phase in phases:
        whole = whole * fmpq_mat([list(row) for row in phase.rows])
    return Chain(states, tuple(map(tuple, whole.tolist()))).stationary
