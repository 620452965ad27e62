"""Above threshold with discrete noise: the privacy that its continuous ancestor has is gone (FAIER paper, Algorithm 4).

Queries with answers 0, 1, 2 are compared with a noisy threshold until one is above it.  The continuous mechanism with
noise of this size would be (4 ln 2)-private for any number of queries.  The discrete one loses ln 2 with every query,
so the claim holds for four queries and fails at exactly five.

``compact`` lets the adversary choose the answers; ``two_copies`` is the paper's hidden Markov model (Fig. 3), in which
a word of 2 n + 1 observations describes n queries.
"""

from dataclasses import replace

from privproof import Horizon, Question, check, tight_epsilon
from privproof.library import above_threshold, above_threshold_two_copies


def compact(size: int = 5) -> Question:
    """Up to `size` queries."""
    return replace(above_threshold(), horizon=Horizon.up_to(size))


def two_copies(size: int = 5) -> Question:
    """Up to `size` queries, as the hidden Markov model of Fig. 3."""
    return above_threshold_two_copies(horizon=Horizon.up_to(2 * size + 1))


if __name__ == "__main__":
    print("queries  ratio  two copies  within 4 ln 2")
    for size in range(1, 6):
        one, two = tight_epsilon(compact(size)), tight_epsilon(two_copies(size))
        claim = check(compact(size), "4*ln(2)")
        print(f"{size:7}  {one.tight.bound!s:>5}  {two.tight.bound!s:>10}  {claim.status}")

    witness = check(compact(), "4*ln(2)").witness
    print()
    print("the shortest counterexample:", " ".join(witness.output))
    print("  answers", *witness.inputs[0], "probability", witness.left_probability)
    print("  answers", *witness.inputs[1], "probability", witness.right_probability)
    print("  public threshold:", witness.pair, "- ratio", witness.ratio)
