"""Functions that try to get a wrong verdict: what leaks through corners of Python must not be proved, what is private not refuted.

Every function reads one bit.  A `LEAKS` function tells it, far beyond epsilon = 1/100.  A `ONE` function has epsilon 1 exactly.  An
`EVEN` function shows the same on both.
"""

import asyncio
import atexit
import collections
import contextlib
import contextvars
import copy
import ctypes
import decimal
import enum
import functools
import io
import json
import logging
import math
import numbers
import os
import pathlib
import pickle
import random
import secrets
import shutil
import sys
import tempfile
import threading
import types
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privproof import geometric

LEAKS, ONE, EVEN = [], [], []


def leaks(function):
    LEAKS.append(function)
    return function


def one(function):
    ONE.append(function)
    return function


def even(function):
    EVEN.append(function)
    return function


# --------------------------------------------------------------------- refusals and errors that the function catches


@leaks
def catches_a_float(bit):
    try:
        return float(np.random.laplace(10 * bit, 0.1))
    except Exception:
        return 0


@leaks
def catches_a_whole_number(bit):
    try:
        return int(np.random.laplace(10 * bit, 0.1))
    except Exception:
        return 0


@leaks
def catches_json(bit):
    try:
        return json.dumps(np.random.laplace(10 * bit, 0.1))
    except TypeError:
        return ""


@leaks
def catches_a_decimal(bit):
    try:
        return bit if decimal.Decimal(np.random.laplace()) else 2
    except TypeError:
        return 0


@leaks
def catches_a_fraction(bit):
    try:
        return bit if Fraction(np.random.laplace()) else 2
    except TypeError:
        return 0


@leaks
def catches_bits_of_whole_noise(bit):
    noise = geometric(0, alpha="1/2")
    try:
        return bit if (noise & 1) in (0, 1) else 2
    except TypeError:
        return 0


@leaks
def catches_a_complex_number(bit):
    try:
        np.random.laplace() * 1j
    except TypeError:
        return 0
    return bit


@leaks
def catches_a_key(bit):
    kept = {}
    with contextlib.suppress(Exception):
        kept[np.random.laplace()] = 1
    return bit if kept else 0


@leaks
def catches_close(bit):
    try:
        return bool(np.isclose(np.random.laplace(10 * bit, 0.1), 0, atol=1))
    except TypeError:
        return 0


# -------------------------------------------------------------------------------------------- what a noisy number is


@leaks
def asks_for_its_kind(bit):
    return bit if isinstance(np.random.laplace(), float) else 0


@leaks
def asks_for_its_type(bit):
    return bit if type(np.random.laplace()) is float else 0


@leaks
def asks_for_its_class(bit):
    return bit if np.random.laplace().__class__.__name__ == "float" else 0


@leaks
def asks_whether_it_is_real(bit):
    return bit if isinstance(np.random.laplace(), numbers.Real) else 0


@leaks
def matches_it(bit):
    match np.random.laplace():
        case float():
            return bit
        case _:
            return 0


@leaks
def asks_for_an_attribute(bit):
    return bit if hasattr(np.random.laplace(), "is_integer") else 0


@leaks
def compares_with_an_array(bit):
    return bit if (np.random.laplace() == np.array([1, 2])) is not False else 0


@leaks
def compares_with_none(bit):
    return bit if np.random.laplace() != None and round(np.random.laplace()) != None else 0  # noqa: E711


@leaks
def asks_for_the_kind_of_an_array(bit):
    return bit if np.zeros(2).dtype == np.random.laplace(size=2).dtype == float else 0


@leaks
def float_of_whole_noise(bit):
    noise = geometric(0, alpha="1/2")
    return noise / 1 if bit else noise


class Lying:
    def __init__(self, held):
        self.held = held

    def __repr__(self):
        return "Lying"

    def __radd__(self, other):
        return self.held

    __rpow__ = __radd__


@leaks
def adds_a_lying_object(bit):
    return round(np.random.laplace(), 1) + Lying(bit)


@leaks
def raises_to_a_lying_object(bit):
    return np.random.laplace() ** Lying(bit)


@leaks
def multiplies_a_long_array(bit):
    factors = np.zeros(1200, dtype=int)
    factors[600] = bit
    return round(np.random.laplace(), 1) * factors


@leaks
def multiplies_nearly_the_same(bit):
    return round(np.random.laplace(), 1) * np.array([bit * 1e-12 + 0.1])


@even
def noise_that_cancels(bit):
    noise = np.random.laplace()
    return noise - noise if bit else 0.0


@one
def deep_copy(bit):
    return copy.deepcopy([np.random.laplace(bit, 1)])


@one
def pickled(bit):
    return pickle.dumps(np.random.laplace(bit, 1))


@one
def begins_with_infinity(bit):
    best = float("-inf")
    for each in [np.random.laplace(bit, 1), np.random.laplace()]:
        best = max(best, each)
    return best


@one
def deviation(bit):
    return np.std(np.random.laplace(size=2) + np.array([bit, 0]))


# ------------------------------------------------------------------------------------------------------------- texts


@one
def text_of_it(bit):
    return str(np.random.laplace(bit, 1))


@one
def text_of_a_list(bit):
    return str([np.random.laplace(bit, 1)])


def shown(value):
    return f"{value:.0f}"


@leaks
def compares_its_text(bit):
    return shown(np.random.laplace(10 * bit, 0.1)) == "0"


@leaks
def cuts_its_text(bit):
    return f"{np.random.laplace(10 * bit, 0.1)!s:.2}"


@leaks
def escapes_its_text(bit):
    return f"{np.random.laplace(10 * bit, 0.1)!a}"


@leaks
def sorts_by_texts(bit):
    first, second = np.random.laplace(10 * bit, 0.1), np.random.laplace(5, 0.1)
    return sorted([first, second], key=str)[0] > 5, str(1)


LOG = []


def log(text):
    LOG.append(text)


@leaks
def keeps_a_log_of_its_own(bit):
    LOG.clear()
    log(f"{np.random.laplace(10 * bit, 0.1)}")
    kept = list(LOG)
    LOG.clear()
    return kept


@leaks
def prints_to_a_text(bit):
    text = io.StringIO()
    print(bit, file=text)
    return text.getvalue()


@leaks
def prints_elsewhere(bit):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print(bit)
    return text.getvalue()


@leaks
def prints_noise_to_a_text(bit):
    text = io.StringIO()
    print(np.random.laplace(10 * bit, 0.1), file=text)
    return text.getvalue()


@leaks
def reads_its_log(bit):
    class Handler(logging.Handler):
        def emit(self, record):
            kept.append(record.getMessage())

    kept = []
    logger = logging.Logger("x")
    logger.addHandler(Handler())
    logger.warning("%s", bit)
    return kept


# ----------------------------------------------------------------------------------------------------------- outputs


@leaks
def exits(bit):
    if bit:
        sys.exit(0)
    return 0


class Telling(Exception):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def __str__(self):
        return "nothing"


@leaks
def error_with_data(bit):
    if random.random() < 0.5:
        return 0
    raise Telling(bit)


@leaks
def yields_and_fails(bit):
    yield bit
    raise ValueError("x")


class Listed(list):
    pass


class Number(float):
    pass


@dataclass
class Field:
    a: int


@leaks
def list_with_more(bit):
    made = Listed([1])
    made.held = bit
    return made


@leaks
def number_with_more(bit):
    made = Number(1)
    made.held = bit
    return made


@leaks
def dataclass_with_more(bit):
    made = Field(1)
    made.held = bit
    return made


@leaks
def class_made_anew(bit):
    class Held:
        value = bit

    return Held()


@leaks
def fields_made_anew(bit):
    return collections.namedtuple("Held", ["a" if bit else "b"])(1)


@leaks
def names_made_anew(bit):
    return next(iter(enum.Enum("Held", {"A": bit})))


class Unprintable:
    def __init__(self, held):
        self.held = held

    def __repr__(self):
        raise RuntimeError("no")


@leaks
def unprintable(bit):
    return Unprintable(bit)


class Hidden:
    __slots__ = ("__held",)

    def __init__(self, held):
        self.__held = held


@leaks
def hidden_in_a_slot(bit):
    return Hidden(bit)


class Empty(Mapping):
    def __init__(self, held):
        self.held = held

    def __getitem__(self, name):
        raise KeyError(name)

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


@leaks
def mapping_with_more(bit):
    return Empty(bit)


@leaks
def masked(bit):
    return np.ma.array([bit, 1], mask=[True, False])


@leaks
def in_a_task(bit):
    async def inside():
        return bit

    return asyncio.run(inside())


@even
def assigned_to_an_array(bit):
    made = np.zeros(2)
    if bit:
        made[0] = 0
    return made, made[0]


@even
def arrays_of_zeros(bit):
    return np.zeros(2) if bit else np.array([0.0, 0.0])


@one
def in_a_namespace(bit):
    return types.SimpleNamespace(a=np.random.laplace(bit, 1))


# -------------------------------------------------------------------------------------------------------- randomness


@leaks
def seeded(bit):
    random.seed(5)
    return bit + random.expovariate(1)


@leaks
def seeded_generator(bit):
    return bit + np.random.default_rng(5).laplace()


@leaks
def draws_into_an_array(bit):
    drawn = np.zeros(1)
    np.random.default_rng().random(out=drawn)
    return bit if drawn[0] > 0 else 0


@leaks
def small_numbers_wrap(bit):
    with np.errstate(over="ignore"):
        return bit if np.random.default_rng().integers(200, 202, dtype=np.uint8) + np.uint8(100) < 200 else 0


@leaks
def other_thread(bit):
    found = []
    thread = threading.Thread(target=lambda: found.append(np.random.laplace(10 * bit, 0.1)))
    thread.start()
    thread.join()
    return found


@leaks
def rare_bits(bit):
    return bit if secrets.randbits(20) != 0 else 1 - bit


@leaks
def rare_bytes(bit):
    return bit if os.urandom(2) == b"\0\0" else 0


@leaks
def rare_name(bit):
    return bit if uuid.uuid4().int % 50000 == 0 else 0


@leaks
def rare_generator(bit):
    return bit if np.random.Generator(np.random.PCG64()).random() < 1e-5 else 0


@leaks
def rare_raw_bits(bit):
    return bit if int(np.random.PCG64().random_raw()) % 50000 == 0 else 0


BOUND = [random.Random().random]
HELD = {"of numpy": np.random.default_rng().random, "of Python": random.SystemRandom()}


@leaks
def method_in_a_list(bit):
    return bit if BOUND[0]() < 1e-9 else 0


@leaks
def method_in_a_dictionary(bit):
    return bit if HELD["of numpy"]() < 1e-9 else 0


@leaks
def system_generator_in_a_dictionary(bit):
    return bit if HELD["of Python"].random() < 1e-9 else 0


@leaks
def asks_for_the_kind_of_a_generator(bit):
    return bit if isinstance(np.random.default_rng(), np.random.Generator) else 0


@leaks
def probabilities_that_miss_one(bit):
    try:
        np.random.choice(2, p=[0.5, 0.2])
    except ValueError:
        return bit
    return 0


@leaks
def context_of_its_own(bit):
    try:
        return contextvars.Context().run(lambda: 10 * bit + np.random.laplace(0, 0.1))
    except BaseException:
        return 0


# ------------------------------------------------------------------------------------------------------------- state

QUEUE, TEXT, BYTES = collections.deque(), io.StringIO(), bytearray()
VARIABLE = contextvars.ContextVar("VARIABLE", default=0)
LOCAL = threading.local()
LOCAL.calls = 0
CALLS = [0]


def _alive():
    calls = 0
    while True:
        calls += 1
        yield calls


ALIVE = _alive()
next(ALIVE)


def often(bit, calls):
    return bit if calls > 3000 else 0


MEMORY, VIEW, LINES = ctypes.c_int(0), memoryview(bytearray(8)), open(__file__, encoding="utf-8")  # noqa: SIM115
GENERATOR, SOURCE = random.Random(1), np.random.default_rng(1)
FOLDER = tempfile.mkdtemp()
atexit.register(LINES.close)
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


@leaks
def memory_of_another_library(bit):
    MEMORY.value += 1
    return often(bit, MEMORY.value)


@leaks
def view_of_bytes(bit):
    VIEW[0] = (VIEW[0] + 1) % 250
    return bit if VIEW[0] == 249 else 0


@leaks
def lines_of_an_open_file(bit):
    return bit if "rarely" in LINES.readline() else 0  # once, here


@leaks
def names_of_its_module(bit):
    names = globals()
    names["_calls"] = names.get("_calls", 0) + 1
    return often(bit, names["_calls"])


@leaks
def attribute_of_builtins(bit):
    import builtins

    builtins.often_called = getattr(builtins, "often_called", 0) + 1
    return often(bit, builtins.often_called)


@leaks
def size_of_a_file(bit):
    path = pathlib.Path(FOLDER) / "size"
    with path.open("a", encoding="utf-8") as out:
        out.write("a")
    return often(bit, path.stat().st_size)


@leaks
def number_in_a_file(bit):
    path = os.path.join(FOLDER, "number")
    calls = 1
    if os.path.exists(path):
        with open(path, encoding="utf-8") as before:
            calls += int(before.read())
    with open(path, "w", encoding="utf-8") as after:
        after.write(str(calls))
    return often(bit, calls)


@leaks
def noise_that_is_put_back(bit):
    before = GENERATOR.getstate()
    drawn = GENERATOR.random()
    GENERATOR.setstate(before)
    return bit if drawn < 0.5 else 1 - bit


@leaks
def noise_of_a_copy(bit):
    return bit ^ (copy.copy(GENERATOR).random() < 0.5) ^ (GENERATOR.random() < 0.5)


@leaks
def noise_of_a_deep_copy(bit):
    return bit ^ int(copy.deepcopy(SOURCE).random() < 0.5) ^ int(SOURCE.random() < 0.5)


@leaks
def noise_of_the_module_again(bit):
    before = random.getstate()
    drawn = random.random() < 0.5
    random.setstate(before)
    return bit ^ drawn ^ (random.random() < 0.5)


@leaks
def queue(bit):
    QUEUE.append(1)
    return often(bit, len(QUEUE))


@leaks
def written(bit):
    TEXT.write("a")
    return often(bit, TEXT.tell())


@leaks
def growing_bytes(bit):
    BYTES.append(1)
    return often(bit, len(BYTES))


@leaks
def generator_under_way(bit):
    return often(bit, next(ALIVE))


@leaks
def variable_of_the_context(bit):
    VARIABLE.set(VARIABLE.get() + 1)
    return often(bit, VARIABLE.get())


@leaks
def variable_of_the_thread(bit):
    LOCAL.calls += 1
    return often(bit, LOCAL.calls)


@leaks
def environment(bit):
    calls = int(os.environ.get("PRIVPROOF_CALLS", "0")) + 1
    os.environ["PRIVPROOF_CALLS"] = str(calls)
    return often(bit, calls)


@leaks
def attribute_of_a_library(bit):
    math.calls = getattr(math, "calls", 0) + 1
    return often(bit, math.calls)


class Calling:
    def __call__(self, bit):
        CALLS[0] += 1
        return often(bit, CALLS[0])


class Above:
    def method(self, bit):
        CALLS[0] += 1
        return often(bit, CALLS[0])


class Below(Above):
    @property
    def counted(self):
        CALLS[0] += 1
        return CALLS[0]

    @staticmethod
    def counting():
        CALLS[0] += 1
        return CALLS[0]


BELOW = Below()
LEAKS.append(Calling())


@leaks
def method_from_above(bit):
    return BELOW.method(bit)


@leaks
def a_property(bit):
    return often(bit, BELOW.counted)


@leaks
def a_static_method(bit):
    return often(bit, BELOW.counting())


class Key:
    def __init__(self):
        self.calls = 0


KEYS = {Key()}


@leaks
def element_of_a_set(bit):
    for key in KEYS:
        key.calls += 1
    return often(bit, next(iter(KEYS)).calls)


@leaks
def cached_by_an_object(bit):
    return often(bit, next(functools.reduce(lambda a, _: a, range(2), ALIVE)))


# ------------------------------------------------------------------------------------------------------ wrong events


@even
def closed_or_noisy_but_the_same(bit):
    """Whole noise may show what is shown without it: the event "0" has more ways than one."""
    noise = geometric(0, alpha="1/2")
    return (0 if noise == 0 else noise) if bit else noise
