"""A hidden Markov model in Python: is the noisy count private, how private is it, and who checks the proof?

A count of 0, 1 or 2 people is released through the truncated geometric mechanism (FAIER paper, Example 4.2).
A state is a true count, an observation a noisy one, and counts of neighbouring data sets differ by at most one.
"""

from privproof import HiddenMarkovModel, Horizon, Neighbours, Question, Scenario, check, recheck, tight_epsilon

model = HiddenMarkovModel(
    states=["zero", "one", "two"],
    observations=["0", "1", "2"],
    emissions={
        "zero": {"0": "2/3", "1": "1/6", "2": "1/6"},
        "one": {"0": "1/3", "1": "1/3", "2": "1/3"},
        "two": {"0": "1/6", "1": "1/6", "2": "2/3"},
    },
)
question = Question(
    model=model,
    scenario=Scenario(neighbours=Neighbours.each(within=1, coordinates={"zero": [0], "one": [1], "two": [2]})),
    horizon=Horizon.exactly(1),
    name="noisy count",
)

if __name__ == "__main__":
    for budget in ("ln(2)", "1/2"):
        verdict = check(question, budget)
        print(f"epsilon = {budget}: {verdict.status}")

    witness = verdict.witness
    print(f"output {witness.output}: {witness.left_probability} from {dict(witness.left)},")
    print(f"             {witness.right_probability} from {dict(witness.right)}, ratio {witness.ratio}")

    verdict = tight_epsilon(question)
    print("tight epsilon:", verdict.tight.show())
    print("independent checker:", recheck(verdict.certificate).statement)
