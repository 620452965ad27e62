"""What a noise has to do with: the tests and outputs that it flows into, and the data that meet it there.

A mechanism that makes several decisions one after the other has a path for every combination of them.  If every shift may depend on the
whole path, there are exponentially many shifts to be found; as a rule the shift of a noise depends on the decisions that this noise
takes part in, and on the data that it is compared with or hidden in.
"""

from __future__ import annotations

from typing import Any

from privproof.compiling.relational import Program
from privproof.compiling.sorts import output_parts
from privproof.engines.laplace.alignments import CONSTANT, Case, Feature, features
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.paths import DrawnNoise, Path
from privproof.engines.laplace.values import Term
from privproof.exact.patience import pause
from privproof.language.flow import Test
from privproof.language.syntax import Append, Assign, Replace, Return, Sample
from privproof.language.walking import variables


def variables_with_noise(program: Program, instruction: int) -> frozenset[str]:
    """The variables that a noise flows into, by assignments."""
    drawn = program.code[instruction]
    assert isinstance(drawn, Sample)
    found = {drawn.name}
    while True:
        before = len(found)
        for step in program.code:
            match step:
                case Assign(name, value) | Replace(name, _, value) | Append(name, value) if found.intersection(
                    variables(value)
                ):
                    found.add(name)
                case Sample(name, _, arguments) if any(found.intersection(variables(a)) for a in arguments):
                    found.add(name)
        if len(found) == before:
            return frozenset(found)


class Locality:
    """For every noise of a program what its shift may depend on."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks, self.program = blocks, blocks.program
        self._tests: dict[int, frozenset[int]] = {}
        self._outputs: dict[int, frozenset[int]] = {}
        for number, step in enumerate(self.program.code):
            if isinstance(step, Sample):
                names = variables_with_noise(self.program, number)
                self._tests[number] = frozenset(
                    at
                    for at, test in enumerate(self.program.code)
                    if isinstance(test, Test) and names.intersection(variables(test.test))
                )
                self._outputs[number] = frozenset(
                    k
                    for end in self.program.code
                    if isinstance(end, Return)
                    for k, part in enumerate(output_parts(end.value))
                    if names.intersection(variables(part))
                )
        self._known: dict[tuple[Path, int], dict[Feature, Term]] = {}

    def tests(self, path: Path, instruction: int) -> tuple[tuple[int, bool], ...]:
        """The tests of a path that a noise flows into, and how they go."""
        return tuple(test for test in path.tests if test[0] in self._tests[instruction])

    def foretold(self, path: Path, case: Case, drawn: DrawnNoise) -> Case:
        """What is foretold that a noise has a part in; of indices those of data that meet it."""
        own, met = self._outputs[drawn.instruction], self.features(path, drawn)

        def concerns(atom: tuple[Any, ...]) -> bool:
            match atom:
                case ("index", read, k, _):
                    return k in own and ("read", read) in met
                case ("output", k, *_):
                    return k in own
                case _:
                    return True

        return tuple(filter(concerns, case))

    def features(self, path: Path, drawn: DrawnNoise) -> dict[Feature, Term]:
        """The features of a shift that meet the noise in what must hold, in the state after the path, or in the result."""
        key = (path, drawn.instruction)
        if key not in self._known:
            self._known[key] = features(path, drawn) if drawn.settled else self._meeting(path, drawn)
        return self._known[key]

    def _meeting(self, path: Path, drawn: DrawnNoise) -> dict[Feature, Term]:
        terms = [o.condition for o in path.obligations] + [o.gap for o in path.obligations if o.gap is not None]
        terms += [*path.after.values(), *(part.two for part in path.parts)]
        shift = drawn.shift.decl().name()
        meeting = set[str]().union(*(names for names in map(_symbols, terms) if shift in names))
        every = features(path, drawn)
        return {
            feature: term
            for feature, term in every.items()
            if feature == CONSTANT or meeting.intersection(_symbols(term))
        }


def _symbols(term: Term) -> frozenset[str]:
    """The names of the symbols in a term."""
    pause()
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if part.num_args() == 0:
            found.add(part.decl().name())
        waiting.extend(part.children())
    return frozenset(found)
