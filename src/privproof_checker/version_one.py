"""Certificates of version 1, as certificates of this version: a question, a verdict and nested evidence become a list of facts.

This is a pure function from documents to documents, and what it makes is checked like every other document: it need not be trusted.

A document of version 1 is ``{"format": "privproof-certificate", "version": 1, "verdict", "question", "evidence": {"method", ...}}`` with
the optional members ``witness``, ``bounds``, ``above``, ``below`` and ``growth``.  Engines hand over what they found in the same shape,
so that this is also the one place where facts are written.
"""

from __future__ import annotations

from collections.abc import Mapping

from privproof_checker.certificate_argument import WITNESSES
from privproof_checker.certificate_facts import FORMAT, alone, contradiction, fact, read_facts, verdict_of
from privproof_checker.fact_uses import take_facts
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_text, an_object, only_members
from privproof_checker.rules import RULES, WORDS

ONE = "privproof-certificate"
_KNOWN = ("format", "version", "verdict", "question", "evidence")


def second_version(document: Mapping[str, object]) -> dict[str, object]:
    """A certificate as a list of facts; one that is that already stays as it is."""
    if document.get("format") == FORMAT:
        return dict(document)
    if document.get("format") != ONE:
        refuse("not a privproof certificate", "format")
    version = document.get("version")
    if isinstance(version, bool) or version != 1:
        refuse("this checker knows the versions 1 and 2 alone", "version")
    verdict = document.get("verdict")
    if verdict != "proved" and verdict != "refuted":
        refuse("the verdict is neither proved nor refuted", "verdict")
    asked = an_object(document.get("question"), "question")
    evidence, measured = an_object(document.get("evidence"), "evidence"), asked.get("kind") == "measured"
    follows = evidence.get("method") == "epsilon"
    if measured or follows:
        only_members(document, (*_KNOWN, "below") if measured else _KNOWN, "document")
    facts = _NumberedFacts()
    beside = [] if follows else facts.beside(document, asked)
    claim: object = verdict
    if "bounds" in document:
        bounds = an_object(document["bounds"], "bounds")
        only_members(bounds, ("upper",), "bounds")
        claim = {verdict: {"epsilon": bounds.get("upper")}}
    main = facts.shown(evidence, claim, asked)
    if beside or "bounds" in document:
        facts.add("verdict", verdict, [main, *beside])
    return {"format": FORMAT, "question": asked, "facts": facts.listed}


class _NumberedFacts:
    """Facts that are written one after the other."""

    def __init__(self) -> None:
        self.listed: list[dict[str, object]] = []

    def add(
        self, rule: str, claim: object, uses: list[int] | None = None, hint: Mapping[str, object] | None = None
    ) -> int:
        """One more fact; its number."""
        self.listed.append(fact(rule, claim, uses or (), hint))
        return len(self.listed) - 1

    def shown(self, evidence: dict[str, object], claim: object, asked: dict[str, object]) -> int:
        """The fact that evidence shows, after those that it uses."""
        method = a_text(evidence.get("method"), "evidence.method")
        if method == "epsilon":
            return self._from_epsilon(evidence, claim, asked)
        kind = asked.get("kind")
        rule = RULES.get(("words" if kind in WORDS else str(kind), method))
        if rule is None:
            return self.add(method, claim, hint={name: part for name, part in evidence.items() if name != "method"})
        hint, parts = take_facts(rule.hint.uses, evidence, asked)
        if rule.hint.uses == "conditions":
            hint.pop("conditions", None)  # words about the conditions, which nothing rests on
        uses: list[int] = []
        for k, (part, below) in enumerate(parts):
            if rule.hint.uses == "conditions":
                self.listed.append(contradiction(k, an_object(part, f"evidence.multipliers[{k}]")))
                uses.append(len(self.listed) - 1)
            elif rule.hint.uses in ("part", "parts"):
                given = an_object(part, "evidence.alignment")
                if given.get("method") != "alignment":
                    refuse("a part is shown by an alignment", "evidence.alignment")
                uses.append(self.shown(given, {"part": k}, asked))
            else:
                uses.append(self.concluded(an_object(part, "evidence.certificate"), below))
        return self.add(method, claim, uses, hint)

    def concluded(self, certificate: dict[str, object], base: Mapping[str, object]) -> int:
        """The conclusion of another certificate, with all its facts, as a fact about a question with some members more."""
        document = second_version(certificate)
        asked, verdict = an_object(document.get("question"), "question"), verdict_of(document)
        below = asked.get("of") if asked.get("kind") == "measured" and base.get("kind") != "measured" else asked
        if not isinstance(below, dict) or any(name not in below for name in base):
            refuse("this is about another question", "evidence.certificate.question")
        rest = asked if below is asked else {name: part for name, part in asked.items() if name != "of"}
        members = {
            name: part for name, part in rest.items() if below is not asked or name not in base or base[name] != part
        }
        offset = len(self.listed)
        facts = read_facts(alone(document))
        for each in facts:
            claim = {a_text(verdict, "verdict"): members} if each is facts[-1] else None
            self.listed.append(each.document((use + offset for use in each.uses), claim))
        return len(self.listed) - 1

    def _from_epsilon(self, evidence: dict[str, object], claim: object, asked: dict[str, object]) -> int:
        only_members(evidence, ("method", "epsilon", "evidence", "certificate"), "evidence")
        without = {name: part for name, part in asked.items() if name not in ("epsilon", "delta", "pointwise")}
        inner = evidence.get("certificate")
        if inner is None:
            inner = {
                "format": ONE,
                "version": 1,
                "verdict": "proved",
                "question": {**without, "epsilon": evidence.get("epsilon")},
                "evidence": evidence.get("evidence"),
            }
        return self.add("epsilon", claim, [self.concluded(an_object(inner, "evidence.certificate"), without)])

    def beside(self, document: Mapping[str, object], asked: dict[str, object]) -> list[int]:
        """The facts beside the evidence: bounds from either side, a claim that grows, and what the text says."""
        found = []
        if document.get("witness") is not None:
            rule = WITNESSES.get(str(asked.get("kind")), "word")
            witness = an_object(document["witness"], "witness")
            found.append(self.add(rule, "compared", hint={name: x for name, x in witness.items() if name != "method"}))
        for name, verdict in (("above", "proved"), ("below", "refuted")):
            if name in document:
                given = an_object(document[name], name)
                value = "value" if asked.get("kind") == "measured" else "epsilon"
                only_members(given, (value, "evidence"), name)
                claim = {"at least": given.get(value)} if value == "value" else {verdict: {"epsilon": given.get(value)}}
                found.append(self.shown(an_object(given.get("evidence"), f"{name}.evidence"), claim, asked))
        if "growth" in document:
            growth = an_object(document["growth"], "growth")
            only_members(growth, ("rate", "epsilon", "evidence", "family"), "growth")
            claim = {"proved": {"rate": growth.get("rate"), "epsilon": growth.get("epsilon")}}
            cone = self.shown(an_object(growth.get("evidence"), "growth.evidence"), claim, asked)
            found.append(self.add("growth", "grows", [cone], {"family": growth.get("family")}))
        if asked.get("source") is not None:
            found.append(self.add("source", "source"))
        return found
