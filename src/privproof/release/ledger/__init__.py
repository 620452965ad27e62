"""The ledger: an append-only record of what was released about data sets and what it cost, in SQLite or PostgreSQL.

Read `rules` (what may be spent), `entries` (what is recorded), `stores` (where), `datasets`, `ledger` (spending), and `verifying`
(checking it all again).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
