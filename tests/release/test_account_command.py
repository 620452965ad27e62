"""The command ``account``."""

from __future__ import annotations

import csv
import json


def test_a_budget_is_spent_and_not_exceeded(command, tmp_path):
    made = command("account", "create", "s.ledger", "--epsilon", "4")
    assert (made.returncode, made.stderr) == (0, "")
    assert "epsilon 0 of epsilon 4 in 0 releases" in made.stdout
    for turn in range(4):
        paid = command("account", "spend", "s.ledger", "--epsilon", "9/10", "--note", f"week {turn}")
        assert paid.returncode == 0
    assert "left           epsilon 2/5" in paid.stdout
    refused = command("account", "spend", "s.ledger", "--epsilon", "9/10")
    assert refused.returncode == 1
    assert "✗ refused  s.ledger: this release would bring epsilon to 9/2, above 4" in refused.stdout
    told = command("account", "spend", "s.ledger", "--epsilon", "9/10", "--json")
    assert (told.returncode, json.loads(told.stdout)["spent"]) == (1, False)
    last = json.loads(command("account", "spend", "s.ledger", "--epsilon", "2/5", "--json").stdout)
    assert last["spent"] is True
    assert last["left"] == {"epsilon": "0", "delta": "0"}
    history = command("account", "history", "s.ledger")
    assert "spent     epsilon 9/10  (week 3)" in history.stdout
    checked = command("account", "verify", "s.ledger", "--head", last["entry"]["digest"])
    assert checked.returncode == 0
    assert "the chain is whole, and no budget was exceeded" in checked.stdout
    assert command("account", "verify", "s.ledger", "--head", "0" * 64).returncode == 1


def test_show_and_export(command, tmp_path):
    command("account", "create", "s.ledger", "--rho", "1/2", "--dataset", "phones", "--window", "30d")
    command("account", "add", "s.ledger", "--dataset", "ages", "--epsilon", "ln(2)", "--delta", "1/1000")
    command("account", "spend", "s.ledger", "--dataset", "phones", "--rho", "1/8", "--analyst", "ann")
    shown = json.loads(command("account", "show", "s.ledger", "--json").stdout)
    assert [one["dataset"] for one in shown["datasets"]] == ["phones", "ages"]
    assert shown["datasets"][0]["left"] == {"rho": "3/8"}
    assert shown["datasets"][0]["window_seconds"] == 2_592_000
    assert "rho 1/8 of rho 1/2 in every 2,592,000 s in 1 release" in command("account", "show", "s.ledger").stdout
    for name in ("x.csv", "x.json", "x.html"):
        assert command("account", "export", "s.ledger", name).returncode == 0
    rows = list(csv.DictReader((tmp_path / "x.csv").read_text().splitlines()))
    assert [(row["kind"], row["cost"]) for row in rows][-1] == ("spent", "rho 1/8")
    assert len(json.loads((tmp_path / "x.json").read_text())) == 4
    assert "rho 1/8 of rho 1/2" in (tmp_path / "x.html").read_text()


def test_nonsense_is_one_message(command, tmp_path):
    cases = {
        ("create", "s.ledger"): "one budget",
        ("create", "s.ledger", "--epsilon", "4", "--rho", "1"): "one budget",
        ("create", "s.ledger", "--epsilon", "4", "--window", "soon"): "no length of time",
        ("create", "s.ledger", "--epsilon", "4", "out.csv"): "export, and nothing else",
        ("spend", "s.ledger", "--epsilon", "1"): "there is no such ledger",
        ("export", "s.ledger"): "export, and nothing else",
        ("burn", "s.ledger"): "'burn' is not one of",
    }
    for words, message in cases.items():
        result = command("account", *words)
        assert result.returncode == 2
        assert message in result.stderr
        assert not (tmp_path / "s.ledger").exists()


CLASS = """
from privproof import release

chain = release.Chain.of({"a": {"a": "9/10", "b": "1/10"}, "b": {"a": "2/5", "b": "3/5"}})
mixed = release.Hidden.mixture([chain, release.Chain.of({"a": {"b": 1}, "b": {"a": "1/2", "b": "1/2"}})], ["1/2", "1/2"])
priors = [chain, mixed]
"""


def test_no_part_of_a_prior_or_of_a_cost_is_dropped(command, tmp_path):
    (tmp_path / "class.py").write_text(CLASS)
    asked = ("--prior", "class.py:priors", "--length", "10", "--epsilon", "4")
    refused = command("account", "create", "s.ledger", *asked)
    assert refused.returncode == 2
    assert "a mixture of 2 chains on 4 states that show 2 values has no account" in refused.stderr
    asked = ("--prior", "class.py:chain", "--length", "10", "--epsilon", "4", "--delta", "1e-6")
    assert command("account", "create", "s.ledger", *asked).returncode == 0
    for more, said in (
        (("--delta", "1/2"), "a cost by entry has no delta"),
        (("--rho", "1"), "a release has one cost"),
        (("--entries", "\N{SUPERSCRIPT TWO}..3"), "are no entries"),
    ):
        paid = command("account", "spend", "s.ledger", "--epsilon", "1/10", "--entries", "1..5", *more)
        assert (paid.returncode, said in paid.stderr) == (2, True)
        assert "Traceback" not in paid.stderr
