"""Gaussian noise at one size: sparse vector, noisy max and ranges, beside the published times of DiPApprox.

    python benchmarks/gaussian.py            all sizes (a few minutes)
    python benchmarks/gaussian.py --tiny     the smallest ones

DiPApprox integrates nested integrals for programs without loops, at one size, and answers yes or
no; its times are those of its paper: one pair of neighbours, then all of them, with a limit of 600 seconds on another machine.
Here *one pair* encloses the delta of one pair.  *All pairs* is the whole answer about all neighbours of zeros and ones: the smallest delta,
proved from above and refuted from below, both certificates written and rechecked.  Times are processor times; *faster* compares one pair
with the published time.  The last line is one command as a whole, with the start of Python.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from flint import arb

from privproof import Mechanism, gaussian, laplace, mechanism, queries, smallest_delta
from privproof.compiling.registers import registers
from privproof.engines.registers.register_roles import Roles
from privproof.exact import rational

EPSILON = "1/2"


@mechanism
def sparse_vector(q: queries(0, 1), t=4, s=8):
    threshold = gaussian(0, sigma=t)
    for i, a in enumerate(q):
        if gaussian(a, sigma=s) >= threshold:
            return i
    return -1


@mechanism
def mix_one(q: queries(0, 1)):
    threshold = laplace(0, scale=4)
    for i, a in enumerate(q):
        if gaussian(a, sigma=8) >= threshold:
            return i
    return -1


@mechanism
def mix_two(q: queries(0, 1)):
    threshold = gaussian(0, sigma=4)
    for i, a in enumerate(q):
        if laplace(a, scale=8) >= threshold:
            return i
    return -1


@mechanism
def sparse_laplace(q: queries(0, 1)):
    threshold = laplace(0, scale=4)
    for i, a in enumerate(q):
        if laplace(a, scale=8) >= threshold:
            return i
    return -1


@mechanism
def noisy_max(q: queries(0, 1)):
    best, winner = None, 0
    for i, a in enumerate(q):
        noisy = gaussian(a, sigma=4)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def m_range(q: queries(0, 1)):
    low = gaussian(0, sigma=2)
    high = gaussian(1, sigma=2)
    for i, a in enumerate(q):
        noisy = gaussian(a, sigma=1)
        if noisy < low or noisy > high:
            return i
    return -1


@mechanism
def k_min_max(q: queries(0, 1), k=2):
    low = high = 0
    for i, a in enumerate(q):
        noisy = gaussian(a, sigma=1)
        if i == 0:
            low = high = noisy
        elif i < k:
            low = min(low, noisy)
            high = max(high, noisy)
        elif noisy < low or noisy > high:
            return i
    return -1


@dataclass(frozen=True)
class Case:
    """A mechanism at a size, and what DiPApprox needed for it."""

    name: str
    function: Mechanism
    size: int
    published: str


CASES = (
    Case("sparse vector, Gaussian", sparse_vector, 5, "7.9 / 76.7"),
    Case("sparse vector, Gaussian", sparse_vector, 25, "441 / out of memory"),
    Case("sparse vector, Gaussian", sparse_vector, 100, ""),
    Case("sparse vector, Laplace threshold", mix_one, 5, "19.5 / 285"),
    Case("sparse vector, Laplace answers", mix_two, 5, "72 / time-out"),
    Case("sparse vector, Laplace", sparse_laplace, 5, "48 / time-out"),
    Case("sparse vector, Laplace", sparse_laplace, 11, "500 / time-out"),
    Case("noisy max", noisy_max, 4, "37.8 / 303"),
    Case("noisy max", noisy_max, 5, "time-out"),
    Case("noisy max", noisy_max, 100, ""),
    Case("m-range", m_range, 2, "171 / 344"),
    Case("m-range", m_range, 3, "time-out"),
    Case("m-range", m_range, 10, ""),
    Case("k-min-max, k = 2", k_min_max, 3, "2.1 / 5.7"),
    Case("k-min-max, k = 2", k_min_max, 4, "41 / 336"),
    Case("k-min-max, k = 10", k_min_max.having(k=10), 20, ""),
)


def one_pair(case: Case) -> float:
    """How long it takes to enclose the delta of zeros and ones in turn against the opposite."""
    begun = time.process_time()
    roles = Roles(registers(case.function, case.size), (rational(0), rational(1)))
    left = [i % 2 for i in range(case.size)]
    sums = [
        [roles.sum(each, roles.counted(each, data)) for each in roles.shaped] for data in (left, [1 - b for b in left])
    ]
    roles.evaluate([each for side in sums for each in side], lambda: None)
    times = arb(EPSILON.split("/")[0]) / int(EPSILON.split("/")[1])
    excess = [roles.value(p) - times.exp() * roles.value(q) for p, q in zip(*sums, strict=True)]
    assert all(each.is_finite() for each in excess)
    return time.process_time() - begun


def command() -> float:
    """The processor time of the command that refutes noisy max of five, from its start to its answer."""
    source = Path(__file__).resolve()
    asked = [sys.executable, "-m", "privproof", "check", f"{source}:noisy_max", "--size", "5", "--epsilon", EPSILON]
    fresh = {**os.environ, "PRIVPROOF_CACHE": "none"}  # an answer that is remembered is none
    taken = []
    for _ in range(3):  # the first one may have to compile modules
        before = os.times()
        done = subprocess.run([*asked, "--delta", "1/100"], capture_output=True, check=False, timeout=60, env=fresh)
        after = os.times()
        assert done.returncode == 1, done.stderr
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(taken)


def faster(case: Case, seconds: float) -> str:
    """How many times faster than what was published for one pair, if that is a number."""
    first = case.published.partition(" / ")[0]
    return f"{float(first) / max(seconds, 1e-9):,.0f}" if first.replace(".", "").isdigit() else ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes")
    tiny = parser.parse_args().tiny
    print(
        f"{'':34} {'n':>4} {'DiPApprox, s':>20} {'one pair':>9} {'faster':>8} {'all pairs':>10} {'delta':>17} {'width':>8}"
    )
    for case in CASES:
        if tiny and (case.size > 5 or "range" in case.name or "min-max" in case.name):
            continue
        single = one_pair(case)
        begun = time.process_time()
        found = smallest_delta(case.function, EPSILON, size=case.size)
        taken = time.process_time() - begun
        assert found.proof is not None
        width = float(found.upper - found.lower)
        published = case.published or "not tried"
        print(
            f"{case.name:34} {case.size:4} {published:>20} {single:8.3f}s {faster(case, single):>8} {taken:9.2f}s "
            f"{float(found.lower):17.12g} {width:8.1g}",
            flush=True,
        )
    print(f"privproof check noisy_max --size 5 (refuted), the whole command: {command():.2f}s")


if __name__ == "__main__":
    main()
