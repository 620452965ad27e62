"""Whether runs of a model can halt: an observer who waits may then learn something from that alone."""

from __future__ import annotations

from privproof.models.hidden_markov_model import HiddenMarkovModel, MarkovChain
from privproof.models.transducer import Transducer


def can_halt(model: HiddenMarkovModel | MarkovChain | Transducer) -> bool:
    """Whether some state makes no further step.

    >>> can_halt(MarkovChain(states=["a", "b"], transitions={"a": {"b": 1}}))
    True
    """
    if isinstance(model, Transducer):
        if model.finish is not None:
            return False
        return not model.repeats or any(state not in step for step in model.steps for state in model.states)
    return any(state not in model.transitions for state in model.states)
