"""What is measured: families of questions that grow with a size, one for each kind of work, and what they are compared with.

Every member is made before the clock starts.  A baseline is something else that a user could do about the same thing, in the same run:
the SMT encoding on one pair and one bound, samples by numpy, runs of the function itself, reading a file by pyarrow, Storm.
A baseline that cannot be run says why.
"""

# mypy: ignore-errors

from __future__ import annotations

import atexit
import importlib.util
import random
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any


class Skipped(Exception):
    """Why something is not measured."""


@dataclass(frozen=True)
class Family:
    """A family of questions.

    Attributes:
        name: what it is called.
        engine: the engine, or what it is about: members of one engine share a table.
        size: what its members grow with.
        sizes: the sizes of a whole run; the first two are those of a quick one, the first that of a tiny one.
        make: from a size to the work that is measured.
        baselines: by name, from a size to other work.
    """

    name: str
    engine: str
    size: str
    sizes: tuple[int, ...]
    make: Callable[[int], Callable[[], Any]]
    baselines: Mapping[str, Callable[[int], Callable[[], Any]]] = field(default_factory=dict)


# ------------------------------------------------------------------------------------------------------------------ words


def above_threshold(length):
    """The tight epsilon of above threshold on words up to a length, with the simplest word that attains it."""
    from privproof import tight_epsilon
    from privproof.library import above_threshold as question
    from privproof.models import Horizon

    asked = replace(question(), horizon=Horizon.up_to(length))
    return lambda: tight_epsilon(asked)


def solver_above_threshold(length):
    """Z3 on one pair, one bound and one length."""
    from privproof.compiling import word_problem
    from privproof.engines.words.smt_search import violating_word
    from privproof.exact import rational
    from privproof.library import above_threshold_two_copies
    from privproof.models import Horizon

    if length > 10:
        raise Skipped("the SMT encoding takes minutes on words of more than ten letters")
    asked = above_threshold_two_copies(horizon=Horizon.up_to(length)).only("threshold 2, answers 0 and 1")
    problem = word_problem(asked).problem
    single = replace(problem, starts=problem.starts[:1])
    return lambda: violating_word(single, rational(16), length=length, effort=2**32 - 1)


def noisy_max_tensors(count):
    """Improved noisy max over so many queries 0..2, all neighbours."""
    from privproof import tight_epsilon
    from privproof.library import noisy_max_question

    asked = noisy_max_question(count, improved=True)
    return lambda: tight_epsilon(asked, engine="tensors")


def solver_noisy_max(count):
    """Z3 on one pair of neighbours of 7^n - 3^n, and one bound."""
    from privproof.compiling import word_problem
    from privproof.engines.words.smt_search import violating_word
    from privproof.exact import rational
    from privproof.library import noisy_max_hmm
    from privproof.scenarios import Pair, Scenario

    if count > 4:
        raise Skipped("the SMT encoding takes minutes to be built from five queries on")
    asked = noisy_max_hmm(count, improved=True)
    left, right = "1" * count, "0" + "2" * (count - 1)
    pair = Pair.of(asked.model, "one pair", {left: 1}, {right: 1})
    problem = word_problem(replace(asked, scenario=Scenario(pairs=(pair,)))).problem
    single = replace(problem, starts=problem.starts[:1])
    return lambda: violating_word(single, rational(4), length=2, effort=2**32 - 1)


def sampled_noisy_max(count):
    """A million runs on one data set by numpy."""
    import numpy as np

    rows = np.array([[2 / 3, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 2 / 3]]).cumsum(axis=1)

    def run():
        source = np.random.default_rng(1)
        noisy = np.stack([np.searchsorted(rows[1], source.random(1_000_000)) for _ in range(count)], axis=1)
        return np.bincount(noisy.argmax(axis=1), minlength=count)

    return run


def random_model(states, symbols, *, seed):
    """A dense hidden Markov model with small random fractions and two random initial distributions."""
    from privproof.models import HiddenMarkovModel, Horizon
    from privproof.scenarios import Pair, Question, Scenario

    source = random.Random(seed)

    def row(names):
        weights = [source.randint(1, 9) for _ in names]
        return {name: Fraction(w, sum(weights)) for name, w in zip(names, weights, strict=True)}

    places, shown = [f"s{i}" for i in range(states)], [f"o{i}" for i in range(symbols)]
    model = HiddenMarkovModel(
        states=places,
        observations=shown,
        transitions={s: row(places) for s in places},
        emissions={s: row(shown) for s in places},
    )
    pair = Pair.of(model, "pair", row(places), row(places))
    name = f"{states} states, {symbols} observations"
    return Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=Horizon.up_to(3), name=name)


def dense_model(states):
    """A random dense model of so many states and four observations, words up to length 3."""
    from privproof import tight_epsilon

    asked = random_model(states, 4, seed=1)
    return lambda: tight_epsilon(asked)


# -------------------------------------------------------------------------------------------------- functions at one size


def function(name, count, **options):
    """The tight epsilon of a function of `subjects` on lists of a size."""
    import subjects

    from privproof import tight_epsilon

    asked = getattr(subjects, name)
    return lambda: tight_epsilon(asked, size=count, **options)


def called(name, count):
    """A thousand runs of the function itself."""
    import subjects

    from privproof import seeded

    asked, data = getattr(subjects, name), [1] * count

    def run():
        with seeded(0):
            for _ in range(1000):
                asked(data)

    return run


# ---------------------------------------------------------------------------------------------------------------- streams


def streams(name, size):
    """Proof and exact cost of an automaton of a family of `subjects`."""
    import subjects

    from privproof import StreamQuestion, check

    asked = StreamQuestion(automaton=getattr(subjects, name)(size))
    return lambda: check(asked, 9_999)


# -------------------------------------------------------------------------------------------------------- correlated data


def count_release(length):
    """Whether a noisy count of a chain's entries keeps to its claim; the noise is calibrated before."""
    from privproof import check, release

    chain = release.Chain.of({"0": {"0": "0.9", "1": "0.1"}, "1": {"0": "0.1", "1": "0.9"}})
    made = release.calibrate(chain, length=length, query=release.count("1"), epsilon=1, method="exact", noise="laplace")
    return lambda: check(made.question)


def table_of(rows):
    """A file of so many rows, each one of 51 numbers."""
    import numpy as np

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "series.csv")
    codes = np.random.default_rng(1).integers(0, 51, rows) * 200
    path.write_text("watts\n" + "\n".join(map(str, codes.tolist())) + "\n", encoding="utf-8")
    return folder, path


def counted_table(rows):
    """A table is counted in one pass."""
    from privproof.release.tables.table_files import TableReading, summarise

    folder, path = table_of(rows)
    states = [str(200 * i) for i in range(51)]

    def run():
        assert folder.name
        return summarise(TableReading.of(path, column="watts", states=states)).entries

    return run


def arrow_table(rows):
    """pyarrow reads the same file and counts its values."""
    if importlib.util.find_spec("pyarrow") is None:
        raise Skipped("pyarrow is not installed")
    from pyarrow import compute, csv

    folder, path = table_of(rows)

    def run():
        assert folder.name
        return len(compute.value_counts(csv.read_csv(path)["watts"]))

    return run


# ----------------------------------------------------------------------------------------------- noise, audits, the logic


def gaussian_sparse_vector(count):
    """The smallest delta of sparse vector with Gaussian noise, all neighbours, both ends certified."""
    import subjects

    from privproof import smallest_delta

    return lambda: smallest_delta(subjects.gaussian_sparse_vector, "1/2", size=count)


def every_length(number):
    """Proofs about lists of every length: so many of the library's mechanisms with Laplace noise."""
    from privproof import check
    from privproof.library.laplace.laplace_examples import ENTRIES

    chosen = [entry.mechanism for entry in ENTRIES[:number]]
    return lambda: [check(each) for each in chosen][-1]


def audited(samples, jobs=1):
    """An audit of noisy max on five numbers, without the exact engines."""
    import subjects

    from privproof import audit, real_queries

    return lambda: audit(
        subjects.plain_noisy_max,
        1,
        inputs={"q": real_queries()},
        size=5,
        samples=samples,
        search=samples,
        jobs=jobs,
        exact=False,
        seed=1,
    )


def sizes_table(largest, jobs=1):
    """The tight epsilon of improved noisy max at every size up to the largest."""
    from privproof import tight_epsilon
    from privproof.library.mechanisms import improved_noisy_max
    from privproof.profiles.size_sweeps import over_sizes

    sizes = range(1, largest + 1)
    return lambda: over_sizes(lambda size: tight_epsilon(improved_noisy_max, size=size), sizes, jobs=jobs).rows[-1][1]


def logic_chain(side):
    """The probability of a label in a chain on a grid of so many states a side, with its bounds; reading the model is counted."""
    from logic_storm import ours

    return lambda: ours(_grid(side), 'P=? [ F "left" ]', "certified")


def storm_chain(side):
    """The same in Storm."""
    if importlib.util.find_spec("stormpy") is None:
        raise Skipped("stormpy is not installed")
    from logic_storm import theirs

    return lambda: theirs(_grid(side), 'P=? [ F "left" ]', "float")


def _grid(side):
    from logic_storm import GRID, Case

    with tempfile.NamedTemporaryFile("w", suffix=".prism", delete=False, encoding="utf-8") as file:
        file.write(Case("grid", GRID, f"N={side}", "").text_with_constants())
    atexit.register(Path(file.name).unlink)
    return file.name


def _of(maker, name, **options):
    return lambda size: maker(name, size, **options)


FAMILIES = (
    Family(
        "above threshold",
        "frontier",
        "longest word",
        (10, 30, 100, 300),
        above_threshold,
        {"SMT, one pair and length": solver_above_threshold},
    ),
    Family("dense model, words up to 3", "frontier", "states", (30, 100, 300), dense_model),
    Family(
        "improved noisy max, 0..2",
        "tensors",
        "queries",
        (4, 8, 10, 12),
        noisy_max_tensors,
        {"SMT, one pair": solver_noisy_max, "numpy, 10^6 runs on one data set": sampled_noisy_max},
    ),
    Family(
        "noisy max, 0..10",
        "worst way",
        "queries",
        (3, 5, 8, 12),
        _of(function, "noisy_max"),
        {"1,000 runs of the function": _of(called, "noisy_max")},
    ),
    Family(
        "truncated count",
        "draws",
        "records",
        (100, 300, 1000),
        _of(function, "count"),
        {"1,000 runs of the function": _of(called, "count")},
    ),
    Family("histogram of four cells", "draws", "records", (100, 300, 1000), _of(function, "histogram")),
    Family("randomised bits", "draws", "records", (100, 300, 1000), _of(function, "bits", neighbours="each")),
    Family("phases of above threshold", "streams", "transitions", (1_000, 3_000, 10_000), _of(streams, "phases")),
    Family("k-min-max", "streams", "k", (20, 50, 100), _of(streams, "min_max")),
    Family("m-range", "streams", "m", (10, 20, 40), _of(streams, "ranges")),
    Family("noisy count of a chain", "release", "entries", (100, 300, 1000), count_release),
    Family(
        "table counted in one pass",
        "release",
        "rows",
        (10_000, 100_000, 1_000_000),
        counted_table,
        {"pyarrow": arrow_table},
    ),
    Family("sparse vector, Gaussian, smallest delta", "registers", "queries", (2, 5, 25), gaussian_sparse_vector),
    Family("proofs for every length", "laplace", "mechanisms", (2, 6, 12), every_length),
    Family(
        "audit of noisy max, one process",
        "sampling",
        "runs on each side",
        (10_000, 50_000),
        audited,
        {"two processes": lambda samples: audited(samples, 2)},
    ),
    Family(
        "table of sizes of noisy max, one process",
        "words",
        "largest size",
        (3, 5, 7),
        sizes_table,
        {"two processes": lambda largest: sizes_table(largest, 2)},
    ),
    Family("chain on a grid, F left", "logic", "states a side", (100, 300, 550), logic_chain, {"Storm": storm_chain}),
)
