"""Leaks through floating point: what to say where the binary digits of an output tell data sets apart, and which draw is to blame.

A float x + noise is rounded to a grid that depends on x, and the noise itself comes from a generator with few outputs: so some sums occur
for one x only (Mironov 2012).  The ideal mechanism may be as private as it claims; the one that runs is not.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path
from typing import Any, Final

from privproof.audits.sampling.features import FloatBits
from privproof.audits.sampling.function_calls import FunctionCalls
from privproof.audits.sampling.output_events import Event, Having
from privproof.audits.sampling.runnable_functions import Runnable

_DRAWS: Final = frozenset(
    {
        "laplace",
        "normal",
        "gauss",
        "normalvariate",
        "standard_normal",
        "expovariate",
        "exponential",
        "standard_exponential",
        "gumbel",
        "logistic",
        "uniform",
        "random",
        "rvs",
        "lognormvariate",
        "triangular",
        "standard_t",
        "standard_cauchy",
    }
)
"""Names of calls that draw a float, in Python, numpy and scipy."""
_LISTED = 3
"""Draws that are named."""


def float_leak_notes(made: Runnable, event: Event) -> list[str]:
    """What to say about an event: nothing, unless it looks at the binary digits of floats."""
    if not isinstance(event, Having) or not isinstance(event.feature, FloatBits):
        return []
    drawn = float_draws(made.draw.function) if isinstance(made.draw, FunctionCalls) else []
    where = f": {', '.join(drawn[:_LISTED])}" if drawn else ""
    return [
        f"a leak through floating point: the binary digits of the output tell the data sets apart{where}. "
        "The ideal mechanism may keep its claim, what runs does not: draw whole numbers (a discrete Laplace or Gaussian), "
        "or round to a grid that does not depend on the data and is coarser than the noise's digits"
    ]


def float_draws(function: Any) -> list[str]:
    """The calls in a function's text that draw floats, with their lines; none where it cannot be read.

    >>> import random
    >>> def noisy(x):
    ...     return x + random.gauss(0, 1)
    >>> [found.rpartition(" ")[2] for found in float_draws(noisy)]
    ['random.gauss(...)']
    """
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return []
    name = Path(inspect.getsourcefile(inspect.unwrap(function)) or "").name
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _last_name(node.func) in _DRAWS]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return [f"{name}:{first + call.lineno - 1} {ast.unparse(call.func)}(...)" for call in calls]


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
