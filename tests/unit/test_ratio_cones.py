"""Ratio cones: one change on lists of every length, one element more or less, and certificates that are refused when they are changed."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest
from tests.certificates import nested, recheck
from tests.every_length import largest_ratio, list_reader

from privproof import (
    Question,
    bernoulli,
    check,
    choice,
    mechanism,
    records,
    tight_epsilon,
    truncated_geometric,
)
from privproof.errors import ScenarioError
from privproof.exact import epsilon, fraction, rational
from privproof.exact.shipping import cheapest_shipment
from privproof.formats import document, question_from_document
from privproof.models import Transducer
from privproof.scenarios import Neighbours, Scenario
from privproof_checker import Accepted, Rejected


@mechanism
def capped_count(data: records(0, 1)):
    n = 0
    for x in data:
        if x == 1 and n < 3:
            n = n + 1
    return truncated_geometric(n, alpha="1/2", low=0, high=3)


@mechanism
def count_modulo(data: records(0, 1)):
    n = 0
    for x in data:
        n = (n + x) % 4
    return (n + choice({0: "17/45", 1: "10/45", 2: "8/45", 3: "10/45"})) % 4  # geometric(1/2) modulo 4


@mechanism
def histogram(data: records("a", "b")):
    a, b = 0, 0
    for x in data:
        if x == "a":
            a = min(a + 1, 2)
        else:
            b = min(b + 1, 2)
    first = truncated_geometric(a, alpha="1/2", low=0, high=2)
    return (first, truncated_geometric(b, alpha="1/2", low=0, high=2))


@mechanism
def histogram_of_three(data: records("a", "b")):
    a, b = 0, 0
    for x in data:
        if x == "a":
            a = min(a + 1, 3)
        else:
            b = min(b + 1, 3)
    first = truncated_geometric(a, alpha="1/2", low=0, high=3)
    return (first, truncated_geometric(b, alpha="1/2", low=0, high=3))


@mechanism
def sampled_count(data: records(0, 1)):
    n = 0
    for x in data:
        if x == 1 and bernoulli("1/4"):
            n = min(n + 1, 4)
    return truncated_geometric(n, alpha="1/2", low=0, high=4)


@mechanism
def sampled_histogram(data: records("a", "b")):
    a, b = 0, 0
    for x in data:
        if bernoulli("1/2"):
            if x == "a":
                a = min(a + 1, 2)
            else:
                b = min(b + 1, 2)
    first = truncated_geometric(a, alpha="1/2", low=0, high=2)
    return (first, truncated_geometric(b, alpha="1/2", low=0, high=2))


@mechanism
def noisy_bits(data: records(0, 1)):
    n = 0
    for x in data:
        if bernoulli("3/4" if x == 1 else "1/4"):
            n = min(n + 1, 4)
    return truncated_geometric(n, alpha="1/2", low=0, high=4)


@mechanism
def overwriting(data: records(0, 1)):
    state = 0
    for x in data:
        if bernoulli("1/4"):
            state = x
    return state if bernoulli("3/4") else 1 - state


@mechanism
def parity_of_noisy_bits(data: records(0, 1)):
    odd = False
    for x in data:
        if bernoulli("3/4" if x == 1 else "1/4"):
            odd = not odd
    return odd


@mechanism
def parity_with_a_key(data: records(0, 1)):
    odd = bernoulli("1/2")
    for x in data:
        if x == 1:
            odd = not odd
    return odd


@mechanism
def summed_bits(data: records(0, 1)):
    n = 0
    for x in data:
        n = n + bernoulli("3/4" if x == 1 else "1/4")
    return n


ANSWERS = [
    (capped_count, "one", "ln(2)"),
    (capped_count, "add-remove", "ln(2)"),
    (count_modulo, "one", "ln(17/10)"),
    (count_modulo, "add-remove", "ln(17/10)"),
    (histogram, "one", "ln(4)"),
    (histogram, "add-remove", "ln(2)"),
    (histogram_of_three, "one", "ln(4)"),
    (histogram_of_three, "add-remove", "ln(2)"),
    (sampled_count, "add-remove", "ln(5/4)"),
    (sampled_histogram, "one", "ln(2)"),
    (sampled_histogram, "add-remove", "ln(3/2)"),
    (noisy_bits, "add-remove", "ln(7/4)"),
    (noisy_bits, "one", "ln(7/5)"),
    (overwriting, "one", "ln(3/2)"),
    (parity_of_noisy_bits, "one", "ln(3)"),
    (parity_with_a_key, "one", "0"),
    (parity_with_a_key, "add-remove", "0"),
]


@pytest.mark.parametrize(("function", "relation", "answer"), ANSWERS, ids=lambda each: getattr(each, "name", each))
def test_the_tight_epsilon_of_one_change_is_that_of_lists_of_every_length(function, relation, answer):
    verdict = tight_epsilon(function, neighbours=relation)
    assert (verdict.status, verdict.engine, verdict.tight) == ("proved", "ratios", epsilon(answer))
    assert "every length" in verdict.question.name
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    left, right = (side["data"] for side in verdict.arguments)
    assert abs(len(left) - len(right)) == (1 if relation == "add-remove" else 0)
    longest = 4 if len(verdict.question.model.states) > 8 else 5
    assert fraction(epsilon(answer).ratio) == largest_ratio(verdict.question.model, relation, longest)


def test_every_overwritten_state_is_bounded_by_a_limit_that_no_list_attains():
    verdict = tight_epsilon(overwriting, neighbours="each")
    assert (verdict.status, verdict.upper) == ("proved", epsilon("ln(3)"))
    assert epsilon("ln(2999999/1000000)").compare(verdict.lower) <= 0
    assert verdict.lower.compare(verdict.upper) < 0


def test_a_claim_below_the_loss_is_refuted_by_lists_of_different_length():
    verdict = check(noisy_bits, "ln(3/2)", neighbours="add-remove")
    assert (verdict.status, verdict.engine) == ("refuted", "unbounded")
    assert verdict.arguments == ({"data": [1]}, {"data": []})
    assert verdict.witness.ratio == Fraction(7, 4)
    assert str(verdict.witness.letters[0]) == "1|"


def test_sums_of_bits_tell_how_many_there_are():
    assert tight_epsilon(summed_bits, neighbours="add-remove").lower.infinite
    assert tight_epsilon(parity_of_noisy_bits, neighbours="add-remove").lower.infinite


def test_forgetting_the_past_is_only_an_upper_bound_and_refutes_nothing():
    """Masked by a key that a list of six records has used up, the parity tells nothing, and unit vectors would say infinity."""
    verdict = tight_epsilon(parity_with_a_key)
    assert verdict.tight == epsilon(0)
    slow = list_reader(
        ["e", "o"],
        ["0", "1"],
        ["even", "odd"],
        ["1/3", "2/3"],
        {("e", "0"): (1, 0), ("o", "0"): (0, 1), ("e", "1"): ("1/2", "1/2"), ("o", "1"): ("1/2", "1/2")},
        {"e": (1, 0), "o": (0, 1)},
    )
    found = tight_epsilon(Question(model=slow, scenario=Scenario(neighbours=Neighbours.one(within=None))))
    assert found.status == "proved"
    assert fraction(found.tight.ratio) == largest_ratio(slow, "one", 5) == Fraction(3, 2)


def test_remembering_the_last_letters_gives_a_smaller_bound_than_forgetting_everything():
    """A state that mixes fast: before the change no list leads to a state that is certain."""
    mixing = list_reader(
        ["s", "t"],
        ["0", "1"],
        ["p", "q"],
        ["1/2", "1/2"],
        {
            ("s", "0"): ("3/5", "2/5"),
            ("t", "0"): ("2/5", "3/5"),
            ("s", "1"): ("1/2", "1/2"),
            ("t", "1"): ("3/7", "4/7"),
        },
        {"s": ("9/10", "1/10"), "t": ("1/10", "9/10")},
    )
    verdict = tight_epsilon(Question(model=mixing, scenario=Scenario(neighbours=Neighbours.add_remove())))
    worst = largest_ratio(mixing, "add-remove", 6)
    assert verdict.status == "proved"
    assert worst <= fraction(verdict.upper.ratio) < Fraction(3, 2)  # from a state that is certain it would be 22/5


# -------------------------------------------------------------------------------------------------- subsampling is a mixture


@pytest.mark.parametrize(("share", "alpha"), [("1/4", "1/2"), ("1/3", "1/5"), ("9/10", "2/3")])
def test_subsampling_amplifies_as_the_formula_says(share, alpha):
    """One record more, included with probability p: e^epsilon = 1 + p (1/alpha - 1)."""
    p, a = Fraction(share), Fraction(alpha)

    @mechanism(neighbours="add-remove")
    def sampled(data: records(0, 1)):
        n = 0
        for x in data:
            if x == 1 and bernoulli(share):
                n = min(n + 1, 2)
        return truncated_geometric(n, alpha=alpha, low=0, high=2)

    assert fraction(tight_epsilon(sampled).tight.ratio) == 1 + p * (1 / a - 1)


@pytest.mark.parametrize(("share", "alpha"), [("1/2", "1/2"), ("1/4", "1/2"), ("1/3", "1/3")])
def test_subsampling_under_replacement_amplifies_as_the_formula_says(share, alpha):
    """With M1 <= e^a M1', M1 <= e^b M0 and r = p/(1-p): c = e^a (1 + r e^b) / (e^a + r e^b)."""
    p, inverse = Fraction(share), 1 / Fraction(alpha)

    @mechanism(neighbours="one")
    def sampled(data: records("a", "b")):
        a, b = 0, 0
        for x in data:
            if bernoulli(share):
                if x == "a":
                    a = min(a + 1, 1)
                else:
                    b = min(b + 1, 1)
        first = truncated_geometric(a, alpha=alpha, low=0, high=1)
        return (first, truncated_geometric(b, alpha=alpha, low=0, high=1))

    ea, eb, r = inverse**2, inverse, p / (1 - p)
    assert fraction(tight_epsilon(sampled).tight.ratio) == ea * (1 + r * eb) / (ea + r * eb)


# ------------------------------------------------------------------------------------------------------------- models


def counter(outputs=("0", "1")):
    return list_reader(
        ["none", "some"],
        ["no", "yes"],
        outputs,
        [1, 0],
        {("none", "no"): (1, 0), ("some", "no"): (0, 1), ("none", "yes"): ("1/4", "3/4"), ("some", "yes"): (0, 1)},
        {"none": ("3/4", "1/4"), "some": ("1/4", "3/4")},
    )


def test_a_model_file_with_one_input_more_survives_the_round_trip():
    question = Question(model=counter(), scenario=Scenario(neighbours=Neighbours.add_remove()))
    written = document(question)
    assert written["scenario"]["neighbours"] == {"relation": "add-remove"}
    again = question_from_document(written)
    assert again == question
    verdict = tight_epsilon(again)
    assert (verdict.status, fraction(verdict.tight.ratio)) == ("proved", largest_ratio(question.model, "add-remove", 6))
    assert "one input is added or removed" in recheck(nested(verdict.certificate)).statement


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"repeats": False}, "one length"),
        ({"finish": None}, "one length, or a stream"),
    ],
)
def test_one_input_more_means_nothing_on_other_models(changed, told):
    model = counter()
    parts = {name: getattr(model, name) for name in ("states", "inputs", "outputs", "initial", "steps", "finish")}
    other = Transducer(**{**parts, "repeats": True, **changed})
    with pytest.raises(ScenarioError, match=told):
        tight_epsilon(Question(model=other, scenario=Scenario(neighbours=Neighbours.add_remove())))


def test_data_sets_behind_states_may_have_different_lengths():
    relation = Neighbours.add_remove(coordinates={"a": [0, 1], "b": [0], "c": [1, 0]})
    assert relation.related(relation.coordinates["a"], relation.coordinates["b"])
    assert relation.related(relation.coordinates["b"], relation.coordinates["c"])
    assert not relation.related(relation.coordinates["a"], relation.coordinates["c"])
    assert not relation.related(relation.coordinates["a"], relation.coordinates["a"])


# -------------------------------------------------------------------------------------------------- mutated certificates


@pytest.fixture(scope="module", params=["one", "add-remove"])
def certificate(request):
    return nested(tight_epsilon(noisy_bits, neighbours=request.param).certificate)


def nodes(document, kind):
    return [node for node in document["evidence"]["nodes"] if node["kind"] == kind]


def smaller_epsilon(document):
    document["question"]["epsilon"] = "ln(4/3)"
    document.pop("witness")


def smaller_ratio(document):
    for node in nodes(document, "same"):
        for ratio in node["ratios"]:
            if Fraction(ratio[2]) > 1:
                ratio[2] = str(Fraction(ratio[2]) * Fraction(99, 100))
                return


def no_multipliers(document):
    for node in nodes(document, "same"):
        for entry in node["next"]:
            entry["multipliers"] = [[] for _ in entry["multipliers"]]


def negative_multiplier(document):
    for node in nodes(document, "same"):
        for entry in node["next"]:
            for row in entry["multipliers"]:
                if row:
                    row[0][1] = "-" + row[0][1]
                    return


def letter_left_out(document):
    nodes(document, "past")[0]["next"].pop()


def generator_left_out(document):
    (node,) = nodes(document, "past")
    node["generators"].pop()
    for entry in node["next"]:
        entry["multipliers"].pop()


def past_called_same(document):
    for node in nodes(document, "past"):
        node["kind"] = "same"
        node["ratios"] = []
        del node["generators"]
        for entry in node["next"]:
            entry["multipliers"] = []
    for start in document["evidence"]["starts"]:
        start["multipliers"] = []


def future_called_past(document):
    for node in nodes(document, "same"):
        if node["ratios"]:
            node["kind"] = "past"
            node["generators"] = [[[r[0], "1"]] for r in node.pop("ratios")]


def start_left_out(document):
    document["evidence"]["starts"].clear()


def classes_merged(document):
    for node in nodes(document, "same"):
        if node["ratios"]:
            size = len(document["question"]["states"])
            node["classes"] = {"left": [0] * size, "right": [0] * size}
            node["ratios"] = []
            for entry in node["next"]:
                entry["multipliers"] = []


def futures_forgotten(document):
    """States without a class count for nothing, which has to be shown also where a node says nothing."""
    smaller_epsilon(document)
    emptied = [i for i, node in enumerate(document["evidence"]["nodes"]) if node["kind"] == "same" and node["ratios"]]
    size = len(document["question"]["states"])
    for i in emptied:
        nothing = {"left": [None] * size, "right": [None] * size}
        document["evidence"]["nodes"][i] = {"kind": "pair", "ratios": [], "next": [], "classes": nothing}
    for node in document["evidence"]["nodes"]:
        for entry in node["next"]:
            if entry["node"] in emptied:
                entry["multipliers"] = [[] for _ in entry["multipliers"]]


def relation_changed(document):
    relation = document["question"]["scenario"]["neighbours"]
    if relation["relation"] == "one":
        relation.update({"relation": "each"})
    else:
        relation.update({"relation": "one", "within": "any"})


def loop_to_the_past(document):
    number = next(i for i, node in enumerate(document["evidence"]["nodes"]) if node["kind"] == "past")
    for node in nodes(document, "past"):
        for entry in node["next"]:
            entry["node"] = number
            entry["multipliers"] = [[[i, "1"]] for i in range(len(node["generators"]))]


MUTATIONS = [
    smaller_epsilon,
    smaller_ratio,
    no_multipliers,
    negative_multiplier,
    letter_left_out,
    generator_left_out,
    past_called_same,
    future_called_past,
    start_left_out,
    classes_merged,
    futures_forgotten,
    relation_changed,
    loop_to_the_past,
]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_a_changed_certificate_is_refused(certificate, mutate):
    changed = copy.deepcopy(certificate)
    assert isinstance(recheck(changed), Accepted)
    mutate(changed)
    assert changed != certificate
    assert isinstance(recheck(changed), Rejected)


# ------------------------------------------------------------------------------------------------------- the parts


def test_what_has_nowhere_to_go_is_not_shipped():
    assert cheapest_shipment({0: rational(1)}, {1: rational(1)}, lambda s, t: None) is None
    factor, shares = cheapest_shipment({0: rational(1)}, {1: rational(2)}, lambda s, t: rational(3))
    assert (factor, shares) == (rational("3/2"), {(0, 1): rational(1)})
