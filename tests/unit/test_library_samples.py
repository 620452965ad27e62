"""Every mechanism of the library, run very often: the outputs have the exact distribution."""

from __future__ import annotations

import pytest
from scipy.stats import chisquare

from privproof import Mechanism, output_distribution, sample
from privproof.library import mechanisms

LIBRARY = {name: value for name, value in vars(mechanisms).items() if isinstance(value, Mechanism)}
SIZE = 4


def arguments(mechanism: Mechanism, shift: int) -> dict[str, object]:
    """Some inputs of the mechanism, others for every shift."""
    result: dict[str, object] = {}
    for number, (name, declared) in enumerate(mechanism.inputs.items()):
        values = declared.values
        chosen = [values[(i * 2 + shift + number) % len(values)] for i in range(SIZE)]
        result[name] = chosen[0] if declared.shape == "value" else chosen
    return result


def matching(key: object, text: str) -> bool:
    """Whether an output, as it prints, belongs to a key of an output distribution."""
    if isinstance(key, str) and key[:1] in ("≥", "≤"):
        return (int(text) >= int(key[1:])) if key[0] == "≥" else (int(text) <= int(key[1:]))
    if isinstance(key, tuple):
        return text in (repr(key), repr(list(key)))
    return text == repr(key)


def p_value(mechanism: Mechanism, shift: int, count: int) -> float:
    given = arguments(mechanism, shift)
    expected = output_distribution(mechanism, **given)
    seen = dict.fromkeys(expected, 0)
    for text, number in sample(mechanism, given, count, seed=1 + shift).counts().items():
        (key,) = [key for key in expected if matching(key, text)]
        seen[key] += number
    if len(expected) == 1:
        return 1.0
    return chisquare(list(seen.values()), [float(p) * count for p in expected.values()]).pvalue


@pytest.mark.parametrize("name", LIBRARY)
def test_samples_have_the_exact_distribution(name):
    assert p_value(LIBRARY[name], 0, 100_000) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_million_samples_have_the_exact_distribution(name, shift):
    assert p_value(LIBRARY[name], shift, 1_000_000) > 1e-4
