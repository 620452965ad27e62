"""Everything that can be asked about, as types."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from privproof.scenarios.formulas import FormulaQuestion
    from privproof.scenarios.locations import LocationQuestion
    from privproof.scenarios.parametric import ParametricQuestion
    from privproof.scenarios.programs import ProgramQuestion
    from privproof.scenarios.pufferfish import PufferfishQuestion
    from privproof.scenarios.question import Question
    from privproof.scenarios.releases import ReleaseQuestion
    from privproof.scenarios.streams import StreamQuestion

UnderPriors: TypeAlias = "PufferfishQuestion | ParametricQuestion"
"""A question under priors with unknown parameters."""

AnyQuestion: TypeAlias = "Question | UnderPriors | ProgramQuestion | StreamQuestion | ReleaseQuestion"
"""Whatever can be asked about."""

Verified: TypeAlias = "AnyQuestion | FormulaQuestion | LocationQuestion"
"""Whatever a verdict can be about."""
