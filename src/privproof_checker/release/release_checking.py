"""The checker of certificates about releases: quilts, contraction, distances or laws that prove, an event that refutes.

A release answers a query about correlated data with noise.  Read it in this order: `priors`, `losses`, `questions` (the
question); `powers`, `influences`, `quilts`, `parts`, `contraction`, `networks` (proofs from influence and distance); `laws`,
`distances`, `counts`, `outputs`, `couplings` (proofs from the law of a sum); `events` (refutations); `shifts` (real numbers).
"""

from __future__ import annotations

from privproof_checker.outcomes import Accepted, Limits, Verdict, refuse
from privproof_checker.plain_documents import a_text, an_object
from privproof_checker.release.bayes_networks import proved_by_network_quilts
from privproof_checker.release.contraction import proved_by_contraction
from privproof_checker.release.law_distances import proved_by_distance
from privproof_checker.release.markov_quilts import proved_by_quilts
from privproof_checker.release.mixture_parts import proved_by_parts
from privproof_checker.release.release_events import refuted_by_event
from privproof_checker.release.release_losses import Gaussian
from privproof_checker.release.release_outputs import proved_by_laws
from privproof_checker.release.release_priors import Band, Chain
from privproof_checker.release.release_questions import read_release
from privproof_checker.release.sum_couplings import proved_by_coupling

__all__ = ["check_release"]


def check_release(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about a release."""
    release = read_release(asked, limits)
    if certificate.get("witness") is not None:
        refuse("a certificate about a release has no witness", "witness")
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if release.gaussian_chain or method == "shifts":
        if not release.gaussian_chain or method != "shifts":
            refuse(f"{method[:40]!r} is no evidence under this prior", "evidence.method")
        from privproof_checker.release.gaussian_shifts import check_shifts

        return check_shifts(verdict, release, evidence)
    if isinstance(release.noise, Gaussian):
        if verdict != "proved" or method not in ("coupling", "quilts", "parts", "contraction"):
            refuse(f"with Gaussian noise {method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
        if method == "coupling":
            return proved_by_coupling(release, evidence, limits)
    if verdict == "refuted" and method == "event":
        return refuted_by_event(release, evidence, limits)
    if verdict == "proved" and method == "laws":
        return proved_by_laws(release, evidence, limits)
    if verdict == "proved" and method == "distance":
        return proved_by_distance(release, evidence, limits)
    if verdict == "proved" and method == "quilts":
        if release.networks:
            return proved_by_network_quilts(release, evidence, limits)
        if not all(isinstance(prior, Chain) for prior in release.priors):
            refuse("quilts are for chains and networks", "evidence.method")
        return proved_by_quilts(release, evidence, limits)
    if verdict == "proved" and method == "parts":
        if not all(isinstance(prior, Chain) for prior in release.priors):
            refuse("parts are those of chains", "evidence.method")
        return proved_by_parts(release, evidence, limits)
    if verdict == "proved" and method == "contraction":
        if not all(isinstance(prior, Chain | Band) for prior in release.priors):
            refuse("contraction is for chains and bands", "evidence.method")
        return proved_by_contraction(release, evidence, limits)
    refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
