"""Randomised response over time: every report is ln(3)-private, the stream of reports is not.

A person is active or resting and stays so for the next hour with probability `stay`.  Every hour the state is reported
truthfully with probability 3/4.  The secret is the state in the first hour; the more the state lasts, the more later
reports tell about it.
"""

from fractions import Fraction

from privproof import HiddenMarkovModel, Horizon, Pair, Question, Scenario, tight_epsilon


def reports(stay: Fraction, hours: int) -> Question:
    """What the reports of the first hours tell about the first state."""
    other = {"active": "resting", "resting": "active"}
    model = HiddenMarkovModel(
        states=["active", "resting"],
        observations=["A", "R"],
        transitions={state: {state: stay, other[state]: 1 - stay} for state in other},
        emissions={"active": {"A": "3/4", "R": "1/4"}, "resting": {"A": "1/4", "R": "3/4"}},
    )
    pair = Pair.of(model, "first hour", {"active": 1}, {"resting": 1})
    return Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=Horizon.up_to(hours), name="activity")


def activity(size: int = 5) -> Question:
    """The model of models/activity.yaml, for any number of hours."""
    return reports(Fraction(4, 5), size)


if __name__ == "__main__":
    print("hours  stays with 1/2  with 4/5  with 9/10   (e^epsilon)")
    stays = (Fraction(1, 2), Fraction(4, 5), Fraction(9, 10))
    for hours in (1, 2, 3, 5, 10, 20):
        tight = [tight_epsilon(reports(stay, hours)).tight for stay in stays]
        ratios = [f"{float(epsilon.bound):.4f}" for epsilon in tight]
        print(f"{hours:5}  {ratios[0]:>14}  {ratios[1]:>8}  {ratios[2]:>9}")
    print()
    print("exactly, for 5 hours and 4/5:", tight_epsilon(activity()).tight)
