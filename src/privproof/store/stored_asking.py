"""Asking with a memory: what was answered before is read, checked again, and comes out of the gate like every verdict."""

from __future__ import annotations

import base64
import pickle
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from privproof.compiling.posing import ordinary_notes
from privproof.engines.search_monitor import Monitor
from privproof.errors import PrivproofError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.gate import Refusal, admit_reported, readmit
from privproof.evidence.verdicts import Unknown, Verdict
from privproof.exact.patience import Stopped, watch_computation
from privproof.scenarios import AnyQuestion
from privproof.store.question_digests import Asked, NotKept, asked_digest, environment_digest, question_functions
from privproof.store.stored_records import Unreadable, answer_of, record_of
from privproof.store.stored_verdicts import StoredEntry, VerdictStore


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
    known = None if entry is None else _verdict_of_entry(entry, asked, question, limit, monitor)
    if known is not None:
        return replace(known, seconds=time.perf_counter() - begun), True
    if entry is not None and entry.status != "unknown":
        store.drop(asked.digest)
    verdict = ask()
    if monitor is None or monitor.stopped() is None:
        _keep(verdict, asked, store, limit)
    return verdict, False


def _verdict_of_entry(
    entry: StoredEntry, asked: Asked, question: AnyQuestion, limit: float | None, monitor: Monitor | None
) -> Verdict | None:
    """The verdict of what was kept; None where it does not count."""
    if entry.status == "unknown" and entry.limit is not None and (limit is None or limit > entry.limit):
        return None
    try:
        answer, notes = answer_of(entry.record, asked.functions)
        if answer.status != entry.status:
            return None
        if answer.status == "unknown":
            return _unknown_verdict(answer, notes)
        with watch_computation(monitor or Monitor()):
            verdict = readmit(answer, dict(entry.certificate or {}), question)
    except (Unreadable, PrivproofError, Stopped):
        return None
    return replace(verdict, notes=notes) if isinstance(verdict, Verdict) else None


def _keep(verdict: Verdict, asked: Asked, store: VerdictStore, limit: float | None) -> None:
    """Keep a verdict, if all of it can be kept."""
    kept = entry_of(verdict, asked.functions, limit)
    if kept is not None:
        store.put(asked.digest, kept)


def entry_of(verdict: Verdict, functions: Sequence[FunctionType], limit: float | None = None) -> StoredEntry | None:
    """What is kept or sent of a verdict; None where not all of it can be."""
    try:
        record = record_of(verdict, functions)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return None
    unknown = verdict.status == "unknown"
    certificate = None if unknown else verdict.certificate
    name, until = verdict.question.name, limit if unknown else None
    return StoredEntry(verdict.status, name, verdict.seconds, until, certificate, record, environment_digest())


def reported_entry(verdict: Verdict, question: AnyQuestion) -> StoredEntry | None:
    """What a process that was asked for others sends of its verdict on a question; None where it cannot send it."""
    try:
        return entry_of(verdict, question_functions(question))
    except NotKept:
        return None


def entry_document(entry: StoredEntry) -> dict[str, Any]:
    """An entry as plain data."""
    record = base64.b64encode(zlib.compress(entry.record)).decode()
    said = {"status": entry.status, "name": entry.name, "seconds": entry.seconds}
    return {**said, "certificate": entry.certificate, "record": record}


def document_entry(said: Any) -> StoredEntry | None:
    """The entry that plain data is; None where it is none."""
    try:
        record = zlib.decompress(base64.b64decode(said["record"]))
        return StoredEntry(said["status"], said["name"], float(said["seconds"]), None, said["certificate"], record)
    except (KeyError, TypeError, ValueError, zlib.error):
        return None


def reported_verdict(entry: StoredEntry, question: AnyQuestion, monitor: Monitor | None = None) -> Verdict | Refusal:
    """The verdict on a question of this process that somebody else reports, if the gate admits it here.

    Args:
        entry: what was sent.
        question: the question as it is posed here.
        monitor: what watches the check of its certificate.
    """
    try:
        answer, notes = answer_of(entry.record, question_functions(question))
        with watch_computation(monitor or Monitor()):
            for posed in (question, question.listed()):
                mine = posed if posed.claims else posed.under(answer.question.budget)
                answer = replace(answer, question=mine, compiled=None, evidence={}, more={}, tentative=False)
                if answer.status == "unknown":
                    found: Verdict | Refusal = _unknown_verdict(answer, notes)
                else:
                    found = admit_reported(answer, dict(entry.certificate or {}))
                if isinstance(found, Verdict):
                    own = (*found.notes, *ordinary_notes(mine))
                    return replace(found, notes=tuple(dict.fromkeys((*notes, *own))), seconds=float(entry.seconds))
    except (NotKept, Unreadable, PrivproofError, Stopped) as problem:
        return Refusal(str(problem))
    return found


def _unknown_verdict(answer: Answer, notes: tuple[str, ...]) -> Unknown:
    """An unknown verdict as it was kept or reported."""
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
