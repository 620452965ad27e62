"""Mechanisms with discrete noise on lists of every length: what is compiled, what is answered, what is refused."""

from __future__ import annotations

import json
from itertools import product

import pytest
from tests.certificates import nested, recheck
from tests.programs import load

from privproof import (
    QuestionError,
    check,
    geometric,
    mechanism,
    mechanism_question,
    privacy_profile,
    queries,
    randomized_response,
    read_question,
    records,
    tight_epsilon,
    truncated_geometric,
    uniform,
    write_question,
)
from privproof.compiling import word_problem
from privproof.compiling.distributions import output_classes
from privproof.compiling.lengths import OpenModel, list_law
from privproof.errors import ModelError
from privproof.exact import log
from privproof.language.values import text
from privproof.models import Transducer
from privproof_checker import Accepted, Limits, Rejected


def naive_noisy_max(high, alpha="1/2"):
    @mechanism(inputs={"q": queries(0, high)})
    def naive(q):
        best, winner = -1, 0
        for i, value in enumerate(q):
            noisy = truncated_geometric(value, alpha=alpha, low=0, high=high)
            if noisy > best:
                best, winner = noisy, i
        return winner

    return naive


@mechanism
def above_threshold(q: queries(0, 2)):
    threshold = truncated_geometric(1, alpha="1/2", low=0, high=2)
    for i in range(len(q)):
        if truncated_geometric(q[i], alpha="1/2", low=0, high=2) >= threshold:
            return i
    return None


@mechanism
def parity(bits: records(0, 1)):
    odd = 0
    for bit in bits:
        if randomized_response(bit, truth="3/4") == 1:
            odd = 1 - odd
    return odd


@mechanism
def masked_parity(bits: records(0, 1)):
    odd = uniform(0, 1)
    for bit in bits:
        if bit == 1:
            odd = 1 - odd
    return odd


@mechanism
def any_large(q: queries(0, 2)):
    found = 0
    for x in q:
        if x >= 2:
            found = 1
    return randomized_response(found, truth="3/4")


@mechanism
def noisy_maximum(q: queries(0, 2)):
    best = 0
    for x in q:
        best = max(best, truncated_geometric(x, alpha="1/2", low=0, high=2))
    return best


@mechanism
def max_then_noise(q: queries(0, 2)):
    best = 0
    for x in q:
        best = max(best, x)
    return truncated_geometric(best, alpha="1/2", low=0, high=2)


@mechanism
def second_above(q: queries(0, 2)):
    seen = 0
    for i, x in enumerate(q):
        if truncated_geometric(x, alpha="1/2", low=0, high=2) >= 1:
            seen += 1
            if seen == 2:
                return i
    return None


@mechanism
def ups(q: queries(0, 2)):
    last, up = 0, 0
    for x in q:
        if x > last:
            up = 1
        last = x
    return truncated_geometric(up, alpha="1/2", low=0, high=1)


@mechanism
def capped_count(bits: records(0, 1)):
    count = 0
    for bit in bits:
        count = min(count + bit, 3)
    return geometric(count, alpha="1/2")


@mechanism
def histogram(bits: records(0, 1)):
    zeros, ones = 0, 0
    for bit in bits:
        if bit == 0:
            zeros = min(zeros + 1, 2)
        else:
            ones = min(ones + 1, 2)
    return (
        truncated_geometric(zeros, alpha="1/2", low=0, high=2),
        truncated_geometric(ones, alpha="1/2", low=0, high=2),
    )


@mechanism
def two_winners(q: queries(0, 1)):
    first, second = None, None
    for i, x in enumerate(q):
        if truncated_geometric(x, alpha="1/2", low=0, high=1) == 1:
            first, second = i, first
    return (first, second)


@mechanism
def first_report(answers: records("yes", "no", "maybe")):
    for i, answer in enumerate(answers):
        if randomized_response(answer, truth="1/2", among=("yes", "no", "maybe")) == "yes":
            return i
    return None


@mechanism
def two_reports(bits: records(0, 1)):
    first, second = None, None
    for i, bit in enumerate(bits):
        if randomized_response(bit, truth="2/3") == 1:
            first, second = i, first
    return (first, second)


ANSWERS = [
    (naive_noisy_max(2), "each", "inf"),
    (naive_noisy_max(2), "one", "ln(2)"),
    (naive_noisy_max(2, "1/3"), "one", "ln(3)"),
    (above_threshold, "one", "ln(2)"),
    (above_threshold, "each", "inf"),
    (above_threshold, "monotone", "inf"),
    (parity, "one", "ln(3)"),
    (masked_parity, "one", "0"),
    (any_large, "one", "ln(3)"),
    (any_large, "each", "ln(3)"),
    (noisy_maximum, "one", "ln(2)"),
    (noisy_maximum, "each", "inf"),
    (max_then_noise, "one", "ln(2)"),
    (max_then_noise, "each", "ln(2)"),
    (second_above, "one", "ln(2)"),
    (second_above, "each", "inf"),
    (ups, "one", "ln(2)"),
    (ups, "each", "ln(2)"),
    (capped_count, "one", "ln(2)"),
    (histogram, "one", "ln(4)"),
    (two_winners, "one", "ln(2)"),
    (first_report, "one", "ln(2)"),
    (first_report, "each", "inf"),
    (two_reports, "one", "ln(2)"),
    (two_reports, "each", "inf"),
    (any_large, "add-remove", "ln(3)"),
    (noisy_maximum, "add-remove", "inf"),
    (max_then_noise, "add-remove", "ln(4)"),
    (ups, "add-remove", "ln(2)"),
]


@pytest.mark.parametrize(("subject", "relation", "answer"), ANSWERS, ids=[f"{m.name} {r}" for m, r, _ in ANSWERS])
def test_the_tight_epsilon_of_lists_of_every_length(subject, relation, answer):
    verdict = tight_epsilon(subject, neighbours=relation)
    assert str(verdict.tight) == answer
    assert verdict.status == ("refuted" if answer == "inf" else "proved")
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    assert "lists of every length" in verdict.question.name
    if answer == "inf":
        return
    worst = max(
        (tight_epsilon(subject, neighbours=relation, size=size).lower for size in (1, 2)),
        key=lambda epsilon: float(epsilon.ball(64).mid()),
    )
    assert worst.compare(verdict.upper) <= 0


@pytest.mark.parametrize(
    "subject", [*{m.name: m for m, _, _ in ANSWERS if m is not capped_count}.values()], ids=lambda m: m.name
)
def test_on_every_list_the_model_gives_the_law_of_the_function(subject):
    question = mechanism_question(subject, every_length=True)
    made = OpenModel(question.model, (), question.origin.inputs, question.origin.outputs)
    (fed, declared) = next(iter(subject.inputs.items()))
    longest = {2: 5, 3: 4, 4: 3}[len(declared.values)]
    for size in range(longest + 1):
        for data in product(declared.values, repeat=size):
            law = list_law(made, question.model.initial, [str(value) for value in data])
            assert law == {text(value): p for value, p in output_classes(subject, {fed: list(data)}) if p != 0}


def test_the_first_index_is_also_the_constant_that_is_returned_for_the_empty_list():
    model = mechanism_question(naive_noisy_max(1), every_length=True).model
    assert model.foretold == {"0": 0, "*": 1}
    assert set(model.outputs) == {"0", "*", "elsewhere"}
    assert model.of_every_length
    assert model.data == ("0", "1")


def test_the_witness_speaks_of_the_index_and_not_of_the_mark():
    verdict = check(naive_noisy_max(2), "ln(2)")
    assert verdict.status == "refuted"
    assert verdict.witness.output == ("1",)
    assert all(name in ("0", "1", "2") for side in verdict.witness.inputs for name in side)


def test_a_model_of_every_length_is_written_and_read_again(tmp_path):
    question = mechanism_question(naive_noisy_max(1), every_length=True)
    write_question(question, tmp_path / "model.yaml")
    again = read_question(tmp_path / "model.yaml")
    assert again.model == question.model
    assert str(tight_epsilon(again).tight) == "inf"


REFUSED = {
    "two kinds of index": (
        "    w = -1\n    for i, x in enumerate(q):\n        if x == 1:\n            w = i + 1\n"
        "        else:\n            w = i\n    return w"
    ),
    "the index is a number": "    for i, x in enumerate(q):\n        s = (s + i) % 2\n    return s",
    "the index is halved": "    for i, x in enumerate(q):\n        if i % 2 == 0:\n            s = x\n    return s",
    "an index is the argument of noise": (
        "    for i, x in enumerate(q):\n        s = truncated_geometric(i, alpha='1/2', low=0, high=1)\n    return s"
    ),
    "an element is read again": (
        "    w = 0\n    for i, x in enumerate(q):\n        if x == 1:\n            w = i\n    return q[w]"
    ),
    "the list is read twice": "    for x in q:\n        s = x\n    for x in q:\n        s = min(s + x, 3)\n    return s",
    "the length is returned": "    for x in q:\n        s = x\n    return (len(q), s)",
    "the length is compared with a large number": "    return len(q) > 100",
    "the length is halved": "    return len(q) // 2 > 1",
    "a count grows": "    for x in q:\n        s += x\n    return s % 5 == 0",
    "a count goes down": "    for x in q:\n        s += x - 1\n    return s >= -3",
    "a list grows and is read": "    kept = []\n    for x in q:\n        kept.append(x)\n    return kept[-1:]",
    "two lists grow": (
        "    one, two = [], []\n    for x in q:\n        one.append(x)\n        two.append(x)\n    return one, two"
    ),
    "a list begins anew": "    for x in q:\n        kept = []\n        kept.append(x)\n    return kept",
    "a list is filled and not returned": (
        "    kept = []\n    for x in q:\n        kept.append(bernoulli('1/2'))\n    return kept if s == 1 else None"
    ),
    "a list does not tell its steps": (
        "    kept = []\n    for x in q:\n        if bernoulli('1/2'):\n            kept.append(x)\n    return kept"
    ),
    "one value or two": (
        "    kept = []\n    for x in q:\n        kept.append(0)\n        if x == 1:\n            kept.append(0)\n    return kept"
    ),
    "an earlier index is put into a list": (
        "    kept, w = [], 0\n    for i, x in enumerate(q):\n        kept.append(w)\n        w = i\n    return kept"
    ),
    "two indices that may be any": (
        "    w, v = None, None\n    for i, x in enumerate(q):\n        if x == 1:\n            w = i\n"
        "        else:\n            v = i\n    return w == v"
    ),
    "the largest of nothing": "    return max(q)",
    "the largest and a loop": "    if not q:\n        return 0\n    for x in q:\n        s = x\n    return s + max(q)",
    "the empty list fails": "    s = q[0]\n    for x in q:\n        s = max(s, x)\n    return s",
    "an index is looked up": (
        "    kept = [0, 0, 0]\n    for i, x in enumerate(q):\n        kept[i] = x\n    return kept[0]"
    ),
    "a table is indexed by an index": "    for i, x in enumerate(q):\n        s = (x, 0, 1)[i]\n    return s",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_what_needs_a_size_asks_for_it_and_says_why(tmp_path, body):
    subject = load(tmp_path, f"@mechanism\ndef m(q: queries(0, 1)):\n    s = 0\n{body}\n")
    with pytest.raises(QuestionError, match="how long is q") as caught:
        mechanism_question(subject, every_length=True)
    assert "It is not asked about every length: " in str(caught.value)
    assert "--size 3" in str(caught.value)


ALLOWED = {
    "the first element apart": "    for i, x in enumerate(q):\n        if i == 0:\n            s = x\n    return s",
    "an index among constants": (
        "    w = 0\n    for i, x in enumerate(q):\n        if x == 1 and i in (0, 2):\n            w = i\n    return w"
    ),
    "the same index": (
        "    w = None\n    for i, x in enumerate(q):\n        if i != w and bernoulli('1/2'):\n            w = i\n    return w"
    ),
    "a counter of its own": (
        "    i, w = 0, None\n    for x in q:\n        if x == 1 and bernoulli('1/2'):\n            w = i\n"
        "        i += 1\n    return w"
    ),
    "counted from one": (
        "    w = 0\n    for i, x in enumerate(q, start=1):\n        if x == 1 and bernoulli('1/2'):\n            w = i\n    return w"
    ),
    "one more than the index": (
        "    w = -1\n    for i, x in enumerate(q):\n        if x == 1:\n            w = i + 1\n    return (w, s)"
    ),
    "a while loop": "    i = 0\n    while i < len(q):\n        s = max(s, q[i])\n        i += 1\n    return s",
    "an index that is an int already": "    w = 0\n    for i, x in enumerate(q):\n        w = int(i)\n    return w",
    "an early end": ("    for x in q:\n        if bernoulli('1/2'):\n            break\n        s = x\n    return s"),
    "the length is compared": "    for x in q:\n        s = x\n    return s if len(q) > 3 else 0",
    "the length is compared first": "    if len(q) < 3:\n        return 7\n    for x in q:\n        s = (x - s) % 3\n    return s",
    "an empty list": "    if not q:\n        return None\n    for i, x in enumerate(q):\n        s = i\n    return s",
    "a short list is cut": "    n = min(len(q), 2)\n    return (n, bernoulli('1/2'))",
    "the length in every turn": (
        "    for i, x in enumerate(q):\n        if len(q) > 2 and x == 1:\n            s = i\n    return s"
    ),
    "the length with noise": (
        "    n = len(q)\n    for x in q:\n        if bernoulli('1/3') and n == 2:\n            break\n"
        "        s = 1 - x\n    return (s, n > 3)"
    ),
    "the first elements": "    if len(q) > 1:\n        s = q[0] - q[1]\n    for x in q:\n        s = (x - s) % 3\n    return s",
    "answers": "    return [randomized_response(x, truth='3/4') for x in q]",
    "answers in a tuple": "    return tuple(x if bernoulli('1/2') else 0 for x in q)",
    "answers and a count": (
        "    kept, n = [9], 0\n    out = []\n    for x in q:\n        out.append((x, bernoulli('1/2')))\n"
        "        n = min(n + x, 2)\n    out.append(n)\n    return {'out': out, 'n': n}"
    ),
    "answers until one is true": (
        "    out = []\n    for x in q:\n        out.append(x)\n        if bernoulli('1/3'):\n            break\n    return out"
    ),
    "indices of answers": "    return [i for i, x in enumerate(q, 1) if x == 1 or bernoulli('1/2')]",
    "answers of long lists": "    return [x if len(q) > 2 else 1 - x for x in q]",
    "answers after the first": (
        "    out = []\n    last = 0\n    for x in q:\n        out.append(last)\n        last = x\n    return [out, last]"
    ),
    "a sum modulo": "    return truncated_geometric(0, alpha='1/2', low=0, high=1)",
}


@pytest.mark.parametrize("body", ALLOWED.values(), ids=ALLOWED.keys())
def test_indices_that_are_copied_compared_and_returned_need_no_size(tmp_path, body):
    subject = load(tmp_path, f"@mechanism\ndef m(q: queries(0, 1)):\n    s = 0\n{body}\n")
    question = mechanism_question(subject, every_length=True)
    made = OpenModel(question.model, (), question.origin.inputs, question.origin.outputs)
    for size in range(6):
        for data in product((0, 1), repeat=size):
            law = list_law(made, question.model.initial, [str(value) for value in data])
            assert law == {text(value): p for value, p in output_classes(subject, {"q": list(data)}) if p != 0}


def test_a_profile_is_of_one_length():
    with pytest.raises(QuestionError, match="a profile is of lists of one length"):
        privacy_profile(mechanism_question(capped_count, every_length=True))


def test_a_delta_over_events_that_is_too_small_is_refuted_on_a_short_list():
    verdict = check(max_then_noise, "1/2", "1/100")
    assert verdict.status == "refuted"
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


def test_one_output_has_one_start_and_its_marked_words_alone():
    question = mechanism_question(naive_noisy_max(1), every_length=True)
    compiled = word_problem(question)
    assert [begin.finish for begin in compiled.begins] == ["0", "*"]
    marked = {edge.letter.left for place in compiled.problem.locations for edge in place.edges}
    assert {"0*", "1*"} <= marked


# ------------------------------------------------------------------------------------------------------ certificates


def certificate_of(subject, relation="each", epsilon="ln(2)"):
    return json.loads(json.dumps(nested(check(subject, epsilon, neighbours=relation).certificate)))


def refused(certificate):
    return isinstance(recheck(certificate), Rejected)


def test_a_proof_does_not_hold_of_a_smaller_epsilon_or_another_relation():
    proof = certificate_of(max_then_noise)
    assert isinstance(recheck(proof), Accepted)
    assert refused({**proof, "question": {**proof["question"], "epsilon": "ln(3/2)"}})
    proof = certificate_of(naive_noisy_max(1), "one")
    each = {**proof["question"]["scenario"], "neighbours": {"relation": "each", "within": "1"}}
    assert refused({**proof, "question": {**proof["question"], "scenario": each}})


@pytest.mark.parametrize("subject", [naive_noisy_max(1), capped_count], ids=lambda m: m.name)
def test_a_proof_covers_every_output_and_every_length(subject):
    proof = certificate_of(subject, "one")
    assert isinstance(recheck(proof), Accepted)
    starts = proof["evidence"]["starts"]
    for number in range(len(starts)):
        assert refused({**proof, "evidence": {**proof["evidence"], "starts": starts[:number] + starts[number + 1 :]}})
    for node in proof["evidence"]["nodes"]:
        for number in range(len(node["next"])):
            changed = json.loads(json.dumps(proof))
            place = proof["evidence"]["nodes"].index(node)
            letter = changed["evidence"]["nodes"][place]["next"].pop(number)
            assert refused(changed), letter["letter"]


def test_marks_mean_something_and_are_read_together():
    proof = certificate_of(naive_noisy_max(1), "one")
    question = proof["question"]
    assert refused({**proof, "question": {**question, "marks": {"0*": "0"}}})
    assert refused({**proof, "question": {**question, "marks": {"0*": "0", "1*": "0"}}})
    assert refused({**proof, "question": {**question, "foretold": {"*": 1, "0": 0, "elsewhere": 0}}})
    assert refused({**proof, "question": {**question, "repeats": False}})
    assert refused({**proof, "question": {**question, "horizon": "3"}})
    assert refused({**proof, "question": {**question, "foretold": {"*": -1, "0": 0}}})


def test_a_word_with_a_mark_on_one_side_is_none():
    refutation = certificate_of(naive_noisy_max(2))
    word = refutation["evidence"]["word"] if "word" in refutation["evidence"] else refutation["witness"]["word"]
    assert any((letter.get("left") or "").endswith("*") for letter in word)
    changed = json.loads(json.dumps(refutation))
    evidence = changed["evidence"] if "word" in changed["evidence"] else changed["witness"]
    for letter in evidence["word"]:
        if (letter.get("left") or "").endswith("*"):
            letter["right"] = letter["right"].rstrip("*")
    assert refused(changed)


def test_tensors_and_sums_over_events_are_not_for_every_length():
    proof = certificate_of(max_then_noise)
    assert refused({**proof, "evidence": {"method": "tensors"}})
    events = {**proof["question"], "delta": "1/10"}
    assert refused({**proof, "question": events, "evidence": {"method": "enumeration"}})


def test_a_transducer_that_repeats_ends_in_every_state_it_can_be_in():
    common = {"states": ["s", "t"], "inputs": ["0"], "outputs": ["x"], "initial": {"s": 1}, "repeats": True}
    step = {"s": {"0": [(1, "t")]}, "t": {"0": [(1, "s")]}}
    assert Transducer(steps=[step], finish={"s": {"x": 1}, "t": {"x": 1}}, **common).of_every_length
    with pytest.raises(ModelError, match="'t' can be reached at the end"):
        Transducer(steps=[step], finish={"s": {"x": 1}}, **common)
    with pytest.raises(ModelError, match="the input '1' is not covered"):
        Transducer(
            steps=[step],
            finish={"s": {"x": 1}, "t": {"x": 1}},
            **{**common, "inputs": ["0", "1"]},
            marks={"1": "0"},
        )


def test_the_empty_list_is_compared_too(tmp_path):
    """Without elements the function says so; a list of one element never does, and that is no difference between neighbours."""
    subject = load(
        tmp_path,
        "@mechanism\ndef m(q: queries(0, 1)):\n    s = 'empty'\n    for x in q:\n        s = 'full'\n    return s\n",
    )
    question = mechanism_question(subject, every_length=True)
    made = OpenModel(question.model, (), question.origin.inputs, question.origin.outputs)
    assert list_law(made, question.model.initial, []) == {"'empty'": 1}
    assert list_law(made, question.model.initial, ["0"]) == {"'full'": 1}
    assert tight_epsilon(subject).tight == log(1)


# ------------------------------------------------------------------------------------------------------------ growth


@pytest.mark.parametrize(("high", "alpha"), [(1, "1/2"), (2, "1/2"), (3, "1/2"), (2, "1/3")])
def test_the_loss_of_naive_noisy_max_is_exactly_so_many_times_the_length(high, alpha):
    subject = naive_noisy_max(high, alpha)
    verdict = tight_epsilon(subject)
    assert verdict.status == "refuted"
    formula = verdict.growth.formula
    assert (str(formula.rate), str(formula.epsilon), formula.least) == (alpha[2:], "0", 2)
    assert str(tight_epsilon(subject, size=1).tight) == "0"
    for size in (2, 3):
        assert tight_epsilon(subject, size=size).tight == log(formula.rate**size)
    accepted = recheck(nested(verdict.certificate))
    assert isinstance(accepted, Accepted)
    assert accepted.details["growth"] == formula.told
    assert "it is attained for n = 2, 3, 4, ..." in accepted.statement


def test_the_noisy_maximum_loses_as_much_on_every_length():
    assert str(tight_epsilon(noisy_maximum).growth.formula) == "size*ln(2) for every size"


def test_a_formula_is_checked_in_all_its_parts():
    certificate = json.loads(json.dumps(nested(tight_epsilon(naive_noisy_max(1)).certificate)))
    growth = certificate["growth"]
    assert isinstance(recheck(certificate), Accepted)
    assert refused({**certificate, "growth": {**growth, "rate": "3/2"}})
    assert refused({**certificate, "growth": {**growth, "rate": "5/2"}})
    assert refused({**certificate, "growth": {**growth, "rate": "-2"}})
    assert refused({**certificate, "growth": {**growth, "epsilon": "ln(2)"}})
    endless = {**certificate, "growth": {**growth, "evidence": {"method": "enumeration"}}}
    assert isinstance(recheck(endless, limits=Limits(words=2_000)), Rejected)
    for name, other in (("repeated", []), ("after", growth["family"]["after"][:-1]), ("first", -1)):
        assert refused({**certificate, "growth": {**growth, "family": {**growth["family"], name: other}}}), name
    several = {**certificate, "question": {**certificate["question"], "rate": "2"}}
    assert refused(several)


def claiming(claim, high=2):
    @mechanism(epsilon=claim, inputs={"q": queries(0, high)})
    def naive(q):
        best, winner = -1, 0
        for i, value in enumerate(q):
            noisy = truncated_geometric(value, alpha="1/2", low=0, high=high)
            if noisy > best:
                best, winner = noisy, i
        return winner

    return naive


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("size*ln(2)", "proved"),
        ("ln(2) + (size - 1)*ln(2)", "proved"),
        ("size*ln(2) + ln(3)", "proved"),
        ("size*ln(3/2)", "refuted"),
        ("ln(100) + size*ln(3/2)", "refuted"),
        ("ln(2)", "refuted"),
    ],
)
def test_claims_that_grow_with_the_list(claim, status):
    verdict = check(claiming(claim))
    assert verdict.status == status
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    if status == "refuted":
        size = len(verdict.witness.inputs[0])
        bound = claiming(claim).budget(size).epsilon
        assert not bound.allows(verdict.witness.left_probability, verdict.witness.right_probability)
    else:
        assert "size*ln(2)" in str(verdict)


def test_a_claim_that_is_given_does_not_grow():
    """The function claims size*ln(2), which holds; what is asked is whether one number is enough, which none is."""
    subject = claiming("size*ln(2)")
    assert check(subject, "ln(1000)").status == "refuted"
    assert tight_epsilon(subject).lower.infinite


@pytest.mark.parametrize("claim", ["size*size*ln(2)", "size/2", "ln(2)/size", "size*ln(2)/2"])
def test_claims_that_grow_otherwise_need_a_size(claim):
    with pytest.raises(QuestionError, match="the claim does not grow like"):
        check(claiming(claim))


def test_a_rate_makes_no_weaker_claim_than_it_says():
    certificate = json.loads(json.dumps(nested(check(claiming("size*ln(2)")).certificate)))
    assert certificate["question"]["rate"] == "2"
    assert refused({**certificate, "question": {**certificate["question"], "rate": "3/2"}})
    without = {name: part for name, part in certificate["question"].items() if name != "rate"}
    assert refused({**certificate, "question": without})
    assert refused({**certificate, "question": {**certificate["question"], "rate": "0"}})
    assert refused({**certificate, "question": {**certificate["question"], "delta": "1/10"}})
