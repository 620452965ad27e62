"""What a notebook shows: a card of everything that shows itself, escaped, without scripts or a background of its own."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import privproof
from privproof import (
    Branch,
    Budget,
    DecisionProcess,
    Enclosure,
    Epsilon,
    HiddenMarkovModel,
    Horizon,
    Letter,
    MarkovChain,
    MarkovPrior,
    Neighbours,
    Pair,
    Prior,
    Row,
    Runnable,
    Samples,
    Scenario,
    Witness,
    WordProblem,
    Words,
    audit,
    check,
    integer,
    laplace,
    mechanism,
    model_check,
    privacy_profile,
    read_process,
    read_question,
    real,
    smallest_delta,
    tight_epsilon,
    truncated_geometric,
)
from privproof.drawing.showing import ShownCard
from privproof.engines.search_monitor import Progress
from privproof.library.mechanisms import improved_noisy_max
from privproof.library.noisy_max import noisy_max_question
from privproof.reporting.notebook_cards import card
from privproof.reporting.progress_bars import show_progress
from privproof.scenarios import program_question


@mechanism(epsilon="ln(2)")
def noisy(count: integer(0, 2)):
    return truncated_geometric(count, alpha="1/2", low=0, high=2)


@mechanism(epsilon="1/2")
def released(x: real()):
    return laplace(x, scale=1)


NASTY = HiddenMarkovModel(
    states=["<b>&", "b"],
    observations=["0"],
    emissions={"<b>&": {"0": 1}, "b": {"0": 1}},
    transitions={"b": {"<b>&": 1}},
)

SHOWN = {
    "proved": lambda: check(noisy),
    "refuted": lambda: check(released),
    "tight": lambda: tight_epsilon("examples/models/family.yaml"),
    "mechanism": lambda: noisy,
    "profile": lambda: privacy_profile(noisy_max_question(2, improved=True)),
    "delta": lambda: smallest_delta(noisy, "1/2"),
    "audit": lambda: audit(improved_noisy_max, 1, size=2, samples=500),
    "model": lambda: NASTY,
    "chain": lambda: MarkovChain(states=["a", "b"], transitions={"a": {"b": 1}}),
    "automaton": lambda: read_question("examples/models/streams/no_cutoff.yaml").automaton,
    "transducer": lambda: noisy_max_question(2, improved=True).model,
    "process": lambda: PROCESS,
    "chain of numbers": lambda: read_process("examples/models/logic/interactive_survey.yaml"),
    "formula": lambda: model_check(PROCESS, "P>=1/2 [F done]"),
    "enclosed profile": lambda: asked(privacy_profile(released), 1, 2),
    "question": lambda: noisy_max_question(2, improved=True),
    "stream question": lambda: read_question("examples/models/streams/no_cutoff.yaml"),
    "program question": lambda: program_question(released),
}

PROCESS = DecisionProcess.of(
    states=["<a>", "b", "c"],
    actions=["go & stay", "wait"],
    labels={"b": "done"},
    transitions={"<a>": {"go & stay": {"b": "1/2", "c": "1/2"}, "wait": {"<a>": 1}}},
    neighbours=[("<a>", "c")],
    initial=["<a>"],
    self_loops=True,
)


def asked(profile, *epsilons):
    for epsilon in epsilons:
        profile.at(epsilon)
    return profile


WITHOUT = (Exception, Budget, Epsilon, Enclosure, Horizon, Letter, Neighbours, Pair, Prior, MarkovPrior, Row, Runnable)
"""Parts of what is asked and answered, which show themselves inside of it or by a line of text."""
MORE = (Branch, Samples, Scenario, Witness, WordProblem, Words)
"""The same: what a model, many runs, a verdict are made of."""


def test_every_public_class_shows_itself_or_is_a_part_of_one_that_does():
    public = [each for each in vars_of(privproof) if isinstance(each, type)]
    plain = [each for each in public if not issubclass(each, (ShownCard, *WITHOUT, *MORE))]
    assert plain == []


def vars_of(package):
    return [getattr(package, name) for name in package.__all__]


def test_a_decision_process_is_drawn_with_its_actions():
    html = PROCESS._repr_html_()
    assert "decision process with 2 actions and 3 states" in html
    assert "go &amp; stay: 1/2" in html
    assert "prefers-color-scheme" in html or "light-dark" in html


@pytest.mark.parametrize("make", SHOWN.values(), ids=SHOWN)
def test_a_card_is_well_formed_and_has_no_background(make):
    thing = make()
    assert isinstance(thing, ShownCard)
    html = thing._repr_html_()
    root = ElementTree.fromstring(html)
    assert root.get("class") == "privproof-card"
    assert "<script" not in html
    assert "background:" not in html.replace("background:none", "")
    assert "http://www.w3.org" in html or "://" not in html
    assert len(html) < 60_000


def test_a_verdict_has_its_picture_and_its_colour():
    html = check(released)._repr_html_()
    assert 'class="privproof-refuted"' in html
    assert "<svg" in html
    assert "within e^ε" in html


def test_everything_is_escaped_and_many_facts_open_on_demand():
    from privproof.reporting.report_facts import Fact

    html = card("<i>", [Fact(f"<{i}>", "&") for i in range(12)], status="proved")
    ElementTree.fromstring(html)
    assert "<i>" not in html
    assert html.count("<details>") == 1


def test_progress_leaves_nothing_on_what_is_no_terminal(capsys):
    with show_progress() as monitor:
        monitor.listen(Progress("searching"))
        assert check(noisy, monitor=monitor).status == "proved"
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal_is_one_line_that_goes_away(monkeypatch):
    import io

    from privproof.reporting import progress_bars as progress

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    written = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", written)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with show_progress() as monitor:
        monitor.listen(Progress("searching", level=3))
        monitor.listen(Progress("too soon after it"))
    assert written.getvalue() == "\r\x1b[Ksearching, length 3 (0 s)\r\x1b[K"


def test_an_interrupt_stops_the_search_with_what_is_known():
    import os
    import signal

    with show_progress() as monitor:
        os.kill(os.getpid(), signal.SIGINT)
        assert monitor.stopped() == "interrupted"
        verdict = check("examples/models/activity.yaml", "1", monitor=monitor)
    assert verdict.status == "unknown"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
