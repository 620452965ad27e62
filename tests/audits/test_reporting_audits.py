"""How audits are shown: what runs say and what is exact never mix, and every corner can be printed, stored and drawn."""

import io
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from math import exp, inf, log

import pytest
from rich.console import Console

from privproof.audits.audit_data import audit_data
from privproof.audits.audit_findings import Audit, CertifiedCandidate
from privproof.audits.audit_pages import audit_page, histogram_chart, p_value_chart
from privproof.audits.audit_request import audit
from privproof.audits.audit_texts import (
    audit_sentence,
    digits_down,
    loss_words,
    percent,
    print_audit,
    probability_words,
    up,
)
from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.claim_tests import EventCount, Histogram
from privproof.audits.sampling.output_events import OneOf
from privproof.exact import Budget, epsilon
from privproof.exact.exponentials import ExponentialSum
from privproof.library import mechanisms
from privproof.library.laplace import laplace_noisy_max as noisy_max

PAIR = Adjacent({"q": [0, Fraction(1, 2)]}, {"q": [1, 0]})
COUNT = EventCount(PAIR, OneOf((1,)), 400, 100, 1000)


def made(**changes):
    """An audit by hand: nothing exact is known, and the runs speak against the claim."""
    usual = Audit(
        subject="made",
        budget=Budget.of("1"),
        confidence=Fraction(19, 20),
        epsilon=1.12349,
        delta=0.0,
        count=COUNT,
        delta_count=COUNT,
        tests=(COUNT,),
        p_value=1.21e-9,
        curve=((0.0, 0.0), (1.0, 1.21e-9), (1.5, 1.0)),
        bracket=(1.12349, 1.3861),
        histogram=Histogram((("1", 400, 100), ("2", 600, 900)), 1000),
        candidates=(),
        verdict=None,
        tight=None,
        by_size={2: 1.3},
        pairs=3,
        runs=4000,
        samples=1000,
        seed=7,
        repeatable=True,
        seconds={"search": 0.5, "test": 0.25, "exact": 0.0},
        notes=(),
    )
    return replace(usual, **changes)


def candidate(judgement="real", p=Fraction(2, 5), q=Fraction(1, 10), loss="ln(4)", event=1):
    return CertifiedCandidate(PAIR.left, PAIR.right, OneOf((event,)), OneOf((event,)), p, q, epsilon(loss), judgement)


def printed(found, command=None):
    lines = io.StringIO()
    print_audit(Console(file=lines, width=100), found, command=command)
    return lines.getvalue()


def stored(found):
    """The data, after it went through JSON."""
    return json.loads(json.dumps(audit_data(found), allow_nan=False))


class Tags(HTMLParser):
    """Opens and closes the tags of a page."""

    def __init__(self):
        super().__init__()
        self.seen, self.open = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked_page(found, command=None):
    page = str(audit_page(found, command=command))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not {"script", "b", "link", "img"} & tags.seen
    for chart in page.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + chart.partition("</svg>")[0] + "</svg>")
    return page


@pytest.fixture(scope="module")
def refuted():
    return audit(mechanisms.improved_noisy_max, "1", size=3, samples=20_000)


@pytest.fixture(scope="module")
def proved():
    return audit(mechanisms.improved_noisy_max, size=3, samples=2_000)


@pytest.fixture(scope="module")
def growing():
    return audit(mechanisms.discrete_above_threshold, size=[2, 3], samples=2_000)


@pytest.fixture(scope="module")
def unknown():
    return audit(noisy_max.noisy_max, size=5, samples=2_000, exact=False)


# ----------------------------------------------------------------------------------------------------------- real audits


def test_a_real_violation_is_confirmed(refuted):
    text = printed(refuted, "privproof audit file.py:improved")
    assert text.startswith(
        "✗ refuted  improved_noisy_max (3 queries) is not 1-private: sampling found a violation, and its"
    )
    assert "with 95 % confidence epsilon is at least 1." in text
    assert "(claimed: 1)" in text
    assert "real: breaks it" in text
    assert "tight epsilon  ln(24/7) ≈ 1.23214" in text
    assert "repeat         privproof audit file.py:improved --seed 0" in text
    assert len(text.splitlines()) <= 30


def test_a_violation_as_data(refuted):
    found = stored(refuted)
    assert (found["verdict"], found["engine"]) == ("refuted", "sampling + tensors")
    assert found["question"] == {
        "mechanism": "improved_noisy_max",
        "subject": "improved_noisy_max",
        "epsilon": "1",
        "delta": "0",
    }
    assert found["tight"]["exact"] == "ln(24/7)"
    witness = found["witness"]
    assert Fraction(witness["ratio"]) == Fraction(witness["left_probability"]) / Fraction(witness["right_probability"])
    assert Fraction(witness["ratio"]) == refuted.real.loss.bound
    assert found["certificate"] is None
    details = found["audit"]
    assert details["epsilon_at_least"] == refuted.epsilon
    assert details["confidence"] == "19/20"
    assert details["violated"] is True
    assert details["left"] == dict(refuted.count.pair.left)
    assert (details["left_count"], details["right_count"]) == (refuted.count.left, refuted.count.right)
    assert len(details["candidates"]) == len(refuted.candidates)
    assert details["curve"] == [list(point) for point in refuted.curve]


def test_a_proof_rests_on_the_engine(proved):
    text = printed(proved)
    assert text.startswith(
        "✓ proved  improved_noisy_max (3 queries) is ln(24/7)-private: the runs do not speak against it, and"
    )
    assert "and the exact engine proves it" in text.splitlines()[0]
    assert stored(proved)["witness"] is None


def test_a_ratio_that_grows_is_told(growing):
    text = printed(growing)
    assert text.startswith(
        "✗ refuted  discrete_above_threshold is not ln(16)-private: the runs do not speak against it, but"
    )
    assert "as often as you like: each time the ratio grows at least by the factor" in text
    assert "none: the ratio grows without bound" in text
    assert "ratio: 32, beyond e^epsilon = 16" in text
    found = stored(growing)
    assert found["tight"]["exact"] == "inf"
    assert found["growth"]["factor"] == "2"
    assert found["witness"]["ratio"] == "32"


def test_runs_alone_prove_nothing(unknown):
    text = printed(unknown)
    assert text.startswith(
        "? unknown  noisy_max (size 5): not known whether it is 1-private: the runs do not speak against"
    )
    assert " is 1-private" not in text.replace("whether it is 1-private", "")
    assert "proved" not in text
    assert "nothing above is certain" in text
    found = stored(unknown)
    assert found["verdict"] == "unknown"
    assert found["engine"] == "sampling"
    assert found["tight"] == {"ratio": None, "epsilon": None, "exact": None, "lower": "0", "upper": "inf"}


@pytest.mark.parametrize("name", ["refuted", "proved", "growing", "unknown"])
def test_pages_are_whole(name, request):
    found = request.getfixturevalue(name)
    page = checked_page(found, "privproof audit file.py:name --seed 0")
    assert page.count("<svg") == 2
    assert "claimed" in page
    assert "p = 0.05" in page
    assert page.count("privproof audit file.py:name --seed 0") >= 1
    assert audit_page(found) == audit_page(found)


# --------------------------------------------------------------------------------------------------------------- corners


def test_runs_against_a_claim_are_no_refutation():
    sentence = audit_sentence(made())
    assert sentence == (
        "made (size 2): with 95 % confidence epsilon is at least 1.123 (claimed: 1): the runs speak against the claim "
        "(p = 1.3e-9), but no exact engine decides it"
    )
    assert printed(made()).startswith("? unknown  ")


def test_a_real_candidate_without_an_engine_is_shown_and_is_no_verdict():
    found = made(candidates=(candidate("spurious", q=Fraction(1, 5), loss="ln(2)"), candidate()))
    assert audit_sentence(found).startswith(
        "made (size 2) seems not to be 1-private: sampling found a violation, and its"
    )
    assert audit_sentence(found).endswith("but no certificate shows it, so there is no verdict")
    text = printed(found)
    assert text.index("real: breaks it") < text.index("spurious: keeps it")
    assert "q=[0, 1/2] against q=[1, 0]" in text
    data = stored(found)
    assert data["verdict"] == "unknown"
    assert data["witness"]["left"] == {"q": [0, "1/2"]}
    assert data["witness"]["left_python"] == "q=[0, Fraction(1, 2)]"
    assert data["witness"]["output"] == ["1"]
    assert data["witness"]["ratio"] == "4"
    assert data["tight"]["lower"].startswith("1.386294")
    assert data["tight"]["upper"] == "inf"


def test_a_real_candidate_although_the_runs_are_silent():
    sentence = audit_sentence(made(p_value=0.7, epsilon=0.9, candidates=(candidate(),)))
    assert (
        "the runs alone do not show it, but the exact probabilities of an event that sampling proposed do" in sentence
    )


def test_an_event_that_is_impossible_on_the_right():
    count = replace(COUNT, right=0)
    real = candidate(q=Fraction(0), loss="inf")
    found = made(count=count, tests=(count,), bracket=(3.5, inf), candidates=(real, candidate()))
    text = printed(found)
    assert "in 0 of 1,000 runs (0 %)" in text
    assert "counts alone cannot tell" in text
    assert "are in doubt about every other" in text
    assert "real: breaks it  infinite" in text
    data = stored(found)
    assert data["audit"]["bracket"] == [3.5, None]
    assert data["audit"]["tests"][0]["estimate"] == "inf"
    assert data["witness"]["ratio"] == "inf"
    assert (data["tight"]["lower"], data["tight"]["exact"]) == ("inf", "inf")
    checked_page(found)


def test_an_event_that_never_occurs_at_all():
    count = replace(COUNT, left=0, right=0)
    found = made(count=count, tests=(count,), epsilon=0.0, bracket=(0.0, 0.0), p_value=1.0)
    assert "the runs reject no epsilon" in printed(found)
    assert stored(found)["audit"]["tests"][0]["estimate"] == "-inf"


def test_exponential_sums():
    p, q = ExponentialSum.term("1/32", 0, "-55/32"), ExponentialSum.term("1/32", 0, "-115/32")
    found = made(candidates=(candidate(p=p, q=q, loss="1874999999999/1000000000000"),))
    assert "≈ 1.874999  ≈ 0.00560282" in printed(found)
    witness = stored(found)["witness"]
    assert witness["left_probability"] == "1/32*e^(-55/32)"
    low, high = map(Fraction, witness["ratio"])
    assert low < high
    assert float(low) == pytest.approx(exp(15 / 8))
    impossible = made(candidates=(candidate(p=p, q=ExponentialSum(), loss="inf"),))
    assert stored(impossible)["witness"]["ratio"] == "inf"
    never = made(candidates=(candidate("spurious", p=ExponentialSum(), q=q, loss="0"),))
    assert stored(never)["audit"]["candidates"][0]["ratio"] == "0"


def test_nothing_claimed():
    found = made(budget=None, delta=None, delta_count=None, p_value=None, candidates=(candidate("exact"),))
    assert audit_sentence(found).endswith("no claim was tested, and its exact value is not known")
    text = printed(found)
    assert text.startswith("? unknown  ")
    assert "claimed" not in text
    assert "p =" not in text
    data = stored(found)
    assert data["question"]["epsilon"] is None
    assert data["question"]["delta"] is None
    assert data["audit"]["p_value"] is None
    assert data["audit"]["violated"] is False
    assert data["witness"] is None
    assert "claimed" not in checked_page(found)


def test_nothing_claimed_but_computed(proved):
    found = replace(proved, budget=None, verdict=None, delta=None, p_value=None)
    text = printed(found)
    assert text.startswith(
        "= computed  improved_noisy_max (3 queries): the tight epsilon is ln(24/7) ≈ 1.23214, exactly; by"
    )
    assert stored(found)["verdict"] == "proved"
    checked_page(found)


def test_a_proof_that_runs_contradict_says_so(proved):
    sentence = audit_sentence(replace(proved, p_value=1e-30))
    assert "the runs speak against it (p = 1e-30), which is chance, or they are runs of something else" in sentence


def test_delta():
    found = made(budget=Budget.of("1", "1/100"), delta=0.12345, candidates=(candidate(),))
    text = printed(found)
    assert "seems not to be (1, 1/100)-private" in text
    assert "epsilon is at least 1.123 at delta = 1/100 (claimed: 1)" in text
    assert "delta is at least 0.1234 at epsilon = 1\n" in text
    elsewhere = made(delta=0.1, delta_count=replace(COUNT, event=OneOf((2,))))
    assert "the output is 2: in 400 runs on the left, 100 on the right" in printed(elsewhere)
    assert stored(found)["question"]["delta"] == "1/100"
    assert stored(found)["tight"]["lower"] == "0"


def test_an_infinite_claim():
    found = made(budget=Budget.of("inf", "1/100"), p_value=1.0)
    assert "(claimed: inf)" in printed(found)
    assert stored(found)["question"]["epsilon"] == "inf"
    checked_page(found)


def test_nothing_tested():
    found = made(count=None, delta_count=None, tests=(), curve=(), histogram=None, epsilon=0.0, p_value=1.0)
    assert "none was tested" in printed(found)
    assert stored(found)["audit"]["left"] is None
    assert "<svg" not in checked_page(found)
    with pytest.raises(ValueError, match="found none in the audit of made"):
        histogram_chart(found)


def test_what_cannot_be_repeated():
    found = made(repeatable=False)
    assert "no seed decides" in printed(found)
    assert "draws other runs" in printed(found, "privproof audit file.py:f")
    assert "--seed" not in printed(found, "privproof audit file.py:f")
    assert stored(found)["audit"]["repeatable"] is False
    assert "with seed=7" in printed(made())
    assert "--seed 8" not in printed(made(), "privproof audit file.py:f --seed 7")


def test_several_lengths():
    found = made(by_size={2: 1.3, 3: inf})
    assert audit_sentence(found).startswith("made: ")
    assert "1.3 at 2, infinite at 3" in printed(found)
    assert stored(found)["audit"]["by_size"] == {"2": 1.3, "3": "inf"}


def test_everything_is_escaped():
    evil = "</pre><script>alert('&\"')</script>"
    pair = Adjacent({"q": [evil]}, {"q": ["<b>"]})
    count = EventCount(pair, OneOf((evil,)), 400, 100, 1000)
    real = replace(candidate(event=evil), left=pair.left, right=pair.right)
    found = made(
        subject=evil,
        count=count,
        delta_count=count,
        tests=(count,),
        histogram=Histogram(((evil, 400, 100), ("<b>", 600, 900)), 1000),
        candidates=(real,),
        notes=(evil,),
    )
    assert "<script" not in checked_page(found, command=f"privproof audit {evil}")
    assert evil in printed(found)


def test_long_data_stay_short_on_a_terminal_and_whole_as_data():
    pair = Adjacent({"q": list(range(500))}, {"q": [object]})
    count = replace(COUNT, pair=pair, event=OneOf(("x" * 1000,)))
    found = made(count=count, tests=(count,))
    assert max(map(len, printed(found).splitlines())) < 250
    assert stored(found)["audit"]["left"] == {"q": list(range(500))}
    assert stored(found)["audit"]["right"] == {"q": ["<class 'object'>"]}


def test_numbers_that_json_lacks():
    count = replace(COUNT, pair=Adjacent({"x": inf, "y": (float("nan"), True)}, {"x": -inf, "y": {"z": None}}))
    details = stored(made(count=count))["audit"]
    assert details["left"] == {"x": "inf", "y": [None, True]}
    assert details["right"] == {"x": "-inf", "y": {"z": None}}


def test_at_most_five_candidates_are_listed():
    found = made(candidates=tuple(candidate(event=k) for k in range(8)))
    assert printed(found).count("real: breaks it") == 5
    assert "and 3 more" in printed(found)
    assert len(stored(found)["audit"]["candidates"]) == 8


def test_on_a_terminal_too():
    lines = io.StringIO()
    print_audit(Console(file=lines, width=100, force_terminal=True), made(candidates=(candidate(),)), command=None)
    assert "with 95 % confidence" in lines.getvalue()


# ------------------------------------------------------------------------------------------------------ numbers and charts


def test_bounds_are_rounded_to_the_safe_side():
    for value in (1.2345678, 0.99999, 1e-7, 123456.7, 2.0):
        assert float(digits_down(value)) <= value <= float(up(value))
    assert (up(0.05), up(1e-30), up(0.0501)) == ("0.05", "1e-30", "0.051")
    assert (digits_down(1e-7 / 3), digits_down(inf), digits_down(0.0)) == ("3.333e-8", "infinite", "0")
    assert (percent(Fraction(999, 1000)), percent(Fraction(1, 2))) == ("99.9 %", "50 %")
    assert "p < 1e-300" in printed(made(p_value=0.0))


def test_numbers_in_words():
    assert loss_words(epsilon("inf")) == "infinite"
    assert probability_words(Fraction(123456789, 1234567891)) == "≈ 0.1"
    assert probability_words(ExponentialSum.constant("1/5")) == "1/5"
    assert probability_words(ExponentialSum()) == "0"


def test_several_curves_in_one_chart(refuted, proved):
    chart = p_value_chart([("20 000 runs", refuted), ("2 000 runs", proved)], title="Noisy max", exact=log(24 / 7))
    ElementTree.fromstring(chart)
    assert chart.count("<polyline") == 3
    assert "exactly 1.232" in chart
    assert "20 000 runs" in chart
    assert "exactly" not in p_value_chart([("runs", refuted)], title="Noisy max", exact=inf)
    with pytest.raises(ValueError, match="needs a point to draw"):
        p_value_chart([("none", made(curve=()))], title="Nothing")


def test_an_exact_epsilon_beyond_the_curve_extends_it():
    chart = p_value_chart([("runs", made())], title="Far", exact=3.0)
    assert "exactly 3" in chart
    assert "p = 0.05" in chart


def test_histograms_name_both_sides(refuted):
    chart = histogram_chart(refuted)
    ElementTree.fromstring(chart)
    assert "left: v=" in chart
    assert "right: v=" in chart
    assert histogram_chart(made(count=None)).count("left") >= 1
