"""The pictures of verdicts and profiles: from the answer alone to one SVG text, the same in reports, notebooks and pages.

`distribution_picture` draws both output distributions of a verdict's two situations side by side, and where they differ by more than
e^epsilon; `profile_picture` draws delta against epsilon.  Both are plain texts that begin with ``<svg``, without scripts, for light and
dark pages (`privproof.drawing.palette`).
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from privproof.drawing.bands import Twin, band_chart, density_chart
from privproof.drawing.charts import Line, line_chart
from privproof.evidence.verdicts import Verdict
from privproof.exact import Epsilon, Number, epsilon
from privproof.exact.number_texts import bound_words
from privproof.exact.probabilities import ball_of_probability
from privproof.profiles import Profile, SmallestDelta
from privproof.profiles.output_laws import SeenOutput
from privproof.reporting.report_registry import report_of

_POINTS = 101
"""Points of a curve between two corners, which are on it as well: more than a chart has columns for is not seen."""


def distribution_picture(verdict: Verdict) -> str | None:
    """Both output distributions of a verdict side by side, with where they differ by more than e^epsilon, as an SVG text.

    The two situations are those of the verdict's witness (``verdict.witness``): the counterexample of a refuted claim, or the pair that
    comes nearest to the bound of a proved one.  For every output there are two bars, the band that e^epsilon allows around the second,
    and in red what lies beyond it; nothing is red that was not found to be so exactly.  Where the whole distributions cannot be
    told (a stream, two noisy numbers, a release) the event of the witness stands beside everything else.

    Args:
        verdict: a verdict on anything.

    Returns:
        An ``<svg>`` element as text, 720 wide, for light and dark pages; None where the verdict has no witness (a proof by alignment,
        a verdict on a formula): there are no two situations to draw.

    >>> from privproof import check, integer, mechanism, truncated_geometric
    >>> @mechanism(epsilon="ln(2)")
    ... def noisy(count: integer(0, 2)):
    ...     return truncated_geometric(count, alpha="1/2", low=0, high=2)
    >>> distribution_picture(check(noisy)).startswith("<svg")
    True
    """
    laws = report_of(verdict.question).laws(verdict, verdict.question)
    if laws is None:
        return None
    bound = compared_bound(verdict)
    finite = bound is not None and not bound.infinite
    factor = float(bound.ball(64).exp().mid()) if bound is not None and finite else None
    rows = [_twin(row, bound) for row in laws.rows]
    words = bound_words(bound) if bound is not None and finite else ""
    title = verdict.question.name or "the mechanism"
    if laws.numbers:
        return density_chart(rows, title=title, left=laws.left, right=laws.right, factor=factor, bound=words)
    return band_chart(rows, title=title, left=laws.left, right=laws.right, factor=factor, bound=words, shown=laws.event)


def compared_bound(verdict: Verdict) -> Epsilon | None:
    """The epsilon that a picture compares with: the one that is claimed, or else the smallest that is known to be needed."""
    budget = verdict.question.budget
    if budget is not None and not verdict.asked_tight:
        return budget.epsilon
    return verdict.tight if verdict.tight is not None else verdict.lower


def profile_picture(
    profile: Profile | Sequence[SmallestDelta], *, claimed: Epsilon | None = None, up_to: Number | None = None
) -> str:
    """Delta against epsilon, as an SVG text: the exact curve of a profile, or the enclosed deltas of `delta_curve`.

    Args:
        profile: a profile, or the smallest deltas at some epsilons.
        claimed: an epsilon to be marked.
        up_to: where the curve of a profile ends; just beyond its last corner where not given.

    Raises:
        ValueError: there is no finite point to draw.

    >>> from privproof import privacy_profile
    >>> from privproof.library.noisy_max import noisy_max_question
    >>> profile_picture(privacy_profile(noisy_max_question(2, improved=True))).count("<polyline")
    1
    """
    marks = [] if claimed is None or claimed.infinite else [(_float(claimed), f"claimed {claimed.decimal(digits=4)}")]
    if isinstance(profile, Profile):
        lines = [Line("", _curve_points(profile, up_to))]
        tight = profile.epsilon()
        if not tight.infinite and (up_to is None or tight.compare(epsilon(up_to)) <= 0):
            marks.append((_float(tight), f"delta 0 from {tight.decimal(digits=4)} on"))
        title = f"{profile.name}: the privacy profile"
    else:
        upper = tuple((_float(each.epsilon), float(each.upper)) for each in profile)
        lower = tuple((_float(each.epsilon), float(each.lower)) for each in profile)
        lines = [Line("", upper)] if upper == lower else [Line("at most", upper), Line("at least", lower, dashed=True)]
        title = f"{profile[0].question.name}: the privacy profile, enclosed"
    return line_chart(lines, title=title, x_label="epsilon", y_label="delta", marks=marks)


def _curve_points(profile: Profile, up_to: Number | None) -> tuple[tuple[float, float], ...]:
    """The points of an exact curve, its corners among them."""
    evenly = [(_float(point.epsilon), float(point.delta.high)) for point in profile.points(_POINTS, up_to=up_to)]
    corners = ((float(arb(c).log()), float(arb(delta))) for c, delta in profile.corners)
    with_corners = [corner for corner in corners if corner[0] <= evenly[-1][0]]
    return tuple(sorted({*evenly, *with_corners}))


def _twin(row: SeenOutput, bound: Epsilon | None) -> Twin:
    left, right = (float(ball_of_probability(side, 64).mid()) for side in (row.left, row.right))
    beyond = bound is not None and row.beyond(bound)
    ends = None
    if row.ends is not None and row.ends[0] is not None and row.ends[1] is not None:
        ends = (float(row.ends[0]), float(row.ends[1]))
    return Twin(row.text, max(left, 0.0), max(right, 0.0), beyond, ends)


def _float(value: Epsilon) -> float:
    return float(value.ball(64).mid())
