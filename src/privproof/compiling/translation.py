"""Does the prepared program do what the function does?  Both are run on the same data and the same noise, many times.

The function runs as it is, with noise that is handed to it; the program is followed instruction by instruction with exact numbers.
The outputs must be equal, every time.  Data and noise are searched for until every condition of the program has gone both ways, and
nothing of the function may be left that was never run (`unrun`).
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from textwrap import dedent
from typing import Any

from privproof.compiling.coins import Tossed
from privproof.compiling.covering import Choices, Conditions, Covered, Side, Watch, cover
from privproof.compiling.fallen import Disagreement, fallen_coins
from privproof.compiling.list_parts import is_end
from privproof.compiling.program_follower import (
    FARTHEST,
    EndlessRun,
    Follower,
    ProgramDiffers,
    TiedNoise,
    writes_on_the_way,
)
from privproof.compiling.relational import Program
from privproof.compiling.rounding import rounding_difference
from privproof.compiling.sorts import PROCESSED, is_choice
from privproof.compiling.unrun import Watched
from privproof.compiling.ways import Way, ways
from privproof.errors import LanguageError
from privproof.exact import fraction
from privproof.language.evaluating import WRONG
from privproof.language.flow import Test, following, instruction_reads
from privproof.language.inputs import Input
from privproof.language.laws import (
    WEIGHED,
    Continuous,
    DiscreteGaussian,
    Geometric,
    Law,
    Shaped,
    TableLaw,
)
from privproof.language.linear import Linear, Opaque, Ratio, exactly
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import in_parts
from privproof.language.randomness import Chance
from privproof.language.running import exact_run, recognised_noise
from privproof.language.scripts import record_run
from privproof.language.syntax import (
    Assign,
    Constant,
    Emit,
    Expression,
    Operation,
    Return,
    Variable,
)
from privproof.language.walking import within
from privproof.models.graph_algorithms import reachable

_PARTS = (7, 7, 2)
"""Noise of a trial is 40 times one over one of these from its centre at most, so that thresholds far from the data are passed."""
_IN_FLOATS = 8
"""Runs that are made on floats and on their exact values: a test that rounding decides goes wrong in most of them."""
_LONGEST = 5
"""The longest list of a trial: as long as every order of its values is soon met."""
_MOST_NUMBERS, _LONG_TRIALS, _LONGEST_OF_ALL = 4, 2, 2_000
"""Lists of trials are as long as the largest of these numbers in comparisons, each twice; longer ones would take seconds."""
_FARTHEST_END = 60
"""Parts of lists that begin or end further on are not looked for."""
_SIZES = (0, 1, 2)
"""Lists of these lengths are gone through on every way."""


def program_agreement(program: Program, tossed: Tossed | None = None) -> Covered:
    """Trials of the program beside the function: on data and noise that are searched for, and on some for every way through it.

    Args:
        program: the program; where some of its cells stand for all, the whole is tried, until these went every way.
        tossed: where its records say how the coins fell that the function tosses for them: the function, and which they are.

    Raises:
        LanguageError: the function itself fails.
    """
    cells, few, program = program.cells, program.inputs, program.whole
    conditions, least = Conditions(program.code), _least_size(program)
    sought = list(conditions.sides()) if tossed else _sides_of_some_length(program, conditions, least)
    if cells is not None:
        looked_at = [range(cells.bounds[number], cells.bounds[number + 1]) for number in cells.kept]
        sought = [side for side in sought if any(side.number in each for each in looked_at)]
    watched = Watched(_function(program, tossed))
    lengths = _long_lengths(program, tossed)  # of the text as it runs: before its noise is recognised
    with recognised_noise(_function(program, tossed)):  # once for all trials
        covered = cover(
            sought, lambda choices, watch: _by_choice(program, tossed, least, conditions, choices, watch, few, watched)
        )
        told = covered.told or _where_rounding_decides(program, tossed, least)
        told = told or _on_long_lists(program, tossed, watched, lengths)
    told = told or _on_every_way(program, tossed, least, watched)
    if told is None:
        untaken = {side.place.line for side in conditions.sides() if side not in covered.taken}
        told = watched.never_run(untaken, _totalled(program))
    return replace(covered, told=told)


def _where_rounding_decides(program: Program, tossed: Tossed | None, least: int) -> str | None:
    """How the function on floats differs from itself on their exact values, in words; None if it does not."""
    mechanism = _function(program, tossed)
    for number in range(_IN_FLOATS):
        choices = Choices((), Chance(number))
        size = program.size if program.size is not None else choices.randint(max(least, program.least), _LONGEST)
        arguments = _arguments(mechanism.inputs, size, choices)
        told = rounding_difference(
            lambda given=arguments: exact_run(mechanism, given, rounding=True),  # type: ignore[misc]
            Chance(number),
        )
        if told is not None:
            return f"on {dict(arguments)}: {told}"
    return None


def _totalled(program: Program) -> set[int]:
    """The lines of what is added up over all records: there a condition may be decided for every record at once."""
    totals = (
        part
        for step in program.code
        for whole in instruction_reads(step)
        for part in within(whole)
        if isinstance(part, Operation) and part.name == "total"
    )
    return {part.place.line for total in totals for part in within(total)}


def _function(program: Program, tossed: Tossed | None) -> Mechanism:
    """The function that a program is compared with."""
    return program.mechanism if tossed is None else tossed.original


def _by_choice(
    program: Program,
    tossed: Tossed | None,
    least: int,
    conditions: Conditions,
    choices: Choices,
    watch: Watch,
    few: Mapping[str, Input],
    watched: Watched,
) -> str | None:
    """How the program and the function differ on chosen data and noise, in words; None if they do not.

    Where some values of the inputs stand for all, these are taken in half of the trials.
    """
    size = program.size if program.size is not None else choices.randint(least, _longest(program))
    declared = _function(program, tossed).inputs
    if tossed is None and few is not declared and choices.below(2):
        declared = few
    arguments = _arguments(declared, size, choices)
    return _difference(program, tossed, arguments, _chosen_noise(choices), conditions, watch, watched)


def _long_lengths(program: Program, tossed: Tossed | None) -> list[int]:
    """How long lists of trials are beside the short ones: longer by one than the largest numbers that the text compares with."""
    if program.size is not None:
        return []
    return [number + 1 for number in sorted(_compared_numbers(_function(program, tossed)))[-_MOST_NUMBERS:]]


def _on_long_lists(program: Program, tossed: Tossed | None, watched: Watched, lengths: list[int]) -> str | None:
    """How the program and the function differ on lists of these lengths, in words; None if they do not.

    What a function does only where a length or a count is above such a number is seen on no shorter list.  Records are all the same in
    half of the trials, so that counts grow as the lists do.
    """
    mechanism = _function(program, tossed)
    for length in lengths:
        for chance in range(_LONG_TRIALS):
            choices = Choices((), Chance(length + chance))
            arguments = _arguments(mechanism.inputs, 1 if chance % 2 else length, choices)
            for name, declared in mechanism.inputs.items():
                if chance % 2 and declared.shape == "list" and declared.size is None:
                    arguments[name] = arguments[name] * length
            conditions, watch = Conditions(program.code), Watch(frozenset())
            told = _difference(program, tossed, arguments, _chosen_noise(choices), conditions, watch, watched)
            if told is not None:
                return told
    return None


def _compared_numbers(mechanism: Mechanism) -> set[int]:
    """The whole numbers in comparisons of the text, by themselves or by name, that are beyond other trials and not too large."""
    found: set[object] = set()
    for function in mechanism.program.functions:
        compared = (node for node in ast.walk(ast.parse(dedent(function.text))) if isinstance(node, ast.Compare))
        for part in (part for node in compared for part in ast.walk(node)):
            if isinstance(part, ast.Constant):
                found.add(part.value)
            elif isinstance(part, ast.Name) and part.id in function.meanings:
                found.add(function.meanings[part.id].value)
            elif isinstance(part, ast.Name) and part.id in mechanism.parameters:
                found.add(mechanism.parameters[part.id])
    return {each for each in found if type(each) is int and _LONGEST < each <= _LONGEST_OF_ALL}


def _chosen_noise(choices: Choices) -> Callable[[Law], Any]:
    """Noise for a trial."""

    def noise(law: Law) -> Any:
        match law:
            case Continuous(kind, center, scale):
                moved = Fraction(choices.randint(0 if kind == "exponential" else -40, 40), choices.choice(_PARTS))
                return Ratio(_exact(center) + moved * Fraction(scale))
            case Shaped(_, center, (_, bound)):
                return Ratio(_exact(center) + Fraction(choices.randint(-40, 40), 40) * bound)
            case Geometric(center) | DiscreteGaussian(center):
                return exactly(center) + choices.randint(-FARTHEST, FARTHEST)
            case TableLaw():
                return exactly(choices.choice(law.ranked)[0])

    return noise


def _exact(center: Any) -> Any:
    """The centre of noise, which may be a float, as an exact number."""
    return Fraction(center) if type(center) is float else exactly(center)


def _sides_of_some_length(program: Program, conditions: Conditions, least: int) -> list[Side]:
    """The sides of conditions that lists of some length may take: where lengths are compared with numbers, the length decides.

    On lists that are too short the function fails, whatever the data: what is done there is never seen.  Of all other lengths those
    beside the numbers stand for the rest.
    """
    shortest = max(least, program.least)
    limits = {
        limit + by
        for step in program.code
        if isinstance(step, Test)
        for limit in _limits(step.test) or ()
        for by in (-1, 0, 1)
    }
    lengths = {shortest, *(each for each in limits if each > shortest)} if program.size is None else {program.size}
    taken: set[tuple[int, bool]] = set()
    reached: set[int] = set()
    for length in lengths:
        lists = {n: range(length if d.size is None else d.size) for n, d in program.inputs.items() if d.shape == "list"}
        decide = Follower(program, lists, None).value

        def onward(number: int, decide: Callable[[Expression], Any] = decide) -> list[int]:
            step = program.code[number]
            if not isinstance(step, Test):
                return list(following(number, step))
            both = (False, True) if _limits(step.test) is None else (bool(decide(step.test)),)
            taken.update((number, side) for side in both)
            return [step.then if side else step.otherwise for side in both]

        reached |= reachable([0], onward)
    return [
        side
        for side in conditions.sides()
        if side.number in reached
        and ((side.number, side.outcome) in taken or side.part > 0 or not isinstance(program.code[side.number], Test))
    ]


def _limits(test: Expression) -> list[int] | None:
    """The numbers that lengths of lists are compared with, where a test is about nothing else."""
    match test:
        case Operation(
            "<" | "<=" | ">" | ">=" | "==" | "!=", (Operation("turns" | "len", (Variable(),)), Constant(int(limit)))
        ):
            return [limit]
        case _:
            return None


def _on_every_way(program: Program, tossed: Tossed | None, least: int, watched: Watched) -> str | None:
    """How the program and the function differ on some data and noise for every way through the function at small sizes.

    Equal outputs that print differently are one output to the program, and two to an observer.
    """
    shown: dict[str, str] = {}
    conditions, watch = Conditions(program.code), Watch(frozenset())
    for size in [each for each in _SIZES if each >= least] if program.size is None else (program.size,):
        for way in ways(_function(program, tossed), size, Chance(1)):
            told = _difference(program, tossed, way.arguments, _along(way), conditions, watch, watched)
            if told is None and way.leaf.complete:
                printed = repr(_types(way.leaf.output))
                before = shown.setdefault(repr(_plain_form(way.leaf.output)), printed)
                told = None if before == printed else f"in how equal outputs print: {before} and {printed}"
            if told is not None:
                return told
    return None


def _longest(program: Program) -> int:
    """How long lists are: so long that there is something in the parts whose ends are constants."""
    ends = [
        abs(step.value.value)
        for step in program.code
        if isinstance(step, Assign) and is_end(step.name) and isinstance(step.value, Constant)
        if isinstance(step.value.value, int) and abs(step.value.value) <= _FARTHEST_END
    ]
    return max([_LONGEST, *(end + 2 for end in ends)])


def _least_size(program: Program) -> int:
    """The least length of the lists: ordinary code may fail on empty ones, which have no neighbours if nothing else is private."""
    private = [declared for declared in program.inputs.values() if not declared.public]
    lists = all(declared.shape == "list" and declared.size is None for declared in private)
    return int(lists and program.mechanism.translated.ordinary)


def _along(way: Way) -> Callable[[Law], Any]:
    """The noise of one way through the function; where it goes further than on numbers that are left open, some noise."""
    noises, choices = iter(way.noises), iter(way.choices)

    def noise(law: Law) -> Any:
        match law:
            case Continuous(_, center) | Shaped(_, center):
                return Ratio(exactly(center) + next(noises, Fraction(0)))
            case Geometric(center) | DiscreteGaussian(center):
                return exactly(center) + next(noises, Fraction(0))
            case TableLaw():
                return exactly(law.ranked[next(choices, 0)][0])  # truncated noise is none where its centre is left open

    return noise


def _difference(
    program: Program,
    tossed: Tossed | None,
    arguments: Mapping[str, Any],
    noise: Callable[[Law], Any],
    conditions: Conditions,
    watch: Watch,
    watched: Watched,
) -> str | None:
    """How the program and the function differ on data and noise, in words; None if they do not."""
    mechanism = _function(program, tossed)
    given = arguments
    if any(is_choice(step, WEIGHED) for step in program.sites):
        given = {name: _in_floats(value) for name, value in arguments.items()}  # exponents are floats
        arguments = {name: _in_fractions(value) for name, value in given.items()}
    try:
        with watched.watching():
            shown, drawn = record_run(lambda: exact_run(mechanism, given), noise)
    except LanguageError as problem:
        if problem.code == "run" and _lengths(program, arguments) < program.least:
            return None  # it fails whatever the data
        if problem.code == "run" and problem.message.startswith("ZeroDivisionError") and _processes(program):
            return None  # noise that is 0 has probability zero, and a public number is the same in both runs
        raise
    given = arguments
    if tossed is not None:
        try:
            rows, drawn = fallen_coins(tossed, arguments, drawn)
        except Disagreement as problem:
            return f"on {dict(arguments)}: {problem}"
        given = {**arguments, tossed.source: rows}
    follower = Follower(program, given, drawn)
    try:
        followed = follower.output(lambda number: conditions.notice(number, follower.value, watch, follower.records))
    except ProgramDiffers as problem:
        return f"on {dict(arguments)}: {problem}"
    except TiedNoise:
        return None
    except WRONG as problem:
        return f"on {dict(arguments)}: the function ends, the program fails: {problem}"
    listed = in_parts(shown)
    if isinstance(listed, tuple) and listed[:1] == ("table",) and writes_on_the_way(program):
        shown = list(listed[1:])  # a table is what it was given, entry by entry
    flat = followed if mechanism.stream is not None or writes_on_the_way(program) else followed[-1]
    if _told(program, _plain(shown)) != _plain(flat):
        return f"on {dict(arguments)} the function shows {shown!r}, the program {flat!r}"
    return None


def _in_floats(value: Any) -> Any:
    """Data with floats in the place of fractions."""
    if isinstance(value, list):
        return [_in_floats(each) for each in value]
    return float(value) if isinstance(value, Fraction) else value


def _in_fractions(value: Any) -> Any:
    """Data with the exact values of their floats."""
    if isinstance(value, list):
        return [_in_fractions(each) for each in value]
    return Fraction(value) if isinstance(value, float) else value


def _processes(program: Program) -> bool:
    """Whether an output is computed from what is released."""
    outputs = [step.value for step in program.code if isinstance(step, Emit | Return)]
    return bool(program.shown) or any(isinstance(value, Operation) and value.name == PROCESSED for value in outputs)


def _lengths(program: Program, arguments: Mapping[str, Any]) -> int:
    """The length of the shortest list."""
    return min((len(arguments[name]) for name in program.lists), default=0)


def _plain_form(value: Any) -> Any:
    """An output with equal numbers alike, lists and tuples too; noisy numbers are all alike."""
    if isinstance(value, list | tuple):
        return [_plain_form(item) for item in value]
    return "a number" if isinstance(value, Linear | Opaque) else _plain(value)


def _types(value: Any) -> Any:
    """An output as it prints, noisy numbers all alike."""
    if isinstance(value, list | tuple):
        return type(value)(_types(item) for item in value)
    return "a number" if isinstance(value, Linear | Opaque) else value


def _plain(value: Any) -> Any:
    value = in_parts(value)
    if type(value).__name__ == "bool_":
        value = bool(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, float) and not math.isfinite(value):
        return ("float", repr(value))
    return ("number", Fraction(value))


def _told(program: Program, shown: Any) -> Any:
    """An output as the program shows it: without the constant that is added to a number afterwards."""
    if program.offset and isinstance(shown, tuple) and shown[0] == "number":
        return ("number", shown[1] - program.offset)
    return shown


def refuse_endless(program: Program, *, runs: int = 30, seed: int = 2) -> None:
    """Refuse a program that does not end on some data and noise, before the function itself is run on them.

    Raises:
        LanguageError: it does not end.
    """
    chance, least = Chance(seed), _least_size(program)
    for _ in range(runs):
        size = program.size if program.size is not None else chance.randint(least, _LONGEST)
        arguments = _arguments(program.inputs, size, chance)
        try:
            Follower(program, arguments, None, chance).output()
        except EndlessRun:
            shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
            raise LanguageError(
                "loop",
                f"a loop does not end on {shown}",
                place=program.mechanism.place,
                hint="a loop must end with probability one",
            ) from None
        except (ProgramDiffers, TiedNoise, ArithmeticError, *WRONG):
            continue


def sample_arguments(mechanism: Mechanism, *, size: int, chance: Choices) -> dict[str, Any]:
    """Some data for a mechanism."""
    return _arguments(mechanism.inputs, size, chance)


def _arguments(inputs: Mapping[str, Input], size: int, chance: random.Random | Choices) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, declared in inputs.items():
        if declared.shape == "value":
            result[name] = _number(declared, chance)
        else:
            length = declared.size if declared.size is not None else size
            result[name] = [declared.some(lambda each: _number(each, chance)) for _ in range(length)]
    return result


def _number(declared: Input, chance: random.Random | Choices) -> Any:
    if declared.values is not None:
        return chance.choice(declared.values)
    low = Fraction(-8) if declared.low is None else fraction(declared.low)
    high = low + 16 if declared.high is None else fraction(declared.high)
    if declared.low is None and declared.high is not None:
        low = high - 16
    if declared.public and not declared.real:
        high = min(high, low + 4)
    if not declared.real:
        return chance.randint(int(low), int(high))
    return low + (high - low) * Fraction(chance.randint(0, 12), 12)
