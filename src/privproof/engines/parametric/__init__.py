"""The parametric engine: conditions on unknown parameters, decided by Bernstein coefficients on trees of boxes.

Read it in this order: `bernstein` (the coefficients), `search` (trees), `points` (simple points), `deciding` (proved or
violated), `suprema` (how large the ratio becomes), `solvers` (second opinions).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
