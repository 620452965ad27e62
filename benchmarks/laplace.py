"""Mechanisms with Laplace noise, side by side: every mechanism of the library, and where its time goes.

    python benchmarks/laplace.py [NAME ...]

"check" is from the question to the verdict, "checker" the independent check of the certificate alone, and "sampling" a plain
baseline in the same run: a thousand runs of the function itself.  The ratio is check divided by sampling.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from privproof import check, recheck, seeded
from privproof.compiling.translation import sample_arguments
from privproof.language import Mechanism
from privproof.library.laplace.examples import ENTRIES


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A result and the seconds it took."""
    begun = time.perf_counter()
    return call(), time.perf_counter() - begun


def sampled(mechanism: Mechanism) -> None:
    """A thousand runs on some data."""
    arguments = sample_arguments(mechanism, size=5)
    with seeded(1):
        for _ in range(1000):
            drawn = mechanism(**arguments)
            if mechanism.generator:
                list(drawn)


def main() -> None:
    """Run them and print the table."""
    names = sys.argv[1:]
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
