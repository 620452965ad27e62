"""Asking with a memory: what was answered before is read, checked again, and comes out of the gate like every verdict."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import replace

from privproof.engines.monitor import Monitor
from privproof.errors import PrivproofError
from privproof.evidence.gate import readmit
from privproof.evidence.verdicts import Unknown, Verdict
from privproof.exact.patience import Stopped, watched
from privproof.scenarios import AnyQuestion
from privproof.store.digests import Asked, NotKept, asked_digest, environment_digest
from privproof.store.records import Unreadable, answer_of, record_of
from privproof.store.verdicts import Entry, VerdictStore


def ask_once(
    question: AnyQuestion,
    ask: Callable[[], Verdict],
    store: VerdictStore,
    *,
    engine: str | None = None,
    limit: float | None = None,
    monitor: Monitor | None = None,
) -> tuple[Verdict, bool]:
    """The verdict on a question, and whether it was known from before.

    Args:
        question: the question.
        ask: how it is answered where it was not yet.
        store: what is known from before.
        engine: the engine that is named.
        limit: the seconds that there are; an unknown verdict is asked for again where there are more than before.
        monitor: what watches the check of a certificate.
    """
    try:
        asked = asked_digest(question, engine=engine)
    except (NotKept, PrivproofError, RecursionError):
        return ask(), False
    begun = time.perf_counter()
    entry = store.get(asked.digest)
    known = None if entry is None else _known(entry, asked, question, limit, monitor)
    if known is not None:
        return replace(known, seconds=time.perf_counter() - begun), True
    if entry is not None and entry.status != "unknown":
        store.drop(asked.digest)
    verdict = ask()
    if monitor is None or monitor.stopped() is None:
        _keep(verdict, asked, store, limit)
    return verdict, False


def _known(
    entry: Entry, asked: Asked, question: AnyQuestion, limit: float | None, monitor: Monitor | None
) -> Verdict | None:
    """The verdict of what was kept; None where it does not count."""
    if entry.status == "unknown" and entry.limit is not None and (limit is None or limit > entry.limit):
        return None
    try:
        answer, notes = answer_of(entry.record, asked.functions)
        if answer.status != entry.status:
            return None
        if answer.status == "unknown":
            return Unknown(
                answer.question,
                answer.engine,
                lower=answer.lower,
                upper=answer.upper,
                witness=answer.witness,
                details=answer.details,
                notes=notes,
                reason=answer.reason,
            )
        with watched(monitor or Monitor()):
            verdict = readmit(answer, dict(entry.certificate or {}), question)
    except (Unreadable, PrivproofError, Stopped):
        return None
    return replace(verdict, notes=notes) if isinstance(verdict, Verdict) else None


def _keep(verdict: Verdict, asked: Asked, store: VerdictStore, limit: float | None) -> None:
    """Keep a verdict, if all of it can be kept."""
    try:
        record = record_of(verdict, asked.functions)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return
    unknown = verdict.status == "unknown"
    certificate = None if unknown else verdict.certificate
    name = verdict.question.name
    kept = Entry(
        verdict.status, name, verdict.seconds, limit if unknown else None, certificate, record, environment_digest()
    )
    store.put(asked.digest, kept)
