"""Lotteries: the largest noisy value by lot, lists of every length; bounds, lists that come near to them, and what is no lottery."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from itertools import product

import pytest
from tests.certificates import nested, recheck
from tests.programs import load

from privproof import (
    bernoulli,
    check,
    mechanism,
    queries,
    records,
    tight_epsilon,
    truncated_geometric,
)
from privproof.compiling.lotteries import lottery
from privproof.compiling.posing import pose_question
from privproof.engines.lotteries.lottery_stretching import largest_level_ratio, stretched
from privproof.exact import fraction, log, rational
from privproof.language.running import outputs
from privproof.models.lottery_model import Lottery, win_probability
from privproof_checker import Accepted, Rejected


def improved_noisy_max(high, alpha="1/2"):
    @mechanism(inputs={"q": queries(0, high)})
    def improved(q):
        best, winner, ties = -1, 0, 0
        for i, value in enumerate(q):
            noisy = truncated_geometric(value, alpha=alpha, low=0, high=high)
            if noisy > best:
                best, winner, ties = noisy, i, 1
            elif noisy == best:
                ties += 1
                if bernoulli(Fraction(1, ties)):
                    winner = i
        return winner

    return improved


@mechanism
def by_choice(q: queries(0, 2)):
    noisy = [truncated_geometric(value, alpha="1/2", low=0, high=2) for value in q]
    return random.choice([i for i, v in enumerate(noisy) if v == max(noisy)])


@mechanism
def by_largest(q: queries(0, 2)):
    noisy = [truncated_geometric(value, alpha="1/2", low=0, high=2) for value in q]
    top = max(noisy)
    return random.choice([i for i in range(len(noisy)) if top == noisy[i]])


@mechanism
def smallest(q: queries(0, 2)):
    noisy = [truncated_geometric(value, alpha="1/2", low=0, high=2) for value in q]
    least = min(noisy)
    tied = [i for i in range(len(noisy)) if noisy[i] == least]
    return random.choice(tied)


@mechanism
def by_number(q: queries(0, 2)):
    best, winner, ties = None, 0, 0
    for i in range(len(q)):
        noisy = truncated_geometric(q[i], alpha="1/2", low=0, high=2)
        if best is None or noisy > best:
            best, winner, ties = noisy, i, 0
        elif noisy == best:
            ties = ties + 1
            if random.randint(0, ties) == 0:
                winner = i
    return winner


# --------------------------------------------------------------------------------------------------------------- the bounds


@pytest.mark.parametrize(
    ("high", "alpha"), [(1, "1/2"), (2, "1/2"), (3, "2/3"), (5, "1/3"), (8, "1/2")], ids=lambda value: str(value)
)
def test_the_loss_of_every_length_is_twice_that_of_one_answer(high, alpha):
    asked = improved_noisy_max(high, alpha)
    rate = 1 / Fraction(alpha)
    for relation, ratio in (("each", rate**2), ("monotone", rate), ("one", rate))[: 1 if high > 3 else 3]:
        verdict = tight_epsilon(asked, neighbours=relation)
        assert (verdict.status, verdict.engine, verdict.upper) == ("proved", "lottery", log(ratio))
        assert verdict.certified.lower
        assert verdict.certified.upper
        assert verdict.lower.compare(verdict.upper) < 0  # no list attains it
        assert verdict.lower.compare(log(ratio * (1 - Fraction(1, 10**6)))) > 0
        below = check(asked, log(ratio * Fraction(999, 1000)), neighbours=relation)
        assert below.status == "refuted"
        assert check(asked, log(ratio), neighbours=relation).status == "proved"


@pytest.mark.parametrize(
    ("relation", "known"),
    [
        ("each", ["12/5", "24/7", "432/113", "288/73"]),
        ("one", ["8/5", "40/21", "224/113", "1312/657", "7808/3905"]),
        ("monotone", ["8/5", "40/21", "224/113", "1312/657", "7808/3905"]),
    ],
)
def test_short_lists_lose_what_is_known(relation, known):
    model = lottery(improved_noisy_max(2))
    near = [(x, y) for x in range(3) for y in range(3) if abs(x - y) == 1]
    for length, ratio in enumerate(known[:3], start=2):
        best = Fraction(0)
        for changes in product([*near, *((x, x) for x in range(3))], repeat=length):
            moved = [y - x for x, y in changes if x != y]
            if not moved or (relation == "one" and len(moved) > 1) or (relation == "monotone" and len(set(moved)) > 1):
                continue
            left, right = (wins(model, [pair[side] for pair in changes]) for side in (0, 1))
            best = max(best, left / right)
        assert best == Fraction(ratio)
    if relation == "each":
        for n in range(2, 40):
            ratio = wins(model, [1] * n) / wins(model, [0] + [2] * (n - 1))
            assert ratio == 4 / (1 + Fraction(1, 3 ** (n - 1)) + 2 * Fraction(1, 6 ** (n - 1)))


def wins(model, data):
    """The probability that the first element wins."""
    others = {value: data[1:].count(value) for value in set(data[1:])}
    return fraction(win_probability(model, data[0], others))


def test_the_probability_of_winning_is_that_of_all_draws():
    chance = random.Random(7)
    for _ in range(12):
        model = drawn_lottery(chance, values=3, levels=chance.randint(1, 3))
        data = [chance.randrange(3) for _ in range(chance.randint(1, 4))]
        total = Fraction(0)
        for levels in product(range(model.levels), repeat=len(data)):
            mass = Fraction(1)
            for value, level in zip(data, levels, strict=True):
                mass *= fraction(model.laws[value][level])
            total += mass / levels.count(max(levels)) if levels[0] == max(levels) else 0
        assert wins(model, data) == total


def drawn_lottery(chance, *, values, levels):
    laws = []
    for _ in range(values):
        weights = [chance.choice((0, 1, 1, 2, 5)) for _ in range(levels)]
        weights = weights if any(weights) else [1] * levels
        laws.append(tuple(rational(Fraction(weight, sum(weights))) for weight in weights))
    return Lottery(tuple(range(values)), tuple(laws))


def test_no_list_loses_more_than_a_stretch_allows():
    chance = random.Random(11)
    bounded = 0
    for _ in range(60):
        model = drawn_lottery(chance, values=2, levels=chance.randint(1, 4))
        near = [(0, 1), (1, 0)]
        bounds = {
            "each": stretched(model, near).ratio,
            "up": stretched(model, [(0, 1)]).ratio,
            "down": stretched(model, [(1, 0)]).ratio,
            "one": largest_level_ratio(model, near),
        }
        for length in (1, 2, 3):
            for left, right in product(product((0, 1), repeat=length), repeat=2):
                moved = {(x, y) for x, y in zip(left, right, strict=True) if x != y}
                changes = sum(x != y for x, y in zip(left, right, strict=True))
                p, q = wins(model, list(left)), wins(model, list(right))
                for name, bound in bounds.items():
                    applies = {"each": True, "up": (1, 0) not in moved, "down": (0, 1) not in moved}
                    if bound is not None and applies.get(name, changes <= 1):
                        bounded += 1
                        assert p <= fraction(bound) * q
    assert bounded > 5_000


# -------------------------------------------------------------------------------------------------------------- the functions


@pytest.mark.parametrize("asked", [by_choice, by_largest, by_number, smallest], ids=lambda asked: asked.name)
def test_every_way_to_write_it_is_one_lottery(asked):
    model = lottery(asked)
    assert model is not None
    for data in ([1], [0, 2], [2, 0, 1], [1, 1, 1]):
        law = outputs(asked, {"q": data}).distribution()
        for place in range(len(data)):
            assert law.get(str(place), 0) == wins(model, [data[place], *data[:place], *data[place + 1 :]])
    for verdict in (check(asked, "ln(4)"), check(asked, "ln(3)")):
        assert nested(verdict.certificate)["question"]["source"]["claims"] == "established"
        assert recheck(nested(verdict.certificate)).details["source"]["taken"] == []
    assert verdict.status == "refuted"


OTHERS = {
    "ties that are not forgotten": ("best, winner, ties = noisy, i, 1", "best, winner, ties = noisy, i, ties + 1"),
    "a fair coin": ("Fraction(1, ties)", "Fraction(1, 2)"),
    "one too many": ("Fraction(1, ties)", "Fraction(1, ties + 1)"),
    "two steps": ("ties += 1", "ties += 2"),
    "ties that are looked at": ("bernoulli(Fraction(1, ties))", "ties < 5 and bernoulli(Fraction(1, ties))"),
    "ties that are returned": ("return winner", "return winner, ties"),
    "the value is returned": ("return winner", "return winner, best"),
    "the last of the equal ones": ("if bernoulli(Fraction(1, ties)):", "if True:"),
    "the index counts": ("if noisy > best", "if noisy > best + i"),
    "the length counts": ("if noisy > best", "if noisy > best and len(q) < 9"),
    "a better one is not always taken": ("if noisy > best", "if noisy > best + 1"),
    "the place of the next": ("winner = i", "winner = i + 1"),
    "the count is looked at after the loop": ("return winner", "return winner if ties < 5 else 0"),
    "the value of the place": ("return winner", "return q[winner]"),
    "another loop": (
        "return winner",
        "for value in q:\n        winner = winner if value < 2 else 0\n    return winner",
    ),
    "the loop is left": ("ties += 1", "ties += 1\n            if ties > 3:\n                break"),
}


def refused_for(honest, other):
    """Whether the certificate of a lottery is not accepted with the text of another function."""
    certificate = copy.deepcopy(dict(nested(check(honest, "ln(4)").certificate)))
    assert isinstance(recheck(certificate), Accepted)
    certificate["question"]["source"]["program"] = other.program.document()
    return isinstance(recheck(certificate), Rejected)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_lottery_is_not_taken_for_one(name, tmp_path):
    text = """
from fractions import Fraction
from privproof import bernoulli, mechanism, queries, truncated_geometric

@mechanism
def improved(q: queries(0, 2)):
    best, winner, ties = -1, 0, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if noisy > best:
            best, winner, ties = noisy, i, 1
        elif noisy == best:
            ties += 1
            if bernoulli(Fraction(1, ties)):
                winner = i
    return winner
"""
    assert lottery(load(tmp_path, text, "improved")) is not None
    old, new = OTHERS[name]
    changed = text.replace(old, new)
    assert changed != text
    other = load(tmp_path, changed, "improved")
    assert lottery(other) is None
    assert refused_for(load(tmp_path, text, "improved"), other)


LISTS = {
    "not the largest": ("v == max(noisy)", "v == noisy[0]"),
    "those that are large": ("v == max(noisy)", "v >= 1"),
    "the value": ("[i for i, v", "[v for i, v"),
    "of another list": ("v == max(noisy)", "v == max(q)"),
    "with more in it": ("    return", "    noisy.append(2)\n    return"),
    "the next one": ("[i for i, v", "[i + 1 for i, v"),
    "a second largest": ("max(noisy)", "max(noisy) - 1"),
    "one of two lists": ("max(noisy)])", "max(noisy)] + [0])"),
    "the first of them": ("random.choice([", "min(["),
    "the length counts": ("if v == max(noisy)", "if v == max(noisy) or len(noisy) > 8"),
}


@pytest.mark.parametrize("name", LISTS)
def test_another_choice_is_not_taken_for_a_lottery(name, tmp_path):
    text = """
import random
from privproof import mechanism, queries, truncated_geometric

@mechanism
def chosen(q: queries(0, 2)):
    noisy = [truncated_geometric(value, alpha="1/2", low=0, high=2) for value in q]
    return random.choice([i for i, v in enumerate(noisy) if v == max(noisy)])
"""
    assert lottery(load(tmp_path, text, "chosen")) is not None
    old, new = LISTS[name]
    changed = text.replace(old, new)
    assert changed != text
    other = load(tmp_path, changed, "chosen")
    assert lottery(other) is None
    assert refused_for(load(tmp_path, text, "chosen"), other)


def test_other_neighbours_and_sizes_are_asked_about_as_before():
    asked = improved_noisy_max(2)
    assert pose_question(asked, size=3).family == "words"
    assert tight_epsilon(asked, size=3).tight == log(Fraction(24, 7))
    assert pose_question(by_choice, neighbours="add-remove").family == "runs"


def test_records_change_in_any_way():
    @mechanism
    def chosen(q: records("low", "high")):
        best, winner, ties = -1, 0, 0
        for i, value in enumerate(q):
            noisy = truncated_geometric(1 if value == "high" else 0, alpha="1/2", low=0, high=1)
            if noisy > best:
                best, winner, ties = noisy, i, 1
            elif noisy == best:
                ties += 1
                if bernoulli(Fraction(1, ties)):
                    winner = i
        return winner

    assert tight_epsilon(chosen, neighbours="one").upper == log(2)
    assert tight_epsilon(chosen, neighbours="each").upper == log(4)


def test_a_delta_is_refuted_by_one_index_and_an_epsilon_is_one_for_every_delta():
    asked = improved_noisy_max(2)
    assert check(asked, "ln(4)", delta="1/100").status == "proved"
    verdict = check(asked, 1, delta="1/100")
    assert verdict.status == "refuted"
    left, right = verdict.witness.left_probability, verdict.witness.right_probability
    assert left > Fraction(272, 100) * right + Fraction(1, 100)


# --------------------------------------------------------------------------------------------------------------- the checker


def tampered(document, change):
    changed = copy.deepcopy(dict(document))
    change(changed)
    return recheck(changed)


def test_the_checker_finds_what_was_tampered_with():
    proof = nested(check(improved_noisy_max(2), "ln(4)").certificate)
    assert isinstance(recheck(proof), Accepted)

    def piece(number, end, by):
        def change(document):
            row = document["evidence"]["pieces"]["each"][number]
            row[end] = str(Fraction(row[end]) + Fraction(by))

        return change

    changes = [
        piece(0, 3, "-1/8"),
        piece(0, 3, "1/8"),
        piece(1, 1, "1/8"),
        piece(0, 2, "-1/8"),
        lambda document: document["evidence"]["pieces"]["each"].pop(),
        lambda document: document["evidence"]["pieces"].update(up=[]),
        lambda document: document["question"].update(epsilon="ln(3)"),
        lambda document: document["question"].update(within="2"),
        lambda document: document["question"].update(within=None),
        lambda document: document["question"]["laws"].__setitem__(0, ["9/10", "1/20", "1/20"]),
        lambda document: document["question"]["laws"][0].append("1/2"),
        lambda document: document["question"].update(relation="monotone"),
        lambda document: document["question"].update(relation="one"),
        lambda document: document["evidence"].update(method="levels", pieces=None),
        lambda document: document["witness"]["others"][0].__setitem__(2, 0),
        lambda document: document["witness"]["others"][0].__setitem__(0, 0),
    ]
    assert [number for number, change in enumerate(changes) if isinstance(tampered(proof, change), Accepted)] == []


def test_the_checker_computes_a_refutation_again():
    refuted = nested(check(improved_noisy_max(2), "ln(3)").certificate)
    assert isinstance(recheck(refuted), Accepted)
    for change in (
        lambda document: document["evidence"].update(winner=[1, 1]),
        lambda document: document["evidence"].update(others=[[1, 2, 1]]),
        lambda document: document["evidence"].update(others=[[0, 2, 2]]),
        lambda document: document["question"].update(epsilon="ln(4)"),
        lambda document: document["question"].update(relation="one"),
        lambda document: document["question"].update(relation="monotone"),
    ):
        assert isinstance(tampered(refuted, change), Rejected)
