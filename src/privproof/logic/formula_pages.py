"""The page of an answer about a formula, with a picture of the process."""

from __future__ import annotations

import numpy as np

from privproof.formats import svg
from privproof.logic.formula_texts import facts, satisfaction_data, sentence, told_status
from privproof.logic.process_pictures import process_picture
from privproof.logic.state_satisfaction import Satisfaction
from privproof.reporting.html_pages import Page
from privproof.reporting.model_drawings import DRAWN, drawing_element


def satisfaction_page(found: Satisfaction, *, certificate: str | None) -> Page:
    """The answer as a page, with a picture of a small process in which the states are marked where the formula fails."""
    listed = tuple(facts(found, every=True))
    drawn = "".join(pictures(found))
    return Page(told_status(found), sentence(found), listed, drawn, satisfaction_data(found, certificate=certificate))


def pictures(found: Satisfaction) -> list[str]:
    """The picture of the process, where it is small; states in which the formula fails have a red border."""
    if len(found.process) > DRAWN:
        return []
    failing = frozenset(np.flatnonzero(found.truth == 0).tolist())
    return [drawing_element(svg(process_picture(found.process, failing)))]
