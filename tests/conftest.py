"""How the tests run.

Hypothesis without its explain phase, whose tracing slows arithmetic down many times, and with the same examples in every run of the suite
(`make test-slow` tries others each time); what is collected is not looked through for garbage again and again; which cases take long; and
the quick selection.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import Phase, settings

from privproof.evidence import gate
from tests.amounts import ALL, off_diagonal
from tests.certificates import remembering

if TYPE_CHECKING:
    from tests.commands import Command

os.environ["PRIVPROOF_CACHE"] = "none"
"""A verdict of an earlier run of the tests would hide what is wrong now."""
collect_ignore_glob = ["corpus/*/*.py"]
"""Programs that tests read, none of them a test."""

settings.register_profile(
    "privproof",
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink),
    deadline=None,
    derandomize=not ALL,
)
settings.load_profile("privproof")


def _long_cases() -> frozenset[str]:
    lines = Path(__file__).with_name("long_cases.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


LONG_CASES = _long_cases()
"""What `make test` leaves to `make test-long` beside what is marked so where it stands: the file says why."""


class _Doctests:
    """Modules without an example are not looked through for examples, object by object: most of the package and all of the tests.

    It is a plug-in of its own because hooks of this file would see the files of this folder alone.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Iterator[None]:
        found = yield
        return [each for each in found if not isinstance(each, DoctestModule) or b">>> " in file_path.read_bytes()]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Doctests())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one test of each file, and none that takes long")


@pytest.fixture(autouse=True, scope="session")
def _accepted_documents_are_remembered() -> Iterator[None]:
    """See `tests.certificates`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "recheck", remembering(gate.recheck))
        yield


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """A command line in a folder of its own, for every test."""
    from tests.commands import Command

    return Command(tmp_path)


_SELDOM = (20_000, 50, 100)
"""New objects, and collections of the young and the middle ones, before rubbish is looked for: trees of syntax that are kept would
otherwise be looked through again and again, which takes three times as long as parsing all of the package."""


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
    commands = sys.modules.get("tests.commands")  # those who run commands have imported it
    if commands is not None and hasattr(os, "fork"):
        commands.ready_for_copies()


def pytest_sessionfinish() -> None:
    commands = sys.modules.get("tests.commands")
    if commands is not None:
        commands.no_more_copies()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Which cases are long.  With ``--quick``: the first test of each file that is none of the long ones."""
    for item in (*off_diagonal(items), *(item for item in items if item.nodeid in LONG_CASES)):
        item.add_marker(pytest.mark.long)
    if not config.getoption("--quick"):
        return
    seen: set[str] = set()
    chosen: list[pytest.Item] = []
    for item in items:
        file = str(item.path)
        if file not in seen and not any(map(item.get_closest_marker, ("slow", "long"))):
            chosen.append(item)
            seen.add(file)
    left_out = [item for item in items if item not in set(chosen)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen
