"""Objects that a function makes for itself: ``mechanism = Laplace(epsilon=1.0)``, then ``mechanism.randomise(value)``.

The constructor of a plain class that only gives attributes constant values is followed while the function is read: the object is these
attributes, and its methods are functions that know them.  Whatever else a constructor does (it computes from data, draws noise, calls
functions of its own) is not followed, and a method that changes its object is refused where it does.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from privproof.errors import LanguageError
from privproof.language.constants import NotPlain
from privproof.language.folding import Unfoldable, evaluate_constants, unchanging
from privproof.language.libraries import library_name, made_generator
from privproof.language.resolving import ResolvedName, Running, Unusable, signature
from privproof.language.sources import SourceReading


@dataclass(frozen=True)
class Built:
    """An object that was made of constants.

    Attributes:
        path: the name of its class, where it is made.
        maker: the function that makes it, as it runs.
        attributes: its attributes.
    """

    path: str
    maker: Running
    attributes: MappingProxyType[str, Any]

    def method(self, name: str) -> Any:
        """The function behind one of its methods; None if its class has none of that name."""
        try:
            found = self.maker.method_of(self.path, name)
        except (KeyError, Unusable):
            return None
        return found.value if found.kind == "function" else None


class Objects(SourceReading):
    """Reads what makes objects of constants, and what these hold."""

    generators: dict[str, Any]
    """Names that stand for a generator of random numbers that the function makes."""
    objects: dict[str, Built]
    """Names that stand for an object that was made of constants."""

    def meaning(self, node: ast.expr) -> ResolvedName:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.objects:
                held = self.objects[name].attributes
                if attribute in held:
                    return ResolvedName("constant", held[attribute])
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.generators:
                drawing = library_name(getattr(self.generators[name], attribute, None))
                if drawing is not None:
                    return ResolvedName("library", drawing)
        return super().meaning(node)

    def generator_made(self, name: str, value: ast.expr) -> bool:
        """``rng = np.random.default_rng()``, where the name stands for nothing else and is only drawn from; no seed has an effect."""
        match value:
            case ast.BoolOp(op=ast.Or(), values=[given, last]) if self.foreseen(given) is None:
                value = last
        if not isinstance(value, ast.Call) or value.args or value.keywords or name not in self.steady:
            return False
        if self.nested or self.branches or not self.shared.ordinary:
            return False
        try:
            found = super().meaning(value.func)
        except (LanguageError, Unusable):
            return False
        made = made_generator(str(found.value)) if found.kind == "library" else None
        uses = [part for part in self.parts if isinstance(part, ast.Name) and part.id == name]
        drawn = [part.value for part in self.parts if isinstance(part, ast.Attribute)]
        loaded = [
            use for use in uses if isinstance(use.ctx, ast.Load) and not any(use is each for each in ast.walk(value))
        ]
        asked = [use for use in loaded if not any(use is each for each in drawn)]
        if made is None or any(not self.only_tested(use) for use in asked):
            return False
        self.generators[name] = made
        self.constants.pop(name, None)
        return True

    def only_tested(self, use: ast.Name) -> bool:
        """Whether a name is only compared with None, or stands before ``or``, where it has its value yet to get."""
        for part in self.parts:
            match part:
                case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                    if left is use:
                        return True
                case ast.BoolOp(op=ast.Or(), values=[first, _]) if first is use:
                    return True
        return False

    def called_object(self, function: ast.expr) -> tuple[Built, str] | None:
        """The object whose method a call calls, and the name of the method; None for any other call."""
        match function:
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name in self.objects:
                return None if method in self.objects[name].attributes else (self.objects[name], method)
            case ast.Name(id=name) if name in self.objects:
                return self.objects[name], "__call__"
            case ast.Attribute(value=ast.Call() as made, attr=method):
                built = self.built(made)
                return None if built is None or method in built.attributes else (built, method)
        return None

    def object_made(self, name: str, value: ast.expr) -> bool:
        """``name = Class(constants)``, where the name stands for nothing else and is only asked for what it holds."""
        if not isinstance(value, ast.Call) or name not in self.steady or self.nested or self.branches:
            return False
        uses = [part for part in self.parts if isinstance(part, ast.Name) and part.id == name]
        holders = [
            part.value if isinstance(part, ast.Attribute) else part.func
            for part in self.parts
            if (isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load)) or isinstance(part, ast.Call)
        ]
        stored = [use for use in uses if not isinstance(use.ctx, ast.Load)]
        if len(stored) != 1 or any(not any(use is h for h in holders) for use in uses if use is not stored[0]):
            return False
        built = self.built(value)
        if built is not None:
            self.objects[name] = built
        return built is not None

    def built(self, node: ast.Call) -> Built | None:
        """The object that a call makes; None where it makes none, or none of constants."""
        if not self.shared.ordinary or not isinstance(node.func, ast.Name) or node.func.id in self.names:
            return None
        path = node.func.id
        try:
            found = self.running.method_of(path, "__init__")
            if found.kind != "function":
                return None
            running = self.running.program.running(found.value)
            parameters = list(signature(running.function).parameters.values())
            bound = signature(running.function).bind(None, *node.args, **{str(k.arg): k.value for k in node.keywords})
            known: dict[str, Any] = {}
            for parameter in parameters[1:]:
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    return None
                given = bound.arguments.get(parameter.name)
                known[parameter.name] = running.default(parameter.name) if given is None else self.compute(given)
            attributes: dict[str, Any] = {}
            _give_attributes(running.read.tree.body, parameters[0].name, running, known, attributes)
        except (KeyError, Unusable, Unfoldable, TypeError, NotPlain, LanguageError):
            return None
        if not all(map(unchanging, attributes.values())):
            return None
        return Built(path, self.running, MappingProxyType(attributes))


def _give_attributes(
    body: list[ast.stmt], own: str, running: Running, known: dict[str, Any], attributes: dict[str, Any]
) -> None:
    """Note the attributes that a constructor gives to its object.

    Raises:
        Unfoldable: it does anything else.
    """

    def lookup(node: ast.expr) -> ResolvedName:
        match node:
            case ast.Name(id=name) if name in known:
                return ResolvedName("constant", known[name])
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == own:
                if attribute not in attributes:
                    raise Unfoldable
                return ResolvedName("constant", attributes[attribute])
            case ast.Name() | ast.Attribute():
                return running.meaning(ast.unparse(node))
        raise Unfoldable

    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attribute)], value=value) if (
                name == own
            ):
                attributes[attribute] = evaluate_constants(value, lookup)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name != own:
                known[name] = evaluate_constants(value, lookup)
            case ast.If(test=test, body=then, orelse=otherwise):
                _give_attributes(
                    then if evaluate_constants(test, lookup) else otherwise, own, running, known, attributes
                )
            case ast.Assert(test=test) if evaluate_constants(test, lookup):
                continue
            case _:
                raise Unfoldable
