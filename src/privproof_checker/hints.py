"""Hints as data: the fields of a rule's hint, their types, and the facts that the rule uses.

A hint is told by one line, ``"nodes:list starts:list ending?:text"``: names with types, those with a question mark optional.  A member that
is not named is refused, and so is one that is missing: nothing is looked for that a certificate leaves out.

>>> from privproof_checker.outcomes import DEFAULT_LIMITS
>>> Hint("word:list ending?:text").read({"word": []}, "hint", DEFAULT_LIMITS)
>>> sorted(Hint("word:list ending?:text").fields.items())
[('ending', Field(type='text', optional=True)), ('word', Field(type='list', optional=False))]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from privproof_checker.claims import read_epsilon
from privproof_checker.outcomes import Limits
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members

Uses: TypeAlias = Literal["", "conditions", "part", "parts", "conclusion", "uses", "operators"]
"""What the facts are that a rule uses: refutations of its conditions; proofs about parts of the mechanism; conclusions."""
Typed: TypeAlias = Callable[[object, str, Limits], object]

TYPES: Mapping[str, Typed] = {
    "list": lambda value, place, _: a_list(value, place),
    "object": lambda value, place, _: an_object(value, place),
    "text": lambda value, place, _: a_text(value, place),
    "integer": lambda value, place, _: an_integer(value, place),
    "number": a_number,
    "epsilon": read_epsilon,
    "any": lambda value, _place, _limits: value,
}
"""The types of fields; what is in lists and objects the rule reads itself."""


@dataclass(frozen=True)
class Field:
    """A field of a hint."""

    type: str
    optional: bool


@dataclass(frozen=True)
class Hint:
    """What a rule is given.

    Attributes:
        line: the fields, in one line.
        uses: what the facts are that it uses.
    """

    line: str = ""
    uses: Uses = ""

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name."""
        pairs = [word.split(":") for word in self.line.split()]
        return {name.removesuffix("?"): Field(of, name.endswith("?")) for name, of in pairs}

    def read(self, given: Mapping[str, object], place: str, limits: Limits) -> None:
        """Refuse a hint with other members, or with members of other types."""
        only_members(given, self.fields, place)
        for name, field in self.fields.items():
            if name in given or not field.optional:
                TYPES[field.type](given.get(name), f"{place}.{name}", limits)
