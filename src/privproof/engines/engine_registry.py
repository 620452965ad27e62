"""All engines: for each the questions that it is for, and where it is; none is loaded before it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from privproof.capabilities import Named, capabilities, load_named
from privproof.engines.engine_protocol import Engine


@dataclass(frozen=True)
class Registered:
    """An engine that can be loaded.

    Attributes:
        name: its name.
        families: the kinds of questions that it is for.
        maker: its class.
    """

    name: str
    families: tuple[str, ...]
    maker: Named

    def load(self) -> Engine:
        """The engine."""
        engine: Engine = load_named(self.maker)()
        return engine


ENGINES: tuple[Registered, ...] = tuple(
    Registered(*row) for each in sorted(capabilities(), key=lambda each: each.general) for row in each.engines
)
"""All engines; of those for one kind of question, the one to try first in front."""
