"""How time and memory grow: every family of `families`, each member in a process of its own, beside its baselines, in one run.

    python benchmarks/growth.py [--quick] [--only TEXT] [--json OUT] [--html OUT] [--against EARLIER.json] [--before FOLDER]

"CPU" is the processor time of the process and its children, from the question to the checked verdict, the least of three runs (one
with ``--quick``, and where it takes more than twenty seconds); "elapsed" is by the clock, and means nothing on a busy machine;
"recheck" is the processor time of the independent checker on the certificate alone; "peak" is the most memory of the process, and of it
what the interpreter and the libraries take before the question is asked.  A member that takes longer than the limit is stopped, and larger
ones are left out.  The last table fits ``CPU ~ size^exponent`` to the members above 50 ms.

``--before FOLDER`` measures a checkout of another version in the same run (``git worktree add FOLDER COMMIT``); ``--against`` compares with
the JSON of an earlier run, on whatever machine that was.  All that is left out is listed with its reason.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from families import FAMILIES, Family, Skipped

HERE = Path(__file__).resolve().parent
OURS = "privproof"
BEFORE = "before"
REPETITIONS = {"tiny": 1, "quick": 1, "whole": 3}
"""Of every measurement; the least counts."""
LONG = 20.0
"""Seconds from which on a member is measured once."""
MEASURABLE = 0.05
"""Seconds from which on a time says something about growth."""


@dataclass(frozen=True)
class Row:
    """One measurement: seconds of a processor, MiB, and what was answered."""

    family: str
    engine: str
    size: int
    subject: str
    cpu: float
    elapsed: float
    recheck: float | None
    peak: float
    libraries: float
    repetitions: int
    answer: str


# ------------------------------------------------------------------------------------------------- in a process of its own


def _spent() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def member(family: str, size: int, subject: str) -> None:
    """Measure one member once, and print what was found as JSON."""
    chosen = next(each for each in FAMILIES if each.name == family)
    try:
        work = (chosen.make if subject == OURS else chosen.baselines[subject])(size)
    except Skipped as reason:
        print(json.dumps({"skipped": str(reason)}))
        return
    libraries, begun, clock = _peak(), _spent(), time.perf_counter()
    answer = work()
    cpu, elapsed = _spent() - begun, time.perf_counter() - clock
    again = None
    certificate = getattr(answer, "certificate", None)
    if certificate is not None:
        from privproof_checker import recheck

        begun = _spent()
        recheck(certificate)
        again = _spent() - begun
    told = f"{answer.status} {answer.upper.show()}" if hasattr(answer, "upper") and hasattr(answer, "status") else ""
    print(
        json.dumps(
            {"cpu": cpu, "elapsed": elapsed, "recheck": again, "peak": _peak(), "libraries": libraries, "answer": told}
        )
    )


# ------------------------------------------------------------------------------------------------------------- measuring


def measured(family: Family, size: int, subject: str, source: Path, limit: float, times: int) -> Row | str:
    """The least of several measurements, or why there is none."""
    found: list[dict[str, Any]] = []
    name = OURS if subject == BEFORE else subject
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": str(source)}
    command = [sys.executable, str(HERE / "growth.py"), "--member", family.name, str(size), name]
    for _ in range(times):
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return f"stopped after {limit:g} s"
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["failed"])[-1][:200]
        result = json.loads(done.stdout.strip().splitlines()[-1])
        if "skipped" in result:
            return str(result["skipped"])
        found.append(result)
        if result["cpu"] > LONG:
            break
    best = min(found, key=lambda each: float(each["cpu"]))
    again = [each["recheck"] for each in found if each["recheck"] is not None]
    return Row(
        family.name,
        family.engine,
        size,
        subject,
        best["cpu"],
        min(each["elapsed"] for each in found),
        min(again, default=None),
        max(each["peak"] for each in found),
        best["libraries"],
        len(found),
        best["answer"],
    )


def sizes_of(family: Family, amount: str) -> tuple[int, ...]:
    """The sizes of a run."""
    return family.sizes[: {"tiny": 1, "quick": 2, "whole": len(family.sizes)}[amount]]


def measure(
    families: Sequence[Family], amount: str, before: Path | None, limit: float
) -> tuple[list[Row], list[tuple[str, str]]]:
    """All rows, and all that was left out, each with the reason."""
    rows: list[Row] = []
    skipped: list[tuple[str, str]] = []
    here = HERE.parent / "src"
    for family in families:
        subjects = [(OURS, here), *((name, here) for name in family.baselines)]
        if before is not None:
            subjects.insert(1, (BEFORE, before / "src"))
        for subject, source in subjects:
            for size in sizes_of(family, amount):
                found = measured(family, size, subject, source, limit, REPETITIONS[amount])
                if isinstance(found, str):
                    skipped.append((f"{family.name}, {family.size} {size}, {subject}", found))
                    break
                rows.append(found)
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows, skipped


# --------------------------------------------------------------------------------------------------------------- telling


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of the logarithms, by least squares; None where too little can be measured."""
    logs = [(math.log(x), math.log(y)) for x, y in points if y >= MEASURABLE]
    if len(logs) < 2:
        return None
    middle = [sum(each) / len(logs) for each in zip(*logs, strict=True)]
    below = sum((x - middle[0]) ** 2 for x, _ in logs)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in logs) / below if below else None


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    print(f"\n{title}\n")
    for row in (columns, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        print("  " + "  ".join(cells))


def seconds(value: float | None) -> str:
    """A time in words."""
    return "-" if value is None else f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def tell(rows: Sequence[Row], skipped: Sequence[tuple[str, str]], earlier: Sequence[Row]) -> None:
    """Print a table for every engine, the growth of every family, and what was left out."""
    old = {(row.family, row.size, row.subject): row for row in earlier}
    for engine in dict.fromkeys(row.engine for row in rows):
        listed = []
        for row in (each for each in rows if each.engine == engine):
            then = old.get((row.family, row.size, row.subject))
            cells = [
                f"{row.family}: {row.subject}",
                f"{row.size:,}",
                seconds(row.cpu),
                seconds(row.elapsed),
                seconds(row.recheck),
            ]
            cells += [f"{row.peak:.0f} ({row.libraries:.0f})", row.answer[:40]]
            listed.append([*cells, "-" if then is None else f"{then.cpu / row.cpu:.2g}x"])
        columns = ["family", "size", "CPU", "elapsed", "recheck", "peak MiB", "answer", "earlier/now"]
        table(f"Engine: {engine}", columns, listed)
    listed = []
    for family in dict.fromkeys(row.family for row in rows):
        own = [row for row in rows if row.family == family]
        for subject in dict.fromkeys(row.subject for row in own):
            members = [row for row in own if row.subject == subject]
            ours = next((row for row in own if row.subject == OURS and row.size == members[-1].size), None)
            slope = exponent([(row.size, row.cpu) for row in members])
            share = "-" if subject == OURS or ours is None else f"{members[-1].cpu / ours.cpu:.2g}x"
            times = ", ".join(seconds(row.cpu) for row in members)
            listed.append([f"{family}: {subject}", times, "-" if slope is None else f"{slope:.2f}", share])
    table("Growth", ["family", "CPU by size", "exponent", "times privproof"], listed)
    print("\nLeft out:" if skipped else "\nNothing was left out.")
    for what, reason in skipped:
        print(f"  {what}: {reason}")


def page(rows: Sequence[Row], skipped: Sequence[tuple[str, str]], told: str) -> str:
    """Curves of all families, and the tables."""
    from privproof.drawing.charts import Line, line_chart

    parts = []
    for family in FAMILIES:
        own = [row for row in rows if row.family == family.name]
        for what, unit in (("cpu", "CPU seconds"), ("peak", "peak MiB")):
            lines = [
                Line(subject, tuple((row.size, getattr(row, what)) for row in own if row.subject == subject))
                for subject in dict.fromkeys(row.subject for row in own)
            ]
            if any(len(line.points) > 1 for line in lines):
                title = f"{family.name}: {unit}"
                parts.append(line_chart(lines, title=title, x_label=family.size, y_label=unit, x_log=True, y_log=True))
    listed = "".join(f"<li>{html.escape(what)}: {html.escape(reason)}</li>" for what, reason in skipped)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Growth</title>'
        "<style>body{font:15px sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}svg{width:100%;height:auto}"
        "pre{overflow:auto}:root{color-scheme:light dark}</style>"
        f"<h1>How time and memory grow</h1>{''.join(parts)}<h2>Left out</h2><ul>{listed}</ul><pre>{html.escape(told)}</pre>"
    )


def main() -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the two smallest members of every family")
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    parser.add_argument("--only", default="", metavar="TEXT", help="families whose name or engine holds the text")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of the clock for one measurement")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all figures")
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page with curves")
    parser.add_argument("--against", type=Path, metavar="EARLIER", help="compare with the JSON of an earlier run")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="measure a checkout of another version, too")
    parser.add_argument("--member", nargs=3, metavar=("FAMILY", "SIZE", "SUBJECT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.member is not None:
        member(given.member[0], int(given.member[1]), given.member[2])
        return
    amount = "tiny" if given.tiny else "quick" if given.quick else "whole"
    chosen = [family for family in FAMILIES if given.only in family.name or given.only in family.engine]
    begun = time.perf_counter()
    load = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load:.1f}, one thread of BLAS")
    if given.before is not None and not (given.before / "src" / "privproof").is_dir():
        parser.error(f"{given.before} is no checkout: it has no src/privproof")
    rows, skipped = measure(chosen, amount, given.before, given.limit)
    earlier = [] if given.against is None else [Row(**row) for row in json.loads(given.against.read_text())["rows"]]
    tell(rows, skipped, earlier)
    print(f"\nall in {time.perf_counter() - begun:.0f} s")
    if given.json is not None:
        about = {"python": platform.python_version(), "processors": os.cpu_count(), "load": load, "amount": amount}
        found = {**about, "rows": [asdict(row) for row in rows], "skipped": skipped}
        given.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if given.html is not None:
        growth = [f"{row.family}\t{row.size}\t{row.subject}\t{row.cpu:.3f} s\t{row.peak:.0f} MiB" for row in rows]
        given.html.write_text(page(rows, skipped, "\n".join(growth)), encoding="utf-8")


if __name__ == "__main__":
    main()
