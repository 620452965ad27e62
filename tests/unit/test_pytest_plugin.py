"""The plug-in for pytest, as a project's own tests meet it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.commands import environment

from privproof import bernoulli, laplace, mechanism, real_queries, records
from privproof.errors import QuestionError
from privproof.testing import NotPrivate, assert_private

TESTS = """\
import pytest
from privproof import bernoulli, laplace, mechanism, real_queries, records
from privproof.testing import assert_private


@mechanism(epsilon="ln(3)")
def coin(data: records(0, 1, size=1)):
    return data[0] if bernoulli("3/4") else 1 - data[0]


@pytest.fixture
def rate():
    return "1/4"


@pytest.mark.private
def test_own_claim():
    return coin


@pytest.mark.private(epsilon="ln(2)")
def test_smaller_claim(rate):
    assert rate == "1/4"
    return coin


@pytest.mark.private(epsilon=1)
def test_is_a_mechanism(x: real_queries(size=1)):
    return laplace(x[0], scale=1)


@pytest.mark.private(epsilon=1)
def test_leaks(x: real_queries(size=1)):
    return laplace(x[0], scale="1/2")


@mechanism(epsilon=1)
@pytest.mark.private
def test_marked_below(data: records(0, 1, size=1)):
    return data[0]


@pytest.mark.private(1)
def test_forgets_to_return():
    coin


@pytest.mark.private(epsilon=1)
def test_unknown(q: real_queries()):
    return laplace(sum(q), scale=2) / laplace(0, scale=1)


@pytest.mark.private(epsilon=1, allow_unknown=True)
def test_unknown_is_allowed(q: real_queries()):
    return laplace(sum(q), scale=2) / laplace(0, scale=1)


def test_plainly():
    assert_private(coin, "ln(3)")
    with pytest.raises(AssertionError, match="probability 3/4"):
        assert_private(coin, "ln(2)")


def test_of_another_kind():
    pass
"""


def ran(folder, *options):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "privproof.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", *options],
        cwd=folder,
        env=environment() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )  # fmt: skip


def test_marked_tests(tmp_path):
    (tmp_path / "test_mine.py").write_text(TESTS, encoding="utf-8")
    done = ran(tmp_path, "-rA", "-W", "error", "--privproof-report", "out.html")
    passed = {"own_claim", "is_a_mechanism", "unknown_is_allowed", "plainly", "of_another_kind"}
    failed = {"smaller_claim", "leaks", "marked_below", "forgets_to_return", "unknown"}
    for outcome, names in (("PASSED", passed), ("FAILED", failed)):
        found = {
            line.partition("::test_")[2].split(" ")[0] for line in done.stdout.splitlines() if line.startswith(outcome)
        }
        assert found == names, done.stdout
    assert "✗ refuted  coin (1 record) is not ln(2)-private" in done.stdout
    assert "left           data=[0]: probability 3/4 = 0.75" in done.stdout
    assert "returns the mechanism to check" in done.stdout
    assert "where          line 34 has to pay 2" in done.stdout
    assert "testing.py" not in done.stdout, "the way to the failure is no part of it"
    assert "9 verdicts in out.html" in done.stdout
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "4 refuted, 2 unknown, 3 proved" in page
    assert "test_mine.py::test_leaks" in page


@pytest.mark.parametrize(
    "line", ["def test_a():\n    assert True\n", "import pytest\n\n\n@pytest.mark.other\ndef test_a(): ...\n"]
)
def test_nothing_heavy_is_loaded(tmp_path, line):
    (tmp_path / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_configure(config):\n    config.addinivalue_line('markers', 'other: another mark')\n\n\n"
        "def pytest_unconfigure():\n    heavy = {'numpy', 'flint', 'rich', 'z3', 'scipy', 'sqlite3', 'typer'} & set(sys.modules)\n"
        "    print('heavy:', sorted(heavy))\n",
        encoding="utf-8",
    )
    (tmp_path / "test_plain.py").write_text(line, encoding="utf-8")
    done = ran(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "heavy: []" in done.stdout


# -------------------------------------------------------------------------------------------------------- assert_private


@mechanism(epsilon="ln(3)")
def coin(data: records(0, 1)):
    return [x if bernoulli("3/4") else 1 - x for x in data]


def shown(x: real_queries(size=1)):
    return laplace(x[0], scale="1/2")


def test_what_is_asserted():
    assert assert_private(coin, size=1).status == "proved"
    assert assert_private(shown, 2).status == "proved"
    assert assert_private(lambda d: 0, 0, d=records(0, 1, size=1)).status == "proved"
    with pytest.raises(NotPrivate, match="not 1-private") as caught:
        assert_private(shown, epsilon=1)
    assert caught.value.verdict.status == "refuted"
    with pytest.raises(QuestionError, match="no budget"):
        assert_private(shown)


def test_unknown_is_no_proof():
    def quotient(q: real_queries()):
        return laplace(sum(q), scale=2) / laplace(0, scale=1)

    with pytest.raises(NotPrivate, match="not known"):
        assert_private(quotient, 1, time_limit=20)
    assert assert_private(quotient, 1, time_limit=20, allow_unknown=True).status == "unknown"


def test_verdicts_are_kept_from_one_run_to_the_next(tmp_path, monkeypatch):
    from privproof import asking
    from privproof.store.stored_verdicts import VerdictStore

    file = tmp_path / "verdicts.sqlite"
    monkeypatch.setenv("PRIVPROOF_CACHE", str(file))
    asked = []
    real = asking.check
    monkeypatch.setattr(asking, "check", lambda *given, **named: asked.append(1) or real(*given, **named))
    for _ in range(2):
        assert assert_private(coin, "ln(3)").status == "proved"
        with pytest.raises(NotPrivate, match="refuted"):
            assert_private(coin, "ln(2)")
    assert len(asked) == 2
    assert VerdictStore(file).get("nothing") is None
    assert assert_private(coin, "ln(3)", keep=False).status == "proved"
    assert len(asked) == 3
