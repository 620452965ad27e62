"""The outputs of a mechanism as the symbols of a finite model.

Two outputs are the same if they print alike.  An unbounded noisy number stands in an output as a *tail* ("at least b").  Given that
it is at least b, its excess over b has one and the same geometric law whatever the inputs were; so an output "at least b" tells two
situations apart exactly as well as all the outputs b, b+1, ... together, and finitely many symbols are enough.  For that all
tails at one position of the output must begin at the same b: `refined` draws them further until they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, rational
from privproof.language.values import Tail, parts_of, text, with_parts
from privproof.scenarios import Several

Path: TypeAlias = tuple[int, ...]
Key = TypeVar("Key")
_WIDEST = 2_000
"""Values between the two tails of a number in the output, each an output of its own; more are refused."""


@dataclass(frozen=True)
class Borders:
    """Where the tails begin, at every position of an output and in each direction."""

    begins: dict[tuple[Path, int], int]

    def refined(self, value: Any) -> list[tuple[Any, Rational]]:
        """The output with its tails drawn up to the borders: what it may be, with probabilities."""
        result: list[tuple[Any, Rational]] = [(value, ONE)]
        for path, leaf in leaves(value):
            if isinstance(leaf, Tail):
                border = self.begins[path, leaf.sign]
                distance = (border - leaf.offset) * leaf.sign
                base = rational(leaf.alpha)
                drawn: list[tuple[Any, Rational]] = [
                    (leaf.offset + leaf.sign * k, base**k * (ONE - base)) for k in range(distance)
                ]
                drawn.append((Tail(-1, leaf.sign, border, leaf.alpha), base**distance))
                result = [(_put(v, path, new), p * q) for v, p in result for new, q in drawn]
        return result


def borders(values: Iterable[Any]) -> Borders:
    """Borders that separate all tails from all numbers that occur beside them."""
    begins: dict[tuple[Path, int], int] = {}
    beside: dict[tuple[Path, int], int] = {}

    def clear_of(path: Path, number: int, *signs: int) -> None:
        for sign in signs:
            beside[path, sign] = max(beside.get((path, sign), number * sign), number * sign)

    laws: dict[tuple[Path, int], Fraction] = {}
    for value in values:
        for path, leaf in leaves(value):
            if isinstance(leaf, Tail):
                place = (path, leaf.sign)
                if laws.setdefault(place, leaf.alpha) != leaf.alpha:
                    raise LanguageError(
                        "unbounded",
                        f"geometric noise with alpha={laws[place]} and with alpha={leaf.alpha} reaches one output",
                        hint="clamp the output: min(max(x, low), high)",
                    )
                begins[place] = max(begins.get(place, leaf.offset * leaf.sign), leaf.offset * leaf.sign)
                clear_of(path, leaf.offset, -leaf.sign)
            elif isinstance(leaf, int) and not isinstance(leaf, bool):
                clear_of(path, leaf, 1, -1)
    result = {
        place: place[1] * max(begin, 1 + beside[place]) if place in beside else place[1] * begin
        for place, begin in begins.items()
    }
    for (path, sign), begin in result.items():
        if sign > 0 and (path, -1) in result and begin - result[path, -1] > _WIDEST:
            raise LanguageError("unbounded", f"the output has more than {_WIDEST} values beside its tails")
    return Borders(result)


def several(written: tuple[Any, ...]) -> Any:
    """What a step shows: its one output, or all of them."""
    return written[0] if len(written) == 1 else Several(written)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What an output is made of, each with the way to it."""
    inner = parts_of(value)
    if inner is None:
        yield path, value
    else:
        for i, item in enumerate(inner):
            yield from leaves(item, (*path, i))


def _put(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    inner = list(parts_of(value) or ())
    inner[path[0]] = _put(inner[path[0]], path[1:], new)
    return with_parts(value, tuple(inner))


class Symbols:
    """Names for values: how they print; texts without quotation marks where that is clear."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.names: dict[Any, str] = {}
        self.values: dict[str, Any] = {}
        listed = {output_text(value): value for value in values}
        bare = {value for value in listed.values() if isinstance(value, str)}
        clear = all(value and value.strip() == value and value not in listed for value in bare)
        for printed, value in listed.items():
            name = value if isinstance(value, str) and clear else printed
            self.names[printed] = name
            self.values[name] = value

    def name(self, value: Any) -> str:
        """The name of a value."""
        return self.names[output_text(value)]


def named_rows(
    classes: Mapping[Key, Iterable[tuple[Any, Rational]]],
) -> tuple[dict[Key, dict[str, Rational]], Mapping[str, Any]]:
    """Distributions of outputs by the outputs' names, their tails drawn to common borders; and what the names stand for."""
    found = {key: list(listed) for key, listed in classes.items()}
    limits = borders(output for listed in found.values() for output, _ in listed)
    refined = {key: [(r, p * q) for o, p in listed for r, q in limits.refined(o)] for key, listed in found.items()}
    symbols = Symbols(output for listed in refined.values() for output, _ in listed)
    result: dict[Key, dict[str, Rational]] = {}
    for key, listed in refined.items():
        row = result.setdefault(key, {})
        for output, p in listed:
            name = symbols.name(output)
            row[name] = row.get(name, ZERO) + p
    return result, symbols.values


def output_text(value: Any) -> str:
    """How a value prints; several outputs of one step with semicolons between them."""
    return "; ".join(map(text, value.values)) if isinstance(value, Several) else text(value)
