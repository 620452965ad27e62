"""The mechanisms on streams as examples: each with its source in the literature and its known verdict."""

from __future__ import annotations

from privproof.library.laplace.laplace_examples import Entry
from privproof.library.streams import several, thresholds

_LYU = "Lyu, Su, Li 2017"
_FARZAN = "Farzan, Li, Nikolov, Nittoor 2025"
_CHADHA = "Chadha, Sistla, Viswanathan, Bhusal 2023"

ENTRIES: tuple[Entry, ...] = (
    Entry(thresholds.above_threshold, "above threshold on a stream", "Dwork, Roth 2014", "proved; 1 is tight"),
    Entry(thresholds.below_threshold, "below threshold on a stream", "Dwork, Roth 2014", "proved; 1 is tight"),
    Entry(thresholds.above_threshold_monotone, "above threshold, monotone", _LYU, "proved; 3/4 is tight"),
    Entry(thresholds.secret_threshold, "above a threshold that is secret too", _FARZAN, "proved; 3/2 is tight"),
    Entry(thresholds.sparse_vector, "sparse vector on a stream", f"{_LYU}, Algorithm 1", "proved; 1 is tight"),
    Entry(thresholds.sparse_vector_redrawn, "sparse vector, redrawn", f"{_LYU}, Algorithm 2", "proved; 1 is tight"),
    Entry(thresholds.sparse_vector_gap, "sparse vector with gap", "Wang et al. 2019", "proved; 1 is tight"),
    Entry(thresholds.sparse_vector_numerical, "numerical sparse vector", "Dwork, Roth 2014", "proved; 1 is tight"),
    Entry(
        thresholds.sparse_vector_value,
        "sparse vector that releases the answer",
        f"{_LYU}, Algorithm 3",
        "refuted; privacy violating path",
    ),
    Entry(
        thresholds.sparse_vector_wrong_scales,
        "sparse vector with wrong scales",
        f"{_LYU}, Algorithm 4",
        "refuted; 19/4 is tight",
    ),
    Entry(
        thresholds.sparse_vector_no_query_noise,
        "sparse vector without query noise",
        f"{_LYU}, Algorithm 5",
        "refuted; no epsilon at all",
    ),
    Entry(
        thresholds.sparse_vector_no_cutoff,
        "sparse vector without a cut-off",
        f"{_LYU}, Algorithm 6",
        "refuted; leaking pair",
    ),
    Entry(thresholds.threshold_each_time, "a new threshold every time", _FARZAN, "refuted; leaking cycle"),
    Entry(thresholds.rearmed, "a new threshold after every answer above, forever", _FARZAN, "refuted; leaking cycle"),
    Entry(thresholds.falling, "as long as noisy answers fall", _FARZAN, "refuted; leaking cycle"),
    Entry(thresholds.two_phases, "two phases, one threshold", _FARZAN, "refuted; leaking pair"),
    Entry(thresholds.two_phases_redrawn, "two phases, two thresholds", _FARZAN, "proved; 2 is tight"),
    Entry(thresholds.two_phases_kept, "two phases, the answer above kept", _FARZAN, "refuted; leaking pair"),
    Entry(thresholds.branch_first, "one way or the other", _FARZAN, "proved; 3 is tight"),
    Entry(thresholds.threshold_shown, "the threshold is shown", _FARZAN, "refuted; privacy violating path"),
    Entry(thresholds.answers_shown, "answers are shown", _FARZAN, "refuted; disclosing cycle"),
    Entry(thresholds.one_comparison, "one answer against another", _FARZAN, "proved; 1/5 is tight"),
    Entry(several.between_thresholds, "between two thresholds", _CHADHA, "proved; 1 is tight"),
    Entry(several.outside_thresholds, "outside two thresholds", "Bun, Steinke, Ullman 2017", "refuted; leaking pair"),
    Entry(several.ranges, "ranges one after the other", f"{_CHADHA}, m-range", "proved; 1 is tight"),
    Entry(several.min_max, "between the least and the largest", f"{_CHADHA}, k-min-max", "proved; 1 is tight"),
    Entry(several.range_value, "the answer that leaves a range", f"{_CHADHA}, num_range", "refuted; violating path"),
    Entry(several.two_ranges, "two ranges that share a threshold", f"{_CHADHA}, two_range", "refuted; leaking pair"),
    Entry(several.shrinking_range, "a range that shrinks", f"{_CHADHA}, leaking_cycle", "refuted; leaking cycle"),
)
