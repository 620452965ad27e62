from .ledger_data_sets import DataSet
from .ledger_entries import Entry
from .ledger_verification import Examination
from .spending_ledger import Ledger, Reservation
from .spending_rules import Composition, Cost, Quilts, ZeroConcentrated

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
