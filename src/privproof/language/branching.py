"""All ways through a mechanism whose continuous noise is left open: the function itself, run on linear forms (`scripts`).

The result is a finite tree: at its inner nodes a form is compared with zero (or discrete noise is drawn), at its leaves stands an output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from privproof.errors import LanguageError
from privproof.exact import Rational
from privproof.language.catching import watching_errors
from privproof.language.laws import WHOLE
from privproof.language.linear import Linear, noting_refusals
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import matching
from privproof.language.running import exact_run, recognised_noise
from privproof.language.scripts import Draw, Order, Runs, ScriptedDraw, Test, weight_of

_MOST = 100_000
"""The ways through a mechanism, unless the caller says otherwise; beyond, it is refused with a hint to take a smaller size."""


@dataclass(frozen=True)
class BranchLeaf:
    """One way through the mechanism.

    Attributes:
        noises: the noises left open, in the order they were drawn.
        steps: the comparisons and the discrete noise on the way.
        output: what was returned, or the list of what was yielded: forms and constants; None where the run was left early.
        complete: whether the run came to its end.
    """

    noises: tuple[ScriptedDraw, ...]
    steps: tuple[Test | Draw, ...]
    output: Any
    complete: bool = True

    @property
    def tests(self) -> tuple[Test, ...]:
        """The comparisons on the way."""
        return tuple(step for step in self.steps if isinstance(step, Test))

    def within(self, pattern: Any) -> list[Linear] | None:
        """When the output lies in a pattern: the forms that must not be negative; None if it never does."""
        return matching(pattern, self.output, discrete=any(noise.kind in WHOLE for noise in self.noises))

    @property
    def weight(self) -> Rational:
        """The probability of the discrete noise on the way."""
        return weight_of(self.steps)


Follow: TypeAlias = Callable[[Sequence[Any]], bool]
"""Whether a run is still of interest after the outputs so far."""


class _Left(BaseException):
    """The run is of no further interest."""


def leaves(
    mechanism: Mechanism,
    arguments: Mapping[str, Any],
    *,
    follow: Follow | None = None,
    most: int = _MOST,
    pause: Callable[[], None] = lambda: None,
) -> tuple[BranchLeaf, ...]:
    """All ways through a mechanism on its arguments; numbers among these may be forms.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        follow: for a generator: whether to go on after the outputs so far; a run that is left is a leaf that is not complete.
        most: how many ways there may be.
        pause: called between runs; may raise to stop.

    Raises:
        LanguageError: something is done with noise that is no linear form, or there are too many ways.

    >>> from privproof.language import laplace, mechanism, real
    >>> @mechanism
    ... def positive(x: real()):
    ...     return laplace(x, scale=2) > 0
    >>> [(leaf.tests[0].halfspace, leaf.output) for leaf in leaves(positive, {"x": 3})]
    [(x0 + 3, True), (-x0 - 3, False)]
    """
    found: list[BranchLeaf] = []
    ways = Ways(mechanism, arguments, follow=follow, pause=pause)
    with recognised_noise(mechanism):  # once for all runs
        for leaf in ways:
            found.append(leaf)
            if len(found) + ways.waiting > most:
                raise LanguageError(
                    "paths", f"there are more than {most} ways through it", place=mechanism.place, hint="a smaller size"
                )
    return tuple(found)


_CATCHES = re.compile(r"\b(except|with)\b")
"""A text that has one of these words may catch errors."""


def _doubt(error: BaseException, mechanism: Mechanism) -> LanguageError:
    """The refusal of an error that the function catches, and that a number may not make which is drawn."""
    told = f"it catches {type(error).__name__}: {error}, which noise that is left open may make alone"
    return LanguageError("noise", told, place=mechanism.place, hint="test the number before it is used")


class Ways(Iterator[BranchLeaf]):
    """The ways through a mechanism, one after the other.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name; numbers among these may be forms.
        follow: for a generator: whether to go on after the outputs so far.
        failing: whether a run that fails is a leaf that is not complete, and no error.
        order: which way comes next.
        pause: called before every run; may raise to stop.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        arguments: Mapping[str, Any],
        *,
        follow: Follow | None = None,
        failing: bool = False,
        order: Order = "first",
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        def watch(written: Sequence[Any]) -> None:
            if follow is not None and not follow(written):
                raise _Left

        def call() -> tuple[Any, bool]:
            pause()
            with noting_refusals() as refused:

                def doubted(error: BaseException) -> None:
                    if isinstance(error, TypeError | AttributeError):
                        refused.append(_doubt(error, mechanism))

                try:
                    with watching_errors(doubted) if catches else nullcontext():
                        found = exact_run(mechanism, arguments, watch), True
                except _Left:
                    found = None, False
                except LanguageError as problem:
                    if not failing or problem.code != "run":
                        raise
                    found = None, False
            if refused:  # and the function caught it
                raise refused[0]
            return found

        catches = any(_CATCHES.search(function.text) for function in mechanism.program.functions)

        self._runs = Runs(call, order=order, open_noise=True)

    @property
    def waiting(self) -> int:
        """How many ways have begun and were not gone."""
        return self._runs.waiting

    def __next__(self) -> BranchLeaf:
        run = next(self._runs)
        assert run.result is not None
        output, complete = run.result
        return BranchLeaf(run.noises, run.steps, output, complete)
