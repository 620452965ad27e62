"""The record of a release: everything that was assumed and established, as plain data, on a terminal, and as a page with charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from rich.console import Console
from rich.text import Text

from privproof.drawing.charts import Bar, Line, bar_chart, line_chart, node_chart
from privproof.exact import decimal, rational
from privproof.exact.number_texts import outward
from privproof.release.quilt_charts import quilt_chart
from privproof.release.release_document import release_document
from privproof.release.release_question import Gaussian, ReleaseQuestion
from privproof.release.release_report import loss_words, release_witness_data, release_words
from privproof.release.table_release import Record
from privproof.reporting.console_texts import print_facts
from privproof.reporting.html_pages import Page
from privproof.reporting.report_facts import Fact

FORMAT = "privproof-release"
_DRAWN_BINS = 60
"""A release of more values is not drawn as bars: they would be too many to read."""


def record_data(record: Record) -> dict[str, Any]:
    """The record as plain data; numbers are exact texts."""
    made, verdict, source = record.made, record.verdict, record.source
    question, witness = made.question, verdict.witness
    return {
        "format": FORMAT,
        "version": 1,
        "verdict": verdict.status,
        "released": {name: str(value) for name, value in _values(record).items()},
        "decimal": {name: float(value) for name, value in _values(record).items()},
        **({"selection": record.selection, "selected": dict(record.selected)} if record.selected else {}),
        "query": question.query.name,
        "entries": question.entries,
        **_claimed_data(question),
        "loss": {"lower": outward(verdict.lower, up=False), "upper": outward(verdict.upper, up=True)},
        "worst": None if witness is None else release_witness_data(witness),
        "method": made.method,
        "quilt": None if made.quilt is None else list(made.quilt),
        "node": None if made.worst_quilts is None else made.worst_quilts.node,
        "noise": str(question.noise),
        "expected_error": str(made.expected_error),
        "error_95": str(made.accuracy("1/20")),
        "cost": None if isinstance(made.noise, Gaussian) else str(made.cost),
        "account": None if record.account is None else str(record.account),
        "ledger": None if record.entry is None else {"entry": record.entry.sequence, "digest": record.entry.digest},
        "others": {name: str(value) for name, value in made.others.items()},
        "prior": {"source": source.prior, "fitted_on_private_data": source.private},
        "data": dict(source.data),
        "secure": source.secure,
        "assumptions": list(source.assumptions),
        "warnings": list(source.warnings),
        "question": release_document(question),
        "certificate": record.certificate,
        "seconds": round(verdict.seconds, 6),
        "notes": list(verdict.notes),
    }


def _claimed_data(question: ReleaseQuestion) -> dict[str, Any]:
    """What is claimed: an epsilon, with a delta or without, or values of another measure."""
    budget = question.budget
    if budget is None:
        orders = {
            str(each.measure.order): str(each.value) for each in question.measures if each.measure.order is not None
        }
        return {"epsilon": None, **({"renyi": orders} if orders else {"rho": str(question.measures[0].value)})}
    return {"epsilon": str(budget.epsilon), **({} if budget.delta == 0 else {"delta": str(budget.delta)})}


def _loss_label(question: ReleaseQuestion) -> str:
    if question.budget is not None:
        return "loss"
    return "divergence" if question.measures[0].measure.order is not None else "rho"


def _values(record: Record) -> Mapping[str, Fraction]:
    return {} if record.released is None else record.released.values


def print_record(console: Console, record: Record, *, more: Sequence[Fact] = ()) -> None:
    """The record on a terminal: warnings first."""
    for warning in record.source.warnings:
        console.print(Text(warning, style="bold red"), soft_wrap=True)
    print_facts(console, "proved", headline(record), [*facts(record), *more])


def headline(record: Record) -> str:
    """What was released, in one sentence."""
    budget, measures = record.made.question.budget, record.made.question.measures
    said = record.selection or record.made.question.query.name
    values = list(_values(record).values())
    told = f": {decimal_text(values[0])}" if len(values) == 1 else f" ({len(values)} numbers)"
    if record.selected:
        told = f": {', '.join(record.selected.values())}"
    if budget is None:
        values_of = " and ".join(each.measure.claim(each.claimed) for each in measures if each.claimed is not None)
        return f"{said}{told}, released {values_of} under its prior"
    claimed = str(budget.epsilon) if budget.delta == 0 else f"({budget.epsilon}, {decimal(budget.delta)})"
    return f"{said}{told}, released with {claimed}-Pufferfish privacy"


def decimal_text(value: Fraction) -> str:
    """A released number as a decimal."""
    return decimal(rational(value), digits=9)


def facts(record: Record) -> list[Fact]:
    """Everything a reader needs, in order."""
    made, verdict, source = record.made, record.verdict, record.source
    question = made.question
    result = []
    if len(_values(record)) > 1:
        width = max(len(name) for name in _values(record))
        lines = [f"{name:<{width}}  {decimal_text(value)}" for name, value in _values(record).items()]
        result.append(Fact("read off" if record.selected else "released", "\n".join(lines)))
    result += [
        Fact("secret", release_words(question)),
        Fact("noise", f"{question.noise}, by the method {made.method}{_because(record)}"),
        Fact("error", _error(record)),
        Fact(_loss_label(question), loss_words(verdict)),
    ]
    worst = verdict.witness
    if worst is not None:
        result.append(Fact("worst case", f"{worst.output}: {worst.left} against {worst.right}"))
    others = [
        f"{name}: {'expected error ' + decimal(value) if isinstance(value, Fraction) else value}"
        for name, value in made.others.items()
        if name != made.method
    ]
    if others:
        result.append(Fact("other methods", "\n".join(others)))
    if not isinstance(made.noise, Gaussian):
        result.append(Fact("an entry costs", _account(record)))
    if record.entry is not None:
        result.append(Fact("ledger", f"entry {record.entry.sequence}; all releases {record.entry.total}"))
    result.append(Fact("prior", source.prior))
    result.append(Fact("data", ", ".join(f"{name} {value}" for name, value in source.data.items())))
    result += [Fact("assumed", text) for text in source.assumptions]
    drawn = (
        "from the operating system's generator, exactly" if source.secure else "FROM A SEED: for tests, not for release"
    )
    result.append(Fact("noise drawn", drawn))
    return [*result, *(Fact("note", note) for note in verdict.notes)]


def _because(record: Record) -> str:
    made = record.made
    worst = made.worst_quilts
    if worst is None:
        if made.plan.distance is not None:
            return f" (distance of the laws {made.plan.distance.steps} steps)"
        return ""
    nodes = ", ".join(f"X_{node}" for node in worst.quilt) or "none"
    return f" (X_{worst.node} needs the most: quilt {{{nodes}}}, influence {worst.influence:.4g})"


def _error(record: Record) -> str:
    made, number = record.made, len(_values(record))
    most = f"at most {decimal(made.accuracy('1/20'))} with probability 95 %"
    if number == 1:
        return f"expected {decimal(made.expected_error)}; {most}"
    return f"expected {decimal(made.expected_error / number)} in each number, {decimal(made.expected_error)} in all; each {most}"


def _account(record: Record) -> str:
    made = record.made
    said = f"{decimal(made.cost)}; with other releases about the same series, this one counts "
    counted = record.account
    if counted is None:
        return f"{decimal(made.cost)}, for an account of several releases"
    more = " (calibrate with the method quilt for several releases)" if made.method in ("exact", "wasserstein") else ""
    return f"{said}{decimal(counted)}{more}"


def record_page(record: Record) -> Page:
    """The record as a page: the facts, the released numbers, the methods side by side, the noise of every entry, the active quilt."""
    parts = [f"<p><strong>{escape(w)}</strong></p>" for w in record.source.warnings]
    parts += [f"<div class='drawing'>{drawing}</div>" for drawing in charts(record)]
    return Page("proved", headline(record), tuple(facts(record)), "\n".join(parts), record_data(record))


def charts(record: Record) -> list[str]:
    """The drawings of a record."""
    made = record.made
    question, worst = made.question, made.worst_quilts
    result = []
    if 1 < len(_values(record)) <= _DRAWN_BINS:
        error = float(made.accuracy("1/20"))
        bars = [Bar(name, None, float(value), error) for name, value in _values(record).items()]
        title = "What was released"
        drawing = bar_chart(bars, title=title, y_label=question.query.name, after="released", error="95 % of the noise")
        result.append(drawing)
    if record.errors and len(record.budgets) > 1:
        lines = [
            Line(
                name,
                tuple((float(b), None if e is None else float(e)) for b, e in zip(record.budgets, row, strict=False)),
            )
            for name, row in record.errors.items()
        ]
        title = "Expected error of the methods"
        drawing = line_chart(lines, title=title, x_label="epsilon", y_label="expected error", x_log=True, y_log=True)
        result.append(drawing)
    if worst is not None and question.budget is not None:
        length = worst.length
        title = "Noise that every entry needs"
        blocks = [(block.first, block.last, block.score) for block in worst.blocks]
        drawing = node_chart(blocks, length=length, title=title, y_label="scale per unit", worst=worst.node)
        result.append(drawing)
        epsilon = float(question.budget.epsilon.decimal(digits=12))
        title = f"The quilt of X_{worst.node}"
        cell = worst.worst.cell
        drawing = quilt_chart(
            length=length,
            node=worst.node,
            left=cell.left,
            right=cell.right,
            influence_share=min(0.999999, worst.influence / epsilon),
            epsilon=epsilon,
            title=title,
        )
        result.append(drawing)
    return result
