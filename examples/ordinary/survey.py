"""A survey, released by ordinary Python: no decorator, numpy's noise, floats.  Is it private?"""

from collections import Counter

import numpy as np


def counts(answers, epsilon=0.5):
    """How many said yes and how many said no, with noise for a count."""
    tally = Counter(answers)
    noise = np.random.laplace(0, 1 / epsilon, size=2)
    return {"yes": tally["yes"] + noise[0], "no": tally["no"] + noise[1]}


def repaired(answers, epsilon=0.5):
    """The same with noise for two counts: one person who changes their mind changes both."""
    tally = Counter(answers)
    noise = np.random.laplace(0, 2 / epsilon, size=2)
    return {"yes": tally["yes"] + noise[0], "no": tally["no"] + noise[1]}


def edited(answers, epsilon=0.5):
    """The repaired one, after somebody has tidied up the output."""
    tally = Counter(answers)
    noise = np.random.laplace(0, 2 / epsilon, size=2)
    return {"yes": round(tally["yes"] + noise[0]), "no": round(tally["no"] + noise[1])}


class Survey:
    """A mechanism as libraries write it: a class with its parameters."""

    def __init__(self, truth=0.75):
        self.truth = truth
        self.rng = np.random.default_rng()

    def randomise(self, answer):
        """The answer, or the other one."""
        if self.rng.random() < self.truth:
            return answer
        return "no" if answer == "yes" else "yes"


def mean(ages, low=0, high=2, epsilon=1.0):
    """The mean of some ages, clipped: the number of people is no secret."""
    clipped = np.clip(ages, low, high)
    return clipped.mean() + np.random.laplace(0, (high - low) / (epsilon * len(ages)))


def seen(answers, epsilon=1.0):
    """A noisy count for every answer that was given."""
    return {answer: count + np.random.laplace(0, 2 / epsilon) for answer, count in Counter(answers).items()}


def remembering(answer, asked=[]):  # noqa: B006 - this is the mistake
    """Every second answer is the true one."""
    asked.append(answer)
    return answer if len(asked) % 2 else "yes"
