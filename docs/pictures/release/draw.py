"""The pictures of the pages on releases: ``python docs/pictures/release/draw.py`` draws them anew, always the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import exp, log
from pathlib import Path

import numpy as np

from privproof import release
from privproof.drawing.charts import Line, line_chart, node_chart
from privproof.release.quilt_charts import quilt_chart
from privproof.release.influence_curves import contraction, spectral, spectral_tight, spectrum
from privproof.release.sum_laws import chain_laws, network_laws_of
from privproof.release.transition_powers import Powers
from privproof.release.release_examples import activity, running_example
from privproof.release.error_comparison import errors_by_method

HERE = Path(__file__).parent
LENGTH = 100


def quilt_of(chain: release.Chain, node: int, title: str, *, length: int = LENGTH) -> str:
    """The best quilt of one entry at epsilon = 1."""
    found = release.quilts(chain, length, 1.0)
    (block,) = (block for block in found.blocks if block.first <= node <= block.last)
    cell = block.cell
    return quilt_chart(
        length=length,
        node=node,
        left=cell.left,
        right=cell.right,
        influence_share=cell.influence,
        epsilon=1,
        title=title,
    )


def entries() -> str:
    """The scale that every entry needs, in the first chain of the running example."""
    found = release.quilts(running_example()[0], LENGTH, 1.0)
    blocks = [(block.first, block.last, block.score) for block in found.blocks]
    return node_chart(
        blocks,
        length=LENGTH,
        title="What every entry needs (first chain of the running example, epsilon = 1)",
        y_label="scale per unit",
        worst=found.node,
    )


def influence() -> str:
    """What a node on the right tells at most, exactly and by the bounds."""
    chain = activity()
    powers = Powers(chain)
    number = powers.reach(30)
    distances = powers.distances[:number]
    seen = spectrum(chain)
    assert seen is not None
    bounds = {
        "exact": powers.forth[:number].max(axis=1),
        "contraction": contraction(chain).right(distances),
        "spectral-tight": spectral_tight(seen, stationary=True).right(distances),
        "spectral": spectral(seen.least, seen.gap).right(distances),
    }
    lines = [
        Line(
            name,
            tuple((float(d), float(v) if np.isfinite(v) else None) for d, v in zip(distances, values, strict=True)),
        )
        for name, values in bounds.items()
    ]
    return line_chart(
        lines,
        title="What the entry n steps ahead tells about an entry",
        x_label="distance n",
        y_label="influence at most",
        y_log=True,
    )


def methods() -> str:
    """The expected error of a count by method and budget."""
    budgets = ("1/10", "1/5", "1/2", "1", "2", "5", "10")
    found = errors_by_method(activity(), query=release.count("walk"), epsilons=budgets, lengths=[LENGTH])
    lines = [
        Line(
            name,
            tuple((float(Fraction(b)), None if e is None else float(e)) for b, e in zip(budgets, row, strict=False)),
        )
        for name, row in found.items()
    ]
    return line_chart(
        lines,
        title="Expected error of a count over 100 entries",
        x_label="epsilon",
        y_label="expected error",
        x_log=True,
        y_log=True,
    )


def cumulative() -> str:
    """Two laws of a count and the widest step between them."""
    laws = list(chain_laws(activity(), 30, release.count("walk")))[14]
    lines = []
    for value, row in zip(laws.values, laws.masses, strict=True):
        sums = [0.0, *accumulate(row)]
        points: list[tuple[float, float | None]] = []
        for place in range(16):
            points += [(float(place), sums[place]), (float(place), sums[place + 1])]
        lines.append(Line(f"X_15 = {value}", tuple(points)))
    return line_chart(
        lines,
        title="How likely is a count of at most c, given what entry 15 of 30 was?",
        x_label="c",
        y_label="probability",
    )


def outputs() -> str:
    """The loss at every output of a noisy count of ill people."""
    flu = release.Network.exchangeable(["Ann", "Bob", "Cho", "Dan"], {0: "0.1", 1: "0.15", 2: "0.5", 3: "0.15", 4: "0.1"})
    laws = next(iter(network_laws_of(flu, release.count("ill"))))
    ill, well = (laws.masses[laws.values.index(value)] for value in ("ill", "healthy"))
    lines = []
    for scale in (1.0, 2.0):
        points = []
        for step in range(-60, 141):
            z = step / 20

            def density(row: np.ndarray, z: float = z, scale: float = scale) -> float:
                return float(sum(mass * exp(-abs(z - (laws.lowest + c)) / scale) for c, mass in enumerate(row)))

            points.append((z, log(density(ill) / density(well))))
        lines.append(Line(f"scale {scale:g}", tuple(points)))
    marks = [(float(laws.lowest + c), f"{laws.lowest + c} ill") for c in range(laws.masses.shape[1])]
    return line_chart(
        lines,
        title="Log ratio of the densities given 'Ann is ill' and 'Ann is healthy'",
        x_label="released number",
        y_label="log ratio",
        marks=marks,
    )


def account() -> str:
    """What K releases cost together."""
    chain = activity()
    made = release.calibrate(chain, length=LENGTH, query=release.count("walk"), epsilon=1, method="quilt")
    accountant = release.Accountant.of(chain, length=LENGTH)
    points = []
    for number in range(1, 21):
        accountant = accountant.spending(made)
        points.append((float(number), float(accountant.epsilon)))
    lines = [
        Line("added up", tuple((float(number), float(number)) for number in range(1, 21))),
        Line("by quilt curves", tuple(points)),
    ]
    return line_chart(
        lines,
        title="Several releases about one series, each at epsilon = 1",
        x_label="number of releases",
        y_label="epsilon of all together",
    )


PICTURES = {
    "middle": lambda: quilt_of(activity(), 50, "The quilt of an entry in the middle"),
    "end": lambda: quilt_of(activity(), 4, "The quilt of an entry near the start, in a series of 20", length=20),
    "entries": entries,
    "influence": influence,
    "methods": methods,
    "cumulative": cumulative,
    "outputs": outputs,
    "account": account,
}


if __name__ == "__main__":
    for name, drawn in PICTURES.items():
        (HERE / f"{name}.svg").write_text(drawn(), encoding="utf-8")
