"""Releases of correlated data: quilts against the published loops, and a large table in one pass.

Times are ratios to a baseline of the same run: the loops of the published algorithm, written down plainly, or reading the file's bytes
once.
``python benchmarks/release.py [--tiny] [ROWS]``; without a number of rows the table has ten million.
``python benchmarks/release.py --parquet ROWS`` counts a column of a Parquet file instead, beside pyarrow, each in a process of its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privproof import release
from privproof.asking import check
from privproof.release.markov_quilts import quilts
from privproof.release.tables.table_files import TableReading, summarise

STATES = 51
CHAINS = ((4, 200, 0.3), (10, 200, 0.3), (STATES, 200, 0.3))
"""States, length and jumps of chains that are small enough for the loops."""


def timed(what: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the seconds."""
    started = time.perf_counter()
    result = what()
    return result, time.perf_counter() - started


def walk(states: int = STATES, jumps: float = 0.02) -> np.ndarray:
    """A random walk with a few jumps."""
    matrix = np.zeros((states, states))
    for i in range(states):
        for j in (i - 1, i, i + 1):
            if 0 <= j < states:
                matrix[i, j] = 1
    matrix /= matrix.sum(axis=1, keepdims=True)
    return (1 - jumps) * matrix + jumps / states


def published(matrix: np.ndarray, length: int, epsilon: float) -> float:
    """The loops of the published algorithm for a stationary chain: every entry, every pair of distances, all pairs of values."""
    values, vectors = np.linalg.eig(matrix.T)
    law = np.real(vectors[:, np.argmax(np.real(values))])
    law /= law.sum()
    back, forth, power = [], [], np.eye(len(matrix))
    for _ in range(length - 1):
        power = power @ matrix
        logs = np.log(power)
        forth.append((logs[:, None, :] - logs[None, :, :]).max(axis=2))
        ratio = np.log(law)[None, :] - np.log(law)[:, None]
        back.append(ratio + (logs.T[:, None, :] - logs.T[None, :, :]).max(axis=2))
    worst = 0.0
    for node in range(2, length):
        best = length / epsilon
        for tables, size, furthest in ((back, length - node, node - 1), (forth, node - 1, length - node)):
            for distance in range(1, furthest + 1):
                influence = float(tables[distance - 1].max())
                if influence < epsilon:
                    best = min(best, (size + distance) / (epsilon - influence))
        for a in range(1, node):
            for b in range(1, length - node + 1):
                influence = float((back[a - 1] + forth[b - 1]).max())
                if influence < epsilon:
                    best = min(best, (a + b - 1) / (epsilon - influence))
        worst = max(worst, best)
    return worst


def against_the_loops(chains: Sequence[tuple[int, int, float]]) -> None:
    """Chains that are small enough for the loops."""
    print(f"{'states':>7} {'length':>8} {'loops':>9} {'ours':>9} {'ratio':>8}")
    for states, length, jumps in chains:
        matrix = walk(states, jumps)
        chain = release.Chain.from_floats(matrix)
        theirs, slow = timed(lambda matrix=matrix, length=length: published(matrix, length, 1.0))
        ours, fast = timed(lambda chain=chain, length=length: quilts(chain, length, 1.0))
        assert abs(theirs - float(ours.score)) < 1e-6 * theirs
        print(f"{states:>7} {length:>8} {slow:>8.2f}s {fast:>8.4f}s {slow / fast:>7.0f}x")


def long_series(states: int, length: int) -> None:
    """51 states, a million entries, the three kinds of start."""
    print(f"\n{states} states, {length:,} entries, epsilon = 1, a random walk with 2 % jumps")
    chain = release.Chain.from_floats(walk(states))
    given = release.Chain.from_floats(walk(states), initial=[1.0, *[0.0] * (states - 1)])
    for prior, name in ((chain, "stationary"), (given, "given start"), (chain.starting("any"), "any start")):
        found, seconds = timed(lambda prior=prior: quilts(prior, length, 1.0))
        print(f"  {name:<12} {seconds:6.2f} s   scale {float(found.score):.4f}, X_{found.node} with {found.quilt}")
    made = release.calibrate(chain, length=length, query=release.histogram(chain.states), epsilon=1)
    verdict, seconds = timed(lambda: check(made.question))
    print(f"  {'checked':<12} {seconds:6.2f} s   {verdict.status}")


def exact_noise(lengths: Sequence[int]) -> None:
    """The exact law of a count, for all entries."""
    print("\nexact noise for a count, two states, p = 0.9")
    chain = release.Chain.of({"0": {"0": "0.9", "1": "0.1"}, "1": {"0": "0.1", "1": "0.9"}})
    for length in lengths:
        made, seconds = timed(
            lambda length=length: release.calibrate(
                chain, length=length, query=release.count("1"), epsilon=1, method="exact", noise="laplace"
            )
        )
        print(f"  length {length:<6} {seconds:6.2f} s   scale {float(made.scale):.4f}")
    print("\nexact noise for a histogram of two states, beside that of quilts")
    for length in lengths[:1]:
        for method in ("quilt", "exact"):
            made, seconds = timed(
                lambda length=length, method=method: release.calibrate(
                    chain, length=length, query=release.histogram("01"), epsilon=1, method=method, noise="laplace"
                )
            )
            print(f"  length {length:<6} {seconds:6.2f} s   {method:<6} scale {float(made.scale):.4f}")


def large_table(count: int, rows: int) -> None:
    """A table of so many states and rows read in one pass, against reading its bytes."""
    print(f"\na table of {rows:,} rows, {count} states, in one pass")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "series.csv")
        generator = np.random.default_rng(1)
        with path.open("w") as file:
            file.write("watts\n")
            for start in range(0, rows, 1_000_000):
                codes = generator.integers(0, count, min(1_000_000, rows - start)) * 200
                file.write("\n".join(map(str, codes.tolist())) + "\n")

        def read() -> int:
            total = 0
            with path.open("rb") as file:
                while block := file.read(1 << 24):
                    total += len(block)
            return total

        size, baseline = timed(read)
        states = [str(200 * i) for i in range(count)]
        summary, seconds = timed(lambda: summarise(TableReading.of(path, column="watts", states=states)))
        made, calibration = timed(
            lambda: release.calibrate(
                release.Chain.from_floats(walk(count), states=states),
                lengths=list(summary.lengths),
                entries=summary.entries,
                query=release.histogram(states, relative=True),
                epsilon=1,
            )
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  bytes read   {baseline:6.2f} s   {size / 2**20:.0f} MB")
        print(
            f"  counted      {seconds:6.2f} s   {rows / seconds / 1e6:.1f} million rows a second, {seconds / baseline:.0f}x"
        )
        print(f"  calibrated   {calibration:6.2f} s   expected error {float(made.expected_error):.5f}")
        print(f"  peak memory  {peak:6.0f} MB")


COUNTED = """
import resource, sys
from collections import Counter
what, path = sys.argv[1:]
if what == "pyarrow":
    import pyarrow.compute, pyarrow.parquet
    found = Counter()
    file = pyarrow.parquet.ParquetFile(path, read_dictionary=["state"])
    for batch in file.iter_batches(batch_size=1 << 17, columns=["state"]):
        found.update({each["values"]: each["counts"] for each in pyarrow.compute.value_counts(batch.column(0)).to_pylist()})
    rows = sum(found.values())
else:
    from functools import partial
    from privproof.execution.chunks import map_chunks
    from privproof.execution.workers import Workers
    from privproof.release.tables.table_files import TableReading, summarise
    with Workers(jobs=int(what)) as workers:
        mapped = None if workers.alone else partial(map_chunks, workers)
        rows = summarise(TableReading.of(path, column="state"), mapped=mapped).entries
mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds = [used.ru_utime + used.ru_stime for used in (mine, theirs)]
memory = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))  # not what it was copied from
print(rows, *seconds, memory // 1024)
"""


def large_parquet(rows: int) -> None:
    """A column of four states in a Parquet file of so many rows, counted once: counts and transitions, beside counts by pyarrow."""
    import pyarrow
    from pyarrow import parquet

    print(f"\na Parquet file of {rows:,} rows, four states, in one pass: processor seconds")
    print(f"{'':<14} {'here':>8} {'others':>8} {'MB':>6}")
    names, generator, piece = ["rest", "walk", "run", "sleep"], np.random.default_rng(1), 1 << 22
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "states.parquet")
        with parquet.ParquetWriter(path, pyarrow.schema([("state", pyarrow.string())])) as writer:
            for start in range(0, rows, piece):
                size = min(piece, rows - start)
                codes = np.repeat(generator.integers(0, 4, size // 4 + 1), 4)[:size].astype(np.int32)
                codes[generator.integers(0, size, size // 10)] = 2
                states = pyarrow.DictionaryArray.from_arrays(codes, names).cast(pyarrow.string())
                writer.write_table(pyarrow.table({"state": states}), row_group_size=piece)
        for what, name in (("pyarrow", "pyarrow"), ("1", "one process"), ("2", "two processes")):
            done = subprocess.run(
                [sys.executable, "-c", COUNTED, what, str(path)], capture_output=True, text=True, check=True
            )
            counted, mine, theirs, memory = done.stdout.split()
            assert int(counted) == rows
            print(f"{name:<14} {float(mine):>8.2f} {float(theirs):>8.2f} {memory:>6}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=10_000_000, help="rows of the large table")
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    parser.add_argument(
        "--parquet", type=int, metavar="ROWS", help="count a Parquet file of so many rows, and nothing else"
    )
    given = parser.parse_args()
    if given.parquet:
        large_parquet(given.parquet)
        return
    against_the_loops([(3, 20, 0.3)] if given.tiny else CHAINS)
    long_series(*((3, 500) if given.tiny else (STATES, 1_000_000)))
    exact_noise([10] if given.tiny else [100, 300, 1000])
    large_table(*((3, 2_000) if given.tiny else (STATES, given.rows)))
    large_parquet(2_000 if given.tiny else given.rows)


if __name__ == "__main__":
    main()
