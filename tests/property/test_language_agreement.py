"""Random mechanisms: what the translated source says, against running the Python function itself."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples, selected
from tests.programs import PLACE, Author, compared, data_sets, disagreement, largest_ratio, load, outputs

from privproof import LanguageError, mechanism_question, output_distribution


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.mark.parametrize("seed", selected(range(40), 5))
def test_a_program_with_bounded_noise_is_refused_or_agrees_with_its_runs(folder, seed):
    program = Author(seed, unbounded=False, small=True)
    assert compared(load(folder, program.text), program.size, most=400).startswith(("agrees", "refused"))


@pytest.mark.parametrize("seed", selected(range(1000, 1015), 3))
def test_a_program_with_unbounded_noise_is_refused_or_agrees_with_its_runs(folder, seed):
    program = Author(seed, unbounded=True, small=True)
    assert compared(load(folder, program.text), program.size, most=100).startswith(("agrees", "refused"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", selected(range(5000, 7000), 1))
def test_many_programs_are_refused_or_agree_with_their_runs(folder, seed):
    program = Author(seed)
    assert compared(load(folder, program.text), program.size, most=1000).startswith(("agrees", "refused"))


# ------------------------------------------------------------------------------------- one construct, random arguments

ALPHAS = st.sampled_from(["1/2", "1/3", "2/3", "9/10"])
TESTS = st.sampled_from(
    ["z > {}", "z < {}", "z >= {}", "z <= {}", "z == {}", "z != {}", "{} < z", "-z > {}", "abs(z) > {}"]
)
quickly = settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(alpha=ALPHAS, tests=st.lists(st.tuples(TESTS, st.integers(-4, 4)), min_size=1, max_size=3))
@quickly
def test_an_unbounded_number_that_is_compared_again_and_again(folder, alpha, tests):
    lines = [f"    if {test.format(bound)}:\n        return {i}" for i, (test, bound) in enumerate(tests)]
    text = f"@mechanism\ndef m(x: integer(-1, 1)):\n    z = geometric(x, alpha='{alpha}')\n" + "\n".join(lines)
    found = load(folder, text + "\n    return z\n")
    for data in data_sets(found, 1):
        assert disagreement(found, outputs(found, data, most=150), output_distribution(found, **data)) is None


@given(low=st.integers(-3, 1), width=st.integers(0, 3), alpha=ALPHAS)
@quickly
def test_clamping_unbounded_noise_is_truncated_noise(folder, low, width, alpha):
    high = low + width
    template = "@mechanism\ndef m(x: integer(-2, 2)):\n    return {}\n"
    clamped = load(folder, template.format(f"min(max(geometric(x, alpha='{alpha}'), {low}), {high})"))
    truncated = load(folder, template.format(f"truncated_geometric(x, low={low}, high={high}, alpha='{alpha}')"))
    for x in range(-2, 3):
        assert output_distribution(clamped, x) == output_distribution(truncated, x)


@given(
    picks=st.lists(
        st.sampled_from(["q[0]", "q[-1]", "q[i]", "q[i - 1]", "q[-i - 1]", "q[i // 2]"]), min_size=1, max_size=2
    ),
    relation=st.sampled_from(["each", "one", "monotone"]),
    size=st.integers(1, 3),
)
@quickly
def test_answers_may_be_read_in_any_order(folder, picks, relation, size):
    reads = " + ".join(picks)
    text = f"""\
@mechanism(neighbours={relation!r})
def m(q: queries(0, 1)):
    out = []
    for i in range(len(q)):
        out.append(truncated_geometric({reads}, low=0, high=1, alpha="1/2"))
    return out
"""
    assert compared(load(folder, text), size) == "agrees"


@given(start=st.integers(-3, 3), stop=st.integers(-3, 4), step=st.sampled_from([-2, -1, 1, 2, 3]))
@quickly
def test_ranges_count_as_in_python(folder, start, stop, step):
    text = f"""\
@mechanism
def m(x: integer(0, 1)):
    seen = [-9]
    for i in range({start}, x + {stop}, {step}):
        seen.append(i)
        i = i * 2
    return seen
"""
    assert compared(load(folder, text), 1) == "agrees"


@given(
    yields=st.lists(st.sampled_from(["'a'", "flip", "v", "i", "(v, i)"]), min_size=0, max_size=2),
    stops=st.booleans(),
    before=st.booleans(),
    after=st.booleans(),
)
@quickly
def test_generators_on_lists_with_any_number_of_outputs_a_turn(folder, yields, stops, before, after):
    lines = [
        "@mechanism",
        "def m(q: queries(0, 1)):",
        "    if bernoulli('1/3'):",
        "        yield 'early'",
        "        return",
    ]
    lines += ["    yield 'begin'"] * before + ["    for i, v in enumerate(q):"]
    lines += ["        flip = randomized_response(v, truth='3/4')", "        if flip:", "            yield i"]
    lines += [f"        yield {shown}" for shown in yields]
    lines += ["        if randomized_response(v, truth='2/3'):", "            return"] * stops
    lines += ["    yield 'end'"] * after
    assert compared(load(folder, "\n".join(lines) + "\n"), 2) == "agrees"


def test_brute_force_knows_the_ratio_of_randomised_response(folder):
    found = load(folder, "@mechanism\ndef m(x: integer(0, 1)):\n    return randomized_response(x, truth='3/4')\n")
    assert largest_ratio(found, 1) == 3


@pytest.mark.parametrize("seed", selected(range(200, 215), 3))
def test_no_program_ends_in_anything_but_a_question_or_a_refusal_with_a_place(folder, seed):
    program = Author(seed, small=True)
    found = load(folder, program.text)
    lists = any(i.shape != "value" for i in found.inputs.values())
    refusal = None
    try:
        mechanism_question(found, size=program.size if lists else None)
    except LanguageError as problem:
        refusal = problem
    assert refusal is None or refusal.hint
    assert refusal is None or PLACE.search(refusal.place) or refusal.code == "unbounded"
