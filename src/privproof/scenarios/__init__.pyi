from .any_question import AnyQuestion, Family
from .composed_question import ComposedQuestion, Sampling, SamplingKind, Use, composed_question, sampling
from .draws_question import DrawnQuestion, DrawsQuestion, LotteryQuestion
from .markov_prior import MarkovPrior
from .measured_question import MeasuredQuestion
from .neighbours import Neighbours
from .output_origins import Origin, Several, fits, whole_output
from .parametric_question import ParametricPair, ParametricQuestion, UnderPriors, parametric_pair
from .program_question import ProgramQuestion, is_program, program_question
from .pufferfish_question import PufferfishQuestion, Secret, pufferfish
from .runs_question import RunsQuestion, runs_question
from .stream_question import StreamQuestion
from .word_question import Model, Pair, Question, Scenario, ordered_pairs
from .word_sets import Automaton, Ending, Words, automaton

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
