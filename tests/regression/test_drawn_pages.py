"""The pictures of the documentation are what their scripts draw now, and the recording is what the command prints now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from tests.regression.consoles import commands

from privproof.drawing.palette import DARK
from privproof.formats import read_question, svg

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
STREAMS = Path(__file__).parents[2] / "examples" / "models" / "streams"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(name).stem, PICTURES / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


IDEAS = script("ideas/draw_ideas.py")
RECORD = script("terminal/record.py")


@pytest.mark.parametrize("name", IDEAS.PICTURES)
def test_an_idea_is_drawn_as_it_is_kept(name: str) -> None:
    kept = (PICTURES / "ideas" / f"{name}.svg").read_text(encoding="utf-8")
    assert IDEAS.PICTURES[name]() == kept, "run: make pictures"


@pytest.mark.parametrize("path", sorted((PICTURES / "streams").glob("*.svg")), ids=lambda path: path.stem)
def test_an_automaton_is_drawn_as_it_is_kept(path: Path) -> None:
    assert svg(read_question(STREAMS / f"{path.stem}.yaml")) == path.read_text(encoding="utf-8"), "run: make pictures"


def test_the_recording_is_what_the_tutorial_shows() -> None:
    """And what the tutorial shows is compared with what the command prints."""
    printed = commands(PICTURES.parent / "python-tutorial.md")
    sessions = [(line, next(c.output for c in printed if c.line.startswith(line))) for line in RECORD.COMMANDS]
    kept = (PICTURES / "terminal" / "first.svg").read_text(encoding="utf-8")
    assert RECORD.recorded([(line, RECORD.kept(output)) for line, output in sessions]) == kept, "run: make pictures"


@pytest.mark.slow  # starts the command twice
def test_the_recording_is_what_the_command_prints() -> None:
    assert RECORD.drawn() == (PICTURES / "terminal" / "first.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(PICTURES.rglob("*.svg")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_picture_is_self_contained_and_for_dark_pages_too(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    kinds = {element.tag.rsplit("}")[-1] for element in root.iter()}
    assert not kinds & {"script", "image", "foreignObject", "a"}
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    if path.parent.name != "terminal":  # a window that is dark on every page
        used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+|white|black)"', text))
        assert used <= DARK.keys()
