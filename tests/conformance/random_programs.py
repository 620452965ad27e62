"""Random mechanisms from a grammar of the language, and what they mean by their translation and by CPython.

The grammar is a table: every kind of phrase has productions, and a production is a text with kinds marked by a dollar.  A phrase that is as
deep as it may be becomes one of the productions of its kind without any.  Names are few, so that they meet: targets
are read, shadowed, assigned twice and aliased.  Kinds keep most programs free of errors, not all: a program that fails when it
runs must be refused.
"""

from __future__ import annotations

import ast
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from random import Random
from typing import Any

from tests.amounts import spread
from tests.programs import data_sets

from privproof import PrivproofError, sample
from privproof.compiling.distributions import output_classes
from privproof.exact import fraction
from privproof.language import Mechanism
from privproof.language.running import Run, outputs
from privproof.language.values import text

# Productions, each as often as it stands there; $kind is a phrase of that kind, $block the statements inside a statement.
EXPRESSIONS: dict[str, list[str]] = {
    "int": [
        *("$name", "$name", "$name", "0", "1", "2", "3", "-1", "x", "x"),
        *("($int + $int)", "($int - $int)", "($int * $int)", "-$int", "+($bool)", "abs($int)"),
        *("($int // $divisor)", "($int % $divisor)", "$int ** ($int % 3)"),
        *("min($int, $int)", "max($int, $int, $int)", "max($lst, default=$int)", "min($full)", "max($tup + (1,))"),
        *("sum($lst)", "sum($tup, $int)", "sum($lst, start=$int)", "len($seq)", "int($bool)", "($bool + $int)"),
        *("sum($int for $own in $iter)", "sum($own for $own in $iter if $bool)"),
        *("max($int for $own in $full)", "sum(v * w for v in $iter for w in $iter)"),
        *("($int if $bool else $int)", "($int and $int)", "($int or $int)", "($bool and $int or $int)"),
        *(
            "$full[$index]",
            "q[$index]",
            "q[$index]",
            "($int, $int, $int)[$index]",
            "sorted($full)[0]",
            "$lname[$index]",
        ),
        *("($lst).count($int)", "($str).count($str)", "($full + [$name]).index($name)"),
        *("{0: $int, 1: $int}[$int % 2]", "{$int: $int, $name: 1}[$name]", "TABLE[$int % 3]", "LEVELS[$index]"),
        *("int(Fraction($int, $divisor))", "(Fraction($int, 2) // 1)", "$int // Fraction(1, 2)"),
        *("first($int, $int)", "first(b=$int, a=$int)", "second($int)", "second($int, $int)", "third($lst, $int)"),
        *("$noise", "$noise", "$noise"),
        *("round(Fraction($int, 2))", "divmod($int, $divisor)[$index]", "max($full, key=lambda v: $int)"),
        *("{$int: $int for v in $iter}.get($int, $int)", "len(set($lst))", "table['a']", "table.get($str, $int)"),
    ],
    "divisor": ["2", "3", "-2", "-3", "2", "-3", "($int + 4)"],
    "index": ["0", "-1", "0", "$int % 2", "-1 - $int % 2", "$bool", "$name"],
    "bool": [
        *("$pname", "True", "False", "$pname"),
        *("$int < $int", "$int <= $int", "$int > $int", "$int >= $int", "$int == $int", "$int != $int"),
        *("$int < $int < $int", "$int <= $int == $int", "$int != $int in $lst", "($int < $int > $int >= $int)"),
        *("(not $any)", "($bool and $bool)", "($bool or $bool)", "($bool and $bool and $bool)", "bool($any)"),
        *("$int in $lst", "$int not in $tup", "$any in $tup", "$str in $str", "$int in range($int)", "$int in TABLE"),
        *("$any is None", "$any is not None", "($bool) is True", "$any == $any", "$any != $any"),
        *("any($lst)", "all($tup)", "any($bool for $own in $iter)", "all($int for $own in $iter)"),
        *("any(v == w for v in $iter for w in $iter)", "$tup < $tup", "$lst == $lst", "$lst <= $lst", "$str < $str"),
        *(
            "($bool if $bool else $bool)",
            "third($lst, $int) == $int",
            "bernoulli('1/3')",
            "bernoulli(Fraction(1, 2 + x))",
        ),
    ],
    "str": [
        *("$sname", "$sname", "'a'", "'bc'", "''"),
        *("($str + $str)", "($str * 2)", "($str + 'ab')[$index]", "$str[$cut]", "('a' if $bool else $str)"),
        *(
            'f"{$name}-{$sname}"',
            'f"{$name:>3}{$lname!r}{$pname}"',
            "str($int)",
            "'+'.join([$str, $str])",
            "($str).upper()",
        ),
        *("($str or 'z')", "min($str, $str)", "('x', $str)[$bool]", "choice({'a': '1/3', 'b': '2/3'})"),
    ],
    "lst": [
        *("$lname", "$lname", "$lname", "[]", "q", "[1, 0]"),
        *("[$int]", "[$int, $int]", "($lst + $lst)", "($lst * 2)", "$lst[$cut]", "sorted($lst)", "list($seq)"),
        *(
            "($lst).copy()",
            "($lst if $bool else $lst)",
            "($lst or $lst)",
            "list(range($int))",
            "list(range($int, $int))",
        ),
        *("[$int for $own in $iter]", "[$own for $own in $iter if $bool]", "[v + w for v in $iter for w in $iter]"),
        *("[i + $int for i, $own in enumerate($iter, $int)]", "[i for i, i in enumerate($lst)]", "max($lst, $lst)"),
        *("[$int for v, w in zip($lst, $tup)]", "[w for v in $iter if v for w in range(v % 3)]", "rows[$index]"),
        *("list(reversed($seq))", "sorted($lst, key=lambda v: $int)", "sorted($lst, reverse=$bool)", "[*$lst, $int]"),
        *(
            "list(map(lambda v: $int, $lst))",
            "($lst)[::$step]",
            "[$own for $own in reversed($lst)]",
            "[p[0] for p in zip($lst, $tup)]",
        ),
        *("[[$int for w in $iter] for v in $lst][$index]", "fourth($lst, $int)", "sum([$lst, $lst], [])"),
    ],
    "full": ["[1, 0]", "[0, 2]", "q", "($lst + [$int])", "[$int, $int]", "[$noise, 1]", "$lname"],
    "tup": [
        *("$tname", "$tname", "()", "(0,)", "(1, 2)", "LEVELS"),
        *("($int,)", "($int, $int)", "($tup + $tup)", "tuple($lst)", "$tup[$cut]", "($tup if $bool else $tup)"),
        *("tuple($int for $own in $iter)", "tuple(range($int % 4))", "($int, $any)[:1]"),
    ],
    "step": ["-1", "2", "-2", "$int"],
    "cut": [":", "1:", ":-1", "-2:", "5:", ":$int", "$int:", "$int:$int"],
    "seq": ["$lst", "$tup", "$str"],
    "iter": ["q", "q", "$lname", "(0, 1)", "[2, 0]", "$lst", "$tup", "LEVELS"],
    "any": [
        *("{$int: $any for v in $iter}", "table", "{'a': $int, 'b': $any}", "Pair($int, $any)", "Pair($int, 1).first"),
        *("$name", "None", "''", "$sname", "$lname", "$tname", "1", "True", "rows"),
        *("$int", "$bool", "$str", "$lst", "$tup", "Fraction($int, 2)", "[$lname, $any]", "($any, $any)"),
        *("($any and $any)", "($any or $any)", "($any if $bool else $any)", "[$lname] + [$lname]", "[$lname] * 2"),
        *("{$int: $any}", "{$str: $int, $int: $bool}", "[$lname for v in $iter]", "rows + [$lname]", "($lname, 1)[:1]"),
    ],
    "noise": [
        *("uniform(0, 1)", "int(bernoulli('1/3'))", "randomized_response(x, truth='3/4')"),
        *("uniform(0, $int % 2)", "randomized_response(q[$index], truth='2/3')", "choice({0: '1/4', 2: '3/4'})"),
        *(
            "truncated_geometric($int, low=0, high=1, alpha='1/2')",
            "choice({$int % 2: '1/3', 5: '2/3'})",
            "noisy($int)",
        ),
        *("randomized_response($int % 2, among=(0, 1), truth='1/2')", "uniform($int % 2, 1)"),
        *("exponential_mechanism([$int, $int], epsilon='ln(4)')", "noisy($noise)"),
    ],
    "start": ["x", "1 - x", "0", "2", "-1", "uniform(0, 1)"],
    "toss": ["True", "False", "x < 1", "bernoulli('1/3')"],
    "name": ["a", "b", "c", "i"],
    "own": ["v", "w", "a", "i"],
    "pname": ["p", "r"],
    "sname": ["s"],
    "lname": ["xs", "ys", "zs"],
    "tname": ["t", "u"],
    "target": ["a", "b", "c", "i", "xs[0]", "xs[i]", "ys[-1]", "ys[$index]", "zs[a]"],
    "augment": ["+=", "-=", "*=", "//=", "%="],
}
STATEMENTS: dict[str, list[str]] = {
    "statement": [
        *(
            "$name = $int",
            "$name = $int",
            "$name = $int",
            "$name = $noise",
            "$lname = list($seq)",
            "$tname = ($int, $noise)",
        ),
        *("$name = $int", "$pname = $bool", "$pname = $bool", "$sname = $str", "$lname = $lst", "$tname = $tup"),
        *("$target = $int", "$target, $target = $int, $int", "$target, ($target, $target) = $int, ($int, $int)"),
        *("$target = $target = $int", "$lname = $lname = $lst", "[$name, $target] = q"),
        *("$name, $name = $name, $name", "$lname, $lname = $lname, $lname", "$name, $name = ($int, $int)"),
        *("$name $augment $int", "$target $augment $int", "$lname += $seq", "$sname += $str", "$tname += $tup"),
        *("$lname *= $int % 3", "$name: int = $int", "$name: int", "$any", "pass", "$tname = ($any, $any)"),
        *(
            "if len($lname) < 4:\n    $lname.append($int)",
            "$lname.sort()",
            "$lname.reverse()",
            "if len($lname) < 4:\n    $lname.extend($seq)",
            "$name = $lname.pop()",
            "table['a'] = $int",
            "table['b'] += $int",
            "for k, v in table.items():\n    $name += v",
            "try:\n$block\nexcept ValueError:\n    pass",
            "for v in reversed($lst):\n$block",
            "$lname.append($int)",
            "if len(rows) < 3:\n    rows.append($lname)",
        ),
        *("rows[$index] = $lst", "$lname = rows[0]", "rows = [$lname, $lst]", "$lname = [$noise for v in q]"),
        *("grow($lname, $int)", "$name = grow($lname, $int)", "$lname = fourth($lname, $int)"),
        *(
            "if $bool:\n$block",
            "if $any:\n$block\nelse:\n$block",
            "if $bool:\n$block\nelif $bool:\n$block\nelse:\n$block",
        ),
        *("for $name in $iter:\n$block", "for $target in $iter:\n$block", "for $name in range($int % 4):\n$block"),
        *("for $name in range($int % 3, 4, 2):\n$block", "for $name in range(2, -1, -1):\n$block"),
        *("for $target, $target in enumerate($iter):\n$block", "for i, $name in enumerate($iter, $int):\n$block"),
        *("for $target, $target in zip($iter, $iter):\n$block", "for $name, $name in zip(q, $lname):\n$block"),
        *(
            "for $name, ($target, $target) in enumerate(zip($iter, q)):\n$block",
            "for $name, $name in [($int, 2), (1, $int)]:\n$block",
        ),
        *(
            "for $sname in $str:\n$block",
            "for $lname in rows:\n$block",
            "for i, (a, b) in enumerate(enumerate(q, 1)):\n$block",
        ),
        *(
            "$turns = 0\nwhile $turns < 2 and $bool:\n    $turns += 1\n$block",
            "$turns = 0\nwhile $turns < 3:\n    $turns += 1\n$block",
        ),
        "match $int:\n    case 0:\n$case\n    case 1 | -1 if $quiet:\n$case\n    case _:\n$case",
        "match $any:\n    case None:\n$case\n    case True:\n$case\n    case 'a' | 1:\n$case",
        *("$leave", "$leave", "$end", "$write"),
    ],
    "quiet": ["p", "a < 2", "x", "xs", "i == 0", "not t"],
    "other": ["value", "values", "True", "0"],
    "first": ["a", "b", "(a - b)", "2 * a", "a % 3", "b or a", "0"],
}
HELPERS = """\
from collections import namedtuple
Pair = namedtuple("Pair", "first second")
LEVELS = (1, 0)
TABLE = {0: 2, 1: 0, 2: 1}


def noisy(value, low=0):
    return truncated_geometric(value, low=low, high=1, alpha="1/3")


def first(a, b):
    if $first < $first:
        return $first
    for b in (a, b):
        a = $first
        if a > b:
            break
    return a + b


def second(a, b=1):
    xs = [b, a]
    for i, v in enumerate(xs):
        if v == $first:
            return i
        xs[i] = v + 1
    return xs[-1]


def third(values, bound):
    seen = 0
    for value in values:
        if value > bound:
            continue
        seen += value
        if seen > 2:
            return -seen
    return seen


def fourth(values, value):
    values = [v + value for v in values] if $other else values
    return values[:2]


def grow(values, value):
    if len(values) < 4:
        values.append(value)


"""
PROLOGUE = [
    "a = $start",
    "b = 1",
    "c = x",
    "i = 0",
    "p = x == 1",
    "r = $toss",
    "s = 'ab'",
    "xs = [1, x]",
    "ys = [0, $start]",
]
PROLOGUE += ["zs = [2, 0]", "t = (x, 1)", "u = ($start,)", "rows = [[0], [1, $start]]", "table = {'a': x, 'b': 1}"]
_SLOT = re.compile(r"\$([a-z]+)")
_NOISES = ("noise", "uniform", "bernoulli", "choice", "randomized", "truncated", "exponential", "noisy")


class Author:
    """Writes one random mechanism: the same seed, the same program.

    Attributes:
        text: the program.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.draws = self.random.choice((1, 2, 3, 4))
        self.loops = 0
        self.turns = 0
        self.shape = self.random.choice(("function", "function", "function", "generator", "stream", "online"))
        self.text = self._program()

    def _program(self) -> str:
        pick = self.random.choice
        helpers = _SLOT.sub(lambda found: pick(STATEMENTS[found[1]]), HELPERS)
        lines = [self._filled(line, 1) for line in PROLOGUE]
        if self.random.random() < 0.1:
            lines.pop(self.random.randrange(len(lines)))
        lines += self._block(self.random.randint(2, 6), 2)
        if self.shape in ("stream", "online"):
            self.loops += 1
            over = pick(
                (
                    "for v in f:",
                    "for i, v in enumerate(f):",
                    "for i, a in enumerate(f, x):",
                    "for i, xs[i % 2] in enumerate(f):",
                )
            )
            inner = [self._write(), *self._block(self.random.randint(1, 3), 1)]
            if self.shape == "stream":
                inner.append(f"if {self._expression('bool', 1)}:\n    return {self._expression('any', 2)}")
                inner = inner[1:]
            lines += ["v = 0", over, _indented("\n".join(inner))]
            self.loops -= 1
            lines += self._block(1, 1)
        lines.append(
            self._write() if self.shape in ("generator", "online") else f"return {self._expression('result', 2)}"
        )
        declared = (
            "f: stream(0, 1), x: public(integer(0, 1))"
            if self.shape in ("stream", "online")
            else "q: queries(0, 1), x: integer(0, 1)"
        )
        start = ["q = [0, x]"] if self.shape in ("stream", "online") else []
        body = _indented("\n".join([*start, *lines]))
        return f"{helpers}@mechanism\ndef m({declared}):\n{body}\n"

    def _write(self) -> str:
        return f"yield {self._expression('any', 2)}"

    def _block(self, count: int, depth: int) -> list[str]:
        return [self._statement(depth) for _ in range(count)]

    def _statement(self, depth: int) -> str:
        options = STATEMENTS["statement"]
        if depth <= 0:
            options = [option for option in options if "$block" not in option and "$case" not in option]
        production = self.random.choice(options)
        loop = production.startswith(("for", "$turns"))
        if "$turns" in production:
            self.turns += 1
            production = production.replace("$turns", f"k{self.turns}")
        if production == "$leave":
            return self.random.choice(("break", "continue")) if self.loops and self.random.random() < 0.5 else "pass"
        if production == "$write":
            return self._write() if self.shape in ("generator", "online") else "pass"
        if production == "$end":
            if self.random.random() < 0.6:
                return "pass"
            return "return" if self.shape in ("generator", "online") else f"return {self._expression('any', 1)}"
        head, *rest = re.split(r"(\$block|\$case)", production)
        filled = self._filled(head, 2)
        self.loops += loop
        draws, self.draws = self.draws, min(self.draws, 1) if loop else self.draws
        for part in rest:
            if part in ("$block", "$case"):
                inner = "\n".join(self._block(self.random.randint(1, 2), depth - 1))
                filled += _indented(inner, 1 if part == "$block" else 2)
            else:
                filled += self._filled(part, 1)
        self.draws = min(self.draws, draws - 1) if loop and self.draws < 1 else self.draws
        self.loops -= loop
        return filled

    def _filled(self, production: str, depth: int) -> str:
        return _SLOT.sub(lambda found: self._expression(found[1], depth), production)

    def _expression(self, kind: str, depth: int) -> str:
        if kind == "result":
            kinds = ("any", "int", "lst", "tup", "bool")
            shown = [self._expression(self.random.choice(kinds), depth) for _ in range(2)]
            return f"({', '.join(shown)}, xs, a, {self._expression('any', 0)})"
        if kind == "quiet":
            return self.random.choice(STATEMENTS["quiet"])
        if self.random.random() < 0.01 and kind in ("int", "lst", "tup", "bool", "str"):
            kind = "any"
        options = EXPRESSIONS[kind]
        if self.draws <= 0:
            options = [o for o in options if not any(word in o for word in _NOISES)] or ["a"]
        if depth <= 0:
            options = [o for o in options if "$" not in re.sub(r"\$(name|[pslt]name|own)\b", "", o)] or ["1"]
        production = self.random.choice(options)
        if any(word in production for word in _NOISES[1:]):
            self.draws -= 1
        return self._filled(production, depth - (kind not in ("index", "divisor", "cut", "iter", "seq", "full")))


def _indented(text_: str, levels: int = 1) -> str:
    return "\n".join("    " * levels + line for line in text_.split("\n"))


# ------------------------------------------------------------------------------------------------------------ comparing


class Disagreement(AssertionError):
    """The translation and CPython differ."""


@contextmanager
def _soon(seconds: float) -> Iterator[None]:
    """A run that does not end is a disagreement: the translation said that it does."""

    def ring(*_: object) -> None:
        raise Disagreement(f"the function does not end within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def shown(mechanism: Mechanism, run: Run) -> str:
    """What a run shows, as it prints."""
    if mechanism.stream is not None:
        if not run.written and run.ended:
            return repr(tuple(run.value) if mechanism.generator else (run.value,))
        return repr(tuple(value for step in run.written for value in step))
    return repr(tuple(run.value)) if mechanism.generator else repr(run.value)


def translated(mechanism: Mechanism, data: Mapping[str, Any]) -> dict[str, Fraction]:
    """The exact distribution of the output by the translation."""
    return {text(output): fraction(p) for output, p in output_classes(mechanism, data)}


def by_cpython(mechanism: Mechanism, data: Mapping[str, Any], most: int) -> tuple[dict[str, Fraction], Fraction]:
    """The distribution of the output by running the function itself, and the mass of runs that were not made."""
    with _soon(20):
        made = outputs(mechanism, data, most=most, enough=Fraction(0))
    found: Counter[str] = Counter()
    for run, p in made.runs:
        found[shown(mechanism, run)] += p
    return dict(found), made.left_over


def compare(mechanism: Mechanism, data: Mapping[str, Any], *, most: int = 400, lanes: int = 0) -> str:
    """Whether the translation of a mechanism means on some data what CPython does.

    Args:
        mechanism: the mechanism.
        data: its inputs.
        most: how many runs are made.
        lanes: how many runs the vectorised sampler makes; what it shows must be possible.

    Returns:
        "agrees", "agrees in part" where not all runs were made, or the code of the refusal.

    Raises:
        Disagreement: they differ, or the translation does not tell that a run fails.
    """
    try:
        model = translated(mechanism, data)
    except PrivproofError as refusal:
        if not refusal.place:
            raise Disagreement(f"a refusal without a place: {refusal}") from None
        return refusal.code
    try:
        real, left_over = by_cpython(mechanism, data, most)
    except PrivproofError as failure:
        raise Disagreement(f"on {data} the function fails ({failure}), the translation gives {model}") from None
    for output in {*model, *real}:
        if not real.get(output, 0) <= model.get(output, Fraction(0)) <= real.get(output, 0) + left_over:
            raise Disagreement(
                f"on {data} {output} has probability {model.get(output, 0)} by the translation, {real.get(output, 0)} by CPython"
            )
    if lanes:
        try:
            drawn = sample(mechanism, dict(data), lanes, seed=1).counts()
        except PrivproofError as refusal:
            raise Disagreement(f"on {data} only the sampler refuses: {refusal}") from None
        possible = set(model) if left_over else set(real)
        if mechanism.generator:
            possible = {_as_list(output) for output in possible}
        elif mechanism.stream is not None:  # a run that the stream leaves without an end shows nothing
            possible = {output[1:-2] for output in possible} | {"None"}
        if impossible := set(drawn) - possible:
            raise Disagreement(f"on {data} the sampler shows {sorted(impossible)[:2]}, which is impossible")
    return "agrees in part" if left_over else "agrees"


def _as_list(output: str) -> str:
    """A tuple of outputs as a list prints."""
    inner = output[1:-1]
    return f"[{inner[:-1] if inner.endswith(',') else inner}]"


def compare_all(
    mechanism: Mechanism, *, size: int = 2, most: int = 400, lanes: int = 0, some: Random | None = None
) -> Counter[str]:
    """What `compare` says on every data set, or on three at random; the sampler runs on two of them, or on all (`amounts`)."""
    data = data_sets(mechanism, size)
    chosen = data if some is None else some.sample(data, min(3, len(data)))
    sampled = [id(one) for one in spread(chosen, 2)]
    return Counter(compare(mechanism, one, most=most, lanes=lanes if id(one) in sampled else 0) for one in chosen)


def constructs(program: str) -> set[str]:
    """The constructs in the mechanism of a program, by the names of their nodes, targets of loops and assignments apart."""
    tree = next(node for node in ast.parse(program).body if isinstance(node, ast.FunctionDef) and node.name == "m")
    found: set[str] = set()
    for node in ast.walk(tree):
        found.add(type(node).__name__)
        for target in _targets(node):
            found.add(f"{type(node).__name__} to {_shape(target)}")
        if isinstance(node, ast.Call):
            found.add(f"{ast.unparse(node.func)}()" if isinstance(node.func, ast.Name) else f".{node.func.attr}()")
    return found


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.For(target=target) | ast.comprehension(target=target) | ast.AugAssign(target=target):
            return [target]
        case _:
            return []


def _shape(target: ast.expr) -> str:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return f"({', '.join(map(_shape, parts))})"
        case ast.Subscript():
            return "xs[i]"
        case _:
            return "x"
