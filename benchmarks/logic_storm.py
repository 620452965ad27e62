"""The logic on large chains, side by side with Storm where ``stormpy`` can be imported: seconds and memory.

    python benchmarks/logic_storm.py [--states 100000 1000000] [--repeat N] [--tiny] [--json OUT]

The chains are layered: ten layers, three random successors in the next one, the last layer absorbing, labels at random.  Both tools
are handed the same arrays; making their model from them is a column of its own, and the time of a question runs from its text to
the values (or truths) of all states.  "float" is enclosures with certified errors for privproof and Storm's sparse engine with
doubles; "exact" is rationals in both.  Every measurement has a process of its own.  Seconds depend on the machine, ratios less.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

QUESTIONS = {
    "P=? [ F a ]": 'P=? [ F "a" ]',
    "P>=1/2 [ a U<=20 b ]": 'P>=1/2 [ "a" U<=20 "b" ]',
    "P=? [ (F (a & X b)) & (G F c) ]": 'P=? [ (F ("a" & (X "b"))) & (G (F "c")) ]',
}
WAYS = ("privproof float", "privproof exact", "storm float", "storm exact")
_DEPTH, _DEGREE, _WEIGHTS = 10, 3, 7
_TINY = 100
"""So many states show that all of it still runs."""


def layered(
    states: int, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[int, int]], dict[str, np.ndarray]]:
    """Rows, targets and indices into the numbers of a layered chain; the numbers; the labels."""
    source = np.random.default_rng(seed)
    width = states // _DEPTH
    inner = width * (_DEPTH - 1)
    layer = np.arange(inner) // width
    targets = np.sort((layer[:, None] + 1) * width + source.integers(0, width, (inner, _DEGREE)), axis=1)
    # three different successors: a repeated one moves on by one, inside its layer
    for _ in range(_DEGREE):
        for k in range(1, _DEGREE):
            same = targets[:, k] <= targets[:, k - 1]
            targets[same, k] = targets[same, k - 1] + 1
    over = targets >= ((layer + 2) * width)[:, None]
    targets[over.any(axis=1)] = ((layer[over.any(axis=1)] + 1) * width)[:, None] + np.arange(_DEGREE)
    weights = source.integers(1, _WEIGHTS + 1, (inner, _DEGREE))
    pairs, values = np.unique(
        np.stack([weights, np.repeat(weights.sum(axis=1, keepdims=True), _DEGREE, axis=1)], axis=2).reshape(-1, 2),
        axis=0,
        return_inverse=True,
    )
    numbers = [(int(p), int(q)) for p, q in pairs] + [(1, 1)]
    rest = states - inner
    rows = np.concatenate([np.arange(inner + 1) * _DEGREE, inner * _DEGREE + np.arange(1, rest + 1)]).astype(np.int64)
    targets = np.concatenate([targets.reshape(-1), np.arange(inner, states)]).astype(np.int64)
    values = np.concatenate([values.reshape(-1), np.full(rest, len(numbers) - 1)]).astype(np.int64)
    labels = {name: source.random(states) < density for name, density in (("a", 0.3), ("b", 0.2), ("c", 0.5))}
    return rows, targets, values, numbers, labels


def ours(states: int, question: str, *, exact: bool) -> dict[str, Any]:
    from flint import fmpq

    from privproof.engines.logic import checking
    from privproof.engines.monitor import Monitor
    from privproof.formulas import parse_formula
    from privproof.models.process import DecisionProcess, Numbered

    rows, targets, values, numbers, labels = layered(states)
    begin = time.perf_counter()
    process = DecisionProcess(
        names=Numbered(states),
        choices=np.arange(states + 1),
        rows=rows,
        targets=targets,
        values=values,
        numbers=tuple(fmpq(p, q) for p, q in numbers),
        labels=labels,
    )
    built = time.perf_counter()
    if not exact:
        checking.EXACT_ENTRIES = checking.EXACT_ANSWERS = 0
    checker = checking.Checker(process, Monitor(), always_exact=exact)
    formula = parse_formula(question)
    truth = checker.truth(formula)
    done = time.perf_counter()
    assert not (truth < 0).any()
    found = checker.measured[formula]
    sample = [found.least(s) for s in range(0, states, states // 50)]
    assert not exact or all(between.exact for between in sample)
    total = float(sum(float(int(b.low.p) / int(b.low.q)) if b.low.q < 10**300 else 0.0 for b in sample))
    if "=?" not in question:
        total = int((truth == 1).sum())
    return {"build": built - begin, "check": done - built, "sum": total, "how": found.how}


def theirs(states: int, question: str, *, exact: bool) -> dict[str, Any]:
    import stormpy
    from stormpy import datastructures, models

    rows, targets, values, numbers, labels = layered(states)
    begin = time.perf_counter()
    kind: Any = stormpy.Rational if exact else float
    table = [stormpy.Rational(f"{p}/{q}") if exact else p / q for p, q in numbers]
    builder = datastructures.SparseMatrixBuilder[kind](rows=states, columns=states, entries=len(targets))
    sources = np.repeat(np.arange(states), np.diff(rows))
    builder.add_next_values(sources.tolist(), targets.tolist(), [table[i] for i in values.tolist()])
    labeling = models.StateLabeling(states)
    for name, where in labels.items():
        labeling.add_label(name)
        labeling.set_states(name, datastructures.BitVector(states, np.flatnonzero(where).tolist()))
    labeling.add_label("init")
    labeling.add_label_to_state("init", 0)
    parts = models.SparseModelComponents[kind](transition_matrix=builder.build(), state_labeling=labeling)
    model = models.SparseDtmc[kind](parts)
    built = time.perf_counter()
    result = stormpy.model_checking(model, stormpy.parse_property(QUESTIONS[question]))
    if "=?" in question:
        vector = result.get_value_vector()
        done = time.perf_counter()
        total = sum(
            float(str(vector[s])) if not exact else _float(str(vector[s])) for s in range(0, states, states // 50)
        )
    else:
        truth = result.get_truth_values_vector()
        done = time.perf_counter()
        total = sum(1 for _ in truth)
    return {"build": built - begin, "check": done - built, "sum": total, "how": "storm"}


def _float(text: str) -> float:
    from fractions import Fraction

    return float(Fraction(text))


def measured(way: str, states: int, question: str) -> dict[str, Any]:
    """One measurement, in a process of its own."""
    run = subprocess.run(
        [sys.executable, __file__, "--one", way, str(states), question], capture_output=True, text=True, check=False
    )
    for line in reversed(run.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    return {"error": (run.stderr or run.stdout).strip().splitlines()[-1][:80] if run.stderr or run.stdout else "died"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        way, states, question = given.one
        run = ours if way.startswith("privproof") else theirs
        found = run(int(states), question, exact=way.endswith("exact"))
        found["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(found))
        return
    ways = [way for way in WAYS if way.startswith("privproof") or importlib.util.find_spec("stormpy")]
    everything = []
    print(f"{'states':>8}  {'question':28} {'way':16} {'build s':>8} {'check s':>8} {'MB':>6}  {'x Storm':>8}")
    for states in [_TINY] if given.tiny else given.states:
        for question in QUESTIONS:
            best: dict[str, dict[str, Any]] = {}
            for way in ways:
                runs = [measured(way, states, question) for _ in range(given.repeat)]
                best[way] = min(runs, key=lambda one: one.get("check", float("inf")))
            for way, one in best.items():
                everything.append({"states": states, "question": question, "way": way, **one})
                if "error" in one:
                    print(f"{states:>8}  {question:28} {way:16} {one['error']}")
                    continue
                other = best.get(way.replace("privproof", "storm"), {}).get("check")
                ratio = f"{one['check'] / other:8.2f}" if other and way.startswith("privproof") else ""
                print(
                    f"{states:>8}  {question:28} {way:16} {one['build']:8.2f} {one['check']:8.2f} {one['rss']:6.0f}  {ratio:>8}",
                    flush=True,
                )
            sums = [one["sum"] for one in best.values() if "sum" in one]
            if sums and max(sums) - min(sums) > 1e-6 * max(1.0, abs(max(sums))):
                print(f"          THE ANSWERS DIFFER: {sums}")
    if given.json:
        given.json.write_text(json.dumps(everything, indent=1))
    if any("error" in one and one["way"].startswith("privproof") for one in everything):
        sys.exit("a question was not answered")


if __name__ == "__main__":
    main()
