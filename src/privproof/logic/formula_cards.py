"""Processes and what formulas say of them, in a notebook and on a terminal."""

from __future__ import annotations

from privproof.formats import svg
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formula_pages import pictures, satisfaction_page
from privproof.logic.formula_texts import print_satisfaction
from privproof.logic.process_pictures import process_picture
from privproof.logic.state_satisfaction import Satisfaction
from privproof.reporting.console_texts import printed_text
from privproof.reporting.model_drawings import DRAWN, drawing_element
from privproof.reporting.notebook_cards import card
from privproof.reporting.report_facts import Fact


def satisfaction_card(thing: Satisfaction) -> str:
    """The card of an answer."""
    page = satisfaction_page(thing, certificate=None)
    return card(page.sentence, page.facts, pictures(thing), page.status)


def satisfaction_text(thing: Satisfaction) -> str:
    """What the command prints."""
    return printed_text(lambda console: print_satisfaction(console, thing, every=False))


def process_card(thing: DecisionProcess) -> str:
    """The card of a process."""
    kind = "Markov chain" if thing.is_chain else f"decision process with {len(thing.actions)} actions and"
    listed = [Fact("labels", ", ".join(thing.labels))] if thing.labels else []
    listed += [Fact("neighbours", f"{len(thing.neighbours)} pairs of states")] if thing.neighbours else []
    drawn = [drawing_element(svg(process_picture(thing)))] if len(thing) <= DRAWN else []
    return card(f"{kind} {'with ' if thing.is_chain else ''}{len(thing)} states", listed, drawn)
