"""Verdicts as one self-contained HTML page: the sentence, the facts, the two probabilities drawn, the model drawn."""

from __future__ import annotations

import json
from html import escape
from math import exp
from typing import Any

from flint import arb

from privproof.evidence import LossWitness, PriorWitness, ReleaseWitness, StreamWitness, Verdict, Witness
from privproof.exact import decimal, fraction
from privproof.exact.exponentials import ExponentialSum
from privproof.formats import stream_picture, svg
from privproof.language import Mechanism, Prior
from privproof.reporting.facts import Fact, rounded
from privproof.reporting.wording import SYMBOLS, Command, data, facts, headline
from privproof.scenarios import (
    ProgramQuestion,
    PufferfishQuestion,
    Question,
    ReleaseQuestion,
    StreamQuestion,
    UnderPriors,
)

_DRAWN = 60
_COLOURS = {"computed": "#1a7f37", "proved": "#1a7f37", "refuted": "#b42318", "unknown": "#9a6700"}

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2024; background: #fff; }
h1 { font-size: 1.4rem; line-height: 1.3; margin-bottom: 1rem; }
.status { color: #fff; border-radius: .4rem; padding: .1rem .6rem; margin-right: .6rem; white-space: nowrap; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 500; color: #60646c; vertical-align: top; padding: .3rem 1.2rem .3rem 0; white-space: nowrap; }
td { padding: .3rem 0; overflow-wrap: anywhere; white-space: pre-wrap; font-variant-numeric: tabular-nums; }
tr { border-bottom: 1px solid #eceef0; }
td.columns { font-family: ui-monospace, monospace; font-size: .85rem; white-space: pre; overflow-x: auto; }
h2 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
.bar { height: 1.3rem; border-radius: .25rem; min-width: 2px; }
.drawing { overflow-x: auto; border: 1px solid #eceef0; border-radius: .4rem; padding: .5rem; }
pre { background: #f6f8fa; padding: 1rem; border-radius: .4rem; overflow-x: auto; font-size: .85rem; }
footer { color: #60646c; margin-top: 2rem; font-size: .9rem; }
"""


def page(verdict: Verdict, *, command: Command | None, asked_tight: bool, certificate: str | None) -> str:
    """The page."""
    sentence = headline(verdict, asked_tight=asked_tight)
    listed = facts(verdict, command=command, asked_tight=asked_tight)
    bars = "" if verdict.witness is None else _bars(verdict.witness)
    more = f"{bars}\n{_automaton(verdict) if isinstance(verdict.question, StreamQuestion) else _mechanism(verdict.question)}"
    if verdict.explanation is not None:
        more += f"<h2>The two runs as one program</h2><pre>{escape(verdict.explanation.program)}</pre>"
    return document_page(verdict.status, sentence, listed, more, data(verdict, certificate=certificate))


_FOOTER = "Probabilities and ratios are exact; decimals are rounded."


def document_page(
    status: str, sentence: str, listed: list[Fact], more: str, raw: dict[str, Any], footer: str = _FOOTER
) -> str:
    """A page: the sentence with its verdict, the facts, what else there is to see, and everything as data."""
    rows = "\n".join(
        f"<tr><th>{escape(fact.label)}</th><td{_aligned(fact)}>{escape(fact.text)}</td></tr>" for fact in listed
    )
    badge = f'<span class="status" style="background:{_COLOURS[status]}">{SYMBOLS[status]} {status}</span>'
    said = escape(json.dumps(raw, indent=2, ensure_ascii=False))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(sentence)}</title><style>{_STYLE}</style></head><body>
<h1>{badge}{escape(sentence)}</h1>
<table>{rows}</table>
{more}
<h2>Everything, as data</h2><details><summary>JSON</summary><pre>{said}</pre></details>
<footer>privproof. {escape(footer)}</footer>
</body></html>
"""


def _aligned(fact: Fact) -> str:
    """Tables and code keep their columns."""
    return ' class="columns"' if "\n" in fact.text else ""


def _automaton(verdict: Verdict) -> str:
    """A stream automaton: the function's source where it has one, and the drawing, with what leaks in red."""
    question = verdict.question
    assert isinstance(question, StreamQuestion)
    parts = []
    if question.mechanism is not None:
        parts.append(_source(question.mechanism))
    if len(question.automaton.states) <= _DRAWN:
        marked = [n for steps, _ in verdict.leak.segments for n in steps] if verdict.leak is not None else []
        parts.append(f'<div class="drawing">{svg(stream_picture(question, marked))}</div>')
    return f"<h2>The mechanism</h2>{''.join(parts)}"


def _mechanism(question: Question | UnderPriors | ProgramQuestion | ReleaseQuestion) -> str:
    """The mechanism: its source where it has one, and the drawing of a model that is not too large to be looked at."""
    parts = []
    if isinstance(question, ReleaseQuestion):
        return ""
    if isinstance(question, ProgramQuestion):
        return f"<h2>The mechanism</h2>{_source(question.mechanism)}"
    if isinstance(question, Question) and question.origin is not None:
        parts.append(_source(question.origin.mechanism))
    elif isinstance(question, PufferfishQuestion):
        parts += [_source(question.mechanism), _source(question.prior)]
    if not isinstance(question, PufferfishQuestion) and len(question.model.states) <= _DRAWN:
        drawn = svg(question if isinstance(question, Question) else question.model)
        parts.append(f'<div class="drawing">{drawn}</div>')
    return f"<h2>The mechanism</h2>{''.join(parts)}" if parts else ""


def _source(function: Mechanism | Prior) -> str:
    """The text of the record that a verdict is about, helpers included: not what the file says by now."""
    program = function.program if function.pin is None else function.pin
    return "".join(f"<pre>{escape(each.text)}</pre>" for each in program.functions)


def _bars(witness: Witness | PriorWitness | LossWitness | StreamWitness | ReleaseWitness) -> str:
    if isinstance(witness, LossWitness | StreamWitness | ReleaseWitness):
        shares = [1.0, 0.0 if witness.infinite else exp(-float(witness.loss().mid()))]
        shown = [_rounded(p) for p in (witness.left_probability, witness.right_probability)]
    else:
        sides = fraction(witness.left_probability), fraction(witness.right_probability)
        shares = [float(p / (max(sides) or 1)) for p in sides]
        shown = [decimal(p) for p in sides]
    rows = "".join(
        f'<tr><th>{name}</th><td style="width:100%"><div class="bar" style="width:{share * 100:.2f}%;'
        f'background:{colour}"></div></td><td style="padding-left:1rem;white-space:nowrap">{text}</td></tr>'
        for name, colour, share, text in zip(("left", "right"), ("#3b5bdb", "#f08c00"), shares, shown, strict=True)
    )
    output = escape(" ".join(witness.output) if isinstance(witness, Witness) else witness.output)
    return f"<h2>The probability of <em>{output}</em></h2><table>{rows}</table>"


def _rounded(probability: ExponentialSum | arb) -> str:
    ball = probability.ball(1, 192) if isinstance(probability, ExponentialSum) else probability
    return "0" if ball == 0 else rounded(ball)
