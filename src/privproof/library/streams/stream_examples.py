"""The mechanisms on streams as examples: each with its source in the literature and its known verdict."""

from __future__ import annotations

from privproof.library.library_entries import LibraryEntry
from privproof.library.streams import several, thresholds

_LYU = "Lyu, Su, Li 2017"
_FARZAN = "Farzan, Li, Nikolov, Nittoor 2025"
_CHADHA = "Chadha, Sistla, Viswanathan, Bhusal 2023"

ENTRIES: tuple[LibraryEntry, ...] = (
    LibraryEntry(thresholds.above_threshold, "above threshold on a stream", "Dwork, Roth 2014", "proved; 1 is tight"),
    LibraryEntry(thresholds.below_threshold, "below threshold on a stream", "Dwork, Roth 2014", "proved; 1 is tight"),
    LibraryEntry(thresholds.above_threshold_monotone, "above threshold, monotone", _LYU, "proved; 3/4 is tight"),
    LibraryEntry(thresholds.secret_threshold, "above a threshold that is secret too", _FARZAN, "proved; 3/2 is tight"),
    LibraryEntry(thresholds.sparse_vector, "sparse vector on a stream", f"{_LYU}, Algorithm 1", "proved; 1 is tight"),
    LibraryEntry(
        thresholds.sparse_vector_redrawn, "sparse vector, redrawn", f"{_LYU}, Algorithm 2", "proved; 1 is tight"
    ),
    LibraryEntry(thresholds.sparse_vector_gap, "sparse vector with gap", "Wang et al. 2019", "proved; 1 is tight"),
    LibraryEntry(
        thresholds.sparse_vector_numerical, "numerical sparse vector", "Dwork, Roth 2014", "proved; 1 is tight"
    ),
    LibraryEntry(
        thresholds.sparse_vector_value,
        "sparse vector that releases the answer",
        f"{_LYU}, Algorithm 3",
        "refuted; privacy violating path",
    ),
    LibraryEntry(
        thresholds.sparse_vector_wrong_scales,
        "sparse vector with wrong scales",
        f"{_LYU}, Algorithm 4",
        "refuted; 19/4 is tight",
    ),
    LibraryEntry(
        thresholds.sparse_vector_no_query_noise,
        "sparse vector without query noise",
        f"{_LYU}, Algorithm 5",
        "refuted; no epsilon at all",
    ),
    LibraryEntry(
        thresholds.sparse_vector_no_cutoff,
        "sparse vector without a cut-off",
        f"{_LYU}, Algorithm 6",
        "refuted; leaking pair",
    ),
    LibraryEntry(thresholds.threshold_each_time, "a new threshold every time", _FARZAN, "refuted; leaking cycle"),
    LibraryEntry(
        thresholds.rearmed, "a new threshold after every answer above, forever", _FARZAN, "refuted; leaking cycle"
    ),
    LibraryEntry(thresholds.falling, "as long as noisy answers fall", _FARZAN, "refuted; leaking cycle"),
    LibraryEntry(thresholds.two_phases, "two phases, one threshold", _FARZAN, "refuted; leaking pair"),
    LibraryEntry(thresholds.two_phases_redrawn, "two phases, two thresholds", _FARZAN, "proved; 2 is tight"),
    LibraryEntry(thresholds.two_phases_kept, "two phases, the answer above kept", _FARZAN, "refuted; leaking pair"),
    LibraryEntry(thresholds.branch_first, "one way or the other", _FARZAN, "proved; 3 is tight"),
    LibraryEntry(thresholds.threshold_shown, "the threshold is shown", _FARZAN, "refuted; privacy violating path"),
    LibraryEntry(thresholds.answers_shown, "answers are shown", _FARZAN, "refuted; disclosing cycle"),
    LibraryEntry(thresholds.one_comparison, "one answer against another", _FARZAN, "proved; 1/5 is tight"),
    LibraryEntry(several.between_thresholds, "between two thresholds", _CHADHA, "proved; 1 is tight"),
    LibraryEntry(
        several.outside_thresholds, "outside two thresholds", "Bun, Steinke, Ullman 2017", "refuted; leaking pair"
    ),
    LibraryEntry(several.ranges, "ranges one after the other", f"{_CHADHA}, m-range", "proved; 1 is tight"),
    LibraryEntry(several.min_max, "between the least and the largest", f"{_CHADHA}, k-min-max", "proved; 1 is tight"),
    LibraryEntry(
        several.range_value, "the answer that leaves a range", f"{_CHADHA}, num_range", "refuted; violating path"
    ),
    LibraryEntry(
        several.two_ranges, "two ranges that share a threshold", f"{_CHADHA}, two_range", "refuted; leaking pair"
    ),
    LibraryEntry(
        several.shrinking_range, "a range that shrinks", f"{_CHADHA}, leaking_cycle", "refuted; leaking cycle"
    ),
)
