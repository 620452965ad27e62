"""What an entry of the data pulls to: the one outcome that becomes likelier where it rises, or where it falls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from privproof.compiling.register_states import Outcome, Registers
from privproof.compiling.rewriting import Unsupported
from privproof.exact import Rational

Point: TypeAlias = tuple[Rational, ...]
"""The values of all entries of the data."""
Event: TypeAlias = frozenset[int]
"""Outcomes, by number."""


@dataclass(frozen=True)
class Pull:
    """What an entry does: the outcome that it pulls to, where it rises (1) or falls (-1), and the outcomes that depend on it."""

    towards: int
    rising: int
    moved: Event
    kind: str
    scale: Rational


def taking_part(model: Registers) -> list[int]:
    """The noisy values on which some outcome depends."""
    terms = [term for outcome in model.outcomes for term in outcome.terms]
    return sorted({atom for term in terms for atom in (*term.cells, *(a for each in term.tuples for a in each))})


def pulls(model: Registers) -> tuple[Pull, ...]:
    """What every entry pulls to.

    Raises:
        Unsupported: some entry does not pull to one outcome.
    """
    return tuple(_pull(model, entry) for entry in model.entries)


def _pull(model: Registers, entry: str) -> Pull:
    atoms = [atom for atom in taking_part(model) if model.noises[atom].entry == entry]
    signed: list[int | None] = []
    for outcome in model.outcomes:
        ways = {
            way if way is None or model.noises[atom].center.terms[0][1] > 0 else -way
            for atom in atoms
            for way in (_way(outcome, atom),)
        } - {0}
        signed.append(0 if not ways else ways.pop() if len(ways) == 1 else None)
    for rising in (1, -1):
        others = [number for number, way in enumerate(signed) if way not in (0, -rising)]
        if len(others) == 1:
            noise = model.noises[atoms[0]]
            moved = frozenset(number for number, way in enumerate(signed) if way != 0)
            return Pull(others[0], rising, moved, noise.kind, noise.scale / abs(noise.center.terms[0][1]))
    raise Unsupported(f"real answers: where {entry} rises, more than one outcome becomes likelier")


def _way(outcome: Outcome, atom: int) -> int | None:
    """Whether an outcome becomes likelier (1) or less likely (-1) where a noisy value rises, for all other noise; None where neither."""
    found = set()
    for term in outcome.terms:
        if any(atom in each for each in term.tuples):
            sides = set(term.cells.values())
            if term.tuples != {(atom,)} or len(sides) > 1:
                return None
            found |= {1 if side == 1 else -1 for side in sides}  # it is above all others, or below
            continue
        mask = term.cells.get(atom)
        if mask is not None:
            everywhere = (1 << (term.registers + 1)) - 1
            lower, upper = (mask & (mask + 1)) == 0, ((everywhere ^ mask) & ((everywhere ^ mask) + 1)) == 0
            if not (lower or upper):
                return None
            found.add(-1 if lower else 1)
    return None if len(found) > 1 else found.pop() if found else 0
