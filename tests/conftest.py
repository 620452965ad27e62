"""How the tests run.

Hypothesis without its explain phase, whose tracing slows arithmetic down many times; what is collected is not looked through for garbage
again and again; which pages take long; and the quick selection.
"""

from __future__ import annotations

import gc

import pytest
from hypothesis import Phase, settings

settings.register_profile(
    "privproof", phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink), deadline=None
)
settings.load_profile("privproof")


LONG_PAGES = ("docs/how-to/audit.md", "docs/audit-tutorial.md", "docs/explanation/faier.md", "docs/how-to/laplace.md")
"""Pages whose snippets take more than five seconds; the audits, the tables and the proofs in them have tests of their own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one test of each file, and none that takes long")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long pages are slow.  With ``--quick``: the first test of each file that is none of the long ones."""
    for item in items:
        if item.nodeid.startswith(LONG_PAGES):
            item.add_marker(pytest.mark.slow)
    if not config.getoption("--quick"):
        return
    seen: set[str] = set()
    chosen: list[pytest.Item] = []
    for item in items:
        file = str(item.path)
        if file not in seen and item.get_closest_marker("slow") is None:
            chosen.append(item)
            seen.add(file)
    left_out = [item for item in items if item not in set(chosen)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen
