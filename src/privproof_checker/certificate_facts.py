"""The facts of a certificate: what is claimed, by which rule, from which earlier facts, and the hint that the rule follows.

A document is ``{"format": "privproof-certificate/2", "question": {...}, "facts": [{"rule", "claim", "uses", "hint"}, ...]}``.  The last
fact is the verdict on the question.  A fact uses earlier ones alone, by their numbers, and every fact but the last is used exactly once:
there are no circles, nothing stands there unneeded, and nothing is checked twice.

A claim is one of

* ``"proved"`` or ``"refuted"``: of the question that the fact is used for; ``{"proved": {"epsilon": "ln(2)"}}``: of that question with
  other members;
* ``{"contradiction": k}``: the negation of the k-th condition of the rule that uses it has no solution;
* ``{"part": k}``: what the rule that uses it derives as its k-th part is proved;
* ``"compared"``, ``{"at least": value}``, ``"grows"``, ``"source"``: what stands beside a verdict (`front`).

What a claim is about the checker derives from the question, never from the fact: a certificate cannot leave a condition out, nor choose
an easier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from privproof_checker.outcomes import Verdict, refuse, within
from privproof_checker.plain_documents import a_list, a_text, an_integer, an_object, only_members

FORMAT = "privproof-certificate/2"
_MOST_DEEP = 12
"""A fact that is used by a fact that is used, and so on, so many times at most: a composition of measures of alignments has six."""


@dataclass(frozen=True)
class Fact:
    """A fact.

    Attributes:
        number: its number in the document.
        rule: the rule's name.
        claim: what it claims.
        uses: the numbers of the facts that it uses.
        hint: what the rule follows.
    """

    number: int
    rule: str
    claim: object
    uses: tuple[int, ...]
    hint: dict[str, object]

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"facts[{self.number}]"

    def document(self, uses: Iterable[int], claim: object = None) -> dict[str, object]:
        """The fact as it is written, with other numbers of what it uses, and perhaps another claim."""
        return fact(self.rule, self.claim if claim is None else claim, uses, self.hint)


def fact(
    rule: str, claim: object, uses: Iterable[int] = (), hint: Mapping[str, object] | None = None
) -> dict[str, object]:
    """A fact as it is written: what is empty is left out."""
    listed = list(uses)
    return {"rule": rule, "claim": claim} | ({"uses": listed} if listed else {}) | ({"hint": hint} if hint else {})


def contradiction(number: int, refutation: Mapping[str, object]) -> dict[str, object]:
    """The fact that the negation of a condition has no solution; lists that are empty are left out."""
    return fact("linear", {"contradiction": number}, hint={name: part for name, part in refutation.items() if part})


def read_facts(value: object) -> tuple[Fact, ...]:
    """The facts of a document; refuses facts that use others than earlier ones, and facts that are not used exactly once."""
    listed = a_list(value, "facts")
    if not listed:
        refuse("there is no fact", "facts")
    found: list[Fact] = []
    used: dict[int, int] = {}
    depths: list[int] = []
    for number, item in enumerate(listed):
        place = f"facts[{number}]"
        given = an_object(item, place)
        only_members(given, ("rule", "claim", "uses", "hint"), place)
        uses = tuple(an_integer(each, f"{place}.uses") for each in a_list(given.get("uses", []), f"{place}.uses"))
        for each in uses:
            if not 0 <= each < number:
                refuse("a fact uses earlier facts alone", f"{place}.uses")
            if each in used:
                refuse(f"the fact {each} is used twice", f"{place}.uses")
            used[each] = number
        depths.append(1 + max((depths[each] for each in uses), default=0))
        within(depths[-1], _MOST_DEEP, "facts that use each other in turn", place)
        rule, hint = a_text(given.get("rule"), f"{place}.rule"), an_object(given.get("hint", {}), f"{place}.hint")
        found.append(Fact(number, rule, given.get("claim"), uses, hint))
    for number in range(len(found) - 1):
        if number not in used:
            refuse("no later fact uses this one", f"facts[{number}]")
    return tuple(found)


def claimed_question(
    claim: object, base: dict[str, object], place: str, members: Sequence[str] | None = None
) -> tuple[Verdict, dict[str, object]]:
    """The verdict that a claim says, and the question that it says it of.

    Args:
        claim: the claim.
        base: the question that the fact is used for.
        place: where the fact stands.
        members: the members that may be others, where not all may.
    """
    if claim == "proved":
        return "proved", base
    if claim == "refuted":
        return "refuted", base
    if not isinstance(claim, dict) or len(claim) != 1 or next(iter(claim)) not in ("proved", "refuted"):
        refuse("expected the claim that something is proved, or refuted", f"{place}.claim")
    verdict: Verdict = "proved" if "proved" in claim else "refuted"
    other = an_object(claim[verdict], f"{place}.claim.{verdict}")
    if members is not None:
        only_members(other, members, f"{place}.claim.{verdict}")
    if other.get("kind") == "measured" and base.get("kind") != "measured":
        return verdict, {**other, "of": base}
    return verdict, {**base, **other}


def verdict_of(document: Mapping[str, object]) -> object:
    """The verdict that a certificate says, of either version; None where it says none."""
    if "facts" not in document:
        return document.get("verdict")
    facts = document["facts"]
    last = facts[-1] if isinstance(facts, list) and facts else None
    return last.get("claim") if isinstance(last, dict) else None


def certificate_of(
    facts: Sequence[Fact], last: int, question: Mapping[str, object], verdict: Verdict
) -> dict[str, object]:
    """A fact with all that it rests on, as a certificate of its own, with this verdict on this question."""
    needed, waiting = {last}, [last]
    while waiting:
        uses = facts[waiting.pop()].uses
        needed.update(uses)
        waiting += uses
    numbers = {number: i for i, number in enumerate(sorted(needed))}
    listed = [
        facts[n].document((numbers[each] for each in facts[n].uses), verdict if n == last else None) for n in numbers
    ]
    return {"format": FORMAT, "question": question, "facts": listed}


def alone(document: Mapping[str, object]) -> object:
    """The facts of a certificate without those beside its evidence that bound from the other side; nothing rests on these."""
    facts = read_facts(document.get("facts"))
    last = facts[-1]
    if last.rule != "verdict":
        return document["facts"]
    main, *others = last.uses
    uses = (main, *(each for each in others if facts[each].claim == "source"))
    kept = (*facts[:-1], replace(last, uses=uses))
    verdict: Verdict = "proved" if last.claim == "proved" else "refuted"
    return certificate_of(kept, last.number, {}, verdict)["facts"]
