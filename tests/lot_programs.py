"""Random mechanisms that keep the best noisy value and draw lots about ties, rightly in some and wrongly in others."""

from __future__ import annotations

from random import Random

_NOISE = (
    "truncated_geometric(x, alpha='1/2', low=0, high=2)",
    "truncated_geometric(x, alpha='1/3', low=0, high=1)",
    "choice({0: '1/2', 1: '1/4', 2: '1/4'}) if x == 0 else choice({0: '1/5', 2: '4/5'})",
    "randomized_response(x, truth='3/4')",
    "uniform(0, 1) + x",
    "x",
)
_BETTER = (
    "{z} > best",
    "{z} > best",
    "{z} > best",
    "best is None or {z} > best",
    "{z} >= best",
    "{z} < best",
    "{z} > best + 1",
)
_TIE = ("{z} == best", "{z} == best", "{z} == best", "not {z} < best", "True", "{z} == best and x == 1")
_STEP = ("ties += 1", "ties = ties + 1", "ties += 1", "ties += 2", "pass")
_LOT = (
    "bernoulli(Fraction(1, ties))",
    "bernoulli(Fraction(1, ties))",
    "bernoulli(Fraction(1, ties + 1))",
    "uniform(0, ties) == 0",
    "uniform(1, ties) == 1",
    "uniform(0, ties) == 1",
    "bernoulli('1/2')",
)
_TAKE = ("winner = i", "winner = i", "winner = i", "winner = winner", "winner, best = i, z")
_RESULTS = ("winner", "winner", "winner", "(winner,)", "winner + 1", "best", "(winner, best)")


def lot_program(seed: int) -> str:
    """A mechanism on a list of bits; one in five or so is a lottery."""
    random = Random(seed)
    often = random.random() < 0.6  # most of a program that draws lots as it should

    def one(parts: tuple[str, ...]) -> str:
        return parts[0] if often and random.random() < 0.8 else random.choice(parts)

    noise = random.choice(_NOISE)
    started, offset = random.choice((-1, None)), random.choice((0, 1, 1, 1, 2))
    better = "best is None or z > best" if started is None and often else one(_BETTER).format(z="z")
    lot = ("uniform(0, ties) == 0" if offset == 0 else "bernoulli(Fraction(1, ties))") if often else one(_LOT)
    return f"""
@mechanism
def m(q: records(0, 1)):
    best, winner, ties = {started}, 0, 0
    for i, x in enumerate(q):
        z = {noise}
        if {better}:
            best, winner, ties = z, i, {offset if often else random.choice((offset, "ties", "ties + 1"))}
        elif {one(_TIE).format(z="z")}:
            {one(_STEP)}
            if {lot}:
                {one(_TAKE)}
    return {one(_RESULTS)}
"""
