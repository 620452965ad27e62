"""Stream automata, as their certificates state them, and what a checker must know before it believes a word about them.

One step reads an input (or nothing), draws samples, each ``reads * input + mean`` plus Laplace noise of the given rate
(no noise without a rate), and takes the transition whose guard holds; it writes a symbol and numbers, and replaces
thresholds by samples.  If no guard holds the run halts; events are about runs that have not halted.  The model contains
the automata of Chadha, Sistla and Viswanathan ("On Linear Time Decidability of Differential Privacy for Programs with
Unbounded Inputs", 2021).

What is verified here for every state that a path reaches:

* samples that two of its transitions compare are the same numbers;
* a threshold is stored before it is looked at, on every path;
* its guards exclude each other.  Guards that hold together only where terms tie exclude each other almost surely if the
  terms have independent noise.  Where they may have none, or the same noise, the state is *tied*: a proof refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import Epsilon, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_flag,
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    names,
    only_members,
    require_name,
    text,
)
from privproof_checker.streams.automaton_steps import (
    NOTHING_STORED,
    AutomatonStep,
    Origins,
    SampleLaw,
    StepForm,
    Transition,
    live_thresholds,
)
from privproof_checker.streams.order_systems import Conflict, Different, Term, conflict

RELATIONS = ("each", "one", "monotone")
_QUESTION = ("kind", "title", "states", "initial", "transitions", "relation", "within", "epsilon", "delta", "source")
_TRANSITION = ("from", "to", "samples", "guard", "some", "stores", "symbol", "values")


@dataclass(frozen=True, eq=False)
class Automaton:
    """The question: an automaton, which inputs are neighbours, and the claim.

    Attributes:
        leaving: the transitions of each state, by number.
        origins: where thresholds come from, for each state that a path reaches.
        tied: the states whose guards may hold together where terms tie.
    """

    states: tuple[str, ...]
    initial: int
    transitions: tuple[Transition, ...]
    leaving: tuple[tuple[int, ...], ...]
    origins: dict[int, Origins]
    tied: frozenset[int]
    relation: str
    within: Rational
    epsilon: Epsilon
    delta: Rational

    def without_ties(self) -> None:
        """Refuse if the guards of a state may hold together."""
        for state in self.tied:
            refuse("the guards of a state hold together where terms without noise of their own tie", self.place(state))

    def origins_at(self, state: int) -> Origins:
        """Where thresholds come from in a state; in one that no path reaches, nothing is said about them."""
        return self.origins.get(state, NOTHING_STORED)

    def place(self, state: int) -> str:
        """How to name a state in a refusal."""
        return f"question.states.{self.states[state][:60]}"

    @property
    def neighbours(self) -> str:
        """The relation in words."""
        scope = {"each": "each of them", "one": "one of them", "monotone": "each of them in one direction"}
        return f"inputs that differ in {scope[self.relation]} by at most {text(self.within)}"


def read_automaton(asked: dict[str, object], limits: Limits) -> Automaton:
    """The automaton of a question."""
    only_members(asked, _QUESTION, "question")
    a_text_or_null(asked.get("title"), "question.title")
    states = names(asked.get("states"), "question.states", limits.nodes)
    number = {name: i for i, name in enumerate(states)}
    initial = number[
        require_name(a_text(asked.get("initial"), "question.initial"), number, "state", "question.initial")
    ]
    listed = a_list(asked.get("transitions"), "question.transitions")
    within(len(listed), limits.nodes, "transitions", "question.transitions")
    steps: dict[str, AutomatonStep] = {}
    forms: dict[object, StepForm] = {}
    transitions = []
    leaving: list[list[int]] = [[] for _ in states]
    for i, item in enumerate(listed):
        place = f"question.transitions[{i}]"
        given = an_object(item, place)
        only_members(given, _TRANSITION, place)
        source, target = (a_text(given.get(end), f"{place}.{end}") for end in ("from", "to"))
        if source not in number or target not in number:
            refuse(f"unknown state {(target if source in number else source)[:60]!r}", place)
        # The text tells 1 from true and from "1", so equal texts mean equal steps.
        key = repr([given.get(name) for name in _TRANSITION[2:6]] + [given.get("values")])
        if key not in steps:
            steps[key] = _step(given, forms, place, limits)
        leaving[number[source]].append(i)
        symbol = a_text(given.get("symbol"), f"{place}.symbol")
        transitions.append(Transition(number[source], number[target], steps[key], symbol))
    relation = a_text(asked.get("relation"), "question.relation")
    require_name(relation, RELATIONS, "relation", "question.relation")
    distance = a_number(asked.get("within"), "question.within", limits)
    if distance <= 0:
        refuse(f"within = {text(distance)} is not positive", "question.within")
    delta = a_number(asked.get("delta", 0), "question.delta", limits)
    if not 0 <= delta <= 1:
        refuse(f"delta = {text(delta)} is outside [0, 1]", "question.delta")
    claimed = read_epsilon(asked.get("epsilon"), "question.epsilon", limits)
    origins = _origins(initial, transitions, leaving)
    tied = _exclusive(states, transitions, leaving, origins)
    return Automaton(
        states=states,
        initial=initial,
        transitions=tuple(transitions),
        leaving=tuple(map(tuple, leaving)),
        origins=origins,
        tied=tied,
        relation=relation,
        within=distance,
        epsilon=claimed,
        delta=delta,
    )


def _step(given: dict[str, object], forms: dict[object, StepForm], place: str, limits: Limits) -> AutomatonStep:
    samples = []
    for i, item in enumerate(a_list(given.get("samples"), f"{place}.samples")):
        here = f"{place}.samples[{i}]"
        rate, reads, mean = _three(item, here)
        speed = None if rate is None else a_number(rate, here, limits)
        if speed is not None and speed <= 0:
            refuse(f"the rate {text(speed)} is not positive", here)
        if an_integer(reads, here) not in (-1, 0, 1):
            refuse("a sample reads -1, 0 or 1 times the input", here)
        samples.append(SampleLaw(speed, an_integer(reads, here), a_number(mean, here, limits)))

    def triples(name: str) -> list[tuple[Term, Term, Rational]]:
        result = []
        for i, item in enumerate(a_list(given.get(name), f"{place}.{name}")):
            here = f"{place}.{name}[{i}]"
            one, two, number = _three(item, here)
            result.append(
                (_term(one, len(samples), here), _term(two, len(samples), here), a_number(number, here, limits))
            )
        return result

    guard = tuple(triples("guard"))
    some = a_flag(given.get("some", False), f"{place}.some")
    if some and not guard:
        refuse("one of no orders must hold, which never happens", f"{place}.some")
    stores = {}
    for name, sample in an_object(given.get("stores"), f"{place}.stores").items():
        if name == "" or not 0 <= an_integer(sample, f"{place}.stores") < len(samples):
            refuse(f"the threshold {name[:60]!r} stores no sample of the step", f"{place}.stores")
        stores[name] = an_integer(sample, f"{place}.stores")
    values = tuple(triples("values"))
    laws = tuple((sample.rate, sample.reads) for sample in samples)
    links = (*((low, high, False) for low, high, _ in guard), *((plus, minus, True) for plus, minus, _ in values))
    form = forms.setdefault((laws, links, tuple(stores.items())), StepForm(laws, links, stores))
    return AutomatonStep(tuple(samples), guard, some and len(guard) > 1, stores, values, form)


def _three(item: object, place: str) -> list[object]:
    listed = a_list(item, place)
    if len(listed) != 3:
        refuse(f"expected three entries, found {len(listed)}", place)
    return listed


def _term(item: object, samples: int, place: str) -> Term:
    if item is None:
        return None
    if isinstance(item, str):
        return item if item else refuse("the name of a threshold is empty", place)
    number = an_integer(item, place)
    if not 0 <= number < samples:
        refuse(f"there is no sample {number} in this step", place)
    return number


def _origins(initial: int, transitions: Sequence[Transition], leaving: Sequence[Sequence[int]]) -> dict[int, Origins]:
    """Where the thresholds come from in each state that a path reaches; refuses a threshold looked at too early."""
    live = live_thresholds(transitions)
    found = {initial: NOTHING_STORED}
    waiting = [initial]
    queued = {initial}
    while waiting:
        state = waiting.pop()
        queued.discard(state)
        here = found[state]
        for i in leaving[state]:
            step, target = transitions[i].step, transitions[i].target
            there = here.after(step, live[target])
            before = found.get(target)
            if before is not None and there != before:
                there = before.both(there)
            if there != before:
                found[target] = there
                if target not in queued:
                    queued.add(target)
                    waiting.append(target)
    for state, origins in found.items():
        for i in leaving[state]:
            missing = transitions[i].step.looked - origins.stored
            if missing:
                name = min(missing)[:60]
                refuse(f"the threshold {name!r} may not have been stored yet", f"question.transitions[{i}]")
    return found


def _exclusive(
    states: Sequence[str],
    transitions: Sequence[Transition],
    leaving: Sequence[Sequence[int]],
    origins: dict[int, Origins],
) -> frozenset[int]:
    """Refuse guards of one state that may hold together; the states where they do if terms tie."""
    tied = set()
    compared: dict[tuple[AutomatonStep, AutomatonStep, Origins], Conflict] = {}
    for state, here in origins.items():
        if len(leaving[state]) < 2:
            continue
        steps = [transitions[i].step for i in leaving[state]]
        for (i, one), (j, two) in combinations(zip(leaving[state], steps, strict=True), 2):
            key = (one, two, here)
            if key not in compared:
                samples, other = _together(one, two)
                compared[key] = _apart(one, two, other, here.different(samples))
            if compared[key] is Conflict.NONE:
                refuse(f"this guard and that of transition {i} do not exclude each other", f"question.transitions[{j}]")
            if compared[key] is Conflict.TIES:
                tied.add(state)
    return frozenset(tied)


def _together(one: AutomatonStep, two: AutomatonStep) -> tuple[tuple[SampleLaw, ...], frozenset[int]]:
    """The samples of two steps of one state, and those of which the two have different ones."""
    longer = one.samples if len(one.samples) >= len(two.samples) else two.samples
    shared = range(min(len(one.samples), len(two.samples)))
    return longer, frozenset(i for i in shared if one.samples[i] != two.samples[i])


def _apart(one: AutomatonStep, two: AutomatonStep, other: frozenset[int], different: Different) -> Conflict:
    """Whether two guards exclude each other, even without orders on samples that the two do not share.

    Of a guard with alternatives, every one must.
    """

    def same(step: AutomatonStep) -> tuple[tuple[Term, Term, Rational], ...]:
        return tuple(order for order in step.guard if order[0] not in other and order[1] not in other)

    parts = [
        [(order,) if order in same(step) else () for order in step.guard] if step.some else [same(step)]
        for step in (one, two)
    ]
    least = Conflict.ALWAYS
    for first, second in product(*parts):
        opposite = {(low, high): offset for low, high, offset in second}
        if any(
            (high, low) in opposite
            and (offset + opposite[high, low] > 0 or (offset + opposite[high, low] == 0 and different(low, high)))
            for low, high, offset in first
        ):
            continue
        found = conflict((*first, *second), different)
        least = min(least, found, key=lambda each: each.value)
    return least
