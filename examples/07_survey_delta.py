"""(epsilon, delta) of a survey: events against single outputs.

Two yes/no questions are answered by randomised response, and one true answer may differ (models/survey.yaml).  A delta
counts over events, sets of outputs: for every set E, P(E) <= e^epsilon Q(E) + delta.  Counting it for each output by
itself is a weaker promise, and its epsilon is smaller: an event collects what single outputs exceed the bound by.
"""

from dataclasses import replace
from pathlib import Path

from privproof import Horizon, check, read_question, tight_epsilon

survey = read_question(Path(__file__).parent / "models" / "survey.yaml")

if __name__ == "__main__":
    print("delta   over events     for each output")
    for delta in ("0", "1/16", "1/8", "1/4", "1/2"):
        events, outputs = tight_epsilon(survey, delta), tight_epsilon(survey, delta, pointwise=True)
        print(f"{delta:6}  {events.tight!s:14}  {outputs.tight!s}")

    verdict = check(survey, "ln(2)", "1/5")
    print()
    print(f"(ln 2, 1/5): {verdict.status} by the event")
    for outcome in verdict.event:
        print("  ", *outcome.output, " ", outcome.left_probability, "against", outcome.right_probability)
    left = sum(outcome.left_probability for outcome in verdict.event)
    right = sum(outcome.right_probability for outcome in verdict.event)
    print(f"   together {left} > 2 * {right} + 1/5 = {2 * right} + 1/5")

    print()
    print("more questions, delta 1/4 (one answer differs):")
    for questions in (1, 2, 3):
        longer = replace(survey, horizon=Horizon.exactly(questions))
        print(f"   {questions}: over events", tight_epsilon(longer, "1/4").tight, end=", ")
        print("for each output", tight_epsilon(longer, "1/4", pointwise=True).tight)
