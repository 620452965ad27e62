"""Campaigns of mutation and conformance: every case of some tests, shared out to workers.

``python -m tests.campaign tests/conformance -k "changed or mutat" --jobs 2`` runs of these tests what ``make test-slow`` runs: every case
of every sweep, and every property on all its examples.  The cases are put into chunks of one file each, in the order in which pytest
finds them; a chunk is a command that a worker runs, and what comes back is which of its cases failed.  So what is found is the same for
every number of workers.  ``--cluster tcp://HOST:8786`` shares them out to a dask cluster whose workers have the same files.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers, cluster
from privproof.projects.project_errands import run_command

ROOT = Path(__file__).parents[1]
TOGETHER = 24
"""Cases that one command runs: starting it takes about as long as one or two of them."""
_SECONDS = 3600.0
"""After which a command is ended: no chunk of the suite takes a tenth of that."""
_PYTEST = (sys.executable, "-m", "pytest", "--verbosity=-1", "-p", "no:cacheprovider")
_ALL = {"PRIVPROOF_EXAMPLES": "all"}
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What came of a chunk.

    Attributes:
        cases: its cases, as pytest names them.
        failed: those that failed; all of them where the command told nothing.
        told: what pytest printed, where some failed.
    """

    cases: tuple[str, ...]
    failed: tuple[str, ...]
    told: str = ""


def collect_cases(paths: Sequence[str], options: Sequence[str], folder: Path = ROOT) -> list[str]:
    """The cases of some tests, in the order in which pytest finds them.

    Raises:
        SystemExit: pytest cannot collect them.
    """
    status, out, err = run_command([*_PYTEST, "--collect-only", *options, *paths], folder, _SECONDS, _ALL)
    if status not in (0, 5):  # 5: there are none
        raise SystemExit(out + err)
    return [line for line in out.splitlines() if "::" in line]


def chunks_of(cases: Sequence[str], together: int = TOGETHER) -> list[tuple[str, ...]]:
    """Cases by file, some at a time."""
    found = []
    for _, named in groupby(cases, lambda case: case.partition("::")[0]):
        listed = tuple(named)
        found += [listed[start : start + together] for start in range(0, len(listed), together)]
    return found


def run_campaign(
    cases: Sequence[str], *, jobs: int = 1, executor: Executor | None = None, folder: Path = ROOT
) -> Iterator[Outcome]:
    """What comes of every chunk, in their order."""
    with Workers(jobs, executor) as workers:
        yield from map_chunks(workers, partial(run_chunk, str(folder)), chunks_of(cases))


def run_chunk(folder: str, cases: tuple[str, ...]) -> Outcome:
    """Run some cases by a command."""
    status, out, err = run_command([*_PYTEST, "-rfE", *cases], Path(folder), _SECONDS, _ALL)
    if status == 0:
        return Outcome(cases, ())
    named = tuple(case for case in cases if case in set(_FAILED.findall(out)))
    return Outcome(cases, named or cases, out + err)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign, and print what came of it; 1 where a case failed."""
    reader = argparse.ArgumentParser(prog="python -m tests.campaign", description=str(__doc__).partition("\n")[0])
    reader.add_argument("paths", nargs="+", help="tests, as for pytest")
    reader.add_argument("-k", default="", help="only those whose names match, as for pytest")
    reader.add_argument("--jobs", type=int, default=1, help="processes of this machine")
    reader.add_argument("--cluster", help="the scheduler of a dask cluster, instead of them")
    asked = reader.parse_args(arguments)
    cases = collect_cases(asked.paths, ["-k", asked.k] if asked.k else [])
    if not cases:
        raise SystemExit("no case has such a name")
    ran, failed = 0, 0
    with cluster(asked.cluster) as executor:
        for outcome in run_campaign(cases, jobs=asked.jobs, executor=executor):
            ran, failed = ran + len(outcome.cases), failed + len(outcome.failed)
            print(f"{ran} of {len(cases)} cases, {failed} failed: {outcome.cases[0].partition('::')[0]}", flush=True)
            if outcome.failed:
                print(outcome.told, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
