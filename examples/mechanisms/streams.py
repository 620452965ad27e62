"""Threshold mechanisms on streams without end: above threshold, what breaks it, and what repairs it."""

from privproof import laplace, mechanism, public, real, real_stream


@mechanism(epsilon="9/10")
def above_threshold(answers: real_stream(), threshold: public(real()), scale=5):
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=scale) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon="9/10")
def no_cutoff(answers: real_stream(), threshold: public(real())):
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        yield "above" if laplace(answer, scale=5) >= noisy_threshold else "below"


@mechanism(epsilon="9/10")
def cutoff(answers: real_stream(), threshold: public(real()), c=3):
    noisy_threshold = laplace(threshold, scale=2)
    count = 0
    for answer in answers:
        if laplace(answer, scale=5 * c) >= noisy_threshold:
            yield "above"
            count += 1
            if count == c:
                return
        else:
            yield "below"


@mechanism(epsilon=1)
def between(answers: real_stream(), low=0, high=10):
    bottom = laplace(low, scale=4)
    top = laplace(high, scale=4)
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if noisy < bottom:
            yield "below"
            return
        if noisy >= top:
            yield "above"
            return
        yield "between"


@mechanism(epsilon="7/10", neighbours="monotone")
def counts(answers: real_stream(), threshold: public(real())):
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=5) >= noisy_threshold:
            yield "above"
            return
        yield "below"
