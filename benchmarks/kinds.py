"""Kinds of evidence, each with questions that grow: what `rechecking` asks about.

Some are the families of `families`; the others are here: words of every length, events, ratio cones, corners and excesses of Gaussian
noise, functions that are run, decision processes, composition, priors with parameters, divergences, quilts.
"""

# mypy: ignore-errors

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

import families
from logic_storm import GRID, WALK, backoff, coins


@dataclass(frozen=True)
class Kind:
    """A kind of evidence: its name, sizes, and how the work at a size is made."""

    name: str
    sizes: tuple[int, ...]
    make: object


def _family(name, sizes, title=None):
    """A kind from a family."""
    found = next(each for each in families.FAMILIES if each.name == name)
    return Kind(title or name, sizes, found.make)


# -------------------------------------------------------------------------------------------------- words of every length


def cones(states):
    """A random model with words of every length: an invariant cone."""
    from privproof import tight_epsilon
    from privproof.models import Horizon

    asked = replace(families.random_model(states, 3, seed=1), horizon=Horizon.unbounded())
    return lambda: tight_epsilon(asked)


def pumped(high):
    """Above threshold with words of every length: no epsilon at all."""
    from privproof import tight_epsilon
    from privproof.library import above_threshold
    from privproof.models import Horizon

    asked = replace(above_threshold(high=high), horizon=Horizon.unbounded())
    return lambda: tight_epsilon(asked)


def ratio_cones(high):
    """A noisy count kept at a limit, streams of every length of which one record changes."""
    import subjects

    from privproof import tight_epsilon

    return lambda: tight_epsilon(subjects.kept_count.having(most=high))


def events(length):
    """The tight epsilon of above threshold with a delta, over events."""
    from privproof import tight_epsilon
    from privproof.library import above_threshold
    from privproof.models import Horizon

    asked = replace(above_threshold(), horizon=Horizon.up_to(length))
    return lambda: tight_epsilon(asked, "1/100")


# ----------------------------------------------------------------------------------------------------- continuous noise


def alignments(number):
    """Proofs about lists of every length: one of the library's mechanisms with Laplace noise."""
    from privproof import check
    from privproof.library.laplace.laplace_examples import ENTRIES

    return lambda: check(ENTRIES[number].mechanism)


def losses(size):
    """The tight epsilon of noisy max with Laplace noise at a size, from both sides."""
    import subjects

    from privproof import tight_epsilon

    return lambda: tight_epsilon(subjects.laplace_noisy_max, size=size)


def gaussian(name, epsilon="1/2"):
    """The smallest delta of a mechanism with Gaussian noise."""

    def make(size):
        import gaussian as subjects

        from privproof import smallest_delta

        return lambda: smallest_delta(getattr(subjects, name), epsilon, size=size)

    return make


# ------------------------------------------------------------------------------------------------- functions that are run


def bits(data):
    """Every bit is randomised."""
    return [x if random.random() < 0.75 else 1 - x for x in data]


def largest(data):
    """The index of the largest of some noisy numbers."""
    import numpy as np

    noisy = [x + np.random.laplace(0, 2) for x in data]
    return noisy.index(max(noisy))


def total(data):
    """A noisy count."""
    import numpy as np

    return sum(data) + np.random.laplace(0, 1)


def run(function):
    """The tight epsilon of a function that is run as it is."""

    def make(size):
        from privproof import records, tight_epsilon

        return lambda: tight_epsilon(function, data=records(0, 1), size=size, engine="runs")

    return make


# ------------------------------------------------------------------------------------------------------------- the others


def logic(text, question, constants):
    """A claim just beside the probability of a formula in a model of `logic_storm`; the model is read before."""

    def make(size):
        from logic_storm import _BESIDE, Case

        from privproof import model_check
        from privproof.exact import fraction
        from privproof.logic.formulas import parse_formula
        from privproof.logic.prism import explore

        case = Case("", text, constants % size, question)
        process = explore(case.text_with_constants(), self_loops=True, name="model").process
        found = model_check(process, parse_formula(question))
        measured = list(found.measured.values())[-1]
        if question.startswith("Pmax"):
            claim = f"P<={min(fraction(measured.most(found.asked[0]).high) + _BESIDE, 1)}"
        else:
            claim = f"P>={max(fraction(measured.least(found.asked[0]).low) - _BESIDE, 0)}"
        asked = parse_formula(re.sub(r"P(min|max)?=[?]", claim, question))
        return lambda: model_check(process, asked)

    return make


def indistinguishable(high):
    """The operator D on the decision process of above threshold."""
    from privproof import model_check
    from privproof.logic.formulas import parse_formula
    from privproof.logic.library.logic_models import above_threshold

    process = above_threshold(high=high)
    asked = parse_formula("D[1, 3/4](F top)")
    return lambda: model_check(process, asked)


def composed_uses(times):
    """The smallest delta of uses of a Gaussian count."""
    import subjects

    from privproof import composed, smallest_delta

    asked = composed(subjects.gaussian_count, size=1, times=times)
    return lambda: smallest_delta(asked, 1)


KINDS = (
    _family("above threshold", (30, 100, 300), "words: frontier of above threshold"),
    _family("dense model, words up to 3", (30, 100, 300), "words: dense model"),
    _family("improved noisy max, 0..2", (4, 8, 10, 12), "words: tensors of noisy max"),
    _family("noisy max, 0..10", (3, 5, 8, 12), "words: worst way of noisy max 0..10"),
    Kind("words: cones, every length", (3, 5, 8), cones),
    Kind("words: pumps, every length", (2, 4, 6), pumped),
    Kind("words: ratio cones, every length", (2, 6, 12), ratio_cones),
    Kind("words: events with delta", (2, 3, 4), events),
    _family("truncated count", (100, 300, 1000), "draws: truncated count"),
    _family("histogram of four cells", (100, 300, 1000), "draws: histogram"),
    _family("randomised bits", (100, 300, 1000), "draws: randomised bits"),
    _family("phases of above threshold", (1_000, 3_000, 10_000), "streams: phases"),
    _family("k-min-max", (20, 50, 100), "streams: k-min-max"),
    _family("m-range", (10, 20, 40), "streams: m-range"),
    _family("noisy count of a chain", (100, 300, 1000), "release: noisy count"),
    Kind("alignments", tuple(range(12)), alignments),
    Kind("losses of Laplace noise", (2, 3, 4, 5), losses),
    Kind("registers: sparse vector, Gaussian", (2, 5, 25), gaussian("sparse_vector")),
    Kind("registers: noisy max, Gaussian", (2, 3, 5), gaussian("noisy_max")),
    Kind("registers: m-range, Gaussian", (1, 2, 3), gaussian("m_range")),
    Kind("registers: k-min-max, Gaussian", (2, 3, 4), gaussian("k_min_max")),
    Kind("registers: Laplace and Gaussian", (2, 5, 25), gaussian("mix_one")),
    Kind("runs: randomised bits", (2, 4, 6, 8), run(bits)),
    Kind("runs: noisy count", (4, 8, 11), run(total)),
    Kind("runs: noisy max", (2, 3, 4), run(largest)),
    Kind("logic: chain on a grid", (20, 100, 300), logic(GRID, 'P=? [ F "left" ]', "N=%d")),
    Kind("logic: random walk", (10, 20, 40), logic(WALK, 'P=? [ F "east" ]', "N=%d")),
    Kind("logic: chain, G F", (20, 100, 300), logic(GRID, 'P=? [ G F "left" ]', "N=%d")),
    Kind("logic: process, largest", (2, 4, 8), logic(coins(3), 'Pmax=? [ F "apart" ]', "K=%d")),
    Kind("logic: process, least", (10, 30, 60), logic(backoff(2), 'Pmin=? [ F "easily" ]', "B=%d")),
    Kind("logic: D on a process", (2, 5, 9), indistinguishable),
    Kind("composition", (3, 30, 300), composed_uses),
)
