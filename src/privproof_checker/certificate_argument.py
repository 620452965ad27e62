"""An argument: the facts of a certificate, and how one is put together with those that it uses.

A rule reads evidence: the hint of its fact, with what the used facts show (`uses`).  What it refuses it refuses at a place of that
evidence, which `Argument.placed` turns into the place of the fact that it came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from privproof_checker.certificate_facts import Fact, certificate_of, claimed_question, contradiction
from privproof_checker.fact_uses import put_facts
from privproof_checker.outcomes import Limits, Refusal, Verdict, refuse
from privproof_checker.plain_documents import an_object
from privproof_checker.rules import RULES, WORDS

WITNESSES = {"pufferfish": "parameters", "draws": "outcome"}
"""By which rule a witness beside a proof is compared; about words of a model it is ``word``."""


@dataclass(frozen=True)
class Beside:
    """The facts beside the evidence of a conclusion, by what they claim."""

    claims: Mapping[str, Fact]

    def only(self, *claims: str) -> None:
        """Refuse other claims than these."""
        for name, each in self.claims.items():
            if name not in claims:
                refuse("this does not belong beside such a verdict", f"{each.place}.claim")

    def members(self, argument: Argument, asked: dict[str, object]) -> dict[str, object]:
        """What the rule of the evidence reads itself: a witness, or a value that is exceeded."""
        found: dict[str, object] = {}
        if (each := self.claims.get("compared")) is not None:
            if each.rule != WITNESSES.get(str(asked.get("kind")), "word"):
                refuse("no witness beside a proof is compared by this rule", f"{each.place}.rule")
            found["witness"] = argument.evidence(each, asked, "refuted")
        if (each := self.claims.get("at least")) is not None:
            value = cast("dict[str, object]", each.claim)["at least"]
            found["below"] = {"value": value, "evidence": argument.evidence(each, asked, "refuted")}
        return found


class Argument:
    """The facts of a certificate.

    Attributes:
        facts: the facts.
        limits: limits.
        written: whether the document has them itself, so that places are places of facts.
    """

    def __init__(self, facts: tuple[Fact, ...], limits: Limits, *, written: bool) -> None:
        self.facts, self.limits, self.written = facts, limits, written
        self._evidence: dict[int, dict[str, object]] = {}

    def beside(self, conclusion: Fact) -> tuple[Fact, Beside]:
        """The fact with the evidence of a conclusion, and the facts beside it."""
        if conclusion.rule != "verdict":
            return conclusion, Beside({})
        if not conclusion.uses or conclusion.hint:
            refuse("a verdict follows from the facts that it uses", conclusion.place)
        main, *others = (self.facts[number] for number in conclusion.uses)
        claims: dict[str, Fact] = {}
        for each in others:
            name = (
                each.claim
                if isinstance(each.claim, str)
                else next(iter(an_object(each.claim, f"{each.place}.claim")), "")
            )
            if name in claims or (not isinstance(each.claim, str) and len(cast("dict[str, object]", each.claim)) != 1):
                refuse("beside a verdict every claim stands once", f"{each.place}.claim")
            claims[name] = each
        return main, Beside(claims)

    def evidence(self, fact: Fact, asked: dict[str, object], verdict: Verdict | None = None) -> dict[str, object]:
        """What the rule of a fact reads: its hint with what the facts show that it uses; refuses what the rule does not take."""
        if fact.number in self._evidence:
            return self._evidence[fact.number]
        kind = asked.get("kind")
        rule = RULES.get(("words" if kind in WORDS else str(kind), fact.rule))
        if rule is None or rule.verdict not in ("either", verdict):
            refuse(f"{fact.rule[:40]!r} is no evidence for {verdict}", self._at(fact, "evidence.method"))
        with self.placed(fact):
            rule.hint.read(fact.hint, "evidence", self.limits)
        made: dict[str, object] = {"method": fact.rule, **fact.hint}

        def shown(number: int, base: dict[str, object]) -> object:
            used = self.facts[fact.uses[number]]
            if rule.hint.uses == "conditions":
                if used.rule != "linear" or used.claim != {"contradiction": number} or used.uses:
                    refuse(f"the condition {number} is met by a contradiction of this number", used.place)
                return used.hint
            if rule.hint.uses in ("part", "parts"):
                if used.rule != "alignment" or used.claim != {"part": number}:
                    refuse(f"the part {number} is met by an alignment of this number", used.place)
                return self.evidence(used, asked, "proved")
            proved, question = claimed_question(used.claim, base, used.place)
            return certificate_of(self.facts, used.number, question, proved)

        self._evidence[fact.number] = put_facts(rule.hint.uses, made, len(fact.uses), shown, asked, fact.place)
        return made

    @contextmanager
    def placed(self, fact: Fact) -> Iterator[None]:
        """Let what is refused in the evidence of a fact be refused where it stands."""
        try:
            yield
        except Refusal as refusal:
            refusal.place = self._at(fact, refusal.place)
            raise

    def _at(self, fact: Fact, place: str) -> str:
        if not self.written or not (place == "evidence" or place.startswith(("evidence.", "evidence["))):
            return place
        if place == "evidence.method":
            return f"{fact.place}.rule"
        if place.startswith("evidence.multipliers["):  # each is what a used fact shows
            number, _, rest = place.removeprefix("evidence.multipliers[").partition("]")
            if number.isdigit() and int(number) < len(fact.uses):
                return f"facts[{fact.uses[int(number)]}].hint{rest}"
        return f"{fact.place}.hint{place.removeprefix('evidence')}"

    def complete(self, document: dict[str, object]) -> None:
        """Write refutations of conditions that were supplied during the check into the document, as facts."""
        new = {
            number: cast("list[dict[str, object]]", evidence["multipliers"])
            for number, evidence in self._evidence.items()
            if "multipliers" in evidence and not self.facts[number].uses
        }
        if not new:
            return
        listed: list[dict[str, object]] = []
        places: dict[int, int] = {}
        for each in self.facts:
            uses = [places[use] for use in each.uses]
            for k, refutation in enumerate(new.get(each.number, ())):
                uses.append(len(listed))
                listed.append(contradiction(k, refutation))
            places[each.number] = len(listed)
            listed.append(each.document(uses))
        document["facts"] = listed
