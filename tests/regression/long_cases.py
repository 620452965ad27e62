"""Which cases of a test `make test` leaves to `make test-long`: written into ``tests/long_cases.txt`` from the times of both.

    make test REPORT=--junitxml=short.xml
    make test-long REPORT=--junitxml=long.xml
    python -m tests.regression.long_cases short.xml long.xml

A test with many cases keeps as many as together take less than `MOST_SECONDS`, the shortest first, and at least one.  What must not be
proved, accepted or believed keeps all: these are the tests that a wrong verdict would fail.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "long_cases.txt"
GENERATED = "# --- written by python -m tests.regression.long_cases, from the times of both runs; what is above is written by hand"
MOST_SECONDS = 0.1
"""How long the cases of one test take together: half of both runs is in a fifth of its cases, which repeat others."""
KEPT = re.compile(
    "not_proved|never|no_proof|not_believed|not_accepted|contradict|is_no_|only_looks|rejected|refused|attack|hostile|leak"
)
"""Words in the names of tests that keep all of their cases."""


def cases(reports: Iterable[Path]) -> Iterator[tuple[str, str, float]]:
    """The test, the case and its seconds, for every case in some reports."""
    for each in (case for report in reports for case in ElementTree.parse(report).iter("testcase")):
        parts, name = each.attrib["classname"].split("."), each.attrib["name"]
        places = (
            place for place in range(len(parts), 0, -1) if ROOT.joinpath(*parts[:place]).with_suffix(".py").is_file()
        )
        place = next(places, None)
        if parts[0] == "tests" and place is not None:
            test = "::".join(["/".join(parts[:place]) + ".py", *parts[place:], name.partition("[")[0]])
            yield test, test + name[len(name.partition("[")[0]) :], float(each.attrib["time"])


def long_cases(reports: Iterable[Path], *, most: float = MOST_SECONDS) -> list[str]:
    """The cases that are left out, in the order of the reports."""
    tests: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for test, case, seconds in cases(reports):
        tests[test].append((seconds, case))
    found = []
    for test, each in tests.items():
        if KEPT.search(test):
            continue
        spent, kept = 0.0, set()
        for seconds, case in sorted(each):
            if kept and spent + seconds > most:
                break
            spent += seconds
            kept.add(case)
        found += [case for _, case in each if case not in kept]
    return found


def main() -> None:
    """Write the file anew below the part that is written by hand."""
    by_hand = FILE.read_text(encoding="utf-8").partition(GENERATED)[0].rstrip()
    known = {line for line in by_hand.splitlines() if line}
    found = [case for case in long_cases(map(Path, sys.argv[1:])) if case not in known and "\n" not in case]
    FILE.write_text("\n".join([by_hand, "", GENERATED, *found, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
