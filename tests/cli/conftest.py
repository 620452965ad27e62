"""A command line in a folder of its own, for every test."""

from __future__ import annotations

import pytest
from tests.commands import Command


@pytest.fixture
def command(tmp_path) -> Command:
    return Command(tmp_path)
