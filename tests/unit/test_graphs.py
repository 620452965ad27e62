"""Drawings of automata and models: no label covers a box or another label, wherever there is room to move apart."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from privproof import read_question
from privproof.drawing import graph_pictures as graphs
from privproof.drawing.graph_pictures import Arrow, Box, Picture, graph_drawing
from privproof.formats.automaton_pictures import picture

ROOT = Path(__file__).parents[2]
DRAWN = sorted((ROOT / "examples" / "models" / "streams").glob("*.yaml"))
DENSE = Picture(
    "dense",
    tuple(Box(f"state {i}", ("emits: 1/2",)) for i in range(5)),
    tuple(Arrow(i, j, (f"from {i} to {j}", "with 1/5")) for i in range(5) for j in range(5)),
)


@pytest.fixture
def routed(monkeypatch: pytest.MonkeyPatch) -> list[graphs._Routed]:
    """What is drawn in the end."""
    seen: list[graphs._Routed] = []
    rendered = graphs._render_picture

    def kept(drawn: Picture, found: graphs._Routed, note: str) -> str:
        seen.append(found)
        return rendered(drawn, found, note)

    monkeypatch.setattr(graphs, "_render_picture", kept)
    return seen


def covered(found: graphs._Routed) -> int:
    labels = list(found.spots)
    pairs = [*combinations(labels, 2), *((label, box) for label in labels for box in found.places.values())]
    return sum(one.meets(other) for one, other in pairs)


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_labels_of_automata_do_not_overlap(path: Path, routed: list[graphs._Routed]) -> None:
    graph_drawing(picture(read_question(path)))
    assert covered(routed[0]) == routed[0].hidden == 0


def test_a_dense_picture_moves_apart(routed: list[graphs._Routed], monkeypatch: pytest.MonkeyPatch) -> None:
    graph_drawing(DENSE)
    monkeypatch.setattr(graphs, "_TRIES", 0)
    graph_drawing(DENSE)
    assert covered(routed[0]) == routed[0].hidden <= routed[1].hidden == covered(routed[1])
    assert routed[0].hidden == 0
