"""A noisy count of ill people in a family of two: private if they fall ill independently, less so if the disease is contagious."""

from privproof import bernoulli, integer, mechanism, prior, pufferfish, truncated_geometric


@mechanism(epsilon="ln(2)")
def noisy_count(count: integer(0, 2)):
    return truncated_geometric(count, alpha="1/2", low=0, high=2)


@prior(p="0 < p < 1")
def strangers(p):
    return bernoulli(p), bernoulli(p)


@prior(p="0 < p < 1")
def family(p):
    ill = bernoulli(p)
    return ill, ill


@prior(p="0 < p < 1", q="0 <= q <= 1")
def household(p, q):
    """The second catches it from the first with probability q, and otherwise on her own with probability p."""
    john = bernoulli(p)
    mary = bernoulli(q) if john else bernoulli(p)
    return john, mary


SECRETS = {"John is ill": lambda data: data[0], "John is well": lambda data: not data[0]}

among_strangers = pufferfish(noisy_count, prior=strangers, query=sum, secrets=SECRETS)
in_the_family = pufferfish(noisy_count, prior=family, query=sum, secrets=SECRETS)
in_the_household = pufferfish(noisy_count, prior=household, query=sum, secrets=SECRETS)
