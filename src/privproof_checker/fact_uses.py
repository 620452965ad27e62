"""What a rule uses, in its place: facts put into the evidence that a rule reads, and taken out of it.

A rule is a function of a question and its *evidence*: the hint, with what the facts show that it uses.  Where that stands:

* ``conditions``: the member ``multipliers``, a refutation for every condition, from facts ``{"contradiction": k}``;
* ``part``: the member ``alignment``; ``parts``: the same in every pairing; from facts ``{"part": k}``;
* ``conclusion``: the member ``certificate``; ``uses``: certificates for every use of a composition; ``operators``: one for every problem
  about words of an operator D; from facts that something is proved, each with what it rests on a certificate of its own.

`put_facts` and `take_facts` are inverse to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from privproof_checker.hints import Uses
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_list, an_integer, an_object

Evidence: TypeAlias = dict[str, object]
Next: TypeAlias = Callable[[int, Evidence], object]
"""What the next used fact shows: given its number among them, and the question below it where there is one."""


def put_facts(uses: Uses, evidence: Evidence, count: int, made: Next, asked: Evidence, place: str) -> Evidence:
    """The evidence with what the used facts show; refuses if there are too few or too many of them."""
    numbers = iter(range(count))

    def following(base: Evidence) -> object:
        number = next(numbers, None)
        if number is None:
            refuse("a fact is missing that this one would use", f"{place}.uses")
        return made(number, base)

    if uses == "conditions":
        if count:
            evidence["multipliers"] = [following({}) for _ in range(count)]
    elif uses == "part":
        evidence["alignment"] = following({})
    elif uses == "parts":
        pairings = [
            dict(an_object(each, f"{place}.hint.pairings")) for each in _evidence_list(evidence, "pairings", place)
        ]
        evidence["pairings"] = [{**each, "alignment": following({})} for each in pairings]
    elif uses == "conclusion":
        evidence["certificate"] = following(_below(asked, place))
    elif uses == "uses":
        of = [_of(each) for each in a_list(asked.get("uses"), "question.uses")]
        parts = [an_object(each, f"{place}.hint.uses") for each in _evidence_list(evidence, "uses", place)]
        if len(parts) != len(of):
            refuse("every use has its evidence", f"{place}.hint.uses")
        evidence["uses"] = [
            {**part, "certificates": [following(base) for _ in range(_count(part, place))]}
            if "certificates" in part
            else part
            for part, base in zip(parts, of, strict=True)
        ]
    elif uses == "operators" and "operators" in evidence:
        operators = [
            an_object(each, f"{place}.hint.operators") for each in _evidence_list(evidence, "operators", place)
        ]
        evidence["operators"] = [
            {**each, "certificates": [{**given, "certificate": following({})} for given in _problems(each, place)]}
            if "certificates" in each
            else each
            for each in operators
        ]
    if next(numbers, None) is not None:
        refuse("this rule uses fewer facts", f"{place}.uses")
    return evidence


def take_facts(uses: Uses, evidence: Evidence, asked: Evidence) -> tuple[Evidence, list[tuple[object, Evidence]]]:
    """The hint of evidence, and what facts have to show for it, in order, each with the question below it."""
    found: list[tuple[object, Evidence]] = []
    hint = {name: part for name, part in evidence.items() if name != "method"}
    if uses == "conditions":
        found += [(each, {}) for each in a_list(hint.pop("multipliers", []), "evidence.multipliers")]
    elif uses == "part":
        found.append((hint.pop("alignment", None), {}))
    elif uses == "parts":
        pairings = [an_object(each, "evidence.pairings") for each in a_list(hint.get("pairings"), "evidence.pairings")]
        found += [(each.get("alignment"), {}) for each in pairings]
        hint["pairings"] = [_without(each, "alignment") for each in pairings]
    elif uses == "conclusion":
        found.append((hint.pop("certificate", None), _below(asked, "evidence")))
    elif uses == "uses":
        of = [_of(each) for each in a_list(asked.get("uses"), "question.uses")]
        parts: list[object] = []
        for i, part in enumerate(a_list(hint.get("uses"), "evidence.uses")):
            given = an_object(part, "evidence.uses")
            if "certificates" in given:
                listed = a_list(given["certificates"], "evidence.uses.certificates")
                found += [(each, of[i] if i < len(of) else {}) for each in listed]
                given = {**given, "certificates": len(listed)}
            parts.append(given)
        hint["uses"] = parts
    elif uses == "operators" and "operators" in hint:
        operators: list[object] = []
        for each in a_list(hint["operators"], "evidence.operators"):
            given = an_object(each, "evidence.operators")
            if "certificates" in given:
                problems = list(_problems(given, "evidence"))
                found += [(one.get("certificate"), {}) for one in problems]
                given = {**given, "certificates": [_without(one, "certificate") for one in problems]}
            operators.append(given)
        hint["operators"] = operators
    return hint, found


def _below(asked: Evidence, place: str) -> Evidence:
    """The question below one that follows from a conclusion: what a measure is of, or the same without a delta."""
    if asked.get("kind") == "measured":
        return an_object(asked.get("of"), "question.of")
    return {name: part for name, part in asked.items() if name not in ("epsilon", "delta", "pointwise")}


def _of(use: object) -> Evidence:
    return an_object(an_object(use, "question.uses").get("of"), "question.uses.of")


def _evidence_list(evidence: Evidence, name: str, place: str) -> list[object]:
    return a_list(evidence.get(name), f"{place}.hint.{name}")


def _count(part: Evidence, place: str) -> int:
    count = an_integer(part["certificates"], f"{place}.hint.uses.certificates")
    if count < 1:
        refuse("there is at least one certificate", f"{place}.hint.uses.certificates")
    return count


def _problems(operator: Evidence, place: str) -> Iterator[Evidence]:
    for each in a_list(operator["certificates"], f"{place}.operators.certificates"):
        yield an_object(each, f"{place}.operators.certificates")


def _without(given: Evidence, name: str) -> Evidence:
    return {each: part for each, part in given.items() if each != name}
