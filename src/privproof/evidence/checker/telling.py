"""How a verdict was re-established, and what of it from the source: what an accepted certificate rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from privproof.evidence.checker.machines import Machine as Model
from privproof.evidence.checker.outcomes import Accepted, Limits
from privproof.evidence.checker.questions import read_question
from privproof.evidence.checker.source import Established, established
from privproof.evidence.checker.source.finite import establish_finite

_FINITE = "the model, its inputs and outputs, and which data are neighbours"


def with_source(accepted: Accepted, asked: Mapping[str, object], limits: Limits) -> Accepted:
    """What was accepted, with what the checker re-established from the source of the question."""
    found = _from_source(asked, limits)
    if found is None:
        return accepted
    statement = f"{accepted.statement}; {found.statement}"
    return replace(accepted, statement=statement, details={**accepted.details, "source": found.details})


def _from_source(asked: Mapping[str, object], limits: Limits) -> Established | None:
    if asked.get("kind") != "transducer":
        return None

    def check(source: object, work: object) -> list[str]:
        question = read_question(asked, limits)
        assert isinstance(question.system, Model)
        return establish_finite(source, question.system, question.horizon, asked, limits, work)  # type: ignore[arg-type]

    return established(asked, _FINITE, check, limits)
