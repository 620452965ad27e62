"""Formulas of the logic dpCTL*: a survey, two surveys, a survey whose accuracy the surveyor chooses, and a mechanism.

D[epsilon, delta](f) says that the probability of f is nearly the same from every neighbouring state; P bounds a probability.  On a
decision process D is about every sequence of actions that is fixed in advance, P about every scheduler.
"""

from mechanisms.threshold import above

from privproof import DecisionProcess, Horizon, Satisfaction, mechanism_process, model_check, read_process, recheck


def tell(process: DecisionProcess, formula: str, **options: list[str]) -> Satisfaction:
    """Ask a formula, and print the verdict with the worst pair of neighbours."""
    found = model_check(process, formula, **options)
    print(f"{formula}: {found.status}")
    gap = found.witness
    if gap is not None:
        names = process.names[gap.left], process.names[gap.right]
        print(
            f"  {names[0]}: {gap.left_probability.low}, {names[1]}: {gap.right_probability.low}, epsilon {gap.epsilon[0]}"
        )
        if gap.actions is not None:
            print("  actions", *gap.actions[0])
    return found


if __name__ == "__main__":
    survey = read_process("models/logic/survey.yaml")
    tell(survey, "all a in {out0, out1}: D[ln(3), 0](X a)")
    tell(survey, "D[1, 0](X out1)")

    double = read_process("models/logic/double_survey.yaml")
    tell(double, "D[ln(9), 0](X (out1 & X out1))")
    tell(double, "D[ln(3), 0](X X out1)")
    tell(double, "D[ln(3), 0](X (out1 & D[ln(3), 0](X out1)))")

    interactive = read_process("models/logic/interactive_survey.yaml")
    found = tell(interactive, "D[ln(3), 0](X out1)")
    print("  the checker:", recheck(found.certificate).verdict)
    likely = model_check(interactive, "P=? [ X out1 ]").measured
    for state in ("plus", "minus"):
        number = interactive.state(state)
        for bounds in likely.values():
            print(f"  yes from {state}: {bounds.least(number).low} to {bounds.most(number).low}")

    chain = mechanism_process(above, horizon=Horizon.exactly(2))
    tell(chain, "D[ln(4), 0](X (below & X above))")
