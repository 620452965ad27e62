"""Audits of mechanisms that other auditors are tried on: noise in floating point (Delta-Siege), means and sparse vectors (dp_auditorium).

    python benchmarks/auditors.py           200,000 runs on each side for noise, 10,000 for means and sparse vectors (some minutes)
    python benchmarks/auditors.py --tiny    some thousands, and only what needs no other library

All mechanisms are written anew.  The noise is drawn as in Delta-Siege's cases (Lokna, Paradis, Dimitrov and Vechev 2023): uniform numbers
of 32 bits, made Gaussian by Box and Muller or in polar coordinates, or Laplace by inversion; numpy's ziggurat; four numbers in single
precision as in Opacus.  Noise of diffprivlib and PyDP is the libraries' own, where these are installed.  The means and sparse vectors are
those that dp_auditorium (Kong, Medina and Ribero 2023) has as examples, right ones and wrong ones.  Times are processor times of search
and test together.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np

from privproof import audit, runnable

RUNS, RUNS_OF_EXAMPLES, QUICK = 200_000, 10_000, 3_000
WORDS = 2**32


def sigma(epsilon: float, delta: float) -> float:
    """Of the classical Gaussian mechanism, for sensitivity 1."""
    return sqrt(2 * log(1.25 / delta)) / epsilon


def uniform(rng: np.random.Generator, size: Any) -> Any:
    """Uniform numbers of 32 bits, without zero, of which there is no logarithm."""
    return rng.integers(1, WORDS, size) / WORDS


# ------------------------------------------------------------------------------------------------------------------- noise


def box_muller(x: float, rng: np.random.Generator, count: int) -> Any:
    radius = np.sqrt(-2 * np.log(uniform(rng, count)))
    return x + sigma(1, 0.1) * radius * np.cos(2 * np.pi * uniform(rng, count))


def polar(x: float, rng: np.random.Generator, count: int) -> Any:
    points = 2 * uniform(rng, (2 * count + 100, 2)) - 1
    squares = (points**2).sum(axis=1)
    inside = np.flatnonzero((squares < 1) & (squares > 0))[:count]
    return x + sigma(1, 0.1) * points[inside, 0] * np.sqrt(-2 * np.log(squares[inside]) / squares[inside])


def ziggurat(x: float, rng: np.random.Generator, count: int) -> Any:
    return x + sigma(1, 0.1) * rng.standard_normal(count)


def single_precision(x: float, rng: np.random.Generator, count: int) -> Any:
    """Four draws in single precision, halved: so Opacus hides the digits of one of them."""
    noise = np.float32(sigma(1, 0.1)) * rng.standard_normal((4, count), dtype=np.float32)
    return (np.float32(x) + noise.sum(axis=0, dtype=np.float32) / 2).astype(np.float64)


def laplace_by_inversion(x: float, rng: np.random.Generator, count: int) -> Any:
    return x + np.where(rng.integers(0, 2, count) == 1, 1, -1) * -np.log(uniform(rng, count))


def laplace_tenth(x: float, rng: np.random.Generator, count: int) -> Any:
    return x + np.where(rng.integers(0, 2, count) == 1, 1, -1) * -np.log(uniform(rng, count)) * 10


# ---------------------------------------------------------------------------------------------- means and sparse vectors


def mean_by_size(data: list[float], rng: np.random.Generator, count: int) -> Any:
    """The size is taken for public, in the divisor and in the noise (non_private_mean_v1)."""
    return sum(data) / len(data) + rng.laplace(0, 1 / len(data), count)


def mean_by_noisy_scale(data: list[float], rng: np.random.Generator, count: int) -> Any:
    """Only the scale of the noise is made of a noisy size (non_private_mean_v2)."""
    sizes = len(data) + rng.laplace(0, 2, count)
    return sum(data) / len(data) + rng.laplace(0, np.maximum(2 / sizes, 1e-12))


def mean_by_noisy_size(data: list[float], rng: np.random.Generator, count: int) -> Any:
    """Both are made of a noisy size, which may be negative: then the scale is cut off at nearly nothing (private_mean)."""
    sizes = len(data) + rng.laplace(0, 2, count)
    return sum(data) / sizes + rng.laplace(0, np.maximum(2 / sizes, 1e-12))


def noisy_max(counts: list[float], rng: np.random.Generator, count: int) -> Any:
    return (np.array(counts) + rng.gumbel(0, 2, (count, len(counts)))).argmax(axis=1)


def sparse(
    level: float, noise: float, *, end: bool = True, shown: bool = False
) -> Callable[[list[float], np.random.Generator, int], list[list[Any]]]:
    """A sparse vector over answers, with scales of the noise of the threshold (1/2) and of the answers; it may end at the first above."""

    def released(q: list[float], rng: np.random.Generator, count: int) -> list[list[Any]]:
        above = np.array(q) + (rng.laplace(0, noise, (count, len(q))) if noise else np.zeros((count, len(q))))
        said = above >= 0.5 + rng.laplace(0, level, (count, 1))
        result = []
        for numbers, row in zip(above.tolist(), said.tolist(), strict=True):
            last = row.index(True) + 1 if end and True in row else len(row)
            result.append(
                [(n if shown else True) if yes else False for n, yes in zip(numbers[:last], row, strict=False)]
            )
        return result

    return released


@dataclass(frozen=True)
class Case:
    """A mechanism, the pairs of data sets, and its claim."""

    name: str
    subject: Any
    pair: tuple[Any, Any]
    epsilon: str
    delta: str = "0"
    confidence: str = "0.9"
    example: bool = False


def batched(function: Callable[..., Any]) -> Any:
    return runnable(function, rng="rng", batched=True)


def gaussian_mean_by_size(data: list[float], rng: np.random.Generator, count: int) -> Any:
    return sum(data) / len(data) + sigma(1, 0.001) / len(data) * rng.standard_normal(count)


def gaussian_mean_by_noisy_scale(data: list[float], rng: np.random.Generator, count: int) -> Any:
    sizes = len(data) + rng.laplace(0, 2, count)
    return sum(data) / len(data) + np.maximum(2 * sigma(1, 0.001) / sizes, 1e-12) * rng.standard_normal(count)


def gaussian_mean_by_noisy_size(data: list[float], rng: np.random.Generator, count: int) -> Any:
    sizes = len(data) + rng.laplace(0, 2, count)
    return sum(data) / sizes + np.maximum(2 * sigma(1, 0.001) / sizes, 1e-12) * rng.standard_normal(count)


MEANS = {
    "mean by size": (mean_by_size, gaussian_mean_by_size),
    "mean by noisy scale": (mean_by_noisy_scale, gaussian_mean_by_noisy_scale),
    "mean by noisy size": (mean_by_noisy_size, gaussian_mean_by_noisy_size),
}
"""With Laplace noise for epsilon 1, and with Gaussian noise for epsilon 1 and a delta of 1/1000."""
SPARSE = {
    "SVT1": sparse(2, 4),
    "SVT2": sparse(2, 4),
    "SVT3": sparse(2, 2, shown=True),
    "SVT4": sparse(4, 4 / 3),
    "SVT5": sparse(2, 0),
    "SVT6": sparse(2, 2),
}
"""With one answer above, as dp_auditorium has them: all of them end there."""


def noise_cases() -> Iterator[Case]:
    """Noise in floating point."""
    for function in (box_muller, polar, ziggurat, single_precision):
        yield Case(function.__name__, batched(function), (0.0, 1.0), "1", "0.1")
    yield Case("laplace_by_inversion", batched(laplace_by_inversion), (0.0, 1.0), "1")
    yield Case("laplace_by_inversion", batched(laplace_tenth), (0.0, 1.0), "0.1")


def example_cases() -> Iterator[Case]:
    """Means, noisy max and sparse vectors."""
    for name, functions in MEANS.items():
        for function, delta in zip(functions, ("0", "0.001"), strict=True):
            for pair in (([0.0], [0.0, 1.0]), ([1.0], [1.0, 1.0])):
                yield Case(name, batched(function), pair, "1", delta, confidence="0.95", example=True)
    yield Case("noisy max", batched(noisy_max), ([2.0, 0, 0], [3.0, 0, 0]), "1", confidence="0.95", example=True)
    flipped = ([1.0] * 9 + [0.0], [0.0] * 9 + [1.0])
    for name, function in SPARSE.items():
        yield Case(name, batched(function), flipped, "1", confidence="0.95", example=True)


def library_cases() -> Iterator[Case]:
    """Noise of other libraries, at the same claims; those that are not installed are left out."""
    try:
        from diffprivlib import mechanisms
    except ImportError:
        pass
    else:
        for kind in ("Gaussian", "GaussianAnalytic", "GaussianDiscrete"):
            values = (0, 1) if kind == "GaussianDiscrete" else (0.0, 1.0)
            made = getattr(mechanisms, kind)(epsilon=1.0, delta=0.1, sensitivity=1)
            yield Case(f"diffprivlib {kind}", made.randomise, values, "1", "0.1")
        for epsilon in ("1", "0.1"):
            made = mechanisms.Laplace(epsilon=float(epsilon), sensitivity=1)
            yield Case("diffprivlib Laplace", made.randomise, (0.0, 1.0), epsilon)
    try:
        from pydp.algorithms import numerical_mechanisms
    except ImportError:
        return
    yield Case("PyDP Gaussian", numerical_mechanisms.GaussianMechanism(1.0, 0.1, 1.0).add_noise, (0.0, 1.0), "1", "0.1")
    yield Case("PyDP Laplace", numerical_mechanisms.LaplaceMechanism(1.0, 1.0).add_noise, (0.0, 1.0), "1")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only", default="", help="a part of a name")
    asked = parser.parse_args()
    cases = [*noise_cases(), *example_cases(), *([] if asked.tiny else library_cases())]
    print(f"{'':24}{'claim':>12}{'violated':>10}{'epsilon':>9}{'delta':>9}{'runs':>10}{'CPU s':>8}  event")
    for case in cases:
        if asked.only not in case.name:
            continue
        runs = QUICK if asked.tiny else RUNS_OF_EXAMPLES if case.example else RUNS
        started = time.process_time()
        found = audit(
            case.subject,
            case.epsilon,
            case.delta,
            pairs=[case.pair],
            samples=runs,
            search=2 * runs if case.example else None,
            confidence=case.confidence,
            seed=1,
        )
        spent = time.process_time() - started
        event = "" if found.count is None else str(found.count.event)
        print(
            f"{case.name:24}{case.epsilon + ', ' + case.delta:>12}{'yes' if found.violated else 'no':>10}{found.epsilon:>9.3f}"
            f"{found.delta or 0.0:>9.3f}{runs:>10,}{spent:>8.1f}  {event[:70]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
