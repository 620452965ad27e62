"""The checker goes from the text of a function on a stream to its automaton by itself, and takes no other for it."""

from __future__ import annotations

import copy
import time

import pytest
from tests.certificates import nested

from privproof import check, laplace, mechanism, public, real, real_stream, stream, tight_epsilon
from privproof.compiling.streams import stream_question
from privproof.evidence.question_documents import question_document
from privproof.exact import Budget, epsilon
from privproof.scenarios.program_questions import program_question
from privproof_checker import Accepted, Limits, Rejected, recheck
from privproof_checker.established_texts import _from_source
from privproof_checker.outcomes import Refusal
from privproof_checker.source.values import Beyond

LATEST = 10


def asked(mechanism_):
    """The question's document, under some budget."""
    question = stream_question(program_question(mechanism_))
    return question_document(question.under(Budget(epsilon(1))))


def established(document, method="coupling", **evidence):
    """What the checker says about the source of a question; raises its refusal."""
    return _from_source(document, {"method": method, **evidence}, Limits())


def refused(document, method="coupling", **evidence):
    with pytest.raises(Refusal) as found:
        established(document, method, **evidence)
    return found.value


def with_text(document, old, new):
    changed = copy.deepcopy(document)
    function = changed["source"]["program"]["functions"][0]
    assert old in function["text"]
    function["text"] = function["text"].replace(old, new)
    return changed


@mechanism(epsilon=1)
def above(answers: real_stream(), threshold: public(real()), scale=4):
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=scale) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=2)
def secret(threshold: real(), answers: real_stream()):
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def everything(xs: real_stream(), p: public(real()), r: public(real()), k=2):
    """Public inputs in centers, lists and tuples of noisy numbers, a counter, helpers, nested loops, and numbers that are written."""
    pair = (laplace(2 * p - r, scale=k), laplace(r, scale=2))
    kept = [laplace(i, scale=k / 2) for i in range(2)]
    yield [pair[0] - pair[1], "begun"]
    count = 0
    for _n, x in enumerate(xs):
        noisy = laplace(x + p, scale=4)
        if not (pair[1] <= noisy < max(kept)):
            count += 1
            yield count, noisy - kept[0]
            for y in xs:
                if laplace(-y, scale=1) > noisy:
                    break
                yield None
            kept[count % 2] = noisy
        else:
            yield abs(noisy) > 3
        if count == k:
            return


CASES = {"public": above, "secret": secret, "everything": everything}


@pytest.mark.parametrize("case", CASES)
def test_an_automaton_is_re_established_with_its_inputs_outputs_and_neighbours(case):
    found = established(asked(CASES[case]))
    assert found.from_source == ("the automaton, its inputs and outputs, and which streams are neighbours",)
    assert found.taken == ()


def test_verdicts_on_functions_hold_what_was_re_established():
    for verdict, method in (
        (check(above, "1"), "coupling"),
        (check(above, "1/10"), "loss"),
        (tight_epsilon(no_cutoff), "growth"),
    ):
        certificate = nested(verdict.certificate)
        assert certificate["evidence"]["method"] == method
        assert certificate["question"]["source"]["claims"] == "established"
        outcome = recheck(certificate)
        assert isinstance(outcome, Accepted)
        assert outcome.details["source"]["established"]
        assert outcome.details["source"]["taken"] == []
        assert "re-established from the source of " in outcome.statement


@mechanism(epsilon=1)
def no_cutoff(answers: real_stream()):
    threshold = laplace(0, scale=2)
    for answer in answers:
        yield "above" if laplace(answer, scale=5) >= threshold else "below"


# ------------------------------------------------------------------------------------------------------------ declarations


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d.update(relation="one"), "question.relation"),
        (lambda d: d["source"].update(relation="monotone"), "question.relation"),
        (lambda d: d.update(within="1/2"), "question.within"),
        (lambda d: d.update(within="2"), "question.within"),
        (lambda d: d["source"]["program"]["inputs"]["answers"].update(within="2"), "inputs.answers"),
        (lambda d: d["source"]["program"]["inputs"]["answers"].update(low="0", high="1"), "inputs.answers"),
        (lambda d: d["source"]["program"]["inputs"]["answers"].update(public=True), "inputs"),
        (lambda d: d["source"]["program"]["inputs"]["threshold"].update(public=False), "inputs.threshold"),
        (lambda d: d["source"]["program"]["inputs"]["answers"].update(shape="list"), "inputs.answers"),
        (lambda d: d["source"]["program"]["parameters"].update(scale={"int": "5"}), "question.states"),
        (lambda d: d["source"]["program"]["functions"][0]["meanings"].update(laplace={"builtin": "abs"}), "line"),
        (lambda d: d["source"]["program"]["functions"][0]["meanings"].update(laplace={"noise": "exponential"}), ""),
    ],
)
def test_other_declarations_are_refused(change, where):
    document = copy.deepcopy(asked(above))
    change(document)
    assert where in refused(document).place


def test_a_declaration_that_both_change_is_another_question():
    """Text and record may say together that the numbers change by 2: then so must the automaton."""
    document = with_text(asked(above), "real_stream()", "real_stream(sensitivity=2)")
    document["source"]["program"]["inputs"]["answers"]["within"] = "2"
    assert refused(document).place == "question.within"
    assert established({**document, "within": "2"}).from_source


# ------------------------------------------------------------------------------------------------------------ public inputs


def test_a_public_input_moves_means_alone():
    document = asked(above)
    for center in ("2 * threshold", "-threshold", "threshold - threshold"):
        assert established(with_text(document, "laplace(threshold,", f"laplace({center},")).from_source
    for center in ("threshold + 1", "1"):
        assert not isinstance(refused(with_text(document, "laplace(threshold,", f"laplace({center},")), Beyond)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">= noisy_threshold", ">= noisy_threshold + threshold"),
        (">= noisy_threshold", ">= threshold"),
        ("if laplace", "if threshold > 0 or laplace"),
        ("scale=2", "scale=threshold"),
    ],
)
def test_a_public_input_elsewhere_is_beyond_the_checker(old, new):
    assert isinstance(refused(with_text(asked(above), old, new)), Beyond)


def test_a_public_input_that_is_written_is_refused():
    assert "other numbers" in refused(with_text(asked(above), 'yield "below"', "yield threshold")).reason


def test_a_lower_bound_is_about_the_public_value_0():
    document = with_text(asked(above), "public(real())", "public(real(1, 5))")
    document["source"]["program"]["inputs"]["threshold"].update(low="1", high="5")
    assert established(document).from_source
    for method, evidence in (("growth", {}), ("loss", {}), ("coupling", {"attained": {}})):
        assert "is never 0" in refused(document, method, **evidence).reason


# ------------------------------------------------------------------------------------------------------------ lower bounds


@mechanism(epsilon=1)
def whole(xs: stream()):
    t = laplace(0, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def bounded(xs: real_stream(0, 1)):
    t = laplace(0, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def two_outputs(xs: real_stream()):
    t = laplace(0, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "a"
            yield "b"
            return
        yield "c"


@mechanism(epsilon=1)
def raw(xs: real_stream()):
    t = laplace(0, scale=2)
    for x in xs:
        yield x if laplace(x, scale=4) >= t else 0


@pytest.mark.parametrize(
    ("mechanism_", "reason"), [(bounded, "have bounds"), (two_outputs, "several outputs"), (raw, "without noise")]
)
def test_lower_bounds_ask_for_more_than_proofs(mechanism_, reason):
    document = asked(mechanism_)
    assert established(document).from_source
    for method, evidence in (("growth", {}), ("loss", {}), ("coupling", {"attained": {}})):
        problem = refused(document, method, **evidence)
        assert reason in problem.reason
        assert not isinstance(problem, Beyond), "it would be taken from the compiler"


def test_the_data_of_a_loss_are_those_that_the_function_takes():
    certificate = nested(check(whole, "1/10").certificate)
    assert certificate["question"]["source"]["claims"] == "established"
    assert isinstance(recheck(certificate), Accepted)
    half = copy.deepcopy(certificate["evidence"])
    half["left"][1] = "1/2"
    assert "whole numbers" in refused(certificate["question"], **half).reason


def test_an_event_of_the_automaton_is_one_of_the_function():
    """On [0] the function always writes 0, whether it is the number or the constant."""
    verdict = check(raw, "1")
    assert verdict.status == "refuted"
    assert verdict.engine == "laplace"
    assert check(raw, "1", engine="streams").status == "unknown"


@mechanism(epsilon=1)
def exponents(xs: real_stream()):
    t = laplace(0, scale="0.2e1")
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "above"
            return
        yield "below"


def test_what_is_beyond_the_checker_is_taken_with_the_reason():
    certificate = nested(check(exponents, "1").certificate)
    source = certificate["question"]["source"]
    assert source["claims"] == "taken"
    assert "with an exponent" in source["reason"]
    outcome = recheck(certificate)
    assert isinstance(outcome, Accepted)
    assert "taken from the compiler: the automaton" in outcome.statement
    changed = copy.deepcopy(certificate)
    changed["question"]["source"]["claims"] = "established"
    assert isinstance(recheck(changed), Rejected)


# ------------------------------------------------------------------------------------------------------------ texts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">= noisy_threshold", "< noisy_threshold"),
        (">= noisy_threshold", ">= noisy_threshold + 1"),
        (">= noisy_threshold", ">= laplace(0, scale=2)"),
        ("scale=scale", "scale=2 * scale"),
        ("laplace(answer, scale=scale)", "answer"),
        ("laplace(answer, scale=scale)", "laplace(2 * answer, scale=scale)"),
        ("laplace(answer, scale=scale)", "laplace(answer, scale=scale) + laplace(0, scale=1)"),
        ("            return\n", ""),
        ("            return\n", "            noisy_threshold = laplace(0, scale=2)\n"),
        ('yield "below"', 'yield "above"'),
        ('yield "below"', "pass"),
        ('yield "below"', 'yield "below"\n        noisy_threshold = noisy_threshold + 1'),
        ('yield "below"', 'yield "below"\n        return'),
        ("    for answer", '    yield "begun"\n    for answer'),
        ("        if laplace(answer", "        for answer in answers:\n            break\n        if laplace(answer"),
    ],
)
def test_another_text_is_refused(old, new):
    refused(with_text(asked(above), old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">= noisy_threshold", "> noisy_threshold"),
        ('yield "below"', 'yield "under"'),
        ('yield "below"', "yield None"),
        ('yield "below"', 'yield "below"\n        yield "below"'),
        ("laplace(answer, scale=scale) >= noisy_threshold", "noisy_threshold <= laplace(answer, scale=scale)"),
        ("laplace(answer, scale=scale) >=", "2 * laplace(answer, scale=scale) - noisy_threshold >="),
        ("scale=2)", "scale=k / 3)\n    k = 1"),
    ],
)
def test_the_same_in_other_words_is_re_established(old, new):
    """Comparisons up to ties, and outputs up to their names, are what a question about privacy is about."""
    document = with_text(asked(above), old, new)
    text = document["source"]["program"]["functions"][0]["text"]
    document["source"]["program"]["functions"][0]["text"] = text.replace(
        "    noisy_threshold =", "    k = 6\n    noisy_threshold =", 1
    )
    assert established(document).from_source


@mechanism(epsilon=1)
def shown_first(xs: real_stream()):
    t = laplace(0, scale=2)
    yield [t]
    for x in xs:
        yield "a" if laplace(x, scale=4) >= t else "b"


def test_noise_in_a_list_that_was_shown_is_the_threshold_that_was_stored():
    document = with_text(
        asked(shown_first), "t = laplace(0, scale=2)\n    yield [t]", "t = [laplace(0, scale=2)]\n    yield t"
    )
    assert established(with_text(document, ">= t else", ">= t[0] else")).from_source
    assert "may tie" not in refused(with_text(document, ">= t else", ">= -t[0] else")).reason


@mechanism(epsilon=1)
def two_kept(xs: real_stream()):
    low = laplace(0, scale=2)
    high = laplace(0, scale=2)
    for x in xs:
        noisy = laplace(x, scale=4)
        yield "a" if noisy < low else "b" if noisy < high else "c"


def test_thresholds_of_one_law_are_not_exchanged():
    document = asked(two_kept)
    assert established(document).from_source
    swapped = with_text(document, "    for x", "    low, high = high, low\n    for x")
    refused(swapped)
    for step in swapped["transitions"]:
        if step["stores"]:
            step["stores"] = {"low": 1, "high": 0}
    assert established(swapped).from_source
    twice = with_text(document, "yield", "low, high = high, low\n        yield")
    refused(twice)


def test_zip_with_a_stream_is_beyond_the_checker():
    document = with_text(asked(no_cutoff), "for answer in answers", "for answer, i in zip(answers, range(9))")
    function = document["source"]["program"]["functions"][0]
    function["meanings"].update(zip={"builtin": "zip"}, range={"builtin": "range"})
    assert isinstance(refused(document), Beyond)


@pytest.fixture
def unguarded(monkeypatch):
    """The guards of a state are not compared with each other, so that all rests on the comparison with the text."""
    monkeypatch.setattr("privproof_checker.streams.stream_automata._exclusive", lambda *_: frozenset())


def step_that_writes(document, output):
    return next(step for step in document["transitions"] if step["symbol"] == repr(output))


@pytest.mark.usefixtures("unguarded")
def test_a_guard_holds_nowhere_else():
    document = copy.deepcopy(asked(above))
    step_that_writes(document, "below")["guard"] = []
    assert "does something else" in refused(document).reason
    document = copy.deepcopy(asked(two_kept))
    del step_that_writes(document, "b")["guard"][0]
    assert "does something else" in refused(document).reason
    document = copy.deepcopy(asked(above))
    document["transitions"].append({**document["transitions"][1], "guard": [[None, 0, "1000"]], "symbol": "never"})
    assert "never takes" in refused(document).reason
    document = copy.deepcopy(asked(two_kept))
    step_that_writes(document, "b")["some"] = True
    assert isinstance(refused(document), Beyond)


def test_before_the_first_number_none_is_read():
    for mechanism_, allowed in ((above, False), (secret, True)):
        document = copy.deepcopy(asked(mechanism_))
        document["transitions"][0]["samples"].append([None, 1, "0"])
        if allowed:
            assert established(document).from_source
        else:
            assert "has read none" in refused(document).reason


def merged(document, states=()):
    """The document without the guards of steps that are alike otherwise, which become one, and with one name for some states."""
    result = copy.deepcopy(document)
    for step in result["transitions"]:
        step["from"], step["to"] = (states[0] if step[end] in states else step[end] for end in ("from", "to"))
    plain = [{**step, "guard": []} for step in result["transitions"]]
    twice = [step for step in plain if plain.count(step) > 1]
    result["transitions"] = [
        step if changed not in twice else changed
        for i, (step, changed) in enumerate(zip(result["transitions"], plain, strict=True))
        if changed not in plain[:i]
    ]
    result["states"] = [state for state in result["states"] if state not in states[1:]]
    return result


@mechanism(epsilon=1)
def two_centers(xs: real_stream(), p: public(real())):
    t = laplace(0, scale=2)
    for x in xs:
        noisy = laplace(x, scale=4)
        yield laplace(p, scale=1) if noisy >= t else laplace(2 * p, scale=1)


@mechanism(epsilon=1)
def later_center(xs: real_stream(), p: public(real())):
    t = laplace(0, scale=2)
    center = p
    for x in xs:
        yield laplace(center, scale=1)
        center = p if laplace(x, scale=4) >= t else 2 * p


def test_a_comparison_that_decides_which_public_number_is_used_is_part_of_the_automaton():
    """With a large number the noise around it tells the outcome: once it was left out, and this proved with 0."""
    document = asked(two_centers)
    assert established(document).from_source
    assert check(two_centers, "1", engine="streams").status != "proved"
    assert len(document["transitions"]) == 3
    problem = refused(merged(document))
    assert "in two ways" in problem.reason
    assert not isinstance(problem, Beyond)


def test_states_that_decide_which_public_number_is_used_are_not_one():
    document = asked(later_center)
    assert established(document).from_source
    assert check(later_center, "1", engine="streams").status != "proved"
    waiting = [state for state in document["states"] if state not in ("start", "end")]
    assert len(waiting) > 1
    problem = refused(merged(document, waiting))
    assert not isinstance(problem, Beyond)


def test_numbers_without_noise_are_not_compared():
    for test in ("answer > 0 and", "answer > 0 or", "not answer >= 0 and"):
        problem = refused(with_text(asked(above), "if laplace(answer", f"if {test} laplace(answer"))
        assert isinstance(problem, Beyond)
        assert "may tie" in problem.reason


LOOP = 'yield "above" if laplace(answer, scale=5) >= threshold else "below"'


def test_a_number_that_the_automaton_does_not_keep_is_not_used():
    kept = 'noisy = laplace(answer, scale=5)\n        yield "above" if noisy >= threshold else "below"\n        threshold = noisy'
    assert "does not keep" in refused(with_text(asked(no_cutoff), LOOP, kept)).reason


def test_numbers_that_are_not_kept_are_told_apart():
    """Two of them do not cancel; one with itself does."""
    for used, same in (("old - older", False), ("old - old", True)):
        loop = f"""yield "above" if laplace(answer + ({used} if n == 2 else 0), scale=5) >= threshold else "below"
        older, old, n = old, answer, min(n + 1, 2)"""
        document = with_text(asked(no_cutoff), LOOP, loop)
        document = with_text(document, "    for answer", "    old, older, n = 0, 0, 0\n    for answer")
        document["source"]["program"]["functions"][0]["meanings"]["min"] = {"builtin": "min"}
        if same:
            assert established(document).from_source
        else:
            assert "does not keep" in refused(document).reason


def test_a_guard_that_never_holds():
    document = copy.deepcopy(asked(above))
    idle = copy.deepcopy(document["transitions"][1])
    document["transitions"].append({**idle, "guard": [[0, 0, "1"]], "symbol": "never"})
    assert established(document).from_source
    document["transitions"][-1]["guard"] = [[0, None, "1000"], [None, 0, "1000"]]
    assert established(document).from_source


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n        pass",
        "t = sorted([laplace(i, scale=1) for i in range(300)])",
        "t = laplace(0, scale=1)\n    while True:\n        t = t * 10 ** 5000",
        "t = laplace(0, scale=1)\n    while t > 0:\n        t = laplace(0, scale=1)",
        "t = [laplace(0, scale=1)]\n    while True:\n        t.append(t[-1] + t[-1])",
    ],
)
def test_hostile_texts_come_to_an_end(body):
    document = with_text(
        asked(no_cutoff), "threshold = laplace(0, scale=2)", f"{body}\n    threshold = laplace(0, scale=2)"
    )
    names = {name: {"builtin": name} for name in ("sorted", "range")}
    document["source"]["program"]["functions"][0]["meanings"].update(names)
    begun = time.process_time()
    assert isinstance(refused(document), Beyond)
    assert time.process_time() - begun < LATEST
