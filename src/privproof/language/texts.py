"""Texts that a mechanism makes: f-strings, ``str``, ``join`` and the methods of texts; and objects that hold values under names.

A text is made of pieces, each with its format, when the mechanism runs; what is known beforehand is written while it is read.  Objects
are named tuples, data classes and members of enumerations (`language.classes`).
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence

from privproof.language.more_operations import TEXT_METHODS, convert_in_format
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import Constant, Element, Expression, Operation, Place, Statement
from privproof.language.uniforms import Uniforms
from privproof.language.values import Member, Shape

_CONVERSIONS = {-1: "", ord("r"): "!r", ord("s"): "!s", ord("a"): "!a"}


class Texts(Uniforms):
    """Reads texts that are made, and objects."""

    @abstractmethod
    def sequence(self, node: ast.expr, out: list[Statement]) -> Expression:
        """An expression where only its elements matter."""

    @abstractmethod
    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, out: list[Statement]) -> Expression:
        """A list, built by a loop."""

    def written_text(self, node: ast.JoinedStr, out: list[Statement]) -> Expression:
        """An f-string."""
        here = self.place(node)
        pieces: list[Expression] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                how = _CONVERSIONS[part.conversion]
                if part.format_spec is not None:
                    specification = self.foreseen_text(part.format_spec)
                    if specification is None:
                        self.refuse(part, "a format that depends on data", "a format that is written out")
                    how += f":{specification}"
                pieces.append(self.piece(part.value, how, out, here))
            else:
                assert isinstance(part, ast.Constant)
                pieces.append(Constant(part.value, here))
        return _text(pieces, here)

    def foreseen_text(self, node: ast.expr) -> str | None:
        """A text that is known while it is read, if it is one."""
        if isinstance(node, ast.JoinedStr):
            written = self.written_text(node, [])
            return written.value if isinstance(written, Constant) and isinstance(written.value, str) else None
        known = self.foreseen(node)
        return known if isinstance(known, str) else None

    def piece(self, node: ast.expr, how: str, out: list[Statement], here: Place) -> Expression:
        """A value in a text."""
        known = self.foreseen(node)
        if known is not UNFORESEEN and not _holds_member(known):
            conversion, _, specification = how.partition(":")
            try:
                return Constant(format(convert_in_format(known, conversion), specification), here)
            except (TypeError, ValueError):
                self.refuse(node, f"the format {specification!r} of {known!r}", "a format of its kind")
        return Operation("format", (self.expression(node, out), Constant(how, here)), here)

    def text_method(self, node: ast.Call, function: ast.Attribute, out: list[Statement]) -> Expression | None:
        """The call of a method of texts; None if it is no such call."""
        here, name = self.place(node), function.attr
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        if name == "join" and len(node.args) == 1:
            between = self.expression(function.value, out)
            listed = node.args[0]
            joined = (
                self.comprehension(listed, out) if isinstance(listed, ast.GeneratorExp) else self.sequence(listed, out)
            )
            return Operation("join", (between, joined), here)
        if name == "format":
            template = self.foreseen_text(function.value)
            return None if template is None else self.filled(node, template, out)
        if name in TEXT_METHODS:
            holder = self.expression(function.value, out)
            given = [self.expression(argument, out) for argument in node.args]
            return Operation("text method", (Constant(name, here), holder, *given), here)
        return None

    def filled(self, node: ast.Call, template: str, out: list[Statement]) -> Expression:
        """``"...".format(...)`` with plain places: ``{}``, ``{0}``, ``{:.2f}``."""
        here = self.place(node)
        pieces: list[Expression] = []
        number = 0
        rest = template
        while rest:
            before, brace, rest = rest.partition("{")
            if "}" in before or (brace and rest[:1] == "{"):
                self.refuse(node, "braces in a format", 'an f-string: f"{x}"')
            pieces.append(Constant(before, here))
            if not brace:
                break
            inside, _, rest = rest.partition("}")
            place, colon, specification = inside.partition(":")
            chosen = int(place) if place.isdigit() else number
            if (place and not place.isdigit()) or chosen >= len(node.args) or "{" in specification:
                self.refuse(node, f"the place {{{inside}}}", 'an f-string: f"{x}"')
            number += 1
            pieces.append(self.piece(node.args[chosen], colon + specification, out, here))
        return _text(pieces, here)

    def record(self, node: ast.Call, shape: Shape, out: list[Statement]) -> Expression:
        """A named tuple, or an object of a data class."""
        here = self.place(node)
        self.shared.object_fields |= set(shape.fields)
        made = Constant(shape, here)
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred) and not node.keywords:
            return Operation("record from", (made, self.sequence(node.args[0].value, out)), here)
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            self.refuse(node, "a starred argument", "write the arguments out")
        names = [*shape.fields[: len(node.args)], *(str(k.arg) for k in node.keywords)]
        late = shape.fields[len(shape.fields) - len(shape.defaults) :]
        known = dict(zip(late, shape.defaults, strict=True))
        wrong = len(node.args) > len(shape.fields) or len(set(names)) < len(names) or not set(names) <= {*shape.fields}
        if wrong or not set(shape.fields) <= {*names, *known}:
            self.refuse(node, f"{shape.name} with these arguments", f"{shape.name}({', '.join(shape.fields)})")
        written: Sequence[ast.expr] = [*node.args, *(k.value for k in node.keywords)]
        given = dict(zip(names, [self.expression(each, out) for each in written], strict=True))
        values = [given[f] if f in given else self.fixed(node, known[f], here) for f in shape.fields]
        return Operation("record of", (made, *values), here)

    def member(self, node: ast.Call, members: tuple[Member, ...], out: list[Statement]) -> Expression:
        """The member of an enumeration that has a value."""
        here = self.place(node)
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            self.refuse(node, "an enumeration with these arguments", "Answer(value)")
        rows = [part for each in members for part in (self.fixed(node, each.value, here), Constant(each, here))]
        rows += [part for each in members for part in (Constant(each, here), Constant(each, here))]
        return Element(Operation("table of", tuple(rows), here), self.expression(node.args[0], out), here)

    def attribute_of(self, node: ast.Attribute, out: list[Statement]) -> Expression | None:
        """A field of an object that a variable holds; None where no object is about."""
        if node.attr not in self.shared.object_fields:
            return None
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in self.names:
            return None
        here = self.place(node)
        return Operation("attribute", (self.expression(node.value, out), Constant(node.attr, here)), here)


def _text(pieces: Sequence[Expression], here: Place) -> Expression:
    """The text of its pieces."""
    if all(isinstance(piece, Constant) for piece in pieces):
        return Constant("".join(str(piece.value) for piece in pieces if isinstance(piece, Constant)), here)
    return Operation("text of", tuple(piece for piece in pieces if piece != Constant("", here)), here)


def _holds_member(value: object) -> bool:
    return isinstance(value, Member) or (isinstance(value, tuple) and any(map(_holds_member, value)))
