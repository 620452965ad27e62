"""The reference shows every public name, and its signatures are those of the code."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from tests.regression.reference import FACADES, PAGE, ROOT, origin, page

import privproof
import privproof.release
import privproof_checker
from privproof.release.tables import table_files as tables

REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
NAMES = [
    (facade, name)
    for facade in FACADES
    for name in import_module(facade).__all__
    if not isinstance(getattr(import_module(facade), name), ModuleType)
]


def test_the_page_lists_what_the_facade_shows() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.regression.reference"


@pytest.mark.parametrize(("facade", "name"), NAMES, ids=lambda part: part)
def test_a_public_name_is_documented(facade: str, name: str) -> None:
    value = getattr(import_module(facade), name)
    module, _, found = origin(facade, name, value).rpartition(".")
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(f'<a id="{facade}.{name}"></a>\n\n::: {module}.{found}\n') == 1
    assert getattr(import_module(module), found) is value
    if callable(value):
        assert (value.__doc__ or "").strip(), "the docstring is what the reference shows"
        assert not value.__doc__.startswith(f"{name}("), "a dataclass without a docstring has its signature as one"


# ------------------------------------------------------------------------------------------- signatures in other pages

_SIGNATURE = re.compile(r"`([A-Za-z_][\w.]*)(\([^`]*\))`")
_ROOTS = (privproof, privproof.release, privproof_checker, tables)
_CALLED = {"account": "Accountant", "chain": "Chain", "summary": "Summary"}
"""How the pages call an object of a class."""


def parameters(text: str) -> inspect.Signature | None:
    """The signature that a text such as ``(path, *, size=None)`` is; None for a call and for other texts.

    Only a text with a bare ``*`` or ``/`` or with ``**`` must be a signature: ``f(x, size=3)`` may be a call as well.
    """
    try:
        [made] = ast.parse(f"def f{text}: pass").body
    except SyntaxError:
        return None
    assert isinstance(made, ast.FunctionDef)
    given = made.args
    if not (given.kwonlyargs or given.posonlyargs or given.kwarg or given.vararg):
        return None

    def one(argument: ast.arg, default: ast.expr | None, kind: inspect._ParameterKind) -> inspect.Parameter:
        shown = inspect.Parameter.empty if default is None else ast.unparse(default)
        return inspect.Parameter(argument.arg, kind, default=shown)

    kinds = inspect.Parameter
    plain = [*((each, kinds.POSITIONAL_ONLY) for each in given.posonlyargs)]
    plain += [(each, kinds.POSITIONAL_OR_KEYWORD) for each in given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found = [one(each, default, kind) for (each, kind), default in zip(plain, defaults, strict=True)]
    found += [one(given.vararg, None, kinds.VAR_POSITIONAL)] if given.vararg else []
    found += [
        one(each, default, kinds.KEYWORD_ONLY)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    found += [one(given.kwarg, None, kinds.VAR_KEYWORD)] if given.kwarg else []
    return inspect.Signature(found)


def resolved(name: str) -> object:
    """What a name of a page stands for."""
    first, *rest = name.split(".")
    for root in _ROOTS:
        value = getattr(root, _CALLED.get(first, first), None)
        for part in rest:
            value = getattr(value, part, None)
        if callable(value):
            return value
    raise LookupError(name)


def difference(name: str, written: inspect.Signature) -> str | None:
    """In what a written signature differs from the true one."""
    true = [each for each in inspect.signature(resolved(name)).parameters.values() if each.name != "self"]
    if [(each.name, each.kind) for each in true] != [(each.name, each.kind) for each in written.parameters.values()]:
        return f"{name}{inspect.signature(resolved(name))}"
    for one, other in zip(true, written.parameters.values(), strict=True):
        if (one.default is one.empty) != (other.default is other.empty):
            return f"{name}: {one}"
        if one.default is not one.empty and not _same(one.default, other.default):
            return f"{name}: {one}"
    return None


def _same(value: object, text: str) -> bool:
    try:
        return ast.literal_eval(text) == value
    except ValueError:
        return any(getattr(root, text.removesuffix("()"), None) in (value, type(value)) for root in _ROOTS)


WRITTEN = [
    (path, name, signature)
    for path in REFERENCE
    for name, text in _SIGNATURE.findall(path.read_text(encoding="utf-8"))
    if (signature := parameters(text)) is not None
]


@pytest.mark.parametrize(("path", "name", "written"), WRITTEN, ids=lambda part: getattr(part, "stem", str(part)))
def test_a_signature_on_a_page_is_the_true_one(path: Path, name: str, written: inspect.Signature) -> None:
    assert difference(name, written) is None


_TABLE = re.compile(
    r"^##+ \[`@?\w+`\]\(api\.md#([\w.]+)\)\n(?:(?!^#)[^|\n]*\n)*\| argument \| meaning \|\n\| --- \| --- \|\n((?:\|.*\n)+)",
    re.MULTILINE,
)
TABLES = [
    (name, re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in rows.splitlines())))
    for path in REFERENCE
    for name, rows in _TABLE.findall(path.read_text(encoding="utf-8"))
]


def test_some_pages_have_tables_of_arguments() -> None:
    assert {name for name, _ in TABLES} >= {"privproof.audit", "privproof.runnable", "privproof.mechanism"}


@pytest.mark.parametrize(("name", "listed"), TABLES, ids=lambda part: str(part))
def test_a_table_lists_all_arguments_but_the_first(name: str, listed: list[str]) -> None:
    facade, _, own = name.rpartition(".")
    first, *rest = inspect.signature(getattr(import_module(facade), own)).parameters
    assert [each for each in listed if each != first] == rest


def test_python_has_no_signature_of_its_own() -> None:
    assert {path.stem for path, *_ in WRITTEN if path.stem in ("python", "audit", "language")} == set()


@pytest.mark.parametrize(
    "text",
    [
        "(made, data, *, seed=0)",
        "(made, data, seed=None, **more)",
        "(made, *, data, seed=None)",
        "(data, made, *, seed=None)",
        "(made, data, *, seed)",
        "(made, data, *, seed=None, wait=30)",
    ],
)
def test_a_wrong_signature_is_found(text: str) -> None:
    signature = parameters(text)
    assert signature is not None
    assert difference("release", signature) is not None
