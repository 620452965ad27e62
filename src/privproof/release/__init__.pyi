from .bayes_networks import Network, Node
from .calibration import Calibrated, calibrate
from .calibration_methods import METHODS
from .error_comparison import errors_by_method
from .finite_frameworks import Framework, Protected, protect, protected_value, wasserstein_distance
from .gaussian_chains import GaussianChain
from .hidden_chains import Hidden
from .ledger import Entry, Examination, Ledger, Reservation
from .ledger.account_files import read_account, spend, write_account
from .ledger.quilt_accounting import Accountant, Spending
from .locations.location_channels import Channel
from .locations.location_findings import LocationFinding
from .locations.location_maps import Clamped, Map, Projection, Resampled, clamped, remapped
from .locations.location_verification import (
    location_certificate,
    resampling_planar_geometric,
    resampling_planar_laplace,
    shrunk_north_south,
    verify_locations,
)
from .locations.optimal_tables import Optimal, optimal
from .locations.planar_noise import (
    GridLaplace,
    PlanarGeometric,
    PlanarLaplace,
    per_distance,
    precision_epsilon,
    several,
)
from .markov_chains import Band, Chain
from .markov_quilts import Quilts, quilts, spent
from .noisy_release import Released, exact_answers, noisy, release
from .release_question import Gaussian, Geometric, Laplace, ReleaseQuestion
from .release_verification import verify
from .series_queries import Query, count, histogram, linear, lipschitz, mean, weighted_sum
from .table_release import Paid, Record, Request, release_table

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
