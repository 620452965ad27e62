"""What there is to ask about: one folder for each capability, with one object that says what it brings; nothing general knows one by name.

Everything is named by text, ``"folder.module:name"`` below this package, and loaded when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Named = str
"""A module and a name in it: ``logic.formula_engine:LogicEngine``."""


@dataclass(frozen=True)
class Kind:
    """A kind of question: the function that writes it as plain data, and the report that tells it."""

    document: Named
    report: Named


@dataclass(frozen=True)
class Shown:
    """What shows itself: the card of it in a notebook, and what the command prints about it."""

    card: Named
    text: Named | None = None


@dataclass(frozen=True)
class Command:
    """A command: where it is, and what the list of commands says about it."""

    module: str
    summary: str


@dataclass(frozen=True)
class Examples:
    """Entries of the library, each with a name, a title, a citation and what is known of it, and the functions that

    say as what one is written (the form and the name of its function), write one in the form of a file, and run one as the answer.
    """

    entries: Named
    form: Named
    text: Named
    run: Named


@dataclass(frozen=True)
class Capability:
    """What a folder brings.

    Attributes:
        kinds: its kinds of questions.
        engines: for each the name, the kinds that it is for, and its class.
        commands: what the command line calls.
        shown: for classes (by their full names) how they show themselves.
        held: classes (by their full names) that a user's file may hold: mechanisms, models that are asked
            about, or what can be run.
        suffixes: of model files that it reads, with the function that does.
        convert: writes what a target stands for as the text of a file; None where that is no model of its own.
        examples: its entries of the library.
        general: whether its commands come first, and its engines last.
    """

    name: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    engines: tuple[tuple[str, tuple[str, ...], Named], ...] = ()
    commands: Mapping[str, Command] = field(default_factory=dict)
    shown: Mapping[str, Shown] = field(default_factory=dict)
    held: Mapping[str, Literal["mechanism", "model", "subject"]] = field(default_factory=dict)
    suffixes: Mapping[str, Named] = field(default_factory=dict)
    convert: Named | None = None
    examples: Examples | None = None
    general: bool = False


@cache
def capabilities() -> tuple[Capability, ...]:
    """What every folder with a ``capability.py`` brings, of which that alone is loaded; what is general comes first."""
    folders = {file.parent.name for file in Path(__file__).parent.glob("*/capability.py")}
    found = [import_module(f"privproof.{folder}.capability").CAPABILITY for folder in sorted(folders)]
    return tuple(sorted(found, key=lambda each: not each.general))


def load_named(name: Named) -> Any:
    """What a name stands for; its module is loaded."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"privproof.{module}"), attribute)


def kind_of(family: str) -> Kind:
    """The kind of question of a name."""
    return next(each.kinds[family] for each in capabilities() if family in each.kinds)


def _classes(thing: object) -> Iterator[str]:
    """The full names of the classes of something: they are compared as texts, so that no module is loaded for it."""
    full = (f"{each.__module__}.{each.__qualname__}" for each in type(thing).__mro__)
    return (name.removeprefix("privproof.") for name in full if name.startswith("privproof."))


def shown_as(thing: object) -> Iterator[Shown]:
    """How something shows itself, the most special way first."""
    return (one.shown[name] for name in _classes(thing) for one in capabilities() if name in one.shown)


def held_as(thing: object) -> str | None:
    """As what a user's file holds something, if a capability says so."""
    return next((one.held[name] for name in _classes(thing) for one in capabilities() if name in one.held), None)


def other_suffixes() -> set[str]:
    """The suffixes of files that a capability reads with a command of its own."""
    return {suffix for one in capabilities() for suffix in one.suffixes}
