"""How long the checker is, part by part: the table in ``docs/explanation/checker.md``.

``python -m tests.regression.checker_lines`` writes it anew; a test sees that it is not out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "privproof_checker"
PAGE = ROOT / "docs" / "explanation" / "checker.md"
PARTS = {
    "numbers": ("rationals, balls, epsilons, sums of exponentials, the decisive comparison", ("numbers/",)),
    "documents": (
        "reading JSON, limits, what is answered and how it is told",
        (
            *("__init__", "__main__", "front", "documents", "outcomes", "claims", "from_epsilon", "telling", "rules"),
            *("arguments", "events", "facts", "argument", "uses", "hints", "version_one", "once", "collecting"),
        ),
    ),
    "words": (
        "`word`, `event`, `pump`, `cone`, `ratios`, `enumeration`, `tensors`, `worst way`",
        (
            *(
                "chains",
                "machines",
                "systems",
                "scenarios",
                "neighbours",
                "expressions",
                "questions",
                "graphs",
                "words",
            ),
            *(
                "occupation",
                "cones",
                "cone_documents",
                "node_documents",
                "ratio_documents",
                "ratios",
                "pumps",
                "growing",
            ),
            *("enumeration", "tensors", "diagrams", "worst_way", "word_evidence"),
        ),
    ),
    "secrets under a prior": ("`bernstein`, `parameters`", ("pufferfish/",)),
    "draws and lotteries": ("`product`, `outcome`, `stretch`, `levels`, `lists`", ("draws", "draw_laws", "lotteries")),
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
    "releases": (
        "`quilts`, `parts`, `contraction`, `distance`, `laws`, `coupling`, `ladder`, `event`, `entry`, `shifts`",
        ("releases/",),
    ),
    "locations": ("`triangle inequality`, `every pair`, `one output`", ("locations/",)),
    "source": ("from the text of a function to its model, instructions, trees and automata", ("source/",)),
}
"""For every part of the checker: its rules, and its modules and folders."""
_BEGIN, _END = "<!-- lines -->\n", "<!-- end of lines -->"


def counted() -> dict[str, int]:
    """The lines of every part; every module must belong to one."""
    found, left = dict.fromkeys(PARTS, 0), set(FOLDER.rglob("*.py"))
    for part, (_, names) in PARTS.items():
        for file in [each for name in names for each in _files(name)]:
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


def main() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    PAGE.write_text(text[:begin] + "\n" + table() + "\n" + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
