"""Mechanisms that answer while the questions come in: a stream, a public threshold, and what grows without bound.

The discrete above threshold (FAIER paper, Algorithm 4) keeps its claim of 4 ln 2 for up to four queries.  The fifth breaks it,
and on streams of every length no epsilon is enough.  Answering one question by randomised response again and again costs
ln 4 with every request for high accuracy.
"""

from mechanisms.threshold import above

from privproof import Horizon, check, mechanism, one_of, public, randomized_response, stream_of, tight_epsilon


@mechanism
def interview(ill: one_of("yes", "no"), requests: public(stream_of("low", "high"))):
    for request in requests:
        yield randomized_response(ill, truth="4/5" if request == "high" else "3/4", among=("yes", "no"))


if __name__ == "__main__":
    for length in (4, 5):
        print(f"above threshold, up to {length} queries: {check(above, horizon=Horizon.up_to(length)).status}")
    verdict = check(above, horizon=Horizon.up_to(5))
    for side, arguments in zip(("left ", "right"), verdict.arguments, strict=True):
        print(f"  {side}", arguments)
    print("  output", *verdict.witness.output, "ratio", verdict.witness.ratio)

    verdict = tight_epsilon(above)
    print("streams of every length: epsilon", verdict.lower)
    print("  repeat", *verdict.growth.repeated, "and the ratio grows by", verdict.growth.factor)

    print()
    for length in (1, 2, 3):
        print(f"interview of {length}: {tight_epsilon(interview, horizon=Horizon.up_to(length)).tight}")
