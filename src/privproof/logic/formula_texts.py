"""What model checking established, on a terminal and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from privproof.exact import Epsilon, decimal, show, text
from privproof.exact.number_texts import outward
from privproof.logic.counterexample_traces import Trace
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Expected
from privproof.logic.path_measures import Closeness, Gap, Likelihood, ValueBetween
from privproof.logic.state_filters import PLAIN, Filtered
from privproof.logic.state_satisfaction import Satisfaction
from privproof.reporting.console_texts import print_facts
from privproof.reporting.report_facts import Fact

_LISTED = 8
"""A sentence names so many states; the others are counted."""
_WIDTH = 100
"""The names of states in a sentence have at most so many characters together; the first is always given."""
_LINES = 12
"""The states whose probabilities are listed, a line each, without ``--all``."""
_PLAIN = 60
"""With more states than this JSON echoes how they were chosen instead of their names, unless all are asked for."""


def print_satisfaction(
    console: Console,
    found: Satisfaction,
    *,
    every: bool,
    more: tuple[Fact, ...] = (),
    made: Filtered | None = None,
    name: str = "",
) -> None:
    """Print the answer: one sentence, then what is behind it, and what a filter makes of it."""
    status, said = told_status(found), sentence(found)
    if made is not None and made.aggregate not in PLAIN:
        status = "computed" if made.value is not None else "unknown"
    listed = facts(found, every=every)
    if made is not None:
        listed.insert(0, Fact("filter", _filter_words(made)))
    if name:
        listed.insert(0, Fact("property", name))
    print_facts(console, status, said, [*listed, *more])


def experiment_line(label: str, name: str, found: Satisfaction, made: Filtered | None) -> str:
    """The answer for one combination of constants, in a line."""
    if made is not None and made.aggregate not in PLAIN:
        value = _filter_words(made)
    elif found.is_query and found.status != "unknown":
        likely = found.measured[found.formula]
        told = [_likely(found, likely, s) for s in found.asked]
        value = told[0] if len(set(told)) == 1 else "; ".join(told[:_LISTED])
    else:
        value = found.status
    return f"{label}  {name + '  ' if name else ''}{found.formula}: {value}"


def filtered_status(found: Satisfaction, made: Filtered) -> int:
    """The status of a command that asked for what a filter makes: a truth that is computed counts as it is, a number is an answer."""
    if made.aggregate in (*PLAIN, "forall"):
        return {"proved": 0, "refuted": 1, "unknown": 3}[found.status]
    return 3 if made.value is None else 1 if made.value is False else 0


def _filter_words(made: Filtered) -> str:
    over = f"{made.aggregate} over {made.states} state{'s' if made.states > 1 else ''}"
    match made.value:
        case None:
            return f"{over}: not known"
        case bool():
            return f"{over}: {str(made.value).lower()}"
        case int():
            return f"{over}: {made.value}"
        case ValueBetween():
            return f"{over}: {number_in_words(made.value)}"
        case (low, high):
            return f"{over}: from {number_in_words(low)} to {number_in_words(high)}"


def _filter_data(made: Filtered) -> dict[str, Any]:
    value: Any = made.value
    if isinstance(value, ValueBetween):
        value = _number(value)
    elif isinstance(value, tuple):
        value = [_number(end) for end in value]
    return {"kind": made.aggregate, "states": made.states, "value": value}


def told_status(found: Satisfaction) -> str:
    """The status as it is told: of a query, that it is computed."""
    return "computed" if found.is_query and found.status == "proved" else found.status


def sentence(found: Satisfaction) -> str:
    """The answer in one sentence."""
    name = found.process.name or "the process"
    formula = str(found.formula)
    if found.is_query:
        if found.status == "unknown":
            return f"{name}: {formula} is not known"
        if len(found.asked) == 1:
            return f"{name}: {formula} is {_likely(found, found.measured[found.formula], found.asked[0])}"
        return f"{name}: {formula}"
    where = {1: [], 0: [], -1: []}  # type: dict[int, list[int]]
    for state in found.asked:
        where[int(found.truth[state])].append(state)
    if found.status == "proved":
        return f"{name}: {formula} holds in {_names(found, where[1])}"
    if found.status == "refuted":
        return f"{name}: {formula} fails in {_names(found, where[0])}"
    return f"{name}: not known whether {formula} holds in {_names(found, where[-1])}"


def _names(found: Satisfaction, states: list[int] | tuple[int, ...]) -> str:
    """States by name; not more than fit a line or two."""
    if len(states) == len(found.process) >= 4:
        return f"all {len(states)} states"
    listed: list[str] = []
    for state in states[:_LISTED]:
        name = found.process.names[state]
        if listed and sum(map(len, listed)) + len(name) > _WIDTH:
            break
        listed.append(name)
    joined = ("; " if any("," in name for name in listed) else ", ").join(listed)
    rest = len(states) - len(listed)
    return f"{joined} and {rest} more state{'s' if rest > 1 else ''}" if rest else joined


def facts(found: Satisfaction, *, every: bool) -> list[Fact]:
    """Everything a reader needs, in order."""
    return list(_facts(found, every=every))


def _facts(found: Satisfaction, *, every: bool) -> Iterator[Fact]:
    process = found.process
    kind = "Markov chain" if process.is_chain else f"decision process with {len(process.actions)} actions"
    yield Fact("logic", found.sublogic)
    yield Fact("model", f"{kind}, {len(process)} states, {len(process.targets)} transitions")
    if len(found.asked) < len(process):
        yield Fact("states", f"{_names(found, found.asked)} ({found.chosen})")
    if found.status == "refuted":
        holding = [s for s in found.asked if found.truth[s] == 1]
        if holding:
            yield Fact("holds in", _names(found, holding))
    for measured in found.measured.values():
        if len(found.measured) > 1:
            yield Fact("formula", str(measured.formula))
        if isinstance(measured, Closeness):
            yield from _close(found, measured, every=every)
        else:
            yield from _probabilities(found, measured, every=every)
    for reason in found.reasons:
        yield Fact("reason", reason)
    for note in found.notes:
        yield Fact("note", note)
    compared = [m for m in found.measured.values() if isinstance(m, Closeness)]
    if compared and all(_both_are_zero(found, close) for close in compared):
        yield Fact("note", "the path formula has probability 0 from every state compared: nothing can be told apart")
    if found.certificate is not None:
        yield Fact("checked", "the independent checker computed everything again and agrees")
    yield Fact("time", f"{found.seconds:.2f} s")


def _both_are_zero(found: Satisfaction, close: Closeness) -> bool:
    """Whether both probabilities of the worst pair are zero."""
    worst = found.worst(close)
    return worst is not None and worst.left_probability.high == 0 == worst.right_probability.high


def _probabilities(found: Satisfaction, likely: Likelihood, *, every: bool) -> Iterator[Fact]:
    asked = range(len(found.process)) if every else found.asked
    shown = asked if every else asked[:_LINES]
    lines = [f"{found.process.names[s]}: {_likely(found, likely, s)}" for s in shown]
    if len(shown) < len(asked):
        lines.append(f"... {len(found.asked) - len(shown)} more; --all lists them")
    what = "reward" if isinstance(likely.formula, Expected) else "probability"
    yield Fact(what, "\n".join(lines) + (f"\n({likely.how})" if likely.how != "exact" else ""))


def _likely(found: Satisfaction, likely: Likelihood | Closeness, state: int) -> str:
    assert isinstance(likely, Likelihood)
    if likely.how == "not decided":
        return "not known"
    if found.process.is_chain or likely.side == "min":
        return number_in_words(likely.least(state))
    if likely.side == "max":
        return number_in_words(likely.most(state))
    least, most = likely.least(state), likely.most(state)
    if least == most:
        return f"{number_in_words(least)} under every scheduler"
    return f"from {number_in_words(least)} to {number_in_words(most)} over all schedulers"


def number_in_words(number: ValueBetween) -> str:
    """A probability or an expected reward in words."""
    if number.infinite:
        return "infinite"
    if number.exact:
        return show(number.low)
    low, high = decimal(number.low, digits=12), decimal(number.high, digits=12)
    width = float(number.high - number.low)
    return (
        f"≈ {decimal((number.low + number.high) / 2, digits=10)} (±{width / 2:.0e})"
        if low[:6] == high[:6]
        else (f"between {low} and {high}")
    )


def _close(found: Satisfaction, close: Closeness, *, every: bool) -> Iterator[Fact]:
    worst = found.worst(close)
    if worst is None:
        yield Fact("neighbours", "the asked states have none but themselves")
        return
    yield from _gap(found, worst)
    if worst.holds is False and close.trace is not None:
        for state in (worst.left, worst.right):
            yield Fact("a run", _trace_words(found.process, state, close.trace(state)))
    if every and len(close.pairs) > 1:
        lines = []
        for left, right in close.pairs:
            gap = close.gap(left, right)
            verdict = {True: "close enough", False: "too far apart", None: "not decided"}[gap.holds]
            names = f"{found.process.names[gap.left]} against {found.process.names[gap.right]}"
            lines.append(f"{names}: {verdict}, {_sides(gap)}, epsilon {_epsilons(gap)}")
        yield Fact("all pairs", "\n".join(lines))


def _trace_words(process: DecisionProcess, state: int, trace: Trace | None) -> str:
    """A run in words."""
    if trace is None:
        return f"{process.names[state]}: no run settles the path formula after few steps"
    told = process.names[trace.states[0]]
    for place, target in enumerate(trace.states[1:]):
        arrow = f" -{trace.actions[place]}-> " if trace.actions else " -> "
        told += arrow + process.names[target]
    steps = len(trace.states) - 1
    told += ", for ever" if trace.stays else ""
    after = f"{trace.outcome} after {steps} step{'' if steps == 1 else 's'}"
    likely = "" if trace.probability is None else f", probability {show(trace.probability)}"
    return f"{told}: {after}{likely}"


def _trace_data(process: DecisionProcess, trace: Trace | None) -> dict[str, Any] | None:
    if trace is None:
        return None
    plain: dict[str, Any] = {"states": [process.names[s] for s in trace.states], "outcome": trace.outcome}
    if trace.stays:
        plain["stays"] = True
    if trace.actions:
        plain["actions"] = list(trace.actions)
    if trace.probability is not None:
        plain["probability"] = text(trace.probability)
    return plain


def runs_lines(process: DecisionProcess, traces: Sequence[Trace]) -> list[str]:
    """Drawn runs, a line each, and how many settle the formula."""
    lines = [f"{number}  {_trace_words(process, trace.states[0], trace)}" for number, trace in enumerate(traces, 1)]
    counts = {
        outcome: sum(trace.outcome == outcome for trace in traces) for outcome in ("satisfied", "violated", "open")
    }
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    return [*lines, f"{len(traces)} runs: {told}; drawn, nothing is proved by them"]


def runs_data(process: DecisionProcess, traces: Sequence[Trace]) -> list[dict[str, Any] | None]:
    """Drawn runs as plain data."""
    return [_trace_data(process, trace) for trace in traces]


def _sides(gap: Gap) -> str:
    return f"{number_in_words(gap.left_probability)} against {number_in_words(gap.right_probability)}"


def _gap(found: Satisfaction, gap: Gap) -> Iterator[Fact]:
    process = found.process
    names = f"{process.names[gap.left]} against {process.names[gap.right]}"
    if gap.actions is not None or process.is_chain:
        yield Fact("worst pair", f"{names}: {_sides(gap)}")
    else:
        yield Fact(
            "worst pair",
            f"{names}: at most {show(gap.left_probability.high)} against at least {show(gap.right_probability.low)}",
        )
    if gap.actions is not None:
        before, repeated = gap.actions
        cycle = f", then {' '.join(repeated)} for ever" if repeated else ""
        yield Fact("actions", f"{' '.join(before) or '(none)'}{cycle}")
    yield Fact("needs", f"epsilon {_epsilons(gap)} at this delta, or delta {_deltas(gap.delta)} at this epsilon")
    if gap.reason:
        yield Fact("because", gap.reason)


def _epsilons(gap: Gap) -> str:
    low, high = gap.epsilon
    if low.compare(high) == 0:
        return low.show()
    if low.compare(Epsilon()) == 0:
        return f"at most {outward(high, up=True, digits=6)}"
    if outward(low, up=False, digits=9) == outward(high, up=True, digits=9):
        return f"≈ {low.decimal(digits=9)}"
    return f"between {outward(low, up=False, digits=6)} and {outward(high, up=True, digits=6)}"


def _deltas(number: ValueBetween) -> str:
    if number.exact:
        return show(number.low)
    if float(number.high - number.low) < 1e-9:
        return f"≈ {decimal(number.low, digits=9)}"
    if number.low == 0:
        return f"at most {decimal(number.high)}"
    return f"between {decimal(number.low)} and {decimal(number.high)}"


def satisfaction_data(
    found: Satisfaction, *, certificate: str | None, every: bool = False, made: Filtered | None = None
) -> dict[str, Any]:
    """The answer as plain data, the object that ``--json`` prints."""
    process, worst = found.process, found.witness
    result: dict[str, Any] = {
        "verdict": found.status,
        "engine": found.engine,
        "question": {
            "mechanism": process.name,
            "kind": "markov-chain" if process.is_chain else "mdp",
            "formula": str(found.formula),
            "logic": found.sublogic,
            "states": [process.names[s] for s in found.asked] if len(found.asked) <= _PLAIN or every else found.chosen,
        },
        "tight": _tight(worst),
        "witness": None if worst is None else _witness(found, worst),
        "states": [
            {"state": process.names[s], "holds": {1: True, 0: False}.get(int(found.truth[s]))}
            for s in (range(len(process)) if every else found.asked)
        ],
        "operators": [_operator(found, measured, every=every) for measured in found.measured.values()],
        "certificate": certificate,
        "seconds": round(found.seconds, 6),
        "notes": list(found.notes),
    }
    if made is not None:
        result["filter"] = _filter_data(made)
    if found.reasons:
        result["reason"] = "; ".join(found.reasons)
    return result


def _tight(gap: Gap | None) -> dict[str, Any] | None:
    if gap is None:
        return None
    low, high = gap.epsilon
    same = low.compare(high) == 0
    return {
        "ratio": text(low.bound) if same and low.bound is not None else None,
        "epsilon": low.decimal(digits=10) if same else None,
        "exact": str(low) if same else None,
        "lower": outward(low, up=False),
        "upper": outward(high, up=True),
        "delta": _number(gap.delta),
    }


def _number(number: ValueBetween) -> str | list[str]:
    if number.infinite:
        return "inf"
    return text(number.low) if number.exact else [text(number.low), text(number.high)]


def _witness(found: Satisfaction, gap: Gap) -> dict[str, Any]:
    names = found.process.names
    p, q = gap.left_probability, gap.right_probability
    ratio = (
        None
        if not (p.exact and q.exact)
        else "inf"
        if q.low == 0 < p.low
        else None
        if q.low == 0
        else text(p.low / q.low)
    )
    result: dict[str, Any] = {
        "left": names[gap.left],
        "right": names[gap.right],
        "output": next(
            (
                str(m.formula.path)
                for m in found.measured.values()
                if isinstance(m, Closeness) and found.worst(m) is gap
            ),
            None,
        ),
        "left_probability": _number(p),
        "right_probability": _number(q),
        "ratio": ratio,
        "holds": gap.holds,
    }
    close = next((m for m in found.measured.values() if isinstance(m, Closeness) and found.worst(m) is gap), None)
    if close is not None and close.trace is not None and gap.holds is False:
        result["runs"] = {
            side: _trace_data(found.process, close.trace(state))
            for side, state in (("left", gap.left), ("right", gap.right))
        }
    if gap.actions is not None:
        result["actions"] = {"before": list(gap.actions[0]), "repeated": list(gap.actions[1])}
    if gap.reason:
        result["reason"] = gap.reason
    return result


def _operator(found: Satisfaction, measured: Likelihood | Closeness, *, every: bool) -> dict[str, Any]:
    names = found.process.names
    states = range(len(found.process)) if every else found.asked
    listed: list[dict[str, Any]] = []
    for s in states:
        entry: dict[str, Any] = {"state": names[s], "holds": {1: True, 0: False}.get(int(measured.truth[s]))}
        if isinstance(measured, Likelihood):
            if found.process.is_chain:
                what = "reward" if isinstance(measured.formula, Expected) else "probability"
                entry[what] = _number(measured.least(s))
            else:
                entry |= {"least": _number(measured.least(s)), "most": _number(measured.most(s))}
        else:
            gap = measured.worst(s)
            entry["worst"] = None if gap is None else {**_witness(found, gap), "tight": _tight(gap)}
        listed.append(entry)
    return {"formula": str(measured.formula), "how": measured.how, "states": listed}
