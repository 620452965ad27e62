"""Who must not be told apart: pairs of distributions, neighbour relations, words; imports `models` and `language`."""

from typing import TypeAlias

from privproof.scenarios.markov import MarkovPrior
from privproof.scenarios.neighbours import Neighbours
from privproof.scenarios.origins import Origin, Several, fits
from privproof.scenarios.parametric import ParametricPair, ParametricQuestion, parametric_pair
from privproof.scenarios.programs import ProgramQuestion, claims, is_program, program_question
from privproof.scenarios.pufferfish import PufferfishQuestion, Secret, pufferfish
from privproof.scenarios.question import Model, Pair, Question, Scenario, ordered_pairs
from privproof.scenarios.streams import StreamQuestion
from privproof.scenarios.words import Automaton, Ending, Words, automaton

UnderPriors: TypeAlias = "PufferfishQuestion | ParametricQuestion"
"""A question under priors with unknown parameters."""

__all__ = [
    "Automaton",
    "Ending",
    "MarkovPrior",
    "Model",
    "Neighbours",
    "Origin",
    "Pair",
    "ParametricPair",
    "ParametricQuestion",
    "ProgramQuestion",
    "PufferfishQuestion",
    "Question",
    "Scenario",
    "Secret",
    "Several",
    "StreamQuestion",
    "UnderPriors",
    "Words",
    "automaton",
    "claims",
    "fits",
    "is_program",
    "ordered_pairs",
    "parametric_pair",
    "program_question",
    "pufferfish",
]
