from . import release
from .asking import check, privacy_profile, smallest_delta, tight_epsilon, tight_mu, tight_renyi, tight_rho
from .audits.audit_findings import Audit
from .audits.audit_request import audit
from .audits.event_probabilities import output_probability, privacy_loss, probability_formula
from .audits.sampling.output_samples import Samples
from .audits.sampling.program_lanes import sample
from .audits.sampling.runnable_functions import Runnable, runnable
from .compiling import mechanism_question, output_distribution, time_series
from .compiling.composing import composed
from .engines.words.definition_engine import word_probabilities
from .errors import (
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
from .evidence import Proved, Refuted, Unknown, Verdict, Witness
from .evidence.certificate_rechecking import recheck, recheck_file
from .exact import Budget, Epsilon, epsilon, from_float, log, rational
from .formats import read_question
from .formats.document_writing import write_question
from .language import (
    Mechanism,
    Prior,
    Row,
    array,
    bernoulli,
    choice,
    discrete_gaussian,
    exponential,
    exponential_mechanism,
    frame,
    gaussian,
    geometric,
    gumbel,
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
    rows,
    seeded,
    staircase,
    stream,
    stream_of,
    truncated_geometric,
    truncated_laplace,
    uniform,
    uniform_real,
)
from .logic.decision_process import DecisionProcess, Enclosure
from .logic.formats.process_files import read_process, write_process
from .logic.formula_engine import model_check
from .logic.formulas.formula_parser import parse_formula
from .logic.formulas.sublogics import sublogic
from .logic.mechanism_process import mechanism_process
from .logic.state_satisfaction import Satisfaction
from .models import Branch, Horizon, Letter, StreamAutomaton, Transducer, WordProblem
from .models.hidden_markov_model import HiddenMarkovModel, MarkovChain
from .profiles import Profile
from .profiles.enclosed_profile import EnclosedProfile
from .profiles.loss_distributions import privacy_loss_distribution
from .profiles.renyi_profiles import renyi_divergence
from .profiles.smallest_delta import SmallestDelta
from .projects.project_surveys import survey_project, survey_sizes
from .scenarios import Neighbours
from .scenarios.markov_prior import MarkovPrior
from .scenarios.program_questions import ProgramQuestion
from .scenarios.pufferfish_questions import PufferfishQuestion, pufferfish
from .scenarios.stream_questions import StreamQuestion
from .scenarios.word_questions import Pair, Question, Scenario
from .scenarios.word_sets import Words

__version__: str
__all__ = [
    "Audit",
    "Branch",
    "Budget",
    "BudgetError",
    "DecisionProcess",
    "EnclosedProfile",
    "Enclosure",
    "Epsilon",
    "FloatRefused",
    "FormatError",
    "FormulaError",
    "HiddenMarkovModel",
    "Horizon",
    "LanguageError",
    "Letter",
    "MarkovChain",
    "MarkovPrior",
    "Mechanism",
    "ModelError",
    "Neighbours",
    "NumberError",
    "Pair",
    "Prior",
    "PrivproofError",
    "Profile",
    "ProgramQuestion",
    "Proved",
    "PufferfishQuestion",
    "Question",
    "QuestionError",
    "Refuted",
    "Row",
    "Runnable",
    "Samples",
    "Satisfaction",
    "Scenario",
    "ScenarioError",
    "SmallestDelta",
    "StreamAutomaton",
    "StreamQuestion",
    "Transducer",
    "Unknown",
    "Verdict",
    "Witness",
    "WordProblem",
    "Words",
    "array",
    "audit",
    "bernoulli",
    "check",
    "choice",
    "composed",
    "discrete_gaussian",
    "epsilon",
    "exponential",
    "exponential_mechanism",
    "frame",
    "from_float",
    "gaussian",
    "geometric",
    "gumbel",
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
    "release",
    "renyi_divergence",
    "rows",
    "runnable",
    "sample",
    "seeded",
    "smallest_delta",
    "staircase",
    "stream",
    "stream_of",
    "sublogic",
    "survey_project",
    "survey_sizes",
    "tight_epsilon",
    "tight_mu",
    "tight_renyi",
    "tight_rho",
    "time_series",
    "truncated_geometric",
    "truncated_laplace",
    "uniform",
    "uniform_real",
    "word_probabilities",
    "write_process",
    "write_question",
]
