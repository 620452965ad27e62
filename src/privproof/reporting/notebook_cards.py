"""Cards: what a notebook shows of a verdict, a mechanism, a profile, an audit, a release or a model.

A card is a part of a page: a sentence, a picture, and facts.  It has no background and takes its colours from the page, so that it can be
read in light and dark notebooks; it needs no script and nothing from the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Any, cast

from privproof.capabilities import load_named, shown_as
from privproof.drawing.palette import DARK, DARK_PAGES, STATUS
from privproof.evidence.verdicts import Verdict
from privproof.exact import decimal, show
from privproof.formats import svg
from privproof.formats.automaton_pictures import automaton_picture
from privproof.language import Mechanism
from privproof.models import HiddenMarkovModel, MarkovChain, Transducer
from privproof.models.stream_automaton import StreamAutomaton
from privproof.profiles import EnclosedProfile, Profile, SmallestDelta
from privproof.reporting.law_pictures import distribution_picture, profile_picture
from privproof.reporting.model_drawings import DRAWN, drawing_element, source
from privproof.reporting.profile_texts import delta_page
from privproof.reporting.report_facts import Fact
from privproof.reporting.verdict_wording import SYMBOLS, facts, headline
from privproof.scenarios import AnyQuestion

_STYLE = (
    ".privproof-card{font-family:system-ui,sans-serif;max-width:60rem}"
    ".privproof-card table{border-collapse:collapse;margin:.4em 0}"
    ".privproof-card th,.privproof-card td{text-align:left;vertical-align:top;padding:.15em 1em .15em 0;background:none;border:none}"
    ".privproof-card th{font-weight:500;opacity:.7;white-space:nowrap}"
    ".privproof-card td{white-space:pre-wrap;overflow-wrap:anywhere}"
    ".privproof-card pre{overflow-x:auto}"
    ".privproof-card .drawing{overflow-x:auto}"
    + "".join(f".privproof-{name}{{color:light-dark({colour},{DARK[colour]})}}" for name, colour in STATUS.items())
    + f":is({','.join(DARK_PAGES)}) .privproof-card{{color-scheme:dark}}"
)
_FIRST = 8
"""Facts that are shown at once; the others are behind a line that opens."""


def card(sentence: str, listed: Sequence[Fact] = (), parts: Sequence[str | None] = (), status: str = "") -> str:
    """A card: the sentence with its verdict, pictures or sources, and the facts, of which the later ones open on demand."""
    badge = f'<strong class="privproof-{status}">{SYMBOLS[status]} {status}</strong> ' if status else ""
    shown = "".join(part for part in parts if part)
    more = f"<details><summary>more</summary>{_table(listed[_FIRST:])}</details>" if len(listed) > _FIRST else ""
    return (
        f'<div class="privproof-card"><style>{_STYLE}</style><p>{badge}{escape(sentence)}</p>'
        f"{shown}{_table(listed[:_FIRST])}{more}</div>"
    )


def _table(listed: Sequence[Fact]) -> str:
    rows = "".join(f"<tr><th>{escape(fact.label)}</th><td>{escape(fact.text)}</td></tr>" for fact in listed)
    return f"<table>{rows}</table>" if rows else ""


@singledispatch
def card_of(thing: object) -> str:
    """The card of something that shows itself."""
    for way in shown_as(thing):
        return str(load_named(way.card)(thing))
    return card(repr(thing))


@card_of.register
def _(thing: Verdict) -> str:
    drawn = distribution_picture(thing)
    sentence = headline(thing, asked_tight=thing.asked_tight)
    listed = facts(thing, command=None, asked_tight=thing.asked_tight)
    return card(sentence, listed, [drawn and drawing_element(drawn)], thing.status)


@card_of.register
def _(thing: Profile) -> str:
    tight = thing.epsilon()
    listed = [
        Fact("delta = 0", f"from epsilon {tight.show()} on" if not tight.infinite else "at no epsilon"),
        Fact("epsilon = 0", f"delta {show(thing.total_variation)}, the total variation distance"),
    ]
    return card(f"{thing.name}: the privacy profile", listed, [drawing_element(profile_picture(thing))])


@card_of.register
def _(thing: SmallestDelta) -> str:
    page = delta_page(thing, None)
    drawn = distribution_picture(thing.verdict)
    return card(page.sentence, page.facts, [drawn and drawing_element(drawn)])


@card_of.register
def _(thing: Mechanism) -> str:
    listed = [Fact(name, str(declared)) for name, declared in thing.inputs.items()]
    listed += [Fact(name, str(value)) for name, value in thing.parameters.items()]
    neighbours = thing.neighbours if isinstance(thing.neighbours, str) else "as a function says"
    return card(f"mechanism {thing.name}", [*listed, Fact("neighbours", neighbours)], [source(thing)])


@card_of.register(HiddenMarkovModel)
@card_of.register(MarkovChain)
@card_of.register(Transducer)
def _(thing: HiddenMarkovModel | MarkovChain | Transducer) -> str:
    name = {HiddenMarkovModel: "hidden Markov model", MarkovChain: "Markov chain", Transducer: "transducer"}[
        type(thing)
    ]
    drawn = [drawing_element(svg(thing))] if len(thing.states) <= DRAWN else []
    return card(f"{name} with {len(thing.states)} states", (), drawn)


@card_of.register
def _(thing: StreamAutomaton) -> str:
    drawn = [drawing_element(svg(automaton_picture(thing)))] if len(thing.states) <= DRAWN else []
    return card(f"stream automaton with {len(thing.states)} states", (), drawn)


@card_of.register
def _(thing: EnclosedProfile) -> str:
    curve = [thing.found[epsilon] for epsilon in sorted(thing.found, key=lambda each: each.ball())]
    listed = [
        Fact(f"epsilon = {each.epsilon}", f"delta between {decimal(each.lower)} and {decimal(each.upper)}")
        for each in curve
    ]
    listed = listed or [Fact("asked for", "nothing yet: profile.at(1)")]
    return card(
        f"{thing.name}: the privacy profile, enclosed",
        listed,
        [drawing_element(profile_picture(curve))] if len(curve) > 1 else [],
    )


@card_of.register
def _(thing: AnyQuestion) -> str:
    listed = [Fact("kind", thing.family)]
    listed += [Fact("claim", str(thing.budget))] if thing.budget is not None else []
    model = getattr(thing, "model", None) or getattr(thing, "automaton", None)
    drawn = []
    if isinstance(model, HiddenMarkovModel | MarkovChain | Transducer | StreamAutomaton) and len(model.states) <= DRAWN:
        drawn = [drawing_element(svg(cast(Any, thing)))]
    return card(f"a question about {thing.name or 'a mechanism'}", listed, drawn)
