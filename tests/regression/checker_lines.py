"""How long the checker is, part by part and rule by rule: the tables in ``docs/explanation/checker.md``.

``python -m tests.regression.checker_lines`` writes the first anew, and ``python -m tests.regression.checker_lines FOLDER`` both, the second
one from the certificates in a folder (`tests.certificates` tells how to keep those of a run of the suite).  Tests see that the first is
not out of date, and that the second names all rules.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from privproof_checker.rules import RULES, WORDS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "privproof_checker"
PAGE = ROOT / "docs" / "explanation" / "checker.md"
PARTS = {
    "numbers": ("rationals, balls, epsilons, sums of exponentials, the decisive comparison", ("numbers/",)),
    "documents": (
        "reading JSON, limits, what is answered and how it is told",
        (
            *(
                "__init__",
                "__main__",
                "front",
                "plain_documents",
                "outcomes",
                "claims",
                "from_epsilon",
                "established_texts",
                "rules",
            ),
            *(
                "derived_facts",
                "events",
                "certificate_facts",
                "certificate_argument",
                "fact_uses",
                "hints",
                "version_one",
                "once_per_certificate",
                "collected_outcomes",
            ),
        ),
    ),
    "words": (
        "`word`, `event`, `pump`, `cone`, `ratios`, `enumeration`, `tensors`, `worst way`",
        (
            *(
                "chain_models",
                "machines",
                "systems",
                "pair_scenarios",
                "neighbour_lists",
                "model_expressions",
                "text_reading",
                "word_questions",
                "graph_algorithms",
                "word_probabilities",
            ),
            *(
                "occupation",
                "cones",
                "cone_documents",
                "node_documents",
                "ratio_documents",
                "ratios",
                "pumps",
                "growing_ratios",
            ),
            *("enumeration", "tensors", "decision_diagrams", "worst_way", "word_evidence"),
        ),
    ),
    "secrets under a prior": ("`bernstein`, `parameters`", ("pufferfish/",)),
    "draws": ("`product`, `outcome`", ("draws_checking", "draw_laws")),
    "logic": ("`logic`, `bounds`", ("logic/",)),
    "linear": ("`multipliers`: conditions and their refutations", ("linear/",)),
    "programs": (
        "`alignment`, `cells`, `mixture`, `loss`, `registers`, `corners`, `matrix`, `outcomes`",
        ("programs/",),
    ),
    "integrals": ("integrals of exponentials and normal densities, for programs, streams and runs", ("integrals/",)),
    "streams": ("`coupling`, `loss`, `growth`", ("streams/",)),
    "runs": ("`table`, `alignment`, `event`, `divergence`, `regions`, `excess`", ("runs/",)),
    "measured": ("`divergences`, `order`, `point`, `settled`, `range`, `pure`", ("measured/",)),
    "composed": ("`composition`, `losses`", ("composed/",)),
    "locations": ("`triangle inequality`, `every pair`, `one output`", ("release/locations/",)),
    "releases": (
        "`quilts`, `parts`, `contraction`, `distance`, `laws`, `coupling`, `ladder`, `event`, `entry`, `shifts`",
        ("release/",),
    ),
    "source": ("from the text of a function to its model, instructions, trees and automata", ("source/",)),
}
"""For every part of the checker: its rules, and its modules and folders."""
_BEGIN, _END = "<!-- lines -->\n", "<!-- end of lines -->"


def counted() -> dict[str, int]:
    """The lines of every part; every module belongs to the first that names it."""
    found, left = dict.fromkeys(PARTS, 0), set(FOLDER.rglob("*.py"))
    for part, (_, names) in PARTS.items():
        for file in {each for name in names for each in _files(name)} & left:
            found[part] += len(file.read_text(encoding="utf-8").splitlines())
            left.remove(file)
    assert not left, f"modules of no part: {sorted(map(str, left))}"
    return found


def _files(name: str) -> Iterator[Path]:
    return FOLDER.joinpath(name).rglob("*.py") if name.endswith("/") else iter([FOLDER / f"{name}.py"])


def table() -> str:
    """The table as it stands on the page, lines rounded to tens."""
    lines = counted()
    rows = [f"| {part} | {_rounded(lines[part])} | {rules} |" for part, (rules, _) in PARTS.items()]
    total = f"| **all** | **{_rounded(sum(lines.values()))}** | |"
    return "\n".join(("| part | lines | rules |", "| --- | ---: | --- |", *rows, total, ""))


def _rounded(count: int) -> str:
    return f"{round(count, -1):,}"


def documented() -> dict[str, int]:
    """The lines of every part as the page has them."""
    text = PAGE.read_text(encoding="utf-8")
    block = text[text.index(_BEGIN) : text.index(_END)]
    return {
        part: int(count.replace(",", "")) for part, count in re.findall(r"^\| ([\w ]+) \| ([\d,]+) \|", block, re.M)
    }


_RULES, _END_OF_RULES = "<!-- rules -->\n", "<!-- end of rules -->"
_FEW = 6
"""Certificates of a rule that are looked at, from the smallest to the largest: each starts an interpreter."""
_LOADED = """
import sys
from privproof_checker import Accepted, recheck_file
assert isinstance(recheck_file(sys.argv[1]), Accepted)
print(*[name for name in sys.modules if name.split(".")[0] == "privproof_checker"])
"""


def rules_met(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """The certificates of a folder by the kinds of their questions and the rules of their verdicts, the smallest first."""
    found: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.json"), key=lambda each: (each.stat().st_size, each.name)):
        document = json.loads(path.read_text(encoding="utf-8"))
        kind = document["question"].get("kind")
        for fact in document.get("facts", ()):  # none in documents of version 1
            key = ("words" if kind in WORDS else kind, fact["rule"])
            if key in RULES and path not in found[key]:
                found[key].append(path)
    return found


def lines_loaded(path: Path) -> int:
    """The lines of the modules that the check of a certificate loads, in an interpreter of its own."""
    told = subprocess.run([sys.executable, "-c", _LOADED, str(path)], capture_output=True, text=True, check=True)
    files = [FOLDER.joinpath(*name.split(".")[1:]) for name in told.stdout.split()]
    paths = [file / "__init__.py" if file.is_dir() else file.with_suffix(".py") for file in files]
    return sum(len(each.read_text(encoding="utf-8").splitlines()) for each in paths)


def table_of_rules(folder: Path) -> str:
    """The table of rules: what a certificate with one of them rests on, at most."""
    met, rows = rules_met(folder), []
    for (kind, name), rule in RULES.items():
        paths = met.get((kind, name), [])
        step = max(1, len(paths) // _FEW)
        most = max(map(lines_loaded, paths[::step]), default=None)
        lines = "not met" if most is None else f"{round(most, -2):,}"
        rows.append(f"| {kind} | `{name}` | {rule.verdict} | {rule.by} | {lines} |")
    return "\n".join(
        ("| questions | rule | establishes | how | lines, at most |", "| --- | --- | --- | --- | ---: |", *rows, "")
    )


def documented_rules() -> set[tuple[str, str]]:
    """The rules in the table of the page."""
    text = PAGE.read_text(encoding="utf-8")
    block = text[text.index(_RULES) : text.index(_END_OF_RULES)]
    return set(re.findall(r"^\| ([\w ]+) \| `([\w ]+)` \|", block, re.M))


def main(folder: Path | None = None) -> None:
    """Write the tables into the page."""
    tables = [(_BEGIN, _END, table())]
    if folder is not None:
        tables.append((_RULES, _END_OF_RULES, table_of_rules(folder)))
    for start, stop, rows in tables:
        text = PAGE.read_text(encoding="utf-8")
        begin, end = text.index(start) + len(start), text.index(stop)
        PAGE.write_text(text[:begin] + "\n" + rows + "\n" + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
