"""Audits in a notebook and on a terminal."""

from __future__ import annotations

from privproof.audits.audit_findings import Audit
from privproof.audits.audit_pages import audit_page
from privproof.audits.audit_texts import print_audit
from privproof.reporting.console_texts import printed_text
from privproof.reporting.notebook_cards import card


def audit_card(thing: Audit) -> str:
    """The card of an audit."""
    page = audit_page(thing)
    return card(page.sentence, page.facts, [f"<details><summary>pictures</summary>{page.more}</details>"], page.status)


def audit_text(thing: Audit) -> str:
    """What the command prints."""
    return printed_text(lambda console: print_audit(console, thing, command=None))
