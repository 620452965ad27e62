"""Audits as one page, with the p-values and the histograms drawn."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

from privproof.audits.audit_data import audit_data
from privproof.audits.audit_texts import (
    LISTED,
    MEANINGS,
    as_float,
    audit_facts,
    audit_sentence,
    audit_status,
    bracket_words,
    data_words,
    digits_down,
    loss_words,
    one_line,
    ordered_candidates,
    percent,
    probability_words,
    repeat_words,
)
from privproof.drawing.charts import Bar, Line, bar_chart, line_chart
from privproof.drawing.strokes import WIDTH, clip_text
from privproof.reporting.html_pages import Page

if TYPE_CHECKING:
    from privproof.audits.audit_findings import Audit


def audit_page(audit: Audit, command: str | None = None) -> Page:
    """The audit as a page."""
    parts = []
    if audit.candidates:
        parts.append(f"<h2>What sampling proposed, with exact probabilities</h2>{_candidate_rows(audit)}")
    if any(bound.at_least > 0 for bound in audit.deltas):
        parts.append(f'<h2>Delta is at least</h2><div class="drawing">{delta_chart(audit)}</div>')
    if _drawable(audit):
        chart = _audit_chart(audit)
        what = "an epsilon" if not audit.measures else f"values of: {escape(bracket_words(audit))}"
        parts.append(f'<h2>How strongly the runs speak against {what}</h2><div class="drawing">{chart}</div>')
    if audit.histogram is not None and audit.histogram.rows:
        parts.append(f'<h2>What was written</h2><div class="drawing">{histogram_chart(audit)}</div>')
    parts.append(f"<h2>To repeat it</h2><pre>{escape(repeat_words(audit, command))}</pre>")
    listed = [fact for fact in audit_facts(audit, command=command, candidates=False) if fact.label != "repeat"]
    return Page(
        audit_status(audit),
        audit_sentence(audit),
        tuple(listed),
        "\n".join(parts),
        audit_data(audit, command=command),
        "What rests on runs holds with the stated confidence; probabilities and losses of candidates are exact.",
    )


def _candidate_rows(audit: Audit) -> str:
    rows = [
        "<tr><th>the claim</th><th>exact loss</th><th>event</th><th>left, probability</th><th>right, probability</th></tr>"
    ]
    for candidate in ordered_candidates(audit):
        cells = [
            f"{candidate.judgement}{MEANINGS[candidate.judgement]}",
            loss_words(candidate.loss),
            one_line(str(candidate.exactly)),
            f"{data_words(candidate.left)}\n{probability_words(candidate.left_probability)}",
            f"{data_words(candidate.right)}\n{probability_words(candidate.right_probability)}",
        ]
        rows.append("<tr>" + "".join(_cell(cell, whole=place < 2) for place, cell in enumerate(cells)) + "</tr>")
    rest = len(audit.candidates) - LISTED
    more = f"<p>{rest} more below, as data.</p>" if rest > 0 else ""
    return f'<table class="candidates">{"".join(rows)}</table>{more}'


def _cell(words: str, *, whole: bool) -> str:
    kind = ' class="whole"' if whole else ""
    return f"<td{kind}>{escape(words)}</td>"


def _drawable(audit: Audit) -> bool:
    return any(isfinite(e) and isfinite(p) for e, p in audit.curve)


def delta_chart(audit: Audit) -> str:
    """The lower curve of deltas: left of an epsilon delta is at least what it is there.

    Raises:
        ValueError: no curve was asked for.
    """
    if not audit.deltas:
        raise ValueError(
            f"a curve needs epsilons, found none in the audit of {audit.subject}: audit(..., curve=[0, 1])"
        )
    points = sorted((as_float(bound.epsilon), bound.at_least) for bound in audit.deltas)
    steps = [points[0]]
    for (before, _), (after, delta) in pairwise(points):
        steps += [(before, delta), (after, delta)]
    sure = f"with {percent(audit.confidence)} confidence"
    title = f"{audit.subject}: delta is at least this, {sure}"
    budget = audit.budget
    marks = []
    if budget is not None and not budget.epsilon.infinite:
        marks = [(as_float(budget.epsilon), f"claimed ({budget.epsilon.decimal(digits=4)}, {budget.delta})")]
    return line_chart([Line("", tuple(steps))], title=title, x_label="epsilon", y_label="delta", marks=marks)


def _audit_chart(audit: Audit) -> str:
    if audit.measures:
        low, what = audit.bracket[0], bracket_words(audit)
        marks = [(low, f"at least {digits_down(low)}")]
        claimed = as_float(audit.measures[0].claimed) if len(audit.measures) == 1 else 1.0
        marks.append((claimed, f"claimed {claimed:.4g}"))
        return _p_chart([("the runs", audit)], f"p-values for {audit.subject}", marks, what)
    marks = [(audit.epsilon, f"at least {digits_down(audit.epsilon)}")] if isfinite(audit.epsilon) else []
    if audit.budget is not None and not audit.budget.epsilon.infinite:
        marks.append((as_float(audit.budget.epsilon), f"claimed {audit.budget.epsilon.decimal(digits=4)}"))
    if audit.tight is not None and audit.tight.tight is not None and not audit.tight.tight.infinite:
        marks.append((as_float(audit.tight.tight), f"exactly {audit.tight.tight.decimal(digits=4)}"))
    return _p_chart([("the runs", audit)], f"p-values for {audit.subject}", marks)


def p_value_chart(audits: Sequence[tuple[str, Audit]], *, title: str, exact: float | None = None) -> str:
    """The p-values of several audits against epsilon, with the exact epsilon as a vertical line (FAIER, Figure 4).

    Args:
        audits: names and audits.
        title: what the chart shows.
        exact: the exact epsilon, where it is known and finite.

    Raises:
        ValueError: there is nothing to draw.
    """
    marks = [] if exact is None or not isfinite(exact) else [(exact, f"exactly {exact:.4g}")]
    return _p_chart(audits, title, marks)


def _p_chart(
    audits: Sequence[tuple[str, Audit]], title: str, marks: Sequence[tuple[float, str]], what: str = "epsilon"
) -> str:
    ends = [e for _, audit in audits for e, _ in audit.curve] + [e for e, _ in marks]
    last = max((e for e in ends if isfinite(e)), default=0.0)
    lines = []
    for name, audit in audits:
        points = list(audit.curve)
        if points and points[-1][1] >= 1 and points[-1][0] < last:
            points.append((last, 1.0))
        lines.append(Line(name, tuple(points)))
    if any(map(_drawable, (audit for _, audit in audits))):
        for confidence in dict.fromkeys(audit.confidence for _, audit in audits):
            alpha = float(1 - confidence)
            lines.append(Line(f"p = {alpha:.4g}", ((0.0, alpha), (last, alpha)), dashed=True))
    return line_chart(lines, title=title, x_label=what, y_label="p-value", marks=marks)


def histogram_chart(audit: Audit) -> str:
    """How often every output occurred on both data sets.

    Raises:
        ValueError: nothing was counted.
    """
    if audit.histogram is None:
        raise ValueError(f"a histogram needs runs, found none in the audit of {audit.subject}")
    sides = ("left", "right")
    if audit.count is not None:
        pair = audit.count.pair
        sides = (f"left: {data_words(pair.left)}", f"right: {data_words(pair.right)}")
    before, after = (clip_text(side, WIDTH - 60) for side in sides)
    return bar_chart(
        [Bar(name, left, right) for name, left, right in audit.histogram.rows],
        title=f"Outputs of {audit.subject}",
        y_label=f"runs, of {audit.histogram.runs:,} on each side",
        before=before,
        after=after,
    )
