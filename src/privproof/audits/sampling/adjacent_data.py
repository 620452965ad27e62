"""Two neighbouring data sets, and the definition of neighbours.

What is public is equal on both sides; the private inputs together are one data set, and the *relation* says by how much it may
differ.  A test by sampling refutes a claim only between data sets that it looks at, and a loss between data sets that are no
neighbours would refute nothing: whatever proposes a pair, `is_adjacent` has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privproof.errors import LanguageError
from privproof.exact import fraction
from privproof.language.inputs import NORMS, Input, is_near
from privproof.language.mechanism import Relation, related_by

_RELATIONS = ("each", "one", "monotone", "add-remove", *NORMS)


@dataclass(frozen=True)
class Adjacent:
    """Two neighbouring data sets.

    Attributes:
        left: the arguments on one side, by name: whole numbers, fractions, texts, ...; a list for a list or a stream.
        right: the arguments on the other side.

    >>> Adjacent({"q": [0, 0, 1]}, {"q": [1, 1, 1]}).size
    3
    """

    left: Mapping[str, Any]
    right: Mapping[str, Any]

    @property
    def size(self) -> int | None:
        """The length of the longest list or stream on the left; None if there is none."""
        return max((len(value) for value in self.left.values() if isinstance(value, list)), default=None)


def is_adjacent(pair: Adjacent, inputs: Mapping[str, Input], relation: Relation) -> bool:
    """Whether two data sets are values of the inputs, and neighbours.

    What is public is equal on both sides.  The private inputs together are one data set:

    * ``each``: some values differ, each by at most its sensitivity (a record in any way);
    * ``one``: exactly one value differs, by at most its sensitivity (a record in any way);
    * ``monotone``: some values differ, each by at most its sensitivity, all in one direction; a record has none, so it is refused;
    * ``add-remove``: one list has one record more on one side, somewhere, and is otherwise the same;
    * ``l1``, ``l2``: some values differ, together by at most the sensitivity in this norm;
    * a function: the data sets differ, and it says so of them in one order or the other.  It is given the private value, or a tuple of all
      private values where there are several.

    Raises:
        LanguageError: there is no such relation for these inputs, or the function fails.

    >>> from privproof import queries
    >>> is_adjacent(Adjacent({"q": [0, 1]}, {"q": [1, 0]}), {"q": queries()}, "each")
    True
    >>> is_adjacent(Adjacent({"q": [0, 1]}, {"q": [1, 0]}), {"q": queries()}, "monotone")
    False
    """
    refuse_relation(inputs, relation)
    left, right = pair.left, pair.right
    if left.keys() != inputs.keys() or right.keys() != inputs.keys():
        return False
    for name, declared in inputs.items():
        if not (fits(declared, left[name]) and fits(declared, right[name])):
            return False
        if declared.public and left[name] != right[name]:
            return False
    private = private_inputs(inputs)
    if relation == "add-remove":
        changed = [name for name in private if left[name] != right[name]]
        return len(changed) == 1 and _one_more(left[changed[0]], right[changed[0]])
    moves: list[tuple[Fraction | None, Any, Any]] = []
    for name, declared in private.items():
        ones, others = ([side[name]] if declared.shape == "value" else side[name] for side in (left, right))
        if len(ones) != len(others):
            return False
        within = None if declared.within is None else fraction(declared.within)
        moves += [(within, one, other) for one, other in zip(ones, others, strict=True) if one != other]
    if not moves:
        return False
    if callable(relation):
        one, other = (
            [side[name] if declared.shape == "value" else list(side[name]) for name, declared in private.items()]
            for side in (left, right)
        )
        return called_adjacent(one, other, relation)
    if any(within is not None and abs(one - other) > within for within, one, other in moves):
        return False
    if relation == "one":
        return len(moves) == 1
    if relation == "monotone":
        return len({one < other for _, one, other in moves}) == 1
    if relation in NORMS:
        [bound] = [declared.within for declared in private.values()]
        assert bound is not None
        return is_near(relation, (Fraction(other - one) for _, one, other in moves), bound)
    return True


def called_adjacent(left: Sequence[Any], right: Sequence[Any], relation: Callable[[Any, Any], bool]) -> bool:
    """Whether the function of the user says that two data sets are neighbours, in one order or the other."""
    one, other = ([list(v) if isinstance(v, list) else v for v in side] for side in (left, right))
    return related_by(relation, one, other, "neighbours")


def private_inputs(inputs: Mapping[str, Input]) -> dict[str, Input]:
    """The inputs that may differ between neighbours."""
    return {name: declared for name, declared in inputs.items() if not declared.public}


def bounds(declared: Input) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest value of a number, where there are such."""
    low, high = (None if bound is None else fraction(bound) for bound in (declared.low, declared.high))
    return low, high


def fits(declared: Input, value: Any) -> bool:
    """Whether a value is one of the declared input."""
    if declared.shape == "value":
        return _are_values(declared, [value])
    if not isinstance(value, list | tuple) or (declared.shape == "list" and declared.size not in (None, len(value))):
        return False
    return _are_values(declared, value)


def refuse_relation(inputs: Mapping[str, Input], relation: Relation) -> None:
    """Refuses what is no relation between data sets over the inputs."""
    if callable(relation):
        return
    if relation not in _RELATIONS:
        raise LanguageError(
            "neighbours",
            f"neighbours={relation!r} is no relation",
            place="neighbours",
            hint=f"{', '.join(_RELATIONS)}, or a function of two data sets",
        )
    private = private_inputs(inputs)
    for name, declared in private.items():
        if relation == "add-remove" and declared.shape != "list":
            reason = f"{name}: {declared} is no list, so no record is added to it or removed"
        elif relation == "monotone" and declared.within is None and (len(private) == 1 or declared.differs):
            reason = f"{declared} has no order, so nothing moves in one direction"
        else:
            continue
        raise LanguageError("neighbours", reason, place="neighbours", hint='neighbours="one"')


def _are_values(declared: Input, found: Sequence[Any]) -> bool:
    if declared.within is None:
        return all(any(type(value) is type(one) and value == one for one in declared.values or ()) for value in found)
    if not all(type(value) is int or (declared.real and type(value) is Fraction) for value in found):
        return False
    low, high = bounds(declared)
    return not found or ((low is None or low <= min(found)) and (high is None or max(found) <= high))


def _one_more(left: Sequence[Any], right: Sequence[Any]) -> bool:
    longer, shorter = (list(side) for side in sorted((left, right), key=len, reverse=True))
    return len(longer) == len(shorter) + 1 and any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
