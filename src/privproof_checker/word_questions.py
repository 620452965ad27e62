"""Questions: the document under ``question`` read, checked, and given its meaning as a `System`."""

from __future__ import annotations

import re

from privproof_checker.chain_models import ChainSystem, read_emissions, read_observations, read_states, read_transitions
from privproof_checker.claims import read_claim
from privproof_checker.machines import TransducerSystem, read_machine
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.pair_scenarios import Scenario, read_scenario
from privproof_checker.plain_documents import a_distribution, a_text, an_object, names, only_members
from privproof_checker.systems import Horizon, Masses, Question, Start, System

_COMMON = ("kind", "title", "states", "scenario", "horizon", "epsilon", "delta", "pointwise")
_MEMBERS = {
    "hmm": ("observations", "transitions", "emissions"),
    "markov-chain": ("transitions", "labels"),
    "transducer": ("inputs", "outputs", "initial", "steps", "repeats", "finish", "marks", "foretold", "rate", "source"),
}
_LENGTH = re.compile(r"(up to )?([0-9]{1,9})")


def read_question(value: object, limits: Limits) -> Question:
    """The question of a certificate."""
    given = an_object(value, "question")
    kind = a_text(given.get("kind"), "question.kind")
    if kind not in _MEMBERS:
        refuse(f"{kind[:40]!r} is none of {', '.join(_MEMBERS)}", "question.kind")
    only_members(given, (*_COMMON, *_MEMBERS[kind]), "question")
    claim = read_claim(given, limits)
    states = read_states(given, limits)
    if kind == "transducer":
        initial = a_distribution(given.get("initial"), states, "state", "question.initial", limits)
        inputs = names(given.get("inputs"), "question.inputs", limits.symbols)
        marked = an_object(given.get("marks") or {}, "question.marks")
        inputs = tuple(name for name in inputs if name not in marked)
        scenario = read_scenario(
            given.get("scenario"), states=states, observations=None, inputs=inputs, initial=initial, limits=limits
        )
        machine = read_machine(given, states, scenario, limits)
        machine.grow(claim.rate)
        system: System = machine
    else:
        observations = read_observations(given, states, limits)
        scenario = read_scenario(
            given.get("scenario"), states=states, observations=observations, inputs=None, initial=None, limits=limits
        )
        emissions = read_emissions(given, states, observations, limits)
        system = ChainSystem(states, read_transitions(given, states, limits), emissions, observations, scenario, limits)
        if all(start.left == start.right for start in system.starts):
            refuse("both sides are the same, so nothing is compared", "question.scenario")
    horizon = _for_system(_horizon(given.get("horizon"), limits), system)
    starts: dict[tuple[Masses, Masses], list[Start]] = {}
    for start in system.starts:
        starts.setdefault((start.left, start.right), []).append(start)
    described = _describe_comparison(scenario, system, horizon)
    return Question(system, starts, states, horizon, claim, scenario.ending, described)


def _horizon(value: object, limits: Limits) -> Horizon:
    """An integer k: words of length k; ``up to k``: lengths 1 to k; ``unbounded``, or nothing: every length."""
    if value is None or value == "unbounded":
        return Horizon(1, None)
    match = _LENGTH.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        high = int(match[2])
        low = 1 if match[1] else high
    elif isinstance(value, int) and not isinstance(value, bool):
        low = high = value
    else:
        refuse('a horizon is an integer, "up to 3" or "unbounded"', "question.horizon")
    within(high, limits.horizon, "steps of the horizon", "question.horizon")
    if high < 1:
        refuse("a horizon is at least 1", "question.horizon")
    return Horizon(low, high)


def _for_system(horizon: Horizon, system: System) -> Horizon:
    """With ``finish`` the compared words have one length, unless they have every length."""
    if not isinstance(system, TransducerSystem) or system.finish is None:
        return horizon
    if system.open_ended:
        if horizon.high is not None:
            refuse("lists of every length are compared", "question.horizon")
        return horizon
    length = len(system.steps) + 1
    if horizon not in (Horizon(1, None), Horizon(length, length)):
        refuse(f"the mechanism ends after {length} letters", "question.horizon")
    return Horizon(length, length)


def _describe_comparison(scenario: Scenario, system: System, horizon: Horizon) -> str:
    """What is compared, in words."""
    pairs = len(system.starts)
    parts = [f"{pairs} ordered pair{'s' if pairs != 1 else ''} of initial distributions", f"words of {horizon}"]
    if isinstance(system, TransducerSystem):
        if system.open_ended:
            parts[1] = "lists of every length"
        if system.foretold is not None:
            parts[1] += f", outputs {', '.join(system.foretold)} with their indices marked"[:200]
        amount = "in any way" if scenario.relation.distance is None else f"by at most {scenario.relation.distance}"
        parts.append(
            {
                "same": "equal inputs on both sides",
                "each": f"every input may change {amount}",
                "one": f"at most one input changes {amount}",
                "monotone": f"inputs change in one direction {amount}",
                "add-remove": "one input is added or removed",
                "pairs": f"{len(scenario.relation.listed)} ordered pairs of input sequences",
            }[scenario.relation.kind]
        )
    if scenario.only is not None or any(pair.only is not None for pair in scenario.pairs):
        parts.append("words restricted by a regular expression")
    if scenario.without:
        parts.append(f"words without {', '.join(scenario.without)}"[:200])
    if scenario.ending != "any":
        parts.append({"complete": "complete runs only", "visible": "halting is visible"}[scenario.ending])
    return ", ".join(parts)
