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
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import privproof_checker as checker
from privproof.evidence.multipliers import refutations
from privproof_checker import Accepted, Outcome
from privproof_checker.linear.documents import supplied
from privproof_checker.outcomes import DEFAULT_LIMITS, Limits

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
    anew = copy.deepcopy(document)
    anew["evidence"].pop("multipliers", None)
    with supplied(refutations):
        return checker.recheck(anew)


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
