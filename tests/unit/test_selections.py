"""Selections: noisy max by a loop or a list, its gap to the runner-up, the top k; what is no selection; certificates that must not pass."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
from tests.amounts import patience
from tests.certificates import nested, recheck, recheck_anew

from privproof import (
    check,
    exponential,
    geometric,
    gumbel,
    integer,
    laplace,
    mechanism,
    public,
    queries,
    real_queries,
    records,
)
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.translation import program_agreement
from privproof.language.syntax import Return, Sample
from privproof_checker.outcomes import Accepted, Rejected


@mechanism
def by_index(q: real_queries()):
    noisy = [laplace(v, scale=2) for v in q]
    return noisy.index(max(noisy))


@mechanism
def by_smallest(q: real_queries()):
    noisy = [laplace(v, scale=2) for v in q]
    return noisy.index(min(noisy))


@mechanism
def by_key(q: real_queries()):
    noisy = [laplace(v, scale=2) for v in q]
    return max(range(len(q)), key=lambda i: noisy[i])


@mechanism
def with_exponential_noise(q: real_queries()):
    noisy = [exponential(v, scale=2) for v in q]
    return noisy.index(max(noisy))


@mechanism
def with_gap(q: real_queries()):
    best, second, winner = None, None, None
    for i, v in enumerate(q):
        noisy = laplace(v, scale=2)
        if best is None or noisy > best:
            second, best, winner = best, noisy, i
        elif second is None or noisy > second:
            second = noisy
    if second is None:
        return winner, None
    return winner, best - second


@mechanism
def with_gap_sorted(q: real_queries()):
    noisy = [laplace(v, scale=2) for v in q]
    top = sorted(noisy, reverse=True)
    return noisy.index(top[0]), top[0] - top[1]


@mechanism(neighbours="monotone")
def with_gap_monotone(q: real_queries()):
    noisy = [laplace(v, scale=1) for v in q]
    best = max(noisy)
    top = sorted(noisy, reverse=True)
    return noisy.index(best), best - top[1]


@mechanism(neighbours="one")
def with_gap_one(q: real_queries()):
    noisy = [laplace(v, scale=1) for v in q]
    top = sorted(noisy, reverse=True)
    return noisy.index(top[0]), top[0] - top[1]


@mechanism
def top_two_with_gaps(q: real_queries()):
    a, b, c, first, second = 0, 0, 0, -1, -1
    for i, v in enumerate(q):
        noisy = laplace(v, scale=2)
        if i < 1 or noisy > a:
            a, b, c, first, second = noisy, a, b, i, first
        elif i < 2 or noisy > b:
            b, c, second = noisy, b, i
        elif i < 3 or noisy > c:
            c = noisy
    if len(q) < 3:
        return None
    return first, a - b, second, b - c


@mechanism
def with_fresh_value(q: real_queries()):
    best, winner = 0, 0
    for i, v in enumerate(q):
        noisy = laplace(v, scale=2)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    if len(q) == 0:
        return None
    return winner, laplace(q[winner], scale=1)


@mechanism
def of_multiples(q: real_queries()):
    noisy = [laplace(2 * v + 1, scale=4) for v in q]
    return noisy.index(max(noisy))


PROVED = {
    "by_index": (by_index, 1),
    "by_smallest": (by_smallest, 1),
    "by_key": (by_key, 1),
    "with_exponential_noise": (with_exponential_noise, 1),
    "with_gap": (with_gap, 1),
    "with_gap_sorted": (with_gap_sorted, 1),
    "with_gap_monotone": (with_gap_monotone, 1),
    "with_gap_one": (with_gap_one, 1),
    "top_two_with_gaps": (top_two_with_gaps, 2),
    "with_fresh_value": (with_fresh_value, 2),
    "of_multiples": (of_multiples, 1),
}


@pytest.mark.parametrize("name", PROVED)
def test_a_selection_is_proved_for_lists_of_every_length_and_from_its_text(name):
    function, claim = PROVED[name]
    verdict = check(function, claim)
    assert verdict.status == "proved"
    assert isinstance(recheck(json.loads(json.dumps(dict(nested(verdict.certificate))))), Accepted)
    assert nested(verdict.certificate)["question"]["source"]["claims"] == "established"


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("by_index", "9/10"),
        ("by_key", "1/2"),
        ("with_gap", "1/2"),
        ("with_gap_monotone", "1/2"),
        ("with_gap_one", "9/10"),
        ("with_fresh_value", "3/2"),
    ],
)
def test_less_than_a_selection_costs_is_refuted(name, claim):
    verdict = check(PROVED[name][0], claim)
    assert verdict.status == "refuted"


def test_the_largest_value_itself_is_not_private():
    @mechanism
    def shown(q: real_queries()):
        noisy = [laplace(v, scale=2) for v in q]
        return noisy.index(max(noisy)), max(noisy)

    assert check(shown, 1).status == "refuted"


def test_the_answer_of_the_winner_itself_is_not_private():
    @mechanism
    def shown(q: real_queries()):
        noisy = [laplace(v, scale=2) for v in q]
        winner = noisy.index(max(noisy))
        return winner, q[winner]

    verdict = check(shown, 100)
    assert verdict.status == "refuted"
    assert verdict.lower.infinite


@pytest.mark.parametrize("name", PROVED)
def test_the_selection_does_what_the_function_does(name):
    assert program_agreement(program_for_alignment(PROVED[name][0], select=True)).told is None


def test_lists_on_which_every_run_fails_are_told():
    assert any("at least 2 elements" in note for note in check(with_gap_sorted, 1).notes)


# ------------------------------------------------------------------------------------------------------------ spellings


def index_of_max(q):
    noisy = [laplace(v, scale=2) for v in q]
    return noisy.index(max(noisy))


def numpy_argmax(q):
    noisy = [laplace(v, scale=2) for v in q]
    return np.argmax(noisy)


def numpy_array(q):
    noisy = np.array([laplace(v, scale=2) for v in q])
    return int(noisy.argmax())


def smallest_of_the_negative(q):
    noisy = np.array([laplace(v, scale=2) for v in q])
    return np.argmin(-noisy)


def noise_of_a_size(q):
    noisy = q + np.random.laplace(0, 2, size=len(q))
    return np.argmax(noisy)


def range_by_key(q):
    noisy = [laplace(v, scale=2) for v in q]
    return max(range(len(noisy)), key=lambda i: noisy[i])


def enumerated_by_key(q):
    noisy = [laplace(v, scale=2) for v in q]
    return max(enumerate(noisy), key=lambda p: p[1])[0]


def key_of_the_list(q):
    noisy = [laplace(v, scale=2) for v in q]
    return max(range(len(noisy)), key=noisy.__getitem__)


def key_that_draws(q):
    return max(range(len(q)), key=lambda i: laplace(q[i], scale=2))


def pairs(q):
    return max((laplace(v, scale=2), i) for i, v in enumerate(q))[1]


def zipped(q):
    noisy = [laplace(v, scale=2) for v in q]
    return max(zip(noisy, range(len(q))))[1]  # noqa: B905


def sorted_first(q):
    noisy = [laplace(v, scale=2) for v in q]
    return sorted(range(len(q)), key=lambda i: noisy[i], reverse=True)[0]


def sorted_last(q):
    noisy = [laplace(v, scale=2) for v in q]
    return sorted(range(len(q)), key=lambda i: noisy[i])[-1]


def numpy_argsort(q):
    noisy = [laplace(v, scale=2) for v in q]
    return np.argsort(noisy)[-1]


def winner_so_far(q):
    noisy = []
    for i in range(len(q)):
        noisy.append(laplace(q[i], scale=2))  # noqa: PERF401
    winner = 0
    for i in range(1, len(noisy)):
        if noisy[i] > noisy[winner]:
            winner = i
    return winner


def best_from_the_first(q):
    noisy = [laplace(v, scale=2) for v in q]
    best, winner = noisy[0], 0
    for i in range(1, len(noisy)):
        if noisy[i] > best:
            best, winner = noisy[i], i
    return winner


def best_or_none(q):
    best, winner = None, None
    for i, v in enumerate(q):
        noisy = laplace(v, scale=2)
        if best is None or noisy >= best:
            best, winner = noisy, i
    return winner


SPELLINGS = (
    index_of_max, numpy_argmax, numpy_array, smallest_of_the_negative, noise_of_a_size, range_by_key, enumerated_by_key,
    key_of_the_list,
    key_that_draws, pairs, zipped, sorted_first, sorted_last, numpy_argsort, winner_so_far, best_from_the_first, best_or_none,
)  # fmt: skip


def instructions(function):
    """What the selection draws and returns on lists of two elements and more."""
    code = program_for_alignment(mechanism(function, inputs={"q": real_queries()}), select=True).code
    start = next(i for i, step in enumerate(code) if isinstance(step, Sample) and step.noise == "place")
    end = next(i for i in range(start, len(code)) if isinstance(code[i], Return))
    kept = [step for step in code[start : end + 1] if isinstance(step, Sample | Return)]
    return [(s.name, s.noise) if isinstance(s, Sample) else ("return", s.value.name) for s in kept]


@pytest.mark.parametrize("function", SPELLINGS, ids=lambda function: function.__name__)
def test_noisy_max_is_one_selection_however_it_is_written(function):
    assert instructions(function) == [
        ("#place1", "place"),
        ("#others", "others"),
        ("#value1", "laplace"),
        ("#ranked", "ranked"),
        ("return", "#place1"),
    ]
    assert (
        program_agreement(program_for_alignment(mechanism(function, inputs={"q": real_queries()}), select=True)).told
        is None
    )


def top_three(q):
    noisy = [laplace(v, scale=2) for v in q]
    return sorted(range(len(q)), key=lambda i: -noisy[i])[:3]


def last_three(q):
    noisy = np.array([laplace(v, scale=2) for v in q])
    return np.argsort(noisy)[-3:]


def two_as_a_set(q):
    noisy = [laplace(v, scale=3) for v in q]
    return set(sorted(range(len(q)), key=lambda i: noisy[i], reverse=True)[:2])


def two_with_fresh_values(q):
    noisy = [laplace(v, scale=4) for v in q]
    top = sorted(range(len(q)), key=lambda i: noisy[i], reverse=True)[:2]
    return [(i, laplace(q[i], scale=2)) for i in top]


def gap_from_the_end(q):
    noisy = [laplace(v, scale=2) for v in q]
    order = np.argsort(noisy)
    return order[-1], noisy[order[-1]] - noisy[order[-2]]


def two_winners(q):
    first = [laplace(v, scale=4) for v in q]
    second = [laplace(v, scale=4) for v in q]
    return first.index(max(first)), second.index(min(second))


TOP = {
    "top_three": (top_three, 3, "1/2"),
    "last_three": (last_three, 3, "1/2"),
    "two_as_a_set": (two_as_a_set, "4/3", "1/3"),
    "two_with_fresh_values": (two_with_fresh_values, 2, 1),
    "gap_from_the_end": (gap_from_the_end, 1, "1/2"),
    "two_winners": (two_winners, 1, "3/4"),
}


@pytest.mark.parametrize("name", TOP)
def test_what_comes_of_a_selection_is_proved_and_less_is_refuted(name):
    function, claim, less = TOP[name]
    asked = mechanism(function, inputs={"q": real_queries()})
    assert check(asked, claim).status == "proved"
    assert check(asked, less).status == "refuted"


# ---------------------------------------------------------------------------------------------------- what is no selection


def no_selection(function):
    with pytest.raises(Unsupported, match="no loop that only finds"):
        program_for_alignment(function, select=True)


def test_a_list_that_does_not_take_every_value_once_is_no_list_of_them():
    @mechanism
    def later_ones(q: real_queries()):
        noisy = []
        for i, v in enumerate(q):
            n = laplace(v, scale=2)
            if i > 3:
                noisy.append(n)
        return noisy.index(max(noisy))

    @mechanism
    def early_ones_twice(q: real_queries()):
        noisy = []
        for i, v in enumerate(q):
            n = laplace(v, scale=2)
            noisy.append(n)
            if i < 4:
                noisy.append(n)
        return noisy.index(max(noisy))

    no_selection(later_ones)
    no_selection(early_ones_twice)


def test_a_loop_that_compares_with_a_number_is_no_selection():
    @mechanism
    def first_above(q: real_queries()):
        best, winner = 3, -1
        for i, v in enumerate(q):
            noisy = laplace(v, scale=2)
            if noisy > best:
                best, winner = noisy, i
        return winner

    no_selection(first_above)


def test_a_loop_that_remembers_the_order_of_its_turns_is_no_selection():
    @mechanism
    def changes(q: real_queries()):
        best, before = 0, -1
        winner = -1
        for i, v in enumerate(q):
            noisy = laplace(v, scale=2)
            if i == 0 or noisy > best:
                best, before, winner = noisy, winner, i
        return before

    no_selection(changes)


def test_a_loop_that_keeps_its_first_value_is_no_selection():
    @mechanism
    def kept(q: real_queries()):
        first, best = 0, 0
        for i, v in enumerate(q):
            noisy = laplace(v, scale=2)
            if i == 0:
                first = noisy
            if i == 0 or noisy > best:
                best = noisy
        return best - first

    no_selection(kept)


def test_a_runner_up_that_is_forgotten_when_the_best_changes_is_no_selection():
    @mechanism
    def wrong(q: real_queries()):
        best, second, winner = 0, 0, 0
        for i, v in enumerate(q):
            noisy = laplace(v, scale=2)
            if i == 0 or noisy > best:
                best, winner = noisy, i
            elif i == 1 or noisy > second:
                second = noisy
        return winner, best - second

    no_selection(wrong)
    assert check(wrong, 1, time_limit=patience(20)).status != "proved"


def test_geometric_noise_has_ties_and_its_gap_is_not_proved():
    @mechanism
    def with_ties(q: queries()):
        best, second, winner = None, None, None
        for i, v in enumerate(q):
            noisy = geometric(v, alpha="1/2")
            if best is None or noisy > best:
                second, best, winner = best, noisy, i
            elif second is None or noisy > second:
                second = noisy
        if second is None:
            return winner, None
        return winner, best - second

    no_selection(with_ties)
    assert check(with_ties, "2*ln(2)", time_limit=patience(10)).status != "proved"


def test_the_scale_of_a_selection_may_be_a_multiple_of_a_public_number():
    @mechanism
    def scaled(q: real_queries(), k: public(integer(low=1))):
        noisy = [laplace(v, scale=2 * k) for v in q]
        return noisy.index(max(noisy))

    assert check(scaled, 1).status == "proved"


# ------------------------------------------------------------------------------------------------------- over public keys


KEYS = ("a", "b", "c")


def two_and_a_value(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    return sorted(range(3), key=lambda i: -noisy[i])[:2], noisy[1]


def one_of_two_keys(data):
    noisy = [laplace(data.count(key), scale=2) for key in KEYS]
    return sorted(range(2), key=lambda i: -noisy[i])[:1]


@pytest.mark.parametrize("function", [two_and_a_value, one_of_two_keys], ids=lambda function: function.__name__)
def test_a_value_of_its_own_or_some_of_the_keys_are_no_selection(function):
    with pytest.raises(Unsupported):
        program_for_alignment(mechanism(function, inputs={"data": records(*KEYS)}, neighbours="one"), select=True)


def test_the_place_of_the_largest_of_a_list_that_has_no_name():
    @mechanism
    def chosen(q: real_queries()):
        return int(np.argmax([gumbel(value, scale=2) for value in q]))

    assert [check(chosen, claim).status for claim in (100, 1, "9/10")] == ["proved", "proved", "refuted"]


def test_a_claim_that_is_far_from_the_truth_is_the_easy_one():
    @mechanism
    def winner(q: real_queries()):
        best, place = None, 0
        for i, value in enumerate(q):
            noisy = laplace(value, scale=2)
            if best is None or noisy > best:
                best, place = noisy, i
        return place

    assert [check(winner, claim).status for claim in (100, "1/100")] == ["proved", "refuted"]


def of_two_scales(data):
    noisy = []
    noisy.append(laplace(data.count("a"), scale=1))
    noisy.append(laplace(data.count("b"), scale=2))
    return noisy.index(max(noisy))


def with_a_value_shown(data):
    noisy = [laplace(data.count(key), scale=1) for key in KEYS]
    return noisy.index(max(noisy)), noisy[0]


@pytest.mark.parametrize("function", [of_two_scales, with_a_value_shown])
def test_values_that_are_shown_or_of_different_scales_are_no_cells(function):
    no_selection(mechanism(function, inputs={"data": records(*KEYS)}, neighbours="one"))


# -------------------------------------------------------------------------------------------------- certificates that lie


@pytest.fixture(scope="module")
def certificate():
    return json.loads(json.dumps(dict(nested(check(with_gap_sorted, 1).certificate))))


def selection(code):
    """The first instruction of the first selection that has others."""
    return next(
        i for i, step in enumerate(code) if step[0] == "place" and any(s[0] == "others" for s in code[i : i + 4])
    )


def shifts(certificate):
    for path in certificate["evidence"]["paths"]:
        for case in path["cases"]:
            yield from case["shifts"].values()


def rejected(certificate, words):
    assert isinstance(recheck(certificate), Rejected)
    outcome = recheck_anew(certificate)
    assert isinstance(outcome, Rejected)
    assert words in outcome.reason


def changed(certificate, change):
    copied = json.loads(json.dumps(certificate))
    copied["question"]["source"]["claims"] = "taken"
    copied["question"]["source"]["reason"] = "changed by hand"
    change(copied)
    return copied


def test_that_a_text_makes_a_selection_is_established(certificate):
    assert certificate["question"]["source"]["claims"] == "established"
    accepted = recheck(certificate)
    assert isinstance(accepted, Accepted)
    assert accepted.details["source"]["notes"] == ["every run on lists of 1 fails"]


OTHERWISE = {
    "by_index": {
        "the smallest": ("max(noisy)", "min(noisy)"),
        "the last": ("noisy.index(max(noisy))", "len(noisy) - 1"),
        "another scale": ("scale=2", "scale=1"),
        "another centre": ("laplace(v", "laplace(2 * v"),
        "the value": ("return noisy.index(max(noisy))", "return max(noisy)"),
        "both": ("return noisy.index(max(noisy))", "return noisy.index(max(noisy)), max(noisy)"),
        "without noise": ("max(noisy)", "max(q)"),
        "the winner's answer": ("return noisy.index(max(noisy))", "return q[noisy.index(max(noisy))]"),
        "noise twice": ("laplace(v, scale=2) for", "laplace(laplace(v, scale=2), scale=2) for"),
        "some are left out": ("for v in q]", "for v in q if v > 0]"),
        "the length counts": ("max(noisy)", "max(noisy) if len(q) < 9 else min(noisy)"),
        "the next index": ("return noisy.index(max(noisy))", "return noisy.index(max(noisy)) + (len(q) > 1)"),
    },
    "with_gap": {
        "the runner-up is forgotten": ("second, best, winner = best, noisy, i", "best, winner = noisy, i"),
        "the gap to the last": ("elif second is None or noisy > second", "else"),
        "the smallest of the others": ("noisy > second", "noisy < second"),
        "beyond by a number": ("noisy > best", "noisy > best + 1"),
        "the best itself": ("best - second", "best"),
        "an early end": ("    noisy = laplace", "    if i > 3:\n            break\n        noisy = laplace"),
        "one is left out": ("    noisy = laplace", "    if i == 1:\n            continue\n        noisy = laplace"),
        "a later index": ("best, noisy, i", "best, noisy, i + 1"),
        "data are compared": ("noisy > best", "(noisy > best and v > 0)"),
        "another centre": ("laplace(v", "laplace(v / 2"),
        "the first stays": ("best is None or noisy > best", "best is None"),
        "a late change": ("    return winner, best - second", "    return 0 if len(q) > 7 else winner, best - second"),
    },
}


@cache
def accepted_certificate(honest):
    written = json.dumps(dict(nested(check(PROVED[honest][0], 1).certificate)))
    assert isinstance(recheck(json.loads(written)), Accepted)
    return written


@pytest.mark.parametrize(
    ("honest", "name"), [(honest, name) for honest, changes in OTHERWISE.items() for name in changes], ids=str
)
def test_a_certificate_is_not_accepted_with_a_text_that_selects_otherwise(honest, name):
    certificate = json.loads(accepted_certificate(honest))
    old, new = OTHERWISE[honest][name]
    [function] = certificate["question"]["source"]["program"]["functions"]
    assert old in function["text"], function["text"]
    function["text"] = function["text"].replace(old, new)
    for known in ("max", "min", "len", "enumerate", "laplace"):
        function["meanings"].setdefault(known, {"noise" if known == "laplace" else "builtin": known})
    assert isinstance(recheck(certificate), Rejected)


def test_a_constant_shift_does_not_keep_the_gap(certificate):
    def change(copied):
        for shift in shifts(copied):
            shift.update(constant="2", reads=[], distances=[])

    rejected(changed(certificate, change), "result is the same")


def test_a_shift_that_reads_its_own_noise_is_refused(certificate):
    def change(copied):
        for shift in shifts(copied):
            shift["distances"] = [["#value1", "-1"]]

    rejected(changed(certificate, change), "free of noise")


@mechanism
def rounded_for_some(x: integer(0, 1)):
    """A shift to the whole number below costs at most one over the scale, and would make both alike."""
    noisy = laplace(0, scale=1)
    return math.floor(noisy) if x == 0 else noisy


@mechanism
def averaged_for_some(x: integer(0, 1)):
    """Shifts of two noises to their middle, each by the other, would make both alike."""
    one, other = laplace(0, scale=1), laplace(0, scale=1)
    return ((one + other) / 2, (one + other) / 2) if x == 0 else (one, other)


@pytest.mark.parametrize("function", [rounded_for_some, averaged_for_some])
def test_noise_that_is_shown_otherwise_on_some_data_is_not_proved(function):
    assert check(function, 100).status != "proved"


def test_a_shift_that_reads_where_the_largest_of_the_others_is_is_refused(certificate):
    def change(copied):
        for shift in shifts(copied):
            if shift["distances"]:
                shift["reads"] = [[1, "-1"]]

    rejected(changed(certificate, change), "depends on noise")


def test_a_smaller_budget_is_refused(certificate):
    def change(copied):
        copied["question"]["epsilon"] = "9/10"
        copied["question"]["claim"]["constant"] = "9/10"
        copied["evidence"]["bounds"][0]["constant"] = "9/10"

    rejected(changed(certificate, change), "costs are within the bounds")


def test_a_selection_without_its_others_needs_a_list_without_other_places(certificate):
    def change(copied):
        code = copied["question"]["code"]
        start = selection(code)
        other = next(i for i in range(start, start + 4) if code[i][0] == "others")
        code[other] = code[other - 1]

    assert isinstance(recheck(changed(certificate, change)), Rejected)


@pytest.mark.parametrize("number", range(5))
def test_a_selection_with_a_part_missing_or_twice_is_refused(certificate, number):
    def change(copied):
        code = copied["question"]["code"]
        start = selection(code)
        code[start + number] = code[start + (number + 1) % 5]

    assert isinstance(recheck(changed(certificate, change)), Rejected)


def test_noise_that_is_not_of_one_scale_is_no_selection():
    certificate = json.loads(json.dumps(dict(nested(check(top_two_with_gaps, 2).certificate))))

    def change(copied):
        sample = next(s for s in copied["question"]["code"] if s[0] == "sample" and s[1] == "#value2")
        sample[4]["factor"] = "4"

    rejected(changed(certificate, change), "one kind and scale")


def test_a_cut_in_the_middle_of_a_selection_is_refused(certificate):
    def change(copied):
        cut = selection(copied["question"]["code"]) + 2
        copied["evidence"]["cuts"].append(cut)
        copied["evidence"]["invariants"][str(cut)] = "true"

    rejected(changed(certificate, change), "cut in the middle")


def test_others_that_may_not_be_there_prove_nothing(certificate):
    """Without the test of the length the list may have one entry, and nothing may follow from a contradiction."""

    def change(copied):
        code = copied["question"]["code"]
        start = selection(code)
        test = next(i for i, step in enumerate(code[:start]) if step[0] == "test" and start in step[2:])
        code[test] = ["test", [">=", ["length", "q"], ["int", 1]], *code[test][2:]]

    rejected(changed(certificate, change), "there are other places")
