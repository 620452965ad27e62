"""The argument of an accepted certificate, as one would tell it: what was established, by which rule, and why the verdict follows.

>>> from privproof_checker import recheck
>>> outcome = recheck({"format": "privproof-certificate/2",
...     "question": {"kind": "hmm", "states": ["yes", "no"], "observations": ["Y", "N"],
...         "emissions": {"yes": {"Y": "3/4", "N": "1/4"}, "no": {"Y": "1/4", "N": "3/4"}},
...         "scenario": {"pairs": [{"left": {"yes": 1}, "right": {"no": 1}}]}, "horizon": 1, "epsilon": "ln(2)"},
...     "facts": [{"rule": "word", "claim": "refuted", "hint": {
...         "left": {"yes": 1}, "right": {"no": 1}, "word": [{"output": "Y"}],
...         "left_probability": "3/4", "right_probability": "1/4"}}]})
>>> for fact in argument(outcome):
...     print(fact.rule, "|", fact.claim)
word | refuted: 1 letters, P = 3/4, Q = 1/4, P/Q = 3
bounds | the smallest epsilon is at least ln(3)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

from privproof_checker.certificate_facts import Fact
from privproof_checker.outcomes import Accepted
from privproof_checker.rules import WORDS, Rule, rule_of

_LONGEST = 60
"""Numbers of more characters are cut in an argument; the certificate has them whole."""
_WIDTH = 110
"""The columns of an argument in words."""
_ARRAYS = ("logic in columns", "release")
"""Kinds of questions for which numpy may add and multiply."""
_TAKEN = "It is as good as what the compiler says of the text, which was run beside it."


@dataclass(frozen=True)
class Told:
    """One step of an argument: a fact of the certificate, several of one kind, or what follows from all.

    Attributes:
        facts: the numbers of the facts, such as ``0-5``; empty for what follows from all.
        rule: the rule's name.
        claim: what was established by it.
        why: the theorem, or where it was taken from.
        uses: the numbers of the facts that it uses.
    """

    facts: str
    rule: str
    claim: str
    why: str
    uses: str = ""


def argument(accepted: Accepted) -> tuple[Told, ...]:
    """The facts of an accepted certificate, in the order in which they rest on each other."""
    found: list[Told] = []
    users = {use: fact for fact in accepted.facts for use in fact.uses}
    for _, group in groupby(accepted.facts, lambda fact: _together(fact, users)):
        facts = list(group)
        if facts[0].rule == "linear":
            found.append(_linear(facts, users[facts[0].number]))
        elif facts[0].rule == "source":
            found += _of_source(accepted, facts[0])
        else:
            found.append(_tell_fact(accepted, facts[0], users))
    return (*found, *_of_bounds(accepted))


def _together(fact: Fact, users: Mapping[int, Fact]) -> tuple[str, int]:
    """Contradictions that one fact uses are told together."""
    return (fact.rule, users[fact.number].number if fact.rule == "linear" else fact.number)


def _numbers(numbers: Sequence[int]) -> str:
    """Numbers in few characters: ``0-5, 7``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def _linear(facts: Sequence[Fact], user: Fact) -> Told:
    lemmas = sum(len(each) for fact in facts if isinstance(each := fact.hint.get("lemmas", []), list))
    told = f"{len(facts)} conditions of fact {user.number} hold, by {lemmas} combinations of rows"
    why = "In every case some rows of the negation, times positive factors, add up to 0 > 0 or worse: it has no solution (Farkas)."
    return Told(_numbers([fact.number for fact in facts]), "linear", told, why)


def _of_source(accepted: Accepted, fact: Fact) -> Iterator[Told]:
    source = accepted.details.get("source")
    if not isinstance(source, Mapping):
        yield Told(str(fact.number), "source", "the model is that of the text", "The checker read the text.")
        return
    function = source.get("function")
    number = str(fact.number)
    for each in _texts(source.get("established")):
        why = "The checker read the text and ran it by itself."
        yield Told(number, "source", f"from the text of {function}: {each}", why)
    for each in _texts(source.get("taken")):
        yield Told(number, "taken", f"from the compiler: {each}", _TAKEN)


def _tell_fact(accepted: Accepted, fact: Fact, users: Mapping[int, Fact]) -> Told:
    """A fact in words; of the one with the evidence of the verdict, how much it was."""
    details, number, uses = accepted.details, str(fact.number), _numbers(fact.uses)
    if fact.rule == "verdict":
        why = "What holds for an epsilon holds for every larger one, and what is refuted for one is refuted for every smaller one."
        return Told(number, "verdict", _claim_text(fact, users), why, uses)
    if fact.rule == "epsilon":
        why = (
            "If P <= e^a Q for every event, its excess over e^epsilon Q is at most that of randomised response with a."
        )
        return Told(number, "epsilon", f"{_claim_text(fact, users)}: {details.get('follows')}", why, uses)
    growth = details.get("growth")
    if fact.claim == "grows" and isinstance(growth, Mapping):
        told = f"on n elements the smallest epsilon is n ln({growth.get('rate')}) + {growth.get('epsilon')}"
        why = "The cone proves it; both sides of a family of words satisfy one recurrence, so that it is attained again and again."
        return Told(number, "growth", told, why, uses)
    rule = _rule(accepted, fact)
    main = fact.claim in ("proved", "refuted") and details.get("method") == fact.rule
    said = _claim(str(fact.claim), rule, details) if main else f"{_claim_text(fact, users)}: {rule.words}"
    return Told(number, fact.rule, said, rule.theorem, uses)


def _claim_text(fact: Fact, users: Mapping[int, Fact]) -> str:
    """What a fact claims."""
    match fact.claim:
        case str():
            return fact.claim
        case {"part": number}:
            return f"part {number} of fact {users[fact.number].number} is proved"
        case {"at least": value}:
            return f"the measure is at least {_cut_text(value)}"
        case {"proved": {"epsilon": value}}:
            return f"proved with epsilon = {_cut_text(value)}"
        case {"refuted": {"epsilon": value}}:
            return f"refuted with epsilon = {_cut_text(value)}"
    return "proved of the question below"


def _rule(accepted: Accepted, fact: Fact) -> Rule:
    """The rule of a fact about the question, or about one below it."""
    kinds: list[object] = []
    waiting: list[object] = [accepted.question]
    while waiting:
        asked = waiting.pop()
        if isinstance(asked, Mapping):
            kinds.append(asked.get("kind"))
            listed = asked.get("uses")
            waiting += [asked.get("of"), *(listed if isinstance(listed, list) else ())]
    for kind in (*kinds, *WORDS):
        try:
            return rule_of(kind, fact.rule)
        except KeyError:
            continue
    raise AssertionError(fact.rule)


def _claim(verdict: str, rule: Rule, details: Mapping[str, object]) -> str:
    figures = [words.format(_cut_text(details[name])) for name, words in rule.figures if details.get(name) is not None]
    return f"{verdict}: {', '.join(figures) or rule.words}"


def _of_bounds(accepted: Accepted) -> Iterator[Told]:
    lower, upper = accepted.lower, accepted.upper
    told = []
    if lower is not None and lower.infinite:
        why = "What is refuted for an epsilon is refuted for every smaller one."
        yield Told("", "bounds", "no finite epsilon is enough", why)
        return
    if lower is not None and lower.bound != 1:
        told.append(f"at least {_cut_text(lower)}")
    if upper is not None and not upper.infinite:
        told.append(f"at most {_cut_text(upper)}")
    if told:
        exact = lower is not None and upper is not None and lower.compare(upper) == 0 and len(told) == 2
        why = (
            "Both bounds are the same, so that it is exact."
            if exact
            else "What holds for an epsilon holds for every larger one."
        )
        yield Told("", "bounds", f"the smallest epsilon is {' and '.join(told)}", why)


def argument_text(accepted: Accepted) -> str:
    """The argument as lines, each with the number of its fact before it and its reason below it."""
    lines = []
    facts = argument(accepted)
    width, first = (max(len(getattr(fact, name)) for fact in facts) for name in ("rule", "facts"))
    for fact in facts:
        head = f"  {fact.facts:>{first}}  {fact.rule:{width}}  "
        said = f"{fact.claim}; uses {fact.uses}" if fact.uses else fact.claim
        lines += wrap(said, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        lines += wrap(fact.why, _WIDTH, initial_indent=" " * len(head), subsequent_indent=" " * len(head))
    lines += wrap(_trust_statement(accepted), _WIDTH, initial_indent="     ", subsequent_indent="     ")
    return "\n".join(lines)


def _trust_statement(accepted: Accepted) -> str:
    arrays = "numpy's sums and products, " if accepted.question.get("kind") in _ARRAYS else ""
    taken = "what was taken from the compiler, " if any(fact.rule == "taken" for fact in argument(accepted)) else ""
    return f"Trusted: this checker, python-flint, {arrays}Python, {taken}and your reading of the question."


def _texts(value: object) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def _cut_text(value: object) -> str:
    told = str(value)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."
