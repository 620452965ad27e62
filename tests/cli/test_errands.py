"""Mechanisms that are checked elsewhere: the same file, the same answer, and a refusal where the file is another."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from privproof.projects.project_errands import errand, run_errand
from privproof.projects.project_surveys import survey_project

TEXT = """from privproof import mechanism, queries, truncated_geometric


@mechanism(epsilon="{epsilon}")
def noisy(q: queries(0, 2, size=1)):
    return truncated_geometric(q[0], alpha="1/2", low=0, high=2)
"""
COMMAND = ("check", "--no-cache", "--part", "--json", "--")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fine.py").write_text(TEXT.format(epsilon="ln(2)"))
    (tmp_path / "tight.py").write_text(TEXT.format(epsilon="1/2"))
    return tmp_path


def test_the_answer_is_that_of_the_command(folder):
    fine, tight = (run_errand(errand((*COMMAND, name), name, 60.0)) for name in ("fine.py", "tight.py"))
    assert (fine.status, tight.status) == (0, 1)
    assert json.loads(fine.out)["data"]["verdict"] == "proved"
    assert json.loads(tight.out)["data"]["witness"]["ratio"] == "2"


def test_a_project_from_python(folder):
    fine, tight = survey_project(["fine.py", "tight.py"], options=("--no-cache",))
    assert (fine.outcome, tight.outcome) == ("proved", "refuted")
    (missing,) = survey_project(["nowhere.py"])
    assert missing.outcome == "error"


def test_what_is_wrong_is_told(folder):
    found = run_errand(errand((*COMMAND, "nowhere.py"), "nowhere.py", 60.0))
    assert found.status == 2
    assert found.error["code"] == "file"


def test_another_file_is_refused(folder):
    asked = errand((*COMMAND, "fine.py"), "fine.py", 60.0)
    (folder / "fine.py").write_text(TEXT.format(epsilon="100"))
    for each in (asked, replace(asked, folder=str(folder / "missing"))):
        found = run_errand(each)
        assert (found.status, found.error["code"]) == (2, "cluster")
        assert "another file" in found.error["message"]


def test_a_command_that_does_not_end_is_ended(folder, monkeypatch):
    monkeypatch.setattr("privproof.projects.project_errands._GRACE", 0.5)
    (folder / "endless.py").write_text("import time\ntime.sleep(60)\n")
    found = run_errand(errand((*COMMAND, "endless.py"), "endless.py", 0.0))
    assert (found.status, found.error["code"]) == (2, "cluster")
