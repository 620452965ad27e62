from .asked import AnyQuestion, Family
from .chains import Band, Chain
from .composed import ComposedQuestion, Sampling, SamplingKind, Use, composed_question, sampling
from .draws import DrawnQuestion, DrawsQuestion, LotteryQuestion
from .formulas import FormulaQuestion
from .locations import LocationQuestion
from .markov import MarkovPrior
from .measured import MeasuredQuestion
from .neighbours import Neighbours
from .networks import Network, Node
from .origins import Origin, Several, fits, whole_output
from .parametric import ParametricPair, ParametricQuestion, UnderPriors, parametric_pair
from .programs import ProgramQuestion, is_program, program_question
from .pufferfish import PufferfishQuestion, Secret, pufferfish
from .queries import Query, count, histogram, lipschitz, mean, weighted_sum
from .question import Model, Pair, Question, Scenario, ordered_pairs
from .releases import Geometric, Laplace, Noise, ReleaseQuestion
from .runs import RunsQuestion, runs_question
from .streams import StreamQuestion
from .words import Automaton, Ending, Words, automaton

__all__ = [
    "AnyQuestion",
    "Automaton",
    "Band",
    "Chain",
    "ComposedQuestion",
    "DrawnQuestion",
    "DrawsQuestion",
    "Ending",
    "Family",
    "FormulaQuestion",
    "Geometric",
    "Laplace",
    "LocationQuestion",
    "LotteryQuestion",
    "MarkovPrior",
    "MeasuredQuestion",
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
    "RunsQuestion",
    "Sampling",
    "SamplingKind",
    "Scenario",
    "Secret",
    "Several",
    "StreamQuestion",
    "UnderPriors",
    "Use",
    "Words",
    "automaton",
    "composed_question",
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
    "runs_question",
    "sampling",
    "weighted_sum",
    "whole_output",
]
