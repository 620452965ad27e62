"""From a mechanism with continuous noise to the program that an alignment is about.

Two runs of the mechanism, on neighbouring data, are looked at together: the second with its noise shifted.  The shifts, and why they cost
no more than the budget, are found by `engines.laplace`; this module prepares the program they speak of:

* parameters become constants, lists that are only appended to and returned become outputs on the way, ``sum(q)`` becomes a loop;
* where neighbours differ in one record, loops over records that only add up become *totals* (`summaries`), and no loop is left;
* an ``if`` whose branches only assign may be *converted*: its assignments become conditional expressions, and the two runs may take
  different branches.  Every other ``if`` on data or noise must go the same way in both runs;
* the instructions are cut at their loops: between two *cuts* there are finitely many paths.

What is outside the class (a scale that depends on the data, a product of two private values, a test for equality on noise) is refused with
its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from privproof.compiling.branches import levelled_branches
from privproof.compiling.differing import differing_by_assignment, differing_variables, differs
from privproof.compiling.kept_lists import kept_lists, kept_names, list_names
from privproof.compiling.keys import written_out
from privproof.compiling.kinds import whole_already
from privproof.compiling.levelling import (
    data_before_noise,
    noise_around_sums,
    rename_reserved_variables,
)
from privproof.compiling.optionals import split_optional_variables
from privproof.compiling.outside import refuse_input, refuse_instruction, refuse_outside
from privproof.compiling.postprocessing import computed_last, drop_post_processing, operands_apart
from privproof.compiling.rewriting import (
    Unsupported,
    drop_returned_constants,
    expand_sum_calls,
    guards_as_conditionals,
    released_list,
    released_parts,
    released_table,
    separate_noise_centres,
    substitute_parameters,
)
from privproof.compiling.scales import Scale, shifted_scales
from privproof.compiling.selections.evaluating import loops_as_selections
from privproof.compiling.sorts import Sort, refuse_choices, settle_sorts, variable_sorts
from privproof.compiling.strides import counting_up
from privproof.compiling.summaries import summarise_loops
from privproof.language.flow import Instruction, Test, flow, following
from privproof.language.inputs import Input
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Block, Expression, Place, Sample

NO_SELECTION = "it has no loop that only finds the largest of its noisy values"
"""Why a program has no selection; worth saying only where there is no better reason that it is not proved."""


Class: TypeAlias = tuple[Mapping[str, object], ...]
"""Rows that are looked at together: each by the values of some of its fields, whatever the others are."""


@dataclass(frozen=True)
class Cells:
    """The cells of a program, and some that stand for all, see `compiling.cells`.

    Attributes:
        program: the program.
        bounds: where each cell begins, and where the last one ends.
        kept: the cells that stand for all.
        source: the list of records.
        field: the field that tells which cell a record is of; None where the record itself does.
        records: the records that stand for all, by what tells them apart.
    """

    program: Program
    bounds: tuple[int, ...]
    kept: tuple[int, ...]
    source: str
    field: str | None
    records: tuple[object, ...]


@dataclass(frozen=True)
class Program:
    """A mechanism prepared for alignments.

    Attributes:
        mechanism: the mechanism.
        body: its statements.
        code: the instructions.
        live: for every instruction the variables needed from there on.
        cuts: the instructions at which the program is cut; the first is 0.
        sorts: the sort of every variable.
        high: the variables that may differ between the two runs.
        noisy: the variables in whose value noise has a part.
        tags: texts and None, numbered.
        size: the length of the lists where the question fixes it.
        relation: ``each``, ``one``, ``monotone`` or ``add-remove``.
        optional: the variables that may be None, each with the variable that tells whether it is.
        scales: the scale of every noise that is shifted, by its site.
        offset: how much is added to the returned number afterwards.
        least: the function may fail on shorter lists, and then does so whatever the data and the noise.
        kept: the sort of the entries of every list that is kept, see `compiling.kept_lists`.
        shown: the outputs that are made of the parts that are written or returned, by their places.
        between: where only some changes of a record are looked at: which classes of records it goes from and to, either way; None for
            a record that is not there.
        few: inputs of which only some values are looked at.
        cells: where only some cells of a program are looked at: these, and the whole program.
    """

    mechanism: Mechanism
    body: Block
    code: tuple[Instruction, ...]
    live: tuple[tuple[str, ...], ...]
    cuts: tuple[int, ...]
    sorts: Mapping[str, Sort]
    high: frozenset[str]
    noisy: frozenset[str]
    tags: Mapping[object, int]
    size: int | None
    relation: str
    optional: Mapping[str, str]
    scales: Mapping[int, Scale]
    offset: int
    least: int = 0
    shown: Mapping[Place, Expression] = field(default_factory=dict)
    between: tuple[tuple[Class, Class | None], ...] = ()
    kept: Mapping[str, Sort] = field(default_factory=dict)
    few: Mapping[str, Input] = field(default_factory=dict)
    cells: Cells | None = None

    @property
    def inputs(self) -> Mapping[str, Input]:
        """The declared inputs."""
        return {**self.mechanism.inputs, **self.few} if self.few else self.mechanism.inputs

    @property
    def whole(self) -> Program:
        """The program with all its cells."""
        return self if self.cells is None else self.cells.program

    @property
    def lists(self) -> tuple[str, ...]:
        """The inputs that are lists."""
        return tuple(name for name, declared in self.inputs.items() if declared.shape == "list")

    @property
    def sites(self) -> tuple[Sample, ...]:
        """The instructions that draw noise."""
        return tuple(step for step in self.code if isinstance(step, Sample))

    def scale(self, sample: Sample) -> Scale:
        """The scale of noise that is shifted."""
        return self.scales[sample.site]


def program_for_alignment(
    mechanism: Mechanism,
    *,
    size: int | None = None,
    convert: bool = True,
    ahead: bool = False,
    select: bool = False,
) -> Program:
    """Prepare a mechanism for alignments.

    Args:
        mechanism: the mechanism.
        size: the length of its lists; None for every length.
        convert: whether tests that only guard assignments are converted.
        ahead: whether loops are cut after their test, so that shifts may depend on how it goes.
        select: whether a loop that only finds the largest of its noisy values becomes a selection.

    Raises:
        LanguageError: the mechanism is outside the class.
        Unsupported: it cannot be brought into the form.
    """

    def settled() -> Program:
        program = prepare_program(mechanism, convert=convert, ahead=ahead, select=select)
        refuse_choices(program.code, program.sorts)
        code = settle_sorts(program.code, {**program.sorts, **program.kept}, program.noisy, program.optional, mechanism)
        return replace(program, code=code)

    found = _once(mechanism, ("settled", convert, ahead, select), settled)
    return found if size is None else replace(found, size=size)


def _once(mechanism: Mechanism, form: tuple[object, ...], make: Callable[[], Program]) -> Program:
    """A program that is made of a mechanism, or why it cannot be: made once, as long as the same function would run.

    Raises:
        Unsupported: it cannot be brought into the form.
    """
    translated, kept = mechanism.translated, vars(mechanism)
    if kept.get("relational", (None,))[0] is not translated:
        kept["relational"] = (translated, {})
    known: dict[tuple[object, ...], Program | str] = kept["relational"][1]
    if form not in known:
        try:
            known[form] = make()
        except Unsupported as problem:
            known[form] = str(problem)
    found = known[form]
    if isinstance(found, str):
        raise Unsupported(found)
    return found


def prepare_program(
    mechanism: Mechanism,
    *,
    convert: bool = True,
    ahead: bool = False,
    select: bool = False,
) -> Program:
    """A mechanism as a program that can be followed on numbers; whether its values fit each other is not looked at.

    See `program_for_alignment`.
    """
    return _once(
        mechanism,
        ("prepared", convert, ahead, select),
        lambda: _prepared(mechanism, convert=convert, ahead=ahead, select=select),
    )


def _prepared(mechanism: Mechanism, *, convert: bool, ahead: bool, select: bool) -> Program:
    """The program; with lists that are kept where there is none without."""
    made = partial(_made, mechanism, convert=convert, ahead=ahead, select=select)
    try:
        return made(keep=False)
    except Unsupported:
        if select or not kept_names(mechanism.translated.body, mechanism):
            raise
    return made(keep=True)


def _made(mechanism: Mechanism, *, convert: bool, ahead: bool, select: bool, keep: bool) -> Program:
    relation = mechanism.neighbours
    if not isinstance(relation, str):
        raise Unsupported("its neighbours are given by a function; alignments need a relation with a name")
    for name, declared in mechanism.inputs.items():
        refuse_input(name, declared, mechanism)
    body = substitute_parameters(whole_already(mechanism.translated.body, mechanism), mechanism.parameters)
    body = rename_reserved_variables(counting_up(body, mechanism, by_place=not select), mechanism)
    body, least = written_out(released_table(body)), 0
    if keep:
        body = kept_lists(body, mechanism)
    if select:
        found = loops_as_selections(body, mechanism)
        if found is None:
            raise Unsupported(NO_SELECTION)
        body, least = found
    body = summarise_loops(body, mechanism, differing_by_assignment(body, mechanism))
    body = operands_apart(body, differing_by_assignment(body, mechanism))
    body = computed_last(body, differing_by_assignment(body, mechanism))
    body, shown = released_parts(body)
    body = drop_post_processing(body, differing_by_assignment(body, mechanism))
    refuse_outside(body, mechanism)
    body, offset = drop_returned_constants(released_list(body))
    body, flags = split_optional_variables(
        separate_noise_centres(noise_around_sums(data_before_noise(expand_sum_calls(body, mechanism))))
    )
    if convert:
        private = differing_by_assignment(body, mechanism)
        body = levelled_branches(body, lambda expression: differs(expression, private, mechanism))
        body = guards_as_conditionals(body, differing_by_assignment(body, mechanism))
    lists = [name for name, declared in mechanism.inputs.items() if declared.shape == "list"]
    made = flow(body, lists, given=(*mechanism.inputs, *mechanism.parameters))
    code = made.code
    held = list_names(body)
    for step in code:
        refuse_instruction(step, mechanism, held)
    scales = shifted_scales(code, body, mechanism)
    sorts, tags = variable_sorts(code, mechanism)
    kept = {name: sorts.pop(name) for name in held if name in sorts}
    high, noisy = differing_variables(code, mechanism)
    cuts = _cuts(code, ahead=ahead)
    return Program(
        mechanism,
        body,
        code,
        made.live,
        cuts,
        sorts,
        high,
        noisy,
        tags,
        None,
        relation,
        flags,
        scales,
        offset,
        least,
        shown,
        kept=kept,
    )


def _cuts(code: tuple[Instruction, ...], *, ahead: bool) -> tuple[int, ...]:
    """Where the program is cut: at its beginning and at every loop."""
    heads: set[int] = set()
    state: dict[int, int] = {}
    stack: list[tuple[int, Iterator[int]]] = []

    stack.append((0, iter(following(0, code[0]))))
    state[0] = 1
    while stack:
        number, rest = stack[-1]
        target = next(rest, None)
        if target is None:
            state[number] = 2
            stack.pop()
        elif state.get(target) == 1:
            heads.add(target)
        elif target not in state:
            state[target] = 1
            stack.append((target, iter(following(target, code[target]))))
    moved = set()
    for head in heads:
        step = code[head]
        moved.add(step.then if ahead and isinstance(step, Test) else head)
    return (0, *sorted(moved - {0})) if 0 not in moved else tuple(sorted(moved))
