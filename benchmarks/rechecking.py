"""What the check of a certificate costs beside the search that found it, for every kind of evidence.

    python benchmarks/rechecking.py [--tiny | --quick] [--only TEXT] [--json OUT]

Every verdict is made by the gate, which has the independent checker look at the certificate.  Here the two are told apart: "check" is
the processor time of the checker inside of the gate, "search" all the rest, from the question to the verdict: compiling, searching, runs
beside the model, writing the certificate, and the multipliers that are found for conditions once the checker has named these.  Every kind
has a process of its own, in which its smallest member is asked about first, so that loading modules counts for neither; then the least of
three measurements counts, each of a question made anew, for which nothing is kept of the one before.  "check/search" is to be at most a
half: then nothing is gained by leaving the check for later.  Where the search takes less than 50 ms the quotient says nothing.
"""

# mypy: ignore-errors

from __future__ import annotations

import argparse
import contextvars
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from families import Skipped
from kinds import KINDS

HERE = Path(__file__).resolve().parent
REPETITIONS = {"tiny": 1, "quick": 2, "whole": 3}
"""Of every measurement; the least counts."""
LONG = 10.0
"""Seconds from which on a member is measured once."""
SHORT = 0.05
"""Seconds of search below which a quotient says nothing."""
MOST = 0.5
"""What the check may take of the search."""


def _spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _methods(certificate):
    """The rules of a certificate, but for those that every one has."""
    facts = certificate.get("facts")
    rules = [fact.get("rule", "?") for fact in facts] if isinstance(facts, list) else []
    return [rule for rule in rules if rule not in ("source", "verdict")]


def measure(kind, size, times):
    """The least processor seconds of search and of check, what was answered, and the methods of its certificates."""
    from privproof.evidence import gate
    from privproof.evidence.verdicts import Verdict

    found, methods, spent, begun = [], [], 0.0, 0.0
    checker, supplier = gate.recheck, gate.wanted_refutations

    def recheck(certificate, **options):
        nonlocal spent
        before = _spent()
        outcome = checker(certificate, **options)
        spent += _spent() - before
        methods.extend(_methods(certificate))
        return outcome

    def supplied(*wanted):
        """What the engines find for the checker: search."""
        nonlocal spent
        before = _spent()
        outcome = supplier(*wanted)
        spent -= _spent() - before
        return outcome

    gate.recheck, gate.wanted_refutations = recheck, supplied
    try:
        contextvars.copy_context().run(kind.make(kind.sizes[0]))
        for _ in range(times):
            work = kind.make(size)
            methods.clear()
            spent, begun = 0.0, _spent()
            answer = contextvars.copy_context().run(
                work
            )  # what the checker keeps of one question is gone with its context
            search = _spent() - begun - spent
            told = f"{answer.status} {answer.upper.show()}" if isinstance(answer, Verdict) else type(answer).__name__
            found.append((search, spent, told, " ".join(dict.fromkeys(methods))))
            if search > LONG:
                break
    finally:
        gate.recheck, gate.wanted_refutations = checker, supplier
    search, check = min(each[0] for each in found), min(each[1] for each in found)
    return {"search": search, "check": check, "answer": found[0][2], "method": found[0][3]}


def member(name, size, times):
    """Measure one member in this process, and print it as JSON."""
    kind = next(each for each in KINDS if each.name == name)
    try:
        print(json.dumps(measure(kind, size, times)))
    except Skipped as reason:
        print(json.dumps({"skipped": str(reason)}))


def apart(kind, size, times, limit):
    """The same in a process of its own."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": str(HERE.parent / "src")}
    command = [sys.executable, str(HERE / "rechecking.py"), "--member", kind.name, str(size), str(times)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"skipped": f"stopped after {limit:g} s"}
    if done.returncode != 0:
        return {"skipped": (done.stderr.strip().splitlines() or ["failed"])[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the two smallest members of every kind, twice")
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds whose name holds the text")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of the clock for one kind at one size")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all figures")
    parser.add_argument("--member", nargs=3, metavar=("KIND", "SIZE", "TIMES"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.member is not None:
        member(given.member[0], int(given.member[1]), int(given.member[2]))
        return
    amount = "tiny" if given.tiny else "quick" if given.quick else "whole"
    rows, skipped = [], []
    print(f"{'kind':44}  {'size':>7}  {'search':>9}  {'check':>9}  {'check/search':>12}  method and answer", flush=True)
    for kind in (each for each in KINDS if given.only in each.name):
        for size in kind.sizes[: {"tiny": 1, "quick": 2, "whole": None}[amount]]:
            found = apart(kind, size, REPETITIONS[amount], given.limit)
            if "skipped" in found:
                skipped.append((kind.name, size, found["skipped"]))
                break
            rows.append({"kind": kind.name, "size": size, **found})
            share = found["check"] / found["search"]
            shown = "short" if found["search"] < SHORT else f"{share:.2f}{' !' if share > MOST else ''}"
            times = f"{1000 * found['search']:6.0f} ms  {1000 * found['check']:6.0f} ms"
            print(
                f"{kind.name:44}  {size:7,}  {times}  {shown:>12}  {found['method']}: {found['answer'][:40]}",
                flush=True,
            )
    measured = [row for row in rows if row["search"] >= SHORT]
    above = [row for row in measured if row["check"] > MOST * row["search"]]
    print(f"\n{len(above)} of {len(measured)} with a search of 50 ms or more have a check above half of it")
    for name, size, reason in skipped:
        print(f"left out: {name}, {size}: {reason}")
    if given.json is not None:
        given.json.write_text(json.dumps({"rows": rows, "skipped": skipped}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
