"""The instructions of a program with continuous noise: what each holds, and the program that they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from privproof_checker.numbers import Rational
from privproof_checker.programs.open_trees import WHOLE
from privproof_checker.programs.program_expressions import Expression, Tags
from privproof_checker.programs.program_inputs import Declared


@dataclass(frozen=True)
class Logarithm:
    """The logarithm of a ratio above 1 that is no power of another: what the costs of geometric noise are multiples of."""

    ratio: Rational

    def __str__(self) -> str:
        return f"ln({self.ratio})"


@dataclass(frozen=True)
class Squares:
    """What the shifts of Gaussian noise are counted in: the square of a shift over the variance."""

    def __str__(self) -> str:
        return "mu^2"


SQUARES = Squares()
Group: TypeAlias = tuple[str, ...] | Logarithm | Squares
"""The public integers that a scale is a multiple of, sorted; the logarithm that geometric noise costs multiples of; squares."""


@dataclass(frozen=True)
class Assign:
    """A variable becomes the value of an expression."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Sample:
    """A variable becomes the centre plus noise: continuous (``exponential`` from 0 on), ``geometric``, or ``discrete_gaussian``.

    The scale is the factor times the product of the group; that of geometric noise the factor over the logarithm, because to shift
    it by s costs ``|s| ln(1/alpha)``; that of Gaussian noise, its standard deviation, is the factor; of discrete Gaussian noise the
    factor is the variance.  Laplace noise with a `bound` is known to lie between -bound and bound: its kind is ``truncated_laplace``.

    Where there is a `where`, the text draws it only where that holds.  The instructions draw it in any case, so for an alignment it is
    without meaning.
    """

    name: str
    kind: str
    center: Expression
    factor: Rational
    group: Group
    where: Expression | None = None
    bound: Rational | None = None

    @property
    def law(self) -> tuple[object, ...]:
        """What the noise is, whatever it is added to."""
        return self.kind, self.factor, self.group, self.bound

    @property
    def whole(self) -> bool:
        """Whether it is noise on the integers."""
        return self.kind in WHOLE

    @property
    def gaussian(self) -> bool:
        """Whether it is Gaussian noise, continuous or discrete."""
        return isinstance(self.group, Squares)

    @property
    def variance(self) -> Rational:
        """The variance of Gaussian noise."""
        return self.factor if self.whole else self.factor**2

    @property
    def alpha(self) -> Rational:
        """Of geometric noise: how much less likely it is one step further away."""
        assert isinstance(self.group, Logarithm)
        return 1 / self.group.ratio ** int((1 / self.factor).p)


@dataclass(frozen=True)
class Coin:
    """A variable becomes a random truth value, the same in both runs."""

    name: str


@dataclass(frozen=True)
class Whole:
    """A variable becomes a random whole number between two bounds, the same in both runs."""

    name: str
    low: Expression
    high: Expression


@dataclass(frozen=True)
class EmitOutput:
    """An output on the way; processed: computed from its parts and from what is public, whatever it is."""

    parts: tuple[Expression, ...]
    processed: bool = False


@dataclass(frozen=True)
class Return:
    """The last output, and the end; processed: computed from its parts and from what is public, whatever it is."""

    parts: tuple[Expression, ...]
    processed: bool = False


@dataclass(frozen=True)
class Test:
    """The run goes on at one of two instructions."""

    condition: Expression
    then: int
    otherwise: int


@dataclass(frozen=True)
class Jump:
    """The run goes on elsewhere."""

    target: int


@dataclass(frozen=True)
class NextValue:
    """A variable becomes the next value of a stream."""

    name: str
    stream: str


@dataclass(frozen=True)
class Forget:
    """A variable has no value any more: any one, the same in both runs."""

    name: str


@dataclass(frozen=True)
class SelectionPlace:
    """A place of a selection: any place of a list, or of so many, but those before, the same in both runs."""

    name: str
    listed: str | int
    before: tuple[str, ...]


@dataclass(frozen=True)
class Others:
    """The largest value of a selection at all places but those named; the centre is that at the first of these."""

    name: str
    listed: str | int
    center: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class Ranked:
    """The values of a selection come in this order: each is at least the next."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Fill:
    """A list that is kept gets so many entries, all of one value."""

    name: str
    count: Expression
    value: Expression


@dataclass(frozen=True)
class Copy:
    """A list that is kept gets the entries of another one, or of an input."""

    name: str
    source: str


@dataclass(frozen=True)
class Put:
    """An entry of a list that is kept becomes a value; without an index, the list gets one entry more, at its end."""

    name: str
    index: Expression | None
    value: Expression


Instruction: TypeAlias = (
    Assign
    | Sample
    | Coin
    | Whole
    | EmitOutput
    | Return
    | Test
    | Jump
    | NextValue
    | Forget
    | SelectionPlace
    | Others
    | Ranked
    | Fill
    | Copy
    | Put
)


@dataclass(frozen=True)
class Program:
    """A mechanism.

    Attributes:
        declared: its inputs and the claim.
        variables: the sort of each variable that is not an input.
        code: the instructions.
        tags: the numbers of its tags.
        kept: the sort of the entries of each list that is kept.
    """

    declared: Declared
    variables: Mapping[str, str]
    code: tuple[Instruction, ...]
    tags: Tags
    kept: Mapping[str, str] = field(default_factory=dict)

    def following(self, number: int) -> tuple[int, ...]:
        """Where the run may go on after an instruction; the number past the last one means beyond the end."""
        match self.code[number]:
            case Return():
                return ()
            case Jump(target):
                return (target,)
            case Test(_, then, otherwise):
                return (then, otherwise)
        return (number + 1,)
