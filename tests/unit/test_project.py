"""The files around the package agree with it: one version, dated changes, decisions that can be found."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from datetime import date
from functools import cache
from pathlib import Path

import pytest
import yaml
from tests import amounts, corpus
from tests.amounts import diagonal, selected
from tests.conftest import LONG_CASES
from tests.regression.long_cases import GENERATED, long_cases

import privproof

ROOT = Path(__file__).resolve().parents[2]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RELEASES = re.findall(r"^## (.*)$", CHANGES, re.MULTILINE)


def read_yaml(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_version_stands_in_the_package_alone() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    source = (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', source, re.MULTILINE) == [privproof.__version__]


def test_the_version_is_the_newest_one_of_the_changelog_and_of_the_citation() -> None:
    assert RELEASES[0] == "Unreleased"
    version, released = RELEASES[1].split(" - ")
    citation = read_yaml("CITATION.cff")
    assert version == privproof.__version__ == str(citation["version"])
    assert date.fromisoformat(released) == citation["date-released"]


def test_versions_are_dated_and_fall() -> None:
    parts = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - (\d{4}-\d{2}-\d{2})", each) for each in RELEASES[1:]]
    assert all(parts)
    numbers = [(tuple(map(int, each.groups()[:3])), date.fromisoformat(each[4])) for each in parts if each]
    assert numbers == sorted(numbers, reverse=True)


def test_changes_have_the_known_kinds() -> None:
    kinds = set(re.findall(r"^### (.*)$", CHANGES, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_citation_agrees_with_the_project() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["title"] == PROJECT["project"]["name"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["authors"] == PROJECT["project"]["authors"]


def test_the_workflow_tries_every_version_that_is_promised() -> None:
    tried = read_yaml(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    promised = [each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"] if " :: 3." in each]
    assert tried == promised
    assert PROJECT["project"]["requires-python"] == f">={tried[0]}"


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", ".pre-commit-config.yaml", "CONTRIBUTING.md", "README.md"]
)
def test_targets_of_make_exist(path: str) -> None:
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(
        re.findall(r"(?:^|`|run: |entry: )make ([a-z-]+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert named <= made


def test_hooks_download_nothing() -> None:
    assert {each["repo"] for each in read_yaml(".pre-commit-config.yaml")["repos"]} == {"local"}


# ------------------------------------------------------------------------------------------------------- the pages

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def test_decisions_are_numbered_and_listed() -> None:
    index = (ROOT / "docs" / "decisions" / "index.md").read_text(encoding="utf-8")
    for number, path in enumerate(DECISIONS, 1):
        title = path.read_text(encoding="utf-8").partition("\n")[0]
        assert path.name.startswith(f"{number:04}-")
        assert f"| {number} | [{title.removeprefix(f'# {number}. ')}]({path.name}) |" in index


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_four_headings(path: Path) -> None:
    found = re.findall(r"^## (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found == ["Context", "Decision", "Consequences", "Alternatives looked at"]


def test_every_page_is_in_the_navigation() -> None:
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    named = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]))
    assert named == pages


def test_long_cases_are_cases_of_tests() -> None:
    """The list names tests that exist; what is written by itself names a case of several."""
    by_hand = (ROOT / "tests/long_cases.txt").read_text(encoding="utf-8").partition(GENERATED)[0].splitlines()
    for case in LONG_CASES:
        file, _, name = case.partition("::")
        text = _text_of(file)
        if file.endswith(".py"):
            assert f"def {name.partition('[')[0].rpartition('::')[2]}(" in text, case
            assert name.endswith("]") or case in by_hand, case


@cache
def _text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def test_the_shortest_cases_of_a_test_stay(tmp_path: Path) -> None:
    here, rows = (
        "tests.unit.test_project",
        [("m", 0.4), ("n[a]", 0.5), ("n[b]", 9.0), ("n[c]", 0.05), ("o_is_not_proved[a]", 7)],
    )
    cases = "".join(f'<testcase classname="{here}" name="test_{name}" time="{time}"/>' for name, time in rows)
    (tmp_path / "full.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert long_cases([tmp_path / "full.xml"], most=0.6) == ["tests/unit/test_project.py::test_n[b]"]


def test_a_sweep_keeps_as_many_as_it_says_and_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, kept in ((10, 3), (10, 10), (3, 10), (7, 1), (80, 20)):
        monkeypatch.setattr(amounts, "ALL", False)
        suite = selected(range(number), kept)
        monkeypatch.setattr(amounts, "ALL", True)
        cases = selected(range(number), kept)
        assert [case for case in cases if isinstance(case, int)] == suite
        slow = [case for case in cases if not isinstance(case, int)]
        assert len(cases) - len(slow) == min(number, kept)
        assert [case if isinstance(case, int) else case.values[0] for case in cases] == list(range(number))  # type: ignore[attr-defined]
        assert all(mark.name == "slow" for case in slow for mark in case.marks)  # type: ignore[attr-defined]


def test_a_diagonal_has_every_value_of_every_parameter() -> None:
    for sizes in ((2, 6), (5, 3), (4, 4), (2, 3, 2), (3,)):
        kept = diagonal(sizes)
        assert [set(values) for values in zip(*kept, strict=True)] == [set(range(size)) for size in sizes]
        assert len(kept) == max(sizes)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.py")), ids=lambda path: path.name)
def test_what_an_example_imports_is_there(path):
    """Also for those that are only run with the long cases."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "privproof":
            module = importlib.import_module(node.module or "")
            assert [each.name for each in node.names if not hasattr(module, each.name)] == []


def test_a_program_of_the_corpus_says_what_is_expected(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(corpus, "_FOLDER", tmp_path)
    (tmp_path / "few").mkdir()
    file = tmp_path / "few" / "one.py"
    for text, problem in (
        ("import math\n", "0 programs"),
        ("# %% a\nx = 1\n", "found '# %% a'"),
        ("# %% a | agrees | size two\nx = 1\n", "size 2"),
        ("# %% a | agrees\nx = 1\n# %% a | agrees\nx = 2\n", "'one: a'"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=re.escape(problem)):
            corpus.programs("few")
    file.write_text("import math\n\n# %% a | agrees | size 3\n\nx = 1\n\n# %% b | refused\nx = 2\n")
    assert corpus.programs("few") == [
        corpus.Program("one: a", "agrees", 3, "import math\n\nx = 1\n"),
        corpus.Program("one: b", "refused", None, "import math\n\nx = 2\n"),
    ]
