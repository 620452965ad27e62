"""Functions that are run as they are: how many runs and random choices, and what a run costs, alone and with all processors.

    python benchmarks/runs.py [--tiny] [--json OUT]

The first seconds are the processor time of the runs alone; "elapsed" is by the clock, with one process and with one for every
processor.  The last is the processor time from the question to the checked verdict.  Seconds depend on the machine; how they grow
with the size does not.
"""

# mypy: ignore-errors

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path
from unittest import mock

import numpy as np

from privproof import records, tight_epsilon
from privproof.compiling import sharing
from privproof.compiling.posing import mechanism_of_function
from privproof.compiling.runs import ran


def bits(data):
    """Every bit is randomised: 2^n data sets with 2^n runs each."""
    return [x if random.random() < 0.75 else 1 - x for x in data]


def count(data):
    """A noisy count: 2^n data sets with one run each."""
    return sum(data) + np.random.laplace(0, 1)


def largest(data):
    """The index of the largest of n noisy numbers: 2^n data sets with 2^(n-1) runs each."""
    noisy = [x + np.random.laplace(0, 2) for x in data]
    return noisy.index(max(noisy))


def coins(data):
    """One long tree for each of two data sets."""
    return sum(random.randint(0, 1) for _ in range(COINS)) + data[0]


COINS = 12
_CASES = (
    (bits, (2, 4, 6, 8)),
    (count, (4, 8, 11)),
    (largest, (2, 3, 4)),
    (coins, (1,)),
)


def _timed(function, size):
    """Processor time, elapsed time and the runs."""
    mechanism = mechanism_of_function(function, {"data": records(0, 1)})
    cpu, clock = time.process_time(), time.perf_counter()
    found = ran(mechanism, [size])
    return time.process_time() - cpu, time.perf_counter() - clock, found


def main() -> None:
    """Run, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--json", type=Path)
    options.add_argument("--tiny", action="store_true", help="the smallest size alone: whether all of it still runs")
    given = options.parse_args()
    rows = []
    print(
        "function",
        "size",
        "data sets",
        "runs",
        "choices",
        "s of runs",
        "runs/s",
        "elapsed, 1",
        f"elapsed, {os.cpu_count()}",
        "s in all",
        sep="\t",
    )
    for function, sizes in _CASES:
        for size in sizes[:1] if given.tiny else sizes:
            with mock.patch.object(os, "cpu_count", return_value=1):
                seconds, alone, found = _timed(function, size)
            with mock.patch.object(sharing, "_ALONE", 0.1):
                _, together, again = _timed(function, size)
            assert again.trees == found.trees
            begun = sum(os.times()[:4])
            tight_epsilon(function, data=records(0, 1), size=size, engine="runs")
            in_all = sum(os.times()[:4]) - begun
            runs = sum(map(len, found.trees))
            choices = max(len(leaf.steps) for tree in found.trees for leaf in tree)
            row = [function.__name__, size, len(found.data), runs, choices, round(seconds, 2), round(runs / seconds)]
            rows.append([*row, round(alone, 2), round(together, 2), round(in_all, 2)])
            print(*rows[-1], sep="\t", flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
