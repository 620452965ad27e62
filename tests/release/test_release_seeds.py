"""Releases draw from the operating system's generator whatever is ambient; a seed is asked for at the release, and is told."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import count as counting
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privproof import bernoulli, prior, release, seeded, uniform
from privproof.errors import QuestionError
from privproof.exact import epsilon, rational
from privproof.language import randomness
from privproof.language.noise import drawing
from privproof.language.randomness import Seeded, release_source
from privproof.release.locations.location_maps import Map, clamped, remapped
from privproof.release.locations.planar_noise import GridLaplace, PlanarGeometric, PlanarLaplace
from privproof.release.release_records import record_data, record_page
from privproof.release.table_release import Request, release_table

WALK = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
SERIES = ["rest", "walk", "walk", "rest"]
TOWN = Map.rectangle((-5, -5), (5, 5))
FINE = PlanarGeometric.of("1/1000")
REMAPPED = remapped(PlanarGeometric.of("1/10"), TOWN, {(0, 0): "1/2", (4, 4): "1/2"})


@prior
def household():
    """Two people who are ill together or not at all."""
    ill = bernoulli("1/2")
    return ill, ill


COUNTED = release.calibrate(WALK, query=release.count("walk"), epsilon="1/1000", length=4)
SMOOTH = release.calibrate(WALK, query=release.count("walk"), epsilon="1/1000", length=4, noise="laplace")
MEASURED = release.calibrate(WALK, query=release.lipschitz(len, constant=1), epsilon="1/1000", length=4)
STREET = release.calibrate(
    release.Network.exchangeable(["ann", "bob"], {0: "1/2", 1: "1/4", 2: "1/4"}), query=release.count("ill"), epsilon="1/1000"
)  # fmt: skip
PROTECTED = release.protect(
    household, secrets={"ill": lambda d: d[0], "well": lambda d: not d[0]}, query=lambda d: 10 * (d[0] + d[1]), epsilon="1/9"
)  # fmt: skip

RELEASES: dict[str, Callable[..., Any]] = {
    "count": lambda **seed: release.release(COUNTED, SERIES, **seed).value,
    "laplace": lambda **seed: release.release(SMOOTH, SERIES, **seed).value,
    "function": lambda **seed: release.release(MEASURED, SERIES, **seed).value,
    "network": lambda **seed: release.release(STREET, {"ann": "ill", "bob": "healthy"}, **seed).value,
    "noisy": lambda **seed: release.noisy(COUNTED, {"walk": rational(2)}, **seed).value,
    "protected value": lambda **seed: release.protected_value(PROTECTED, (True, True), **seed),
    "planar geometric": lambda **seed: FINE.release((0, 0), **seed),
    "planar laplace": lambda **seed: PlanarLaplace.of("1/100").sample(**seed),
    "grid laplace": lambda **seed: GridLaplace.of("1/100", step=10, largest_radius=2_500).release(0.0, 0.0, **seed),
    "clamped": lambda **seed: clamped(PlanarGeometric.of("1/10"), TOWN).release((0, 0), **seed),
    "remapped": lambda **seed: REMAPPED.release((0, 0), **seed),
}  # fmt: skip


@pytest.fixture
def watched(monkeypatch):
    """What was asked of which generator since the last look."""
    asked: list[str] = []

    def watching(kind: type, method: str) -> None:
        plain = getattr(kind, method)

        def watch(self: Any, *arguments: Any) -> Any:
            asked.append(kind.__name__)
            return plain(self, *arguments)

        monkeypatch.setattr(kind, method, watch)

    for kind in (randomness.Secure, randomness.Seeded):
        for method in ("below", "unit"):
            watching(kind, method)

    def look() -> set[str]:
        found = set(asked)
        asked.clear()
        return found

    return look


def held_open() -> Iterator[int]:
    with seeded(7):
        yield from counting()


@pytest.mark.parametrize("made", RELEASES.values(), ids=RELEASES)
def test_the_operating_system_whatever_is_ambient(made, watched):
    made()
    assert watched() == {"Secure"}
    with seeded(7):
        made()
        assert watched() == {"Secure"}
        with ThreadPoolExecutor(1) as pool:
            pool.submit(copy_context().run, made).result()
        assert watched() == {"Secure"}

        async def inside() -> Any:
            return made()

        asyncio.run(inside())
        assert watched() == {"Secure"}
        uniform(1, 6)
        assert watched() == {"Seeded"}  # what is ambient for mechanisms stays so


@pytest.mark.parametrize("made", RELEASES.values(), ids=RELEASES)
def test_a_suspended_generator_that_holds_a_seed_open(made, watched):
    def drawn() -> Any:
        suspended = held_open()
        next(suspended)
        uniform(1, 6)
        assert watched() == {"Seeded"}
        made()
        assert watched() == {"Secure"}
        suspended.close()

    copy_context().run(drawn)


def test_a_query_that_opens_a_seed(watched):
    """The function that is released runs in the middle of the release."""
    suspended = held_open()

    def changes(series):
        next(suspended)
        return 1

    def drawn() -> None:
        made = release.calibrate(WALK, query=release.lipschitz(changes, constant=1), epsilon="1/1000", length=4)
        release.release(made, SERIES)
        assert watched() == {"Secure"}
        suspended.close()

    copy_context().run(drawn)


@pytest.mark.parametrize("made", RELEASES.values(), ids=RELEASES)
def test_another_drawer_of_noise(made, watched):
    """What lists all runs of a mechanism gives it values of its own choice; a release takes none of them."""
    with drawing(lambda law: 0):
        made()
    assert watched() == {"Secure"}


@pytest.mark.parametrize("made", RELEASES.values(), ids=RELEASES)
def test_global_seeds_repeat_nothing(made):
    runs = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)
        with seeded(0):
            runs.append([made() for _ in range(12)])
    assert runs[0] != runs[1]


@pytest.mark.parametrize("made", RELEASES.values(), ids=RELEASES)
def test_a_seed_is_asked_for_at_the_release(made, watched):
    first = [made(seed=seed) for seed in range(12)]
    assert watched() == {"Seeded"}
    with seeded(99):
        assert [made(seed=seed) for seed in range(12)] == first
    source = Seeded(0)
    assert made(seed=source) == first[0]
    assert len({str(made(seed=source)) for _ in range(40)}) > 1


def test_an_answer_from_a_seed_is_marked():
    assert release.release(COUNTED, SERIES, seed=3).seeded
    assert "seeded=True" in repr(release.release(COUNTED, SERIES, seed=3))
    with seeded(3):
        assert not release.release(COUNTED, SERIES).seeded


@pytest.mark.parametrize("seed", ["7", 1.5, True, (), "none"])
def test_what_is_no_seed(seed):
    with pytest.raises(QuestionError, match="is no seed"):
        release_source(seed)


def table(folder: Path, *, seed: int | None) -> Any:
    data = folder / "data.csv"
    data.write_text("state\n" + "rest\nwalk\n" * 6, encoding="utf-8")
    request = Request(data=(data,), column="state", query="count:walk", epsilon=epsilon(1), priors=(WALK,), seed=seed)
    return release_table(request)


def test_a_record_tells_where_its_noise_came_from(tmp_path, watched):
    with seeded(7):
        record = table(tmp_path, seed=None)
    assert watched() == {"Secure"}
    assert record_data(record)["secure"] is True
    assert "from the operating system&#x27;s generator" in str(record_page(record))
    assert not record.source.warnings
    record = table(tmp_path, seed=7)
    assert watched() == {"Seeded"}
    said = record_data(record)
    assert said["secure"] is False
    assert record.released.seeded
    assert "drawn from a seed" in json.dumps(said)
    assert "FROM A SEED" in str(record_page(record))
