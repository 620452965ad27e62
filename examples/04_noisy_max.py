"""Noisy max for any number of queries, built in Python: ``privproof epsilon examples/04_noisy_max.py:improved --size 10``."""

from privproof import Question, tight_epsilon
from privproof.library import noisy_max_question


def naive(size: int = 3) -> Question:
    """The first index wins ties (FAIER paper, Algorithm 2)."""
    return noisy_max_question(size, improved=False)


def improved(size: int = 3) -> Question:
    """Ties are broken uniformly (FAIER paper, Algorithm 3)."""
    return noisy_max_question(size, improved=True)


if __name__ == "__main__":
    for size in range(2, 7):
        print(size, tight_epsilon(naive(size)).tight, tight_epsilon(improved(size)).tight)
