"""Who must not be told apart: pairs of initial distributions, neighbour relations, restrictions on words; imports `models`."""

from privproof.scenarios.neighbours import Neighbours
from privproof.scenarios.question import Model, Pair, Question, Scenario, ordered_pairs
from privproof.scenarios.words import Automaton, Ending, Words, automaton

__all__ = [
    "Automaton",
    "Ending",
    "Model",
    "Neighbours",
    "Pair",
    "Question",
    "Scenario",
    "Words",
    "automaton",
    "ordered_pairs",
]
