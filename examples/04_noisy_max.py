"""Noisy max for any number of queries: which of n counts is the largest? (FAIER paper, Algorithms 2 and 3)

Every count passes through the truncated geometric mechanism, and the index of the largest noisy count is released.
Every count may change by one.  Breaking ties by the first index costs ln 2 with every query; breaking them uniformly
stays below ln 4.  All inputs and all neighbours are compared, for 6 queries 3^6 inputs with up to 3^6 neighbours each.

A function with a parameter `size` can be asked on the command line::

    privproof epsilon examples/04_noisy_max.py:improved --size 10
"""

from privproof import Question, tight_epsilon
from privproof.library import noisy_max_question


def naive(size: int = 3) -> Question:
    """The first index wins ties (FAIER paper, Algorithm 2)."""
    return noisy_max_question(size, improved=False)


def improved(size: int = 3) -> Question:
    """Ties are broken uniformly (FAIER paper, Algorithm 3)."""
    return noisy_max_question(size, improved=True)


if __name__ == "__main__":
    print("queries  naive   improved")
    for size in range(2, 7):
        print(f"{size:7}  {tight_epsilon(naive(size)).tight!s:6}  {tight_epsilon(improved(size)).tight.show()}")

    witness = tight_epsilon(improved(3)).witness
    print()
    print("improved, 3 queries: output", *witness.output)
    print("  answers", *witness.inputs[0], "probability", witness.left_probability)
    print("  answers", *witness.inputs[1], "probability", witness.right_probability)
