"""privproof: prove or refute the privacy of a randomised mechanism, and say exactly how private it is.

>>> import privproof
>>> model = privproof.HiddenMarkovModel(
...     states=["healthy", "ill"], observations=["no", "yes"],
...     emissions={"healthy": {"no": "3/4", "yes": "1/4"}, "ill": {"no": "1/4", "yes": "3/4"}})
>>> pair = privproof.Pair.of(model, "John", {"healthy": 1}, {"ill": 1})
>>> question = privproof.Question(model=model, scenario=privproof.Scenario(pairs=(pair,)))
>>> privproof.check(question, "ln(3)").status
'proved'
>>> privproof.tight_epsilon(question).tight
Epsilon('ln(3)')
"""

from privproof.asking import check, tight_epsilon
from privproof.errors import (
    BudgetError,
    FloatRefused,
    FormatError,
    ModelError,
    NumberError,
    PrivproofError,
    QuestionError,
    ScenarioError,
)
from privproof.evidence import Proved, Refuted, Unknown, Verdict, Witness
from privproof.evidence.checker import recheck, recheck_file
from privproof.exact import Budget, Epsilon, epsilon, from_float, log, rational
from privproof.formats import read_question, write_question
from privproof.models import Branch, HiddenMarkovModel, Horizon, Letter, MarkovChain, Transducer, WordProblem
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words

__version__ = "0.1.0"

__all__ = [
    "Branch",
    "Budget",
    "BudgetError",
    "Epsilon",
    "FloatRefused",
    "FormatError",
    "HiddenMarkovModel",
    "Horizon",
    "Letter",
    "MarkovChain",
    "ModelError",
    "Neighbours",
    "NumberError",
    "Pair",
    "PrivproofError",
    "Proved",
    "Question",
    "QuestionError",
    "Refuted",
    "Scenario",
    "ScenarioError",
    "Transducer",
    "Unknown",
    "Verdict",
    "Witness",
    "WordProblem",
    "Words",
    "check",
    "epsilon",
    "from_float",
    "log",
    "rational",
    "read_question",
    "recheck",
    "recheck_file",
    "tight_epsilon",
    "write_question",
]
