"""Stream automata: how the decision and the exact cost grow with the automaton, and the published families.

Times are ratios to a baseline of the same run: reading the automaton once (validating it).

    python benchmarks/streams.py [--tiny]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from privproof import StreamAutomaton, StreamQuestion, check
from privproof.engines.streams.solving import decide
from privproof.evidence.checker import recheck
from privproof.exact import rational
from privproof.models.stream_automaton import Order, Sample, Transition


def step(
    source: str, target: str, rate: Fraction, guard: Any = (), symbol: str = "", stores: Any = (), reads: int = 1
) -> Transition:
    """A transition with one sample."""
    return Transition(
        source, target, (Sample(rational(rate), reads),), tuple(guard), stores=tuple(stores), symbol=symbol
    )


def automaton(transitions: list[Transition]) -> StreamAutomaton:
    """An automaton from its transitions."""
    states = tuple(dict.fromkeys(name for t in transitions for name in (t.source, t.target)))
    return StreamAutomaton(states=states, initial=transitions[0].source, transitions=tuple(transitions))


def phases(size: int) -> StreamAutomaton:
    """Above threshold again and again, each time with a new threshold: three transitions a phase."""
    quarter = Fraction(1, 4)
    listed = []
    for i in range(size // 3):
        listed.append(step(f"t{i}", f"w{i}", Fraction(1, 2 + i % 3), stores=[("x", 0)], reads=0))
        listed.append(step(f"w{i}", f"w{i}", quarter, [Order(0, "x")], "below"))
        listed.append(step(f"w{i}", f"t{i + 1}", quarter, [Order("x", 0)], "above"))
    return automaton(listed)


def min_max(k: int) -> StreamAutomaton:
    """The least and the largest of k numbers, then numbers between them."""
    rate = Fraction(1, 4 * k)
    inside, below, above = (
        [Order("a", 0), Order(0, "b")],
        [Order(0, "a"), Order(0, "b")],
        [Order("a", 0), Order("b", 0)],
    )
    listed = [step("q0", "q1", rate, symbol="first", stores=[("a", 0), ("b", 0)])]
    for i in range(1, k):
        listed.append(step(f"q{i}", f"q{i + 1}", rate, below, "less", [("a", 0)]))
        listed.append(step(f"q{i}", f"q{i + 1}", rate, above, "more", [("b", 0)]))
        listed.append(step(f"q{i}", f"q{i + 1}", rate, inside, "between"))
    last, quarter = f"q{k}", Fraction(1, 4)
    listed += [step(last, last, quarter, inside, "in"), step(last, "end", quarter, below, "below")]
    return automaton([*listed, step(last, "end", quarter, above, "above")])


def ranges(m: int) -> StreamAutomaton:
    """Numbers in m ranges, one after the other and around again."""
    rate, quarter = Fraction(1, 4 * m), Fraction(1, 4)
    listed = []
    for i in range(m):
        following = f"l{i + 1}" if i + 1 < m else "r0"
        listed.append(step(f"l{i}", f"u{i}", rate, stores=[(f"a{i}", 0)], reads=0))
        listed.append(step(f"u{i}", following, rate, stores=[(f"b{i}", 0)], reads=0))
    for i in range(m):
        low, high = f"a{i}", f"b{i}"
        listed.append(step(f"r{i}", f"r{(i + 1) % m}", quarter, [Order(low, 0), Order(0, high)], "in"))
        listed.append(step(f"r{i}", "end", quarter, [Order(low, 0), Order(high, 0)], "above"))
        listed.append(step(f"r{i}", "end", quarter, [Order(0, low), Order(0, high)], "below"))
    return automaton(listed)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """How long a call takes, and what it gives."""
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="the smallest members alone: whether all of it still runs")
    tiny = parser.parse_args().tiny
    print(
        f"{'phases of above threshold':32}{'read':>9}{'decide':>9}{'check':>9}{'decide/read':>13}{'per transition':>16}"
    )
    for size in (30, 60) if tiny else (1_000, 10_000, 100_000):
        base, found = timed(lambda size=size: phases(size))
        decided, leak = timed(lambda found=found: decide(found))
        assert leak is None
        checked = ""
        if size <= 10_000:
            seconds, verdict = timed(lambda found=found, size=size: check(StreamQuestion(automaton=found), size))
            assert verdict.status == "proved"
            checked = f"{seconds:.2f}s"
        print(f"{size:<32}{base:8.2f}s{decided:8.2f}s{checked:>9}{decided / base:13.1f}{decided / size * 1e6:14.0f}µs")
    print(f"\n{'family':32}{'check':>9}{'of it the checker':>19}{'exact epsilon':>16}")
    k, m = (3, 2) if tiny else (200, 80)
    for name, found in [(f"k-min-max, k = {k}", min_max(k)), (f"m-range, m = {m}", ranges(m))]:
        seconds, verdict = timed(lambda found=found: check(StreamQuestion(automaton=found), 1))
        again, _ = timed(lambda verdict=verdict: recheck(verdict.certificate))
        print(f"{name:32}{seconds:8.2f}s{again:18.2f}s{verdict.tight!s:>16}")


if __name__ == "__main__":
    main()
