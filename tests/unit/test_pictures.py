"""Pictures of verdicts: the laws behind them against definitions, what is red, and what stands in the place of laws that cannot be told."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction
from math import e
from xml.etree import ElementTree

import pytest
from flint import arb

from privproof import (
    check,
    geometric,
    integer,
    laplace,
    mechanism,
    model_check,
    privacy_profile,
    queries,
    real,
    records,
    smallest_delta,
    tight_epsilon,
    truncated_geometric,
)
from privproof.drawing.bands import Twin, band_chart, density_chart
from privproof.drawing.palette import DARK, RED
from privproof.exact import epsilon
from privproof.exact.probabilities import ball_of_probability
from privproof.library.noisy_max import noisy_max_question
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formula_pages import pictures, satisfaction_page
from privproof.profiles.output_laws import laws_of
from privproof.reporting import distribution_picture, profile_picture
from privproof.reporting.law_pictures import compared_bound
from privproof.reporting.report_registry import report_of


def laws(verdict):
    return report_of(verdict.question).laws(verdict, verdict.question)


@mechanism(epsilon="1/2")
def geometric_count(x: integer(0, 5)):
    return geometric(x, alpha="1/2")


@mechanism(epsilon="1/2")
def laplace_value(x: real()):
    return laplace(x, scale=1)


def warner(answers: records(0, 1)):
    return [a if random.random() < 0.75 else 1 - a for a in answers]


@mechanism(epsilon="ln(2)")
def noisy_counts(x: queries(0, 1)):
    for answer in x:
        yield truncated_geometric(answer, alpha="1/2", low=0, high=1)


def test_the_laws_of_a_model_are_those_of_its_emissions():
    found = laws(check("examples/models/family.yaml"))
    assert found.whole
    assert {row.text: (row.left, row.right) for row in found.rows} == {
        "0": (Fraction(2, 3), Fraction(1, 6)),
        "1": (Fraction(1, 6), Fraction(1, 6)),
        "2": (Fraction(1, 6), Fraction(2, 3)),
    }


def test_the_laws_of_a_function_are_products_of_coins():
    found = laws(check(warner, "ln(2)", size=2))
    left, right = eval(found.left.removeprefix("answers=")), eval(found.right.removeprefix("answers="))
    assert found.whole
    assert len(found.rows) == 4

    def by_hand(data, shown):
        result = Fraction(1)
        for bit, out in zip(data, shown, strict=True):
            result *= Fraction(3, 4) if bit == out else Fraction(1, 4)
        return result

    for row in found.rows:
        shown = eval(row.text)
        assert (row.left, row.right) == (by_hand(left, shown), by_hand(right, shown))


def test_unbounded_noise_is_told_from_some_number_on_as_one():
    found = laws(check(geometric_count))
    assert found.whole
    assert sum(row.left for row in found.rows) == sum(row.right for row in found.rows) == 1
    assert (found.rows[0].text[0], found.rows[-1].text[0]) == ("≤", "≥")
    x = int(found.left.removeprefix("x="))
    for row in found.rows[1:-1]:
        assert row.left == Fraction(1, 3) * Fraction(1, 2) ** abs(int(row.text) - x)


def test_the_cells_of_a_noisy_number_hold_its_distribution():
    found = laws(check(laplace_value))
    assert found.numbers
    x = Fraction(found.left.removeprefix("x="))

    def up_to(end):
        away = float(end - x)
        return e**away / 2 if away <= 0 else 1 - e**-away / 2

    for row in found.rows:
        low, high = row.ends
        expected = (1.0 if high is None else up_to(high)) - (0.0 if low is None else up_to(low))
        assert float(ball_of_probability(row.left).mid()) == pytest.approx(expected)
    assert found.rows[0].ends[0] is None
    assert all(a.ends[1] == b.ends[0] for a, b in zip(found.rows, found.rows[1:], strict=False))


def test_what_is_written_one_after_the_other_is_a_row():
    found = laws(check(noisy_counts, size=2))
    assert found.whole
    assert len(found.rows) == 4
    assert found.event in {row.text for row in found.rows}


def test_secrets_are_compared_at_the_values_of_the_witness():
    found = laws(check("examples/priors/family.py:in_the_family"))
    assert found.whole
    assert sorted((row.left, row.right) for row in found.rows) == [
        (Fraction(1, 6), Fraction(1, 6)),
        (Fraction(1, 6), Fraction(2, 3)),
        (Fraction(2, 3), Fraction(1, 6)),
    ]


def test_red_is_what_is_beyond_and_nothing_that_is_equal():
    """The truncated geometric mechanism has ratios of exactly 2 at epsilon = ln(2): not one of them is beyond."""
    proved, refuted = check("examples/models/geometric.yaml"), check("examples/models/geometric.yaml", "ln(19/10)")
    assert {row.left / row.right for row in laws(proved).rows} & {2, Fraction(1, 2)}
    assert not any(row.beyond(compared_bound(proved)) for row in laws(proved).rows)
    assert any(row.beyond(compared_bound(refuted)) for row in laws(refuted).rows)
    assert f'fill="{RED}"' not in distribution_picture(proved)
    assert f'fill="{RED}"' in distribution_picture(refuted)


def test_laws_that_are_not_those_of_the_witness_are_not_told():
    verdict = check("examples/models/family.yaml")
    right = laws(verdict)
    row = right.rows[0]
    wrong = [replace(row, left=row.right, right=row.left), *right.rows[1:]]
    short = right.rows[:2]
    for rows in (wrong, short, None):
        told = laws_of(verdict.witness, rows, "a", "b")
        assert not told.whole
        assert [each.text for each in told.rows] == [verdict.witness.seen, "anything else"]
        assert told.rows[0].left + told.rows[1].left == 1
    assert laws_of(verdict.witness, right.rows, "a", "b").whole


@pytest.mark.parametrize(
    "asked",
    [
        lambda: check("examples/models/streams/no_cutoff.yaml", "1"),
        lambda: check("examples/mechanisms/sparse_vector.py:endless"),
        lambda: tight_epsilon("examples/mechanisms/noisy_max.py:improved", size=3),
        lambda: check(laplace_value),
    ],
    ids=["stream", "words of a program", "tight", "number"],
)
def test_a_picture_is_one_element_without_scripts(asked):
    verdict = asked()
    drawn = distribution_picture(verdict)
    root = ElementTree.fromstring(drawn)
    assert root.tag.endswith("svg")
    assert not [each for each in root.iter() if each.tag.rsplit("}")[-1] in ("script", "image", "foreignObject")]
    assert distribution_picture(verdict) == drawn


def test_every_colour_of_a_picture_has_one_for_dark_pages():
    drawn = distribution_picture(check("examples/models/family.yaml"))
    used = {element.get("fill") for element in ElementTree.fromstring(drawn).iter() if element.get("fill")}
    assert used - {"none"} <= DARK.keys()
    for colour in used - {"none"}:
        assert f"light-dark({colour},{DARK[colour]})" in drawn


def test_a_proof_without_a_witness_has_no_picture():
    verdict = check(laplace_value, "1")
    assert verdict.status == "proved"
    assert (distribution_picture(verdict) is None) == (verdict.witness is None)


def test_the_curve_has_its_corners():
    profile = privacy_profile(noisy_max_question(3, improved=True))
    drawn = profile_picture(profile, claimed=epsilon("ln(2)"))
    ElementTree.fromstring(drawn)
    assert "claimed 0.6931" in drawn
    assert "delta 0 from 1.232 on" in drawn
    found = [smallest_delta(geometric_count, at) for at in ("1/4", "1/2")]
    assert profile_picture(found).startswith("<svg")


def test_many_outputs_become_few_rows_and_the_rest():
    rows = [Twin(str(i), 1 / 40, 1 / 40) for i in range(39)] + [Twin("last", 1 / 40, 0.0, beyond=True)]
    drawn = band_chart(rows, title="t", left="a", right="b", factor=2.0, shown="last")
    assert "17 others" in drawn
    assert "×∞" in drawn
    for chart in (band_chart, density_chart):
        with pytest.raises(ValueError, match="found none"):
            chart([], title="t", left="a", right="b", factor=None)


def test_a_ball_that_only_may_be_beyond_is_not_red():
    found = laws(check("examples/models/geometric.yaml")).rows[0]
    wide = replace(found, left=_wide(arb("0.5", "0.2")), right=Fraction(1, 4))
    assert not wide.beyond(epsilon("ln(2)"))
    assert wide.beyond(epsilon("ln(11/10)"))


def _wide(value):
    from privproof.exact.probabilities import Ball

    return Ball.of(value)


def test_states_where_a_formula_fails_have_a_red_border():
    """Exactly those, in reports and cards of small processes, and the legend says what the border means."""
    process = DecisionProcess.of(
        states=["s", "t", "yes", "no"],
        transitions={
            "s": {"yes": "3/4", "no": "1/4"},
            "t": {"yes": "1/4", "no": "3/4"},
            "yes": {"yes": 1},
            "no": {"no": 1},
        },
        labels={"yes": "yes"},
        neighbours=[("s", "t")],
    )
    found = model_check(process, "D[ln(2), 0](X yes)")
    (drawn,) = pictures(found)
    failing = drawn.count(f'stroke="{RED}" stroke-width="2.4"')
    assert failing == int((found.truth == 0).sum()) == 2
    assert "the formula fails" in drawn
    assert drawn in str(satisfaction_page(found, certificate=None))
    (kept,) = pictures(model_check(process, "D[ln(3), 0](X yes)"))
    assert "the formula fails" not in kept


def test_labels_keep_away_from_the_arrows_of_others():
    """Two states with three arrows each to the same three: no label lies on an arrow that is not its own."""
    rows = {s: {f"t{i}": Fraction(i + 1 + k, 6 + 3 * k) for i in range(3)} for k, s in enumerate(("a", "b"))}
    chain = DecisionProcess.of(states=["a", "b", "t0", "t1", "t2"], transitions=rows, self_loops=True)
    (drawn,) = pictures(model_check(chain, "P=? [ F t1 ]", states=["a", "b"]))
    labels = re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"[^>]*>(\d/\d+)</text>', drawn)
    curves = [[float(n) for n in re.findall(r"-?[\d.]+", d)] for d in re.findall(r'<path d="(M[^"]*C[^"]*)"', drawn)]
    curves = [curve for curve in curves if len(curve) == 8 and curve[0] != curve[6]]
    assert len(labels) == 6
    for x, y, text in labels:
        left, right = float(x) - 3 * len(text), float(x) + 3 * len(text)
        on = [
            curve
            for curve in curves
            if any(left < px < right and float(y) - 9 < py < float(y) + 2 for px, py in map(_on(curve), range(41)))
        ]
        assert len(on) <= 1


def _on(curve):
    def point(step):
        t = step / 40
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        return tuple(sum(w * curve[2 * k + axis] for k, w in enumerate(weights)) for axis in (0, 1))

    return point
