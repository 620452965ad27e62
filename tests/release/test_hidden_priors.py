"""Mixtures of chains, hidden Markov models and schedules as priors: losses by the definition, from all series of hidden states."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest
from tests.amounts import selected
from tests.release import release_brute as brute

from privproof import release
from privproof.errors import PrivproofError
from privproof.exact import Budget, fraction, rational
from privproof.release import Chain, Hidden
from privproof.release.influence_costs import QueryLaws
from privproof.release.mixture_parts import parts_of
from privproof.release.prior_files import prior_document, prior_text, read_prior
from privproof.release.release_document import release_document
from privproof.release.release_engine import _Release
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted, Limits, Refusal
from privproof_checker.release.release_checking import check_release

CALM = Chain.of({"a": {"a": "9/10", "b": "1/10"}, "b": {"a": "2/5", "b": "3/5"}})
BUSY = Chain.of({"a": {"a": "1/5", "b": "4/5"}, "b": {"a": "3/10", "b": "7/10"}})
HEALTH = {"well": {"well": "9/10", "ill": "1/10"}, "ill": {"well": "3/10", "ill": "7/10"}}
SHOWN = {"well": {"a": "4/5", "b": "1/5"}, "ill": {"a": "1/5", "b": "4/5"}}
MIXTURE = Hidden.mixture([CALM, BUSY], ["3/4", "1/4"])
MODEL = Hidden.markov(HEALTH, SHOWN)
SCHEDULE = Hidden.schedule([CALM, CALM, BUSY], first=1)


def exact(row):
    return tuple(fraction(p) for p in row)


def by_definition(chances, answer):
    """For every entry and value the law of the answer, from the probabilities of all series of values."""
    length = len(next(iter(chances)))
    tables = [{} for _ in range(length)]
    for values, chance in chances.items():
        for table, value in zip(tables, values, strict=True):
            law = table.setdefault(value, {})
            law[answer(values)] = law.get(answer(values), Fraction(0)) + chance
    return [
        {value: {at: p / sum(law.values()) for at, p in law.items()} for value, law in table.items()}
        for table in tables
    ]


def mixture_series(chains, weights, length):
    chances = {}
    for chain, weight in zip(chains, weights, strict=True):
        model = brute.homogeneous(exact(chain.law), tuple(map(exact, chain.rows)), length)
        for places, chance in brute.series(model).items():
            values = tuple(chain.states[x] for x in places)
            chances[values] = chances.get(values, Fraction(0)) + Fraction(weight) * chance
    return {values: chance for values, chance in chances.items() if chance}


def emitted_series(law, rows, shown, length):
    """`shown` lists, for every hidden state, the probabilities of the values a, b, ..."""
    chances = {}
    for places in product(range(len(law)), repeat=length):
        chance = law[places[0]]
        for here, there in pairwise(places):
            chance *= rows[here][there]
        for symbols in product(range(len(shown[0])), repeat=length) if chance else ():
            more = chance
            for place, symbol in zip(places, symbols, strict=True):
                more *= shown[place][symbol]
            if more:
                values = tuple("abc"[symbol] for symbol in symbols)
                chances[values] = chances.get(values, Fraction(0)) + more
    return chances


def scheduled_series(phases, law, length):
    model = brute.Model(exact(law), tuple(tuple(map(exact, phases[i % len(phases)].rows)) for i in range(length - 1)))
    return {tuple("ab"[x] for x in places): chance for places, chance in brute.series(model).items()}


def agree(prior, chances, length, random):
    """Noise for a count and for a histogram keeps the definition, at the exact method tightly; and verdicts on other noise are right."""
    epsilon = random.choice(("1/2", "1", "3"))
    states = prior.states
    for query, answer in (
        (release.count("b"), lambda values: (Fraction(values.count("b")),)),
        (release.histogram(states), lambda values: tuple(Fraction(values.count(state)) for state in states)),
    ):
        tables = by_definition(chances, answer)
        if all(len(table) < 2 for table in tables) or len({answer(values) for values in chances}) < 2:
            continue  # nothing to hide, or nothing that is told
        for method in ("auto", "exact", "quilt", "group"):
            made = release.calibrate(prior, query=query, epsilon=epsilon, length=length, method=method)
            kernel = brute.geometric(fraction(made.noise.alpha), fraction(made.noise.step))
            found = brute.loss(tables, kernel)
            assert float(found) <= float(Fraction(epsilon)) + 1e-9, (method, found)
            verdict = release.verify(made)
            assert verdict.status == "proved"
            assert isinstance(recheck(verdict.certificate), Accepted)
        asked = release.verify(prior, query=query, length=length, noise=release.Geometric.of("1/2"))
        true = brute.loss(tables, brute.geometric(Fraction(1, 2), Fraction(1)))
        assert abs(float(asked.upper.ball()) - float(true)) < 1e-8
        claimed = rational(Fraction(int(float(true) * 900) + 1, 1000))
        if float(true) > 0.05:
            refuted = release.verify(
                prior, query=query, length=length, noise=release.Geometric.of("1/2"), epsilon=claimed
            )
            assert refuted.status == "refuted"
            assert isinstance(recheck(refuted.certificate), Accepted)


@pytest.mark.parametrize("seed", selected(range(30), 3))
def test_mixtures_by_the_definition(seed):
    random = Random(seed)
    chains = [
        Chain(
            ("a", "b"),
            tuple(tuple(map(rational, row)) for row in brute.random_matrix(random, 2)),
            tuple(map(rational, brute.random_start(random, 2))),
        )
        for _ in range(random.choice((2, 3)))
    ]
    parts = [random.randint(1, 4) for _ in chains]
    weights = [Fraction(part, sum(parts)) for part in parts]
    length = random.randint(2, 5)
    prior = Hidden.mixture(chains, [rational(weight) for weight in weights])
    agree(prior, mixture_series(chains, weights, length), length, random)


@pytest.mark.parametrize("seed", selected(range(30), 3))
def test_hidden_markov_models_by_the_definition(seed):
    random = Random(seed)
    size, symbols, length = random.choice((2, 3)), random.choice((2, 3)), random.randint(2, 4)
    rows, law = brute.random_matrix(random, size), brute.random_start(random, size)
    shown = [brute.random_row(random, symbols, zeros=True) for _ in range(size)]
    names = [f"h{i}" for i in range(size)]
    seen = {symbol for i, row in enumerate(shown) for symbol, p in zip("abc", row, strict=False) if p}
    if "b" not in seen or len(seen) < 2:
        pytest.skip("one value")
    prior = Hidden.markov(
        {names[i]: {names[j]: rational(p) for j, p in enumerate(row)} for i, row in enumerate(rows)},
        {names[i]: {"abc"[s]: rational(p) for s, p in enumerate(row) if p} for i, row in enumerate(shown)},
        initial={names[i]: rational(p) for i, p in enumerate(law)},
    )
    agree(prior, emitted_series(law, rows, shown, length), length, random)


@pytest.mark.parametrize("seed", selected(range(20), 2))
def test_schedules_by_the_definition(seed):
    random = Random(seed)
    phases = [
        Chain(("a", "b"), tuple(tuple(map(rational, row)) for row in brute.random_matrix(random, 2)), "any")
        for _ in range(random.choice((2, 3)))
    ]
    law = tuple(map(rational, brute.random_start(random, 2)))
    first, length = random.randrange(len(phases)), random.randint(2, 6)
    prior = Hidden.schedule(phases, initial=dict(zip("ab", law, strict=True)), first=first)
    turned = phases[first:] + phases[:first]
    agree(prior, scheduled_series(turned, law, length), length, random)


def test_one_chain_is_a_mixture_of_itself():
    one = release.calibrate(CALM, query=release.count("b"), epsilon=1, length=30, method="exact")
    for prior in (Hidden.mixture([CALM, CALM], ["1/3", "2/3"]), Hidden.schedule([CALM, CALM])):
        assert (
            release.calibrate(prior, query=release.count("b"), epsilon=1, length=30, method="exact").noise == one.noise
        )
    same = {"x": {"a": 1}, "y": {"b": 1}}
    seen = Hidden.markov({"x": {"x": "9/10", "y": "1/10"}, "y": {"x": "2/5", "y": "3/5"}}, same)
    assert release.calibrate(seen, query=release.count("b"), epsilon=1, length=30, method="exact").noise == one.noise


def test_a_mixture_needs_more_than_each_of_its_chains():
    """Which chain it is shows in the count, and an entry hints at the chain."""

    def alpha(prior):
        return release.calibrate(prior, query=release.count("b"), epsilon=1, length=60, method="exact").noise.alpha

    assert alpha(MIXTURE) > max(alpha(CALM), alpha(BUSY)) + rational("1/10")
    verdict = release.verify(
        MIXTURE, query=release.count("b"), length=60, noise=release.Geometric(alpha(CALM), rational(1)), epsilon=1
    )
    assert verdict.status == "refuted"


def test_quilts_of_hidden_models_hold_for_long_series():
    made = release.calibrate(MODEL, query=release.histogram(["a", "b"]), epsilon=1, length=100_000)
    assert made.method == "quilt"
    assert release.verify(made).status == "proved"
    scheduled = release.calibrate(SCHEDULE, query=release.histogram(["a", "b"]), epsilon=1, length=300, method="quilt")
    assert scheduled.method == "quilt"
    assert release.verify(scheduled).status == "proved"
    noisy = release.calibrate(
        MODEL, query=release.histogram(["a", "b"]), epsilon=1, delta="1e-6", noise="gaussian", length=1_000
    )
    assert release.verify(noisy).status == "proved"


def test_certificates_hold_what_they_say():
    made = release.calibrate(MIXTURE, query=release.count("b"), epsilon=1, length=12, method="exact")
    document = release.verify(made).certificate
    assert isinstance(recheck(document), Accepted)
    question = document["question"]
    (prior,) = question["priors"]
    assert prior["kind"] == "hidden"
    for changed in (
        {"values": ["a", "b", "b", "a"]},
        {"values": ["a", "b", "a"]},
        {"values": ["a", "a", "a", "a"]},
        {"values": ["a", "b", "", "b"]},
        {"values": None},
        {"kind": "chain"},
        {"start": ["1/4", "1/4", "1/4", "1/4"]},
        {"start": "any"},
    ):
        wrong = {**document, "question": {**question, "priors": [{**prior, **changed}]}}
        assert not isinstance(recheck(wrong), Accepted), changed
    quilted = release.calibrate(MODEL, query=release.count("b"), epsilon=1, length=500, method="quilt")
    document = release.verify(quilted).certificate
    vacuous = {**document["question"]["priors"][0], "values": ["a"] * 4}
    wrong = {
        **document,
        "question": {
            **document["question"],
            "priors": [vacuous],
            "query": {"kind": "sum", "weights": {"a": "1"}, "step": "1"},
        },
    }
    assert not isinstance(recheck(wrong), Accepted)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Hidden.mixture([CALM, BUSY], ["1/2", "1/4"]), "sum to"),
        (lambda: Hidden.mixture([CALM, BUSY], ["1"]), "1 weights for 2"),
        (lambda: Hidden.mixture([CALM, BUSY.starting("any")], ["1/2", "1/2"]), "may be any"),
        (
            lambda: Hidden.mixture([CALM, Chain.of({x: {"c": "1/2", "d": "1/2"} for x in "cd"})], ["1/2"] * 2),
            "different",
        ),
        (lambda: Hidden.markov(HEALTH, {"well": {"a": 1}}), "emissions.ill"),
        (lambda: Hidden.markov(HEALTH, {**SHOWN, "dead": {"a": 1}}), "dead"),
        (lambda: Hidden.markov(HEALTH, {"well": {"a": 1}, "ill": {"a": 1}}), "no secret"),
        (lambda: Hidden.schedule([CALM, BUSY], first=2), "no phase 2"),
        (lambda: Hidden.schedule([]), "phases"),
        (lambda: Hidden.of(CALM, ["a"]), "1 values for 2"),
        (lambda: release.calibrate(MIXTURE, query=release.count("b"), epsilon=1, length=9, method="gk16"), "seen"),
        (lambda: release.calibrate(SCHEDULE, query=release.count("b"), epsilon=1, length=9, gaps=True), "missing"),
        (
            lambda: release.calibrate(
                [MODEL, release.Band.fit([["a", "b"] * 9])], query=release.count("b"), epsilon=1, length=9
            ),
            "mix",
        ),
        (lambda: release.Accountant.of(MIXTURE, length=9), "no chains"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(PrivproofError, match=said):
        make()


def test_classes_of_hidden_and_plain_chains():
    made = release.calibrate([CALM, MIXTURE, MODEL], query=release.count("b"), epsilon=1, length=20)
    assert release.verify(made).status == "proved"
    alone = [
        release.calibrate(p, query=release.count("b"), epsilon=1, length=20).noise.alpha for p in (CALM, MIXTURE, MODEL)
    ]
    assert made.noise.alpha == max(alone)


FILES = {
    "mixture": """
kind: prior
mixture:
  - {weight: 3/4, transitions: {a: {a: 9/10, b: 1/10}, b: {a: 2/5, b: 3/5}}}
  - {weight: 1/4, transitions: {a: {a: 1/5, b: 4/5}, b: {a: 3/10, b: 7/10}}}
""",
    "model": """
kind: prior
transitions: {well: {well: 9/10, ill: 1/10}, ill: {well: 3/10, ill: 7/10}}
emissions: {well: {a: 4/5, b: 1/5}, ill: {a: 1/5, b: 4/5}}
""",
    "schedule": """
kind: prior
schedule:
  - {transitions: {a: {a: 9/10, b: 1/10}, b: {a: 2/5, b: 3/5}}}
  - {transitions: {a: {a: 1/5, b: 4/5}, b: {a: 3/10, b: 7/10}}}
start: {a: 1}
""",
}


def test_files(tmp_path):
    wanted = {
        "mixture": MIXTURE,
        "model": MODEL,
        "schedule": Hidden.schedule([CALM, BUSY], initial={"a": 1}),
    }
    for name, text in FILES.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        (found,) = read_prior(path)
        assert found.chain == wanted[name].chain
        assert found.values == wanted[name].values
    for text, said in (
        (FILES["mixture"].replace("weight: 1/4", "weight: 1/3"), "sum to"),
        (FILES["mixture"].replace("weight: 3/4, ", ""), "weight"),
        (FILES["model"].replace("1/5, b: 4/5", "1/5, b: 3/5"), "emissions"),
        (FILES["schedule"] + "emissions: {}\n", "emissions"),
    ):
        path = tmp_path / "wrong.yaml"
        path.write_text(text)
        with pytest.raises(PrivproofError, match=said):
            read_prior(path)


WEATHER = Chain.of(
    {"sun": {"sun": "1/2", "fog": "1/2"}, "fog": {"sun": "1/2", "rain": "1/2"}, "rain": {"sun": 1}}, name="weather"
)
WRITTEN = {
    "mixture": (MIXTURE, "mixture"),
    "one without weight": (Hidden.mixture([CALM, BUSY], [1, 0], name="calm"), "mixture"),
    "other order": (
        Hidden.mixture(
            [CALM, Chain.of({"b": {"b": "1/3", "a": "2/3"}, "a": {"a": "1/7", "b": "6/7"}})], ["1/2", "1/2"]
        ),
        "mixture",
    ),
    "given starts": (Hidden.mixture([CALM.starting({"a": 1}), BUSY], ["1/3", "2/3"]), "mixture"),
    "model": (MODEL, "emissions"),
    "model from somewhere": (Hidden.markov(HEALTH, SHOWN, initial={"well": "1/3", "ill": "2/3"}), "emissions"),
    "model from anywhere": (Hidden.markov(HEALTH, SHOWN, initial="any", name="fever"), "emissions"),
    "schedule": (Hidden.schedule([CALM, BUSY], initial={"a": 1}), "schedule"),
    "round": (Hidden.schedule([CALM, CALM, BUSY]), "schedule"),
    "turned schedule": (SCHEDULE, "values"),
    "any hidden chain": (Hidden.of(WEATHER, {"sun": "a", "fog": "a", "rain": "b"}), "values"),
    "never entered": (
        Hidden.markov({**HEALTH, "new": {"well": 1}}, {**SHOWN, "new": {"a": "1/3", "b": "2/3"}}, initial={"ill": 1}),
        "values",
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read_back(name, tmp_path):
    prior, key = WRITTEN[name]
    assert key in prior_document(prior)
    path = tmp_path / "prior.json"
    path.write_text(prior_text([prior]))
    assert read_prior(path) == (prior,)
    several = (CALM, prior, MODEL)
    path.write_text(prior_text(several))
    assert read_prior(path) == several


@pytest.mark.parametrize("seed", selected(range(60), 12))
def test_random_hidden_chains_are_read_back(seed, tmp_path):
    random = Random(seed)
    size = random.choice((2, 3, 4))
    names = random.choice(
        (["1: a", "1: b", "2: a", "2: b"], ["0: a", "0: b", "1: a", "1: b"], ["x: a", "x: b", "y: a", "y: b"])
    )
    rows = tuple(tuple(map(rational, row)) for row in brute.random_matrix(random, size))
    start = random.choice(("any", tuple(map(rational, brute.random_start(random, size)))))
    values = [name[-1] for name in names[:size]] if random.random() < 0.7 else ["a", "b", "b", "a"][:size]
    prior = Hidden.of(Chain(tuple(names[:size]), rows, start, "x"), values)
    path = tmp_path / "prior.json"
    path.write_text(prior_text([prior]))
    assert read_prior(path) == (prior,)


def test_values_that_are_none(tmp_path):
    text = "kind: prior\ntransitions: {x: {x: 1/2, y: 1/2}, y: {x: 1}}\n"
    for more, said in (
        ("values: {x: a}\n", "'y' shows no value"),
        ("values: {x: a, y: b, z: b}\n", "'z' is not in the transitions"),
        ("values: {x: a, y: a}\n", "no secret"),
        ("values: {x: a, y: b}\nemissions: {x: {a: 1}, y: {b: 1}}\n", "values"),
        ("values: {x: a, y: b}\nstart: later\n", "start"),
    ):
        path = tmp_path / "wrong.yaml"
        path.write_text(text + more)
        with pytest.raises(PrivproofError, match=said):
            read_prior(path)
    path.write_text("kind: prior\nchains:\n  - {transitions: {x: {x: 1}}, values: {x: a}, weight: 1}\n")
    with pytest.raises(PrivproofError, match=r"chains\[0\]"):
        read_prior(path)


# ------------------------------------------------------------------------------------------------------ quilts of the parts

MILD = Chain.of({"a": {"a": "7/10", "b": "3/10"}, "b": {"a": "2/5", "b": "3/5"}})
EVEN = Chain.of({"a": {"a": "3/5", "b": "2/5"}, "b": {"a": "2/5", "b": "3/5"}})
ALIKE = Hidden.mixture([MILD, EVEN], ["3/4", "1/4"])


def by_parts(prior, epsilon, length, query=None):
    made = release.calibrate(
        prior, query=query or release.histogram("ab"), epsilon=epsilon, length=length, method="quilt", noise="geometric"
    )
    return made, release.verify(made)


@pytest.mark.parametrize("seed", selected(range(60), 8))
def test_parts_by_the_definition(seed):
    """What quilts of parts allow is within the budget, from the probabilities of all series."""
    random = Random(seed)
    number, length = random.choice((2, 2, 3)), random.randint(3, 7)
    chains = []
    for _ in range(number):
        p, q = (Fraction(random.randint(20, 80), 100) for _ in range(2))
        rows = {"a": {"a": rational(p), "b": rational(1 - p)}, "b": {"a": rational(q), "b": rational(1 - q)}}
        chains.append(Chain.of(rows))
    pieces = [random.randint(1, 4) for _ in chains]
    weights = [Fraction(piece, sum(pieces)) for piece in pieces]
    prior = Hidden.mixture(chains, [rational(weight) for weight in weights])
    chances = mixture_series(chains, weights, length)
    for query, answer in (
        (release.count("b"), lambda values: (Fraction(values.count("b")),)),
        (release.histogram("ab"), lambda values: (Fraction(values.count("a")), Fraction(values.count("b")))),
    ):
        for epsilon in ("2", "4"):
            made, _ = by_parts(prior, epsilon, length, query)
            kernel = brute.geometric(fraction(made.noise.alpha), fraction(made.noise.step))
            assert float(brute.loss(by_definition(chances, answer), kernel)) <= float(epsilon) + 1e-9
            question = replace(made.question, budget=Budget.of(epsilon))
            evidence = _Release(question, QueryLaws.of(question))._parts_within(float(epsilon))
            if evidence is not None:  # also where the certificate rests on something else
                claimed = check_release("proved", release_document(question), {"evidence": evidence}, Limits())
                assert claimed.details["method"] == "parts"


def test_long_series_under_a_mixture_need_no_group():
    short, long = (by_parts(ALIKE, 1, length) for length in (500, 100_000))
    for _, verdict in (short, long):
        assert verdict.status == "proved"
        assert verdict.certificate["facts"][-1]["rule"] == "parts"
        assert isinstance(recheck(verdict.certificate), Accepted)
    assert long[0].noise == short[0].noise
    assert float(long[0].expected_error) < 31
    group, proved = by_parts(ALIKE, "1/10", 500)  # an entry tells the chain by 0.215
    assert proved.status == "proved"
    assert float(group.expected_error) > 1000


def test_a_series_that_tells_the_chain_loses_what_an_entry_tells_about_it():
    """The part's share of the influence cannot be left out: long series with little noise lose it."""
    far = Hidden.mixture(
        [Chain.of({x: {"a": p, "b": q} for x in "ab"}) for p, q in ((".8", ".2"), (".2", ".8"))], ["1/2"] * 2
    )
    noise = release.Geometric.of("1/2")
    loss = release.verify(far, query=release.count("b"), length=80, noise=noise).upper
    assert 0.99 * 1.386294 < float(loss.ball()) < float(parts_of(far).told) + 0.6931472
    alone = release.verify(
        Chain.of({x: {"a": ".8", "b": ".2"} for x in "ab"}), query=release.count("b"), length=80, noise=noise
    )
    assert float(alone.upper.ball()) < 0.6931472


def test_certificates_of_parts_hold_what_they_say():
    _, verdict = by_parts(ALIKE, 1, 500)
    document = verdict.certificate
    question, (fact,) = document["question"], document["facts"]
    (prior,) = question["priors"]
    ranges = fact["hint"]["ranges"]
    first, second = ranges[0][0]
    for changed in (
        [[[first]]],
        [[[first, second, second]]],
        [[first]],
        [[[first, first[:-1]]]],
        [],
        [[[first, [[1, 500, 1, 1]]]]],
    ):
        wrong = {**document, "facts": [{**fact, "hint": {**fact["hint"], "ranges": changed}}]}
        assert not isinstance(recheck(wrong), Accepted), changed
    for changed in (
        {"start": ["1/4", "1/4", "1/4", "1/4"]},  # not stationary: one part, in which no quilt is finite
        {"start": ["1/7", "3/28", "3/8", "3/8"]},  # other weights, and an entry tells more
        {"values": ["a", "b", "b", "b"]},
        {"start": "any"},
        {"start": "stationary"},
    ):
        wrong = {**document, "question": {**question, "priors": [{**prior, **changed}]}}
        assert not isinstance(recheck(wrong), Accepted), changed
    assert not isinstance(recheck({**document, "question": {**question, "epsilon": "999/1000"}}), Accepted)


def test_parts_where_a_value_tells_the_chain():
    sure = Chain.of({"a": {"a": 1}, "b": {"a": 1}})
    prior = Hidden.mixture([MILD, sure], ["1/2", "1/2"])
    assert parts_of(prior) is None
    made, verdict = by_parts(prior, 3, 50)
    assert verdict.status == "proved"
    assert made.quilt == ()
    asked = {**release_document(made.question), "epsilon": "3"}
    evidence = {"method": "parts", "ranges": [[[[[1, 50, 1, 1]], [[1, 50, 1, 1]]]]]}
    with pytest.raises(Refusal, match="tells the part"):
        check_release("proved", asked, {"evidence": evidence}, Limits())


def test_mixtures_beside_chains_and_of_hidden_models():
    _, verdict = by_parts([MODEL, ALIKE], 3, 5_000)
    assert verdict.status == "proved"
    assert verdict.certificate["facts"][-1]["rule"] == "parts"
    whole = MODEL.chain
    both = Chain(
        tuple(f"{n} {s}" for n in "xy" for s in whole.states),
        tuple((*row, *[rational(0)] * 4) for row in whole.rows)
        + tuple((*[rational(0)] * 4, *row) for row in whole.rows),
        tuple(p / 2 for p in whole.law) * 2,
    )
    twice, verdict = by_parts(Hidden.of(both, MODEL.values * 2), 3, 5_000)
    assert verdict.status == "proved"
    assert twice.noise == by_parts(MODEL, 3, 5_000)[0].noise
