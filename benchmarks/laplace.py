"""Mechanisms with Laplace noise, side by side: every mechanism of the library, and where its time goes.

    python benchmarks/laplace.py [--tiny] [NAME ...]

"check" is from the question to the verdict, "checker" the independent check of the certificate alone, and "sampling" a plain
baseline in the same run: a thousand runs of the function itself.  The ratio is check divided by sampling.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from random import Random
from typing import Any

from privproof import check, recheck, seeded
from privproof.compiling.covering import Choices
from privproof.compiling.translation import sample_arguments
from privproof.language import Mechanism
from privproof.library.laplace.laplace_examples import ENTRIES

TINY = ("laplace_mechanism", "noisy_max_value")
"""A mechanism that is proved and one that is refuted, each in a moment."""


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A result and the seconds it took."""
    begun = time.perf_counter()
    return call(), time.perf_counter() - begun


def sampled(mechanism: Mechanism) -> None:
    """A thousand runs on some data."""
    arguments = sample_arguments(mechanism, size=5, chance=Choices((), Random(1)))
    with seeded(1):
        for _ in range(1000):
            drawn = mechanism(**arguments)
            if mechanism.generator:
                list(drawn)


def main() -> None:
    """Run them and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the mechanisms; all of them if none is named")
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    given = parser.parse_args()
    names = TINY if given.tiny else given.names
    print(f"{'mechanism':<34}{'verdict':<10}{'check':>9}{'checker':>9}{'sampling':>10}{'ratio':>8}")
    for entry in ENTRIES:
        mechanism = entry.mechanism
        if names and mechanism.name not in names:
            continue
        verdict, seconds = timed(lambda mechanism=mechanism: check(mechanism))
        _, again = timed(lambda verdict=verdict: recheck(verdict.certificate))
        _, baseline = timed(lambda mechanism=mechanism: sampled(mechanism))
        row = f"{mechanism.name:<34}{verdict.status:<10}{seconds:>8.2f}s{again:>8.2f}s{baseline:>9.2f}s"
        print(f"{row}{seconds / baseline:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
