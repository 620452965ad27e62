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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from privproof.compiling.keys import written_out
from privproof.compiling.levelling import common_draws, counted_from_zero, renamed
from privproof.compiling.optionals import optional
from privproof.compiling.postprocessing import postprocessed
from privproof.compiling.rewriting import (
    Unsupported,
    centred,
    converted,
    filled,
    folded,
    hoisted,
    is_number,
    looked_up,
    released_list,
    released_parts,
    unclamped,
    unshifted,
)
from privproof.compiling.selecting import selected
from privproof.compiling.sorts import (
    COMPARISONS,
    CONTINUOUS,
    OTHERS,
    PLACE,
    RANKED,
    SHIFTED,
    Sort,
    input_sort,
    mixed_values,
    settle_sorts,
    variable_sorts,
)
from privproof.compiling.summaries import SUMMED, summarised
from privproof.errors import LanguageError
from privproof.exact import ONE, Rational, rational
from privproof.exact.affine import as_power
from privproof.language.flow import Instruction, Jump, Next, Test, flow
from privproof.language.inputs import Input
from privproof.language.laws import Geometric, geometric
from privproof.language.mechanism import ADD_REMOVE, Mechanism
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Conditional,
    Constant,
    Each,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import parts, reads, rewritten, statements, variables, writes

_DEEPEST = 10
"""How many variables that stand for others are looked through, one behind the other; deeper ones stay names."""


@dataclass(frozen=True)
class Scale:
    """A scale: a rational multiple of a product of public whole numbers; of geometric noise, of one over a logarithm.

    To shift noise by s costs ``|s| / scale``, geometric noise ``|s| ln(1/alpha)``.  Where ``1/alpha = ratio^m`` with the largest such m,
    this is ``m |s|`` in units of ln(ratio): alpha = 1/4 and alpha = 1/2 are counted together.

    Attributes:
        factor: the rational; of geometric noise 1/m.
        names: the public numbers, sorted, with repetition.
        ratio: of geometric noise the ratio whose logarithm is the unit of its costs.
    """

    factor: Rational
    names: tuple[str, ...] = ()
    ratio: Rational | None = None

    @property
    def group(self) -> tuple[str, ...]:
        """What costs are counted in: the public numbers, or the logarithm."""
        return self.names if self.ratio is None else (f"ln({self.ratio})",)

    @property
    def alpha(self) -> Rational:
        """Of geometric noise: how much less likely it is one step further away."""
        assert self.ratio is not None
        return 1 / self.ratio ** int((1 / self.factor).p)


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
        shown: the outputs that are made of the parts that are written or returned, by their places.
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

    @property
    def inputs(self) -> Mapping[str, Input]:
        """The declared inputs."""
        return self.mechanism.inputs

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


def relational(
    mechanism: Mechanism, *, size: int | None = None, convert: bool = True, ahead: bool = False, select: bool = False
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
    program = prepare_program(mechanism, size=size, convert=convert, ahead=ahead, select=select)
    code = settle_sorts(program.code, program.sorts, program.noisy, program.optional, mechanism)
    return replace(program, code=code)


def prepare_program(
    mechanism: Mechanism, *, size: int | None = None, convert: bool = True, ahead: bool = False, select: bool = False
) -> Program:
    """A mechanism as a program that can be followed on numbers, see `relational`; whether its values fit each other is not looked at."""
    relation = mechanism.neighbours
    if not isinstance(relation, str):
        raise Unsupported("its neighbours are given by a function; alignments need a relation with a name")
    for name, declared in mechanism.inputs.items():
        _supported_input(name, declared, mechanism)
    body, least = written_out(renamed(filled(mechanism.translated.body, mechanism.parameters), mechanism)), 0
    if select:
        found = selected(body, mechanism)
        if found is None:
            raise Unsupported("it has no loop that only finds the largest of its noisy values")
        body, least = found
    body = summarised(counted_from_zero(body, mechanism), mechanism, _explicit(body, mechanism))
    body, shown = released_parts(looked_up(body, mechanism.inputs))
    body = postprocessed(body, _explicit(body, mechanism))
    refuse_outside(body, mechanism)
    body, offset = unshifted(released_list(unclamped(body)))
    body, flags = optional(centred(hoisted(body, mechanism)))
    if convert:
        body = common_draws(body)
        body = converted(body, _explicit(body, mechanism))
    lists = [name for name, declared in mechanism.inputs.items() if declared.shape == "list"]
    made = flow(body, lists, given=(*mechanism.inputs, *mechanism.parameters))
    code = made.code
    for step in code:
        _supported(step, mechanism)
    scales = _scales(code, body, mechanism)
    sorts, tags = variable_sorts(code, mechanism)
    high, noisy = _differing(code, mechanism)
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
        size,
        relation,
        flags,
        scales,
        offset,
        least,
        shown,
    )


def _supported_input(name: str, declared: Input, mechanism: Mechanism) -> None:
    """Refuse inputs that alignments do not speak of: of records they know totals, where one of them changes."""
    if declared.public:
        return
    relation = mechanism.neighbours
    if relation == ADD_REMOVE and (declared.shape != "list" or declared.size is not None):
        raise Unsupported(f"the input {name} has no records to add or remove: {declared}")
    if relation == ADD_REMOVE and sum(not each.public for each in mechanism.inputs.values()) > 1:
        raise Unsupported("there are several private inputs, and a record is added to one of them")
    if declared.within is None and (declared.shape != "list" or relation not in SUMMED):
        raise Unsupported(f"the input {name} is no number: {declared}")
    if declared.within is None and mixed_values(declared):
        raise Unsupported(f"the records of {name} are of different kinds: {declared}")


# ------------------------------------------------------------------------------------------------------------- analyses


def _explicit(body: Block, mechanism: Mechanism) -> set[str]:
    """The variables that private data or noise flow into by assignments (not by tests)."""
    found = {name for name, declared in mechanism.inputs.items() if not declared.public}
    while True:
        before = len(found)
        for statement in statements(body):
            name = writes(statement)
            if name is None:
                continue
            if isinstance(statement, Sample) and statement.noise in (PLACE, RANKED):
                continue
            noisy = isinstance(statement, Sample) and statement.noise in (*SHIFTED, "truncated_geometric", OTHERS)
            streamed = isinstance(statement, Each) and statement.stream in found
            if noisy or streamed or any(differs(e, found, mechanism) for e in reads(statement)):
                found.add(name)
        if len(found) == before:
            return found


def differs(expression: Expression, high: set[str] | frozenset[str], mechanism: Mechanism) -> bool:
    """Whether the value of an expression may differ between the two runs."""
    match expression:
        case Operation("len" | "turns", (Variable(name),)) if name in mechanism.inputs:
            return mechanism.neighbours == ADD_REMOVE and not mechanism.inputs[name].public
        case Variable(name):
            return name in high
        case Element(Variable(name), index) if name in mechanism.inputs:
            return name in high or differs(index, high, mechanism)
        case _:
            return any(differs(part, high, mechanism) for part in parts(expression))


def _differing(code: tuple[Instruction, ...], mechanism: Mechanism) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that may differ between the runs, and those in whose value noise has a part."""
    private = {name for name, declared in mechanism.inputs.items() if not declared.public}
    high, noisy = set(private), set[str]()
    while True:
        before = len(high) + len(noisy)
        for step in code:
            match step:
                case Assign(name, value):
                    if differs(value, high, mechanism):
                        high.add(name)
                    if noisy.intersection(variables(value)):
                        noisy.add(name)
                case Sample(_, "place" | "ranked"):
                    pass  # both runs have it in common
                case Sample(name, noise, arguments):
                    if noise in (*SHIFTED, OTHERS) or any(differs(a, high, mechanism) for a in arguments):
                        high.add(name)
                    noisy.add(name)
                case Next(name, stream):
                    if stream in private:
                        high.add(name)
                case _:
                    pass
        if len(high) + len(noisy) == before:
            return frozenset(high), frozenset(noisy)


def refuse_outside(body: Block, mechanism: Mechanism) -> None:
    """Refuse what no engine for continuous noise can be right about, with its place.

    Raises:
        LanguageError: a scale that depends on the data, a product of two private values, a test for equality on noise.
    """
    high = _explicit(body, mechanism)
    noisy: set[str] = set()  # by continuous noise, of which equality has probability 0
    while True:
        before = len(noisy)
        for statement in statements(body):
            name = writes(statement)
            continuous = isinstance(statement, Sample) and statement.noise in (*CONTINUOUS, OTHERS)
            if isinstance(statement, Sample) and statement.noise in (PLACE, RANKED):
                continue
            if name is not None and (continuous or any(noisy.intersection(_values(e)) for e in reads(statement))):
                noisy.add(name)
        if len(noisy) == before:
            break

    def look(expression: Expression) -> None:
        match expression:
            case Operation("processed", (_, *given)):
                for part in given:
                    look(part)
                return
            case Operation("*" | "repeat", (left, right), place) if differs(left, high, mechanism) and differs(
                right, high, mechanism
            ):
                raise LanguageError(
                    "product",
                    "two values that depend on the data or on noise are multiplied",
                    place=str(place),
                    hint="a product of private values has no bounded sensitivity; multiply by constants",
                )
            case Operation("/", (_, below), place) if differs(below, high, mechanism):
                raise LanguageError(
                    "quotient",
                    "a value is divided by one that depends on the data or on noise",
                    place=str(place),
                    hint="divide by constants and public numbers",
                )
            case Operation("==" | "!=" | "in" | "not in", operands, place) if any(
                noisy.intersection(_values(operand)) and not _discrete(operand) for operand in operands
            ):
                raise LanguageError(
                    "equality",
                    "a noisy number is tested for equality, which has probability 0",
                    place=str(place),
                    hint="compare with < or >=",
                )
            case Operation("//" | "%" | "int" | "**" as name, operands, place) if any(
                noisy.intersection(_values(operand)) for operand in operands
            ):
                raise LanguageError(
                    "rounding", f"{name} of a noisy number", place=str(place), hint="release the noisy number as it is"
                )
            case _:
                pass
        for part in parts(expression):
            look(part)

    decided = {s.name for s in statements(body) if isinstance(s, Assign) and _discrete(s.value)}
    noisy -= {
        name
        for name in decided
        if all(_discrete(s.value) for s in statements(body) if isinstance(s, Assign) and s.name == name)
        and not any(isinstance(s, Sample) and s.name == name for s in statements(body))
    }
    for statement in statements(body):
        for expression in reads(statement):
            look(expression)
        if isinstance(statement, Sample) and statement.noise in CONTINUOUS:
            scale = statement.arguments[1]
            if differs(scale, high, mechanism):
                raise LanguageError(
                    "scale",
                    "the scale of the noise depends on the data or on noise",
                    place=str(statement.place),
                    hint="a scale of constants, parameters and public numbers",
                )
            if isinstance(scale, Constant) and is_number(scale.value) and scale.value <= 0:  # type: ignore[operator]
                raise LanguageError(
                    "scale", f"scale={scale.value} is not above 0", place=str(statement.place), hint="scale=1"
                )


def _values(expression: Expression) -> Iterator[str]:
    """The variables whose numbers flow into an expression; not those that are only compared."""
    match expression:
        case Operation(name, _) if name in (*COMPARISONS, "not", "and", "or", "len", "is", "is not"):
            return
        case Variable(name):
            yield name
        case Conditional(_, then, otherwise):
            yield from _values(then)
            yield from _values(otherwise)
        case _:
            for part in parts(expression):
                yield from _values(part)


def _discrete(expression: Expression) -> bool:
    """Whether an expression has a truth value, a text or None, or a whole number that noise only selects."""
    match expression:
        case Constant():
            return True
        case Operation(name, _):
            return name in (*COMPARISONS, "not", "and", "or", "is", "is not", "in", "not in", "bool")
        case Conditional(_, then, otherwise):
            return _discrete(then) and _discrete(otherwise)
        case _:
            return False


_KNOWN = {
    "+", "extend", "-", "*", "/", "//", "%", "neg", "pos", "not", "and", "or", "len", "turns", "whole", "is", "is not",
    "max", "min", "abs", "tuple of", "bool", "total", "record", "field", *COMPARISONS,
}  # fmt: skip


_KEPT = {"list of": "a list is kept", "fixed list of": "a list is used", "slice": "a part of a list"}


def _supported(step: Instruction, mechanism: Mechanism) -> None:
    """Refuse instructions that alignments do not speak of."""
    match step:
        case Append(name, _, place) | Replace(name, _, _, place):
            raise Unsupported(f"the list {name} is kept, {place}; alignments know outputs, numbers and truth values")
        case Sample(_, noise, arguments, _, place):
            if noise not in (*SHIFTED, "bernoulli", "uniform", PLACE, OTHERS, RANKED):
                raise Unsupported(
                    f"{noise} noise, {place}; alignments are for laplace, exponential and geometric noise"
                )
            for argument in arguments:
                _expression(argument, mechanism)
        case Test(test):
            _expression(test, mechanism)
        case Emit(Operation("processed", (_, *given))) | Return(Operation("processed", (_, *given))):
            for part in given:
                _expression(part, mechanism)
        case Assign(_, value) | Emit(value) | Return(value):
            if not (isinstance(value, Constant) and value.value is MISSING):
                _expression(value, mechanism)
        case _:
            pass


def _expression(expression: Expression, mechanism: Mechanism) -> None:
    match expression:
        case Operation("len" | "turns", (Variable(name),), place) if name in mechanism.inputs:
            if differs(expression, frozenset(), mechanism):
                raise Unsupported(f"a loop over {name}, which may have one element more, {place}")
            return
        case Operation("record" | "field"):
            return
        case Operation("total", (_, added)):
            _expression(added, mechanism)
            return
        case Operation(name, arguments, place):
            if name not in _KNOWN:
                what = _KEPT.get(name, name.removesuffix(" of"))
                raise Unsupported(f"{what}, {place}; alignments know sums, multiples and comparisons of numbers")
            if name in ("max", "min") and len(arguments) < 2:
                raise Unsupported(f"{name} of a list, {place}; write the loop out")
        case Element(Variable(name), _, place):
            if mechanism.inputs.get(name) is None or mechanism.inputs[name].shape != "list":
                raise Unsupported(f"an element of {name}, which is no input list, {place}")
            declared = mechanism.inputs[name]
            other = bool(declared.fields) or input_sort(declared) not in ("int", "real")
            if not declared.public and (other or mechanism.neighbours == ADD_REMOVE):
                raise Unsupported(f"a record of {name} is read outside of a sum over all of them, {place}")
            _expression(expression.index, mechanism)
            return
        case Element(_, _, place):
            raise Unsupported(f"an element of something that is no input list, {place}")
        case Variable(name, place) if name in mechanism.inputs and mechanism.inputs[name].shape == "list":
            raise Unsupported(f"the whole list {name} is used, {place}")
        case Constant(value, place) if isinstance(value, tuple):
            raise Unsupported(f"a tuple, {place}")
        case _:
            pass
    for part in parts(expression):
        _expression(part, mechanism)


def _cuts(code: tuple[Instruction, ...], *, ahead: bool) -> tuple[int, ...]:
    """Where the program is cut: at its beginning and at every loop."""
    heads: set[int] = set()
    state: dict[int, int] = {}
    stack: list[tuple[int, Iterator[int]]] = []

    def following(number: int) -> Iterator[int]:
        match code[number]:
            case Jump(target):
                return iter((target,))
            case Test(_, then, otherwise):
                return iter((then, otherwise))
            case Return():
                return iter(())
            case _:
                return iter((number + 1,))

    stack.append((0, following(0)))
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
            stack.append((target, following(target)))
    moved = set()
    for head in heads:
        step = code[head]
        moved.add(step.then if ahead and isinstance(step, Test) else head)
    return (0, *sorted(moved - {0})) if 0 not in moved else tuple(sorted(moved))


def resolved(expression: Expression, body: Block) -> Expression:
    """An expression with the values of variables that are assigned once, such as the arguments of a function that is called."""
    once: dict[str, Expression | None] = {}
    for statement in statements(body):
        name = writes(statement)
        if name is not None:
            again = name in once or not isinstance(statement, Assign)
            once[name] = None if again else statement.value  # type: ignore[union-attr]

    def read(part: Expression, left: int) -> Expression:
        def change(inner: Expression) -> Expression | None:
            if isinstance(inner, Variable) and (value := once.get(inner.name)) is not None and left:
                return read(value, left - 1)
            return None

        return rewritten(part, change)

    return read(expression, _DEEPEST)


def _scales(code: tuple[Instruction, ...], body: Block, mechanism: Mechanism) -> dict[int, Scale]:
    """The scale of every noise that is shifted, by its site; one that may be 0 or below is refused."""
    found = {}
    for sample in (step for step in code if isinstance(step, Sample) and step.noise == "geometric"):
        found[sample.site] = _logarithm(sample, body)
    for sample in (step for step in code if isinstance(step, Sample) and step.noise in CONTINUOUS):
        found[sample.site] = scale = _scale(resolved(sample.arguments[1], body), mechanism.public_numbers)
        for name in scale.names:
            low = mechanism.inputs[name].low
            if low is None or low < 1:
                raise LanguageError(
                    "scale",
                    f"the scale is a multiple of {name}, which may be 0 or below",
                    place=str(sample.place),
                    hint=f"{name}: public(integer(low=1))",
                )
    return found


def _logarithm(sample: Sample, body: Block) -> Scale:
    """The scale of geometric noise: alpha as a power."""
    given = [folded(resolved(argument, body)) for argument in sample.arguments[1:]]
    values = [each.value for each in given if isinstance(each, Constant)]
    if len(values) < len(given):
        raise Unsupported(f"alpha of the noise at {sample.place} is no constant")
    law = geometric(0, *values)
    assert isinstance(law, Geometric)
    ratio, power = as_power(1 / rational(law.alpha))
    return Scale(ONE / power, (), ratio)


def _scale(expression: Expression, public: tuple[str, ...]) -> Scale:
    """A scale as a multiple of a product of public numbers."""
    factor, powers = _monomial(expression, public)
    if any(power < 0 for power in powers.values()):
        raise Unsupported(f"the scale at {expression.place} divides by a public number")
    return Scale(factor, tuple(sorted(name for name, power in powers.items() for _ in range(power))))


def _monomial(expression: Expression, names: tuple[str, ...]) -> tuple[Rational, dict[str, int]]:
    """A scale as a rational times powers of names."""
    match expression:
        case Constant(int() | Fraction() as value) if is_number(value):
            return rational(value), {}
        case Constant(str() as value):
            return rational(value), {}
        case Variable(name) if name in names:
            return ONE, {name: 1}
        case Operation("*" | "/" as sign, (left, right)):
            a, m = _monomial(left, names)
            b, n = _monomial(right, names)
            powers = dict(m)
            for name, power in n.items():
                powers[name] = powers.get(name, 0) + (power if sign == "*" else -power)
            return (a * b if sign == "*" else a / b), {k: v for k, v in powers.items() if v}
        case Operation("pos" | "whole", (inner,)):
            return _monomial(inner, names)
        case _:
            raise Unsupported(f"the scale at {expression.place} is no multiple of a product of public numbers")


def unit(mechanism: Mechanism) -> str | None:
    """The parameter that all scales are inversely proportional to and that occurs nowhere else, if there is one.

    What costs B at one value of such a parameter costs the same multiple of it at every other: the shifts do not change.

    >>> from privproof.library.laplace.noisy_max import noisy_max
    >>> unit(noisy_max)
    'epsilon'
    """
    for name, value in mechanism.parameters.items():
        if not is_number(value):
            continue
        others = {n: v for n, v in mechanism.parameters.items() if n != name}
        body = filled(mechanism.translated.body, others)
        scales = [s for s in statements(body) if isinstance(s, Sample) and s.noise in CONTINUOUS]
        elsewhere = any(
            name in variables(e)
            for s in statements(body)
            for e in (s.arguments[:1] if isinstance(s, Sample) and s.noise in CONTINUOUS else reads(s))
        )
        try:
            known = (*mechanism.public_numbers, name)
            powers = [_monomial(resolved(s.arguments[1], body), known)[1] for s in scales]
        except Unsupported:
            continue
        if scales and not elsewhere and all(power.get(name) == -1 for power in powers):
            return name
    return None
