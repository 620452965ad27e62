"""Runs of a text and of instructions on given data and given noise, and small changes to both: who takes one for the other is wrong."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

from privproof.compiling.relational import program_for_alignment
from privproof.evidence.question_documents import question_document
from privproof.exact import Budget, epsilon
from privproof.language import Mechanism
from privproof.scenarios import ProgramQuestion
from privproof_checker.established_texts import _from_source
from privproof_checker.outcomes import Limits, Refusal

LONGEST = 400


def question_of(mechanism: Mechanism, *, size: int | None = None, **options: Any) -> dict[str, Any]:
    """The question of a proof about a mechanism, with its instructions and its source."""
    program = program_for_alignment(mechanism, size=size, **options)
    question = ProgramQuestion(mechanism=mechanism, budget=Budget(epsilon(1)), size=size)
    return question_document(question, program)


def outcome(document: dict[str, Any]) -> str:
    """Whether the instructions of a question are re-established from its source: ``established``, or why not."""
    try:
        found = _from_source(document, {"method": "alignment"}, Limits())
    except Refusal as refusal:
        return f"{type(refusal).__name__}: {refusal.reason}"
    assert found is not None
    return "established"


# ---------------------------------------------------------------------------------------------------------------- running


class Noise:
    """Noise that is given in advance; what was drawn, and what was put out."""

    def __init__(self, numbers: Sequence[Fraction]) -> None:
        self.numbers = list(numbers)
        self.events: list[Any] = []

    def draw(self, kind: str, *law: Any) -> Any:
        self.events.append((kind, *law))
        if len(self.events) > LONGEST or not self.numbers:
            raise TimeoutError
        number = self.numbers.pop(0)
        if kind == "bernoulli":
            return number > 0
        if kind == "uniform":
            return law[0] + int(abs(number)) % (law[1] - law[0] + 1)
        return law[0] + (abs(number) if kind == "exponential" else number)


class _Exact(ast.NodeTransformer):
    """Quotients are exact."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return ast.Call(ast.Name("exact quotient", ast.Load()), [node.left, node.right], [])


def run_text(program: Mapping[str, Any], data: Mapping[str, Any], noise: Noise) -> Any:
    """Run the functions of a source; what it put out is among the events, at the end with its value."""
    functions: list[Any] = []
    for each in program["functions"]:
        names: dict[str, Any] = {"exact quotient": lambda a, b: Fraction(a) / Fraction(b)}
        for name, meaning in each["meanings"].items():
            ((kind, inside),) = meaning.items()
            if kind == "noise":
                names[name] = _noise(inside, noise)
            elif kind == "function":
                names[name] = lambda *a, number=inside, **k: functions[number](*a, **k)
            elif kind == "constant":
                names[name] = _plain(inside)
            elif inside == "Fraction":
                names[name] = Fraction
        tree = ast.parse(f"from __future__ import annotations\n{each['text']}")
        tree = ast.fix_missing_locations(_Exact().visit(tree))
        exec(compile(tree, "text", "exec"), names)
        functions.append(names[each["name"]])
    given = {**{name: _plain(value) for name, value in program["parameters"].items()}, **data}
    found = functions[0](**given)
    if hasattr(found, "send"):
        for value in found:
            noise.events.append(("output", _typed(value)))
            if len(noise.events) > LONGEST:
                raise TimeoutError
        found = None
    noise.events.append(("end", _typed(found)))
    return found


def _noise(kind: str, noise: Noise) -> Any:
    def exact(value: Any) -> Fraction:
        return Fraction(value)

    if kind == "bernoulli":
        return lambda p: noise.draw(kind)
    if kind == "uniform":
        return lambda low, high: noise.draw(kind, low, high)
    return lambda value, scale: noise.draw(kind, value, exact(scale))


def _plain(value: Mapping[str, Any]) -> Any:
    ((kind, inside),) = value.items()
    match kind:
        case "int":
            return int(inside)
        case "fraction":
            return Fraction(inside)
        case "tuple" | "list":
            return (tuple if kind == "tuple" else list)(map(_plain, inside))
        case "dict":
            return {_plain(k): _plain(v) for k, v in inside}
    return inside


def _typed(value: Any) -> Any:
    """A value that is equal only to values of the same type."""
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(_typed, value))
    return (isinstance(value, bool), isinstance(value, int), isinstance(value, str), value)


def run_instructions(code: Sequence[Any], data: Mapping[str, Any], noise: Noise) -> None:
    """Run instructions; what they put out is among the events, with the instruction's number."""
    held: dict[str, Any] = dict(data)
    at = 0
    for _ in range(5000):
        step = code[at]
        at += 1
        match step:
            case ["assign", name, value]:
                held[name] = _value(value, held)
            case ["forget", name]:
                held.pop(name, None)
            case ["sample", name, "bernoulli"]:
                held[name] = noise.draw("bernoulli")
            case ["sample", name, "uniform", low, high]:
                held[name] = noise.draw("uniform", _value(low, held), _value(high, held))
            case ["sample", name, kind, center, scale]:
                size = Fraction(scale["factor"])
                for each in scale["names"]:
                    size *= held[each]
                held[name] = noise.draw(kind, _value(center, held), size)
            case ["emit", parts]:
                noise.events.append(("output", at - 1, tuple(_value(part, held) for part in parts)))
            case ["return", parts]:
                noise.events.append(("end", at - 1, tuple(_value(part, held) for part in parts)))
                return
            case ["test", condition, then, otherwise]:
                at = then if _value(condition, held) else otherwise
            case ["jump", target]:
                at = target
        if len(noise.events) > LONGEST:
            raise TimeoutError
    raise TimeoutError


class _Anything:
    """What a variable without a value holds: it may be copied, and nothing else."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise LookupError

    __bool__ = __eq__


ANYTHING = _Anything()


def _value(expression: Any, held: Mapping[str, Any]) -> Any:
    head, *rest = expression
    match head:
        case "int" | "bool":
            return rest[0]
        case "tag":
            return ("tag", rest[0])
        case "rational":
            return Fraction(rest[0])
        case "variable":
            return held.get(rest[0], ANYTHING)
        case "length":
            return len(held[rest[0]])
        case "total":
            values = [_value(rest[1], {**held, "#record": each}) for each in held[rest[0]]]
            return sum(values, Fraction(0))
        case "record":
            return held["#record"]
        case "read":
            index = _value(rest[1], held)
            if index < 0:
                raise IndexError
            return held[rest[0]][index]
        case "if":
            return _value(rest[1] if _value(rest[0], held) else rest[2], held)
        case "and":
            return all(_value(part, held) for part in rest)
        case "or":
            return any(_value(part, held) for part in rest)
    values = [_value(part, held) for part in rest]
    return _OPERATIONS[head](*values)


_OPERATIONS: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: Fraction(a) / Fraction(b),
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "neg": lambda a: -a,
    "abs": abs,
    "max": lambda *a: max(a),
    "min": lambda *a: min(a),
    "not": lambda a: not a,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def difference(document: Mapping[str, Any], random: Random, *, runs: int = 60) -> str | None:
    """How the text and the instructions of a question differ on some data and noise; None if they do not."""
    outputs: dict[Any, Any] = {}
    yields = re.search(r"\byield\b", document["source"]["program"]["functions"][0]["text"])
    collects = not yields and any(step[0] == "emit" for step in document["code"])
    for turn in range(runs):
        data = _data(document["inputs"], document["size"], turn, random)
        numbers = [random.choice(_NUMBERS) for _ in range(80)]
        text, code = Noise(numbers), Noise(numbers)
        ended = [_run(lambda: run_text(document["source"]["program"], data, text))]  # noqa: B023
        ended.append(_run(lambda: run_instructions(document["code"], data, code)))  # noqa: B023
        if "TimeoutError" in ended and "Error" not in ended[0].replace("TimeoutError", ""):
            text.events, code.events = text.events[:40], code.events[:40]
            if ended[0] != ended[1]:
                return f"{ended} on {data}"
        elif ended[0] != ended[1]:
            return f"{ended} on {data}"
        if ended[0] not in ("", "TimeoutError"):
            continue
        told = _differ(text.events, code.events, outputs, cut=bool(ended[0]), collects=collects)
        if told:
            return f"{told} on {data} with {numbers[:5]}"
    return None


_NUMBERS = [Fraction(n, 2) for n in (-9, -3, -2, -1, 0, 0, 1, 2, 3, 4, 9)]


def _run(action: Any) -> str:
    try:
        action()
    except TimeoutError:
        return "TimeoutError"
    except Exception:
        return "Error"
    return ""


def _differ(text: list[Any], code: list[Any], outputs: dict[Any, Any], *, cut: bool, collects: bool) -> str | None:
    """How what can be observed differs."""
    emitted = [event for event in code if event[0] == "output"]
    if not cut and collects:
        value = text[-1][1]
        if value[0] not in ("list", "tuple") or len(value) - 1 != len(emitted):
            return "the number of outputs"
        text = [*text[:-1], *(("output", each) for each in value[1:]), ("end", value[0])]
        code = [*(e for e in code[:-1] if e[0] != "output"), *emitted, code[-1]]
    if cut and collects:
        text, code = ([e for e in side if e[0] not in ("output", "end")] for side in (text, code))
        length = min(len(text), len(code))
        text, code = text[:length], code[:length]
    if len(text) != len(code):
        return "the number of events"
    for mine, theirs in zip(code, text, strict=True):
        if mine[0] != theirs[0]:
            return f"{theirs[0]} and {mine[0]}"
        if mine[0] in ("output", "end"):
            if outputs.setdefault(mine[1:], theirs[1]) != theirs[1]:
                return f"one output for {theirs[1]} and {outputs[mine[1:]]}"
            back = ("back", len(mine[2]), theirs[1])
            if outputs.setdefault(back, mine[2]) != mine[2]:
                return f"two outputs for {theirs[1]}: {mine[2]} and {outputs[back]}"
        elif mine != theirs:
            return f"{theirs} and {mine}"
    return None


def _data(inputs: Mapping[str, Any], size: int | None, turn: int, random: Random) -> dict[str, Any]:
    length = size if size is not None else turn % 5
    found: dict[str, Any] = {}
    for name, each in inputs.items():
        low, high = (None if each[end] is None else Fraction(each[end]) for end in ("low", "high"))

        def number(low: Any = low, high: Any = high, each: Any = each) -> Any:
            while True:
                value = random.choice(_NUMBERS)
                value = int(value // 1) if each["sort"] == "int" else value
                if (low is None or value >= low) and (high is None or value <= high):
                    return value

        if each["shape"] == "list":
            found[name] = [number() for _ in range(length if each["size"] is None else each["size"])]
        else:
            found[name] = number()
    return found


# --------------------------------------------------------------------------------------------------------------- changing


_OTHER = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "%", "%": "//", "neg": "abs", "abs": "neg", "max": "min", "min": "max",
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "and": "or", "or": "and",
}  # fmt: skip


def changed_codes(document: dict[str, Any], random: Random) -> Iterator[dict[str, Any]]:
    """The question with one small change to its instructions, in every way."""
    code = document["code"]
    for at in range(len(code)):
        for made in _changed(code[at], document, len(code), random):
            yield {**document, "code": [*code[:at], made, *code[at + 1 :]]}
        if at + 1 < len(code):
            yield {**document, "code": [*code[:at], code[at + 1], code[at], *code[at + 2 :]]}
        yield {**document, "code": [*code[:at], ["jump", min(at + 1, len(code) - 1)], *code[at + 1 :]]}


def _changed(part: Any, document: dict[str, Any], length: int, random: Random) -> Iterator[Any]:
    match part:
        case ["test", condition, then, otherwise]:
            yield ["test", condition, otherwise, then]
            yield ["test", condition, (then + 1) % length, otherwise]
            yield ["test", condition, then, (otherwise + 1) % length]
            yield from (["test", made, then, otherwise] for made in _changed(condition, document, length, random))
            return
        case ["jump", target]:
            yield ["jump", (target + 1) % length]
            yield ["jump", target - 1 if target else 1]
            return
        case ["int", number]:
            yield from (["int", number + 1], ["int", number - 1])
            return
        case ["bool", value]:
            yield ["bool", not value]
            return
        case ["tag", value]:
            yield ["tag", "another" if value is None else None]
            return
        case ["rational", value]:
            yield ["rational", str(Fraction(value) + 1)]
            return
        case ["variable" | "length" as head, name]:
            yield from ([head, other] for other in _alike(name, document, random))
            return
        case ["sample", name, "laplace" | "exponential" as kind, center, scale]:
            yield ["sample", name, "exponential" if kind == "laplace" else "laplace", center, scale]
            yield ["sample", name, kind, center, {**scale, "factor": str(Fraction(scale["factor"]) * 2)}]
            if scale["names"]:
                yield ["sample", name, kind, center, {**scale, "names": []}]
            yield from (["sample", name, kind, made, scale] for made in _changed(center, document, length, random))
            yield from (["sample", other, kind, center, scale] for other in _alike(name, document, random))
            return
        case ["assign" | "forget" | "next" | "sample" as head, name, *rest]:
            yield from ([head, other, *rest] for other in _alike(name, document, random))
            if head == "assign":
                yield from ([head, name, made] for made in _changed(rest[0], document, length, random))
            return
        case ["emit" | "return" as head, parts]:
            if parts:
                yield [head, parts[:-1]]
            yield [head, [*parts, ["int", 0]]]
            for i, each in enumerate(parts):
                for made in _changed(each, document, length, random):
                    yield [head, [*parts[:i], made, *parts[i + 1 :]]]
            return
        case ["if", test, then, otherwise]:
            yield ["if", test, otherwise, then]
        case [str() as head, *rest] if head in _OTHER:
            yield [_OTHER[head], *rest]
            if len(rest) == 2:
                yield [head, rest[1], rest[0]]
    head, *rest = part
    for i, each in enumerate(rest):
        if isinstance(each, list):
            yield from ([head, *rest[:i], made, *rest[i + 1 :]] for made in _changed(each, document, length, random))


def _alike(name: str, document: dict[str, Any], random: Random) -> list[str]:
    """Two other variables of the sort of one."""
    sorts = {**document["sorts"], **{n: e["sort"] for n, e in document["inputs"].items() if e["shape"] == "value"}}
    others = [other for other, sort in sorts.items() if other != name and sort == sorts.get(name)]
    return random.sample(others, min(2, len(others)))


_TOKEN = re.compile(r"\b\d+\b|[A-Za-z_]\w*|<=|>=|==|!=|//|[-+*/%<>]")
_WORDS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "%", "%": "//", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=",
    ">=": ">", "and": "or", "or": "and", "True": "False", "False": "True", "max": "min", "min": "max", "not": "bool",
    "laplace": "exponential", "exponential": "laplace", "break": "continue", "continue": "break", "return": "yield",
}  # fmt: skip


def changed_texts(document: dict[str, Any], random: Random) -> Iterator[dict[str, Any]]:
    """The question with one small change to its text, in every way that is still a program."""
    text = document["source"]["program"]["functions"][0]["text"]
    start = text.index(":\n") + 2
    names = sorted(set(re.findall(r"\b([a-z_]\w*) (?:=|in|,)", text[start:])))
    for found in _TOKEN.finditer(text, start):
        token = found[0]
        others = [_WORDS[token]] if token in _WORDS else []
        if token.isdigit():
            others += [str(int(token) + 1), str(max(0, int(token) - 1))]
        elif token in names:
            others += random.sample([n for n in names if n != token], min(2, len(names) - 1))
        for other in others:
            if other != token:
                yield from _with_text(document, text[: found.start()] + other + text[found.end() :])
    lines = text.split("\n")
    for i in range(1, len(lines) - 1):
        yield from _with_text(document, "\n".join([*lines[:i], *lines[i + 1 :]]))
        yield from _with_text(document, "\n".join([*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]]))


def _with_text(document: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    try:
        ast.parse(text)
    except SyntaxError:
        return
    made = copy.deepcopy(document)
    made["source"]["program"]["functions"][0]["text"] = text
    if text != document["source"]["program"]["functions"][0]["text"]:
        yield made
