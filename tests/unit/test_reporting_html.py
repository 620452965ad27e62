"""Reports show the text of the record that a verdict is about, helpers included."""

import json
import linecache
from html import escape

import pytest
from tests.commands import Command

from privproof import check
from privproof.language.mechanism import Mechanism
from privproof.reporting.verdict_pages import page

TEXT = """
from privproof import integer, mechanism, real, laplace, truncated_geometric

def noisy(value):
    return truncated_geometric(value, alpha="1/2", low=0, high=2)

@mechanism(epsilon="ln(4)")
def finite(x: integer(0, 2)):
    return noisy(x)

@mechanism(epsilon=1)
def continuous(x: real()):
    return laplace(x, scale=1)
"""


BOUNDED = """
from privproof import gaussian, integer, mechanism

@mechanism
def bounded(x: integer(0, 1)):
    return gaussian(x, sigma=1)
"""


def defined(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(TEXT, encoding="utf-8")
    names = {}
    exec(compile(TEXT, str(path), "exec"), names)
    return path, names


def test_the_report_shows_what_was_verified_and_not_what_the_file_says_by_now(tmp_path):
    path, names = defined(tmp_path)
    verdicts = {name: check(found) for name, found in names.items() if isinstance(found, Mechanism)}
    path.write_text(TEXT.replace("noisy(x)", "x").replace("laplace(x, scale=1)", "x"), encoding="utf-8")
    linecache.checkcache()
    for name, line in (("finite", "return noisy(x)"), ("continuous", "return laplace(x, scale=1)")):
        assert verdicts[name].status == "proved"
        shown = str(page(verdicts[name], command=None, asked_tight=False, certificate=None))
        assert line in shown
        assert f"def {name}(x" in shown
    assert "def noisy(value):" in str(page(verdicts["finite"], command=None, asked_tight=False, certificate=None))


PARTS = {"status", "sentence", "facts", "more", "data", "footer"}


def test_a_report_is_a_page_or_its_parts_by_the_ending_of_its_file(tmp_path):
    _, names = defined(tmp_path)
    found = page(check(names["finite"]), command=None, asked_tight=False, certificate=None)
    assert found.written(tmp_path / "report.html") == str(found)
    parts = json.loads(found.written(tmp_path / "report.JSON"))
    assert set(parts) == PARTS
    assert parts["status"] == parts["data"]["verdict"] == "proved"
    for part in (parts["sentence"], parts["more"], *(fact["text"] for fact in parts["facts"])):
        assert part in str(found) or escape(part) in str(found)


@pytest.mark.parametrize(("text", "subject"), [(TEXT, "finite"), (BOUNDED, "bounded")])
def test_profiles_and_deltas_have_pages_with_the_numbers_that_are_printed(tmp_path, text, subject):
    command, told = Command(tmp_path), {}
    path = command.write("program.py", text)
    for asked in (["profile", "--points", "3", "--up-to", "1"], ["delta", "--epsilon", "1/2"]):
        report = tmp_path / "report.json"
        printed = command(asked[0], f"{path}:{subject}", *asked[1:], "--report", report).stdout
        told = json.loads(report.read_text(encoding="utf-8"))
        assert set(told) == PARTS
        assert told["status"] == "computed"
        assert told["sentence"] in printed
        for fact in told["facts"]:
            assert fact["label"] in printed
            assert fact["text"] in printed, "the numbers are those of the text"
        assert ("polyline" in told["more"]) == (asked[0] == "profile")
    assert told["data"]["delta"]["lower"] <= told["data"]["delta"]["upper"]
