"""The list of examples that ``privproof examples`` shows: each a question, its source, and its known verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from privproof.exact import Budget
from privproof.library.above_threshold import above_threshold, above_threshold_two_copies
from privproof.library.geometric import contagious, geometric, geometric_chain
from privproof.library.noisy_max import noisy_max_hmm, noisy_max_question
from privproof.library.satisfiability import satisfiability
from privproof.models import Horizon
from privproof.scenarios import Question


@dataclass(frozen=True)
class Example:
    """An entry of the library.

    Attributes:
        name: what ``privproof examples NAME`` takes.
        title: one line on the mechanism and the scenario.
        citation: where it comes from.
        known: the verdict that is known, in words; shown beside the verdict found, never used to find it.
        question: makes the question, with a budget where a claim is made.
    """

    name: str
    title: str
    citation: str
    known: str
    question: Callable[[], Question]


_FAIER = "Liu, Wang, Zhang: Verifying Pufferfish Privacy in Hidden Markov Models"


def _claiming(make: Callable[[], Question], epsilon: str) -> Callable[[], Question]:
    return lambda: make().under(Budget.of(epsilon))


EXAMPLES: tuple[Example, ...] = (
    Example(
        "geometric",
        "truncated 1/2-geometric mechanism on a count in 0..2, claimed ln(2)",
        f"{_FAIER}, Example 4.2",
        "proved; ln(2) is tight",
        _claiming(geometric, "ln(2)"),
    ),
    Example(
        "geometric-chain",
        "the same as a Markov chain",
        f"{_FAIER}, Example 4.1",
        "proved; ln(2) is tight",
        _claiming(geometric_chain, "ln(2)"),
    ),
    Example(
        "contagious",
        "the same for a family in which all or none are ill (Pufferfish), claimed ln(2)",
        f"{_FAIER}, Examples 4.3 and 4.4",
        "refuted; ln(4) is tight",
        _claiming(contagious, "ln(2)"),
    ),
    Example(
        "naive-noisy-max",
        "noisy max of 3 queries, first index wins ties; every query may change",
        f"{_FAIER}, Algorithm 2",
        "tight epsilon ln(8)",
        lambda: noisy_max_question(3, improved=False),
    ),
    Example(
        "improved-noisy-max",
        "noisy max of 3 queries, ties broken uniformly; every query may change",
        f"{_FAIER}, Algorithm 3",
        "tight epsilon ln(24/7)",
        lambda: noisy_max_question(3, improved=True),
    ),
    Example(
        "naive-noisy-max-hmm",
        "naive noisy max as the hidden Markov model of Fig. 2, claimed ln(2)",
        f"{_FAIER}, Example 6.1",
        "refuted; ln(8) is tight",
        _claiming(lambda: noisy_max_hmm(3, improved=False), "ln(2)"),
    ),
    Example(
        "improved-noisy-max-hmm",
        "improved noisy max as the hidden Markov model of Fig. 2, claimed ln(24/7)",
        f"{_FAIER}, Section 6.2.2",
        "proved; ln(24/7) is tight",
        _claiming(lambda: noisy_max_hmm(3, improved=True), "ln(24/7)"),
    ),
    Example(
        "above-threshold",
        "discrete above threshold on up to 5 queries, claimed 4*ln(2)",
        f"{_FAIER}, Algorithm 4",
        "refuted by 5 queries; the ratio doubles with each query",
        _claiming(lambda: replace(above_threshold(), horizon=Horizon.up_to(5)), "4*ln(2)"),
    ),
    Example(
        "above-threshold-two-copies",
        "the same as the two-copy hidden Markov model of Fig. 3, words up to 11, claimed 4*ln(2)",
        f"{_FAIER}, Fig. 3 and Table 2",
        "refuted by a word of length 11, by none shorter",
        _claiming(lambda: above_threshold_two_copies(horizon=Horizon.up_to(11)), "4*ln(2)"),
    ),
    Example(
        "satisfiability",
        "the hardness construction for (x1 or not x2) and (not x1)",
        f"{_FAIER}, Theorem 5.2 and appendix 10.1",
        "tight epsilon ln(4), because the formula is satisfiable",
        lambda: satisfiability([[1, -2], [-1]]),
    ),
)
