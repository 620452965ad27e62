"""Automata and texts of stream functions with one part changed, and both followed literally, to see whether the change matters.

* `changed_automata`: a question's document with one part of its automaton exchanged.
* `changed_texts`: the text of a function with one token exchanged.
* `follow`: what the automaton of a document writes on given numbers and noise.
* `run_text`: what the text of a question's document writes, run by Python, on the same.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

Document = dict[str, Any]


# ------------------------------------------------------------------------------------------------------------- automata


def changed_automata(document: Document) -> Iterator[tuple[str, Document]]:
    """All documents with one part of the automaton exchanged, each with what was exchanged."""
    for name, change in _changes(document):
        changed = copy.deepcopy(document)
        change(changed)
        if changed != document:
            yield name, changed


def _changes(document: Document) -> Iterator[tuple[str, Callable[[Document], Any]]]:
    for number, step in enumerate(document["transitions"]):
        for name, change in _step_changes(document, step):
            yield f"transition {number}: {name}", lambda d, c=change, n=number: c(d["transitions"][n])
        yield f"transition {number} is gone", lambda d, n=number: d["transitions"].pop(n)
        yield f"transition {number} twice", lambda d, n=number: d["transitions"].append(d["transitions"][n])
    for member, values in (
        ("initial", document["states"]),
        ("relation", ("each", "one", "monotone")),
        ("within", ("2", "1/2")),
    ):
        for value in values:
            yield f"{member} = {value}", lambda d, m=member, v=value: d.update({m: v})


def _step_changes(document: Document, step: Document) -> Iterator[tuple[str, Callable[[Document], Any]]]:
    thresholds = sorted({name for each in document["transitions"] for name in each["stores"]})
    terms = [None, *range(len(step["samples"])), *thresholds]
    for i, (rate, _, mean) in enumerate(step["samples"]):
        for at, value in [
            (0, "1" if rate is None else str(Fraction(rate) * 2)),
            (0, None),
            *((1, reads) for reads in (-1, 0, 1)),
            *((2, str(Fraction(mean) + more)) for more in (1, Fraction(-1, 3))),
        ]:
            yield f"sample {i}[{at}] = {value}", lambda s, i=i, a=at, v=value: s["samples"][i].__setitem__(a, v)
        yield f"without sample {i}", lambda s, i=i: s["samples"].pop(i)
    for extra in (["1", 0, "0"], [None, 1, "0"]):
        yield f"one more sample {extra}", lambda s, e=extra: s["samples"].append(list(e))
    for member in ("guard", "values"):
        for i, (one, two, offset) in enumerate(step[member]):
            yield f"{member} without {i}", lambda s, m=member, i=i: s[m].pop(i)
            turned = [two, one, str(-Fraction(offset))]
            yield f"{member} {i} turned", lambda s, m=member, i=i, t=turned: s[m].__setitem__(i, t)
            for at, value in [
                *((2, str(Fraction(offset) + more)) for more in (1, -1, Fraction(1, 7))),
                *((end, term) for end in (0, 1) for term in terms),
            ]:
                yield f"{member} {i}[{at}] = {value}", lambda s, m=member, i=i, a=at, v=value: s[m][i].__setitem__(a, v)
        for one in terms:
            for two in terms:
                if one != two:
                    yield f"{member}: {one}, {two}", lambda s, m=member, o=one, t=two: s[m].append([o, t, "0"])
    yield "some", lambda s: s.update({"some": True})
    for name in [*thresholds, "another"]:
        yield f"without store {name}", lambda s, n=name: s["stores"].pop(n, None)
        for sample in range(len(step["samples"])):
            yield f"store {name} = {sample}", lambda s, n=name, k=sample: s["stores"].update({n: k})
    for symbol in {"", "another", *(each["symbol"] for each in document["transitions"])}:
        yield f"symbol {symbol!r}", lambda s, v=symbol: s.update({"symbol": v})
    for state in document["states"]:
        for end in ("from", "to"):
            yield f"{end} {state}", lambda s, e=end, v=state: s.update({e: v})


def follow(document: Document, numbers: Sequence[Fraction | None], noise: Sequence[Fraction]) -> list[Any]:
    """What the automaton of a document writes in each step on given numbers (the secret, or None, first) and noise of rate 1."""
    state, held, used = document["initial"], dict[str, Fraction](), 0
    written: list[Any] = []
    for given in numbers:
        for step in document["transitions"]:
            if step["from"] != state:
                continue
            samples, at = [], used
            for rate, reads, mean in step["samples"]:
                samples.append(Fraction(mean) + (reads * given if reads and given is not None else 0))
                if rate is not None:
                    samples[-1] += noise[at] / Fraction(rate)
                    at += 1

            def of(term: Any, samples: Sequence[Fraction] = samples) -> Fraction:
                return Fraction(0) if term is None else samples[term] if isinstance(term, int) else held[term]

            holds = [of(high) - of(low) >= Fraction(offset) for low, high, offset in step["guard"]]
            if all(holds) or (step["some"] and any(holds)):
                values = [of(plus) - of(minus) + Fraction(constant) for plus, minus, constant in step["values"]]
                written.append((step["symbol"], values))
                held.update({name: samples[sample] for name, sample in step["stores"].items()})
                state, used = step["to"], at
                break
        else:
            return [*written, "halted"]
    return written if any(step["from"] == state for step in document["transitions"]) else [*written, "halted"]


def alike(one: Sequence[Any], two: Sequence[Any], names: dict[Any, Any]) -> bool:
    """Whether two automata have written the same, up to names of symbols, which are learnt on the way."""
    if len(one) != len(two):
        return False
    for here, there in zip(one, two, strict=True):
        if "halted" in (here, there):
            if here != there:
                return False
            continue
        shapes = [("left", here[0], len(here[1])), ("right", there[0], len(there[1]))]
        if here[1] != there[1] or names.setdefault(shapes[0], shapes[1]) != shapes[1]:
            return False
        if names.setdefault(shapes[1], shapes[0]) != shapes[0]:
            return False
    return True


# ---------------------------------------------------------------------------------------------------------------- texts


_VARIANTS = {
    **dict.fromkeys((ast.Constant, ast.BinOp, ast.BoolOp, ast.Return, ast.Call), 3),
    **dict.fromkeys((ast.Compare, ast.Name, ast.If, ast.For, ast.FunctionDef), 9),
}
"""How many ways there are to exchange something at a node, at most."""


def changed_texts(text: str) -> Iterator[str]:
    """All texts of a function with one token exchanged."""
    seen = {ast.unparse(ast.parse(text))}
    for place, known in enumerate(ast.walk(ast.parse(text))):
        for variant in range(_VARIANTS.get(type(known), 0)):
            tree = ast.parse(text)
            node = list(ast.walk(tree))[place]
            if not _exchange(tree, node, variant):
                continue
            found = ast.unparse(ast.fix_missing_locations(tree))
            if found not in seen:
                seen.add(found)
                yield found


def _exchange(tree: ast.Module, node: ast.AST, variant: int) -> bool:
    """Exchange something at a node; False if there is nothing to exchange."""
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    locals_ = sorted({n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})
    signs = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    match node:
        case ast.Constant(value=bool()) if variant == 0:
            node.value = not node.value
        case ast.Constant(value=int()) if variant < 3:
            node.value = (node.value + 1, -node.value - 1, node.value * 2)[variant]
        case ast.Constant(value=str()) if variant < 2:
            node.value = node.value + "1" if variant else ""
        case ast.Compare() if variant < 4:
            node.ops[0] = signs[variant]()
        case ast.Compare() if variant == 4:
            node.left, node.comparators[0] = node.comparators[0], node.left
        case ast.BinOp() if variant < 3:
            node.op = (ast.Add, ast.Sub, ast.Mult)[variant]()
        case ast.Name(ctx=ast.Load(), id=name) if variant < len(locals_) and name not in ("laplace", "real_stream"):
            node.id = locals_[variant]
        case ast.Name(ctx=ast.Store()) if variant < len(locals_):
            node.id = locals_[variant]
        case ast.If() if variant == 0:
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.If() | ast.For() | ast.FunctionDef() if variant >= 1 and variant - 1 < len(node.body):
            if len(node.body) == 1:
                node.body = [ast.Pass()]
            else:
                del node.body[variant - 1]
        case ast.Return() if variant == 0:
            node.value = ast.Constant(0)
        case ast.BoolOp() if variant == 0:
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Call(func=ast.Name(id="laplace")) if variant == 0:
            node.args[0] = ast.UnaryOp(ast.USub(), node.args[0])
        case ast.Call(func=ast.Name(id="laplace")) if variant == 1:
            node.args[0] = ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))
        case _:
            return False
    return True


@cache
def _compiled(text: str) -> Any:
    return compile(f"from __future__ import annotations\n{text}", "text", "exec")


def run_text(document: Document, given: Mapping[str, Any], noise: Sequence[Fraction]) -> list[Any] | None:
    """What the text of a document writes for each number and before the first, run by Python; None if it fails.

    As in `follow`, there are as many steps as numbers were asked for, and "halted" if it asks for no more.
    """
    program = document["source"]["program"]
    drawn = iter(noise)
    written: list[list[tuple[str, list[Fraction]]]] = [[]]

    def laplace(value: Any, *, scale: Any) -> Fraction:
        return value + next(drawn) * Fraction(scale)

    def counted(numbers: Sequence[Fraction]) -> Iterator[Fraction]:
        for number in numbers:
            written.append([])
            yield number
        raise _Over

    names: dict[str, Any] = {"laplace": laplace, "Fraction": Fraction}
    exec(_compiled(program["functions"][0]["text"]), names)
    arguments = {name: _constant(value) for name, value in program["parameters"].items()}
    arguments |= {name: counted(value) if isinstance(value, list) else value for name, value in given.items()}
    ended = ["halted"]
    try:
        ran = names[program["functions"][0]["name"]](**arguments)
        if hasattr(ran, "__next__"):
            for output in ran:
                written[-1].append(_shape(output))
        else:
            written[-1].append(_shape(ran))
    except _Over:
        ended = []
    except Exception:
        return None
    steps = [("; ".join(shape for shape, _ in step), [n for _, found in step for n in found]) for step in written]
    return [*steps, *ended]


class _Over(BaseException):
    """The stream has no more numbers."""


def _constant(value: Mapping[str, Any]) -> Any:
    ((kind, inside),) = value.items()
    return {"int": int, "fraction": Fraction}.get(kind, lambda same: same)(inside)


def _shape(output: Any) -> tuple[str, list[Fraction]]:
    """An output without its noisy numbers, which no text writes as a constant, and these."""
    if isinstance(output, list | tuple):
        parts = [_shape(part) for part in output]
        return str((type(output).__name__, [shape for shape, _ in parts])), [n for _, found in parts for n in found]
    return ("·", [output]) if type(output) is Fraction else (repr(output), [])


def random_data(rng: random.Random, document: Document) -> tuple[list[Fraction | None], dict[str, Any], list[Fraction]]:
    """Numbers for the automaton, the arguments of the function, and noise; public inputs are 0, and nothing ties."""

    def number() -> Fraction:
        return Fraction(rng.randint(-(10**9), 10**9), 170_000_001)

    given: dict[str, Any] = {}
    numbers: list[Fraction | None] = [None]
    for name, declared in document["source"]["program"]["inputs"].items():
        if declared["shape"] == "stream":
            listed = [number() for _ in range(rng.randint(1, 7))]
            given[name] = listed
            numbers += listed
        else:
            given[name] = Fraction(0) if declared.get("public") else number()
            numbers[0] = numbers[0] if declared.get("public") else given[name]
    return numbers, given, [number() / 2 for _ in range(200)]
