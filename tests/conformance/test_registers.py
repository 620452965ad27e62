"""Deltas at one size by integrals over registers: known answers, random programs against running them, traps."""

import copy
import random
from fractions import Fraction
from itertools import product

import pytest
from benchmarks.gaussian import k_min_max, m_range, mix_one, mix_two, noisy_max, sparse_laplace, sparse_vector
from tests.amounts import selected
from tests.certificates import nested, recheck

from privproof import check, gaussian, mechanism, queries, real_queries, smallest_delta, tight_epsilon
from privproof.asking import delta_of
from privproof.compiling.posing import pose_question
from privproof.compiling.registers import registers
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.runs import ran
from privproof.engines.registers.register_roles import Roles
from privproof.engines.runs.runs_divergence import LeafDivergence
from privproof.errors import LanguageError
from privproof.exact import epsilon, rational
from privproof.loading.question_loading import load

WIDTH = 1e-9


KNOWN = [
    (sparse_vector, 11, "1/2", 0.00137963318589),
    (sparse_vector, 25, "1/2", 0.00175174940097),
    (sparse_vector, 25, "1.24", 0),
    (sparse_vector.having(t=1, s=2), 2, "1/2", 0.085242176707281),
    (sparse_vector.having(t=1, s=2), 4, "1/2", 0.102144461667714),
    (
        sparse_vector.having(t=100, s=1),
        3,
        "1/100",
        0.0051929527650637,
    ),  # a threshold that is much wider than the answers
    (noisy_max, 4, "1/2", 0.00479076318920),
    (noisy_max, 5, "1/2", 0.02069196285075),
    (noisy_max, 20, "1/2", 0.0741271334639),
    (k_min_max, 4, "1/2", 0.0230450957444),
    pytest.param(sparse_vector, 100, "1/2", 0.00180512179245, marks=pytest.mark.slow),
    pytest.param(sparse_vector, 100, "1.24", 1.13182713e-6, marks=pytest.mark.slow),
    pytest.param(sparse_laplace, 11, "1/5", 0.01409363507290, marks=pytest.mark.slow),
    pytest.param(mix_one, 11, "1/5", 0.01632114326152, marks=pytest.mark.slow),
    pytest.param(m_range, 5, "1/2", 0.00069124983066, marks=pytest.mark.slow),
    pytest.param(m_range, 10, "1/2", 0.00434522935663, marks=pytest.mark.slow),
    pytest.param(k_min_max.having(k=5), 10, "1/2", 0.0871789051783, marks=pytest.mark.slow),
]


def _probabilities(function, data):
    """What is shown on some zeros and ones, each with a ball around its probability."""
    model = registers(function, len(data))
    roles = Roles(model, (rational(0), rational(1)))
    sums = [roles.sum(each, roles.counted(each, data)) for each in roles.shaped]
    roles.evaluate(sums, lambda: None)
    return {outcome.text: roles.value(each) for outcome, each in zip(model.outcomes, sums, strict=True)}


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_last_of_equal_noises_lies_in_the_range_of_the_first(k):
    inside = _probabilities(k_min_max.having(k=k), [1] * (k + 1))["-1"]
    assert abs(inside - rational(k - 1) / (k + 1)).lower() <= 0
    assert inside.rad() < 1e-12


@pytest.mark.parametrize("function", [sparse_vector, mix_one, mix_two, noisy_max, m_range, k_min_max])
def test_something_is_shown_with_probability_one(function):
    """An outcome that was forgotten would be missing."""
    total = sum(_probabilities(function, [0, 1, 1, 0]).values())
    assert total.contains(1)
    assert total.rad() < 1e-10


@pytest.mark.parametrize(("function", "size", "at", "delta"), KNOWN)
def test_known_deltas_on_all_neighbours_of_zeros_and_ones(function, size, at, delta):
    found = smallest_delta(function, at, size=size)
    assert found.verdict.engine == "registers"
    assert float(found.lower) - 1e-13 <= delta <= float(found.upper) + 1e-13
    assert found.upper - found.lower < WIDTH
    again = recheck(nested(found.proof.certificate))
    assert again.verdict == "proved"
    assert "re-established from the source" in again.statement
    assert (found.refutation is None) == (delta == 0)


def kept_list(q: queries(0, 1)):
    noisy = [answer + gaussian(0, sigma=4) for answer in q]
    return noisy.index(max(noisy))


def negated(q: queries(0, 1)):
    noisy = [2 * (gaussian(0, sigma=4) - answer) for answer in q]
    return noisy.index(min(noisy))


def best_so_far(q: queries(0, 1)):
    best, where = None, None
    for i, answer in enumerate(q):
        value = gaussian(0, sigma=4) + answer
        if best is None or value > best:
            best, where = value, i
    return where


@pytest.mark.parametrize(("function", "engine"), [(kept_list, "runs"), (negated, "runs"), (best_so_far, "registers")])
def test_data_beside_the_noise_are_the_center_of_what_is_kept(function, engine):
    """A list of all noisy values is run as it is; who keeps the best of them alone has registers."""
    found = smallest_delta(mechanism(function), "1/2", size=4)
    assert found.verdict.engine == engine
    assert float(found.lower) - 1e-13 <= 0.00479076318920 <= float(found.upper) + 1e-13
    assert recheck(nested(found.proof.certificate)).verdict == "proved"


def test_a_threshold_beside_which_different_data_stand_stays_itself():
    def turned(q: queries(0, 1)):
        t = gaussian(0, sigma=4)
        for i, answer in enumerate(q):
            if answer - t >= gaussian(0, sigma=8):
                return i
        return -1

    found = smallest_delta(mechanism(turned), "1/10", size=3)
    same = smallest_delta(sparse_vector, "1/10", size=3)
    assert found.verdict.engine == "registers"
    assert abs(found.upper - same.upper) < Fraction(WIDTH)


def test_laplace_answers_below_a_gaussian_threshold_agree_with_running():
    run = delta_of(pose_question(mix_two, size=2, run=True), epsilon("1/5"))
    found = smallest_delta(mix_two, "1/5", size=2)
    assert (found.verdict.engine, run.verdict.engine) == ("registers", "runs")
    assert abs(found.upper - run.upper) < Fraction(WIDTH)


@pytest.mark.parametrize("relation", ["one", "monotone"])
def test_other_neighbours_agree_with_running(relation):
    found = smallest_delta(sparse_vector, "1/10", size=2, neighbours=relation)
    run = delta_of(pose_question(sparse_vector, size=2, neighbours=relation, run=True), epsilon("1/10"))
    assert (found.verdict.engine, run.verdict.engine) == ("registers", "runs")
    assert abs(found.upper - run.upper) < Fraction(WIDTH)
    assert abs(found.lower - run.lower) < Fraction(WIDTH)
    selection = smallest_delta(noisy_max, "1/10", size=3, neighbours=relation)
    assert selection.lower < smallest_delta(noisy_max, "1/10", size=3).lower


def test_the_smallest_epsilon_at_a_delta():
    found = tight_epsilon(noisy_max, delta="1/100", size=5)
    assert found.engine == "registers"
    low, high = (float(end.ball(64).mid()) for end in (found.lower, found.upper))
    assert low <= high < low + WIDTH
    assert abs(low - 0.5431850834) < 1e-9
    assert found.certified.lower
    assert found.certified.upper


def test_a_refutation_names_the_pair_and_the_event():
    found = check(noisy_max, "1/2", "1/100", size=5)
    assert found.status == "refuted"
    assert sorted(found.witness.left["q"]) == [0, 0, 0, 0, 1]
    assert found.witness.observed.outputs == ("4",)
    low, high = (float(end) for end in found.delta_bounds)
    assert low <= 0.02069196285075 + 1e-13 <= high + 1e-12


# --------------------------------------------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def proof():
    return smallest_delta(sparse_vector, "1/10", size=4)


def _samples(certificate):
    return [step for step in certificate["question"]["code"] if step[0] == "sample"]


@pytest.mark.parametrize("change", [
    lambda c: c["question"].update(delta="1/1000000"),
    lambda c: c["question"]["inputs"]["q"].update(high="2"),
    lambda c: _samples(c)[0][4].update(factor="1"),
    lambda c: _samples(c)[1].__setitem__(2, "laplace"),
    lambda c: c["question"].update(size=5),
])  # fmt: skip
def test_a_proof_of_something_else_is_refused(proof, change):
    certificate = copy.deepcopy(dict(nested(proof.proof.certificate)))
    assert recheck(certificate).verdict == "proved"
    change(certificate)
    assert not hasattr(recheck(certificate), "verdict")


@pytest.mark.parametrize("change", [
    lambda e: e.update(left=e["right"]),
    lambda e: e["outputs"].pop(),
    lambda e: e["outputs"].append(e["outputs"][0]),
    lambda e: e["outputs"].append([["77"]]),
])  # fmt: skip
def test_a_refutation_by_another_event_is_refused(proof, change):
    certificate = copy.deepcopy(dict(nested(proof.refutation.certificate)))
    assert recheck(certificate).verdict == "refuted"
    change(certificate["evidence"])
    assert not hasattr(recheck(certificate), "verdict")


def test_no_alignment_is_accepted_for_gaussian_noise(proof):
    certificate = copy.deepcopy(dict(nested(proof.proof.certificate)))
    certificate["evidence"] = {"method": "alignment", "cuts": [0], "bounds": [], "paths": [], "invariants": {}}
    assert not hasattr(recheck(certificate), "verdict")


# ---------------------------------------------------------------------------------------------------------- pitfalls


def test_zeros_and_ones_say_nothing_about_real_answers():
    """Of zeros and ones delta is 0.0951; of answers without bounds 0.10091."""

    @mechanism
    def selects(q: real_queries()):
        best, winner = None, 0
        for i, a in enumerate(q):
            noisy = gaussian(a, sigma=4)
            if best is None or noisy > best:
                best, winner = noisy, i
        return winner

    assert check(selects, "1/10", "0.0952", size=2).status == "refuted"
    assert check(selects, "1/10", "0.10092", size=2).status == "proved"


TRAPS = {
    "the same noise for every answer": "z = gaussian(0, sigma=2)\n    t = gaussian(0, sigma=2)\n    for i, a in enumerate(q):\n"
    "        if z + a >= t:\n            return i\n    return -1",
    "the threshold is drawn again": "for i, a in enumerate(q):\n        t = gaussian(0, sigma=1)\n"
    "        if gaussian(a, sigma=2) >= t:\n            return i\n    return -1",
    "the answer has no noise": "t = gaussian(0, sigma=2)\n    for i, a in enumerate(q):\n        if a >= t:\n"
    "            return i\n    return -1",
    "a margin": "t = gaussian(0, sigma=2)\n    for i, a in enumerate(q):\n        if gaussian(a, sigma=1) >= 2 * t + 1:\n"
    "            return i\n    return -1",
    "the second best": "best = second = gaussian(0, sigma=1)\n    w = -1\n    for i, a in enumerate(q):\n        z = gaussian(a, sigma=2)\n"
    "        if z > best:\n            second = best\n            best = z\n            w = i\n"
    "        elif z > second:\n            second = z\n"
    "    return w",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_are_what_running_them_says_or_left_to_it(trap, tmp_path):
    found = written(TRAPS[trap], tmp_path)
    agrees_with_running(found, 2)


# ------------------------------------------------------------------------------------------------------------ fuzzing


def written(body, tmp_path):
    """A mechanism with a body, in a file of its own."""
    file = tmp_path / "made.py"
    file.write_text(
        "from privproof import exponential, gaussian, laplace, mechanism, queries\n\n\n"
        f"@mechanism\ndef made(q: queries(0, 1)):\n    {body}\n"
    )
    return load(f"{file}:made", size=2, run=True).mechanism


def made_body(rnd):
    """A random program that keeps up to two noisy numbers."""

    def noise(center):
        scale = rnd.choice([1, 2, 3])
        kind = rnd.choice(["gaussian"] * 3 + ["laplace"] * 2 + ["exponential"])
        return f"{kind}({center}, {'sigma' if kind == 'gaussian' else 'scale'}={scale})"

    offset = rnd.choice(["", "", " + 1", " - 1/2"])
    sign = rnd.choice([">", "<", ">=", "<="])
    ways = {
        "threshold": ["t = " + noise(rnd.choice([0, 1])), "for i, a in enumerate(q):", f"    if {noise('a')} {sign} t{offset}:",
                      "        return i", "return -1"],
        "extreme": ["b = " + noise(0), "w = -1", "for i, a in enumerate(q):", "    z = " + noise("a"), f"    if z {sign} b:",
                    "        b = z", "        w = i", "return w"],
        "count": ["t = " + noise(0), "c = 0", "for a in q:", f"    if {noise('a')} {sign} t{offset}:", "        c += 1", "return c"],
        "moving": ["t = " + noise(0), "c = 0", "for a in q:", f"    z = {noise('a')}", f"    if z {sign} t:", "        c += 1",
                   f"    if {rnd.choice(['c == 1', 'c < 2', 'True'])}:", "        t = max(t, z)", "return c"],
        "range": [f"l = gaussian(0, sigma={rnd.choice([1, 2])})", f"h = gaussian(1, sigma={rnd.choice([1, 2])})",
                  "for i, a in enumerate(q):", f"    z = gaussian(a, sigma={rnd.choice([1, 2])})",
                  rnd.choice(["    if z < l or z > h:", "    if l < z and z < h:", "    if abs(l) < 0 or z > max(l, h):"]),
                  "        return i", "return -1"],
        "ends": ["l = h = 0", "for i, a in enumerate(q):", f"    z = gaussian(a, sigma={rnd.choice([1, 2])})", "    if i == 0:",
                 "        l = h = z", "    elif z < l:", "        l = z", "    elif z > h:", "        h = z", "    else:",
                 "        return i", "return -1"],
    }  # fmt: skip
    return "\n    ".join(ways[rnd.choice(list(ways))])


def grouped(divergence, tree):
    """The leaves of a tree by what they show."""
    return [group for shown in divergence._by_shape(tree).values() for group in shown.groups]


def agrees_with_running(function, size):
    """How many probabilities were compared: those of all outcomes on all data, by registers and by running all paths."""
    try:
        roles = Roles(registers(function, size), (rational(0), rational(1)))
    except Unsupported:
        return 0
    runs = ran(function, [size])
    divergence = LeafDivergence(epsilon(0).ball(64))
    compared = 0
    try:
        grouped(divergence, runs.trees[0])
    except LanguageError:  # noises are compared in a circle, which registers know and paths do not
        return agrees_with_sampling(function, roles, size)
    for data, tree in zip(product((0, 1), repeat=size), runs.trees, strict=True):
        mine = {each.outcome.text: roles.sum(each, roles.counted(each, data)) for each in roles.shaped}
        roles.evaluate(mine.values(), lambda: None)
        theirs = {}
        for group in grouped(divergence, tree):
            theirs[group.text] = theirs.get(group.text, 0) + group.p
        assert set(theirs) <= set(mine)
        for text, each in mine.items():
            value = roles.value(each)
            assert value.overlaps(theirs.get(text, value * 0)), (data, text, value, theirs.get(text))
            assert float(value.rad()) < WIDTH
            compared += 1
    return compared


def agrees_with_sampling(function, roles, size, count=2_000):
    """The same against frequencies: wrong by chance once in a million times."""
    compared = 0
    for data in product((0, 1), repeat=size):
        mine = {each.outcome.text: roles.sum(each, roles.counted(each, data)) for each in roles.shaped}
        roles.evaluate(mine.values(), lambda: None)
        seen = [str(function(list(data))) for _ in range(count)]
        for text, each in mine.items():
            p = float(roles.value(each).mid())
            assert abs(seen.count(text) / count - p) < 5 * (p * (1 - p) / count) ** 0.5 + 1 / count
            compared += 1
    return compared


@pytest.mark.parametrize("seed", selected(range(400), 6))
def test_random_programs_agree_with_running_all_their_paths(seed, tmp_path):
    agrees_with_running(written(made_body(random.Random(seed)), tmp_path), 2 + seed % 2)
