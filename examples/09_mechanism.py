"""A mechanism is a Python function: it runs, and its source is what is verified.

A shop asks n customers whether they would come again.  It releases a noisy count, and, separately, whether a majority said yes.
The count is private as claimed.  The majority is released without noise on purpose here: the verdict names two data sets that it
tells apart, and the repaired version is proved.
"""

from privproof import bernoulli, check, geometric, mechanism, output_distribution, records, seeded, tight_epsilon


@mechanism(epsilon="ln(2)")
def count(answers: records("yes", "no")):
    return geometric(answers.count("yes"), alpha="1/2")


@mechanism(epsilon="ln(2)")
def majority(answers: records("yes", "no")):
    return 2 * answers.count("yes") > len(answers)


@mechanism(epsilon="ln(2)")
def noisy_majority(answers: records("yes", "no")):
    truth = 2 * answers.count("yes") > len(answers)
    return truth if bernoulli("2/3") else not truth


if __name__ == "__main__":
    with seeded(1):
        print("five runs:", [count(["yes", "no", "yes"]) for _ in range(5)])
    print("exactly:", {output: str(p) for output, p in output_distribution(count, ["yes", "no", "yes"]).items()})
    print()
    for asked in (count, majority, noisy_majority):
        verdict = check(asked, size=5)
        print(f"{asked.name} of 5: {verdict.status}")
        if verdict.status == "refuted":
            left, right = verdict.arguments
            print("  left ", left)
            print("  right", right)
            print(
                "  output",
                *verdict.witness.output,
                "with",
                verdict.witness.left_probability,
                "and",
                verdict.witness.right_probability,
            )
    print()
    print("tight epsilon of the noisy majority:", tight_epsilon(noisy_majority, size=5).tight)
