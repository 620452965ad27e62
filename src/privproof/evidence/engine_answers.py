"""What an engine answers: a verdict that is about to be given, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from privproof.evidence.certificate_documents import draft
from privproof.evidence.question_documents import question_document
from privproof.evidence.verdicts import Details, Status
from privproof.evidence.witnesses import AnyWitness
from privproof.exact import INFINITE, Epsilon, epsilon
from privproof.scenarios import AnyQuestion
from privproof_checker.version_one import second_version


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an engine is about to say, and why.

    Attributes:
        status: whether the question's claim is proved or refuted, or unknown.
        question: the question, with the budget that the answer is about.
        engine: the engine.
        evidence: what the checker needs to establish the answer again, from which the facts are written.
        more: further members of the certificate: a witness, a proof of an upper bound.
        compiled: what the question became, where its certificate is about that: a table of rows, a program of instructions.
        lower: the tight epsilon is at least this.
        upper: the tight epsilon is at most this.
        witness: what is behind the lower bound.
        details: what else there is to show.
        notes: restrictions, assumptions, and what was compared.
        reason: why the answer is unknown.
        tentative: whether it may say more than the checker can establish; then the next answer counts, without complaint.
        pass_on: whether an unknown answer leaves the question to the next engine.
    """

    status: Status
    question: AnyQuestion
    engine: str
    evidence: Mapping[str, object] = field(default_factory=dict)
    more: Mapping[str, object] = field(default_factory=dict)
    compiled: object = None
    lower: Epsilon = field(default_factory=lambda: epsilon(0))
    upper: Epsilon = INFINITE
    witness: AnyWitness | None = None
    details: Details | None = None
    notes: tuple[str, ...] = ()
    reason: str = ""
    tentative: bool = False
    pass_on: bool = False

    @cached_property
    def asked(self) -> dict[str, object]:
        """The document of the question."""
        return question_document(self.question, self.compiled)

    def certificate(self) -> dict[str, object]:
        """The document that the checker is given, and that goes with the verdict."""
        return second_version({**draft(self.status, self.asked, self.evidence), **self.more})
