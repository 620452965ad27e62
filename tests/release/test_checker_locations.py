"""The checker on questions about locations: good certificates are accepted, tampered ones rejected, nonsense never raises."""

from __future__ import annotations

import copy
import json
import random

import pytest
from tests.certificates import nested

from privproof.errors import ScenarioError
from privproof.release.locations.location_channels import Channel
from privproof.release.locations.location_maps import Map, Resampled, clamped, remapped
from privproof.release.locations.location_verification import (
    location_certificate,
    resampling_planar_geometric,
    resampling_planar_laplace,
    shrunk_north_south,
    verify_locations,
)
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace
from privproof_checker.outcomes import Accepted, Limits, Refusal
from privproof_checker.release.locations.location_checking import check_location

LIMITS = Limits()
SQUARE, TOWN = Map.rectangle((0, 0), (1, 1)), Map.rectangle((0, 0), (4, 4))
SCATTERED = Map.of([(0, 0), (1, 3), (4, 2)])
ROWS = {(0, 0): {"a": "2/3", "b": "1/3"}, (1, 0): {"a": "1/3", "b": "2/3"}, (2, 3): {"a": "1/2", "b": "1/2"}}

FINDINGS = {
    "geometric, proved": lambda: verify_locations(PlanarGeometric.of("ln(2)", step="1/3")),
    "geometric, larger claim": lambda: verify_locations(PlanarGeometric.of("ln(2)", step="1/3"), 1),
    "geometric, refuted": lambda: verify_locations(PlanarGeometric.of("1/5"), "1/6"),
    "geometric, fine grid, refuted": lambda: verify_locations(PlanarGeometric.of("1/50", step="1/1000"), "1/60"),
    "laplace, proved": lambda: verify_locations(PlanarLaplace.of("ln(4)/2 + 1/3")),
    "laplace, refuted": lambda: verify_locations(PlanarLaplace.of(2), 1),
    "clamped, proved": lambda: verify_locations(clamped(PlanarGeometric.of("1/5"), TOWN)),
    "clamped, refuted": lambda: verify_locations(clamped(PlanarGeometric.of("1/5"), TOWN), "0.19"),
    "clamped, fine grid": lambda: verify_locations(clamped(PlanarGeometric.of("1/900"), SQUARE)),
    "clamped, every pair": lambda: verify_locations(clamped(PlanarGeometric.of(1), SQUARE), "0.95"),
    "clamped at the edge, refuted": lambda: verify_locations(clamped(PlanarGeometric.of(1), SQUARE), "0.9"),
    "clamped to listed sites": lambda: verify_locations(clamped(PlanarGeometric.of(1), SCATTERED)),
    "clamped to listed sites, refuted": lambda: verify_locations(clamped(PlanarGeometric.of(1), SCATTERED), "0.6"),
    "remapped": lambda: verify_locations(remapped(PlanarGeometric.of("1/2"), TOWN, {(0, 0): "1/2", (3, 3): "1/2"})),
    "remapped, refuted": lambda: verify_locations(
        remapped(PlanarGeometric.of("1/2"), TOWN, {(0, 0): "1/2", (3, 3): "1/2"}), "2/5"
    ),
    "resampled, refuted": lambda: resampling_planar_geometric("1/5", TOWN),
    "resampled, twice the claim": lambda: resampling_planar_geometric("1/5", TOWN, claimed="2/5"),
    "resampled, some sites": lambda: verify_locations(
        Resampled(PlanarGeometric.of("1/5"), TOWN), "2/5", sites=[(0, 0), (1, 1), (2, 2)]
    ),
    "resampled where all sites are alike": lambda: verify_locations(Resampled(PlanarGeometric.of("1/5"), SQUARE)),
    "resampled laplace, corner": lambda: resampling_planar_laplace(1, width=20, height=10),
    "resampled laplace, edge": lambda: resampling_planar_laplace(
        "ln(2)", width=20, height=10, left=(0, 5), right=("1/10", 5)
    ),
    "shrunk": lambda: shrunk_north_south(1, latitude=41),
    "shrunk, south": lambda: shrunk_north_south("1/2", latitude="-10.5", distance="1/7"),
    "shrunk, equator": lambda: shrunk_north_south(1, latitude=0),
    "table, attained exactly": lambda: verify_locations(Channel.of(ROWS), "ln(2)"),
    "table, refuted": lambda: verify_locations(Channel.of(ROWS), "0.69"),
    "table, impossible": lambda: verify_locations(Channel.of({(0, 0): {"a": 1}, (1, 1): {"a": "1/2", "b": "1/2"}}), 9),
}


def certificate(name):
    """A certificate as it comes back from a file."""
    return json.loads(json.dumps(nested(location_certificate(FINDINGS[name]()))))


def checked(document, limits=LIMITS):
    return check_location(document["verdict"], document["question"], document, limits)


@pytest.fixture(scope="module")
def certificates():
    return {name: certificate(name) for name in FINDINGS}


def changed(document, path, value):
    """A copy with one value replaced, or taken away by `...`."""
    result = copy.deepcopy(document)
    inside = result
    for step in path[:-1]:
        inside = inside[step]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return result


@pytest.mark.parametrize("name", FINDINGS)
def test_what_is_found_is_accepted(name, certificates):
    outcome = checked(certificates[name])
    assert isinstance(outcome, Accepted)
    assert outcome.verdict == certificates[name]["verdict"]
    if outcome.verdict == "refuted":
        assert any(key.startswith("left_") for key in outcome.details)


LONG = ("clamped, refuted", "remapped, refuted")
"""A whole town, of which the checker looks at every pair before it says no; smaller maps are clamped and remapped as well."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in FINDINGS]
)
def test_the_other_verdict_is_rejected(name, certificates):
    document = certificates[name]
    other = "refuted" if document["verdict"] == "proved" else "proved"
    with pytest.raises(Refusal):
        checked({**document, "verdict": other})
    for method in ("triangle inequality", "every pair", "one output"):
        evidence = {"method": method}
        if other == "refuted":
            evidence |= {key: value for key, value in document["evidence"].get("attained", {}).items() if key != "loss"}
        with pytest.raises(Refusal):
            checked({**document, "verdict": other, "evidence": evidence})


RESAMPLED, OUT = ("question", "mechanism", "outputs"), ("question", "mechanism")


@pytest.mark.parametrize(
    ("name", "path", "value", "reason"),
    [
        ("geometric, proved", (*OUT, "rate"), "ln(3)", "above epsilon"),
        ("geometric, proved", ("question", "epsilon"), "69/100", "above epsilon"),
        ("geometric, proved", ("evidence", "attained", "loss"), ["0.7", "0.8"], "not within"),
        ("geometric, proved", ("evidence", "attained", "right"), [0, 0], "same"),
        ("geometric, proved", (*OUT, "outputs", "kind"), "resampled", "expected an object"),
        ("geometric, refuted", ("evidence", "output"), [1, 0], "does not exceed"),
        ("geometric, refuted", ("evidence", "left_probability"), ["1/2", "3/4"], "not within"),
        ("geometric, refuted", ("question", "epsilon"), "1/5", "does not exceed"),
        ("laplace, proved", ("question", "sites"), [[0, 0]], "all places"),
        ("laplace, refuted", ("evidence", "right"), ["0", "0"], "same"),
        ("clamped, proved", (*RESAMPLED, "kind"), "resampled", "normaliser"),
        ("clamped, proved", (*RESAMPLED, "kind"), "redrawn", "none of"),
        ("clamped, proved", (*RESAMPLED, "noise"), 1, "unknown member"),
        ("clamped, every pair", ("question", "epsilon"), "0.92", "not shown"),
        ("clamped at the edge, refuted", ("question", "epsilon"), "0.93", "does not exceed"),
        ("remapped", (*RESAMPLED, "table", 0), [[0, 1], [0, 1]], "two reports"),
        ("remapped", (*RESAMPLED, "table", 0), [[0, 1]], "row of the table"),
        ("resampled, refuted", ("evidence", "left"), [9, 9], "not on the map"),
        ("resampled, refuted", ("evidence", "output"), [9, 9], "not on the map"),
        ("resampled, refuted", ("question", "epsilon"), "2/5", "does not exceed"),
        ("resampled, refuted", ("evidence", "right"), [0, 0], "same"),
        ("resampled, twice the claim", ("question", "epsilon"), "1/4", "not shown"),
        ("resampled, some sites", ("question", "sites"), [[0, 0], [9, 9]], "not among"),
        ("resampled, some sites", ("question", "sites"), [[0, 0]], "fewer than two"),
        ("resampled, some sites", ("question", "sites"), [[0, 0], [0, 0]], "twice"),
        ("resampled where all sites are alike", ("question", "epsilon"), "0.199999", "not shown"),
        ("resampled laplace, corner", ("evidence", "output"), ["21", "0"], "not on the map"),
        ("resampled laplace, corner", ("evidence", "left"), ["10", "5"], "does not exceed"),
        ("resampled laplace, corner", ("question", "epsilon"), "1.91", "does not exceed"),
        ("resampled laplace, corner", ("evidence", "right_probability"), ["0.1", "0.2"], "not within"),
        ("resampled laplace, corner", (*RESAMPLED, "width"), "-1", "above 0"),
        ("shrunk", (*RESAMPLED, "latitude"), "90", "does not exceed"),
        ("shrunk", (*RESAMPLED, "latitude"), "91", "between -90 and 90"),
        ("shrunk", ("evidence", "right"), ["1", "0"], "does not exceed"),
        ("shrunk, equator", ("evidence", "right"), ["1", "0"], "equator"),
        ("shrunk, equator", ("evidence", "output"), "north = 1", "equator"),
        ("table, attained exactly", ("question", "epsilon"), "0.69", "not shown"),
        ("table, attained exactly", (*OUT, "rows", 0, 1), {"a": "2/3", "b": "1/4"}, "sum to 11/12"),
        ("table, attained exactly", (*OUT, "rows", 1, 0), [0, 0], "stands twice"),
        ("table, attained exactly", (*OUT, "step"), "0", "above 0"),
        ("table, refuted", ("question", "epsilon"), "ln(2)", "does not exceed"),
        ("table, refuted", ("evidence", "output"), "c", "unknown output"),
        ("table, refuted", ("evidence", "left"), [7, 7], "no site"),
        ("table, impossible", ("evidence", "output"), "a", "does not exceed"),
        ("geometric, proved", ("question", "epsilon"), "inf", "finite"),
        ("geometric, proved", ("question", "epsilon"), 0, "above 0"),
        ("geometric, proved", ("evidence", "method"), "trust me", "no evidence"),
        ("geometric, proved", (*OUT, "kind"), "gaussian", "none of"),
        ("geometric, proved", ("question", "delta"), "1/2", "unknown member"),
        ("geometric, proved", ("question", "title"), 5, "expected a text"),
    ],
)
def test_tampered_certificates_are_rejected(name, path, value, reason, certificates):
    with pytest.raises(Refusal) as refusal:
        checked(changed(certificates[name], path, value))
    assert reason in refusal.value.reason


def test_spoilt_members_are_refused_with_a_reason_or_do_no_harm(certificates):
    generator = random.Random(3)
    junk = [None, -1, "x", [], {}, [[0, 0]], "1/0", True, "ln(0)", 10**12, ["a", "b"], "1e400"]

    def paths(value, path=()):
        yield path
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inside in children:
            yield from paths(inside, (*path, key))

    quick = (
        "geometric, proved",
        "clamped, proved",
        "resampled, refuted",
        "shrunk",
        "table, refuted",
        "laplace, refuted",
    )
    for name in quick:
        document = certificates[name]
        places = [path for path in paths(document) if len(path) >= 2]
        for path in places:
            spoilt = changed(document, path, generator.choice([..., *junk]))
            try:
                assert isinstance(checked(spoilt), Accepted)
            except Refusal:
                continue


def test_limits_are_kept(certificates):
    with pytest.raises(Refusal, match="comparisons"):
        checked(certificates["resampled, twice the claim"], Limits(words=1000))
    with pytest.raises(Refusal, match="offsets"):
        checked(certificates["clamped, every pair"], Limits(words=1000))
    with pytest.raises(Refusal, match="sites"):
        checked(certificates["clamped to listed sites"], Limits(states=2))
    huge = changed(
        certificates["resampled, refuted"],
        (*RESAMPLED, "map"),
        {"kind": "rectangle", "corners": [[0, 0], [10**8, 10**8]]},
    )
    with pytest.raises(Refusal, match="too large"):
        checked(huge)
    tiny = changed(certificates["clamped at the edge, refuted"], (*OUT, "step"), "1e-30")
    with pytest.raises(Refusal):
        checked(tiny)


def test_what_is_unknown_has_no_certificate():
    with pytest.raises(ScenarioError, match="nothing to certify"):
        location_certificate(resampling_planar_laplace(1, width=20, height=10, claimed=2))
    channel = Channel(Channel.of(ROWS).step, ((0, 0), (1, 0)), ("a", "b"), Channel.of(ROWS).probability)
    with pytest.raises(ScenarioError, match="a channel of balls"):
        location_certificate(verify_locations(channel, 1))


def test_a_fine_grid_is_enclosed_by_integrals(certificates):
    details = checked(certificates["geometric, fine grid, refuted"]).details
    assert details["distance"].startswith("[0.001")
    assert "+/-" in details["left_probability"]
