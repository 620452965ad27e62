"""The mechanisms with continuous noise as examples: each with its source in the literature and its known verdict."""

from __future__ import annotations

from privproof.library.laplace import laplace_noisy_max as noisy_max
from privproof.library.laplace import sparse_vector, sums
from privproof.library.library_entries import LibraryEntry

_CHECKDP = "Wang, Ding, Kifer, Zhang: CheckDP, 2020"
_LYU = "Lyu, Su, Li 2017"


ENTRIES: tuple[LibraryEntry, ...] = (
    LibraryEntry(noisy_max.noisy_max, "noisy max", "Dwork, Roth 2014, Section 3.3", "proved; tight in the limit"),
    LibraryEntry(noisy_max.noisy_min, "noisy min", _CHECKDP, "proved"),
    LibraryEntry(noisy_max.noisy_max_monotone, "noisy max, half the noise, monotone", "Dwork, Roth 2014", "proved"),
    LibraryEntry(
        noisy_max.noisy_max_exponential, "noisy max with exponential noise", "Ding et al. 2021", "proved; tight"
    ),
    LibraryEntry(noisy_max.noisy_max_value, "noisy max that releases the value", _CHECKDP, "refuted; size/2 is tight"),
    LibraryEntry(noisy_max.noisy_max_little_noise, "noisy max with half the noise", _CHECKDP, "refuted; 2 is tight"),
    LibraryEntry(sparse_vector.sparse_vector, "sparse vector", f"{_LYU}, Algorithm 1", "proved; tight in the limit"),
    LibraryEntry(sparse_vector.above_threshold, "above threshold", "Dwork, Roth 2014, Algorithm 1", "proved"),
    LibraryEntry(sparse_vector.sparse_vector_monotone, "monotone sparse vector", f"{_LYU}, Section 4.3", "proved"),
    LibraryEntry(sparse_vector.sparse_vector_gap, "sparse vector with gap", "Wang et al. 2019", "proved"),
    LibraryEntry(
        sparse_vector.sparse_vector_numerical, "numerical sparse vector", "Dwork, Roth 2014, Algorithm 3", "proved"
    ),
    LibraryEntry(sparse_vector.sparse_vector_adaptive, "adaptive sparse vector", "Ding et al. 2019", "proved"),
    LibraryEntry(sparse_vector.sparse_vector_redrawn, "sparse vector, redrawn", f"{_LYU}, Algorithm 2", "proved"),
    LibraryEntry(sparse_vector.sparse_vector_inverse, "sparse vector, counting below", "DPGen", "proved"),
    LibraryEntry(
        sparse_vector.sparse_vector_no_query_noise,
        "sparse vector without query noise",
        f"{_LYU}, Algorithm 5; BadSVT1",
        "refuted; no epsilon at all",
    ),
    LibraryEntry(
        sparse_vector.sparse_vector_no_cutoff,
        "sparse vector without a cut-off",
        f"{_LYU}, Algorithm 6; BadSVT2",
        "refuted; size/2 is tight",
    ),
    LibraryEntry(
        sparse_vector.sparse_vector_wrong_scales,
        "sparse vector with wrong scales",
        f"{_LYU}, Algorithm 4; BadSVT3",
        "refuted; (1 + 6N)/4 is tight",
    ),
    LibraryEntry(
        sparse_vector.sparse_vector_not_scaled,
        "sparse vector, not scaled by N",
        _CHECKDP,
        "refuted; (1 + N)/2 is tight",
    ),
    LibraryEntry(
        sparse_vector.sparse_vector_value,
        "sparse vector that releases the value",
        f"{_LYU}, Algorithm 3; BadGapSVT",
        "refuted; at least size/4 at N = 1",
    ),
    LibraryEntry(sparse_vector.sparse_vector_adaptive_value, "adaptive sparse vector, values", _CHECKDP, "refuted"),
    LibraryEntry(
        sparse_vector.sparse_vector_monotone_noise,
        "monotone noise, not monotone",
        f"{_LYU}, Section 4.3",
        "refuted; 3/2",
    ),
    LibraryEntry(
        sums.laplace_mechanism, "the Laplace mechanism", "Dwork, McSherry, Nissim, Smith 2006", "proved; tight"
    ),
    LibraryEntry(sums.partial_sum, "a noisy sum", _CHECKDP, "proved; tight"),
    LibraryEntry(sums.partial_sum_little_noise, "a noisy sum with half the noise", _CHECKDP, "refuted; 2 is tight"),
    LibraryEntry(sums.prefix_sum, "prefix sums", _CHECKDP, "proved; tight"),
    LibraryEntry(
        sums.prefix_sum_all_change, "prefix sums where every value may change", _CHECKDP, "proved; size is tight"
    ),
    LibraryEntry(sums.smart_sum, "smart sum", "Chan, Shi, Song 2011", "proved at 2"),
    LibraryEntry(sums.smart_sum_continued, "smart sum, going on from the last", "Wang et al. 2019", "proved at 2"),
    LibraryEntry(sums.binary_mechanism, "binary mechanism", "Chan, Shi, Song 2011", "proved"),
    LibraryEntry(
        sums.binary_mechanism_forgotten_level,
        "binary mechanism with a level too many",
        "by hand",
        "refuted; at least (levels + 1)/levels",
    ),
    LibraryEntry(
        sums.smart_sum_no_block_noise, "smart sum without block noise", _CHECKDP, "refuted; no epsilon at all"
    ),
    LibraryEntry(sums.noisy_histogram, "a noisy histogram", "Ding et al. 2018", "proved; tight"),
    LibraryEntry(
        sums.noisy_histogram_little_noise, "a histogram with half the noise", "Ding et al. 2018", "refuted; 2 is tight"
    ),
    LibraryEntry(
        sums.noisy_histogram_all_change, "a histogram whose cells all change", "Ding et al. 2018", "refuted; size"
    ),
    LibraryEntry(sums.reused_noise, "one noise for all values", _CHECKDP, "refuted; no epsilon at all"),
)
