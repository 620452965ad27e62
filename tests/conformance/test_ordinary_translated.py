"""Ordinary code that is translated: its verdict is that of running it, and names stand for what they are, not what they look like."""

from __future__ import annotations

import json
import math
import random
import secrets
from pathlib import Path

import numpy as np
import pytest
from tests.certificates import recheck
from tests.conformance.ordinary.idioms import CASES, LISTED
from tests.conformance.ordinary.kept import TRAPS

from privproof import LanguageError, check, integer, mechanism, one_of, queries, real_queries, records, tight_epsilon
from privproof.compiling.posing import mechanism_of_function
from privproof_checker import Accepted

RUN = (
    *("shape_of_an_array", "exponential_mechanism_for_a_median", "histogram_with_private_keys", "zipped", "sorted_top"),
    *(
        "gaussian_noise",
        "int_enum",
        "a_set_as_output",
        "fails_on_some_data",
        "walrus_and_star",
        "statistics_and_reduce",
        "sampled_records",
    ),
)
"""The idioms that are run: quotients of data and products of private values, which are rounded or unbounded; keys from data; a kept list
of pairs; Gaussian noise; a function that fails; a record that is chosen, whose place the model chooses before it reads records, and the
checker afterwards; and what the language has no words for."""
RNG = np.random.default_rng()
BITS = records(0, 1)


def _name(function):
    return getattr(function, "__name__", type(function).__name__)


def test_every_listed_idiom_has_a_function_and_all_but_those_that_are_only_run_are_translated():
    assert sorted(LISTED) == list(range(1, 31))
    assert {number for number, names in LISTED.items() if set(names) <= set(RUN)} == {12, 25, 26}


@pytest.mark.parametrize("case", [case for case in CASES if _name(case[0]) not in RUN], ids=lambda case: _name(case[0]))
def test_an_idiom_is_decided_by_its_translation(case):
    function, inputs, claimed, size, status = case
    verdict = check(function, claimed, size=size, inputs=inputs)
    assert (verdict.status, verdict.engine != "runs") == (status, True)
    assert isinstance(recheck(json.loads(json.dumps(verdict.certificate))), Accepted)
    assert any("ideal distributions" in note for note in verdict.notes)


@pytest.mark.parametrize("case", TRAPS, ids=lambda case: case[0].__name__)
def test_what_is_kept_is_what_it_is_when_it_is_read(case):
    function, inputs, claimed, size, status = case
    assert check(function, claimed, size=size, inputs=inputs).status == status


def noise_by_keywords(data, eps=0.5):
    scale = 1 / eps
    return sum(data) + RNG.laplace(loc=0, scale=scale)


def noise_around_a_value(data):
    return np.random.laplace(sum(data), 2)


def noisy_largest(data):
    noisy = [x + np.random.exponential(2.0) for x in data]
    return int(np.argmax(noisy))


def number_or_nothing(data):
    shown = []
    for x in data:
        noisy = x + np.random.laplace(0, 1)
        shown.append(noisy if noisy > 1 else None)
    return shown


def word_by_the_data(data):
    shown = []
    for x in data:
        noisy = x + np.random.laplace(0, 1)
        shown.append("low" if x < 1 else noisy)
    return shown


def noise_times_data(data):
    noisy = sum(data) + np.random.laplace(0, 1)
    return noisy * sum(data)


def half_of_a_largest(data):
    best = 0
    for x in data:
        best = max(best, x + np.random.laplace(0, 2))
    return best / 2


@pytest.mark.parametrize(
    ("function", "declared", "claimed", "status"),
    [
        (number_or_nothing, BITS, 1, "proved"),
        (word_by_the_data, BITS, 9, "refuted"),
        (noise_times_data, BITS, 9, "refuted"),
        (half_of_a_largest, BITS, "1/2", "proved"),
        (half_of_a_largest, BITS, "1/3", "refuted"),
        (noise_by_keywords, BITS, "1/2", "proved"),
        (noise_by_keywords, BITS, "1/4", "refuted"),
        (noise_around_a_value, BITS, "1/2", "proved"),
        (noise_around_a_value, real_queries(size=1), "1/2", "proved"),
        (noisy_largest, real_queries(), 1, "proved"),
    ],
)
def test_noise_of_libraries_is_decided_for_every_size(function, declared, claimed, status):
    verdict = check(function, claimed, data=declared)
    assert (verdict.status, verdict.engine) == (status, "laplace")


def only_noise_ends_it(bit):
    while True:
        if random.random() < 0.5:
            return bit if random.random() < 0.75 else 1 - bit


def test_a_loop_that_only_noise_ends_is_decided_and_run_as_far_as_it_is_likely():
    verdict = tight_epsilon(only_noise_ends_it, bit=one_of(0, 1))
    assert (str(verdict.tight), verdict.engine) == ("ln(3)", "table")
    assert sum("99.9 %" in note for note in verdict.notes) == 2


def shown(value):
    return value + np.random.laplace(0, 1)


def test_records_beside_noise_keep_their_neighbours():
    """A relation of the user's own stays it: of the values 0, 1, 2 only neighbours in it are compared."""
    close = mechanism(shown, inputs={"value": one_of(0, 1, 2)}, neighbours=lambda left, right: abs(left - right) <= 1)
    assert check(close, 1).status == "proved"
    anything = mechanism(shown, inputs={"value": one_of(0, 1, 2)})
    assert check(anything, 1).status == "refuted"
    found = check(anything, 2)
    assert (found.status, found.engine) == ("proved", "laplace")
    each = mechanism(noise_around_a_value, inputs={"data": BITS}, neighbours="each")
    assert check(each, "1/2", size=2).status == "refuted"
    assert check(each, 1, size=2).status == "proved"


# --------------------------------------------------------------------------------------------------------------- names


class Loaded(random.Random):
    def random(self):
        return 0.0


LOADED = Loaded()


def by_a_subclass(bit):
    return bit if LOADED.random() < 0.5 else 1 - bit


def by_a_module(bit):
    return bit if random.random() < 0.75 else 1 - bit


def below(bit):
    return bit if secrets.randbelow(4) else 1 - bit


def translated(function):
    return mechanism_of_function(function, {"bit": one_of(0, 1)}).translated


def test_a_subclass_of_a_generator_is_no_library():
    with pytest.raises(LanguageError):
        translated(by_a_subclass)


@pytest.mark.parametrize(
    ("function", "module", "name"), [(by_a_module, random, "random"), (below, secrets, "randbelow")]
)
def test_a_function_that_was_put_in_place_of_a_library_is_none(function, module, name, monkeypatch):
    assert translated(function).ordinary
    made = mechanism_of_function(function, {"bit": one_of(0, 1)})
    before = made.program
    monkeypatch.setattr(module, name, lambda *_: 0)
    with pytest.raises(LanguageError):
        translated(function)
    with pytest.raises(LanguageError):
        assert not made.program.same(before)


def test_a_method_that_was_replaced_in_its_class_is_no_library(monkeypatch):
    def choosing(bit):
        return random.choice((bit, 1))

    assert translated(choosing).ordinary
    monkeypatch.setattr(random.Random, "choice", lambda self, values: values[0])
    with pytest.raises(LanguageError):
        translated(choosing)


class Scaled:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def count(self, data):
        return sum(data) + np.random.laplace(scale=1 / self.epsilon)

    @property
    def half(self):
        return self.epsilon / 2

    def computed(self, data):
        return sum(data) + np.random.laplace(scale=1 / self.half)


def test_a_method_reads_the_attributes_that_its_object_has_now():
    scaled = Scaled(0.5)
    assert check(scaled.count, "1/2", data=queries(0, 1), size=1).status == "proved"
    scaled.epsilon = 1.0
    assert check(scaled.count, "1/2", data=queries(0, 1), size=1).status == "refuted"
    with pytest.raises(LanguageError):
        mechanism_of_function(Scaled(1.0).computed, {"data": BITS}).translated  # noqa: B018


def test_a_refusal_names_the_line_of_the_users_file():
    def several(n):
        return secrets.randbelow(n + 1, 2)

    with pytest.raises(LanguageError) as caught:
        mechanism_of_function(several, {"n": integer(0, 1)}).translated  # noqa: B018
    assert Path(__file__).name in str(caught.value.place)
    assert caught.value.hint


# --------------------------------------------------------------------------------------------------------------- hints


def by_hand(data, scale=1.0):
    u = random.random() - 0.5
    return sum(data) - scale * np.sign(u) * math.log(1 - 2 * abs(u))


def by_the_library(data, scale=1.0):
    return sum(data) + np.random.laplace(0, scale)


def mean(data):
    return sum(data) / len(data) + np.random.laplace(0, 1 / 3)


def mean_of_what_is_released(data):
    return (sum(data) + np.random.laplace(0, 1)) / len(data)


@pytest.mark.parametrize(
    ("refused", "hint", "rewritten"),
    [
        (by_hand, "np.random.laplace(0, scale)", by_the_library),
        (mean, "(sum(xs) + noise) / len(xs)", mean_of_what_is_released),
    ],
    ids=["noise by hand", "a mean"],
)
def test_what_a_hint_says_is_proved_for_every_length(refused, hint, rewritten):
    with pytest.raises(LanguageError) as caught:
        mechanism_of_function(refused, {"data": BITS}).translated  # noqa: B018
    assert hint in str(caught.value.hint)
    verdict = check(rewritten, 1, data=BITS)
    assert (verdict.status, verdict.engine) == ("proved", "laplace")


def shows_the_data_in_a_text(data):
    noisy = data[0] + np.random.laplace(0, 1)
    return f"{noisy:.2f} {data[0]}"


def test_what_is_made_of_released_numbers_and_not_proved_is_unknown():
    verdict = check(shows_the_data_in_a_text, 1, data=real_queries(size=1))
    assert verdict.status == "unknown"
    assert "violations are not looked for" in verdict.reason
