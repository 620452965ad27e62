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
