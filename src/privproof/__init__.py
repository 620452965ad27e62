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

A mechanism may be an ordinary function:

>>> from privproof import mechanism, queries, truncated_geometric
>>> @mechanism(epsilon="ln(2)")
... def noisy_max(q: queries(0, 2)):
...     best, winner = -1, 0
...     for i, value in enumerate(q):
...         noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
...         if noisy > best:
...             best, winner = noisy, i
...     return winner
>>> privproof.tight_epsilon(noisy_max, size=3).tight
Epsilon('ln(8)')
"""

from privproof.asking import check, tight_epsilon
from privproof.auditing import audit
from privproof.compiling import (
    mechanism_process,
    mechanism_question,
    output_distribution,
    time_series,
)
from privproof.engines.sampling import Runnable, Samples, runnable, sample
from privproof.errors import (
    BudgetError,
    FloatRefused,
    FormatError,
    FormulaError,
    LanguageError,
    ModelError,
    NumberError,
    PrivproofError,
    QuestionError,
    ScenarioError,
)
from privproof.evidence import LossWitness, PriorWitness, Proved, Refuted, Unknown, Verdict, Witness
from privproof.evidence.audits import Audit
from privproof.evidence.checker import recheck, recheck_file
from privproof.evidence.satisfaction import Satisfaction
from privproof.exact import Budget, Epsilon, epsilon, from_float, log, rational
from privproof.formats import read_question, write_question
from privproof.formats.processes import read_process, write_process
from privproof.formulas import parse_formula, sublogic
from privproof.language import (
    Mechanism,
    Prior,
    bernoulli,
    choice,
    exponential,
    exponential_mechanism,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    prior,
    public,
    queries,
    randomized_response,
    real,
    real_queries,
    real_stream,
    records,
    seeded,
    stream,
    stream_of,
    truncated_geometric,
    uniform,
)
from privproof.model_checking import model_check
from privproof.models import (
    Branch,
    DecisionProcess,
    Enclosure,
    HiddenMarkovModel,
    Horizon,
    Letter,
    MarkovChain,
    StreamAutomaton,
    Transducer,
    WordProblem,
)
from privproof.probabilities import output_probability, privacy_loss, probability_formula
from privproof.profiles import Profile, privacy_loss_distribution, privacy_profile, renyi_divergence
from privproof.scenarios import (
    MarkovPrior,
    Neighbours,
    Pair,
    ProgramQuestion,
    PufferfishQuestion,
    Question,
    Scenario,
    StreamQuestion,
    Words,
    pufferfish,
)

__version__ = "0.3.0"

__all__ = [
    "Audit",
    "Branch",
    "Budget",
    "BudgetError",
    "DecisionProcess",
    "Enclosure",
    "Epsilon",
    "FloatRefused",
    "FormatError",
    "FormulaError",
    "HiddenMarkovModel",
    "Horizon",
    "LanguageError",
    "Letter",
    "LossWitness",
    "MarkovChain",
    "MarkovPrior",
    "Mechanism",
    "ModelError",
    "Neighbours",
    "NumberError",
    "Pair",
    "Prior",
    "PriorWitness",
    "PrivproofError",
    "Profile",
    "ProgramQuestion",
    "Proved",
    "PufferfishQuestion",
    "Question",
    "QuestionError",
    "Refuted",
    "Runnable",
    "Samples",
    "Satisfaction",
    "Scenario",
    "ScenarioError",
    "StreamAutomaton",
    "StreamQuestion",
    "Transducer",
    "Unknown",
    "Verdict",
    "Witness",
    "WordProblem",
    "Words",
    "audit",
    "bernoulli",
    "check",
    "choice",
    "epsilon",
    "exponential",
    "exponential_mechanism",
    "from_float",
    "geometric",
    "integer",
    "laplace",
    "log",
    "mechanism",
    "mechanism_process",
    "mechanism_question",
    "model_check",
    "one_of",
    "output_distribution",
    "output_probability",
    "parse_formula",
    "prior",
    "privacy_loss",
    "privacy_loss_distribution",
    "privacy_profile",
    "probability_formula",
    "public",
    "pufferfish",
    "queries",
    "randomized_response",
    "rational",
    "read_process",
    "read_question",
    "real",
    "real_queries",
    "real_stream",
    "recheck",
    "recheck_file",
    "records",
    "renyi_divergence",
    "runnable",
    "sample",
    "seeded",
    "stream",
    "stream_of",
    "sublogic",
    "tight_epsilon",
    "time_series",
    "truncated_geometric",
    "uniform",
    "write_process",
    "write_question",
]


def __getattr__(name: str) -> object:
    """`privproof.release`, when it is first asked for."""
    if name == "release":
        from importlib import import_module

        return import_module("privproof.release")
    raise AttributeError(f"module 'privproof' has no attribute {name!r}")
