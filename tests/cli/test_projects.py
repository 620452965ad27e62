"""Whole projects on the command line: what is found in them, what is said about it, and in which forms."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
from tests.commands import GEOMETRIC, Command, environment

COIN = """\
from privproof import bernoulli, mechanism, records


@mechanism(epsilon="ln(3)")
def coin(data: records("yes", "no", size=1)):
    if bernoulli("1/4"):
        return "yes" if data[0] == "no" else "no"
    return data[0]
"""
LEAKING = """\
import privproof as pp


@pp.mechanism(epsilon=1)
def raw(data: pp.records("yes", "no", size=1)):
    return data[0]


@pp.mechanism(epsilon=1)
def scaled(x: pp.real_queries(size=1)):
    shown = pp.laplace(x[0], scale="1/2")
    return shown


def helper():
    return 1
"""


UNKNOWN = """\
from privproof import *


@mechanism(epsilon=1)
def sure(q: real_queries()):
    return laplace(sum(q), scale=2) / laplace(0, scale=1)
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "src" / "shop").mkdir(parents=True)
    command = Command(tmp_path)
    command.write("src/shop/__init__.py", "")
    command.write("src/shop/limits.py", 'WORDS = ("yes", "no")\n')
    command.write(
        "src/shop/coins.py",
        COIN.replace('"yes", "no", size', "*WORDS, size").replace("\n\n\n", "\nfrom .limits import WORDS\n\n\n", 1),
    )
    command.write("src/shop/leaks.py", LEAKING)
    command.write("src/shop/survey.yaml", GEOMETRIC)
    command.write("src/shop/other.json", '{"kind": "something else"}')
    command.write("src/shop/plain.py", "raise RuntimeError('this file has no mechanism, so nobody runs it')\n")
    return command


def lines_of(result):
    """The table: outcome by target."""
    found = re.findall(r"^(?:[✓✗?!]) (\w+) +(\S+)  ", result.stdout, flags=re.MULTILINE)
    return {target: outcome for outcome, target in found if ":" in target or target.endswith(".yaml")}


# ----------------------------------------------------------------------------------------------------- what is found


def test_every_mechanism_below_a_folder(project):
    result = project("check", "src")
    assert result.returncode == 1
    assert lines_of(result) == {
        "src/shop/coins.py:coin": "proved",
        "src/shop/leaks.py:raw": "refuted",
        "src/shop/leaks.py:scaled": "refuted",
        "src/shop/survey.yaml": "proved",
    }
    assert result.stdout.endswith("4 in 3 files: 2 refuted, 2 proved\n")
    assert "probability 0" in result.stdout
    assert "coin (1 record) is" not in result.stdout, "what is proved has its line and no more"
    assert "ln(3)-private\n  compared" in project("check", "src", "-v").stdout
    assert "probability" not in project("check", "src", "-q").stdout
    assert "coin" not in project("check", "src", "-q").stdout


def test_several_names_each_once(project):
    given = ("src/shop/coins.py", "shop.leaks:raw", "src/shop/leaks.py::raw", "src/shop/coins.py:coin")
    result = project("check", *given)
    assert lines_of(result) == {
        "src/shop/coins.py:coin": "proved", "src/shop/leaks.py:raw": "refuted",
    }  # fmt: skip
    assert lines_of(project("check", "shop", "src/shop/survey.yaml"))["src/shop/coins.py:coin"] == "proved"
    assert len(lines_of(project("check", "src/shop/leaks.py"))) == 2
    alone = project("check", "src/shop/coins.py")
    assert alone.returncode == 0
    assert alone.stdout.startswith("✓ proved  coin (1 record) is ln(3)-private\n  compared"), (
        "one is said as it always was"
    )


@pytest.mark.parametrize(
    ("name", "text", "said", "line"),
    [
        ("syntax.py", "from privproof import mechanism\n\n\ndef broken(:\n", "SyntaxError", 4),
        ("raises.py", COIN.replace("\n\n\n", "\nraise ValueError('mine')\n\n\n", 1), "ValueError: mine", 2),
        ("latin.py", COIN.replace('"yes"', '"jé"').encode("latin-1"), "UnicodeDecodeError", 1),
        ("twice.py", COIN + "\n\n" + COIN.partition("\n\n\n")[2], "defined again in line", 5),
        ("one.py", COIN.replace("import", "import nothing_of_this_name as", 1).replace("as bernoulli, mechanism, records", "as x")
         + "\nfrom privproof import *\n", "nothing_of_this_name", 1),
        ("ends.py", COIN + "\nimport os\nos._exit(0)\n", "ended the program with status 0", 5),
        ("unclaimed.py", COIN.replace('(epsilon="ln(3)")', ""), "names a budget", 5),
    ],
)  # fmt: skip
def test_files_that_are_wrong_cost_no_other_verdict(project, name, text, said, line):
    project.write(f"src/{name}", text)
    result = project("check", "src", "src/shop/coins.py", "--exclude", "leaks.py", "--json")
    assert result.returncode == 2
    told = {each["file"]: each for each in json.loads(result.stdout) if each["verdict"] is None}
    assert list(told) == [f"src/{name}"]
    assert said in told[f"src/{name}"]["error"]["message"]
    assert told[f"src/{name}"]["line"] == line
    assert sum(each["verdict"] == "proved" for each in json.loads(result.stdout)) >= 2


def test_modules_that_import_each_other(project):
    project.write("src/shop/one.py", "from shop import two\n" + COIN)
    project.write("src/shop/two.py", "from shop import one\n" + COIN.replace("coin", "second"))
    found = lines_of(project("check", "src/shop/one.py", "src/shop/two.py"))
    assert found == {"src/shop/one.py:coin": "proved", "src/shop/two.py:second": "proved"}


def test_only_the_mark_of_privproof_counts(project):
    project.write("src/foreign.py", "from engines import mechanism\n\n\n@mechanism\ndef motor():\n    ...\n")
    project.write("src/branches.py", "from privproof import bernoulli, mechanism as marked, records\n\nif True:\n" + (
        '    @marked(epsilon=2)\n    def either(d: records(0, 1, size=1)):\n        return d[0] if bernoulli("3/4") else 1 - d[0]\n'
        "else:\n    @marked\n    def either(d):\n        return d\n\n\ndef plain(d):\n    return d\n\n\n"
        "made = marked(plain, epsilon=1, inputs={'d': records(0, 1, size=1)})\n"
    ))  # fmt: skip
    found = lines_of(project("check", "src", "--exclude", "shop"))
    assert found == {"src/branches.py:either": "proved", "src/branches.py:made": "refuted"}


# ------------------------------------------------------------------------------------------------ time, and an interrupt


def test_a_file_that_never_ends_is_given_up(project):
    project.write("src/loops.py", COIN + "\nwhile True:\n    pass\n")
    result = project("check", "src", "--exclude", "leaks.py", "--time-limit", 1)
    assert result.returncode == 3
    assert lines_of(result)["src/loops.py:coin"] == "unknown"
    assert lines_of(result)["src/shop/coins.py:coin"] == "proved"
    assert "out of time" in result.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals")
def test_what_is_established_at_an_interrupt_is_said(project):
    (project.folder / "src" / "zz").mkdir()
    project.write("src/zz/loops.py", COIN + "\nopen('started', 'w').close()\nwhile True:\n    pass\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "privproof", "check", "src", "-j", "1", "--junit", "out.xml"],
        cwd=project.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    until = time.monotonic() + 120
    while not (project.folder / "started").exists() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "✓ proved   src/shop/coins.py:coin" in out
    assert "✗ refuted  src/shop/leaks.py:raw" in out
    assert re.search(r"\? unknown  src/zz/loops.py:coin .*interrupted", out)


# -------------------------------------------------------------------------------------------------------------- statuses


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (["src/shop/coins.py:coin", "src/shop/survey.yaml"], 0),
        (["src/shop/coins.py:coin", "src/unknown.py:sure"], 3),
        (["src/shop/coins.py:coin", "src/unknown.py:sure", "--fail-on", "refuted"], 0),
        (["src/unknown.py:sure", "--fail-on", "refuted"], 0),
        (["src/unknown.py:sure", "src/missing.py"], 2),
        (["src/unknown.py:sure", "src/missing.py", "--fail-on", "refuted"], 2),
        (["src/unknown.py:sure", "src/missing.py", "src/shop/leaks.py:raw"], 1),
        (["src/shop/leaks.py:raw", "src/shop/coins.py", "--fail-on", "refuted"], 1),
        (["src", "--fail-on", "proved"], 2),
        (["src", "--word", "0"], 2),
        (["src", "--certificate", "c.json"], 2),
        (["src", ""], 2),
    ],
)
def test_the_worst_counts(project, given, status):
    project.write("src/unknown.py", UNKNOWN)
    assert project("check", *given, "--time-limit", 20).returncode == status


# ------------------------------------------------------------------------------------------------------------------ forms


def test_junit(project):
    project.write(
        "src/missing.py", "from privproof import mechanism\n\n\n@mechanism(epsilon=1)\ndef f(x):\n    return x\n"
    )
    result = project("check", "src", "--junit", "out.xml")
    root = ElementTree.parse(project.folder / "out.xml").getroot()
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "5", "2", "1")
    assert [suite.get("name") for suite in root] == list(
        dict.fromkeys(case.get("file") for case in root.iter("testcase"))
    )
    failed = {case.get("name"): case for case in root.iter("testcase") if len(case)}
    assert set(failed) == {"raw", "scaled", "f"}
    assert failed["raw"][0].tag == "failure"
    assert failed["raw"][0].get("message") == "raw (1 record) is not 1-private"
    assert failed["raw"][0].text in result.stdout
    assert failed["f"][0].tag == "error"
    for suite in root:
        assert int(suite.get("tests")) == len(suite)


def required(value, *names):
    assert set(names) <= set(value), (names, value)
    return [value[name] for name in names]


def test_sarif(project):
    """What the schema of SARIF 2.1.0 asks for of the properties that are there."""
    project("check", "src", "--sarif", "out.sarif")
    document = json.loads((project.folder / "out.sarif").read_text(encoding="utf-8"))
    version, runs = required(document, "version", "runs")
    assert version == "2.1.0"
    assert set(document) == {"$schema", "version", "runs"}
    (run,) = runs
    tool, results = required(run, "tool", "results")
    (driver,) = required(tool, "driver")
    name, rules = required(driver, "name", "rules")
    assert name == "privproof"
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
        assert rule["shortDescription"]["text"]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert len(results) == 2
    for result in results:
        message, locations = required(result, "message", "locations")
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert message["text"]
        for location in locations:
            (where,) = required(location, "physicalLocation")
            artifact, region = required(where, "artifactLocation", "region")
            assert re.fullmatch(r"[A-Za-z0-9_./%-]+", artifact["uri"])
            assert region["startLine"] >= 1
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    by_name = {each["locations"][0]["logicalLocations"][0]["name"]: each for each in results}
    assert by_name["raw"]["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    assert by_name["scaled"]["locations"][0]["physicalLocation"]["region"]["startLine"] == 11, "the guilty line"
    assert "probability 0" in by_name["raw"]["message"]["text"]


def test_a_page_of_all(project):
    assert project("check", "src", "--report", "out.html").returncode == 1
    page = (project.folder / "out.html").read_text(encoding="utf-8")
    assert "4 in 3 files: 2 refuted, 2 proved" in page
    assert page.index("raw (1 record) is not 1-private") < page.index("coin (1 record) is ln(3)-private\n  compared")
    assert "http" not in page


def test_one_object_for_each(project):
    result = project("check", "src", "--json")
    told = {each["target"]: each for each in json.loads(result.stdout)}
    alone = project.json("check", "src/shop/leaks.py:scaled")[1]
    both = told["src/shop/leaks.py:scaled"]
    for changing in ("seconds", "target", "file", "line", "kept"):
        alone.pop(changing, None), both.pop(changing, None)
    assert both == alone
    wrong = project("check", "src/shop/missing.py:f", "--json")
    assert json.loads(wrong.stdout) == {
        "verdict": None,
        "error": {
            "code": "file",
            "message": "there is no such file",
            "place": "src/shop/missing.py",
            "hint": "did you mean 'limits.py'?",
        },
    }
    assert json.loads(project("check", "src", "--jsn", "--json").stdout)["error"]["code"] == "usage"


# ----------------------------------------------------------------------------------------------------------- configuration

SETTINGS = """\
[project]
name = "shop"

[tool.privproof]
paths = ["src", "src/more.py:plain", "shop.coins:coin"]
exclude = ["leaks.py"]
epsilon = 1.1
size = 2
time-limit = 50
fail-on = "refuted"
jobs = 1
"""


def test_settings_of_a_project(project):
    project.write("pyproject.toml", SETTINGS)
    project.write("src/more.py", (
        "from privproof import *\n\n\n@mechanism\ndef open_(d: records(0, 1)):\n"
        "    return [x if bernoulli('3/4') else 1 - x for x in d]\n\n\n"
        "def plain(d: records(0, 1, size=1)):\n    return d[0]\n"
    ))  # fmt: skip
    told = {each["target"]: each for each in json.loads(project("check", "--json").stdout)}
    assert {target: each["verdict"] for target, each in told.items()} == {
        "src/shop/coins.py:coin": "proved",
        "src/shop/survey.yaml": "proved",
        "src/more.py:open_": "proved",
        "src/more.py:plain": "refuted",
    }
    assert told["src/shop/survey.yaml"]["question"]["epsilon"] == "ln(2)", "its own claim counts"
    assert told["src/more.py:open_"]["question"]["epsilon"] == "11/10"
    assert told["src/more.py:open_"]["question"]["size"] == 2
    inside = Command(project.folder / "src" / "shop")
    assert inside("check").returncode == 1
    assert "../more.py:plain" in inside("check").stdout
    alone = Command(project.folder, supervised=True)("check", "src/more.py:plain")
    assert (alone.returncode, alone.stdout.splitlines()[0]) == (1, "✗ refuted  plain (1 record) is not 11/10-private")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("epsilom = 1", "there is no setting 'epsilom' [configuration]\n  hint: did you mean 'epsilon'?"),
        ("time_limit = 1", "did you mean 'time-limit'?"),
        ("epsilon = true", "epsilon = True is not a number or a text"),
        ('epsilon = "x"', "x"),
        ("jobs = 0", "jobs = 0 is not a whole number from 1 on"),
        ('fail-on = "proved"', "is not one of refuted, unknown"),
        ('paths = "src"', "is not a list of texts"),
        ("paths = [", "it cannot be read"),
        ("paths = []", "nothing is named to check"),
        ("time-limit = -1", "is not a number of seconds"),
    ],
)
def test_settings_that_are_none(project, line, said):
    project.write("pyproject.toml", f"[tool.privproof]\n{line}\n")
    project.write("src/bare.py", COIN.replace('(epsilon="ln(3)")', ""))
    result = project("check", *(["src/bare.py"] if line.startswith("epsilon") else []))
    assert result.returncode == 2
    assert said in result.stderr


# ------------------------------------------------------------------------------------------------ verdicts known from before


def test_a_second_run_knows_the_first(project, monkeypatch):
    file = project.folder / "kept" / "verdicts.sqlite"
    monkeypatch.setenv("PRIVPROOF_CACHE", str(file))
    first = project("check", "src")
    again = project("check", "src")
    assert again.stdout.endswith("4 in 3 files: 2 refuted, 2 proved (4 known from before)\n")
    timed = re.compile(r"\d+\.\d\d s")
    assert timed.sub("", again.stdout).replace(" (4 known from before)", "") == timed.sub("", first.stdout)
    assert "known" not in project("check", "src", "--no-cache").stdout
    alone = project("check", "src/shop/coins.py:coin")
    assert timed.sub("", alone.stdout) == timed.sub("", project("check", "src/shop/coins.py:coin", "--no-cache").stdout)
    assert "4 verdicts" in (held := project("store").stdout)
    assert "2 proved, 2 refuted; found in" in held
    assert json.loads(project("store", "gc", "--size", "1K", "--old", "--json").stdout)["old"] == 0
    project("check", "src")
    assert json.loads(project("store", "gc", "--days", 0, "--json").stdout)["removed"] == 4
    assert "did you mean 'gc'?" in project("store", "gcc").stderr
    monkeypatch.setenv("PRIVPROOF_CACHE", "none")
    assert project("store").returncode == 2


def test_a_store_that_cannot_be_written_costs_nothing(project, monkeypatch):
    project.write("file", "")
    monkeypatch.setenv("PRIVPROOF_CACHE", str(project.folder / "file" / "verdicts.sqlite"))
    result = project("check", "src/shop/coins.py:coin")
    assert (result.returncode, result.stderr) == (0, "")
