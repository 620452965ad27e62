"""What a certificate says about the source of its question, and what of it the checker re-establishes.

The member ``source`` of a question holds the program: the text of every function and what its names stand for.  Its member ``claims``
says ``established``: then the checker goes from the text to the model by itself, and a certificate whose model is not that of the
text, or whose text the checker cannot follow, is rejected.  Or it says ``taken``, with the reason: the model was taken from the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from privproof_checker.outcomes import Beyond, Limits, refuse
from privproof_checker.plain_documents import a_text, an_object

if TYPE_CHECKING:
    from privproof_checker.source.running import Work
    from privproof_checker.source.source_member import Findings, Source

PLACE = "question.source"
"""Where a source stands in a certificate."""


@dataclass(frozen=True)
class Established:
    """What the checker has found out about the source.

    Attributes:
        name: the name of the mechanism.
        from_source: what was re-established from the text.
        taken: what was taken from the compiler, and why.
        notes: what else must be said.
    """

    name: str
    from_source: tuple[str, ...]
    taken: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def beside(self, other: Established) -> Established:
        """Both together, about the same mechanism."""
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return replace(
            self, from_source=self.from_source + other.from_source, taken=self.taken + other.taken, notes=notes
        )

    @property
    def statement(self) -> str:
        """Both, in words."""
        parts = []
        if self.from_source:
            parts.append(f"re-established from the source of {self.name}: {', '.join(self.from_source)}")
        if self.taken:
            parts.append(f"taken from the compiler: {', '.join(self.taken)}")
        return "; ".join((*parts, *self.notes))

    @property
    def details(self) -> dict[str, object]:
        """Both, by name."""
        return {
            "function": self.name,
            "established": list(self.from_source),
            "taken": list(self.taken),
            "notes": list(self.notes),
        }


def established(
    question: Mapping[str, object],
    what: str,
    check: Callable[[Source, Work], Findings],
    limits: Limits,
) -> Established | None:
    """What is re-established of the source of a question; None if it has none.

    Args:
        question: the question's document.
        what: what is to be re-established, in words.
        check: refuses if the question is not that of the source; returns what it takes on trust, and what else must be said.
        limits: how much may be done.
    """
    if question.get("source") is None:
        return None
    member = an_object(question["source"], PLACE)
    claims = a_text(member.get("claims"), f"{PLACE}.claims")
    if claims == "taken":
        reason = a_text(member.get("reason"), f"{PLACE}.reason")
        return Established(_name(member), (), (f"{what}: {reason[:300]}",))
    if claims != "established":
        refuse(f"{claims[:40]!r} is neither established nor taken", f"{PLACE}.claims")
    from privproof_checker.source.running import Work  # a model that is taken needs no reader of texts
    from privproof_checker.source.source_member import read_source

    try:
        source = read_source(member, limits)
        found = check(source, Work(limits.source_steps))
    except RecursionError:
        raise Beyond("values or texts are nested too deeply", PLACE) from None
    return Established(source.mechanism.name, (what,), (*source.taken, *found.taken), (*source.notes, *found.notes))


_SECOND_LOOK: ContextVar[Callable[..., None] | None] = ContextVar("second look", default=None)


@contextmanager
def second_look(look: Callable[..., None]) -> Iterator[None]:
    """Let what seems to differ from the text be looked at again, by who may refuse it for good; nothing is established by that."""
    token = _SECOND_LOOK.set(look)
    try:
        yield
    finally:
        _SECOND_LOOK.reset(token)


def look_again(*given: object) -> None:
    """Look again at what seems to differ, before the checker gives up."""
    look = _SECOND_LOOK.get()
    if look is not None:
        look(*given)


def _name(member: Mapping[str, object]) -> str:
    """The name of the mechanism, for the statement alone."""
    program = member.get("program")
    functions = program.get("functions") if isinstance(program, dict) else None
    first = functions[0] if isinstance(functions, list) and functions else None
    name = first.get("name") if isinstance(first, dict) else None
    return name if isinstance(name, str) and name.isidentifier() and len(name) < 100 else "the mechanism"
