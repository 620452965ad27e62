"""What is under question, as frozen data: imports `exact` and nothing else of the package."""

from privproof.models.distributions import Distribution
from privproof.models.halting import can_halt
from privproof.models.hmm import HiddenMarkovModel, MarkovChain
from privproof.models.process import DecisionProcess, Enclosure
from privproof.models.stream_automaton import StreamAutomaton
from privproof.models.transducer import Branch, Step, Transducer
from privproof.models.word_problem import (
    Edge,
    Final,
    Horizon,
    Letter,
    Location,
    Start,
    Word,
    WordProblem,
    compares_something,
    longest_word,
)

__all__ = [
    "Branch",
    "DecisionProcess",
    "Distribution",
    "Edge",
    "Enclosure",
    "Final",
    "HiddenMarkovModel",
    "Horizon",
    "Letter",
    "Location",
    "MarkovChain",
    "Start",
    "Step",
    "StreamAutomaton",
    "Transducer",
    "Word",
    "WordProblem",
    "can_halt",
    "compares_something",
    "longest_word",
]
