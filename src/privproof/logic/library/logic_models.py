"""The models of the dpCTL* paper: D. Liu, B.-Y. Wang, L. Zhang, "Model Checking Differentially Private Properties" (APLAS 2018).

Where the paper says that missing transitions lead to a special state with a loop, the models here have that state, `dead`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from flint import arb, fmpq

from privproof.exact import ONE, ZERO, Number, Rational, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.logic.decision_process import DecisionProcess, Enclosure, Row
from privproof.models.noise_rows import truncated_geometric_row

DEAD = "dead"


def survey() -> DecisionProcess:
    """Fig. 1: the survey with a coin; ``out1`` with probability 3/4 from plus, 1/4 from minus."""
    rows: dict[str, Row] = {"plus": {"yes": "3/4", "no": "1/4"}, "minus": {"yes": "1/4", "no": "3/4"}}
    rows |= {state: {DEAD: 1} for state in ("yes", "no", DEAD)}
    return DecisionProcess.of(
        states=["plus", "minus", "yes", "no", DEAD],
        transitions=rows,
        labels={"yes": "out1", "no": "out0"},
        neighbours=[("plus", "minus")],
        name="survey",
    )


def geometric(*, alpha: Number = "1/2", high: int = 5) -> DecisionProcess:
    """Fig. 2: the truncated geometric mechanism; inputs ``s0, s1, ...`` lead to outputs labelled ``out0, out1, ...``."""
    values = range(high + 1)
    transitions: dict[str, Row] = {
        f"s{k}": {f"t{z}": p for z, p in enumerate(truncated_geometric_row(k, alpha=alpha, high=high))} for k in values
    }
    transitions |= {f"t{k}": {DEAD: 1} for k in values} | {DEAD: {DEAD: 1}}
    return DecisionProcess.of(
        states=[*(f"s{k}" for k in values), *(f"t{k}" for k in values), DEAD],
        transitions=transitions,
        labels={f"s{k}": f"in{k}" for k in values} | {f"t{k}": f"out{k}" for k in values},
        neighbours=[(f"s{k}", f"s{k + 1}") for k in range(high)],
        name=f"truncated {alpha}-geometric mechanism over 0..{high}",
    )


def double_survey() -> DecisionProcess:
    """Fig. 4: the survey asked twice; the second answer does not depend on the first."""
    transitions: dict[str, Row] = {DEAD: {DEAD: 1}}
    labels: dict[str, str] = {}
    states = ["plus", "minus"]
    for sign, truth in (("plus", "3/4"), ("minus", "1/4")):
        yes = rational(truth)
        for number, onward in ((1, None), (2, DEAD)):
            for answer in ("yes", "no"):
                state = f"{sign} {answer} {number}"
                states.append(state)
                labels[state] = "out1" if answer == "yes" else "out0"
                following: Row = {f"{sign} yes 2": yes, f"{sign} no 2": 1 - yes}
                transitions[state] = following if onward is None else {onward: 1}
        transitions[sign] = {f"{sign} yes 1": yes, f"{sign} no 1": 1 - yes}
    return DecisionProcess.of(
        states=[*states, DEAD],
        transitions=transitions,
        labels=labels,
        neighbours=[("plus", "minus"), ("plus yes 1", "minus yes 1"), ("plus no 1", "minus no 1")],
        name="double survey",
    )


def interactive_survey() -> DecisionProcess:
    """Fig. 5: the surveyor asks with low (L) or high (H) accuracy."""
    rows: dict[str, Mapping[str, Row]] = {
        "plus": {"L": {"yes": "3/4", "no": "1/4"}, "H": {"yes": "4/5", "no": "1/5"}},
        "minus": {"L": {"yes": "1/4", "no": "3/4"}, "H": {"yes": "1/5", "no": "4/5"}},
    }
    rows |= {state: {"L": {DEAD: 1}, "H": {DEAD: 1}} for state in ("yes", "no", DEAD)}
    return DecisionProcess.of(
        states=["plus", "minus", "yes", "no", DEAD],
        actions=["L", "H"],
        transitions=rows,
        labels={"yes": "out1", "no": "out0"},
        neighbours=[("plus", "minus")],
        name="interactive survey",
    )


def above_threshold(
    *,
    high: int = 5,
    threshold_alpha: Number = "1/4",
    query_alpha: Number = "1/2",
    thresholds: Sequence[int] | None = None,
) -> DecisionProcess:
    """Fig. 6 and Algorithm 3: above threshold as a decision process of two copies, kept in step by the actions ``mn``.

    The state ``t3r5`` is the data set whose first answer is 5, under the threshold 3; ``_t3r4`` its copy for the neighbour.  The
    purely probabilistic steps are merged into the step that shows an answer: every step shows ``bot`` (below, go on) or ``top``
    (above, halt), so that the outputs below^k above are the paths ``(G[1,k] bot) & X^(k+1) top``.  The first step reads the answer in the
    state's name and ignores its action.
    """
    values = range(high + 1)
    noisy = [truncated_geometric_row(t, alpha=threshold_alpha, high=high) for t in values]
    queries = [truncated_geometric_row(r, alpha=query_alpha, high=high) for r in values]
    actions = [f"{m}{n}" for m in values for n in values if abs(m - n) <= 1]
    above = [[sum(queries[r][t:], ZERO) for r in values] for t in values]
    rows: dict[str, Mapping[str, Row]] = {}
    labels: dict[str, str] = {}
    kept = list(values) if thresholds is None else list(thresholds)
    for copy, mark in enumerate(("", "_")):
        for t in values:
            labels[f"{mark}~t{t}"] = "bot"
            rows[f"{mark}~t{t}"] = {action: _answer(above[t][int(action[copy])], f"{mark}~t{t}") for action in actions}
        for t in kept:
            for r in values:
                row: dict[str, Rational] = {"halted": ZERO}
                for i, p in enumerate(noisy[t]):
                    row["halted"] += p * above[i][r]
                    row[f"{mark}~t{i}"] = p * (1 - above[i][r])
                rows[f"{mark}t{t}r{r}"] = dict.fromkeys(actions, row)
    labels["halted"] = "top"
    rows |= {state: {action: {DEAD: 1} for action in actions} for state in ("halted", DEAD)}
    return DecisionProcess.of(
        states=[*(state for state in rows if state not in ("halted", DEAD)), "halted", DEAD],
        actions=actions,
        transitions=rows,
        labels=labels,
        neighbours=[(f"t{t}r{m}", f"_t{t}r{n}") for t in kept for m in values for n in values if abs(m - n) <= 1],
        name=f"above threshold over 0..{high}",
    )


def _answer(above: Rational, onward: str) -> Row:
    return {"halted": above, onward: 1 - above}


def subsampling_majority(
    *, epsilon: Number = 1, delta: Number = "1/2", people: int = 3, bits: int = 192
) -> DecisionProcess:
    """Fig. 3 and Algorithm 1: which team has the majority, by subsampling, for `people` people.

    The number of people of team R is the data set: ``r0, r1, ...``.  What the paper leaves open is chosen here: a subsample without
    a majority (a tie, or the empty one) counts for R with probability 1/2, so that each of the m subsamples counts for R independently
    with a probability p that depends on the data set, and count_R is binomial.  m is rounded up.  The parameters and the Laplace tail
    are irrational: every such probability is an enclosure from ball arithmetic.
    """
    with precision(bits):
        loss, share = arb(rational(epsilon)), arb(rational(delta))
        sampled = loss / (64 * (1 / share).log())
        rounds = (arb(people) / share).log() / (sampled * sampled)
        bottom, top = rational_bounds(rounds)
        m = -int(-bottom.p // bottom.q)
        if m != -int(-top.p // top.q):
            raise ArithmeticError(f"m is not determined at {bits} bits")
        names = [f"r{k}" for k in range(people + 1)]
        rows: dict[str, Row] = {}
        for k, name in enumerate(names):
            chance = _majority(sampled, k, people - k)
            other = 1 - chance
            odds = chance / other
            weights = [other**m]
            for i in range(m):
                weights.append(weights[-1] * odds * (m - i) / (i + 1))
            rows[name] = {f"c{i}": _enclose_weight(weight) for i, weight in enumerate(weights)}
        bar = (1 / share).log() / loss
        for i in range(m + 1):
            spread = arb(abs(2 * i - m)) / (4 * m * sampled) - 1
            tail = _laplace_tail(bar - spread, loss)
            answer = "one" if 2 * i >= m else "zero"
            rows[f"c{i}"] = {answer: _enclose_weight(tail), "nothing": _enclose_weight(1 - tail)}
    for state in ("one", "zero", "nothing"):
        rows[state] = {state: ONE}
    return DecisionProcess.of(
        states=list(rows),
        transitions=rows,
        labels={"one": "out1", "zero": "out0", "nothing": "none"},
        neighbours=[(names[k], names[k + 1]) for k in range(people)],
        name=f"subsampling majority of {people} people, epsilon {epsilon}, delta {delta}",
    )


def _majority(sampled: arb, red: int, blue: int) -> arb:
    """The probability that a subsample counts for R."""
    total = arb(0)
    for i in range(red + 1):
        for j in range(blue + 1):
            share = arb(fmpq(1 if i > j else 0)) if i != j else arb(fmpq(1, 2))
            ways = comb(red, i) * comb(blue, j)
            total += share * ways * sampled ** (i + j) * (1 - sampled) ** (red + blue - i - j)
    return total


def _laplace_tail(bound: arb, rate: arb) -> arb:
    """The probability that Laplace noise of scale 1/rate exceeds the bound."""
    if bound >= 0:
        return (-rate * bound).exp() / 2
    return 1 - (rate * bound).exp() / 2


def _enclose_weight(value: arb) -> Enclosure | Rational:
    low, high = rational_bounds(value)
    floor = fmpq(1, 2**4_000)
    return Enclosure(max(low, min(floor, high / 2)), min(high, ONE))


def from_automaton(
    *,
    states: Sequence[str],
    letters: Sequence[str],
    moves: Mapping[str, Mapping[str, Row]],
    start: str,
    accepting: Sequence[str],
    cutpoint: Number,
) -> DecisionProcess:
    """The reduction behind Theorem 1: a decision process whose ``D[0, cutpoint](F hit)`` says that no word is accepted above a cutpoint.

    The paper reduces from the emptiness of a probabilistic automaton with the cutpoint 0, which is plain reachability and so decidable;
    undecidable is whether some word is accepted with more than a cutpoint strictly between 0 and 1.  Here each letter keeps its
    matrix, and a new letter ``end`` stops the automaton: accepting states move to ``hit``, all others to ``miss``.  A second start,
    ``nowhere``, never hits.  The neighbours are the start and ``nowhere``, so for delta = cutpoint

        start |= D[0, cutpoint](F hit)   iff   no word is accepted with probability above the cutpoint.
    """
    rows: dict[str, Mapping[str, Row]] = {}
    for state in states:
        onward: Row = {"hit": 1} if state in accepting else {"miss": 1}
        rows[state] = {**moves[state], "end": onward}
    for state in ("hit", "miss", "nowhere"):
        rows[state] = {letter: {state: ONE} for letter in (*letters, "end")}
    return DecisionProcess.of(
        states=[*states, "hit", "miss", "nowhere"],
        actions=[*letters, "end"],
        transitions=rows,
        labels={"hit": "hit"},
        neighbours=[(start, "nowhere")],
        name=f"emptiness with cutpoint {cutpoint}",
    )
