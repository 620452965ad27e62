"""A mechanism of finite kind at a size: what it begins with, and how its states and outputs are called.

A program ends with one output, or, as a generator, writes some on the way.  Public inputs are the same on both sides: each of their values
is a start, a pair of equal initial distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, NoReturn

from privproof.compiling.exploring import Explorer, Rest
from privproof.compiling.list_sums import summing_flow
from privproof.compiling.open_claims import has_one_open_list, how_long, open_claim
from privproof.errors import LanguageError, QuestionError
from privproof.exact import ONE, Rational
from privproof.language.indices import OpenList
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.mechanism import Mechanism
from privproof.language.values import Answers, Cells, plain, shared_value, shown_name, text
from privproof.models import Horizon, Transducer
from privproof.scenarios import Neighbours, Origin, Pair

MOST_STATES = 5_000
"""States after as many answers: the word problem has matrices of this size for every letter. More are refused."""
MOST_DATA_SETS = 5_000
"""Data sets, or values of public inputs, where they are listed one by one; more are refused."""
_MOST_VALUES = 1_000
"""Values of one entry: letters are pairs of them, so a million at the most. More are refused."""


@dataclass(frozen=True)
class Start:
    """One value of the public inputs."""

    name: str
    public: Mapping[str, Any]
    store: dict[str, Any] = field(compare=False)


class FiniteProgram:
    """A mechanism, its sizes and its claim, with the explorer of its states."""

    def __init__(
        self,
        mechanism: Mechanism,
        size: int | None,
        horizon: Horizon | None,
        *,
        collected: bool = False,
        every_length: bool = False,
    ) -> None:
        self.collected = collected
        self.mechanism = mechanism.pinned()
        self.horizon = horizon
        if horizon is not None and horizon.high is not None:  # a run may end before the last answer
            self.horizon = Horizon.up_to(horizon.high)
        self.explorer = Explorer(summing_flow(self.mechanism))
        self.generator = mechanism.generator
        self.private = {n: i for n, i in mechanism.inputs.items() if not i.public}
        self.public = {n: i for n, i in mechanism.inputs.items() if i.public and i.shape != "stream"}
        self.stream = mechanism.stream
        self.place = mechanism.name
        self.every_length = every_length and size is None and has_one_open_list(mechanism)
        self.sizes = self._sizes(size)
        self.rate = ONE
        if self.every_length:
            self.budget, self.rate = open_claim(mechanism)
        else:
            self.budget = mechanism.budget(max(self.sizes.values(), default=size))
        if self.stream is not None and size is not None:
            if horizon is not None:
                raise QuestionError(
                    "size", "a size and a horizon for one stream", place="size", hint="give one of the two"
                )
            self.horizon = Horizon.up_to(size)
        for name, declared in mechanism.inputs.items():
            if declared.values is None:
                self.refuse(
                    "input",
                    f"{name}: {declared} has no finite set of values",
                    "give both bounds, such as queries(0, 10)",
                )
            if len(declared.values) > _MOST_VALUES:
                self.refuse(
                    "size",
                    f"{name}: {declared} has {len(declared.values)} values, more than {_MOST_VALUES}",
                    "a smaller range; what is proved for it is not proved for a larger one",
                )

    def refuse(self, code: str, message: str, hint: str) -> NoReturn:
        """The mechanism does not become a question, for a reason that its author can do something about."""
        raise LanguageError(code, message, place=self.place, hint=hint)

    def _sizes(self, size: int | None) -> dict[str, int]:
        lists = {n: i for n, i in self.mechanism.inputs.items() if i.shape == "list"}
        open_ended = [n for n, i in lists.items() if i.size is None]
        if open_ended and size is None and not self.every_length:
            raise how_long(open_ended[0], self.place)
        if size is not None and not open_ended and self.stream is None:
            raise QuestionError("size", "no list of open length takes it", place="size", hint="drop the size")
        if size is not None and size < 1:
            raise QuestionError("size", f"size={size}: a list has at least one element", place="size", hint="size=3")
        return {n: i.size or size or 0 for n, i in lists.items()}

    def lengths(self, name: str, declared: Input) -> tuple[int, ...]:
        """The lengths of a list: with one element added or removed, two."""
        longest = self.sizes[name]
        open_ended = declared.size is None and not declared.public
        return (longest - 1, longest) if open_ended and self.mechanism.neighbours == ADD_REMOVE else (longest,)

    def all_values(self, name: str, declared: Input) -> Iterator[Any]:
        assert declared.values is not None
        if declared.shape == "list":
            if len(declared.values) ** self.sizes[name] > MOST_DATA_SETS:
                self.refuse(
                    "size",
                    f"{name} has {len(declared.values)}^{self.sizes[name]} values, more than {MOST_DATA_SETS}",
                    "a smaller size or range",
                )
            for length in self.lengths(name, declared):
                yield from (Answers(values) for values in product(declared.values, repeat=length))
        else:
            yield from declared.values

    def starts(self) -> list[Start]:
        """Every value of the public inputs, with the parameters in place."""
        parameters = {name: shared_value(value) for name, value in self.mechanism.parameters.items()}
        starts = []
        for values in product(*(self.all_values(n, i) for n, i in self.public.items())):
            chosen = dict(zip(self.public, values, strict=True))
            name = ", ".join(f"{n}={text(v) if not isinstance(v, Answers) else list(v)}" for n, v in chosen.items())
            starts.append(
                Start(name or "neighbours", {n: plain(v) for n, v in chosen.items()}, {**parameters, **chosen})
            )
            if len(starts) > MOST_DATA_SETS:
                self.refuse("size", f"the public inputs have more than {MOST_DATA_SETS} values", "fewer values")
        return starts

    def state_name(self, rest: Rest) -> str:
        return self.state_name_in(self.explorer, rest)

    def state_name_in(self, explorer: Explorer, rest: Rest) -> str:
        if rest.key[0] == "start":
            return "start" if rest.key[2] == "neighbours" else f"start, {rest.key[2]}"
        written = f" after {' '.join(map(text, rest.written))}" if rest.written else ""
        if rest.state is None:
            return f"ended: {text(rest.value)}{written}" if rest.value is not None else f"ended{written}"
        flow = explorer.flow
        shown = [
            f"{shown_name(n)}={text(v)}"
            for n, v in rest.state.store(flow).items()
            if (not n.startswith("#") or "." in n)
            and not isinstance(v, Answers | OpenList)
            and n not in self.mechanism.parameters
        ]
        return f"line {flow.code[rest.state.at].place.line}{': ' if shown else ''}{', '.join(shown)}{written}"

    def collected_rest(self, before: tuple[Any, ...], rest: Rest) -> Rest:
        """A rest that keeps what was written so far; at the end of a generator this is its output."""
        written = (*before, *rest.written)
        if rest.state is None and self.generator:
            return Rest.of(None, Cells(written), ())
        return Rest.of(rest.state, rest.value, written)

    def origin(
        self,
        fed: str | None,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        starts: list[Start],
        *,
        collected: bool,
    ) -> Origin:
        public = {start.name: (start.public, start.public) for start in starts}
        return Origin(self.mechanism, fed, inputs, outputs, MappingProxyType(public), collected=collected)


def start_pairs(model: Transducer, starts: list[Start], initial: Sequence[Mapping[str, Rational]]) -> tuple[Pair, ...]:
    if len(starts) == 1 and not starts[0].public:
        return ()
    return tuple(Pair.of(model, s.name, row, row) for s, row in zip(starts, initial, strict=True))


def neighbours_of(relation: str, declared: Input) -> Neighbours:
    if relation == ADD_REMOVE:
        return Neighbours.add_remove()
    make = {"each": Neighbours.each, "one": Neighbours.one, "monotone": Neighbours.monotone}[relation]
    if relation == "monotone" and declared.within is None:
        raise without_order(declared)
    return make(within=declared.within)


def without_order(declared: Input) -> LanguageError:
    return LanguageError(
        "neighbours", f"{declared} has no order, so nothing moves in one direction", hint='neighbours="one"'
    )
