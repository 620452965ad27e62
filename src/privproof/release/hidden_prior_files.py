"""Hidden chains as documents: a mixture, a hidden Markov model or a schedule where it is one, and otherwise the chain with its values.

A hidden chain does not remember what it was made of.  Each form is guessed from the names of its states, made anew, and written only
if that gives the very same hidden chain: so what is written is read back as it was (the chain inside takes the name
of the whole).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from privproof.errors import PrivproofError
from privproof.exact import ONE, ZERO, Rational
from privproof.release.hidden_chains import Hidden
from privproof.release.markov_chains import Chain

Guess: TypeAlias = "tuple[dict[str, Any], Hidden] | None"


def chain_document(chain: Chain) -> dict[str, Any]:
    """Transitions and start of a chain."""
    start: Any = chain.start
    if not isinstance(start, str):
        start = _row(chain.states, start)
    rows = {state: _row(chain.states, row) for state, row in zip(chain.states, chain.rows, strict=True)}
    return {"transitions": rows, "start": start}


def hidden_document(prior: Hidden) -> dict[str, Any]:
    """What a file says of a hidden chain, beside its name.

    >>> night = Chain.of({"home": {"home": 1}, "away": {"home": "1/2", "away": "1/2"}})
    >>> sorted(hidden_document(Hidden.schedule([night, night], initial={"away": 1})))
    ['schedule', 'start']
    >>> sorted(hidden_document(Hidden.of(night, {"home": "dark", "away": "light"})))
    ['start', 'transitions', 'values']
    """
    guesses: tuple[Callable[[Hidden], Guess], ...] = (_mixture, _schedule, _model)
    for guess in guesses:
        try:
            found = guess(prior)
        except PrivproofError:  # what was guessed is no mixture, no schedule, no model
            continue
        if found is not None and found[1] == prior:
            return found[0]
    values = dict(zip(prior.chain.states, prior.values, strict=True))
    return {**chain_document(prior.chain), "values": values}


def _row(states: Sequence[str], row: Sequence[Rational]) -> dict[str, str]:
    return {state: str(p) for state, p in zip(states, row, strict=True) if p != 0}


def _groups(prior: Hidden) -> list[tuple[str, list[int]]]:
    """States that follow each other and whose names differ in the value alone: what stands before it, and their numbers."""
    found: list[tuple[str, list[int]]] = []
    for number, (state, value) in enumerate(zip(prior.chain.states, prior.values, strict=True)):
        head = state.removesuffix(f": {value}")
        if found and found[-1][0] == head:
            found[-1][1].append(number)
        else:
            found.append((head, [number]))
    return found


def _mixture(prior: Hidden) -> Guess:
    law = prior.chain.start
    if isinstance(law, str):
        return None
    chains, weights, entries = [], [], []
    for _, numbers in _groups(prior):
        weight = sum((law[x] for x in numbers), ZERO)
        values = tuple(prior.values[x] for x in numbers)
        first = tuple(law[x] / weight if weight else ONE if x == numbers[0] else ZERO for x in numbers)
        chain = Chain(values, tuple(tuple(prior.chain.rows[x][y] for y in numbers) for x in numbers), first)
        chains.append(chain)
        weights.append(weight)
        entries.append({"weight": str(weight), **chain_document(chain)})
    return {"mixture": entries}, Hidden.mixture(chains, weights, name=prior.name)


def _schedule(prior: Hidden) -> Guess:
    groups, law = _groups(prior), prior.chain.start
    if isinstance(law, str):
        return None
    states = tuple(prior.values[x] for x in groups[0][1])
    phases = []
    for (_, here), (_, there) in zip(groups, [*groups[1:], groups[0]], strict=True):
        rows = tuple(tuple(prior.chain.rows[x][y] for y in there) for x in here)
        if {len(here), len(there)} != {len(states)}:
            return None
        phases.append(Chain(states, rows, "any"))
    first = {state: law[x] for state, x in zip(states, groups[0][1], strict=True)}
    document = {
        "schedule": [{"transitions": chain_document(phase)["transitions"]} for phase in phases],
        "start": {state: str(p) for state, p in first.items() if p != 0},
    }
    return document, Hidden.schedule(phases, initial=first, name=prior.name)


def _model(prior: Hidden) -> Guess:
    groups, chain = _groups(prior), prior.chain
    transitions: dict[str, dict[str, Rational]] = {}
    emissions: dict[str, dict[str, Rational]] = {}
    sources = [*chain.rows, *(() if isinstance(chain.start, str) else (chain.start,))]
    for head, numbers in groups:
        row = chain.rows[numbers[0]]
        transitions[head] = {other: total for other, there in groups if (total := sum((row[y] for y in there), ZERO))}
        into = next((each for each in sources if any(each[y] for y in numbers)), None)
        if into is None:  # a state that is never entered shows values that nothing tells
            return None
        total = sum((into[y] for y in numbers), ZERO)
        emissions[head] = {prior.values[y]: into[y] / total for y in numbers}
    start: Any = chain.start
    if not isinstance(start, str):
        totals = {head: sum((start[x] for x in numbers), ZERO) for head, numbers in groups}
        start = {head: total for head, total in totals.items() if total != 0}
    document = {
        "transitions": _texts(transitions),
        "emissions": _texts(emissions),
        "start": start if isinstance(start, str) else {head: str(p) for head, p in start.items()},
    }
    return document, Hidden.markov(transitions, emissions, initial=start, name=prior.name)


def _texts(rows: Mapping[str, Mapping[str, Rational]]) -> dict[str, dict[str, str]]:
    return {state: {other: str(p) for other, p in row.items()} for state, row in rows.items()}
