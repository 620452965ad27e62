from .finite_distributions import Distribution
from .halting import can_halt
from .hidden_markov_model import HiddenMarkovModel, MarkovChain
from .stream_automaton import StreamAutomaton
from .transducer import Branch, Step, Transducer
from .word_problem import (
    Edge,
    Final,
    Horizon,
    Letter,
    Location,
    ProblemStart,
    Word,
    WordProblem,
    compares_something,
    longest_word,
)

__all__ = [
    "Branch",
    "Distribution",
    "Edge",
    "Final",
    "HiddenMarkovModel",
    "Horizon",
    "Letter",
    "Location",
    "MarkovChain",
    "ProblemStart",
    "Step",
    "StreamAutomaton",
    "Transducer",
    "Word",
    "WordProblem",
    "can_halt",
    "compares_something",
    "longest_word",
]
