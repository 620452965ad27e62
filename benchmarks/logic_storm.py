"""Chains and decision processes in the PRISM language, beside Storm where ``stormpy`` can be imported: processor time and memory.

    python benchmarks/logic_storm.py [--tiny | --quick] [--only NAME] [--repeat N] [--json OUT]
    python benchmarks/logic_storm.py --model FILE [--const N=3] 'Pmax=? [ F "goal" ]' ...

Every measurement has a process of its own, which reads the model and answers one question about its initial state.  Of privproof,
"certified" is bounds by floating point that whole numbers confirm, and "exact" is rationals; "verdict" turns the certified answer into
a claim just beside it, makes the certificate, and has the independent checker confirm it.  Of Storm, "float" is its sparse engine with
doubles, without any promise, and "exact" is rationals.  The seconds are processor time, of reading and of answering; libraries that are
loaded count for neither.  The megabytes are the peak of the process, libraries and all.  Ratios are of both together, certified to
float and exact to exact.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

GRID = """dtmc
const int N;
module grid
  x : [0..N-1] init 0; y : [0..N-1] init 0;
  [] x<N-1 & y<N-1 -> 1/2:(x'=x+1) + 1/3:(y'=y+1) + 1/6:(x'=x+1)&(y'=y+1);
  [] x=N-1 | y=N-1 -> true;
endmodule
label "left" = x=N-1 & y<floor(N*7/10);
label "top" = y>=floor(N/4);
"""
WALK = """dtmc
const int N;
module walk
  x : [0..N-1] init floor(N/2); y : [0..N-1] init floor(N/2);
  [] x>0 & x<N-1 & y>0 & y<N-1 -> 1/4:(x'=x+1) + 1/4:(x'=x-1) + 1/4:(y'=y+1) + 1/4:(y'=y-1);
  [] x=0 | x=N-1 | y=0 | y=N-1 -> true;
endmodule
label "east" = x=N-1;
"""


def coins(processes: int) -> str:
    """Processes that agree by a shared counter: each flips a coin, moves the counter, and stops where it is far enough from the middle."""
    first = """mdp
const int K;
const int N = %d;
const int end = 2*K*N;
global counter : [0..end] init K*N;
module p1
  at1 : [0..2] init 0; coin1 : [0..1] init 0;
  [] at1=0 -> 1/2:(coin1'=0)&(at1'=1) + 1/2:(coin1'=1)&(at1'=1);
  [] at1=1 & coin1=0 & counter>0 -> (counter'=counter-1)&(at1'=0)&(coin1'=0);
  [] at1=1 & coin1=1 & counter<end -> (counter'=counter+1)&(at1'=0)&(coin1'=0);
  [] at1=0 & counter<=N -> (coin1'=0)&(at1'=2);
  [] at1=0 & counter>=end-N -> (coin1'=1)&(at1'=2);
  [done] at1=2 -> true;
endmodule
"""
    copies = "".join(f"module p{i} = p1[at1=at{i}, coin1=coin{i}] endmodule\n" for i in range(2, processes + 1))
    stopped = " & ".join(f"at{i}=2" for i in range(1, processes + 1))
    ones = " & ".join(f"coin{i}=1" for i in range(1, processes + 1))
    some = " | ".join(f"coin{i}=1" for i in range(1, processes + 1))
    return (
        first % processes
        + copies
        + f'label "ones" = {stopped} & {ones};\nlabel "apart" = {stopped} & !({ones}) & ({some});\n'
    )


def backoff(stations: int) -> str:
    """Stations that want to send: each waits for a random time, sends, and waits for longer where it meets another."""
    first = """mdp
const int B;
formula busy = %s;
module s1
  at1 : [0..3] init 0; left1 : [0..B] init 0; tries1 : [0..2] init 0;
  [] at1=0 & tries1=0 -> 1/2:(at1'=1)&(left1'=0) + 1/2:(at1'=1)&(left1'=floor(B/2));
  [] at1=0 & tries1>0 -> 1/3:(at1'=1)&(left1'=0) + 1/3:(at1'=1)&(left1'=floor(B/2)) + 1/3:(at1'=1)&(left1'=B);
  [] at1=1 & left1>0 -> 9/10:(left1'=left1-1) + 1/10:(left1'=max(left1-2,0));
  [] at1=1 & left1=0 & busy=0 -> (at1'=2);
  [] at1=1 & left1=0 & busy>0 -> (at1'=0)&(tries1'=min(tries1+1,2));
  [] at1=2 -> 4/5:(at1'=3) + 1/5:(at1'=0)&(tries1'=min(tries1+1,2));
  [sent] at1=3 -> true;
endmodule
"""
    busy = " + ".join(f"(at{i}=2?1:0)" for i in range(1, stations + 1))
    copies = "".join(
        f"module s{i} = s1[at1=at{i}, left1=left{i}, tries1=tries{i}] endmodule\n" for i in range(2, stations + 1)
    )
    tried = " & ".join(f"tries{i}<2" for i in range(1, stations + 1))
    sent = " & ".join(f"at{i}=3" for i in range(1, stations + 1))
    return first % busy + copies + f'label "easily" = {sent} & {tried};\nlabel "all" = {sent};\n'


class Case(NamedTuple):
    """A model, its constants, a question, and whether exact numbers are asked for as well."""

    name: str
    text: str
    constants: str
    question: str
    exact: bool = True

    def text_with_constants(self) -> str:
        """The text in which the constants have values."""
        text = self.text
        for part in filter(None, self.constants.split(",")):
            name, value = part.split("=")
            text = re.sub(rf"(const\s+(?:\w+\s+)?{name})\s*;", rf"\1 = {value};", text)
        return text


TINY = (
    Case("grid 5", GRID, "N=5", 'P=? [ F "left" ]'),
    Case("coins 2", coins(2), "K=1", 'Pmax=? [ F "ones" ]'),
)
QUICK = (
    Case("grid 100", GRID, "N=100", 'P=? [ F "left" ]'),
    Case("walk 40", WALK, "N=40", 'P=? [ F "east" ]'),
    Case("coins 3", coins(3), "K=4", 'Pmax=? [ F "apart" ]'),
    Case("coins 3", coins(3), "K=4", 'Pmin=? [ F "ones" ]'),
    Case("backoff 2", backoff(2), "B=30", 'Pmin=? [ F "easily" ]'),
)
LONG = (
    Case("grid 1000", GRID, "N=1000", 'P=? [ F "left" ]', exact=False),
    Case("grid 1000", GRID, "N=1000", 'P=? [ G F "left" ]', exact=False),
    Case("grid 1000", GRID, "N=1000", 'P=? [ F<=200 "top" ]', exact=False),
    Case("grid 100", GRID, "N=100", 'P=? [ F "left" ]'),
    Case("walk 40", WALK, "N=40", 'P=? [ F "east" ]'),
    Case("walk 150", WALK, "N=150", 'P=? [ F "east" ]', exact=False),
    Case("coins 3", coins(3), "K=4", 'Pmax=? [ F "apart" ]'),
    Case("coins 4", coins(4), "K=4", 'Pmax=? [ F "apart" ]'),
    Case("coins 4", coins(4), "K=4", 'Pmin=? [ F "ones" ]'),
    Case("coins 4", coins(4), "K=4", 'Pmax=? [ G F "apart" ]', exact=False),
    Case("backoff 2", backoff(2), "B=30", 'Pmin=? [ F "easily" ]'),
    Case("backoff 3", backoff(3), "B=20", 'Pmin=? [ F "easily" ]'),
    Case("backoff 3", backoff(3), "B=20", 'Pmax=? [ F "easily" ]'),
)
WAYS = ("privproof certified", "privproof verdict", "privproof exact", "storm float", "storm exact")
_BESIDE = Fraction(1, 10**6)
"""How far the claim of a verdict is from the certified answer."""


def ours(path: str, question: str, way: str) -> dict[str, Any]:
    """The time of reading and of answering, and the answer for the initial state."""
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401  (loaded now, not while the time runs)

    from privproof import model_check
    from privproof.exact import fraction
    from privproof.logic import model_checking as checking
    from privproof.logic.formulas import parse_formula
    from privproof.logic.prism import explore

    if way != "exact":
        checking.EXACT_ANSWERS = 0  # also where exact numbers would be had
    text = Path(path).read_text(encoding="utf-8")
    begin = time.process_time()
    process = explore(text, self_loops=True, name=path).process
    read = time.process_time()
    least = not question.startswith("Pmax")
    asked = question.replace("Pmin", "P").replace("Pmax", "P")
    found = model_check(process, parse_formula(question), exact=way == "exact")
    done = time.process_time()
    measured = list(found.measured.values())[-1]
    between = (measured.least if least else measured.most)(found.asked[0])
    told = {"states": len(process), "build": read - begin, "low": str(between.low), "high": str(between.high)}
    if way != "verdict":
        return told | {"check": done - read, "how": measured.how, "value": float(fraction(between.low))}
    low, high = fraction(between.low), fraction(between.high)
    claim = f"P>={max(low - _BESIDE, Fraction(0))}" if least else f"P<={min(high + _BESIDE, Fraction(1))}"
    begin = time.process_time()
    verdict = model_check(process, parse_formula(asked.replace("P=?", claim)))
    done = time.process_time()
    return told | {"check": done - begin, "how": verdict.status, "value": float(low)}


def theirs(path: str, question: str, way: str) -> dict[str, Any]:
    """The same in Storm."""
    import stormpy

    begin = time.process_time()
    program = stormpy.parse_prism_program(path, prism_compatibility=True)
    program = program.substitute_constants()
    property_ = stormpy.parse_properties(question, program)[0]
    kind: Any = stormpy.Rational if way == "exact" else float
    model = stormpy.build_model[kind](program, [property_])
    read = time.process_time()
    result = stormpy.model_checking(model, property_)
    value = str(result.get_value_vector()[model.initial_states[0]])
    done = time.process_time()
    return {
        "states": model.nr_states,
        "build": read - begin,
        "check": done - read,
        "low": value,
        "high": value,
        "how": "storm",
        "value": float(Fraction(value)),
    }


def measured(way: str, case: Case) -> dict[str, Any]:
    """One measurement, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.prism"
        path.write_text(case.text_with_constants(), encoding="utf-8")
        words = ["--one", way, str(path), case.question]
        run = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=False)
    for line in reversed(run.stdout.splitlines()):
        if line.startswith("{"):
            return dict(json.loads(line))
    return {"error": (run.stderr or run.stdout).strip().splitlines()[-1][:80] if run.stderr or run.stdout else "died"}


def _one(way: str, path: str, question: str) -> None:
    tool, kind = way.split(" ")
    found = (ours if tool == "privproof" else theirs)(path, question, kind)
    found["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def _row(case: Case, ways: list[str], repeat: int) -> list[dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {}
    for way in ways:
        if case.exact or not way.endswith("exact"):
            runs = [measured(way, case) for _ in range(repeat)]
            best[way] = min(runs, key=lambda one: one.get("build", 1e9) + one.get("check", 1e9))
    for way, one in best.items():
        head = f"{case.name:10} {case.question:24} {way:19}"
        if "error" in one:
            print(f"{head} {one['error']}")
            continue
        other = best.get({"certified": "storm float", "exact": "storm exact"}.get(way.split(" ")[1], ""), {})
        ratio = ""
        if way.startswith("privproof") and "check" in other:
            times = (one["build"] + one["check"]) / max(other["build"] + other["check"], 1e-3)
            ratio = f"{times:7.2f} {one['rss'] / other['rss']:7.2f}"
        print(
            f"{head} {one['states']:>8} {one['build']:8.2f} {one['check']:8.2f} {one['rss']:6.0f} {ratio:15}  {one['how']}",
            flush=True,
        )
    values = [one["value"] for one in best.values() if "value" in one]
    if values and max(values) - min(values) > 1e-5:
        print(f"           THE ANSWERS DIFFER: {values}")
    return [{"model": case.name, "question": case.question, "way": way, **one} for way, one in best.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", help="questions about the model of --model")
    parser.add_argument("--model", type=Path, help="measure this model instead")
    parser.add_argument("--const", default="", help="its constants")
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    parser.add_argument("--quick", action="store_true", help="a minute's worth")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        _one(*given.one)
        return
    ways = [way for way in given.ways if way.startswith("privproof") or importlib.util.find_spec("stormpy")]
    cases = TINY if given.tiny else QUICK if given.quick else LONG
    if given.model:
        text = given.model.read_text(encoding="utf-8")
        cases = tuple(Case(given.model.stem, text, given.const, question) for question in given.questions)
    print(
        f"{'model':10} {'question':24} {'way':19} {'states':>8} {'build s':>8} {'check s':>8} {'MB':>6} {'x Storm':>7} {'x MB':>7}"
    )
    everything = [row for case in cases if given.only in case.name for row in _row(case, ways, given.repeat)]
    if given.json:
        given.json.write_text(json.dumps(everything, indent=1), encoding="utf-8")
    if any("error" in one and one["way"].startswith("privproof") for one in everything):
        sys.exit("a question was not answered")


if __name__ == "__main__":
    main()
