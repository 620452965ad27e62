"""The commonest idioms of privacy code, one small mechanism for each; beside it the data, a claim, and what is true of it."""

from __future__ import annotations

import itertools
import math
import random
import secrets
import statistics
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import reduce

import numpy as np

from privproof import array, integer, one_of, queries, records

CASES = []
LISTED: dict[int, list[str]] = {}
"""The thirty idioms that were counted in public privacy code, by their numbers, each with the functions that show it."""


def case(status, epsilon, size=None, idiom=None, **inputs):
    """A function with its data, a claim and whether it holds; perhaps the number of the idiom that it shows."""

    def mark(function):
        CASES.append((function, inputs, epsilon, size, status))
        if idiom is not None:
            LISTED.setdefault(idiom, []).append(function.__name__)
        return function

    return mark


BITS = records(0, 1)
YESNO = records("yes", "no")


# ------------------------------------------------------------------------------------------------- checks, text, printing


@case("proved", 1, data=BITS, idiom=1)
def raise_on_parameters(data, epsilon=1.0):
    if epsilon <= 0:
        raise ValueError("epsilon must be positive")
    assert isinstance(epsilon, float)
    return sum(data) + np.random.laplace(0, 1 / epsilon)


@case("proved", 1, data=BITS, idiom=2)
def f_string_and_print(data):
    noisy = sum(data) + np.random.laplace()
    print(f"the count is {noisy:.3f}")
    return f"count: {noisy:.3f}"


class Counting:
    def __init__(self, epsilon=0.5):
        self.epsilon = epsilon

    def randomise(self, data):
        return sum(data) + np.random.laplace(scale=1 / self.epsilon)


CASES.append((Counting().randomise, {"data": BITS}, "1/2", None, "proved"))
CASES.append((Counting(1).randomise, {"data": BITS}, "1/2", None, "refuted"))
LISTED[3] = ["randomise"]


@case("proved", "1/2", data=BITS, idiom=3)
def object_made_inside(data):
    counting = Counting(epsilon=0.5)
    return counting.randomise(data)


@case("proved", 1, data=BITS, idiom=2)
def text_of_a_noisy_number(data):
    noisy = sum(data) + np.random.laplace()
    return "count: " + str(noisy)


@case("proved", 1, data=BITS, idiom=8)
def length_of_the_data(data):
    return len(data) + np.random.laplace(0, 1)


@case("proved", 1, data=BITS, idiom=13)
def slice_of_the_data(data):
    return sum(data[1:]) + np.random.laplace(0, 1)


@case("proved", 1, data=BITS, idiom=15)
def float_of_a_noisy_number(data):
    return float(sum(data) + np.random.laplace(0, 1))


@case("proved", 1, data=BITS, idiom=15)
def int_of_a_noisy_number(data):
    return max(0, int(np.round(sum(data) + np.random.laplace(0, 1))))


@case("proved", 2, data=records("a", "b"), idiom=27)
def counted_one_by_one(data):
    counts = defaultdict(int)
    for row in data:
        counts[row] += 1
    return {key: counts[key] + np.random.laplace(0, 1) for key in ("a", "b")}


@case("proved", 2, data=records(0, 1, 2), idiom=17)
def cells_of_an_array(data):
    cells = np.zeros(3)
    for value in data:
        cells[value] += 1
    return cells + np.random.laplace(0, 1, size=3)


@case("proved", 1, data=BITS, idiom=18)
def mean_of_a_noisy_sum(data):
    return (sum(data) + np.random.laplace(0, 1)) / len(data)


@case("proved", 1, data=BITS, idiom=20)
def noise_before_the_sum(data):
    noise = np.random.laplace(loc=0, scale=1.0)
    return sum(data) + noise


@case("proved", 2, data=queries(0, 1), size=2, idiom=21)
def noise_that_is_kept(data):
    noise = np.random.laplace(0, 1, size=len(data))
    return [x + n for x, n in zip(data, noise)]


@case("proved", "ln(3)", bit=one_of(0, 1), idiom=22)
def uniform_number_that_is_kept(bit):
    u = np.random.uniform(0, 1)
    if u < 0.25:
        return 0
    return 1 if u < 0.5 else bit


@case("proved", 1, left=BITS, right=BITS, size=2, idiom=24)
def two_lists_side_by_side(left, right):
    return sum(1 for x, y in zip(left, right) if x != y) + np.random.laplace(0, 1)


@case("refuted", 1, data=BITS, size=1, idiom=25)
def gaussian_noise(data):
    return sum(data) + np.random.normal(0, 1)


@case("proved", "ln(3)", answer=one_of("yes", "no"), idiom=28)
def weights_by_data(answer):
    return random.choices(["yes", "no"], weights=[3, 1] if answer == "yes" else [1, 3])[0]


@case("proved", 1, data=queries(0, 1), size=2, idiom=30)
def index_of_the_largest(data):
    noisy = {i: x + np.random.laplace(0, 2) for i, x in enumerate(data)}
    return max(noisy, key=noisy.get)


@case("proved", 1, data=BITS)
def generator_made_inside(data, rng=None):
    if rng is None:
        rng = np.random.default_rng()
    return sum(data) + rng.laplace(0, 1.0)


@case("proved", 1, data=queries(0, 1), size=2, idiom=9)
def threshold_that_is_a_float(data, threshold=0.5):
    noisy_threshold = threshold + np.random.laplace(0, 2.0)
    for i, answer in enumerate(data):
        if max(answer + np.random.laplace(0, 4.0), 0.0) >= noisy_threshold:
            return i
    return None


@case("refuted", "1/2", data=BITS, size=2)
def too_little_noise_at_a_size(data, mode="count", epsilon=1.0):
    if mode == "count":
        scale = 1 / epsilon
    else:
        scale = 2 / epsilon
    return sum(data) + np.random.laplace(0, scale)


def laplace_mechanism(data, query, sensitivity, epsilon):
    return query(data) + np.random.laplace(loc=0, scale=sensitivity / epsilon)


@case("proved", 1, data=BITS, idiom=5)
def query_given_to_a_function(data):
    return laplace_mechanism(data, lambda rows: sum(rows), 1, 1.0)


class Callable:
    def __call__(self, data):
        return sum(data) + np.random.laplace()


CASES.append((Callable(), {"data": BITS}, 1, None, "proved"))


@case("proved", "ln(3)", answer=one_of(0, 1), idiom=4)
def exp_of_parameters(answer, epsilon=1.0986122886681098):
    truth = round(math.exp(epsilon)) / (1 + round(math.exp(epsilon)))
    return answer if random.random() < truth else 1 - answer


@case("proved", 1, data=BITS, idiom=5)
def lambda_as_query(data, query=lambda rows: len([r for r in rows if r == 1])):
    return query(data) + np.random.laplace(0, 1)


@case("proved", 2, data=BITS, size=2, idiom=6)
def zeros_that_are_filled(data):
    out = np.zeros(2)
    for value in data:
        out[value] += 1
    for i in range(2):
        out[i] += np.random.laplace(0, 1)
    return out


@case("proved", 1, data=queries(0, 1), size=2, idiom=7)
def noisy_list_index_max(data):
    noisy = [x + np.random.laplace(0, 2) for x in data]
    return noisy.index(max(noisy))


@case("proved", 1, data=array(BITS), size=2, idiom=18)
def shape_of_an_array(data):
    return data.sum() / data.shape[0] + np.random.laplace(0, 1 / data.shape[0])


@case("proved", "ln(3)", data=YESNO, size=2, idiom=9)
def none_if_nothing_is_found(data):
    for i, answer in enumerate(data):
        if random.random() < (0.75 if answer == "yes" else 0.25):
            return i
    return None


@case("proved", "ln(3)", data=BITS, size=2, idiom=10)
def append_to_a_list(data):
    out = []
    for bit in data:
        out.append(bit if random.random() < 0.75 else 1 - bit)
    return out


@case("proved", 1, data=array(records(0, 1, 5)), size=2, idiom=14)
def numpy_clip_and_sum(data):
    return np.sum(np.clip(data, 0, 1)) + np.random.laplace(0, 1)


@case("refuted", 1, data=array(records(0, 1, 5)), size=1, idiom=11)
def sum_without_clip(data):
    return np.sum(data) + np.random.laplace(0, 1)


@case("proved", 1, data=records(0, 1, 2), size=3, idiom=12)
def exponential_mechanism_for_a_median(data):
    scores = [-abs(sum(x < v for x in data) - sum(x > v for x in data)) / 2 for v in (0, 1, 2)]
    weights = [math.exp(s / 2) for s in scores]
    return random.choices((0, 1, 2), weights=weights)[0]


@case("proved", 1, data=BITS, idiom=15)
def rounded_to_a_whole_number(data):
    return round(sum(data) + np.random.laplace(0, 1))


@case("proved", 1, data=BITS, idiom=16)
def min_and_max(data):
    return min(max(sum(data) + np.random.laplace(0, 1), 0), len(data))


@case("proved", 1, data=records("a", "b", "c"), size=2, idiom=17)
def histogram_by_counter(data):
    counts = Counter(data)
    return {key: counts[key] + np.random.laplace(0, 2) for key in ("a", "b", "c")}


@case("refuted", 5, data=records("a", "b", "c"), size=2, idiom=27)
def histogram_with_private_keys(data):
    return {key: count + np.random.laplace(0, 2) for key, count in Counter(data).items()}


@case("proved", 2, data=BITS, size=2, idiom=29)
def mean_of_noisy_sum_and_count(data, eps=1.0):
    noisy_sum = sum(data) + np.random.laplace(0, 1 / eps)
    noisy_count = len(data) + np.random.laplace(0, 1 / eps)
    return noisy_sum / noisy_count


@case("proved", 1, data=BITS, idiom=19)
def split_of_the_budget(data, eps=1.0):
    half = eps / 2
    return [sum(data) + np.random.laplace(0, 1 / half) for _ in range(2)]


@case("proved", 1, data=queries(0, 1), size=2, idiom=21)
def noise_of_a_size(data):
    noisy = np.array(data) + np.random.laplace(loc=0, scale=2.0, size=len(data))
    return int(np.argmax(noisy))


@case("proved", "ln(3)", answer=one_of("yes", "no"), idiom=22)
def random_below(answer):
    if random.random() < 0.5:
        return answer
    return "yes" if random.random() < 0.5 else "no"


@case("proved", 1, data=array(BITS), size=2, idiom=23)
def masks(data):
    return len(data[data == 1]) + np.random.laplace(0, 1)


@case("proved", 1, left=BITS, right=BITS, size=1, idiom=24)
def zipped(left, right):
    return sum(a * b for a, b in zip(left, right)) + np.random.laplace(0, 1)


@case("proved", "ln(3)", data=BITS, size=2, idiom=26)
def sampled_records(data):
    chosen = random.choice(data)
    return chosen if random.random() < 0.75 else 1 - chosen


@case("proved", 1, data=records("x", "y"), size=2, idiom=27)
def defaultdict_and_items(data):
    counts = defaultdict(int, {"x": 0, "y": 0})
    for row in data:
        counts[row] += 1
    return [(name, count + np.random.laplace(scale=2)) for name, count in counts.items()]


@case("proved", "ln(3)", bit=one_of(0, 1), idiom=28)
def randint_coin(bit):
    if random.randint(0, 1):
        return bit
    return random.randint(0, 1)


@case("proved", "ln(3)", bit=one_of(0, 1), idiom=28)
def choice_with_probabilities(bit):
    return int(np.random.choice([bit, 1 - bit], p=[0.75, 0.25]))


@case("proved", 1, data=queries(0, 1), size=2, idiom=30)
def sorted_top(data):
    noisy = sorted(((x + random.expovariate(0.5), i) for i, x in enumerate(data)), reverse=True)
    return noisy[0][1]


@case("proved", 2, data=BITS, size=2, idiom=30)
def running_counts(data):
    return [total + np.random.laplace(0, 1) for total in itertools.accumulate(data)]


# --------------------------------------------------------------------------------------------------------------- Python


class Answer(Enum):
    YES = "yes"
    NO = "no"


class Level(IntEnum):
    LOW = 0
    HIGH = 1


@dataclass(frozen=True)
class Report:
    winner: int
    label: str


Pair = namedtuple("Pair", "first second")


@case("proved", "ln(3)", bit=one_of(0, 1))
def enum_as_output(bit):
    shown = bit if secrets.randbelow(4) else 1 - bit
    return Answer.YES if shown else Answer.NO


@case("proved", "ln(3)", bit=one_of(0, 1))
def int_enum(bit):
    level = Level(bit)
    return level if random.random() < 0.75 else Level(1 - level)


@case("proved", 1, data=queries(0, 1), size=2)
def dataclass_as_output(data):
    noisy = {i: x + np.random.exponential(2.0) for i, x in enumerate(data)}
    return Report(max(noisy, key=noisy.get), "done")


@case("proved", "2*ln(3)", data=BITS, size=2)
def namedtuple_of_both(data):
    flip = [b if random.random() < 0.75 else 1 - b for b in data]
    return Pair(*flip)


@case("proved", "ln(3)", bit=one_of(0, 1))
def nested_function_and_closure(bit):
    def flip(value):
        return 1 - value if random.getrandbits(2) == 0 else value

    return flip(bit)


@case("proved", "ln(3)", bit=one_of(0, 1))
def recursion(bit, depth=3):
    if depth == 0:
        return bit if random.random() < 0.75 else 1 - bit
    return recursion(bit, depth - 1)


@case("proved", "ln(3)", bit=one_of(0, 1))
def try_and_with(bit):
    try:
        return {0: "no", 1: "yes"}[bit if random.random() < 0.75 else 1 - bit]
    except KeyError:
        return "never"


@case("refuted", 10, data=BITS, size=1)
def fails_on_some_data(data):
    return 1 / sum(data) * random.randint(1, 2)


@case("proved", 1, data=BITS, size=2)
def walrus_and_star(data):
    first, *rest = data
    if (total := first + sum(rest)) >= 0:
        return total + np.random.laplace(0, 1)
    return None


@case("proved", 1, data=BITS, size=3)
def statistics_and_reduce(data):
    return reduce(lambda a, b: a + b, data) + statistics.mean([0, 0]) + np.random.laplace(0, 1)


@case("proved", "ln(3)", bit=one_of(0, 1))
def bit_operators(bit):
    return bit ^ (random.randrange(4) == 0)


@case("proved", "ln(2)", value=integer(0, 2))
def a_set_as_output(value):
    return {value, value} if random.random() < 2 / 4 else {0, 1, 2}


CASES[-1] = (*CASES[-1][:2], "ln(2)", None, "refuted")


@case("proved", "ln(3)", data=YESNO, size=2)
def joined_text(data):
    return ",".join(x if random.random() < 0.75 else {"yes": "no", "no": "yes"}[x] for x in data)


@case("proved", "ln(3)", bit=one_of(0, 1))
def generator_of_outputs(bit):
    yield "start"
    yield bit if random.random() < 0.75 else 1 - bit


@case("proved", 1, data=BITS, size=2)
def keyword_dictionary(data):
    options = {"loc": sum(data), "scale": 1.0}
    return np.random.laplace(**options)


@case("refuted", 100, data=BITS, size=2)
def the_mean_without_noise_on_the_sign(data):
    noisy = sum(data) + np.random.laplace(0, 1)
    return noisy, max(data)
