"""Audits: lower confidence bounds on epsilon, how near they come to the truth, and how long search, test and exact engines take.

Times are ratios to a baseline of the same run: calling the function itself in a loop, as often as the audit runs it.

    python benchmarks/audit.py [--tiny]
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from typing import Any

from privproof import Mechanism, audit
from privproof.language import seeded
from privproof.library.laplace.noisy_max import noisy_max, noisy_max_value
from privproof.library.laplace.sparse_vector import (
    sparse_vector,
    sparse_vector_no_query_noise,
    sparse_vector_wrong_scales,
)

CASES: list[tuple[str, Mechanism, int, dict[str, Any], float, float, float]] = [
    ("noisy max, n = 5", noisy_max, 5, {}, 1.0, 0.967, 128),
    ("noisy max, value, n = 5", noisy_max_value, 5, {}, 2.5, 2.196, 178),
    ("sparse vector, N = 1, n = 10", sparse_vector, 10, {"N": 1}, 1.0, 0.822, 233),
    ("BadSVT3, N = 1, n = 10", sparse_vector_wrong_scales, 10, {"N": 1}, 1.75, 1.585, 196),
    ("BadSVT1, n = 10", sparse_vector_no_query_noise, 10, {}, float("inf"), 3.68, 106),
]
CALLS = 2_000


def called(mechanism: Mechanism, arguments: dict[str, Any], calls: int = CALLS) -> float:
    """Seconds for one call of the function itself."""
    mechanism = mechanism.having(epsilon=Fraction(1))
    with seeded(0):
        begun = time.perf_counter()
        for _ in range(calls):
            result = mechanism(**arguments)
            if mechanism.generator:
                list(result)
        return (time.perf_counter() - begun) / calls


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    tiny = parser.parse_args().tiny
    cases, calls, amount = (CASES[:1], 20, {"samples": 2_000}) if tiny else (CASES, CALLS, {})
    print(
        f"{'mechanism':30}{'truth':>8}{'bound':>8}{'DP-Sniper':>11}{'of its time':>13}"
        f"{'search':>9}{'test':>8}{'exact':>8}{'calls/audit':>13}"
    )
    for name, mechanism, size, fixed, truth, published, seconds in cases:
        found = audit(mechanism, size=size, fixed=fixed, **amount)
        spent = found.seconds["search"] + found.seconds["test"]
        assert found.count is not None
        plain = called(mechanism, dict(found.count.pair.left), calls) * found.runs
        print(
            f"{name:30}{truth:8.3g}{found.epsilon:8.3f}{published:11.3f}{spent / seconds:12.3f}x"
            f"{found.seconds['search']:8.2f}s{found.seconds['test']:7.2f}s{found.seconds['exact']:7.2f}s{plain / spent:12.1f}x"
        )


if __name__ == "__main__":
    main()
