"""Gaussian noise, as it stands in ordinary code."""

import math
import random

import numpy as np


def noisy_count(data, sigma=2.0):
    """How many ones: private only with a delta."""
    return sum(data) + random.gauss(0, sigma)


def classical(data, epsilon=10.0, delta=1e-5):
    """The classical formula for sigma, which is a theorem up to epsilon 1 only."""
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return sum(data) + np.random.normal(0, sigma)


def histogram(data, sigma=4.0):
    """One record that changes moves two cells."""
    return {key: data.count(key) + np.random.normal(0, sigma) for key in ("a", "b", "c")}


def above_threshold(answers, threshold=1.0):
    """The first answer that is noisily above a noisy threshold."""
    noisy = threshold + random.gauss(0, 4)
    for i, answer in enumerate(answers):
        if answer + random.gauss(0, 8) >= noisy:
            return i
    return None
