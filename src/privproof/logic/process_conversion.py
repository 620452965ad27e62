"""A process in the form of another file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from privproof.loading.file_targets import settings_of
from privproof.logic.formats.process_files import process_text
from privproof.logic.formula_loading import is_process, load_process
from privproof.logic.prism.experiments import constants_of
from privproof.models import Horizon

if TYPE_CHECKING:
    pass


def converted_process(
    target: str,
    out: Path,
    *,
    size: int | None,
    horizon: str | None,
    settings: Sequence[str] | None,
    constants: str | None,
    self_loops: bool,
    rounded: bool,
) -> str | None:
    """The process that a target stands for, in the form of the file to write; None where no process is meant."""
    if not is_process(target, out):
        return None
    process = load_process(
        target,
        size=size,
        horizon=None if horizon is None else Horizon.of(horizon),
        settings=settings_of(settings) | constants_of(constants),
        self_loops=self_loops,
        rounded=rounded,
    )
    if self_loops:  # the label of states without a transition, of which there are none now
        kept = {label: marks for label, marks in process.labels.items() if label != "deadlock"}
        process = replace(process, labels=kept)
    return process_text(process, out)
