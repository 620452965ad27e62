"""The page of the reference that lists every public name: found, compared, and (``python -m tests.regression.reference``) written anew.

The page holds one directive a name; signatures and texts come from the code when the documentation is built. So nothing on it can
drift but the list of names, and a test compares that one with the façade.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "api.md"
FACADES = ("privproof", "privproof.release")

_HEAD = """\
# Every name

The signatures and texts of all public names, taken from the code. For reading in order, with examples: [Python](python.md),
[The mechanism language](language.md), [Releases](release.md), [Audits](audit.md).

This page is written by `python -m tests.regression.reference`.
"""


def kind(value: object) -> str:
    """The heading under which a public value stands."""
    if isinstance(value, type):
        return "Errors" if issubclass(value, Exception) else "Classes"
    return "Functions" if callable(value) else "Constants"


def origin(facade: str, name: str, value: object) -> str:
    """Where the text of a name is found: its definition, unless the façade gives it another name or it is plain data.

    The definition, and not the façade, because some functions are called like the module that they stand in.
    """
    if getattr(value, "__qualname__", None) == name:
        return f"{inspect.getmodule(value).__name__}.{name}"
    return f"{facade}.{name}"


def section(facade: ModuleType) -> str:
    """The part of the page about one façade."""
    found: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": [], "Constants": []}
    for name in sorted(facade.__all__, key=lambda each: (each.lower(), each)):
        value = getattr(facade, name)
        if isinstance(value, ModuleType):
            continue
        public = f"{facade.__name__}.{name}"
        options = f"    options:\n      heading: {public}\n      toc_label: {name}\n"
        found[kind(value)].append(f'<a id="{public}"></a>\n\n::: {origin(facade.__name__, name, value)}\n{options}')
    titles = {what: f"## {what} of `{facade.__name__}`\n" for what in found}
    return "\n".join(text for what, entries in found.items() if entries for text in (titles[what], *entries))


def page() -> str:
    """The whole page, as it should be."""
    return "\n".join([_HEAD, *(section(import_module(name)) for name in FACADES)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
