"""Streams of answers against one noisy threshold: the sparse vector technique and its relatives, right and wrong.

The wrong ones say so first.  Where an answer is the threshold, it is the first number of the stream.
"""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import laplace, mechanism, public, real, real_stream


@mechanism(epsilon=1)
def above_threshold(answers: real_stream(), threshold: public(real())):
    """Says for every answer whether it is above the threshold, and ends with the first that is."""
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def below_threshold(answers: real_stream(), threshold: public(real())):
    """The mirror image: ends with the first answer below the threshold."""
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) < noisy_threshold:
            yield "below"
            return
        yield "above"


@mechanism(epsilon="3/4", neighbours="monotone")
def above_threshold_monotone(answers: real_stream(), threshold: public(real())):
    """Above threshold where all answers that change go in one direction: it loses a quarter less."""
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon="3/2")
def secret_threshold(threshold: real(), answers: real_stream()):
    """Above threshold with a threshold that is an answer itself: half as much again."""
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def sparse_vector(answers: real_stream(), c=3):
    """The sparse vector technique, up to c answers above (Lyu, Su and Li 2017, Algorithm 1)."""
    threshold = laplace(0, scale=2)
    count = 0
    for answer in answers:
        if laplace(answer, scale=4 * c) >= threshold:
            yield "above"
            count += 1
            if count == c:
                return
        else:
            yield "below"


@mechanism(epsilon=1)
def sparse_vector_redrawn(answers: real_stream(), c=3):
    """A new threshold after every answer above (Lyu, Su and Li 2017, Algorithm 2)."""
    threshold = laplace(0, scale=2 * c)
    count = 0
    for answer in answers:
        if laplace(answer, scale=4 * c) >= threshold:
            yield "above"
            count += 1
            if count == c:
                return
            threshold = laplace(0, scale=2 * c)
        else:
            yield "below"


@mechanism(epsilon=1)
def sparse_vector_gap(answers: real_stream()):
    """Also tells by how much the noisy answer exceeds the noisy threshold, at no cost."""
    threshold = laplace(0, scale=2)
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if noisy >= threshold:
            yield noisy - threshold
            return
        yield "below"


@mechanism(epsilon=1)
def sparse_vector_numerical(answers: real_stream()):
    """Also releases the answer above, with fresh noise."""
    threshold = laplace(0, scale=3)
    for answer in answers:
        if laplace(answer, scale=6) >= threshold:
            yield laplace(answer, scale=3)
            return
        yield "below"


@mechanism(epsilon=1)
def sparse_vector_value(answers: real_stream()):
    """Wrong: releases the noisy answer that was compared (Lyu, Su and Li 2017, Algorithm 3): a privacy violating path."""
    threshold = laplace(0, scale=2)
    for answer in answers:
        noisy = laplace(answer, scale=2)
        if noisy >= threshold:
            yield noisy
            return
        yield "below"


@mechanism(epsilon=1)
def sparse_vector_wrong_scales(answers: real_stream(), c=3):
    """Wrong: too little noise on the answers (Lyu, Su and Li 2017, Algorithm 4): (1 + 6c)/4 is exact."""
    threshold = laplace(0, scale=4)
    count = 0
    for answer in answers:
        if laplace(answer, scale="4/3") >= threshold:
            yield "above"
            count += 1
            if count == c:
                return
        else:
            yield "below"


@mechanism(epsilon=1)
def sparse_vector_no_query_noise(answers: real_stream()):
    """Wrong: no noise on the answers (Lyu, Su and Li 2017, Algorithm 5)."""
    threshold = laplace(0, scale=2)
    for answer in answers:
        yield "above" if answer >= threshold else "below"


@mechanism(epsilon=1)
def sparse_vector_no_cutoff(answers: real_stream()):
    """Wrong: goes on after answers above (Lyu, Su and Li 2017, Algorithm 6): a leaking pair."""
    threshold = laplace(0, scale=2)
    for answer in answers:
        yield "above" if laplace(answer, scale=2) >= threshold else "below"


@mechanism(epsilon=1)
def threshold_each_time(answers: real_stream()):
    """Wrong: a new threshold for every answer: a leaking cycle."""
    for answer in answers:
        threshold = laplace(0, scale=2)
        if laplace(answer, scale=4) >= threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def rearmed(answers: real_stream()):
    """Wrong: a new threshold after every answer above, forever: a leaking cycle."""
    threshold = laplace(0, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= threshold:
            yield "above"
            threshold = laplace(0, scale=2)
        else:
            yield "below"


@mechanism(epsilon=1)
def falling(answers: real_stream()):
    """Wrong: goes on as long as the noisy answers fall: a leaking cycle whose comparisons replace the threshold."""
    last = None
    for answer in answers:
        noisy = laplace(answer, scale=2)
        if last is not None and noisy >= last:
            return
        last = noisy
        yield "falls"


@mechanism(epsilon=2)
def two_phases(answers: real_stream()):
    """Wrong: waits for an answer above, then for one below the same threshold: a leaking pair."""
    threshold = laplace(0, scale=2)
    high = False
    for answer in answers:
        above = laplace(answer, scale=4) >= threshold
        yield "above" if above else "below"
        if high and not above:
            return
        if above:
            high = True


@mechanism(epsilon=2)
def two_phases_redrawn(answers: real_stream()):
    """Waits for an answer above a threshold, then for one below another."""
    threshold = laplace(0, scale=2)
    high = False
    for answer in answers:
        above = laplace(answer, scale=4) >= threshold
        yield "above" if above else "below"
        if high and not above:
            return
        if above and not high:
            high = True
            threshold = laplace(0, scale=2)


@mechanism(epsilon=2)
def two_phases_kept(answers: real_stream()):
    """Wrong: the answer above becomes the threshold of the second phase: a leaking pair."""
    threshold = laplace(0, scale=2)
    high = False
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if not high and noisy >= threshold:
            high = True
            threshold = noisy
            yield "above"
        elif not high:
            yield "below"
        elif noisy >= threshold:
            yield "higher"
        else:
            yield "lower"
            return


@mechanism(epsilon=3)
def branch_first(answers: real_stream()):
    """The first answer says which way to look: no cycle of one branch meets a cycle of the other."""
    threshold = laplace(0, scale=1)
    way = 0
    for answer in answers:
        above = laplace(answer, scale=1) >= threshold
        yield "above" if above else "below"
        if way == 0:
            way = 1 if above else -1
        elif (way == 1) != above:
            return


@mechanism(epsilon=1)
def threshold_shown(answers: real_stream()):
    """Wrong: shows the noisy threshold, and compares with it: a privacy violating path."""
    threshold = None
    for answer in answers:
        if threshold is None:
            threshold = laplace(answer, scale=2)
            yield threshold
        elif laplace(answer, scale=4) < threshold:
            yield "below"
        else:
            return


@mechanism(epsilon=1)
def answers_shown(answers: real_stream()):
    """Wrong: shows every answer below with fresh noise: a disclosing cycle."""
    threshold = laplace(0, scale=1)
    for answer in answers:
        if laplace(answer, scale=1) >= threshold:
            return
        yield laplace(answer, scale=1)


@mechanism(epsilon="1/5")
def one_comparison(answers: real_stream()):
    """One answer against another: what is noised most decides."""
    threshold = None
    for answer in answers:
        if threshold is None:
            threshold = laplace(answer, scale=1)
            yield "stored"
        else:
            yield "below" if laplace(answer, scale=10) < threshold else "above"
            return
