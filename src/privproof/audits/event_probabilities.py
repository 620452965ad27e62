"""Exact probabilities of a mechanism's outputs, and the loss between two data sets, whatever its noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any

from privproof.compiling.distributions import given_inputs
from privproof.compiling.distributions import output_probability as discrete_probability
from privproof.compiling.posing import mechanism_of_function
from privproof.compiling.scales import unit
from privproof.engines import Monitor
from privproof.engines.laplace.engine import witnessed
from privproof.engines.laplace.events import event_probability, tree
from privproof.engines.laplace.losses import Loss, Trees, events, words
from privproof.errors import LanguageError
from privproof.evidence.witnesses import LossWitness
from privproof.exact import rational
from privproof.exact.exponentials import ExponentialSum
from privproof.language import Mechanism
from privproof.language.inputs import Input, one_of, records
from privproof.language.patterns import read_pattern
from privproof.scenarios import is_program


def output_probability(
    mechanism: Mechanism | Callable[..., Any], event: Any, /, **arguments: Any
) -> Fraction | ExponentialSum:
    """The probability of an output of a mechanism, or of any function, on the given inputs, exactly.

    An output is the value returned; of a generator, or on a stream, the list of what is written.  In the place of a noisy number stands
    where it shall lie: ``"≥6"``, ``"≤-1/2"``, ``"0..1"``, or ``"*"`` for anywhere.

    With discrete noise and finite inputs the probability is a fraction; with continuous noise it is a sum of exponentials, a closed
    form that compares exactly and has a ball of any precision: ``p.ball(1, 128)``.

    >>> from privproof.language import geometric, integer, laplace, mechanism, real
    >>> @mechanism
    ... def noisy(count: integer(0, 5)):
    ...     return geometric(count, alpha="1/2")
    >>> output_probability(noisy, 7, count=5), output_probability(noisy, "≥6", count=5)
    (Fraction(1, 12), Fraction(1, 3))
    >>> @mechanism
    ... def released(x: real()):
    ...     return laplace(x, scale=2)
    >>> print(output_probability(released, "≥3", x=0))
    1/2*e^(-3/2)
    >>> import random
    >>> def warner(answers):
    ...     return [answer if random.random() < 0.75 else 1 - answer for answer in answers]
    >>> output_probability(warner, [1, 0], answers=[1, 1])
    Fraction(3, 16)
    """
    if not isinstance(mechanism, Mechanism):
        mechanism = mechanism_of_function(mechanism, _inputs_of_arguments(mechanism, arguments))
    if not is_program(mechanism):
        return discrete_probability(mechanism, event, **arguments)
    changed, given = check_arguments(mechanism, arguments)
    return event_probability(changed, read_pattern(event), given)


def _inputs_of_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Input]:
    """What the inputs of a function may be where nothing is declared: what is given."""
    found: dict[str, Input] = {}
    for name, parameter in signature(function).parameters.items():
        if name in arguments and parameter.default is Parameter.empty and not isinstance(parameter.annotation, Input):
            value = arguments[name]
            found[name] = records(*dict.fromkeys(value or (0,))) if isinstance(value, list | tuple) else one_of(value)
    return found


def probability_formula(mechanism: Mechanism, event: Any, parameter: str = "epsilon", /, **arguments: Any) -> str:
    """The probability of an event as a closed form in a parameter that all scales are inversely proportional to.

    >>> from privproof.library.laplace.laplace_noisy_max import noisy_max_value
    >>> probability_formula(noisy_max_value, "≤-3", q=[0, 0, 0]), probability_formula(noisy_max_value, "≤-3", q=[1, 1, 1])
    ('1/8*e^(-9/2 epsilon)', '1/8*e^(-6 epsilon)')
    """
    if unit(mechanism) != parameter:
        raise LanguageError(
            "parameter",
            f"not all scales are inversely proportional to {parameter}, or it is used elsewhere",
            place=mechanism.name,
            hint="output_probability, at a value of the parameter",
        )
    changed, given = check_arguments(mechanism.having(**{parameter: 1}), arguments)
    return event_probability(changed, read_pattern(event), given).text(parameter)


def privacy_loss(mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any]) -> LossWitness:
    """The event that tells two data sets apart most, with both probabilities.

    All outputs are looked at where the outputs are discrete; noisy numbers in them are looked at in half-lines and intervals.

    >>> from privproof.library.laplace.laplace_noisy_max import noisy_max
    >>> found = privacy_loss(noisy_max, {"q": [1, 1, 1, 1, 1]}, {"q": [0, 2, 2, 2, 2]})
    >>> found.output, found.loss().str(6, radius=False)
    ('0', '0.980397')
    """
    changed, one = check_arguments(mechanism, left)
    _, other = check_arguments(mechanism, right)
    for name, declared in mechanism.inputs.items():
        if declared.public and one[name] != other[name]:
            raise LanguageError("input", f"{name} is public and differs", place=name, hint="the same on both sides")
    trees = Trees(changed, Monitor())
    best: tuple[float, Loss] | None = None
    for near, far in ((one, other), (other, one)):
        for pattern, silent in words(tree(changed, near)):
            for event in events(pattern, silent):
                value = trees.ratio(near, far, event)
                if best is None or value > best[0]:
                    best = (value, trees.loss(near, far, event))
    assert best is not None
    return witnessed(best[1])


def check_arguments(mechanism: Mechanism, arguments: Mapping[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """A mechanism with the parameters among the arguments set, and its inputs; what is missing or no number is refused."""
    mechanism, given = given_inputs(mechanism, arguments)
    for name, declared in mechanism.inputs.items():
        if declared.shape != "value":
            if not isinstance(given[name], list | tuple):
                said = f"{name}={given[name]!r} is not a list"
                raise LanguageError("input", said, place=name, hint=f"{name}: {declared}")
            given[name] = list(given[name])
        for item in given[name] if declared.shape != "value" else [given[name]]:
            wrong = _wrong(item, declared)
            if wrong:
                code, hint = "input", f"{name}: {declared}"
                if isinstance(item, float):
                    code, hint = "float", f'Fraction("{item!r}")'
                raise LanguageError(code, f"{name}: {wrong}", place=name, hint=hint)
    return mechanism, given


def _wrong(item: Any, declared: Input) -> str:
    """Why something is no value of an input; empty if it is one."""
    if isinstance(item, float):
        return f"{item!r} is a float"
    if declared.within is not None and (isinstance(item, bool) or not isinstance(item, int | Fraction)):
        return f"{item!r} is no number"
    if declared.values is not None:
        return "" if item in declared.values else f"{item!r} is not a value of {declared}"
    if (declared.low is not None and rational(item) < declared.low) or (
        declared.high is not None and rational(item) > declared.high
    ):
        return f"{item} is outside {declared}"
    return "" if declared.real or item == int(item) else f"{item} is no whole number"
