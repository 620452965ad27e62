"""Who must not be told apart: pairs of distributions, neighbour relations, words; imports `models` and `language`."""

from typing import TypeAlias

from privproof.scenarios.chains import Band, Chain
from privproof.scenarios.formulas import FormulaQuestion
from privproof.scenarios.locations import LocationQuestion
from privproof.scenarios.markov import MarkovPrior
from privproof.scenarios.neighbours import Neighbours
from privproof.scenarios.networks import Network, Node
from privproof.scenarios.origins import Origin, Several, fits
from privproof.scenarios.parametric import ParametricPair, ParametricQuestion, parametric_pair
from privproof.scenarios.programs import ProgramQuestion, claims, is_program, program_question, relied_on
from privproof.scenarios.pufferfish import PufferfishQuestion, Secret, pufferfish
from privproof.scenarios.queries import Query, count, histogram, lipschitz, mean, weighted_sum
from privproof.scenarios.question import Model, Pair, Question, Scenario, ordered_pairs
from privproof.scenarios.releases import Geometric, Laplace, Noise, ReleaseQuestion
from privproof.scenarios.streams import StreamQuestion
from privproof.scenarios.words import Automaton, Ending, Words, automaton

UnderPriors: TypeAlias = "PufferfishQuestion | ParametricQuestion"
"""A question under priors with unknown parameters."""

AnyQuestion: TypeAlias = "Question | UnderPriors | ProgramQuestion | StreamQuestion | ReleaseQuestion"
"""Whatever can be asked about."""

Verified: TypeAlias = "AnyQuestion | FormulaQuestion | LocationQuestion"
"""Whatever a verdict can be about."""

__all__ = [
    "AnyQuestion",
    "Automaton",
    "Band",
    "Chain",
    "Ending",
    "FormulaQuestion",
    "Geometric",
    "Laplace",
    "LocationQuestion",
    "MarkovPrior",
    "Model",
    "Neighbours",
    "Network",
    "Node",
    "Noise",
    "Origin",
    "Pair",
    "ParametricPair",
    "ParametricQuestion",
    "ProgramQuestion",
    "PufferfishQuestion",
    "Query",
    "Question",
    "ReleaseQuestion",
    "Scenario",
    "Secret",
    "Several",
    "StreamQuestion",
    "UnderPriors",
    "Verified",
    "Words",
    "automaton",
    "claims",
    "count",
    "fits",
    "histogram",
    "is_program",
    "lipschitz",
    "mean",
    "ordered_pairs",
    "parametric_pair",
    "program_question",
    "pufferfish",
    "relied_on",
    "weighted_sum",
]
