"""Audits for readers: a sentence, facts, and the table of candidates.

Two kinds of knowledge stand side by side and never mix: what runs say, *with confidence*, and what exact probabilities and exact engines
say, without any.  Only the second proves or refutes.  Bounds that rest on runs are rounded to the safe side: epsilon and delta down,
p-values up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from rich.console import Console

from privproof.evidence import Unknown, Verdict
from privproof.exact import Epsilon, decimal, text
from privproof.exact.balls import rational_bounds
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.number_texts import outward, rounded_decimal
from privproof.reporting.console_texts import print_facts
from privproof.reporting.program_report import arguments_words
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import report_of
from privproof.reporting.stream_report import table
from privproof.reporting.verdict_wording import facts

if TYPE_CHECKING:
    from privproof.audits.audit_findings import Audit, CertifiedCandidate, MeasureBound

LISTED = 5
"""How many candidates the table of an audit lists; the last line says how many more there are."""
_SHORT = 18
"""An exact epsilon with a longer text is shown as a decimal number."""
_LONGEST = 160
"""Events are cut to so many characters, a long line."""
_CELL = 60
"""In the table of candidates events and data sets are cut to so many characters, to fit a line."""
_ENGINE_FACTS = ("structure", "growing", "repair", "tight epsilon")
_WITNESS_FACTS = ("told apart", "by", "output", "written", "event", "left", "right", "ratio", "loss")

MEANINGS = {"real": ": breaks it", "spurious": ": keeps it", "exact": ""}


def print_audit(console: Console, audit: Audit, *, command: str | None, more: Sequence[Fact] = ()) -> None:
    """Print an audit: one sentence, then what runs say, what is exact, and how to repeat it.

    Args:
        console: where to.
        audit: what was found.
        command: the command line that it was asked with, if any.
        more: what else is to be said at the end.
    """
    print_facts(console, audit_status(audit), audit_sentence(audit), [*audit_facts(audit, command=command), *more])


def audit_status(audit: Audit) -> str:
    """The verdict; where nothing was claimed, whether the tight epsilon was computed."""
    if not audit.claims and _tight_is_known(audit.tight):
        return "computed"
    return audit.status


def _tight_is_known(tight: Verdict | None) -> bool:
    """proved, refuted or unknown, as the exact side says."""
    return tight is not None and (tight.lower.infinite or tight.tight is not None)


def audit_sentence(audit: Audit) -> str:
    """The outcome in one sentence; it says private or not only where something exact does."""
    name = _name(audit)
    bound = f"with {percent(audit.confidence)} confidence {_bounds(audit)}"
    if not audit.claims:
        known = _claim_kept(audit.verdict) or _tight_words(audit.tight)
        if known is None:
            return f"{name}: {bound}; no claim was tested, and its exact value is not known"
        return f"{name}: {known}, exactly; by the runs alone, {bound}"
    claim = audit.claim
    broken = (
        "sampling found a violation, and its exact probabilities confirm it"
        if audit.violated
        else "the runs alone do not show it, but the exact probabilities of an event that sampling proposed do"
    )
    if audit.status == "refuted":
        if audit.real is not None:
            found = broken
        elif audit.violated:
            found = "the runs speak against it, and the exact engine refutes it"
        else:
            found = "the runs do not speak against it, but the exact engine refutes it"
        return f"{name} is not {claim}: {found}"
    if audit.status == "proved":
        if audit.violated:
            chance = (
                f"the runs speak against it ({p_words(audit)}), which is chance, or they are runs of something else"
            )
            return f"{name} is {claim}: the exact engine proves it; {chance}"
        return f"{name} is {claim}: the runs do not speak against it, and the exact engine proves it"
    if audit.real is not None:
        return f"{name} seems not to be {claim}: {broken}; but no certificate shows it, so there is no verdict"
    undecided = "no exact engine decides it"
    if audit.violated:
        said = "" if audit.budget is None else f" (claimed: {audit.budget.epsilon})"
        return f"{name}: {bound}{said}: the runs speak against the claim ({p_words(audit)}), but {undecided}"
    return f"{name}: not known whether it is {claim}: the runs do not speak against it, but runs prove nothing, and {undecided}"


def _bounds(audit: Audit) -> str:
    """The bounds that runs give, in words: on epsilon, or on the measure that is claimed."""
    if audit.measures:
        listed = [f"{_measure(b)} is at least {digits_down(b.at_least)} (claimed: {b.claimed})" for b in audit.measures]
        return " and ".join(listed)
    return f"epsilon is at least {digits_down(audit.epsilon)}"


def _measure(bound: MeasureBound) -> str:
    article = "the " if bound.measure.order is not None else ""
    return f"{article}{bound.measure}"


def _claim_kept(verdict: Verdict | None) -> str | None:
    """What is exact about a claim that depends on public numbers; None where nothing is."""
    if verdict is None or verdict.status == "unknown":
        return None
    claimed = report_of(verdict.question).claim(verdict.question).removesuffix("-private")
    return f"the claim {claimed} is {verdict.status}"


def _tight_words(tight: Verdict | None) -> str | None:
    """What is exact about the tight epsilon; None where nothing is."""
    if tight is None or tight.status == "unknown":
        return None
    if tight.lower.infinite:
        return "there is no epsilon at all"
    if tight.tight is not None:
        return f"the tight epsilon is {loss_words(tight.lower)}"
    if tight.upper.infinite:
        return None if tight.formula is None else f"epsilon is at most {tight.formula}"
    return f"the tight epsilon lies between {loss_words(tight.lower)} and {tight.upper.show()}"


def _name(audit: Audit) -> str:
    """What the outcome is about: the question of the exact verdict, or what was run."""
    if audit.verdict is not None and audit.verdict.status == audit.status != "unknown":
        return audit.verdict.question.name or audit.subject
    if not audit.claims and audit.tight is not None and _tight_is_known(audit.tight):
        return audit.tight.question.name or audit.subject
    sizes = list(audit.by_size)
    if audit.real is not None and sizes:
        lists = [len(value) for value in audit.real.left.values() if isinstance(value, list | tuple)]
        sizes = [max(lists)] if lists else sizes
    return f"{audit.subject} (size {sizes[0]})" if len(sizes) == 1 else audit.subject


def audit_facts(audit: Audit, *, command: str | None, candidates: bool = True) -> list[Fact]:
    """Everything a reader needs, in order: what runs say, what is exact, and how to repeat it.

    Args:
        audit: what was found.
        command: the command line that it was asked with, if any.
        candidates: whether the table of candidates is among them.
    """
    result = [*_sampling_facts(audit)]
    if candidates and audit.candidates:
        result.append(Fact("exactly", candidate_table(audit)))
    result += _exact(audit)
    pairs = f"{audit.pairs:,} pair{'s' * (audit.pairs != 1)} of data sets"
    of = f"{audit.samples:,} on each side behind the bounds, {audit.runs:,} in all, on {pairs}"
    result.append(Fact("runs", of))
    if len(audit.by_size) > 1:
        losses = ", ".join(f"{_about(loss)} at {size}" for size, loss in audit.by_size.items())
        result.append(Fact("lengths", f"the largest losses met while searching, roughly: {losses}"))
    result.append(Fact("repeat", repeat_words(audit, command)))
    result.append(Fact("time", ", ".join(f"{part} {seconds:.2f} s" for part, seconds in audit.seconds.items())))
    return [*result, *(Fact("note", note) for note in audit_notes(audit))]


def audit_notes(audit: Audit) -> list[str]:
    """Restrictions and remarks, of the audit and of the engine that answered."""
    engine = audit.tight if audit.verdict is None else audit.verdict
    return list(dict.fromkeys([*audit.notes, *(() if engine is None else engine.notes)]))


def _sampling_facts(audit: Audit) -> Iterator[Fact]:
    """What runs say, with confidence."""
    budget, sure = audit.budget, f"with {percent(audit.confidence)} confidence"
    at = f" at delta = {budget.delta}" if budget is not None and budget.delta != 0 else ""
    claimed = "" if budget is None else f" (claimed: {'inf' if budget.epsilon.infinite else budget.epsilon.show()})"
    yield Fact("sampling", f"{sure} {_bounds(audit)}{at}{claimed}")
    if budget is not None and audit.delta is not None and audit.delta > 0:
        where = ""
        if audit.delta_count is not None and audit.delta_count != audit.count:
            counts = f"in {audit.delta_count.left:,} runs on the left, {audit.delta_count.right:,} on the right"
            where = f"; {one_line(str(audit.delta_count.event))}: {counts}"
        yield Fact("", f"{sure} delta is at least {digits_down(audit.delta)} at epsilon = {budget.epsilon}{where}")
    if audit.deltas:
        yield Fact("lower curve", f"{sure} delta is at least, at all of these together:\n{delta_table(audit)}")
    if audit.p_value is not None:
        rare = f"were it {audit.claim}, runs as telling as these would be at most that likely"
        against = "the runs do not speak against it"
        if audit.violated:
            against = f"{rare}, so they speak against it"
        elif audit.p_value <= 1 - float(audit.confidence):
            against = f"rare, but runs speak against a claim only from {audit.accusing:.3g} on"
        yield Fact("the claim", f"{p_words(audit)}: {against}")
    low, high = audit.bracket
    beyond = f"and none from {up(high, digits=4)} on" if isfinite(high) else "and are in doubt about every other"
    what = bracket_words(audit)
    reject = (
        f"the runs reject every {what} below {digits_down(low)} {beyond}" if low > 0 else f"the runs reject no {what}"
    )
    yield Fact("bracket", f"{reject}; other data sets and events may lose more")
    count = audit.count
    if count is None:
        yield Fact("event", "none was tested")
        return
    yield Fact("event", one_line(str(count.event)))
    for label, side, number in (("left", count.pair.left, count.left), ("right", count.pair.right, count.right)):
        share = f" ({decimal(Fraction(100 * number, count.runs), digits=3)} %)" if count.runs else ""
        yield Fact(label, f"{data_words(side)}: in {number:,} of {count.runs:,} runs{share}")
    if count.left and not count.right:
        yield Fact("as counted", "never on the right: the loss may be infinite, but counts alone cannot tell")
    elif count.left > count.right:
        yield Fact("as counted", f"a loss of about {_about(count.estimate)}, not yet allowing for chance")


def bracket_words(audit: Audit) -> str:
    """What the p-values of an audit are about."""
    if not audit.measures:
        return "epsilon"
    return str(audit.measures[0].measure) if len(audit.measures) == 1 else "multiple of the claimed divergences"


def delta_table(audit: Audit) -> str:
    """The lower curve of deltas, a row for every epsilon."""
    rows = [("epsilon", "delta", "left", "right", "event")]
    for bound in audit.deltas:
        count = bound.count
        counts = ("", "", "the runs say nothing")
        if count is not None:
            counts = (f"{count.left:,}", f"{count.right:,}", one_line(str(count.event), _CELL))
        rows.append((_short(bound.epsilon), digits_down(bound.at_least), *counts))
    return table(rows)


def _short(value: Epsilon) -> str:
    exact = str(value)
    return exact if len(exact) <= _SHORT else f"{value.decimal()}"


def _exact(audit: Audit) -> Iterator[Fact]:
    """What exact engines say."""
    verdict, tight = audit.verdict, audit.tight
    if verdict is None and tight is None:
        yield Fact("exact engine", "none was asked, or none answers: nothing above is certain")
        return
    if verdict is not None:
        reason = f": {verdict.reason}" if isinstance(verdict, Unknown) else ""
        said = {"proved": "proves", "refuted": "refutes", "unknown": "cannot decide"}[verdict.status]
        yield Fact(
            "exact engine",
            f"{verdict.engine} {said} that {verdict.question.name} is {_claim_adjective(audit, verdict)}{reason}",
        )
    elif tight is not None:
        yield Fact("exact engine", tight.engine)
    shown: dict[str, str] = {}
    for found in (tight, verdict):
        if found is not None:
            for fact in facts(found, command=None, asked_tight=found is tight):
                shown.setdefault(fact.label, fact.text)
    yield from (Fact(label, shown[label]) for label in ("compared", *_ENGINE_FACTS) if label in shown)
    if verdict is not None and verdict.status == "refuted" and audit.real is None:
        listed = {fact.label: fact.text for fact in facts(verdict, command=None, asked_tight=False)}
        lines = [f"{label}: {listed[label]}" for label in _WITNESS_FACTS if label in listed]
        if lines:
            yield Fact("witness", "\n".join(lines))


def _claim_adjective(audit: Audit, verdict: Verdict) -> str:
    """What the verdict is about, as an adjective."""
    return audit.claim or report_of(verdict.question).claim(verdict.question)


def candidate_table(audit: Audit) -> str:
    """What was proposed by sampling, with exact probabilities, a row each."""
    rows = [("the claim" if audit.budget is not None else "", "exact loss", "left", "right", "event and data sets")]
    for candidate in ordered_candidates(audit):
        sides = " against ".join(one_line(data_words(side), _CELL) for side in (candidate.left, candidate.right))
        probabilities = [probability_words(p) for p in (candidate.left_probability, candidate.right_probability)]
        where = f"{one_line(str(candidate.exactly), _CELL)}, {sides}"
        judged = f"{candidate.judgement}{MEANINGS[candidate.judgement]}"
        rows.append((judged, loss_words(candidate.loss), probabilities[0], probabilities[1], where))
    rest = len(audit.candidates) - LISTED
    return table(rows) + (f"\nand {rest} more" if rest > 0 else "")


def ordered_candidates(audit: Audit) -> list[CertifiedCandidate]:
    """The candidates with the largest losses, those that are real first."""
    ordered = sorted(audit.candidates, key=lambda c: (c.judgement != "real", -as_float(c.loss)))
    return ordered[:LISTED]


def repeat_words(audit: Audit, command: str | None) -> str:
    """How the same audit is made again, or that it cannot be."""
    if not audit.repeatable:
        again = "" if command is None else f": {command} draws other runs"
        return f"not possible: what was run draws randomness that no seed decides{again}"
    if command is None:
        return f"with seed={audit.seed}"
    return command if "--seed" in command.split() else f"{command} --seed {audit.seed}"


def digits_down(value: float, *, digits: int = 4) -> str:
    """A number that is not above the given one, with so many digits.

    >>> digits_down(1.05149), digits_down(0.0), digits_down(float("inf"))
    ('1.051', '0', 'infinite')
    """
    return _round_value(value, digits, ROUND_FLOOR)


def up(value: float, *, digits: int = 2) -> str:
    """A number that is not below the given one, with so many digits.

    >>> up(1.2799571e-39), up(0.0412), up(1.0)
    ('1.3e-39', '0.042', '1')
    """
    return _round_value(value, digits, ROUND_CEILING)


def _round_value(value: float, digits: int, rounding: str) -> str:
    if not isfinite(value):
        return "infinite"
    found = Context(prec=digits, rounding=rounding).create_decimal(repr(float(value))).normalize()
    if found == 0:
        return "0"
    power = found.adjusted()
    return f"{found:f}" if -4 <= power <= 15 else f"{found.scaleb(-power).normalize():f}e{power}"


def percent(share: Fraction) -> str:
    """A share of one hundred.

    >>> percent(Fraction(19, 20)), percent(Fraction(999, 1000))
    ('95 %', '99.9 %')
    """
    return f"{float(100 * share):.10g} %"


def p_words(audit: Audit) -> str:
    """The p-value of the claim."""
    assert audit.p_value is not None
    return f"p = {up(audit.p_value)}" if audit.p_value > 0 else "p < 1e-300"


def loss_words(loss: Epsilon) -> str:
    """A loss: exactly where that is short, otherwise rounded down.

    >>> from privproof.exact import epsilon
    >>> loss_words(epsilon("ln(24/7)")), loss_words(epsilon("2394264978076667/1000000000000000"))
    ('ln(24/7) ≈ 1.23214', '≈ 2.394264')
    """
    if loss.infinite:
        return "infinite"
    return loss.show() if len(str(loss)) <= _SHORT else f"≈ {outward(loss, up=False, digits=6)}"


def probability_words(probability: Fraction | ExponentialSum) -> str:
    """An exact probability: as a fraction or in closed form where that is short, otherwise about.

    >>> probability_words(Fraction(11, 27)), probability_words(ExponentialSum.term("1/32", 0, "-55/32"))
    ('11/27', '≈ 0.00560282')
    """
    if isinstance(probability, Fraction):
        exact = text(probability)
        return exact if len(exact) <= 12 else f"≈ {decimal(probability)}"
    if probability.is_zero:
        return "0"
    exact = str(probability.at(1))
    return exact if len(exact) <= 12 else f"≈ {rounded_decimal(probability.ball(1, 192))}"


def _about(value: float) -> str:
    return "infinite" if value == inf else f"{value:.3g}"


def as_float(value: Epsilon) -> float:
    """An epsilon as a float, rounded down."""
    return inf if value.infinite else float(rational_bounds(value.ball())[0])


def one_line(words: str, most: int = _LONGEST) -> str:
    """Words in one line that is not too long."""
    line = " ".join(words.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def data_words(arguments: Mapping[str, Any]) -> str:
    """Data in one line."""
    return one_line(arguments_words(arguments))
