"""Verifying anybody's mechanism: noise that somebody else chose for a query of correlated data, or a mechanism for locations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privproof.asking import ask, question_with_claim
from privproof.engines.engine_protocol import EngineRequest
from privproof.errors import QuestionError
from privproof.exact import EpsilonLike, Number
from privproof.exact.measures import Orders, measured_budgets
from privproof.release.calibration import Calibrated, asked_about
from privproof.release.finite_frameworks import Protected
from privproof.release.ledger.quilt_accounting import Accountant
from privproof.release.locations.location_channels import Channel, ResampledLaplace, ShrunkLaplace
from privproof.release.locations.location_findings import LocationFinding
from privproof.release.locations.location_maps import Clamped, Resampled
from privproof.release.locations.location_verification import verify_locations
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace
from privproof.release.release_engine import LAWS
from privproof.release.release_question import Gaussian, Geometric, Laplace, Noise, Prior, ReleaseQuestion
from privproof.release.series_queries import Query
from privproof.scenarios.any_question import AnyQuestion

if TYPE_CHECKING:
    from privproof.evidence import Verdict

_PLACES = (PlanarLaplace, PlanarGeometric, Clamped, Resampled, Channel, ResampledLaplace, ShrunkLaplace)


def verify(
    subject: Calibrated | Protected | ReleaseQuestion | Prior | Sequence[Prior] | object,
    *,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    rho: EpsilonLike | None = None,
    renyi: Orders | None = None,
    query: Query | None = None,
    noise: Noise | None = None,
    length: int | None = None,
    lengths: Sequence[int] = (),
    name: str = "",
) -> Verdict | LocationFinding:
    """Is the mechanism private within the budget; without a budget, how private is it?

    Args:
        subject: a calibrated release, an account of several, a question, a mechanism for locations; or the priors of somebody else's
            release, which `query`, `noise` and `length` describe.
        epsilon: the claim; without it the subject's own claim counts, and without one the tight epsilon is looked for.
        delta: the second part of a claim about Gaussian noise.
        rho: instead of epsilon: the claim that all Rényi divergences are at most rho times their order.
        renyi: instead of epsilon: bounds on Rényi divergences by order, such as ``{2: "1/4"}``.
        query: what is released.
        noise: the noise that is added to every component.
        length: the length of the series.
        lengths: the lengths of several series.
        name: how reports call it.

    >>> from privproof.release.markov_chains import Chain
    >>> chain = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
    >>> from privproof.release.series_queries import count
    >>> found = verify(chain, length=30, query=count("walk"), noise=Laplace.of(1), epsilon=1)
    >>> found.status, found.witness.secrets
    ('refuted', ('X_15 = rest', 'X_15 = walk'))
    >>> verify(chain, length=30, query=count("walk"), noise=Gaussian.of(49), rho="1/10").status
    'proved'
    """
    if isinstance(subject, _PLACES):
        return verify_locations(subject, epsilon)
    question = subject.question if isinstance(subject, Calibrated | Protected | Accountant) else subject
    if isinstance(question, Prior | list | tuple):
        if query is None or not isinstance(noise, Geometric | Laplace | Gaussian):
            raise QuestionError(
                "noise",
                "what is released, and with which noise?",
                place="verify",
                hint="query=..., noise=Laplace.of(2)",
            )
        question = asked_about(question, query=query, noise=noise, length=length, lengths=lengths, name=name)
    if not isinstance(question, AnyQuestion):
        raise QuestionError(
            "question", f"{subject!r} is no mechanism", place="verify", hint="a calibrated release, or priors and noise"
        )
    claimed = question_with_claim(
        question, epsilon, delta if epsilon is not None else 0, measured_budgets(rho, None, renyi)
    )
    known = {LAWS: subject.laws} if isinstance(subject, Calibrated) else {}
    return ask(EngineRequest(claimed, tight=not claimed.claims, prepared=known))


def verify_calibrated(made: Calibrated) -> Verdict:
    """The verdict on a calibrated release; the laws that its noise was found by are not computed again."""
    return ask(EngineRequest(question_with_claim(made.question, None), prepared={LAWS: made.laws}))
