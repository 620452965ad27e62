"""The suites of CheckDP, ShadowDP, StatDP, DP-Sniper and DiPC: the page about them says what is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.commands import ROOT
from tests.corpus import Program, programs

from privproof import check
from privproof.library import EXAMPLES

PORTED = programs("peers")
_PAGE = (ROOT / "docs/reference/peers.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\S+) \| [^|]+ \| `([^`|]+)` \| (proved|refuted|unknown) \|$", _PAGE, re.MULTILINE)


@pytest.mark.parametrize("program", PORTED, ids=str)
def test_a_ported_mechanism_has_the_verdict_that_is_known(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "ported.py"
    path.write_text(program.text, encoding="utf-8")
    assert check(str(path), size=program.size).status == program.expected


def test_the_page_says_what_is_known() -> None:
    known = {example.name: re.split(r"\W", example.known)[0] for example in EXAMPLES}
    known |= {program.name: program.expected for program in PORTED}
    assert [row for row in ROWS if known.get(row[1]) != row[2]] == []
    assert {program.name for program in PORTED} <= {name for _, name, _ in ROWS}
    assert {tool for tool, _, _ in ROWS} == {"CheckDP", "ShadowDP", "StatDP", "DP-Sniper", "DiPC"}
    assert len(ROWS) == _PAGE.count("\n| ") - 4  # all but the head, the line below it, and two that point to others
