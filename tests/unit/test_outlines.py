"""Outlines: what a file holds and what is refused in it; nothing runs that does more than declare."""

import json
from pathlib import Path

import pytest
from tests.commands import Command

from privproof.errors import FormatError
from privproof.formats.file_outlines import outline_of

HEAD = "from privproof import integer, mechanism, queries, truncated_geometric, laplace, real\n"
MAX = (
    HEAD
    + """
LIMIT = 2
@mechanism(epsilon="ln(2)", delta="1/100")
def noisy(x: integer(0, LIMIT), rounds=3):
    return truncated_geometric(x, alpha="1/2", low=0, high=2)

def plain(x: real()):
    global LIMIT
    LIMIT = 3
    return laplace(x, scale=1)

def helper(x):
    return x
"""
)


def outlined(tmp_path, text, name="mechanism.py"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return outline_of(path)


def test_functions_are_listed_with_what_they_declare(tmp_path):
    found = outlined(tmp_path, MAX.replace("    global LIMIT\n    LIMIT = 3\n", ""))
    assert found.unread is None
    assert not found.problems
    first, second, third = found.entries
    assert (first.name, first.line, second.name) == ("noisy", 5, "plain")
    assert first.inputs == (("x", "integer(0, 2)"),)
    assert first.parameters == (("rounds", "3"),)
    assert first.claim == "epsilon ln(2), delta 1/100"
    assert second.claim == ""
    assert (third.name, third.inputs) == ("helper", ())


def test_a_refused_construct_has_its_line_and_column(tmp_path):
    found = outlined(tmp_path, MAX)
    (problem,) = found.problems
    assert (problem.kind, problem.line, problem.column, problem.function) == ("refused", 9, 5, "plain")
    assert "global is not in the mechanism language" in problem.message
    assert problem.hint == "pass the value and return it"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("x = (1,\n", 1, 5), ("def f(:\n  pass\n", 1, 7), ("x = 1 / 0\n", 1, 1), ("from math import nothing\n", 1, 1)],
)
def test_what_is_wrong_has_its_line(tmp_path, text, line, column):
    (problem,) = outlined(tmp_path, text).problems
    assert (problem.kind, problem.line, problem.column) == ("wrong", line, column)


def test_model_files_are_read_too(tmp_path):
    model = Command(tmp_path).folder / "model.yaml"
    assert outline_of(model).problems == ()
    (problem,) = outlined(tmp_path, model.read_text().replace('"1": 1/6', '"1": 1/7', 1), "other.yaml").problems
    assert (problem.line, problem.column, problem.code) == (6, 3, "row-sum")
    with pytest.raises(FormatError, match="no such file"):
        outline_of(tmp_path / "nothing.py")


EFFECT = "__import__('pathlib').Path('ran').write_text('it ran')"


@pytest.mark.parametrize(
    "text",
    [
        EFFECT,
        f"x = {EFFECT}",
        f"def f(x={EFFECT}): pass",
        f"def f(x: {EFFECT}): pass",
        f"def f(*, x={EFFECT}): pass",
        f"def f() -> {EFFECT}: pass",
        f"def evil(f):\n    {EFFECT}\n@evil\ndef f(): pass",
        f"def mechanism(f):\n    {EFFECT}\n@mechanism\ndef f(): pass",
        f"def Fraction(f):\n    {EFFECT}\nx = Fraction(1)",
        f"class A:\n    {EFFECT}",
        f"class A:\n    x = [{EFFECT}]",
        f"class A:\n    def queries(): {EFFECT}\nx = A.queries()",
        f"class A:\n    def __init__(self): {EFFECT}\nx = A()",
        f"class A:\n    def __init_subclass__(cls): {EFFECT}\nclass B(A): pass",
        f"class A:\n    def __class_getitem__(cls, i): {EFFECT}\nx = A[1]",
        f"class A(type):\n    def __new__(*a): {EFFECT}\nclass B(metaclass=A): pass",
        f"from enum import Enum\nclass A(Enum):\n    X = 1\n    def __init__(self, x): {EFFECT}",
        f"x = sorted([1, 2], key=lambda _: {EFFECT})",
        f"x = (lambda: {EFFECT})()",
        f"x = [{EFFECT} for _ in range(1)]",
        f"x = (y := {EFFECT})",
        f'x = f"{{{EFFECT}}}"',
        f"import random\nrandom.x = {EFFECT}",
        f"for i in (1,):\n    {EFFECT}",
        f"if True:\n    {EFFECT}",
        f"if __name__ == '__main__':\n    pass\nelse:\n    {EFFECT}",
        f"try:\n    {EFFECT}\nfinally:\n    pass",
        f"with open('x', 'w') as f:\n    {EFFECT}",
        "import os\nos.system('touch ran')",
        "from os import system as mechanism\n@mechanism\ndef f(): pass",
        "from privproof import check as queries\nx = queries(1)",
        "from functools import reduce as tuple\nx = tuple(1)",
        "import beside",
        "import random",
        "from . import beside",
        "from beside import *",
    ],
)
def test_nothing_is_run_that_does_more_than_declare(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    for name in ("beside.py", "random.py"):
        (tmp_path / name).write_text(EFFECT, encoding="utf-8")
    found = outlined(tmp_path, f"{text}\n")
    assert found.unread is not None
    assert not Path("ran").exists()


def test_what_only_declares_is_read(tmp_path):
    text = """
    from __future__ import annotations
    import random, math
    import numpy as np
    from dataclasses import dataclass, field
    from enum import Enum
    from fractions import Fraction
    HALF, MANY = Fraction(1, 2), [1, 2, *range(3)]
    NAMES: dict[str, int] = {"a": -1, "b": math.pi > 3}
    RNG = np.random.default_rng(1)
    class Colour(Enum):
        RED = 1
    @dataclass(frozen=True)
    class Point:
        x: int = field(default=0)
        def far(self): return self.x
    noise = lambda x: open(x)
    if __name__ == "__main__":
        open("never")
    """
    lines = text.splitlines()
    found = outlined(
        tmp_path, "\n".join(line[4:] for line in lines).replace("HALF, MANY = Fraction(1, 2), ", "MANY = ")
    )
    assert found.unread is None
    assert not found.problems


def test_the_command_prints_it(tmp_path):
    command = Command(tmp_path)
    command.write("good.py", MAX)
    command.write("bad.py", "x = (\n")
    status, told = command.json("outline", "good.py")
    assert status == 0
    assert [entry["name"] for entry in told["functions"]] == ["noisy", "plain", "helper"]
    assert told["problems"][0]["line"] == 9
    printed = command("outline", "good.py")
    assert "good.py:5: noisy(x: integer(0, 2)), claimed epsilon ln(2), delta 1/100\n" in printed.stdout
    assert "good.py:9:5: global is not in the mechanism language [construct]\n  hint: pass" in printed.stdout
    wrong = command("outline", "bad.py")
    assert (wrong.returncode, "bad.py:1:5: " in wrong.stdout) == (2, True)
    command.write("doing.py", "print(1)\n" + MAX)
    assert "doing.py:1: this line does more than declare" in command("outline", "doing.py").stdout
    json.dumps(told)
