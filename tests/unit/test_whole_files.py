"""Files appear whole or not at all, several of them together."""

from __future__ import annotations

import os
import stat

import pytest

from privproof.errors import FormatError
from privproof.formats import whole_files
from privproof.formats.whole_files import Together, write_whole


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    write_whole(path, "one")
    path.chmod(0o600)
    write_whole(path, "twö")
    assert path.read_text(encoding="utf-8") == "twö"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(tmp_path) == ["file"]


def test_a_new_file_has_the_permissions_that_any_new_file_has(tmp_path):
    (tmp_path / "plain").write_text("")
    write_whole(tmp_path / "whole", "")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch, step):
    """Whichever step fails, nothing has changed."""
    old = tmp_path / "old"
    old.write_text("what was there")

    def full(*_):
        raise OSError(28, "No space left on device")

    if step == "write":
        monkeypatch.setattr(os, "fdopen", full)
    else:
        monkeypatch.setattr(os, step, full)
    for path in (old, tmp_path / "new"):
        with pytest.raises(FormatError, match="No space left"):
            write_whole(path, "half of it")
    monkeypatch.undo()
    assert names(tmp_path) == ["old"]
    assert old.read_text() == "what was there"


def test_several_files_appear_together_or_not_at_all(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("what was there")
    replaced = os.replace

    def replace(source, target):
        if os.fspath(target).endswith("second"):
            raise OSError(28, "No space left on device")
        replaced(source, target)

    monkeypatch.setattr(os, "replace", replace)
    written = Together({str(first): "new", str(second): "new"})
    with pytest.raises(FormatError, match="second"):
        written.appear()
    assert first.read_text() == "what was there"
    assert names(tmp_path) == ["first"]


@pytest.mark.parametrize("links", [True, False])
def test_what_has_appeared_can_be_taken_back(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "no links here")))
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("what was there")
    written = Together({str(old): "1", str(new): "2"})
    written.appear()
    assert (old.read_text(), new.read_text()) == ("1", "2")
    written.undo()
    assert old.read_text() == "what was there"
    assert names(tmp_path) == ["old"]
    written = Together({str(old): "1", str(new): "2"})
    written.appear()
    written.keep()
    written.undo()
    assert (old.read_text(), new.read_text()) == ("1", "2")
    assert names(tmp_path) == ["new", "old"]


@pytest.mark.parametrize("name", ["", "nowhere/file", "a\0b", "x" * 300])
def test_places_that_are_none(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="cannot write"):
        write_whole(name, "text")
    assert names(tmp_path) == []


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormatError):
        write_whole(tmp_path / "folder", "text")
    assert names(tmp_path) == ["folder"]


def test_half_a_surrogate_pair(tmp_path):
    with pytest.raises(FormatError, match="surrogate"):
        write_whole(tmp_path / "file", "\ud800")
    assert names(tmp_path) == []


def test_without_the_rename_a_reader_would_see_a_part(tmp_path, monkeypatch):
    """The text is nowhere in the place of the file until all of it is on the disk."""
    path, seen = tmp_path / "file", []
    path.write_text("old")
    synchronised = os.fsync
    monkeypatch.setattr(whole_files.os, "fsync", lambda handle: (seen.append(path.read_text()), synchronised(handle)))
    write_whole(path, "new")
    assert seen[0] == "old"
    assert path.read_text() == "new"
