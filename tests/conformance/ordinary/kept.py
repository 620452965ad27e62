"""Traps around what is kept: noise that is read twice, objects and names that change; each with what is true of it."""

from __future__ import annotations

import math
import random

import numpy as np

from privproof import one_of, queries, records

TRAPS = []
BITS, ANSWERS = records(0, 1), queries(0, 1)


def trap(status, epsilon, size=None, **inputs):
    """A function with its data, a claim and whether it holds."""

    def mark(function):
        TRAPS.append((function, inputs, epsilon, size, status))
        return function

    return mark


@trap("refuted", 2, data=ANSWERS, size=2)
def noise_read_twice(data):
    noise = np.random.laplace(0, 1, len(data))
    return [x + n for x, n in zip(data, noise)], [2 * x + n for x, n in zip(data, noise)]


@trap("refuted", 2, data=ANSWERS, size=2)
def noise_read_again_in_an_outer_loop(data):
    noise = np.random.laplace(0, 1, len(data))
    out = []
    for k in (1, 2):
        for x, n in zip(data, noise):
            out.append(k * x + n)
    return out


@trap("refuted", 2, data=ANSWERS, size=2)
def index_that_does_not_move(data):
    noise = np.random.laplace(0, 1, len(data))
    out = []
    for i in range(len(data)):
        i = 0
        out.append(data[i] + noise[i])
    return [*out, out[0] - out[1] + data[1]]


@trap("proved", 1, data=ANSWERS, size=2)
def fewer_noises_than_data(data):
    noise = np.random.laplace(0, 1, 1)
    return [x + n for x, n in zip(data, noise)]


@trap("refuted", "1/2", data=ANSWERS, size=2)
def scale_that_changes_afterwards(data):
    scale = 1.0
    noise = np.random.laplace(0, scale, len(data))
    scale = 100.0
    return np.array(data) + noise


@trap("refuted", "ln(2)", bit=one_of(0, 1))
def uniform_number_compared_twice(bit):
    u = random.random()
    return (u < (0.75 if bit else 0.25), u < 0.5)


@trap("refuted", 5, bit=one_of(0, 1))
def uniform_number_compared_with_data_and_again(bit):
    u = random.random()
    p = 0.5 + 0.25 * bit
    return u < 0.5 if u < p else None


@trap("refuted", "1/2", data=BITS, size=2)
def scale_that_a_loop_sets(data, scale=None):
    for _ in data:
        scale = 1.0
    if scale is None:
        scale = 100.0
    return sum(data) + np.random.laplace(0, scale)


@trap("refuted", "1/2", data=BITS, size=1)
def scale_that_data_change(data, scale=None):
    if scale is None:
        scale = 100.0
    if data[0]:
        scale = 1.0
    return sum(data) + np.random.laplace(0, scale)


@trap("refuted", 5, data=BITS, size=1)
def flag_that_becomes_data(data, flag=True):
    if flag:
        flag = data[0]
    return sum(data) if flag else np.random.laplace(0, 100.0)


@trap("refuted", 9, data=BITS, size=1)
def number_that_is_noisy_on_one_way(data):
    shown = sum(data) + np.random.laplace(0, 1)
    if data[0]:
        shown = sum(data)
    return shown / 3


class Release:
    def __init__(self, epsilon):
        self.scale = 1.0 / epsilon
        self.calls = 0

    def release(self, value):
        return value + np.random.laplace(0, self.scale)

    def counted(self, value):
        self.calls += 1
        return value + np.random.laplace(0, self.calls * self.scale)


@trap("refuted", "1/2", data=BITS)
def object_with_its_own_scale(data):
    return Release(1.0).release(sum(data))


@trap("proved", "3/2", data=BITS, size=1)
def object_that_counts_its_calls(data):
    made = Release(1.0)
    return made.counted(sum(data)), made.counted(sum(data))


@trap("proved", "1/100", data=BITS, size=1)
def object_whose_scale_is_changed(data):
    made = Release(1.0)
    made.scale = 100.0
    return made.release(sum(data))


class Shadowed:
    def __init__(self):
        self.release = lambda value: value

    def release(self, value):
        return value + np.random.laplace()


@trap("refuted", 5, data=BITS, size=1)
def method_behind_an_attribute(data):
    return Shadowed().release(sum(data))


@trap("refuted", "3/2", data=BITS, size=1)
def closure_that_sees_the_later_value(data):
    factor = 1
    query = lambda rows: factor * sum(rows)  # noqa: E731
    factor = 2
    return query(data) + np.random.laplace()


@trap("proved", 1, data=BITS, size=1)
def logarithm_that_fails_on_noise(data):
    noisy = [sum(data)][0] + np.random.laplace()
    try:
        return math.log(noisy)
    except ValueError:
        return "negative"


@trap("unknown", 1, data=BITS, size=1)
def failure_that_shows_the_data(data):
    noisy = [sum(data)][0] + np.random.laplace()
    try:
        return math.log(noisy)
    except ValueError:
        return data
