"""Noise that is drawn for every record, where a record is added or removed: it is a part of the record, and may be anything."""

from __future__ import annotations

import copy
from fractions import Fraction
from math import exp, log
from random import Random

import pytest
from tests.amounts import patience, selected
from tests.certificates import nested, recheck
from tests.corpus import programs
from tests.laplace_programs import load

from privproof import check, laplace, mechanism, output_probability, records, tight_epsilon
from privproof_checker import Accepted, Rejected

PROVED, NOT_PROVED = (
    [each for each in programs("continuous", "noisy_records") if each.expected == word]
    for word in ("proved", "not proved")
)


@pytest.mark.parametrize("program", selected(PROVED, 4), ids=str)
def test_what_any_noise_of_one_record_can_do_is_proved(tmp_path, program):
    function = load(tmp_path, program)
    assert check(function, 1).status == "proved"
    assert check(function, "1/4", time_limit=patience(4)).status != "proved"


@pytest.mark.parametrize("program", selected(NOT_PROVED, 5), ids=str)
def test_what_it_can_not_is_not_proved(tmp_path, program):
    assert check(load(tmp_path, program), 1, time_limit=patience(6)).status != "proved"


@mechanism(neighbours="add-remove")
def counted(q: records(0, 1)):
    count = 0
    for x in q:
        if laplace(x, scale=1) > 0:
            count += 1
    return laplace(count, scale=2)


def test_the_smallest_epsilon_is_bounded_by_the_worst_noise():
    verdict = tight_epsilon(counted)
    yes = 1 - exp(-1) / 2  # that the noisy record is above 0, for the record 1
    assert str(verdict.upper) == "1/2"
    assert float(verdict.lower.enclosure()[0]) <= 1 - yes + yes * exp(1 / 2) + 1e-9
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


def test_the_checker_takes_noise_of_records_for_any_numbers():
    certificate = nested(check(counted, "1/2").certificate)
    assert certificate["evidence"]["method"] == "alignment"
    assert certificate["question"]["coins"] == {"q": {"noise 1": {"sort": "real"}}}
    assert isinstance(recheck(certificate), Accepted)
    for said in (
        {},
        {"noise 1": {"sort": "bool"}},
        {"noise 1": {"sort": "real", "laws": [[["0", "1"]]]}},
        {"value": {"sort": "real"}},
    ):
        made = copy.deepcopy(certificate)
        made["question"]["coins"] = {"q": said}
        assert isinstance(recheck(made), Rejected)
    for relation in ("each", "monotone"):
        made = copy.deepcopy(certificate)
        made["question"]["relation"] = relation
        assert isinstance(recheck(made), Rejected)


def test_noise_that_a_shift_would_have_to_undo_is_not_taken_for_a_constant():
    certificate = copy.deepcopy(nested(check(counted, "1/2").certificate))
    added = next(step for step in certificate["question"]["code"] if step[0] == "assign" and step[2][0] == "total")
    added[2][2] = ["record", "q", "noise 1"]  # the noise itself is added up
    certificate["question"]["sorts"] |= {added[1]: "real"}
    assert isinstance(recheck(certificate), Rejected)


def _written(seed: int) -> tuple[str, list[tuple[Fraction, Fraction, Fraction, Fraction]], Fraction]:
    """A program that counts records by noisy tests: for every draw its scale, its threshold and what both sides add; the last scale."""
    dice = Random(seed)
    rows, lines = [], []
    sign = dice.choice((1, -1))  # what records add has one sign: otherwise the loss is not largest in the tails
    for number in range(dice.randint(1, 2)):
        scale, level = Fraction(dice.choice((1, 2))), Fraction(dice.randint(-2, 4), 2)
        above, below = (sign * Fraction(dice.randint(0, 2), 2) for _ in range(2))
        rows.append((scale, level, above, below))
        draw = dice.choice((f"laplace(x, scale={scale})", f"x + laplace(0, scale={scale})"))
        shown = [f"Fraction({value.numerator}, {value.denominator})" for value in (above, below, level)]
        if dice.random() < 0.5:
            lines.append(f"        total += {shown[0]} if {draw} > {shown[2]} else {shown[1]}")
        else:
            lines += [
                f"        y{number} = {draw}",
                f"        if y{number} > {shown[2]}:",
                f"            total += {shown[0]}",
            ]
            lines += ["        else:", f"            total += {shown[1]}"]
    last = Fraction(dice.choice((1, 2, 4)))
    head = [
        "from fractions import Fraction",
        '@mechanism(neighbours="add-remove")',
        "def m(q: records(0, 1)):",
        "    total = 0",
    ]
    text = [*head, "    for x in q:", *lines, f"    return laplace(total, scale={last})", ""]
    return "\n".join(text), rows, last


def _loss(rows: list[tuple[Fraction, Fraction, Fraction, Fraction]], last: Fraction) -> float:
    """The loss, of every length: that of one more record in the tails, where Laplace noise turns sums into products."""
    worst = 0.0
    for record in (0, 1):
        for sign in (1, -1):
            factor = 1.0
            for scale, level, above, below in rows:
                far = float((level - record) / scale)
                yes = exp(-far) / 2 if far >= 0 else 1 - exp(far) / 2
                factor *= yes * exp(sign * above / last) + (1 - yes) * exp(sign * below / last)
            worst = max(worst, abs(log(factor)))
    return worst


@pytest.mark.parametrize("seed", selected(range(96), 2))
def test_random_counts_against_the_loss_in_the_tails(tmp_path, seed):
    text, rows, last = _written(seed)
    function = load(tmp_path, text)
    any_noise = sum((max(abs(above), abs(below)) for _, _, above, below in rows), Fraction(0)) / last
    truth = _loss(rows, last)
    assert truth <= any_noise + 1e-12
    assert check(function, str(any_noise)).status == "proved", text
    below = Fraction(int(truth * 24), 24) - Fraction(1, 48)
    if below > 0:
        assert check(function, str(below), time_limit=patience(4)).status != "proved", text
    between = Fraction(int(truth * 24) + 1, 24)
    if between < any_noise and seed % 4 == 0:
        assert check(function, str(between), time_limit=patience(4)).status != "refuted", text
    for data in ([], [0], [1], [0, 1]) if seed % 3 == 0 else ():
        for more in (0, 1):  # the formula, against the exact probabilities of the function
            balls = [output_probability(function, "≥3", q=q).ball(1) for q in (data, [*data, more])]
            one, other = (float(ball.mid()) for ball in balls)
            assert abs(log(one / other)) <= truth + 1e-9


@mechanism(neighbours="add-remove")
def kept_in_a_list(q: records(0, 1)):
    kept = [laplace(x, scale=1) for x in q]
    return laplace(len([y for y in kept if y > 1]), scale=1)


def test_the_explanation_has_no_name_that_the_translation_made_up():
    told = str(check(kept_in_a_list, 1))
    assert "add -d(count) to laplace(count, scale=1)" in told
    assert "#" not in told
