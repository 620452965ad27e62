"""How the tests run: Hypothesis without its explain phase, whose tracing slows arithmetic down many times; `--quick`."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

settings.register_profile(
    "privproof", phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink), deadline=None
)
settings.load_profile("privproof")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one test of every file: the first that is not slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    first: dict[object, pytest.Item] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            first.setdefault(item.path, item)
    chosen = set(first.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]
