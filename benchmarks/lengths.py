"""Lists of every length: the commonest mechanisms as they are written, right and broken, one record changed and one added or removed.

    python benchmarks/lengths.py [--tiny] [--time-limit SECONDS] [NAME ...]

Every row is one question without a size, from the function to the checked verdict.  "seconds" is processor time, and "ratio" is that
time as a multiple of a baseline in the same run: a thousand runs of the function itself on lists of five.  A row whose verdict is not
the known one ends in an exclamation mark; "short" is a proof for short lists alone.
"""

# mypy: ignore-errors

from __future__ import annotations

import argparse
import time
from functools import partial
from random import Random

from privproof import (
    check,
    exponential_mechanism,
    laplace,
    mechanism,
    randomized_response,
    real_queries,
    records,
    rows,
    seeded,
)
from privproof import (
    real as real_number,
)
from privproof.compiling.covering import Choices
from privproof.compiling.translation import sample_arguments
from privproof.errors import PrivproofError

CELLS = ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
"""Ten cells."""
CELL = records(*CELLS)
AMOUNTS = rows(amount=real_number())

# -------------------------------------------------------------------------------------------------------------- counting


@mechanism
def count(data: CELL):
    """How many records say "a"."""
    return laplace(sum(1 for r in data if r == "a"), scale=1)


@mechanism
def count_twice(data: CELL):
    """Broken: two noisy counts for the price of one."""
    exact = sum(1 for r in data if r == "a")
    return laplace(exact, scale=1), laplace(exact, scale=1)


@mechanism
def histogram(data: CELL, scale=1):
    """Ten noisy counts."""
    return [laplace(data.count(cell), scale=scale) for cell in CELLS]


@mechanism
def histogram_of_nonempty(data: CELL):
    """Broken: empty cells get no noise."""
    noisy = []
    for cell in CELLS:
        exact = data.count(cell)
        noisy.append(laplace(exact, scale=2) if exact > 0 else 0)
    return noisy


# ------------------------------------------------------------------------------------------------------------------ sums


@mechanism
def clipped_sum(data: AMOUNTS):
    """A sum of clipped numbers."""
    return laplace(sum(min(max(r.amount, 0), 10) for r in data), scale=10)


@mechanism
def unclipped_sum(data: AMOUNTS):
    """Broken: clipped from below only."""
    return laplace(sum(max(r.amount, 0) for r in data), scale=10)


@mechanism
def sum_and_count(data: AMOUNTS):
    """A clipped sum and the number of large amounts."""
    total = sum(min(max(r.amount, 0), 10) for r in data)
    large = sum(1 for r in data if r.amount > 5)
    return laplace(total, scale=20), laplace(large, scale=2)


@mechanism
def sum_and_count_unsplit(data: AMOUNTS):
    """Broken: the budget is spent twice."""
    total = sum(min(max(r.amount, 0), 10) for r in data)
    large = sum(1 for r in data if r.amount > 5)
    return laplace(total, scale=10), laplace(large, scale=1)


@mechanism
def noisy_mean(data: AMOUNTS):
    """A noisy sum over a noisy count."""
    total = laplace(sum(min(max(r.amount, 0), 10) for r in data), scale=20)
    size = laplace(len(data), scale=2)
    return total / max(size, 1)


@mechanism
def mean_unsplit(data: AMOUNTS):
    """Broken: a sum and a count, each at the whole budget, and the mean beside them."""
    total = laplace(sum(min(max(r.amount, 0), 10) for r in data), scale=5)
    size = laplace(len(data), scale=1)
    return total, total / max(size, 1)


# ------------------------------------------------------------------------------------------------------------ selections


@mechanism
def most_common(data: CELL, scale=2):
    """The cell with the largest noisy count."""
    noisy = [laplace(data.count(cell), scale=scale) for cell in CELLS]
    return noisy.index(max(noisy))


@mechanism
def most_common_and_value(data: CELL):
    """Broken: the largest noisy count is released beside its cell."""
    noisy = [laplace(data.count(cell), scale="1/2") for cell in CELLS]
    return noisy.index(max(noisy)), max(noisy)


@mechanism
def noisy_max(q: real_queries(), scale=2):
    """The index of the largest noisy answer, any number of queries."""
    noisy = [laplace(value, scale=scale) for value in q]
    return noisy.index(max(noisy))


@mechanism
def exponential_choice(data: CELL):
    """The exponential mechanism over the counts."""
    return exponential_mechanism([data.count(cell) for cell in CELLS], epsilon=1)


@mechanism
def exponential_choice_doubled(data: CELL):
    """Broken: twice the epsilon."""
    return exponential_mechanism([data.count(cell) for cell in CELLS], epsilon=4)


# ------------------------------------------------------------------------------------------------ every record by itself


@mechanism
def randomised_answers(data: records(0, 1)):
    """Every bit is randomised."""
    return [randomized_response(bit, truth="3/4") for bit in data]


@mechanism
def randomised_answers_biased(data: records(0, 1)):
    """Broken: the truth is told too often."""
    return [randomized_response(bit, truth="4/5") for bit in data]


# --------------------------------------------------------------------------------------------------------- sparse vector


@mechanism
def above_threshold(q: real_queries()):
    """The first answer above a noisy threshold."""
    threshold = laplace(10, scale=2)
    for i, value in enumerate(q):
        if laplace(value, scale=4) >= threshold:
            return i
    return None


@mechanism
def above_threshold_bare(q: real_queries()):
    """Broken: the answers get no noise."""
    threshold = laplace(10, scale=1)
    for value in q:
        yield value >= threshold


@mechanism
def first_common(data: CELL):
    """The first cell with a count above a noisy threshold."""
    threshold = laplace(10, scale=2)
    for i, cell in enumerate(CELLS):
        if laplace(data.count(cell), scale=4) >= threshold:
            return i
    return None


@mechanism
def common_cells(data: CELL):
    """Broken: the threshold is compared with exact counts, all of them."""
    threshold = laplace(2, scale=1)
    return [data.count(cell) >= threshold for cell in CELLS]


ONE, MORE = "one", "add-remove"
ROWS = (
    (count, ONE, 1, "proved"),
    (count, MORE, 1, "proved"),
    (count_twice, ONE, 1, "refuted"),
    (count_twice, MORE, 1, "refuted"),
    (histogram.having(scale=2), ONE, 1, "proved"),
    (histogram, MORE, 1, "proved"),
    (histogram, ONE, 1, "refuted"),
    (histogram_of_nonempty, ONE, 1, "refuted"),
    (histogram_of_nonempty, MORE, 1, "refuted"),
    (clipped_sum, ONE, 1, "proved"),
    (clipped_sum, MORE, 1, "proved"),
    (unclipped_sum, ONE, 1, "refuted"),
    (unclipped_sum, MORE, 1, "refuted"),
    (sum_and_count, ONE, 1, "proved"),
    (sum_and_count, MORE, 1, "proved"),
    (sum_and_count_unsplit, ONE, 1, "refuted"),
    (sum_and_count_unsplit, MORE, 1, "refuted"),
    (noisy_mean, ONE, 1, "proved"),
    (noisy_mean, MORE, 1, "proved"),
    (mean_unsplit, ONE, 1, "refuted"),
    (mean_unsplit, MORE, 1, "refuted"),
    (most_common, ONE, 1, "proved"),
    (most_common.having(scale=1), MORE, 1, "proved"),
    (most_common_and_value, ONE, 1, "refuted"),
    (most_common_and_value, MORE, 1, "refuted"),
    (noisy_max, "each", 1, "proved"),
    (noisy_max.having(scale=1), "each", 1, "refuted"),
    (exponential_choice, ONE, 1, "proved"),
    (exponential_choice, MORE, 1, "proved"),
    (exponential_choice_doubled, ONE, 1, "refuted"),
    (exponential_choice_doubled, MORE, 1, "refuted"),
    (randomised_answers, ONE, "ln(3)", "proved"),
    (randomised_answers, MORE, "ln(3)", "refuted"),
    (randomised_answers_biased, ONE, "ln(3)", "refuted"),
    (randomised_answers_biased, MORE, "ln(3)", "refuted"),
    (above_threshold, "each", 1, "proved"),
    (above_threshold, MORE, 1, "refuted"),
    (above_threshold_bare, "each", 1, "refuted"),
    (first_common, ONE, 1, "proved"),
    (first_common, MORE, 1, "proved"),
    (common_cells, ONE, 1, "refuted"),
    (common_cells, MORE, 1, "refuted"),
)
"""Mechanism, neighbours, claim, and the verdict that is known."""


def timed(call):
    """A result and the processor seconds it took."""
    begun = time.process_time()
    return call(), time.process_time() - begun


def answered(asked, claim, neighbours, seconds) -> tuple[str, str]:
    """The verdict on a row and the engine; or that the question is refused, or proved for short lists alone."""
    try:
        verdict = check(asked, claim, neighbours=neighbours, time_limit=seconds)
    except PrivproofError:
        return "refused", "none"
    some = verdict.status == "proved" and bool(getattr(verdict.question, "sizes", ()))
    return "short" if some else verdict.status, verdict.engine


def sampled(asked) -> None:
    """A thousand runs on some data."""
    arguments = sample_arguments(asked, size=5, chance=Choices((), Random(1)))
    with seeded(1):
        for _ in range(1000):
            drawn = asked(**arguments)
            if asked.generator:
                list(drawn)


def main() -> None:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the mechanisms; all of them if none is named")
    parser.add_argument("--time-limit", type=float, default=60, metavar="SECONDS", help="for each question")
    parser.add_argument("--tiny", action="store_true", help="a proof and a refutation: whether all of it still runs")
    given = parser.parse_args()
    names = ("count", "count_twice") if given.tiny else given.names
    print(f"{'mechanism':<28}{'neighbours':<12}{'claim':<7}{'verdict':<9}{'engine':<11}{'seconds':>8}{'ratio':>8}")
    for asked, neighbours, claim, known in ROWS:
        if names and asked.name not in names:
            continue
        (status, engine), seconds = timed(partial(answered, asked, claim, neighbours, given.time_limit))
        _, baseline = timed(partial(sampled, asked))
        row = f"{asked.name:<28}{neighbours:<12}{claim:<7}{status:<9}{engine:<11}{seconds:>8.2f}"
        print(f"{row}{seconds / baseline:>8.1f}{'' if status == known else ' !'}", flush=True)


if __name__ == "__main__":
    main()
