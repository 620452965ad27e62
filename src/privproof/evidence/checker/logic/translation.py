"""Evidence for the operator D of a decision process that is a certificate about words of actions."""

from __future__ import annotations

from privproof.evidence.checker.logic.formulas import Private
from privproof.evidence.checker.logic.processes import Process
from privproof.evidence.checker.outcomes import Limits, refuse


def check_words(
    process: Process, formula: Private, left: int, right: int, how: dict[str, object], place: str, limits: Limits
) -> None:
    """Refuse unless the certificate in ``how`` shows ``p(left) <= e^epsilon p(right) + delta`` for every sequence."""
    refuse("not supported", place)
