"""Who must not be told apart: pairs of distributions, neighbour relations, words; imports `models` and `language`."""

from privproof.scenarios.markov import MarkovPrior
from privproof.scenarios.neighbours import Neighbours
from privproof.scenarios.origins import Origin, Several, fits
from privproof.scenarios.pufferfish import PufferfishQuestion, Secret, pufferfish
from privproof.scenarios.question import Model, Pair, Question, Scenario, ordered_pairs
from privproof.scenarios.words import Automaton, Ending, Words, automaton

__all__ = [
    "Automaton",
    "Ending",
    "MarkovPrior",
    "Model",
    "Neighbours",
    "Origin",
    "Pair",
    "PufferfishQuestion",
    "Question",
    "Scenario",
    "Secret",
    "Several",
    "Words",
    "automaton",
    "fits",
    "ordered_pairs",
    "pufferfish",
]
