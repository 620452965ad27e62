"""An example of the library as a file of its own, to begin with: the source of its mechanism with what it needs, or its model."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Collection
from pathlib import Path

from privproof.errors import QuestionError
from privproof.formats.document_writing import question_text
from privproof.language import Mechanism
from privproof.library.library_examples import Example


def example_form(example: Example) -> tuple[str | None, str | None]:
    """As what an example is written: the form, python or model, and the name of its function; None where there is none."""
    if example.mechanism is not None:
        return "python", str(example.mechanism.function.__name__)
    return "model" if example.question().family == "words" else None, None


def example_text(example: Example, out: Path) -> str:
    """The text of an example in the form of a file: its function as Python, or its model."""
    if out.suffix != ".py":
        return question_text(example.question().words(place="--write"), out)
    if example.mechanism is None:
        raise QuestionError(
            "example", f"{example.name} is a model, no function", place="--write", hint="--write model.yaml"
        )
    import privproof

    return mechanism_text(example.mechanism, privproof.__all__)


def mechanism_text(subject: Mechanism, public: Collection[str]) -> str:
    """The text of a Python file that holds a mechanism: its imports, the constants and functions that it needs, and itself.

    Args:
        subject: a mechanism that stands in the block of its module.
        public: the names that ``from privproof import ...`` gives.

    >>> from privproof.library.mechanisms import plain_geometric
    >>> print(mechanism_text(plain_geometric, {"geometric", "integer", "mechanism"}).rstrip())
    from privproof import geometric, integer, mechanism
    <BLANKLINE>
    <BLANKLINE>
    @mechanism(epsilon="ln(2)")
    def plain_geometric(count: integer(0, 5)):
        \"\"\"A count plus two-sided geometric noise on all integers.\"\"\"
        return geometric(count, alpha="1/2")
    """
    source = inspect.getsource(sys.modules[subject.function.__module__])
    lines, body = source.splitlines(), ast.parse(source).body
    makers = {name: node for node in body for name in _defined_names(node)}
    wanted, needed = [subject.function.__name__], set[str]()
    while wanted:
        name = wanted.pop()
        if name not in needed and name in makers:
            needed.add(name)
            if not isinstance(makers[name], ast.ImportFrom | ast.Import):
                wanted += [part.id for part in ast.walk(makers[name]) if isinstance(part, ast.Name)]
    kept = [
        node for node in body if needed & _defined_names(node) and not isinstance(node, ast.ImportFrom | ast.Import)
    ]
    parts = ["\n".join(lines[_first(node) - 1 : node.end_lineno]) for node in kept]
    heads = _imports([node for node in body if needed & _defined_names(node)], needed, frozenset(public))
    return "\n".join(heads) + "\n\n\n" + "\n\n\n".join(parts) + "\n"


def _defined_names(node: ast.stmt) -> set[str]:
    """The names that a statement of a module makes."""
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {each.asname or each.name for each in names}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.Assign(targets=targets):
            return {part.id for each in targets for part in ast.walk(each) if isinstance(part, ast.Name)}
        case _:
            return set()


def _first(node: ast.stmt) -> int:
    """The line on which a definition begins, its decorators included."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def _imports(nodes: list[ast.stmt], needed: set[str], public: frozenset[str]) -> list[str]:
    """The imports of some names: what is public comes from the package itself."""
    ours: set[str] = set()
    others: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            others += [ast.unparse(ast.Import([each])) for each in node.names if (each.asname or each.name) in needed]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for each in node.names:
                if each.name in needed and each.name in public and node.module.startswith("privproof"):
                    ours.add(each.name)
                elif (each.asname or each.name) in needed:
                    others.append(ast.unparse(ast.ImportFrom(node.module, [each], 0)))
    return [*sorted(set(others)), *([f"from privproof import {', '.join(sorted(ours))}"] if ours else [])]
