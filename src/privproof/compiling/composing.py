"""From mechanisms to the question about several uses of them."""

from __future__ import annotations

from collections.abc import Mapping

from privproof.compiling.posing import Subject, pose_question
from privproof.exact import Number
from privproof.language.inputs import Input
from privproof.language.mechanism import Relation
from privproof.scenarios import AnyQuestion, ComposedQuestion, SamplingKind, Use, composed_question, sampling_of_kind


def composed(
    *subjects: Subject,
    times: int = 1,
    rate: Number | None = None,
    sampled: SamplingKind = "poisson",
    size: int | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    **named: Input,
) -> ComposedQuestion:
    """Several uses of mechanisms on the same data, each chosen with the results of those before in view, as one question.

    Args:
        subjects: mechanisms, functions or questions; those that are compositions already are taken as they are.
        times: how often each of the others is used.
        rate: for uses on samples of the data: the probability, or the share, of a record to be in the sample.
        sampled: how records are sampled: ``poisson``, for data to which a record is added or from which one is removed, or
            ``without-replacement``, for data of which one record is changed.
        size: the length of lists, where their declaration leaves it open.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function which data sets are neighbours, where it does not say it.
        named: the same as `inputs`, by name.

    >>> from privproof import integer, laplace, mechanism, smallest_delta
    >>> @mechanism
    ... def count(n: integer(0, 1)):
    ...     return laplace(n, scale=10)
    >>> found = smallest_delta(composed(count, times=30), 1)
    >>> print(f"{float(found.lower):.6f} {float(found.upper):.6f}")
    0.010114 0.010115
    """
    chosen = None if rate is None else sampling_of_kind(sampled, rate)
    given = {**(inputs or {}), **named} or None
    uses: list[Use] = []
    for subject in subjects:
        posed = (
            subject
            if isinstance(subject, AnyQuestion)
            else pose_question(subject, size=size, inputs=given, neighbours=neighbours)
        )
        uses += posed.used(times, chosen)
    return composed_question(*uses)
