"""Methods side by side: the expected error at several budgets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privproof.errors import PrivproofError
from privproof.exact import EpsilonLike
from privproof.release.calibrating import METHODS, Method, calibrate
from privproof.scenarios.queries import Query
from privproof.scenarios.releases import Prior


def errors_by_method(
    priors: Prior | Sequence[Prior],
    *,
    query: Query,
    epsilons: Sequence[EpsilonLike],
    lengths: Sequence[int] = (),
    entries: int | None = None,
    methods: Sequence[Method] = METHODS,
) -> dict[str, tuple[Fraction | None, ...]]:
    """For every method the expected error at every budget; None where it does not apply.  Methods that never apply are left out."""
    result: dict[str, tuple[Fraction | None, ...]] = {}
    for method in methods:
        row: list[Fraction | None] = []
        for epsilon in epsilons:
            try:
                made = calibrate(
                    priors,
                    query=query,
                    epsilon=epsilon,
                    lengths=lengths,
                    entries=entries,
                    method=method,
                    noise="laplace",
                )
                row.append(made.expected_error)
            except PrivproofError:
                row.append(None)
                if not any(row):
                    break
        if any(value is not None for value in row):
            result[method] = tuple(row)
    return result
