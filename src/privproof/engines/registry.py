"""All engines: for each the questions that it is for, and where it is; none is loaded before it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from privproof.engines.engine import Engine
from privproof.scenarios import Family


@dataclass(frozen=True)
class Registered:
    """An engine that can be loaded.

    Attributes:
        name: its name.
        families: the kinds of questions that it is for.
        module: the module that makes it, below this package.
        maker: the name of its class there.
    """

    name: str
    families: tuple[Family, ...]
    module: str
    maker: str

    def load(self) -> Engine:
        """The engine."""
        engine: Engine = getattr(import_module(f"privproof.engines.{self.module}"), self.maker)()
        return engine


_WORDS: tuple[Family, ...] = ("words",)

ENGINES: tuple[Registered, ...] = (
    Registered("table", _WORDS, "words.table", "TableEngine"),
    Registered("worst-way", _WORDS, "words.worst_way", "WorstWayEngine"),
    Registered("tensors", _WORDS, "words.bounded", "TensorEngine"),
    Registered("frontier", _WORDS, "words.bounded", "FrontierEngine"),
    Registered("ratios", _WORDS, "words.ratios", "RatioEngine"),
    Registered("unbounded", _WORDS, "words.unbounded", "UnboundedEngine"),
    Registered("events", _WORDS, "words.events", "EventsEngine"),
    Registered("smt", _WORDS, "words.bounded", "SmtEngine"),
    Registered("definition", _WORDS, "words.definition", "DefinitionEngine"),
    Registered("registers", ("program",), "registers.engine", "RegisterEngine"),
    Registered("streams", ("program", "stream"), "streams.engine", "StreamEngine"),
    Registered("laplace", ("program",), "laplace.engine", "AlignmentEngine"),
    Registered("runs", ("runs",), "runs.engine", "RunsEngine"),
    Registered("draws", ("draws",), "draws.engine", "DrawsEngine"),
    Registered("lottery", ("lottery",), "lotteries.engine", "LotteryEngine"),
    Registered("parametric", ("secrets",), "parametric.engine", "ParametricEngine"),
    Registered("logic", ("formula",), "logic.engine", "LogicEngine"),
    Registered("locations", ("location",), "locations.engine", "LocationEngine"),
    Registered("release-divergences", ("measured",), "releases.measured", "ReleaseDivergencesEngine"),
    Registered("divergences", ("measured",), "divergences.engine", "DivergencesEngine"),
    Registered("composition", ("composed",), "composition.engine", "CompositionEngine"),
    Registered("account", ("account",), "releases.accounts", "AccountEngine"),
    Registered("release", ("release",), "releases.engine", "ReleaseEngine"),
)
"""All engines; of those for one kind of question, the one to try first in front."""
