"""What all readers of source share: names and what they stand for, numbers of sites, refusals."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, NoReturn

from privproof.errors import LanguageError
from privproof.language.arrays import BuiltIn
from privproof.language.folding import Unfoldable, evaluate_constants, unchanging
from privproof.language.resolving import ResolvedName, Running, Unusable
from privproof.language.syntax import Place

_INSTEAD: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "define a function with def and call it"),
    ast.Await: ("await", "a mechanism is an ordinary function"),
    ast.YieldFrom: ("yield from", "for x in xs: yield x"),
    ast.Set: ("a set", "a tuple: (1, 2), or x == 1 or x == 2"),
    ast.NamedExpr: ("the := operator", "assign in a statement of its own"),
    ast.Starred: ("a starred expression", "write the elements out"),
    ast.Try: ("try", "test the condition with if"),
    ast.With: ("with", "randomness is chosen by the caller: with privproof.seeded(1): ..."),
    ast.Raise: ("raise", "return a value that says so"),
    ast.Assert: ("assert", "declare what holds in the signature: queries(0, 2)"),
    ast.Delete: ("del", "leave the variable alone"),
    ast.Global: ("global", "pass the value and return it"),
    ast.Nonlocal: ("nonlocal", "pass the value and return it"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.FunctionDef: ("a function inside a function", "define it at the top of the file"),
    ast.ClassDef: ("a class", "use tuples and lists"),
    ast.AsyncFunctionDef: ("async", "def"),
    ast.AsyncFor: ("async for", "for"),
}


UNFORESEEN: Final = object()
"""The value of what is not known while a function is read."""


class Shared:
    """What the translations of all functions of one mechanism share.

    Attributes:
        streams: the arguments that are streams.
        given: all arguments.
        lists: the arguments that are lists.
        fields: the names of the fields of records.
        ordinary: whether noise of libraries is read as the ideal noise that it names, and floats are computed with as Python does.
        drawn: whether such noise was met.
        object_fields: the fields of the objects that were met.
        noisy: the variables in which continuous noise of a library has a part.
        exact: the variables that were given something else.
        mixed: the variables in which it has a part on some ways, and on others not.
        floats: the floats beside data that count with their exact values, by their places.
        runnable: whether all arguments have listed values, so that the function can be run as it is.
        tried: in how many blocks whose errors are caught what is read stands.
        arrays: whether arrays of numpy were met.
        array_lengths: the arguments that are arrays, each with what its length is.
    """

    def __init__(
        self,
        streams: frozenset[str],
        given: frozenset[str] = frozenset(),
        *,
        lists: frozenset[str] = frozenset(),
        fields: frozenset[str] = frozenset(),
        ordinary: bool = False,
        values: Mapping[str, tuple[object, ...]] | None = None,
    ) -> None:
        self.streams = streams
        self.lists = lists
        self.fields = fields
        self.values = dict(values or {})
        self.given = given
        self.ordinary = ordinary
        self.main: Running | None = None
        self.depth = 0
        self.inlined = 0
        self.drawn = False
        self.sites = 0
        self.fresh = 0
        self.calls: list[Running] = []
        self.object_fields: set[str] = set()
        self.noisy: set[str] = set()
        self.exact: set[str] = set()
        self.mixed: set[str] = set()
        self.floats: set[tuple[Place, Fraction]] = set()
        self.runnable = False
        self.tried = 0
        self.arrays = False
        self.array_lengths: dict[str, object] = {}

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"#{stem}{self.fresh}"


class SourceReading:
    """The translation of one function, the mechanism itself or one that it calls: its names and its refusals."""

    def __init__(
        self,
        running: Running,
        shared: Shared,
        names: dict[str, str],
        *,
        called: bool = False,
        constants: Mapping[str, Any] | None = None,
    ) -> None:
        self.running = running
        shared.main = shared.main or running
        self.nested = False
        self.current: ast.stmt | None = None
        self.read = read = running.read
        self.shared = shared
        self.called = called
        self.whole: ast.expr | None = None
        self.names = names
        local = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in local - names.keys():
            names[name] = f"{shared.name(read.tree.name + '.')}.{name}" if called else name
        self.around = dict(names)
        self.parts = list(ast.walk(read.tree))
        self.branches = 0
        self.own_block = list(read.tree.body)
        self.steady = local - _wavering(self.own_block) | names.keys() - local
        self.first = dict(constants or {})
        self.constants = {n: v for n, v in self.first.items() if n in self.steady and unchanging(v)}

    def first_values(self, node: ast.If) -> dict[str, Any]:
        """The parameters in a test of the function's own block that still have the values that they were given."""
        here = (node.lineno, node.col_offset)
        places = [i for i, each in enumerate(self.own_block) if (each.lineno, each.col_offset) == here]
        if self.branches or self.nested or len(places) != 1 or not self.shared.ordinary:
            return {}
        before = [part for statement in self.own_block[: places[0]] for part in ast.walk(statement)]
        stored = {part.id for part in before if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
        asked = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        return {
            name: value
            for name, value in self.first.items()
            if name in asked - stored - self.constants.keys() and unchanging(value)
        }

    def settle_test(self, node: ast.If, taken: list[ast.stmt]) -> None:
        """A test of the function's own block that is known: what it guards stands in the block, and what it does not is not there."""
        here = (node.lineno, node.col_offset)
        places = [i for i, each in enumerate(self.own_block) if (each.lineno, each.col_offset) == here]
        if self.branches or self.nested or len(places) != 1:
            return
        self.own_block[places[0] : places[0] + 1] = taken
        stored = {
            part.id
            for statement in self.own_block
            for part in ast.walk(statement)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }
        self.steady |= stored - _wavering(self.own_block)

    def compute(self, node: ast.expr) -> Any:
        """The value of an expression that does not depend on data or noise.

        Raises:
            Unfoldable: it does, or the language cannot tell.
        """
        return evaluate_constants(node, self._constant)

    def _constant(self, node: ast.expr) -> ResolvedName:
        if isinstance(node, ast.Name) and node.id in self.names and not isinstance(node, BuiltIn):
            if node.id in self.constants:
                return ResolvedName("constant", self.constants[node.id])
            raise Unfoldable
        try:
            return self.meaning(node)
        except (LanguageError, Unusable):
            raise Unfoldable from None

    def foreseen(self, node: ast.expr) -> Any:
        """The value of an expression, if it is known and nobody can change it; otherwise `UNFORESEEN`."""
        try:
            value = self.compute(node)
        except Unfoldable:
            return UNFORESEEN
        return value if unchanging(value) else UNFORESEEN

    def settle(self, target: ast.expr, value: Any) -> None:
        """Remember what a name stands for from here on, if that is known; several names, one by one."""
        if isinstance(target, ast.Tuple | ast.List):
            known = isinstance(value, tuple) and len(value) == len(target.elts)
            for number, each in enumerate(target.elts):
                inner = each.value if isinstance(each, ast.Starred) else each
                self.settle(inner, value[number] if known and inner is each else UNFORESEEN)
        elif isinstance(target, ast.Name) and target.id in self.steady:
            self.constants.pop(target.id, None)
            if value is not UNFORESEEN:
                self.constants[target.id] = value

    def meaning(self, node: ast.expr) -> ResolvedName:
        """What a name, or a dotted name, outside the function stands for.

        Raises:
            LanguageError: nothing, or the name is not outside.
            Unusable: something that a mechanism may not use.
        """
        if isinstance(node, BuiltIn):
            return (
                ResolvedName("library", "collections.Counter")
                if node.id == "Counter"
                else ResolvedName("builtin", node.id)
            )
        path = []
        root = node
        while isinstance(root, ast.Attribute):
            path.append(root.attr)
            root = root.value
        if not isinstance(root, ast.Name):
            self.unknown(root)
        if root.id in self.names:
            self.refuse(root, "an attribute of a variable", "use tuples and lists")
        try:
            return self.running.meaning(".".join([root.id, *reversed(path)]))
        except KeyError as missing:
            holder, dot, name = str(missing.args[0]).rpartition(".")
            if dot:
                raise LanguageError(
                    "name", f"{holder} has no {name!r}", place=str(self.place(node)), hint="look at its spelling"
                ) from None
            raise LanguageError(
                "name", f"the name {name!r} is not defined", place=str(self.place(root)), hint=f"define {name} before"
            ) from None

    def outside_reason(self, node: ast.AST, problem: Unusable) -> LanguageError:
        """The refusal of what stands under a name."""
        if problem.code == "construct":
            return LanguageError(
                "construct",
                f"{problem.what} is not in the mechanism language",
                place=str(self.place(node)),
                hint=problem.hint,
            )
        return LanguageError(problem.code, problem.what, place=str(self.place(node)), hint=problem.hint)

    def place(self, node: ast.AST) -> Place:
        return self.read.place(node)

    def refuse(self, node: ast.AST, what: str, hint: str) -> NoReturn:
        raise LanguageError(
            "construct", f"{what} is not in the mechanism language", place=str(self.place(node)), hint=hint
        )

    def unknown(self, node: ast.AST) -> NoReturn:
        for kind, (what, hint) in _INSTEAD.items():
            if isinstance(node, kind):
                self.refuse(node, what, hint)
        text = ast.unparse(node).splitlines()[0]
        self.refuse(node, f"`{text[:60]}`", "see the language reference for what is")


def _wavering(body: list[ast.stmt]) -> set[str]:
    """The names that are assigned anywhere but in a plain statement of a function's own block: in loops, branches, comprehensions."""
    plain = [statement for statement in body if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)]
    targets = [target for each in plain for target in (each.targets if isinstance(each, ast.Assign) else [each.target])]
    settled = {id(name) for target in targets for name in _names(target)}
    return {
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in settled
    }


def _names(target: ast.expr) -> Iterator[ast.Name]:
    """The names that a target assigns, but where lists and objects are changed."""
    match target:
        case ast.Name():
            yield target
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for each in elements:
                yield from _names(each)
        case ast.Starred(value=inner):
            yield from _names(inner)


def root_name(node: ast.expr) -> str | None:
    """The first name of a dotted name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
