"""Ready mechanisms, each with its citation; imports all that makes questions."""

from privproof.library.above_threshold import above_threshold, above_threshold_two_copies
from privproof.library.geometric import contagious, geometric, geometric_chain
from privproof.library.library_examples import EXAMPLES, Example
from privproof.library.noisy_max import noisy_max, noisy_max_hmm, noisy_max_question
from privproof.library.satisfiability import assignment, ratio_if_unsatisfiable, satisfiability
from privproof.logic.library.formula_examples import FORMULAS, FormulaExample
from privproof.models.noise_rows import truncated_geometric_row

__all__ = [
    "EXAMPLES",
    "FORMULAS",
    "Example",
    "FormulaExample",
    "above_threshold",
    "above_threshold_two_copies",
    "assignment",
    "contagious",
    "geometric",
    "geometric_chain",
    "noisy_max",
    "noisy_max_hmm",
    "noisy_max_question",
    "ratio_if_unsatisfiable",
    "satisfiability",
    "truncated_geometric_row",
]
