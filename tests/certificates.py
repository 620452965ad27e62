"""The checker with a memory: a document that the gate has just had accepted is not checked again.

A verdict carries the very document that the checker accepted for the gate, so a test that wants to see it accepted would repeat what is
often the longest part of its question.  The memory goes by the whole text: a document that differs anywhere is checked, and so is
every one that did not come through the gate.

With the variable `KEPT` set to a folder, every document that was accepted is also written there, once: what a run of the suite proved and
refuted, for `tests.checker_campaign`.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import privproof_checker as checker
from privproof.evidence.certified_multipliers import refutations
from privproof_checker import Accepted, Outcome
from privproof_checker.certificate_argument import Argument
from privproof_checker.certificate_facts import certificate_of, claimed_question, read_facts
from privproof_checker.linear.linear_documents import supply_refutations
from privproof_checker.outcomes import DEFAULT_LIMITS, Limits
from privproof_checker.version_one import ONE

_MOST = 64
"""So many documents are remembered, the newest: a test looks at its own."""
_ACCEPTED: dict[bytes, Accepted] = {}
KEPT = "PRIVPROOF_KEPT_CERTIFICATES"
"""The environment variable that names a folder for the documents of a run."""


def recheck(document: object, *, limits: Limits = DEFAULT_LIMITS) -> Outcome:
    """What the checker says of a document; what it said for the gate, where it was asked there with the same limits."""
    known = _ACCEPTED.get(_digest(document)) if limits is DEFAULT_LIMITS else None
    return known or checker.recheck(document, limits=limits)


def recheck_anew(document: dict[str, Any]) -> Outcome:
    """What the checker says of a document whose multipliers are looked for again, so that it tells what does not follow."""
    anew = copy.deepcopy(nested(document))
    anew["evidence"].pop("multipliers", None)
    with supply_refutations(refutations):
        return checker.recheck(anew)


def nested(document: Mapping[str, Any] | None) -> Any:
    """A certificate as one of version 1, with its evidence nested: in this shape tests change it, member by member.

    What comes of it is converted and checked as every document of version 1 is.
    """
    if document is None or "facts" not in document:
        return document
    facts, asked = read_facts(document["facts"]), document["question"]
    argument, last = Argument(facts, DEFAULT_LIMITS, written=True), facts[-1]
    verdict: Any = last.claim
    found: dict[str, Any] = {"format": ONE, "version": 1, "verdict": verdict, "question": asked}
    if last.rule == "epsilon":
        inner = facts[last.uses[0]]
        _, below = claimed_question(
            inner.claim, {name: part for name, part in asked.items() if name not in _CLAIMED}, ""
        )
        proof = nested(certificate_of(facts, inner.number, below, "proved"))
        found["evidence"] = {"method": "epsilon", "epsilon": below["epsilon"], "evidence": proof["evidence"]}
    else:
        main, beside = argument.beside(last)
        found["evidence"] = _unfolded(argument.evidence(main, asked, verdict))
        if main is not last and isinstance(main.claim, dict):
            found["bounds"] = {"upper": main.claim[verdict]["epsilon"]}
        for name, each in beside.claims.items():
            claim: Any = each.claim
            if name == "grows":
                proof = facts[each.uses[0]]
                shown = argument.evidence(proof, asked, "proved")
                found["growth"] = {**proof.claim["proved"], "evidence": shown, **each.hint}
            elif name == "compared":
                found["witness"] = dict(each.hint)
            elif name == "at least":
                found["below"] = {"value": claim[name], "evidence": argument.evidence(each, asked, "refuted")}
            elif name in ("proved", "refuted"):
                shown = argument.evidence(each, asked, "proved" if name == "proved" else "refuted")
                found["above" if name == "proved" else "below"] = {**claim[name], "evidence": shown}
    known = _ACCEPTED.get(_digest(document))
    if known is not None:
        _ACCEPTED[_digest(found)] = known
    return found


_CLAIMED = ("epsilon", "delta", "pointwise")


def _unfolded(value: Any) -> Any:
    """Evidence, with certificates inside it of version 1, too."""
    if isinstance(value, dict):
        return nested(value) if "facts" in value else {name: _unfolded(part) for name, part in value.items()}
    return [_unfolded(part) for part in value] if isinstance(value, list) else value


def remembering(check: Callable[[object], Outcome]) -> Callable[[object], Outcome]:
    """The checker as the gate asks it, with what it accepts remembered."""

    def asked(document: object) -> Outcome:
        outcome = check(document)
        if isinstance(outcome, Accepted):
            _ACCEPTED[_digest(document)] = outcome
            if len(_ACCEPTED) > _MOST:
                del _ACCEPTED[next(iter(_ACCEPTED))]
            _keep(document)
        return outcome

    return asked


def _keep(document: object) -> None:
    if folder := os.environ.get(KEPT):
        path = Path(folder) / f"{_digest(document).hex()[:16]}.json"
        if not path.exists():
            path.write_text(json.dumps(document), encoding="utf-8")


def _digest(document: object) -> bytes:
    return sha256(json.dumps(document, sort_keys=True, default=repr).encode()).digest()
