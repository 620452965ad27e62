"""Proofs by ratio cones for a question: in which form it is compiled, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privproof.compiling import word_problem
from privproof.engines.search_monitor import Monitor
from privproof.engines.words.ratio_cones import Kind, find_ratio_cones, location_kinds
from privproof.engines.words.word_findings import RatioProof
from privproof.exact import ONE
from privproof.models import Word

if TYPE_CHECKING:
    from privproof.compiling import Compiled

_LARGEST = 400
"""States of a location beyond which ratios are not tried: there are as many as pairs of states."""


def kinds_of_locations(compiled: Compiled) -> tuple[Kind, ...]:
    """The kinds of the locations of a compiled question."""
    alike = [left == right for left, right in zip(compiled.left, compiled.right, strict=True)]
    return location_kinds(compiled.problem, alike)


def ratio_proof(compiled: Compiled, word: Word | None, monitor: Monitor) -> RatioProof | str:
    """The smallest bound that ratio cones give, or why there is none.

    Ratios that hold for all outputs together are few and mostly good enough; where no word attains their bound, every output is tried by
    itself.

    Args:
        compiled: the question, with a start for every output.
        word: the best word that is known.
        monitor: when to stop.
    """
    if max((max(place.left_size, place.right_size) for place in compiled.problem.locations), default=0) > _LARGEST:
        return f"there are more than {_LARGEST} states"
    known = ONE if word is None or word.ratio is None else word.ratio
    best: RatioProof | None = None
    reason = ""
    for form in (word_problem(compiled.question, together=True, alike=True), compiled):
        found = find_ratio_cones(form.problem, kinds_of_locations(form), aim=known, monitor=monitor)
        if isinstance(found, str):
            reason = reason or found
        elif best is None or found.bound < best.cones.bound:
            best = RatioProof(form, found)
        if best is not None and best.cones.bound <= known:
            break
    return reason if best is None else best


def told_proof(proof: RatioProof) -> str:
    """What a proof consists of, in words."""
    ratios = sum(map(len, proof.cones.ratios.values()))
    generators = sum(map(len, proof.cones.pasts.generators.values()))
    futures = f"{ratios} ratio{'s' if ratios != 1 else ''} of futures"
    if not generators:
        return futures
    return f"{futures} and {generators} vector{'s' if generators != 1 else ''} of the past"
