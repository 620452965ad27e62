"""The source member of a certificate's question: the program, and what the names in its model stand for.

The member says which of it the checker re-establishes from the text of the function (``claims: established``), and what it cannot, with
the reason (``claims: taken``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from privproof.compiling import mechanism_question
from privproof.errors import ScenarioError
from privproof.evidence.certificate_documents import ESTABLISHED, TAKEN
from privproof.formats import document
from privproof.language.constants import typed_document
from privproof.language.indices import Foretold, Turn, Written
from privproof.language.values import ENDED, Cells, Lookup, Named, Tail, plain
from privproof.models import Horizon
from privproof.scenarios import Origin, Question, Several

if TYPE_CHECKING:
    from privproof.language.mechanism import Mechanism

_PASSES = "passes over the data are not re-established from the source"


def finite_source(question: Question) -> dict[str, Any] | None:
    """The source member of a question about a finite mechanism; None where no function runs that could be read."""
    origin = question.origin
    if origin is None or origin.mechanism.proposed is not None:
        return None
    mechanism = origin.mechanism
    sides = [origin.situations[pair.name] for pair in question.scenario.pairs] or list(origin.situations.values())
    return {
        "claims": ESTABLISHED,
        "program": mechanism.program.document(),
        "relation": _relation(mechanism),
        "size": _open_length(question, origin),
        "inputs": {name: _input(value, whole=origin.fed is None) for name, value in origin.inputs.items()},
        "outputs": {name: [_output(part) for part in _parts(value)] for name, value in origin.outputs.items()},
        "pairs": [{"left": _arguments(left), "right": _arguments(right)} for left, right in sides],
    }


def program_source(mechanism: Mechanism, size: int | None) -> dict[str, Any] | None:
    """The source member of a question that follows from the text."""
    if mechanism.proposed is not None:
        return None
    program = mechanism.program.document()
    return {"claims": ESTABLISHED, "program": program, "relation": _relation(mechanism), "size": size}


def draws_source(mechanism: Mechanism, size: int | None) -> dict[str, Any] | None:
    """The source member of a question about separate draws: the passes are taken from the compiler."""
    if mechanism.proposed is not None:
        return None
    program = mechanism.program.document()
    member = {"claims": TAKEN, "reason": _PASSES, "program": program}
    return {**member, "relation": _relation(mechanism), "size": size}


def stream_source(mechanism: Mechanism) -> dict[str, Any] | None:
    """The source member of a question about the automaton of a function on a stream: the automaton follows from the text."""
    if mechanism.proposed is not None:
        return None
    return {"claims": ESTABLISHED, "program": mechanism.program.document(), "relation": _relation(mechanism)}


def _relation(mechanism: Mechanism) -> str:
    return mechanism.neighbours if isinstance(mechanism.neighbours, str) else "function"


def _open_length(question: Question, origin: Origin) -> int | None:
    """The length of the lists whose declaration leaves it open."""
    for name, declared in origin.mechanism.inputs.items():
        if declared.shape == "list" and declared.size is None:
            if name == origin.fed:
                return question.list_size
            sides = [side for pair in origin.situations.values() for side in pair]
            lists = [side[name] for side in sides if name in side] or [data[name] for data in origin.inputs.values()]
            return max(map(len, lists))
    return None


def _input(value: Any, *, whole: bool) -> Any:
    return _arguments(value) if whole else typed_document(value)


def _arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: typed_document(plain(value)) for name, value in values.items()}


def _parts(value: Any) -> Iterator[Any]:
    """The outputs of one step."""
    if isinstance(value, Several):
        yield from value.values
    else:
        yield value


def _output(value: Any) -> dict[str, Any]:
    match value:
        case Tail():
            return {"at least" if value.sign > 0 else "at most": str(value.offset)}
        case Cells(items):
            return {"list": [_output(item) for item in items]}
        case tuple():
            return {"tuple": [_output(item) for item in value]}
        case Lookup(rows):
            return {"dict": [[_output(known), _output(item)] for known, item in rows]}
        case Named(shape, items):
            return {"record": [shape.name, list(shape.fields), [_output(item) for item in items]]}
        case Foretold(mark, _, plus):
            return {"index": mark, "plus": plus}
        case Turn(_, _, _, plus):
            return {"index": "here", "plus": plus}
        case Written(last, fixed):
            return {"written": [_output(item) for item in last], "as": "tuple" if fixed else "list"}
        case _ if value is ENDED:
            return {"end": None}
        case _:
            return typed_document(value)


def differences(member: Mapping[str, Any], mechanism: Mechanism) -> list[str]:
    """In what a mechanism is another program now than the one in the source member of a certificate; empty if in nothing.

    Where the functions stand in their files does not count.
    """
    then, now = member["program"], mechanism.program.document()
    if not then["functions"] or any(not isinstance(function["text"], str) for function in then["functions"]):
        raise KeyError("text")
    found = []
    if member.get("relation") != _relation(mechanism):
        found.append(f"neighbours: {member.get('relation')} -> {_relation(mechanism)}")
    for what, one, other in (("input", "inputs", "text"), ("parameter", "parameters", None)):
        found += _list_changes(what, then.get(one, {}), now[one], other)
    functions = list(zip_longest(then.get("functions", []), now["functions"]))
    for old, new in functions:
        if old is None or new is None:
            found.append(f"function {(old or new)['name']}: {'new' if old is None else 'gone'}")
            continue
        if old["name"] != new["name"]:
            found.append(f"function {old['name']} -> {new['name']}")
        found += _lines(old, new)
        found += [f"{new['name']}: {each}" for each in _list_changes("name", old["meanings"], new["meanings"])]
        found += [f"{new['name']}: {each}" for each in _list_changes("default", old["defaults"], new["defaults"])]
    if not found and (_placeless(then) != _placeless(now)):
        found.append("the record of the program")
    return found


def other_neighbours(asked: Mapping[str, Any], mechanism: Mechanism) -> list[str]:
    """In what the neighbours that a function names now differ from those of a certificate's question; empty if in nothing.

    The text of such a function may be anything, so it is asked about all data sets again, and its answers are compared.

    Raises:
        PrivproofError: the mechanism has no such question now.
    """
    horizon = None if asked.get("horizon") is None else Horizon.of(str(asked["horizon"]))
    try:
        now = document(mechanism_question(mechanism, size=asked["source"].get("size"), horizon=horizon))
    except ScenarioError as problem:
        return [f"neighbours: {problem.message}"]
    then, today = (_related_pairs(side["scenario"]) for side in (asked, now))
    gone = [f"neighbours: {pair}, no longer" for pair in then if pair not in today]
    new = [f"neighbours: {pair}, which were none" for pair in today if pair not in then]
    return [*gone[:1], *new[:1]]


def _related_pairs(scenario: Mapping[str, Any]) -> dict[str, None]:
    """The pairs of data sets that a scenario compares, as a reader knows them."""
    listed = (scenario.get("neighbours") or scenario)["pairs"]
    return dict.fromkeys(map(_pair, listed))


def _pair(pair: Any) -> str:
    """Two data sets that are neighbours, as a reader knows them."""
    if isinstance(pair, Mapping):
        return str(pair["name"])
    left, right = (", ".join(map(str, side)) for side in pair)
    return f"{left} and {right}"


def _placeless(program: Mapping[str, Any]) -> dict[str, Any]:
    """A program wherever its functions stand."""
    functions = [{name: part for name, part in each.items() if name != "line"} for each in program["functions"]]
    return {**program, "functions": functions}


def _list_changes(what: str, then: Mapping[str, Any], now: Mapping[str, Any], shown: str | None = None) -> list[str]:
    """What stands under names that has changed: the old and the new value."""
    found = []
    for name in {**then, **now}:
        old, new = (_words(side.get(name), shown) if name in side else "none" for side in (then, now))
        if then.get(name) != now.get(name):
            found.append(f"{what} {name}: {old} -> {new}")
    return found


def _words(value: Any, member: str | None) -> str:
    """A value of a document, as a reader knows it."""
    if member is not None and isinstance(value, Mapping) and isinstance(value.get(member), str):
        return str(value[member])
    match value:
        case {"int": inner, **rest} | {"fraction": inner, **rest} if not rest:
            return str(inner)
        case {"text": inner, **rest} | {"bool": inner, **rest} | {"none": inner, **rest} if not rest:
            return repr(inner)
        case {"constant": inner, **rest} if not rest:
            return _words(inner, None)
        case {"tuple": list(inner), **rest} | {"list": list(inner), **rest} if not rest:
            return f"({', '.join(_words(each, None) for each in inner)})"
        case {"function": inner, **rest} if not rest:
            return f"function {inner}"
        case {"noise": inner, **rest} | {"builtin": inner, **rest} if not rest:
            return str(inner)
        case _:
            return str(value)


def _lines(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The first line of a function that has changed."""
    for number, (old, new) in enumerate(zip_longest(then["text"].splitlines(), now["text"].splitlines())):
        if old != new:
            place = f"{now['name']}, line {now['line'] + number}"
            return [
                f"{place}: {'nothing' if old is None else old.strip()} -> {'nothing' if new is None else new.strip()}"
            ]
    return [] if then["text"] == now["text"] else [f"{now['name']}: the text"]
