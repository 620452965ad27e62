"""Figure 4 of the FAIER paper, drawn anew: p-values against epsilon, with the exact epsilon as a vertical line.

The figures are written as SVG into the folder that is named, or into a temporary one::

    python 16_figure_4.py [FOLDER] [RUNS]

A p-value near 0 speaks against an epsilon.  A p-value of 1 speaks for nothing: (c) seems to say that above threshold keeps 2.2 and (d)
that it does not keep 6, while it keeps no epsilon at all; what differs is only how long the streams were.
"""

import sys
import tempfile
from pathlib import Path

from mechanisms.noisy_max import improved, naive
from mechanisms.threshold import above

from privproof import Horizon, audit, tight_epsilon
from privproof.audits.audit_pages import p_value_chart


def exact_epsilon(mechanism, **options):
    """The tight epsilon as a number."""
    return float(tight_epsilon(mechanism, **options).tight.decimal(digits=12))


def figures(runs):
    """For every part of the figure: its title, named audits, and the exact epsilon."""

    def sampled(mechanism, size, seed=0):
        return audit(mechanism, size=size, samples=runs, search=10 * runs, seed=seed, exact=False)

    def up_to(length):
        return exact_epsilon(above, horizon=Horizon.up_to(length))

    first = sampled(improved, 3)
    yield (
        "a",
        "noisy max, first index wins (Algorithm 2), n = 3",
        [("p", sampled(naive, 3))],
        exact_epsilon(naive, size=3),
    )
    yield "b", "noisy max, ties uniform (Algorithm 3), n = 3", [("p", first)], exact_epsilon(improved, size=3)
    yield "c", "above threshold (Algorithm 4), streams of 2 to 3", [("p", sampled(above, [2, 3]))], up_to(3)
    yield "d", "above threshold (Algorithm 4), streams of 10 to 15", [("p", sampled(above, range(10, 16)))], up_to(15)
    thrice = [(f"seed {seed}", sampled(improved, 3, seed)) for seed in (1, 2, 3)]
    yield "e", "Algorithm 3 tested three times", thrice, exact_epsilon(improved, size=3)
    yield "f", "Algorithm 3: the interval that sampling leaves", [("p", first)], exact_epsilon(improved, size=3)


def main(folder, runs):
    folder.mkdir(parents=True, exist_ok=True)
    for part, title, audits, exact in figures(runs):
        path = folder / f"figure_4{part}.svg"
        path.write_text(p_value_chart(audits, title=f"({part}) {title}", exact=exact), encoding="utf-8")
        said = "; ".join(
            f"rejected below {found.epsilon:.3f}, not from {found.bracket[1]:.3f} on" for _, found in audits
        )
        print(f"({part}) {title}: {said}; exactly {exact:.4f}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="figure_4_")),
        int(sys.argv[2]) if len(sys.argv) > 2 else 100_000,
    )
