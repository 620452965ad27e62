"""Certificates: written, checked again, and spoilt in every way that a file can be."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path

import pytest
from tests.commands import MODELS, Command

from privproof.cli import main
from privproof_checker import Accepted, Rejected, recheck
from privproof_checker.certificate_facts import verdict_of

CASES = {
    "a proof": ["check", MODELS / "geometric.yaml"],
    "a refutation": ["check", MODELS / "family.yaml"],
    "a tight epsilon": ["epsilon", MODELS / "activity.yaml", "--horizon", "up to 2"],
}


@pytest.fixture
def within(capsys, monkeypatch):
    """Runs a command inside this process: an exception that is not meant to end it fails the test."""

    def run(*given):
        monkeypatch.setattr("sys.argv", ["privproof", *map(str, given)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return run


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """Writes files into a new folder by some commands, the first time that it is asked to; later the folder is there."""
    known = {}

    def folder(files, *asked):
        if asked not in known:
            command = Command(tmp_path_factory.mktemp("once"))
            for name, text in files.items():
                command.write(name, text)
            for status, given in asked:
                assert command(*given).returncode == status
            known[asked] = command.folder
        return known[asked]

    return folder


@pytest.fixture(params=CASES, ids=str)
def written(request, once, tmp_path):
    """A certificate as data, and its file."""
    status = 1 if request.param == "a refutation" else 0
    folder = once({}, (status, (*CASES[request.param], "--certificate", "certificate.json")))
    path = Path(shutil.copy(folder / "certificate.json", tmp_path))
    return json.loads(path.read_text(encoding="utf-8")), path


def places(document, path=()):
    """Every place that holds a number, or a text with one in it."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*path, index))
    elif isinstance(document, int) or (isinstance(document, str) and re.search(r"\d", document)):
        yield path, document


def changed(document, path, change):
    """A copy in which one place is changed."""
    result = copy.deepcopy(document)
    inside = result
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = change(inside[path[-1]])
    return result


def smaller(value):
    if isinstance(value, int):
        return value - 1
    return re.sub(r"\d+", lambda found: str(int(found[0]) - 1) if int(found[0]) else "7", value, count=1)


def larger(value):
    return value + 1 if isinstance(value, int) else re.sub(r"\d+", lambda found: str(int(found[0]) + 1), value, count=1)


def assert_rejected(outcome):
    status, output, errors = outcome
    assert status == 2
    assert output == ""
    assert errors.startswith("✗ rejected  ")
    assert errors.count("\n") == 1


def test_a_certificate_is_accepted(command):
    for name, given in CASES.items():
        assert command(*given, "--certificate", "c.json").returncode == (1 if name == "a refutation" else 0)
        result = command("recheck", "c.json")
        assert result.returncode == 0
        assert result.stdout.startswith("✓ accepted")
        status, said = command.json("recheck", "c.json")
        assert (status, said["accepted"]) == (0, True)
        assert said["verdict"] == ("refuted" if name == "a refutation" else "proved")


def test_a_spoilt_certificate_is_rejected(command):
    command("check", MODELS / "geometric.yaml", "--certificate", "c.json")
    text = (command.folder / "c.json").read_text(encoding="utf-8")
    command.write("spoilt.json", text.replace('"1/3"', '"1/4"', 1))
    result = command("recheck", "spoilt.json")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("✗ rejected  question.emissions.one: ")
    status, said = command.json("recheck", "spoilt.json")
    assert (status, said["accepted"]) == (2, False)
    assert said["reason"]
    assert said["place"]


def test_every_number_made_smaller_is_rejected(written, within):
    document, path = written
    spoilt = [
        (place, value, changed(document, place, smaller))
        for place, value in places(document)
        if verdict_of(document) == "proved"
        or place != ("question", "epsilon")  # a word beyond a budget stays beyond it
    ]
    for place, value, one in spoilt:
        assert isinstance(recheck(one), Rejected), (place, value)
    for _, _, one in spoilt[:: max(1, len(spoilt) // 4)]:
        path.write_text(json.dumps(one), encoding="utf-8")
        assert_rejected(within("recheck", path))


def test_a_number_made_larger_is_rejected_or_leaves_the_claim_as_it_was(written):
    """Multipliers have slack and a larger budget is easier to keep; a changed claim must never pass as the old one."""
    document, _ = written
    before = recheck(document)
    for place, value in places(document):
        outcome = recheck(changed(document, place, larger))
        if isinstance(outcome, Accepted):
            inside = ("hint" in place and place[-2] in ("multipliers", *range(9))) or place[-1] == "weight"
            assert inside or place == ("question", "epsilon"), (place, value)
            assert (outcome.statement == before.statement) == inside


def omit(whole, key):
    """An object without one of its members."""
    return {k: v for k, v in whole.items() if k != key}


def test_anything_left_out_is_rejected(written, within):
    document, path = written
    without = [{k: v for k, v in document.items() if k != key} for key in document]
    listed: list[tuple[object, ...]] = [("facts",)]
    for number, fact in enumerate(document["facts"]):
        where = ("facts", number)
        without += [changed(document, where, lambda fact, key=key: omit(fact, key)) for key in fact]
        hint = fact.get("hint", {})
        inside = (*where, "hint")
        without += [changed(document, inside, lambda hint, key=key: omit(hint, key)) for key in hint if key != "ending"]
        listed += [(*inside, key) for key in ("nodes", "starts") if key in hint]
        listed += [
            (*inside, "nodes", n, part) for n in range(len(hint.get("nodes", ()))) for part in ("generators", "next")
        ]
    for where in listed:
        inside = document
        for key in where:
            inside = inside[key]
        without += [changed(document, where, lambda whole, i=i: whole[:i] + whole[i + 1 :]) for i in range(len(inside))]
    for one in without:
        assert isinstance(recheck(one), Rejected)
    for one in without[:: max(1, len(without) // 4)]:
        path.write_text(json.dumps(one), encoding="utf-8")
        assert_rejected(within("recheck", path))


def test_a_truncated_certificate_is_rejected(written, within):
    _, path = written
    text = path.read_text(encoding="utf-8")
    for length in (0, 1, len(text) // 3, len(text) // 2, len(text) - 3):
        path.write_text(text[:length], encoding="utf-8")
        assert_rejected(within("recheck", path))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\x00\xff\xfe\x80",
        b'{"format": "privproof-certificate"}',
        b"[" * 5000,
        b"1e999",
        b'"x"',
    ],
    ids=["empty", "list", "null", "object", "binary", "only a format", "deep", "number", "text"],
)
def test_what_is_no_certificate_is_rejected(within, tmp_path, content):
    path = tmp_path / "junk.json"
    path.write_bytes(content)
    assert_rejected(within("recheck", path))


def test_a_file_that_is_not_there(command):
    for name in ("missing.json", "."):
        result = command("recheck", name)
        assert result.returncode == 2
        assert result.stdout == ""
        assert name in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_verdict_turned_round_is_rejected(written, within):
    document, path = written
    other = {"proved": "refuted", "refuted": "proved"}[verdict_of(document)]
    turned = changed(document, ("facts", len(document["facts"]) - 1, "claim"), lambda _: other)
    path.write_text(json.dumps(turned), encoding="utf-8")
    assert_rejected(within("recheck", path))


# -------------------------------------------------------------------------------------- is the file still the program?

PROGRAM = """\
from privproof import mechanism, queries, truncated_geometric

LIMIT = 2


def noisy(value, alpha="1/2"):
    return truncated_geometric(value, alpha=alpha, low=0, high=LIMIT)


@mechanism(epsilon="ln(8)")
def largest(q: queries(0, 2), start=-1):
    best, winner = start, 0
    for i, value in enumerate(q):
        found = noisy(value)
        if found > best:
            best, winner = found, i
    return winner
"""


@pytest.fixture
def verified(command, once):
    """A folder with a program and the certificate of a verdict about it."""
    asked = (0, ("check", "program.py:largest", "--size", "2", "--certificate", "c.json"))
    shutil.copytree(once({"program.py": PROGRAM}, asked), command.folder, dirs_exist_ok=True)
    return command


def test_recheck_says_how_and_from_which_source(verified):
    result = verified("recheck", "c.json")
    assert result.returncode == 0
    assert "re-established from the source of largest" in result.stdout
    assert re.search(r"^  (witnessed by the certificate|recomputed): ", result.stdout, re.MULTILINE)
    status, said = verified.json("recheck", "c.json")
    assert status == 0
    assert said["how"]["by"] in ("witnessed", "recomputed")
    assert said["source"]["function"] == "largest"
    assert said["source"]["established"]
    assert "same_program" not in said


def test_the_same_file_is_the_same_program_wherever_its_functions_stand(verified):
    assert verified("recheck", "c.json", "--source", "program.py:largest").returncode == 0
    verified.write("moved.py", PROGRAM.replace("\n\n\n", "\n\n\n\n# moved\n\n\n"))
    status, said = verified.json("recheck", "c.json", "--source", "moved.py:largest")
    assert (status, said["accepted"], said["same_program"], said["changed"]) == (0, True, True, [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("LIMIT = 2", "LIMIT = 3", "noisy: name LIMIT: 2 -> 3"),
        ('alpha="1/2"', 'alpha="1/3"', "noisy: default alpha: '1/2' -> '1/3'"),
        ("start=-1", "start=0", "parameter start: -1 -> 0"),
        ("queries(0, 2)", "queries(0, 3)", "input q: queries(0, 2) -> queries(0, 3)"),
        ('(epsilon="ln(8)")', '(epsilon="ln(8)", neighbours="one")', "neighbours: each -> one"),
        ("found > best", "found >= best", "if found > best: -> if found >= best:"),
        ("low=0", "low=-1", "low=0, high=LIMIT) -> return truncated_geometric"),
    ],
)
def test_another_program_is_told_with_what_has_changed(verified, old, new, said):
    verified.write("other.py", PROGRAM.replace(old, new, 1))
    result = verified("recheck", "c.json", "--source", "other.py:largest")
    assert result.returncode == 3
    assert "✗ another program" in result.stdout
    assert said in result.stdout


def test_parameters_that_are_set_count(verified):
    assert verified("recheck", "c.json", "--source", "program.py:largest", "--set", "start=-1").returncode == 0
    assert verified("recheck", "c.json", "--source", "program.py:largest", "--set", "start=1").returncode == 3


PLAIN = """\
import numpy as np


def count(data, epsilon=1.0):
    return sum(data) + np.random.laplace(0, 1 / epsilon)
"""


@pytest.mark.parametrize("more", [(), ("--neighbours", "add-remove"), ("--engine", "runs")], ids=" ".join)
def test_a_plain_function_is_compared_with_the_data_that_were_declared_for_it(command, more):
    command.write("plain.py", PLAIN)
    asked = ("--input", "data=records(0, 1)", "--epsilon", "1", *more, "--certificate", "c.json")
    assert command("check", "plain.py:count", *asked).returncode == 0
    assert command("recheck", "c.json", "--source", "plain.py:count").returncode == 0
    command.write("plain.py", PLAIN.replace("1 / epsilon", "2 / epsilon"))
    assert command("recheck", "c.json", "--source", "plain.py:count").returncode == 3


def test_what_cannot_be_compared_is_a_wrong_request(verified):
    assert verified("recheck", "c.json", "--source", "program.py:noisy").returncode == 2
    assert verified("recheck", "c.json", "--source", "absent.py:largest").returncode == 2
    assert verified("recheck", "c.json", "--set", "start=1").returncode == 2
    verified("check", MODELS / "geometric.yaml", "--certificate", "model.json")
    result = verified("recheck", "model.json", "--source", "program.py:largest")
    assert result.returncode == 2
    assert "holds no source" in result.stderr


@pytest.mark.parametrize("program", [None, 7, {}, {"functions": 3}, {"functions": [{}]}, {"functions": [None]}])
def test_a_record_that_is_none_is_a_wrong_request(verified, program):
    document = json.loads((verified.folder / "c.json").read_text(encoding="utf-8"))
    document["question"]["source"] |= {"claims": "taken", "reason": "of something", "program": program}
    verified.write("c.json", json.dumps(document))
    assert verified("recheck", "c.json").returncode == 0
    result = verified("recheck", "c.json", "--source", "program.py:largest")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_a_certificate_whose_text_is_exchanged_is_rejected(verified):
    document = json.loads((verified.folder / "c.json").read_text(encoding="utf-8"))
    function = document["question"]["source"]["program"]["functions"][0]
    function["text"] = function["text"].replace("found > best", "found >= best")
    verified.write("c.json", json.dumps(document))
    assert verified("recheck", "c.json").returncode == 2


OWN_RELATION = """
from privproof import integer, mechanism, queries, truncated_geometric

FAR = 2


def near(a, b):
    return abs(a - b) <= FAR


@mechanism(epsilon="ln(9)", neighbours=near)
def shown(x: integer(0, 4)):
    return truncated_geometric(x, alpha="1/3", low=0, high=4)


@mechanism(epsilon="2*ln(3)", neighbours=lambda a, b: sum(x != y for x, y in zip(a, b)) == 1)
def both(q: queries(0, 1)):
    noisy = []
    for value in q:
        noisy = noisy + [truncated_geometric(value, alpha="1/3", low=0, high=1)]
    return noisy
"""


@pytest.fixture
def own_relation(command, once):
    """A folder with mechanisms whose neighbours are functions, and the certificates of verdicts about them."""
    asked = (
        (0, ("check", "program.py:shown", "--certificate", "shown.json")),
        (0, ("check", "program.py:both", "--size", "2", "--certificate", "both.json")),
    )
    shutil.copytree(once({"program.py": OWN_RELATION}, *asked), command.folder, dirs_exist_ok=True)
    return command


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("shown", "FAR = 2", "FAR = 1", "neighbours: 0 and 2, no longer"),
        ("shown", "FAR = 2", "FAR = 3", "neighbours: 0 and 3, which were none"),
        ("shown", "<= FAR", "== FAR", "neighbours: 0 and 1, no longer"),
        ("shown", "<= FAR", "== FAR * 100", "neighbours: no two data sets are neighbours"),
        ("both", "== 1)", "<= 2)", "neighbours: [0, 0] and [1, 1], which were none"),
        ("shown", "neighbours=near", 'neighbours="each"', "neighbours: function -> each"),
    ],
)
def test_neighbours_that_are_a_function_are_compared(own_relation, name, old, new, said):
    own_relation.write("other.py", OWN_RELATION.replace(old, new, 1))
    result = own_relation("recheck", f"{name}.json", "--source", f"other.py:{name}")
    assert result.returncode == 3, result
    assert "✗ another program" in result.stdout
    assert said in result.stdout


@pytest.mark.parametrize("name", ["shown", "both"])
def test_a_function_that_names_the_same_neighbours_is_the_same_relation(own_relation, name):
    result = own_relation("recheck", f"{name}.json", "--source", f"program.py:{name}")
    assert result.returncode == 0, result
    assert "✓ the same program" in result.stdout
    assert "not compared" not in result.stdout
    own_relation.write("other.py", OWN_RELATION.replace("abs(a - b) <= FAR", "-FAR <= b - a <= FAR"))
    assert own_relation("recheck", f"{name}.json", "--source", f"other.py:{name}").returncode == 0


@pytest.mark.parametrize("scenario", [None, {}, {"neighbours": 7}, {"pairs": [7]}])
def test_a_record_of_neighbours_that_is_none_is_a_wrong_request(own_relation, scenario):
    document = json.loads((own_relation.folder / "shown.json").read_text(encoding="utf-8"))
    document["question"]["scenario"] = scenario
    own_relation.write("shown.json", json.dumps(document))
    result = own_relation("recheck", "shown.json", "--source", "program.py:shown")
    assert result.returncode in (2, 3)
    assert "Traceback" not in result.stderr
