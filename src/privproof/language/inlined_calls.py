"""Calls of the user's own functions: the body is read in place, under names of its own.

A function at the top of a file, a method of an object that was made of constants, a function that is defined inside another one or given
to it, and a lambda.  Arguments are evaluated in the order in which Python evaluates them; what an argument is known to be while the
program is read is known inside too.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from privproof.errors import LanguageError
from privproof.language.assignments import Assignments
from privproof.language.constants import NotPlain
from privproof.language.expressions import Given
from privproof.language.objects import Built
from privproof.language.resolving import ResolvedName, Running, signature
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Constant,
    Expression,
    Inline,
    Place,
    Replace,
    Result,
    Statement,
    Variable,
    of_library,
)
from privproof.language.values import MISSING
from privproof.language.walking import blocks, statements

_DEEPEST = 30
"""Calls of functions inside each other that are read in place; deeper ones are refused like recursion."""
_MOST_CALLS = 300
"""Calls of functions that are read in place where they may call themselves; more are refused like recursion without an end."""


def statements_of_call(result: str, body: Block, place: Place) -> Block:
    """The body of a called function in its caller, which leaves what it returns in `result`.

    Where the function ends in one place alone, its statements stand in the caller like any others.

    >>> here = Place("f.py", 1, 1)
    >>> [type(s).__name__ for s in statements_of_call("r", (Result(Constant(1, here), here),), here)]
    ['Assign']
    """
    nothing = Constant(None, place)
    end = next((at for at, s in enumerate(body) if isinstance(s, Result)), len(body))
    if any(map(_may_end, body[:end])):
        return (Inline(result, (*body, Result(nothing, place)), place),)
    last = body[end] if end < len(body) else Result(nothing, place)
    assert isinstance(last, Result)
    return (*body[:end], Assign(result, last.value, last.place))


def _may_end(statement: Statement) -> bool:
    """Whether a called function may end inside of a statement; functions that it calls end for themselves."""
    if isinstance(statement, Result):
        return True
    return not isinstance(statement, Inline) and any(map(_may_end, (s for block in blocks(statement) for s in block)))


class InlinedCalls(Assignments):
    """Reads calls of functions of the language."""

    def defined_once(self, name: str) -> bool:
        """Whether a name inside a function gets its meaning in one place, in the function's own block."""
        own = [
            s
            for s in self.read.tree.body
            if (isinstance(s, ast.FunctionDef) and s.name == name)
            or (isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets))
        ]
        inside = [
            n
            for n in ast.walk(self.read.tree)
            if isinstance(n, ast.FunctionDef) and n is not self.read.tree and n.name == name
        ]
        stored = [
            n
            for n in ast.walk(self.read.tree)
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        ]
        taken = [a for a in ast.walk(self.read.tree) if isinstance(a, ast.arg) and a.arg == name]
        return len(own) == 1 and len(inside) + len(stored) == 1 and not taken and not self.nested

    def inside(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """A call of a function that is defined inside this one, or was given to it: its body, with the variables around it."""
        here, given_here = self.place(node), self.functions[name]
        if isinstance(given_here, ResolvedName):
            return self.inline(node, given_here.value, out)
        function, owner = given_here
        assert isinstance(owner, InlinedCalls)
        given = function.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
            self.refuse(node, f"calling {name}, whose parameters are not all plain,", "parameters without defaults")
        body = (
            function.body
            if isinstance(function, ast.FunctionDef)
            else [ast.copy_location(ast.Return(function.body), function.body)]
        )
        parts = [part for statement in body for part in ast.walk(statement)]
        if any(
            isinstance(part, ast.Yield | ast.YieldFrom | ast.Nonlocal | ast.Global | ast.FunctionDef) for part in parts
        ):
            self.refuse(
                node, f"calling {name}, which does more than to return a value,", "define it at the top of the file"
            )
        keywords = {str(k.arg): k.value for k in node.keywords}
        parameters = [argument.arg for argument in given.args]
        bound = dict(zip(parameters, node.args, strict=False)) | keywords
        if len(node.args) + len(keywords) != len(parameters) or bound.keys() != set(parameters):
            raise LanguageError(
                "call",
                f"{name} is called with other arguments",
                place=str(here),
                hint=f"{name}({', '.join(parameters)})",
            )
        self.count_call(node, name)
        prefix = self.shared.name(f"{name}.")
        own = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        names = {**owner.around, **{each: f"{prefix}.{each}" for each in (*parameters, *own)}}
        constants = {
            each: value for each, value in owner.constants.items() if each not in own and each not in parameters
        }
        for parameter, argument in self.in_order(node, bound):
            foreseen = self.foreseen(argument) if self.shared.ordinary else UNFORESEEN
            if foreseen is not UNFORESEEN and parameter not in own:
                constants[parameter] = foreseen
                if type(foreseen) is float:
                    continue
            if (
                isinstance(argument, ast.Name)
                and self.names.get(argument.id) in self.shared.given
                and parameter not in own
            ):
                names[parameter] = self.names[argument.id]
                continue
            out.append(Assign(names[parameter], self.expression(argument, out), here))
        reader = type(self)(owner.running, self.shared, names, called=True)
        reader.steady = owner.steady - own | set(parameters) - own
        reader.constants, reader.functions, reader.nested, reader.around = constants, owner.functions, True, dict(names)
        for parameter, argument in bound.items():
            if isinstance(argument, ast.Name) and argument.id in self.arrays.names:
                reader.arrays.names[parameter] = self.arrays.names[argument.id]
        read = reader.block(body)
        self.shared.depth -= 1
        outside = {*self.names.values(), *owner.names.values()}
        if any(isinstance(s, Append | Replace) and s.name in outside for s in statements(read)):
            self.refuse(node, f"calling {name}, which changes a list around it,", "pass the list and return it")
        unassigned = Constant(MISSING, here)
        begun = tuple(Assign(names[each], unassigned, here) for each in sorted(own - set(parameters)))
        kept = self.result_of(read)
        out += statements_of_call(kept, (*begun, *read), here)
        return Variable(kept, here)

    def count_call(self, node: ast.Call, name: str) -> None:
        """Refuse calls inside calls that are too deep, and too many of them."""
        self.shared.depth += 1
        self.shared.inlined += 1
        if self.shared.depth > _DEEPEST or self.shared.inlined > _MOST_CALLS:
            self.refuse(node, f"the recursive call of {name}", "a loop")

    def inline(self, node: ast.Call, called: object, out: list[Statement], built: Built | None = None) -> Expression:
        alone = node is self.whole
        here = self.place(node)
        running = self.running.program.running(called)
        read, name = running.read, running.read.tree.name
        if (running in self.shared.calls or running is self.shared.main) and self.shared.ordinary:
            self.shared.inlined += 1
            if self.shared.inlined > _MOST_CALLS or len(self.shared.calls) >= _DEEPEST:
                self.refuse(node, f"the recursive call of {name}", "a loop")
        elif running in self.shared.calls or len(self.shared.calls) >= _DEEPEST:
            self.refuse(node, f"the recursive call of {name}", "a loop")
        if inspect.isgeneratorfunction(running.function):
            self.refuse(node, "a call of a generator", "yield in the mechanism itself")
        keywords: dict[str, Any] = {str(k.arg): k.value for k in node.keywords}
        taken = signature(running.function)
        own = next(iter(taken.parameters), "")
        if built is not None or running.owner is not None:
            taken = taken.replace(parameters=list(taken.parameters.values())[1:])
        try:
            bound = taken.bind(*node.args, **keywords)
        except TypeError as problem:
            raise LanguageError("call", f"{name}: {problem}", place=str(here), hint=f"{name}{taken}") from None
        prefix = self.shared.name(f"{name}.")
        stored = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = {parameter: f"{prefix}.{parameter}" for parameter in taken.parameters}
        constants: dict[str, Any] = {}
        for parameter in taken.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self.refuse(node, f"calling {name}, which takes *{parameter.name}", "name its parameters")
            if parameter.name not in bound.arguments:
                try:
                    constants[parameter.name] = running.default(parameter.name)
                except NotPlain as problem:
                    raise self.no_default(running, parameter.name, problem, here) from None
                if type(constants[parameter.name]) is float:
                    if self.shared.ordinary:
                        continue
                    what = NotPlain(f"{constants[parameter.name]!r}, a float", "a Fraction", "float")
                    raise self.no_default(running, parameter.name, what, here)
                value = self.fixed(node, constants[parameter.name], here)
                out.append(Assign(names[parameter.name], value, here))
        functions: dict[str, Given] = {}
        for parameter_name, argument in self.in_order(node, bound.arguments):
            given = self.given_function(argument)
            if given is not None and parameter_name not in stored:
                functions[parameter_name] = given
                continue
            foreseen = self.foreseen(argument) if self.shared.ordinary else UNFORESEEN
            if foreseen is not UNFORESEEN:
                constants[parameter_name] = foreseen
            if type(foreseen) is float:
                continue
            if isinstance(argument, ast.Name) and argument.id in self.names and parameter_name not in stored:
                names[parameter_name] = self.names[argument.id]
                if names[parameter_name] not in self.shared.given:
                    out.append(Assign(self.shared.name("d"), Variable(names[parameter_name], here), here))
            else:
                out.append(Assign(names[parameter_name], self.expression(argument, out), here))
        self.shared.calls.append(running)
        passed = set(names.values())
        reader = type(self)(running, self.shared, names, called=True, constants=constants)
        reader.functions |= functions
        if built is not None:
            reader.objects[own] = built
        for parameter_name, argument in bound.arguments.items():
            if isinstance(argument, ast.Name) and argument.id in self.arrays.names:
                reader.arrays.names[parameter_name] = self.arrays.names[argument.id]
        for parameter_name, value in constants.items():
            if type(value) is float and parameter_name not in reader.constants:
                self.refuse(node, f"{name}, which changes its parameter {parameter_name} from a float,", "another name")
        try:
            body = reader.block(read.tree.body)
        except LanguageError as problem:
            if of_library(read.file) and not of_library(self.read.file):
                self.refuse(node, f"calling {ast.unparse(node.func)} ({problem.message})", "a function of your own")
            raise
        self.shared.calls.pop()
        if not alone and any(isinstance(s, Append | Replace) and s.name in passed for s in statements(body)):
            self.refuse(node, f"calling {name}, which changes a list, inside a larger expression", f"y = {name}(xs)")
        unassigned = Constant(MISSING, here)
        body = (*(Assign(v, unassigned, here) for v in dict.fromkeys(names.values()) if v not in passed), *body)
        kept = self.result_of(body)
        out += statements_of_call(kept, body, here)
        return Variable(kept, here)

    def result_of(self, body: Block) -> str:
        """A name for what a call returns; it is noisy if all that it may return is."""
        kept = self.shared.name("r")
        results = [statement.value for statement in statements(body) if isinstance(statement, Result)]
        if results and all(map(self.is_noisy, results)):
            self.shared.noisy.add(kept)
        return kept

    def given_function(self, node: ast.expr) -> Given | None:
        """The function that an argument is: a lambda, or the name of a function that is known here; None for any other argument."""
        if isinstance(node, ast.Lambda):
            return node, self
        if not isinstance(node, ast.Name):
            return None
        found = self.found(node) if node.id not in self.names else None
        return found if found is not None and found.kind == "function" else self.functions.get(node.id)

    def no_default(self, running: Running, name: str, problem: NotPlain, here: Place) -> LanguageError:
        """The refusal of the value of a parameter that a call leaves out."""
        said = f"the default of {name} in {running.read.tree.name} is {problem.what}"
        return LanguageError(problem.code, said, place=str(here), hint=problem.hint)
