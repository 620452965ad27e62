"""Fields of a document, each read as what it must be: a name, an exact number, a list of names, a row of numbers.

Every complaint carries the dotted place of the field; `privproof.formats.document_nodes.located` adds the file, the line
and the column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import NoReturn, TypeVar

from privproof.errors import FloatRefused, FormatError, NumberError, PrivproofError
from privproof.exact import Rational, float_refused, rational
from privproof.formats.document_nodes import DocumentTable, Node, Scalar, Series, what

_T = TypeVar("_T")
_LONGEST_NUMBER = 4_000
"""The digits of a numerator or denominator, and the characters of an epsilon; beyond, the number is refused with its place."""
_LONGEST_NUMBER_BITS = 13_000
"""The same limit for what a short text such as 1e5000 stands for: about 3900 digits, which Python still turns into text."""
_DEEPEST_PARENTHESES = 40
"""An epsilon with more opening parentheses is refused here, where its line is known; the reader of epsilons has a limit too."""


def wrong(node: Node, expected: str, place: str, *, hint: str = "") -> NoReturn:
    """Complain that something else was expected here."""
    raise FormatError("shape", f"expected {expected} and found {what(node)}", place=place, hint=hint)


def table(node: Node, place: str, *, hint: str = "") -> DocumentTable:
    """The node as a mapping."""
    if not isinstance(node, DocumentTable):
        wrong(node, "a mapping", place, hint=hint or "write key: value, or {key: value}")
    return node


def series(node: Node, place: str, *, hint: str = "") -> Series:
    """The node as a list."""
    if not isinstance(node, Series):
        wrong(node, "a list", place, hint=hint or "write [first, second]")
    return node


def known_keys(
    node: DocumentTable, known: Collection[str], place: str, *, elsewhere: Mapping[str, str] | None = None
) -> None:
    """Complain about a key that does not exist, with the nearest one that does.

    Args:
        node: the mapping.
        known: the keys that exist.
        place: where the mapping stands.
        elsewhere: keys that exist in other situations, and what to say about them.
    """
    for key in node:
        if key not in known:
            here = f"{place}.{key}" if place else str(key)
            if elsewhere and key in elsewhere:
                raise FormatError(
                    "unknown-key", f"the key {str(key)!r} does not fit here", place=here, hint=elsewhere[key]
                )
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise FormatError("unknown-key", f"unknown key {key.shown}", place=here, hint=hint)


def optional(node: DocumentTable, key: str, read: Callable[[Node, str], _T], place: str = "") -> _T | None:
    """The field under a key, None where it is absent."""
    entry = node.get(Scalar(key))
    return None if entry is None else read(entry, f"{place}.{key}" if place else key)


def required_field(node: DocumentTable, key: str, read: Callable[[Node, str], _T], place: str = "", *, hint: str) -> _T:
    """The field under a key that must be there."""
    entry = node.get(Scalar(key))
    if entry is None:
        raise FormatError("missing-key", f"the key {key!r} is missing", place=place, hint=hint)
    return read(entry, f"{place}.{key}" if place else key)


def text(node: Node, place: str) -> str:
    """Any text, as written."""
    if not isinstance(node, Scalar):
        wrong(node, "a text", place)
    if node.kind == "null":
        wrong(node, "a text", place, hint='leave the key out, or quote the text: "null"')
    return str(node)


def name(node: Node, place: str) -> str:
    """A name: a text as written, so that ``no`` and ``0`` are names; nothing is not.

    >>> from privproof.formats.yaml_text import parse_yaml
    >>> [name(node, "states") for node in parse_yaml("[no, 0, 1e3, 'null']")]
    ['no', '0', '1e3', 'null']
    """
    if not isinstance(node, Scalar):
        wrong(node, "a name", place)
    if node.kind == "null" or not node:
        wrong(
            node,
            "a name",
            place,
            hint='quote it if it is a name: "null"' if node else "write a name, or leave the entry out",
        )
    return str(node)


def names(node: Node, place: str) -> tuple[str, ...]:
    """A list of names."""
    return tuple(name(entry, f"{place}[{i}]") for i, entry in enumerate(series(node, place)))


def boolean(node: Node, place: str) -> bool:
    """``true`` or ``false``."""
    if not isinstance(node, Scalar) or node.kind != "boolean":
        wrong(node, "true or false", place, hint="write true or false, without quotes")
    return node.lower() == "true"


def one_of(node: Node, known: Collection[str], place: str, *, code: str = "shape") -> str:
    """One of a few words."""
    word = name(node, place)
    if word not in known:
        near = get_close_matches(word, known, n=1)
        raise FormatError(
            code,
            f"{Scalar(word).shown} is none of {', '.join(known)}",
            place=place,
            hint=f"did you mean {near[0]!r}?" if near else f"for instance {next(iter(known))}",
        )
    return word


def number(node: Node, place: str) -> Rational:
    """An exact number: an integer, a fraction, or a *quoted* decimal.

    >>> number(Scalar("1/3"), "here"), number(Scalar("0.25"), "here"), number(Scalar("2", kind="integer"), "here")
    (1/3, 1/4, 2)
    >>> number(Scalar("0.1", kind="float"), "emissions.zero.a")
    Traceback (most recent call last):
    ...
    privproof.errors.FloatRefused: emissions.zero.a: 0.1 is a float: its exact value is
    3602879701896397/36028797018963968 [float]
      hint: write "0.1" (quoted) for exactly 1/10, or 1/10
    """
    if not isinstance(node, Scalar):
        wrong(node, "a number", place, hint="write an integer, or a fraction such as 1/3")
    if node.kind == "float":
        raise _float_refused(node, place)
    if node.kind == "null":
        wrong(node, "a number", place, hint="write an integer, or a fraction such as 1/3")
    if node.kind == "boolean":
        raise NumberError("number", f"{node} is a truth value, not a number", place=place, hint="write 1 or 0")
    return _exact(node, place)


def _exact(node: Scalar, place: str) -> Rational:
    if not node.isascii():
        raise NumberError("number", f"{node.shown} is not an exact number", place=place, hint="digits are 0 to 9")
    too_long = NumberError(
        "number", f"{node.shown} has more than {_LONGEST_NUMBER} digits", place=place, hint="round the number"
    )
    if len(node) > 2 * _LONGEST_NUMBER:
        raise too_long
    try:
        value = rational(str(node))
    except PrivproofError as error:
        raise error.at(place) from None
    if max(int(abs(value.p)).bit_length(), int(value.q).bit_length()) > _LONGEST_NUMBER_BITS:
        raise too_long
    return value


def _float_refused(node: Scalar, place: str) -> PrivproofError:
    try:
        value = float(node)
    except ValueError:  # YAML's .inf and .nan
        value = float(node.replace(".", ""))
    if value != value or value in (float("inf"), float("-inf")):
        return FloatRefused(
            "float", f"{node.shown} is a float and no number", place=place, hint="write a fraction such as 1/3"
        )
    meant = str(_exact(Scalar(node), place))
    ways = f'write "{node}" (quoted) for exactly {meant}' + (f", or {meant}" if meant != node else "")
    if len(meant) > 80:
        ways = "put the number in quotes: it is then exact"
    message = float_refused(value).message
    if len(message) > 160:
        message = f"{node.shown} is a float: its exact value is a binary fraction near it"
    else:
        message = message.replace(repr(value), node.shown, 1)
    return FloatRefused("float", message, place=place, hint=ways)


def expression(node: Node, place: str) -> str:
    """A number or a text such as ``ln(8/3)``, to be read as an epsilon."""
    if isinstance(node, Scalar) and node.kind == "float" and "inf" in node.lower():
        raise FloatRefused("float", f"{node.shown} is a float", place=place, hint="write inf for no bound at all")
    if not isinstance(node, Scalar) or node.kind != "text":
        return str(number(node, place))
    if not node.isascii() or len(node) > _LONGEST_NUMBER or node.count("(") > _DEEPEST_PARENTHESES:
        raise NumberError(
            "number", f"{node.shown} is no epsilon", place=place, hint="write for instance ln(8/3) or 1/2"
        )
    return str(node)


def row(node: Node, place: str) -> dict[str, Rational]:
    """A row: names to numbers."""
    return {
        str(key): number(entry, f"{place}.{key}")
        for key, entry in table(node, place, hint="write {name: 1/2, other: 1/2}").items()
    }


def rows(node: Node, place: str) -> dict[str, dict[str, Rational]]:
    """A table of rows."""
    return {str(key): row(entry, f"{place}.{key}") for key, entry in table(node, place).items()}


def labels(node: Node, place: str) -> dict[str, tuple[str, ...]]:
    """The labels of states."""
    result = {}
    for state, entry in table(node, place, hint="labels: {state: [label]}").items():
        here = f"{place}.{state}"
        result[str(state)] = (name(entry, here),) if isinstance(entry, Scalar) else names(entry, here)
    return result
