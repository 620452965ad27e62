"""How frozen mappings cross from one process to another, which the standard pickle does not know by itself."""

from __future__ import annotations

import copyreg
from types import MappingProxyType
from typing import Any


def _proxy(value: MappingProxyType[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    return frozen_mapping, (dict(value),)


def frozen_mapping(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A mapping that nobody changes."""
    return MappingProxyType(entries)


copyreg.pickle(MappingProxyType, _proxy)
