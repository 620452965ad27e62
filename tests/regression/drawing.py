"""The map of the package in CONTRIBUTING.md: who imports whom, drawn from the syntax trees.

``python -m tests.regression.drawing`` writes it anew.  It is a matrix, with a row and a column for every part of the package, in an
order in which a part comes after those that it imports.  So every import stands below the diagonal, and a mark above it is a cycle.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path

from tests.structure import parsed

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "privproof"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- the map of the package: begin -->\n", "<!-- the map of the package: end -->"

SPLIT = "engines"
"""The folder whose modules and folders are parts of their own."""

NOW, LATER, TYPES = "x", "o", "t"
"""When something is imported: as the module is loaded; when it is needed; never, for types alone."""


@cache
def modules(folder: Path) -> Mapping[str, Path]:
    """The files of a package by the dotted names of their modules; a stub counts as a file of its module with a ``?`` behind."""
    found = {}
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
        inside = path.relative_to(folder.parent).with_suffix("")
        name = ".".join(inside.parts[:-1] if inside.name == "__init__" else inside.parts)
        found[name + ("?" if path.suffix == ".pyi" else "")] = path
    return found


def part_of(module: str) -> str:
    """The part that a module belongs to: a folder or a module of the first level, and what `SPLIT` says.

    >>> [part_of("privproof." + each) for each in ("asking", "language.noise", "evidence.gate")]
    ['asking', 'language', 'evidence']
    >>> part_of("privproof.engines"), part_of("privproof.engines.words.frontier_search"), part_of("privproof")
    ('engines', 'engines.words', 'privproof')
    """
    names = module.split(".")[1:]
    if names[:1] == [SPLIT] and len(names) > 1:
        return ".".join(names[:2])
    return names[0] if names else module


def imported(text: str, here: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """What a module imports, as dotted names, and when; ``here`` is the package that relative imports start from.

    Of a name that is computed, such as ``f"privproof.engines.{name}"``, all texts of the module that make it a known one count.
    """
    called = "import_module" in text or "__import__" in text
    texts = (
        {n.value for n in ast.walk(parsed(text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        if called
        else set()
    )

    def names(node: ast.AST) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            start = here.split(".")[: len(here.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            return [f"{base}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Call) and node.args:
            function = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            return named(node.args[0]) if function in ("import_module", "__import__") else []
        return []

    def named(argument: ast.expr) -> list[str]:
        if isinstance(argument, ast.Constant):
            return [str(argument.value)]
        first = argument.values[0] if isinstance(argument, ast.JoinedStr) else None
        begin = str(first.value) if isinstance(first, ast.Constant) else ""
        return sorted(begin + each for each in texts if begin + each in known)

    def walk(node: ast.AST, when: str) -> Iterator[tuple[str, str]]:
        yield from ((name, LATER if isinstance(node, ast.Call) and when == NOW else when) for name in names(node))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                yield from walk(child, TYPES)
            for child in node.orelse:
                yield from walk(child, when)
            return
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and when == NOW
        for child in ast.iter_child_nodes(node):
            if called or not isinstance(child, ast.expr):
                yield from walk(child, LATER if inner else when)

    yield from walk(parsed(text), NOW)


@cache
def edges(folder: Path) -> Mapping[tuple[str, str], str]:
    """For every part that imports another, the earliest time at which it does."""
    known = modules(folder)
    found: dict[tuple[str, str], str] = {}
    for module, path in known.items():
        stub, name = module.endswith("?"), module.rstrip("?")
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        for there, when in imported(path.read_text(encoding="utf-8"), package, known):
            target = there
            while target and target not in known:
                target = target.rpartition(".")[0]
            pair = part_of(name), part_of(target) if target else ""
            if target and pair[0] != pair[1]:
                late = LATER if stub else when
                found[pair] = min(found.get(pair, TYPES), late, key=(NOW + LATER + TYPES).index)
    return found


def layers(parts: frozenset[str], found: Mapping[tuple[str, str], str]) -> list[list[frozenset[str]]]:
    """The parts from what imports nothing on, a layer after all that it imports; parts that import each other stand together."""
    reach = {part: {part} for part in parts}
    for _ in parts:
        for here, there in found:
            reach[here] |= reach[there]
    knots = {frozenset(each for each in parts if part in reach[each] and each in reach[part]) for part in parts}
    height: dict[frozenset[str], int] = {}
    for level in count():
        left = knots - height.keys()
        if not left:
            break
        ready = [
            knot for knot in left if not any(other & reach[next(iter(knot))] for other in left if other is not knot)
        ]
        height.update(dict.fromkeys(ready, level))
    levels = range(max(height.values(), default=-1) + 1)
    return [sorted((knot for knot in knots if height[knot] == level), key=sorted) for level in levels]


def ordered(parts: frozenset[str], found: Mapping[tuple[str, str], str]) -> list[str]:
    """The parts one after the other; among those that import each other, what is imported later counts less."""
    written = []
    for layer in layers(parts, found):
        for knot in layer:
            early = {pair: when for pair, when in found.items() if when == NOW and knot.issuperset(pair)}
            again = len(early) < sum(knot.issuperset(pair) for pair in found)
            written += ordered(knot, early) if again else sorted(knot)
    return written


def saying(folder: Path, part: str) -> str:
    """The first sentence of a part's docstring, without its full stop and without what it says about imports."""
    known = modules(folder)
    path = known.get(f"{folder.name}.{part}") or known[folder.name]
    text = ast.get_docstring(parsed(path.read_text(encoding="utf-8"))) or ""
    first = re.split(r"\.(?:\s|$)", " ".join(text.split("\n\n")[0].split()))[0]
    return re.split(r"[;:,] (?:(?:they |its modules )?import(?:s|ing)?|uses|used by) ", first)[0]


def drawing(folder: Path = PACKAGE) -> str:
    """The map of a package, as text."""
    found = {pair: when for pair, when in edges(folder).items() if "__main__" not in pair}
    parts = frozenset(part for module in modules(folder) if (part := part_of(module.rstrip("?"))) != "__main__")
    order = ordered(parts, found)
    wide = max(map(len, order))
    lines = ["| | part | holds |", "| --- | --- | --- |"]
    lines += [f"| {number} | `{part}` | {saying(folder, part)} |" for number, part in enumerate(order, 1)]
    lines += ["", "```"]
    for tens in (True, False):
        digits = (f"{number:2}"[0 if tens else 1] for number in range(1, len(order) + 1))
        lines.append(" " * (wide + 5) + " ".join(digits).rstrip())
    for number, part in enumerate(order, 1):
        marks = " ".join("." if other == part else found.get((part, other), " ") for other in order)
        lines.append(f"{number:3} {part:{wide}} {marks}".rstrip())
    return "\n".join([*lines, "```", ""])


def redrawn(page: str) -> str:
    """A page with the map as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{drawing()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(redrawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
