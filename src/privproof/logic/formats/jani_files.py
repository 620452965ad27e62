"""JANI models (``.jani``): Markov chains and decision processes as automata in JSON, told in the language of PRISM and read as such.

An automaton becomes a module with a variable for its location, an edge a command for every synchronisation vector that its action takes
part in; each vector becomes an action of its own, which has the name of the vector's result where no other has it.  A global variable
belongs to the one automaton that writes it.  What is transient, as labels are, and has its values in locations becomes a formula.
Numbers are exact: ``0.1`` is 1/10.  Definition: Budde, Dehnert, Hahn, Hartmanns, Junges, Turrini, "JANI: Quantitative Model and Tool
Interaction" (TACAS 2017), and its specification, https://jani-spec.org.  What is not supported is refused by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NoReturn

from privproof.errors import FormatError

"""How the names of files end."""

_BINARY = {"∨": "|", "∧": "&", "⇒": "=>", "=": "=", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}
_ARITHMETIC = ("+", "-", "*", "/")
_CALLED = {"min": "min", "max": "max", "pow": "pow", "%": "mod"}
_COMPARED = {"<": ("<", ">"), "≤": ("<=", ">="), ">": (">", "<"), "≥": (">=", "<=")}
_RESERVED = re.compile(
    r"[ACDEFGIPRSUWX]|bool|ceil|clock|const|ctmc|double|dtmc|end(init|invariant|module|observables|rewards|system)|false|filter|floor"
    r"|formula|func|global|init|int|invariant|label|log|max|mdp|min|mod|module|nondeterministic|observables?|of|[PR]m(ax|in)|pomdp|popta"
    r"|pow|prob|probabilistic|pta|rate|rewards|round|stochastic|system|true"
)
"""Names that mean something to PRISM."""


def jani_as_prism(text: str, *, name: str = "text") -> tuple[str, dict[str, str | FormatError]]:
    """A JANI model in the language of PRISM, and its properties, by name; of one that cannot be told so, what stands in the way.

    Args:
        text: the model.
        name: what messages call it.

    Raises:
        FormatError: it is no model that can be read.
    """
    try:
        document = json.loads(
            text, parse_float=Fraction, parse_constant=lambda sign: _refuse(name, f"the number {sign}")
        )
    except ValueError as problem:
        raise FormatError("jani", f"this is no JSON: {problem}", place=name) from None
    if not isinstance(document, dict):
        raise FormatError("jani", "a JANI model is an object", place=name)
    try:
        return _Model(document, name).told()
    except KeyError as problem:
        hint = "a model as the JANI specification has it"
        raise FormatError("jani", f"the member {problem} is missing in an object", place=name, hint=hint) from None
    except (TypeError, AttributeError, IndexError) as problem:
        hint = "a model as the JANI specification has it"
        raise FormatError("jani", f"a member is of another type: {problem}", place=name, hint=hint) from None


def _refuse(place: str, what: str, hint: str = "") -> NoReturn:
    raise FormatError("unsupported", f"{what} is not supported in a JANI model", place=place, hint=hint)


class _PrismNames:
    """Names of the language of PRISM for those of JANI, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wanted: str) -> str:
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII) or "_"
        name = f"_{name}" if name[0].isdigit() or _RESERVED.fullmatch(name) else name
        found, number = name, 1
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found


class _Model:
    def __init__(self, document: dict[str, Any], place: str) -> None:
        self.document, self.place = document, place
        self.names = _PrismNames()
        self.shared: dict[str, str] = {}
        self.lines: list[str] = []
        self.starts: list[str] = []
        self.several = False
        kind = document["type"]
        if kind not in ("dtmc", "mdp"):
            _refuse(place, f"the type {kind!r}", "dtmc and mdp are read")
        for feature in document.get("features", []):
            if feature not in ("derived-operators", "state-exit-rewards"):
                _refuse(place, f"the feature {feature!r}")
        self.automata = {one["name"]: one for one in document["automata"]}
        self.elements = document["system"]["elements"]
        for element in self.elements:
            if element.get("input-enable"):
                _refuse(place, "input-enable")
            if element["automaton"] not in self.automata:
                raise FormatError("jani", f"there is no automaton {element['automaton']!r}", place=place)
        self.vectors = self._vectors()

    def told(self) -> tuple[str, dict[str, str | FormatError]]:
        """The text of the model, and those of its properties."""
        self.lines.append(self.document["type"])
        for constant in self.document.get("constants", []):
            self._constant(constant)
        variables = self.document.get("variables", [])
        for one in variables:
            self.shared[one["name"]] = self.names.new(one["name"])
        owners = self._owners([one["name"] for one in variables])
        conditions = (
            [self._expression(self.document["restrict-initial"]["exp"], self.shared)]
            if ("restrict-initial" in self.document)
            else []
        )
        initial = [(one, self.shared) for one in variables]
        held: dict[int, list[str]] = {}
        for one in variables:
            if not one.get("transient"):
                held.setdefault(owners[one["name"]], []).append(self._declared(one, self.shared))
        self.lines.extend(f"global {line}" for line in held.get(-1, []))
        blocks: list[list[str]] = []
        transient: dict[str, list[tuple[str, str]]] = {one["name"]: [] for one in variables if one.get("transient")}
        for number, element in enumerate(self.elements):
            block, local, own = self._module(number, self.automata[element["automaton"]], transient)
            blocks.append([block[0], *held.get(number, []), *block[1:]])
            initial += [(one, local) for one in own]
            restricted = self.automata[element["automaton"]].get("restrict-initial")
            if restricted:
                conditions.append(self._expression(restricted["exp"], local))
        free = any("initial-value" not in one and not one.get("transient") for one, _ in initial)
        for one in variables:
            if one.get("transient"):
                self._formula(one, transient[one["name"]])
        for block in blocks:
            self.lines.extend(block)
        if free or conditions or self.several:
            begun = [
                f"{names[one['name']]}={self._expression(one['initial-value'], names)}"
                for one, names in initial
                if "initial-value" in one and not one.get("transient")
            ]
            both = " & ".join(f"({each})" for each in [*begun, *self.starts, *conditions]) or "true"
            text = re.sub(r" init [^;\n]*;(?=\n|$)", ";", "\n".join(self.lines))
            return f"{text}\ninit {both} endinit\n", self._properties()
        return "\n".join(self.lines) + "\n", self._properties()

    def _constant(self, given: Mapping[str, Any]) -> None:
        name = self.shared[given["name"]] = self.names.new(given["name"])
        kind = given["type"]["base"] if isinstance(given["type"], dict) else given["type"]
        if kind not in ("int", "bool", "real"):
            _refuse(self.place, f"the type {kind!r} of the constant {given['name']!r}")
        value = f" = {self._expression(given['value'], self.shared)}" if "value" in given else ""
        self.lines.append(f"const {'double' if kind == 'real' else kind} {name}{value};")

    def _declared(self, given: Mapping[str, Any], names: Mapping[str, str]) -> str:
        kind, name = given["type"], names[given["name"]]
        if isinstance(kind, dict) and kind.get("kind") == "bounded" and kind.get("base") == "int":
            if "lower-bound" not in kind or "upper-bound" not in kind:
                _refuse(self.place, f"the variable {given['name']!r} with one bound", "give both bounds")
            told = "[{}..{}]".format(*(self._expression(kind[f"{end}-bound"], names) for end in ("lower", "upper")))
        elif kind in ("int", "bool"):
            told = kind
        else:
            called = kind.get("kind", "") if isinstance(kind, dict) else kind
            _refuse(
                self.place,
                f"the type {called!r} of the variable {given['name']!r}",
                "int, bounded int and bool are read",
            )
        begin = f" init {self._expression(given['initial-value'], names)}" if "initial-value" in given else ""
        return f"  {name} : {told}{begin};"

    def _owners(self, shared: list[str]) -> dict[str, int]:
        """The automaton that writes a global variable; the first where none does, -1 where several do."""
        writing: dict[str, set[int]] = {name: set() for name in shared}
        for number, element in enumerate(self.elements):
            automaton = self.automata[element["automaton"]]
            local = {one["name"] for one in automaton.get("variables", [])}
            for assignment in _assignments(automaton):
                if assignment["ref"] not in local and assignment["ref"] in writing:
                    writing[assignment["ref"]].add(number)
        return {name: -1 if len(found) > 1 else min(found, default=0) for name, found in writing.items()}

    def _formula(self, given: Mapping[str, Any], cases: list[tuple[str, str]]) -> None:
        if given["type"] not in ("bool", "real", "int") and not isinstance(given["type"], dict):
            _refuse(self.place, f"the type {given['type']!r} of the variable {given['name']!r}")
        begun = given.get("initial-value", False if given["type"] == "bool" else 0)
        told = self._expression(begun, self.shared)
        for condition, value in reversed(cases):
            told = f"({condition} ? {value} : {told})"
        self.lines.append(f"formula {self.shared[given['name']]} = {told};")

    def _vectors(self) -> list[tuple[str, list[str | None]]]:
        """The action of every synchronisation vector, and what each automaton does."""
        given = self.document["system"].get("syncs")
        if given is None and len(self.elements) == 1:
            automaton = self.automata[self.elements[0]["automaton"]]
            given = [
                {"result": action, "synchronise": [action]}
                for action in dict.fromkeys(edge["action"] for edge in automaton["edges"] if edge.get("action"))
            ]
        actions = _PrismNames()
        result = []
        for vector in given or ():
            parts = vector["synchronise"]
            if len(parts) != len(self.elements):
                raise FormatError(
                    "jani",
                    f"a synchronisation vector has {len(parts)} of {len(self.elements)} automata",
                    place=self.place,
                )
            alone = sum(part is not None for part in parts) == 1
            called = vector.get("result")
            result.append(("" if alone and not called else actions.new(called or "sync"), parts))
        return result

    def _module(
        self, number: int, given: Mapping[str, Any], transient: dict[str, list[tuple[str, str]]]
    ) -> tuple[list[str], dict[str, str], list[Mapping[str, Any]]]:
        """The lines of a module, the names in it, and its variables."""
        local, own = dict(self.shared), given.get("variables", [])
        for one in own:
            if one.get("transient"):
                _refuse(self.place, f"the transient variable {one['name']!r} of an automaton", "declare it globally")
            local[one["name"]] = self.names.new(one["name"])
        lines = [f"module {self.names.new(given['name'])}"]
        lines += [self._declared(one, local) for one in own]
        places = {location["name"]: i for i, location in enumerate(given["locations"])}
        at = ""
        if len(places) > 1:
            at = self.names.new(f"{given['name']}_location")
            begin = given["initial-locations"]
            self.starts.append(" | ".join(f"{at}={places[one]}" for one in begin))
            self.several = self.several or len(begin) > 1
            lines.append(f"  {at} : [0..{len(places) - 1}] init {places[begin[0]]};")
        for location in given["locations"]:
            if "time-progress" in location:
                _refuse(self.place, "the time-progress of a location")
            for value in location.get("transient-values", []):
                if value["ref"] not in transient:
                    raise FormatError("jani", f"{value['ref']!r} is no transient variable", place=self.place)
                here = f"{at}={places[location['name']]}" if at else "true"
                transient[value["ref"]].append((here, self._expression(value["value"], local)))
        for edge in given["edges"]:
            lines += self._commands(number, edge, at, places, local, transient)
        done = {edge.get("action") for edge in given["edges"]}
        lines += [  # an action that the automaton takes part in, and never does, is blocked
            f"  [{action}] false -> true;"
            for action, parts in self.vectors
            if action and parts[number] not in {None, *done}
        ]
        return [*lines, "endmodule"], local, own

    def _commands(
        self,
        number: int,
        edge: Mapping[str, Any],
        at: str,
        places: Mapping[str, int],
        names: Mapping[str, str],
        transient: Mapping[str, object],
    ) -> Iterator[str]:
        """An edge, once for every action that it is in."""
        if "rate" in edge:
            _refuse(self.place, "the rate of an edge")
        guards = [f"{at}={places[edge['location']]}"] if at else []
        if "guard" in edge:
            guards.append(self._expression(edge["guard"]["exp"], names))
        updates = []
        for destination in edge["destinations"]:
            changes = [f"({at}'={places[destination['location']]})"] if at else []
            for assignment in destination.get("assignments", []):
                if assignment.get("index", 0) != 0:
                    _refuse(self.place, "an assignment with an index", "assign at once")
                if assignment["ref"] in transient and assignment["ref"] not in names.keys() - self.shared.keys():
                    kind = next(one["type"] for one in self.document["variables"] if one["name"] == assignment["ref"])
                    if kind == "bool":
                        _refuse(self.place, f"an edge that assigns to the transient variable {assignment['ref']!r}")
                    continue  # a reward, of which properties cannot ask here
                changes.append(f"({names[assignment['ref']]}'={self._expression(assignment['value'], names)})")
            weight = self._expression(destination["probability"]["exp"], names) if "probability" in destination else "1"
            updates.append(f"{weight}:{' & '.join(changes) or 'true'}")
        action = edge.get("action")
        labels = [label for label, parts in self.vectors if parts[number] == action] if action else [""]
        if not labels:
            _refuse(self.place, f"the action {action!r}, which is in no synchronisation vector,", "add a vector for it")
        for label in labels:
            yield f"  [{label}] {' & '.join(f'({guard})' for guard in guards) or 'true'} -> {' + '.join(updates)};"

    def _expression(self, given: Any, names: Mapping[str, str]) -> str:
        if isinstance(given, bool):
            return str(given).lower()
        if isinstance(given, int | Fraction):
            return str(given) if isinstance(given, int) and given >= 0 else f"({Fraction(given)})"
        if isinstance(given, str):
            if given not in names:
                raise FormatError("unknown-name", f"there is no variable or constant {given!r}", place=self.place)
            return names[given]
        op = given.get("op")
        if op == "¬":
            return f"!({self._expression(given['exp'], names)})"
        if op == "ite":
            parts = [self._expression(given[part], names) for part in ("if", "then", "else")]
            return "({} ? {} : {})".format(*parts)
        if op in ("floor", "ceil"):
            return f"{op}({self._expression(given['exp'], names)})"
        if op in _BINARY or op in _ARITHMETIC or op in _CALLED:
            left, right = (self._expression(given[side], names) for side in ("left", "right"))
            return f"{_CALLED[op]}({left}, {right})" if op in _CALLED else f"({left} {_BINARY.get(op, op)} {right})"
        _refuse(self.place, f"the operator {op!r}" if op else f"the expression {str(given)[:60]}")

    def _properties(self) -> dict[str, str | FormatError]:
        """The properties as PRISM writes them."""
        result: dict[str, str | FormatError] = {}
        for one in self.document.get("properties", []):
            try:
                result[one["name"]] = self._property(one["expression"])
            except FormatError as problem:
                result[one["name"]] = problem
        return result

    def _property(self, given: Any) -> str:
        if isinstance(given, dict) and given.get("op") == "filter":
            values = self._property(given["values"])
            if given["states"] == {"op": "initial"} and given["fun"] in ("values", "min", "max", "avg", "∀", "∃"):
                return values
            fun = {"∀": "forall", "∃": "exists", "values": "print"}.get(given["fun"], given["fun"])
            if fun not in ("forall", "exists", "print", "min", "max", "sum", "avg", "count"):
                _refuse(self.place, f"the filter {fun!r}")
            return f"filter({fun}, {values}, {self._property(given['states'])})"
        op = given.get("op") if isinstance(given, dict) else None
        if op in ("initial", "deadlock"):
            return '"init"' if op == "initial" else '"deadlock"'
        if op in ("Pmin", "Pmax"):
            return f"{op}=? [ {self._path(given['exp'])} ]"
        if op in ("∀", "∃"):
            return f"{'A' if op == '∀' else 'E'} [ {self._path(given['exp'])} ]"
        if op in _COMPARED and any(isinstance(given[side], dict) for side in ("left", "right")):
            sides = [given["left"], given["right"]]
            about = next(
                (i for i, side in enumerate(sides) if isinstance(side, dict) and side.get("op") in ("Pmin", "Pmax")),
                None,
            )
            if about is not None:
                bound = self._expression(sides[1 - about], self.shared)
                return f"{self._property(sides[about])} {_COMPARED[op][about]} {bound}"
        if op in ("∧", "∨", "⇒") and _speaks_of_paths(given):
            return f"({self._property(given['left'])}) {_BINARY[op]} ({self._property(given['right'])})"
        if op == "¬" and _speaks_of_paths(given):
            return f"!({self._property(given['exp'])})"
        return self._expression(given, self.shared)

    def _path(self, given: Any) -> str:
        op = given.get("op") if isinstance(given, dict) else None
        if op in ("F", "G", "X"):
            return f"{op}{self._bounds(given)} ({self._path(given['exp'])})"
        if op in ("U", "W", "R"):
            return f"({self._path(given['left'])}) {op}{self._bounds(given)} ({self._path(given['right'])})"
        if op in ("∧", "∨", "⇒"):
            return f"(({self._path(given['left'])}) {_BINARY[op]} ({self._path(given['right'])}))"
        if op == "¬":
            return f"!({self._path(given['exp'])})"
        return self._property(given)

    def _bounds(self, given: Mapping[str, Any]) -> str:
        for kind in ("time-bounds", "reward-bounds"):
            if kind in given:
                _refuse(self.place, kind, "give step-bounds")
        bounds = given.get("step-bounds")
        if bounds is None:
            return ""
        low, high = (
            self._expression(bounds[end], self.shared) + (f"{sign}1" if bounds.get(f"{end}-exclusive") else "")
            if end in bounds
            else None
            for end, sign in (("lower", "+"), ("upper", "-"))
        )
        if low is None:
            return f"<=({high})"
        return f">=({low})" if high is None else f"[{low},{high}]"


def _assignments(automaton: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for edge in automaton["edges"]:
        for destination in edge["destinations"]:
            yield from destination.get("assignments", [])


def _speaks_of_paths(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    if given.get("op") in ("Pmin", "Pmax", "∀", "∃", "initial", "deadlock"):
        return True
    return any(_speaks_of_paths(part) for part in given.values())
