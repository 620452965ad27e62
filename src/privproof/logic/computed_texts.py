"""What was computed from several properties, on a terminal and as plain data."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from privproof.exact import text
from privproof.logic.computed_quantities import Amount, Computation, Value
from privproof.logic.formula_texts import number_in_words
from privproof.logic.path_measures import ValueBetween
from privproof.reporting.console_texts import print_facts
from privproof.reporting.report_facts import Fact

_LINES = 12
"""The states whose values are listed, a line each."""


def computation_status(found: Computation) -> int:
    """The status of the command: a truth that is computed counts as it is, a number is an answer."""
    return 1 if False in found.values else 3 if None in found.values else 0


def computation_line(found: Computation) -> str:
    """The answer in a line."""
    told = list(dict.fromkeys(map(_words, found.values)))
    return f"{found.text}: {'; '.join(told[:_LINES])}"


def print_computation(console: Console, found: Computation, *, name: str = "", certified: bool = False) -> None:
    """Print the answer: one sentence, and the values behind it."""
    process = found.process
    called = process.name or "the process"
    values = list(dict.fromkeys(found.values))
    said = f"{called}: {found.text}" + (f" is {_words(values[0])}" if len(values) == 1 else "")
    listed = [Fact("property", name)] if name else []
    if len(found.asked) > 1:
        shown = list(zip(found.asked, found.values, strict=True))[:_LINES]
        lines = [f"{process.names[state]}: {_words(value)}" for state, value in shown]
        if len(found.asked) > _LINES:
            lines.append(f"... {len(found.asked) - _LINES} more")
        listed.append(Fact("values", "\n".join(lines)))
    else:
        listed.append(Fact("states", f"{process.names[found.asked[0]]} ({found.chosen})"))
    listed.extend(Fact("reason", reason) for reason in found.reasons)
    listed.extend(Fact("note", note) for note in found.notes)
    if certified:
        listed.append(Fact("certificate", "none: what is computed from several properties claims nothing"))
    print_facts(
        console, "unknown" if None in values else "computed", said, [*listed, Fact("time", f"{found.seconds:.2f} s")]
    )


def computation_data(found: Computation) -> dict[str, Any]:
    """The answer as plain data, the object that ``--json`` prints; a truth is computed, not proved."""
    process = found.process
    numbers = all(isinstance(value, Amount) for value in found.values)
    reasons = found.reasons if numbers else (*found.reasons, "computed from several properties, and not certified")
    result: dict[str, Any] = {
        "verdict": "proved" if numbers else "unknown",
        "engine": "logic",
        "question": {
            "mechanism": process.name,
            "kind": "markov-chain" if process.is_chain else "mdp",
            "formula": found.text,
        },
        "tight": None,
        "witness": None,
        "states": [
            {"state": process.names[state], "value": _data(value)}
            for state, value in zip(found.asked, found.values, strict=True)
        ],
        "certificate": None,
        "seconds": round(found.seconds, 6),
        "notes": list(found.notes),
    }
    if reasons:
        result["reason"] = "; ".join(reasons)
    return result


def _words(value: Value) -> str:
    if isinstance(value, Amount):
        if value.low is None or value.high is None:
            return "infinite"
        if value.low < 0 <= value.high and not value.exact:
            return f"between {text(value.low)} and {text(value.high)}"
        if value.low < 0:
            return "-" + number_in_words(ValueBetween(-value.high, -value.low)).replace(" = ", " = -").replace(
                "≈ ", "≈ -"
            )
        return number_in_words(ValueBetween(value.low, value.high))
    return "not known" if value is None else str(value).lower()


def _data(value: Value) -> Any:
    if not isinstance(value, Amount):
        return value
    if value.low is None or value.high is None:
        return "inf"
    return text(value.low) if value.exact else [text(value.low), text(value.high)]
