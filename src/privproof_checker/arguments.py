"""The argument of an accepted certificate, as one would tell it: what was established, by which rule, and why the verdict follows.

>>> from privproof_checker import recheck
>>> outcome = recheck({"format": "privproof-certificate", "version": 1, "verdict": "refuted",
...     "question": {"kind": "hmm", "states": ["yes", "no"], "observations": ["Y", "N"],
...         "emissions": {"yes": {"Y": "3/4", "N": "1/4"}, "no": {"Y": "1/4", "N": "3/4"}},
...         "scenario": {"pairs": [{"left": {"yes": 1}, "right": {"no": 1}}]}, "horizon": 1, "epsilon": "ln(2)"},
...     "evidence": {"method": "word", "left": {"yes": 1}, "right": {"no": 1}, "word": [{"output": "Y"}],
...         "left_probability": "3/4", "right_probability": "1/4"}})
>>> for fact in argument(outcome):
...     print(fact.rule, "|", fact.claim)
word | refuted: 1 letters, P = 3/4, Q = 1/4, P/Q = 3
bounds | the smallest epsilon is at least ln(3)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from privproof_checker.outcomes import Accepted
from privproof_checker.rules import Rule, rule_of

_LONGEST = 60
"""Numbers of more characters are cut in an argument; the certificate has them whole."""
_WIDTH = 110
"""The columns of an argument in words."""
_ARRAYS = ("logic in columns", "release")
"""Kinds of questions for which numpy may add and multiply."""
_TAKEN = "It is as good as what the compiler says of the text, which was run beside it."


@dataclass(frozen=True)
class Fact:
    """One step of an argument.

    Attributes:
        rule: the rule's name.
        claim: what was established by it.
        why: the theorem, or where it was taken from.
    """

    rule: str
    claim: str
    why: str


def argument(accepted: Accepted) -> tuple[Fact, ...]:
    """The facts of an accepted certificate, in the order in which they rest on each other."""
    return (*_of_source(accepted), *_of_evidence(accepted), *_of_bounds(accepted))


def _of_source(accepted: Accepted) -> Iterator[Fact]:
    source = accepted.details.get("source")
    if not isinstance(source, Mapping):
        return
    function = source.get("function")
    for each in _texts(source.get("established")):
        yield Fact("source", f"from the text of {function}: {each}", "The checker read the text and ran it by itself.")
    for each in _texts(source.get("taken")):
        yield Fact("taken", f"from the compiler: {each}", _TAKEN)


def _of_evidence(accepted: Accepted) -> Iterator[Fact]:
    kind, details = accepted.question.get("kind"), accepted.details
    method = str(accepted.how.get("method"))
    rule = rule_of(kind, method)
    if accepted.verdict == "proved" and details.get("conditions") and "lemmas" in details:
        told = f"{details['conditions']} conditions hold, by {details['lemmas']} combinations of rows"
        why = "In every case some rows of the negation, times positive factors, add up to 0 > 0 or worse: it has no solution (Farkas)."
        yield Fact("linear", told, why)
    yield Fact(method, _claim(accepted.verdict, rule, details), rule.theorem)
    for name, what in (("above", "a larger epsilon is proved"), ("below", "a smaller epsilon is refuted")):
        if name in details:
            other = rule_of(kind, details[name])
            yield Fact(str(details[name]), f"{what}, {other.by}: {other.words}", other.theorem)
    if "follows" in details:
        why = (
            "If P <= e^a Q for every event, its excess over e^epsilon Q is at most that of randomised response with a."
        )
        yield Fact("epsilon", str(details["follows"]), why)
    growth = details.get("growth")
    if isinstance(growth, Mapping):
        told = f"on n elements the smallest epsilon is n ln({growth.get('rate')}) + {growth.get('epsilon')}"
        why = "The cone proves it; both sides of a family of words satisfy one recurrence, so that it is attained again and again."
        yield Fact("growth", told, why)


def _claim(verdict: str, rule: Rule, details: Mapping[str, object]) -> str:
    figures = [words.format(_cut(details[name])) for name, words in rule.figures if details.get(name) is not None]
    return f"{verdict}: {', '.join(figures) or rule.words}"


def _of_bounds(accepted: Accepted) -> Iterator[Fact]:
    lower, upper = accepted.lower, accepted.upper
    told = []
    if lower is not None and lower.infinite:
        yield Fact(
            "bounds", "no finite epsilon is enough", "What is refuted for an epsilon is refuted for every smaller one."
        )
        return
    if lower is not None and lower.bound != 1:
        told.append(f"at least {_cut(lower)}")
    if upper is not None and not upper.infinite:
        told.append(f"at most {_cut(upper)}")
    if told:
        exact = lower is not None and upper is not None and lower.compare(upper) == 0 and len(told) == 2
        why = (
            "Both bounds are the same, so that it is exact."
            if exact
            else "What holds for an epsilon holds for every larger one."
        )
        yield Fact("bounds", f"the smallest epsilon is {' and '.join(told)}", why)


def told(accepted: Accepted) -> str:
    """The argument as numbered lines, each with its reason below it."""
    lines = []
    facts = argument(accepted)
    width = max(len(fact.rule) for fact in facts)
    for number, fact in enumerate(facts, 1):
        head = f"{number:3}. {fact.rule:{width}}  "
        lines += wrap(fact.claim, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        lines += wrap(fact.why, _WIDTH, initial_indent=" " * len(head), subsequent_indent=" " * len(head))
    lines += wrap(_trusted(accepted), _WIDTH, initial_indent="     ", subsequent_indent="     ")
    return "\n".join(lines)


def _trusted(accepted: Accepted) -> str:
    arrays = "numpy's sums and products, " if accepted.question.get("kind") in _ARRAYS else ""
    taken = "what was taken from the compiler, " if any(fact.rule == "taken" for fact in _of_source(accepted)) else ""
    return f"Trusted: this checker, python-flint, {arrays}Python, {taken}and your reading of the question."


def _texts(value: object) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def _cut(value: object) -> str:
    told = str(value)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."
