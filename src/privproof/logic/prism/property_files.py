"""Files of properties (``.props``, ``.pctl``, ``.csl``): constants and labels of their own, and properties, which may have names.

PRISM lets a property end with a semicolon or with its line.  A line belongs to the one before while a bracket is open, or where one of
the two lacks its other operand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from privproof.errors import PrivproofError
from privproof.formats.document_nodes import file_text
from privproof.logic.prism.module_system import constant_values
from privproof.logic.prism.prism_expressions import SyntaxNode, names_in, parse_expression
from privproof.logic.prism.prism_model import PrismModel
from privproof.logic.prism.prism_syntax import ConstantDeclaration
from privproof.logic.prism.prism_tokens import PrismSource

_COMMENT = re.compile(r"//[^\n]*")
_CONST = re.compile(r"const\s+(?:(int|double|bool)\s+)?([A-Za-z_]\w*)\s*(?:=(?!\?)\s*)?")
_LABEL = re.compile(r'label\s+"([^"\n]*)"\s*=\s*')
_NAMED = re.compile(r'"([A-Za-z_]\w*)"\s*:\s*')
_OPEN_END = re.compile(r"(?:[&|!=<>+\-*/,?:(\[{]|=>|\b[UWRXFG])\s*$")
_OPEN_BEGIN = re.compile(r"\s*(?:[&|=*/,?:)\]}]|[<>]=?\s*[^<>\s]|[UW]\b|R\b(?!\s*[{=<>]))")


@dataclass(frozen=True)
class WrittenProperty:
    """A property of a file: its name, if it has one, its text, and the line it begins on; or why it cannot be asked."""

    name: str
    text: str
    line: int
    problem: PrivproofError | None = None


@dataclass(frozen=True)
class PropertyFile:
    """A file of properties.

    Attributes:
        source: its text.
        constants: its constants, their values perhaps left open.
        labels: its labels, with the expressions of their conditions.
        properties: its properties, in order.
    """

    source: PrismSource
    constants: Mapping[str, ConstantDeclaration]
    labels: Mapping[str, SyntaxNode]
    properties: tuple[WrittenProperty, ...]

    @property
    def named(self) -> dict[str, str]:
        """The texts of the properties that have names, of which others may speak."""
        return {one.name: one.text for one in self.properties if one.name}

    def on(self, model: PrismModel, given: Mapping[str, str]) -> PrismModel:
        """The model with the constants and labels of the file.

        Args:
            model: the model.
            given: values for the constants that the file leaves open; one that is not spoken of needs none.

        Raises:
            FormatError: a constant has no value, or a name is that of something else.
        """
        known = model.scope.constants
        for name, declared in self.constants.items():
            if name in known or name in model.scope.variables or name in model.scope.formulas:
                self.source.refuse(
                    declared.at, "twice", f"{name!r} is declared in the model too", hint="name it otherwise"
                )
        spoken_of = {
            name for declared in self.constants.values() if declared.value for name in names_in(declared.value)
        }
        left_open = {
            name: f"--set {name}=3"
            for name, declared in self.constants.items()
            if declared.value is None and name not in given and name not in spoken_of
        }
        needed = {name: declared for name, declared in self.constants.items() if name not in left_open}
        values = constant_values(self.source, needed, given, known)
        scope = replace(model.scope, constants=values, valueless=left_open, _known={})
        model = replace(model, scope=scope)
        process = model.process
        for label, node in self.labels.items():
            if label in process.labels:
                self.source.refuse(node.at, "twice", f'the label "{label}" is declared in the model too')
            marks = replace(model, process=process).states_of(self.source, node)
            process = replace(process, labels={**process.labels, label: marks})
        return replace(model, process=process)


def read_properties(path: str | Path) -> PropertyFile:
    """The properties in a file."""
    return parse_properties(file_text(path), name=str(path))


def parse_properties(text: str, *, name: str = "text") -> PropertyFile:
    """The properties that a text lists.

    >>> found = parse_properties('const int k;\\n// RESULT: 1\\n"safe": P>=1 [\\n G x<k ];\\nPmax=? [ F x=k ]\\n  & true\\nP=? [ X b ]')
    >>> list(found.constants), [(one.name, one.text, one.line) for one in found.properties]
    (['k'], [('safe', 'P>=1 [\\n G x<k ]', 3), ('', 'Pmax=? [ F x=k ]\\n  & true', 5), ('', 'P=? [ X b ]', 7)])
    """
    source = PrismSource(name, _COMMENT.sub(lambda comment: " " * len(comment[0]), text))
    constants: dict[str, ConstantDeclaration] = {}
    labels: dict[str, SyntaxNode] = {}
    properties: list[WrittenProperty] = []
    for begin, end in _statements(source.text):
        declared = _CONST.match(source.text, begin, end)
        labelled = _LABEL.match(source.text, begin, end)
        if declared:
            value = parse_expression(source, begin=declared.end(), end=end) if "=" in declared[0] else None
            constants[declared[2]] = ConstantDeclaration(declared[1] or "int", value, begin)
        elif labelled:
            labels[labelled[1]] = parse_expression(source, begin=labelled.end(), end=end)
        else:
            named = _NAMED.match(source.text, begin, end)
            first = named.end() if named else begin
            properties.append(
                WrittenProperty(named[1] if named else "", source.text[first:end].rstrip(), source.line(begin))
            )
    return PropertyFile(source, constants, labels, tuple(properties))


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Where the declarations and properties of a text begin and end."""
    begin, depth, quoted = 0, 0, False
    for at, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        depth += (sign in "([{") - (sign in ")]}")
        whole = sign == ";" and depth <= 0
        if sign == "\n" and depth <= 0 and text[begin:at].strip():
            declares = text[begin:at].lstrip().startswith(("const ", "label "))
            whole = not (declares or _OPEN_END.search(text, begin, at) or _OPEN_BEGIN.match(text, at))
        if whole:
            if text[begin:at].strip():
                yield begin + len(text[begin:at]) - len(text[begin:at].lstrip()), at
            begin, depth = at + 1, 0
    if text[begin:].strip():
        yield begin + len(text[begin:]) - len(text[begin:].lstrip()), len(text)
