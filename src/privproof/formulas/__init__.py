"""Formulas of dpCTL* as frozen data, their text, and their sublogics: imports `exact` and nothing else of the package."""

from privproof.formulas.reading import parse_formula
from privproof.formulas.readings import note_on_reading
from privproof.formulas.sublogics import sublogic
from privproof.formulas.syntax import (
    And,
    Atom,
    Bound,
    Comparison,
    Family,
    Formula,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Private,
    Probable,
    Range,
    Truth,
    Unary,
    Until,
)

__all__ = [
    "And",
    "Atom",
    "Bound",
    "Comparison",
    "Family",
    "Formula",
    "Iff",
    "Implies",
    "Next",
    "Not",
    "Or",
    "Private",
    "Probable",
    "Range",
    "Truth",
    "Unary",
    "Until",
    "note_on_reading",
    "parse_formula",
    "sublogic",
]
