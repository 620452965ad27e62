"""Walks: loops over lists, streams, zips and enumerations, element by element."""

from __future__ import annotations

from collections.abc import Callable

from privproof_checker.source.operations import elements, whole
from privproof_checker.source.values import (
    ENDED,
    UNREAD,
    Beyond,
    Cells,
    Length,
    OpenList,
    Stream,
    Value,
    Walk,
    Want,
)

EXHAUSTED = object()


def begin_walk(stack: list[Value], kind: str, count: int) -> None:
    """Begin to walk over what is on top of the stack."""
    match kind:
        case "zip":
            if any(map(_over_stream, stack[-count:])):
                raise Beyond("zip with a stream, which would take a number too many", "")
            stack[-count:] = [Walk(None, "zip", 0, stack[-count:])]
        case "enumerate" | "uncounted":
            start = whole(stack[-1], "where enumerate begins")
            stack[-2:] = [Walk(None, kind, start, [stack[-2]])]
        case _:
            over = stack[-1]
            if isinstance(over, OpenList) or (isinstance(over, Length) and over.indices):
                stack[-1] = _open_walk(over)
                return
            if not isinstance(over, Cells | Stream | range | tuple | str):
                over = tuple(elements(over))
            stack[-1] = Walk(over)


def _open_walk(over: OpenList | Length) -> Walk:
    """A walk over a list of open length, or over its indices."""
    listed = over.of if isinstance(over, Length) else over
    listed.begin()
    return Walk(listed, "indices" if isinstance(over, Length) else "elements")


def _over_stream(walk: Walk) -> bool:
    return isinstance(walk.over, Stream) or any(map(_over_stream, walk.inner))


def element_at(walk: Walk) -> Value:
    """The next element of a walk over a list, a stream, a text or numbers."""
    over = walk.over
    if isinstance(over, OpenList):
        found = over.next_element()
        return EXHAUSTED if found is ENDED else over.place() if walk.kind == "indices" else found
    if isinstance(over, Stream):
        if over.given is UNREAD:
            raise Want
        return over.given
    items = over.items if isinstance(over, Cells) else over
    if walk.position >= len(items):
        return EXHAUSTED
    if items[walk.position] is UNREAD:
        raise Want
    return items[walk.position]


def peek(walk: Walk, element: Callable[[Walk], Value] = element_at) -> Value:
    """The next element, which is not taken yet; `element` is that of a walk over one thing."""
    if walk.kind == "zip":
        found = []
        for inner in walk.inner:
            value = peek(inner, element)
            if value is EXHAUSTED:
                return EXHAUSTED
            found.append(value)
        return tuple(found)
    if walk.kind in ("enumerate", "uncounted"):
        value = peek(walk.inner[0], element)
        over = walk.inner[0].over
        if value is not EXHAUSTED and isinstance(over, OpenList):
            if walk.kind == "enumerate" and walk.position != 0:
                raise Beyond("the elements of a list of open length are counted from another number than 0 on", "")
            return (over.place(), value)
        return value if value is EXHAUSTED else (walk.position, value)
    return element(walk)


def advance(walk: Walk) -> None:
    """Take the next element."""
    for inner in walk.inner:
        advance(inner)
    if isinstance(walk.over, OpenList):
        walk.over.taken = walk.over.given
    if isinstance(walk.over, Stream):
        walk.over.given = UNREAD
    elif any(isinstance(inner.over, OpenList) for inner in walk.inner):
        return
    elif walk.kind != "uncounted":
        walk.position += 1
