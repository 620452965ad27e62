"""The ledger: an append-only record of what was released about data sets and what it cost, in SQLite or PostgreSQL.

Read `rules` (what may be spent), `entries` (what is recorded), `stores` (where), `datasets`, `ledger` (spending), and `verifying`
(checking it all again).
"""

from privproof.release.ledger.datasets import DataSet
from privproof.release.ledger.entries import Entry
from privproof.release.ledger.ledger import Ledger, Reservation
from privproof.release.ledger.rules import Composition, Cost, Quilts, ZeroConcentrated
from privproof.release.ledger.verifying import Examination

__all__ = [
    "Composition",
    "Cost",
    "DataSet",
    "Entry",
    "Examination",
    "Ledger",
    "Quilts",
    "Reservation",
    "ZeroConcentrated",
]
