"""Mechanisms on lists and values for the engine of separate draws; SEPARATE have such a model, OTHERS have none."""

# ruff: noqa: PERF401
# mypy: ignore-errors

from fractions import Fraction

from privproof import (
    bernoulli,
    choice,
    exponential_mechanism,
    geometric,
    integer,
    mechanism,
    one_of,
    queries,
    randomized_response,
    records,
    truncated_geometric,
    uniform,
)


@mechanism
def count(q: records(0, 1)):
    return truncated_geometric(sum(q), alpha="1/2", low=0, high=len(q))


@mechanism
def count_beyond(q: records(0, 1)):
    return truncated_geometric(3 * sum(q) - 2, alpha="1/2", low=1, high=2)


@mechanism
def count_on_all_integers(q: records("yes", "no")):
    return geometric(sum(1 for answer in q if answer == "yes"), epsilon="ln(3)")


@mechanism(neighbours="each")
def every_answer(q: queries(0, 2)):
    return geometric(sum(q), alpha="2/3")


@mechanism(neighbours="monotone")
def monotone_answers(q: queries(0, 2)):
    return geometric(sum(q), alpha="2/3"), geometric(sum(1 for x in q if x > 0), alpha="1/3")


@mechanism(neighbours="monotone")
def monotone_one_by_one(q: queries(0, 2)):
    return [truncated_geometric(x, alpha="1/2", low=0, high=2) for x in q]


@mechanism(neighbours="each")
def bits(q: records(0, 1)):
    return [randomized_response(x, truth="3/4") for x in q]


@mechanism
def bits_of_one(q: records(0, 1)):
    out = []
    for x in q:
        out.append(randomized_response(x, truth="3/4"))
        out.append(randomized_response(1 - x, truth="2/3"))
    return out


@mechanism
def running_parity(q: records(0, 1)):
    out = []
    parity = 0
    for x in q:
        parity = (parity + x) % 2
        out.append(randomized_response(parity, truth="3/4"))
    return tuple(out)


@mechanism
def running_and_last(q: records(0, 1)):
    out = []
    total = 0
    for x in q:
        total += x
        out.append(bernoulli(Fraction(1 + total, 8)))
    return out, geometric(total, alpha="1/2")


@mechanism
def histogram(q: records(0, 1, 2)):
    counts = [0] * 3
    for r in q:
        counts[r] += 1
    return [truncated_geometric(c, alpha="1/2", low=0, high=2) for c in counts]


@mechanism
def cells(q: records("a", "b", "c")):
    return [geometric(sum(1 for r in q if r == c), alpha="1/2") for c in ("a", "b", "c")]


@mechanism
def sum_and_count(q: records(0, 1, 2)):
    total = sum(q)
    large = sum(1 for x in q if x > 1)
    return geometric(total, alpha="1/2"), geometric(large, alpha="1/3")


@mechanism
def last_wins(q: records("a", "b", "c")):
    kept = "a"
    for r in q:
        kept = r
    return randomized_response(kept, truth="1/2", among=("a", "b", "c")), "constant"


@mechanism
def last_draw(q: records(0, 1)):
    shown = bernoulli("1/2")
    for x in q:
        shown = bernoulli("1/3" if x else "1/4")
    return shown


@mechanism
def leaks_the_sum(q: records(0, 1)):
    return sum(q), geometric(sum(q), alpha="1/2")


@mechanism
def scores(q: records(0, 1)):
    ones = sum(q)
    return exponential_mechanism((ones, len(q) - ones), epsilon="ln(4)")


@mechanism
def no_data(q: records(0, 1)):
    return geometric(0, alpha="1/2"), uniform(1, 3)


@mechanism
def whole(x: integer(0, 5)):
    return geometric(x, alpha="1/2"), truncated_geometric(x, alpha="1/3", low=0, high=5)


@mechanism
def unary(x: one_of("a", "b", "c")):
    return [randomized_response(x == c, truth="3/4") for c in ("a", "b", "c")]


@mechanism
def tables(x: one_of("a", "b")):
    if x == "a":
        return choice({"l": "1/2", "r": "1/2"}), bernoulli("1/3")
    return choice({"l": "1/4", "m": "1/2", "r": "1/4"}), bernoulli("1/2")


@mechanism
def histogram_by_count(data: records("a", "b")):
    return [geometric(data.count(cell), alpha="1/2") for cell in ("a", "b")]


@mechanism
def count_of_a_variable(data: records("a", "b"), wanted="a"):
    if len(data) > 1:
        wanted = "b"
    return geometric(data.count(wanted), alpha="1/2"), len(data)


SEPARATE = (
    *(count, count_beyond, count_on_all_integers, every_answer, monotone_answers, monotone_one_by_one, bits),
    *(
        bits_of_one,
        running_parity,
        running_and_last,
        histogram,
        histogram_by_count,
        count_of_a_variable,
        cells,
        sum_and_count,
        last_wins,
        last_draw,
    ),
    *(leaks_the_sum, scores, no_data, whole, unary, tables),
)


@mechanism
def looked_at(q: records(0, 1)):
    noisy = truncated_geometric(sum(q), alpha="1/2", low=0, high=2)
    return noisy > 1


@mechanism
def shown_twice(q: records(0, 1)):
    noisy = truncated_geometric(sum(q), alpha="1/2", low=0, high=2)
    return noisy, noisy


@mechanism
def written_twice(q: records(0, 1)):
    out = []
    for x in q:
        noisy = randomized_response(x, truth="3/4")
        out.append(noisy)
        out.append(noisy)
    return out


@mechanism
def kept_and_written(q: records(0, 1)):
    out = []
    noisy = bernoulli("1/2")
    for x in q:
        noisy = randomized_response(x, truth="3/4")
        out.append(noisy)
    return out, noisy


@mechanism
def begun_anew(q: records(0, 1)):
    out = []
    for x in q:
        if x:
            out = []
        out.append(randomized_response(x, truth="3/4"))
    return out


@mechanism
def left_early(q: records(0, 1)):
    for x in q:
        if x:
            return bernoulli("1/3")
    return bernoulli("1/4")


@mechanism
def broken_off(q: records(0, 1)):
    seen = 0
    for x in q:
        if x:
            break
        seen += 1
    return geometric(seen, alpha="1/2")


@mechanism
def by_place(q: records(0, 1)):
    total = 0
    for i, x in enumerate(q):
        total += i * x
    return geometric(total, alpha="1/2")


@mechanism
def every_other(q: records(0, 1)):
    total = 0
    for i in range(0, len(q), 2):
        total += q[i]
    return geometric(total, alpha="1/2")


@mechanism
def in_two_forms(q: records(0, 1)):
    if sum(q) > 1:
        return geometric(0, alpha="1/2"), geometric(0, alpha="1/2")
    return geometric(0, alpha="1/2")


@mechanism
def drawn_before(q: records(0, 1)):
    out = [bernoulli("1/2")]
    for x in q:
        out.append(randomized_response(x, truth="3/4"))
    return out


@mechanism
def sometimes_written(q: records(0, 1)):
    out = []
    for x in q:
        if x:
            out.append(bernoulli("1/3"))
    return out


@mechanism
def clamped(q: records(0, 1)):
    return min(max(geometric(sum(q), alpha="1/2"), 0), 2)


OTHERS = (
    *(looked_at, shown_twice, written_twice, kept_and_written, begun_anew, left_early, broken_off, by_place),
    *(every_other, in_two_forms, drawn_before, sometimes_written, clamped),
)


@mechanism
def none_of_two(q: records(0, 1, 2)):
    """Two sums, the first of which may become None: another pass must not take it for a number."""
    first = 0
    for x in q:
        first = None if x == 2 else 1
    second = sum(q)
    if first is None:
        return geometric(0, alpha="1/2"), geometric(second, alpha="1/2")
    return geometric(first, alpha="1/2"), geometric(second, alpha="1/2")


@mechanism
def depends_on_both(q: records(0, 1, 2)):
    ones = sum(1 for x in q if x == 1)
    twos = sum(1 for x in q if x == 2)
    return geometric(ones + twos, alpha="1/2"), geometric(ones, alpha="1/2")


@mechanism
def tested_later(q: records(0, 1, 2)):
    ones = sum(1 for x in q if x == 1)
    twos = sum(1 for x in q if x == 2)
    return geometric(ones if twos > 1 else 0, alpha="1/2"), geometric(twos, alpha="1/2")


FORGETTING = (none_of_two, depends_on_both, tested_later)
