"""The other direction: noise that makes a query of correlated data Pufferfish private, and what it costs; imports `asking` and engines.

Quilts, laws and losses are those of `engines.releases`.  Read the rest in this order: `planning` (the methods), `calibrating`,
`drawing` and `releasing` (noise and records), `accounting` (several releases), `frameworks` (any finite framework), `locations`
(places on a map; the noise in the plane and the maps are in `scenarios`).

>>> from privproof import release
>>> chain = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
>>> made = release.calibrate(chain, length=100, query=release.count("walk"), epsilon=1)
>>> made.method, made.noise
('exact', Geometric(alpha=1651/2228, step=1))
"""

from privproof.engines.locations.findings import LocationFinding
from privproof.engines.releases.quilts import Quilts, quilts, spent
from privproof.release.account_files import read_account, spend, write_account
from privproof.release.accounting import Accountant, Spending
from privproof.release.calibrating import Calibrated, calibrate
from privproof.release.comparing import errors_by_method
from privproof.release.frameworks import Framework, Protected, protect, protected_value, wasserstein_distance
from privproof.release.ledger import Entry, Examination, Ledger, Reservation
from privproof.release.locations import (
    location_certificate,
    resampling_planar_geometric,
    resampling_planar_laplace,
    shrunk_north_south,
    verify_locations,
)
from privproof.release.optimal_tables import Optimal, optimal
from privproof.release.planning import METHODS
from privproof.release.releasing import Released, exact_answers, noisy, release
from privproof.release.tables import Paid, Record, Request, release_table
from privproof.release.verifying import verify
from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.channels import Channel
from privproof.scenarios.gaussian_chains import GaussianChain
from privproof.scenarios.hidden import Hidden
from privproof.scenarios.maps import Clamped, Map, Projection, Resampled, clamped, remapped
from privproof.scenarios.networks import Network, Node
from privproof.scenarios.planar import (
    GridLaplace,
    PlanarGeometric,
    PlanarLaplace,
    per_distance,
    precision_epsilon,
    several,
)
from privproof.scenarios.queries import Query, count, histogram, linear, lipschitz, mean, weighted_sum
from privproof.scenarios.releases import Gaussian, Geometric, Laplace, ReleaseQuestion

__all__ = [
    "METHODS",
    "Accountant",
    "Band",
    "Calibrated",
    "Chain",
    "Channel",
    "Clamped",
    "Entry",
    "Examination",
    "Framework",
    "Gaussian",
    "GaussianChain",
    "Geometric",
    "GridLaplace",
    "Hidden",
    "Laplace",
    "Ledger",
    "LocationFinding",
    "Map",
    "Network",
    "Node",
    "Optimal",
    "Paid",
    "PlanarGeometric",
    "PlanarLaplace",
    "Projection",
    "Protected",
    "Query",
    "Quilts",
    "Record",
    "ReleaseQuestion",
    "Released",
    "Request",
    "Resampled",
    "Reservation",
    "Spending",
    "calibrate",
    "clamped",
    "count",
    "errors_by_method",
    "exact_answers",
    "histogram",
    "linear",
    "lipschitz",
    "location_certificate",
    "mean",
    "noisy",
    "optimal",
    "per_distance",
    "precision_epsilon",
    "protect",
    "protected_value",
    "quilts",
    "read_account",
    "release",
    "release_table",
    "remapped",
    "resampling_planar_geometric",
    "resampling_planar_laplace",
    "several",
    "shrunk_north_south",
    "spend",
    "spent",
    "verify",
    "verify_locations",
    "wasserstein_distance",
    "weighted_sum",
    "write_account",
]
