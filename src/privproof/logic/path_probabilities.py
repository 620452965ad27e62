"""Path formulas in a small normal form, and their progression (Bacchus and Kabanza).

The leaves of a path formula are state formulas; of the operators only negation, conjunction, disjunction, next and (bounded) until
are left.  Nodes are tuples, so that equal formulas are equal keys:

    ("leaf", i)   ("true",)   ("false",)   ("not", f)   ("and", f, ...)   ("or", f, ...)
    ("X", f, k)                     f after k steps, k >= 1
    ("U", f, g, low, high)          f until g, g between the steps low and high (None: no end)

`progress` says what must hold from the next state on, given the truth of the leaves in the present one.  A formula is *clocked*
where it has a next or a bounded until outside every unbounded one: progressing such a formula makes it simpler, and after finitely
many steps nothing is clocked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from privproof.errors import FormulaError
from privproof.logic.exact_solving import TooLarge
from privproof.logic.formulas import (
    And,
    Formula,
    FormulaFamily,
    Iff,
    Implies,
    NextState,
    Not,
    Or,
    StepBound,
    Truth,
    Unary,
    Until,
)
from privproof.logic.formulas.sublogics import is_state_formula

Path: TypeAlias = "tuple[Any, ...]"

_MOST_CONJUNCTIONS = 200
"""Conjunctions of a formula in disjunctive form; with more of them it is not simplified this way."""
MOST_STEPS = 120
"""So many steps a bounded operator inside an unbounded one may have."""

TRUE: Path = ("true",)
FALSE: Path = ("false",)


def normal(formula: Formula, leaf: Callable[[Formula], int]) -> Path:
    """The normal form of a path formula; `leaf` numbers its state formulas."""
    if isinstance(formula, Truth):
        return TRUE if formula.value else FALSE
    if is_state_formula(formula):
        return ("leaf", leaf(formula))
    if isinstance(formula, Not):
        return negation(normal(formula.inner, leaf))
    if isinstance(formula, And | Or):
        parts = [normal(part, leaf) for part in formula.parts]
        return conjunction(parts) if isinstance(formula, And) else disjunction(parts)
    if isinstance(formula, FormulaFamily):
        parts = [normal(part, leaf) for part in formula.instances()]
        return conjunction(parts) if formula.quantifier == "all" else disjunction(parts)
    if isinstance(formula, Implies | Iff):
        left, right = normal(formula.left, leaf), normal(formula.right, leaf)
        forth = disjunction([negation(left), right])
        return forth if isinstance(formula, Implies) else conjunction([forth, disjunction([left, negation(right)])])
    if isinstance(formula, NextState):
        times = formula.times.constant
        if times < 0:
            raise FormulaError("formula", f"{formula} looks {-times} steps back", place="formula")
        return after(normal(formula.inner, leaf), times)
    if isinstance(formula, Unary):
        inner = normal(formula.inner, leaf)
        if formula.operator == "F":
            return until(TRUE, inner, formula.bound)
        return negation(until(TRUE, negation(inner), formula.bound))
    assert isinstance(formula, Until)
    left, right = normal(formula.left, leaf), normal(formula.right, leaf)
    if formula.operator == "U":
        return until(left, right, formula.bound)
    if formula.operator == "R":
        return negation(until(negation(left), negation(right), formula.bound))
    fails = conjunction([negation(left), negation(right)])
    return negation(until(negation(right), fails, formula.bound))


def negation(inner: Path) -> Path:
    """Not f."""
    if inner == TRUE:
        return FALSE
    if inner == FALSE:
        return TRUE
    if inner[0] == "X":
        return ("X", negation(inner[1]), inner[2])
    return inner[1] if inner[0] == "not" else ("not", inner)


def conjunction(parts: Iterable[Path]) -> Path:
    """The conjunction, flat, without repetitions, in one order."""
    return _join_formulas("and", parts, unit=TRUE, zero=FALSE)


def disjunction(parts: Iterable[Path]) -> Path:
    """The disjunction, flat, without repetitions, in one order."""
    return _join_formulas("or", parts, unit=FALSE, zero=TRUE)


def _join_formulas(sign: str, parts: Iterable[Path], *, unit: Path, zero: Path) -> Path:
    kept: dict[Path, None] = {}
    for part in parts:
        for inner in part[1:] if part[0] == sign else (part,):
            if inner == zero or negation(inner) in kept:
                return zero
            if inner != unit:
                kept[inner] = None
    dual = "or" if sign == "and" else "and"
    # absorption: f & (f | g) is f
    for compound in [p for p in kept if p[0] == dual]:
        if any(inner in kept for inner in compound[1:]):
            del kept[compound]
    if not kept:
        return unit
    if len(kept) == 1:
        return next(iter(kept))
    return (sign, *sorted(kept, key=repr))


def after(inner: Path, times: int) -> Path:
    """X^times f."""
    if times == 0 or inner in (TRUE, FALSE):
        return inner
    return ("X", inner[1], inner[2] + times) if inner[0] == "X" else ("X", inner, times)


def until(left: Path, right: Path, bound: StepBound) -> Path:
    """f until g within the bound."""
    high = None if bound.high is None else bound.high.constant
    return _until(left, right, max(0, bound.low.constant), high)


def _until(left: Path, right: Path, low: int, high: int | None) -> Path:
    if right == FALSE or (high is not None and high < low):
        return FALSE
    if low == 0 and (right == TRUE or high == 0 or left == FALSE):
        return right
    if left == TRUE and low > 0:
        return after(_until(TRUE, right, 0, None if high is None else high - low), low)
    if left == TRUE and right[0] == "X":
        return after(_until(TRUE, right[1], 0, high), right[2])
    if low > 0 and high is None:
        return ("U", left, _until(left, right, 0, None), low, low)
    return ("U", left, right, low, high)


def progress(path: Path, truth: Sequence[bool]) -> Path:
    """What must hold from the next state on, where the leaves have this truth now.

    >>> progress(("U", ("leaf", 0), ("leaf", 1), 0, 5), [True, False])
    ('U', ('leaf', 0), ('leaf', 1), 0, 4)
    """
    known: dict[Path, Path] = {}

    def step(f: Path) -> Path:
        found = known.get(f)
        if found is not None:
            return found
        match f[0]:
            case "leaf":
                result = TRUE if truth[f[1]] else FALSE
            case "true" | "false":
                result = f
            case "not":
                result = negation(step(f[1]))
            case "and":
                result = conjunction(map(step, f[1:]))
            case "or":
                result = disjunction(map(step, f[1:]))
            case "X":
                result = after(f[1], f[2] - 1)
            case _:
                _, left, right, low, high = f
                later = None if high is None else high - 1
                if low > 0:
                    result = conjunction([step(left), _until(left, right, low - 1, later)])
                else:
                    result = disjunction([step(right), conjunction([step(left), _until(left, right, 0, later)])])
        known[f] = result
        return result

    return canonical(step(path))


def canonical(path: Path) -> Path:
    """The formula as a disjunction of conjunctions of leaves, nexts, untils and their negations, each only as strong as it need be.

    Of untils with the same arguments, one that ends sooner implies one that ends later: a conjunction keeps the strongest, and a
    conjunction that implies another is dropped.  So from one formula only finitely many arise by progression.  Where there would
    be very many conjunctions, the formula is left as it is.

    >>> canonical(("or", ("U", ("true",), ("leaf", 0), 0, 3), ("U", ("true",), ("leaf", 0), 0, 5)))
    ('U', ('true',), ('leaf', 0), 0, 5)
    """
    if path[0] not in ("and", "or", "not"):
        return path
    found = _conjunctions(path, positive=True)
    if found is None:
        return path
    return disjunction(conjunction(sorted(atoms, key=repr)) for atoms in found)


def _conjunctions(path: Path, *, positive: bool) -> set[frozenset[Path]] | None:
    """The minimal conjunctions of a formula, or of its negation; None where there are too many."""
    if path[0] == "not":
        return _conjunctions(path[1], positive=not positive)
    if path[0] in ("true", "false"):
        return {frozenset()} if (path[0] == "true") == positive else set()
    if path[0] not in ("and", "or"):
        return {frozenset([path if positive else negation(path)])}
    result: set[frozenset[Path]] = {frozenset()} if (path[0] == "and") == positive else set()
    every = (path[0] == "and") == positive
    for part in path[1:]:
        found = _conjunctions(part, positive=positive)
        if found is None:
            return None
        if every:
            joined = {_strongest(one | other) for one in result for other in found}
            result = {atoms for atoms in joined if atoms is not None}
        else:
            result = result | found
        if len(result) > _MOST_CONJUNCTIONS:
            return None
        result = _weakest(result)
    return result


def _strongest(atoms: frozenset[Path]) -> frozenset[Path] | None:
    """A conjunction without what the rest of it implies; None where it contradicts itself."""
    if any(negation(atom) in atoms for atom in atoms):
        return None
    return frozenset(a for a in atoms if not any(b != a and _implies(b, a) for b in atoms))


def _weakest(found: set[frozenset[Path]]) -> set[frozenset[Path]]:
    """Conjunctions without those that imply another."""
    kept: list[frozenset[Path]] = []
    for atoms in sorted(found, key=len):
        if not any(all(any(_implies(b, a) for b in atoms) for a in other) for other in kept):
            kept = [o for o in kept if not all(any(_implies(b, a) for b in o) for a in atoms)] + [atoms]
    return set(kept)


def _implies(one: Path, other: Path) -> bool:
    """Whether an atom implies another, as far as that is seen at once."""
    if one == other:
        return True
    if one[0] == "not" and other[0] == "not":
        return _implies(other[1], one[1])
    if one[0] == other[0] == "U" and one[1:3] == other[1:3] and one[3] == other[3] == 0:
        return other[4] is None or (one[4] is not None and one[4] <= other[4])
    return False


def is_clocked(path: Path) -> bool:
    """Whether a next or a bounded until stands outside every unbounded until."""
    waiting = [path]
    while waiting:
        f = waiting.pop()
        if f[0] == "X" or (f[0] == "U" and (f[3] > 0 or f[4] is not None)):
            return True
        if f[0] in ("not", "and", "or"):
            waiting.extend(f[1:])
    return False


def plain(path: Path) -> bool:
    """Whether a formula is an until between state formulas, from the first step on."""
    return bool(path[0] == "U" and path[3] == 0 and all(part[0] in ("leaf", "true") for part in path[1:3]))


def unbounded_untils(path: Path) -> list[Path]:
    """The unbounded untils that stand inside no other."""
    found: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        f = waiting.pop()
        if f[0] == "U" and f[3] == 0 and f[4] is None:
            found[f] = None
        elif f[0] != "leaf":
            waiting.extend(part for part in f[1:] if isinstance(part, tuple))
    return list(found)


def replace_subformulas(path: Path, by: dict[Path, Path]) -> Path:
    """The formula with subformulas replaced."""
    if path in by:
        return by[path]
    match path[0]:
        case "not":
            return negation(replace_subformulas(path[1], by))
        case "and":
            return conjunction(replace_subformulas(part, by) for part in path[1:])
        case "or":
            return disjunction(replace_subformulas(part, by) for part in path[1:])
        case "X":
            return after(replace_subformulas(path[1], by), path[2])
        case "U":
            return _until(replace_subformulas(path[1], by), replace_subformulas(path[2], by), *path[3:])
    return path


def leaves(path: Path) -> list[int]:
    """The leaves of a formula, ascending."""
    found: set[int] = set()
    waiting = [path]
    while waiting:
        f = waiting.pop()
        if f[0] == "leaf":
            found.add(f[1])
        elif f[0] == "X":
            waiting.append(f[1])
        elif f[0] == "U":
            waiting.extend(f[1:3])
        else:
            waiting.extend(f[1:])
    return sorted(found)


def horizon(path: Path) -> int | None:
    """After how many steps the formula is decided on every path; None where there is no such number."""
    if path[0] in ("leaf", "true", "false"):
        return 0
    if path[0] == "X":
        inner = horizon(path[1])
        return None if inner is None else inner + path[2]
    if path[0] == "U":
        inners = [horizon(part) for part in path[1:3]]
        if path[4] is None or None in inners:
            return None
        return int(path[4]) + max(inner for inner in inners if inner is not None)
    found = [horizon(part) for part in path[1:]]
    return None if None in found else max(inner for inner in found if inner is not None)


def cosafe(path: Path, *, positive: bool = True) -> bool:
    """Whether every path that satisfies the formula does so after finitely many steps (syntactically co-safe)."""
    if path[0] in ("leaf", "true", "false"):
        return True
    if path[0] == "not":
        return cosafe(path[1], positive=not positive)
    if path[0] == "U" and path[4] is None and not positive:
        return False
    parts = path[1:2] if path[0] == "X" else path[1:3] if path[0] == "U" else path[1:]
    return all(cosafe(part, positive=positive) for part in parts)


def unfold_untils(path: Path) -> Path:
    """The formula with bounded untils written by nexts of one step: ``f U<=k g = g | (f & X (f U<=(k-1) g))``.

    Raises:
        TooLarge: there are too many steps.
    """
    known: dict[Path, Path] = {}

    def unfold(f: Path) -> Path:
        if f in known:
            return known[f]
        match f[0]:
            case "leaf" | "true" | "false":
                result = f
            case "not":
                result = negation(unfold(f[1]))
            case "and":
                result = conjunction(map(unfold, f[1:]))
            case "or":
                result = disjunction(map(unfold, f[1:]))
            case "X":
                result = unfold(f[1])
                for _ in range(_few(f[2])):
                    result = ("X", result, 1)
            case _:
                _, left, right, low, high = f
                left, right = unfold(left), unfold(right)
                result = ("U", left, right, 0, None) if high is None else right
                for _ in range(0 if high is None else _few(high) - low):
                    result = disjunction([right, conjunction([left, ("X", result, 1)])])
                for _ in range(_few(low)):
                    result = conjunction([left, ("X", result, 1)])
        known[f] = result
        return result

    return unfold(path)


def _few(steps: int) -> int:
    if steps > MOST_STEPS:
        raise TooLarge(f"a bound of {steps} steps inside an unbounded operator is beyond {MOST_STEPS}")
    return steps
