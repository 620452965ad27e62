"""How the tests run: Hypothesis without its explain phase, whose tracing slows arithmetic down many times; and the quick selection."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings

settings.register_profile(
    "privproof", phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink), deadline=None
)
settings.load_profile("privproof")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one test of each file, and none that takes long")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--quick``: the first test of each file that is none of the long ones."""
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
