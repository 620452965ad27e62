"""How values cross from one process to another: what the standard pickle does not know by itself."""

from __future__ import annotations

import copyreg
from types import MappingProxyType
from typing import Any

from flint import arb, fmpz


def _proxy(value: MappingProxyType[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    return frozen_mapping, (dict(value),)


def frozen_mapping(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A mapping that nobody changes."""
    return MappingProxyType(entries)


def _ball(value: arb) -> tuple[Any, tuple[int, ...]]:
    if not value.is_finite():
        raise ValueError("a ball without bounds does not cross")
    parts = [*value.mid().man_exp(), *value.rad().man_exp()]
    return ball_of, tuple(int(part) for part in parts)


def ball_of(middle: int, power: int, radius: int, small: int) -> arb:
    """The ball ``middle * 2^power`` plus or minus ``radius * 2^small``, exactly."""
    return arb((fmpz(middle), fmpz(power)), (fmpz(radius), fmpz(small)))


copyreg.pickle(MappingProxyType, _proxy)
copyreg.pickle(arb, _ball)
