"""What was wrong in published bugs, reduced to a few lines and written afresh, each beside what is right."""

from privproof import exponential, geometric, gumbel, integer, laplace, mechanism, real, real_queries, records

# %% permute-and-flip as zCDP | refuted
@mechanism(rho="1/8")
def m(q: real_queries()):
    return max(range(len(q)), key=lambda i: exponential(q[i], scale=2))

# %% exponential mechanism as zCDP | proved
@mechanism(rho="1/8")
def m(q: real_queries()):
    return max(range(len(q)), key=lambda i: gumbel(q[i], scale=2))

# %% drawn again | refuted
@mechanism(epsilon=1)
def m(count: integer(0, 5)):
    while True:
        noisy = geometric(count, epsilon=1)
        if 0 <= noisy <= 5:
            return noisy

# %% clamped | proved
@mechanism(epsilon=1)
def m(count: integer(0, 5)):
    return max(0, min(5, geometric(count, epsilon=1)))

# %% censored noise | refuted
@mechanism(epsilon=1)
def m(count: integer(0, 5)):
    return count + max(-4, min(4, geometric(0, epsilon=1)))

# %% threshold without its atom | refuted
@mechanism(epsilon="ln(2)", delta="6.511e-4", neighbours="add-remove")
def m(data: records("Ada", "Bob")):
    shown = []
    for key in ("Ada", "Bob"):
        noisy = geometric(data.count(key), alpha="1/2")
        if data.count(key) > 0 and noisy >= 10:
            shown.append((key, noisy))
    return shown

# %% threshold with its atom | proved
@mechanism(epsilon="ln(2)", delta="1.3021e-3", neighbours="add-remove")
def m(data: records("Ada", "Bob")):
    shown = []
    for key in ("Ada", "Bob"):
        noisy = geometric(data.count(key), alpha="1/2")
        if data.count(key) > 0 and noisy >= 10:
            shown.append((key, noisy))
    return shown

# %% squares by one end | refuted
@mechanism(epsilon=1, neighbours="one")
def m(data: records(-1, 0, 1, 2)):
    sensitivity = max(abs(-1), abs(-1)) ** 2
    return laplace(sum(x * x for x in data), scale=sensitivity)

# %% squares by both ends | proved
@mechanism(epsilon=1, neighbours="one")
def m(data: records(-1, 0, 1, 2)):
    sensitivity = max(abs(-1), abs(2)) ** 2
    return laplace(sum(x * x for x in data), scale=sensitivity)

# %% Laplace noise on paper | proved
@mechanism(epsilon=1)
def m(x: real()):
    return laplace(x, scale=1)
