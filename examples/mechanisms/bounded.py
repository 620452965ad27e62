"""A noisy count that must stay between 0 and 5: draw again until it does, or clamp it?"""

from privproof import geometric, integer, mechanism


@mechanism(epsilon=1)
def rejected(count: integer(0, 5)):
    while True:
        noisy = geometric(count, epsilon=1)
        if 0 <= noisy <= 5:
            return noisy


@mechanism(epsilon=1)
def clamped(count: integer(0, 5)):
    return min(max(geometric(count, epsilon=1), 0), 5)
