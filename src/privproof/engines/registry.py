"""All engines for words, the one to try first in front."""

from privproof.engines.findings import Engine
from privproof.engines.words.bounded import FrontierEngine, SmtEngine, TensorEngine
from privproof.engines.words.events import Events
from privproof.engines.words.table import TableEngine
from privproof.engines.words.unbounded import UnboundedEngine

ENGINES: tuple[Engine, ...] = (
    TableEngine(),
    TensorEngine(),
    FrontierEngine(),
    UnboundedEngine(),
    Events(),
    SmtEngine(),
)
"""All engines, the one to try first in front."""
