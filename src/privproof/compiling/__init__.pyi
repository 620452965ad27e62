from .distributions import output_distribution, output_probability, printable
from .lumping import Classes, Lumped, lump
from .programs import given_in_advance, mechanism_question
from .series import time_series
from .trials import translated_rightly
from .word_problems import Begin, Compiled, near_inputs, refuse_equal_sides, word_problem

__all__ = [
    "Begin",
    "Classes",
    "Compiled",
    "Lumped",
    "given_in_advance",
    "lump",
    "mechanism_question",
    "near_inputs",
    "output_distribution",
    "output_probability",
    "printable",
    "refuse_equal_sides",
    "time_series",
    "translated_rightly",
    "word_problem",
]
