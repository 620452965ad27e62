"""Methods side by side: the expected error at several budgets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privproof.errors import PrivproofError
from privproof.exact import Budget, EpsilonLike
from privproof.release.calibration import calibrate_known, laws_about
from privproof.release.calibration_methods import METHODS, Method
from privproof.release.influence_costs import QueryLaws, laws_work
from privproof.release.release_question import Prior
from privproof.release.series_queries import Query

_MOST_WORK = 4_000_000_000
"""Beyond so many operations the methods that need the exact laws of a sum are left out of a comparison."""


def errors_by_method(
    priors: Prior | Sequence[Prior],
    *,
    query: Query,
    epsilons: Sequence[EpsilonLike],
    lengths: Sequence[int] = (),
    entries: int | None = None,
    gaps: bool = False,
    methods: Sequence[Method] = METHODS,
) -> dict[str, tuple[Fraction | None, ...]]:
    """For every method the expected error at every budget; None where it does not apply.

    Methods that never apply, or would take very long, are left out.
    """
    listed = (priors,) if isinstance(priors, Prior) else tuple(priors)
    work = laws_work(listed[0], lengths, query) * len(listed) * len(epsilons)
    result: dict[str, tuple[Fraction | None, ...]] = {}
    laws: QueryLaws | None = None
    total = 0
    for method in methods:
        if work > _MOST_WORK and method in ("exact", "wasserstein"):
            continue
        row: list[Fraction | None] = []
        for epsilon in epsilons:
            try:
                if laws is None:
                    laws, total = laws_about(listed, query, None, lengths)
                count = total if entries is None else entries
                made = calibrate_known(
                    laws, budget=Budget.of(epsilon), entries=count, gaps=gaps, method=method, noise="laplace"
                )
                row.append(made.expected_error)
            except PrivproofError:
                row.append(None)
                if not any(row):
                    break
        if any(value is not None for value in row):
            result[method] = tuple(row)
    return result
