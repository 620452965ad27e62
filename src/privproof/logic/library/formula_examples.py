"""Formulas asked of the dpCTL* paper's models: each with what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from privproof.logic.decision_process import DecisionProcess
from privproof.logic.library import logic_models as logic


@dataclass(frozen=True)
class FormulaExample:
    """An entry of the library that asks a formula of a model.

    Attributes:
        name: what ``privproof examples NAME`` takes.
        title: one line on the model.
        citation: where it comes from.
        known: what is known, in words; shown beside the verdict found, never used to find it.
        process: makes the model.
        formula: the formula asked.
        states: the states it is asked in; None for those that have neighbours.
    """

    name: str
    title: str
    citation: str
    known: str
    process: Callable[[], DecisionProcess]
    formula: str
    states: tuple[str, ...] | None = None


_PAPER = "Liu, Wang, Zhang: Model Checking Differentially Private Properties"

FORMULAS: tuple[FormulaExample, ...] = (
    FormulaExample(
        "logic-survey",
        "the survey with a coin, as a Markov chain",
        f"{_PAPER}, Fig. 1 and Section 6",
        "holds; ln(3) is tight",
        logic.survey,
        "D[ln(3), 0](X out1) & D[ln(3), 0](X out0)",
    ),
    FormulaExample(
        "logic-geometric",
        "the truncated 1/2-geometric mechanism over 0..5, as a Markov chain",
        f"{_PAPER}, Fig. 2 and Section 6",
        "holds; ln(2) is tight for every output",
        logic.geometric,
        "all k in 0..5: D[ln(2), 0](X out{k})",
    ),
    FormulaExample(
        "logic-subsampling",
        "subsampling majority of 3 people at epsilon 1, delta 1/2: 3,527 rounds, Laplace noise enclosed",
        f"{_PAPER}, Fig. 3 and Section 6",
        "holds; at epsilon 1 a delta of about 0.0854 would do",
        logic.subsampling_majority,
        "D[1, 1/2](F out0) & D[1, 1/2](F out1)",
    ),
    FormulaExample(
        "logic-double-survey",
        "the survey asked twice",
        f"{_PAPER}, Fig. 4 and Section 6",
        "holds; ln(9) is tight (9/16 against 1/16)",
        logic.double_survey,
        "all a in {out1, out0}: all b in {out1, out0}: D[ln(9), 0](X (a & X b))",
    ),
    FormulaExample(
        "logic-double-survey-second",
        "the survey asked twice, the first answer not looked at",
        f"{_PAPER}, Section 6",
        "holds; no loss from asking twice",
        logic.double_survey,
        "D[ln(3), 0](X X out1)",
    ),
    FormulaExample(
        "logic-double-survey-nested",
        "the survey asked twice, the second answer private in every state the first leads to",
        f"{_PAPER}, Section 6",
        "holds",
        logic.double_survey,
        "D[ln(3), 0](X (out1 & D[ln(3), 0](X out1)))",
    ),
    FormulaExample(
        "logic-double-survey-delta",
        "the survey asked twice, by delta alone: better than composition, which gives delta 1",
        f"{_PAPER}, Section 6",
        "holds; delta 1/2 is tight at epsilon 0",
        logic.double_survey,
        "D[0, 1/2](X (out1 & X out1))",
    ),
    FormulaExample(
        "logic-interactive-survey",
        "the survey with an accuracy that the surveyor chooses, as a decision process",
        f"{_PAPER}, Fig. 5",
        "holds; ln(4) is tight, by the query H",
        logic.interactive_survey,
        "D[ln(4), 0](X out1) & D[ln(4), 0](X out0)",
    ),
    FormulaExample(
        "logic-above-threshold-pair",
        "above threshold over 0..5, one pair of data sets, epsilon 0, up to 7 answers below",
        f"{_PAPER}, Section 8.1",
        "holds by Proposition 2, which gives 0.162207",
        lambda: logic.above_threshold().having_only([("t3r5", "_t3r4")]),
        "all k in 0..7: D[0, 17/100]((G[1,k] bot) & (X^(k + 1) top))",
        ("t3r5", "_t3r4"),
    ),
    FormulaExample(
        "logic-above-threshold",
        "above threshold over 0..5, all pairs of data sets, up to 7 answers below",
        f"{_PAPER}, Section 8.1",
        "holds by Proposition 2, which gives 0.714721 (at epsilon 0 0.731641)",
        logic.above_threshold,
        "all k in 0..7: D[1, 37/50]((G[1,k] bot) & (X^(k + 1) top))",
    ),
    FormulaExample(
        "logic-above-threshold-exact",
        "the same with the delta that query schedulers really need, up to 2 answers below",
        "our own: exact over query schedulers",
        "holds; the least delta at epsilon 1 is about 0.163222",
        logic.above_threshold,
        "all k in 0..2: D[1, 16323/100000]((G[1,k] bot) & (X^(k + 1) top))",
    ),
)
