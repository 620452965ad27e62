"""A yes or no of every person, each with noise of its own: the list of answers, or how many said yes."""

from privproof import mechanism, randomized_response, records, truncated_geometric


@mechanism(epsilon="ln(3)")
def answers(data: records(0, 1)):
    return [randomized_response(bit, truth="3/4") for bit in data]


@mechanism(epsilon="ln(7/4)", neighbours="add-remove")
def several(data: records(0, 1)):
    if not data:
        return truncated_geometric(0, alpha="1/2", low=0, high=4)
    yes = sum(randomized_response(bit, truth="3/4") for bit in data)
    return truncated_geometric(min(yes, 4), alpha="1/2", low=0, high=4)
