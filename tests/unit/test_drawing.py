"""The map in CONTRIBUTING.md is the import graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from tests.regression.drawing import LATER, NOW, PACKAGE, PAGE, TYPES, drawing, edges, layers, ordered, redrawn

Tree = Callable[[str, str], Path]
_FRESH = count()


def test_the_map_is_the_import_graph() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == redrawn(page), "run: python -m tests.regression.drawing"


def test_nothing_is_imported_in_a_circle() -> None:
    """At once, later or for types: above the diagonal there is no mark."""
    found = edges(PACKAGE)
    parts = frozenset(part for pair in found for part in pair)
    assert [sorted(knot) for layer in layers(parts, found) for knot in layer if len(knot) > 1] == []


def test_redrawing_changes_the_map_alone() -> None:
    page = PAGE.read_text(encoding="utf-8")
    marks = "x o t"
    spoilt = re.sub(r"(?m)^(  \d) exact", rf"\1 {marks}", page)
    assert spoilt != page
    assert redrawn(spoilt) == page


# ------------------------------------------------------------------------------------- the test above can fail


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A small package of the same shape, and a way to add a file to a copy of it."""

    def add(file: str, text: str) -> Path:
        folder = tmp_path / str(next(_FRESH)) / "privproof"
        files = {
            "__init__.py": '"""All."""\n',
            "exact/__init__.py": '"""Numbers."""\n',
            "exact/balls.py": '"""Balls."""\n',
            "models/__init__.py": '"""Models; imports numbers. More."""\nfrom privproof.exact import balls\n',
            "engines/__init__.py": '"""Engines."""\n',
            "engines/words/__init__.py": '"""Words."""\nimport privproof.models\n',
            "evidence/__init__.py": '"""Evidence."""\n',
            "evidence/front.py": '"""The front."""\n',
            file: text,
        }
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return folder

    return add


WAYS = {
    "import": ("import privproof.evidence.front\n", NOW),
    "another name": ("import privproof.evidence.front as f\n", NOW),
    "from": ("from privproof.evidence.front import x\n", NOW),
    "a module from its package": ("from privproof.evidence import front\n", NOW),
    "relative": ("from ...evidence.front import x\n", NOW),
    "relative, a module": ("from ...evidence import front\n", NOW),
    "under a condition": ("import sys\nif sys.platform:\n    import privproof.evidence.front\n", NOW),
    "inside a class": ("class A:\n    import privproof.evidence.front\n", NOW),
    "inside a function": ("def f():\n    from privproof.evidence.front import x\n", LATER),
    "inside a method": ("class A:\n    async def f(self):\n        import privproof.evidence.front\n", LATER),
    "by a call": ("from importlib import import_module\nimport_module('privproof.evidence.front')\n", LATER),
    "by a name that is computed": (
        "from importlib import import_module\nALL = ('front',)\nimport_module(f'privproof.evidence.{ALL[0]}')\n",
        LATER,
    ),
    "by a name in a table": (
        "from importlib import import_module\nALL = {1: 'privproof.evidence.front'}\nimport_module(ALL[1])\n",
        LATER,
    ),
    "for types": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import privproof.evidence.front\n",
        TYPES,
    ),
    "not for types": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    x = 1\nelse:\n    import privproof.evidence.front\n",
        NOW,
    ),
    "twice": (
        "def f():\n    import privproof.evidence.front\nimport privproof.evidence.front\n",
        NOW,
    ),
}


@pytest.mark.parametrize(("text", "when"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("file", ["engines/words/x.py", "engines/words/__init__.py"])
def test_an_import_is_found(tree: Tree, file: str, text: str, when: str) -> None:
    folder = tree(file, text)
    assert edges(folder)["engines.words", "evidence"] == when
    assert drawing(folder) != drawing(tree(file, '"""Words."""\nimport privproof.models\n'))


def test_a_stub_imports_later(tree: Tree) -> None:
    folder = tree("__init__.pyi", "from .evidence.front import x\nfrom . import exact\n")
    found = edges(folder)
    assert found["privproof", "evidence"] == found["privproof", "exact"] == LATER


def test_parts_come_after_what_they_import(tree: Tree) -> None:
    text = drawing(tree("evidence/gate.py", "import privproof.engines.words\n"))
    order = [line.split()[1] for line in text.split("```")[1].splitlines()[3:]]
    assert order.index("exact") < order.index("models") < order.index("engines.words") < order.index("evidence")
    assert "| `models` | Models |" in text


def test_a_cycle_stands_together_and_is_seen_above_the_diagonal() -> None:
    found = {("a", "b"): NOW, ("b", "c"): NOW, ("c", "a"): LATER, ("d", "a"): NOW, ("a", "e"): NOW}
    parts = frozenset("abcde")
    assert layers(parts, found) == [[frozenset("e")], [frozenset("abc")], [frozenset("d")]]
    assert ordered(parts, found) == ["e", "c", "b", "a", "d"]


def test_a_cycle_that_nothing_breaks_ends() -> None:
    assert ordered(frozenset("ab"), {("a", "b"): NOW, ("b", "a"): NOW}) == ["a", "b"]
