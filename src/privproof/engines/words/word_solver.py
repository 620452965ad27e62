"""The door to Z3 for scripts: SMT-LIB text in, a verdict and the values of the named variables out.

Z3 is not typed, so nothing of it leaves this module, and it is optional, so it is imported only when a script is
checked.  A check is deterministic: a fresh context, one thread, a fixed seed, and an effort counted in Z3's own
resource units instead of seconds, so that a loaded machine gives the same verdict.
"""

from __future__ import annotations

import signal
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, TypeAlias

from privproof.errors import QuestionError
from privproof.exact import Rational, rational
from privproof.exact.patience import seconds_left

Verdict: TypeAlias = Literal["sat", "unsat", "unknown"]

_NEVER = 4_000_000.0
"""Seconds, 46 days, for Z3 where there is no limit: one with a limit, however far, may search in another order than one without."""
_SEED = 0
"""Fixed, so that the same script gets the same answer."""
_LARGEST_EFFORT = 2**32 - 1
"""The largest limit on resources that Z3 takes, an unsigned number of 32 bits."""


@dataclass(frozen=True)
class SolverAnswer:
    """What the solver said about a script.

    Attributes:
        verdict: sat, unsat, or unknown when the effort did not suffice.
        values: for sat, the value of every variable that was asked for.
        reason: for unknown, the solver's reason.
        effort: how many resource units the check has used.
    """

    verdict: Verdict
    values: Mapping[str, bool | Rational] = field(default_factory=dict)
    reason: str = ""
    effort: int = 0


def check(
    script: str,
    *,
    effort: int,
    booleans: Collection[str] = (),
    reals: Collection[str] = (),
    logic: str = "QF_LRA",
) -> SolverAnswer:
    """Whether a script is satisfiable, with the values of the named variables if so.

    Args:
        script: SMT-LIB text: declarations and assertions (a `check-sat` in it is ignored).
        effort: the largest number of resource units (Z3's `rlimit`) that the check may use.
        booleans: the Boolean variables whose values are wanted.
        reals: the real variables whose values are wanted; their values must be rational.
        logic: the logic that chooses the solver's strategy.

    Raises:
        QuestionError: Z3 is not installed, or the effort is out of range.

    >>> found = check("(declare-const x Real) (assert (= (* 3 x) 1))", effort=100_000, reals=["x"])
    >>> found.verdict, found.values["x"]
    ('sat', 1/3)
    """
    if not 0 < effort <= _LARGEST_EFFORT:
        raise QuestionError(
            "engine", f"effort={effort} is outside 1..{_LARGEST_EFFORT}", place="effort", hint="leave the effort out"
        )
    z3 = _z3()
    context = z3.Context()
    solver = z3.SolverFor(logic, ctx=context)
    solver.set("random_seed", _SEED)
    solver.set("threads", 1)
    solver.set("rlimit", effort)
    solver.from_string(script)
    solver.set("timeout", ceil(1000 * min(seconds_left(), _NEVER)))
    outcome = solver.check()
    used = _resources_used(solver)
    if outcome == z3.unsat:
        return SolverAnswer("unsat", effort=used)
    if outcome == z3.unknown:
        reason = str(solver.reason_unknown())
        if "interrupted" in reason:
            # Z3 has caught the interrupt to stop promptly; hand it on to Python's own handler.
            signal.raise_signal(signal.SIGINT)
        return SolverAnswer("unknown", reason=reason, effort=used)
    model = solver.model()
    values: dict[str, bool | Rational] = {}
    for name in booleans:
        values[name] = bool(z3.is_true(model.eval(z3.Bool(name, context), model_completion=True)))
    for name in reals:
        values[name] = _rational(model.eval(z3.Real(name, context), model_completion=True))
    return SolverAnswer("sat", values, effort=used)


def _rational(value: Any) -> Rational:
    return rational(value.numerator_as_long()) / rational(value.denominator_as_long())


def _resources_used(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


def _z3() -> Any:
    try:
        import z3
    except ImportError:
        raise QuestionError(
            "engine",
            "the engine smt needs the solver Z3, which is not installed",
            place="engine",
            hint="pip install z3-solver",
        ) from None
    return z3
