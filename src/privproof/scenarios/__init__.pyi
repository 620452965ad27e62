from .asked import AnyQuestion, Family
from .composed import ComposedQuestion, Sampling, SamplingKind, Use, composed_question, sampling
from .draws import DrawnQuestion, DrawsQuestion, LotteryQuestion
from .markov import MarkovPrior
from .measured import MeasuredQuestion
from .neighbours import Neighbours
from .origins import Origin, Several, fits, whole_output
from .parametric import ParametricPair, ParametricQuestion, UnderPriors, parametric_pair
from .programs import ProgramQuestion, is_program, program_question
from .pufferfish import PufferfishQuestion, Secret, pufferfish
from .question import Model, Pair, Question, Scenario, ordered_pairs
from .runs import RunsQuestion, runs_question
from .streams import StreamQuestion
from .words import Automaton, Ending, Words, automaton

__all__ = [
    "AnyQuestion",
    "Automaton",
    "ComposedQuestion",
    "DrawnQuestion",
    "DrawsQuestion",
    "Ending",
    "Family",
    "LotteryQuestion",
    "MarkovPrior",
    "MeasuredQuestion",
    "Model",
    "Neighbours",
    "Origin",
    "Pair",
    "ParametricPair",
    "ParametricQuestion",
    "ProgramQuestion",
    "PufferfishQuestion",
    "Question",
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
    "fits",
    "is_program",
    "ordered_pairs",
    "parametric_pair",
    "program_question",
    "pufferfish",
    "runs_question",
    "sampling",
    "whole_output",
]
