"""Linear arithmetic without a solver: conditions as clauses, and multipliers that refute them."""
