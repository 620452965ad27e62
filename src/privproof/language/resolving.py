"""Names, looked up where the running function looks.

A translation reads the text of a function, and the text says little by itself: ``limit``, ``len`` and ``helper`` are whatever the
running function finds under these names.  So every name is looked up where the running function would look (its closure, its
globals, its builtins; a dotted name in modules, classes and frozen data), and what is found is kept.  The translation sees nothing
else, so a record that is made again tells whether anything has changed.
"""

from __future__ import annotations

import builtins
import dataclasses
import gc
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from inspect import Parameter
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from privproof.errors import LanguageError
from privproof.language.classes import members_of, shape_of
from privproof.language.comparing import Source, source, text_of
from privproof.language.constants import NotPlain, frozen_copy, plain_enumeration
from privproof.language.inputs import Input
from privproof.language.libraries import generator_method, library_name, load_part
from privproof.language.noise import NOISES
from privproof.language.reading_alone import elements_of, only_reads
from privproof.language.recording import Kind, Meaning, Program, Resolved, lists_plainly
from privproof.language.syntax import of_library


def _drawing(function: Any) -> tuple[Any, ...]:
    """What of a noise function counts when it is called."""
    return (function.__code__, function.__defaults__, tuple((function.__kwdefaults__ or {}).items()))


_DRAWING = {name: _drawing(noise.function) for name, noise in NOISES.items()}
"""The noise functions as they came."""

_HEAP_TYPE = 1 << 9
"""The flag of a class that was made while Python ran; the built-in ones are part of the interpreter and cannot be changed."""


@dataclass(frozen=True)
class ResolvedName:
    """What was found under a name: like a `Meaning`, with the running function itself in place of its number."""

    kind: Kind
    value: Any


class Unusable(Exception):
    """What stands under a name is nothing that a mechanism may use: what it is, and what to write instead."""

    def __init__(self, what: str, hint: str, found: object = None, code: str = "constant") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.found = found
        self.code = code


class Running:
    """One function as it runs: its source, and what was found under the names that were asked for.

    Attributes:
        called: what is called: the function, or a mechanism around it.
        read: its source, which its code was compared with.
        owner: the object whose method it is, if it is one.
        meanings: what was found so far, by name.
        defaults: the defaults that were asked for so far.
    """

    def __init__(
        self,
        called: Any,
        function: FunctionType,
        parameters: Mapping[str, Any],
        program: Recorder,
        owner: object = None,
    ) -> None:
        self.called = called
        self.owner = owner
        self.function = function
        self.parameters = parameters
        self.program = program
        self.read: Source = source(function)
        self.meanings: dict[str, ResolvedName] = {}
        self.defaults: dict[str, Any] = {}
        self.classes: set[str] = set()

    def method_of(self, path: str, name: str) -> ResolvedName:
        """A method of a class by which objects are made, and which Python looks up in no other way than by its name.

        Raises:
            KeyError: there is none.
            Unusable: the class is no plain one.
        """
        value = self._name(path)
        plain = type(value) is type and value.__mro__ == (value, object) and not _OWN_WAYS & vars(value).keys()
        if not plain or any(hasattr(type(held), "__set__") for key, held in vars(value).items() if key[:2] != "__"):
            raise Unusable(f"`{path}` as a value", "call it", value, "construct")
        self.classes.add(path)
        self.meanings[f"{path}.{name}"] = self.program.classified(vars(value)[name], f"{path}.{name}")
        return self.meanings[f"{path}.{name}"]

    def meaning(self, path: str) -> ResolvedName:
        """What a name, or a dotted name, stands for.

        Raises:
            KeyError: nothing stands under it; the key is the part that is missing.
            Unusable: something stands there that a mechanism may not use.
        """
        if path not in self.meanings:
            holder, _, last = path.rpartition(".")
            if holder in self.classes:
                return self.method_of(holder, last)
            first, *rest = path.split(".")
            value = self._name(first)
            reached = first
            for attribute in rest:
                if not _reads(self.function.__code__, attribute) or attribute.startswith("__"):
                    raise Unusable(
                        f"{reached}.{attribute} is read by Python in its own way", "a name without __ in front"
                    )
                inside = self.owner is not None and value is self.owner
                value = _attribute(value, attribute, reached) if inside else _member(value, attribute, reached)
                reached = f"{reached}.{attribute}"
            self.meanings[path] = self.program.classified(self._elements(value, path), path)
        return self.meanings[path]

    def _elements(self, value: Any, name: str) -> Any:
        """What a list or a dictionary of the module holds, where the module uses nothing else of it; an empty one is there to be filled."""
        found = self.function.__globals__
        if type(value) not in (list, dict) or not value or found.get(name, self) is not value:
            return value
        text = text_of(self.function)
        if text is None or not only_reads(
            text.tree, name, lambda called: called not in found and hasattr(builtins, called)
        ):
            return value
        try:
            return elements_of(value, name)
        except NotPlain as problem:
            raise Unusable(f"{name} holds {problem.what}", problem.hint, value, problem.code) from None

    def default(self, name: str) -> Any:
        """The value of a parameter that a call leaves out.

        Raises:
            NotPlain: it is no constant.
        """
        if name not in self.defaults:
            if name in self.parameters:
                self.defaults[name] = frozen_copy(self.parameters[name], name, lists=True, floats=True)
            else:
                default = signature(self.function).parameters[name].default
                self.defaults[name] = frozen_copy(default, name, floats=True)
        return self.defaults[name]

    def _name(self, name: str) -> Any:
        """What the running code finds under a name that is not its own."""
        function = self.function
        code = function.__code__
        if self.owner is not None and name == code.co_varnames[0]:
            return self.owner
        if type(self.parameters.get(name)) is FunctionType and name in code.co_varnames:
            return self.parameters[name]
        if name in code.co_freevars:
            cell = (function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in code.co_varnames or name in code.co_cellvars or not _reads(code, name):
            raise Unusable(f"{name} is read by Python under another name", "a name without __ in front")
        built_in: object = getattr(function, "__builtins__")  # noqa: B009 (the type is not told of it)
        for space in (function.__globals__, built_in):
            if type(space) is not dict:
                raise Unusable(f"{name} is looked up in a {type(space).__name__}", "define it in a module")
            if name in space:
                return space[name]
        raise KeyError(name)


class Recorder:
    """Looks names up for all functions of one program, and keeps what it finds.

    Args:
        mechanisms: the classes of objects that call their attribute ``function`` with their attribute ``parameters``.
    """

    def __init__(self, *mechanisms: type) -> None:
        self.mechanisms = mechanisms
        self.entered: dict[int, Running] = {}

    def running(self, called: Any) -> Running:
        """A function, or a mechanism around one, as it runs."""
        known = self.entered.get(id(called))
        if known is None:
            inside = type(called) in self.mechanisms
            function: Any = called.function if inside else called
            owner = None
            if type(function) is MethodType and not isinstance(function.__self__, type):
                function, owner = function.__func__, function.__self__
            if type(function) is not FunctionType:
                raise LanguageError("mechanism", f"{function!r} is not a function", hint="@mechanism above a def")
            known = Running(called, function, _table(called.parameters) if inside else {}, self, owner)
            self.entered[id(called)] = known  # which also keeps the object, so that its id stays its own
        return known

    def classified(self, value: Any, path: str) -> ResolvedName:
        """What kind of thing stands under a name."""
        for name, noise in NOISES.items():
            if value is noise.function:
                if _drawing(noise.function) != _DRAWING[name]:
                    raise Unusable(f"{path} is a noise function that was changed while Python ran", "leave it as it is")
                return ResolvedName("noise", name)
        if value is Fraction:
            return ResolvedName("builtin", "Fraction")
        known = builtin_name(value)
        if known is not None:
            return ResolvedName("builtin", known)
        known = library_name(value)
        if known is not None:
            return ResolvedName("library", known)
        if type(value) is FunctionType or type(value) in self.mechanisms or _is_own_method(value):
            return ResolvedName("function", value)
        shape, members = shape_of(value), members_of(value)
        if shape is not None:
            return ResolvedName("record", shape)
        if members is not None:
            return ResolvedName("members", members)
        if issubclass(type(value), ModuleType | type):
            raise Unusable(f"`{path}` as a value", "call it", value, "construct")
        try:
            return ResolvedName("constant", frozen_copy(value, path, floats=True))
        except NotPlain as problem:
            raise Unusable(f"{path} is {problem.what}", problem.hint, value, problem.code) from None

    def program(self, called: Any, inputs: Mapping[str, Input], parameters: Mapping[str, Any]) -> Program:
        """The record of everything that was asked for, beginning with a function."""
        listed = [called]
        numbers = {id(called): 0}
        functions = []
        for one in listed:
            running = self.running(one)
            meanings = {}
            for path, found in running.meanings.items():
                if found.kind == "function" and id(found.value) not in numbers:
                    numbers[id(found.value)] = len(listed)
                    listed.append(found.value)
                value = numbers[id(found.value)] if found.kind == "function" else found.value
                meanings[path] = Meaning(found.kind, value)
            read = running.read
            functions.append(
                Resolved(
                    read.definition.name,
                    running.function.__code__.co_qualname,
                    read.file,
                    read.definition.lineno,
                    read.text,
                    MappingProxyType(meanings),
                    MappingProxyType(dict(running.defaults)),
                )
            )
        values = {}
        for name, value in _table(parameters).items():
            if type(value) is FunctionType:
                continue  # it is among the functions
            try:
                values[name] = frozen_copy(value, name, lists=True, floats=True)
            except NotPlain as problem:
                raise LanguageError("parameter", f"{name} is {problem.what}", hint=problem.hint) from None
        for name, declared in _table(inputs).items():
            if type(declared) is not Input or not lists_plainly(declared):
                raise LanguageError("input", f"{name} is declared with values of another kind", hint="queries(0, 2)")
        return Program(tuple(functions), MappingProxyType(dict(_table(inputs))), MappingProxyType(values))

    def again(
        self, called: Any, known: Program, inputs: Mapping[str, Input], parameters: Mapping[str, Any]
    ) -> Program | None:
        """The record of what would run now, asked for the names of an earlier one; None if they cannot be found now."""
        try:
            waiting = [(self.running(called), 0)]
            seen = {0}
            for running, number in waiting:
                earlier = known.functions[number]
                for path, meaning in earlier.meanings.items():
                    found = running.meaning(path)
                    if found.kind != meaning.kind:
                        return None
                    if meaning.kind == "function" and meaning.value not in seen:
                        seen.add(meaning.value)
                        waiting.append((self.running(found.value), meaning.value))
                for name in earlier.defaults:
                    running.default(name)
            return self.program(called, inputs, parameters)
        except (KeyError, Unusable, NotPlain, LanguageError):
            return None


def _table(held: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table of inputs or parameters, which must be nothing but one."""
    inside = gc.get_referents(held)[0] if type(held) is MappingProxyType else held
    if type(inside) is not dict:
        raise LanguageError(
            "parameter",
            f"the parameters stand in a {type(inside).__name__}",
            hint="a dict or a MappingProxyType of one",
        )
    return inside


def builtin_name(value: object) -> str | None:
    """The name of a built-in function or type by which the interpreter knows it, whatever stands in `builtins` now.

    >>> builtin_name(len)
    'len'
    >>> builtin_name(lambda xs: 0) is None
    True
    """
    if type(value) is BuiltinFunctionType:
        holder = value.__self__
        return value.__name__ if type(holder) is ModuleType and holder.__name__ == "builtins" else None
    if type(value) is type and not value.__flags__ & _HEAP_TYPE and value.__module__ == "builtins":
        return value.__name__
    return None


def signature(function: FunctionType) -> inspect.Signature:
    """The parameters of a function as a call binds them: from its code and its defaults, whatever ``__signature__`` says.

    >>> signature(lambda x, *, y=1: x)
    <Signature (x, *, y=1)>
    """
    code = function.__code__
    names = code.co_varnames
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    given = tuple(tuple.__iter__(function.__defaults__ or ()))
    late = dict(dict.items(function.__kwdefaults__ or {}))
    rest = count - len(given)
    before, empty = code.co_posonlyargcount, Parameter.empty
    result = [
        Parameter(
            name,
            Parameter.POSITIONAL_ONLY if number < before else Parameter.POSITIONAL_OR_KEYWORD,
            default=given[number - rest] if number >= rest else empty,
        )
        for number, name in enumerate(names[:count])
    ]
    after = count + keywords
    if code.co_flags & inspect.CO_VARARGS:
        result.append(Parameter(names[after], Parameter.VAR_POSITIONAL))
        after += 1
    result += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=late.get(name, empty))
        for name in names[count : count + keywords]
    ]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        result.append(Parameter(names[after], Parameter.VAR_KEYWORD))
    return inspect.Signature(result)


def _reads(code: Any, name: str) -> bool:
    """Whether the code, or that of a comprehension inside it, looks up a name."""
    if name in code.co_names or name in code.co_freevars:
        return True
    return any(_reads(inner, name) for inner in code.co_consts if type(inner) is type(code))


def _is_own_method(value: object) -> bool:
    """Whether a value is a method of an object, written in Python and in no library."""
    if type(value) is not MethodType or type(value.__func__) is not FunctionType:
        return False
    return not isinstance(value.__self__, type) and not of_library(value.__func__.__code__.co_filename)


_OWN_WAYS = frozenset(
    ("__new__", "__getattribute__", "__getattr__", "__setattr__", "__slots__", "__dataclass_fields__")
)
"""What makes a class do something of its own where objects are made or asked for attributes."""


def _member(holder: object, attribute: str, path: str) -> Any:
    """What a module, a class or frozen data holds under a name; nothing of theirs is executed."""
    whole = f"{path}.{attribute}"
    hint = f"{attribute} = {whole} at the top of the file"
    kind = type(holder)
    if isinstance(holder, type) and plain_enumeration(holder):
        if attribute not in holder._member_map_:  # type: ignore[attr-defined]
            raise KeyError(whole)
        return holder._member_map_[attribute]  # type: ignore[attr-defined]
    if plain_enumeration(kind) and attribute in ("name", "value"):
        return holder._name_ if attribute == "name" else holder._value_  # type: ignore[attr-defined]
    if kind is type:
        assert isinstance(holder, type)
        for one in holder.__mro__:
            if attribute in vars(one):
                value = vars(one)[attribute]
                return value.__func__ if type(value) is staticmethod else value
        raise KeyError(whole)
    if issubclass(kind, ModuleType):
        if kind is ModuleType and attribute not in vars(holder):
            load_part(holder, attribute)
        if kind is not ModuleType or (attribute not in vars(holder) and "__getattr__" in vars(holder)):
            raise Unusable(f"{whole} is computed by its module when it is asked for", hint, holder)
        if attribute not in vars(holder):
            raise KeyError(whole)
        return vars(holder)[attribute]
    method = generator_method(holder, attribute)
    if method is not None:
        return method
    if _is_field(kind, attribute):
        value = inspect.getattr_static(holder, attribute)
        return value.__get__(holder) if type(value) is MemberDescriptorType else value
    raise Unusable(f"{whole} is an attribute of a {kind.__name__}, which may change or be computed", hint, holder)


def _attribute(holder: object, attribute: str, path: str) -> Any:
    """What the object whose method is read holds under a name; nothing of it is executed."""
    kind, whole = type(holder), f"{path}.{attribute}"
    plain = inspect.getattr_static(kind, "__getattribute__") is object.__getattribute__
    whole_table = type(inspect.getattr_static(kind, "__dict__", None)) in (GetSetDescriptorType, MappingProxyType)
    held = vars(holder) if plain and whole_table and hasattr(holder, "__dict__") else {}
    on_class = inspect.getattr_static(kind, attribute, None)
    if attribute in held and not hasattr(type(on_class), "__set__"):
        return held[attribute]
    if plain and attribute not in held and type(on_class) is FunctionType:
        return MethodType(on_class, holder)
    if plain and attribute not in held and type(on_class) in (bool, int, float, str, Fraction, tuple):
        return on_class
    raise Unusable(f"{whole} is no attribute that is a constant", f"{attribute} as a parameter with a default", holder)


def _is_field(kind: Any, attribute: str) -> bool:
    """Whether an attribute is a field of frozen data, which looks its attributes up as Python does."""
    if type(kind) is not type or not dataclasses.is_dataclass(kind):
        return False
    plain = inspect.getattr_static(kind, "__getattribute__") is object.__getattribute__
    fields = {field.name for field in dataclasses.fields(kind)}
    return plain and bool(kind.__dataclass_params__.frozen) and attribute in fields  # type: ignore[attr-defined]
