"""The other direction: noise that makes a query of correlated data Pufferfish private, and what it costs; uses `engines` and above.

Read it in this order: `powers` and `quilts` (Markov quilts on chains), `curves` (bounds on influence), `networks` (quilts on
Bayesian networks), `laws`, `distances` and `losses` (the exact law of a sum, the Wasserstein distance, the exact loss),
`calibrating` (the methods), `drawing` and `releasing` (noise and records), `accounting` (several releases), `frameworks` (any
finite framework), `locations` (places on a map).

>>> from privproof import release
>>> chain = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
>>> made = release.calibrate(chain, length=100, query=release.count("walk"), epsilon=1)
>>> made.method, made.noise
('exact', Geometric(alpha=1651/2228, step=1))
"""

from privproof.release.accounting import Accountant, Spending
from privproof.release.calibrating import METHODS, Calibrated, calibrate
from privproof.release.frameworks import Framework, Protected, protect, wasserstein_distance
from privproof.release.quilts import Quilts, quilts, spent
from privproof.release.releasing import Released, release
from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.networks import Network, Node
from privproof.scenarios.queries import Query, count, histogram, lipschitz, mean, weighted_sum
from privproof.scenarios.releases import Geometric, Laplace, ReleaseQuestion

__all__ = [
    "METHODS",
    "Accountant",
    "Band",
    "Calibrated",
    "Chain",
    "Framework",
    "Geometric",
    "Laplace",
    "Network",
    "Node",
    "Protected",
    "Query",
    "Quilts",
    "ReleaseQuestion",
    "Released",
    "Spending",
    "calibrate",
    "count",
    "histogram",
    "lipschitz",
    "mean",
    "protect",
    "quilts",
    "release",
    "spent",
    "wasserstein_distance",
    "weighted_sum",
]
