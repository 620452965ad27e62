"""Noisy max and its relatives: the index of the largest noisy answer (Dwork and Roth 2014, Section 3.3)."""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import exponential, laplace, mechanism, real_queries


@mechanism(epsilon="epsilon")
def noisy_max(q: real_queries(), epsilon=1):
    """The index of the largest noisy answer."""
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2 / epsilon)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="epsilon")
def noisy_min(q: real_queries(), epsilon=1):
    """The index of the smallest noisy answer."""
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2 / epsilon)
        if i == 0 or noisy < best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="epsilon", neighbours="monotone")
def noisy_max_monotone(q: real_queries(), epsilon=1):
    """Noisy max with half the noise, which is enough where all answers change in one direction."""
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=1 / epsilon)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="epsilon")
def noisy_max_exponential(q: real_queries(), epsilon=1):
    """Noisy max with one-sided exponential noise (Ding, Kifer, Sayed-Khalil, Steinke, Wang, Xiao and Zhang 2021)."""
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = exponential(answer, scale=2 / epsilon)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="epsilon")
def noisy_max_value(q: real_queries(), epsilon=1):
    """Wrong: releases the largest noisy answer itself (Ding et al. 2018, iNoisyMax; CheckDP's BadNoisyMax)."""
    best = 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2 / epsilon)
        if i == 0 or noisy > best:
            best = noisy
    return best


@mechanism(epsilon="epsilon")
def noisy_max_little_noise(q: real_queries(), epsilon=1):
    """Wrong: half the noise, although the answers may change in both directions."""
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=1 / epsilon)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner
