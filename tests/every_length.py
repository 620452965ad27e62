"""Finite mechanisms on lists of every length, for tests: transducers that read lists and write at their end, and brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from privproof.models import Transducer


def list_reader(states, inputs, outputs, initial, step, finish):
    """A transducer on lists of every length; a row of `step` and `finish` lists probabilities in the order of states and outputs."""
    return Transducer(
        states=states,
        inputs=inputs,
        outputs=outputs,
        initial={s: p for s, p in zip(states, initial, strict=True) if p},
        steps=[
            {s: {v: [(p, t) for p, t in zip(step[s, v], states, strict=True) if p] for v in inputs} for s in states}
        ],
        finish={s: {o: p for p, o in zip(finish[s], outputs, strict=True) if p} for s in states},
        repeats=True,
    )


def law_of(model, data):
    """The probability of every output on a list, from the definition."""
    masses = {s: Fraction(str(p)) for s, p in model.initial.items()}
    for value in data:
        after = {}
        for state, mass in masses.items():
            for branch in model.steps[0][state][value]:
                after[branch.target] = after.get(branch.target, 0) + mass * Fraction(str(branch.probability))
        masses = after
    result = {}
    for state, mass in masses.items():
        for output, p in model.finish[state].items():
            result[output] = result.get(output, 0) + mass * Fraction(str(p))
    return result


def neighbours_of(data, inputs, relation):
    """The lists that a relation makes neighbours of one and that are not longer."""
    if relation == "add-remove":
        return {data[:i] + data[i + 1 :] for i in range(len(data))}
    if relation == "one":
        return {(*data[:i], v, *data[i + 1 :]) for i in range(len(data)) for v in inputs} - {data}
    return set(product(inputs, repeat=len(data))) - {data}


def largest_ratio(model, relation, longest):
    """The largest ratio over all neighbouring lists up to a length; None for infinite."""
    laws = {data: law_of(model, data) for n in range(longest + 1) for data in product(model.inputs, repeat=n)}
    worst = Fraction(1)
    for data, law in laws.items():
        for other in neighbours_of(data, model.inputs, relation):
            for one, two in ((law, laws[other]), (laws[other], law)):
                for output, p in one.items():
                    if p and not two.get(output):
                        return None
                    worst = max(worst, p / two[output]) if p else worst
    return worst
