"""Random mechanisms that go through a list once, with a state that is finite in most of them, and indices that go astray in some."""

from __future__ import annotations

from random import Random

_HEADS = (
    "for i, x in enumerate(q):",
    "for i, x in enumerate(q):",
    "for i in range(len(q)):\n        x = q[i]",
    "for x in q:",
    "i = 0\n    while i < len(q):\n        x = q[i]",
    "i = -1\n    for x in q:\n        i += 1",
)
_TESTS = (
    "x == 1",
    "x > s",
    "s == 2",
    "x == last",
    "bernoulli('1/3')",
    "bernoulli('1/2')",
    "z >= s",
    "z > t",
    "w is None",
    "w == -1",
    "i == 0",
    "i < 2",
    "i != w",
    "w == v",
    "i == w",
    "i >= 1 and x == 1",
    "w is not None and i > 1",
    "i % 2 == 0",
    "i > s",
    "(i, 1) == (w, 1)",
    "i in (0, 2)",
    "not i",
)
_STEPS = (
    "s = x",
    "s = min(s + 1, 2)",
    "s = 1 - x",
    "s = z",
    "t = s",
    "t = max(t, z)",
    "t = 1 - t if t < 2 else 0",
    "w = i",
    "w, v = i, w",
    "v = w",
    "v = i",
    "last = x",
    "w = None",
    "w = 0",
    "w = 1",
    "s = truncated_geometric(x, alpha='1/2', low=0, high=1)",
    "s = i",
    "t = i + 1",
    "t += 1",
    "w = -1",
    "s = bernoulli('1/4') and x or 0",
)
_RESULTS = (
    "s",
    "t",
    "w",
    "w",
    "(w, s)",
    "(v, w)",
    "(s, t)",
    "last",
    "w if s else t",
    "[w, s]",
    "v == w",
    "w is None",
    "i",
)
_ENDS = ("return i", "return w", "return s", "return None", "break", "continue")


def list_program(seed: int) -> str:
    """A mechanism ``m`` on ``q: queries(0, 1)``, or records 0 and 1: the same seed, the same program."""
    random = Random(seed)
    pick = random.choice
    head = pick(_HEADS)
    lines = ["s, t, w, v, last, z = 0, 0, None, -1, 0, 0"]
    if random.random() < 0.3:
        lines.append(
            pick(("s = uniform(0, 1)", "t = truncated_geometric(1, alpha='1/2', low=0, high=2)", "w = 0", "i = None"))
        )
    lines.append(head)
    body = []
    if random.random() < 0.7:
        body.append("z = truncated_geometric(x, alpha='1/2', low=0, high=1)")
    for _ in range(random.randint(1, 3)):
        if random.random() < 0.75:
            body.append(f"if {pick(_TESTS)}:")
            body.append(f"    {pick(_STEPS)}")
            if random.random() < 0.3:
                body.append(f"    {pick(_STEPS)}")
            if random.random() < 0.25:
                end = pick(_ENDS)
                if end != "continue" or "while" not in head:
                    body.append(f"    {end}")
        else:
            body.append(pick(_STEPS))
    if "while" in head:
        body.append("i += 1")
    lines += ["    " + line for line in body]
    if random.random() < 0.3:
        lines.append(
            pick(("s = truncated_geometric(s, alpha='1/2', low=0, high=2)", "if bernoulli('1/2'):\n        s = 0"))
        )
    lines.append(f"return {pick(_RESULTS)}")
    declared = "records(0, 1)" if seed % 6 in (1, 3) else "queries(0, 1)"  # records have no order: never `monotone`
    return f"@mechanism\ndef m(q: {declared}):\n    " + "\n    ".join(lines) + "\n"


_LENGTHS = (
    "len(q) > 1",
    "len(q) == 0",
    "not q",
    "n >= 2",
    "n == 1",
    "2 > len(q)",
    "n != 3",
    "len(q) > 1 and q[0] == 1",
    "q and q[0] == 0",
    "len(q) >= 2 and q[1] == q[0]",
    "n > 2 or bernoulli('1/2')",
)
_BEGINS = (
    "n = len(q)",
    "n = min(len(q), 2)",
    "n = max(len(q), 1)",
    "if not q:\n        return None",
    "if len(q) < 2:\n        return 5",
    "if len(q) == 0:\n        return bernoulli('1/2')",
    "t = min(len(q), 2)",
    "out.append(7)",
)
_PUTS = (
    "out.append(x)",
    "out.append(z)",
    "out.append(randomized_response(x, truth='3/4'))",
    "out.append(bernoulli('1/2'))",
    "out.append(s)",
    "out.append((i, z))",
    "out.append(i)",
    "out.append(i + 1)",
    "out.append(w)",
    "out.append([x, t])",
    "out.append('x')",
    "yes += x",
    "yes += z",
    "yes = yes + bernoulli('1/3')",
    "yes += 1",
    "yes += x - 1",
    "more.append(x)",
    "more.append(z)",
)
_SHOWN = (
    "out",
    "out",
    "tuple(out)",
    "(out, s)",
    "[s, out]",
    "{'out': out, 'w': w}",
    "min(yes, 2)",
    "yes > 2",
    "(yes >= 1, s)",
    "truncated_geometric(min(yes, 2), alpha='1/2', low=0, high=2)",
    "len(more) > 1",
    "min(len(more), 3)",
    "(s, n)",
    "n",
    "min(n, 3)",
    "s if len(q) > 2 else t",
    "s if n > 1 else w",
    "len(out) > 1",
)


def longer_program(seed: int) -> str:
    """A mechanism ``m`` on ``q``: records 0 and 1, with lists that are filled, counts that are cut and lengths that are asked for."""
    random = Random(seed)
    pick = random.choice
    generator = random.random() < 0.1
    head = pick(_HEADS[:4])
    lines = ["s, t, w, v, last, z, n, yes, out, more = 0, 0, None, -1, 0, 0, 0, 0, [], []"]
    lines += [pick(_BEGINS) for _ in range(random.randint(0, 2))]
    lines.append(head)
    body = []
    if random.random() < 0.6:
        body.append("z = randomized_response(x, truth='3/4')")
    for _ in range(random.randint(1, 3)):
        kind = random.random()
        step = pick(_PUTS) if random.random() < 0.6 else pick(_STEPS)
        if generator and "append" in step:
            step = f"yield {step[step.index('(') + 1 : -1]}" if step.startswith("out") else "yield x"
        if kind < 0.5:
            body.append(step)
        else:
            body.append(f"if {pick(_LENGTHS) if kind < 0.75 else pick(_TESTS)}:")
            body.append(f"    {step}")
            if random.random() < 0.25:
                body.append(f"    {'break' if generator else pick(_ENDS)}")
    lines += ["    " + line for line in body]
    if random.random() < 0.4:
        lines.append(f"if {pick(_LENGTHS)}:\n        {pick(_STEPS[:6])}")
    if generator:
        lines = [line.replace("return None", "return").replace("out.append(7)", "yield 7") for line in lines]
        lines = [line.replace("return 5", "return").replace("return bernoulli('1/2')", "return") for line in lines]
        lines.append("yield s")
    else:
        lines.append(f"return {pick(_SHOWN) if random.random() < 0.8 else pick(_RESULTS)}")
    return "@mechanism\ndef m(q: records(0, 1)):\n    " + "\n    ".join(lines) + "\n"
