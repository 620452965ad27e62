from .any_question import AnyQuestion, Family
from .composed_questions import ComposedQuestion, Sampling, SamplingKind, Use, composed_question, sampling_of_kind
from .draws_questions import DrawsQuestion
from .markov_prior import MarkovPrior
from .measured_questions import MeasuredQuestion
from .neighbours import Neighbours
from .output_origins import Origin, Several, fits, whole_output
from .parametric_questions import ParametricPair, ParametricQuestion, UnderPriors, parametric_pair
from .program_questions import ProgramQuestion, is_program, program_question
from .pufferfish_questions import PufferfishQuestion, Secret, pufferfish
from .runs_questions import RunsQuestion, runs_question
from .stream_questions import StreamQuestion
from .word_questions import Model, Pair, Question, Scenario, ordered_pairs
from .word_sets import Automaton, Ending, Words, automaton

__all__ = [
    "AnyQuestion",
    "Automaton",
    "ComposedQuestion",
    "DrawsQuestion",
    "Ending",
    "Family",
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
    "sampling_of_kind",
    "whole_output",
]
