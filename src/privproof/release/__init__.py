"""The other direction: noise that makes a query of correlated data Pufferfish private, and what it costs; imports `asking` and engines.

Read in this order: `calibration_methods`, `calibration`, `noise_drawing` and `noisy_release` (noise and records), `markov_quilts` and
`sum_laws` (what they rest on), `ledger` (several releases), `finite_frameworks` (any finite framework), `locations` (places on a map),
`tables` (data in files).

>>> from privproof import release
>>> chain = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
>>> made = release.calibrate(chain, length=100, query=release.count("walk"), epsilon=1)
>>> made.method, made.noise
('exact', Geometric(alpha=1651/2228, step=1))
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
