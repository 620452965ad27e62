"""Solvers for nonlinear real arithmetic, where boxes do not close: they may refute, and their "no" is an opinion.

A condition left open is handed over as SMT-LIB text: is there a point of the region at which both secrets are possible and
``F < 0``?  Values that a solver returns are checked exactly by the caller, so they count; that a solver finds none comes
without a certificate and is reported as a note.  Z3 (nlsat) is asked through `words.solver`, in its own resource units;
cvc5 in a child process with its resource limit, since its time limits are not kept inside nonlinear arithmetic.
Both are optional.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from privproof.engines.words import word_solver as solver
from privproof.errors import PrivproofError
from privproof.exact import Rational, rational
from privproof.exact.patience import seconds_left
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion

_Z3_EFFORT = 20_000_000
"""Z3's resource limit, some seconds; it counts steps, so that a loaded machine gives the same answer."""
_CVC5_EFFORT = 2_000_000
"""The same for cvc5, which counts other steps."""
_CVC5_SECONDS = 20
"""Seconds after which cvc5 is ended, whatever its resource limit says."""

_CHILD = """
import json, sys
import cvc5
script, names, effort = json.load(sys.stdin)
terms = cvc5.TermManager()
solver = cvc5.Solver(terms)
solver.setOption("produce-models", "true")
solver.setOption("rlimit", str(effort))
parser = cvc5.InputParser(solver)
parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "condition")
symbols = parser.getSymbolManager()
while True:
    command = parser.nextCommand()
    if command.isNull():
        break
    command.invoke(solver, symbols)
result = solver.checkSat()
verdict = "sat" if result.isSat() else "unsat" if result.isUnsat() else "unknown"
values = None
if verdict == "sat":
    declared = {str(term): term for term in symbols.getDeclaredTerms()}
    found = {name: solver.getValue(declared[name]) for name in names}
    if all(value.isRealValue() for value in found.values()):
        values = {name: str(value.getRealValue()) for name, value in found.items()}
print(json.dumps([verdict, values]))
"""


@dataclass(frozen=True)
class Opinion:
    """What a solver said: sat with values to be checked, unsat, or unknown."""

    solver: str
    verdict: str
    values: dict[str, Rational] | None = None


def opinions(difference: Polynomial, scale: Polynomial, region: ParameterRegion) -> Iterator[Opinion]:
    """What the installed solvers say about ``difference < 0`` in a region where the scale is positive, one after the other."""
    text = script(difference, scale, region)
    if importlib.util.find_spec("z3") is not None:
        yield _z3(text, region.names)
    if importlib.util.find_spec("cvc5") is not None:
        yield _cvc5(text, region.names)


def script(difference: Polynomial, scale: Polynomial, region: ParameterRegion) -> str:
    """The question as SMT-LIB text.

    >>> region = ParameterRegion.of({"p": "0 < p <= 1"})
    >>> print(script(Polynomial.of("p - 1/2", ("p",)), Polynomial.constant(1, ("p",)), region))
    (set-logic QF_NRA)
    (declare-const |p| Real)
    (assert (< 0 |p|))
    (assert (<= |p| 1))
    (assert (< (+ (* 1 |p|) (- (/ 1 2))) 0))
    (assert (> 1 0))
    """
    lines = ["(set-logic QF_NRA)", *(f"(declare-const |{name}| Real)" for name in region.names)]
    for name, interval in zip(region.names, region.box, strict=True):
        lines.append(f"(assert ({'<' if interval.low_open else '<='} {_number(interval.low)} |{name}|))")
        lines.append(f"(assert ({'<' if interval.high_open else '<='} |{name}| {_number(interval.high)}))")
    lines += [f"(assert ({'>' if each.strict else '>='} {_sum(each.expression)} 0))" for each in region.constraints]
    lines.append(f"(assert (< {_sum(difference)} 0))")
    lines.append(f"(assert (> {_sum(scale)} 0))")
    return "\n".join(lines)


def _sum(polynomial: Polynomial) -> str:
    terms = []
    for exponents, value in polynomial.terms.items():
        variables = [f"|{n}|" for n, e in zip(polynomial.names, exponents, strict=True) for _ in range(e)]
        terms.append(f"(* {_number(value)} {' '.join(variables)})" if variables else _number(value))
    if len(terms) < 2:
        return terms[0] if terms else "0"
    return f"(+ {' '.join(terms)})"


def _number(value: Rational) -> str:
    size = str(abs(value.p)) if value.q == 1 else f"(/ {abs(value.p)} {value.q})"
    return f"(- {size})" if value < 0 else size


def _z3(text: str, names: Sequence[str]) -> Opinion:
    try:
        answer = solver.check(text, effort=_Z3_EFFORT, reals=names, logic="QF_NRA")
    except AttributeError:
        # A value is algebraic and not rational.
        return Opinion("Z3", "sat")
    except PrivproofError:
        return Opinion("Z3", "unknown")
    values = {name: rational(value) for name, value in answer.values.items()}
    return Opinion("Z3", answer.verdict, values if answer.verdict == "sat" else None)


def _cvc5(text: str, names: Sequence[str]) -> Opinion:
    try:
        child = subprocess.run(
            [sys.executable, "-c", _CHILD],
            input=json.dumps([text, list(names), _CVC5_EFFORT]),
            capture_output=True,
            text=True,
            timeout=min(_CVC5_SECONDS, seconds_left()),
            check=True,
        )
        verdict, values = json.loads(child.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return Opinion("cvc5", "unknown")
    return Opinion("cvc5", verdict, _exact(values))


def _exact(values: Mapping[str, str] | None) -> dict[str, Rational] | None:
    return None if values is None else {name: rational(value) for name, value in values.items()}
