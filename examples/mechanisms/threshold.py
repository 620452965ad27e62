"""Is one of many queries above a threshold?  A stream of answers, chosen one by one (FAIER paper, Algorithm 4)."""

from privproof import integer, mechanism, public, stream, truncated_geometric


@mechanism(epsilon="4*ln(2)")
def above(threshold: public(integer(0, 2)), answers: stream(0, 2)):
    noisy_threshold = truncated_geometric(threshold, alpha="1/4", low=0, high=2)
    for answer in answers:
        if truncated_geometric(answer, alpha="1/2", low=0, high=2) >= noisy_threshold:
            yield "above"
            return
        yield "below"
