"""The ways of a function from one number of its stream to the next, with every noise and the number itself left open.

What the function computes are linear forms in atoms: the *number* that is read, public *inputs*, *thresholds* (noisy numbers that an
automaton has kept), and the *noises* drawn since, each with what its center holds of the number, of public inputs and of constants.
A comparison that nothing decides is taken both ways.  It is an order between two atoms, and ties have probability zero: one of the two
has Laplace noise of which the other does not depend.  Whatever is compared and has another form is beyond the checker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from privproof_checker.numbers import Rational, rational
from privproof_checker.source.forms import Deciding, Form, Known, knowing
from privproof_checker.source.laws import Continuous
from privproof_checker.source.machine import Machine
from privproof_checker.source.reading import Function
from privproof_checker.source.running import Emit, End, Noise, Run, Wait, Work
from privproof_checker.source.source_member import PLACE
from privproof_checker.source.values import Beyond, Value
from privproof_checker.streams.automaton_steps import Origins
from privproof_checker.streams.order_systems import Conflict, Different, Order, Term, conflict

_MOST_DRAWS = 400
"""As many noises a function may draw for one number: far more than a step of an automaton compares."""
_COMPARING, _RELAXED = 20, 6
"""How many steps of a run take about as long as looking for a contradiction in no orders; and how many pairs of orders as one step."""

Atom: TypeAlias = tuple[str, str | int]
"""What is left open: ``number``, ``public``, ``threshold``, ``noise``, or ``lost``; and which one."""


class Atoms:
    """The atoms, which forms know by their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Atom, int] = {}
        self._listed: list[Atom] = []

    def number(self, kind: str, name: str | int = "") -> int:
        """The number of an atom."""
        found = self._numbers.setdefault((kind, name), len(self._listed))
        if found == len(self._listed):
            self._listed.append((kind, name))
        return found

    def form(self, kind: str, name: str | int = "") -> Form:
        """An atom as a form."""
        return Form(Fraction(0), {self.number(kind, name): Fraction(1)})

    def __getitem__(self, number: int) -> Atom:
        return self._listed[number]

    def order(self, form: Form) -> Order:
        """That a form is at least zero, as an order between two atoms, or an atom and zero."""
        for atom in form.terms:
            kind, name = self[atom]
            if kind == "public":
                raise Beyond(f"the public number {str(name)[:60]!r} is compared without noise of its own", PLACE)
            if kind == "lost":
                raise Beyond("a number is used that the automaton does not keep", PLACE)
        above, below = ([a for a, factor in form.terms.items() if factor * sign > 0] for sign in (1, -1))
        sizes = {abs(factor) for factor in form.terms.values()}
        if len(above) > 1 or len(below) > 1 or len(sizes) != 1:
            raise Beyond("a comparison of something else than two noisy numbers", PLACE)
        offset = rational(-form.constant / sizes.pop())
        return (below[0] if below else None, above[0] if above else None, offset)

    def different(self, origins: Origins, held: frozenset[int]) -> Different:
        """Which atoms have a difference that equals any given number with probability zero.

        Args:
            origins: where the thresholds of the automaton come from.
            held: the thresholds that the run holds: noises that it has drawn, each another one.
        """
        kept = origins.different(())

        def threshold(term: Term) -> Term:
            kind, name = (None, "") if not isinstance(term, int) else self[term]
            return name if kind == "threshold" else None

        def different(one: Term, two: Term) -> bool:
            if one == two:
                return False
            if any(isinstance(term, int) and self[term][0] == "noise" for term in (one, two)):
                return True
            names = [term for term in (one, two) if threshold(term) is not None]
            return (bool(names) and held.issuperset(names)) or kept(threshold(one), threshold(two))

        return different


def opposite(order: Order) -> Order:
    """The order that holds where another one does not, but for ties."""
    low, high, offset = order
    return high, low, -offset


@dataclass(frozen=True)
class Draw:
    """A noise that is left open: ``reads * number + mean`` and a part of public inputs, plus Laplace noise of a rate."""

    rate: Rational
    reads: Fraction
    mean: Fraction
    public: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Way:
    """A run from one number to the next.

    Attributes:
        run: the run, where it waits for the next number or has ended.
        draws: the noises it has drawn.
        conditions: the orders that it takes for granted; together they can hold.
        written: its outputs.
        ended: whether it has ended.
    """

    run: Run
    draws: tuple[Draw, ...] = ()
    conditions: tuple[Order, ...] = ()
    written: tuple[Value, ...] = ()
    ended: bool = False


class Ways:
    """Runs a function from one number to the next."""

    def __init__(self, functions: tuple[Function, ...], work: Work) -> None:
        self.work = work
        self.atoms = Atoms()
        self.machine = Machine(functions, work, exact_quotients=not any(each.ordinary for each in functions))
        self._generator = functions[0].generator

    def onward(self, run: Run, different: Different) -> list[Way]:
        """All ways of a run; they exclude each other, and one of them is taken almost surely."""
        found: list[Way] = []
        waiting = [Way(run)]
        while waiting:
            way = waiting.pop()
            with knowing(self._decided(way, different)):
                event = self.machine.go(way.run)
            match event:
                case Noise(Continuous("laplace", center, scale)):
                    waiting.append(self._drawn(way, Form.of(center), scale))
                case Noise():
                    raise Beyond("noise on a stream of numbers that is not Laplace noise", PLACE)
                case Deciding(form=form):
                    order = self.atoms.order(form)
                    for outcome in (order, opposite(order)):
                        conditions = (*way.conditions, outcome)
                        waiting.append(replace(way, run=self.machine.copied(way.run), conditions=conditions))
                case Emit(value):
                    waiting.append(replace(way, written=(*way.written, value)))
                case Wait():
                    found.append(way)
                case End(value):
                    written = way.written if self._generator else (*way.written, value)
                    found.append(replace(way, written=written, ended=True))
                case _:
                    raise Beyond("noise that is drawn in part, in a program with continuous noise", PLACE)
        return found

    def contradict(self, orders: tuple[Order, ...], different: Different) -> bool:
        """Whether orders hold together with probability zero only."""
        self.work.spend(_COMPARING + len(orders) ** 2 // _RELAXED)
        return conflict(orders, different) is Conflict.ALWAYS

    def _decided(self, way: Way, different: Different) -> Known:
        """What the conditions of a way decide about forms."""

        def known(form: Form, strict: bool) -> bool | None:  # noqa: FBT001
            order = self.atoms.order(form)
            if not different(order[0], order[1]):
                raise Beyond("numbers are compared that may tie: no noise tells them apart", PLACE)
            if self.contradict((*way.conditions, order), different):
                return False
            return True if self.contradict((*way.conditions, opposite(order)), different) else None

        return known

    def _drawn(self, way: Way, center: Form, scale: Fraction) -> Way:
        """The way on which one more noise is open."""
        number = len(way.draws)
        if number >= _MOST_DRAWS:
            raise Beyond(f"more than {_MOST_DRAWS} noises are drawn for one number", PLACE)
        reads, public, rest = Fraction(0), [], {}
        for atom, factor in sorted(center.terms.items()):
            kind, _ = self.atoms[atom]
            if kind == "number":
                reads = factor
            elif kind == "public":
                public.append((atom, factor))
            else:
                rest[atom] = factor
        draw = Draw(1 / rational(scale), reads, center.constant, tuple(public))
        way.run.frames[-1].stack.append(self.atoms.form("noise", number) + Form(Fraction(0), rest))
        return replace(way, draws=(*way.draws, draw))
