"""Mechanisms with a delta: Gaussian noise, thresholds, propose-test-release, and what goes wrong with them in practice."""

# mypy: ignore-errors

from __future__ import annotations

from fractions import Fraction

from privproof.language import (
    exponential,
    gaussian,
    geometric,
    integer,
    laplace,
    mechanism,
    public,
    queries,
    real,
    real_queries,
    records,
    uniform,
)
from privproof.library.library_entries import LibraryEntry

KEYS = ("Ada", "Bob", "Cyd")


@mechanism(rho="1/8")
def gaussian_count(data: records(0, 1)):
    """A count with Gaussian noise."""
    return gaussian(sum(data), sigma=2)


@mechanism(epsilon="1.24", delta="(size + 1) * 3.6826e-5")
def gaussian_above_threshold(q: real_queries(), threshold: public(real())):
    """The first answer above a threshold, with Gaussian noise on both."""
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism(epsilon="1.24", delta="3.48e-6")
def gaussian_threshold(q: real_queries(), threshold: public(real())):
    """The first answer above a threshold, with Gaussian noise on the threshold alone."""
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if laplace(answer, scale=8) >= noisy:
            return i
    return -1


@mechanism(epsilon=1, delta="6.1705e-5", neighbours="add-remove")
def thresholded_histogram(data: records("Ada", "Bob", "Cyd")):
    """Who occurs often, and how often: keys of the data pass a threshold."""
    shown = []
    for key in KEYS:
        count = data.count(key)
        noisy = laplace(count, scale=1)
        if count > 0 and noisy >= 10:
            shown.append((key, noisy))
    return shown


@mechanism(epsilon="ln(2)", delta="1.3021e-3", neighbours="add-remove")
def thresholded_counts(data: records("Ada", "Bob", "Cyd")):
    """The same with geometric noise: a key that one side holds has 10 or more with probability 2^-9/(1 + 1/2)."""
    shown = []
    for key in KEYS:
        count = data.count(key)
        noisy = geometric(count, alpha="1/2")
        if count > 0 and noisy >= 10:
            shown.append((key, noisy))
    return shown


@mechanism(epsilon="ln(2)", delta="6.511e-4", neighbours="add-remove")
def threshold_without_its_atom(data: records("Ada", "Bob", "Cyd")):
    """The delta of a threshold that is exceeded, where reaching it is enough: half of what is needed."""
    shown = []
    for key in KEYS:
        count = data.count(key)
        noisy = geometric(count, alpha="1/2")
        if count > 0 and noisy >= 10:
            shown.append((key, noisy))
    return shown


@mechanism(epsilon=1, delta="6.1705e-5", neighbours="add-remove")
def threshold_of_another_noise(data: records(0, 1)):
    """The threshold of Laplace noise, 1 + ln(1/(2 delta)), with the Gaussian noise of the classical formula."""
    shown = []
    for key in (0, 1):
        count = data.count(key)
        noisy = gaussian(count, sigma=Fraction(445, 100))
        if count > 0 and noisy >= 10:
            shown.append(key)
    return shown


@mechanism(epsilon=1, delta="6.1705e-5", neighbours="add-remove")
def stable_mode(data: records("a", "b")):
    """Propose-test-release: which of two values is more frequent, where the race is not close."""
    ahead = data.count("a") - data.count("b")
    distance = ahead if ahead >= 0 else -ahead
    if laplace(distance, scale=1) >= 10:
        return "a" if ahead > 0 else "b"
    return "too close"


@mechanism(epsilon="1/2", delta="size * 0.0156")
def gaussian_noisy_max(q: real_queries()):
    """Which answer is the largest, with Gaussian noise."""
    best, winner = 0, -1
    for i, answer in enumerate(q):
        noisy = gaussian(answer, sigma=4)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(rho="size/32")
def gaussian_answers(q: real_queries()):
    """Every answer with Gaussian noise."""
    return [gaussian(answer, sigma=4) for answer in q]


@mechanism(epsilon="1/2", delta="0.00271")
def some_answer_above(q: real_queries(), threshold: public(real())):
    """Whether some answer is above a threshold, with Gaussian noise on both."""
    noisy = gaussian(threshold, sigma=4)
    found = False
    for answer in q:
        if gaussian(answer, sigma=8) >= noisy:
            found = True
    return found


@mechanism(epsilon="1/2", delta="0.12115")
def number_shown_above_two(n: integer(0, 1)):
    """A noisy number, where it is above 2."""
    noisy = gaussian(n, sigma=1)
    if noisy > 2:
        return noisy
    return None


@mechanism(epsilon="1/2", delta="0.017")
def number_shown_for_the_price_of_its_test(n: integer(0, 1)):
    """A noisy number, where it is above 0; the delta is that of the test alone."""
    noisy = gaussian(n, sigma=1)
    if noisy > 0:
        return noisy
    return None


@mechanism(epsilon=10, delta="1e-5")
def classical_gaussian(data: records(0, 1)):
    """sigma = sqrt(2 ln(1.25/delta))/epsilon, a theorem up to epsilon 1, at epsilon 10."""
    return gaussian(sum(data), sigma=Fraction(48449, 100000))


@mechanism(rho="1/2", neighbours="monotone")
def permute_and_flip(q: queries(0, 2, size=2)):
    """Permute-and-flip with epsilon 2 on counts, accounted as if it had bounded range: epsilon^2/8-zCDP.

    A candidate that is behind by b is taken with probability e^(-2b); otherwise it is the turn of the other.
    """
    first = uniform(0, 1)
    behind = max(q[0], q[1]) - q[first]
    return first if exponential(0, scale=1) >= 2 * behind else 1 - first


_STABILITY = "Korolova, Kenthapadi, Mishra, Ntoulas 2009"

ENTRIES: tuple[LibraryEntry, ...] = (
    LibraryEntry(gaussian_count, "a count with Gaussian noise, as zCDP", "Bun, Steinke 2016", "proved; 1/8 is tight"),
    LibraryEntry(
        gaussian_above_threshold,
        "above threshold with Gaussian noise alone, any length",
        "Zhu, Wang 2020",
        "proved; delta grows with the list",
    ),
    LibraryEntry(gaussian_threshold, "above threshold with a Gaussian threshold", "Zhu, Wang 2020", "proved"),
    LibraryEntry(thresholded_histogram, "a histogram with a threshold", _STABILITY, "proved; e^-9/2 is the delta"),
    LibraryEntry(thresholded_counts, "a histogram with a threshold, on integers", _STABILITY, "proved; tight"),
    LibraryEntry(
        threshold_without_its_atom,
        "a threshold whose delta forgets that it may be reached exactly",
        _STABILITY,
        "refuted; twice as much is needed",
    ),
    LibraryEntry(
        threshold_of_another_noise,
        "a threshold for Laplace noise, with Gaussian noise",
        "Desfontaines, Voss, Gipson, Mandayam 2022",
        "refuted; Phi(-9/4.45) = 0.0216 is needed",
    ),
    LibraryEntry(stable_mode, "the more frequent of two values, if it is stable", "Dwork, Lei 2009", "proved; tight"),
    LibraryEntry(
        gaussian_noisy_max,
        "noisy max with Gaussian noise, any length",
        "Dong, Roth, Su 2022, data processing",
        "proved; the answers alone are mu-GDP with mu^2 = size/16",
    ),
    LibraryEntry(
        gaussian_answers,
        "all answers with Gaussian noise, as zCDP, any length",
        "Bun, Steinke 2016",
        "proved; less is refuted",
    ),
    LibraryEntry(
        some_answer_above,
        "whether some answer is above a threshold, any length",
        "Zhu, Wang 2020",
        "proved; a threshold that moves by 1 is enough: H(1/4, 1/2) = 0.0027089",
    ),
    LibraryEntry(
        number_shown_above_two,
        "a noisy number that is shown above 2 only",
        "Balle, Wang 2018",
        "proved; Phi(-1) - e^(1/2) Phi(-2) = 0.121147, and 0.2384 where it is always shown",
    ),
    LibraryEntry(
        number_shown_for_the_price_of_its_test,
        "a noisy number that is shown above 0 only, accounted by its test",
        "Balle, Wang 2018",
        "refuted; 1/2 - e^(1/2) Phi(-1) = 0.2384 is needed",
    ),
    LibraryEntry(
        classical_gaussian,
        "the classical Gaussian formula at epsilon 10",
        "Balle, Wang 2018",
        "refuted; the formula is a theorem up to 1",
    ),
    LibraryEntry(
        permute_and_flip,
        "permute-and-flip accounted as epsilon^2/8-zCDP",
        "McKenna, Sheldon 2020",
        "refuted; 0.7275 is needed",
    ),
)
