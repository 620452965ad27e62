"""Privacy in tests: `assert_private` fails where a claim is not proved, with what the command would say.

Nothing heavy is loaded before something is checked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privproof.evidence.verdicts import Verdict
    from privproof.exact import EpsilonLike, Number
    from privproof.exact.measures import Orders
    from privproof.language.inputs import Input
    from privproof.language.mechanism import Relation
    from privproof.models import Horizon

_PATIENCE = 60.0
"""Seconds that one check may take unless told otherwise: a test that others wait for should end."""
_listening: ContextVar[Callable[[Verdict, Any], None] | None] = ContextVar("listening", default=None)


class NotPrivate(AssertionError):
    """A claim that is refuted, or of which it is not known whether it holds.

    Attributes:
        verdict: the verdict.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"\n{verdict}")
        self.verdict = verdict


def assert_private(
    subject: Any,
    epsilon: EpsilonLike | None = None,
    delta: Number = 0,
    *,
    size: int | None = None,
    horizon: Horizon | None = None,
    rho: EpsilonLike | None = None,
    mu: EpsilonLike | None = None,
    renyi: Orders | None = None,
    engine: str | None = None,
    inputs: Mapping[str, Input] | None = None,
    neighbours: Relation | None = None,
    time_limit: float | None = _PATIENCE,
    allow_unknown: bool = False,
    keep: bool = True,
    **named: Input,
) -> Verdict:
    """Check that a mechanism is private within a budget, and fail where that is not proved.

    Args:
        subject: a mechanism, a function, a question, or the name of a file: ``FILE`` or ``FILE:NAME``.
        epsilon: the budget's epsilon; without it the mechanism's own claim counts.
        delta: the budget's delta.
        size: the length of the mechanism's lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, or a model: the lengths compared.
        rho: instead of epsilon: the rho of zCDP.
        mu: instead of epsilon: the mu of Gaussian differential privacy.
        renyi: instead of epsilon: bounds on Rényi divergences by order.
        engine: the engine to use.
        inputs: for a function what its parameters may be, where its annotations do not say it.
        neighbours: for a function which data sets are neighbours.
        time_limit: stop after so many seconds; None for no limit.
        allow_unknown: whether it is enough that the claim is not refuted.
        keep: whether the verdict is kept for the next run, and one of an earlier run is taken, its certificate checked again.
        named: the same as `inputs`, by name.

    Returns:
        The verdict.

    Raises:
        NotPrivate: the claim is refuted; or neither proved nor refuted, unless that is allowed.

    >>> from privproof import records, bernoulli
    >>> def coin(data):
    ...     return data[0] if bernoulli("3/4") else 1 - data[0]
    >>> assert_private(coin, "ln(3)", data=records(0, 1, size=1)).status
    'proved'
    """
    __tracebackhide__ = True
    from privproof.asking import check, question_of_subject, question_with_claim
    from privproof.engines import Monitor
    from privproof.exact.measures import measured_budgets
    from privproof.exact.patience import watch_computation
    from privproof.store.stored_asking import ask_once
    from privproof.store.stored_verdicts import VerdictStore, default_path

    watch = Monitor.within(time_limit)
    with watch_computation(watch):
        question = question_of_subject(subject, size, horizon, {**(inputs or {}), **named}, neighbours, engine)
    question = question_with_claim(question, epsilon, delta, measured_budgets(rho, mu, renyi))

    def ask() -> Verdict:
        return check(question, engine=engine, time_limit=time_limit)

    path = default_path() if keep else None
    if path is None:
        verdict = ask()
    else:
        verdict, _ = ask_once(question, ask, VerdictStore(path), engine=engine, limit=time_limit, monitor=watch)
    listener = _listening.get()
    if listener is not None:
        listener(verdict, subject)
    if verdict.status == "refuted" or (verdict.status == "unknown" and not allow_unknown):
        raise NotPrivate(verdict)
    return verdict


@contextmanager
def listen_to_verdicts(hear: Callable[[Verdict, Any], None]) -> Iterator[None]:
    """Let something hear of every verdict that is given inside."""
    token = _listening.set(hear)
    try:
        yield
    finally:
        _listening.reset(token)


def told_result(verdict: Verdict, subject: Any, name: str) -> dict[str, Any]:
    """A verdict as plain data that a page is made from: what, where, and what is said about it."""
    function = inspect.unwrap(getattr(subject, "function", subject)) if callable(subject) else None
    code = getattr(function, "__code__", None)
    observed = None if verdict.witness is None else verdict.witness.observed
    return {
        "text": name,
        "file": "" if code is None else str(Path(code.co_filename)),
        "name": verdict.question.name,
        "line": getattr(observed, "number", 0) or (1 if code is None else code.co_firstlineno),
        "outcome": verdict.status,
        "said": str(verdict),
        "seconds": verdict.seconds,
    }
