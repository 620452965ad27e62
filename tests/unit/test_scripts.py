"""Runs under control: any Python function, all its random choices, noise listed or left open."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from privproof.errors import LanguageError
from privproof.exact import rational
from privproof.language.laws import Continuous, TableLaw
from privproof.language.noise import bernoulli, choice, exponential, geometric, laplace, uniform
from privproof.language.scripts import Draw, GivenUp, Runs, record_run, weighted_results


class Urn:
    """State, exceptions, dictionaries: nothing that the translated language knows."""

    def __init__(self, balls: dict[str, int]) -> None:
        self.balls = dict(balls)

    def take(self) -> str:
        names = sorted(name for name, count in self.balls.items() for _ in range(count))
        if not names:
            raise IndexError("empty")
        drawn = names[uniform(0, len(names) - 1)]
        self.balls[drawn] -= 1
        return drawn


def two_balls() -> str:
    urn = Urn({"red": 2, "blue": 1})
    try:
        return f"{urn.take()} {urn.take()}"
    except IndexError:
        return "empty"


@pytest.mark.parametrize("order", ["likeliest", "first", Random(3)], ids=["likeliest", "first", "any"])
def test_every_choice_of_any_function_is_made_once(order):
    totals: dict[str, object] = {}
    for run in Runs(two_balls, order=order):
        assert run.ended
        assert not run.endless
        totals[run.result] = totals.get(run.result, 0) + run.probability
    assert totals == {"red red": rational("1/3"), "red blue": rational("1/3"), "blue red": rational("1/3")}


def test_what_is_waiting_is_counted():
    runs = Runs(lambda: [bernoulli("1/2") for _ in range(3)], order="first")
    seen = [(run.result, runs.waiting) for run in runs]
    assert (seen[0][1], seen[-1][1]) == (3, 0)
    assert len({tuple(result) for result, _ in seen}) == 8


def test_geometric_noise_is_listed_until_enough():
    found, left_over = weighted_results(lambda: geometric(5, alpha="1/2"), enough=Fraction(1, 100))
    assert found[:3] == [(5, Fraction(1, 3)), (6, Fraction(1, 6)), (4, Fraction(1, 6))]
    assert 0 < left_over <= Fraction(1, 100)
    assert sum(p for _, p in found) + left_over == 1


def test_a_run_that_never_ends_is_given_up_and_the_others_are_made():
    def first_head() -> int:
        count = 0
        while not bernoulli("1/4"):
            count += 1
        return count

    found, left_over = weighted_results(first_head, most=50)
    assert dict(found)[0] == Fraction(1, 4)
    assert dict(found)[3] == Fraction(27, 256)
    assert left_over > 0
    assert not next(Runs(first_head)).ended


def test_open_noise_is_a_form_and_comparisons_go_both_ways():
    def call() -> tuple[str, object]:
        x = laplace(Fraction(1, 2), scale=2)
        wait = exponential(0, scale=1)
        assert wait >= 0  # settled: exponential noise is not negative
        return ("up" if x > 3 else "down"), {"noise": x + 2 * wait}

    runs = list(Runs(call, order="first", open_noise=True))
    assert [run.result[0] for run in runs] == ["up", "down"]
    assert [[noise.kind for noise in run.noises] for run in runs] == [["laplace", "exponential"]] * 2
    assert not any(isinstance(step, Draw) for run in runs for step in run.steps)
    assert str(runs[0].steps[0].halfspace) == "x0 - 5/2"
    assert str(runs[0].result[1]["noise"]) == "x0 + 2*x1 + 1/2"


def test_discrete_noise_is_listed_beside_open_noise():
    runs = list(Runs(lambda: laplace(choice({1: "1/3", 2: "2/3"}), scale=1) > 0, order="first", open_noise=True))
    assert [(run.probability, run.result) for run in runs] == [
        (rational("2/3"), True),
        (rational("1/3"), True),
        (rational("1/3"), False),
        (rational("2/3"), False),
    ]


def test_continuous_noise_cannot_be_listed():
    with pytest.raises(LanguageError, match="laplace noise is continuous: its runs cannot be listed"):
        next(Runs(lambda: laplace(0, scale=1)))


def test_a_run_on_noise_that_is_handed_to_it():
    result, drawn = record_run(
        lambda: laplace(3, scale=2) if bernoulli("1/2") else None,
        lambda law: True if isinstance(law, TableLaw) else law.center + 7,
    )
    assert result == 10
    assert [(type(law), value) for law, value in drawn] == [(TableLaw, True), (Continuous, 10)]
    with pytest.raises(GivenUp):
        record_run(lambda: [bernoulli("1/2") for _ in range(5)], lambda _: True, most=4)
