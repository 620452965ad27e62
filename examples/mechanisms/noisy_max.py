"""Which of several queries has the largest answer?  Two ways to say it with noise (FAIER paper, Algorithms 2 and 3)."""

from fractions import Fraction

from privproof import bernoulli, mechanism, queries, truncated_geometric


@mechanism(epsilon="ln(2)")
def naive(answers: queries(0, 2)):
    best, winner = -1, 0
    for i, answer in enumerate(answers, start=1):
        noisy = truncated_geometric(answer, alpha="1/2", low=0, high=2)
        if noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="ln(4)")
def improved(answers: queries(0, 2)):
    best, winner, ties = -1, 0, 0
    for i, answer in enumerate(answers, start=1):
        noisy = truncated_geometric(answer, alpha="1/2", low=0, high=2)
        if noisy == best:
            ties += 1
            if bernoulli(Fraction(1, ties)):
                winner = i
        elif noisy > best:
            best, winner, ties = noisy, i, 1
    return winner
