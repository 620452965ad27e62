"""From a mechanism to a question, and from a question to the problem an engine solves; imports all above it."""

from privproof.compiling.distributions import output_distribution, output_probability, printable
from privproof.compiling.labelled import mechanism_process
from privproof.compiling.lumping import Classes, Lumped, lump
from privproof.compiling.programs import given_in_advance
from privproof.compiling.programs import question as mechanism_question
from privproof.compiling.series import time_series
from privproof.compiling.trials import translated_rightly
from privproof.compiling.word_problems import Begin, Compiled, near_inputs, refuse_equal_sides, word_problem

__all__ = [
    "Begin",
    "Classes",
    "Compiled",
    "Lumped",
    "given_in_advance",
    "lump",
    "mechanism_process",
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
