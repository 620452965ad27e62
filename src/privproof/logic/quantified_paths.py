"""Path quantifiers (``E``, ``A``): whether some path, or every path, satisfies a path formula, however unlikely it is.

Let every transition be a choice of its own, taken for sure.  A scheduler of this process is a path of the old one, so the largest
probability of the formula is 1 where some path satisfies it, and 0 elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privproof.logic.automaton_products import product, product_decides
from privproof.logic.exact_solving import TooLarge
from privproof.logic.formulas import OfPaths
from privproof.logic.optimal_schedulers import one_side
from privproof.logic.path_measures import Truths
from privproof.logic.path_probabilities import negation
from privproof.logic.recurrence_probabilities import extremes_of_any

if TYPE_CHECKING:
    from privproof.logic.model_checking import Checker


def of_paths(checker: Checker, formula: OfPaths) -> Truths:
    """Where ``E [ φ ]`` or ``A [ φ ]`` holds."""
    process = checker.process
    undecided = np.full(len(process), -1, np.int8)
    prepared = checker.path(formula.path)
    if prepared is None:
        return undecided
    path, truths = prepared
    every = formula.quantifier == "A"
    asked = negation(path) if every else path  # every path satisfies it if none satisfies its negation
    loose = process.loosened
    try:
        if product_decides(asked):
            whole = product(loose, truths, asked, range(len(process)), checker.monitor)
            found = one_side(whole, checker.monitor, largest=True)
            largest = [found[whole.start[s]] for s in range(len(process))]
        else:
            largest = extremes_of_any(loose, truths, asked, checker.monitor)[1]
    except TooLarge as problem:
        checker.reasons.append(str(problem))
        return undecided
    some = np.array([value == 1 for value in largest], np.int8)
    return 1 - some if every else some
