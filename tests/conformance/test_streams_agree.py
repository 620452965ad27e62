"""The engine for stream automata against everything else that can judge: the laplace engine, exact probabilities of the function
itself, the independent checker, and files.

A loss that is larger than a proved epsilon, a witness whose probabilities the function does not have, or two engines that contradict each
other are wrong verdicts.  The random functions and automata come from `tests.conformance.stream_programs`.
"""

from __future__ import annotations

import random
import time
from fractions import Fraction

import pytest
from flint import arb
from tests.amounts import selected
from tests.certificates import nested, recheck
from tests.conformance.stream_programs import (
    Late,
    automaton_probability,
    automaton_word,
    document,
    limited,
    loaded,
    neighbours,
    neighbours_of,
    numbers_of,
    sampled_word,
    source,
)

from privproof import check, output_probability, tight_epsilon
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.streams import stream_question
from privproof.engines import Monitor
from privproof.engines.laplace.events import measure_ball, tree
from privproof.errors import FormatError, LanguageError, ModelError, PrivproofError, QuestionError
from privproof.exact import epsilon, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.formats import question_from_document
from privproof.formats.stream_files import stream_document
from privproof.language import (
    Mechanism,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    real,
    real_stream,
    seeded,
    stream,
)
from privproof.library.laplace import sparse_vector as lists
from privproof.library.streams import several, thresholds
from privproof.scenarios import program_question
from privproof_checker import Accepted

BITS = 160
LIBRARY = [found for module in (thresholds, several) for found in vars(module).values() if isinstance(found, Mechanism)]


def within(seconds):
    return Monitor(deadline=time.monotonic() + seconds)


def automaton_of(mechanism):
    return stream_question(program_question(mechanism))


def exact(mechanism, word, arguments):
    """The probability of a word, by running the function itself, as a ball."""
    return measure_ball(tree(mechanism, arguments, word), word, BITS)


def exceeds(left, right, bound):
    """Whether a loss is surely above a bound."""
    with precision(BITS):
        return bool(left > bound.ball(BITS).exp() * right)


# --------------------------------------------------------------------------------------------- the two engines, library


def agree(mechanism, seconds):
    """The verdicts of both engines on a mechanism's own claim."""
    here = check(mechanism, engine="streams", monitor=within(20))
    try:
        there = check(mechanism, engine="laplace", monitor=within(seconds))
    except LanguageError:
        return here, None
    assert {here.status, there.status} != {"proved", "refuted"}
    assert there.lower.compare(here.upper) <= 0
    assert here.lower.compare(there.upper) <= 0
    return here, there


@pytest.mark.parametrize("mechanism", selected(LIBRARY, 6), ids=lambda m: m.name)
def test_the_engines_never_contradict_each_other(mechanism):
    here, _ = agree(mechanism, 0.7)
    assert here.status != "unknown"


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", LIBRARY, ids=lambda m: m.name)
def test_the_engines_never_contradict_each_other_given_time(mechanism):
    agree(mechanism, 20)
    tight = tight_epsilon(mechanism, engine="streams", monitor=within(20))
    try:
        bounds = tight_epsilon(mechanism, engine="laplace", monitor=within(20))
    except LanguageError:
        return
    assert bounds.lower.compare(tight.upper) <= 0
    assert tight.lower.compare(bounds.upper) <= 0


@mechanism(epsilon=1)
def not_scaled(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon=1)
def scaled(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon=1, neighbours="monotone")
def monotone(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=2 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon=1)
def gap(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        noisy = laplace(answer, scale=4 * N / epsilon)
        if noisy >= noisy_threshold:
            yield noisy - noisy_threshold
            count += 1
            if count >= N:
                return
        else:
            yield 0


@mechanism(epsilon=1)
def numerical(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=3 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=6 * N / epsilon) >= noisy_threshold:
            yield laplace(answer, scale=3 * N / epsilon)
            count += 1
            if count >= N:
                return
        else:
            yield 0


@mechanism(epsilon=1)
def redrawn(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 * N / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N / epsilon) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
            noisy_threshold = laplace(threshold, scale=2 * N / epsilon)
        else:
            yield False


@mechanism(epsilon=1)
def inverse(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 * N / epsilon) >= noisy_threshold:
            yield True
        else:
            yield False
            count += 1
            if count >= N:
                return


@mechanism(epsilon=1)
def wrong_scales(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=4 / epsilon)
    count = 0
    for answer in q:
        if laplace(answer, scale=4 / (3 * epsilon)) >= noisy_threshold:
            yield True
            count += 1
            if count >= N:
                return
        else:
            yield False


@mechanism(epsilon=1)
def adaptive(q: real_stream(), threshold: public(real()), N=1, sigma=2, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    spent = 0
    for answer in q:
        far = laplace(answer, scale=8 * N / epsilon)
        if far - noisy_threshold >= sigma:
            yield far - noisy_threshold
            spent += 1
        else:
            near = laplace(answer, scale=4 * N / epsilon)
            if near - noisy_threshold >= 0:
                yield near - noisy_threshold
                spent += 2
            else:
                yield 0
        if spent > 2 * N - 2:
            return


@mechanism(epsilon=1)
def value(q: real_stream(), threshold: public(real()), N=1, epsilon=1):
    noisy_threshold = laplace(threshold, scale=2 / epsilon)
    count = 0
    for answer in q:
        noisy = laplace(answer, scale=4 * N / epsilon)
        if noisy >= noisy_threshold:
            yield noisy
            count += 1
            if count >= N:
                return
        else:
            yield 0


TWINS = [
    (scaled, lists.sparse_vector, lambda n: 1),
    (monotone, lists.sparse_vector_monotone, lambda n: 1),
    (gap, lists.sparse_vector_gap, lambda n: 1),
    (numerical, lists.sparse_vector_numerical, lambda n: 1),
    (redrawn, lists.sparse_vector_redrawn, lambda n: 1),
    (inverse, lists.sparse_vector_inverse, lambda n: 1),
    (wrong_scales, lists.sparse_vector_wrong_scales, lambda n: Fraction(1 + 6 * n, 4)),
    (not_scaled, lists.sparse_vector_not_scaled, lambda n: Fraction(1 + n, 2)),
    (adaptive, lists.sparse_vector_adaptive, lambda n: 1),
]


@pytest.mark.parametrize(("twin", "listed", "known"), TWINS, ids=lambda m: getattr(m, "name", ""))
def test_a_list_mechanism_costs_on_a_stream_what_its_formula_says(twin, listed, known):
    for number in (1, 2, 3):
        found = tight_epsilon(twin.having(N=number), engine="streams", monitor=within(20))
        assert found.status == "proved"
        high = rational_bounds(found.upper.ball(BITS))[1]
        if listed is lists.sparse_vector_adaptive:
            assert high <= known(number)
        else:
            assert found.lower == found.upper
            assert found.upper == epsilon(str(known(number)))


@pytest.mark.slow
@pytest.mark.parametrize(("twin", "listed", "known"), TWINS, ids=lambda m: getattr(m, "name", ""))
def test_lists_of_some_lengths_lose_no_more_than_streams(twin, listed, known):
    for size in (1, 2, 3, 4):
        bounds = tight_epsilon(listed, size=size, monitor=within(30))
        # the bound from below is for the worst N, which is at most the size
        whole = tight_epsilon(twin.having(N=size), engine="streams", monitor=within(20))
        assert bounds.lower.compare(whole.upper) <= 0


def test_what_releases_the_compared_answer_has_no_epsilon_at_any_cut_off():
    for number in (1, 2):
        assert tight_epsilon(value.having(N=number), engine="streams").lower.infinite


# ------------------------------------------------------------------------------------------------------------- witnesses


def confirmed(mechanism, verdict, *, longest=12):
    """A witness has the probabilities that the function has, and its loss is above the budget."""
    witness = verdict.witness
    assert witness is not None
    assert witness.arguments is not None
    if len(witness.steps) > longest:
        return
    left, right = (exact(mechanism, witness.event, arguments) for arguments in witness.arguments)
    assert left.overlaps(witness.left_probability.ball(256))
    assert right.overlaps(witness.right_probability.ball(256))
    budget = verdict.question.budget
    if not budget.epsilon.infinite:
        assert exceeds(left, right, budget.epsilon)
    if len(witness.steps) <= 4:  # also that the arguments are data of the function
        closed = [output_probability(mechanism, witness.event, **arguments) for arguments in witness.arguments]
        assert closed[0].ball(1, BITS).overlaps(left)
        assert closed[1].ball(1, BITS).overlaps(right)


@pytest.mark.parametrize("mechanism", selected(LIBRARY, 8), ids=lambda m: m.name)
def test_the_function_itself_confirms_every_refutation(mechanism):
    tight = tight_epsilon(mechanism, engine="streams", monitor=within(20))
    budgets = (
        [Fraction(1, 10), 1, 2]
        if tight.upper.infinite
        else [rational_bounds(tight.upper.ball(BITS))[0] * rational("9/10")]
    )
    for budget in budgets:
        verdict = check(mechanism, str(budget), engine="streams", monitor=within(20))
        assert verdict.status == "refuted"
        confirmed(mechanism, verdict, longest=8)


@mechanism(epsilon=1)
def zero_or_gap(xs: real_stream()):
    t = laplace(0, scale=2)
    for x in xs:
        noisy = laplace(x, scale=4)
        if noisy >= t:
            yield noisy - t
            return
        yield 0


@mechanism(epsilon=2)
def once_or_twice(xs: real_stream()):
    t = laplace(0, scale=2)
    for x in xs:
        yield 1
        if laplace(x, scale=1) >= t:
            yield 1


@mechanism(epsilon=1)
def threshold_from_five(xs: real_stream(), p: public(real(low=5))):
    t = laplace(p, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield 1
            return
        yield 0


@mechanism(epsilon=1)
def silent_or_not(xs: real_stream()):
    t = laplace(0, scale=4)
    left = 2
    for x in xs:
        if laplace(x, scale=1) < t:
            pass
        else:
            yield "b"
        left -= 1
        if left == 0:
            return


def test_a_tight_epsilon_shows_an_event_that_the_function_knows():
    """That nothing is written for a number is seen, or it is not: bounds, witnesses and the checker say the same."""
    verdict = tight_epsilon(silent_or_not, engine="streams", monitor=within(10))
    if verdict.witness is not None:
        sides = [exact(silent_or_not, verdict.witness.event, given) for given in verdict.witness.arguments]
        assert sides[0].overlaps(verdict.witness.left_probability.ball(256))
        assert sides[1].overlaps(verdict.witness.right_probability.ball(256))
    if verdict.status == "proved" and verdict.lower == verdict.upper:
        high = rational_bounds(verdict.upper.ball(BITS))[1]
        assert check(silent_or_not, str(high * rational("9/10")), engine="streams").status == "refuted"


@pytest.mark.parametrize(
    ("mechanism", "budget"),
    [(zero_or_gap, "9/10"), (once_or_twice, 2), (threshold_from_five, "9/10")],
    ids=lambda m: getattr(m, "name", ""),
)
def test_a_witness_is_an_event_that_the_function_knows(mechanism, budget):
    """Constants that lie in the range of a noisy number, several outputs for one number, and public numbers with bounds."""
    try:
        verdict = check(mechanism, budget, engine="streams", monitor=within(20))
    except QuestionError:
        assert mechanism is threshold_from_five
        return
    if verdict.status == "refuted" and verdict.witness.event is not None:
        confirmed(mechanism, verdict)
        witness = verdict.witness
        for arguments in witness.arguments:
            output_probability(mechanism, witness.event, **arguments)


# -------------------------------------------------------------------------------------------------- what was once wrong


@mechanism(epsilon="1/2")
def list_or_tuple(xs: real_stream(low=0)):
    for x in xs:
        yield [1] if laplace(x, scale=1) >= 0 else (1,)


@mechanism(epsilon=1)
def list_or_tuple_below(xs: real_stream()):
    t = laplace(0, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "end"
            return
        yield [1] if laplace(x, scale=1) >= 0 else (1,)


@mechanism(epsilon=1)
def exactly_a_third(xs: real_stream(low=0)):
    for x in xs:
        if Fraction(1, 3) <= x <= Fraction(1, 3):
            yield "exactly"
        else:
            yield "other"


@mechanism(epsilon=1)
def loud(xs: real_stream(low=0), mode: public(one_of("quiet", "loud"))):
    for x in xs:
        if mode == "loud":
            yield x
        else:
            yield 0


@mechanism(epsilon=1)
def loud_below(xs: real_stream(), mode: public(one_of("quiet", "loud"))):
    t = laplace(0, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "end"
            return
        if mode == "loud":
            yield laplace(x, scale=1)
        else:
            yield 0


UNSOUND = [
    (list_or_tuple, [(1,)], {"xs": [0]}, {"xs": [1]}),
    (list_or_tuple_below, [[1], [1]], {"xs": [-9, -9]}, {"xs": [-8, -8]}),
    (exactly_a_third, ["exactly"], {"xs": [Fraction(1, 3)]}, {"xs": [1]}),
    (loud, ["0..1/2"], {"xs": [0], "mode": "loud"}, {"xs": [1], "mode": "loud"}),
    (loud_below, ["≥-3"] * 2, {"xs": [-9] * 2, "mode": "loud"}, {"xs": [-8] * 2, "mode": "loud"}),
]


@pytest.mark.parametrize(("mechanism", "event", "left", "right"), UNSOUND, ids=lambda m: getattr(m, "name", ""))
def test_what_loses_more_is_not_proved(mechanism, event, left, right):
    probabilities = [output_probability(mechanism, event, **given).ball(1, BITS) for given in (left, right)]
    claim = program_question(mechanism).budget.epsilon
    assert exceeds(*probabilities, claim) or exceeds(*reversed(probabilities), claim)
    assert check(mechanism, monitor=within(5)).status != "proved"


@mechanism(epsilon=1)
def secret_with_bounds(s: real(0, 1), xs: real_stream()):
    yield laplace(s, scale=1) >= Fraction(1, 2)
    for _ in xs:
        yield 0


def test_what_loses_less_is_not_refuted():
    """The loss between 0 and 1, the only data that count, is ln((2 - e^(-1/2)) / e^(-1/2)) < 9/10."""
    verdict = check(secret_with_bounds, "9/10", engine="streams")
    assert verdict.status != "refuted"


@mechanism(epsilon=1)
def public_numbers(s: real(), xs: public(real_stream())):
    t = laplace(s, scale=1)
    for x in xs:
        yield x >= t


def test_a_stream_of_public_numbers_is_left_to_the_other_engine():
    assert check(public_numbers).status == "proved"


@mechanism(epsilon=1, neighbours="one")
def nothing_left(xs: real_stream()):
    t0 = laplace(0, scale=4)
    t1 = laplace(0, scale=1)
    ts = [laplace(i, scale=1) for i in range(2)]
    mode = 0
    for x in xs:
        if t0 <= laplace(x, scale=2) < ts[mode]:
            pass
        else:
            t1 = laplace(1, scale=4)
        yield "f" if min(t0, t1) <= laplace(x, scale=8) else "y"
        t0 = laplace(x, scale=1)


@mechanism(epsilon=1)
def silent_above(xs: real_stream()):
    t = laplace(0, scale=2)
    for x in xs:
        if laplace(x, scale=2) >= t:
            yield "a"


@mechanism(epsilon=1)
def silent_until(xs: real_stream()):
    for x in xs:
        if laplace(x, scale=2) >= 0:
            yield "a"
            return


@mechanism(epsilon=2)
def drawn_again_and_again(xs: real_stream()):
    t = laplace(0, scale=1)
    while laplace(0, scale=1) < 0:
        t = laplace(0, scale=1)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield 1
            return
        yield 0


@pytest.mark.parametrize(
    "mechanism", [nothing_left, silent_above, silent_until, drawn_again_and_again], ids=lambda m: m.name
)
def test_every_question_comes_to_an_end(mechanism):
    with limited(8):
        try:
            assert check(mechanism, engine="streams", monitor=within(2)).status in ("proved", "refuted", "unknown")
            tight_epsilon(mechanism, engine="streams", monitor=within(2))
        except PrivproofError:
            return


@mechanism(epsilon=1)
def says_nothing_new(xs: real_stream()):
    for _ in xs:
        yield 0


def test_what_loses_nothing_is_proved():
    """As an automaton it reads no number, so that nothing is compared; as a program it is proved for all pairs of streams."""
    for verdict in (check(says_nothing_new, engine="streams"), tight_epsilon(says_nothing_new, engine="streams")):
        assert verdict.status == "unknown"
        assert "nothing is compared" in verdict.reason
    assert check(says_nothing_new).status == "proved"
    assert tight_epsilon(says_nothing_new).upper == epsilon(0)


@mechanism(epsilon=1)
def scale_as_text(xs: real_stream()):
    for x in xs:
        yield laplace(x, scale="4/3")
        return


@mechanism(epsilon=1)
def scale_as_quotient(xs: real_stream(), epsilon=1):
    for x in xs:
        yield laplace(x, scale=64 / epsilon)
        return


@mechanism(epsilon=1)
def scale_as_number(xs: real_stream()):
    for x in xs:
        yield laplace(x, scale=64)
        return


def test_a_scale_that_is_a_text_is_sampled():
    with seeded(7):
        assert len(list(scale_as_text([1]))) == 1


def test_running_a_function_leaves_no_trace_in_the_verification_of_another():
    with seeded(7):
        assert len(list(scale_as_quotient([1]))) == 1
    assert str(output_probability(scale_as_number, ["≥1"], xs=[1])) == "1/2"


@mechanism(epsilon=1)
def negated(xs: real_stream()):
    for x in xs:
        yield -laplace(x, scale=1)
        return


@mechanism(epsilon=1)
def shown_later(xs: real_stream()):
    t = None
    for x in xs:
        if t is None:
            t = laplace(x, scale=2)
            yield "stored"
        else:
            yield t
            return


SEPARATE = {
    "kind": "stream-automaton",
    "states": {
        "a": {"scale": 1, "reads": "nothing"},
        "b": {"scale": 4, "reads": "nothing"},
        "c": {"scale": {"x": "3/2", "y": 1}, "noise": "separate"},
        "d": {},
    },
    "transitions": [
        {"from": "a", "to": "b", "store": "x"},
        {"from": "b", "to": "c", "store": "y"},
        {"from": "c", "to": "d", "when": "sample < x", "output": "sample - y"},
    ],
    "scenario": {"neighbours": {"relation": "each", "within": 1}},
}


def written_again(question):
    """The question that its own document asks; None if no file can say it."""
    try:
        return question_from_document(stream_document(question))
    except FormatError:
        return None


def test_a_file_asks_what_was_written_to_it():
    for question in (automaton_of(negated), automaton_of(shown_later), question_from_document(SEPARATE)):
        again = written_again(question)
        if again is not None:
            assert [len(step.values) for step in again.automaton.transitions] == [
                len(step.values) for step in question.automaton.transitions
            ]
            assert tight_epsilon(again).upper == tight_epsilon(question).upper


@mechanism(epsilon=1)
def whole_numbers(xs: stream(), p: public(integer(low=0))):
    t = laplace(p, scale=2)
    for x in xs:
        if laplace(x, scale=4) >= t:
            yield "above"
            return
        yield "below"


def test_whole_numbers_are_refuted_by_whole_numbers():
    assert check(whole_numbers, engine="streams").status == "proved"
    verdict = check(whole_numbers, "9/10", engine="streams")
    assert verdict.status == "refuted"
    confirmed(whole_numbers, verdict)


# ------------------------------------------------------------------------------------------------------ random functions


def examined(mechanism, rng, *, both, patience=10):
    """All that is said about one function, against the function itself."""
    try:
        with limited(patience):
            question = automaton_of(mechanism)
    except Late:  # thousands of ways through one step
        return
    for _ in range(2):
        arguments, _ = neighbours(rng, mechanism, question.relation, rng.randint(0, 3))
        word = sampled_word(rng, mechanism, arguments)
        assert agreed(question, mechanism, word, arguments), (arguments, word)
    with limited(20):
        tight = tight_epsilon(mechanism, engine="streams", monitor=within(5))
    if tight.status == "proved":
        for _ in range(4):
            left, right = neighbours(rng, mechanism, question.relation, rng.randint(1, 3))
            word = sampled_word(rng, mechanism, left)
            assert harmless(mechanism, word, left, right, tight.upper), (tight.upper, left, right, word)
        judged(mechanism, tight)
    if both:
        here = tight.upper if tight.status == "proved" else None
        claim = str(rational_bounds(here.ball(BITS))[1]) if here is not None and here.compare(here) == 0 else "1"
        if claim != "0":
            try:
                other = check(mechanism, claim, engine="laplace", monitor=within(5))
            except LanguageError:
                return
            assert (tight.status, other.status) != ("proved", "refuted")
            assert other.lower.compare(tight.upper) <= 0
            assert tight.lower.compare(other.upper) <= 0


def agreed(question, mechanism, word, arguments):
    """Whether the automaton and the function write a word with the same probability."""
    try:
        with limited(10):
            one = exact(mechanism, word, arguments)
            other = automaton_probability(question, word, numbers_of(mechanism, arguments))
    except Late:
        return True
    return one.overlaps(other)


def harmless(mechanism, word, left, right, bound):
    """Whether the loss of a word is not above a proved epsilon."""
    try:
        with limited(10):
            probabilities = [exact(mechanism, word, given) for given in (left, right)]
    except Late:
        return True
    return not exceeds(*probabilities, bound) and not exceeds(*reversed(probabilities), bound)


def judged(mechanism, tight):
    """A little above the tight epsilon is proved, a little below it is not."""
    high = rational_bounds(tight.upper.ball(BITS))[1]
    if high == 0:
        return
    with limited(20):
        above = check(mechanism, str(high * rational("101/100")), engine="streams", monitor=within(10))
    assert above.status == "proved"
    with limited(20):
        below = check(mechanism, str(high * rational("99/100")), engine="streams", monitor=within(10))
    assert below.status != "proved"
    for verdict in (above, below):
        if verdict.certificate is not None:
            assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    if below.status == "refuted":
        question = automaton_of(mechanism)
        plain = all(len(written) == 1 for step, written in enumerated(question) if step.source != "start")
        if plain and not any(numeric(written) for _, written in enumerated(question)):
            confirmed(mechanism, below, longest=5)


def enumerated(question):
    return list(zip(question.automaton.transitions, question.outputs, strict=True))


def numeric(output):
    """Whether a number is written that is not noisy, and may lie where a noisy one shall."""
    if isinstance(output, list | tuple):
        return any(map(numeric, output))
    return isinstance(output, int | Fraction) and not isinstance(output, bool)


def many(folder, seeds, *, both=lambda seed: False, patience=10):
    for seed in seeds:
        rng = random.Random(seed)
        text = source(rng, f"random_{seed}")
        (found,) = loaded(folder, [text], f"random_function_{seed}")
        try:
            examined(found, rng, both=both(seed), patience=patience)
        except Unsupported:
            continue
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {type(problem).__name__}: {problem}\n{text}") from problem


@pytest.mark.parametrize("block", selected(range(3), 1))
def test_random_functions(tmp_path, block):
    many(tmp_path, range(4 * block, 4 * block + 4), patience=3)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_random_functions(tmp_path, block):
    many(tmp_path, range(1000 + 20 * block, 1020 + 20 * block), both=lambda seed: seed % 4 == 0)


# ------------------------------------------------------------------------------------------------------- random documents


def documented(rng, given):
    """What is said about the automaton of a file, against its own executions."""
    try:
        question = question_from_document(given)
    except (ModelError, FormatError):
        return
    with limited(20):
        tight = tight_epsilon(question, monitor=within(5))
    again = written_again(question)
    if again is not None and again.automaton != question.automaton:
        with limited(20):
            other = tight_epsilon(again, monitor=within(5))
        assert (other.status, other.upper) == (tight.status, tight.upper)
    if tight.status != "proved":
        return
    for _ in range(5):
        left, right = neighbours_of(rng, question, len(question.automaton.thresholds) + rng.randint(1, 4))
        word = automaton_word(rng, question, left)
        with limited(20):
            probabilities = [automaton_probability(question, word, side) for side in (left, right)]
        for one, other in (probabilities, probabilities[::-1]):
            assert not exceeds(one, other, tight.upper), (tight.upper, left, right, word)
    high = rational_bounds(tight.upper.ball(BITS))[1]
    if high > 0:
        assert check(question, str(high * rational("101/100")), monitor=within(10)).status == "proved"
        below = check(question, str(high * rational("99/100")), monitor=within(10))
        assert below.status != "proved"
        if below.status == "refuted":
            assert isinstance(recheck(nested(below.certificate)), Accepted)
            assert below.witness.left_probability.ball() > arb(0)


def many_documents(seeds):
    for seed in seeds:
        rng = random.Random(seed)
        given = document(rng)
        try:
            documented(rng, given)
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {type(problem).__name__}: {problem}\n{given}") from problem


@pytest.mark.parametrize("block", selected(range(2), 1))
def test_random_documents(block):
    many_documents(range(25 * block, 25 * block + 25))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(15))
def test_many_random_documents(block):
    many_documents(range(1000 + 100 * block, 1100 + 100 * block))
