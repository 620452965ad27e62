"""The sparse vector technique: which answers lie above a threshold, right and wrong (Lyu, Su and Li 2017; CheckDP 2020)."""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import integer, laplace, mechanism, public, real, real_queries


@mechanism(epsilon="epsilon")
def sparse_vector(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """The sparse vector technique, up to N answers above (Lyu, Su and Li 2017, Algorithm 1)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon="epsilon")
def above_threshold(q: real_queries(), threshold: public(real()), epsilon=1):
    """The index of the first answer above the threshold, or -1."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    for i, answer in enumerate(q):
        if laplace(answer, scale=4 / epsilon) >= noisy_threshold:
            return i
    return -1


@mechanism(epsilon="epsilon", neighbours="monotone")
def sparse_vector_monotone(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """With less noise, which is enough where all answers change in one direction (Lyu, Su and Li 2017, Section 4.3)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=2 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon="epsilon")
def sparse_vector_gap(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Also tells by how much the noisy answer exceeds the noisy threshold, at no cost (Wang, Ding, Wang, Kifer and Zhang 2019)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        noisy = laplace(answer, scale=4 * N / epsilon)
        if noisy >= noisy_threshold:
            yield noisy - noisy_threshold
            count += 1
            if count >= N:
                return
        else:
            yield 0


@mechanism(epsilon="epsilon")
def sparse_vector_numerical(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Also releases the answers above, with fresh noise (Dwork and Roth 2014, Algorithm 3)."""
    noisy_threshold = laplace(threshold, scale=3 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=6 * N / epsilon) >= noisy_threshold:
            yield laplace(answer, scale=3 * N / epsilon)
            count += 1
            if count >= N:
                return
        else:
            yield 0


@mechanism(epsilon="epsilon")
def sparse_vector_adaptive(
    q: real_queries(), threshold: public(real()), sigma: public(real(low=0)), N: public(integer(low=1)), epsilon=1
):
    """Spends less on answers far above the threshold (Ding, Wang, Zhang and Kifer 2019); spent counts in parts of epsilon/(4N)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    spent = 0
    i = 0
    while i < len(q) and spent <= 2 * N - 2:
        far = laplace(q[i], scale=8 * N / epsilon)
        if far - noisy_threshold >= sigma:
            yield far - noisy_threshold
            spent += 1
        else:
            near = laplace(q[i], scale=4 * N / epsilon)
            if near - noisy_threshold >= 0:
                yield near - noisy_threshold
                spent += 2
            else:
                yield 0
        i += 1


@mechanism(epsilon="epsilon")
def sparse_vector_redrawn(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Draws the noise of the threshold again after every answer above (Dwork and Roth 2014; Lyu et al. 2017, Algorithm 2)."""
    noisy_threshold = laplace(threshold, scale=2 * N / epsilon)
    count = 0
    i = 0
    while i < len(q) and count < N:
        if laplace(q[i], scale=4 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count < N:
                noisy_threshold = laplace(threshold, scale=2 * N / epsilon)
        else:
            yield False
        i += 1


@mechanism(epsilon="epsilon")
def sparse_vector_inverse(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Counts the answers below instead of those above (DPGen)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N / epsilon) >= noisy_threshold:
            yield True
        else:
            yield False
            count += 1
            if count >= N:
                return


@mechanism(epsilon="epsilon")
def sparse_vector_no_query_noise(q: real_queries(), threshold: public(real()), epsilon=1):
    """Wrong: the answers get no noise (Stoddard, Chen and Machanavajjhala 2014; Lyu et al. 2017, Algorithm 5; BadSVT1)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    for answer in q:
        yield answer >= noisy_threshold


@mechanism(epsilon="epsilon")
def sparse_vector_no_cutoff(q: real_queries(), threshold: public(real()), epsilon=1):
    """Wrong: any number of answers above (Chen, Xiao, Zhang and Xu 2015; Lyu et al. 2017, Algorithm 6; BadSVT2)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    for answer in q:
        yield laplace(answer, scale=2 / epsilon) >= noisy_threshold


@mechanism(epsilon="epsilon")
def sparse_vector_wrong_scales(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Wrong: too little noise, not scaled by N (Lee and Clifton 2014; Lyu et al. 2017, Algorithm 4; BadSVT3)."""
    noisy_threshold = laplace(threshold, scale=4 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 / (3 * epsilon)) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon="epsilon")
def sparse_vector_not_scaled(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Wrong for N above 1: the noise does not grow with N."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon="epsilon")
def sparse_vector_value(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Wrong: releases the noisy answer that was compared (Roth 2011; Lyu et al. 2017, Algorithm 3; CheckDP's BadGapSVT)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        noisy = laplace(answer, scale=4 * N / epsilon)
        if noisy >= noisy_threshold:
            yield noisy
            count += 1
            if count >= N:
                return
        else:
            yield 0


@mechanism(epsilon="epsilon")
def sparse_vector_adaptive_value(
    q: real_queries(), threshold: public(real()), sigma: public(real(low=0)), N: public(integer(low=1)), epsilon=1
):
    """Wrong: the adaptive sparse vector, releasing the noisy answers themselves (CheckDP's BadAdaptiveSVT)."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    spent = 0
    i = 0
    while i < len(q) and spent <= 2 * N - 2:
        far = laplace(q[i], scale=8 * N / epsilon)
        if far - noisy_threshold >= sigma:
            yield far
            spent += 1
        else:
            near = laplace(q[i], scale=4 * N / epsilon)
            if near - noisy_threshold >= 0:
                yield near
                spent += 2
            else:
                yield 0
        i += 1


@mechanism(epsilon="epsilon")
def sparse_vector_monotone_noise(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    """Wrong: the noise of the monotone case, although the answers may change in both directions."""
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=2 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False
