"""Scales that are multiples of several public numbers."""

from privproof import integer, mechanism, public
from privproof.language import laplace, real, real_queries

# %% rounds of steps | proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):
    for _ in range(N):
        for _ in range(M):
            yield laplace(x, scale=N * M)

# %% as many turns as the product | proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):
    for _ in range(N * M):
        yield laplace(x, scale=N * M)

# %% a square | proved
@mechanism
def m(x: real(), N: public(integer(low=1))):
    for _ in range(N):
        for _ in range(N):
            yield laplace(x, scale=N * N)

# %% three numbers | proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1)), K: public(integer(low=1))):
    for _ in range(N):
        for _ in range(M):
            for _ in range(K):
                yield laplace(x, scale=K * M * N)

# %% the length and a number | proved
@mechanism
def m(q: real_queries(), N: public(integer(low=1))):
    for x in q:
        for _ in range(N):
            yield laplace(x, scale=N * len(q))

# %% sparse vector up to a product of answers | proved
@mechanism
def m(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), M: public(integer(low=1))):
    noisy_threshold = laplace(threshold, scale=2)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N * M) >= noisy_threshold:
            yield True
            count += 1
            if count >= N * M:
                return
        else:
            yield False

# %% sparse vector with more noise than its answers need | proved
@mechanism
def m(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), M: public(integer(low=1))):
    noisy_threshold = laplace(threshold, scale=2)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N * M) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False

# %% sparse vector in rounds, the threshold drawn again | proved
@mechanism
def m(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), M: public(integer(low=1))):
    i = 0
    done = 0
    while done < N and i < len(q):
        noisy_threshold = laplace(threshold, scale=2 * N)
        count = 0
        while i < len(q) and count < M:
            if laplace(q[i], scale=4 * N * M) >= noisy_threshold:
                yield True
                count += 1
            else:
                yield False
            i += 1
        done += 1

# %% numerical sparse vector that shows an answer several times | proved
@mechanism
def m(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), M: public(integer(low=1))):
    noisy_threshold = laplace(threshold, scale=3)
    count = 0
    for answer in q:
        if laplace(answer, scale=6 * N) >= noisy_threshold:
            for _ in range(M):
                yield laplace(answer, scale=3 * N * M)
            count += 1
            if count >= N:
                return
        else:
            yield 0

# %% the product is not enough for one turn more | not proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):
    for _ in range(N):
        for _ in range(M + 1):
            yield laplace(x, scale=N * M)

# %% the sum of two numbers is more than their product | not proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):
    for _ in range(N + M):
        yield laplace(x, scale=N * M)

# %% the noise of one loop for two | not proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):
    for _ in range(N):
        for _ in range(M):
            yield laplace(x, scale=N)

# %% a square for a product | not proved
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=1))):
    for _ in range(N):
        for _ in range(M):
            yield laplace(x, scale=N * N)

# %% a round more than is paid for | not proved
@mechanism
def m(q: real_queries(), threshold: public(real()), N: public(integer(low=1)), M: public(integer(low=1))):
    i = 0
    done = 0
    while done <= N and i < len(q):
        noisy_threshold = laplace(threshold, scale=2 * N)
        count = 0
        while i < len(q) and count < M:
            if laplace(q[i], scale=4 * N * M) >= noisy_threshold:
                yield True
                count += 1
            else:
                yield False
            i += 1
        done += 1

# %% a number that may be zero | refused
@mechanism
def m(x: real(), N: public(integer(low=1)), M: public(integer(low=0))):
    for _ in range(N):
        yield laplace(x, scale=N * M)
