"""Instructions: a mechanism as a numbered list of steps with tests and jumps, read from its document.

A sample of continuous noise has a scale ``factor * N * M ...`` whose names are public integers with a declared least
value of at least 1, so that a scale is always above 0 and the same in both runs.  Geometric noise has an alpha instead:
``1/alpha = ratio^m`` with the largest such m, and to shift it by s costs ``m |s|`` times the logarithm of the ratio.
Gaussian noise has its standard deviation, a number, discrete Gaussian noise its variance; shifts are counted in squares: `Squares`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flint import fmpz

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members
from privproof_checker.programs.instruction_kinds import (
    SQUARES,
    Assign,
    Coin,
    Copy,
    EmitOutput,
    Fill,
    Forget,
    Instruction,
    Jump,
    Logarithm,
    NextValue,
    Others,
    Program,
    Put,
    Ranked,
    Return,
    Sample,
    SelectionPlace,
    Test,
    Whole,
)
from privproof_checker.programs.open_trees import WHOLE
from privproof_checker.programs.program_expressions import ProgramReader, Tags
from privproof_checker.programs.program_inputs import ADD_REMOVE, SIZE, SORTS, Declared, plain_name

TRUNCATED = "truncated_laplace"
"""Laplace noise that is known to lie within a bound."""
_MOST_INSTRUCTIONS = 50_000
"""A program may have so many instructions; beyond, the question is refused."""
_MOST_VARIABLES = 20_000
"""A program may have so many variables; beyond, the question is refused."""
_MOST_NAMES = 8
"""A scale or a bound is a number times the product of at most so many public integers; with more it is refused."""


def read_program(question: dict[str, object], declared: Declared, limits: Limits) -> Program:
    """The code and the sorts of a question."""
    sorts = an_object(question.get("sorts"), "question.sorts")
    within(len(sorts), _MOST_VARIABLES, "variables", "question.sorts")
    variables, every = {}, {}
    for name, value in sorts.items():
        place = f"question.sorts.{name}"
        plain_name(name, place)
        sort = a_text(value, place)
        if sort not in SORTS:
            refuse(f"{sort[:40]!r} is none of {', '.join(SORTS)}", place)
        known = declared.inputs.get(name)
        if known is None:
            variables[name] = sort
        elif known.shape != "value" or known.sort != sort:
            refuse(f"the input is declared as a {known.shape} of sort {known.sort}", place)
        every[name] = sort
    every |= {each.name: each.sort for each in declared.inputs.values() if each.shape == "value"}
    tags = Tags()
    kept = _read_kept_lists(question.get("lists", {}), every, declared)
    reader = ProgramReader(every, declared.inputs, tags, limits, kept)
    given = a_list(question.get("code"), "question.code")
    within(len(given), _MOST_INSTRUCTIONS, "instructions", "question.code")
    if not given:
        refuse("there is no instruction", "question.code")
    code = tuple(
        _instruction(item, f"question.code[{i}]", reader, variables, declared, len(given))
        for i, item in enumerate(given)
    )
    return Program(declared, variables, code, tags, kept)


def _read_kept_lists(value: object, variables: Mapping[str, str], declared: Declared) -> dict[str, str]:
    """The lists that are kept, with the sorts of their entries."""
    found = {}
    given = an_object(value, "question.lists")
    within(len(given), _MOST_VARIABLES, "lists", "question.lists")
    for name, item in given.items():
        place = f"question.lists.{name}"
        plain_name(name, place)
        sort = a_text(item, place)
        if sort not in ("int", "real"):
            refuse("the entries of a list are integers or reals", place)
        if name in variables or name in declared.inputs:
            refuse("a list has a name of its own", place)
        found[name] = sort
    return found


def _read_list_change(given: list[object], place: str, reader: ProgramReader, declared: Declared) -> Instruction:
    """An instruction that changes a list."""
    kind, name = given[0], a_text(given[1], f"{place}[1]")
    sort = reader.kept.get(name)
    if sort is None:
        refuse(f"{name[:40]!r} is not a list that is kept", f"{place}[1]")
    if kind == "fill":
        return Fill(name, reader.of_sort(given[2], "int", f"{place}[2]"), reader.of_sort(given[3], sort, f"{place}[3]"))
    if kind == "put":
        return Put(name, reader.of_sort(given[2], "int", f"{place}[2]"), reader.of_sort(given[3], sort, f"{place}[3]"))
    if kind == "append":
        return Put(name, None, reader.of_sort(given[2], sort, f"{place}[2]"))
    source = a_text(given[2], f"{place}[2]")
    known = declared.inputs.get(source)
    if known is not None and (known.shape != "list" or known.fields or not known.numeric):
        refuse(f"{source[:40]!r} is not a list of numbers", f"{place}[2]")
    entries = reader.kept.get(source) if known is None else known.sort
    if entries is None:
        refuse(f"{source[:40]!r} is not a list", f"{place}[2]")
    if entries != sort and (entries, sort) != ("int", "real"):
        refuse(f"the entries are of sort {sort}, those that are copied of sort {entries}", place)
    return Copy(name, source)


def _instruction(
    value: object, place: str, reader: ProgramReader, variables: Mapping[str, str], declared: Declared, length: int
) -> Instruction:
    given = a_list(value, place)
    kind = a_text(given[0] if given else None, f"{place}[0]")
    counts = {"assign": 3, "emit": 2, "return": 2, "test": 4, "jump": 2, "next": 3, "forget": 2}
    counts |= {"place": 4, "others": 5, "ranked": 2, "fill": 4, "copy": 3, "put": 4, "append": 3}
    if kind == "sample":
        return _sample(given, place, reader, variables, declared)
    if kind not in counts:
        refuse(f"{kind[:40]!r} is no instruction", place)
    processed = kind in ("emit", "return") and given[2:] == ["processed"]
    if len(given) != counts[kind] + processed:
        refuse(f"{kind} has {counts[kind] - 1} operands", place)
    if kind == "emit":
        return EmitOutput(reader.parts(given[1], f"{place}[1]"), processed)
    if kind == "return":
        return Return(reader.parts(given[1], f"{place}[1]"), processed)
    if kind == "test":
        condition = reader.of_sort(given[1], "bool", f"{place}[1]")
        return Test(condition, _target(given[2], length, f"{place}[2]"), _target(given[3], length, f"{place}[3]"))
    if kind == "jump":
        return Jump(_target(given[1], length, f"{place}[1]"))
    if kind in ("fill", "copy", "put", "append"):
        return _read_list_change(given, place, reader, declared)
    if kind == "ranked":
        return Ranked(_names(given[1], "real", variables, f"{place}[1]"))
    name, sort = _variable(given[1], variables, f"{place}[1]")
    if kind in ("place", "others"):
        return _read_selection(given, name, sort, variables, declared, place)
    if kind == "assign":
        return Assign(name, reader.of_sort(given[2], sort, f"{place}[2]"))
    if kind == "forget":
        return Forget(name)
    stream = a_text(given[2], f"{place}[2]")
    known = declared.inputs.get(stream)
    if known is None or known.shape != "stream":
        refuse(f"{stream[:40]!r} is not a stream", f"{place}[2]")
    if known.sort != sort and (known.sort, sort) != ("int", "real"):
        refuse(f"the variable is of sort {sort}, the stream of sort {known.sort}", place)
    return NextValue(name, stream)


def _read_selection(
    given: list[object], name: str, sort: str, variables: Mapping[str, str], declared: Declared, place: str
) -> Instruction:
    """A place of a selection, or the largest of its other values."""
    if sort != ("int" if given[0] == "place" else "real"):
        refuse(f"the variable is of sort {sort}", f"{place}[1]")
    listed: str | int
    if isinstance(given[2], str):
        listed = given[2]
        known = declared.inputs.get(listed)
        if known is None or known.shape != "list":
            refuse(f"{listed[:40]!r} is not a list", f"{place}[2]")
    else:
        listed = an_integer(given[2], f"{place}[2]")
        within(listed, _MOST_VARIABLES, "places", f"{place}[2]")
    places = _names(given[-1], "int", variables, f"{place}[{len(given) - 1}]")
    if given[0] == "place":
        return SelectionPlace(name, listed, places)
    return Others(name, listed, _variable(given[3], variables, f"{place}[3]")[0], places)


def _names(value: object, sort: str, variables: Mapping[str, str], place: str) -> tuple[str, ...]:
    """Variables of a sort."""
    listed = a_list(value, place)
    within(len(listed), _MOST_VARIABLES, "variables", place)
    found = [_variable(item, variables, f"{place}[{i}]") for i, item in enumerate(listed)]
    if any(own != sort for _, own in found):
        refuse(f"a variable is not of sort {sort}", place)
    return tuple(name for name, _ in found)


def _sample(
    given: list[object], place: str, reader: ProgramReader, variables: Mapping[str, str], declared: Declared
) -> Instruction:
    if len(given) < 3:
        refuse("a sample names a variable and a kind", place)
    name, sort = _variable(given[1], variables, f"{place}[1]")
    kind = a_text(given[2], f"{place}[2]")
    counts = {"bernoulli": 3} | dict.fromkeys(
        ("laplace", "exponential", "gumbel", "gaussian", TRUNCATED, *WHOLE, "uniform"), 5
    )
    wanted = {"bernoulli": "bool", "uniform": "int", **dict.fromkeys(WHOLE, "int")}.get(kind, "real")
    if kind not in counts:
        refuse(f"{kind[:40]!r} is none of {', '.join(counts)}", f"{place}[2]")
    shifted = kind not in ("bernoulli", "uniform")
    if len(given) == counts[kind] + 1 and shifted:
        drawn = _sample(given[:-1], place, reader, variables, declared)
        assert isinstance(drawn, Sample)
        return replace(drawn, where=reader.of_sort(given[-1], "bool", f"{place}[{len(given) - 1}]"))
    if len(given) != counts[kind]:
        refuse(f"a sample of {kind} has {counts[kind] - 1} operands", place)
    if sort != wanted:
        refuse(f"a sample of {kind} is of sort {wanted}, the variable of sort {sort}", place)
    if kind == "bernoulli":
        return Coin(name)
    if kind == "uniform":
        return Whole(name, *(reader.of_sort(given[i], "int", f"{place}[{i}]") for i in (3, 4)))
    center = reader.of_sort(given[3], wanted, f"{place}[3]")
    if kind == "geometric":
        return Sample(name, kind, center, *_logarithm(given[4], f"{place}[4]", reader.limits))
    if kind == "discrete_gaussian":
        law = an_object(given[4], f"{place}[4]")
        only_members(law, ("variance",), f"{place}[4]")
        variance = a_number(law.get("variance"), f"{place}[4].variance", reader.limits)
        if variance <= 0:
            refuse("a variance is above 0", f"{place}[4].variance")
        return Sample(name, kind, center, variance, SQUARES)
    if kind == TRUNCATED:
        law = dict(an_object(given[4], f"{place}[4]"))
        bound = a_number(law.pop("bound", None), f"{place}[4].bound", reader.limits)
        factor, group = _scale(law, declared, f"{place}[4]", reader.limits)
        if group or bound <= 0:
            refuse("truncated noise has a scale and a bound that are numbers, above 0", f"{place}[4]")
        return Sample(name, kind, center, factor, group, bound=bound)
    factor, group = _scale(given[4], declared, f"{place}[4]", reader.limits)
    if kind == "gaussian":
        if group:
            refuse("the standard deviation of Gaussian noise is a number", f"{place}[4]")
        return Sample(name, kind, center, factor, SQUARES)
    return Sample(name, kind, center, factor, group)


def _scale(value: object, declared: Declared, place: str, limits: Limits) -> tuple[Rational, tuple[str, ...]]:
    given = an_object(value, place)
    only_members(given, ("factor", "names"), place)
    factor = a_number(given.get("factor"), f"{place}.factor", limits)
    if factor <= 0:
        refuse("a scale is above 0", f"{place}.factor")
    return factor, read_group(given.get("names"), declared, f"{place}.names")


def _logarithm(value: object, place: str, limits: Limits) -> tuple[Rational, Logarithm]:
    """An alpha as a power: one over the exponent, and the logarithm of the ratio."""
    given = an_object(value, place)
    only_members(given, ("alpha",), place)
    alpha = a_number(given.get("alpha"), f"{place}.alpha", limits)
    if not 0 < alpha < 1:
        refuse("alpha is between 0 and 1", f"{place}.alpha")
    above, below = fmpz(alpha.q), fmpz(alpha.p)
    for exponent in range(int(above).bit_length(), 1, -1):
        roots = above.root(exponent), below.root(exponent)
        if roots[0] ** exponent == above and roots[1] ** exponent == below:
            return Rational(1, exponent), Logarithm(Rational(*roots))
    return Rational(1), Logarithm(1 / alpha)


def read_group(value: object, declared: Declared, place: str) -> tuple[str, ...]:
    """A sorted list of public integers that are at least 1, and of `size`, where lists of one length are compared."""
    listed = a_list(value, place)
    within(len(listed), _MOST_NAMES, "names", place)
    group = tuple(a_text(item, f"{place}[{i}]") for i, item in enumerate(listed))
    for name in group:
        if name == SIZE:
            if declared.relation == ADD_REMOVE or not any(
                each.shape == "list" and each.size is None for each in declared.inputs.values()
            ):
                refuse("the size is no public number here", place)
            continue
        known = declared.inputs.get(name)
        if known is None or (known.shape, known.sort, known.public) != ("value", "int", True):
            refuse(f"{name[:40]!r} is not a public integer", place)
        if known.low is None or known.low < 1:
            refuse(f"{name[:40]!r} is not declared to be at least 1", place)
    if list(group) != sorted(group):
        refuse("the names are not sorted", place)
    return group


def _variable(value: object, variables: Mapping[str, str], place: str) -> tuple[str, str]:
    name = a_text(value, place)
    if name not in variables:
        refuse(f"{name[:40]!r} is not a variable with a sort", place)
    return name, variables[name]


def _target(value: object, length: int, place: str) -> int:
    target = an_integer(value, place)
    if not 0 <= target < length:
        refuse(f"there is no instruction {target}", place)
    return target
