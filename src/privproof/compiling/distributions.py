"""The exact distribution of a mechanism's output on given inputs, from its translated source."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from privproof.compiling.exploring import Explorer, Rest
from privproof.compiling.outputs import borders
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.language.inputs import Input
from privproof.language.mechanism import Mechanism
from privproof.language.values import (
    Answers,
    Cells,
    Lookup,
    Named,
    Tail,
    parts_of,
    plain,
    shared_value,
    tails,
    text,
    with_parts,
)
from privproof.language.values import key as told_apart
from privproof.scenarios import fits


def output_distribution(mechanism: Mechanism, /, *args: Any, **kwargs: Any) -> dict[Any, Fraction]:
    """The probability of every output on the given inputs, exactly.

    Lists in outputs become tuples; a generator's output is the tuple of what it yields.  Unbounded noise shows as ``"≥6"`` and
    ``"≤-1"``: all outputs from there on together.  A stream is given as a list and the mechanism is looked at after it.

    >>> from privproof.language import geometric, integer, mechanism
    >>> @mechanism
    ... def noisy(count: integer(0, 5)):
    ...     return min(geometric(count, alpha="1/2"), 6)
    >>> output_distribution(noisy, 5)
    {5: Fraction(1, 3), 6: Fraction(1, 3), '≤4': Fraction(1, 3)}
    """
    try:
        bound = inspect.signature(mechanism.function).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise LanguageError("input", str(error), place=mechanism.place, hint="call it as its signature says") from None
    changed = {name: value for name, value in bound.items() if name in mechanism.parameters}
    if changed:
        mechanism = mechanism.having(**changed)
    outputs = output_classes(mechanism, {name: bound[name] for name in mechanism.inputs})
    keys = [distribution_key(output) for output, _ in outputs]
    clash = len(set(keys)) < len(keys)
    result = {text(output) if clash else key: fraction(p) for key, (output, p) in zip(keys, outputs, strict=True)}
    return dict(sorted(result.items(), key=lambda item: (str(type(item[0])), str(item[0]))))


def output_classes(
    mechanism: Mechanism, arguments: Mapping[str, Any], explorer: Explorer | None = None
) -> list[tuple[Any, Rational]]:
    """Every output on the given inputs with its probability; a tail stands for all outputs from there on.

    For a generator, or on a stream, an output is the tuple of all that is written.  Who asks about many inputs gives the explorer of
    the mechanism's flow.
    """
    store, fed = initial_store(mechanism, arguments)
    explorer = explorer or Explorer(mechanism.flow)
    begun = explorer.settle(explorer.state(0, store)).items()
    level = {(rest, told_apart(rest.written)): (rest.written, p) for rest, p in begun}
    for value in fed:
        following: dict[tuple[Rest, Any], tuple[tuple[Any, ...], Rational]] = {}
        for (rest, _), (before, p) in level.items():
            onward = {rest: ONE} if rest.state is None else explorer.settle(explorer.given(rest.state, value))
            for target, q in onward.items():
                shown = before if rest.state is None else (*before, *target.written)
                node = (target, told_apart(shown))
                following[node] = (shown, following.get(node, (shown, ZERO))[1] + p * q)
        level = following
    found: list[tuple[Any, Rational]] = []
    for (rest, _), (written, p) in level.items():
        ended = () if mechanism.generator or rest.state is not None else (rest.value,)
        both = mechanism.stream is not None or mechanism.generator
        found.append(((*written, *ended) if both else rest.value, p))
    try:
        limits = borders(output for output, _ in found)
    except LanguageError as problem:
        raise (problem if problem.place else problem.at(mechanism.place)) from None
    result: dict[str, tuple[Any, Rational]] = {}
    for output, p in found:
        for refined, q in limits.refined(output):
            before_ = result.get(text(refined), (None, ZERO))[1]
            result[text(refined)] = (refined, before_ + p * q)
    return list(result.values())


def initial_store(mechanism: Mechanism, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The variables with which a mechanism begins on given inputs, and what its stream gives."""
    store: dict[str, Any] = {name: shared_value(value) for name, value in mechanism.parameters.items()}
    fed: list[Any] = []
    for name, declared in mechanism.inputs.items():
        value = _checked(name, arguments[name], declared)
        if declared.shape == "stream":
            fed = list(value)
        else:
            store[name] = Answers(map(shared_value, value)) if declared.shape == "list" else shared_value(value)
    return store, fed


def _checked(name: str, value: Any, declared: Input) -> Any:
    values = [value] if declared.shape == "value" else value
    if declared.shape != "value" and (isinstance(value, str | Mapping) or not hasattr(value, "__iter__")):
        raise LanguageError("input", f"{name}={value!r} is not a list", place=name, hint=f"{name}: {declared}")
    for item in values:
        if declared.values is not None and item not in declared.values:
            raise LanguageError(
                "input", f"{item!r} is not a value of {declared}", place=name, hint="widen the declaration"
            )
    return value


def distribution_key(value: Any) -> Any:
    """The key of an output: itself, with tuples for lists; how it prints where it has tails."""
    if any(True for _ in tails(value)):
        return text(value)
    match value:
        case Lookup() | Named():
            return text(value)
        case Cells(items):
            return tuple(map(distribution_key, items))
        case tuple():
            return tuple(map(distribution_key, value))
        case _:
            return value


def output_probability(mechanism: Mechanism, output: Any, /, **arguments: Any) -> Fraction:
    """The probability of one output on the given inputs, exactly.

    An output is the value returned; of a generator, or on a stream, the list of what is written.  ``"≥6"`` and ``"≤-1"`` stand for
    all integers from there on.

    >>> from privproof.language import geometric, integer, mechanism
    >>> @mechanism
    ... def noisy(count: integer(0, 5)):
    ...     return geometric(count, alpha="1/2")
    >>> output_probability(noisy, 7, count=5), output_probability(noisy, "≥6", count=5), output_probability(noisy, "x", count=5)
    (Fraction(1, 12), Fraction(1, 3), Fraction(0, 1))
    """
    mechanism, given = given_inputs(mechanism, arguments)
    return output_probabilities(mechanism, [_read(output)], given)[0]


def output_probabilities(mechanism: Mechanism, outputs: Sequence[Any], given: Mapping[str, Any]) -> list[Fraction]:
    """The probabilities of several outputs on the same inputs, exactly; a `tail` stands for all integers from its end on."""
    several = mechanism.generator or mechanism.stream is not None
    found = output_classes(mechanism, given)
    tailed = [(shown, p) for shown, p in found if any(True for _ in tails(shown))]
    alone = {text(shown): p for shown, p in found if not any(True for _ in tails(shown))}
    result = []
    for output in outputs:
        wanted = _wanted(output)
        if several and isinstance(wanted, Cells):
            wanted = wanted.items
        if any(True for _ in tails(wanted)):
            total = sum((p * _share(wanted, shown) for shown, p in found), start=ZERO)
        else:
            total = sum((p * _share(wanted, shown) for shown, p in tailed), start=alone.get(text(wanted), ZERO))
        result.append(fraction(total))
    return result


def beginning_probability(mechanism: Mechanism, items: Sequence[Any], given: Mapping[str, Any]) -> Fraction:
    """The probability that what is written, or the list that is returned, begins with some items."""
    wanted = tuple(map(_wanted, items))
    total = ZERO
    for shown, p in output_classes(mechanism, given):
        listed = shown.items if isinstance(shown, Cells) else shown
        if isinstance(listed, tuple) and len(listed) >= len(wanted):
            total += p * _share(wanted, listed[: len(wanted)])
    return fraction(total)


def tail(end: int, *, upward: bool) -> Tail:
    """All integers from an end on, upward or downward, as an output that is asked for."""
    return Tail(-1, 1 if upward else -1, end, _ANY)


def given_inputs(mechanism: Mechanism, arguments: Mapping[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """The mechanism with the parameters among the arguments set, and its inputs.

    Raises:
        LanguageError: an input is missing, or something is given that the mechanism does not have.
    """
    changed = {name: value for name, value in arguments.items() if name in mechanism.parameters}
    if changed:
        mechanism = mechanism.having(**changed)
    missing = [name for name in mechanism.inputs if name not in arguments]
    unknown = [name for name in arguments if name not in mechanism.inputs and name not in mechanism.parameters]
    if missing or unknown:
        what = f"{missing[0]!r} is not given" if missing else f"there is no input {unknown[0]!r}"
        raise LanguageError("input", what, place=mechanism.name, hint=f"inputs: {', '.join(mechanism.inputs)}")
    return mechanism, {name: arguments[name] for name in mechanism.inputs}


_TAIL = re.compile(r"([≥≤])(-?[0-9]+)")
_ANY = Fraction(1, 2)
"""A tail that is asked for has a rate of no meaning: only its end and its direction are looked at."""


def _read(output: Any) -> Any:
    """An output as a user writes it, with tails in the place of their texts."""
    match output:
        case str() if found := _TAIL.fullmatch(output):
            return tail(int(found[2]), upward=found[1] == "≥")
        case list() | tuple():
            return type(output)(map(_read, output))
        case _:
            return output


def _wanted(output: Any) -> Any:
    """An output that is asked for, as the explorer holds it."""
    match output:
        case Tail():
            return output
        case list():
            return Cells(tuple(map(_wanted, output)))
        case tuple():
            return tuple(map(_wanted, output))
        case _:
            return shared_value(output)


def _share(wanted: Any, found: Any) -> Rational:
    """Which share of a class of outputs belongs to what is wanted."""
    for kind in (Cells, tuple, Lookup, Named):
        if isinstance(wanted, kind) or isinstance(found, kind):
            if not (isinstance(wanted, kind) and isinstance(found, kind)):
                return ZERO
            first, second = parts_of(wanted) or (), parts_of(found) or ()
            if len(first) != len(second) or _labels(wanted) != _labels(found):
                return ZERO
            return prod((_share(x, y) for x, y in zip(first, second, strict=True)), start=ONE)
    if not isinstance(found, Tail):
        return ONE if fits(wanted, found) else ZERO
    base = rational(found.alpha)
    if isinstance(wanted, Tail):
        away = (wanted.offset - found.offset) * found.sign
        if wanted.sign == found.sign:
            return base ** max(away, 0)
        return ONE - base ** max(away + 1, 0)
    if not isinstance(wanted, int) or isinstance(wanted, bool):
        return ZERO
    away = (wanted - found.offset) * found.sign
    return base**away * (ONE - base) if away >= 0 else ZERO


def _labels(value: Any) -> Any:
    """What an output shows beside the values inside it: the keys of a table, the fields of an object."""
    if isinstance(value, Lookup):
        return [text(known) for known, _ in value.rows]
    return value.shape if isinstance(value, Named) else None


def printable(value: Any) -> Any:
    """An output of a model as `output_probability` takes it: Python's own values, texts for tails."""
    match value:
        case Tail():
            return text(value)
        case Cells(items):
            return [printable(item) for item in items]
        case tuple():
            return tuple(printable(item) for item in value)
        case Lookup() | Named():
            return plain(with_parts(value, tuple(printable(item) for item in parts_of(value) or ())))
        case _:
            return plain(value)
