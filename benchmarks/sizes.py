"""Sizes: separate draws and the worst way at large sizes, beside the tables of all data at a small one, in one run on one machine.

    python benchmarks/sizes.py [--tiny] [--json OUT]

Every row asks for the tight epsilon, from the function to the checked certificate, first by tables at a small size, then at a large one.
The ratio is the processor time at the large size as a multiple of that at the small one: seconds depend on the machine, this hardly
does.  The memory is the peak of the process so far.
"""

# mypy: ignore-errors

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

from privproof import (
    geometric,
    integer,
    mechanism,
    queries,
    randomized_response,
    records,
    tight_epsilon,
    truncated_geometric,
)


@mechanism
def count(data: records(0, 1)):
    """A truncated count."""
    return truncated_geometric(sum(data), alpha="1/2", low=0, high=len(data))


@mechanism
def total(data: records(0, 1, 2, 3, 4, 5)):
    """A sum on all integers."""
    return geometric(sum(data), alpha="1/2")


@mechanism
def histogram(data: records("a", "b", "c", "d")):
    """Four cells."""
    return [geometric(sum(1 for r in data if r == cell), alpha="1/2") for cell in ("a", "b", "c", "d")]


@mechanism(neighbours="each")
def bits(data: records(0, 1)):
    """Every bit is randomised."""
    return [randomized_response(bit, truth="3/4") for bit in data]


@mechanism
def wide(value: integer(0, 999)):
    """One number of a thousand."""
    return geometric(value, alpha="1/2")


@mechanism
def noisy_max(answers: queries(0, 10)):
    """The index of the largest noisy answer."""
    best, winner = -1, 0
    for i, value in enumerate(answers):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=10)
        if noisy > best:
            best, winner = noisy, i
    return winner


_CASES = (
    (count, 10, 1000),
    (total, 3, 1000),
    (histogram, 1, 1000),
    (bits, 6, 1000),
    (wide, None, None),
    (noisy_max, 3, 12),
)


def _asked(number: int, size: int | None, engine: str | None) -> tuple[float, float, str]:
    """Processor seconds, peak memory in MiB, and the answer."""
    begun = time.process_time()
    verdict = tight_epsilon(_CASES[number][0], size=size, engine=engine)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return time.process_time() - begun, peak, f"{verdict.engine}: {verdict.upper.show()}"


def main() -> None:
    """Ask, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--json", type=Path)
    options.add_argument("--tiny", action="store_true", help="small sizes alone: whether all of it still runs")
    given = options.parse_args()
    rows = []
    print("mechanism", "small", "tables, s", "large", "s", "ratio", "MiB", "answer", sep="\t")
    for number, (asked, small, large) in enumerate(_CASES):
        if given.tiny:
            small, large = small and 1, large and 3
        before = None if small is None else _asked(number, small, "tensors")
        seconds, peak, answer = _asked(number, large, None)
        share = "-" if before is None else f"{seconds / before[0]:.2g}"
        rows.append(
            [asked.name, small, None if before is None else round(before[0], 2), large, round(seconds, 2), share]
        )
        rows[-1] += [round(peak), answer]
        print(*rows[-1], sep="\t", flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
