"""The ledger: an append-only record of what was released about data sets and what it cost, in SQLite or PostgreSQL.

Read `rules` (what may be spent), `entries` (what is recorded), `stores` (where), `datasets`, `ledger` (spending), and `verifying`
(checking it all again).
"""

from privproof.release.ledger.ledger_data_sets import DataSet
from privproof.release.ledger.ledger_entries import Entry
from privproof.release.ledger.ledger_verification import Examination
from privproof.release.ledger.spending_ledger import Ledger, Reservation
from privproof.release.ledger.spending_rules import Composition, Cost, Quilts, ZeroConcentrated

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
