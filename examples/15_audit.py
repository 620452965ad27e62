"""Testing by sampling, joined with exact certification: what runs say with confidence, and what is exact.

An audit looks for two neighbouring data sets and an event that tells them apart, counts it in fresh runs, and bounds epsilon from below.
Where the mechanism is written in the language, its candidates get exact probabilities: real or spurious.  An ordinary function can be
audited, too; then runs are all there is, and a verdict is never given.
"""

import random

from mechanisms.noisy_max import improved
from mechanisms.threshold import above

from privproof import audit, real_queries


def largest(q: real_queries(), epsilon=1.0):
    """Somebody else's noisy max, which returns the noisy answer instead of its index."""
    return max(answer + random.expovariate(epsilon / 2) - random.expovariate(epsilon / 2) for answer in q)


if __name__ == "__main__":
    found = audit(improved, "1", size=3, samples=100_000)
    print(f"improved noisy max against epsilon = 1: {found.status}")
    print(f"  runs: epsilon is at least {found.epsilon:.3f} with 95 % confidence, p = {found.p_value:.1g}")
    print(f"  {found.count.event}: {found.count.left} and {found.count.right} of {found.samples} runs")
    for candidate in found.candidates:
        print(f"  {candidate.judgement}: exact loss {candidate.loss.show()}, {candidate.exactly}")
    print(f"  the tight epsilon, exactly: {found.tight.tight.show()}")
    print()
    found = audit(above, size=[2, 3], samples=100_000)
    print(f"above threshold on streams of two and three answers: {found.status}")
    print(f"  runs: epsilon is at least {found.epsilon:.3f}, nothing near the claim {found.budget.epsilon.show()}")
    for note in found.notes:
        print(f"  {note}")
    growth = found.tight.growth
    print(f"  but on longer streams: repeat {growth.repeated[0]}, and each time the ratio grows by {growth.factor}")
    print(f"  {' '.join(found.verdict.witness.output)}: {found.verdict.witness.ratio} times likelier")
    print()
    found = audit(largest, 1, size=5, samples=50_000)
    print(
        f"somebody else's noisy max against epsilon = 1: {found.status}, but the runs speak against it: {found.violated}"
    )
    print(f"  epsilon is at least {found.epsilon:.3f} with 95 % confidence")
    print(f"  {found.count.event}: {found.count.left} and {found.count.right} of {found.samples} runs")
    print(f"  left {found.count.pair.left}, right {found.count.pair.right}")
