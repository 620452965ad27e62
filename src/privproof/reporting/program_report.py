"""Verdicts about mechanisms with continuous noise, in words and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privproof.evidence.verdicts import Explanation, Refuted, Verdict
from privproof.evidence.witnesses import LossWitness, RunWitness
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.number_texts import bound_words, outward, rounded_decimal
from privproof.exact.probabilities import Probability, ball_of_probability, is_zero
from privproof.language.inputs import ADD_REMOVE
from privproof.language.patterns import Between, are_rows
from privproof.profiles.output_laws import SeenOutput, program_rows
from privproof.reporting.mechanism_calls import call_text, import_line
from privproof.reporting.model_drawings import source
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, ball_data, loss_data, plain_data, ratio_data
from privproof.reporting.report_registry import Report
from privproof.scenarios import ProgramQuestion
from privproof.scenarios.program_questions import is_gaussian

if TYPE_CHECKING:
    from privproof.language import Mechanism

_LONGEST = 120
"""A probability with a longer exact text is shown as a decimal number only."""


class ProgramReport(Report[ProgramQuestion, LossWitness]):
    """How questions about programs with continuous noise are told."""

    def claim(self, question: ProgramQuestion) -> str:
        """What is claimed, as an adjective."""
        if question.budget is not None or question.claim is None:
            return super().claim(question)
        claim = str(question.claim)
        if question.delta is not None:
            return f"({claim}, {question.delta})-private"
        return f"{claim}-private" if claim.isidentifier() else f"({claim})-private"

    def headline(self, verdict: Verdict, question: ProgramQuestion, *, asked_tight: bool) -> str:
        """The verdict in one sentence."""
        if asked_tight and verdict.formula is not None and not verdict.lower.infinite:
            return f"{question.name}: epsilon = {verdict.formula} is proved for every size" + _numbers(question)
        return super().headline(verdict, question, asked_tight=asked_tight)

    def compared(self, question: ProgramQuestion) -> list[Fact]:
        """What is compared."""
        return [Fact("compared", compared_words(question))]

    def shown(
        self, verdict: Verdict, question: ProgramQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The event that breaks the claim, or what every line pays."""
        target = None if command is None or asked_tight else command.explaining()
        result: list[Fact] = []
        if verdict.witness is not None:
            result += _loss_facts(verdict, question, verdict.witness, asked_tight=asked_tight)
        if verdict.explanation is not None:
            result += _proof_facts(verdict.explanation)
            if target is not None:
                result.append(Fact("more", f"privproof explain {target}"))
        result += delta_facts(verdict)
        result += [Fact("repair", repair) for repair in verdict.repairs]
        if isinstance(verdict, Refuted) and not verdict.repairs and target is not None and verdict.delta_bounds is None:
            result.append(Fact("more", f"privproof explain {target} looks for a repair"))
        return result

    def tight(self, verdict: Verdict, question: ProgramQuestion) -> str:
        """What is known about the smallest epsilon."""
        return tight_words(verdict)

    def sides(self, witness: LossWitness, question: ProgramQuestion) -> str:
        """Both data sets of a witness and its event, in one line."""
        left, right = arguments_words(witness.left), arguments_words(witness.right)
        return f"{left} against {right}, output {witness.output}"

    def question_data(self, question: ProgramQuestion) -> dict[str, Any]:
        """The question as plain data."""
        claim = None if question.claim is None or question.budget is not None else str(question.claim)
        return {
            "kind": "program",
            "horizon": None,
            "scenario": compared_words(question),
            "claim": claim,
            **({} if question.delta is None else {"delta": str(question.delta)}),
            "parameters": plain_data(dict(question.mechanism.parameters)),
            "size": question.size,
        }

    def witness_data(self, witness: LossWitness, question: ProgramQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        return {**event_data(witness), "where": witness.observed.line}

    def more_data(self, verdict: Verdict, question: ProgramQuestion) -> dict[str, Any]:
        """The formula, the alignment and repairs."""
        return program_data(verdict)

    def situations(self, witness: LossWitness, question: ProgramQuestion) -> tuple[str, str]:
        """Both data sets of a witness, in words."""
        return arguments_words(witness.left), arguments_words(witness.right)

    def law_rows(self, witness: LossWitness, question: ProgramQuestion) -> Sequence[SeenOutput] | None:
        """All outputs on both data sets, or the cells of a noisy number."""
        return program_rows(question.mechanism, witness.left, witness.right)

    def drawn(self, verdict: Verdict, question: ProgramQuestion) -> list[str]:
        """The function."""
        return [source(question.mechanism)]


def event_data(witness: LossWitness | RunWitness) -> dict[str, Any]:
    """An event on two arguments of a function as plain data."""
    left, right = witness.left_probability, witness.right_probability
    return {
        "left": plain_data(dict(witness.left)),
        "right": plain_data(dict(witness.right)),
        "output": [witness.output],
        "event": witness.output,
        "left_probability": _probability_data(left),
        "right_probability": _probability_data(right),
        "left_ball": ["0", "0"] if is_zero(left) else ball_data(left),
        "right_ball": ["0", "0"] if is_zero(right) else ball_data(right),
        "ratio": ratio_data(witness),
        "loss": ["inf", "inf"] if witness.infinite else loss_data(witness),
    }


def event_facts(witness: LossWitness | RunWitness, verdict: Verdict, allowed: str | None) -> list[Fact]:
    """An event on two arguments of a function, and its loss; beyond what is allowed, where that is broken."""
    left, right = (arguments_words(side) for side in (witness.left, witness.right))
    loss = "infinite" if witness.infinite else outward(verdict.lower, up=False, digits=9)
    budget = verdict.question.budget
    if allowed is not None:
        loss = f"{loss}, beyond {allowed}"
        if budget is not None and budget.delta == 0 and not witness.infinite:
            loss += f" (the ratio of the probabilities is beyond e^epsilon = {bound_words(budget.epsilon)})"
    return [
        Fact("event", f"the output is {witness.output}"),
        Fact("left", f"{left}: probability {shown_probability(witness.left_probability)}"),
        Fact("right", f"{right}: probability {shown_probability(witness.right_probability)}"),
        Fact("loss", loss),
    ]


def compared_words(question: ProgramQuestion) -> str:
    """Which data are compared, at which sizes."""
    mechanism = question.mechanism
    private = {name: declared for name, declared in mechanism.inputs.items() if not declared.public}
    amounts = sorted({"in any way" if d.within is None else f"by at most {d.within}" for d in private.values()})
    amount = amounts[0] if len(amounts) == 1 else "by at most its sensitivity"
    single = all(declared.shape == "value" for declared in private.values()) and len(private) == 1
    name = next(iter(private))
    listed = [f"{each}: {d}" for each, d in private.items() if d.values is not None and question.size is not None]
    values = f" of {', '.join(listed)}" if listed and is_gaussian(mechanism) else ""  # delta depends on the values
    relation = {
        "each": f"every value{values} may change {amount}",
        "one": f"one value{values} changes {amount}",
        "monotone": f"all values that change go in one direction, each {amount}",
        ADD_REMOVE: "one data set has one element more than the other",
        "l1": f"all values change together {amount}: the sum of their changes",
        "l2": f"all values change together {amount}: the root of the sum of their squared changes",
    }[question.relation]
    parts = [f"{name} may change {amount}" if single else relation]
    lists = [n for n, d in mechanism.inputs.items() if d.shape == "list" and d.size is None]
    if lists:
        parts.append("lists of every length" if question.size is None else f"lists of length {question.size}")
    if mechanism.stream is not None:
        parts.append("streams of every length")
    return "; ".join([*parts, *public_words(mechanism)])


def public_words(mechanism: Mechanism) -> list[str]:
    """For which values of the public inputs something is asked."""
    public = {n: d for n, d in mechanism.inputs.items() if d.public}
    alone = {n: d.low for n, d in public.items() if d.shape == "value" and d.low is not None and d.low == d.high}
    rest = [name for name in public if name not in alone]
    return [f"{name} = {value}" for name, value in alone.items()] + (
        [f"all values of {', '.join(rest)}"] if rest else []
    )


def _numbers(question: ProgramQuestion) -> str:
    names = question.mechanism.public_numbers
    return f" and every {', '.join(names)}" if names else ""


def _probability_data(value: Probability) -> str | list[str]:
    """A probability: its closed form, or two decimals that enclose it."""
    return str(value.at(1)) if isinstance(value, ExponentialSum) else ball_data(value)


def shown_probability(value: Probability) -> str:
    """A probability: its closed form where there is a short one, and its value."""
    if is_zero(value):
        return "0"
    if not isinstance(value, ExponentialSum):
        return f"≈ {rounded_decimal(ball_of_probability(value, 192))}"
    text = str(value.at(1))
    near = rounded_decimal(value.ball(1, 192))
    if text == near:
        return text
    return f"{text} ≈ {near}" if len(text) <= _LONGEST else f"≈ {near}"


def tight_words(verdict: Verdict) -> str:
    """What is known about the smallest epsilon."""
    if verdict.lower.infinite:
        return "none: the event is impossible on one side"
    if verdict.tight is not None:
        return verdict.tight.show()
    lower = f"at least {outward(verdict.lower, up=False, digits=9)}"
    if verdict.formula is not None:
        witness = verdict.witness
        at = ""
        if witness is not None:
            known = {n: v for n, v in witness.left.items() if isinstance(v, int) and not isinstance(v, bool)}
            size = max((len(v) for v in witness.left.values() if isinstance(v, list)), default=0)
            values = {**known, "size": size}
            if all(name in values for name, _ in verdict.formula.terms):
                named = ", ".join(f"{name} = {values[name]}" for name, _ in verdict.formula.terms)
                at = f" at {named}, where the formula gives {verdict.formula.at(values)}"
        return f"at most {verdict.formula}" + (f"; {lower}{at}" if verdict.witness is not None else "")
    upper = "no upper bound proved" if verdict.upper.infinite else f"at most {verdict.upper.show()}"
    return f"{lower}; {upper}"


def _loss_facts(verdict: Verdict, question: ProgramQuestion, witness: LossWitness, *, asked_tight: bool) -> list[Fact]:
    allowed = None
    if isinstance(verdict, Refuted) and not asked_tight:
        allowed = question.budget.epsilon.show() if question.budget is not None else _allowed_loss(question, witness)
    result = event_facts(witness, verdict, allowed)
    if witness.observed.line:
        result.append(Fact("where", witness.observed.line))
    if witness.observed.one_pattern:
        result.append(Fact("in Python", python_lines(question.mechanism, witness)))
    return result


def delta_facts(verdict: Verdict) -> list[Fact]:
    """Between which numbers the smallest delta lies, where it was enclosed."""
    if verdict.delta_bounds is None:
        return []
    low, high = (f"{float(end):.10g}" for end in verdict.delta_bounds)
    said = low if low == high else f"between {low} and {high}"
    return [Fact("smallest delta", f"{said} at this epsilon")]


def _allowed_loss(question: ProgramQuestion, witness: LossWitness) -> str:
    assert question.claim is not None
    size = max((len(v) for v in witness.left.values() if isinstance(v, list)), default=0)
    value = question.claim.value_at({**witness.left, "size": size})
    return f"{question.claim} = {value}"


def arguments_words(values: Any) -> str:
    """Arguments as they are written in a call."""

    def text(value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(text, value))}]"
        return str(value) if isinstance(value, Fraction) else repr(value)

    return ", ".join(f"{name}={text(value)}" for name, value in values.items())


def event_source(event: Any) -> str:
    """An event as `output_probability` takes it."""
    match event:
        case list():
            return f"[{', '.join(map(event_source, event))}]"
        case ("table", *rows) if are_rows(rows):
            return "{" + ", ".join(f"{known!r}: {event_source(value)}" for known, value in rows) + "}"
        case tuple():
            return f"({', '.join(map(event_source, event))}{',' if len(event) == 1 else ''})"
        case Between(low, high):
            return repr("*" if low is None and high is None else repr(event))
        case _:
            return repr(event)


def python_lines(mechanism: Mechanism, witness: LossWitness) -> str:
    """A few lines of Python that recompute both probabilities."""
    event = event_source(witness.observed.event)
    fractions = any(
        isinstance(v, Fraction)
        for side in (witness.left, witness.right)
        for x in side.values()
        for v in (x if isinstance(x, list) else [x])
    )
    lines = ["from fractions import Fraction"] if fractions else []
    rows = "Row, " if any(declared.fields for declared in mechanism.inputs.values()) else ""
    lines += [f"from privproof import {rows}output_probability", import_line(mechanism)]
    for side in (witness.left, witness.right):
        given = "".join(f", {n}={v!r}" for n, v in side.items())
        lines.append(f"output_probability({call_text(mechanism)}, {event}{given})")
    return "\n".join(lines)


def _proof_facts(explanation: Explanation) -> list[Fact]:
    result = [Fact("alignment", alignment_words(explanation))]
    if not explanation.charges:
        return result
    rows = [("line", "noise", "when", "shift", "cost")]
    charges = Counter((str(c.line), c.code, c.when or "always", c.shift, c.cost) for c in explanation.charges)
    rows += [(*row[:-1], f"{row[-1]}, {times} times" if times > 1 else row[-1]) for row, times in charges.items()]
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    table = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    result.append(Fact("cost", table))
    result.append(Fact("in all", "; ".join(explanation.total)))
    return result


def alignment_words(explanation: Explanation) -> str:
    """The alignment in words."""
    parts = []
    for charge in explanation.charges:
        if charge.shift == "0":
            continue
        when = f" when {charge.when}" if charge.when else ""
        parts.append(f"add {charge.shift} to {charge.code}{when}")
    if not parts:
        return "the second run draws the same noise: nothing has to be shifted"
    different = "; d(x) is the change of x" if any("d(" in c.shift for c in explanation.charges) else ""
    return "; ".join(dict.fromkeys(parts)) + f" (all other noise stays{different})"


def program_data(verdict: Verdict) -> dict[str, Any]:
    """What the verdict says beyond what every verdict says, as plain data."""
    result: dict[str, Any] = {}
    if verdict.formula is not None:
        result["formula"] = str(verdict.formula)
    if verdict.explanation is not None:
        explanation = verdict.explanation
        result["alignment"] = [
            {"line": c.line, "noise": c.code, "when": c.when, "shift": c.shift, "cost": c.cost}
            for c in explanation.charges
        ]
        result["conditions"] = list(explanation.conditions)
    if verdict.repairs:
        result["repairs"] = list(verdict.repairs)
    return result
