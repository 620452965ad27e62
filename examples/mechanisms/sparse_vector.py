"""The sparse vector technique with Laplace noise: which answers lie above a threshold; and a version that forgets to stop."""

from privproof import integer, laplace, mechanism, public, real, real_queries


@mechanism(epsilon="epsilon")
def sparse_vector(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N / epsilon) >= noisy_threshold:
            yield "above"
            count += 1
            if count >= N:
                return
        else:
            yield "below"


@mechanism(epsilon="epsilon")
def endless(q: real_queries(), threshold: public(real()), epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    for answer in q:
        yield "above" if laplace(answer, scale=2 / epsilon) >= noisy_threshold else "below"
