"""The packages of this distribution: their modules are not the user's own."""

OURS = frozenset(("privproof", "privproof_checker"))
