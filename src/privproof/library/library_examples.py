"""The list of examples that ``privproof examples`` shows: each a question, its source, and its known verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from privproof.compiling import mechanism_question
from privproof.compiling.posing import pose_question
from privproof.exact import Budget
from privproof.language import Mechanism
from privproof.library import discrete_gaussian, gaussian, mechanisms
from privproof.library import secret_examples as secrets
from privproof.library.above_threshold import above_threshold, above_threshold_two_copies
from privproof.library.geometric import contagious, geometric, geometric_chain
from privproof.library.laplace.laplace_examples import ENTRIES
from privproof.library.noisy_max import noisy_max_hmm, noisy_max_question
from privproof.library.satisfiability import satisfiability
from privproof.library.streams import stream_examples as streams
from privproof.models import Horizon
from privproof.release.release_examples import entry_release, lecture_release, quilt_release
from privproof.scenarios import AnyQuestion, Question, program_question


@dataclass(frozen=True)
class Example:
    """An entry of the library.

    Attributes:
        name: what ``privproof examples NAME`` takes.
        title: one line on the mechanism and the scenario.
        citation: where it comes from.
        known: the verdict that is known, in words; shown beside the verdict found, never used to find it.
        question: makes the question, with a budget where a claim is made.
        mechanism: the mechanism in the language, if it is one.
    """

    name: str
    title: str
    citation: str
    known: str
    question: Callable[[], AnyQuestion]
    mechanism: Mechanism | None = None


_FAIER = "Liu, Wang, Zhang: Verifying Pufferfish Privacy in Hidden Markov Models"
_DPCTL = "Liu, Wang, Zhang: Model Checking Differentially Private Properties"
_GRS = "Ghosh, Roughgarden, Sundararajan 2009"


def _claim_maker(make: Callable[[], Question], epsilon: str) -> Callable[[], Question]:
    return lambda: make().under(Budget.of(epsilon))


def _question_maker(
    subject: Mechanism, *, size: int | None = None, horizon: Horizon | None = None
) -> Callable[[], Question]:
    return lambda: mechanism_question(subject, size=size, horizon=horizon)


def _own_claim_question(subject: Mechanism) -> AnyQuestion:
    """The question whether a mechanism keeps its own claim, in whatever measure."""
    question = pose_question(subject)
    return question if question.claims else question.measured(question.own_budgets)


def _tight(make: Callable[[], Question]) -> Callable[[], Question]:
    return lambda: make().under(None)


MECHANISMS: tuple[Example, ...] = (
    Example(
        "plain-geometric",
        "a count in 0..5 with geometric noise on all integers, claimed ln(2)",
        _GRS,
        "proved; ln(2) is tight",
        _question_maker(mechanisms.plain_geometric),
        mechanisms.plain_geometric,
    ),
    Example(
        "bounded-geometric",
        "the truncated geometric mechanism on 0..5, claimed ln(2)",
        _GRS,
        "proved; ln(2) is tight",
        _question_maker(mechanisms.bounded_geometric),
        mechanisms.bounded_geometric,
    ),
    Example(
        "clamped-geometric",
        "geometric noise at epsilon 1, clamped to 0..5",
        "the right way to keep noise in a range; Ghosh, Roughgarden, Sundararajan 2009",
        "proved; 1 is tight (up to the rounding of e^-1 to a multiple of 2^-64)",
        _question_maker(mechanisms.clamped_geometric),
        mechanisms.clamped_geometric,
    ),
    Example(
        "rejected-geometric",
        "geometric noise at nominal epsilon 1, drawn again until it falls into 0..5",
        "a bug of bounded-domain noise; see Holohan, Antonatos, Braghin, Mac Aonghusa 2020",
        "refuted; tight is 1 + ln((1+2a+a^2+a^3+a^4)/(1+a+a^2+a^3+a^4+a^5)) with a = e^-1, about 1.20608",
        _question_maker(mechanisms.rejected_geometric),
        mechanisms.rejected_geometric,
    ),
    Example(
        "noisy-count",
        "how many of 4 people said yes, with geometric noise, claimed ln(2); one answer changes",
        "Dwork, McSherry, Nissim, Smith 2006, with discrete noise",
        "proved; ln(2) is tight",
        _question_maker(mechanisms.noisy_count, size=4),
        mechanisms.noisy_count,
    ),
    Example(
        "naive-noisy-max",
        "noisy max of 3 queries, first index wins ties, claimed ln(2); every query may change",
        f"{_FAIER}, Algorithm 2",
        "refuted; ln(8) is tight",
        _question_maker(mechanisms.naive_noisy_max, size=3),
        mechanisms.naive_noisy_max,
    ),
    Example(
        "improved-noisy-max",
        "noisy max of 3 queries, ties broken uniformly, claimed ln(24/7); every query may change",
        f"{_FAIER}, Algorithm 3",
        "proved; ln(24/7) is tight",
        _question_maker(mechanisms.improved_noisy_max, size=3),
        mechanisms.improved_noisy_max,
    ),
    Example(
        "above-threshold",
        "discrete above threshold on streams of up to 5 queries, claimed 4*ln(2)",
        f"{_FAIER}, Algorithm 4",
        "refuted by 5 queries; the ratio doubles with each query",
        _question_maker(mechanisms.discrete_above_threshold, horizon=Horizon.up_to(5)),
        mechanisms.discrete_above_threshold,
    ),
    Example(
        "above-threshold-unbounded",
        "discrete above threshold on streams of every length: how private is it?",
        f"{_FAIER}, Algorithm 4",
        "refuted; there is no epsilon at all: repeating one pair of queries doubles the ratio",
        _tight(_question_maker(mechanisms.discrete_above_threshold)),
        mechanisms.discrete_above_threshold,
    ),
    Example(
        "survey",
        "randomised response to one question, by two coins, claimed ln(3)",
        f"{_DPCTL}, Section 3.1; Warner 1965",
        "proved; ln(3) is tight",
        _question_maker(mechanisms.survey),
        mechanisms.survey,
    ),
    Example(
        "double-survey",
        "the survey taken twice, claimed ln(9)",
        f"{_DPCTL}, Section 6",
        "proved; ln(9) is tight",
        _question_maker(mechanisms.double_survey),
        mechanisms.double_survey,
    ),
    Example(
        "interactive-survey",
        "one request for an answer of low or high accuracy, claimed ln(4)",
        f"{_DPCTL}, Section 7",
        "proved; ln(4) is tight, and every further request adds ln(4)",
        _question_maker(mechanisms.interactive_survey, horizon=Horizon.up_to(1)),
        mechanisms.interactive_survey,
    ),
    Example(
        "subsampling-majority",
        "the majority of 3 people by subsampling, geometric noise, claimed (ln(4), 1/10)",
        f"{_DPCTL}, Algorithm 1; Dwork and Roth 2014",
        "proved; with delta = 0 there is no epsilon at all",
        _question_maker(mechanisms.subsampling_majority, size=3),
        mechanisms.subsampling_majority,
    ),
    Example(
        "exponential-mechanism",
        "one of 3 candidates by scores in 0..2, claimed ln(4); every score may change",
        "McSherry and Talwar 2007",
        "proved; ln(3) is tight for 3 candidates",
        _question_maker(mechanisms.exponential_choice, size=3),
        mechanisms.exponential_choice,
    ),
    Example(
        "permute-and-flip",
        "the same by permute-and-flip, claimed ln(4)",
        "McKenna and Sheldon 2020",
        "proved; ln(4) is tight",
        _question_maker(mechanisms.permute_and_flip, size=3),
        mechanisms.permute_and_flip,
    ),
    Example(
        "rappor",
        "basic one-time RAPPOR for one of three values, f = 1/2, claimed ln(9)",
        "Erlingsson, Pihur, Korolova 2014",
        "proved; ln(9) is tight",
        _question_maker(mechanisms.rappor),
        mechanisms.rappor,
    ),
)

SECRETS: tuple[Example, ...] = (
    Example(
        "contagious-count",
        "a noisy count of a family in which all are ill or none, any 0 < p < 1, claimed ln(2)",
        f"{_FAIER}, Examples 4.3 and 4.4",
        "refuted; ln(4) is tight",
        lambda: secrets.contagious_count,
    ),
    Example(
        "independent-count",
        "a noisy count of two independent people, any 0 < p < 1, claimed ln(2)",
        f"{_FAIER}, Example 4.5, with the secret about John himself",
        "proved; ln(2) is tight",
        lambda: secrets.independent_count,
    ),
    Example(
        "independent-count-as-printed",
        "the same, with and without John's record, conditioned as printed",
        f"{_FAIER}, Example 4.5 and Table 1",
        "proved; ln(2) is approached as p goes to 0",
        lambda: secrets.independent_count_as_printed,
    ),
    Example(
        "independent-noisy-max",
        "improved noisy max over three independent diseases of unknown probability, claimed ln(2)",
        f"{_FAIER}, Example 6.2, with the secret about John himself",
        "proved",
        lambda: secrets.independent_noisy_max,
    ),
    Example(
        "independent-noisy-max-as-printed",
        "the same, conditioned as printed",
        f"{_FAIER}, Example 6.2",
        "proved; ln(40/21) is approached as the probabilities go to 0, 1, 1",
        lambda: secrets.independent_noisy_max_as_printed,
    ),
    Example(
        "contagious-noisy-max",
        "improved noisy max, the first disease contagious, claimed ln(2)",
        f"{_FAIER}, Example 6.3",
        "refuted; ln(24/7) is approached",
        lambda: secrets.contagious_noisy_max,
    ),
)

MODELS: tuple[Example, ...] = (
    Example(
        "geometric",
        "truncated 1/2-geometric mechanism on a count in 0..2, claimed ln(2)",
        f"{_FAIER}, Example 4.2",
        "proved; ln(2) is tight",
        _claim_maker(geometric, "ln(2)"),
    ),
    Example(
        "geometric-chain",
        "the same as a Markov chain",
        f"{_FAIER}, Example 4.1",
        "proved; ln(2) is tight",
        _claim_maker(geometric_chain, "ln(2)"),
    ),
    Example(
        "contagious",
        "the same for a family in which all or none are ill (Pufferfish), claimed ln(2)",
        f"{_FAIER}, Examples 4.3 and 4.4",
        "refuted; ln(4) is tight",
        _claim_maker(contagious, "ln(2)"),
    ),
    Example(
        "naive-noisy-max-transducer",
        "naive noisy max of 3 queries, as a transducer; every query may change",
        f"{_FAIER}, Algorithm 2",
        "tight epsilon ln(8)",
        lambda: noisy_max_question(3, improved=False),
    ),
    Example(
        "improved-noisy-max-transducer",
        "improved noisy max of 3 queries, as a transducer; every query may change",
        f"{_FAIER}, Algorithm 3",
        "tight epsilon ln(24/7)",
        lambda: noisy_max_question(3, improved=True),
    ),
    Example(
        "naive-noisy-max-hmm",
        "naive noisy max as the hidden Markov model of Fig. 2, claimed ln(2)",
        f"{_FAIER}, Example 6.1",
        "refuted; ln(8) is tight",
        _claim_maker(lambda: noisy_max_hmm(3, improved=False), "ln(2)"),
    ),
    Example(
        "improved-noisy-max-hmm",
        "improved noisy max as the hidden Markov model of Fig. 2, claimed ln(24/7)",
        f"{_FAIER}, Section 6.2.2",
        "proved; ln(24/7) is tight",
        _claim_maker(lambda: noisy_max_hmm(3, improved=True), "ln(24/7)"),
    ),
    Example(
        "above-threshold-transducer",
        "discrete above threshold on up to 5 queries, as a transducer, claimed 4*ln(2)",
        f"{_FAIER}, Algorithm 4",
        "refuted by 5 queries; the ratio doubles with each query",
        _claim_maker(lambda: replace(above_threshold(), horizon=Horizon.up_to(5)), "4*ln(2)"),
    ),
    Example(
        "above-threshold-two-copies",
        "the same as the two-copy hidden Markov model of Fig. 3, words up to 11, claimed 4*ln(2)",
        f"{_FAIER}, Fig. 3 and Table 2",
        "refuted by a word of length 11, by none shorter",
        _claim_maker(lambda: above_threshold_two_copies(horizon=Horizon.up_to(11)), "4*ln(2)"),
    ),
    Example(
        "satisfiability",
        "the hardness construction for (x1 or not x2) and (not x1)",
        f"{_FAIER}, Theorem 5.2 and appendix 10.1",
        "tight epsilon ln(4), because the formula is satisfiable",
        lambda: satisfiability([[1, -2], [-1]]),
    ),
)

LAPLACE: tuple[Example, ...] = tuple(
    Example(
        f"laplace-{entry.mechanism.name.removeprefix('laplace_').replace('_', '-')}",
        entry.title,
        entry.citation,
        entry.known,
        partial(program_question, entry.mechanism),
        entry.mechanism,
    )
    for entry in ENTRIES
)

GAUSSIAN: tuple[Example, ...] = tuple(
    Example(
        f"delta-{entry.mechanism.name.replace('_', '-')}",
        entry.title,
        entry.citation,
        entry.known,
        partial(_own_claim_question, entry.mechanism),
        entry.mechanism,
    )
    for entry in gaussian.ENTRIES
)

STREAMS: tuple[Example, ...] = tuple(
    Example(
        f"stream-{entry.mechanism.name.replace('_', '-')}",
        entry.title,
        entry.citation,
        entry.known,
        partial(program_question, entry.mechanism),
        entry.mechanism,
    )
    for entry in streams.ENTRIES
)

RELEASES: tuple[Example, ...] = (
    Example(
        "release-quilt",
        "a count of a correlated series with Markov quilt noise, under two chains, claimed 1",
        "Song, Wang, Chaudhuri 2017, running example",
        "proved; the noise is more than needed",
        quilt_release,
    ),
    Example(
        "release-independent",
        "a count of a correlated series with noise for independent entries, claimed 1",
        "Song, Wang, Chaudhuri 2017, Section 1",
        "refuted; its loss is about 3.29822",
        entry_release,
    ),
    Example(
        "release-lecture",
        "a count with the noise of the lecture notes' Algorithm 2, claimed 5",
        "Chaudhuri 2020, Algorithm 2",
        "refuted; its loss is about 19.53",
        lecture_release,
    ),
)

_CKS = "Canonne, Kamath, Steinke 2020"

DISCRETE_GAUSSIAN: tuple[Example, ...] = (
    Example(
        "discrete-gaussian-histogram",
        "a histogram of every length with discrete Gaussian noise, claimed (1, 0.038); one record changes",
        _CKS,
        "proved; the delta of two counts, 0.03796944",
        partial(program_question, discrete_gaussian.discrete_histogram),
        discrete_gaussian.discrete_histogram,
    ),
    Example(
        "discrete-gaussian-sum",
        "a sum of every length with discrete Gaussian noise, claimed (1, 0.00683); one record more or less",
        _CKS,
        "proved; the delta of one number that moves by half its standard deviation, 0.00682951",
        partial(program_question, discrete_gaussian.discrete_sum),
        discrete_gaussian.discrete_sum,
    ),
    Example(
        "discrete-gaussian-normal-delta",
        "a count with discrete Gaussian noise and the delta of normal noise, claimed (1, 0.00683)",
        _CKS,
        "refuted; the delta is 0.00724878",
        partial(program_question, discrete_gaussian.normal_delta),
        discrete_gaussian.normal_delta,
    ),
)

EXAMPLES: tuple[Example, ...] = (
    *MECHANISMS,
    *SECRETS,
    *MODELS,
    *LAPLACE,
    *GAUSSIAN,
    *DISCRETE_GAUSSIAN,
    *STREAMS,
    *RELEASES,
)
