"""Random mechanisms that toss coins for every record, add up what comes of it, and put geometric noise on the sums; and their laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

_SHARES = ("1/4", "1/3", "1/2", "2/3", "9/10")


def _bernoulli(p):
    return {True: Fraction(p), False: 1 - Fraction(p)}


def _drawn(laws, added):
    """The law of what a record adds, from independent coins."""
    result = {}
    for fallen in product(*(law.items() for law in laws)):
        mass = Fraction(1)
        for _, p in fallen:
            mass *= p
        vector = added(*(value for value, _ in fallen))
        result[vector] = result.get(vector, 0) + mass
    return {vector: p for vector, p in result.items() if p}


def _part(random, at):
    """Statements of a turn that add to one of two sums, and the law of what they add for a record 0 or 1."""
    p, q = random.choice(_SHARES), random.choice(_SHARES)
    name = "nm"[at]

    def put(value):
        return (value, 0) if at == 0 else (0, value)

    kind = random.randrange(8)
    if kind == 0:
        factor = random.choice((1, 2))
        return [f"if bernoulli('{p}'):", f"    {name} += {factor} * r"], lambda r: _drawn(
            [_bernoulli(p)], lambda z: put(factor * r if z else 0)
        )
    if kind == 1:
        return [f"{name} += randomized_response(r, truth='{p}')"], lambda r: _drawn(
            [{r: Fraction(p), 1 - r: 1 - Fraction(p)}], put
        )
    if kind == 2:
        return [f"if r == 1 and bernoulli('{p}'):", f"    {name} += 1"], lambda r: _drawn(
            [_bernoulli(p)], lambda z: put(int(r == 1 and z))
        )
    if kind == 3:
        return [f"if bernoulli('{p}' if r == 1 else '{q}'):", f"    {name} += 1"], lambda r: _drawn(
            [_bernoulli(p if r == 1 else q)], lambda z: put(int(z))
        )
    if kind == 4:
        return [f"if bernoulli('{p}') or bernoulli('{q}'):", f"    {name} += 1 - r"], lambda r: _drawn(
            [_bernoulli(p), _bernoulli(q)], lambda z, y: put(1 - r if z or y else 0)
        )
    if kind == 5:
        return [f"if bernoulli('{p}'):", f"    if bernoulli('{q}'):", f"        {name} += r"], lambda r: _drawn(
            [_bernoulli(p), _bernoulli(q)], lambda z, y: put(r if z and y else 0)
        )
    if kind == 6:
        rest = 1 - Fraction(p)
        return [f"{name} += choice({{r: '{p}', 2: '{rest}'}})"], lambda r: _drawn([{r: Fraction(p), 2: rest}], put)
    return [f"if bernoulli('{p}'):", f"    {name} += 1", "else:", f"    {name} += r"], lambda r: _drawn(
        [_bernoulli(p)], lambda z: put(1 if z else r)
    )


def coin_program(seed):
    """A mechanism ``m`` on records 0 and 1; what a record adds to its two sums; and its two alphas."""
    random = Random(seed)
    listed = random.random() < 0.3
    alphas = random.choice((("1/2", "1/2"), ("1/3", "1/3"), ("1/2", "1/4")))
    lines = ["n, m = 0, 0"]
    if listed:
        p = random.choice(_SHARES)
        lines += [f"kept = [r for r in data if bernoulli('{p}')]", "n = len(kept)" if random.random() < 0.5 else ""]
        sums, doubled = "n" if lines[-1] else "", random.random() < 0.5
        lines = [line for line in lines if line]
        lines += ["for r in kept:", "    m += r"] if not doubled else ["m = kept.count(1)"]

        def law(r):
            return _drawn([_bernoulli(p)], lambda z: ((1 if sums else 0) if z else 0, r if z else 0))

    else:
        one, first = _part(random, 0)
        other, second = _part(random, random.choice((0, 1)))
        two = random.random() < 0.6
        lines += ["for r in data:", *("    " + line for line in [*one, *(other if two else [])])]

        def law(r):
            if not two:
                return first(r)
            return _drawn([first(r), second(r)], lambda a, b: (a[0] + b[0], a[1] + b[1]))

    shown = [f"geometric(n, alpha='{alphas[0]}')", f"geometric(m, alpha='{alphas[1]}')"]
    lines.append(f"return ({', '.join(shown)})")
    text = "@mechanism\ndef m(data: records(0, 1)):\n    " + "\n    ".join(lines) + "\n"
    return text, law, tuple(map(Fraction, alphas))


def sums(law, counts):
    """The law of the sums over a data set of so many zeros and ones."""
    result = {(0, 0): Fraction(1)}
    for record, count in enumerate(counts):
        for _ in range(count):
            after = {}
            for (n, m), p in result.items():
                for (a, b), q in law(record).items():
                    after[n + a, m + b] = after.get((n + a, m + b), 0) + p * q
            result = after
    return result


def largest_loss(one, other, alphas):
    """The largest ratio of the probabilities of an output, one way, from the laws of the sums."""
    points = [*one, *other]
    ranges = [range(min(p[k] for p in points), max(p[k] for p in points) + 1) for k in (0, 1)]
    worst = Fraction(0)
    for o in product(*ranges):
        left, right = (
            sum(p * alphas[0] ** abs(o[0] - n) * alphas[1] ** abs(o[1] - m) for (n, m), p in law.items())
            for law in (one, other)
        )
        worst = max(worst, left / right)
    return worst


def worst_loss(law, relation, alphas, longest):
    """The largest ratio between neighbouring data of up to so many records."""
    worst = Fraction(1)
    for zeros, ones in product(range(longest + 1), repeat=2):
        if zeros + ones > longest:
            continue
        here = sums(law, (zeros, ones))
        near = [(zeros, ones - 1), (zeros - 1, ones)] if relation == "add-remove" else [(zeros + 1, ones - 1)]
        for counts in near:
            if min(counts) >= 0:
                there = sums(law, counts)
                worst = max(worst, largest_loss(here, there, alphas), largest_loss(there, here, alphas))
    return worst
