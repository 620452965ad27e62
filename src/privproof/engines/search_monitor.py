"""How a search is watched and stopped: progress events, a time limit, an interrupt; what is established so far is never lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from privproof.exact import Epsilon
from privproof.exact.patience import OUT_OF_TIME
from privproof.exact.patience import Stopped as Stopped
from privproof.memory import MemoryGrowth

GRACE = 0.1
"""Of a time limit, in which what was found by then may be confirmed: half of the fifth within which limits are kept."""


@dataclass(frozen=True)
class Progress:
    """One event: what is being done, how far (level, kept vectors), and the bounds on the ratio known so far.

    Attributes:
        stage: what is being done.
        level: the length of the words that were looked at.
        kept: how many vectors were kept.
        lower: a ratio that was seen, in words.
        upper: a ratio that is hoped for, in words.
        established: the tight epsilon is at least this, because something that was seen attains it; None where nothing was.
    """

    stage: str
    level: int = 0
    kept: int = 0
    lower: str = ""
    upper: str = ""
    established: Epsilon | None = None

    def __str__(self) -> str:
        parts = [self.stage]
        parts += [f"length {self.level}"] if self.level else []
        parts += [f"{self.kept} vectors kept"] if self.kept else []
        parts += [f"ratio at least {self.lower}"] if self.lower else []
        parts += [f"at most {self.upper}"] if self.upper else []
        return ", ".join(parts)


@dataclass
class Monitor:
    """Handed to every search.

    Attributes:
        listen: called with every progress event.
        deadline: when to stop, on the clock of `time.monotonic`; None for never.
        interrupted: set (by a signal handler) to stop at the next opportunity.
        grace: seconds beyond the deadline in which what was found by then may be confirmed.
        growth: the memory that was taken since the monitor was made; beyond the limit the search stops.
    """

    listen: Callable[[Progress], None] = field(default=lambda _: None)
    deadline: float | None = None
    interrupted: bool = False
    grace: float = 0.0
    growth: MemoryGrowth = field(default_factory=MemoryGrowth)

    @classmethod
    def within(cls, seconds: float | None) -> Monitor:
        """A monitor that stops after so many seconds from now, and leaves a tenth more for confirming; None for never.

        >>> Monitor.within(None).deadline is None, Monitor.within(20).grace
        (True, 2.0)
        """
        if seconds is None:
            return cls()
        return cls(deadline=time.monotonic() + seconds, grace=GRACE * seconds)

    def pause(self) -> None:
        """An opportunity to stop: raises `Stopped` where the search has to."""
        why = self.stopped()
        if why is not None:
            raise Stopped(why)

    def stopped(self) -> str | None:
        """Why the search has to stop now, or None."""
        if self.interrupted:
            return "interrupted"
        if self.deadline is not None and time.monotonic() > self.deadline:
            return OUT_OF_TIME
        return self.growth.beyond()


class SearchAllowance(Monitor):
    """A monitor for a part of a search that is worth so many steps and no more; everything else it asks its parent.

    >>> part = SearchAllowance(Monitor(), 1)
    >>> part.pause()
    >>> part.stopped() is None
    True
    >>> part.pause()
    Traceback (most recent call last):
    ...
    privproof.exact.patience.Stopped: enough was tried
    """

    def __init__(self, parent: Monitor, steps: int) -> None:
        super().__init__(parent.listen, parent.deadline)
        self.parent, self.left = parent, steps

    def pause(self) -> None:
        """An opportunity to stop, and one step."""
        self.left -= 1
        super().pause()

    def stopped(self) -> str | None:
        """Why the part has to stop now, or None."""
        return self.parent.stopped() or ("enough was tried" if self.left < 0 else None)


class Timed(Monitor):
    """A monitor for a part of a search that may take so many seconds and no more; an interrupt of its parent stops it, too.

    >>> Timed(Monitor(), -1.0).stopped()
    'out of time'
    """

    def __init__(self, parent: Monitor, seconds: float) -> None:
        ends = time.monotonic() + seconds
        super().__init__(parent.listen, ends, growth=parent.growth)
        self.parent = parent

    def stopped(self) -> str | None:
        """Why the part has to stop now, or None."""
        return "interrupted" if self.parent.interrupted else super().stopped()
